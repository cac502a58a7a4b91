"""Studies: many designs of a mechanism from one call, on all cores or a cluster, resumable.

variations.py   one number that varies: ranges, tolerances, distributions      plans.py      which numbers every row has
varied_numbers.py  numbers by name, and a design with others                   analyses.py   a cycle, a path, a run, an equilibrium
evaluation.py   rows computed: cycles and runs in lanes where possible
execution.py    chunks, executors, progress                                    store.py      rows in memory or in a folder
statistics.py   means, percentiles, correlations, Sobol indices                study.py      the result: tables, plots, designs
request.py      `lw.study`: everything checked before the first row             tolerances.py  deviations drawn and linear
"""

"""Studies: many designs of a mechanism from one call, on all cores or a cluster, resumable.

variations.py   one number that varies: ranges, tolerances, distributions      plans.py      which numbers every row has
targets.py      numbers by name, and a design with others                      cases.py      a turn, a follow, a run, an equilibrium
evaluation.py   rows computed, in lanes where possible                         run_lanes.py  simulations in lanes
execution.py    chunks, executors, progress                                    store.py      rows in memory or in a folder
statistics.py   means, percentiles, correlations, Sobol indices                study.py      the result: tables, plots, designs
request.py      `lw.study`: everything checked before the first row             tolerances.py  deviations drawn and linear
"""

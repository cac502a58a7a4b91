"""Studies: many designs of a mechanism from one call, on all cores or a cluster, resumable.

variations.py   one number that varies: ranges, tolerances, distributions      plans.py      which numbers every row has
targets.py      numbers by name, and a design with others                      cases.py      a turn, a follow, a run, an equilibrium
evaluation.py   rows computed, in lanes where possible                         batches.py    simulations in lanes
running.py      chunks, executors, progress                                    store.py      rows in memory or in a folder
statistics.py   means, percentiles, correlations, Sobol indices                study.py      the result: tables, plots, designs
making.py       `lw.study`: everything checked before the first row             tolerances.py  deviations drawn and linear
"""

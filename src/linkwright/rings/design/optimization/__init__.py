"""Optimization: the parameters of a mechanism that serve a goal best.

requirements.py constraints checked on one motion            quantities.py   one parameter of a design, with its exact gradient
variables.py    parameters that vary, with their bounds         problem.py      designs evaluated: one with gradients, or thousands
request.py      `m.optimize`: everything checked first       run.py          designs that close, search, certificate, result
global_search.py      the whole search, with progress        candidates.py   thousands of candidates, then the best starts
local_search.py       SLSQP and least squares from one start, extremes to the end by linear programs
nonlinear_program.py  the program at chosen samples          nonlinear_solvers.py   methods of nonlinear programming
final_correction.py   every limit holds in the motion returned
certificate.py  KKT residual, multipliers, what binds        pareto_front.py        several goals
dwell_bands.py  a dwell as a quantity without jumps
result.py       the result: tables, file, page
balancing.py    a recipe: counterweights and masses          mass_design.py  its variables, limits and search
"""

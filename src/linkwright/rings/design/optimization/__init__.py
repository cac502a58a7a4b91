"""Optimization: the numbers of a mechanism that serve a goal best.

requirements.py constraints checked on one motion            quantities.py   one number of a design, with its exact gradient
variables.py    numbers that vary, with their bounds         problem.py      designs evaluated: one with gradients, or thousands
program.py      the nonlinear program at chosen samples      local.py        SLSQP and least squares from one start
restoration.py  back to designs that close and are feasible  search.py       thousands of candidates, then the best starts
certificate.py  KKT residual, multipliers, what binds        front.py        several goals: the Pareto front
optimum.py      the result: tables, file, page               making.py       `m.optimize`: everything checked before the search
nonlinear.py    methods of nonlinear programming             minimax.py      extremes to the end, by linear programs
turning.py      turns of designs in machine code             searching.py    the whole search, with progress
balancing.py    a recipe: counterweights and masses          mass_design.py, inertia_regressor.py   what it is made of
"""

"""What computing costs: operations counted, times measured, and the peers beside.

Counted with a scalar of their own: `counting` runs any function of the float path on numbers that count; `chain` applies
it to N four-bar loops in a row and tells how the work of each formulation grows with N. `recording` remembers where
numbers come from, so that only what a result needs is counted; `inverse` compares the methods of inverse dynamics with it.

Measured by `linkwright bench` (`command`, `speed`): `ours` are the compiled kernels, `processes` the time a fresh process takes,
`peers` the engines installed here (`pinocchio_cpp`, `casadi_code` with `symbolic`, `mujoco_loop`, and with `steppers`
`exudyn_steps` and `drake_steps`), all on the mechanisms and states of `cases`. `runs` are whole simulations, with `free_run`,
`known_motions`, `run_peers` and `pinocchio_run`.
`page` measures the page in a browser. `workshop` compiles C++ where a compiler is, `table` prints and keeps the results.
"""

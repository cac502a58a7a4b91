"""Measurements of `linkwright bench`, for a checkout of the repository; not installed with the package.

`bench` measures Linkwright and has the mechanisms, states, clocks and tables. `peers` are other programs (`linkwright bench --peers`): on
one state `pinocchio_cpp`, `casadi_code` with `symbolic`, `mujoco_loop`, and with `steppers` `exudyn_steps` and `drake_steps`; on whole
simulations `run_peers` and `pinocchio_run`; terms of a controller `robot_terms`. `workshop` compiles C and C++, from `native/` and from
what casadi generates.
"""

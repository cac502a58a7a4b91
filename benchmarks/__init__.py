"""Other programs on the mechanisms of `linkwright bench`, for a checkout of the repository; not installed with the package.

`peers` is what `linkwright bench --peers` opens: on one state `pinocchio_cpp`, `casadi_code` with `symbolic`, `mujoco_loop`, and with
`steppers` `exudyn_steps` and `drake_steps`; on whole simulations `run_peers` and `pinocchio_run`. `workshop` compiles C and C++, from
`native/` and from what casadi generates. Mechanisms, states, clocks and tables are those of `linkwright.rings.cli.bench`.
"""

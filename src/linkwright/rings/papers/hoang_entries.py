"""Hoang, Vuong, Phong and Lam: all items, in the order of the paper."""

from __future__ import annotations

from linkwright.rings.papers import Entry
from linkwright.rings.papers.hoang import (
    accuracy,
    arrival,
    constant_voltages,
    null_space,
    passages,
    pd_control,
    power_balance,
    rank_never_lost,
    reach,
    residuals_case_1,
    residuals_case_2,
    skew,
)
from linkwright.rings.papers.hoang_equations import (
    adjusting,
    baumgarte,
    baumgarte_through_zeros,
    choice_of_omega,
    christoffel,
    closure,
    equations_of_motion,
    fewer_rows,
    inverse_problem,
    motor_with_inductance,
    motor_without_inductance,
    ranks,
    smallest_singular_value,
)
from linkwright.rings.papers.hoang_geometry import inductance, legs_in_line, rods_meet
from linkwright.rings.papers.hoang_partition import augmented, fixed_partition, passing_run
from linkwright.rings.papers.hoang_stabilizers import cost, fewer_variables, real_time, some_steps

MODEL = "model/library/3-rrr-motors.yaml"
MOTOR = "mechanics/forces/dc_motor.py"

ENTRIES = (
    Entry("(1), (2), (15)-(18)", "equations of the mechanism with its motors", (equations_of_motion,), MODEL),
    Entry("(3)", "C by Christoffel symbols or Kronecker products", (christoffel,), "rings/papers/denoc.py"),
    Entry("(4)-(7)", "gears and motors with inductance", (motor_with_inductance,), MOTOR),
    Entry("(8)-(14)", "motors with L di/dt = 0", (motor_without_inductance,), MOTOR),
    Entry("Sec. 2.3", "cost of neglecting the inductance", (inductance,), MOTOR),
    Entry("Sec. 2.1", "dM/dt - 2 C is skew, with the rotors too", (skew,), "rings/papers/denoc.py"),
    Entry(
        "(20)", "null space by a fixed partition, which breaks down", (fixed_partition, passing_run),
        "mechanics/formulations/nullspace.py",
    ),
    Entry(
        "(19)-(23)", "null space by the pseudo-inverse; ranks of Phi_q, R and H", (null_space, ranks),
        "mechanics/formulations/nullspace.py",
    ),
    Entry("Sec. 3, after (23)", "variant: rows of Phi_q left out", (fewer_rows,), "mechanics/formulations/nullspace.py"),
    Entry("(24), (25)", "Baumgarte's stabilization", (baumgarte, baumgarte_through_zeros), "simulation/stabilizers/baumgarte.py"),
    Entry("(26)-(34)", "post-adjusting of dependent coordinates", (adjusting, residuals_case_2), "simulation/stabilizers/post_adjust.py"),
    Entry("Sec. 4", "adjusting after some steps only", (some_steps,), "simulation/stabilizers/"),
    Entry("Sec. 4", "fewer variables are adjusted, in less time", (fewer_variables,), "simulation/stabilizers/post_adjust.py"),
    Entry("Sec. 4", "Baumgarte suits real time, post-adjusting does not", (cost, real_time), "simulation/stabilizers/"),
    Entry("(35), (36)", "parameters and constraints of the 3-RRR robot", (closure,), MODEL),
    Entry(
        "Sec. 5.1", "singular where rods are parallel or concurrent, or a leg is stretched or folded", (rods_meet, legs_in_line),
        "mechanics/closing/singular_position.py",
    ),
    Entry(
        "Figs. 2, 3", "both cases: states, zeros of the determinants, range, times, residuals",
        (constant_voltages, pd_control, reach, passages, arrival, rank_never_lost, residuals_case_1, residuals_case_2, accuracy), MODEL,
    ),
    Entry("Sec. 5.2", "choice of delta and omega_0", (choice_of_omega,), "simulation/stabilizers/baumgarte.py"),
    Entry("Sec. 5.2, parameters", "K_m and K_e of the motors", (power_balance,), MOTOR),
    Entry("Sec. 2.3, end", "inverse problem: voltages for a motion", (inverse_problem,), "mechanics/inverse/"),
    Entry("Sec. 1", "augmented Lagrangian formulations", (augmented,), "mechanics/formulations/augmented.py"),
    Entry("Sec. 5.2", "smallest singular value of Phi_q", (smallest_singular_value,), "numerics/linalg.py"),
)  # fmt: skip

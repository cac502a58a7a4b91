"""Aghili: all items, in the order of the paper."""

from __future__ import annotations

from linkwright.rings.papers import Entry
from linkwright.rings.papers.aghili import (
    appearing_constraint,
    condition_numbers,
    constraint_forces,
    every_few_steps,
    particle,
    passages,
    position_correction,
    projector_cases,
    quadratic_convergence,
    singular_positions,
    slider_crank,
    turning_round,
)
from linkwright.rings.papers.aghili_control import (
    arm_torques,
    force_error,
    least_at_every_instant,
    one_joint,
    reach,
    torques,
    two_joints,
    units,
)
from linkwright.rings.papers.aghili_cost import baumgarte_slows, inversions, least_effort, multiplications
from linkwright.rings.papers.aghili_laws import (
    bandwidth,
    closed_forms,
    force_law,
    least_efforts,
    least_norm,
    passive_joints,
    remark_5,
    special_cases,
    stiffness,
    unilateral,
)
from linkwright.rings.papers.aghili_projection import (
    acceleration_split,
    constraint_force,
    decoupling,
    definiteness,
    inertia_variants,
    metric,
    projected_dynamics,
    rate_of_projector,
    rheonomic,
    subspaces,
)

PROJECTION = "mechanics/formulations/projection.py"

ENTRIES = (
    Entry("Theorem 1, (2)-(7), remark 1", "null space and range of a matrix and its transpose; orthogonal parts", (subspaces,), PROJECTION),
    Entry("(8)-(10)", "metric tensor, for vectors of mixed units", (metric,), "mechanics/constraints/loops.py"),
    Entry("(11)-(13), (15), (16)", "velocities and accelerations split by the projector", (acceleration_split,), PROJECTION),
    Entry("(14)", "C = dP/dt = S + S'", (rate_of_projector,), PROJECTION),
    Entry("Sec. III", "constraints that depend on time", (rheonomic,), "mechanics/constraints/"),
    Entry(
        "(17)-(25), theorem 2, remarks 2, 3", "projected dynamics, constraint inertia matrix M_c",
        (projected_dynamics, definiteness), PROJECTION,
    ),
    Entry("(25), App. II", "one inversion less than the standard method", (inversions,), "rings/papers/aghili_cost.py"),
    Entry("(26)-(28), prop. 1", "symmetric constraint inertia matrix M_c'", (inertia_variants, definiteness), PROJECTION),
    Entry("(29)-(31), prop. 2", "M_c'' with gamma, and the choice of gamma", (condition_numbers, definiteness), PROJECTION),
    Entry("Sec. V-A.3", "three more multiplications; less effort", (multiplications, least_effort), "rings/papers/aghili_cost.py"),
    Entry("(22), (27), (29)", "right sides with C_c, C_c', C_c''", (inertia_variants,), PROJECTION),
    Entry("(32), remark 4, Fig. 1", "constraint force without multipliers", (constraint_force,), "mechanics/formulations/base.py"),
    Entry("Prop. 3, Apps. III, IV", "decoupling of motion and constraint force", (decoupling,), PROJECTION),
    Entry("(33)-(35)", "particle on a circle", (particle,), PROJECTION),
    Entry(
        "(36), (37)", "positions corrected by the pseudo-inverse, every few steps or above a tolerance", (every_few_steps, passages),
        "simulation/stabilizers/project.py",
    ),
    Entry(
        "Sec. VI, (36), (37)", "the correction as published, through singular positions", (position_correction,),
        "rings/papers/aghili_passage.py",
    ),
    Entry("Theorem 3", "quadratic convergence of (37)", (quadratic_convergence,), "simulation/stabilizers/project.py"),
    Entry("Sec. VI", "Baumgarte's terms slow a simulation down", (baumgarte_slows,), "simulation/stabilizers/baumgarte.py"),
    Entry(
        "(38)-(46), theorem 4, App. V", "projected inverse dynamics control with least norm", (least_norm,), "rings/control/projected.py"
    ),
    Entry("(47), (48)", "weights for mixed units and limited actuators", (units, least_efforts), "mechanics/inverse/"),
    Entry("Sec. VII-C", "unilateral constraints need force control", (unilateral,), "rings/control/hybrid.py"),
    Entry("(49)-(52)", "control of the constraint force", (force_law, force_error), "rings/control/hybrid.py"),
    Entry("Remark 5", "multipliers are controllable only at full rank", (remark_5,), "rings/control/hybrid.py"),
    Entry("(53)-(61)", "passive joints", (passive_joints,), "rings/control/projected.py"),
    Entry("(56), (62)", "controllability and its special cases", (reach, special_cases), "motion/controllability.py"),
    Entry(
        "(63)-(69), Fig. 4", "slider-crank through its singular positions",
        (slider_crank, constraint_forces, singular_positions, projector_cases), "model/library/slider-crank.yaml",
    ),
    Entry(
        "Sec. VIII-A", "bifurcation where a singular position is reached with vanishing speed", (turning_round,),
        "simulation/singularity_crossings.py",
    ),
    Entry(
        "(70)-(75), Figs. 5, 6, Table I", "three control laws of the slider-crank", (closed_forms, two_joints, one_joint, torques),
        "rings/control/",
    ),
    Entry("Sec. IX, Table II, Fig. 8", "arm on a slider", (least_at_every_instant, arm_torques), "model/library/3r-slider.yaml"),
    Entry("Sec. IX", "bandwidth of 3.5 Hz with G_P = 480", (bandwidth,), "rings/control/linearize.py"),
    Entry(
        "Sec. IX-B", "friction makes spikes in the experiment",
        why="cannot be decided because neither the arm's friction nor its masses are printed", verdict="undecided",
    ),
    Entry(
        "Sec. IX-B", "inverse dynamics control is stiff in all directions under a position error", (stiffness,),
        "rings/papers/aghili_laws.py",
    ),
    Entry(
        "Sec. X", "changing topology, redundant constraints; flexible bodies as an outlook", (appearing_constraint,),
        "simulation/events.py",
        "bodies are rigid here",
    ),
)  # fmt: skip

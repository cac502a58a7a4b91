"""Hoang et al.: the methods that their null space replaces, run for comparison: a fixed partition (20), the augmented Lagrangian.

Case 1 of the 3-RRR passes zeros of det Phi_x without losing rank. The partition keeps the motors' angles as independent coordinates
in every state, as the paper's q_i = q_a does.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from linkwright.api import SingularityError, formulations, tolerances
from linkwright.results.forward_results import condition
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.figures import FigureCurve, FigurePanel, drawing
from linkwright.rings.papers.hoang_runs import drive, exact, robot, zeros

MOTORS = ("A1", "A2", "A3")
FIXED = formulations.Nullspace("partitioned", independent=MOTORS)
TORQUES = {"A1": 50.0, "A2": -50.0, "A3": 50.0}  # N m, of 5 V at standstill
DISTANCES = tuple(10.0**-n for n in range(4, 10))  # s from a zero of det Phi_x
PENALTIES = tuple(10.0**n for n in range(2, 9))


# -------------------------------------------------------------------- next to a zero of det Phi_x


@cache
def first_zero() -> Any:
    """A function of the seconds since the first zero of det Phi_x: the state there, on the loops, between samples 1 ms apart."""
    s, run = robot(), exact(1)
    step = 1e-3
    begin = float(run.t[int(1000.0 * zeros(1)[0])])

    def at(h: float) -> Any:
        st = run.at(begin + h)
        return s.state(st.q, st.v)

    def determinant(h: float) -> float:
        return float(np.linalg.det(s.closure(at(h)).J[:, len(MOTORS) :]))

    low, high = 0.0, step
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if determinant(middle) * determinant(0.0) > 0.0 else (low, middle)
    return lambda h: at(low + h)


def accelerations(st: Any, formulation: Any) -> np.ndarray:
    return robot().forward(st, TORQUES, formulation=formulation).a


def deviation(st: Any, formulation: Any) -> float:
    """Distance of the accelerations from those of kkt, relative to their size."""
    right = accelerations(st, "kkt")
    return float(np.abs(accelerations(st, formulation) - right).max() / (1.0 + np.abs(right).max()))


@cache
def approach() -> dict[float, tuple[float, float, float]]:
    """By distance from the zero in seconds: condition number of (22) with (20), then deviations of (20) and of (21) from kkt."""
    s, at = robot(), first_zero()
    states = {h: at(h) for h in DISTANCES}
    return {h: (condition(s.terms(st), FIXED), deviation(st, FIXED), deviation(st, "nullspace")) for h, st in states.items()}


def refused() -> str:
    """Message of the fixed partition in the zero itself; empty if it has a solution there."""
    try:
        accelerations(first_zero()(0.0), FIXED)
    except SingularityError as problem:
        return str(problem)
    return ""


def fixed_partition() -> Item:
    found = approach()
    h = np.array(DISTANCES)
    kappa, off, null = (np.array([x[i] for x in found.values()]) for i in range(3))
    slope = float(np.polyfit(np.log10(h), np.log10(kappa), 1)[0])
    gone = bool(refused())

    def panels() -> list[FigurePanel]:
        decades, over = np.log10(h), "log10 of the seconds to the zero"
        return [
            FigurePanel("condition of H", [FigureCurve(decades, kappa)], "stacked matrix of (22)", logarithmic=True, over=over),
            FigurePanel(
                "deviation from kkt",
                [FigureCurve(decades, off, "(20), fixed"), FigureCurve(decades, np.maximum(null, 1e-17), "(21)")],
                "accelerations, relative to their size",
                logarithmic=True,
                over=over,
            ),
        ]

    return compared(
        "(20), Sec. 3",
        "fixed partition next to a zero of det Phi_x",
        "breaks down at its zeros",
        f"condition of H {kappa[0]:.1e} at {h[0]:.0e} s from the zero and {kappa[-1]:.1e} at {h[-1]:.0e} s; accelerations off by "
        f"{off[0]:.0e} and {off[-1]:.0e}; in the zero {'there is no solution' if gone else 'a solution is found'}. By (21) they are off by "
        f"{null.max():.0e} everywhere",
        abs(slope + 1.0) if gone else math.inf,
        0.01,
        "condition inversely proportional to the distance: exponent -1",
        "det Phi_x vanishes, the rank of Phi_q does not: the partition fails, not the mechanism",
        drawing(panels, title="Hoang et al., (20): a fixed partition next to a zero of det Phi_x"),
    )


@cache
def partitioned_run() -> Any:
    """One second of case 1 with the fixed partition."""
    s = robot()
    return s.simulate(s.start, 1.0, drive=drive(1), formulation=FIXED, tolerance=1e-10, sample_interval=np.linspace(0.0, 1.0, 101))


def passing_run() -> Item:
    run, right = partitioned_run(), np.asarray(exact(1).q)[:1001:10]
    off = float(np.abs(np.asarray(run.q) - right).max())
    met = int(np.count_nonzero(zeros(1) < 1.0))
    return compared(
        "(20), Sec. 3",
        "case 1 with the fixed partition, 1 s",
        "the simulation can break down or get stuck",
        f"passes {met} zeros of det Phi_x and stays within {off:.0e} rad or m of the exact motion",
        float(run.t[-1] - zeros(1)[0]),
        0.0,
        "the first zero, s: a run that breaks down ends there",
        "accelerations are finite on both sides, and a zero is met only if a stage of a step falls within 1e-10 s of it; solving for the "
        "platform's coordinates at given angles of the motors does get stuck there",
    )


# -------------------------------------------------------------------- augmented Lagrangian


@cache
def penalties() -> dict[float, tuple[float, int, float]]:
    """By alpha, the worst of nine states of case 1: deviation from kkt after one step, steps needed, deviation when converged."""
    s, run = robot(), exact(1)
    at = [0, 250, 500, 750, *(int(1000.0 * z) for z in zeros(1) if z < 1.0)]
    states = [s.state(run.q[i], run.v[i]) for i in at]
    out = {}
    for alpha in PENALTIES:
        once = max(deviation(st, formulations.AugmentedLagrangian(alpha=alpha, steps=1)) for st in states)
        steps = next(
            n
            for n in range(1, 100)
            if max(deviation(st, formulations.AugmentedLagrangian(alpha=alpha, steps=n)) for st in states) < tolerances.ROUND_OFF
        )
        out[alpha] = once, steps, max(deviation(st, formulations.AugmentedLagrangian(alpha=alpha)) for st in states)
    return out


def augmented() -> Item:
    found = penalties()
    once, steps, converged = (np.array([x[i] for x in found.values()]) for i in range(3))
    return compared(
        "Sec. 1, refs. [25]-[27]",
        "augmented Lagrangian: accelerations of case 1 for penalties of 1e2 to 1e8 times the mean inertia",
        "accuracy depends on the parameters chosen by users; approximates the real system; iterates in each time step",
        f"the penalty alone is off by {once[0]:.0e} to {once[-1]:.0e}; iterated, by at most {converged.max():.0e} with any of them, "
        f"after {steps[0]} to {steps[-1]} steps",
        float(once.min()),
        float(converged.max()),
        "kkt, by the penalty alone; allowed is what the iteration leaves",
        "the criticism is right for a penalty without iteration; with it the multipliers become the exact ones and the penalty decides "
        "the number of steps only",
    )

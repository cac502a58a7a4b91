"""Hoang et al.: a 3-RRR robot driven by DC motors, simulated through singularities of its coordinate partition.

The figures cannot be read from the text; states are compared with a solution in 30 digits (tests/data/generate/hoang_states.py).
papers/Hoang2023/README.md has the details.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from linkwright.api import compile, compiled_of, curve_extremes, dynamics, kinematics, load, motion
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.denoc import denoc
from linkwright.rings.papers.figures import FigureCurve, FigurePanel, drawing
from linkwright.rings.papers.hoang_runs import WANTED, as_published, crossings, determinants, exact, gaps, robot, zeros

STATES_AFTER_1S = {
    1: (0.49547750660431295, -1.1982753978830845, 5.887569369202437, 1.1453330005553608, 0.08541565781975403, 0.2974209128099503),
    2: (0.41712200128557303, 0.9249198132718764, 1.1799353880703363, 0.9258880171548909, 0.8484597020885843, 0.16963598302850943),
}
CASES = {1: "case 1: 5, -5, 5 V", 2: "case 2: PD control"}


# -------------------------------------------------------------------- Figs. 2 and 3


def _figure(case: int, number: int) -> Callable[[Path], None]:
    def panels() -> list[FigurePanel]:
        run, own = exact(case), as_published(case)
        t, seen = np.asarray(run.t)[:3001], slice(0, 3001)
        theta, x = determinants(case)
        marks = [z for z in zeros(case) if z <= 3.0]
        joints = [FigureCurve(t, run.q[seen, i], f"theta_{i + 1}") for i in range(3)]
        goals = [FigureCurve([0.0, 3.0], [goal, goal], "", "dashed", i) for i, goal in enumerate(WANTED.values())] if case == 2 else []
        residual = np.maximum(gaps(own), 1e-18)  # a logarithm of round-off that happens to be zero
        return [
            FigurePanel("cranks [rad]", [*joints, *goals], "(a) coordinates"),
            FigurePanel("platform [m, rad]", [FigureCurve(t, run.q[seen, 3 + i], name) for i, name in enumerate(("x_C", "y_C", "phi"))]),
            FigurePanel("det Phi_x [m^4]", [FigureCurve(t, x[seen])], "(b) zeros of det Phi_x are marked", marks),
            FigurePanel("det Phi_theta [m^6]", [FigureCurve(t, theta[seen])]),
            FigurePanel(
                "largest |f| [m^2]", [FigureCurve(own.t, residual)], "the paper's method, step 0.002 s", marks, True, (1e-13, 1e-5)
            ),
        ]

    return drawing(panels, title=f"Hoang et al., Fig. {number}: {CASES[case]}, computed again")


def _state_after_1s(case: int, why: str) -> Item:
    run = exact(case)
    off = float(np.abs(run.q[1000] - STATES_AFTER_1S[case]).max())
    got = f"theta {', '.join(f'{x:.6f}' for x in run.q[1000][:3])} rad"
    title, number = CASES[case].replace(":", ","), case + 1
    return compared(
        f"Fig. {number}",
        f"{title}: state after 1 s",
        "curves",
        got,
        off,
        1e-6,
        "the printed equations in 30 digits",
        why,
        _figure(case, number),
    )


def constant_voltages() -> Item:
    return _state_after_1s(1, "zeros of det Phi_theta and det Phi_x in the first second: {} and {}".format(*crossings(1)))


def pd_control() -> Item:
    return _state_after_1s(2, "the PD law is read as joint torque with back-EMF included; as volts it would cross 1 + 17 times")


def reach() -> Item:
    run = exact(1)
    (x_low, x_high), (y_low, y_high) = (curve_extremes(run.t, np.asarray(run.q)[:, i]).both for i in (3, 4))
    low, high = min(x_low, y_low), max(x_high, y_high)
    return compared(
        "Sec. 5.2, case 1",
        "range of the platform's center",
        "[-0.1, 1] m",
        f"[{low:.3f}, {high:.3f}] m in 5 s: x from {x_low:.3f} to {x_high:.3f}, y from {y_low:.3f} to {y_high:.3f}",
        max(abs(low + 0.1), abs(high - 1.0)),
        0.05,  # m: half of the last digit printed
        why="the text reads its figure roughly; x is beyond 1.09 m already after half a second, whatever the length of the run",
    )


def passages() -> Item:
    theta, x = crossings(2)
    return compared(
        "Sec. 5.2, Fig. 3(b)",
        "case 2: zeros of det Phi_theta and det Phi_x in the first second",
        "1 and 6",
        f"{theta} and {x}",
        abs(theta - 1) + abs(x - 6),
        0,
    )


def arrival() -> Item:
    """Reached is what a figure cannot distinguish from reached: half a hundredth of the longest way, 2.27 rad."""
    run = exact(2)
    off = np.max([np.abs(np.asarray(run[joint]) - goal) for joint, goal in WANTED.items()], axis=0)
    band = 0.01 * float(off[0])
    time = float(run.t[int(np.flatnonzero(off > band)[-1]) + 1])
    return compared(
        "Sec. 5.2, Fig. 3(a)",
        "case 2: when the desired positions are reached",
        "after about 2.5 s",
        f"at 2.5 s all cranks are within {off[2500]:.4f} rad; within 1 % of the longest way from {time:.2f} s on",
        float(off[2500:].max()),
        0.005 * float(off[0]),
        "the desired positions, rad, from 2.5 s on",
    )


def rank_never_lost() -> Item:
    least = min(float(exact(case).certificate.smallest_singular_value) for case in (1, 2))
    return Item(
        "title, Sec. 5",
        "singularities met",
        "singularity-free simulation",
        f"Phi_q never loses rank: smallest singular value {least:.2f}",
        "differs",
        deviation=least,
        tolerance=0.0,
        reference="a loss of rank",
        why="the determinants of the partition (20) vanish, not the rank of the constraints: the motion is smooth there",
    )


# -------------------------------------------------------------------- residuals and accuracy


def residuals_case_1() -> Item:
    level = float(gaps(as_published(1)).max())
    return compared(
        "Sec. 5.2, Fig. 2(b)",
        "case 1: largest residual of the loops, Baumgarte and post-adjusting together",
        "about 1e-6",
        f"{level:.1e} m^2 at all steps",
        abs(math.log10(level / 1e-6)),
        0.5,
        "1e-6, in decades",
        "the unit is m^2, printed m; a small residual is not accuracy ('linkwright docs stabilization')",
    )


def residuals_case_2() -> Item:
    f = gaps(as_published(2))
    peak, median = float(f.max()), float(np.median(f[:501]))
    return compared(
        "Sec. 5.2, (26)-(34)",
        "case 2: residuals of the loops, at singular positions and elsewhere",
        "around 1e-7 and around 1e-9 m",
        f"at most {peak:.1e} m^2 at all steps, median of the first second {median:.1e} m^2",
        max(abs(math.log10(peak / 1e-7)), abs(math.log10(median / 1e-9))),
        1.0,
        "both, in decades",
        "the step is not printed: 0.002 s fits both cases, 0.001 and 0.005 s neither",
    )


def accuracy() -> Item:
    right = np.asarray(exact(1).q)[::2]
    both, plain = (np.abs(np.asarray(as_published(1, x).q) - right[:1501]).max(axis=1) for x in (True, False))
    return Item(
        "Sec. 6",
        "case 1: does post-adjusting make the motion better?",
        "it ensures that constraints are not broken; stability of the integration is confirmed",
        f"off by {both[500]:.1e} after 1 s and {both[1500]:.1e} after 3 s; Baumgarte's terms alone {plain[500]:.1e} and {plain[1500]:.1e}",
        "differs",
        deviation=float(both[1500]),
        tolerance=float(plain[1500]),
        reference="the exact motion; allowed is what Baumgarte's terms alone give",
        why="post-adjusting moves dependent coordinates only, a lot where det Phi_x is small: loops close and the motion is pushed off",
    )


# -------------------------------------------------------------------- equations


def null_space() -> Item:
    s, run = robot(), exact(1)
    at = [0, 250, 500, 750, 1000, *(int(1000 * z) for z in zeros(1) if z < 1.0)]
    worst = 0.0
    for i in at:
        st = s.state(run.q[i], run.v[i])
        a, b = (s.forward(st, {"A1": 50.0, "A2": -50.0, "A3": 50.0}, formulation=name).a for name in ("nullspace", "kkt"))
        worst = max(worst, float(np.abs(a - b).max() / (1.0 + np.abs(b).max())))
    return compared(
        "(18)-(23)",
        "accelerations by the null space of Phi_q, also where the partition fails",
        "the equations",
        f"{len(at)} positions of case 1, {len(at) - 5} of them next to zeros of det Phi_x",
        worst,
        1e-11,
        "kkt",
        "H is 9 x 6 everywhere: it has no inverse at regular positions either",
    )


def skew() -> Item:
    """The rate of M by a complex step, on the 3-RRR of Koul et al.; in this paper's coordinates M is constant and C zero."""
    s = compile(load("3-rrr"), cuts=["J6", "J7"])
    q, v = s.start.q, np.linspace(-1.0, 2.0, s.tree.nv)
    ahead = (
        np.imag(
            dynamics.mass_matrix(
                compiled_of(s).skel, motion(compiled_of(s).skel, q + 1e-30j * kinematics.qdot(compiled_of(s).skel, q, v), v.astype(complex))
            )
        )
        / 1e-30
    )
    worst = 0.0
    for sub in compiled_of(s).skel.tree.subsystems:
        X = ahead[sub.v, sub.v] - 2.0 * denoc(compiled_of(s).skel, q, v, sub.index).coriolis
        worst = max(worst, float(np.abs(X + X.T).max()))
    return compared(
        "(3)",
        "dM/dt - 2 C is skew",
        "stated",
        "all subsystems of a 3-RRR with moving masses",
        worst,
        1e-12,
        "the rate of M by a complex step",
    )


@cache
def energies() -> dict[str, float]:
    """Case 1, three seconds: works of the three motors, J."""
    run = exact(1)
    t, seen = np.asarray(run.t)[:3001], slice(0, 3001)
    out = {}
    for name in ("power.electric", "heat", "power.mechanical", "power.created"):
        power = np.sum([np.asarray(run[f"motor.{joint}.{name}"])[seen] for joint in WANTED], axis=0)
        out[name] = float(np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(t)))
    return out


def power_balance() -> Item:
    e = energies()
    created = e["heat"] + e["power.mechanical"] - e["power.electric"]
    return compared(
        "(6)-(8), Sec. 5.2",
        "power balance of the motors, Km = 3 N m/A and Ke = 0.1 V s/rad, case 1, 3 s",
        "the constants",
        f"{e['power.electric']:.2f} J go in, {e['heat']:.2f} J of heat and {e['power.mechanical']:.2f} J of work come out",
        created,
        0.01 * e["power.electric"],
        "a balance, J",
        "in SI a motor's two constants are one number: with 3 and 0.1 power (Km - Ke) i w is created",
    )

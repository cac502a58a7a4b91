"""Claims of [Koul2013] beside its examples: how work grows, constraints at acceleration level, recursion after the multipliers, drift.

Each is computed on the paper's own mechanisms or on a chain of four-bar loops, and compared with something that does not use it.
"""

from __future__ import annotations

import math

import numpy as np

from linkwright.mechanics.formulations.sslm import Sslm
from linkwright.rings.papers import Item, chain_cost, compared
from linkwright.rings.papers.koul_matrices import in_motion, scraper

GROWTH_LOOPS = (4, 8, 16)  # of the chain; 16 loops of dense matrices are counted in a tenth of a second
DRIFT_TIME = 5.0  # s of free motion without stabilization


def growth() -> Item:
    """Sec. 1: exponents of the number of loops, from the last doubling."""
    n, twice = GROWTH_LOOPS[-2:]
    power = {
        name: math.log2(
            chain_cost.operations(twice, name.split()[0], full="dense" in name).total
            / chain_cost.operations(n, name.split()[0], full="dense" in name).total
        )
        for name in ("kkt dense", "slm dense", "sslm")
    }
    return compared(
        "Sec. 1",
        "growth of the work with the number of loops: system-level matrices against subsystems",
        "O((n + m)^3) and O(n^3) + O(m^3); less by subsystems",
        f"exponents from {n} to {twice} loops: " + ", ".join(f"{name} {x:.2f}" for name, x in power.items()),
        abs(power["sslm"] - 1.0),
        0.01,
        "an exponent of 1 for subsystems; dense ones tend to 3 from below",
        "with m and n in proportion to the number of loops",
    )


def acceleration_constraints() -> Item:
    """(8): J q'' + J-dot q' is the second derivative of the loops' gaps along any motion."""
    worst, h = 0.0, 1e-4
    for s, st in in_motion():
        t = s.terms(st)
        a = np.linspace(-1.0, 1.0, len(st.v))  # any acceleration, not one of the mechanism

        def gap(time: float, s=s, st=st, a=a) -> np.ndarray:
            return s.phi(s.state(st.q + time * st.v + 0.5 * time**2 * a, st.v))

        ahead, here, back = (gap(k * h) for k in (1.0, 0.0, -1.0))
        far, rear = (gap(k * h) for k in (2.0, -2.0))
        second = (-far + 16.0 * ahead - 30.0 * here + 16.0 * back - rear) / (12.0 * h * h)
        worst = max(worst, float(np.abs(t.J @ a + t.k - second).max() / max(1.0, np.abs(second).max())))
    return compared(
        "(8)",
        "constraints at acceleration level, J q'' + J-dot q'",
        "J q'' = -J-dot q'",
        "both examples in motion, an arbitrary q''",
        worst,
        1e-6,  # differences of 1e-4 s: round-off 1e-16/h^2 is 1e-8, truncation h^4 below it
        "second differences of the gaps along the motion, relative",
    )


def recursion() -> Item:
    """Fig. 2: with lambda known, each subsystem is a tree under external forces, for which an O(n) recursion gives q''."""
    worst = 0.0
    for s, st in in_motion():
        t = s.terms(st)
        tau = np.linspace(1.0, 2.0, len(st.v))
        direct, recursive = Sslm(recursion=False)(t, tau), Sslm(recursion=True)(t, tau)
        worst = max(worst, float(np.abs(direct.a - recursive.a).max() / np.abs(direct.a).max()))
    return compared(
        "Fig. 2",
        "accelerations by O(n) recursion on the trees, once the multipliers are known",
        "lambda first, then the recursion of ReDySim",
        "both examples in motion",
        worst,
        1e-11,
        "back-substitution with the factored I_j",
        "by itself Linkwright recurs from 10 velocities of a subsystem on; below, back-substitution takes fewer operations",
    )


def constraint_violation() -> Item:
    """Sec. 1 and 3: integrating accelerations alone lets the loops drift open."""
    s, st = scraper()
    gaps = {}
    for keep in ("none", "project"):
        run = s.simulate(st, DRIFT_TIME, tolerance=1e-6, stabilizer=keep, sample_interval=0.05)
        gaps[keep] = max(float(np.abs(s.phi(run.state(i))).max()) for i in range(0, len(run.t), 10))
    return compared(
        "Secs. 1, 3",
        "loops drift open where accelerations alone are integrated, so a DAE needs stabilization",
        "constraint violation",
        f"scraper, {DRIFT_TIME:g} s at 1e-6: {gaps['none']:.0e} m open without stabilization, {gaps['project']:.0e} m with projection",
        gaps["project"] / gaps["none"],
        1e-6,  # round-off of 0.1 m against a drift of some 1e-6 m and more
        "the gap with projection over the gap without",
    )

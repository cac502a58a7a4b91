"""Koul, Shah and Saha: subsystem-level Lagrange multipliers (SSLM), on the carpet scraper and the 3-RRR manipulator.

The paper's Figs. 7 and 8 cannot be read from the text; states are compared with solutions in 34 to 40 digits. Ground pivots,
the base of the manipulator and gravity (9.81 m/s^2 along -y) are not in the paper and are taken as docs/models.md says.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from linkwright import drives
from linkwright.bench import chain
from linkwright.mechanism import compile, load
from linkwright.papers import Item, compared

SPEED = 4.7124  # rad/s [Koul2013 Table 2]
# free motion of the scraper's crank: time, angle, speed; 20 digits were computed
FREE = (
    (0.1, 0.54200573664415777, 6.0284600455158172),
    (0.5, 2.84310820510771734, 0.95907692782298045),
    (1.0, 1.43500534457175316, -8.38675742220781738),
)
# angles of the manipulator's cranks, falling freely from rest
RRR_FREE = ((0.1, (0.94572058268919, 4.3403333712401, 5.6472288372324)), (0.5, (1.0046906824248, 6.3508359821875, 4.362558071629)))
SCRAPER_ACCELERATION = 16.37789108775491  # of the crank at the start, rad/s^2
CUT_FORCES = {"J8": (-219.378428535212, -7.668679930667343), "J9": (-29.64307399030925, -295.5025533412331)}
RRR_ACCELERATIONS = (-18.72325110244385, 30.60010718350685, -23.32282554387737)


@cache
def scraper() -> tuple[Any, Any]:
    s = compile(load("carpet-scraper"), cuts=["J8", "J9", "J10"])
    return s, s.assemble(q={"J1": 0.0}, v={"J1": SPEED})


@cache
def manipulator() -> tuple[Any, Any]:
    s = compile(load("3-rrr"), cuts=["J6", "J7"])
    return s, s.start


def scraper_at_start() -> Item:
    s, st = scraper()
    acc = s.forward(st, formulation="sslm")
    off = abs(acc["J1"] - SCRAPER_ACCELERATION)
    off = max(off, *(float(np.abs(acc.joint_force(j)[:2] - f).max()) for j, f in CUT_FORCES.items()))
    return compared(
        "(22)-(24), (33)-(35)",
        "scraper at t = 0: multipliers by SSLM, then accelerations",
        "the equations",
        f"crank {acc['J1']:.6f} rad/s^2, force at J8 {np.linalg.norm(acc.joint_force('J8')):.3f} N",
        off,
        1e-9,
        "maximal coordinates, 20 multipliers",
        "(9) gives -lambda; J22(2,1) of A.1 is printed with a wrong sign, which would change the accelerations by 10 rad/s^2",
    )


def manipulator_at_start() -> Item:
    s, st = manipulator()
    acc = s.forward(st, formulation="sslm")
    found = [acc[j] for j in ("J1", "J8", "J9")]
    return compared(
        "(41), (44)-(45)",
        "3-RRR at t = 0: accelerations of the cranks",
        "the equations",
        ", ".join(f"{x:.4f}" for x in found) + " rad/s^2",
        float(np.abs(np.subtract(found, RRR_ACCELERATIONS)).max()),
        1e-9,
        "tree coordinates in 40 digits and maximal coordinates",
        "J11(2,1) and J11(2,2) of A.2 need +d1 c7; the base (equilateral, 1 m) is ours, probable but not printed",
    )


def both_eliminations() -> Item:
    worst = 0.0
    for s, st in (scraper(), manipulator()):
        lam = {name: s.forward(st, formulation=name).lam for name in ("kkt", "slm", "sslm")}
        for loop, x in lam["kkt"].items():
            worst = max(worst, *(float(np.abs(lam[name][loop] - x).max() / (1.0 + np.abs(x).max())) for name in ("slm", "sslm")))
    return compared(
        "(9), (11), App. A.1-A.5",
        "three ways to the multipliers: all equations, system level, subsystem level",
        "the same multipliers",
        f"the same to {worst:.1e}",
        worst,
        1e-11,
        "kkt",
    )


def block_pattern() -> Item:
    s, st = scraper()
    members = {frozenset(k): v for k, v in s.gicm(st).members.items()}
    coupled = sorted(tuple(sorted(i + 1 for i in k)) for k in members)
    apart = frozenset({0, 2}) in members
    expected = [(1,), (1, 2), (1, 3), (2,), (2, 3), (3,)]
    return Item(
        "(24), Fig. 3",
        "GICM of the scraper: which loops feel each other, and through which subsystems",
        "I_13 = 0: loops 1 and 3 share none",
        f"blocks {', '.join('-'.join(map(str, k)) for k in coupled)}",
        "differs" if apart else "agrees",
        deviation=float(len(set(coupled) ^ (set(expected) - {(1, 3)}))),
        tolerance=0.0,
        reference="the table of loops and subsystems",
    )


def free_scraper() -> Item:
    s, st = scraper()
    run = s.simulate(st, 1.0, tolerance=1e-11, output=[t for t, _, _ in FREE])
    off = max(abs(run["J1"][i] - x) + abs(run["J1.v"][i] - v) for i, (_, x, v) in enumerate(FREE))
    return compared(
        "Fig. 7(a)",
        "scraper let go at 4.7124 rad/s",
        "a curve, same as RecurDyn's",
        f"angle {run['J1'][-1]:.9f} rad after 1 s",
        off,
        1e-8,
        "energy quadrature in 34 digits",
        "the crank does not turn over: it swings between -0.530 and 2.897 rad, period 1.6469 s",
    )


def free_manipulator() -> Item:
    s, st = manipulator()
    run = s.simulate(st, 0.5, tolerance=1e-11, output=[t for t, _ in RRR_FREE])
    off = max(abs(run[j][i] - x) for i, (_, values) in enumerate(RRR_FREE) for j, x in zip(("J1", "J8", "J9"), values, strict=True))
    return compared(
        "Fig. 8(a)",
        "3-RRR falling freely",
        "three curves",
        ", ".join(f"{run[j][-1]:.6f}" for j in ("J1", "J8", "J9")) + " rad after 0.5 s",
        off,
        1e-8,
        "Taylor series of order 28 in 40 digits",
    )


def forced_scraper() -> Item:
    """The torque of the inverse, held against the free equations: an interpolated torque drives the crank evenly again."""
    from scipy.interpolate import make_interp_spline

    s, st = scraper()
    period = 2.0 * math.pi / SPEED
    turned = s.simulate(st, period, drive={"J1": drives.speed(SPEED)}, output=period / 720, tolerance=1e-12)
    torque = turned["J1.torque"].copy()
    torque[-1] = torque[0]
    spline = make_interp_spline(np.linspace(0.0, 2.0 * math.pi, len(torque)), torque, k=7, bc_type="periodic")
    drive = {"J1": drives.torque(lambda t: float(spline((SPEED * t) % (2.0 * math.pi))))}
    run = s.simulate(st, 5.0, drive=drive, tolerance=1e-10)
    off = float(np.abs(run["J1"] - SPEED * run.t).max())
    return compared(
        "Fig. 7(b), (c)",
        "scraper driven by the torque of its inverse, 5 s",
        "deviation very small",
        f"at most {off:.1e} rad",
        off,
        1e-7,
        "theta = 4.7124 t",
    )


def cost() -> Item:
    count = {name: chain.operations(3, name).total for name in ("kkt", "slm", "sslm")}
    return Item(
        "Tables 3 and 4",
        "cost of the multipliers, SLM against SSLM",
        "20 to 30 % less time",
        f"chain of three loops: {count['slm']} and {count['sslm']} operations, {100 * (1 - count['sslm'] / count['slm']):.0f} % fewer",
        "undecided",
        why="MATLAB times of a 2.2 GHz processor cannot be repeated; zeros are folded in both counts",
    )


ITEMS = (
    scraper_at_start, manipulator_at_start, both_eliminations, block_pattern, free_scraper, free_manipulator, forced_scraper, cost,
)  # fmt: skip

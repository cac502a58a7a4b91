"""Figs. 7 and 8 of [Koul2013]: both examples let go, and driven by the torque of their inverse dynamics.

The figures cannot be read from the text. Free motions are held against solutions in 34 digits, forced ones against the
motion the torque was computed for. The manipulator's motion is ours: the paper does not say which one it had.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkwright.api import curve_extremes, drives
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.figures import FigureCurve, FigurePanel, drawing
from linkwright.rings.papers.koul_matrices import SPEED, manipulator, scraper

# free motion of the scraper's crank: time, angle, speed; 20 digits were computed (tests/data/generate/koul_motion.py)
FREE = (
    (0.1, 0.54200573664415777, 6.0284600455158172),
    (0.5, 2.84310820510771734, 0.95907692782298045),
    (1.0, 1.43500534457175316, -8.38675742220781738),
)
# angles of the manipulator's cranks, falling freely from rest (the same script)
RRR_FREE = ((0.1, (0.94572058268919, 4.3403333712401, 5.6472288372324)), (0.5, (1.0046906824248, 6.3508359821875, 4.362558071629)))
DURATION = 5.0  # s, of Figs. 7 and 8 as far as the text says
CRANKS = {"J1": "theta_1", "J8": "theta_6", "J9": "theta_7"}
STROKE = {"J1": -0.3, "J8": 0.3, "J9": -0.3}  # rad, of the manipulator's forced motion there and back: ours
Panels = list[FigurePanel]


def periodic(samples: np.ndarray, period: float) -> Callable[[Any], Any]:
    """The trigonometric sum through equally spaced samples of one period (the last is where the next one begins): can be compiled."""
    c = np.fft.rfft(samples[:-1]) / (len(samples) - 1)
    size = np.abs(c)
    round_off = 1e-13  # of the largest: harmonics of a torque that are nothing else
    last = int(np.flatnonzero(size > round_off * size.max())[-1])
    terms = [(float(x.real), float(x.imag)) for x in (*c[:1], *(2.0 * c[1 : last + 1]))]

    def at(t: Any) -> Any:
        x, y = np.cos(2.0 * math.pi / period * t), np.sin(2.0 * math.pi / period * t)
        re, im = terms[-1]
        for a, b in terms[-2::-1]:  # Horner's rule on the unit circle
            re, im = re * x - im * y + a, re * y + im * x + b
        return re

    return at


def inverse_torque(s: Any, st: Any, motion: dict[str, Callable[[Any], Any]], t: np.ndarray) -> np.ndarray:
    """Drive torques and forces by inverse dynamics along a motion from a state, a row for each time."""
    c = s.simulate(st, t[-1], drive={j: drives.position(f) for j, f in motion.items()}, tolerance=1e-12, sample_interval=t)
    return np.asarray(s.kernel("inverse", drives=list(motion))(c.q, c.v, c.a).u)


# -------------------------------------------------------------------- the scraper


@cache
def scraper_run() -> Any:
    s, st = scraper()
    return s.simulate(st, DURATION, tolerance=1e-11, sample_interval=0.005)


def free_scraper() -> Item:
    run = scraper_run()
    there = [int(np.argmin(np.abs(run.t - t))) for t, _, _ in FREE]
    off = max(abs(run["J1"][i] - x) + abs(run["J1.v"][i] - v) for i, (_, x, v) in zip(there, FREE, strict=True))
    swing = curve_extremes(run.t, run["J1"])

    def panels() -> Panels:
        known = FigureCurve([t for t, _, _ in FREE], [x for _, x, _ in FREE], "", "points", 3)
        return [
            FigurePanel(
                "theta_1 [rad]", (FigureCurve(run.t, run["J1"]), known), "Fig. 7(a): the scraper let go at 4.7124 rad/s; circles: 20 digits"
            ),
            FigurePanel("its rate [rad/s]", (FigureCurve(run.t, run["J1.v"]),)),
        ]

    return compared(
        "Fig. 7(a)",
        "scraper let go at 4.7124 rad/s",
        "a curve, same as RecurDyn's",
        f"angle {run['J1'][there[-1]]:.9f} rad after 1 s",
        off,
        1e-8,
        "energy quadrature in 34 digits",
        f"the crank does not turn over: it swings between {swing.low:.3f} and {swing.high:.3f} rad, period 1.6469 s",
        drawing(panels),
    )


@cache
def scraper_torque() -> tuple[np.ndarray, np.ndarray]:
    """Angles over a cycle, and the torque of the inverse at them."""
    s, st = scraper()
    t = np.linspace(0.0, 2.0 * math.pi / SPEED, 513)
    return SPEED * t, inverse_torque(s, st, {"J1": lambda t: SPEED * t}, t)[:, 0]


@cache
def scraper_drive() -> dict[str, drives.Torque]:
    """The torque as a function of time, as computed beforehand."""
    return {"J1": drives.torque(periodic(scraper_torque()[1], 2.0 * math.pi / SPEED))}


@cache
def forced_scraper_run() -> Any:
    s, st = scraper()
    return s.simulate(st, DURATION, drive=scraper_drive(), tolerance=1e-11, sample_interval=0.005)


def forced_scraper() -> Item:
    """The torque of the inverse, held against the free equations: it drives the crank evenly again."""
    run, torque = forced_scraper_run(), curve_extremes(*scraper_torque())
    error = run["J1"] - SPEED * run.t

    def panels() -> Panels:
        wanted, found = FigureCurve(run.t, SPEED * run.t, "desired"), FigureCurve(run.t, run["J1"], "simulated", "dashed", 3)
        return [
            FigurePanel("theta_1 [rad]", (wanted, found), "Fig. 7(b): desired and simulated"),
            FigurePanel("error [rad]", (FigureCurve(run.t, error),), "Fig. 7(c): their difference"),
            FigurePanel("torque [N m]", (FigureCurve(run.t, run["J1.torque"]),), "the torque of the inverse that drives it"),
        ]

    off = float(np.abs(error).max())
    return compared(
        "Fig. 7(b), (c)",
        "scraper driven by the torque of its inverse, 5 s",
        "deviation very small",
        f"at most {off:.1e} rad at {len(run)} samples; torque between {torque.low:.2f} and {torque.high:.2f} N m",
        off,
        1e-7,
        "theta = 4.7124 t",
        figure=drawing(panels),
    )


# -------------------------------------------------------------------- the manipulator


@cache
def manipulator_run() -> Any:
    s, st = manipulator()
    return s.simulate(st, DURATION, tolerance=1e-11, sample_interval=0.005)


def free_manipulator() -> Item:
    run = manipulator_run()
    there = [int(np.argmin(np.abs(run.t - t))) for t, _ in RRR_FREE]
    off = max(abs(run[j][i] - x) for i, (_, values) in zip(there, RRR_FREE, strict=True) for j, x in zip(CRANKS, values, strict=True))

    def panels() -> Panels:
        curves = [FigureCurve(run.t, run[j], name, color=i) for i, (j, name) in enumerate(CRANKS.items())]
        known = [FigureCurve([t for t, _ in RRR_FREE], [x[i] for _, x in RRR_FREE], "", "points", i) for i in range(3)]
        return [FigurePanel("angle [rad]", (*curves, *known), "Fig. 8(a): the 3-RRR falling freely; circles: 34 digits")]

    return compared(
        "Fig. 8(a)",
        "3-RRR falling freely",
        "three curves",
        ", ".join(f"{run[j][there[-1]]:.6f}" for j in CRANKS) + " rad after 0.5 s",
        off,
        1e-8,
        "all Newton-Euler equations by steps of order 20 in 34 digits",
        "on our base; the motion is chaotic, after 5 s runs of two tolerances (1e-11, 1e-12) are 1e-5 rad apart",
        drawing(panels),
    )


def wanted(joint: str) -> Callable[[Any], Any]:
    """Our motion for Fig. 8(b): from rest at the start, there and back in 5 s."""
    begin = float(manipulator()[1][joint])
    return lambda t: begin + 0.5 * STROKE[joint] * (1.0 - np.cos(2.0 * math.pi / DURATION * t))


@cache
def manipulator_drive() -> dict[str, drives.Torque]:
    """Torques of the inverse as functions of time; nothing holds the manipulator on its course."""
    s, st = manipulator()
    t = np.linspace(0.0, DURATION, 257)
    torques = inverse_torque(s, st, {j: wanted(j) for j in CRANKS}, t)
    return {j: drives.torque(periodic(torques[:, i], DURATION)) for i, j in enumerate(CRANKS)}


@cache
def forced_manipulator_run() -> Any:
    s, st = manipulator()
    return s.simulate(st, DURATION, drive=manipulator_drive(), tolerance=1e-11, sample_interval=0.01)


def forced_manipulator() -> Item:
    run = forced_manipulator_run()
    errors = {j: run[j] - wanted(j)(run.t) for j in CRANKS}

    def panels() -> Panels:
        courses = [FigureCurve(run.t, wanted(j)(run.t), name, color=i) for i, (j, name) in enumerate(CRANKS.items())]
        found = [FigureCurve(run.t, run[j], "", "dashed", 3) for j in CRANKS]
        return [
            FigurePanel("angle [rad]", (*courses, *found), "Fig. 8(b): desired (a motion of ours) and, dashed, simulated"),
            FigurePanel("error [rad]", [FigureCurve(run.t, errors[j], CRANKS[j]) for j in CRANKS], "Fig. 8(c): their difference"),
            FigurePanel(
                "torque [N m]",
                [FigureCurve(run.t, run[f"{j}.torque"], CRANKS[j]) for j in CRANKS],
                "the torques of the inverse that drive it",
            ),
        ]

    off = max(float(np.abs(x).max()) for x in errors.values())
    most = max(curve_extremes(run.t, run[f"{j}.torque"]).size for j in CRANKS)
    return Item(
        "Fig. 8(b), (c)",
        "3-RRR driven by the torques of its inverse, 5 s",
        "deviation very small",
        f"at most {off:.1e} rad at {len(run)} samples with torques up to {most:.1f} N m, on a motion of ours",
        "undecided",
        off,
        1e-7,
        "theta_i(0) -+ 0.15 (1 - cos(2 pi t/5 s)) rad: theta_1 and theta_7 down, theta_6 up",
        "cannot be decided because the motion that the paper wanted is not printed; with ours the deviation is as small as it says",
        drawing(panels),
    )

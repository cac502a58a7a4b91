"""Linkages whose point runs along an exact straight line: Peaucellier, Hart's inversor, Scott-Russell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwright.rings.synthesis.drawings import drawn
from linkwright.rings.synthesis.duals import Dual, constant
from linkwright.rings.synthesis.dyad_steps import Anchor, CrankStep, LinkagePositions, LinkageStep, PinDyad, SlideDyad, positions
from linkwright.rings.synthesis.results import SynthesizedLinkage


def peaucellier(length: float) -> SynthesizedLinkage:
    """Return Peaucellier's cell: arms l from O to a rhombus of side s, whose near corner is on a circle through O.

    |OA| |OP| = l^2 - s^2, so that P runs along a line across the axis at the distance (l^2 - s^2) / (2 crank).
    """
    crank, arm, side, half = 1.0, 3.0, 1.5, np.deg2rad(60.0)  # crank angle; seen from O it is half of that
    numbers = {"q": crank + 0j, "r": crank, "l": arm, "s": side, "up": 1.0, "down": -1.0}
    o, a = Anchor("ground", "O"), Anchor("crank", "A", "r")
    steps: tuple[LinkageStep, ...] = (
        CrankStep("crank", Anchor("ground", "Q", "q")),
        PinDyad("upper", "side1", o, a, "B", ("l", "s"), "up"),
        PinDyad("lower", "side2", o, a, "D", ("l", "s"), "down"),
        PinDyad("side3", "side4", Anchor("upper", "B", "l"), Anchor("lower", "D", "l"), "P", ("s", "s"), "up"),
    )
    return _answer("peaucellier", length, steps, numbers, Anchor("side3", "P", "s"), half)


def hart(length: float) -> SynthesizedLinkage:
    """Return Hart's inversor: an antiparallelogram with sides a > b, three points of a line parallel to its diagonals.

    O on AB, P on AD and Q on CB at the share m from A, A and C: |OP| |OQ| = m (1 - m) (a^2 - b^2). P is on a circle through O.
    """
    a, b, m, crank, half = 2.0, 1.2, 0.5, 0.3, np.deg2rad(50.0)
    near = {"oa": m * a, "pa": m * b, "ob": -(1.0 - m) * a, "pd": -(1.0 - m) * b, "bq": (1.0 - m) * b}
    numbers = {"q": crank + 0j, "r": crank, "a": a, "b": b, "side": 1.0, "crossed": 1.0, **near}
    steps: tuple[LinkageStep, ...] = (
        CrankStep("crank", Anchor("ground", "R", "q")),
        PinDyad("first", "second", Anchor("ground", "O"), Anchor("crank", "S", "r"), "A", ("oa", "pa"), "side"),
        PinDyad("third", "fourth", Anchor("first", "B", "ob"), Anchor("second", "D", "pd"), "C", ("b", "a"), "crossed"),
    )
    return _answer("hart", length, steps, numbers, Anchor("third", "P", "bq"), half)


def scott_russell(length: float) -> SynthesizedLinkage:
    """Return the Scott-Russell linkage: crank and both halves of the rod equal, slider on the line through the crank's pivot."""
    numbers = {"r": 1.0, "g": 0j, "flat": 0.0, "ahead": 1.0, "tip": -1.0}
    steps: tuple[LinkageStep, ...] = (
        CrankStep("crank", Anchor("ground", "O")),
        SlideDyad("rod", "slider", Anchor("crank", "A", "r"), Anchor("ground", "G", "g"), "flat", "B", "r", "ahead"),
    )
    return _answer("scott-russell", length, steps, numbers, Anchor("rod", "P", "tip"), np.deg2rad(45.0))


def _answer(
    kind: str, length: float, steps: tuple[LinkageStep, ...], numbers: dict[str, complex], point: Anchor, half: float
) -> SynthesizedLinkage:
    """Return the linkage with a line of this length along x, drawn in its middle."""
    dense = 721
    angle = np.linspace(-half, half, dense)
    known = positions(steps, {n: constant([v]) for n, v in numbers.items()}, Dual(angle[None, :], {0: np.ones((1, dense))}))
    moved = known.point(point)
    p = moved.value[0]
    size = complex(length / (p[-1] - p[0]))
    beside = (p * size).imag
    speed = (moved.slope[0][0] * size).real
    linkage = drawn(kind, steps, known, position=dense // 2, points=[point], output=f"{point.body}.{point.pin}", size=size)
    lengths = _lengths(known, size)
    measures = {
        "straightness": float(np.ptp(beside)),
        "largest deviation": float(np.ptp(beside)) / 2.0,
        "speed variation": float(np.ptp(speed) / length * 2.0 * half),
        "least transmission angle": float(np.arccos(max(np.abs(c.value).max() for c in known.closings.values()))),
        "link ratio": max(lengths) / min(lengths),
        "longest link": max(lengths),
        "line from": -half,
        "line to": half,
    }
    return SynthesizedLinkage(linkage, float(np.ptp(beside)), (), measures)


def _lengths(known: LinkagePositions, size: complex) -> list[float]:
    """Return the lengths of all links, in meters."""
    names = ("q", "r", "l", "s", "a", "b")
    return [abs(complex(known.dimensions[n].value[0, 0])) * abs(size) for n in names if n in known.dimensions]


EXACT_LINES: dict[str, Callable[[float], SynthesizedLinkage]] = {"peaucellier": peaucellier, "hart": hart, "scott-russell": scott_russell}

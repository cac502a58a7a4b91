"""Section 6.1 of [Chaudhary2007]: Hoeken's four-bar moves its coupler point on a partly straight path, the pantograph enlarges it.

Straightness is the width of the narrowest strip that holds the path over the crank's half turn from 270 to 90 deg, where the crank points
away from the rocker's pivot; the strip touches the path between samples. With the three-digit lengths of Table 1 the two arms of the
pantograph enlarge 0.335/0.096 and 0.836/0.239 times, which are not equal; with the four digits of [Koul2013] both are 3.5.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from linkwright.api import curve_extremes, load
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.figures import FigureCurve, FigurePanel, drawing
from linkwright.rings.papers.koul import pantograph_error
from linkwright.rings.papers.koul_matrices import scraper

LENGTHS = {"carpet-scraper-2007": (0.038, 0.115, 0.089), "carpet-scraper": (0.038, 0.1152, 0.089)}  # crank, rocker, ground, m
ARMS = {"carpet-scraper-2007": (0.335 / 0.096, 0.836 / 0.239), "carpet-scraper": (0.3346 / 0.0956, 0.8365 / 0.239)}


class StraightPart(NamedTuple):
    """Part of a path: the travel along the strip and the strip's width, m."""

    length: float
    width: float


@cache
def paths(model: str) -> dict[str, np.ndarray]:
    """Crank angle from -90 to 90 deg, and over it the coupler point S and the tool T, complex."""
    steps = 720  # positions of a cycle
    turn = load(model).cycle(steps=steps)
    angle = np.asarray(turn["J1"])
    quarter = steps // 4
    half = np.concatenate([np.arange(3 * quarter, steps), np.arange(quarter + 1)])
    out = {name: np.asarray(turn[channel])[half, :2] @ [1.0, 1j] for name, channel in (("S", "link5.S"), ("T", "tool.T"))}
    return {"angle": np.remainder(angle[half] + math.pi, 2.0 * math.pi) - math.pi, **out}


def hoeken_point(model: str, angle: np.ndarray) -> np.ndarray:
    """The coupler point by its two circles: rocker pin B on both, S as far behind B as the crank pin is in front."""
    crank, rocker, ground = LENGTHS[model]
    A = crank * np.exp(1j * angle)
    d = -ground - A  # from the crank pin to the rocker's pivot; coupler half and rocker are equally long
    B = A + d * (0.5 - 1j * np.sqrt((rocker / np.abs(d)) ** 2 - 0.25))
    return 2.0 * B - A


def straight_part(angle: np.ndarray, path: np.ndarray) -> StraightPart:
    """The narrowest strip, its sides touching between samples: nested searches of its direction around that of the samples."""
    low, high = -0.01, 0.01  # rad about the line through both ends
    axis = np.angle(path[-1] - path[0])

    def width(turn: float) -> float:
        across = curve_extremes(angle, (path * np.exp(-1j * (axis + turn))).imag)
        return across.high - across.low

    while high - low > 1e-9:
        places = np.linspace(low, high, 11)
        best = int(np.argmin([width(x) for x in places]))
        low, high = places[max(best - 1, 0)], places[min(best + 1, 10)]
    middle = 0.5 * (low + high)
    along = curve_extremes(angle, (path * np.exp(-1j * (axis + middle))).real)
    return StraightPart(along.high - along.low, width(middle))


@cache
def parts(model: str) -> dict[str, StraightPart]:
    found = paths(model)
    return {name: straight_part(found["angle"], found[name]) for name in ("S", "T")}


def straight_line() -> Item:
    off = pantograph_error(scraper()[0])
    for model in LENGTHS:
        found = paths(model)
        off = max(off, float(np.abs(hoeken_point(model, found["angle"]) - found["S"]).max()))
    three, four = parts("carpet-scraper-2007"), parts("carpet-scraper")
    off = max(off, abs(four["T"].width / four["S"].width - 3.5) * four["S"].width, abs(four["T"].length - 3.5 * four["S"].length))
    arms = ARMS["carpet-scraper-2007"]

    def said(part: StraightPart) -> str:
        return f"{1e3 * part.length:.1f} mm straight within {1e3 * part.width:.3f} mm"

    return compared(
        "Sec. 6.1, Fig. 6",
        "Hoeken's part of the scraper is straight, the pantograph enlarges it: crank from 270 to 90 deg",
        "a partially straight path, its stroke magnified",
        f"coupler point {said(three['S'])}, tool {said(three['T'])}; with the four-digit lengths of [Koul2013] {said(four['S'])} and "
        f"{said(four['T'])}, 3.5 times as much",
        off,
        1e-12,
        "the coupler point by its two circles; T = O4 + 3.5 (S - O4) with four digits",
        f"by Table 1 the pantograph's arms enlarge {arms[0]:.4f} and {arms[1]:.4f} times: unequal by rounding, which bends the tool's line",
        drawing(_panels, over="crank angle [deg]", title="Chaudhary and Saha, Sec. 6.1: how straight the path is"),
    )


def _panels() -> list[FigurePanel]:
    out = []
    for name, label in (("S", "coupler point"), ("T", "tool")):
        curves = []
        for i, model in enumerate(LENGTHS):
            found = paths(model)
            height = found[name].imag
            curves.append(FigureCurve(np.degrees(found["angle"]), 1e3 * (height - height[len(height) // 2]), model, color=i))
        out.append(FigurePanel("height [mm]", curves, f"{label}: height over its middle", legend=True))
    return out

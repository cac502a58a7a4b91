"""Synthesis: figures of the literature computed again: paths, Hoeken's straight line, a function, nine points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from linkwright.rings.papers import Entry, Item, compared
from linkwright.rings.papers.figures import FigureCurve, FigurePanel, drawing
from linkwright.rings.synthesis.linkage import four_bar
from linkwright.rings.synthesis.motion_tracing import crank_linkage
from linkwright.rings.synthesis.requests import synthesize

# Hoeken's linkage by the range of the crank in deg: ground and coupler = rocker over the crank, straightness in per cent as printed and
# with more digits. L3 = (3 L1 - 1) / 2; rounded to the printed four digits the straightness of the first row would be thirty times larger.
HOEKEN = {
    20: (2.975, 3.9625, "0.00001", 1.0605e-05), 60: (2.900, 3.85, "0.00027", 2.6547e-04), 100: (2.725, 3.5875, "0.004", 3.6706e-03),
    140: (2.500, 3.25, "0.023", 0.0230905), 180: (2.200, 2.8, "0.096", 0.0963078),
}  # fmt: skip
NINE_POINTS = ((0.25, 0.0), (0.52, 0.1), (0.8, 0.7), (1.2, 1.0), (1.4, 1.3), (1.1, 1.48), (0.7, 1.4), (0.2, 1.0), (0.02, 0.4))
LOGARITHM = 0.0336  # deg: best of a search over 60 x 60 start angles, each through three points, its largest error then minimized

EIGHTEEN = (
    (0.5, 1.1), (0.4, 1.1), (0.3, 1.1), (0.2, 1.0), (0.1, 0.9), (0.05, 0.75), (0.02, 0.6), (0.0, 0.5), (0.0, 0.4), (0.03, 0.3), (0.1, 0.25),
    (0.15, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5), (0.5, 0.7), (0.6, 0.9), (0.6, 1.0),
)  # fmt: skip


def hoeken(beta: int) -> Item:
    """Straightness of the coupler point over the range of the crank, by its pins: largest less smallest y over the travel in x."""
    ground, coupler, printed, known = HOEKEN[beta]
    b = -1.0 + 0j  # the crank points away from the other pivot in the middle of the range
    apart = ground + 1.0
    height = np.sqrt(coupler**2 - 0.25 * apart**2)
    c = b + complex(0.5 * apart, height)
    at = crank_linkage(four_bar(0j, b, c, complex(ground), b + 2.0 * (c - b)))
    theta = np.pi + np.deg2rad(np.linspace(-beta / 2.0, beta / 2.0, 20_001))
    path = at.path(theta, np.full(theta.shape, at.sigma))
    straightness = 100.0 * np.ptp(path.imag) / np.ptp(path.real)
    return compared(
        f"Norton, Table 3-1, {beta} deg", f"Hoeken's straight line over {beta} deg of the crank: deviation over length, per cent",
        printed, f"{straightness:.5g}", abs(straightness / known - 1.0), 1e-3, "the same ratios with more digits than are printed",
    )  # fmt: skip


def freudenstein() -> Item:
    """Function generator log10 x from 1 to 2, 60 deg to 60 deg."""
    found = synthesize(function="log10(x)", x_range=(1, 2), input_range="60 deg", output_range="60 deg", count=1).best
    error = float(np.rad2deg(found.error))
    return compared(
        "Freudenstein's equation", "function generator log10 x, 1 to 2, 60 deg to 60 deg: largest structural error, deg", "",
        f"{error:.4g}", max(error / LOGARITHM - 1.0, 0.0), 1e-3, f"{LOGARITHM:g} deg of an independent search, where it is exceeded",
    )  # fmt: skip


@cache
def _nine() -> Any:
    return synthesize(path=NINE_POINTS, unit="m", exact=True, count=100)


def nine_points_classes() -> Item:
    """Problem 3: generic solutions that are tracked."""
    tracked = int(_nine().facts["tracked"])
    return compared(
        "Wampler, Morgan, Sommese 1992, number of solutions", "nine points: classes of four-bars and their cognates", "1442", str(tracked),
        abs(tracked - 1442), 0.0,
    )  # fmt: skip


def nine_points_real() -> Item:
    """Problem 3: real linkages, cognates counted once."""
    found = _nine()
    real = int(found.facts["real"])
    usable = found.facts.get("usable", sum(x.usable for x in found))
    return compared(
        "Wampler, Morgan, Sommese 1992, Problem 3", "nine points: real classes", "64", f"{real}, of which {usable} usable",
        abs(real - 64), 0.0, why="one class is free of branch, circuit and order defects and has a crank",
    )  # fmt: skip


# Path synthesis: three cases of the literature, their published linkages evaluated again and the best ones found here.
#
# The cases and linkages are those of [NguyenVan2022], printed with eight digits; the cases go back to Kunjur, Krishnamurty and Cabrera. The
# objective is the sum of squared distances. Point 6 of the case with 18 points is (0.05, 0.75); several papers have (0.005, 0.75).


class PathCase(NamedTuple):
    """A case: points, options of the search, the published linkage (r1 r2 r3 r4, rcx rcy, x0 y0 theta0, crank angles) and its objective."""

    where: str
    what: str
    points: Sequence[tuple[float, float]]
    options: dict[str, Any]
    r: tuple[float, float, float, float]
    rc: tuple[float, float]
    place: tuple[float, float, float]
    theta: Sequence[float]
    printed: float  # best objective of the paper
    evaluated: float  # objective of the eight printed digits
    allowed: float  # relative, of that
    reached: float  # by this search


CASES = (
    PathCase(
        "case 1", "six points of a vertical line, no timing", tuple((20.0, y) for y in (20.0, 25.0, 30.0, 35.0, 40.0, 45.0)),
        {"bounds": {"links": (0, 60), "point": 60, "crank pivot": ((-60, -60), (60, 60))}},
        (14.201369, 8.0143127, 16.309922, 12.253871), (27.797721, 11.305412), (-2.309531, 45.695083, 4.5172417),
        (6.2532447, 2.4038981, 2.9362397, 3.4905751, 4.0650776, 5.2095019), 8.8352421e-29, 1.31e-11, 0.02, 1e-26,
    ),
    PathCase(
        "case 2", "five timed points", ((3.0, 3.0), (2.759, 3.363), (2.372, 3.663), (1.89, 3.862), (1.355, 3.943)),
        {
            "timing": ["30 deg", "45 deg", "60 deg", "75 deg", "90 deg"], "bounds": {"links": (0, 50), "point": 50},
            "hold": {"crank pivot": (0, 0), "ground angle": 0, "crank offset": 0},
        },
        (4.2930812, 1.9978324, 4.7374099, 2.9417301), (1.7074051, 1.6441696), (0.0, 0.0, 0.0),
        tuple(np.deg2rad([30.0, 45.0, 60.0, 75.0, 90.0])), 1.9239227e-6, 1.9239227e-6, 1e-4, 7.4158e-7,
    ),
    PathCase(
        "case 3", "18 points at equal steps of the crank", EIGHTEEN,
        {"timing": "equal", "bounds": {"links": (0, 50), "point": 50, "crank pivot": ((-50, -50), (50, 50))}},
        (49.800886, 0.28817159, 48.476138, 1.633642), (-23.41281, 7.6644886), (-14.836153, 20.140223, 2.5286091),
        tuple(5.0644224 + np.deg2rad(20.0) * np.arange(18)), 0.016077817, 0.016077817, 1e-4, 0.0090289,
    ),
)  # fmt: skip


def objective(case: PathCase) -> float:
    """Sum of squared distances of the published linkage, on the closure that is nearer, traced by its pins."""
    points = np.array([complex(*p) for p in case.points])
    frame = np.exp(1j * case.place[2])
    a = complex(*case.place[:2])
    b = a + frame * case.r[1] * np.exp(1j * case.theta[0])
    d = a + frame * case.r[0]
    # C from the circles about B and D, on either side
    apart = abs(d - b)
    cosine = (case.r[2] ** 2 + apart**2 - case.r[3] ** 2) / (2.0 * case.r[2] * apart)
    found = []
    for side in (1.0, -1.0):
        along = (d - b) / apart * (cosine + side * 1j * np.sqrt(1.0 - cosine * cosine))
        at = crank_linkage(four_bar(a, b, b + case.r[2] * along, d, b + complex(*case.rc) * along))
        path = at.path(np.array(case.theta) + case.place[2], np.full(len(points), at.sigma))
        found.append(float((np.abs(path - points) ** 2).sum()))
    return min(found)


def evaluated(case: PathCase) -> Item:
    """The published linkage, evaluated here."""
    value = objective(case)
    digits = " (its digits; the search of the paper had more)" if case.evaluated != case.printed else ""
    return compared(
        f"[NguyenVan2022] {case.where}", f"{case.what}: objective of the printed linkage", f"{case.evaluated:.4g}{digits}", f"{value:.4g}",
        abs(value / case.evaluated - 1.0), case.allowed, "" if not digits else "the objective that these eight digits have",
    )  # fmt: skip


@cache
def best(number: int) -> Any:
    """The best linkage that the search finds for a case."""
    case = CASES[number]
    return synthesize(path=case.points, unit="m", **case.options).best


def searched(number: int) -> Item:
    """The best linkage found here against the best published."""
    case, found = CASES[number], best(number)
    excess = max(found.error / case.printed - 1.0, 0.0)
    exact = case.reached <= 1e-20
    note = (
        "rounding in both: the points are met exactly"
        if exact
        else f"lower by a factor of {case.printed / found.error:.2f}: the published linkage is no optimum"
    )
    deviation = found.error if exact else excess
    return compared(
        f"[NguyenVan2022] {case.where}, best", f"{case.what}: least sum of squared distances", f"{case.printed:.5g}", f"{found.error:.5g}",
        deviation, case.reached if exact else 0.0, "zero" if exact else "the print, where it is exceeded", note, _figure(number),
    )  # fmt: skip


def _figure(number: int) -> Any:
    """Wanted points and both coupler curves."""

    def panels() -> list[FigurePanel]:
        found, case = best(number), CASES[number]
        at = crank_linkage(found.linkage)
        path = at.path(np.linspace(0.0, 2.0 * np.pi, 361), np.full(361, at.sigma))
        x, y = zip(*case.points, strict=True)
        return [FigurePanel("y", [FigureCurve(path.real, path.imag, "found", color=0), FigureCurve(x, y, "", "points", 1)], case.what)]

    return drawing(panels, "x")


ITEMS: list[Callable[[], Item]] = [
    *(lambda case=case: evaluated(case) for case in CASES),
    *(lambda k=k: searched(k) for k in range(len(CASES))),
]

ENTRIES = tuple(
    Entry("", "", (compute,))
    for compute in (
        *ITEMS,
        *(partial(hoeken, beta) for beta in HOEKEN),
        freudenstein,
        nine_points_classes,
        nine_points_real,
    )
)

"""Synthesis: figures of the literature computed again: paths (synthesis_paths.py), Hoeken's straight line, a function, nine points."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from linkwright.rings.papers import Entry, Item, compared, synthesis_paths
from linkwright.rings.synthesis.linkage import four_bar
from linkwright.rings.synthesis.requests import synthesize
from linkwright.rings.synthesis.tracing import crank_linkage

# Hoeken's linkage by the range of the crank in deg: ground and coupler = rocker over the crank, straightness in per cent as printed and
# with more digits. L3 = (3 L1 - 1) / 2; rounded to the printed four digits the straightness of the first row would be thirty times larger.
HOEKEN = {
    20: (2.975, 3.9625, "0.00001", 1.0605e-05), 60: (2.900, 3.85, "0.00027", 2.6547e-04), 100: (2.725, 3.5875, "0.004", 3.6706e-03),
    140: (2.500, 3.25, "0.023", 0.0230905), 180: (2.200, 2.8, "0.096", 0.0963078),
}  # fmt: skip
NINE_POINTS = ((0.25, 0.0), (0.52, 0.1), (0.8, 0.7), (1.2, 1.0), (1.4, 1.3), (1.1, 1.48), (0.7, 1.4), (0.2, 1.0), (0.02, 0.4))
LOGARITHM = 0.0336  # deg: best of a search over 60 x 60 start angles, each through three points, its largest error then minimized


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


ENTRIES = tuple(
    Entry("", "", (compute,))
    for compute in (
        *synthesis_paths.ITEMS,
        *(partial(hoeken, beta) for beta in HOEKEN),
        freudenstein,
        nine_points_classes,
        nine_points_real,
    )
)

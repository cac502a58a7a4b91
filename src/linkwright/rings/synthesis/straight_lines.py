"""Straight-line linkages: named four-bars with the least largest deviation, and linkages whose line is exact.

Straightness is the width of the strip that holds the path. Hoeken's linkage has a crank that turns fully, and a share of the turn in which
its point is on the line; the others swing, and their longest link over the length of the line is limited instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwright.errors import UsageError
from linkwright.rings.synthesis.answers import SynthesizedLinkage, ranked
from linkwright.rings.synthesis.duals import Dual, dimensions
from linkwright.rings.synthesis.exact_lines import EXACT_LINES
from linkwright.rings.synthesis.form_paths import Found, wanted_kinds
from linkwright.rings.synthesis.line_families import LINE_FAMILIES, FourBarLine, LineFamily, hoeken_start
from linkwright.rings.synthesis.linkage import Linkage
from linkwright.rings.synthesis.polishing import VIOLATED, SmoothProblem, polished

Array = np.ndarray
SAMPLES, DENSE = 61, 1441  # positions along the line: of the search, of the final measures
ATTEMPTS, REFINED = 10, 3  # least squares, and those of them whose largest deviation is minimized
TRANSMISSION = np.deg2rad(15.0)
COSINE = float(np.cos(TRANSMISSION))


@dataclass(frozen=True, eq=False)
class LineProblem:
    """Minimax of one family: columns are its proportions, middle and half range of the angle (where free), tilt and level of the line."""

    family: LineFamily
    half: float | None  # half of the range of the crank's angle, where it is given
    longest: float | None = None  # link or arm over the length of the line
    shortest: float | None = None
    ratio: float | None = None  # longest over shortest link
    cosine: float = COSINE

    @property
    def columns(self) -> tuple[str, ...]:
        window = () if self.half is not None else ("half",) if not self.family.by_crank else ("middle", "half")
        return (*self.family.names, *window, "tilt", "level")

    def moved(self, x: Array, share: Array, *, slopes: bool = True) -> tuple[FourBarLine, dict[str, Dual]]:
        """Return the linkage at shares of the half range (K,), between -1 and 1, and the columns by name."""
        named = dict(zip(self.columns, dimensions(x[None, :], slopes=slopes), strict=True))
        half = named["half"] if self.half is None else Dual(np.array([[self.half]]))
        angle = half * share[None, :]
        if "middle" in named:
            angle = angle + named["middle"]
        return self.family.moved(named, angle), named

    def beside(self, x: Array, share: Array, *, slopes: bool = True) -> tuple[Dual, Dual, FourBarLine]:
        """Return the distances from the line over its length (1, K), the length (1, 1) and the linkage."""
        line, named = self.moved(x, share, slopes=slopes)
        along = named["tilt"].turned()
        seen = line.p * along.conjugate()
        length = (line.p.at(slice(None), slice(-1, None)) - line.p.at(slice(None), slice(0, 1))).size()
        return (seen.imag - named["level"]) / length, length, line

    def speeds(self, x: Array, share: Array, size: complex) -> Array:
        """Return the speed of the point along the line over that of the crank, in m/rad, for a linkage scaled by `size`."""
        _, named = self.moved(x, share[:1], slopes=False)
        angle = float(named["half"].value[0, 0]) if self.half is None else self.half
        middle = float(named["middle"].value[0, 0]) if "middle" in named else 0.0
        by_angle = Dual(middle + angle * share[None, :], {0: np.ones((1, len(share)))})
        line = self.family.moved(named, by_angle)
        crank = np.broadcast_to((line.a.slope[0] / line.a.value).imag, (1, len(share)))
        return (line.p.slope[0] * size).real[0] / crank[0]

    def smooth(self) -> SmoothProblem:
        share = np.linspace(-1.0, 1.0, SAMPLES)

        def problem(x: Array, slopes: bool) -> tuple[Array, Array, Array, Array]:
            beside, length, line = self.beside(x, share, slopes=slopes)
            limited = [(closing, self.cosine) for closing in line.closings]
            links = line.lengths[:4]
            if self.longest is not None:
                limited += [(r / (length * self.longest), 1.0) for r in line.lengths]
            if self.shortest is not None:
                limited += [(length * self.shortest / r, 1.0) for r in links]
            if self.ratio is not None:
                limited += [(r / s * (1.0 / self.ratio), 1.0) for r in links for s in links if r is not s]
            g = np.concatenate([limit + sign * dual.value[0] for dual, limit in limited for sign in (-1.0, 1.0)])
            if not slopes:
                return beside.value[0], np.zeros(0), g, np.zeros(0)
            n = len(x)
            gradients = np.concatenate([sign * dual.jacobian(n)[0] for dual, _ in limited for sign in (-1.0, 1.0)])
            return beside.value[0], beside.jacobian(n)[0], g, gradients

        return problem

    def start(self) -> Array:
        """Return the classical proportions, with the line through their path."""
        family = self.family
        first = hoeken_start(self.half / np.pi) if self.half is not None else family.first
        x = np.array([*first, *(0.0 for c in self.columns if c == "middle"), *(family.half for c in self.columns if c == "half"), 0.0, 0.0])
        return self.leveled(x)

    def leveled(self, x: Array) -> Array:
        """Return the columns with tilt and level of the chord of the path."""
        p = self.moved(x, np.linspace(-1.0, 1.0, SAMPLES), slopes=False)[0].p.value[0]
        tilt = float(np.angle(p[-1] - p[0]))
        level = (p * np.exp(-1j * tilt)).imag
        return np.array([*x[:-2], tilt, 0.5 * (level.max() + level.min())])

    def bounds(self) -> tuple[Array, Array]:
        family = self.family
        window = [(-1.0, 1.0) if c == "middle" else (0.05, 1.5) for c in self.columns if c in ("middle", "half")]
        pairs = np.array([*zip(family.low, family.high, strict=True), *window, (-10.0, 10.0), (-50.0, 50.0)])
        return pairs[:, 0], pairs[:, 1]


def straight_lines(
    length: float,
    *,
    share: float | None = None,
    kind: str | Sequence[str] | None = None,
    size: float | None = None,
    longest: float | None = None,
    shortest: float | None = None,
    most_ratio: float | None = None,
    transmission: float = TRANSMISSION,
    seed: int = 0,
    count: int = 8,
) -> Found:
    """Return linkages whose point runs along a straight line of this length in m, drawn in the middle of the line.

    kind: "hoeken", "chebyshev", "roberts", "watt", "evans" (approximate), "peaucellier", "hart", "scott-russell" (exact), or several; all
    without it, and with `share` those that turn fully. share: part of the turn of the crank in which the point is on the line, 0.5 without
    it. size: largest length of a link or of an arm of the coupler over the length of the line, for linkages that swing; or `longest` in
    m, for all approximate ones. shortest: shortest link in m. most_ratio: longest over shortest link. transmission: least transmission
    angle in rad along the line.
    """
    given = (("length", length, 0.0, np.inf), ("share", share, 0.0, 0.75), ("size", size, 0.3, 1e3), ("longest", longest, 0.0, np.inf),
             ("shortest", shortest, 0.0, np.inf), ("most_ratio", most_ratio, 1.0, np.inf))  # fmt: skip
    if not 0.0 <= transmission < np.pi / 2.0:
        raise UsageError(f"transmission = {np.rad2deg(transmission):g} deg: the least transmission angle is between 0 and 90 deg.")
    for name, value, low, high in given:
        if value is not None and not (np.isfinite(value) and low < value <= high):
            raise UsageError(f"{name} = {value}: give a number above {low:g}{'' if high == np.inf else f', at most {high:g}'}.")
    if count < 1:
        raise UsageError(f"count = {count}: ask for at least 1 answer.")
    every = [*LINE_FAMILIES, *EXACT_LINES]
    kinds = wanted_kinds(kind if kind is not None else every if share is None else ["hoeken"], every)
    found, evaluations, missed = [], 0, []
    for name in kinds:
        if name in EXACT_LINES:
            found.append(EXACT_LINES[name](length))
            continue
        family = LINE_FAMILIES[name]
        turns = family.size is None
        most = longest / length if longest else None if turns else size or family.size
        least = shortest / length if shortest else None
        half = np.pi * (share or 0.5) if turns else None
        problem = LineProblem(family, half, most, least, most_ratio, float(np.cos(transmission)))
        x, tried = _best(problem, seed)
        evaluations += tried
        if x is None:
            missed.append(name)
        else:
            found.append(_answer(problem, x, length))
    notes = tuple(f"{name}: no proportions meet these limits; allow longer links or a smaller transmission angle." for name in missed)
    return list(ranked(found)[:count]), {"evaluations": evaluations, "families": len(kinds)}, notes


def _best(problem: LineProblem, seed: int) -> tuple[Array | None, int]:
    """Return the columns with the least largest deviation, from the classical proportions and some near them; None if none is allowed."""
    rng = np.random.default_rng(seed)
    low, high = problem.bounds()
    smooth = problem.smooth()
    classical = problem.start()
    count, nearby = 0, []
    for attempt in range(ATTEMPTS):
        x = classical.copy()
        if attempt:
            varied = len(problem.family.names)
            x[:varied] *= np.exp(0.15 * rng.standard_normal(varied))
            x = problem.leveled(np.clip(x, low, high))
        found = polished(smooth, x, low, high, iterations=60, floor=0.05)
        count += found.evaluations
        nearby.append((bool(found.violation > VIOLATED), found.value, attempt, found.x))
    best, least = None, np.inf
    for *_, x in sorted(nearby)[:REFINED]:
        found = polished(smooth, x, low, high, maximum=True, iterations=120, floor=0.05)
        count += found.evaluations
        if found.violation < 1e2 * VIOLATED and found.value < least:
            best, least = found.x, found.value
    return best, count


def _answer(problem: LineProblem, x: Array, length: float) -> SynthesizedLinkage:
    """Return the linkage in meters, drawn in the middle of its line, with the line along x."""
    family = problem.family
    share = np.linspace(-1.0, 1.0, DENSE)
    beside, chord, line = problem.beside(x, share, slopes=False)
    p, a = line.p.value[0], np.broadcast_to(line.a.value, (1, DENSE))[0]
    size = complex(length / float(chord.value[0, 0]) * np.exp(-1j * x[-2]))
    middle = DENSE // 2
    b = np.broadcast_to(line.b.value, (1, DENSE))[0]
    pins = {"O": 0j, "A": complex(a[middle]), "B": complex(b[middle]), "C": complex(line.c.value[0, 0]), "P": complex(p[middle])}
    bodies = {"ground": ("O", "C"), "crank": ("O", "A"), "coupler": ("A", "B"), "rocker": ("C", "B")}
    linkage = Linkage(family.kind, pins, bodies, "O", {"coupler": ("P",)}, output="coupler.P").moved(size, 0j)
    width = float(np.ptp(beside.value[0])) * length
    driven = np.unwrap(np.angle(a))
    along = (p * size).real
    speed = problem.speeds(x, share, size)
    lengths = [abs(float(r.value[0, 0])) * float(abs(size)) for r in line.lengths]
    measures = {
        "straightness": width,
        "largest deviation": width / 2.0,
        "speed variation": float(np.ptp(speed) / abs(along[-1] - along[0]) * abs(driven[-1] - driven[0])),
        "least transmission angle": float(np.arccos(min(1.0, np.abs(line.closings[0].value).max()))),
        "link ratio": max(lengths[:4]) / min(lengths[:4]),
        "longest link": max(lengths),
        "line from": float(min(driven[0], driven[-1]) - driven[middle]),
        "line to": float(max(driven[0], driven[-1]) - driven[middle]),
    }
    return SynthesizedLinkage(linkage, width, (), measures)

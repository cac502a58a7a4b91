"""Straight-line linkages: named four-bars with the least largest deviation, and linkages whose line is exact.

Straightness is the width of the strip that holds the path. Hoeken's linkage has a crank that turns fully, and a share of the cycle in which
its point is on the line; the others swing, and their longest link over the length of the line is limited instead.

The exact ones are those of Peaucellier, Hart's inversor and Scott-Russell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linkwright.api import UsageError
from linkwright.rings.synthesis.candidate_linkages import drawn
from linkwright.rings.synthesis.dual_arrays import Dual, constant, dimensions
from linkwright.rings.synthesis.dyad_steps import (
    Anchor,
    CrankStep,
    LinkagePositions,
    LinkageStep,
    PinDyad,
    SlideDyad,
    circles_meet,
    positions,
)
from linkwright.rings.synthesis.final_improvement import VIOLATED, SmoothProblem, polished
from linkwright.rings.synthesis.form_paths import Found, wanted_kinds
from linkwright.rings.synthesis.linkage import Linkage
from linkwright.rings.synthesis.results import SynthesizedLinkage, ranked


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
    return _exact_answer("peaucellier", length, steps, numbers, Anchor("side3", "P", "s"), half)


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
    return _exact_answer("hart", length, steps, numbers, Anchor("third", "P", "bq"), half)


def scott_russell(length: float) -> SynthesizedLinkage:
    """Return the Scott-Russell linkage: crank and both halves of the rod equal, slider on the line through the crank's pivot."""
    numbers = {"r": 1.0, "g": 0j, "flat": 0.0, "ahead": 1.0, "tip": -1.0}
    steps: tuple[LinkageStep, ...] = (
        CrankStep("crank", Anchor("ground", "O")),
        SlideDyad("rod", "slider", Anchor("crank", "A", "r"), Anchor("ground", "G", "g"), "flat", "B", "r", "ahead"),
    )
    return _exact_answer("scott-russell", length, steps, numbers, Anchor("rod", "P", "tip"), np.deg2rad(45.0))


def _exact_answer(
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
        raise UsageError(
            f"transmission = {np.rad2deg(transmission):g} deg: the least transmission angle is between 0 and 90 deg.", name="transmission"
        )
    for name, value, low, high in given:
        if value is not None and not (np.isfinite(value) and low < value <= high):
            raise UsageError(f"{name} = {value}: give a number above {low:g}{'' if high == np.inf else f', at most {high:g}'}.", name=name)
    if count < 1:
        raise UsageError(f"count = {count}: give count at least 1.", name="count")
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
    notes = tuple(f"{name}: no proportions meet these limits. Allow longer links or a smaller transmission angle." for name in missed)
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


# Approximate straight-line four-bars by name: proportions of the classical ones, and which of them may vary.
#
# Crank O-A, coupler A-B, rocker B-C, a coupler point P; positions by the crank's angle, or by the coupler's angle where neither crank nor
# rocker turns fully: A is then on a circle about O and on the circle about C, shifted back by the coupler.


@dataclass(frozen=True, eq=False)
class FourBarLine:
    """A four-bar with its point over some positions: pins A, B, C, point P, all (1, K).

    lengths: of the four links, and of the coupler's arms to P. closings: cosines of the transmission angles.
    """

    a: Dual
    b: Dual
    c: Dual
    p: Dual
    lengths: tuple[Dual, Dual, Dual, Dual, Dual, Dual]
    closings: tuple[Dual, ...]


@dataclass(frozen=True, eq=False)
class LineFamily:
    """One named linkage. names, first, low, high: proportions that vary; numbers: r2, r3, r4, C, w (P in the coupler) from them.

    by_crank: positions by the crank's angle about `middle`, else by the coupler's. sign: branch of the dyad. half: half of the range of
    angles at the start. size: longest link over the length of the line where none is given.
    """

    kind: str
    names: tuple[str, ...]
    first: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    numbers: Callable[[Mapping[str, Dual]], tuple[Dual, Dual, Dual, Dual, Dual]]
    by_crank: bool
    middle: float
    sign: float
    half: float
    size: float | None = None

    def moved(self, x: Mapping[str, Dual], angle: Dual) -> FourBarLine:
        """Return the linkage at angles (1, K) from its middle position."""
        r2, r3, r4, c, w = self.numbers(x)
        turned = (angle + self.middle).turned()
        if self.by_crank:
            a, meeting = turned * r2, None
            b, _ = circles_meet(a, c, r3, r4, self.sign)
            along = (b - a) / r3
        else:
            along = turned
            a, meeting = circles_meet(constant([0j]), c - along * r3, r2, r4, self.sign)
            b = a + along * r3
        # the crank drives: transmission angle between coupler and rocker
        closing = (r3 * r3 + r4 * r4 - (c - a).squared_size()) / (r3 * r4 * 2.0)
        lengths = (r2, r3, r4, c.size(), (w + 0j).size(), (w - r3 + 0j).size())
        return FourBarLine(a, b, c, a + along * w, lengths, (closing,) if meeting is None else (closing, meeting))


def _one() -> Dual:
    return constant([1.0])


def _hoeken(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Crank 1, ground L1, coupler = rocker = L3, and the point as far beyond B again."""
    return _one(), x["L3"], x["L3"], x["L1"] + 0j, x["L3"] * 2.0


def _chebyshev(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Ground 1, crossed rockers r, coupler k with the point in its middle."""
    return x["r"], x["k"], x["r"], _one() + 0j, x["k"] * 0.5


def _roberts(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Ground 1, rockers r, coupler k with the point at the depth h below its middle."""
    return x["r"], x["k"], x["r"], _one() + 0j, x["k"] * 0.5 - x["h"] * 1j


def _watt(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Rockers of length 1 on both sides, coupler k across with the point in its middle; C is at (d, -e)."""
    return _one(), x["k"], _one(), x["d"] - x["e"] * 1j, x["k"] * 0.5


def _evans(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Crank r2, A-B of length 1 to the rocker r4, the point at the distance q from A on the other side."""
    return x["r2"], _one(), x["r4"], x["cx"] + x["cy"] * 1j, -x["q"] + 0j


def hoeken_start(share: float) -> tuple[float, float]:
    """Return ground and coupler over the crank near the optimum for a share of the cycle: L3 = (3 L1 - 1)/2."""
    ground = 3.0 - 0.8 * (2.0 * share) ** 2
    return ground, (3.0 * ground - 1.0) / 2.0


LINE_FAMILIES: dict[str, LineFamily] = {
    f.kind: f
    for f in (
        LineFamily("hoeken", ("L1", "L3"), (2.2, 2.8), (1.05, 1.05), (6.0, 12.0), _hoeken, True, np.pi, 1.0, np.pi / 2.0),
        # 4 : 5 : 2; the coupler is level in the middle and upright at the ends
        LineFamily("chebyshev", ("r", "k"), (1.25, 0.5), (0.8, 0.1), (4.0, 0.95), _chebyshev, False, np.pi, 1.0, 1.0, 1.5),
        LineFamily("roberts", ("r", "k", "h"), (0.6, 0.5, 0.545), (0.2, 0.1, 0.05), (6.0, 0.95, 6.0), _roberts, False, 0.0, 1.0, 0.5, 1.25),
        LineFamily("watt", ("k", "d", "e"), (1.0, 2.0, 1.0), (0.1, 1.5, 0.1), (4.0, 2.5, 4.0), _watt, True, 0.0, -1.0, 0.4, 2.5),
        # r2 q = 1: the crank has the curvature of the ellipse that A describes where B is on a straight line
        LineFamily(
            "evans", ("r2", "r4", "cx", "cy", "q"), (2.0 / 3.0, 2.5, 5.0 / 3.0, -2.5, 1.5), (0.1, 0.5, -1.0, -8.0, 0.3),
            (4.0, 8.0, 6.0, 8.0, 6.0), _evans, True, 0.0, 1.0, 0.5, 2.0,
        ),
    )
}  # fmt: skip

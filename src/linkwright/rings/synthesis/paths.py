"""Path synthesis: four-bars and slider-cranks whose coupler point passes wanted points, with or without timing, open or closed.

Cognates are other linkages that trace the same coupler curve (theorem of Roberts and Chebyshev). With pins x, y of the coupler and fixed
pivots a, b, all relative to the coupler point, one cognate has the pins x' = a - x, y' = (a - x) y / (y - x) and the pivots a, b' = (a y
- b x) / (y - x); the other one follows by exchanging (x, a) and (y, b). A slider-crank is the case b at infinity: one cognate is left, a
slider-crank whose link at the fixed pivot moves as the coupler did, and none is a four-bar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import SAME_PLACE, UsageError, memory_and_threads, nearest, parse_unit
from linkwright.rings.synthesis.coupler_atlas import atlas_starts
from linkwright.rings.synthesis.coupler_chains import CHAINS, Array, lengths
from linkwright.rings.synthesis.defects import defects
from linkwright.rings.synthesis.linkage import Linkage, four_bar, slider_crank
from linkwright.rings.synthesis.motion_tracing import crank_linkage
from linkwright.rings.synthesis.path_bounds import HOLD, held_of, limits_of, plain
from linkwright.rings.synthesis.path_problem import PathProblem
from linkwright.rings.synthesis.path_search import MOST_ANSWERS, PathOptimum, all_choices, search
from linkwright.rings.synthesis.results import SynthesizedLinkage, ranked


def cognates(linkage: Linkage) -> tuple[Linkage, ...]:
    """Return the cognates of a four-bar (two) or slider-crank (one) with a coupler point; fewer where one has a link of no length.

    Each is drawn with the point where the given linkage has it, and driven at a link that turns fully where there is one.
    """
    at = crank_linkage(linkage)
    if at.p is None:
        return ()
    x, y, a = at.b - at.p, at.c - at.p, at.a - at.p
    if abs(y - x) <= SAME_PLACE * (abs(x) + abs(y)):
        return ()
    if at.d is None:
        assert at.guide is not None
        turned = at.guide * x / (y - x)  # the pivot at infinity of the guide turns by -x / (y - x)
        if min(abs(x), abs(turned), abs(a - x)) <= SAME_PLACE * max(abs(x), abs(y), abs(a)):
            return ()
        return (slider_crank(at.a, at.p + a - x, at.p + (a - x) * y / (y - x), turned, at.p),)
    b = at.d - at.p
    found = [_cognate(x, y, a, b), _cognate(y, x, b, a)]
    return tuple(_driven(at.p, *pins) for pins in found if _sound(*pins))


def _cognate(x: complex, y: complex, a: complex, b: complex) -> tuple[complex, complex, complex, complex]:
    """Pins a, x', y', b' of a cognate."""
    return a, a - x, (a - x) * y / (y - x), (a * y - b * x) / (y - x)


def _sound(a: complex, b: complex, c: complex, d: complex) -> bool:
    """True if all links have a length."""
    sizes = (abs(b - a), abs(c - b), abs(d - c), abs(d - a))
    return min(sizes) > SAME_PLACE * max(sizes)


def _driven(p: complex, a: complex, b: complex, c: complex, d: complex) -> Linkage:
    """The four-bar, driven from the side that turns fully."""
    one, other = (four_bar(*(p + z for z in pins), p) for pins in ((a, b, c, d), (d, c, b, a)))
    turns = [crank_linkage(each).circuits()[0].full for each in (one, other)]
    return replace(other if turns[1] and not turns[0] else one)


MISSED = 0.01  # of the path's size: a deviation worth a remark
DIRECTIONS = {"either": (1, -1), "counterclockwise": (1,), "clockwise": (-1,)}
Found = tuple[list[SynthesizedLinkage], dict[str, Any], tuple[str, ...]]

BINDING = 1e-7  # distance from a limit, points of size 1


def path_linkages(
    points: Array,
    *,
    kind: str = "four-bar",
    timing: Array | None = None,
    closed: bool = False,
    direction: str = "counterclockwise",
    types: Sequence[str] | None = None,
    hold: Any = None,
    bounds: Any = None,
    unit: str = "m",
    count: int = 5,
    seed: int = 0,
) -> Found:
    """Return linkages whose coupler point passes the points (n,), complex in m, the sum of squared distances being least; best first.

    timing: crank angles at the points, rad, increasing or decreasing; None: any, in the order of the points. closed: the points are a whole
    closed curve. direction of the crank: "counterclockwise" (a crank with timing turns as the timing says), "clockwise" or "either".
    types: "crank-rocker", "drag link", both by default. hold, bounds: see path_bounds.py. unit: of lengths in texts.
    """
    chain = CHAINS[kind]
    if direction not in DIRECTIONS:
        raise UsageError(f"there is no direction '{direction}'.", nearest(direction, DIRECTIONS, "Directions"))
    center = complex(points.mean())
    size = float(np.ptp(points.real) + np.ptp(points.imag))
    fewest = 3
    if len(points) < fewest or not size > 0.0:
        raise UsageError(f"a path needs at least {fewest} points that differ. Here are {len(points)}.")
    limits = limits_of(chain, bounds, size, center)
    held = held_of(hold, limits, size, center)
    absolute = "crank angle" in plain(hold, HOLD, "hold")
    problem = PathProblem(chain, (points - center) / size, timing, limits, held, absolute)
    kinds = _kinds(chain.kinds, types)
    names = {name for name, _ in held}
    # Turning the frame of a slider-crank by 180 deg exchanges its two closures.
    sigmas = (1,) if kind == "slider-crank" and not names & {"th0", "t1"} else (1, -1)
    choices = all_choices(problem, kinds, sigmas, DIRECTIONS[direction])
    atlas = atlas_starts if closed and kind == "four-bar" and timing is None and not names else None
    scale = PathScale(size, center, unit)
    exact = 1e-29  # sum of squares, points of size 1: rounding
    with memory_and_threads.one_thread(memory_and_threads.SHARED):  # thousands of small matrices
        done = search(problem, choices, seed, closed=closed, count=min(4 * count + 4, MOST_ANSWERS), more=atlas)
        found = list(ranked(answers(problem, done.optima, scale), rounding=exact * size**2))[:count]
    facts = {"candidates": done.evaluations, "optima": len(done.optima), "unknowns": _unknowns(problem), "demands": 2 * len(points)}
    return found, facts, _notes(problem, found, kind, scale)


def _kinds(known: tuple[str, ...], wanted: Sequence[str] | None) -> list[int]:
    if wanted is None:
        return list(range(len(known)))
    out = []
    for name in [wanted] if isinstance(wanted, str) else wanted:
        spelled = str(name).replace("_", " ").lower().replace("crank rocker", "crank-rocker").replace("drag-link", "drag link")
        if spelled not in known:
            raise UsageError(f"there is no type '{name}'.", nearest(spelled, known, "Types"))
        out.append(known.index(spelled))
    return out


def _unknowns(problem: PathProblem) -> int:
    """Numbers that are free: one less where the first crank angle and all increments only shift along the curve."""
    return int(problem.free.sum())


def _notes(problem: PathProblem, found: Sequence[SynthesizedLinkage], kind: str, scale: PathScale) -> tuple[str, ...]:
    """Sentences on the whole search: least squares, points that are not reached, cognates."""
    out = []
    demands, unknowns = 2 * len(problem.points), _unknowns(problem)
    if demands > unknowns:
        out.append(f"Least squares: {len(problem.points)} points are {demands} demands for {unknowns} unknowns.")
    if not found:
        out.append(f"No {kind} with these bounds closes near the points. Widen the bounds, or leave out what is held.")
        return tuple(out)
    best = found[0]
    missed = best.measures["largest deviation"] / scale.size
    if missed > MISSED:
        length = best.measures["largest deviation"] / parse_unit(scale.unit)[0]
        ways = [] if problem.timing is None else ["leave the timing free"]
        ways += ["hold fewer numbers"] if problem.held else []
        binding = [note for note in best.notes if "bound" in note or "box" in note]
        ways += [f"relax a bound ({'; '.join(binding)})"] if binding else []
        ways += ["take fewer points", "a six-bar (kind='stephenson III')" if kind == "four-bar" else "a four-bar (kind='four-bar')"]
        out.append(f"The best {kind} misses a point by {length:.4g} {scale.unit}, {100 * missed:.3g} % of the path: {', or '.join(ways)}.")
    if kind == "slider-crank":
        out.append("A slider-crank has no cognate of four-bar type. The listed cognate is a slider-crank that turns at its coupler.")
    return tuple(out)


# Answers of a path search: candidates drawn as linkages in meters, measured and traced by their pins, limits that bind named.


@dataclass(frozen=True)
class PathScale:
    """Size and center by which points were made dimensionless, and the unit of length in texts."""

    size: float
    center: complex
    unit: str

    def text(self, length: float) -> str:
        """Return a length of the search as text in the user's unit."""
        return f"{length * self.size / parse_unit(self.unit)[0]:.6g} {self.unit}"


def drawn(problem: PathProblem, x: PathOptimum, scale: PathScale) -> tuple[Linkage, Array]:
    """Return the linkage at the first point, and the drive angles from there to all points."""
    s, v = problem.shapes, x.v[None]
    theta = problem.angles(v, x.choices)
    coupler = problem.chain.coupler(v[:, :s], x.choices.kind, x.choices.sigma, theta)[0, 0]
    size = dict(zip(problem.chain.links, lengths(problem.chain, v[:, :s], x.choices.kind)[0], strict=True))
    frame = np.exp(1j * x.v[s + 4])
    a = complex(x.v[s + 2], x.v[s + 3])
    b = a + frame * size["crank"] * np.exp(1j * theta[0, 0])
    c = b + frame * size["coupler"] * coupler
    p = b + frame * complex(x.v[s], x.v[s + 1]) * coupler
    if "ground" in size:
        pins = [scale.center + scale.size * z for z in (a, b, c, a + frame * size["ground"], p)]
        linkage = four_bar(*(complex(z) for z in pins))
    else:
        pins = [complex(scale.center + scale.size * z) for z in (a, b, c, p)]
        linkage = slider_crank(pins[0], pins[1], pins[2], complex(frame), pins[3])
    return linkage, theta[0] - theta[0, 0]


def answers(problem: PathProblem, found: Sequence[PathOptimum], scale: PathScale) -> list[SynthesizedLinkage]:
    """Return the linkages of these optima without those that are cognates of a better one."""
    out: list[SynthesizedLinkage] = []
    for x in found:
        linkage, turned = drawn(problem, x, scale)
        if any(_same(linkage, other, scale.size) for better in out for other in (better.linkage, *better.cognates)):
            continue
        out.append(_answer(problem, x, linkage, turned, scale))
    return out


def _answer(problem: PathProblem, x: PathOptimum, linkage: Linkage, turned: Array, scale: PathScale) -> SynthesizedLinkage:
    wanted = scale.center + scale.size * problem.points
    traced = crank_linkage(linkage)
    theta = turned + np.angle(traced.b - traced.a)
    missed = np.abs(traced.path(theta, np.full(theta.shape, traced.sigma)) - wanted)
    largest = float(missed.max())
    met = largest * (1.0 + 1e-6) + 1e-9 * scale.size
    timed = problem.timing is not None
    report = defects(linkage, angles=turned) if timed else defects(linkage, wanted, tolerance=met)
    sizes = [abs(z) for name, z in traced.lengths.items() if name != "offset"]
    measures = {
        "largest deviation": largest,
        "link ratio": max(sizes) / min(sizes),
        "least transmission angle": report.least_transmission,
        "longest link": max(sizes),
    }
    backwards = x.choices.direction[0] < 0.0 if problem.timing is None else turned[-1] < 0.0
    return SynthesizedLinkage(
        linkage,
        float((missed**2).sum()),
        report.names,
        measures,
        cognates(linkage),
        binding(problem, x, scale),
        unit=scale.unit,
        speed="-60 rpm" if backwards else "60 rpm",
        at=tuple(float(t) for t in turned),
        wanted=tuple(complex(z) for z in wanted),
    )


def _same(first: Linkage, second: Linkage, size: float) -> bool:
    """True if two linkages of one point have the same pins, driven from either side."""
    one, other = crank_linkage(first), crank_linkage(second)
    if one.four_bar != other.four_bar:
        return False
    pins = np.array([x for x in (one.a, one.b, one.c, one.d) if x is not None])
    again = np.array([x for x in (other.a, other.b, other.c, other.d) if x is not None])
    span = max(size, float(np.abs(pins - pins.mean()).max()))
    ways = (again, again[::-1]) if one.four_bar else (again,)
    same = 0.01  # of the size: pins of two linkages that are alike
    return any(float(np.abs(pins - w).max()) <= same * span for w in ways)


def binding(problem: PathProblem, x: PathOptimum, scale: PathScale) -> tuple[str, ...]:
    """Return sentences on the limits that an optimum lies on, and on change points."""
    s, limits = problem.shapes, problem.limits
    size = dict(zip(problem.chain.links, lengths(problem.chain, x.v[None, :s], x.choices.kind)[0], strict=True))
    out = []
    for k, (link, length) in enumerate(size.items()):
        for limit, word in ((limits.most[k], "upper"), (limits.least[k], "lower")):
            if abs(length - limit) <= BINDING * (1.0 + abs(limit)):
                out.append(f"the {link} is at its {word} bound, {scale.text(limit)}")
    links = [length for name, length in size.items() if name != "offset"]
    if max(links) >= limits.ratio * min(links) * (1.0 - BINDING):
        out.append(f"the link ratio is at its bound, {limits.ratio:g}")
    if limits.transmission > 0.0 and problem.chain.transmission(x.v[None, :s], x.choices.kind, limits.transmission)[0].max() > -BINDING:
        out.append(f"the least transmission angle is at its bound, {np.rad2deg(limits.transmission):.4g} deg")
    places = {"crank pivot": (s + 2, limits.crank_pivot), "coupler point": (s, limits.point)}
    for name, (k, box) in places.items():
        z = x.v[k : k + 2]
        if box is not None and problem.free[k] and _on_edge(complex(z[0], z[1]), box):
            out.append(f"the {name} is at the edge of its box")
    if limits.other_pivot is not None and "ground" in size:
        pivot = complex(x.v[s + 2], x.v[s + 3]) + size["ground"] * np.exp(1j * x.v[s + 4])
        if _on_edge(pivot, limits.other_pivot):
            out.append("the rocker pivot is at the edge of its box")
    flat = 1e-6  # slack over the longest link at which a linkage has a change point
    if x.v[1:s].min() <= flat * max(links):
        out.append("the linkage has a change point: its links can lie on one line")
    return tuple(out)


def _on_edge(z: complex, box: tuple[complex, complex]) -> bool:
    gaps = (z.real - box[0].real, box[1].real - z.real, z.imag - box[0].imag, box[1].imag - z.imag)
    return min(gaps) <= BINDING * (1.0 + abs(z))

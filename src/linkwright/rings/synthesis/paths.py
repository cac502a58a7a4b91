"""Path synthesis: four-bars and slider-cranks whose coupler point passes wanted points, with or without timing, open or closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.numerics.blas import SHARED, one_thread
from linkwright.rings.synthesis.answers import SynthesizedLinkage, ranked
from linkwright.rings.synthesis.atlas import atlas_starts
from linkwright.rings.synthesis.coupler_chains import CHAINS, Array
from linkwright.rings.synthesis.path_answers import PathScale, answers
from linkwright.rings.synthesis.path_bounds import HOLD, held_of, limits_of, plain
from linkwright.rings.synthesis.path_problem import PathProblem
from linkwright.rings.synthesis.path_search import MOST_ANSWERS, all_choices, search
from linkwright.text.units import parse_unit

FEWEST = 3
EXACT = 1e-29  # sum of squares, points of size 1: rounding
MISSED = 0.01  # of the path's size: a deviation worth a remark
DIRECTIONS = {"either": (1, -1), "counterclockwise": (1,), "clockwise": (-1,)}
Found = tuple[list[SynthesizedLinkage], dict[str, Any], tuple[str, ...]]


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
        raise UsageError(f"there is no direction '{direction}'. {nearest(direction, DIRECTIONS, 'Directions')}")
    center = complex(points.mean())
    size = float(np.ptp(points.real) + np.ptp(points.imag))
    if len(points) < FEWEST or not size > 0.0:
        raise UsageError(f"a path needs at least {FEWEST} points that differ; here are {len(points)}.")
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
    with one_thread(SHARED):  # thousands of small matrices
        done = search(problem, choices, seed, closed=closed, count=min(4 * count + 4, MOST_ANSWERS), more=atlas)
        found = list(ranked(answers(problem, done.optima, scale), rounding=EXACT * size**2))[:count]
    facts = {"candidates": done.evaluations, "optima": len(done.optima), "unknowns": _unknowns(problem), "demands": 2 * len(points)}
    return found, facts, _notes(problem, found, kind, scale)


def _kinds(known: tuple[str, ...], wanted: Sequence[str] | None) -> list[int]:
    if wanted is None:
        return list(range(len(known)))
    out = []
    for name in [wanted] if isinstance(wanted, str) else wanted:
        spelled = str(name).replace("_", " ").lower().replace("crank rocker", "crank-rocker").replace("drag-link", "drag link")
        if spelled not in known:
            raise UsageError(f"there is no type '{name}'. {nearest(spelled, known, 'Types')}")
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
        out.append(f"No {kind} with these bounds closes near the points; widen the bounds, or leave out what is held.")
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
        out.append("A slider-crank has no cognate of four-bar type; the one listed is a slider-crank that turns at its coupler.")
    return tuple(out)

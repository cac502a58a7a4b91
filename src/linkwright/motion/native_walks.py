"""Native walks of motions with given laws: their laws at the samples, and whether they reach their end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.mechanics.closing.continuation import Walker
from linkwright.mechanics.closing.continuation import start as walker
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.model.curves import Curve
from linkwright.model.curves.lines import Line
from linkwright.model.curves.third_derivatives import third_derivatives
from linkwright.motion.cycle_samples import Walk, counts_balls
from linkwright.results.records import THIRD, CutReferences
from linkwright.results.singular_positions import steep_minima

STRIDES = 720  # of a native walk over the range of a coordinate
SHORT = 3  # of these strides before its end that a native walk is left for one on floats
LawRows = dict[tuple[float, float, int], np.ndarray]  # by first and last time and their number
Walking = Callable[[Sequence[str]], Any]  # drives -> the native walk with their laws, or None


def native_walk(loops: Loops, laws: Mapping[str, Curve], rows: LawRows, walking: Walking | None) -> Walk | None:
    """The walk in machine code with the laws of a motion; `rows` holds their values at the times asked for last."""
    walks = None if walking is None else walking(list(laws))
    if walks is None:
        return None

    def native(q: np.ndarray, references: Mapping[str, Any], times: np.ndarray) -> Any:
        key = (float(times[0]), float(times[-1]), len(times))
        if key not in rows:
            rows.clear()
            rows[key] = law_rows(list(laws.values()), times)
        return walks(q, loops.skel.pack(references), times, rows[key])

    return native


def law_rows(laws: Sequence[Curve], times: np.ndarray) -> np.ndarray:
    """Values of all laws at every time, then their speeds, then their accelerations: (times, 3 laws)."""
    jets = [[np.broadcast_to(x, times.shape) for x in law(times)] for law in laws]
    return np.array([jet[i] for i in range(3) for jet in jets]).reshape(3 * len(laws), len(times)).T


def third_rows(laws: Mapping[str, Curve], times: np.ndarray) -> dict[str, np.ndarray]:
    """Third derivatives (times, 1) of laws that are not straight, as arrays of a trajectory; NaN where they are not known."""
    bent = {name: law for name, law in laws.items() if not isinstance(law, Line)}
    found = {name: third_derivatives(law, times) for name, law in bent.items()}
    return {THIRD + name: np.full((len(times), 1), np.nan) if x is None else x for name, x in found.items()}


def goes_all_the_way(here: Instant, end: float, native: Walk | None) -> bool:
    """True if a native walk from t = 0 reaches the end without trouble; where it does not, a walk on floats finds out why."""
    found = None if native is None else native(here.q, here.references, np.linspace(0.0, end, STRIDES + 1))
    return found is not None and found.reached > STRIDES and not steep_minima(np.abs(found.determinant))


def carried(tied: Loops, begin: Walker, end: float, native: Walk | None) -> Walker:
    """A point near the end of the range of a native walk from `begin` towards t = end: a walk on floats continues from there, through
    singular positions and up to dead centers, which are beyond it."""
    if native is None or counts_balls(tied):
        return begin
    found = native(begin.at.q, begin.at.references, np.linspace(begin.at.t, end, STRIDES + 1))
    regular = min([found.reached, *steep_minima(np.abs(found.determinant[: found.reached]))]) - SHORT
    if regular <= 0:
        return begin
    q, t = found.q[regular], begin.at.t + (end - begin.at.t) * regular / STRIDES
    there = walker(tied, q, CutReferences(tied.skel, found.q, found.references)[regular], t)
    return there._replace(strong=max(there.strong, begin.strong), calm=max(there.calm, begin.calm))

"""Native walks of motions with given laws: their laws at the samples, and the way towards a dead centre."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.mechanics.closing.continuation import Walker
from linkwright.mechanics.closing.continuation import start as walker
from linkwright.mechanics.constraints.loops import Loops
from linkwright.model.curves import Curve
from linkwright.motion.turn_samples import Walk
from linkwright.results.singular_positions import steep_minima

STRIDES, BEFORE_THE_END = 720, 2  # samples of a native walk towards a dead centre, and how many before it stops are not used
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


def advanced(tied: Loops, begin: Walker, end: float, native: Walk | None) -> Walker:
    """A point on the way to t = end, as far as a native walk comes without trouble: a walk on floats continues from there."""
    found = None if native is None else native(begin.at.q, begin.at.references, np.linspace(begin.at.t, end, STRIDES + 1))
    known = 0 if found is None else found.reached - BEFORE_THE_END
    if found is None or known <= 0 or steep_minima(np.abs(found.determinant[:known])):
        return begin
    k = known - 1
    references = tied.skel.unpack(found.q[k], found.references[k])
    there = walker(tied, found.q[k], references, begin.at.t + (end - begin.at.t) * k / STRIDES)
    return there._replace(strong=max(there.strong, begin.strong), calm=max(there.calm, begin.calm))

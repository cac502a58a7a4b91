"""Change points: positions at which links come into line and a drive that only just turns fully becomes one that only just does not.

How far a mechanism is from a change point is its *slack*: the length by which its loops would have to be changed to put the lined-up
position exactly there. With the smallest singular value s of the loops with the drives, its vectors u and n, and the curvature
k = u.(dJ/dn) n of the fold, the slack at a drive position is s^2 / (2 k). Along the drive it is a smooth function, a parabola with its
lowest point at the change point, although s itself has a sharp bend or an end there. So it is read at a distance, where everything is
regular, on both sides, and its lowest value follows from the parabola: positive, the drive turns fully; negative, it does not. Within
UNSURE of zero a walk along the branch cannot distinguish them: there is an answer of its own for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from linkwright.mechanics.closing.continuation import Walker, walk
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import displaced

UNSURE = 4e-6  # of the characteristic length: with less slack than this a walk may pass a dead center, or end where there is none
EXACT = 1e-10  # of the characteristic length: the slack is known to about a tenth of this
WEAK = 0.2  # of its median along the way: a smallest singular value below this is worth a look
NARROW = 0.05  # of a turn: an arc that a drive cannot enter, beyond which it certainly does not turn fully
DISTANCES = (6e-4, 9e-4, 12e-4, 15e-4)  # of a cycle, from the change point: where the slack is read
WIDER = (4.0, 2.0, 1.0, 1.0)  # times these distances, one after the other
CLEAR = 2e-3  # of a cycle: how far a motion stays away from a change point
NEARBY = 1e-5  # rad: of the difference that gives the curvature of the fold
FEWEST = 6  # readings for a parabola
MOST = 4  # change points of one cycle that are looked at


class ChangePoint(NamedTuple):
    """A change point: t along the law of the drive, the slack there in m, and the time on either side that cannot be reached."""

    t: float
    slack: float
    beyond: float


def undetermined(slack: float, size: float) -> bool:
    """True if a drive with this slack may turn fully or not: both in m, `size` the characteristic length of the mechanism."""
    return EXACT * size < abs(slack) < UNSURE * size


class Doubt(NamedTuple):
    """The way of a drive between change points (times of its law) that a walk does not pass rightly, and what is known of the nearest.

    `full_turn` is None where it cannot be determined, False where the links are too short although a walk went through.
    """

    low: float
    high: float
    near: ChangePoint
    full_turn: bool | None


def doubt(tied: Loops, path: Sequence[Walker], turn: float, back: float, ahead: float) -> Doubt | None:
    """Judge walks from path[0] at t = 0, back and ahead at most for the time `period`: None if they can be trusted, or what holds instead.

    `path` has the steps of the walk ahead; it is looked at where neither walk met a dead center.
    """
    stopped = (back > -turn, ahead < turn)
    if all(stopped):
        gap = back + turn - ahead
        middles = [ahead + 0.5 * gap] if 0.0 <= gap <= NARROW * turn else []
    elif any(stopped):
        middles = [ahead if stopped[1] else back + turn]
    else:
        middles = _weakest(path, turn)
    found = [x for m in middles if (x := _judged(tied, path[0], turn, m)) is not None]
    unsure, exact = UNSURE * tied.kappa, EXACT * tied.kappa
    near = [x for x in found if (-unsure if all(stopped) else -np.inf) < x.slack < unsure and (any(stopped) or abs(x.slack) > exact)]
    if not near:
        return None
    nearest = min(near, key=lambda x: abs(x.slack))
    clear = CLEAR * turn
    low, high = max(x.t + x.beyond for x in near) - turn + clear, min(x.t - x.beyond for x in near) - clear
    return Doubt(low, high, nearest, None if abs(nearest.slack) < unsure else False) if low < 0.0 < high else None


def _weakest(path: Sequence[Walker], turn: float) -> list[float]:
    """Times at which the smallest singular value along a path is low."""
    least = np.array([w.spectrum[-1] if len(w.spectrum) else 1.0 for w in path])
    beside = np.concatenate([[np.inf], least, [np.inf]])
    low = np.flatnonzero((least < WEAK * np.median(least)) & (least <= beside[:-2]) & (least <= beside[2:]))
    times = sorted({round(path[i].at.t / turn, 3) * turn for i in low.tolist()})  # steps are short there: one time for each
    return [t for t in times if CLEAR * turn < t < (1.0 - CLEAR) * turn][:MOST]


def _judged(tied: Loops, begin: Walker, turn: float, middle: float) -> ChangePoint | None:
    """The lowest point of the parabola near `middle`; None where there is no such fold."""
    found = None
    for wide in WIDER:  # from further away first, about a middle that is not yet known well
        x, y = _readings(tied, begin, turn, middle, wide)
        if len(x) < FEWEST:
            return found
        curve, slope, lowest = (float(k) for k in np.polyfit(x, y, 2))
        if not curve > 0.0:
            return found
        off, lowest = -0.5 * slope / curve, lowest - 0.25 * slope * slope / curve
        if wide == WIDER[-1]:
            off, lowest = _lowest(x, y, off)
        middle += off * turn
        found = ChangePoint(middle, lowest * tied.kappa, turn * float(np.sqrt(max(-lowest, 0.0) / curve)))
    return found


def _lowest(x: np.ndarray, y: np.ndarray, off: float) -> tuple[float, float]:
    """(place, value) of the lowest point of a quartic through the readings, near `off`: what a parabola leaves is of fourth order."""
    size = float(np.abs(x).max())
    quartic = np.polynomial.Polynomial.fit(x, y, 4, domain=[-size, size])
    for _ in range(4):
        off -= float(quartic.deriv()(off) / quartic.deriv(2)(off))
    return off, float(quartic(off))


def _readings(tied: Loops, begin: Walker, turn: float, middle: float, wide: float) -> tuple[np.ndarray, np.ndarray]:
    """(distances from the middle in cycles, slack there): one side is reached forwards, the other backwards, a cycle before."""
    x: list[float] = []
    y: list[float] = []
    before = after = begin
    for d in sorted((wide * x for x in DISTANCES), reverse=True):
        before, after = walk(tied, before, middle - d * turn), walk(tied, after, middle + (d - 1.0) * turn)
        for w, t, side in ((before, middle - d * turn, -d), (after, middle + (d - 1.0) * turn, d)):
            found = _slack(tied, w) if w.at.t == t else None
            if found is not None:
                x.append(side)
                y.append(found)
    return np.array(x), np.array(y)


def _slack(tied: Loops, w: Walker) -> float | None:
    """s^2 / (2 k) at a position, dimensionless; None where the fold has no curvature."""
    at, zero = w.at, np.zeros(len(w.at.v))
    f = tied.factored(tied.at(at.q, zero, at.t, at.references))
    if not f.rank:
        return None
    u, s, n = f.U[:, f.rank - 1], float(f.s[f.rank - 1]), f.Vt[f.rank - 1]

    def along(step: float) -> float:
        q = displaced(tied.skel, at.q, step * n * tied.columns)
        c = tied.at(q, zero, at.t, at.references)
        return float(u @ ((c.J * tied.columns / tied.row_scale[:, None]) @ n))

    curvature = abs(along(NEARBY) - along(-NEARBY)) / (2.0 * NEARBY)
    return s * s / (2.0 * curvature) if curvature > NEARBY else None

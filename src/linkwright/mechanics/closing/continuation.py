"""Walking along the loops: from where the mechanism is to where its drives or targets want it.

The constraints' parameter t (time of a drive, 0 .. 1 of a target) advances step by step: second-order Taylor
predictor, Newton corrector, the step halved as soon as the corrector has to work hard. So the branch of the
start is followed: a dead center stops the walk instead of throwing it to another assembly mode, and a singular
position that lies on the branch (a change point) is passed straight on, by the rules of `passage`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import AssemblyError
from linkwright.mechanics.closing.newton import close
from linkwright.mechanics.closing.singular_passage import SUSPECT, acceleration_rows, branch_velocity
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import displaced
from linkwright.numerics.linalg import Factored
from linkwright.numerics.memory_and_threads import one_thread
from linkwright.numerics.tolerances import CLOSED_AT_BEST

LONGEST_STEP = 0.3  # dimensionless (radians, or multiples of kappa)
CAREFUL_STEP = 0.02  # near a singular position
NEAR_SINGULAR = 0.05  # smallest counted singular value that calls for care
MOST_STEPS = 20_000  # of one walk, those tried again included; about 1,700 rad of a four-bar linkage
FOLD_POINTS = 4  # from which a fold is extrapolated, at 1, 4, 9 and 16 times the distance
WINDOW = 1e-3  # directions weaker than this are predicted, not corrected


class Walker(NamedTuple):
    """A point on the branch with what decides about the next step; velocity and acceleration are those with respect to t."""

    at: Instant
    smallest: float  # smallest singular value that counts here
    strong: int  # most directions stronger than the window seen so far: fewer mean a passage
    calm: float = 0.0  # largest `smallest` seen so far: typical of this mechanism
    factors: Factored | None = None  # of the dimensionless J

    @property
    def spectrum(self) -> np.ndarray:
        """All singular values here, largest first."""
        return np.zeros(0) if self.factors is None else self.factors.s


def start(loops: Loops, q: np.ndarray, references: Mapping[str, Any], t: float = 0.0) -> Walker:
    """A walker at a closed position; where nothing decides the velocity it is the smallest one."""
    still = np.zeros(loops.skel.tree.nv)
    return _with_rates(loops, Walker(Instant(loops.skel, q, still, t, references, still), 0.0, 0))


def _with_rates(loops: Loops, w: Walker) -> Walker:
    q, guess, t, references = w.at.q, w.at.v, w.at.t, w.at.references
    c = loops.at(q, guess, t, references)
    f = loops.factored(c)
    if f.regular(SUSPECT):  # every row counts: one decomposition serves both
        v = guess - f.solve((c.J @ guess + c.b) / loops.row_scale) * loops.columns
        a = -f.solve(loops.at(q, v, t, references).k / loops.row_scale) * loops.columns
    else:
        v = branch_velocity(loops, q, guess, t, references, WINDOW)
        c = loops.at(q, v, t, references)
        a = acceleration_rows(loops, c, q, v, t, references).solve() * loops.columns
    smallest, here = f.smallest, f.strong(WINDOW)
    strong = max(w.strong, here)
    calm = max(w.calm, smallest) if here == strong else w.calm  # where rank is lost the smallest that is left says nothing
    return Walker(Instant(loops.skel, q, v, t, references, a), smallest, strong, calm, f)


def walk(loops: Loops, begin: Walker, end: float, *, smallest_step: float = 1e-6, steps: list[Walker] | None = None) -> Walker:
    """Advance to t = end; the walker returned has a smaller t if it met a dead center or the end of a link's reach.

    `smallest_step`, a share of the way, is how finely such an end is located; every step is added to `steps`. Raise AssemblyError after
    MOST_STEPS steps.
    """
    with one_thread(loops.skel.tree.nv):
        return _walked(loops, begin, end, smallest_step * abs(end - begin.at.t), steps)


def _walked(loops: Loops, begin: Walker, end: float, floor: float, steps: list[Walker] | None) -> Walker:
    here, step = begin, end - begin.at.t
    for _ in range(MOST_STEPS):
        if here.at.t == end:
            return here
        if abs(end - here.at.t) <= abs(step) * (1.0 + 1e-12):
            step = end - here.at.t
        new = _advance(loops, here, step, end)
        if new is None:
            step *= 0.5
            if abs(step) < floor:
                return here
            continue
        here = new
        if steps is not None:
            steps.append(here)
        step *= 2.0
    share = 100.0 * (here.at.t - begin.at.t) / (end - begin.at.t)
    raise AssemblyError(
        f"the way is too long: {MOST_STEPS} steps of the continuation led to {share:.3g} % of it. Go there in several calls, each "
        "beginning at the state before (guess=)."
    )


def dead_center(loops: Loops, stopped: Instant, end: float) -> float:
    """The t at which a walk that stopped short would fold back, from its last point.

    There q - q* is a series in the square root of t* - t. So the rest of the way that speed and acceleration at one point tell,
    `_rest`, is not all of it: t* = t + r + c1 r^1.5 + c2 r^2 + ... Points further back on the branch give the numbers c.
    """
    if stopped.t == end:
        return end
    rest = _rest(loops, stopped)
    if not 0.0 < rest / (end - stopped.t) < 1e-2:
        return stopped.t
    here, rows = start(loops, stopped.q, stopped.references, stopped.t), [(0.0, 1.0)]
    for n in range(2, FOLD_POINTS + 1):
        here = walk(loops, here, stopped.t - (n * n - 1) * rest)
        rows.append(((here.at.t - stopped.t) / rest, _rest(loops, here.at) / rest))
    t, r = np.array(rows).T
    if not (np.diff(r) > 0.5).all():  # r is about 1, 4, 9, 16; not so where something else than this fold is met on the way
        return stopped.t + rest
    series = np.column_stack([np.ones(len(r)), *(-(r ** (1.0 + 0.5 * k)) for k in range(1, len(r)))])
    return stopped.t + rest * float(np.linalg.solve(series, t + r)[0])


def _rest(loops: Loops, at: Instant) -> float:
    """The time to the fold ahead as q - q* ~ sqrt(t* - t) has it: |v|^2 / (2 v.a), by speed and acceleration with respect to t."""
    c = loops.at(at.q, at.v, at.t, at.references)
    v, a = at.v / loops.columns, -loops.factored(c, 1e-12).solve(c.k / loops.row_scale)
    growth = float(v @ a)
    return float(v @ v) / (2.0 * growth) if growth != 0.0 else 0.0


def _advance(loops: Loops, here: Walker, step: float, end: float) -> Walker | None:
    """One predictor-corrector step, or None if it would be too long or the corrector had to work too hard."""
    at = here.at
    t = end if abs(end - at.t - step) < 1e-14 * max(1.0, abs(end)) else at.t + step
    move, length, curved = _predict(loops, here, step, t)
    careful = here.smallest < min(NEAR_SINGULAR, 0.5 * here.calm)
    if length > (CAREFUL_STEP if careful else LONGEST_STEP):
        return None
    trial = displaced(loops.skel, at.q, move)
    # J changes by about as much as q does, so a singular value well above the step cannot vanish in it
    weak = here.smallest < 3.0 * length + WINDOW and _strong(loops, trial, at.references, t) < here.strong
    done = close(loops, trial, at.references, t, most=12, reach=0.1 * length + 1e-9, window=WINDOW if weak else 1e-10)
    if done.residual > (1e-3 * WINDOW if weak else CLOSED_AT_BEST):
        return None
    slope = at.v + at.a * step
    new = _with_rates(loops, Walker(Instant(loops.skel, done.at.q, slope, t, done.at.references), 0.0, here.strong, here.calm))
    turned = float(np.linalg.norm((new.at.v - slope) / loops.columns)) * abs(step)
    return new if curved or turned <= 0.1 * length + 1e-6 * abs(step) + 1e-9 else None


def _predict(loops: Loops, here: Walker, step: float, t: float) -> tuple[np.ndarray, float, bool]:
    """(move, its dimensionless length, whether the path bends too much for Taylor's formula).

    A drive that starts from rest or turns back has no useful tangent in time; at a regular position one Newton step
    toward the new t takes its place.
    """
    at = here.at
    move = at.v * step + 0.5 * at.a * step * step
    length = float(np.linalg.norm(move / loops.columns))
    bend = float(np.linalg.norm(0.5 * at.a * step * step / loops.columns))
    if (bend <= 0.5 * length and length > 1e-3) or here.smallest < 2.0 * LONGEST_STEP * NEAR_SINGULAR:
        return (move, length, False) if bend <= 0.5 * length + 1e-9 else (move, np.inf, False)
    c = loops.at(at.q, np.zeros(loops.skel.tree.nv), t, at.references)
    newton = -loops.factored(c).solve(c.phi / loops.row_scale)
    return newton * loops.columns, float(np.linalg.norm(newton)), True


def _strong(loops: Loops, q: np.ndarray, references: Mapping[str, Any], t: float) -> int:
    """How many directions of the constraints are stronger than the window."""
    return loops.factored(loops.at(q, np.zeros(loops.skel.tree.nv), t, references)).strong(WINDOW)

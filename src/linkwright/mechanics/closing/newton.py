"""Newton's method onto the loops: consistent positions and velocities on the wanted branch.

`onto` is the one iteration on numbers, with minimum-norm steps in the dimensionless metric: assembly, the corrector of a
continuation, nodes beside a singular position, states between samples, set-points of controllers and starts of imported files are its
callers. `close` is `onto` for one position and a set of constraints. `onto_each` is the same for thousands of positions near their
solutions, each with Newton steps of its caller: poses of a workspace, of a calibration and of an excitation, encoder readings, paths
between assembly modes. `solve_rates` completes velocities and accelerations. Walking along the loops to a wanted
position is the business of `continuation`. Time steppers iterate the compiled kernel `projection` in `integrators.step`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import AssemblyError, SingularityError
from linkwright.joints import JOINTS
from linkwright.mechanics.closing.idle_motions import resting
from linkwright.mechanics.constraints import Constraint, DrivenDistance, RodConstraint
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Skeleton, counted_references, pose_of
from linkwright.numerics.linalg import Factored, factor
from linkwright.numerics.tolerances import CLOSED, CLOSED_AT_BEST
from linkwright.text.units import KINDS, shown

__all__ = ["counted_references"]

LONGEST_STEP = 0.3  # radians, or multiples of kappa: farthest a predictor may go before the corrector checks it
LEAST_DAMPING, MOST_DAMPING = 1e-8, 1e8


class PositionRows(NamedTuple):
    """Constraint rows at a position or at several, which then are the leading axis; dimensionless."""

    phi: np.ndarray  # (rows,): residual
    J: np.ndarray  # (rows, nv)
    b: np.ndarray  # (rows,): rate with time


class Bounds(NamedTuple):
    """Bounds of the steps of a search that must not leave its branch, by the smallest singular value s that is divided by."""

    rank: int  # of J, which is not decided by the window of the rule
    longest: Callable[[np.ndarray, Any], Any]  # length from which on a step is a failure, by s and the length of the step before
    settled: Callable[[np.ndarray], Any]  # length up to which a step is round-off, and not taken
    healthy: Callable[[np.ndarray], Any] = np.all  # False where s is too small


class Rule(NamedTuple):
    """Limits of a search; lengths and residuals are dimensionless."""

    most: int = 60  # steps
    closed: float = CLOSED  # residual at which it ends
    window: float = 1e-10  # directions with smaller singular values are left alone
    rank: int | None = None  # and so are all beyond this many
    longest: float = LONGEST_STEP  # longer steps are shortened
    reach: float = np.inf  # limit of the length of all steps together: continuation notices a jump before it happens
    level: float = CLOSED_AT_BEST  # a smaller residual which a step does not halve is the least: round-off, or digits of a file
    damping: float = 0.0  # of the first step, for positions far off
    bounds: Bounds | None = None  # None: every step must lower the residual, and is damped until it does

    def factored(self, J: np.ndarray) -> Factored:
        if self.bounds is not None:
            return factor(J, -1.0, thin=True).at_most(self.bounds.rank)
        f = factor(J, self.window, thin=True)
        return f if self.rank is None else f.at_most(self.rank)


class Onto(NamedTuple):
    """The end of a search, for every position."""

    q: np.ndarray
    rows: PositionRows  # there
    e: np.ndarray  # sum of the steps
    residual: np.ndarray  # largest entry of phi
    moved: np.ndarray  # length of all steps together
    settled: bool = False  # True if a bounded search came to its end
    factored: Factored | None = None  # J there, of a bounded search that did not run out of steps


class Closed(NamedTuple):
    """A position on the loops."""

    at: Instant
    residual: float  # largest dimensionless residual
    moved: float  # dimensionless length of the correction


def onto(
    rows: Callable[[np.ndarray], PositionRows],
    displace: Callable[[np.ndarray, np.ndarray], np.ndarray],
    q: np.ndarray,
    rule: Rule,
    known: PositionRows | None = None,
) -> Onto:
    """Move a position, or several at once along a leading axis, onto the loops by Newton steps of minimum norm.

    `rows` gives the rows at positions, `displace` moves them by dimensionless steps; `known` are the rows at q. A step is accepted
    where it lowers the residual and damped (Levenberg-Marquardt) where it does not. The best positions found are returned: the caller
    decides whether their residual is good enough. The positions of a bounded search belong together: the first that fails ends it.
    """
    here = rows(q) if known is None else known
    size, e = _size(here.phi), np.zeros((*q.shape[:-1], here.J.shape[-1]))
    moved, damping, going = np.zeros_like(size), np.full_like(size, rule.damping), size > rule.closed
    if rule.bounds is not None:
        return _bounded(rows, displace, Onto(q, here, e, size, moved), rule, rule.bounds)
    stalled = 0.5  # share of a residual below the level which a step may leave and be followed by another
    for _ in range(rule.most):
        if not (going & np.isfinite(size)).any():
            break
        step = -rule.factored(here.J).solve(here.phi, damping)
        length = _length(step)
        if length.max() > rule.longest:
            short = np.minimum(1.0, rule.longest / np.maximum(length, 1e-300))
            step, length = step * short[..., None], length * short
        going = going & (moved + length <= rule.reach)
        if not going.any():
            break
        trial = displace(q, step)
        there = rows(trial)
        after = _size(there.phi)
        better = going & (after < size)
        going = going & ((size >= rule.level) | (after <= stalled * size))  # else round-off: no step improves it further
        if better.all() and not damping.any():
            q, here, e, size, moved = trial, there, e + step, after, moved + length
        else:
            q, e = np.where(better[..., None], trial, q), np.where(better[..., None], e + step, e)
            here = PositionRows(*(_chosen(better, y, x) for x, y in zip(here, there, strict=True)))
            size, moved = np.where(better, after, size), np.where(better, moved + length, moved)
            less, more = np.where(damping < LEAST_DAMPING, 0.0, 0.1 * damping), np.maximum(10.0 * damping, LEAST_DAMPING)
            damping = np.where(better, less, more)
            going = going & (damping <= MOST_DAMPING)
        going = going & (size > rule.closed)
    return Onto(q, here, e, size, moved)


def _bounded(rows: Any, displace: Any, begin: Onto, rule: Rule, bounds: Bounds) -> Onto:
    """The same with short steps instead of a residual that falls, which near a singular position says little."""
    now, length = begin, np.full_like(begin.moved, np.inf)
    for _ in range(rule.most):
        f = rule.factored(now.rows.J)
        weakest = f.s[..., bounds.rank - 1]
        if not bounds.healthy(weakest):
            return now._replace(factored=f)
        step = -f.solve(now.rows.phi)
        before, length = length, _length(step)
        settled = length <= bounds.settled(weakest)
        if settled.all() or not (settled | (length < bounds.longest(weakest, before))).all():
            return now._replace(settled=bool(settled.all()), factored=f)
        q = displace(now.q, step)
        there = rows(q)
        now = Onto(q, there, now.e + step, _size(there.phi), now.moved + length)
    return now


class EachRule(NamedTuple):
    """Limits of searches of which each ends by itself; the size of a step is its largest entry, in the units of the steps."""

    most: int  # steps
    last: float  # a step up to this size is the last one: Newton's method leaves its square
    first: Any = np.inf  # a longer first step ends the search: a number, or one for each position
    share: float = np.inf  # so does a step longer than this share of the step before
    longest: float = np.inf  # longer steps are shortened


def onto_each(
    steps: Callable[[np.ndarray, np.ndarray], np.ndarray],
    displace: Callable[[np.ndarray, np.ndarray], np.ndarray],
    q: np.ndarray,
    rule: EachRule,
) -> tuple[np.ndarray, np.ndarray]:
    """Move positions (n, ..) onto their loops, each by Newton steps of its own; return them, and which of them are there.

    `steps(q, at)` gives the steps of the positions with the indices `at`, whose searches continue. A step that is not finite, or is
    longer than the rule permits, ends a search without being taken.
    """
    q, settled, x = q.copy(), np.zeros(len(q), dtype=bool), q
    at, longest = np.arange(len(q)), np.full(len(q), rule.first)
    for _ in range(rule.most):
        step = steps(x, at)
        size = np.abs(step).max(axis=1, initial=0.0)
        taken = (size <= longest) & (size < np.inf) | (size <= rule.last)
        if not taken.all():
            q[at] = x
            at, x, step, size = at[taken], x[taken], step[taken], size[taken]
        if rule.longest < np.inf:
            step = step * np.minimum(1.0, rule.longest / np.maximum(size, rule.last))[:, None]
        x, done = displace(x, step), size <= rule.last
        if done.any():
            q[at], settled[at[done]] = x, True
            at, x, size = at[~done], x[~done], size[~done]
        if not len(at):
            return q, settled
        longest = rule.share * size
    q[at] = x
    return q, settled


def _chosen(better: np.ndarray, new: np.ndarray, old: np.ndarray) -> np.ndarray:
    return np.where(better.reshape(better.shape + (1,) * (new.ndim - better.ndim)), new, old)


def _size(phi: np.ndarray) -> Any:
    return np.abs(phi).max(axis=-1, initial=0.0)


def _length(steps: np.ndarray) -> Any:
    return np.sqrt(np.sum(steps * steps, axis=-1))


def close(
    loops: Loops,
    q: np.ndarray,
    references: Mapping[str, Any],
    t: float = 0.0,
    *,
    most: int = 60,
    reach: float = np.inf,
    window: float = 1e-10,
) -> Closed:
    """Nearest position on the loops, with the references of its cut joints; see `onto`."""
    zero = np.zeros(loops.skel.tree.nv)

    def rows(position: np.ndarray) -> PositionRows:
        c = loops.at(position, zero, t, references)
        return PositionRows(*loops.dimensionless(c), c.b / loops.row_scale)

    found = onto(rows, loops.displaced, q, Rule(most=most, reach=reach, window=window))
    return Closed(
        Instant(loops.skel, found.q, zero, t, loops.counted_references(found.q, references)), float(found.residual), float(found.moved)
    )


def consistent_velocity(loops: Loops, q: Any, v_wanted: Any, references: Mapping[str, Any], t: float = 0.0) -> np.ndarray:
    """The velocity nearest to the wanted one (dimensionless metric) with J v + b = 0."""
    c = loops.at(q, np.zeros(loops.skel.tree.nv), t, references)
    f = loops.factored(c)
    defect = (c.J @ v_wanted + c.b) / loops.row_scale
    return v_wanted - f.solve(defect) * loops.columns


def solve_rates(loops: Loops, q: Any, references: Mapping[str, Any], t: float, v: Any = None) -> np.ndarray:
    """v from J v + b = 0, or with `v` given a from J a + k = 0: minimum norm where motions are idle.

    Raises SingularityError when the constraints contradict each other (a drive at its dead center).
    """
    c = loops.at(q, np.zeros(loops.skel.tree.nv) if v is None else v, t, references)
    f = loops.factored(c)
    right = -(c.b if v is None else c.k) / loops.row_scale
    y = f.solve(right)
    gap = np.abs((loops.dimensionless(c)[1] @ y) - right)
    if len(gap) and gap.max() > 1e-6 * (1.0 + np.abs(right).max()):
        raise SingularityError(
            "the mechanism cannot move as asked: the speeds contradict each other, or it is at a dead center.",
            singular_values=tuple(f.s),
        )
    return (y if v is None else y + resting(loops, q, v, f.null)) * loops.columns


EXACT_DIMENSIONS = (
    "a linkage that moves only for exact dimensions (parallel cranks, axes that meet in one point or are parallel, Bennett) needs all "
    "their digits. Write dependent dimensions as expressions of the others, or give 16 digits."
)
OPEN_BY_DIGITS = 1e-4  # share of the characteristic length: a gap that digits of the dimensions explain


def wandered(loops: Loops, q: np.ndarray, references: Mapping[str, Any], null: np.ndarray, rng: np.random.Generator) -> Closed | None:
    """A position a finite way off along a random motion in the columns of `null`, closed again; None if it does not close."""
    if null.shape[1] == 0:
        return None
    step = null @ rng.normal(size=null.shape[1])
    step *= rng.uniform(0.05, 0.25) / max(np.linalg.norm(step), 1e-300)
    done = close(loops, loops.displaced(q, step), references, reach=1.0)
    return done if done.residual <= CLOSED_AT_BEST else None


def open_error(loops: Loops, done: Closed, what: str = "") -> AssemblyError:
    """Why the loops stay open: the widest gap, and the reach of the links around it."""
    zero = np.zeros(loops.skel.tree.nv)
    c = loops.at(done.at.q, zero, 0.0, done.at.references)
    gaps = {con.name: gap(con, part.phi) for con, part in zip(loops.constraints, c.parts, strict=True) if len(part.phi)}
    worst = max(gaps, key=lambda name: gaps[name])
    imported = getattr(loops.skel.tree.description.document, "origin", None)
    if imported is not None and imported.stays_open:  # a file of another program
        return AssemblyError(f"{imported.source}: {what}{imported.stays_open}", gap=gaps[worst], loop=worst)
    nearly = f"nearly closed, {EXACT_DIMENSIONS}" if gaps[worst] < OPEN_BY_DIGITS * loops.kappa else ""
    far = "no position of the links near the drawing closes it: check the lengths, or draw it closer."
    reason = reach_reason(loops.skel, worst) or nearly or far
    wide = gap_text(loops, worst, gaps[worst])
    return AssemblyError(f"{what}loop closed by '{worst}' stays open by {wide}: {reason}", gap=gaps[worst], loop=worst)


def gap(constraint: Constraint, phi: np.ndarray, t: float = 0.0) -> float:
    """How far a constraint is from being satisfied: of a rod or cylinder the missing length, else the largest residual."""
    if isinstance(constraint, RodConstraint | DrivenDistance) and len(phi):
        length = float(constraint.length if isinstance(constraint, RodConstraint) else constraint.law(t)[0])
        return abs(np.sqrt(max(0.0, length * (length + 2.0 * float(phi[0])))) - length)  # phi = (r^2 - L^2) / (2 L)
    return float(np.abs(phi).max(initial=0.0))


def gap_text(loops: Loops, name: str, gap: float) -> str:
    """The gap of a constraint in the model's units."""
    kind = next(con for con in loops.constraints if con.name == name).kinds[0]
    return shown(gap, KINDS["length" if kind == "length" else "angle"], loops.skel.tree.description.units, 3)


def reach_reason(skel: Skeleton, closing: str) -> str:
    """'body X spans 1.56 m but the others reach at most 1.25 m', if that is what keeps a loop open."""
    d = skel.tree.description
    loop = next((x for x in skel.tree.loops if x.name == closing), None)
    if loop is None or loop.kind != "joint":
        return ""
    around = [d.joint(j) for j in loop.joints]
    if not all(JOINTS[j.type].keeps_origin and JOINTS[j.type].nv for j in around):
        return ""
    spans: dict[str, float] = {}
    for a, b in zip(around, [*around[1:], around[0]], strict=True):
        shared = {a.first, a.second} & {b.first, b.second}
        if len(shared) != 1:
            return ""
        body = shared.pop()
        ends = [pose_of(j.frame_first if j.first == body else j.frame_second).p for j in (a, b)]
        spans[body] = float(np.linalg.norm(ends[1] - ends[0]))
    longest = max(spans, key=lambda body: spans[body])
    rest = sum(spans.values()) - spans[longest]
    if spans[longest] <= rest:
        return ""
    others = ", ".join(b for b in spans if b != longest)
    reach, span = (shown(x, KINDS["length"], d.units) for x in (rest, spans[longest]))
    apart = f"the joints on '{longest}' are {span} apart"
    return f"the links {others} reach at most {reach}, but {apart}. Make '{longest}' shorter, or the others longer."

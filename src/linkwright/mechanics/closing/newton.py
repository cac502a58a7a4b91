"""Closing the loops: consistent positions and velocities on the wanted branch.

`close` takes a sketch, or any state near the loops, onto them by damped Gauss-Newton steps in the dimensionless
metric, of minimum norm where loops are redundant. `solve_rates` completes velocities and accelerations. Walking
along the loops to a wanted position is the business of `continuation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import AssemblyError, SingularityError
from linkwright.joints import JOINTS
from linkwright.mechanics.constraints import Constraint, DrivenDistance, RodConstraint
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import Skeleton, displaced, pose_of, references
from linkwright.model.file.units import KINDS, shown
from linkwright.numerics.linalg import factor

__all__ = ["references"]

CLOSED = 1e-13  # residual (dimensionless) that counts as closed: round-off of a few dozen products
GOOD_ENOUGH = 1e-10  # accepted where round-off stops progress earlier (long chains, large offsets)
LONGEST_STEP = 0.3  # radians, or multiples of kappa: farthest a predictor may go before the corrector checks it


class Closed(NamedTuple):
    """A position on the loops."""

    q: np.ndarray
    near: dict[str, np.ndarray]
    residual: float  # largest dimensionless residual
    moved: float  # dimensionless length of the correction


def close(
    loops: Loops, q: np.ndarray, near: Mapping[str, Any], t: float = 0.0, *, most: int = 60, reach: float = np.inf, window: float = 1e-10
) -> Closed:
    """Nearest position on the loops: damped Gauss-Newton (Levenberg-Marquardt) with minimum-norm steps.

    Returns the best point found; the caller decides whether its residual is good enough. `reach`
    limits how far q may move in all (continuation uses it to notice a jump before it happens); directions
    with singular values below `window` are left alone.
    """
    zero = np.zeros(loops.skel.tree.nv)
    phi, J = loops.dimensionless(loops.at(q, zero, t, near))
    size, moved, damping = _size(phi), 0.0, 0.0
    for _ in range(most):
        if size < CLOSED or not np.isfinite(size):
            break
        step = _damped_step(J, phi, damping, window)
        length = float(np.linalg.norm(step))
        if length > LONGEST_STEP:
            step, length = step * (LONGEST_STEP / length), LONGEST_STEP
        if moved + length > reach:
            break
        trial = displaced(loops.skel, q, step * loops.columns)
        phi_new, J_new = loops.dimensionless(loops.at(trial, zero, t, near))
        if _size(phi_new) < size:
            q, phi, J, moved = trial, phi_new, J_new, moved + length
            size, damping = _size(phi), 0.0 if damping < 1e-8 else 0.1 * damping
        elif size < GOOD_ENOUGH:
            break  # round-off: no step improves it further
        else:
            damping = max(10.0 * damping, 1e-8)
            if damping > 1e8:
                break
    return Closed(q, loops.references(q, near), size, moved)


def _size(phi: np.ndarray) -> float:
    return float(np.max(np.abs(phi))) if len(phi) else 0.0


def _damped_step(J: np.ndarray, phi: np.ndarray, damping: float, window: float) -> np.ndarray:
    """-J^+ phi, or (J'J + damping)^-1 J' in its place; small singular values never blow the step up."""
    f = factor(J, window)
    s = f.s[: f.rank]
    return -f.Vt[: f.rank].T @ (s / (s * s + damping) * (f.U[:, : f.rank].T @ phi))


def consistent_velocity(loops: Loops, q: Any, v_wanted: Any, near: Mapping[str, Any], t: float = 0.0) -> np.ndarray:
    """The velocity nearest to the wanted one (dimensionless metric) with J v + b = 0."""
    c = loops.at(q, np.zeros(loops.skel.tree.nv), t, near)
    f = loops.factored(c)
    defect = (c.J @ v_wanted + c.b) / loops.row_scale
    return v_wanted - f.solve(defect) * loops.columns


def solve_rates(loops: Loops, q: Any, near: Mapping[str, Any], t: float, v: Any = None) -> np.ndarray:
    """v from J v + b = 0, or with `v` given a from J a + k = 0: minimum norm where motions are idle.

    Raises SingularityError when the constraints contradict each other (a drive at its dead centre).
    """
    c = loops.at(q, np.zeros(loops.skel.tree.nv) if v is None else v, t, near)
    f = loops.factored(c)
    right = -(c.b if v is None else c.k) / loops.row_scale
    y = f.solve(right)
    gap = np.abs((loops.dimensionless(c)[1] @ y) - right)
    if len(gap) and gap.max() > 1e-6 * (1.0 + np.abs(right).max()):
        raise SingularityError(
            "the mechanism cannot move as asked: the speeds contradict each other, or it is at a dead centre.",
            singular_values=tuple(f.s),
        )
    return y * loops.columns


def wandered(loops: Loops, q: np.ndarray, near: Mapping[str, Any], J: np.ndarray, rng: np.random.Generator) -> Closed | None:
    """A position a finite way off along a random allowed motion, closed again; None if it does not close."""
    null = factor(J).null
    if null.shape[1] == 0:
        return None
    step = null @ rng.normal(size=null.shape[1])
    step *= rng.uniform(0.05, 0.25) / max(np.linalg.norm(step), 1e-300)
    done = close(loops, displaced(loops.skel, q, step * loops.columns), near, reach=1.0)
    return done if done.residual <= GOOD_ENOUGH else None


def open_error(loops: Loops, done: Closed, what: str = "") -> AssemblyError:
    """Why the loops stay open: the widest gap, and the reach of the links around it."""
    zero = np.zeros(loops.skel.tree.nv)
    c = loops.at(done.q, zero, 0.0, done.near)
    gaps = {con.name: gap(con, part.phi) for con, part in zip(loops.constraints, c.parts, strict=True) if len(part.phi)}
    worst = max(gaps, key=lambda name: gaps[name])
    reason = reach_reason(loops.skel, worst) or "no position of the links near the drawing closes it: check the lengths, or draw it closer."
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

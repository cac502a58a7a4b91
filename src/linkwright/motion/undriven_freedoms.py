"""Degrees of freedom that no drive moves: what a turn, or a position of the drives, cannot decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwright import elements
from linkwright.errors import UsageError, counted, degrees_of_freedom, listing
from linkwright.mechanics.closing.idle import idle_motions
from linkwright.mechanics.closing.mobility import digits_decide
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import body_jacobian, joint_rate, motion
from linkwright.numerics.linalg import factor


def check_driven(loops: Loops, tied: Loops, here: Instant, drives: Sequence[str]) -> None:
    """Every degree of freedom that moves something must be driven; idle spins do not count."""
    zero = np.zeros(loops.skel.tree.nv)
    c = tied.at(here.q, zero, 0.0, here.references)
    f, free = tied.factored(c), loops.factored(loops.at(here.q, zero, 0.0, here.references))
    freedoms = free.null.shape[1]
    if f.rank - free.rank < len(drives) and len(drives) > freedoms:
        raise _too_many(loops, here, drives, freedoms, free.smallest if free.rank else 1.0)
    undriven = _undriven(loops, here, f.null)
    names = _moving_joints(loops, here, undriven)
    if names:
        more = undriven.shape[1]
        raise UsageError(
            f"{counted(more, 'more degree')} of freedom than drives: {f'with {listing(drives)} held, ' if drives else ''}"
            f"joint{'s' if len(names) > 1 else ''} {listing(names)} can still move. "
            "Drive one of them, or fix its position by a spring, coupling or another joint."
        )


def _too_many(loops: Loops, here: Instant, drives: Sequence[str], freedoms: int, smallest: float) -> UsageError:
    """More drives than degrees of freedom; without any degree of freedom it is the mechanism that is wrong."""
    desc = loops.skel.tree.description
    place = next((f"{d.where}: " for d in reversed(desc.drives) if d.joint in drives and d.where is not None), "")
    if freedoms:
        return UsageError(
            f"{place}{counted(len(drives), 'drive')} ({listing(drives)}) for {degrees_of_freedom(freedoms)}: they contradict each "
            "other. Remove drives, or turn one by name: the others then follow or are held."
        )
    held = [x for x in elements.constraints(desc) if _frees(loops, here, x.name)]
    extra = [f"{x.constraint} '{x.name}'" + (f" ({x.where})" if x.where else "") for x in held]
    remedy = f"Without {' or without '.join(extra)} it can move." if extra else "Take out a body, a joint or a rod."
    digits = digits_decide(smallest)
    cannot = f"nothing can move (mobility 0), so {listing(drives)} cannot turn"
    return UsageError(f"{place}this is a structure, not a mechanism: {cannot}{f', {digits}' if digits else f'. {remedy}'}")


def _frees(loops: Loops, here: Instant, name: str) -> bool:
    """True if something could move if this constraint were not there."""
    c = loops.at(here.q, np.zeros(loops.skel.tree.nv), 0.0, here.references)
    rows = [r for con, span in zip(loops.constraints, c.rows, strict=True) if con.name != name for r in range(span.start, span.stop)]
    J = loops.dimensionless(c)[1]
    return len(rows) < len(J) and factor(J[rows], 1e-9).null.shape[1] > 0


def _undriven(loops: Loops, here: Instant, null: np.ndarray) -> np.ndarray:
    """Motions among the columns of `null` that are no idle spins: those orthogonal to all of them."""
    spins = np.array([v for _, v in idle_motions(loops, here.q, null)])
    return null @ factor(spins.reshape(-1, len(null)) @ null).null if len(spins) else null


def _moving_joints(loops: Loops, here: Instant, null: np.ndarray) -> list[str]:
    """Joints that move in the given motions; none if no joint point moves (a wheel that spins on its own axle)."""
    skel = loops.skel
    m = motion(skel, here.q, np.zeros(skel.tree.nv))
    V = loops.columns[:, None] * null
    twists, shift = [], 0.0
    for i, n in enumerate(skel.tree.nodes):
        X = m.X[i] @ skel.X_CM[i]
        J = body_jacobian(skel, m, i) @ V
        twists.append(J)
        others = [m.X[i].point(np.asarray(p.at, dtype=float)) for p in skel.tree.description.body(n.body).points]
        shift = max(shift, *(np.abs(J[3:] - np.cross(p, J[:3], axisb=0).T).max(initial=0.0) for p in (X.p, *others)))
    if shift <= 1e-6 * loops.kappa:
        return []
    out = []
    for j in skel.tree.description.joints:
        r = joint_rate(skel, m, j, here.references[j.name])
        rate = sum((G @ twists[i] for i, G in ((r.first, r.G_first), (r.second, r.G_second)) if i >= 0), np.zeros((1, null.shape[1])))
        if np.abs(rate).max(initial=0.0) > 1e-6 * min(1.0, loops.kappa):
            out.append(j.name)
    return out

"""Equations of motion in operational space: in the velocities y' of a body or a point instead of the drives' coordinates x.

With y' = J x' and the reduced equations M x'' + h = u,

    Lambda y'' + mu = F        Lambda = (J M^-1 J')^-1,  mu = Lambda (J M^-1 h - Jdot x')

where u = J' F gives the drives' torques and forces that act on y like the force F there. Jbar = M^-1 J' Lambda is the dynamically
consistent inverse: motions of the drives outside of it do not accelerate y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.kernels.equations.kinematic import largest
from linkwright.kernels.equations.tasks import TaskRow, task_motion
from linkwright.mechanics.closing.idle import idle_rows, let_go
from linkwright.mechanics.kinematics.motion import motion
from linkwright.numerics.scalars import eliminate, minimum

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations

DEPENDENT = 1e-10  # share of its diagonal entry below which a pivot of J M^-1 J' says that the rows of J depend on each other
AT_REST = 1e-12  # the same of what drives move at most: 1e-6 of its velocity


def operational(eq: Equations, q: Any, v: Any, t: Any, near: Any, rows: Sequence[TaskRow]) -> dict[str, Any]:
    """Lambda, mu, J, `rate` (Jdot x') and Jbar of these components."""
    skel = eq.loops.skel
    reduced = eq.reduced(q, v, t, near)
    T, bias = task_motion(skel, motion(skel, q, v), rows)
    J, rate = T @ reduced["S"], T @ reduced["a"] + bias  # with drives that do not accelerate
    spun = _spun(eq, q, v, t, near, T, reduced)
    kinds = np.array([1.0 if row.rotary else eq.loops.kappa for row in rows])
    moved = np.array([largest(column / eq.loops.columns) for column in reduced["S"].T])  # how far each drive moves anything
    return _inverted(J, rate, reduced, spun, kinds, moved)


class _Spun(NamedTuple):
    """Share of idle spins in the motion of the tasks: J and Jdot x' with the spins that drives and loads set going, and the spins' own
    accelerations per force there. None of them matters unless a task is on a link that spins in place."""

    J: Any
    rate: Any
    mobility: Any


def _spun(eq: Equations, q: Any, v: Any, t: Any, near: Any, T: Any, reduced: dict[str, Any]) -> _Spun | None:
    if not eq.plan.spinning:
        return None
    terms = eq.joint_axis_terms(q, v, t, near)
    N = idle_rows(eq.plan, eq.loops.skel, motion(eq.loops.skel, q, v)).rows.T
    J, rate, force = (let_go(N, terms.M, x) for x in (terms.M @ reduced["S"], terms.M @ reduced["a"] + terms.h, T.T))
    return _Spun(T @ N @ J, T @ N @ rate, -(T @ N @ force))


def _inverted(J: Any, rate: Any, reduced: dict[str, Any], spun: _Spun | None, kinds: np.ndarray, moved: Any) -> dict[str, Any]:
    """Lambda and the rest from J, Jdot x' and the reduced equations; M and J M^-1 J' are positive definite where rows are independent."""
    inverse, _ = eliminate(reduced["M"], np.eye(len(moved), dtype=reduced["M"].dtype))
    pushed = J if spun is None else J + spun.J
    mobility = pushed @ inverse @ pushed.T if spun is None else pushed @ inverse @ pushed.T + spun.mobility
    Lambda, pivots = eliminate(mobility, np.eye(len(J), dtype=mobility.dtype))
    most = sum(moved[i] * moved[i] * inverse[i, i] for i in range(len(moved)))  # of a component of size 1 that follows every drive
    margin: Any = reduced["margin"][0]
    for k, pivot in enumerate(pivots):
        margin = minimum(margin, pivot / (DEPENDENT * mobility[k, k]) - 1.0)
        margin = minimum(margin, pivot / (AT_REST * kinds[k] ** 2 * most) - 1.0)
    mu = Lambda @ (pushed @ (inverse @ reduced["h"]) - (rate if spun is None else rate + spun.rate))
    return {"Lambda": Lambda, "mu": mu, "J": J, "rate": rate, "Jbar": inverse @ pushed.T @ Lambda, "margin": np.array([margin])}

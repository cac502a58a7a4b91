"""Bodies of a model and of its copy that went through another format: masses, places, and what they do when let go.

Nothing here depends on frames or coordinates: every body is compared by its center of mass, its inertia in world axes, the acceleration
of its center and the rate of its angular momentum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.api import compiled_of
from linkwright.results.state import State
from linkwright.system.system import System


class Moving(NamedTuple):
    """A body at an instant, in world axes."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    moment: np.ndarray  # d/dt of the angular momentum about the center of mass


def bodies(system: System, st: State, tau: dict[str, float] | None = None, R: np.ndarray | None = None) -> dict[str, Moving]:
    """Bodies that have a mass at a state, turned by R, with the accelerations that these torques and the model's own forces give."""
    R = np.eye(3) if R is None else R
    at = State(compiled_of(system).skel, st.q, st.v, st.references, st.t, system.forward(st, tau or {}).a).instant
    out = {}
    for i, n in enumerate(system.tree.nodes):
        if not float(compiled_of(system).skel.mass[i]):
            continue
        com, X = np.asarray(compiled_of(system).skel.com[i], float), system.pose(st, n.body)
        around = [com + X.R.T @ e for e in np.eye(3)]
        v, a = at.point_velocity(i, com), at.point_acceleration(i, com)
        W, D = (np.stack([f(i, p) - c for p in around], axis=1) for f, c in ((at.point_velocity, v), (at.point_acceleration, a)))
        w, alpha = _vector(W), _vector(D)
        I = X.R @ np.asarray(compiled_of(system).skel.inertia[i], float) @ X.R.T
        found = Moving(
            float(compiled_of(system).skel.mass[i]), R @ X.point(com), R @ I @ R.T, R @ v, R @ a, R @ (I @ alpha + np.cross(w, I @ w))
        )
        out[n.body] = found
    return out


def _vector(A: np.ndarray) -> np.ndarray:
    """w of the skew part [w]x of a matrix."""
    return 0.5 * np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])


def deviation(ours: dict[str, Moving], theirs: dict[str, Moving], planar: bool) -> float:
    """The greatest difference of two sets of bodies, each quantity over its size in the whole mechanism.

    Bodies that only the copy has are massless ones to which MJCF gave a mass. In a plane only the moment of inertia about its normal
    counts; a copy in space has others beside it, which do nothing.
    """
    total = sum(x.mass for x in ours.values())
    assert set(ours) <= set(theirs), (sorted(ours), sorted(theirs))
    assert all(x.mass < 1e-7 * total for name, x in theirs.items() if name not in ours)
    worst = 0.0
    for what in Moving._fields:
        if what == "inertia" and planar:
            continue
        a, b = (np.array([np.asarray(getattr(x[name], what)) for name in sorted(ours)]) for x in (ours, theirs))
        worst = max(worst, float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-3)))
    return worst

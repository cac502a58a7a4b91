"""Contribution of each body's mass, center and inertia to a cycle's shaking force, shaking moment and drive efforts.

At a fixed motion all three are linear in a body's ten inertia parameters about its own origin,

    theta = (m, m c, I_O)        F = E(theta) A + V x* E(theta) V        [RBDA (2.63), (2.32)]

so the response to a unit parameter, taken by the same formula, is exact. `CycleRegressor` holds these columns for all
samples of a cycle: the curves of any other distribution of mass follow by a product, gradients for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.effort_weights import effort_weights
from linkwright.mechanics.inverse.problem import unit_pushes
from linkwright.mechanics.kinematics.motion import accelerations, body_jacobian
from linkwright.model.description import Body
from linkwright.numerics.linalg import factor
from linkwright.numerics.spatial import array, cross_wrench, shift_twist, shift_wrench, skew
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.system.compiled import compiled_of
from linkwright.system.system import System

SPATIAL = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
PLANAR = ("m", "mx", "my", "Izz")
_PAIRS = {"Ixx": (0, 0), "Iyy": (1, 1), "Izz": (2, 2), "Ixy": (0, 1), "Ixz": (0, 2), "Iyz": (1, 2)}


def labels(planar: bool) -> tuple[str, ...]:
    """The parameters that matter: in the plane only mass, its two moments and the inertia about the normal."""
    return PLANAR if planar else SPATIAL


def unit_inertias(names: Sequence[str]) -> np.ndarray:
    """(n, 6, 6): the spatial inertia of each unit parameter, at the body's origin in its axes."""
    E = np.zeros((len(names), 6, 6))
    for k, name in enumerate(names):
        if name == "m":
            E[k, 3:, 3:] = np.eye(3)
        elif name in _PAIRS:
            i, j = _PAIRS[name]
            E[k, i, j] = E[k, j, i] = 1.0
        else:
            c = skew(np.eye(3)["xyz".index(name[1])])
            E[k, :3, 3:], E[k, 3:, :3] = c, c.T
    return E


def parameters(mass: float, com: Any, inertia: Any, names: Sequence[str]) -> np.ndarray:
    """theta of a body: mass, moments of mass, and the inertia moved from the center of mass to the body's origin."""
    c = np.asarray(com, dtype=float)
    I = np.asarray(inertia, dtype=float) + mass * (c @ c * np.eye(3) - np.outer(c, c))
    values = {"m": mass, **dict(zip(("mx", "my", "mz"), mass * c, strict=True)), **{k: I[ij] for k, ij in _PAIRS.items()}}
    return np.array([values[n] for n in names], dtype=float)


def of_body(body: Body, names: Sequence[str]) -> np.ndarray:
    return parameters(float(body.mass or 0.0), array(body.com), array(body.inertia), names)


@dataclass(frozen=True)
class CycleRegressor:
    """Columns over the samples of a cycle. `curves(theta)` gives force, moment and efforts of any masses."""

    bodies: tuple[str, ...]
    names: tuple[str, ...]  # parameters of each body
    drives: tuple[str, ...]
    theta: np.ndarray  # (bodies, n): of the model as it is
    force: np.ndarray  # (samples, 3, bodies, n)
    moment: np.ndarray  # (samples, 3, bodies, n)
    effort: np.ndarray  # (samples, drives, bodies, n)
    effort_rest: np.ndarray  # (samples, drives): of springs, dampers and loads

    def curves(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(shaking force, shaking moment, efforts) over the samples."""
        force, moment = (np.einsum("sibk,bk->si", Y, theta) for Y in (self.force, self.moment))
        return force, moment, np.einsum("sibk,bk->si", self.effort, theta) + self.effort_rest


def regressor(system: System, c: Trajectory, about: np.ndarray, *, weight: bool = False) -> CycleRegressor:
    """The columns of a cycle; the moment is taken about a fixed point, and `weight` counts gravity as shaking too."""
    drives = tuple(d.joint for d in system.description.drives) or (c.drive,)
    if not len(c):
        raise UsageError("the cycle has no samples. Compute it in at least one step.")
    first = State(c.skel, c.q[0], c.v[0], c.references[0], 0.0)
    system.inverse(first, c.a[0], drives=drives, method="system")  # refuses missing masses and undriven degrees of freedom
    names = labels(system.description.planar)
    E = unit_inertias(names)
    rows = [_sample(system, c, i, E, about, drives, weight) for i in range(len(c))]
    force, moment, effort, rest = (np.array(part) for part in zip(*rows, strict=True))
    bodies = tuple(n.body for n in c.skel.tree.nodes)
    theta = np.array([of_body(system.description.body(b), names) for b in bodies])
    return CycleRegressor(bodies, names, drives, theta, force, moment, effort, rest)


def body_columns(X: Any, V: Any, A: Any, E: np.ndarray) -> np.ndarray:
    """(6, n): inertia wrench at the subsystem's origin of each unit parameter of one body."""
    back = X.inverse()
    V_B, A_B = shift_twist(back, V), shift_twist(back, A)
    Y = np.array([e @ A_B + cross_wrench(V_B, e @ V_B) for e in E]).T
    return shift_wrench(X, Y)


def _sample(
    system: System, c: Trajectory, i: int, E: np.ndarray, about: np.ndarray, drives: tuple[str, ...], weight: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    skel, m = c.skel, c._instants[i].motion
    pull = np.concatenate([np.zeros(3), skel.gravity])
    st = State(skel, c.q[i], c.v[i], c.references[i], float(c.t[i]))
    # what spins idly accelerates as the inverse dynamics says; all else is the cycle's own
    a = system.inverse(st, c.a[i], drives=drives, method="system").problem.a if system.mobility.idle else c.a[i]
    A = accelerations(skel, m, a)
    moving = [body_columns(X, V, acc, E) for X, V, acc in zip(m.X, m.V, A, strict=True)]
    loaded = [body_columns(X, V, acc - pull, E) for X, V, acc in zip(m.X, m.V, A, strict=True)]
    shaking = loaded if weight else moving
    force = np.array([-Y[3:] for Y in shaking]).transpose(1, 0, 2)
    moment = np.array([-Y[:3] - skew(o - about) @ Y[3:] for Y, o in zip(shaking, skel.origins, strict=True)]).transpose(1, 0, 2)
    K = _efforts_of(system, c, i, drives)
    effort = np.array([K @ body_jacobian(skel, m, k).T @ Y for k, Y in enumerate(loaded)]).transpose(1, 0, 2)
    rest = -K @ dynamics.generalized(skel, m, compiled_of(system).applied(st))
    return force, moment, effort, rest


def _efforts_of(system: System, c: Trajectory, i: int, drives: tuple[str, ...]) -> np.ndarray:
    """(drives, nv): least efforts for what the tree's coordinates need: u = W (N'B W)^+ N' g, N the motions of the loops, W the weights."""
    loops, skel, m = compiled_of(system).loops, c.skel, c._instants[i].motion
    closed = loops.closure(m, c.v[i], float(c.t[i]), c.references[i])
    N = loops.columns[:, None] * loops.factored(closed).null
    pushes = unit_pushes(system.description, Instant.moving(skel, m, float(c.t[i]), c.references[i]), drives)
    B = np.array([dynamics.generalized(skel, m, push) for push in pushes]).T
    sizes = effort_weights(system.description, drives, loops.kappa).sizes
    sizes = sizes / sizes.max()  # ranks are those of dimensionless columns, whatever the rated efforts
    return sizes[:, None] * factor(N.T @ (B * sizes)).solve(N.T)

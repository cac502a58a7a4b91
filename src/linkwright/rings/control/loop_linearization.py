"""Small motions on the loops: how all coordinates and speeds of a mechanism move with its independent ones.

    S(q) v = [-b; theta'; spins],    S = [J; J_t; E]        rows of the loops, of the independent coordinates, of idle degrees of freedom

has one solution v where the coordinates are independent and determine the motion. A small change of theta at held theta' moves q along
Lambda = dq/dtheta, the solution of S Lambda = [0; 1; 0] [Aghili2005 (39)], and, because S turns with q, also v, along Gamma:

    S Gamma_j = -(D S along Lambda_j) v

so that J v + b = 0 keeps holding. Idle degrees of freedom (rods that spin between ball joints) stay as they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import UsageError, closing, factor, kinematics, linalg, loop_constraints, motion, spatial, tolerances, trace_graph
from linkwright.compiler.derivatives import jacobian
from linkwright.kernels.equations.dynamic import Equations
from linkwright.mechanics.closing.idle_motions import idle_motions
from linkwright.simulation.feedback.task_coordinates import PoseTask, Task, TaskReference, nothing_wanted


class Manifold(NamedTuple):
    """First-order motions at a state."""

    Lambda: np.ndarray  # (nv, coordinates): dq/dtheta in the space of v
    Gamma: np.ndarray  # (nv, coordinates): change of v with theta, theta' held
    turning: np.ndarray  # d theta/dt = theta' + turning @ d theta: zero but for turning poses at speed
    rates: np.ndarray  # theta'


def task_rows(eq: Equations, tasks: Sequence[Task], q: Any, v: Any, near: Any) -> tuple[Any, Any, kinematics.Motion]:
    """(J_t, bias, motion): the acceleration of the coordinates is J_t a + bias."""
    skel = eq.loops.skel
    m, references = motion(skel, q, v), eq.loops.skel.unpack(q, near)
    found = [t.rows(skel, m, references, nothing_wanted(t)) for t in tasks]
    return np.concatenate([r.J for r in found]), np.concatenate([r.bias for r in found]), m


class ManifoldRows(NamedTuple):
    """S at a position, dimensionless, with what makes it so."""

    factors: linalg.Factored
    rows: np.ndarray  # scales
    coordinates: slice
    freedoms: int  # idle ones not counted

    def solve(self, right: np.ndarray, columns: np.ndarray) -> np.ndarray:
        found = self.factors.solve(right / (self.rows if right.ndim == 1 else self.rows[:, None]))
        return found * (columns if right.ndim == 1 else columns[:, None])

    def check(self, labels: Sequence[str]) -> None:
        """Raise UsageError unless the coordinates are as many as the degrees of freedom and determine the motion."""
        if len(labels) != self.freedoms:
            raise UsageError(
                f"as many coordinates as degrees of freedom are needed ({self.freedoms} here): "
                f"{len(labels)} {'is' if len(labels) == 1 else 'are'} named ({', '.join(labels) or 'none'})."
            )
        n = self.factors.Vt.shape[1]
        weakest = float(self.factors.s[n - 1]) if n else 1.0
        independent = 1e-7  # smallest singular value of S, dimensionless, at which coordinates still determine the motion
        if weakest < independent:
            raise UsageError(
                f"the coordinates {', '.join(labels)} do not determine the motion here (smallest singular value {weakest:.2g}): something "
                "moves that leaves them at rest. Name others.",
                name="coordinates",
            )


def stacked(eq: Equations, tasks: Sequence[Task], q: np.ndarray, v: np.ndarray, t: float, near: np.ndarray) -> ManifoldRows:
    """S at a state on the loops, or near them."""
    loops = eq.loops
    J_t, _, m = task_rows(eq, tasks, q, v, near)
    c = loops.at(q, v, t, eq.loops.skel.unpack(q, near), m)
    J = loops.dimensionless(c)[1]
    sizes = loop_constraints.scale([k for x in tasks for k in x.kinds], loops.kappa)
    E_t = J_t * loops.columns / sizes[:, None]
    null = factor(J).null
    idle = np.array([x for _, x in idle_motions(loops, q, null, m)]).reshape(-1, len(v))
    idle = factor(E_t @ idle.T, 1e-8).null.T @ idle  # one that a coordinate sees is not idle
    S = np.concatenate([J, E_t, idle])
    rows = np.concatenate([loops.row_scale, sizes, np.ones(len(idle))])
    return ManifoldRows(factor(S), rows, slice(len(J), len(J) + len(sizes)), null.shape[1] - factor(idle).rank)


def manifold(eq: Equations, tasks: Sequence[Task], q: np.ndarray, v: np.ndarray, t: float, near: np.ndarray) -> Manifold:
    """Lambda and Gamma at a state on the loops; derivatives of the rows are exact."""
    loops, skel = eq.loops, eq.loops.skel
    S = stacked(eq, tasks, q, v, t, near)
    S.check([x for task in tasks for x in task.labels])
    n = S.coordinates.stop - S.coordinates.start
    unit = np.zeros((len(S.rows), n))
    unit[S.coordinates] = np.eye(n)
    Lambda = S.solve(unit, loops.columns)
    g = trace_graph.TraceGraph()
    qs, vs = g.input("q", len(q)), g.input("v", len(v))
    J_t, _, m = task_rows(eq, tasks, qs, vs, near)
    c = loops.at(qs, vs, t, eq.loops.skel.unpack(qs, near), m)
    program = g.program([("rows", np.concatenate([c.J @ vs + c.b, J_t @ vs]))])
    moves = [dict(enumerate(kinematics.qdot(skel, q, column))) for column in Lambda.T]
    found = jacobian(program, np.concatenate([q, v]), moves)
    changed = np.zeros_like(unit)
    changed[: S.coordinates.stop] = -found.dense()
    rates = np.array(found.results[S.coordinates], dtype=float)
    return Manifold(Lambda, S.solve(changed, loops.columns), _turning(tasks, rates), rates)


def reached(
    eq: Equations, tasks: Sequence[Task], values: np.ndarray, q: np.ndarray, t: float, near: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """(q, near) on the loops with these values of the coordinates, by short steps from q; None where the way ends."""
    loops, skel, still = eq.loops, eq.loops.skel, np.zeros(len(eq.loops.columns))
    ends = np.cumsum([0, *(len(task.kinds) for task in tasks)])
    wanted = [TaskReference(list(values[a:b]), [0.0] * (b - a), [0.0] * (b - a)) for a, b in itertools.pairwise(ends)]
    sizes = loop_constraints.scale([k for x in tasks for k in x.kinds], loops.kappa)
    references = skel.unpack(q, near)

    def rows(position: np.ndarray) -> closing.PositionRows:
        nonlocal references  # followed from step to step: a step is much shorter than half a turn
        references, m = loops.counted_references(position, references), motion(skel, position, still)
        found = [task.rows(skel, m, references, w) for task, w in zip(tasks, wanted, strict=True)]
        c = loops.at(position, still, t, references, m)
        phi, J = loops.dimensionless(c)
        error, J_t = np.array([e for r in found for e in r.error], dtype=float), np.concatenate([r.J for r in found])
        return closing.PositionRows(
            np.concatenate([phi, -error / sizes]),
            np.concatenate([J, J_t * loops.columns / sizes[:, None]]),
            np.concatenate([c.b / loops.row_scale, np.zeros(len(sizes))]),
        )

    longest_step = 0.2  # radians or kappa: short enough to stay on the branch
    most_steps = 400
    found = closing.onto(rows, loops.displaced, q, closing.Rule(most_steps, longest=longest_step))
    return (found.q, skel.pack(loops.counted_references(found.q, references))) if found.residual < tolerances.CLOSED_AT_BEST else None


def _turning(tasks: Sequence[Task], rates: np.ndarray) -> np.ndarray:
    """Small turns phi of a pose about the world's axes and the change of its angular velocity: phi' = dw + w x phi."""
    out, at = np.zeros((len(rates), len(rates))), 0
    for task in tasks:
        if isinstance(task, PoseTask):
            turns = slice(at + 3, at + 6)
            out[turns, turns] = spatial.skew(rates[turns])
        at += len(task.kinds)
    return out

"""Terms of the equations of motion apart, before the loops are solved: what `s.named_terms` puts together.

    M a + C + G = F + tau + J' lam        J a + k = 0        x' = E v,  x'' = E a + e        y' = T v,  y'' = T a + bias

C are Coriolis and centrifugal efforts, G those of weight, F efforts of springs, dampers, friction and loads; x' are independent velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.kernels.equations.tasks import TaskRow, momentum_rows, task_motion
from linkwright.mechanics.closing.idle_motions import idle_rows
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion
from linkwright.numerics.spatial import cross

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations


def task_terms(eq: Equations, q: Any, v: Any, near: Any, tasks: Sequence[TaskRow]) -> dict[str, Any]:
    """J and k of the loops, E and e of the independent velocities (the drives of the equations), T and bias of the tasks."""
    skel = eq.loops.skel
    nv, nc, here = skel.tree.nv, skel.tree.nc, skel.unpack(q, near)
    m = motion(skel, q, v)
    entries = {name: i for i, name in enumerate(skel_velocities(skel))}
    others = tuple(name for name in eq.drives if name not in entries)
    read = replace(eq, drives=others)
    c = read.tied(read._laws(q, v, here, [0.0] * len(others))).at(q, v, 0.0, here, m)
    E, e = [], []
    for name in eq.drives:
        row = nc + others.index(name) if name in others else None
        E.append(np.eye(nv)[entries[name]] if row is None else c.J[row])
        e.append(0.0 if row is None else c.k[row])
    T, bias = task_motion(skel, m, tasks)
    idle = idle_rows(eq.plan, skel, m)
    n = len(eq.drives)
    rows = {"E": np.array(E).reshape(n, nv), "e": np.array(e).reshape(n), "idle": idle.rows, "idle_rate": idle.rate}
    return {"J": c.J[:nc], "k": c.k[:nc], "phi": c.phi[:nc], **rows, "T": T, "bias": bias.reshape(len(tasks))}


def inertia_terms(eq: Equations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
    """M, C, G, F, and the centroidal momentum matrix A with `A_rate` = dA/dt v and the center of mass."""
    skel = eq.loops.skel
    m = motion(skel, q, v)
    applied = Instant.moving(skel, m, t[0], skel.unpack(q, near)).pushes(eq.forces)
    weights = [(i, _weight(skel, m, i)) for i in range(len(skel.tree.nodes))]
    G = -dynamics.generalized(skel, m, weights)
    M = dynamics.mass_matrix(skel, m)
    h = momentum_rows(skel, m)
    C = dynamics.bias_force(skel, m) - G
    return {"M": M, "C": C, "G": G, "F": dynamics.generalized(skel, m, applied), "A": h.A, "A_rate": h.rate, "com": h.com}


def _weight(skel: Any, m: Any, i: int) -> Any:
    force = skel.mass[i] * skel.gravity
    return np.concatenate([cross(m.X[i].point(skel.com[i]), force), force])


def skel_velocities(skel: Any) -> list[str]:
    """Names of the entries of v."""
    parts = [(n.joint.name, jt.v_names) for n, jt in zip(skel.tree.nodes, skel.types, strict=True)]
    return [f"{name}.{p}" if p else name for name, entries in parts for p in entries]

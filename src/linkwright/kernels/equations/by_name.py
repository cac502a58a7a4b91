"""Terms of the equations of motion by name: apart, before the loops are solved, and reduced to independent velocities x'.

    M a + C + G = F + tau + J' lam        J a + k = 0        x' = E v,  x'' = E a + e        y' = T v,  y'' = T a + bias

C are Coriolis and centrifugal efforts, G those of weight, F efforts of springs, dampers, friction and loads. `named_terms` solves the
loops: v = S x', a = S x'' + a_0, and gives all that a call of `s.named_terms` returns at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.kernels.equations.kinematic import largest
from linkwright.kernels.equations.tasks import TaskRow, momentum_rows, task_motion, task_poses
from linkwright.mechanics.closing.idle_motions import idle_rows, let_go
from linkwright.mechanics.contact import contact_terms
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion
from linkwright.numerics.scalars import eliminate
from linkwright.numerics.spatial import cross

if TYPE_CHECKING:
    from linkwright.kernels.equations.dynamic import Equations


INDEPENDENT = "independent"  # plan of the loops with the rows of independent velocities


class Asked(NamedTuple):
    """What a call of named terms asks for; the drives of the equations are the independent velocities."""

    rows: tuple[TaskRow, ...] = ()  # of tasks, then of contact points
    tasks: int = 0  # how many of the rows are tasks
    own: tuple[int, ...] | None = None  # of the independent velocities those that are x'; None: x' are all coordinates, loops not solved
    read: tuple[str, ...] = ()  # velocities of joints and cylinders that are read beside
    mobility: bool = False  # M^-1 and W of the contacts, which take as long as everything else together
    touches: tuple[int, ...] = ()  # contacts of the model, whose rows come behind these


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


class Basis(NamedTuple):
    """Motions of the loops: v = S x', and a_0 the accelerations at x'' = 0; idle spins rest in both."""

    S: Any
    a: Any
    margin: Any = None  # how far the pivots are from vanishing; None of a basis by ranks


def tied_rows(eq: Equations, t: dict[str, Any]) -> tuple[Any, Any]:
    """(A, b) of A a = b: independent rows of the loops, independent velocities at x'' = 0, and idle spins at rest."""
    n, keep = len(eq.drives), slice(None) if eq.plan.keep is None else list(eq.plan.keep)
    return np.concatenate([t["J"][keep], t["E"][:n], t["idle"]]), np.concatenate([-t["k"][keep], -t["e"][:n], -t["idle_rate"]])


def _basis(eq: Equations, t: dict[str, Any]) -> Basis:
    """The loops solved in the order of the plan, and how far its pivots are from vanishing."""
    A, b = tied_rows(eq, t)
    order, first, columns = eq._order(INDEPENDENT, A), len(A) - len(eq.drives) - len(t["idle"]), []
    a, pivots = eliminate(A, b, order)
    for i in range(len(eq.drives)):
        unit = np.zeros(len(A), dtype=A.dtype)
        unit[first + i] = 1.0
        columns.append(eliminate(A, unit, order)[0])
    S = np.array(columns).T.reshape(A.shape[1], len(eq.drives))
    return Basis(S, a, eq.margin(INDEPENDENT, [(abs(p), p) for p in pivots]))


def named_motion(eq: Equations, q: Any, v: Any, near: Any, asked: Asked, basis: Basis | None = None) -> dict[str, Any]:
    """The part without masses: the basis, x', what is read, tasks with their rates and poses, contacts.

    `basis`: the solved loops, if the caller knows them.
    """
    return _motion(eq, q, v, near, asked, basis)[0]


def _motion(eq: Equations, q: Any, v: Any, near: Any, asked: Asked, basis: Basis | None) -> tuple[dict[str, Any], Any, Any]:
    """`named_motion`, and the rows of tasks and contacts with their rates in all coordinates."""
    skel, n = eq.loops.skel, len(eq.drives)
    t = task_terms(replace(eq, drives=(*eq.drives, *asked.read)), q, v, near, asked.rows)
    T, bias, more = t["T"], t["bias"], _touches(skel, q, v, asked.touches)
    if asked.touches:
        T, bias = np.concatenate([T, more.pop("J")]), np.concatenate([bias, more.pop("k")])
    E, e = t["E"][n:], t["e"][n:]
    out = {**more, **task_poses(skel, motion(skel, q, v), asked.rows), "constraint": t["J"], "constraint_bias": t["k"]}
    out["read_speed"] = E @ v
    if asked.own is None:
        out |= {"speed": v, "read": E, "read_rate": e, "selection": E.T, **_split(T, bias, asked)}
        return out, T, bias
    S, a, margin = _basis(eq, t) if basis is None else basis
    out["closure"] = np.array([largest(t["phi"] / eq.loops.row_scale)])
    own = list(asked.own)
    N, read = S[:, own], E @ S
    out |= {"N": N, "N_rate": a, "speed": t["E"][own] @ v, "read": read, "read_rate": E @ a + e, "selection": read[:, own].T}
    known = {} if margin is None else {"margin": margin}
    return {**out, **_split(T @ N, T @ a + bias, asked), **known}, T, bias


def _split(J: Any, rate: Any, asked: Asked) -> dict[str, Any]:
    """Rows of tasks, and of contacts where there are some."""
    n = asked.tasks
    out = {"J": J[:n], "rate": rate[:n]} if n else {}
    return {**out, "Jc": J[n:], "Jc_rate": rate[n:]} if len(J) > n else out


def named_terms(eq: Equations, q: Any, v: Any, t: Any, near: Any, asked: Asked, basis: Basis | None = None) -> dict[str, Any]:
    """`named_motion` with inertia, efforts and momentum; the mobility of contacts where it is asked for.

    Idle spins rest in J and A, and are free in M and h. `J_free` and `rate_free` are then those of tasks with the spins that efforts set
    going, `spun` accelerations of tasks per effort on the coordinates through spins alone, `spun_mobility` the same per force of a task.
    """
    x, (out, T, bias) = inertia_terms(eq, q, v, t, near), _motion(eq, q, v, near, asked, basis)
    out |= {"momentum": x["A"] @ v, "com": x["com"]}
    if asked.own is None:
        return {**out, **x, "h": x["C"] + x["G"] - x["F"]}
    N, a, M = out["N"], out["N_rate"], x["M"]
    inertial = M @ a + x["C"]
    free, pushed, spun = N, T @ N, None
    if eq.plan.spinning:
        idle = idle_rows(eq.plan, eq.loops.skel, motion(eq.loops.skel, q, v)).rows.T
        free = N + idle @ let_go(idle, M, M @ N)
        spun, pushed = -(idle @ let_go(idle, M, T.T)).T, T @ free
        if asked.tasks:
            n = slice(asked.tasks)
            set_going = spun @ (inertial + x["G"] - x["F"])
            out |= {"J_free": pushed[n], "rate_free": (T @ a + bias - set_going)[n], "spun": spun[n], "spun_mobility": spun[n] @ T[n].T}
    reduced = {"M": free.T @ (M @ free), "C": free.T @ inertial, "G": free.T @ x["G"], "F": free.T @ x["F"]}
    out |= {**reduced, "h": reduced["C"] + reduced["G"] - reduced["F"]}
    out |= {"A": x["A"] @ N, "A_rate": x["A"] @ a + x["A_rate"]}
    if asked.mobility:
        n = slice(asked.tasks, None)
        inverse, _ = eliminate(out["M"], np.eye(len(out["M"])))
        W = _symmetric(pushed[n], inverse @ pushed[n].T)
        out |= {"inverse_inertia": inverse, "W": W if spun is None else W + spun[n] @ T[n].T}
    return out


def _symmetric(A: Any, B: Any) -> Any:
    """A B where the product is symmetric: one half of it is computed."""
    rows = [[A[i] @ B[:, k] for k in range(i + 1)] for i in range(len(A))]
    every = [[rows[max(i, k)][min(i, k)] for k in range(len(A))] for i in range(len(A))]
    return np.array(every).reshape(len(A), len(A))


def _touches(skel: Any, q: Any, v: Any, chosen: Sequence[int]) -> dict[str, Any]:
    """Rows, rates, gaps, places and normals of contacts of the model."""
    if not chosen:
        return {}
    x = contact_terms(skel, q, v)
    each = len(x["k"]) // len(x["g"])
    rows = [each * i + k for i in chosen for k in range(each)]
    return {"J": x["J"][rows], "k": x["k"][rows], "gap": x["g"][list(chosen)], **{n: x[n][list(chosen)] for n in ("first", "normal")}}


def _weight(skel: Any, m: Any, i: int) -> Any:
    force = skel.mass[i] * skel.gravity
    return np.concatenate([cross(m.X[i].point(skel.com[i]), force), force])


def skel_velocities(skel: Any) -> list[str]:
    """Names of the entries of v."""
    parts = [(n.joint.name, jt.v_names) for n, jt in zip(skel.tree.nodes, skel.types, strict=True)]
    return [f"{name}.{p}" if p else name for name, entries in parts for p in entries]

"""Exact derivatives of forward dynamics: differentiate the residual, solve with the factors that are there already.

With r(q, v, a, lam) = (M a + h - J' lam - tau, J a + k) = 0 every derivative solves the same saddle-point system,

    [ M  -J' ] [ da   ]     [ d(M a + h - J' lam) - d tau ]
    [ J   0  ] [ dlam ] = - [        d(J a + k)           ]        a, lam held on the right

and the residual, a recursion without any elimination, is cheap to differentiate. Positions move in the space of v (a
quaternion along dq/dt = N(q) v). Mechanisms with redundant rows or massless subsystems are differentiated through their
elimination instead, which is dearer and needs no second thought.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.compiler.derivatives import jacobian, places
from linkwright.compiler.program import Program
from linkwright.equations import Equations
from linkwright.kinematics import qdot
from linkwright.terms import along_world, usual

WITH_RESPECT_TO = ("q", "v", "tau", "free")


def derivatives(make: Any, arrays: dict[str, Any], free: Any, trace: Any) -> dict[str, Any]:
    """a, lam and their derivatives, traced; `make(free)` gives equations, `trace(name)` another kernel's program."""
    eq: Equations = make(free)
    implicit = eq.plan.lean and eq.plan.saddle is None
    values, columns = _implicit(eq, arrays, free, trace) if implicit else _through(eq, arrays, free, trace)
    out = {"a": values["a"], "lam": values["lam"]}
    for name in WITH_RESPECT_TO:
        if name in columns:
            out[f"a_{name}"], out[f"lam_{name}"] = columns[name]
    return {**out, "margin": values["margin"]}


def _directions(eq: Equations, program: Program, q: Any) -> list[Any]:
    """Seeds of the position: one per velocity, q moved along dq/dt = N(q) e_k."""
    at = places(program, "q")
    nv = eq.loops.skel.tree.nv
    moves = [qdot(eq.loops.skel, q, np.eye(nv)[k]) for k in range(nv)]
    return [{place: x for place, x in zip(at, move, strict=True) if not _zero(x)} for move in moves]


def _zero(x: Any) -> bool:
    return isinstance(x, (int, float, np.floating)) and x == 0.0


def _seeds(eq: Equations, program: Program, q: Any, names: tuple[str, ...]) -> tuple[list[Any], dict[str, slice]]:
    """Directions for all quantities asked for, and which columns belong to which."""
    seeds: list[Any] = []
    where: dict[str, slice] = {}
    known = {b.name for b in program.inputs}
    for name in names:
        more = _directions(eq, program, q) if name == "q" else places(program, name) if name in known else []
        if more:
            where[name] = slice(len(seeds), len(seeds) + len(more))
            seeds += more
    return seeds, where


def _packed(program: Program, values: dict[str, Any]) -> np.ndarray:
    return np.concatenate([np.asarray(values[b.name], dtype=object).ravel() for b in program.inputs])


def _implicit(eq: Equations, arrays: dict[str, Any], free: Any, trace: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    q, v, tau = arrays["q"], arrays["v"], arrays["tau"]
    F, place = eq.factors(q, v, arrays["t"], arrays["near"])
    world = along_world(place, tau)
    a, lam = usual(place, *F.solve(world - F.terms.h, F.terms.k))
    R = trace("residual")
    seeds, where = _seeds(eq, R, q, ("q", "v", "free"))
    D = jacobian(R, _packed(R, {**arrays, "a": a, "lam": lam, "free": free}), seeds).dense()
    nv, nc = len(a), len(lam)
    force, gap = -D[:nv], D[nv : nv + nc]
    where["tau"] = slice(force.shape[1], force.shape[1] + nv)
    force = np.concatenate([force, np.eye(nv)], axis=1)
    gap = np.concatenate([gap, np.zeros((nc, nv))], axis=1)
    turned = np.array(gap, dtype=object)
    for i, rows in enumerate(place.closure.rows):
        if i in place.closure.turns:
            turned[rows] = place.closure.turns[i].T @ gap[rows]  # rows along the lean axes; the turn is a rotation
    da, dlam = usual(place, *F.solve(along_world(place, force), turned))
    tau_columns = da[:, where["tau"]]
    for i in range(nv):
        tau_columns[i, :i] = tau_columns[:i, i]  # symmetric: half of it need not be computed
    values = {"a": a, "lam": lam, "margin": eq.margin("sslm", F.watch)}
    return values, {name: (da[:, cut], dlam[:, cut]) for name, cut in where.items()}


def _through(eq: Equations, arrays: dict[str, Any], free: Any, trace: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """By differentiating forward dynamics operation by operation."""
    P = trace("forward")
    seeds, where = _seeds(eq, P, arrays["q"], WITH_RESPECT_TO)
    D = jacobian(P, _packed(P, {**arrays, "free": free}), seeds).dense()
    spans = {b.name: b.span for b in P.outputs}
    return eq.forward(**arrays), {name: (D[spans["a"], cut], D[spans["lam"], cut]) for name, cut in where.items()}

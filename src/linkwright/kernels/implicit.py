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
from linkwright.kernels.equations.dynamic import Equations
from linkwright.mechanics.dynamics.terms import along_world, to_joint_axes
from linkwright.mechanics.kinematics.motion import qdot

WITH_RESPECT_TO = ("q", "v", "tau", "free")


def derivatives(make: Any, arrays: dict[str, Any], law: dict[str, Any], free: Any, trace: Any) -> dict[str, Any]:
    """a, lam and their derivatives, traced; `make(free)` gives equations, `trace(name)` another kernel's program, `law` the
    given motion of drivers, which is not differentiated."""
    eq: Equations = make(free)
    implicit = eq.plan.body_axes and eq.plan.saddle is None
    values, columns = (_implicit if implicit else _through)(eq, arrays, {**law, "free": free}, trace)
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


def _implicit(eq: Equations, arrays: dict[str, Any], more: dict[str, Any], trace: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """In the rows and axes forward dynamics is solved in; what is reported turns with the bodies, which is one more term."""
    q, v, tau = arrays["q"], arrays["v"], arrays["tau"]
    F, place = eq.factors(q, v, arrays["t"], arrays["near"])
    a, lam = F.solve(along_world(place, tau) - F.terms.h, F.terms.k)
    R = trace("balance")
    seeds, where = _seeds(eq, R, q, WITH_RESPECT_TO)
    D = jacobian(R, _packed(R, {**arrays, **more, "a": a, "lam": lam}), seeds).dense()
    spans = {b.name: b.span for b in R.outputs}
    change = to_joint_axes(place, *F.solve(-D[spans["effort"]], D[spans["gap"]]))
    da, dlam = D[spans["a"]] + change[0], D[spans["lam"]] + change[1]
    by_tau = da[:, where["tau"]]
    for i in range(len(by_tau)):
        by_tau[i, :i] = by_tau[:i, i]  # symmetric: half of it need not be computed
    solution = to_joint_axes(place, a, lam)
    values = {"a": solution[0], "lam": solution[1], "margin": eq.margin("sslm", F.watch)}
    return values, {name: (da[:, cut], dlam[:, cut]) for name, cut in where.items()}


def _through(eq: Equations, arrays: dict[str, Any], more: dict[str, Any], trace: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """By differentiating forward dynamics operation by operation."""
    P = trace("forward")
    seeds, where = _seeds(eq, P, arrays["q"], WITH_RESPECT_TO)
    D = jacobian(P, _packed(P, {**arrays, **more}), seeds).dense()
    spans = {b.name: b.span for b in P.outputs}
    return eq.forward(**arrays), {name: (D[spans["a"], cut], D[spans["lam"], cut]) for name, cut in where.items()}

"""Derivatives of one quantity along a motion of the drives by all numbers at once: the equations of `implicit`, backwards.

With weights of q, v, a, lam and u in a quantity y, each level hands its own on to those before it:

    [J' B]' z = (y_lam, y_u)      y_x += z r_x         r = M a + h - J' lam - B u
    A' z = -y_a                   y_x += z (J a + k)_x
    A' z = -y_v                   y_x += z (J v + b)_x
    A' z = -y_q                   y_p += z phi_p

Every product with a derivative is one pass in reverse through a residual: for one quantity cheaper than a direction for every number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwright.compiler.derivatives import gradient
from linkwright.kernels.equations.kinematic import Driven
from linkwright.kernels.implicit import Differentiation
from linkwright.numerics.scalars import eliminate

Weights = dict[str, Any]  # input -> entries; q in the space of v


def turn_adjoint(x: Differentiation, name: str, output: Mapping[str, Any], motion: Mapping[str, Any], loads: bool) -> Weights:
    """Derivatives of a weighted sum of outputs of program `name` by free numbers and speeds; `motion`: v, a and, with loads, lam and u."""
    found = _back(x, name, motion, output)
    if loads:
        given = {**x.values, **motion}
        A, g, _, _ = x.eq.inverse_system(given["q"], given["v"], given["a"], given["t"], given["near"])
        rows, columns = x.eq.plan.orders["inverse"]
        nc = len(motion["lam"])
        own = eliminate(A, g, (rows, columns))[0][:nc]  # multipliers of the rows that are solved in; channels read the reported ones
        known = {"v": motion["v"], "a": motion["a"], "lam": own, "u": motion["u"]}
        pushed = _back(x, "inverse_balance", known, {"lam": found.pop("lam")})
        z, _ = eliminate(A.T, np.concatenate([pushed.pop("lam"), found.pop("u") + pushed.pop("u")]), (columns, rows))
        found = _sum(found, pushed)
        held = _back(x, "inverse_balance", known, {"effort": z})
        found = _sum(found, {key: w for key, w in held.items() if key not in ("lam", "u")})
    found = {key: found[key] for key in ("q", "v", "a", "free", "speed")}
    d, _ = x.eq.driven_solutions(x.values, following=True)
    for level, program, rows in (
        ("a", "driven_accelerations", "gap"),
        ("v", "driven_velocities", "velocity"),
        ("q", "driven_positions", "phi"),
    ):
        z = _transposed(d, -found.pop(level))
        held = _back(x, program, motion, {rows: z})
        found = _sum(found, {key: w for key, w in held.items() if key in found or key in ("free", "speed")})
    return found


def _back(x: Differentiation, name: str, motion: Mapping[str, Any], weights: Mapping[str, Any]) -> Weights:
    """Derivatives of a weighted sum of outputs of a program by all its inputs."""
    program = x.trace(name)
    known = {**x.values, **motion}
    packed = [e for b in program.inputs for e in np.asarray(known[b.name], dtype=object).ravel()]
    blocks = {b.name: b for b in program.outputs}
    places = {blocks[key].start + i: e for key, w in weights.items() for i, e in enumerate(np.ravel(w))}
    _, slopes = gradient(program, packed, places)
    found = {b.name: _array(slopes[b.span]) for b in program.inputs}
    sizes = {"v": x.eq.loops.skel.tree.nv, "a": x.eq.loops.skel.tree.nv, "free": len(x.values["free"]), "speed": len(x.values["speed"])}
    sizes |= {key: len(known[key]) for key in ("lam", "u") if key in known}
    out = {key: found.get(key, np.zeros(n)) for key, n in sizes.items()}
    return {**out, "q": x.rates.T @ found["q"] if "q" in found else np.zeros(x.eq.loops.skel.tree.nv)}


def _transposed(d: Driven, right: Any) -> Any:
    """Weights of all rows of the closure, z with J' z = right."""
    rows, columns = d.order
    z, _ = eliminate(d.J.T, right, (columns, rows))
    out = np.zeros(len(d.c.phi), dtype=object)
    out[d.rows] = z[: len(d.rows)]
    return out


def _sum(a: Weights, b: Weights) -> Weights:
    return {key: a[key] + b[key] if key in a and key in b else a.get(key, b.get(key)) for key in {**a, **b}}


def _array(x: Any) -> Any:
    return np.array([*x, None], dtype=object)[:-1]

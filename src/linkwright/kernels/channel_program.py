"""Quantities along a motion of the drives as one program: from a closed position to named numbers and their derivatives.

    inputs    q (closed at the drives), drive, speed, acceleration; their third derivatives, t, near and parameters where they are read
    v, a      J v + b = 0, J a + k = 0 with the rows of the drives
    lam, u    [J' B] (lam, u) = M a + h, where loads are read
    y         whatever a function `read` makes of q, v, a, lam, u and the mechanism's numbers
    y_p       along parameters p: q, v, a, lam and u follow them implicitly, see `implicit`

Only what the outputs need is part of the program: one torque costs less than all loads, derivatives of a speed need no dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import gradient, jacobian, places
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, without_unused
from linkwright.kernels.equations.dynamic import Equations
from linkwright.kernels.equations.kinematic import Driven
from linkwright.kernels.implicit import Differentiation, is_square, turn_efforts, turn_motion
from linkwright.kernels.kernel import Kernel
from linkwright.kernels.kernels import SOLVES, Kernels
from linkwright.kernels.tracing import OPTIONAL, trace
from linkwright.numerics.memory_and_threads import all_in_use
from linkwright.numerics.scalars import eliminate

GAP = "gap"  # output: largest dimensionless residual of the position
DRIVE_INPUTS = ("drive", "speed", "acceleration", "third")
HIDDEN = " as a formula"
BACKWARD = 3  # directions that take as many operations as one quantity in reverse, about
_READ = "what is read"  # name of the program of `read` among those that are differentiated

Weights = dict[str, Any]  # input -> entries; q in the space of v


def slope(name: str) -> str:
    """Name of the output with the derivatives of another."""
    return f"{name} by numbers"


def hidden(name: str) -> str:
    """Name under which `read` gives another form of an output: that is differentiated in its place, and not an output itself."""
    return f"{name}{HIDDEN}"


class ReadPlace(NamedTuple):
    """A mechanism in motion on symbols: equations, whose numbers may be symbols too, and arrays; lam and u empty without loads."""

    eq: Equations
    q: Any
    v: Any
    a: Any
    lam: Any
    u: Any
    t: Any
    near: Any
    third: Any  # third derivatives of the drives' motions


@dataclass(frozen=True, eq=False)
class ReadingKernel:
    """Named quantities of one mechanism, `read` on symbols, and the parameters `by` (their places) they are differentiated by."""

    kernels: Kernels
    drives: tuple[str, ...]
    read: Callable[[ReadPlace], Mapping[str, Any]]
    loads: bool
    by: tuple[int, ...] = ()
    speeds: Callable[[Any], Sequence[Any]] | None = None  # of the drives, where they are written with parameters

    def kernel(self, key: Any) -> Kernel:
        """The kernel; `key` names everything that `read` depends on beyond the mechanism, None: unknown."""
        model = self._chosen.model_key
        known = [list(self.drives), self.loads, list(self.by), self.speeds is not None, key, model]
        parts = None if model is None or key is None else ["reading", *known]
        return Kernel("reading", self.program, parts, self._chosen.entries, self._chosen.defaults, None, self._chosen.engine)

    @cached_property
    def _chosen(self) -> Kernels:
        return self.kernels if self.drives == self.kernels.drives else replace(self.kernels, drives=self.drives, plans={})

    def _equations(self, parameters: Any) -> Equations:
        return self._chosen.equations(parameters, SOLVES["turn_loads"] if self.loads else SOLVES["turn_motion"])

    @all_in_use()
    def program(self) -> Program:
        """Trace it: outputs by name, those of `slope`, the gap and the margin."""
        g, sizes = TraceGraph(), self._chosen.sizes
        given = {"q": g.input("q", sizes.nq), **{name: g.input(name, sizes.nd) for name in DRIVE_INPUTS}}
        given |= {"t": g.input("t", 1), "near": g.input("near", sizes.near), "parameters": g.input("parameters", sizes.parameters)}
        x = self._directions(given)
        entries = self._differentiated
        backward = BACKWARD * sum(entries.values()) <= len(self.by) and (not self.loads or is_square(x.eq))
        forward = replace(x, spans={}, own={}) if backward else x  # without directions only values are found
        moved, D = turn_motion(forward)
        found, change = {"v": moved["v"], "a": moved["a"], "lam": np.zeros(0), "u": np.zeros(0)}, dict(D)
        margin = moved["margin"]
        if self.loads:
            pushed, E = turn_efforts(forward, moved, D)
            margin, found, change = pushed["margin"], {**found, "lam": pushed["lam"], "u": pushed["u"]}, {**D, "lam": E["lam"], "u": E["u"]}
        values, slopes = forward.followed(_READ, found, change)
        if backward:
            slopes = {name: self._backward(x, name, size, found) for name, size in entries.items()}
        gap = x.eq.driven_solutions(given, following=True)[0].gap
        shown = {name: y for name, y in values.items() if not name.endswith(HIDDEN)}
        named = {slope(name): slopes[name].reshape(*np.shape(values[name]), x.width) for name in entries}
        return without_unused(g.program([*shown.items(), *named.items(), (GAP, gap), ("margin", margin)]), (*OPTIONAL, *DRIVE_INPUTS))

    @property
    def _differentiated(self) -> dict[str, int]:
        """Outputs of `read` that are differentiated, with their numbers of entries: those that are hidden in place of others."""
        blocks = {b.name: b.size for b in self._other(_READ).outputs} if self.by else {}
        return {name: size for name, size in blocks.items() if hidden(name) not in blocks}

    def _backward(self, x: Differentiation, name: str, size: int, motion: Mapping[str, Any]) -> Any:
        """Derivatives (entries, numbers) of an output, entry by entry in reverse."""
        rows = []
        for k in range(size):
            found = turn_adjoint(x, _READ, {name: np.eye(size)[k]}, motion, self.loads)
            rows.append(found["parameters"] @ x.own["parameters"] + (found["speed"] @ x.own["speed"] if "speed" in x.own else 0.0))
        return np.array(rows, dtype=object).reshape(size, x.width)

    def _directions(self, given: Mapping[str, Any]) -> Differentiation:
        """Unit directions of the numbers `by`, and the speeds of the drives that are written with them."""
        parameters = given["parameters"]
        own = {"parameters": np.eye(len(parameters), dtype=object)[:, list(self.by)].reshape(len(parameters), len(self.by))}
        if self.by and self.speeds is not None:
            own["speed"] = _slopes(self.speeds, parameters, self.by)
        return Differentiation(self._equations(parameters), given, self._other, {"parameters": slice(0, len(self.by))}, own)

    @cached_property
    def _traced(self) -> dict[str, Program]:
        return {}

    def _other(self, name: str) -> Program:
        """Programs that are differentiated: residuals of the equations, and what is read."""
        if name not in self._traced:
            self._traced[name] = self._what_is_read() if name == _READ else trace(name, self._chosen.sizes, self._equations)
        return self._traced[name]

    def _what_is_read(self) -> Program:
        g, sizes = TraceGraph(), self._chosen.sizes
        lam, u = (sizes.nc, sizes.nd) if self.loads else (0, 0)
        counts = {"q": sizes.nq, "v": sizes.nv, "a": sizes.nv, "lam": lam, "u": u, "t": 1, "near": sizes.near, "third": sizes.nd}
        arrays = {key: g.input(key, n) for key, n in counts.items()}
        found = self.read(ReadPlace(self._equations(g.input("parameters", sizes.parameters)), **arrays))
        return g.program(list(found.items()))


def _slopes(function: Callable[[Any], Sequence[Any]], parameters: Any, by: Sequence[int]) -> Any:
    """Derivatives (results, numbers) of a function of the parameters, on symbols."""
    g = TraceGraph()
    program = g.program([("speed", np.array([*function(g.input("parameters", len(parameters))), None], dtype=object)[:-1])])
    at = places(program, "parameters")
    D = jacobian(program, list(parameters), [at[k] for k in by]).dense()
    return np.array(D, dtype=object).reshape(-1, len(by))


# Derivatives of one quantity along a motion of the drives by all numbers at once: the equations of `implicit`, backwards.
#
# With weights of q, v, a, lam and u in a quantity y, each level hands its own on to those before it:
#
#     [J' B]' z = (y_lam, y_u)      y_x += z r_x         r = M a + h - J' lam - B u
#     A' z = -y_a                   y_x += z (J a + k)_x
#     A' z = -y_v                   y_x += z (J v + b)_x
#     A' z = -y_q                   y_p += z phi_p
#
# Every product with a derivative is one pass in reverse through a residual: for one quantity cheaper than a direction for every number.


def turn_adjoint(x: Differentiation, name: str, output: Mapping[str, Any], motion: Mapping[str, Any], loads: bool) -> Weights:
    """Derivatives of a weighted sum of outputs of program `name` by parameters and speeds; `motion`: v, a and, with loads, lam and u."""
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
    found = {key: found[key] for key in ("q", "v", "a", "parameters", "speed")}
    d, _ = x.eq.driven_solutions(x.values, following=True)
    for level, program, rows in (
        ("a", "driven_accelerations", "gap"),
        ("v", "driven_velocities", "velocity"),
        ("q", "driven_positions", "phi"),
    ):
        z = _transposed(d, -found.pop(level))
        held = _back(x, program, motion, {rows: z})
        found = _sum(found, {key: w for key, w in held.items() if key in found or key in ("parameters", "speed")})
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
    nv = x.eq.loops.skel.tree.nv
    sizes = {"v": nv, "a": nv, "parameters": len(x.values["parameters"]), "speed": len(x.values["speed"])}
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

"""Derivatives of kernels: `s.kernel("inverse", by=("q", "v", "a", "parameters"))` also gives u_q, u_v, u_a, u_parameters, lam_q and so on.

A kernel that solves equations is differentiated by the implicit function theorem: with r(x, z) = 0 linear in z,

    r_z dz = -r_x dx        z held on the right

the residual r, a recursion without any elimination, is cheap to differentiate, and every direction is one more right side of the
elimination that the kernel does anyway. Equal operations are one node of the graph, so doing it again costs nothing.

    forward      M a + h - J' lam - tau = 0,   J a + k = 0
    projection   M dq - J' lam = 0,   J dq + phi = 0,   and J (v + dv) + b = 0 likewise
    inverse      M a + h - J' lam - B u = 0
    kinematics   J dq + phi = 0,   J v + b = 0,   J a + k = 0        with the rows of the drives
    turn_...     phi = 0,   J v + b = 0,   J a + k = 0, one after the other: q follows the drives and the numbers, v follows q, a both

Everything else is differentiated operation by operation, and so are mechanisms with redundant rows, massless subsystems or idle spins.
Positions move in the space of v: a quaternion along dq/dt = N(q) v.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.compiler.derivatives import gradient, jacobian
from linkwright.compiler.program import Program
from linkwright.kernels.equations.dynamic import Equations
from linkwright.mechanics.constraints.loops import reported
from linkwright.mechanics.dynamics.terms import along_world, to_joint_axes
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.scalars import eliminate, minimum
from linkwright.properties import cached_property

MEASURES = ("margin", "gap", "residual", "rate_residual", "correction", "moved")  # outputs that say how good others are: not differentiated
COORDINATES = "coordinates"  # in `by`: q entry by entry, a quaternion's four included
Columns = Mapping[str, Any]  # input -> (entries, directions)


@dataclass(frozen=True)
class Differentiation:
    """A kernel with the directions along which it is differentiated, all on symbols of one graph."""

    eq: Equations
    values: Mapping[str, Any]  # inputs
    trace: Callable[[str], Program]  # of another kernel of the same equations
    spans: Mapping[str, slice]  # columns of each input that is varied
    own: Columns

    @classmethod
    def of(cls, eq: Equations, values: Mapping[str, Any], trace: Callable[[str], Program], by: tuple[str, ...]) -> Differentiation:
        """Unit directions of the inputs `by`; those of q in the space of v, as `COORDINATES` entry by entry."""
        nv = eq.loops.skel.tree.nv
        inputs = {name: "q" if name == COORDINATES else name for name in by}
        widths = {name: nv if name == "q" else len(values[inputs[name]]) for name in by}
        ends = np.cumsum([0, *widths.values()])
        spans = {name: slice(int(a), int(b)) for name, a, b in zip(by, ends, ends[1:], strict=False)}
        own = {inputs[name]: np.zeros((len(values[inputs[name]]), int(ends[-1])), dtype=object) for name in by}
        for name, span in spans.items():
            own[inputs[name]][:, span] = _rates(eq, values["q"]) if name == "q" else np.eye(widths[name])
        return cls(eq, values, trace, spans, own)

    @property
    def width(self) -> int:
        return max((s.stop for s in self.spans.values()), default=0)

    @cached_property
    def rates(self) -> Any:
        """N(q): columns are dq/dt of unit velocities."""
        return _rates(self.eq, self.values["q"])

    def along(self, name: str, more: Columns, columns: Columns, width: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Outputs of another kernel and their derivatives (entries, directions); `more` are values of its other inputs."""
        program = self.trace(name)
        known = {**self.values, **more}
        packed = [x for b in program.inputs for x in np.asarray(known[b.name], dtype=object).ravel()]
        seeds: list[dict[int, Any]] = [{} for _ in range(width)]
        for b in program.inputs:
            for i, row in enumerate(columns.get(b.name, ())):
                for k, x in enumerate(row):
                    if not _zero(x):
                        seeds[k][b.start + i] = x
        found = jacobian(program, packed, seeds)
        D, results = found.dense().astype(object), np.array([*found.results, None], dtype=object)  # all numbers, where r is linear
        return {b.name: results[b.span].reshape(b.shape) for b in program.outputs}, {b.name: D[b.span] for b in program.outputs}

    def held(self, name: str, more: Columns | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Along the own directions, everything else held."""
        return self.along(name, more or {}, self.own, self.width)

    def followed(self, name: str, more: Columns, change: Columns) -> tuple[dict[str, Any], dict[str, Any]]:
        """Along the own directions while other inputs change by so much in each; `change["q"]` in the space of v.

        Either every direction is followed through the program, or, where there are more of them than entries of these inputs, the
        derivatives by the inputs are found once and multiplied.
        """
        size = sum(len(x) for x in change.values())
        moving = sum(any(not _zero(e) for x in change.values() for e in x[:, k]) for k in range(self.width))
        if moving <= size:
            total = {key: self.rates @ x if key == "q" else x for key, x in change.items()}
            both = {key: x + self.own[key] if key in self.own else x for key, x in total.items()}
            return self.along(name, more, {**self.own, **both}, self.width)
        columns = {key: np.concatenate([x, np.zeros((len(x), size), dtype=object)], axis=1) for key, x in self.own.items()}
        at = self.width
        for key, x in change.items():
            unit = self.rates if key == "q" else np.eye(len(x))
            block = columns.setdefault(key, np.zeros((len(unit), self.width + size), dtype=object))
            block[:, at : at + len(x)] = unit
            at += len(x)
        tails = np.concatenate(list(change.values()))
        outputs, found = self.along(name, more, columns, self.width + size)
        return outputs, {key: D[:, : self.width] + D[:, self.width :] @ tails for key, D in found.items()}


def pulled(x: Differentiation, name: str, weights: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs of a kernel that have weights, and the derivatives `q_gradient` ... of their weighted sum, in reverse through the program."""
    program = x.trace(name)
    packed = [e for b in program.inputs for e in np.asarray(x.values[b.name], dtype=object).ravel()]
    blocks = {b.name: b for b in program.outputs}
    places = {blocks[key].start + i: e for key, w in weights.items() for i, e in enumerate(np.ravel(w))}
    results, slopes = gradient(program, packed, places)
    found = {b.name: np.array([*slopes[b.span], None], dtype=object)[:-1] for b in program.inputs}
    out = {key: np.array([*results[blocks[key].span], None], dtype=object)[:-1].reshape(blocks[key].shape) for key in weights}
    for by, span in x.spans.items():
        own = found.get("q" if by == COORDINATES else by, np.zeros(span.stop - span.start))
        out[f"{by}_gradient"] = x.rates.T @ own if by == "q" and "q" in found else own
    return {**out, **({"margin": results[blocks["margin"].start : blocks["margin"].start + 1]} if "margin" in blocks else {})}


def differentiated(name: str, x: Differentiation, plain: bool) -> dict[str, Any]:
    """Outputs of a kernel and their derivatives `u_q` ...; `plain`: it has no formulation or gains of its own."""
    fits, solved = IMPLICIT.get(name, (None, None))
    values, D = solved(x) if plain and fits is not None and solved is not None and fits(x.eq) else x.held(name)
    out = {key: y for key, y in values.items() if key != "margin"}
    for by, span in x.spans.items():
        for key in (k for k in D if k not in MEASURES):
            shape = np.shape(values[key]) if key in values else (len(D[key]),)
            out[f"{key}_{by}"] = D[key][:, span].reshape(*shape, span.stop - span.start)
    return {**out, **{key: y for key, y in values.items() if key == "margin"}}


# -------------------------------------------------------------------- kernels that solve equations


def _forward(x: Differentiation) -> tuple[dict[str, Any], dict[str, Any]]:
    """In the rows and axes forward dynamics is solved in; the accelerations reported turn with the bodies, which is one more term."""
    eq, given = x.eq, x.values
    F, place = eq.factors(given["q"], given["v"], given["t"], given["near"])
    a, lam = F.solve(along_world(place, given["tau"]) - F.terms.h, F.terms.k)
    out, D = x.held("balance", {"a": a, "lam": lam})
    change = to_joint_axes(place, *F.solve(-D["effort"], D["gap"]))
    da, dlam = D["a"] + change[0], D["lam"] + change[1] if len(lam) else D["lam"]
    if "tau" in x.spans:
        by_tau = da[:, x.spans["tau"]]
        for i in range(len(by_tau)):
            by_tau[i, :i] = by_tau[:i, i]  # symmetric: half of it need not be computed
    return {"a": out["a"], "lam": out["lam"], "margin": eq.margin("sslm", F.watch)}, {"a": da, "lam": dlam}


def _rates_of(x: Differentiation) -> tuple[dict[str, Any], dict[str, Any]]:
    """dq/dt is explicit."""
    values, D = _forward(x)
    _, rates = x.held("velocities")
    a, margin = values["a"], values["margin"]
    return {"qdot": qdot(x.eq.loops.skel, x.values["q"], x.values["v"]), "a": a, "margin": margin}, {"qdot": rates["qdot"], "a": D["a"]}


def _projection(x: Differentiation) -> tuple[dict[str, Any], dict[str, Any]]:
    """Steps of positions and velocities have the matrix of forward dynamics: M dq = J' lam, J dq = -phi."""
    eq, given = x.eq, x.values
    F, place = eq.factors(given["q"], given["v"], given["t"], given["near"])
    gap = F.terms.J @ along_world(place, given["v"]) + place.closure.b
    (step, lam), (rate, mu) = (F.solve(0.0 * F.terms.h, k) for k in (place.closure.phi, gap))
    turned = [to_joint_axes(place, z, lam)[0] for z in (step, rate)]
    _, D = x.held("projection_balance", {"step": turned[0], "lam": lam, "rate": turned[1], "mu": mu})
    moved = [to_joint_axes(place, *F.solve(-D[f"{n}effort"], D[f"{n}gap"]))[0] for n in ("", "rate_")]
    _, Q = x.followed("stepped", {"step": turned[0]}, {"step": moved[0]})
    values = eq.projection(given["q"], given["v"], given["t"], given["near"])
    return values, {"q": Q["q"], "v": moved[1] + x.own["v"] if "v" in x.own else moved[1]}


def _inverse(x: Differentiation) -> tuple[dict[str, Any], dict[str, Any]]:
    given = x.values
    return _efforts(x, {"a": given["a"]}, lambda more: x.held("inverse_balance", more))


def _efforts(x: Differentiation, motion: Columns, along: Callable[[Columns], Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """u, lam of a motion, and their derivatives: [J' B] (dlam, du) = d(M a + h - J' lam - B u) with lam, u held."""
    eq, given = x.eq, {**x.values, **motion}
    A, g, _, place = eq.inverse_system(given["q"], given["v"], given["a"], given["t"], given["near"])
    order = eq.plan.orders["inverse"]
    z, pivots = eliminate(A, g, order)
    nc = len(place.closure.k)
    lam, u = z[:nc], z[nc:]
    out, D = along({**motion, "lam": lam, "u": u})
    change, _ = eliminate(A, D["effort"], order)
    values = {"u": u, "lam": out["lam"], "margin": eq.margin("inverse", [(abs(p), p) for p in pivots])}
    return values, {"u": change[nc:], "lam": D["lam"] + reported(place.closure, change[:nc]) if nc else D["lam"]}


def _loads(x: Differentiation) -> tuple[dict[str, Any], dict[str, Any]]:
    values, D = _inverse(x)
    out, W = x.followed("wrenches", {"lam": values["lam"], "u": values["u"]}, {"lam": D["lam"], "u": D["u"]})
    return {**values, "wrench": out["wrench"]}, {**D, "wrench": W["wrench"]}


def _kinematics(x: Differentiation) -> tuple[dict[str, Any], dict[str, Any]]:
    """All three levels at once: their residuals have the same matrix."""
    values = x.eq.kinematics(**{key: x.values[key] for key in ("q", "v", "drive", "speed", "acceleration", "near")})
    d, steps = x.eq.driven_solutions(x.values)
    _, D = x.held("driven_rows", {"step": steps["step"], "rate": steps["rate"], "a": steps["a"]})
    found = {key: d.solve(-D[rows])[0] for key, rows in (("step", "phi"), ("rate", "velocity"), ("a", "gap"))}
    _, Q = x.followed("stepped", {"step": steps["step"]}, {"step": found["step"]})
    return values, {"q": Q["q"], "v": found["rate"], "a": found["a"]}


def turn_motion(x: Differentiation) -> tuple[dict[str, Any], dict[str, Any]]:
    """q closed at the drives' coordinates: A q_p = -phi_p, A v_p = -(J v + b)_p - (J v + b)_q q_p, and so on; A has the drives' rows."""
    d, found = x.eq.driven_solutions(x.values, following=True)
    v, a = found["rate"], found["a"]
    _, D = x.held("driven_positions")
    dq, pivots = d.solve(-D["phi"])
    _, D = x.followed("driven_velocities", {"v": v}, {"q": dq})
    dv, _ = d.solve(-D["velocity"])
    _, D = x.followed("driven_accelerations", {"v": v, "a": a}, {"q": dq, "v": dv})
    da, _ = d.solve(-D["gap"])
    margin = x.eq.margin("kinematics", [(abs(p), p) for p in pivots])
    return {"v": v, "a": a, "margin": margin}, {"q": dq, "v": dv, "a": da}


def turn_efforts(x: Differentiation, moved: Columns, D: Columns) -> tuple[dict[str, Any], dict[str, Any]]:
    """u and lam of the motion that `turn_motion` gave, and its margin: [J' B] (lam_p, u_p) = r_p + r_q q_p + r_v v_p + r_a a_p."""
    motion, change = {"v": moved["v"], "a": moved["a"]}, {"q": D["q"], "v": D["v"], "a": D["a"]}
    if is_square(x.eq):
        pushed, E = _efforts(x, motion, lambda more: x.followed("inverse_balance", more, change))
    else:
        pushed, E = x.followed("loads", motion, change)
        E.pop("margin")
    return {**pushed, "margin": np.array([minimum(moved["margin"][0], pushed["margin"][0])])}, E


def _turn_loads(x: Differentiation) -> tuple[dict[str, Any], dict[str, Any]]:
    """The loads of that motion, then every reaction."""
    moved, D = turn_motion(x)
    pushed, E = turn_efforts(x, moved, D)
    if "wrench" not in pushed:
        more = {"v": moved["v"], "a": moved["a"], "lam": pushed["lam"], "u": pushed["u"]}
        out, W = x.followed("wrenches", more, {"q": D["q"], "v": D["v"], "a": D["a"], "lam": E["lam"], "u": E["u"]})
        pushed, E = {**pushed, "wrench": out["wrench"]}, {**E, "wrench": W["wrench"]}
    return {**moved, **pushed}, {**D, **E}


def _saddle_free(eq: Equations) -> bool:
    return eq.plan.body_axes and eq.plan.saddle is None


def is_square(eq: Equations) -> bool:
    """True if efforts and multipliers are determined one by one, in a fixed order of elimination."""
    return eq.plan.body_axes and not eq.plan.spinning and "inverse" in eq.plan.orders


def _steady_spins(eq: Equations) -> bool:
    """True if no idle direction, at rest by choice, changes with the position."""
    return not eq.plan.moving_spins


Solved = Callable[[Differentiation], tuple[dict[str, Any], dict[str, Any]]]
IMPLICIT: dict[str, tuple[Callable[[Equations], bool], Solved]] = {
    "forward": (_saddle_free, _forward),
    "rates": (_saddle_free, _rates_of),
    "loop_rates": (_saddle_free, _rates_of),
    "projection": (_saddle_free, _projection),
    "loop_projection": (_saddle_free, _projection),
    "inverse": (is_square, _inverse),
    "loads": (is_square, _loads),
    "kinematics": (_steady_spins, _kinematics),
    "turn_motion": (_steady_spins, turn_motion),
    "turn_loads": (_steady_spins, _turn_loads),
}


def _rates(eq: Equations, q: Any) -> Any:
    """N(q), with plain numbers where it is constant."""
    nv = eq.loops.skel.tree.nv
    out = np.zeros((len(q), nv), dtype=object)
    for k in range(nv):
        out[:, k] = qdot(eq.loops.skel, q, np.eye(nv)[k])
    return out


def _zero(x: Any) -> bool:
    return isinstance(x, (int, float, np.floating)) and x == 0.0

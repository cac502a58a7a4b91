"""A mechanism as an ordinary differential equation in independent coordinates, with exact derivatives: what optimal control is written in.

    theta'' = f(theta, theta', u)        q follows theta on the loops, v = S(q) theta'

The program takes q on the loops. Its derivatives by theta are those along S, so that q moves on the loops; v is computed inside, from q
and theta', and moves with them. Functions of the instant (channels, powers) are outputs like f, with loads if they ask for them.

Forces of contacts are inputs like efforts: u = (efforts, p_n and p_t of every touch). So one program serves every phase of a gait: an open
touch has no force, and the forces of a closed one are those that hold it. Impulses act by the same columns of df/du.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.compiler.derivatives import jacobian
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.native import NativeCode
from linkwright.compiler.program import Program, without_unused
from linkwright.errors import UsageError
from linkwright.mechanics.contact import contact_terms, touches
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import Acted, loads_of_known_motion
from linkwright.mechanics.kinematics.motion import motion, qdot
from linkwright.model.coordinates import coordinate
from linkwright.properties import cached_property

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels

Reads = Mapping[str, Callable[[Instant], Any]]
READS = 5  # of a touch: gap, speeds along normal and tangent, mu p_n - p_t and mu p_n + p_t


@dataclass(frozen=True, eq=False)
class CoordinateMotion:
    """Accelerations of independent coordinates under efforts of drives, and functions of the instant, as machine code.

    `values(q, w, u)` gives arrays by name: `f`, `reads` (those asked for, then the powers of the drives, then READS of every touch), v, a,
    lam and S. With slopes=True also `D`, the derivatives of `f` and `reads` in one matrix, columns by theta, w and u.
    """

    kernels: Kernels
    coordinates: tuple[str, ...]
    drives: tuple[str, ...]
    reads: Reads
    touching: tuple[int, ...] = ()  # of the touches of the model: those whose forces are inputs

    @cached_property
    def _plain(self) -> Program:
        """(q, w, u, t, near) -> f, reads, v, a, lam, S, margin."""
        k = self.kernels
        skel, g = k.loops.skel, TraceGraph()
        x = {name: g.input(name, size) for name, size in self._sizes.items()}
        here, still = skel.unpack(x["q"], x["near"]), np.zeros(skel.tree.nv)
        moved, eq = replace(k, drives=self.coordinates, plans={}).equations(solve="kinematics"), k.equations()
        d = moved._driven(x["q"], still, moved._laws(x["q"], still, here, [0.0] * len(self.coordinates)), here)
        S, pivots = moved._speeds(d)
        v = S @ x["w"]
        touch = contact_terms(skel, x["q"], v) if self.touching else {}
        B = self._pushes(x["q"], v, here, touch)
        found = eq.forward(x["q"], v, B @ x["u"], x["t"], x["near"])
        at = Instant(skel, x["q"], v, x["t"][0], here, found["a"], solver=lambda now: self._loads(now, found["lam"], x["u"], touch))
        f = [_part(at.travel_acceleration(coordinate(skel.tree.description, name))) for name in self.coordinates]
        margin = [*found["margin"], *moved.margin("kinematics", [(abs(p), p) for p in pivots])]
        d = skel.tree.description
        powers = [u * at.travel_rate(coordinate(d, name)) for name, u in zip(self.drives, x["u"], strict=False)]
        reads = [*(_part(read(at)) for read in self.reads.values()), *powers, *self._touch_reads(touch, v, x["u"])]
        out = {"f": f, "reads": reads, "margin": margin}
        rest = {"v": v, "a": found["a"], "lam": found["lam"], "S": S}
        if self.touching:
            rest["wrenches"] = np.array(list(self._wrenches(at, x["u"], touch).values()), dtype=object)
        return g.program([*((name, np.array(y, dtype=object)) for name, y in out.items()), *rest.items()])

    @property
    def _sizes(self) -> dict[str, int]:
        tree = self.kernels.loops.skel.tree
        return {
            "q": tree.nq, "w": len(self.coordinates), "u": len(self.drives) + 2 * len(self.touching), "t": 1,
            "near": self.kernels.loops.skel.cut_size, "parameters": 0,
        }  # fmt: skip

    def _touch_reads(self, touch: Mapping[str, Any], v: Any, u: Any) -> list[Any]:
        """Gap, speeds along normal and tangent, and what friction has left in both directions, of every touch."""
        out: list[Any] = []
        every = touches(self.kernels.loops.skel.tree.description) if self.touching else ()
        for k, i in enumerate(self.touching):
            normal, along = u[len(self.drives) + 2 * k : len(self.drives) + 2 * k + 2]
            out += [touch["g"][i], touch["J"][2 * i] @ v, touch["J"][2 * i + 1] @ v]
            out += [every[i].mu * normal - along, every[i].mu * normal + along]
        return out

    def _pushes(self, q: Any, v: Any, here: Any, touch: Mapping[str, Any]) -> Any:
        """Forces in the tree's coordinates per unit effort of each drive, and per unit force of each touch."""
        skel = self.kernels.loops.skel
        d, m = skel.tree.description, motion(skel, q, v)
        at = Instant.moving(skel, m, 0.0, here)
        columns = [dynamics.generalized(skel, m, at.along(coordinate(d, name))) for name in self.drives]
        columns += [touch["J"][2 * i + row] for i in self.touching for row in (0, 1)]
        return np.array(columns, dtype=object).T

    def _loads(self, at: Instant, lam: Any, u: Any, touch: Mapping[str, Any]) -> Any:
        acted = Acted(lam, dict(zip(self.drives, u, strict=False)), self._wrenches(at, u, touch))
        return loads_of_known_motion(self.kernels.loops, at.q, at.v, at.known_a, at.t, at.references, acted)

    @property
    def touched(self) -> tuple[str, ...]:
        """Bodies on which contacts push, in the order of the output `wrenches`: moment about the body's origin, and force."""
        skel = self.kernels.loops.skel
        every = touches(skel.tree.description) if self.touching else ()
        bodies = (x.body for i in self.touching for x in (every[i].first, every[i].second))
        return tuple(dict.fromkeys(body for body in bodies if skel.node(body) >= 0))

    def _wrenches(self, at: Instant, u: Any, touch: Mapping[str, Any]) -> dict[str, Any]:
        """Forces of the touches by body: moment and force at its origin."""
        skel, out = at.skel, {}
        every = touches(skel.tree.description) if self.touching else ()
        for k, i in enumerate(self.touching):
            (normal, along), n = u[len(self.drives) + 2 * k : len(self.drives) + 2 * k + 2], touch["normal"][i]
            push = np.array([normal * n[0] - along * n[1], normal * n[1] + along * n[0]])
            for body, place, sign in ((every[i].first.body, touch["first"][i], 1.0), (every[i].second.body, touch["second"][i], -1.0)):
                node = skel.node(body)
                if node >= 0:
                    arm, none = place - (at.motion.X[node].p + skel.origin(node))[:2], 0.0 * normal
                    wrench = np.array([none, none, arm[0] * push[1] - arm[1] * push[0], push[0], push[1], none])
                    out[body] = out.get(body, 0.0) + sign * wrench
        return out

    @cached_property
    def program(self) -> Program:
        """The same with D, all in one program."""
        g, plain = TraceGraph(), self._plain
        x = {name: g.input(name, size) for name, size in self._sizes.items()}
        packed = np.concatenate([x[b.name] for b in plain.inputs])
        where = {b.name: b.start for b in plain.inputs}
        values = np.array(jacobian(plain, packed, []).results, dtype=object)
        out = {b.name: values[b.span].reshape(b.shape) for b in plain.outputs}
        skel, seeds = self.kernels.loops.skel, []
        for column in out["S"].T:
            seeds.append({where["q"] + i: rate for i, rate in enumerate(qdot(skel, x["q"], column))})
        seeds += [where[name] + i for name in ("w", "u") for i in range(self._sizes[name])]
        D = jacobian(plain, packed, seeds).dense()
        spans = {b.name: b.span for b in plain.outputs}
        out["D"] = np.concatenate([D[spans["f"]], D[spans["reads"]]])
        return without_unused(g.program(list(out.items())), tuple(self._sizes))

    @cached_property
    def _codes(self) -> dict[bool, NativeCode]:
        return {}

    def _code(self, sloped: bool) -> NativeCode:
        if sloped not in self._codes:
            self._codes[sloped] = NativeCode.of(self.program if sloped else without_unused(self._plain, tuple(self._sizes)))
        return self._codes[sloped]

    def need_steady(self) -> None:
        """Raise UsageError if a load of the model is a function of the time."""
        used = without_unused(self._plain, ("t",))
        if any(b.name == "t" for b in used.inputs):
            raise UsageError(
                "a load of the model is a function of the time, but optimal motions choose the time at each place themselves. "
                "Give that load as a constant, or as a function of a joint.", name="t",
            )  # fmt: skip

    def values(self, q: np.ndarray, w: np.ndarray, u: np.ndarray, *, slopes: bool = False) -> dict[str, np.ndarray]:
        """Outputs at states in rows; a state at which the equations cannot be solved is NaN."""
        code = self._code(slopes)
        given = {"q": q, "w": w, "u": u, "t": np.zeros(1), "near": self.kernels.defaults["near"], "parameters": np.zeros(0)}
        found, status = code.call_many([given[b.name] for b in code.inputs])
        out = dict(zip((b.name for b in code.outputs), found, strict=True))
        bad = np.broadcast_to(status != 0, (len(q),))
        if bad.any():
            for y in out.values():
                y[bad] = np.nan
        return out

    def c(self, name: str) -> str:
        """The program with derivatives as C99."""
        from linkwright.compiler import c99

        return c99.write(self.program, name)


def _part(x: Any) -> Any:
    return np.ravel(np.asarray(x, dtype=object))[0]


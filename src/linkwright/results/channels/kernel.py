"""Channels of a motion of the drives as one kernel, for many designs, with exact derivatives. Its stages are those of one motion
(`graph`, `driven_motion`), each solved on symbols instead of stored in an array:

    inputs    q (closed at the drives), drive, speed, acceleration; their third derivatives, t, near and parameters where they are read
    motion    J v + b = 0,  J a + k = 0 with the rows of the drives
    loads     [J' B] (lam, u) = M a + h
    held      tangent, jerk and push of the motion that the drives hold
    channels  the program of the `ChannelGraph`, which also reads one motion, with all of these as its inputs
    y_p       along parameters p every stage follows implicitly those before it (`implicit`), or backwards for few quantities

Only what the outputs need is part of the program: one torque costs less than all loads, derivatives of a speed need no dynamics. A channel
that chooses between formulas is read as its `raw` quantities and made of them afterwards; whole turns of bodies are counted afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.compiler.derivatives import gradient, jacobian, places
from linkwright.compiler.graph import Sym, TraceGraph, TracingError
from linkwright.compiler.program import Program, without_unused
from linkwright.kernels.equations.dynamic import Equations
from linkwright.kernels.equations.kinematic import Driven
from linkwright.kernels.implicit import Differentiation, is_square, turn_efforts, turn_motion
from linkwright.kernels.kernel import Kernel
from linkwright.kernels.kernels import SOLVES, Kernels
from linkwright.kernels.source_modules import digest
from linkwright.kernels.tracing import OPTIONAL, trace
from linkwright.mechanics.constraints.loops import Loops
from linkwright.model.coordinates import lengths
from linkwright.model.parameters import Parameter, with_values
from linkwright.numerics.memory_and_threads import all_in_use
from linkwright.numerics.scalars import eliminate
from linkwright.properties import cached_property
from linkwright.results.channels import Channel, Channels
from linkwright.results.channels.driven import PUSH, MotionChannels
from linkwright.results.channels.driven_motion import HeldSymbols
from linkwright.results.channels.graph import UNTRACEABLE, ActedNames, ChannelGraph, Structure
from linkwright.results.channels.lanes import GAP
from linkwright.results.channels.loads import load_channels
from linkwright.results.trajectories import STATE

DRIVE_INPUTS = ("drive", "speed", "acceleration", "third")
HIDDEN = " as a formula"
BACKWARD = 3  # directions that take as many operations as one quantity in reverse, about
DETERMINANT = "determinant"  # of the driven Jacobian, every pivot against its typical size: its sign is that of the branch
CANNOT = (TracingError, *UNTRACEABLE)

Weights = dict[str, Any]  # input -> entries; q in the space of v


def slope(name: str) -> str:
    """Name of the output with the derivatives of another."""
    return f"{name} by numbers"


def hidden(name: str) -> str:
    """Name of another form of an output: that is differentiated in its place, and not an output itself."""
    return f"{name}{HIDDEN}"


class ChannelTables:
    """Channels by name from two tables."""

    def __init__(self, first: Channels, second: Mapping[str, Channel]):
        self._tables: tuple[Any, ...] = (first, second)

    def __contains__(self, name: object) -> bool:
        return any(name in table for table in self._tables)

    def __getitem__(self, name: str) -> Channel:
        return next(table[name] for table in self._tables if name in table)


@dataclass(frozen=True, eq=False)
class ChannelReading:
    """Channels of the mechanism whose `chosen` parameters are inputs, moved by these drives, differentiated by some of the parameters."""

    kernels: Kernels
    chosen: tuple[Parameter, ...]
    drives: tuple[str, ...]
    by: tuple[int, ...] = ()
    moving: frozenset[str] = frozenset()  # drives whose constant speeds are written with these parameters

    # ---------------------------------------------------------------- what is read

    def kernel(self, names: Sequence[str]) -> Kernel:
        """The kernel of those of the named channels that can be read on symbols: they are its outputs."""
        made = self._made(tuple(names))
        try:
            _ = made.inputs  # code from the disk, or traced now
        except CANNOT:
            return self._made(tuple(name for name in names if self._traceable(name)))
        return made

    def _made(self, names: tuple[str, ...]) -> Kernel:
        k = self.solving
        known = [list(self.drives), list(self.by), list(names), sorted(self.moving), digest("results.channels.kernel"), k.model_key]
        parts = None if k.model_key is None else ["channels", *known]
        return Kernel("channels", _Stages(self, names).program, parts, k.entries, k.defaults, None, k.engine)

    @cached_property
    def solving(self) -> Kernels:
        """The kernels with these drives."""
        return self.kernels if self.drives == self.kernels.drives else replace(self.kernels, drives=self.drives, plans={})

    @cached_property
    def load_names(self) -> frozenset[str]:
        return frozenset(load_channels(self.kernels.tree.description, self.drives))

    def channels(self, loops: Loops) -> ChannelTables:
        """Every channel of the mechanism, on numbers or on symbols."""
        own = Channels(loops.skel, load_channels(loops.skel.tree.description, self.drives))
        return ChannelTables(own, MotionChannels(loops, self.drives) if self._held else {})

    @property
    def _held(self) -> bool:
        """True if terms of the motion that drives hold follow from the kernels' rows: of joints, none of them redundant."""
        distances = lengths(self.kernels.tree.description)
        return self.kernels.plan.keep is None and not distances.keys() & set(self.drives)

    # ---------------------------------------------------------------- symbols

    @cached_property
    def graph(self) -> ChannelGraph:
        """The mechanism on symbols, which also reads single motions."""
        structure = Structure(self.kernels, self.kernels.varied_loops, self.kernels.defaults["parameters"])
        return ChannelGraph.shared(self.kernels.loops, structure, {"a": np.zeros(0), "near": np.zeros(0)})

    @cached_property
    def held(self) -> HeldSymbols:
        return HeldSymbols.of(self.graph, self.graph.loops, self.drives)

    @cached_property
    def table(self) -> ChannelTables:
        return self.channels(self.graph.loops)

    def _traceable(self, name: str) -> bool:
        try:
            self.symbols(name)
        except CANNOT:
            return False
        return True

    def symbols(self, name: str) -> dict[str, Any]:
        """An output on symbols, and in another form where that is to be differentiated."""
        g, x = self.graph, self.graph.instant
        if name in STATE and name != "state near":
            return {name: getattr(x, STATE[name])}
        if name in (DETERMINANT, "state near"):
            near = g.input("near", g.skel.cut_size)
            eq = self.solving.equations(g.input("parameters", len(self.chosen)), SOLVES["turn_motion"])
            return {name: eq.branch_determinant(x.q, near) if name == DETERMINANT else eq.counted(x.q, near)}
        if name not in self.table:
            raise TracingError(f"channel '{name}' cannot be read here", name=name)
        c = self.table[name]
        at = self.held.instant if c.needs else x
        if name in self.load_names:
            at = g.loaded(ActedNames(self.drives, (), (), True, False))
        found = g.traced(name, c.raw or c.read, at)
        if found is None:
            raise TracingError(f"channel '{name}' cannot be read on symbols", name=name)
        formula = g.traced(hidden(name), c.read, at) if self.by and c.raw is not None and not c.needs else None  # a ratio may be of a rest
        return {name: found} if formula is None else {name: found, hidden(name): formula}

    def speeds(self, parameters: Any) -> list[Any]:
        """Speeds of the drives for symbols of the parameters; 0 for those that do not depend on them."""
        every = {d.joint: d.value for d in with_values(self.kernels.described, self.chosen, list(parameters)).drives}
        return [every[name] if name in self.moving and isinstance(every[name], Sym) else 0.0 for name in self.drives]


READ = "what is read"  # name of the program of the channels among those that are differentiated


class _Stages:
    """The stages of one request, and their derivatives."""

    def __init__(self, of: ChannelReading, names: Sequence[str]):
        self.of, self.names = of, tuple(names)
        self.k = of.solving
        self._traced: dict[str, Program] = {}

    # ---------------------------------------------------------------- programs that are put together

    def _other(self, name: str) -> Program:
        """Programs that are differentiated: the channels, residuals of held terms, residuals of the equations."""
        if name not in self._traced:
            self._traced[name] = self._of_graph(name) if name == READ or name.startswith("residual of ") else trace(
                name, self.k.sizes, self._equations
            )  # fmt: skip
        return self._traced[name]

    def _of_graph(self, name: str) -> Program:
        of = self.of
        if name == READ:
            return of.graph.fresh({key: x for n in self.names for key, x in of.symbols(n).items()})
        found = of.graph.traced(name, of.held.residual(name.removeprefix("residual of ")), of.held.instant)
        if found is None:
            raise TracingError(f"the {name} cannot be read on symbols", name=name)
        return of.graph.fresh({"residual": found})

    @cached_property
    def _reads(self) -> frozenset[str]:
        """Inputs of the channels."""
        return frozenset(b.name for b in self._other(READ).inputs)

    @property
    def loads(self) -> bool:
        return "lam" in self._reads or any(name.startswith("effort ") for name in self._reads)

    @cached_property
    def terms(self) -> dict[str, str]:
        """Terms of the held motion that are read, by their inputs."""
        tail = self.of.held.array("") if self.of.drives else ""
        return {name: name.removesuffix(tail) for name in sorted(self._reads) if tail and name.endswith(tail)}

    def _equations(self, parameters: Any) -> Equations:
        return self.k.equations(parameters, SOLVES["turn_loads"] if self.loads else SOLVES["turn_motion"])

    # ---------------------------------------------------------------- the whole

    @all_in_use()
    def program(self) -> Program:
        """Trace it: outputs by name, those of `slope`, the gap and the margin."""
        with self.of.graph.lock:
            return self._program()

    def _program(self) -> Program:
        g, sizes = TraceGraph(), self.k.sizes
        given = {"q": g.input("q", sizes.nq), **{name: g.input(name, sizes.nd) for name in DRIVE_INPUTS}}
        given |= {"t": g.input("t", 1), "near": g.input("near", sizes.near), "parameters": g.input("parameters", sizes.parameters)}
        given[self.of.held.array("third")] = given["third"]
        x = self._directions(given)
        entries = self._differentiated
        backward = BACKWARD * sum(entries.values()) <= len(self.of.by) and (not self.loads or is_square(x.eq))
        forward = replace(x, spans={}, own={}) if backward else x  # without directions only values are found
        found, change, margin = self._motion(forward)
        values, slopes = forward.followed(READ, found, change)
        if backward:
            slopes = {name: self._backward(x, name, size, found) for name, size in entries.items()}
        gap = x.eq.driven_solutions(given, following=True)[0].gap
        shown = {name: y for name, y in values.items() if not name.endswith(HIDDEN)}
        named = {slope(name): slopes[name].reshape(*np.shape(values[name]), x.width) for name in entries}
        return without_unused(g.program([*shown.items(), *named.items(), (GAP, gap), ("margin", margin)]), (*OPTIONAL, *DRIVE_INPUTS))

    def _motion(self, x: Differentiation) -> tuple[dict[str, Any], dict[str, Any], Any]:
        """What the channels read, how it changes, and the margin: all stages before the channels."""
        moved, D = turn_motion(x)
        found, change, margin = {"v": moved["v"], "a": moved["a"]}, dict(D), moved["margin"]
        if self.loads:
            pushed, E = turn_efforts(x, moved, D)
            margin, found["lam"], change["lam"] = pushed["margin"], pushed["lam"], E["lam"]
            for i, name in enumerate(self.of.drives):
                found[f"effort {name}"], change[f"effort {name}"] = pushed["u"][i : i + 1], E["u"][i : i + 1]
        held = _Held(x)
        for key, name in self.terms.items():
            residual, size = f"residual of {name}", self._sizes[key]
            at_zero = held.started(name, size)
            value, _ = x.along(residual, {**found, key: at_zero}, {}, 0)
            found[key] = at_zero - held.solved(name, self._offset(name, value["residual"], x))
            _, R = x.followed(residual, {**found}, {n: D[n] for n in "qva"})
            change[key] = -held.solved(name, R["residual"])
        return found, change, margin

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {b.name: b.size for b in self._other(READ).inputs}

    def _offset(self, name: str, residual: Any, x: Differentiation) -> Any:
        """The residual less what the term has to reach: unit rates of the drives, third derivatives of their motions."""
        out, nd = np.array(residual, dtype=object).ravel(), len(self.of.drives)
        if name == "jerk":
            out[len(out) - nd :] = out[len(out) - nd :] - x.values["third"]
        if name == "tangent":
            rows = out.reshape(-1, nd)
            rows[len(rows) - nd :] = rows[len(rows) - nd :] - np.eye(nd)
        return out

    @property
    def _differentiated(self) -> dict[str, int]:
        """Outputs that are differentiated, with their numbers of entries: those that are hidden in place of others."""
        blocks = {b.name: b.size for b in self._other(READ).outputs} if self.of.by else {}
        return {name: size for name, size in blocks.items() if hidden(name) not in blocks}

    def _directions(self, given: Mapping[str, Any]) -> Differentiation:
        """Unit directions of the parameters `by`, and the speeds of the drives that are written with them."""
        parameters, by = given["parameters"], list(self.of.by)
        own = {"parameters": np.eye(len(parameters), dtype=object)[:, by].reshape(len(parameters), len(by))}
        if by and self.of.moving:
            own["speed"] = _slopes(self.of.speeds, parameters, by)
        return Differentiation(self._equations(parameters), given, self._other, {"parameters": slice(0, len(by))}, own)

    # ---------------------------------------------------------------- backwards

    def _backward(self, x: Differentiation, name: str, size: int, motion: Mapping[str, Any]) -> Any:
        """Derivatives (entries, parameters) of an output, entry by entry in reverse."""
        rows = []
        for k in range(size):
            found = self._adjoint(x, {name: np.eye(size)[k]}, motion)
            rows.append(found["parameters"] @ x.own["parameters"] + (found["speed"] @ x.own["speed"] if "speed" in x.own else 0.0))
        return np.array(rows, dtype=object).reshape(size, x.width)

    def _adjoint(self, x: Differentiation, output: Mapping[str, Any], motion: Mapping[str, Any]) -> Weights:
        """Derivatives of a weighted sum of outputs by parameters and speeds: the equations of `implicit`, backwards.

        With weights of q, v, a, lam, u and held terms w in a quantity y, each stage hands its own on to those before it:

            C' z = -y_w                   y_x += z r_x         of a term C w + r = 0
            [J' B]' z = (y_lam, y_u)      y_x += z r_x         r = M a + h - J' lam - B u
            A' z = -y_a                   y_x += z (J a + k)_x
            A' z = -y_v                   y_x += z (J v + b)_x
            A' z = -y_q                   y_p += z phi_p

        Every product with a derivative is one pass in reverse through a residual: for one quantity cheaper than a direction for every
        parameter.
        """
        found, held = _back(x, READ, motion, output), _Held(x)
        for key, name in self.terms.items():
            z = held.transposed(name, -found.pop(key))
            found = _sum(found, _without(_back(x, f"residual of {name}", motion, {"residual": z}), self.terms))
        if self.loads:
            efforts = [found.pop(f"effort {name}", np.zeros(1))[0] for name in self.of.drives]
            found = self._through_loads(x, found, np.array([*efforts, None], dtype=object)[:-1], motion)
        found = {key: found[key] for key in ("q", "v", "a", "parameters", "speed")}
        d, _ = x.eq.driven_solutions(x.values, following=True)
        for level, program, rows in (
            ("a", "driven_accelerations", "gap"),
            ("v", "driven_velocities", "velocity"),
            ("q", "driven_positions", "phi"),
        ):
            z = _transposed(d, -found.pop(level))
            back = _back(x, program, motion, {rows: z})
            found = _sum(found, {key: w for key, w in back.items() if key in found or key in ("parameters", "speed")})
        return found

    def _through_loads(self, x: Differentiation, found: Weights, by_u: Any, motion: Mapping[str, Any]) -> Weights:
        """Weights of lam and u handed on to the motion."""
        given = {**x.values, **motion}
        A, g, _, _ = x.eq.inverse_system(given["q"], given["v"], given["a"], given["t"], given["near"])
        rows, columns = x.eq.plan.orders["inverse"]
        nc, u = len(motion["lam"]), np.array([motion[f"effort {name}"][0] for name in self.of.drives])
        own = eliminate(A, g, (rows, columns))[0][:nc]  # multipliers of the rows that are solved in; channels read the reported ones
        known = {"v": motion["v"], "a": motion["a"], "lam": own, "u": u}
        pushed = _back(x, "inverse_balance", known, {"lam": found.pop("lam", np.zeros(nc))})
        z, _ = eliminate(A.T, np.concatenate([pushed.pop("lam"), by_u + pushed.pop("u")]), (columns, rows))
        held = _back(x, "inverse_balance", known, {"effort": z})
        return _sum(_sum(found, pushed), _without(held, ("lam", "u")))


class _Held:
    """Solutions with the matrix C of held terms: the drives' rows with the loops', or its transpose."""

    def __init__(self, x: Differentiation):
        self.x = x

    @cached_property
    def _driven(self) -> Driven:
        still = np.zeros(len(self.x.eq.drives))
        given = {"q": self.x.values["q"], "near": self.x.values["near"], "drive": still, "speed": still, "acceleration": still}
        return self.x.eq.driven_solutions(given, following=True)[0]

    def started(self, name: str, size: int) -> Any:
        """A term of zeros; of a push with its unit load."""
        out = np.zeros(size, dtype=object)
        if name.startswith(PUSH):
            out[-1] = 1.0
        return out

    def solved(self, name: str, right: Any) -> Any:
        """w of C w = right, entries of the residual with any columns behind."""
        if name.startswith(PUSH):
            z = _transposed(self._driven, right)
            return np.concatenate([z, np.zeros((1, *z.shape[1:]))])
        nd = len(self.x.eq.drives) if name == "tangent" else 1
        width = int(np.prod(right.shape[1:]))
        columns = right.reshape(len(right) // nd, nd * width)  # of a tangent: those of every drive, each with its own columns behind
        found = self._driven.solve(columns)[0]
        return found.reshape(len(found) * nd, *right.shape[1:])

    def transposed(self, name: str, right: Any) -> Any:
        """z of C' z = right, the weights of a term."""
        if name.startswith(PUSH):
            return self._driven.solve(right[:-1])[0]
        nd = len(self.x.eq.drives) if name == "tangent" else 1
        return _transposed(self._driven, right.reshape(-1, nd)).ravel()


def _slopes(function: Callable[[Any], Sequence[Any]], parameters: Any, by: Sequence[int]) -> Any:
    """Derivatives (results, parameters) of a function of the parameters, on symbols."""
    g = TraceGraph()
    program = g.program([("speed", np.array([*function(g.input("parameters", len(parameters))), None], dtype=object)[:-1])])
    at = places(program, "parameters")
    D = jacobian(program, list(parameters), [at[k] for k in by]).dense()
    return np.array(D, dtype=object).reshape(-1, len(by))


def _back(x: Differentiation, name: str, motion: Mapping[str, Any], weights: Mapping[str, Any]) -> Weights:
    """Derivatives of a weighted sum of outputs of a program by all its inputs."""
    program = x.trace(name)
    known = {**x.values, **motion}
    packed = [e for b in program.inputs for e in np.asarray(known[b.name], dtype=object).ravel()]
    blocks = {b.name: b for b in program.outputs}
    seeds = {blocks[key].start + i: e for key, w in weights.items() for i, e in enumerate(np.ravel(w))}
    _, slopes = gradient(program, packed, seeds)
    found = {b.name: _array(slopes[b.span]) for b in program.inputs}
    nv = x.eq.loops.skel.tree.nv
    sizes = {"v": nv, "a": nv, "parameters": len(x.values["parameters"]), "speed": len(x.values["speed"])}
    sizes |= {key: len(y) for key, y in motion.items()}
    out = {key: found.get(key, np.zeros(n)) for key, n in sizes.items()}
    return {**out, "q": x.rates.T @ found["q"] if "q" in found else np.zeros(nv)}


def _transposed(d: Driven, right: Any) -> Any:
    """Weights of all rows of the closure, z with J' z = right, of one right side or several."""
    rows, columns = d.order
    z, _ = eliminate(d.J.T, right, (columns, rows))
    out = np.zeros((len(d.c.phi), *np.shape(right)[1:]), dtype=object)
    out[d.rows] = z[: len(d.rows)]
    return out


def _without(a: Weights, names: Iterator[str] | Sequence[str] | Mapping[str, Any]) -> Weights:
    return {key: w for key, w in a.items() if key not in names}


def _sum(a: Weights, b: Weights) -> Weights:
    return {key: a[key] + b[key] if key in a and key in b else a.get(key, b.get(key)) for key in {**a, **b}}


def _array(x: Any) -> Any:
    return np.array([*x, None], dtype=object)[:-1]

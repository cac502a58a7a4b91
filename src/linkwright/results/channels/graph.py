"""Channels of whole motions: each is traced once per mechanism, and a request is one program run on arrays of all samples.

    graph    symbols of a mechanism, for all its motions           `ChannelGraph`
    batch    the samples of one motion in arrays                   `Batch(loops, rows).read(channels)`

No Python per sample, and nothing to compile: operations go over thousands of samples at a time. What cannot be traced (a joint
of the user's own that runs on numbers only) is left to the caller, who reads it sample by sample; both agree to round-off.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import is_
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import Acted, loads_of_known_motion
from linkwright.numerics.memory_and_threads import HasStores, Store
from linkwright.numerics.tolerances import COMPLEX_STEP
from linkwright.properties import cached_property
from linkwright.results.channels import Channel

VALUES_AT_ONCE = 4_000_000  # numbers held while a program runs
UNTRACEABLE = (TypeError, AttributeError)  # what numpy says about functions a symbol does not have
ASKED = 16  # requests whose programs are found without looking at each function
STORED = 400_000  # operations of the programs that a graph stores
Reads = Mapping[str, Callable[[Instant], Any]]


class ActedNames(NamedTuple):
    """Names of the efforts, wrenches and frictions that acted in a motion."""

    efforts: tuple[str, ...]
    wrenches: tuple[str, ...]
    rubbing: tuple[str, ...]
    solved: bool
    reactions: bool


class Structure(NamedTuple):
    """Loops of mechanisms that differ in their numbers only, and the numbers of one of them."""

    owner: HasStores
    loops: Callable[[Any], Loops]  # for symbols of the numbers
    values: np.ndarray


GRAPHS: Store[Any, ChannelGraph] = Store()  # by the scale and constraints of the loops, and the arrays that are known


class ChannelGraph:
    """A mechanism on symbols. Its instants are read by all motions; equal operations are one node, and programs are stored.

    `known` are the arrays that not every motion has: a, near. `design` gives the loops for symbols of the array `free` with so many
    entries, where the numbers of the mechanism differ from row to row.
    """

    def __init__(self, loops: Loops, known: frozenset[str], design: Callable[[Any], Loops] | None = None, parameters: int = 0):
        from linkwright.compiler.graph import TraceGraph

        self.lock = RLock()  # two threads must not trace into one graph
        self.graph = TraceGraph()
        self._inputs: dict[str, Any] = {}
        tree = loops.skel.tree
        sizes = {"q": tree.nq, "v": tree.nv, "t": 1, "parameters": parameters, "a": tree.nv, "near": loops.skel.cut_size}
        for name, size in sizes.items():
            if name in ("q", "v", "t") or name in known or (name == "parameters" and design is not None):
                self.input(name, size)
        self.loops = loops if design is None else design(self._inputs["parameters"])
        self.skel = self.loops.skel
        self.stages: dict[tuple[str, ...], Any] = {}  # held by coordinates, or loaded by drives: see `driven_motion`, `cycle_loads`
        self._loaded: dict[ActedNames, Instant] = {}
        self._traced: dict[Any, tuple[Any, Any]] = {}
        self._programs: OrderedDict[tuple[str, ...], tuple[list[Any], Any]] = OrderedDict()
        self._stored = 0  # operations of these
        self.asked: OrderedDict[tuple[str, ...], tuple[Instant, list[Any], Any]] = OrderedDict()  # programs by functions, of late requests
        self.codes: dict[int, tuple[Any, Any]] = {}  # programs with their machine code, by identity

    @classmethod
    def of(cls, loops: Loops, rows: Mapping[str, np.ndarray]) -> ChannelGraph:
        """The graph of a mechanism for motions with these arrays, made once."""
        graphs, known = GRAPHS.of(loops.skel), frozenset(rows) & {"a", "near"}
        key = (loops.kappa, tuple(c.name for c in loops.constraints), known)
        if key not in graphs:
            graphs[key] = cls(loops, known)
        return graphs[key]

    @classmethod
    def shared(cls, loops: Loops, structure: Structure, rows: Mapping[str, np.ndarray]) -> ChannelGraph:
        """The graph of a structure: the numbers of a mechanism are in the array `free`."""
        graphs, known = GRAPHS.of(structure.owner), frozenset(rows) & {"a", "near"}
        if known not in graphs:
            graphs[known] = cls(loops, known, structure.loops, len(structure.values))
        return graphs[known]

    def input(self, name: str, size: int) -> Any:
        """Symbols of an array."""
        if name not in self._inputs:
            self._inputs[name] = self.graph.input(name, size)
        return self._inputs[name]

    @cached_property
    def instant(self) -> Instant:
        """The mechanism on symbols, without loads."""
        x = self._inputs
        near = self.skel.unpack(x["q"], x["near"]) if "near" in x else None
        return Instant(self.skel, x["q"], x["v"], x["t"][0], near, x.get("a"))

    def loaded(self, names: ActedNames) -> Instant:
        """The same with the loads of what acted."""
        if names not in self._loaded:
            self._loaded[names] = self.instant.beside(solver=lambda at: self._loads(at, names))
        return self._loaded[names]

    def _loads(self, at: Instant, names: ActedNames) -> Any:
        efforts = {name: self.input(f"effort {name}", 1)[0] for name in names.efforts}
        wrenches = {name: self.input(f"wrench {name}", 6) for name in names.wrenches}
        rubbing = {name: self.input(f"friction {name}", 1)[0] for name in names.rubbing}
        n = len(self.skel.tree.description.joints)
        reactions = self.input("reactions", 6 * n).reshape(n, 6) if names.reactions else None
        known = Acted(self.input("lam", self.skel.tree.nc), efforts, wrenches, rubbing=rubbing, solved=names.solved, reactions=reactions)
        return loads_of_known_motion(self.loops, at.q, at.v, at.known_a, at.t, at.references, known)

    def traced(self, name: str, read: Callable[[Instant], Any], at: Instant) -> Any:
        """Result of a function of the instant; None if it needs numbers. Traced once for every function."""
        key = (name, id(at))
        with self.lock:
            found = self._traced.get(key)
            if found is None or found[0] != read:  # another function of this name
                found = self._traced[key] = (read, self.symbols(read, at))
        return found[1]

    def symbols(self, read: Callable[[Instant], Any], at: Instant) -> Any:
        """The same, traced now."""
        from linkwright.compiler.graph import TracingError

        with self.lock:
            try:
                return np.asarray(read(at), dtype=object)
            except (TracingError, *UNTRACEABLE):
                return None

    def program(self, found: Mapping[str, Any]) -> Any:
        """The program of symbols by name; those asked for lately are stored."""
        key, symbols = tuple(found), list(found.values())
        with self.lock:
            known = self._programs.get(key)
            if known is None or any(a is not b for a, b in zip(known[0], symbols, strict=True)):
                self._forget(key)
                known = self._programs[key] = symbols, self.fresh(found)
                self._stored += len(known[1].ops)
                while len(self._programs) > 1 and self._stored > STORED:
                    self._forget(next(iter(self._programs)))
            self._programs.move_to_end(key)
            return known[1]

    def _forget(self, key: tuple[str, ...]) -> None:
        self.asked.pop(key, None)
        if key in self._programs:
            self._stored -= len(self._programs.pop(key)[1].ops)

    def fresh(self, found: Mapping[str, Any]) -> Any:
        """The same, made now."""
        from linkwright.compiler.program import without_unused

        with self.lock:
            return without_unused(self.graph.program(list(found.items())), list(self._inputs))


class Batch:
    """Samples of a motion in arrays, one row a sample, and what is read from them.

    `rows` are the arrays by name: q, v, and where known a, t, near (of the cut joints). `acted` has the multipliers, efforts and wrenches
    of the motion in such arrays; `graph` is one that serves other numbers in each row, `instant` another of its instants.
    """

    def __init__(
        self,
        loops: Loops,
        rows: Mapping[str, np.ndarray],
        acted: Acted | None = None,
        graph: ChannelGraph | None = None,
        instant: Instant | None = None,
    ):
        self.n, self.acted = len(rows["q"]), acted
        self.rows = dict(rows)
        if acted is not None:
            self.act(acted)
        self.own, self._graph = loops, graph
        self._instant = instant
        self.native, self.cores = False, None  # in machine code, which takes a while to make, on so many cores

    @cached_property
    def symbols(self) -> ChannelGraph:
        """The graph of the mechanism."""
        return ChannelGraph.of(self.own, self.rows) if self._graph is None else self._graph

    @property
    def loops(self) -> Loops:
        return self.symbols.loops

    @cached_property
    def instant(self) -> Instant:
        """The mechanism on symbols."""
        return self._instant or (self.symbols.instant if self.acted is None else self.symbols.loaded(_names(self.acted)))

    def act(self, acted: Acted) -> None:
        """Multipliers, efforts and wrenches from now on: of the same names as before."""
        self.acted = acted
        self.rows["lam"] = acted.lam
        self.rows |= {f"effort {name}": x[:, None] for name, x in acted.efforts.items()}
        self.rows |= {f"wrench {name}": x for name, x in acted.wrenches.items()}
        self.rows |= {f"friction {name}": x[:, None] for name, x in acted.rubbing.items()}
        self.rows |= {} if acted.reactions is None else {"reactions": acted.reactions.reshape(self.n, -1)}

    def traced(self, name: str, read: Callable[[Instant], Any]) -> Any:
        """Result of `read` on the symbols; None if it needs numbers."""
        return self.symbols.traced(name, read, self.instant)

    def _program(self, named: Reads, stored: bool) -> Any:
        """The program of everything that can be traced."""
        graph = self.symbols
        if stored:
            with graph.lock:
                known = graph.asked.get(tuple(named))
            if known is not None and known[0] is self.instant and all(map(is_, known[1], named.values())):
                return known[2]
        found = {n: self.traced(n, read) if stored else graph.symbols(read, self.instant) for n, read in named.items()}
        symbols = {name: x for name, x in found.items() if x is not None}
        if not stored:
            return graph.fresh(symbols)
        program = graph.program(symbols)
        with graph.lock:
            graph.asked[tuple(named)] = self.instant, list(named.values()), program
            while len(graph.asked) > ASKED:
                graph.asked.popitem(last=False)
        return program

    def _blocks(self, operations: int) -> Iterator[slice]:
        """Samples that are computed together, for so many operations."""
        size = max(64, VALUES_AT_ONCE // max(1, operations))
        return (slice(first, min(first + size, self.n)) for first in range(0, self.n, size))

    def _columns(self, program: Any, some: slice) -> list[Any]:
        """Inputs of a program at some samples; a number that they share is one number."""
        rows = [(self._row(b.name), b.size) for b in program.inputs]
        return [x for row, size in rows for x in (row[some].T.copy() if len(row) == self.n else row[0, :size])]

    def _row(self, name: str) -> np.ndarray:
        return self.rows[name] if name != "t" or "t" in self.rows else np.zeros((self.n, 1))

    def values(self, named: Reads, *, stored: bool = True) -> dict[str, np.ndarray]:
        """(n, ...) of everything that can be traced and comes out finite; `stored`: these functions are asked for again."""
        from linkwright.compiler.program import evaluated

        program = self._program(named, stored)
        if self.native:
            return self._run(program)
        parts = []
        for some in self._blocks(len(program.ops)):
            parts.append(evaluated(program, self._columns(program, some), (some.stop - some.start,)))
        every = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros((0, program.n_out))
        out, finite = program.unpack(every), bool(np.isfinite(every).all())
        return {name: x for name, x in out.items() if finite or np.isfinite(x).all()}

    def slopes(self, channels: Sequence[Channel], changes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Derivatives of channels, (n, ..., directions), from those of the arrays, (n, entries, directions); untraceable ones left out.

        A channel that chooses between formulas is differentiated as the quantities it is made of.
        """
        out = self._slopes({c.name: c.read for c in channels}, changes)
        made = {f"raw {c.name}": c for c in channels if c.name not in out and c.raw is not None and c.cook is not None}
        if made:
            raw = {key: c.raw for key, c in made.items() if c.raw is not None}
            slopes, values = self._slopes(raw, changes), self.values(raw)
            out |= {c.name: composed_slopes(c, values[key], slopes[key]) for key, c in made.items() if key in slopes and key in values}
        return out

    def _slopes(self, named: Reads, changes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The same of functions that can be traced."""
        from linkwright.compiler.derivatives import jacobian

        program = self._program(named, True)
        width = next(iter(changes.values())).shape[2]
        parts = []
        for some in self._blocks(len(program.ops) * (width + 1)):
            x = self._columns(program, some)
            moved = [(b.start + i, changes[b.name][some, i]) for b in program.inputs if b.name in changes for i in range(b.size)]
            seeds = [{place: d[:, k] for place, d in moved if d[:, k].any()} for k in range(width)]
            D = jacobian(program, x, seeds).dense()
            parts.append(np.broadcast_to(D, (len(self.rows["q"][some]), *D.shape[-2:])))
        D = np.concatenate(parts)
        return {b.name: D[:, b.span].reshape(self.n, *b.shape, width) for b in program.outputs}

    def _run(self, program: Any) -> dict[str, np.ndarray]:
        """The same in machine code: equal to round-off, not in all bits."""
        from linkwright.compiler.native import NativeCode

        with self.symbols.lock:
            if id(program) not in self.symbols.codes:
                self.symbols.codes[id(program)] = program, NativeCode.of(program)
        code = self.symbols.codes[id(program)][1]
        found, _ = code.call_many([self._row(b.name) for b in code.inputs], self.cores)
        every = [np.broadcast_to(x, (self.n, *b.shape)) for b, x in zip(code.outputs, found, strict=True)]
        return {b.name: x for b, x in zip(code.outputs, every, strict=True) if np.isfinite(x).all()}

    def read(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Channels by name, those left out that have to be read sample by sample."""
        found = self.values({c.name: c.raw or c.read for c in channels})
        return {c.name: composed(c, found[c.name]) for c in channels if c.name in found}


# -------------------------------------------------------------------- channels that are made of other quantities (`Channel.raw`, `.cook`)


def composed(c: Channel | None, raw: np.ndarray, axes: int = 1) -> np.ndarray:
    """The channel from its raw quantities, whose first `axes` axes are those of samples; whole turns are not counted."""
    return raw if c is None or c.cook is None else _many(c.cook(_flat(raw, axes)), raw, axes)


def composed_slopes(c: Channel | None, raw: np.ndarray, slopes: np.ndarray, axes: int = 1) -> np.ndarray:
    """Derivatives of the channel, (samples, ..., numbers), from those of its raw quantities: complex steps through its formulas."""
    if c is None or c.cook is None:
        return slopes
    made = [np.imag(c.cook(_flat(raw + 1j * COMPLEX_STEP * slopes[..., k], axes))) / COMPLEX_STEP for k in range(slopes.shape[-1])]
    return np.stack([_many(x, raw, axes) for x in made], axis=-1)


def _flat(x: np.ndarray, axes: int) -> np.ndarray:
    return x.reshape(-1, *x.shape[axes:])


def _many(x: np.ndarray, like: np.ndarray, axes: int) -> np.ndarray:
    return x.reshape(*like.shape[:axes], *x.shape[1:])


def _names(acted: Acted) -> ActedNames:
    return ActedNames(tuple(acted.efforts), tuple(acted.wrenches), tuple(acted.rubbing), acted.solved, acted.reactions is not None)

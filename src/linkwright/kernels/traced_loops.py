"""Loops evaluated by straight-line code: the same rows as `Loops.at`, some fifty times faster.

A walk along the loops asks for phi, J, k, b thousands of times. At the first evaluation the rows are traced (tens of
milliseconds), and every evaluation comes from plain Python arithmetic: the same bits whatever was asked before. Mechanisms that differ
in their numbers only share the code of their loops, and the numbers are inputs. Drivers and
targets handed in are traced each by itself, with what their laws say as inputs, so any combination of them uses code made
once. What cannot be traced (a joint of one's own with an `if` on its coordinates), and what is asked of a closure beyond its
arrays, takes the array path; results agree to round-off.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.errors import UsageError
from linkwright.mechanics.constraints import Constraint, DrivenDistance, Driver, PointTarget
from linkwright.mechanics.constraints.loops import Closure, Loops, block_places, closure
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, counted_references, joint_coordinates, motion, relative
from linkwright.mechanics.kinematics.skeleton import like_parts
from linkwright.model.curves.polynomial import Parabola
from linkwright.model.numbers import DesignNumbers
from linkwright.numerics.memory_and_threads import Store, essentials
from linkwright.properties import cached_property

if TYPE_CHECKING:
    from linkwright.compiler.python_text import Straight
    from linkwright.kernels.kernels import Kernels, KernelStructure, StructureCode

Function = Callable[[Any, Any, Any, Any], dict[str, Any]]  # of (q, v, near of the cut joints, numbers)


class Form(NamedTuple):
    """A constraint without its numbers: constraints of one form share their code."""

    key: tuple[Any, ...]
    size: int
    numbers: Callable[[Any], list[Any]]  # at a time
    made: Callable[[Any], Constraint]  # from (traced) numbers
    column: int = -1  # of the velocity that is prescribed, where the row says no more than that
    place: int = -1  # of its coordinate


def form_of(skel: Skeleton, c: Constraint) -> Form | None:
    """The form of a constraint that is handed in; None of any other."""
    if type(c) is Driver:
        node = skel.tree.node_of_joint.get(c.joint.name)
        plain = node is not None and skel.types[node].q_names == skel.types[node].v_names
        n = None if node is None or not plain else skel.tree.nodes[node]
        where = (-1, -1) if n is None else (n.v.start + c.coordinate, n.q.start + c.coordinate)
        key = ("joint", c.joint.name, c.coordinate)
        return Form(key, 3, lambda t: [*c.law(t)], lambda x: replace(c, law=Parabola(*x)), *where)
    if type(c) is DrivenDistance:
        return Form(("distance", c.name, c.between), 3, lambda t: [*c.law(t)], lambda x: replace(c, law=Parabola(*x)))
    if type(c) is PointTarget:
        begin, rate = np.array(c.begin), np.array(c.end) - np.array(c.begin)

        def passing(t: Any) -> list[Any]:
            return [*(begin + t * rate).tolist(), *rate.tolist()]

        return Form(("point", c.ref, c.axes), 6, passing, lambda x: _Passing(c.ref, x[:3], x[:3], c.axes, x[3:]))
    return None


@dataclass(frozen=True)
class _Passing(PointTarget):
    """A point that passes a place at a speed."""

    rate: Any = ()

    def rows(self, skel: Skeleton, m: Any, v: Any, t: Any, references: Any) -> Any:
        return super().rows(skel, m, v, 0.0, references)._replace(b=-np.array(self.rate)[list(self.axes)])


class RowCode(NamedTuple):
    """Code of rows: phi, the entries of J inside its blocks, k, b."""

    code: Straight
    filled: np.ndarray  # places of those entries in the raveled J
    nv: int

    def arrays(self, state: list[Any], is_complex: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """phi, J, k, b at a state."""
        y = self.code.on_complex(state) if is_complex else self.code(state)
        n = (len(y) - len(self.filled)) // 3
        J = np.zeros(n * self.nv, dtype=y.dtype)
        J[self.filled] = y[n : len(y) - 2 * n]
        return y[:n], J.reshape(n, self.nv), y[len(y) - 2 * n : len(y) - n], y[len(y) - n :]


def _filled(c: Closure, nv: int) -> np.ndarray:
    """Places in the raveled J of the entries of all blocks, one block after the other."""
    return np.concatenate([np.zeros(0, dtype=int), *(block_places(c.rows[i], c.columns[j], nv) for i, j in c.blocks)])


class SharedTraces(NamedTuple):
    """Code of the loops of a structure, whose numbers are inputs: for all mechanisms of it."""

    loops: Callable[[Any], Loops]  # for symbols of the numbers
    made: dict[str, tuple[Straight | None, np.ndarray | None]]
    agreed: set[str]  # code that gave the rows it was made from, of joints that are not the user's own


SHARED: Store[str, SharedTraces] = Store()  # of a structure


class SharedNumbers(NamedTuple):
    """Kernels whose numbers are inputs, their loops for symbols of these, and the numbers of one mechanism."""

    owner: Kernels
    loops: Callable[[Any], Loops]
    values: np.ndarray


class StructureOf:
    """The structure that a mechanism belongs to, found when it is asked for; None where code depends on more than its numbers."""

    def __init__(self, loops: Loops, kernels: Callable[[], Kernels], alone: bool, leader: Callable[[], StructureOf | None]):
        """`alone`: the mechanism shares no code, because some of its numbers are free already, or it is computed without machine code;
        `leader`: the structure of the model file's own numbers, on which plans are made if it is the same; None of these themselves."""
        self._loops, self._kernels, self._alone, self._leader = loops, kernels, alone, leader

    @cached_property
    def found(self) -> tuple[StructureCode, DesignNumbers] | None:
        """The structure whose code answers, and the numbers that it is bound to."""
        skel = self._loops.skel
        if self._alone or like_parts(skel) is not None:
            return None  # like subsystems share code among themselves, made sooner than one with the numbers of all as inputs
        from linkwright.kernels.kernels import structure, tree_numbers

        numbers = DesignNumbers.of(skel.tree.description, tree_numbers(self._loops))
        return structure(numbers, skel.tree, self._kernels), numbers

    @cached_property
    def planned(self) -> KernelStructure | None:
        """Its kernels, planned on the model file's own numbers if these have the same structure, else on the numbers of this mechanism."""
        if self.found is None:
            return None
        leader, code = self._leader(), self.found[0]
        if leader is not None and leader.found is not None and leader.found[0].key == code.key:
            planned = leader.planned
            if planned is not None and planned.usable:
                return planned
        return code.planned_on(self.found[1], self._kernels())

    def __call__(self) -> SharedNumbers | None:
        """The numbers as inputs, for loops and channels that are traced for the structure."""
        if self.found is None:
            return None
        kernels, numbers = self.found[0].symbols, self.found[1]
        return SharedNumbers(kernels, kernels.varied_loops, np.append(numbers.values, 1.0 / self._loops.kappa))


@dataclass
class LoopTraces:
    """Code of one skeleton's loops and of what was handed in with them; None where it cannot be made."""

    def __getstate__(self) -> dict[str, Any]:
        """Without code, which is traced again when it is needed."""
        return {**essentials(self), "made": {}, "filled": {}, "structure": None}  # its mechanism gives the structure again

    skel: Skeleton
    base: tuple[Constraint, ...]
    made: dict[Any, Straight | None] = field(default_factory=dict)
    filled: dict[Any, np.ndarray] = field(default_factory=dict)  # places in the raveled J of the entries that code gives
    structure: StructureOf | None = None

    @cached_property
    def _types(self) -> dict[str, Any]:
        every = {name: self.skel.tree.description.joint(name) for name in self.skel.tree.cuts}
        return {name: joints.create(j.type, j.options) for name, j in every.items()}

    def code(self, key: Any, function: Function, numbers: int = 0) -> Straight | None:
        """The code of a function, traced once; None if it cannot be traced."""
        if key not in self.made:
            self.made[key] = self._traced(function, numbers)
        return self.made[key]

    def _traced(self, function: Function, numbers: int) -> Straight | None:
        from linkwright.compiler.graph import trace  # here, because importing it is no part of starting up
        from linkwright.compiler.python_text import Straight

        tree = self.skel.tree
        try:
            return Straight(trace(function, q=tree.nq, v=tree.nv, references=self.skel.cut_size, x=numbers))
        except (UsageError, TypeError):  # a branch on a traced value, or a function of numbers only: rows stay interpreted
            return None

    def rows(self, key: Any, constraints: Callable[[Any], Sequence[Constraint]], numbers: int = 0) -> RowCode | None:
        """The code of some constraints' rows, traced once; None if it cannot be traced."""

        def function(q: Any, v: Any, references: Any, x: Any) -> dict[str, Any]:
            c = closure(self.skel, motion(self.skel, q, v), v, 0.0, constraints=constraints(x), references=self.skel.unpack(q, references))
            self.filled[key] = _filled(c, self.skel.tree.nv)
            blocks = [np.ravel(block) for block in c.blocks.values()]
            return {"phi": c.phi, "J": np.concatenate([np.zeros(0), *blocks]), "k": c.k, "b": c.b}

        code = self.code(key, function, numbers)
        return None if code is None else RowCode(code, self.filled[key], self.skel.tree.nv)

    @cached_property
    def shared(self) -> tuple[SharedTraces, list[float]] | None:
        """Code of the structure, and the numbers of this mechanism."""
        found = None if self.structure is None else self.structure()
        if found is None:
            return None
        known = SHARED.of(found.owner).setdefault("loops", SharedTraces(found.loops, {}, set()))
        return known, found.values.tolist()

    def base_rows(self) -> tuple[RowCode | None, list[float]]:
        """The code of the loops' own rows, and its numbers."""
        if self.shared is not None:
            of, numbers = self.shared
            if "rows" not in of.made:
                of.made["rows"] = self._shared_rows(of, len(numbers))
            code, filled = of.made["rows"]
            if code is not None and filled is not None:
                return RowCode(code, filled, self.skel.tree.nv), numbers
        return self.rows("loops", lambda x: self.base), []

    def _shared_rows(self, of: SharedTraces, numbers: int) -> tuple[Straight | None, np.ndarray | None]:
        places: list[np.ndarray] = []

        def function(q: Any, v: Any, references: Any, x: Any) -> dict[str, Any]:
            loops = of.loops(x)
            skel = loops.skel
            c = closure(skel, motion(skel, q, v), v, 0.0, constraints=loops.constraints, references=skel.unpack(q, references))
            places.append(_filled(c, skel.tree.nv))
            blocks = [np.ravel(block) for block in c.blocks.values()]
            return {"phi": c.phi, "J": np.concatenate([np.zeros(0), *blocks]), "k": c.k, "b": c.b}

        code = self._traced(function, numbers)
        return code, places[0] if places else None

    @property
    def agreed(self) -> bool:
        """True if the code of the loops was compared with the rows it is made from, for this structure."""
        return self.shared is not None and "rows" in self.shared[0].agreed

    def agree(self) -> None:
        """The code of the loops gave the rows it is made from."""
        every = (*self.base, *self.skel.types, *self._types.values())
        if self.shared is not None and all(type(x).__module__.startswith("linkwright.") for x in every):
            self.shared[0].agreed.add("rows")

    def reference_code(self) -> tuple[Straight | None, list[float]]:
        """The code of the cut joints' coordinates, and its numbers."""
        if self.shared is not None:
            of, numbers = self.shared
            if "places" not in of.made:
                of.made["places"] = self._traced(lambda q, v, references, x: _places(of.loops(x).skel, q, references), len(numbers)), None
            if of.made["places"][0] is not None:
                return of.made["places"][0], numbers
        return self.code("places", lambda q, v, references, x: _places(self.skel, q, references)), []

    def counted_references(
        self, code: Straight, numbers: list[float], q: np.ndarray, references: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        """Coordinates of every joint at q by that code."""
        found = code.program.unpack(code([*q.tolist(), *([0.0] * self.skel.tree.nv), *self.skel.pack(references).tolist(), *numbers]))
        out = {n.joint.name: q[n.q] for n in self.skel.tree.nodes}
        for name, jt in self._types.items():
            out[name] = found[name] if name in found else jt.coordinates(found[f"{name} R"], found[f"{name} p"], references[name])
        return out


def _places(skel: Skeleton, q: Any, references: Any) -> dict[str, Any]:
    """Of every cut joint its coordinates, or where those need numbers (quaternions) the relative rotation and place."""
    m, cut = motion(skel, q, np.zeros(skel.tree.nv)), skel.unpack(q, references)
    out = {}
    for name in skel.tree.cuts:
        joint = skel.tree.description.joint(name)
        try:
            out[name] = joint_coordinates(skel, m, joint, cut[name])
        except (UsageError, TypeError):
            r = relative(skel, m, joint)
            out[f"{name} R"], out[f"{name} p"] = r.R, r.p
    return out


class TracedClosure(Closure):
    """A closure of which only the arrays were computed; what else is asked of it is computed then."""

    def __init__(self, interpreted: Callable[[], Closure], rows: tuple[slice, ...], phi: Any, J: Any, k: Any, b: Any):
        vars(self).update(phi=phi, J=J, k=k, b=b, rows=rows, _interpreted=interpreted)

    def __getattr__(self, name: str) -> Any:
        if name not in ("parts", "blocks", "columns", "turns"):
            raise AttributeError(name)
        whole = vars(self)["_interpreted"]()
        vars(self).update({each: getattr(whole, each) for each in ("parts", "blocks", "columns", "turns")})
        return vars(self)[name]

    def __reduce__(self) -> Any:
        return Closure, tuple(getattr(self, f.name) for f in fields(Closure))


class _Evaluator:
    """Rows of one set of constraints: code of the loops, then one prescribed row or code after the other."""

    def __init__(self, traces: LoopTraces, forms: Sequence[Form]):
        self.traces, self.forms = traces, forms
        self.codes: list[RowCode] | None = None  # of the loops, and of every form that has no plain row
        self.numbers: list[float] = []  # of the mechanism, where its loops have the code of a structure
        self.usable = True
        self.laws_now: tuple[Any, list[list[Any]]] = (None, [])  # the laws at one time: a step asks for the same several times

    def prepare(self) -> bool:
        """Trace the rows; True if all of them could be."""
        if self.codes is None:
            t = self.traces
            loops, self.numbers = t.base_rows()
            found = [loops]
            found += [t.rows(f.key, lambda x, f=f: [f.made(x)], f.size) for f in self.forms if f.column < 0]
            self.codes = [code for code in found if code is not None] if None not in found else None
        return self.codes is not None

    def arrays(self, q: Any, v: Any, t: Any, references: Mapping[str, Any], is_complex: bool) -> list[np.ndarray]:
        """phi, J, k, b."""
        assert self.codes is not None
        state, nv, codes = [*q.tolist(), *v.tolist(), *self.traces.skel.pack(references).tolist()], len(v), iter(self.codes)
        parts = [next(codes).arrays([*state, *self.numbers], is_complex)]
        if self.forms and self.laws_now[0] != t:
            self.laws_now = t, [f.numbers(t) for f in self.forms]
        for form, numbers in zip(self.forms, self.laws_now[1], strict=bool(self.forms)):
            if form.column >= 0:
                row = np.zeros((1, nv), dtype=complex if is_complex else float)
                row[0, form.column] = 1.0
                value, speed, acceleration = numbers
                parts.append((np.array([q[form.place] - value]), row, np.array([-acceleration]), np.array([-speed])))
            else:
                parts.append(next(codes).arrays([*state, *numbers], is_complex))
        return list(parts[0]) if len(parts) == 1 else [np.concatenate(x) for x in zip(*parts, strict=True)]


@dataclass(frozen=True)
class TracedLoops(Loops):
    """Loops evaluated by traced code."""

    traces: LoopTraces | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, skel: Skeleton, length: float | None = None) -> TracedLoops:
        own = Loops.of(skel, length)
        return cls(skel, own.constraints, own.kappa, own.columns, traces=LoopTraces(skel, own.constraints))

    @cached_property
    def _rows(self) -> tuple[slice, ...]:
        ends = np.cumsum([0, *(len(c.kinds) for c in self.constraints)])
        return tuple(slice(int(a), int(b)) for a, b in itertools.pairwise(ends))

    @cached_property
    def _evaluator(self) -> _Evaluator | None:
        """None where code cannot serve these constraints."""
        t = self.traces
        if t is None or t.skel is not self.skel or len(self.constraints) < len(t.base) or like_parts(self.skel) is not None:
            return None  # like subsystems are evaluated all at once
        forms = [form_of(self.skel, c) for c in self.constraints[len(t.base) :]]
        if any(a is not b for a, b in zip(t.base, self.constraints, strict=False)) or None in forms:
            return None
        return _Evaluator(t, [f for f in forms if f is not None])

    def interpreted(self, q: Any, v: Any, t: Any, references: Mapping[str, Any], m: Motion | None = None) -> Closure:
        return super().at(q, v, t, references, m)

    def at(self, q: Any, v: Any, t: Any, references: Mapping[str, Any], m: Motion | None = None) -> Closure:
        evaluator = self._evaluator
        kinds = {x.dtype.kind if isinstance(x, np.ndarray) else "" for x in (q, v)}
        if evaluator is None or not evaluator.usable or not kinds <= {"f", "c"}:
            return self.interpreted(q, v, t, references, m)
        fresh = evaluator.codes is None
        if not evaluator.prepare():
            return self.interpreted(q, v, t, references, m)
        try:
            found = evaluator.arrays(q, v, t, references, "c" in kinds or isinstance(t, complex))
        except (ArithmeticError, ValueError):  # infinities are numpy's business
            return self.interpreted(q, v, t, references, m)
        assert self.traces is not None
        if fresh and not (self.traces.agreed and all(f.column >= 0 for f in evaluator.forms)):
            if not _agree(found, self.interpreted(q, v, t, references, m)):
                evaluator.usable = False
                return self.interpreted(q, v, t, references, m)
            self.traces.agree()
        return TracedClosure(lambda: self.interpreted(q, v, t, references, m), self._rows, *found)

    def counted_references(self, q: np.ndarray, references: Mapping[str, Any]) -> dict[str, np.ndarray]:
        t = self.traces
        plain = t is None or t.skel is not self.skel or q.dtype.kind != "f" or like_parts(self.skel) is not None
        code, numbers = (None, []) if t is None or plain else t.reference_code()
        if t is None or code is None:
            return counted_references(self.skel, q, references)
        try:
            return t.counted_references(code, numbers, q, references)
        except (ArithmeticError, ValueError):
            return counted_references(self.skel, q, references)


def _agree(found: Sequence[np.ndarray], interpreted: Closure) -> bool:
    """True if code agrees with what it was made from: a joint of one's own may compute differently on symbols."""
    pairs = zip(found, (interpreted.phi, interpreted.J, interpreted.k, interpreted.b), strict=True)
    agreement = 1e-9  # of traced and interpreted rows against their size: far above round-off, far below any mistake
    return all(np.abs(a - b).max(initial=0.0) <= agreement * (1.0 + np.abs(b).max(initial=0.0)) for a, b in pairs)

"""Designs of one mechanism: values of its parameters in arrays, and what follows from them for all at once.

    d = Designs.of(core, {"L1": [0.28, 0.30], "crank.mass": 0.4})      broadcast against each other
    d.description(i)       the model with the numbers of design i, as `m.with_` gives it
    d.kernels              kernels of the mechanism whose input `parameters` are these numbers

Kernels evaluate expressions of the model file (a mass that follows from a length) themselves, so a design is a row of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError, UsageError, nearest
from linkwright.mechanics.kinematics.skeleton import drawn_coordinates
from linkwright.model import file as modelfile
from linkwright.model.description import Description
from linkwright.model.file.overrides import place_of
from linkwright.model.numbers import DesignNumbers
from linkwright.model.parameters import Parameter, any_drawn, every_parameter, with_values
from linkwright.numerics.memory_and_threads import Store, essentials
from linkwright.numerics.tolerances import ROUND_OFF
from linkwright.properties import cached_property
from linkwright.text.expressions import Expr, free_variables
from linkwright.text.ranges_and_tolerances import Range, Tolerance, Values, meaning

if TYPE_CHECKING:
    from linkwright.compiler.program import Program
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels
    from linkwright.system.compiled import Compiled

PROBES = 6  # designs that are read from the model file again, to see that nothing but numbers changes
DESIGNS_FOR_CODE = 16  # designs for which code is made; fewer are done one by one
Names = tuple[str, ...]  # of the parameters that vary
PARAMETERS: Store[str, Parameter] = Store()  # all of a mechanism, by name
KERNELS: Store[Names, Kernels] = Store()
NATIVE: Store[tuple[Names, Any], Kernel | None] = Store()  # by the parameters and what the kernel is
BEGINS: Store[Names, Program] = Store()  # drawn positions of drives
MASSES: Store[Names, Program] = Store()
SIGNS: Store[tuple[str, float], bool] = Store()  # may a parameter have this sign
ALIKE: Store[Names, tuple[bool, np.ndarray, np.ndarray]] = Store()  # up to which values designs were compared with the model


def kernels_of(core: Compiled, chosen: Sequence[Parameter]) -> Kernels:
    """Kernels of a mechanism with these parameters as inputs; the same ones for all designs and derivatives of the same names."""
    known, key = KERNELS.of(core), tuple(p.name for p in chosen)
    if key not in known:
        known[key] = replace(core.kernels, parameters=tuple(chosen), made={}, variants={})
    return known[key]


@dataclass(frozen=True)
class ClosedDesign:
    """A design that is closed where its motion begins: coordinates, references of cut joints, drives, numbers."""

    q: np.ndarray
    references: np.ndarray
    drive: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Designs:
    """Values (designs, parameters) of chosen parameters; `shape` are the axes that the arrays of the call had."""

    __getstate__ = essentials

    core: Compiled
    chosen: tuple[Parameter, ...]
    shape: tuple[int, ...]
    values: np.ndarray
    base: ClosedDesign | None = None  # from which designs are reached by moving their numbers; None: the model's own

    @classmethod
    def of(cls, core: Compiled, given: Mapping[str, Any]) -> Designs:
        """Check names and numbers; raise UsageError for those that are not usable."""
        if not isinstance(given, Mapping) or not given:
            raise UsageError(
                f"designs are arrays by the names of parameters, such as {{'crank.mass': [0.3, 0.4]}}, not {given!r:.60}.", value=given,
                name="designs",
            )
        known = PARAMETERS.of(core)
        if not known:
            known.update(every_parameter(core.described))
        for name in given:
            if name not in known:
                raise UsageError(f"there is no parameter '{name}'.", nearest(str(name), known, "Known"))
        arrays = {name: _numbers(known[name], x, core.described) for name, x in given.items()}
        try:
            shape = np.broadcast_shapes(*(x.shape for x in arrays.values()))
        except ValueError:
            sizes = ", ".join(f"{name} {x.shape}" for name, x in arrays.items())
            raise UsageError(f"the arrays do not fit each other: {sizes}. Their axes must be equal, 1 or absent.", name="designs") from None
        rows = [np.broadcast_to(x, shape).ravel() for x in arrays.values()]
        return cls(core, tuple(known[name] for name in arrays), shape, np.array(rows).T.copy())

    def __len__(self) -> int:
        return len(self.values)

    def at(self, values: np.ndarray) -> Designs:
        """Other designs (designs, parameters) of the same parameters; what does not depend on values is shared."""
        out = Designs(self.core, self.chosen, (len(values),), values, self.base)
        vars(out).update(key=self.key, _changing=self._changing, drives_change=self.drives_change)
        return out

    def index(self, i: int) -> Any:
        """Return the index of a design in arrays of `shape`: a number where there is one axis."""
        at = tuple(int(k) for k in np.unravel_index(i, self.shape)) if self.shape else ()
        return at[0] if len(at) == 1 else at

    def numbers(self, i: int) -> dict[str, float]:
        """Return the values of a design by name."""
        return {p.name: float(x) for p, x in zip(self.chosen, self.values[i], strict=True)}

    def named(self, i: int) -> dict[str, float]:
        """Return those of them that are parameters of the model file."""
        return {p.name: float(x) for p, x in zip(self.chosen, self.values[i], strict=True) if p.placed is None}

    def description(self, i: int) -> Description:
        """Return the model with the parameters of a design, read again with its parameters; raise ModelError where they are impossible."""
        return modelfile.redesigned(self.core.described, self.chosen, self.values[i])

    # ---------------------------------------------------------------- code

    @cached_property
    def key(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.chosen)

    @property
    def nominal(self) -> np.ndarray:
        """Return the values of the model itself."""
        return np.array([p.value for p in self.chosen])

    @property
    def kernels(self) -> Kernels:
        """Kernels with these numbers as inputs."""
        return kernels_of(self.core, self.chosen)

    def kernel(self, name: str, drives: list[str], *, now: bool = False) -> Any:
        """A kernel in machine code; None where there is none: drives that do not determine the motion, idle links whose axes depend on
        dimensions, or few designs for which it would have to be made first, unless it is wanted `now`."""
        return self.native((name, tuple(drives)), lambda: self.kernels.get(name, drives=drives), now)

    def native(self, key: Any, make: Callable[[], Kernel], now: bool, *, idle: bool = False) -> Any:
        """A kernel of these numbers in machine code, made once; None where there is none, or for few designs. `idle`: links may spin
        in place."""
        if not now and len(self) < DESIGNS_FOR_CODE:
            return None
        store, name = NATIVE.of(self.core), (self.key, key)
        if name not in store:
            try:
                with np.errstate(divide="raise", invalid="raise"):
                    made = make()
                    usable = made.native and (idle or not self.kernels.plan.spinning)
                    store[name] = made if usable and made.code.aosoa_address else None
            except (LinkwrightError, FloatingPointError):
                store[name] = None
        return store[name]

    # ---------------------------------------------------------------- what depends on the numbers

    @cached_property
    def _changing(self) -> frozenset[str]:
        """Parameters of the file whose values differ among the designs."""
        found = {p.name for p in self.chosen if p.placed is None}
        for _ in self.core.described.parameters:
            found |= {name for name, x in self.core.described.parameters if free_variables(x) & found}
        return frozenset(found)

    @cached_property
    def drives_change(self) -> bool:
        """True if laws of drives, or where they start, depend on the numbers."""
        return bool(_names_in((self.core.described.drives, self.core.described.start)) & self._changing)

    @cached_property
    def begins(self) -> np.ndarray | None:
        """Coordinates (designs, drives) in the drawing of the drives that begin there, NaN of the others; None where pins that move none of
        them vary."""
        core = self.core
        given = {name for name, _ in core.described.start}
        drawn = [name for name in core.drive_names if name in core.skel.start_coordinates and name not in given]
        if not any_drawn(self.chosen) or not drawn:
            return None
        from linkwright.compiler.graph import TraceGraph
        from linkwright.compiler.program import interpret

        store, key = BEGINS.of(core), self.key
        if key not in store:
            g = TraceGraph()
            d = with_values(core.described, self.chosen, list(g.input("parameters", len(self.chosen))))
            found = drawn_coordinates(d, [d.joint(name) for name in drawn])
            store[key] = g.program([(name, np.array([x[0]], dtype=object)) for name, x in found.items()])
        out = np.full((len(self), len(core.drive_names)), np.nan)
        with np.errstate(all="ignore"):
            out[:, [core.drive_names.index(name) for name in drawn]] = interpret(store[key], self.values)
        own = np.array([core.skel.start_coordinates[name][0] if name in drawn else np.nan for name in core.drive_names])
        return None if np.nanmax(np.abs(out - own), initial=0.0) < ROUND_OFF else out

    def driven(self, i: int) -> Description:
        """The nominal description with the drives and the start of a design."""
        d = self.core.described
        named = {name: x for name, x in self.named(i).items() if name in dict(d.parameters)}
        small = Description(d.name, (), (), parameters=d.parameters, drives=d.drives, start=d.start).numbers(named)
        return replace(self.core.description, drives=small.drives, start=small.start)

    def possible(self) -> np.ndarray:
        """Mask of the designs whose numbers have the signs of the model's own (or may have others), and whose masses and inertias are not
        negative; the others are read again one by one, which says what is wrong."""
        sign = np.sign(self.nominal)
        signed = np.array([((p.placed is None and not p.drawn) or p.kind in ("mass", "inertia")) for p in self.chosen])
        other = (np.sign(self.values) != sign) & signed
        for k in np.flatnonzero(other.any(axis=0)):
            if self._may_change_sign(int(k), float(self.values[other[:, k], k][0])):
                other[:, k] = False
        return ~other.any(axis=1) & self._masses_possible()

    def _may_change_sign(self, k: int, value: float) -> bool:
        """True if the model can be read with a parameter of another sign, as an offset can: a length cannot."""
        p, d = self.chosen[k], self.core.described
        if p.placed is not None or d.document is None or value == 0.0:
            return False
        key, known = (p.name, float(np.sign(value))), SIGNS.of(self.core)
        if key not in known:
            try:
                modelfile.reread(d, **{p.name: value})
                known[key] = True
            except LinkwrightError:
                known[key] = False
        return known[key]

    def _masses_possible(self) -> np.ndarray:
        from linkwright.compiler.graph import TraceGraph
        from linkwright.compiler.program import interpret

        store, key = MASSES.of(self.core), self.key
        if key not in store:
            g = TraceGraph()
            d = with_values(self.core.described, self.chosen, list(g.input("parameters", len(self.chosen))))
            numbers = [x for b in d.bodies[1:] if b.mass is not None for x in (b.mass, *(b.inertia[i][i] for i in range(3)))]
            store[key] = g.program([("masses", np.array([0.0, *numbers], dtype=object))])
        with np.errstate(all="ignore"):
            found = interpret(store[key], self.values)
        return np.all(found >= 0.0, axis=1)

    def alike(self) -> bool:
        """True if designs differ from the model in their numbers only: nothing is drawn elsewhere that decides where drives begin, no part
        is repeated more often. Looked at on designs with the least and largest value of every parameter."""
        if not self._changing:
            return True
        store, key = ALIKE.of(self.core), self.key
        low, high = self.values.min(axis=0), self.values.max(axis=0)
        seen = store.get(key, (True, np.full(len(low), np.inf), np.full(len(low), -np.inf)))
        if not seen[0] or ((low >= seen[1]) & (high <= seen[2])).all():
            return seen[0]
        ends = {int(x) for k in range(len(low)) for x in (np.argmin(self.values[:, k]), np.argmax(self.values[:, k]))}
        same = all(self._like_the_model(i) for i in sorted(ends)[:PROBES])
        store[key] = (same, np.minimum(low, seen[1]), np.maximum(high, seen[2]))
        return same

    def _like_the_model(self, i: int) -> bool:
        core = self.core
        try:
            there = core.described_by(modelfile.reread(core.described, **self.named(i)) if core.described.document else core.described)
        except LinkwrightError:
            return True  # impossible by itself: `description` says why
        mine, its = DesignNumbers.of(core.described.numbers(self.named(i))), DesignNumbers.of(there.description)
        if _without_floats(mine.structure) != _without_floats(its.structure) or len(mine.values) != len(its.values):
            return False
        if not np.allclose(mine.values, its.values, rtol=ROUND_OFF, atol=0.0):
            return False
        new, given = there.skel.start_coordinates, {name for name, _ in core.described.start}
        here = core.skel.start_coordinates
        begins = [name for name in core.drive_names if name in here and name not in given]
        if any_drawn(self.chosen):
            here = here | drawn_coordinates(mine.description, [mine.description.joint(name) for name in begins])
        elif core.description.ties:  # they count from drawn positions
            begins = list(here)
        return all(np.allclose(here[name], new[name], rtol=0.0, atol=ROUND_OFF) for name in begins)


def _numbers(p: Parameter, given: Any, described: Description) -> np.ndarray:
    """Values of a parameter in SI: arrays as they are, ranges and texts as in `lw.study`."""
    name, texts = p.name, isinstance(given, list) and any(isinstance(x, str) for x in given)
    if texts or isinstance(given, (str, tuple, Mapping, Range, Tolerance, Values)):
        return np.array(place_of(described, p).values(meaning(given, name)))
    try:
        if np.iscomplexobj(given):
            raise TypeError
        x = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"'{name}' must be numbers in SI units, one for each design, not {given!r:.60}.", name=name, value=given) from None
    if not x.size:
        raise UsageError(f"'{name}' has no values: give one for each design.", name=name)
    if not np.isfinite(x).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(x))[0])
        raise UsageError(f"'{name}' is not a finite number in design {where[0] if len(where) == 1 else where}.", name=name)
    return x


def _names_in(value: Any) -> frozenset[str]:
    """Variables of all expressions in a part of a description."""
    if isinstance(value, Expr):
        return free_variables(value)
    parts: Any = ()
    if isinstance(value, tuple):
        parts = value
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, f.name) for f in fields(value) if f.compare]
    return frozenset().union(*(_names_in(x) for x in parts))


def _without_floats(value: Any) -> Any:
    """A structure whose numbers are rounded: rotations of frames are part of it."""
    if isinstance(value, float):
        return round(value, 12)
    if isinstance(value, tuple):
        return tuple(_without_floats(x) for x in value)
    return value

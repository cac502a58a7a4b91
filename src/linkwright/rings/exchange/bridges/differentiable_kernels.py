"""A kernel as libraries of automatic differentiation call it: inputs in order, outputs, and the kernels of its derivatives.

Positions are differentiated entry by entry, the four of a quaternion included, because that is how these libraries see q. A kernel takes a
quaternion as it is, so its derivatives along a change of length mean nothing for the mechanism; those along its motions are exact.

A flat program can also run on the numbers of another library, operation by operation. Every order of derivatives is then the library's.
"""

from __future__ import annotations

import operator
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from linkwright.api import UsageError, kernel_sets, nearest, programs
from linkwright.kernels.implicit import COORDINATES, MEASURES
from linkwright.kernels.kernel import POOLED_STATES, Kernel
from linkwright.kernels.tracing import FOLLOWING, KERNELS
from linkwright.properties import cached_property

_PLAIN: dict[int, Callable[..., Any]] = {
    programs.Op.ADD: operator.add,
    programs.Op.SUB: operator.sub,
    programs.Op.MUL: operator.mul,
    programs.Op.DIV: operator.truediv,
    programs.Op.NEG: operator.neg,
}
NAMES = {
    programs.Op.SQRT: "sqrt",
    programs.Op.ABS: "abs",
    programs.Op.SIN: "sin",
    programs.Op.COS: "cos",
    programs.Op.EXP: "exp",
    programs.Op.LOG: "log",
    programs.Op.TANH: "tanh",
    programs.Op.ATAN2: "atan2",
    programs.Op.POW: "pow",
    programs.Op.ROUND: "round",
    programs.Op.MIN: "min",
    programs.Op.MAX: "max",
    programs.Op.LT: "lt",
    programs.Op.LE: "le",
    programs.Op.SELECT: "select",
}


def evaluate(
    program: programs.Program, x: Sequence[Any], functions: Mapping[str, Callable[..., Any]], number: Callable[[float], Any]
) -> list[Any]:
    """Return the results on numbers x of the packed inputs. `functions` by the names in `NAMES`; comparisons give
    1.0 or 0.0, `select` takes its second argument where the first is not 0; `number` makes a constant."""
    table = {**_PLAIN, **{op: functions[name] for op, name in NAMES.items()}}
    values: list[Any] = []
    for op, a, b, c in program.ops:
        if op == programs.Op.CONST:
            values.append(number(float(a)))
        elif op == programs.Op.INPUT:
            values.append(x[a])
        elif op == programs.Op.SELECT:
            values.append(table[op](values[a], values[b], values[c]))
        else:
            values.append(table[op](values[a]) if b < 0 else table[op](values[a], values[b]))
    return [values[r] for r in program.results]


HELD = ("near",)  # inputs without derivatives: whole turns are counted from them
OPTIONS = ("drives", "tasks", "formulation")
INTERNAL = tuple(name for name, x in KERNELS.items() if x.packed) + FOLLOWING  # of time steppers and of cycles: not offered


@dataclass(frozen=True, eq=False)
class KernelCall:
    """A kernel with its derivatives. `measures`: with the outputs that say how good others are, which have no derivatives."""

    kernels: kernel_sets.Kernels
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)  # drives, tasks, formulation
    measures: bool = False

    def __post_init__(self) -> None:
        for key in self.options:
            if key not in OPTIONS:
                raise UsageError(f"functions have no option '{key}'.", nearest(str(key), OPTIONS, "Options"))
        known = [name for name in KERNELS if name not in INTERNAL]
        if self.name not in known:
            raise UsageError(f"there is no function '{self.name}'.", nearest(self.name, known, "Functions"))

    @cached_property
    def kernel(self) -> Kernel:
        return self.kernels.get(self.name, **self.options)

    @property
    def inputs(self) -> tuple[programs.Block, ...]:
        return self.kernel.inputs

    @cached_property
    def outputs(self) -> tuple[programs.Block, ...]:
        return tuple(b for b in self.kernel.outputs if self.measures or b.name not in MEASURES)

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """Names of the inputs it is differentiated by."""
        return tuple(b.name for b in self.inputs if b.name not in HELD)

    @cached_property
    def Result(self) -> Any:
        """The named tuple its functions return."""
        return _result_class(self.name, tuple(b.name for b in self.outputs))

    def derivative(self, by: Sequence[str]) -> Kernel:
        """Return the kernel that also gives the derivatives of the outputs, a matrix for each of the inputs `by`."""
        return self.kernels.get(self.name, **self.options, by=tuple(column(name) for name in by))

    def gradient(self, by: Sequence[str], outputs: Sequence[str]) -> Kernel:
        """Return the kernel of the gradient of a weighted sum of `outputs`, in reverse mode."""
        return self.kernels.get(self.name, **self.options, by=tuple(column(name) for name in by), outputs=tuple(outputs))

    def has_derivative(self, output: str) -> bool:
        return output not in MEASURES

    @cached_property
    def program(self) -> programs.Program:
        """The flat program of the outputs that are returned."""
        whole = self.kernel.program
        places = {b.name: b for b in whole.outputs}
        spans = [places[b.name] for b in self.outputs]
        starts = np.cumsum([0, *(b.size for b in spans)])
        blocks = tuple(programs.Block(b.name, b.shape, int(at)) for b, at in zip(spans, starts, strict=False))
        return programs.pruned(list(whole.ops), [r for b in spans for r in whole.results[b.span]], whole.inputs, blocks)

    # ---------------------------------------------------------------- arguments

    def arguments(self, given: Sequence[Any], more: Mapping[str, Any], stack: Any) -> list[Any]:
        """Return all inputs in order, defaults filled in. `stack` makes an array of numbers given by name."""
        needed = [b.name for b in self.inputs if b.name not in self.kernels.defaults]
        if len(given) > len(needed):
            raise UsageError(f"'{self.name}' takes {', '.join(needed)}; {len(given)} arrays were given.", name=self.name)
        optional = list(self.kernels.defaults)
        for key in more:
            if key not in [*needed, *optional]:
                raise UsageError(f"'{self.name}' has no input '{key}'.", nearest(str(key), [*needed, *optional], "Inputs"))
        if more.get("parameters") is not None and not self.kernels.parameters:
            raise UsageError("no parameter is an input: name some, for example s.jax(parameters=['L1', 'crank.mass']).", name="parameters")
        values = {**self.kernels.defaults, **{k: x for k, x in more.items() if x is not None}, **dict(zip(needed, given, strict=False))}
        missing = [name for name in needed if name not in values]
        if missing:
            raise UsageError(f"'{self.name}' takes {', '.join(needed)}. {', '.join(missing)} is missing.", name=self.name)
        return [self._by_name(b, values[b.name], stack) for b in self.inputs]

    def _by_name(self, b: programs.Block, value: Any, stack: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        names = list(self.kernels.entries.get(b.name, ()))
        for key in value:
            if key not in names:
                raise UsageError(f"'{key}' is not an entry of '{b.name}'.", nearest(str(key), names, "Entries"))
        base = self.kernels.defaults.get(b.name, np.zeros(b.size))
        return stack([value.get(name, base[i]) for i, name in enumerate(names)])

    def leading(self, b: programs.Block, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the leading axes of an array for an input; raise UsageError unless the others are those of the input. A single number may
        be a scalar."""
        own = tuple(shape) or b.shape[:1]
        if (not shape and b.shape != (1,)) or len(own) < len(b.shape) or own[len(own) - len(b.shape) :] != b.shape:
            names = self.kernels.entries.get(b.name, ())
            order = f": {', '.join(names)}" if len(names) == b.size else ""
            raise UsageError(f"input '{b.name}' of '{self.name}' has shape {tuple(shape)}. It needs (..., {b.size}){order}.", name=b.name)
        return own[: len(own) - len(b.shape)]

    def common(self, leads: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """Return the leading axes all inputs broadcast to."""
        if len(set(leads)) == 1:
            return leads[0]
        try:
            return np.broadcast_shapes(*leads)
        except ValueError:
            listed = ", ".join(f"{b.name} {n}" for b, n in zip(self.inputs, leads, strict=True))
            raise UsageError(f"the leading axes of the inputs do not fit each other: {listed}. They must be equal, 1 or absent.") from None


@cache
def _result_class(name: str, fields: tuple[str, ...]) -> Any:
    return namedtuple(f"{name.title().replace('_', '')}Result", fields)


def column(name: str) -> str:
    """Name of an input as kernels are differentiated by it."""
    return COORDINATES if name == "q" else name


def on_host(kernel: Kernel, names: Sequence[str], arrays: Sequence[np.ndarray], cores: int | None = None) -> list[np.ndarray]:
    """Return all outputs of a kernel on arrays in the order of `names`, with the rank-revealing path where it fails."""
    given = dict(zip(names, arrays, strict=True))
    if len(given) == len(kernel.inputs) and arrays[0].ndim <= 2 and arrays[0].size <= POOLED_STATES * arrays[0].shape[-1]:
        ordered = [given[b.name] for b in kernel.inputs]
        if not kernel.reads & set(kernel._defaults):
            return list(kernel(*ordered))  # memory is at hand
    return list(kernel.batch((), {k: x for k, x in given.items() if k in kernel.reads}, cores))


def lead_of(b: programs.Block, x: Any) -> tuple[int, ...]:
    """Leading axes of an array for a block."""
    return tuple(x.shape[: x.ndim - len(b.shape)])

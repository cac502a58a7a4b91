"""Native versions of plain-loop functions, without a compiler on the user's machine and without Numba.

`native(f, example)` turns a function of the subset in `native_loop_text`, and every function it calls, into machine code for
arguments like the example; the Python function stays as it is and is the reference. Generated kernels enter by address:

    int64 kernel(const double* x, double* y, double* w)        inputs, outputs, workspace; returns a status word

and `evaluate` is the one call that differs: the kernel is an address in native code, any callable in Python. Machine
code is stored in the same cache as the kernels'; the interpreter's lock is released while it runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from linkwright.compiler import cache as target
from linkwright.compiler import native as machine_code
from linkwright.compiler.loop_code import LoopCode, lock
from linkwright.compiler.records import LoopError

WRITERS = ("native_loop_text", "native_loops", "loop_code")  # modules whose text decides the code

_compiled: dict[Any, NativeFunction] = {}


def evaluate(kernel: Any, data: np.ndarray, x: int, y: int, w: int, *blocks: int) -> int:
    """Run a kernel with inputs, outputs and workspace from places x, y, w of `data` on; returns its status word.

    Code for blocks of eight states (`NativeCode.aosoa_address`) also takes the number of blocks.
    """
    return kernel(data[x:], data[y:], data[w:], *blocks)


def available() -> bool:
    """True if loops can be native here."""
    return machine_code.available()


def native(function: FunctionType, example: tuple[Any, ...]) -> NativeFunction:
    """The same function as machine code, for arguments of the kinds of the example; compiled once, then from the cache."""
    kinds = tuple(kind_of(a) for a in example)
    with lock:
        if (function, kinds) not in _compiled:
            _compiled[function, kinds] = NativeFunction(function, list(kinds))
        return _compiled[function, kinds]


class NativeFunction:
    """Machine code of a function with its calling sequence."""

    def __init__(self, function: FunctionType, kinds: list[Kind]):
        self.kinds = kinds

        def supply() -> tuple[str, dict[str, Any]]:
            from linkwright.compiler.native_loop_text import module_text  # here, so that code from the cache is loaded without it

            text = module_text(function, kinds, evaluate)
            returns = next((r for r in ("i64", "double") if f"  store {r} %" in text.rsplit("define void @loop", 1)[1]), "")
            return text, {"returns": returns}

        parts = ["loop", function.__qualname__, repr(kinds), digest(function)]
        self.code = LoopCode(function.__name__, parts, supply, at_once=False)
        self.returns: str = self.code.meta["returns"]

    def call(self, address: int) -> None:
        self.code.call(address)

    def __call__(self, *arguments: Any) -> Any:
        return self.bound(*arguments)()

    def bound(self, *arguments: Any) -> Callable[..., Any]:
        """A call with these first arguments prepared, which takes the others: numbers as they are now, arrays with whatever they hold when
        it is made."""
        values: list[int] = []
        for kind, argument in zip(self.kinds[: len(arguments)], arguments, strict=True):
            packed(kind, argument, values)
        later = self.kinds[len(arguments) :]
        if later:
            known = np.array(values, dtype=np.int64)

            def finish(*others: Any) -> Any:
                more: list[int] = []
                for kind, argument in zip(later, others, strict=True):
                    packed(kind, argument, more)
                return self._run(np.concatenate([known, [*more, 0]]))()

            return finish
        return self._run(np.array([*values, 0], dtype=np.int64), arguments)

    def _run(self, table: np.ndarray, alive: Any = None) -> Callable[[], Any]:
        """A call with the table of its arguments, which ends with the result."""
        result = table[-1:].view(np.float64) if self.returns == FLOAT else table[-1:]
        address, returns = table.ctypes.data, self.returns

        def run(_alive: Any = (alive, table)) -> Any:
            self.call(address)
            return result.item() if returns else None

        return run


def reachable(function: Callable[..., Any]) -> Iterator[Any]:
    """The function and every function of this package it calls, directly or not."""
    waiting: list[Any] = [function]
    seen = {function}
    while waiting:
        f = waiting.pop()
        yield f
        for name in f.__code__.co_names:
            used = f.__globals__.get(name)
            if isinstance(used, FunctionType) and used not in seen and used is not evaluate:
                seen.add(used)
                waiting.append(used)


def digest(function: Callable[..., Any]) -> str:
    """Of everything the code depends on: the functions, the constants they name, and the writer of the text."""
    out = hashlib.sha256()
    for f in reachable(function):
        code = f.__code__
        numbers = [(n, f.__globals__[n]) for n in code.co_names if isinstance(f.__globals__.get(n), (int, float))]
        out.update(repr((f.__qualname__, code.co_code, code.co_consts, code.co_names, code.co_varnames, numbers)).encode())
    for module in WRITERS:
        try:
            out.update(Path(__file__).with_name(f"{module}.py").read_bytes())
        except OSError:
            out.update(str(target.VERSION).encode())
    return out.hexdigest()


# ----------------------------------------------------------------------------------------------------
# Kinds of values in native loops: whole numbers, floats, truth values, arrays, and named tuples of these as arguments

INT, FLOAT, BOOL = "i64", "double", "i1"  # as LLVM names them


@dataclass(frozen=True)
class Array:
    element: str
    axes: int

    @property
    def slots(self) -> int:
        return 1 + self.axes


@dataclass(frozen=True)
class Fields:
    """A named tuple; as a value it is the address of its fields."""

    names: tuple[str, ...]
    kinds: tuple[Any, ...]

    @property
    def slots(self) -> int:
        return sum(slots(k) for k in self.kinds)

    @cached_property
    def whole(self) -> bool:
        """True if all fields are whole numbers, as in the plan of a run, which has about a hundred."""
        return all(k == INT for k in self.kinds)

    def place(self, name: str) -> int:
        return sum(slots(k) for k in self.kinds[: self.names.index(name)])


Kind = str | Array | Fields
ARRAYS = {(np.dtype(kind), axes): Array(name, axes) for kind, name in ((np.float64, FLOAT), (np.int64, INT)) for axes in (1, 2)}


@dataclass(frozen=True)
class Value:
    """A value while text is written: the name of a number, or of the address of an array or a tuple."""

    kind: Kind
    text: str
    axes: tuple[str, ...] = ()  # lengths of an array


def slots(kind: Kind) -> int:
    """Number of 8-byte fields of an argument: an array its address and its lengths."""
    return 1 if isinstance(kind, str) else kind.slots


def kind_of(example: Any) -> Kind:
    """The kind of arguments like this one."""
    if isinstance(example, np.ndarray):
        found = ARRAYS.get((example.dtype, example.ndim))
        if found is not None:
            return found
    names: tuple[str, ...] | None = getattr(example, "_fields", None)
    if isinstance(example, tuple) and names is not None:
        if set(map(type, example)) == {int}:
            return _whole_fields(tuple(names))
        return Fields(tuple(names), tuple(kind_of(x) for x in example))
    if isinstance(example, (int, np.integer)):
        return INT
    if isinstance(example, (float, np.floating)):
        return FLOAT
    raise LoopError(f"native loops take numbers, arrays of numbers and named tuples of these, not {type(example).__name__}.")


@cache
def _whole_fields(names: tuple[str, ...]) -> Fields:
    """The kind of a named tuple of whole numbers, made once."""
    return Fields(names, (INT,) * len(names))


def packed(kind: Kind, argument: Any, into: list[int]) -> None:
    """The 8-byte fields of an argument; arrays must have the kind they were compiled for and lie in one piece."""
    if isinstance(kind, Fields) and kind.whole and len(argument) == len(kind.kinds):
        into.extend(map(int, argument))
    elif isinstance(kind, Fields):
        for part, value in zip(kind.kinds, argument, strict=True):
            packed(part, value, into)
    elif isinstance(kind, Array):
        if kind_of(argument) != kind or not argument.flags.c_contiguous:
            raise LoopError("an array has not the kind this loop was compiled for, or is a view with gaps.")
        into += [argument.ctypes.data, *argument.shape]
    elif kind == FLOAT:
        into.append(int(np.float64(argument).view(np.int64)))
    else:
        into.append(int(argument))

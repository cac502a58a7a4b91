"""Native versions of plain-loop functions, without a compiler on the user's machine and without Numba.

`native(f, example)` turns a function of the subset in `native_loop_text`, and every function it calls, into machine code for
arguments like the example; the Python function stays as it is and is the reference. Generated kernels enter by address:

    int64 kernel(const double* x, double* y, double* w)        inputs, outputs, workspace; returns a status word

and `evaluate` is the one call that differs: the kernel is an address in native code, any callable in Python. Machine
code is stored in the same cache as the kernels'; the interpreter's lock is released while it runs.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from linkwright.compiler import cache as disk
from linkwright.compiler import cache as target
from linkwright.compiler import native as machine_code
from linkwright.errors import LinkwrightError

GOOD, FIRST = "good", "first"
LONG_ENOUGH = 0.5  # seconds in code without passes: about what making good code takes
FEW_INSTRUCTIONS = 25  # of a function that is copied to where it is called
WRITERS = ("native_loop_text", "native_loops")  # modules whose text decides the code
announce: list[Callable[[str], None]] = []  # called with a line of text before work that is done once per machine

_compiled: dict[Any, NativeFunction] = {}
_lock = threading.RLock()


def evaluate(kernel: Any, data: np.ndarray, x: int, y: int, w: int, *blocks: int) -> int:
    """Run a kernel with inputs, outputs and workspace from places x, y, w of `data` on; returns its status word.

    Code for blocks of eight states (`NativeCode.aosoa_address`) also takes the number of blocks.
    """
    return kernel(data[x:], data[y:], data[w:], *blocks)


def available() -> bool:
    """True if loops can be native here."""
    return machine_code.available()


def native(function: FunctionType, example: tuple[Any, ...], lanes: bool = False) -> NativeFunction:
    """The same function as machine code, for arguments of the kinds of the example; compiled once, then from the cache.

    `lanes`: its loops run over lanes of states and are worth the vectorizer, which takes most of the time of compiling.
    """
    kinds = tuple(kind_of(a) for a in example)
    with _lock:
        if (function, kinds) not in _compiled:
            _compiled[function, kinds] = NativeFunction(function, list(kinds), lanes)
        return _compiled[function, kinds]


class NativeFunction:
    """Machine code of a function with its calling sequence.

    Good code of a time loop takes most of a second to make. So where none is in the cache, code is first made without any passes, which
    takes a tenth and runs half as fast to the same bits; the good one replaces it when it has run for about as long as making that
    takes. Loops over lanes, whose single calls may last long, are made well at once.
    """

    def __init__(self, function: FunctionType, kinds: list[Kind], lanes: bool = False):
        self.kinds, self._function, self._lanes, self._spent = kinds, function, lanes, 0.0
        parts = ["loop", function.__qualname__, repr(kinds), lanes, digest(function)]
        self._names = {GOOD: disk.key(parts), FIRST: disk.key([*parts, "without passes"])}
        self._loaded: list[machine_code.Loaded] = []  # the first code may be running while the good one replaces it
        good = disk.get(self._names[GOOD])
        first = None if good is not None or lanes else disk.get(self._names[FIRST])
        found = good or first
        code, self.returns = (found[1], found[0]["returns"]) if found is not None else self._made(GOOD if lanes else FIRST)
        self.call: Callable[[int], None] = self._entry(code)
        if good is None and not lanes:
            self._quick, self.call = self.call, self._counted

    def _entry(self, code: bytes) -> Callable[[int], None]:
        self._loaded.append(machine_code.Loaded(code))
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._loaded[-1].address("loop"))

    def _counted(self, address: int) -> None:
        """Run the first code; make the good one when that has taken long enough."""
        start = time.perf_counter()
        self._quick(address)
        self._spent += time.perf_counter() - start
        if self._spent > LONG_ENOUGH:
            with _lock:
                if len(self._loaded) == 1:
                    self.call = self._entry(self._made(GOOD)[0])

    def _made(self, how: str) -> tuple[bytes, str]:
        """Object bytes and the kind returned."""
        for notify in announce:
            notify(f"compiling native loop '{self._function.__name__}' (once)")
        from linkwright.compiler.native_loop_text import module_text  # here, so that code from the cache is loaded without it

        text = module_text(self._function, self.kinds, evaluate)
        returns = next((r for r in ("i64", "double") if f"  store {r} %" in text.rsplit("define void @loop", 1)[1]), "")
        code = _optimized(text, self._lanes) if how == GOOD else _plain(text)
        disk.put(self._names[how], {"returns": returns}, code)
        return code, returns

    def __call__(self, *arguments: Any) -> Any:
        return self.bound(*arguments)()

    def of_slots(self, slots: list[int]) -> None:
        """Run it with the 8-byte fields of its arguments, which the caller has put together and keeps alive; the result is left."""
        table = np.array([*slots, 0], dtype=np.int64)
        self.call(table.ctypes.data)

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


def _plain(text: str) -> bytes:
    """Object bytes without any passes."""
    host = target.host()
    return target.machine(host, 0).emit_object(target.binding().parse_assembly(f'target triple = "{host.triple}"\n{text}'))


def _optimized(text: str, lanes: bool) -> bytes:
    """Object bytes; LLVM's standard passes, but without permission to change any rounding.

    Loops that call kernels spend their time there: light passes give the same bits at the same speed in a quarter of the time.
    """
    b, host = target.binding(), target.host()
    module = b.parse_assembly(f'target triple = "{host.triple}"\n{text}')
    machine = target.machine(host, 2 if lanes else 1)
    options = b.create_pipeline_tuning_options(speed_level=2 if lanes else 1)
    options.loop_vectorization = lanes
    if not lanes:
        options.loop_unrolling = options.slp_vectorization = False
        options.inlining_threshold = FEW_INSTRUCTIONS
    builder = b.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


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


class LoopError(LinkwrightError):
    """A function uses something outside the subset that can be made native."""


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

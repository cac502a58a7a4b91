"""Loops on records as machine code, for one item after the other or eight at a time, and as plain Python, the reference.

    loop = Loop(walk, layout)                  walk(w: Walk, laws: Rows, t: Column, rows: Rows, n: int) -> int
    reached = loop(items, laws, t, rows, n)    of every item what the function returns

An item is one call of the function: a motion, or a design of many. Items share the memory of their thread, so an item writes what it reads;
what is the same for all items is put there once by `Loop.fill`. Outside arrays have an axis of items in front, or none where all share
them; any strides will do. With a layout of eight lanes each item gets the bits that it gets alone.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from linkwright.compiler import cache, native
from linkwright.compiler import cache as disk
from linkwright.compiler import cache as target
from linkwright.compiler import native as machine_code
from linkwright.compiler.loop_tree import NUMBERS, signature_of
from linkwright.compiler.records import ALL_LANES, Layout, LoopError, declaration, is_array, is_record, name_of

WRITERS = ("records", "loop_tree", "loop_lanes", "loop_llvm", "loop_entry", "record_loops")  # their text decides the code

_codes: dict[Any, LoopCode] = {}


def padded(n: int) -> int:
    """Return the next multiple of eight."""
    return -(-n // ALL_LANES) * ALL_LANES


def code_of(function: Any, lanes: bool, sliced: bool = False) -> LoopCode:
    """Return the machine code of a loop: of this process, from the cache, or made now. `sliced`: its calls are short, also with lanes."""
    with lock:
        if (function, lanes) not in _codes:

            def text() -> tuple[str, dict[str, Any]]:
                from linkwright.compiler import loop_llvm, loop_tree  # here, so that code from the cache is loaded without them

                return loop_llvm.module(loop_tree.Unit(function, lanes)), {}

            parts = ["record loop", function.__qualname__, lanes, digest(function)]
            _codes[function, lanes] = LoopCode(function.__qualname__, parts, text, at_once=lanes and not sliced)
        return _codes[function, lanes]


def digest(function: Any) -> str:
    """Return a digest of everything the code depends on: functions, their annotations, records, constants, and the writers of the text."""
    out = hashlib.sha256()
    waiting: list[Any] = [function]
    seen = {function}
    while waiting:
        f = waiting.pop()
        code = f.__code__
        used = {n: f.__globals__[n] for n in code.co_names if n in f.__globals__}
        numbers = [(n, x) for n, x in used.items() if isinstance(x, (int, float))]
        arguments, returns = signature_of(f)
        kinds = [[name, declaration(kind) if is_record(kind) else name_of(kind)] for name, kind in arguments]
        out.update(repr((f.__qualname__, code.co_code, code.co_consts, code.co_names, code.co_varnames, numbers, kinds, returns)).encode())
        for g in used.values():
            if isinstance(g, FunctionType) and g not in seen and g.__module__ != "linkwright.compiler.records":
                seen.add(g)
                waiting.append(g)
    out.update(_writers().encode())
    return out.hexdigest()


def _writers() -> str:
    text = hashlib.sha256()
    try:
        for module in WRITERS:
            text.update(Path(__file__).with_name(f"{module}.py").read_bytes())
    except OSError:
        return str(cache.VERSION)
    return text.hexdigest()


class Loop:
    """A loop on the record of a layout. Its code is made at the first call; without llvmlite it runs as Python."""

    def __init__(self, function: Any, layout: Layout, *, sliced: bool = False):
        self.function, self.layout, self.sliced = function, layout, sliced
        arguments, self.returns = signature_of(function)
        if not arguments or arguments[0][1] is not layout.record or any(is_record(kind) for _, kind in arguments[1:]):
            raise LoopError(f"{function.__name__} needs the record {layout.record.__name__} as its first argument, and no other one.")
        self.kinds = [kind for _, kind in arguments[1:]]
        self.slots = np.array(layout.slots, dtype=np.int64)
        self._idle: list[tuple[np.ndarray, int]] = []
        self._filled: dict[str, np.ndarray] = {}
        self._attached: dict[str, np.ndarray] = {}

    def fill(self, path: str, values: Any) -> None:
        """Put values that are the same for all items into an array of the record: tables, constants."""
        values = np.asarray(values)
        if values.size:
            self._filled[path] = values
        self._idle.clear()

    def attach(self, path: str, array: np.ndarray) -> None:
        """Say which array a `Column` or `Rows` of the record is."""
        at, kind = self.layout.outside[path]
        address, *strides, _, _ = _outside(kind, array, 0)
        self.slots[at : at + 1 + kind.axes] = address, *strides
        self._attached[path] = array

    def record(self, memory: tuple[np.ndarray, int], lane: int = 0) -> Any:
        """Return the record in a memory as Python sees it, of a lane."""
        return self.layout.object(memory[0], self._attached, lane)

    def memory(self) -> tuple[np.ndarray, int]:
        """Return floats for the record and their address."""
        floats, address = native.aligned(self.layout.size)
        for path, values in self._filled.items():
            view = self.layout.view(floats, path)
            own = self.layout.lanes > 1 and self.layout.arrays[path][2].own
            view[...] = values[..., None] if own else values
        return floats, address

    def __call__(self, items: int | tuple[int, int], *arguments: Any, expected_ns: float = 0.0, cores: int | None = None) -> np.ndarray:
        """Run the loop for so many items, on several cores where `expected_ns` for all of them says that it pays.

        Items in groups, (groups, items of each), are never in one block of lanes with those of other groups. Outside arrays then have both
        axes in front, of length 1 where all groups or all items share them.
        """
        out, slots = np.zeros(items, dtype=np.int64), self.argument_slots(items, arguments)
        call, at = code_of(self.function, self.layout.lanes > 1, self.sliced), out.ctypes.data
        each = 0 if isinstance(items, int) else items[1]

        def run(first: int, count: int) -> None:
            try:
                memory = self._idle.pop()  # not asked first: another thread may take the last one in between
            except IndexError:
                memory = self.memory()
            span = (0, each, first, count) if each else (first, count, 0, 1)
            table = np.array([*span, at, each, self.slots.ctypes.data, memory[1], *slots], dtype=np.int64)
            call.call(table.ctypes.data)
            self._idle.append(memory)

        native.share(run, len(out), expected_ns, cores)
        return self.results(out)

    def bound(self, items: int, *arguments: Any, native: bool = True) -> Bound:
        """Return a call with these arguments, one thread and one memory: arrays with whatever they hold when it is made.

        With `native=False` the loop runs as Python, without warnings of numpy: as in machine code, a number that overflows is found by
        looking at it.
        """
        return Bound(self, items, arguments) if native else PythonBound(self, items, arguments)

    def results(self, out: np.ndarray) -> np.ndarray:
        """Return the slots that the loop wrote as what its function returns."""
        return out.view(np.float64) if self.returns is float else out

    def argument_slots(self, items: int | tuple[int, int], arguments: tuple[Any, ...]) -> list[int]:
        """Return the slots of the arguments behind the record."""
        if len(arguments) != len(self.kinds):
            raise LoopError(f"{self.function.__name__} takes {len(self.kinds)} arguments after its record, not {len(arguments)}.")
        slots: list[int] = []
        for kind, x in zip(self.kinds, arguments, strict=True):
            if is_array(kind):
                slots += _outside(kind, x, items)
            elif kind in NUMBERS:
                slots.append(int(np.float64(x).view(np.int64)) if kind is float else int(x))
        return slots

    def python(self, items: int | tuple[int, int], *arguments: Any) -> np.ndarray:
        """Run the loop as plain Python, item after item: the reference."""
        shape = (items,) if isinstance(items, int) else items
        out = np.empty(shape, dtype=self.returns or object)
        for item in np.ndindex(*shape):
            record = self.record(self.memory())
            given = [self._given(kind, x, item) for kind, x in zip(self.kinds, arguments, strict=True)]
            out[item] = self.function(record, *given)
        return out

    @staticmethod
    def _given(kind: Any, x: Any, item: tuple[int, ...]) -> Any:
        """An argument for an item."""
        if not is_array(kind) or x.ndim == kind.axes:
            return x
        return x[tuple(0 if n == 1 else k for k, n in zip(item, x.shape, strict=False))]


class Bound:
    """A call of a loop with its arguments, one thread and one memory, which stays from call to call."""

    def __init__(self, loop: Loop, items: int, arguments: tuple[Any, ...]):
        self.loop, self.arguments, self.memory = loop, list(arguments), loop.memory()
        self.out = np.zeros(items, dtype=np.int64)
        self.results = loop.results(self.out)
        head = [0, items, 0, 1, self.out.ctypes.data, 0, loop.slots.ctypes.data, self.memory[1]]
        self.table = np.array([*head, *loop.argument_slots(items, arguments)], dtype=np.int64)
        self._reals, self._span = self.table.view(np.float64), (0, items)
        self._address, self._code = self.table.ctypes.data, code_of(loop.function, loop.layout.lanes > 1, loop.sliced)
        at = len(head)
        self._numbers: dict[int, tuple[int, Any]] = {}
        for k, kind in enumerate(loop.kinds):
            self._numbers[k] = at, kind
            at += 2 + kind.axes + 1 if is_array(kind) else 1

    def record(self, lane: int = 0) -> Any:
        """Return the record as Python sees it, of a lane."""
        return self.loop.record(self.memory, lane)

    def get(self, path: str, lane: int = 0) -> Any:
        """Return a number of the record."""
        return self.loop.layout.get(self.memory[0], path, lane)

    def put(self, path: str, value: float) -> None:
        """Set a number of the record, in all lanes."""
        self.loop.layout.put(self.memory[0], path, value)

    def number(self, argument: int, value: Any) -> None:
        """Give another value to an argument that is a number, counted from the one after the record."""
        at, kind = self._numbers[argument]
        (self._reals if kind is float else self.table)[at] = value

    def __call__(self, first: int = 0, count: int | None = None) -> np.ndarray:
        """Run it for all items, or for some; the results of all."""
        if count is not None and self._span != (first, count):
            self.table[:2] = self._span = (first, count)
        self._code.call(self._address)
        return self.results


class PythonBound(Bound):
    """The same for a loop that runs as Python."""

    def __init__(self, loop: Loop, items: int, arguments: tuple[Any, ...]):
        self.loop, self.arguments, self.memory = loop, list(arguments), loop.memory()
        self.results: np.ndarray = np.empty(items, dtype=loop.returns or object)
        self._record = loop.record(self.memory)

    def number(self, argument: int, value: Any) -> None:
        self.arguments[argument] = value

    def __call__(self, first: int = 0, count: int | None = None) -> np.ndarray:
        with np.errstate(all="ignore"):
            for item in range(first, len(self.results) if count is None else first + count):
                given = [self.loop._given(kind, x, (item,)) for kind, x in zip(self.loop.kinds, self.arguments, strict=True)]
                self.results[item] = self.loop.function(self._record, *given)
        return self.results


def _outside(kind: Any, x: np.ndarray, items: int | tuple[int, int]) -> list[int]:
    """Address, stride of each axis, from item to item and from group to group, counted in numbers."""
    front, grouped = x.ndim - kind.axes, not isinstance(items, int)
    wanted: Any = items if grouped else (items,)
    n = x.shape
    if grouped:
        fits = front == 2 and (n[0] == wanted[0] or n[0] == 1) and (n[1] == wanted[1] or n[1] == 1)
    else:
        fits = front == 0 or (front == 1 and n[0] >= wanted[0])
    if x.dtype != (np.float64 if kind.element is float else np.int64) or not fits:
        text = f"a {kind.__name__} is an array of {kind.element.__name__}s with {kind.axes} axes, and {wanted} items before them"
        raise LoopError(f"{text}, not {x.dtype} {x.shape}.")
    strides = [s >> 3 for s in x.strides]
    address, own = x.__array_interface__["data"][0], strides[front:]
    if grouped:
        return [address, *own, strides[1] if n[1] > 1 else 0, strides[0] if n[0] > 1 else 0]
    return [address, *own, strides[0] if front else 0, 0]


# ----------------------------------------------------------------------------------------------------
# Machine code of loops: from the cache on disk or made, in one step or two.

GOOD, FIRST = "good", "first"
LONG_ENOUGH = 0.5  # seconds in code without passes: about what making good code takes
FEW_INSTRUCTIONS = 25  # of a function that is copied to where it is called
announce: list[Callable[[str], None]] = []  # called with a line of text before work that is done once per machine

lock = threading.RLock()


class LoopCode:
    """Machine code of a text with `void loop(ptr slots)`, by the parts that its text depends on.

    Good code of a time loop takes most of a second to make. So where none is in the cache, code is first made without any passes, which
    takes a tenth and runs half as fast to the same bits; the good one replaces it when it has run for about as long as making that
    takes. With `at_once` it is made well in the first place: loops over lanes, whose single calls may last long.
    """

    def __init__(self, name: str, parts: list[Any], supply: Callable[[], tuple[str, dict[str, Any]]], *, at_once: bool):
        self._name, self._supply, self._spent = name, supply, 0.0
        self._keys = {GOOD: disk.key(parts), FIRST: disk.key([*parts, "without passes"])}
        self._loaded: list[machine_code.Loaded] = []  # the first code may be running while the good one replaces it
        good = disk.get(self._keys[GOOD])
        first = None if good is not None or at_once else disk.get(self._keys[FIRST])
        found = good or first
        self.meta, code = found if found is not None else self._made(GOOD if at_once else FIRST)
        self.call: Callable[[int], None] = self._entry(code)
        if good is None and not at_once:
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
            with lock:
                if len(self._loaded) == 1:
                    self.call = self._entry(self._made(GOOD)[1])

    def _made(self, how: str) -> tuple[dict[str, Any], bytes]:
        """Metadata and object bytes."""
        for notify in announce:
            notify(f"compiling native loop '{self._name}' (once)")
        text, meta = self._supply()
        code = _optimized(text) if how == GOOD else _plain(text)
        disk.put(self._keys[how], meta, code)
        return meta, code


def _plain(text: str) -> bytes:
    """Object bytes without any passes."""
    host = target.host()
    return target.machine(host, 0).emit_object(target.binding().parse_assembly(f'target triple = "{host.triple}"\n{text}'))


def _optimized(text: str) -> bytes:
    """Object bytes; LLVM's standard passes, but without permission to change any rounding.

    Loops that call kernels spend their time there: light passes give the same bits at the same speed in a quarter of the time.
    """
    b, host = target.binding(), target.host()
    module = b.parse_assembly(f'target triple = "{host.triple}"\n{text}')
    machine = target.machine(host, 1)
    options = b.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.loop_unrolling = options.slp_vectorization = False
    options.inlining_threshold = FEW_INSTRUCTIONS
    builder = b.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)

"""Machine code in memory and how Python calls it: one packed state, or whole arrays of states over all cores.

Built from object bytes and a little JSON (`llvm.ObjectCode`), so a second process needs neither the equations nor LLVM's
optimizer. Calls release the interpreter's lock. Buffers have known addresses and are held in a pool, because asking numpy
for an address costs more than the call.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from threading import RLock
from typing import Any

import numpy as np

from linkwright.compiler import cache as disk
from linkwright.compiler import cache as target
from linkwright.compiler.cache import ObjectCode
from linkwright.compiler.program import Block, Program
from linkwright.errors import LinkwrightError, UsageError, counted
from linkwright.numerics.memory_and_threads import all_in_use
from linkwright.properties import cached_property

OLDEST = (0, 45)  # version of llvmlite; LLVM's text has changed before
ROUGH_NS = 0.06  # per operation and state, to judge whether threads pay


class NativeCodeError(LinkwrightError):
    """Native code was asked for and cannot be made here."""


@cache
def available() -> bool:
    """Can native code be made or loaded here?"""
    try:
        import llvmlite
    except ImportError:
        return False
    return tuple(int(n) for n in re.findall(r"\d+", llvmlite.__version__)[:2]) >= OLDEST


def require() -> None:
    """Complain, with advice, where native code is not available."""
    if not available():
        raise NativeCodeError(
            f"Native code needs the package llvmlite, {'.'.join(map(str, OLDEST))} or newer, which is not installed. Install it with "
            "`pip install llvmlite`, or choose engine='python', which gives the same results to round-off, more slowly."
        )


# ---------------------------------------------------------------- memory


def aligned(n: int) -> tuple[np.ndarray, int]:
    """n zeros that start at a multiple of 64 bytes, and their address."""
    raw = np.zeros(n + 8)
    address = raw.ctypes.data
    skip = -address % 64 // 8
    return raw[skip : skip + n], address + 8 * skip


@cache
def _link_library() -> None:
    """Give the linker the addresses of the C library's functions, under names LLVM attaches no meaning to."""
    binding = target.binding()
    library = ctypes.CDLL("ucrtbase") if sys.platform == "win32" else ctypes.CDLL(None)
    for name in target.LIBRARY_FUNCTIONS:
        binding.add_symbol(f"lw_{name}", ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    if sys.platform == "win32":  # a mark of Windows objects that use floating point; nothing reads it
        binding.add_symbol("_fltused", ctypes.addressof(_MARK))


_MARK = ctypes.c_int(0)


class Loaded:
    """An object file in memory; addresses stay valid as long as this lives."""

    def __init__(self, code: bytes):
        require()
        _link_library()
        binding, host = target.binding(), target.host()
        empty = binding.parse_assembly(f'target triple = "{host.triple}"')
        self._engine = binding.create_mcjit_compiler(empty, target.machine(host))
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        return self._engine.get_function_address(name)


# ---------------------------------------------------------------- calls

_POINTER, _WHOLE = ctypes.c_void_p, ctypes.c_int64
ONE = ctypes.CFUNCTYPE(_WHOLE, _POINTER, _POINTER, _POINTER)  # x, y, w
MANY = ctypes.CFUNCTYPE(_WHOLE, *[_POINTER] * 6, _WHOLE, _WHOLE)  # inputs, strides, outputs, ostrides, status, w, first, count
AOSOA = ctypes.CFUNCTYPE(_WHOLE, _POINTER, _POINTER, _POINTER, _WHOLE)  # X, Y, w, blocks

_Ready = tuple[np.ndarray, Callable[[], int], np.ndarray]  # input, run, output


class NativeCode:
    """A program as machine code. `supply(kind)` gives the code of 'one' or 'many' states, asked for on first use.

    `outline` says what `Program.outline` does, without making code: a kernel of which only batches are computed needs no code of one state.
    """

    def __init__(self, supply: Callable[[str], ObjectCode], outline: Callable[[], dict[str, Any]] | None = None):
        self._supply, self._outline = supply, outline
        self._compiled: dict[str, ObjectCode] = {}
        self._loaded: dict[str, Loaded] = {}
        self._lock = RLock()
        self._ready: list[_Ready] = []
        self._works: list[tuple[np.ndarray, int]] = []

    @classmethod
    def of(cls, program: Program) -> NativeCode:
        """Code of a program: from the cache on disk, or compiled now."""
        require()
        return cls(lambda kind: _found_or_made(kind, program), lambda: program.outline)

    def compiled(self, kind: str) -> ObjectCode:
        """Object bytes and metadata of 'one' or 'many'."""
        with self._lock:
            if kind not in self._compiled:
                self._compiled[kind] = self._supply(kind)
            return self._compiled[kind]

    def loaded(self, kind: str) -> Loaded:
        with self._lock:
            if kind not in self._loaded:
                self._loaded[kind] = Loaded(self.compiled(kind).object)
            return self._loaded[kind]

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Blocks, operation count and outputs that are always zero."""
        if self._outline is not None and not self._compiled:
            return self._outline()
        return self.compiled(next(iter(self._compiled), "one")).meta

    @cached_property
    def inputs(self) -> tuple[Block, ...]:
        return tuple(Block(name, tuple(shape), start) for name, shape, start in self.meta["inputs"])

    @cached_property
    def outputs(self) -> tuple[Block, ...]:
        return tuple(Block(name, tuple(shape), start) for name, shape, start in self.meta["outputs"])

    @cached_property
    def n_in(self) -> int:
        return sum(b.size for b in self.inputs)

    @cached_property
    def n_out(self) -> int:
        return sum(b.size for b in self.outputs)

    @property
    def one_address(self) -> int:
        """i64 one(double *x, double *y, double *w), valid as long as this object lives."""
        return self.loaded("one").address("one")

    @property
    def many_address(self) -> int:
        return self.loaded("many").address("many")

    @property
    def aosoa_address(self) -> int:
        return self.loaded("many").address("aosoa")

    def work(self, kind: str) -> int:
        """Doubles of work that `one` or `many` needs; `one` takes a null pointer when it is 0."""
        return self.compiled(kind).meta["work"]

    # ---------------------------------------------------------------- one state

    def call(self, x: Any) -> tuple[np.ndarray, int]:
        """Packed outputs and the status word of one packed state (n_in numbers)."""
        try:
            ready = self._ready.pop()
        except IndexError:
            ready = self.prepared()
        row, run, result = ready
        row[...] = x
        status = run()
        y = result.copy()
        self._ready.append(ready)
        return y, status

    def prepared(self) -> _Ready:
        """Input, output and work at fixed addresses, and the call bound to them."""
        sizes = [self.n_in, self.n_out, self.work("one")]
        rows = [-(-n // 8) * 8 for n in sizes]
        store, start = aligned(sum(rows))
        at_y = start + 8 * rows[0]
        y = store[rows[0] : rows[0] + sizes[1]]
        run = partial(ONE(self.one_address), start, at_y, at_y + 8 * rows[1] if sizes[2] else None)
        return store[: sizes[0]], run, y

    # ---------------------------------------------------------------- many states

    def call_many(self, arrays: Sequence[Any], cores: int | None = None) -> tuple[list[np.ndarray], np.ndarray]:
        """Outputs by block and the status of every state.

        One array per input block, each with the block's shape behind any leading axes; leading axes broadcast against each
        other, and a block without them (or with axes of length 1) is the same for all states. `cores` limits the threads.
        """
        many = self._many
        lead, rows, strides = _rows(self.inputs, arrays)
        count = math.prod(lead)
        results = [np.empty((count, b.size)) for b in self.outputs]
        status = np.zeros(count, dtype=np.int8)
        n, m = len(rows), len(results)
        table = (_WHOLE * (2 * (n + m)))(
            *(a.ctypes.data for a in rows), *strides, *(y.ctypes.data for y in results), *(b.size for b in self.outputs)
        )
        base = ctypes.addressof(table)
        places = [base, base + 8 * n, base + 16 * n, base + 16 * n + 8 * m, status.ctypes.data]

        def run(first: int, part: int) -> None:
            work = self._work()
            many(*places, work[1], first, part)
            self._works.append(work)

        share(run, count, count * self.meta["operations"] * ROUGH_NS, cores)
        shaped = [y.reshape((*lead, *b.shape)) for y, b in zip(results, self.outputs, strict=True)]
        return shaped, status.reshape(lead)

    @cached_property
    def _many(self) -> Callable[..., int]:
        return MANY(self.many_address)

    def prepared_many(self, n: int) -> tuple[list[np.ndarray], Callable[[], int], list[np.ndarray], np.ndarray]:
        """Inputs and outputs of n states at fixed addresses, the call bound to them, which returns the union of all status bits, and
        the status of every state."""
        blocks = (*self.inputs, *self.outputs)
        sizes = [*(n * b.size for b in blocks), n, self.work("many")]
        starts = np.cumsum([0, *(-(-x // 8) * 8 for x in sizes)])
        store, base = aligned(int(starts[-1]))
        arrays = [store[i : i + n * b.size].reshape(n, *b.shape) for i, b in zip(starts, blocks, strict=False)]
        at = [base + 8 * int(i) for i in starts]
        k, m = len(self.inputs), len(self.outputs)
        table = (_WHOLE * (2 * (k + m)))(*at[:k], *(b.size for b in self.inputs), *at[k : k + m], *(b.size for b in self.outputs))
        t = ctypes.addressof(table)
        run = partial(self._many, t, t + 8 * k, t + 16 * k, t + 16 * k + 8 * m, at[k + m], at[k + m + 1], 0, n)
        status = store[starts[k + m] : starts[k + m] + n].view(np.int8)[:n]
        return arrays[:k], partial(_alive, run, table, store), arrays[k:], status

    def _work(self) -> tuple[np.ndarray, int]:
        try:
            return self._works.pop()
        except IndexError:
            return aligned(self.work("many"))


def _alive(run: Callable[[], int], *_memory: Any) -> int:
    """A call whose memory lives as long as it does."""
    return run()


def _rows(blocks: Sequence[Block], arrays: Sequence[Any]) -> tuple[tuple[int, ...], list[np.ndarray], list[int]]:
    """The leading axes of a batch, and each block's rows with their stride in doubles."""
    if len(arrays) != len(blocks):
        raise UsageError(
            f"{len(arrays)} arrays were given for {counted(len(blocks), 'input')}: {', '.join(b.name for b in blocks)}.", name="inputs"
        )
    given = [np.asarray(a, dtype=np.float64) for a in arrays]
    leads = []
    for a, b in zip(given, blocks, strict=True):
        axes = a.ndim - len(b.shape)
        if axes < 0 or a.shape[axes:] != b.shape:
            raise UsageError(
                f"'{b.name}' has shape {a.shape}. It needs {b.shape} for one state or (..., {str(b.shape)[1:]} for many.", name=b.name
            )
        leads.append(a.shape[:axes])
    lead = _common(blocks, leads)
    rows, strides = [], []
    for a, b, own in zip(given, blocks, leads, strict=True):
        same = own != lead and math.prod(own) == 1  # one row for all states
        if not same and own != lead:
            a = np.broadcast_to(a, (*lead, *b.shape))
        rows.append(np.ascontiguousarray(a))
        strides.append(0 if same else b.size)
    return lead, rows, strides


def _common(blocks: Sequence[Block], leads: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The leading axes all blocks broadcast to."""
    distinct = set(leads)
    if len(distinct) <= 1:
        return leads[0] if leads else ()
    try:
        return np.broadcast_shapes(*distinct)
    except ValueError:
        listed = ", ".join(f"{b.name} {n}" for b, n in zip(blocks, leads, strict=True))
        raise UsageError(
            f"the batch axes of the inputs do not fit each other: {listed}. They must be equal, 1 or absent.", name="inputs"
        ) from None


# ---------------------------------------------------------------- made or fetched


@all_in_use()
def _make(kind: str, program: Program) -> ObjectCode:
    from linkwright.compiler import llvm, state_lanes  # here, so that code from the cache is loaded without them

    return llvm.compile_one(program) if kind == "one" else state_lanes.compile_many(program)


def _found_or_made(kind: str, program: Program) -> ObjectCode:
    """Code by the program's digest: whatever else changes, equal programs are compiled once."""
    name = disk.key([kind, program.digest])
    found = disk.get(name)
    if found is not None:
        return ObjectCode(*found)
    made = _make(kind, program)
    disk.put(name, made.meta, made.object)
    return made


def load(parts: Any, program: Callable[[], Program]) -> NativeCode:
    """Code from the cache on disk without tracing, where `parts` were met before; else by the program itself.

    `parts` is JSON-like and names everything the program depends on. Under it the program's digest and outline are stored, under the
    digest the code.
    """
    require()
    traced: list[Program] = []

    def now() -> Program:
        if not traced:
            traced.append(program())
            disk.put(disk.key(["program", parts]), {"digest": traced[0].digest, **traced[0].outline}, b"")
        return traced[0]

    def supply(kind: str) -> ObjectCode:
        found = _known(parts, kind)
        return _found_or_made(kind, now()) if found is None else ObjectCode(*found)

    def outline() -> dict[str, Any]:
        link = disk.get(disk.key(["program", parts]))
        return now().outline if link is None else link[0]

    return NativeCode(supply, outline)


def _known(parts: Any, kind: str) -> Any:
    """Code in the cache under the digest of the program that is stored under `parts`; None if there is none."""
    link = disk.get(disk.key(["program", parts]))
    return None if link is None else disk.get(disk.key([kind, link[0]["digest"]]))


# ----------------------------------------------------------------------------------------------------
# Work shared among the cores this process may use; machine code runs outside the interpreter's lock

WORTH_NS = 200_000  # below this one thread is as fast as two
PIECES_PER_CORE = 4  # a core that is busy elsewhere takes fewer


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> Any:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(1, cores() - 1), thread_name_prefix="linkwright")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def share(run: Callable[[int, int], None], count: int, expected_ns: float, limit: int | None = None) -> None:
    """run(first, n) over `count` items, in parts that are multiples of eight, over several cores if that pays."""
    workers = min(limit or cores(), cores())
    if workers <= 1 or expected_ns < WORTH_NS or count <= 16:
        run(0, count)
        return
    parts = workers * PIECES_PER_CORE
    step = max(8, -(-count // parts + 7) // 8 * 8)
    starts = iter(range(0, count, step))  # taken one by one: next() on a range iterator is atomic

    def work() -> None:
        for first in starts:
            run(first, min(step, count - first))

    waiting = [_pool().submit(work) for _ in range(workers - 1)]
    work()
    for future in waiting:
        future.result()

"""Machine code in memory and how Python calls it: one packed state, or whole arrays of states over all cores.

Built from object bytes and a little JSON (`llvm.Compiled`), so a second process needs neither the equations nor LLVM's
optimiser. Calls release the interpreter's lock. Buffers have known addresses and are kept in a pool, because asking numpy
for an address costs more than the call.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkwright.compiler import llvm
from linkwright.compiler.llvm import Compiled
from linkwright.compiler.program import Block, Program
from linkwright.errors import LinkwrightError


class NativeCodeError(LinkwrightError):
    """Native code was asked for and cannot be made here."""


@cache
def available() -> bool:
    """Can native code be made or loaded here?"""
    return importlib.util.find_spec("llvmlite") is not None


def _require() -> None:
    if not available():
        raise NativeCodeError(
            "Native code needs the package llvmlite, which is not installed. Install it with `pip install linkwright[native]`, "
            "or choose engine='python', which gives the same results more slowly."
        )


@cache
def _library_symbols() -> None:
    """Tell the linker where the C library's functions are, under names LLVM attaches no meaning to."""
    binding = llvm._binding()
    library = ctypes.CDLL("ucrtbase") if sys.platform == "win32" else ctypes.CDLL(None)
    for name in llvm.LIBRARY_FUNCTIONS:
        binding.add_symbol(f"lw_{name}", ctypes.cast(getattr(library, name), ctypes.c_void_p).value)


class Loaded:
    """An object file in memory; addresses stay valid as long as this lives."""

    def __init__(self, code: bytes):
        _require()
        _library_symbols()
        binding = llvm._binding()
        target = llvm.host()
        empty = binding.parse_assembly(f'target triple = "{target.triple}"')
        self._engine = binding.create_mcjit_compiler(empty, llvm.machine(target))
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        return self._engine.get_function_address(name)


class _Buffers:
    """Packed input, output and work of one call, aligned to 64 bytes."""

    __slots__ = ("at_w", "at_x", "at_y", "store", "x", "y")

    def __init__(self, n_in: int, n_out: int, work: int):
        rows = [-(-n // 8) * 8 for n in (n_in, n_out, work)]
        self.store, start = aligned(sum(rows))
        self.at_x = start
        self.at_y = start + 8 * rows[0]
        self.at_w = self.at_y + 8 * rows[1] if work else 0
        self.x = self.store[:n_in]
        self.y = self.store[rows[0] : rows[0] + n_out]


def aligned(n: int) -> tuple[np.ndarray, int]:
    """n zeros that start at a multiple of 64 bytes, and their address."""
    raw = np.zeros(n + 8)
    address = raw.ctypes.data
    skip = -address % 64 // 8
    return raw[skip : skip + n], address + 8 * skip


_ONE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class NativeCode:
    """A program as machine code. `supply(kind)` gives object bytes of 'one' or 'many' on first use."""

    def __init__(self, supply: Callable[[str], Compiled]):
        self._supply = supply
        self._compiled: dict[str, Compiled] = {}
        self._loaded: dict[str, Loaded] = {}
        self._one: Any = None
        self._pool: list[_Buffers] = []

    @classmethod
    def of(cls, program: Program) -> NativeCode:
        """Code of a program, made when first called and kept in memory only."""
        _require()
        makers = {"one": llvm.compile_one}
        return cls(lambda kind: makers[kind](program))

    def compiled(self, kind: str) -> Compiled:
        if kind not in self._compiled:
            self._compiled[kind] = self._supply(kind)
        return self._compiled[kind]

    def loaded(self, kind: str) -> Loaded:
        if kind not in self._loaded:
            self._loaded[kind] = Loaded(self.compiled(kind).object)
        return self._loaded[kind]

    @property
    def meta(self) -> dict[str, Any]:
        kind = next(iter(self._compiled), "one")
        return self.compiled(kind).meta

    @property
    def inputs(self) -> tuple[Block, ...]:
        return tuple(Block(name, tuple(shape), start) for name, shape, start in self.meta["inputs"])

    @property
    def outputs(self) -> tuple[Block, ...]:
        return tuple(Block(name, tuple(shape), start) for name, shape, start in self.meta["outputs"])

    @property
    def one_address(self) -> int:
        return self.loaded("one").address("one")

    def _open(self) -> _Buffers:
        """Load the code for one state, on the first call."""
        if self._one is None:
            self._sizes = (sum(b.size for b in self.inputs), sum(b.size for b in self.outputs), self.compiled("one").meta["work"])
            self._one = _ONE(self.one_address)
        return _Buffers(*self._sizes)

    def call(self, x: np.ndarray) -> tuple[np.ndarray, int]:
        """Packed outputs and the status word of one state."""
        try:
            buffers = self._pool.pop()
        except IndexError:
            buffers = self._open()
        buffers.x[:] = x
        status = self._one(buffers.at_x, buffers.at_y, buffers.at_w)
        y = buffers.y.copy()
        self._pool.append(buffers)
        return y, status

"""Native versions of plain-loop functions: the one place that imports Numba.

Algorithms that must run both as Python and as native code are plain loops over float arrays. `native(f, example)` compiles
such a function for arguments like the example, together with every function of this package that it calls; the Python
functions themselves stay as they are. Generated kernels enter the loops by address:

    int64 kernel(const double* x, double* y, double* w)        inputs, outputs, workspace; returns a status word

and `evaluate` is the one call that differs: the kernel is an address in native code, any callable in Python. A `Callback`
gives a Python function such an address, so that a native loop can hand an evaluation back. Compiled code is kept in
the user's cache, in a folder named by the sources it came from.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import inspect
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from linkwright.compiler import cache as disk

NOT_FINITE, DEGENERATE, FAILED = 1, 2, 4  # bits of a status word

announce: list[Callable[[str], None]] = []  # called with a line of text before work that takes seconds, once per machine

_OPTIONS: Any = {"nogil": True, "error_model": "numpy"}  # no fast mathematics: native and Python results are equal to the last bit
_PACKAGE = __name__.partition(".")[0]
_compiled: dict[Any, Callable[..., Any]] = {}
_registered: set[Callable[..., Any]] = set()
_lock = threading.RLock()


def evaluate(kernel: Any, data: np.ndarray, x: int, y: int, w: int) -> int:
    """Run a kernel with inputs, outputs and workspace from places x, y, w of `data` on; returns its status word."""
    return kernel(data[x:], data[y:], data[w:])


def available() -> bool:
    """Whether time loops can be native here."""
    return importlib.util.find_spec("numba") is not None


def cache_folder() -> Path | None:
    """Where compiled loops are kept: beside the kernels' machine code; None when caching is off."""
    objects = disk.directory()
    return None if objects is None else objects.with_name("loops")


# ---------------------------------------------------------------- Python functions called from native code


class Callback:
    """A Python function y = f(x) behind the address of a kernel; what it raises is kept, and stops the loop cleanly."""

    def __init__(self, function: Callable[..., Any], n_in: int, n_out: int):
        self.function = function
        self.n_in, self.n_out = n_in, n_out
        self.error: BaseException | None = None
        doubles = ctypes.POINTER(ctypes.c_double)
        self._native = ctypes.CFUNCTYPE(ctypes.c_int64, doubles, doubles, doubles)(self._from_native)  # kept alive with the object
        self.address: int = ctypes.cast(self._native, ctypes.c_void_p).value or 0

    def __call__(self, x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        try:
            y[: self.n_out] = self.function(x[: self.n_in].copy())
        except BaseException as error:  # also an interrupt from the keyboard: native code cannot carry it, the caller raises it again
            self.error = error
            return FAILED
        return 0 if np.isfinite(y[: self.n_out]).all() else NOT_FINITE

    def _from_native(self, x: Any, y: Any, w: Any) -> int:
        return self(np.ctypeslib.as_array(x, (self.n_in,)), np.ctypeslib.as_array(y, (self.n_out,)), np.zeros(0))


def from_address(address: int) -> Callable[[np.ndarray, np.ndarray, np.ndarray], int]:
    """The kernel at an address as a callable for loops that run as Python."""
    raw = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)

    def call(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        return int(raw(x.ctypes.data, y.ctypes.data, w.ctypes.data))

    return call


# ---------------------------------------------------------------- compiling


def native(function: Callable[..., Any], example: tuple[Any, ...], what: str = "time loop") -> Callable[..., Any]:
    """The same function as native code, for arguments of the types of the example; compiled once, then from the cache.

    Numba must be there (`available`).
    """
    import numba

    with _lock:
        signature = tuple(numba.typeof(a) for a in example)
        key = (function, signature)
        if key not in _compiled:
            _compiled[key] = _compile(numba, function, signature, what)
        return _compiled[key]


def _compile(numba: Any, function: Callable[..., Any], signature: tuple[Any, ...], what: str) -> Callable[..., Any]:
    members = list(_reachable(function))
    _register(members)
    folder = _folder(numba, members)
    if folder is None or not any(folder.glob(f"*/*{function.__name__}*.nbi")):
        for tell in announce:
            tell(f"compiling {what} (once)")
    kept = numba.config.CACHE_DIR
    try:
        if folder is not None:
            numba.config.CACHE_DIR = str(folder)  # read while the function is wrapped; a user's own functions keep their place
        return numba.njit([signature], cache=folder is not None, **_OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = kept


def _reachable(function: Callable[..., Any]) -> Iterator[Any]:
    """The function and every function of this package it calls, directly or not."""
    waiting, seen = [function], {function}
    while waiting:
        f = waiting.pop()
        yield f
        for name in f.__code__.co_names:
            used = f.__globals__.get(name)
            if isinstance(used, FunctionType) and used.__module__.partition(".")[0] == _PACKAGE and used not in seen:
                seen.add(used)
                waiting.append(used)


def _folder(numba: Any, members: list[Any]) -> Path | None:
    """Folder for code made of these functions; None where there is no place that can be written."""
    files = sorted({inspect.getsourcefile(f) or "" for f in members})
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    base = cache_folder()
    if base is None:
        return None
    try:
        for file in files:
            digest.update(Path(file).read_bytes())
        folder = base / digest.hexdigest()[:20]
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _register(members: list[Any]) -> None:
    """Make plain functions known to Numba; `evaluate` becomes a call through an address."""
    from numba.extending import register_jitable

    for f in members[1:]:
        if f not in _registered:
            _registered.add(f)
            if f is evaluate:
                _register_evaluate()
            else:
                register_jitable(**_OPTIONS)(f)


def _register_evaluate() -> None:
    from numba.core import types
    from numba.extending import overload

    call = _call_intrinsic()

    @overload(evaluate, jit_options=_OPTIONS)
    def _evaluate(kernel, data, x, y, w):  # no hints: Numba compares the signatures
        if isinstance(kernel, types.Integer):
            return lambda kernel, data, x, y, w: call(kernel, data.ctypes.data, x, y, w)
        return None


def _call_intrinsic() -> Any:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    @intrinsic
    def call(typing: Any, address: Any, data: Any, x: Any, y: Any, w: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = ir.IntType(8).as_pointer()
            kernel = ir.FunctionType(ir.IntType(64), [pointer, pointer, pointer])
            eight = ir.Constant(ir.IntType(64), 8)
            places = [builder.inttoptr(builder.add(args[1], builder.mul(place, eight)), pointer) for place in args[2:]]
            return builder.call(builder.inttoptr(args[0], kernel.as_pointer()), places)

        return types.int64(types.int64, types.uintp, types.int64, types.int64, types.int64), emit

    return call

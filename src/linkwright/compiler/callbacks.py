"""Python functions that native loops call, and native kernels that Python loops call: both behind one form.

    status = kernel(x, y, w)        bits of the status: 1 not finite, 2 a pivot degenerated, 4 an error was stored, 1024 no answer here

A loop in machine code hands an evaluation back to Python through a `Callback`: the rank-revealing path of a singular
position, or a load that only Python can compute. An error about numbers concerns one state, which may be a trial of the loop that
is dropped again (1024); any other error ends the loop (4).
"""

from __future__ import annotations

import ctypes
import itertools
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError

_ORDER = itertools.count(1)
NOT_FINITE, DEGENERATE, FAILED, UNANSWERED = 1, 2, 4, 1024  # bits of a status word
ABOUT_A_STATE = (LinkwrightError, np.linalg.LinAlgError, ArithmeticError)  # errors that another state need not meet


class Callback:
    """A Python function y = f(x) behind the address of a kernel; what it raises is stored: as `unanswered` if it concerns this state,
    else as `error`, which stops the loop cleanly."""

    def __init__(self, function: Callable[..., Any], n_in: int, n_out: int):
        self.function = function
        self.n_in, self.n_out = n_in, n_out
        self.error: BaseException | None = None
        self.unanswered: Exception | None = None
        self.order = 0  # of its last such error among those of all callbacks
        doubles = ctypes.POINTER(ctypes.c_double)
        self._native = ctypes.CFUNCTYPE(ctypes.c_int64, doubles, doubles, doubles)(self._from_native)  # lives as long as the object
        self.address: int = ctypes.cast(self._native, ctypes.c_void_p).value or 0

    def __call__(self, x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        if pressed():
            self.error = KeyboardInterrupt()
            return FAILED
        try:
            return self._call(x, y, w)
        except ABOUT_A_STATE as error:
            self.unanswered, self.order = error, next(_ORDER)
            return UNANSWERED
        except BaseException as error:  # also an interrupt from the keyboard: native code cannot carry it, the caller raises it again
            self.error = error
            return FAILED

    def _call(self, x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        y[: self.n_out] = self.function(x[: self.n_in].copy())
        return 0 if np.isfinite(y[: self.n_out]).all() else NOT_FINITE

    def _from_native(self, x: Any, y: Any, w: Any) -> int:
        return self(np.ctypeslib.as_array(x, (self.n_in,)), np.ctypeslib.as_array(y, (self.n_out,)), np.zeros(0))


def from_address(address: int) -> Callable[[np.ndarray, np.ndarray, np.ndarray], int]:
    """The kernel at an address as a callable for loops that run as Python."""
    raw = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)

    def call(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        return int(raw(x.ctypes.data, y.ctypes.data, w.ctypes.data))

    return call


# ----------------------------------------------------------------------------------------------------
# Ctrl-C while machine code runs: noted at once, acted upon where nothing is lost
# An interrupt that Python raises inside a function called back from machine code cannot be carried out of it, and one raised on the way
# into such a function is dropped by ctypes together with the function's result. So while a loop runs, the first Ctrl-C is only noted:
# the loop looks at it after each slice, callbacks before each call. A second one is raised, for a function that does not come back.

_running: list[Interrupts] = []


class Interrupts:
    """`with Interrupts() as keys:` a loop that looks at `keys.pressed`, and sets `keys.taken` where it acts upon it."""

    def __init__(self) -> None:
        self.pressed = self.taken = False
        self._installed = False

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a program's own handler stays
            signal.signal(signal.SIGINT, self._note)
            self._installed = True
            _running.append(self)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._installed:
            return
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _running.remove(self)
        if self.pressed and not self.taken and error is None:  # it came when the loop had ended: the caller's
            raise KeyboardInterrupt


def pressed() -> bool:
    """True if a key was pressed while a loop runs."""
    return bool(_running) and _running[-1].pressed

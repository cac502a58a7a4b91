"""Ctrl-C while machine code runs: noted at once, acted upon where nothing is lost.

An interrupt that Python raises inside a function called back from machine code cannot be carried out of it, and one raised on the way
into such a function is dropped by ctypes together with the function's result. So while a loop runs, the first Ctrl-C is only noted:
the loop looks at it after each slice, callbacks before each call. A second one is raised, for a function that does not come back.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

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

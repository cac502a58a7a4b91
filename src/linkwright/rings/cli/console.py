"""The console: any encoding, any width, with or without a terminal; signals; a word while something takes time."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import textwrap
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TextIO

from linkwright.api import visible

PATIENCE = 0.7  # s before a word appears
NARROWEST = 30
INTERRUPTED, TERMINATED = 130, 143

_signals: list[int] = []  # that came while a command ran


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as an interrupt from the keyboard does."""


def open_closed() -> None:
    """Streams that were closed before the start (`>&-`) are None in Python: what is printed to them goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def printable(stream: TextIO | None) -> None:
    """Print '?' for what the console's encoding lacks, instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def to_nowhere() -> None:
    """After the reader of our output went away: what is still to be flushed goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show(text: str) -> None:
    """Print without control characters; a reader that went away (`| head`) does not keep files from being written afterwards."""
    try:
        print(visible(text), flush=True)
    except BrokenPipeError:
        to_nowhere()


@contextmanager
def terminable() -> Generator[None]:
    """SIGTERM raises here what Ctrl-C does, so that nothing half written stays behind."""
    _signals.clear()
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if not ours:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        _signals.append(number)
        raise Terminated

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def exit_code_of_signal() -> int:
    """The exit code of a command that a signal stopped."""
    return TERMINATED if _signals else INTERRUPTED


def width() -> int | None:
    """Columns to wrap lines to; None in files and pipes, which take lines as they are."""
    if not os.environ.get("COLUMNS", "").isdigit() and not (sys.stdout is not None and sys.stdout.isatty()):
        return None
    return max(NARROWEST, shutil.get_terminal_size().columns)


def wrapped(text: str, indent: int = 0) -> str:
    """Lines that fit the console, continued `indent` columns from the left; never cut."""
    columns = width()
    if columns is None:
        return text
    hang = " " * min(indent, columns // 2)
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False, "drop_whitespace": True}
    lines = [textwrap.fill(x, columns, subsequent_indent=hang, **options) if len(x) > columns else x for x in text.splitlines()]
    return "\n".join(lines)


@contextmanager
def waiting(what: str) -> Generator[None]:
    """Say what takes so long, after a moment and on a terminal only; the line vanishes when it is done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    shown = threading.Event()

    def announce() -> None:
        shown.set()
        sys.stderr.write(f"{what} ...")
        sys.stderr.flush()

    timer = threading.Timer(PATIENCE, announce)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if shown.is_set():
            sys.stderr.write("\r" + " " * (len(what) + 4) + "\r")
            sys.stderr.flush()


def error(message: str) -> None:
    """One paragraph, on one line, away from the results."""
    print("error:", visible(" ".join(message.split())), file=sys.stderr)


def note_interpreted() -> None:
    """Say on stderr, where llvmlite is missing, that the results will be the same and take longer."""
    from importlib.util import find_spec

    if find_spec("llvmlite") is None:
        print("note: the package llvmlite is not installed, so kernels are interpreted: the same results, much slower.", file=sys.stderr)


def served(server: Any, browser: bool) -> int:
    """Answer a page's requests until the user ends it; `browser`: open it there first. Return the exit code."""
    from linkwright.rings.studio.page import opened

    if browser:
        opened(server.ticket())
    try:
        server.serve_forever(poll_interval=0.1)
    except Terminated:
        raise
    except KeyboardInterrupt:  # the ordinary way to end it
        return 0
    return 0

"""A bar for long runs: simulated time, step size, time that remains. It appears after a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # s before a bar appears


class Bar:
    """Shows how far a run has come; use as a context."""

    def __init__(self, start: float, end: float, show: bool | None, report: Callable[[float], Any] | None = None, what: str = "simulating"):
        self.start, self.end, self.report, self.what = start, end, report, what
        self.show = sys.stderr.isatty() if show is None else show
        self.begun = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, t: float, h: float = 0.0) -> bool | None:
        """Called by the loop now and then; False from the user's own function stops the run."""
        if self.show and self._bar is None and (time.perf_counter() - self.begun > PATIENCE):
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=t - self.start, now=f"t = {t:.4g} s", step=f"step {h:.2g} s" if h else "")
        return None if self.report is None else self.report(t)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = [TextColumn(self.what), BarColumn(), TextColumn("{task.fields[now]}  {task.fields[step]}"), TimeRemainingColumn()]
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self.what, total=self.end - self.start, now="", step="")

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

"""Processor time of every test: `make test` says at its end where it goes, and writes all of it to build/test-times.csv.

Each phase of a test counts in its worker, with the processes that ended meanwhile. So a browser counts where it is closed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

NAME = "processor seconds"
LISTED = 12  # folders and tests at the end


class Timing:
    """A plugin: measures in workers, adds up in the process that reports."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.last = processor_time()
        self.found: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = processor_time()
        report.user_properties.append((NAME, now - self.last))
        self.last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.found[report.nodeid] += sum(x for name, x in report.user_properties if name == NAME)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        folders: Counter[str] = Counter()
        for test, seconds in self.found.items():
            folders["/".join(test.split("::")[0].split("/")[:3])] += seconds
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text("".join(f'{seconds:.3f},"{test}"\n' for test, seconds in self.found.most_common()), encoding="utf-8")
        terminalreporter.section(f"{sum(self.found.values()):.0f} s of processor time; every test in {self.file.name}")
        for which in (folders, self.found):
            for name, seconds in which.most_common(LISTED):
                terminalreporter.line(f"{seconds:8.1f} s  {name}")


def processor_time() -> float:
    """Seconds of this process and of the processes that it waited for."""
    return sum(os.times()[:4])

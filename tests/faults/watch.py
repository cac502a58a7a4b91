"""A plug-in of pytest that writes down each test as it begins and ends: `-p tests.faults.watch`, file named by LINKWRIGHT_FAULTS_LOG."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

VARIABLE = "LINKWRIGHT_FAULTS_LOG"


def _write(event: str, name: str) -> None:
    with open(os.environ[VARIABLE], "a", encoding="utf-8") as file:
        file.write(json.dumps([event, name]) + "\n")


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    """Write down that a test begins: the last one is where a run hangs or ends at once."""
    _write("begun", nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down failures, and the end of each test."""
    if report.failed:
        _write("failed", report.nodeid)
    elif report.when == "teardown":
        _write("ended", report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Write down files that cannot be imported."""
    if report.failed:
        _write("failed", report.nodeid)

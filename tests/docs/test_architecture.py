"""The page on the architecture against the profiler: every function it names is met, in its order, and every package met is named."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT
from tests.sources import PACKAGE

PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## `(\w+ = [^`]+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
STATION = re.compile(r"^\d+\. \[`([\w/]+\.py):([\w.]+)`\]\(\.\./\.\./src/linkwright/([\w/]+\.py)\): ", re.MULTILINE)
CALLS = {call: [(file, name, link) for file, name, link in STATION.findall(text)] for call, text in SECTION.findall(PAGE)}
LONGEST = 900  # words

# A process of its own with an empty code cache: whatever other tests have imported or compiled is not met again.
PROFILED = """
import json, os, sys
from pathlib import Path
import linkwright as lw
root = str(Path(lw.__file__).parent) + os.sep
met, names = {}, {"lw": lw}
def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root):
        here.setdefault((code.co_filename[len(root):].replace(os.sep, "/"), code.co_qualname))
for call in json.loads(sys.argv[1]):
    here = {}
    sys.setprofile(note)
    exec(call, names)
    sys.setprofile(None)
    met[call] = list(here)
print(json.dumps(met))
"""


@cache
def met(cache_folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Return (file, function) of each call of the page, in the order in which they are first met."""
    environment = {**os.environ, "LINKWRIGHT_CACHE": str(cache_folder), "PYTHONPATH": str(PACKAGE.parent)}
    run = [sys.executable, "-c", PROFILED, json.dumps(list(CALLS))]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {call: [(file, name) for file, name in found] for call, found in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, str]]]:
    return met(tmp_path_factory.mktemp("code"))


def folders(path: Path) -> set[str]:
    """Return the names of the packages in a folder."""
    return {p.parent.name for p in path.glob("*/__init__.py")}


def listed(heading: str) -> list[str]:
    """Return the first column of the table with this heading."""
    table = PAGE.partition(f"| {heading} | content |\n|---|---|\n")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


def test_the_page_has_the_three_calls() -> None:
    assert [re.sub(r"^\w+ = |\(.*", "", call) for call in CALLS] == ["lw.load", "m.cycle", "m.simulate"]
    assert all(len(stations) >= 10 for stations in CALLS.values()), "an item was not understood"
    assert sum(map(len, CALLS.values())) == PAGE.count("](../../src/"), "links to the source outside of the three lists"
    assert [(file, link) for s in CALLS.values() for file, _, link in s if file != link] == []


@pytest.mark.parametrize("call", CALLS)
def test_functions_are_met_in_the_order_of_the_page(call: str, trace: dict[str, list[tuple[str, str]]]) -> None:
    named = [(file, name) for file, name, _ in CALLS[call]]
    order = {station: k for k, station in enumerate(trace[call])}
    assert [station for station in named if station not in order] == [], "not met"
    assert named == sorted(named, key=order.__getitem__)


def test_packages_that_are_met_are_named(trace: dict[str, list[tuple[str, str]]]) -> None:
    files = {Path(file).parts for found in trace.values() for file, _ in found}
    packages = {Path(parts[0]).stem for parts in files} - {"__init__"}
    assert {"model", "motion", "simulation"} < packages <= set(listed("core package")), "the three calls need no ring"


def test_tables_list_the_packages_that_exist() -> None:
    modules = {p.stem for p in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    assert sorted(listed("core package")) == sorted(folders(PACKAGE) - {"rings"} | modules)
    assert sorted(listed("ring")) == sorted(folders(PACKAGE / "rings"))


def test_the_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    block = PAGE.partition("```python\n")[2].partition("```")[0]
    assert all(call in block for call in CALLS)
    exec(block, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print.*?# (.*)$", block, re.MULTILINE)


def test_the_page_is_short() -> None:
    text = re.sub(r"\]\([^)]*\)|^\d+\. ", "]", PAGE, flags=re.MULTILINE)
    assert sum(bool(re.search(r"\w", part)) for part in text.split()) < LONGEST

"""The notebooks are valid, carry no outputs, and their cells run from top to bottom, asserting what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.sweeps import sweep

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    return [c for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == kind]


def test_there_are_two() -> None:
    assert {p.stem for p in NOTEBOOKS} == {"four-bar-lecture", "six-formulations"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_format(path: Path) -> None:
    """What version 4.5 of the format asks for: every cell an id of its own, sources as lines, code cells without results."""
    book = json.loads(path.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5) and book["metadata"]["kernelspec"]["language"] == "python"
    assert len({c["id"] for c in book["cells"]}) == len(book["cells"]) > 12
    for c in book["cells"]:
        assert c["metadata"] == {} and all(line.endswith("\n") for line in c["source"][:-1])
    assert all(c["outputs"] == [] and c["execution_count"] is None for c in cells(path, "code"))
    assert book["cells"][0]["cell_type"] == "markdown" and book["cells"][0]["source"][0].startswith("# ")


@sweep("path", NOTEBOOKS, now=["six-formulations"], ids=lambda p: p.stem)
def test_it_runs_from_top_to_bottom(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    checks = 0
    for number, cell in enumerate(cells(path, "code"), 1):
        source = "".join(cell["source"])
        exec(compile(source, f"{path.name}, code cell {number}", "exec"), namespace)
        checks += source.count("assert ")
    assert checks >= 8, "a lecture that checks nothing"
    assert not list(tmp_path.iterdir()), "a notebook leaves nothing behind"

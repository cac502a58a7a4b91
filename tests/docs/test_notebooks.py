"""The notebooks are valid, their cells run from top to bottom and assert what they say, and print what is stored with them."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.docs.test_pages import NUMBER
from tests.scripts import docs_script
from tests.sweeps import sweep

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LECTURE = ROOT / "docs" / "tutorials" / "lecture.md"
MOST = 60_000  # bytes of a picture
ROUND_OFF = 1e-6  # below it figures are round-off, which differs from machine to machine
SECONDS = re.compile(r"in \d+(\.\d+)? s$", re.MULTILINE)  # how long a search took


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    return [c for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == kind]


def printed(outputs: list[dict[str, Any]]) -> str:
    return "".join("".join(o.get("text", o.get("data", {}).get("text/plain", []))) for o in outputs)


def test_the_page_for_lectures_lists_all() -> None:
    listed = re.findall(r"\(\.\./\.\./notebooks/([\w-]+)\.ipynb\)", LECTURE.read_text(encoding="utf-8"))
    assert sorted(listed) == [p.stem for p in NOTEBOOKS] and len(listed) == 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_format(path: Path) -> None:
    """What version 4.5 of the format asks for: every cell an id of its own, sources as lines; outputs are small."""
    book = json.loads(path.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5) and book["metadata"]["kernelspec"]["language"] == "python"
    assert len({c["id"] for c in book["cells"]}) == len(book["cells"]) > 12
    for c in book["cells"]:
        assert c["metadata"] == {} and all(line.endswith("\n") for line in c["source"][:-1])
    assert book["cells"][0]["cell_type"] == "markdown" and book["cells"][0]["source"][0].startswith("# ")
    codes = cells(path, "code")
    assert [c["execution_count"] for c in codes] == list(range(1, len(codes) + 1))
    pictures = [base64.b64decode(o["data"]["image/png"]) for c in codes for o in c["outputs"] if "image/png" in o.get("data", {})]
    assert pictures and all(p.startswith(b"\x89PNG") and len(p) < MOST for p in pictures)
    assert path.stat().st_size < 100_000


@sweep("path", NOTEBOOKS, now=["six-formulations", "first-mechanism"], ids=lambda p: p.stem)
def test_it_runs_and_prints_what_is_stored(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    book = json.loads(path.read_text(encoding="utf-8"))
    runs = docs_script("make_notebooks").executed(book, path.name)
    for number, (cell, new) in enumerate(zip(cells(path, "code"), runs, strict=True), 1):
        place = f"{path.name}, code cell {number}: run python docs/make/make_notebooks.py {path.stem}"
        assert [o["output_type"] for o in new] == [o["output_type"] for o in cell["outputs"]], place
        agree(printed(cell["outputs"]), printed(new), place)
    assert "".join("".join(c["source"]) for c in cells(path, "code")).count("assert ") >= 8, "a lecture that checks nothing"
    assert not list(tmp_path.iterdir()), "a notebook leaves nothing behind"


def agree(stored: str, now: str, place: str) -> None:
    """Equal texts, and equal numbers but for round-off and the last digit."""
    stored, now = SECONDS.sub("", stored), SECONDS.sub("", now)
    assert NUMBER.sub("#", stored).split() == NUMBER.sub("#", now).split(), place
    for old, new in zip(NUMBER.findall(stored), NUMBER.findall(now), strict=True):
        assert abs(float(old) - float(new)) <= max(ROUND_OFF, 2e-3 * abs(float(old))), f"{place}: {old} is {new} now"

"""docs/evidence/comparison.md says what the results beside it say, and these are results of today's code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bench import table
from benchmarks.bench.cases import MECHANISMS
from benchmarks.bench.ours import kernel
from tests import ROOT
from tests.benchmarks.bench.samples import at
from tests.scripts import docs_script
from tests.sweeps import sweep

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def maker() -> Any:
    return docs_script("make_peers")


def test_the_page_agrees_with_the_results(maker: Any) -> None:
    text = (DOCS / "evidence" / "comparison.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"<!-- table: ([\w-]+) -->", text)) == sorted(maker.TABLES)
    for page in maker.PAGES:
        text = page.read_text(encoding="utf-8")
        assert re.search("<!-- table: forward -->\n\n\\| program", text)
        assert maker.renewed(text, maker.TABLES) == text, "run `python docs/make/make_peers.py`"


def test_every_time_of_a_peer_is_on_the_page_with_its_version() -> None:
    """Read from the page's text, without the code that wrote it."""
    text = (DOCS / "evidence" / "comparison.md").read_text(encoding="utf-8")
    lines = [[x.strip() for x in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    compared = 0
    for name in ("benchmark.csv", "simulation-benchmark.csv"):
        rows, machine = table.read_csv(DOCS / "data" / name)
        assert machine["linkwright"] and machine["date"] and machine["pin"] in text and machine["processor"] in text
        for r in (r for r in rows if r.ns is not None and not r.engine.startswith((table.OURS, "import"))):
            there = [line for line in lines if line[:2] == [r.engine, r.version]]
            shown = table.duration(r.ns)
            assert any(cell.split(" (")[0] == shown for line in there for cell in line), f"{r.engine}, {r.mechanism}: {shown}"
            said = re.findall(r"([\d.,]+) x\b", " ".join(" ".join(line) for line in there))
            assert r.ratio is None or any(float(x.replace(",", "")) == pytest.approx(r.ratio, rel=5.1e-3) for x in said)  # three digits
            compared += 1
    assert compared > 40  # 9 programs on 4 mechanisms, and runs


def test_a_changed_result_changes_the_page(maker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "benchmark.csv"
    text = (DOCS / "data" / "benchmark.csv").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("MuJoCo mj_forward") and ",stewart," in line)
    other.write_text(text.replace(row, re.sub(r"forward,[\d.]+,", "forward,77700.0,", row)), encoding="utf-8")
    monkeypatch.setattr(maker, "STATES", other)
    assert "77.7 us" in maker.states("forward") and "77.7 us" not in maker.states("inverse")


@sweep("name", ["four-bar", "3-rrr"], now=1)
def test_the_results_are_of_this_code(name: str) -> None:
    """Kernels that have other operations today want to be measured again."""
    assert name in MECHANISMS
    kept = {
        r.quantity: r.operations
        for r in table.read_csv(DOCS / "data" / "benchmark.csv")[0]
        if r.mechanism == name and r.engine == table.OURS
    }
    for quantity in ("forward", "inverse"):
        assert kernel(at(name).system, quantity).operations == kept[quantity]

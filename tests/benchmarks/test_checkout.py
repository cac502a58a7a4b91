"""`linkwright bench`: measurements from the checkout, and the reason where there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import peers, run_peers
from benchmarks.bench import SUBJECTS, measure, ours, processes, runs, speed
from benchmarks.bench.cases import BenchCase, BenchRow, Contender
from benchmarks.bench.free_run import FreeRun
from linkwright.errors import UsageError
from linkwright.rings.cli import bench
from tests import ROOT
from tests.benchmarks.bench.samples import at, short
from tests.refusals import refused

OPEN = """
import sys
from linkwright.rings.cli import bench
assert "benchmarks" not in sys.modules
print(bench.checkout().__file__)
"""


def test_a_checkout_is_found_from_any_directory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == ROOT / "benchmarks" / "bench" / "__init__.py"
    assert SUBJECTS == bench.SUBJECTS


def test_elsewhere_the_command_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "FOLDER", tmp_path / "benchmarks")
    with refused(UsageError, name="benchmarks"):
        bench.checkout()
    (tmp_path / "benchmarks").mkdir()  # any folder of that name, not next to the sources
    (tmp_path / "benchmarks" / "__init__.py").write_text("", encoding="utf-8")
    with refused(UsageError, name="benchmarks"):
        bench.checkout()


def test_peers_compare_kernels_and_runs_only() -> None:
    with pytest.raises(UsageError, match="not verbs"):
        measure("verbs", peers=True)


@pytest.mark.slow
def test_peers_take_part_in_states_and_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def offer(place: Any, shop: Any, *more: Any) -> list[Contender | BenchRow]:
        name, quantity = (place.name, "forward") if isinstance(place, BenchCase) else (place.case.name, "run")
        assert isinstance(place, BenchCase | FreeRun) and shop.directory == tmp_path
        return [Contender(BenchRow("other", "1", name, quantity, accuracy=1.0), lambda seconds: 200.0)]

    def own(here: BenchCase) -> list[Contender | BenchRow]:
        return [Contender(BenchRow("linkwright", "1", here.name, "forward", accuracy=0.0), lambda seconds: 50.0)]

    prepared: list[Any] = []
    monkeypatch.setattr(peers, "offered", offer)
    monkeypatch.setattr(peers, "prepare", prepared.append)
    monkeypatch.setattr(run_peers, "offered", offer)
    monkeypatch.setattr(ours, "contenders", own)
    for name in ("import_rows", "first_use_rows"):
        monkeypatch.setattr(processes, name, lambda *_: [])
    monkeypatch.setattr(speed, "ladder", lambda loops: [])
    rows = speed.run(peers=True, quick=True, mechanisms=["four-bar"], build=tmp_path)
    assert [(r.engine, r.ratio) for r in rows] == [("linkwright", None), ("other", 4.0)] and len(prepared) == 1
    with peers.Peers(tmp_path, print) as found:
        assert [c.row.engine for c in runs.offered(short(), found) if isinstance(c, Contender)][-1] == "other"
        assert len(found.on_case(at("four-bar"))) == 1

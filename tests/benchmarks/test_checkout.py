"""`linkwright bench --peers`: drivers from the checkout, and the reason where there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import peers, run_peers
from linkwright.errors import UsageError
from linkwright.rings.cli.bench import checkout, ours, processes, runs, speed
from linkwright.rings.cli.bench.cases import BenchCase, BenchRow, Contender
from linkwright.rings.cli.bench.free_run import FreeRun
from tests import ROOT
from tests.rings.cli.bench.samples import at, short

OPEN = """
import sys
from linkwright.rings.cli.bench import checkout
assert "benchmarks" not in sys.modules
with checkout.opened(sys.argv[1], print) as found:
    print(sys.modules[type(found).__module__].__file__)
"""


@pytest.mark.slow
def test_a_checkout_is_found_from_any_directory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN, str(tmp_path / "built")]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == ROOT / "benchmarks" / "peers.py" and (tmp_path / "built").is_dir()


def test_elsewhere_the_command_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checkout, "FOLDER", tmp_path / "benchmarks")
    for alone in (None, "only"):
        with pytest.raises(UsageError, match="needs a checkout of the repository"):
            speed.run(peers=True, quick=True, mechanisms=["four-bar"], runs=alone)
    (tmp_path / "benchmarks").mkdir()  # any folder of that name, not beside the sources
    (tmp_path / "benchmarks" / "__init__.py").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="needs a checkout of the repository"):
        checkout.opened(None, print)


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
    with checkout.opened(tmp_path, print) as found:
        assert [c.row.engine for c in runs.offered(short(), found) if isinstance(c, Contender)][-1] == "other"
        assert len(found.on_case(at("four-bar"))) == 1

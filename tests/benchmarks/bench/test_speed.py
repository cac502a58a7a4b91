"""Our kernels as contenders: the mechanics of the cases, rounds and ratios, results in files. Times are not tested."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.bench import machine_info, ours, processes, speed, table
from benchmarks.bench.cases import MECHANISMS, BenchCase, BenchRow, Contender, Unavailable, attempt
from linkwright import files
from linkwright.errors import UsageError
from tests.benchmarks.bench.samples import at
from tests.sweeps import sweep

# -------------------------------------------------------------------- the same mechanics


@sweep("name", MECHANISMS, now=3)
def test_states_are_closed_and_move(name: str) -> None:
    c = at(name)
    s, st = c.system, c.state
    assert np.abs(s.closure(st).phi).max() < 1e-10  # meters: assembled to round-off
    assert np.abs(s.closure(st).J @ st.v).max() < 1e-10 and np.abs(st.v).max() > 0.05
    np.testing.assert_allclose(s.closure(st).J @ c.a + s.closure(st).k, 0.0, atol=1e-8)  # loops stay closed; entries of size 1e2
    for drive, effort in c.tau.items():
        assert c.efforts[s.names.v.index(drive)] == effort
    back = s.inverse(st, c.a)
    assert c.effort_error([back.tau[drive] for drive in c.tau]) < 1e-9


@sweep("name", ["four-bar", "3-rrr"], now=1)
def test_our_kernels_agree_alone_and_in_batches(name: str) -> None:
    offers = [c for c in ours.contenders(at(name)) if isinstance(c, Contender)]
    every = {kind + more for kind in ("forward", "inverse") for more in ours.NOTES}
    assert {c.row.quantity for c in offers} == {*every, "derivatives"}
    for c in offers:
        # round-off times the conditioning of these states, below 1e4
        assert c.row.accuracy is not None and c.row.accuracy < 1e-11 and c.row.operations


def test_a_wrong_acceleration_shows_in_the_accuracy() -> None:
    c = at("four-bar")
    off = c.a.copy()
    off[0] += 0.01 * np.abs(c.a).max()
    assert c.error(c.a) == 0.0
    assert c.error(off) == pytest.approx(0.01)
    assert c.effort_error([2 * x for x in c.tau.values()]) == pytest.approx(1.0)


def test_a_program_that_fails_is_named_and_the_others_go_on() -> None:
    def broken() -> list[Contender]:
        raise ValueError("no such joint\nsecond line")

    (row,) = attempt("Other", "four-bar", ("forward",), broken)
    assert isinstance(row, BenchRow) and row.note == "not measured: ValueError: no such joint"

    def stops(seconds: float) -> float:
        raise Unavailable("ended")

    good, bad = BenchRow("A", "1", "four-bar", "forward"), BenchRow("B", "1", "four-bar", "forward")
    rows = speed.in_turns([Contender(bad, stops), Contender(good, lambda seconds: 5.0)], rounds=2)
    assert {r.engine: r.ns for r in rows} == {"A": 5.0, "B": None}
    assert next(r for r in rows if r.engine == "B").note == "not measured: Unavailable: ended"


# -------------------------------------------------------------------- rounds, ratios, files


def test_contenders_take_turns_and_the_best_round_counts() -> None:
    turns: list[str] = []

    def clock(name: str, times: list[float]) -> Callable[[float], float]:
        def run(seconds: float) -> float:
            turns.append(name)
            return times.pop(0)

        return run

    a, b = (BenchRow(name, "", "four-bar", "forward") for name in ("a", "b"))
    rows = speed.in_turns([Contender(a, clock("a", [5.0, 3.0, 4.0])), Contender(b, clock("b", [2.0, 9.0, 8.0]))], rounds=3)
    assert turns == ["a", "b"] * 3
    assert [(r.engine, r.ns) for r in rows] == [("b", 2.0), ("a", 3.0)]


ROWS = [
    BenchRow("linkwright", "0.1.0", "four-bar", "forward", ns=50.0, accuracy=1e-15, operations=200),
    BenchRow("casadi, best order", "3.8.2", "four-bar", "forward", ns=70.125, accuracy=4e-15, operations=233, note='a, "note"'),
    BenchRow("Drake", "", "four-bar", "step", note="not measured: the package 'drake' is not installed"),
]


def test_ratios_compare_the_same_mechanism_and_quantity() -> None:
    ratios = [r.ratio for r in table.with_ratios([*ROWS, BenchRow("Exudyn", "1", "four-bar", "step", ns=10.0)])]
    assert ratios == [None, pytest.approx(1.4025), None, None]


def test_results_survive_the_file(tmp_path: Path) -> None:
    rows, facts = table.with_ratios(ROWS), machine_info.machine()
    path = table.write_csv(rows, facts, tmp_path / "results.csv")
    assert table.read_csv(path) == (rows, facts)
    table.write_csv(rows[:1], facts, path)
    assert len(table.read_csv(path)[0]) == 1 and files.made_by_linkwright(path)
    with pytest.raises(UsageError, match=r"the folder '.*absent' does not exist"):
        table.write_csv(rows, facts, tmp_path / "absent" / "results.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(UsageError, match="columns should be"):
        table.read_csv(tmp_path / "other.csv")


def test_the_machine_is_stated() -> None:
    facts = machine_info.machine()
    assert facts["processor"] and int(facts["cores"]) >= 1 and facts["numpy"] == np.__version__
    assert all(facts[key] in machine_info.text(facts) for key in ("processor", "python", "linkwright", "numpy", "date"))


def test_durations_have_three_digits() -> None:
    assert [table.duration(x) for x in (68.91, 1830.0, 4.38e6, 1.5e9, None)] == ["68.9 ns", "1.83 us", "4.38 ms", "1.5 s", "-"]


def quick_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow parts of a run replaced by one row each."""

    def one(here: BenchCase) -> list[Contender | BenchRow]:
        return [Contender(BenchRow("linkwright", "", here.name, "forward", accuracy=0.0), lambda seconds: 50.0)]

    monkeypatch.setattr(ours, "contenders", one)
    monkeypatch.setattr(processes, "import_rows", lambda repeats: [BenchRow("import numpy", "", "-", "import", ns=1e8)])
    monkeypatch.setattr(
        processes, "first_use_rows", lambda name, repeats: [BenchRow("linkwright", "", name, "first use", note="not measured: x")]
    )
    monkeypatch.setattr(speed, "ladder", lambda loops: [BenchRow("linkwright", "", f"N={n}", "forward per loop", ns=9.0) for n in loops])


def test_the_command_prints_and_keeps_results(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    quick_parts(monkeypatch)
    said: list[str] = []
    path = tmp_path / "r.csv"
    rows = speed.main(quick=True, as_json=True, output=path, mechanisms=["four-bar", "stewart"], say=said.append)
    printed = json.loads(capsys.readouterr().out)
    assert printed["machine"] == table.read_csv(path)[1] and len(printed["results"]) == len(rows) == len(table.read_csv(path)[0])
    assert said[:2] == ["four-bar ...", "stewart ..."]
    speed.main(quick=True, mechanisms=["four-bar"], say=said.append)
    shown = capsys.readouterr().out
    assert "50 ns" in shown and "100 ms" in shown and "N=16" in shown
    with pytest.raises(UsageError, match="does not exist"):
        speed.main(quick=True, output=tmp_path / "absent" / "r.csv", mechanisms=["four-bar"], say=said.append)
    with pytest.raises(UsageError, match="no benchmark of 'fourbar'"):
        speed.main(mechanisms=["fourbar"])


def test_fresh_processes_are_timed_and_their_failures_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes.answer("import sys; print(1.5, len(sys.argv))", ["x"]) == [1.5, 2.0]
    monkeypatch.setattr(processes, "FIRST", "raise ValueError('no kernel')")
    rows = processes.first_use_rows("four-bar", 1)
    assert [r.quantity for r in rows] == ["first use", "second process"]
    assert all(r.ns is None and r.note == "not measured: ValueError: no kernel" for r in rows)

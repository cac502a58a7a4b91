"""`linkwright simulate`: drives, starts, files, plots, and runs that end early keep what they have."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings import cli
from linkwright.rings.cli import run_text, simulate
from tests import ROOT
from tests.sweeps import sweep

CRANK = """name: crank
plane: xy
units: [deg, rpm]
drawing: {A: [0, 0], B: [1, 0]}
bodies:
  ground: {pins: [A]}
  arm: {pins: [A], points: [B], mass: 2, com: B, inertia: 0}
drive: {A: 60 rpm}
"""


@pytest.fixture(autouse=True)
def crank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A point mass of 2 kg on an arm of 1 m, without weight: an inertia of 2 kg m^2 about A."""
    monkeypatch.chdir(tmp_path)
    Path("crank.yaml").write_text(CRANK, encoding="utf-8")


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict:
    assert cli.main(["simulate", "crank.yaml", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "angle", "speed"),
    [
        (["2"], 4 * np.pi, 2 * np.pi),  # as the file says: 60 rpm
        (["2 s", "--undriven"], 0.0, 0.0),
        (["2000 ms", "--undriven", "--set", "A.v=30", "--set", "A=90"], 2.5 * np.pi, np.pi),  # bare numbers: rpm and deg, as in the file
        (["2", "--drive", "A=3 N m"], 3.0, 3.0),  # a = T/J = 1.5 rad/s^2
        (["2", "--drive", "A=1 N m * t/(1 s)"], 2 / 3, 1.0),  # a = t/2
        (["2", "--drive", "A=undriven", "--set", "A.v=1 rad/s"], 2.0, 1.0),
        (["2", "--drive", "A=15 rpm"], np.pi, 0.5 * np.pi),
        (["2", "--drive", "A=90 deg"], 0.5 * np.pi, 0.0),
    ],
)
def test_drives_and_starts(words: list[str], angle: float, speed: float, capsys: pytest.CaptureFixture[str]) -> None:
    end = told(words, capsys)["end"]["A"]
    # 1e-8: the tolerance of a step is 1e-9
    assert end["value"] == pytest.approx(angle, abs=1e-8) and end["rate"] == pytest.approx(speed, abs=1e-8)


def test_what_is_printed_is_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", "crank.yaml", "2", "--drive", "A=3 N m"]) == 0
    lines = [x.split() for x in capsys.readouterr().out.splitlines()]
    assert ["A", "171.89", "deg", "28.648", "rpm", "0", "171.89"] in lines  # 3 rad, 3 rad/s
    assert ["A.torque", "3", "3", "3", "N", "m"] in lines
    assert ["energy.kinetic", "0", "9", "9", "J"] in lines and ["work.in", "0", "9", "9", "J"] in lines
    assert any(line[:3] == ["passed:", "run,", "loops,"] for line in lines)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["2", "--set", "A.v=10rpm"], "--undriven"),
        (["2", "--drive", "A=90 deg", "--set", "A=10"], "prescribed"),
        (["2", "--drive", "A=2 kg"], "mass"),
        (["2", "--drive", "A=2 Nn"], "Nn"),
        (["2", "--drive", "B=2 N m"], "Joints and cylinders: A"),
        (["2", "--drive", "A=12 V"], "motor"),
        (["2", "--channels", "A,arm.B"], "arm.B.x"),
        (["2", "--channels", "a"], "there is no channel 'a'"),
        (["2", "--integrator", "rk4"], "step"),
        (["2", "-o", "run.xls"], ".parquet"),
        (["2", "-o", "run.npz", "--sep", ";"], "--sep and --decimal are for tables in .csv"),
        (["2", "--resolution", "720p"], "--resolution is the size of an animation"),
        (["2", "-o", "a.npz", "--plot", "crank.yaml"], ".png"),
        (["2", "--page", "x.html", "--animation", "x.html"], "same file name"),
        (["2", "--param", "L=1"], "'L'"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_written(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", "crank.yaml", *words]) == 1
    out, err = capsys.readouterr()
    assert said in err and err.count("\n") == 1 and not out
    assert [p.name for p in Path().iterdir()] == ["crank.yaml"]


def test_names_are_checked_before_long_work(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = []
    whole = lw.Mechanism.simulate
    monkeypatch.setattr(lw.Mechanism, "simulate", lambda m, duration, **o: asked.append(duration) or whole(m, duration, **o))
    assert cli.main(["simulate", "crank.yaml", "2", "--channels", "a"]) == 1
    assert "there is no channel 'a'" in capsys.readouterr().err and asked == [0]


@pytest.mark.slow
def test_files_hold_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "crank.yaml", "0.5", "--sample-interval", "0.1"]
    assert cli.main([*words, "-o", "run.npz", "--plot", "run.png"]) == 0
    assert cli.main([*words, "-o", "run.parquet"]) == 0
    assert cli.main([*words, "-o", "run.csv", "--channels", "A,A.torque,arm.B.x"]) == 0
    assert capsys.readouterr().out.count("wrote ") == 4
    run, other = lw.load_result("run.npz"), lw.load_result("run.parquet")
    assert run.identical(other) and len(run) == 6 and run.checks()
    with open("run.csv", newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["t [s]", "A [deg]", "A.torque [N m]", "arm.B.x [m]"]
    np.testing.assert_allclose(np.array(rows, dtype=float)[:, 1], run["A", "deg"], rtol=1e-14)
    assert Path("run.png").stat().st_size > 5_000
    for name in ("run.npz", "run.parquet", "run.csv"):  # results of an earlier run are replaced
        assert cli.main([*words, "-o", name]) == 0


def test_a_run_that_cannot_go_on_is_kept_up_to_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", "crank.yaml", "2", "--drive", "A=1 N m / (1 - t/(1 s))", "-o", "run.npz"]) == 1
    out, err = capsys.readouterr()
    run = lw.load_result("run.npz")
    assert err.startswith("error: ") and err.count("\n") == 1 and "in run.npz" in err and "`run`" not in err
    assert 0.9 < run.t[-1] <= 1.0 and "failed: run (" in out and "wrote run.npz" in out


@pytest.mark.slow
def test_a_run_that_cannot_go_on_is_shown_and_the_reason_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "crank.yaml", "2", "--drive", "A=1 N m / (1 - t/(1 s))"]
    assert cli.main([*words, "--page", "run.html", "--plot", "run.png"]) == 1
    err = capsys.readouterr().err
    assert Path("run.html").exists() and Path("run.png").exists()
    assert err.count("\n") == 1 and "Nothing is lost" in err and "masses and drives" not in err


def test_an_interrupt_keeps_what_was_computed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C as the time loop sees it: raised out of the observer of steps, in the third slice."""
    from linkwright.simulation.run import Bar

    calls = []

    def press(bar: Bar, t: float, h: float = 0.0) -> None:
        calls.append(t)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "__call__", press)
    words = [
        "simulate",
        "crank.yaml",
        "1000",
        "--undriven",
        "--set",
        "A.v=60",
        "--integrator",
        "rk4",
        "--step",
        "0.1 ms",
        "--sample-interval",
        "0.1",
    ]
    assert cli.main([*words, "-o", "run.npz"]) == 130
    out, err = capsys.readouterr()
    run = lw.load_result("run.npz")
    assert "interrupted at t = " in out and "in run.npz" in err and "wrote run.npz" in out
    assert 0.0 < run.t[-1] < 1000 and run["A"][-1] == pytest.approx(2 * np.pi * run.t[-1], rel=1e-9)
    assert not [p for p in Path().iterdir() if p.name.startswith(".")]


def test_interrupted_while_writing_nothing_stays(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from linkwright.results import files as run_files

    def half(c: object, path: Path, channels: object) -> None:
        path.write_bytes(b"half of it")
        raise KeyboardInterrupt

    monkeypatch.setitem(run_files.WHOLE, ".npz", half)
    assert cli.main(["simulate", "crank.yaml", "0.1", "-o", "run.npz"]) == 130
    assert [p.name for p in Path().iterdir()] == ["crank.yaml"] and "interrupted" in capsys.readouterr().err


def test_a_signal_from_outside_leaves_no_half_written_file() -> None:
    """A process of its own, ended as a scheduler would: what is there is whole."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = [
        "simulate",
        "crank.yaml",
        "1e5",
        "--undriven",
        "--set",
        "A.v=60",
        "--integrator",
        "rk4",
        "--step",
        "1e-5",
        "--sample-interval",
        "0.1",
    ]
    command = [
        sys.executable,
        "-c",
        "import sys; from linkwright.rings.cli import main; print('ready', flush=True); sys.exit(main(sys.argv[1:]))",
    ]
    process = subprocess.Popen(
        [*command, *words, "-o", "run.npz"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(1.5)  # in the run, or on a busy machine still before it: both must hold
    number, code = (signal.SIGTERM, 143) if os.name == "posix" else (signal.SIGINT, 130)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code and "interrupted" in err and "Traceback" not in err
    left = {p.name for p in Path().iterdir()} - {"crank.yaml"}
    assert left <= {"run.npz"}
    if left:
        assert lw.load_result("run.npz").certificate.status == "interrupted"


def test_one_file_that_fails_does_not_lose_the_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(run: object, what: object, path: str, **options: object) -> None:
        raise lw.LinkwrightError("the disk is full.")

    monkeypatch.setattr(lw.Trajectory, "plot", full)
    assert cli.main(["simulate", "crank.yaml", "0.1", "--plot", "x.png", "-o", "run.npz"]) == 1
    out, err = capsys.readouterr()
    assert err == "error: the disk is full.\n" and "wrote run.npz" in out and Path("run.npz").exists()


def test_the_options_of_a_run_reach_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "0.1",
        "--undriven",
        "--integrator",
        "rk4",
        "--step",
        "10 ms",
        "--formulation",
        "kkt",
        "--stabilizer",
        "baumgarte",
        "--sample-interval",
        "steps",
    ]
    data = told(words, capsys)
    c = data["certificate"]
    assert (c["integrator"], c["step"], c["formulation"], c["steps"], data["samples"]) == ("rk4", 0.01, "kkt", 10, 11)
    assert "Baumgarte" in c["stabilizer"] or "baumgarte" in c["stabilizer"]
    assert set(simulate.SETTINGS) <= {o.flags[-1].strip("-").replace("-", "_") for o in simulate.COMMAND.every_option()}


def test_the_rms_is_over_time_not_over_samples() -> None:
    t = np.array([0.0, 0.1, 0.15, 1.0, 3.0])
    y = np.array([1.0, -4.0, 2.0, 0.5, 3.0])
    expected = np.sqrt(np.dot(np.diff(t), (y[1:] ** 2 + y[:-1] ** 2) / 2) / (t[-1] - t[0]))
    assert run_text._spread(t, y) == {"min": -4.0, "max": 3.0, "rms": pytest.approx(expected, rel=1e-14)}
    assert run_text._spread(t[:1], y[1:2])["rms"] == 4.0  # one sample: its size


def test_an_interrupted_run_is_not_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cut_short = SimpleNamespace(certificate=SimpleNamespace(status="interrupted"))
    monkeypatch.setattr(lw.Mechanism, "simulate", lambda *words, **options: cut_short)
    assert cli.main(["report", "crank.yaml", "--simulate", "5", "-o", "r.html"]) == 130
    assert "interrupted" in capsys.readouterr().err and not Path("r.html").exists()


@pytest.mark.slow
def test_reports_of_no_time_and_of_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "crank.yaml", "--simulate", "0", "-o", "r.html"]) == 0
    assert cli.main(["simulate", "crank.yaml", "0.1", "-o", "run.npz"]) == 0
    assert cli.main(["report", "run.npz", "--simulate", "5", "-o", "s.html"]) == 1
    assert "--simulate needs a model" in capsys.readouterr().err and not Path("s.html").exists()


@sweep("closed", [">&- 2>&-", ">&-", "2>&-"], now=1)
def test_closed_streams_do_not_keep_files_from_being_written(closed: str) -> None:
    line = f'"{sys.executable}" -m linkwright simulate crank.yaml 0.1 -o run.npz {closed}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    assert subprocess.run(["sh", "-c", line], env=environment, capture_output=True, timeout=120).returncode == 0
    assert len(lw.load_result("run.npz")) > 1


@pytest.mark.parametrize("words", [["simulate", "crank.yaml", "0.1"], ["report", "crank.yaml"], ["cycle", "crank.yaml"], ["crank.yaml"]])
def test_an_empty_file_name_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*words, "-o", ""]) == 1
    assert "file is empty" in capsys.readouterr().err and [p.name for p in Path().iterdir()] == ["crank.yaml"]


def test_the_push_of_a_rigid_stop_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Names are checked in a run of no length, in which no stop is reached yet: the channel is there from the start."""
    text = CRANK.replace("drive: {A: 60 rpm}", "drive: {A: 3 N m}\nstops: {A: {max: 20}}")
    Path("stopped.yaml").write_text(text, encoding="utf-8")
    assert cli.main(["simulate", "stopped.yaml", "1", "--channels", "A.stop.torque", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["channels"]["A.stop.torque"]["values"][-1] == pytest.approx(-3.0)

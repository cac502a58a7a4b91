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
from linkwright import cli
from linkwright.cli import run_text, simulate

ROOT = Path(__file__).resolve().parent.parent.parent
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
        (["2 s", "--free"], 0.0, 0.0),
        (["2000 ms", "--free", "--speed", "A=30", "--set", "A=90"], 2.5 * np.pi, np.pi),  # bare numbers: rpm and deg, as in the file
        (["2", "--drive", "A=3 N m"], 3.0, 3.0),  # a = T/J = 1.5 rad/s^2
        (["2", "--drive", "A=1 N m * t/(1 s)"], 2 / 3, 1.0),  # a = t/2
        (["2", "--drive", "A=free", "--speed", "A=1 rad/s"], 2.0, 1.0),
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
    assert ["trustworthy"] in lines


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["2", "--speed", "A=10rpm"], "--free"),
        (["2", "--drive", "A=90 deg", "--set", "A=10"], "prescribed"),
        (["2", "--drive", "A=2 kg"], "mass"),
        (["2", "--drive", "A=2 Nn"], "Nn"),
        (["2", "--drive", "B=2 N m"], "Joints and cylinders: A"),
        (["2", "--drive", "A=12 V"], "motor"),
        (["2", "--output", "run.csv"], "-o run.csv"),
        (["2", "--channels", "A,arm.B"], "arm.B.x"),
        (["2", "--channels", "a"], "there is no channel 'a'"),
        (["2", "--integrator", "rk4"], "step"),
        (["soon"], "duration"),
        (["-1"], "zero or more"),
        (["2", "-o", "run.xlsx"], ".parquet"),
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
    cut_short = SimpleNamespace(certificate=SimpleNamespace(status="interrupted"))
    monkeypatch.setattr(lw.Mechanism, "simulate", lambda *words, **options: cut_short)
    assert cli.main(["report", "crank.yaml", "--simulate", "5", "-o", "r.html"]) == 130
    assert "interrupted" in capsys.readouterr().err and not Path("r.html").exists()


def test_reports_of_no_time_and_of_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "crank.yaml", "--simulate", "0", "-o", "r.html"]) == 0
    assert cli.main(["simulate", "crank.yaml", "0.1", "-o", "run.npz"]) == 0
    assert cli.main(["report", "run.npz", "--simulate", "5", "-o", "s.html"]) == 1
    assert "--simulate needs a model" in capsys.readouterr().err and not Path("s.html").exists()

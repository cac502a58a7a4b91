"""The command line: every built-in model, files, JSON, exit codes, consoles that cannot print everything."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.files import read_csv_table
from linkwright.model import library as models
from linkwright.rings import cli
from tests import ROOT
from tests.rings.cli.schemas import disagreements


def run(*words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, as a user starts it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **(environment or {})}
    return subprocess.run([sys.executable, "-m", "linkwright", *words], env=env, capture_output=True, timeout=120)


def exit_code(words: list[str]) -> int:
    try:
        return cli.main(words)
    except SystemExit as stop:
        return int(stop.code or 0)


# ---------------------------------------------------------------- the wiper against a four-bar solved on paper


def four_bar(angle: float, rate: float) -> dict[str, np.ndarray]:
    """Closed form of the wiper: C is where two circles meet; velocities from the vector loop.

    Drawn pins in meters: A (0, 0), B (0.15, 0.26), C (0.905, 0.75), D (1, 0), P (0.6, 0.76).
    """
    A, B0, C0, D, P0 = (np.array(x) for x in ((0, 0), (0.15, 0.26), (0.905, 0.75), (1.0, 0.0), (0.6, 0.76)))
    r, rod, rocker = np.linalg.norm(B0), np.linalg.norm(C0 - B0), np.linalg.norm(C0 - D)
    B = A + r * np.array([np.cos(angle), np.sin(angle)])
    d = D - B
    distance = np.linalg.norm(d)
    along = (distance**2 + rod**2 - rocker**2) / (2 * distance)
    height = np.sqrt(rod**2 - along**2)
    n = np.array([-d[1], d[0]]) / distance
    C = B + along * d / distance + height * n  # the drawn side: left of the way from B to D

    def turned(v: np.ndarray) -> np.ndarray:
        return np.array([-v[1], v[0]])

    vB = rate * turned(B - A)
    # vB + w2 (C-B)~ = w3 (C-D)~
    w2, w3 = np.linalg.solve(np.column_stack([turned(C - B), -turned(C - D)]), -vB)
    e0, e = (C0 - B0) / rod, (C - B) / rod
    s = P0 - B0
    P = B + (s @ e0) * e + (s @ turned(e0)) * turned(e)
    return {"rocker": np.arctan2(*(C - D)[::-1]), "w2": w2, "w3": w3, "P": P, "vP": vB + w2 * turned(P - B), "C": C}


def test_turn_of_the_wiper_against_the_closed_form(tmp_path: Path) -> None:
    path = tmp_path / "wiper.csv"
    assert cli.main(["cycle", "wiper", "--steps", "24", "-o", str(path)]) == 0
    with open(path, newline="", encoding="utf-8") as stream:
        header, *rows = list(csv.reader(stream))
    table = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    rate = 45 * np.pi / 30
    rpm = 30 / np.pi
    assert len(rows) == 25
    np.testing.assert_allclose(table["A [deg]"], np.degrees(np.arctan2(0.26, 0.15)) + 15 * np.arange(25), atol=1e-9)
    for i, angle in enumerate(np.radians(table["A [deg]"])):
        exact = four_bar(angle, rate)
        # 1e-9: sixteen digits, minus what two intersections of circles lose; the file holds all digits
        assert table["rocker.angle [deg]"][i] == pytest.approx(np.degrees(exact["rocker"]), abs=1e-9)
        assert table["rocker.angle.v [rpm]"][i] == pytest.approx(exact["w3"] * rpm, abs=1e-9)
        assert table["coupler.angle.v [rpm]"][i] == pytest.approx(exact["w2"] * rpm, abs=1e-9)
        for k, axis in enumerate("xy"):
            assert table[f"coupler.P.{axis} [mm]"][i] == pytest.approx(1e3 * exact["P"][k], abs=1e-9)
            assert table[f"coupler.P.v{axis} [mm/s]"][i] == pytest.approx(1e3 * exact["vP"][k], abs=1e-8)


def test_accelerations_of_the_wiper_against_differences_of_the_closed_form() -> None:
    c = lw.load("wiper").cycle(steps=24)
    rate, h = 45 * np.pi / 30, 1e-5
    for angle, acceleration, a_P in zip(c["A"], c["rocker.angle.a"], c["coupler.P.a"], strict=True):
        before, after = (four_bar(angle + s * rate * h, rate) for s in (-1, 1))
        # central differences of exact velocities: error h^2/6 of the third derivative (about 1e-7) and round-off/h (1e-10)
        assert acceleration == pytest.approx((after["w3"] - before["w3"]) / (2 * h), abs=1e-5)
        np.testing.assert_allclose(a_P, (after["vP"] - before["vP"]) / (2 * h), atol=1e-5)


# ---------------------------------------------------------------- files and JSON


def test_csv_columns_are_the_channels(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    assert cli.main(["cycle", "carpet-scraper", "--steps", "6", "-o", str(path)]) == 0
    c = lw.load("carpet-scraper").cycle(steps=6)
    header = read_csv_table(path, 10**7).header
    loads = c._load_channels
    names = [n for n in c._main_channels() if n not in loads] + [n for n in loads if c[n].ndim == 1]
    assert list(header) == [f"{n} [{c.unit(n)[0]}]" for n in names]
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    np.testing.assert_allclose(table[:, header.index("tool.T.x [m]")], c["tool.T.x"], rtol=1e-12, atol=1e-15)


def test_npz_holds_si(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    assert cli.main(["cycle", "wiper", "--steps", "6", "-o", str(path)]) == 0
    with np.load(path) as data:
        np.testing.assert_allclose(data["A.v"], 45 * np.pi / 30)


def test_turn_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["cycle", "wiper", "--steps", "8", "--json", "-o", str(tmp_path / "x.csv")]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert set(data) == {
        "schema",
        "model",
        "drive",
        "full_turn",
        "ok",
        "verdict",
        "checks",
        "notes",
        "static",
        "singular",
        "near_singular",
        "steps",
        "channels",
        "cams",
        "measures",
        "loads",
    }
    assert (data["schema"], data["model"], data["drive"], data["full_turn"], data["steps"]) == ("linkwright.cycle/1", "wiper", "A", True, 8)
    assert all(set(x) == {"unit", "values"} and len(x["values"]) == 9 for x in data["channels"].values())
    assert data["channels"]["A.v"]["unit"] == "rad/s" and data["channels"]["A.v"]["values"][0] == pytest.approx(45 * np.pi / 30)
    assert data["channels"]["coupler.P.x"]["values"][0] == pytest.approx(0.6)  # meters, as drawn
    assert "wrote" in err


def test_turn_measures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["--measure", "stroke D", "--measure", "time ratio D", "--channels", "D.jerk"]
    assert cli.main(["cycle", "wiper", "--json", "--no-loads", *asked]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("cycle", data) == []
    c = lw.load("wiper").cycle()
    assert [x["name"] for x in data["measures"]] == ["stroke D", "time ratio D"]
    assert data["measures"][0]["value"] == c.measure("stroke D") and data["measures"][0]["unit"] == "rad"
    assert data["channels"]["D.jerk"]["unit"] == "rad/s^3" and data["channels"]["D.jerk"]["values"] == c["D.jerk"].tolist()
    assert cli.main(["cycle", "wiper", "--steps", "36", *asked, "-o", str(tmp_path / "turn.csv")]) == 0
    assert f"stroke D      {c.measure('stroke D', 'deg'):.4g}" in capsys.readouterr().out
    assert '"D.jerk [deg/s^3]"' in (tmp_path / "turn.csv").read_text().splitlines()[0]
    for wrong, said in (("strok D", "Did you mean 'stroke'"), ("dwell D within 1 mm", "another unit"), ("stroke E", "no channel 'E'")):
        assert cli.main(["cycle", "wiper", "--measure", wrong]) == 1 and said in capsys.readouterr().err
    assert cli.main(["cycle", "wiper", "--channels", "coupler.P"]) == 1 and "is a vector" in capsys.readouterr().err


def test_info_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info", "carpet-scraper", "--json", "--internals", "--cuts", "J8,J9,J10"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "linkwright.info/1" and data["freedoms"] == 1 and data["drives"] == ["J1"] and data["bodies"] == 7
    assert data["residual"] < 1e-12 and data["mass"] == pytest.approx(1.5 + 3 + 5 + 4.2 + 3 + 10.5 + 3)
    assert data["topology"]["cuts"] == ["J8", "J9", "J10"]
    assert sorted(len(s) for s in data["topology"]["subsystems"]) == [1, 2, 4]
    rocker = next(r for r in data["swings"] if r["name"] == "rocker.angle")
    assert set(rocker) == {"name", "low", "high", "at_low", "at_high", "also_low", "also_high", "near_low", "near_high"}


def test_models_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["models"]
    assert [x["name"] for x in listed] == models.names() and all(x["about"] for x in listed)


def test_options_change_the_turn(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cycle", "four-bar", "--steps", "4", "--json", "--param", "L1=250mm", "--set", "A=90deg", "--speed", "30 rpm"]
    assert cli.main(words) == 0
    channels = json.loads(capsys.readouterr().out)["channels"]
    assert channels["A"]["values"][0] == pytest.approx(np.pi / 2)
    assert channels["A.v"]["values"][0] == pytest.approx(np.pi)
    assert np.hypot(channels["crank.B.x"]["values"][0], channels["crank.B.y"]["values"][0]) == pytest.approx(0.25)


def test_a_swing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cycle", "four-bar", "--param", "L1=0.8m", "--steps", "12"]) == 0
    told = capsys.readouterr().out
    assert (
        "note: drive 'A' cannot turn fully" in told
        and " ".join(told.split()).count("Loads grow without bound toward a singular position") == 1
    )


@pytest.mark.slow
def test_files_of_others_need_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept.csv"
    kept.write_text("precious")
    fresh = tmp_path / "fresh.png"
    words = ["cycle", "wiper", "--steps", "6", "-o", str(kept), "--picture", str(fresh)]
    assert cli.main(words) == 1
    assert "kept.csv' already exists and was not made by Linkwright; use --force to overwrite it." in capsys.readouterr().err
    assert kept.read_text() == "precious" and not fresh.exists()  # checked before anything is written
    assert cli.main([*words, "--force"]) == 0
    assert kept.read_text().startswith('"t [s]",')
    assert cli.main(words) == 0  # both are ours by now
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fresh.png", "kept.csv"]


def test_two_outputs_cannot_share_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.png")
    assert cli.main(["cycle", "wiper", "--plot", path, "--picture", path]) == 1
    assert "same file name" in capsys.readouterr().err


# ---------------------------------------------------------------- usage, errors, consoles


def test_welcome_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in models.names()) and out.count("\n  linkwright ") == 3
    for words in (["--help"], ["info", "--help"], ["cycle", "--help"], ["models", "--help"]):
        assert exit_code(words) == 0
        assert "example" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cylce", "wiper"], "Did you mean 'cycle'"),
        (["simulat", "wiper"], "Did you mean 'simulate'"),
        (["wipper"], "Did you mean 'wiper'"),
        (["--no-browser", "info"], "the command comes first"),
        (["cycle", "wiper", "--speed", "30", "rpm"], "quotes"),
        (["simulate", "wiper", "1", "--integrator", "rk5"], "Did you mean 'rk4'"),
        (["simulate", "wiper", "1", "--stabilizer", "projct"], "Did you mean 'project'"),
        (["simulate", "wiper", "1", "--formulation", "klm"], "slm"),
        (["simulate", "wiper", "1", "--tolerance", "0"], "between 0 and 1"),
        (["simulate", "wiper"], "DURATION"),
        (["cycle"], "MODEL"),
        (["cycle", "wiper", "--steps", "0"], "from 2 to"),
        (["cycle", "wiper", "--steps", "many"], "from 2 to"),
        (["report", "wiper", "--steps", "1"], "from 2 to 100000"),
        (["wiper", "--steps", "100001", "-o", "x.html"], "from 2 to 100000"),
        (["cycle", "wiper", "--param", "L1"], "NAME=VALUE"),
        (["info", "wiper", "--frobnicate"], "frobnicate"),
        (["info", "wiper", "--internal"], "Did you mean '--internals'"),
    ],
)
def test_wrong_usage_is_2(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(words) == 2
    out, err = capsys.readouterr()
    assert said in err and not out and "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["info", "wipper"], "Did you mean 'wiper'"),
        (["info", "missing.yaml"], "missing.yaml"),
        (["cycle", "wiper", "--drive", "Q"], "no joint 'Q'"),
        (["cycle", "wiper", "--speed", "45 mm"], "mm"),
        (["cycle", "wiper", "--param", "L9=1"], "L9"),
        (["cycle", "wiper", "--set", "Z=1"], "Z"),
        (["cycle", "wiper", "-o", "out.xls"], ".csv"),
        (["cycle", "wiper", "--picture", "nowhere/p.png"], "nowhere"),
        (["info", "wiper", "--cuts", "Q"], "Q"),
    ],
)
def test_what_cannot_be_done_is_1(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(words) == 1
    out, err = capsys.readouterr()
    assert said in err and err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err and not out
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_bad_model_is_one_paragraph(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(
        "name: bad\nplane: xy\ndrawing: {A: [0, 0], B: [1, 0]}\nbodies:\n  ground: {pins: [A]}\n  crank: {pins: [A, B], mas: 1}\n"
    )
    done = run("info", str(path))
    text = done.stderr.decode()
    assert done.returncode == 1 and not done.stdout
    assert "bad.yaml:6" in text and "'mas'" in text and "mass" in text and "Traceback" not in text and text.count("\n") == 1


@pytest.mark.slow
def test_a_process_on_a_poor_console(tmp_path: Path) -> None:
    """As a user starts it; test_console has all commands."""
    path = tmp_path / "größer.yaml"
    path.write_text(
        'about: "Ω größer als π"\nplane: xy\ndrawing: {A: [0, 0]}\nbodies: {ground: {pins: [A]}, crank: {pins: [A]}}\n', encoding="utf-8"
    )
    poor = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "COLUMNS": "40"}
    done = run("info", str(path), environment=poor)
    assert done.returncode == 0 and "als ?" in done.stdout.decode("ascii"), done.stderr
    missing = run("info", "größer", environment=poor)
    assert missing.returncode == 1 and b"Traceback" not in missing.stderr and missing.stderr.decode("ascii").startswith("error: ")


def test_a_closed_pipe_is_no_error() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen([sys.executable, "-m", "linkwright", "models"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()  # the reader goes away before anything is printed
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0 and not complaint


def test_bare_numbers_mean_the_units_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    """The wiper's file writes degrees and rpm, so does its command line."""
    shown = []
    for words in (["--set", "A=90", "--speed", "30"], ["--set", "A=90 deg", "--speed", "30 rpm"]):
        assert cli.main(["cycle", "wiper", "--steps", "4", "--no-loads", "--json", *words]) == 0
        shown.append(json.loads(capsys.readouterr().out))
    first, second = (x.pop("channels") for x in shown)
    verdicts = [[(check["name"], check["verdict"]) for check in x.pop("checks")] for x in shown]  # their figures are round-off
    assert verdicts[0] == verdicts[1]
    assert shown[0] == shown[1] and first.keys() == second.keys()
    for name, x in first.items():  # the second call may run on machine code that the first one had made: round-off
        assert x["values"] == pytest.approx(second[name]["values"], rel=1e-12, abs=1e-12), name
    shown[0]["channels"] = first
    assert shown[0]["channels"]["A"]["values"][0] == pytest.approx(1.5707963, abs=1e-6)
    assert shown[0]["channels"]["t"]["values"][-1] == pytest.approx(2.0)


def test_outputs_are_checked_before_anything_is_computed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cycle", "wiper", "--steps", "4", "-o", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert "folder" in told.err and told.out == ""
    assert cli.main(["cycle", "wiper", "--steps", "4", "-o", str(tmp_path / "no" / "x.csv")]) == 1
    told = capsys.readouterr()
    assert "does not exist" in told.err and told.out == ""


def test_sliders_stand_in_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cycle", "punch-press", "--steps", "4", "--no-loads"]) == 0
    assert "slide" in capsys.readouterr().out.splitlines()[2]

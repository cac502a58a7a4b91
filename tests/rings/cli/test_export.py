"""`linkwright export` and the registry of formats."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import linkwright as lw
from linkwright import files
from linkwright.errors import UsageError
from linkwright.rings import cli
from linkwright.rings.exchange import LossWarning
from linkwright.rings.exchange.formats import FORMATS, format_of
from tests.refusals import refused
from tests.rings.cli.schemas import disagreements


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = cli.main(["export", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_ending_decides_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost = "warning: script: 'four-bar' loses A (its prescribed speed, an input there).\n"
    assert said(capsys, "four-bar", "-o", tmp_path / "my.js") == (0, f"wrote {tmp_path / 'my.js'}\n", lost)
    assert (tmp_path / "my.js").read_text().startswith("// Kernels of four-bar by Linkwright")
    code, out, _ = said(capsys, "four-bar", "-o", tmp_path / "my-bar.c", "--precision", "single", "--parameters", "L1")
    assert code == 0 and out == f"wrote {tmp_path / 'my-bar.h'}\nwrote {tmp_path / 'my-bar.c'}\n"
    assert '#include "my-bar.h"' in (tmp_path / "my-bar.c").read_text() and "my_bar_at_parameters_L1" in (tmp_path / "my-bar.h").read_text()
    arguments = [
        "--platforms",
        "none",
        "--fmi",
        "2.0",
        "--input",
        "A=torque",
        "--channels",
        "A.v,C.load",
        "--parameters",
        "*.mass",
        "--undriven",
    ]
    assert said(capsys, "four-bar", "-o", tmp_path / "my.fmu", *arguments)[0] == 0
    text = zipfile.ZipFile(tmp_path / "my.fmu").read("modelDescription.xml").decode()
    assert 'fmiVersion="2.0"' in text and 'name="A.torque"' in text and 'name="rocker.mass"' in text and 'name="L1"' not in text


@pytest.mark.slow
def test_own_files_are_replaced_and_others_are_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, more in (("a.fmu", ["--platforms", "none"]), ("a.c", []), ("a.js", []), ("a.xml", [])):
        for _ in range(2):
            assert said(capsys, "slider-crank-equal", "-o", tmp_path / name, *more)[0] == 0
        assert files.made_by_linkwright(tmp_path / name)
        (tmp_path / name).write_text("mine")
        code, _, err = said(capsys, "slider-crank-equal", "-o", tmp_path / name, *more)
        assert code == 1 and "was not made by Linkwright; use --force" in err
        assert said(capsys, "slider-crank-equal", "-o", tmp_path / name, *more, "--force")[0] == 0


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "slider-crank-equal", "-o", tmp_path / "a.c", "--json")
    assert code == 0 and "wrote" in err
    data = json.loads(out)
    assert disagreements("export", data) == [] and data["format"] == "c" and len(data["files"]) == 2


def test_losses_are_printed_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "punch-press", "-o", tmp_path / "a.xml", "--timestep", "5e-4", "--json")
    data = json.loads(out)
    assert code == 0 and disagreements("export", data) == [] and [x["name"] for x in data["lost"]] == ["sheet", "E"]
    assert err.startswith("warning: MJCF: 'punch-press' loses sheet (") and 'timestep="0.0005' in (tmp_path / "a.xml").read_text()
    with pytest.warns(lw.exchange.LossWarning, match="MJCF: 'punch-press' loses sheet") as warned:
        lw.load("punch-press").export(tmp_path / "b.mjcf")
    assert warned[0].filename == __file__ and len(warned) == 1


WRONG = {
    "no file": (["four-bar"], "export needs the file to write"),
    "ending": (["four-bar", "-o", "a.step"], "unsupported file type '.step'. Use .yaml, .yml, .fmu"),
    "format": (["four-bar", "-o", "a.fmu", "--format", "fmi"], "there is no format 'fmi'. Did you mean 'fmu'"),
    "option of another": (["four-bar", "-o", "a.fmu", "--precision", "single"], "--precision is an option of c, and fmu has none"),
    "drives of a script": (["four-bar", "-o", "a.js", "--undriven"], "script has no motion in it"),
    "channel": (["four-bar", "-o", "a.fmu", "--channels", "C.lode"], "there is no channel 'C.lode'"),
    "folder": (["four-bar", "-o", "none/a.fmu"], "the folder 'none' does not exist"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, sentence = WRONG[case]
    code, _, err = said(capsys, *arguments)
    assert code == 1 and sentence in err and "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_every_format_is_reachable() -> None:
    endings = [e for x in FORMATS.values() for e in x.endings]
    assert len(set(endings)) == len(endings)
    for x in FORMATS.values():
        assert all(format_of(f"a{e}") is x for e in x.endings) and format_of("a", x.name) is x
    with refused(UsageError, value=3):
        lw.load("four-bar").export(3)
    with refused(UsageError, name="precision"):
        lw.load("four-bar").export("a.js", precision="single")


DISC = {
    "name": "disc", "plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "disc": {"pins": ["A"], "mass": 1.0, "com": "A", "inertia": 0.5}},
}  # fmt: skip
LAW = {"torque": "10 N m - 2 N m s/rad * A.v", "gear_ratio": 20, "limits": ["-5 N m", "5 N m"]}


@pytest.mark.parametrize("ending", [".c", ".js"])
def test_what_drives_do_is_lost_where_it_is_an_input(tmp_path: Path, ending: str) -> None:
    """Sources know no laws, gears and limits: every one that the model has is named, and nothing of a drive that has none."""
    for drive, lost in (
        (LAW, ["its torque, an input there", "its gear: the input there is the effort at the joint", "limits of its effort"]),
        ({"torque": 3.0}, ["its torque, an input there"]),
        ({"gear_ratio": 20}, ["its gear: the input there is the effort at the joint"]),
        ("60 rpm", ["its prescribed speed, an input there"]),
        ({"dc_motor": {"voltage": "12 V", "Kt": "0.1 N m/A", "R": "1 ohm"}}, ["its DC motor: the torque is an input there"]),
    ):
        with pytest.warns(LossWarning) as said:
            lw.load(DISC | {"drive": {"A": drive}}).export(tmp_path / f"a{ending}")
        message = said[0].message
        assert isinstance(message, LossWarning) and [tuple(x) for x in message.lost] == [("A", why, "drive") for why in lost]
    lw.load(DISC | {"drive": ["A"]}).export(tmp_path / f"a{ending}")  # warnings are errors here


def test_losses_of_sources_are_in_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lw.load(DISC | {"drive": {"A": LAW}}).save(tmp_path / "law.yaml")
    code, out, err = said(capsys, tmp_path / "law.yaml", "-o", tmp_path / "law.c", "--json")
    assert code == 0 and [x["name"] for x in json.loads(out)["lost"]] == ["A"] * 3 and "'disc' loses A (its torque" in err


def test_advice_on_rigid_stops_fits_the_file(tmp_path: Path) -> None:
    m = lw.load(DISC | {"drive": ["A"], "stops": {"A": {"min": -1.0, "max": 1.0}}})
    with pytest.warns(LossWarning, match="Give the stops a `stiffness:`"):
        m.export(tmp_path / "a.js")
    m.export(tmp_path / "a.urdf")
    with pytest.warns(LossWarning, match=r"Write the model as YAML first, m.save\('my.yaml'\).* and give the stops a `stiffness:`"):
        lw.load(tmp_path / "a.urdf").export(tmp_path / "a.js")


def test_model_files_are_no_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with refused(UsageError, name="path"):
        lw.load("four-bar").export(tmp_path / "x.yaml")
    assert cli.main(["export", "four-bar", "-o", str(tmp_path / "y.foo")]) == 1
    assert "unsupported file type '.foo'. Use .yaml, .yml, .fmu" in capsys.readouterr().err

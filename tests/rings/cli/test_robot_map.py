"""`linkwright workspace`: as `s.workspace`, JSON as documented, files only where asked for, messages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings import cli
from tests.rings.cli.schemas import disagreements

AXES = ["--over", "left_rod.C.x=60..140 / 9", "--over", "left_rod.C.y=100 mm..300 mm / 8"]


def test_a_map_is_that_of_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bare numbers are in the units of the file, mm here."""
    out, plot, page = tmp_path / "poses.csv", tmp_path / "maps.png", tmp_path / "workspace.html"
    files = ["-o", str(out), "--plot", str(plot), "--page", str(page)]
    assert cli.main(["workspace", "five-bar", *AXES, "--speeds", "300 rpm", *files]) == 0
    text = capsys.readouterr().out
    over = {"left_rod.C.x": (0.06, 0.14, 9), "left_rod.C.y": (0.1, 0.3, 8)}
    there = lw.load("five-bar").workspace(over, "all", speeds="300 rpm")
    assert str(there) in text
    head, *rows = out.read_text(encoding="utf-8").splitlines()
    assert head.startswith('"left_rod.C.x [m]","left_rod.C.y [m]","reach","type1 [-]"') and len(rows) == 72
    column = head.split(",").index('"speed [m/s]"')
    found = np.array([float(r.split(",")[column] or "nan") for r in rows])
    assert found == pytest.approx(there["speed"].ravel(), nan_ok=True)
    assert plot.stat().st_size > 10_000 and "STUDY=" in page.read_text(encoding="utf-8")


def test_json_is_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["workspace", "five-bar", *AXES, "--what", "dexterity,efforts", "--limit", "A=60..140 deg", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("workspace", data) == []
    mode = data["modes"][0]
    assert set(mode["measures"]) == {"type1", "type2", "dexterity", "A.torque", "E.torque"}
    assert mode["located"]["limit"] > 0 and sum(mode["counts"].values()) == 72


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--over", "left_rod.Q.x=0..1"], "neither a coordinate of a pose"),
        (["--over", "left_rod.C.x="], "write a range after the ="),
        ([*AXES, "--speeds", "A=3 rad/s", "--speeds", "5"], "one value for all drives, or NAME=VALUE"),
        ([*AXES, "--what", "speed"], "'speed' needs speeds="),
    ],
)
def test_messages(more: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["workspace", "five-bar", *more]) == 1
    assert said in capsys.readouterr().err


def test_reach_in_any_orientation(capsys: pytest.CaptureFixture[str]) -> None:
    places = ["--over", "platform.x=0.4..0.7 / 4", "--over", "platform.y=-0.1..0.1 / 3", "--orientation", "platform.angle=0.9..1.2 rad / 3"]
    assert cli.main(["workspace", "3-rrr", *places]) == 0
    assert "orientation_share" in capsys.readouterr().out
    assert cli.main(["workspace", "3-rrr", *places, "--speeds", "3 rad/s"]) == 1
    assert "speeds belongs to maps of one orientation" in capsys.readouterr().err


def test_no_pose_in_reach_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["workspace", "five-bar", "--over", "left_rod.C.x=5..6 m / 3", "--over", "left_rod.C.y=5..6 m / 3"]) == 1
    assert "no pose of the grid is in reach" in capsys.readouterr().out

"""Robots of other programs in `linkwright export` and the other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.rings import cli
from tests.rings.cli.schemas import disagreements
from tests.rings.exchange.reading.urdf.robots import written


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = cli.main([str(x) for x in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_robot_becomes_a_model_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot, out = written(tmp_path, "gepetto 3d"), tmp_path / "out.yaml"
    code, text, err = said(capsys, "export", robot, "-o", out, "--param", "rocker.mass=0.9")
    assert code == 0 and not err and "loop at closedloop1: closed to" in text and text.endswith(f"wrote {out}\n")
    assert lw.load(out).description.body("rocker").mass == 0.9
    code, text, _ = said(capsys, "export", robot, "-o", out, "--json")  # our own file is replaced
    data = json.loads(text)
    assert code == 0 and disagreements("export", data) == [] and data["import"]["format"] == "URDF" and data["format"] == "yaml"
    code, text, _ = said(capsys, "export", out, "-o", tmp_path / "out.js", "--kernels", "forward", "--json")
    assert code == 0 and disagreements("export", json.loads(text)) == []


def test_foreign_files_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot, mine = written(tmp_path, "loop"), tmp_path / "mine.yaml"
    mine.write_text("name: mine\n")
    code, _, err = said(capsys, "export", robot, "-o", mine)
    assert code == 1 and "--force" in err and mine.read_text() == "name: mine\n"
    assert said(capsys, "export", robot, "-o", mine, "--force")[0] == 0
    code, _, err = said(capsys, "export", robot, "-o", tmp_path / "a.docx")
    assert code == 1 and "unsupported file type '.docx'" in err


def test_other_commands_take_robots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot = written(tmp_path, "loop")
    code, text, _ = said(capsys, "info", robot)
    assert code == 0 and "1 degree of freedom, driven at A" in text and f"read from {robot} (URDF)" in text
    code, text, _ = said(capsys, "info", robot, "--param", "base=free", "--json")
    data = json.loads(text)
    assert code == 0 and disagreements("info", data) == [] and data["freedoms"] == 7
    code, text, _ = said(capsys, robot, "-o", tmp_path / "page.html")
    assert code == 0 and (tmp_path / "page.html").stat().st_size > 10_000
    (tmp_path / "broken.urdf").write_text("<robot>")
    code, _, err = said(capsys, "info", tmp_path / "broken.urdf")
    assert code == 1 and "broken.urdf:1: the XML is malformed" in err and err.count("\n") == 1

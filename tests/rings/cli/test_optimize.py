"""`linkwright optimize`: JSON as documented, files only where asked for, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linkwright.rings import cli
from tests.rings.cli.schemas import disagreements

CALL = ["optimize", "four-bar", "--goal", "max min C.transmission_angle", "--vary", "L2=0.8..1.2 m", "--count", "8", "--starts", "1"]


@pytest.mark.slow
def test_json_is_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*CALL, "--require", "range D > 40 deg", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("optimize", data) == []
    assert data["feasible"] and data["goals"][0]["after"] > data["goals"][0]["before"]


def test_the_design_is_written_where_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    best = tmp_path / "best.yaml"
    assert cli.main([*CALL, "-o", str(best)]) == 0
    assert "max min C.transmission_angle" in capsys.readouterr().out
    assert "# The four-bar linkage of every textbook" in best.read_text(encoding="utf-8"), "comments stay"
    assert [p.name for p in tmp_path.iterdir()] == ["best.yaml"]


def test_constraints_that_no_design_meets(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*CALL, "--require", "range D > 170 deg"]) == 1
    assert "relax" in capsys.readouterr().out

"""`linkwright synthesize`: table, JSON as documented, model files that load, a picture, nothing overwritten, refusals in one paragraph."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings import cli
from tests.rings.cli.schemas import disagreements

ARC = "0 0, 10 4, 20 6, 30 4, 40 0"
ARC_POINTS = np.array([[0, 0], [10, 4], [20, 6], [30, 4], [40, 0]])


@pytest.mark.slow
def test_linkages_are_written_and_pass_the_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = tmp_path / "points.csv"
    points.write_text("x [cm],y [cm]\n0,0\n1,0.4\n2,0.6\n3,0.4\n4,0\n", encoding="utf-8")
    folder = tmp_path / "found"
    assert cli.main(["synthesize", "path", str(points), "--count", "2", "--folder", str(folder), "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert disagreements("synthesize", data) == [] and len(data["answers"]) == 2
    assert sorted(p.name for p in folder.iterdir()) == ["linkage-0.yaml", "linkage-1.yaml", "linkages.png"] and "wrote" in err
    for k, answer in enumerate(data["answers"]):
        path = lw.load(folder / f"linkage-{k}.yaml").cycle(steps=7200)["coupler.P"]
        near = np.abs(path[None] - ARC_POINTS[:, None] * 1e-3).sum(axis=2).min(axis=1)
        # five points are met exactly; samples are 0.05 deg apart, a path of some 150 mm
        assert near.max() < 2e-4 and answer["usable"] and answer["error"] < 1e-20


@pytest.mark.slow
def test_files_of_others_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["synthesize", "path", ARC, "--count", "1", "--folder", str(tmp_path)]
    assert cli.main(line) == 0 and cli.main(line) == 0  # its own results are replaced
    (tmp_path / "linkage-0.yaml").write_text("name: mine\n", encoding="utf-8")
    capsys.readouterr()
    assert cli.main(line) == 1 and "--force" in capsys.readouterr().err
    assert (tmp_path / "linkage-0.yaml").read_text(encoding="utf-8") == "name: mine\n"
    assert cli.main([*line, "--force"]) == 0 and "mine" not in (tmp_path / "linkage-0.yaml").read_text(encoding="utf-8")
    assert "usable" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["path"], "path needs points"),
        (["path", "none.csv"], "none.csv"),
        (["path", ARC, "--timing", "0 deg, 30 deg"], "2 crank angles for 5 points"),
        (["path", ARC, "--kind", "five-bar"], "there is no kind 'five-bar'"),
        (["path", ARC, "--bound", "linsk=3"], "Did you mean 'links'"),
        (["path", ARC, "--unit", "kg"], "unit of length"),
        (["function", "log10(x)", "--closed"], "options of a path"),
        (["dwell", "points.csv"], "described by --with"),
    ],
)
def test_refusals(line: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["synthesize", *line]) == 1
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1 and "Traceback" not in err

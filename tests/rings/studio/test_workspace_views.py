"""Pictures and the page of a workspace: what they show is what it holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.robots.workspace import workspace
from linkwright.rings.studio import workspace_page, workspace_plots
from tests.refusals import refused
from tests.rings.robots.workspace.robots import LEGS, robot

LIMITS = {f"leg{k}": "0.3..0.8 m" for k in LEGS}


@pytest.fixture(scope="module")
def volume() -> lw.Workspace:
    over = {"platform.x": (-0.1, 0.8, 14), "platform.y": (-0.2, 0.6, 13), "platform.angle": ("-10 deg", "10 deg", 3)}
    return workspace(robot("3-rpr"), over, ["dexterity", "speed", "efforts"], limits=LIMITS, speeds="1 m/s")


@pytest.mark.slow
def test_every_kind_of_picture_is_drawn(volume, tmp_path: Path):
    part = volume.slice({"platform.angle": 0.0})
    figure = part.plot(["dexterity", "type2", "reach"], tmp_path / "maps.png")
    volume.plot(None, tmp_path / "surfaces.png")
    line = workspace(robot("3-rpr"), {"platform.x": (0.1, 0.6, 30)}, "dexterity", limits=LIMITS)
    line.plot(None, tmp_path / "line.svg")
    found = workspace(robot("3-rrr"), {"platform.x": (0.3, 0.6, 5), "platform.y": (0.0, 0.2, 5)}, "reach", modes="all")
    found.plot(None, tmp_path / "modes.pdf")
    assert all((tmp_path / name).stat().st_size > 4000 for name in ("maps.png", "surfaces.png", "line.svg", "modes.pdf"))
    assert figure is not None
    with pytest.raises(lw.UsageError, match="no 'stiffness'"):
        part.plot("stiffness")
    with pytest.raises(lw.UsageError, match="take a slice"):
        volume.plot("dexterity")


def test_colors_of_wide_ranges_are_logarithmic_and_trimmed():
    wide = workspace_plots.shades(np.logspace(0, 6, 500))
    assert wide.logarithmic and 0.0 < wide.low < 0.3 and 5.7 < wide.high < 6.0
    plain = workspace_plots.shades(np.array([0.1, 0.4, np.nan, 0.2]))
    assert (plain.low, plain.high, plain.logarithmic, plain.cut) == (0.1, 0.4, False, False)
    assert not np.isfinite(workspace_plots.shades(np.full(3, np.nan)).values).any()


def test_the_page_holds_the_atlas(volume, tmp_path: Path):
    text = volume.show(tmp_path / "workspace.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r"var STUDY=(\{.*?\});</script>", text, re.DOTALL)[1])
    assert [a["name"] for a in data["axes"]] == ["platform.x", "platform.y", "platform.angle"]
    found = {m["name"]: np.array([np.nan if v is None else v for v in m["values"]]) for m in data["measures"]}
    assert found["speed"] == pytest.approx(volume["speed"].ravel(), rel=1e-5, nan_ok=True)
    assert len(data["failed"]) == int((~volume.reach).sum())
    assert {tuple(c["at"]) for c in data["workspace"]["curves"]} == {(0,), (1,), (2,)}
    limit = [np.array(c["points"]) for c in data["workspace"]["curves"] if c["kind"] == "limit" and c["at"] == [1]]
    part = volume.slice({"platform.angle": 0.0})
    assert np.concatenate(limit) == pytest.approx(np.concatenate([c.points for c in part.curves if c.kind == "limit"]), rel=1e-6, abs=1e-9)
    assert "src=" not in text and "https:" not in text  # nothing comes from elsewhere


def test_a_large_atlas_is_thinned_out_on_the_page(volume, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workspace_page, "MOST_POSES", 200)
    data = workspace_page.contents([volume])
    lengths = [len(a["values"]) for a in data["axes"]]
    assert np.prod(lengths) <= 200 and [a["of"] for a in data["axes"]] == [14, 13, 3]
    assert len(data["measures"][0]["values"]) == np.prod(lengths)


def test_a_line_has_no_page():
    line = workspace(robot("3-rpr"), {"platform.x": (0.1, 0.6, 3)}, "dexterity")
    with refused(lw.UsageError, name="axes"):
        line.show("workspace.html")

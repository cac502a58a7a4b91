"""Cams in drawings, files and the report: profiles in place, 1:1, touching the follower."""

from __future__ import annotations

import re
from pathlib import Path

import ezdxf
import numpy as np
import pytest

import linkwright as lw
from linkwright import files
from linkwright.errors import UsageError
from linkwright.rings.cli.model_list import source
from linkwright.rings.studio.report import fragment
from linkwright.rings.studio.scale_drawing import scale_drawing
from linkwright.rings.studio.scene import Scene, Stage
from tests.refusals import refused


@pytest.fixture(scope="module")
def m() -> lw.Mechanism:
    return lw.load(source("cam")[0])


def test_the_roller_touches_the_profile_wherever_the_disc_is(m: lw.Mechanism) -> None:
    """Distance of the roller's center from the drawn polygon: its radius, less what a chord of two degrees cuts off."""
    scene = Scene(m.system, None)
    (cam,) = scene.cams
    for angle in (0.0, 0.7, 2.0, 3.6):
        stage = Stage(scene.skel, m.system.assemble({"A": angle}).instant)
        disc, center = stage.place(cam.node, cam.profile), stage.place(cam.follower_node, cam.roller[0])
        ends = np.roll(disc, -1, axis=0)
        along = np.clip(np.sum((center - disc) * (ends - disc), axis=1) / np.sum((ends - disc) ** 2, axis=1), 0.0, 1.0)
        away = np.linalg.norm(disc + along[:, None] * (ends - disc) - center, axis=1).min()
        assert away == pytest.approx(0.008, abs=1e-5)
    assert any(p.layer == "CAMS" for p in scale_drawing(m, positions=0, trace=[]).things)


def test_files_of_the_profile_are_to_scale(m: lw.Mechanism, tmp_path: Path) -> None:
    profile = 1e3 * m.cam().profile
    drawing = ezdxf.readfile(m.export(tmp_path / "cam.dxf", cam="cam", bore=12))
    (curve,) = drawing.modelspace().query("LWPOLYLINE[layer=='CAMS']")
    np.testing.assert_allclose(np.array(curve.get_points("xy")), profile[:-1], atol=1e-9)
    (hole,) = drawing.modelspace().query("CIRCLE[layer=='CAMS']")
    (base,) = drawing.modelspace().query("CIRCLE[layer=='CONSTRUCTION']")
    assert hole.dxf.radius == 6.0 and base.dxf.radius == pytest.approx(30.0)
    text = Path(m.export(tmp_path / "cam.svg", cam="cam")).read_text()
    width = float(re.search(r'width="([\d.]+)mm"', text)[1])
    assert np.ptp(profile[:, 0]) < width < np.ptp(profile[:, 0]) + 16 + 25  # pitch curve and margin
    table = files.read_csv_table(m.export(tmp_path / "cam.csv", steps=360), 10**6)
    assert table.names[:4] == ("angle", "lift", "profile.x", "profile.y") and table.units[2] == "mm"
    x = np.array([float(cells[2]) for _, cells in table.rows])
    assert x.max() == pytest.approx(profile[:, 0].max(), abs=1e-3)
    with refused(UsageError, name="cams"):
        lw.load("wiper").export(tmp_path / "no.csv")


@pytest.mark.slow  # draws a report
def test_the_report_has_a_part_on_cams(m: lw.Mechanism) -> None:
    text = fragment(m, steps=60)
    assert re.search(r">Cams<", text)
    assert "base circle of radius 30 mm" in text and "cam contact" in text and "circle about the cam" in text

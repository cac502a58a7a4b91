"""Loads of the model in pictures: forces and places against the file, at positions where they are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.studio import picture
from linkwright.rings.studio.applied_loads import applied_loads, largest_loads
from linkwright.rings.studio.scene import Scene

BOOM: dict[str, Any] = {
    "name": "loader", "plane": "xy", "units": ["mm", "kg", "deg"], "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "C": [300, -300], "D": [450, 150], "F": [900, 300]},
    "bodies": {"ground": {"pins": ["A"], "points": ["C"]}, "boom": {"pins": ["A"], "points": ["D", "F"], "mass": 40}},
    "cylinders": {"lift": {"between": ["ground.C", "boom.D"]}},
    "loads": {"payload": {"on": "boom.F", "force": [0, "-2 kN"], "moment": "300 N m"},
              "wind": {"on": "boom.F", "force": ["50 N", 0], "axes": "boom"}},
    "drive": {"lift": "20 mm/s"},
}  # fmt: skip


def test_forces_are_those_of_the_file() -> None:
    m = lw.load(BOOM)
    scene = Scene(m.system, None)
    found = {x.name: x for x in applied_loads(scene, m.system.start.instant)}
    assert found["payload"].at[:2] == pytest.approx([0.9, 0.3], abs=1e-12)
    assert found["payload"].force == pytest.approx([0.0, -2000.0, 0.0])
    assert found["payload"].moment == pytest.approx([0.0, 0.0, 300.0], abs=1e-9)
    turned = np.array([0.9, 0.3]) / np.hypot(0.9, 0.3) if m.description.body("boom").start.rotation[0][1] else np.array([1.0, 0.0])
    assert np.abs(found["wind"].force[:2]) == pytest.approx(50.0 * np.abs(turned), rel=1e-9)
    assert largest_loads(scene, m.system.start.instant) == pytest.approx((2000.0, 300.0), rel=1e-9)


def test_a_load_over_position_follows_its_table() -> None:
    """The sheet of the press: 120 kN at 38 mm, nothing above 50 mm."""
    m = lw.load("punch-press")
    c = m.cycle(steps=72)
    scene = Scene(m.system, c)
    for k in (0, 20, 30):
        (sheet,) = applied_loads(scene, c._instants[k])
        wanted = np.interp(1e3 * c["ram.R.y"][k], [38, 42, 44, 46, 48, 50], [120e3, 100e3, 80e3, 45e3, 12e3, 0.0])
        assert sheet.force[1] == pytest.approx(wanted, abs=1e-6 * 120e3)  # the same table, in mm
        assert sheet.at[1] == pytest.approx(c["ram.R.y"][k], abs=1e-12)


def test_pictures_draw_them_and_nothing_where_there_is_none() -> None:
    drawn = picture.draw(lw.load(BOOM), trace=[])
    words = {t.get_text() for axes in drawn.axes for t in axes.texts}
    assert {"payload", "wind"} <= words
    still = picture.draw(lw.load("punch-press"), trace=[])  # above the sheet at its start
    assert "sheet" not in {t.get_text() for axes in still.axes for t in axes.texts}


def test_what_is_driven_is_on_top_and_couplings_are_lines() -> None:
    scene = Scene(lw.load("wiper").system, None)
    assert scene.pieces[-1].body == "crank"
    coupled = {
        "plane": "xy", "drawing": {"A": [0, 0], "B": [0.3, 0], "P": [0.1, 0.1], "Q": [0.4, 0.1]},
        "bodies": {"ground": {"pins": ["A", "B"]}, "one": {"pins": ["A"], "points": ["P"]}, "two": {"pins": ["B"], "points": ["Q"]}},
        "couplings": {"tie": {"from": "A", "to": "B", "ratio": -2}}, "drive": {"A": "1 rad/s"},
    }  # fmt: skip
    (line,) = Scene(lw.load(coupled).system, None).lines
    assert (line.kind, line.name) == ("coupling", "tie")
    assert [e.at.tolist() for e in line.ends] == [[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]]

"""Maps over two drives against statics by hand: an arm with two hinges, and a boom with cylinders."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.cli import main
from tests.refusals import refused

G = 9.81
ARM = {
    "name": "arm", "plane": "xy", "units": ["mm", "kg", "deg"], "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "B": [600, 0], "P": [1000, 0]},
    "bodies": {
        "ground": {"pins": ["A"]}, "upper": {"pins": ["A", "B"], "mass": 3},
        "fore": {"pins": ["B"], "points": ["P"], "mass": 2, "com": "P"},
    },
    "drive": {"A": "10 deg/s", "B": "10 deg/s"},
}  # fmt: skip
BOOM = {
    "name": "boom", "plane": "xy", "units": ["mm", "kg", "deg"], "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "L": [0, -600], "W": [900, 100], "B": [2000, 300], "K": [1200, 500], "V": [1950, 700], "S": [2900, 100]},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["L"]},
        "boom": {"pins": ["A", "B"], "points": ["W", "K"], "mass": 200},
        "stick": {"pins": ["B"], "points": ["V", "S"], "mass": 90, "com": "S", "inertia": "20 kg m^2"},
    },
    "cylinders": {
        "lift": {"between": ["ground.L", "boom.W"], "stroke": [870, 1300], "bore": 80, "rod": 45},
        "dip": {"between": ["boom.K", "stick.V"], "stroke": [600, 900], "bore": 60, "rod": 35},
    },
    "drive": {"lift": "20 mm/s", "dip": "20 mm/s"},
}  # fmt: skip


def test_torques_of_an_arm_over_both_angles():
    a = lw.load(ARM).workspace({"A": "-60..90 deg / 7", "B": "0..150 deg / 6"}, ["A.torque", "B.torque", "fore.P.y"])
    x, y = np.meshgrid(a["A"], a["B"], indexing="ij")
    fore = 2 * G * 0.4 * np.cos(x + y)
    assert a.shape == (7, 6) and a.reach.all()
    assert a["B.torque"] == pytest.approx(fore, abs=1e-9)
    assert a["A.torque"] == pytest.approx(fore + (2 * 0.6 + 3 * 0.3) * G * np.cos(x), abs=1e-9)
    assert a["fore.P.y"] == pytest.approx(0.6 * np.sin(x) + 0.4 * np.sin(x + y), abs=1e-9)
    assert a.unit("fore.P.y") == ("mm", 1e-3) and "fore.P.y: -866 to 1000 mm" in str(a) and "area" not in str(a)


def test_strokes_bound_the_map_and_pressures_are_read():
    m = lw.load(BOOM)
    a = m.workspace({"lift": (0.8, 1.35, 12), "dip": None}, ["lift.pump.pressure", "dip.force"])
    assert a.shape == (12, 100) and a.axes[1].values[[0, -1]] == pytest.approx([0.6, 0.9])
    inside = (a["lift"] >= 0.87) & (a["lift"] <= 1.3)
    assert (a.reach.any(axis=1) == inside).all() and np.isnan(a["dip.force"][~a.reach]).all()
    i, j = 6, 40
    x = a["lift"][i]
    alone = m.with_(start={"lift": x, "dip": a["dip"][j]}).cycle("lift", speed=0, start=x, stop=x + 0.01, steps=4)
    assert a["dip.force"][i, j] == pytest.approx(alone["dip.force"][0], rel=1e-6)
    assert a["lift.pump.pressure"][i, j] == pytest.approx(alone["lift.pump.pressure"][0], rel=1e-6)
    assert a.counts["beyond a stop"] == int((~inside).sum()) * 100 and a.units["lift.pump.pressure"] == "Pa"
    line = m.workspace({"lift": (0.9, 1.2, 5)}, "all", at={"dip": "700 mm"})
    assert line.shape == (5,) and line.measures == ("lift.force", "dip.force") and line.notes == ("held: dip = 700 mm",)


def test_what_a_dead_center_bounds_is_out_of_reach():
    """The rocker of a four-bar as the drive: positions beyond its dead centers have no state."""
    low, high = (getattr(lw.load("wiper").limits("D"), x) for x in ("low", "high"))
    a = lw.load("wiper").workspace({"D": (low - 0.2, high + 0.2, 41)}, "A")
    inside = (a["D"] > low) & (a["D"] < high)
    assert (a.reach == inside).all() and a.counts["out of reach"] == int((~inside).sum())


def test_wrong_maps_are_explained(tmp_path, capsys):
    m = lw.load(ARM)
    for what, over, options, text in (
        ("A.torque", ["A", "B"], {}, "'A' has no stroke: give a range"),
        ("A.torque", {"A": (0, 1), "B": (0, 1)}, {"payload": "5 kg"}, "has no option 'payload'"),
        ("A.torque", {"A": (0, 1)}, {"at": {"C": 1}}, "'C' is not a drive besides the axes"),
        ("fore.P", {"A": (0, 1, 3)}, {}, "is a vector: name one component"),
    ):
        with pytest.raises(lw.UsageError, match=text):
            m.workspace(over, what, **options)
    with refused(lw.UsageError, name="B"):
        lw.load({**ARM, "drive": {}}).workspace({"A": (0, 1, 3)}, "A.torque")
    with refused(lw.ChannelError, name="A.troque"):
        m.workspace({"A": (0, 1, 3)}, "A.troque")
    m.save(tmp_path / "arm.yaml")
    table = tmp_path / "map.csv"
    words = [
        "workspace",
        str(tmp_path / "arm.yaml"),
        "--over",
        "A=-60..90 / 4",
        "--over",
        "B=0..90 / 3",
        "--what",
        "A.torque",
        "-o",
        str(table),
    ]
    assert main(words) == 0 and "4 x 3 poses over A, B, 12 in reach" in capsys.readouterr().out
    assert table.read_text().splitlines()[0] == '"A [rad]","B [rad]","reach","A.torque [N m]","why"'

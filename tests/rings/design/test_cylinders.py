"""Figures of cylinders and eyes of parts between two points, against statics by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused

pytestmark = pytest.mark.usefixtures("without_curves")

G, LEVER, ARM = 9.81, 1.5, 0.5  # m/s^2; m: places of the mass and of the cylinder's eye on a lever
BEAM = {
    "plane": "xy",
    "units": ["mm", "kg", "deg"],
    "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "W": [500, 0], "L": [500, -800], "S": [1500, 0]},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["L"]},
        "beam": {"pins": ["A"], "points": ["W", "S"], "mass": 100, "com": "S", "inertia": 0},
    },
    "cylinders": {"lift": {"between": ["ground.L", "beam.W"], "stroke": [700, 900], "bore": 50, "rod": 30}},
    "drive": {"lift": "10 mm/s"},
}
PUSH, PULL = np.pi / 4 * 0.05**2, np.pi / 4 * (0.05**2 - 0.03**2)


def by_hand(c):
    """Force of the cylinder by moments about A, positive where it pushes."""
    weight = 100 * G * c["beam.S.x"]
    n = (c["beam.W"] - [0.5, -0.8]) / c["lift"][:, None]
    return weight / (c["beam.W.x"] * n[:, 1] - c["beam.W.y"] * n[:, 0])


@pytest.fixture(scope="module")
def beam():
    return lw.load(BEAM).cycle(speed=0, steps=40)


def test_pressures_flows_and_volumes_of_a_pushing_cylinder(beam):
    f = by_hand(beam)
    assert beam["lift.force"] == pytest.approx(f)
    assert beam["lift.cap.pressure"] == pytest.approx(f / PUSH) and not beam["lift.rod.pressure"].any()
    assert beam["lift.pump.pressure", "bar"] == pytest.approx(f / PUSH / 1e5)
    moving = lw.load(BEAM).cycle(steps=40)
    assert moving["lift.cap.flow", "l/min"] == pytest.approx(np.full(41, PUSH * 0.01 * 6e4))
    assert moving["lift.rod.flow"] == pytest.approx(np.full(41, -PULL * 0.01)) and moving["lift.pump.flow"] == pytest.approx(
        moving["lift.cap.flow"]
    )
    assert moving["lift.cap.volume"] == pytest.approx(PUSH * (moving["lift"] - 0.7), abs=1e-12)
    assert moving["lift.rod.volume"][-1] == pytest.approx(0.0, abs=1e-12) and moving.unit("lift.rod.volume")[0] == "l"
    duty = moving.cylinders()["lift"]
    assert (duty.shortest, duty.longest, *duty.stroke) == pytest.approx((0.7, 0.9, 0.7, 0.9))
    assert duty.cap_flow == pytest.approx(PUSH * 0.01) and duty.rod_flow == 0.0 and duty.cap_volume == pytest.approx(PUSH * 0.2)
    assert duty.cap_pressure == pytest.approx(duty.push / PUSH) and duty.push == pytest.approx(moving["lift.force"].max())
    text = str(moving.cylinders())
    assert "stroke from" in text and "[bar]" in text and "[l/min]" in text and "note" not in text


def test_a_cylinder_that_pulls(beam):
    above = {**BEAM, "drawing": {**BEAM["drawing"], "L": [500, 800]}, "drive": {"lift": "-10 mm/s"}}
    c = lw.load(above).cycle(steps=40)
    f = c["lift.force"]
    assert f.max() < 0.0 and c["lift.rod.pressure"] == pytest.approx(-f / PULL) and not c["lift.cap.pressure"].any()
    assert c["lift.pump.pressure"] == pytest.approx(-f / PULL) and c["lift.pump.flow"] == pytest.approx(np.full(41, PULL * 0.01))
    duty = c.cylinders()["lift"]
    assert duty.push == 0.0 and duty.pull == pytest.approx(-f.min()) and duty.rod_flow == pytest.approx(PULL * 0.01)
    single = {**above, "cylinders": {"lift": {**BEAM["cylinders"]["lift"]}}}
    del single["cylinders"]["lift"]["rod"]
    c = lw.load(single).cycle(steps=20)
    assert "lift.rod.pressure" not in c.channels and c["lift.pump.pressure"].max() < 0.0
    assert c.cylinders().notes == ("cylinder 'lift' has to pull but has no rod end, which needs `rod:`",)


def test_eyes_of_a_cylinder_are_pins_of_the_table(beam):
    """Both carry the force of the cylinder; they turn as the line does against ground and beam."""
    f, n = by_hand(beam), (beam["beam.W"] - [0.5, -0.8]) / beam["lift"][:, None]
    assert beam["lift.W.on.beam"] == pytest.approx(f[:, None] * n) and beam["lift.L.on.ground"] == pytest.approx(-f[:, None] * n)
    table = beam.bearings()
    on_ground, on_beam = table["lift.L", "ground"], table["lift.W", "beam"]
    assert on_ground.max == pytest.approx(f.max()) and on_beam.max == pytest.approx(f.max()) and on_beam.joint_type == "cylinder"
    line = np.unwrap(np.arctan2(n[:, 1], n[:, 0]))
    assert on_ground.swing == pytest.approx(np.ptp(line)) and on_beam.swing == pytest.approx(np.ptp(line - beam["beam.angle"]))
    moving = lw.load(BEAM).cycle(steps=40).bearings()["lift.W", "beam"]
    assert moving.mean_speed == pytest.approx(moving.swing / 20.0, rel=1e-3)  # 200 mm at 10 mm/s; it turns one way only
    with refused(lw.ChannelError, name="lift.V", allowed=("A", "lift.W")):
        beam._each_loads[0].on("lift.V", "beam")


def test_eyes_of_springs_dampers_and_rods():
    """A pendulum held by a rod, with a spring and a damper that pull beside it: every eye carries the force of its part."""
    m = lw.load({
        **BEAM, "cylinders": {}, "drive": {"A": "1 rad/s"}, "start": {"A": 0},
        "springs": {"coil": {"between": ["ground.L", "beam.S"], "stiffness": "2 N/mm", "free_length": 500}},
        "dampers": {"d": {"between": ["ground.L", "beam.W"], "coefficient": "300 N s/m"}},
    })  # fmt: skip
    c = m.cycle(start="-20 deg", stop="20 deg", steps=40)
    r = c["beam.S"] - [0.5, -0.8]
    length = np.sqrt(np.sum(r * r, axis=1))
    pull = 2000.0 * (length - 0.5)
    assert c["coil.force"] == pytest.approx(-pull) and c["coil.S.on.beam"] == pytest.approx(-pull[:, None] * r / length[:, None])
    rate = np.gradient(np.linalg.norm(c["beam.W"] - [0.5, -0.8], axis=1), c.t)
    assert c["d.force"][1:-1] == pytest.approx(-300.0 * rate[1:-1], rel=2e-3)  # differences of 1 deg
    assert {r.pin for r in c.bearings()} == {"A", "coil.L", "coil.S", "d.L", "d.W"}
    held = lw.load({**BEAM, "cylinders": {}, "drive": {}, "rods": {"strut": {"between": ["ground.L", "beam.W"]}}}).system
    loads = held.inverse(held.start, drives=[])
    assert loads.on("strut.W", "beam").force == pytest.approx([0.0, 100 * G * LEVER / ARM, 0.0]) and loads.on("strut.L", "ground").unique


def test_a_run_has_pressures_and_eyes_too():
    """A cylinder that pushes with the force of equilibrium holds the beam; its pressure is that force over its area."""
    hold = 100 * G * LEVER / ARM
    m = lw.load({**BEAM, "cylinders": {"lift": {"between": ["ground.L", "beam.W"], "force": f"{hold} N", "bore": 50}}, "drive": {}})
    run = m.simulate(0.01, sample_interval=0.005)
    assert run["lift.cap.pressure"] == pytest.approx(hold / PUSH) and run["lift.W.on.beam.magnitude"] == pytest.approx(hold)
    driven = lw.load(BEAM).simulate(0.1, sample_interval=0.05)
    force = driven["lift.force"]
    assert driven["lift.pump.pressure"] == pytest.approx(force / PUSH) and driven["lift.L.on.ground.magnitude"] == pytest.approx(force)


def test_cylinders_are_in_the_text_the_report_and_json(tmp_path, capsys):
    from linkwright.rings.cli import main

    lw.load(BEAM).save(tmp_path / "beam.yaml")
    main(["cycle", str(tmp_path / "beam.yaml"), "--steps", "20", "--start", "800mm", "--stop", "850mm", "--json"])
    data = json.loads(capsys.readouterr().out)
    (duty,) = data["loads"]["cylinders"]
    assert duty["stroke"] == [0.7, 0.9] and duty["longest"] == pytest.approx(0.85)
    assert {x["pin"] for x in data["loads"]["bearings"]} == {"A", "lift.L", "lift.W"}
    report = lw.load(BEAM).report(tmp_path / "beam.html", steps=20).read_text()
    assert "<h3>Cylinders</h3>" in report and "lift.W" in report

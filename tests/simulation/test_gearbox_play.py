"""Play of a gearbox between motor and joint: closed forms of two inertias on one axis, and the run without play as its limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.file.writer import write
from tests.refusals import refused

ARM, ROTOR, N = 0.02, 2e-4, 5.0  # kg m^2, kg m^2, gear ratio
MOTOR = ROTOR * N * N  # as seen at the joint
PLAY = np.radians(1.0)
PLATE = {"Kt": "0.1 N m/A", "R": "1 ohm", "J": f"{ROTOR} kg m^2", "gear_ratio": N, "voltage": "3 V * sin(6 rad/s * t)"}


def arm(drive: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {
        "name": "arm", "plane": "xy", "units": ["m", "deg"], "drawing": {"A": [0, 0], "P": [0.1, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["P"], "mass": 1, "com": "A", "inertia": ARM}},
        **({} if drive is None else {"drive": {"A": drive}}), **more,
    }  # fmt: skip


def speeds(s: lw.System, **given: float) -> np.ndarray:
    return np.array([given.get(name, 0.0) for name in s.names.v])


HEAVY = {"joints": {"A": {"type": "revolute", "between": ["ground", "arm"], "pin": "A", "armature": f"{MOTOR} kg m^2"}}}


def test_a_motor_that_reverses_crosses_the_dead_band_while_the_joint_coasts() -> None:
    torque = 0.3
    m = lw.load(arm({"torque": f"{torque / N} N m", "gear_ratio": N, "play": "1 deg"}, **HEAVY))
    s, first = lw.compile(m), m.simulate(0.2, tolerance=1e-12)
    (taken,) = first.events
    meet = np.sqrt(PLAY * MOTOR / torque)  # half the play, alone
    speed = torque / MOTOR * meet * MOTOR / (MOTOR + ARM)  # momentum is kept
    lost = 0.5 * MOTOR * ARM / (MOTOR + ARM) * (torque / MOTOR * meet) ** 2
    assert taken.time == pytest.approx(meet, rel=1e-11)  # located to round-off of a run at 1e-12
    assert taken.values["energy lost"] == pytest.approx(lost, rel=1e-10)
    speed += torque / (MOTOR + ARM) * (0.2 - meet)  # together from there
    assert first["A.v"][-1] == pytest.approx(speed, rel=1e-10) and first["A_motor.v"][-1] == pytest.approx(speed, rel=1e-10)

    back = s.simulate(first.state(-1), 0.2, drive={"A_motor": lw.drives.torque(-torque)}, tolerance=1e-12)
    band = np.sqrt(2.0 * PLAY * MOTOR / torque)  # the whole play, relative to a joint that coasts
    hit = next(x for x in back.events if x.name.endswith("touches"))
    assert hit.time - 0.2 == pytest.approx(band, rel=1e-9)
    coasts = back.t < hit.time
    np.testing.assert_allclose(back["A.v"][coasts], speed, rtol=1e-9)


@pytest.mark.parametrize("e", [1.0, 0.5])
def test_a_free_motor_rattles_between_the_ends_of_its_play(e: float) -> None:
    s = lw.compile(lw.load(arm({"undriven": "", "play": "1 deg", "restitution": e}, **HEAVY)))
    run = s.simulate(s.state(s.start.q, speeds(s, A_motor=2.0)), 0.06, tolerance=1e-12)
    hits = np.array([x.time for x in run.events if x.name.endswith("touches")])
    gaps = PLAY / (2.0 * e ** np.arange(1, len(hits)))  # every impact leaves e times the relative speed
    assert len(hits) >= 3
    times = 0.5 * PLAY / 2.0 + np.concatenate([[0.0], np.cumsum(gaps)])
    np.testing.assert_allclose(hits, times, rtol=0, atol=5e-12)  # located to 1e-12 rad
    momentum = MOTOR * run["A_motor.v"] + ARM * run["A.v"]
    np.testing.assert_allclose(momentum, MOTOR * 2.0, rtol=1e-10)


def test_a_spindle_has_play_in_meters() -> None:
    mass, ratio, play = 3.0, 1000.0, 2e-4  # kg, rad/m, m
    model = {
        "name": "stage", "plane": "xy", "units": ["m"], "drawing": {"S": [0, 0]},
        "bodies": {"ground": {}, "stage": {"points": ["S"], "mass": mass, "com": "S", "inertia": 1}},
        "joints": {"S": {"type": "prismatic", "between": ["ground", "stage"], "at": "S", "axis": [1, 0]}},
        "drive": {"S": {"dc_motor": {**PLATE, "J": "1e-5 kg m^2", "gear_ratio": "1000 rad/m", "voltage": 0}, "play": "0.2 mm"}},
    }  # fmt: skip
    m = lw.load(model)
    assert float(m.description.joint("S_motor").armature) == pytest.approx(1e-5 * ratio**2)
    assert m.lost_motion("S", start=0, stop=0.01, steps=2).half == pytest.approx(0.5 * play, rel=1e-12)
    s = lw.compile(m)
    motor = m.description.drives[0]
    shorted = lw.drives.voltage(0.0, motor=lw.drives.dc_motor(**{k: float(x) for k, x in motor.motor}))
    hit = s.simulate(s.state(s.start.q, speeds(s, S_motor=0.2)), 0.1, drive={"S_motor": shorted}, tolerance=1e-12).events[0]
    damping = 0.1 * 0.1 / 1.0 * ratio**2  # Kt Ke / R of a motor that its supply shorts
    decay = damping / (1e-5 * ratio**2)
    assert hit.time == pytest.approx(-np.log(1.0 - 0.5 * play * decay / 0.2) / decay, abs=2e-11)  # 1e-12 m at 0.1 m/s


def test_the_run_without_play_is_the_limit_of_small_play() -> None:
    stiff = lw.load(arm({"dc_motor": PLATE})).simulate(0.5)["A"][-1]
    off = [abs(lw.load(arm({"dc_motor": PLATE, "play": f"{p} deg"})).simulate(0.5)["A"][-1] - stiff) for p in (0.4, 0.1, 0.025)]
    assert off[2] < np.radians(0.025) and off[0] > 2.0 * off[1] > 4.0 * off[2]  # linear in the play, but for where impacts fall


def test_a_speed_of_the_motor_is_prescribed_behind_the_play() -> None:
    s = lw.compile(lw.load(arm({"speed": "2 rad/s", "play": "1 deg", "restitution": 1})))
    start = s.state(s.start.q, speeds(s, A_motor=2.0))
    run = s.simulate(start, 0.01, drive={"A_motor": lw.drives.speed(2.0)}, tolerance=1e-12)
    assert run.events[0].time == pytest.approx(0.5 * PLAY / 2.0, rel=1e-10)
    assert run["A.v"][-1] == pytest.approx(4.0, rel=1e-10)  # thrown ahead at twice the speed of what cannot be stopped


def test_loads_of_bearings_are_known_and_a_cycle_has_no_play() -> None:
    model = arm({"dc_motor": PLATE, "play": "1 deg"}, gravity=[0, -9.81])
    c = lw.load(model).cycle(steps=8)
    np.testing.assert_allclose(c["A_motor"], c["A"], atol=1e-12)  # radians, round-off
    np.testing.assert_allclose(c["A.load"], 9.81, rtol=1e-9)
    assert c.checks().ok


def test_the_written_file_has_the_motor_as_parts_of_its_own(tmp_path: Any) -> None:
    m = lw.load(arm({"dc_motor": PLATE, "play": "1 deg", "restitution": 0.3}))
    path = tmp_path / "again.yaml"
    path.write_text(write(m.description))
    again = lw.load(path)
    assert again.description == m.description
    np.testing.assert_array_equal(again.simulate(0.1).q, m.simulate(0.1).q)


MOVED = {"speed": "1 rad/s"}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"torque": "1 N m", "gear_ratio": 5, "play": "1 deg"}, "A"),
    ({"dc_motor": {"Kt": "0.1 N m/A", "R": "1 ohm"}, "play": "1 deg"}, "A"),
    ({"play": "1 deg"}, "A"),
    ({**MOVED, "play": "0 deg"}, "drive of 'A'"),
    ({**MOVED, "play": "1 mm"}, "1 mm"),
    ({**MOVED, "restitution": 0.1}, "drive of 'A'"),
    ({**MOVED, "play": "1 deg", "restitution": 2}, "drive of 'A'"),
]


@pytest.mark.parametrize(("drive", "name"), REFUSED)
def test_play_that_means_nothing_is_refused(drive: dict[str, Any], name: str) -> None:
    with refused(lw.ModelError, name=name):
        lw.load(arm(drive))


def test_names_that_are_taken_and_drives_without_a_gearbox_are_refused() -> None:
    drive = {**MOVED, "play": "1 deg"}
    other = {"A_motor": {"type": "revolute", "between": ["ground", "arm"], "at": "P"}}
    with refused(lw.ModelError, name="A_motor"):
        lw.load(arm(drive, joints=other))
    turning = {**arm(drive)["bodies"], "ground": {"pins": ["A", "P"]}, "wheel": {"pins": ["P"]}}
    with refused(lw.ModelError, name="A_gearbox"):
        lw.load(arm(drive, bodies=turning, couplings={"A_gearbox": {"from": "A", "to": "P", "ratio": 1}}))
    ram = {"cylinders": {"ram": {"between": ["ground.A", "arm.P"]}}}
    with refused(lw.ModelError, name="ram"):
        lw.load({**arm(None, **ram), "drive": {"ram": {"speed": "1 mm/s", "play": "1 mm"}}})

"""A cycle at speed 0 is statics for every kind of drive: positions of the cycle, no velocities, forces from virtual work."""

from __future__ import annotations

import base64
import cmath
import math
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.cycle_loads import cycle_loads

G = 9.81
L, W, B = (0.4, -0.6), (1.1, -0.15), (2.2, 0.0)  # m: cylinder eye on ground; cylinder eye and tip on the boom, in the boom's axes
T, U, S = (1.5, 0.45), (0.05, 0.5), (0.6, 0.1)  # eye of the tilt cylinder on the boom; its eye and the edge on the bucket, in its axes
BOOM, BUCKET, LOAD = (320.0, (1.0, 0.1)), (180.0, (0.3, 0.15)), 5000.0  # (kg, com), (kg, com), N at the edge
ANGLE, BUCKET_ANGLE = 0.1, 0.5  # rad, as drawn; the bucket's relative to the boom


def turned(p: tuple[float, float], angle: float) -> complex:
    return complex(*p) * cmath.exp(1j * angle)


def length(arm: float, other: float, angle: Any) -> Any:
    return np.sqrt(arm**2 + other**2 - 2.0 * arm * other * np.cos(angle))


# angle at the pivot between the two eyes of a cylinder, when boom or bucket stand at angle zero
LIFT_AT_ZERO = cmath.phase(complex(*W)) - cmath.phase(complex(*L))
TILT_AT_ZERO = cmath.phase(complex(*T) - complex(*B)) - cmath.phase(complex(*U))
LIFT = length(abs(complex(*L)), abs(complex(*W)), ANGLE + LIFT_AT_ZERO)
TILT = length(abs(complex(*T) - complex(*B)), abs(complex(*U)), TILT_AT_ZERO - BUCKET_ANGLE)


def potential(lift: complex, tilt: complex) -> Any:
    """Of weights and load, from the lengths of the cylinders by the law of cosines: no Jacobian, no loop, any scalar."""
    a, b = abs(complex(*L)), abs(complex(*W))
    boom = np.emath.arccos((a * a + b * b - lift**2) / (2 * a * b)) - LIFT_AT_ZERO
    c, d = abs(complex(*T) - complex(*B)), abs(complex(*U))
    bucket = boom + TILT_AT_ZERO - np.emath.arccos((c * c + d * d - tilt**2) / (2 * c * d))

    def height(p: tuple[float, float], angle: Any) -> Any:
        return p[0] * np.sin(angle) + p[1] * np.cos(angle)

    tip = height(B, boom)
    return BOOM[0] * G * height(BOOM[1], boom) + BUCKET[0] * G * (tip + height(BUCKET[1], bucket)) + LOAD * (tip + height(S, bucket))


def by_virtual_work(lift: float, tilt: float) -> tuple[float, float]:
    """F = dV/ds of each cylinder, by complex steps."""
    h = 1e-30
    return potential(lift + 1j * h, tilt).imag / h, potential(lift, tilt + 1j * h).imag / h


def loader(drive: dict[str, Any], load: Any = -LOAD, **more: Any) -> lw.Mechanism:
    boom, tip = ANGLE, turned(B, ANGLE)
    at = {"A": 0j, "L": complex(*L), "W": turned(W, boom), "B": tip, "T": turned(T, boom)}
    at |= {"U": tip + turned(U, boom + BUCKET_ANGLE), "S": tip + turned(S, boom + BUCKET_ANGLE)}
    coms = {"boom": turned(BOOM[1], boom), "bucket": tip + turned(BUCKET[1], boom + BUCKET_ANGLE)}
    return lw.load(
        {
            "name": "loader", "plane": "xy", "gravity": [0, -G],
            "drawing": {name: [p.real, p.imag] for name, p in at.items()},
            "bodies": {
                "ground": {"pins": ["A"], "points": ["L"]},
                "boom": {
                    "pins": ["A", "B"], "points": ["W", "T"],
                    "mass": BOOM[0], "com": [coms["boom"].real, coms["boom"].imag], "inertia": 90,
                },
                "bucket": {
                    "pins": ["B"], "points": ["U", "S"],
                    "mass": BUCKET[0], "com": [coms["bucket"].real, coms["bucket"].imag], "inertia": 30,
                },
            },
            "cylinders": {"lift": {"between": ["ground.L", "boom.W"]}, "tilt": {"between": ["boom.T", "bucket.U"]}},
            "loads": {"payload": {"on": "bucket.S", "force": [0, load]}},
            "drive": drive,
            **more,
        }
    )  # fmt: skip


MOVES = {
    "lift": {"moves": [{"to": LIFT + 0.35, "in": "1.2 s"}, {"dwell": "0.3 s"}, {"to": LIFT, "in": "1 s"}]},
    "tilt": {"moves": [{"to": TILT - 0.15, "in": "1.5 s"}, {"to": TILT, "in": "1 s"}]},
}
FORMULAS = {
    "lift": {"position": f"{LIFT} m + 0.15 m * (1 - cos(6 rad/s * t))"},
    "tilt": {"position": f"{TILT} m - 0.08 m * sin(6 rad/s * t)"},
}
TABLES = {
    "lift": {"position": {"over": "t", "table": [[0, LIFT], [0.5, LIFT + 0.2], [1.0, LIFT]]}},
    "tilt": {"position": {"over": "t", "table": [[0, TILT], [0.5, TILT - 0.1], [1.0, TILT]]}},
}
SPEEDS = {"lift": "0.1 m/s", "tilt": {"position": f"{TILT} m"}}


@pytest.mark.parametrize("drive", [MOVES, FORMULAS, TABLES, SPEEDS], ids=["moves", "formulas", "tables", "speeds"])
def test_forces_at_speed_zero_are_those_of_virtual_work(drive: dict[str, Any]) -> None:
    """Round-off of forces of some 50 kN, and of complex steps of V: 1e-9 of them is generous."""
    c = loader(drive).cycle(steps=24, speed=0)
    wanted = np.array([by_virtual_work(*s) for s in zip(c["lift"], c["tilt"], strict=True)])
    found = np.array([c["lift.force"], c["tilt.force"]]).T
    assert np.abs(found - wanted).max() < 1e-9 * np.abs(wanted).max()
    assert np.ptp(c["lift"]) > 0.1 and (drive is SPEEDS or np.ptp(c["tilt"]) > 0.05)


@pytest.mark.parametrize("drive", [MOVES, FORMULAS, TABLES], ids=["moves", "formulas", "tables"])
def test_positions_are_those_of_the_same_cycle_and_nothing_moves(drive: dict[str, Any]) -> None:
    m = loader(drive)
    moving, still = m.cycle(steps=24), m.cycle(steps=24, speed=0)
    assert np.abs(still.q - moving.q).max() < 1e-12  # later walks use straight-line code: other round-off
    assert still.static and not moving.static
    for zero in (still.v, still.a, still["lift.v"], still["lift.power"], still["bucket.S.speed"]):
        assert not np.any(zero)
    assert np.abs(moving["lift.force"] - still["lift.force"]).max() > 100.0  # so the inertia forces would have been seen
    assert m.cycle(steps=24, speed=0).notes[0] == "Static analysis: inertia forces are ignored."
    assert np.abs(still.in_motion()["lift.force"] - moving["lift.force"]).max() < 1e-9 * np.abs(moving["lift.force"]).max()


def test_between_samples_it_is_static_too() -> None:
    """Positions between samples follow the path (Hermite of order 6: 1e-6 of the stroke at these steps), velocities stay zero."""
    m = loader(FORMULAS)
    still, moving = m.cycle(steps=60, speed=0), m.cycle(steps=60)
    t = 0.5 * (still.t[:-1] + still.t[1:])
    part = still.at(t)
    assert part.static and not np.any(part.v) and not np.any(part.a)
    assert np.abs(part["lift"] - moving.at(t)["lift"]).max() < 1e-12
    assert np.abs(part["lift"] - (LIFT + 0.15 * (1 - np.cos(6 * t)))).max() < 1e-6
    one = still.at(float(t[7]))
    assert not np.any(one.v) and one["lift"] == pytest.approx(part["lift"][7], abs=1e-15)
    wanted = np.array([by_virtual_work(*s) for s in zip(part["lift"], part["tilt"], strict=True)])
    assert np.abs(part["lift.force"] - wanted[:, 0]).max() < 1e-9 * np.abs(wanted).max()


def test_loads_of_time_and_velocity_at_rest() -> None:
    """A load of time is taken at the time of the position; a damper does nothing; the note says both."""
    varying = "-(5000 + 800 * sin(4 rad/s * t)) * 1 N"
    m = loader(MOVES, load=varying, dampers={"oil": {"between": ["ground.L", "boom.W"], "coefficient": 4000}})
    c = m.cycle(steps=12, speed=0)
    plain = loader(MOVES, load=0.0).cycle(steps=12, speed=0)
    per_newton = (loader(MOVES, load=-1000.0).cycle(steps=12, speed=0)["lift.force"] - plain["lift.force"]) / 1000.0
    wanted = plain["lift.force"] + per_newton * (5000.0 + 800.0 * np.sin(4.0 * c.t))
    assert np.abs(c["lift.force"] - wanted).max() < 1e-8 * np.abs(wanted).max()
    assert c.notes[0] == (
        "Static analysis: inertia forces are ignored. Velocities are zero, so nothing comes from damper 'oil'. "
        "Loads that vary with time are taken at the time at which the drive reaches the position."
    )


def test_the_time_of_a_position_is_that_of_the_file_s_speed() -> None:
    c = lw.load("wiper").cycle(steps=12, speed=0)
    assert c.t[-1] == lw.load("wiper").cycle(steps=12).t[-1]


def test_a_speed_for_a_program_is_reported_as_left_aside() -> None:
    m = loader(MOVES)
    c = m.cycle(steps=4, speed="0.2 m/s")
    assert np.abs(c.v - m.cycle(steps=4).v).max() < 1e-11 and any("speed= is left aside" in n for n in c.notes)


def test_text_and_table_of_a_static_turn(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from linkwright.rings.cli import main

    path = tmp_path / "loader.yaml"
    loader(MOVES).save(path)
    assert main(["cycle", str(path), "--speed", "0", "--steps", "24"]) == 0
    text = capsys.readouterr().out
    assert "one cycle of 'lift', 24 steps\n" in text and "Static analysis: inertia forces are ignored." in text
    assert "at rest" not in text


def test_a_static_turn_can_be_saved_and_opened(tmp_path: Any) -> None:
    c = loader(MOVES).cycle(steps=8, speed=0)
    c.save(tmp_path / "static.npz")
    again = lw.load_result(tmp_path / "static.npz")
    assert again.static and np.array_equal(again["lift.force"], c["lift.force"]) and np.array_equal(again.in_motion().v, c.in_motion().v)


def test_the_leading_drive_is_one_that_moves() -> None:
    """A cylinder that is held (position, or speed zero) does not make the turn a static one."""
    held = {"lift": "0 m/s", "tilt": MOVES["tilt"]}
    c = loader(held).cycle(steps=8)
    assert c.drive == "tilt" and not c.static and np.ptp(c["lift"]) < 1e-12 and math.isclose(np.ptp(c["tilt"]), 0.15, rel_tol=0.1)


def held_tilt() -> lw.Mechanism:
    return loader({"lift": MOVES["lift"], "tilt": {"position": f"{TILT} m"}})


def test_the_page_of_a_static_turn_has_the_forces_of_virtual_work() -> None:
    """The page's cycle has no speeds; Python's efforts that it compares itself with are static."""
    from linkwright.rings.studio import live
    from linkwright.rings.studio.page import played

    m = loader(MOVES)
    moving, still = (played(m, m.cycle(steps=24, speed=speed)) for speed in (None, 0))
    assert moving == {"run": None, "static": False} and still == {"run": None, "static": True}
    _, known = live.contents(m.system, steps=24, **still)
    cycle = known["cycle"]
    values, speed, u = (np.frombuffer(base64.b64decode(x["f64"])).reshape(x["shape"]) for x in
                        (cycle["value"], cycle["speed"], cycle["reference"]["u"]))  # fmt: skip
    order = [cycle["drives"].index(n) for n in ("lift", "tilt")]
    wanted = np.array([by_virtual_work(*values[i, order]) for i in cycle["reference"]["at"]])
    assert cycle["still"] and not np.any(speed) and np.abs(u[:, order] - wanted).max() < 1e-9 * np.abs(wanted).max()


@pytest.mark.slow
def test_the_report_of_a_static_turn_has_no_power_and_no_work(tmp_path: Any) -> None:
    m = held_tilt()
    moving, still = (m.cycle(steps=24, speed=x).report(tmp_path / "r.html").read_text(encoding="utf-8") for x in (None, 0))
    report = [text[text.index("<article") : text.index("</article>")] for text in (moving, still)]
    assert "Static analysis: inertia forces are ignored." in report[1] and "moves lift" in report[1]
    for word in ("peak power", "top speed", "J a cycle"):
        assert word in report[0] and word not in report[1]


@pytest.mark.slow
def test_a_held_drive_has_no_power_at_all(tmp_path: Any) -> None:
    """Its speed is round-off of the walk; so was its power, which was printed as -1.8e-12 W."""
    from linkwright.rings.design.drive_duty import efforts

    c = held_tilt().cycle(steps=36)
    own = efforts(c)
    assert own["tilt"].power_min == own["tilt"].power_max == own["tilt"].work == own["tilt"].speed_max == 0.0
    assert own["lift"].power_max > 100.0 and "e-1" not in f"{own}{c.drive_sizing('tilt')}"
    text = c.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "e-1" not in text[text.index(">Drive</h3>") : text.index(">Bearing loads</h3>")].split("<table")[-1]
    assert "tilt held at" in held_tilt().info().motion


PRESS = {
    "plane": "xy",
    "units": ["mm", "kg", "deg", "rpm"],
    "drawing": {"A": [0, 0], "B": [0, 50], "C": [0, -150]},
    "bodies": {
        "ground": {"pins": ["A"]},
        "crank": {"pins": ["A", "B"], "mass": 1},
        "rod": {"pins": ["B", "C"], "mass": 1},
        "ram": {"pins": ["C"], "mass": 3},
    },
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "ram"], "at": "C", "axis": [0, 1]}},
    "drive": {"A": "60 rpm"},
}


def test_a_load_that_vanishes_at_rest_is_named() -> None:
    """A press that pushes back while its ram goes down does not push at rest, and the note has its name."""
    work = {"on": "ram.C", "force": [0, "5 kN * max(0, min(1, (-180 mm - ram.C.y)/(1 mm))) * max(0, min(1, -ram.C.vy/(1 mm/s)))"]}
    half = {"on": "ram.C", "force": [0, "100 N - (1 N s/m)*ram.C.vy"]}
    c = lw.load({**PRESS, "loads": {"work": work, "half": half}}).cycle(steps=12, speed=0)
    assert "Load 'work' is zero in every position, because its formula is zero at rest (ram.C.vy)." in c.notes[0]
    assert "Load 'half' is taken at zero velocity (ram.C.vy)." in c.notes[0]
    plain = lw.load({**PRESS, "loads": {"half": {"on": "ram.C", "force": [0, "100 N"]}}}).cycle(steps=12, speed=0)
    assert np.abs(c["A.torque"] - plain["A.torque"]).max() < 1e-12  # and so it is: N m, of 5


def test_an_effort_of_the_file_that_a_cycle_does_not_apply_is_named() -> None:
    c = lw.load({**PRESS, "drive": {"guide": "-100 N"}, "start": {"A": "30 deg"}}).cycle(steps=12)
    assert any("the force of -100 N that the model gives to 'guide' does not act here" in n for n in c.notes)
    c = lw.load({**PRESS, "drive": {"A": "2 N m"}}).cycle(steps=12, speed="60 rpm")
    assert any("the torque of 2 N m that the model gives to 'A' does not act here" in n for n in c.notes)
    assert not any("does not act" in n for n in lw.load(PRESS).cycle(steps=12).notes)


def test_work_inside_the_machine_is_counted_both_ways() -> None:
    """A load that the frame takes up shakes the ground as a cylinder between frame and ram does, which is another formulation."""
    ground = {"pins": ["A"], "points": ["W"]}
    base = {**PRESS, "drawing": {**PRESS["drawing"], "W": [0, -500]}, "bodies": {**PRESS["bodies"], "ground": ground}}
    work = "2 kN * max(0, min(1, (-150 mm - ram.C.y)/(20 mm)))"
    outside = cycle_loads(lw.load({**base, "loads": {"work": {"on": "ram.C", "force": [0, work]}}}).cycle(steps=24))
    inside = cycle_loads(lw.load({**base, "cylinders": {"work": {"between": ["ground.W", "ram.C"], "force": work}}}).cycle(steps=24))
    assert inside.within is None and outside.within is not None and outside.outside == ("work",)
    assert outside.within == pytest.approx(inside.shaking, rel=1e-9)
    assert outside.shaking[0] > 5.0 * inside.shaking[0]
    assert "with load 'work' as from outside" in outside.shaken and "as in a press" in outside.shaken
    assert "outside" not in inside.shaken and outside.as_dict()["shaking"]["outside"] == ["work"]

"""Transmissions: maps against closed forms of a four-bar, and against the full loop model of a two-motor ankle."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, SingularityError, UsageError
from linkwright.mechanics.kinematics.floating_base import base_joints
from linkwright.rings.robots.transmission import Transmission
from tests.refusals import refused
from tests.system.test_named_terms import LEG

L1, L2, L3, L4 = 0.3, 0.9, 0.75, 1.0


@pytest.fixture(scope="module")
def ankle() -> lw.System:
    return lw.load("ankle").system


@pytest.fixture(scope="module")
def t(ankle: lw.System) -> Transmission:
    return ankle.transmission(["left", "right"], ["pitch", "roll"])


def rocker(a: np.ndarray) -> np.ndarray:
    """Angle of the rocker of the four-bar from that of its crank, open branch: two circles meet."""
    B = L1 * np.stack([np.cos(a), np.sin(a)])
    D = np.array([[L4], [0.0]])
    gap = D - B
    r = np.hypot(*gap)
    along = (r * r + L2 * L2 - L3 * L3) / (2.0 * r)
    side = np.sqrt(L2 * L2 - along * along)
    C = B + along * gap / r + side * np.stack([-gap[1], gap[0]]) / r
    return np.arctan2(*(C - D)[::-1])


def test_a_four_bar_has_its_closed_form() -> None:
    """Positions, ratio and rate of the ratio; angles of the model count from the x axis of its links up to a constant."""
    s = lw.load("four-bar").system
    four = s.transmission("A", "D")
    a = np.radians(np.linspace(20.0, 170.0, 31))
    x = four.at(motors=a[:, None], v={"A": 2.0})
    d = rocker(a)
    assert np.ptp(np.asarray(x.joint)[:, 0] - d) < 1e-12
    h = 1e-4
    slope = (rocker(a - 2 * h) - 8 * rocker(a - h) + 8 * rocker(a + h) - rocker(a + 2 * h)) / (12 * h)  # error h^4
    curve = (-rocker(a - 2 * h) + 16 * rocker(a - h) - 30 * d + 16 * rocker(a + h) - rocker(a + 2 * h)) / (12 * h * h)
    np.testing.assert_allclose(np.asarray(x.K)[:, 0, 0], slope, atol=1e-11)
    np.testing.assert_allclose(np.asarray(x.K_rate)[:, 0, 0], 2.0 * curve, atol=1e-6)  # round-off of the differences over h^2
    np.testing.assert_allclose(x.joint_speed[:, 0], 2.0 * slope, atol=1e-11)
    back = four.to_motors(np.asarray(x.joint)[5:20])  # this side of the rocker's end of travel, where the crank is not unique
    np.testing.assert_allclose(np.asarray(back)[:, 0], a[5:20], atol=1e-11)


def test_travel_ends_at_dead_centers_of_closed_form() -> None:
    """The rocker's ends have crank and coupler in one line; a crank's end (no Grashof linkage) has coupler and rocker in one line."""
    s = lw.load("four-bar").system
    low, high, low_by, high_by = s.transmission("A", "D").limits()["D"]
    offset = float(s.start["D"]) - float(rocker(np.array([math.radians(60.0)]))[0])
    ends = [math.pi - math.acos((L3**2 + L4**2 - r * r) / (2 * L3 * L4)) for r in (L2 + L1, L2 - L1)]
    np.testing.assert_allclose([low - offset, high - offset], sorted(ends), atol=1e-6)
    assert low_by == high_by == "dead center of the joints"

    short = lw.load("four-bar", L1="0.8 m", L2="0.6 m", L3="0.55 m").system
    travel = short.transmission("A", "D").limits()["D"]
    ends = {travel.low_by: travel.low, travel.high_by: travel.high}
    a = math.acos((0.8**2 + L4**2 - (0.6 + 0.55) ** 2) / (2 * 0.8 * L4))
    dead = short.assemble({"D": ends["dead center of the motors"]})
    assert float(dead["A"]) == pytest.approx(a, abs=1e-9)
    with refused(SingularityError, name="D"):
        at = short.transmission("A", "D").at(dead)
        np.asarray(at.J)[:] = 0.0  # the located place is a billionth beside it
        _ = at.K


def test_positions_both_ways_one_and_many(t: Transmission) -> None:
    rows = t.grid(50)
    x = t.at(joints=rows)
    assert x.ok.all() and x.motor.rows == ("left", "right") and not x.why
    np.testing.assert_allclose(t.to_joints(np.asarray(x.motor)), rows, atol=1e-11)
    one = t.at(joints={"pitch": float(rows[7, 0]), "roll": float(rows[7, 1])})
    np.testing.assert_allclose(one.motor, x.motor[7], atol=1e-12)
    np.testing.assert_allclose(one.J, x.J[7], atol=1e-12)
    np.testing.assert_allclose(one.reflected.M, x.reflected.M[7], atol=1e-15)
    assert float(t.to_motors({"pitch": "10 deg", "roll": 0}).at("left")) == pytest.approx(float(t.to_motors([math.radians(10), 0.0])[0]))


def moving(t: Transmission, n: int = 6) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    low, high = np.array(list(t.range.values())).T
    return low + (high - low) * random.random((n, 2)), random.normal(size=(n, 2)) * 3.0


def test_rates_of_the_jacobians(t: Transmission) -> None:
    """J along a line of joint positions, differentiated over the time; differences of order h^2 with h^2 = 1e-8."""
    q, v = moving(t)
    x, h = t.at(joints=q, v=dict(zip(t.joints, v.T, strict=True))), 1e-4
    ahead, before = t.at(joints=q + h * v), t.at(joints=q - h * v)
    for name in ("J", "K"):
        slope = (np.asarray(getattr(ahead, name)) - np.asarray(getattr(before, name))) / (2 * h)
        np.testing.assert_allclose(getattr(x, f"{name}_rate"), slope, atol=1e-5)
        moved = getattr(x, "motor_speed" if name == "J" else "joint_speed")
        other = getattr(x, "joint_speed" if name == "J" else "motor_speed")
        np.testing.assert_allclose((np.asarray(getattr(x, name)) @ np.asarray(other)[..., None])[..., 0], moved, rtol=1e-11)


def test_the_power_is_that_of_the_full_model(ankle: lw.System, t: Transmission) -> None:
    """Motor torques over the full loop model, and their torques at the joints: equal power, to 1e-12 of it."""
    q, v = moving(t)
    tau = np.random.default_rng(5).normal(size=(6, 2)) * 20.0
    x = t.at(joints=q, v=dict(zip(t.joints, v.T, strict=True)))
    joint = np.asarray(x.joint_torques(tau))
    for i in range(6):
        st = ankle.assemble(dict(zip(t.joints, map(float, q[i]), strict=True)), dict(zip(t.joints, map(float, v[i]), strict=True)))
        full = tau[i, 0] * float(st["left.v"]) + tau[i, 1] * float(st["right.v"])
        assert abs(joint[i] @ v[i] - full) < 1e-12 * np.abs(tau[i] * [float(st["left.v"]), float(st["right.v"])]).sum()
    np.testing.assert_allclose(x.motor_torques(joint), tau, rtol=1e-11, atol=1e-10)


def test_reduced_equations_move_as_the_full_model(ankle: lw.System, t: Transmission) -> None:
    """M x'' + h = J' tau against forward dynamics of all loops; and the share of cranks, rods and rotors against a model without them."""
    q, v = moving(t)
    tau = np.random.default_rng(6).normal(size=(6, 2)) * 5.0
    x = t.at(joints=q, v=dict(zip(t.joints, v.T, strict=True)))
    a = x.whole.acceleration(tau)
    for i in range(6):
        st = ankle.assemble(dict(zip(t.joints, map(float, q[i]), strict=True)), dict(zip(t.joints, map(float, v[i]), strict=True)))
        full = ankle.forward(st, {"left": tau[i, 0], "right": tau[i, 1]})
        np.testing.assert_allclose(a[i], [full["pitch.a"], full["roll.a"]], rtol=1e-9)
    foot = lw.load(FOOT).system
    alone = foot.named_terms((), ["pitch", "roll"])(q, v)
    for name, scale in (("M", 1e-2), ("C", 0.1), ("G", 1.0)):
        rest = np.asarray(getattr(x.whole, name)) - np.asarray(getattr(x.reflected, name))
        np.testing.assert_allclose(rest, getattr(alone, name), atol=1e-12 * scale)
    assert np.abs(np.asarray(x.reflected.M)[:, 0, 1]).max() > 1e-5  # there are terms off the diagonal


FOOT = {
    "name": "foot",
    "units": ["mm", "kg", "deg"],
    "gravity": [0, 0, "-9.81 m/s^2"],
    "drawing": {"P": [0, 0, 0]},
    "bodies": {
        "ground": {"points": ["P"]},
        "cross": {"points": ["P"], "mass": 0.06, "com": "P", "inertia": ["8 kg mm^2", "8 kg mm^2", "6 kg mm^2"]},
        "foot": {"points": ["P"], "mass": 0.85, "com": [25, 0, -42], "inertia": ["900 kg mm^2", "3200 kg mm^2", "3600 kg mm^2"]},
    },
    "joints": {
        "pitch": {"type": "revolute", "between": ["ground", "cross"], "at": "P", "axis": [0, 1, 0]},
        "roll": {"type": "revolute", "between": ["cross", "foot"], "at": "P", "axis": [1, 0, 0]},
    },
}


def test_a_robot_with_a_floating_base() -> None:
    """The knee of a floating leg, driven by a crank at the hip: the map does not depend on base and hip."""
    leg = lw.load(LEG).system
    motor = "crank" if any(j.name == "crank" for j in leg.description.joints) else leg.description.drives[-1].joint
    knee = leg.transmission(motor, "knee")
    assert set(knee.others) > {"hip", "base.x", "base.wz"}
    x = knee.at(joints={"knee": np.array([-0.2, 0.0, 0.2])}, v={"knee": 1.0})
    assert x.ok.all()
    st = leg.assemble({"knee": 0.2, "hip": 0.7})
    np.testing.assert_allclose(knee.at(st).J, x.J[2], rtol=1e-10)
    np.testing.assert_allclose(knee.to_joints({motor: float(x.motor[0, 0])}), x.joint[0], atol=1e-11)
    # ranges are searched with the base held, in code: one by one the summary of a humanoid's ankle took minutes
    searched = knee._ranges.t
    assert not base_joints(searched.core.tree) and base_joints(leg.tree)
    at = knee.worst.joint["knee"]
    np.testing.assert_allclose(knee.at(joints={"knee": at}).J, searched.at(joints={"knee": at}).J, rtol=1e-10)
    travel = knee.limits()["knee"]
    for end, name in ((travel.low, travel.low_by), (travel.high, travel.high_by)):
        if name == "dead center of the joints":  # of the floating robot too
            step = 1e-4 * (travel.low + travel.high - 2.0 * end)
            reached = leg.transmission(motor, "knee").at(joints={"knee": np.array([end + step, end - step])})
            assert list(reached.ok) == [True, False]


def test_a_universal_joint_and_cylinders() -> None:
    """The same ankle on one universal joint, two cylinders in the place of cranks and rods: lengths against the geometry."""
    model = {
        "name": "jacks", "units": ["mm", "kg", "deg"],
        "drawing": {"P": [0, 0, 0], "C1": [-60, 30, 200], "C2": [-60, -30, 200], "S1": [-50, 30, 0], "S2": [-50, -30, 0]},
        "bodies": {
            "ground": {"points": ["P", "C1", "C2"]},
            "foot": {"points": ["P", "S1", "S2"], "mass": 1.0, "com": "P", "inertia": ["1000 kg mm^2"] * 3},
        },
        "joints": {"U": {"type": "universal", "between": ["ground", "foot"], "at": "P", "axes": [[0, 1, 0], [1, 0, 0]]}},
        "cylinders": {"l": {"between": ["ground.C1", "foot.S1"]}, "r": {"between": ["ground.C2", "foot.S2"]}},
        "drive": {"l": "0 mm/s", "r": "0 mm/s"},
    }  # fmt: skip
    s = lw.load(model).system
    jacks = s.transmission(["l", "r"], ["U.angle1", "U.angle2"])
    assert jacks.parts == ()
    a, b = 0.2, -0.1
    zero = np.asarray(jacks.at(s.start).joint)
    x = jacks.at(joints=zero + np.array([a, b]))
    Ry = np.array([[math.cos(a), 0, math.sin(a)], [0, 1, 0], [-math.sin(a), 0, math.cos(a)]])
    Rx = np.array([[1, 0, 0], [0, math.cos(b), -math.sin(b)], [0, math.sin(b), math.cos(b)]])
    for length, y in zip(x.motor, (0.03, -0.03), strict=True):
        assert length == pytest.approx(np.linalg.norm(np.array([-0.06, y, 0.2]) - Ry @ Rx @ [-0.05, y, 0.0]), abs=1e-13)
    np.testing.assert_allclose(jacks.to_joints({"l": float(x.motor[0]), "r": float(x.motor[1])}), zero + np.array([a, b]), atol=1e-11)
    force = x.joint_torques({"l": "100 N"})
    assert float(force[0]) == pytest.approx(100.0 * float(x.J.at("l", "U.angle1")))


@pytest.mark.parametrize(
    ("motors", "joints", "name"),
    [
        (["left", "right"], ["pitch"], "motors"),
        (["left"], ["left"], "left"),
        (["left", "left"], ["pitch", "roll"], "left"),
        (["U1"], ["pitch"], "U1"),
        (["lft", "right"], ["pitch", "roll"], "lft"),
        (["left"], ["pitch"], "motors"),
        ([], ["pitch"], "motors"),
    ],
)  # fmt: skip
def test_names_that_do_not_fit(ankle: lw.System, motors: list[str], joints: list[str], name: str) -> None:
    with refused(UsageError, name=name):
        ankle.transmission(motors, joints)


def test_joints_that_the_motors_do_not_determine() -> None:
    shovel = lw.load("excavator").system  # the barrel of the bucket's cylinder turns with the bucket, but also with stick and boom
    with refused(UsageError, name="J4"):
        shovel.transmission("J3", "J8")
    leg = lw.load(LEG).system
    with refused(UsageError, name="motors"):
        leg.transmission("hip", "knee")
    with refused(UsageError, name="motors"):
        shovel.transmission(["J13", "J12"], ["J7", "J6"])  # both belong to the stick


@pytest.mark.slow
def test_dead_centers_inside_a_range(ankle: lw.System) -> None:
    wide = ankle.transmission(["left", "right"], ["pitch", "roll"], range={"pitch": ("-100 deg", "100 deg")})
    with pytest.raises(UsageError, match=r"dead center inside: .* A range without dead centers: pitch -\d+.* deg .. \d+.* deg, roll"):
        _ = wide.worst
    near = ankle.transmission(["left", "right"], ["pitch", "roll"], range={"pitch": ("-86 deg", "86 deg")})
    assert near.range["pitch"] == pytest.approx((-math.radians(86.0), math.radians(86.0)))
    assert np.degrees(near.range["roll"]) == pytest.approx([-13.5, 13.5])  # three quarters of the stops, which were not given: smaller
    assert near.at(joints=near.grid(900)).ok.all()
    wrong = (({"pich": (0, 1)}, "no joint .* Did you mean 'pitch'"), ({"roll": "9 deg"}, "is a pair"), ({"roll": (1, 0)}, "not below"))
    for given, text in wrong:
        with pytest.raises(UsageError, match=text):
            _ = ankle.transmission(["left", "right"], ["pitch", "roll"], range=given).range


def test_states_out_of_reach(t: Transmission) -> None:
    x = t.at(joints=np.array([[0.1, 0.1], [1.55, 0.3]]))
    assert x.ok.tolist() == [True, False] and list(x.why) == [1] and np.isnan(x.motor[1]).all() and np.isfinite(x.J[0]).all()
    with pytest.raises(LinkwrightError):
        t.at(joints=[1.55, 0.3])
    for call, text in (
        (lambda: t.at(), "give one of"),
        (lambda: t.at(joints={"pitch": 0.1}), "of roll are missing"),
        (lambda: t.at(joints=[1.0, 2.0, 3.0]), "shape"),
        (lambda: t.at(joints={"pitch": "3 kg", "roll": 0}), "angle"),
        (lambda: t.at(3.0), "State or Trajectory of its own"),
        (lambda: t.at(joints=[0.0, 0.0]).joint_torques({"pitch": 1.0}), "not one of left, right"),
        (lambda: t.at(joints=[0.0, 0.0]).reflected.acceleration([0.0, 0.0]), "whole"),
    ):
        with pytest.raises(UsageError, match=text):
            call()


def test_worst_conditioning_and_summary(t: Transmission) -> None:
    """At the corner of the range, by a fine grid; no position of it is worse."""
    worst = t.worst
    assert worst.condition == pytest.approx(np.nanmax(t.at(joints=t.grid(2500)).condition), rel=1e-3)
    assert worst.condition >= np.nanmax(t.at(joints=t.grid(2500)).condition)
    assert "pitch: -25 deg (stop) .. 45 deg (stop)" in t.summary()
    assert "worst condition in the range pitch -25 deg .. 45 deg, roll -18 deg .. 18 deg:" in t.summary()


def test_one_motor_is_worst_where_its_ratio_is_least() -> None:
    """The condition of one ratio is 1 everywhere; the least crank speed over rocker speed by a fine grid of the closed form."""
    four = lw.load("four-bar").system.transmission("A", "D", range={"D": (1.8, 2.3)})
    a = four.to_motors(np.linspace(1.8, 2.3, 5001)[:, None])[:, 0]
    h = 1e-4
    ratio = 2 * h / np.abs(rocker(a + h) - rocker(a - h))
    worst = four.worst
    assert worst.condition == 1.0 and worst.motor["A"] == pytest.approx(a[np.argmin(ratio)], abs=0.01)  # flat at its least
    assert f"{ratio.min():.4g} .. {ratio.max():.4g}, least at D" in four.summary()

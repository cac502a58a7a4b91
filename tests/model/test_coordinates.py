"""Coordinates of joints and cylinders by name: kinds, values by hand, rates and efforts against differences, and who else names them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright import joints
from linkwright.api import compiled_of
from linkwright.drives.base import target
from linkwright.errors import ChannelError, LinkwrightError, ModelError
from linkwright.mechanics.dynamics.tree import generalized
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.effort_places import effort_place
from linkwright.mechanics.kinematics.motion import displaced
from linkwright.model.coordinates import (
    Distance,
    JointCoordinate,
    coordinate,
    coordinate_or_none,
    coordinates,
    is_rotary,
    lengths,
    movable,
    slides,
)
from linkwright.model.description import Body, Description, Joint
from tests.refusals import refused

BOOM: dict[str, Any] = {
    "name": "boom",
    "plane": "xy",
    "units": ["mm", "deg"],
    "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "G": [600, -800], "T": [1500, 0], "S": [2500, 0]},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["G"]},
        "arm": {"pins": ["A"], "points": ["T", "S"], "mass": 100, "com": "T", "inertia": "10 kg m^2"},
    },
    "cylinders": {"lift": {"between": ["ground.G", "arm.T"]}},
    "drive": {"lift": "20 mm/s"},
}

# a crank that moves a rocker and a slider, and a cylinder at the coupler: two loops
LOOPS: dict[str, Any] = {
    "name": "loops",
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.1, 0.15], "C": [0.45, 0.4], "D": [0.5, 0], "E": [0.7, 0.5], "K": [-0.1, 0.1], "H": [-0.6, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"], "points": ["E"]},
        "crank": {"pins": ["A", "B", "K"], "mass": 1},
        "coupler": {"pins": ["B", "C"], "mass": 2},
        "rocker": {"pins": ["C", "D"], "mass": 1.5},
        "rod": {"pins": ["K", "H"], "mass": 1},
        "block": {"pins": ["H"], "mass": 1, "inertia": 0.01},
    },
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "block"], "at": "H", "axis": [1, 0]}},
    "cylinders": {"ram": {"between": ["ground.E", "coupler.C"]}},
    "drive": {"A": "1 rad/s"},
}

# in space: a ball, a cross, a cylindrical and a free joint, and two cylinders, one of them between moving bodies
SPACE: dict[str, Any] = {
    "name": "arm in space",
    "gravity": [0, 0, -9.81],
    "drawing": {
        "O": [0, 0, 0],
        "P": [0.4, 0.1, 0.3],
        "Q": [0.7, 0.3, 0.2],
        "F": [0.2, -0.5, 0.1],
        "T": [0.9, 0.5, 0.6],
        "V": [0.2, 0.9, 0.8],
    },
    "bodies": {
        "ground": {"points": ["O", "F"]},
        "upper": {"points": ["O", "P"], "mass": 3, "com": "P", "inertia": [0.1, 0.2, 0.3]},
        "middle": {"points": ["P", "Q"], "mass": 2, "com": "Q", "inertia": [0.1, 0.1, 0.2]},
        "lower": {"points": ["Q", "T"], "mass": 1, "com": "T", "inertia": [0.02, 0.02, 0.02]},
        "plate": {"points": ["V"], "mass": 1, "com": [0.1, 0.8, 0.9], "inertia": [0.01, 0.02, 0.02]},
    },
    "joints": {
        "hip": {"type": "spherical", "between": ["ground", "upper"], "at": "O"},
        "knee": {"type": "universal", "between": ["upper", "middle"], "at": "P", "axes": [[1, 0, 0], [0, 1, 0]]},
        "tube": {"type": "cylindrical", "between": ["middle", "lower"], "at": "Q", "axis": [0, 1, 1]},
        "base": {"type": "free", "between": ["ground", "plate"], "at": "V"},
    },
    "cylinders": {"leg": {"between": ["ground.F", "upper.P"]}, "tie": {"between": ["lower.T", "plate.V"]}},
}


def of_type(kind: str) -> Description:
    options = tuple((name, 0.01) for name in joints.JOINTS[kind].options)
    return Description(kind, (Body("ground"), Body("b")), (Joint("J", kind, "ground", "b", options=options),))


# -------------------------------------------------------------------- kinds


@pytest.mark.parametrize("kind", joints.JOINTS)
def test_every_joint_type_lists_its_coordinates(kind: str) -> None:
    """One for each coordinate that is not part of a quaternion, each found by its own name, with the entries of the joint."""
    d, jt = of_type(kind), joints.JOINTS[kind]
    found = coordinates(d)
    assert len(found) == sum(x != "quaternion" for x in jt.coordinate_kinds)
    for x in found:
        assert isinstance(x, JointCoordinate) and x.q is not None
        assert coordinate(d, x.name) == x
        assert x.name == (f"J.{jt.q_names[x.q]}" if jt.q_names[x.q] else "J")
        assert x.kind == jt.coordinate_kinds[x.q] and jt.v_names[x.v] == jt.q_names[x.q]
        assert x.alone == (jt.nv == 1) and is_rotary(d, x.name) == (x.kind == "angle") != slides(d, x.name)
    if jt.nv:
        whole = coordinate(d, "J")  # the first of several
        assert (whole.name, whole.kind, whole.v) == ("J", joints.velocity_kinds(jt)[0], 0)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("A", ("angle", "angular speed", "angular acceleration", "torque")),
        ("lift", ("length", "speed", "acceleration", "force")),
    ],
)
def test_kinds_of_speed_and_effort_follow(name: str, kinds: tuple[str, ...]) -> None:
    x = coordinate(lw.load(BOOM).description, name)
    assert (x.kind, x.speed_kind, x.acceleration_kind, x.effort_kind) == kinds


def test_a_cylinder_is_the_distance_of_its_ends() -> None:
    d = lw.load(SPACE).description
    assert movable(d) == ["hip", "knee", "tube", "base", "leg", "tie"]
    assert lengths(d) == {"leg": (("ground", "F"), ("upper", "P")), "tie": (("lower", "T"), ("plate", "V"))}
    of_joints = ["knee.angle1", "knee.angle2", "tube.angle", "tube.travel", "base.x", "base.y", "base.z"]
    assert [x.name for x in coordinates(d)] == [*of_joints, "leg", "tie"]
    assert coordinate(d, "tie") == Distance("tie", "length", lengths(d)["tie"])
    assert slides(d, "tie") and coordinate(d, "tie").alone and not is_rotary(d, "tie")


def test_components_of_an_angular_velocity_have_a_rate_and_no_travel() -> None:
    s = lw.load(SPACE).system
    x = coordinate(s.description, "hip.wy")
    assert isinstance(x, JointCoordinate) and (x.kind, x.q, x.v) == ("angle", None, 1)
    at = Instant(compiled_of(s).skel, s.start.q, np.arange(1.0, 1.0 + s.tree.nv))
    assert at.travel_rate(x) == at.rates(s.description.joint("hip"))[1]
    with refused(ChannelError, name="hip.wy"):
        at.travel(x)
    assert coordinate_or_none(s.description, "hip.qw") is None and not is_rotary(s.description, "hip.qw")


# -------------------------------------------------------------------- values and rates


def test_the_length_of_a_cylinder_by_the_law_of_cosines() -> None:
    """A-G is 1 m, A-T 1.5 m, G at atan2(-0.8, 0.6): L^2 = 3.25 - 3 cos, L L' = 1.5 sin A', and a push of 1 N turns with 1.5 sin/L N m."""
    s = lw.load(BOOM).system
    lift, hinge = (coordinate(s.description, name) for name in ("lift", "A"))
    for angle, speed in ((-0.2, 0.7), (0.4, -1.3), (1.1, 0.05)):
        at = Instant(compiled_of(s).skel, np.array([angle]), np.array([speed]), a=np.array([0.0]))
        between = angle - math.atan2(-0.8, 0.6)
        length = math.sqrt(3.25 - 3.0 * math.cos(between))
        rate = 1.5 * math.sin(between) * speed / length
        assert at.travel(lift) == pytest.approx(length, rel=1e-14) and at.travel(hinge) == angle
        assert at.travel_rate(lift) == pytest.approx(rate, rel=1e-13) and at.travel_rate(hinge) == speed
        bend = (1.5 * math.cos(between) * speed**2 - rate**2) / length
        assert at.travel_acceleration(lift) == pytest.approx(bend, rel=1e-12) and at.travel_acceleration(hinge) == 0.0
        assert generalized(compiled_of(s).skel, at.motion, at.along(lift)) == pytest.approx([1.5 * math.sin(between) / length], rel=1e-13)
        assert generalized(compiled_of(s).skel, at.motion, at.along(hinge, 3.0)) == pytest.approx([3.0])


def moving(model: dict[str, Any]) -> Instant:
    """Positions, velocities and accelerations that keep the loops closed."""
    s = lw.load(model).system
    if s.tree.loops:
        return lw.load(model).cycle(steps=24).instant(5)
    rng = np.random.default_rng(3)
    q = displaced(compiled_of(s).skel, s.start.q, 0.3 * rng.normal(size=s.tree.nv))
    return Instant(
        compiled_of(s).skel,
        q,
        rng.normal(size=s.tree.nv),
        0.0,
        compiled_of(s).skel.unpack(q, compiled_of(s).skel.pack(s.start.references)),
        rng.normal(size=s.tree.nv),
    )


def later(at: Instant, h: float) -> Instant:
    """The motion continued by a time: q to the second order, v to the first."""
    step = h * at.v + 0.5 * h * h * at.known_a
    return Instant(at.skel, displaced(at.skel, at.q, step), at.v + h * at.known_a, at.t + h, at.references, at.known_a)


@pytest.mark.parametrize("model", [BOOM, LOOPS, SPACE], ids=["boom", "loops", "space"])
def test_rates_and_accelerations_are_those_of_differences(model: dict[str, Any]) -> None:
    """h^2 of the difference is 1e-10 of values about 1; joints that are cut and joints of the tree alike."""
    at, h = moving(model), 1e-5
    every = coordinates(at.skel.tree.description)
    assert any(isinstance(x, Distance) for x in every) and any(isinstance(x, JointCoordinate) for x in every)
    before, after = later(at, -h), later(at, h)
    for x in every:
        assert at.travel_rate(x) == pytest.approx((after.travel(x) - before.travel(x)) / (2 * h), rel=1e-6, abs=1e-8), x.name
        bend = (after.travel_rate(x) - before.travel_rate(x)) / (2 * h)
        assert at.travel_acceleration(x) == pytest.approx(bend, rel=1e-6, abs=1e-7), x.name


@pytest.mark.parametrize("model", [BOOM, LOOPS, SPACE], ids=["boom", "loops", "space"])
def test_a_unit_effort_has_the_power_of_the_rate(model: dict[str, Any]) -> None:
    """Wrenches of an effort, as efforts in the tree's joints, times v: the effort times the rate, for any v."""
    at = moving(model)
    for x in coordinates(at.skel.tree.description):
        row = generalized(at.skel, at.motion, at.along(x, 2.5))
        assert row @ at.v == pytest.approx(2.5 * at.travel_rate(x), rel=1e-12, abs=1e-13), x.name


def test_a_cut_joint_is_read_as_one_of_the_tree() -> None:
    """The same loop cut at another joint: coordinates, rates and accelerations at the same time are the same."""
    found = [lw.load(LOOPS | {"cuts": [cut, "H"]}).cycle(steps=24) for cut in ("B", "D")]
    assert found[0].skel.tree.cuts != found[1].skel.tree.cuts
    for name in movable(found[0].skel.tree.description):
        first, second = (np.array([motion(i, name) for i in c._instants]) for c in found)
        np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)  # round-off of a closed loop over its pivots


def motion(at: Instant, name: str) -> list[float]:
    x = coordinate(at.skel.tree.description, name)
    return [float(at.travel(x)), float(at.travel_rate(x)), float(at.travel_acceleration(x))]


# -------------------------------------------------------------------- who names them


@pytest.mark.parametrize("model", [BOOM, LOOPS, SPACE], ids=["boom", "loops", "space"])
def test_drives_places_and_channels_mean_the_same_coordinate(model: dict[str, Any]) -> None:
    m = lw.load(model)
    s, at = m.system, moving(model)
    for x in coordinates(s.description):
        here, place = Instant(compiled_of(s).skel, at.q, at.v, at.t, at.references, at.known_a), effort_place(s.description, x.name)
        if isinstance(x, Distance) or x.q == x.v:  # joints with a quaternion are not driven
            on = target(compiled_of(s).skel, x.name)
            assert (on.position_kind, on.speed_kind, on.effort_kind) == (x.kind, x.speed_kind, x.effort_kind)
            assert (on.position(here), on.speed(here)) == (here.travel(x), here.travel_rate(x))
        assert place is not None and place.acceleration is not None and place.kind == x.kind
        assert place.acceleration(here) == here.travel_acceleration(x)
        assert here.channel(x.name) == here.travel(x) and here.channel(f"{x.name}.v") == here.travel_rate(x)
        assert float(s.start[x.name]) == pytest.approx(float(s.start.instant.travel(x)), abs=1e-15)
        np.testing.assert_array_equal(place.rows(here)[0], generalized(compiled_of(s).skel, here.motion, here.along(x)))


# -------------------------------------------------------------------- names that are none


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lifft", "there is no joint 'lifft'. Joints: hip, knee, tube, base, weld"),
        ("knee.angle3", "'knee.angle3' is not a velocity of the universal joint 'knee'. Did you mean 'knee.angle2'"),
        ("weld", "joint 'weld' is fixed: it has no coordinate that could move. Name another joint"),
    ],
)
def test_an_unknown_name_says_what_is_known(name: str, message: str) -> None:
    more = {"type": "fixed", "between": ["ground", "base"], "at": "O"}
    bodies = SPACE["bodies"] | {"base": {"points": ["O"]}}
    d = lw.load(SPACE | {"bodies": bodies, "joints": SPACE["joints"] | {"weld": more}}).description
    assert coordinate_or_none(d, name) is None
    with pytest.raises(ModelError) as found:
        coordinate(d, name)
    assert message in str(found.value)


def test_a_group_of_velocities_is_no_single_coordinate() -> None:
    d = of_type("free")
    assert coordinate_or_none(d, "J.linear") is None
    with refused(ModelError, name="J.linear"):
        coordinate(d, "J.linear")
    assert slides(d, "J.linear") and not slides(d, "J.angular") and not slides(d, "J")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: target(compiled_of(m.system).skel, "lit"), "drive: there is no joint or cylinder 'lit'. Did you mean 'lift'"),
        (lambda m: m.system.assemble({"lit": 1.0}), "there is no joint 'lit'. Did you mean 'lift'"),
        (lambda m: m.cycle(drive="lit"), "there is no joint 'lit'. Did you mean 'lift'"),
        (lambda m: is_rotary(m.description, "lit"), "there is no joint 'lit'. Joints: A"),
    ],
    ids=["drive", "position", "turn", "kind"],
)
def test_callers_keep_their_own_words(call: Any, message: str) -> None:
    with pytest.raises(LinkwrightError) as found:
        call(lw.load(BOOM))
    assert message in str(found.value)

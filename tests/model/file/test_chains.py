"""Several joints between two bodies: chains against the joint types that are products of the same motions, names, errors, round trips."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.chains import ChainJoint, chained
from linkwright.model.description import Body, Description, Placement
from linkwright.model.parameters import every_parameter
from linkwright.rings.studio.planar_drawing import drawn_bodies
from linkwright.rings.studio.scene import Scene
from tests.refusals import refused

ROUND_OFF = 1e-11  # accelerations and forces of order 10 after some hundred roundings
HINGE = {"type": "revolute"}


def arm(joints: dict[str, Any]) -> dict[str, Any]:
    """A leg on a sliding base in space."""
    return {
        "name": "arm",
        "gravity": [0, 0, -9.81],
        "bodies": {
            "ground": {},
            "base": {"points": {"H": [0.1, 0.0, 0.3]}, "mass": 1.0, "inertia": [0.1, 0.1, 0.1]},
            "leg": {"points": {"H": [0, 0, 0], "E": [0, 0, -0.4]}, "mass": 2.0, "com": [0.02, 0.01, -0.2], "inertia": [0.02, 0.03, 0.01]},
        },
        "joints": {"rail": {"type": "prismatic", "between": ["ground", "base"], "at": [0, 0, 0], "axis": [1, 0, 0]}, **joints},
    }


def chain(**pieces: Any) -> dict[str, Any]:
    return {"hip": {"connect": ["base.H", "leg.H"], "chain": pieces}}


SAME = {  # a joint type, and a chain of the motions it is made of
    "universal": (
        {"type": "universal", "connect": ["base.H", "leg.H"], "axes": [[1, 0, 0], [0, 1, 0]]},
        chain(a={**HINGE, "axis": [1, 0, 0]}, b={**HINGE, "axis": [0, 1, 0]}),
        ("angle1", "angle2"),
    ),
    "cylindrical": (
        {"type": "cylindrical", "connect": ["base.H", "leg.H"], "axis": [1, 1, 0]},
        chain(a={**HINGE, "axis": [1, 1, 0]}, b={"type": "prismatic", "axis": [1, 1, 0]}),
        ("angle", "travel"),
    ),
}


@pytest.mark.parametrize("kind", SAME)
def test_a_chain_moves_as_the_joint_type_made_of_the_same_motions(kind: str) -> None:
    joint, several, names = SAME[kind]
    one, two = lw.load(arm({"hip": joint})).system, lw.load(arm(several)).system
    assert two.names.v == ("rail", "a", "b")
    values = {"rail": 0.1, "a": 0.7, "b": -0.4}
    rates = {"rail": 1.0, "a": 2.0, "b": -3.0}
    theirs = {"a": f"hip.{names[0]}", "b": f"hip.{names[1]}"}
    st = two.assemble(values, v=rates)
    same = one.assemble({theirs.get(k, k): x for k, x in values.items()}, v={theirs.get(k, k): x for k, x in rates.items()})
    np.testing.assert_allclose(two.forward(st, {"b": 2.0}).a, one.forward(same, {theirs["b"]: 2.0}).a, atol=ROUND_OFF)


def crank_slider(**end: Any) -> dict[str, Any]:
    return {
        "name": "crank-slider",
        "plane": "xy",
        "gravity": [0, -9.81],
        "drawing": {"A": [0, 0], "B": [0.1, 0.1], "C": [0.5, 0]},
        "bodies": {
            "ground": {"pins": ["A"], "points": ["C"]},
            "crank": {"pins": ["A", "B"], "mass": 1},
            "rod": {"pins": ["B"], "points": ["C"], "mass": 2},
        },
        "joints": {"end": {"between": ["ground", "rod"], "at": "C", **end}},
        "drive": {"A": "60 rpm"},
    }


CHAINED = crank_slider(chain={"slide": {"type": "prismatic", "axis": [1, 0]}, "pin": HINGE})
SLOTTED = crank_slider(type="pin_slot", slot=[1, 0])


def test_in_a_loop_it_is_the_pin_slot() -> None:
    one, two = lw.load(CHAINED).cycle(steps=24), lw.load(SLOTTED).cycle(steps=24)
    np.testing.assert_allclose(one["slide"], two["end.slide"], atol=ROUND_OFF)
    np.testing.assert_allclose(one["rod.C.a"], two["rod.C.a"], atol=1e-9)  # up to 20 m/s^2
    np.testing.assert_allclose(one.load("pin", on="rod").force, two.load("end", on="rod").force, atol=ROUND_OFF)
    np.testing.assert_allclose(one.load("slide", on="ground").force, two.load("end", on="ground").force, atol=ROUND_OFF)


@pytest.mark.parametrize("cut", ["A", "B", "slide", "pin"])
def test_every_joint_of_the_loop_may_be_cut(cut: str) -> None:
    m = lw.load(CHAINED)
    found = []
    for s in (m.system, lw.compile(m, cuts=[cut])):
        found.append(s.forward(s.assemble({"A": 0.4}, v={"A": 2.0}), {"A": 1.0})["A"])
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_lists_and_pictures_show_no_links() -> None:
    m = lw.load(CHAINED)
    assert [b.name for b in m.description.moving] == ["crank", "rod"] and "2 moving bodies, 4 joints" in str(m.info())
    assert not [name for name in every_parameter(m.description) if "end:" in name]
    turn = m.cycle(steps=24)
    assert not [name for name in turn.channels if name.startswith("end:")] and "slide.on.end:1" in turn.channels
    scene = Scene(m.system, turn)
    assert drawn_bodies(scene) == ["crank", "rod"] and not scene.telescopes


def test_a_written_file_reads_back_to_the_same_model(tmp_path: Path) -> None:
    offset = {"hip": {"between": ["base", "leg"], "at": [0.1, 0, 0.3], "chain": {
        "yaw": {**HINGE, "axis": [0, 0, 1]}, "roll": {**HINGE, "axis": [1, 0, 0], "at": [0.15, 0, 0.3]}, "ball": {"type": "spherical"},
    }}}  # fmt: skip
    for k, model in enumerate((CHAINED, arm(offset), arm(SAME["cylindrical"][1]))):
        d = lw.load(model).description
        again = lw.load(lw.load(model).save(tmp_path / f"{k}.yaml")).description
        assert again.bodies == d.bodies and again.joints == d.joints


def test_numbers_of_the_drawing_move_the_links() -> None:
    moved = deepcopy(CHAINED)
    moved["drawing"]["C"] = [0.55, 0.01]
    one, two = lw.load(CHAINED).with_(**{"C.x": 0.55, "C.y": 0.01}), lw.load(moved)
    assert one.description.bodies == two.description.bodies and one.description.joints == two.description.joints
    compiled = lw.compile(lw.load(CHAINED), parameters=["C"])
    st = compiled.assemble({"A": 0.3})
    assert st["slide"] == pytest.approx(lw.load(CHAINED).system.assemble({"A": 0.3})["slide"], abs=1e-12)


def test_joints_of_a_chain_take_drives_springs_and_starts() -> None:
    model = arm(chain(yaw={**HINGE, "axis": [0, 0, 1]}, roll={**HINGE, "axis": [1, 0, 0]}, pitch={**HINGE, "axis": [0, 1, 0]}))
    model |= {
        "springs": {"k": {"joint": "roll", "stiffness": 5.0, "free_position": 0.1}},
        "dampers": {"c": {"joint": "pitch", "coefficient": 0.3}},
        "start": {"yaw": 0.2, "roll": 0.1, "pitch.v": 2.0},
        "drive": {"rail": "0 m/s", "yaw": "3 rad/s"},
    }
    m = lw.load(model)
    st = m.system.start
    assert (st["yaw"], st["roll"], st["pitch.v"]) == pytest.approx((0.2, 0.1, 2.0), abs=1e-14)
    run = m.simulate("0.2 s")
    assert run.certificate.ok and run["yaw"][-1] == pytest.approx(0.2 + 3 * 0.2, abs=1e-9)


def test_chains_repeat() -> None:
    model = {
        "name": "snake",
        "bodies": {"ground": {}},
        "repeat": {
            "i": "1..3",
            "bodies": {"link{i}": {"mass": 1, "inertia": [1, 1, 1]}},
            "joints": {"u{i}": {"between": ["ground", "link{i}"], "at": ["i*0.1", 0, 0], "chain": {
                "a{i}": {**HINGE, "axis": [1, 0, 0]}, "b{i}": {**HINGE, "axis": [0, 1, 0]},
            }}},
        },
    }  # fmt: skip
    m = lw.load(model)
    assert m.system.names.v == ("a1", "b1", "a2", "b2", "a3", "b3")
    assert m.description.body("u3:1").start.at == pytest.approx((0.3, 0, 0))


BAD = {
    "one joint": ({"hip": {"connect": ["base.H", "leg.H"], "chain": {"a": HINGE}}}, "needs two or more joints"),
    "no bodies": ({"hip": {"at": [0, 0, 0], "chain": {"a": HINGE, "b": HINGE}}}, "must name the bodies it joins"),
    "nowhere": ({"hip": {"between": ["base", "leg"], "chain": {"a": HINGE, "b": HINGE}}}, "needs a place"),
    "unknown body": ({"hip": {"between": ["base", "foot"], "at": [0, 0, 0], "chain": {"a": HINGE, "b": HINGE}}}, "no body 'foot'"),
    "unknown point": ({"hip": {"between": ["base", "leg"], "at": "Q", "chain": {"a": HINGE, "b": HINGE}}}, "'Q' is neither drawn nor"),
    "itself": ({"hip": {"between": ["leg", "leg"], "at": [0, 0, 0], "chain": {"a": HINGE, "b": HINGE}}}, "with itself"),
    "own bodies": (chain(a={**HINGE, "between": ["base", "leg"]}, b=HINGE), "take out `between`"),
    "two places": (chain(a={**HINGE, "at": [0, 0, 0]}, b=HINGE), "the chain is placed by `connect`"),
    "no type": (chain(a={"axis": [0, 0, 1]}, b=HINGE), "joint 'a' needs a `type:`"),
    "a name twice": (chain(rail=HINGE, b=HINGE), "'rail' is taken twice"),
    "the time": (chain(t=HINGE, b=HINGE), "cannot be called 't'"),
    "unknown key": ({"hip": {"connect": ["base.H", "leg.H"], "chain": {"a": HINGE, "b": HINGE}, "axis": [0, 0, 1]}}, "no key 'axis'"),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes_are_named(case: str) -> None:
    joints, words = BAD[case]
    with pytest.raises(lw.ModelError, match=words):
        lw.load(arm(joints))


def test_a_pin_that_both_bodies_name_is_refused() -> None:
    model = deepcopy(CHAINED)
    model["bodies"]["ground"]["pins"] = ["A", "C"]
    model["bodies"]["rod"] = {"pins": ["B", "C"], "mass": 2}
    with refused(lw.ModelError, name="chain 'end'"):
        lw.load(model)


def test_a_link_has_no_name_of_a_body() -> None:
    model = arm(SAME["universal"][1])
    model["bodies"]["hip:1"] = {"mass": 1}
    with refused(lw.ModelError, name="hip:1"):
        lw.load(model)


def test_descriptions_are_built_with_the_same_chains() -> None:
    """`chained`, for programs: the leg of `arm` on two hinges, given in the leg's axes."""
    d = lw.load(arm(SAME["universal"][1])).description
    about_x, about_y = (d.joint(name).frame_second.rotation for name in ("a", "b"))
    leg = d.body("leg")
    pieces = [ChainJoint("a", "revolute", Placement(rotation=about_x)), ChainJoint("b", "revolute", Placement(rotation=about_y))]
    joints, links = chained("hip", "base", leg, Placement((0.1, 0.0, 0.3)), pieces)
    assert [isinstance(b, Body) and b.chain for b in links] == ["hip"]
    built = Description("arm", (*(b for b in d.bodies if not b.chain), *links), (d.joint("rail"), *joints), gravity=d.gravity)
    one, two = lw.compile(d), lw.compile(built)
    found = [s.forward(s.assemble({"rail": 0.1, "a": 0.7, "b": -0.4}, v={"a": 2.0, "b": 1.0})).a for s in (one, two)]
    np.testing.assert_allclose(found[0], found[1], atol=ROUND_OFF)


# -------------------------------------------------------------------- joints side by side


def door(upper: str) -> dict[str, Any]:
    return {
        "name": "door",
        "gravity": [0, 0, -9.81],
        "bodies": {
            "ground": {"points": {"A": [0, 0, 0], "B": [0, 0, 1]}},
            "door": {"points": {"A": [0, 0, 0], "B": [0, 0, 1]}, "mass": 20, "com": [0.4, 0, 0.5], "inertia": [1, 2, 1.5]},
        },
        "joints": {
            "lower": {"type": "revolute", "connect": ["ground.A", "door.A"]},
            "upper": {"type": upper, "connect": ["ground.B", "door.B"]},
        },
    }


def test_two_hinges_on_one_axis_are_one_hinge_with_redundant_rows() -> None:
    """Five rows say nothing new; what is unique, the sum of both reactions, carries the weight."""
    m = lw.load(door("revolute"))
    assert m.system.mobility.freedoms == 1
    (said,) = m.info().redundant
    assert said == "loop 1 (closed by upper): rotation about x, y and translation along x, y, z are implied by the other joints"
    alone = door("revolute")
    del alone["joints"]["upper"]
    one, two = (lw.load(x).system for x in (alone, door("revolute")))
    found = [s.forward(s.assemble({"lower": 0.3}), {"lower": 4.0})["lower"] for s in (one, two)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_a_hinge_and_a_ball_on_its_axis_are_redundant_by_name() -> None:
    found = lw.load(door("spherical")).info().redundant
    assert len(found) == 1 and "upper" in found[0] and "translation along x, y, z" in found[0]

"""URDF against the parsers of Pinocchio and MuJoCo: the same tree, the same inertia, the same gravity."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as xml

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.model import library
from linkwright.rings.exchange.writing.robots.prepared_system import RobotText, prepared
from linkwright.rings.exchange.writing.robots.urdf import DIALECTS, upright, urdf_text
from linkwright.system.system import System
from tests.rings.exchange.writing import states
from tests.sweeps import sweep

# Frames of the file are products of a few rotations, and numbers are written so that they read back as the same floats: what is left is
# round-off, times the ratio of the mechanism's inertias (1e3).
CLOSE = 1e-11


def pinocchio(found: RobotText) -> tuple[Any, Any]:
    model = pin.buildModelFromXML(found.text)
    return model, model.createData()


def there(model: Any, found: RobotText, system: System, st: lw.State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q and v of a state in Pinocchio's order, and the velocity of ours that each of its velocities is."""
    q, v, order = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv, int)
    for name, zero in found.zeros.items():
        j = model.joints[model.getJointId(name)]
        exact = name if name in system.names.v else name[::-1].replace("_", ".", 1)[::-1]
        joint, entry, _ = compiled_of(system).assembler.coordinate(exact)
        node = system.tree.nodes[system.tree.node_of_joint[joint.name]]
        x = float(st.q[node.q][entry]) - zero
        q[j.idx_q : j.idx_q + j.nq] = [np.cos(x), np.sin(x)] if j.nq == 2 else [x]
        v[j.idx_v], order[j.idx_v] = st.v[node.v][entry], node.v.start + entry
    return q, v, order


@sweep("name", library.names(), now=["excavator", "slider-crank-equal", "rssr"])
def test_every_shipped_model_is_the_same_tree_in_pinocchio(name: str, rng: np.random.Generator) -> None:
    m = lw.load(name)
    found = urdf_text(m)
    model, data = pinocchio(found)
    system, start = prepared(m, "URDF")
    assert pin.computeTotalMass(model) == pytest.approx(sum(compiled_of(system).skel.mass), rel=1e-14)
    R = upright(system).R
    pin.framesForwardKinematics(model, data, pin.neutral(model))  # zero is the start
    for b in system.description.bodies[1:]:
        X, ours = data.oMf[model.getFrameId(b.name, pin.FrameType.BODY)], system.pose(start, b.name)
        np.testing.assert_allclose(X.rotation, R @ ours.R, atol=CLOSE)
    com = sum(
        float(compiled_of(system).skel.mass[i]) * system.pose(start, n.body).point(compiled_of(system).skel.com[i])
        for i, n in enumerate(system.tree.nodes)
    )
    np.testing.assert_allclose(pin.centerOfMass(model, data, pin.neutral(model)) * pin.computeTotalMass(model), R @ com, atol=CLOSE)
    if len(found.zeros) == system.tree.nv == model.nv:
        st = system.state(start.q + rng.normal(size=system.tree.nv) * compiled_of(system).loops.columns, rng.normal(size=system.tree.nv))
        q, v, order = there(model, found, system, st)
        bodies = system.M(st) - np.diag(np.asarray(compiled_of(system).skel.armature, dtype=float))  # URDF has no armatures
        upper, M = np.triu(pin.crba(model, data, q)), bodies[np.ix_(order, order)]
        np.testing.assert_allclose(upper + np.triu(upper, 1).T, M, atol=CLOSE * np.abs(M).max())
        size = float(np.linalg.norm([float(x) for x in system.description.gravity]))
        model.gravity.linear = np.array([0.0, 0.0, -size])
        h = loads_left_out(system, st)
        np.testing.assert_allclose(pin.nonLinearEffects(model, data, q, v), h[order], atol=CLOSE * max(1.0, np.abs(h).max()))


def loads_left_out(system: System, st: lw.State) -> np.ndarray:
    """h without springs, dampers and loads, which Pinocchio's model has not."""
    from linkwright.mechanics.dynamics.tree import bias_force

    return np.asarray(bias_force(compiled_of(system).skel, system.motion(st), []))


@sweep("seed", range(12), now=[0, 1])
def test_random_trees_of_every_joint_in_both_directions(seed: int) -> None:
    s, _ = states.random_loops(seed, ())
    found = urdf_text(System(s.description, s.tree.cuts))
    model, data = pinocchio(found)
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    R = upright(s).R
    for n in s.tree.nodes:
        X = data.oMf[model.getFrameId(n.body, pin.FrameType.BODY)]
        np.testing.assert_allclose(X.rotation, R @ s.pose(s.start, n.body).R, atol=CLOSE)
    welded: set[int] = {-1}  # Pinocchio counts what is fixed to the ground as a part of it
    for i, n in enumerate(s.tree.nodes):
        if n.joint.type == "fixed" and n.parent in welded:
            welded.add(i)
    moving = [
        (float(compiled_of(s).skel.mass[i]), s.pose(s.start, n.body).point(compiled_of(s).skel.com[i]))
        for i, n in enumerate(s.tree.nodes)
        if i not in welded
    ]
    total, com = sum(mass for mass, _ in moving), sum(mass * c for mass, c in moving)
    assert pin.computeTotalMass(model) == pytest.approx(total, rel=1e-13)
    np.testing.assert_allclose(pin.centerOfMass(model, data, pin.neutral(model)) * total, R @ com, atol=1e-10)
    screws = sum(n.joint.type == "screw" for n in s.tree.nodes)  # a turn and a slide that follows it
    assert model.nv == s.tree.nv + screws


def test_mujoco_reads_it_too() -> None:
    found = urdf_text(lw.load("wiper"))
    model = mujoco.MjModel.from_xml_string(found.text)
    assert model.njnt == 3 and model.body("rocker").mass[0] == pytest.approx(0.8)


@pytest.mark.parametrize("dialect", DIALECTS)
@sweep("name", library.names(), now=["bennett", "wiper"])
def test_every_dialect_names_every_loop(name: str, dialect: str) -> None:
    m = lw.load(name)
    found = urdf_text(m, dialect=dialect)
    assert found.text == urdf_text(lw.load(name), dialect=dialect).text  # deterministic
    root = xml.fromstring(found.text)
    names = [e.get("name") for e in root.iter("link")]
    assert len(set(names)) == len(names)
    named = [e.get("name") for e in root.findall("joint")]
    assert len(set(named)) == len(named)
    children = [e.get("link") for e in root.findall("joint/child")]
    assert (len(set(children)) < len(children)) == (dialect == "two-parents" and bool(prepared(m, "URDF").system.tree.cuts))
    open_loops = [x for x in found.lost if "closes a loop" in x.why]
    assert bool(open_loops) == (dialect == "plain")
    assert bool(found.beside) == (dialect == "gepetto")

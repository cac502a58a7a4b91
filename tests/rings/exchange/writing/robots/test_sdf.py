"""SDF read by the rules of its specification: poses of links in the model, of joints in their child, axes in the joint's frame."""

from __future__ import annotations

from xml.etree import ElementTree as xml

import numpy as np
from scipy.spatial.transform import Rotation

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.joints import JOINTS, is_ball, is_hinge
from linkwright.model import library
from linkwright.numerics.spatial import Pose
from linkwright.rings.exchange.writing.robots import sdf_text
from linkwright.rings.exchange.writing.robots.prepared_system import prepared
from tests.sweeps import sweep

CLOSE = 1e-12  # round-off of poses of a few meters


def floats(e: xml.Element | None, n: int) -> np.ndarray:
    return np.zeros(n) if e is None else np.array([float(x) for x in (e.text or "").split()])


def pose(e: xml.Element) -> Pose:
    x, y, z, *rpy = floats(e.find("pose"), 6)
    return Pose(Rotation.from_euler("xyz", rpy).as_matrix(), np.array([x, y, z]))


@sweep("name", library.names(), now=["3-rrr-motors", "rssr", "scissor-lift", "slider-crank-equal"])
def test_every_shipped_model_has_its_links_and_joints_in_place(name: str) -> None:
    m = lw.load(name)
    found = sdf_text(m)
    assert found.text == sdf_text(lw.load(name)).text
    root = xml.fromstring(found.text)
    system, start = prepared(m, "SDF", closing=False)
    d = system.description
    model = root.find("world/model")
    assert model is not None
    np.testing.assert_allclose(floats(root.find("world/gravity"), 3), [float(x) for x in d.gravity])
    links = {e.get("name"): e for e in model.findall("link")}
    every = [*links, *(e.get("name") for e in (*model.findall("joint"), *model.findall("frame")))]
    assert len(set(every)) == len(every)  # one scope of names
    for i, n in enumerate(system.tree.nodes):
        e = links[n.body]
        inertial = e.find("inertial")
        assert inertial is not None and float(inertial.findtext("mass", "")) == float(compiled_of(system).skel.mass[i])
        np.testing.assert_allclose(
            (pose(e) @ pose(inertial)).p, system.pose(start, n.body).point(compiled_of(system).skel.com[i]), atol=CLOSE
        )
        np.testing.assert_allclose((pose(e) @ pose(inertial)).R, system.pose(start, n.body).R, atol=CLOSE)
    joints = {e.get("name"): e for e in model.findall("joint")}
    for j in d.joints:
        jt = JOINTS[j.type](**dict(j.options))
        if not (is_hinge(jt) or is_ball(jt)):
            continue
        e = joints[j.name if j.name in joints else f"{j.name}_joint"]
        assert {e.findtext("parent"), e.findtext("child")} == {x if x != d.bodies[0].name else "world" for x in (j.first, j.second)}
        X = pose(links[e.findtext("child", "")]) @ pose(e)
        F = system.pose(start, j.first) @ Pose(np.array(j.frame_first.rotation, float), np.array(j.frame_first.at, float))
        away = X.p - F.p
        if is_ball(jt):
            np.testing.assert_allclose(away, 0.0, atol=CLOSE)
            continue
        along = X.R @ floats(e.find("axis/xyz"), 3)
        np.testing.assert_allclose(np.cross(along, F.R[:, 2]), 0.0, atol=CLOSE)
        np.testing.assert_allclose(np.cross(away, along), 0.0, atol=CLOSE)
        assert (along @ F.R[:, 2] > 0.0) == (e.findtext("child") == j.second)  # the way a positive angle turns
    assert sum(e.find("physics/simbody/must_be_loop_joint") is not None for e in joints.values()) == len(system.tree.cuts)

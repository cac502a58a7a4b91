"""Models read from MJCF against MuJoCo: masses, poses, accelerations without and with loops.

Tolerances: both programs compute in double precision, so poses and mass matrices agree to round-off (1e-12). Loops with speeds are compared
with a difference of MuJoCo's Jacobian of fourth order at a step of 1e-4, good to 1e-9.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from linkwright.api import compiled_of
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.mjcf import read_mjcf
from linkwright.rings.exchange.reading.structure_recognition import understand
from linkwright.system.system import System
from tests.rings.exchange.reading.mjcf.against_mujoco import AgainstMujoco, on_loops
from tests.rings.exchange.reading.mjcf.files import CLOSURES, COUPLED, COUPLINGS, FOUR_BAR, SPATIAL, SPLIT, TREE, WELDS, written


def both(path: Path, joints: list[str] | None = None) -> tuple[Imported, AgainstMujoco]:
    """A file read by us and by MuJoCo; limits are left out, which MuJoCo makes soft."""
    found = understand(read_mjcf(path))
    return found, AgainstMujoco(mujoco.MjModel.from_xml_path(str(path)), replace(found.description, stops=()), joints)


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def test_tree(tmp_path: Path) -> None:
    """A free base, a chain of three joints with places of their own, `ref`, springs, a ball, a body without joints, defaults."""
    names = ["root", "yaw", "roll", "lift", "knee", "tail", "flap_joint"]
    found, check = both(written(tmp_path, TREE), names)
    rng = np.random.default_rng(3)
    model = check.m
    for body in ("base", "shin", "tail", "flap"):
        ours = found.description.body(body)
        assert ours.mass == pytest.approx(model.body(body).mass[0], rel=1e-14)
        assert ours.com == pytest.approx(model.body(body).ipos, abs=1e-14)
    assert found.description.body("hip").mass == pytest.approx(model.body("hip").mass[0] + model.body("cover").mass[0], rel=1e-14)
    for _ in range(5):
        qpos, qvel = check.random(rng)
        assert check.pose_errors(qpos) < 1e-12
        ours, theirs = check.mass_matrices(qpos)
        assert relative(ours, theirs) < 1e-12
        assert relative(*check.accelerations(qpos, qvel, rng.normal(size=model.nv))) < 1e-9


def test_coordinates_are_those_of_the_file(tmp_path: Path) -> None:
    found, check = both(written(tmp_path, TREE), ["root", "yaw", "roll", "lift", "knee", "tail", "flap_joint"])
    qpos, _ = on_loops(check, check.s.start)
    assert qpos == pytest.approx(check.m.qpos0, abs=1e-12)
    assert found.description.joint("knee").armature == pytest.approx(0.01)


def test_sites_and_merged_bodies_are_points(tmp_path: Path) -> None:
    found, check = both(written(tmp_path, TREE), ["root", "yaw", "roll", "lift", "knee", "tail", "flap_joint"])
    qpos, qvel = check.random(np.random.default_rng(8))
    check.d.qpos[:] = qpos
    mujoco.mj_kinematics(check.m, check.d)
    st = check.state(qpos, qvel)
    for body, site in (("base", "imu"), ("shin", "toe")):
        assert check.s.point(st, f"{body}.{site}") == pytest.approx(check.d.site(site).xpos, abs=1e-12)
    assert check.s.point(st, "hip.cover") == pytest.approx(check.d.body("cover").xpos, abs=1e-12)
    point = found.description.body("base").point("imu")
    assert np.array(point.rotation) == pytest.approx(
        check.d.body("base").xmat.reshape(3, 3).T @ check.d.site("imu").xmat.reshape(3, 3), abs=1e-12
    )


@pytest.mark.parametrize("how", CLOSURES)
def test_four_bar(tmp_path: Path, how: str) -> None:
    found, check = both(written(tmp_path, FOUR_BAR.format(equality=CLOSURES[how])))
    assert found.description.joint("C").type == ("revolute" if how == "two points" else "floating_bearing")
    assert check.s.mobility.freedoms == (1 if how == "coupled" else 2)
    rng = np.random.default_rng(5)
    for angle in (0.1, -0.4):
        st = check.s.assemble({"A": angle}, {"A": 2.0})
        qpos, qvel = on_loops(check, st)
        assert relative(*check.accelerations(qpos, qvel, rng.normal(size=check.m.nv))) < 1e-9
        assert relative(*check.accelerations(qpos, 0.0 * qvel, rng.normal(size=check.m.nv))) < 1e-11


@pytest.mark.parametrize("how", COUPLINGS)
def test_couplings_of_joints_and_tendons(tmp_path: Path, how: str) -> None:
    """A polynomial, and sums of three and four joints, all counted from qpos0, where `ref` is not zero."""
    found, check = both(written(tmp_path, COUPLED.format(equality=COUPLINGS[how])))
    assert [c.name for c in found.description.couplings] == ["k"]
    rng = np.random.default_rng(4)
    st = check.s.assemble({"A": 0.6}, {"A": 1.3, "C": -0.4})
    qpos, qvel = on_loops(check, st)
    check.d.qpos[:] = qpos
    mujoco.mj_forward(check.m, check.d)
    assert np.abs(check.d.efc_pos[: check.d.ne]).max() < 1e-12  # MuJoCo finds them closed too
    assert relative(*check.accelerations(qpos, qvel, rng.normal(size=check.m.nv))) < 1e-9


@pytest.mark.parametrize("how", WELDS)
def test_welded_halves(tmp_path: Path, how: str) -> None:
    """The merged body against MuJoCo's two halves with a weld; A, B and D are coordinates of both."""
    path = written(tmp_path, SPLIT.format(weld=WELDS[how]))
    found = understand(read_mjcf(path))
    assert [b.name for b in found.description.bodies] == ["ground", "crank", "coupler", "rocker"]
    assert found.report.gaps[0][1] < 1e-12
    ours = System(found.description)
    st = ours.assemble({"A": 0.3}, {"A": 1.5})
    instant = compiled_of(ours).instant(st)
    names = ["A", "B", "D", "C"]
    qpos, qvel = (np.array([float(st._channels[f"{n}{rate}"].read(instant)) for n in names]) for rate in ("", ".v"))
    mj = AgainstMujoco(mujoco.MjModel.from_xml_path(str(path)), read_mjcf(path).description)  # halves apart, closed by the weld
    literal, wanted = mj.accelerations(qpos, qvel, np.array([0.7, 0.0, -0.3, 0.0]))
    assert relative(literal, wanted) < 1e-9
    a = ours.forward(st, {"A": 0.7, "D": -0.3})
    assert [a[n] for n in names] == pytest.approx(wanted[[mj.s.names.v.index(n) for n in names]], rel=1e-9, abs=1e-9)


def test_halves_stay_apart_where_every_joint_has_an_armature(tmp_path: Path) -> None:
    text = SPLIT.format(weld=WELDS["with a pose"]).replace('damping="0.02"', 'damping="0.02" armature="0.001"')
    found, check = both(written(tmp_path, text))
    assert "left apart at 'W'" in " ".join(found.report.inferred)
    st = check.s.assemble({"A": 0.3}, {"A": 1.5})
    qpos, qvel = on_loops(check, st)
    assert relative(*check.accelerations(qpos, qvel, np.array([0.7, 0.0, -0.3, 0.1]))) < 1e-9


def test_spatial_loop_with_ball_joints(tmp_path: Path) -> None:
    """A point that closes a loop in space stays a point; a body without joints or mass carries it."""
    found, check = both(written(tmp_path, SPATIAL))
    assert found.description.joint("Q").type == "spherical"
    rng = np.random.default_rng(1)
    st = check.s.assemble({"A": 0.2}, {"A": 1.1})
    qpos, qvel = on_loops(check, st)
    assert relative(*check.accelerations(qpos, qvel, rng.normal(size=check.m.nv))) < 1e-9


def test_armature_and_damping_of_actuators(tmp_path: Path) -> None:
    """They act on the joint times the gear squared, and stay where the actuator is off."""
    more = '<actuator><motor name="m" joint="A" gear="3" armature="0.02" damping="0.5"/></actuator></mujoco>'
    _, check = both(written(tmp_path, FOUR_BAR.format(equality=CLOSURES["connect sites"]).replace("</mujoco>", more)))
    st = check.s.assemble({"A": 0.1}, {"A": 2.0})
    qpos, qvel = on_loops(check, st)
    assert relative(*check.mass_matrices(qpos)) < 1e-12
    assert relative(*check.accelerations(qpos, qvel, np.array([0.7, 0.0, -0.3, 0.1]))) < 1e-9

"""Armatures of joints: against MuJoCo on a chain and on a loop, energy and momentum kept, every formulation and every path the same."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ModelError
from linkwright.mechanics.dynamics.tree import momentum
from linkwright.mechanics.formulations import FORMULATIONS
from linkwright.model.file import read, write
from linkwright.model.file.reader import read_text
from linkwright.simulation.run_batch import run_batch
from tests.mujoco_terms import mass_matrix
from tests.refusals import refused

CHAIN = """
name: chain
gravity: [0, 0, -9.81]
bodies:
  ground: {points: {O: [0, 0, 0]}}
  a: {points: {O: [0, 0, 0], E: [0.3, 0, 0]}, mass: 1.2, com: [0.15, 0, 0.02], inertia: [0.01, 0.02, 0.03]}
  b: {points: {O: [0, 0, 0], E: [0.2, 0, 0]}, mass: 0.7, com: [0.1, 0.01, 0], inertia: [0.004, 0.005, 0.006]}
  c: {points: {O: [0, 0, 0]}, mass: 0.5, com: [0, 0.05, -0.1], inertia: [0.002, 0.003, 0.004]}
joints:
  J1: {type: revolute, connect: [ground.O, a.O], armature: 0.05 kg m^2}
  J2: {type: prismatic, connect: [a.E, b.O], armature: 300 g}
  J3: {type: spherical, connect: [b.E, c.O], armature: 0.02}
"""
SAME_CHAIN = """
<mujoco><option gravity="0 0 -9.81"><flag energy="enable"/></option><worldbody>
<body><joint type="hinge" axis="0 0 1" armature="0.05"/><inertial pos="0.15 0 0.02" mass="1.2" diaginertia="0.01 0.02 0.03"/>
<body pos="0.3 0 0"><joint type="slide" axis="1 0 0" armature="0.3"/><inertial pos="0.1 0.01 0" mass="0.7" diaginertia="0.004 0.005 0.006"/>
<body pos="0.2 0 0"><joint type="ball" armature="0.02"/><inertial pos="0 0.05 -0.1" mass="0.5" diaginertia="0.002 0.003 0.004"/>
</body></body></body></worldbody></mujoco>"""

LOOP = {
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0, 0.3], "C": [0.8, 0.7], "D": [0.9, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]},
        "crank": {"pins": ["A", "B"], "mass": 1.0, "com": [0.05, 0.15], "inertia": 0.02},
        "coupler": {"pins": ["B", "C"], "mass": 2.0, "com": "B", "inertia": 0.1},
        "rocker": {"pins": ["D", "C"], "mass": 1.5, "com": "D", "inertia": 0.08},
    },
    "joints": {"A": {"pin": "A", "between": ["ground", "crank"], "armature": 0.07},
               "D": {"pin": "D", "between": ["ground", "rocker"], "armature": 0.2}},
}  # fmt: skip
SAME_LOOP = """
<mujoco><option gravity="0 -9.81 0"/><worldbody>
<body name="crank" pos="0 0 0"><joint type="hinge" axis="0 0 1" armature="0.07"/>
<inertial pos="0.05 0.15 0" mass="1" diaginertia="0.02 0.02 0.02"/>
<body name="coupler" pos="0 0.3 0"><joint type="hinge" axis="0 0 1"/>
<inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body></body>
<body name="rocker" pos="0.9 0 0"><joint type="hinge" axis="0 0 1" armature="0.2"/>
<inertial pos="0 0 0" mass="1.5" diaginertia="0.08 0.08 0.08"/>
</body></worldbody><equality><connect body1="coupler" body2="rocker" anchor="0.8 0.4 0"/></equality></mujoco>"""


@pytest.fixture(scope="module")
def chain():
    """The chain in both programs at one state; hinge, slider and ball have the same coordinates there."""
    s = lw.compile(read_text(CHAIN))
    there = mujoco.MjModel.from_xml_string(SAME_CHAIN)
    data, rng = mujoco.MjData(there), np.random.default_rng(1)
    q = np.concatenate([[0.3, 0.1], (turned := rng.normal(size=4)) / np.linalg.norm(turned)])
    data.qpos[:], data.qvel[:] = q, rng.normal(size=5)
    mujoco.mj_forward(there, data)
    return s, there, data


def test_a_chain_accelerates_as_in_mujoco(chain):
    s, _, data = chain
    st = s.state(data.qpos, data.qvel)
    for name in FORMULATIONS:
        np.testing.assert_allclose(s.forward(st, formulation=name).a, data.qacc, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(s.kernels.get("forward")(data.qpos, data.qvel, np.zeros(5)).a, data.qacc, rtol=1e-11, atol=1e-11)


def test_inverse_dynamics_and_energy_are_those_of_mujoco(chain, rng):
    s, there, data = chain
    st, a = s.state(data.qpos, data.qvel), rng.normal(size=5)
    assert st["energy.kinetic"] == pytest.approx(data.energy[1], rel=1e-12)
    assert s.kernels.get("energy")(data.qpos, data.qvel).kinetic[0] == pytest.approx(data.energy[1], rel=1e-12)
    copy = mujoco.MjData(there)
    copy.qpos[:], copy.qvel[:], copy.qacc[:] = data.qpos, data.qvel, a
    mujoco.mj_inverse(there, copy)
    np.testing.assert_allclose(s.M(st) @ a + s.h(st), copy.qfrc_inverse, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(s.forward(st, copy.qfrc_inverse).a, a, rtol=1e-10, atol=1e-10)


def test_a_loop_accelerates_as_mujocos_matrices_say():
    """MuJoCo's own loops are soft: its inertia, weight and rows of the loop, at rest, solved as a rigid one."""
    s = lw.compile(lw.load(LOOP))
    assert s.tree.cuts == ("C",)
    there = mujoco.MjModel.from_xml_string(SAME_LOOP)
    data = mujoco.MjData(there)
    mujoco.mj_forward(there, data)
    M = mass_matrix(there, data)
    J = data.efc_J.reshape(-1, 3)[:2]
    K = np.block([[M, -J.T], [J, np.zeros((2, 2))]])
    expected = np.linalg.solve(K, np.concatenate([-data.qfrc_bias, np.zeros(2)]))[:3]
    for name in FORMULATIONS:
        found = s.forward(s.start, formulation=name)
        np.testing.assert_allclose([found.a[s.tree.nodes[s.tree.node_of_joint[j]].v][0] for j in "ABD"], expected, rtol=1e-10)
    drive = lw.load({**LOOP, "drive": ["A"]})
    st = lw.compile(drive).start
    assert lw.compile(drive).inverse(st, {"A": 2.0}).u[0] == pytest.approx(_reduced(M, J, data.qfrc_bias, 2.0), rel=1e-10)


def _reduced(M, J, h, a):
    """Effort on the first coordinate for its acceleration, from the motion that the rows leave."""
    S = np.concatenate([[1.0], np.linalg.solve(J[:, 1:], -J[:, 0])])
    return S @ (M @ S * a + h)


def test_energy_is_kept_and_a_floating_chain_keeps_its_momentum():
    run = lw.load(LOOP).simulate(1.0, tolerance=1e-10)
    assert np.ptp(run["energy.total"]) < 1e-7 * np.ptp(run["energy.potential"])
    bare = lw.load({**LOOP, "joints": {}}).simulate(1.0, tolerance=1e-10)
    assert abs(run[-1]["A"] - bare[-1]["A"]) > 0.1  # the armatures are felt
    text = CHAIN.replace("gravity: [0, 0, -9.81]\n", "").replace(
        "joints:\n", "joints:\n  base: {type: free, connect: [ground.O, a.O]}\n"
    ).replace("connect: [ground.O, a.O], armature: 0.05 kg m^2", "connect: [a.E, b.O], armature: 0.05 kg m^2")  # fmt: skip
    text = text.replace("  J2: {type: prismatic, connect: [a.E, b.O], armature: 300 g}\n", "")
    s = lw.compile(read_text(text))
    moving = s.state(s.start.q, np.linspace(-1.0, 2.0, s.tree.nv))
    flight = s.simulate(moving, 0.5, tolerance=1e-10)
    before, after = (momentum(compiled_of(s).skel, s.motion(x)) for x in (moving, flight[-1]))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)
    assert flight[-1]["energy.total"] == pytest.approx(moving["energy.total"], rel=1e-8)


def test_derivatives_batches_and_steps_know_it(chain, rng):
    s, _, data = chain
    tau, h = rng.normal(size=5), 1e-6
    found = s.kernels.get("derivatives")(data.qpos, data.qvel, tau)
    f = s.kernels.get("forward")
    for i in range(5):
        e = h * np.eye(5)[i]
        slope = (f(data.qpos, data.qvel, tau + e).a - f(data.qpos, data.qvel, tau - e).a) / (2 * h)
        np.testing.assert_allclose(found.a_tau[:, i], slope, atol=1e-6)
        slope = (f(data.qpos, data.qvel + e, tau).a - f(data.qpos, data.qvel - e, tau).a) / (2 * h)
        np.testing.assert_allclose(found.a_v[:, i], slope, atol=1e-6)
    np.testing.assert_allclose(found.a_tau, np.linalg.inv(s.M(s.state(data.qpos, data.qvel))), rtol=1e-9)
    st = s.state(data.qpos, data.qvel)
    alone = s.simulate(st, 0.1, tolerance=1e-10)
    np.testing.assert_allclose(run_batch(compiled_of(s), [st], 0.1, tolerance=1e-10)[0].q[-1], alone[-1].q, atol=1e-12)
    stepper = s.stepper(1, dt=1e-3)
    stepper.reset(q=st)
    for _ in range(100):
        stepper.step()
    np.testing.assert_allclose(stepper.q[0], alone[-1].q, atol=1e-7)


def test_an_armature_is_a_number_of_the_model():
    m = lw.load(LOOP)
    heavy = m.with_(**{"A.armature": "0.2 kg m^2"})
    assert heavy.description.joint("A").armature == 0.2
    assert heavy.simulate(0.3)[-1]["A"] != m.simulate(0.3)[-1]["A"]
    s = lw.compile(m, parameters=["D.armature"])
    q, v = s.start.q, np.zeros(3)
    f, more = s.kernels.get("forward"), lw.compile(m.with_(**{"D.armature": 0.5})).kernels.get("forward")
    np.testing.assert_allclose(f(q, v, np.zeros(3), parameters=[0.5]).a, more(q, v, np.zeros(3)).a, rtol=1e-12)
    with refused(ModelError, name="A"):
        m.with_(**{"A.armature": -1.0})
    for text in (CHAIN, CHAIN.replace("0.02}", "2*w}").replace("name: chain", "name: chain\nparameters: {w: 0.01}")):
        d = read_text(text)
        assert d == read_text(write(d)) and d.numbers().joint("J3").armature == pytest.approx(0.02)


def test_a_new_armature_is_written_into_the_file(tmp_path):
    path = tmp_path / "chain.yaml"
    path.write_text(CHAIN)
    lw.load(path).with_(**{"J2.armature": 0.5}).save(tmp_path / "heavier.yaml")
    assert "connect: [a.E, b.O], armature: 500 g" in (tmp_path / "heavier.yaml").read_text()


def test_a_joint_with_an_armature_is_not_cut():
    every = {n: {"pin": n, "between": b, "armature": 0.1} for n, b in
             {"A": ["ground", "crank"], "B": ["crank", "coupler"], "D": ["ground", "rocker"]}.items()}  # fmt: skip
    assert lw.compile(lw.load({**LOOP, "joints": every})).tree.cuts == ("C",)
    with refused(ModelError, name="A"):
        lw.compile(lw.load({**LOOP, "cuts": ["A"]}))
    every["C"] = {"pin": "C", "between": ["coupler", "rocker"], "armature": 0.1}
    with refused(ModelError, name="C"):
        lw.compile(lw.load({**LOOP, "joints": every}))


def test_a_massless_link_may_have_an_armature():
    """Of a pendulum without inertia the armature is all there is: torque over armature."""
    m = lw.load({"plane": "xy", "drawing": {"A": [0, 0]}, "bodies": {"ground": {"pins": ["A"]}, "disc": {"pins": ["A"], "mass": 0.0}},
                 "joints": {"A": {"pin": "A", "between": ["ground", "disc"], "armature": 0.25}}})  # fmt: skip
    s = lw.compile(m)
    assert s.forward(s.start, [0.5]).a[0] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ({"armature": "-1 kg m^2"}, "armature is -1 kg m\\^2, it must be 0 or more"),
        ({"armature": "2 kg"}, "armature must be"),
        ({"type": "fixed", "armature": 0.1}, "does not move and has no armature"),
    ],
)
def test_wrong_armatures(joint, message):
    with pytest.raises(ModelError, match=message):
        read({**LOOP, "joints": {"A": {"pin": "A", "between": ["ground", "crank"], **joint}}})

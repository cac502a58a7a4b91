"""Dampers, friction and springs on joints with several coordinates: against MuJoCo, closed forms and the power they take."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ModelError
from linkwright.mechanics.forces import of_description
from linkwright.mechanics.instant import Instant
from linkwright.model.file import read, write
from linkwright.model.file.reader import read_text
from tests.refusals import refused

BODY = {"points": {"O": [0, 0, 0]}, "mass": 1.2, "com": [0.15, 0, 0.02], "inertia": [0.01, 0.02, 0.03]}
SAME = '<inertial pos="0.15 0 0.02" mass="1.2" diaginertia="0.01 0.02 0.03"/>'


def on(kind: str, **more):
    joint = {"type": kind, "connect": ["ground.O", "a.O"]}
    joint |= {"axes": [[1, 0, 0], [0, 1, 0]]} if kind == "universal" else {}
    return {"gravity": [0, 0, -9.81], "bodies": {"ground": {"points": {"O": [0, 0, 0]}}, "a": BODY}, "joints": {"J": joint}, **more}


def there(joints: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 0 -9.81"/><worldbody><body>{joints}{SAME}</body></worldbody></mujoco>'
    )


def ball_state(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q), rng.normal(size=3)


@pytest.mark.parametrize("cut", [False, True])
def test_a_ball_with_spring_and_damper_is_that_of_mujoco(cut, rng):
    """Also where the ball closes a loop: there a free joint carries the body."""
    d = on("spherical", springs={"k": {"joint": "J", "stiffness": 2.0}}, dampers={"d": {"joint": "J", "coefficient": 0.3}})
    if cut:
        d |= {"joints": {"F": {"type": "free", "connect": ["ground.O", "a.O"]}, **d["joints"]}, "cuts": ["J"]}
    s = lw.compile(lw.load(d))
    assert s.tree.cuts == (("J",) if cut else ())
    model = there('<joint type="ball" stiffness="2" damping="0.3"/>')
    data = mujoco.MjData(model)
    for _ in range(4):
        q, v = ball_state(rng)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        full = (np.concatenate([q, np.zeros(3)]), np.concatenate([v, np.zeros(3)])) if cut else (q, v)
        st = s.state(*full)
        np.testing.assert_allclose(s.forward(st).a[:3], data.qacc, rtol=1e-9, atol=1e-9)
        found = s.kernels.get("forward")(*full, np.zeros(len(full[1])), near=compiled_of(s).skel.pack(st.references)) if cut else None
        found = s.kernels.get("forward")(*full, np.zeros(3)) if found is None else found
        np.testing.assert_allclose(found.a[:3], data.qacc, rtol=1e-9, atol=1e-9)


def test_one_of_two_angles(rng):
    """A universal joint is two hinges there; the spring and the damper act on the second one."""
    d = on("universal", springs={"k": {"joint": "J.angle2", "stiffness": 2.0, "free_position": 0.4}},
           dampers={"d": {"joint": "J.angle2", "coefficient": 0.3}})  # fmt: skip
    s = lw.compile(lw.load(d))
    model = there('<joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0" stiffness="2" springref="0.4" damping="0.3"/>')
    model.qpos_spring[1] = 0.4
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = rng.normal(size=2), rng.normal(size=2)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(s.forward(s.state(data.qpos, data.qvel)).a, data.qacc, rtol=1e-10)


def test_a_body_in_a_fluid_slows_down_linearly_and_angularly():
    """m v' = -c v and I w' = -b w about a principal axis: exponentials with two rates of their own."""
    d = on("free", dampers={"air": {"joint": "J.linear", "coefficient": 0.6}, "spin": {"joint": "J.angular", "coefficient": 0.012}})
    d |= {"gravity": [0, 0, 0], "bodies": {**d["bodies"], "a": {**BODY, "com": [0, 0, 0]}}}
    s = lw.compile(lw.load(d))
    st = s.state(s.start.q, [0.0, 0.0, 2.0, 1.0, -2.0, 0.5])
    run = s.simulate(st, 1.0, tolerance=1e-10)
    left = [0, 0, 2 * np.exp(-0.012 / 0.03), *(np.exp(-0.5) * np.array([1.0, -2.0, 0.5]))]
    np.testing.assert_allclose(run[-1].v, left, rtol=1e-7, atol=1e-9)


def test_dry_friction_in_a_ball_acts_against_its_angular_velocity():
    """A ball of equal inertias keeps its axis and loses coulomb/I of its speed each second; each axis by itself would lose more."""
    d = on("spherical", friction={"J": {"coulomb": 0.03, "speed": 1e-3}})
    d |= {"gravity": [0, 0, 0], "bodies": {**d["bodies"], "a": {**BODY, "com": [0, 0, 0], "inertia": [0.02, 0.02, 0.02]}}}
    s = lw.compile(lw.load(d))
    w = np.array([3.0, -4.0, 12.0])
    run = s.simulate(s.state(s.start.q, w), 2.0, tolerance=1e-10)
    np.testing.assert_allclose(run[-1].v, w * (13.0 - 0.03 / 0.02 * 2.0) / 13.0, rtol=1e-8)
    rest = s.kernels.get("derivatives")(s.start.q, np.zeros(3), np.zeros(3))  # smooth at rest: -coulomb/speed
    np.testing.assert_allclose(rest.a_v, -0.03 / 1e-3 / 0.02 * np.eye(3), rtol=1e-9, atol=1e-9)


CASES = {
    "cylindrical": ["J.angle", "J.travel"], "planar": ["J.linear", "J.angle", "J.x"], "free": ["J.linear", "J.angular", "J.wy"],
    "spherical": ["J", "J.wx"], "universal": ["J", "J.angle1"], "pin_slot": ["J.slide", "J.angle"],
}  # fmt: skip


PARTS = {"J.linear": ["J.x", "J.y", "J.z"], "J.angular": ["J.wx", "J.wy", "J.wz"]}  # velocities that make one vector


def vectors(kind, name, entries):
    """Velocities by the name of a damper or friction: those of one vector together, the angles of a universal joint each for itself."""
    if name == "J":
        return [[0], [1]] if kind == "universal" else [list(range(len(entries)))]
    return [[i for i, x in enumerate(entries) if x in PARTS.get(name, [name])]]


@pytest.mark.parametrize("kind", CASES)
def test_losses_are_the_power_taken(kind, rng):
    """By their laws, written out here: c |v|^2 of a damper, coulomb |v| tanh(|v| / speed) + viscous |v|^2 of friction, with v the vector
    of the name; and the wrenches on bodies over their twists take that power."""
    things = {f"d{i}": {"joint": n, "coefficient": 0.7} for i, n in enumerate(CASES[kind])}
    rubbing = {f"f{i}": {"joint": n, "coulomb": 0.4, "viscous": 0.2, "speed": 0.5} for i, n in enumerate(CASES[kind])}
    s = lw.compile(lw.load(on(kind, dampers=things, friction=rubbing)))
    q, v = np.array(s.start.q) + 0.3 * rng.normal(size=s.tree.nq), rng.normal(size=s.tree.nv)
    if "quaternion" in compiled_of(s).skel.types[0].coordinate_kinds:
        q[:4] /= np.linalg.norm(q[:4])
    at = Instant(compiled_of(s).skel, q, v)
    forces = {force.name: force for force in of_description(s.description)}
    assert set(forces) == set(things) | set(rubbing)
    for name, force in forces.items():
        sizes = [np.linalg.norm(v[part]) for part in vectors(kind, CASES[kind][int(name[1:])], s.names.v)]
        damped, rubbed = sum(0.7 * x * x for x in sizes), sum(0.4 * x * np.tanh(x / 0.5) + 0.2 * x * x for x in sizes)
        wanted = damped if name in things else rubbed
        assert force.loss(at) == pytest.approx(wanted, rel=1e-12) and wanted > 0.0
        assert -sum(w @ at.motion.V[node] for node, w in force.wrenches(at)) == pytest.approx(wanted, rel=1e-10)


def test_viscous_friction_in_a_ball_slows_it_exponentially():
    """With equal inertias I the axis stays, and I w' = -coulomb - viscous w: w + coulomb / viscous falls as exp(-viscous t / I)."""
    d = on("spherical", friction={"J": {"coulomb": 0.03, "viscous": 0.01, "speed": 1e-3}})
    d |= {"gravity": [0, 0, 0], "bodies": {**d["bodies"], "a": {**BODY, "com": [0, 0, 0], "inertia": [0.02, 0.02, 0.02]}}}
    s = lw.compile(lw.load(d))
    w = np.array([3.0, -4.0, 12.0])
    run = s.simulate(s.state(s.start.q, w), 1.0, tolerance=1e-10)
    left = (13.0 + 3.0) * np.exp(-0.01 / 0.02) - 3.0
    np.testing.assert_allclose(run[-1].v, w * left / 13.0, rtol=1e-8)  # tanh(6 / 1e-3) is 1; the run's tolerance


def test_they_are_written_as_they_were_read():
    springs = {"k": {"joint": "J.angular", "stiffness": 1}, "x": {"joint": "J.x", "stiffness": 3, "free_position": 0.1}}
    rubbing = {"f": {"joint": "J.wx", "coulomb": 0.1}}
    d = on("free", springs=springs, friction=rubbing, dampers={"d": {"joint": "J.linear", "coefficient": 0.7}})
    assert read_text(write(read(d))) == read(d)
    assert lw.load(d).with_(**{"d.coefficient": "2 N s/m"}).description.dampers[0].coefficient == 2.0


@pytest.mark.parametrize(
    ("kind", "section", "name"),
    [
        ("free", {"dampers": {"d": {"joint": "J", "coefficient": 1}}}, "J"),
        ("free", {"dampers": {"d": {"joint": "J.z2", "coefficient": 1}}}, "damper 'd'"),
        ("free", {"dampers": {"d": {"joint": "J.linear", "coefficient": "1 N m s/rad"}}}, "1 N m s/rad"),
        ("spherical", {"springs": {"k": {"joint": "J.wx", "stiffness": 1}}}, "J.wx"),
        ("spherical", {"springs": {"k": {"joint": "J", "stiffness": 1, "free_position": 1}}}, "k"),
        ("spherical", {"friction": {"J": {"mu": 0.1, "radius": 0.1}}}, "J"),
        ("universal", {"stops": {"J": {"max": 1, "stiffness": 10}}}, "J"),
        ("fixed", {"dampers": {"d": {"joint": "J", "coefficient": 1}}}, "J"),
    ],
)
def test_wrong_names(kind, section, name):
    with refused(ModelError, name=name):
        read(on(kind, **section))


def test_a_stop_on_one_of_several_coordinates():
    """The push at 0.1 beyond the end of the second angle."""
    s = lw.compile(lw.load(on("universal", gravity=[0, 0, 0], stops={"e": {"joint": "J.angle2", "max": 0.5, "stiffness": 30.0}})))
    free = lw.compile(lw.load(on("universal", gravity=[0, 0, 0])))
    q = np.array([0.2, 0.6])
    M = s.M(s.state(q))
    np.testing.assert_allclose(M @ (s.forward(s.state(q)).a - free.forward(free.state(q)).a), [0.0, -3.0], atol=1e-12)

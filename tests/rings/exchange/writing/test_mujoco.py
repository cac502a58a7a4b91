"""Converted mechanisms in MuJoCo: the same tree exactly, the same motion as far as its soft constraints allow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.model.description import Drive, Placement, Stop, Visual
from linkwright.rings.exchange import LossWarning, MujocoMap, mujoco_state
from linkwright.rings.exchange.writing.mujoco.text import mjcf
from linkwright.system.system import System
from tests import exports
from tests.refusals import refused
from tests.rings.exchange.writing import states
from tests.sweeps import every_model, sweep

pytestmark = pytest.mark.filterwarnings("ignore:MJCF:UserWarning")  # tests of the warnings themselves expect them

# MuJoCo's equality constraints keep a softness of at least 1e-4 of the inertia they see (solimp at most 0.9999), so some of the
# acceleration that the loops must take away stays. Parts that differ in inertia by thousands (M of the scraper has a condition of
# 8e3) make more of it: up to a percent of what the bodies would do without loops.
SOFT = 1e-2
# With the softness taken out of MuJoCo's own equations only round-off times that conditioning is left,
HARD = 1e-7
# and the floor of 1e-8 under thin rods and massless bodies, times the ratios of inertia.
RAISED = 1e-5


def read(source: lw.Mechanism | System) -> tuple[mujoco.MjModel, MujocoMap]:
    model = mujoco.MjModel.from_xml_string(exports.mjcf(source))
    return model, MujocoMap.of(model, source if isinstance(source, System) else source.system)


def at(model: mujoco.MjModel, there: MujocoMap, st: lw.State, tau: np.ndarray | dict[str, float] | None = None) -> mujoco.MjData:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = mujoco_state(model, there.system, st)
    data.qfrc_applied[:] = there.effort(st, tau)
    mujoco.mj_forward(model, data)
    return data


def mass_matrix(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    columns = np.eye(model.nv)
    for e in columns:
        out = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, out, np.array(e))
        e[:] = out
    return columns.T


def hard_acceleration(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """qacc of MuJoCo's own M, J and aref with constraints that hold exactly: J qacc = aref."""
    J = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    else:
        J[:] = data.efc_J.reshape(J.shape)
    M = mass_matrix(model, data)
    free, W = np.linalg.solve(M, data.qfrc_smooth), np.linalg.solve(M, J.T)
    return free + W @ (np.linalg.pinv(J @ W, rcond=1e-11, hermitian=True) @ (data.efc_aref - J @ free))


def assert_same_motion(there: MujocoMap, st: lw.State, data: mujoco.MjData, ours: np.ndarray, soft: float = SOFT) -> None:
    scale = np.abs(ours).max()
    hard = RAISED if any("raised" in x.why for x in mjcf(there.system).lost) else HARD
    np.testing.assert_allclose(there.acceleration(st, hard_acceleration(there.model, data)), ours, atol=hard * scale)
    without_loops = np.abs(there.acceleration(st, data.qacc_smooth)).max()
    np.testing.assert_allclose(there.acceleration(st, data.qacc), ours, atol=soft * max(scale, without_loops))


def assert_same_tree(model: mujoco.MjModel, there: MujocoMap, st: lw.State, data: mujoco.MjData, tolerance: float) -> None:
    T, _ = there.rates(st)
    ours = there.system.M(st)
    np.testing.assert_allclose(T.T @ mass_matrix(model, data) @ T, ours, atol=tolerance * np.abs(ours).max())
    for n in there.system.tree.nodes:
        X = there.system.pose(st, n.body)
        np.testing.assert_allclose(data.body(n.body).xpos, X.p, atol=1e-9)
        np.testing.assert_allclose(data.body(n.body).xmat.reshape(3, 3), X.R, atol=1e-9)


@sweep("name", states.MODELS, now=["3-rrr", "excavator", "rssr", "bennett"])
def test_accelerations(name: str, rng: np.random.Generator) -> None:
    model, there = read(lw.load(name))
    for _ in range(3):
        st = states.on_loops(there.system, rng)
        tau = states.efforts(there.system, st, rng)
        data = at(model, there, st, tau)
        # round-off, and under thin rods the floor of 1e-8 of the mechanism's inertia
        assert_same_tree(model, there, st, data, 1e-7 if "raised" in exports.mjcf(there.system) else 1e-10)
        assert np.abs(data.efc_pos).max() < 1e-9 and np.abs(data.efc_vel).max() < 1e-9  # the loops are closed there as well
        assert_same_motion(there, st, data, there.system.forward(st, tau).a)


@sweep("seed", range(12), now=4)
def test_random_trees_of_every_joint_in_both_directions(seed: int, rng: np.random.Generator) -> None:
    s, st = states.random_loops(seed, ())
    model, there = read(s)
    tau = rng.normal(size=s.tree.nv)
    data = at(model, there, st, tau)
    assert_same_tree(model, there, st, data, 1e-10)
    screws = any(n.joint.type == "screw" for n in s.tree.nodes)  # tied by a soft constraint
    assert_same_motion(there, st, data, s.forward(st, tau).a, 1e-3 if screws else HARD)


@sweep("kinds", [("spherical", "revolute"), ("fixed",), ("revolute",), ("spherical",)], now=2)
@sweep("seed", range(100, 105), now=1)
def test_random_loops_closed_by_connects_and_welds(seed: int, kinds: tuple[str, ...]) -> None:
    s, st = states.random_loops(seed, kinds, 8)
    model, there = read(s)
    rows = {"spherical": 1, "fixed": 1, "revolute": 2}
    screws = sum(n.joint.type == "screw" for n in s.tree.nodes)
    assert model.neq == sum(rows[k] for k in kinds) + screws
    assert_same_motion(there, st, at(model, there, st), s.forward(st).a)


@pytest.mark.parametrize("name", every_model())
def test_every_shipped_model_converts(name: str) -> None:
    m = lw.load(name)
    text = exports.mjcf(m)
    assert text == exports.mjcf(lw.load(name))  # deterministic
    root = xml.fromstring(text)
    assert root.tag == "mujoco" and {e.get("name") for e in root.iter("body")} == {b.name for b in m.description.bodies[1:]}
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
    qpos, qvel = mujoco_state(model, m, m.system.start)
    np.testing.assert_allclose(data.qpos, qpos, atol=1e-14)
    np.testing.assert_allclose(data.qvel, qvel, atol=1e-14)
    mujoco.mj_forward(model, data)
    assert np.isfinite(data.qacc).all() and np.abs(data.efc_pos).max(initial=0.0) < 1e-9
    names = [model.actuator(i).name for i in range(model.nu)]
    drives = [d.joint for d in m.description.drives]
    assert names[: len(drives)] == drives and all(n.startswith("force:") for n in names[len(drives) :])


def test_a_motor_pushes_the_way_we_mean_it(rng: np.random.Generator) -> None:
    model, there = read(lw.load("excavator"))
    s = there.system
    st = states.on_loops(s, rng)
    data = at(model, there, st)
    data.ctrl[:] = rng.normal(size=3) * 1e4
    mujoco.mj_forward(model, data)
    ours = s.forward(st, {d.joint: float(u) for d, u in zip(s.description.drives, data.ctrl, strict=True)}).a
    assert_same_motion(there, st, data, ours)


def test_rods_hold_and_push() -> None:
    """MuJoCo leaves out the centripetal term of tendons (dJ/dt v), so at rest: the accelerations are those of the rods' directions."""
    m = lw.load("3-rrr-motors")
    model, there = read(m)
    st = m.system.start
    tau = {"A1": 0.3, "A2": -0.2, "A3": 0.5}
    data = at(model, there, st, tau)
    assert_same_motion(there, st, data, m.system.forward(st, tau).a)


def test_gears_and_couplings_tie_joints() -> None:
    coupled = {**states.GEARED, "couplings": {"c": {"from": "A", "to": "B", "ratio": -0.5}}}
    del coupled["gears"]
    for source in (states.GEARED, coupled):
        m = lw.load(source)
        model, there = read(m)
        st = m.system.assemble(q={"A": 0.4}, v={"A": 2.0})
        assert st["B"] - m.system.start["B"] == pytest.approx(-0.5 * (st["A"] - m.system.start["A"]), abs=1e-9)
        data = at(model, there, st, {"A": 0.7})
        assert np.abs(data.efc_pos).max() < 1e-12
        assert_same_motion(there, st, data, m.system.forward(st, {"A": 0.7}).a)


THREE = {
    "plane": "xy", "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [1, 0], "C": [2, 0]},
    "bodies": {
        "ground": {"pins": ["A", "B", "C"]},
        **{f"arm{pin}": {"pins": [pin], "mass": 1, "com": [k + 0.1, 0.05], "inertia": 0.1} for k, pin in enumerate("ABC")},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "coupling",
    [
        {"from": "A", "to": "C", "ratio": 0.5, "offset": 0.1, "plus": {"B": -2.0}},
        {"from": "A", "to": "C", "polynomial": [0.1, 0.5, -0.3, 0.2, 0.1]},
    ],
)  # fmt: skip
def test_couplings_of_several_joints_and_by_polynomials(coupling: dict[str, Any], tmp_path: Path) -> None:
    """A fixed tendon that keeps its length, and MuJoCo's own polynomial; read again they are the same couplings.

    MuJoCo leaves out the rate of a polynomial's slope, so it is compared at rest.
    """
    m = lw.load({**THREE, "couplings": {"c": coupling}})
    model, there = read(m)
    given = {"A": 0.4, "B": 0.3}
    st = m.system.assemble(q=given, v={"A": 2.0, "B": -1.0})
    here = st if "plus" in coupling else m.system.state(st.q)
    data = at(model, there, here, {"A": 0.7})
    assert np.abs(data.efc_pos).max() < 1e-12
    assert_same_motion(there, here, data, m.system.forward(here, {"A": 0.7}).a)
    copy = lw.load(m.export(tmp_path / "three.xml"))
    again = copy.system.assemble(q=given, v={"A": 2.0, "B": -1.0})
    for name in "ABC":
        assert copy.system.forward(again, {"A": 0.7})[name] == pytest.approx(m.system.forward(st, {"A": 0.7})[name], abs=1e-9)


def test_a_simulated_second_stays_with_energy() -> None:
    """The scraper coasts from its start: MuJoCo's implicit steps of 1e-4 s are first order, so energy holds to a few percent only."""
    m = lw.load("carpet-scraper")
    model = mujoco.MjModel.from_xml_string(exports.mjcf(m, timestep=1e-4))
    there = MujocoMap.of(model, m.system)
    st = m.system.assemble(q={"J1": 0.0}, v={"J1": 4.7})
    data = at(model, there, st)
    for _ in range(1000):
        mujoco.mj_step(model, data)
    now = m.system.state(*_ours(there, data))
    before, after = ({x: at[f"energy.{x}"] for x in ("kinetic", "total")} for at in (st, now))
    assert np.abs(m.system.closure(now).phi).max() < 1e-4  # meters; the loops are soft but stiff
    assert after["total"] == pytest.approx(before["total"], abs=0.03 * before["kinetic"])
    assert abs(after["kinetic"] - before["kinetic"]) > 0.05 * before["kinetic"]  # it did something


def _ours(there: MujocoMap, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """q and v of an all-hinge mechanism: MuJoCo's, in the order of the tree."""
    T, _ = there.rates(there.system.start)
    return T.T @ data.qpos, T.T @ data.qvel


def test_raised_masses_are_losses() -> None:
    raised = [x.name for x in mjcf(lw.load("rssr-7r")).lost if "raised to 1e-08" in x.why]
    assert len(raised) == 6 and {"link2", "link4", "link5"} < set(raised)  # three massless links, and three rods that are thin
    assert not any("raised" in x.why for x in mjcf(lw.load("carpet-scraper")).lost)


def test_losses_are_a_warning_and_a_list_and_come_with_the_effort() -> None:
    m = lw.load("punch-press")
    with pytest.warns(LossWarning, match=r"MJCF: 'punch-press' loses sheet \(a load that varies by a table or formula\)") as said:
        text = m.export(format="mjcf")["model.xml"]
    assert [x.name for x in said[0].message.lost] == ["sheet", "E"] and said[0].filename == __file__
    there = MujocoMap.of(mujoco.MjModel.from_xml_string(text), m.system)
    low = m.system.assemble({"E": 3.3})  # the sheet pushes here
    assert np.abs(there.effort(low)).max() > 1.0
    with pytest.warns(UserWarning, match="a DC motor: only its torque"):
        exports.mjcf(lw.load("3-rrr-motors"))


FORCED = {
    "plane": "xy", "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.1, 0.3], "C": [0.6, 0.4], "D": [0.5, 0], "G": [0.9, 0.1], "H": [-0.4, 0.2], "P": [0.4, 0.6]},
    "bodies": {
        "ground": {"pins": ["A", "D"], "points": ["G", "H"]},
        "crank": {"pins": ["A", "B"], "mass": 1.0}, "coupler": {"pins": ["B", "C"], "points": ["P"], "mass": 2.0},
        "rocker": {"pins": ["D", "C"], "mass": 1.5},
    },
    "springs": {
        "turn": {"joint": "A", "stiffness": 3.0, "free_position": 0.4, "preload": 0.7}, "more": {"joint": "A", "stiffness": 1.0},
        "coil": {"between": ["ground.H", "coupler.P"], "stiffness": 40.0, "free_length": 0.5, "preload": 2.0},
        "gas": {"between": ["ground.G", "coupler.P"], "force": 25.0, "length": 1.0, "stroke": 0.5, "progression": 1.4},
    },
    "dampers": {"oil": {"joint": "A", "coefficient": 0.3}, "line": {"between": ["ground.G", "rocker.C"], "coefficient": 2.0}},
    "friction": {"A": {"viscous": 0.2}},
    "loads": {
        "wind": {"on": "coupler.P", "force": [3.0, -2.0], "moment": 0.4},
        "jet": {"on": "rocker.C", "force": [1.0, 2.0], "axes": "body"},
    },
    "cylinders": {"ram": {"between": ["ground.H", "rocker.C"], "force": 6.0}},
    "drive": ["A"], "cuts": ["C"],
}  # fmt: skip


def test_springs_dampers_and_constant_loads_are_in_the_file(rng: np.random.Generator) -> None:
    """Each of them alone, and all together, with nothing applied from outside but what a gas spring's cubic leaves of its 25 N."""
    parts = [(kind, name) for kind in ("springs", "dampers", "friction", "loads", "cylinders") for name in FORCED[kind]]
    for chosen in (*([part] for part in parts), parts):
        kinds = {kind: {n: FORCED[kind][n] for k, n in chosen if k == kind} for kind, _ in parts}
        m = lw.load({**{k: x for k, x in FORCED.items() if k not in kinds}, **{k: x for k, x in kinds.items() if x}})
        model, there = read(m)
        st = states.on_loops(there.system, rng)
        assert np.abs(there.effort(st)).max() < (0.025 if ("springs", "gas") in chosen else 1e-12)
        data, ours = at(model, there, st), there.system.forward(st).a
        np.testing.assert_allclose(there.acceleration(st, hard_acceleration(model, data)), ours, atol=HARD * np.abs(ours).max())


def test_dry_friction_is_a_friction_loss() -> None:
    """A block that slides at 2 m/s against 3 N: -3/2 m/s^2 here (tanh of 200 is one) and there."""
    block = {
        "plane": "xy", "bodies": {"ground": {}, "block": {"points": {"P": [0, 0]}, "mass": 2, "com": [0, 0], "inertia": 0.1}},
        "joints": {"X": {"type": "prismatic", "between": ["ground", "block"], "at": [0, 0], "axis": [1, 0]}},
        "friction": {"X": {"coulomb": 3, "speed": 0.01}}, "start": {"X.v": 2},
    }  # fmt: skip
    m = lw.load(block)
    model, there = read(m)
    data = at(model, there, m.system.start)
    assert data.qacc[0] == pytest.approx(-1.5, rel=1e-3)  # a soft constraint
    assert m.system.forward(m.system.start)["X"] == pytest.approx(-1.5)


@sweep("name", ["boot-lid", "wiper", "rssr"], now=2)
def test_free_motion_for_0_3_s(name: str) -> None:
    """The start of the file let go: the same position there to 2e-2 rad, as soft as its constraints are."""
    m = lw.load(name)
    model = mujoco.MjModel.from_xml_string(exports.mjcf(m, timestep=5e-4))
    data, there = mujoco.MjData(model), MujocoMap.of(model, m.system)
    data.qpos[:], data.qvel[:] = there.qpos(m.system.start), there.qvel(m.system.start)
    for _ in range(600):
        mujoco.mj_step(model, data)
    end = m.simulate(0.3, drive={}, sample_interval=[0.3]).state(-1)
    assert np.abs(there.qpos(end) - data.qpos).max() < 2e-2
    assert np.abs(there.qpos(end) - there.qpos(m.system.start)).max() > 2e-2  # it moved


def test_a_lost_load_applied_at_each_step_gives_the_same_motion() -> None:
    """The sheet of punch-press is a table: without it the end differs by radians, with it by steps of first order and soft loops."""
    m, dt, steps = lw.load("punch-press"), 5e-4, 600
    model = mujoco.MjModel.from_xml_string(exports.mjcf(m, timestep=dt))
    data, there = mujoco.MjData(model), MujocoMap.of(model, m.system)
    end = there.qpos(m.simulate(steps * dt, drive={}, sample_interval=[steps * dt]).state(-1))
    for applied in (True, False):
        mujoco.mj_resetDataKeyframe(model, data, model.key("start").id)
        for _ in range(steps):
            data.qfrc_applied[:] = there.effort(there.system.state(*_ours(there, data))) if applied else 0.0
            mujoco.mj_step(model, data)
        assert (np.abs(end - data.qpos).max() < 2e-3) == applied
    assert np.abs(end - there.qpos(m.system.start)).max() > 0.2  # it moved


def test_what_mjcf_cannot_hold_is_named() -> None:
    cut = {**FORCED, "cuts": ["A"], "drive": ["D"]}
    with pytest.warns(UserWarning, match=r"turn, more, oil, A \(it acts in 'A', which is cut there. Choose other cuts\)"):
        exports.mjcf(lw.compile(lw.load(cut), cuts=["A"]))
    stopped = {**FORCED, "stops": {"A": {"max": 2.0, "stiffness": 100.0}}}
    with pytest.warns(UserWarning, match=r"A \(the stiffness of a stop"):
        exports.mjcf(lw.load(stopped))
    steep = {**FORCED, "springs": {"gas": {**FORCED["springs"]["gas"], "progression": 6.0}}}
    with pytest.warns(UserWarning, match=r"gas \(its push is a cubic there, [\d.]+ % off"):
        exports.mjcf(lw.load(steep))
    varying = {**FORCED, "loads": {"wave": {"on": "coupler.P", "force": ["2 N * sin(3 rad/s * t)", 0]}}}
    with pytest.warns(UserWarning, match="wave"):
        exports.mjcf(lw.load(varying))


def test_armatures_limits_gears_and_controls(rng: np.random.Generator) -> None:
    """Rotor inertia joins M, a rigid stop is a range, a drive's gear and limits are the motor's."""
    m = lw.load({**FORCED, "drive": {"A": {"torque": 2.0}}})
    d = m.description
    changed = replace(
        d,
        joints=tuple(replace(j, armature=0.25) if j.name == "A" else j for j in d.joints),
        stops=(Stop("end", "A", None, -0.5, None), Stop("pad", "D", 1e4, 0.1, 2.0), Stop("ram end", "ram", None, 0.2, 1.5)),
        drives=(replace(d.drives[0], gear_ratio=4.0, limits=(-40.0, 80.0)),),
    )
    system = System(changed)
    found = mjcf(system)
    model = mujoco.MjModel.from_xml_string(found.text)
    assert [x.name for x in found.lost] == ["gas", "pad"]
    assert model.dof_armature[model.joint("A").dofadr[0]] == 0.25
    np.testing.assert_allclose(model.joint("A").range, [-0.5, 1e9])
    np.testing.assert_allclose(model.joint("D").range, [0.1, 2.0])
    np.testing.assert_allclose(model.tendon_range[model.tendon("ram").id], [0.2, 1.5])
    assert model.actuator("A").gear[0] == 4.0 and model.key("start").ctrl[model.actuator("A").id] == 2.0
    np.testing.assert_allclose(model.actuator("A").forcerange, [-10.0, 20.0])  # before the gear


def test_prescribed_motions_are_named() -> None:
    for kind in ("speed", "position", "moves"):
        d = replace(lw.load("four-bar").description, drives=(Drive("A", kind),))
        assert [x.name for x in mjcf(System(d)).lost] == ["A"]
    assert not mjcf(System(replace(d, drives=(Drive("A", "undriven"),)))).lost


def test_shapes_are_geoms_without_mass_or_contact(tmp_path: Path) -> None:
    (tmp_path / "rod.stl").write_bytes(tetrahedron())
    d = lw.load("four-bar").description
    at = Placement((0.1, 0.2, 0.3), ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    shapes = (
        Visual("box", (0.2, 0.4, 0.6), at, color="#ff0000"), Visual("cylinder", (0.1, 0.5, 0.0)), Visual("sphere", (0.3, 0.0, 0.0)),
        Visual("mesh", (0.001, 0.001, 0.001), file=str(tmp_path / "rod.stl")), 
        Visual("mesh", file="nowhere.stl"), Visual("mesh", file="rod.dae"),
    )  # fmt: skip
    system = System(replace(d, drives=(), bodies=tuple(replace(b, visuals=shapes) if b.name == "crank" else b for b in d.bodies)))
    found = mjcf(system)
    assert [x.name for x in found.lost] == ["crank", "crank"] and "no such file" in str(found.lost) and ".dae" in str(found.lost)
    model = mujoco.MjModel.from_xml_string(found.text)
    crank = model.body("crank")
    own = range(int(crank.geomadr[0]), int(crank.geomadr[0] + crank.geomnum[0]))
    assert len(own) == 4 and not model.geom_contype.any() and crank.mass[0] == pytest.approx(d.numbers().body("crank").mass)
    np.testing.assert_allclose(model.geom_size[own[0]], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(model.geom_rgba[own[0]], [1, 0, 0, 1])
    np.testing.assert_allclose(model.geom_quat[own[0]], np.array([1, 0, 0, 1]) / np.sqrt(2.0), atol=1e-9)
    np.testing.assert_allclose(model.geom_size[own[1]][:2], [0.1, 0.25])


def tetrahedron() -> bytes:
    """A binary STL of one tetrahedron of 100 units."""
    corners = np.array([[0, 0, 0], [100, 0, 0], [0, 100, 0], [0, 0, 100]], np.float32)
    faces = [corners[[i, j, k]].tobytes() for i, j, k in ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))]
    return b"\0" * 80 + np.uint32(4).tobytes() + b"".join(b"\0" * 12 + f + b"\0\0" for f in faces)


def test_refusals() -> None:
    with refused(lw.UsageError, name="C"):
        exports.mjcf(lw.compile(lw.load("slider-crank-equal")))
    with refused(lw.UsageError, value=0.0):
        exports.mjcf(lw.load("wiper"), timestep=0.0)
    with refused(lw.UsageError, name="door", allowed=("A", "B", "D")):
        MujocoMap.of(mujoco.MjModel.from_xml_string(exports.mjcf(lw.load("wiper"))), lw.load("door").system)
    with refused(lw.UsageError, name="A"):
        exports.mjcf(lw.compile(lw.load("four-bar"), cuts=["A"]))
    with refused(lw.UsageError, name="mass"):
        bodies = {**states.GEARED["bodies"], "one": {"pins": ["A"]}}
        exports.mjcf(lw.load({**states.GEARED, "bodies": bodies}))


DISC = {
    "plane": "xy", "drawing": {"A": [0, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "disc": {"pins": ["A"], "mass": 1.0, "com": "A", "inertia": 0.5}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("law", "control"),
    [("10 N m - 2 N m s/rad * A.v", 5.0), ("3 N m/rad * (0.5 rad - A) - 2 N m s/rad * A.v", 0.5), ("-(A * 4 N m/rad) / 2", 0.0)],
)
def test_laws_of_coordinates_are_servos(law, control):
    """MuJoCo's effort at the control of the keyframe is the law, with gear and limits; the control is where the law vanishes."""
    m = lw.load({**DISC, "drive": {"A": {"torque": law, "gear_ratio": 20, "limits": ["-50 N m", "80 N m"]}}})
    model = mujoco.MjModel.from_xml_string(exports.mjcf(m))  # warnings are errors here: nothing is lost
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    assert data.ctrl == pytest.approx([20 * control])  # of the motor, before the gear
    for q, v in ((0.0, 0.0), (0.4, 0.1), (2.0, -1.0), (-3.0, 4.0)):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        value = {"1": 10 - 2 * v, "3": 3 * (0.5 - q) - 2 * v, "-": -2 * q}[law[0]]
        assert data.qfrc_actuator == pytest.approx([np.clip(20 * value, -50, 80)])


def test_other_laws_are_lost_with_what_they_depend_on():
    for law, why in (("2 N m * sin(3 rad/s * t)", "its law over time"), ("2 N m * sin(A)", "its law of A:")):
        with pytest.warns(LossWarning) as said:
            exports.mjcf(lw.load({**DISC, "drive": {"A": {"torque": law}}}))
        assert why in str(said[0].message)


def test_both_sides_of_a_loop_are_told_apart_where_they_share_a_frame() -> None:
    """Bodies whose frames are the global axes have the same placement at a joint; the very same object names two sites all the same."""
    d = lw.load("four-bar").description
    frame = Placement((1.0, 2.0, 0.0))
    cut = System(d).tree.cuts[0]
    shared = replace(d, joints=tuple(replace(j, frame_first=frame, frame_second=frame) if j.name == cut else j for j in d.joints))
    root = xml.fromstring(mjcf(System(shared, cuts=[cut])).text)
    names = [e.get("name", "") for e in root.iter("site")]
    assert sorted(n for n in names if n.startswith("loop:")) == [f"loop:{cut}:first", f"loop:{cut}:second"]

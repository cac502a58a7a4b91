"""Converted mechanisms in Pinocchio: the same mass matrix, accelerations and loop forces."""

from __future__ import annotations

import sys

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from linkwright.rings.exchange.writing.pinocchio import PinocchioModel, pinocchio_model
from linkwright.system.system import System
from tests import ROOT
from tests.refusals import refused
from tests.rings.exchange.writing import states
from tests.sweeps import every_model, sweep

pytestmark = pytest.mark.filterwarnings("ignore:Pinocchio:UserWarning")  # tests of the warnings themselves expect them

# what cannot be converted as it is, and a word its error must have
REFUSED = {"3-rrr-motors": "rod 'r1'", "rssr-7r": "floor=1e-9", "slider-crank-equal": "floor=1e-9"}


def mass_matrices(p: PinocchioModel, st: lw.State) -> tuple[np.ndarray, np.ndarray]:
    """(theirs in our coordinates, ours); columns of T are found from the public maps: v -> p.v is linear."""
    s = p.system
    T = np.array([p.v(s.state(st.q, e)) for e in np.eye(s.tree.nv)]).T
    M = pin.crba(p.model, p.model.createData(), p.q(st))
    M = np.triu(M) + np.triu(M, 1).T
    return T.T @ M @ T, s.M(st)


def assert_same_dynamics(p: PinocchioModel, st: lw.State, tau: np.ndarray, tolerance: float, formulation: str = "auto") -> None:
    ours, theirs = p.system.forward(st, tau, formulation=formulation), p.forward(st, tau)
    scale = 1.0 + np.abs(ours.a).max(initial=0.0)
    np.testing.assert_allclose(theirs.a, ours.a, atol=tolerance * scale)
    push = 1.0 + max((np.abs(x).max() for x in ours.lam.values()), default=0.0)
    for cut in p.system.tree.cuts:
        if ours.unique[cut].all():
            np.testing.assert_allclose(theirs.force[cut], ours.joint_force(cut), atol=tolerance * push)


@sweep("name", states.MODELS, now=["carpet-scraper", "3-rrr", "excavator", "rssr", "bennett"])
def test_accelerations_and_loop_forces(name: str, rng: np.random.Generator) -> None:
    p = pinocchio_model(lw.load(name))
    for _ in range(3):
        st = states.on_loops(p.system, rng)
        ours, theirs = mass_matrices(p, st)
        np.testing.assert_allclose(theirs, ours, atol=1e-10 * np.abs(ours).max())
        # mu = 1e-10 is iterated away; what remains is round-off times the conditioning of the loops (at most 1e5 here)
        assert_same_dynamics(p, st, states.efforts(p.system, st, rng), 1e-8)


@sweep("seed", range(12), now=4)
def test_random_trees_of_every_joint_in_both_directions(seed: int, rng: np.random.Generator) -> None:
    s, st = states.random_loops(seed, ())
    p = pinocchio_model(s)
    ours, theirs = mass_matrices(p, st)
    np.testing.assert_allclose(theirs, ours, atol=1e-10 * np.abs(ours).max())
    assert_same_dynamics(p, st, rng.normal(size=s.tree.nv), 1e-9)  # round-off times the condition of M, below 1e5


@sweep("kinds", [("spherical", "revolute"), ("fixed",), ("spherical",), ("revolute",), ("revolute", "fixed")], now=2)
@sweep("seed", range(3), now=1)
def test_random_loops_closed_by_points_and_welds(seed: int, kinds: tuple[str, ...], rng: np.random.Generator) -> None:
    s, st = states.random_loops(100 + seed, kinds, 8)
    # 1e-7: as above, with the worse conditioning of random loops
    assert_same_dynamics(pinocchio_model(s), st, rng.normal(size=s.tree.nv), 1e-7)


def test_the_moment_of_a_hinge_held_at_two_points(rng: np.random.Generator) -> None:
    s, st = states.random_loops(203, ("revolute",), 8)
    p = pinocchio_model(s)
    ours, theirs = s.forward(st), p.forward(st)
    joint = s.description.joint("C0")
    assert s.tree.loops[0].labels == ("tx", "ty", "tz", "rx", "ry") and ours.unique["C0"].all()
    R_WF = s.pose(st, joint.first).R @ np.array(joint.frame_first.rotation)
    moment = R_WF @ np.array([*ours.lam["C0"][3:], 0.0])
    size = 1.0 + np.abs(ours.lam["C0"]).max()
    np.testing.assert_allclose(theirs.moment["C0"], moment, atol=1e-7 * size)
    np.testing.assert_allclose(theirs.force["C0"], ours.joint_force("C0"), atol=1e-7 * size)


@pytest.mark.parametrize("name", every_model())
def test_every_shipped_model_converts_or_says_why_not(name: str) -> None:
    m = lw.load(name)
    if name in REFUSED:
        with refused(lw.UsageError, name="r1"):
            pinocchio_model(m)
        return
    p = pinocchio_model(m)
    assert p.model.nv == p.system.tree.nv and len(p.q(m.system.start)) == p.model.nq
    data = p.model.createData()
    pin.framesForwardKinematics(p.model, data, p.q(m.system.start))
    for c in p.constraints:  # closed there as well: 1e-9 m is the accuracy of assembly, seen through two long chains
        gap = (data.oMi[c.joint1_id] * c.joint1_placement).translation - (data.oMi[c.joint2_id] * c.joint2_placement).translation
        assert np.abs(gap).max() < 1e-9
    for body in [b.name for b in m.description.bodies[1:]]:
        X = m.system.pose(m.system.start, body)
        there = data.oMf[p.model.getFrameId(body)]
        np.testing.assert_allclose(there.translation, X.p, atol=1e-9)
        np.testing.assert_allclose(there.rotation, X.R, atol=1e-9)


def test_a_floor_lets_massless_links_through(rng: np.random.Generator) -> None:
    p = pinocchio_model(lw.load("rssr-7r"), floor=1e-9)
    st = states.on_loops(p.system, rng)
    # the added inertia of 1e-9 changes accelerations by that share times the mechanism's ratios of inertia
    assert_same_dynamics(p, st, states.efforts(p.system, st, rng), 1e-5, "projection")


def test_states_of_another_tree_and_cut_joints_by_name() -> None:
    m = lw.load("scissor-lift")  # the default tree cuts a pin in a slot, which Pinocchio cannot close
    p = pinocchio_model(m)
    assert "top" in m.system.tree.cuts and "top" not in p.system.tree.cuts
    st = m.system.assemble(q={"slide": -0.1}, v={"slide": 0.3})
    ours, theirs = m.system.forward(st, {"slide": -500.0}), p.forward(st, {"slide": -500.0})
    for joint in ("slide", "M1", "R0", "top.slide"):
        assert theirs[joint] == pytest.approx(ours[joint], rel=1e-8, abs=1e-8)


def test_springs_and_loads_come_with_the_effort() -> None:
    m = lw.load("boot-lid")
    with pytest.warns(UserWarning, match=r"Pinocchio: the model of 'boot-lid' has no springs, .* so not gas. `effort\(state\)`"):
        p = pinocchio_model(m)
    st = m.system.start
    with_spring = p.effort(st)
    assert np.abs(with_spring).max() > 1.0  # the gas spring's hundreds of newtons
    data, datas = p.model.createData(), [c.createData() for c in p.constraints]  # the raw calls, as a user writes them
    pin.initConstraintDynamics(p.model, data, p.constraints, datas)
    found = pin.constraintDynamics(p.model, data, p.q(st), p.v(st), with_spring, p.constraints, datas, p.settings())
    np.testing.assert_allclose(p.acceleration(st, found), m.system.forward(st).a, rtol=1e-8)


def test_rotors_move_with_their_joints() -> None:
    """Accelerations of a biped in flight with rotors of 20 % of the inertia at its motors; round-off and the proximal steps."""
    s = lw.load(ROOT / "benchmarks" / "biped-six-loops.yaml").system
    st = s.assemble(v={name: 0.1 * (-1) ** i for i, name in enumerate(s.named_terms().by)})
    names, p = ("hip_yaw1", "knee_motor2", "ankle_motor22"), s.pinocchio()
    found, ours = p.forward(st), s.forward(st)
    np.testing.assert_allclose([found[n] for n in names], [ours[f"{n}.a"] for n in names], rtol=0.0, atol=1e-9)
    assert sorted(set(p.model.armature)) == [0.0, 0.002]


def test_refusals_name_the_place_and_the_way_out() -> None:
    s = lw.compile(lw.load("slider-crank-equal"))
    with refused(lw.UsageError, name="C"):
        pinocchio_model(s)
    with refused(lw.UsageError, name="door"):
        pinocchio_model(lw.load("wiper")).q(lw.load("door").system.start)
    with refused(lw.UsageError, name="mesh"):
        pinocchio_model(lw.load(states.GEARED))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with refused(lw.UsageError, name="pin"):
        pinocchio_model(lw.load("wiper"))


def test_a_system_keeps_its_cuts() -> None:
    s = lw.compile(lw.load("carpet-scraper"), cuts=["J7", "J8", "J9"])
    p = pinocchio_model(s)
    assert isinstance(p.system, System) and p.system is s
    assert [c.name for c in p.closings] == ["J7", "J8", "J9"] and [c.name for c in p.constraints] == ["J7", "J8", "J9"]

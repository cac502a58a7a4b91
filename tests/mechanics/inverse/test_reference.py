"""Drive torques and all joint forces of the papers' mechanisms against the checked data, by all three methods."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.inverse import METHODS
from tests.reference import load
from tests.sweeps import every_model, sweep

SAHA = load("saha")
CASES = {"B_R|gravity_-Y_9.81": 9.81, "B_R|no_gravity": 0.0}
# our joint -> the data's name; forces on the second body, which is the outer one there
JOINTS = {
    "J1": "II-1", "J2": "I-1", "J3": "I-2", "J4": "III-1^0", "J5": "III-1^1", "J6": "III-2^0", "J7": "III-3^0",
    "J8": "lam1", "J9": "lam2", "J10": "lam3",
}  # fmt: skip


@pytest.fixture(scope="module")
def turns():
    """States at the twelve angles, once; gravity does not change them."""
    m = lw.load("carpet-scraper-2007")
    s = m.system
    return {g: lw.load("carpet-scraper-2007", g=g).system for g in CASES.values()}, {
        deg: s.assemble(q={"J1": np.radians(deg)}, v={"J1": 4.712}) for deg in range(0, 360, 30)
    }


@sweep("method", METHODS, later=["traditional"])
@sweep("case", CASES, now=1)
def test_scraper_torque_and_all_ten_joint_forces(turns, case, method):
    systems, states = turns
    s = systems[CASES[case]]
    for row in SAHA["carpet_scraper"]["inverse_dynamics_w4p712"][case]["rows"]:
        loads = s.inverse(states[row["deg"]], method=method)
        assert loads.tau["J1"] == pytest.approx(row["tau"], abs=1e-9)
        for ours, theirs in JOINTS.items():
            np.testing.assert_allclose(loads.wrench[ours].force[:2], row["forces"][theirs], atol=1e-9)
        assert loads.residual < 1e-12 and all(loads.unique.values())


def test_scraper_is_solved_in_the_papers_order(turns):
    systems, states = turns
    loads = lw.compile(lw.load("carpet-scraper-2007"), cuts=["J8", "J9", "J10"]).inverse(states[30])
    assert loads.solved.sizes == ((4, 4), (2, 2), (1, 1)) and not loads.solved.coupled
    order = [step.subsystems for step in lw.load("carpet-scraper-2007", cuts=["J8", "J9", "J10"]).topology.order]
    bodies = [tuple(systems[9.81].tree.subsystems[j].bodies for j in group) for group in order]
    assert [sorted(b[0])[0] for b in bodies] == ["arm", "coupler", "crank"]


@sweep("case", CASES, now=1)
def test_scraper_over_the_turn(case):
    c = lw.load("carpet-scraper-2007", g=CASES[case]).cycle(steps=72, speed=4.712)
    torque = c["J1.torque"][:-1]
    stats = SAHA["carpet_scraper"]["inverse_dynamics_w4p712"][case]["stats"]
    rms = float(np.sqrt(np.mean(torque**2)))
    assert rms == pytest.approx(stats["rms"], abs=1e-8)  # 72 samples of a smooth periodic function are exact to round-off
    assert abs(torque.mean()) < 1e-9  # conservative: the work over a cycle is zero
    assert stats["min"] - 1e-9 <= torque.min() <= stats["min"] + 2.0 and stats["max"] - 2.0 <= torque.max() <= stats["max"] + 1e-9
    # the extremes themselves, at the listed crank angles, and that they are extremes
    s = lw.load("carpet-scraper-2007", g=CASES[case]).system
    for end, sign in (("min", -1.0), ("max", 1.0)):
        at = np.radians(stats[f"{end}_at_deg"])
        there, before, after = (s.inverse(s.assemble(q={"J1": at + step}, v={"J1": 4.712})).tau["J1"] for step in (0.0, -1e-3, 1e-3))
        assert there == pytest.approx(stats[end], abs=1e-9)
        assert sign * there > sign * before and sign * there > sign * after


def test_pin_loads_do_not_depend_on_how_a_pin_is_split():
    """Pin S at theta1 = 0 in free motion: coupler 297 N, link 5 208 N, link 7 204 N, in both papers' splits."""
    s = lw.load("carpet-scraper").system
    st = s.assemble(q={"J1": 0.0}, v={"J1": 4.7124})
    free = s.inverse(st, a=s.forward(st).a)
    assert free.tau["J1"] == pytest.approx(0.0, abs=1e-10)
    sizes = {b: float(np.linalg.norm(free.on("S", b).force)) for b in ("coupler", "link5", "link7")}
    assert {k: round(v) for k, v in sizes.items()} == {"coupler": 297, "link5": 208, "link7": 204}
    total = sum(free.on("S", b).force for b in sizes)
    np.testing.assert_allclose(total, 0.0, atol=1e-10)  # a pin without mass
    cut = SAHA["carpet_scraper"]["forward_dynamics"]["A_R"]["t0"]["cut_forces_003"]
    np.testing.assert_allclose(free.on("S", "link5").force[:2], cut["lambda2_on_link5_from_coupler"], rtol=1e-10)
    np.testing.assert_allclose(free.on("S", "link7").force[:2], cut["lambda3_on_link7_from_coupler"], rtol=1e-10)


@sweep("method", METHODS, now=["subsystem"])
@sweep("case", ["thin|gravity_-Y_9.81", "thin|no_gravity"], now=1)
def test_rssr_at_all_twelve_angles(case, method):
    m = lw.load("rssr", g=9.81 if "9.81" in case else 0)
    s = m.system
    for row in SAHA["rssr"][case]["rows"]:
        st = s.assemble(q={"crank": np.radians(row["deg"])}, v={"crank": 10.471975511965978})
        loads = s.inverse(st, method=method)
        assert loads.tau["crank"] == pytest.approx(row["tau"], abs=1e-9)
        np.testing.assert_allclose(loads.wrench["S"].force, row["lambda_S_on_crank_from_coupler"], atol=1e-9)
        np.testing.assert_allclose(loads.wrench["U"].force, row["force_U_on_coupler_from_rocker"], atol=1e-9)
        np.testing.assert_allclose(loads.wrench["crank"].force, row["force_ground_on_crank"], atol=1e-9)
        np.testing.assert_allclose(loads.wrench["rocker"].force, row["force_ground_on_rocker"], atol=1e-9)
        np.testing.assert_allclose(loads.wrench["crank"].moment[:2], row["moment_ground_on_crank_at_O_xy"], atol=1e-9)
        np.testing.assert_allclose(loads.wrench["U"].moment, 0.0, atol=1e-9)  # thin rods cannot carry one
        assert loads.residual < 1e-11


@sweep("method", METHODS, later=["system"])
def test_3rrr_inverts_its_own_forward_dynamics(method):
    s = lw.compile(lw.load("3-rrr"), cuts=["J6", "J7"])
    st = s.assemble(v={"J1": 1.0, "J8": -0.5, "J9": 0.3})
    tau = {"J1": 4.0, "J8": -7.0, "J9": 2.5}
    acc = s.forward(st, tau=tau)
    loads = s.inverse(st, a=acc.a, method=method)
    for name, want in tau.items():
        assert loads.tau[name] == pytest.approx(want, abs=1e-9)
    for cut in ("J6", "J7"):
        np.testing.assert_allclose(loads.wrench[cut].force, acc.joint_force(cut), atol=1e-9)
    if method == "subsystem":
        assert loads.solved.sizes == ((5, 5), (1, 1), (1, 1))


def test_forces_at_rest_of_the_3rrr_are_the_listed_ones():
    """At t = 0 nothing drives: the joint forces of free fall."""
    s = lw.load("3-rrr").system
    loads = s.inverse(s.start, a=s.forward(s.start).a)
    names = {
        "J1": "J1 on link1 from ground",
        "J2": "J2 on link2 from link1",
        "J3": "J3 on platform from link2",
        "J8": "J8 on link6 from ground",
    }
    for joint, key in names.items():
        np.testing.assert_allclose(loads.wrench[joint].force[:2], SAHA["rrr_3"]["t0"]["joint_forces"][key], atol=1e-9)
    assert max(abs(x) for x in loads.tau.values()) < 1e-10


@pytest.mark.parametrize("model", every_model(without=("door", "parallelogram-chain")))
def test_the_three_methods_agree_on_every_shipped_model(model):
    """Efforts, and every reaction component that is unique, at the start with the drives moving."""
    s = lw.load(model).system
    drives = [d.joint for d in s.description.drives]
    kinds = {c.name for c in s.description.cylinders}
    st = s.assemble(v={d: 0.3 for d in drives if d not in kinds})
    results = {m: s.inverse(st, method=m) for m in METHODS}
    for method, loads in results.items():
        assert loads.residual < 1e-9, method
        for name, want in results["traditional"].tau.items():
            assert loads.tau[name] == pytest.approx(want, abs=1e-7 * (1.0 + abs(want)))
        for joint, w in loads.wrench.items():
            other = results["traditional"].wrench[joint]
            size = 1.0 + np.abs(other.force).max()
            np.testing.assert_allclose(w.force, other.force, atol=1e-6 * size, err_msg=f"{method} {joint}")
            assert list(w.unique_force) == list(other.unique_force)

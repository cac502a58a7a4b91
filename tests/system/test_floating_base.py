"""Floating base: inverse dynamics with the wrench on it, controllability beside it, momentum in the certificate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from linkwright.system.mechanism import mechanism_of
from tests.ball_rods import rssr
from tests.refusals import refused
from tests.sweeps import sweep
from tests.system.test_named_terms import LEG, acceleration, by_hand, jacobian, moving


@pytest.fixture(scope="module")
def leg() -> lw.System:
    return lw.load(LEG).system


def test_inverse_dynamics_gives_the_wrench_on_the_base(leg: lw.System) -> None:
    """M x'' + h of the reduced equations: base rows are its wrench, the others the drives' torques (round-off of 60 N)."""
    st = moving(leg)
    x = leg.named_terms()(st)
    given = {"base.x": 2.0, "base.wy": -1.0, "hip": 1.5}
    a = np.array([given.get(name, 0.0) for name in x.by])
    needed = dict(zip(x.by, (x.M @ a + x.h).tolist(), strict=True))
    for method in ("subsystem", "system", "traditional"):
        loads = leg.inverse(st, given, method=method)
        for name, effort in (loads.tau | loads.base).items():
            assert effort == pytest.approx(needed[name], abs=1e-11)
        assert set(loads.tau) == {"hip", "crank"} and loads.residual < 1e-12


@pytest.mark.parametrize("seed", range(2))
def test_wrench_and_torques_are_those_of_pinocchio(leg: lw.System, seed: int) -> None:
    """The loop closes between bodies of the tree, so that base rows of Pinocchio's recursion are the wrench; forces of the loop at S are
    chosen such that undriven joints have no torque. Forces to 60 N: round-off of some ten products, times the condition of the loop."""
    st = moving(leg, seed)
    h, given = by_hand(leg, st), {"base.x": 2.0, "base.z": -1.0, "base.wx": 0.5, "base.wy": -1.0, "hip": 1.5, "crank": -2.0}
    loop = (jacobian(h, "rod.S") - jacobian(h, "shank.S"))[3:]
    bias = (acceleration(h, "rod.S") - acceleration(h, "shank.S"))[3:]
    a, undriven = np.zeros(11), [leg.names.v.index(name) for name in ("upper.angle1", "upper.angle2", "knee")]
    a[[leg.names.v.index(name) for name in given]] = list(given.values())
    a[undriven] = np.linalg.solve(loop[:, undriven], -bias - loop @ a)
    efforts = h.T.T @ pin.rnea(h.model, h.data, h.q, h.v, h.T @ a + h.drift)
    efforts = efforts - loop.T @ np.linalg.solve(loop.T[undriven], efforts[undriven])
    loads = leg.inverse(st, given)
    needed = dict(zip(leg.names.v, efforts.tolist(), strict=True))
    for name, effort in (loads.base | loads.tau).items():
        assert effort == pytest.approx(needed[name], abs=1e-11)
    force, moment = loads.base_wrench(about=st["trunk"])
    R = h.data.oMi[1].rotation
    along = [needed[f"base.{x}"] for x in ("wx", "wy", "wz", "x", "y", "z")]
    np.testing.assert_allclose(np.concatenate([R.T @ moment, force]), along, atol=1e-11)
    assert all(line in str(loads) for line in ("floating base", "base.wz", "base.x"))


def test_the_wrench_of_a_followed_motion_has_channels(leg: lw.System) -> None:
    """The base shakes and turns about z; second differences of the center of mass give the force (1e-4 N: truncation)."""

    def trunk(t: float) -> tuple[np.ndarray, np.ndarray]:
        c, s = np.cos(0.4 * np.sin(4.0 * t)), np.sin(0.4 * np.sin(4.0 * t))
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([0.05 * np.sin(6.0 * t), 0.0, 0.02 * t])

    step = 1e-3
    c = mechanism_of(leg).follow({"trunk": trunk, "hip": "0.2 rad * sin(3 rad/s * t)", "crank": "0.5 rad/s * t"}, duration=0.01, steps=10)
    com = np.array(leg.named_terms()(c).com)
    rate = 6.35 * (com[2:] - 2.0 * com[1:-1] + com[:-2]) / step**2
    np.testing.assert_allclose(c["base.force"][1:-1], rate - 6.35 * np.asarray(leg.description.gravity), atol=1e-4)
    np.testing.assert_array_equal(c["base.force.z"], c["base.force"][:, 2])
    for i in (0, 7):
        loads = leg.inverse(c.state(i), c.a[i])
        force, moment = loads.base_wrench(about=c["trunk"][i])
        np.testing.assert_allclose(c["base.force"][i], force, atol=1e-11)
        np.testing.assert_allclose(c["base.moment"][i], moment, atol=1e-11)
    assert c["base.moment.y", "N mm"][0] == pytest.approx(1e3 * c["base.moment"][0, 1])


def test_the_wrench_is_the_rate_of_momentum_against_weight(leg: lw.System) -> None:
    st = moving(leg, 1)
    x = leg.named_terms()(st)
    force, moment = leg.inverse(st, {"hip": 1.0}).base_wrench(about=np.asarray(x.com))
    a = np.array([1.0 if n == "hip" else 0.0 for n in x.by])
    rate = x.A @ a + x.A_rate
    np.testing.assert_allclose(force, rate[3:] + np.array([0.0, 0.0, 9.81 * 6.35]), atol=1e-11)
    np.testing.assert_allclose(moment, rate[:3], atol=1e-11)


@pytest.mark.parametrize("about", [[0.1, 0.2], "shank.F", [0.0, 0.0, np.nan]])
def test_a_place_of_moments_has_three_finite_numbers(leg: lw.System, about: object) -> None:
    loads = leg.inverse(leg.start, {"hip": 1.0})
    for wrench in (loads.base_wrench, loads.shaking):
        with refused(lw.UsageError, name="about"):
            wrench(about=about)


def test_free_flight_needs_no_wrench(leg: lw.System) -> None:
    st = moving(leg, 2)
    fallen = leg.forward(st, {"hip": 1.5, "crank": 0.3})
    loads = leg.inverse(st, fallen.a)
    assert loads.tau == pytest.approx({"hip": 1.5, "crank": 0.3}, abs=1e-11)
    assert max(abs(x) for x in loads.base.values()) < 1e-11


def test_a_mechanism_on_ground_has_no_base() -> None:
    s = lw.compile("five-bar")
    assert not s.inverse(s.start).base and s.controllable(s.start).beside_base is None


def test_an_undriven_joint_beside_the_base_is_named(leg: lw.System) -> None:
    with refused(lw.UsageError, name="drives"):
        leg.inverse(moving(leg), {"hip": 1.0, "knee": 2.0}, drives=["hip"])


def test_mobility_and_controllability_count_the_base(leg: lw.System) -> None:
    assert leg.mobility.freedoms == 8
    found = leg.controllable(leg.start)
    assert not found and found.beside_base and found.missing == 6
    assert "2 drives move 2 degrees of freedom of 8" in str(found) and "floating base" in str(found)
    assert leg.controllable(leg.start, ["hip"]).beside_base is False


@pytest.mark.slow
def test_the_certificate_has_the_momentum_of_free_flight(leg: lw.System) -> None:
    run = leg.simulate(moving(leg), 0.3, drive={"hip": lw.drives.torque("0.4 N m")})
    found = run.certificate
    assert found.momentum_drift is not None and found.momentum_drift < 1e-8  # tolerance 1e-9 of the run, some steps
    assert found.checks()["momentum"] and "free flight" in str(found)


def with_section(folder: Path, text: str) -> lw.System:
    path = folder / "leg.yaml"
    path.write_text(f"{LEG.read_text(encoding='utf-8')}\n{text}\n", encoding="utf-8")
    return lw.load(path).system


def test_no_momentum_is_claimed_where_the_base_is_pushed_or_missing(tmp_path: Path) -> None:
    s = lw.compile("five-bar")
    assert s.simulate(s.start, 0.05).certificate.momentum_drift is None
    pushed = with_section(tmp_path, "loads: {wind: {on: trunk.T, force: [3 N, 0 N, 0 N]}}")
    assert pushed.simulate(pushed.start, 0.05).certificate.momentum_drift is None


def test_a_spring_between_bodies_keeps_the_momentum(tmp_path: Path) -> None:
    s = with_section(tmp_path, "springs: {s: {between: [trunk.T, shank.F], stiffness: 200 N/m, free_length: 300 mm}}")
    found = s.simulate(s.start, 0.1).certificate
    assert found.momentum_drift is not None and found.momentum_drift < 1e-8


def test_a_wrong_momentum_fails_the_check(leg: lw.System) -> None:
    from dataclasses import replace

    found = leg.simulate(leg.start, 0.02).certificate
    assert not replace(found, momentum_drift=1e-3).ok


def test_a_followed_motion_holds_the_base(leg: lw.System) -> None:
    """Torques along a motion of the drives with the base at rest, against the reduced equations (1e-9 of torques of 1 N m)."""
    c = mechanism_of(leg).follow({"hip": "0.2 rad * sin(3 rad/s * t)", "crank": "0.1 rad/s * t"}, duration=0.2, steps=4)
    x = leg.named_terms(by="drives")(c)
    a = np.stack([c["hip.a"], c["crank.a"]], axis=-1)
    needed = (np.asarray(x.M) @ a[..., None])[..., 0] + np.asarray(x.h)
    np.testing.assert_allclose(np.stack([c["hip.torque"], c["crank.torque"]], axis=-1), needed, atol=1e-9)


def test_a_planar_mechanism_floats_on_a_planar_joint(tmp_path: Path) -> None:
    path = tmp_path / "flat.yaml"
    path.write_text(
        "name: flat\nplane: xy\ngravity: [0, -9.81]\nbodies:\n  ground: {}\n"
        "  trunk: {points: {H: [0, 0]}, mass: 2, com: [0, 0.1], inertia: 0.02}\n"
        "  leg: {points: {H: [0, 0], F: [0, -0.3]}, mass: 1, com: [0, -0.1], inertia: 0.01}\n"
        "joints:\n  base: {type: planar, between: [ground, trunk], at: [0, 0]}\n  hip: {type: revolute, connect: [trunk.H, leg.H]}\n"
        "drive: {hip: {torque: 0}}\n",
        encoding="utf-8",
    )
    s = lw.load(path).system
    st = s.assemble(v={"hip": 1.0, "base.x": 0.3})
    loads = s.inverse(st, {"hip": 1.0})
    # by hand: 1 rad/s^2 of the leg about the hip takes I + m l^2 = 0.02 N m, its center (0.1 m below) moves by 0.1 m/s^2 in x
    assert loads.tau["hip"] == pytest.approx(0.02, abs=1e-13)
    assert loads.base == pytest.approx({"base.x": 0.1, "base.y": 3 * 9.81 + 0.1, "base.angle": 0.02}, abs=1e-12)
    c = mechanism_of(s).follow({"hip": "0.5 rad/s^2 * t^2"}, duration=0.1, steps=4)
    np.testing.assert_allclose(np.column_stack([c["base.force"], c["base.moment"]])[0], [0.1, 3 * 9.81, 0.02], atol=1e-9)
    assert s.named_terms("leg.F in trunk")(st).J.at("leg.F.x in trunk", "hip") == pytest.approx(0.3)
    assert s.mobility.freedoms == 4 and s.controllable(st).beside_base
    assert s.simulate(st, 0.1).certificate.momentum_drift < 1e-9


@sweep("turned", [[0, 0, 0, 1], [0, 0.36, 0.48, -0.8], [0, 1, 0, 0], [0, 0.6, 0.8, 0], [1e-9, 0, 0, 1]], now=1)
def test_a_base_half_a_turn_from_the_start(leg: lw.System, turned: list[float]) -> None:
    """A robot that faces backwards, by coordinates and by its pose: R of the quaternion, closed form (round-off of the walk there)."""
    w, u = turned[0], np.array(turned[1:])
    R = (w * w - u @ u) * np.eye(3) + 2.0 * np.outer(u, u) + 2.0 * w * np.cross(np.eye(3), -u)
    st = leg.assemble({"base": [*turned, 0.1, 0.2, 1.0], "hip": 0.3}, {"base.wz": 0.5})
    assert abs(st["trunk.rotation"] @ turned) == pytest.approx(1.0, abs=1e-12)
    assert np.allclose(st["base"][4:], [0.1, 0.2, 1.0], atol=1e-12) and np.isclose(st["base.wz"], 0.5)
    posed = leg.assemble(pose={"trunk": (R, [0.1, 0.2, 1.0])})
    assert abs(posed["trunk.rotation"] @ turned) == pytest.approx(1.0, abs=1e-12)


def test_inverse_where_bodies_and_joints_have_one_name(leg: lw.System) -> None:
    """The rule in MJCF. The tree that is best for the inverse may let a body float whose name a joint has."""
    model = rssr(np.random.default_rng(1))
    joints = model["joints"]
    named = {"crank": joints["A"], "rod": joints["B"], "C": joints["C"], "rocker": joints["D"]}
    s, plain = lw.load({**model, "joints": named, "drive": {"crank": {"torque": 0}}}).system, lw.load(model).system
    same = plain.inverse(plain.assemble(v={"A": 2.0}), {"A": 1.0}).tau["A"]
    assert s.inverse(s.assemble(v={"crank": 2.0}), {"crank": 1.0}).tau["crank"] == pytest.approx(same, rel=1e-12)
    floating = lw.compile(s.description, cuts=["rod", "C"])
    assert floating.tree.floating == ("rod",) and "rod_free.wx" in floating.names.v
    assert np.isclose(floating.forward(floating.start)["crank.a"], s.forward(s.start)["crank.a"], rtol=1e-9)
    assert np.isfinite(floating.start["rod.free.x"])

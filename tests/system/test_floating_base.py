"""Floating base: inverse dynamics with the wrench on it, controllability beside it, momentum in the certificate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests.system.test_named_terms import LEG, moving


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


def test_the_wrench_is_the_rate_of_momentum_against_weight(leg: lw.System) -> None:
    st = moving(leg, 1)
    x = leg.named_terms()(st)
    force, moment = leg.inverse(st, {"hip": 1.0}).base_wrench(about=np.asarray(x.com))
    a = np.array([1.0 if n == "hip" else 0.0 for n in x.by])
    rate = x.A @ a + x.A_rate
    np.testing.assert_allclose(force, rate[3:] + np.array([0.0, 0.0, 9.81 * 6.35]), atol=1e-11)
    np.testing.assert_allclose(moment, rate[:3], atol=1e-11)


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
    with pytest.raises(lw.UsageError, match="no drive acts"):
        leg.inverse(moving(leg), {"hip": 1.0, "knee": 2.0}, drives=["hip"])


def test_mobility_and_controllability_count_the_base(leg: lw.System) -> None:
    assert leg.mobility.freedoms == 8
    found = leg.controllable(leg.start)
    assert not found and found.beside_base and found.missing == 6
    assert "2 drives move 2 degrees of freedom of 8" in str(found) and "floating base" in str(found)
    assert leg.controllable(leg.start, ["hip"]).beside_base is False


def test_the_certificate_has_the_momentum_of_free_flight(leg: lw.System) -> None:
    run = leg.simulate(moving(leg), 0.3, drive={"hip": lw.torque("0.4 N m")})
    found = run.checks().certificate
    assert found.momentum_drift is not None and found.momentum_drift < 1e-8  # tolerance 1e-9 of the run, some steps
    assert found.checks()["momentum conserved"] and "free flight" in str(found)


def with_section(folder: Path, text: str) -> lw.System:
    path = folder / "leg.yaml"
    path.write_text(f"{LEG.read_text(encoding='utf-8')}\n{text}\n", encoding="utf-8")
    return lw.load(path).system


def test_no_momentum_is_claimed_where_the_base_is_pushed_or_missing(tmp_path: Path) -> None:
    s = lw.compile("five-bar")
    assert s.simulate(s.start, 0.05).checks().certificate.momentum_drift is None
    pushed = with_section(tmp_path, "loads: {wind: {on: trunk.T, force: [3 N, 0 N, 0 N]}}")
    assert pushed.simulate(pushed.start, 0.05).checks().certificate.momentum_drift is None


def test_a_spring_between_bodies_keeps_the_momentum(tmp_path: Path) -> None:
    s = with_section(tmp_path, "springs: {s: {between: [trunk.T, shank.F], stiffness: 200 N/m, free: 300 mm}}")
    found = s.simulate(s.start, 0.1).checks().certificate
    assert found.momentum_drift is not None and found.momentum_drift < 1e-8


def test_a_wrong_momentum_fails_the_check(leg: lw.System) -> None:
    from dataclasses import replace

    found = leg.simulate(leg.start, 0.02).checks().certificate
    assert not replace(found, momentum_drift=1e-3).ok


def test_a_followed_motion_holds_the_base(leg: lw.System) -> None:
    """Torques along a motion of the drives with the base at rest, against the reduced equations (1e-9 of torques of 1 N m)."""
    c = leg.follow({"hip": "0.2 rad * sin(3 rad/s * t)", "crank": "0.1 rad/s * t"}, duration=0.2, steps=4)
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
    # by hand: 1 rad/s^2 of the leg about the hip takes I + m l^2 = 0.02 N m, its centre (0.1 m below) moves by 0.1 m/s^2 in x
    assert loads.tau["hip"] == pytest.approx(0.02, abs=1e-13)
    assert loads.base == pytest.approx({"base.x": 0.1, "base.y": 3 * 9.81 + 0.1, "base.angle": 0.02}, abs=1e-12)
    assert s.named_terms("leg.F in trunk")(st).J.at("leg.F.x in trunk", "hip") == pytest.approx(0.3)
    assert s.mobility.freedoms == 4 and s.controllable(st).beside_base
    assert s.simulate(st, 0.1).checks().certificate.momentum_drift < 1e-9

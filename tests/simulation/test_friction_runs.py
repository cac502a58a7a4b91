"""Runs with joints that stick and slip: closed forms of a cart, statics of holding ranges, forward dynamics, the balance of energy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.simulation.test_dry_friction import G, block, five_bar, rubbing_slider_crank


def cart(**more: Any) -> dict[str, Any]:
    return {
        "name": "cart", "plane": "xy", "units": ["m", "deg"], "gravity": [0, -G], "drawing": {"P": [0, 0], "O": [-1, 0]},
        "bodies": {"ground": {"points": ["O"]}, "cart": {"points": ["P"], "mass": 2, "com": "P", "inertia": 0.1}},
        "joints": {"x": {"type": "prismatic", "between": ["ground", "cart"], "at": "P", "axis": [1, 0]}}, **more,
    }  # fmt: skip


SPRING = {"springs": {"s": {"between": ["ground.O", "cart.P"], "stiffness": "800 N/m"}}}


def test_a_cart_on_a_spring_comes_to_rest() -> None:
    """Half periods of pi / sqrt(k/m), each 2 F/k shorter than the last; it rests for ever where the spring is weaker than friction."""
    r = lw.load(cart(**SPRING, friction={"x": {"coulomb": "4 N"}}, start={"x": 0.093})).simulate(3, tolerance=1e-12)
    times = [e.time for e in r.events if e.name == "x sticks"]
    np.testing.assert_allclose(times, np.pi / 20 * np.arange(1, 10), rtol=0, atol=1e-10)  # 93 mm - 9 * 10 mm: 3 mm are within 4 N / k
    assert r["x"][-1] == pytest.approx(-0.003, abs=1e-10)
    rest = r.t > times[-1] + 1e-9
    assert not np.any(r["x.v"][rest]) and np.ptp(r["x"][rest]) == 0.0
    assert r["x.friction"][-1] == pytest.approx(-800 * 0.003, abs=1e-7) and r["x.friction.state"][-1] == 0.0
    assert r["work.lost"][-1] == pytest.approx(400 * (0.093**2 - 0.003**2), abs=1e-8)
    assert r.certificate.ok and not r.notes


@cache
def swinging() -> Any:
    s = lw.load(rubbing_slider_crank()).system
    return s.simulate(s.assemble(q={"A": 2.0}, v={"A": 30.0}), 1.5, drive={})


def test_a_slider_crank_swings_until_it_rests() -> None:
    """Four joints rub by their loads. Energy is lost by them alone; at rest nothing moves at all; accelerations are those of `forward`, and
    friction is the coefficient times the load that the run reports."""
    r = swinging()
    lost = r["energy.total"][0] - r["energy.total"][-1] + r["work.loads"][-1]
    assert r["work.lost"][-1] == pytest.approx(lost, abs=1e-7)
    assert np.abs(r.v[-1]).max() < 1e-25 and np.ptp(r.q[-100:], axis=0).max() < 1e-15
    s = lw.load(rubbing_slider_crank()).system
    moving = [i for i in range(0, len(r), 97) if abs(r["A.v"][i]) > 1.0]
    for i in moving[:4]:
        np.testing.assert_allclose(r.a[i], s.forward(r.state(i)).a, rtol=0, atol=1e-9 * np.abs(r.a[i]).max())
        loads = r.instant(i).loads
        for name, lever in (("A", 0.1 * 0.02), ("B", 0.1 * 0.02), ("C", 0.2 * 0.01)):
            size = lever * np.linalg.norm(loads.reaction(name).force)
            assert abs(r[f"{name}.friction"][i]) == pytest.approx(size, rel=1e-9)
    assert r.certificate.ok and (r.certificate.rubbing, r.certificate.friction_shared) == (4, "A, B, C, S")
    assert r.certificate.friction_excess < 1e-12 and r.certificate.friction_changes == len(r.events)


def test_a_dead_center_is_passed() -> None:
    """The slider turns back twice in every turn; its friction changes sides there and is always against its speed."""
    r = swinging()
    power = r["S.friction"] * r["S.v"]
    assert power.max() <= 1e-9 and sum(e.name == "S sticks" for e in r.events) >= 4


def test_a_crank_rests_within_its_range_of_torques_only() -> None:
    """Ends of the holding range at 40 deg, 1e-6 N m inside and outside."""
    pin = {"mu": 0.1, "radius": "20 mm"}
    model = rubbing_slider_crank() | {"friction": {"A": pin, "B": pin, "S": {"mu": 0.15}}}
    s = lw.load(model).system
    st = s.assemble(q={"A": np.radians(40.0)})
    for torque, way in ((-17.155996460, -1), (-13.589494389, 1)):
        rests, moves = (s.simulate(st, 0.5, drive={"A": lw.drives.torque(torque - side * way * 1e-6)}) for side in (1, -1))
        assert not np.ptp(rests["A"]) and np.abs(rests.v).max() < 1e-25
        assert way * (moves["A"][-1] - moves["A"][0]) > 1e-8


def test_the_flap_stays_where_it_holds() -> None:
    """Ends of the holding range at 58.827 and 77.412 deg."""
    s = lw.load("flap").system
    for angle, stays in ((58.0, False), (59.0, True), (77.0, True), (78.0, False)):
        r = s.simulate(s.assemble(q={"H": np.radians(angle)}), 0.3, drive={})
        assert (np.ptp(r["H"]) == 0.0) == stays


def test_a_block_on_an_incline_for_five_seconds() -> None:
    """The threshold within 1e-9 of mu; below it the block is where g (sin - mu cos) t^2 / 2 puts it."""
    slope = np.radians(20.0)
    for share in (1 - 1e-9, 1 + 1e-9):
        r = lw.load(block(slope, share * float(np.tan(slope)))).simulate(5, drive={})
        fallen = 0.5 * G * np.sin(slope) * max(0.0, 1 - share) * 25.0
        assert r["S"][-1] == pytest.approx(-fallen, abs=1e-13) and (r["S.v"][-1] == 0.0) == (share > 1)


def test_two_degrees_of_freedom_and_five_joints() -> None:
    """A five-bar swings: the balance of energy, and friction never gives power."""
    s = lw.load(five_bar()).system
    r = s.simulate(s.assemble(q={"A": 1.9, "E": 1.1}, v={"A": 1.0, "E": -2.0}), 1.0, drive={})
    assert r.certificate.ok
    for name in "ABCDE":
        assert (r[f"{name}.friction"] * r[f"{name}.v"]).max() <= 1e-9


def test_stops_and_friction_together() -> None:
    """A cart runs against rigid stops and rests on the way: speeds before the impacts from v^2 = v0^2 - 2 mu g s."""
    stops = {"stops": {"x": {"range": [-0.3, 0.3], "restitution": 0.5}}}
    r = lw.load(cart(**stops, friction={"x": {"mu": 0.1}}, start={"x.v": 3})).simulate(3)
    lost = [e.values["energy lost"] for e in r.events if "stop" in e.name]
    first = 9 - 0.2 * G * 0.3
    second = 0.25 * first - 0.2 * G * 0.6
    assert lost == pytest.approx([0.75 * first, 0.75 * second], abs=1e-9)
    assert r["x"][-1] == pytest.approx(-0.3 + 0.25 * second / (0.2 * G), abs=1e-9) and r["x.v"][-1] == 0.0
    assert r.certificate.ok


def test_stick_and_slip_of_a_mass_that_is_pulled() -> None:
    """A motion pulls at a spring: the mass sticks until the spring has reached the bound, and again at the end of every slip."""
    model = cart(friction={"x": {"coulomb": "4 N"}})
    model["bodies"]["puller"] = {"points": ["O"], "mass": 0.1, "inertia": 0.01, "com": "O"}
    model["joints"]["y"] = {"type": "prismatic", "between": ["ground", "puller"], "at": "O", "axis": [1, 0]}
    model |= {"springs": {"s": {"between": ["puller.O", "cart.P"], "stiffness": "100 N/m"}}, "drive": {"y": "0.1 m/s"}}
    r = lw.load(model).simulate(2.0, tolerance=1e-11)
    assert [e.name for e in r.events][:1] == ["x slips"] and r.events[0].time == pytest.approx(0.4, abs=1e-9)
    w, later = np.sqrt(50.0), 1.1 - 0.4  # k / m; from rest it swings about the moving puller
    assert float(np.interp(1.1, r.t, r["x"])) == pytest.approx(0.1 * (later - np.sin(w * later) / w), abs=1e-5)
    assert not np.any(r["x.v"][r.t < 0.4]) and r.certificate.ok


def test_smooth_friction_by_load_acts_and_has_no_events() -> None:
    """`speed:` keeps it smooth: the same deceleration at speeds far above it."""
    runs = [lw.load(cart(friction={"x": {"mu": 0.1, **law}}, start={"x.v": 3})).simulate(1) for law in ({}, {"speed": "1 mm/s"})]
    assert runs[1]["x"][-1] == pytest.approx(runs[0]["x"][-1], abs=1e-8) and not runs[1].events
    assert runs[0]["x"][-1] == pytest.approx(3 - 0.05 * G, abs=1e-9)


def test_a_bound_that_is_a_parameter_and_a_run_without_derivatives() -> None:
    """With 8 N the first half period is 20 mm shorter; derivatives need `speed:`, because the run changes its mode."""
    m = lw.load(cart(**SPRING, friction={"x": {"coulomb": "4 N"}}, start={"x": 0.093}))
    s = lw.compile(m, parameters=["x.coulomb"])
    r = s.simulate(s.start, np.pi / 20, parameters={"x.coulomb": 8.0})
    assert r["x"][-1] == pytest.approx(-0.073, abs=1e-9)
    with pytest.raises(lw.UsageError):
        m.simulate(0.2).derivatives("s.stiffness")


HOW: list[dict[str, Any]] = [{"integrator": "rk4", "step": 1e-3}, {"integrator": "rodas"}, {"engine": "python"}, {"formulation": "kkt"}]


@pytest.mark.parametrize("how", HOW)
def test_other_integrators_and_equations(how: dict[str, Any]) -> None:
    """Position after three half periods and a bit, to the accuracy of each."""
    r = lw.load(cart(**SPRING, friction={"x": {"coulomb": "4 N"}}, start={"x": 0.093})).simulate(0.5, **how)
    later = 0.5 - 3 * np.pi / 20
    assert r["x"][-1] == pytest.approx(-(0.005 + 0.058 * np.cos(20 * later)), abs=1e-6) and r.certificate.ok

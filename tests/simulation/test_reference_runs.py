"""Runs whose motion is known: reference states of the papers' mechanisms, energy, period, the torque of the inverse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import linkwright as lw
from linkwright.api import compiled_of
from tests.reference import load

SCRAPER = load("saha")["carpet_scraper"]["forward_dynamics"]["A_R"]
PERIOD = 1.646857406378691
HOANG = load("aghili_hoang")["hoang_3rrr"]
LINK = 0.62  # m: the paper's residual |r|^2 - L^2 is 2 L times ours, and its multiplier ours over 2 L


@pytest.fixture(scope="module")
def scraper():
    s = lw.compile(lw.load("carpet-scraper"), cuts=["J8", "J9", "J10"])
    return s, s.assemble({"J1": 0.0}, {"J1": 4.7124})


@pytest.fixture(scope="module")
def robot():
    return lw.compile(lw.load("3-rrr-motors"))


def test_the_scraper_swings_as_the_reference_says(scraper):
    s, st = scraper
    run = s.simulate(st, 5.0, tolerance=1e-10, sample_interval=[0.1, 0.5, 1.0, 5.0])
    for i, x in enumerate(SCRAPER["states"]):  # twenty digits
        assert run["J1"][i] == pytest.approx(x["theta1"], abs=1e-9)
        assert run["J1.v"][i] == pytest.approx(x["theta1_dot"], abs=1e-9)
    c = run.certificate
    assert run.checks().ok and c.energy_start == pytest.approx(SCRAPER["energy_J"], abs=1e-12)
    assert c.energy_imbalance < 1e-8 and c.position_residual < 1e-14  # J; round-off
    tighter = s.simulate(st, 5.0, tolerance=1e-11)
    assert tighter.certificate.energy_imbalance < 1e-9
    assert c.branch_start == c.branch_end and run.passages == ()


def test_the_scraper_comes_back_after_its_period(scraper):
    s, st = scraper
    run = s.simulate(st, 4.0, tolerance=1e-10, events=[lw.events.when("J1.v", direction="falling", name="turns back")])
    times = [e.time for e in run.events]
    assert len(times) == 3
    np.testing.assert_allclose(np.diff(times), PERIOD, atol=1e-8)
    assert run["J1"].max() <= SCRAPER["turning_points_rad"][1] + 1e-9


def test_a_hundred_seconds_do_not_drift(scraper):
    s, st = scraper
    c = s.simulate(st, 100.0, tolerance=1e-10, sample_interval=1.0).certificate
    assert c.position_residual < 1e-9 and c.energy_imbalance < 1e-6


@pytest.mark.slow
def test_the_torque_of_the_inverse_turns_the_crank_evenly(scraper):
    """[Koul2013 Figs. 7(b), (c)]; perturbations grow about twelve times in 5 s, the spline's error is far below."""
    s, st = scraper
    speed = 4.7124
    turned = s.simulate(
        st, 2 * math.pi / speed, drive={"J1": lw.drives.speed(speed)}, sample_interval=2 * math.pi / speed / 720, tolerance=1e-12
    )
    torque = s.kernel("inverse", drives=["J1"])(turned.q, turned.v, turned.a).u[:, 0]
    np.testing.assert_allclose(turned["J1.torque"], torque, atol=1e-8)  # a prescribed motion tells the same effort
    torque[-1] = torque[0]
    spline = make_interp_spline(np.linspace(0.0, 2 * math.pi, len(torque)), torque, k=7, bc_type="periodic")
    drive = {"J1": lw.drives.torque(lambda t: float(spline((speed * t) % (2 * math.pi))))}
    run = s.simulate(st, 5.0, drive=drive, tolerance=1e-10)
    assert np.abs(run["J1"] - speed * run.t).max() < 1e-7
    assert "called back" in run.certificate.inputs


def test_the_three_legged_robot_falls_as_the_reference_says():
    states = [x for x in load("saha")["rrr_3"]["states"] if x["t"] <= 0.5]
    s = lw.compile(lw.load("3-rrr"), cuts=["J6", "J7"])
    run = s.simulate(s.start, 0.5, tolerance=1e-10, sample_interval=[x["t"] for x in states])
    assert [x["t"] for x in states] == [0.1, 0.5] and run.certificate.energy_imbalance < 1e-7
    for i, x in enumerate(states):
        for joint, link in (("J1", 0), ("J8", 5), ("J9", 6)):  # the three cranks
            assert run[joint][i] == pytest.approx(x["alpha_links"][link], abs=1e-9)
            assert run[f"{joint}.v"][i] == pytest.approx(x["alpha_links_dot"][link], abs=1e-9)


def pd(joint, wanted):
    """Joint torque 150 (wanted - angle) - 50 speed through the motor's constant r Kt / R = 10, within its 34 V."""
    return lw.drives.voltage(lambda t, st: (150.0 * (wanted - st[joint]) - 50.0 * st[f"{joint}.v"]) / 10.0)


CASES = {
    "case1 u=[5,-5,5] V (k=10,c=10)": ({"A1": lw.drives.voltage(5), "A2": lw.drives.voltage(-5), "A3": lw.drives.voltage(5)}, (4, 5)),
    "case2 PD=joint torque (k=1,c=10)": ({"A1": pd("A1", 0.4), "A2": pd("A2", 0.8), "A3": pd("A3", 1.0)}, (1, 6)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_motor_driven_robot(robot, case):
    """[Hoang2023 Figs. 2, 3]: states to twelve digits in the reference, crossings of both determinants in the first second."""
    drive, crossings = CASES[case]
    run = robot.simulate(robot.start, 1.0, drive=drive, tolerance=1e-10, sample_interval=[0.1, 0.5, 1.0])
    for i, x in enumerate(HOANG[case]["states"].values()):
        np.testing.assert_allclose(run.q[i], x["q"], atol=1e-6)
        np.testing.assert_allclose(run.v[i], x["qdot"], atol=1e-5)
        lam = [run[f"lam.r{k}"][i] / (2 * LINK) for k in (1, 2, 3)]
        np.testing.assert_allclose(lam, x["lam_eq17_sign"], rtol=1e-5, atol=1e-4)
    kinds = [p.kind for p in run.passages]
    assert (kinds.count("independent"), kinds.count("drives")) == crossings and run.certificate.rank_passages == 0
    assert run.checks().ok and run.certificate.smallest_singular_value > 0.3
    signs = robot.simulate(robot.start, 1.0, drive=drive, tolerance=1e-10, sample_interval=0.001)
    for name, count in zip(("det.independent", "det.dependent"), crossings, strict=True):
        assert np.count_nonzero(np.diff(np.sign(signs[name]))) == count
    assert len(signs.notes) >= 3 and any("creates energy" in n for n in signs.notes)


def test_the_papers_own_stabilization_leaves_what_the_reference_says(robot):
    """RK4 with 0.002 s: residuals up to 1.2e-6 m^2 in [0, 3] s, in [0, 1] s hardly less, errors of the reference's table."""
    drive, _ = CASES["case1 u=[5,-5,5] V (k=10,c=10)"]
    keep = lw.stabilizers.baumgarte(1.0, 100.0 * math.sqrt(2.0)) + lw.stabilizers.post_adjust(M=0.1, A=100.0 * (2 * LINK) ** 2)
    run = robot.simulate(robot.start, 3.0, drive=drive, integrator="rk4", step=0.002, stabilizer=keep, sample_interval=[0.1, 0.5, 1.0, 3.0])
    level = run.certificate.position_residual * compiled_of(robot).loops.kappa * 2 * LINK
    assert 0.6e-6 < level < 2.4e-6
    table = load("aghili_hoang")["hoang_stabilization_errors_vs_truth"]["case1 dt=0.002 err at .1,.5,1,2,3"]["Baum+post"]
    for i, x in enumerate(list(HOANG["case1 u=[5,-5,5] V (k=10,c=10)"]["states"].values())):
        assert np.abs(run.q[i] - np.array(x["q"])).max() == pytest.approx(table[i], rel=0.05)
    assert not run.checks().ok, "loops open by a micrometer are told"


def test_a_little_inductance_changes_little(robot):
    """5e-5 H: 2.45e-4 rad in [0, 0.5] s by the reference; a stiff method needs few steps for it."""
    volts = {"A1": 5, "A2": -5, "A3": 5}

    def run(L, **how):
        motor = lw.drives.dc_motor(Kt=3, Ke=0.1, R=3, L=L, J=0.01, gear_ratio=10)
        drive = {j: lw.drives.voltage(u, motor=motor) for j, u in volts.items()}
        return robot.simulate(robot.start, 0.5, drive=drive, sample_interval=0.005, **how)

    still, moving = run(0.0, tolerance=1e-9), run(5e-5, tolerance=1e-7, integrator="rodas")
    gap = np.abs(moving.q - still.q).max()
    assert gap < 1e-3 and gap == pytest.approx(load("aghili_hoang")["motor_inductance_small"]["case1 La=5e-05 i0=0"]["max_0_0.5"], rel=0.01)
    assert moving["motor.A1.current"][0] == 0.0 and moving["motor.A1.current"][-1] == pytest.approx(still["motor.A1.current"][-1], abs=2e-3)
    explicit = run(5e-5, tolerance=1e-7)
    assert moving.certificate.steps < 0.25 * explicit.certificate.steps

"""Stored digits of [Koul2013] and [Chaudhary2007] against their generators: quick with few digits or points, slow with all."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.papers import chaudhary, chaudhary_determinacy, koul_matrices, koul_printed, koul_runs
from tests.data.generate import chaudhary_rssr, chaudhary_scraper, koul_motion
from tests.data.generate import koul_matrices as matrices
from tests.reference import load
from tests.rings.papers.pages import Page
from tests.sweeps import sweep

SAHA = load("saha")
INVERSE = SAHA["carpet_scraper"]["inverse_dynamics_w4p712"]
DRIVEN = {9.81: INVERSE["B_R|gravity_-Y_9.81"], 0.0: INVERSE["B_R|no_gravity"]}
FREE = SAHA["carpet_scraper"]["forward_dynamics"]["A_R"]
ROUNDED = 5e-12  # 12 digits of numbers up to 100 are stored in the papers' modules


def check_torques(degrees, gravities):
    for g in gravities:
        stored = dict(zip(chaudhary.ANGLES, chaudhary.TORQUE[g], strict=True))
        rows = {row["deg"]: row["tau"] for row in DRIVEN[g]["rows"]}
        for d, tau in chaudhary_scraper.torques(str(g), degrees).items():
            assert float(tau) == pytest.approx(stored[d], abs=10 * ROUNDED) and float(tau) == pytest.approx(rows[d], abs=1e-13)


def check_rssr(degrees):
    rows = {row["deg"]: row for row in SAHA["rssr"]["thin|gravity_-Y_9.81"]["rows"]}
    stored = dict(zip(chaudhary_determinacy.ANGLES, chaudhary_determinacy.RSSR_TORQUE, strict=True))
    for d in degrees:
        at = chaudhary_rssr.driven(d)
        assert abs(at.torque - at.other) < 1e-20 and float(at.torque) == pytest.approx(stored[d], abs=ROUNDED)
        np.testing.assert_allclose([float(x) for x in at.force], rows[d]["lambda_S_on_crank_from_coupler"], atol=1e-13)


def test_torques_and_extremes_of_the_scraper():
    check_torques((0, 150), (9.81, 0.0))
    low, high = chaudhary_scraper.extremes()
    assert float(low) == pytest.approx(DRIVEN[9.81]["stats"]["min"], abs=1e-12)
    assert float(high) == pytest.approx(DRIVEN[9.81]["stats"]["max"], abs=1e-12)


def test_rssr():
    check_rssr((30,))


@sweep("name", matrices.BODIES, now=["carpet-scraper"])
def test_matrices_and_loads_at_the_start(name):
    there = koul_printed.reference(name)
    stored = {**there.start._asdict(), "moving_I": there.moving_I, "moving_C": there.moving_C}
    found = matrices.reference(name)
    assert found.keys() == stored.keys()
    for key, x in found.items():
        np.testing.assert_allclose(x, stored[key], rtol=0.0, atol=2e-13)  # entries up to 124
    accelerations, pins = matrices.loads(name)
    if name == "3-rrr":
        np.testing.assert_allclose([float(x) for x in accelerations.values()], koul_matrices.RRR_ACCELERATIONS, rtol=0.0, atol=1e-13)
    else:
        assert float(accelerations["crank"]) == pytest.approx(koul_matrices.SCRAPER_ACCELERATION, abs=1e-13)
        for pin, force in koul_matrices.CUT_FORCES.items():
            np.testing.assert_allclose([float(x) for x in pins[pin]], force, rtol=0.0, atol=1e-12)


def test_free_motions_with_few_digits():
    """Order 8 with 15 digits, a tenth of a second."""
    few = {"digits": 15, "columns": 4, "steps": 2}
    ((angle, speed),) = koul_motion.scraper(("0.1",), **few)[0]
    assert [float(angle), float(speed)] == pytest.approx(koul_runs.FREE[0][1:], abs=1e-9)
    found = [float(angle) for angle, _ in koul_motion.manipulator(("0.1",), **few)[0]]
    assert found == pytest.approx(koul_runs.RRR_FREE[0][1], abs=1e-9)


def test_largest_speed_of_the_free_scraper():
    angle, speed = koul_motion.fastest(20)
    assert f"its speed jumps to {float(speed):.2f} rad/s" in Page("Koul2013").text.replace("\n  ", " ")
    assert f"near {float(angle):.2f} rad" in Page("Koul2013").text


@pytest.mark.slow
def test_all_torques_and_forces():
    check_torques(range(0, 360, 30), (9.81, 0.0))
    check_rssr(chaudhary_rssr.ANGLES)
    for g, stored in chaudhary.RMS.items():
        assert float(chaudhary_scraper.rms(str(g))) == pytest.approx(stored, abs=10 * ROUNDED)
        for row in DRIVEN[g]["rows"]:
            tau, forces = chaudhary_scraper.forces(row["deg"], str(g))
            assert float(tau) == pytest.approx(row["tau"], abs=1e-12)
            for name, force in forces.items():
                np.testing.assert_allclose([float(x) for x in force], row["forces"][name], rtol=0.0, atol=1e-10)  # of 1e3 N


@pytest.mark.slow
def test_all_free_motions():
    """Twenty digits of the scraper by energy, as stored; the manipulator to the thirteen digits stored, and both by steps."""
    swing = koul_motion.swing()
    assert [float(swing.low), float(swing.high)] == pytest.approx(FREE["turning_points_rad"], abs=1e-15)
    assert float(swing.period) == pytest.approx(FREE["period_s"], abs=1e-15)
    for row, (time, angle, speed), ((turned, rate),) in zip(FREE["states"], koul_runs.FREE, koul_motion.scraper(digits=28), strict=True):
        with koul_motion.mp.workdps(koul_motion.DIGITS):
            exact = swing.at(koul_motion.mpf(str(time)))
            for stored, by_energy, by_steps in ((row["theta1_20digits"], exact[0], turned), (row["theta1_dot_20digits"], exact[1], rate)):
                assert abs(koul_motion.mpf(stored) - by_energy) < 1e-18 and abs(by_energy - by_steps) < 1e-14
        assert [float(exact[0]), float(exact[1])] == pytest.approx([angle, speed], abs=1e-14)
    for (_, stored), drives in zip(koul_runs.RRR_FREE, koul_motion.manipulator(digits=26), strict=True):
        assert [float(angle) for angle, _ in drives] == pytest.approx(stored, abs=1e-12)

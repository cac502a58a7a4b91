"""The instant at which a sampled controller senses forces: at the sample, with the efforts that act just before it.

The crank and rod of the slider-crank have the length 1 m and stand still without weight, so the guide carries what the torque between
crank and rod makes: J = dy_C/dq = [cos A + cos(A + B), cos(A + B)] with B = -2 A, hence tau + J' lam = 0 gives lam = -tau_B / cos A.
"""

import math

import numpy as np
import pytest

import linkwright as lw

EVERY = 1e-3
ANGLE = math.pi / 3
SAMPLES = 12


@pytest.fixture(scope="module")
def crank():
    return lw.compile(lw.load("slider-crank-equal", g=0.0))


def law(**options):
    given = {"P": 25, "D": 10, "F": 0.6, "I": 40, "every": EVERY, "filter": 0, "begin": 0} | options
    return lw.control.hybrid({"A": "60 deg"}, {"C.ty": 5.0}, drives=["A", "B"], **given)


def at_rest(s, **options):
    """A run from rest, read in the middle between samples: efforts and readings are held there."""
    st = s.assemble({"A": ANGLE}, {"A": 0.0})
    middle = (np.arange(SAMPLES) + 0.5) * EVERY
    return st, s.simulate(st, SAMPLES * EVERY, control=law(), sample_interval=middle, tolerance=1e-9, **options)


def by_hand(wanted=5.0, F=0.6, I=40.0, late=0):
    """Efforts -cos(A) c of commands c = wanted + F e + I sum(e) T, with e of the force that acted until the sample."""
    acting, total, readings, forces, line = 0.0, 0.0, [], [], [0.0] * late
    for _ in range(SAMPLES):
        readings.append(acting)
        total += EVERY * (wanted - acting)
        line.append(wanted + F * (wanted - acting) + I * total)
        acting = line.pop(0)
        forces.append(acting)
    return np.array(readings), np.array(forces)


@pytest.mark.parametrize("late", [0, 1, 3])
def test_the_reading_lags_the_torque_by_one_sample_exactly(crank, late):
    """Also with a delay: the sensor feels what acts, not what was last commanded."""
    _, run = at_rest(crank, **({"delay": late * EVERY} if late else {}))
    readings, forces = by_hand(late=late)
    torque, sensed = run["B.torque"], run["control.C.ty.sensed"]
    np.testing.assert_allclose(-torque / math.cos(ANGLE), forces, atol=1e-9)  # the loop of this file, step by step
    np.testing.assert_allclose(sensed, readings, atol=1e-9)
    np.testing.assert_allclose(sensed[1:], -torque[:-1] / math.cos(ANGLE), atol=1e-9)  # the held torque of the sample before
    assert np.abs(sensed[1:] + torque[1:] / math.cos(ANGLE)).max() > 0.1  # and not the new one


def test_noise_is_added_to_that_reading(crank):
    noise = lw.control.noise(force="0.2 N", seed=5)
    _, run = at_rest(crank, noise=noise)
    before = np.concatenate([[0.0], -run["B.torque"][:-1] / math.cos(ANGLE)])
    added = run["control.C.ty.sensed"] - before
    assert 0.02 < np.abs(added[1:]).mean() < 0.6  # 0.16 N is the mean of |0.2 N times a normal number|
    _, again = at_rest(crank, noise=noise)
    assert np.array_equal(again["control.C.ty.sensed"], run["control.C.ty.sensed"])


def test_stepping_alone_is_the_loop_of_a_run(crank):
    """`s.control(...).step(st)` with the measured states of the run: the same efforts, sample by sample."""
    st, run = at_rest(crank)
    c = crank.control(law(), st)
    records, efforts = [], []
    for _ in range(SAMPLES):
        records.append(c.records(st)["control.C.ty.sensed"])
        efforts.append(c.step(st)["B"])
    np.testing.assert_allclose(efforts, run["B.torque"], atol=1e-9)
    np.testing.assert_allclose(records, run["control.C.ty.sensed"], atol=1e-9)
    c.reset()
    assert c.step(st)["B"] == pytest.approx(efforts[0], rel=1e-12)
    given = crank.control(law(), st)
    given.step(st)
    assert given.records(st, force={"C.ty": "3 N"})["control.C.ty.sensed"] == 3.0  # what sensors of one's own read


def test_a_moving_mechanism_is_sensed_at_the_sample_with_the_torque_before_it():
    """30 to 60 deg under gravity: the reading is the limit of the guide's force from the left."""
    s = lw.compile("slider-crank-equal")
    st = s.assemble({"A": math.pi / 6}, {"A": 0.0})
    k = np.arange(1, 30)
    before, after = k * 0.01 - 1e-8, k * 0.01 + 1e-8
    run = s.simulate(
        st, 0.3, control=law(every=0.01, F=0.3, I=5), sample_interval=np.sort(np.concatenate([before, after])), tolerance=1e-11
    )
    force, sensed = run["lam.C.ty"], run["control.C.ty.sensed"]
    np.testing.assert_allclose(sensed[1::2], force[0::2], atol=1e-5)  # 2e-8 s at up to 500 N/s
    assert np.abs(force[1::2] - force[0::2]).max() > 0.1  # a jump at every sample, so that the side matters


def test_a_continuous_controller_senses_the_force_of_its_own_efforts(crank):
    s = crank
    st = s.assemble({"A": math.pi / 6}, {"A": 0.0})
    run = s.simulate(
        st, 0.2, control=lw.control.hybrid({"A": "60 deg"}, {"C.ty": 5.0}, P=25, D=10, F=1, I=20, drives=["A", "B"]), sample_interval=0.02
    )
    np.testing.assert_allclose(run["control.C.ty.sensed"], run["lam.C.ty"], atol=1e-8)

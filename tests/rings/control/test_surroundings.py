"""What stands around a controller: limits, motors, sampling, delay, noise; other drives, locks, cylinders, cut joints, parameters."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from linkwright.errors import UsageError
from tests.refusals import refused
from tests.sweeps import sweep

STEP = {"A": "60 deg"}  # from 30 deg: 26 N m at the start for one drive, 7 and -14 for two (with gravity 35; 7 and -14)


@pytest.fixture(scope="module")
def crank():
    s = lw.load("slider-crank-equal").system
    return s, s.assemble({"A": "30 deg"})


def gives(s, st, control, duration=1.0, sample_interval=0.005, **more):
    return s.simulate(st, duration, control=control, sample_interval=sample_interval, tolerance=1e-10, **more)


def decayed(t, e, rate, P, D):
    """e'' + D e' + P e = 0 with D = 2 sqrt(P)."""
    w = math.sqrt(P)
    assert pytest.approx(2 * w) == D
    return (e + (rate + w * e) * t) * np.exp(-w * t)


# ---------------------------------------------------------------- limits


def test_efforts_stay_within_limits_and_the_closed_form_holds_afterwards(crank):
    s, st = crank
    law = lw.control.projected(STEP, P=25, D=10, drives=["A", "B"])
    run = gives(s, st, law, 2.0, actuators={"B": lw.control.actuator(limit="8 N m")})
    wanted = s.control(law, st)(st)
    assert wanted["B"] < -13 and run["B.torque"][0] == -8.0 and np.abs(run["B.torque"]).max() <= 8.0
    assert np.abs(run["A.torque"]).max() > 6.0, "A has no limit"
    free = np.flatnonzero(np.abs(run["B.torque"]) >= 8.0)[-1] + 1
    assert 0.05 < run.t[free] < 1.0
    (note,) = [n for n in run.notes if n.startswith("drives at their limits")]
    share = float(re.search(r"by share of the time: 'B' ([\d.]+) %. The reference may not be followed", note)[1])
    assert share / 100.0 == pytest.approx(run.t[free] / 2.0, abs=0.01) and "'A'" not in note  # samples are 10 ms apart at most
    e, rate = run["control.A.error"][free], -run["A.v"][free]
    after = decayed(run.t[free:] - run.t[free], e, rate, 25, 10)
    assert np.abs(run["control.A.error"][free:] - after).max() < 1e-8
    plain = decayed(run.t, math.pi / 6, 0.0, 25, 10)
    assert np.abs(run["control.A.error"] - plain).max() > 1e-3, "it was late"


def test_a_force_integral_does_not_wind_up_at_a_limit(crank):
    """Unlimited, some 40 N m are wanted at A; 19.7 hold the end. While they are cut off the force is wrong by several N for 0.4 s,
    and an integral that went on would let go with an error of I / (1 + F) = 10 times int e: instead that dies away at I / (1 + F)."""
    s, st = crank
    law = lw.control.hybrid(STEP, {"C.ty": -5.0}, P=25, D=10, F=1, I=20, drives=["A", "B"], integral=0.5)
    run = gives(s, st, law, 3.0, actuators=lw.control.actuator(limit="24 N m"))
    cut = np.abs(run["A.torque"]) >= 24.0
    wrong = run["lam.C.ty"] + 5.0
    assert cut[0] and 0.3 < run.t[cut][-1] < 2.0 and not cut[-100:].any()
    assert np.abs(run["control.C.ty.sensed"] - run["lam.C.ty"]).max() < 1e-6, "the sensor feels what acts"
    integral, missed = run["control.C.ty.integral"], float(trapezoid(wrong[cut], run.t[cut]))
    assert (integral[run.t < 0.05] == 0.5).all() and integral[0] - missed < -0.8, "it waits; gone on, it would be there"
    assert np.abs(integral[-1]) < 1e-6 and integral.min() > -1e-6
    wound = 20.0 / 2.0 * missed
    after = np.abs(wrong[run.t > run.t[cut][-1]])
    assert wound > 10.0 and after.max() < 0.25 * wound
    i = np.flatnonzero(run.t > run.t[cut][-1] + 0.05)[0]
    assert wrong[i + 20] / wrong[i] == pytest.approx(math.exp(-10 * 0.1), rel=1e-3) and abs(wrong[-1]) < 1e-4
    sampled = lw.control.hybrid(STEP, {"C.ty": -5.0}, P=25, D=10, F=0.5, I=15, drives=["A", "B"], every="2 ms")
    run = s.simulate(st, 3.0, control=sampled, actuators=lw.control.actuator(limit="28 N m"), tolerance=1e-7, sample_interval=0.01)
    assert abs(run["lam.C.ty"][-1] + 5.0) < 0.01 and np.abs(run["A.torque"]).max() == 28.0


def test_force_feedback_makes_up_for_a_wrong_model(crank):
    """With masses 20 % too large the force is missed; feedback F divides that by 1 + F at once, the integral removes it."""
    s, st = crank
    missed = {}
    for F, I in ((0.0, 0.0), (4.0, 0.0), (4.0, 50.0)):
        law = lw.control.hybrid(
            STEP, {"C.ty": -5.0}, P=25, D=10, F=F, I=I, drives=["A", "B"], model=lw.load("slider-crank-equal", m="1.2 kg")
        )
        run = gives(s, st, law, 1.0, sample_interval=0.01)
        missed[F, I] = run["lam.C.ty"] + 5.0
        assert np.abs(run["control.C.ty.sensed"] - run["lam.C.ty"]).max() < 1e-8
    assert abs(missed[0, 0][0]) > 0.5 and missed[0, 0][0] / missed[4, 0][0] == pytest.approx(5.0, rel=1e-9)
    assert abs(missed[4, 50][-1]) < 0.05 * abs(missed[4, 0][-1])


# ---------------------------------------------------------------- motors

PLATE = {"Kt": "0.3 N m/A", "R": "3 ohm", "gear_ratio": 10}
REAL = {**PLATE, "J": "0.001 kg m^2", "efficiency": 0.85, "friction": "0.05 N m", "viscous": "0.002 N m s/rad"}
SMOOTH = {"A": lw.control.minimum_jerk("60 deg", "0.5 s")}


@pytest.mark.parametrize("plate", [PLATE, REAL], ids=["ideal", "losses and rotor"])
def test_the_voltage_makes_exactly_the_effort(crank, plate):
    """Torque at the joint less what turns the rotor (ratio^2 J a) is that of an ideal drive."""
    s, st = crank
    law = lw.control.projected(SMOOTH, P=100, drives=["A"])
    ideal = gives(s, st, law, 0.5)
    run = gives(s, st, law, 0.5, actuators=lw.control.actuator(motor=lw.drives.dc_motor(**plate)))
    assert np.abs(run["control.A.error"]).max() < 1e-8
    rotor = 100 * 0.001 * run["A.a"] if "J" in plate else 0.0
    assert np.abs(run["A.torque"] - rotor - ideal["A.torque"]).max() < 1e-7
    assert np.ptp(run["motor.A.voltage"]) > 5.0


def test_inductance_leaves_a_bounded_error(crank):
    """The current lags by L / R = 1 ms: efforts are wrong by 1 ms max |u'|, accelerations by that over m_eff (2 kg m^2 at 30 deg, more
    later), and e by that over P. At the start the current is zero: an impulse u L / R is missing, answered by t exp(-10 t) / m_eff."""
    s, st = crank
    law = lw.control.projected(SMOOTH, P=100, drives=["A"])
    ideal = gives(s, st, law, 0.5)
    run = gives(s, st, law, 0.5, actuators=lw.control.actuator(motor=lw.drives.dc_motor(**PLATE, L="3 mH")))
    u = ideal["A.torque"]
    slope = np.abs(np.gradient(u, ideal.t)).max()
    start = abs(u[0]) * 1e-3 / (2.0 * 10.0 * math.e)  # largest at t = 0.1 s
    worst = np.abs(run["control.A.error"]).max()
    assert 1e-6 < worst < 1e-3 * slope / (2.0 * 100.0) + start


def test_a_motor_gives_no_more_than_its_plate(crank):
    s, st = crank
    law = lw.control.projected(STEP, P=25, D=10, drives=["A"])
    run = gives(s, st, law, 2.0, actuators=lw.control.actuator(motor=lw.drives.dc_motor(**PLATE, supply_voltage="24 V")))
    assert run["motor.A.voltage"].max() == pytest.approx(24.0, abs=1e-12) and run["motor.A.voltage"].min() >= -24.0
    assert run["A.torque"][0] == pytest.approx(24.0 / 3.0 * 0.3 * 10) and run["A.torque"][0] < 0.8 * s.control(law, st)(st)["A"]
    assert abs(run["control.A.error"][-1]) < 1e-3
    with refused(UsageError, name="A"):
        gives(s, st, law, actuators=lw.control.actuator(limit="5 N m", motor=lw.drives.dc_motor(**PLATE)))
    with refused(UsageError, name="A"):
        gives(s, st, law, actuators=lw.control.actuator(motor=True))
    with refused(UsageError, name="C.slide"):
        gives(s, st, lw.control.projected(STEP, drives=["C.slide"]), actuators=lw.control.actuator(motor=lw.drives.dc_motor(**REAL)))
    with refused(UsageError, name="B", allowed=("A",)):
        gives(s, st, law, actuators={"B": lw.control.actuator(limit="5 N m")})


# ---------------------------------------------------------------- sampled


def test_sampling_faster_and_faster_is_the_continuous_law(crank):
    """Efforts held for T act T/2 late on average: errors of first order."""
    s, st = crank
    exact = gives(s, st, lw.control.projected(STEP, P=25, D=10, drives=["A"]), 0.4, sample_interval=0.04)
    off = []
    for every in ("4 ms", "2 ms", "1 ms"):
        run = gives(s, st, lw.control.projected(STEP, P=25, D=10, drives=["A"], every=every), 0.4, sample_interval=0.04)
        off.append(np.abs(run["A"] - exact["A"]).max())
    assert 1e-5 < off[2] < 1e-3
    assert off[0] / off[1] == pytest.approx(2.0, abs=0.15) and off[1] / off[2] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("late", [0, 3])
def test_a_delay_acts_on_what_was_measured_samples_ago(crank, late):
    """What acts between two samples is the law at the state some samples before, told by the controller called alone."""
    s, st = crank
    law = lw.control.projected({"A": lw.control.minimum_jerk("60 deg", "0.1 s")}, P=400, drives=["A", "B"], every="2 ms")
    run = gives(s, st, law, 0.1, sample_interval=0.001, delay=f"{2 * late} ms")
    alone = s.control(law, st)
    said = [alone(run.state(2 * k)) for k in range(50)]
    for name in ("A", "B"):
        acted = run[f"{name}.torque"][1::2]  # in the middle between two samples
        assert (acted[:late] == 0.0).all(), "nothing has arrived yet"
        # 1e-6: states between steps are interpolated
        assert np.abs(acted[late:] - [x[name] for x in said][: 50 - late]).max() < 1e-6
    assert np.abs(run["control.A.error"]).max() > 1e-6


def test_delay_and_noise_belong_to_samples(crank):
    s, st = crank
    law, sampled = lw.control.projected(STEP, drives=["A"]), lw.control.projected(STEP, drives=["A"], every="2 ms")
    with refused(UsageError, name="delay"):
        gives(s, st, sampled, delay="3 ms")
    with refused(UsageError, name="delay"):
        gives(s, st, law, delay="2 ms")
    with refused(UsageError, name="noise"):
        gives(s, st, law, noise=lw.control.noise(angle="1 deg"))
    with refused(UsageError, name="delay", value="-2 ms"):
        gives(s, st, sampled, delay="-2 ms")


def test_noise_is_repeatable_and_as_loud_as_said():
    """At rest without gravity efforts are m_eff (P d + D d'), m_eff = 3 - 2 cos 120 deg = 4 kg m^2."""
    s = lw.load("slider-crank-equal", g=0).system
    st = s.assemble({"A": "60 deg"})
    law = lw.control.projected(STEP, P=100, D=20, drives=["A"], every="1 ms")

    def run(seed, **sizes):
        return s.simulate(st, 0.5, control=law, noise=lw.control.noise(**sizes, seed=seed), sample_interval=0.001, tolerance=1e-7)[
            "A.torque"
        ]

    sizes = {"angle": 1e-4, "angular_speed": 4e-4}
    once = run(1, **sizes)
    assert np.array_equal(once, run(1, **sizes)) and np.abs(once - run(2, **sizes)).max() > 0.01
    # 500 normal deviates: their RMS is known to 1 / sqrt(1000) = 3 %; the loop itself adds a few percent
    for kind, size, gain in (("angle", 1e-4, 100.0), ("angular_speed", 4e-4, 20.0)):
        assert np.std(run(3, **{kind: size})) == pytest.approx(4.0 * gain * size, rel=0.12)
    assert np.std(once) == pytest.approx(4.0 * math.hypot(100.0 * 1e-4, 20.0 * 4e-4), rel=0.12)


# ---------------------------------------------------------------- other drives, cylinders, cut joints, parameters


@pytest.fixture(scope="module")
def five():
    return lw.load("five-bar").system


def test_beside_a_prescribed_motion(five):
    """A moves as told, the controller has the rest: its model knows the motion, speeds and accelerations included."""
    st = five.start
    a, e = float(st["A"]), float(st["E"])
    told = {"A": lw.drives.position(f"{a} rad + 0.2 rad*(1 - cos(3 rad/s*t))")}
    law = lw.control.projected({"E": lw.control.minimum_jerk(e + 0.3, "0.5 s")}, P=100, drives=["E"])
    run = five.simulate(st, 0.6, drive=told, control=law, sample_interval=0.02)
    assert np.abs(run["control.E.error"]).max() < 1e-7
    assert np.abs(run["A"] - a - 0.2 * (1 - np.cos(3 * run.t))).max() < 1e-12 and np.ptp(run["A"]) > 0.2
    shared = lw.control.projected({"E": lw.control.minimum_jerk(e + 0.3, "0.5 s")}, P=100, drives=["E", "D"])
    both = five.simulate(st, 0.6, drive=told, control=shared, sample_interval=0.02)
    assert np.abs(both["control.E.error"]).max() < 1e-7 and np.abs(both["E"] - run["E"]).max() < 1e-8
    less = np.sum(both["E.torque"] ** 2 + both["D.torque"] ** 2)
    assert less < 0.99 * np.sum(run["E.torque"] ** 2), "two motors on one freedom share the work"
    with refused(UsageError, name="projected"):
        five.simulate(st, 0.1, drive=told, control=lw.control.projected({"E": 0, "B": 0}, drives=["E", "D"]))
    with refused(UsageError, name="A"):
        five.simulate(st, 0.1, drive=told, control=lw.control.projected({"A": 0, "E": 0}, drives=["A", "E"]))


def test_a_joint_is_locked_while_others_are_followed(five):
    """With the passive joint D locked only one freedom is left: what two coordinates want contradicts itself, efforts stay finite
    and the run says so; unlocked, the motion is followed again."""
    st = five.start
    law = lw.control.projected({"A": float(st["A"]), "E": lw.control.minimum_jerk(float(st["E"]) + 0.3, "0.5 s")}, P=400)
    events = [lw.events.when("t", 0.2, do=lw.events.lock("D")), lw.events.when("t", 0.3, do=lw.events.unlock("D"))]
    run = five.simulate(st, 1.0, control=law, events=events, sample_interval=0.01)
    held = (run.t > 0.21) & (run.t < 0.3)
    assert np.ptp(run["D"][held]) < 1e-9 and any("lose control authority" in n for n in run.notes)
    wrong = np.abs(run["control.E.error"])
    assert wrong[run.t < 0.2].max() < 1e-7 < 1e-3 < wrong.max() and wrong[-1] < 1e-4
    free = five.simulate(st, 1.0, control=law, sample_interval=0.01)
    assert np.abs(run["E.torque"]).max() < 50 * np.abs(free["E.torque"]).max()


BOOM = {
    "name": "boom", "plane": "xy", "gravity": [0, -9.81],
    "drawing": {"O": [0, 0], "F": [0.5, -0.8], "Q": [1.0, 0.25]},
    "bodies": {"ground": {"pins": ["O"], "points": ["F"]},
               "boom": {"pins": ["O"], "points": ["Q"], "mass": 10, "com": "Q", "inertia": 1}},
    "cylinders": {"lift": {"between": ["ground.F", "boom.Q"]}},
}  # fmt: skip


def test_a_cylinder_lifts_a_boom():
    """By virtual work F dL = m g dy: what the cylinder gives at rest, at both ends of the way."""
    s = lw.load(BOOM).system
    law = lw.control.projected({"O": lw.control.minimum_jerk("30 deg", "0.5 s")}, P=100, drives=["lift"])
    run = s.simulate(s.start, 0.5, control=law, sample_interval=0.05)
    assert np.abs(run["control.O.error"]).max() < 1e-8
    for i in (0, -1):
        x, y = run["boom.Q"][i][:2]
        lever = np.array([x - 0.5, y + 0.8]) @ np.array([-y, x]) / math.hypot(x - 0.5, y + 0.8)
        assert run["lift.force"][i] == pytest.approx(10 * 9.81 * x / lever, rel=1e-6)
    own = lw.control.projected({"lift": lw.control.minimum_jerk("1.3 m", "0.5 s")}, P=100, drives=["lift"])
    run = s.simulate(s.start, 0.5, control=own, sample_interval=0.05)
    assert np.abs(run["control.lift.error"]).max() < 1e-8 and run["lift"][-1] == pytest.approx(1.3, abs=1e-8)


def test_three_cylinders_move_a_bucket():
    s = lw.load("excavator").system
    aim = s.point(s.start, "bucket.T")[:2] + np.array([0.3, 0.4])
    pose = {"bucket.T": lw.control.minimum_jerk(list(aim), "1 s"), "bucket.angle": lw.control.minimum_jerk("10 deg", "1 s")}
    run = s.simulate(s.start, 1.0, control=lw.control.projected(pose, P=100), sample_interval=0.05, tolerance=1e-8)
    assert max(np.abs(run[f"control.{x}.error"]).max() for x in ("bucket.T.x", "bucket.T.y", "bucket.angle")) < 1e-6
    assert run["bucket.T"][-1][:2] == pytest.approx(aim, abs=1e-6)


def test_drives_in_a_cut_joint_push_as_they_would_in_the_tree(crank):
    """The slider's own drive: F v = tau A' at equal powers, against a drive at A on the same motion."""
    s, st = crank
    motion = {"A": lw.control.minimum_jerk("50 deg", "0.5 s")}
    runs = {
        d: gives(s, st, lw.control.projected(motion, P=100, drives=[d]), 0.5, sample_interval=0.05) for d in ("A", "C.slide", "C.angle")
    }
    assert s.tree.cuts == ("C",)
    for name, run in runs.items():
        assert np.abs(run["control.A.error"]).max() < 1e-8
        assert run[f"{name}.power"] == pytest.approx(runs["A"]["A.power"], abs=1e-6)
    slope = -2.0 * np.sin(runs["A"]["A"])  # the slider is at 2 cos A
    assert runs["C.slide"]["C.slide.force"] * slope == pytest.approx(runs["A"]["A.torque"], abs=1e-6)


def test_free_parameters_and_the_python_engine(crank):
    """Twice the mass: twice the efforts, the same motion; the interpreter gives what compiled code gives."""
    s, st = crank
    law = lw.control.projected(STEP, P=25, D=10, drives=["A", "B"])
    plain = gives(s, st, law, 0.3, sample_interval=0.05)
    f = lw.compile("slider-crank-equal", parameters=["m"])
    heavy = gives(f, f.assemble({"A": "30 deg"}), law, 0.3, sample_interval=0.05, parameters={"m": 2.0})
    slow = gives(s, st, law, 0.3, sample_interval=0.05, engine="python")
    for name in ("A", "B"):
        assert heavy[f"{name}.torque"] == pytest.approx(2.0 * plain[f"{name}.torque"], rel=1e-9)
        assert slow[f"{name}.torque"] == pytest.approx(plain[f"{name}.torque"], rel=1e-11)
    assert heavy["A"] == pytest.approx(plain["A"], abs=1e-10)
    # a controller that goes on believing in 1 kg is wrong by the other one
    wrong = lw.control.projected(STEP, P=25, D=10, drives=["A", "B"], model=lw.load("slider-crank-equal"))
    off = gives(f, f.assemble({"A": "30 deg"}), wrong, 0.3, sample_interval=0.05, parameters={"m": 2.0})
    assert np.abs(off["control.A.error"] - plain["control.A.error"]).max() > 0.01


@sweep("every", [None, "1 ms"], now=1)
def test_where_a_limit_binds_the_motion_is_kept_and_the_force_yields(every):
    """At 30 deg the force takes 34 N m of A, at 60 deg 19.715 N m (without a limit). With 21 N m the force is short on the way and
    comes back; with 18 N m as much is missing in the end as the crank's arm 2 l cos 60 deg = 1 m makes of the torque that is missing.
    The crank follows all the while (sampled: as well as it does without a limit), and no integral drives it off."""
    s = lw.load("slider-crank-equal").system
    st, motion = s.assemble(q={"A": "30 deg"}), {"A": lw.control.minimum_jerk("60 deg", "1 s")}
    law = lw.control.hybrid(motion, {"C.ty": "-5 N"}, P=25, D=10, F=0.5, I=20, drives=["A", "B"], every=every)
    free = s.simulate(st, 2, control=law, sample_interval=0.01)
    follows = 1e-8 + 1.1 * np.abs(free["control.A.error"]).max()
    for limit, missing in ((21.0, 0.0), (18.0, 19.715 - 18.0)):
        run = s.simulate(st, 2, control=law, actuators=lw.control.actuator(limit=limit), sample_interval=0.01)
        assert np.abs(run["A.torque"]).max() == limit
        assert np.abs(run["control.A.error"]).max() < follows < 3e-4
        error = run["control.C.ty.error"]
        assert error.min() < -3.0 and error[-1] == pytest.approx(-missing, abs=2e-4)  # sampled, the crank still creeps
        assert np.abs(run["control.C.ty.integral"]).max() < 0.05  # a second of being 5 N short would make it many times that

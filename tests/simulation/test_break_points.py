"""Break points of loads, stops, laws and drives: steps end on them, so errors fall with the tolerance. Against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.numerics.scalars import where
from linkwright.simulation.run_batch import run_batch
from tests.sweeps import sweep

MASS, STIFF, GAP, SPEED = 2.0, 450.0, 0.05, 1.0
PERIOD = 4 * GAP / SPEED + 2 * math.pi * math.sqrt(MASS / STIFF)  # through the gap twice, then half a sine on either side

CART = {
    "name": "cart", "plane": "xy", "drawing": {"C": [0, 0], "D": [1, 0]}, "gravity": [0, 0],
    "bodies": {"ground": {"points": ["D"]}, "cart": {"points": ["C"], "mass": MASS, "inertia": 0.0}},
    "joints": {"X": {"type": "prismatic", "between": ["ground", "cart"], "at": "C", "axis": [1, 0]}},
}  # fmt: skip
SPRING = f"{STIFF} N/m"
PLAY = {  # a spring with free play, written in four ways
    "min and max": {"loads": {"s": {"on": "cart.C", "force": [f"-{SPRING}*(max(X - {GAP} m, 0 m) + min(X + {GAP} m, 0 m))", 0]}}},
    "abs": {"loads": {"s": {"on": "cart.C", "force": [f"-{SPRING}/2*(2*X + abs(X - {GAP} m) - abs(X + {GAP} m))", 0]}}},
    "table": {
        "loads": {
            "s": {
                "on": "cart.C",
                "force": [
                    {
                        "over": "X",
                        "table": [[-1, STIFF * (1 - GAP)], [-GAP, 0], [GAP, 0], [1, -STIFF * (1 - GAP)]],
                        "interpolation": "linear",
                    },
                    0,
                ],
            }
        }
    },
    "stops": {"stops": {"X": {"range": [-GAP, GAP], "stiffness": SPRING}}},
}


def cart(**more):
    return lw.compile(lw.load(CART | more))


def launched(s, speed=SPEED):
    return s.assemble({"X": 0.0}, {"X": speed})


@pytest.mark.parametrize("way", PLAY)
@pytest.mark.parametrize("engine", ["native", "python"])
def test_free_play_has_its_exact_period(way, engine):
    """Three periods later the cart is where it was. 1e-10 a step, 12 break points: errors of some 1e-10 remain."""
    s = cart(**PLAY[way])
    run = s.simulate(launched(s), 3 * PERIOD, tolerance=1e-10, engine=engine, sample_interval=[0.0, 3 * PERIOD])
    assert abs(run["X"][-1]) < 3e-9 and abs(run["X.v"][-1] - SPEED) < 3e-9
    counters = run.proof.sim.pieces[0].solution.counters
    assert 12 <= counters["break points"] <= 24  # 12 crossings; where a stop also lets go, its speed passes zero as well
    assert counters["steps"] < 150


@pytest.mark.parametrize("integrator", ["dopri", "rodas"])
def test_errors_fall_with_the_tolerance(integrator):
    """Error at most 100 times the tolerance, over five decades (four for rodas, whose order is 4). Without break points they
    wander between 1e-5 and 1e-8, and no tolerance mends that."""
    s = cart(**PLAY["table"])
    end = 5.3 * PERIOD
    errors = []
    for tolerance in (1e-6, 1e-8, 1e-10) + ((1e-12,) if integrator == "dopri" else ()):
        run = s.simulate(launched(s), end, tolerance=tolerance, integrator=integrator, sample_interval=[0.0, end])
        errors.append(abs(run["X"][-1] - exact(end)))
        assert errors[-1] < 100 * tolerance
    assert errors[-1] < 1e-3 * errors[0]


def exact(t):
    """Position in the spring with free play, from 0 with SPEED."""
    w, free = math.sqrt(STIFF / MASS), GAP / SPEED
    t %= PERIOD
    back = 1.0
    if t > PERIOD / 2:
        t, back = t - PERIOD / 2, -1.0
    if t < free:
        return back * SPEED * t
    if t < free + math.pi / w:
        return back * (GAP + SPEED / w * math.sin(w * (t - free)))
    return back * (GAP - SPEED * (t - free - math.pi / w))


def test_fixed_steps_are_split_at_break_points():
    """rk4 has order 4 on a load with corners: half the step, a sixteenth of the error; without, it has order 2 at best."""
    s = cart(**PLAY["min and max"])
    end = 2.3 * PERIOD
    errors = [
        abs(s.simulate(launched(s), end, integrator="rk4", step=h, sample_interval=[0.0, end])["X"][-1] - exact(end))
        for h in (4e-3, 2e-3, 1e-3)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders.min() > 3.5 and errors[-1] < 1e-9


def test_a_grid_of_fixed_steps_goes_on_after_a_break_point():
    s = cart(**PLAY["min and max"])
    run = s.simulate(launched(s), 0.48, integrator="rk4", step=0.012, sample_interval="steps")
    grid = run.t[np.abs(run.t / 0.012 - np.round(run.t / 0.012)) < 1e-9]
    np.testing.assert_allclose(grid, 0.012 * np.arange(41), atol=1e-15)
    assert len(run.t) == 41 + 3  # break points at 0.05, 0.26, 0.36


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize("form", ["points", "many points", "formula", "function"])
def test_a_short_pulse_over_time_is_never_stepped_over(form, engine):
    """A triangle of 1 ms in 10 s: it adds F T / 2 m to the speed, and that times the rest of the time to the position."""
    top, width, middle, end = 400.0, 1e-3, 6.0, 10.0
    many = np.union1d(np.linspace(0.0, end, 1001), middle + width * np.array([-0.5, 0.0, 0.5]))  # more than are compiled: called back
    drives = {
        "many points": (many.tolist(), np.where(many == middle, top, 0.0).tolist(), "linear"),
        "points": ([0.0, middle - width / 2, middle, middle + width / 2, end], [0.0, 0.0, top, 0.0, 0.0], "linear"),
        "formula": f"max({top} N*(1 - abs(t - {middle} s)/{width / 2} s), 0 N)",
        "function": lambda t: where(abs(t - middle) < width / 2, top * (1.0 - abs(t - middle) / (width / 2)), 0.0),
    }
    s = cart()
    run = s.simulate(s.start, end, drive={"X": lw.drives.torque(drives[form])}, engine=engine, sample_interval=[0.0, end])
    speed = 0.5 * top * width / MASS
    assert run["X.v"][-1] == pytest.approx(speed, rel=1e-10)
    assert run["X"][-1] == pytest.approx(speed * (end - middle), rel=1e-10)


HOW = [{"tolerance": 1e-9}, {"integrator": "rodas"}, {"integrator": "rk4", "step": 0.037}]


@sweep("how", HOW, now=["{'integrator': 'rk4', 'step': 0.037}"], ids=str)
def test_steps_end_on_corners_of_curves_that_are_called_back(how):
    """A periodic force of 500 points in a second, one pulse of 6 ms in it: two 3-4-5 flanks and a rest, in all 4 ms of its height."""
    at = np.arange(501) / 500
    s, push = cart(), (at.tolist(), np.where((at == 0.4) | (at == 0.402), 500.0, 0.0).tolist(), "periodic")
    run = s.simulate(s.start, 2.5, drive={"X": lw.drives.torque(push)}, sample_interval=[0.0, 2.5], **how)
    gained, exact = 500.0 * 4e-3 / MASS, 1e-2 if "step" in how else 1e-9  # of rk4: one step for a whole flank
    assert run["X.v"][-1] == pytest.approx(3 * gained, rel=exact)
    assert run["X"][-1] == pytest.approx(gained * (2.099 + 1.099 + 0.099), rel=exact)  # from the middle of each pulse on
    assert run.certificate.break_points == 3 * 4 + 2 and "called back" in run.certificate.inputs  # corners, and seams at 1 s and 2 s


def test_a_batch_ends_steps_on_the_same_corners():
    at = np.linspace(0.0, 1.0, 501)
    s, push = cart(), (at.tolist(), np.where(abs(at - 0.5) < 1e-9, 500.0, 0.0).tolist(), "linear")
    batch = run_batch(
        compiled_of(s), [launched(s, 0.0), launched(s, 1.0)], 1.0, drive={"X": lw.drives.torque(push)}, sample_interval=[0.0, 1.0]
    )
    np.testing.assert_allclose(batch["X.v"][:, -1], np.array([0.0, 1.0]) + 500.0 * 0.002 / MASS, rtol=1e-12)


def test_a_jump_over_time_is_met_exactly():
    """A force that is switched on and off: the speed is F/m times the time it was on, to round-off; no step sees the jump."""
    s = cart()
    push = lw.drives.torque(lambda t: where((t - 0.3) * (0.7 - t) > 0.0, 50.0, 0.0))
    run = s.simulate(s.start, 1.0, drive={"X": push}, tolerance=1e-6, sample_interval=[0.0, 1.0])
    assert run["X.v"][-1] == pytest.approx(50.0 * 0.4 / MASS, rel=1e-12)
    assert run.proof.sim.pieces[0].solution.counters["rejected"] <= 4


def test_work_of_a_motion_with_jumps_in_its_acceleration():
    """Trapezoidal speed, 0.9 m in 0.9 s: 1.5 m/s between thirds. Work in is the kinetic energy at every instant."""
    moves = [{"to": 0.9, "in": 0.9, "law": "trapezoidal"}, {"dwell": 0.3}]
    run = lw.load(CART | {"drive": {"X": {"moves": moves}}}).simulate(duration=1.2, tolerance=1e-6)
    kinetic = 0.5 * MASS * run["X.v"] ** 2
    assert kinetic.max() == pytest.approx(0.5 * MASS * 1.5**2, rel=1e-12)
    np.testing.assert_allclose(run["work.in"], kinetic, atol=1e-11)


def test_dry_friction_that_sticks_still_comes_to_rest():
    """Coulomb friction by a sign: both sides lead to v = 0, no step can leave it; the run must end, near where the cart stops."""
    s = cart()
    stick = lw.drives.torque(lambda t, st: where(st["X.v"] > 0.0, -10.0, 10.0))
    run = s.simulate(launched(s), 0.21, drive={"X": stick}, tolerance=1e-6, sample_interval=[0.0, 0.2, 0.21])
    assert run["X"][-1] == pytest.approx(0.5 * MASS * SPEED**2 / 10.0, abs=1e-6)  # v^2 m / 2 F
    assert abs(run["X.v"][-1]) < 1e-4


@pytest.mark.parametrize("as_load", [True, False])
def test_a_law_without_a_value_beyond_its_end(as_load):
    """The root of what is left: the formula ends where its argument does, and the run passes."""
    s = cart(loads={"s": {"on": "cart.C", "force": ["5 N*sqrt(max(1 - X/(0.2 m), 0))", 0]}} if as_load else {})
    spring = {"X": lw.drives.torque(lambda t, st: where(st["X"] < 0.2, 5.0 * np.sqrt(1.0 - st["X"] / 0.2), 0.0))}
    run = s.simulate(launched(s, 0.1), 1.0, drive={} if as_load else spring, tolerance=1e-8, sample_interval=[0.0, 1.0])
    energy = 0.5 * MASS * 0.1**2 + 5.0 * 0.2 * 2.0 / 3.0  # all that the force can do
    assert run["X.v"][-1] == pytest.approx(math.sqrt(2.0 * energy / MASS), rel=1e-6)  # a root is not smooth at its end


def test_two_crossings_in_one_step_are_both_found():
    """A fast flyer passes a narrow field of force: 2 mm at 50 m/s, entered and left within one long step."""
    spike = {"over": "X", "table": [[0.999, 0], [1.0, 2e6], [1.001, 0]], "interpolation": "linear"}
    s = cart(loads={"s": {"on": "cart.C", "force": [spike, 0]}})
    run = s.simulate(launched(s, 50.0), 1.0, sample_interval=[0.0, 1.0], largest_step=0.05)
    gained = 2e6 * 1e-3
    assert run["X.v"][-1] == pytest.approx(math.sqrt(50.0**2 + 2 * gained / MASS), rel=1e-9)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_square_wave_over_time_is_followed(engine):
    """Between its jumps the force is constant and any step is exact: steps must not grow beyond the wave. 40 periods."""
    s = cart()
    w = 2 * math.pi * 10.0
    wave = lw.drives.torque(lambda t: where(np.sin(w * t + 0.3) > 0.0, 30.0, 0.0))
    run = s.simulate(s.start, 4.0, drive={"X": wave}, tolerance=1e-6, engine=engine, sample_interval=[0.0, 4.0])
    assert run["X.v"][-1] == pytest.approx(0.5 * 30.0 / MASS * 4.0, rel=1e-9)  # half of the time, over whole periods
    assert run.proof.sim.pieces[0].solution.counters["break points"] == 80


def test_a_wave_over_a_coordinate_is_followed():
    """Teeth of 10 mm, F forth and nothing back: the energy gained is F times half the way."""
    s = cart(loads={"s": {"on": "cart.C", "force": ["6 N*max(sin(628.318530717958647 rad/m*X), 0)", 0]}})
    run = s.simulate(launched(s, 2.0), 1.0, tolerance=1e-9, sample_interval=[0.0, 1.0])
    teeth = math.floor(run["X"][-1] / 0.01)
    full = 6.0 / math.pi * 0.01  # work of one tooth: the mean of half a sine over a period is 1/pi
    part = 6.0 / (2 * math.pi / 0.01) * (1.0 - math.cos(2 * math.pi * min(run["X"][-1] / 0.01 - teeth, 0.5)))
    assert 0.5 * MASS * (run["X.v"][-1] ** 2 - 4.0) == pytest.approx(teeth * full + part, rel=1e-7)


def test_a_periodic_table_is_followed_over_its_seams():
    """A load that repeats every 0.2 m, whose work over a period is that of the curve: the energy gained is so many periods' work."""
    table = [[0, 0], [0.05, 30], [0.1, 10], [0.2, 0]]
    s = cart(loads={"s": {"on": "cart.C", "force": [{"over": "X", "table": table, "interpolation": "periodic"}, 0]}})
    errors = []
    for tolerance in (1e-6, 1e-8, 1e-10):
        stop = [lw.events.when("X", 1.8, do="stop")]  # nine periods
        run = s.simulate(launched(s, 1.0), 3.0, tolerance=tolerance, events=stop, sample_interval=0.5)
        gained = 0.5 * MASS * (run["X.v"][-1] ** 2 - 1.0)
        fine = np.linspace(0.0, 0.2, 4001)
        work = trapezoid([through_table(x) for x in fine], fine)
        errors.append(abs(gained - 9 * work) / gained)
        assert run["X"][-1] == pytest.approx(1.8, abs=1e-9), "an event that falls on a seam is not lost"
        assert 9 * 3 - 2 <= run.certificate.break_points <= 9 * 3 + 2  # two points and a seam in every period
    assert errors[-1] < 1e-6  # of the sum of the reference: (h/L)^2 of 4000 intervals
    best = s.simulate(launched(s, 1.0), 1.0, tolerance=1e-14, sample_interval=[1.0]).q[-1]
    for tolerance in (1e-6, 1e-8, 1e-10):
        run = s.simulate(launched(s, 1.0), 1.0, tolerance=tolerance, sample_interval=[1.0])
        assert np.abs(run.q[-1] - best).max() < 20 * tolerance


def through_table(x):
    """The curve of the table above, as the model file means it."""
    from linkwright.model.curves.tables import table

    return float(table((0.0, 0.05, 0.1, 0.2), (0.0, 30.0, 10.0, 0.0), "periodic").value(x))


def test_knots_of_a_coupling_table_are_break_points():
    """A lever drives another by a table: the third derivative jumps at its points. Errors fall with the tolerance."""
    levers = {
        "name": "levers", "plane": "xy", "units": ["deg"], "gravity": [0, -9.81],
        "drawing": {"A": [0, 0], "P": [1, 0], "B": [3, 0], "Q": [4, 0]},
        "bodies": {
            "ground": {"pins": ["A", "B"]},
            "a": {"pins": ["A"], "points": ["P"], "along": {"A": 0, "P": 1}, "mass": 1, "com": "P"},
            "b": {"pins": ["B"], "points": ["Q"], "along": {"B": 0, "Q": 1}, "mass": 2, "com": "Q"},
        },
        "couplings": {"c": {"from": "A", "to": "B", "table": [[-200, -30], [-90, -20], [-45, -5], [0, 0], [40, 20], [90, 25]]}},
    }  # fmt: skip
    s = lw.compile(lw.load(levers))
    best = s.simulate(s.start, 1.0, tolerance=1e-14, sample_interval=[1.0]).q[-1]
    for tolerance in (1e-6, 1e-9, 1e-12):
        run = s.simulate(s.start, 1.0, tolerance=tolerance, sample_interval=[1.0])
        assert run.certificate.break_points >= 2 and np.abs(run.q[-1] - best).max() < 100 * tolerance + 2e-13

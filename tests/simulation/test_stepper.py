"""Fixed steps under efforts given from step to step: as `simulate` does them, alone or many at once, each environment by itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.integrators import INTEGRATORS, Method
from linkwright.integrators.problem import table
from tests.refusals import refused
from tests.sweeps import sweep

MODELS = ("five-bar", "3-rrr", "stewart", "delta")
WOUND = {
    "name": "wound", "plane": "xy", "gravity": 0,
    "drawing": {"A": [0, 0], "B": [0.1, 0], "C": [0.3, 0.25], "D": [0.35, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"], "mass": 1, "inertia": 0.05},
        "coupler": {"pins": ["B", "C"], "mass": 0.5}, "rocker": {"pins": ["D", "C"], "mass": 0.5},
    },
    "springs": {"coil": {"joint": "A", "stiffness": 0.02, "free_position": 0}},
    "loads": {"pull": {"on": "rocker", "moment": "0.5 N m * sin(9 rad/s * t)"}},
    "drive": {"A": 0}, "start": {"A.v": 30},
}  # fmt: skip


def moving(s, count, seed=0):
    """States of a short fall, slower and faster, as rows of q and v."""
    run = s.simulate(s.start, 0.3, sample_interval=0.3 / count)
    share = np.random.default_rng(seed).uniform(-1.0, 1.0, count)[:, None]
    return run.q[:count].copy(), run.v[:count] * share


def pushed(s, n, seed=1):
    """Some torques at the drives."""
    tau = np.zeros((n, len(s.names.v)))
    at = [s.names.v.index(d) for d in compiled_of(s).drive_names]
    tau[:, at] = np.random.default_rng(seed).normal(size=(n, len(at)))
    return tau


# ---------------------------------------------------------------- one state


@sweep("name", MODELS, now=["five-bar", "3-rrr"])
def test_steps_are_those_of_simulate(name):
    """Both do the same stages; only the last digits of the projection differ."""
    s = lw.compile(name)
    core = compiled_of(s)
    slides = {d: core.assembler.coordinate(d)[0].type == "prismatic" for d in core.drive_names}
    push = {d: (lw.drives.force if slides[d] else lw.drives.torque)(0.2 * k + 0.1) for k, d in enumerate(core.drive_names)}
    run = s.simulate(s.start, 0.1, drive=push, integrator="rk4", step=2e-3, sample_interval=0.1)
    st, tau = s.start, {d: 0.2 * k + 0.1 for k, d in enumerate(compiled_of(s).drive_names)}
    for _ in range(10):
        st = s.step(st, tau, 0.01, substeps=5)
    assert st.t == pytest.approx(0.1, abs=1e-15)
    assert np.abs(st.q - run.q[-1]).max() < 1e-10
    assert np.abs(st.v - run.v[-1]).max() < 1e-9 * max(1.0, np.abs(st.v).max())
    end = run.state(-1)
    assert {k: np.round(np.atleast_1d(x), 8).tolist() for k, x in st.references.items() if k in s.tree.cuts} == {
        k: np.round(np.atleast_1d(x), 8).tolist() for k, x in end.references.items() if k in s.tree.cuts
    }


def test_arrays_and_states_take_the_same_step():
    s = lw.compile("five-bar")
    tau = np.array([0.3, 0.0, -0.2, 0.0])
    st = s.step(s.step(s.start, tau), tau)
    q, v = s.step(s.step((s.start.q, s.start.v), tau), list(tau))
    np.testing.assert_array_equal(q, st.q)
    np.testing.assert_array_equal(v, st.v)
    *_, t = s.step((s.start.q, s.start.v, 2.0), tau, "1 ms")
    assert t == 2.001


@sweep(("integrator", "order"), [("midpoint", 2), ("heun", 2), ("rk4", 4)], now=2)
def test_error_falls_with_the_order(integrator, order):
    """Against a run at tolerance 1e-13."""
    heun = Method("heun", "order 2", table(({0: 1.0},), (0.0, 1.0), {0: 0.5, 1: 0.5}), order=2, dense_order=2)
    s = lw.compile("five-bar")
    exact = s.simulate(s.start, 0.2, tolerance=1e-13, sample_interval=0.2).q[-1]
    errors = []
    for steps in (20, 40):
        env = s.stepper(1, dt=0.2, substeps=steps, integrator=heun if integrator == "heun" else integrator)
        env.step()
        errors.append(np.abs(env.q[0] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)
    assert errors[1] < (2e-6 if order == 4 else 0.1)


def test_a_table_is_an_integrator_too():
    s = lw.compile("five-bar")
    by_name, by_table, by_method = (s.step(s.start, integrator=x) for x in ("rk4", INTEGRATORS["rk4"].table, INTEGRATORS["rk4"]))
    np.testing.assert_array_equal(by_name.q, by_table.q)
    np.testing.assert_array_equal(by_name.v, by_method.v)


def test_energy_stays_and_loops_stay_closed():
    s = lw.compile("five-bar")
    env = s.stepper(1, dt=0.5, substeps=500)
    before = env.state(0)["energy.total"]
    env.step()
    after = env.state(0)
    assert after["energy.kinetic"] > 1e-3
    assert abs(after["energy.total"] - before) < 1e-9 * abs(before)  # the error of rk4
    assert np.abs(s.closure(env.state(0)).phi).max() < 1e-13


# ---------------------------------------------------------------- many


@pytest.mark.parametrize("integrator", ["rk4", "midpoint"])
@sweep("name", MODELS, now=["five-bar"])
def test_lanes_are_single_runs_bit_by_bit(name, integrator):
    s = lw.compile(name)
    n = 13
    (q, v), tau = moving(s, n), pushed(s, n)
    env = s.stepper(n, dt=2e-3, substeps=2, integrator=integrator)
    env.reset(None, q, v)
    for _ in range(6):
        env.step(tau)
    assert env.ok.all()
    for k in range(n):
        one = q[k], v[k]
        for _ in range(6):
            one = s.step(one, tau[k], 2e-3, substeps=2, integrator=integrator)
        np.testing.assert_array_equal(env.q[k], one[0])
        np.testing.assert_array_equal(env.v[k], one[1])


def test_threads_change_nothing():
    s = lw.compile("3-rrr")
    n = 83
    (q, v), tau = moving(s, n), pushed(s, n)
    ends = []
    for threads, pace in ((1, 0.0), (2, 1e9)):
        env = s.stepper(n, threads=threads)
        env.reset(None, q, v)
        env.environments._pace = pace  # worth several threads, however short
        for _ in range(5):
            env.step(tau)
        ends.append((env.q.copy(), env.v.copy()))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


@sweep("n", [13, 3], now=1)
def test_a_rollout_is_step_after_step(n):
    """One environment is masked, one fails on the way and repeats its last good state."""
    s = lw.compile("five-bar")
    q, v = moving(s, n)
    tau = np.array([pushed(s, n, seed) for seed in range(6)]).transpose(1, 0, 2)
    tau[2, 3] = 1e9
    rolled, stepped = s.stepper(n, substeps=2), s.stepper(n, substeps=2)
    mask = np.arange(n) != 1
    for env in (rolled, stepped):
        env.reset(None, q, v)
    Q, V = rolled.rollout(tau, mask=mask)
    assert Q.shape == (n, 6, 4) and V.shape == (n, 6, 4)
    for k in range(6):
        stepped.step(np.ascontiguousarray(tau[:, k]), mask=mask)
        np.testing.assert_array_equal(Q[:, k], stepped.q)
        np.testing.assert_array_equal(V[:, k], stepped.v)
    assert rolled.status.tolist() == stepped.status.tolist() and rolled.why == stepped.why and not rolled.ok[2]
    assert (Q[1] == q[1]).all() and (rolled.t == stepped.t).all()
    again, _ = rolled.rollout(np.zeros((0, 4)))
    assert again.shape == (n, 0, 4)


def test_efforts_by_name_for_all_or_each():
    s = lw.compile("five-bar")
    a, b, c = (s.stepper(9) for _ in range(3))
    each = np.linspace(-1.0, 1.0, 9)
    tau = np.zeros((9, 4))
    tau[:, s.names.v.index("A")], tau[:, s.names.v.index("E")] = each, 0.5
    a.step(tau)
    b.step({"A": each, "E": "0.5 N m"})
    np.testing.assert_array_equal(a.v, b.v)
    c.step(tau[2])
    np.testing.assert_array_equal(c.v[5], a.v[2])
    stewart = lw.compile("stewart").stepper(7)
    stewart.step({"leg1": 10.0, "U2": [0.1, 0.2]})
    assert stewart.ok.all()


def test_masked_environments_wait():
    s = lw.compile("five-bar")
    env, all_of_them = s.stepper(11), s.stepper(11)
    mask = np.arange(11) % 3 == 0
    q, v = moving(s, 11)
    env.reset(None, q, v)
    all_of_them.reset(None, q, v)
    env.step(mask=mask)
    all_of_them.step()
    np.testing.assert_array_equal(env.q[mask], all_of_them.q[mask])
    np.testing.assert_array_equal(env.q[~mask], q[~mask])
    assert (env.t == np.where(mask, 1e-3, 0.0)).all()
    env.step(mask=~mask)
    np.testing.assert_array_equal(env.v, all_of_them.v)


def test_reset_by_index_mask_and_state():
    s = lw.compile("five-bar")
    env = s.stepper(10)
    st = s.assemble({"A": float(s.start["A"]) + 0.1}, {"A": 2.0})
    for _ in range(3):
        env.step({"A": 1.0})
    moved = env.q.copy()
    env.reset(4, st)
    np.testing.assert_array_equal(env.q[4], st.q)
    np.testing.assert_array_equal(env.v[4], st.v)
    env.reset([1, -1], st.q, t=5.0)
    assert env.t[9] == env.t[1] == 5.0 and not env.v[9].any()
    env.reset(np.arange(10) == 2)
    np.testing.assert_array_equal(env.q[2], s.start.q)
    np.testing.assert_array_equal(env.q[[0, 3, 5]], moved[[0, 3, 5]])
    env.reset()
    assert not env.t.any() and (env.q == s.start.q).all()
    env.reset(np.zeros(10, dtype=bool))
    assert not env.q.flags.writeable and env.state(3).t == 0.0 and len(env) == 10


@pytest.mark.slow
def test_parameters_of_each_environment():
    """Masses and lengths, against mechanisms compiled with these numbers."""

    def model(mass, length):
        return {
            "name": "bars", "plane": "xy", "parameters": {"L": length, "m": mass},
            "drawing": {"A": [0, 0], "B": [0.1, 0.05], "C": [0.35, 0.25], "D": [0.35, 0]},
            "bodies": {
                "ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"], "mass": 1},
                "coupler": {"along": {"B": 0, "C": "L"}, "mass": "m"}, "rocker": {"pins": ["D", "C"], "mass": 0.5},
            },
            "drive": {"A": 0}, "start": {"A": "30 deg"},
        }  # fmt: skip

    s = lw.compile(lw.load(model(1.0, 0.32)), parameters=["L", "m"])
    masses, lengths = np.linspace(0.5, 2.0, 9), np.linspace(0.3, 0.36, 9)
    env = s.stepper(9, parameters={"L": lengths, "m": masses})
    np.testing.assert_array_equal(env.parameters, np.column_stack([lengths, masses]))
    for _ in range(50):
        env.step({"A": 0.2})
    assert env.ok.all()
    for k in (0, 3, 8):
        own = lw.compile(lw.load(model(masses[k], lengths[k])))
        st = own.start
        for _ in range(50):
            st = own.step(st, {"A": 0.2})
        i, j = s.names.q.index("A"), own.names.q.index("A")
        assert env.q[k, i] == pytest.approx(st.q[j], abs=1e-11)
    before = env.q.copy()
    env.reset([2, 3], parameters={"m": [3.0, 4.0]})
    assert env.parameters[3, 1] == 4.0 and env.parameters[4, 1] == masses[4]
    np.testing.assert_array_equal(env.q[4:], before[4:])
    one = s.step((env.q[0], env.v[0]), {"A": 0.2}, parameters=env.parameters[0])
    env.step({"A": 0.2})
    np.testing.assert_array_equal(one[0], env.q[0])


# ---------------------------------------------------------------- what goes wrong


def test_a_failure_concerns_one_environment_only():
    s = lw.compile("five-bar")
    (q, v), tau = moving(s, 16), pushed(s, 16)
    env, healthy = s.stepper(16, substeps=2), s.stepper(16, substeps=2)
    env.reset(None, q, v)
    healthy.reset(None, q, v)
    bad = tau.copy()
    bad[3] = 1e9  # thrown through the end of its travel
    bad[9, 0] = np.nan
    for k in range(5):
        env.step(tau if k == 0 else bad)
        healthy.step(tau)
        if k == 0:
            stays = env.q[[3, 9]].copy()
    others = np.setdiff1d(np.arange(16), [3, 9])
    np.testing.assert_array_equal(env.q[others], healthy.q[others])
    np.testing.assert_array_equal(env.v[others], healthy.v[others])
    np.testing.assert_array_equal(env.q[[3, 9]], stays)
    assert (env.t[[3, 9]] == 1e-3).all() and env.ok.sum() == 14
    assert set(env.status[others]) == {"ok"} and env.status[3] in ("open", "failed") and env.status[9] == "failed"
    assert sorted(env.why) == [3, 9]
    assert env.why[9] == "t = 0.001 s: tau is not a finite number: A."
    env.step(tau)
    assert not env.ok[3] and env.t[3] == 1e-3
    env.reset(~env.ok, q[[3, 9]], v[[3, 9]])
    env.step(tau)
    assert env.ok.all() and not env.why and set(env.status) == {"ok"}


def test_loops_that_cannot_be_closed_are_open():
    s = lw.compile("five-bar")
    env = s.stepper(8, dt=0.05)
    q, v = moving(s, 8)
    env.reset(None, q, v)
    env.reset(5, s.assemble(v={"A": 300.0, "E": -300.0}))
    env.step()
    assert env.status[5] == "open" and "cannot be closed" in env.why[5] and env.ok.sum() == 7
    with refused(lw.SimulationError, name="step"):
        s.step(env.state(5), None, 0.05)


def test_singular_positions_are_passed_by_the_rank_revealing_path():
    s = lw.compile("change-point-four-bar")
    starts = [s.assemble(v={"A": w}) for w in np.linspace(3.0, 10.0, 9)]
    env = s.stepper(9)
    env.reset(None, np.array([st.q for st in starts]), np.array([st.v for st in starts]))
    seen = set()
    for _ in range(400):
        env.step()
        seen |= set(env.status)
    assert seen == {"ok", "rank-revealing"} and env.ok.all()
    for k in (0, 8):
        run = s.simulate(starts[k], 0.4, integrator="rk4", step=1e-3, sample_interval=0.4)
        assert np.abs(run.q[-1] - env.q[k]).max() < 1e-9
        st = starts[k]
        for _ in range(400):
            st = s.step(st)
        np.testing.assert_array_equal(st.q, env.q[k])


def test_answers_that_fail_are_reasons():
    s = lw.compile("change-point-four-bar")
    start = s.assemble(v={"A": 10.0})

    def refuse(x):
        raise lw.SingularityError("no answer here.")

    kernels = compiled_of(s).kernels
    kernels.fallbacks["loop_rates"] = kernels.fallbacks["loop_projection"] = refuse
    env = s.stepper(9)
    env.reset(0, start)
    for _ in range(400):
        env.step({"A": 0.0})
    assert not env.ok[0] and env.status[0] == "failed"
    assert "a step of 0.001 s leads from here" in env.why[0] and "(no answer here)" in env.why[0]
    with refused(lw.SimulationError, name="step"):
        s.step(env.state(0))


# ---------------------------------------------------------------- turns, time, other engines


def test_turns_of_cut_joints_and_time_are_counted():
    """A coil spring in the cut joint that winds up, and a moment that depends on time."""
    s = lw.compile(lw.load(WOUND), cuts=["A"])
    run = s.simulate(s.start, 0.6, integrator="rk4", step=1e-3, sample_interval=0.6)
    env = s.stepper(8)
    st = s.start
    for _ in range(600):
        env.step()
        st = s.step(st)
    assert float(st["A"]) > 4.0 * np.pi and st["A"] == pytest.approx(float(run.state(-1)["A"]), abs=1e-9)
    assert np.abs(env.q[3] - run.q[-1]).max() < 1e-8
    np.testing.assert_array_equal(env.q[3], st.q)
    assert float(env.state(3)["A"]) == float(st["A"])
    env.reset(2, st)
    env.step()
    np.testing.assert_array_equal(env.q[2], s.step(st).q)


def test_engines_agree():
    native, python = lw.compile("five-bar"), lw.compile("five-bar", engine="python")
    (q, v), tau = moving(native, 7), pushed(native, 7)
    for integrator in ("rk4", "midpoint"):
        envs = [s.stepper(7, integrator=integrator) for s in (native, python)]
        for env in envs:
            env.reset(None, q, v)
            env.step(tau)
            env.step(tau, dt=2e-3, substeps=2)
        assert np.abs(envs[0].q - envs[1].q).max() < 1e-14
        assert np.abs(envs[0].v - envs[1].v).max() < 1e-12


def test_steppers_travel():
    s = lw.compile("five-bar")
    env = s.stepper(9, dt=2e-3, substeps=2)
    tau = pushed(s, 9)
    tau[4] = 1e9
    env.step(tau)
    other = pickle.loads(pickle.dumps(env))
    assert other.status.tolist() == env.status.tolist() and other.why == env.why
    tau[4] = 0.0
    env.step(tau)
    other.step(tau)
    np.testing.assert_array_equal(env.q, other.q)
    assert "9 environments, 1 failed" in repr(other)


# ---------------------------------------------------------------- wrong calls

FIVE = lw.compile("five-bar")
ENV = FIVE.stepper(8)
NO_LOOPS = np.array([0.1, 0.2, 0.3, 0.4])
CALLS = {
    "state": (lambda: FIVE.step(3), "State, or arrays"),
    "shape": (lambda: FIVE.step((np.zeros(3), np.zeros(4))), "q has shape"),
    "nan": (lambda: FIVE.step((FIVE.start.q * np.nan, FIVE.start.v)), "q has entries that are not finite"),
    "nan speed": (lambda: FIVE.step((FIVE.start.q, FIVE.start.v * np.nan)), "v needs 4 finite"),
    "time": (lambda: FIVE.step((FIVE.start.q, FIVE.start.v, np.nan)), "t is a finite time"),
    "open": (lambda: FIVE.step((NO_LOOPS, np.zeros(4))), "loops of this state are open"),
    "torn": (lambda: FIVE.step((FIVE.start.q, np.ones(4))), "does not close the loops"),
    "tau nan": (lambda: FIVE.step(FIVE.start, np.array([0, 0, np.nan, 0])), "tau has entries that are not finite numbers: E"),
    "tau shape": (lambda: FIVE.step(FIVE.start, np.zeros(3)), r"tau has shape \(3,\). It needs \(4,\)"),
    "tau name": (lambda: FIVE.step(FIVE.start, {"Q": 1.0}), "no joint or coordinate 'Q'|no .*'Q'"),
    "tau of a cut joint": (lambda: FIVE.step(FIVE.start, {"C": 1.0}), "'C' is cut. Compile with other cuts"),
    "tau unit": (lambda: FIVE.step(FIVE.start, {"A": "3 mm"}), "effort of 'A'"),
    "tau text": (lambda: FIVE.step(FIVE.start, "A"), "array .* of numbers, or a dict"),
    "dt": (lambda: FIVE.step(FIVE.start, None, 0.0), "dt is a time above zero"),
    "dt text": (lambda: FIVE.step(FIVE.start, None, "3 mm"), "dt is"),
    "substeps": (lambda: FIVE.step(FIVE.start, substeps=0), "substeps is a whole number"),
    "substeps float": (lambda: FIVE.step(FIVE.start, substeps=1.5), "substeps is a whole number"),
    "adaptive": (lambda: FIVE.step(FIVE.start, integrator="dopri"), "'dopri8' chooses the length of its steps. .*rk4, midpoint"),
    "implicit": (lambda: FIVE.step(FIVE.start, integrator="rodas"), "'rodas' is implicit"),
    "unknown method": (lambda: FIVE.step(FIVE.start, integrator="rk5"), "no integrator 'rk5'.*Did you mean 'rk4'"),
    "old method": (lambda: FIVE.step(FIVE.start, integrator="euler"), "no integrator 'euler'.*integrator='midpoint'"),
    "no method": (lambda: FIVE.step(FIVE.start, integrator=4), "no integrator 4"),
    "parameters": (lambda: FIVE.step(FIVE.start, parameters={"m": 1.0}), "'m' is not an entry of 'parameters'"),
    "option": (lambda: FIVE.step(FIVE.start, sub=2), "step has no option 'sub'"),
    "n": (lambda: FIVE.stepper(0), "one or more environments"),
    "stepper option": (lambda: FIVE.stepper(2, thread=2), "stepper has no option 'thread'. Did you mean 'threads'"),
    "threads": (lambda: FIVE.stepper(2, threads=0), "threads is a whole number"),
    "start": (lambda: FIVE.stepper(2, start=FIVE.state(NO_LOOPS)), "loops of this state are open"),
    "stepper tau": (lambda: ENV.step(np.zeros((7, 4))), r"It needs \(8, 4\) or \(4,\)"),
    "stepper efforts": (lambda: ENV.step({"A": np.zeros(7)}), "effort of 'A' is a number, or that for each of 8"),
    "effort nan": (lambda: ENV.step({"A": np.nan}), "effort of 'A' is not a finite number"),
    "mask": (lambda: ENV.step(mask=[0, 1]), "mask is an array of 8"),
    "mask numbers": (lambda: ENV.step(mask=np.arange(8)), "mask is an array of 8"),
    "where": (lambda: ENV.reset(8), "Number 8 is not among them"),
    "where twice": (lambda: ENV.reset([1, 3, -7]), "more than once"),
    "where float": (lambda: ENV.reset(1.5), "where is an index"),
    "reset shape": (lambda: ENV.reset([1, 2], np.zeros((3, 4))), r"needs \(4,\) or \(2, 4\)"),
    "reset nan": (lambda: ENV.reset([1, 2], np.array([FIVE.start.q, [0, 0, 0, np.nan]])), "q of environment 1 has entries.*: D"),
    "reset open": (lambda: ENV.reset([1, 2], np.array([FIVE.start.q, NO_LOOPS])), "loops of environment 2 are open"),
    "reset torn": (lambda: ENV.reset(6, FIVE.start.q, np.ones(4)), "velocity of environment 6 does not close"),
    "reset text": (lambda: ENV.reset(6, "start"), "q is an array of numbers or a State"),
    "reset time": (lambda: ENV.reset(t=[1, 2]), "t is a time"),
    "reset parameters": (lambda: ENV.reset(parameters=np.zeros((2, 3))), "parameters"),
    "rollout": (lambda: ENV.rollout(np.zeros((7, 3, 4))), r"It needs \(8, times, 4\) or \(times, 4\)"),
    "rollout by name": (lambda: ENV.rollout({"A": 1.0}), "tau of a rollout is an array"),
    "which state": (lambda: ENV.state(8), "8 environments. Number 8"),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_wrong_calls_say_what_is_wrong(case):
    call, message = CALLS[case]
    q, v, t = ENV.q.copy(), ENV.v.copy(), ENV.t.copy()
    with pytest.raises(lw.LinkwrightError, match=message):
        call()
    assert (ENV.q == q).all() and (ENV.v == v).all() and (ENV.t == t).all()
    assert FIVE.step(FIVE.start).t == 1e-3  # and the next one is as ever


def test_a_quaternion_has_length_one():
    s = lw.compile("stewart")
    q = s.start.q.copy()
    q[s.names.q.index("platform.qw")] += 0.1
    with refused(lw.UsageError, name="platform.qw, platform.qx, platform.qy, platform.qz"):
        s.stepper(2).reset(None, q)


def test_masses_are_needed():
    with refused(lw.UsageError, name="mass"):
        lw.compile(lw.load({**WOUND, "bodies": {**WOUND["bodies"], "rocker": {"pins": ["D", "C"]}}})).stepper(2)


def test_a_rollout_writes_into_given_memory():
    s = lw.compile("five-bar")
    tau = np.random.default_rng(2).normal(size=(7, 5, 4))
    wanted = s.stepper(7).rollout(tau)
    out = np.full((7, 5, 8), np.nan)
    q, v = s.stepper(7).rollout(tau, out=out)
    assert q.base is out and v.base is out
    for a, b in zip((q, v), wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    for bad in (out[:, :4], out.astype(np.float32), np.zeros((7, 5, 16))[..., ::2], out.tolist()):
        with refused(lw.UsageError, name="out"):
            s.stepper(7).rollout(tau, out=bad)


def test_new_states_that_are_alike_are_those_admitted_one_by_one():
    s = lw.compile("3-rrr")
    st = s.start
    together, apart = s.stepper(9), s.stepper(9)
    together.reset([1, 4, 8], st)
    apart.reset([1, 4, 8], np.tile(st.q, (3, 1)), np.tile(st.v, (3, 1)), t=np.full(3, st.t))
    np.testing.assert_array_equal(together.environments.rows, apart.environments.rows)
    with refused(lw.UsageError, name="environment"):
        together.reset([4, 5], st.q + 0.1)


# ---------------------------------------------------------------- the midpoint rule


def test_midpoint_steps_of_the_carpet_scraper_stay_near_the_exact_motion():
    """Seven links in free swing, 0.5 s by steps of 1 ms. A semi-implicit Euler step is off by 0.168 rad there."""
    s = lw.compile("carpet-scraper")
    exact = s.simulate(s.start, 0.5, tolerance=1e-12, sample_interval=0.5, drive={}).q[-1]
    env = s.stepper(1, dt=0.5, substeps=500, integrator="midpoint")
    env.step()
    assert np.abs(env.q[0] - exact).max() < 1e-3


def damped(d, k=0.0):
    """A pendulum of 0.01 kg m^2 without weight, with a damper and a spring in its pin."""
    return {
        "plane": "xy", "gravity": [0, 0],
        "bodies": {"ground": {"points": {"O": [0, 0]}}, "b": {"points": {"O": [0, 0]}, "mass": 1, "com": [0, 0], "inertia": 0.01}},
        "joints": {"A": {"type": "revolute", "connect": ["ground.O", "b.O"]}},
        **({"springs": {"s": {"joint": "A", "stiffness": k}}} if k else {}),
        **({"dampers": {"d": {"joint": "A", "coefficient": d}}} if d else {}),
        "start": {"A": 0.5 if k else 0.0, "A.v": 0.0 if k else 1.0},
    }  # fmt: skip


@pytest.mark.parametrize(("z", "share"), [(1.0, 1 / 3), (1.9, 0.05 / 1.95), (2.0, 0.0), (50.0, 0.0), (1e6, 0.0)])
def test_a_damper_of_any_strength_takes_speed_and_never_turns_it_round(z, share):
    """z = h d / I: (1 - z / 2) / (1 + z / 2) of the speed is left up to z = 2, as by the midpoint rule, and nothing above."""
    s = lw.compile(lw.load(damped(z * 0.01 / 1e-3)))
    assert s.step(s.start, None, 1e-3, integrator="midpoint").v[0] == pytest.approx(share, abs=1e-9)


def test_a_stiff_spring_stays_within_its_amplitude_in_steps_too_long_for_it():
    """Steps of seven radians of its own vibration: the rule is symplectic, so the amplitude stays; explicit steps end at infinity."""
    s = lw.compile(lw.load(damped(0.0, 0.01 * 7000.0**2)))
    st, far = s.start, []
    for _ in range(500):
        st = s.step(st, None, 1e-3, integrator="midpoint")
        far.append(abs(float(st["A"])))
    assert 0.4 < max(far) < 0.5 + 1e-9


def test_a_damped_vibration_is_of_second_order():
    """x(t) = exp(-d w t) (cos + d / sqrt(1 - d^2) sin) of its damped frequency."""
    w, ratio = 40.0, 0.2
    s = lw.compile(lw.load(damped(2.0 * ratio * w * 0.01, 0.01 * w * w)))
    errors = []
    for steps in (50, 100):
        env = s.stepper(1, dt=0.1, substeps=steps, integrator="midpoint")
        env.step()
        f = w * np.sqrt(1.0 - ratio**2)
        exact = 0.5 * np.exp(-ratio * w * 0.1) * (np.cos(0.1 * f) + ratio / np.sqrt(1.0 - ratio**2) * np.sin(0.1 * f))
        errors.append(abs(env.q[0, 0] - exact))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1) and errors[1] < 2e-4

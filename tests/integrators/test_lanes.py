"""Eight runs in lanes: every bit and every count as of the run alone, whatever happens to its neighbors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler.graph import trace
from linkwright.compiler.native import NativeCode
from linkwright.integrators import EventSpec, Problem, integrate, integrate_many, parallel_runs, python_kernel
from linkwright.simulation import time_stepping
from linkwright.simulation.events import native_kernel
from tests.sweeps import sweep


class Seen(list):
    """Runs of every block that was done in lanes; and slices."""

    slices = 0


@pytest.fixture
def counted(monkeypatch):
    """Small batches in lanes too, and what happens to their blocks."""
    seen, work = Seen(), parallel_runs._Worker.work

    def worked(self, starts, values):
        wide = self.lanes > 1 and len(starts) >= parallel_runs.LEAST
        for _ in work(self, starts, values):
            seen.slices += wide
            yield
        seen.extend([len(starts)] if wide else [])

    monkeypatch.setattr(parallel_runs, "STAGES_FOR_LANES", 0)
    monkeypatch.setattr(parallel_runs._Worker, "work", worked)
    return seen


def assert_as_single(problem, starts, end, samples, method="rk4", *, parameters=None, **how):
    many = integrate_many(problem, starts, 0.0, end, method, samples=samples, parameters=parameters, threads=1, **how)
    for k, y0 in enumerate(starts):
        own = problem if parameters is None else replace(problem, parameters=tuple(parameters[k]))
        one = integrate(own, y0, 0.0, end, method, samples=samples, **how)
        assert many.status[k] == one.status and many.done[k] == len(one.t)
        np.testing.assert_array_equal(many.y[k, : many.done[k]], one.y)
        assert many.end_time[k] == one.end_time
        np.testing.assert_array_equal(many.end_state[k], one.end_state)
        assert {name: values[k] for name, values in many.counters.items()} == one.counters
    return many


def moving(name: str, stabilizer: str, count: int, duration: float):
    """A mechanism's problem, and states along its free fall as starts, slower and faster."""
    s = lw.load(name).system
    fall = time_stepping.march(compiled_of(s), s.start, duration, samples=np.linspace(0.0, duration, count))
    made = time_stepping.setup(compiled_of(s), stabilizer=stabilizer)
    rows = []
    for near in fall.references:
        blocks = dict(made.values) | {"near": near}
        rows.append(np.concatenate([blocks[k] for k in made.row.parameters]))
    starts = fall.solution.y.copy()
    starts[:, made.problem.nq :] *= np.linspace(0.0, 2.0, count)[:, None]
    return made.problem, starts, np.array(rows)


@sweep(
    ("name", "stabilizer", "counts"),
    [
        ("four-bar", "post_adjust", [8]),
        ("four-bar", "baumgarte", [8]),
        ("four-bar", "project", [8, 6]),
        ("stewart", "project", [8]),
    ],
    now=2,
)
def test_runs_of_mechanisms_are_the_single_ones(name, stabilizer, counts, counted):
    """Stewart: with a quaternion. Samples lie on steps and between them; the last step is shorter; six runs fill up a block."""
    problem, starts, rows = moving(name, stabilizer, sum(counts) + 2 * (counts == [8]), 0.5)
    samples = 1e-3 * np.array([0.0, 10.3, 10.9, 20.0, 40.4])
    many = assert_as_single(problem, starts, samples[-1], samples, parameters=rows, step=1e-3)
    assert counted == counts and many.complete
    if stabilizer == "project":
        assert len(set(many.counters["projections"][:8])) > 1  # some lanes wait for others


@sweep(
    ("name", "method", "stabilizer"),
    [
        (name, method, stabilizer)
        for name in ("four-bar", "3-rrr", "stewart", "rssr", "ankle", "punch-press")
        for method in ("dopri5", "dopri8", "rodas")
        for stabilizer in ("project", "baumgarte", "post_adjust")
    ],
    now=[("four-bar", "dopri8", "project"), ("3-rrr", "dopri5", "project"), ("stewart", "rodas", "post_adjust")],
)
def test_steps_that_each_lane_chooses_are_those_of_the_run_alone(name, method, stabilizer, counted):
    """Nineteen runs in eight lanes, after the first one: each lane does two or three, which begin and end at times of their own."""
    problem, starts, rows = moving(name, stabilizer, 20, 0.3)
    tolerance = 1e-5 if method == "rodas" else 1e-7
    many = assert_as_single(problem, starts, 0.2, np.linspace(0.0, 0.2, 7), method, parameters=rows, tolerance=tolerance)
    assert sum(counted) in (16, 19) and len(set(many.counters["steps"])) > 2


def test_a_run_near_a_singularity_is_answered_alone_and_its_lanes_go_on(counted):
    problem, starts, rows = moving("3-rrr", "project", 64, 1.0)
    fallbacks = integrate_many(problem, starts, 0.0, 0.1, "rk4", samples=[0.1], parameters=rows, step=2e-3, threads=1).counters["fallbacks"]
    hit = np.flatnonzero(fallbacks)[:1]
    chosen = np.concatenate([hit, np.flatnonzero(fallbacks == 0)[:7]])
    counted.clear()
    many = assert_as_single(problem, starts[chosen], 0.1, [0.05, 0.1], parameters=rows[chosen], step=2e-3)
    assert many.counters["fallbacks"][0] > 0 and many.counters["fallbacks"][1:].max() == 0
    assert counted == [8]


def spring(state, t):
    x, v = state
    return {"rates": [v, -x], "margin": [2.0 - x]}


def runaway(state, t):
    x, v = state
    return {"rates": [v, 1e3 * x * x * v], "margin": [x * x + 1.0]}


def anyway(x):
    return [x[1], -x[0], 1.0]


@pytest.mark.parametrize(
    ("function", "backup", "ends"),
    [(spring, None, "degenerate"), (spring, anyway, "finished"), (runaway, None, "not finite")],
)
def test_a_run_that_cannot_go_on_leaves_its_neighbors_alone(function, backup, ends, counted):
    code = NativeCode.of(trace(function, state=2, t=1))
    second = None if backup is None else python_kernel(backup, 3, 3)
    problem = Problem(replace(native_kernel(code, 3), backup=second), 1, 1)
    starts = np.tile([1e-4, 1e-3], (16, 1)) * np.linspace(0.1, 1.0, 16)[:, None]
    starts[3] = 1.5, 2.0  # beyond 2 after a while
    starts[8] = 2.5, 1.0  # from the first moment on
    many = assert_as_single(problem, starts, 2.0, np.linspace(0.0, 2.0, 7), step=0.03)
    assert {many.status[3], many.status[8]} == {ends} and set(many.status[4:8] + many.status[9:]) == {"finished"}
    assert counted == [8, 8]
    if backup is not None:
        assert many.counters["fallbacks"][3] > 0 and many.counters["fallbacks"][[2, 4]].max() == 0
        np.testing.assert_allclose(many.y[3, -1, 0], 1.5 * np.cos(2.0) + 2.0 * np.sin(2.0), atol=1e-6)


def test_threads_slices_and_limits_change_nothing(counted, monkeypatch):
    problem = Problem(native_kernel(NativeCode.of(trace(spring, state=2, t=1)), 3), 1, 1)
    starts = np.linspace([0.1, 0.0], [1.9, 0.0], 40)
    assert set(assert_as_single(problem, starts[:9], 2.0, [1.0], step=0.03, most_steps=40).status) == {"too many steps"}
    assert counted == [8]
    first = integrate_many(problem, starts, 0.0, 2.0, "rk4", samples=[1.0, 2.0], step=0.03, threads=1)
    monkeypatch.setattr(parallel_runs.integration, "SLICE_SECONDS", 1e-9)  # one step at a time
    monkeypatch.setattr(parallel_runs, "cores", lambda: 2)
    counted.slices = 0
    other = integrate_many(problem, starts, 0.0, 2.0, "rk4", samples=[1.0, 2.0], step=0.03)
    assert counted.slices > 100
    np.testing.assert_array_equal(first.y, other.y)
    np.testing.assert_allclose(first.y[:, 1, 0], starts[:, 0] * np.cos(2.0), atol=1e-6)


def swing(state, t):
    x, v = state
    return {"rates": [v, -x - 0.2 * v], "margin": [1.0 + x * x]}


def levels(state, t):
    return {"values": [state[0] - 0.3, state[0] + 0.9]}


@pytest.mark.parametrize(("method", "how"), [("dopri8", {"tolerance": 1e-9}), ("rk4", {"step": 0.01}), ("rodas", {"tolerance": 1e-6})])
def test_events_end_runs_in_their_own_lanes(method, how, counted):
    """The second event is terminal: a swing from x0 comes back to -0.9 where x0 is large enough."""
    rates, watched = (native_kernel(NativeCode.of(trace(f, state=2, t=1)), 3) for f in (swing, levels))
    specs = (EventSpec("above", 1), EventSpec("far", -1, terminal=True))
    problem = Problem(rates, 1, 1, events=watched, event_specs=specs)
    starts = np.linspace([0.2, 0.0], [3.0, 0.0], 24)
    many = assert_as_single(problem, starts, 8.0, np.linspace(0.0, 8.0, 9), method, **how)
    assert set(many.status) == {"event", "finished"} and sum(counted) >= 16
    np.testing.assert_array_equal(many.final, np.where(np.array(many.status) == "event", 1, -1))
    np.testing.assert_allclose(many.end_state[many.final == 1, 0], -0.9, atol=1e-6)


def test_adaptive_runs_that_end_for_other_reasons(counted):
    """One runs into more steps than allowed, one into a pivot that nobody answers; both leave their neighbors alone."""
    problem = Problem(native_kernel(NativeCode.of(trace(spring, state=2, t=1)), 3), 1, 1)
    starts = np.linspace([0.1, 0.0], [1.5, 0.0], 17)
    starts[4] = 1.9, 1.0
    starts[11] = 2.5, 0.0
    many = assert_as_single(problem, starts, 3.0, np.linspace(0.0, 3.0, 5), "dopri5", tolerance=1e-7)
    assert {many.status[4], many.status[11]} <= {"degenerate", "smallest step"} and set(np.delete(many.status, [4, 11])) == {"finished"}
    short = assert_as_single(problem, starts[:9], 3.0, [1.0, 2.0], "dopri5", tolerance=1e-10, most_steps=20)
    assert "too many steps" in short.status and sum(counted) >= 24


def test_runs_without_code_for_lanes_or_with_little_to_do_go_one_by_one(counted, monkeypatch):
    code = NativeCode.of(trace(spring, state=2, t=1))
    problem = Problem(native_kernel(code, 3), 1, 1)
    starts = np.full((8, 2), 0.5)
    alone = replace(problem, rates=replace(problem.rates, eight=None))
    assert integrate_many(alone, starts, 0.0, 1.0, "dopri", samples=[1.0], threads=1).complete
    assert integrate_many(problem, starts[:4], 0.0, 1.0, "rk4", samples=[1.0], step=0.01, threads=1).complete
    monkeypatch.setattr(parallel_runs, "STAGES_FOR_LANES", 10_000)
    assert integrate_many(problem, starts, 0.0, 1.0, "rk4", samples=[1.0], step=0.1, threads=1).complete
    assert integrate_many(problem, starts, 0.0, 1.0, "dopri", samples=[1.0], threads=1).complete
    assert counted == []
    assert integrate_many(problem, starts, 0.0, 100.0, "dopri", samples=[1.0], threads=1).complete
    assert counted == [7], "all but the first run, which tells how much there is to do"

"""Many runs at once: the same bits as one by one, whatever the threads and pieces; runs that end early; interrupts."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from linkwright.compiler.graph import trace
from linkwright.compiler.native import NativeCode
from linkwright.errors import UsageError
from linkwright.integrators import EventSpec, Problem, StepKernel, integrate, integrate_many, parallel_runs, python_kernel
from tests.integrators import test_inputs, test_samplers
from tests.integrators.problems import OSCILLATOR, PENDULUM, every_method, oscillator, pendulum_start
from tests.refusals import refused
from tests.sweeps import sweep

TIMES = np.linspace(0.0, 1.5, 7)


def passing(x, y, w):
    y[0] = x[0]
    return 0


def swings(terminal: bool) -> Problem:
    return replace(PENDULUM, events=StepKernel(5, 1, function=passing), event_specs=(EventSpec("lowest", terminal=terminal),))


PENDULA = np.array([pendulum_start(a) for a in np.linspace(0.3, 2.9, 11)])


def assert_as_single(many, problem, starts, parameters=None, **how):
    for k, y0 in enumerate(starts):
        own = problem if parameters is None else replace(problem, parameters=tuple(parameters[k]))
        one = integrate(own, y0, 0.0, TIMES[-1], samples=TIMES, **how)
        assert many.status[k] == one.status and many.done[k] == len(one.t)
        np.testing.assert_array_equal(many.y[k, : many.done[k]], one.y)
        assert np.isnan(many.y[k, many.done[k] :]).all()
        assert many.end_time[k] == one.end_time
        np.testing.assert_array_equal(many.end_state[k], one.end_state)
        assert {name: values[k] for name, values in many.counters.items()} == one.counters


@sweep(("method", "options"), every_method(0.02, 1e-9, rodas=1e-6), now=2)
@sweep("terminal", [True, False], now=1)
def test_many_runs_are_the_single_ones(method, options, terminal, monkeypatch):
    problem = swings(terminal)
    first = integrate_many(problem, PENDULA, 0.0, 1.5, method, samples=TIMES, threads=1, **options)
    assert_as_single(first, problem, PENDULA, method=method, **options)
    assert (first.final == (0 if terminal else -1)).all() and first.complete
    monkeypatch.setattr(parallel_runs, "cores", lambda: 3)
    for threads, runs_at_a_time in ((2, 64), (3, 2)):
        monkeypatch.setattr(parallel_runs, "MOST_RUNS", runs_at_a_time)
        other = integrate_many(problem, PENDULA, 0.0, 1.5, method, samples=TIMES, threads=threads, **options)
        for name in ("y", "done", "end_time", "end_state", "final"):
            np.testing.assert_array_equal(getattr(other, name), getattr(first, name))


def test_without_machine_code_the_bits_are_the_same():
    runs = [integrate_many(swings(False), PENDULA[:3], 0.0, 1.5, samples=TIMES, engine=e) for e in ("native", "python")]
    np.testing.assert_array_equal(runs[0].y, runs[1].y)


def test_every_run_has_its_own_parameters_and_held_values():
    parameters = np.array([[0.0, 0.0], [0.0, 3.0], [1.0, -4.0]])
    starts = np.tile(test_samplers.START, (3, 1))
    many = integrate_many(test_samplers.HELD, starts, 0.0, 1.5, samples=TIMES, parameters=parameters, threads=1)
    assert_as_single(many, test_samplers.HELD, starts, parameters)
    assert np.abs(np.diff(many.y[:, -1], axis=0)).min() > 1e-3
    driven = replace(test_inputs.DRIVEN, parameters=(1e9,))  # overwritten by the inputs, in the second run as in the first
    starts = np.tile(test_inputs.START, (2, 1))
    assert_as_single(integrate_many(driven, starts, 0.0, 1.5, samples=TIMES, threads=1), driven, starts)


def test_a_run_that_cannot_go_on_leaves_the_others_alone():
    def picky(x):
        if x[0] > 2.5:
            raise ValueError(f"{x[0]:.2f} is too far")
        return [x[1], -x[0]]

    problem = replace(OSCILLATOR, rates=python_kernel(picky, 3, 2))
    starts = np.array([[1.0, 0.0], [2.4, 1.0], [2.0, 0.0], [2.45, 1.0]])
    many = integrate_many(problem, starts, 0.0, 1.5, samples=TIMES, threads=2)
    assert many.status == ("finished", "failed", "finished", "failed") and not many.complete
    assert isinstance(many.error, ValueError) and "too far" in str(many.error)
    np.testing.assert_allclose(many.y[2, :, 0], 2.0 * np.cos(TIMES), atol=1e-7)
    assert many.done[1] == 1 and np.isfinite(many.end_state).all()
    assert "run 1" in many.message(1) and "raised an error" in many.message(1)


def test_several_threads_take_part(monkeypatch):
    seen, both = set(), threading.Barrier(2, timeout=20.0)

    def meeting(x, y, w):
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            both.wait()  # one thread alone would wait in vain
        return oscillator(x, y, w)

    monkeypatch.setattr(parallel_runs, "cores", lambda: 2)
    many = integrate_many(
        replace(OSCILLATOR, rates=StepKernel(3, 2, function=meeting)), np.ones((32, 2)), 0.0, 1.5, "rk4", samples=TIMES, step=0.1
    )
    assert many.complete and len(seen) == 2


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("how", ["progress", "between", "inside"])
def test_what_was_done_before_an_interrupt_is_kept(how, threads, monkeypatch):
    """By the function that is told of the progress, by a key pressed then, or by one pressed during a callback."""
    monkeypatch.setattr(parallel_runs, "cores", lambda: 2)
    monkeypatch.setattr(parallel_runs, "MOST_RUNS", 1)
    main = threading.main_thread()

    def rates(x, y, w):
        if threading.current_thread() is not main:
            time.sleep(0.001)  # or the other thread may have done all forty before this one is given the processor
        elif how == "inside" and x[0] > 3.0:
            raise KeyboardInterrupt
        return oscillator(x, y, w)

    def progress(done, of):
        assert of == 40
        if done >= 3 and how == "between":
            raise KeyboardInterrupt
        return done < 3 or how != "progress"

    starts = np.ones((40, 2))
    starts[3:, 0] = 3.1
    problem = replace(OSCILLATOR, rates=StepKernel(3, 2, function=rates))
    many = integrate_many(problem, starts, 0.0, 1.5, "rk4", samples=TIMES, step=0.05, threads=threads, progress=progress)
    finished = [k for k, s in enumerate(many.status) if s == "finished"]
    assert {0, 1, 2} <= set(finished) and len(finished) < 40
    assert set(many.status) <= {"finished", "interrupted", "not done"} and "not done" in many.status
    for k in finished:
        np.testing.assert_allclose(many.y[k, :, 0], starts[k, 0] * np.cos(TIMES) + np.sin(TIMES), atol=1e-5)


def test_memory_does_not_grow_with_the_number_of_runs(monkeypatch):
    """Besides the results: a piece of output for each thread, made once."""
    made = []
    monkeypatch.setattr(parallel_runs, "BYTES", 5000)
    real = parallel_runs._Worker
    monkeypatch.setattr(parallel_runs, "_Worker", lambda *a: made.append(real(*a)) or made[-1])

    def spring(state, t):
        return {"rates": [state[1], -state[0]]}

    code = NativeCode.of(trace(spring, state=2, t=1))
    problem = replace(OSCILLATOR, rates=StepKernel(3, 2, address=code.one_address, workspace=code.work("one"), owner=code))
    many = integrate_many(problem, np.ones((500, 2)), 0.0, 1.5, samples=TIMES, threads=2)
    assert many.complete and len(made) <= 2 and all(w.rows.nbytes <= 5000 for w in made)


def test_wrong_calls_say_what_is_needed():
    with refused(UsageError, name="the start states"):
        integrate_many(OSCILLATOR, [[1.0, np.nan]], 0.0, 1.0, samples=[1.0])
    with refused(UsageError, name="the parameters"):
        integrate_many(test_samplers.HELD, np.ones((2, 2)), 0.0, 1.0, samples=[1.0], parameters=np.ones((3, 2)))
    empty = integrate_many(OSCILLATOR, np.ones((0, 2)), 0.0, 1.0, samples=[1.0])
    assert empty.complete and empty.y.shape == (0, 1, 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_batch_at_once_wherever_it_comes(threads):
    """A key pressed on the way into a callback was dropped by ctypes, and the batch went on to its end."""

    def rates(x, y, w):
        if x[2] > 0.5 and threading.current_thread() is threading.main_thread() and not pressed:
            pressed.append(time.perf_counter())
            signal.raise_signal(signal.SIGINT)  # noted, and not raised here
        return oscillator(x, y, w)

    pressed: list[float] = []
    problem = replace(OSCILLATOR, rates=StepKernel(3, 2, function=rates))
    many = integrate_many(problem, np.ones((40, 2)), 0.0, 400.0, "rk4", samples=TIMES, step=0.05, threads=threads)
    assert time.perf_counter() - pressed[0] < 1.0  # s; a slice takes 0.05, the whole batch 20 and more
    assert set(many.status) <= {"interrupted", "not done"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

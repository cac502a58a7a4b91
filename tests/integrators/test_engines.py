"""One algorithm, two engines: equal bits, however the run is cut; evaluations handed over and taken back; interrupts."""

from __future__ import annotations

import signal
from dataclasses import replace

import numpy as np
import pytest

from linkwright.compiler import callbacks, native
from linkwright.compiler.callbacks import Interrupts
from linkwright.compiler.graph import trace
from linkwright.compiler.native import NativeCode
from linkwright.errors import UsageError
from linkwright.integrators import EventSpec, IntegrationError, StepKernel, integrate, python_kernel
from tests.integrators.problems import ADAPTIVE, CIRCLE, KEPLER, OSCILLATOR, PENDULUM, every_method, oscillator, pendulum_start
from tests.refusals import refused

RUNS = every_method(0.01, 1e-8, dopri8=1e-10, rodas=1e-6)


def passing(x, y, w):
    y[0] = x[0]
    return 0


SWINGING = replace(PENDULUM, events=StepKernel(5, 1, function=passing), event_specs=(EventSpec("lowest"),))


def everything(run):
    events = [np.array([e.time, e.index, *e.state]) for e in run.events]
    return [run.t, run.y, run.end_state, *events]


def assert_same(a, b):
    assert a.status == b.status and a.counters == b.counters
    for x, y in zip(everything(a), everything(b), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(("method", "options"), RUNS)
@pytest.mark.parametrize("samples", [None, np.linspace(0.0, 1.5, 40)])
def test_native_and_python_give_the_same_bits(method, options, samples):
    """No fast mathematics and no contraction: the compiled loops round as Python does."""
    runs = [
        integrate(SWINGING, pendulum_start(2.0), 0.0, 1.5, method, samples=samples, engine=engine, **options)
        for engine in ("native", "python")
    ]
    assert runs[0].complete and runs[0].events
    assert_same(*runs)


@pytest.mark.parametrize(("method", "options"), RUNS)
@pytest.mark.parametrize("slice_steps", [1, 3, 1000])
def test_results_do_not_depend_on_where_the_run_is_cut(method, options, slice_steps):
    whole = integrate(SWINGING, pendulum_start(2.0), 0.0, 1.5, method, **options)
    assert_same(whole, integrate(SWINGING, pendulum_start(2.0), 0.0, 1.5, method, slice_steps=slice_steps, **options))


def test_more_steps_than_the_buffers_hold():
    run = integrate(OSCILLATOR, [1.0, 0.0], 0.0, 10.0, "rk4", step=0.001)
    assert len(run.t) == 10_001
    assert np.abs(run.y[:, 0] - np.cos(run.t)).max() < 1e-12


def test_kernels_by_address():
    """A kernel of a traced program: called from both engines, with a parameter."""

    def spring(state, t, stiffness):
        return {"rates": [state[1], -stiffness[0] * state[0]]}

    code = NativeCode.of(trace(spring, state=2, t=1, stiffness=1))
    problem = replace(
        OSCILLATOR, rates=StepKernel(4, 2, address=code.one_address, workspace=code.work("one"), owner=code), parameters=(9.0,)
    )
    runs = [integrate(problem, [1.0, 0.0], 0.0, 3.0, engine=engine, tolerance=1e-11) for engine in ("native", "python")]
    assert_same(*runs)
    np.testing.assert_allclose(runs[0].y[:, 0], np.cos(3.0 * runs[0].t), atol=1e-9)


def degenerate_between(begin, end, backup):
    """The oscillator, but useless in a window of time, where only the second kernel knows better."""

    def rates(x, y, w):
        oscillator(x, y, w)
        if begin < x[2] < end:
            y[0] = y[1] = np.nan
            return callbacks.DEGENERATE | callbacks.NOT_FINITE
        return 0

    return replace(OSCILLATOR, rates=StepKernel(3, 2, function=rates, backup=backup))


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize(("method", "options"), RUNS)
def test_a_degenerate_evaluation_is_handed_over_and_the_step_goes_on(engine, method, options):
    asked = []

    def rank_revealing(x):
        asked.append(x[2])
        return [x[1], -x[0]]

    problem = degenerate_between(1.0, 2.0, python_kernel(rank_revealing, 3, 2))
    run = integrate(problem, [1.0, 0.0], 0.0, 3.0, method, engine=engine, **options)
    plain = integrate(OSCILLATOR, [1.0, 0.0], 0.0, 3.0, method, engine=engine, **options)
    np.testing.assert_array_equal(run.y, plain.y)
    assert run.counters["fallbacks"] == len(asked) > 0
    assert all(1.0 < t < 2.0 for t in asked)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_the_projection_has_a_second_kernel_too(engine):
    def weak(x, y, w):
        CIRCLE.callable(x, y, w)
        return callbacks.DEGENERATE if x[0] < 0.0 else 0

    def strong(x):
        y = np.zeros(7)
        CIRCLE.callable(x, y, np.zeros(0))
        return y

    problem = replace(PENDULUM, project=StepKernel(5, 7, function=weak, backup=python_kernel(strong, 5, 7)))
    run = integrate(problem, pendulum_start(2.0), 0.0, 1.5, engine=engine)
    np.testing.assert_array_equal(run.y, integrate(PENDULUM, pendulum_start(2.0), 0.0, 1.5, engine=engine).y)
    assert run.counters["fallbacks"] > 0
    alone = integrate(replace(problem, project=StepKernel(5, 7, function=weak)), pendulum_start(2.0), 0.0, 1.5, engine=engine)
    assert alone.status == "degenerate" and 0.0 < alone.end_time < 1.5


@pytest.mark.parametrize("engine", ["native", "python"])
def test_what_the_second_kernel_raises_is_kept_and_the_state_so_far_remains(engine):
    def helpless(x):
        raise ZeroDivisionError("no way out")

    problem = degenerate_between(1.0, 2.0, python_kernel(helpless, 3, 2))
    run = integrate(problem, [1.0, 0.0], 0.0, 3.0, "rk4", step=0.01, engine=engine)
    assert run.status == "no answer" and "no way out" in run.message
    assert 0.9 < run.end_time <= 1.0 and np.abs(run.y[:, 0] - np.cos(run.t)).max() < 1e-9
    with pytest.raises(ZeroDivisionError, match="no way out"):
        run.check()
    alone = integrate(degenerate_between(1.0, 2.0, None), [1.0, 0.0], 0.0, 3.0, "rk4", step=0.01, engine=engine)
    assert alone.status == "degenerate" and alone.end_time == run.end_time
    with pytest.raises(IntegrationError, match="rank"):
        alone.check()


@pytest.mark.parametrize("engine", ["native", "python"])
def test_an_interrupt_keeps_what_was_done(engine):
    seen = []

    def stop_at_two(t, h):
        seen.append(t)
        return t < 2.0

    run = integrate(OSCILLATOR, [1.0, 0.0], 0.0, 9.0, "rk4", step=0.01, engine=engine, progress=stop_at_two, slice_steps=30)
    assert run.status == "stopped" and not run.complete
    assert 2.0 <= run.end_time < 2.31 and run.t[-1] == run.end_time == seen[-1]
    assert np.abs(run.y[:, 0] - np.cos(run.t)).max() < 1e-9

    def press_ctrl_c(t, h):
        if t > 1.0:
            raise KeyboardInterrupt

    between = integrate(OSCILLATOR, [1.0, 0.0], 0.0, 9.0, "rk4", step=0.01, engine=engine, progress=press_ctrl_c, slice_steps=30)
    assert between.status == "interrupted" and 1.0 < between.end_time < 1.31

    def pressed_meanwhile(x, y, w):
        if x[2] > 1.5:
            raise KeyboardInterrupt
        return oscillator(x, y, w)

    inside = integrate(
        replace(OSCILLATOR, rates=StepKernel(3, 2, function=pressed_meanwhile)), [1.0, 0.0], 0.0, 9.0, "rk4", step=0.01, engine=engine
    )
    assert inside.status == "interrupted" and 1.4 < inside.end_time <= 1.5 and len(inside.t) > 100


def test_a_kernel_that_raises_stops_the_native_run(capfd):
    def broken(x, y, w):
        raise ValueError("broken kernel")

    run = integrate(replace(PENDULUM, rates=StepKernel(5, 4, function=broken)), pendulum_start(1.0), 0.0, 1.0, engine="native")
    assert run.status == "failed"
    with pytest.raises(ValueError, match="broken kernel"):
        run.check()
    assert capfd.readouterr().err == "", "nothing is printed behind the caller's back"


def test_native_is_refused_with_advice_where_llvmlite_is_missing(monkeypatch):
    monkeypatch.setattr(native, "available", lambda: False)
    with refused(UsageError, name="native"):
        integrate(OSCILLATOR, [1.0, 0.0], 0.0, 1.0, engine="native")
    assert integrate(KEPLER, [1.0, 0.0, 0.0, 1.0], 0.0, 0.5).complete, "without it the same loops run as Python"


def bounded(limit, raised):
    """The oscillator, of which nothing is known beyond a limit: a trial there raises."""

    def refuse(x):
        raise raised

    def rates(x, y, w):
        oscillator(x, y, w)
        return callbacks.DEGENERATE if not abs(x[0]) + abs(x[1]) < limit else 0

    return replace(OSCILLATOR, rates=StepKernel(3, 2, function=rates, backup=python_kernel(refuse, 3, 2)))


ABOUT_A_STATE = (UsageError("numbers overflow"), np.linalg.LinAlgError("did not converge"), OverflowError("too large"))


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("raised", ABOUT_A_STATE, ids=lambda e: type(e).__name__)
def test_a_stage_without_an_answer_rejects_the_step(engine, method, raised):
    """|x| + |v| of the motion is at most sqrt 2; the first step, of 20 s, has stages far beyond, whose error is not that of the run. Stages
    of the stiff method stay small; some lie just beyond."""
    run = integrate(
        bounded(1.41422 if method == "rodas" else 1.5, raised), [1.0, 0.0], 0.0, 20.0, method, step=20.0, tolerance=1e-7, engine=engine
    )
    assert run.status == "finished" and run.error is None and run.counters["rejected"] > 0 and run.counters["fallbacks"] > 0
    np.testing.assert_allclose(run.y[-1], [np.cos(20.0), -np.sin(20.0)], atol=1e-4)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_state_without_an_answer_ends_the_run_with_its_error(engine):
    """|x| + |v| = cos t + sin t reaches 1.2 at 0.2110 s: sin(2 t) = 1.2^2 - 1; every shorter step meets the limit there."""
    raised = UsageError("beyond the limit")
    run = integrate(bounded(1.2, raised), [1.0, 0.0], 0.0, 4.0, "dopri", engine=engine)
    assert run.status == "no answer" and run.error is raised
    assert run.end_time == pytest.approx(0.5 * np.arcsin(1.2**2 - 1.0), abs=1e-8)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_an_error_that_is_not_about_the_state_ends_the_run_at_once(engine):
    run = integrate(bounded(1.5, KeyError("row 7")), [1.0, 0.0], 0.0, 20.0, "dopri", step=20.0, engine=engine)
    assert run.status == "failed" and isinstance(run.error, KeyError) and run.end_time == 0.0


@pytest.mark.parametrize("engine", ["native", "python"])
def test_nothing_is_asked_about_a_stage_that_is_not_finite(engine):
    seen = []

    def rates(x, y, w):
        seen.append(np.isfinite(x[:2]).all())
        y[0], y[1] = x[1], -x[0] if abs(x[1]) < 2.0 else 1e308 * np.sign(x[1])
        return 0

    run = integrate(replace(OSCILLATOR, rates=StepKernel(3, 2, function=rates)), [1.0, 0.0], 0.0, 20.0, step=20.0, engine=engine)
    assert run.status == "finished" and all(seen)
    np.testing.assert_allclose(run.y[-1], [np.cos(20.0), -np.sin(20.0)], atol=1e-7)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_ctrl_c_during_a_callback_is_noted_and_ends_the_run(engine):
    def rates(x, y, w):
        if x[2] > 2.0 and not pressed:
            pressed.append(x[2])
            signal.raise_signal(signal.SIGINT)
        return oscillator(x, y, w)

    pressed: list[float] = []
    problem = replace(OSCILLATOR, rates=StepKernel(3, 2, function=rates))
    run = integrate(problem, [1.0, 0.0], 0.0, 1000.0, "rk4", step=0.01, engine=engine)
    assert run.status == "interrupted" and 1.9 < run.end_time < 30.0 and run.error is None
    assert np.abs(run.y[:, 0] - np.cos(run.t)).max() < 1e-7  # what was done before is right


def test_ctrl_c_that_comes_at_the_end_is_not_lost():
    with pytest.raises(KeyboardInterrupt), Interrupts() as keys:
        signal.raise_signal(signal.SIGINT)
        assert keys.pressed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_is_raised_where_it_comes():
    with Interrupts() as keys:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        keys.taken = True


def test_a_handler_of_the_program_stays():
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with Interrupts() as keys:
            signal.raise_signal(signal.SIGINT)
        assert seen == [1] and not keys.pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)

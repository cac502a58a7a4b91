"""The length of steps as the cause of a run that ended early: fixed ones that are too long, and stiffness that makes them short.

A fixed step is too long where it leads to a state without an answer while steps that adapt get past it: this is tried, not guessed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from linkwright.integrators import Solution, integrate

if TYPE_CHECKING:
    from linkwright.simulation.failure_diagnosis import Diagnosis

STIFF = 0.5  # fastest time constant times the step: stability, not accuracy, decides the step
HOPELESS = 1e6  # time constants in the run: beyond the reach of explicit steps
MOST_STATES = 120  # up to which eigenvalues are worth their while
WORTH_FIXED = 0.01  # of the step: where adaptive steps become shorter than this, a fixed step is no good advice
TOLERANCE, MOST_STEPS, SECONDS = 1e-6, 20_000, 2.0  # of the run by steps that adapt; it ends after so many steps or seconds


def passage(d: Diagnosis) -> Solution | None:
    """A run by steps that adapt from the start of the last mode, or from some way before its end, to the end of the step that failed.

    None where the steps of this run adapt too, where a sampler would be called again, and where it does not get there.
    """
    p, sim = d.setup.problem, d.sim
    if sim.options.adaptive or p.sampler is not None:
        return None
    if len(sim.pieces) == 1:
        x0, st = d.setup.actuation.x0, d.piece.start
        t, y = st.t, np.concatenate([st.q, st.v, x0, np.zeros(p.nx - len(x0))])
    else:
        t, y = float(d.steps[0, 0]), d.steps[0, 1:]
    end = min(d.solution.end_time + d.step, sim.t_end)
    if not (np.isfinite(y).all() and t < end):
        return None
    cut = sim.evidence.cut_at(len(sim.pieces) - 1, np.array([t]))[0]
    plain = d.setup.between(t, sim.t_end, cut).without_events()
    begun = time.perf_counter()

    def patience(*_: float) -> bool:
        return time.perf_counter() - begun < SECONDS

    o = sim.options
    done = integrate(plain, y, t, end, "rodas", tolerance=TOLERANCE, most_steps=MOST_STEPS, engine=o.engine, progress=patience)
    return done if done.status == "finished" else None


def too_long(d: Diagnosis, found: Solution, plain: str) -> str:
    """Why a fixed step failed, by a run of steps that adapt: it was long for the fastest motion there, or as `plain` says."""
    fast = _too_long_for(d, found.end_time, found.end_state)
    if fast or plain:
        return fast or plain
    near = found.t[found.t >= d.solution.end_time - 10.0 * d.step]
    h = float(np.diff(near).min(initial=d.step))
    step = f"Take step={min(0.5 * h, 0.25 * d.step):.1g}, or leave" if h > WORTH_FIXED * d.step else "Leave"
    return (
        f"the step of {d.step:g} s is too long: it leads to a state that the equations cannot be solved in, and adaptive steps get past it "
        f"with {h:.1g} s. {step} out integrator= for adaptive steps."
    )


def _fastest_mode(d: Diagnosis, t: float, y: np.ndarray) -> complex:
    """The largest eigenvalue of the rates at a state, by differences."""
    p, rates = d.setup.problem, d.piece.evaluator.rates
    n = p.nq + p.nv
    if n > MOST_STATES or not np.isfinite(y).all():
        return 0.0
    base = rates(t, y, d.cut)[:n]
    J = np.zeros((n, n))
    for i in range(n):
        h = 1e-7 * max(abs(y[i]), 1e-3)
        there = y.copy()
        there[i] += h
        J[:, i] = (rates(t, there, d.cut)[:n] - base) / h
    if not np.isfinite(J).all():
        return 0.0
    found = np.linalg.eigvals(J)
    return complex(found[np.argmax(np.abs(found))])


def stiff(d: Diagnosis) -> str:
    """Steps that are short, or too long, for the fastest motion at the end."""
    o, t, y = d.sim.options, d.solution.end_time, d.solution.end_state
    if not o.adaptive:
        return _too_long_for(d, t, y)
    mode = _fastest_mode(d, t, y)
    fast, span = abs(mode), d.sim.t_end - d.sim.start.t
    hopeless = d.solution.status == "smallest step" and fast * span > HOPELESS
    if o.method.name != "rodas" and fast * span > 1e3 and (fast * d.step > STIFF or hopeless):
        return (
            f"the equations are stiff: {_kind(mode)} in a run of {span:.3g} s decides how short the steps are. "
            f"Take integrator='rodas', or soften the stiffest spring, damper, stop or friction."
        )
    return ""


def _too_long_for(d: Diagnosis, t: float, y: np.ndarray) -> str:
    """A fixed step that is long against the fastest motion at a state."""
    mode = _fastest_mode(d, t, y)
    fast = abs(mode)
    if not (fast * (d.sim.t_end - d.sim.start.t) > 1e3 and fast * d.step > STIFF):
        return ""
    return f"the step of {d.step:g} s is too long for {_kind(mode)}. Take step={0.3 / fast:.1g}, or integrator='rodas' for stiff equations."


def _kind(mode: complex) -> str:
    """An eigenvalue as a text for people."""
    fast = abs(mode)
    return f"a time constant of {1.0 / fast:.1e} s" if abs(mode.real) > abs(mode.imag) else f"an oscillation of {fast / (2 * np.pi):.2g} Hz"

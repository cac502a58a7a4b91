"""What the time loops work on: kernels and sizes, the method's table, options, and the memory that is carried along.

Everything that changes stands in arrays, so a run may stop after any step and go on later with the same bits. The named
tuples are the arguments of the loops, in Python as in native code; kernels in them are callables there, addresses here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# why a loop came back: bits 1, 2 and 4 are those of a kernel's status word
RUNNING, NOT_FINITE, DEGENERATE, FAILED, OPEN, SMALLEST_STEP, TOO_MANY_STEPS, FINISHED, EVENT = 0, 1, 2, 4, 8, 16, 32, 64, 128
REJECTED = -1

# places in Memory.count
STARTED, STEPS, REJECTIONS, REFUSALS, EVALUATIONS, FALLBACKS, PROJECTIONS, ROWS, SAMPLE, EVENTS, HELD, REASON, COUNTS = range(13)
# places in Memory.real
(
    TIME, STEP, USED, NEXT, ERROR_BEFORE, CORRECTION, VALUE, WORST_POSITION, WORST_VELOCITY, WORST_CORRECTION, REALS,
) = range(11)  # fmt: skip


class Plan(NamedTuple):
    """Kernels and sizes. State [q, v, extra]; kernels read [state, t, parameters], the projection [q, v, t, parameters]."""

    rates: Any
    rates_again: Any  # rank-revealing, called where `rates` says degenerate
    project: Any
    project_again: Any
    events: Any
    n: int
    nq: int
    nv: int
    n_events: int
    rates_backed: bool  # which of the optional kernels are there
    projects: bool
    project_backed: bool
    unit: np.ndarray  # where quaternions start in the state


class Table(NamedTuple):
    """A Runge-Kutta method; row `stages` of K is the derivative at the new state, rows after it serve dense output only."""

    a: np.ndarray  # (rows, rows); row `stages` holds the weights of the solution
    c: np.ndarray
    error: np.ndarray  # (1 or 2, rows)
    dense: np.ndarray  # (terms beyond cubic, rows)
    stages: int
    last_in_error: bool
    adaptive: bool
    exponent: float  # of the error in the step control
    memory: float  # share of the error before (PI control)
    shrink: float
    grow: float


class Options(NamedTuple):
    start: float
    end: float
    step: float  # fixed, or the first one (0: chosen)
    smallest: float
    largest: float
    tolerance: float
    closed: float  # dimensionless residual at round-off level
    open: float  # residual at which loops count as open
    most: int  # steps, rejected ones included
    sampled: bool  # output at given times, else after every step


class Memory(NamedTuple):
    count: np.ndarray
    real: np.ndarray
    y: np.ndarray  # state
    new: np.ndarray  # state after the step
    trial: np.ndarray  # state inside the step
    K: np.ndarray
    dense: np.ndarray
    x: np.ndarray  # inputs of rates and events
    rates: np.ndarray
    px: np.ndarray  # inputs and outputs of the projection
    py: np.ndarray
    work: np.ndarray
    scale: np.ndarray  # sizes of the states that count as one
    g: np.ndarray  # event functions at the step's begin and end
    g_new: np.ndarray
    side: np.ndarray  # sign they had last
    direction: np.ndarray
    terminal: np.ndarray
    theta: np.ndarray  # where in the step they crossed zero (2: nowhere)
    samples: np.ndarray
    out_t: np.ndarray
    out_y: np.ndarray
    event_t: np.ndarray
    event_i: np.ndarray
    event_y: np.ndarray


def aligned(n: int) -> np.ndarray:
    """Zeros that start on a cache line, as kernels with vectors want their workspace."""
    raw = np.zeros(n + 8)
    first = (-raw.ctypes.data // 8) % 8
    return raw[first : first + n]

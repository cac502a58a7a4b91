"""Least assembly gaps of designs, eight positions of the drives at a time: kernel `gap_step` with a position in each lane.

Damped Newton steps, accepted where the gap becomes smaller, or its slope at the same gap: then the damping falls to a fifth, else it
grows eight times and the step is taken again from where it began. A position ends when it is closed, when the slope is at round-off, or
when no step makes the gap smaller.
"""

from __future__ import annotations

import math

import numpy as np

from linkwright.compiler.record_loops import Loop
from linkwright.compiler.records import ALL_LANES, Column, Floats, KernelPlace, Layout, Record, copy, run, sized
from linkwright.compiler.records import Kernel as KernelKind
from linkwright.kernels.driven_motion import put
from linkwright.kernels.kernel import Kernel
from linkwright.numerics.tolerances import CLOSED_FLOOR

DAMPING, SMALLEST, LARGEST = 1e-3, 1e-14, 1e8  # at the beginning, and within which it stays
EASED, RAISED = 0.2, 8.0
MOST = 120  # evaluations of a position
LEVEL = 1e-13  # share of a gap that is round-off: where it is level, steps that halve the slope count
FLAT = 1e-14  # slope, against the gap times the characteristic length
ROUGH_NS = 2000.0  # of one position, for the choice of threads


class StepInputs(Record):
    q: Floats
    drive: Floats
    damping: Floats
    near: Floats
    parameters: Floats


class StepOutputs(Record):
    q: Floats
    square: Floats
    slope: Floats


class Step(KernelKind):
    """A damped step to a smaller gap; G and its slope where it starts."""

    x: StepInputs
    y: StepOutputs


class SlopeInputs(Record):
    q: Floats
    drive: Floats
    square_weight: Floats
    near: Floats
    parameters: Floats


class SlopeOutputs(Record):
    parameters_gradient: Floats


class Slopes(KernelKind):
    """Derivatives of G."""

    x: SlopeInputs
    y: SlopeOutputs


class Gap(Record):
    step: Step
    slopes: Slopes
    best: Floats = sized("nq")  # q accepted last


def settle(w: Gap, kappa: float) -> float:
    """The least gap of the position in the inputs; q in `best`; returns G."""
    x, y = w.step.x, w.step.y
    flat, closed = FLAT * kappa, 0.5 * (CLOSED_FLOOR * kappa) * (CLOSED_FLOOR * kappa)
    least, steep, damping, again = math.inf, math.inf, DAMPING, False
    for _ in range(MOST):
        x.damping[0] = damping
        run(w.step)
        square, slope = y.square[0], y.slope[0]
        level = square <= least * (1.0 + LEVEL) and slope < 0.5 * steep
        better = square < least * (1.0 - LEVEL) or level
        if better:
            least, steep = square, slope
            copy(w.best, x.q)
        if damping > LARGEST or least <= closed or (better and slope <= flat * math.sqrt(2.0 * square)):
            break
        if better or again:  # the step found here is the next trial
            if better:
                damping = max(SMALLEST, EASED * damping)
            again = False
            copy(x.q, y.q)
        else:  # no better: a shorter step from the best place
            damping = RAISED * damping
            again = True
            copy(x.q, w.best)
    return least


def least_gap(
    w: Gap, start: Column, references: Column, drive: Column, parameters: Column, gradient: Column, q: Column, kappa: float
) -> float:
    """G at a position of the drives, searched from the position in `start`; its derivatives, and q there."""
    x, z = w.step.x, w.slopes.x
    put(x.q, start)
    put(x.drive, drive)
    put(x.near, references)
    put(x.parameters, parameters)
    least = settle(w, kappa)
    copy(z.q, w.best)
    put(z.drive, drive)
    put(z.near, references)
    put(z.parameters, parameters)
    z.square_weight[0] = 1.0
    run(w.slopes)
    for i in range(len(w.slopes.y.parameters_gradient)):
        gradient[i] = w.slopes.y.parameters_gradient[i]
    for i in range(len(w.best)):
        q[i] = w.best[i]
    return least


class LaneGaps:
    """Least gaps of designs of one mechanism at so many positions: kernels `gap_step` and `gap`, the latter differentiated."""

    def __init__(self, step: Kernel, slopes: Kernel, kappa: float, positions: int):
        self.positions, self.kappa, self.kernels = positions, kappa, (step, slopes)  # whose code stays as long as it is called
        places = {}
        for name, kernel in (("step", step), ("slopes", slopes)):
            code = kernel.code
            places[name] = KernelPlace.of(code.aosoa_address, code.inputs, code.outputs, code.work("many"))
        self.nq, self.parameters = places["step"].outputs["q"][1], places["slopes"].outputs["parameters_gradient"][1]
        self._loop = Loop(least_gap, Layout(Gap, {"nq": self.nq}, places, ALL_LANES))

    def __call__(
        self, start: np.ndarray, references: np.ndarray, drive: np.ndarray, parameters: np.ndarray, cores: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """G (designs, positions), its derivatives (designs, numbers, positions), and q (designs, entries, positions).

        start (entries, positions) and drive (drives, positions), or with an axis of designs in front; references: of the model.
        """
        n, every = len(parameters), self.positions
        slopes, q = np.empty((n, self.parameters, every)), np.empty((n, self.nq, every))
        shared = [x if x.ndim == 3 else x[None] for x in (start, references, drive)]
        given = (*(x.swapaxes(1, 2) for x in shared), np.asarray(parameters, dtype=float)[:, None])
        results = (slopes.swapaxes(1, 2), q.swapaxes(1, 2))
        squares = self._loop((n, every), *given, *results, self.kappa, expected_ns=n * every * ROUGH_NS, cores=cores)
        return squares, slopes, q

"""Measured motion of the drives and their torques, ready for a regressor: zero-phase filters, derivatives by spline.

A Butterworth filter of fourth order is run forwards and backwards over positions and efforts alike, so that both are delayed by nothing.
Velocities and accelerations are those of a spline of fifth degree. Samples are then thinned to what the filter lets through, because
their noise is no longer independent, and the ends, where the filter settles, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    System,
    Trajectory,
    UsageError,
    compiled_of,
    is_rotary,
    mechanism_of,
    quantity,
    unit_kinds,
)
from linkwright.rings.robots.identification.measured_tables import MeasuredTable, measured_table

FEWEST = 12  # samples that a spline and a filter need
RATE, RATE2 = ("angular speed", "speed"), ("angular acceleration", "acceleration")


@dataclass(frozen=True)
class DriveMeasurements:
    """Positions, speeds and accelerations of the drives, and their measured efforts, (samples, drives), in SI."""

    t: np.ndarray
    x: np.ndarray
    v: np.ndarray
    a: np.ndarray
    u: np.ndarray
    drives: tuple[str, ...]

    def motion(self) -> dict[str, Callable[[float], tuple[float, float, float]]]:
        """The drives' motion as functions of time, for `follow` at these times."""
        index = {float(t): i for i, t in enumerate(self.t)}

        def of(k: int) -> Callable[[float], tuple[float, float, float]]:
            def at(t: float) -> tuple[float, float, float]:
                i = index.get(float(t))
                i = int(np.clip(np.searchsorted(self.t, t), 0, len(self.t) - 1)) if i is None else i
                h = float(t) - self.t[i]
                x, v, a = self.x[i, k], self.v[i, k], self.a[i, k]
                return x + h * v + 0.5 * h * h * a, v + h * a, a

            return at

        return {name: of(k) for k, name in enumerate(self.drives)}

    def followed(self, system: System) -> Trajectory:
        """States of the whole mechanism along the measured motion."""
        return mechanism_of(system).follow(self.motion(), self.t)


def drive_measurements(
    system: System, data: Any, columns: Mapping[str, str] | None = None, cutoff: Any = None, gains: Sequence[str] = (), what: str = "data"
) -> DriveMeasurements:
    """Read, filter and differentiate the columns of all drives: `A`, `A.torque` (of a drive with unknown gain also
    `A.current`), and where they are there `A.v` and `A.a`."""
    table, d = measured_table(data, columns, what), system.description
    t = table.column("t", KINDS["time"])
    drives = tuple(compiled_of(system).drive_names)
    _need_times(t, what)
    x, v, a, u = [], [], [], []
    for name in drives:
        turns = is_rotary(d, name)
        x.append(table.column(name, KINDS["angle" if turns else "length"]))
        v.append(_optional(table, f"{name}.v", RATE[not turns]))
        a.append(_optional(table, f"{name}.a", RATE2[not turns]))
        u.append(_effort(table, name, turns, name in gains))
    if cutoff is None:
        return _differentiated(t, np.stack(x, 1), v, a, np.stack(u, 1), drives)
    return _filtered(t, np.stack(x, 1), np.stack(u, 1), drives, quantity(cutoff, unit_kinds.FREQUENCY, "filter"), what)


def _effort(table: MeasuredTable, name: str, turns: bool, gained: bool) -> np.ndarray:
    if gained and table.has(f"{name}.current"):
        return table.column(f"{name}.current", unit_kinds.CURRENT)
    return table.column(f"{name}.{'torque' if turns else 'force'}", unit_kinds.TORQUE if turns else unit_kinds.FORCE)


def _optional(table: MeasuredTable, name: str, kind: str) -> np.ndarray | None:
    return table.column(name, KINDS[kind]) if table.has(name) else None


def _need_times(t: np.ndarray, what: str) -> None:
    if len(t) < FEWEST:
        raise UsageError(f"{what}: {len(t)} samples are too few. Give {FEWEST} or more, better some hundreds.", name=what)
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        k = int(back[0])
        raise UsageError(
            f"{what}: the times must increase, but {t[k + 1]:g} s follows {t[k]:g} s (sample {k + 1}). Sort the samples.", name=what
        )


def _differentiated(
    t: np.ndarray, x: np.ndarray, v: Sequence[Any], a: Sequence[Any], u: np.ndarray, drives: tuple[str, ...]
) -> DriveMeasurements:
    """Measured speeds and accelerations where they are given, else those of a spline through the positions."""
    from scipy.interpolate import make_interp_spline

    spline = make_interp_spline(t, x, k=5)
    v1, a1 = spline(t, 1), spline(t, 2)
    for k in range(len(drives)):
        v1[:, k] = v1[:, k] if v[k] is None else v[k]
        a1[:, k] = a1[:, k] if a[k] is None else a[k]
    return DriveMeasurements(t, x, v1, a1, u, drives)


def _filtered(t: np.ndarray, x: np.ndarray, u: np.ndarray, drives: tuple[str, ...], cutoff: float, what: str) -> DriveMeasurements:
    from scipy.interpolate import make_interp_spline
    from scipy.signal import butter, filtfilt

    steps = np.diff(t)
    step = float(np.median(steps))
    uneven = 0.01  # variation of the time step that a filter tolerates
    if np.abs(steps - step).max() > uneven * step:
        raise UsageError(
            f"{what}: the time steps vary from {steps.min():.4g} s to {steps.max():.4g} s, but a filter needs even ones. Resample the "
            "data, or leave out filter=.",
            name=what,
        )
    if not 0.0 < cutoff < 0.5 / step:
        raise UsageError(f"filter: {cutoff:g} Hz must be above 0 and below half the sampling rate, {0.5 / step:g} Hz.", name="filter")
    b, a = butter(4, 2.0 * cutoff * step)
    settle = int(np.ceil(1.0 / (cutoff * step)))
    if len(t) <= 2 * settle + FEWEST:
        raise UsageError(f"filter: {len(t)} samples are too few for {cutoff:g} Hz: the ends that are left out have {2 * settle}.")
    smooth, efforts = filtfilt(b, a, x, axis=0), filtfilt(b, a, u, axis=0)
    spline = make_interp_spline(t, smooth, k=5)
    rows = slice(settle, len(t) - settle, max(1, int(0.5 / (cutoff * step))))
    return DriveMeasurements(t[rows], smooth[rows], spline(t[rows], 1), spline(t[rows], 2), efforts[rows], drives)

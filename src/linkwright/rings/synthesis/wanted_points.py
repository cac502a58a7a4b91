"""Wanted points, poses and crank angles as people give them: arrays, complex numbers, CSV files, texts with units; checked, in SI."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright import files
from linkwright.errors import UsageError, counted
from linkwright.text.readings import unit_size
from linkwright.text.units import ANGLE, LENGTH, matches, parse_unit, quantity

Array = np.ndarray
MOST_BYTES = 20_000_000
MOST_POINTS = 10_000
SAME = 1e-9  # of the path's size: points that are one
TURN = 2.0 * np.pi
FEWEST = 3


def length_unit(unit: Any) -> float:
    """Return the factor of a unit of length to meters."""
    factor, dimension = parse_unit(unit) if isinstance(unit, str) else (0.0, None)
    if dimension != LENGTH:
        raise UsageError(f"the unit of the points is a unit of length such as mm, m or in, not {unit!r}.")
    return factor


def path_points(given: Any, unit: str) -> tuple[Array, Array | None]:
    """Return points (n,) complex in m, and the crank angles in rad of a file that has them."""
    if isinstance(given, (str, os.PathLike)):
        rows = csv_rows(given, unit, ("x", "y", "angle"))
        return _checked(rows[:, 0] + 1j * rows[:, 1]), rows[:, 2] if rows.shape[1] > 2 else None
    factor = length_unit(unit)
    try:
        array = np.asarray(given)
        array = array.astype(complex) if array.dtype.kind == "c" else np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("a path is an array of points (x, y), complex numbers, or the name of a CSV file with columns x and y.") from None
    if array.dtype.kind != "c":
        if array.ndim != 2 or array.shape[1] != 2:
            raise UsageError(f"a path is an array (n, 2) of points (x, y), or (n,) of complex numbers; this one has shape {array.shape}.")
        array = array[:, 0] + 1j * array[:, 1]
    if array.ndim != 1:
        raise UsageError(f"complex points of a path are one row of numbers; these have shape {array.shape}.")
    return _checked(array * factor), None


def _checked(points: Array) -> Array:
    if len(points) > MOST_POINTS:
        raise UsageError(f"the path has {counted(len(points), 'point')}; take at most {MOST_POINTS}.")
    bad = np.flatnonzero(~np.isfinite(points))
    if len(bad):
        raise UsageError(f"point {bad[0] + 1} of the path is not a finite number. Give every point as two numbers, x and y.")
    size = float(np.ptp(points.real) + np.ptp(points.imag)) if len(points) else 0.0
    distinct = 0 if not size > 0.0 else len(np.unique(np.round(points / (SAME * size))))
    if distinct < FEWEST:
        raise UsageError(
            f"a path needs at least {FEWEST} points that differ; here are {max(distinct, min(len(points), 1))}. Give more of them."
        )
    return points


def is_closed(points: Array) -> bool:
    """True if the last point is the first one again."""
    return bool(abs(points[0] - points[-1]) <= SAME * (np.ptp(points.real) + np.ptp(points.imag)))


def check_distinct(points: Array) -> None:
    """Raise UsageError if a point follows itself: without timing the crank would stay where it is."""
    size = float(np.ptp(points.real) + np.ptp(points.imag))
    again = np.flatnonzero(np.abs(np.diff(points)) <= SAME * size)
    if len(again):
        k = int(again[0])
        raise UsageError(f"points {k + 1} and {k + 2} of the path are the same. Leave one out, or give the crank angles (timing=...).")


def crank_angles(timing: Any, count: int, *, closed: bool, repeated: bool) -> Array | None:
    """Return the crank angles of the points in rad, from the timing of a request; None without one.

    "equal": the turn in equal steps; "120 deg": that much of a turn in equal steps; or one angle for each point.
    """
    if timing is None:
        return None
    if isinstance(timing, str):
        if timing.strip().lower() == "equal":
            steps = count - 1 if repeated else count
            return TURN * np.arange(count) / steps
        span = quantity(timing, ANGLE, "the timing")
        if not 0.0 < abs(span) <= TURN * (1.0 + 1e-9):
            raise UsageError(f"the timing '{timing}' is not a part of a turn: equal steps over more than 0 and at most 360 deg.")
        return np.linspace(0.0, span, count)
    if not isinstance(timing, (Sequence, np.ndarray)):
        raise UsageError('timing is "equal", the part of a turn ("120 deg"), or one crank angle for each point in rad or as text.')
    angles = np.array(
        [quantity(x if isinstance(x, str) else float(x), ANGLE, "a crank angle") for x in np.asarray(timing, dtype=object).ravel()]
    )
    if len(angles) != count:
        raise UsageError(f"the timing has {counted(len(angles), 'crank angle')} for {counted(count, 'point')}. Give one for each point.")
    return checked_angles(angles)


def checked_angles(angles: Array) -> Array:
    """Return crank angles that increase or decrease within one turn; UsageError for others."""
    steps = np.diff(angles)
    if not ((steps > 0.0).all() or (steps < 0.0).all()):
        k = int(np.flatnonzero(np.sign(steps) != np.sign(steps[0]))[0]) if steps[0] != 0.0 else 0
        raise UsageError(
            f"the crank angles of points {k + 1} and {k + 2} contradict the order of the points: they must increase from point to point, "
            "or decrease. Add a turn (360 deg) where an angle passes zero."
        )
    if abs(angles[-1] - angles[0]) > TURN * (1.0 + 1e-9):
        raise UsageError(
            f"the crank angles span {abs(angles[-1] - angles[0]):.4g} rad, more than one turn. Numbers are in rad; write '30 deg' for "
            "degrees."
        )
    return angles


def csv_rows(path: Any, unit: str, names: Sequence[str], needed: int = 2) -> Array:
    """Return the columns of a CSV file by these names in SI, or the first `needed` ones; lengths without their own unit are in `unit`."""
    try:
        table = files.read_csv_table(path, MOST_BYTES)
    except files.Unreadable as problem:
        raise UsageError(str(problem)) from problem
    if not table.rows:
        raise UsageError(f"{table.path} has no rows of numbers. Write one point in each row: x, y.")
    lower = [name.lower() for name in table.names]
    if lower and all(name in lower for name in names[:needed]):
        chosen = [lower.index(name) for name in names if name in lower]
    else:
        chosen = list(range(min(table.width, needed)))
    if len(chosen) < needed:
        raise UsageError(f"{table.path} has {table.width} columns; needed are {needed}: {', '.join(names[:needed])}.")
    factors = []
    for place, k in enumerate(chosen):
        wanted = ANGLE if place == 2 else LENGTH
        written = table.units[k] if table.units else ""
        if not written and wanted is ANGLE:
            raise UsageError(f"{table.path}: the column of angles needs its unit in the header, for example 'angle [deg]'.")
        dimension = parse_unit(written or unit)[1]
        if not matches(dimension, wanted):
            raise UsageError(f"{table.path}: '{written}' is not a unit of {'angle' if wanted is ANGLE else 'length'}.")
        factors.append(unit_size(written or unit, wanted, f"{table.path}: column {place}"))
    out = np.empty((len(table.rows), len(chosen)))
    for i, (line, cells) in enumerate(table.rows):
        for j, k in enumerate(chosen):
            try:
                out[i, j] = float(cells[k]) * factors[j]
            except ValueError:
                raise UsageError(f"{table.path}:{line}: '{cells[k]}' is not a number.") from None
            if not np.isfinite(out[i, j]):
                raise UsageError(f"{table.path}:{line}: '{cells[k]}' is not a finite number.")
    return out

"""Distance of a point's path to given points: each to the nearest place of the path, or to its place at a position of the drive.

Between samples the path is the polynomial through positions, velocities and accelerations (`courses`). The nearest place is first looked
for on the straight segments between samples, then by Newton's method on the path itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError, UsageError, counted, listing
from linkwright.files.regular_files import shown
from linkwright.model.curves.csv_columns import CsvSheet, read_sheet
from linkwright.results.measures.channel_interpolation import Course, CoursePull
from linkwright.results.measures.motions import WHOLE, Pulls, course_of, spread_weights
from linkwright.results.trajectories import Trajectories
from linkwright.text.units import ANGLE, LENGTH, TIME, parse_unit

NEWTON = 8  # steps to the foot of a perpendicular
FEWEST = 1
MOST_POINTS = 20_000
AT_ONCE = 4_000_000  # distances that are held at a time


@dataclass(frozen=True, eq=False)
class TargetPoints:
    """Points (n, 2) or (n, 3) in SI; `at` are positions of the channel `by` at which the path should be there, in SI."""

    points: np.ndarray
    by: str = ""
    at: np.ndarray | None = None
    source: str = "points"

    @classmethod
    def of(cls, points: Any, at: Any = None, by: str = "") -> TargetPoints:
        """Check numbers in SI; raise UsageError where they are not usable."""
        try:
            found = np.array(points, dtype=float)
            places = None if at is None else np.array(at, dtype=float)
        except (TypeError, ValueError):
            raise UsageError(
                f"points are rows of two or three numbers in meters, not {points!r:.60}.", name="points", value=points
            ) from None
        if found.ndim != 2 or found.shape[1] not in (2, 3) or not FEWEST <= len(found) <= MOST_POINTS:
            raise UsageError(
                f"points are 1 to {MOST_POINTS:,} rows of two or three numbers in meters, not an array of shape {found.shape}.",
                name="points",
            )
        if places is not None and places.shape != (len(found),):
            raise UsageError(
                f"at= has {counted(places.size, 'position')} for {counted(len(found), 'point')}: give one for each.", name="at"
            )
        if not np.isfinite(found).all() or (places is not None and not np.isfinite(places).all()):
            raise UsageError("points and their positions must be finite numbers.", name="points")
        return cls(found, by, places)

    def described(self) -> str:
        """The numbers themselves, for a hash."""
        import hashlib

        data = [self.points.tobytes(), b"" if self.at is None else self.at.tobytes(), self.by.encode()]
        return hashlib.sha256(b"/".join(data)).hexdigest()[:16]


def read_points(path: str, what: str) -> TargetPoints:
    """Points of a CSV file: columns x, y and in space z with their units, and one more, t or a drive, where points have places."""
    sheet = read_sheet(path, what, FEWEST)
    names = [n.strip() for n in sheet.table.names]
    axes = [n for n in ("x", "y", "z") if n in names]
    if not names:
        if sheet.table.width not in (2, 3):
            raise UsageError(
                f"{what}: {sheet.path} has {sheet.table.width} columns and no header. Name them: x [mm], y [mm], A [deg].", name=what
            )
        columns, others = list(range(sheet.table.width)), []
    else:
        if axes not in (["x", "y"], ["x", "y", "z"]):
            raise UsageError(f"{what}: {sheet.path} needs columns x and y (in space also z). It has {listing(names)}.", name=what)
        columns, others = [names.index(n) for n in axes], [i for i, n in enumerate(names) if n not in axes]
    if len(others) > 1:
        raise UsageError(f"{what}: beside x, y and z {sheet.path} may have one column, t or the drive. It has {listing(names)}.", name=what)
    if not 0 < len(sheet.table.rows) <= MOST_POINTS:
        raise UsageError(f"{what}: {sheet.path} has {len(sheet.table.rows):,} points. 1 to {MOST_POINTS:,} are allowed.", name=what)
    points = np.stack([sheet.values(k, LENGTH, sheet.unit(k), what) for k in columns], axis=1)
    if not others:
        return TargetPoints(points, source=shown(path))
    k = others[0]
    return TargetPoints(points, names[k], _places(sheet, k, what), shown(path))


def _places(sheet: CsvSheet, k: int, what: str) -> np.ndarray:
    """The column of the positions: in its unit, which says whether it is a time, an angle or a length."""
    unit = sheet.unit(k)
    if not unit or unit == "-":
        raise UsageError(
            f"{what}: column '{sheet.table.names[k]}' of {sheet.path} needs a unit: {sheet.table.names[k]} [deg].",
            name=sheet.table.names[k],
        )
    try:
        dimension = parse_unit(unit)[1]
    except LinkwrightError as error:
        raise UsageError(
            f"{what}: the unit of column '{sheet.table.names[k]}' in {sheet.path}: {error}", name=sheet.table.names[k]
        ) from error
    if dimension not in (TIME, ANGLE, LENGTH):
        raise UsageError(
            f"{what}: column '{sheet.table.names[k]}' of {sheet.path} must be a time, an angle or a length, not in {unit}.",
            name=sheet.table.names[k],
        )
    return sheet.values(k, dimension, unit, what)


# -------------------------------------------------------------------- places of the path


@dataclass(frozen=True, eq=False)
class _Path:
    """A point's path as one course for each axis."""

    axes: list[Course]

    def at(self, k: np.ndarray, u: np.ndarray, order: int = 0) -> np.ndarray:
        """(motions, points, axes)."""
        return np.stack([c.at(k, u, order) for c in self.axes], axis=-1)


def _path(r: Trajectories, name: str, axis: str) -> _Path:
    x = r.values[name]
    return _Path([course_of(r, name, axis, np.broadcast_to(e, (len(x), x.shape[2]))) for e in np.eye(x.shape[2])])


def distances(r: Trajectories, name: str, target: TargetPoints, mask: np.ndarray | None, worst: bool) -> np.ndarray:
    """Root mean square of the distances of every motion, or the largest."""
    m, k = len(r.t), len(target.points)
    size = max(1, AT_ONCE // (k * r.t.shape[1]))
    parts = []
    for first in range(0, m, size):
        some = slice(first, first + size)
        part = Trajectories.of({n: x[some] for n, x in r.values.items()}, r.t[some], r.drive, r.dimension)
        found = _found(part, name, target, None if mask is None else mask[some])[2]
        square = (found**2).sum(axis=2)
        parts.append(np.sqrt(square.max(axis=1) if worst else square.mean(axis=1)))
    return np.concatenate(parts) if parts else np.zeros(0)


def distance_pull(r: Trajectories, name: str, target: TargetPoints, mask: np.ndarray | None, worst: bool) -> Pulls:
    """Weights of the samples of one motion; a foot that moves along the path does not count (envelope theorem)."""
    k, u, gap = (x[0] for x in _found(r, name, target, mask))
    square = (gap**2).sum(axis=1)
    axis, out = target.by or "t", {}
    x = r.values[name]
    if not np.isfinite(square).all():
        return {name: np.full(x.shape[1:], np.nan)}
    if worst:
        i = int(np.argmax(square))
        weights = {i: gap[i] / np.sqrt(square[i]) if square[i] > 0.0 else np.zeros(x.shape[2])}
    else:
        total = np.sqrt(square.mean())
        weights = {i: gap[i] / (len(gap) * total) if total > 0.0 else np.zeros(x.shape[2]) for i in range(len(gap))}
    for c in range(x.shape[2]):
        along = np.eye(x.shape[2])[c][None]
        pull = CoursePull(course_of(r, name, axis, along))
        for i, weight in weights.items():
            pull.add(int(k[i]), float(u[i]), float(weight[c]))
        spread_weights(r, out, pull, name, axis, along)
    return out or {name: np.zeros(x.shape[1:])}


def _found(r: Trajectories, name: str, target: TargetPoints, mask: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(interval, share, path less point) for every motion and point."""
    path = _path(r, name, target.by or "t")
    k, u = _nearest(path, r.values[name], target.points, mask) if target.at is None else _timed(r, path, target)
    return k, u, np.where(np.isnan(u)[..., None], np.nan, path.at(k, np.nan_to_num(u)) - target.points)


def _timed(r: Trajectories, path: _Path, target: TargetPoints) -> tuple[np.ndarray, np.ndarray]:
    """Places at given positions of the drive or times; nan where the motion does not come there."""
    assert target.at is not None
    s = path.axes[0].s
    falls = target.by != "t" and bool((np.diff(np.broadcast_to(r.values[target.by], s.shape)[0]) < 0.0).all())
    at = np.broadcast_to(-target.at if falls else target.at, (len(s), len(target.at)))
    if target.by != "t" and r.dimension(target.by) == "angle":
        at = s[:, :1] + np.mod(at - s[:, :1] + 1e-12, WHOLE) - 1e-12
    steps = s.shape[1] - 1
    k = np.clip((s[:, None, :] <= at[..., None]).sum(axis=2) - 1, 0, steps - 1)
    left, right = np.take_along_axis(s, k, 1), np.take_along_axis(s, k + 1, 1)
    u = (at - left) / (right - left)
    slack = 1e-9 * np.maximum(1.0, np.abs(s[:, -1:] - s[:, :1]) / (right - left))
    return k, np.where((u >= -slack) & (u <= 1.0 + slack), np.clip(u, 0.0, 1.0), np.nan)


def _nearest(path: _Path, x: np.ndarray, points: np.ndarray, mask: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Feet of the perpendiculars from the points onto the path."""
    a, way = x[:, :-1], np.diff(x, axis=1)
    length = (way**2).sum(axis=2)
    usable = np.isfinite(length) if mask is None else mask[:, :-1] & mask[:, 1:] & np.isfinite(length)
    to = points[None, :, None, :] - a[:, None]
    share = np.clip((to * way[:, None]).sum(axis=3) / np.where(length > 0.0, length, 1.0)[:, None], 0.0, 1.0)
    square = ((to - share[..., None] * way[:, None]) ** 2).sum(axis=3)
    square = np.where(usable[:, None], square, np.inf)
    k = np.argmin(square, axis=2)
    u = np.take_along_axis(share, k[..., None], 2)[..., 0]
    for _ in range(NEWTON):
        k, u = _stepped(path, k, u, points, usable)
    none = ~np.isfinite(np.take_along_axis(square, k[..., None], 2)[..., 0]) & ~usable.any(axis=1)[:, None]
    return k, np.where(none, np.nan, u)


def _stepped(path: _Path, k: np.ndarray, u: np.ndarray, points: np.ndarray, usable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One step of Newton's method for (p - point).p' = 0, into the next interval where it leads there and that counts."""
    gap, rate, bend = path.at(k, u) - points, path.at(k, u, 1), path.at(k, u, 2)
    h, n = path.axes[0].width(k), path.axes[0].x.shape[1] - 1
    slope = (gap * rate).sum(axis=2)
    curve = (rate * rate).sum(axis=2) + (gap * bend).sum(axis=2)
    plain = (rate * rate).sum(axis=2)
    curve = np.where(curve > 0.1 * plain, curve, plain)
    v = u - slope / np.where(curve > 0.0, curve, 1.0) / h
    closed = np.all([c.closed for c in path.axes], axis=0)[:, None]
    following = np.where(v > 1.0, k + 1, np.where(v < 0.0, k - 1, k))
    following = np.where(closed, np.mod(following, n), following)
    inside = (following >= 0) & (following < n)
    other = np.clip(following, 0, n - 1)
    goes = (other != k) & inside & np.take_along_axis(usable, other, 1)
    return np.where(goes, other, k), np.where(goes, np.where(v > 1.0, 0.0, 1.0), np.clip(v, 0.0, 1.0))


def file_of(text: str) -> str:
    """A path as it is written after `to`, without quotes."""
    return text.strip().strip("'\"")

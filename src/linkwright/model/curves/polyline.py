"""A reference along straight lines from point to point, at constant rate, with corners that may be rounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.curves import Curve
from linkwright.model.curves.combined import Together
from linkwright.model.curves.piecewise import Piecewise
from linkwright.model.curves.reading import is_list, read_number, short
from linkwright.model.curves.reference_kinds import Components, Reference, count
from linkwright.text.units import KINDS


@dataclass(frozen=True, eq=False, repr=False)
class Polyline(Reference):
    """Straight lines; within `rounding` of a corner polynomials of fourth degree, whose second derivative does not jump."""

    points: Any
    rounding: Any = field(default=0.0, kw_only=True)
    duration: Any = field(default=1.0, kw_only=True)
    kind = "polyline"

    def bind(self, to: Components) -> Curve:
        p = self._places(to)
        seconds = to.seconds(self.duration, "duration")
        way = np.diff(p, axis=0)
        lengths = np.sqrt((way**2).sum(axis=1))
        if not lengths.all():
            i = int(np.argmin(lengths))
            raise UsageError(
                f"{to.what}: points {i + 1} and {i + 2} of a polyline are the same place. Leave one of them out.", name=to.what
            )
        d = read_number(self.rounding, to.dimensions[0], f"{to.what}: rounding")
        room = min([lengths[0], lengths[-1], *(0.5 * lengths[1:-1])])
        if not 0.0 <= d <= room:
            raise UsageError(
                f"{to.what}: rounding is the distance from a corner at which its line is left: 0 to {room:.4g} (half of the "
                f"shortest line between two corners, or a whole one at an end), not {short(self.rounding)}.",
                name=to.what,
            )
        breaks, rows = _pieces(p, way / lengths[:, None], lengths, d)
        scale = seconds / float(lengths.sum())
        power = scale ** -np.arange(rows.shape[1])
        times = to.t + breaks * scale
        times[-1] = np.nextafter(to.t + seconds, np.inf)  # the last place belongs to the last line
        return Together(tuple(Piecewise(times, rows[:, :, k] * power) for k in range(p.shape[1])))

    def _places(self, to: Components) -> np.ndarray:
        """The points in SI, (n, components)."""
        rows = self.points
        if not is_list(rows) or len(rows) < 2 or any(not is_list(r) or len(r) != to.size for r in rows):
            raise UsageError(
                f"{to.what}: a polyline goes through two or more points, each of {count(to.kinds)}, not {short(rows)}.", name=to.what
            )
        if len(set(to.kinds)) > 1:
            raise UsageError(
                f"{to.what}: a polyline needs components of one kind, lengths or angles. These are {', '.join(to.kinds)}.",
                name=to.what,
                allowed=to.kinds,
            )
        return np.array([[read_number(x, KINDS[k], to.what) for x, k in zip(r, to.kinds, strict=True)] for r in rows])


def _pieces(p: np.ndarray, e: np.ndarray, lengths: np.ndarray, d: float) -> tuple[np.ndarray, np.ndarray]:
    """Breaks by length, and coefficients (breaks + 1, 5, components); at rest before and behind.

    At a corner the direction changes from e1 to e2 as 3 z^2 - 2 z^3 of the share z of the length 2 d.
    """
    at = np.concatenate([[0.0], np.cumsum(lengths)])
    breaks, rows = [0.0], [np.zeros((5, p.shape[1]))]
    rows[0][0] = p[0]
    for k, direction in enumerate(e):
        line = np.zeros((5, p.shape[1]))
        line[0], line[1] = p[k] + direction * (d if k > 0 else 0.0), direction
        rows.append(line)
        if k == len(e) - 1:
            break
        if d > 0.0:
            breaks.append(at[k + 1] - d)
            bend = np.zeros((5, p.shape[1]))
            bend[0], bend[1] = p[k + 1] - d * direction, direction
            bend[3], bend[4] = (e[k + 1] - direction) / (2.0 * d) ** 2, -0.5 * (e[k + 1] - direction) / (2.0 * d) ** 3
            rows.append(bend)
        breaks.append(at[k + 1] + d)
    end = np.zeros((5, p.shape[1]))
    end[0] = p[-1]
    return np.array([*breaks, at[-1]]), np.array([*rows, end])

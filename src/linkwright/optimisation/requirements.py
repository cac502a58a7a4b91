"""Requirements on one motion, in the grammar of constraints: what an exercise or a specification asks of a model.

requirements(c, ["time ratio guide = 1.71 +- 0.01", "C.transmission > 40 deg", "full turn"])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.files.columns import aligned
from linkwright.model.file.units import KINDS, matches, parse_unit
from linkwright.optimisation.grammar import LimitText, limit, texts
from linkwright.results.measures import check, dimension_of_measure, measure
from linkwright.results.trajectory import Trajectory

PLAIN = ("none", "mixed", "pure number")  # dimensions without a unit
ROUND_OFF = 1e-9  # share of a limit by which a value may pass it


@dataclass(frozen=True)
class Requirement:
    """A requirement and what the motion has: `value` is the one nearest to or farthest beyond the limit, in its `unit`."""

    text: str
    value: float | None  # None: a full turn, a point in a box
    unit: str
    met: bool

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Requirements:
    """Requirements one by one; prints as a table."""

    rows: tuple[Requirement, ...]

    @property
    def met(self) -> bool:
        return all(r.met for r in self.rows)

    def __str__(self) -> str:
        found = ["" if r.value is None else f"{r.value:.6g} {r.unit}".rstrip() for r in self.rows]
        return "\n".join(aligned([(r.text, "met" if r.met else "not met", x) for r, x in zip(self.rows, found, strict=True)]))


def requirements(c: Trajectory, given: str | Sequence[str]) -> Requirements:
    """Compare a turn or run with requirements: constraints as `m.optimise` takes them. Raise UsageError for one that cannot be read."""
    return Requirements(tuple(_row(c, limit(text)) for text in texts(given)))


def _row(c: Trajectory, wanted: LimitText) -> Requirement:
    if wanted.full_turn:
        return Requirement(wanted.text, None, "", bool(c.full_turn))
    size = parse_unit(wanted.unit)[0] if wanted.unit else 1.0
    alone = len(wanted.terms) == 1 and wanted.terms[0].divisor is None
    parts = [term.weight * _values(c, term.what, wanted if alone else None) for term in wanted.terms]
    found = np.asarray(sum(parts[1:], start=parts[0]), dtype=float) / size
    if wanted.components:
        if found.ndim != 2 or found.shape[1] != len(wanted.components):
            raise UsageError(f"'{wanted.text}': a box of {len(wanted.components)} ranges is for a point with as many components.")
        inside = [_beyond(found[:, k], low, high).max() <= 0.0 for k, (low, high) in enumerate(wanted.components)]
        return Requirement(wanted.text, None, wanted.unit, all(inside))
    if found.ndim > 1:
        raise UsageError(f"'{wanted.text}': {wanted.terms[0].what} is a vector; name one component, or write a box.")
    flat = np.atleast_1d(found)
    beyond = _beyond(flat, wanted.low, wanted.high)
    worst = int(np.argmax(np.where(np.isnan(beyond), np.inf, beyond)))
    return Requirement(wanted.text, float(flat[worst]), wanted.unit, bool(beyond[worst] <= 0.0))  # False for NaN


def _beyond(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """How far values lie outside of limits, less round-off; negative inside."""
    room = ROUND_OFF * max(abs(v) for v in (low, high) if np.isfinite(v))
    return np.maximum(low - x, x - high) - room


def _values(c: Trajectory, what: str, wanted: LimitText | None) -> Any:
    """A measure of the motion, or a channel at all samples, SI; `wanted`: its unit must fit."""
    known = what.partition(".")[0] in {name.partition(".")[0] for name in c.channels}
    if known and " " not in what:
        values, dimension = c[what], c.dimension(what)
    else:
        asked = measure(what)
        check([asked], c)
        values, dimension = asked.read_from(c), dimension_of_measure(asked, c)
    if wanted is not None:
        plain = dimension in PLAIN
        if not wanted.unit and not plain:
            raise UsageError(f"'{wanted.text}': write the unit, {what} is {dimension}.")
        if wanted.unit and (plain or not matches(parse_unit(wanted.unit)[1], KINDS[dimension])):
            raise UsageError(f"'{wanted.text}': {what} is {'a plain number' if plain else dimension}, not measured in {wanted.unit}.")
    return values

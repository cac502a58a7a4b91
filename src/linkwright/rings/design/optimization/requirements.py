"""Requirements on one motion, in the grammar of constraints: what an exercise or a specification asks of a model.

requirements(c, ["time ratio guide = 1.71 +- 0.01", "C.transmission_angle > 40 deg", "full turn"])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    NONE,
    SAME_NUMBER,
    Cell,
    Dimension,
    Result,
    Table,
    Trajectory,
    UsageError,
    goals,
    matches,
    measures,
    readings,
    unit_kinds,
)

DIMENSIONS: dict[str, Dimension] = {**KINDS, "energy": unit_kinds.ENERGY, "none": NONE, "mixed": NONE}  # of channels and measures


@dataclass(frozen=True)
class CheckedRequirement:
    """A requirement and what the motion has: `value` is the one nearest to or farthest beyond the limit, in its `unit`."""

    text: str
    value: float | None  # None: a full turn, a point in a box that holds it
    unit: str
    met: bool
    beyond: float = 0.0  # by how much it is not met, in `unit`
    side: str = ""  # of a box: the side that is passed farthest

    @property
    def how(self) -> str:
        """By how much it is not met; empty where it is, or where there is no number for it."""
        if self.met or not self.beyond > 0.0:
            return ""
        where = f" on the {self.side}" if self.side else ""
        return f"missed by {self.beyond:.4g} {self.unit}".rstrip() + where

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Requirements(Result):
    """Requirements one by one; prints as a table."""

    rows: tuple[CheckedRequirement, ...]

    @property
    def ok(self) -> bool:
        """True if every requirement is met."""
        return all(r.met for r in self.rows)

    def as_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, "requirements": [r.as_dict() for r in self.rows]}

    def table(self) -> Table:
        """Return a row for each requirement, with the value found in the unit of its text."""
        rows = [(r.text, Cell(r.met, "met" if r.met else "not met"), r.value, r.unit, r.how or None) for r in self.rows]
        heads = [("requirement", ""), ("met", ""), ("found", "", ".6g"), ("unit", ""), ("why", "")]
        return Table.of(heads, rows, "requirements").without_empty()


def requirements(c: Trajectory, given: str | goals.Requirement | Sequence[str | goals.Requirement]) -> Requirements:
    """Compare a cycle or run with requirements: constraints of `m.optimize` on channels and measures. Raise UsageError for one that
    cannot be read, or whose units do not fit."""
    return Requirements(tuple(_row(c, wanted) for wanted in goals.requirements(given)))


def _row(c: Trajectory, wanted: goals.Requirement) -> CheckedRequirement:
    if wanted.full_turn:
        return CheckedRequirement(wanted.text, None, "", bool(c.full_turn))  # not met where it cannot be determined
    size = readings.channel_unit(wanted.unit)[0] if wanted.unit else 1.0
    parts = [term.weight * np.asarray(_values(c, term, wanted), dtype=float) for term in wanted.terms]
    if wanted.components:
        found = parts[0] / size  # of one term
        if found.ndim != 2 or found.shape[1] != len(wanted.components):
            raise UsageError(
                f"'{wanted.text}': a box of {len(wanted.components)} ranges is for a point with as many components.", name=wanted.text
            )
        return _boxed(found, wanted)
    for term, part in zip(wanted.terms, parts, strict=True):
        if part.ndim > 1:
            raise UsageError(f"'{wanted.text}': {term.what} is a vector. Name one component, or write a box.", name=wanted.text)
    flat = np.atleast_1d(sum(parts[1:], start=parts[0])) / size
    beyond = _beyond(flat, wanted.low, wanted.high)
    worst = int(np.argmax(np.where(np.isnan(beyond), np.inf, beyond)))
    met = bool(beyond[worst] <= 0.0)  # False for NaN
    far = float(max(wanted.low - flat[worst], flat[worst] - wanted.high))
    return CheckedRequirement(wanted.text, float(flat[worst]), wanted.unit, met, 0.0 if met else far)


def _boxed(found: np.ndarray, wanted: goals.Requirement) -> CheckedRequirement:
    """A point in a box: where it is passed, its farthest coordinate beyond a side, and the side."""
    rows = []
    for k, ((low, high), sides) in enumerate(zip(wanted.components, goals.box_sides(found.shape[1]), strict=True)):
        x = found[:, k]
        room = SAME_NUMBER * max(abs(low), abs(high))
        rows += [(low - x.min(), room, float(x.min()), sides[0]), (x.max() - high, room, float(x.max()), sides[1])]
    missed = [row for row in rows if not row[0] <= row[1]]
    if not missed:
        return CheckedRequirement(wanted.text, None, wanted.unit, True)
    far, _, value, side = max(missed, key=lambda row: row[0])
    return CheckedRequirement(wanted.text, value, wanted.unit, False, float(far), side)


def _beyond(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """How far values lie outside of limits, less round-off; negative inside."""
    room = SAME_NUMBER * max(abs(v) for v in (low, high) if np.isfinite(v))
    return np.maximum(low - x, x - high) - room


def _values(c: Trajectory, term: goals.GoalTerm, wanted: goals.Requirement) -> Any:
    """Return a measure of the motion, or a channel at the samples that count, SI; raise UsageError where units do not fit."""
    found = goals.channel_in(term.what)
    if found is not None and found[0].partition(".")[0] in {name.partition(".")[0] for name in c.channels}:
        if found[1] and len(wanted.terms) > 1:
            raise UsageError(
                f"'{wanted.text}': {found[0]} is a curve over a part of the motion. In a sum, choose one number of it: "
                f"max {term.what}.",
                name=wanted.text,
            )
        curve = _curve(c, found[0], found[1], wanted.text, alone=len(wanted.terms) == 1)
        values, dimension = curve, c.dimension(found[0])
    else:
        asked = measures.measure(goals.measure_text(term.what))
        measures.check([asked], c)
        values, dimension = asked.read_from(c), measures.dimension_of_measure(asked, c)
    _need_unit(term, DIMENSIONS[dimension], wanted, energy=dimension == "energy")
    return values


def _curve(c: Trajectory, channel: str, window: str, text: str, *, alone: bool) -> np.ndarray:
    """Return a channel at all samples, or in a window at its samples and its ends; `alone`: with local extremes between samples, which
    terms of a sum do not have at the same instant."""
    if not window and not (alone and c[channel].ndim == 1):
        return c[channel]
    asked = measures.measure(f"max {channel}{window}")
    measures.check([asked], c)
    r = asked.motions(c)
    if alone and r.values[channel].ndim == 2:
        found = asked.sampled(r)
        inside = found.x[0] if found.mask is None else found.x[0, found.mask[0]]
        if len(inside):
            return inside
    mask, ends = measures.window_mask(r, asked.window), measures.window_ends(r, asked.window)
    assert mask is not None
    samples = r.values[channel][0]
    columns = samples.reshape(len(samples), -1).T
    parts = [columns[:, mask[0]]] + ([] if ends is None else [ends.values(columns)[:, ends.there[0]]])
    inside = np.concatenate(parts, axis=1)
    if not inside.shape[1]:
        raise UsageError(f"'{text}': no sample of the motion lies in the window '{window.strip()}'.", name=text)
    return inside[0] if samples.ndim == 1 else inside.T


def _need_unit(term: goals.GoalTerm, dimension: Dimension, wanted: goals.Requirement, *, energy: bool) -> None:
    """Raise UsageError unless a term, over its divisor, is measured in the unit of the limit."""
    what = term.what
    if term.divisor is not None:
        if not matches(dimension, term.divisor):
            raise UsageError(
                f"'{wanted.text}': {what} is {unit_kinds.describe(dimension)}, it is divided by {unit_kinds.describe(term.divisor)}.",
                name=wanted.text,
            )
        what, dimension = f"{what} over a quantity", NONE
    said = "a plain number" if dimension == NONE else unit_kinds.describe(dimension)
    if not wanted.unit and dimension != NONE:
        raise UsageError(f"'{wanted.text}': write the unit, {what} is {said}.", name=wanted.text)
    written = readings.channel_unit(wanted.unit)[1] if wanted.unit else NONE
    if wanted.unit and (not matches(written, dimension) or (dimension == NONE and written != NONE)):  # nor is a ratio an angle
        raise UsageError(f"'{wanted.text}': {what} is {said}, not measured in {wanted.unit}.", name=wanted.text)
    if wanted.unit:
        readings.unit_size(wanted.unit, dimension, f"'{wanted.text}': {what}", energy=energy)

"""Limits of elements over the designs of a study that are computed in lanes: reach, contact, drives, judged as those of single motions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError
from linkwright.model.description import Description
from linkwright.model.file.units import KINDS, shown
from linkwright.results.element_limits import ElementLimit, JudgedLimit, element_limits, leads, limit_text, position_at
from linkwright.results.measures.motions import MeasuredMotions
from linkwright.rings.design.studies.cases import Case
from linkwright.rings.design.studies.targets import VariedNumbers

LOST = "a check of this motion failed"
APART = 1e-3  # share by which numbers are changed to see whether limits depend on them; each by another share


def failure(failed: Mapping[str, str]) -> str:
    """Why a row has no numbers: the checks that failed, with their texts."""
    return f"{LOST}: {'; '.join(f'{name} ({text})' for name, text in failed.items())}"


def has_motor_plate(d: Description) -> bool:
    """True for motors with limits of their own: what they need follows from a single motion only."""
    return any(key in ("max_torque", "max_current", "max_speed", "voltage", "rated") for x in d.drives for key, _ in x.motor)


@dataclass(frozen=True, eq=False)
class StudyLimits:
    """The limits of a mechanism whose numbers vary; `channels` are those that have to be read for them."""

    numbers: VariedNumbers
    case: Case
    known: Callable[[ElementLimit], bool]  # whether a motion of this study has the channel

    @cached_property
    def limits(self) -> list[ElementLimit]:
        return [x for x in element_limits(self.numbers.described.numbers()) if self.known(x)]

    @property
    def channels(self) -> list[str]:
        return [x.channel for x in self.limits]

    @cached_property
    def _fixed(self) -> bool:
        """True if no number that varies is in a limit."""
        shares = 1.0 + APART * (1.0 + np.modf(0.618 * np.arange(1, len(self.numbers.targets) + 1))[0])
        moved = np.array([t.nominal for t in self.numbers.targets]) * shares
        try:
            return self._of(moved) == self.limits
        except LinkwrightError:
            return False

    def _of(self, row: np.ndarray) -> list[ElementLimit]:
        described, _ = self.numbers.design(self.case, row)
        return [x for x in element_limits(described.numbers()) if self.known(x)]

    def broken(
        self, values: np.ndarray, ok: np.ndarray, r: MeasuredMotions, place: Callable[[float], Any] = lambda x: x
    ) -> dict[int, str]:
        """Reasons of the rows of `values` whose motions pass a limit; `place` is the place in the cycle of a position of the drive."""
        rows = np.flatnonzero(ok)
        if not self.limits or not len(rows):
            return {}
        each = [self.limits] if self._fixed else [self._of(values[i]) for i in rows]
        some = MeasuredMotions({n: np.asarray(x)[rows] for n, x in r.values.items()}, r.t[rows], r.drive, r.dimension)
        units, found = self.numbers.described.units, dict[int, dict[str, list[str]]]()
        led = leads(r.drive, r.dimension, r.values)
        for k in range(len(self.limits)):
            at = JudgedLimit.of([x[k] for x in each], some)
            for m in np.flatnonzero(at.failed):
                i, limit, under = int(rows[m]), each[m if len(each) > 1 else 0][k], bool(at.under[m])
                value, t = (at.low[m], at.at_low[m]) if under else (at.high[m], at.at_high[m])
                where = f"t = {t:.4g} s"
                if led:
                    x = float(place(position_at(some.t[m], some.values[r.drive][m], float(t))))
                    where = f"{r.drive} = {shown(x, KINDS[r.dimension(r.drive)], units, 4)}"
                text = f"{limit_text(limit, float(value), under, units)} at {where}"
                found.setdefault(i, {}).setdefault(limit.check, []).append(text)
        return {i: failure({name: "; ".join(texts) for name, texts in by.items()}) for i, by in found.items()}


def measured(table: Mapping[str, np.ndarray], t: Any, drive: str, dimension: Callable[[str], str], n: int) -> MeasuredMotions:
    """Channels (rows, samples, ...) of all rows with their times."""
    samples = next(iter(table.values())).shape[1]
    return MeasuredMotions(table, np.broadcast_to(t, (n, samples)), drive, dimension)

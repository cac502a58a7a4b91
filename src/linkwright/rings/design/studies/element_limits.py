"""Limits of elements over the designs of a study that are computed in lanes: reach, contact, drives, judged as those of single motions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import KINDS, Description, LinkwrightError, Trajectories, element_limits, shown
from linkwright.properties import cached_property
from linkwright.rings.design.studies.analyses import Case, Run
from linkwright.rings.design.studies.varied_numbers import VariedNumbers

LOST = "a check of this motion failed"


def failure(failed: Mapping[str, str]) -> str:
    """Why a row has no numbers: the checks that failed, with their texts."""
    return f"{LOST}: {named(failed)}"


def named(checks: Mapping[str, str]) -> str:
    """Checks with their texts: `reach (...); inputs (...)`."""
    return "; ".join(f"{name} ({text})" for name, text in checks.items())


def has_motor_plate(d: Description) -> bool:
    """True for motors with limits of their own: what they need follows from a single motion only."""
    return any(key in ("max_torque", "max_current", "max_speed", "supply_voltage") for x in d.drives for key, _ in x.motor)


class JudgedRows(NamedTuple):
    """Checks on the limits of rows that did not pass: by row, the text of each check."""

    failed: dict[int, dict[str, str]]
    unknown: dict[int, dict[str, str]]


@dataclass(frozen=True, eq=False)
class StudyLimits:
    """The limits of a mechanism whose numbers vary, as far as motions of this study have their channels."""

    numbers: VariedNumbers
    case: Case
    known_of: Callable[[list[element_limits.ElementLimit]], tuple[list[element_limits.ElementLimit], dict[str, str]]]  # see `known_limits`

    @cached_property
    def _split(self) -> tuple[list[element_limits.ElementLimit], dict[str, str]]:
        return self.known_of(element_limits.element_limits(self.numbers.described.numbers()))

    @property
    def limits(self) -> list[element_limits.ElementLimit]:
        return self._split[0]

    @property
    def not_known(self) -> dict[str, str]:
        """Checks that no row can decide, with the reason."""
        return self._split[1]

    @property
    def channels(self) -> list[str]:
        """Channels that have to be read."""
        return [x.channel for x in self.limits]

    @cached_property
    def _fixed(self) -> bool:
        """True if no number that varies is in a limit."""
        apart = 1e-3  # share by which numbers are changed to see whether limits depend on them; each by another share
        shares = 1.0 + apart * (1.0 + np.modf(0.618 * np.arange(1, len(self.numbers.targets) + 1))[0])
        moved = np.array([t.nominal for t in self.numbers.targets]) * shares
        try:
            return self._of(moved) == self.limits
        except LinkwrightError:
            return False

    def _of(self, row: np.ndarray) -> list[element_limits.ElementLimit]:
        described, _ = self.numbers.design(self.case, row)
        return self.known_of(element_limits.element_limits(described.numbers()))[0]

    def judged(
        self,
        values: np.ndarray,
        ok: np.ndarray,
        r: Trajectories,
        place: Callable[[float], Any] = lambda x: x,
        closer: Callable[[np.ndarray, str], Trajectories | None] = lambda rows, channel: None,
    ) -> JudgedRows:
        """Rows of `values` whose motions pass a limit, and those of which samples do not decide it. `place` is the place in the cycle of a
        position of the drive, `closer` gives a channel of some rows with more samples."""
        rows, out = np.flatnonzero(ok), JudgedRows({}, {})
        if not self.limits or not len(rows):
            return out
        each = [self.limits] if self._fixed else [self._of(values[i]) for i in rows]
        some = r.rows(r.values, rows)
        units = self.numbers.described.units
        for k in range(len(self.limits)):
            mine = [x[k] for x in each]
            for m, at, j in self._settled(mine, some, rows, closer):
                limit, i = mine[m if len(mine) > 1 else 0], int(rows[m])
                found = out.failed if at.failed[j] else out.unknown
                text = _passed_text(limit, at, j, some, m, units, place) if at.failed[j] else element_limits.unresolved(limit, at, units, j)
                texts = found.setdefault(i, {})
                texts[limit.check] = f"{texts[limit.check]}; {text}" if limit.check in texts else text
        return out

    def _settled(
        self,
        limits: list[element_limits.ElementLimit],
        some: Trajectories,
        rows: np.ndarray,
        closer: Callable[[np.ndarray, str], Any],
    ) -> Iterator[tuple[int, element_limits.JudgedLimit, int]]:
        """Motions that do not hold one limit for certain: (motion, verdicts, place in these)."""
        run = isinstance(self.case, Run)
        at = (element_limits.JudgedLimit.at_samples if run and limits[0].holds(some.drive) else element_limits.JudgedLimit.of)(limits, some)
        again = np.flatnonzero(at.unknown & np.isfinite(at.most))
        dense = None if run or not len(again) else closer(rows[again], limits[0].channel)
        if dense is not None:
            finer = element_limits.JudgedLimit.of([limits[m] for m in again] if len(limits) > 1 else limits, dense)
            for j, m in enumerate(again):
                if finer.failed[j] or finer.unknown[j]:
                    yield int(m), finer, j
        done = set() if dense is None else set(again.tolist())
        yield from ((int(m), at, int(m)) for m in np.flatnonzero(at.failed | at.unknown) if int(m) not in done)


def _passed_text(
    limit: element_limits.ElementLimit,
    at: element_limits.JudgedLimit,
    j: int,
    some: Trajectories,
    m: int,
    units: tuple[str, ...],
    place: Callable[[float], Any],
) -> str:
    """By how much a motion passes a limit, and where."""
    under = bool(at.under[j])
    value, t = (at.low[j], at.at_low[j]) if under else (at.high[j], at.at_high[j])
    where = f"t = {t:.4g} s"
    if element_limits.leads(some.drive, some.dimension, some.values):
        x = float(place(element_limits.position_at(some.t[m], some.values[some.drive][m], float(t))))
        where = f"{some.drive} = {shown(x, KINDS[some.dimension(some.drive)], units, 4)}"
    return f"{element_limits.limit_text(limit, float(value), under, units)} at {where}"

"""Limits that elements of a mechanism set to a channel: reach of gas springs and stops, contact of cams and belts, limits of drives.

Every such limit is data, `low <= channel <= high`, so that a cycle, a run, many designs in lanes, the optimizer and the page test the same.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwright import elements
from linkwright.elements import CONTACT, DRIVES, REACH
from linkwright.errors import LinkwrightError
from linkwright.model.coordinates import coordinate, lengths, slides
from linkwright.model.description import Description
from linkwright.numerics.tolerances import AT_END
from linkwright.results.checks import Check
from linkwright.results.measures.motions import curve_of
from linkwright.results.trajectories import Trajectories
from linkwright.text.units import KINDS, shown

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

NO_FORCE = 1e-9  # of the largest contact force or tension: what round-off leaves where nothing presses
FINER = 8  # times the samples of a cycle, where these do not decide
SHORTEST = 1e-3  # m: of a length that hardly changes, for the share


@dataclass(frozen=True)
class ElementLimit:
    """`low <= channel <= high` (SI; None: open). `what` completes "gas spring 'gas' " for a value beyond."""

    check: str
    element: str  # "gas spring 'gas'"
    channel: str
    dimension: str
    low: float | None = None
    high: float | None = None
    below: str = "goes below"  # what a value below `low` means
    above: str = "goes above"
    loads: bool = False  # the channel needs masses
    owner: str = ""  # element whose own numbers are the limits
    enforced: bool = False  # a simulation holds the coordinate there, or lets go what would pull

    @property
    def ends(self) -> tuple[float | None, float | None]:
        return self.low, self.high

    def slack(self, values: np.ndarray) -> np.ndarray:
        """(...,): how far values may be beyond, of the last axis."""
        if self.dimension == "angle":
            return np.full(values.shape[:-1], AT_END)
        size = np.abs(values).max(axis=-1, initial=0.0)
        if self.dimension == "length":
            return AT_END * np.maximum(np.ptp(values, axis=-1), SHORTEST)
        return NO_FORCE * size

    def holds(self, drive: str) -> bool:
        """True if a run stops at the limit: one of a coordinate whose motion is not given."""
        return self.enforced and self.channel != drive


def element_limits(d: Description) -> list[ElementLimit]:
    """Every limit of a description of plain numbers, by kind of the check."""
    found = [*_of_elements(d), *_of_drives(d)]
    return sorted(found, key=lambda x: (REACH, CONTACT, DRIVES).index(x.check))


def _of_elements(d: Description) -> Iterator[ElementLimit]:
    """Limits that elements state of their own channels, or of the coordinate that they act on."""
    distances = lengths(d)
    for x in elements.every(d):
        for limit in x.limits():
            on = "" if limit.channel else elements.joint_of(x)
            of = f" of '{on}'" if on else ""
            element = f"stroke{of}" if on in distances else f"{x.says or x.word} '{x.name}'{of}"
            kind = ("length" if slides(d, on) else "angle") if on else limit.dimension
            ends = [None if end is None else float(end) for end in (limit.low, limit.high)]
            channel, owner = on or f"{x.name}.{limit.channel}", x.name if limit.own else ""
            held = bool(on) or (limit.check == CONTACT and x.row_travel is not None)
            yield ElementLimit(limit.check, element, channel, kind, *ends, limit.below, limit.above, limit.loads, owner, held)


def _of_drives(d: Description) -> Iterator[ElementLimit]:
    for x in d.drives:
        low, high = (None if y is None else float(y) for y in x.limits)
        if (low, high) != (None, None):
            kind = coordinate(d, x.joint).effort_kind
            channel, far = f"{x.joint}.{kind}", ("needs", "needs")
            yield ElementLimit(DRIVES, f"drive '{x.joint}'", channel, kind, low, high, *far, loads=True, owner=x.joint)


def limit_text(limit: ElementLimit, value: float, low: bool, units: tuple[str, ...]) -> str:
    """`cam 'cam' loses contact: the follower would have to be pulled with 219 N`, with the limit unless it is zero."""
    end = limit.low if low else limit.high
    kind = KINDS[limit.dimension]
    far = abs(value) if end == 0.0 and limit.dimension == "force" else value
    allowed = "" if not end else f" (allowed {_between(limit, units)})"
    return f"{limit.element} {limit.below if low else limit.above} {shown(far, kind, units, 4)}{allowed}"


def _between(limit: ElementLimit, units: tuple[str, ...]) -> str:
    ends = ["" if x is None else shown(x, KINDS[limit.dimension], units, 4) for x in (limit.low, limit.high)]
    return " .. ".join(ends).strip()


@dataclass(frozen=True, eq=False)
class JudgedLimit:
    """One limit over many motions, each with its own ends: extremes of the channel between samples, (motions,) each.

    `gap` is the largest distance beyond an end, zero or less where it holds; `most` is the same with what samples leave open.
    """

    low: np.ndarray
    high: np.ndarray
    at_low: np.ndarray  # times
    at_high: np.ndarray
    under: np.ndarray  # True where the lower end is the worse one
    gap: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, limits: Sequence[ElementLimit], r: Trajectories) -> JudgedLimit:
        """Judge one channel; `limits` has an entry for each motion, or one for all."""
        curve = curve_of(r, limits[0].channel, None, extreme=True)
        assert curve.place is not None and curve.error is not None
        return cls._of_points(limits, curve.x, curve.place, curve.error)

    @classmethod
    def at_samples(cls, limits: Sequence[ElementLimit], r: Trajectories) -> JudgedLimit:
        """Judge a channel that cannot pass its limit between samples, because something holds it there."""
        x = np.asarray(r.values[limits[0].channel], dtype=float)
        return cls._of_points(limits, x, r.t, np.zeros_like(x))

    @classmethod
    def _of_points(cls, limits: Sequence[ElementLimit], x: np.ndarray, place: np.ndarray, error: np.ndarray) -> JudgedLimit:
        """Judge points of curves, (motions, points): values, times, and how much further the curve may go there."""
        rows, known = np.arange(len(x)), np.isfinite(x)
        lower, upper = np.where(known, x, np.inf), np.where(known, x, -np.inf)
        i, j = lower.argmin(axis=1), upper.argmax(axis=1)
        lowest, highest = (np.array([np.nan if y is None else y for y in ends]) for ends in zip(*(y.ends for y in limits), strict=True))
        slack = limits[0].slack(np.where(known, x, 0.0))
        gaps, far = [], []
        for side, end in ((-lower, -lowest), (upper, highest)):
            set_ = np.isfinite(end)
            room = np.where(set_, end, 0.0) + slack
            gaps.append(np.where(set_, side.max(axis=1) - room, -np.inf))
            far.append(np.where(set_, (side + np.where(known, error, 0.0)).max(axis=1) - room, -np.inf))
        some = known.any(axis=1)
        nothing = np.where(some, 0.0, np.nan)
        below, above = gaps
        return cls(
            lower[rows, i] + nothing, upper[rows, j] + nothing, place[rows, i], place[rows, j],
            below >= above, np.maximum(below, above) + nothing, np.maximum(*far) + nothing,
        )  # fmt: skip

    @property
    def failed(self) -> np.ndarray:
        """(motions,): True where the limit is passed."""
        return self.gap > 0.0

    @property
    def unknown(self) -> np.ndarray:
        """(motions,): True where nothing is known, or samples do not say whether the limit is passed between them."""
        return ~self.failed & ~(self.most <= 0.0)


def limit_checks(c: Trajectory, limits: list[ElementLimit], why_no_loads: str) -> list[Check]:
    """One check of each kind: the element that is worst decides, and the text names all that are beyond."""
    known, open_ = known_limits(limits, c.channels, why_no_loads)
    out = []
    for kind in dict.fromkeys(x.check for x in limits):
        mine, why = [x for x in known if x.check == kind], [open_[kind]] if kind in open_ else []
        if mine:
            out.append(_judged(c, kind, mine, why))
        elif why:
            out.append(Check(kind, "unknown", why[0]))
    return out


def known_limits(limits: Sequence[ElementLimit], channels: Container[str], why_no_loads: str) -> tuple[list[ElementLimit], dict[str, str]]:
    """Limits that can be judged by these channels, and by kind why the others are not known; a drive may have no torque or force here."""
    known = [x for x in limits if x.channel in channels and not (x.loads and why_no_loads)]
    open_: dict[str, list[str]] = {}
    for x in limits if why_no_loads else ():
        if x not in known:
            open_.setdefault(x.check, []).append(x.element)
    return known, {kind: f"{', '.join(names)}: not known, {why_no_loads}" for kind, names in open_.items()}


def _judged(c: Trajectory, kind: str, known: list[ElementLimit], why: list[str]) -> Check:
    d = c.skel.tree.description
    found = c.read([x.channel for x in known])
    r = _measured(c, found)
    failed: list[tuple[float, Check]] = []
    held = []
    for x in known:
        held_there = c.proof is not None and x.holds(c.drive)
        at = JudgedLimit.at_samples([x], r) if held_there else JudgedLimit.of([x], r)
        if at.unknown[0] and np.isfinite(at.most[0]) and c.proof is None:  # a cycle is solved at any position, a run is not
            at = _closer(c, x, at)
        if at.failed[0]:
            under = bool(at.under[0])
            worst, end, t = (at.low, x.low, at.at_low) if under else (at.high, x.high, at.at_high)
            value, where = float(worst[0]), place_text(c, float(t[0]))
            text = f"{limit_text(x, value, under, d.units)} at {where}"
            failed.append((float(at.gap[0]), Check(kind, "failed", text, value, end, f"{x.element} at {where}")))
        elif at.unknown[0]:
            why = [*why, unresolved(x, at, d.units)]
        else:
            range_ = " .. ".join(shown(float(y[0]), KINDS[x.dimension], d.units, 4) for y in (at.low, at.high))
            of = f" of {_between(x, d.units)}" if x.low or x.high else ""
            held.append(f"{x.element} {range_}{of}")
    if failed:
        first = max(failed, key=lambda y: y[0])[1]
        return Check(kind, "failed", "; ".join(y.text for _, y in failed), first.value, first.limit, first.where)
    return Check(kind, "unknown", "; ".join(why)) if why else Check(kind, "passed", "; ".join(held))


def _measured(c: Trajectory, found: Mapping[str, np.ndarray]) -> Trajectories:
    values = {name: np.asarray(x, dtype=float)[None] for name, x in found.items()}
    return Trajectories.of(values, c.t[None], c.drive, c.dimension, c.near_singular[None])


def _closer(c: Trajectory, x: ElementLimit, at: JudgedLimit) -> JudgedLimit:
    """Judge again with more samples: a curve with kinks may hold its limit by little."""
    shares = np.arange(FINER) / FINER
    times = np.append((c.t[:-1, None] + shares * np.diff(c.t)[:, None]).ravel(), c.t[-1])
    try:
        dense = c.at(times)
        return JudgedLimit.of([x], _measured(dense, dense.read([x.channel])))
    except LinkwrightError:
        return at


def unresolved(x: ElementLimit, at: JudgedLimit, units: tuple[str, ...], i: int = 0) -> str:
    """Why a limit that holds at every sample of motion i is not known to hold."""
    if np.isnan(at.gap[i]):
        return f"{x.element}: not known, its values are not finite"
    if np.isinf(at.most[i]):
        return f"{x.element}: not known, its {x.dimension} may grow without bound between samples"
    more = shown(float(at.most[i]), KINDS[x.dimension], units, 2)
    return f"{x.element}: not known, between samples it may go beyond its limit by {more}. Take more samples"


def place_text(c: Trajectory, t: float) -> str:
    """`A = 66 deg` of a motion at a time, `t = 0.42 s` where no drive leads it."""
    if not leads(c.drive, c.dimension, c.channels):
        return f"t = {t:.4g} s"
    x = float(c.place(position_at(c.t, c[c.drive], t)))
    return f"{c.drive} = {shown(x, KINDS[c.dimension(c.drive)], c.skel.tree.description.units, 4)}"


def leads(drive: str, dimension: Callable[[str], str], channels: Container[str]) -> bool:
    """True for a leading drive with one coordinate, whose positions are places of the motion."""
    return bool(drive) and drive in channels and dimension(drive) in ("angle", "length")


def position_at(times: np.ndarray, positions: np.ndarray, t: float) -> float:
    """Position of a drive at a time."""
    order = np.argsort(times, kind="stable")
    return float(np.interp(t, times[order], positions[order]))

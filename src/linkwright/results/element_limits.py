"""Limits that elements of a mechanism set to a channel: reach of gas springs and stops, contact of cams and belts, limits of drives.

Every such limit is data, `low <= channel <= high`, so that a cycle, a run, many designs in lanes, the optimiser and the page test the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.model.coordinates import coordinate, lengths, slides
from linkwright.model.description import Description, GasSpring
from linkwright.model.file.units import KINDS, shown
from linkwright.results.checks import Check

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

REACH, CONTACT, DRIVES = "reach", "contact", "drives"
BEYOND = 1e-6  # rad, or share of the values seen: so far beyond a limit is at the limit
NO_FORCE = 1e-9  # of the largest contact force or tension: what round-off leaves where nothing presses
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

    def slack(self, values: np.ndarray) -> np.ndarray:
        """(...,): how far values may be beyond, of the last axis."""
        if self.dimension == "angle":
            return np.full(values.shape[:-1], BEYOND)
        size = np.abs(values).max(axis=-1, initial=0.0)
        if self.dimension == "length":
            return BEYOND * np.maximum(np.ptp(values, axis=-1), SHORTEST)
        return NO_FORCE * size

    def beyond(self, values: np.ndarray) -> np.ndarray:
        """(...,): the largest distance beyond an end over the last axis, zero or less where it holds; NaN values are left out."""
        gaps = [np.full(values.shape[:-1], -np.inf)]
        gaps += [] if self.low is None else [np.nanmax(self.low - values, axis=-1)]
        gaps += [] if self.high is None else [np.nanmax(values - self.high, axis=-1)]
        return np.max(gaps, axis=0) - self.slack(np.where(np.isfinite(values), values, 0.0))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def element_limits(d: Description) -> list[ElementLimit]:
    """Every limit of a description of plain numbers."""
    return [*_reach(d), *_contact(d), *_drives(d)]


def _reach(d: Description) -> Iterator[ElementLimit]:
    for s in d.springs:
        if isinstance(s, GasSpring):
            yield ElementLimit(
                REACH, f"gas spring '{s.name}'", f"{s.name}.length", "length", float(s.length) - float(s.stroke), float(s.length),
                "is pushed in beyond its stroke to", "is pulled apart beyond its extended length to",
                owner=s.name,
            )  # fmt: skip
    distances = lengths(d)
    for s in (s for s in d.stops if s.stiffness is None):
        ends = [None if x is None else float(x) for x in (s.lower, s.upper)]
        what = f"stroke of '{s.joint}'" if s.joint in distances else f"stop '{s.name}' of '{s.joint}'"
        far = "is passed: the motion goes to"
        yield ElementLimit(REACH, what, s.joint, "length" if slides(d, s.joint) else "angle", ends[0], ends[1], far, far, owner=s.name)


def _contact(d: Description) -> Iterator[ElementLimit]:
    for c in d.couplings:
        if c.cam is not None and not c.cam.groove:
            lifts = "loses contact: the follower would have to be pulled with"
            yield ElementLimit(CONTACT, f"cam '{c.name}'", f"{c.name}.contact", "force", 0.0, None, lifts, loads=True)
    for b in d.belts:
        slack = "goes slack: a span would have to push with"
        yield ElementLimit(CONTACT, f"belt '{b.name}'", f"{b.name}.tension.min", "force", 0.0, None, slack, loads=True)


def _drives(d: Description) -> Iterator[ElementLimit]:
    for x in d.drives:
        low, high = (None if y is None else float(y) for y in x.limits)
        if (low, high) != (None, None):
            kind = coordinate(d, x.joint).effort_kind
            channel, far = f"{x.joint}.{kind}", ("needs", "needs")
            yield ElementLimit(DRIVES, f"drive '{x.joint}'", channel, kind, low, high, *far, loads=True, owner=x.joint)
    for c in d.cylinders:
        if c.bore is not None and c.rod is None:  # a pressure below that of the surroundings
            pulls = "has to pull, and has no `rod:` side to pull with: a pressure of"
            yield ElementLimit(DRIVES, f"cylinder '{c.name}'", f"{c.name}.push.pressure", "pressure", 0.0, None, pulls, loads=True)


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


def limit_checks(c: Trajectory, limits: list[ElementLimit], why_no_loads: str) -> list[Check]:
    """One check of each kind: the element that is worst decides, and the text names all that are beyond."""
    out = []
    for kind in dict.fromkeys(x.check for x in limits):
        mine = [x for x in limits if x.check == kind]
        known = [x for x in mine if x.channel in c.channels and not (x.loads and why_no_loads)]
        open_ = [x for x in mine if x not in known]
        if not known:
            if not why_no_loads:
                continue  # a drive whose effort this motion does not have
            text = f"{', '.join(x.element for x in open_)}: not known, {why_no_loads}"
            out.append(Check(kind, "unknown", text))
            continue
        out.append(_judged(c, kind, known, [x for x in open_ if x.loads and why_no_loads], why_no_loads))
    return out


def _judged(c: Trajectory, kind: str, known: list[ElementLimit], open_: list[ElementLimit], why: str) -> Check:
    d = c.skel.tree.description
    found = c.read([x.channel for x in known])
    failed: list[tuple[float, Check]] = []
    held = []
    for x in known:
        values = np.asarray(found[x.channel], dtype=float)
        if not np.isfinite(values).any():
            open_, why = [*open_, x], why or "its values are not finite"
            continue
        gap = float(x.beyond(values))
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        if gap <= 0.0:
            range_ = " .. ".join(shown(y, KINDS[x.dimension], d.units, 4) for y in (low, high))
            of = f" of {_between(x, d.units)}" if x.low or x.high else ""
            held.append(f"{x.element} {range_}{of}")
            continue
        under = x.low is not None and x.low - low >= (high - x.high if x.high is not None else -np.inf)
        worst, end = (low, x.low) if under else (high, x.high)
        i = int(np.nanargmin(values) if under else np.nanargmax(values))
        where = f"{x.element} at {place_text(c, i)}"
        failed.append((gap, Check(kind, "failed", f"{limit_text(x, worst, under, d.units)} at {place_text(c, i)}", worst, end, where)))
    if failed:
        first = max(failed, key=lambda y: y[0])[1]
        return Check(kind, "failed", "; ".join(y.text for _, y in failed), first.value, first.limit, first.where)
    if open_:
        return Check(kind, "unknown", f"{', '.join(x.element for x in open_)}: not known, {why}")
    return Check(kind, "passed", "; ".join(held))


def place_text(c: Trajectory, i: int) -> str:
    """`A = 66 deg` of a cycle, `t = 0.42 s` of a run."""
    d = c.skel.tree.description
    if c.drive and c.drive in c.channels and c.dimension(c.drive) in ("angle", "length"):
        return f"{c.drive} = {shown(float(c.place(c[c.drive][i])), KINDS[c.dimension(c.drive)], d.units, 4)}"
    return f"t = {float(c.t[i]):.4g} s"

"""Ranges of a transmission: travel of the joints up to dead centers, worst conditioning inside, and boxes free of dead centers.

A dead center of the joints ends their travel: the loops close no further, and a motor turns while the joints rest (J is infinite). In
a dead center of the motors J is singular: with the motors held a joint can move, so they hold no load there. The travel of a joint
ends at the first of both, or at a stop of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.api import KINDS, UsageError, elements, joint_limits, listing, nearest, quantity
from linkwright.properties import cached_property
from linkwright.rings.robots.transmission.names import place, position, scaled

if TYPE_CHECKING:
    from linkwright.rings.robots.transmission.maps import Transmission

JOINTS, MOTORS, STOP, TURN = "dead center of the joints", "dead center of the motors", "stop", "end of the search"
DEAD_CENTER_SHARE = 1e-9  # of a dead center of the motors, as a share of the travel
MOST = 4000  # states of a grid
FLOATING_STATES = 121  # the same of a robot with a floating base, whose states are closed one by one
ZOOMS = 5  # refinements of the worst position


class JointTravel(NamedTuple):
    """Travel of one joint with the others at the start: its ends in SI, and what ends it."""

    low: float
    high: float
    low_by: str
    high_by: str


class WorstPosition(NamedTuple):
    """The position of the joints in a range where J is worst conditioned; of one motor, whose condition is 1 everywhere, that of the
    smallest J, where it carries most of a load at the joint."""

    condition: float
    joint: dict[str, float]
    motor: dict[str, float]


@dataclass(frozen=True)
class Ranges:
    """Ranges of one transmission; `within` are given ones by joint."""

    t: Transmission
    within: Mapping[str, Any] | None

    # ---------------------------------------------------------------- travel

    @cached_property
    def travel(self) -> dict[str, JointTravel]:
        """Travel of every joint from the start, the others held there."""
        return {name: self._travel(name) for name in self.t.joints}

    def _travel(self, name: str) -> JointTravel:
        core, held = self.t.core, [n for n in (*self.t.joints, *self.t.drivable) if n != name]
        x0 = float(core.drive_positions(core.start, [name])[0])
        found = joint_limits.limits(core.loops, core.start.instant, name, held, core.walking)
        low, high = (x0 - np.pi, x0 + np.pi) if found.full_turn else (found.low, found.high)
        by = [JOINTS if found.dead_low else TURN, JOINTS if found.dead_high else TURN]
        ends = [low, high]
        for lower, upper in (x.travel_ends for x in elements.stopping(core.description) if x.joint == name):
            if lower is not None and float(lower) > ends[0]:
                ends[0], by[0] = float(lower), STOP
            if upper is not None and float(upper) < ends[1]:
                ends[1], by[1] = float(upper), STOP
        for k in (0, 1):
            dead = self._motors_dead(name, x0, ends[k] if by[k] != JOINTS else x0 + (ends[k] - x0) * (1.0 - 1e-6))
            if dead is not None:
                ends[k], by[k] = dead, MOTORS
        return JointTravel(ends[0], ends[1], by[0], by[1])

    def _determinants(self, name: str, x: np.ndarray) -> np.ndarray:
        t = self.t
        start = dict(zip(t.joints, t.core.drive_positions(t.core.start, t.joints), strict=True))
        J = np.asarray(t.over(np.stack([x if n == name else np.full(len(x), start[n]) for n in t.joints], axis=-1)).J)
        known = np.asarray(np.isfinite(J).all(axis=(-2, -1)))
        det = np.linalg.det(scaled(t.core, np.where(known[:, None, None], J, 0.0), t.motors, t.joints))
        return np.where(known, det, np.nan)

    def _motors_dead(self, name: str, x0: float, end: float) -> float | None:
        """The first place between x0 and an end at which det J changes its sign."""
        samples = 181  # of a travel, between which a dead center of the motors is sought
        x = np.linspace(x0, end, samples)
        det = self._determinants(name, x)
        known = np.isfinite(det)
        changes = np.flatnonzero(known[1:] & known[:-1] & (np.sign(det[1:]) != np.sign(det[:-1])))
        if not len(changes):
            return None
        a, b = float(x[changes[0]]), float(x[changes[0] + 1])
        sign = np.sign(det[changes[0]])
        while abs(b - a) > DEAD_CENTER_SHARE * max(1.0, abs(end - x0)):
            inner = np.linspace(a, b, 18)
            found = self._determinants(name, inner)
            k = int(np.argmax(np.sign(found) != sign))
            a, b = float(inner[max(k - 1, 0)]), float(inner[max(k, 1)])
        return 0.5 * (a + b)

    # ---------------------------------------------------------------- box

    @cached_property
    def box(self) -> dict[str, tuple[float, float]]:
        """Range of every joint: given, else the stops of the model, else most of the way to the dead centers.

        Ranges that were not given become smaller, all by the same share, until no dead center lies inside; raise UsageError where given
        ones have one inside.
        """
        given = {name: self._pair(name, x) for name, x in (self.within or {}).items()}
        box = {name: given.get(name) or self._own(name) for name in self.t.joints}
        rows = self.grid(box)
        bad = self._unusable(rows)
        if not bad.any():
            return box
        free = [name for name in self.t.joints if name not in given]
        smaller = self._shrunk(box, free) if free else None
        if smaller is None:
            raise self._refused(box, rows, rows[bad])
        return smaller

    def _own(self, name: str) -> tuple[float, float]:
        x = self.travel[name]
        x0 = float(self.t.core.drive_positions(self.t.core.start, [name])[0])
        inside = 0.95  # share of the way to a dead center that the range has where the model has no stops
        low, high = (end if by == STOP else x0 + inside * (end - x0) for end, by in ((x.low, x.low_by), (x.high, x.high_by)))
        return low, high

    def _pair(self, name: str, given: Any) -> tuple[float, float]:
        t = self.t
        if name not in t.joints:
            raise UsageError(f"range: '{name}' is not a joint of this transmission.", nearest(str(name), t.joints, "Joints"))
        if isinstance(given, str) or not isinstance(given, (list, tuple, np.ndarray)) or len(given) != 2:
            raise UsageError(
                f"range of '{name}' is a pair (lowest, highest), e.g. ('-20 deg', '30 deg'), not {given!r:.60}.", name=name, value=given
            )
        kind = KINDS["angle" if t._rotary(name) else "length"]
        low, high = (quantity(x, kind, f"range of '{name}'") for x in given)
        if not low < high:
            raise UsageError(f"range of '{name}': {position(t.core, name, low)} is not below {position(t.core, name, high)}.", name=name)
        return low, high

    def grid(self, box: Mapping[str, tuple[float, float]], most: int = MOST) -> np.ndarray:
        """States in rows, evenly in the box with its corners; an odd number along each joint."""
        n = len(self.t.joints)
        most = min(most, FLOATING_STATES) if len(self.t.drivable) < len(self.t.others) else most
        each = max(3, min(401 if n == 1 else 41, int(most ** (1.0 / n))))
        each -= 1 - each % 2
        return np.array(list(product(*(np.linspace(*box[name], each) for name in self.t.joints))))

    def _shrunk(self, box: Mapping[str, tuple[float, float]], names: Sequence[str]) -> dict[str, tuple[float, float]] | None:
        """The largest box without dead centers in which the ranges of these joints are drawn toward the start; None without one."""
        start = dict(zip(self.t.joints, map(float, self.t.core.drive_positions(self.t.core.start, self.t.joints)), strict=True))
        for share in np.linspace(0.95, 0.05, 19):
            ends = {n: tuple(start[n] + float(share) * (end - start[n]) for end in box[n]) for n in names}
            smaller = {n: (ends[n][0], ends[n][1]) if n in ends else box[n] for n in self.t.joints}
            if not self._unusable(self.grid(smaller)).any():
                return smaller
        return None

    def shown(self, box: Mapping[str, tuple[float, float]]) -> str:
        """Return a box as text: `pitch -20 deg .. 40 deg, roll ...`."""
        return ", ".join(f"{n} {position(self.t.core, n, low)} .. {position(self.t.core, n, high)}" for n, (low, high) in box.items())

    def _refused(self, box: Mapping[str, tuple[float, float]], rows: np.ndarray, bad: np.ndarray) -> UsageError:
        """The error of a box with a dead center inside; `bad` are those of its rows that are not free of them."""
        core = self.t.core
        start = core.drive_positions(core.start, self.t.joints)
        nearest_bad = bad[np.argmin(np.abs((bad - start) / np.ptp(rows, axis=0)).max(axis=1))]
        reached = bool(self.t.over(nearest_bad[None]).ok[0])
        what = "pass a dead center of the motors before" if reached else "do not reach"
        free = self._shrunk(box, self.t.joints)
        advice = f"A range without dead centers: {self.shown(free)}." if free else "t.limits() gives the travel of each joint."
        return UsageError(
            f"the range of {listing(self.t.joints)} has a dead center inside: from the start the joints {what} "
            f"{place(core, self.t.joints, nearest_bad)}. {advice} Give range=... to s.transmission."
        )

    def _unusable(self, rows: np.ndarray) -> np.ndarray:
        """Mask of positions that do not exist, or lie beyond a dead center of the motors."""
        t, x = self.t, self.t.over(rows)
        J = scaled(t.core, np.asarray(x.J), t.motors, t.joints)
        first = scaled(t.core, np.asarray(t.at(t.core.start).J), t.motors, t.joints)
        side = np.sign(np.linalg.det(first))
        ok = np.asarray(x.ok) & np.isfinite(J).all(axis=(-2, -1))
        det = np.linalg.det(np.where(ok[:, None, None], J, first))
        return ~ok | (np.sign(det) != side)

    # ---------------------------------------------------------------- conditioning

    @cached_property
    def worst(self) -> WorstPosition:
        """The worst conditioned position of the box: of a grid, then of finer ones around it; of one motor that of the smallest J."""
        box = self.box
        low, high = (np.array([box[n][k] for n in self.t.joints]) for k in (0, 1))
        rows, best, at = self.grid(box), -1.0, low
        half = (high - low) / 2.0
        for _ in range(ZOOMS):
            x = self.t.over(rows)
            found = np.asarray(x.condition) if len(low) > 1 else 1.0 / np.abs(np.asarray(x.J)[:, 0, 0])
            k = int(np.nanargmax(found))
            if found[k] >= best:
                best, at = float(found[k]), rows[k]
            half = half / 6.0
            rows = np.clip(at + half * np.array(list(product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=len(low)))), low, high)
        joints = dict(zip(self.t.joints, map(float, at), strict=True))
        return WorstPosition(
            best if len(low) > 1 else 1.0, joints, dict(zip(self.t.motors, map(float, self.t.to_motors(joints)), strict=True))
        )


def conditioning(ranges: Ranges) -> str:
    """Return a sentence about the conditioning over the range; of one motor about its speed ratio."""
    t, worst = ranges.t, ranges.worst
    at = place(t.core, t.joints, worst.joint.values())
    if len(t.joints) > 1:
        return f"worst condition in the range {ranges.shown(ranges.box)}: {worst.condition:.4g} at {at}"
    ratios = np.abs(np.asarray(t.over(np.array([[x] for x in (*ranges.grid(ranges.box)[:, 0], *worst.joint.values())])).J))
    return f"motor speed over joint speed in the range {ranges.shown(ranges.box)}: {ratios.min():.4g} .. {ratios.max():.4g}, least at {at}"


def as_table(t: Transmission, travel: Mapping[str, JointTravel], show: Callable[[str, float], str]) -> str:
    """The travel of all joints as lines of text."""
    return "\n".join(f"  {n}: {show(n, x.low)} ({x.low_by}) .. {show(n, x.high)} ({x.high_by})" for n, x in travel.items())

"""Phases of a motion with scheduled contacts: which touches are closed in each, how long it lasts, and what holds at every place of a mesh.

A closed touch sticks: no speed along normal and tangent, a normal force that only pushes, and friction within its cone. A touch without
friction slides along its tangent. An open touch has no force, and its gap is not negative. Where a phase closes a touch, an impact stops
the surfaces, with impulses of all touches that are closed from there on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import KINDS, Compiled, Place, State, UsageError, contact, meaning, nearest, quantity, ranges
from linkwright.properties import cached_property

Array = np.ndarray
READS = 5  # of a touch, as `kernels.coordinate_motion` gives them: gap, two speeds, two sides of the friction cone
FEWEST, FORM = 4, "{'hold': 'foot', 'duration': '0.2 s'}"
SHORTEST, LONGEST = 1e-3, 1e2  # s: a phase whose duration is free
TOUCHING_AT_START = 1e-6  # characteristic lengths: gap at which a touch counts as closed at the start
ACCELERATION = 10.0  # m/s^2: the size of forces of contacts is that of the weight


@dataclass(frozen=True)
class ContactPhase:
    """Touches that are closed, by place among all, and the shortest and longest duration."""

    held: frozenset[int]
    low: float
    high: float
    text: str


@dataclass(frozen=True, eq=False)
class Schedule:
    """All touches of a model, and the phases in order."""

    touches: tuple[contact.Touch, ...]
    phases: tuple[ContactPhase, ...]
    length: float  # characteristic, m
    force: float  # size of the forces, N

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(x.name for x in self.touches)

    @cached_property
    def scale(self) -> Array:
        """Factors of the reads of all touches that make them dimensionless."""
        one = [1.0 / self.length] * 3 + [1.0 / self.force] * 2
        return np.tile(one, len(self.touches))

    @cached_property
    def least_force(self) -> Array:
        """Lower bounds of the forces: touches push and do not pull."""
        return np.tile([0.0, -np.inf], len(self.touches))

    @cached_property
    def cones(self) -> Array:
        """(2 touches, 2 touches): mu p_n - p_t and mu p_n + p_t by force."""
        out = np.zeros((2 * len(self.touches),) * 2)
        for i, x in enumerate(self.touches):
            out[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[x.mu, -1.0], [x.mu, 1.0]]
        return out

    def held(self, drives: int) -> Array:
        """(phases, efforts and forces): zero for forces of open touches and for friction without mu, NaN for what is free."""
        out = np.full((len(self.phases), drives + 2 * len(self.touches)), np.nan)
        for phase, row in zip(self.phases, out[:, drives:], strict=True):
            for i, x in enumerate(self.touches):
                row[2 * i] = np.nan if i in phase.held else 0.0
                row[2 * i + 1] = np.nan if i in phase.held and x.mu > 0.0 else 0.0
        return out

    @cached_property
    def speed_rows(self) -> Array:
        """Places of the speeds along normal and tangent among the reads of all touches."""
        return np.array([READS * i + 1 + k for i in range(len(self.touches)) for k in (0, 1)])

    def cone_least(self, phase: int) -> Array:
        """Lower bounds of what friction has left: none of touches without force or friction."""
        rubs = [i in self.phases[phase].held and x.mu > 0.0 for i, x in enumerate(self.touches)]
        return np.where(np.repeat(rubs, 2), 0.0, -np.inf)

    def new(self, phase: int) -> frozenset[int]:
        """Touches that close where a phase begins; at the start of the motion all that are closed."""
        return self.phases[phase].held - (self.phases[phase - 1].held if phase else frozenset())

    def intervals(self, count: int) -> tuple[Array, Array]:
        """Phase and share of every interval: as many in a phase as its part of the duration, of even number."""
        spans = self.guess(None)
        each = [2 * max(FEWEST // 2, round(0.5 * count * x / spans.sum())) for x in spans]
        return np.repeat(np.arange(len(each)), each), np.repeat([1.0 / n for n in each], each)

    def struck(self, phase: Array) -> Array:
        """Intervals that begin with an impact."""
        first = np.flatnonzero(np.diff(phase, prepend=-1))
        return np.array([k for k in first if self.new(int(phase[k]))], dtype=int)

    def guess(self, total: float | None) -> Array:
        """Durations of a first guess: the middle of each range, an equal part if it is free."""
        known = np.array([0.5 * (x.low + x.high) if x.high < LONGEST else np.nan for x in self.phases])
        rest = np.isnan(known)
        left = np.nanmean(known) if total is None and not rest.all() else ((total or 0.2) - np.nansum(known)) / max(1, rest.sum())
        out = np.where(rest, np.maximum(left, SHORTEST), known)
        return out if total is None else out * (total / out.sum())

    def whole(self, duration: Any) -> tuple[float, float]:
        """Shortest and longest duration of all phases together."""
        low, high = (float(x) for x in self.durations().sum(axis=0))
        if duration is None:
            return low, high
        meant = meaning(duration, "duration")
        if not isinstance(meant, ranges.Values):
            raise UsageError("duration of a motion in phases is one value. Give ranges to the phases.", name="duration", value=duration)
        total = quantity(duration, KINDS["time"], "duration")
        if not low <= total <= high:
            raise UsageError(f"duration is {total:.4g} s, and the phases take {low:.4g} to {high:.4g} s.", name="duration", value=total)
        return total, total

    def standing(self, phase: Array, drives: int) -> Array:
        """Efforts and forces of a first guess, (intervals, 2, all): closed touches share the weight."""
        out = np.zeros((len(phase), 2, drives + 2 * len(self.touches)))
        for k, a in enumerate(phase):
            for i in self.phases[a].held:
                out[k, :, drives + 2 * i] = self.force / len(self.phases[a].held)
        return out

    def durations(self) -> Array:
        """(phases, 2): shortest and longest."""
        return np.array([(x.low, x.high) for x in self.phases])

    def read_ranges(self, phase: Array, periodic: bool) -> Array:
        """(2, intervals, 3, reads of all touches): low and high at the first end, middle and last end of every interval."""
        N, last = len(phase), len(self.phases) - 1
        out = np.empty((2, N, 3, READS * len(self.touches)))
        out[0], out[1] = -np.inf, np.inf
        begins, ends = np.diff(phase, prepend=-1) > 0, np.diff(phase, append=last + 1) > 0
        for k, a in enumerate(phase):
            held = self.phases[a].held
            before = held if a == 0 else self.phases[a - 1].held
            after = frozenset(range(len(self.touches))) if a == last and periodic else self.phases[min(a + 1, last)].held
            for i, x in enumerate(self.touches):
                at = out[:, k, :, READS * i : READS * (i + 1)]
                if i not in held:
                    open_ = [not begins[k] or (i not in before and a > 0), True, not ends[k] or i not in after]
                    at[0, open_, 0] = 0.0
                    continue
                strikes = bool(begins[k] and i in self.new(a))
                again = bool(begins[k] and self.new(a))
                if strikes:
                    at[:, 0, 0] = 0.0
                at[:, [again, True, True], 1] = 0.0
                if x.mu > 0.0:
                    at[:, [again, True, True], 2] = 0.0
                    at[0, :, 3:] = 0.0
        return out


def schedule_of(core: Compiled, given: Any, start: State, periodic: bool) -> Schedule | None:
    """The phases that a caller names; None if there are none."""
    if given is None:
        return None
    touches = contact.touches(core.description) if core.description.touch_laws else ()
    if not touches:
        raise UsageError("phases: the model has no contacts that could be held. Write `contacts:` in the model.", name="phases")
    if not core.description.planar:
        raise UsageError(
            "phases hold contacts of planar models (`plane: xy`), and this model is in space. Give it a plane, or plan the motion without "
            "contact and simulate it with them.", name="phases",
        )  # fmt: skip
    if isinstance(given, (str, Mapping)) or not isinstance(given, Sequence) or not given:
        raise UsageError(f"phases is a list with an entry for each phase, such as [{FORM}], not {given!r:.60}.", name="phases")
    phases = tuple(_phase(touches, x, k + 1) for k, x in enumerate(given))
    mass = sum(float(x.mass) for x in core.description.bodies if x.mass is not None)
    out = Schedule(tuple(touches), phases, core.loops.kappa, ACCELERATION * max(mass, 1e-9))
    if not periodic:
        _need_closed(core, out, start)
    return out


def _phase(touches: Sequence[contact.Touch], given: Any, number: int) -> ContactPhase:
    what = f"phase {number}"
    if not isinstance(given, Mapping) or set(given) - {"hold", "duration"}:
        raise UsageError(f"{what} is a mapping with `hold` and `duration`, such as {FORM}, not {given!r:.60}.", name="phases", value=given)
    hold = given.get("hold", ())
    names = [hold] if isinstance(hold, str) else list(hold)
    held: set[int] = set()
    for name in names:
        found = [i for i, x in enumerate(touches) if name in (x.name, x.owner.name)]
        if not found:
            known = list(dict.fromkeys(n for x in touches for n in (x.owner.name, x.name)))
            raise UsageError(f"{what}: there is no contact '{name}'.", nearest(str(name), known, "Contacts"), name="phases")
        held.update(found)
    for i in held:
        if touches[i].restitution > 0.0:
            raise UsageError(
                f"{what}: contact '{touches[i].name}' has restitution {touches[i].restitution:g}, so it bounces and is not held after an "
                "impact. Contacts of a phase are plastic: leave `restitution` out.", name="phases", value=touches[i].restitution,
            )  # fmt: skip
    return ContactPhase(frozenset(held), *_span(given.get("duration"), what), ", ".join(map(str, names)) or "flight")


def _span(given: Any, what: str) -> tuple[float, float]:
    if given is None:
        return SHORTEST, LONGEST
    meant = meaning(given, what)
    if isinstance(meant, ranges.Values):
        low = high = quantity(given, KINDS["time"], what)
    else:
        low, high = Place(what, KINDS["time"]).ends(meant)
    if not 0.0 < low <= high:
        raise UsageError(f"{what}: its duration must be longer than zero, not {given!r}.", name="phases", value=given)
    return low, min(high, LONGEST)


def _need_closed(core: Compiled, schedule: Schedule, start: State) -> None:
    """Raise UsageError if the first phase holds what is open at the start."""
    gaps = core.kernels.get("contact_gaps")(start.q).g
    for i in sorted(schedule.phases[0].held):
        if abs(gaps[i]) > TOUCHING_AT_START * schedule.length:
            raise UsageError(
                f"phase 1 holds '{schedule.names[i]}', whose gap is {gaps[i]:.4g} m at the start. Start where it touches, or begin with a "
                "phase in which it is open.", name="phases", value=float(gaps[i]),
            )  # fmt: skip

"""Positions in which a mechanism stays put by dry friction, and the torques or forces of its drive within which it rests.

Every position is computed at rest: the reactions without friction, and once more with a unit of friction in each joint, because they are
affine in that friction. `friction_limits` finds the ends of the range from them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from linkwright.api import (
    Cell,
    Mechanism,
    Result,
    SingularityError,
    State,
    Table,
    Trajectory,
    UsageError,
    coordinates,
    counted,
    cycles,
    forces,
    inverse,
    is_rotary,
    listing,
    show,
    singular_positions,
    unit_of,
)
from linkwright.properties import cached_property
from linkwright.rings.design.friction_limits import NO_INFLUENCE, AffineLoads, Limit, limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.api import Description
    from linkwright.rings.studio.plots.common_parts import Paper

SAME = 1e-9  # radians or meters within which two positions are one
LOCATED = 1e-14  # share of the travel to which ends of stretches are found
# notes of a cycle that say nothing here
OF_CYCLES = ("Static analysis", "the range asked for", "efforts of the redundant drives", singular_positions.PEAKS)
LOCKS_LOCATED = 1e-7  # the same where the range becomes unbounded


@dataclass(frozen=True)
class HeldStretch:
    """Positions of the drive between which the mechanism stays put with no torque or force, SI; those of a full turn may pass its end."""

    start: float
    stop: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class LockedStretch:
    """Positions between which no torque or force of the drive in a direction (1 or -1) moves the mechanism."""

    start: float
    stop: float
    way: int
    joints: tuple[str, ...]  # whose friction grows with the effort

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class HoldingRange(Result):
    """The torques or forces of a drive within which a mechanism rests, over its positions, SI.

    `least` and `largest` are infinite where the mechanism locks itself. `shares_least` and `shares_largest` (positions, joints) are what
    the friction of each joint adds to `without`, the effort without friction.
    """

    drive: str
    joints: tuple[str, ...]
    position: np.ndarray = field(repr=False)
    least: np.ndarray = field(repr=False)
    largest: np.ndarray = field(repr=False)
    without: np.ndarray = field(repr=False)
    shares_least: np.ndarray = field(repr=False)
    shares_largest: np.ndarray = field(repr=False)
    stays: tuple[HeldStretch, ...]
    locks: tuple[LockedStretch, ...]
    notes: tuple[str, ...]
    rotary: bool
    units: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True if the mechanism stays put at every position with no torque or force."""
        return bool(self.held.all())

    @property
    def held(self) -> np.ndarray:
        """Mask of the positions in which the mechanism stays put with no torque or force."""
        return (self.least <= 0.0) & (self.largest >= 0.0)

    @property
    def half_widths(self) -> np.ndarray:
        """(positions, joints): what each joint adds to half the width of the range; infinite where it locks the mechanism."""
        return 0.5 * (np.abs(self.shares_largest) + np.abs(self.shares_least))

    @cached_property
    def unit(self) -> tuple[tuple[str, float], tuple[str, float]]:
        """Unit and size of positions and of efforts."""
        kinds = ("angle", "torque") if self.rotary else ("length", "force")
        return unit_of(self.units, kinds[0]), unit_of(self.units, kinds[1])

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data in SI; None stands for an end that has no limit."""
        rows = {name: [_finite(x) for x in getattr(self, name)] for name in ("position", "least", "largest", "without")}
        joints = [
            {
                "joint": name,
                "least": [_finite(x) for x in self.shares_least[:, i]],
                "largest": [_finite(x) for x in self.shares_largest[:, i]],
            }
            for i, name in enumerate(self.joints)
        ]
        stretches = {"stays": [x.as_dict() for x in self.stays], "locks": [x.as_dict() for x in self.locks]}
        return {
            "drive": self.drive, "kind": "torque" if self.rotary else "force", "ok": self.ok, **rows,
            "held": self.held.tolist(), **stretches, "joints": joints, "notes": list(self.notes),
        }  # fmt: skip

    def table(self) -> Table:
        """Return least and largest torque or force at every position; stretches and joints are `parts` of the table."""
        (where, turn), (what, size) = self.unit
        word = "torque" if self.rotary else "force"
        heads = [(self.drive, where, ".5g"), (f"least {word}", what), ("without friction", what), (f"largest {word}", what), "stays put"]
        rows = [
            (x / turn, _cell(low / size), u / size, _cell(high / size), bool(stays))
            for x, low, u, high, stays in zip(self.position, self.least, self.without, self.largest, self.held, strict=True)
        ]
        return Table.of(heads, rows, "holding range", self.notes, parts=(self._stretches(), self._joints()))

    def _stretches(self) -> Table:
        (where, turn), _ = self.unit
        rows = [("stays put", x.start / turn, x.stop / turn, "") for x in self.stays]
        rows += [("locked", x.start / turn, x.stop / turn, "forward" if x.way > 0 else "backward") for x in self.locks]
        return Table.of(["stretch", ("from", where, ".6g"), ("to", where, ".6g"), "against"], rows, "stretches")

    def _joints(self) -> Table:
        (where, turn), (what, size) = self.unit
        half = self.half_widths / size
        rows = []
        for i, name in enumerate(self.joints):
            finite, k = half[np.isfinite(half[:, i]), i], int(half[:, i].argmax())
            mean = float(finite.mean()) if len(finite) else None
            rows.append((name, mean, _cell(float(half[k, i])), self.position[k] / turn))
        heads = ["friction in", ("mean half width", what), ("largest half width", what), ("at", where, ".5g")]
        return Table.of(heads, rows, "joints")

    def __str__(self) -> str:
        (where, turn), (what, size) = self.unit
        word = "torque" if self.rotary else "force"
        held = [f"{show(x.start / turn)} to {show(x.stop / turn)} {where}" for x in self.stays]
        lines = [f"holding range of {self.drive}, {counted(len(self.position), 'position')}"]
        lines += [f"stays put with no {word}: {listing(held) if held else 'nowhere'}"]
        for sign, ends in (("least", self.least), ("largest", self.largest)):
            finite = ends[np.isfinite(ends)] / size
            if len(finite):
                lines.append(f"{sign} {word}: {show(float(finite.min()))} to {show(float(finite.max()))} {what}")
        parts = [self._joints().text(), *([self._stretches().text()] if self.locks else [])]
        return "\n".join([*lines, *parts, *(f"note: {x}" for x in self.notes)])

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Unpack[Paper]) -> Figure | Path:
        """Plot the range over the positions of the drive, and the stretches that stay put (matplotlib Figure, or a file)."""
        return import_module("linkwright.rings.studio.plots.holding").holding_range(self, path, **options)


def _cell(x: float) -> Any:
    return float(x) if np.isfinite(x) else Cell(float(x), "unbounded")


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


# -------------------------------------------------------------------- computing


class _Ends(NamedTuple):
    """The range at one position."""

    low: Limit
    high: Limit
    without: float
    unique: bool

    def margin(self, scale: float) -> float:
        """Distance of zero from the nearer end, from -1 to 1; negative where the mechanism does not stay put."""
        m = min(self.high.effort, -self.low.effort)
        return 1.0 if m == np.inf else m / (abs(m) + scale)


def holding_range(m: Mechanism, drive: str | None, *, steps: int, start: Any, stop: Any) -> HoldingRange:
    """The range over the cycle of a drive; see the verb."""
    joints = _joints(m.description)
    c = _positions(m, drive, steps, start, stop)
    return _Statics(m, c, joints).result()


def _joints(d: Description) -> tuple[forces.FrictionRow, ...]:
    """Joints with dry friction; raise UsageError if there is none, or masses are missing."""
    out = []
    for f in d.frictions:
        if not (float(f.mu) or float(f.coulomb)):
            continue
        row = forces.friction_row(d, f)
        if row is None:
            count = len(coordinates.joint_part(d, f.joint).entries)
            raise UsageError(
                f"friction '{f.name}' acts in {count} directions of joint '{f.joint}' at once. A holding range covers friction "
                "in hinges, sliders and single directions of a joint.",
                name=f.name,
            )
        out.append(row)
    out = [x for x in out if x.by_load or x.constant]
    if not out:
        viscous = " Viscous friction holds nothing at rest." if d.frictions else ""
        raise UsageError(
            "the model has no dry friction, so it rests with one torque or force only: that of m.cycle(speed=0)."
            f"{viscous} Give `friction: {{A: {{mu: 0.15, radius: 8 mm}}}}` or `friction: {{A: {{coulomb: 0.2 N m}}}}`.",
            name="friction",
        )
    without = [b.name for b in d.bodies[1:] if b.mass is None]
    if without:
        raise UsageError(
            f"{listing(without)} {'has' if len(without) == 1 else 'have'} no mass, and friction depends on the loads. Give every body its "
            "mass. Zero is possible.",
            name=without[0],
        )
    return tuple(out)


def _positions(m: Mechanism, drive: str | None, steps: int, start: Any, stop: Any) -> Trajectory:
    """One way along the travel of the drive at rest, in equal steps; the other drives hold."""
    c = m.cycle(drive, steps=steps, speed=0, start=start, stop=stop)
    x = c[c.drive]
    if drive is None and len(c.drives) > 1:
        return _positions(m, c.drive, steps, start, stop)
    if np.all(np.diff(x) > 0.0) or np.all(np.diff(x) < 0.0):
        return c
    return m.cycle(c.drive, steps=steps, speed=0, start=float(x.min()), stop=float(x.max()))


class _Statics:
    """A mechanism at rest along the positions of a drive."""

    def __init__(self, m: Mechanism, c: Trajectory, joints: Sequence[forces.FrictionRow]):
        self.system, self.description, self.c, self.joints = m.system, m.description, c, tuple(joints)
        self.drive, self.x = c.drive, c[c.drive]
        others = [name for name in c.drives if name != c.drive]
        self.hold = {name: float(c[name][0]) for name in others if np.ptp(c[name]) <= SAME}  # drives that follow are idle
        self.drives = (c.drive, *self.hold)
        self.unit = unit_of(m.description.units, "angle" if is_rotary(m.description, c.drive) else "length")

    def loads(self, st: State) -> inverse.Loads:
        """Inverse dynamics at rest, where the smooth friction of the model is zero."""
        loads = self.system._solved_loads(st, np.zeros_like(st.v), self.drives)
        if loads.base:
            raise UsageError("a holding range needs a mechanism on the ground: this one has a floating base, which nothing holds.")
        return loads

    def ends(self, loads: inverse.Loads) -> _Ends:
        """The range at a position."""
        F = self.joint_forces(loads)
        by_load, constant = (np.array([float(getattr(x, part)) for x in self.joints]) for part in ("by_load", "constant"))
        size = by_load * np.linalg.norm(F, axis=1) + constant
        unit = np.where(size > 0.0, size, size.max(initial=0.0) or 1.0)  # effects keep their digits beside the loads
        there = [inverse.with_joint_efforts(loads, {x.name: e}) for x, e in zip(self.joints, unit.tolist(), strict=True)]
        without = loads.tau[self.drive]
        added = np.array([y.tau[self.drive] for y in there]) - without
        g = np.where(np.abs(added) > NO_INFLUENCE * (abs(without) + np.abs(added).max()), added / unit, 0.0)
        dF = np.stack([(self.joint_forces(y) - F) / e for y, e in zip(there, unit.tolist(), strict=True)], axis=2)
        rubbing = {x.joint for x in self.joints if x.by_load}
        unique = not loads.self_stresses.shape[1] or all(loads.reaction(j).unique_force.all() for j in rubbing)
        low, high = limits(AffineLoads(without, g, F, dF, by_load, constant))
        return _Ends(low, high, without, unique and loads.tau_unique[self.drive])

    def joint_forces(self, loads: inverse.Loads) -> np.ndarray:
        return np.array([loads.reaction(x.joint).force for x in self.joints])

    def at(self, x: float) -> _Ends:
        """The range at a position between the samples."""
        near = int(np.abs(self.x - x).argmin())
        return self.ends(self.loads(self.system.assemble(q={**self.hold, self.drive: x}, guess=self.c.state(near))))

    def result(self) -> HoldingRange:
        solved: dict[int, inverse.Loads] = {}
        dead: list[int] = []
        for i in range(len(self.x)):
            try:
                solved[i] = self.loads(self.c.state(i))
            except (SingularityError, UsageError):  # a dead center of the drive; where all are, the reason is another
                dead.append(i)
                if len(dead) == len(self.x):
                    raise
        found = {i: self.ends(x) for i, x in solved.items()}
        order = sorted(found, key=lambda i: self.x[i])
        x, each = self.x[order], [found[i] for i in order]
        names = tuple(x.name for x in self.joints)
        low, high = (np.array([getattr(e, side).effort for e in each]) for side in ("low", "high"))
        shares = [np.array([getattr(e, side).shares for e in each]) for side in ("low", "high")]
        locks = tuple(lock for way in (-1, 1) for lock in self._locks(x, each, way))
        notes = self._notes(each, dead, locks)
        d = self.description
        rotary, without = is_rotary(d, self.drive), np.array([e.without for e in each])
        stays = self._stays(x, each)
        return HoldingRange(self.drive, names, x, low, high, without, *shares, stays, locks, notes, rotary, d.units)

    def _stays(self, x: np.ndarray, each: Sequence[_Ends]) -> tuple[HeldStretch, ...]:
        """Stretches in which zero is within the range, their ends between the samples found."""
        from scipy.optimize import brentq

        every = [y for e in each for y in (e.low.effort, e.high.effort, e.without) if np.isfinite(y)]
        scale = max(map(abs, every), default=0.0) or 1.0

        def margin_at(at: float) -> float:
            return self.at(at).margin(scale)

        x, margin = _refined(x, np.array([e.margin(scale) for e in each]), margin_at)
        span = float(x[-1] - x[0])
        ends = [float(x[0])] if margin[0] >= 0.0 else []
        for k in np.flatnonzero((margin[:-1] >= 0.0) != (margin[1:] >= 0.0)).tolist():
            ends.append(float(brentq(margin_at, x[k], x[k + 1], xtol=LOCATED * span, rtol=LOCATED)))
        if margin[-1] >= 0.0:
            ends.append(float(x[-1]))
        out = [HeldStretch(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)]
        whole = self.c.full_turn and abs(span - 2.0 * np.pi) < SAME
        if whole and len(out) > 1 and out[0].start == x[0] and out[-1].stop == x[-1]:
            out = [*out[1:-1], HeldStretch(out[-1].start, out[0].stop + 2.0 * np.pi)]
        return tuple(out)

    def _locks(self, x: np.ndarray, each: Sequence[_Ends], way: int) -> list[LockedStretch]:
        """Stretches in which the range has no end in a direction."""

        def end(e: _Ends) -> Limit:
            return e.high if way > 0 else e.low

        locked = np.array([np.isinf(end(e).effort) for e in each])
        edges = np.flatnonzero(locked[:-1] != locked[1:]).tolist()
        ends = [float(x[0])] if locked[0] else []
        for k in edges:
            ends.append(self._edge(lambda at: bool(np.isinf(end(self.at(at)).effort)), float(x[k]), float(x[k + 1]), bool(locked[k])))
        ends += [float(x[-1])] if locked[-1] else []
        out = []
        for a, b in zip(ends[::2], ends[1::2], strict=True):
            inside = [end(e).shares for e, at in zip(each, x, strict=True) if a <= at <= b and np.isinf(end(e).effort)]
            who = tuple(j.name for i, j in enumerate(self.joints) if any(np.isinf(s[i]) for s in inside))
            out.append(LockedStretch(a, b, way, who))
        return out

    def _edge(self, locked: Callable[[float], bool], a: float, b: float, first: bool) -> float:
        least = LOCKS_LOCATED * float(np.ptp(self.x))
        while abs(b - a) > least:
            middle = 0.5 * (a + b)
            a, b = (middle, b) if locked(middle) == first else (a, middle)
        return float(0.5 * (a + b))

    def _notes(self, each: Sequence[_Ends], dead: Sequence[int], locks: Sequence[LockedStretch]) -> tuple[str, ...]:
        d, notes = self.description, [x for x in self.c.notes if not x.startswith(OF_CYCLES)]
        word = "torque" if is_rotary(d, self.drive) else "force"
        for lock in locks:
            a, b = (cycles.position_text(d, self.drive, at) for at in (lock.start, lock.stop))
            sign = "positive" if lock.way > 0 else "negative"
            who = listing(lock.joints)
            notes.append(f"between {self.drive} = {a} and {b} no {sign} {word} moves the mechanism: the friction of {who} locks it.")
        if dead:
            places = listing([cycles.position_text(d, self.drive, float(self.x[i])) for i in dead[:4]])
            notes.append(f"at {self.drive} = {places} the drive is at a dead center and carries nothing, so there is no range.")
        if not all(e.unique for e in each):
            notes.append(
                "reactions in joints with friction are not unique, so the range is not unique either. It belongs to the reactions of least "
                "norm. Release the surplus constraints, for example with a ball joint in place of a hinge."
            )
        doubtful = sum(any(np.isfinite(x.effort) and not x.proven for x in (e.low, e.high)) for e in each)
        if doubtful:
            notes.append(
                f"at {counted(doubtful, 'position')} friction is strong enough, or nearly so, to lock the mechanism. A limit there is what "
                "can be reached from the equilibrium without friction. It is not proven that no other equilibrium lies beyond it."
            )
        return tuple(notes)


def _refined(x: np.ndarray, margin: np.ndarray, at: Callable[[float], float]) -> tuple[np.ndarray, np.ndarray]:
    """The samples with extremes between them at which a short stretch could begin and end."""
    from scipy.optimize import minimize_scalar

    more: list[tuple[float, float]] = []
    for k in range(1, len(x) - 1):
        near, sign = margin[k - 1 : k + 2], 1.0 if margin[k] >= 0.0 else -1.0
        inner = np.all(sign * near >= 0.0) and abs(near[1]) <= min(abs(near[0]), abs(near[2]))
        if inner and abs(near[1]) < max(abs(near[0] - near[1]), abs(near[2] - near[1])):
            found = minimize_scalar(lambda y, s=sign: s * at(y), bounds=(x[k - 1], x[k + 1]), method="bounded")
            if found.fun < 0.0:
                more.append((float(found.x), sign * float(found.fun)))
    if not more:
        return x, margin
    places, values = np.array([*zip(x, margin, strict=True), *more]).T
    order = np.argsort(places)
    return places[order], values[order]

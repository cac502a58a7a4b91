"""Maps over drives: channels at rest over a grid of drive positions, such as lift x tilt of a loader, within strokes and reach.

Positions are followed from the start: along the first axis, from there along the second, and the rest from their neighbors, so that
all are on the branch of the start. Out of reach are positions beyond a dead center, and beyond a stop of any coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    Compiled,
    Description,
    Instant,
    System,
    Trajectory,
    UsageError,
    argument_types,
    compiled_of,
    counted,
    curve_lines,
    cycles,
    display_unit,
    driven_constraints,
    is_rotary,
    joint_limits,
    listing,
    movable,
    nearest,
    records,
    shown,
    singular_positions,
    unit_kinds,
)
from linkwright.mechanics.closing.continuation import Walker, walk
from linkwright.mechanics.closing.continuation import start as walker
from linkwright.motion.cycle_samples import native_walk
from linkwright.rings.robots.workspace import request
from linkwright.rings.robots.workspace.joint_margins import JointLimits
from linkwright.rings.robots.workspace.result import Workspace, axis

REASONS = ("", "out of reach", "beyond a stop")
OPTIONS = ("at", "limits")
SI = {"pressure": "Pa", "flow": "m^3/s", "volume": "m^3"}  # kinds that are shown in other units than SI


def over_drives(d: Description, over: Any) -> bool:
    """True if `over` names joints with one coordinate or cylinders only, as drives are named."""
    known = set(movable(d))
    return all(name in known for name in request.names_over(over))


def drive_map(system: System, what: Any, over: Any, options: Mapping[str, Any]) -> Workspace:
    """Return channels over positions of drives; `at` holds others than at their start, `limits` are ranges in place of the stops."""
    core: Compiled = compiled_of(system)
    d, names = core.description, request.names_over(over)
    for name in options:
        if name not in OPTIONS and not (name == "modes" and options[name] == "start"):
            raise UsageError(f"a map over drives has no option {name!r}. It has {listing(OPTIONS)}.", name=name)
    for name in names:
        core.need_drive(name)
    if len(names) > request.MOST_AXES:
        raise UsageError(f"over: {counted(len(names), 'axis', 'axes')}; {request.MOST_AXES} at most. Hold others by at=.", name="over")
    kinds = ["angle" if is_rotary(d, n) else "length" for n in names]
    home = np.array([joint_limits.coordinate_now(core.loops, n, core.start.instant) for n in names])
    values = [_axis(core.described, n, over, kind, len(names), float(x)) for n, kind, x in zip(names, kinds, home, strict=True)]
    held = _held(core, names, options.get("at"))
    tied = core.loops.with_(
        [
            driven_constraints.driven(d, n, curve_lines.Line(joint_limits.coordinate_now(core.loops, n, core.start.instant), 0.0))
            for n in [*names, *held]
        ]
    )
    joint_limits.check_driven(core.loops, tied, core.start.instant, [*names, *held])
    grid = DriveGrid(core, names, values, held)
    limits = JointLimits(core, request.joint_ranges(core, options.get("limits")))
    shape = tuple(len(v) for v in values)
    q, references, why = grid.filled(shape)
    inside = why.ravel() == 0
    if limits.ranges and inside.any():
        beyond = limits.least(q[inside]) < -1e-9
        why.ravel()[np.flatnonzero(inside)[beyond]] = 2
        inside = why.ravel() == 0
    channels = _channels(system, what, [*names, *held])
    found, units, display = _read(system, channels, q, references, inside, [*names, *held])
    notes = [f"held: {', '.join(_text(d, n, x) for n, x in held.items())}"] if held else []
    return Workspace(
        name=d.name,
        axes=tuple(axis(n, v, kind, d.units) for n, v, kind in zip(names, values, kinds, strict=True)),
        fixed={},
        reach=inside.reshape(shape),
        values={n: x.reshape(shape) for n, x in found.items()},
        units=units,
        about={n: f"{n} at rest" for n in found},
        q=np.where(inside[:, None], q, np.nan).reshape(*shape, -1),
        why=why.reshape(shape),
        reasons=REASONS,
        located=(),
        home=home,
        notes=tuple(notes),
        file_units=tuple(d.units),
        display=display,
    )


def _axis(d: Description, name: str, over: Any, kind: str, axes: int, present: float) -> np.ndarray:
    """Values of an axis: as given, or over the stroke."""
    found = request.axis_values(name, over.get(name) if isinstance(over, Mapping) else None, kind, axes, d, present)
    if found is not None:
        return found
    lows, highs = joint_limits.stops_of(d, name)
    if not lows or not highs:
        example = "0..90 deg / 40" if kind == "angle" else "800..1200 mm / 40"
        raise UsageError(f"over: '{name}' has no stroke: give a range, {{'{name}': '{example}'}}.", name=name)
    return np.linspace(max(lows), min(highs), request.COUNTS[axes])


def _held(core: Compiled, names: Sequence[str], at: Any) -> dict[str, float]:
    """Positions of the other drives: as in the start, or as `at` says."""
    if at is not None and not isinstance(at, Mapping):
        raise UsageError(f"at is a dict of positions of other drives, {{'swing': '20 deg'}}, not {at!r:.60}.", name="at", value=at)
    others = cycles.independent(core.loops, core.start.instant, names, core.drive_names)
    for name in at or {}:
        if name not in others:
            raise UsageError(f"at: '{name}' is not a drive besides the axes.", nearest(str(name), others, "Drives"))
    out = {}
    for n in others:
        kind = KINDS["angle" if is_rotary(core.description, n) else "length"]
        here = joint_limits.coordinate_now(core.loops, n, core.start.instant)
        out[n] = unit_kinds.quantity(at[n], kind, f"at: '{n}'") if at and n in at else here
    return out


def _text(d: Description, name: str, x: float) -> str:
    return f"{name} = {shown(x, KINDS['angle' if is_rotary(d, name) else 'length'], d.units)}"


class DriveGrid:
    """Positions of drives on a grid, followed from the start."""

    def __init__(self, core: Compiled, names: Sequence[str], values: Sequence[np.ndarray], held: Mapping[str, float]):
        self.core, self.names, self.values, self.held = core, list(names), list(values), dict(held)
        self.loops, self.desc = core.loops, core.description
        self.states: dict[tuple[int, ...], Instant] = {}

    def filled(self, shape: tuple[int, ...]) -> tuple[np.ndarray, list[Mapping[str, Any]], np.ndarray]:
        """q and references of all positions, in the order of the grid, and 1 in `why` where there is none."""
        begin = self._begin()
        first, state = begin
        self.states[first] = state
        for k in range(len(shape)):  # along the first axis, from all of these along the second, and so on
            for at in list(self.states):
                if at[k] == first[k]:
                    self._swept(at, k)
        self._from_neighbors(shape)
        q = np.full((int(np.prod(shape)), self.core.tree.nq), np.nan)
        references: list[Mapping[str, Any]] = [self.core.start.references] * len(q)
        why = np.ones(shape, dtype=int)
        for at, x in self.states.items():
            i = int(np.ravel_multi_index(at, shape))
            q[i], references[i], why[at] = x.q, x.references, 0
        return q, references, why

    def _begin(self) -> tuple[tuple[int, ...], Instant]:
        """The position of the grid nearest to the start, and the state there."""
        here = self.core.start.instant
        now = {n: joint_limits.coordinate_now(self.loops, n, here) for n in [*self.names, *self.held]}
        at = tuple(int(np.argmin(np.abs(v - now[n]))) for n, v in zip(self.names, self.values, strict=True))
        ends = {**{n: float(v[i]) for n, v, i in zip(self.names, self.values, at, strict=True)}, **self.held}
        found = self._walked(here, now, ends)
        if found is None:
            raise UsageError("the position of the map that is nearest to the start cannot be reached from it. Choose other ranges.")
        return at, found

    def _walked(self, here: Instant, now: Mapping[str, float], ends: Mapping[str, float]) -> Instant | None:
        """The state at other positions of the drives; None where the way is blocked."""
        tied = self.loops.with_([driven_constraints.driven(self.desc, n, curve_lines.Line(now[n], ends[n] - now[n])) for n in now])
        there = walk(tied, walker(tied, here.q, here.references), 1.0).at
        return Instant(self.core.skel, there.q, np.zeros(self.core.tree.nv), references=there.references) if there.t == 1.0 else None

    def _place(self, at: tuple[int, ...]) -> dict[str, float]:
        return {**{n: float(v[i]) for n, v, i in zip(self.names, self.values, at, strict=True)}, **self.held}

    def _swept(self, at: tuple[int, ...], k: int) -> None:
        """Follow one drive both ways from a position, the others held, as far as it goes."""
        laws = {n: curve_lines.Line(x, 0.0) for n, x in self._place(at).items()}
        laws[self.names[k]] = curve_lines.Line(0.0, 1.0)  # its position is the parameter
        tied = self.loops.with_([driven_constraints.driven(self.desc, n, law) for n, law in laws.items()])
        native = native_walk(self.loops, laws, {}, self.core.walking)
        beside = 3  # strides before trouble that a native walk is left for one on floats
        for step in (1, -1):
            places = range(at[k] + step, len(self.values[k]) if step > 0 else -1, step)
            times = self.values[k][[at[k], *places]]
            here, done = self.states[at], 0
            if native is not None and len(times) > beside:
                found = native(here.q, here.references, times)
                done = max(0, min([found.reached, *singular_positions.steep_minima(np.abs(found.determinant[: found.reached]))]) - 1)
                done = done if done == len(times) - 1 else max(0, done - beside)
                counted = records.CutReferences(tied.skel, found.q, found.references)
                for j in range(1, done + 1):
                    self._store(at, k, at[k] + step * j, found.q[j], counted[j])
            self._on_floats(tied, at, k, step, times, done)

    def _on_floats(self, tied: Any, at: tuple[int, ...], k: int, step: int, times: np.ndarray, done: int) -> None:
        here = self.states[(*at[:k], at[k] + step * done, *at[k + 1 :])]
        w: Walker = walker(tied, here.q, here.references, float(times[done]))
        for j in range(done + 1, len(times)):
            w = walk(tied, w, float(times[j]))
            if w.at.t != times[j]:
                return
            self._store(at, k, at[k] + step * j, w.at.q, w.at.references)

    def _store(self, at: tuple[int, ...], k: int, i: int, q: np.ndarray, references: Mapping[str, Any]) -> None:
        there = (*at[:k], i, *at[k + 1 :])
        self.states.setdefault(there, Instant(self.core.skel, np.array(q), np.zeros(self.core.tree.nv), references=references))

    def _from_neighbors(self, shape: tuple[int, ...]) -> None:
        """Positions that no straight way led to, from those beside them."""
        front = list(self.states)
        while front:
            new = []
            for at in front:
                for k, step in ((k, s) for k in range(len(shape)) for s in (1, -1)):
                    there = (*at[:k], at[k] + step, *at[k + 1 :])
                    if 0 <= there[k] < shape[k] and there not in self.states:
                        found = self._walked(self.states[at], self._place(at), self._place(there))
                        if found is not None:
                            self.states[there] = found
                            new.append(there)
            front = new


def _channels(system: Any, what: Any, drives: Sequence[str]) -> list[str]:
    """Names of channels: those asked for, or the drive torques and forces."""
    if isinstance(what, str) and what == "reach":
        return []
    if isinstance(what, str) and what == "all":
        if any(b.mass is None for b in system.description.bodies[1:]):
            return []
        return [f"{n}.{'torque' if is_rotary(system.description, n) else 'force'}" for n in drives]
    if not isinstance(what, (str, Sequence)):
        raise UsageError(f"what is the name of a channel, a list of names, 'all' or 'reach', not {argument_types.spelled(what)}.")
    return [what] if isinstance(what, str) else [str(x) for x in what if x != "reach"]


def _read(
    system: Any, channels: Sequence[str], q: np.ndarray, references: Sequence[Mapping[str, Any]], inside: np.ndarray, drives: Sequence[str]
) -> tuple[dict[str, np.ndarray], dict[str, str], dict[str, tuple[str, float]]]:
    """Channels at rest by name, NaN out of reach; their SI units, and the units in which they are shown."""
    some = np.flatnonzero(inside)
    still = np.zeros((len(some), system.tree.nv))
    near = [references[i] for i in some.tolist()]
    c = Trajectory(
        compiled_of(system).skel, np.arange(float(len(some))), q[some], still, still, near, drives=tuple(drives),
        system=system, settings={"static": True},
    )  # fmt: skip
    found, units, display = {}, {}, {}
    for name in channels:
        kind = c.dimension(name)
        if len(some) and c[name].ndim > 1:
            raise UsageError(f"'{name}' is a vector: name one component, such as {name}.x.", name=name)
        out = np.full(len(q), np.nan)
        out[some] = c[name] if len(some) else 0.0
        found[name] = out
        dimension = KINDS["torque" if kind == "energy" else kind]
        units[name] = SI.get(kind) or display_unit((), dimension)[0]
        symbol, per_si = display_unit(system.description.units, dimension)
        display[name] = (symbol or "-", 1.0 / per_si)
    return found, units, display

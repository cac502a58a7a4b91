"""What a caller asks of an optimal motion, by names and with units, as numbers of independent coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    Compiled,
    LinkwrightError,
    Place,
    State,
    System,
    Trajectory,
    UsageError,
    compiled_of,
    is_rotary,
    meaning,
    nearest,
    quantity,
    ranges,
    whole_number,
)
from linkwright.properties import cached_property
from linkwright.rings.robots.time_optimal.limits import MotionLimit, place_of, read_limits

Array = np.ndarray
GOALS = {"least time": "time", "least effort": "effort", "least energy": "energy"}
FEWEST, MOST = 4, 2000  # intervals
FREE = "free"
SHORTEST, LONGEST = 1e-4, 1e4  # s: a duration that is free


@dataclass(frozen=True, eq=False)
class Setting:
    """A mechanism with its independent coordinates and drives, about to move from a start."""

    system: System
    core: Compiled
    start: State
    drives: tuple[str, ...]
    coordinates: tuple[str, ...]

    @classmethod
    def of(cls, system: System, start: Any, drives: Any, coordinates: Any) -> Setting:
        core = compiled_of(system)
        names = core.named_drives(drives)
        if not names:
            raise UsageError("optimal motions need drives: drives=['A'], or `drives:` in the model.", name="drives")
        for name in names:
            core.need_drive(name)
        st = _start(system, start)
        if coordinates is None:
            chosen = core.independent_coordinates(st, names)
        else:
            chosen = [coordinates] if isinstance(coordinates, str) else [str(x) for x in coordinates]
            freedoms = system.mobility.freedoms
            if len(chosen) != freedoms:
                raise UsageError(
                    f"coordinates: the mechanism has {freedoms} degrees of freedom, and {len(chosen)} are named.", name="coordinates"
                )
        out = cls(system, core, st, tuple(names), tuple(chosen))
        for name in chosen:
            if "." not in name or f"{name}.v" not in out.sample.channels:  # base.x is a part of joint `base`
                core.need_drive(name)
        return out

    @cached_property
    def sample(self) -> Trajectory:
        """The start as a motion of one sample, from which names and units of channels are read."""
        st = self.start
        return Trajectory(
            self.core.skel, np.array([0.0]), st.q[None], st.v[None], np.zeros((1, len(st.v))), [st.references],
            system=self.system, drives=self.drives,
        )  # fmt: skip

    @property
    def rotary(self) -> list[bool]:
        return [is_rotary(self.core.description, x) for x in self.coordinates]

    @cached_property
    def sizes(self) -> Array:
        """Sizes of the coordinates: a radian, or the characteristic length of the mechanism."""
        return np.array([1.0 if x else self.core.loops.kappa for x in self.rotary])

    def values(self, st: State) -> Array:
        """Coordinates and their speeds in a state."""
        return np.array([float(st[x]) for x in self.coordinates] + [float(st[f"{x}.v"]) for x in self.coordinates])

    def range(self, name: str, value: Any, what: str) -> tuple[float, float]:
        """Low and high of a value, or of a range, of a channel."""
        place = place_of(f"{what}: '{name}'", self.dimension(name, what), value, self.sample)
        meant = meaning(value, place.name)
        if isinstance(meant, ranges.Values):
            x = place.values(meant)[0]
            return x, x
        return place.ends(meant)

    def dimension(self, name: str, what: str) -> str:
        if name not in self.sample.channels:
            raise UsageError(f"{what}: there is no '{name}'.", nearest(name, list(self.sample.channels), "Names"))
        return self.sample.dimension(name)


def _start(system: System, given: Any) -> State:
    if given is None:
        return system.start
    if isinstance(given, State):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(f"start is a State, or values by name such as {{'A': '30 deg', 'A.v': '1 rad/s'}}, not {given!r}.", name="start")
    return system.assemble(*_positions_and_speeds(given), guess=system.start)


def _positions_and_speeds(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    q = {str(name): x for name, x in given.items() if not str(name).endswith(".v")}
    return q, {str(name)[:-2]: x for name, x in given.items() if str(name).endswith(".v")}


# -------------------------------------------------------------------- limits


@dataclass(frozen=True, eq=False)
class Limits:
    """Bounds of coordinates, speeds and efforts, and limits that are functions of the state."""

    low: Array  # coordinates, speeds, efforts
    high: Array
    reads: Mapping[str, Callable[[Any], Any]]  # a read is between its range; 1 is the limit of a size
    ranges: Sequence[tuple[float, float]]
    every: tuple[MotionLimit, ...] = field(default=())


def limits_of(setting: Setting, given: Any) -> Limits:
    """The limits that a caller gives, by channel."""
    f, p = len(setting.coordinates), len(setting.drives)
    low, high = np.full(2 * f + p, -np.inf), np.full(2 * f + p, np.inf)
    reads: dict[str, Callable[[Any], Any]] = {}
    spans: list[tuple[float, float]] = []
    every = [] if given is None else read_limits(given, setting.sample, positions=True)
    for x in every:
        place = _place(setting, x)
        if x.kind in ("heat", "jerk"):
            raise UsageError(f"limits: '{x.name}' is not a limit of optimal motions. m.time_optimal takes it, along a path.", name=x.name)
        if place is not None:
            low[place], high[place] = max(low[place], x.low), min(high[place], x.high)
            continue
        read, span = _read(setting.sample, x)
        reads[x.name] = read
        spans.append(span)
    return Limits(low, high, reads, spans, tuple(every))


def _place(setting: Setting, x: MotionLimit) -> int | None:
    """The place of a limited channel among coordinates, speeds and efforts; None if it is a function of them."""
    f, stem = len(setting.coordinates), x.channel.rsplit(".", 1)[0]
    if x.kind == "effort":
        return 2 * f + setting.drives.index(stem)
    if x.kind == "speed" and x.channel.endswith(".v") and stem in setting.coordinates:
        return f + setting.coordinates.index(stem)
    if x.kind == "position" and x.channel in setting.coordinates:
        return setting.coordinates.index(x.channel)
    return None


def _read(c: Trajectory, x: MotionLimit) -> tuple[Callable[[Any], Any], tuple[float, float]]:
    """A limited channel as a smooth function of the instant: of a vector the square of its size."""
    if x.kind == "load" and x.channel.endswith(".load"):
        joint = x.channel[: -len(".load")]
        return lambda at: _square(at.loads.reaction(joint).force) / x.high**2, (-np.inf, 1.0)
    if x.kind == "speed" and x.channel.endswith(".speed"):
        vector = c._channel(f"{x.channel[: -len('.speed')]}.v").read
        return lambda at: _square(vector(at)) / x.high**2, (-np.inf, 1.0)
    channel = c._channel(x.channel)
    if channel.cook is not None:
        raise UsageError(f"limits: '{x.channel}' has no derivatives and cannot limit an optimal motion.", name=x.channel)
    if np.ndim(c[x.channel]) > 1:
        return lambda at: _square(channel.read(at)) / x.high**2, (-np.inf, 1.0)
    size = max([abs(end) for end in (x.low, x.high) if np.isfinite(end)], default=0.0) or 1.0
    return lambda at: channel.read(at) / size, (x.low / size, x.high / size)


def _square(vector: Any) -> Any:
    out: Any = 0.0
    for x in np.ravel(np.asarray(vector, dtype=object)):
        out = out + x * x
    return out


# -------------------------------------------------------------------- ends


@dataclass(frozen=True, eq=False)
class Ends:
    """Ranges of coordinates and speeds at the start and at the end, and of other channels at the end."""

    start_low: Array
    start_high: Array
    end_low: Array
    end_high: Array
    reads: Mapping[str, Callable[[Any], Any]]
    ranges: Sequence[tuple[float, float]]
    advance: Array | None
    partner: Array | None  # of coordinates and speeds at the end: those at the start that they are compared with
    target: Array | None  # coordinates at the end, where they are known: of the first guess


def ends_of(setting: Setting, start: Any, to: Any, periodic: Any) -> Ends:
    """Where a motion begins and ends."""
    n, here = 2 * len(setting.coordinates), setting.values(setting.start)
    start_low, start_high, end_low, end_high = here.copy(), here.copy(), np.full(n, -np.inf), np.full(n, np.inf)
    advance, partner = _advance(setting, periodic)
    if advance is not None and start is None:
        start_low, start_high = np.full(n, -np.inf), np.full(n, np.inf)
        begin = np.isfinite(advance) & (advance != 0.0)
        begin[n // 2 :] = False
        start_low[begin] = start_high[begin] = here[begin]  # a motion that advances by a turn may begin anywhere: where it is drawn
    if to is None:
        if advance is None:
            raise UsageError("an optimal motion needs an end: to={'A': '90 deg'}, or periodic=True.", name="to")
        return Ends(start_low, start_high, end_low, end_high, {}, (), advance, partner, None)
    if isinstance(to, State):
        there = setting.values(to)
        return Ends(start_low, start_high, there, there.copy(), {}, (), advance, partner, there[: n // 2])
    if not isinstance(to, Mapping) or not to:
        raise UsageError(f"to is a State, or values by name such as {{'A': '90 deg', 'A.v': '0 rad/s'}}, not {to!r:.60}.", name="to")
    reads: dict[str, Callable[[Any], Any]] = {}
    spans: list[tuple[float, float]] = []
    if advance is None:
        end_low[n // 2 :] = end_high[n // 2 :] = 0.0  # at rest, if nothing is said
    for name, value in to.items():
        _end(setting, str(name), value, (end_low, end_high), reads, spans)
    return Ends(start_low, start_high, end_low, end_high, reads, spans, advance, partner, _target(setting, to, end_low, end_high))


def _end(
    setting: Setting, name: str, value: Any, ends: tuple[Array, Array], reads: dict[str, Any], spans: list[tuple[float, float]]
) -> None:
    """Put a value of a channel at the end into bounds of coordinates and speeds, or among the reads."""
    f, stem = len(setting.coordinates), name.removesuffix(".v")
    place = None
    if stem in setting.coordinates:
        place = setting.coordinates.index(stem) + (f if name.endswith(".v") else 0)
    if isinstance(value, str) and value.strip() == FREE:
        if place is None:
            known = ", ".join(setting.coordinates)
            raise UsageError(f"to: '{name}' is no coordinate of this motion ({known}) and is free anyway.", name=name)
        ends[0][place], ends[1][place] = -np.inf, np.inf
        return
    low, high = setting.range(name, value, "to")
    if place is not None:
        ends[0][place], ends[1][place] = low, high
        return
    channel = setting.sample._channel(name)
    if channel.cook is not None or np.ndim(setting.sample[name]) != 1:
        raise UsageError(
            f"to: '{name}' is not a single number with derivatives. Name a joint, or a component of a point ('C.P.x').", name=name
        )
    size = setting.core.loops.kappa if "length" in setting.dimension(name, "to") else 1.0
    reads[f"end of {name}"] = lambda at: channel.read(at) / size
    spans.append((low / size, high / size))


def _target(setting: Setting, to: Mapping[str, Any], low: Array, high: Array) -> Array | None:
    """Coordinates at the end if the names determine them: of joints by assembly, of points as far as it goes."""
    f = len(setting.coordinates)
    if (low[:f] == high[:f]).all():
        return low[:f].copy()
    here = setting.values(setting.start)[:f]
    known = np.isfinite(low[:f]) & np.isfinite(high[:f])
    out = np.where(known, 0.5 * (np.where(known, low[:f], 0.0) + np.where(known, high[:f], 0.0)), here)
    positions = {n: x for n, x in to.items() if not str(n).endswith(".v") and x != FREE and n not in setting.coordinates}
    if positions and not known.any():
        try:
            st = setting.system.assemble(q={n: x for n, x in positions.items() if "." not in n}, guess=setting.start)
        except LinkwrightError:  # the first guess is elsewhere
            return out
        return setting.values(st)[:f]
    return out


def _advance(setting: Setting, periodic: Any) -> tuple[Array | None, Array | None]:
    """End minus start of coordinates and speeds of a periodic motion, NaN where nothing is asked; and the ones at the start that count."""
    if periodic is None or periodic is False:
        return None, None
    f = len(setting.coordinates)
    out, partner = np.zeros(2 * f), np.arange(2 * f)
    if periodic is True:
        return out, partner
    if not isinstance(periodic, Mapping):
        raise UsageError(
            f"periodic is True, or what coordinates advance in a period such as {{'A': '360 deg'}}, not {periodic!r:.60}.", name="periodic"
        )
    for name, value in periodic.items():
        if name not in setting.coordinates:
            raise UsageError(f"periodic: '{name}' is no coordinate of this motion.", nearest(str(name), setting.coordinates, "Coordinates"))
        i = setting.coordinates.index(name)
        if value in setting.coordinates:  # mirrored: the left leg ends as the right one began
            partner[i], partner[f + i] = setting.coordinates.index(value), f + setting.coordinates.index(value)
        elif value == FREE:
            out[i] = np.nan
        else:
            out[i] = setting.range(str(name), value, "periodic")[0]
    return out, partner


def duration_of(goal: str, given: Any) -> tuple[float, float]:
    """Shortest and longest duration that is allowed."""
    if given is None:
        if goal != "time":
            raise UsageError(f"the goal 'least {goal}' needs a duration, because the slower, the less: duration='0.8 s'.", name="duration")
        return SHORTEST, LONGEST
    place = Place("duration", KINDS["time"])
    meant = meaning(given, "duration")
    if isinstance(meant, ranges.Values):
        seconds = quantity(given, KINDS["time"], "duration")
        low, high = (SHORTEST if goal == "time" else seconds), seconds
    else:
        low, high = place.ends(meant)
    if not 0.0 < low <= high:
        raise UsageError(f"duration must be longer than zero, not {given!r}.", name="duration", value=given)
    return low, high


def goal_of(goal: Any) -> str:
    if goal not in GOALS:
        raise UsageError(f"goal is one of {', '.join(repr(x) for x in GOALS)}, not {goal!r}.", name="goal", value=goal, allowed=list(GOALS))
    return GOALS[goal]


def intervals(steps: Any) -> int:
    whole_number(steps, "steps", FEWEST, MOST)
    return int(steps)

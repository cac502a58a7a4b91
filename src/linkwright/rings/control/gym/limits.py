"""Ranges of a task in SI: limits of actions, scales of observations, ranges of what is drawn at the start of an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.api import (
    KINDS,
    NONE,
    ChannelError,
    LinkwrightError,
    Place,
    UsageError,
    compiled_of,
    coordinates,
    joints,
    meaning,
    written_values,
)
from linkwright.model.file.overrides import place_of
from linkwright.rings.control.gym.servo import WORD, servos_of
from linkwright.text.ranges_and_tolerances import Values, limits, tolerance_in, unit_written

if TYPE_CHECKING:
    from linkwright.api import Compiled, System
    from linkwright.rings.control.gym.random_streams import RowRandom
    from linkwright.rings.control.gym.servo import ServoBank
    from linkwright.rings.control.gym.task import Task


def _place(what: str, kind: str, core: Compiled, present: float | None = None) -> Place:
    """Return how a number of this kind is read; one without a kind is a plain number."""
    return Place(what, KINDS.get(kind, NONE), partial(written_values.bare_size, core.described), present)


# -------------------------------------------------------------------- actions


class ActionMap(NamedTuple):
    """Entries of tau that actions act on (`where`: as a slice, if evenly spaced), the effort of action 0 and that of 1 above it.

    Where a servo positions a coordinate, these are set-points. `coordinates` are the places in q, `slides` whether they are lengths.
    """

    names: tuple[str, ...]
    columns: np.ndarray
    where: Any
    center: np.ndarray
    half: np.ndarray
    coordinates: np.ndarray
    slides: tuple[bool, ...]


def action_map(task: Task) -> ActionMap:
    """Limits of the efforts of a task, and of the set-points of its servos."""
    system = task.system
    given = task.act if isinstance(task.act, Mapping) else dict.fromkeys(task.act)
    servos = servos_of(task.servo, tuple(map(str, given)))
    places, ranges, where_q, slides = [], [], [], []
    for name, given_limits in given.items():
        place, kind, at = _effort(system, str(name))
        places.append(place)
        where_q.append(-1 if at is None else at)
        slides.append(kind == "force")
        servo = servos.get(str(name))
        if servo is not None and servo.stiffness is not None:
            if given_limits is None or at is None:
                such = f"{{'{name}': ('-30 deg', '30 deg')}}"
                said = f"act: the servo of '{name}' positions it. Give the range of the coordinate, such as {such}."
                raise UsageError(said, name=str(name))
            kind = "length" if slides[-1] else "angle"
        found = _limits(system, str(name)) if given_limits is None else given_limits
        ranges.append(limits(found, _place(f"act: the limit of '{name}'", kind, compiled_of(system))))
    low, high = np.array(ranges).T
    columns = np.array(places)
    steps = set(np.diff(columns).tolist()) or {1}
    even = len(steps) == 1 and min(steps) > 0
    where = slice(places[0], places[-1] + 1, min(steps)) if even else columns
    return ActionMap(tuple(map(str, given)), columns, where, 0.5 * (low + high), 0.5 * (high - low), np.array(where_q), tuple(slides))


def _effort(system: System, name: str) -> tuple[int, str, int | None]:
    """Place of a coordinate in tau, the kind of its effort, and its place in q, if it has one."""
    core = compiled_of(system)
    part = core.assembler.targets.part(name)
    if not isinstance(part, coordinates.JointCoordinate):
        every = ", ".join(f"{name}.{x}" for x in joints.create(part.type, part.options).v_names)
        raise UsageError(f"act: '{name}' has several coordinates. Name one of them: {every}.", name=name)
    if part.joint.name not in core.tree.node_of_joint:
        raise UsageError(
            f"act: '{name}' is a cut joint, in which no effort can act. Give the task lw.compile(m, cuts=[...]) with other cuts.", name=name
        )
    node = core.tree.nodes[core.tree.node_of_joint[part.joint.name]]
    return node.v.start + part.v, part.effort_kind, None if part.q is None else node.q.start + part.q


def _limits(system: System, name: str) -> tuple[float, float]:
    """Limits of a drive of the model."""
    found = next((d.limits for d in system.description.drives if d.joint == name), (None, None))
    if any(x is None for x in found):
        raise UsageError(f"act: the model has no limits for '{name}'. Give them, such as {{'{name}': '2 N m'}}.", name=name)
    low, high = (float(x) for x in found if x is not None)
    return low, high


# -------------------------------------------------------------------- observations


def scales(task: Task, dimension: Callable[[str], str]) -> tuple[np.ndarray, np.ndarray]:
    """(factors, offsets) of the observed names: what is observed is value * factor + offset."""
    if not isinstance(task.observe, Mapping):
        n = len(task.observe)
        return np.ones(n), np.zeros(n)
    out = []
    for name, given in task.observe.items():
        if given is None:
            out.append((1.0, 0.0))
            continue
        kind = dimension(str(name))
        place = _place(f"observe: the scale of '{name}'", kind, compiled_of(task.system))
        meant = meaning(given, place.name)
        both = None if isinstance(meant, Values) and meant.single else place.ends(meant)
        if both is None:
            size = place.values(meant)[0]
            if not size > 0.0:
                raise UsageError(
                    f"observe: the scale of '{name}' is the size that becomes 1, above 0, not {size:g}.", name=name, value=size
                )
            out.append((1.0 / size, 0.0))
        elif not both[0] < both[1]:
            raise UsageError(f"observe: the range of '{name}' is empty.", name=name)
        else:
            factor = 2.0 / (both[1] - both[0])
            out.append((factor, -0.5 * factor * (both[0] + both[1])))
    factors, offsets = np.array(out).T
    return factors, offsets


# -------------------------------------------------------------------- draws


Drawn = tuple[float, float] | np.ndarray  # a range, or values of which one is drawn


class Draw(NamedTuple):
    """Numbers drawn at the start of an episode: ranges by name, or a function."""

    what: str
    names: tuple[str, ...]
    ranges: Mapping[str, Drawn]
    function: Callable[[RowRandom], Mapping[str, Any]] | None

    def __call__(self, random: RowRandom) -> dict[str, np.ndarray]:
        """Arrays (n,) by name."""
        if self.function is None:
            return {name: random.choice(x) if isinstance(x, np.ndarray) else random.uniform(*x) for name, x in self.ranges.items()}
        found, out = self.function(random), {}
        if {str(k) for k in found} != set(self.names):
            raise UsageError(
                f"{self.what}: the function returned {', '.join(map(str, found))}; before: {', '.join(self.names)}.", name=self.what
            )
        for name in self.names:
            try:
                out[name] = np.broadcast_to(np.asarray(found[name], dtype=float), (len(random),)).copy()
            except (TypeError, ValueError):
                raise UsageError(f"{self.what}: '{name}' is one number, or {len(random)}: one for each environment.", name=name) from None
            if not np.isfinite(out[name]).all():
                raise UsageError(f"{self.what}: '{name}' has entries that are not finite numbers.", name=name)
        return out


def draw_of(what: str, drawn: Any, names: list[str], dimension: Callable[[str], str], core: Compiled) -> Draw:
    """Ranges in SI; a single value is drawn as itself, of a list one value. A tolerance is about the value at the start of the model."""
    if drawn is None or callable(drawn):
        return Draw(what, tuple(names), {}, drawn)
    ranges: dict[str, Drawn] = {}
    for name, given in drawn.items():
        place = _place(f"{what}: '{name}'", _kind(str(name), given, dimension), core)
        if tolerance_in(given) is not None:
            with suppress(LinkwrightError, TypeError, ValueError):  # no channel: the place reports that there is no present value
                place = replace(place, present=float(core.start[name]))
        ranges[str(name)] = _drawn(given, place)
    return Draw(what, tuple(names), ranges, None)


def _drawn(given: Any, place: Place) -> Drawn:
    meant = meaning(given, place.name)
    if isinstance(meant, Values):
        values = np.array(place.values(meant))
        return (float(values[0]), float(values[0])) if meant.single else values
    return place.ends(meant)


def draw_of_parameters(drawn: Any, names: list[str], core: Compiled, servos: ServoBank) -> Draw:
    """Ranges of named parameters of the model and of numbers of servos: patterns mean all that fit, "10 %" is a range about the value."""
    parameters = {p.name: p for p in core.parameters}
    if not isinstance(drawn, Mapping):
        for name in names:
            if name not in parameters and name not in servos.defaults:
                raise UsageError(f"randomize: the function returned '{name}', which is a pattern or no parameter of the model.", name=name)
        return Draw("randomize", tuple(names), {}, drawn)
    ranges: dict[str, Drawn] = {}
    for pattern, given in drawn.items():
        if WORD in str(pattern):
            for name in servos.named(str(pattern)):
                place = _place(f"randomize: '{name}'", servos.kind(name), core, servos.defaults[name])
                ranges[name] = _drawn(given, place)
            continue
        for p in core.chosen(str(pattern)):
            ranges[p.name] = _drawn(given, place_of(core.described, p, f"randomize: '{p.name}'"))
    return Draw("randomize", tuple(ranges), ranges, None)


def _kind(name: str, given: Any, dimension: Callable[[str], str]) -> str:
    """Kind of a name; only asked where a text has a unit."""
    if not unit_written(given) and not any(isinstance(x, str) for x in (given if isinstance(given, (tuple, list)) else [given])):
        return ""
    try:
        return dimension(name)
    except (UsageError, ChannelError):
        return ""

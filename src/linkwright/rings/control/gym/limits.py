"""Ranges of a task in SI: limits of actions, scales of observations, ranges of what is drawn at the start of an episode."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.errors import ChannelError, UsageError, counted
from linkwright.model.coordinates import JointCoordinate
from linkwright.model.file import quantity
from linkwright.model.file.units import KINDS

if TYPE_CHECKING:
    from linkwright.motion.compiled import Compiled
    from linkwright.rings.control.gym.random import RowRandom
    from linkwright.rings.control.gym.task import Task
    from linkwright.system.system import System


def number(value: Any, kind: str, what: str) -> float:
    """A number or quantity in SI."""
    if isinstance(value, str):
        if kind not in KINDS:
            raise UsageError(f"{what} has no unit of its own: write a number, not {value!r}.")
        return quantity(value, KINDS[kind], what)
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)) or not np.isfinite(value):
        raise UsageError(f"{what} is a finite number or a quantity, not {value!r:.40}.")
    return float(value)


def pair(value: Any, kind: str, what: str) -> tuple[float, float] | None:
    """(low, high) in SI; None for a single value."""
    if not isinstance(value, (tuple, list)):
        return None
    if len(value) != 2:
        raise UsageError(f"{what} is (low, high), not {counted(len(value), 'value')}.")
    low, high = (number(x, kind, what) for x in value)
    if not low <= high:
        raise UsageError(f"{what} is (low, high) with low below high, not ({low:g}, {high:g}).")
    return low, high


# -------------------------------------------------------------------- actions


class ActionMap(NamedTuple):
    """Entries of tau that actions act on (`where`: as a slice, if evenly spaced), the effort of action 0 and that of 1 above it."""

    names: tuple[str, ...]
    columns: np.ndarray
    where: Any
    center: np.ndarray
    half: np.ndarray


def action_map(task: Task) -> ActionMap:
    """Limits of the efforts of a task."""
    system = task.system
    given = task.act if isinstance(task.act, Mapping) else dict.fromkeys(task.act)
    places, ranges = [], []
    for name, limits in given.items():
        place, kind = _effort(system, str(name))
        places.append(place)
        found = _limits(system, str(name)) if limits is None else limits
        both = pair(found, kind, f"act: the limits of '{name}'")
        if both is None:
            most = number(found, kind, f"act: the limit of '{name}'")
            both = (-most, most)
        if not both[0] < both[1]:
            raise UsageError(f"act: the limits of '{name}' are {both[0]:g} and {both[1]:g}; the upper one has to be above the lower one.")
        ranges.append(both)
    low, high = np.array(ranges).T
    columns = np.array(places)
    steps = set(np.diff(columns).tolist()) or {1}
    even = len(steps) == 1 and min(steps) > 0
    where = slice(places[0], places[-1] + 1, min(steps)) if even else columns
    return ActionMap(tuple(map(str, given)), columns, where, 0.5 * (low + high), 0.5 * (high - low))


def _effort(system: System, name: str) -> tuple[int, str]:
    """Place of a coordinate in tau, and the kind of its effort."""
    core = system.core
    part = core.assembler.targets.part(name)
    if not isinstance(part, JointCoordinate):
        every = ", ".join(f"{name}.{x}" for x in joints.create(part.type, part.options).v_names)
        raise UsageError(f"act: '{name}' has several coordinates; name one of them: {every}.")
    if part.joint.name not in core.tree.node_of_joint:
        raise UsageError(f"act: '{name}' is a cut joint, where no effort can act. Give the task lw.compile(m, cuts=[...]) with other cuts.")
    span = core.tree.nodes[core.tree.node_of_joint[part.joint.name]].v
    return span.start + part.v, part.effort_kind


def _limits(system: System, name: str) -> tuple[float, float]:
    """Limits of a drive of the model."""
    found = next((d.limits for d in system.description.drives if d.joint == name), (None, None))
    if any(x is None for x in found):
        raise UsageError(f"act: the model has no limits for '{name}'; give them, such as {{'{name}': '2 N m'}}.")
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
        both = pair(given, kind, f"observe: the range of '{name}'")
        if both is None:
            size = number(given, kind, f"observe: the scale of '{name}'")
            if not size > 0.0:
                raise UsageError(f"observe: the scale of '{name}' is the size that becomes 1, above 0, not {size:g}.")
            out.append((1.0 / size, 0.0))
        elif not both[0] < both[1]:
            raise UsageError(f"observe: the range of '{name}' is empty.")
        else:
            factor = 2.0 / (both[1] - both[0])
            out.append((factor, -0.5 * factor * (both[0] + both[1])))
    factors, offsets = np.array(out).T
    return factors, offsets


# -------------------------------------------------------------------- draws


class Draw(NamedTuple):
    """Numbers drawn at the start of an episode: ranges by name, or a function."""

    what: str
    names: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]]
    function: Callable[[RowRandom], Mapping[str, Any]] | None

    def __call__(self, random: RowRandom) -> dict[str, np.ndarray]:
        """Arrays (n,) by name."""
        if self.function is None:
            return {name: random.uniform(low, high) for name, (low, high) in self.ranges.items()}
        found, out = self.function(random), {}
        if {str(k) for k in found} != set(self.names):
            raise UsageError(f"{self.what}: the function returned {', '.join(map(str, found))}; before: {', '.join(self.names)}.")
        for name in self.names:
            try:
                out[name] = np.broadcast_to(np.asarray(found[name], dtype=float), (len(random),)).copy()
            except (TypeError, ValueError):
                raise UsageError(f"{self.what}: '{name}' is one number, or {len(random)}: one for each environment.") from None
            if not np.isfinite(out[name]).all():
                raise UsageError(f"{self.what}: '{name}' has entries that are not finite numbers.")
        return out


def draw_of(what: str, drawn: Any, names: list[str], dimension: Callable[[str], str]) -> Draw:
    """Ranges in SI; a single value is drawn as itself."""
    if drawn is None or callable(drawn):
        return Draw(what, tuple(names), {}, drawn)
    ranges: dict[str, tuple[float, float]] = {}
    for name, given in drawn.items():
        kind, label = _kind(str(name), given, dimension), f"{what}: '{name}'"
        both = pair(given, kind, label)
        if both is None:
            value = number(given, kind, label)
            both = (value, value)
        ranges[str(name)] = both
    return Draw(what, tuple(names), ranges, None)


PERCENT = re.compile(r"\s*(\d+(?:\.\d*)?)\s*%\s*")


def draw_of_parameters(drawn: Any, names: list[str], core: Compiled) -> Draw:
    """Ranges of named numbers of the model: patterns stand for all that fit, "10 %" is a range about the number of the model."""
    free = {p.name: p for p in core.free}
    if not isinstance(drawn, Mapping):
        for name in names:
            if name not in free:
                raise UsageError(f"randomize: the function returned '{name}', which is a pattern or no number of the model.")
        return Draw("randomize", tuple(names), {}, drawn)
    ranges: dict[str, tuple[float, float]] = {}
    for pattern, given in drawn.items():
        share = PERCENT.fullmatch(given) if isinstance(given, str) else None
        for p in core.chosen(str(pattern)):
            if share is None:
                ranges |= draw_of("randomize", {p.name: given}, [p.name], lambda _, kind=p.kind: kind).ranges
            else:
                about = 0.01 * float(share[1]) * abs(p.value)
                ranges[p.name] = (p.value - about, p.value + about)
    return Draw("randomize", tuple(ranges), ranges, None)


def _kind(name: str, given: Any, dimension: Callable[[str], str]) -> str:
    """Kind of a name; only asked where a text has a unit."""
    if not any(isinstance(x, str) for x in (given if isinstance(given, (tuple, list)) else [given])):
        return ""
    try:
        return dimension(name)
    except (UsageError, ChannelError):
        return ""

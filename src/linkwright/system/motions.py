"""Motions of a System: a cycle, a path, static equilibrium, and the limits of a joint.

Designers call them as verbs of `Mechanism`, which has their documentation. Rings call the functions, because a study or an optimizer
computes on a System with cuts and parameters of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from linkwright.errors.arguments import Names, Numbers
from linkwright.motion import joint_limits
from linkwright.motion.cycle import at_start, cycle_of
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.system import dynamics
from linkwright.system.compiled import compiled_of

if TYPE_CHECKING:
    from linkwright.system.system import System


def cycle(
    system: System,
    drive: str | None = None,
    *,
    steps: int = 360,
    speed: Any = None,
    duration: Any = None,
    start: Any = None,
    stop: Any = None,
) -> Trajectory:
    """Move a drive through one cycle, or from `start` to `stop`: see `Mechanism.cycle`."""
    core = compiled_of(system)
    c, names = cycle_of(core, drive, steps, speed, duration, start, stop), core.drive_names
    return _driven(system, c, names if not c.drive or c.drive in names else [c.drive, *names])


def follow(
    system: System,
    motion: Mapping[str, Any],
    t: Numbers | None = None,
    *,
    duration: float | str = 1.0,
    steps: int = 100,
    drives: Names | None = None,
) -> Trajectory:
    """Compute states and loads along a motion of drives, points or bodies: see `Mechanism.follow`."""
    from linkwright.motion import following  # here: it loads the controllers

    core = compiled_of(system)
    chosen, times = core.named_drives(drives), following.sample_times(t, duration, steps)
    speeds = partial(following.drive_speeds, core, drives=chosen)
    return _driven(system, following.follow(core.assembler, core.start, motion, times, chosen, core.walking, speeds), chosen)


def settle(system: System, start: State | None = None, hold: Names = ()) -> State:
    """Find the static equilibrium: see `Mechanism.settle`."""
    from linkwright.motion.equilibrium import settled

    return settled(compiled_of(system), start, hold)


def limits(system: System, joint: str) -> joint_limits.Limits:
    """Find the positions between which a joint can move from the start: see `Mechanism.limits`."""
    return joint_limits.limits_of(compiled_of(system), joint)


def start_channels(system: System) -> Trajectory:
    """Return the start at rest as a motion of one sample, which has the channels of a cycle."""
    core = compiled_of(system)
    return _driven(system, at_start(core), core.drive_names)


def _driven(system: System, c: Trajectory, drives: Sequence[str]) -> Trajectory:
    """The motion with its drives, and a note on how efforts are chosen where these are redundant."""
    shared = dynamics.redundancy_notes(compiled_of(system), drives) if len(drives) > 1 else ()
    return replace(c, system=system, drives=tuple(drives), notes=(*c.notes, *shared))

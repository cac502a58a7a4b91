"""Contact force of a cam over a turn: smallest and largest, lift-off, the preload of springs and the speed up to which contact holds.

The contact force is linear in every preload, N = N0 + p g; g comes from two static turns. With inertia alone beside forces of position it
is N = N_static + (speed / speed now)^2 (N now - N_static).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwright.api import (
    NEGLIGIBLE,
    Expr,
    LinkwrightError,
    System,
    compiled_of,
    coupling_constraints,
    curve_extremes,
    description,
    elements,
    modelfile,
    unit_of,
)
from linkwright.rings.design.cycle_averages import extremes

if TYPE_CHECKING:
    from linkwright.api import Trajectory, description


@dataclass(frozen=True)
class NeededPreload:
    """A spring, its preload as it is, and the preload nearest to it that holds the contact over the whole turn."""

    spring: str
    now: float
    needed: float
    kind: str  # "force" or "torque"


@dataclass(frozen=True)
class CamForces:
    """Contact force N (positive presses) with the disc's coordinate where it is smallest and largest."""

    name: str
    disc: str
    least: float
    at_least: float
    most: float
    at_most: float
    lift_off: tuple[tuple[float, float], ...]  # ranges of the disc's coordinate where it would have to pull; none in a groove
    groove: bool
    closing: float  # effort in the follower's joint towards the disc that would hold the contact; 0 without lift-off
    closing_kind: str  # "force" or "torque"
    preloads: tuple[NeededPreload, ...] = ()
    speed: float | None = None  # of the disc up to which the contact holds, where it is driven at a constant speed; inf: any

    def text(self, units: tuple[str, ...]) -> str:
        """`contact force 12.3 .. 45.6 N`."""
        symbol, size = unit_of(units, "force")
        held = " in the groove" if self.groove else ""
        out = f"contact force {self.least / size:.4g} .. {self.most / size:.4g} {symbol}{held}"
        if self.speed is not None and math.isfinite(self.speed) and not self.lift_off:
            out += f", contact up to {_shown(self.speed, 'angular speed', units)}"
        return out

    def warning(self, units: tuple[str, ...]) -> str:
        """Ranges in which the follower lifts off, and what would hold it."""
        where = ", ".join(f"{_shown(a, 'angle', units)} to {_shown(b, 'angle', units)}" for a, b in self.lift_off)
        least = _shown(self.least, "force", units)
        out = f"cam '{self.name}': the follower lifts off where {self.disc} is {where} (contact force down to {least})."
        shown = [(p.spring, _shown(p.needed, p.kind, units), _shown(p.now, p.kind, units)) for p in self.preloads]
        ways = [f"a preload of '{spring}' of {needed} (now {now})" for spring, needed, now in shown]
        ways.append(f"{_shown(self.closing, self.closing_kind, units)} more on the follower towards the disc")
        if self.speed:
            ways.append(f"a speed of at most {_shown(self.speed, 'angular speed', units)}")
        return f"{out} The contact holds with {' or '.join(ways)}, or in a groove."


def _shown(x: float, kind: str, units: tuple[str, ...]) -> str:
    symbol, size = unit_of(units, kind)
    return f"{x / size:.4g} {symbol}"


def sample_ranges(x: np.ndarray, wrong: np.ndarray, *, closed: bool) -> tuple[tuple[float, float], ...]:
    """First and last place of every row of connected samples; in a closed turn the last row continues in the first."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], wrong, [False]]).astype(int))).tolist()
    out = [(float(x[a]), float(x[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    if closed and len(out) > 1 and wrong[0] and wrong[-1]:
        out = [*out[1:-1], (out[-1][0], out[0][1])]
    return tuple(out)


def cam_forces(system: System, c: Trajectory, coupling: description.Coupling) -> CamForces:
    """The contact force of a cam over a turn."""
    assert coupling.cam is not None
    force, angle = c[f"{coupling.name}.contact"], c[coupling.first]
    size = float(np.abs(force).max())
    off = force < -NEGLIGIBLE * size
    cam = coupling_constraints.cam_of(c.skel, coupling.name)
    work = np.abs(np.asarray(cam.at(angle).work, dtype=float))
    ends = extremes(c.t, force, angle)
    groove = coupling.cam.groove
    lift_off = () if groove else sample_ranges(angle, off, closed=bool(c.full_turn))
    still = None if groove else _static(system, c)
    return CamForces(
        coupling.name, coupling.first, ends.low, ends.at_low, ends.high, ends.at_high, lift_off, groove,
        max(curve_extremes(c.t, -force * work).high, 0.0) if lift_off else 0.0, "force" if cam.slide is not None else "torque",
        _preloads(system, c, coupling, force) if lift_off else (), None if still is None else _speed(system, c, coupling, force, still),
    )  # fmt: skip


def _static(system: System, c: Trajectory) -> Trajectory | None:
    """The same turn at rest."""
    try:
        found = system.cycle(c.drive or None, steps=len(c) - 1, speed=0)
    except LinkwrightError:
        return None
    return found if len(found) == len(c) else None


def _preloads(system: System, c: Trajectory, coupling: description.Coupling, force: np.ndarray) -> tuple[NeededPreload, ...]:
    """Springs that can hold the contact, with their least preload."""
    out, channel = [], f"{coupling.name}.contact"
    still = _static(system, c)
    weak = 1e-6  # of the largest: a preload that presses less than this somewhere cannot hold the contact there
    for s in system.description.springs:
        if not isinstance(s, description.TorsionSpring | description.CoilSpring) or still is None or isinstance(s.preload, Expr):
            continue
        unit = max(1.0, abs(float(s.preload)))
        moved = _static(System(modelfile.reread(compiled_of(system).described, **{f"{s.name}.preload": float(s.preload) + unit})), c)
        if moved is None:
            continue
        gain = (moved[channel] - still[channel]) / unit
        if np.abs(gain).min() <= weak * np.abs(gain).max() or gain.min() < 0.0 < gain.max():
            continue
        more = curve_extremes(c.t, -force / np.abs(gain)).high
        slides = isinstance(s, description.CoilSpring) or c.dimension(s.joint) == "length"
        needed = float(s.preload) + math.copysign(more, float(gain[0]))
        out.append(NeededPreload(s.name, float(s.preload), needed, "force" if slides else "torque"))
    return tuple(out)


def _speed(system: System, c: Trajectory, coupling: description.Coupling, force: np.ndarray, still: Trajectory) -> float | None:
    """Speed of the disc at which the contact force first vanishes; None where speed is not that of the cycle, or forces depend on it."""
    d = system.description
    rate = c[f"{coupling.first}.v"]
    if (
        c.static
        or any(x.of_speed for x in elements.every(d))
        or d.frictions
        or np.ptp(rate) > 1e-9 * np.abs(rate).max()
        or c.drive != coupling.first
    ):
        return None
    rest = still[f"{coupling.name}.contact"]
    if (rest < -NEGLIGIBLE * np.abs(rest).max()).any():
        return 0.0
    inertia = rest - force  # what the motion takes off
    losing = inertia > NEGLIGIBLE * max(float(np.abs(force).max()), 1e-300)
    if not losing.any():
        return math.inf
    share = np.where(losing, rest / np.where(losing, inertia, 1.0), np.nan)
    return float(np.abs(rate[0]) * np.sqrt(max(curve_extremes(c.t, share).low, 0.0)))

"""What a designer wants to know of a mechanism at a glance: freedoms, reach, swing, transmission, mass.

Computed from one coarse turn of the drives; `Summary` is data (`as_dict`), `str()` the text of `linkwright info`.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError
from linkwright.results import Trajectory, unit_of
from linkwright.system import System


@dataclass(frozen=True)
class Range:
    """Smallest and largest value over the turn, and the drive's position there (SI)."""

    name: str
    low: float
    high: float
    at_low: float
    at_high: float


@dataclass(frozen=True)
class Summary:
    """The first page about a mechanism."""

    name: str
    about: str
    space: str  # "planar" or "spatial"
    bodies: int
    joints: int
    freedoms: int
    idle: tuple[str, ...]
    drives: tuple[str, ...]
    motion: str  # "full turn" or how far it swings
    swings: tuple[Range, ...]  # body angles
    strokes: tuple[Range, ...]  # travel of sliders and pins in slots
    transmission: tuple[Range, ...]  # angles between links at moving pins, 0 .. 90 deg
    residual: float  # of the closed loops, dimensionless
    mass: float | None
    warnings: tuple[str, ...]
    redundant: tuple[str, ...]
    units: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        angle, size = unit_of(self.units, "angle")
        lines = [f"{self.name}: {self.about}" if self.about else self.name]
        plural = "freedom" if self.freedoms == 1 else "freedoms"
        driven = f"driven at {', '.join(self.drives)}" if self.drives else "no drive"
        lines.append(f"  {self.freedoms} {plural}, {driven}; {self.motion}")
        bodies = "1 moving body" if self.bodies == 1 else f"{self.bodies} moving bodies"
        lines.append(f"  {self.space}, {bodies}, {self.joints} joints, loops closed to {self.residual:.1e}")
        lines += [f"  {', '.join(group.split('+'))} can spin about itself without moving anything else" for group in self.idle]
        lines.append(f"  moving mass {self.mass:.6g} kg" if self.mass is not None else "  no masses: kinematics only")
        lines += _ranges_text("swing of the links", self.swings, angle, size)
        lines += _ranges_text("stroke of the sliders", self.strokes, *unit_of(self.units, "length"))
        lines += _ranges_text(f"transmission angles (best: {0.5 * np.pi / size:.4g} {angle})", self.transmission, angle, size)
        lines += [f"  redundant: {text}" for text in self.redundant]
        lines += [f"  warning: {text}" for text in self.warnings]
        return "\n".join(lines)


def _ranges_text(title: str, ranges: tuple[Range, ...], unit: str, size: float) -> list[str]:
    if not ranges:
        return []
    decimals = 2 if unit in ("deg", "mm", "cm") else 4
    wide = max(14, *(len(r.name) for r in ranges))
    return [
        f"  {title}",
        *(f"    {r.name:<{wide}} {r.low / size + 0.0:10.{decimals}f} .. {r.high / size + 0.0:10.{decimals}f} {unit}" for r in ranges),
    ]


def summarise(system: System, steps: int = 72) -> Summary:
    """Turn the mechanism coarsely and collect; a mechanism that cannot be turned says why in `motion`."""
    d = system.description
    start = system.start
    mobility = system.mobility
    swings: tuple[Range, ...] = ()
    strokes: tuple[Range, ...] = ()
    transmission: tuple[Range, ...] = ()
    if not d.joints:
        how = "nothing to turn"
    elif mobility.freedoms == 0:
        how = "a structure: nothing can move"
    else:
        try:
            c = system.turn(steps=steps)
            how = _motion_text(system, c)
            swings, strokes, transmission = _swings(system, c), _strokes(system, c), _transmission(system, c)
        except LinkwrightError as problem:
            how = f"not turned: {problem}"
    masses = [b.mass for b in d.bodies[1:]]
    residual = float(np.abs(system.phi(start) / system.loops.row_scale).max()) if system.tree.nc else 0.0
    return Summary(
        name=d.name,
        about=d.about,
        space="planar" if d.planar else "spatial",
        bodies=len(d.bodies) - 1,
        joints=len(d.joints),
        freedoms=mobility.freedoms,
        idle=tuple("+".join(group) for group in mobility.idle),
        drives=tuple(x.joint for x in d.drives),
        motion=how,
        swings=swings,
        strokes=strokes,
        transmission=transmission,
        residual=residual,
        mass=None if any(m is None for m in masses) else float(sum(m or 0.0 for m in masses)),
        warnings=(*d.warnings, *((_no_gravity(),) if _lacks_gravity(system) else ())),
        redundant=tuple(str(r) for r in mobility.redundant),
        units=d.units,
    )


def _lacks_gravity(system: System) -> bool:
    return not np.any(system.skel.gravity) and any(b.mass for b in system.description.bodies)


def _no_gravity() -> str:
    return "no gravity is given, so there is none; write `gravity: [0, -9.81 m/s^2]` if there should be"


def _motion_text(system: System, c: Trajectory) -> str:
    notes = "; ".join(c.notes)
    return "; ".join(x for x in ("full turn" if c.full_turn else "", notes) if x) or _programme_text(system, c)


def _programme_text(system: System, c: Trajectory) -> str:
    """`moves A 130.2 .. 228.2 deg in 9 s`: a drive that follows its own moves instead of turning round."""
    parts = []
    for name in [d.joint for d in system.description.drives if d.joint in c.channels]:
        symbol, size = c.unit(name)
        values = c[name] / size
        low, high = (float(x) if abs(x) > 1e-12 * np.ptp(values) else 0.0 for x in (values.min(), values.max()))  # round-off is none
        parts.append(f"{name} {low:.4g} .. {high:.4g} {symbol}")
    return f"moves {', '.join(parts)} in {c.t[-1] - c.t[0]:.4g} s" if parts else f"follows its programme of {c.t[-1] - c.t[0]:.4g} s"


def _range(name: str, values: np.ndarray, c: Trajectory) -> Range:
    """Extremes over the turn, between the samples too: a parabola through the outermost sample and its neighbours."""
    drive = c[c.drive] if c.drive in c.channels else np.arange(float(len(c)))
    (low, at_low), (high, at_high) = _peak(-values, drive, c.full_turn), _peak(values, drive, c.full_turn)
    return Range(name, -low, high, at_low, at_high)


def _peak(values: np.ndarray, at: np.ndarray, closed: bool) -> tuple[float, float]:
    """Largest value and where it is; a closed cycle has no ends."""
    i, n = int(np.argmax(values)), len(values)
    inside = 0 < i < n - 1
    if n < 4 or not (inside or (closed and abs(values[0] - values[-1]) < 1e-9 * (1.0 + abs(values[0])))):
        return float(values[i]), float(at[i])
    a, b, d = (values[i - 1], values[i], values[i + 1]) if inside else (values[-2], values[0], values[1])
    bend = a - 2.0 * b + d
    shift = 0.5 * (a - d) / bend if bend < 0.0 else 0.0
    step = float(at[1] - at[0])
    return float(b - 0.25 * (a - d) * shift), float(at[i] + shift * step)


def _swings(system: System, c: Trajectory) -> tuple[Range, ...]:
    """Angles of the links in a plane; in space those of the hinges."""
    d = system.description
    hinges = [j.name for j in d.joints if j.type == "revolute"]
    names = [f"{b.name}.angle" for b in d.bodies[1:]] if d.planar else hinges
    out = [_range(name, c[name], c) for name in names]
    return tuple(r for r in out if r.high - r.low < 2 * np.pi - 1e-3)


def _strokes(system: System, c: Trajectory) -> tuple[Range, ...]:
    names = {"prismatic": "", "cylindrical": ".travel", "pin_slot": ".slide"}
    sliding = [f"{j.name}{names[j.type]}" for j in system.description.joints if j.type in names]
    return tuple(_range(n, c[n], c) for n in sliding if n in c.channels and c.dimension(n) == "length")


def _transmission(system: System, c: Trajectory) -> tuple[Range, ...]:
    """Angle between the links at every pin of moving bodies, to their farthest other joints, folded to 0 .. 90 deg.

    Links that a drive, gear or coupling moves are left out: they are inputs. Where a pin joins more than two bodies
    every pair has its own angle, named by the bodies, so the figures do not depend on how the pin is split into joints.
    """
    d = system.description
    if not d.planar:
        return ()
    inputs = {x.joint for x in d.drives} | {n for g in (*d.gears, *d.couplings) for n in (g.first, g.second)}
    moved = {d.bodies[0].name} | {j.second if j.first == d.bodies[0].name else j.first for j in d.joints if j.name in inputs}
    pins: dict[str, list[str]] = {}
    for j in d.joints:
        if j.type == "revolute":
            pins.setdefault(j.pin or j.name, []).append(j.name)
    out = []
    for pin, names in pins.items():
        ends = {b: _other_end(system, b, n) for n in names for b in (d.joint(n).first, d.joint(n).second) if b not in moved}
        arms = [(b, arm) for b, arm in ends.items() if arm is not None]
        if len(arms) == len(ends) >= 2:
            pairs = list(itertools.combinations(sorted(arms, key=lambda a: a[0]), 2))
            named = [f"{pin} {one[0]}-{two[0]}" for one, two in pairs] if len(pairs) > 1 else [", ".join(names)]
            out += [_pair_range(name, one, two, c) for name, (one, two) in zip(named, pairs, strict=True)]
    return tuple(out)


def _pair_range(name: str, one: tuple[str, np.ndarray], two: tuple[str, np.ndarray], c: Trajectory) -> Range:
    """Range of the angle between two links, followed through 0 and 90 deg and folded afterwards."""
    r = _range(name, np.unwrap([_angle_between(x, one, two) for x in c.instants]), c)
    low, high = _fold(r.low), _fold(r.high)
    crosses_flat = np.floor(r.high / np.pi) > np.floor(r.low / np.pi)
    crosses_square = np.floor(r.high / np.pi + 0.5) > np.floor(r.low / np.pi + 0.5)
    return replace(r, low=0.0 if crosses_flat else min(low, high), high=0.5 * np.pi if crosses_square else max(low, high))


def _fold(angle: float) -> float:
    return float(abs((angle + np.pi / 2) % np.pi - np.pi / 2))


def _other_end(system: System, body: str, joint: str) -> np.ndarray | None:
    """Vector, in the body's frame, from a joint to the body's farthest other joint."""
    d = system.description

    def place(j: Any) -> np.ndarray:
        return np.array((j.frame_first if j.first == body else j.frame_second).at, dtype=float)

    here = place(d.joint(joint))
    arms = [place(j) - here for j in d.joints if j.name != joint and body in (j.first, j.second)]
    arms = [a for a in arms if np.linalg.norm(a) > 1e-12]
    return max(arms, key=lambda a: float(np.linalg.norm(a))) if arms else None


def _angle_between(x: Any, one: tuple[str, Any], two: tuple[str, Any]) -> float:
    a, b = (x.rotation(x.skel.node(body)) @ arm for body, arm in (one, two))
    return float(np.arctan2(a[0] * b[1] - a[1] * b[0], a[:2] @ b[:2]))

"""Cams as designs: profile, base circle, pressure angle, curvature and undercutting, from the geometry alone, over the cycle of the disc.

    cam = m.cam("cam")            print(cam)            cam.profile      cam.undercut      cam.remedy

Points are in the axes of the disc about its center, in meters; angles are the coordinate of the disc's hinge. Contact forces are
channels of a cycle or a run.

Over a cycle the contact force gives its smallest and largest value, lift-off, the preload that springs need, and the speed up to which
contact holds. It is linear in every preload, N = N0 + p g; g comes from two static cycles. With inertia alone beside forces of position it
is N = N_static + (speed / speed now)^2 (N now - N_static).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.api import (
    NEGLIGIBLE,
    Description,
    Expr,
    LinkwrightError,
    ModelError,
    Result,
    System,
    Table,
    Trajectory,
    UsageError,
    compiled_of,
    coupling_constraints,
    curve_extremes,
    curves,
    description,
    elements,
    errors,
    mechanism_of,
    modelfile,
    nearest,
    text_tables,
    unit_of,
    whole_number,
)
from linkwright.mechanics.constraints.cam import CamGeometry
from linkwright.properties import cached_property
from linkwright.rings.design.cycle_averages import extremes

if TYPE_CHECKING:
    from linkwright.api import Trajectory, description


@dataclass(frozen=True)
class NeededPreload:
    """A spring, its preload as it is, and the preload nearest to it that holds the contact over the whole cycle."""

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
    closing: float  # effort in the follower's joint toward the disc that would hold the contact; 0 without lift-off
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
        ways.append(f"{_shown(self.closing, self.closing_kind, units)} more on the follower toward the disc")
        if self.speed:
            ways.append(f"a speed of at most {_shown(self.speed, 'angular speed', units)}")
        return f"{out} The contact holds with {' or '.join(ways)}, or in a groove."


def _shown(x: float, kind: str, units: tuple[str, ...]) -> str:
    symbol, size = unit_of(units, kind)
    return f"{x / size:.4g} {symbol}"


def sample_ranges(x: np.ndarray, wrong: np.ndarray, *, closed: bool) -> tuple[tuple[float, float], ...]:
    """First and last place of every row of connected samples; in a closed cycle the last row continues in the first."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], wrong, [False]]).astype(int))).tolist()
    out = [(float(x[a]), float(x[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    if closed and len(out) > 1 and wrong[0] and wrong[-1]:
        out = [*out[1:-1], (out[-1][0], out[0][1])]
    return tuple(out)


def cam_forces(system: System, c: Trajectory, coupling: description.Coupling) -> CamForces:
    """The contact force of a cam over a cycle."""
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
    """The same cycle at rest."""
    try:
        found = mechanism_of(system).cycle(c.drive or None, steps=len(c) - 1, speed=0)
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


STEPS = 1440  # of the profile: on a radius of 50 mm chords are 0.2 mm long and 0.1 um off
COARSE = 360  # of a search
FEWEST, MOST_STEPS = 36, 100_000
ROUND = 1e-6  # of the base circle: how near a remedy is found
MOST = 50.0  # times the lift: the largest base circle that is tried
STEEP = math.radians(30.0)  # pressure angle that designs of sliding followers stay below (Rothbart, VDI 2142); 45 deg of swinging ones
STEEP_SWING = math.radians(45.0)
FLAT = 1e-9  # 1/m: curvatures below it are none


@dataclass(frozen=True, eq=False)
class CamDesign(Result):
    """A cam over the cycle of its disc: arrays of samples, `angle` first. Lengths in m, angles in rad."""

    name: str
    disc: str
    follower: str
    kind: str  # "roller" or "flat"
    units: tuple[str, ...]
    closed: bool  # the law covers a whole turn
    angle: np.ndarray  # (n,) coordinate of the disc's hinge
    lift: np.ndarray
    pitch: np.ndarray  # (n, 2) center of the roller in the axes of the disc; of a flat face the point of contact
    profile: np.ndarray  # (n, 2)
    outer: np.ndarray | None  # the other side of a groove
    pressure_angle: np.ndarray
    curvature: np.ndarray  # of the profile, convex positive
    margin: np.ndarray  # zero or less where it is undercut: 1 - curvature of the pitch curve times the roller; of a flat face the radius
    distance: np.ndarray  # of the follower's roller from the center, of a flat face: what the base circle is the least of
    slip: np.ndarray  # of a flat face: the contact along it from the face's point; else zeros
    roller: float
    geometry: CamGeometry
    coupling: description.Coupling
    description: Description
    forces: CamForces | None = None  # over a cycle; None without masses, or if the mechanism has no cycle

    @cached_property
    def base(self) -> float:
        """Radius of the base circle: the largest about the center inside the profile of the lowest position."""
        return float(self.distance.min()) - (self.roller if self.kind == "roller" else 0.0)

    @cached_property
    def undercut(self) -> tuple[tuple[float, float], ...]:
        """Ranges of the disc's coordinate in which the profile is undercut: the follower cannot touch it there."""
        return sample_ranges(self.angle, self.margin <= 0.0, closed=self.closed)

    @cached_property
    def steepest(self) -> tuple[float, float]:
        """Largest pressure angle, and where."""
        k = int(np.argmax(self.pressure_angle))
        return float(self.pressure_angle[k]), float(self.angle[k])

    @cached_property
    def sharpest(self) -> tuple[float, float] | None:
        """Smallest convex radius of curvature of the profile, and where; None if it is undercut, or nowhere convex."""
        k = int(np.argmax(self.curvature))
        return None if self.undercut or self.curvature[k] <= FLAT else (1.0 / float(self.curvature[k]), float(self.angle[k]))

    @cached_property
    def most_roller(self) -> float | None:
        """Largest radius of a roller that is not undercut: the smallest convex radius of the pitch curve; None of a flat face."""
        if self.kind != "roller":
            return None
        bent = (1.0 - self.margin) / self.roller if self.roller else self.curvature
        return 1.0 / float(bent.max()) if bent.max() > FLAT else math.inf

    @cached_property
    def least_base(self) -> float | None:
        """Radius of the smallest base circle without undercutting, other parameters as they are; None if none was found."""
        low, high = 0.0, MOST * max(float(np.ptp(self.distance)), self.base, 1e-3)
        if not self._safe(high):
            return None
        while high - low > ROUND * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self._safe(middle) else (middle, high)
        return high

    def _safe(self, base: float) -> bool:
        assert self.coupling.cam is not None
        changed = replace(self.coupling, cam=replace(self.coupling.cam, base=base))
        try:
            return bool((cam_design(self.description, changed, COARSE).margin > 0.0).all())
        except ModelError:
            return False

    @property
    def remedy(self) -> str:
        """Changes that avoid undercutting; empty if there is none."""
        if not self.undercut:
            return ""
        show = self._length
        base = self.least_base
        larger = "" if base is None else f"a base circle of at least {show(base)} (now {show(self.base)})"
        smaller = ""
        if self.most_roller is not None and math.isfinite(self.most_roller) and self.most_roller > 0.0:
            smaller = f"a roller of at most {show(self.most_roller)} radius (now {show(self.roller)})"
        ways = [w for w in (larger, smaller) if w]
        return f"It needs {' or '.join(ways)}, less lift, or a longer span of the move." if ways else "Give it less lift or a longer span."

    @property
    def notes(self) -> tuple[str, ...]:
        """Open profiles, undercutting, lift-off and steep pressure angles, with places and remedies."""
        out = []
        if not self.closed:
            ends = f"{self._angle(float(self.angle[0]))} to {self._angle(float(self.angle[-1]))}"
            said = f"cam '{self.name}': its law covers {self.disc} from {ends} only. There is no profile beyond."
            out.append(f"{said} Add a dwell for the rest of the cycle.")
        if self.undercut:
            where = ", ".join(f"{self._angle(a)} to {self._angle(b)}" for a, b in self.undercut)
            said = f"cam '{self.name}' is undercut where {self.disc} is {where}: the follower cannot follow its law there."
            out.append(f"{said} {self.remedy}")
        if self.forces is not None and self.forces.lift_off:
            out.append(self.forces.warning(self.units))
        limit = STEEP if self._slides else STEEP_SWING
        most, at = self.steepest
        if most > limit:
            out.append(
                f"cam '{self.name}': the pressure angle reaches {self._angle(most)} where {self.disc} is {self._angle(at)}. "
                f"{self._angle(limit)} is a common limit. A larger base circle, an offset or a longer span makes it smaller."
            )
        return tuple(out)

    @property
    def _slides(self) -> bool:
        return self.geometry.slide is not None

    def _length(self, x: float) -> str:
        symbol, size = unit_of(self.units, "length")
        return f"{x / size:.4g} {symbol}"

    def _angle(self, x: float) -> str:
        symbol, size = unit_of(self.units, "angle")
        return f"{x / size:.4g} {symbol}"

    def __str__(self) -> str:
        lift = self._length(float(np.ptp(self.lift))) if self._slides else self._angle(float(np.ptp(self.lift)))
        follower = f"roller of radius {self._length(self.roller)}" if self.kind == "roller" else "flat face"
        most, at = self.steepest
        parts = [f"base circle of radius {self._length(self.base)}", f"lift {lift}", follower]
        parts.append(f"pressure angle up to {self._angle(most)} at {self.disc} = {self._angle(at)}")
        if self.sharpest is not None:
            parts.append(f"convex radius of curvature at least {self._length(self.sharpest[0])} at {self._angle(self.sharpest[1])}")
        if self.kind == "flat":
            parts.append(f"contact {self._length(float(self.slip.min()))} .. {self._length(float(self.slip.max()))} along the face")
        if self.forces is not None:
            parts.append(self.forces.text(self.units))
        return f"{self.name}: {', '.join(parts)}"

    def table(self) -> Table:
        """Return the profile in the file's units, a row for each sample."""
        (length, meter), (angle, radian) = unit_of(self.units, "length"), unit_of(self.units, "angle")
        lift = (length, meter) if self._slides else (angle, radian)
        xy = [
            text_tables.Column.of(f"{name}.{axis}", length, p[:, i] / meter)
            for name, p in self._curves().items()
            for i, axis in enumerate("xy")
        ]
        return Table(
            (
                text_tables.Column.of("angle", angle, self.angle / radian, f"of {self.disc}"),
                text_tables.Column.of("lift", lift[0], self.lift / lift[1]),
                *xy,
                text_tables.Column.of("pressure_angle", angle, self.pressure_angle / radian),
                text_tables.Column.of("curvature", f"1/{length}", self.curvature * meter),
            ),
            f"cam {self.name}",
            self.notes,
        )

    def _curves(self) -> dict[str, np.ndarray]:
        found = {"profile": self.profile, "pitch": self.pitch if self.kind == "roller" else None, "outer": self.outer}
        return {name: p for name, p in found.items() if p is not None}


@dataclass(frozen=True)
class CamSummary(errors.Renamed):
    """A cam in a few numbers, SI, with where they occur, and as a line of text."""

    name: str
    base: float
    lift: float
    pressure_angle: float
    at_pressure_angle: float
    least_radius: float | None  # convex, of the profile; None if it is undercut
    undercut: tuple[tuple[float, float], ...]
    least_contact: float | None  # force; None without masses
    most_contact: float | None
    lift_off: tuple[tuple[float, float], ...]
    text: str
    notes: tuple[str, ...]

    @classmethod
    def of(cls, x: CamDesign) -> CamSummary:
        f = x.forces
        least, most = (None, None) if f is None else (f.least, f.most)
        radius = None if x.sharpest is None else x.sharpest[0]
        lift = float(np.ptp(x.lift))
        return cls(x.name, x.base, lift, *x.steepest, radius, x.undercut, least, most, f.lift_off if f else (), str(x), x.notes)


def summaries(system: System, motion: Any = None, steps: int = COARSE) -> tuple[CamSummary, ...]:
    """Every cam of a mechanism."""
    return tuple(CamSummary.of(designed(system, c.name, motion, steps)) for c in cams_of(system.description))


def cams_of(d: Description) -> list[description.Coupling]:
    """Couplings of a description that are cams."""
    return list(d.cams)


def find_cam(d: Description, name: str | None) -> description.Coupling:
    """The cam of a name, or the only one."""
    every = {c.name: c for c in cams_of(d)}
    if name is None and len(every) == 1:
        return next(iter(every.values()))
    if name not in every:
        if not every:
            raise UsageError("The model has no `cams:`. 'linkwright docs cams' shows how they are written.", name="cams")
        said = "name one of several cams." if name is None else f"there is no cam {name!r:.40}."
        raise UsageError(f"{said}", nearest(str(name), every, "Cams"))
    return every[name]


def designed(system: System, name: str | None, motion: Any = None, steps: int = STEPS) -> CamDesign:
    """The design of a cam, with contact forces where its masses are given and it turns."""
    whole_number(steps, "steps of a profile", FEWEST, MOST_STEPS)
    if motion is not None and not isinstance(motion, Trajectory):
        raise UsageError(f"motion is what m.cycle() or m.simulate(...) gives, not {type(motion).__name__}.", name="motion", value=motion)
    d = system.description
    c = find_cam(d, name)
    found = cam_design(d, c, int(steps))
    if any(b.mass is None for b in d.moving):
        return found
    try:
        return replace(found, forces=cam_forces(system, mechanism_of(system).cycle() if motion is None else motion, c))
    except LinkwrightError:
        return found


def cam_design(d: Description, c: description.Coupling, steps: int = STEPS) -> CamDesign:
    """The design of a cam of a description without expressions."""
    law = coupling_constraints.coupling_curve(c)
    assert law is not None and c.cam is not None
    g = CamGeometry.of(d, c, law)
    angle, closed = _angles(c, law, steps)
    s, ds, dds = (np.broadcast_to(y, angle.shape) for y in g.law(angle))
    found = g.touching(s, g.spin * ds, dds)
    center, contact, normal = (np.broadcast_to(np.asarray(v, dtype=float).T, (len(angle), 3)) for v in found[:3])
    x, y = _disc_axes(d, g)
    turned = g.spin * angle

    def seen(points: np.ndarray) -> np.ndarray:
        """Points of the carrier in the axes of the disc."""
        u, v = (points - g.center) @ x, (points - g.center) @ y
        return np.stack([np.cos(turned) * u + np.sin(turned) * v, np.cos(turned) * v - np.sin(turned) * u], axis=1)

    roller, flat = float(c.cam.radius), c.cam.flat
    bent = np.broadcast_to(np.asarray(found.pitch, dtype=float), angle.shape)
    margin = bent if flat else 1.0 - roller * bent
    with np.errstate(divide="ignore", invalid="ignore"):
        curvature = np.where(margin != 0.0, (1.0 if flat else bent) / margin, math.inf)
    distance, slip = np.linalg.norm(center - g.center, axis=1), np.zeros(len(angle))
    if flat:
        distance = np.sum((contact - g.center) * normal, axis=1)
        slip = np.sum((contact - _face_point(g, s)) * np.cross(normal, g.axis), axis=1)
    outer = seen(center + roller * normal) if c.cam.groove else None
    pressure = np.broadcast_to(np.asarray(g.pressure_angle(found), dtype=float), angle.shape)
    return CamDesign(
        c.name, c.first, c.second, "flat" if flat else "roller", d.units, closed, angle, np.asarray(s - g.rest), seen(center),
        seen(contact), outer, pressure, curvature, margin, distance, slip, roller, g, c, d,
    )  # fmt: skip


def _angles(c: description.Coupling, law: curves.Curve, steps: int) -> tuple[np.ndarray, bool]:
    """Samples of the disc's coordinate over the law, with both sides of every joint of its pieces, and whether it covers a turn."""
    breaks = np.asarray(getattr(law, "breaks", np.array([0.0, 2.0 * np.pi])), dtype=float)
    first, last = float(breaks[0]), float(breaks[-1])
    closed = abs(last - first - 2.0 * np.pi) < 1e-6
    inner = breaks[1:-1] if len(breaks) < steps // 4 else np.zeros(0)
    even = np.linspace(first, last, steps + 1)
    beside = 1e-9  # rad: on either side of a joint of the law, where accelerations and curvatures may jump
    every = np.unique(np.concatenate([even, inner - beside, inner + beside]))
    return every, closed


def _disc_axes(d: Description, g: CamGeometry) -> tuple[np.ndarray, np.ndarray]:
    """Axes of the disc in the carrier's frame where its coordinate is zero: x of the disc's body, and y across the hinge's axis."""
    from linkwright.api import kinematics

    j = g.first
    here, there = (j.frame_first, j.frame_second) if j.first == g.carrier else (j.frame_second, j.frame_first)
    R = np.asarray(kinematics.pose_of(here).R @ kinematics.pose_of(there).R.T, dtype=float)
    z = np.asarray(g.axis, dtype=float)
    x = R[:, 0] - (R[:, 0] @ z) * z
    if np.linalg.norm(x) < 1e-6:  # the body's x is the hinge's axis
        x = R[:, 1] - (R[:, 1] @ z) * z
    x = x / np.linalg.norm(x)
    return x, np.cross(z, x)


def _face_point(g: CamGeometry, s: np.ndarray) -> np.ndarray:
    """(n, 3): the point of a flat face."""
    if g.slide is not None:
        return g.point + s[:, None] * g.slide
    arm, turn = g.point - g.pivot, (g.swing * s)[:, None]
    return g.pivot + np.cos(turn) * arm + np.sin(turn) * np.cross(g.axis, arm)

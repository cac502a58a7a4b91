"""Summary of a mechanism: degrees of freedom, reach, swing, transmission, mass.

Computed from one coarse cycle of the drives; `Summary` is data (`as_dict`), `str()` the text of `linkwright info`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linkwright.api import (
    JOINTS,
    Description,
    LinkwrightError,
    Result,
    System,
    Table,
    Trajectory,
    compiled_of,
    counted,
    degrees_of_freedom,
    element_limits,
    is_hinge,
    joint_limits,
    lengths,
    listing,
    marked,
    mechanism_of,
    plausibility,
    singular_positions,
    topology_report,
    unit_of,
    visible,
)
from linkwright.mechanics.kinematics.transmission import LinkContact
from linkwright.results.measures.extremes import first_extremes
from linkwright.rings.design.belts import BeltGeometry, belt_geometry, belt_warnings
from linkwright.rings.design.cams import CamSummary, summaries
from linkwright.rings.design.cycle_averages import extremes
from linkwright.rings.design.dead_centers import DescribedPosition, dead_centers
from linkwright.rings.design.grashof import FourBar, four_bars

RESTING = 1e-9  # m: travel of a floating bearing that does not slide
STILL = 1e-7  # share of the largest rate that counts as none


@dataclass(frozen=True)
class Range:
    """Smallest and largest value over the cycle, and the place in the cycle (SI); `also_*` where else it is the same."""

    name: str
    low: float
    high: float
    at_low: float
    at_high: float
    also_low: tuple[float, ...] = ()
    also_high: tuple[float, ...] = ()
    near_low: bool = False  # taken near a singular position: depends on how close the nearest sample is to it
    near_high: bool = False


@dataclass(frozen=True)
class TravelEnds:
    """Ends that rigid stops (`stroke:`, `stops:`) set to a slider or cylinder; None where it is open."""

    name: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Summary(Result):
    """The first page about a mechanism."""

    name: str
    about: str
    space: str  # "planar" or "spatial"
    bodies: int
    joints: int
    freedoms: int
    mobility: int  # with idle degrees of freedom
    grubler: int  # count of bodies and rows, wrong where constraints are redundant
    grubler_sum: str  # "3 x 4 - 12 = 0"
    idle: tuple[str, ...]
    drives: tuple[str, ...]
    motion: str  # "full turn" or how far it swings
    four_bars: tuple[FourBar, ...]  # loops of four hinges through the ground, by Grashof
    swings: tuple[Range, ...]  # body angles
    belts: tuple[BeltGeometry, ...]  # lengths and arcs of contact in the start position
    strokes: tuple[Range, ...]  # travel of sliders and pins in slots, lengths of cylinders
    ends: tuple[TravelEnds, ...]  # of those that have a stroke
    transmission_angles: tuple[Range, ...]  # transmission angles, 0 .. 90 deg
    pressure_angles: tuple[Range, ...]  # pressure angles, 0 .. 90 deg
    cams: tuple[CamSummary, ...]
    dead_centers: tuple[DescribedPosition, ...]  # positions of the cycle in which links are in line, or lines of force meet
    no_transmission: tuple[str, ...]  # bodies without a transmission angle
    no_transmission_because: tuple[str, ...]  # the reason of each
    residual: float  # of the closed loops, dimensionless
    mass: float | None
    notes: tuple[str, ...]
    redundant: tuple[str, ...]
    units: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def table(self) -> Table:
        """Return the ranges of the motion in the file's units: swings, strokes, transmission and pressure angles."""
        angles = (("transmission angle", self.transmission_angles), ("pressure angle", self.pressure_angles))
        rows = []
        for kind, found in (("swing", self.swings), ("stroke", self.strokes), *angles):
            symbol, size = unit_of(self.units, "length" if kind == "stroke" else "angle")
            rows += [(kind, r.name, marked(r.low / size, r.near_low), marked(r.high / size, r.near_high), symbol) for r in found]
        return Table.of(["kind", "name", "min", "max", "unit"], rows, self.name, self.notes)

    def __str__(self) -> str:
        angle, size = unit_of(self.units, "angle")
        lines = [f"{self.name}: {self.about}" if self.about else self.name]
        driven = f"driven at {', '.join(self.drives)}" if self.drives else "no drive"
        lines.append(f"  {degrees_of_freedom(self.freedoms)}, {driven}; {self.motion}")
        if self.grubler != self.mobility:
            lines.append(f"  Gruebler count {self.grubler_sum}, which is wrong here: redundant constraints, see below")
        parts = (self.space, counted(self.bodies, "moving body"), counted(self.joints, "joint"), f"loops closed to {self.residual:.1e}")
        lines.append(f"  {', '.join(parts)}")
        lines += [f"  {', '.join(group.split('+'))} can spin about itself without moving anything else" for group in self.idle]
        lines.append(f"  moving mass {self.mass:.6g} kg" if self.mass is not None else "  no masses: kinematics only")
        lines += [f"  four-bar {x.text(self.units)}" for x in self.four_bars]
        lines += _ranges_text("swing of the links", self.swings, angle, size)
        lines += _ranges_text("stroke of sliders and cylinders", self.strokes, *unit_of(self.units, "length"), self.ends)
        lines += [f"  {x}" for x in self.dead_centers]
        lines += [f"  {'belt' if b.closed else 'rope'} {b.name}: {b.text(self.units)}" for b in self.belts]
        lines += self._transmission_text(angle, size)
        lines += [f"  cam {x.text}" for x in self.cams]
        lines += [f"  redundant: {text}" for text in self.redundant]
        lines += [f"  warning: {text}" for text in self.notes]
        return visible("\n".join(lines))

    def _transmission_text(self, angle: str, size: float) -> list[str]:
        reasons = list(zip(self.no_transmission, self.no_transmission_because, strict=True))
        without = {why: [name for name, x in reasons if x == why] for why in self.no_transmission_because}
        none = [f"  no transmission angle for {listing(names)}: {why}" for why, names in without.items()]
        if not self.transmission_angles:
            return none
        lines = _ranges_text(transmission_note(self.units), self.transmission_angles, angle, size)
        most = {r.name: f", pressure angle up to {r.high / size:.2f}{'*' * r.near_high} {angle}" for r in self.pressure_angles}
        lines = [lines[0], *(line + most.get(r.name, "") for line, r in zip(lines[1:], self.transmission_angles, strict=True))]
        near = [f"    {NEAR_ANGLES}"] if any(r.near_low or r.near_high for r in (*self.transmission_angles, *self.pressure_angles)) else []
        return [*lines, *near, *none]


NEAR_ANGLES = "* taken next to a singular position: the value depends on how close the nearest sample is to it."


def transmission_note(units: tuple[str, ...]) -> str:
    """`Transmission angle: 90 deg is ideal; below 40 deg is poor in most designs.`"""
    symbol, size = unit_of(units, "angle")
    ideal, poor = (f"{np.radians(x) / size:.4g} {symbol}" for x in (90.0, 40.0))
    return f"Transmission angle: {ideal} is ideal. Below {poor} is poor in most designs."


def _ranges_text(title: str, ranges: tuple[Range, ...], unit: str, size: float, ends: tuple[TravelEnds, ...] = ()) -> list[str]:
    if not ranges:
        return []
    decimals = 2 if unit in ("deg", "mm", "cm") else 4
    wide = max(14, *(len(r.name) for r in ranges))
    travel = {x.name: _ends_text(x, unit, size, decimals) for x in ends}
    stars = ("", "*") if not any(r.near_low or r.near_high for r in ranges) else (" ", "*")
    return [
        f"  {title}",
        *(
            f"    {r.name:<{wide}} {r.low / size:z10.{decimals}f}{stars[r.near_low]} .. "
            f"{r.high / size:z10.{decimals}f}{stars[r.near_high]} {unit}{travel.get(r.name, '')}"
            for r in ranges
        ),
    ]


def _ends_text(ends: TravelEnds, unit: str, size: float, decimals: int) -> str:
    """`, of a stroke of 870.00 .. 1500.00 mm`."""
    low, high = ("" if x is None else f"{x / size:.{decimals}f} " for x in (ends.low, ends.high))
    return f", of a stroke of {low}.. {high}{unit}"


def summarize(system: System, steps: int = 72, turn: Trajectory | None = None) -> Summary:
    """Compute a coarse cycle (or take the one given) and collect its figures. Without a cycle, `motion` has the reason."""
    core = compiled_of(system)
    d = system.description
    start = system.start
    mobility = system.mobility
    swings: tuple[Range, ...] = ()
    strokes: tuple[Range, ...] = ()
    transmission: tuple[Range, ...] = ()
    pressure: tuple[Range, ...] = ()
    cams: tuple[CamSummary, ...] = ()
    dead: tuple[DescribedPosition, ...] = ()
    beyond: list[str] = []
    if not d.joints:
        how = "nothing to move"
    elif mobility.freedoms == 0:
        why = mobility.blocked_by_digits
        how = f"a structure: nothing can move{f', {why}' if why else ''}"
    else:
        try:
            c = mechanism_of(system).cycle(steps=steps) if turn is None else turn
            how = _motion_text(system, c)
            moving = c.in_motion()  # extremes are found where rates are zero
            groups = (_swings(system, moving), _strokes(system, moving), _transmission(system))
            found = iter(ranges(moving, [curve for group in groups for curve in group]))
            swings, strokes, transmission = (tuple(next(found) for _ in group) for group in groups)
            transmission = tuple(r for r in transmission if r.high - r.low > 1e-9)  # one that stays the same is no matter of design
            pressure = _pressure(system, moving)
            dead = dead_centers(system, moving, [(r.name, r.at_low, r.at_high) for r in (*swings, *strokes)])
            reach = element_limits.limit_checks(c, [x for x in element_limits.element_limits(d) if x.check == element_limits.REACH], "")
            beyond = [x.text for x in reach if x.verdict == "failed"]
            cams = summaries(system, turn)  # of a whole cycle of their own: contact forces need more samples than extremes
        except LinkwrightError as problem:
            how = f"no cycle: {problem}"
    masses, belts = [b.mass for b in d.moving], belt_geometry(system)
    count = topology_report.grubler_count(d)
    residual = float(np.abs(system.closure(start).phi / core.loops.row_scale).max()) if system.tree.nc else 0.0
    return Summary(
        name=d.name,
        about=d.about,
        space="planar" if d.planar else "spatial",
        bodies=len(d.moving),
        joints=len(d.joints),
        freedoms=mobility.freedoms,
        mobility=mobility.mobility,
        grubler=count.mobility,
        grubler_sum=str(count),
        idle=tuple("+".join(group) for group in mobility.idle),
        drives=tuple(x.joint for x in d.drives),
        motion=how,
        four_bars=four_bars(d),
        swings=swings,
        belts=belts,
        strokes=strokes,
        ends=tuple(x for x in (_stroke_ends(d, r.name) for r in strokes) if x is not None),
        transmission_angles=transmission,
        pressure_angles=pressure,
        cams=cams,
        dead_centers=dead,
        no_transmission=tuple(core.skel.transmission.left_out),
        no_transmission_because=tuple(core.skel.transmission.left_out.values()),
        residual=residual,
        mass=None if any(m is None for m in masses) else float(sum(m or 0.0 for m in masses)),
        notes=(
            *plausibility.notes(d),
            *beyond,
            *belt_warnings(belts, d.units),
            *(w for x in cams for w in x.notes),
        ),
        redundant=tuple(str(r) for r in mobility.redundant),
        units=d.units,
    )


def _motion_text(system: System, c: Trajectory) -> str:
    notes = [n for n in c.notes if n != singular_positions.PEAKS]  # that is for those who read loads
    swings = any(n.startswith("drive '") for n in notes)
    return "; ".join(x for x in ("full turn" if c.full_turn else "" if swings else _program_text(system, c), *notes) if x)


def _program_text(system: System, c: Trajectory) -> str:
    """`moves A 130.2 .. 228.2 deg in 9 s`: a drive that follows its own moves instead of turning round."""
    parts, held = [], []
    for name in [d.joint for d in system.description.drives if d.joint in c.channels]:
        symbol, size = c.unit(name)
        values = c[name] / size
        low, high = (float(x) if abs(x) > 1e-12 * np.ptp(values) else 0.0 for x in (values.min(), values.max()))  # round-off is none
        if high - low <= 1e-9 * max(abs(low), abs(high)):
            held.append(f"{name} held at {low:.4g} {symbol}")
        else:
            parts.append(f"{name} {low:.4g} .. {high:.4g} {symbol}")
    moves = f"moves {', '.join(parts)} in {c.t[-1] - c.t[0]:.4g} s" if parts else f"follows its program of {c.t[-1] - c.t[0]:.4g} s"
    return "; ".join([moves, *held])


def _swings(system: System, c: Trajectory) -> list[ChannelCurve]:
    """Angles of the links in a plane; in space those of the hinges. What goes round swings nowhere."""
    d = system.description
    hinges = [j.name for j in d.joints if is_hinge(JOINTS[j.type])]
    names = [f"{b.name}.angle" for b in d.moving] if d.planar else hinges
    found = c.read(names)
    return [ChannelCurve(n, n) for n in names if 1e-9 < np.ptp(found[n]) < 2 * np.pi - 1e-3]


def _strokes(system: System, c: Trajectory) -> list[ChannelCurve]:
    """Travels of joints with a guide of their own, and lengths of cylinders; not of floating bodies, nor of bearings that do not slide."""
    sliding, still = [], set()
    for j in system.description.joints:
        jt = JOINTS[j.type]
        own = [name for name, kind in zip(jt.q_names, jt.coordinate_kinds, strict=True) if kind == "length" and not jt.floats]
        named = [f"{j.name}.{name}" if name else j.name for name in own]
        sliding += named
        still |= set(named) if jt.guide is None else set()
    found = [n for n in sliding if n in c.channels and c.dimension(n) == "length"]
    moving = [n for n in found if n not in still or float(np.ptp(c[n])) > RESTING]
    return [ChannelCurve(n, n) for n in (*moving, *lengths(system.description))]


def _stroke_ends(d: Description, name: str) -> TravelEnds | None:
    """Ends that rigid stops set to a travel; None where there are none."""
    lows, highs = joint_limits.stops_of(d, name)
    return TravelEnds(name, max(lows, default=None), min(highs, default=None)) if lows or highs else None


def _transmission(system: System) -> list[ChannelCurve]:
    """Transmission angles along the way of the power; see `transmission`."""
    return [
        ChannelCurve(p.name, f"{p.channel}.transmission_angle", folded=True, passing=p)
        for p in compiled_of(system).skel.transmission.passings
    ]


def _pressure(system: System, c: Trajectory) -> tuple[Range, ...]:
    """Pressure angles, with extremes between samples."""
    found = compiled_of(system).skel.transmission
    out = []
    for p, output in zip(found.passings, found.outputs, strict=True):
        if output is not None:
            y = c[f"{p.channel}.pressure_angle"]
            where = c.place(c[c.drive]) if c.drive in c.channels and c[c.drive].ndim == 1 else c.t
            ends, near = extremes(c.t, y, where), c.near_singular
            places = ends.low, ends.high, ends.at_low, ends.at_high
            out.append(Range(p.name, *places, near_low=bool(near[ends.sample_low]), near_high=bool(near[ends.sample_high])))
    return tuple(out)


# -------------------------------------------------------------------- extremes, exact


@dataclass(frozen=True)
class ChannelCurve:
    """A channel over the cycle, or the difference of two; `folded`: an angle between two lines, 0 .. 90 deg."""

    name: str
    channel: str
    less: str = ""
    offset: float = 0.0
    folded: bool = False
    passing: LinkContact | None = None  # a transmission angle: read from its two lines

    def read(self, x: Trajectory) -> np.ndarray:
        """(value, rate, acceleration) over the samples."""
        if self.passing is not None:
            own = x._sampled({f"{self.channel} crossed": self.passing.crossed})[f"{self.channel} crossed"].T.copy()
            own[0] = np.unwrap(own[0])
            return own
        own = np.array([x[f"{self.channel}{tail}"] for tail in ("", ".v", ".a")])
        if self.less:
            own = own - np.array([x[f"{self.less}{tail}"] for tail in ("", ".v", ".a")])
        own[0] += self.offset
        return own

    def approaches(self, value: float) -> bool:
        """True for a small transmission angle that is not 0: at the singular position itself it may be."""
        exact = 1e-9  # rad: a transmission angle below it is 0
        return self.passing is not None and exact < value < 0.25 * np.pi

    def shown(self, values: np.ndarray) -> np.ndarray:
        return np.abs((values + np.pi / 2) % np.pi - np.pi / 2) if self.folded else values


@dataclass(frozen=True)
class Place:
    """A possible extreme of a curve: between two samples its rate is zero, or (folded) its value a `level`; or at a `sample`."""

    curve: int
    t: float = 0.0
    low: float = 0.0
    high: float = 0.0
    level: float | None = None
    sample: int | None = None


def ranges(c: Trajectory, curves: list[ChannelCurve]) -> list[Range]:
    """Extremes over the cycle, at the states of the motion itself: where a rate is zero, found by Newton's method between samples."""
    sampled = [curve.read(c) for curve in curves]
    places = [p for i, (curve, y) in enumerate(zip(curves, sampled, strict=True)) for p in _places(i, curve, y, c.t)]
    drive = c[c.drive] if c.drive in c.channels and c[c.drive].ndim == 1 else np.arange(float(len(c)))
    values, there = _settled(c, curves, sampled, places, drive)
    lap, close = float(np.ptp(drive)) if c.full_turn else 0.0, 1e-4 * float(np.ptp(drive))
    out = []
    equal = 1e-9  # share of the distance: as far out, except for round-off
    for i, (curve, y) in enumerate(zip(curves, sampled, strict=True)):
        own = np.array([k for k, p in enumerate(places) if p.curve == i])
        found, where = curve.shown(values[own]), there[own]
        round_off = equal * float(np.ptp(curve.shown(y[0]))) + 1e-13
        ends: list[Any] = []
        for best in (float(found.min()), float(found.max())):
            off = np.abs(found - best)
            best_at = where[np.argsort(off, kind="stable")][: int(np.sum(off <= round_off))]
            near = bool(c.near_singular[int(np.argmin(np.abs(drive - best_at[0])))]) and curve.approaches(best)
            ends += [best, _distinct(c, best_at, lap, close), near]
        low, at_low, near_low, high, at_high, near_high = ends
        out.append(Range(curve.name, low, high, at_low[0], at_high[0], tuple(at_low[1:]), tuple(at_high[1:]), near_low, near_high))
    return out


def _places(i: int, curve: ChannelCurve, y: np.ndarray, t: np.ndarray) -> list[Place]:
    """Candidates of a curve: its outermost samples, turning points, and for a folded angle passages through 0 and 90 deg."""
    value, rate, bend = y
    shown = curve.shown(value)
    samples = [Place(i, sample=k) for k in first_extremes(shown)]
    if np.ptp(value) < 1e-9:
        return samples
    still = np.abs(rate) <= STILL * float(np.abs(rate).max())
    last = len(t) - 1
    rests = [k for k in np.flatnonzero(still).tolist() if k == 0 or not still[k - 1]]
    out = [Place(i, float(t[k]), float(t[max(k - 1, 0)]), float(t[min(k + 1, last)])) for k in rests]
    turning = np.flatnonzero((rate[:-1] * rate[1:] < 0.0) & ~still[:-1] & ~still[1:])
    out += [_inside(i, t, int(k), rate, bend) for k in turning]
    nearly = 0.02  # share of a curve's range below the outermost sample: what may turn out to be as far out
    if not curve.folded:
        near, span = np.interp([p.t for p in out], t, value), nearly * float(np.ptp(value))
        return samples + [p for p, x in zip(out, near, strict=True) if x < value.min() + span or x > value.max() - span]
    quarter = np.floor(value / (0.5 * np.pi))
    passed = [(int(k), 0.5 * np.pi * float(max(quarter[k], quarter[k + 1]))) for k in np.flatnonzero(np.diff(quarter))]
    return samples + out + [_inside(i, t, k, value, rate, level) for k, level in passed]


def _inside(i: int, t: np.ndarray, k: int, f: np.ndarray, slope: np.ndarray, level: float | None = None) -> Place:
    """A place between samples k and k + 1, by the cubic through their values and slopes."""
    h = float(t[k + 1] - t[k])
    a, b = (float(f[k + j] - (level or 0.0)) for j in (0, 1))
    da, db = h * float(slope[k]), h * float(slope[k + 1])
    c2, c3 = 3.0 * (b - a) - 2.0 * da - db, 2.0 * (a - b) + da + db
    s = a / (a - b)
    for _ in range(4):
        gap, rise = a + s * (da + s * (c2 + s * c3)), da + s * (2.0 * c2 + 3.0 * s * c3)
        s = float(np.clip(s - gap / rise, 0.0, 1.0)) if rise != 0.0 else s
    return Place(i, float(t[k]) + s * h, float(t[k]), float(t[k + 1]), level)


def _settled(
    c: Trajectory, curves: list[ChannelCurve], sampled: list[np.ndarray], places: list[Place], drive: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(value, the drive's position) at every place, each moved to where its condition holds."""
    values = np.array([0.0 if p.sample is None else sampled[p.curve][0, p.sample] for p in places])
    there = np.array([0.0 if p.sample is None else drive[p.sample] for p in places])
    t = np.array([p.t for p in places])
    dense = 1e-9 * abs(float(c.t[-1] - c.t[0]))
    moving = [k for k, p in enumerate(places) if p.sample is None]
    rounds = 4  # of Newton; from the samples' own rates and accelerations two do
    for _ in range(rounds):
        if not moving:
            break
        x = c.at(t[moving])
        read = {i: curves[i].read(x) for i in {places[k].curve for k in moving}}
        there[moving] = x[c.drive] if c.drive in c.channels else np.interp(x.t, c.t, drive)
        left = []
        for j, k in enumerate(moving):
            p, (value, rate, bend) = places[k], read[places[k].curve][:, j]
            values[k] = value
            gap, slope = (rate, bend) if p.level is None else ((value - p.level + 0.5 * np.pi) % np.pi - 0.5 * np.pi, rate)
            new = float(np.clip(t[k] - gap / slope, p.low, p.high)) if slope != 0.0 else t[k]
            if abs(new - t[k]) > dense:
                t[k] = new
                left.append(k)
            elif p.level is not None:
                values[k] = p.level
        moving = left
    return values, there


def _distinct(c: Trajectory, places: np.ndarray, lap: float, close: float) -> list[float]:
    """Places in the cycle, each once, in order; a full turn later it is the same place."""
    out: list[float] = []
    for x in places:
        gaps = [abs(float(x) - y) for y in out]
        if not any(min(g, abs(lap - g)) <= close for g in gaps):
            out.append(float(x))
    return sorted(float(c.place(x)) for x in out)

"""Velocities and accelerations of a planar mechanism at one position: instant centers, and rows of the velocity and acceleration polygons.

Two bodies with twists (w_i, v_i) at the origin turn about each other where w z x P + v = 0 with the differences w and v: the instant
center. By the theorem of Aronhold and Kennedy the three centers of three bodies lie on one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from linkwright.api import (
    JOINTS,
    KINDS,
    NEGLIGIBLE,
    Joint,
    Result,
    Table,
    Trajectory,
    UsageError,
    is_hinge,
    mechanism_of,
    nearest,
    unit_kinds,
    unit_of,
)
from linkwright.joints import is_slider


@dataclass(frozen=True)
class PlanBody:
    """A body at an instant, SI: place, velocity and acceleration of its frame's origin, angular velocity and acceleration."""

    name: str
    p: np.ndarray
    v: np.ndarray
    a: np.ndarray
    w: float
    alpha: float

    def velocity(self, place: np.ndarray) -> np.ndarray:
        return self.v + self.w * across(place - self.p)

    def acceleration(self, place: np.ndarray) -> np.ndarray:
        r = place - self.p
        return self.a + self.alpha * across(r) - self.w**2 * r


@dataclass(frozen=True)
class PlanPoint:
    """A moving pin or marked point with all bodies that share it."""

    name: str
    bodies: tuple[str, ...]
    at: np.ndarray
    v: np.ndarray
    a: np.ndarray


@dataclass(frozen=True)
class PlanLink:
    """Motion of a point of a body relative to another one: v, and the acceleration as its normal and tangential part."""

    body: str
    points: tuple[str, str]  # from, to
    v: np.ndarray
    normal: np.ndarray
    tangential: np.ndarray


@dataclass(frozen=True)
class PlanSlide:
    """Motion of a block or pin relative to the moving body that guides it: v, and the acceleration as Coriolis' and the sliding part."""

    joint: str
    guide: str
    point: str  # the block's pin, or the block where it has none there
    v: np.ndarray
    coriolis: np.ndarray
    sliding: np.ndarray
    block_v: np.ndarray  # of the block itself there
    block_a: np.ndarray


@dataclass(frozen=True)
class InstantCenter:
    """The instant center of two bodies: `at`, or the direction in which it lies at infinity; both None without relative motion."""

    bodies: tuple[str, str]
    at: np.ndarray | None
    direction: np.ndarray | None
    joint: str  # pin or slider of the two, "" where only the whole mechanism determines it


@dataclass(frozen=True)
class VelocityPlan(Result):
    """A position of a planar mechanism; prints as tables in the units of the file."""

    where: str
    bodies: tuple[PlanBody, ...]  # the ground first
    points: tuple[PlanPoint, ...]
    links: tuple[PlanLink, ...]
    slides: tuple[PlanSlide, ...]
    centers: tuple[InstantCenter, ...]
    units: tuple[str, ...]
    letters: str
    moment: Trajectory  # one sample

    def center(self, one: str, other: str) -> InstantCenter:
        """Return the instant center of two bodies, in either order."""
        names = [b.name for b in self.bodies]
        for name in (one, other):
            if name not in names:
                raise UsageError(f"there is no body '{name}'.", nearest(name, names, "Bodies"))
        found = [x for x in self.centers if set(x.bodies) == {one, other}]
        if not found:
            raise UsageError(f"an instant center is of two bodies, not of '{one}' alone.", name=one)
        return found[0]

    def __str__(self) -> str:
        t = self.table()
        return "\n\n".join([self.where, t.text(), *(x.text() for x in t.parts)])

    def table(self) -> Table:
        """Return velocities and accelerations of points in the file's units; bodies and instant centers are `parts` of the table."""
        (v, vs), (a, as_) = (unit_of(self.units, kind) for kind in ("speed", "acceleration"))
        x, y = self.letters
        heads = [("point", ""), ("on", ""), (f"v{x}", v), (f"v{y}", v), ("v", v), (f"a{x}", a), (f"a{y}", a), ("a", a)]
        rows = [(p.name, ", ".join(p.bodies), *_sized(p.v / vs), *_sized(p.a / as_)) for p in self.points]
        pairs = [(f"{x.points[1]} about {x.points[0]}", x.body, x.v, x.normal + x.tangential) for x in self.links]
        pairs += [(f"{x.point} along {x.joint}", x.guide, x.v, x.coriolis + x.sliding) for x in self.slides]
        rows += [(name, on, *_sized(v_rel / vs), *_sized(a_rel / as_)) for name, on, v_rel, a_rel in pairs]
        return Table.of(heads, rows, "points", parts=(self._bodies(), self._centers()))

    def _bodies(self) -> Table:
        (w, ws), (alpha, size) = (unit_of(self.units, kind) for kind in ("angular speed", "angular acceleration"))
        rows = [(b.name, b.w / ws, b.alpha / size) for b in self.bodies[1:]]
        return Table.of([("body", ""), ("turns with", w), ("and", alpha)], rows, "bodies")

    def _centers(self) -> Table:
        symbol, size = unit_of(self.units, "length")
        rows = []
        for c in self.centers:
            if c.at is not None:
                place: tuple[Any, ...] = (*(float(x) / size for x in c.at), "")
            elif c.direction is None:
                place = (None, None, "no relative motion")
            else:
                place = (None, None, f"at infinity, {np.degrees(np.arctan2(c.direction[1], c.direction[0])) % 180.0:.2f} deg")
            rows.append((" - ".join(c.bodies), *place[:2], place[2] or (f"joint {c.joint}" if c.joint else "")))
        x, y = self.letters
        return Table.of([("instant center of", ""), (x, symbol), (y, symbol), ("joint", "")], rows, "instant centers")


def _sized(x: np.ndarray) -> tuple[float, float, float]:
    return float(x[0]), float(x[1]), float(np.linalg.norm(x))


def across(r: np.ndarray) -> np.ndarray:
    """Return z x r."""
    return np.array([-r[1], r[0]])


def velocity_plan(c: Trajectory, at: Any = None) -> VelocityPlan:
    """Return velocities, accelerations and instant centers at a position of the leading drive (`at`, "30 deg"; or a time, "0.2 s").

    None is the first sample. Between samples of a cycle of one drive at constant speed everything is exact; elsewhere accelerations
    are interpolated.
    """
    d = c.skel.tree.description
    if not d.planar:
        raise UsageError("velocity polygons and instant centers need a planar mechanism (`plane: xy`).", name="plane")
    moment, where = _moment(c.in_motion() if c.static else c, at)
    now = moment.instant(0)
    bodies = []
    for body in d.bodies:
        node, origin = c.skel.node(body.name), np.zeros(3)
        w, alpha = (0.0, 0.0) if node < 0 else (float(now.motion.V[node][2]), float(now.A[node][2]))
        read = (now.point(node, origin), now.point_velocity(node, origin), now.point_acceleration(node, origin))
        bodies.append(PlanBody(body.name, *(np.array(x, dtype=float)[:2] for x in read), w, alpha))
    pins = _pins(moment)
    points = _points(pins, bodies)
    found = {b.name: b for b in bodies}
    links = tuple(_link(found[body], one, other) for body, one, other in _sides(points, found))
    slides = tuple(x for j in d.joints for x in _slide(j, moment, found, pins))
    centers = tuple(_centers(bodies, points, d.joints))
    return VelocityPlan(where, tuple(bodies), points, links, slides, centers, d.units, d.plane or "xy", moment)


def _moment(c: Trajectory, at: Any) -> tuple[Trajectory, str]:
    """Return one sample of a cycle at a position of the drive or a time, and its name."""
    text = str(at).strip() if at is not None else ""
    timed = text.endswith("s") and text[:-1].rstrip(" mu").replace(".", "").isdigit()
    over = c.drive if c.drive and not timed else "t"
    symbol, size = c.unit(over)
    x, t = c[over], c.t
    value = float(x[0]) if at is None else unit_kinds.quantity(at, KINDS[c.dimension(over)], "at")
    name = f"{over} = {value / size:.6g} {symbol}"
    if c.full_turn and over != "t" and c.dimension(over) == "angle":
        value += 2.0 * np.pi * np.ceil((min(x[0], x[-1]) - 1e-9 - value) / (2.0 * np.pi))
    order = np.argsort(x, kind="stable")
    if not x[order[0]] - 1e-9 <= value <= x[order[-1]] + 1e-9:
        raise UsageError(
            f"at: {value / size:.6g} {symbol} is outside the motion, {x.min() / size:.6g} .. {x.max() / size:.6g} {symbol}.", name="at"
        )
    steps = np.diff(x)
    if not (np.all(steps > 0.0) or np.all(steps < 0.0)):
        raise UsageError(f"'{over}' passes {value / size:.6g} {symbol} more than once. Give a time, such as at='0.5 s'.", name=over)
    i = int(np.argmin(np.abs(x - value)))
    if abs(x[i] - value) < 1e-9:
        return c[i : i + 1], name
    rate = c[f"{over}.v"] if over != "t" else np.zeros(1)
    steady = rate[0] and np.ptp(rate) <= 1e-9 * abs(rate[0])
    if c.system is not None and c.proof is None and len(c.skel.tree.description.drives) == 1 and steady:
        ahead = value + 0.5 * float(steps[0])
        return mechanism_of(c.system).cycle(over, steps=2, start=value, stop=ahead, speed=abs(float(rate[0])))[:1], name
    return c.at(np.array([np.interp(value, x[order], t[order])])), name


def _pins(moment: Trajectory) -> dict[str, tuple[list[str], np.ndarray]]:
    """Return bodies and place of all pins, those on the ground too, and of marked points of moving bodies, each place of a body once."""
    now, skel = moment.instant(0), moment.skel
    d = skel.tree.description
    named: dict[str, tuple[list[str], np.ndarray]] = {}
    for j in d.joints:
        jt = JOINTS[j.type]
        if "angle" in jt.coordinate_kinds and (jt.keeps_origin or jt.guide is not None):
            place = np.array(now.point(skel.node(j.second), np.array(j.frame_second.at, dtype=float)), dtype=float)[:2]
            members = (j.first, j.second) if jt.keeps_origin else (j.second,)
            known = named.setdefault(j.pin or j.name, ([], place))[0]
            known += [name for name in members if name not in known]
    size = max((float(np.ptp([p for _, p in named.values()], axis=0).max()) if named else 0.0), 1e-12)
    for body in d.moving:
        for p in body.points:
            place = np.array(now.point(skel.node(body.name), np.array(p.at, dtype=float)), dtype=float)[:2]
            if all(body.name not in on or np.linalg.norm(place - q) > 1e-9 * size for on, q in named.values()):
                named[p.name if p.name not in named else f"{body.name}.{p.name}"] = ([body.name], place)
    return named


def _points(pins: dict[str, tuple[list[str], np.ndarray]], bodies: list[PlanBody]) -> tuple[PlanPoint, ...]:
    """Return the pins and marked points that are not on the ground, the first body."""
    found, out = {b.name: b for b in bodies}, []
    for name, (on, place) in pins.items():
        if bodies[0].name not in on:
            out.append(PlanPoint(name, tuple(on), place, found[on[0]].velocity(place), found[on[0]].acceleration(place)))
    return tuple(out)


def _sides(points: tuple[PlanPoint, ...], bodies: dict[str, PlanBody]) -> list[tuple[str, PlanPoint, PlanPoint]]:
    """Pairs of points on one body: from its first one to each of the others."""
    out = []
    for body in bodies:
        on = [p for p in points if body in p.bodies]
        out += [(body, on[0], p) for p in on[1:]]
    return out


def _link(body: PlanBody, one: PlanPoint, other: PlanPoint) -> PlanLink:
    r = other.at - one.at
    return PlanLink(body.name, (one.name, other.name), other.v - one.v, -(body.w**2) * r, body.alpha * across(r))


def _slide(j: Joint, moment: Trajectory, bodies: dict[str, PlanBody], pins: dict[str, tuple[list[str], np.ndarray]]) -> list[PlanSlide]:
    """Return the motion of a block's pin against the point of the moving guide below it; empty for other joints."""
    if JOINTS[j.type].guide is None or j.first == moment.skel.tree.description.bodies[0].name:
        return []
    at = np.array(moment.instant(0).point(moment.skel.node(j.second), np.array(j.frame_second.at, dtype=float)), dtype=float)[:2]
    guide, block = bodies[j.first], bodies[j.second]
    block_v, block_a = block.velocity(at), block.acceleration(at)
    v, a = block_v - guide.velocity(at), block_a - guide.acceleration(at)
    coriolis = 2.0 * guide.w * across(v)
    near = [name for name, (on, place) in pins.items() if j.second in on and np.allclose(place, at, rtol=0.0, atol=1e-9)]
    return [PlanSlide(j.name, j.first, near[0] if near else j.second, v, coriolis, a - coriolis, block_v, block_a)]


def _centers(bodies: list[PlanBody], points: tuple[PlanPoint, ...], joints: tuple[Joint, ...]) -> list[InstantCenter]:
    places = np.array([*(p.at for p in points), *(b.p for b in bodies)])
    size = float(np.ptp(places, axis=0).max()) or 1.0
    fastest = max([float(np.linalg.norm(p.v)) for p in points] + [abs(b.w) * size for b in bodies], default=0.0)
    if fastest == 0.0:
        raise UsageError("nothing moves at this position: compute the cycle at a speed, m.cycle(speed='60 rpm').")
    pairs: dict[str, set[str]] = {}
    for j in joints:
        turning = is_hinge(JOINTS[j.type])
        if turning or is_slider(JOINTS[j.type]):
            pairs.setdefault((j.pin if turning else "") or j.name, set()).update((j.first, j.second))
    out = []
    for one, other in combinations(bodies, 2):
        w, v = other.w - one.w, other.velocity(np.zeros(2)) - one.velocity(np.zeros(2))
        joined = [name for name, on in pairs.items() if {one.name, other.name} <= on]
        at, direction = None, None
        if abs(w) * size > NEGLIGIBLE * fastest:
            at = np.array([-v[1], v[0]]) / w
        elif np.linalg.norm(v) > NEGLIGIBLE * fastest:
            direction = across(v) / np.linalg.norm(v)
        out.append(InstantCenter((one.name, other.name), at, direction, joined[0] if joined else ""))
    return out

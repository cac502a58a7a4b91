"""The bearing table of a cycle: what every pin does to every link's eye, in the figures a bearing is chosen by.

The equivalent load is the constant load that wears or fatigues the bearing as much over the same path of rotation:

    P_p = ( integral |F|^p |w| dt / integral |w| dt )^(1/p)

with w the relative speed of the two links in the joint (a slider: its sliding speed) and p = 3 for ball bearings, 10/3
for roller bearings. In a cycle at 0 rpm the path itself counts, |dq| in place of |w| dt. An eye that does not move against
its pin (the link that carries a pin of several links, a weld) has its average over time instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.api import (
    Cell,
    Description,
    Instant,
    Joint,
    Result,
    Table,
    Trajectory,
    UsageError,
    channel_kinds,
    cross,
    elements,
    forces,
    inverse,
    joints,
    line_loads,
    marked,
    nearest,
    unit_of,
)
from linkwright.rings.design.cycle_averages import extremes, integral, time_mean
from linkwright.rings.design.drive_duty import cycle_axis

FULL = 2.0 * np.pi - 1e-6
FAINT = 0.01  # share of the largest load below which its direction does not count


@dataclass(frozen=True)
class Movement:
    """How the two sides of a joint move against each other over the cycle: angles in rad, or travel in m."""

    kind: str  # "turns", "slides" or "fixed"
    swing: float  # from one end to the other; a full turn and more count as they are
    path: float  # whole way of rotation or sliding
    mean_speed: float
    max_speed: float
    weight: np.ndarray = field(repr=False)  # |speed| at the samples, zero where fixed
    position: np.ndarray = field(repr=False)  # way covered up to each sample

    @property
    def full_turns(self) -> bool:
        return self.kind == "turns" and self.swing >= FULL


@dataclass(frozen=True)
class Bearing:
    """One eye: the load of pin `pin` on body `on`, SI; `against` are all the others there. `at_max` is the drive's position of the
    largest load. Of a rod, spring, damper or cylinder (`joint_type`) `pin` is the part and its point, `lift.W`, and `against` the part.

    `sector` is the arc of the body's own axes in which the load comes (planar): 2 pi means it goes round and every part of
    the ring is loaded in turn.
    """

    pin: str
    on: str
    against: tuple[str, ...]
    joint_type: str
    max: float
    at_max: float
    mean: float
    rms: float
    P3: float
    P10_3: float
    moment_max: float
    movement: str
    swing: float
    full_turns: bool
    path: float
    mean_speed: float
    max_speed: float
    sector: float | None
    unique: bool
    near_singular: bool = False  # the largest load is taken near a singular position: it depends on how close the sample is to it
    near_moment: bool = False  # so is the largest moment

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "against": list(self.against)}


@dataclass(frozen=True)
class RodLoad:
    """A rod's largest push and pull over the cycle, N."""

    rod: str
    compression: float
    tension: float
    rms: float


@dataclass(frozen=True)
class CamLoad:
    """Contact force of a cam over the cycle, N, negative where the follower would lift off; `at_*` are positions of the drive."""

    cam: str
    min: float
    at_min: float
    max: float
    at_max: float
    mean: float
    rms: float


@dataclass(frozen=True)
class Bearings(Result):
    """All eyes of a mechanism over a cycle. `b["C", "rocker"]` is one of them; prints as a table in the file's units."""

    rows: tuple[Bearing, ...]
    rods: tuple[RodLoad, ...]
    over: str
    dimension: str
    units: tuple[str, ...]
    cams: tuple[CamLoad, ...] = ()
    meshes: tuple[tuple[str, str], ...] = ()  # (pin, coupling) whose contact is not modeled, so that the force there is not known

    @property
    def notes(self) -> tuple[str, ...]:
        """Reasons why loads are not unique."""
        open_ = {pin for pin, _ in self.meshes}
        loose = any(not r.unique and r.pin not in open_ for r in self.rows)
        out = ["not unique: the load depends on how redundant joints or stops share it. The least-norm solution is shown"] if loose else []
        if self.meshes:
            by = ", ".join(f"'{x}'" for x in dict.fromkeys(c for _, c in self.meshes))
            pins = ", ".join(dict.fromkeys(pin for pin, _ in self.meshes))
            out.append(f"not known: {by} passes a torque, and the force at its contact is not modeled. {pins} carry it as well")
        return tuple(out)

    def __iter__(self) -> Iterator[Bearing]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: str | tuple[str, str]) -> Bearing:
        """One eye: `b["C", "rocker"]`; of a pin alone the eye that carries most (its `on` says which, `against` the others)."""
        pin, on = (key, None) if isinstance(key, str) else key
        found = [r for r in self.rows if r.pin == pin and on in (None, r.on)]
        if not found:
            names = [f"{r.pin} on {r.on}" for r in self.rows]
            raise UsageError(
                f"there is no bearing '{pin}'{f' on {on!r}' if on else ''}.", nearest(f"{pin} on {on or pin}", names, "Bearings")
            )
        return max(found, key=lambda r: r.max)

    def as_dict(self) -> dict[str, Any]:
        more = {"rods": [asdict(r) for r in self.rods], "cams": [asdict(x) for x in self.cams]}
        open_ = [{"pin": pin, "coupling": coupling} for pin, coupling in self.meshes]
        return {"over": self.over, "bearings": [r.as_dict() for r in self.rows], **more, "not_known": open_}

    def table(self) -> Table:
        """Return the bearings in the file's units; a pin of two links is one row. Rods and contacts of cams are `parts` of the table."""
        force, turning, length, speed = (unit_of(self.units, k) for k in ("force", "angular speed", "length", "speed"))
        at, moment, angle = unit_of(self.units, self.dimension), unit_of(self.units, "torque"), unit_of(self.units, "angle")
        bent = any(r.moment_max > 1e-9 * max(x.max for x in self.rows) for r in self.rows)  # guides and hinges in space
        heads = [
            ("pin", ""), ("on", ""), ("max", force[0], "", "largest load"), (f"at {self.over}", at[0]), ("mean", force[0]),
            ("RMS", force[0]), ("P (p=3)", force[0], "", "equivalent load of ball bearings"),
            ("P (p=10/3)", force[0], "", "equivalent load of roller bearings"), ("max moment", moment[0]),
            ("swing", angle[0], ".4g"), ("mean speed", turning[0], ".4g"), ("travel", length[0], ".4g"),
            ("mean sliding speed", speed[0], ".4g"), ("unique", ""),
        ]  # fmt: skip
        open_ = {pin for pin, _ in self.meshes}
        rows: list[tuple[Any, ...]] = []
        for r in self._merged():
            on = ", ".join((r.on, *r.against)) if len(r.against) == 1 else r.on
            loads = [marked(x / force[1], r.near_singular) for x in (r.mean, r.rms, r.P3, r.P10_3)]
            tilt = marked(r.moment_max / moment[1], r.near_moment) if bent else None
            carried = [marked(r.max / force[1], r.near_singular), r.at_max / at[1], *loads, tilt]
            if r.pin in open_:  # what was computed lacks the force in the mesh: a number would be read as the load
                carried = [Cell(None, "unknown"), *(None for _ in carried[1:])]
            swing = Cell(r.swing / angle[1], "full turn") if r.full_turns else r.swing / angle[1]
            turns: tuple[Any, Any] = (swing, r.mean_speed / turning[1]) if r.movement == "turns" else (None, None)
            slides = (r.swing / length[1], r.mean_speed / speed[1]) if r.movement == "slides" else (None, None)
            fixed = (Cell(None, "fixed"), None) if r.movement == "fixed" else turns
            rows.append((r.pin, on, *carried, *fixed, *slides, r.unique))
        parts = [t for t, some in ((self._rods(), self.rods), (self._cams(), self.cams)) if some]
        return Table.of(heads, rows, "bearings", self.notes, parts=tuple(parts)).without_empty()

    def _rods(self) -> Table:
        symbol, size = unit_of(self.units, "force")
        rows = [(r.rod, r.compression / size, r.tension / size, r.rms / size) for r in self.rods]
        return Table.of([("rod", ""), ("push", symbol), ("pull", symbol), ("RMS", symbol)], rows, "rods")

    def _cams(self) -> Table:
        (symbol, size), (place, at) = unit_of(self.units, "force"), unit_of(self.units, self.dimension)
        heads = [
            ("cam contact", ""), ("min", symbol), (f"{self.over} at min", place), ("max", symbol), (f"{self.over} at max", place),
            ("mean", symbol), ("RMS", symbol),
        ]  # fmt: skip
        rows = [(x.cam, x.min / size, x.at_min / at, x.max / size, x.at_max / at, x.mean / size, x.rms / size) for x in self.cams]
        return Table.of(heads, rows, "cams")

    def _merged(self) -> list[Bearing]:
        """One of the two rows of a pin of two links: they carry the same load."""
        seen: set[tuple[str, frozenset[str]]] = set()
        out = []
        for r in self.rows:
            pair = (r.pin, frozenset((r.on, *r.against)))
            twins = [x for x in self.rows if x.pin == r.pin]
            if len(twins) == 2 and pair in seen:
                continue
            seen.add(pair)
            out.append(r if len(twins) == 2 else replace(r, against=()))
        return out

    def __str__(self) -> str:
        t = self.table()
        return "\n".join([t.text(), *self.notes, *(x.text() for x in t.parts)])


def bearings(c: Trajectory) -> Bearings:
    """The bearing table of a cycle; needs masses."""
    d = c.skel.tree.description
    moves = {j.name: _movement(c, j) for j in d.joints}
    over = cycle_axis(c)
    rows = []
    for pin, body in eyes(d):
        at_pin = [j for j in d.joints if (j.pin or j.name) == pin and body in (j.first, j.second)]
        carries = len(at_pin) > 1  # the pin is fixed in the body that all others are joined to
        against = tuple(other for name, other in eyes(d) if name == pin and other != body)
        move = _fixed(c) if carries else moves[at_pin[0].name]
        rows.append(_bearing(c, pin, body, at_pin[0].type, against, move, over.values))
    for e in line_loads.line_eyes(d):
        rows.append(_bearing(c, e.pin, e.body, e.kind, (e.pin.rpartition(".")[0],), _line_movement(c, e), over.values))
    meshes = inverse.meshes_not_modeled(d)
    open_ = tuple((j.pin or j.name, meshes[j.name]) for j in d.joints if j.name in meshes)
    return Bearings(tuple(rows), _rods(c), over.name, over.dimension, d.units, _cams(c, over.values), open_)


def eyes(d: Description) -> list[tuple[str, str]]:
    """(pin or joint, body) wherever a joint loads a body, ground included."""
    pairs = [(j.pin or j.name, body) for j in d.joints if joints.holds(joints.JOINTS[j.type], d.planar) for body in (j.first, j.second)]
    return list(dict.fromkeys(pairs))


def _bearing(c: Trajectory, pin: str, body: str, kind: str, against: tuple[str, ...], move: Movement, where: np.ndarray) -> Bearing:
    own = c.load(pin, body, frame=body)
    moments = np.linalg.norm(own.moment, axis=1)
    largest, bent = extremes(c.t, own.magnitude, where), extremes(c.t, moments, where)
    return Bearing(
        pin=pin,
        on=body,
        against=against,
        joint_type=kind,
        max=largest.high,
        at_max=largest.at_high,
        mean=time_mean(c.t, own.magnitude),
        rms=float(np.sqrt(time_mean(c.t, own.magnitude**2))),
        P3=equivalent(c.t, own.magnitude, move, 3.0),
        P10_3=equivalent(c.t, own.magnitude, move, 10.0 / 3.0),
        moment_max=bent.high,
        movement=move.kind,
        swing=move.swing,
        full_turns=move.full_turns,
        path=move.path,
        mean_speed=move.mean_speed,
        max_speed=move.max_speed,
        sector=_sector(own.force) if own.force.shape[1] == 2 else None,
        unique=own.unique,
        near_singular=bool(c.near_singular[largest.sample_high]),
        near_moment=bool(c.near_singular[bent.sample_high]),
    )


def equivalent(t: np.ndarray, size: np.ndarray, move: Movement, p: float) -> float:
    """P_p of a load over a joint's movement; see the module's text."""
    largest = float(size.max())
    if largest == 0.0:
        return 0.0
    share = (size / largest) ** p  # large powers of large numbers stay finite
    if move.max_speed > 0.0:
        way = integral(t, move.weight)
        if way <= 0.0:  # a run of no length covers no way
            return largest
        mean = integral(t, share * move.weight) / way
    elif move.path > 0.0:
        mean = integral(move.position, share) / move.path
    else:
        mean = time_mean(t, share)
    return largest * float(mean ** (1.0 / p))


def _sector(force: np.ndarray) -> float:
    """The smallest arc that holds the direction of every load worth counting."""
    size = np.linalg.norm(force, axis=1)
    strong = force[size > FAINT * size.max(initial=0.0)]
    if len(strong) < 2:
        return 0.0
    angles = np.sort(np.arctan2(strong[:, 1], strong[:, 0]))
    gaps = np.diff(np.append(angles, angles[0] + 2.0 * np.pi))
    widest = float(gaps.max())
    return 2.0 * np.pi if widest < np.radians(20.0) else 2.0 * np.pi - widest  # samples of a load going round leave gaps


def _fixed(c: Trajectory) -> Movement:
    zero = np.zeros(len(c))
    return Movement("fixed", 0.0, 0.0, 0.0, 0.0, zero, zero)


def _movement(c: Trajectory, j: Joint) -> Movement:
    """Relative rotation of a joint, or its travel where it only slides."""
    jt = joints.create(j.type, j.options)
    if jt.nv == 0 or not jt.rows:
        return _fixed(c)
    if "angle" not in jt.coordinate_kinds and "quaternion" not in jt.coordinate_kinds:
        return _single(c, "slides", j, 0)
    if jt.coordinate_kinds.count("angle") == 1:
        return _single(c, "turns", j, jt.coordinate_kinds.index("angle"))
    return _tilting(c, j)


def _single(c: Trajectory, kind: str, j: Joint, k: int) -> Movement:
    both = c._sampled({f"{j.name} moving": lambda i: np.array([i.coordinates(j)[k], i.rates(j)[k]])})
    x, v = both[f"{j.name} moving"].T
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)))])
    return _moved(c, kind, float(np.ptp(x)), way, np.abs(v))


def _tilting(c: Trajectory, j: Joint) -> Movement:
    """Balls and universal joints: the relative rotation, whatever its axis."""
    first, second = c.skel.node(j.first), c.skel.node(j.second)

    def turning(i: Instant) -> np.ndarray:
        spin = _spin(i, second) - _spin(i, first)
        return np.array([*(i.rotation(first).T @ i.rotation(second)), spin])

    seen = c._sampled({f"{j.name} turning": turning})[f"{j.name} turning"]
    turned = channel_kinds.rotation_quaternions(seen[:, :3])
    between = 2.0 * np.arccos(np.clip(np.abs(turned @ turned.T), 0.0, 1.0))
    steps = np.diag(between, 1)
    spin = np.linalg.norm(seen[:, 3], axis=1)
    return _moved(c, "turns", float(between.max()), np.concatenate([[0.0], np.cumsum(steps)]), spin)


def _spin(instant: Instant, node: int) -> Any:
    return np.zeros(3) if node < 0 else instant.motion.V[node][:3]


def _line_movement(c: Trajectory, e: line_loads.LineEye) -> Movement:
    """Rotation of a part between two points against the body of its eye."""
    node = c.skel.node(e.body)

    def turning(x: Instant) -> np.ndarray:
        on = forces.line(x, e.part.between)
        a, b = on.ends
        along = (b.velocity - a.velocity - on.rate * on.n) / on.length - cross(_spin(x, node), on.n)
        return np.array([x.rotation(node).T @ on.n, x.rotation(node).T @ along])

    name = f"{e.pin} turning on {e.body}"
    n, rate = c._sampled({name: turning})[name].transpose(1, 0, 2)
    if c.skel.tree.description.planar:
        angle = np.unwrap(np.arctan2(n[:, 1], n[:, 0]))
        swing, steps = float(np.ptp(angle)), np.abs(np.diff(angle))
    else:
        swing = float(np.arccos(np.clip(n @ n.T, -1.0, 1.0)).max())
        steps = np.arccos(np.clip(np.sum(n[1:] * n[:-1], axis=1), -1.0, 1.0))
    return _moved(c, "turns", swing, np.concatenate([[0.0], np.cumsum(steps)]), np.linalg.norm(rate, axis=1))


def _moved(c: Trajectory, kind: str, swing: float, way: np.ndarray, weight: np.ndarray) -> Movement:
    if way[-1] < 1e-9 and weight.max() < 1e-12:
        return _fixed(c)
    mean = time_mean(c.t, weight)
    path = mean * float(c.t[-1] - c.t[0]) if weight.max() > 0.0 else float(way[-1])
    return Movement(kind, swing, path, mean, float(weight.max()), weight, way)


def _cams(c: Trajectory, where: np.ndarray) -> tuple[CamLoad, ...]:
    out = []
    for x in c.skel.tree.description.cams:
        force = c[f"{x.name}.contact"]
        ends = extremes(c.t, force, where)
        rms = float(np.sqrt(time_mean(c.t, force**2)))
        out.append(CamLoad(x.name, ends.low, ends.at_low, ends.high, ends.at_high, time_mean(c.t, force), rms))
    return tuple(out)


def _rods(c: Trajectory) -> tuple[RodLoad, ...]:
    out = []
    for rod, _ in elements.lengths(c.skel.tree.description):
        push = c._sampled({f"rod {rod.name}": lambda x, name=rod.name: x.loads.lam[name][0]}, loads=True)[f"rod {rod.name}"]
        rms = float(np.sqrt(time_mean(c.t, push**2)))
        ends = extremes(c.t, push, c.t)
        out.append(RodLoad(rod.name, max(ends.high, 0.0), max(-ends.low, 0.0), rms))
    return tuple(out)

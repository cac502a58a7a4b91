"""Load cases of links for strength analysis: forces and moments at every point of a link, in its own axes, at its worst instants.

The worst instants of a link are those of the largest load of each of its pins, of the largest acceleration of its center of mass and
of the largest angular acceleration, located between samples; one instant may be several of them. A case lists everything that acts:
pins, drives, springs and loads, weight, and the inertia force and moment at the center of mass, in equilibrium to round-off. A
finite-element program takes either the two last rows as point loads, or in their place the acceleration of the origin, the angular
velocity and acceleration and the gravity of the same case as a field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwright.api import (
    NEGLIGIBLE,
    Result,
    Table,
    Trajectory,
    UsageError,
    cross,
    inverse,
    kinematics,
    nearest,
    unit_of,
)
from linkwright.rings.design.bearing_loads import eyes
from linkwright.rings.design.body_forces import BodyAction, body_actions, in_world
from linkwright.rings.design.cycle_averages import extremes, place_between
from linkwright.rings.design.drive_duty import cycle_axis

ENDINGS = (".csv", ".xlsx")
CONSTANT = 1e-6  # share of the largest: an acceleration that varies less has no worst instant
SAME_INSTANT = 1e-3  # of a step between samples: what changes an extreme by round-off
NEAR = "next to a singular position"


@dataclass(frozen=True)
class LoadCase:
    """Everything that acts on one body at one instant, in the body's axes, SI; places are relative to the body's origin.

    `acceleration` is that of the body's origin, `spin` the angular velocity, `spin_rate` the angular acceleration.
    """

    body: str
    number: int
    reasons: tuple[str, ...]  # "max C", "max acceleration"
    t: float
    place: float  # position of the leading drive, or the time
    actions: tuple[BodyAction, ...]
    acceleration: np.ndarray
    gravity: np.ndarray
    spin: np.ndarray
    spin_rate: np.ndarray

    @property
    def force(self) -> np.ndarray:
        """Sum of all forces: zero up to round-off."""
        return np.sum([a.force for a in self.actions], axis=0)

    @property
    def moment(self) -> np.ndarray:
        """Sum of all moments about the body's origin: zero up to round-off."""
        return np.sum([a.moment_about(np.zeros(3)) for a in self.actions], axis=0)

    @property
    def residual(self) -> float:
        """Largest component of the sums, relative to the largest force and moment that enter."""
        force = max(float(np.linalg.norm(a.force)) for a in self.actions)
        reach = max(float(np.linalg.norm(a.at)) for a in self.actions)
        moment = max(force * reach, *(float(np.linalg.norm(a.moment)) for a in self.actions))
        return max(float(np.abs(x).max()) / size for x, size in ((self.force, force or 1.0), (self.moment, moment or 1.0)))


@dataclass(frozen=True)
class LoadCases(Result):
    """The load cases of links. Iterates over them; `save` writes one row per point and case, in the file's units."""

    cases: tuple[LoadCase, ...]
    over: str
    dimension: str
    planar: bool
    units: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[LoadCase]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    def __getitem__(self, body: str) -> list[LoadCase]:
        """The cases of one body."""
        found = [x for x in self.cases if x.body == body]
        if not found:
            raise UsageError(f"there are no load cases of '{body}'.", nearest(body, dict.fromkeys(x.body for x in self.cases), "Bodies"))
        return found

    @property
    def residual(self) -> float:
        """Largest residual of equilibrium of all cases."""
        return max((x.residual for x in self.cases), default=0.0)

    def table(self) -> Table:
        """Return all loads in the file's units: a row for each point and case."""
        kinds = ("length", "force", "torque", "acceleration", "angular speed", "angular acceleration")
        sized = {kind: unit_of(self.units, kind) for kind in kinds}
        sized |= {"angular speed": ("rad/s", 1.0), "angular acceleration": ("rad/s^2", 1.0)}
        at, time = unit_of(self.units, self.dimension), unit_of(self.units, "time")
        flat, turning = ((0, 1), (2,)) if self.planar else ((0, 1, 2), (0, 1, 2))
        groups = (("", "length", flat), ("F", "force", flat), ("M", "torque", turning), ("a", "acceleration", flat))
        more = (("g", "acceleration", flat), ("w", "angular speed", turning), ("alpha", "angular acceleration", turning))
        place = [] if self.over == "t" else [(self.over, at[0])]
        heads = [("body", ""), ("case", ""), ("reason", ""), ("t", time[0]), *place, ("point", ""), ("kind", "")]
        heads += [(f"{name}{'xyz'[i]}", sized[kind][0]) for name, kind, axes in (*groups, *more) for i in axes]
        rows = []
        for x in self.cases:
            for a in x.actions:
                vectors = (a.at, a.force, a.moment, x.acceleration, x.gravity, x.spin, x.spin_rate)
                parts = zip(vectors, (*groups, *more), strict=True)
                numbers = [float(v[i]) / sized[kind][1] for v, (_, kind, axes) in parts for i in axes]
                when = [x.t / time[1]] + ([] if self.over == "t" else [x.place / at[1]])
                rows.append([x.body, x.number, "; ".join(x.reasons), *when, a.name, a.kind, *numbers])
        return Table.of(heads, rows, "load cases", self.notes)

    def __str__(self) -> str:
        force, torque, at = unit_of(self.units, "force"), unit_of(self.units, "torque"), unit_of(self.units, self.dimension)
        rows = []
        for x in self.cases:
            pushes = [a for a in x.actions if a.kind not in ("weight", "inertia")] or list(x.actions)
            largest = max(pushes, key=lambda a: float(np.linalg.norm(a.force)))
            bent = max(float(np.linalg.norm(a.moment)) for a in pushes)
            size = float(np.linalg.norm(largest.force))
            rows.append((x.body, x.number, "; ".join(x.reasons), x.place / at[1], largest.name, size / force[1], bent / torque[1]))
        heads = [("body", ""), ("case", ""), ("reason", ""), (f"at {self.over}", at[0]), ("largest", ""), ("force", force[0])]
        return "\n".join([Table.of([*heads, ("max moment", torque[0])], rows).text(), *self.notes])


def load_cases(c: Trajectory, bodies: str | Sequence[str] | None = None) -> LoadCases:
    """Return the load cases of moving bodies (all, or those named) over a cycle or run; needs masses."""
    d = c.skel.tree.description
    known = [b.name for b in d.bodies[1:]]
    wanted = known if bodies is None else [bodies] if isinstance(bodies, str) else list(bodies)
    for name in wanted:
        if name not in known:
            raise UsageError(f"there is no moving body '{name}'.", nearest(str(name), known, "Bodies"))
    over = cycle_axis(c)
    worst = {body: _worst(c, body) for body in wanted}
    times = np.unique([x.t for instants, _ in worst.values() for x in instants])
    loads = dict(zip(times.tolist(), _loads_at(c, times), strict=True))
    cases, notes = [], []
    tied = inverse.meshes_not_modeled(d)
    meshes = {j.pin or j.name: tied[j.name] for j in d.joints if j.name in tied}
    for body, (instants, unique) in worst.items():
        bare = [pin for pin in unique if pin in meshes]
        shared = [pin for pin in unique if pin not in meshes]
        notes += [f"{body}: loads of {', '.join(shared)} are not unique, they depend on how redundant joints share them"] if shared else []
        by = ", ".join(f"'{x}'" for x in dict.fromkeys(meshes[pin] for pin in bare))
        notes += [f"{body}: loads of {', '.join(bare)} are not known, the force in the mesh of {by} is not modeled"] if bare else []
        for k, x in enumerate(instants, 1):
            near = (NEAR,) if c.near_singular[x.sample] else ()
            place = place_between(c.t, over.values, x.t, x.sample)
            cases.append(_case(loads[x.t], body, k, (*x.reasons, *near), x.t, place))
    return LoadCases(tuple(cases), over.name, over.dimension, d.planar, d.units, tuple(notes))


class WorstInstant(NamedTuple):
    """A time of a motion, the sample next to it, and what is largest there."""

    t: float
    sample: int
    reasons: tuple[str, ...]


def _loads_at(c: Trajectory, times: np.ndarray) -> list[inverse.Loads]:
    """The loads at times, which may lie between samples."""
    at = {float(t): i for i, t in enumerate(c.t)}
    between = [t for t in times if t not in at]
    found = dict(zip(between, c.at(between)._each_loads if between else (), strict=True))
    return [c._each_loads[at[t]] if t in at else found[t] for t in times]


def _worst(c: Trajectory, body: str) -> tuple[list[WorstInstant], list[str]]:
    """(instants, pins whose loads are not unique)."""
    node = c.skel.node(body)
    com = np.array(c.skel.com[node], dtype=float)
    sizes: dict[str, np.ndarray] = {}
    shared = []
    for pin, on in eyes(c.skel.tree.description):
        if on == body:
            own = c.load(pin, body)
            sizes[f"max {pin}"] = own.magnitude
            shared += [] if own.unique else [pin]
    moving = {
        "max acceleration": lambda x: x.point_acceleration(node, com),
        "max angular acceleration": lambda x: x.A[node][:3],
    }
    found = c._sampled({f"{body} {name}": read for name, read in moving.items()})
    reach = float(max((np.linalg.norm(p.at) for p in c.skel.tree.description.body(body).points), default=0.0)) or 1.0
    accelerations_of = {name: np.linalg.norm(found[f"{body} {name}"], axis=1) for name in moving}
    largest = max(accelerations_of["max acceleration"].max(), reach * accelerations_of["max angular acceleration"].max())
    for name, scale in (("max acceleration", 1.0), ("max angular acceleration", reach)):
        size = accelerations_of[name]
        if scale * size.max() > NEGLIGIBLE * max(largest, 1.0) and np.ptp(size) > CONSTANT * size.max():
            sizes[name] = size
    tops = {name: extremes(c.t, size, c.t) for name, size in sizes.items()}
    instants = [WorstInstant(x.at_high, x.sample_high, (name,)) for name, x in tops.items()]
    several = _joined(instants, SAME_INSTANT * float(np.abs(np.diff(c.t)).max(initial=0.0)))
    return several or [WorstInstant(float(c.t[0]), 0, ("as it is",))], shared


def _joined(instants: list[WorstInstant], apart: float) -> list[WorstInstant]:
    """Instants in their order, those less than `apart` from each other as one."""
    out: list[WorstInstant] = []
    for x in sorted(instants, key=lambda x: x.t):
        if out and x.t - out[-1].t <= apart:
            out[-1] = out[-1]._replace(reasons=(*out[-1].reasons, *x.reasons))
        else:
            out.append(x)
    return out


def _case(loads: inverse.Loads, body: str, number: int, reasons: tuple[str, ...], t: float, place: float) -> LoadCase:
    skel, m = loads.skel, loads.motion
    node = skel.node(body)
    R = np.asarray(kinematics.node_motion(skel, m, node)[0].R, dtype=float)
    origin = in_world(loads, node, np.zeros(3))
    turned = [BodyAction(a.name, a.kind, R.T @ (a.at - origin), R.T @ a.force, R.T @ a.moment) for a in body_actions(loads, body)]
    V, A = m.V[node], kinematics.accelerations(skel, m, loads.problem.a)[node]
    own = origin - np.asarray(skel.origin(node), dtype=float)  # the subsystem's origin is where V and A are taken
    velocity = V[3:] + cross(V[:3], own)
    acceleration = A[3:] + cross(A[:3], own) + cross(V[:3], velocity)
    gravity = np.asarray(skel.gravity, dtype=float)
    vectors = [R.T @ np.asarray(x, dtype=float) for x in (acceleration, gravity, V[:3], A[:3])]
    return LoadCase(body, number, reasons, t, place, tuple(turned), *vectors)

"""One grammar for everything that can be read from a mechanism, at an instant or over a run.

    A   A.v   A.a             a joint's coordinate, speed, acceleration (C.slide, C.angle.v for several)
    base.vx  .wz  .rpy  .quat  speeds of a free joint, its rotation as roll, pitch, yaw or as a quaternion
    rocker.angle  .angle.v    a body's angle in the plane, and its rates
    rocker   rocker.rotation  a body's origin; its attitude as a quaternion wxyz
    coupler.P  .x .vx .ax     a point: position, and components of position, velocity, acceleration
    coupler.P.v  .a  .speed   its velocity and acceleration as vectors, and the size of the velocity
    gas.length                distance of the ends of a spring or damper between two points
    gas.stroke_used           share of a gas spring's stroke by which it is pushed in, 0 where it is extended
    cam.lift  .pressure_angle  .curvature   of a cam: lift from the base circle, pressure angle, curvature of the profile (convex positive)
    step.gap  .x  .y  .slip   of surfaces that may touch: their distance, the nearest point, sliding speed (in space also .slip.x)
    coupler.P.curvature       of its path: in the plane positive to the left of the motion, in space the size; NaN where it rests
    energy.kinetic  .potential  .total

Every joint can be read, cut or not. `Instant` evaluates lazily and once, over any scalar: run on symbols a channel
becomes a program for whole runs (`results.channels.graph`). A `Channel` knows its dimension, so results convert units and
label axes by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.errors import ChannelError, UsageError, nearest_channel, renamed_channel
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.cam import CamGeometry
from linkwright.mechanics.constraints.coupling import cam_of
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse import pressure_angles
from linkwright.mechanics.inverse.effort_places import resting_points
from linkwright.mechanics.inverse.line_eyes import line_parts
from linkwright.mechanics.kinematics.motion import (
    Skeleton,
    relative,
)
from linkwright.mechanics.kinematics.transmission import transmission
from linkwright.model.coordinates import coordinate, lengths
from linkwright.model.description import Coupling, Joint
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.scalars import arctan2, is_symbolic
from linkwright.numerics.spatial import array, cross, quaternion_rotation, rotation_quaternion
from linkwright.numerics.tolerances import ROUND_OFF
from linkwright.results.channels.contacts import contact_channels
from linkwright.results.channels.cylinders import flow_channels
from linkwright.text.unit_meaning import unit_size
from linkwright.text.units import KINDS

REST = 1e-10  # m: a point whose v^2/|a| is shorter rests or reverses, and its path has no curvature there


@dataclass(frozen=True)
class Channel:
    """A named quantity: how to read it at an instant, its dimension and meaning, and for an angle that may wind up whose it is.

    Over whole runs `raw` is read in place of `read` where that has to choose between formulas, and `cook` makes the channel's
    values of an array of them. On complex numbers it is analytic: small imaginary parts carry derivatives.
    """

    name: str
    dimension: str  # key of the unit system: "angle", "length", "speed", ...
    read: Callable[[Instant], Any]
    winds: int | None = None  # node of the body whose turns are counted
    raw: Callable[[Instant], Any] | None = None
    cook: Callable[[np.ndarray], np.ndarray] | None = None
    needs: tuple[str, ...] = ()  # terms of a held motion that it reads: see `driven_motion`
    kink: float | None = None  # value at which it has one: the length of a vector at 0
    meaning: str = ""  # a phrase: "angular speed of joint A"

    def size_of(self, unit: str) -> float:
        """Size in SI of a unit this channel can be read in."""
        if self.dimension in ("mixed", "none"):
            raise ChannelError(
                f"channel '{self.name}' mixes angles and lengths. Name one component to convert it to '{unit}'.", name=self.name
            )
        energy = self.dimension == "energy"
        try:
            return unit_size(unit, KINDS["torque" if energy else self.dimension], f"channel '{self.name}'", energy=energy)
        except UsageError as problem:
            raise ChannelError(
                f"channel '{self.name}' is of the kind '{self.dimension}', which '{unit}' does not measure: {problem}", name=self.name
            ) from problem


RATES = {"angle": ("angle", "angular speed", "angular acceleration"), "length": ("length", "speed", "acceleration")}


ALL: Store[str, Channel] = Store()  # channels of a skeleton, by name


class Channels:
    """All channels of a mechanism, by name."""

    def __init__(self, skel: Skeleton, more: Mapping[str, Channel] | None = None):
        self.skel = skel
        self._plane = skel.tree.description.plane
        self._all: dict[str, Channel] = {}
        known = ALL.of(skel)
        if not known:
            self._make()
            known.update(self._all)
        self._all = {**known, **(more or {})}

    def _make(self) -> None:
        """Channels of every mechanism: the same for all results of one skeleton."""
        skel = self.skel
        self._resting = resting_points(skel.tree.description)
        self._joints()
        for on in (coordinate(skel.tree.description, name) for name in lengths(skel.tree.description)):
            self._add(on.name, on.kind, f"{on.kind} of {on.name}", lambda x, on=on: x.travel(on))
            self._add(f"{on.name}.v", on.speed_kind, f"rate of the {on.kind} of {on.name}", lambda x, on=on: x.travel_rate(on))
            second = f"second derivative of the {on.kind} of {on.name}"
            self._add(f"{on.name}.a", on.acceleration_kind, second, lambda x, on=on: x.travel_acceleration(on))
        for name, between in line_parts(skel.tree.description).items():
            self._add(f"{name}.length", "length", f"distance of the ends of {name}", lambda x, b=between: forces.line(x, b).length)
        for k, e in enumerate(skel.tree.description.acting):
            for name, (dimension, meaning) in e.readings.items():
                self._add(f"{e.name}.{name}", dimension, f"{meaning} of {e.name}", lambda x, k=k, n=name: _reading(x, k, n))
        for name, dimension, meaning, read, *more in (*flow_channels(skel.tree.description), *contact_channels(skel.tree.description)):
            self._add(name, dimension, meaning, read, **(more[0] if more else {}))
        self._bodies()
        self._transmission()
        self._cams()
        for part in ("kinetic", "potential", "total"):
            self._add(f"energy.{part}", "energy", f"{part} energy of all bodies", lambda x, part=part: x.energy[part])

    @property
    def names(self) -> list[str]:
        return list(self._all)

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __getitem__(self, name: str) -> Channel:
        if name in self._all:
            return self._all[name]
        split = [n for n in self._all if n.startswith(f"{name}:") and "." not in n]
        if split:
            raise ChannelError(f"pin '{name}' joins several bodies. Its joints are {', '.join(split)}.", name=name, allowed=split)
        meant = nearest_channel(str(name), self.names)
        hint = renamed_channel(str(name)).strip() or meant
        raise ChannelError(f"there is no channel '{name}'. {hint}", name=str(name), allowed=meant.allowed)

    def _add(self, name: str, dimension: str, meaning: str, read: Callable[[Instant], Any], **more: Any) -> None:
        self._all[name] = Channel(name, dimension, read, meaning=meaning, **more)

    def _transmission(self) -> None:
        found = self.skel.transmission
        for k, p in enumerate(found.passings):
            self._add(
                f"{p.channel}.transmission_angle",
                "angle",
                f"transmission angle at {p.channel}",
                p.transmission,
                raw=p.sides,
                cook=transmission,
            )
            if found.outputs[k] is not None:
                self._add(
                    f"{p.channel}.pressure_angle", "angle", f"pressure angle at {p.channel}",
                    lambda x, k=k: pressure_angles.angles(found, k, pressure_angles.geometry(found, x, k)[None])[0],
                    raw=lambda x, k=k: pressure_angles.geometry(found, x, k), cook=lambda y, k=k: pressure_angles.angles(found, k, y),
                )  # fmt: skip

    def _cams(self) -> None:
        d = self.skel.tree.description
        for c in (c for c in d.cams if c.name not in self._all):
            kind = "length" if joints.is_slider(joints.create(d.joint(c.second).type, d.joint(c.second).options)) else "angle"

            def touching(x: Instant, c: Coupling = c) -> tuple[CamGeometry, Any]:
                cam = cam_of(x.skel, c.name)
                return cam, cam.at(x.coordinates(cam.first)[0])

            lift = f"lift of {c.name} from the base circle"
            self._add(f"{c.name}.lift", kind, lift, lambda x, n=c.name: cam_of(x.skel, n).lift(x.coordinates(cam_of(x.skel, n).first)[0]))
            pressed = f"pressure angle at the contact of {c.name}"
            self._add(f"{c.name}.pressure_angle", "angle", pressed, lambda x, at=touching: at(x)[0].pressure_angle(at(x)[1]))
            bent = f"curvature of the profile of {c.name} at the contact, convex positive"
            self._add(f"{c.name}.curvature", "curvature", bent, lambda x, at=touching: at(x)[0].curvature(at(x)[1]))

    def _joints(self) -> None:
        implicit = [n.joint for n in self.skel.tree.nodes if n.body in self.skel.tree.floating]
        for joint in (*self.skel.tree.description.joints, *implicit):
            jt = joints.create(joint.type, joint.options)
            if jt.nv == 0:
                continue
            if jt.q_names == ("",):
                self._coordinate(joint.name, f"joint {joint.name}", joint, 0, jt.coordinate_kinds[0])
                continue
            label = joint.name if joint not in implicit else f"{joint.second}.free"  # by the body, whose name a joint may have
            ways = _cut_ball(joint) if joints.is_ball(jt) and joint.name in self.skel.tree.cuts else ({}, {}, {})
            whose = f"joint {label}" if joint not in implicit else f"body {joint.second}"
            self._add(label, "mixed", f"all coordinates of {whose}", lambda x, j=joint: x.coordinates(j), **ways[0])
            self._add(f"{label}.v", "mixed", f"all velocities of {whose}", lambda x, j=joint: x.rates(j), **ways[1])
            self._add(f"{label}.a", "mixed", f"all accelerations of {whose}", lambda x, j=joint: x.joint_accelerations(j), **ways[2])
            for name, i in joints.speed_names(jt).items():
                if name not in jt.v_names:
                    self._add(f"{label}.{name}", "speed", f"speed {name} of {whose}", lambda x, j=joint, i=i: x.rates(j)[i])
            if joints.attitudes(jt) and not ways[0]:
                self._add(f"{label}.quat", "none", f"attitude of {whose} as a quaternion wxyz", lambda x, j=joint: x.coordinates(j)[:4])
                angles = f"attitude of {whose} as roll, pitch and yaw"
                self._add(f"{label}.rpy", "angle", angles, lambda x, j=joint: roll_pitch_yaw(quaternion_rotation(x.coordinates(j)[:4])))
            for i, name in enumerate(jt.v_names):
                if name in jt.q_names:
                    at = jt.q_names.index(name)
                    self._coordinate(f"{label}.{name}", f"coordinate {name} of {whose}", joint, i, jt.coordinate_kinds[at], at)
                elif not ways[1]:  # angular velocity of a quaternion
                    spin = f"component {name} of the angular velocity of {whose}"
                    self._add(f"{label}.{name}", "angular speed", spin, lambda x, j=joint, i=i: x.rates(j)[i])
                    rate = f"rate of {name} of {whose}"
                    self._add(f"{label}.{name}.a", "angular acceleration", rate, lambda x, j=joint, i=i: x.joint_accelerations(j)[i])

    def _coordinate(self, name: str, whose: str, joint: Joint, i: int, kind: str, at: int | None = None) -> None:
        """A coordinate, entry `at` of q, with its rate and acceleration, entry `i` of v."""
        position, speed, acceleration = RATES[kind]
        place = i if at is None else at
        way = "angle" if kind == "angle" else "displacement"
        self._add(name, position, f"{way} of {whose}", lambda x, j=joint, i=place: x.coordinates(j)[i])
        self._add(f"{name}.v", speed, f"{speed} of {whose}", lambda x, j=joint, i=i: x.rates(j)[i])
        self._add(f"{name}.a", acceleration, f"{acceleration} of {whose}", lambda x, j=joint, i=i: x.joint_accelerations(j)[i])

    def _bodies(self) -> None:
        planar = self._plane is not None
        for body in (b for b in self.skel.tree.description.bodies if not b.chain):
            node = self.skel.node(body.name)
            if node >= 0 and body.name not in self._all:  # a joint of the same name keeps it
                self._vector(body.name, f"the origin of body {body.name}", node, np.zeros(3), components=False)
            if node >= 0:
                attitude: dict[str, Any] = {"raw": lambda x, n=node: x.rotation(n), "cook": rotation_quaternions}
                about = f"attitude of body {body.name} as a quaternion wxyz"
                self._add(f"{body.name}.rotation", "none", about, lambda x, n=node: rotation_quaternion(x.rotation(n)), **attitude)
            if node >= 0 and planar:
                whose = f"body {body.name}"
                self._add(f"{body.name}.angle", "angle", f"angle of {whose}", lambda x, n=node: _angle(x.rotation(n)), winds=node)
                self._add(f"{body.name}.angle.v", "angular speed", f"angular speed of {whose}", lambda x, n=node: x.motion.V[n][2])
                self._add(f"{body.name}.angle.a", "angular acceleration", f"angular acceleration of {whose}", lambda x, n=node: x.A[n][2])
            for point in body.points:
                name = f"{body.name}.{point.name}"
                self._vector(name, f"point {name}", node, array(point.at), components=True)

    def _vector(self, name: str, whose: str, node: int, p: Any, *, components: bool) -> None:
        """Position of a point and, for marked points, its components and derivatives."""
        pick = slice(0, 2) if self._plane else slice(0, 3)
        self._add(name, "length", f"position of {whose}", lambda x: x.point(node, p)[pick])
        if not components:
            return
        self._add(f"{name}.v", "speed", f"velocity of {whose}", lambda x: x.point_velocity(node, p)[pick])
        self._add(f"{name}.a", "acceleration", f"acceleration of {whose}", lambda x: x.point_acceleration(node, p)[pick])
        self._add(f"{name}.speed", "speed", f"magnitude of the velocity of {whose}", lambda x: _size(x.point_velocity(node, p)), kink=0.0)
        if name not in self._resting:
            self._curved(name, node, p, pick)
        for i, axis in enumerate(self._plane or "xyz"):
            self._add(f"{name}.{axis}", "length", f"{axis} of {whose}", lambda x, i=i: x.point(node, p)[i])
            self._add(f"{name}.v{axis}", "speed", f"{axis} velocity of {whose}", lambda x, i=i: x.point_velocity(node, p)[i])
            self._add(f"{name}.a{axis}", "acceleration", f"{axis} acceleration of {whose}", lambda x, i=i: x.point_acceleration(node, p)[i])

    def _curved(self, name: str, node: int, p: Any, pick: slice) -> None:
        """Curvature of the path of a point."""

        def both(x: Instant) -> Any:
            return np.array([x.point_velocity(node, p)[pick], x.point_acceleration(node, p)[pick]])

        bent = f"curvature of the path of point {name}"
        self._add(f"{name}.curvature", "curvature", bent, lambda x: _curvature(both(x)), raw=both, cook=curvatures)


def _reading(x: Instant, k: int, name: str) -> Any:
    """A channel of an element's own; by the element's numbers here, which may vary."""
    return forces.ElementForce(x.skel.tree.description.acting[k]).reading(name, x)


def _angle(R: Any) -> Any:
    return arctan2(R[1, 0], R[0, 0])


def roll_pitch_yaw(R: Any) -> Any:
    """Angles about the fixed x, y and z axes, in this order."""
    return np.array([arctan2(R[2, 1], R[2, 2]), arctan2(-R[2, 0], np.sqrt(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0])), _angle(R)])


def _size(x: Any) -> Any:
    return np.sqrt(x @ x)


def _curvature(motion: Any) -> Any:
    """Of (velocity, acceleration)."""
    if not is_symbolic(motion):
        return curvatures(motion[None])[0] if motion.dtype.kind == "f" else _bend(*motion)
    return _bend(*motion)


def _bend(v: Any, a: Any) -> Any:
    """v x a / |v|^3."""
    across = v[0] * a[1] - v[1] * a[0] if len(v) == 2 else _size(cross(v, a))
    square = v @ v
    if isinstance(square, (int, float)) and square == 0.0:  # a point that cannot move
        return np.nan
    return across / (square * np.sqrt(square))


def curvatures(motion: np.ndarray) -> np.ndarray:
    """Curvatures (n,) of paths from velocities and accelerations (n, 2, axes); NaN where a point rests."""
    v, a = motion[:, 0], motion[:, 1]
    square, size = np.sum(v * v, axis=1), np.sqrt(np.sum(a * a, axis=1))
    moving = (square > REST * size) & (square > ROUND_OFF**2)
    rest = np.where(moving, square, 1.0)
    flat = v.shape[1] == 2
    across = v[:, 0] * a[:, 1] - v[:, 1] * a[:, 0] if flat else np.sqrt(np.sum(np.cross(v, a) ** 2, axis=1))
    return np.where(moving, across / (rest * np.sqrt(rest)), np.nan)


def _cut_ball(joint: Joint) -> tuple[dict[str, Any], ...]:
    """How q, v and dv/dt of a cut ball joint are read over whole runs: from the rotation itself, which needs no choice."""

    def attitude(x: Instant) -> Any:
        return np.concatenate([relative(x.skel, x.motion, joint).R.ravel(), x.references[joint.name]])

    def quaternions(raw: np.ndarray) -> np.ndarray:
        q = rotation_quaternions(raw[:, :9])
        return np.where(np.sum(q * raw[:, 9:], axis=1, keepdims=True).real < 0.0, -q, q)

    def speed(x: Instant) -> Any:
        r = relative(x.skel, x.motion, joint)
        return r.R.T @ r.w  # in M's axes

    def acceleration(x: Instant) -> Any:
        r = relative(x.skel, x.with_accelerations, joint)
        return r.R.T @ r.dw  # w x w is nothing

    return {"raw": attitude, "cook": quaternions}, {"raw": speed}, {"raw": acceleration}


def rotation_quaternions(R: np.ndarray) -> np.ndarray:
    """(n, 4): `rotation_quaternion` of many matrices (n, 3, 3) at once."""
    R = R.reshape(-1, 3, 3)
    d = [R[:, i, i] for i in range(3)]
    skew = [R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]]
    xy, xz, yz = R[:, 0, 1] + R[:, 1, 0], R[:, 0, 2] + R[:, 2, 0], R[:, 1, 2] + R[:, 2, 1]
    rows = [
        [1 + d[0] + d[1] + d[2], *skew],
        [skew[0], 1 + d[0] - d[1] - d[2], xy, xz],
        [skew[1], xy, 1 - d[0] + d[1] - d[2], yz],
        [skew[2], xz, yz, 1 - d[0] - d[1] + d[2]],
    ]
    K = np.array(rows).transpose(2, 0, 1)
    n = np.arange(len(R))
    best = K[n, np.argmax(K[:, range(4), range(4)].real, axis=1)]  # the largest component first
    q = best / np.sqrt(np.sum(best * best, axis=1))[:, None]
    return np.where(q[:, :1].real < 0.0, -q, q)

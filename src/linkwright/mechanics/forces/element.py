"""Any element of `linkwright.elements` as a force: its travel in the mechanism, and its efforts as wrenches on bodies.

The four places where elements act are here, once: a line between two points, velocities of a joint (of a cut one, too), two frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.elements import FRAMES, IDLE, JOINT, LINE, POINT
from linkwright.errors import ModelError
from linkwright.joints import JOINTS, grouped, position_of
from linkwright.mechanics.forces.base import ForceLine, Wrenches, joint_efforts, line, push
from linkwright.mechanics.kinematics.motion import locate, node_motion
from linkwright.model.coordinates import is_rotary, joint_part, lengths
from linkwright.model.description import Joint
from linkwright.numerics.scalars import arctan2, real, where
from linkwright.numerics.spatial import array, cross, point_wrench, skew
from linkwright.numerics.tolerances import SQUARE_FLOOR
from linkwright.properties import cached_property

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant


@dataclass(frozen=True)
class ElementForce:
    """The efforts of an element's law on bodies."""

    element: Any

    @property
    def name(self) -> str:
        return self.element.name

    @property
    def from_outside(self) -> bool:
        return self.element.from_outside

    @property
    def conservative(self) -> bool:
        return self.element.conservative

    def wrenches(self, at: Instant) -> Wrenches:
        e = self.element
        if e.acts == LINE:
            on = line(at, e.between)
            return push(on, self.along(at, on))
        if e.acts == FRAMES:
            seen = FrameTravel(at, e)
            return seen.wrenches(e.law(seen))
        if e.acts == POINT:
            return self._from_outside(at)
        if e.acts == IDLE:
            return []
        on = driven_line(at, e.joint)
        if on is not None:
            return push(on, e.law(LineTravel(on, at)))
        found = joint_travels(at, e.joint)
        return joint_efforts(at, found.joint, {i: e.law(x) for i, x in found.entries.items()})

    def _from_outside(self, at: Instant) -> Wrenches:
        e = self.element
        point = locate(at.skel, at.motion, (e.body, e.point))
        if point.node < 0:
            return []
        force, moment = self.sizes(at)
        if e.axes != "world":
            R = node_motion(at.skel, at.motion, at.skel.node(e.axes))[0].R
            force, moment = R @ force, R @ moment
        return [(point.node, point_wrench(point.arm, force, moment))]

    def along(self, at: Instant, on: ForceLine) -> Any:
        """Force on the line between its points that drives them apart."""
        return self._named(lambda: self.element.law(LineTravel(on, at)))

    def _named(self, law: Callable[[], Any]) -> Any:
        """The value of a law; its errors begin with the element's name."""
        try:
            return law()
        except ModelError as error:
            raise ModelError(f"{self.element.word} '{self.name}': {error.message}", self.element.where, name=self.name) from error

    def sizes(self, at: Instant) -> tuple[Any, Any]:
        """Force and moment that it makes, as its law has them."""
        e = self.element
        if e.acts == FRAMES:
            seen = FrameTravel(at, e)
            return seen.force_and_moment(e.law(seen))
        if e.acts == POINT:
            force, moment = self._named(lambda: e.law(at))
            return np.array(force), np.array(moment)
        efforts = np.array([e.law(x) for x in self._travels(at)])
        turns = e.acts == JOINT and is_rotary(at.skel.tree.description, e.joint)
        return (np.zeros(1), efforts) if turns else (efforts, np.zeros(1))

    def reading(self, name: str, at: Instant) -> Any:
        """A channel of the element's own, of its first travel."""
        return self.element.reading(name, self._travels(at)[0])

    def energy(self, at: Instant) -> Any:
        if not self.element.stores:
            return 0.0
        total: Any = 0.0
        for x in self._travels(at):
            total = total + self.element.stored(x)
        return total

    @property
    def loses(self) -> bool:
        return self.element.loses

    def loss(self, at: Instant) -> Any:
        return sum(self.element.lost(x) for x in self._travels(at))

    def _travels(self, at: Instant) -> list[Any]:
        e = self.element
        if e.acts == IDLE:
            return []
        if e.acts == JOINT:
            on = driven_line(at, e.joint)
            return list(joint_travels(at, e.joint).entries.values()) if on is None else [LineTravel(on, at)]
        return [LineTravel(line(at, e.between), at) if e.acts == LINE else FrameTravel(at, e)]


# -------------------------------------------------------------------- travels


class LineTravel:
    """Length of a line and its rate."""

    size = None

    def __init__(self, on: ForceLine, at: Instant):
        self.x, self.v, self._at = on.length, on.rate, at

    def value(self, law: Any) -> Any:
        """A number, a formula of channels or a table, here."""
        return self._at.value(law)


class CoordinateTravel:
    """One coordinate of a joint and its velocity."""

    def __init__(self, whole: JointTravels, i: int):
        self._whole, self._i = whole, i

    @property
    def x(self) -> Any:
        return self._whole.coordinate(self._i)

    @property
    def v(self) -> Any:
        return self._whole.rates[self._i]

    @property
    def size(self) -> Any:
        return self._whole.sizes.get(self._i)


class JointTravels:
    """Coordinates of the velocities of a joint that an element acts on; of a ball its rotation vector."""

    def __init__(self, at: Instant, joint: Joint, entries: tuple[int, ...]):
        self.at, self.joint = at, joint
        self.entries = {i: CoordinateTravel(self, i) for i in entries}

    @cached_property
    def rates(self) -> Any:
        return self.at.rates(self.joint)

    @cached_property
    def sizes(self) -> dict[int, Any]:
        """Sizes of the velocity vectors, by the velocities in them; those that are alone are left out."""
        v, out = self.rates, {}
        for group in grouped(JOINTS[self.joint.type], tuple(self.entries)):
            if len(group) > 1:
                out |= dict.fromkeys(group, np.sqrt(sum(v[i] * v[i] for i in group) + SQUARE_FLOOR))
        return out

    @cached_property
    def _coordinates(self) -> tuple[Any, Any]:
        q = self.at.coordinates(self.joint)
        return q, rotation_vector(q[:4]) if "quaternion" in JOINTS[self.joint.type].coordinate_kinds else q

    def coordinate(self, i: int) -> Any:
        q, turned = self._coordinates
        k = position_of(JOINTS[self.joint.type], i)
        return turned[i] if k is None else q[k]


def driven_line(at: Instant, name: str) -> ForceLine | None:
    """The line of an element that is a coordinate itself, a cylinder, by its name; None if it is a joint's."""
    between = lengths(at.skel.tree.description).get(name)
    return None if between is None else line(at, between)


def joint_travels(at: Instant, name: str) -> JointTravels:
    """Travels of the velocities that a name means."""
    return JointTravels(at, *joint_part(at.skel.tree.description, name))


def rotation_vector(q: Any) -> Any:
    """Axis times angle, at most half a turn, of a quaternion; d(angle^2/2)/dt is its product with the angular velocity."""
    sign = where(real(q[0]) < 0.0, -1.0, 1.0)
    size = np.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3] + SQUARE_FLOOR)
    return q[1:4] * (2.0 * sign * arctan2(size, sign * q[0]) / size)


class FrameTravel:
    """Place and turn of the axes of one point seen from another: x = [p; phi], phi the rotation vector (at most half a turn), and rates.

    In a plane the place in it and the angle. Efforts dual to these rates are forces in the axes of the first point, at the second, and
    moments J' m, where d phi/dt = J w.
    """

    def __init__(self, at: Instant, element: Any):
        skel, between = at.skel, element.between
        self.flat = skel.tree.description.planar
        a, b = (locate(skel, at.motion, ref) for ref in between)
        (X_a, V_a, _), (X_b, V_b, _) = (node_motion(skel, at.motion, end.node) for end in (a, b))
        R_a, R_b = (X.R @ array(R) for X, R in zip((X_a, X_b), element.axes, strict=True))
        r, w = b.position - a.position, V_b[:3] - V_a[:3]
        self.a, self.b, self.r, self.R = a, b, r, R_a
        p, u = R_a.T @ r, R_a.T @ (b.velocity - a.velocity - cross(V_a[:3], r))
        R, w = R_a.T @ R_b, R_a.T @ w
        if self.flat:
            self.J: Any = None
            self.x = np.array([p[0], p[1], arctan2(R[1, 0], R[0, 0])])
            self.v = np.array([u[0], u[1], w[2]])
            return
        phi = _turn(R)
        self.J = _rate_map(phi)
        self.x, self.v = np.concatenate([p, phi]), np.concatenate([u, self.J @ w])

    def force_and_moment(self, effort: Any) -> tuple[Any, Any]:
        """On the second body at its point, in the axes of the first."""
        if self.flat:
            return np.array([effort[0], effort[1], 0.0]), np.array([0.0, 0.0, effort[2]])
        return effort[:3], self.J.T @ effort[3:]

    def wrenches(self, effort: Any) -> Wrenches:
        """Wrenches on both bodies; the force acts in one place, at the second point."""
        f, m = (self.R @ x for x in self.force_and_moment(effort))
        ends = ((self.a, self.a.arm + self.r, -f, -m), (self.b, self.b.arm, f, m))
        return [(end.node, point_wrench(arm, force, moment)) for end, arm, force, moment in ends if end.node >= 0]


def _turn(R: Any) -> Any:
    """Rotation vector of a matrix."""
    s = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    size = np.sqrt(s @ s + SQUARE_FLOOR)
    return s * (arctan2(size, 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)) / size)


def _rate_map(phi: Any) -> Any:
    """J of d phi/dt = J w: 1 - [phi]/2 + c [phi]^2 with c = (1 - (a/2) cot(a/2)) / a^2 of the angle a."""
    square = phi @ phi
    small = 1e-4  # rad^2: below it the series of the rotation vector's rate has more digits than the formula
    near = real(square) < small
    a = np.sqrt(where(near, 1.0, square))
    far = (1.0 - 0.5 * a * np.cos(0.5 * a) / np.sin(0.5 * a)) / (a * a)
    c = where(near, 1.0 / 12.0 + square / 720.0 + square * square / 30240.0, far)
    S = skew(phi)
    return np.eye(3) - 0.5 * S + c * (S @ S)

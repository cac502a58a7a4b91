"""Planar cam and follower: the contact of a coupling q_second = f(q_first), in closed form.

The disc turns by theta about A, the follower slides along u or turns about B. All vectors are in the frame of the body that carries both
joints; a prime is d/dtheta, z the axis of the disc.

    roller   center R(f(theta)), r = R - A      p' = R' - z x r  (seen from the disc)     n = z x p'/|p'|
             contact R - rho n                  curvature of the pitch curve k = -z.(p' x p'')/|p'|^3, of the profile k/(1 - rho k)
    flat     normal n, distance h = (P - A).n   angle psi of n seen from the disc          contact A + h n + dh/dpsi z x n
             radius of curvature of the profile h + d2h/dpsi2

n points from the disc to the follower. The multiplier of the coupling is an effort in the follower's joint; the contact force N along n
that gives the same effort is lam / w, w = n . (velocity of the contact point of the follower per unit of its coordinate), and then the
torque on the disc is that of the coupling: n.(z x (c - A)) = w f'. Bearings feel N: `contact_wrenches` replaces the efforts in the joints
by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import ModelError
from linkwright.joints import JOINTS
from linkwright.mechanics.constraints.base import ConstraintRows
from linkwright.mechanics.constraints.carriers import common_carrier, frame_on
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, node_motion, pose_of
from linkwright.model.curves import Curve
from linkwright.model.curves.combined import ScaledCurve
from linkwright.model.description import CamContact, Coupling, Description, Joint
from linkwright.numerics.scalars import arctan2, real, where
from linkwright.numerics.spatial import array, cross, normalize, point_wrench
from linkwright.text.units import LENGTH, shown


class ContactPoint(NamedTuple):
    """The contact at one angle of the disc, in the frame of the carrier."""

    center: Any  # of the roller; of a flat face the point of contact
    contact: Any
    normal: Any  # from the disc to the follower
    work: Any  # speed of the follower at the contact along the normal, per unit of its coordinate
    motion: Any  # velocity of the roller's center (flat: of the contact point of the face) per unit of the coordinate
    pitch: Any  # curvature of the pitch curve (flat: radius of curvature of the profile), convex positive


@dataclass(frozen=True)
class CamGeometry:
    """Disc, follower and law of a cam; numbers may be symbols."""

    name: str
    first: Joint
    second: Joint
    carrier: str
    law: Curve  # of the follower's coordinate over the disc's
    rest: Any  # the follower's coordinate on the base circle, where lift is zero
    contact: CamContact
    center: Any  # A
    axis: Any  # z
    spin: float  # -1 where the hinge is written disc-first
    slide: Any  # u: motion of a sliding follower per unit of its coordinate; None of a swinging one
    pivot: Any  # B of a swinging follower
    swing: float  # its turning sense about z
    point: Any  # roller center or point of the face where the coordinate is zero
    face: Any  # normal of a flat face where the coordinate is zero; None of a roller

    @classmethod
    def of(cls, d: Description, c: Coupling, law: Curve) -> CamGeometry:
        """The geometry of a coupling with a contact; its law begins at the base circle if that is given."""
        assert c.cam is not None
        first, second = d.joint(c.first), d.joint(c.second)
        carrier = common_carrier(first, second, f"cam '{c.name}'", "disc and follower", c.where)
        frame_a, frame_b = frame_on(first, carrier), frame_on(second, carrier)
        z = frame_a.R[:, 2]
        slides = "length" in JOINTS[second.type].coordinate_kinds
        sign = 1.0 if second.first == carrier else -1.0
        along = frame_b.R[:, 0 if slides else 2]
        _check_plane(c, along, z, slides)
        spin = 1.0 if first.first == carrier else -1.0
        slide = sign * along if slides else None
        pivot = None if slides else _flat(frame_b.p, z)
        swing = 0.0 if slides else _swing(sign, along, z)
        point = _flat(_drawn(d, second, carrier, c.cam.point), z)
        made = cls(c.name, first, second, carrier, law, 0.0, c.cam, _flat(frame_a.p, z), z, spin, slide, pivot, swing, point, None)
        if c.cam.flat:
            made = replace(made, face=made._face(d))
        if c.cam.base is None:
            return made
        rest = made._rest(c, d)
        return replace(made, law=ScaledCurve(law, rest), rest=rest)

    # ------------------------------------------------------------ how it is made

    def _face(self, d: Description) -> Any:
        """Normal of the face away from the disc: across its two points, or along the guide."""
        if self.contact.face:
            other = _flat(_drawn(d, self.second, self.carrier, (self.contact.point[0], self.contact.face)), self.axis)
            n = normalize(cross(self.axis, other - self.point))
        else:
            n = self.slide
        return n * where(real((self.point - self.center) @ n) >= 0.0, 1.0, -1.0)

    def _rest(self, c: Coupling, d: Description) -> Any:
        """The coordinate at which the follower touches the base circle, on the side where it is drawn."""
        given: Any = self.contact.base
        base = given + (0.0 if self.contact.flat else self.contact.radius)
        if self.slide is not None:
            arm = self.point - self.center
            if self.contact.flat:
                return (base - arm @ self.face) / (self.slide @ self.face)
            along, square = arm @ self.slide, base * base - arm @ arm + (arm @ self.slide) ** 2
            self._reaches(square, c, d)
            return where(real(along) >= 0.0, 1.0, -1.0) * np.sqrt(square) - along
        apart = self.center - self.pivot
        d2 = apart @ apart
        if self.contact.flat:  # (B - A).n = base - (P - B).n
            n, offset = -self.face, (self.point - self.pivot) @ self.face
            cosine = (base - offset) / np.sqrt(d2)
        else:
            arm = self.point - self.pivot
            n, cosine = arm, (d2 + arm @ arm - base * base) / (2.0 * np.sqrt(d2 * (arm @ arm)))
        self._reaches(1.0 - cosine * cosine, c, d)
        angle = arctan2(np.sqrt(1.0 - cosine * cosine), cosine)
        drawn = arctan2(self.axis @ cross(apart, n), apart @ n)
        return self.swing * (where(real(drawn) >= 0.0, angle, -angle) - drawn)

    def _reaches(self, square: Any, c: Coupling, d: Description) -> None:
        if isinstance(square, (int, float)) and square < 0.0:
            given: Any = self.contact.base
            base = shown(float(given), LENGTH, d.units, 6)
            raise ModelError(
                f"cam '{self.name}': the follower does not reach a base circle of radius {base} about joint '{self.first.name}'. "
                "Change `base:` or move the follower's point.",
                c.where,
                name=self.name,
            )

    # ------------------------------------------------------------ one angle

    def at(self, q: Any) -> ContactPoint:
        """The contact where the disc's coordinate is q."""
        s, ds, dds = self.law(q)
        return self.touching(s, self.spin * ds, dds)

    def touching(self, s: Any, ds: Any, dds: Any) -> ContactPoint:
        """The contact for a position of the follower and its derivatives by the disc's angle: scalars, or arrays of them."""
        z = self.axis
        if self.slide is not None:
            R, R1, R2, turn = _plus(self.point, self.slide, s), self.slide, 0.0 * self.slide, 0.0
        else:
            arm = _turned(self.point - self.pivot, z, self.swing * s)
            R, R1, R2, turn = _plus(self.pivot, arm), self.swing * cross(z, arm), -arm, self.swing
        if self.face is not None:
            return self._flat_contact(s, ds, dds, R, turn)
        r = _plus(R, self.center, -1.0)
        moving = _plus(0.0 * r, R1, ds)
        first = moving - cross(z, r)
        second = _plus(_plus(0.0 * r, R1, dds), R2, ds * ds) - 2.0 * cross(z, moving) - r
        speed = np.sqrt(_dot(first, first))
        n = cross(z, first) / speed
        pitch = -_dot(z, cross(first, second)) / (speed * speed * speed)
        return ContactPoint(R, R - self.contact.radius * n, n, _dot(n, R1), R1, pitch)

    def _flat_contact(self, s: Any, ds: Any, dds: Any, P: Any, turn: Any) -> ContactPoint:
        z = self.axis
        n = self.face if self.slide is not None else _turned(self.face, z, self.swing * s)
        t = cross(z, n)
        h = _dot(_plus(P, self.center, -1.0), n)
        if self.slide is not None:
            h_s, h_ss = _dot(self.slide, n), 0.0
        else:
            apart = self.pivot - self.center
            h_s, h_ss = self.swing * _dot(apart, t), -_dot(apart, n)
        h1, h2 = h_s * ds, h_ss * ds * ds + h_s * dds
        psi1, psi2 = turn * ds - 1.0, turn * dds
        slope = h1 / psi1
        radius = h + (h2 - slope * psi2) / (psi1 * psi1)
        c = _plus(_plus(self.center, n, h), t, slope)
        motion = self.slide if self.slide is not None else self.swing * cross(z, _plus(c, self.pivot, -1.0))
        return ContactPoint(c, c, n, _dot(n, motion), motion, radius)

    def curvature(self, found: ContactPoint) -> Any:
        """Curvature of the profile, convex positive."""
        return 1.0 / found.pitch if self.face is not None else found.pitch / (1.0 - self.contact.radius * found.pitch)

    def pressure_angle(self, found: ContactPoint) -> Any:
        """Angle between the contact normal and the direction in which the follower moves, 0 to 90 deg."""
        across = _dot(self.axis, cross(found.motion, found.normal))
        return arctan2(np.sqrt(across * across), np.sqrt(found.work * found.work))

    def lift(self, q: Any) -> Any:
        """The follower's coordinate from the base circle, or as the law has it where no base circle is given."""
        return self.law(q)[0] - self.rest

    def on_disc(self, point: Any, q: Any) -> Any:
        """A point of the carrier in the frame of the disc's body, where the disc's coordinate is q."""
        j = self.first
        here, there = (j.frame_first, j.frame_second) if j.first == self.carrier else (j.frame_second, j.frame_first)
        on, off = pose_of(here), pose_of(there)
        return off.p + off.R @ (on.R.T @ _turned(point - self.center, self.axis, -self.spin * q))

    # ------------------------------------------------------------ forces

    def world(self, skel: Skeleton, m: Motion, q: Any) -> tuple[Any, Any, Any]:
        """(point of contact, normal from the disc to the follower, work) in the world."""
        found = self.at(q)
        X = node_motion(skel, m, skel.node(self.carrier))[0]
        return X.point(found.contact) + skel.origin(skel.node(self.carrier)), X.R @ found.normal, found.work

    def contact_wrenches(self, skel: Skeleton, m: Motion, q: Any, rows: ConstraintRows, lam: Any) -> list[tuple[int, Any]]:
        """Wrenches on bodies that turn the efforts of the coupling in its joints into the contact force; they do no work."""
        point, normal, work = self.world(skel, m, q)
        disc, follower = (j.second if j.first == self.carrier else j.first for j in (self.first, self.second))
        out = [(node, -(G.T @ lam)) for node, G in rows.G]
        for body, sign in ((follower, 1.0), (disc, -1.0)):
            node = skel.node(body)
            out.append((node, sign * lam[0] / work * point_wrench(point - skel.origin(node), normal)))
        return out


def _drawn(d: Description, joint: Joint, carrier: str, ref: tuple[str, str]) -> Any:
    """A point of the follower in the carrier's frame where the joint's coordinate is zero: there its frames coincide."""
    here, there = (joint.frame_first, joint.frame_second) if joint.first == carrier else (joint.frame_second, joint.frame_first)
    on, off = pose_of(here), pose_of(there)
    return on.R @ (off.R.T @ (array(d.point(ref).at) - off.p)) + on.p


def _flat(p: Any, z: Any) -> Any:
    """A point moved along the axis into the plane through the origin."""
    return p - (p @ z) * z


def _turned(p: Any, z: Any, angle: Any) -> Any:
    """A vector across z, turned about it."""
    return _plus(_plus(0.0 * p, p, np.cos(angle)), cross(z, p), np.sin(angle))


def _plus(a: Any, b: Any, factor: Any = 1.0) -> Any:
    """a + factor b, of vectors whose entries are scalars or arrays."""
    return np.array([x + factor * y for x, y in zip(a, b, strict=True)])


def _dot(a: Any, b: Any) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _swing(sign: float, axis: Any, z: Any) -> Any:
    return sign * where(real(axis @ z) >= 0.0, 1.0, -1.0)


def _check_plane(c: Coupling, along: Any, z: Any, slides: bool) -> None:
    leaning = along @ z
    parallel = 1e-9
    if isinstance(leaning, (int, float)) and abs(abs(leaning) - (0.0 if slides else 1.0)) > parallel:
        kind = "slide across the disc's axis" if slides else "turn about an axis parallel to the disc's"
        raise ModelError(
            f"cam '{c.name}' is planar: the follower must {kind}. Change the axis of joint '{c.second}'.", c.where, name=c.name
        )

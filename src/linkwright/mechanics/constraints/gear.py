"""Gear pair and rack: two pitch curves rolling on each other; the tooth force acts at the pitch point.

phi = r_a q_a + sigma q_b - constant in meters along the pitch line, so lam is the tangential tooth force
in N. Its wrench on each wheel is taken *at the pitch point*, not as a torque in the joints, so bearings
feel it. Teeth with pressure angle alpha also press the wheels apart with |lam| tan(alpha): that force
does no work and enters the reactions only (`separating_force`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import ModelError
from linkwright.mechanics.constraints.base import ConstraintRows
from linkwright.mechanics.constraints.carriers import common_carrier, frame_on
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, joint_rate, node_motion
from linkwright.model.description import Gear, Joint
from linkwright.numerics.spatial import cross, normalize, point_wrench
from linkwright.text.units import LENGTH, shown


@dataclass(frozen=True)
class GearConstraint:
    """The wheels are the joints' bodies that are not the common carrier."""

    name: str
    first: Joint
    second: Joint
    carrier: str
    r_first: Any
    factor_second: Any  # d phi / d q_second
    offset: Any  # a placed pair: the phase of the drawing
    pressure_angle: Any
    rack: bool
    pitch_side: float  # the pitch point is r_first * pitch_side along the line of centers (from the second to the first)
    sign_first: float  # -1 where the joint is written wheel-first
    internal: bool = False  # one of the wheels is a ring around the other
    labels: tuple[str, ...] = ("mesh",)
    kinds: tuple[str, ...] = ("length",)

    @classmethod
    def of(cls, skel: Skeleton, g: Gear) -> GearConstraint:
        d = skel.tree.description
        first, second = d.joint(g.first), d.joint(g.second)
        carrier = common_carrier(first, second, f"gear '{g.name}'", "both wheels", g.where)
        s_a = 1.0 if first.first == carrier else -1.0
        s_b = 1.0 if second.first == carrier else -1.0
        z_a, z_b = _axis(first, carrier), _axis(second, carrier)
        if g.rack:
            return cls._rack(skel, g, first, second, carrier, s_a, s_b)
        drawn = g.side is None  # else symbols of a design, whose numbers have passed these tests
        turn = float(z_a @ z_b) if drawn else 1.0
        if abs(abs(turn) - 1.0) > 1e-9:
            raise ModelError(
                f"gear '{g.name}': the axes of '{g.first}' and '{g.second}' are not parallel. Only spur gears are supported.",
                g.where,
                name=g.name,
            )
        apart = _center(second, carrier) - _center(first, carrier)
        side = g.side[0] if g.side else 1.0 if g.internal and g.radius_second > g.radius_first else -1.0
        centers = float(np.linalg.norm(apart)) if drawn else np.sqrt(apart @ apart)
        want = side * (g.radius_second - g.radius_first) if g.internal else g.radius_first + g.radius_second
        if drawn and abs(centers - want) > 1e-3 * max(centers, want):
            sort = "difference" if g.internal else "sum"
            lies, fits = (shown(x, LENGTH, skel.tree.description.units, 6) for x in (centers, want))
            raise ModelError(
                f"gear '{g.name}': the centers are {lies} apart but the {sort} of the pitch radii is {fits}. "
                "Correct the radii or the distance of the pins.",
                g.where,
                name=g.name,
            )
        fit = centers / want  # rounded data: the pitch circles touch exactly, the ratio stays
        r_a, r_b = fit * g.radius_first, fit * g.radius_second
        mesh = -1.0 if g.internal else 1.0
        factor = (g.side[1] if g.side else mesh * np.sign(turn) * s_b) * r_b
        q0 = skel.start_coordinates
        offset = s_a * r_a * q0[g.first][0] + factor * q0[g.second][0]
        return cls(g.name, first, second, carrier, r_a, factor, offset, g.pressure_angle, False, side, s_a, g.internal)

    @classmethod
    def _rack(cls, skel: Skeleton, g: Gear, first: Joint, second: Joint, carrier: str, s_a: float, s_b: float) -> GearConstraint:
        x, z = _slide(second, carrier), _axis(first, carrier)
        if g.side is None and abs(x @ z) > 1e-9:
            raise ModelError(f"gear '{g.name}': the rack slides along the pinion's axis. It must slide across it.", g.where, name=g.name)
        across = cross(z, x)
        side = g.side[0] if g.side else 1.0 if (_center(first, carrier) - _center(second, carrier)) @ across >= 0.0 else -1.0
        # the pinion's pitch point is at -side*r*across from its center, its velocity there w z x (-side r across) = side r w x
        factor = -side * s_b
        q0 = skel.start_coordinates
        offset = s_a * g.radius_first * q0[g.first][0] + factor * q0[g.second][0]
        return cls(g.name, first, second, carrier, g.radius_first, factor, offset, g.pressure_angle, True, side, s_a)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        a, b = (joint_rate(skel, m, j, references[j.name]) for j in (self.first, self.second))
        q_a, q_b = a.q[0], b.q[0]
        r_a = self.sign_first * self.r_first
        phi = r_a * q_a + self.factor_second * q_b - self.offset
        k = r_a * a.bias + self.factor_second * b.bias
        pitch, tangent, _ = self.pitch_point(skel, m)
        wheel_a, wheel_b = self._wheels(skel)
        G = [(node, sign * point_wrench(pitch - skel.origin(node), tangent)[None, :]) for node, sign in ((wheel_a, 1.0), (wheel_b, -1.0))]
        return ConstraintRows(np.array([phi]), G, k, np.zeros(1))

    def pitch_point(self, skel: Skeleton, m: Motion) -> tuple[Any, Any, Any]:
        """(world point, tangent along which phi grows with the first wheel, line of centers toward the first wheel)."""
        X = node_motion(skel, m, skel.node(self.carrier))[0]
        origin = skel.origin(skel.node(self.carrier))
        c_a, c_b = _center(self.first, self.carrier), _center(self.second, self.carrier)
        z = _axis(self.first, self.carrier)
        if self.rack:
            n = self.pitch_side * cross(z, _slide(self.second, self.carrier))
            pitch = c_a - self.r_first * n
        else:
            n = normalize(c_a - c_b)
            pitch = c_a + self.pitch_side * self.r_first * n
        tangent = cross(z, pitch - c_a) / self.r_first
        return X.point(pitch) + origin, X.R @ tangent, X.R @ n

    def separating_force(self, skel: Skeleton, m: Motion, lam: Any) -> list[tuple[int, Any]]:
        """Wrenches on the two wheels of the force that presses them apart, |lam| tan(alpha)."""
        pitch, _, n = self.pitch_point(skel, m)
        away = -n if self.internal else n  # a ring presses its planet inwards, whichever of the two is the first
        size = np.sqrt(lam[0] * lam[0]) * np.tan(self.pressure_angle)
        wheel_a, wheel_b = self._wheels(skel)
        return [(node, sign * size * point_wrench(pitch - skel.origin(node), away)) for node, sign in ((wheel_a, 1.0), (wheel_b, -1.0))]

    def _wheels(self, skel: Skeleton) -> tuple[int, int]:
        wheels = [j.second if j.first == self.carrier else j.first for j in (self.first, self.second)]
        return skel.node(wheels[0]), skel.node(wheels[1])


def _axis(joint: Joint, carrier: str) -> Any:
    return frame_on(joint, carrier).R[:, 2]


def _slide(joint: Joint, carrier: str) -> Any:
    return frame_on(joint, carrier).R[:, 0]


def _center(joint: Joint, carrier: str) -> Any:
    return frame_on(joint, carrier).p

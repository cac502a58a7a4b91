"""Belt, chain or rope over pulleys: straight spans of constant tension, inextensible, in the plane.

A span from pulley i to pulley j has the direction u, n = z x u is on its left, and h = s_j r_j - s_i r_i with s = 1 where the belt passes a
pulley counterclockwise, -1 clockwise. The centers are D = C_j - C_i apart:

    D = l u + h n        l = sqrt(D^2 - h^2)        tangent points T = C - s r n        l' - h (angle of u)' = u . D'

so the length of belt between two pulleys on which it does not slip is a function of positions, whose rate is the sum of
u . (velocity of the pulley's material at T_j - that at T_i) over the spans between them. One row for each such part of the belt, in
meters; lam is minus the tension.

A closed belt whose pulleys are all carried by one body has one row less: its length does not change, and what is left open, the tension
that all spans have in common, does no work. It is chosen afterwards (`tensions`) and loads the shafts (`workless_wrenches`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from linkwright.elements import Belt, Pulley
from linkwright.mechanics.constraints.base import ConstraintRows
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, joint_rate, locate_at, node_motion, pose_of
from linkwright.numerics.scalars import arctan2, minimum, real, where
from linkwright.numerics.spatial import array, point_wrench

TOUCHING = 1e-12  # share of the radii squared: nearer pulleys touch, and the span between them has no direction


class BeltSpan(NamedTuple):
    """A straight piece of a belt at one position: its length, direction, tangent points, and the bodies it pulls at."""

    length: Any
    u: Any  # from its first pulley to its second
    first: int  # nodes of the bodies
    second: int
    start: Any  # tangent points, world
    end: Any
    arm_first: Any  # the same, from the origins of the bodies' subsystems
    arm_second: Any
    curvature: Any  # (n . D')^2 / l: what its turning adds to the second derivative
    drift: Any  # u . D'' at zero joint accelerations, and the turning of the pulleys


@dataclass(frozen=True)
class BeltConstraint:
    """The parts of one belt between pulleys on which it does not slip."""

    name: str
    belt: Belt
    counted: tuple[Any, ...]  # of every pulley: coordinate of its joint in the drawing

    @classmethod
    def of(cls, skel: Skeleton, b: Belt) -> BeltConstraint:
        return cls(b.name, b, tuple(skel.start_coordinates[p.joint][0] if p.joint else 0.0 for p in b.pulleys))

    @property
    def labels(self) -> tuple[str, ...]:
        return self.belt.labels

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("length",) * len(self.labels)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        spans, rows = self.spans(skel, m), self.belt.rows
        phi = [self._residual(skel, m, spans, k, part, references) for k, part in enumerate(rows)]
        drift = [sum((spans[k].drift + spans[k].curvature for k in part), 0.0) for part in rows]
        pulled: dict[int, list[Any]] = {}
        for row, part in enumerate(rows):
            for node, wrench in (x for k in part for x in _pulls(spans[k])):
                entries = pulled.setdefault(node, [np.zeros(6)] * len(rows))
                entries[row] = entries[row] - wrench
        G = [(node, np.array(entries)) for node, entries in pulled.items()]
        return ConstraintRows(np.array(phi), G, np.array(drift), np.zeros(len(rows)))

    # ---------------------------------------------------------------- geometry

    def spans(self, skel: Skeleton, m: Motion) -> list[BeltSpan]:
        """All straight pieces, in the order of the belt."""
        b = self.belt
        places = [locate_at(skel, m, skel.node(p.body), center_on(skel, p)) for p in b.pulleys]
        out = []
        for i, j in b.spans:
            first, second, s_i, s_j = places[i], places[j], b.pulleys[i].turn * b.radii[i], b.pulleys[j].turn * b.radii[j]
            D, rate = second.position - first.position, second.velocity - first.velocity
            h, square = s_j - s_i, D[0] * D[0] + D[1] * D[1]
            apart = square - h * h
            length = np.sqrt(where(real(apart) > TOUCHING * h * h, apart, TOUCHING * h * h + TOUCHING))
            u = array([(length * D[0] + h * D[1]) / square, (length * D[1] - h * D[0]) / square, 0.0])
            n = array([-u[1], u[0], 0.0])
            across = n @ rate
            turning = [node_motion(skel, m, x.node)[2][2] for x in (first, second)]  # angular acceleration of the bodies
            drift = u @ (second.acceleration - first.acceleration) + s_j * turning[1] - s_i * turning[0]
            down, up = s_i * n, s_j * n
            ends = (first.position - down, second.position - up, first.arm - down, second.arm - up)
            out.append(BeltSpan(length, u, first.node, second.node, *ends, across * across / length, drift))
        return out

    def _residual(self, skel: Skeleton, m: Motion, spans: list[BeltSpan], row: int, part: tuple[int, ...], references: Any) -> Any:
        """Length of a part of the belt, less that in the drawing; wound up and off where pulleys turn."""
        b = self.belt
        first, last = b.spans[part[0]][0], b.spans[part[-1]][1]
        wound = self._turned(skel, m, last, references) - self._turned(skel, m, first, references)
        if b.carrier:  # neither lengths nor directions change
            return wound
        for k in part:
            i, j = b.spans[k]
            wound = wound + spans[k].length + self._bent(skel, m, i, spans[k].u, 1) - self._bent(skel, m, j, spans[k].u, 0)
        return wound - b.rests[row]

    def _turned(self, skel: Skeleton, m: Motion, i: int, references: Any) -> Any:
        """Belt that a pulley has taken up by its joint, as the belt runs."""
        p = self.belt.pulleys[i]
        if not p.joint:
            return 0.0
        joint = skel.tree.description.joint(p.joint)
        q = joint_rate(skel, m, joint, references[p.joint]).q[0] - self.counted[i]
        return (p.turn if joint.second == p.body else -p.turn) * self.belt.radii[i] * q

    def _bent(self, skel: Skeleton, m: Motion, i: int, u: Any, side: int) -> Any:
        """s r times the angle of a span before (0) or after (1) a pulley, in the axes of its carrier from the direction that is drawn."""
        p = self.belt.pulleys[i]
        if p.turn == 0.0:
            return 0.0
        R = node_motion(skel, m, skel.node(p.carrier))[0].R
        angle = 0.25 * np.pi * p.toward[side]
        e = R @ array([np.cos(angle), np.sin(angle), 0.0])
        return p.turn * self.belt.radii[i] * arctan2(e[0] * u[1] - e[1] * u[0], e[0] * u[0] + e[1] * u[1])

    def ties(self, skel: Skeleton) -> list[tuple[str, str, float, float]]:
        """(joint, other joint, ratio, offset) with q_other = ratio q + offset, of a closed belt on one carrier."""
        b, d, out = self.belt, skel.tree.description, []
        taken = [p.turn * b.radii[i] * (1.0 if p.joint and d.joint(p.joint).second == p.body else -1.0) for i, p in enumerate(b.pulleys)]
        for part in b.rows if b.carrier else ():
            i, j = b.spans[part[0]][0], b.spans[part[-1]][1]
            ratio = float(taken[i] / taken[j])
            out.append((b.pulleys[i].joint, b.pulleys[j].joint, ratio, float(self.counted[j] - ratio * self.counted[i])))
        return out

    # ---------------------------------------------------------------- tensions

    def tensions(self, skel: Skeleton, m: Motion, lam: Any) -> list[Any]:
        """Tension of every span. Where one body carries all pulleys: with a pretension the mean over the lengths of the spans is that, as
        in an elastic belt; without one the slackest span has none."""
        spans, b = self.spans(skel, m), self.belt
        own = [-lam[row] for row in range(len(b.rows))] + ([0.0] if b.carrier else [])
        common = self._common(spans, own)
        found: list[Any] = [0.0] * len(spans)
        for part, tension in zip(b.parts, own, strict=True):
            for k in part:
                found[k] = tension + common
        return found

    def _common(self, spans: list[BeltSpan], own: list[Any]) -> Any:
        """Tension that all spans of a closed belt on one carrier have beyond their multipliers."""
        b = self.belt
        if not b.carrier:
            return 0.0
        if b.pretension is None:
            return -reduce(minimum, own)
        lengths = [sum((spans[k].length for k in part), 0.0) for part in b.parts]
        return b.pretension - sum((x * y for x, y in zip(lengths, own, strict=True)), 0.0) / sum(lengths, 0.0)

    def workless_wrenches(self, skel: Skeleton, m: Motion, lam: Any) -> list[tuple[int, Any]]:
        """Wrenches on the pulleys of the tension that all spans have in common."""
        spans, b = self.spans(skel, m), self.belt
        if not b.carrier:
            return []
        common = self._common(spans, [*(-lam[row] for row in range(len(b.rows))), 0.0])
        return [(node, common * wrench) for span in spans for node, wrench in _pulls(span)]

    def wrenches(self, skel: Skeleton, m: Motion, lam: Any) -> list[tuple[int, Any, Any]]:
        """(node, wrench, tangent point) of every end of every span."""
        out = []
        for span, tension in zip(self.spans(skel, m), self.tensions(skel, m, lam), strict=True):
            pulls = zip(_pulls(span), (span.start, span.end), strict=True)
            out += [(node, tension * wrench, at) for (node, wrench), at in pulls]
        return out


def _pulls(span: BeltSpan) -> list[tuple[int, Any]]:
    """Wrenches of a unit tension on the bodies at the two ends of a span."""
    return [(span.first, point_wrench(span.arm_first, span.u)), (span.second, point_wrench(span.arm_second, -span.u))]


def center_on(skel: Skeleton, p: Pulley) -> Any:
    """Center of a pulley on the body that the belt touches."""
    d = skel.tree.description
    if not p.joint:
        return array(d.point((p.body, p.point)).at)
    joint = d.joint(p.joint)
    return pose_of(joint.frame_second if joint.second == p.body else joint.frame_first).p

"""A coupling of joints, q_second = f(q_first) + sum of c q: f is a ratio with an offset, a polynomial, moves by motion laws, or a table
(monotone by default).

Belts, cables, differentials and transmissions whose inside is of no interest: the joints feel torques, with no
force between the bodies besides them; a cam adds the contact force at its place (`cam`). For the tooth force use a gear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.base import ConstraintRows
from linkwright.mechanics.constraints.cam import CamGeometry
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, joint_rate
from linkwright.model.curves import Curve
from linkwright.model.curves.polynomial import Line, Polynomial
from linkwright.model.curves.profiles import Program, repeated
from linkwright.model.curves.tables import table
from linkwright.model.description import Coupling, Joint
from linkwright.numerics.memory_and_threads import Store

CAMS: Store[str, CamGeometry] = Store()  # by name


def cam_of(skel: Skeleton, name: str) -> CamGeometry:
    """The geometry of a cam of the mechanism."""
    known = CAMS.of(skel)
    if name not in known:
        made = next(c for c in skel.tree.description.cams if c.name == name)
        cam = CouplingConstraint.of(skel, made).cam
        assert cam is not None
        known[name] = cam
    return known[name]


def coupling_curve(c: Coupling) -> Curve | None:
    """The follower's coordinate over the driver's by a table, a polynomial or moves; None of a ratio."""
    if c.table is not None:
        return table(c.table.x, c.table.y, c.table.interpolation, straight=True)
    if c.polynomial:
        return Polynomial(c.polynomial)
    if c.moves:
        program = Program.of(c.begin, c.moves, c.phase, repeats=c.repeats)
        return repeated(program) if c.repeats else program
    return None


@dataclass(frozen=True)
class CouplingConstraint:
    name: str
    first: Joint
    second: Joint
    law: Curve
    plus: tuple[tuple[Joint, Any], ...] = ()  # further joints, and what their coordinates are multiplied by
    labels: tuple[str, ...] = ("ratio",)
    cam: CamGeometry | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        return joints.create(self.second.type, self.second.options).coordinate_kinds[:1]

    @classmethod
    def of(cls, skel: Skeleton, c: Coupling) -> CouplingConstraint:
        d = skel.tree.description
        first, second = d.joint(c.first), d.joint(c.second)
        plus = tuple((d.joint(name), factor) for name, factor in c.plus)
        law = coupling_curve(c)
        if law is not None and c.cam is not None:
            cam = CamGeometry.of(d, c, law)
            return cls(c.name, first, second, cam.law, plus, cam=cam)
        if law is not None:
            return cls(c.name, first, second, law, plus)
        offset = c.offset
        if offset is None:
            start = skel.start_coordinates
            offset = start[c.second][0] - c.ratio * start[c.first][0] - sum((x * start[name][0] for name, x in c.plus), 0.0)
        return cls(c.name, first, second, Line(offset, c.ratio), plus)

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        a, b = (joint_rate(skel, m, j, references[j.name]) for j in (self.first, self.second))
        f, df, ddf = self.law(a.q[0])
        G = [(b.first, b.G_first), (b.second, b.G_second), (a.first, -df * a.G_first), (a.second, -df * a.G_second)]
        phi = b.q[0] - f
        k = b.bias - df * a.bias - ddf * a.v * a.v
        for j, factor in self.plus:
            x = joint_rate(skel, m, j, references[j.name])
            G += [(x.first, -factor * x.G_first), (x.second, -factor * x.G_second)]
            phi, k = phi - factor * x.q[0], k - factor * x.bias
        return ConstraintRows(np.array([phi]), G, k, np.zeros(1))

    def lifted(self, skel: Skeleton) -> float:
        """1 where the follower leaves the disc as the residual grows, -1 where it falls."""
        assert self.cam is not None
        return 1.0 if float(np.real(self.cam.at(skel.start_coordinates[self.first.name][0]).work)) > 0.0 else -1.0

    def coordinate(self, skel: Skeleton, m: Motion, references: Any) -> Any:
        """The driving joint's coordinate."""
        return joint_rate(skel, m, self.first, references[self.first.name]).q[0]

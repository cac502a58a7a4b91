"""A coupling of two joints, q_second = f(q_first): a ratio with an offset, or a table (monotone by default).

Belts, cables and transmissions whose inside is of no interest: the joints feel torques, with no
force between the bodies besides them. For the tooth force at its place use a gear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.base import ConstraintRows
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, joint_rate
from linkwright.model.curves import Curve
from linkwright.model.curves.lines import Line
from linkwright.model.curves.tables import table
from linkwright.model.description import Coupling, Joint


@dataclass(frozen=True)
class CouplingConstraint:
    name: str
    first: Joint
    second: Joint
    law: Curve
    labels: tuple[str, ...] = ("ratio",)

    @property
    def kinds(self) -> tuple[str, ...]:
        return joints.create(self.second.type, self.second.options).coordinate_kinds[:1]

    @classmethod
    def of(cls, skel: Skeleton, c: Coupling) -> CouplingConstraint:
        d = skel.tree.description
        first, second = d.joint(c.first), d.joint(c.second)
        if c.table is not None:
            return cls(c.name, first, second, table(c.table.x, c.table.y, c.table.interpolation, straight=True))
        start = skel.start_coordinates
        offset = start[c.second][0] - c.ratio * start[c.first][0] if c.offset is None else c.offset
        return cls(c.name, first, second, Line(offset, c.ratio))

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        a, b = (joint_rate(skel, m, j, references[j.name]) for j in (self.first, self.second))
        q_a, q_b = a.q[0], b.q[0]
        f, df, ddf = self.law(q_a)
        G = [(b.first, b.G_first), (b.second, b.G_second), (a.first, -df * a.G_first), (a.second, -df * a.G_second)]
        k = b.bias - df * a.bias - ddf * a.v * a.v
        return ConstraintRows(np.array([q_b - f]), G, k, np.zeros(1))

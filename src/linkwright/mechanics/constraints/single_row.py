"""One row of a constraint by itself, held at a value of its residual: an end of the play of gears, a cam that may lift off, a taut rope.

`rows_of` names every row that has a travel in a run (`row_travel` of its element), as `NAME.LABEL`; `held_row` is one of them, or the row
of a coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import elements
from linkwright.mechanics.constraints import CONSTRAINTS
from linkwright.mechanics.constraints.base import Constraint, ConstraintRows
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.kinematics.motion import Motion, Skeleton
from linkwright.model.curves.polynomial import Line


@dataclass(frozen=True)
class SingleRow:
    """Row `index` of a constraint at the value `at`."""

    of: Constraint
    index: int
    at: Any

    @property
    def name(self) -> str:
        return self.of.name

    @property
    def labels(self) -> tuple[str, ...]:
        return self.of.labels[self.index : self.index + 1]

    @property
    def kinds(self) -> tuple[str, ...]:
        return self.of.kinds[self.index : self.index + 1]

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        found, pick = self.of.rows(skel, m, v, t, references), slice(self.index, self.index + 1)
        G = [(node, entries[pick]) for node, entries in found.G]
        return ConstraintRows(found.phi[pick] - self.at, G, found.k[pick], np.asarray(found.b)[pick])


def free_rows(skel: Skeleton) -> dict[str, SingleRow]:
    """Rows of constraints that have a travel in a run, at zero, by name."""
    out = {}
    for x in elements.constraints(skel.tree.description):
        if x.row_travel is not None:
            made = CONSTRAINTS[x.constraint](skel, x)
            out |= {f"{x.name}.{label}": SingleRow(made, i, 0.0) for i, label in enumerate(made.labels)}
    return out


def held_row(skel: Skeleton, name: str, at: float) -> Constraint:
    """The row that holds a coordinate, or a row of a constraint by name, at a value."""
    own = free_rows(skel).get(name)
    return driven(skel.tree.description, name, Line(at, 0.0)) if own is None else SingleRow(own.of, own.index, at)

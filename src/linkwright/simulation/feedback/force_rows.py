"""Forces a hybrid controller holds at wanted values, affine in the drives' efforts as accelerations are.

    C.y             a multiplier of a closing constraint, by the names of `lam` (C alone where it has one row)
    C.on.rod.x      the force of a joint on a body along an axis of the world, cut joint or not

House sign: M a + h = tau + J' lam; the lambda of [Aghili2005] is -lam.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright import elements
from linkwright.drives.base import DriveTarget
from linkwright.errors import UsageError, nearest
from linkwright.kernels.equations.dynamic import Equations
from linkwright.model.description import Description
from linkwright.numerics.linalg import factor
from linkwright.simulation.feedback.controller_inputs import Situation
from linkwright.simulation.feedback.drive_response import Response

UNIQUE = 1e-7  # of a self-stress whose multipliers are of size one, lengths in kappa: a force that it changes by less is determined


@dataclass(frozen=True)
class Multiplier:
    """An entry of lam."""

    name: str
    kind: str  # force or torque

    def affine(self, at: Situation, r: Response, eq: Equations) -> tuple[Any, Any]:
        """Its row depends on which constraints hold, which may differ between a mechanism and a model of it."""
        row = _labels(eq).index(self.name)
        return r.lam[row], r.L[row]

    def of_stress(self, eq: Equations, place: Any, Z: np.ndarray) -> np.ndarray:
        """Changes of this force by each self-stress, a column of multipliers."""
        return Z[_labels(eq).index(self.name)]


@dataclass(frozen=True)
class Reaction:
    """A component of the force of a joint on one of its bodies."""

    name: str
    joint: str
    sign: float
    axis: int
    kind: str = "force"

    def affine(self, at: Situation, r: Response, eq: Equations) -> tuple[Any, Any]:
        """Value without efforts, and per unit effort of each drive."""
        targets, place = at.bound.targets, eq.joint_axis_terms(at.q, at.v, at.t, at.cut).place
        beside = at.other_wrenches if r is not at.model else []  # a model knows nothing of what else pushes
        base = self._component(eq, place, r.a, r.lam, beside)
        row = []
        for j, target in enumerate(targets):
            push = [*beside, *_push(place, target)]
            row.append(self._component(eq, place, r.a + r.G[:, j], r.lam + r.L[:, j], push) - base)
        return base, np.array(row)

    def of_stress(self, eq: Equations, place: Any, Z: np.ndarray) -> np.ndarray:
        """Changes of this force by each self-stress, a column of multipliers."""
        still = np.zeros(eq.loops.skel.tree.nv)
        base = self._component(eq, place, still, np.zeros(len(Z)), ())
        return np.array([self._component(eq, place, still, z, ()) - base for z in Z.T])

    def _component(self, eq: Equations, place: Any, a: Any, lam: Any, push: Sequence[tuple[int, Any]]) -> Any:
        return self.sign * eq._wrenches(place, a, lam, push)[eq.joints.index(self.joint)][3 + self.axis]


def _labels(eq: Equations) -> list[str]:
    return [f"{c.name}.{label}" for c in eq.loops.constraints for label in c.labels]


def _push(place: Any, target: DriveTarget) -> list[tuple[int, Any]]:
    """Wrenches of a unit effort on bodies; an effort in a joint of the tree acts inside that joint and is none."""
    if target.entry is not None:
        return []
    return list(target.pushes(place, 1.0))


ForceRow = Multiplier | Reaction


def force_row(description: Description, lam: Sequence[str], kinds: Sequence[str], name: str) -> ForceRow:
    """The force of a name."""
    alone = [x for x in lam if x.partition(".")[0] == name]
    if name in lam or len(alone) == 1:
        row = list(lam).index(name if name in lam else alone[0])
        return Multiplier(lam[row], "force" if kinds[row] == "length" else "torque")
    parts = name.split(".")
    letters = description.plane or "xyz"
    if len(parts) == 4 and parts[1] == "on" and parts[3] in letters:
        joint = next((j for j in description.joints if j.name == parts[0]), None)
        if joint is not None and parts[2] in (joint.first, joint.second):
            _check_affine(description, joint.name)
            return Reaction(name, joint.name, 1.0 if parts[2] == joint.second else -1.0, letters.index(parts[3]))
    known = [*lam, *(f"{j.name}.on.{b}.{x}" for j in description.joints for b in (j.first, j.second) for x in letters)]
    raise UsageError(f"force: '{name}' is neither a multiplier nor a force of a joint on a body.", nearest(name, known, "Known"))


class IndeterminateForces(NamedTuple):
    """Forces that redundant constraints leave open  [Aghili2005 remark 5]."""

    among: dict[str, list[str]]  # each with the multipliers it shares a load with
    lost: list[str]  # multipliers that follow from those named before them, or that no load reaches: they cannot be held as well


def indeterminate(eq: Equations, x: Mapping[str, Any], rows: Sequence[ForceRow]) -> IndeterminateForces:
    """J' lam is always determined, lam is not where rows of J depend on each other: a force is open if a self-stress, J' Z = 0, changes it.

    Of multipliers only the part in the range of J can be controlled, e (1 - W W') of a row e, and no more of them than are independent.
    """
    place = eq.joint_axis_terms(x["q"], x["v"], x["t"], x["near"]).place
    assert place is not None
    W = eq.loops.factored(place.closure).left_null  # of dimensionless rows
    labels, shares = _labels(eq), {}
    for row in rows:
        size = eq.loops.kappa if row.kind == "force" else 1.0
        touched = size * row.of_stress(eq, place, W / eq.loops.row_scale[:, None])
        if np.abs(touched).max(initial=0.0) > UNIQUE:
            shares[row.name] = W @ touched  # does not depend on the basis of the self-stresses
    among = {name: [n for n, x in zip(labels, np.abs(s), strict=True) if x > UNIQUE * np.abs(s).max()] for name, s in shares.items()}
    held = [row.name for row in rows if isinstance(row, Multiplier)]
    parts, lost = np.eye(len(W))[[labels.index(n) for n in held if n not in shares]], []
    for name in (n for n in held if n in shares):
        more = np.concatenate([parts, np.eye(len(W))[[labels.index(name)]] - shares[name]])
        if factor(more, UNIQUE).rank < len(more):
            lost.append(name)
        else:
            parts = more
    return IndeterminateForces(among, lost)


def _check_affine(description: Description, joint: str) -> None:
    """Forces of bearings are no line in the efforts where teeth press wheels apart or a belt has a pretension."""
    for why in filter(None, (x.bends(joint) for x in elements.constraints(description))):
        raise UsageError(f"force: '{joint}' {why}", name=joint)

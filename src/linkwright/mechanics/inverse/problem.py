"""The inverse problem at one state: which efforts and multipliers carry a known motion.

    J' lam + B u = g,        g = M a + h

g is what the motion needs in the tree's coordinates (forces of the model already counted in), B the columns of the
drives. More columns than rank: the answer is not unique and is chosen afterwards; g outside their span: a degree of freedom
without a drive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, listing
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import Terms, terms
from linkwright.mechanics.instant import Instant
from linkwright.model.coordinates import coordinate
from linkwright.model.description import Description
from linkwright.numerics.linalg import Factored, factor
from linkwright.properties import cached_property

UNDRIVEN = 1e-8  # share of the needed effort that may be missing
_LATE = ("I", "bias", "blocks", "k_parts", "order")


class LateTerms(Terms):
    """Terms of which only what the inverse reads is there; inertias and blocks are computed when somebody asks."""

    def __init__(self, place: Instant):
        loops, c = place.loops, place.closure
        spans = tuple(s.v for s in loops.skel.tree.subsystems)
        names = tuple(x.name for x in loops.constraints)
        known = {"columns": loops.columns, "row_scale": loops.row_scale, "names": names, "place": place}
        vars(self).update(known, J=c.J, k=c.k, rows=c.rows, spans=spans)

    def __getattr__(self, name: str) -> Any:
        if name not in _LATE:
            raise AttributeError(name)
        p: Instant = vars(self)["place"]
        whole = terms(p.loops, p.q, p.v, p.t, p.references, p.external)
        vars(self).update({each: getattr(whole, each) for each in _LATE})
        return vars(self)[name]


@dataclass(frozen=True)
class InverseProblem:
    """Terms at a state with the accelerations, and the drives that may push."""

    terms: Terms
    place: Instant
    a: np.ndarray
    drives: tuple[str, ...]
    pushes: tuple[tuple[tuple[int, Any], ...], ...]  # wrenches of a unit effort of each drive

    @cached_property
    def g(self) -> np.ndarray:
        """M a + h, by recursion: M itself is not needed."""
        place = self.place
        skel = place.loops.skel
        rotors = dynamics.rotor_efforts(skel, place.rotors, self.a) if place.rotors else 0.0
        return dynamics.inverse_tree(skel, place.motion, self.a, place.external) + rotors

    @cached_property
    def B(self) -> np.ndarray:
        """(nv, drives): generalized force of a unit effort."""
        skel, m = self.place.loops.skel, self.place.motion
        columns = [dynamics.generalized(skel, m, push) for push in self.pushes]
        return np.array(columns).T if columns else np.zeros((self.terms.nv, 0))

    @cached_property
    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """(of equations, of unknowns) that make [J' B] dimensionless: efforts like the coordinates they push."""
        c = self.terms.columns
        sizes = np.sqrt(np.sum((self.B * c[:, None]) ** 2, axis=0))
        return c, np.concatenate([self.terms.row_scale, np.where(sizes > 0.0, sizes, 1.0)])

    @cached_property
    def matrix(self) -> np.ndarray:
        """[J' B], dimensionless."""
        c, r = self.scales
        return np.concatenate([self.terms.J.T, self.B], axis=1) * c[:, None] / r

    @cached_property
    def factors(self) -> Factored:
        return factor(self.matrix)

    @cached_property
    def self_stress(self) -> np.ndarray:
        """Columns: changes of (lam, u) that move nothing."""
        return self.factors.null / self.scales[1][:, None]

    @cached_property
    def missing(self) -> np.ndarray:
        """The part of the needed effort that no drive and no constraint can give, dimensionless."""
        need = self.g * self.scales[0]
        return self.factors.left_null @ (self.factors.left_null.T @ need)

    @cached_property
    def driven(self) -> bool:
        need = float(np.abs(self.g * self.scales[0]).max(initial=0.0))
        return bool(np.abs(self.missing).max(initial=0.0) <= UNDRIVEN * (1.0 + need))

    def check_driven(self) -> None:
        """Every degree of freedom that needs an effort must have a drive that can give it."""
        if self.driven:
            return
        missing = self.missing
        names = [n.joint.name for n in self.place.loops.skel.tree.nodes for _ in range(n.v.stop - n.v.start)]
        loose = list(dict.fromkeys(names[i] for i in np.argsort(-np.abs(missing)) if abs(missing[i]) > 1e-3 * np.abs(missing).max()))
        raise UsageError(
            f"no drive acts on the degree of freedom in which {listing(loose[:6])} {'move' if len(loose) > 1 else 'moves'}. "
            f"Drives: {listing(self.drives) or 'none'}. "
            "Springs and other forces do not balance it at this position with these accelerations. Name one of these joints in drives=, or "
            "give its own motion: accelerations of s.forward(st, ...), at rest a position of m.settle(hold=[...]).",
            name="drives",
        )


def unit_pushes(desc: Description, at: Instant, drives: Sequence[str]) -> tuple[tuple[tuple[int, Any], ...], ...]:
    """Wrenches on bodies of a unit effort of each drive: a joint's torque or force, a cylinder's push."""
    return tuple(tuple(at.along(coordinate(desc, name))) for name in drives)

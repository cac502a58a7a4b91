"""Loads of a motion whose accelerations, multipliers and efforts are known already: a simulated one.

Nothing is solved. The wrench in every joint follows body by body from the accelerations, the forces of the model, the
multipliers and the efforts that really acted, so it belongs to the motion as it was, whoever drove it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.reactions import JointWrench, at_joint
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.loads import Loads
from linkwright.mechanics.inverse.methods import Solved
from linkwright.mechanics.inverse.problem import InverseProblem, LateTerms
from linkwright.model.coordinates import JointCoordinate, coordinate_or_none, joint_part
from linkwright.model.description import Description
from linkwright.numerics.scalars import is_symbolic
from linkwright.numerics.spatial import cross
from linkwright.properties import cached_property
from linkwright.topology.tree import Tree

UNBALANCED = 1e-6  # share of the largest effort that nothing recorded accounts for


class Acted(NamedTuple):
    """Efforts and multipliers that acted in a motion besides the forces of the model."""

    lam: Any  # rows of the tree's loops
    efforts: Mapping[str, Any]  # by coordinate or cylinder
    wrenches: Mapping[str, Any]  # by body: [moment; force] at its origin, world axes
    exact: bool = True  # False between samples, where they are interpolated and balance only about
    rubbing: Mapping[str, Any] = MappingProxyType({})  # friction by load, by coordinate; of a run all friction that sticks
    stops: Mapping[str, Any] = MappingProxyType({})  # pushes of rigid stops, by coordinate: a part of the efforts
    solved: bool = False  # True where the efforts are those that the motion needs: nothing is left to balance
    reactions: Any = None  # (joints, 6), where they are known: [moment; force] of each on its second body, world axes


@dataclass(frozen=True)
class LoadsByReactions(Loads):
    """Loads with known reactions of the joints."""

    reactions: Any = field(default=None, repr=False)

    @cached_property
    def _wrenches(self) -> dict[str, JointWrench]:
        names = [j.name for j in self.skel.tree.description.joints]
        rows = zip(names, self.reactions, strict=True)
        return {name: JointWrench(name, w[:3], w[3:], at_joint(self.place, name).point) for name, w in rows}


def loads_of_known_motion(loops: Loops, q: Any, v: Any, a: Any, t: Any, references: Mapping[str, Any], acted: Acted) -> Loads:
    """The Loads of a state with known accelerations, multipliers, efforts and wrenches.

    The effort of a tree joint is what its equation of motion leaves: what the shaft hands over, a rotor's own inertia taken off.
    """
    skel, lam = loops.skel, acted.lam
    d = skel.tree.description
    at = Instant(skel, q, v, t, references)
    friction = forces.VISCOUS if acted.rubbing and not acted.solved else forces.SHARP  # runs record all of it
    acting = [(f.from_outside, w) for f in forces.of_description(d, friction) for w in f.wrenches(at)]
    acting += [(True, (skel.node(body), at_origin(at, skel.node(body), w))) for body, w in acted.wrenches.items()]
    acting += [(False, w) for name, x in acted.rubbing.items() for w in _rubbing(at, name, x)]
    place = Instant(skel, q, v, t, references, loops=loops, motion=at.motion, external=[w for _, w in acting])
    T = LateTerms(place)
    names = tuple(acted.efforts)
    p = InverseProblem(T, place, a, names, tuple(tuple(unit_push(d, at, name)) for name in names))
    u = np.array([acted.efforts[name] for name in names])
    outside = tuple(w for from_outside, w in acting if from_outside)
    given = p, lam, u, np.zeros((T.nc + len(names), 0)), Solved(lam, u, ()), "given", outside
    loads = Loads(*given) if acted.reactions is None else LoadsByReactions(*given, reactions=acted.reactions)
    if acted.solved:
        return loads
    u, left = _balanced(loads)
    if is_symbolic(q):
        return replace(loads, u=u)
    if acted.exact:
        _check(loads, left)
    resting = [i for i, name in enumerate(names) if np.any(acted.stops.get(name, 0.0))]  # rows like any others
    stress = InverseProblem(T, place, a, tuple(names[i] for i in resting), tuple(p.pushes[i] for i in resting)).self_stress
    stresses = np.zeros((T.nc + len(names), stress.shape[1]))
    stresses[[*range(T.nc), *(T.nc + i for i in resting)]] = stress
    return replace(loads, u=u, self_stresses=stresses, solved=Solved(lam, u, ()))


def _rubbing(at: Instant, name: str, effort: Any) -> forces.Wrenches:
    """Friction in a joint's coordinate, as wrenches on its bodies."""
    joint, (i,) = joint_part(at.skel.tree.description, name)
    return forces.joint_effort(at, joint, effort, i)


def unit_push(d: Description, at: Instant, name: str) -> forces.Wrenches:
    found = coordinate_or_none(d, name)
    if found is None:
        raise UsageError(f"an effort of '{name}' was recorded, but there is no such joint, coordinate or cylinder.", name=name)
    return at.along(found)


def driven_rows(tree: Tree, names: Sequence[str]) -> dict[int, int]:
    """Indices of the efforts that act in joints of the tree, and their entries of v."""
    d, out = tree.description, {}
    for i, name in enumerate(names):
        found = coordinate_or_none(d, name)
        if isinstance(found, JointCoordinate) and found.joint.name in tree.node_of_joint:
            out[i] = tree.nodes[tree.node_of_joint[found.joint.name]].v.start + found.v
    return out


def unaccounted(loads: Loads) -> Any:
    """M a + h - J' lam less the efforts that do not act in the tree's joints: what those in the tree's joints had to be."""
    p = loads.problem
    others = [i for i in range(len(p.drives)) if i not in driven_rows(p.place.loops.skel.tree, p.drives)]
    return p.g - p.terms.J.T @ loads.lam_all - p.B[:, others] @ loads.u[others]


def _balanced(loads: Loads) -> tuple[Any, Any]:
    """Efforts of tree joints from their own rows of M a + h - J' lam = tau, the others as they were recorded; and what is left."""
    out, left = loads.u.copy(), unaccounted(loads)
    if is_symbolic(left):
        out = out.astype(object)
    for i, row in driven_rows(loads.problem.place.loops.skel.tree, loads.problem.drives).items():
        out[i], left[row] = left[row], 0.0
    return out, left


def _check(loads: Loads, left: np.ndarray) -> None:
    p = loads.problem
    tree, columns = p.place.loops.skel.tree, p.terms.columns
    size = max(np.abs(x * columns).max(initial=0.0) for x in (p.g, p.terms.J.T @ loads.lam_all))
    if np.abs(left * columns).max(initial=0.0) > UNBALANCED * max(size, 1.0):
        names = [n.joint.name for n in tree.nodes for _ in range(n.v.stop - n.v.start)]
        raise UsageError(
            f"the loads of this run cannot be determined: an effort or wrench acted on '{names[int(np.argmax(np.abs(left * columns)))]}' "
            "that was not recorded, the loops have drifted apart, or the multipliers belong to other parameters.",
            name="loads",
        )


def at_origin(at: Instant, node: int, w: Any) -> Any:
    """A wrench at a body's origin, taken at its subsystem's."""
    return np.concatenate([w[:3] + cross(at.motion.X[node].p, w[3:]), w[3:]])

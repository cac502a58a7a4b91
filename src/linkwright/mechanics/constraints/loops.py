"""The loops of a mechanism in dimensionless form: constraints together with the scales of their rows and columns.

Ranks, norms and Newton steps only make sense when meters and radians are comparable. `Loops` joins a skeleton
and its constraints with the characteristic length, and is what assembly, formulations and simulation hold on to.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from linkwright import elements
from linkwright.mechanics.constraints import CONSTRAINTS, Constraint, ConstraintRows
from linkwright.mechanics.constraints.base import BodyAxisRows
from linkwright.mechanics.constraints.cut_joint import CutJoint
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, counted_references, displaced, motion
from linkwright.mechanics.kinematics.skeleton import joint_points, placed_part, velocity_kinds
from linkwright.model.description import Joint
from linkwright.numerics.linalg import Factored, SparseMatrix, factor
from linkwright.numerics.memory_and_threads import essentials
from linkwright.numerics.scalars import common_type
from linkwright.properties import cached_property
from linkwright.topology.solution_order import elimination_order

# ---------------------------------------------------------------- all closing constraints stacked: phi(t, q), J(q), k(q, v), b(t)
#     phi = 0        J v + b = 0        J a + k = 0
#
# Rows come loop by loop in the order of the tree (cut joints, rods, couplings, gears), then the drivers
# that were handed in. `blocks` gives the same J as its nonzero pieces J_ij, loop i against subsystem j
# [Koul2013 (12)-(13)].

DENSE = 300_000  # entries of J up to which it is dense


@dataclass(frozen=True)
class Closure:
    """The stacked constraint equations at one motion; J is stored as its nonzero blocks and put together on demand."""

    __getstate__ = essentials

    phi: Any  # (nc,)
    k: Any  # (nc,)
    b: Any  # (nc,)
    rows: tuple[slice, ...]  # of each constraint
    parts: tuple[ConstraintRows, ...]  # what each constraint said
    blocks: dict[tuple[int, int], Any]  # (constraint, subsystem) -> J_ij
    columns: tuple[slice, ...]  # velocities of each subsystem
    turns: dict[int, Any] = field(default_factory=dict)  # constraint -> how its multipliers are reported, where rows are along body axes
    places: tuple[np.ndarray, np.ndarray] | None = None  # rows and columns of the entries of all blocks, where J is a SparseMatrix

    @cached_property
    def J(self) -> Any:
        """(nc, nv), dense; of a large mechanism with like subsystems a SparseMatrix."""
        if self.places is not None:
            data = np.concatenate([np.ravel(x) for x in self.blocks.values()])
            if data.dtype.kind == "f":
                return SparseMatrix.of(data, *self.places, (len(self.k), self.columns[-1].stop))
        J = np.zeros((len(self.k), self.columns[-1].stop if self.columns else 0), dtype=common_type(self.k, *self.blocks.values()))
        for (i, j), block in self.blocks.items():
            J[self.rows[i], self.columns[j]] = block
        return J


def closure(
    skel: Skeleton,
    m: Motion,
    v: Any,
    t: Any = 0.0,
    *,
    constraints: Sequence[Constraint] | None = None,
    references: Mapping[str, Any] | None = None,
    body_axes: str = "",
) -> Closure:
    """Evaluate constraints (default: those of the tree's loops) at a motion. `body_axes` names the body ("first" or
    "second") of every cut joint along whose axes rows are taken instead of the standard ones (`reported` turns multipliers back)."""
    constraints = of_loops(skel) if constraints is None else constraints
    references = skel.start_coordinates if references is None else references
    shared = {} if m.like is None else like_rows(m, constraints, references, body_axes)
    every = [shared[i] if i in shared else _rows_of(skel, m, v, t, c, references, body_axes) for i, c in enumerate(constraints)]
    parts = tuple(x.rows for x in every)
    ends = np.cumsum([0, *(len(p.k) for p in parts)])
    rows = tuple(slice(int(a), int(b)) for a, b in itertools.pairwise(ends))
    columns = tuple(s.v for s in skel.tree.subsystems)
    blocks = {(i, j): block for i, x in enumerate(every) for j, block in x.blocks.items()}
    phi, k, b = (_stack([getattr(p, name) for p in parts]) for name in ("phi", "k", "b"))
    turns = {i: x.turn for i, x in enumerate(every) if x.turn is not None}
    large = m.like is not None and len(k) * (columns[-1].stop if columns else 0) > DENSE
    return Closure(phi, k, b, rows, parts, blocks, columns, turns, _places(m, rows, columns, tuple(blocks)) if large else None)


def _places(m: Motion, rows: tuple[slice, ...], columns: tuple[slice, ...], keys: tuple[tuple[int, int], ...]) -> Any:
    """Rows and columns of the entries of blocks, found once for the like parts of a mechanism."""
    assert m.like is not None
    known = m.like.tables.get("places")
    if known is None or known[0] != keys:
        width = columns[-1].stop
        every = np.concatenate([block_places(rows[i], columns[j], width) for i, j in keys])
        known = m.like.tables["places"] = keys, (every // width, every % width)
    return known[1]


def _rows_of(skel: Skeleton, m: Motion, v: Any, t: Any, c: Constraint, references: Mapping[str, Any], body_axes: str) -> BodyAxisRows:
    """Rows of one constraint with its blocks; `turn` is None where they are the standard ones."""
    found = c.body_axis_rows(skel, m, references, body_axes) if body_axes and isinstance(c, CutJoint) else None
    if found is not None:
        return found
    rows = c.rows(skel, m, v, t, references)
    return BodyAxisRows(rows, _blocks(skel, m, v, rows), None)


def block_places(rows: slice, columns: slice, width: int) -> np.ndarray:
    """Places of a block in a dense matrix of that width, row by row."""
    return (np.arange(rows.start, rows.stop)[:, None] * width + np.arange(columns.start, columns.stop)).ravel()


def reported(c: Closure, lam: Any) -> Any:
    """Multipliers of economical rows as those of the standard rows."""
    return _stack([c.turns[i] @ lam[r] if i in c.turns else lam[r] for i, r in enumerate(c.rows)])


def _blocks(skel: Skeleton, m: Motion, v: Any, part: ConstraintRows) -> dict[int, Any]:
    """J_ij of one constraint for every subsystem it touches: its G along the paths to ground."""
    nodes, out = skel.tree.nodes, {}
    for node, G in part.G:
        if node < 0:
            continue
        j = nodes[node].subsystem
        span = skel.tree.subsystems[j].v
        if j not in out:
            out[j] = np.zeros((len(part.k), span.stop - span.start), dtype=common_type(v, m.S[node], *(g for _, g in part.G)))
        for i in skel.tree.support(node):
            out[j][:, nodes[i].v.start - span.start : nodes[i].v.stop - span.start] += G @ m.S[i]
    return out


# ---------------------------------------------------------------- like cut joints


def like_rows(m: Motion, constraints: Sequence[Constraint], references: Mapping[str, Any], body_axes: str) -> dict[int, BodyAxisRows]:
    """Rows of the cut joints, by number: traced once a class."""
    like = m.like
    cuts = {c.joint.name: (i, c) for i, c in enumerate(constraints) if isinstance(c, CutJoint)}
    kinds = {x.dtype.kind for x in (m.q, m.v, *(references[name] for name in cuts))}
    if like is None or not kinds <= {"f", "O"}:
        return {}
    out: dict[int, BodyAxisRows] = {}
    joints = [c.joint for _, c in cuts.values()]
    for (_, near), group in like.cut_groups(joints, {name: len(references[name]) for name in cuts}).items():
        first, ends = cuts[group[0][0].name][1], group[0][1]
        function = partial(_traced_rows, like.part(ends), first, m.world_axes, body_axes)
        code = like.code(("rows", first.name, m.world_axes, body_axes), like.width(ends) + near, function)
        if code is None:
            continue
        rows = [[*like.placed(e, m.q, m.v), *references[joint.name].tolist()] for joint, e in group]
        for (joint, e), found in zip(group, like.evaluated(code, rows, kinds == {"f"}), strict=True):
            out[cuts[joint.name][0]] = _put_back(like.skel, joint, e, found)
    return out


def _traced_rows(own: Skeleton, c: CutJoint, world_axes: bool, body_axes: str, x: Any) -> list[Any]:
    """phi, k, b, how multipliers are reported, then G of both ends and J of every subsystem, on a skeleton of the two subsystems."""
    placed, moving, q, v, near = placed_part(own, x)
    found = _rows_of(placed, motion(moving, q, v, world_axes=world_axes), v, 0.0, c, {c.name: near}, body_axes)
    r = found.rows
    turn = np.zeros(0) if found.turn is None else found.turn
    return [r.phi, r.k, r.b, turn, *(G for _, G in r.G), *(found.blocks[j] for j in range(len(own.tree.subsystems)))]


def _put_back(skel: Skeleton, joint: Joint, ends: tuple[int, ...], found: list[Any]) -> BodyAxisRows:
    """Rows of a member from the arrays of `_traced_rows`."""
    phi, k, b, turn, first, second, *J = found
    G = [(skel.node(joint.first), first), (skel.node(joint.second), second)]
    return BodyAxisRows(ConstraintRows(phi, G, k, b), dict(zip(ends, J, strict=True)), turn if turn.size else None)


def loop_wrenches(skel: Skeleton, c: Closure, lam: Any) -> list[tuple[int, Any]]:
    """The multipliers as wrenches on bodies, each at its subsystem's origin."""
    return [(node, G.T @ lam[r]) for part, r in zip(c.parts, c.rows, strict=True) for node, G in part.G if node >= 0]


def _stack(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0)


# ---------------------------------------------------------------- scales: kappa makes meters and radians comparable [Aghili2005 (48)]


def characteristic_length(points: np.ndarray) -> float:
    """RMS distance of points (n, 3) from their centroid; 1 m where there is no extent."""
    if len(points) == 0:
        return 1.0
    kappa = float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1))))
    return kappa if kappa > 1e-12 else 1.0


def scale(kinds: Iterable[str], kappa: float) -> np.ndarray:
    """1 for angles, kappa for lengths."""
    return np.array([kappa if k == "length" else 1.0 for k in kinds])


@dataclass(frozen=True)
class Loops:
    """A skeleton with the constraints to satisfy and the scales that make them dimensionless."""

    __getstate__ = essentials

    skel: Skeleton
    constraints: tuple[Constraint, ...]
    kappa: float
    columns: np.ndarray  # v = columns * dimensionless v
    row_axes: str = "first"  # body along whose axes rows are taken

    @classmethod
    def of(cls, skel: Skeleton, length: float | None = None) -> Loops:
        """The loops of a skeleton; `length` overrides the characteristic length of the metric."""
        kappa = characteristic_length(joint_points(skel)) if length is None else length
        return cls(skel, of_loops(skel), kappa, scale(velocity_kinds(skel), kappa))

    def with_(self, extra: Sequence[Constraint]) -> Loops:
        return replace(self, constraints=(*self.constraints, *extra)) if extra else self

    @cached_property
    def row_scale(self) -> np.ndarray:
        return scale([k for c in self.constraints for k in c.kinds], self.kappa)

    @cached_property
    def elimination_order(self) -> tuple[int, ...]:
        """Loops in an order that keeps the elimination sparse; constraints added later (drivers) come last."""
        fixed = tuple(elimination_order(self.skel.tree))
        return (*fixed, *range(len(fixed), len(self.constraints)))

    def closure(self, m: Motion, v: Any, t: Any, references: Mapping[str, Any], body_axes: bool = False) -> Closure:
        return closure(
            self.skel, m, v, t, constraints=self.constraints, references=references, body_axes=self.row_axes if body_axes else ""
        )

    def at(self, q: Any, v: Any, t: Any, references: Mapping[str, Any], m: Motion | None = None) -> Closure:
        """The closure at a state; `m` is its motion, where it is known already."""
        return self.closure(motion(self.skel, q, v) if m is None else m, v, t, references)

    def counted_references(self, q: Any, references: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Coordinates of all joints, cut or not, at q: the reference for the next unwrapping."""
        return counted_references(self.skel, q, references)

    def displaced(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Positions moved by dimensionless steps; any leading axes."""
        return displaced(self.skel, q, step * self.columns)

    def dimensionless(self, c: Closure) -> tuple[np.ndarray, Any]:
        """(phi, J) in kappa and radians."""
        rows, J = self.row_scale, c.J
        return c.phi / rows, J.scaled(1.0 / rows, self.columns) if isinstance(J, SparseMatrix) else J * self.columns / rows[:, None]

    def factored(self, c: Closure, tolerance: float = 1e-9) -> Factored:
        return factor(self.dimensionless(c)[1], tolerance)


def of_loops(skel: Skeleton) -> tuple[Constraint, ...]:
    """The closing constraints of a tree in the order of its loops."""
    d = skel.tree.description
    data: dict[Any, Any] = {(x.constraint, x.name): x for x in elements.constraints(d)} | {("joint", j.name): j for j in d.joints}
    return tuple(CONSTRAINTS[loop.kind](skel, data[loop.kind, loop.name]) for loop in skel.tree.loops)

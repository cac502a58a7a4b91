"""All closing constraints stacked: phi(t, q), J(q), k(q, v), b(t).

    phi = 0        J v + b = 0        J a + k = 0

Rows come loop by loop in the order of the tree (cut joints, rods, couplings, gears), then the drivers
that were handed in. `blocks` gives the same J as its nonzero pieces J_ij, loop i against subsystem j
[Koul2013 (12)-(13)].
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.mechanics.constraints import Constraint, ConstraintRows, of_loops
from linkwright.mechanics.constraints.cut_joint import CutJoint
from linkwright.mechanics.kinematics.motion import Motion, Skeleton
from linkwright.numerics.pickling import essentials
from linkwright.numerics.scalars import common_type


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

    @cached_property
    def J(self) -> Any:
        """(nc, nv), dense."""
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
    cheap = [c.body_axis_rows(skel, m, references, body_axes) if body_axes and isinstance(c, CutJoint) else None for c in constraints]
    parts = tuple(c.rows(skel, m, v, t, references) if x is None else x.rows for c, x in zip(constraints, cheap, strict=True))
    ends = np.cumsum([0, *(len(p.k) for p in parts)])
    rows = tuple(slice(int(a), int(b)) for a, b in itertools.pairwise(ends))
    columns = tuple(s.v for s in skel.tree.subsystems)
    pieces = [_blocks(skel, m, v, part) if x is None else x.blocks for part, x in zip(parts, cheap, strict=True)]
    blocks = {(i, j): block for i, piece in enumerate(pieces) for j, block in piece.items()}
    phi, k, b = (_stack([getattr(p, name) for p in parts]) for name in ("phi", "k", "b"))
    return Closure(phi, k, b, rows, parts, blocks, columns, {i: x.turn for i, x in enumerate(cheap) if x is not None})


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


def loop_wrenches(skel: Skeleton, c: Closure, lam: Any) -> list[tuple[int, Any]]:
    """The multipliers as wrenches on bodies, each at its subsystem's origin."""
    return [(node, G.T @ lam[r]) for part, r in zip(c.parts, c.rows, strict=True) for node, G in part.G if node >= 0]


def _stack(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0)

"""All closing constraints stacked: phi(t, q), J(q), k(q, v), b(t).

    phi = 0        J v + b = 0        J a + k = 0

Rows come loop by loop in the order of the tree (cut joints, rods, couplings, gears), then the drivers
that were handed in. `blocks` gives the same J as its nonzero pieces J_ij, loop i against subsystem j
[Koul2013 (12)-(13)].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright.constraints import Constraint, Rows, of_loops
from linkwright.kinematics import Motion, Skeleton
from linkwright.scalars import common_type


class Closure(NamedTuple):
    """The stacked constraint equations at one motion."""

    phi: Any  # (nc,)
    J: Any  # (nc, nv)
    k: Any  # (nc,)
    b: Any  # (nc,)
    rows: tuple[slice, ...]  # of each constraint
    parts: tuple[Rows, ...]  # what each constraint said


def closure(
    skel: Skeleton,
    m: Motion,
    v: Any,
    t: Any = 0.0,
    *,
    constraints: Sequence[Constraint] | None = None,
    near: Mapping[str, Any] | None = None,
) -> Closure:
    """Evaluate constraints (default: those of the tree's loops) at a motion."""
    constraints = of_loops(skel) if constraints is None else constraints
    parts = tuple(c.rows(skel, m, v, t, skel.start_coordinates if near is None else near) for c in constraints)
    sizes = [len(p.k) for p in parts]
    ends = np.cumsum([0, *sizes])
    rows = tuple(slice(int(a), int(b)) for a, b in zip(ends, ends[1:], strict=False))
    J = np.zeros((int(ends[-1]), skel.tree.nv), dtype=common_type(v, *(G for p in parts for _, G in p.G)))
    for part, r in zip(parts, rows, strict=True):
        for node, G in part.G:
            for i in skel.tree.support(node):
                J[r, skel.tree.nodes[i].v] += G @ m.S[i]
    return Closure(_stack([p.phi for p in parts]), J, _stack([p.k for p in parts]), _stack([p.b for p in parts]), rows, parts)


def blocks(skel: Skeleton, c: Closure) -> dict[tuple[int, int], Any]:
    """J_ij for every loop i and each subsystem j it touches."""
    return {
        (i, j): c.J[c.rows[i], skel.tree.subsystems[j].v] for i, loop in enumerate(skel.tree.loops) for j in loop.subsystems
    }


def loop_wrenches(skel: Skeleton, c: Closure, lam: Any) -> list[tuple[int, Any]]:
    """The multipliers as wrenches on bodies, each at its subsystem's origin."""
    return [(node, G.T @ lam[r]) for part, r in zip(c.parts, c.rows, strict=True) for node, G in part.G if node >= 0]


def _stack(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0)

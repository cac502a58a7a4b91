"""Choice of dependent coordinates, and the tangent space they move in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.kernels.equations.kinematic import normalized
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import Skeleton, qdot
from linkwright.numerics.linalg import pivoted_columns
from linkwright.numerics.scalars import common_type
from linkwright.numerics.spatial import cross


def velocity_names(skel: Skeleton) -> list[str]:
    """Names of the entries of v."""
    parts = [(n.joint.name, jt.v_names) for n, jt in zip(skel.tree.nodes, skel.types, strict=True)]
    return [f"{name}.{p}" if p else name for name, entries in parts for p in entries]


def named(skel: Skeleton, dependent: Sequence[str]) -> tuple[int, ...]:
    """Entries of v from names, in their order: an entry ("P.x"), or a joint with all its degrees of freedom ("P")."""
    names, tree = velocity_names(skel), skel.tree
    out: list[int] = []
    for name in dependent:
        if name in names:
            out.append(names.index(name))
        elif name in tree.node_of_joint:
            span = tree.nodes[tree.node_of_joint[name]].v
            out += range(span.start, span.stop)
        else:
            known = [*names, *(j for j in tree.node_of_joint if j not in names)]
            raise UsageError(f"'{name}' is not a coordinate that can be adjusted.", nearest(str(name), known, "Coordinates"))
    if len(set(out)) < len(out) or not out:
        what = "names a coordinate twice" if out else "is empty"
        raise UsageError(
            f"the list of dependent coordinates {what}: {', '.join(map(str, dependent)) or 'give at least one'}.", name="dependent"
        )
    return tuple(out)


def chosen(loops: Loops, q: Any, references: Mapping[str, Any], drives: Sequence[str] = (), t: float = 0.0) -> tuple[int, ...]:
    """Entries of v that depend on the others: all but those of the driven joints; without drives as many as J has rank, by
    pivoting. Where the others alone cannot close the loops, driven ones are added."""
    skel = loops.skel
    J = loops.dimensionless(loops.at(q, np.zeros(skel.tree.nv), t, references))[1]
    retained: list[int] = []
    for name in drives:
        if name in skel.tree.node_of_joint:  # cut joints and cylinders have no coordinates to keep
            span = skel.tree.nodes[skel.tree.node_of_joint[name]].v
            retained += range(span.start, span.stop)
    if not retained:
        return tuple(sorted(pivoted_columns(J)))
    others = [i for i in range(J.shape[1]) if i not in retained]
    free = [others[i] for i in pivoted_columns(J[:, others])] if others else []
    return tuple(sorted({*others, *pivoted_columns(J, first=tuple(free))}))


# -------------------------------------------------------------------- tangent space


def moved(skel: Skeleton, q: Any, step: Any) -> Any:
    """q after a step in the space of v; quaternions of length one."""
    return normalized(skel, q + qdot(skel, q, step))


def difference(skel: Skeleton, q: Any, before: Any) -> Any:
    """The step in the space of v that leads from `before` to q; of a rotation twice the vector part of the quaternion between
    them, which is the rotation vector up to its cube."""
    out = np.zeros(skel.tree.nv, dtype=common_type(q, before))
    for n, jt in zip(skel.tree.nodes, skel.types, strict=True):
        a, b = before[n.q], q[n.q]
        if "quaternion" in jt.coordinate_kinds:
            turn = 2.0 * (a[0] * b[1:4] - b[0] * a[1:4] - cross(a[1:4], b[1:4]))
            out[n.v] = np.concatenate([turn, b[4:] - a[4:]])
        else:
            out[n.v] = b - a
    return out

"""Response to the drives at a state: accelerations and multipliers as affine functions of the drives' efforts.

    a = a_0 + G u        lam = lam_0 + L u

Everything a controller asks of a mechanism follows from these four. Traced, they come from the elimination that forward
dynamics uses; on numbers from the rank-revealing path, which also answers in singular positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright.drives.base import DriveTarget
from linkwright.kernels.equations.dynamic import Equations
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.formulations.forward import forward
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Motion
from linkwright.numerics.scalars import common_type


class Response(NamedTuple):
    a: Any
    lam: Any
    G: Any  # (nv, drives)
    L: Any  # (rows, drives)
    margin: Any  # not positive where the numbers cannot be trusted


def effort_columns(eq: Equations, m: Motion, t: Any, near: Mapping[str, Any], targets: Sequence[DriveTarget]) -> Any:
    """B: what a unit effort of each drive does in the tree's coordinates."""
    skel = eq.loops.skel
    at = Instant.moving(skel, m, t, near)
    columns = []
    for x in targets:
        if x.entry is not None:
            columns.append(np.eye(skel.tree.nv)[x.entry])
        else:
            columns.append(dynamics.generalized(skel, m, x.pushes(at, 1.0)))
    return np.array(columns, dtype=common_type(*columns)).T.reshape(skel.tree.nv, len(columns))


def traced_response(eq: Equations, q: Any, v: Any, t: Any, cut: Any, B: Any, multipliers: bool) -> Response:
    """By the planned elimination, over any scalar; `t` has one entry."""
    out = eq.responses(q, v, B, t, cut, multipliers=multipliers)
    return Response(out["a"], out["lam"], out["G"], out.get("L"), out["margin"][0])


def safe_response(eq: Equations, q: Any, v: Any, t: Any, cut: Any, B: Any) -> Response:
    """By rank-revealing forward dynamics, column by column: the limit in a singular passage, least reactions of redundant rows."""
    T = eq.joint_axis_terms(q, v, t, cut)
    still = np.zeros(T.nv)
    base = forward(T, still)
    size = 1.0 + float(np.abs(T.h).max(initial=0.0))  # an effort whose effect is not lost beside what acts anyway
    moved = [forward(T, size * column) for column in B.T]
    G = np.array([(x.a - base.a) / size for x in moved]).T.reshape(T.nv, len(moved))
    L = np.array([(x.lam - base.lam) / size for x in moved]).T.reshape(len(base.lam), len(moved))
    return Response(base.a, base.lam, G, L, 1.0)

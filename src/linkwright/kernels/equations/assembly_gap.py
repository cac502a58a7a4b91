"""The assembly gap: how far loops stay open at given positions of the drives, and steps toward its least value.

    f = w phi(q; drive)        residuals of the loops as lengths: angles times the characteristic length
    G = f'f/2                  zero where the mechanism closes; by the envelope theorem G_p = f'f_p at the least G, q held

Drives that are joints of the tree are held exactly; those of cut joints and cylinders are rows of f. A step solves
(G'' + damping) dq = -G' with the exact second derivatives, so that it converges quadratically however large the gap is; for many unknowns
f_q' f_q takes their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwright.compiler.derivatives import jacobian
from linkwright.compiler.program import Program
from linkwright.kernels.equations.kinematic import KinematicEquations, largest, normalized
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.model.curves.polynomial import Parabola
from linkwright.numerics.scalars import common_type, eliminate

SECOND = 12  # unknowns up to which second derivatives are used


def gap(eq: KinematicEquations, q: Any, drive: Any, near: Any) -> dict[str, Any]:
    """G, its derivatives by the dimensionless velocities of the unknowns (`pull`), and f."""
    skel, kappa = eq.loops.skel, eq.loops.kappa
    x = _held(eq, q, drive)
    others = [(n, d) for n, d in zip(eq.drives, drive, strict=True) if n not in skel.tree.node_of_joint]
    loops = eq.loops.with_([driven(skel.tree.description, n, Parabola(d, 0.0, 0.0)) for n, d in others])
    c = loops.at(x, np.zeros(skel.tree.nv), 0.0, skel.unpack(x, near))
    weight = kappa / loops.row_scale
    f = c.phi * weight
    free = unknowns(eq)
    A = (c.J * weight[:, None] * eq.loops.columns)[:, free]
    return {"square": np.array([0.5 * (f @ f)]), "pull": A.T @ f, "residual": f}


def gap_step(eq: KinematicEquations, given: Mapping[str, Any], program: Program) -> dict[str, Any]:
    """q after a damped step; G, and the largest entry of its derivatives, at the q handed in."""
    skel, free, kappa = eq.loops.skel, unknowns(eq), eq.loops.kappa
    q, drive, damping = given["q"], given["drive"], given["damping"][0]
    x = _held(eq, q, drive)
    packed = [e for b in program.inputs for e in np.asarray(x if b.name == "q" else given[b.name], dtype=object).ravel()]
    start = next(b.start for b in program.inputs if b.name == "q")
    unit = np.diag(eq.loops.columns)
    ways = [qdot(skel, x, unit[k]) for k in free]
    found = jacobian(program, packed, [{start + i: e for i, e in enumerate(way)} for way in ways])
    D, results, blocks = found.dense(), np.array([*found.results, None], dtype=object), {b.name: b for b in program.outputs}
    pull = results[blocks["pull"].span]
    A = D[blocks["residual"].span]
    H = D[blocks["pull"].span] if len(free) <= SECOND else A.T @ A
    step, _ = eliminate(H + damping * kappa**2 * np.eye(len(free)), -pull)
    whole = np.zeros(skel.tree.nv, dtype=object)
    whole[free] = eq.loops.columns[free] * step
    moved = normalized(skel, x + qdot(skel, x, whole))
    return {"q": moved, "square": results[blocks["square"].span], "slope": np.array([largest(pull)])}


def unknowns(eq: KinematicEquations) -> list[int]:
    """Entries of v that are not those of drives in the tree."""
    tree = eq.loops.skel.tree
    held = {tree.nodes[tree.node_of_joint[n]].v.start for n in eq.drives if n in tree.node_of_joint}
    return [k for k in range(tree.nv) if k not in held]


def _held(eq: KinematicEquations, q: Any, drive: Any) -> Any:
    """q with the coordinates of the drives in the tree in place."""
    tree = eq.loops.skel.tree
    x = np.array(q, dtype=common_type(q, drive))
    for name, value in zip(eq.drives, drive, strict=True):
        if name in tree.node_of_joint:
            x[tree.nodes[tree.node_of_joint[name]].q.start] = value
    return x

"""All terms of the equations of motion, and how the rows of the loops change along the motion.

What the rule for singular passages needs at once: M, h, J, k, b, phi (M and J by their blocks), then dJ/dt and dk/dt at
fixed v, where q moves with qdot(q, v), time runs, and drivers continue with their speeds and accelerations. Differentiated in
forward mode while it is traced, so that the kernel costs little more than the terms themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.compiler.derivatives import jacobian, places
from linkwright.compiler.program import Program
from linkwright.kernels.equations.dynamic import Equations
from linkwright.mechanics.kinematics.motion import qdot

MOVES = {"q": "qdot", "drive": "speed", "speed": "acceleration"}  # inputs that change with time, and how fast


def along(eq: Equations, arrays: dict[str, Any], more: dict[str, Any], terms: Program) -> dict[str, Any]:
    """The terms and Jdot, kdot; with a distance that is driven also k_v = dk/dv, which is 2 Jdot without one."""
    values = {**arrays, **more, "qdot": qdot(eq.loops.skel, arrays["q"], arrays["v"])}
    known = [b.name for b in terms.inputs]
    motion: dict[int, Any] = {}
    for name in known:
        if name in MOVES:
            motion |= dict(zip(places(terms, name), values[MOVES[name]], strict=True))
        elif name == "t":
            motion |= dict.fromkeys(places(terms, name), 1.0)
    linear = any(getattr(c, "linear_in_v", False) for c in eq.loops.constraints)
    packed = np.concatenate([np.asarray(values[name], dtype=object).ravel() for name in known])
    found = jacobian(terms, packed, [motion, *(places(terms, "v") if linear else [])])
    results = np.array(found.results, dtype=object)
    D = found.dense()
    out = {b.name: results[b.span].reshape(b.shape) for b in terms.outputs}
    spans = {b.name: b for b in terms.outputs}
    J, k = spans["J"], spans["k"]
    out |= {"Jdot": D[J.span, 0].reshape(J.shape), "kdot": D[k.span, 0]}
    return out | ({"k_v": D[k.span, 1:]} if linear else {})

"""Kernel of a transmission, traced for export: Jacobian of the motors by the joints, its rate, and the equations of motion in the joints.

    motor' = J joint'        J_rate = dJ/dt        M joint'' + h = J' (torques of the motors)

The drives of the equations are the joints, then other coordinates, which are at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkwright.kernels.equations.by_name import task_terms
from linkwright.kernels.equations.dynamic import Equations
from linkwright.kernels.equations.kinematic import size
from linkwright.kernels.page_kernels import TracedKernel


def transmission_kernel(motors: Sequence[str], joints: int, masses: bool) -> TracedKernel:
    """The kernel of these motors, by the first so many drives; without masses M and h are left out."""
    return TracedKernel(
        partial(transmission_terms, motors=tuple(motors), joints=joints, masses=masses), ("q", "v", "t"), masses, "kinematics"
    )


def transmission_terms(
    eq: Equations, q: Any, v: Any, t: Any, near: Any, *, motors: Sequence[str], joints: int, masses: bool
) -> dict[str, Any]:
    """J, J_rate and, with masses, M and h. J_rate by polarization: the rate of the motors' speeds is a quadratic form of v."""
    skel, here = eq.loops.skel, eq.loops.skel.unpack(q, near)
    still = [0.0] * len(eq.drives)
    reading = replace(eq, drives=tuple(motors))

    def bias(speeds: Any) -> Any:
        """Accelerations of the motors at these speeds, the joints not accelerating."""
        d = eq._driven(q, speeds, eq._laws(q, speeds, here, still), here)
        a, _ = d.solve(-d.c.k, eq._resting(q, speeds))
        rows = task_terms(reading, q, speeds, near, ())
        return rows["E"] @ a + rows["e"]

    d = eq._driven(q, v, eq._laws(q, v, here, still), here)
    S, pivots = eq._speeds(d)
    E = task_terms(reading, q, v, near, ())["E"]
    columns = [(bias(v + S[:, i]) - bias(v - S[:, i])) * 0.25 for i in range(joints)]
    out = {"J": (E @ S)[:, :joints], "J_rate": np.array(columns).T.reshape(len(motors), joints)}
    if masses:
        found = eq.reduced(q, v, t, near)
        out |= {"M": found["M"][:joints, :joints], "h": found["h"][:joints]}
    assert skel.tree.nv == S.shape[0]
    return {**out, "margin": eq.margin("kinematics", [(size(p), p) for p in pivots])}

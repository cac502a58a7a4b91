"""Momentum of a run in free flight: only weight changes it, so its drift measures the run independently of the energy balance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.base import base_entries, flies_free
from linkwright.mechanics.kinematics.motion import motion
from linkwright.simulation.time_stepping import energy_size

if TYPE_CHECKING:
    from linkwright.simulation.run import Simulation

LOOKED_AT = 60  # samples
INTERNAL = 1e-9  # net force of the model's forces, relative to their sum, below which they act between bodies only
REST = 1e-6  # share of the size of energies below which nothing moved


def momentum_drift(sim: Simulation) -> float | None:
    """Largest change of the linear momentum beyond that of weight, or of the angular momentum about the center of mass, relative to what
    the moving masses could have. None where something else than free joints, weight and internal forces acts from outside."""
    system, e = sim.system, sim.evidence
    skel = system.loops.skel
    if not flies_free(skel.tree) or set(e.drives if e.driven else ()) & set(base_entries(skel.tree)):
        return None
    if not np.array_equal(e.free, system.kernels.defaults["free"]):
        return None
    found, nq, nv = [], skel.tree.nq, skel.tree.nv
    rows = [(float(t), y, p.start) for p in sim.pieces for t, y in zip(p.solution.t, p.solution.y, strict=True)]
    for t, y, start in rows[:: max(1, len(rows) // LOOKED_AT)]:
        m = motion(skel, y[:nq], y[nq : nq + nv])
        if _pushed(system, Instant.moving(skel, m, t, start.references)):
            return None
        found.append(_momentum(skel, m, t))
    return _drift(skel, np.array(found), energy_size(system), system.loops.kappa) if found else None


def _pushed(system: Any, at: Instant) -> bool:
    """True if forces of the model have a resultant: they act against ground, or come from outside."""
    skel, net, total = system.loops.skel, np.zeros(6), 0.0
    for node, w in at.pushes(system.forces):
        moment = w[:3] + np.cross(skel.origins[node], w[3:])
        net, total = net + np.concatenate([moment / system.loops.kappa, w[3:]]), total + float(np.abs(w).sum())
    return bool(np.abs(net).max() > INTERNAL * total)


def _momentum(skel: Any, m: Any, t: float) -> np.ndarray:
    """(t, kinetic energy, linear momentum, angular momentum about the center of mass)."""
    mass = sum(skel.mass)
    com = sum(k * (X.point(c) + o) for k, X, c, o in zip(skel.mass, m.X, skel.com, skel.origins, strict=True)) / mass
    linear, angular = dynamics.momentum(skel, m, com)
    return np.array([t, dynamics.kinetic_energy(skel, m), *linear, *angular])


def _drift(skel: Any, rows: np.ndarray, rest: float, length: float) -> float:
    mass, t = float(sum(skel.mass)), rows[:, 0] - rows[0, 0]
    weight = mass * np.asarray(skel.gravity, dtype=float)
    linear = rows[:, 2:5] - rows[0, 2:5] - t[:, None] * weight
    angular = rows[:, 5:8] - rows[0, 5:8]
    size = math.sqrt(2.0 * mass * max(float(rows[:, 1].max()), REST * rest))  # |p| is at most sqrt(2 m T)
    return max(float(np.abs(linear).max()) / size, float(np.abs(angular).max()) / (size * float(length)))

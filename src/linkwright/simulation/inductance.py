"""How far the inductance of motors would move the joints of a run that leaves it out: an estimate to first order.

With L = 0 the current i = (u - Ke w)/R follows the voltage at once. With L it is late by T = L/R, so the effort is less by N Kt T di/dt, and the
joints of the motors move by x with

    x'' = D (-C x' - N Kt T di/dt)        D = B' N (N' M N)^-1 N' B        C = N^2 (Kt Ke/R + b)

D are the accelerations of the motors' joints for unit efforts in them (here N spans the null space of J), C the damping by back EMF and friction. The current
begins at its start value, so its first jump counts as well. Positions change forces and inertia too; that is left out, as are gearbox losses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.drives.voltage import BoundVoltage
from linkwright.errors import listing
from linkwright.mechanics.constraints.drives import driven
from linkwright.mechanics.dynamics.tree import mass_matrix
from linkwright.mechanics.kinematics.motion import motion
from linkwright.model.curves.lines import Line
from linkwright.model.file.units import KINDS, shown
from linkwright.numerics.linalg import factor

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory
    from linkwright.simulation.run import Simulation

NEGLIGIBLE = 1e-3  # share of the travel of a joint below which nothing is said
INTERVALS = 200  # of a run, at most
FEWEST = 20  # samples: fewer do not show how currents change


def inductance_notes(sim: Simulation, run: Trajectory) -> list[str]:
    """What a run without inductance leaves out, if motors give their electrical time constant and it matters."""
    motors = [b for b in sim.pieces[0].evaluator.setup.actuation.equations.bounds if isinstance(b, BoundVoltage) and b.motor.time_constant]
    if not motors or len(sim.pieces) > 1 or len(run) < FEWEST or np.ptp(run.t) == 0.0:
        return []
    moved = np.abs(shifts(run, motors)).max(axis=0)
    travel = np.array([float(np.ptp(run[b.target.name])) for b in motors])
    shares = moved / np.maximum(travel, np.finfo(float).tiny)
    if shares.max() < NEGLIGIBLE:
        return []
    k = int(shares.argmax())
    worst, units = motors[k], run.skel.tree.description.units
    times = listing(dict.fromkeys(shown(b.motor.time_constant, KINDS["time"], ("ms",), 3) for b in motors))
    far = shown(moved[k], KINDS[run.dimension(worst.target.name)], units, 2)
    henry = shown(worst.motor.time_constant * worst.motor.R, KINDS["inductance"], ("mH",), 3)
    return [
        f"the inductance of the motors of {listing([b.target.name for b in motors])} is left out (L = 0). With L/R = {times} "
        f"'{worst.target.name}' would be up to about {far} off this result, {100.0 * shares[k]:.2g} % of its travel (first-order estimate). "
        f"Replace its time_constant by L={henry!r} to simulate the current."
    ]


def shifts(run: Trajectory, motors: list[BoundVoltage]) -> np.ndarray:
    """(intervals + 1, motors): how much further each joint would be, over the run."""
    at = np.unique(np.linspace(0, len(run) - 1, INTERVALS + 1).round().astype(int))
    t, D = run.t[at], np.array([_accelerations(run, motors, int(i)) for i in at])
    gain, damping, late = (np.array(x) for x in zip(*(_of_joint(b) for b in motors), strict=True))
    currents = np.array([np.asarray(run[f"motor.{b.target.name}.current"])[at] for b in motors]).T
    x, speed = np.zeros((len(at), len(motors))), -D[0] @ (gain * late * (currents[0] - [b.current for b in motors]))
    one = np.eye(len(motors))
    for n in range(len(at) - 1):  # implicit midpoint rule: stable however strong the damping is
        h, here = float(t[n + 1] - t[n]), 0.5 * (D[n] + D[n + 1])
        drag = 0.5 * h * here * damping
        after = np.linalg.solve(one + drag, (one - drag) @ speed - here @ (gain * late * (currents[n + 1] - currents[n])))
        x[n + 1] = x[n] + 0.5 * h * (speed + after)
        speed = after
    return x


def _of_joint(b: BoundVoltage) -> tuple[float, float, float]:
    """(effort per current, damping of the joint, time constant)."""
    m = b.motor
    return m.ratio * m.Kt, m.ratio**2 * (m.Kt * m.Ke / m.R + m.viscous), m.time_constant


def _accelerations(run: Trajectory, motors: list[BoundVoltage], i: int) -> np.ndarray:
    """D at a sample."""
    loops, skel = run.frame, run.skel
    tied = loops.with_([driven(skel.tree.description, b.target.name, Line(1.0, 0.0)) for b in motors])
    m = motion(skel, run.q[i], np.zeros(skel.tree.nv))
    J = np.asarray(tied.closure(m, np.zeros(skel.tree.nv), 0.0, run.references[i]).J)
    own, B = J[: len(loops.row_scale)], J[len(loops.row_scale) :]
    M = np.asarray(mass_matrix(skel, m), dtype=float)
    for b in motors:
        if b.target.entry is not None:
            M[b.target.entry, b.target.entry] += b.armature
    free = loops.columns[:, None] * factor(own * loops.columns / loops.row_scale[:, None]).null
    return B @ free @ np.linalg.solve(free.T @ M @ free, free.T @ B.T)

"""How far the inductance of motors would move the joints of a run that leaves it out: an estimate to first order.

With L = 0 the current i = (u - Ke w)/R follows the voltage at once [Hoang2023 (8)]. With L it is late by T = L/R, so the effort is less by
N Kt T di/dt, and the joints of the motors are off by x with

    x'' = D (-C x' - N Kt T di/dt)        C = N^2 (Kt Ke/R + b)

D are the accelerations of the motors' joints for unit efforts in them, C is the damping by back EMF and friction. The current begins at
its start value, so its first jump counts as well. Changes of forces and inertia with x, and losses of the gearbox, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwright.drives.voltage import BoundVoltage
from linkwright.errors import listing
from linkwright.mechanics.constraints.drives import driven
from linkwright.model.curves.lines import Line
from linkwright.text.units import KINDS, shown

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

Accelerations = Callable[[np.ndarray], np.ndarray]  # efforts in addition to those of the run, (samples, nv) -> accelerations
NEGLIGIBLE = 1e-3  # share of the travel of a joint below which nothing is said
FEWEST = 20  # samples: fewer do not show how currents change


def inductance_notes(run: Trajectory, motors: Sequence[BoundVoltage], accelerations: Accelerations) -> list[str]:
    """A note on what a run without inductance leaves out, if it matters; all the motors have a time constant."""
    if len(run) < FEWEST or np.ptp(run.t) == 0.0:
        return []
    moved = np.abs(shifts(run, motors, accelerations)).max(axis=0)
    travel = np.array([float(np.ptp(run[b.target.name])) for b in motors])
    shares = moved / np.maximum(travel, np.finfo(float).tiny)
    if not shares.max() >= NEGLIGIBLE:  # also true where a sample in a singular position has no accelerations
        return []
    k = int(shares.argmax())
    worst, units = motors[k], run.skel.tree.description.units
    times = listing(dict.fromkeys(shown(b.motor.time_constant, KINDS["time"], ("ms",), 3) for b in motors))
    far = shown(moved[k], KINDS[run.dimension(worst.target.name)], units, 2)
    henry = shown(worst.motor.time_constant * worst.motor.R, KINDS["inductance"], ("mH",), 3)
    return [
        f"the inductance of the motors of {listing([b.target.name for b in motors])} is left out (L = 0). With L/R = {times} "
        f"'{worst.target.name}' would be up to about {far} off this result, {100 * shares[k]:.2g} % of its travel (first-order estimate). "
        f"Replace its time_constant by L={henry!r} to simulate the current."
    ]


def shifts(run: Trajectory, motors: Sequence[BoundVoltage], accelerations: Accelerations) -> np.ndarray:
    """(samples, motors): how much further each joint would be."""
    t, D = run.t, _responses(run, motors, accelerations)
    gain, damping, late = (np.array(x) for x in zip(*(_of_joint(b) for b in motors), strict=True))
    currents = np.array([run[f"motor.{b.target.name}.current"] for b in motors]).T
    x, speed = np.zeros((len(t), len(motors))), -D[0] @ (gain * late * (currents[0] - [b.current for b in motors]))
    one = np.eye(len(motors))
    for n in range(len(t) - 1):  # implicit midpoint rule: stable however strong the damping is
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


def _responses(run: Trajectory, motors: Sequence[BoundVoltage], accelerations: Accelerations) -> np.ndarray:
    """(samples, motors, motors): D, accelerations of the joints for unit efforts in them."""
    B = np.array([_efforts(run, b) for b in motors])  # (motors, samples, nv)
    more = [accelerations(row) - run.a for row in B]
    return np.array([[np.sum(own * a, axis=1) for a in more] for own in B]).transpose(2, 0, 1)


def _efforts(run: Trajectory, b: BoundVoltage) -> np.ndarray:
    """(samples, nv): a unit effort of the motor in the tree's coordinates."""
    out = np.zeros_like(run.v)
    if b.target.entry is not None:
        out[:, b.target.entry] = 1.0
        return out
    loops = run.frame.with_([driven(run.skel.tree.description, b.target.name, Line(1.0, 0.0))])  # a cut joint or a cylinder
    for i, q in enumerate(run.q):
        out[i] = np.asarray(loops.at(q, np.zeros(run.v.shape[1]), 0.0, run.references[i]).J)[-1]
    return out

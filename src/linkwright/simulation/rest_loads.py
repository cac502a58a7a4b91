"""Pushes of rigid stops over the samples of one mode, and how stops that rest together share a load.

The pushes of an independent set of stops follow from the motion. Ends that rest with them depend on that set: their rows are redundant
like any others, and of all pushes that give the same motion those are taken that keep the reactions of all joints and the pushes
themselves least, as `reactions.least_reactions` does, with the difference that a stop only pushes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.drives.place import target
from linkwright.errors import listing
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.drives import driven
from linkwright.mechanics.dynamics.reactions import every_joint_wrench, labeled
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import at_origin, unit_push
from linkwright.model.curves.lines import Line
from linkwright.numerics.constrained_least_squares import step_with_inequalities
from linkwright.numerics.linalg import factor
from linkwright.results.records import Column, acting
from linkwright.simulation import rigid_stops
from linkwright.simulation.rigid_stops import REACHED, StopEnd

if TYPE_CHECKING:
    from linkwright.simulation.run import RunPiece, Simulation

LEFT = 10.0 * REACHED  # radians, or characteristic lengths: farther than this from its end a coordinate does not rest there


PULL = 1e-12  # share of the largest reaction by which an end may seem to pull: round-off
SAME = 1e-13  # share of the largest entry by which two samples of a mechanism at rest differ: round-off


class StopPushes(NamedTuple):
    """Pushes along the coordinates of ends, (samples, ends), and the generalized forces of all of them, (samples, velocities)."""

    ends: list[StopEnd]
    values: np.ndarray
    tau: np.ndarray


def stop_columns(sim: Simulation) -> dict[str, str]:
    """Channels of the pushes of rigid stops, and their dimensions: of every coordinate with a rigid end that nothing moves past it."""
    skel, given = sim.system.loops.skel, rigid_stops.unstoppable(sim.drive, {})
    targets = [target(skel, name) for name in rigid_stops.coordinates(sim.ends) if name not in given]
    return {f"{x.name}.stop.{x.effort_kind}": x.effort_kind for x in targets}


def pushes_of(sim: Simulation, piece: RunPiece, near: np.ndarray) -> StopPushes:
    """Pushes of the independent set at the samples of a mode."""
    rows = piece.solution
    found = [piece.evaluator.pushes(float(t), y, cut) for t, y, cut in zip(rows.t, rows.y, near, strict=True)]
    ends, n = [sim.ends[key] for key in piece.mode.rests], len(rows.t)
    values = np.array([x.push for x in found]).reshape(n, len(ends))
    tau = np.array([x.push @ x.J for x in found]).reshape(n, piece.evaluator.setup.problem.nv)
    return StopPushes(ends, values, tau)


def columns_of(sim: Simulation, found: StopPushes | None, n: int) -> dict[str, tuple[np.ndarray, str]]:
    """Columns of the pushes over a mode of n samples, zero where nothing rests."""
    out = {name: (np.zeros(n), kind) for name, kind in stop_columns(sim).items()}
    for i, e in enumerate(() if found is None else found.ends):
        name = next((x for x in out if x.rpartition(".stop.")[0] == e.coordinate), None)
        if name is not None and found is not None:
            out[name] = out[name][0] + found.values[:, i], out[name][1]
    return out


# -------------------------------------------------------------------- ends that rest together


def sharing(
    sim: Simulation, piece: RunPiece, near: np.ndarray, a: np.ndarray, lam: np.ndarray, found: StopPushes, columns: Mapping[str, Any]
) -> StopPushes:
    """The pushes of all ends that rest together, of least reactions, where the mode has ends that depend on the set which holds.

    a, lam: accelerations and multipliers of the closed loops and the given motions at the samples, with the pushes found.
    """
    loops = rigid_stops.without(sim.loops, piece.mode.off)
    d, system = loops.skel.tree.description, sim.system
    ends = [*found.ends, *(sim.ends[key] for key in piece.mode.implied)]
    given = piece.evaluator.setup.actuation.drivers
    rows, problem = piece.solution, piece.evaluator.setup.problem
    efforts, wrenches = acting(loops.skel, {name: Column(*x) for name, x in columns.items()})
    values, tau = np.zeros((len(rows.t), len(ends))), np.zeros(found.tau.shape)
    before: list[np.ndarray] = []
    for i, t in enumerate(rows.t):
        q, v = rows.y[i, : problem.nq], rows.y[i, problem.nq : problem.nq + problem.nv]
        now = [q, v / system.loops.columns, a[i], lam[i], found.values[i], np.array([x[i] for x in efforts.values()])]
        if before and not wrenches and all(_alike(x, y) for x, y in zip(now, before, strict=True)):
            values[i], tau[i] = values[i - 1], tau[i - 1]  # nothing moves and nothing changes: by far the most samples at rest
            continue
        before = now
        at = Instant(loops.skel, q, v, float(t), system.loops.skel.unpack(q, near[i]))
        pushes = [w for f in forces.of_description(d) for w in f.wrenches(at)]
        pushes += [(node, w * x[i]) for name, x in efforts.items() for node, w in unit_push(d, at, name)]
        pushes += [(loops.skel.node(body), at_origin(at, loops.skel.node(body), w[i])) for body, w in wrenches.items()]
        moved = [driven(d, name, Line(target(loops.skel, name).position(at), 0.0)) for name in given]
        tied = loops.with_([*moved, *(e.constraint(d) for e in ends)])
        place = Instant(loops.skel, q, v, float(t), at.references, loops=tied, motion=at.motion, external=pushes)
        known = np.concatenate([lam[i], found.values[i], np.zeros(len(ends) - len(found.ends))])
        chosen = least_pushes(place, known, a[i], ends)
        values[i] = chosen[len(known) - len(ends) :]
        tau[i] = values[i] @ place.closure.J[len(known) - len(ends) :]
    return StopPushes(ends, values, tau)


def _alike(x: np.ndarray, y: np.ndarray) -> bool:
    return bool(np.abs(x - y).max(initial=0.0) <= SAME * (1.0 + np.abs(y).max(initial=0.0)))


def least_pushes(place: Instant, lam: np.ndarray, a: np.ndarray, ends: Sequence[StopEnd]) -> np.ndarray:
    """Among the multipliers of all rows, those of ends last, that give the same motion: those of least reactions in which no end pulls.
    Ends that are left already have no share."""
    loops, c, first = place.loops, place.closure, len(lam) - len(ends)
    off = np.abs(c.phi[first:] / loops.row_scale[first:]) > LEFT
    J = c.J * loops.columns / loops.row_scale[:, None]
    retained = np.ones(len(lam), dtype=bool)
    retained[first:] = ~off | (lam[first:] != 0.0)
    stress = factor(J[retained]).left_null / loops.row_scale[retained, None]
    Z = np.zeros((len(lam), stress.shape[1]))
    Z[retained] = stress

    def reactions(multipliers: np.ndarray, inertial: bool) -> np.ndarray:
        return labeled(place, every_joint_wrench(place, multipliers, a, inertial=inertial), multipliers)[1]

    if not Z.shape[1]:
        return lam
    R, r0 = np.array([reactions(z, False) for z in Z.T]).T, reactions(lam, True)
    size = max(float(np.abs(r0).max(initial=0.0)), np.finfo(float).tiny)
    outward, none = np.array([e.side for e in ends]), np.full(Z.shape[1], np.inf)
    free = lam - Z @ factor(R, 1e-10 * max(1.0, np.abs(R).max()), thin=True).solve(r0)
    if np.all(outward * free[first:] <= PULL * size):
        return free
    y = step_with_inequalities(R, r0 / size, outward[:, None] * Z[first:], -outward * lam[first:] / size, -none, none, 0.0)
    return lam if y is None else lam + Z @ (size * y[0])


def sharing_note(ends: Sequence[StopEnd]) -> str:
    """Note on a run in which stops share a load that statics does not determine."""
    names = listing([f"'{e.stop}'" for e in ends])
    return (
        f"stops {names} rest together, and how they share the load does not follow from statics: their pushes, and the joint loads that "
        "depend on them, are those of least reactions and marked as not unique"
    )

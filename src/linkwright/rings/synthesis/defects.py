"""Defects of a four-bar or slider-crank for wanted positions, by tracing the finished linkage, however it was found.

    report = defects(linkage, points)                      coupler point, nearest places of the curve
    report = defects(linkage, points, rotations=...)       and the coupler's rotation from the drawn position: one position each
    report = defects(linkage, angles=...)                  drive angles from the drawn position: on the drawn branch
    report.names                                           keys of answers.DEFECTS; () if there is none

grashof: the drive cannot turn fully, or that cannot be determined (left out with full_turn=False).
circuit: no circuit has all positions that others have.
branch: one circuit has them all, but on both sides of a dead center of the drive.   order: they are met in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import UsageError, counted, tolerances
from linkwright.rings.synthesis.linkage import Linkage
from linkwright.rings.synthesis.motion_tracing import TURN, Array, CrankCircuit, CrankLinkage, crank_linkage

SAMPLES = 1440  # of a circuit, for places near a point
BLOCK = 256  # points at a time
FIRST_PLACES = 48  # of the first position that are tried as the begin of an order


@dataclass(frozen=True, eq=False)
class DefectReport:
    """Defects of a linkage, and where it meets the wanted positions."""

    names: tuple[str, ...]
    drive: Array  # (n,) drive angle from the drawn position at each wanted position, rad; NaN where it is not met
    distance: Array  # (n,) from each wanted position to the nearest place of the circuit, m
    swing: tuple[float, float] | None  # range of the drive from the drawn position, rad; None for a full turn
    least_transmission: float  # rad, over the whole motion of the drive
    change_point: bool
    full_turn: bool | None = True  # of the drive; None: so near to a change point that it cannot be determined


@dataclass(frozen=True, eq=False)
class Encounter:
    """Places s of one circuit at which a wanted position is met best, the distance there, and samples of all places where it is met."""

    s: Array
    distance: Array
    nearest: float
    around: Array = field(default_factory=lambda: np.zeros(0))


def defects(
    linkage: Linkage,
    points: Any = None,
    *,
    rotations: Any = None,
    angles: Any = None,
    full_turn: bool = True,
    ordered: bool = True,
    tolerance: float | None = None,
) -> DefectReport:
    """Return the defects of a four-bar or slider-crank, driven at its `drive`, for wanted positions.

    points: coupler point (n,) complex, m. rotations: of the coupler from the drawn position (n,), rad. angles: of the drive from the drawn
    position (n,), rad, in place of points. full_turn: a drive that cannot turn fully is a defect. ordered: the order matters, in
    either direction of the drive. tolerance: distance within which a point is met, m; by default 1e-6 of the linkage's size.
    """
    traced = crank_linkage(linkage)
    circuits = traced.circuits()
    size = max(abs(x) for x in traced.lengths.values())
    near = tolerances.SAME_POSITION * size if tolerance is None else tolerance
    if angles is not None:
        met = [_at_angles(traced, circuit, np.asarray(angles, dtype=float)) for circuit in circuits]
    elif points is not None:
        wanted = np.asarray(points, dtype=complex)
        met = [_met(traced, circuit, wanted, rotations, near) for circuit in circuits]
    else:
        raise UsageError("defects need target positions: points of the coupler, or angles of the drive.", name="wanted")
    names: list[str] = [] if traced.full_turn or not full_turn else ["grashof"]
    counts = [sum(len(x.s) > 0 for x in each) for each in met]
    best = int(np.argmax(counts))  # the drawn one where several have as many
    anywhere = sum(any(len(each[k].s) for each in met) for k in range(len(met[0])))
    if counts[best] < anywhere:
        names.append("circuit")
    chosen, branch, order = _chosen(circuits[best], met[best])
    if branch:
        names.append("branch")
    if ordered and order:
        names.append("order")
    here = float(np.angle(traced.b - traced.a))
    theta = circuits[best].at(np.nan_to_num(chosen))[0] - here
    drive = np.where(np.isfinite(chosen), _run(theta, circuits[best]), np.nan)
    swing = None
    if not circuits[0].full:
        middle = float(np.mod(circuits[0].middle - here + np.pi, TURN) - np.pi)
        swing = (middle - circuits[0].half, middle + circuits[0].half)
    distance = np.array([x.nearest for x in met[best]])
    return DefectReport(tuple(names), drive, distance, swing, traced.least_transmission(), traced.change_point, traced.full_turn)


def _at_angles(traced: CrankLinkage, circuit: CrankCircuit, angles: Array) -> list[Encounter]:
    """Drive angles of the drawn branch."""
    theta = angles + np.angle(traced.b - traced.a)
    places = circuit.place(theta, np.full(theta.shape, traced.sigma))
    return [Encounter(places[k : k + 1][np.isfinite(places[k : k + 1])], np.zeros(1), 0.0) for k in range(len(theta))]


def _met(traced: CrankLinkage, circuit: CrankCircuit, wanted: Array, rotations: Any, near: float) -> list[Encounter]:
    """Places near each wanted point; with rotations only the one with that rotation."""
    if traced.p is None:
        raise UsageError("the linkage has no point on its coupler. Defects of a path need one.", name="linkage")
    if rotations is not None:
        return _exactly(traced, circuit, wanted, np.asarray(rotations, dtype=float), near)
    s = np.arange(SAMPLES) * (TURN / SAMPLES)
    path = traced.path(*circuit.at(s))
    step = float(np.abs(np.diff(path)).max())
    out: list[Encounter] = []
    for first in range(0, len(wanted), BLOCK):
        block = wanted[first : first + BLOCK]
        distance = np.abs(path - block[:, None])
        least = distance.min(axis=1)
        low = (distance <= np.roll(distance, 1, axis=1)) & (distance < np.roll(distance, -1, axis=1))
        rows, minima = np.nonzero(low & (distance <= (least + 2.0 * near + 2.0 * step)[:, None]))
        at, exact = _golden(traced, circuit, block[rows], s[minima])
        for k in range(len(block)):
            mine = exact[rows == k]
            there = mine <= near
            nearest = float(mine.min(initial=float(least[k])))
            out.append(Encounter(at[rows == k][there], mine[there], nearest, s[distance[k] <= near]))
    return out


def _golden(traced: CrankLinkage, circuit: CrankCircuit, points: Array, s: Array) -> tuple[Array, Array]:
    """Minima of the distance to points near samples s, all at once."""
    ratio = 0.5 * (np.sqrt(5.0) - 1.0)
    low, high = s - TURN / SAMPLES, s + TURN / SAMPLES

    def distance(x: Array) -> Array:
        return np.abs(traced.path(*circuit.at(x)) - points)

    refined = 40  # steps of the golden section: below rounding
    for _ in range(refined):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        nearer = distance(left) < distance(right)
        low, high = np.where(nearer, low, left), np.where(nearer, right, high)
    middle = 0.5 * (low + high)
    return np.mod(middle, TURN), distance(middle)


def _exactly(traced: CrankLinkage, circuit: CrankCircuit, wanted: Array, rotations: Array, near: float) -> list[Encounter]:
    """Positions of the coupler given by point and rotation: the pins are where the coupler carries them."""
    if rotations.shape != wanted.shape:
        raise UsageError(f"{len(wanted)} points have {counted(rotations.size, 'rotation')}. Give one for each.", name="rotation")
    assert traced.p is not None
    turn = np.exp(1j * rotations)
    b, c = wanted + turn * (traced.b - traced.p), wanted + turn * (traced.c - traced.p)
    theta = np.angle(b - traced.a)
    sigma = traced.side(b, c)
    places = circuit.place(theta, sigma)
    missed = np.abs(traced.path(theta, sigma) - wanted)
    found = np.isfinite(places) & (missed <= near)
    return [Encounter(places[k : k + 1][found[k : k + 1]], missed[k : k + 1], float(missed[k])) for k in range(len(wanted))]


def _chosen(circuit: CrankCircuit, met: Sequence[Encounter]) -> tuple[Array, bool, bool]:
    """Places of the positions with the fewest defects: s (NaN where none), branch defect, order defect."""
    there = [k for k, x in enumerate(met) if len(x.s)]
    chosen = np.full(len(met), np.nan)
    if not there:
        return chosen, False, False
    across = False
    # the nearest places if they are in order, else any that are near enough
    for places in ([met[k].s for k in there], [np.append(met[k].s, met[k].around) for k in there]):
        sides = [places] if circuit.full else [[x[(np.sin(x) >= 0.0) == upper] for x in places] for upper in (True, False)]
        sides = [each for each in sides if all(len(x) for x in each)]
        across = not sides
        for each in sides or [places]:
            for direction in (1.0, -1.0):
                found = _in_order(each, direction, cyclic=circuit.full or across)
                if found is not None:
                    chosen[there] = found
                    return chosen, across, False
    chosen[there] = [met[k].s[int(np.argmin(met[k].distance[: len(met[k].s)]))] for k in there]
    return chosen, across, True


def _in_order(places: Sequence[Array], direction: float, *, cyclic: bool) -> Array | None:
    """Return one place of each position so that all follow each other within one round, or one way; None if there is no such choice."""
    best = None
    for first in places[0][:: 1 + len(places[0]) // FIRST_PLACES]:
        out, traveled = [first], 0.0
        for candidates in places[1:]:
            ahead = direction * (candidates - out[-1])
            ahead = np.mod(ahead, TURN) if cyclic else np.where(ahead >= 0.0, ahead, np.inf)
            k = int(np.argmin(ahead))
            traveled += float(ahead[k])
            out.append(candidates[k])
        limit = TURN * (1.0 + 1e-9) if cyclic else np.inf
        if traveled < limit and (best is None or traveled < best[0]):
            best = (traveled, np.array(out))
    return None if best is None else best[1]


def _run(theta: Array, circuit: CrankCircuit) -> Array:
    """Drive angles that follow each other: of a full turn in the direction of least travel."""
    if not circuit.full or len(theta) < 2:
        return np.mod(theta + np.pi, TURN) - np.pi if circuit.full else theta
    steps = np.diff(theta)
    up, down = np.mod(steps, TURN), -np.mod(-steps, TURN)
    first = float(np.mod(theta[0] + np.pi, TURN) - np.pi)
    return first + np.concatenate([[0.0], np.cumsum(up if up.sum() <= -down.sum() else down)])

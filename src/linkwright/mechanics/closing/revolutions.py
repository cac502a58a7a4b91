"""Whole turns on the way to a wanted angle: one is walked, the others are added.

Where one turn of a joint brings every body back into its place, so do all further ones, and every joint angle grows by the same
multiple of 2 pi each time. So an angle of 700 rad costs one turn and the rest of the way, not 111 turns. A joint that cannot
turn fully, or whose mechanism has a cycle of several turns (gears), is walked all the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.mechanics.closing.continuation import start, walk
from linkwright.mechanics.closing.idle import spun_in_place
from linkwright.mechanics.constraints import Constraint, Driver
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.motion import motion
from linkwright.model.curves.lines import Line

TURN = 2.0 * np.pi
FEW = 2  # turns that are walked as they are
RETURNED = 1e-6  # of rotation matrices, and of positions in kappa: bodies that far apart are in the same place

Place = tuple[np.ndarray, Mapping[str, Any]]  # q, reference coordinates by joint


def skipped(loops: Loops, q: np.ndarray, references: Mapping[str, Any], targets: Sequence[Constraint]) -> tuple[Place, list[Constraint]]:
    """The place after all whole turns that can be added, and the targets that lead on from there."""
    here, left = (q, references), list(targets)
    for i, target in enumerate(targets):
        turns = _turns(target)
        if abs(turns) <= FEW or not isinstance(target, Driver) or not isinstance(target.law, Line):
            continue
        others = [_held(t) for k, t in enumerate(left) if k != i]
        if any(t is None for t in others):
            continue
        sign = 1.0 if turns > 0 else -1.0
        once = replace(target, law=Line(target.law.offset, sign * TURN))
        gained = _one_turn(loops.with_([once, *(t for t in others if t is not None)]), *here)
        if gained is None:
            continue
        n = abs(turns)
        here = here[0] + n * gained[0], {name: np.asarray(x) + n * gained[1][name] for name, x in here[1].items()}
        done = turns * TURN
        left[i] = replace(target, law=Line(target.law.offset + done, target.law.slope - done))
    return here, left


def _turns(target: Constraint) -> int:
    """Whole turns a target asks for."""
    if isinstance(target, Driver) and isinstance(target.law, Line) and target.kinds == ("angle",):
        return int(target.law.slope / TURN)
    return 0


def _held(target: Constraint) -> Constraint | None:
    """The same coordinate at rest where it begins; None for points and poses."""
    if isinstance(target, Driver) and isinstance(target.law, Line):
        return replace(target, law=Line(target.law.offset, 0.0))
    return None


def _one_turn(tied: Loops, q: np.ndarray, references: Mapping[str, Any]) -> Place | None:
    """Changes of q and of the reference coordinates in one turn; None if it ends before, or elsewhere."""
    there = walk(tied, start(tied, q, references), 1.0).at
    if there.t < 1.0 or not returned(tied, q, there.q):
        return None
    tree = tied.skel.tree
    dq = np.zeros(len(q))
    for jt, node in zip(tied.skel.types, tree.nodes, strict=True):
        dq[node.q] = _whole(jt.coordinate_kinds, there.q[node.q] - q[node.q])
    every = {j.name: joints.create(j.type, j.options).coordinate_kinds for j in (*tree.description.joints, *(n.joint for n in tree.nodes))}
    return dq, {name: _whole(every[name], np.asarray(there.references[name]) - np.asarray(x)) for name, x in references.items()}


def _whole(kinds: Sequence[str], change: np.ndarray) -> np.ndarray:
    """The whole turns in a change of a joint's coordinates: angles only."""
    angles = np.array([k == "angle" for k in kinds], dtype=bool)
    return np.where(angles, TURN * np.rint(change / TURN), 0.0) if len(angles) == len(change) else np.zeros(len(change))


def returned(loops: Loops, q: np.ndarray, later: np.ndarray) -> bool:
    """True if every body has the same pose at both positions, or has only spun in place meanwhile (a rod between ball joints)."""
    kinds = [k for jt in loops.skel.types for k in jt.coordinate_kinds]
    change = later - q
    if len(kinds) == len(q):  # equal coordinates, or angles by whole turns, need no look at the bodies
        change = np.where([k == "angle" for k in kinds], change - TURN * np.rint(change / TURN), change / min(1.0, loops.kappa))
        if np.abs(change).sum() < 0.1 * RETURNED:
            return True
    still = np.zeros(loops.skel.tree.nv)
    first, last = motion(loops.skel, q, still), motion(loops.skel, later, still)
    gaps = [max(np.abs(A.p - B.p).max() / loops.kappa, np.abs(A.R - B.R).max()) for A, B in zip(first.X, last.X, strict=True)]
    away = {n.body for n, gap in zip(loops.skel.tree.nodes, gaps, strict=True) if gap >= RETURNED}
    return not away or away <= spun_in_place(loops, first, last, RETURNED)

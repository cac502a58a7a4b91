"""Loads of a whole turn at once.

Where drives and constraints carry the motion in exactly one way, J' lam + B u = M a + h is solved for all samples together:
the terms are read once on symbols (`batch_channels`), the small systems go through one stacked decomposition, and what the
loads do in any joint is read on symbols again, with these multipliers and efforts in place. Samples where something is left
open or missing (singular positions, redundant joints, idle spins) are solved one by one as before; so is everything if the
answers of the first and the middle sample do not agree with `inverse.solve`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwright import forces
from linkwright.batch_channels import Batch
from linkwright.channels import Channel, Instant
from linkwright.inverse import posed
from linkwright.inverse.given import Acted
from linkwright.inverse.problem import UNDRIVEN, Problem
from linkwright.linalg import RANK_TOLERANCE
from linkwright.loops import Loops

AGREEMENT = 1e-8  # of the largest effort: two ways of solving differ by round-off times the condition
MOST_OPEN = 0.25  # share of samples to solve one by one above which nothing is gained


class TurnLoads:
    """Channels of loads over all samples of a turn; `open` are the samples that `instant(i)` has to solve."""

    def __init__(self, batch: Batch, u: np.ndarray, open_: np.ndarray, instant: Callable[[int], Instant]):
        self.batch, self.u, self.open, self.instant = batch, u, open_, instant

    @classmethod
    def of(cls, loops: Loops, rows: Mapping[str, np.ndarray], drives: Sequence[str], instant: Callable[[int], Instant]) -> TurnLoads | None:
        """None where the samples have to be solved one by one."""
        frictions = loops.skel.tree.description.frictions
        if any(f.mu for f in frictions) or not any(_carried(loops, instant(i), drives) for i in (0, len(rows["q"]) // 3)):
            return None  # friction by load is a fixed point
        found = _terms(loops, rows, drives)
        solved = None if found is None else _solved(loops, *found)
        if solved is None:
            return None
        lam, u, carried = solved
        left = np.flatnonzero(~carried)
        if len(left) > MOST_OPEN * len(u) or not _agrees(u, carried, instant, drives):
            return None
        for i in left:
            u[i] = instant(int(i)).loads.u
        acted = Acted(lam, {name: u[:, k] for k, name in enumerate(drives)}, {})
        return cls(Batch(loops, rows, acted), u, left, instant)

    def values(self, named: Mapping[str, Callable[[Instant], Any]]) -> dict[str, np.ndarray]:
        """What can be read at all samples together, the open ones put in as they are solved."""
        found = self.batch.values(named)
        for name, x in found.items():
            for i in self.open:
                x[i] = np.asarray(named[name](self.instant(int(i))), dtype=float)
        return found

    def read(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        return self.values({c.name: c.read for c in channels})


def _problem(loops: Loops, x: Instant, drives: Sequence[str]) -> Problem:
    at = forces.Moment(x.skel, x.motion, x.t, x.near)
    external = [w for f in forces.of_description(x.skel.tree.description) for w in f.wrenches(at)]
    return posed(loops, x.q, x.v, x.known_a, x.t, x.near, external, drives, x.motion)


def _carried(loops: Loops, x: Instant, drives: Sequence[str]) -> bool:
    """Whether one sample has one answer; if not, most others have none or many either."""
    p = _problem(loops, x, drives)
    return p.factors.rank == p.matrix.shape[1] and p.driven


def _terms(loops: Loops, rows: Mapping[str, np.ndarray], drives: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """J, B and g of all samples."""
    here: list[Problem] = []

    def problem(x: Instant) -> Problem:
        if not here:
            here.append(_problem(loops, x, drives))
        return here[0]

    named = {"J": lambda x: problem(x).terms.J, "B": lambda x: problem(x).B, "g": lambda x: problem(x).g}
    found = Batch(loops, rows).values(named)
    return (found["J"], found["B"], found["g"]) if len(found) == len(named) else None


def _solved(loops: Loops, J: np.ndarray, B: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """lam, u, and whether they are the only ones and carry the motion; scaled as in `inverse.problem`."""
    nc, c = J.shape[1], loops.columns
    sizes = np.sqrt(np.sum((B * c[:, None]) ** 2, axis=1))
    r = np.concatenate([np.tile(loops.row_scale, (len(g), 1)), np.where(sizes > 0.0, sizes, 1.0)], axis=1)
    A = np.concatenate([J.transpose(0, 2, 1), B], axis=2) * c[:, None] / r[:, None, :]
    if A.shape[2] > A.shape[1] or 0 in A.shape or not np.abs(A).max() <= 1e150:
        return None
    need = g * c
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    whole = s > RANK_TOLERANCE
    y = np.einsum("nij,ni->nj", U, need) / np.where(whole, s, 1.0)
    z = np.einsum("nji,nj->ni", Vt, y)
    missing = np.abs(np.einsum("nij,nj->ni", A, z) - need).max(axis=1)
    carried = whole.all(axis=1) & (missing <= UNDRIVEN * (1.0 + np.abs(need).max(axis=1)))
    z = np.where(carried[:, None], z, 0.0) / r
    return z[:, :nc], z[:, nc:], carried


def _agrees(u: np.ndarray, carried: np.ndarray, instant: Callable[[int], Instant], drives: Sequence[str]) -> bool:
    """Whether single samples say the same: a force or joint of the user's own may compute differently on symbols."""
    size = 1.0 + np.abs(u).max(initial=0.0)
    sure = np.flatnonzero(carried)
    if not len(sure):
        return False
    pairs = [(u[i], instant(int(i)).loads.tau) for i in (sure[0], sure[len(sure) // 2])]
    return all(abs(mine[k] - one[name]) <= AGREEMENT * size for mine, one in pairs for k, name in enumerate(drives))

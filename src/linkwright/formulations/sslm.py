"""Subsystem-level multipliers: the GICM block by block, eliminated loop by loop  [Koul2013 (15)-(24)].

    I_ik = sum over the subsystems j that loops i and k share of J_ij I_j^-1 J_kj'
    psi_i = -k_i - sum over j of J_ij I_j^-1 (tau_j - h_j)
    sum over k of I_ik lam_k = psi_i        a_j = I_j^-1 (tau_j - h_j + sum over i of J_ij' lam_i)

Blocks exist only where loops share a subsystem, so no matrix of system size is formed; loops are eliminated in a
fill-reducing order. A vanishing pivot belongs to a row implied by the rows before it: its multiplier is zero. Once
the multipliers are known they are external forces on the subsystems, whose accelerations follow by back-substitution
or, for long ones, by the O(n) recursion (by operation count; both give the same).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import dynamics
from linkwright.closure import loop_wrenches
from linkwright.formulations.base import Raw
from linkwright.formulations.slm import ZERO_PIVOT
from linkwright.linalg import Ldl, ldl
from linkwright.terms import Terms

RECURSION_FROM = 10  # velocities of a subsystem from which the recursion is cheaper than back-substitution


@dataclass(frozen=True)
class Gicm:
    """Generalised inertia constraint matrix in blocks, with the right side psi, and what was needed for it."""

    blocks: dict[tuple[int, int], Any]  # (i, k) with i >= k in elimination position
    psi: list[Any]
    free: list[Any]  # I_j^-1 (tau_j - h_j)
    carried: dict[tuple[int, int], Any]  # (i, j) -> I_j^-1 J_ij'
    members: dict[tuple[int, int], tuple[int, ...]]  # which subsystems form a block


def gicm(terms: Terms, tau: Any) -> Gicm:
    """Form the blocks: sums over the subsystems two loops share."""
    factors = [ldl(I) for I in terms.I]
    free = [f.solve(tau[s] - h) for f, s, h in zip(factors, terms.spans, terms.bias, strict=True)]
    carried = {(i, j): factors[j].solve(B.T.copy()) for (i, j), B in terms.blocks.items()}
    position = {loop: p for p, loop in enumerate(terms.order)}
    by_subsystem: dict[int, list[int]] = {}
    for i, j in terms.blocks:
        by_subsystem.setdefault(j, []).append(i)
    blocks: dict[tuple[int, int], Any] = {}
    members: dict[tuple[int, int], tuple[int, ...]] = {}
    for j, loops in by_subsystem.items():
        for i in loops:
            for k in loops:
                if position[i] >= position[k]:
                    part = terms.blocks[i, j] @ carried[k, j]
                    blocks[i, k] = blocks[i, k] + part if (i, k) in blocks else part
                    members[i, k] = (*members.get((i, k), ()), j)
    psi = []
    for i, k in enumerate(terms.k_parts):
        value = -k
        for j in terms.touched[i]:
            value = value - terms.blocks[i, j] @ free[j]
        psi.append(value)
    return Gicm(blocks, psi, free, carried, members)


def eliminate(g: Gicm, order: tuple[int, ...]) -> tuple[list[Any], list[tuple[int, int]], float]:
    """Block LDL' in the given loop order. Returns (lam by loop, implied rows as (loop, row), smallest pivot)."""
    blocks, psi = dict(g.blocks), list(g.psi)
    diagonal = {i: [blocks[i, i][r, r] for r in range(len(psi[i]))] for i in order if (i, i) in blocks}
    pivots: dict[int, Ldl] = {}
    below: dict[int, list[tuple[int, Any]]] = {}
    for at, p in enumerate(order):
        if (p, p) not in blocks:
            continue
        pivots[p] = ldl(blocks[p, p], tolerance=ZERO_PIVOT, diagonal=diagonal[p])
        later = [i for i in order[at + 1 :] if (i, p) in blocks]
        weights = {i: pivots[p].solve(blocks[i, p].T.copy()).T for i in later}
        below[p] = list(weights.items())
        for n, i in enumerate(later):
            psi[i] = psi[i] - weights[i] @ psi[p]
            for k in later[: n + 1]:
                change = weights[i] @ blocks[k, p].T
                blocks[i, k] = blocks[i, k] - change if (i, k) in blocks else -change
    lam: list[Any] = [np.zeros(len(x)) for x in psi]
    for p in reversed(order):
        if p not in pivots:
            continue
        lam[p] = pivots[p].solve(psi[p].copy())
        for i, weight in below[p]:
            lam[p] = lam[p] - weight.T @ lam[i]
        for r in pivots[p].zero:
            lam[p][r] = 0.0 * lam[p][r]
    dropped = [(p, r) for p, f in pivots.items() for r in f.zero]
    return lam, dropped, min((f.smallest for f in pivots.values()), default=1.0)


@dataclass(frozen=True)
class Sslm:
    needs_inertia = True
    handles_redundant = True
    recursion: bool | None = None  # None: by operation count

    def __call__(self, terms: Terms, tau: Any) -> Raw:
        g = gicm(terms, tau)
        lam, implied, smallest = eliminate(g, terms.order)
        stacked = np.concatenate(lam) if lam else np.zeros(0)
        dropped = tuple(sorted(terms.rows[p].start + r for p, r in implied))
        return Raw(self._accelerations(terms, tau, g, lam, stacked), stacked, dropped, smallest)

    def _accelerations(self, terms: Terms, tau: Any, g: Gicm, lam: list[Any], stacked: Any) -> Any:
        longest = max((s.stop - s.start for s in terms.spans), default=0)
        recursive = self.recursion if self.recursion is not None else longest >= RECURSION_FROM
        whole = terms.place is not None and len(stacked) == len(terms.place.closure.k)
        if recursive and whole and terms.place is not None:
            p = terms.place
            pushes = [*p.external, *loop_wrenches(p.loops.skel, p.closure, stacked)]
            return dynamics.forward_tree(p.loops.skel, p.motion, tau, pushes)
        out = []
        for j, free in enumerate(g.free):
            a = free
            for (i, touched), X in g.carried.items():
                if touched == j:
                    a = a + X @ lam[i]
            out.append(a)
        return np.concatenate(out) if out else np.zeros(0)

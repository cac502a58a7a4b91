"""Subsystem-level multipliers: the GICM block by block, eliminated loop by loop  [Koul2013 (15)-(24)].

    I_ik = sum over the subsystems j that loops i and k share of J_ij I_j^-1 J_kj'
    psi_i = -k_i - sum over j of J_ij I_j^-1 (tau_j - h_j)
    sum over k of I_ik lam_k = psi_i        a_j = I_j^-1 (tau_j - h_j + sum over i of J_ij' lam_i)

Blocks exist only where loops share a subsystem, so no matrix of system size is formed; loops are eliminated in a
fill-reducing order. A vanishing pivot belongs to a row implied by the rows before it: its multiplier is zero. Once
the multipliers are known they are external forces on the subsystems, whose accelerations follow by back-substitution
or, for long ones, by the O(n) recursion (by operation count; both give the same).

A subsystem that many loops touch (the platform of a parallel robot) couples all of them once its inertia is eliminated.
It may be named in the order instead, as number of loops + its index: its accelerations a_l then stay unknowns beside the
multipliers, in the rows  J_il' lam_i - I_l a_l = -(tau_l - h_l),  and the loops of the legs stay uncoupled.
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
    """Generalised inertia constraint matrix in blocks, with the right side psi, and what was needed for it.

    Inertias are factored tips first (I_j = L D L' with rows and columns reversed), so a branched subsystem has no fill.
    """

    blocks: dict[tuple[int, int], Any]  # (i, k) with i not before k in the order
    psi: dict[int, Any]
    factors: dict[int, Ldl]  # of the subsystems eliminated first
    free: dict[int, Any]  # D^-1 L^-1 (tau_j - h_j)
    carried: dict[tuple[int, int], Any]  # (i, j) -> D^-1 L^-1 J_ij'
    members: dict[tuple[int, int], tuple[int, ...]]  # which subsystems form a block


def gicm(terms: Terms, tau: Any) -> Gicm:
    """Form the blocks: sums over the subsystems two loops share."""
    count = len(terms.k_parts)
    late = {node - count for node in terms.order if node >= count}
    factors = {j: ldl(I[::-1, ::-1]) for j, I in enumerate(terms.I) if j not in late}
    half = {j: f.forward((tau[terms.spans[j]] - terms.bias[j])[::-1]) for j, f in factors.items()}
    halves = {(i, j): factors[j].forward(B.T[::-1]) for (i, j), B in terms.blocks.items() if j not in late}
    carried = {(i, j): factors[j].divided(Y) for (i, j), Y in halves.items()}
    position = {node: p for p, node in enumerate(terms.order)}
    by_subsystem: dict[int, list[int]] = {}
    for i, j in halves:
        by_subsystem.setdefault(j, []).append(i)
    blocks: dict[tuple[int, int], Any] = {}
    members: dict[tuple[int, int], tuple[int, ...]] = {}
    for j, loops in by_subsystem.items():
        for i in loops:
            for k in loops:
                if position[i] >= position[k]:
                    part = halves[i, j].T @ carried[k, j]
                    blocks[i, k] = blocks[i, k] + part if (i, k) in blocks else part
                    members[i, k] = (*members.get((i, k), ()), j)
    psi = {i: -k for i, k in enumerate(terms.k_parts)}
    for (i, j), Z in carried.items():
        psi[i] = psi[i] - Z.T @ half[j]
    for l in late:
        blocks[count + l, count + l] = -terms.I[l]
        psi[count + l] = terms.bias[l] - tau[terms.spans[l]]
    for (i, j), B in terms.blocks.items():
        if j in late:
            after = position[count + j] > position[i]
            blocks[(count + j, i) if after else (i, count + j)] = B.T if after else B
    return Gicm(blocks, psi, factors, {j: f.divided(half[j]) for j, f in factors.items()}, carried, members)


@dataclass(frozen=True)
class Eliminated:
    """Block LDL' of the GICM and the solution by node: multipliers of loops, accelerations of late subsystems."""

    solution: dict[int, Any]
    pivots: dict[int, Ldl]

    @property
    def implied(self) -> list[tuple[int, int]]:
        """Rows with a vanishing pivot as (loop, row)."""
        return [(p, r) for p, f in self.pivots.items() for r in f.zero]


def eliminate(g: Gicm, order: tuple[int, ...]) -> Eliminated:
    """Block LDL' in the given order, half of it on the right sides, then back."""
    blocks, psi = dict(g.blocks), dict(g.psi)
    below: dict[int, list[int]] = {p: [] for p in order}
    position = {node: p for p, node in enumerate(order)}
    for i, k in blocks:
        if i != k:
            below[k].append(i)
    diagonal = {p: [blocks[p, p][r, r] for r in range(len(psi[p]))] for p in order if (p, p) in blocks}
    pivots: dict[int, Ldl] = {}
    weights: dict[tuple[int, int], Any] = {}
    for p in order:
        if (p, p) not in blocks:
            continue
        f = pivots[p] = ldl(blocks[p, p], tolerance=ZERO_PIVOT, diagonal=diagonal[p])
        below[p].sort(key=position.__getitem__)
        halves = {i: f.forward(blocks[i, p].T) for i in below[p]}
        psi[p] = f.forward(psi[p])
        for n, i in enumerate(below[p]):
            Z = weights[i, p] = f.divided(halves[i])
            psi[i] = psi[i] - Z.T @ psi[p]
            for k in below[p][: n + 1]:
                change = Z.T @ halves[k]
                if (i, k) in blocks:
                    blocks[i, k] = blocks[i, k] - change
                else:
                    blocks[i, k] = -change
                    below[k].append(i)
    solution: dict[int, Any] = {p: np.zeros(len(psi[p])) for p in order}
    for p in reversed(order):
        if p in pivots:
            z = pivots[p].divided(psi[p])
            for i in below[p]:
                z = z - weights[i, p] @ solution[i]
            solution[p] = pivots[p].backward(z)
    return Eliminated(solution, pivots)


@dataclass(frozen=True)
class Sslm:
    needs_inertia = True
    handles_redundant = True
    recursion: bool | None = None  # None: by operation count

    def __call__(self, terms: Terms, tau: Any) -> Raw:
        g = gicm(terms, tau)
        done = eliminate(g, terms.order)
        parts = [done.solution[i] for i in range(len(terms.k_parts))]
        lam = np.concatenate(parts) if parts else np.zeros(0)
        count = len(terms.k_parts)
        dropped = tuple(sorted(terms.rows[p].start + r for p, r in done.implied if p < count))
        late = any(p >= count for p, _ in done.implied)  # no such motion: the order does not suit this position
        smallest = 0.0 if late else min((f.smallest for f in done.pivots.values()), default=1.0)
        watch = tuple(pair for f in (*g.factors.values(), *done.pivots.values()) for pair in f.watch)  # late ones are negative
        return Raw(self._accelerations(terms, tau, g, done, lam), lam, dropped, smallest, watch)

    def _accelerations(self, terms: Terms, tau: Any, g: Gicm, done: Eliminated, lam: Any) -> Any:
        longest = max((s.stop - s.start for s in terms.spans), default=0)
        recursive = self.recursion if self.recursion is not None else longest >= RECURSION_FROM
        whole = terms.place is not None and len(lam) == len(terms.place.closure.k)
        if recursive and whole and terms.place is not None:
            p = terms.place
            pushes = [*p.external, *loop_wrenches(p.loops.skel, p.closure, lam)]
            return dynamics.forward_tree(p.loops.skel, p.motion, tau, pushes)
        z = dict(g.free)
        for (i, j), Z in g.carried.items():
            z[j] = z[j] + Z @ done.solution[i]
        count = len(terms.k_parts)
        out = [g.factors[j].backward(z[j])[::-1] if j in g.factors else done.solution[count + j] for j in range(len(terms.I))]
        return np.concatenate(out) if out else np.zeros(0)

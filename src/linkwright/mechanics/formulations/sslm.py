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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwright.mechanics.constraints.loops import loop_wrenches
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.formulations.base import Formulation, RawSolution
from linkwright.mechanics.formulations.slm import ZERO_PIVOT
from linkwright.numerics.linalg import Ldl, ldl

RECURSION_FROM = 10  # velocities of a subsystem from which the recursion is cheaper than back-substitution


@dataclass(frozen=True)
class Gicm:
    """Generalized inertia constraint matrix in blocks, and what was needed for it.

    Inertias are factored tips first (I_j = L D L' with rows and columns reversed), so a branched subsystem has no fill.
    """

    blocks: dict[tuple[int, int], Any]  # (i, k) with i not before k in the order
    factors: dict[int, Ldl]  # of the subsystems eliminated first
    carried: dict[tuple[int, int], Any]  # (i, j) -> D^-1 L^-1 J_ij'
    members: dict[tuple[int, int], tuple[int, ...]]  # which subsystems form a block


def gicm(terms: Terms) -> Gicm:
    """Form the blocks: sums over the subsystems two loops share."""
    count = len(terms.k_parts)
    late = {node - count for node in terms.order if node >= count}
    factors = {j: ldl(I[::-1, ::-1]) for j, I in enumerate(terms.I) if j not in late}
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
    for l in late:
        blocks[count + l, count + l] = -terms.I[l]
    for (i, j), B in terms.blocks.items():
        if j in late:
            after = position[count + j] > position[i]
            blocks[(count + j, i) if after else (i, count + j)] = B.T if after else B
    return Gicm(blocks, factors, carried, members)


@dataclass(frozen=True)
class Factors:
    """Block LDL' of the GICM in the terms' order, ready for right sides: one vector, or a column for each of several."""

    terms: Terms
    gicm: Gicm
    pivots: dict[int, Ldl]
    weights: dict[tuple[int, int], Any]  # (i, p) -> D^-1 L^-1 of the coupling of node i to the pivot p
    below: dict[int, list[int]]  # nodes coupled to each pivot and eliminated after it

    @property
    def implied(self) -> list[tuple[int, int]]:
        """Rows with a vanishing pivot as (loop, row)."""
        return [(p, r) for p, f in self.pivots.items() for r in f.zero]

    @property
    def watch(self) -> tuple[tuple[Any, Any], ...]:
        """All pivots with what they are measured against; those of late subsystems are negative."""
        return tuple(pair for f in (*self.gicm.factors.values(), *self.pivots.values()) for pair in f.watch)

    def solve(self, force: Any, k: Any) -> tuple[Any, Any]:
        """(a, lam) with I a = force + J' lam and J a = -k."""
        terms, g, order = self.terms, self.gicm, self.terms.order
        count, spans = len(terms.k_parts), terms.spans
        half = {j: f.forward(force[spans[j]][::-1]) for j, f in g.factors.items()}
        psi = {i: -k[r] for i, r in enumerate(terms.rows)}
        psi |= {node: -force[spans[node - count]] for node in order if node >= count}
        for (i, j), Z in g.carried.items():
            psi[i] = psi[i] - Z.T @ half[j]
        for p, f in self.pivots.items():
            psi[p] = f.forward(psi[p])
            for i in self.below[p]:
                psi[i] = psi[i] - self.weights[i, p].T @ psi[p]
        found: dict[int, Any] = {p: 0.0 * x for p, x in psi.items()}
        for p in reversed(order):
            if p in self.pivots:
                z = self.pivots[p].divided(psi[p])
                for i in self.below[p]:
                    z = z - self.weights[i, p] @ found[i]
                found[p] = self.pivots[p].backward(z)
        z = {j: f.divided(half[j]) for j, f in g.factors.items()}
        for (i, j), Z in g.carried.items():
            z[j] = z[j] + Z @ found[i]
        a = [g.factors[j].backward(z[j])[::-1] if j in g.factors else found[count + j] for j in range(len(terms.I))]
        lam = [found[i] for i in range(count)]
        return np.concatenate(a) if a else 0.0 * force, np.concatenate(lam) if lam else 0.0 * k


def factorize(terms: Terms) -> Factors:
    """Form the GICM and eliminate it block by block in the given order."""
    g, order = gicm(terms), terms.order
    blocks = dict(g.blocks)
    below: dict[int, list[int]] = {p: [] for p in order}
    position = {node: p for p, node in enumerate(order)}
    for i, k in blocks:
        if i != k:
            below[k].append(i)
    diagonal = {p: np.diagonal(blocks[p, p]) for p in order if (p, p) in blocks}
    pivots: dict[int, Ldl] = {}
    weights: dict[tuple[int, int], Any] = {}
    for p in order:
        if (p, p) not in blocks:
            continue
        f = pivots[p] = ldl(blocks[p, p], tolerance=ZERO_PIVOT, diagonal=diagonal.get(p))  # none: filled in by what was eliminated
        below[p].sort(key=position.__getitem__)
        halves = {i: f.forward(blocks[i, p].T) for i in below[p]}
        for n, i in enumerate(below[p]):
            Z = weights[i, p] = f.divided(halves[i])
            for k in below[p][: n + 1]:
                change = Z.T @ halves[k]
                if (i, k) in blocks:
                    blocks[i, k] = blocks[i, k] - change
                else:
                    blocks[i, k] = -change
                    below[k].append(i)
    return Factors(terms, g, pivots, weights, below)


@dataclass(frozen=True)
class Sslm:
    needs_inertia: ClassVar[bool] = True
    handles_redundant: ClassVar[bool] = True
    drops_lost_rows: ClassVar[bool] = False
    recursion: bool | None = None  # None: by operation count

    def __call__(self, terms: Terms, tau: Any) -> RawSolution:
        F = factorize(terms)
        a, lam = F.solve(tau - terms.h, terms.k)
        count = len(terms.k_parts)
        dropped = tuple(sorted(terms.rows[p].start + r for p, r in F.implied if p < count))
        late = any(p >= count for p, _ in F.implied)  # no such motion: the order does not suit this position
        smallest = 0.0 if late else min((f.smallest for f in F.pivots.values()), default=1.0)
        longest = max((s.stop - s.start for s in terms.spans), default=0)
        recursive = self.recursion if self.recursion is not None else longest >= RECURSION_FROM
        if recursive and terms.place is not None and len(lam) == len(terms.place.closure.k):
            p = terms.place
            pushes = [*p.external, *loop_wrenches(p.loops.skel, p.closure, lam)]
            a = dynamics.forward_tree(p.loops.skel, p.motion, tau, pushes, p.rotors)
        return RawSolution(a, lam, dropped, smallest, F.watch)

    def matrix(self, terms: Terms) -> np.ndarray:
        return terms.J @ np.linalg.solve(terms.M, terms.J.T)

    def traced(self) -> Formulation:
        # the factors are there already: substitution takes fewer operations than the recursion, however long a subsystem is
        return Sslm(recursion=False)

    def variants(self) -> Mapping[str, Formulation]:
        return {"": self}

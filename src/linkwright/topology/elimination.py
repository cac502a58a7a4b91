"""Symbolic block elimination: a fill-reducing order of the loops, and what eliminating in it costs.

Loops are coupled where they touch a common subsystem, so the pattern is given by cliques (one a
subsystem). Merging cliques instead of storing edges keeps thousands of loops cheap.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence


def eliminate(
    cliques: Sequence[Collection[int]], weights: Sequence[int], hub: Collection[int] = (), hub_weight: int = 0
) -> tuple[list[int], float]:
    """(order, flops) of eliminating blocks of sizes `weights` by minimum degree; ties in the order given.

    Each of `cliques` lists blocks that are all coupled to one another. One more block, the hub, may be
    coupled to the blocks `hub`; it is eliminated last and not listed.
    """
    pattern = _Pattern(cliques, weights, hub, hub_weight)
    heap = [(pattern.degree(v), v) for v in range(len(weights))]
    heapq.heapify(heap)
    order: list[int] = []
    flops = elimination_flops(hub_weight, 0)
    while heap:
        degree, v = heapq.heappop(heap)
        if pattern.done[v]:
            continue
        now = pattern.degree(v)
        if now > degree:  # stale: degrees have grown by fill
            heapq.heappush(heap, (now, v))
            continue
        batch, touched = pattern.remove(v)
        rest = now + weights[v]
        for u in batch:
            rest -= weights[u]
            flops += elimination_flops(weights[u], rest)
        order += batch
        for u in touched:
            heapq.heappush(heap, (pattern.degree(u), u))
    return order, flops


def elimination_flops(block: int, rest: int) -> float:
    """LDL' of a block, its coupling to `rest` solved, and the symmetric update of the rest."""
    return block**3 / 3 + block**2 * rest + block * rest * (rest + 1)


class _Pattern:
    """A graph held as cliques; eliminating a block merges the cliques it is in."""

    def __init__(self, cliques: Sequence[Collection[int]], weights: Sequence[int], hub: Collection[int], hub_weight: int):
        self.weights, self.hub_weight = weights, hub_weight
        self.cliques: dict[int, frozenset[int]] = {c: frozenset(members) for c, members in enumerate(cliques) if members}
        self.member_of: list[set[int]] = [set() for _ in weights]
        for c, members in self.cliques.items():
            for v in members:
                self.member_of[v].add(c)
        self.at_hub = [False] * len(weights)
        for v in hub:
            self.at_hub[v] = True
        self.hub_cliques: set[int] = set()  # cliques that the hub belongs to
        self.done = [False] * len(weights)
        self.unions: dict[frozenset[int], int] = {}
        self.fresh = len(cliques)

    def degree(self, v: int) -> int:
        """Total size of the blocks coupled to v."""
        own = frozenset(self.member_of[v])
        if own not in self.unions:  # a clique never changes while it lives, so neither does this sum
            self.unions[own] = sum(self.weights[u] for u in frozenset().union(*(self.cliques[c] for c in own)))
        hub = self.hub_weight if self.at_hub[v] or own & self.hub_cliques else 0
        return (self.unions[own] - self.weights[v] if own else 0) + hub

    def remove(self, v: int) -> tuple[list[int], list[int]]:
        """Eliminate v and all blocks that only know the clique this makes: (eliminated, others touched)."""
        absorbed = set(self.member_of[v])
        at_hub = self.at_hub[v] or bool(absorbed & self.hub_cliques)
        batch: list[int] = [v]
        rest: list[int] = []
        for u in sorted(frozenset().union(*(self.cliques[c] for c in absorbed))):
            if u != v:
                within = self.member_of[u] <= absorbed and (at_hub or not self.at_hub[u])
                (batch if within else rest).append(u)
        for c in absorbed:
            del self.cliques[c]
        for u in batch:
            self.done[u] = True
        if rest:
            new = self.fresh
            self.fresh += 1
            self.cliques[new] = frozenset(rest)
            if at_hub:
                self.hub_cliques.add(new)
            for u in rest:
                self.member_of[u] -= absorbed
                self.member_of[u].add(new)
        return batch, rest

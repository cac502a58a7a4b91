"""A closed-form estimate of what one forward-dynamics evaluation costs with a given tree, in flops.

It follows subsystem-level multipliers: inertia matrix and LDL' of every subsystem along its paths,
J_ij, L^-1 J_ij', the blocks of the GICM for every pair of loops that share a subsystem, and their
elimination with fill. If one subsystem is touched by many loops its inertia may come last instead.
Only comparisons between trees of the same mechanism matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from linkwright import elements
from linkwright.topology.elimination import eliminate
from linkwright.topology.graph import FLOATING, Graph, Span

JACOBIAN_FLOPS = 3  # an entry of J: a lever arm's component and its use in k
ROW_FLOPS = 4  # a row's k, right side and back substitution
LOOPS_OF_LAST = 3  # subsystems touched by at least so many loops are candidates for coming last


@dataclass
class _Share:
    """Contribution of one subsystem: flops of factoring it, and the loops that touch it."""

    nv: int = 0
    factor: float = 0.0
    solve: float = 0.0
    loops: list[tuple[int, int]] = field(default_factory=list)  # (degrees of freedom that L^-1 J' fills, loop)


def forward_cost(graph: Graph, tree: Span, cuts: Iterable[int]) -> float:
    """Flops of the tree's inertia, Jacobian, GICM and its elimination (see the module's text)."""
    shares, base, up, steps = _tree_part(graph, tree)
    rows: list[int] = []
    outside: list[list[tuple[int, int]]] = []
    straight = 2 if graph.description.planar else 3  # translations of a floating body: columns of J that are constant
    for r, parts in _loop_parts(graph, tree, cuts, up, steps):
        i = len(rows)
        rows.append(r)
        outside.append([(s, moving) for s, moving, _, _ in parts])
        base += ROW_FLOPS * r
        for s, moving, filled, work in parts:
            base += JACOBIAN_FLOPS * r * (moving - (straight if tree.carrier[s] == FLOATING else 0))
            shares[s].solve += 2 * r * work
            shares[s].loops.append((filled, i))
    gicm = {s: _gicm_flops(share, rows) for s, share in shares.items()}
    fixed = sum(share.factor + share.solve + gicm[s] for s, share in shares.items())
    cliques = {s: [i for _, i in share.loops] for s, share in shares.items()}
    best = fixed + eliminate(list(cliques.values()), rows)[1]
    hub = _most_touched(shares)
    if hub is not None and all(sum(m for t, m in outside[i] if t != hub) >= rows[i] for i in cliques[hub]):
        share = shares[hub]
        others = [members for t, members in cliques.items() if t != hub]
        late = eliminate(others, rows, cliques[hub], share.nv)[1]
        best = min(best, fixed - share.factor - share.solve - gicm[hub] + late)
    return base + best


def _tree_part(graph: Graph, tree: Span) -> tuple[dict[int, _Share], float, list[int], list[int]]:
    """Shares by root body, flops outside them, and for every body the degrees of freedom and LDL' steps down to ground."""
    n = len(graph.bodies)
    dim = 3 if graph.description.planar else 6
    up, steps = [0] * n, [0] * n
    shares: dict[int, _Share] = {}
    base = 0.0
    for b in tree.order:
        p = tree.parent[b]
        k = graph.size(tree.carrier[b]).nv
        up[b] = up[p] + k
        steps[b] = steps[p] + k * up[b]
        share = shares.setdefault(tree.root[b], _Share())
        share.nv += k
        share.factor += k * up[b] * (up[b] + 1)
        if tree.carrier[b] != FLOATING:  # a floating body's subspace is constant: its inertia is its block of M
            base += dim**2 * k + 2 * dim * k * (up[b] - (k - 1) / 2)
        if p:
            base += dim * (dim + 1)  # composite inertia and twist handed on
    return shares, base, up, steps


def _loop_parts(
    graph: Graph, tree: Span, cuts: Iterable[int], up: list[int], steps: list[int]
) -> Iterable[tuple[int, list[tuple[int, int, int, int]]]]:
    """For every loop its rows and, per subsystem, (root, degrees of freedom on the way, degrees of freedom filled, LDL' steps)."""
    d = graph.description
    ends = [(len(graph.sizes[e].labels), *graph.ends[e]) for e in cuts]
    closing = list(elements.constraints(d))
    ends += [(1, graph.index[a], graph.index[b]) for x in closing if not elements.joint_names(x) for a, b in x.body_pairs]
    for r, a, b in ends:
        m = tree.meet(a, b)
        if m:
            yield r, [(tree.root[a], up[a] + up[b] - 2 * up[m], up[a] + up[b] - up[m], steps[a] + steps[b] - steps[m])]
        else:
            yield r, [(tree.root[x], up[x], up[x], steps[x]) for x in (a, b) if x]
    for pair in [elements.joint_names(x) for x in closing if elements.joint_names(x)]:
        parts: dict[int, tuple[int, int, int, int]] = {}
        for name in pair:
            for x in graph.ends[graph.joint_index[name]]:
                if tree.carrier[x] == graph.joint_index[name]:
                    _, moving, filled, work = parts.get(tree.root[x], (0, 0, 0, 0))
                    parts[tree.root[x]] = (tree.root[x], moving + 1, filled + up[x], work + steps[x])
        yield 1, list(parts.values())


def _gicm_flops(share: _Share, rows: list[int]) -> float:
    """Products J_ij I_j^-1 J_kj' over all pairs of loops: rows x rows x the degrees of freedom both fill."""
    flops = 0.0
    later = sum(rows[i] for _, i in share.loops)
    for filled, i in sorted(share.loops):
        later -= rows[i]
        flops += 2 * filled * rows[i] * (later + (rows[i] + 1) / 2)
    return flops


def _most_touched(shares: dict[int, _Share]) -> int | None:
    """The subsystem with most loops, if it has enough of them to be worth coming last."""
    s = max(shares, key=lambda t: len(shares[t].loops), default=None)
    return s if s is not None and len(shares[s].loops) >= LOOPS_OF_LAST else None

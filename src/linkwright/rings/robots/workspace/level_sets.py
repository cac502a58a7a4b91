"""Curves and surfaces from points on the edges of triangles and tetrahedra, and how much of them is inside."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np


def numbered(edges: np.ndarray, nodes: int) -> np.ndarray:
    """One number for each edge, whichever way it is named."""
    return edges.min(axis=-1) * nodes + edges.max(axis=-1)


def crossed(simplices: np.ndarray, edges: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """(simplices that have crossed edges, rows of `edges` on each of their edges or -1)."""
    pairs = np.stack([numbered(simplices[:, [i, j]], nodes) for i, j in combinations(range(simplices.shape[1]), 2)], axis=1)
    keys = numbered(edges, nodes)
    order = np.argsort(keys)
    if not len(keys):
        return simplices[:0], pairs[:0]
    at = np.minimum(np.searchsorted(keys[order], pairs), len(keys) - 1)
    rows = np.where(keys[order][at] == pairs, order[at], -1)
    some = (rows >= 0).any(axis=1)
    return simplices[some], rows[some]


def polylines(simplices: np.ndarray, edges: np.ndarray, nodes: int) -> list[np.ndarray]:
    """Rows of `edges` in the order of each curve; a closed curve ends with its first row."""
    rows = crossed(simplices, edges, nodes)[1]
    two = rows[(rows >= 0).sum(axis=1) == 2]
    segments = [tuple(int(x) for x in r[r >= 0]) for r in two]
    beside: dict[int, list[int]] = {}
    for a, b in segments:
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    out, used = [], set()
    starts = [x for x, others in beside.items() if len(others) == 1]
    for begin in [*starts, *beside]:
        if begin in used:
            continue
        line = [begin]
        used.add(begin)
        while True:
            onward = [x for x in beside[line[-1]] if x not in used]
            if not onward:
                break
            line.append(onward[0])
            used.add(onward[0])
        if len(line) > 2 and begin in beside[line[-1]]:
            line.append(begin)
        out.append(np.array(line))
    return out


def triangles(simplices: np.ndarray, edges: np.ndarray, nodes: int) -> np.ndarray:
    """(triangles, 3): rows of `edges` that bound the pieces of a surface in tetrahedra."""
    rows = crossed(simplices, edges, nodes)[1]
    count = (rows >= 0).sum(axis=1)
    three = [r[r >= 0] for r in rows[count == 3]]
    four = []
    pairs = list(combinations(range(4), 2))
    for r in rows[count == 4]:
        cut = [(p, int(x)) for p, x in zip(pairs, r, strict=True) if x >= 0]
        ring = [cut.pop(0)]
        while cut:  # neighbors in the quadrangle share a corner of the tetrahedron
            k = next((k for k, (p, _) in enumerate(cut) if set(p) & set(ring[-1][0])), 0)
            ring.append(cut.pop(k))
        ids = [x for _, x in ring]
        four += [ids[:3], [ids[0], ids[2], ids[3]]]
    return np.array([*three, *four], dtype=int).reshape(-1, 3)


def content(simplices: np.ndarray, places: np.ndarray, inside: np.ndarray, edges: np.ndarray, share: np.ndarray) -> float:
    """Length, area or volume of what is inside; `share` is that of crossed edges from their inner node."""
    n, nodes = simplices.shape[1] - 1, len(places)
    corners = places[simplices]
    size = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / factorial(n)
    count = inside[simplices].sum(axis=1)
    total = float(size[count == n + 1].sum())
    keys = numbered(edges, nodes)
    order = np.argsort(keys)

    def part(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Share of the edges a, b that is inside; half where the end was not found."""
        wanted = numbered(np.stack([a, b], axis=1), nodes)
        if not len(keys):
            return np.full(len(a), 0.5)
        at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        return np.where(keys[order][at] == wanted, share[order[at]], 0.5)

    for k in range(1, n + 1):
        some = simplices[count == k]
        if not len(some):
            continue
        first = np.argsort(~inside[some], axis=1, kind="stable")
        x = np.take_along_axis(some, first, axis=1)  # inner corners first
        s = size[count == k]
        if k == 1:
            total += float((s * np.prod([part(x[:, 0], x[:, j]) for j in range(1, n + 1)], axis=0)).sum())
        elif k == n:
            total += float((s * (1.0 - np.prod([1.0 - part(x[:, j], x[:, n]) for j in range(n)], axis=0))).sum())
        else:  # two of four corners: a wedge between the triangles (a, ac, ad) and (b, bc, bd)
            ac, ad, bc, bd = (part(x[:, i], x[:, j]) for i, j in ((0, 2), (0, 3), (1, 2), (1, 3)))
            total += float((s * (ac * ad * (1.0 - bd) + ac * bd * (1.0 - bc) + bc * bd)).sum())
    return total

"""A layered drawing of a spanning tree: places of the bodies and how edges run, in points.

Bodies are in layers by their distance from ground; siblings are ordered so that the edges that close loops cross little and
pass behind no body. A body that floats (or sits on ground by a joint of three or more degrees of freedom) is above its
neighbors. Everything is a small exhaustive or swapping search: the same input, the same drawing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

LAYER, GAP, HEIGHT = 66.0, 22.0, 22.0  # points between layers and neighbors, height of a box
BENDS = (0.0, 18.0, -18.0, 34.0, -34.0, 56.0, -56.0, 84.0, -84.0, 120.0, -120.0)


@dataclass
class Box:
    """A body on the page."""

    name: str
    parent: int  # -1: ground
    floats: bool
    width: float
    layer: int = 1
    x: float = 0.0
    children: list[int] = field(default_factory=list)

    @property
    def y(self) -> float:
        return self.layer * LAYER


@dataclass(frozen=True)
class Link:
    """An edge between two boxes that is not one of the tree (-1: ground)."""

    a: int
    b: int


class Layout:
    """Boxes with places."""

    def __init__(self, boxes: list[Box], links: Sequence[Link]):
        self.boxes = boxes
        self.links = [k for k in links if k.a >= 0 and k.b >= 0]
        for i, box in enumerate(boxes):
            if box.parent >= 0:
                boxes[box.parent].children.append(i)
        self.floating = [i for i, b in enumerate(boxes) if b.floats and self._neighbors(i)]
        self.roots = [i for i, b in enumerate(boxes) if b.parent < 0 and i not in self.floating]
        self._layers()
        self._search()

    def _neighbors(self, i: int) -> list[int]:
        return [k.b if k.a == i else k.a for k in self.links if i in (k.a, k.b)]

    def _layers(self) -> None:
        for i in self.roots:
            self._below(i, 1)
        for i in self.floating:
            self._below(i, 1 + max(self.boxes[j].layer for j in self._neighbors(i)))

    def _below(self, i: int, layer: int) -> None:
        self.boxes[i].layer = layer
        for j in self.boxes[i].children:
            self._below(j, layer + 1)

    # ---------------------------------------------------------------- places

    def _place(self) -> None:
        right = 0.0
        for i in self.roots:
            right = self._tidy(i, right)
        for i in self.floating:
            self._above(i)

    def _tidy(self, i: int, left: float) -> float:
        """Place a subtree from `left` on; its right end."""
        box = self.boxes[i]
        if not box.children:
            box.x = left + 0.5 * box.width
            return left + box.width + GAP
        right = left
        for j in box.children:
            right = self._tidy(j, right)
        inner = [self.boxes[j].x for j in box.children]
        box.x = 0.5 * (inner[0] + inner[-1])
        short = left + 0.5 * box.width - box.x
        if short > 0.0:
            self._shift(i, short)
            right += short
        return max(right, box.x + 0.5 * box.width + GAP)

    def _shift(self, i: int, by: float) -> None:
        self.boxes[i].x += by
        for j in self.boxes[i].children:
            self._shift(j, by)

    def _above(self, i: int) -> None:
        """Over the middle of its neighbors, as wide as looks right over them."""
        box = self.boxes[i]
        xs = [self.boxes[j].x for j in self._neighbors(i)]
        box.x = 0.5 * (min(xs) + max(xs))
        box.width = max(box.width, 0.8 * (max(xs) - min(xs)))
        taken = sorted((b.x, b.width) for k, b in enumerate(self.boxes) if k != i and b.layer == box.layer)
        for x, width in taken:
            if abs(x - box.x) < 0.5 * (width + box.width) + GAP:
                box.x = x + 0.5 * (width + box.width) + GAP
        for j in box.children:
            self._tidy(j, box.x - 0.5 * self.boxes[j].width)

    # ---------------------------------------------------------------- order of siblings

    def _search(self) -> None:
        groups = [g for g in (self.roots, *(b.children for b in self.boxes)) if len(g) > 1]
        best = self._cost()
        for _ in range(4):
            before = best
            for group in groups:
                best = self._improve(group, best)
            if best >= before:
                break
        self._place()

    def _improve(self, group: list[int], best: float) -> float:
        retained = list(group)
        for order in _orders(retained):
            group[:] = order
            cost = self._cost()
            if cost < best - 1e-9:
                best, retained = cost, list(order)
        group[:] = retained
        return best

    def _cost(self) -> float:
        """Lengths of the closing edges, crossings of all edges, and bodies that edges pass behind."""
        self._place()
        lines = [self._ends(k) for k in self.links]
        tree = [np.array([self.at(b.parent), self.at(i)]) for i, b in enumerate(self.boxes) if b.parent >= 0]
        cost = sum(abs(float(p[1, 0] - p[0, 0])) / 40.0 for p in lines)
        cost += 4.0 * sum(crossing(p, q) for n, p in enumerate(lines) for q in (*lines[:n], *tree))
        return cost + 6.0 * sum(self.behind(p, (k.a, k.b)) for k, p in zip(self.links, lines, strict=True))

    def at(self, i: int) -> np.ndarray:
        return np.array([self.boxes[i].x, self.boxes[i].y])

    def _ends(self, link: Link) -> np.ndarray:
        return np.array([self.anchor(link.a, link.b), self.anchor(link.b, link.a)])

    def anchor(self, i: int, other: int) -> np.ndarray:
        """Point where an edge to another box leaves: straight below or above it as far as the box reaches."""
        box, there = self.boxes[i], self.boxes[other]
        if box.layer == there.layer:
            return self.at(i)
        half = max(0.5 * box.width - 9.0, 0.0)
        return np.array([float(np.clip(there.x, box.x - half, box.x + half)), box.y])

    def behind(self, p: np.ndarray, ends: tuple[int, int]) -> float:
        """Share of a curve that runs behind other boxes (points are dense, or two)."""
        p = p if len(p) > 2 else p[0] + np.linspace(0.0, 1.0, 25)[:, None] * (p[1] - p[0])
        hit = np.zeros(len(p), dtype=bool)
        for i, b in enumerate(self.boxes):
            if i not in ends:
                hit |= (np.abs(p[:, 0] - b.x) < 0.5 * b.width + 4.0) & (np.abs(p[:, 1] - b.y) < 0.5 * HEIGHT + 4.0)
        return float(hit.mean())

    # ---------------------------------------------------------------- edges

    def route(self, a: int, b: int, others: Sequence[np.ndarray]) -> np.ndarray:
        """A curve between two boxes, straight or bent as little as keeps it off other boxes and along no other edge."""
        p, q = self.anchor(a, b), self.anchor(b, a)
        across = np.array([-(q - p)[1], (q - p)[0]]) / max(float(np.linalg.norm(q - p)), 1e-9)
        best, least = np.array([p, q]), np.inf
        for bend in BENDS:
            curve = bow(p, q, across * bend)
            cost = (
                0.015 * abs(bend)
                + 14.0 * self.behind(curve, (a, b))
                + sum(3.0 * _along(curve, o) + 0.5 * _crosses(curve, o) for o in others)
            )
            if cost < least - 1e-9:
                best, least = curve, cost
        return best


def _orders(group: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All orders of a few, all swaps of two of many."""
    if len(group) <= 4:
        yield from permutations(group)
        return
    for i in range(len(group)):
        for j in range(i + 1, len(group)):
            swapped = list(group)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            yield tuple(swapped)


def bow(p: np.ndarray, q: np.ndarray, push: np.ndarray) -> np.ndarray:
    """(33, 2): a parabola from p to q whose middle is pushed aside."""
    s = np.linspace(0.0, 1.0, 33)[:, None]
    return p + s * (q - p) + 4.0 * s * (1.0 - s) * push


def crossing(p: np.ndarray, q: np.ndarray) -> bool:
    """True if two straight pieces cross inside."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = *p.tolist(), *q.tolist()
    ux, uy, vx, vy, wx, wy = bx - ax, by - ay, dx - cx, dy - cy, cx - ax, cy - ay
    below = ux * vy - uy * vx
    if abs(below) < 1e-9:
        return False
    s, t = (wx * vy - wy * vx) / below, (wx * uy - wy * ux) / below
    return 0.02 < s < 0.98 and 0.02 < t < 0.98


def _along(p: np.ndarray, q: np.ndarray) -> float:
    """Share of the inner part of a curve that lies on another one."""
    inner = p[len(p) // 5 : -(len(p) // 5) or None]
    return float((np.linalg.norm(inner[:, None] - q[None], axis=2).min(axis=1) < 7.0).mean())


def _crosses(p: np.ndarray, q: np.ndarray) -> int:
    """How often two dense curves cross, roughly: every second piece is looked at."""
    return sum(crossing(p[i : i + 9 : 8], q[j : j + 9 : 8]) for i in range(0, len(p) - 8, 8) for j in range(0, len(q) - 8, 8))

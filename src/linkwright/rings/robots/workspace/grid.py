"""Grid of poses, its edges and simplices: cells are divided along their diagonal into triangles or tetrahedra (Kuhn).

Edges lead from a node to one whose indices along the divided axes are larger by 0 or 1; in a triangle or tetrahedron a boundary crosses
either none of the edges or a set that bounds one flat piece, so that points on edges alone decide how curves and surfaces are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from linkwright.properties import cached_property


@dataclass(frozen=True, eq=False)
class PoseGrid:
    """Values of each axis, their places among the pose coordinates, and the others, which are fixed."""

    axes: tuple[np.ndarray, ...]
    places: tuple[int, ...]
    base: np.ndarray  # all pose coordinates
    cells: int = 0  # axes whose cells are divided, if not as in `divided`

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(x) for x in self.axes)

    @property
    def divided(self) -> int:
        """Axes whose cells are divided: three of a volume, two of a slice and of a stack of slices; one of a line."""
        return self.cells or (len(self.axes) if len(self.axes) <= 3 else 2)

    @cached_property
    def poses(self) -> np.ndarray:
        """Coordinates (nodes, n) of all nodes."""
        out = np.tile(self.base, (int(np.prod(self.shape)), 1))
        for place, values in zip(self.places, np.meshgrid(*self.axes, indexing="ij"), strict=True):
            out[:, place] = values.ravel()
        return out

    @cached_property
    def index(self) -> np.ndarray:
        """Numbers of the nodes in the shape of the grid."""
        return np.arange(int(np.prod(self.shape))).reshape(self.shape)

    def shifted(self, shift: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of nodes (from, to) whose indices differ by so much, 0 or 1 along each axis."""
        first = tuple(slice(None, -1) if s else slice(None) for s in shift)
        second = tuple(slice(1, None) if s else slice(None) for s in shift)
        return self.index[first].ravel(), self.index[second].ravel()

    def shifts(self, axes: int | None = None) -> list[tuple[int, ...]]:
        """Shifts of all edges of the divided cells, or of those along `axes` axes only."""
        n = self.divided if axes is None else axes
        rest = (0,) * (len(self.axes) - n)
        return [(*x, *rest) for x in product((0, 1), repeat=n) if any(x)]

    @cached_property
    def edges(self) -> np.ndarray:
        """(edges, 2): nodes of all edges of the divided cells, the lower one first."""
        return np.concatenate([np.stack(self.shifted(s), axis=1) for s in self.shifts()])

    @cached_property
    def neighbors(self) -> np.ndarray:
        """(pairs, 2): neighbors along each axis, in both directions."""
        steps = np.eye(len(self.axes), dtype=int)
        pairs = np.concatenate([np.stack(self.shifted(tuple(s)), axis=1) for s in steps])
        return np.concatenate([pairs, pairs[:, ::-1]])

    @cached_property
    def simplices(self) -> np.ndarray:
        """(simplices, divided + 1): triangles or tetrahedra by their nodes."""
        return self.divided_into(self.divided)

    def divided_into(self, n: int) -> np.ndarray:
        """Simplices of the cells along the first n axes."""
        out = []
        cut = tuple(slice(None, -1) if a < n else slice(None) for a in range(len(self.axes)))
        for order in permutations(range(n)):
            corner, nodes = [0] * len(self.axes), [self.index[cut].ravel()]
            for axis in order:
                corner[axis] = 1
                some = tuple((slice(1, None) if corner[a] else slice(None, -1)) if a < n else slice(None) for a in range(len(self.axes)))
                nodes.append(self.index[some].ravel())
            out.append(np.stack(nodes, axis=1))
        return np.concatenate(out)

    def place(self, c: np.ndarray) -> np.ndarray:
        """The grid's own coordinates of poses."""
        return c[..., list(self.places)]

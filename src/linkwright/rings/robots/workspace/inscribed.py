"""Largest circle, sphere or box within the reach that no singular pose lies in, on the start's side of the singularities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.api import UsageError

if TYPE_CHECKING:
    from linkwright.rings.robots.workspace.result import Workspace

SHAPES = {"circle": 2.0, "sphere": 2.0, "box": np.inf}


class Inscribed(NamedTuple):
    """Center (SI, along the axes) and radius; of a box half of its side."""

    shape: str
    center: np.ndarray
    radius: float


def inscribed(workspace: Workspace, shape: str) -> Inscribed:
    """See `Workspace.inscribed`."""
    from scipy.spatial import KDTree  # here, because importing it takes longer than reading a model

    if shape not in SHAPES:
        raise UsageError(f"shape is 'circle', 'sphere' or 'box', not {shape!r}.", name="shape", value=shape)
    if len(workspace.axes) not in (2, 3) or len({a.kind for a in workspace.axes}) != 1:
        raise UsageError("inscribed needs a slice or a volume whose axes have one unit. Take a slice: a.slice({...}).")
    border = _border(workspace)
    places = workspace.grid.poses
    inside = _side(workspace)
    if not inside.any():
        raise UsageError(
            "no pose of this workspace is in reach, so that nothing can be inscribed: choose other ranges or another mode.", name="reach"
        )
    norm = SHAPES[shape]
    tree = KDTree(border) if len(border) else None
    low, high = (np.array([end(a.values) for a in workspace.axes]) for end in (np.min, np.max))

    def room(x: np.ndarray) -> np.ndarray:
        own = np.minimum(x - low, high - x).min(axis=-1)
        return own if tree is None else np.minimum(own, tree.query(x, p=norm)[0])

    nodes = places[inside]
    radii = room(nodes)
    candidates = 24
    best = nodes[np.argsort(-radii)[:candidates]]
    step = np.array([float(np.diff(a.values).max()) for a in workspace.axes])
    moves = np.concatenate([np.eye(len(step)), -np.eye(len(step)), np.zeros((1, len(step)))])
    moves = np.concatenate([moves, np.array(np.meshgrid(*[[-1, 1]] * len(step))).reshape(len(step), -1).T])
    polished = 40  # halvings of the step of the search
    for _ in range(polished):
        tried = best[:, None, :] + moves * step
        sizes = room(tried)
        chosen = sizes.argmax(axis=1)
        best = tried[np.arange(len(best)), chosen]
        step = step * 0.7
    sizes = room(best)
    k = int(np.argmax(sizes))
    return Inscribed(shape, best[k], float(sizes[k]))


def _border(workspace: Any) -> np.ndarray:
    """Located points, and points between them along curves so that no gap is wider than a tenth of a cell."""
    parts = [x.points for x in workspace.located]
    for c in workspace.curves:
        a, b = c.points[:-1], c.points[1:]
        parts += [a + s * (b - a) for s in np.linspace(0.1, 0.9, 9)]
    for s in workspace.surfaces:
        corners = s.points[s.triangles]
        weights = [(i, j, 4 - i - j) for i in range(5) for j in range(5 - i)]
        parts += [np.einsum("k,tkd->td", np.array(w) / 4.0, corners) for w in weights]
    n = len(workspace.axes)
    return np.concatenate([p.reshape(-1, n) for p in parts]) if parts else np.zeros((0, n))


def _side(workspace: Any) -> np.ndarray:
    """Nodes in reach that neighbors connect with the start without a change of sign of the determinant of type II."""
    from scipy.ndimage import label

    sign = workspace.values["type2"] if "type2" in workspace.values else np.ones(workspace.shape)
    regions: list[np.ndarray] = []
    for mask in (workspace.reach & (sign > 0.0), workspace.reach & (sign < 0.0)):
        marked, count = label(mask)
        regions += [marked == k for k in range(1, count + 1)]
    if not regions:
        return np.zeros(workspace.reach.size, bool)
    off = ((workspace.grid.poses - workspace.home) ** 2).sum(axis=1)
    nearest = [float(off[r.ravel()].min()) for r in regions]
    return regions[int(np.argmin(nearest))].ravel()

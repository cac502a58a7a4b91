"""Shapes of bodies for other programs: primitives, and mesh files named so that the other program finds them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from linkwright.api import Description, Mat3, Placement, System, Visual, compiled_of
from linkwright.rings.exchange.writing.losses import Loss

THIN = 0.02  # radius of the drawn bars against the size of the mechanism
GRAY = "#597399"  # of bodies without a color


@dataclass
class Shapes:
    """Shapes of a model's bodies. `folder` is where the file will lie (None: meshes are named by their whole path), `endings` are the
    mesh formats that its reader knows. A mesh that is missing or of another format costs a picture: it is listed in `lost`."""

    description: Description
    folder: str | None
    endings: Sequence[str]
    lost: list[Loss] = field(default_factory=list)

    def of(self, body: str) -> tuple[Visual, ...]:
        """Shapes of a body, meshes with the path to write."""
        out = []
        for shape in self.description.body(body).visuals:
            found = shape if shape.shape != "mesh" else self._mesh(body, shape)
            if found is not None:
                out.append(found)
        return tuple(out)

    def _mesh(self, body: str, shape: Visual) -> Visual | None:
        path = os.path.abspath(os.path.join(model_folder(self.description), shape.file))
        ending = os.path.splitext(path)[1].lower()
        why = f"{ending} meshes are not read there" if ending not in self.endings else "" if os.path.isfile(path) else "no such file"
        if why:
            self._lose(Loss(body, f"the mesh '{shape.file}': {why}", "shape"))
            return None
        return replace(shape, file=path if self.folder is None else os.path.relpath(path, self.folder).replace(os.sep, "/"))

    def _lose(self, loss: Loss) -> None:
        if loss not in self.lost:
            self.lost.append(loss)


def model_folder(description: Description) -> str:
    """Folder that the mesh files of a model are relative to: that of its file, or the current one."""
    base = getattr(description.document, "base", None)
    return os.getcwd() if base is None else os.path.abspath(base)


def rgba(color: str) -> tuple[float, float, float, float]:
    """Red, green, blue and opacity from "#rrggbb"; gray where there is none."""
    text = (color or GRAY).lstrip("#")
    r, g, b = (int(text[i : i + 2], 16) / 255.0 for i in (0, 2, 4))
    return (round(r, 6), round(g, 6), round(b, 6), 1.0)


def bars(system: System, body: str) -> tuple[Visual, ...]:
    """Thin cylinders along the outline of a body that has no shapes."""
    b, radius = system.description.body(body), THIN * compiled_of(system).loops.kappa
    out = []
    for line in b.outline:
        for one, two in pairwise(line):
            ends = np.array([b.point(one).at, b.point(two).at], float)
            length = float(np.linalg.norm(ends[1] - ends[0]))
            if length > radius:
                middle, z = ends.mean(axis=0), (ends[1] - ends[0]) / length
                out.append(Visual("cylinder", (radius, length, 0.0), Placement(tuple(middle.tolist()), _axes_with_z(z))))
    return tuple(out)


def _axes_with_z(z: np.ndarray) -> Mat3:
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    a, b, c = ((float(p), float(q), float(r)) for p, q, r in np.stack([x, np.cross(z, x), z], axis=1))
    return (a, b, c)

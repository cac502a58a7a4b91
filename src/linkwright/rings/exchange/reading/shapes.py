"""Shapes, colors and inertias in files of robots."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from linkwright.api import NEGLIGIBLE, Mat3, Placement, Visual, geometry, listing, unit_kinds
from linkwright.model.file.inertia import principal, why_impossible
from linkwright.model.file.visuals import MOST_VISUALS
from linkwright.model.meshes.reading import MESHES
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.referenced_files import ABSENT, OUTSIDE, Folders

ZERO_PRODUCT = 1e-18  # of the largest moment, below which a product of inertia is zero
SIZES = {"mesh": 3, "box": 3, "cylinder": 2, "capsule": 2, "sphere": 1}  # numbers of a shape's size that count


class ShapeFiles:
    """Mesh files of a model: found in the folders that may be read; those that are not found are reported together."""

    def __init__(self, folders: Folders, notes: ImportNotes, base: str | os.PathLike[str]):
        self.folders, self.notes, self.base = folders, notes, os.fspath(base)
        self.missing: dict[str, list[str]] = {}

    def mesh(self, name: str, link: str) -> str | None:
        """The path of a mesh from the folder of the model file; None where it cannot be read."""
        found, why = self.folders.find(name)
        if found is not None and found.suffix.lower() not in MESHES:
            found, why = None, f"only {', '.join(MESHES)} are drawn"
        if found is None:
            self.missing.setdefault(why, []).append(f"{name} of {link}")
            return None
        return os.path.relpath(found, self.base)

    def report(self) -> None:
        not_shown(self.missing, self.notes)


def not_shown(missing: Mapping[str, Sequence[str]], notes: ImportNotes) -> None:
    """Warn of meshes without a picture, by the reason."""
    for why, names in missing.items():
        several = len(names) > 1
        reasons = {OUTSIDE: f"{'they lie' if several else 'it lies'} outside the folders that may be read (folders=[...], --folder)",
                   ABSENT: f"there {'are' if several else 'is'} no such file{'s' * several}"}  # fmt: skip
        notes.warn(f"{len(names)} mesh{'es are' if several else ' is'} not shown, {reasons.get(why, why)}: {listing(names, 4)}")


def shapes(found: Iterable[Visual | None], at: Placement, color: str, notes: ImportNotes) -> list[Visual]:
    """Shapes that can be drawn, at their place; those without a size are left out."""
    out = []
    for made in found:
        if made is None:
            continue
        if 0.0 in made.size[: SIZES[made.shape]] or (made.shape != "mesh" and min(made.size) < 0.0):
            notes.drop("shape without a size")
        else:
            out.append(replace(made, placement=at, color=color))
    return out


def drawable(found: list[Visual], notes: ImportNotes) -> tuple[Visual, ...]:
    """As many shapes as one body may have."""
    for _ in found[MOST_VISUALS:]:
        notes.drop("shape of a link with very many")
    return tuple(found[:MOST_VISUALS])


def color_of(rgba: Sequence[float]) -> str:
    """#rrggbb of components from 0 to 1."""
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, x))):02x}" for x in rgba[:3])


def inertia_about(link: str, rotation: Mat3, values: Mapping[str, float], notes: ImportNotes) -> Mat3:
    """The inertia of ixx, ixy ... in the axes of `rotation`, turned into the link's; a negative principal moment counts as zero.

    An inertia that no body can have is reported.
    """
    tensor = geometry.matrix([[values["ixx"], values["ixy"], values["ixz"]], [values["ixy"], values["iyy"], values["iyz"]],
                     [values["ixz"], values["iyz"], values["izz"]]])  # fmt: skip
    least, _, largest = principal(tensor)
    if least < 0.0:
        if least < -NEGLIGIBLE * abs(largest):
            notes.warn(f"link '{link}': a principal moment of inertia is negative ({least:.3g} kg m^2) and is taken as zero")
        tensor = _positive(tensor)
    why = why_impossible(tensor, False, unit_kinds.UnitSystem([]))
    if why:
        notes.warn(f"link '{link}': {why}. No body can have this inertia. It is used as in the file")
    turned = geometry.product(rotation, geometry.product(tensor, geometry.transpose(rotation)))
    return geometry.matrix([[x if abs(x) > ZERO_PRODUCT * abs(largest) else 0.0 for x in row] for row in turned])


def _positive(tensor: Mat3) -> Mat3:
    import numpy as np

    moments, axes = np.linalg.eigh(np.array(tensor, float))
    out = (axes * np.maximum(moments, 0.0)) @ axes.T
    return geometry.matrix((0.5 * (out + out.T)).tolist())

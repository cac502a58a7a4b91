"""Losses of the equivalent tree of a transmission, besides those of the format."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.api import tolerances
from linkwright.rings.exchange.writing.losses import Loss
from linkwright.rings.robots.transmission.equivalent_tree import EquivalentTree


def tree_losses(model: Any, *, matrix: bool) -> list[Loss]:
    """Elements that acted on the parts; terms off the diagonal of the armature, unless the format holds the `matrix`."""
    if not isinstance(model, EquivalentTree):
        return []
    out = [Loss(name, "it acts on parts of the transmission, which the tree has not") for name in model.lost]
    A = np.asarray(model.armature)
    off = np.abs(A - np.diag(np.diag(A))).max()
    if not matrix and off > tolerances.ROUND_OFF * np.abs(A).max():
        out.append(Loss("armature", f"terms off the diagonal of the armature matrix, at most {off:.3g}: joints there have one number each"))
    return out

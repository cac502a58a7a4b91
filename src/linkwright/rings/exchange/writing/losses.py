"""Losses of a conversion: what another program's format cannot hold, as a list for programs and as one warning for people.
The equivalent tree of a transmission has losses besides those of the format.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import tolerances
from linkwright.rings.exchange.caller_warnings import warn_caller
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


class Loss(NamedTuple):
    """One loss: the name in the model (a spring, a joint, a body), the reason, and the part of the model that it concerns.

    Parts: "mechanism" (it moves otherwise there), "drive" (an input that it has not), "start", "gravity" (to be given there), "shape"
    (pictures only), "reader" (nothing is lost, but some readers refuse it).
    """

    name: str
    why: str
    part: str = "mechanism"

    def __str__(self) -> str:
        return f"{self.name} ({self.why})"


class LossWarning(UserWarning):
    """A file that holds less than the model. `lost` lists it. The text is for people."""

    def __init__(self, writer: str, model: str, lost: Iterable[Loss], advice: str = ""):
        self.writer, self.model, self.lost = writer, model, tuple(lost)
        names: dict[str, list[str]] = {}
        for x in self.lost:
            names.setdefault(x.why, []).append(x.name)
        text = "; ".join(f"{', '.join(some)} ({why})" for why, some in names.items())
        super().__init__(f"{writer}: '{model}' loses {text}.{' ' if advice else ''}{advice}")


def warn(writer: str, model: str, lost: Iterable[Loss], advice: str = "") -> None:
    """Warn once of all losses, if there are any."""
    every = tuple(dict.fromkeys(lost))
    if every:
        warn_caller(LossWarning(writer, model, every, advice))

"""Losses of a conversion: what another program's format cannot hold, as a list for programs and as one warning for people.
The equivalent tree of a transmission has losses besides those of the format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Description, elements, tolerances
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


def two_sided(d: Description, lost: Iterable[Loss] = ()) -> list[Loss]:
    """Constraints that in a run hold to one side only, or have play; those already `lost` are not held at all."""
    gone = {x.name for x in lost}
    one = [x for x in elements.constraints(d) if x.row_travel is not None and x.name not in gone]
    return [Loss(x.name, "slack, play or lift-off, which it does not have there: it holds both ways") for x in one]


def speed_limits(d: Description) -> dict[str, float]:
    """Largest speeds by joint: those of the file that a model was read from, and those of motors through their gears."""
    report = getattr(d.document, "origin", None)
    there = {j.name for j in d.joints}
    out = {name: x for name, x in getattr(report, "speed_limits", ()) if name.partition(".")[0] in there}
    for x in d.drives:
        motor = dict(x.motor)
        if motor.get("max_speed") is not None:
            top = float(motor["max_speed"]) / abs(float(motor.get("gear_ratio") or 1.0))
            out[x.joint] = min(top, out.get(x.joint, top))
    return out


def never_stuck(d: Description) -> list[Loss]:
    """Friction that holds a joint at rest in a run, where only smooth friction is left."""
    own = [x for x in d.frictions if not x.smooth]
    dry = [Loss(x.name, "friction that sticks: there it creeps, because it turns round over a speed") for x in own if x.coulomb]
    return [*dry, *(Loss(x.name, "friction by the load of the joint, which is left out there") for x in d.rubbing)]


def of_constant_friction(f: elements.Friction) -> Iterator[str]:
    """What is lost of a friction where one constant is all there is."""
    if float(f.mu):
        yield "friction by the load of the joint"
    if float(f.coulomb) and float(f.breakaway) > 1.0:
        yield "breakaway: at rest it has the friction of sliding there"


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

"""Losses of a conversion: what another program's format cannot hold, as a list for programs and as one warning for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from linkwright.rings.exchange.import_warnings import warn_caller


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
    """A file that holds less than the model. `lost` lists it; the text is for people."""

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

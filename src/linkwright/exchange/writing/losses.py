"""Losses of a conversion: what another program's format cannot hold, as a list for programs and as one warning for people."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from typing import NamedTuple

from linkwright import errors

PACKAGE = os.path.dirname(os.path.abspath(errors.__file__))


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
        warnings.warn(LossWarning(writer, model, every, advice), stacklevel=_depth())


def _depth() -> int:
    """Frames from the warning up to the first line outside of Linkwright, which the warning is shown at."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    return depth

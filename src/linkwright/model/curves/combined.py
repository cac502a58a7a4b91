"""Curves made of curves: an offset and a factor, several components together, a check of their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.curves import Curve, Jet


@dataclass(frozen=True, eq=False)
class ScaledCurve(Curve):
    """offset + factor f: a rise from 0 to 1 as a move between two positions, an integral from a start."""

    curve: Curve
    offset: float
    factor: float = 1.0

    @property
    def traceable(self) -> bool:
        return self.curve.traceable

    def __call__(self, x: Any, /) -> Jet:
        f, df, ddf = self.curve(x)
        return self.offset + self.factor * f, self.factor * df, self.factor * ddf

    def corners(self, first: float, last: float, /) -> np.ndarray:
        return self.curve.corners(first, last)


@dataclass(frozen=True, eq=False)
class Together(Curve):
    """The components of all curves, one after the other."""

    curves: tuple[Curve, ...]

    @property
    def size(self) -> int:
        return sum(max(1, c.size) for c in self.curves)

    @property
    def traceable(self) -> bool:
        return all(c.traceable for c in self.curves)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for c in self.curves for note in c.notes)

    def __call__(self, x: Any, /) -> Jet:
        jets = [(c.size, c(x)) for c in self.curves]
        f, df, ddf = ([entry for size, jet in jets for entry in (jet[k] if size else [jet[k]])] for k in range(3))
        if isinstance(x, np.ndarray):  # a constant is an array as well
            zero = np.zeros(x.shape)
            return [y + zero for y in f], [y + zero for y in df], [y + zero for y in ddf]
        return f, df, ddf

    def corners(self, first: float, last: float, /) -> np.ndarray:
        return np.concatenate([c.corners(first, last) for c in self.curves])

    def doubt(self, x: np.ndarray, /) -> Any:
        return [entry for c in self.curves for entry in (c.doubt(x) if c.size else [c.doubt(x)])]


@dataclass(frozen=True, eq=False)
class Finite(Curve):
    """A curve that must be finite with its derivatives; `what` names it in messages."""

    curve: Curve
    what: str

    @property
    def size(self) -> int:
        return self.curve.size

    @property
    def traceable(self) -> bool:
        return self.curve.traceable

    @property
    def notes(self) -> tuple[str, ...]:
        return self.curve.notes

    def __call__(self, x: Any, /) -> Jet:
        jet = self.curve(x)
        if isinstance(x, (int, float, np.ndarray)):  # numbers: traced values and complex steps are what they are
            for name, part in zip(("value", "rate", "acceleration"), jet, strict=True):
                for entry in part if self.size else [part]:
                    self._check(name, np.asarray(entry), x)
        return jet

    def _check(self, name: str, found: np.ndarray, x: Any) -> None:
        bad = ~np.isfinite(found)
        if np.any(bad):
            when, value = float(np.broadcast_to(x, bad.shape)[bad].flat[0]), found[bad].flat[0]
            raise UsageError(
                f"{self.what}: the {name} is {value} at t = {when:.6g} s. It must be finite. Change the function there.", name=self.what
            )

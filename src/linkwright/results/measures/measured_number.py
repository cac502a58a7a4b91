"""Numbers that were measured of a motion, and what samples leave open about them."""

from __future__ import annotations

from collections.abc import Callable

STATED = 1e-3  # share of a number from which its sampling error is stated: above it digits that people read are not certain
DEPENDS = "the value depends on the number of samples"


class MeasuredNumber(float):
    """A number in SI as any other, with `error`, how far the curve may go beyond it between samples, and `grows_at`, the position toward
    which it grows without bound (then `error` is infinite and its text ends with *)."""

    error: float
    grows_at: str

    def __new__(cls, value: float, error: float = 0.0, grows_at: str = "") -> MeasuredNumber:
        made = super().__new__(cls, value)
        made.error, made.grows_at = float(error), grows_at
        return made

    @property
    def grows(self) -> bool:
        """True if the curve grows without bound toward a singular position: the number is that of the nearest sample."""
        return self.error == float("inf")

    @property
    def mark(self) -> str:
        """`*` for a number that grows without bound, else nothing."""
        return "*" if self.grows else ""

    def __str__(self) -> str:
        return f"{float(self)!r}{self.mark}"

    def in_unit(self, size: float) -> MeasuredNumber:
        """Return the number in a unit of that size."""
        return MeasuredNumber(float(self) / size, self.error / abs(size), self.grows_at)

    def note(self, name: str, shown: Callable[[float], str] = lambda x: f"{x:.2g}") -> str:
        """Return what should be known about the number, as a sentence; empty if it is located between samples."""
        if self.grows:
            return f"* {name} grows without bound near {self.grows_at}: {DEPENDS}."
        if self.error > STATED * abs(self):
            return f"{name}: the curve has a kink or jump there, and may go further by {shown(self.error)} between two samples."
        return ""

"""Calibrated geometry of a mechanism: numbers and encoder offsets with their deviations, and what the poses do not determine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import Description, Mechanism, Result, Table, counted, modelfile

VISIBLE = 0.05  # share of a direction below which a parameter is not named in it


@dataclass(frozen=True)
class Calibration(Result):
    """Result of `lw.calibrate`: numbers first, then offsets, in SI and radians."""

    parameters: tuple[str, ...]  # parameters of the model
    offsets: tuple[str, ...]  # encoders
    values: np.ndarray  # of the numbers, then of the offsets
    before: np.ndarray
    covariance: np.ndarray  # of the observable part
    singular_values: np.ndarray  # of the scaled Jacobian, largest first
    directions: np.ndarray  # (unobservable, unknowns): what the poses leave open, in scaled units
    residual: dict[str, float]  # root mean square by column
    variance: float  # of residuals against the deviations that were given or assumed
    iterations: int
    description: Description = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.parameters, *(f"offset {n}" for n in self.offsets))

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of the numbers and offsets, of the part that can be observed."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def values_by_name(self) -> dict[str, float]:
        return dict(zip(self.names, self.values.tolist(), strict=True))

    @property
    def unobservable(self) -> tuple[str, ...]:
        """Combinations that no measured column depends on, in relative units: `0.71 B.x + 0.71 offset A`. They stay as in the model."""
        return tuple(_combination(row, self.names) for row in self.directions)

    @property
    def condition(self) -> float:
        """Condition number of the observable part."""
        return float(self.singular_values[0] / self.singular_values[len(self.values) - len(self.directions) - 1])

    @property
    def mechanism(self) -> Mechanism:
        """Return the mechanism with the calibrated numbers. Offsets belong to the encoders: subtract them from their readings."""
        return Mechanism(modelfile.reread(self.description, **dict(zip(self.parameters, self.values.tolist(), strict=False))))

    def __repr__(self) -> str:
        open_ = f", {len(self.directions)} unobservable" if len(self.directions) else ""
        return f"<Calibration of {self.description.name!r}: {counted(len(self.values), 'unknown')}{open_}, condition {self.condition:.3g}>"

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers before and after, and what cannot be observed, as plain data, in SI."""
        rows = zip(self.names, self.before.tolist(), self.values.tolist(), self.deviations.tolist(), strict=True)
        return {
            "model": self.description.name,
            "values": [{"name": n, "before": b, "value": x, "deviation": s} for n, b, x, s in rows],
            "unobservable": list(self.unobservable),
            "condition": self.condition,
            "residual": self.residual,
        }

    def table(self) -> Table:
        """Return the numbers and offsets before and after with their deviations, in SI and radians."""
        rows = [(n, *map(float, x)) for n, *x in zip(self.names, self.before, self.values, self.deviations, strict=True)]
        heads = [("parameter", ""), ("before", "SI", ".6g"), ("after", "SI", ".9g"), ("deviation", "SI", ".2g", "standard deviation")]
        return Table.of(heads, rows, "calibration")

    def __str__(self) -> str:
        lines = [self.table().text()]
        lines += [f"not observable: {x}" for x in self.unobservable]
        return "\n".join([repr(self), *lines, "residual (rms, SI): " + ", ".join(f"{n} {x:.3g}" for n, x in self.residual.items())])


def _combination(row: np.ndarray, names: tuple[str, ...]) -> str:
    row = row * np.sign(row[np.argmax(np.abs(row))])
    terms = [(x, n) for x, n in sorted(zip(row.tolist(), names, strict=True), key=lambda p: -abs(p[0])) if abs(x) > VISIBLE]
    text = " ".join(f"{'+' if x > 0.0 else '-'} {abs(x):.2g} {n}" for x, n in terms)
    return text.removeprefix("+ ")

"""Least-squares and minimax problem of a dwell: the output rests while the crank turns through a window, and has a stroke besides.

A slider's travel is divided by its stroke, so that the shortest link can be 1 and the size follows at the end; a rocker's angle is divided
by the wanted swing. Strokes are differences of the extreme samples, with the derivatives there (Danskin).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from linkwright.rings.synthesis.duals import Dual, dimensions
from linkwright.rings.synthesis.dwell_forms import DwellForm
from linkwright.rings.synthesis.dyad_steps import LinkagePositions, SlotDyad, positions
from linkwright.rings.synthesis.form_fit import ANGLE, exceeding
from linkwright.rings.synthesis.polishing import SmoothProblem

Array = np.ndarray
IN_WINDOW, OUTSIDE = 21, 40  # samples of the least squares
LEAST_REACH = 0.5  # of a pin in the slot of a rocker from the rocker's pivot, over the shortest link
MOST_SWING = 1.02  # of a rocker over what is wanted
RATIO = 12.0  # largest length over the shortest link


@dataclass(frozen=True)
class DwellLimits:
    """Largest cosine of a transmission angle; wanted swing in rad (rockers); limits of lengths.

    longest, shortest: over the stroke of a slider. ratio: largest length over the shortest link of the four-bar.
    """

    cosine: float
    swing: float
    longest: float
    shortest: float = 0.0
    ratio: float = RATIO
    most_swing: float = MOST_SWING

    @property
    def tightened(self) -> DwellLimits:
        """Limits of the least squares, whose penalties let candidates a little outside: those ends meet the actual limits."""
        swing = 1.0 + (MOST_SWING - 1.0) * 0.3
        lengths = {"longest": self.longest * 0.99, "shortest": self.shortest * 1.01, "ratio": self.ratio * 0.99}
        return DwellLimits(self.cosine * 0.99, self.swing * swing, most_swing=swing, **lengths)


@dataclass(frozen=True, eq=False)
class DwellFit:
    """Candidates of one form for one window (rad of the crank), with exact derivatives; start: crank angle where it has to begin."""

    form: DwellForm
    window: float
    limits: DwellLimits
    flags: Mapping[str, Array]
    start: float | None = None
    inside: int = IN_WINDOW
    outside: int = OUTSIDE

    def bounds(self) -> tuple[Array, Array]:
        table = {
            "a": (1e-3, 2.0 * RATIO), "b": (1e-3, 2.0 * RATIO), "c": (1e-3, 2.0 * RATIO), "l1": (0.3, RATIO), "l2": (0.3, RATIO),
            "phi": (-ANGLE, ANGLE), "h": (-2.0 * RATIO, 2.0 * RATIO), "start": (-ANGLE, ANGLE),
        }  # fmt: skip
        if self.start is not None:
            table["start"] = (self.start, self.start)
        pairs = np.array([table.get(name, (-2.0 * RATIO, 2.0 * RATIO)) for name in self.form.columns])
        return pairs[:, 0], pairs[:, 1]

    def angles(self, start: Array) -> Array:
        """Return crank angles (N, inside + outside) of the samples."""
        rest = self.window + (2.0 * np.pi - self.window) * (np.arange(self.outside) + 1.0) / (self.outside + 1.0)
        return start + np.concatenate([np.linspace(0.0, self.window, self.inside), rest])

    def known(self, x: Array, rows: Array, theta: Array, *, slopes: bool = True) -> LinkagePositions:
        """Return the poses at crank angles theta (N, M); the derivative by theta is that by the column `start`."""
        names = self.form.columns
        columns = dict(zip(names, dimensions(x, slopes=slopes), strict=True))
        columns.pop("start")
        numbers = self.form.numbers(columns, {n: f[rows] for n, f in self.flags.items()})
        at = names.index("start")
        return positions(self.form.steps, numbers, Dual(theta, {at: np.ones_like(theta)} if slopes else {}))

    def output(self, known: LinkagePositions, reference: int) -> Dual:
        """Return travel or angle of the output; angles are counted from that of one sample."""
        if not self.form.rotary:
            return known.travels[self.form.output]
        direction = known.poses[self.form.output].direction
        return (direction * np.conj(direction.value[:, reference : reference + 1])).angle()

    def parts(self, x: Array, rows: Array, *, slopes: bool = True) -> tuple[Dual, list[tuple[Dual, float]]]:
        """Return the output over the stroke (N, samples), and limited quantities with their largest size."""
        known = self.known(x, rows, self.angles(x[:, -1:]), slopes=slopes)
        y = self.output(known, self.inside // 2)
        stroke = stroke_of(y)
        limited = [(dual, self.limits.cosine) for dual in known.closings.values()]
        lengths = [known.dimensions[n] for n in self.form.all_lengths]
        lengths.append(known.dimensions["x"].size())
        limited += [(length / self.limits.ratio, 1.0) for length in lengths]
        if isinstance(self.form.step, SlotDyad):
            limited.append((LEAST_REACH / known.travels[self.form.output], 1.0))
        if self.form.rotary:
            limited += [(self.limits.swing / stroke, 1.0), (stroke * (1.0 / (self.limits.most_swing * self.limits.swing)), 1.0)]
            return y / self.limits.swing, limited
        limited += [(length / (stroke * self.limits.longest), 1.0) for length in lengths]
        if self.limits.shortest > 0.0:
            limited += [(stroke * self.limits.shortest / length, 1.0) for length in lengths[:-1]]
        return y / stroke, limited

    def __call__(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return residuals (N, m) and their derivatives (N, m, n), as `levenberg_marquardt` calls it."""
        y, limited = self.parts(x, rows)
        inside = y.at(slice(None), slice(0, self.inside))
        level = inside.each(lambda a: a - np.mean(a, axis=1, keepdims=True))
        beyond = [exceeding(dual, limit) for dual, limit in limited]
        n = x.shape[1]
        r = np.concatenate([level.value, *(b.value for b in beyond)], axis=1)
        return r, np.concatenate([level.jacobian(n), *(b.jacobian(n) for b in beyond)], axis=1)

    def sums(self, x: Array) -> Array:
        """Return the sums of squares of all candidates."""
        y, limited = self.parts(x, np.arange(len(x)), slopes=False)
        total = y.value[:, : self.inside].var(axis=1) * self.inside
        for dual, limit in limited:
            total = total + (exceeding(dual, limit).value ** 2).sum(1)
        return np.where(np.isfinite(total), total, np.inf)

    def smooth(self, row: int) -> SmoothProblem:
        """Return one candidate as a problem under inequalities (polishing.py); its last variable is the level of rest."""
        rows = np.array([row])

        def problem(v: Array, slopes: bool) -> tuple[Array, Array, Array, Array]:
            n = len(v) - 1
            y, limited = self.parts(v[None, :n], rows, slopes=slopes)
            inside = y.at(slice(None), slice(0, self.inside))
            r = inside.value[0] - v[n]
            g = np.concatenate([limit + sign * dual.value[0] for dual, limit in limited for sign in (-1.0, 1.0)])
            if not slopes:
                return r, np.zeros(0), g, np.zeros(0)
            jacobian = np.hstack([inside.jacobian(n)[0], np.full((self.inside, 1), -1.0)])
            gradients = np.concatenate([sign * dual.jacobian(n)[0] for dual, _ in limited for sign in (-1.0, 1.0)])
            return r, jacobian, g, np.hstack([gradients, np.zeros((len(g), 1))])

        return problem


def stroke_of(y: Dual) -> Dual:
    """Return largest minus least sample (N, 1)."""
    rows = np.arange(len(y.value))
    high, low = y.value.argmax(1), y.value.argmin(1)

    def chosen(a: Array) -> Array:
        a = np.broadcast_to(a, y.value.shape)
        return (a[rows, high] - a[rows, low])[:, None]

    stroke = Dual(chosen(y.value), {k: chosen(d) for k, d in y.slope.items()})
    return Dual(np.maximum(stroke.value, 1e-9), stroke.slope)

"""Quantities: one number of a design, with its exact gradient by the parameters that vary.

A measure of the motion (`results.measures`), a function of the motion, or a parameter of the model itself. Extremes over samples also
give the samples themselves, so that a program can hold every one of them instead of an extreme that jumps from sample to sample.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.api import LinkwrightError, Measure, Trajectories, UsageError, argument_types, measures, parameters, tolerances
from linkwright.properties import cached_property
from linkwright.results.measures.reductions import EXTREMES

if TYPE_CHECKING:
    from linkwright.rings.design.optimization.problem import DesignPoint


@dataclass(frozen=True)
class SampleCurve:
    """Values at the samples that count (in the window), and their derivatives: read when asked for."""

    at: np.ndarray  # numbers of the samples; ends of the window are numbered behind the last sample
    x: np.ndarray  # (samples that count,)
    slopes: Callable[[], np.ndarray]  # (samples that count, numbers)

    @cached_property
    def dx(self) -> np.ndarray:
        return self.slopes()


@dataclass(frozen=True)
class MeasuredValue(ABC):
    """A number of a design; `si` is its unit in SI, `shown` the one for people with its size."""

    name: str
    si: str = ""
    shown: tuple[str, float] = ("", 1.0)

    @property
    def extreme(self) -> str:
        """One of EXTREMES if the number is an extreme over samples, else empty."""
        return ""

    @property
    def root_of_squares(self) -> bool:
        """True if the number is the root of a sum of squares, which has a kink where it vanishes."""
        return False

    @property
    def key(self) -> str:
        """Name of what is stored with a design."""
        return self.name

    def value(self, p: DesignPoint) -> float:
        """Return the number; computed once for a design."""
        return p.known(("value", self.key), lambda: self._value(p))

    def gradient(self, p: DesignPoint) -> np.ndarray:
        """Return its derivatives by the parameters that vary, in SI."""
        return p.known(("gradient", self.key), lambda: self._gradient(p))

    def curve(self, p: DesignPoint) -> SampleCurve:
        """Return the samples of an extreme."""
        return p.known(("curve", self.key), lambda: self._curve(p))

    def reach(self, p: DesignPoint) -> float:
        """Return how far the number may go between samples: up, or down if it is negative; infinite where it grows without bound."""
        return 0.0

    @abstractmethod
    def _value(self, p: DesignPoint) -> float: ...

    @abstractmethod
    def _gradient(self, p: DesignPoint) -> np.ndarray: ...

    def _curve(self, p: DesignPoint) -> SampleCurve:
        raise UsageError(f"'{self.name}' is not an extreme over samples.", name=self.name)


@dataclass(frozen=True)
class OfMotion(MeasuredValue):
    """A measure of the motion; `switching` if that touches, sticks or holds one way, so that no exact derivatives go through it."""

    measure: Measure | None = None
    switching: bool = False

    @property
    def extreme(self) -> str:
        assert self.measure is not None
        return self.measure.reduction if self.measure.reduction in EXTREMES and not self.switching else ""

    @property
    def root_of_squares(self) -> bool:
        assert self.measure is not None
        return self.measure.reduction in ("rms", "std", "distance")

    def _value(self, p: DesignPoint) -> float:
        assert self.measure is not None
        if not self.extreme:
            return float(self.measure.read_from(p.motion))
        found, curve = self._sampled(p)
        return self.measure.value_of(curve, found.t)

    def _sampled(self, p: DesignPoint) -> tuple[Trajectories, measures.SampledCurve]:
        """The curve of an extreme: once for all extremes of a channel in a window, a box has four.

        Curves of whole motions are read together, of all channels that extremes of this problem were read of before.
        """
        m = self.measure
        assert m is not None
        if m.window is None:
            channels = p.problem.curves_read
            channels.setdefault(m.channel)
            found, curves = p.known(("whole curves", len(channels)), lambda: _whole_curves(p, list(channels)))
            return found, curves[m.channel]

        def compute() -> tuple[Trajectories, measures.SampledCurve]:
            found = m.motions(p.motion)
            return found, m.sampled(found)

        return p.known(("sampled", m.channel, m.window), compute)

    def _gradient(self, p: DesignPoint) -> np.ndarray:
        assert self.measure is not None
        if self.switching:
            ends = [p.beside(k) for k in range(len(p.numbers))]
            values = [[float(self.measure.read_from(c)) for c in pair.motions] for pair in ends]
            return np.array([(high - low) / pair.apart for (low, high), pair in zip(values, ends, strict=True)])
        return np.asarray(self.measure.slopes(p.motion, p.slopes), dtype=float)

    def reach(self, p: DesignPoint) -> float:
        assert self.measure is not None
        error = self.measure.read_from(p.motion).error
        return -error if self.measure.reduction == "min" else error

    def sampling_note(self, p: DesignPoint) -> str:
        """Return what samples leave open about the number, as a sentence; empty if it is located between them."""
        assert self.measure is not None
        unit, size = self.shown
        return self.measure.read_from(p.motion).note(self.measure.name, lambda x: f"{x / size:.2g} {unit}".rstrip())

    def _curve(self, p: DesignPoint) -> SampleCurve:
        m = self.measure
        assert m is not None
        found, curve = self._sampled(p)
        x = found.values[m.channel][0]
        size, long = curve.x[0], measures.scalar_of(found, m.channel)[0]
        at = np.arange(len(size)) if curve.mask is None else np.flatnonzero(curve.mask[0])

        def slopes() -> np.ndarray:
            dx = p.slopes.read([m.channel])[m.channel]
            if x.ndim > 1:
                flat, dflat = x.reshape(len(x), -1), dx.reshape(len(x), -1, dx.shape[-1])
                dx = np.einsum("si,sip->sp", flat, dflat) / np.where(long > 0.0, long, 1.0)[:, None]
            return curve.slopes(dx)[at]

        return SampleCurve(at, size[at], slopes)


def _whole_curves(p: DesignPoint, channels: Sequence[str]) -> tuple[Trajectories, dict[str, measures.SampledCurve]]:
    found = Trajectories.of_one(p.motion, channels)
    return found, dict(zip(channels, measures.whole_curves(found, channels), strict=True))


@dataclass(frozen=True)
class OfBranch(MeasuredValue):
    """Distance from dead centers and from the border of assembly: the least determinant of the loops over a reference, sign included."""

    reference: float = 1.0  # determinant of the same sign as the branch

    @property
    def key(self) -> str:
        return f"{self.name} {self.reference!r}"

    @property
    def extreme(self) -> str:
        return "min"

    def _curve(self, p: DesignPoint) -> SampleCurve:
        x = p.motion.determinant / self.reference
        return SampleCurve(np.arange(len(x)), x, lambda: p.slopes.determinant / self.reference)

    def _value(self, p: DesignPoint) -> float:
        return float(self.curve(p).x.min())

    def _gradient(self, p: DesignPoint) -> np.ndarray:
        c = self.curve(p)
        return c.dx[int(np.argmin(c.x))]

    @classmethod
    def at(cls, p: DesignPoint) -> OfBranch | None:
        """Return the distance relative to this design; None where its motion has no determinant."""
        x = getattr(p.motion, "determinant", None)
        if x is None or not np.isfinite(x).all():
            return None
        return cls("distance from a dead center", reference=float(np.sign(x[0]) * np.abs(x).max()))


@dataclass(frozen=True)
class OfNumbers(MeasuredValue):
    """A number that varies, as it is."""

    place: int = 0

    def _value(self, p: DesignPoint) -> float:
        return float(p.numbers[self.place])

    def _gradient(self, p: DesignPoint) -> np.ndarray:
        return np.eye(len(p.numbers))[self.place]


@dataclass(frozen=True)
class OfModel(MeasuredValue):
    """A number that follows from the model alone, such as the mass of all moving bodies: a function of its description."""

    read: Callable[[Any], Any] | None = None

    def _of(self, p: DesignPoint, numbers: Sequence[Any]) -> Any:
        assert self.read is not None
        return self.read(parameters.with_values(p.problem.described, p.problem.parameters, list(numbers)))

    def _value(self, p: DesignPoint) -> float:
        return float(np.real(self._of(p, [float(x) for x in p.numbers])))

    def _gradient(self, p: DesignPoint) -> np.ndarray:
        """Return complex steps, which are exact: the model is made of analytic expressions."""
        rows = np.asarray(p.numbers) + 1j * tolerances.COMPLEX_STEP * np.eye(len(p.numbers))
        return np.array([np.imag(self._of(p, [complex(x) for x in row])) / tolerances.COMPLEX_STEP for row in rows])


@dataclass(frozen=True)
class OfFunction(MeasuredValue):
    """A function of the result. Its gradient comes from complex channels: c[name] + i h dc/dp for one number p after the other."""

    call: Callable[[Any], Any] | None = None

    def _value(self, p: DesignPoint) -> float:
        return float(np.real(self._called(p.trajectory)))

    def _gradient(self, p: DesignPoint) -> np.ndarray:
        found = [np.asarray(self._called(SteppedMotion(p, k))) for k in range(len(p.numbers))]
        if not any(np.iscomplexobj(y) for y in found):
            raise UsageError(
                f"the function '{self.name}' has no exact derivative: it must be computed from channels, c['A.torque'], by analytic "
                "operations (sqrt(x * x) in place of abs(x)). Or write it as a measure.",
                name=self.name,
            )
        return np.array([float(np.imag(y)) / tolerances.COMPLEX_STEP for y in found])

    def _called(self, c: Any) -> Any:
        assert self.call is not None
        try:
            found = np.asarray(self.call(c))
        except LinkwrightError:
            raise
        except Exception as problem:  # whatever a user's function raises
            raise UsageError(f"the function '{self.name}' failed: {type(problem).__name__}: {problem}", name=self.name) from problem
        if found.size != 1:
            raise UsageError(f"the function '{self.name}' gave an array of shape {found.shape}. One number is needed.", name=self.name)
        if found.dtype.kind not in "biufc":
            raise UsageError(
                f"the function '{self.name}' gave {argument_types.spelled(found.reshape(-1)[0])}. One number is needed.", name=self.name
            )
        return found.reshape(())[()]


class SteppedMotion:
    """A motion whose channels carry an imaginary step along one number; everything else is that of the motion itself."""

    def __init__(self, p: DesignPoint, k: int):
        self._p, self._k = p, k

    def __getattr__(self, name: str) -> Any:
        return getattr(self._p.trajectory, name)

    def __len__(self) -> int:
        return len(self._p.trajectory)

    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray:
        name, unit = (key, None) if isinstance(key, str) else key
        values = self.read([name])[name]
        return values if unit is None else values / self._p.trajectory._channel(name).size_of(unit)

    def read(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        values = self._p.trajectory.read(names)
        moving = [n for n in names if n != "t"]
        slopes = self._p.every_slope.read(moving)
        return {n: x + 1j * tolerances.COMPLEX_STEP * slopes[n][..., self._k] if n in slopes else x for n, x in values.items()}


def moving_mass(described: Any) -> Any:
    """Return the mass of all bodies but ground."""
    return sum((b.mass for b in described.bodies[1:] if b.mass is not None), 0.0)

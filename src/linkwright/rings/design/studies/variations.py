"""Variations of a study: one number each, with the values or the distribution it takes.

    "180..260 mm / 20"          twenty values of a grid; anywhere between in plans that draw; so is (0.18, 0.26, 20)
    "200 +- 0.1 mm"             a tolerance: normal with a third of it as standard deviation, none outside
    "+- 0.1 mm", "2 %"          the same about the number of the file
    "normal(200 mm, 0.1 mm)"    mean and standard deviation; also uniform(low, high), triangular(low, mode, high),
                                lognormal(median, factor): normal in the logarithm, two thirds between median / factor and median * factor
    [0.18, 0.2, "220 mm"]       values of a grid, equally likely in plans that draw
    scipy.stats.beta(2, 5)      anything with a `ppf`

The phrases are those of `text.ranges_and_tolerances`. A distribution is asked by its quantiles (`at`), so one draw is one number
between 0 and 1 whatever the law.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import Dimension, Place, UsageError, meaning, ranges

SIGMAS = 3.0  # standard deviations in a tolerance


@dataclass(frozen=True)
class Variation(ABC):
    """One number that varies, in SI; `text` is how it was written, `low` and `high` where it can be (maybe infinite)."""

    name: str
    text: str
    low: float
    high: float

    @property
    def values(self) -> np.ndarray | None:
        """Values of a grid; None where there is only a distribution."""
        return None

    @property
    def middle(self) -> float:
        """The value it has while others vary one at a time."""
        return float(self.at(np.array([0.5]))[0])

    @abstractmethod
    def at(self, u: np.ndarray) -> np.ndarray:
        """Quantiles: values for numbers between 0 and 1."""

    @abstractmethod
    def as_text(self) -> Any:
        """Return text or numbers without units that `variation` reads as the same again; None where that is not possible."""


@dataclass(frozen=True)
class ListedValues(Variation):
    """Values one by one."""

    given: tuple[float, ...]

    @property
    def values(self) -> np.ndarray:
        return np.array(self.given)

    def as_text(self) -> list[float]:
        return list(self.given)

    def at(self, u: np.ndarray) -> np.ndarray:
        return self.values[np.minimum((np.asarray(u) * len(self.given)).astype(int), len(self.given) - 1)]


@dataclass(frozen=True)
class ValueRange(Variation):
    """Anywhere in a range, or so many values at equal distances."""

    count: int

    @property
    def values(self) -> np.ndarray:
        return np.linspace(self.low, self.high, self.count)

    def at(self, u: np.ndarray) -> np.ndarray:
        return self.low + (self.high - self.low) * np.asarray(u)

    def as_text(self) -> str:
        return f"{self.low!r}..{self.high!r} / {self.count}"


@dataclass(frozen=True)
class ToleranceBand(Variation):
    """A nominal value with limits: normal, cut off at the limits."""

    nominal: float
    band: float

    @property
    def middle(self) -> float:
        return self.nominal

    def as_text(self) -> str:
        return f"{self.nominal!r} +- {self.band!r}"

    @property
    def deviation(self) -> float:
        """Standard deviation of the normal law that is cut off."""
        return self.band / SIGMAS

    def at(self, u: np.ndarray) -> np.ndarray:
        from scipy.special import ndtr, ndtri  # here and below, because importing it takes longer than reading a model

        inside = ndtr(SIGMAS) - ndtr(-SIGMAS)
        return np.clip(self.nominal + self.deviation * ndtri(ndtr(-SIGMAS) + inside * np.asarray(u)), self.low, self.high)


@dataclass(frozen=True)
class Law(Variation):
    """A named distribution with its numbers."""

    law: str
    numbers: tuple[float, ...]

    def as_text(self) -> str:
        return f"{self.law}({', '.join(map(repr, self.numbers))})"

    def at(self, u: np.ndarray) -> np.ndarray:
        from scipy.special import ndtri

        u, x = np.asarray(u, dtype=float), self.numbers
        if self.law == "normal":
            return x[0] + x[1] * ndtri(u)
        if self.law == "lognormal":
            return x[0] * np.exp(np.log(x[1]) * ndtri(u))
        low, mode, high = x
        share = (mode - low) / (high - low)
        rising = low + np.sqrt(u * (high - low) * (mode - low))
        return np.where(u < share, rising, high - np.sqrt((1.0 - u) * (high - low) * (high - mode)))


@dataclass(frozen=True, eq=False)
class Quantiles(Variation):
    """An object with a `ppf`, such as the distributions of scipy.stats."""

    law: Any

    def as_text(self) -> None:
        return None

    def at(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(self.law.ppf(u), dtype=float)


LAWS = {
    "normal": ("mean", "deviation"),
    "uniform": ("low", "high"),
    "triangular": ("low", "mode", "high"),
    "lognormal": ("median", "factor"),
}


def variation(name: str, given: Any, dimension: Dimension | None, bare: Any = None, *, nominal: float | None = None) -> Variation:
    """Read one entry of `vary` as a number of this dimension; see `Place`. `nominal` is the number of the file."""
    if hasattr(given, "ppf"):
        low, high = (float(x) for x in given.support()) if hasattr(given, "support") else (-np.inf, np.inf)
        return Quantiles(name, f"{getattr(getattr(given, 'dist', given), 'name', type(given).__name__)}", low, high, given)
    meant, place = meaning(given, name), Place(name, dimension, bare, nominal)
    text = given.strip() if isinstance(given, str) else str(meant)
    if isinstance(meant, ranges.Range):
        return ValueRange(name, text, *place.ends(meant), meant.count or ranges.DEFAULT_COUNT)
    if isinstance(meant, ranges.Values):
        numbers = tuple(place.values(meant))
        return ListedValues(name, text, min(numbers), max(numbers), numbers)
    if isinstance(meant, ranges.Distribution):
        return _law(meant, place)
    middle, width = place.middle(meant), place.width(meant)
    if not width > 0.0:
        raise UsageError(f"{name} = {text}: the tolerance must be positive.", name=name)
    return ToleranceBand(name, text, middle - width, middle + width, middle, width)


def _law(meant: ranges.Distribution, place: Place) -> Variation:
    name, text, law = place.name, meant.text, meant.law
    if law not in LAWS:
        raise UsageError(
            f"{name}: there is no distribution '{law}'. Known: {', '.join(LAWS)}. Distributions of scipy.stats are given as objects.",
            name=law,
            allowed=LAWS,
        )
    if len(meant.numbers) != len(LAWS[law]):
        raise UsageError(f"{name}: {law} takes {', '.join(LAWS[law])}, not {text}.", name=name, value=text)
    plain = replace(place, dimension=None, bare=None)
    numbers = [(plain if what == "factor" else place).si(x.value, x.unit) for what, x in zip(LAWS[law], meant.numbers, strict=True)]
    if law == "uniform":
        if not numbers[0] < numbers[1]:
            raise UsageError(f"{name}: the range of {text} is empty.", name=name)
        return ValueRange(name, text, *numbers, ranges.DEFAULT_COUNT)
    if law == "triangular":
        if not numbers[0] <= numbers[1] <= numbers[2] or not numbers[0] < numbers[2]:
            raise UsageError(f"{name}: {text} needs low <= mode <= high.", name=name)
        return Law(name, text, numbers[0], numbers[2], law, tuple(numbers))
    if law == "normal":
        if not numbers[1] > 0.0:
            raise UsageError(f"{name}: the standard deviation of {text} must be positive.", name=name)
        return Law(name, text, -np.inf, np.inf, law, tuple(numbers))
    if not numbers[1] > 1.0 or not numbers[0] > 0.0:
        raise UsageError(f"{name}: {text} needs a positive median and a factor above 1.", name=name)
    return Law(name, text, 0.0, np.inf, law, tuple(numbers))

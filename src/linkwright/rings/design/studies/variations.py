"""Variations of a study: one number each, with the values or the distribution it takes.

    "180..260 mm / 20"          twenty values of a grid; anywhere between in plans that draw
    "200 +- 0.1 mm"             a tolerance: normal with a third of it as standard deviation, none outside
    "+- 0.1 mm", "+- 2 %"       the same about the number of the file
    "normal(200 mm, 0.1 mm)"    mean and standard deviation; also uniform(low, high), triangular(low, mode, high),
                                lognormal(median, factor): normal in the logarithm, two thirds between median / factor and median * factor
    [0.18, 0.2, "220 mm"]       values of a grid, equally likely in plans that draw
    scipy.stats.beta(2, 5)      anything with a `ppf`

Numbers without a unit are SI. A distribution is asked by its quantiles (`at`), so one draw is one number between 0 and 1 whatever the law.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, counted
from linkwright.model.file.readings import reading
from linkwright.model.file.units import Dimension, describe, matches, parse_unit

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"^\s*({NUMBER})\s*\.\.\s*({NUMBER})\s*(.*?)\s*(?:/\s*(\d+))?\s*$")
_TOLERANCE = re.compile(rf"^\s*({NUMBER})\s*(?:\+-|\+/-|±)\s*({NUMBER})\s*(.*?)\s*$")
_BAND = re.compile(rf"^\s*(?:\+-|\+/-|±)\s*({NUMBER})\s*(.*?)\s*$")
_CALL = re.compile(r"^\s*(\w+)\s*\((.*)\)\s*$")
_QUANTITY = re.compile(rf"^\s*({NUMBER})\s*(.*?)\s*$")
MOST_VALUES = 1_000_000
DEFAULT_COUNT = 11  # values of a range in a grid, if nothing is said
SIGMAS = 3.0  # standard deviations in a tolerance
SHAPES = 'Write "180..260 mm / 20", "200 +- 0.1 mm", "+- 0.1 mm", "normal(200 mm, 0.1 mm)", a list, or a distribution of scipy.stats.'


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
class Tolerance(Variation):
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


Sizes = Callable[[Dimension], float]  # of bare numbers in a place of a dimension


def variation(name: str, given: Any, dimension: Dimension | None, bare: Sizes | None = None, *, nominal: float | None = None) -> Variation:
    """Read one entry of `vary`; `dimension` is that of the number, None of a parameter that the file writes without a unit. `bare` are the
    sizes of bare numbers in the file: text without a unit is one of them, and a parameter without a unit is counted in them. `nominal` is
    the number of the file, about which "+- 0.1 mm" is a tolerance."""
    if hasattr(given, "ppf"):
        low, high = (float(x) for x in given.support()) if hasattr(given, "support") else (-np.inf, np.inf)
        return Quantiles(name, f"{getattr(getattr(given, 'dist', given), 'name', type(given).__name__)}", low, high, given)
    if isinstance(given, str):
        band = _BAND.match(given)
        if band is not None and nominal is not None:
            return _about(name, given.strip(), band, nominal, dimension, bare)
        return _from_text(name, given, dimension, bare)
    if isinstance(given, Mapping):
        raise UsageError(f"{name}: a dict is no range. {SHAPES}")
    items = list(given) if isinstance(given, Sequence | np.ndarray) else [given]
    if not items:
        raise UsageError(f"{name}: an empty list has no values. {SHAPES}")
    numbers = tuple(_number(name, x, dimension, bare) for x in items)
    return ListedValues(name, ", ".join(map(str, items[:8])) + (", ..." if len(items) > 8 else ""), min(numbers), max(numbers), numbers)


def is_band(given: Any) -> bool:
    """True for a tolerance about the number of the file, "+- 0.1 mm"."""
    return isinstance(given, str) and _BAND.match(given) is not None


def is_tolerance(given: Any) -> bool:
    """True for "+- 0.1 mm" and "200 +- 0.1 mm"."""
    return is_band(given) or (isinstance(given, str) and _TOLERANCE.match(given) is not None)


def unit_in(text: str) -> str:
    """The unit in which a range, a tolerance or the first number of a distribution is written; "" if there is none, or no number."""
    call = _CALL.match(text)
    found = _QUANTITY.match(call[2].split(",")[0]) if call is not None else None
    for pattern, group in ((_RANGE, 3), (_TOLERANCE, 3), (_BAND, 2), (_QUANTITY, 2)):
        found = found or pattern.match(text)
        if found is not None:
            unit = found[2 if call is not None else group]
            try:
                parse_unit(unit)
            except UsageError:
                return ""
            return unit
    return ""


def _from_text(name: str, text: str, dimension: Dimension | None, bare: Sizes | None) -> Variation:
    found = _RANGE.match(text)
    if found is not None:
        low, high = (_with_unit(name, x, found[3], dimension, bare) for x in found.group(1, 2))
        if not low < high:
            raise UsageError(f"{name}: the range {text.strip()} is empty: its first number must be the smaller one.")
        count = int(found[4] or DEFAULT_COUNT)
        if not 2 <= count <= MOST_VALUES:
            raise UsageError(f"{name}: {counted(count, 'value')} of a range; 2 to {MOST_VALUES:,} are possible.")
        return ValueRange(name, text.strip(), low, high, count)
    found = _TOLERANCE.match(text)
    if found is not None:
        nominal, band = (_with_unit(name, x, found[3], dimension, bare) for x in found.group(1, 2))
        if not band > 0.0:
            raise UsageError(f"{name}: the tolerance of {text.strip()} must be positive.")
        return Tolerance(name, text.strip(), nominal - band, nominal + band, nominal, band)
    found = _CALL.match(text)
    if found is not None:
        return _law(name, text.strip(), found[1], [x.strip() for x in found[2].split(",")], dimension, bare)
    value = _number(name, text, dimension, bare)
    return ListedValues(name, text.strip(), value, value, (value,))


def _about(name: str, text: str, band: re.Match[str], nominal: float, dimension: Dimension | None, bare: Sizes | None) -> Tolerance:
    """A tolerance about the number of the file, in a unit or in per cent of it."""
    share = band[2] in ("%", "percent", "per cent")
    width = abs(nominal) * float(band[1]) / 100.0 if share else _with_unit(name, band[1], band[2], dimension, bare)
    if not width > 0.0:
        why = "its present value is zero, give a unit" if share and nominal == 0.0 else "the band must be positive"
        raise UsageError(f"vary: {name} = {text}: {why}.")
    return Tolerance(name, text, nominal - width, nominal + width, nominal, width)


def _law(name: str, text: str, law: str, arguments: Sequence[str], dimension: Dimension | None, bare: Sizes | None) -> Variation:
    if law not in LAWS:
        raise UsageError(f"{name}: there is no distribution '{law}'. Known: {', '.join(LAWS)}; those of scipy.stats are taken as objects.")
    if len(arguments) != len(LAWS[law]):
        raise UsageError(f"{name}: {law} takes {', '.join(LAWS[law])}, not {text}.")
    numbers = [
        _number(name, x, None if what == "factor" else dimension, None if what == "factor" else bare)
        for what, x in zip(LAWS[law], arguments, strict=True)
    ]
    if law == "uniform":
        if not numbers[0] < numbers[1]:
            raise UsageError(f"{name}: the range of {text} is empty.")
        return ValueRange(name, text, *numbers, DEFAULT_COUNT)
    if law == "triangular":
        if not numbers[0] <= numbers[1] <= numbers[2] or not numbers[0] < numbers[2]:
            raise UsageError(f"{name}: {text} needs low <= mode <= high.")
        return Law(name, text, numbers[0], numbers[2], law, tuple(numbers))
    if law == "normal":
        if not numbers[1] > 0.0:
            raise UsageError(f"{name}: the standard deviation of {text} must be positive.")
        return Law(name, text, -np.inf, np.inf, law, tuple(numbers))
    if not numbers[1] > 1.0 or not numbers[0] > 0.0:
        raise UsageError(f"{name}: {text} needs a positive median and a factor above 1.")
    return Law(name, text, 0.0, np.inf, law, tuple(numbers))


def _number(name: str, given: Any, dimension: Dimension | None, bare: Sizes | None) -> float:
    """A number in SI, of a text with or without unit."""
    if isinstance(given, str):
        found = _QUANTITY.match(given)
        if found is None:
            raise UsageError(f"{name}: {given.strip()!r} is no range, tolerance or distribution. {SHAPES}")
        return _with_unit(name, found[1], found[2], dimension, bare)
    try:
        value = float(given)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: {given!r:.40} is not a number. {SHAPES}") from None
    return _finite(name, value)


def _with_unit(name: str, number: str, unit: str, dimension: Dimension | None, bare: Sizes | None) -> float:
    value = float(number)
    if not unit:  # as in the file: millimeters or degrees where it writes these
        return _finite(name, value if bare is None or dimension is None else value * bare(dimension))
    try:
        factor, found = parse_unit(unit)
    except UsageError as problem:
        raise UsageError(f"{name}: {problem} {SHAPES}") from None
    if dimension is not None and not matches(found, dimension):
        raise UsageError(f"{name} must be {describe(dimension)}, but {number} {unit} is {describe(found)}.")
    if dimension is not None:
        return _finite(name, value * factor * reading(found, dimension, f"{number} {unit}", name, unit))
    return _finite(name, value * factor if bare is None else value * factor / bare(found))


def _finite(name: str, value: float) -> float:
    if not np.isfinite(value):
        raise UsageError(f"{name}: {value} is not a finite number.")
    return value

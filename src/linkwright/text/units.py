"""Units and dimensions: what `45 rpm` or `0.04 kg m^2` means, and in what unit a result is shown.

A dimension is a tuple of exponents (length, mass, time, angle, current). Two dimensions match when
they agree apart from the angle, because a radian is a pure number; what a unit then means in a place
is decided in `readings`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from linkwright.errors import UsageError, nearest

Dimension = tuple[Any, Any, Any, Any, Any]


UNIT_NAMES = {  # other names of units, in small letters, that are answered with "Did you mean"
    **dict.fromkeys(("u", "upm", "umin", "rev_min", "revolutions"), "rpm"),
    **dict.fromkeys(("degree", "degrees", "grad"), "deg"),
    **dict.fromkeys(("radian", "radians"), "rad"),
    **dict.fromkeys(("meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("millimeter", "millimetre", "millimeters", "millimetres"), "mm"),
    **dict.fromkeys(("inch", "inches"), "in"),
    **dict.fromkeys(("newton", "newtons"), "N"),
    **dict.fromkeys(("second", "seconds", "sec"), "s"),
    **dict.fromkeys(("gram", "grams"), "g"),
    **dict.fromkeys(("kilogram", "kilograms", "kgs"), "kg"),
}


def _dim(length: int = 0, mass: int = 0, time: int = 0, angle: int = 0, current: int = 0) -> Dimension:
    return (length, mass, time, angle, current)


NONE = _dim()
LENGTH, MASS, TIME, ANGLE, CURRENT = _dim(1), _dim(0, 1), _dim(0, 0, 1), _dim(0, 0, 0, 1), _dim(0, 0, 0, 0, 1)
AREA, VOLUME, DENSITY, FLOW = _dim(2), _dim(3), _dim(-3, 1), _dim(3, 0, -1)
SPEED, ACCELERATION = _dim(1, 0, -1), _dim(1, 0, -2)
ANGULAR_SPEED, ANGULAR_ACCELERATION = _dim(0, 0, -1, 1), _dim(0, 0, -2, 1)
JERK, ANGULAR_JERK, CURVATURE = _dim(1, 0, -3), _dim(0, 0, -3, 1), _dim(-1)
FORCE, TORQUE, PRESSURE, POWER = _dim(1, 1, -2), _dim(2, 1, -2), _dim(-1, 1, -2), _dim(2, 1, -3)
INERTIA = _dim(2, 1)
STIFFNESS, TORSIONAL_STIFFNESS = _dim(0, 1, -2), _dim(2, 1, -2, -1)
DAMPING, TORSIONAL_DAMPING = _dim(0, 1, -1), _dim(2, 1, -1, -1)
FREQUENCY, ENERGY, MOMENTUM = _dim(0, 0, -1), _dim(2, 1, -2), _dim(1, 1, -1)
VOLTAGE, RESISTANCE, INDUCTANCE = _dim(2, 1, -3, 0, -1), _dim(2, 1, -3, 0, -2), _dim(2, 1, -2, 0, -2)
TORQUE_CONSTANT = _dim(2, 1, -2, 0, -1)  # N m/A, the same as V s/rad
LEAD = _dim(1, 0, 0, -1)  # travel of a screw per angle

KINDS: dict[str, Dimension] = {
    "length": LENGTH, "mass": MASS, "time": TIME, "angle": ANGLE, "current": CURRENT, "area": AREA, "volume": VOLUME,
    "density": DENSITY, "speed": SPEED, "acceleration": ACCELERATION, "angular speed": ANGULAR_SPEED,
    "angular acceleration": ANGULAR_ACCELERATION, "force": FORCE, "torque": TORQUE, "pressure": PRESSURE, "power": POWER,
    "inertia": INERTIA, "stiffness": STIFFNESS, "torsional stiffness": TORSIONAL_STIFFNESS, "damping": DAMPING,
    "torsional damping": TORSIONAL_DAMPING, "momentum": MOMENTUM, "voltage": VOLTAGE, "resistance": RESISTANCE,
    "inductance": INDUCTANCE, "torque constant": TORQUE_CONSTANT, "pure number": NONE, "jerk": JERK, "angular jerk": ANGULAR_JERK,
    "curvature": CURVATURE, "flow": FLOW, "travel per angle": LEAD,
}  # fmt: skip

OF_PLACE = {  # dimensions relative to where an element acts: along a line or in a slider, in a hinge
    "effort": (FORCE, TORQUE), "travel": (LENGTH, ANGLE), "rate": (SPEED, ANGULAR_SPEED),
    "effort/travel": (STIFFNESS, TORSIONAL_STIFFNESS), "effort/rate": (DAMPING, TORSIONAL_DAMPING),
    "1/rate": ((-1, 0, 1, 0, 0), (0, 0, 1, -1, 0)),
}  # fmt: skip
OF_PAIR = {  # dimensions relative to the coordinates of two joints that an element ties: exponents of both
    "first travel": (1, 0), "second travel": (0, 1), "second/first": (-1, 1),
}  # fmt: skip

_IN, _LB, _G0 = 0.0254, 0.45359237, 9.80665
UNITS: dict[str, tuple[float, Dimension]] = {
    "m": (1.0, LENGTH), "mm": (1e-3, LENGTH), "cm": (1e-2, LENGTH), "dm": (0.1, LENGTH), "km": (1e3, LENGTH), "um": (1e-6, LENGTH),
    "µm": (1e-6, LENGTH), "in": (_IN, LENGTH), "inch": (_IN, LENGTH), "ft": (12 * _IN, LENGTH),
    "kg": (1.0, MASS), "g": (1e-3, MASS), "mg": (1e-6, MASS), "t": (1e3, MASS), "lb": (_LB, MASS),
    "s": (1.0, TIME), "ms": (1e-3, TIME), "us": (1e-6, TIME), "min": (60.0, TIME), "h": (3600.0, TIME),
    "rad": (1.0, ANGLE), "mrad": (1e-3, ANGLE), "deg": (math.pi / 180, ANGLE), "°": (math.pi / 180, ANGLE),
    "rev": (2 * math.pi, ANGLE), "turn": (2 * math.pi, ANGLE),
    "rpm": (math.pi / 30, ANGULAR_SPEED), "Hz": (1.0, FREQUENCY), "kHz": (1e3, FREQUENCY),
    "N": (1.0, FORCE), "mN": (1e-3, FORCE), "kN": (1e3, FORCE), "MN": (1e6, FORCE), "lbf": (_LB * _G0, FORCE),
    "Nm": (1.0, TORQUE), "Nmm": (1e-3, TORQUE), "kNm": (1e3, TORQUE),
    "Pa": (1.0, PRESSURE), "kPa": (1e3, PRESSURE), "MPa": (1e6, PRESSURE), "GPa": (1e9, PRESSURE), "bar": (1e5, PRESSURE),
    "psi": (_LB * _G0 / _IN**2, PRESSURE),
    "J": (1.0, ENERGY), "mJ": (1e-3, ENERGY), "kJ": (1e3, ENERGY), "W": (1.0, POWER), "mW": (1e-3, POWER), "kW": (1e3, POWER),
    "A": (1.0, CURRENT), "mA": (1e-3, CURRENT), "V": (1.0, VOLTAGE), "mV": (1e-3, VOLTAGE), "kV": (1e3, VOLTAGE),
    "ohm": (1.0, RESISTANCE), "Ω": (1.0, RESISTANCE), "H": (1.0, INDUCTANCE), "mH": (1e-3, INDUCTANCE), "uH": (1e-6, INDUCTANCE),
    "percent": (0.01, NONE), "%": (0.01, NONE),
}  # fmt: skip
LITERS = {"l": (1e-3, VOLUME), "ml": (1e-6, VOLUME)}  # behind a number only: as a name in an expression `l` is a length of the user's
_SI_SYMBOLS = ("m", "kg", "s", "rad", "A")
UNIT_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-zµΩ°%]+)|(?P<number>\d+(?:\.\d+)?)|(?P<op>\^|\*\*|[*/()·-]))")


def multiply(a: Dimension, b: Dimension, power: Any = 1) -> Dimension:
    """Exponents of a * b**power."""
    if power == 1:
        return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4])
    p = Fraction(power).limit_denominator(1000)
    sums = [x + y * p for x, y in zip(a, b, strict=True)]
    exact = [int(s) if s == int(s) else s for s in sums]
    return (exact[0], exact[1], exact[2], exact[3], exact[4])


def dimension_of(kind: str, slides: bool) -> Dimension:
    """The dimension of a number of an element by its name in `KINDS` or `OF_PLACE`."""
    return OF_PLACE[kind][0 if slides else 1] if kind in OF_PLACE else KINDS[kind]


def of_pair(kind: str, first: Dimension, second: Dimension) -> Dimension:
    """The dimension of a number of an element that ties two joints, by its name in `OF_PAIR`."""
    a, b = OF_PAIR[kind]
    return multiply(multiply(NONE, first, a), second, b)


def matches(a: Dimension, b: Dimension) -> bool:
    """Same dimension, the angle aside."""
    return (a[0], a[1], a[2], a[4]) == (b[0], b[1], b[2], b[4])


def describe(dimension: Dimension) -> str:
    """`force (kg m/s^2)`: a dimension for people."""
    up = [_factor(s, e) for s, e in zip(_SI_SYMBOLS, dimension, strict=True) if e > 0]
    down = [_factor(s, -e) for s, e in zip(_SI_SYMBOLS, dimension, strict=True) if e < 0]
    symbol = (" ".join(up) or ("1" if down else "")) + "".join(f"/{d}" for d in down)
    for name, known in KINDS.items():
        if known == dimension:
            return f"{name} ({symbol})" if symbol else f"a {name}"
    return symbol or "a pure number"


def _factor(symbol: str, exponent: Any) -> str:
    return symbol if exponent == 1 else f"{symbol}^{exponent}"


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> tuple[float, Dimension]:
    """Factor to SI and dimension of a unit such as `kg m^2`, `N m/rad` or `1/s`.

    Every unit after the first slash is a divisor only when it has its own slash: `N m/rad s`
    is (N m/rad) s, as in expressions; write `N m s/rad`.
    """
    factor, dimension, divide, fresh = 1.0, NONE, False, True
    tokens = _unit_tokens(text)
    position = 0
    while position < len(tokens):
        kind, token = tokens[position]
        position += 1
        if kind == "op":
            if token not in ("*", "/", "·") or (fresh and position == 1):
                raise UsageError(
                    f"'{text}' is not a unit: '{token}' is out of place. Write units like mm, kg m^2, N m/rad or 1/s.", name=text
                )
            divide, fresh = token == "/", True
            continue
        if kind == "number":
            if token != "1":
                raise UsageError(
                    f"'{text}' is not a unit: it holds the number {token}. Write units like mm, kg m^2, N m/rad or 1/s.", name=text
                )
            fresh = False
            continue
        known = UNITS.get(token) or LITERS.get(token)
        if known is None:
            raise UsageError(f"'{token}' is not a unit.", nearest(token, UNITS, "Units", UNIT_NAMES))
        exponent = 1
        if position + 1 < len(tokens) and tokens[position][1] in ("^", "**"):
            position, exponent = _exponent(tokens, position + 1, text)
        unit_factor, unit_dimension = known
        exponent = -exponent if divide else exponent
        factor *= unit_factor**exponent
        dimension = multiply(dimension, unit_dimension, exponent)
        divide, fresh = False, False
    if fresh:
        raise UsageError(f"'{text}' is not a unit. Write units like mm, kg m^2, N m/rad or 1/s.", name=text)
    return factor, dimension


def _exponent(tokens: Sequence[tuple[str, str]], position: int, text: str) -> tuple[int, int]:
    sign = 1
    if tokens[position][1] == "-" and position + 1 < len(tokens):
        sign, position = -1, position + 1
    kind, token = tokens[position]
    if kind != "number" or not token.isdigit() or int(token) > 9:
        raise UsageError(f"'{text}' is not a unit: the exponent '{token}' must be a small whole number, as in mm^2.", name=text)
    return position + 1, sign * int(token)


def _unit_tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    position = 0
    if len(text) > 100:
        raise UsageError(f"'{text[:40]}...' is too long for a unit. Write units like mm, kg m^2, N m/rad or 1/s.")
    text = text.rstrip()
    while position < len(text):
        found = UNIT_TOKEN.match(text, position)
        if not found:
            raise UsageError(
                f"'{text}' is not a unit: '{text[position]}' is not allowed. Write units like mm, kg m^2, N m/rad or 1/s.", name=text
            )
        kind = found.lastgroup or "op"
        tokens.append((kind, found.group(kind)))
        position = found.end()
    return tokens


def unit_names(text: str) -> frozenset[str]:
    """Return the names in a unit: {"N", "m", "rad"} of `N m/rad`."""
    return frozenset(token for kind, token in _unit_tokens(text) if kind == "name")


def convert(value_si: Any, unit: str) -> Any:
    """An SI value (or array) in `unit`: convert(4.712, "rpm") is about 45."""
    return value_si / parse_unit(unit)[0]


EXACT = 2.0**53  # numbers below are floats without rounding


def quantity(text_or_number: Any, dimension: Dimension, what: str = "the value") -> float:
    """An SI float from a number (SI, radians) or a text with a unit: quantity("45 rpm", ANGULAR_SPEED)."""
    plain = isinstance(text_or_number, float) or (type(text_or_number) is int and dimension != ANGLE)  # whole angles are asked about
    if plain and abs(text_or_number) < EXACT:
        return float(text_or_number) + 0.0  # no negative zero, as from a text
    from linkwright.text.quantities import si_value  # which builds on this module

    return si_value(text_or_number, dimension, what)


class UnitSystem:
    """The `units:` line of a model: what a bare number means in a place of a given dimension."""

    def __init__(self, units: Iterable[str] = ()):
        self.units = tuple(units)
        self.by_dimension: dict[Dimension, tuple[str, float]] = {}
        for unit in self.units:
            factor, dimension = parse_unit(unit)
            if dimension == FREQUENCY:
                raise UsageError(
                    f"'{unit}' in `units:` would have no effect, because no parameter of a model is a frequency. For speeds of rotation "
                    "write rpm, rev/s or rad/s.",
                    name=unit,
                )
            if dimension in self.by_dimension:
                raise UsageError(
                    f"'{self.by_dimension[dimension][0]}' and '{unit}' are both units of {describe(dimension)}: keep one of them.",
                    name=self.by_dimension[dimension][0],
                )
            self.by_dimension[dimension] = (unit, factor)

    def base(self, dimension: Dimension, default: str) -> tuple[str, float]:
        return self.by_dimension.get(dimension, (default, 1.0))

    @property
    def degrees(self) -> bool:
        return self.base(ANGLE, "rad")[1] != 1.0

    @property
    def coherent(self) -> bool:
        """Length, mass and time are SI, so derived quantities are SI as well."""
        return all(self.base(d, "")[1] == 1.0 for d in (LENGTH, MASS, TIME))

    def bare_factor(self, dimension: Dimension) -> float | None:
        """Factor of a bare number to SI; None if it would be ambiguous."""
        if dimension in self.by_dimension:
            return self.by_dimension[dimension][1]
        if dimension == NONE or dimension in (LENGTH, MASS, TIME, ANGLE, CURRENT):
            return 1.0
        turns = dimension[3] != 0
        return 1.0 if self.coherent and not (turns and self.degrees) else None

    def readings(self, value: str, dimension: Dimension) -> str:
        """`0.04 kg m^2 or 0.04 kg mm^2 (4e-08 kg m^2)`: what a bare number might have meant."""
        si = _coherent_symbol(dimension, dict.fromkeys(range(5)))
        mine = _coherent_symbol(dimension, {i: self.base(d, "")[0] or None for i, d in enumerate((LENGTH, MASS, TIME, ANGLE, CURRENT))})
        named = _PREFERRED.get(dimension, si)
        texts = [f"{value} {named}"]
        others = [u for u in (mine, *_ALSO.get(dimension, ())) if u not in (named, si)]
        for other in dict.fromkeys(others):
            try:
                amount = f" ({float(value) * parse_unit(other)[0]:.6g} {named})"
            except ValueError:
                amount = ""
            texts.append(f"{value} {other}{amount}")
        return " or ".join(texts)


_PREFERRED: dict[Dimension, str] = {
    FORCE: "N", TORQUE: "N m", PRESSURE: "Pa", STIFFNESS: "N/m", TORSIONAL_STIFFNESS: "N m/rad", DAMPING: "N s/m",
    TORSIONAL_DAMPING: "N m s/rad", POWER: "W", VOLTAGE: "V", RESISTANCE: "ohm", INDUCTANCE: "H", TORQUE_CONSTANT: "N m/A",
    INERTIA: "kg m^2", DENSITY: "kg/m^3", ANGULAR_SPEED: "rad/s", ANGULAR_ACCELERATION: "rad/s^2",
}  # fmt: skip
_HYDRAULIC = {PRESSURE: "bar", FLOW: "l/min", VOLUME: "l"}  # units of data sheets, in which they are shown
_ALSO: dict[Dimension, tuple[str, ...]] = {
    STIFFNESS: ("N/mm",), TORQUE: ("N mm",), PRESSURE: ("bar",), ANGULAR_SPEED: ("rpm",), DAMPING: ("N s/mm",),
    TORSIONAL_STIFFNESS: ("N m/deg",), LEAD: ("mm/rev",),
}  # fmt: skip


def _coherent_symbol(dimension: Dimension, names: dict[int, str | None]) -> str:
    """The product of base units (SI unless `names` says otherwise) that makes the dimension."""
    symbols = [names.get(i) or _SI_SYMBOLS[i] for i in range(5)]
    order = (1, 0, 2, 3, 4)  # mass first: kg m^2
    up = [_factor(symbols[i], dimension[i]) for i in order if dimension[i] > 0]
    down = [_factor(symbols[i], -dimension[i]) for i in order if dimension[i] < 0]
    return (" ".join(up) or "1") + "".join(f"/{d}" for d in down)


def display_unit(units: Iterable[str] | UnitSystem, dimension: Dimension) -> tuple[str, float]:
    """Symbol of the unit in which a model shows a dimension, and the factor from SI to it.

    A unit of exactly that dimension in `units` wins; otherwise speeds and curvatures follow the length, angles
    are rad unless `deg` is listed, forces, torques, accelerations are N, N m, m/s^2, and pressures, flows and volumes bar, l/min and l.
    """
    symbol, size = _display(units if isinstance(units, UnitSystem) else UnitSystem(units), dimension)
    return symbol, 1.0 / size


def shown(value: float, dimension: Dimension, units: Iterable[str] | UnitSystem, digits: int = 4) -> str:
    """An SI value for a message, in the units of the model: `30 mm`."""
    symbol, per_si = display_unit(units, dimension)
    rounded = float(f"{value * per_si:.{digits}g}")  # 1210 mm, not 1.21e+03 mm
    return f"{rounded:.10g} {symbol}".rstrip()


def _display(system: UnitSystem, dimension: Dimension) -> tuple[str, float]:
    if dimension in system.by_dimension:
        return system.by_dimension[dimension]
    if dimension == NONE:
        return "", 1.0
    if dimension in (SPEED, CURVATURE):
        symbol, size = system.base(LENGTH, "m")
        return (f"{symbol}/s", size) if dimension == SPEED else (f"1/{symbol}", 1.0 / size)
    if dimension in (ANGULAR_SPEED, ANGULAR_ACCELERATION, ANGULAR_JERK):
        symbol, size = system.base(ANGLE, "rad")
        return f"{symbol}/s{('', '^2', '^3')[-dimension[2] - 1]}", size
    if dimension in _HYDRAULIC:
        return _HYDRAULIC[dimension], parse_unit(_HYDRAULIC[dimension])[0]
    return _PREFERRED.get(dimension) or _coherent_symbol(dimension, {}), 1.0

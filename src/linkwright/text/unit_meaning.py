"""Meaning of a unit in a place, decided here alone for model files, calls, the command line, the editor and studies.

A radian is a pure number, so 1/s, Hz and rad/s have one dimension, as have N m, J and N m/rad. They do not mean the same: 3000 1/min
are revolutions, and a stiffness of 2 N m may be per radian or per degree. A value is taken if its meaning is certain; otherwise
the message shows both readings.
"""

from __future__ import annotations

import math
import re
from typing import Any

from linkwright.errors import UsageError
from linkwright.text.units import (
    ANGULAR_SPEED,
    FREQUENCY,
    LEAD,
    NONE,
    TORQUE,
    TORQUE_CONSTANT,
    TORSIONAL_STIFFNESS,
    Dimension,
    describe,
    matches,
    parse_unit,
    unit_names,
)

REVOLUTION = 2.0 * math.pi
NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
LITERAL = re.compile(rf"(?P<number>[-+]?\s*{NUMBER})(?P<gap>\s*)(?P<unit>.*)\Z", re.DOTALL)
_BARE = re.compile(rf"\s*[-+]?{NUMBER}\s*\Z")
_WITH_COMMA = re.compile(r"\s*[-+]?[0-9]+,[0-9]+(?:[eE][-+]?[0-9]+)?\s*(?:[A-Za-z°µ%].*)?\Z")  # a whole text
_COMMA = re.compile(r"[0-9],[0-9]")
_NUMBERS = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")  # in a sentence, whose full stop is none of a number
_WHOLE = re.compile(r"(?:.*[-+*/^(\s])?[0-9]+\Z")  # a number without decimals, an expression before it perhaps
_DECIMALS = re.compile(r"[0-9]+(\s*[-+*/^)A-Za-z].*)?\Z")  # what follows a decimal comma, a unit or more after it perhaps
ENERGIES = frozenset(("J", "mJ", "kJ"))
SHARES = frozenset(("%", "percent"))
SECONDS = frozenset(("s", "ms", "us"))  # 1/s is written for rad/s as often as for revolutions; Hz and 1/min are not
REVOLVING = frozenset(("Hz", "kHz", "min", "h"))  # N m/Hz and V min are per revolution as likely as per radian


def is_bare(text: str) -> bool:
    """Return whether a text is a single number without a unit."""
    return _BARE.match(text) is not None


def with_point(text: str) -> str:
    """Return a typed text, with a decimal point if it is a single number with a decimal comma."""
    return text.strip().replace(",", ".") if _WITH_COMMA.match(text) else text.strip()


def has_comma(text: str) -> bool:
    """Return whether a comma is between digits, as a decimal comma is."""
    return _COMMA.search(text) is not None


def halves_of_decimal(one: str, other: str) -> bool:
    """Return whether two texts around a comma look like one number with a decimal comma."""
    return _WHOLE.match(one) is not None and _DECIMALS.match(other) is not None


def without_numbers(text: str) -> str:
    """Return a sentence with # in place of every number."""
    return _NUMBERS.sub("#", text)


def unit_of_literal(text: str) -> str:
    """Return the unit of a single number such as `3000 1/min`; "" for a bare number and for an expression."""
    found = LITERAL.match(text.strip())
    unit = found["unit"].strip() if found else ""
    try:
        parse_unit(unit)
    except UsageError:
        return ""
    return unit


def reading(given: Dimension, expected: Dimension, text: str, what: str, unit: str = "", *, count: bool = True) -> float:
    """Return the factor of a value of dimension `given` in a place that needs `expected`; raise UsageError unless it is certain.

    Both agree apart from the angle. `unit` is the unit of a single number. An expression has none: its angles may come from a product
    (v = r w) or have been left out by SI's rule (G J / L), so only a `count` is in doubt: see `Quantity`.
    """
    names = unit_names(unit) if unit else frozenset()
    if expected == TORQUE and names & ENERGIES:
        raise UsageError(f"{what} must be a torque, but '{text}' is an energy. A torque is written in N m.", name=text)
    if expected != NONE and names and names <= SHARES:
        raise UsageError(f"{what} must be {describe(expected)}, but '{text}' is a share. Check its unit.", name=text)
    if names & REVOLVING and given[3] == 0 and (expected[3] < 0 or expected == TORQUE_CONSTANT):
        raise UsageError(f"{what}: '{text}' could mean {_both(text, unit, ('/rad', '/rev'))}. Write one of them.", name=text)
    if given == expected:
        return 1.0
    if expected == FREQUENCY and given == ANGULAR_SPEED:
        return 1.0 / REVOLUTION  # 60 rpm are 1 Hz
    if expected == ANGULAR_SPEED and given == FREQUENCY and names and not names & SECONDS:
        return REVOLUTION  # of every name plate
    ways = _ways(expected, unit, count)
    if ways and given[3] == 0:
        raise UsageError(f"{what}: '{text}' could mean {_both(text, unit, ways)}. Write one of them.", name=text)
    without_angle = given[3] == 0 and expected[3] < 0  # N m s for N m s/rad
    if expected == NONE or (unit and not without_angle and expected != TORQUE_CONSTANT):  # V/rpm is a torque constant
        raise UsageError(f"{what} must be {describe(expected)}, but '{text}' is {describe(given)}. Check its unit.", name=text)
    return 1.0


def unit_size(unit: str, expected: Dimension, what: str, *, energy: bool = False) -> float:
    """Return the size in SI of a unit in a place that needs `expected`; raise UsageError if it measures something else.

    An `energy` has the dimension of a torque and is measured in J or N m.
    """
    factor, given = parse_unit(unit)
    if not matches(given, expected):
        raise UsageError(f"{what} must be {describe(expected)}, but {unit} is {describe(given)}. Check the unit.", name=what)
    return factor if energy and given == expected else factor * reading(given, expected, f"1 {unit}", what, unit)


def channel_unit(unit: str) -> tuple[float, Dimension]:
    """Return size and dimension of a unit in which a channel is measured: Hz and 1/min are revolutions, as no channel is a frequency."""
    factor, given = parse_unit(unit)
    if given == FREQUENCY and not unit_names(unit) & SECONDS:
        return factor * REVOLUTION, ANGULAR_SPEED
    return factor, given


def bare_angle(value: float, what: str) -> None:
    """Raise UsageError for an angle without a unit that is more than a revolution in radians, so that degrees are as likely."""
    if abs(value) > REVOLUTION * (1.0 + 1e-12):
        degrees = f"'{value:g} deg' ({math.radians(value):.4g} rad)"
        raise UsageError(
            f"{what} = {value:g} has no unit: it could mean {degrees} or '{value:g} rad'. Write one of them.", name=what
        )


def typed_angle(given: Any, what: str) -> None:
    """The same for an angle of a call. A text or an int was written by somebody; a float may be computed and count revolutions."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        return
    try:
        value = float(given)
    except (ValueError, OverflowError):  # a text with a unit, or an expression
        return
    if math.isfinite(value):
        bare_angle(value, what)


def _ways(expected: Dimension, unit: str, count: bool) -> tuple[str, str] | None:
    """How a value without its angle may be meant; None where SI leaves the angle out and one reading is left."""
    if expected[3] > 0:
        return ("rad", "rev") if unit or count or expected[0] else None  # rad/m: 1/lead is as likely as 2 pi/lead
    if expected == LEAD:
        return ("/rad", "/rev")
    return ("/rad", "/deg") if expected == TORSIONAL_STIFFNESS and unit else None


def _both(text: str, unit: str, ways: tuple[str, str]) -> str:
    """`3 rad/s or 3 rev/s (18.8496 rad/s)`; of an expression `(f)*1 rad or (f)*1 rev`."""
    if not unit:
        return " or ".join(f"({text})/(1 {w[1:]})" if w[0] == "/" else f"({text})*1 {w}" for w in ways)
    number = text.strip().removesuffix(unit).strip()
    first, second = (_with_angle(unit, w) for w in ways)
    ratio = parse_unit(second)[0] / parse_unit(first)[0]
    return f"{number} {first} or {number} {second} ({float(number.replace(' ', '')) * ratio:.6g} {first})"


def _with_angle(unit: str, angle: str) -> str:
    if angle[0] == "/":
        return f"{unit}{angle}"
    return re.sub(r"^1\s*/\s*", f"{angle}/", unit) if unit[0] == "1" else f"{angle} {unit}"

"""Units: what numbers mean, where they may stand bare, in what unit results are shown."""

from __future__ import annotations

import math

import pytest

from linkwright.errors import ModelError, UsageError
from linkwright.model.file import convert, display_unit, parse_unit, quantity, read
from linkwright.model.file.text_nodes import from_python
from linkwright.text import units as u
from linkwright.text.quantities import QuantityAlgebra, place, read_quantity
from tests.refusals import refused


def value(text, dimension, units=()):
    system = u.UnitSystem(units)
    node = from_python(text, "here")
    return place(read_quantity(node, QuantityAlgebra(system)), dimension, system, node, "it")


@pytest.mark.parametrize(
    ("text", "dimension", "expected"),
    [
        ("45 rpm", u.ANGULAR_SPEED, 45 * 2 * math.pi / 60),
        ("0.04 kg m^2", u.INERTIA, 0.04),
        ("9.81 m/s^2", u.ACCELERATION, 9.81),
        ("5 mm/rad", u.LEAD, 0.005),
        ("5 mm/turn", u.LEAD, 0.005 / (2 * math.pi)),
        ("30 deg", u.ANGLE, math.pi / 6),
        ("2 N*m", u.TORQUE, 2.0),
        ("1.5 kN", u.FORCE, 1500.0),
        ("6 bar", u.PRESSURE, 6e5),
        ("1 lbf", u.FORCE, 4.4482216152605),
        ("2 ft", u.LENGTH, 0.6096),
        ("3 N mm/deg", u.TORSIONAL_STIFFNESS, 3e-3 * 180 / math.pi),
        ("12 V", u.VOLTAGE, 12.0),
        ("2 mH", u.INDUCTANCE, 2e-3),
        ("50 %", u.NONE, 0.5),
        ("2*3 mm + 1 cm", u.LENGTH, 0.016),
        ("sqrt(9 mm^2)", u.LENGTH, 0.003),
        ("6 m/2", u.LENGTH, 3.0),
        ("10 N/2 mm", u.STIFFNESS, 5000.0),
        ("7850 kg/m^3", u.DENSITY, 7850.0),
        ("1 kg m s^-2", u.FORCE, 1.0),
        ("1 Hz", u.ANGULAR_SPEED, 2 * math.pi),
        ("3000 1/min", u.ANGULAR_SPEED, 100 * math.pi),
        ("3000 min^-1", u.ANGULAR_SPEED, 100 * math.pi),
        ("60 rpm", u.FREQUENCY, 1.0),
        ("1 V/rpm", u.TORQUE_CONSTANT, 30 / math.pi),
        ("2 N m s", u.TORSIONAL_DAMPING, 2.0),
        ("0.1 m*45 rpm", u.SPEED, 0.1 * 1.5 * math.pi),  # v = r w
        ("(3 m/s)/(1.5 m)", u.ANGULAR_SPEED, 2.0),  # w = v/r
        ("sqrt((10 m/s^2)/(2.5 m))", u.ANGULAR_SPEED, 2.0),
        ("(2*pi*5 Hz)*1 rad", u.ANGULAR_SPEED, 10 * math.pi),
        ("0.5 kHz", u.FREQUENCY, 500.0),
        ("0", u.STIFFNESS, 0.0),
    ],
)
def test_a_number_with_a_unit(text, dimension, expected):
    assert quantity(text, dimension) == pytest.approx(expected, rel=1e-14)
    assert value(text, dimension, ["mm", "kg", "deg", "rpm"]) == pytest.approx(expected, rel=1e-14)


def test_a_bare_number_takes_the_unit_of_the_place():
    file = ["mm", "g", "deg", "rpm"]
    assert value("300", u.LENGTH, file) == 0.3
    assert value("300", u.MASS, file) == 0.3
    assert value("90", u.ANGLE, file) == pytest.approx(math.pi / 2, rel=1e-15)
    assert value("60", u.ANGULAR_SPEED, file) == pytest.approx(2 * math.pi, rel=1e-15)
    assert value("2", u.STIFFNESS, []) == 2.0
    assert value("2", u.STIFFNESS, ["mm", "N/mm"]) == 2000.0


@pytest.mark.parametrize(
    "dimension", [u.INERTIA, u.STIFFNESS, u.TORQUE, u.FORCE, u.ACCELERATION, u.DAMPING, u.PRESSURE, u.DENSITY, u.SPEED]
)
def test_a_bare_derived_quantity_in_a_mm_file_shows_its_readings(dimension):
    with refused(ModelError, name="it"):
        value("0.04", dimension, ["mm", "kg"])


def test_the_readings_of_an_inertia():
    with refused(ModelError, name="it"):
        value("0.04", u.INERTIA, ["mm", "kg"])


def test_degrees_are_strict():
    with pytest.raises(ModelError, match="30 deg or 30 rad"):
        value("sin(30)", u.NONE, ["deg"])
    assert value("sin(30 deg)", u.NONE, ["deg"]) == pytest.approx(0.5, rel=1e-15)
    assert value("atan2(1, 1)", u.ANGLE, ["deg"]) == math.pi / 4
    with refused(ModelError, name="it"):
        value("3", u.ANGULAR_SPEED, ["deg"])
    assert value("3", u.ANGULAR_SPEED, []) == 3.0


@pytest.mark.parametrize("text", ["3 m + 2", "2 - 3 kg", "1 m + 1 s", "max(1 m, 2)", "2^(1 m)", "sin(1 m)", "exp(1 s)"])
def test_dimensions_must_agree(text):
    with pytest.raises(UsageError):
        quantity(text, u.LENGTH)


def test_a_wrong_dimension_shows_both():
    with refused(UsageError, name="3 mm"):
        quantity("3 mm", u.TORQUE)


@pytest.mark.parametrize("text", ["5 rpms", "5 kgg", "3 m^x", "3 m^2.5", "4 m//s"])
def test_unknown_units_are_refused(text):
    with pytest.raises(UsageError):
        quantity(text, u.LENGTH)


def test_units_alone():
    assert parse_unit("kg m^2") == (1.0, u.INERTIA)
    assert parse_unit("N m/rad")[1] == u.TORSIONAL_STIFFNESS
    assert parse_unit("1/s") == (1.0, u.FREQUENCY)
    assert convert(2 * math.pi, "rpm") == pytest.approx(60.0, rel=1e-15)
    for bad in ("", "/s", "m/", "3 m", "m^", "m^99", "furlong", "m$"):
        with pytest.raises(UsageError):
            parse_unit(bad)


def test_display_follows_the_file():
    file = ["mm", "kg", "deg", "rpm"]
    assert display_unit(file, u.LENGTH) == ("mm", 1000.0)
    assert display_unit(file, u.SPEED) == ("mm/s", 1000.0)
    assert display_unit(file, u.FORCE) == ("N", 1.0) and display_unit(file, u.TORQUE) == ("N m", 1.0)
    assert display_unit(file, u.ACCELERATION) == ("m/s^2", 1.0)
    symbol, factor = display_unit(file, u.ANGULAR_SPEED)
    assert symbol == "rpm" and 2 * math.pi * factor == pytest.approx(60.0, rel=1e-15)
    assert display_unit([], u.ANGLE) == ("rad", 1.0)
    symbol, factor = display_unit(["deg"], u.ANGLE)
    assert symbol == "deg" and math.pi * factor == pytest.approx(180.0, rel=1e-15)


def test_a_parameter_may_be_bare_or_carry_a_unit():
    base = {"plane": "xy", "units": ["mm", "kg"], "bodies": {"ground": {"points": {"A": ["L1", 0], "B": ["2*L1", "L2"]}}}}
    bare = read({**base, "parameters": {"L1": 300, "L2": "5 cm"}}).numbers()
    assert bare.point(("ground", "A")).at == (0.3, 0.0, 0.0)
    assert bare.point(("ground", "B")).at == (0.6, 0.05, 0.0)


BOTH = [  # text, place, both readings: neither is certain
    ("3 1/s", u.ANGULAR_SPEED, r"3 rad/s or 3 rev/s \(18\.8496 rad/s\)"),
    ("3 1/s^2", u.ANGULAR_ACCELERATION, r"3 rad/s\^2 or 3 rev/s\^2 \(18\.8496 rad/s\^2\)"),
    ("2*pi*50 Hz", u.ANGULAR_SPEED, r"\(2\*pi\*50 Hz\)\*1 rad or \(2\*pi\*50 Hz\)\*1 rev"),
    ("3000/(1 min)", u.ANGULAR_SPEED, r".*\*1 rad or .*\*1 rev"),
    ("1/(0.5 s)", u.ANGULAR_SPEED, r".*\*1 rad or .*\*1 rev"),
    ("(1 mm)*(3 Hz)/(2 mm)", u.ANGULAR_SPEED, r".*\*1 rad or .*\*1 rev"),
    ("5 mm", u.LEAD, r"5 mm/rad or 5 mm/rev \(0\.795775 mm/rad\)"),
    ("10 mm/2", u.LEAD, r"\(10 mm/2\)/\(1 rad\) or \(10 mm/2\)/\(1 rev\)"),
    ("2 N m", u.TORSIONAL_STIFFNESS, r"2 N m/rad or 2 N m/deg \(114\.592 N m/rad\)"),
    ("200 1/m", u.multiply(u.ANGLE, u.LENGTH, -1), r"200 rad/m or 200 rev/m"),
    ("1/(5 mm)", u.multiply(u.ANGLE, u.LENGTH, -1), r".*\*1 rad or .*\*1 rev"),
]


@pytest.mark.parametrize(("text", "dimension", "both"), BOTH)
def test_a_unit_without_its_angle_shows_both_readings(text, dimension, both):
    with pytest.raises(UsageError, match=f"could mean {both}.*Write one of them"):
        quantity(text, dimension)
    with pytest.raises(ModelError, match="could mean"):
        value(text, dimension, ["mm", "kg", "deg", "rpm"])


@pytest.mark.parametrize(
    ("text", "dimension", "said"),
    [
        ("5 J", u.TORQUE, "is an energy"),
        ("3 N m/deg", u.TORQUE, "torsional stiffness"),
        ("5 N/deg", u.FORCE, "must be force"),
        ("10 mm/rev", u.LENGTH, "travel per angle"),
        ("5 deg", u.NONE, "must be a pure number"),
        ("5 %", u.ANGLE, "is a share"),
        ("5 %", u.LENGTH, "must be length"),
        ("2 deg/s", u.SPEED, "must be speed"),
        ("1 rad", u.LENGTH, "must be length"),
        ("3 rpm + 1 Hz", u.ANGULAR_SPEED, "cannot be added up"),
    ],
)
def test_a_unit_of_another_quantity_is_refused(text, dimension, said):
    with pytest.raises(UsageError, match=said):
        quantity(text, dimension)


def test_a_count_as_a_parameter_of_a_speed():
    """A parameter in 1/min is in doubt; one in rpm says what 1/min means in a call."""
    links = {"ground": {"pins": ["A"]}, "crank": {"pins": ["A"], "points": ["B"]}}
    base = {"plane": "xy", "units": ["mm", "kg"], "drawing": {"A": [0, 0], "B": [10, 0]}, "bodies": links}
    with refused(ModelError, name="n"):
        read({**base, "parameters": {"n": "60 1/min"}, "drive": {"A": "n"}})
    file = {**base, "parameters": {"n": "30 rpm"}, "drive": {"A": "n"}}
    assert read(file, n="60 1/min").numbers().drives[0].value == pytest.approx(2 * math.pi, rel=1e-15)
    named = {**base, "parameters": {"v": "20 mm/s", "w": "v/(10 mm)"}, "drive": {"A": "w"}}
    assert read(named).numbers().drives[0].value == 2.0  # v/r comes out in radians


def test_frequencies_are_no_units_of_a_file():
    with refused(UsageError, name="1/min"):
        u.UnitSystem(["mm", "1/min"])

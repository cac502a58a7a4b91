"""Values that people and programs do not expect: numbers, units, names, expressions, texts."""

from __future__ import annotations

import random

NUMBERS = (
    "0", "-0.0", "1", "-1", "2", "0.5", "1e-9", "1e-300", "5e-324", "-1e-30", "1e9", "1e30", "-1e154", "1e300", "1.8e308", "1e400", "-1e400",
    "9" * 60, "9" * 400, "0." + "3" * 300, "nan", ".nan", "NaN", "inf", ".inf", "-.inf", "1_000", "0x1F", "0o17", "1:30", "1,5", "+3", "٣",
    "1e", "--1", "1e+-3", "0.1.2", "3.14159265358979", "360", "-360", "100000", "1000001", "2147483648", "18446744073709551616",
)  # fmt: skip
UNITS = (
    "mm", "m", "km", "um", "in", "kg", "g", "t", "deg", "rad", "rpm", "N", "kN", "N m", "N/mm", "N s/m", "kg m^2", "s", "ms", "Hz", "m/s^2",
    "deg/s", "furlong", "mm mm", "mm^2", "mm^-1", "mm^99999", "1/mm", "N/0", "%", "kg m^2 / s / s", "N/m/m/m/m", "°", "µm", "MPa", "V", "K",
)  # fmt: skip
EXPRESSIONS = (
    "1/0", "0/0", "sqrt(-1)", "(-1)^0.5", "10^10^10", "exp(1e9)", "log(0)", "1e308*10", "2^-99999", "0^-1", "tan(pi/2) * 1 m", "asin(2)",
    "sin(t)", "t", "t^0.5", "1/t", "sqrt(t)", "exp(100*t)", "abs(t - 0.05)", "atan2(0, 0)", "min(1, 2)", "max()", "sin()", "sin(1, 2)", "pi(3)",
    "A", "B", "L1", "A.x", "A.v", "C.y", "P.x", "crank.length", "crank.mass", "2 * L1", "L1 + 1 kg", "L1 / 0", "undefined", "sin", "a b c",
    "(" * 300 + "1" + ")" * 300, "1" + "+1" * 3000, "-" * 500 + "1", "2^" * 200 + "1", "__import__('os')", "lambda: 0", "().__class__", "1 if 1 else 0",
    "1;2", "3 mm + 2 deg", "3 mm * 2 mm", "5 * x", "300 mm - 300 mm", "1e3 m - 1 m", "hypot(3, 4)", "[1, 2][0]", "'a'", "f(", "1 +", "* 2", "²", "√2",
)  # fmt: skip
NAMES = (
    "ground", "A", "B", "C", "D", "P", "crank", "rocker", "coupler", "missing", "A:crank", "t", "pi", "x", "y", "angle", "length", "start.A",
    "A.", ".A", "..", "a.b.c.d", "", " ", "x y", "naïve", "é" * 70, "日本", "🜁", "\u202etxet", "a\u0301", "a\tb", "a\nb", "a\x1b[31mb", "<b>", "\"'", "`",
    "__class__", "constructor", "__proto__", "null", "true", "yes", "~", "-", "?", "#", "*", "&", "%s", "{0}", "${x}", "../../x", "C:\\x", "n" * 3000, "0",
)  # fmt: skip
FILES = ("missing.csv", "missing.stl", "../x.csv", "x.csv\0", ".", "/dev/zero", "/dev/null", "/etc/passwd", "http://127.0.0.1:9/x.stl", "a" * 300 + ".csv", "x.obj")
WORDS = ("true", "false", "null", "~", "yes", "no", "on", "2001-01-01", "xy", "xz", "yz", "free", "fixed", "linear", "cubic", "periodic", "steel")


def scalar(rng: random.Random) -> str:
    """A text where a value is expected."""
    kind = rng.randrange(12)
    if kind < 4:
        return rng.choice(NUMBERS)
    if kind < 6:
        return f"{number(rng)} {rng.choice(UNITS)}"
    if kind < 8:
        return rng.choice(EXPRESSIONS)
    if kind < 10:
        return rng.choice(NAMES)
    return rng.choice(WORDS if kind == 10 else FILES)


def number(rng: random.Random) -> str:
    """A plausible number, or an odd one."""
    if rng.random() < 0.3:
        return rng.choice(NUMBERS)
    return f"{rng.choice((-1, 1, 1, 1)) * 10 ** rng.uniform(-6, 6):.{rng.randint(1, 12)}g}"


def near(rng: random.Random, value: float) -> str:
    """A number that has to do with another one: its negative, a multiple, nearly the same."""
    factor = rng.choice((-1.0, 0.0, 2.0, 0.5, 10.0, 0.1, 1000.0, 0.001, 1.0 + 1e-9, 1.0 - 1e-6, rng.uniform(0.8, 1.2), 1e12, 1e-12))
    return repr(value * factor) if rng.random() < 0.8 else repr(value + rng.choice((1e-12, 1.0, -1.0, 90.0, 180.0)))

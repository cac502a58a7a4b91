"""Printed forms of expressions: whole where they are short, an outline where parts that are shared would be repeated without end."""

import linkwright as lw
from linkwright.text.expressions import LONGEST, brief, variable


def doubled(times):
    x = variable("p")
    for _ in range(times):
        x = x * x + x
    return x


def test_short_ones_are_printed_whole():
    x = doubled(3)
    assert repr(x) == f"Expr({str(x)!r})" and len(str(x)) < LONGEST


def test_doubled_lines_are_printed_as_an_outline():
    """Sixty lines that each use the one before twice: written out, 3^60 terms."""
    x = doubled(60)
    assert len(repr(x)) < 2000 and "..." in repr(x) and repr(x).startswith("Expr('(")
    try:
        float(x)
    except lw.ModelError as error:
        assert len(str(error)) < 3000 and "until p is given" in str(error)


def test_a_model_of_doubled_lines_can_be_printed():
    lines = {"b0": "p*2"} | {f"b{i}": f"sin(b{i - 1})+cos(b{i - 1})*b{i - 1}/2" for i in range(1, 60)}
    m = lw.load(
        {
            "name": "x", "plane": "xy", "parameters": {"p": 0.5}, "let": lines, "drawing": {"A": [0, 0], "B": ["b59", 0]},
            "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1.0, "com": "B", "inertia": 0.1}},
        }
    )  # fmt: skip
    assert len(repr(m.description)) < 1e5


def test_a_long_sum_is_as_long_as_it_is():
    x = variable("p")
    for k in range(300):
        x = x + float(k)
    assert brief(x) == str(x)

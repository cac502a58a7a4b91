"""The table of tolerances: its order, how values follow from each other, and that no module defines one of its names again."""

from __future__ import annotations

import ast
import math
import re
import sys

from linkwright.numerics import tolerances
from tests import ROOT
from tests.sources import python_files

NAMES = {name: value for name, value in vars(tolerances).items() if name.isupper()}
FEELINGS = {"SURE", "ENOUGH", "FEW", "WORTH", "CLOSE", "NEAR", "TINY"}  # names of constants that do not say what they bound


def test_gaps_are_in_order() -> None:
    gaps = ("CLOSED_FLOOR", "CLOSED_WALK", "CLOSED", "CLOSED_RUN", "CLOSED_START", "CLOSED_AT_BEST", "CLOSED_GIVEN", "OPEN_STEP", "OPEN")
    assert [NAMES[x] for x in gaps] == sorted({NAMES[x] for x in gaps}) and NAMES["CLOSED_FLOOR"] > tolerances.EPSILON


def test_shares_are_in_order() -> None:
    shares = ("EPSILON", "ZERO_SHARE", "ROUND_OFF", "DEPENDENT", "RANK")
    assert [NAMES[x] for x in shares] == sorted({NAMES[x] for x in shares}) and tolerances.RANK == tolerances.NEGLIGIBLE
    assert tolerances.SAME_TIME < tolerances.SAME_NUMBER == tolerances.SAME_PLACE < tolerances.SAME_POSITION


def test_values_follow_from_each_other() -> None:
    """Factors of the comments; the square root of CLOSED is 3e-7, what a position next to a singular one is known to."""
    assert sys.float_info.epsilon == tolerances.EPSILON
    assert 4.0 < tolerances.CLOSED_FLOOR / tolerances.EPSILON < 5.0 and 400.0 < tolerances.CLOSED / tolerances.EPSILON < 500.0
    assert math.sqrt(tolerances.CLOSED) / 4.0 < tolerances.LOOP_CHANGE < math.sqrt(tolerances.CLOSED) < tolerances.SAME_POSITION
    assert tolerances.COMPLEX_STEP**2 < tolerances.EPSILON * 1e-40 and sys.float_info.min < tolerances.SQUARE_FLOOR


def test_no_module_defines_one_of_them_again() -> None:
    again, felt = [], []
    set_somewhere = re.compile(rf"\b({'|'.join({*NAMES, *FEELINGS})})\s*=")  # parsing every file takes seconds
    read = ((path, path.read_text(encoding="utf-8")) for path in python_files("src"))
    for path, text in ((path, text) for path, text in read if set_somewhere.search(text)):
        for statement in ast.parse(text).body:
            if (
                isinstance(statement, ast.Assign)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, float | int)
            ):
                names = {x.id for x in statement.targets if isinstance(x, ast.Name)}
                again += [f"{path.relative_to(ROOT)}: {x}" for x in names & set(NAMES) if path.name != "tolerances.py"]
                felt += [f"{path.relative_to(ROOT)}: {x}" for x in names & FEELINGS]
    assert NAMES and again == [] and felt == []

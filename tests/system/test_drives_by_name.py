"""One drive by its name as text: the same as a list with it, and a name that does not exist is named whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests import exports
from tests.refusals import refused

CALLS: dict[str, Callable[[lw.System, Any], Any]] = {
    "inverse": lambda s, drives: [*s.inverse(s.start, drives=drives).tau.values()],
    "kernel": lambda s, drives: s.kernel("kinematics", drives=drives)(s.start.q, s.start.v, [s.start["B"] + 0.1], [0.0], [0.0]).q,
    "assemble_batch": lambda s, drives: s.assemble_batch({"B": [s.start["B"] + 0.1]}, drives=drives).q,
    "c": lambda s, drives: [*exports.c(s, ["kinematics"], drives=drives, parameters="L1").values()],
    "controllable": lambda s, drives: s.controllable(s.start, drives).singular_values,
}


@pytest.fixture(scope="module")
def four_bar() -> lw.System:
    return lw.compile("four-bar")


@pytest.mark.parametrize("call", CALLS)
def test_a_text_is_one_name(four_bar: lw.System, call: str) -> None:
    one, many = (CALLS[call](four_bar, drives) for drives in ("B", ["B"]))
    assert one == many if call == "c" else np.allclose(one, many, rtol=1e-9, atol=1e-12)  # on floats or by code, as the time allows
    with refused(lw.LinkwrightError, name="BC", allowed=("A", "B", "C", "D")):
        CALLS[call](four_bar, "BC")

"""A name that does not exist is refused with data for a program: the name itself and the names that are allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

import linkwright as lw
from linkwright import joints
from linkwright.integrators import INTEGRATORS
from linkwright.mechanics.formulations import FORMULATIONS
from linkwright.mechanics.inverse import METHODS
from linkwright.model import library
from linkwright.model.curves import laws
from linkwright.simulation import stabilizers
from linkwright.text.units import UNITS

FOUR_BAR = lw.load("four-bar").system
START = FOUR_BAR.start
CASES: dict[str, tuple[Callable[[], Any], str, Iterable[str]]] = {
    "model": (lambda: lw.load("wipr"), "wipr", library.names()),
    "model of the library": (lambda: library.path("wipr"), "wipr", library.names()),
    "joint type": (lambda: joints.create("revolut"), "revolut", joints.JOINTS),
    "law of a motion": (lambda: laws.law_factors("modified_sin"), "modified_sin", laws.LAWS),
    "unit": (lambda: lw.Range(1, 2, "mmm"), "mmm", UNITS),
    "integrator": (lambda: FOUR_BAR.simulate(START, 0.1, integrator="rk5"), "rk5", INTEGRATORS),
    "formulation": (lambda: FOUR_BAR.forward(START, formulation="slmm"), "slmm", ["auto", *FORMULATIONS]),
    "stabilizer": (lambda: FOUR_BAR.simulate(START, 0.1, stabilizer="projekt"), "projekt", stabilizers.STABILIZERS),
    "method of inverse dynamics": (lambda: FOUR_BAR.inverse(START, method="sub"), "sub", METHODS),
    "joint of a stiffness": (lambda: FOUR_BAR.inverse(START, stiffness={"Q": 1.0}), "Q", "ABCD"),
    "row of a joint": (lambda: FOUR_BAR.inverse(START, release={"C": ["foo"]}), "foo", ["tx", "ty"]),
    "kernel": (lambda: FOUR_BAR.kernel("foward"), "foward", ["forward", "energy"]),
}


@pytest.mark.parametrize("kind", CASES)
def test_an_unknown_name_is_given_as_data(kind: str) -> None:
    call, name, allowed = CASES[kind]
    with pytest.raises(lw.LinkwrightError) as found:
        call()
    assert found.value.name == name and found.value.name not in found.value.allowed
    assert set(allowed) <= set(found.value.allowed)

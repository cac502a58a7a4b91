"""Integrators, formulations, stabilizers and controllers as objects: what a name gives, a method of one's own, wrong types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.integrators import INTEGRATORS, Method
from linkwright.integrators.problem import table
from linkwright.mechanics.formulations import FORMULATIONS, Projection, Sslm, compiled
from linkwright.mechanics.inverse import METHODS
from linkwright.simulation.run_batch import run_batch
from linkwright.simulation.stabilizers import STABILIZERS
from tests.refusals import refused
from tests.sweeps import sweep

HEUN = Method("heun", "Heun's method", table([{0: 1.0}], [0.0, 1.0], {0: 0.5, 1: 0.5}), order=2, dense_order=3)


@pytest.fixture(scope="module")
def swinging() -> tuple[Any, Any]:
    s = lw.load("wiper").system
    return s, s.assemble({"A": 0.4}, v={"A": 5.0})


@pytest.mark.parametrize("name", INTEGRATORS)
def test_an_integrator_object_is_the_named_one(swinging: tuple[Any, Any], name: str) -> None:
    s, st = swinging
    runs = [s.simulate(st, 0.02, integrator=x, step=1e-3, tolerance=1e-8) for x in (name, INTEGRATORS[name])]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()
    assert runs[0].settings == runs[1].settings


def test_a_method_of_ones_own_converges_with_its_order(swinging: tuple[Any, Any]) -> None:
    s, st = swinging
    true = s.simulate(st, 0.05, tolerance=1e-12).q[-1]
    runs = [s.simulate(st, 0.05, integrator=HEUN, step=h) for h in (1e-3, 5e-4)]
    errors = [np.abs(r.q[-1] - true).max() for r in runs]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)  # order 2; the next term is a share of h
    assert "heun" in str(runs[0].checks())
    batch = run_batch(compiled_of(s), [st, st], 0.05, integrator=HEUN, step=1e-3)
    assert batch["state q"][1].tobytes() == runs[0].q.tobytes()


@sweep("name", FORMULATIONS, later=["slm", "nullspace"])
def test_a_formulation_object_is_the_named_one(swinging: tuple[Any, Any], name: str) -> None:
    s, st = swinging
    runs = [s.simulate(st, 0.02, formulation=x) for x in (name, FORMULATIONS[name]())]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()
    assert runs[0].certificate.formulation == name == runs[1].certificate.formulation
    if name in compiled():
        assert s.kernel("forward", FORMULATIONS[name]()) is s.kernel("forward", name)
    else:
        with refused(UsageError, name="projection"):
            s.kernel("forward", FORMULATIONS[name]())


def test_a_formulation_with_options_integrates_too(swinging: tuple[Any, Any]) -> None:
    s, st = swinging
    run = s.simulate(st, 0.02, formulation=Projection("skew"))
    assert run.q == pytest.approx(s.simulate(st, 0.02).q, abs=1e-9)  # the tolerance of either run
    assert "skew" in run.certificate.formulation


@pytest.mark.parametrize("name", STABILIZERS)
def test_a_stabilizer_object_is_the_named_one(swinging: tuple[Any, Any], name: str) -> None:
    s, st = swinging
    runs = [s.simulate(st, 0.02, stabilizer=x) for x in (name, STABILIZERS[name]())]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()


@pytest.mark.parametrize(
    ("option", "value", "name"),
    [
        ("integrator", 5, "integrator"),
        ("integrator", np.zeros(3), "integrator"),
        ("integrator", ["rk4"], "integrator"),
        ("integrator", "rk5", "rk5"),
        ("formulation", 3, "formulation"),
        ("formulation", Sslm, "formulation"),
        ("formulation", np.zeros(3), "formulation"),
        ("formulation", "slmm", "slmm"),
        ("stabilizer", 3, "stabilizer"),
        ("stabilizer", np.zeros(2), "stabilizer"),
        ("control", "pd", "control"),
        ("control", 3, "control"),
    ],
)
def test_wrong_types_are_named(swinging: tuple[Any, Any], option: str, value: Any, name: str) -> None:
    s, st = swinging
    with refused(lw.UsageError, name=name):
        s.simulate(st, 0.02, **{option: value})


@pytest.mark.parametrize("name", METHODS)
def test_an_inverse_method_object_is_the_named_one(swinging: tuple[Any, Any], name: str) -> None:
    s, st = swinging
    one, two = (s.inverse(st, drives=["A"], wrench={}, method=x) for x in (name, METHODS[name]))  # wrenches: both on floats, no kernel
    assert one.u.tobytes() == two.u.tobytes() and one.method == name == two.method

    def mine(problem: Any) -> Any:
        return METHODS["system"](problem)

    assert s.inverse(st, drives=["A"], method=mine).u == pytest.approx(one.u)
    for wrong in (5, None, np.zeros(2), type):
        with refused(lw.UsageError, name="method"):
            s.inverse(st, drives=["A"], method=wrong)


def test_objects_in_the_calls_of_a_mechanism() -> None:
    """What `System.simulate` takes, `Mechanism.simulate`, `lw.compile`, `forward` and kernels take as well."""
    m = lw.load("wiper")
    options = {"integrator": HEUN, "step": 1e-3, "formulation": Sslm(), "stabilizer": STABILIZERS["project"]()}
    run = m.simulate(0.02, **options)
    assert "heun" in str(run.checks())
    control = lw.control.pd({"A": 0.5}, P=20.0, D=2.0)
    assert m.simulate(0.02, control=control, **options).q.shape == run.q.shape
    s = lw.compile("wiper", formulation=Projection("skew"))
    st = s.assemble({"A": 0.4}, v={"A": 5.0})
    assert s.forward(st).a == pytest.approx(s.forward(st, formulation=Sslm()).a)
    assert s.forward(st, formulation="kkt").a == pytest.approx(s.forward(st, formulation=FORMULATIONS["kkt"]()).a)


def test_wrong_formulations_of_other_calls(swinging: tuple[Any, Any]) -> None:
    s, st = swinging
    for call in (lambda: s.forward(st, formulation=4), lambda: lw.compile("wiper", formulation=4), lambda: s.kernel("forward", 4)):
        with refused(lw.UsageError, value=4):
            call()

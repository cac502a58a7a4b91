"""Traced equations of FMUs on numbers, without a compiler: the accelerations and loads of the system, also with other parameters."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import linkwright as lw
from linkwright.compiler.program import interpret
from linkwright.rings.exchange.writing.fmu.inputs import read_inputs
from tests.rings.exchange.writing import states
from tests.sweeps import sweep

equations = importlib.import_module("linkwright.rings.exchange.writing.fmu.equations").equations
CASES = {"stewart": {"h": 0.72, "rp": 0.41}, "delta": {}, "excavator": {}, "carpet-scraper": {"g": 5.0}}


def row(eq, st, parameters):
    """The row that all programs read, at a state."""
    constants = interpret(eq.tapes["constants"], np.array([parameters.get(p.name, p.start) for p in eq.parameters]))
    return np.concatenate([st.q, st.v, [0.0], [u.start for u in eq.plan.inputs], st.skel.pack(st.references), constants])


@sweep("name", CASES, now=["carpet-scraper"])
def test_accelerations_and_loads_are_those_of_the_system(name, rng):
    """Free motion at random states on the loops; every named number is a symbol, and what cancels for all of them was removed."""
    m = lw.load(name)
    loads = [f"{j.name}.load" for j in m.description.joints][:3]
    eq = equations(m.system, read_inputs(m.system, {}, [], None), None, [*loads, "energy.total"])
    changed = lw.compile(m.with_(**CASES[name]), cuts=m.system.tree.cuts)
    for s, parameters in ((m.system, {}), *([(changed, CASES[name])] if CASES[name] else [])):
        st = states.on_loops(s, rng, 0.05)
        x = row(eq, st, parameters)
        y = eq.programs["rates"].unpack(interpret(eq.programs["rates"], np.concatenate([x, np.zeros(eq.sizes["nswitches"])])))
        right = s.forward(st)
        assert np.abs(y["a"] - right.a).max() < 1e-9 * np.abs(right.a).max()
        run = s.simulate(st, 0.0, drive={}, sample_interval=[0.0])
        found = interpret(eq.programs["outputs"], np.concatenate([x, y["a"], y["lam"]]))
        for value, output in zip(found, eq.outputs, strict=True):
            assert abs(value - run[output.name][0]) < 1e-8 * max(1.0, abs(value)), output.name


def test_parameters_of_a_stewart_platform():
    """Constants that depend on parameters alone are computed beforehand: with a hundred of them there are about as many operations as
    with none. Zeros of a large model are parameters only where they are asked for."""
    s = lw.load("stewart").system
    plan = read_inputs(s, {}, [], None)
    many, none, some = (equations(s, plan, names, ["leg1"]) for names in (None, [], ["rod1.*"]))
    assert len(many.parameters) > 100 and not none.parameters
    assert many.programs["rates"].operations < 1.1 * none.programs["rates"].operations
    default, asked = ({p.name for p in x.parameters} for x in (many, some))
    assert {"h", "wp", "rod1.mass"} <= default and asked - default and all(n.startswith("rod1.") for n in asked)


WHEELS = {
    "plane": "xy", "units": ["mm", "kg", "deg", "rpm"],
    "drawing": {"A": [0, 0], "B": [100, 0]},
    "bodies": {
        "ground": {"pins": ["A", "B"]},
        "small": {"pins": ["A"], "mass": 1, "com": "A", "inertia": "0.002 kg m^2"},
        "large": {"pins": ["B"], "mass": 1, "com": "B", "inertia": "0.005 kg m^2"},
    },
}  # fmt: skip


@pytest.mark.parametrize("wheels", [{"radii": [30, 70]}, {"radii": [40, 140], "internal": True}, {"radii": [140, 40], "internal": True}])
def test_wheels_with_numbers_that_change(wheels):
    """A gear pair under a torque, all numbers symbols: torque / (J1 + ratio^2 J2), also with other inertias and both pins elsewhere."""
    m = lw.load({**WHEELS, "gears": {"mesh": {"joints": ["A", "B"], **wheels}}})
    s = m.system
    eq = equations(s, read_inputs(s, {"A": lw.drives.torque("3 N m")}, None, None), None, None)
    rates = eq.programs["rates"]
    ratio = wheels["radii"][0] / wheels["radii"][1] * (1 if "internal" in wheels else -1)  # speed of the second over the first
    for J1, J2, moved in ((0.002, 0.005, {}), (0.003, 0.001, {"A.x": 0.02, "B.x": 0.12})):
        at = row(eq, s.start, {"small.inertia": J1, "large.inertia": J2, **moved})
        y = rates.unpack(interpret(rates, np.concatenate([at, np.zeros(eq.sizes["nswitches"])])))
        first = 3.0 / (J1 + ratio**2 * J2)
        assert np.allclose(y["a"], [first, ratio * first], rtol=1e-12)  # round-off
        assert abs(abs(y["lam"][0]) - abs(J2 * ratio * first / (1e-3 * wheels["radii"][1]))) < 1e-9 * abs(y["lam"][0])

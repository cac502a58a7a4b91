"""A controller's model without named loads, or with other numbers: against closed forms of what the difference does."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from tests.refusals import refused

SLIDER = {
    "plane": "xy",
    "gravity": [0, "-9.81 m/s^2"],
    "parameters": {"mt": "2 kg"},
    "drawing": {"O": [0, 0], "W": [1, 0]},
    "bodies": {
        "ground": {"points": ["O", "W"]},
        "table": {"points": ["O"], "mass": "mt", "com": "O"},
        "payload": {"points": ["O"], "mass": "1 kg", "com": "O"},
    },
    "joints": {
        "X": {"type": "prismatic", "between": ["ground", "table"], "at": "O", "axis": [1, 0]},
        "F": {"type": "fixed", "between": ["table", "payload"], "at": "O"},
    },
    "springs": {"wall": {"between": ["ground.W", "table.O"], "stiffness": "300 N/m", "free_length": "1 m"}},
    "dampers": {"oil": {"joint": "X", "coefficient": "12 N s/m"}},
    "friction": {"X": {"viscous": "3 N s/m"}},
    "loads": {"wind": {"on": "table.O", "force": ["6 N", 0]}},
    "drive": {"X": {"force": 0}},
}
P, D = 100.0, 15.0
TO = {"X": "50 mm"}


@pytest.fixture(scope="module")
def slide():
    return lw.load(SLIDER)


def second_order(t, a, b, c, x0=0.0):
    """x'' + a x' + b x = c from x0 at rest."""
    end = c / b
    r = np.roots([1.0, a, b]).astype(complex)
    A = np.linalg.solve([[1, 1], r], [x0 - end, 0.0])
    return end + np.real(A[0] * np.exp(r[0] * t) + A[1] * np.exp(r[1] * t))


def moved(m, **how):
    run = m.simulate(0.6, control=lw.control.computed_torque(TO, P=P, D=D, **how), sample_interval=0.05, tolerance=1e-11)
    return run.t, run["X"]


@pytest.mark.parametrize(
    ("off", "a", "b", "c"),
    [
        ([], D, P, P * 0.05),
        (["wall"], D, P + 300 / 3, P * 0.05),
        (["oil"], D + 12 / 3, P, P * 0.05),
        ("wind", D, P, P * 0.05 + 6 / 3),
        (["friction.X"], D + 3 / 3, P, P * 0.05),
        (["X"], D + 3 / 3, P, P * 0.05),
        (["wall", "oil", "wind"], D + 12 / 3, P + 300 / 3, P * 0.05 + 6 / 3),
        (["gravity"], D, P, P * 0.05),
    ],
)
def test_loads_left_out_act_as_disturbances_of_the_closed_form(slide, off, a, b, c):
    """x'' = P e + D e' and what is not known over the mass of 3 kg. Runs at 1e-11 agree to 1e-9 m."""
    t, x = moved(slide, off=off)
    assert np.abs(x - second_order(t, a, b, c)).max() < 1e-9


def test_a_payload_that_is_not_known(slide):
    """Efforts are those of 2 kg, and 3 kg move: (m + p) x'' = m (P e + D e') for loads that are known."""
    t, x = moved(slide, off=["payload"])
    k = 2.0 / 3.0
    assert np.abs(x - second_order(t, D * k, P * k, P * 0.05 * k)).max() < 1e-9


def test_other_numbers_of_the_model_as_a_dict_are_those_of_with(slide):
    a = moved(slide, model={"mt": "1 kg"})[1]
    assert np.abs(a - moved(slide, model=slide.with_(mt="1 kg"))[1]).max() == 0.0
    t, x = moved(slide, model={"mt": "1 kg"}, off=["oil"])
    k = 2.0 / 3.0
    assert np.abs(x - second_order(t, D * k + 4.0, P * k, P * 0.05 * k)).max() < 1e-9


def test_pd_with_gravity_does_not_hold_a_load_it_does_not_know(slide):
    run = slide.simulate(0.01, control=lw.control.pd({"X": "10 mm"}, P=1000, gravity=True, off=["wind"]), sample_interval=0.01)
    assert run["X.force"][0] == pytest.approx(10.0)
    run = slide.simulate(0.01, control=lw.control.pd({"X": "10 mm"}, P=1000, gravity=True), sample_interval=0.01)
    assert run["X.force"][0] == pytest.approx(10.0 - 6.0)


def test_free_parameters_of_a_run_are_known_to_a_controller_without_a_load():
    s = lw.compile(lw.load(SLIDER), parameters=["mt", "wall.stiffness"])
    law = lw.control.computed_torque(TO, P=P, D=D, off=["oil"])
    run = s.simulate(s.start, 0.6, control=law, parameters={"mt": 5.0}, sample_interval=0.05, tolerance=1e-11)
    assert np.abs(run["X"] - second_order(run.t, D + 12 / 6, P, P * 0.05)).max() < 1e-9
    law = lw.control.computed_torque(TO, P=P, D=D, off=["wall"])
    run = s.simulate(s.start, 0.6, control=law, parameters={"wall.stiffness": 600.0}, sample_interval=0.05, tolerance=1e-11)
    assert np.abs(run["X"] - second_order(run.t, D, P + 600 / 3, P * 0.05)).max() < 1e-9


def test_names_that_nothing_has_are_refused(slide):
    for off, said in ((["wal"], "wall"), (["F"], "spanning tree")):
        with pytest.raises(UsageError, match=said):
            slide.simulate(0.1, control=lw.control.computed_torque(TO, off=off))
    with refused(UsageError, name="computed_torque"):
        slide.simulate(0.1, control=lw.control.computed_torque(TO, off=["table", "payload"]))
    with refused(UsageError, name="parameters", value="5 kg"):
        lw.compile(slide, parameters=["mt"]).simulate(slide.system.start, 0.1, parameters={"mt": "5 kg"})
    with refused(UsageError, name="computed_torque", value=3):
        slide.simulate(0.1, control=lw.control.computed_torque(TO, model=3))

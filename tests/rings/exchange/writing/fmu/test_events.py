"""Break points, singular positions and memory of FMUs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.numerics.scalars import where
from tests.rings.exchange.writing.fmu.units import CS, ME, differences, export, opened, simulated
from tests.simulation.random_passages import case
from tests.sweeps import sweep

MASS, STIFF, GAP, SPEED = 2.0, 450.0, 0.05, 1.0
PERIOD = 4 * GAP / SPEED + 2 * math.pi * math.sqrt(MASS / STIFF)  # through the gap twice, then half a sine at either stop
CART = {
    "name": "cart", "plane": "xy", "drawing": {"C": [0, 0], "D": [1, 0]}, "gravity": [0, 0],
    "bodies": {"ground": {"points": ["D"]}, "cart": {"points": ["C"], "mass": MASS, "inertia": 0.0}},
    "joints": {"X": {"type": "prismatic", "between": ["ground", "cart"], "at": "C", "axis": [1, 0]}},
    "stops": {"X": {"range": [-GAP, GAP], "stiffness": f"{STIFF} N/m"}}, "start": {"X.v": SPEED},
}  # fmt: skip


@pytest.fixture(scope="module")
def cart(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmu")
    return {v: export(lw.load(CART), folder / f"cart{v[0]}.fmu", version=v, outputs=["X", "X.v"]) for v in ("2.0", "3.0")}


@sweep("version", ["3.0", "2.0"], now=1)
def test_stops_have_their_exact_period(version, cart):
    """A cart between two stops: three periods later it is where it was. Kinks that are stepped over would leave 1e-5."""
    end = 3 * PERIOD
    for kind in (CS, ME):
        found = simulated(cart[version], kind, end, output_interval=end / 7)
        assert abs(found["X"][-1]) < 3e-7 and abs(found["X.v"][-1] - SPEED) < 3e-7, kind


def test_dry_friction_that_sticks_comes_to_rest(tmp_path):
    """Friction by a sign: both sides lead to v = 0, no step can leave it. The unit stays there, says so, and takes no forever."""
    slides = {k: v for k, v in CART.items() if k != "stops"}
    stick = lw.drives.torque(lambda t, st: where(st["X.v"] > 0.0, -10.0, 10.0))
    path = export(lw.load(slides), tmp_path / "unit.fmu", drive={"X": stick}, inputs=[], outputs=["X", "X.v"], parameters=[])
    with opened(path) as u:
        u.begin()
        for k in range(30):
            u.step(0.01 * k, 0.01)
        X, speed = u.get("X", "X.v")
        assert pytest.approx(0.5 * MASS * SPEED**2 / 10.0, abs=1e-4) == X and abs(speed) < 5e-3  # v^2 m / 2 F; steps of 0.2 ms
        assert any("crossed again and again" in x for x in u.messages)


def test_a_narrow_field_of_force_is_not_stepped_over(tmp_path):
    """A flyer of 50 m/s enters and leaves 2 mm of force within one step: both corners of the table are found."""
    spike = {"over": "X", "table": [[0.999, 0], [1.0, 2e6], [1.001, 0]], "interpolation": "linear"}
    flies = {k: v for k, v in CART.items() if k != "stops"} | {
        "loads": {"s": {"on": "cart.C", "force": [spike, 0]}},
        "start": {"X.v": 50.0},
    }
    path = export(lw.load(flies), tmp_path / "unit.fmu", outputs=["X.v"], parameters=[])
    with opened(path) as u:
        u.begin()
        for k in range(4):
            u.step(0.01 * k, 0.01)
        assert u.get("X.v")[0] == pytest.approx(math.sqrt(50.0**2 + 2 * 2e6 * 1e-3 / MASS), rel=1e-8)


def test_event_indicators_change_sign_at_the_stop(cart):
    with opened(cart["2.0"], ME) as u:
        u.begin()
        assert u.description.numberOfEventIndicators > 0
        signs = []
        for x in (0.0, 0.9 * GAP, 1.1 * GAP):
            u.set({"X": x})
            signs.append(np.sign(indicators(u)))
        assert np.array_equal(signs[0], signs[1]) and not np.array_equal(signs[1], signs[2])
        u.fmu.enterEventMode()
        u.fmu.newDiscreteStates()
        u.fmu.enterContinuousTimeMode()
        assert np.sign(indicators(u))[np.flatnonzero(signs[1] != signs[2])].tolist() == signs[2][signs[1] != signs[2]].tolist()
        assert u.get("der(X.v)")[0] == pytest.approx(-STIFF * 0.1 * GAP / MASS)  # the stop pushes


def indicators(u) -> np.ndarray:
    import ctypes

    z = np.zeros(u.description.numberOfEventIndicators)
    u.fmu.getEventIndicators(z.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(z))
    return z


def test_the_side_of_a_stop_holds_until_the_event(cart):
    """Between events the equations are one smooth piece: beyond the stop they still have no push."""
    with opened(cart["3.0"], ME) as u:
        u.begin()
        u.set({"X": 1.1 * GAP})
        assert u.get("der(X.v)")[0] == 0.0


@pytest.mark.slow
def test_a_mechanism_passes_a_singular_position(tmp_path):
    """Three parallelograms flat at t = 0.5 s, where a step ends: the motion goes on along its branch, and a warning says so."""
    m = lw.load("parallelogram-chain")
    run = m.simulate(1.0, sample_interval=0.01, tolerance=1e-11)
    path = export(m, tmp_path / "unit.fmu", parameters=[], outputs=["G3", "A2", "A2.v"])
    assert max(differences(run, simulated(path, CS, 1.0)).values()) < 1e-8
    with opened(path) as u:
        u.begin()
        for k in range(60):
            u.step(0.01 * k, 0.01)
        assert any("near a singular position" in x for x in u.messages)


@sweep("number", range(48), now=[20])
def test_units_pass_singular_positions_of_random_mechanisms(number, tmp_path):
    """Against reduced equations that are regular there. Steps are longer than those of exported C, and so is the way to the position in
    which accelerations are taken instead: 47 are within 2e-4, the worst at 7e-4."""
    given = case(number)
    m = lw.load(given.model)
    st = m.system.assemble(v=given.speeds)
    path = export(m, tmp_path / "unit.fmu", start=st, parameters=[], outputs=[given.channel])
    found = simulated(path, CS, given.seconds, output_interval=given.seconds / 20)[given.channel]
    assert abs(found[-1] - found[0] - given.right) < 1e-3


@pytest.mark.slow
def test_a_locked_mechanism_is_discarded(tmp_path):
    """A crank that is driven past what the links reach: the step is refused, nothing changes, and the message says why."""
    m = lw.load("four-bar", L2="0.6 m", L3="0.5 m")
    st = m.system.assemble({"A": 1.0})
    path = export(m, tmp_path / "unit.fmu", start=st, drive={"A": lw.drives.speed("6 rad/s")}, inputs=[], parameters=[], version="2.0")
    with opened(path) as u:
        u.begin()
        with pytest.raises(Exception, match="status 2"):
            for k in range(100):
                before = u.get("A", "D")
                u.step(0.01 * k, 0.01)
        assert np.array_equal(u.get("A", "D"), before)
        assert u.messages[-1].startswith(("the loops do not close", "the step became too short", "no accelerations"))
        assert 0.0 < u.fmu.getRealStatus(2) < 1.0  # the last successful time


@sweep("version", ["3.0", "2.0"], now=1)
def test_states_are_saved_restored_and_serialized(version, tmp_path):
    """A run that is taken back gives the same bits again, also in another instance; a reset one those of a new one."""
    m = lw.load("four-bar")
    path = export(m, tmp_path / "unit.fmu", drive={"A": lw.drives.torque("2 N m")}, version=version, parameters=["crank.mass"])
    names = ["A", "A.v", "D", "C.load"]
    with opened(path) as u, opened(path) as other:
        u.begin({"crank.mass": 0.7})
        u.step(0.0, 0.05)
        get, put, pack, unpack = (
            (u.fmu.getFMUstate, u.fmu.setFMUstate, u.fmu.serializeFMUstate, other.fmu.deSerializeFMUstate)
            if version == "2.0"
            else (u.fmu.getFMUState, u.fmu.setFMUState, u.fmu.serializeFMUState, other.fmu.deserializeFMUState)
        )
        saved = get()
        u.step(0.05, 0.05)
        once = u.get(*names)
        put(saved)
        u.step(0.05, 0.05)
        assert np.array_equal(u.get(*names), once)
        there = unpack(pack(saved))
        (other.fmu.setFMUstate if version == "2.0" else other.fmu.setFMUState)(there)
        other.step(0.05, 0.05)
        assert np.array_equal(other.get(*names), once)
        u.fmu.reset()
        u.begin({"crank.mass": 0.7})
        u.step(0.0, 0.05)
        u.step(0.05, 0.05)
        assert np.array_equal(u.get(*names), once)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_wrong_steps_are_reported(version, cart):
    with opened(cart[version]) as u:
        with pytest.raises(Exception, match="status 3"):
            u.step(0.0, 0.1)
        assert "before the initialization was ended" in u.messages[-1]
        u.begin()
        for length in (-0.1, math.nan, math.inf):
            with pytest.raises(Exception, match="status 3"):
                u.step(0.0, length)
            assert "the length of a step is finite and not negative" in u.messages[-1]


def test_a_foreign_token_is_refused(cart, tmp_path):
    import fmpy
    from fmpy.fmi3 import FMU3Slave

    folder = fmpy.extract(cart["3.0"], unzipdir=str(tmp_path))
    name = Path(next((tmp_path / "binaries").rglob("cart3.*"))).stem
    unit = FMU3Slave(guid="{0}", unzipDirectory=folder, modelIdentifier=name, instanceName="one")
    said = []
    with pytest.raises(Exception, match="instantiate"):
        unit.instantiate(logMessage=lambda env, status, category, text: said.append(text.decode()))
    assert said == ["the instantiation token is not that of this model"]


def test_derivatives_of_event_indicators(cart):
    """A stop at X = GAP: its switching function is the depth, up to its sign; FMI 3.0 lists it among the unknowns."""
    with opened(cart["3.0"], ME) as u:
        u.begin()
        names = u.named(causality="local")
        switches = [n for n in names if n.startswith("switch[")]
        slopes = u.along(switches, ["X"], [1.0])
        assert {-1.0, 1.0} <= set(slopes.tolist())
        values = u.get(*switches)
        u.set({"X": 0.01})
        assert np.allclose(u.get(*switches) - values, 0.01 * slopes, atol=1e-12)
        for k, name in enumerate(switches):
            assert np.allclose(u.against([name], ["X", "X.v"], [1.0]), [slopes[k], u.along([name], ["X.v"], [1.0])[0]])

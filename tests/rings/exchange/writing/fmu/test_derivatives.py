"""Directional and adjoint derivatives of FMUs: against the kernel of exact derivatives, and against differences of the FMU itself."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.rings.exchange.writing.fmu.units import CS, GEARMOTOR, ME, export, opened

STEP = 1e-6  # of central differences: their error is about 1e-9 of the third derivative, and round-off 1e-10


@pytest.fixture(scope="module")
def scraper(tmp_path_factory):
    m = lw.load("carpet-scraper")
    path = export(
        m,
        tmp_path_factory.mktemp("fmu") / "unit.fmu",
        drive={"J1": lw.drives.torque("5 N m")},
        outputs=["*.load", "tool.T.ax", "energy.total"],
    )
    return m, path


@pytest.mark.parametrize("kind", [ME, CS])
def test_accelerations_by_states_and_torque(kind, scraper):
    """The kernel `derivatives` differentiates the equations of motion, the FMU the operations that solve them."""
    m, path = scraper
    s = m.system
    found = s.derivatives(s.start, {"J1": 5.0})
    q, v = list(s.names.q), [f"{n}.v" for n in s.names.v]
    with opened(path, kind) as u:
        u.begin()
        rates = [f"der({n})" for n in v]
        size = np.abs(found.a_q).max()
        assert np.abs(matrix(u, rates, q) - found.a_q).max() < 1e-9 * size
        assert np.abs(matrix(u, rates, v) - found.a_v).max() < 1e-9 * size
        column = matrix(u, rates, ["J1.torque"])[:, 0]
        assert np.abs(column - found.a_tau[:, q.index("J1")]).max() < 1e-9 * size
        assert np.array_equal(matrix(u, [f"der({n})" for n in q], v), np.eye(len(v)))  # dq/dt is v


def matrix(u, unknowns, knowns):
    return np.array([u.along(unknowns, [k], [1.0]) for k in knowns]).T


def test_outputs_and_parameters_against_differences(scraper):
    """Loads, accelerations of a point and energy by states, the input and masses: of the FMU's own values."""
    _, path = scraper
    with opened(path, ME) as u:
        u.begin()
        unknowns = ["J5.load", "J10.load", "tool.T.ax", "energy.total", "der(J1.v)"]
        for known in ("J4", "J4.v", "J1.torque", "tool.mass", "coupler.com.x"):
            here = u.get(known)[0]
            u.set({known: here + STEP})
            after = u.get(*unknowns)
            u.set({known: here - STEP})
            before = u.get(*unknowns)
            u.set({known: here})
            slope = (after - before) / (2 * STEP)
            exact = u.along(unknowns, [known], [1.0])
            assert np.abs(exact - slope).max() < 1e-5 * max(1.0, np.abs(exact).max()), known


def test_adjoint_is_the_transpose(scraper):
    _, path = scraper
    with opened(path, CS) as u:
        u.begin()
        knowns = [*u.states, "J1.torque", "tool.mass", "arm.com.x", "g"]
        unknowns = ["J1", *(f"der({n})" for n in u.states), "J5.load", "energy.total"]
        J = matrix(u, unknowns, knowns)
        rng = np.random.default_rng(3)
        for _ in range(3):
            weights = rng.normal(size=len(unknowns))
            assert np.abs(u.against(unknowns, knowns, weights) - weights @ J).max() < 1e-12 * np.abs(J).max() * len(unknowns)


def test_a_motor_and_quaternions(tmp_path):
    """Currents and voltages; a directional derivative along all states at once is the sum of the columns."""
    m = lw.load("wiper")
    path = export(
        m, tmp_path / "unit.fmu", drive={"A": lw.drives.voltage("6 V", motor=GEARMOTOR)}, parameters=["crank.mass"], outputs=["A.torque"]
    )
    with opened(path, ME) as u:
        u.begin({"A.v": 2.0, "motor.A.current": 3.0})
        rate = "der(motor.A.current)"
        L, R, Ke, N = 1e-3, 0.4, 0.05, 50.0  # L di/dt = u - R i - Ke N v
        assert u.along([rate], ["A.voltage"], [1.0])[0] == pytest.approx(1 / L)
        assert u.along([rate], ["motor.A.current"], [1.0])[0] == pytest.approx(-R / L)
        assert u.along([rate], ["A.v"], [1.0])[0] == pytest.approx(-Ke * N / L)
        seed = np.arange(1.0, len(u.states) + 1)
        rates = [f"der({n})" for n in u.states]
        assert np.allclose(u.along(rates, u.states, seed), matrix(u, rates, u.states) @ seed, rtol=1e-12)


def test_what_has_no_derivative_is_refused(scraper):
    _, path = scraper
    with opened(path, ME) as u:
        u.begin()
        with pytest.raises(Exception, match="status 3"):
            u.along(["der(J1.v)"], ["J5.load"], [1.0])
        assert "derivatives are not taken by this variable" in u.messages[-1]
        with pytest.raises(Exception, match="status 3"):
            u.along(["tool.mass"], ["J1"], [1.0])
        assert "this variable has no derivatives" in u.messages[-1]

"""Friction that is larger at rest than in motion: a limit cycle in closed form, another integrator, holding ranges, impacts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.rings.exchange.writing.losses import LossWarning
from tests.rings.design.test_holding_range import slider_crank
from tests.simulation.contact.test_joint_friction import struck_rod
from tests.simulation.test_friction_runs import G, cart

MASS, STIFFNESS, PULL = 2.0, 100.0, 0.1


def pulled(**law: Any) -> dict[str, Any]:
    """A cart that a motion pulls at a spring."""
    model = cart(friction={"x": law})
    model["bodies"]["puller"] = {"points": ["O"], "mass": 0.1, "inertia": 0.01, "com": "O"}
    model["joints"]["y"] = {"type": "prismatic", "between": ["ground", "puller"], "at": "O", "axis": [1, 0]}
    spring = {"between": ["puller.O", "cart.P"], "stiffness": f"{STIFFNESS} N/m"}
    return model | {"springs": {"s": spring}, "drive": {"y": f"{PULL} m/s"}}


@pytest.mark.parametrize("law", [{"mu": 0.2}, {"coulomb": f"{0.4 * G} N"}])
def test_a_pulled_mass_sticks_and_slips_in_a_limit_cycle(law):
    """It slips at 1.5 F / k and swings about F / k and the pulling speed, until it stands again after 2 (pi - atan(A w / v)) / w with
    A = F / 2 k; then the spring has to be stretched by 2 A once more. Ten events, to 1e-10 s."""
    run = lw.load(pulled(**law, breakaway=1.5)).simulate(6.0, tolerance=1e-12)
    slide, w = 0.2 * MASS * G, np.sqrt(STIFFNESS / MASS)
    A = 0.5 * slide / STIFFNESS
    lasts, t, wanted = 2.0 * (np.pi - np.arctan(A * w / PULL)) / w, 1.5 * slide / STIFFNESS / PULL, []
    while t < 6.0:
        wanted += [t, t + lasts]
        t += lasts + 2.0 * A / PULL
    found = [e.time for e in run.events]
    assert [e.name for e in run.events] == ["x slips", "x sticks"] * (len(found) // 2) + ["x slips"] * (len(found) % 2)
    np.testing.assert_allclose(found, wanted[: len(found)], rtol=0, atol=1e-10)
    assert len(found) > 10 and run.certificate.ok
    slips = run["x.friction.state"] == 1.0
    np.testing.assert_allclose(run["x.friction"][slips], -slide, rtol=1e-12)
    assert np.abs(run["x.friction"]).max() == pytest.approx(1.5 * slide, rel=2e-2)  # at samples
    swept = slide * (run["x"][-1] - run["x"][0])
    assert run["work.lost"][-1] == pytest.approx(swept, rel=1e-9)  # friction at rest does no work


def test_a_gradual_fall_agrees_with_another_integrator():
    """(1 + 0.5 exp(-(v / vs)^2)) mu m g from the first slip on."""
    vs, slide = 0.05, 0.2 * MASS * G
    run = lw.load(pulled(mu=0.2, breakaway=1.5, stribeck=f"{vs} m/s")).simulate(1.1, tolerance=1e-12, sample_interval=0.01)
    start = 1.5 * slide / STIFFNESS / PULL

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], (STIFFNESS * (PULL * t - y[0]) - slide * (1.0 + 0.5 * np.exp(-((y[1] / vs) ** 2)))) / MASS]

    first = [0.0, 1e-300]
    done = solve_ivp(rates, (start, 1.1), first, rtol=1e-12, atol=1e-14, method="DOP853", t_eval=run.t[run.t > start])
    assert run.events[0].time == pytest.approx(start, abs=1e-12) and len(run.events) == 1
    np.testing.assert_allclose(run["x"][run.t > start], done.y[0], rtol=0, atol=1e-10)
    slow = np.flatnonzero((run["x.v"] > 1e-4) & (run["x.v"] < vs))
    factor = 1.0 + 0.5 * np.exp(-((run["x.v"][slow] / vs) ** 2))
    np.testing.assert_allclose(run["x.friction"][slow], -slide * factor, rtol=1e-12)


def test_rest_is_decided_by_the_value_at_rest():
    """A block on an incline holds up to 1.5 mu, and slides with mu once it slides; a crank rests within a range as for 1.5 mu."""
    for share, rests in ((1.0 + 1e-9, True), (1.0 - 1e-9, False)):
        mu = float(np.tan(0.3)) * share / 1.5
        model = cart(friction={"x": {"mu": mu, "breakaway": 1.5}}) | {"gravity": [float(G * np.sin(0.3)), float(-G * np.cos(0.3))]}
        r = lw.load(model).simulate(1.0)
        moved = 0.5 * G * (np.sin(0.3) - mu * np.cos(0.3))
        assert r["x"][-1] == pytest.approx(0.0 if rests else moved, rel=1e-9)
    pin = {"mu": 0.1, "radius": "20 mm"}
    laws = [{"A": pin, "S": {"mu": 0.15}}, {"A": {**pin, "mu": 0.05, "breakaway": 2.0}, "S": {"mu": 0.1, "breakaway": 1.5}}]
    ranges = [lw.load({**slider_crank(), "friction": law}).holding_range(start="40 deg", stop="160 deg", steps=3) for law in laws]
    np.testing.assert_allclose(ranges[1].largest, ranges[0].largest, rtol=1e-12)


def test_inverse_dynamics_and_forward_dynamics_have_the_same_law():
    """Wanted accelerations come back at speeds where friction falls, for pins and slider; smooth friction falls as well."""
    falls = {"breakaway": 1.6, "stribeck": "0.5 rad/s"}
    friction = {"A": {"mu": 0.1, "radius": "20 mm", **falls}, "S": {"mu": 0.15, "coulomb": "5 N", "breakaway": 1.3, "stribeck": "0.02 m/s"}}
    s = lw.load({**slider_crank(), "friction": friction}).system
    plain = lw.load({**slider_crank(), "friction": {"A": {"mu": 0.1, "radius": "20 mm"}, "S": {"mu": 0.15, "coulomb": "5 N"}}}).system
    for speed in (0.1, -0.4, 3.0):
        st = s.assemble(q={"A": 1.0}, v={"A": speed})
        loads = s.inverse(st, {"A": 3.0})
        assert s.forward(st, loads.tau)["A"] == pytest.approx(3.0, abs=1e-10)
        less = plain.inverse(plain.assemble(q={"A": 1.0}, v={"A": speed}), {"A": 3.0}).tau["A"]
        assert abs(loads.tau["A"] - less) > (1e-2 if abs(speed) < 1.0 else -1.0)
    smooth = cart(friction={"x": {"coulomb": "4 N", "breakaway": 1.5, "stribeck": "0.1 m/s", "speed": "1 mm/s"}}, start={"x.v": 0.1})
    a = lw.load(smooth).system.forward(lw.load(smooth).system.start)["x"]
    assert a == pytest.approx(-2.0 * (1.0 + 0.5 * np.exp(-1.0)), rel=1e-12)


def test_impacts_have_the_friction_of_sliding():
    """The rod that a ball strikes: with half the value in motion and twice that at rest the impulse is that of the value in motion."""
    models = [struck_rod(0.8, c, 0.6) for c in (0.05, 0.05)]
    models[1]["friction"]["A"]["breakaway"] = 2.0
    runs = [lw.load(model).simulate(0.05) for model in models]
    assert runs[1]["hit.impulse"].sum() == pytest.approx(runs[0]["hit.impulse"].sum(), rel=1e-13)


@pytest.mark.parametrize("ending", ["urdf", "xml"])
def test_formats_with_one_constant_say_what_is_lost(ending, tmp_path):
    """URDF and MuJoCo have one constant; they get the value in motion, and the warning names the joint."""
    m = lw.load(cart(friction={"x": {"coulomb": "4 N", "breakaway": 1.5}}, drive={"x": "1 m/s"}))
    with pytest.warns(LossWarning, match=r"x[^;]*breakaway"):
        m.export(tmp_path / f"cart.{ending}")
    assert '"4"' in (tmp_path / f"cart.{ending}").read_text()

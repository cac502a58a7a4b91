"""Derivatives of turns by numbers of the model: against complex steps of the float path, and against turns of models built anew."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.model.parameters import every_parameter
from linkwright.numerics.tolerances import COMPLEX_STEP
from linkwright.rings.design.measure_slopes import Disturbed, cycle_samples
from tests.refusals import refused
from tests.rings.design.test_measure_slopes import JIB, RICH
from tests.sweeps import sweep

STEPS = 24
SMOOTH = {**RICH, "name": "smooth", "friction": {"A": {"coulomb": 0.05, "speed": 0.1}}}  # springs, damper, load; friction by speed only


def apart(x: Any, y: Any) -> float:
    return float(np.abs(x - y).max() / (1e-6 + np.abs(y).max()))


@sweep(
    "model",
    ["wiper", "carpet-scraper", "five-bar", "rssr-7r", "stewart", "delta", "excavator", SMOOTH],
    now=1,
    ids=lambda x: x if isinstance(x, str) else x["name"],
)
def test_loads_against_complex_steps_of_the_float_path(model: Any, rng: np.random.Generator) -> None:
    m = lw.load(model)
    spinning = bool(m.system.kernels.plan.idle)  # about lines that dimensions move: of those loads have no derivatives
    known = [p for p in every_parameter(m.description).values() if p.name != "n" and not (spinning and p.geometry)]
    chosen = [known[i] for i in rng.permutation(len(known))[:12]]
    d = m.cycle(steps=STEPS).derivatives([p.name for p in chosen])
    assert d.u is not None and d.wrench is not None and d.ok.all()
    joints = [j.name for j in m.description.joints]
    for i in rng.integers(0, STEPS, 2):
        sample = cycle_samples(m.cycle(steps=STEPS), [int(i)])[int(i)]
        for k, p in enumerate(chosen):
            loads = Disturbed(m.system, p).loads(sample)
            forces = np.array([loads.reaction(name).force for name in joints])
            size = max(
                np.abs(forces.imag).max() / COMPLEX_STEP,
                np.abs(forces.real).max() / (p.size or 1.0),
                np.abs(loads.u).max() / (p.size or 1.0),
            )
            assert np.abs(d.u[i, :, k] - loads.u.imag / COMPLEX_STEP).max() < 1e-8 * size, p.name
            assert np.abs(d.wrench[i, :, 3:, k] - forces.imag / COMPLEX_STEP).max() < 1e-8 * size, p.name


CHANNELS = (
    "A.torque", "A.power", "rocker.angle", "rocker.angle.v", "coupler.angle.a", "C", "C.v", "coupler.C", "coupler.C.a", "energy.kinetic",
    "B.on.coupler", "C.on.rocker.magnitude", "shaking.force", "shaking.moment",
)  # fmt: skip


def test_channels_against_turns_of_models_built_anew() -> None:
    """Differences of order four: h^4 of a relative step of 3e-4 and round-off over it are both below 1e-9."""
    m = lw.load("four-bar")
    d = m.cycle(steps=STEPS).derivatives(["L1", "line_mass"])
    for name in ("L1", "line_mass"):
        value = dict(m.description.parameters)[name]
        h = 3e-4 * value
        turns = {k: m.with_(**{name: value + k * h}).cycle(steps=STEPS) for k in (-2, -1, 1, 2)}
        for channel in CHANNELS:
            y = {k: c[channel] for k, c in turns.items()}
            numeric = (8.0 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12.0 * h)
            assert d[channel, name].shape == numeric.shape
            assert apart(d[channel, name], numeric) < 1e-8, (channel, name)
    assert d["coupler.C"].shape == (STEPS + 1, 2, 2) and (d.read(["A.torque"])["A.torque"] == d["A.torque"]).all()


def test_marked_points_and_springs() -> None:
    """P on the coupler moves nothing but itself and the spring's end; the torsion spring's torque is linear in its stiffness."""
    m = lw.load(SMOOTH)
    c = m.cycle(steps=STEPS)
    d = c.derivatives(["coupler.P.x", "torsion.stiffness"])
    angle = c["coupler.angle"]
    assert apart(d["coupler.P", "coupler.P.x"], np.array([np.cos(angle), np.sin(angle)]).T) < 1e-12
    assert np.abs(d["rocker.angle", "coupler.P.x"]).max() == 0.0 < np.abs(d["A.torque", "coupler.P.x"]).max()
    ratio = c["rocker.angle.v"] / c["A.v"]  # virtual work: the drive carries k q of the rocker's joint times its share of the motion
    assert apart(d["A.torque", "torsion.stiffness"], c["D"] * ratio) < 1e-10


def test_the_speed_of_the_drive_is_a_number_too() -> None:
    m = lw.load(SMOOTH)
    d = m.cycle(steps=STEPS).derivatives(["n"])
    value, h = dict(m.description.parameters)["n"], 1e-3
    y = {k: m.with_(n=value + k * h).cycle(steps=STEPS)["A.torque"] for k in (-2, -1, 1, 2)}
    assert apart(d["A.torque", "n"], (8.0 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12.0 * h)) < 1e-8
    still = m.cycle(steps=STEPS, speed=0).derivatives(["n"])
    assert not still["A.torque"].any()


def test_a_driven_cylinder() -> None:
    m = lw.load(JIB)
    samples = cycle_samples(m.cycle(steps=STEPS), [3, 7])
    d = m.cycle(steps=STEPS).derivatives(["boom.mass", "boom.P.y", "ground.E.x"])
    for k, name in enumerate(d.names):
        p = every_parameter(m.description)[name]
        for i in (3, 7):
            assert apart(d["ram.force"][i, k], Disturbed(m.system, p).loads(samples[i]).u.imag / COMPLEX_STEP) < 1e-8


def test_derivatives_can_be_pickled() -> None:
    d = lw.load("four-bar").cycle(steps=STEPS).derivatives(["L1", "line_mass"])
    before = d["C.on.rocker"]
    again = pickle.loads(pickle.dumps(d))
    assert (again["C.on.rocker"] == before).all() and again.names == d.names and (again.q == d.q).all()


def test_samples_in_singular_positions_are_marked() -> None:
    d = lw.load("slider-crank-equal").cycle(steps=STEPS).derivatives(["l", "crank.mass"])
    assert not d.ok.all() and np.isfinite(d["A.torque"][d.ok]).all() and all("singular" in text for text in d.why.values())
    assert np.isnan(d["A.torque"][~d.ok]).all()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: lw.load("four-bar").cycle(steps=8).derivatives(["L9"]), "L9"),
        (lambda: lw.load("four-bar").cycle(steps=8).derivatives([]), "by"),
        (lambda: lw.load("four-bar").cycle(steps=8).derivatives("L1")["A.torque", "L2"], "L2"),
        (lambda: lw.load("four-bar").cycle(steps=8).derivatives("L1")["A.tork"], "A.tork"),
        (lambda: lw.load("parallelogram-middle").cycle(steps=8).derivatives("middle.M.x"), "middle.M.x"),
        (lambda: lw.load(RICH).cycle(steps=8).derivatives("w")["A.torque"], "A.torque"),
    ],
)
def test_wrong_calls_say_what_is_allowed(call: Any, name: str) -> None:
    with refused(LinkwrightError, name=name):
        call()


@pytest.mark.slow
def test_loads_of_rods_whose_axes_move() -> None:
    """Idle spins are about lines that dimensions move: positions have derivatives, loads are refused with the reason."""
    d = lw.load("delta").cycle(steps=8).derivatives(["rod3.P3.y"])
    assert np.isfinite(d["platform"]).all()
    with pytest.raises(LinkwrightError, match="links spin about lines"):
        d["A1.torque"]

"""Derivatives of simulated runs: against runs with other numbers, closed forms, conserved energy, and tighter runs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.system.system import System
from tests.motion.test_turn_derivatives import SMOOTH
from tests.refusals import refused
from tests.sweeps import sweep

RK4: dict[str, Any] = {"integrator": "rk4", "step": 1e-3}
PENDULUM = {  # a wheel on a torsion spring: I q'' = -k q
    "name": "wheel",
    "plane": "xy",
    "drawing": {"A": [0, 0], "P": [0.1, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "wheel": {"pins": ["A"], "points": ["P"], "mass": 1, "com": [0, 0], "inertia": 0.02}},
    "springs": {"coil": {"joint": "A", "stiffness": 3.0}},
    "start": {"A": 0.4},
}
CASES: dict[str, tuple[Any, list[str], dict[str, Any]]] = {
    "effort": ("wiper", ["crank.B.x", "coupler.mass", "rocker.com.x"], {**RK4, "drive": {"A": lw.drives.torque(0.05)}}),
    "inside a step": (
        "wiper",
        ["crank.B.x"],
        {"integrator": "rk4", "step": 1.1e-3, "drive": {"A": lw.drives.torque("0.05 N m * sin(8 rad/s * t)")}},
    ),
    "adaptive": ("wiper", ["crank.B.x", "coupler.mass"], {"tolerance": 1e-11}),
    "prescribed": ("wiper", ["crank.B.x"], {**RK4, "drive": {"A": lw.drives.speed(2.0)}}),
    "no projection": ("wiper", ["crank.B.x"], {**RK4, "stabilizer": "none"}),
    "springs and gravity": (SMOOTH, ["coil.stiffness", "crank.B.x", "gravity.y", "d.coefficient"], RK4),
    "two drives": ("five-bar", ["left.B.x", "right.mass"], RK4),
    "quaternions": ("rssr", ["crank.mass", "crank.A.x"], RK4),
    "platform": ("stewart", ["platform.mass", "platform.com.z"], RK4),
}


def system(model: Any, parameters: list[str]) -> System:
    return lw.compile(lw.load(model), parameters=parameters)


def start(s: System) -> Any:
    return s.assemble(q={"A": 0.3}, v={"A": 2.0}) if s.description.name == "wiper" else s.start


@sweep("name", CASES, now=1)
def test_against_runs_with_other_numbers(name: str) -> None:
    """Differences of order four: h^4 of a relative step of 1e-4 and round-off 1e-15 / 1e-5 are below 1e-9; inside a step the run's own
    polynomial is of order four as well, and differs from a shorter step by 1e-8."""
    model, free, options = CASES[name]
    s = system(model, free)
    st, values = start(s), np.array([p.value for p in s.parameters])
    times = np.linspace(0.0, 0.05 if model in ("rssr", "stewart") else 0.2, 5)

    def go(parameters: Any = None) -> Any:
        return s.simulate(st, times[-1], parameters=parameters, sample_interval=times, **options)

    d = go().derivatives(free)
    assert d.q.shape == (5, s.tree.nv, len(free)) and d.dq.shape == (5, s.tree.nq, len(free)) and d.ok.all()
    for k, e in enumerate(np.eye(len(free))):
        h = 1e-4 * max(abs(values[k]), 0.1)
        runs = {i: go(values + i * h * e) for i in (-2, -1, 1, 2)}
        for array, found in (("q", d.dq), ("v", d.v), ("a", d.a)):
            y = {i: getattr(r, array) for i, r in runs.items()}
            numeric = (8.0 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12.0 * h)
            size = np.abs(numeric).max() + np.abs(y[1]).max() / max(abs(values[k]), 0.1)
            assert np.abs(found[:, :, k] - numeric).max() < 1e-8 * size, (array, free[k])


def test_a_wheel_on_a_spring() -> None:
    """q = q0 cos(w t), w^2 = k/I; rk4 with this step is exact to 1e-11."""
    s = lw.compile(lw.load(PENDULUM))
    run = s.simulate(s.start, 1.0, **RK4)
    d = run.derivatives(["coil.stiffness", "wheel.inertia"])
    t, w, q0 = run.t, np.sqrt(3.0 / 0.02), 0.4
    slope = -q0 * np.sin(w * t) * t  # dq/dw
    for name, dw in (("coil.stiffness", 0.5 * w / 3.0), ("wheel.inertia", -0.5 * w / 0.02)):
        assert np.abs(d["A", name] - slope * dw).max() < 1e-8 * np.abs(slope * dw).max()
    assert np.abs(d["wheel.P.x", "coil.stiffness"] + 0.1 * np.sin(run["A"]) * d["A", "coil.stiffness"]).max() < 1e-12


def test_energy_of_a_free_motion_changes_by_the_same_at_all_times() -> None:
    """It is conserved for all numbers; the integrator's own drift is 1e-10."""
    s = lw.compile("wiper")
    run = s.simulate(start(s), 0.5, tolerance=1e-12)
    d = run.derivatives(["crank.B.x", "coupler.mass"])["energy.total"]
    assert np.abs(d - d[0]).max() < 1e-8 * np.abs(d[0]).min()


@pytest.mark.slow
def test_steps_converge_to_those_of_a_tight_run() -> None:
    s = lw.compile("wiper")
    times = np.linspace(0.0, 0.3, 4)
    tight, coarse, rough = (
        s.simulate(start(s), 0.3, sample_interval=times, **o).derivatives(["crank.B.x"]).q
        for o in ({"tolerance": 1e-13}, RK4, {**RK4, "step": 4e-3})
    )
    size = np.abs(tight).max()
    assert np.abs(coarse - tight).max() < 1e-8 * size < 1e-2 * size
    assert np.abs(rough - tight).max() > 50.0 * np.abs(coarse - tight).max()  # order four: 256


@pytest.mark.slow
def test_a_controller_is_differentiated_with_the_mechanism() -> None:
    s = lw.compile("wiper", parameters=["coupler.mass"])
    st, value = start(s), s.parameters[0].value
    control = lw.control.pd({"A": lw.control.sinusoid("20 deg", "1 Hz")}, P=3.0, D=0.2)

    def go(mass: float) -> Any:
        return s.simulate(st, 0.2, control=control, parameters=[mass], sample_interval=0.05, **RK4)

    found = go(value).derivatives("coupler.mass").q[:, :, 0]
    h = 1e-4 * value
    y = {k: go(value + k * h).q for k in (-2, -1, 1, 2)}
    numeric = (8.0 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12.0 * h)
    assert np.abs(found - numeric).max() < 1e-8 * np.abs(numeric).max()


@sweep(
    ("options", "by", "text"),
    [
        ({"stabilizer": "baumgarte"}, "crank.mass", "stabilizer 'project' or 'none'"),
        ({"integrator": "rodas"}, "crank.mass", "explicit integrator"),
        ({"drive": {"A": lw.drives.torque(lambda t: 0.1, every="1 ms")}}, "crank.mass", "sampled or called"),
        ({}, [], "name the parameters"),
        ({}, "crank.maß", "no parameter"),
    ],
    now=1,
)
def test_what_has_no_derivatives_is_refused(options: dict[str, Any], by: Any, text: str) -> None:
    s = lw.compile("wiper", engine="python")
    run = s.simulate(start(s), 0.002, engine="python", **options)
    with pytest.raises(LinkwrightError, match=text):
        run.derivatives(by)


@sweep("kind", ["torque", "speed"], now=["torque"])
def test_loads_and_recorded_channels(kind: str) -> None:
    """Against differences of order four of runs with other numbers, good to 1e-9."""
    drive = {"torque": lw.drives.torque(0.05), "speed": lw.drives.speed(2.0)}[kind]
    s = lw.compile("wiper", parameters=["crank.B.x"])
    st, value, h = start(s), s.parameters[0].value, 1e-5

    def go(length: float) -> Any:
        return s.simulate(st, 0.1, parameters=[length], sample_interval=0.005, drive={"A": drive}, **RK4)

    run, runs = go(value), {k: go(value + k * h) for k in (-2, -1, 1, 2)}
    d = run.derivatives("crank.B.x")
    for channel in ("A.torque", "C.on.rocker", "B.on.crank.magnitude", "shaking.force", "lam.C", "energy.kinetic"):
        y = {k: r[channel] for k, r in runs.items()}
        numeric = (8.0 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12.0 * h)
        assert np.abs(d[channel, "crank.B.x"] - numeric).max() <= 1e-8 * np.abs(numeric).max(), channel


@pytest.mark.slow
def test_what_was_recorded_otherwise_is_refused_by_name() -> None:
    s = lw.compile("wiper", parameters=["crank.mass"], engine="python")
    run = s.simulate(start(s), 0.02, drive={"A": lw.drives.torque(0.1)}, engine="python")
    with pytest.raises(LinkwrightError, match=r"cannot be varied: name them in lw\.compile"):
        run.derivatives("coupler.mass")
    with pytest.raises(LinkwrightError, match="was recorded"):
        run.derivatives("crank.mass")["work.in"]
    pushed = s.simulate(start(s), 0.02, wrench={"rocker": [0, 0, 0, 1, 0, 0]}, engine="python").derivatives("crank.mass")
    with pytest.raises(LinkwrightError, match="wrenches or efforts of this run"):
        pushed["C.on.rocker"]
    assert pushed.lam is not None and pushed.lam.shape[1:] == (2, 1)
    again = pickle.loads(pickle.dumps(pushed))
    assert (again["rocker.angle"] == pushed["rocker.angle"]).all()


@pytest.mark.parametrize(
    ("model", "of", "options"),
    [
        ("wiper", "rocker.angle.a", {**RK4, "drive": {"A": lw.drives.torque(0.05)}}),
        pytest.param("wiper", "rocker.angle.a", {"tolerance": 1e-9}, marks=pytest.mark.slow),
        pytest.param("wiper", "rocker.angle", {**RK4, "drive": {"A": lw.drives.speed(2.0)}}, marks=pytest.mark.slow),
        pytest.param(
            "wiper",
            "energy.total",
            {**RK4, "control": lw.control.pd({"A": lw.control.setpoint(0.5)}, P=3.0, D=0.2)},
            marks=pytest.mark.slow,
        ),
        pytest.param(SMOOTH, "coupler.P.x", {"integrator": "rk4", "step": 1.1e-3}, marks=pytest.mark.slow),
        pytest.param("rssr", "rocker.v", RK4, marks=pytest.mark.slow),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_backwards_is_the_same_as_forwards(model: Any, of: str, options: dict[str, Any]) -> None:
    """The adjoint of the same steps, so both differ by round-off only. Interpreted: code of some steps takes longer to make than to run."""
    s = lw.compile(lw.load(model), engine="python")
    by = ["*.mass", *([] if model == "rssr" else ["crank.*", "gravity.y"])]
    run = s.simulate(start(s), 0.01, sample_interval=0.005, engine="python", **options)
    d, g = run.derivatives(by), run.derivatives(by, channel=of)
    forward = {name: d[of, name] for name in d.names}
    size = max(abs(x[-1]) for x in forward.values())
    assert list(g) == list(d.names) and all(abs(g[n] - forward[n][-1]) < 1e-10 * size for n in g)
    middle = run.derivatives(by, channel=of, at=0.005)
    size = max(abs(x[1]) for x in forward.values())
    assert all(abs(middle[n] - forward[n][1]) < 1e-10 * size for n in g)


def test_wrong_wishes_backwards() -> None:
    s = lw.compile("wiper", engine="python")
    run = s.simulate(start(s), 0.01, engine="python")
    for options, text in (
        ({"channel": "coupler.C"}, "Name a component"),
        ({"channel": "A.vv"}, "no channel"),
        ({"channel": "A", "at": 7.0}, "no sample at t = 7"),
    ):
        with pytest.raises(LinkwrightError, match=text):
            run.derivatives("*.mass", **options)
    with refused(LinkwrightError, name="A"):
        lw.load("wiper").cycle(steps=8).derivatives("*.mass", channel="A")


def test_friction_that_sticks_has_derivatives_with_a_speed() -> None:
    cart = {
        "plane": "xy", "drawing": {"O": [0, 0]}, "start": {"x.v": "3 m/s"}, "parameters": {"F": 4.0},
        "bodies": {"ground": {}, "cart": {"points": ["O"], "mass": 2, "com": "O", "inertia": 1}},
        "joints": {"x": {"type": "prismatic", "between": ["ground", "cart"], "at": "O", "axis": [1, 0]}},
    }  # fmt: skip
    with refused(lw.UsageError, name="x"):
        lw.load({**cart, "friction": {"x": {"coulomb": "F * 1 N"}}}).simulate(0.5).derivatives(["F"])
    smooth = lw.load({**cart, "friction": {"x": {"coulomb": "F * 1 N", "speed": "0.01 m/s"}}}).simulate(0.5)
    # far above that speed the friction is constant: x = v t - F t^2 / (2 m)
    assert smooth.derivatives(["F"], channel="x")["F"] == pytest.approx(-(0.5**2) / 4.0, rel=1e-9)

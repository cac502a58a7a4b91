"""What a run promises whatever the mechanism: inputs, formulations, stabilizers, engines, errors, interrupts, certificates, batches."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.drives import drives_of_description
from linkwright.errors import ChannelError, UsageError
from linkwright.mechanics.formulations import FORMULATIONS
from linkwright.model.parameters import every_parameter
from linkwright.simulation.run_batch import run_batch
from linkwright.simulation.stabilizers import STABILIZERS
from tests.refusals import refused
from tests.sweeps import sweep


@pytest.fixture(scope="module")
def bar():
    s = lw.compile(lw.load("four-bar"))
    return s, s.assemble({"A": 1.0}, {"A": 6.0})


def truth(bar, seconds, **how):
    s, st = bar
    return s.simulate(st, seconds, tolerance=1e-12, sample_interval=[seconds], **how)


# -------------------------------------------------------------------- combinations


def test_any_stabilizer_with_any_formulation(bar):
    """All combinations, one motion; none and baumgarte leave the loops open by the method's error only."""
    s, st = bar
    right = truth(bar, 0.1)["A"][-1]
    keepers = [*STABILIZERS, "baumgarte+post_adjust", "baumgarte+project"]
    for formulation, keeper in itertools.product(FORMULATIONS, keepers):
        run = s.simulate(st, 0.1, formulation=formulation, stabilizer=keeper, integrator="rk4", step=0.005, sample_interval=[0.1])
        assert run["A"][-1] == pytest.approx(right, abs=2e-6), (formulation, keeper)  # rk4's own error
        assert run.settings["stabilizer"]["stabilizer"] == keeper and run.settings["formulation"] == formulation


@sweep("how", [{"integrator": "rk4", "step": 0.01}, {"tolerance": 1e-8}, {"integrator": "rodas", "tolerance": 1e-6}], now=1)
def test_both_engines_do_the_same(bar, how):
    """The same bits, through inputs with a state of their own, quadratures and events."""
    s, st = bar
    motor = lw.drives.dc_motor(Kt=0.2, R=1.0, L=0.01, J=1e-4, gear_ratio=5)
    given = {"drive": {"A": lw.drives.voltage(lambda t: 3.0 * t, motor=motor)}, "events": ["A.v"], "sample_interval": 0.05, **how}
    runs = [s.simulate(st, 0.15, engine=engine, **given) for engine in ("native", "python")]
    assert runs[0].certificate.engine == "native" and runs[1].certificate.engine.startswith("python")
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[0]["motor.A.current"], runs[1]["motor.A.current"])
    np.testing.assert_array_equal(runs[0]["work.in"], runs[1]["work.in"])
    slow = lw.compile(lw.load("four-bar"), engine="python").simulate(st, 0.05, engine="python", **{**given, "sample_interval": [0.05]})
    np.testing.assert_allclose(slow.q[-1], runs[0].q[1], atol=1e-12)  # sums are fused in one of them
    assert slow.certificate.engine == "python"


def test_without_llvmlite_it_still_runs(bar, tmp_path):
    """The same motion, interpreted: nothing native is needed."""
    code = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "import linkwright as lw\n"
        "s = lw.compile(lw.load('four-bar')); st = s.assemble({'A': 1.0}, {'A': 6.0})\n"
        "run = s.simulate(st, 0.02, integrator='rk4', step=0.01, sample_interval=[0.02], drive={'A': lw.drives.torque(lambda t: t)})\n"
        "print(run.certificate.engine, repr(float(run['A'][-1])), run.certificate.position_residual < 1e-13)"
    )
    given = {**os.environ, "PYTHONPATH": str(Path(lw.__file__).parent.parent), "LINKWRIGHT_CACHE": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True).stdout.split()
    s, st = bar
    here = s.simulate(st, 0.02, integrator="rk4", step=0.01, sample_interval=[0.02], drive={"A": lw.drives.torque(lambda t: t)})
    assert told[0] == "python" and told[2] == "True" and float(told[1]) == pytest.approx(here["A"][-1], abs=1e-13)


# -------------------------------------------------------------------- inputs


def test_kinds_of_inputs_can_be_mixed():
    """A five-bar: one crank at a prescribed speed, the other pushed; what the push needs comes out as given, the rest as effort."""
    s = lw.compile(lw.load("five-bar"))
    first, second = (d.joint for d in s.description.drives)
    st = s.assemble(v={first: 1.0, second: 0.0})
    drive = {first: lw.drives.speed(1.0), second: lw.drives.torque(lambda t, x: 0.3 * math.e ** (-t) - 0.1 * x[f"{second}.v"])}
    run = s.simulate(st, 0.5, drive=drive, tolerance=1e-10, sample_interval=0.05)
    np.testing.assert_allclose(run[f"{first}.v"], 1.0, atol=1e-12)
    np.testing.assert_allclose(run[f"{second}.torque"], 0.3 * np.exp(-run.t) - 0.1 * run[f"{second}.v"], atol=1e-12)
    for i in (3, 8):  # inverse dynamics knows both efforts
        loads = s.inverse(run.state(i), run.a[i])
        assert loads.tau[first] == pytest.approx(run[f"{first}.torque"][i], abs=1e-8)
        assert loads.tau[second] == pytest.approx(run[f"{second}.torque"][i], abs=1e-8)
    assert run.checks().ok and "compiled" in run.certificate.inputs


def test_power_in_is_the_change_of_energy(bar):
    """Damped, driven and loaded: work of the drive by quadrature along with the motion, against a quadrature of the samples."""
    s, st = bar
    run = s.simulate(st, 1.0, drive={"A": lw.drives.torque(lambda t: 2.0 * np.sin(5.0 * t))}, tolerance=1e-11, sample_interval=0.0005)
    power = run["A.torque"] * run["A.v"]
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t))])
    np.testing.assert_allclose(run["work.in"], work, atol=2e-5)  # trapezoids of 0.5 ms
    np.testing.assert_allclose(run["energy.total"] - run["energy.total"][0], run["work.in"], atol=1e-8)
    lid = lw.load("boot-lid").simulate(2.0, drive={}, tolerance=1e-10)
    c = lid.certificate
    assert c.lost > 0.1 or c.work_of_loads != 0.0 or c.energy_turned_over > 0.0
    assert c.energy_imbalance < 1e-7 * max(1.0, c.energy_turned_over)


def test_a_sampled_controller_is_held(bar):
    """Called once per sample, at the sample, and constant in between; the same as steps of constant torque by hand."""
    s, st = bar
    seen = []

    def law(t, x):
        seen.append(t)
        return -0.5 * float(x["A.v"])

    run = s.simulate(st, 0.1, drive={"A": lw.drives.torque(law, every=0.02)}, tolerance=1e-11, sample_interval=0.01)
    np.testing.assert_allclose(sorted(set(seen)), 0.02 * np.arange(len(set(seen))), atol=1e-12)
    here = st
    for _ in range(5):
        part = s.simulate(
            here, 0.02, drive={"A": lw.drives.torque(-0.5 * float(here["A.v"]))}, tolerance=1e-11, sample_interval=[here.t + 0.02]
        )
        here = part.state(-1)
    assert run["A"][-1] == pytest.approx(float(here["A"]), abs=1e-9)
    assert len(np.unique(np.round(run["A.torque"][:10], 12))) == 5 and "once per sample" in " ".join(run.notes)


# -------------------------------------------------------------------- what can go wrong


def test_a_run_that_cannot_go_on_says_when_and_where_and_keeps_what_it_has(bar):
    s, st = bar
    with refused(lw.SimulationError, name="stuck") as caught:
        s.simulate(st, 1.0, drive={"A": lw.drives.torque(lambda t: 1.0 / (0.5 - t) ** 3)}, sample_interval=0.01)
    run = caught.value.run
    assert 0.3 < run.t[-1] <= 0.5 and np.isfinite(run.q).all() and not run.checks().ok
    tau, force = run["A.torque"], run["C.on.rocker"]
    assert tau[5] == pytest.approx(1.0 / (0.5 - run.t[5]) ** 3, rel=1e-6) and np.isfinite(force).all() and np.ptp(force) > 0.0

    def broken(t, x):
        if t > 0.05:
            raise ValueError("the table has no such row")
        return float(x["A"])

    with refused(lw.SimulationError, name="failed") as caught:
        s.simulate(st, 1.0, drive={"A": lw.drives.torque(broken)}, sample_interval=0.01)
    assert isinstance(caught.value.__cause__, ValueError) and caught.value.run.t[-1] <= 0.06
    with refused(lw.SimulationError, name="stuck"):  # a relay chatters
        s.simulate(st, 10.0, drive={"A": lw.drives.torque(lambda t, x: -200.0 * x["A.v"] / abs(x["A.v"]))})
    with refused(lw.SimulationError, name="too many steps") as caught:
        s.simulate(st, 10.0, most_steps=20)
    assert caught.value.run.t[-1] < 10.0


def test_a_run_that_stopped_early_is_shown_like_any_other(tmp_path):
    with refused(lw.SimulationError, name="too many steps") as caught:
        lw.load("four-bar").simulate(10.0, most_steps=20)
    run = caught.value.run
    whole = lw.load("four-bar").simulate(float(run.t[-1]), sample_interval=[float(run.t[-1])])
    # the same motion, so the same force on the rocker's pin
    np.testing.assert_allclose(run["C.on.rocker"][-1], whole["C.on.rocker"][-1], rtol=1e-6)
    assert f"{len(run)} samples" in run.show(tmp_path / "stopped.html").read_text(encoding="utf-8")


def test_an_interrupt_gives_what_was_computed(bar):
    s, st = bar

    def press(t):
        if t > 0.3:
            raise KeyboardInterrupt

    run = s.simulate(st, 1000.0, progress=press, sample_interval=0.1)
    assert 0.3 < run.t[-1] < 1000.0 and run.certificate.status == "interrupted" and "interrupted at" in run.notes[-1]
    stopped = s.simulate(st, 1000.0, progress=lambda t: t < 0.3, sample_interval=0.1)
    assert stopped.certificate.status == "stopped"


def test_a_bar_shows_on_demand(bar, capsys, monkeypatch):
    from linkwright.simulation import run

    monkeypatch.setattr(run, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    s, st = bar
    s.simulate(st, 300.0, progress=True, sample_interval=100.0)
    shown = capsys.readouterr()
    assert "simulating" in shown.err and "step" in shown.err and shown.out == ""
    s.simulate(st, 1.0, sample_interval=1.0)
    assert capsys.readouterr().err == "", "no bar where there is no terminal"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"integrator": "euler"}, "Integrators"),
        ({"integrator": "rk4"}, "step"),
        ({"stabilizer": "projekt"}, "project"),
        ({"formulation": "newton"}, "formulation"),
        ({"sample_interval": -1.0}, "sample_interval"),
        ({"sample_interval": [0.2, 0.1]}, "increasing"),
        ({"sample_interval": 1e-9}, "samples"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"drive": {"X": lw.drives.torque(1.0)}}, "X"),
        ({"drive": {"A": 3.0}}, "lw.drives.torque"),
        ({"drive": {"A": lw.drives.voltage(3.0)}}, "motor"),
        ({"drive": {"A": lw.drives.speed(1.0)}}, "assemble"),
        ({"engine": "fortran"}, "engine"),
        ({"tolerence": 1e-3}, "tolerance"),
        ({"parameters": {"L1": 1.0}}, "parameters"),
    ],
)
def test_wrong_options_are_explained(bar, wrong, told):
    s, st = bar
    with pytest.raises(UsageError, match=told):
        s.simulate(st, 0.1, **wrong)


def test_wrong_durations_and_states(bar):
    s, st = bar
    for wrong in (-1.0, float("inf"), "3 m"):
        with pytest.raises(lw.LinkwrightError):
            s.simulate(st, wrong)
    with refused(UsageError, name="state"):
        s.simulate({"A": 1.0}, 1.0)
    with refused(UsageError, name="state"):
        s.simulate(s.state(np.array([0.1, 0.2, 0.3])), 1.0)
    still = s.simulate(st, 0.0)
    assert len(still) >= 1 and still.t[-1] == 0.0
    assert s.simulate(st, "250 ms", sample_interval="50 ms").t[-1] == 0.25


# -------------------------------------------------------------------- certificates


def test_half_the_step_tells_the_error(bar):
    """The estimate is of the size of the true error, for fixed and adaptive steps."""
    s, st = bar
    right = truth(bar, 1.0)
    for how in ({"integrator": "rk4", "step": 0.01}, {"tolerance": 1e-6}):
        run = s.simulate(st, 1.0, certify=True, sample_interval=[1.0], **how)
        true = np.abs(run.q[-1] - right.q[-1]).max()
        assert 0.5 * true < run.certificate.estimated_error < 2.0 * true
        assert "half the step" in str(run.checks())


def test_a_verdict_names_what_is_wrong(bar):
    s, st = bar
    loose = s.simulate(st, 3.0, stabilizer="none", integrator="rk4", step=0.02)
    assert not loose.checks().ok and loose.checks()["loops"].verdict == "failed"
    assert loose.certificate.position_residual > 1e-7
    good = s.simulate(st, 3.0)
    assert good.checks()
    passed = "passed: run, loops, velocities, energy, branch, error, loads, inputs"
    assert str(good.checks()).startswith(f"{passed}; estimated error of positions ")


def test_the_designers_run_is_driven_as_the_file_says():
    run = lw.load("wiper").simulate(4.0 / 3.0, sample_interval=2.0 / 3.0)
    np.testing.assert_allclose(run["A.v", "rpm"], 45.0, atol=1e-9)
    np.testing.assert_allclose(run["A"] - run["A"][0], 1.5 * math.pi * run.t, atol=1e-9)
    turn = lw.load("wiper").cycle(steps=4)
    assert run["A.torque"][0] == pytest.approx(turn["A.torque"][0], rel=1e-8)
    assert run.load("C", on="rocker").max > 1.0


# -------------------------------------------------------------------- batches


def test_a_batch_is_its_runs_one_by_one(bar):
    s, _ = bar
    states = [s.assemble({"A": 1.0}, {"A": w}) for w in np.linspace(2.0, 12.0, 20)]
    for how in ({"tolerance": 1e-8}, {"integrator": "rk4", "step": 0.005}):
        batches = [run_batch(compiled_of(s), states, 0.5, sample_interval=0.1, threads=n, **how) for n in (1, 2)]
        np.testing.assert_array_equal(batches[0]["state q"], batches[1]["state q"])
        assert batches[0].ok.all() and batches[0]["state q"].shape == (20, 6, s.tree.nq)
        run = s.simulate(states[7], 0.5, sample_interval=0.1, **how)
        np.testing.assert_array_equal(run.q, batches[0]["state q"][7])
        np.testing.assert_array_equal(batches[0][7]["A.v"], batches[0]["A.v"][7])
    with refused(UsageError, name="states"):
        run_batch(compiled_of(s), [], 1.0)
    with refused(UsageError, name="events"):
        run_batch(compiled_of(s), states, 1.0, events=["A"])


def test_a_batch_of_parameters_closes_each_start():
    s = lw.compile(lw.load("four-bar"), parameters=["L1"])
    st = s.assemble({"A": 1.0}, {"A": 6.0})
    batch = run_batch(compiled_of(s), st, 0.3, parameters={"L1": [0.25, 0.3]}, tolerance=1e-10, sample_interval=0.3)
    for value, q in zip((0.25, 0.3), batch["state q"][:, -1], strict=True):
        other = lw.compile(lw.load("four-bar", L1=value))
        run = other.simulate(other.assemble({"A": 1.0}, {"A": 6.0}), 0.3, tolerance=1e-10, sample_interval=[0.3])
        np.testing.assert_allclose(q, run.q[-1], atol=1e-9)


def test_a_batch_reads_channels_as_its_runs_do():
    """Each run with its own parameters; a start that does not exist is NaN."""
    s = lw.compile(lw.load("four-bar"), parameters=["L1"])
    st = s.assemble({"A": 1.0}, {"A": 6.0})
    batch = run_batch(compiled_of(s), st, 0.3, parameters={"L1": [0.25, 5.0, 0.3]}, tolerance=1e-10, sample_interval=0.1)
    assert list(batch.why) == [1]
    found = batch.read(["coupler.P", "coupler.P.vx", "A", "energy.kinetic"])
    for name, x in found.items():
        assert np.isnan(x[1]).all()
        for i in (0, 2):
            np.testing.assert_allclose(x[i], batch[i][name], rtol=1e-11, atol=1e-11)
    assert batch["coupler.angle", "deg"][0] == pytest.approx(np.degrees(batch[0]["coupler.angle"]), rel=1e-11)
    with refused(ChannelError, name="coupler.Q"):
        _ = batch["coupler.Q"]


@sweep("name", ["wiper", "four-bar", "carpet-scraper", "boot-lid", "ankle", "stewart", "3-rrr", "rssr"], later=["stewart", "3-rrr"])
def test_a_batch_reads_every_channel_of_its_runs(name: str) -> None:
    """Positions, accelerations, efforts, loads, turns of cut joints: as in each run alone. Both follow from the same samples, so they
    differ by round-off of channels whose size is that of the largest of their kind."""
    m = lw.load(name)
    known = every_parameter(m.description)
    mass = next(p.name for p in known.values() if p.kind == "mass" and p.value)
    s = lw.compile(m, parameters=[mass])
    drive = drives_of_description(m.description)
    values = known[mass].value * np.array([1.0, 1.1])
    batch = run_batch(compiled_of(s), s._starting(drive), 0.05, drive=drive, parameters={mass: values}, sample_interval=0.01)
    assert batch.ok.all() and batch.shape == (2,) and batch.channels == batch[0].channels
    found = batch.read(batch.channels)
    for i, run in enumerate(batch):
        alone = run.read(batch.channels)
        sizes: dict[tuple[str, str], float] = {}
        for n, x in alone.items():
            kind = (batch.dimension(n), n.rpartition(".")[2][:1])
            sizes[kind] = max(sizes.get(kind, 0.0), float(np.abs(x[np.isfinite(x)]).max(initial=0.0)))
        for n, x in alone.items():
            size = sizes[batch.dimension(n), n.rpartition(".")[2][:1]]
            np.testing.assert_allclose(found[n][i], x, rtol=1e-9, atol=1e-10 * size, err_msg=n)


def test_a_batch_has_the_words_of_a_trajectory() -> None:
    s = lw.compile(lw.load("four-bar"), parameters=["L1", "coupler.mass"])
    st = s.assemble({"A": 1.0}, {"A": 6.0})
    given = {"L1": [0.25, 5.0, 0.3], "coupler.mass": [1.0, 1.0, 2.0]}
    batch = run_batch(compiled_of(s), st, 0.3, parameters=given, tolerance=1e-10, sample_interval=0.1)
    assert batch.ok.tolist() == [True, False, True] and batch.design(2) == {"L1": 0.3, "coupler.mass": 2.0}
    assert batch.measure("max B.load", "N")[2] == pytest.approx(batch[2].measure("max B.load"), rel=1e-9)
    assert np.isnan(batch.measure("range D")[1]) and batch.table()["ok"].values.tolist() == batch.ok.tolist()
    with pytest.raises(UsageError):
        _ = batch.derivatives["D"]
    x = batch.to_xarray(["coupler.P", "D"], units={"D": "deg"})
    assert x["coupler.P"].dims == ("run", "t", "coupler.P component") and x["D"].attrs["units"] == "deg"
    assert x["coupler.P"].sel({"coupler.P component": "y"}).values[0] == pytest.approx(batch[0]["coupler.P"][:, 1], rel=1e-12)
    assert x["L1"].values.tolist() == given["L1"] and x["t"].values.tolist() == batch.t.tolist()


def test_a_hinge_without_inertia_is_named():
    """A weight hung on its own center, without inertia: its spin is nobody's business in one state (an arm with 2 kg more at its
    tip, 3 g / 2 L (1 + 4) / (1 + 6) of it), but a run must know it, and says whose inertia is missing."""
    pendulum = {
        "name": "weighted", "plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0], "B": [1, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A", "B"], "mass": 1}, "weight": {"pins": ["B"], "mass": 2, "com": "B"}},
    }  # fmt: skip
    s = lw.load(pendulum).system
    found = s.forward(s.start)
    assert found.a == pytest.approx([-1.5 * 9.81 * 5 / 7, 0.0])
    for attempt in (lambda: s.simulate(s.start, 0.1), lambda: s.linearize(s.start)):
        with pytest.raises(lw.LinkwrightError, match=r"^B can move without .* mass of 'weight' lies on.* Give 'weight' an inertia"):
            attempt()


def test_a_mechanism_far_from_the_origin_loses_no_digits():
    """The coordinates are multiples of 1/64 m, which a shift by 1024 m leaves exact."""
    drawn = {"A": (0.0, 0.0), "B": (0.125, 0.125), "C": (0.5, 0.3125), "D": (0.625, 0.0)}
    links = {"crank": ["A", "B"], "coupler": ["B", "C"], "rocker": ["C", "D"]}
    bodies = {"ground": {"pins": ["A", "D"]}, **{name: {"pins": pins, "mass": 1} for name, pins in links.items()}}
    here, there = (
        lw.load({"plane": "xy", "gravity": [0, -9.81], "drawing": {k: [x + s, y - s] for k, (x, y) in drawn.items()}, "bodies": bodies})
        for s in (0.0, 1024.0)
    )
    one, other = (m.simulate(0.5, sample_interval=0.1) for m in (here, there))
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.arrays["lam"], other.arrays["lam"])


def test_a_free_joint_may_be_the_cut_one():
    """A free joint beside a hinge constrains nothing: its coordinates are those of the arm that swings in the hinge."""
    arm = {"points": {"A": [0, 0, 0], "P": [0.3, 0, 0]}, "mass": 1, "com": [0.2, 0, 0], "inertia": [0.01, 0.02, 0.02]}
    hinge = {"type": "revolute", "connect": ["ground.A", "arm.A"], "axis": [0, 1, 0]}
    both = {"base": {"type": "free", "connect": ["ground.A", "arm.P"]}, "A": hinge}
    model = {"gravity": [0, 0, -9.81], "bodies": {"ground": {"points": {"A": [0, 0, 0]}}, "arm": arm}, "joints": both, "cuts": ["base"]}
    run = lw.load(model).simulate(0.5)
    assert run.checks().ok
    for axis in "xyz":
        np.testing.assert_allclose(run[f"base.{axis}"], run[f"arm.P.{axis}"], atol=1e-14)
    np.testing.assert_allclose(np.abs(run["base.quat"][:, 0]), np.abs(np.cos(run["A"] / 2)), atol=1e-12)

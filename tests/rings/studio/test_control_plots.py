"""The plot of a controlled run shows its channels and limits; that of several shows the norms by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.controller_comparison import Comparison
from linkwright.rings.studio.plots import plot_of
from linkwright.simulation.feedback.control_performance import effort_norms
from tests.refusals import refused


@pytest.fixture(scope="module")
def compared() -> Any:
    """The slider-crank from 30 deg to 60 deg: by a weak motor, by two that hold a force and are sampled, and by the slider's
    force through the dead center, where it can push nothing."""
    s = lw.compile("slider-crank-equal")
    kinds: dict[str, Any] = {
        "weak": {
            "control": lw.control.projected({"A": "60 deg"}, P=25, D=10, drives=["A"]),
            "actuators": lw.control.actuator(limit="12 N m"),
        },
        "sampled": lw.control.hybrid({"A": "60 deg"}, {"C.ty": 2}, P=25, D=10, F=0.5, I=20, drives=["A", "B"], every="20 ms"),
        "lost": {
            "control": lw.control.projected({"A": lw.control.minimum_jerk("-30 deg", "1 s")}, P=100, drives=["C.slide"], damping=0.05),
            "actuators": lw.control.actuator(limit="40 N"),
        },
    }
    return lw.control.compare(s, s.assemble(q={"A": "30 deg"}), 1, kinds, sample_interval=0.005)


@pytest.fixture(scope="module")
def circle() -> Any:
    """A five-bar's tip on a circle by two motors, one of them at its rated voltage for a while."""
    five = lw.compile("five-bar")
    y = float(five.point(five.start, "left_rod.C")[1])
    round_ = [lw.control.sinusoid("20 mm", "1 Hz"), lw.control.sinusoid("20 mm", "1 Hz", phase="90 deg", center=f"{y - 0.02} m")]
    motors = {
        n: lw.control.actuator(motor=lw.drives.dc_motor(Kt="0.05 N m/A", R="1 ohm", supply_voltage=rated, gear_ratio=10))
        for n, rated in (("A", 0.45), ("E", 0.5))
    }
    return five.simulate(five.start, 1, control=lw.control.projected({"left_rod.C": round_}, P=400), actuators=motors, sample_interval=0.01)


def curves(axes: Any, n: int) -> list[Any]:
    return [x for x in axes.lines if len(x.get_xdata()) == n]


def test_values_errors_and_efforts_with_limits(compared: Any) -> None:
    run = compared["weak"].run
    value, error, torque = plot_of(run, "control").axes
    shown, reference = curves(value, len(run))
    np.testing.assert_array_equal(shown.get_ydata(), run["control.A.value"])
    np.testing.assert_array_equal(reference.get_ydata(), run["control.A.reference"])
    np.testing.assert_array_equal(curves(error, len(run))[0].get_ydata(), run["control.A.error"])
    assert [a.get_ylabel() for a in (value, error, torque)] == ["A [rad]", "error [rad]", "torque [N m]"]
    assert {float(x.get_ydata()[0]) for x in torque.lines if len(x.get_xdata()) == 2} == {0.0, 12.0, -12.0}
    assert "peak 12 N m" in torque.get_title("left") and "at the limit (dashed)" in torque.get_title("left")


def test_forces_held_and_efforts_as_steps(compared: Any) -> None:
    run = compared["sampled"].run
    _, _, torque, force = plot_of(run, "control").axes
    assert [x.get_drawstyle() for x in curves(torque, len(run))] == ["steps-post", "steps-post"]
    sensed, acting, wanted = curves(force, len(run))
    np.testing.assert_array_equal(acting.get_ydata(), run["lam.C.ty"])
    np.testing.assert_array_equal(sensed.get_ydata(), run["control.C.ty.sensed"])
    assert (wanted.get_ydata() == 2.0).all() and force.get_ylabel() == "held force [N]"


def test_where_a_controller_lets_go(compared: Any) -> None:
    run = compared["lost"].run
    damped = run["control.damping"] > 0.0
    assert damped.any()  # the dead center is passed at about half the time
    *_, force, grip = plot_of(run, "control").axes
    assert force.get_ylabel() == "force [N]" and grip.get_yscale() == "log"
    spans = [p for p in grip.patches if p.get_alpha()]
    first, last = run.t[damped][[0, -1]]
    assert min(p.get_x() for p in spans) <= first and max(p.get_x() + p.get_width() for p in spans) >= last


@pytest.mark.slow
def test_voltages_of_motors_between_their_limits(circle: Any) -> None:
    *_, torque, voltage, _ = plot_of(circle, "control").axes
    assert [a.get_ylabel() for a in (torque, voltage)] == ["torque [N m]", "voltage [V]"]
    for line, name in zip(curves(voltage, len(circle)), "AE", strict=True):
        np.testing.assert_array_equal(line.get_ydata(), circle[f"motor.{name}.voltage"])
    assert {float(x.get_ydata()[0]) for x in voltage.lines if len(x.get_xdata()) == 2} == {0.0, 0.45, -0.45, 0.5, -0.5}
    assert voltage.get_title("left") == "peak 0.5 V, limit 0.45 V or 0.5 V (dashed)"
    norms = effort_norms(circle)
    assert 0.0 < max(d.saturated for d in norms.by_drive.values()) < norms.saturated  # not always the same one
    assert f"one or more at the limit (below) {100.0 * norms.saturated:.4g} % of the time" in torque.get_title("left")
    rows = [x.split() for x in str(circle.control()).splitlines()]
    assert [x[-3:-1] for x in rows if x[0] in "AE" and len(x) > 2] == [["0.45", "V"], ["0.5", "V"]]


def test_the_path_of_a_point_that_was_followed(circle: Any) -> None:
    _, error, *_, path = plot_of(circle, "control").axes
    went, wanted, start = path.lines
    for line, word in ((went, "value"), (wanted, "reference")):
        for data, axis in ((line.get_xdata(), "x"), (line.get_ydata(), "y")):
            np.testing.assert_allclose(data, 1e3 * circle[f"control.left_rod.C.{axis}.{word}"], rtol=1e-15)
    assert went.get_linewidth() > wanted.get_linewidth() and path.get_aspect() == 1.0 and len(start.get_xdata()) == 1
    assert (path.get_xlabel(), path.get_ylabel()) == ("x [mm]", "y [mm]")
    norm = np.hypot(*(1e3 * circle[f"control.left_rod.C.{axis}.error"] for axis in "xy")).max()
    assert error.get_title("left") == f"largest norm {norm:.4g} mm"


def test_several_runs_in_one_picture(compared: Any, tmp_path: Path) -> None:
    figure = compared.plot()
    efforts, error, force = figure.axes
    length = compared["lost"].report.efforts.length
    norms = {
        "weak": np.abs(compared["weak"].run["A.torque"]),
        "sampled": np.hypot(compared["sampled"].run["A.torque"], compared["sampled"].run["B.torque"]),
        "lost": length * np.abs(compared["lost"].run["C.slide.force"]),  # torques and a force: in the metric
    }
    for line, name in zip(efforts.lines, norms, strict=True):
        np.testing.assert_allclose(line.get_ydata(), norms[name], rtol=1e-12)
    assert [t.get_text() for t in figure.legends[0].get_texts()] == list(norms)
    assert len(error.lines) == 3 and len(force.lines) == 1
    assert compared.plot(tmp_path / "all.svg", title="three").stat().st_size > 5000
    two = compared.plot(names=["lost", "weak"])
    assert [t.get_text() for t in two.legends[0].get_texts()] == ["lost", "weak"]
    many = Comparison(tuple(replace(compared["weak"], name=f"run {k}") for k in range(9)))
    for call, words in (
        (lambda: many.plot(), r"9 runs are too many.*at most 8.*names=\['run 0', 'run 1'\]"),
        (lambda: compared.plot(names=["waek"]), "Did you mean 'weak'"),
        (lambda: compared.plot(names=[]), "Choose from weak, sampled, lost"),
    ):
        with pytest.raises(lw.UsageError, match=words):
            call()


def test_a_run_without_controller_is_no_such_plot() -> None:
    s = lw.compile("slider-crank-equal")
    run = s.simulate(s.assemble(q={"A": "120 deg"}), 0.1, sample_interval=0.05)
    with refused(lw.UsageError, name="this run"):
        run.plot("control")
    with refused(lw.UsageError, name="control"):
        plot_of(s, "control")

"""Norms of known signals, the slider-crank's RMS torques, a comparison's rows, and norms that do not depend on a file's units."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.control_report import control_report, when
from linkwright.rings.design.controller_comparison import Comparison, Row
from linkwright.simulation.feedback.control_performance import (
    effort_norms,
    errors,
    facts,
    forces,
    held_integral,
    integral,
    settling,
    together,
    tracking,
)
from tests import ROOT
from tests.refusals import refused
from tests.sweeps import sweep

DATA = json.loads((ROOT / "tests" / "data" / "aghili_hoang.json").read_text(encoding="utf-8"))
TO = {"A": "60 deg"}
GAINS = {"P": 25, "D": 10}


def controllers() -> dict[str, Any]:
    """The three of [Aghili2005 VIII-B] with its gains; the integral of the force error begins at zero."""
    return {
        "2act": lw.control.projected(TO, **GAINS, drives=["A", "B"]),
        "1act": lw.control.projected(TO, **GAINS, drives=["A"]),
        "hyb": lw.control.hybrid(TO, {"C.ty": 0}, **GAINS, F=1, I=20, drives=["A", "B"]),
    }


def crank(g: float) -> tuple[Any, Any]:
    s = lw.load("slider-crank-equal", g=g).system
    return s, s.assemble(q={"A": "30 deg"})


@pytest.fixture(scope="module")
def heavy() -> Any:
    """With gravity; beside the paper's controllers one with a weak motor, a sampled one and one that cannot be."""
    s, st = crank(9.81)
    more: dict[str, Any] = {
        "weak": {"control": controllers()["1act"], "actuators": lw.control.actuator(limit="10 N m")},
        "sampled": lw.control.projected(TO, **GAINS, drives=["A"], every="10 ms"),
        "both": lw.control.projected({"A": "60 deg", "B": "60 deg"}, drives=["A", "B"]),
    }
    return lw.control.compare(s, st, 5, {**controllers(), **more}, sample_interval=0.01)


# ---------------------------------------------------------------- integrals


def test_integrals_of_known_signals() -> None:
    rng = np.random.default_rng(3)
    t = np.sort(np.concatenate([[0.0, 2.0], rng.uniform(0.0, 2.0, 40)]))
    quintic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0, -1.0, 0.25])
    whole = quintic.integ()
    for a, b in ((0.0, 2.0), (0.123, 1.777)):
        # six samples make a polynomial of degree 5: round-off alone is left
        assert integral(t, quintic(t), a, b) == pytest.approx(whole(b) - whole(a), rel=1e-12)
    even = np.linspace(0.0, 2.0, 101)
    exact = np.sin(4.0) / 4.0 + 1.0  # of cos^2(t) from 0 to 2
    error = [abs(integral(even[::k], np.cos(even[::k]) ** 2, 0.0, 2.0) - exact) for k in (2, 1)]
    assert error[1] < 1e-10 and error[0] / error[1] > 30.0  # of order six: a factor of 64 for half the spacing


def test_a_step_at_an_event_is_no_curve() -> None:
    t, y = np.array([0.0, 0.25, 0.5, 0.5, 0.75, 1.0]), np.array([1.0, 1.0, 1.0, 3.0, 3.0, 3.0])
    assert integral(t, y, 0.0, 1.0) == pytest.approx(2.0, rel=1e-14)


def test_held_values_are_summed_exactly_or_not_at_all() -> None:
    every, steps = 0.25, np.array([2.0, -1.0, 4.0, 0.5])
    t = np.linspace(0.0, 1.0, 21)
    y = np.append(steps, 0.5)[np.floor(t / every + 1e-9).astype(int)]
    assert held_integral(t, y, every, 0.0, 0.0, 1.0) == pytest.approx(every * steps.sum(), rel=1e-14)
    assert held_integral(t, y, every, 0.0, 0.1, 0.6) == pytest.approx(0.15 * 2.0 - 0.25 + 0.1 * 4.0, rel=1e-14)
    assert held_integral(t[::8], y[::8], every, 0.0, 0.0, 1.0) is None  # 0.25 .. 0.5 has no sample


def test_settling_time_of_an_exponential() -> None:
    t = np.linspace(0.0, 3.0, 3001)
    e = -np.exp(-4.0 * t)
    assert settling(t, e, 0.02) == pytest.approx(np.log(50.0) / 4.0, abs=1e-6)  # the error of a chord over 1 ms
    assert settling(t, e, 1e-9) is None and settling(t, e, 2.0) == 0.0


# ---------------------------------------------------------------- the slider-crank of the paper


@sweep("g", [9.81, 0.0], now=1)
def test_rms_torques_of_the_slider_crank(g: float, heavy: Any) -> None:
    """Against the closed form's integrals; 500 samples in 5 s leave 3e-7 of the RMS."""
    result = heavy if g else lw.control.compare(*crank(g), 5, controllers())
    for T in (1, 2, 5):
        found = result.between(0, T).values("rms")
        for name, rms in DATA["slider_crank_controllers_rms"][f"g={g},velexp=2,T={T}"].items():
            assert found[name] == pytest.approx(rms, rel=1e-6)
        assert found["1act"] / found["2act"] == pytest.approx(np.sqrt(5.0), rel=1e-9)
    first = DATA["slider_crank_closed_loop"]
    for name in controllers():  # the torques are largest where the motion begins
        assert result[name].report.efforts.peak == pytest.approx(np.abs(first[f"g={g},{name}"]["f0"]).max(), rel=1e-9)
    assert result.best() == "2act"


def test_errors_of_the_slider_crank(heavy: Any) -> None:
    """The error is (pi/6) (1 + 5 t) exp(-5 t): its square is integrated by hand, it stays below 2 % from 5 t = 5.8339 on."""
    found = tracking(heavy["2act"].run)["A"]
    assert found.largest == pytest.approx(np.pi / 6.0, rel=1e-12) and found.at == 0.0 and found.kind == "angle"
    mean = (np.pi / 6.0) ** 2 * 0.25 / 5.0  # int (1 + 5t)^2 exp(-10 t) dt = 1/4, to 1e-19 at t = 5
    assert found.rms == pytest.approx(np.sqrt(mean), rel=1e-6)
    assert found.settled == pytest.approx(5.8339 / 5.0, abs=2e-4)
    assert forces(heavy["2act"].run) == {}
    held = forces(heavy["hyb"].run)["C.ty"]
    assert held.largest < 1e-9 and held.settled == 0.0  # round-off of 38 N m over 1 m


def test_sampled_efforts_are_held(heavy: Any) -> None:
    run = heavy["sampled"].run
    u = run["A.torque"][:-1]  # one sample a hold
    norms = effort_norms(run)
    assert norms.rms == pytest.approx(np.sqrt(np.mean(u**2)), rel=1e-12) and norms.doubt == 0.0
    assert facts(run).every == 0.01 and effort_norms(run[::3]).doubt > 1e-3


def test_limits_and_the_time_spent_there(heavy: Any) -> None:
    row = heavy["weak"]
    on = np.abs(row.run["A.torque"]) >= 10.0 - 1e-9
    drive = row.report.efforts.by_drive["A"]
    assert drive.limit == 10.0 and drive.peak == pytest.approx(10.0, rel=1e-12)
    assert 0.1 < on.mean() < 0.3 and drive.saturated == pytest.approx(on.mean(), abs=0.01 / 5.0 * 2)
    assert heavy.values("saturated")["2act"] == 0.0 and heavy.best("settled") != "weak"
    # work of the drives: the gain of potential energy, for it ends at rest: the crank's pin rises, the rod's end stays level
    assert heavy.values("work")["weak"] == pytest.approx(9.81 * (np.sin(np.pi / 3) - 0.5), rel=1e-6)


# ---------------------------------------------------------------- comparisons


def test_a_run_that_fails_is_a_row(heavy: Any) -> None:
    row = heavy["both"]
    assert row.report is None and "contradict" in row.why and "both" not in heavy.runs
    assert all(x["both"] is None for x in map(heavy.values, heavy.quantities))
    text = str(heavy)
    assert next(x for x in text.splitlines() if x.startswith("both ")).split()[:2] == ["both", "failed"]
    assert "both failed: projected: 2 coordinates" in text and "[N m]" in text and ">hyb</td>" in heavy._repr_html_()
    s, st = crank(0.0)
    alone = lw.control.compare(s, st, 1, {"late": {"control": controllers()["1act"], "most_steps": 2}})
    assert alone["late"].run is not None and "late failed" in str(alone) and not alone.runs
    with refused(lw.UsageError, name="rms"):
        alone.best()
    with refused(lw.UsageError, name="run"):
        alone.plot()


def test_a_comparison_as_a_file(heavy: Any, tmp_path: Path) -> None:
    path = heavy.save(tmp_path / "table.csv")
    assert heavy.save(path) == path
    with refused(lw.UsageError, file="table.foo"):
        heavy.save(tmp_path / "table.foo")
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert [r["controller"] for r in rows] == [r.name for r in heavy]
    assert float(rows[0]["RMS of all drives [N m]"]) == heavy["2act"].report.efforts.rms and rows[-1]["why"]
    assert float(rows[3]["at limits [%]"]) == pytest.approx(100.0 * heavy["weak"].report.saturated)


def test_wrong_calls(heavy: Any) -> None:
    s, st = crank(0.0)
    c = controllers()["1act"]
    wrong: list[tuple[Any, str]] = [
        (lambda: lw.control.compare(s, st, 1, {"a": 3}), "'a' is lw.control.projected"),
        (lambda: lw.control.compare(s, st, 1, {}), "by name"),
        (lambda: lw.control.compare(s, st, 1, {"a": c}, sample_intreval=0.1), "'sample_intreval'.*sample_interval"),
        (lambda: lw.control.compare(3, st, 1, {"a": c}), "not int"),
        (lambda: heavy["2cat"], "2act"),
        (lambda: heavy.best("rsm"), "rms"),
        (lambda: heavy.between(4, 9), "does not lie in the run"),
        (lambda: effort_norms(heavy["2act"].run, ["C"]), "no effort of 'C'"),
        (lambda: control_report(s), "made of a run"),
        (lambda: heavy["2act"].run.control(between=2), "two times"),
    ]
    for call, words in wrong:
        with pytest.raises(lw.UsageError, match=words):
            call()


def test_a_report_prints_what_it_knows(heavy: Any) -> None:
    text = str(heavy["weak"].report)
    assert text.startswith("projected: t = 0 .. 5 s") and "limit" in text and "settled after" in text
    assert f"smallest control authority {heavy['weak'].report.authority:.4f} of that at the start" in text
    assert "holds" in str(heavy["hyb"].report) and "sampled every 0.01 s" in str(heavy["sampled"].report)


def test_errors_of_several_coordinates_are_those_of_their_vector(heavy: Any) -> None:
    """Errors of 0.3 cos 3t and -0.4 cos 3t: their norm is 0.5 |cos 3t|, beyond the largest of each."""
    run = heavy["2act"].run
    two = {"A": 0.3 * np.cos(3.0 * run.t), "B": -0.4 * np.cos(3.0 * run.t)}
    both = {
        **{f"control.{n}.error": (e, "angle") for n, e in two.items()},
        **{f"control.{n}.reference": (0.0 * run.t, "angle") for n in two},
    }
    run = replace(run, columns={**run.columns, **both, "control.B.value": (0.0 * run.t, "angle")}, proof=None)
    found = together(run, errors(run), tracking(run, (0.5, 4.0)), (0.5, 4.0))["angle"]
    assert found.largest == pytest.approx(0.5, rel=1e-4) and np.sin(3.0 * found.at) == pytest.approx(0.0, abs=0.016)  # half a sample
    assert found.final == pytest.approx(0.5 * abs(np.cos(12.0)), rel=1e-9) and found.at > 0.5
    report = run.control()
    mean = 0.5 * (1.0 + np.sin(30.0) / 30.0)  # of cos^2(3 t) over 5 s
    assert report.errors["angle"].rms == pytest.approx(0.5 * np.sqrt(mean), rel=1e-8)  # order six, 100 samples a second
    assert any(x.startswith("all ") and x.split()[2] == "0.5000" for x in str(report).splitlines())
    table = Comparison((Row("both", run, report),))
    assert table.values("error")["both"] == report.errors["angle"].largest == pytest.approx(0.5, rel=1e-12)
    assert table.values("rms_error")["both"] == report.errors["angle"].rms


def test_nothing_is_largest_at_no_time(heavy: Any) -> None:
    assert when(0.385, 0.0) is None and when(0.385, 1e-14) is None and when(0.385, 3.0) == 0.385
    run = heavy["1act"].run
    idle = replace(run, columns={**run.columns, "B.torque": (0.0 * run.t, "torque"), "B.power": (0.0 * run.t, "power")}, proof=None)
    idle = replace(idle, settings={**run.settings, "control": {**facts(run).as_dict(), "drives": ["A", "B"]}})
    rows = [x.split() for x in str(idle.control()).splitlines()]
    assert ["B", "0", "0", "-"] in rows


def test_columns_print_short(heavy: Any) -> None:
    columns = heavy["1act"].run.columns
    assert repr(columns["A.torque"]) == "Column(501 x torque)" and len(str(dict(columns))) < 60 * len(columns)


def test_a_run_from_a_file_tells_the_same(heavy: Any, tmp_path: Path) -> None:
    run = heavy["weak"].run
    kept = replace(run, settings={**run.settings, "control": facts(run).as_dict()}, proof=None)
    again = lw.load_result(kept.save(tmp_path / "run.npz"))
    assert facts(again) == facts(run)
    assert effort_norms(again) == effort_norms(run) and np.array_equal(errors(again)["A"], errors(run)["A"])


# ---------------------------------------------------------------- torques and forces together

LINKAGE = """
name: press
plane: xy
units: [{length}, kg, s, rad]
gravity: [0, -9.81 m/s^2]
bodies:
  ground: {{pins: [A], points: [C]}}
  crank: {{pins: [A, B], along: {{A: 0 m, B: {crank}}}, mass: 2 kg}}
  rod: {{pins: [B], points: [C], along: {{B: 0 m, C: {rod}}}, mass: 1 kg}}
drawing: {{A: [0 m, 0 m], B: [{x}, {y}], C: [{far}, 0 m]}}
joints:
  C: {{type: pin_slot, connect: [ground.C, rod.C], slot: [1, 0]}}
start: {{A: 40 deg}}
"""


def test_norms_do_not_depend_on_units_of_length(tmp_path: Path) -> None:
    """A crank's torque and a slider's force share the work by least norm: the same in meters and in millimeters."""
    written = {
        "m": LINKAGE.format(length="m", crank="0.3 m", rod="0.8 m", x="0.2 m", y="0.2 m", far="1 m"),
        "mm": LINKAGE.format(length="mm", crank=300, rod=800, x=200, y=200, far=1000),
    }
    found = {}
    for unit, text in written.items():
        (tmp_path / f"{unit}.yaml").write_text(text, encoding="utf-8")
        s = lw.load(tmp_path / f"{unit}.yaml").system
        swing = lw.control.projected({"A": lw.control.minimum_jerk("80 deg", "0.5 s")}, P=100, drives=["A", "C.slide"])
        one = lw.control.projected({"A": lw.control.minimum_jerk("80 deg", "0.5 s")}, P=100, drives=["C.slide"])
        found[unit] = lw.control.compare(
            s, None, 0.5, {"both": swing, "slider": one} if unit == "m" else {"both": swing}, sample_interval=0.005
        )
    norms = [found[unit]["both"].report.efforts for unit in written]
    for n in norms:
        assert n.kind == "mixed" and n.rms == n.metric_rms != n.plain_rms
        assert n.rms**2 == pytest.approx(sum((d.rms * (n.length if d.kind == "force" else 1.0)) ** 2 for d in n.by_drive.values()))
    # the integrator's tolerance, 1e-9 of a step, times its steps
    assert norms[1].rms == pytest.approx(norms[0].rms, rel=1e-7) and norms[1].peak == pytest.approx(norms[0].peak, rel=1e-7)
    assert norms[0].length == pytest.approx(norms[1].length, rel=1e-12)
    table, alone = found["m"].values("rms"), found["m"]["slider"].report.efforts
    assert alone.kind == "force" and table["slider"] == pytest.approx(alone.length * alone.rms, rel=1e-12)
    assert table["both"] < table["slider"]  # two share the work: less in the metric than the slider's force alone
    assert "forces times the mechanism's length" in str(found["m"]) and "forces times" in str(found["m"]["both"].report)

"""Studies against designs computed one by one, closed forms, published indices; failures as rows; refusals before the first row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UsageError
from linkwright.model.parameters import every_parameter
from linkwright.results.measures import measure
from linkwright.rings.design.studies.plans import plan
from linkwright.rings.design.studies.statistics import sobol_indices, statistics
from linkwright.rings.design.studies.variations import variation
from tests.refusals import refused
from tests.results.test_checks import ARM, LIMITED, VALVE
from tests.rings.design.studies.models import SLIDER
from tests.sweeps import sweep

FOUR = {"L1": "0.28..0.32 / 4", "L2": [0.9, 1.0, 1.1]}
MEASURES = ("max A.torque", "peak C.load", "range D")


@pytest.fixture(scope="module")
def grid() -> lw.Study:
    return lw.study("four-bar", FOUR, MEASURES)


def test_rows_are_the_designs_computed_one_by_one(grid) -> None:
    m = lw.load("four-bar")
    frame = grid.to_pandas()
    assert grid.work.lanes == "cycles" and len(frame) == 12 and frame.ok.all() and grid.complete
    for row in (0, 5, 11):
        c = m.with_(**grid.values(row)).cycle()
        for text in MEASURES:
            assert frame[text][row] == pytest.approx(measure(text).read_from(c), rel=1e-9)  # lanes close loops to 2e-15 by other steps
        assert grid.result(row).measure("max A.torque") == pytest.approx(frame["max A.torque"][row], rel=1e-9)
    assert frame.attrs["units"] == {"max A.torque": "N m", "peak C.load": "N", "range D": "rad"}


def test_a_grid_is_a_dataset_with_its_axes(grid) -> None:
    found = grid.to_xarray()
    assert found["range D"].dims == ("L1", "L2") and found["range D"].shape == (4, 3)
    assert float(found["max A.torque"].sel(L2=1.0)[3]) == grid["max A.torque"][10] and found["peak C.load"].attrs["units"] == "N"


def test_the_best_design_is_a_mechanism(grid) -> None:
    row = grid.best_row("min max A.torque")
    best = grid.best("min max A.torque")
    assert grid["max A.torque"].min() == grid["max A.torque"][row]
    assert dict(best.description.parameters)["L1"] == grid.values(row)["L1"]
    with refused(UsageError, name="least torque"):
        grid.best("least torque")


def test_a_summary_has_extremes_with_their_rows_and_correlations(grid) -> None:
    s = grid.summary()["max A.torque"]
    y = grid["max A.torque"]
    assert (s.least[0], s.greatest[0]) == (y.min(), y.max()) and y[s.least[1]] == y.min()
    assert s.mean == pytest.approx(y.mean()) and s.deviation == pytest.approx(y.std(ddof=1))
    assert s.correlations["L1"] == pytest.approx(np.corrcoef(grid["L1"], y)[0, 1], rel=1e-12)
    assert s.ranks["L1"] == pytest.approx(_spearman(grid["L1"], y), rel=1e-12)
    assert "none failed" in str(grid.summary())


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(a, b).statistic)


def test_the_stroke_of_a_slider_crank_scatters_as_twice_its_crank() -> None:
    """Stroke = 2 r whatever the rod: deviation 2 sigma, and the rod contributes nothing."""
    t = lw.load(SLIDER).tolerances({"r": "50 +- 0.3 mm", "l": "200 +- 1 mm"}, "range slide", limits=("99.6 mm", "100.4 mm"), count=1024)
    r = t["range slide"]
    assert t.exact and r.nominal == pytest.approx(0.1, rel=1e-12)
    assert r.deviation == pytest.approx(2 * 1e-4, rel=1e-6) and r.worst == pytest.approx(2 * 3e-4, rel=1e-6)
    assert [c.name for c in r.contributions] == ["r", "l"] and r.contributions[0].share == pytest.approx(1.0, abs=1e-6)
    cut = np.sqrt(1 - 6 * np.exp(-4.5) / np.sqrt(2 * np.pi) / 0.9973002039367398)  # of a normal law cut off at 3 deviations
    assert r.drawn_deviation == pytest.approx(2e-4 * cut, rel=2e-2)  # a Sobol sequence of 1024: error some 1 / n
    from scipy.stats import norm, truncnorm

    assert r.outside_linear == pytest.approx(2 * norm.sf(2.0), rel=1e-6)  # 0.4 mm are two deviations of the stroke
    assert r.outside == pytest.approx(2 * truncnorm.sf(2.0, -3, 3), abs=5e-3)
    assert "outside" in str(t) and t.as_dict()["measures"]["range slide"]["nominal"] == r.nominal


def test_tolerances_about_the_file_of_all_lengths_and_of_pins() -> None:
    """The same numbers as with the nominal values typed; a nominal value that is not the file's is a note."""
    drawn = {**SLIDER, "parameters": {}, "bodies": {**SLIDER["bodies"], "crank": {"pins": ["A", "B"]}, "rod": {"pins": ["B", "C"]}}}
    m = lw.load(drawn)
    t = m.tolerances({"*.length": "+- 0.3 mm"}, "range slide", count=8)
    assert t.study.names == ("crank.length", "rod.length") and not t.notes
    assert t["range slide"].deviation == pytest.approx(2e-4, rel=1e-6)
    holes = lw.study(m, {"B": "+- 1 mm"}, "range slide", plan="sobol", count=2).names
    assert holes == ("crank.B.x", "rod.B.x", "crank.B.y", "rod.B.y")
    (note,) = m.tolerances({"crank.length": "52 +- 0.3 mm"}, "range slide", count=8).notes
    assert "crank.length is 0.05 m there, outside 52 +- 0.3 mm" in note
    with refused(UsageError, name="*.lenght"):
        m.tolerances({"*.lenght": "+- 0.3 mm"}, "range slide", count=8)
    with refused(UsageError, name="crank.length"):
        m.tolerances({"*.length": "+- 0.3 mm", "crank.length": "+- 0.1 mm"}, "range slide", count=8)


def test_sobol_indices_of_ishigami_are_the_published_ones() -> None:
    """sin x + 7 sin^2 y + 0.1 z^4 sin x on (-pi, pi)^3 (Ishigami, Homma 1990): first 0.3139, 0.4424, 0; total 0.5576, 0.4424, 0.2437."""
    space = [variation(n, f"{-np.pi}..{np.pi}", None) for n in "xyz"]
    p = plan("saltelli", space, 4096, 1)
    x, y, z = p.rows(0, len(p)).T
    found = sobol_indices("f", ["x", "y", "z"], np.sin(x) + 7.0 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x))
    np.testing.assert_allclose(found.first, [0.3139, 0.4424, 0.0], atol=0.02)  # some three of their standard errors
    np.testing.assert_allclose(found.total, [0.5576, 0.4424, 0.2437], atol=0.02)
    assert (found.deviation_first < 0.02).all()


def test_indices_of_a_mechanism_add_up() -> None:
    s = lw.study(lw.load(SLIDER), {"r": "49..51 mm", "l": "195..205 mm"}, "range slide", plan="saltelli", count=64)
    found = s.indices()
    np.testing.assert_allclose(found.first, [1.0, 0.0], atol=0.2)  # 64 samples; the stroke depends on r alone
    assert found.total[1] < 1e-9
    with refused(UsageError, name="plan"):
        lw.study(lw.load(SLIDER), {"r": ["49 mm", "51 mm"]}, "range slide").indices()


def test_failures_are_rows_with_their_reason() -> None:
    s = lw.study("four-bar", {"L1": [0.3, 0.9, 5.0]}, "max A.torque")
    assert s.ok.tolist() == [True, False, False] and np.isnan(s["max A.torque"][1:]).all()
    assert "cannot turn fully" in s.why[1] and "cannot" in s.why[2]
    assert sum(s.summary().failures.values()) == 2
    short = lw.load(SLIDER, l="40 mm")  # shorter than the crank: it closes up to 53 deg only
    run = lw.study(short, {"start.A": ["40 deg", "100 deg"]}, "end slide", case=lw.Run("0.01 s", drive={}))
    assert run.verdicts.tolist() == ["unknown", "failed"] and "A" in run.why[1]
    assert "drawn 0.2 m apart" in run.unknown[0]  # of a rod of 40 mm


@pytest.mark.slow
def test_start_drive_gravity_and_gains_vary() -> None:
    law = lw.control.pd({"A": lw.control.setpoint("90 deg"), "E": lw.control.setpoint("90 deg")}, P=100, D=10)
    s = lw.study(
        "five-bar",
        {"control.P": [50.0, 200.0], "start.A": ["85 deg"], "gravity.y": [0.0, -9.81]},
        ["start A", "peak A.torque", "end A"],
        case=lw.Run("0.2 s", control=law),
    )
    for row in range(4):
        v = s.values(row)
        m = lw.load("five-bar", start={"A": "85 deg"}, gravity=[0.0, v["gravity.y"]])
        run = m.simulate("0.2 s", control=lw.control.pd(law.reference, P=v["control.P"], D=10))
        assert s["end A"][row] == pytest.approx(run["A"][-1], rel=1e-8) and s["start A"][row] == pytest.approx(np.radians(85), rel=1e-12)
    turned = lw.study("wiper", {"drive.A": ["2 rad/s", "4 rad/s"]}, "max A.v")
    np.testing.assert_allclose(turned["max A.v"], [2.0, 4.0], rtol=1e-12)


def test_runs_in_lanes_are_the_single_runs() -> None:
    length = every_parameter(lw.load("five-bar").description)["left.B.x"].value
    s = lw.study(
        "five-bar",
        {"left.mass": "0.9..1.1", "left.B.x": f"{0.99 * length}..{1.01 * length}"},
        ["end A", "max A.v", "end left_rod.C.x"],
        case=lw.Run("0.2 s", drive={}),
        plan="sobol",
        count=16,
    )
    assert s.work.lanes == "runs" and s.ok.all()
    for row in (0, 9):
        numbers = np.array(list(s.values(row).values()))
        np.testing.assert_allclose([s[m][row] for m in s.measures], s.work.row(numbers)[0], rtol=1e-7)  # tolerance 1e-9 per step


def test_runs_from_many_starts_share_lanes() -> None:
    """Starts alone, with a mass, with a length; each row is the run that begins there."""
    case = lw.Run("0.2 s", drive={}, sample_interval=0.1)
    for more in ({}, {"coupler.mass": [0.1, 0.4]}, {"coupler.C.x": [0.9, 0.91]}):
        starts = {"start.A.v": [2.0, -3.0], "start.A": ["20 deg", "1.5 rad"]}
        s = lw.study("wiper", {**starts, **more}, ["start A", "end A", "max A.v"], case=case)
        assert s.work.lanes == "runs" and s.ok.all() and len(s) == 4 * 2 ** len(more)
        for row in (0, len(s) - 1):
            alone = s.work.row(np.array(list(s.values(row).values())))
            assert [s[x][row] for x in s.measures] == pytest.approx(alone[0], rel=1e-7)  # tolerance 1e-9 per step


def test_starts_that_do_not_exist_fail_alone() -> None:
    m = lw.load({**SLIDER, "drawing": {"A": [0, 0], "B": [0, 0.05], "C": [0.19365, 0]}})  # 56 mm before the end of the slide
    s = lw.study(m, {"start.slide": [0.01, 0.1, 0.02]}, "start slide", case=lw.Run("0.01 s", drive={}))
    assert s.work.lanes == "runs" and s.ok.tolist() == [True, False, True] and list(s.why) == [1]
    assert s["start slide"][[0, 2]] == pytest.approx([0.01, 0.02], rel=1e-12)
    assert s.why[1] == s.work.row(np.array(list(s.values(1).values()))).why
    none = lw.study(m, {"start.slide": [0.1, 0.2]}, "start slide", case=lw.Run("0.01 s", drive={}))
    assert not none.ok.any() and list(none.why) == [0, 1]


def test_prescribed_motions_have_runs_of_their_own_for_each_start() -> None:
    s = lw.study("wiper", {"start.A": ["20 deg", "30 deg"]}, ["start A", "end A"], case=lw.Run("0.1 s"))
    assert not s.work.lanes and s.ok.all()
    np.testing.assert_allclose(s["end A"] - s["start A"], 0.1 * 0.75 * 2 * np.pi, rtol=1e-9)  # 45 rpm


@sweep(
    ("model", "vary", "of", "lanes"),
    [
        (ARM, {"gas.stroke": "100..220 mm", "gas.length": "400..480 mm"}, lw.Run("1 s"), "runs"),
        (VALVE, {"follower.mass": "0.05..0.3 kg"}, "cycle", "cycles"),
        (VALVE, {"follower.mass": "0.05..0.3 kg"}, lw.Run("0.03 s"), ""),  # contact needs loads, which lanes do not have
        (ARM, {"gas.stroke": "100..220 mm", "gas.length": "400..480 mm"}, "turn", "cycles"),
        (ARM, {"S.y": "100..130 mm"}, "turn", "cycles"),
    ],
    now=3,
)
def test_designs_in_lanes_are_judged_as_single_ones(model: dict[str, Any], vary: dict[str, str], of: Any, lanes: str) -> None:
    s = lw.study(lw.load(model), vary, "max gas.length" if model is ARM else "max guide", case=of, plan="sobol", count=8)
    said = "".join(s.why.values())
    assert s.work.lanes == lanes and ("reach" if model is ARM else "contact") in said
    for row in range(8):
        alone = s.work.row(np.array(list(s.values(row).values())))
        assert (s.why.get(row, ""), s.unknown.get(row, "")) == (alone.why, alone.unknown)
        assert bool(s.ok[row]) == (not alone.why and not alone.unknown)
        assert s[s.measures[0]][row] == pytest.approx(alone.values[0], rel=1e-7, nan_ok=True)


def test_designs_with_the_plate_of_a_motor_are_single_motions() -> None:
    motor = {"Kt": "0.05 N m/A", "R": "0.4 ohm", "gear_ratio": 10, "max_torque": "0.4 N m"}
    m = lw.load({**LIMITED, "drive": {"A": {"dc_motor": {**motor, "voltage": "12 V"}}}})
    s = lw.study(m, {"arm.mass": [0.5, 1.0]}, "max A.torque", case=lw.Cycle(speed="60 rpm"))
    assert s.ok.tolist() == [True, False] and "motor of A exceeds a limit: peak torque" in s.why[1]


def test_runs_with_options_of_single_runs_are_done_one_by_one() -> None:
    s = lw.study("four-bar", {"gravity.y": [-9.81, -5.0]}, "end A", case=lw.Run("0.05 s", drive={}, off=["C"]))
    assert not s.work.lanes and s.ok.all()
    for row, g in enumerate((-9.81, -5.0)):
        c = lw.load("four-bar", gravity=[0, g]).simulate("0.05 s", drive={}, off=["C"])
        assert s["end A"][row] == pytest.approx(float(c["A"][-1]), rel=1e-9)


def test_equilibria_functions_and_frames() -> None:
    import pandas as pd

    s = lw.study("boot-lid", pd.DataFrame({"gravity.y": [-9.81, -9.0]}), {"opened": "end lid.angle"}, case="settle")
    for row, g in enumerate((-9.81, -9.0)):
        assert s["opened"][row] == pytest.approx(float(lw.load("boot-lid", gravity=[0, g]).settle()["lid.angle"]), rel=1e-9)
    f = lw.study("wiper", {"crank.mass": [0.3, 0.4]}, {"ends": lambda c: c["A"][-1] - c["A"][0]}, case=lambda m: m.cycle(steps=36))
    np.testing.assert_allclose(f["ends"], 2 * np.pi, rtol=1e-12)


def test_thinned_samples_are_stored_on_demand(tmp_path) -> None:
    for folder in (None, tmp_path / "study"):
        s = lw.study("four-bar", {"L1": [0.3, 5.0]}, "max A.torque", traces=["A.torque", "coupler.P"], thinned=9, folder=folder)
        c = lw.load("four-bar").cycle()
        found = s.traces(0)
        np.testing.assert_allclose(found["A.torque"], c["A.torque"][::45], rtol=1e-9, atol=1e-9)
        assert found["coupler.P"].shape == (9, 2) and s.traces(1) == {}


@pytest.mark.parametrize(
    ("vary", "more", "name"),
    [
        ({"L9": [1.0]}, {}, "L9"),
        ({"L1": "1..2 kg"}, {}, "L1"),
        ({"L1": "0.3..0.2"}, {}, "L1"),
        ({}, {}, "vary"),
        ({"L1": [0.3]}, {"measure": "max A.torqe"}, "A.torqe"),
        ({"L1": [0.3]}, {"measure": []}, "measure"),
        ({"L1": [0.3]}, {"measure": ["range D", "range D"]}, "measure"),
        ({"L1": [0.3]}, {"case": "turning"}, "turning"),
        ({"L1": [0.3]}, {"executor": 3}, "executor"),
        ({"control.P": [1.0]}, {}, "control.P"),
        ({"start.Q": [1.0]}, {}, "Q"),
        ({"drive.B": [1.0]}, {}, "B"),
        ({"L1": [0.3]}, {"traces": "nothing"}, "nothing"),
        ({"L1": [0.3]}, {"plan": "sobol", "count": 2.5}, "count"),
    ],
)
def test_wrong_studies_are_refused_before_the_first_row(vary, more, name) -> None:
    given = {"measure": "max A.torque", **more}
    with refused(LinkwrightError, name=name):
        lw.study("four-bar", vary, **given)


def test_statistics_of_nothing() -> None:
    s = statistics("x", "m", np.full(3, np.nan), {"a": np.arange(3.0)})
    assert s.count == 0 and np.isnan(s.mean)


def test_tolerances_are_a_part_of_the_report(tmp_path) -> None:
    m = lw.load(SLIDER)
    t = m.tolerances({"r": "50 +- 0.3 mm"}, "range slide", limits=(None, "100.4 mm"), count=64)
    text = m.report(tmp_path / "report.html", steps=36, tolerances=t).read_text(encoding="utf-8")
    assert ">Tolerances<" in text and t["range slide"].verdict(64) in text and "distribution of range slide" in text
    with refused(UsageError, value=3):
        m.report(tmp_path / "other.html", tolerances=3)

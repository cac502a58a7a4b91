"""Verdicts of rows: the worst check of a motion decides, an unknown one is never counted as met, alike in lanes and row by row."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.cli import main
from linkwright.rings.design.studies.store import OLDER
from tests.results.test_checks import ARM
from tests.rings.design.studies.models import SLIDER

HEAVY = {**SLIDER, "gravity": [0, "-9810 m/s^2"]}  # in m/s^2 instead of mm/s^2
# a parallelogram passes its change points; other lengths of the crank do not
PARALLEL: dict[str, Any] = {
    "name": "parallel",
    "plane": "xy",
    "parameters": {"r": "60 mm"},
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0, "100 mm"], "C": ["300 mm", "100 mm"], "D": ["300 mm", 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]},
        "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": "r"}, "mass": 0.4},
        "coupler": {"pins": ["B", "C"], "mass": 0.6},
        "rocker": {"pins": ["D", "C"], "mass": 0.4},
    },
    "drive": {"A": "60 rpm"},
}


def alone(s: lw.Study, row: int) -> tuple[str, str]:
    found = s.work.row(np.array(list(s.values(row).values())))
    return found.why, found.unknown


def test_implausible_inputs_make_every_row_unknown() -> None:
    s = lw.study(lw.load(HEAVY), {"r": ["40 mm", "50 mm"]}, "max A.torque")
    assert s.work.lanes == "cycles" and not s.ok.any() and s.verdicts.tolist() == ["unknown"] * 2 and not s.why
    assert all("gravity of 9810 m/s^2" in s.unknown[row] for row in (0, 1)) and np.isfinite(s["max A.torque"]).all()
    assert alone(s, 0) == ("", s.unknown[0])
    assert str(s.summary()).startswith("0 of 2 rows met every check, 2 unknown, none failed\n  2 unknown: inputs (gravity of 9810")
    found = s.summary().as_dict()
    assert (found["passed"], sum(found["unknown"].values()), found["failures"]) == (0, 2, {})
    assert s.to_pandas()["verdict"].tolist() == ["unknown"] * 2 and not s.to_pandas()["ok"].any() and "gravity" in s.to_pandas()["why"][0]


def test_designs_at_a_change_point_are_unknown_in_lanes_as_row_by_row() -> None:
    s = lw.study(lw.load(PARALLEL), {"r": ["60 mm", "100 mm"]}, "peak A.torque", lw.Cycle(steps=60))
    assert s.work.lanes == "cycles" and s.verdicts.tolist() == ["passed", "unknown"]
    assert "singularities (" in s.unknown[1] and "depend on the sample distance" in s.unknown[1]
    single = lw.study(lw.load(PARALLEL), {"r": ["60 mm", "100 mm"]}, "peak A.torque", lw.Cycle(steps=60), traces=["A"])
    assert not single.work.lanes and single.unknown == s.unknown
    many = lw.load(PARALLEL).cycles({"r": [0.06, 0.1]}, read=["A.torque"], steps=60)
    assert many.ok.all() and list(many.unknown) == [1] and many.near_singular[1].any() and not many.near_singular[0].any()


def test_limits_that_samples_leave_open_are_unknown_or_looked_at_again() -> None:
    """Limits that a curve with few samples holds by little: more samples decide in lanes as they do in a single cycle."""
    for steps in (6, 40):
        s = lw.study(lw.load(ARM), {"gas.length": "400..480 mm"}, "max gas.length", case=lw.Cycle(steps=steps), plan="sobol", count=8)
        assert s.work.lanes == "cycles"
        for row in range(8):
            assert (s.why.get(row, ""), s.unknown.get(row, "")) == alone(s, row)


def test_loads_that_are_not_unique_are_unknown_only_where_they_are_measured() -> None:
    few = lw.Cycle(steps=12)
    s = lw.study("bennett", {"gravity.y": [0.0, 1.0]}, "max B.load", few)
    assert s.verdicts.tolist() == ["unknown"] * 2 and "loads (the loads of A, B, C, D are" in s.unknown[0]
    assert alone(s, 0)[1] == s.unknown[0]
    assert lw.study("bennett", {"gravity.y": [0.0, 1.0]}, ["max B.v", "max A.torque"], few).ok.all()


def test_lanes_say_what_they_do_not_check() -> None:
    of = lw.Run("0.05 s", drive={})
    s = lw.study("five-bar", {"left.mass": [0.9, 1.1]}, "end A", case=of)
    assert s.work.lanes == "runs" and {"energy", "estimated error"} < set(s.not_checked)
    assert "not checked: loops, velocities, energy" in str(s.summary()) and s.to_pandas().attrs["not_checked"] == list(s.not_checked)
    single = lw.study("five-bar", {"left.mass": [0.9, 1.1]}, "end A", case=of, traces=["A"])
    assert single.work.lanes == "" and single.not_checked == ()


@pytest.mark.parametrize("traces", [(), ("A",)])
def test_runs_have_unknown_checks_too(traces: tuple[str, ...]) -> None:
    s = lw.study(lw.load(HEAVY), {"crank.mass": [0.9]}, "end A.v", case=lw.Run("0.01 s"), traces=traces)
    assert s.work.lanes == ("" if traces else "runs") and s.verdicts.tolist() == ["unknown"] and "inputs (gravity" in s.unknown[0]


def test_tolerances_count_unknown_designs() -> None:
    t = lw.load(HEAVY).tolerances({"r": "+- 0.1 mm"}, "max A.torque", count=8)
    assert (t.as_dict()["unknown"], t.as_dict()["failed"]) == (8, 0) and "8 of 8 drawn designs are unknown" in str(t)


def test_verdicts_are_stored_and_older_folders_are_unknown(tmp_path: Any) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    vary = {"r": ["60 mm", "100 mm", "900 mm"]}
    s = lw.study(lw.load(PARALLEL), vary, "peak A.torque", lw.Cycle(steps=60), folder=tmp_path / "rows")
    again = lw.load_result(tmp_path / "rows")
    assert again.verdicts.tolist() == s.verdicts.tolist() == ["passed", "unknown", "failed"]
    assert (again.unknown, again.not_checked) == (s.unknown, s.not_checked)
    for path in (tmp_path / "rows").rglob("*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(["unknown"]), path)
    older = lw.load_result(tmp_path / "rows")
    assert older.verdicts.tolist() == ["unknown", "unknown", "failed"] and older.unknown[0] == OLDER


def test_tables_and_json_have_the_verdicts(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lw.load(HEAVY).save(tmp_path / "heavy.yaml")
    path = tmp_path / "rows.csv"
    said = ["study", str(tmp_path / "heavy.yaml"), "--vary", "r=0.04, 0.05", "--measure", "max A.torque", "-o", str(path)]
    goal = "min max A.torque"
    assert main([*said, "--best", goal, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"][goal]["row"] == 0 and "gravity" in found["best"][goal]["unknown"]
    assert (found["rows"], found["passed"], sum(found["unknown"].values())) == (2, 0, 2) and found["not_checked"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith('"ok","verdict","why"') and ",False,unknown," in lines[1]


def test_runs_that_rest_on_a_rigid_stop_are_done_one_by_one() -> None:
    """Batches do not hold rigid stops: a run that went through one in lanes failed, which a single run does not."""
    arm = {"pins": ["A"], "points": ["B"], "mass": 1.0, "com": [0.1, 0.0], "inertia": 0.01}
    bodies = {"ground": {"pins": ["A"]}, "arm": arm}
    model = {**SLIDER, "drawing": {"A": [0, 0], "B": [0.1, 0]}, "bodies": bodies, "joints": {}, "drive": {}}
    m = lw.load({**model, "stops": {"A": {"min": "-10 deg"}}})
    s = lw.study(m, {"arm.mass": [1.0, 2.0]}, "min A", case=lw.Run("0.3 s"))
    assert s.work.lanes == "" and s.verdicts.tolist() == ["passed"] * 2
    np.testing.assert_allclose(s["min A"], np.radians(-10.0), rtol=1e-9)

"""Requests: input as people write it, refusals in one paragraph, dispatch to task modules with numbers in SI."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.synthesis.linkage import four_bar
from linkwright.rings.synthesis.requests import crank_angles, path_points
from linkwright.rings.synthesis.results import SynthesizedLinkage
from tests.refusals import refused

ARC = [[0, 0], [10, 4], [20, 6], [30, 4], [40, 0]]
NAN = float("nan")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "synthesize"),
        ({"path": ARC, "poses": [[0, 0, 0]]}, "synthesize"),
        ({"path": ARC[:2]}, "path"),
        ({"path": [[1, 1]] * 5}, "path"),
        ({"path": [[0, 0], [1, NAN], [2, 2]]}, "points"),
        ({"path": [[0, 0], [1, 1], [1, 1], [2, 0]]}, "points"),
        ({"path": [[0, 0, 0], [1, 1, 0], [2, 0, 0]]}, "path"),
        ({"path": [[0, 0], "a", [2, 0]]}, "path"),
        ({"path": ARC, "unit": "kg"}, "unit"),
        ({"path": ARC, "unit": 3}, "unit"),
        ({"path": ARC, "count": 0}, "count"),
        ({"path": ARC, "seed": -1}, "seed"),
        ({"path": ARC, "timing": [0, 1, 2]}, "timing"),
        ({"path": ARC, "timing": [0, 1, 0.5, 2, 3]}, "timing"),
        ({"path": ARC, "timing": [0, 30, 60, 90, 120]}, "timing"),
        ({"path": ARC, "timing": "400 deg"}, "400 deg"),
        ({"path": ARC, "timing": "soon"}, "soon"),
        ({"path": ARC, "timing": 3.0}, "timing"),
        ({"path": ARC, "kind": "four-br"}, "four-br"),
        ({"path": ARC, "exact": True}, "exact"),
        ({"path": ARC, "bounds": {"lnks": 3}}, "lnks"),
        ({"path": ARC, "bounds": {"links": (5, 3)}}, "bounds"),
        ({"path": ARC, "bounds": {"ratio": 0.5}}, "bounds"),
        ({"path": ARC, "bounds": {"transmission": "95 deg"}}, "bounds"),
        ({"path": ARC, "bounds": {"pivots": 3}}, "bounds"),
        ({"path": ARC, "bounds": [3]}, "bounds"),
        ({"path": ARC, "bounds": {"pivots": ((0, 0), (5, 5))}, "hold": {"crank pivot": (9, 9)}}, "bounds"),
        ({"path": ARC, "hold": {"crank offset": 0, "crank angle": 0}}, "hold"),
        ({"path": ARC, "hold": {"crank_pivt": 0}}, "crank pivt"),
        ({"path": ARC, "direction": "left"}, "left"),
        ({"path": ARC, "types": ["rocker"]}, "rocker"),
        ({"path": ARC, "color": "red"}, "color"),
        ({"poses": [[0, 0]]}, "poses"),
        ({"function": "log10(x)"}, "function"),
        ({"dwell": 3}, "dwell"),
        ({"dead_centers": (1, 2, 3)}, "dead_centers"),
        ({"dwell": {"stroke": 60, "dwell_angle": 100}}, "dwell_angle"),
        ({"dwell": {"stroke": 60, "dwell_angle": "100 mm"}}, "dwell_angle"),
        ({"dwell": {"stroke": "60 N", "dwell_angle": "100 deg"}}, "stroke"),
        ({"path": ARC, "bounds": {"transmission": 40}}, "transmission"),
        ({"poses": [[0, 0, 0], [10, 0, 30], [20, 0, 45]]}, "the angle of a pose"),
    ],
)
def test_refusals(options: dict[str, Any], name: str) -> None:
    with refused(lw.UsageError, name=name):
        lw.synthesize(**options)


def test_points_are_read_from_arrays_complex_numbers_and_files(tmp_path: Path) -> None:
    wanted = np.array([complex(*p) for p in ARC]) * 1e-3
    file = tmp_path / "points.csv"
    file.write_text("name;x [cm];y [cm];angle [deg]\n" + "".join(f"p;{x / 10};{y / 10};{3 * x}\n" for x, y in ARC), encoding="utf-8")
    for given in (ARC, np.array(ARC), [complex(*p) for p in ARC]):
        points, angles = path_points(given, "mm")
        assert np.allclose(points, wanted, rtol=1e-15) and angles is None
    points, angles = path_points(file, "mm")
    assert np.allclose(points, wanted, rtol=1e-12) and np.allclose(angles, np.deg2rad([0, 30, 60, 90, 120]))
    bare = tmp_path / "bare.csv"
    bare.write_text("".join(f"{x},{y}\n" for x, y in ARC), encoding="utf-8")
    assert np.allclose(path_points(bare, "mm")[0], wanted)
    for text, said in (
        ("x,y\n1,a\n2,3\n", "'a' is not a number"),
        ("x [kg],y\n1,2\n", "not a unit of length"),
        ("x\n1\n2\n", "columns"),
        ("", "no rows"),
    ):
        bare.write_text(text, encoding="utf-8")
        with pytest.raises(lw.UsageError, match=said):
            path_points(bare, "mm")
    with refused(lw.UsageError, file="missing.csv"):
        path_points(tmp_path / "missing.csv", "mm")


def test_timing_as_it_is_written() -> None:
    assert np.allclose(np.rad2deg(crank_angles("equal", 4, closed=True, repeated=False)), [0, 90, 180, 270])
    assert np.allclose(np.rad2deg(crank_angles("equal", 5, closed=True, repeated=True)), [0, 90, 180, 270, 360])
    assert np.allclose(np.rad2deg(crank_angles("120 deg", 5, closed=False, repeated=False)), [0, 30, 60, 90, 120])
    assert np.allclose(crank_angles(["10 deg", "0.1 rad", -1.0], 3, closed=False, repeated=False), [np.deg2rad(10.0), 0.1, -1.0])


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Functions of the task modules that note what they are asked for; a function that does not exist is an error."""
    noted: list[Any] = []
    answer = SynthesizedLinkage(four_bar(0j, 0.01j, 0.03 + 0.01j, 0.03 + 0j, 0.02 + 0.02j), 0.0)
    homes = (
        "poses.guided", "function_generation.generated", "dead_centers.between_dead_centers", "nine_points.nine_points",
        "form_paths.six_bar_paths", "form_paths.geared_paths", "dwells.dwells", "straight_lines.straight_lines",
    )  # fmt: skip
    for home in homes:

        def call(*arguments: Any, _name: str = home.partition(".")[2], **options: Any) -> Any:
            noted.append((_name, arguments, options))
            return [answer], {"found": 1}, ("a note",)

        monkeypatch.setattr(f"linkwright.rings.synthesis.{home}", call)
    return noted


def test_tasks_reach_their_modules_in_si(calls: list[Any]) -> None:
    found = lw.synthesize(
        poses=[[0, 0, 0], [10, "2 cm", "30 deg"], [20, 0, 1.0]], bounds={"pivots": ((0, 0), (50, -20)), "ratio": 6}, count=3
    )
    assert found.notes == ("a note",) and found.best.unit == "mm" and found.best.mechanism.name == "four-bar"
    name, (rows,), options = calls.pop()
    assert name == "guided" and np.allclose(rows, [[0, 0, 0], [0.01, 0.02, np.deg2rad(30)], [0.02, 0, 1.0]])
    assert options == {"count": 3, "seed": 0, "within": (0.0, 0.05, -0.02, 0.0), "most_ratio": 6}
    lw.synthesize(
        function="log10(x)", x_range=(1, 2), input_range="60 deg", output_range=("30 deg", "90 deg"), bounds={"transmission": "30 deg"}
    )
    name, given, options = calls.pop()
    assert name == "generated" and given[:2] == ("log10(x)", (1, 2)) and np.allclose(given[2], np.pi / 3)
    assert np.allclose(given[3], [np.pi / 6, np.pi / 2]) and options == {"count": 5, "least_transmission": pytest.approx(np.pi / 6)}
    lw.synthesize(function="x^2", x_range=(0, 1), input_range=1.0, output_range=40, kind="slider-crank")
    _, given, options = calls.pop()
    assert given[3] == pytest.approx(0.04) and options["output"] == "slide"
    lw.synthesize(dead_centers=("60 deg", 1.2))
    assert calls.pop() == ("between_dead_centers", (), {"swing": pytest.approx(np.pi / 3), "time_ratio": 1.2, "count": 5})
    lw.synthesize(dead_centers={"stroke": 50, "time ratio": 1.1}, kind="slider-crank")
    assert calls.pop()[2] == {"stroke": pytest.approx(0.05), "time_ratio": 1.1, "count": 5}
    lw.synthesize(dwell={"stroke": 100, "dwell_angle": "80 deg", "tolerance": "1 mm"}, bounds={"links": (10, 400)})
    _, _, options = calls.pop()
    assert options == {
        "stroke": pytest.approx(0.1), "dwell_angle": pytest.approx(np.deg2rad(80)), "tolerance": pytest.approx(1e-3), "count": 5, "seed": 0,
        "shortest": pytest.approx(0.01), "longest": pytest.approx(0.4),
    }  # fmt: skip
    lw.synthesize(dwell={"stroke": "60 deg", "dwell_angle": "80 deg", "tolerance": 0.01}, kind="watt II")
    assert calls.pop()[2]["tolerance"] == 0.01, "a rocker's tolerance is an angle"
    for line in ({"length": 100}, "100 mm", 100):
        lw.synthesize(straight=line)
    assert calls.pop() == calls.pop() == calls.pop() == ("straight_lines", (), {"length": pytest.approx(0.1), "count": 5, "seed": 0})


def test_paths_of_other_kinds_reach_their_modules(calls: list[Any]) -> None:
    lw.synthesize(path=ARC, kind="Stephenson_III", timing="60 deg", seed=4,
                  bounds={"links": (0, 90), "transmission": "25 deg", "pivots": (0, 50, -20, 0)})  # fmt: skip
    name, (points,), options = calls.pop()
    assert name == "six_bar_paths" and np.allclose(points, np.array([complex(*p) for p in ARC]) * 1e-3)
    assert np.allclose(options.pop("timing"), np.linspace(0.0, np.pi / 3, 5))
    assert options.pop("within") == [[0.0, pytest.approx(-0.02)], [pytest.approx(0.05), 0.0]]
    expected = {"kind": "stephenson III", "closed": False, "count": 5, "seed": 4, "longest": pytest.approx(0.09)}
    assert options == {**expected, "transmission": pytest.approx(np.deg2rad(25))}
    lw.synthesize(path=[*ARC, ARC[0]], kind="geared five-bar", ratio=-2)
    name, _, options = calls.pop()
    assert name == "geared_paths" and options["closed"] and options["ratio"] == -2 and options["timing"] is None
    nine = np.array([[np.cos(t), np.sin(2 * t)] for t in range(9)])
    lw.synthesize(path=nine, exact=True, count=7)
    assert calls.pop()[0] == "nine_points"
    with refused(lw.UsageError, name="hold", allowed=("links", "pivots", "transmission")):
        lw.synthesize(path=ARC, kind="six-bar", bounds={"hold": 3})


def test_text_table_and_model_file(calls: list[Any]) -> None:
    found = lw.synthesize(dead_centers=("60 deg", 1.2))
    assert "1 linkage, 1 usable" in str(found) and "a note" in str(found) and len(found) == 1 and next(iter(found)) is found[0]
    assert "name: mine" in found.best.text("mine") and "units: [mm, kg, deg, rpm]" in found.best.text()

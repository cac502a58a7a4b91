"""Plots of studies: bars, contours and texts are the numbers of the study's columns, in the units of their labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.design.studies.study import Study
from linkwright.rings.studio.study_columns import table, units_of
from linkwright.rings.studio.study_plots import bin_edges, share
from tests.refusals import refused
from tests.sweeps import sweep

STEPS = lw.Cycle(steps=12)  # 60 deg and every 30 from there: B is straight above A once, at the height L1
HEIGHT = "max crank.B.y"
TORQUE = "max A.torque"
ROUND = 1e-9  # of a value: L1 comes back from a cycle to round-off


def made(vary: dict[str, Any], measure: Any, plan: str | None = None, **options: Any) -> Study:
    return lw.study("four-bar", vary, measure, STEPS, plan=plan, progress=False, **options)


@pytest.fixture(scope="module")
def grid() -> Study:
    """L1 = 520 mm with L3 = 600 mm cannot turn fully: L1 + L4 > L2 + L3."""
    return made({"L1": "200..520 mm / 5", "L3": "600..800 mm / 3", "L2": [0.9, 1.0]}, [HEIGHT, TORQUE])


@pytest.fixture(scope="module")
def drawn() -> Study:
    return made({"L1": "300 +- 9 mm", "line_mass": "normal(1 kg/m, 0.05 kg/m)"}, [HEIGHT, TORQUE], "sobol", count=64)


@pytest.fixture(scope="module")
def single() -> Study:
    return made({"L1": ["250 mm", "350 mm", "460 mm"], "L3": "700..800 mm / 3", "line_mass": "0.9..1.1 kg/m / 3"}, TORQUE, "one at a time")


def texts(figure: Any) -> str:
    return "\n".join(t.get_text() for t in figure.findobj(Text))


def bars(axes: Any) -> list[Any]:
    return [p for p in axes.patches if p.get_height() > 0.0 and p.get_width() != 0.0]


def test_units_are_those_of_the_ranges_and_of_the_file(grid: Study, drawn: Study, tmp_path: Path) -> None:
    assert units_of(grid) == {"L1": ("mm", 1e-3), "L3": ("mm", 1e-3), "L2": ("m", 1.0), HEIGHT: ("m", 1.0), TORQUE: ("N m", 1.0)}
    assert units_of(drawn)["line_mass"] == ("kg/m", 1.0)
    assert table(drawn).columns["L1"].values == pytest.approx(1e3 * drawn["L1"])
    stored = lw.study("wiper", {"crank.mass": [0.2, 0.3]}, {"f": len, "e": lambda c: 1.0}, STEPS, folder=tmp_path / "s", progress=False)
    again = lw.load_result(tmp_path / "s")  # with functions of its own: only the folder knows its units
    assert again.work is None and units_of(again)["f"] == ("-", 1.0)
    assert units_of(stored)["crank.mass"] == ("kg", 1.0)


def test_a_histogram_counts_designs_and_their_share_outside_limits(drawn: Study) -> None:
    torque = drawn[TORQUE]
    low, high = np.percentile(torque, [10, 95])
    figure = drawn.plot("histogram", measures=TORQUE, limits=(f"{1e3 * low} mN m", high))
    counted = {tuple(np.round(p.get_facecolor(), 3)): 0.0 for p in bars(figure.axes[0])}
    for p in bars(figure.axes[0]):
        counted[tuple(np.round(p.get_facecolor(), 3))] += p.get_height()
        side = p.get_x() + 0.5 * p.get_width()
        assert sum((torque >= p.get_x()) & (torque < p.get_x() + p.get_width())) == pytest.approx(p.get_height(), abs=1), side
    outside = int(((torque < low) | (torque > high)).sum())
    assert sorted(counted.values()) == [outside, 64 - outside]
    said = texts(figure)
    assert f"{100 * outside / 64:.1f} % outside the limits" in said and "64 designs" in said and "max A.torque [N m]" in said
    assert len(drawn.plot("histogram").axes) == 2
    assert share(0, 10) == "0 %" and share(10, 10) == "100 %" and share(1, 10**6) == "less than 0.1 %"
    assert share(10**6 - 1, 10**6) == "more than 99.9 %"


def test_limits_are_edges_of_bars() -> None:
    y = np.random.default_rng(1).normal(5.0, 1.0, 400)
    edges = bin_edges(y, 20, (4.0, 6.5))
    for limit in (4.0, 6.5):
        assert np.abs(edges - limit).min() < 1e-12  # round-off of the edges
    assert edges[0] <= y.min() and edges[-1] >= y.max() and np.ptp(np.diff(edges)) < 1e-12
    assert len(bin_edges(np.full(9, 2.0), None)) > 2


def test_a_tornado_has_the_torques_of_its_ends_the_strongest_first(single: Study) -> None:
    axes = single.plot().axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["L1", "line_mass", "L3"]

    def turned(**numbers: float) -> float:
        return float(lw.load("four-bar", **numbers).cycle(steps=12)["A.torque"].max())

    middle = {"L1": 0.35, "L3": 0.75, "line_mass": 1.0}
    base = turned(**middle)
    ends = {p.get_x() + p.get_width() for p in bars(axes)} | {p.get_x() for p in bars(axes)}
    for change in ({"L1": 0.25}, {"L1": 0.46}, {"line_mass": 0.9}, {"L3": 0.8}):
        wanted = turned(**{**middle, **change})
        assert min(abs(x - wanted) for x in ends) < ROUND * abs(base), change
    assert "250 mm" in texts(axes.figure) and "0.9 kg/m" in texts(axes.figure)


def test_tornados_of_drawn_plans_show_rank_correlation_and_indices(drawn: Study) -> None:
    shown = drawn.plot("tornado", measures=TORQUE).axes[0]
    ranks = drawn.summary()[TORQUE].ranks
    assert sorted(p.get_width() for p in shown.patches) == pytest.approx(sorted(ranks.values()))
    parts = made({"L1": "250..350 mm", "L2": "880..920 mm"}, TORQUE, "saltelli", count=16)
    axes, found = parts.plot().axes[0], parts.indices()
    assert {round(p.get_width(), 9) for p in axes.patches} == {round(float(x), 9) for x in (*found.first, *found.total)}
    assert "16 samples" in texts(axes.figure)


def lines_of(contours: Any) -> list[tuple[float, np.ndarray]]:
    return [(z, p.vertices) for z, p in zip(contours.levels, contours.get_paths(), strict=True) if len(p.vertices)]


@sweep("plan", ["grid", "latin"], now=1)
def test_contours_of_a_linear_measure_are_straight_lines_at_its_values(grid: Study, plan: str) -> None:
    """The greatest height of B is L1, whatever L3: both a grid and triangles interpolate it exactly."""
    study = grid if plan == "grid" else made({"L1": "200..570 mm", "L3": "600..800 mm"}, HEIGHT, "latin", count=30)
    axes = study.plot("map", measures=HEIGHT, over=("L1", "L3")).axes[0]
    lines = lines_of(axes.collections[1])
    assert len(lines) > 3
    for level, vertices in lines:
        assert np.abs(vertices[:, 0] - 1e3 * level).max() < 1e-6  # mm
    failed = np.array(
        [[1e3 * study.values(row)[n] for n in ("L1", "L3")] for row in study.why if plan == "latin" or study.values(row)["L2"] == 0.9]
    )
    crosses = next((line.get_xydata() for line in axes.lines if line.get_marker() == "x"), np.zeros((0, 2)))
    assert len(failed) and crosses[np.lexsort(crosses.T)] == pytest.approx(failed[np.lexsort(failed.T)])
    assert "L1 [mm]" in texts(axes.figure) and f"{HEIGHT} [m]" in texts(axes.figure) and f"{len(failed)} failed" in texts(axes.figure)


def test_a_map_shows_the_slice_that_was_asked_for(grid: Study, drawn: Study) -> None:
    figure = grid.plot(measures=TORQUE, at={"L2": "1 m"})
    y, cut = grid[TORQUE], grid["L2"] == 1.0
    assert "L2 = 1 m" in texts(figure) and f"max {float(f'{np.nanmax(y[cut]):.4g}'):g} N m" in texts(figure)
    three = made({"L1": "290..310 mm", "L2": "880..920 mm", "L3": "740..760 mm"}, HEIGHT, "latin", count=16)
    assert "L3 varies as well" in texts(three.plot("map"))
    assert len(three.plot("map").axes[0].collections[0].get_offsets()) == 16
    flat = made({"line_mass": "0.9..1.1 kg/m / 3", "g": [9.8, 9.9]}, HEIGHT)  # one value everywhere
    assert "max 0.3 m" in texts(flat.plot())


def test_curves_and_scatter_hold_every_design(grid: Study, drawn: Study) -> None:
    line = grid.plot("curves", measures=HEIGHT, at={"L3": "800 mm"}).axes[0].lines[0]
    assert line.get_xdata() == pytest.approx(1e3 * np.asarray(line.get_ydata())) and len(line.get_xdata()) == 5
    one = made({"L1": "200..300 mm / 3"}, TORQUE)
    assert one.plot().axes[0].lines[0].get_ydata() == pytest.approx(one[TORQUE])
    figure = drawn.plot("scatter")
    cells = np.array(figure.axes).reshape(4, 4)
    x, y = cells[3, 1].lines[0].get_data()
    assert x == pytest.approx(drawn["line_mass"]) and y == pytest.approx(drawn[TORQUE])
    assert cells[0, 2].texts[0].get_text() == "+1.00", "the height is L1"


def test_the_same_study_gives_the_same_file(drawn: Study, tmp_path: Path) -> None:
    files = [drawn.plot("histogram", tmp_path / name, measures=TORQUE, dark=True) for name in ("a.svg", "b.svg")]
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("what", "options", "said"),
    [
        ("histogramm", {}, "histogram"),
        ("histogram", {"limit": 1}, "limits"),
        ("histogram", {"limits": (1, 2)}, "dict by name"),
        ("histogram", {"measures": TORQUE, "limits": ("1 mm", "2 mm")}, "torque"),
        ("histogram", {"measures": TORQUE, "limits": (5, 4)}, "smaller"),
        ("histogram", {"measures": TORQUE, "limits": "4 N m"}, "pair"),
        ("histogram", {"bins": 0}, "1 to 1000"),
        ("histogram", {"measures": "max B.torque"}, TORQUE),
        ("tornado", {"most": 0}, "1 to 16"),
        ("map", {"over": ("L1", "L1")}, "two variables"),
        ("map", {"at": {"L1": 1}}, "grid"),
        ("scatter", {"columns": ["L1"]}, "two columns"),
    ],
)
def test_what_cannot_be_plotted_is_said_in_one_sentence(drawn: Study, what: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        drawn.plot(what, **options)


def test_a_study_whose_designs_all_failed_says_so() -> None:
    never = lw.study("four-bar", {"L1": "900 mm"}, TORQUE, STEPS, progress=False)
    assert len(never.why) == 1 and "no design has a value" in texts(never.plot("histogram"))
    with refused(UsageError, name="max A.torque"):
        never.plot("tornado")
    assert "1 design, 1 failed" in texts(never.plot())

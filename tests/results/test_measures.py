"""Strokes, time ratios, dwells, straightness and distances: closed forms, searches by hand, differences, and many designs at once."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ChannelError, UsageError
from linkwright.results.measures import check, measure
from linkwright.results.measures.channel_interpolation import Course
from linkwright.results.measures.dwells import longest_dwells
from linkwright.results.measures.straightness import straightness, straightness_pull
from linkwright.results.measures.strokes import strokes
from linkwright.results.trajectories import Trajectories
from tests.refusals import refused
from tests.sweeps import sweep

R, L, E = 0.05, 0.2, 0.03


def offset_slider(**more: Any) -> lw.Mechanism:
    """A slider-crank whose guide passes its crank's pivot at a distance e."""
    return lw.load(
        {
            "name": "offset",
            "plane": "xy",
            "parameters": {"r": R, "l": L, "e": E},
            "gravity": [0, 0],
            "drawing": {"A": [0, 0], "B": [0.05, 0], "C": [0.25, 0.03]},
            "bodies": {
                "ground": {"pins": ["A"], "points": {"A": [0, 0], "C": [0.25, "e"]}},
                "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": "r"}},
                "rod": {"pins": ["B", "C"], "along": {"B": 0, "C": "l"}},
                "piston": {"pins": ["C"]},
            },
            "joints": {"slide": {"type": "prismatic", "between": ["ground", "piston"], "at": "C", "axis": [1, 0]}},
            "drive": {"A": "120 rpm"},
            **more,
        }
    )


@pytest.fixture(scope="module")
def slider() -> lw.Mechanism:
    return offset_slider()


@pytest.fixture(scope="module")
def turn(slider) -> lw.Trajectory:
    return slider.cycle(steps=90)


def test_stroke_and_time_ratio_are_their_closed_forms(slider, turn) -> None:
    far, near = np.sqrt((L + R) ** 2 - E**2), np.sqrt((L - R) ** 2 - E**2)
    angle = np.arcsin(E / (L - R)) - np.arcsin(E / (L + R))
    for steps, accuracy in ((90, 1e-10), (360, 1e-13)):  # the error goes with the sixth power of the step
        c = slider.cycle(steps=steps)
        assert c.measure("stroke slide") == pytest.approx(far - near, rel=accuracy)
        assert c.measure("stroke piston.C") == pytest.approx(far - near, rel=accuracy)
        assert c.measure("time ratio slide") == pytest.approx((np.pi + angle) / (np.pi - angle), rel=100 * accuracy)
    assert turn.measure("stroke slide", "mm") == 1000 * turn.measure("stroke slide")
    assert turn.measure("range slide") == pytest.approx(far - near, rel=1e-12)  # a polynomial of degree 8 through the samples
    assert abs(np.ptp(turn["slide"]) / (far - near) - 1.0) > 1e-6
    assert turn.measure("stroke crank.B") == pytest.approx(2 * R, rel=1e-10)
    assert turn.measure("stroke A") == pytest.approx(2 * np.pi, rel=1e-14)
    swing = lw.load("four-bar", L1="0.8 m").cycle(steps=60)
    with refused(UsageError, name="time ratio D"):
        swing.measure("time ratio D")
    assert swing.measure("stroke D") == pytest.approx(np.ptp(swing["D"]), rel=1e-3)


def random_course(rng: np.random.Generator, n: int, period: float) -> tuple[Any, Course]:
    sizes, shifts = rng.normal(size=4) / np.arange(1, 5) ** 1.5, rng.uniform(0, 6, 4)

    def f(s: Any, order: int = 0) -> Any:
        return sum(a * k**order * np.sin(k * s + p + 0.5 * np.pi * order) for k, (a, p) in enumerate(zip(sizes, shifts, strict=True), 1))

    s = np.linspace(0.0, period, n)
    return f, Course(s[None], f(s)[None], f(s, 1)[None], f(s, 2)[None])


def by_hand(x: np.ndarray, s: np.ndarray, height: float, most: int) -> float:
    """The longest window of samples within a band, by two pointers."""
    high, low, first, best = deque[int](), deque[int](), 0, 0.0
    for j, y in enumerate(x):
        while high and x[high[-1]] <= y:
            high.pop()
        while low and x[low[-1]] >= y:
            low.pop()
        high.append(j)
        low.append(j)
        while x[high[0]] - x[low[0]] > height or j - first > most:
            first += 1
            for ends in (high, low):
                if ends[0] < first:
                    ends.popleft()
        best = max(best, s[j] - s[first])
    return best


@sweep("seed", range(12), now=4)
def test_dwells_are_those_of_a_search_by_hand(seed: int) -> None:
    rng, many = np.random.default_rng(seed), 8000
    period = 2 * np.pi if seed % 3 else 3.0
    f, course = random_course(rng, 181, period)
    s = np.linspace(0.0, period, many + 1)
    if course.closed[0]:
        s = np.concatenate([s, s[1:] + period])
    height = (0.01, 0.07, 0.35)[seed % 3] * np.ptp(course.x)
    found = longest_dwells(course, height, None)
    rough = by_hand(f(s), s, height, many)
    step = period / many
    assert -1e-9 <= found.length[0] - rough <= 2 * step  # samples at both ends fall short by a step each
    begin = course.place(found.first, found.begin)[0]
    inside = f(np.linspace(begin, begin + found.length[0], 2001))
    assert np.ptp(inside) <= height * (1 + 1e-7)  # polynomials of degree five between 181 samples


def test_dwells_of_a_cycle_that_fits_and_of_one_that_never_rests() -> None:
    _, course = random_course(np.random.default_rng(1), 91, 2 * np.pi)
    assert longest_dwells(course, 2 * float(np.ptp(course.x)), None).length[0] == pytest.approx(2 * np.pi)
    s = np.linspace(0.0, 1.0, 11)
    line = Course(s[None], 3.0 * s[None], np.full((1, 11), 3.0))
    assert longest_dwells(line, 0.6, None).length[0] == pytest.approx(0.2, rel=1e-12)
    mask = ((s > 0.35) & (s < 0.55))[None]
    assert longest_dwells(line, 0.6, mask).length[0] == pytest.approx(0.1, rel=1e-12)  # from one sample of the window to the other


def test_dwells_of_a_press_may_go_through_the_end_of_the_turn() -> None:
    c = lw.load("punch-press").cycle()
    found = c.dwells("ram.R.y", within="1 mm")
    assert len(found) == 2 and found[0].length == c.measure("dwell ram.R.y within 1 mm") > found[1].length
    long, top = found
    assert long.start < long.end and top.start > top.end and top.length == pytest.approx(2 * np.pi + top.end - top.start, abs=1e-12)
    assert all(d.deviation == pytest.approx(1e-3, rel=1e-9) for d in found)
    inside = (c.place(c["E"]) > long.start) & (c.place(c["E"]) < long.end)
    assert np.ptp(c["ram.R.y"][inside]) <= 1e-3 and long.value == pytest.approx(c["ram.R.y"][inside].mean(), abs=5e-4)
    assert str(found).splitlines()[0].split() == ["from", "to", "length", "ram.R.y", "deviation"]
    timed = c.dwells("ram.R.y", within="1 mm", by="t")
    assert timed[0].length == pytest.approx(long.length / c["E.v"][0], rel=1e-9)
    assert c.measure("dwell ram.R.y within 1 mm in s", "ms") == pytest.approx(1000 * timed[0].length, rel=1e-12)
    assert len(c.dwells("ram.R.y", within="1 mm", least="60 deg")) == 1 and str(c.dwells("ram.R.y", "1 um", least="60 deg")) == "no dwell"
    whole = c.dwells("ram.R.y", within="1 m")
    assert (
        len(whole) == 1 and whole[0].length == pytest.approx(2 * np.pi) and whole[0].deviation == pytest.approx(c.measure("stroke ram.R.y"))
    )
    only = c.measure("dwell ram.R.y within 1 mm while 300..90 deg")
    assert only == pytest.approx(top.length, rel=1e-9)
    for wrong, said in (
        ({"within": "1 deg"}, "within"),
        ({"within": 0}, "higher than zero"),
        ({"within": "1 mm", "by": "slide"}, "leading drive"),
    ):
        with pytest.raises(UsageError, match=said):
            c.dwells("ram.R.y", **wrong)
    with refused(UsageError, name="ram.R"):
        c.dwells("ram.R", within="1 mm")


def test_straightness_is_the_least_width_over_all_directions() -> None:
    rng = np.random.default_rng(0)
    angle = np.linspace(0.0, np.pi, 4001)
    for _ in range(25):
        p = rng.normal(size=(rng.integers(3, 60), 2)) * [1.0, rng.uniform(0.01, 1.0)]
        widths = np.ptp(np.cos(angle)[:, None] * p[:, 0] + np.sin(angle)[:, None] * p[:, 1], axis=1)
        assert -1e-12 <= widths.min() - straightness(p) <= np.ptp(p) * angle[1]
        r = Trajectories.of({"p": p[None]}, np.arange(len(p))[None] * 1.0, "", lambda name: "length")
        assert strokes(r, "p", None)[0] == pytest.approx(np.linalg.norm(p[:, None] - p[None], axis=2).max(), rel=1e-12)
        _check_pull(p, rng)
    assert straightness(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])) == 0.0 and straightness(np.ones((1, 2))) == 0.0
    assert np.isnan(straightness(np.zeros((0, 2))))


def test_straightness_in_space_is_the_narrowest_cylinder() -> None:
    rng = np.random.default_rng(1)
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    angle = 2 * np.pi * np.arange(60) / 30
    round_ = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), np.where(angle < 2 * np.pi, -2.0, 2.0)], axis=1) @ turned + [1, 2, 3]
    assert straightness(round_) == pytest.approx(0.2, rel=1e-8)
    for _ in range(6):
        p = rng.normal(size=(40, 3)) * [1.0, 0.1, 0.05] @ turned
        width = straightness(p)
        axis = np.linalg.svd(p - p.mean(axis=0))[2][0]
        for scale in (1e-3, 1e-2, 0.1):  # no line beside it is better
            for _ in range(40):
                a = axis + scale * rng.normal(size=3)
                a /= np.linalg.norm(a)
                q = p - p.mean(axis=0) - scale * 0.1 * rng.normal(size=3)
                assert 2 * np.sqrt(((q - np.outer(q @ a, a)) ** 2).sum(axis=1)).max() >= width * (1 - 1e-9)
        _check_pull(p, rng)


def _check_pull(p: np.ndarray, rng: np.random.Generator) -> None:
    way, h = rng.normal(size=p.shape), 1e-7
    rough = (straightness(p + h * way) - straightness(p - h * way)) / (2 * h)
    assert np.sum(straightness_pull(p) * way) == pytest.approx(rough, rel=1e-5, abs=1e-6)  # round-off over h


def test_straightness_of_hoekens_linkage_is_that_of_dense_samples() -> None:
    """Crank 1, ground 2, coupler and rocker 2.5, the point 2.5 beyond the rocker's pin."""
    model = {
        "name": "hoeken",
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [-1, 0], "C": [0.5, 2.0], "D": [2, 0], "P": [2, 4]},
        "bodies": {
            "ground": {"pins": ["A", "D"]},
            "crank": {"pins": ["A", "B"]},
            "coupler": {"pins": ["B", "C"], "points": ["P"]},
            "rocker": {"pins": ["C", "D"]},
        },
        "drive": {"A": "60 rpm"},
    }
    m = lw.load(model)
    texts = [f"straightness coupler.P while {180 - x}..{180 + x} deg" for x in (40, 80)]
    found = [m.cycle(steps=360).measure(text) for text in texts]
    dense = [m.cycle(steps=3600).measure(text) for text in texts]
    assert found == pytest.approx(dense, rel=1e-3)  # extremes of the samples: the square of the step
    p = m.cycle(steps=3600)["coupler.P"]
    inside = np.abs(np.mod(m.cycle(steps=3600)["A"], 2 * np.pi) - np.pi) <= np.radians(40) + 1e-9
    slopes = np.linspace(-1e-3, 1e-3, 2001)
    assert dense[0] == pytest.approx(min(np.ptp(p[inside, 1] - k * p[inside, 0]) / np.hypot(1, k) for k in slopes), rel=1e-4)
    assert dense[0] < 0.01 * np.ptp(p[inside, 0]) and dense[0] < dense[1]


def test_distances_to_points_on_and_off_a_circle(turn, tmp_path: Path) -> None:
    angle = np.radians([3.3, 77.7, 140.2, 251.9, 359.5])  # between samples
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert turn.measure(lw.path_distance("crank.B", R * points)) < 1e-11  # the polynomial between samples four degrees apart
    assert turn.measure(lw.path_distance("crank.B", (R + 0.01) * points)) == pytest.approx(0.01, rel=1e-9)
    off = (R + np.array([0.01, -0.02, 0.0, 0.0, 0.005]))[:, None] * points
    assert turn.measure(lw.path_distance("crank.B", off, worst=True)) == pytest.approx(0.02, rel=1e-9)
    assert turn.measure(lw.path_distance("crank.B", off)) == pytest.approx(np.sqrt((1e-4 + 4e-4 + 2.5e-5) / 5), rel=1e-8)
    timed = lw.path_distance("crank.B", R * points, at=angle + 4 * np.pi, by="A")
    assert turn.measure(timed) < 1e-11
    late = lw.path_distance("crank.B", R * points, at=angle - 0.1, by="A")
    assert turn.measure(late) == pytest.approx(2 * R * np.sin(0.05), rel=1e-8)
    by_time = lw.path_distance("crank.B", R * points[:4], at=angle[:4] / turn["A.v"][0], by="t")
    assert turn.measure(by_time) < 1e-11
    rows = np.column_stack([1000 * off, np.degrees(angle)])
    np.savetxt(tmp_path / "off.csv", rows[:, :2], delimiter=";", header="x [mm];y [mm]", comments="")
    np.savetxt(tmp_path / "timed.csv", rows, delimiter=",", header="x [mm],y [mm],A [deg]", comments="")
    assert turn.measure(f"max distance crank.B to {tmp_path / 'off.csv'}") == pytest.approx(0.02, rel=1e-9)
    assert turn.measure(f"distance of crank.B to '{tmp_path / 'timed.csv'}'") == pytest.approx(
        np.sqrt((1e-4 + 4e-4 + 2.5e-5) / 5), rel=1e-8
    )
    half = turn.measure(f"max distance crank.B to {tmp_path / 'off.csv'} while 100..350 deg")
    assert half == pytest.approx(np.linalg.norm(off[1] - R * np.array([np.cos(np.radians(100)), np.sin(np.radians(100))])), rel=1e-6)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("x [mm],y [mm]\n", "0 rows of numbers"),
        ("x [mm],z [mm]\n1,2\n", "needs columns x and y"),
        ("x [mm],y [mm],A [deg],B [deg]\n1,2,3,4\n", "may have one column"),
        ("x [mm],y [mm],A\n1,2,3\n", "needs a unit"),
        ("x [mm],y [mm],A [kg]\n1,2,3\n", "must be a time, an angle or a length"),
        ("x [mm],y [deg]\n1,2\n", "is in deg"),
        ("x [mm],y [mm]\n1,two\n", "is not a number"),
        ("1,2,3,4\n1,2,3,4\n", "no header"),
        ("x [mm],y [mm],B [deg]\n1,2,3\n", "points are placed by the leading drive 'A' or t, not by 'B'"),
        ("x [mm],y [mm],z [mm]\n1,2,3\n", "has 2 coordinates, the points of"),
        ("x [mm],y [mm],t [s]\n1,2,30\n", "does not come to all positions of t"),
    ],
)
def test_files_of_points_that_cannot_be_used(turn, tmp_path: Path, rows: str, said: str) -> None:
    (tmp_path / "p.csv").write_text(rows)
    with pytest.raises(UsageError, match=said):
        turn.measure(f"distance crank.B to {tmp_path / 'p.csv'}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("strok slide", "Did you mean 'stroke'"),
        ("stroke", "Write stroke CHANNEL"),
        ("dwell slide", "Write dwell CHANNEL within VALUE UNIT"),
        ("dwell slide within 0 mm", "higher than zero"),
        ("dwell slide within 1", "Write the unit of the number after within"),
        ("dwell slide within 1 deg", "another unit"),
        ("dwell slide within 1 mm in kg", "measured in s or in a unit of the drive"),
        ("dwell slide within 1 mm in mm", "the drive 'A' is in rad"),
        ("dwell crank.B within 1 mm", "is a vector"),
        ("time ratio crank.B", "is a vector"),
        ("time ratio slide while 1..2 deg", "covers the whole motion"),
        ("straightness slide", "is not a path of a point"),
        ("distance crank.B", "Write distance POINT to FILE.csv"),
        ("distance crank.B to nothing.csv", "cannot be read"),
        ("range slide while slide 3..2 mm", "is empty"),
        ("range slide while 20..20 deg", "is empty"),
    ],
)
def test_texts_that_are_no_measure_of_this_motion(turn, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        turn.measure(text)


def test_points_and_channels_that_are_wrong(turn) -> None:
    for points, more, said in (
        ([[1, 2], [3]], {}, "rows of two or three numbers"),
        ("p.csv", {}, "rows of two or three numbers"),
        ([[np.nan, 1.0]], {}, "finite"),
        ([[1.0, 2.0]], {"at": [1, 2], "by": "A"}, "2 positions for 1 point(?!s)"),
        ([[1.0, 2.0]], {"at": [1]}, "what they are of"),
    ):
        with pytest.raises(UsageError, match=said):
            lw.path_distance("crank.B", points, **more)
    with refused(ChannelError, name="slid"):
        turn.measure("stroke slid")
    with refused(ChannelError, name="stroke slide"):
        turn.measure("stroke slide", "deg")
    with refused(UsageError, value=3):
        turn.measure(3)


def test_windows_go_through_the_end_of_the_turn(turn) -> None:
    angle, x, t = np.degrees(turn["A"]), turn["slide"], turn["t"]
    inside = (angle >= 300 - 1e-9) | (angle <= 60 + 1e-9)
    far = np.sqrt((L + R) ** 2 - E**2) - 0.25  # crank and rod in line, between two samples; counted from the drawing
    assert turn.measure("range slide while 300..60 deg") == pytest.approx(far - x[inside].min(), rel=1e-11)
    assert turn.measure("start slide while 300..60 deg") == x[75] and turn.measure("end slide while 300..60 deg") == x[15]
    assert turn.measure("start slide while 60..300 deg") == x[15] and turn.measure("end slide while 60..300 deg") == x[75]
    late, early = t >= 0.4, t <= 0.1
    mean = (trapezoid(x[late], t[late]) + trapezoid(x[early], t[early])) / (np.ptp(t[late]) + np.ptp(t[early]))
    assert turn.measure("mean slide while 0.4..0.1 s") == pytest.approx(mean, rel=1e-12)
    both = [turn.measure(f"{word} slide while 300..60 deg") for word in ("stroke", "range")]
    assert both[0] == pytest.approx(both[1], rel=1e-10)  # by rates, of degree five, and by neighbors, of degree eight


def test_ends_of_a_window_lie_between_samples(slider) -> None:
    """Extremes of a window do not depend on the place of the samples: here they are those of the closed form at its ends."""

    def at(angle: float) -> float:
        a = np.radians(angle)
        return R * np.cos(a) + np.sqrt(L**2 - (R * np.sin(a) - E) ** 2) - 0.25

    chord = np.radians(4.0) ** 2 / 8.0 * 1.3 * R  # a straight line over a step of 4 deg; the position falls from 101 to 179 deg
    for begin in ("0 deg", "0.7 deg", "-31.9 deg"):
        c = slider.cycle(steps=90, start=begin)
        for sense, sign in ((c, 1.0), (slider.cycle(steps=90, start=begin, speed="-120 rpm"), -1.0)):
            assert np.sign(sense["A.v"][0]) == sign
            assert sense.measure("range slide while 101..179 deg") == pytest.approx(at(101) - at(179), abs=chord)
            assert sense.measure("max slide while 101..102.5 deg") == pytest.approx(at(101), abs=chord)
            assert sense.measure("min slide while 101..102.5 deg") == pytest.approx(at(102.5), abs=chord)
        when = c["t"][0] + 0.1001
        assert c.measure(f"max slide.v while 0..{when} s") >= c["slide.v"][c["t"] <= when].max()


def test_static_analyses_have_no_rates_to_follow() -> None:
    m = lw.load("punch-press")
    moving, still = m.cycle(), m.cycle(speed=0)
    for text, rough in (
        ("stroke slide", 1e-4),
        ("dwell slide within 1 mm", 1e-3),
        ("time ratio slide", 1e-2),
        ("straightness rod.K", 1e-12),
    ):
        assert still.measure(text) == pytest.approx(moving.measure(text), rel=rough)  # straight lines between samples a degree apart
    assert still.dwells("slide", within="1 mm")[0].length == still.measure("dwell slide within 1 mm")
    mass = next(p.value for p in compiled_of(m.system).chosen(["ram.mass"]))
    assert m.cycles({"ram.mass": [mass]}, speed=0).measure("stroke slide")[0] == pytest.approx(still.measure("stroke slide"), rel=1e-9)


def test_samples_without_a_value_do_not_count() -> None:
    c = lw.load("slider-crank-equal").cycle()
    assert np.isnan(c["C.slide.jerk"]).any()
    assert c.measure("max C.slide.jerk") == np.nanmax(c["C.slide.jerk"]) and np.isfinite(c.measure("rms C.slide.jerk"))


TEXTS = ("stroke slide", "stroke rod.P", "time ratio slide", "dwell slide within 2 mm", "dwell slide within 2 mm in s", "stroke slide.v",
         "dwell slide within 20 mm while 320..100 deg", "straightness rod.P while 20..170 deg", "rms slide.jerk",
         "max slide.advantage while 30..140 deg", "min slide.force_transmission_angle", "min C.transmission_angle",
         "max rod.P.curvature while 20..90 deg", "range slide while 21..98.5 deg", "peak rod.P.v while 21..30 deg")  # fmt: skip


@pytest.fixture(scope="module")
def marked() -> lw.Mechanism:
    return offset_slider(
        bodies={
            "ground": {"pins": ["A"], "points": {"A": [0, 0], "C": [0.25, "e"]}},
            "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": "r"}},
            "rod": {"pins": ["B", "C"], "along": {"B": 0, "C": "l"}, "points": {"P": {"at": [0.08, 0.03]}}},
            "piston": {"pins": ["C"]},
        }
    )


@sweep("text", TEXTS, later=["stroke slide", "dwell slide within 2 mm", "dwell slide within 20 mm while 320..100 deg", "rms slide.jerk"])
def test_slopes_and_many_designs(marked, text: str) -> None:
    _check_measure(marked, measure(text))


@pytest.mark.parametrize("worst", [False, True])
@sweep("timed", [False, True], now=1)
def test_slopes_of_distances(marked, worst: bool, timed: bool) -> None:
    points = np.array([[0.1, 0.05], [0.12, 0.07], [0.05, 0.06], [0.11, -0.03]])
    more = {"at": [0.3, 1.1, 2.0, 4.0], "by": "A"} if timed else {}
    _check_measure(marked, lw.path_distance("rod.P", points, worst=worst, **more))


def _check_measure(m: lw.Mechanism, word: Any) -> None:
    """Exact derivatives against central differences; designs in arrays against single turns."""
    c = m.cycle(steps=180)
    check([word], c)
    exact, h = word.slopes(c, c.derivatives(["r", "l", "e"])), 1e-6
    values = dict(m.description.parameters)
    for k, name in enumerate(("r", "l", "e")):
        ends = [m.with_(**{name: values[name] + s * h}).cycle(steps=180).measure(word) for s in (1.0, -1.0)]
        assert exact[k] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=2e-6, abs=1e-6 * np.abs(exact).max())  # h^2, round-off over h
    turns = m.cycles({"r": [0.04, 0.05, 0.055], "e": [[0.02], [0.03]]}, steps=180)
    many = turns.measure(word)
    assert many.shape == (2, 3) and turns.ok.all()
    for at in ((0, 0), (1, 2)):
        assert many[at] == pytest.approx(turns[at].measure(word), rel=1e-9, abs=1e-12)


def test_slopes_by_the_speed_of_the_drive_stretch_times() -> None:
    m = offset_slider(parameters={"r": R, "l": L, "e": E, "n": "120 rpm"}, drive={"A": "n"})
    c = m.cycle(steps=90)
    d, speed = c.derivatives(["n"]), c["A.v"][0]
    for text, exact in (
        ("dwell slide within 2 mm in s", -c.measure("dwell slide within 2 mm in s") / speed),
        ("dwell slide within 2 mm", 0.0),
        ("stroke slide", 0.0),
        ("time ratio slide", 0.0),
        ("rms slide.jerk", 3 * c.measure("rms slide.jerk") / speed),
        ("time when slide < -50 mm", -c.measure("time when slide < -50 mm") / speed),
    ):
        assert measure(text).slopes(c, d)[0] == pytest.approx(exact, rel=1e-9, abs=1e-9), text


def test_designs_that_fail_have_no_number() -> None:
    m = lw.load("four-bar")
    turns = m.cycles({"L1": [0.3, 0.9]}, steps=60)
    found = turns.measure("stroke D", "deg")
    assert turns.ok.tolist() == [True, False] and np.isfinite(found[0]) and np.isnan(found[1])
    some = m.cycles({"L1": [0.3, 0.31]}, steps=60, read="D")
    with refused(ChannelError, name="D.v"):
        some.measure("stroke D")
    assert m.cycles({"L1": [0.3]}, steps=60, read=["D", "D.v", "D.a"]).measure("stroke D")[0] == turns.measure("stroke D")[0]

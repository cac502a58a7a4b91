"""References against closed forms, scipy and their own differences; on numbers, arrays and traced values alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from linkwright import load
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import interpret
from linkwright.errors import UsageError
from linkwright.model.curves.laws import LAWS
from linkwright.model.curves.references import from_csv, minimum_jerk, read_reference, setpoint, sinusoid, spline, trapezoidal
from tests.refusals import refused

MODEL = load("slider-crank-equal").description
DEG = math.pi / 180.0
T = [0.0, 0.4, 0.5, 1.3, 2.0]
Y = [0.2, 1.0, -0.3, 0.6, 0.2]


def bound(given, kinds=("angle",), now=None, t=0.0):
    return read_reference(given, kinds, now or [0.1 * (i + 1) for i in range(len(kinds))], "the reference", MODEL, t=t)


def jets(path, t):
    """(3, components, times)"""
    return np.array([[np.broadcast_to(x, np.shape(t)) for x in out] for out in path(t)])


def traced(path, size):
    g = TraceGraph()
    outputs = path(g.input("t", 1)[0])
    program = g.program([("f", np.array(outputs, dtype=object))])
    return lambda t: np.moveaxis(interpret(program, np.asarray(t)[:, None]), -1, 0).reshape(3, size, -1)


def by_math(t):  # takes no traced value
    return [math.sin(2.0 * t), 0.3 * t * t]


SMOOTH = {
    "setpoint": (setpoint(["30 deg", "1 cm"]), ("angle", "length")),
    "number": ("30 deg", ("angle",)),
    "minimum jerk": (minimum_jerk(["60 deg", "5 cm"], "1.2 s", at="300 ms"), ("angle", "length")),
    "trapezoidal, thirds": (trapezoidal([1.0, -0.5], 1.5, at=0.2), ("length", "length")),
    "trapezoidal, limits": (trapezoidal([1.0, -0.5], speed=0.9, acceleration="2.5 m/s^2"), ("length", "length")),
    "triangle": (trapezoidal(0.4, speed="2 m/s", acceleration=1.0), ("length",)),
    "natural": (spline(T, np.stack([Y, Y[::-1]], axis=1)), ("angle", "length")),
    "clamped": (spline(T, Y, ends="clamped"), ("length",)),
    "periodic": (spline(T, Y, ends="periodic"), ("length",)),
    "points": ((["0 s", "500 ms", 1.0], ["0 deg", "20 deg", "-5 deg"]), ("angle",)),
    "sinusoid": (sinusoid(["5 mm", "10 deg"], ["0.5 Hz", "3 rad/s"], center=[0.4, 0.0], phase="30 deg"), ("length", "angle")),
    "expression": ("0.1 m * sin(3 rad/s * t) + 2 cm", ("length",)),
    "function": (lambda t: [np.cos(t), 0.2 * t, 0.5], ("length", "length", "angle")),
    "one per component": ([lambda t: t**3, "5 deg", minimum_jerk("1 m", 2.0), ([0, 1], [0, 1])], ("length", "angle", "length", "angle")),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_rates_belong_to_values_and_all_scalars_agree(name):
    given, kinds = SMOOTH[name]
    path = bound(given, kinds)
    assert path.curve.traceable and path.curve.notes == ()
    t = np.linspace(-0.731, 3.217, 143)  # hits no break, where an acceleration may jump
    f, df, ddf = jets(path, t)
    np.testing.assert_allclose(jets(path, np.array([t, t]))[:, :, 1], [f, df, ddf], atol=0.0)
    np.testing.assert_allclose([np.array(path(float(x)), dtype=float) for x in t], np.moveaxis([f, df, ddf], -1, 0), atol=1e-14)
    np.testing.assert_allclose(traced(path, len(kinds))(t), [f, df, ddf], rtol=1e-13, atol=1e-13)
    h = 1e-5  # truncation h^2 f'''/6 with f''' < 1e3, round-off eps/h: 1e-8 both
    on, back = jets(path, t + h), jets(path, t - h)
    np.testing.assert_allclose(df, (on[0] - back[0]) / (2 * h), atol=3e-8)
    np.testing.assert_allclose(ddf, (on[1] - back[1]) / (2 * h), atol=3e-8)


def test_minimum_jerk_begins_where_it_stands_and_has_its_known_peaks():
    path = bound(minimum_jerk("60 deg", "2 s", at=1.0), now=[30 * DEG])
    stroke, T = math.pi / 6, 2.0
    for t, there in ((-5.0, 30 * DEG), (1.0, 30 * DEG), (3.0, 60 * DEG), (50.0, 60 * DEG)):  # at rest, no acceleration: C2
        np.testing.assert_allclose(np.ravel(path(t)), [there, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(np.ravel(path(2.0)), [45 * DEG, 15 / 8 * stroke / T, 0.0], atol=1e-15)
    peak = 10 / math.sqrt(3) * stroke / T**2  # of the acceleration, at (1 - 1/sqrt(3))/2 of the time
    assert path(1.0 + T * (1 - 1 / math.sqrt(3)) / 2)[2][0] == pytest.approx(peak, rel=1e-14)
    assert bound(minimum_jerk(1.0, 1.0, start="-90 deg"))(0.0)[0][0] == pytest.approx(-math.pi / 2)


def test_trapezoidal_moves():
    thirds = bound(trapezoidal(2.0, 3.0), now=[-1.0])
    for t in np.linspace(0.03, 2.97, 50):  # the cam law of the same name, written on its own
        s, ds, dds = LAWS["trapezoidal"](t / 3.0)
        np.testing.assert_allclose(np.ravel(thirds(t)), [-1.0 + 3.0 * s, ds, dds / 3.0], atol=1e-14)
    # 1 m at 0.5 m/s and 2 m/s^2: ramps of 0.25 s (1/16 m each), 1.75 s between; the second component goes half as far
    path = bound(trapezoidal([1.0, -0.5], speed="0.5 m/s", acceleration=2.0, start=[0.0, 0.0]), ("length", "length"))
    np.testing.assert_allclose(path(0.25)[0], [1 / 16, -1 / 32], atol=1e-15)
    np.testing.assert_allclose(path(1.0)[1], [0.5, -0.25], atol=1e-15)
    np.testing.assert_allclose(path(2.1)[2], [-2.0, 1.0], atol=1e-14)
    np.testing.assert_allclose(np.array(path(2.25)), [[1.0, -0.5], [0.0, 0.0], [0.0, 0.0]], atol=1e-15)
    # the slower of two limits decides for both
    slow = bound(trapezoidal([1.0, 1.0], speed=["0.5 m/s", 0.1], acceleration=[2.0, 100.0], start=[0.0, 0.0]), ("length", "angle"))
    assert max(jets(slow, np.linspace(0, 12, 500))[1].ravel()) == pytest.approx(0.1, rel=1e-12)
    # too short for the speed: up for sqrt(d/a), as long down
    short = bound(trapezoidal(0.09, speed=1.0, acceleration=1.0), ("length",), now=[0.0])
    np.testing.assert_allclose(np.ravel(short(0.3)), [0.045, 0.3, -1.0], atol=1e-15)
    np.testing.assert_allclose(np.ravel(short(0.6)), [0.09, 0.0, 0.0], atol=1e-15)
    assert bound(trapezoidal(0.1, speed=1.0, acceleration=1.0), now=[0.1])(0.5) == ([0.1], [0.0], [0.0])


@pytest.mark.parametrize("ends", ["clamped", "periodic"])
def test_splines_with_other_ends(ends):
    known, path = CubicSpline(T, Y, bc_type=ends), bound(spline(T, Y, ends=ends))
    t = np.linspace(0.0, 2.0, 81)[:-1]
    np.testing.assert_allclose(jets(path, t)[:, 0], [known(t), known(t, 1), known(t, 2)], atol=1e-11)
    two = bound(spline([0.0, 1.0], [0.0, 3.0 if ends == "clamped" else 0.0], ends=ends))
    assert two(0.25)[0][0] == pytest.approx(3.0 * (3 * 0.25**2 - 2 * 0.25**3) if ends == "clamped" else 0.0, abs=1e-15)
    if ends == "clamped":
        np.testing.assert_allclose(jets(path, np.array([-1.0, 0.0, 2.0, 9.0]))[:2, 0], [[0.2] * 4, [0.0] * 4], atol=1e-14)
    else:  # whole periods later and earlier, and across the seam without a jump
        np.testing.assert_allclose(jets(path, t + 6.0), jets(path, t), atol=1e-10)
        np.testing.assert_allclose(jets(path, t - 4.0), jets(path, t), atol=1e-10)
        seam = np.array([-2.0, 0.0, 2.0, 4.0])[:, None] + [-1e-12, 0.0, 1e-12]
        assert np.ptp(jets(path, seam)[:, 0], axis=(1, 2)).max() < 1e-9


def test_a_long_curve_is_not_traced():
    t = np.linspace(0.0, 10.0, 401)
    path = bound(spline(t, np.sin(t)))
    assert not path.curve.traceable
    assert path(3.21)[0][0] == pytest.approx(math.sin(3.21), abs=1e-7)  # h^4 5/384
    assert bound(spline(t[:-1], t[:-1])).curve.traceable


def test_a_sinusoid_swings_about_where_it_stands():
    path = bound(sinusoid("5 deg", "2 Hz"), now=[0.7])
    np.testing.assert_allclose(np.ravel(path(0.125)), [0.7 + 5 * DEG, 0.0, -5 * DEG * (4 * math.pi) ** 2], atol=1e-12)
    assert bound(sinusoid(1.0, "30 rpm"))(0.5)[0][0] == pytest.approx(0.1 + 1.0)  # a quarter of a turn


def test_a_function_that_cannot_be_traced():
    path = bound(by_math, ("angle", "length"))
    assert not path.curve.traceable and "numerically" in path.curve.notes[0] and path.text == "by_math"
    t = 0.8
    expected = [[math.sin(1.6), 0.192], [2 * math.cos(1.6), 0.48], [-4 * math.sin(1.6), 0.6]]
    np.testing.assert_allclose(path(t), expected, atol=2e-9)  # round-off eps/h^2 of the second difference
    np.testing.assert_allclose(jets(path, np.array([0.0, t]))[..., 1], expected, atol=2e-9)


CSV = "# made by hand\nt [ms];A [deg];x [mm]\n0;10;5\n\n1000;20;6\n2000;5;5\n"


def test_csv_files(tmp_path):
    file = tmp_path / "path.csv"
    file.write_text(CSV)
    path = bound(from_csv(file), ("angle", "length"))
    np.testing.assert_allclose(path(1.0)[0], [20 * DEG, 0.006], rtol=1e-14)
    np.testing.assert_allclose(jets(path, np.array([-1.0, 0.0, 2.0, 3.0]))[1], 0.0, atol=1e-14)  # clamped
    by_name, by_number = (
        bound(from_csv(file, columns="x", ends="periodic"), ("length",)),
        bound(from_csv(file, columns=[2], unit="cm"), ("length",)),
    )
    assert by_name(3.0)[0][0] == pytest.approx(0.006) and by_number(1.0)[0][0] == pytest.approx(0.06)
    bare = tmp_path / "bare.csv"
    bare.write_text("1.5,0\n45 deg, 1\n.5,2\n")
    assert bound(from_csv(bare, time=1))(1.0)[0][0] == pytest.approx(math.pi / 4)
    bare.write_text("t,lam[0],x (mm),A[deg]\n0,1,2,3\n1,2,3,4\n")
    np.testing.assert_allclose(
        bound(from_csv(bare, columns=["lam[0]", "x", "A[deg]"]), ("length", "length", "angle"))(1.0)[0], [2.0, 0.003, 4 * DEG]
    )
    assert repr(from_csv("a.csv", columns=["x"])) == "lw.control.from_csv('a.csv', columns=('x',))"


@pytest.mark.parametrize(
    ("text", "given", "says"),
    [
        (CSV.replace("20;6", "20;"), {}, "path.csv:5: .*needs column 'x'.*nothing there"),
        (CSV.replace("20;6", "twenty;6"), {}, "path.csv:5: the reference: 'twenty' in column 'A' is not a number of angle"),
        (CSV.replace("20;6", "nan;6"), {}, "path.csv:5: .*not a finite number"),
        (CSV.replace("20;6", "20"), {}, "path.csv:5: the reference: this row has 2 cells, the first row 3"),
        (CSV.replace("2000;", "1000;"), {}, "path.csv:6: .*times must increase, but 1 s follows 1 s"),
        (CSV, {"columns": ["A", "y"]}, r"no single column 'y'. Columns: 0: t \[ms\], 1: A \[deg\], 2: x \[mm\]"),
        (CSV, {"columns": ["A"]}, "needs 2 columns of values, these are 1"),
        (CSV, {"columns": ["x", "A"]}, "column 'x' of .* is in mm, length .*must be angle"),
        (CSV, {"unit": ["deg", "m m"]}, "column 'x'.*m m, area"),
        (CSV, {"ends": "periodic"}, "component 1: a periodic spline ends where it begins"),
        ("t;A;x\n0;1;1\n", {}, "has 1 row of numbers"),
        ("", {}, "has 0 rows of numbers"),
    ],
)
def test_csv_errors_name_the_line(tmp_path, text, given, says):
    (tmp_path / "path.csv").write_text(text)
    with pytest.raises(UsageError, match=says):
        bound(from_csv(tmp_path / "path.csv", **given), ("angle", "length"))


@pytest.mark.parametrize(
    ("given", "kinds", "says"),
    [
        ("3 kg", ("length",), "the reference must be length.*'3 kg' is mass"),
        ("A + 1", ("angle",), "depends on 'A', but a reference depends on t only"),
        ("sqrt(t/1 s)*1 m", ("length",), "rate is inf at t = 0 s"),
        (None, ("angle",), "a number or text with a unit.*not None"),
        (0.3, ("length", "length"), r"needs 2 values \(length, length\).*not 0.3"),
        ([1, 2, 3], ("length", "length"), r"needs 2 values.*\[1, 2, 3\] has 3"),
        (["1 m", "2 s"], ("length", "length"), "component 2 must be length"),
        ([1.0, [2.0]], ("length", "length"), r"component 2 is a number.*not \[2.0\]"),
        (setpoint([1, 2]), ("angle",), r"the set-point needs 1 value \(angle\), not \(1, 2\)"),
        (minimum_jerk([1, "2 kg"], 1), ("angle", "length"), "component 2: to must be length"),
        (minimum_jerk(1, "0 s"), ("angle",), "duration is 0 s. It must be longer"),
        (minimum_jerk(1, "2 m"), ("angle",), "duration must be time"),
        (trapezoidal(1), ("angle",), r"either a duration or both.*lw.control.trapezoidal\(1\)"),
        (trapezoidal(1, 2.0, speed=1.0, acceleration=1.0), ("angle",), "either a duration or both"),
        (trapezoidal(1, speed=1.0), ("angle",), "either a duration or both"),
        (trapezoidal(1, speed=-1.0, acceleration=1.0), ("angle",), "speed is -1. It must be larger"),
        (trapezoidal(1, speed="1 m", acceleration=1.0), ("length",), "speed must be speed"),
        (spline([0, 1], [0, 1], ends="free"), ("angle",), "'natural' or 'clamped' or 'periodic', not 'free'"),
        (spline([0, 1, 1], [0, 1, 2]), ("angle",), "times must increase, but 1 s follows 1 s"),
        (spline([0, 1], [0, 1, 2]), ("angle",), "2 times and 3 values"),
        (spline([0, 1, 2], np.zeros((2, 3))), ("angle", "angle"), "a row per time.*Row 1 of 2 is"),
        (spline(0, 1), ("angle",), "a list of times and a list of values, not 0 and 1"),
        (sinusoid(1, 3), ("angle",), "written in Hz.*not 3"),
        (sinusoid(1, "3 1/s"), ("angle",), "3 rad/s or 3 rev/s"),
        (sinusoid(1, 3.0), ("angle",), "written in Hz"),
        (sinusoid(1, "3 furlong"), ("angle",), "frequency: .*furlong"),
        (from_csv("nowhere.csv"), ("angle",), "'nowhere.csv' cannot be read"),
        (lambda t: [t, t], ("angle",), "must give 1 number, not a list of 2"),
        (lambda t: t, ("angle", "angle"), "must give 2 numbers"),
        (lambda t: "x", ("angle",), "must give one number"),
        (lambda t, st: 0.0, ("angle",), "takes t alone"),
        (lambda t: t * float("inf"), ("angle",), "finite numbers"),
    ],
)
def test_what_is_refused(given, kinds, says):
    with pytest.raises(UsageError, match=says):
        bound(given, kinds, t=0.0)


def test_a_function_that_stops_being_a_number():
    path = bound(lambda t: np.sqrt(1.0 - t))
    with refused(UsageError, name="the reference"):
        path(1.5)
    with refused(UsageError, name="the reference"):
        path(np.array([0.0, 2.0, 3.0]))


def test_how_references_are_shown_and_kept():
    assert repr(minimum_jerk("60 deg", "1 s")) == "lw.control.minimum_jerk('60 deg', '1 s')"
    assert (
        repr(trapezoidal(1.0, speed="2 rpm", acceleration=1, at=0.5))
        == "lw.control.trapezoidal(1.0, speed='2 rpm', acceleration=1, at=0.5)"
    )
    assert repr(spline(T, Y, ends="clamped")) == "lw.control.spline(5 times, 5 values, ends='clamped')"
    assert bound(["5 deg", setpoint("1 m")], ("angle", "length")).text == "(5 deg, lw.control.setpoint('1 m'))"
    values = np.array(Y)
    kept = spline(T, values)
    values[:] = 0.0
    assert bound(kept)(0.4)[0][0] == pytest.approx(1.0)

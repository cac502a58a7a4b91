"""Plots show the channels' numbers in the units of their labels, name everything, and answer wrong requests in one paragraph."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

import linkwright as lw
from linkwright.rings.studio.plots import PLOTS, plot_of
from linkwright.rings.studio.plots.common_parts import angle_ticks, four, parts_of_pi, spread
from linkwright.rings.studio.plots.energies import residuals
from linkwright.rings.studio.plots.paths import heads
from tests.refusals import refused
from tests.sweeps import sweep

MOTOR = {"Kt": 0.1, "R": 0.3, "J": 2e-4, "rated_current": 15, "max_current": 60, "supply_voltage": 48, "max_speed": "5000 rpm"}


@pytest.fixture(scope="module")
def wiper() -> Any:
    return lw.load("wiper").cycle(steps=24)


@pytest.fixture(scope="module")
def run() -> Any:
    return lw.load("wiper").simulate(1, sample_interval=0.025)


@pytest.fixture(scope="module")
def folding() -> Any:
    """A slider-crank with equal links: it folds twice a turn, where branches meet."""
    s = lw.compile("slider-crank-equal")
    start = s.assemble(q={"A": "120 deg"}, v={"A": 3.0})
    return s.simulate(start, 1.5, drive={"A": lw.drives.torque("1 N m")}, sample_interval=0.01)


@pytest.fixture(scope="module")
def controlled() -> Any:
    s = lw.compile("slider-crank-equal")
    control = lw.control.pd({"A": "60 deg"}, P=50, D=10, drives=["A"])
    return s.simulate(s.assemble(q={"A": "30 deg"}), 1, control=control, sample_interval=0.02)


@pytest.fixture(scope="module")
def motors() -> Any:
    m = lw.load("3-rrr-motors")
    drive = {f"A{i}": lw.drives.voltage(f"{u} V*sin(6 rad/s*t)") for i, u in ((1, 20), (2, -14), (3, 9))}
    return m.simulate(0.5, drive=drive, sample_interval=0.01)


def pixels(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), dtype=float)


def curve(axes: Any, number: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Data of the curves with most points, in the order drawn."""
    most = max(len(x.get_xdata()) for x in axes.lines)
    return [x for x in axes.lines if len(x.get_xdata()) == most][number].get_data()


def texts(axes: Any) -> list[str]:
    return [t.get_text() for t in axes.texts]


# ---------------------------------------------------------------- all of them


@sweep("what", PLOTS, later=["overview", "hodograph", "singular"])
def test_every_plot_makes_a_picture(what: str, wiper: Any, folding: Any, controlled: Any, tmp_path: Path) -> None:
    subject = controlled if what == "control" else folding if PLOTS[what].takes == "run" else wiper
    more: dict[str, Any] = {"motor": MOTOR, "gear_ratio": 40} if what == "motor" else {}
    more |= {"title": "A title"} if PLOTS[what].paper else {}
    path = plot_of(subject, None if what == "overview" else what, tmp_path / "p.png", dark=True, size=(6.0, 4.6), **more)
    image = pixels(path)
    assert image[0, 0].max() < 60  # dark paper
    assert 0.005 < float((np.abs(image - image[0, 0]).max(axis=2) > 40).mean()) < 0.6
    common = {"dark", "size", "title"} if PLOTS[what].paper else {"dark", "size"}
    assert PLOTS[what].about and common <= set(PLOTS[what].options)


@pytest.mark.slow
def test_the_same_input_gives_the_same_file(wiper: Any, folding: Any, tmp_path: Path) -> None:
    for what, subject, ending in (("topology", wiper, "svg"), ("gicm", folding, "pdf"), ("A.torque", wiper, "png")):
        first, second = (plot_of(subject, what, tmp_path / f"{n}.{ending}").read_bytes() for n in "ab")
        assert first == second and len(first) > 2000
    assert plot_of(wiper, "path", tmp_path / "a.png", mechanism=False).read_bytes() != first


def test_nothing_global_is_touched(wiper: Any) -> None:
    import matplotlib
    from matplotlib._pylab_helpers import Gcf

    before = dict(matplotlib.rcParams)
    figure = plot_of(wiper, "A.torque", size=(4.0, 2.5))
    assert dict(matplotlib.rcParams) == before and not Gcf.get_all_fig_managers()
    assert tuple(figure.get_size_inches()) == (4.0, 2.5)


def test_mechanisms_systems_and_results_are_plotted(wiper: Any) -> None:
    """A mechanism is turned for its plot: the rocker swings as the cycle at hand says, at finer steps."""
    m = lw.load("wiper")
    x, y = curve(plot_of(m, "rocker.angle").axes[0])
    assert len(x) == 361
    np.testing.assert_allclose(y[::15], np.degrees(wiper["rocker.angle"]), atol=1e-9)
    assert len(plot_of(m.system, "gicm").axes) == len(plot_of(wiper, "gicm").axes) == 2


# ---------------------------------------------------------------- channels


def test_channels_in_the_units_of_the_file(wiper: Any) -> None:
    figure = plot_of(wiper, ["rocker.angle", "coupler.P", "A.torque"])
    top, middle, low = figure.axes
    angle = np.degrees(wiper["rocker.angle"])
    np.testing.assert_allclose(curve(top), [np.degrees(wiper["A"]), angle], rtol=1e-12)
    for k in range(2):
        np.testing.assert_allclose(curve(middle, k)[1], 1000.0 * wiper["coupler.P"][:, k], rtol=1e-12)
    assert [a.get_ylabel() for a in figure.axes] == ["rocker.angle [deg]", "coupler.P [mm]", "A.torque [N m]"]
    assert texts(middle) == ["coupler.P.x", "coupler.P.y"]
    assert low.get_xlabel() == "A [deg]" and set(np.diff(low.get_xticks())) == {30.0}
    over = plot_of(wiper, "coupler.P.ay", over="t").axes[0]
    assert over.get_xlabel() == "t [s]" and over.get_ylabel() == "coupler.P.ay [m/s²]"


def test_names_of_curves_keep_apart() -> None:
    """Six angular speeds that meet at one place: their names, as drawn, do not touch and stand in the order of the curves."""
    c = lw.load("carpet-scraper").cycle(steps=36)
    names = [f"{b}.angle.v" for b in ("rocker", "coupler", "link5", "link7", "arm", "tool")]
    figure = plot_of(c, names)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    ends = {n: curve(axes, k)[1][-1] for k, n in enumerate(names)}
    boxes = sorted(((t.get_text(), t.get_window_extent(), t.get_position()[1]) for t in axes.texts), key=lambda b: b[1].y0)
    ends = {n: round(y, 9) for n, y in ends.items()}  # some are equal up to round-off
    assert [round(ends[b[0]], 9) for b in boxes] == sorted(ends.values())
    for below, above in itertools.pairwise(boxes):
        # a point of overlap is the height of descenders, which these names do not have
        assert above[1].y0 > below[1].y0 + 0.75 * below[1].height
    assert all(b[1].x1 <= figure.bbox.x1 + 1.0 for b in boxes)
    leaders = [t.arrow_patch.get_window_extent().x1 for t in axes.texts if t.arrow_patch is not None]
    assert leaders and max(leaders) < min(Text.get_window_extent(t).x0 for t in axes.texts) + 1.0, "a leader ends before the names begin"


def test_spreading_moves_as_little_as_possible() -> None:
    np.testing.assert_allclose(spread(np.array([10.0, 10.0, 30.0]), 4.0, 0.0, 100.0), [8.0, 12.0, 30.0])
    np.testing.assert_allclose(spread(np.array([1.0, 0.0]), 4.0, 0.0, 100.0), [4.0, 0.0])  # kept inside, in order
    assert [parts_of_pi(x * np.pi) for x in (0.0, 0.5, -1.5, 2.0, 1 / 6)] == ["0", "π/2", "−3π/2", "2π", "π/6"]


def test_two_runs_are_compared_at_equal_times(run: Any) -> None:
    light = lw.load("wiper", gravity=0).simulate(1, sample_interval=0.04)
    figure = plot_of(run, "A.torque", other={"no gravity": light})
    np.testing.assert_allclose(curve(figure.axes[0])[1], run["A.torque"])
    dashed = next(x for x in figure.axes[0].lines if x.get_linestyle() == "--")
    np.testing.assert_allclose(dashed.get_ydata(), light["A.torque"])
    both = lw.load("wiper", gravity=0).simulate(1, sample_interval=0.025)
    gap = curve(plot_of(run, "rocker.angle", other=light).axes[1])[1]
    # the same motion, prescribed: read between samples 40 ms apart by a quintic, good to 1e-6 degrees
    assert np.abs(gap).max() < 1e-6
    np.testing.assert_allclose(curve(plot_of(run, "A.torque", other=both).axes[1])[1], both["A.torque"] - run["A.torque"], atol=1e-12)
    assert [t.get_text() for t in figure.axes[0].get_legend().get_texts()] == ["this run", "no gravity"]


# ---------------------------------------------------------------- runs


@pytest.mark.slow
def test_runs_are_drawn_over_time_and_turns_over_the_crank(run: Any, wiper: Any) -> None:
    for what in ("overview", "torque", "loads"):
        assert plot_of(run, what).axes[-1].get_xlabel() == "t [s]"
        assert plot_of(wiper, what).axes[-1].get_xlabel() == "A [deg]"
    np.testing.assert_array_equal(curve(plot_of(run, "torque").axes[0])[0], run.t)
    assert plot_of(run, "overview", over="A").axes[-1].get_xlabel() == "A [deg]"


@pytest.mark.parametrize("span", [350.0, 20000.0, 3.6e6, 7e12])
@pytest.mark.filterwarnings("error")
def test_ticks_of_long_angles_stay_few(span: float, caplog: Any) -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    axes.set_xlim(0.0, span)
    angle_ticks(axes.xaxis, "deg", span)
    axes.figure.draw_without_rendering()
    inside = [x for x in axes.get_xticks() if 0.0 <= x <= span]
    assert 4 <= len(inside) <= 13 and not caplog.records
    assert (inside[1] - inside[0]) % (30.0 if span < 360.0 else 1800.0) == 0.0


@pytest.mark.parametrize("size", [None, (3.6, 3.4)])
def test_long_names_of_loads_stay_on_the_page(wiper: Any, size: Any, tmp_path: Path, monkeypatch: Any) -> None:
    from linkwright.rings.studio import style

    seen: list[Any] = []
    monkeypatch.setattr(style, "write", lambda figure, path, dpi=160: (seen.append(figure), path.write_bytes(b"x")))
    plot_of(wiper, "loads", tmp_path / "l.png", size=size)
    (figure,) = seen
    figure.draw_without_rendering()
    made = figure.axes[0].get_legend() or figure.legends[0]
    box = made.get_window_extent()
    assert box.x0 >= 0.0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0.0
    assert figure.dpi == 160


def test_round_off_is_written_as_zero() -> None:
    x = np.array([-5.924e-23, 90.0, 360.0])
    assert [four(v, x) for v in x] == ["0", "90", "360"]
    assert four(-2e-3, x) == "-0.002"


def test_energy_adds_up(run: Any) -> None:
    stored, moved = plot_of(run, "energy").axes
    parts = [line.get_ydata() for line in stored.lines]
    np.testing.assert_allclose(parts[0] + parts[1], parts[2], rtol=1e-12)
    np.testing.assert_allclose(parts[0], run["energy.kinetic"])
    work, change = (x.get_ydata() for x in moved.lines if len(x.get_xdata()) == len(run))
    # 1e-6 J of 5 J turned over: the energy balance of the certificate
    np.testing.assert_allclose(work, change, atol=1e-6)
    assert texts(moved) == ["work of drives", "change of total"]


def test_rotors_store_energy_too(motors: Any) -> None:
    stored, moved = plot_of(motors, "energy").axes
    spinning = stored.lines[3].get_ydata()
    speeds = np.array([motors[f"motor.A{i}.speed"] for i in (1, 2, 3)])
    np.testing.assert_allclose(spinning, 0.5 * 0.01 * np.sum(speeds**2, axis=0), rtol=1e-9)  # J of the plate, shaft speeds
    work, change = (x.get_ydata() for x in moved.lines if len(x.get_xdata()) == len(motors))
    assert np.abs(work).max() > 1.0
    np.testing.assert_allclose(work, change, atol=1e-6 * np.abs(work).max())


def test_drift_is_the_gap_of_the_cut_pin() -> None:
    """Without a stabilizer the pin C opens: its two eyes are apart by what the plot shows, in units of the size."""
    loose = lw.load("wiper").simulate(3, stabilizer="none", integrator="rk4", step=0.02, sample_interval=0.06)
    gap = np.abs(loose["coupler.C"] - loose["rocker.C"]).max(axis=1) / loose.frame.kappa
    assert gap.max() > 1e-6
    figure = plot_of(loose, "drift")
    shown = curve(figure.axes[0])[1]
    seen = ~np.isnan(shown)
    # the loop's rows are along the axes of a body: turned by it, the largest component differs by at most sqrt(2)
    assert np.all(shown[seen] <= np.sqrt(2) * gap[seen] + 1e-15) and np.all(gap[seen] <= np.sqrt(2) * shown[seen] + 1e-15)
    assert figure.axes[0].get_yscale() == "log" and len(figure.axes) == 3
    certificate = loose.certificate
    position, velocity = residuals(loose)
    # the certificate takes the largest over the steps, of which the samples are every third
    assert 0.3 < position.max() / certificate.position_residual <= 1.0 + 1e-9
    assert 0.3 < velocity.max() / certificate.velocity_residual <= 1.05


def test_singular_values_with_passages(folding: Any) -> None:
    values, determinants = plot_of(folding, "singular").axes
    assert values.get_yscale() == "log"
    np.testing.assert_allclose(curve(determinants)[1], folding["det.dependent"])
    lines = sorted({float(x.get_xdata()[0]) for x in values.lines if len(x.get_xdata()) == 2})
    # equal links fold where the crank stands upright: A = 270 and 450 degrees
    upright = [float(np.interp(np.radians(a), folding["A"], folding.t)) for a in (270.0, 450.0)]
    np.testing.assert_allclose(lines, upright, atol=1e-4)  # between samples 10 ms apart, by straight lines
    told = next(t for t in texts(determinants) if "branches meet" in t)
    assert told.count("\n") == 1 and "no meaning there: C.ty" in told and {"1", "2"} < set(texts(values))


def test_events_are_flagged() -> None:
    top = lw.events.when("A", "2 rad", name="passes 2 rad")
    run = lw.load("wiper").simulate(0.6, events=[top], sample_interval=0.02)
    axes = plot_of(run, ["A", "A.torque"]).axes
    (event,) = run.events
    assert "passes 2 rad" in texts(axes[0])
    for panel in axes:
        assert any(len(x.get_xdata()) == 2 and x.get_xdata()[0] == pytest.approx(event.time) for x in panel.lines)
    assert "passes 2 rad" not in texts(plot_of(run, ["A", "A.torque"], marks=False).axes[0])


def test_phase_portraits(run: Any) -> None:
    first, second = plot_of(run, "phase", channels=["rocker.angle", "coupler.angle"]).axes
    np.testing.assert_allclose(curve(first), [np.degrees(run["rocker.angle"]), run["rocker.angle.v"] * 30.0 / np.pi], rtol=1e-12)
    assert first.get_xlabel() == "rocker.angle [deg]" and first.get_ylabel() == "rocker.angle.v [rpm]"
    assert second.get_legend() is not None
    assert "A.v" not in plot_of(run, "phase").axes[0].get_ylabel()  # its speed is constant: a straight line tells nothing


def test_motors_within_their_limits(motors: Any) -> None:
    axes = plot_of(motors, "motor", drive="A1").axes[0]
    drawn = {x.get_label(): x for x in axes.lines}
    speed, torque = drawn["path of the run"].get_data()
    np.testing.assert_allclose(speed, motors["motor.A1.speed"])
    np.testing.assert_allclose(torque, 3.0 * motors["motor.A1.current"])
    w, top = drawn["limit of voltage and current"].get_data()
    np.testing.assert_allclose(top, 3.0 * (34.0 - 0.1 * w) / 3.0)  # Kt (u - Ke w) / R
    volts = np.abs(motors["motor.A1.voltage"]).max()
    assert f"up to {volts:.4g} of 34 V" in axes.get_title("left")
    assert len(plot_of(motors, "motor").axes) == 3


# ---------------------------------------------------------------- wrong requests


def test_wrong_requests_are_answered(wiper: Any, run: Any) -> None:
    wrong: list[tuple[Any, Any, dict[str, Any], str]] = [
        (wiper, "torqe", {}, "Did you mean 'torque'"),
        (wiper, "rocker.angel", {}, "Did you mean 'rocker.angle'"),
        (wiper, "singular", {}, "simulate"),
        (lw.load("wiper"), "singular", {}, r"m\.simulate"),
        (wiper, "energy", {"color": 1}, "no option 'color'"),
        (wiper, 3, {}, "from overview"),
        (wiper, "A", {"size": 3}, "inches"),
        (wiper, "overview", {"size": (1.1, 1.1)}, "no room"),
        (wiper, "A", {"over": "coupler.P"}, "2 components"),
        (wiper, "A", {"over": "bogus"}, "no channel"),
        (wiper, "phase", {"channels": "coupler.P"}, "more than one"),
        (wiper, "path", {"points": "coupler.Q"}, "Did you mean 'coupler.P'"),
        (wiper, "hodograph", {"pin": "C", "on": "crank"}, "does not join"),
        (wiper, "motor", {}, "no motor"),
        (wiper, "A", {"other": 3}, "run to compare"),
        (wiper[:1], "A", {}, "one sample"),
        (3, "A", {}, "not of int"),
        (lw.load("stewart").cycle(steps=2), "hodograph", {}, "planar"),
        (lw.load("wiper").simulate(0.1, drive={}), "torque", {}, "nothing drives"),
    ]
    for subject, what, options, match in wrong:
        with pytest.raises(lw.LinkwrightError, match=match) as caught:
            plot_of(subject, what, **options)
        assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


def test_without_masses_there_are_no_loads() -> None:
    bare = {
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [1, 2], "C": [4, 3], "D": [4, 0]},
        "bodies": {
            "ground": {"pins": ["A", "D"]},
            "crank": {"pins": ["A", "B"]},
            "coupler": {"pins": ["B", "C"]},
            "rocker": {"pins": ["C", "D"]},
        },
        "drive": {"A": "60 rpm"},
    }
    c = lw.load(bare).cycle(steps=8)
    for what in ("torque", "loads", "hodograph", "energy"):
        with refused(lw.UsageError, name="mass"):
            plot_of(c, what)
    with refused(lw.UsageError, name="mechanism"):
        plot_of(c, "path")
    assert len(plot_of(c, "drift").axes) == 2  # loops, but no energy


def test_heads_are_on_the_curve_and_a_point_at_rest_has_none() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    heads(axes, np.full((5, 2), 0.3), "red", (0.2, 0.5))
    assert not axes.texts
    corner = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]])  # 4 long
    heads(axes, corner, "red", (0.5, 0.9))
    assert [x.xy for x in axes.texts] == [pytest.approx((2.0, 0.0)), pytest.approx((3.0, 0.6))]  # at halves and nine tenths of the way
    heads(axes, corner, "red", (0.5,), (1.0, 0.1))  # the second axis counts ten times: 3 and 10
    assert axes.texts[-1].xy == pytest.approx((3.0, 0.35))
    tails = [np.subtract(x.xy, x.xyann) for x in axes.texts]
    assert all(np.linalg.norm(d) > 0.0 for d in tails) and tails[0][0] > 0.0 and tails[1][1] > 0.0  # forwards

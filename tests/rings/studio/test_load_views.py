"""Free bodies are in balance and drawn to scale; load plots show the channels' numbers in the file's units."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings import cli
from linkwright.rings.studio.free_body import FreeBody, free_body
from linkwright.rings.studio.plots import efforts, hodographs, motors
from linkwright.rings.studio.plots.hodographs import round_places
from tests.refusals import refused
from tests.sweeps import every_model, sweep

G = 9.81
MOTOR = {"Kt": 0.1, "R": 0.3, "J": 2e-4, "rated_current": 15, "max_current": 60, "supply_voltage": 48, "max_speed": "5000 rpm"}


def pixels(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), dtype=float)


@pytest.fixture(scope="module")
def scraper() -> Any:
    return lw.load("carpet-scraper").cycle(steps=24)


@pytest.fixture(scope="module")
def wiper() -> Any:
    return lw.load("wiper").cycle(steps=24)


# ---------------------------------------------------------------- the free body's numbers


def assert_balanced(fb: FreeBody) -> None:
    """Sums taken here, with moments about the world's origin instead of the center of mass."""
    force = sum(r.force for r in fb.rows)
    moment = sum(r.moment + np.cross(r.at, r.force) for r in fb.rows)
    largest = max(np.linalg.norm(r.force) for r in fb.rows)
    turning = max(np.linalg.norm(r.moment + np.cross(r.at, r.force)) for r in fb.rows)
    assert np.abs(force).max() <= 1e-9 * largest and np.abs(moment).max() < 1e-9 * max(turning, 1e-300)
    assert fb.residual < 1e-9


@pytest.mark.parametrize("at", ["0 deg", "57 deg", "156 deg", "300 deg"])
def test_every_body_of_the_scraper_is_in_balance(scraper: Any, at: str) -> None:
    for body in scraper.skel.tree.description.bodies[1:]:
        fb = free_body(scraper, body.name, at)
        assert_balanced(fb)
        assert {r.name for r in fb.rows} >= {"weight", "inertia"}


@pytest.mark.parametrize("name", every_model("bennett", "carpet-scraper", "excavator", "rssr", without=("parallelogram-chain",)))
def test_bodies_of_every_model_are_in_balance(name: str) -> None:
    """Springs, gas struts, loads, rods, cylinders, sliders and joints in space; the chain starts where its drive cannot hold it."""
    c = lw.load(name).cycle(steps=4)
    for body in c.skel.tree.description.bodies[1:]:
        assert_balanced(free_body(c, body.name))


def test_weight_and_inertia_are_newtons(wiper: Any) -> None:
    """The rocker about D: inertia force -m a_G from the rates of its angle, moment -I alpha; weight m g."""
    fb = free_body(wiper, "rocker", "200 deg")
    rows = {r.name: r for r in fb.rows}
    c = lw.load("wiper").cycle(steps=360)
    k = int(np.argmin(np.abs(c["A", "deg"] - 200.0)))
    st = lw.compile(lw.load("wiper")).assemble(q={"A": "200 deg"}, v={"A": "45 rpm"})
    angle, w = float(st["rocker.angle"]), float(st["rocker.angle.v"])
    alpha = float(np.interp(200.0, c["A", "deg"][k - 1 : k + 2], c["rocker.angle.a"][k - 1 : k + 2]))
    drawn = np.arctan2(0.75, -0.095)
    r = np.array([-0.05, 0.38])  # center of mass from D, as drawn
    turn = angle - drawn
    r = np.array([np.cos(turn) * r[0] - np.sin(turn) * r[1], np.sin(turn) * r[0] + np.cos(turn) * r[1]])
    a = alpha * np.array([-r[1], r[0]]) - w**2 * r
    np.testing.assert_allclose(rows["weight"].force[:2], [0.0, -0.8 * G], atol=1e-12)
    # 1e-4: the angular acceleration is interpolated between two samples one degree apart
    np.testing.assert_allclose(rows["inertia"].force[:2], -0.8 * a, atol=1e-4)
    assert rows["inertia"].moment[2] == pytest.approx(-0.04 * alpha, abs=1e-4)
    np.testing.assert_allclose(fb.com[:2], np.array([1.0, 0.0]) + r, atol=1e-9)


def test_pins_push_as_the_loads_say(scraper: Any) -> None:
    fb = free_body(scraper, "coupler", at=float(scraper["J1"][7]))
    for pin in ("A", "B", "S"):
        row = next(r for r in fb.rows if r.name == pin)
        np.testing.assert_array_equal(row.force, scraper._each_loads[7].on(pin, "coupler").force)
        np.testing.assert_allclose(row.at[:2], scraper[f"coupler.{pin}"][7], atol=1e-12)


def test_between_samples_the_position_is_exact(wiper: Any) -> None:
    fine = lw.load("wiper", start={"A": "60 deg"}).cycle(steps=4)  # its first sample is at 60 deg
    exact = free_body(fine, "coupler", "60 deg")
    between = free_body(wiper, "coupler", "60 deg")  # this turn starts at 60.018 deg
    assert between.where == exact.where == "A = 60 deg"
    for a, b in zip(exact.rows, between.rows, strict=True):
        # 1e-8 N of 10 N: two assemblies of the same position
        np.testing.assert_allclose(a.force, b.force, atol=1e-8)
    assert free_body(wiper, "coupler", "420 deg").rows[0].force == pytest.approx(exact.rows[0].force, abs=1e-8)


def test_times_and_given_loads(wiper: Any) -> None:
    assert free_body(wiper, "rocker", "0.5 s").where == "t = 0.5 s"
    s = lw.compile(lw.load("wiper"))
    st = s.assemble(q={"A": 1.0}, v={"A": 4.7})
    assert_balanced(free_body(s.inverse(st), "coupler"))
    # a wrench given to the inverse is one of the forces
    given = free_body(s.inverse(st, wrench={"rocker": [0, 0, 2.0, 5.0, -3.0, 0]}), "rocker")
    assert_balanced(given)
    extra = next(r for r in given.rows if "given" in r.name)
    np.testing.assert_allclose([extra.force[0], extra.force[1], extra.moment[2]], [5.0, -3.0, 2.0], atol=1e-9)


def test_drives_act_on_both_bodies_of_a_cylinder() -> None:
    c = lw.load("excavator").cycle(steps=6)
    rod, barrel = (next(r for r in free_body(c, b).rows if r.name == "drive J10") for b in ("boom_rod", "boom_barrel"))
    np.testing.assert_allclose(rod.force, -barrel.force, rtol=1e-12)
    assert np.linalg.norm(rod.force) == pytest.approx(abs(c["J10.force"][0]), rel=1e-12)


def test_gears_springs_and_friction_are_forces_like_others() -> None:
    """A gear pair with a torsion spring, a damper, friction by load and a load: everything is listed, everything adds up."""
    c = lw.load(
        {
            "name": "gears",
            "plane": "xy",
            "gravity": [0, -G],
            "drawing": {"A": [0, 0], "B": [0.3, 0], "P": [0.05, 0.05], "Q": [0.4, 0.1]},
            "bodies": {
                "ground": {"pins": ["A", "B"]},
                "pinion": {"pins": ["A"], "points": ["P"], "mass": 2, "inertia": 0.01},
                "wheel": {"pins": ["B"], "points": ["Q"], "mass": 5, "inertia": 0.1},
            },
            "gears": {"teeth": {"joints": ["A", "B"], "radii": [0.1, 0.2]}},
            "springs": {"coil": {"joint": "B", "stiffness": "3 N m/rad", "free_position": 0.2}},
            "dampers": {"oil": {"joint": "B", "coefficient": "0.5 N m s/rad"}},
            "friction": {"rub": {"joint": "A", "mu": 0.1, "radius": 0.01}},
            "loads": {"pull": {"on": "wheel.Q", "force": [10, -40]}},
            "drive": {"A": "60 rpm"},
        }
    ).cycle(steps=12)
    pinion, wheel = free_body(c, "pinion", 0.7), free_body(c, "wheel", 0.7)
    assert_balanced(pinion)
    assert_balanced(wheel)
    assert {r.name for r in wheel.rows} == {"B", "coil", "oil", "pull", "teeth", "weight", "inertia"}
    one, two = (next(r for r in fb.rows if r.name == "teeth") for fb in (pinion, wheel))
    np.testing.assert_allclose(one.force, -two.force, atol=1e-12)
    np.testing.assert_allclose(one.at[:2], [0.1, 0.0], atol=1e-12)  # the pitch point
    # tooth force: the separating part is tan(20 deg) of the driving part, along the line of centers
    assert abs(one.force[0]) == pytest.approx(abs(one.force[1]) * np.tan(np.radians(20)), rel=1e-9)
    oil = next(r for r in wheel.rows if r.name == "oil")
    assert abs(oil.moment[2]) == pytest.approx(0.5 * np.pi, rel=1e-9)  # half the pinion's 2 pi rad/s
    pin = np.linalg.norm(next(r for r in pinion.rows if r.name == "A").force)
    rub = next(r for r in pinion.rows if r.name.startswith("friction"))
    assert rub.moment[2] == pytest.approx(-0.1 * 0.01 * pin, rel=1e-9)


def test_table_and_data(wiper: Any) -> None:
    fb = wiper.free_body("coupler", "60 deg")
    text = str(fb)
    assert text.splitlines()[0].startswith("coupler at A = 60 deg") and text.splitlines()[-1].startswith("sum")
    assert set(text.splitlines()[-1].split()[1:]) == {"0.0000"}
    data = fb.as_dict()
    json.dumps(data)
    assert [x["kind"] for x in data["actions"]] == ["pin", "pin", "weight", "inertia"] and data["sum"]["residual"] < 1e-9


@pytest.mark.parametrize(
    ("body", "at", "said"),
    [
        ("copler", None, "Did you mean 'coupler'"),
        ("ground", None, "shaking force"),
        ("coupler", "5 mm", "mm"),
        ("coupler", "7 s", "outside the cycle"),
    ],
)
def test_wrong_free_bodies_are_answered(wiper: Any, body: str, at: Any, said: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=said):
        free_body(wiper, body, at)


def test_a_place_passed_twice_needs_a_time() -> None:
    c = lw.load("door").cycle(steps=8)
    if np.all(np.diff(c["H1"]) > 0):
        assert free_body(c, "door", "0.5 rad").residual < 1e-9
    else:
        with refused(lw.LinkwrightError, name="0.5 rad"):
            free_body(c, "door", "0.5 rad")


# ---------------------------------------------------------------- drawings


def test_arrows_are_to_scale(scraper: Any) -> None:
    """Heads of the arrows in the figure: their distance from the pins is proportional to the forces."""
    from matplotlib.patches import Circle, Polygon

    fb = free_body(scraper, "coupler", "0 deg")
    axes = fb.plot().axes[0]
    lines = [np.column_stack(x.get_data()) for x in axes.lines if x.get_zorder() == 50]
    heads = [p.get_xy() for p in axes.patches if isinstance(p, Polygon) and p.get_zorder() == 51]
    lengths = sorted(float(np.linalg.norm(head[0] - line[0])) for line, head in zip(lines, heads, strict=True))
    sizes = sorted(float(np.linalg.norm(r.force)) for r in fb.rows)[-len(lengths) :]
    np.testing.assert_allclose(np.array(lengths) / lengths[-1], np.array(sizes) / sizes[-1], rtol=1e-9)
    centers = np.array([p.center for p in axes.patches if isinstance(p, Circle) and p.get_zorder() == 40])
    for pin in ("A", "B", "S"):
        assert np.linalg.norm(centers - scraper[f"coupler.{pin}"][0], axis=1).min() < 1e-9
    texts = [t.get_text() for t in axes.texts]
    for r in fb.rows:
        if r.kind == "pin":
            assert any(t.startswith(f"{r.name} {np.linalg.norm(r.force):.0f} N") for t in texts)


def test_the_force_polygon_closes(scraper: Any) -> None:
    from matplotlib.patches import Polygon

    fb = free_body(scraper, "tool", "156 deg")
    axes = fb.plot().axes[1]
    tails = [np.column_stack(x.get_data())[0] for x in axes.lines if x.get_zorder() == 50]
    tips = [p.get_xy()[0] for p in axes.patches if isinstance(p, Polygon) and p.get_zorder() == 51]
    assert len(tails) == len(fb.rows)
    for tip, tail in zip(tips, tails[1:] + tails[:1], strict=True):
        assert np.linalg.norm(tip - tail) < 1e-9 * max(np.linalg.norm(r.force) for r in fb.rows)


@sweep(
    ("name", "body"),
    [
        ("boot-lid", "lid"),
        ("wiper", "crank"),
        ("rssr", "coupler"),
        ("punch-press", "ram"),
        ("stewart", "platform"),
    ],
    now=1,
)
def test_free_bodies_draw(name: str, body: str, tmp_path: Path) -> None:
    path = tmp_path / "fb.png"
    lw.load(name).cycle(steps=4).free_body(body).plot(path)
    image = pixels(path)
    assert 0.01 < (np.abs(image - 255.0).max(axis=2) > 30).mean() < 0.4


@pytest.mark.slow
def test_the_same_free_body_is_the_same_file(wiper: Any, tmp_path: Path) -> None:
    one, two = tmp_path / "1.svg", tmp_path / "2.svg"
    fb = wiper.free_body("rocker", "100 deg")
    fb.plot(one)
    fb.plot(two)
    assert one.read_bytes() == two.read_bytes() and b"weight" not in fb._repr_png_()[:8]
    assert fb._repr_png_()[1:4] == b"PNG"


# ---------------------------------------------------------------- plots


def test_torque_plot_shows_the_channel(wiper: Any) -> None:
    figure = efforts.torque(wiper)
    axes = figure.axes[0]
    curve = max(axes.lines, key=lambda x: len(x.get_xdata()))
    np.testing.assert_allclose(curve.get_xdata(), wiper["A", "deg"])
    np.testing.assert_allclose(curve.get_ydata(), wiper["A.torque"])
    title = axes.get_title("left")
    y = wiper["A.torque"]
    assert f"max {float(f'{y.max():.4g}'):g} N m" in title and f"min {float(f'{y.min():.4g}'):g} N m" in title
    rms = float(np.sqrt(np.mean(y[1:] ** 2)))  # one period at equal steps
    assert f"RMS {float(f'{rms:.4g}'):g} N m" in title
    assert axes.get_ylabel() == "A.torque [N m]" and figure.axes[1].get_xlabel() == "A [deg]"


def test_pin_loads_are_ranked_and_labeled(scraper: Any) -> None:
    axes = efforts.pin_loads(scraper).axes[0]
    labels = [t.get_text() for t in axes.get_legend().get_texts()]
    assert labels[0].startswith(("O2 on rocker", "B on rocker")) and all(x.endswith(" N") for x in labels)
    largest = [float(x.rsplit(":")[1].split()[0]) for x in labels]
    assert largest == sorted(largest, reverse=True)


def test_hodograph_turns_with_the_frame(wiper: Any) -> None:
    """The same force in the axes of coupler and rocker: turned by their angles, the size unchanged."""
    figure = hodographs.hodograph(wiper, "C", on="rocker")
    curves = [max(a.lines, key=lambda x: len(x.get_xdata())) for a in figure.axes]
    in_coupler, in_rocker = (np.column_stack(x.get_data()) for x in curves)
    world = wiper["C.on.rocker"]
    for body, seen in (("coupler", in_coupler), ("rocker", in_rocker)):
        angle = wiper[f"{body}.angle"]
        turned = np.column_stack([np.cos(angle), np.sin(angle), -np.sin(angle), np.cos(angle)]).reshape(-1, 2, 2)
        np.testing.assert_allclose(seen, np.einsum("nij,nj->ni", turned, world), atol=1e-9)
    assert all(a.get_aspect() == 1.0 for a in figure.axes) and "[N]" in figure.axes[0].get_xlabel()
    written = [x for _, x in round_places(np.linspace(0.0, 1.2, 241), "s")]
    assert written == ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1", "1.1", "1.2"], "round times"
    assert round_places(np.linspace(12.0, 95.0, 84), "deg")[:2] == [(8, "20"), (18, "30")] and round_places(np.zeros(3), "s") == [(0, "0")]


def test_torque_speed_diagram(scraper: Any, tmp_path: Path) -> None:
    sizing = scraper.drive_sizing(motor=MOTOR, gear_ratio=50, efficiency=0.85)
    axes = motors.torque_speed(sizing).axes[0]
    drawn = {x.get_label(): x for x in axes.lines}
    speed, torque = drawn["cycle"].get_data()
    np.testing.assert_allclose(torque[:-1], sizing.motor_torque)
    assert (speed[0], torque[0]) == (speed[-1], torque[-1])  # closed
    w, peak = drawn["peak"].get_data()
    np.testing.assert_allclose(peak, np.minimum(6.0, 0.1 * (48 - 0.1 * np.asarray(w)) / 0.3), atol=1e-9)
    assert np.max(drawn["continuous"].get_ydata()) == pytest.approx(1.5)
    with refused(lw.LinkwrightError, name="motor"):
        motors.torque_speed(scraper.drive_sizing())
    assert motors.torque_speed(sizing, tmp_path / "ts.png").stat().st_size > 5_000


SEVERAL = [("wiper", None), ("excavator", "20 mm"), pytest.param("stewart", "5 mm", marks=pytest.mark.slow)]


@sweep(("name", "lead"), SEVERAL, now=1)
def test_plots_of_several_drives(name: str, lead: str | None, tmp_path: Path) -> None:
    c = lw.load(name).cycle(steps=6)
    drives = len(c._each_loads[0].tau)
    figure = efforts.torque(c)
    assert len(figure.axes) == min(drives, 6) + 1
    assert efforts.pin_loads(c, tmp_path / "pins.svg").exists()
    assert motors.torque_speed(c.drive_sizing(motor=MOTOR, lead=lead), tmp_path / "ts.pdf").exists()


def test_wrong_plots_are_answered(wiper: Any) -> None:
    with refused(lw.LinkwrightError, name="Z", allowed=("A", "B", "C", "D")):
        hodographs.hodograph(wiper, "Z")
    with refused(lw.LinkwrightError, name="B", allowed=("A",)):
        efforts.torque(wiper, drives=["B"])
    with refused(lw.LinkwrightError, name="plane"):
        hodographs.hodograph(lw.load("rssr").cycle(steps=4), "S")


# ---------------------------------------------------------------- the command line


def test_turn_prints_efforts_and_bearings(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cycle", "wiper", "--steps", "24"]) == 0
    out = capsys.readouterr().out
    c = lw.load("wiper").cycle(steps=24)
    assert str(c.bearings()) in out and "drive torques and forces" in out and "shaking force on the ground up to" in out
    assert f"{c['A.torque'].max():.3f}" in out


def test_turn_without_masses_is_kinematics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "name: k\nplane: xy\ndrawing: {A: [0, 0], B: [1, 0]}\nbodies:\n  ground: {pins: [A]}\n  crank: {pins: [A], points: [B]}\n"
        "drive: {A: 60 rpm}\n"
    )
    plot = tmp_path / "p.png"
    assert cli.main(["cycle", str(path), "--steps", "4", "--plot", str(plot), "-o", str(tmp_path / "k.csv")]) == 0
    assert "kinematics only: no mass given for crank" in capsys.readouterr().out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["k.csv", "m.yaml", "p.png"]
    assert cli.main(["cycle", str(path), "--steps", "4", "--json"]) == 0
    loads = json.loads(capsys.readouterr().out)["loads"]
    assert loads == {"computed": False, "why": "kinematics only: no mass given for crank"}


@pytest.mark.slow
def test_turn_writes_load_plots_and_never_over_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "c.png"
    words = ["cycle", "wiper", "--steps", "12", "--plot", str(plot)]
    assert cli.main(words) == 0
    names = ["c-hodographs.png", "c-loads.png", "c-torque.png", "c.png"]
    assert sorted(p.name for p in tmp_path.iterdir()) == names and all(
        f"wrote {tmp_path / n}" in capsys.readouterr().out for n in names[:1]
    )
    plot.unlink()
    (tmp_path / "c-torque.png").write_text("mine")  # the curves may be written, but not all that comes with them
    assert cli.main(words) == 1 and not plot.exists() and "c-torque.png" in capsys.readouterr().err
    assert cli.main([*words, "--no-loads"]) == 0 and plot.exists()
    assert "kinematics only, as asked for" in capsys.readouterr().out


def test_turn_json_has_loads(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cycle", "carpet-scraper", "--steps", "12", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    loads, channels = data["loads"], data["channels"]
    assert set(loads) == {"computed", "why", "over", "drives", "bearings", "rods", "cams", "shaking", "jumps", "not_known"}
    assert loads["computed"] is True
    assert channels["J1.torque"]["unit"] == "N m"
    assert max(channels["J1.torque"]["values"]) == pytest.approx(loads["drives"][0]["max"], rel=1e-12)
    s = next(x for x in loads["bearings"] if (x["pin"], x["on"]) == ("S", "coupler"))
    assert s["max"] == pytest.approx(max(channels["S.on.coupler.magnitude"]["values"]), rel=1e-12)
    force = np.hypot(*np.array(lw.load("carpet-scraper").cycle(steps=12)["shaking.force"]).T)
    assert loads["shaking"]["force_max"] == pytest.approx(force.max(), rel=1e-9)


REVERSED = {
    "plane": "xy",
    "units": ["mm", "kg", "deg", "rpm"],
    "drawing": {"A": [0, 0], "B": [100, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 0.01}},
    "drive": {"A": "1 rpm"},
}


def test_an_rms_is_drawn_where_it_lies() -> None:
    """A drive whose torque is negative throughout has a positive RMS, in the plot and in the report."""
    from matplotlib.figure import Figure

    from linkwright.rings.studio.report_figures import _extremes

    m = lw.load({**REVERSED, "loads": {"F": {"on": "arm.B", "force": [0, "5 N"]}}})
    c = m.cycle(steps=24, start="-30 deg", stop="30 deg", speed="1 rpm")
    assert c["A.torque"].max() < 0.0
    rms = float(np.sqrt(np.mean(c["A.torque"] ** 2)))  # to 1 %: of samples, not of the mean over time
    drawn = c.plot("torque")
    axes = Figure().add_subplot()
    _extremes(axes, c, c["A"], c["A.torque"], "N m")
    for lines in (drawn.axes[0].lines, axes.lines):
        levels = [float(x.get_ydata()[0]) for x in lines if len(x.get_ydata()) == 2 and len(set(x.get_ydata())) == 1]
        assert any(y == pytest.approx(rms, rel=0.01) for y in levels) and min(levels) >= 0.0

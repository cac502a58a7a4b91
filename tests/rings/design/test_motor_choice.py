"""Motors and gearboxes from a catalog: against the formulas by hand and against single sizings; catalogs with slips in them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import NoMotorError, UsageError
from linkwright.results.trajectory import Trajectory
from linkwright.rings import cli
from linkwright.rings.design import catalog
from linkwright.rings.design.catalog import BUILT_IN, read_catalog
from linkwright.rings.design.motor_choice import choose_motor
from tests.refusals import refused
from tests.rings.cli.schemas import disagreements

pytestmark = pytest.mark.usefixtures("without_curves")

HEAD = (
    "kind, name, rated_torque [N m], max_torque [N m], max_speed [rpm], J [kg cm^2], Kt [N m/A], R [ohm], gear_ratio [-], efficiency [-], "
    "mass [kg], price [-]"
)
SMALL = f"""# two motors, two gearboxes
{HEAD}
motor, weak, 0.05, 0.2, 6000, 0.05, 0.04, 1, , , 0.2, 1
motor, strong, 5, 15, 3000, 4, 0.5, 1.5, , , 5, 4
gearbox, low, 30, 60, , 0.1, , , 5, 0.95, 1, 2
gearbox, high, 40, 80, , 0.2, , , 60, 0.9, 2, 3
"""


@pytest.fixture(scope="module")
def cycle() -> Trajectory:
    return lw.load("wiper").cycle(steps=120)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the built-in catalog, an eighth of its combinations: the same search, sooner."""
    lines = BUILT_IN.read_text().splitlines()
    motors, boxes = ([x for x in lines if x.startswith(kind)] for kind in ("motor", "gearbox"))
    head = [x for x in lines if not x.startswith(("motor", "gearbox"))]
    return saved(tmp_path_factory.mktemp("few"), "\n".join([*head, *motors[::2], *boxes[::4]]))


def saved(folder: Path, text: str) -> Path:
    path = folder / "motors.csv"
    path.write_text(text)
    return path


def test_the_shipped_catalog_is_complete_and_plausible() -> None:
    x = read_catalog()
    assert 30 <= len(x.motors) + len(x.gearboxes) <= 40 and len(x.gearboxes) >= 8
    assert "not of any maker" in BUILT_IN.read_text()
    for m in x.motors:
        rated = m.motor.rated_torque * m.motor.rated_speed
        heat = m.motor.R * (m.motor.rated_torque / m.motor.Kt) ** 2
        assert 0.03 < heat / rated < 0.35, m.name  # losses of the winding at rated power
        assert abs(rated / float(m.name.split()[-4]) - 1.0) < 0.02, m.name  # the power in its name
        volts = m.motor.R * m.motor.rated_torque / m.motor.Kt + m.motor.Ke * m.motor.rated_speed
        assert volts < m.motor.supply_voltage, m.name
    assert all(0.5 < g.efficiency <= 1.0 and g.rated_torque < g.max_torque for g in x.gearboxes)


def test_torque_heat_and_margins_by_hand(cycle: Trajectory, tmp_path: Path) -> None:
    text = "\n".join(line for line in SMALL.splitlines() if "weak" not in line and "high" not in line)
    x = choose_motor(cycle, saved(tmp_path, text))["strong + low"]
    N, e, J = 5.0, 0.95, 4.1e-4
    T, v, a, t = cycle["A.torque"], cycle["A.v"], cycle["A.a"], cycle.t
    torque = np.where(T * v >= 0.0, T / e, T * e) / N + N * J * a
    assert np.allclose(x.sizing.motor_torque, torque, rtol=1e-12, atol=1e-15)
    mean_square = np.sum(0.5 * (torque[1:] ** 2 + torque[:-1] ** 2) * np.diff(t)) / (t[-1] - t[0])
    assert x.heat == pytest.approx(1.5 * mean_square / 0.5**2, rel=1e-12)
    limits = {m.what: m for m in x.margins}
    assert limits["continuous torque (RMS)"].factor == pytest.approx(5.0 / np.sqrt(mean_square), rel=1e-12)
    fine = lw.load("wiper").cycle(steps=4800)
    load = np.where(fine["A.torque"] * fine["A.v"] >= 0.0, fine["A.torque"] / e, fine["A.torque"] * e)
    peak = np.abs(load / N + N * J * fine["A.a"]).max()
    assert limits["peak torque"].need == pytest.approx(peak, rel=1e-6)  # between samples
    assert limits["gearbox peak torque"].factor == pytest.approx(60.0 / np.abs(fine["A.torque"]).max(), rel=1e-6)
    assert x.mass == 6.0 and x.price == 6.0


@pytest.mark.slow
def test_choices_are_those_that_single_sizings_allow(cycle: Trajectory) -> None:
    known = read_catalog()
    found = choose_motor(cycle, top=1000, sort="mass")
    fit = {}
    for m in known.motors:
        for g in (None, *known.gearboxes):
            data = {k: getattr(m.motor, k) for k in ("Kt", "R", "Ke", "rated_torque", "rated_speed", "max_torque", "max_speed", "voltage")}
            ratio, e, J = (1.0, 1.0, 0.0) if g is None else (g.gear_ratio, g.efficiency, g.J)
            s = cycle.drive_sizing(motor={**data, "J": m.motor.J + J}, gear_ratio=ratio, efficiency=e)
            box = g is None or (
                s.load.rms <= g.rated_torque
                and max(abs(s.load.min), abs(s.load.max)) <= g.max_torque
                and np.abs(s.motor_speed).max() <= (g.max_speed or np.inf)
            )
            if s.ok and box:
                mass = m.mass + (0.0 if g is None else g.mass)
                price = m.price + (0.0 if g is None else g.price)
                fit[m.name if g is None else f"{m.name} + {g.name}"] = (s.figures()["heat_mean"], mass, price)
    assert found.suitable == len(fit) and found.tried == len(known.motors) * (1 + len(known.gearboxes))
    shown = {x.name: (x.heat, x.mass, x.price) for x in found.rows}
    for name, figures in shown.items():
        assert figures == pytest.approx(fit[name], rel=1e-9)
    for name, figures in fit.items():  # what is left out is bettered by one that is shown
        if name not in shown:
            assert any(np.all(np.array(s) <= np.array(figures) * (1.0 + 1e-12)) for s in shown.values()), name
    assert [x.mass for x in found.rows] == sorted(x.mass for x in found.rows if x.mass is not None)


def test_sorting_top_and_ratios(cycle: Trajectory, few: Path) -> None:
    for sort in ("heat", "mass", "price"):
        rows = cycle.choose_motor(few, sort=sort, top=5).rows
        assert 1 <= len(rows) <= 5 and [getattr(x, sort) for x in rows] == sorted(getattr(x, sort) for x in rows)
    alone = cycle.choose_motor(few, gearbox=False)
    assert all(x.gearbox is None and x.gear_ratio == 1.0 for x in alone.rows)
    some = cycle.choose_motor(few, gearbox=[12, 40], efficiency=0.9, top=1000)
    assert {x.gear_ratio for x in some.rows} <= {12.0, 40.0} and all(x.sizing.efficiency == 0.9 for x in some.rows)
    assert some.as_dict()["rows"][0]["ok"]


def test_a_rotor_that_must_speed_up_counts_with_the_square_of_the_ratio() -> None:
    """A bar swung by a sine: the torque of the rotor is N J a; the best ratio is that of equal inertias, without losses."""
    bar = {
        "name": "bar", "plane": "xy", "drawing": {"A": [0, 0], "B": [0.4, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "bar": {"pins": ["A"], "points": ["B"], "mass": 3.0}},
        "drive": {"A": {"position": "0.4*sin(6*t)"}},
    }  # fmt: skip
    c = lw.load(bar).cycle(duration=2.0 * np.pi / 6.0, steps=240)
    motor = read_catalog().motors[3].motor
    J_load = 3.0 * 0.4**2 / 3.0
    best = float(np.sqrt(J_load / motor.J))
    found = c.choose_motor(gearbox=[0.5 * best, 0.8 * best, best, 1.3 * best, 2.0 * best], top=1000, sort="heat")
    mine = sorted((x for x in found.rows if x.motor.motor == motor), key=lambda x: x.heat)
    assert mine and mine[0].gear_ratio == pytest.approx(best)


def test_sliders_need_the_lead_of_their_spindle(few: Path) -> None:
    c = lw.load("scissor-lift").cycle(steps=60)
    with refused(UsageError, name="slide"):
        c.choose_motor()
    found = c.choose_motor(few, lead="5 mm", sort="mass")
    x = found.best
    screw = 2.0 * np.pi / 5e-3
    assert x.gear_ratio == pytest.approx(screw * (1.0 if x.gearbox is None else x.gearbox.gear_ratio))
    geared = next((r for r in found.rows if r.gearbox is not None), None)
    if geared is not None:  # behind the gearbox the spindle turns with force times lead over 2 pi
        peak = next(m for m in geared.margins if m.what == "gearbox peak torque")
        assert peak.need == pytest.approx(np.abs(c["slide.force"]).max() / screw, rel=1e-9)
    with refused(UsageError, name="lead"):
        lw.load("wiper").cycle(steps=24).choose_motor(lead="5 mm")


def test_no_motor_is_strong_enough(tmp_path: Path, cycle: Trajectory) -> None:
    text = "\n".join(line for line in SMALL.splitlines() if "strong" not in line and "high" not in line)
    with refused(UsageError, name="A") as said:
        cycle.choose_motor(saved(tmp_path, text))
    assert "of 0.05000 N m" in str(said.value)


def test_a_model_without_masses_says_so() -> None:
    bodies = {"ground": {"pins": ["A", "D"]}, "a": {"pins": ["A", "B"]}, "b": {"pins": ["B", "C"]}, "c": {"pins": ["D", "C"]}}
    drawing = {"A": [0, 0], "B": [0.1, 0.2], "C": [0.7, 0.5], "D": [0.8, 0]}
    c = lw.load({"name": "x", "plane": "xy", "drawing": drawing, "bodies": bodies, "drive": {"A": "60 rpm"}}).cycle(steps=24)
    with refused(UsageError, name="mass"):
        c.choose_motor()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", J [kg cm^2]", ", weight [kg]", "2: there is no column 'weight'"),
        ("rated_torque [N m]", "rated_torque", "2: the column 'rated_torque' has no unit"),
        ("rated_torque [N m]", "rated_torque [kg]", "2: .*rated_torque.* must be torque"),
        ("motor, weak, 0.05", "motor, weak, ", "3: motor 'weak' has no rated_torque"),
        ("motor, weak, 0.05", "motor, weak, abc", "3: .*abc"),
        ("motor, weak, 0.05", "motor, weak, -1", "3: motor 'weak': rated_torque is -1"),
        ("motor, weak, 0.05", "motor, weak, 0.5", "3: .*max_torque is below rated_torque"),
        ("motor, weak", "motor, ", "3: this motor has no name"),
        ("gearbox, low", "gears, low", "5: 'gears' is not a kind of row"),
        ("5, 0.95", "5, 95", "5: .*efficiency is 95"),
        ("0.04, 1, , , 0.2, 1", "0.04, , , , 0.2, 1", "3: motor 'weak' has no Kt and R, or heat"),
        ("motor, weak, 0.05, 0.2,", "motor, weak, 0.05,", "3: this row has 11 cells"),
    ],
)
def test_slips_in_a_catalog_are_named_with_their_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert SMALL.count(old) == 1
    with pytest.raises(UsageError, match=message):
        read_catalog(saved(tmp_path, SMALL.replace(old, new)))


def test_catalogs_without_columns_motors_or_gearboxes(tmp_path: Path, cycle: Trajectory) -> None:
    with refused(UsageError, line=1):
        read_catalog(saved(tmp_path, "name, rated_torque [N m], max_torque [N m], max_speed [rpm]\nx, 1, 2, 3000\n"))
    with refused(UsageError, line=1):
        read_catalog(saved(tmp_path, "1, 2, 3\n"))
    with refused(UsageError, line=1):
        read_catalog(saved(tmp_path, f"{HEAD}\ngearbox, low, 30, 60, , 0.1, , , 5, 0.95, 1, 2\n"))
    with refused(UsageError, file="none.csv"):
        cycle.choose_motor(tmp_path / "none.csv")
    plain = "name, rated_torque [N m], max_torque [N m], max_speed [rpm], J [kg m^2], heat [W]\nbig, 5, 15, 3000, 4e-4, 60\n"
    found = cycle.choose_motor(saved(tmp_path, plain))
    rms = found.best.sizing.rms(found.best.sizing.motor_torque)
    assert found.best.heat == pytest.approx(60.0 * (rms / 5.0) ** 2, rel=1e-12)
    with refused(UsageError, name="big"):
        cycle.choose_motor(tmp_path / "motors.csv", sort="mass")


def test_wrong_options(cycle: Trajectory, few: Path) -> None:
    wrong = [
        ({"sort": "color"}, "cannot be sorted by 'color'"),
        ({"top": 0}, "top is the number of rows"),
        ({"gearbox": []}, "ratios greater than zero"),
        ({"gearbox": [0.0]}, "greater than zero"),
        ({"efficiency": 0.9}, "efficiency is for ratios"),
        ({"gearbox": 5, "efficiency": 2}, "at most 1"),
        ({"drive": "Q"}, "Q"),
    ]
    for options, message in wrong:
        with pytest.raises(UsageError, match=message):
            cycle.choose_motor(**options)
    found = cycle.choose_motor(few, top=2)
    with refused(UsageError, name="motor"):
        found[5]
    with refused(UsageError, name="nothing"):
        found["nothing"]


def test_picture_and_report_take_a_choice(cycle: Trajectory, few: Path, tmp_path: Path) -> None:
    found = cycle.choose_motor(few, sort="mass", top=3)
    figure = found.plot()
    assert found.best.name in [t.get_text() for t in figure.texts] + [figure.get_suptitle(), *(a.get_title("left") for a in figure.axes)]
    assert found.plot(tmp_path / "m.png", index=1).stat().st_size > 5_000
    sizing = cycle.drive_sizing(motor=found.best)
    assert sizing.gear_ratio == found.best.gear_ratio and np.array_equal(sizing.motor_torque, found.best.sizing.motor_torque)


def test_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, few: Path, tmp_path: Path) -> None:
    path = saved(tmp_path, SMALL)
    assert cli.main(["cycle", "wiper", "--steps", "60", "--choose-motor", str(path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    motors = printed["motors"]
    assert not disagreements("cycle", printed)
    assert motors["rows"][0]["motor"] == "strong" and motors["tried"] == 6
    monkeypatch.setattr(catalog, "BUILT_IN", few)
    assert cli.main(["cycle", "wiper", "--steps", "60", "--choose-motor", "--sort", "mass"]) == 0
    out = capsys.readouterr().out
    assert "the best by mass first" in out and "combinations of the built-in catalog are suitable" in out and "Planetary" in out


def test_rows_and_suitable_combinations_add_up(cycle: Trajectory, few: Path) -> None:
    """The text accounts for every suitable combination: listed, bettered by a listed one, or beyond `top`."""
    for top in (3, 1000):
        found = cycle.choose_motor(few, sort="mass", top=top)
        head = str(found).split("\nmotor")[0]
        left, more = found.suitable - found.undominated, found.undominated - len(found)
        assert left > 0 and f"{left} of them are left out: a listed one is better" in head
        assert (f"{more} more could be listed" in head) == (more > 0)
        assert found.as_dict()["undominated"] == found.undominated


WORK = "-40000 N * max(0, min(1, (ram.C.x - 355 mm)/(1 mm))) * max(0, min(1, ram.C.vx/(1 mm/s)))"
PRESS: dict[str, object] = {
    "name": "press", "plane": "xy", "units": ["mm", "kg", "deg", "rpm", "N"],
    "drawing": {"A": [0, 0], "B": [60, 0], "C": [360, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "crank": {"pins": ["A", "B"], "mass": 5}, "rod": {"pins": ["B", "C"], "mass": 5},
               "ram": {"pins": ["C"], "mass": 50}},
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "ram"], "at": "C", "axis": [1, 0]}},
    "loads": {"work": {"on": "ram.C", "force": [WORK, 0]}},
    "drive": {"A": "40 rpm"},
}  # fmt: skip


def test_no_motor_leaves_the_cycle(tmp_path: Path, few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table, the CSV and the report are there; the exit code says that no motor fits; peaks over a small mean name a flywheel."""
    model, table, report = tmp_path / "press.json", tmp_path / "press.csv", tmp_path / "press.html"
    model.write_text(json.dumps(PRESS))
    assert cli.main(["cycle", str(model), "--steps", "120", "--choose-motor", str(few), "-o", str(table)]) == 1
    out = capsys.readouterr()
    said = " ".join(out.err.split())
    assert "one full turn of 'A'" in out.out and table.exists() and "no motor of" in said
    c = lw.load(model).cycle(steps=120)
    power = c["A.torque"] * c["A.v"]
    assert np.trapezoid(power, c.t) / (c.t[-1] - c.t[0]) < power.max() / 3.0 and "with a flywheel" in said
    assert cli.main(["cycle", str(model), "--steps", "24", "--choose-motor", str(few), "--json"]) == 1
    motors = json.loads(capsys.readouterr().out)["motors"]
    assert motors["suitable"] == 0 and motors["rows"] == [] and "strong enough" in motors["why"]
    assert cli.main(["report", str(model), "--steps", "24", "--choose-motor", str(few), "-o", str(report)]) == 1
    assert report.exists() and "no motor of" in " ".join(capsys.readouterr().err.split())


def test_a_steady_load_names_no_flywheel(tmp_path: Path, cycle: Trajectory) -> None:
    text = "\n".join(line for line in SMALL.splitlines() if "strong" not in line and "high" not in line)
    load = cycle.drive_sizing().load
    with pytest.raises(NoMotorError) as said:
        cycle.choose_motor(saved(tmp_path, text))
    assert ("flywheel" in str(said.value)) == (0.0 < load.power_mean < load.power_max / 3.0)

"""The report: what it says agrees with the tables it is made of, it is the same every time, and it is honest about what is missing."""

from __future__ import annotations

import html
import html.parser
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.files.tables import show
from linkwright.model.file import read_text
from linkwright.results.motion_checks import motor_checks
from linkwright.rings.design.cycle_loads import cycle_loads
from linkwright.rings.design.summary import Range
from linkwright.rings.studio import live, picture, report, report_figures, report_forces, report_tables
from linkwright.rings.studio.planar_drawing import drawn_bodies
from linkwright.rings.studio.report_parts import table, text
from linkwright.rings.studio.scene import Scene
from linkwright.rings.studio.traced_points import tips
from tests.refusals import refused
from tests.rings.studio.catching import caught

MOTOR = {
    "Kt": "0.1 N m/A",
    "R": "0.3 ohm",
    "J": "2e-4 kg m^2",
    "supply_voltage": "48 V",
    "rated_current": "10 A",
    "max_current": "40 A",
    "gear_ratio": 30,
}


class Reader(html.parser.HTMLParser):
    """Tables, text and ids of a piece of HTML; that tags are closed in order."""

    def __init__(self, source: str):
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(source)
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [v for k, v in attrs if k == "id" and v]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [v for k, v in attrs if k == "id" and v]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if "table" in self.open and self.tables and self.tables[-1] and {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def table(self, head: str) -> list[list[str]]:
        """Rows of the table whose first column is called so."""
        return next(t[1:] for t in self.tables if t[0][0] == head)


@pytest.fixture(scope="module")
def wiper() -> lw.Mechanism:
    return lw.load("wiper")


@pytest.fixture(scope="module")
def turn(wiper: lw.Mechanism) -> lw.Trajectory:
    return wiper.cycle(steps=36)


@pytest.fixture(scope="module")
def told(wiper: lw.Mechanism, turn: lw.Trajectory) -> str:
    return report.fragment(wiper, run=turn, motor=MOTOR)


def number(written: str) -> float:
    return float(written.replace("\N{MINUS SIGN}", "-"))


def test_numbers_are_those_of_the_turn(turn: lw.Trajectory, told: str) -> None:
    page = Reader(told)
    (row,) = page.table("drive")
    fine = lw.load("wiper").cycle(steps=1440)  # extremes lie between the 36 steps of the report
    torque = fine["A.torque"]
    where = fine["A", "deg"][np.argmax(torque)] % 360.0
    assert row[0] == "A" and number(row[1]) == pytest.approx(torque.max(), rel=1e-3) and number(row[2]) == pytest.approx(where, abs=0.1)
    assert [number(x) for x in row[3:5]] == pytest.approx([torque.min(), torque.max()], rel=1e-3)
    # four digits are shown; the trapezoidal rule is exact for a periodic curve but for the 36 steps
    assert number(row[5]) == 0.0 and number(row[6]) == pytest.approx(np.sqrt(np.mean(torque[:-1] ** 2)), rel=1e-3)
    assert number(row[7]) == pytest.approx(45.0) and number(row[8]) == pytest.approx(fine["A.power"].max(), rel=1e-3)
    assert f"Flywheel {show(turn.flywheel(0.05).inertia)} kg m² at A for 5 % fluctuation" in page.text
    pins = {r[0]: r for r in page.table("pin")}
    assert all(0.0 <= number(r[3]) < 360.0 for r in pins.values()), "places of a cycle as one says them, though this one starts at 60 deg"
    assert set(pins) == set("ABCD") and [number(r[2]) for r in pins.values()] == sorted((number(r[2]) for r in pins.values()), reverse=True)
    assert number(pins["C"][2]) == pytest.approx(fine["C.on.rocker.magnitude"].max(), rel=1e-3) and pins["C"][-1] == "yes"
    shaking = re.search(r"Shaking force on the ground up to ([0-9.]+) N", page.text)
    assert shaking and float(shaking.group(1)) == pytest.approx(np.linalg.norm(fine["shaking.force"], axis=1).max(), rel=1e-3)
    masses = {r[0]: number(r[1]) for r in page.table("body")}
    assert masses == {"crank": 0.3, "coupler": 0.9, "rocker": 0.8}
    swing = {r[0]: number(r[-1]) for r in page.table("link")}
    assert swing["rocker.angle"] == pytest.approx(np.ptp(lw.load("wiper").cycle()["rocker.angle", "deg"]), abs=0.02)


def test_dead_centers_by_triangles(wiper: lw.Mechanism, turn: lw.Trajectory, told: str) -> None:
    """The rocker turns back where crank and coupler are in line: A, C and D are a triangle with |AC| = coupler -+ crank."""
    A, B, C, D = (np.array(p) for p in ((0.0, 0.0), (0.150, 0.260), (0.905, 0.750), (1.0, 0.0)))
    crank, coupler, rocker = (float(np.linalg.norm(q - p)) for p, q in ((A, B), (B, C), (C, D)))
    places, swings = [], []
    for AC, back in ((coupler - crank, np.pi), (coupler + crank, 0.0)):
        at_A = np.arccos((1.0 + AC**2 - rocker**2) / (2.0 * AC))
        at_D = np.arccos((1.0 + rocker**2 - AC**2) / (2.0 * rocker))
        places.append(np.degrees(at_A + back) % 360.0)
        swings.append(np.pi - at_D)
    swing = next(r for r in wiper.info().swings if r.name == "rocker.angle")
    # a root of the rate on the loops themselves: round-off only, though the turn has 72 steps
    assert (swing.high, swing.low) == pytest.approx(swings, abs=1e-12) or (swing.low, swing.high) == pytest.approx(swings, abs=1e-12)
    found = {round(np.degrees(x) % 360.0, 6) for x in (swing.at_low, swing.at_high)}
    assert found == {round(x, 6) for x in places} and not swing.also_low and not swing.also_high
    row = next(r for r in Reader(told).table("link") if r[0] == "rocker.angle")
    assert sorted((number(row[2]), number(row[4]))) == pytest.approx(sorted(places), abs=0.06)  # four digits are shown


TOGGLE: dict[str, Any] = {
    "name": "toggle", "plane": "xy", "units": ["mm", "kg", "deg", "rpm"],
    "drawing": {"A": [-280, 0], "B": [-240, 0], "C": [20, 0], "O": [0, 250], "D": [0, -250]},
    "bodies": {n: {"pins": list(p), "mass": 1} for n, p in (("crank", "AB"), ("rod", "BC"), ("upper", "OC"), ("lower", "CD"), ("ram", "D"))}
    | {"ground": {"pins": ["A", "O"]}},
    "joints": {"slide": {"type": "prismatic", "between": ["ground", "ram"], "at": "D", "axis": [0, 1]}},
    "drive": {"A": "60 rpm"},
    "springs": {"return": {"between": ["ground.O", "ram.D"], "stiffness": "2 N/mm", "free_length": 400}},
    "loads": {
        "weight": {"on": "ram.D", "force": ["0 N", "-300 N"]},
        "work": {"on": "ram.D", "force": ["0 N", "5 kN * max(0, min(1, (-251 mm - ram.D.y)/(1 um))) * max(0, min(1, -ram.D.vy/(1 mm/s)))"]},
    },
}  # fmt: skip


def test_both_dead_centers_of_a_toggle_press() -> None:
    """O, C and D are in line twice in a cycle: C is a known point then, and B one of two intersections of circles about A and C."""
    m = lw.load(TOGGLE)
    upper = np.hypot(20.0, 250.0)
    over = np.array([280.0, 250.0 - upper])  # from A to the C of the straight toggle
    far = float(np.linalg.norm(over))
    half = np.arccos((far**2 + 40.0**2 - 260.0**2) / (2.0 * far * 40.0))
    expected = sorted(np.degrees([np.arctan2(over[1], over[0]) + x for x in (half, -half)]) % 360.0)
    found = m.info()
    (slide,) = found.strokes
    assert np.degrees([slide.at_low, *slide.also_low]) == pytest.approx(expected, abs=1e-6)
    assert not any("lower-upper" in r.name for r in found.transmission_angles)  # the drive moves on there: no dead center of its own
    # the lowest point twice the difference of a straight toggle and one bent by 20 mm below the drawing
    assert slide.low == pytest.approx(-2e-3 * (upper - 250.0), abs=1e-12)
    assert len(slide.also_high) == 0 and not any(r.also_low for r in found.swings if r.name == "rod.angle")
    shown = Reader(report_tables.motion_tables(m.system, found, "A", "angle"))
    assert [float(x) for x in shown.table("slider")[0][2].split(", ")] == pytest.approx(expected, abs=0.06)


@pytest.mark.slow
def test_what_acts_and_what_it_takes() -> None:
    m = lw.load(TOGGLE)
    c = m.cycle(steps=40)
    loads = cycle_loads(c)
    weight, work, spring = report_forces.acting(m.system, c)
    assert weight == "weight on ram.D: (0, \N{MINUS SIGN}300.0) N" and work == "work on ram.D: 0 .. 5000 N, over ram.D.vy, ram.D.y"
    # a spring from O to the ram, 400 mm free, 500 mm long in the drawing
    low, high = map(float, re.findall(r"^spring return ground.O to ram.D: ([\d.]+) .. ([\d.]+) N$", spring)[0])
    assert (low, high) == pytest.approx([2e3 * (0.1 - x) for x in (c["slide"].max(), c["slide"].min())], rel=1e-3)
    mean = float(c["A.torque"][:-1].mean())
    assert report_forces.needs(loads, True) == f"A: mean {show(mean)} N m, {show(2.0 * np.pi * mean)} J per revolution"
    assert report_forces.wheel(loads, c) == f"{show(c.flywheel(0.05).inertia)} kg m² at A for 5 % fluctuation"
    said = next(said for said in report_tables.remarks(c, loads) if said.startswith("the torque of A jumps"))
    # both strokes of a cycle, down to each of the two dead centers, begin with the load
    assert re.match(r"the torque of A jumps by \S+ N m between \d+ and \d+ deg and by \S+ N m between \d+ and \d+ deg: figures are", said)
    assert report_forces.acting(lw.load("wiper").system, None) == []
    load = "loads: {both: {on: rocker.C, force: [3 N, -4 N], moment: -5 N m}}\n"
    m = lw.Mechanism(read_text(lw.load("wiper").description.document.text + load, "wiper.yaml"))
    assert report_forces.acting(m.system, m.cycle(steps=12)) == [
        "both on rocker.C: (3.000, \N{MINUS SIGN}4.000) N and \N{MINUS SIGN}5.000 N m"
    ]


def test_friction_by_load_is_among_the_forces_and_in_the_checks() -> None:
    """The largest of mu r F over the pins, the slider's mu F; forward dynamics with these efforts gives the motion back."""
    rubbing = "{A: {mu: 0.1, radius: 12 mm}, B: {mu: 0.1, radius: 10 mm}, C: {mu: 0.1, radius: 8 mm}, slide: {mu: 0.05}}"
    text = """\
name: pump
plane: xy
units: [mm, kg, deg, rpm]
drawing: {A: [0, 0], B: [0, 40], C: [200, 0]}
bodies: {ground: {pins: [A]}, crank: {pins: [A, B], mass: 1}, rod: {pins: [B, C], mass: 1}, ram: {pins: [C], mass: 3}}
joints: {slide: {type: prismatic, between: [ground, ram], at: C, axis: [1, 0]}}
springs: {coil: {joint: slide, stiffness: 1 N/mm}}
dampers: {oil: {joint: slide, coefficient: 1 N s/m}}
cylinders: {press: {between: [ground.A, ram.C], force: 500 N}}
drive: {A: 60 rpm}
"""
    m = lw.Mechanism(read_text(f"{text}friction: {rubbing}\n", "pump.yaml"))
    c = m.cycle(steps=40)
    lines = report_forces.acting(m.system, c)
    assert lines[0] == "cylinder press ground.A to ram.C: 500.0 N" and len(lines) == 5
    pins = (("A", "crank", 12), ("B", "rod", 10), ("C", "rod", 8))
    most = max(0.1 * 1e-3 * r * float(c[f"{pin}.on.{on}.magnitude"].max()) for pin, on, r in pins)
    (size,) = re.findall(r"^friction in A, B, C: up to ([\d.]+) N m$", lines[3])
    assert float(size) == pytest.approx(most, rel=0.01)  # tanh(v / speed) is not quite 1 where a joint is slow
    (size,) = re.findall(r"^friction in slide: up to ([\d.]+) N$", lines[4])
    assert float(size) == pytest.approx(0.05 * float(c["slide.on.ram.magnitude"].max()), rel=0.01)
    assert c.checks()["dynamics"] and "forward dynamics gives back the motion" in c.checks()["dynamics"].text
    run = m.simulate("1 ms")
    assert not run.notes and all(np.abs(run[f"{pin}.friction"]).min() > 0.0 for pin in "ABC")


def test_motor_and_checks(turn: lw.Trajectory, told: str) -> None:
    page = Reader(told)
    (row,) = page.table("motor of")
    sizing = turn.drive_sizing(motor=MOTOR)
    assert number(row[2]) == pytest.approx(sizing.figures()["torque_peak"], rel=1e-3) and number(row[1]) == 30.0
    assert {r[0]: r[-1] for r in page.table("limit")}["peak torque"] == "met"
    for words in (
        "1 degree of freedom",
        "A, at 45.00 rpm",
        "full turn",
        "not over-constrained",
        "all loads are statically determinate",
        "ends where it began",
    ):
        assert words in page.text, words
    assert 'class="bad"' not in told
    weak = turn.drive_sizing(motor={**MOTOR, "max_current": "0.1 A"})
    assert "EXCEEDED" in report_tables.margins(weak)
    (failed,) = motor_checks("motor", [weak])
    assert failed.verdict == "failed" and failed.text.startswith("motor of A exceeds a limit: ")


def test_one_piece_that_needs_nothing(told: str) -> None:
    page = Reader(told)
    assert len(page.ids) == len(set(page.ids)), "figures of one page share no ids"
    used = re.findall(r'(?:href="|url\()#([^")]+)', told)
    assert used and set(used) <= set(page.ids)
    assert not re.search(r'(?:src|href)="(?!#)|<script|@import|<!DOCTYPE|<\?xml|<metadata', told)
    assert len(told) < 150_000
    assert "nan" not in page.text.lower().split() and "inf" not in page.text.lower().split()


def settled(markup: str) -> str:
    """The same without figures of round-off (to 3e-15 of the size): the interpreter of first calls rounds otherwise than compiled code."""
    return re.sub(r"\b\de-1\d\b", "~", markup)


def test_the_file(wiper: lw.Mechanism, turn: lw.Trajectory, told: str, tmp_path: Path) -> None:
    path = turn.report(tmp_path / "wiper.html", motor=MOTOR)
    written = path.read_text(encoding="utf-8")
    same = settled(f'<p id="report-changed" hidden></p>{told}</section>') in settled(written)
    assert same, "the same input gives the same report, markup and drawings to the letter"
    assert ".rp-head" in written
    assert "<style" not in told and "stroke-linejoin: round" in told, "a figure's style would be that of the page's drawing too"
    with refused(lw.UsageError, file="wiper.docx"):
        wiper.report(tmp_path / "wiper.docx")
    with pytest.raises(lw.UsageError, match="Kt"):
        wiper.report(tmp_path / "other.html", motor={"R": 1.0})
    assert [p.name for p in tmp_path.iterdir()] == ["wiper.html"]


def test_without_masses_and_without_motion() -> None:
    data: dict[str, Any] = {
        "name": "bare <b>", "plane": "xy", "drawing": {"A": [0, 0], "B": [0, 0.1], "C": [0.4, 0.3], "D": [0.4, 0]},
        "bodies": {n: {"pins": list(p)} for n, p in (("ground", "AD"), ("crank", "AB"), ("coupler", "BC"), ("rocker", "DC"))},
        "drive": {"A": "10 rpm"},
    }  # fmt: skip
    page = Reader(report.fragment(lw.load(data)))
    assert "bare <b>" in page.text and "no mass for crank, coupler, rocker" in page.text and "kinematics only" in page.text
    assert not any(t[0][0] in ("drive", "pin", "body") for t in page.tables)
    stiff = {**data, "bodies": {**data["bodies"], "strut": {"pins": ["A", "C"]}}, "drive": {}}
    page = Reader(report.fragment(lw.load(stiff)))
    assert "0 degrees of freedom" in page.text and "nothing can move" in page.text and "Motion" in page.text
    assert not any(t[0][0] == "link" and t[0][1] != "between" for t in page.tables), "no swings, but dimensions"


@pytest.mark.slow
def test_over_constrained_and_in_space() -> None:
    m = lw.load("bennett")
    page = Reader(report.fragment(m, run=m.cycle(steps=12)))
    assert "over-constrained: 3 redundant constraints" in page.text and "are statically indeterminate" in page.text
    assert {r[-1] for r in page.table("pin")} == {"no"} and "least-norm solution" in page.text


@pytest.mark.slow
def test_links_that_spin_about_themselves_are_no_fault() -> None:
    """The rods of the delta robot may spin as they like: forward dynamics need not give that back."""
    m = lw.load("delta")
    c = m.cycle(steps=7)
    found = c.checks()
    assert m.system.mobility.idle and found["dynamics"] and found["loops"] and "forward dynamics" in found["dynamics"].text


@pytest.mark.slow
def test_of_a_simulation(wiper: lw.Mechanism, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = wiper.simulate(0.2, sample_interval=0.01, events=[lw.events.when("A.v", 1e9)])
    opened = lw.load_result(run.save(tmp_path / "run.npz"))
    asked: dict[str, Any] = {}
    monkeypatch.setattr(live, "write", lambda subject, path, **options: asked.update(options) or path)
    opened.report(tmp_path / "run.html")
    assert asked["run"] is opened, "the page plays the run it reports on"
    fragment = asked["report"]
    page = Reader(fragment)
    assert "Simulation report" in page.text and "Certificate" in page.text and "reached the end" in page.text
    assert "Position of A" in page.text and "Speed of A" in page.text, "a single curve has no legend"
    assert "simulated for 0.2 s, 21 samples" in page.text and 'class="bad"' not in fragment
    pins = {r[0]: number(r[2]) for r in page.table("pin")}
    assert pins["C"] == pytest.approx(run["C.on.rocker.magnitude"].max(), rel=1e-3)


@pytest.mark.slow
def test_of_a_followed_path() -> None:
    m = lw.load("five-bar")
    x, y = m.system.point(m.system.start, "left_rod.C")[:2]
    c = m.follow({"left_rod.C": lambda t: (x + 0.02 * np.sin(9 * t), y - 0.02 + 0.02 * np.cos(9 * t))}, duration=0.7, steps=40)
    told = report.fragment(m, run=c)
    page = Reader(told)
    assert "no speed given" not in page.text and "swings" not in page.text
    rows = {r[0]: [number(x) for x in r[1:]] for r in page.table("drive")}
    for name in "AE":
        torque, power = c[f"{name}.torque"], c[f"{name}.power"]
        k = np.argmax(np.abs(torque))
        assert rows[name][:4] == pytest.approx([torque[k], c.t[k], torque.min(), torque.max()], rel=1e-3), "what sizes it, and the range"
        assert rows[name][7] == pytest.approx(power[np.argmax(np.abs(power))], rel=1e-3)
    assert rows["A"][0] < 0.0 and rows["E"][7] < 0.0, "both signs are met"
    (path,) = Scene(m.system, c).trace(None)
    assert path[0] == "left_rod" and np.allclose(np.hypot(path[1][:, 0] - x, path[1][:, 1] - y + 0.02), 0.02, atol=1e-9), (
        "a circle of 20 mm"
    )
    for other in ("wiper", "four-bar"):
        assert not tips(lw.load(other).description), "every pin is on a link that turns about the ground"


@pytest.mark.parametrize("mass", [1e-40, 1e20])
def test_numbers_of_any_size_have_room_beside_the_curves(mass: float) -> None:
    """Written in full, 2.7e-48 takes the whole width of a page; matplotlib then warns, and warnings are errors here."""
    arm = {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": mass}}
    model = {"plane": "xy", "drawing": {"A": [0, 0], "B": [0.2, 0]}, "bodies": arm, "gravity": [0, -9.81], "drive": {"A": "1 rad/s"}}
    c = lw.load(model).cycle(steps=12)
    drawn = report_figures.curves(c, report_figures.effort_panels(c), "efforts")
    assert "A.torque" in drawn and not re.search(r">[^<>]*\d{12}", drawn)


@pytest.mark.slow
def test_of_a_run_that_begins_without_a_rope() -> None:
    """A load of 1 kg falls 50 mm and is caught by a rope: half of its energy is lost in pulling another kilogram along."""
    m, run = caught()
    s = m.system
    told = report.fragment(m, run=run)
    page = Reader(told)
    assert "Switched off rope, at the start" in page.text
    lost = 0.5 * 9.81 * 0.05  # both masses go on at half the speed
    assert run.certificate.impact_losses == pytest.approx(lost, rel=1e-6)
    assert f"in impacts {show(lost)} J" in page.text and f"taut: engage rope, {show(lost)} J lost" in page.text
    assert "the first sample after the impact 'taut' at 0.101 s" in page.text  # sqrt(2 * 0.05 / 9.81) = 0.10096 s
    assert "rise.force, applied" in page.text and [n for n in ("low", "high") if n in drawn_bodies(Scene(s, None))] == ["low", "high"]
    off = report_figures.off_at_start(run)
    counts = [len(picture.draw(m, at=run.state(0), trace=[], off=names).axes[0].lines) for names in ([], off)]
    assert off == ["rope"] and counts[0] == counts[1] + 1


def test_the_pins_nearest_to_a_dead_center_are_in_the_table() -> None:
    m = lw.load("jansen-leg")
    many = tuple(Range(f"P{i}", 1.0 - 0.05 * i, 1.2, 0.0, 1.0) for i in range(report_tables.MOST_RANGES + 2))
    rows = Reader(report_tables.ranges(m.system, report_tables.TRANSMISSION, many, "angle", "", "time")).tables[0][1:]
    assert [r[0] for r in rows] == [r.name for r in many[2:]]
    told = report_tables.ranges(m.system, report_tables.TRANSMISSION, many[1:], "angle", "", "time")
    assert "more" not in told and many[1].name in told, "one more is shown in the place of its note"


def test_cells_are_escaped_and_signed() -> None:
    assert text(-1.5) == "\N{MINUS SIGN}1.500" and text("a-b <i>") == "a-b &lt;i&gt;" and text(True) == "yes" and text(None) == "-"
    assert "<script" not in table([("<script>", "")], [("<script>",)])


@pytest.mark.slow
def test_a_load_of_position_alone_is_said_to_push_back(tmp_path: Path) -> None:
    """Report, info and page; not where the load depends on the velocity too."""
    m = lw.load("punch-press")
    said = "load 'sheet' depends on position only (ram.R.y): it acts with the same force on the return stroke, as a spring does"
    assert said in m.info().notes
    text = m.report(tmp_path / "press.html", steps=36).read_text(encoding="utf-8")
    assert html.escape(said) in text and json.dumps([said]) in text
    free = {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["P"], "mass": 1}}
    one = {"name": "arm", "plane": "xy", "drawing": {"A": [0, 0], "P": [1, 0]}, "bodies": free}
    for force, warned in (("-3 * arm.P.x", True), ("-3 * arm.P.vx", False), ("2 * t", False), ("5", False), ("-arm.P.x*arm.P.vx", False)):
        loads = {"push": {"on": "arm.P", "force": [force, 0]}}
        assert any("return stroke" in w for w in lw.load({**one, "loads": loads}).info().notes) == warned, force

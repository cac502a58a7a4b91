"""The report as a document: title block, dimensions, chosen curves, variants, terms, PDF."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, ModelError
from linkwright.files.tables import show
from linkwright.model.file import read_text, write
from linkwright.rings import cli
from linkwright.rings.design.cycle_loads import CycleLoads
from linkwright.rings.studio import pdf, report, report_figures, report_forces, report_tables, report_variants
from linkwright.rings.studio.scale_drawing import DrawnText, scale_drawing
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused
from tests.rings.studio.test_report import MOTOR, Reader, number

pytestmark = pytest.mark.usefixtures("without_curves")

PRINTED = ("report", "wiper", "--steps", "24", "--title", "Wiper", "--variant", "longer: B.x=170mm, C.y=760mm",
           "--variant", "lengths: four-bar", "--measure", "stroke D", "--choose-motor", "--sort", "mass")  # fmt: skip
BLOCK = "report: {title: 'Wiper, left', number: 0042, revision: B, author: A. Smith, date: 2026-05-04, curves: [A.torque]}\n"


@pytest.fixture(scope="module")
def text() -> str:
    return lw.load("wiper").description.document.text + BLOCK


@pytest.fixture(scope="module")
def wiper(text: str, tmp_path_factory: pytest.TempPathFactory) -> lw.Mechanism:
    path = tmp_path_factory.mktemp("model") / "wiper.yaml"
    path.write_text(text, encoding="utf-8")
    return lw.load(path)


@pytest.fixture(scope="module")
def told(wiper: lw.Mechanism) -> str:
    longer = wiper.with_(**{"B.x": "170 mm"})
    return report.fragment(wiper, steps=36, motor=MOTOR, revision="C", variants={"longer": longer}, curves=["coupler.P.x", "A.torque"])


def test_title_block_of_the_file_and_of_the_call(wiper: lw.Mechanism, told: str) -> None:
    page = Reader(told)
    block = {row[0]: row[1] for row in page.tables[0]}
    assert block == {"No.": "0042", "Revision": "C", "Author": "A. Smith", "Date": "2026-05-04"}
    assert "<h2>Wiper, left</h2>" in told and "Mechanism report · wiper" in page.text
    plain = report.fragment(lw.load("wiper"), steps=12)
    assert "rp-block" not in plain and "<h2>wiper</h2>" in plain and not re.search(r"\b20\d\d-\d\d-\d\d\b", plain), "nothing is made up"


def test_title_block_survives_writing(text: str) -> None:
    d = read_text(text)
    assert read_text(write(d)).report == d.report and d.report.number == "0042" and d.report.curves == ("A.torque",)


def test_wrong_title_blocks_are_refused(wiper: lw.Mechanism) -> None:
    ground = "bodies: {ground: {}}\n"
    with refused(ModelError, name="revison", line=2):
        read_text(ground + "report: {revison: B}\n")
    with refused(ModelError, name="title", line=2):
        read_text(f"{ground}report: {{title: {'x' * 121}}}\n")
    for said, options in (
        ("no 'revison'", {"revison": "B"}),
        ("no curve of 'coupler.P.u'", {"curves": ["coupler.P.u"]}),
        ("Name one for a curve", {"curves": ["coupler.P"]}),
        ("dict of mechanisms", {"variants": [wiper]}),
        ("is a str", {"variants": {"a": "wiper"}}),
    ):
        with pytest.raises(lw.UsageError, match=said):
            report.fragment(wiper, steps=12, **options)


def test_dimensions_are_those_of_the_drawing(told: str) -> None:
    rows = next(t[1:] for t in Reader(told).tables if t[0][:2] == ["link", "between"])
    found = {row[1]: number(row[2]) for row in rows}
    assert found["B – C"] == pytest.approx(1e3 * np.hypot(0.755, 0.49), abs=0.05)  # mm, four digits are shown
    assert found["A – D"] == 1000.0
    drawn = scale_drawing(lw.load("wiper"), positions=0, trace=[], dimensions=True)
    values = {x.text for x in drawn.things if isinstance(x, DrawnText) and x.layer == "DIMENSIONS"}
    assert values == {"1000", "300.17", "900.07", "672.68", "305.16", "755.99"} == set(re.findall(r">([0-9.]+)</text>", told)) & values


def test_variants_side_by_side(wiper: lw.Mechanism, told: str) -> None:
    rows = next(t for t in Reader(told).tables if t[0][2:] == ["this design", "longer"])
    found = {row[0]: row[1:] for row in rows[1:]}
    assert found["B.x"] == ["mm", "150.0", "170.0"] and "crank.length" not in found, "what was changed, not what follows from it"
    for k, m in ((1, wiper), (2, wiper.with_(**{"B.x": "170 mm"}))):
        torque = m.cycle(steps=1440)["A.torque"]  # the extreme lies between the report's 36 steps
        assert number(found["peak torque at A"][k]) == pytest.approx(torque[np.argmax(np.abs(torque))], rel=1e-3)
    assert 'aria-label="A.torque of this design, longer"' in told


@pytest.mark.slow
def test_measures_and_the_motor_by_name_beside_a_variant_with_another_drive(wiper: lw.Mechanism) -> None:
    """Measures of this motion and of a press that is driven elsewhere; drives by different names share their rows."""
    c, other = wiper.cycle(steps=36), lw.load("punch-press")
    best = c.choose_motor(sort="mass").best
    measures = ["stroke D", "max rocker.angle.v", "stroke D"]
    page = Reader(report.fragment(wiper, steps=36, motor=best, measures=measures, variants={"press": other}))
    swing, speed = page.table("measure")
    assert swing[0::2] == ["stroke D", "deg"] and float(swing[1]) == pytest.approx(c.measure("stroke D", "deg"), rel=1e-3)
    assert speed[0::2] == ["max rocker.angle.v", "rpm"]
    rows = {row[0]: row[1:] for t in page.tables if t[0][2:] == ["this design", "press"] for row in t[1:]}
    assert rows["stroke D"] == ["deg", swing[1], "-"], "the variant has no such channel"
    found = [number(x) for x in rows["RMS torque of the drive"][1:]]
    assert found == pytest.approx([m.cycle(steps=36).drive_sizing().figures()["torque_rms"] for m in (wiper, other)], rel=1e-3)
    assert f"{best.name}: torque constant" in page.text
    limits = [row[0] for row in page.table("limit")]
    assert [x.what for x in best.margins] == limits and any("gearbox" in x for x in limits)
    for wrong, said in ((["nothing"], "no measure"), ([3], "up to 12 texts"), (["stroke nowhere"], "nowhere")):
        with pytest.raises(LinkwrightError, match=said):
            report.fragment(wiper, steps=12, measures=wrong)


def test_a_variant_that_cannot_be_assembled_is_said(wiper: lw.Mechanism) -> None:
    stretched = wiper.with_(**{"rocker.length": "3 m"})
    content = report.fragment(wiper, steps=12, variants={"stretched": stretched})
    assert "stretched:" in content and "closed" in content.split("stretched:")[1][:300]


def test_a_motor_chosen_for_one_drive_is_of_that_drive_alone() -> None:
    m = lw.load("five-bar")
    c = m.cycle(steps=8)
    best = c.choose_motor(drive="E", sort="mass", gearbox=[5, 20]).best
    content = report.ReportContent(m.system, c, best)
    page = Reader(content._motors())
    assert f"Motor of E {best.name}: " in page.text and "Motor of A" not in page.text
    assert [s.history.name for s in content.sizings] == ["E"]
    assert [row[0] for row in page.table("motor of")] == ["E"]
    assert [row[0] for row in page.table("limit")] == [x.what for x in best.margins]


def test_variants_are_loaded_as_the_model_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(report, "fragment", lambda *a, **k: "")
    for given, said in (("old: a.npz", "'a.npz' is a saved run. This needs a model"), ("gone: gone.yaml", "gone.yaml")):
        assert cli.main(["report", "wiper", "--variant", given, "-o", "a.html"]) == 1 and said in capsys.readouterr().err
    Path("r.urdf").write_text("<robot name='r'><link name='a'/><gazebo><link name='tray'/></gazebo></robot>", encoding="utf-8")
    assert cli.main(["report", "wiper", "--variant", "robot: r.urdf", "-o", "a.html"]) == 0
    assert "warning: r.urdf: " in capsys.readouterr().err
    monkeypatch.setattr(lw.Mechanism, "simulate", lambda *a, **k: pytest.fail("worked before it looked"))
    assert cli.main(["report", "wiper", "--simulate", "1", "--choose-motor", "-o", "b.html"]) == 1
    assert "--choose-motor is for a cycle. A report with --simulate describes the run" in capsys.readouterr().err


def test_terms_are_those_that_are_used(told: str) -> None:
    page = Reader(told)
    terms = page.text.split("Terms")[-1]
    assert "Transmission angle" in terms and "RMS" in terms and "Statically indeterminate" not in terms and "Cylinder pressure" not in terms
    assert f"torque constant {show(0.1)} N m/A" in page.text and "rotor inertia" in page.text


@pytest.mark.slow
def test_two_prints_are_the_same_to_the_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.pdf", "b.pdf", "a.pdf"):  # a file of its own is replaced
        assert cli.main([*PRINTED, "-o", name]) == 0
    assert Path("a.pdf").read_bytes() == Path("b.pdf").read_bytes()


def test_pdf_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Chromium prints it; without one the message says how to print by hand, before the work."""
    monkeypatch.chdir(tmp_path)
    assert cli.main([*PRINTED, "-o", "a.pdf"]) == 0
    printed = Path("a.pdf").read_bytes()
    assert printed.startswith(b"%PDF") and b"CreationDate" not in printed and b"/Creator (Linkwright)" in printed
    capsys.readouterr()
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    monkeypatch.setattr(report, "fragment", lambda *a, **k: pytest.fail("worked before it looked"))
    assert cli.main(["report", "wiper", "-o", "c.pdf"]) == 1 and "print it there into a PDF" in capsys.readouterr().err
    assert pdf.chromium() is None and not Path("c.pdf").exists()
    assert cli.main(["report", "wiper", "--variant", "longer B.x=170mm", "-o", "d.pdf"]) == 2
    assert "is not a variant" in capsys.readouterr().err


def test_a_mechanism_of_pulleys_alone_has_a_report(tmp_path: Path) -> None:
    belts = {"flat": {"around": [{"joint": "A", "radius": 0.05}, {"joint": "B", "radius": 0.15}], "pretension": 300.0}}
    wheels = {name: {"pins": [pin], "mass": 1, "com": pin, "inertia": 0.01} for name, pin in (("motor", "A"), ("drum", "B"))}
    bodies = {"ground": {"pins": ["A", "B"]}, **wheels}
    m = lw.load({"plane": "xy", "drawing": {"A": [0, 0], "B": [0.6, 0]}, "bodies": bodies, "belts": belts, "drive": {"A": "900 rpm"}})
    text = Path(m.report(tmp_path / "belt.html", steps=36)).read_text(encoding="utf-8")
    drawn = text[text.index(">Dimensions<") :]
    assert ">600<" in drawn or ">0.6<" in drawn, "the distance of the shafts is dimensioned"


PRESS = """plane: xy
units: [mm, kg, deg, rpm]
drawing: {A: [0, 0], B: [0, 50], C: [200, 0], K: [-120, 0]}
bodies:
  ground: {pins: [A, K]}
  crank: {pins: [A, B]}
  rod: {pins: [B, C]}
  ram: {pins: [C]}
  wheel: {pins: [K]}
joints: {guide: {type: prismatic, between: [ground, ram], at: C, axis: [1, 0], stroke: [-50, 60]}}
belts: {flat: {around: [{joint: A, radius: 25}, {joint: K, radius: 40}]}}
drive: {A: {moves: [{to: 200 deg, in: 1 s}]}}
gravity: none
"""


def test_strokes_and_wheels(tmp_path: Path) -> None:
    path = tmp_path / "press.yaml"
    path.write_text(PRESS, encoding="utf-8")
    m = lw.load(path)
    own, other = (report_variants.DesignVariant.of(name, x.system, 12) for name, x in (("", m), ("longer", m.with_(**{"B.y": "70 mm"}))))
    assert own.motion is not None and other.motion is not None and own.summary is not None
    assert report_forces.acting(m.system, own.motion) == [], "a stroke is an end of the motion, not a force"
    reached = float(np.min(other.motion["guide", "mm"]))
    assert reached < -50.0 < float(np.min(own.motion["guide", "mm"])), "only the variant leaves its stroke"
    beyond = f"stop 'guide': 'guide' goes to {reached:.4g} mm, beyond its end at -50 mm"
    assert f"longer: {beyond}." in Reader(report_variants.section(own, [other])).text
    judged = [x.motion.checks()["reach"] for x in (own, other)]
    assert [x.verdict for x in judged] == ["passed", "failed"] and f"{reached:.4g} mm (allowed -50 mm .. 60 mm)" in judged[1].text
    ends = "stops: {end: {joint: guide, min: -50, max: 60}, cushion: {joint: guide, min: -40, stiffness: 1 kN/m}}\n"
    path.write_text(PRESS.replace(", stroke: [-50, 60]", "") + ends, encoding="utf-8")
    soft = lw.load(path).system
    c = mechanism_of(soft).cycle(steps=12)
    remarks = report_tables.remarks(c, CycleLoads("no masses"))
    pushed = f"stop 'cushion': 'guide' goes to {float(np.min(c['guide', 'mm'])):.4g} mm, beyond its end at -40 mm"
    assert c.checks()["reach"] and f"S{pushed[1:]}." in remarks, "a cushion within rigid ends is pressed, which is its purpose"
    moved = Reader(report_tables.motion_tables(m.system, own.summary, "A", "angle")).tables
    sliders = next(t for t in moved if t[0][0] == "slider")
    assert sliders[0][-1] == "strokemm" and sliders[1][-1] == "−50.00 .. 60.00"
    wheels = next(t for t in Reader(report_figures.dimensions_section(m.system)).tables if t[0][0] == "wheel")
    assert wheels[1:] == [["A", "flat", "25.00"], ["K", "flat", "40.00"]]

"""Surfaces in the scene, on the page, in drawings to scale and in the editor; what other programs do not hold."""

from __future__ import annotations

import base64
import re
import warnings

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.edits import perform
from linkwright.model.edits.drawing_draft import read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.edits.missing_parts import missing
from linkwright.model.file import read_text
from linkwright.rings.exchange.writing.losses import LossWarning
from linkwright.rings.studio import report, report_figures
from linkwright.rings.studio.editor.drawing import drawing_json
from linkwright.rings.studio.live import contents
from linkwright.rings.studio.live.scene_data import places, references, shapes
from linkwright.rings.studio.report_contacts import lost_motion, touch_records
from linkwright.rings.studio.scene import Scene, Stage
from linkwright.rings.studio.scene_contacts import TouchForces, touching
from tests.simulation.contact.models import block

MODEL = """\
name: views
plane: xy
gravity: [0, -9.81]
parameters: {r: 0.03}
drawing: {A: [0, 0], B: [0.1, 0.02], C: [0.3, 0.25], D: [0.35, 0], F: [0, -0.1], K: [0.5, 0.2],
  b1: [0.6, -0.1], b2: [0.7, -0.1], b3: [0.7, 0]}
bodies:
  ground: {pins: [A, D], points: [F]}
  crank: {pins: [A, B], mass: 1, inertia: 0.01}
  coupler: {pins: [B, C], mass: 1, inertia: 0.01}
  rocker: {pins: [D, C], mass: 1, inertia: 0.01}
  wheel: {points: [K], mass: 1, com: K, inertia: 0.01}
  box: {points: [b1, b2, b3], mass: 1, inertia: 0.01}
surfaces:
  tip: {circle: coupler.C, radius: r}
  floor: {line: ground.F, normal: [0, 1]}
  bar: {capsule: [rocker.D, rocker.C], radius: 0.02}
  lobe: {profile: wheel.K, table: [[0 deg, 0.03], [90 deg, 0.04], [180 deg, 0.05], [270 deg, 0.04], [360 deg, 0.03]]}
  block: {polygon: [box.b1, box.b2, box.b3], radius: 0.01}
contacts:
  step: {between: [tip, [floor, lobe]]}
  stand: {between: [block, floor]}
  hit: {between: [bar, block]}
clearances:
  B: {clearance: 0.002, radius: 0.01}
"""


@pytest.fixture(scope="module")
def m():
    return lw.Mechanism(read_text(MODEL))


def test_a_polygon_is_the_shape_of_its_body():
    """A wheel with notches is drawn by its corners in their order, and not by the hull of its points, as on the page."""
    ratchet = lw.load("ratchet")
    scene = Scene(ratchet.system, None)
    (wheel,) = (p for p in scene.pieces if p.body == "wheel")
    radii = np.linalg.norm(wheel.points[:, :2], axis=1)
    assert wheel.solid and wheel.closed
    np.testing.assert_allclose(radii, np.tile([0.044, 0.05], 12), rtol=1e-12)  # root, tip
    assert not any(body == "wheel" for body, _, _ in scene.marks)
    assert [p.get("solid", False) for p in shapes(scene)["pieces"]] == [p.solid for p in scene.pieces]
    area = 12 * 0.5 * 0.044 * 0.05 * np.sin(np.pi / 6)  # of triangles from the axle to the back of each tooth
    x, y = wheel.points[:, 0], wheel.points[:, 1]
    assert 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) == pytest.approx(area, rel=1e-12)
    pawl = next(p for p in scene.pieces if p.body == "pawl")
    assert not pawl.solid


def test_outlines_of_the_scene(m):
    """Every outline is as far from its points as its numbers say."""
    scene = Scene(m.system, None)
    found = {x.name: x for x in scene.outlines if x.name != "B"}
    assert set(found) == {"tip", "floor", "bar", "lobe", "block"}
    assert len([x for x in scene.outlines if x.name == "B"]) == 2
    C = np.asarray(m.description.body("coupler").point("C").at, dtype=float)
    assert np.linalg.norm(found["tip"].points - C, axis=1) == pytest.approx(np.full(48, 0.03), rel=1e-12)
    ends = [np.asarray(m.description.body("rocker").point(p).at, dtype=float) for p in "DC"]
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    for p in found["bar"].points:
        t = np.clip((p - ends[0]) @ along, 0.0, np.linalg.norm(ends[1] - ends[0]))
        assert np.linalg.norm(p - ends[0] - t * along) == pytest.approx(0.02, rel=1e-9)
    assert found["floor"].wall and not found["block"].wall
    world = Stage(scene.skel, scene.start).place(found["block"].node, found["block"].points)
    assert world[:, 1].min() == pytest.approx(-0.11, abs=1e-12)  # rounded with a radius of 10 mm


def test_touching_places(m):
    """The rounded block stands 10 mm deep in the floor as drawn: both corners are shown, and nothing else."""
    scene = Scene(m.system, None)
    found = np.array([x.at for x in touching(scene.start, scene.size)])
    assert sorted(found[:, 0]) == pytest.approx([0.6, 0.7], abs=1e-12)


def test_places_of_the_page_follow_numbers(m):
    """Outlines on the page are places of the model: with another radius they move."""
    scene = Scene(m.system, None)
    data, refs = shapes(scene), references(scene)
    tip = next(x for x in data["surfaces"] if x["name"] == "tip")
    here = np.array(places(m.description.numbers(), refs), dtype=float).reshape(-1, 3)
    for surface in data["surfaces"]:
        assert here[surface["places"]] == pytest.approx(np.array(surface["points"]), abs=1e-12)
    there = np.array(places(m.with_(r=0.05).description.numbers(), refs), dtype=float).reshape(-1, 3)
    C = np.asarray(m.description.body("coupler").point("C").at, dtype=float)
    assert np.linalg.norm(there[tip["places"]] - C, axis=1) == pytest.approx(np.full(48, 0.05), rel=1e-12)


def test_the_page_has_no_free_swing_with_contacts(m):
    assert not contents(m.system)[1]["swing"]
    without = lw.Mechanism(read_text(MODEL.split("surfaces:")[0].replace("  wheel", "  gone").split("  gone")[0]))
    assert contents(without.system)[1]["swing"]


def test_the_editor_draws_and_connects_them():
    sheet = EditSheet(MODEL, "m.yaml")
    draft = read_draft(sheet)
    drawn = drawing_json(sheet, draft, read_text(MODEL))
    assert {x["id"] for x in drawn["surfaces"]} == {
        "surface:tip",
        "surface:floor",
        "surface:bar",
        "surface:lobe",
        "surface:block",
        "clearance:B",
    }
    assert {x["id"] for x in drawn["touches"]} == {"contact:step", "contact:stand", "contact:hit", "clearance:B"}
    assert {x["id"] for x in drawn["elements"]} >= {x["id"] for x in (*drawn["surfaces"], *drawn["touches"])}
    assert not [x for x in missing(draft) if x.code in ("loose_body", "apart")]
    alone = MODEL.replace("  step: {between: [tip, [floor, lobe]]}\n", "  step: {between: [tip, floor]}\n")
    assert [x.ids for x in missing(read_draft(EditSheet(alone, "m.yaml"))) if x.code == "loose_body"] == [("body:wheel",)]


def test_a_drawing_to_scale_has_their_outlines(m, tmp_path):
    m.export(tmp_path / "m.dxf")
    assert (tmp_path / "m.dxf").read_text(encoding="utf-8").count("SURFACES") >= 6


@pytest.mark.parametrize("name", ["m.xml", "m.c"])
def test_other_programs_lose_contacts_in_words(m, name, tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m.export(tmp_path / name)
    lost = {x.name for w in caught if isinstance(w.message, LossWarning) for x in w.message.lost}
    assert lost >= {"step", "stand", "hit", "B"}


def test_the_tool_for_clearance_writes_an_entry_that_can_be_read():
    bare = MODEL.split("surfaces:")[0].replace("  wheel: {points: [K], mass: 1, com: K, inertia: 0.01}\n", "").split("  box:")[0]
    after = read_text(perform(bare, "m.yaml", [{"do": "add_clearance", "joint": "C"}]).text)
    (made,) = after.clearances
    assert (made.joint, made.clearance, made.radius) == ("C", pytest.approx(5e-5), pytest.approx(5e-3))


RESTING = """\
name: resting
plane: xy
gravity: [0, -9.81]
bodies:
  ground: {points: {O: [0, 0]}}
  box: {points: {a: [-0.1, 0], b: [0.1, 0], c: [0.1, 0.2], d: [-0.1, 0.2]}, mass: 2, com: [0, 0.1], inertia: 0.02}
surfaces:
  box: {polygon: [box.a, box.b, box.c, box.d]}
  slope: {line: ground.O, normal: [-0.3, 1]}
contacts: {stand: {between: [box, slope], mu: 0.6}}
guess: {box: {at: [0, 0], rpy: [0, 0, 16.69924423399362 deg]}}
"""


def test_forces_and_sticking_of_a_run():
    """A box that stays on a slope: the arrows of both corners sum up to its weight, upward, and both stick."""
    m = lw.Mechanism(read_text(RESTING))
    run = m.simulate(0.2, sample_interval=0.05)
    scene, forces = Scene(m.system, run), TouchForces(run)
    found = touching(run._instants[-1], scene.size, forces.at(len(run) - 1))
    assert len(found) == 2 and all(x.sticks for x in found)
    assert sum(x.force for x in found) == pytest.approx([0.0, 2 * 9.81, 0.0], abs=1e-6)
    assert 0.0 < forces.largest <= 2 * 9.81


def test_the_page_of_a_run_has_its_touches():
    """Places, forces and states of both corners at the last sample, as in the run itself."""
    m = lw.Mechanism(read_text(RESTING))
    run = m.simulate(0.2, sample_interval=0.05)
    touches = contents(m.system, run=run)[1]["run"]["touches"]
    at, force, state = (decoded(touches[key]) for key in ("at", "force", "state"))
    assert at.shape == force.shape == (len(run), 2, 2) and state.shape == (len(run), 2)
    assert force[-1].sum(axis=0) == pytest.approx([0.0, 2 * 9.81], abs=1e-6)
    assert (state[-1] == 1).all() and touches["largest"] == pytest.approx(np.abs([run["stand.1.force"], run["stand.2.force"]]).max())
    assert at[-1, :, 0] == pytest.approx([run["stand.1.x"][-1], run["stand.2.x"][-1]], abs=1e-12)
    assert contents(m.system, run=m.simulate(0.1))[1]["run"]["main"].count("stand.1.force") <= 1


FALLING = RESTING.replace("normal: [-0.3, 1]", "normal: [0, 1]").replace("mu: 0.6", "mu: 0.3, restitution: 0.3")
FALLING = FALLING.replace("at: [0, 0], rpy: [0, 0, 16.69924423399362 deg]", "at: [0, 0.05], rpy: [0, 0, 12 deg]")
FALLING = FALLING.replace("gravity: [0, -9.81]", "gravity: [1.5, -9.81]")


def test_the_report_has_touches_of_the_run(tmp_path):
    """Rows of both corners against events, channels and certificate: what a saved run reports, too."""
    m = lw.Mechanism(read_text(FALLING))
    run = m.simulate(1.2, sample_interval=0.01)
    records, c = touch_records(run), run.certificate
    assert [x.name for x in records] == ["stand.1", "stand.2"] and c.touches == 2
    assert sum(x.impacts for x in records) == c.touch_impacts > 2
    assert sum(x.changes for x in records) == c.touch_changes > c.touch_impacts
    assert sum(x.lost for x in records) == pytest.approx(c.impact_losses, rel=1e-9)  # the same sum in another order
    for x in records:
        assert x.force == run[f"{x.name}.force"].max() == run[f"{x.name}.force"][np.searchsorted(run.t, x.force_at)]
        assert x.impulse == run[f"{x.name}.impulse"].max() > 0.0
        closed = (run[f"{x.name}.state"] > 0).astype(float)
        assert x.closed == pytest.approx(np.trapezoid(closed, run.t) / 1.2, abs=0.01 * x.changes)  # a sample for each change
    assert records == touch_records(lw.load_result(run.save(tmp_path / "run.npz")))

    panels = {p.title: p.names for p in report_figures.run_panels(run)}
    assert panels["Contact forces"] == ("stand.1.force", "stand.2.force") and "Drive torques and forces" not in panels

    text = report.fragment(m, run=run)
    section = text.split("<h3>Contact</h3>")[1].split("</section>")[0]
    body = section.split("<tbody>")[1].split("</tbody>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.split("</tr>") if "<td" in row]
    assert [(r[0], int(r[1]), int(r[2])) for r in rows] == [(x.name, x.impacts, x.changes) for x in records]
    assert [float(r[4]) for r in rows] == pytest.approx([x.force for x in records], rel=1e-3)  # four digits are shown
    assert f"{c.touch_residual:.1e}" in section and f"{c.touch_depth:.1e}" in section
    assert "<h3>Contact</h3>" not in report.fragment(lw.load("door"), run=lw.load("door").simulate(0.1))


def decoded(x):
    return np.frombuffer(base64.b64decode(x["f64"])).reshape(x["shape"])


def test_solids_that_touch_are_drawn_where_they_are():
    """A block on a floor in space: its corners, a floor that is larger, and forces in the world where it touches."""
    model = block((1.0, 0.0, -9.81), mu=0.3) | {"start": {"base.z": 0.1}}
    m = lw.load(model)
    run = m.simulate(0.1)
    scene = Scene(m.system, None)
    skin, floor = (next(s.surface.vertices for s in scene.surfaces if s.body == name) for name in ("b", "ground"))
    np.testing.assert_allclose(np.abs(skin), np.tile([0.3, 0.2, 0.1], (len(skin), 1)))
    assert np.ptp(floor, axis=0)[:2].min() > 0.6 and floor[:, 2].max() == pytest.approx(0.0, abs=1e-15)
    forces = TouchForces(run)
    found = touching(run._instants[5], scene.size, forces.at(5))
    assert len(found) == 4
    np.testing.assert_allclose(sum(x.force for x in found), [-2.0, 0.0, 2.0 * 9.81], atol=1e-9)  # round-off of sums
    np.testing.assert_allclose([x.at[2] for x in found], 0.0, atol=1e-15)
    largest = touch_records(run)
    assert [x.name for x in largest] == [f"feet.{i}" for i in range(1, 5)]
    assert sum(x.friction for x in largest) == pytest.approx(2.0, rel=1e-9)


def test_the_report_of_a_cycle_has_its_lost_motion():
    """The slider of a crank gear with the play c in its crank pin moves by c / cos(angle of the rod); the driven crank does not."""
    m = lw.load("slider-crank-clearance")
    found = lost_motion(m.cycle(), "A")
    rows = {row[0]: row[1:] for row in (re.findall(r"<td[^>]*>([^<]*)", x) for x in found.split("<tr>")[2:])}
    assert set(rows) == {"B", "C", "guide", "rod.angle"}
    steepest = np.arcsin(50.0 / 180.0)
    assert rows["guide"][0] == "mm" and [float(x) for x in rows["guide"][1:3]] == pytest.approx([0.1, 0.1 / np.cos(steepest)], rel=1e-3)
    assert float(rows["guide"][3]) in (90.0, 270.0)
    assert "Lost motion" in report.fragment(m)
    assert lost_motion(lw.load("four-bar").cycle(), "A") == ""

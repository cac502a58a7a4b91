"""Edits in the page: reshaping and moving, undo, names and dimensions, questions, what is refused, and files that others change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.model import library as models
from tests.rings.studio.browser.desk import Desk
from tests.rings.studio.browser.pencil import Pencil, edited

# a four-bar with comments, a parameter and an expression
FOUR_BAR = """\
# a machine of the tests
name: machine
plane: xy
units: [mm, kg, deg, rpm]
parameters: {reach: 200}   # of the ground
drawing:
  A: [0, 0]        # left bearing
  B: [30, 60]
  C: [180, 120]
  D: [reach, 0]    # right bearing
  P: [100, 140]
bodies:
  ground:  {pins: [A, D]}
  crank:   {pins: [A, B], mass: 0.3}
  coupler: {pins: [B, C], points: [P], mass: 0.9}
  rocker:  {pins: [D, C], mass: 0.8}
drive: {A: 45 rpm}
"""


@pytest.fixture
def machine(tmp_path: Path, desk: Callable[..., Desk]) -> Iterator[tuple[Path, Pencil, Any]]:
    """The file of the four-bar, the pencil on its sheet and the server."""
    file = tmp_path / "machine.yaml"
    file.write_text(FOUR_BAR, encoding="utf-8")
    with edited(file) as server:
        pencil = Pencil(desk(server.address, ready=False, online=True))
        yield file, pencil, server
        pencil.leave()


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def test_draw_reshapes_and_move_moves(machine: tuple[Path, Pencil, Any]) -> None:
    file, pencil, _ = machine
    page = pencil.page
    pencil.moving()
    assert "changes the drawing and machine.yaml" in page.inner_text("#ed-legend")
    # a drag changes one line of the file, as one step of undo
    pencil.drag((30, 60), (40, 60), (40, 50))
    assert text_of(file) == FOUR_BAR.replace("B: [30, 60]", "B: [40, 50]") and pencil.ask("a.history.undo") == 1
    assert page.locator("#ed-part h2").inner_text() == "Pin B"
    # the paths of points follow from the kernels that were there
    pencil.moving()
    assert pencil.ask("ed.motion.started") == 1
    curve = np.array(pencil.ask("Array.from(ed.motion.traces()[0].points)")).reshape(-1, 3)[:, :2]
    turn = lw.load(file).cycle(steps=3600)  # places 0.1 mm apart; those of the page begin elsewhere on the same curve
    path = np.column_stack([turn["coupler.P.x"], turn["coupler.P.y"]])
    assert np.ptp(curve[:, 1]) > 0.02 and max(np.hypot(*(path - p).T).min() for p in curve) < 1e-4
    # a whole link, moved with its points
    pencil.drag((110, 85), (120, 95))
    assert all(one in text_of(file) for one in ("B: [50, 60]", "C: [190, 130]", "P: [110, 150]"))
    pencil.key("Control+z").key("Control+z")
    assert text_of(file) == FOUR_BAR and pencil.ask("a.history.undo") == 0 and page.is_disabled("#ed-undo")
    pencil.key("Control+y")
    assert text_of(file) == FOUR_BAR.replace("B: [30, 60]", "B: [40, 50]")
    page.click("#ed-undo")
    pencil.answered()
    # Move: the same drag turns the crank and leaves the file alone
    page.click("#ed-mode-move")
    pencil.moving()
    assert "to move the mechanism" in page.inner_text("#ed-legend") and page.is_hidden("#sheet") and page.is_visible("#stage")
    foot = page.locator("#menu-list .foot").text_content()
    assert "Every edit is sent to the Linkwright program" in foot and "Nothing is sent" not in foot
    page.evaluate("LW.app.player.pause(); LW.app.player.seek(0)")
    b = page.evaluate("((p) => LW.app.view.screen(LW.app.engine.place(p.body, p.at)))(LW.app.DATA.pins.find((p) => p.name === 'B').at)")
    angle = page.evaluate("LW.app.engine.state.drive[0]")
    page.mouse.move(*b)
    page.mouse.down()
    page.mouse.move(b[0] - 30, b[1] + 20)
    page.wait_for_function("(x) => Math.abs(LW.app.engine.state.drive[0] - x) > 0.1", arg=angle)
    page.mouse.up()
    assert text_of(file) == FOUR_BAR and pencil.ask("a.history.undo") == 0
    page.click("#ed-mode-draw")
    assert page.is_visible("#sheet")


@pytest.mark.slow
def test_names_dimensions_and_what_is_refused(machine: tuple[Path, Pencil, Any]) -> None:
    file, pencil, _ = machine
    page = pencil.page
    pencil.click((15, 30))
    assert page.locator("#ed-part h2").inner_text() == "Link crank"
    pencil.field("Name", "arm")
    assert "  arm:   {pins: [A, B], mass: 0.3}" in text_of(file)
    pencil.field("Length", "100,5")
    assert abs(np.hypot(*pencil.at("B")) - 100.5) < 1e-9
    kept = text_of(file)
    for label, text in (("Length", "-5"), ("Length", "0"), ("Mass value", "-0,2"), ("Name", "two words")):
        pencil.field(label, text)
        said = page.locator(f'#ed-part .ed-row:has([data-field="{label}"]) .ed-problem').inner_text()
        assert ("greater than 0" in said) if label != "Name" else ("no spaces" in said)
        assert text_of(file) == kept, "nothing is sent"
        page.locator(f'#ed-part [data-field="{label}"]').press("Escape")
    # the server's own refusal: a name that is taken
    pencil.field("Name", "rocker")
    assert "rocker" in page.inner_text("#ed-message") and text_of(file) == kept
    # two points of one link cannot be one pin: the point goes back
    pencil.drag((100, 140), pencil.at("C"))
    page.wait_for_function("() => !LW.editor.server.waiting() && LW.editor.answer.drawing.points.find((p) => p.name === 'P').at[0] === 0.1")
    assert "coupler" in page.inner_text("#ed-message") and text_of(file) == kept
    # typed while drawing
    pencil.tool("link").click((0, 0)).type("-40<90")
    assert "greater than 0" in page.inner_text("#ed-dimension-problem") and text_of(file) == kept
    page.keyboard.press("Escape")
    pencil.key("Escape").key("Escape")
    # a typed place at a drawn pin is that pin
    pencil.tool("link").type("{:g}; {:g}".format(*pencil.at("C")))
    assert pencil.ask("ed.tool.places()[0].point") == "C"
    pencil.key("Escape").key("Escape")
    # duplicate, delete, mirror
    pencil.ask("ed.select(['body:rocker'])")
    pencil.key("Control+d")
    assert len(pencil.ask("d.bodies")) == 5 and "1 degree" not in page.inner_text("#ed-mobility")
    pencil.key("Delete")
    assert len(pencil.ask("d.bodies")) == 4
    pencil.ask("ed.select(['body:arm', 'body:coupler', 'body:rocker'])")
    page.click("#ed-mirror")
    pencil.click((0, -20), (100, -20))
    assert len(pencil.ask("d.bodies")) == 7
    pencil.key("Control+z").key("Control+z").key("Control+z")
    assert text_of(file) == kept


def test_an_expression_asks_what_to_change(machine: tuple[Path, Pencil, Any]) -> None:
    file, pencil, _ = machine
    page = pencil.page
    pencil.drag((200, 0), (220, 0))
    box = page.locator(".ed-dialog")
    box.wait_for()
    assert "reach" in box.inner_text() and text_of(file) == FOUR_BAR
    box.get_by_text("Cancel").click()
    assert text_of(file) == FOUR_BAR and pencil.at("D") == (200, 0)
    pencil.drag((200, 0), (220, 0))
    box.locator('[data-choice^="parameter:"]').first.click()
    pencil.answered()
    assert text_of(file) == FOUR_BAR.replace("{reach: 200}", "{reach: 220}")
    pencil.click((0, 0), (220, 0)).field("x", "210")
    box.locator('[data-choice="replace"]').click()
    pencil.answered()
    assert "D: [210, 0]    # right bearing" in text_of(file)


@pytest.mark.slow
def test_files_changed_elsewhere_and_servers_that_stop(machine: tuple[Path, Pencil, Any]) -> None:
    file, pencil, server = machine
    page = pencil.page
    pencil.moving()
    passed = "() => /^[0-9]+ checks passed$/.test(document.querySelector('#checks summary').textContent.trim())"
    page.wait_for_function(passed)
    # a text editor's change appears by itself
    file.write_text(FOUR_BAR.replace("P: [100, 140]", "P: [100, 160]"), encoding="utf-8")
    page.wait_for_function("() => LW.editor.answer.drawing.points.find((p) => p.name === 'P').at[1] > 0.159")
    # a text that cannot be read: the last drawing stays, the banner says why
    file.write_text(FOUR_BAR.replace("bodies:", "bodies: ["), encoding="utf-8")
    page.wait_for_function("() => LW.editor.answer.stale")
    assert "machine.yaml" in page.inner_text("#ed-banner") and len(pencil.ask("d.points")) == 5
    assert page.locator("#checks summary").text_content() == "1 problem", "the checks were those of another text"
    file.write_text(FOUR_BAR, encoding="utf-8")
    page.wait_for_function("() => !LW.editor.answer.stale && document.getElementById('ed-banner').hidden")
    page.wait_for_function(passed)
    # both at once: the page has not heard of the other change yet when it edits
    page.evaluate("LW.editor.server.stop()")
    file.write_text(FOUR_BAR.replace("P: [100, 140]", "P: [100, 160]"), encoding="utf-8")
    pencil.ask("void ed.edit({ do: 'move', points: { B: [0.04, 0.05] } })")
    box = page.locator(".ed-dialog")
    box.wait_for()
    marked = box.locator("mark").all_inner_texts()
    assert {line.strip() for line in marked} == {"B: [40, 50]", "P: [100, 140]", "B: [30, 60]", "P: [100, 160]"}
    box.locator('[data-choice="merged"]').click()
    pencil.answered()
    both = FOUR_BAR.replace("B: [30, 60]", "B: [40, 50]").replace("P: [100, 140]", "P: [100, 160]")
    assert text_of(file) == both
    # a file that was deleted is said in the banner, and written again
    file.unlink()
    page.evaluate("LW.editor.server.start()")
    page.locator("#ed-banner-button").click()
    page.wait_for_function("() => document.getElementById('ed-banner').hidden")
    assert text_of(file) == both
    # read-only: said before anything is edited; what is edited then is written as soon as the file may be
    file.chmod(0o444)
    page.wait_for_function("() => document.getElementById('ed-banner-text').textContent.includes('read-only')")
    pencil.tool("pin").click((150, 0))
    assert text_of(file) == both and len(pencil.ask("d.points")) == 6
    file.chmod(0o644)
    page.wait_for_function("() => document.getElementById('ed-banner').hidden")
    assert "[150, 0]" in text_of(file)
    server.shutdown()
    server.socket.close()
    page.locator("#ed-banner").wait_for()
    assert "has stopped" in page.inner_text("#ed-banner") and page.is_visible("#sheet [data-name=B]")
    here = pencil.desk
    assert all("ERR_CONNECTION_REFUSED" in one for one in here.complaints)
    here.complaints.clear()


def test_every_control_has_a_name_and_keys_reach_it(machine: tuple[Path, Pencil, Any]) -> None:
    _, pencil, _ = machine
    page = pencil.page
    controls = "document.querySelectorAll('#edit-bar button, #draw button, #draw input, #draw select')"
    named = "n.getAttribute('aria-label') || n.textContent.trim() || (n.labels && n.labels.length)"
    nameless = page.evaluate(f"() => Array.from({controls}).filter((n) => n.offsetParent && !({named})).map((n) => n.id)")
    assert nameless == []
    # a pin reached by the keyboard, moved by arrow keys on the grid
    page.focus('#sheet [data-kind="pin"][data-name="B"]')
    pencil.key("Enter")
    assert pencil.ask("ed.selection") == ["point:B"]
    step = 1e3 * pencil.ask("ed.sheet.step()")
    pencil.key("ArrowRight").key("ArrowRight").key("ArrowUp")
    assert np.allclose(pencil.at("B"), (30 + 2 * step, 60 + step)) and pencil.ask("a.history.undo") == 1
    # tools by letters, places by numbers: a link without the mouse
    pencil.key("l").type("0; -50").type("80<0")
    pencil.key("Enter")
    assert pencil.ask("d.bodies.length") == 5 and pencil.at(pencil.ask("d.points[d.points.length - 1].name")) == (80, -50)
    pencil.key("v")
    assert pencil.ask("ed.tool.id") == "select" and page.get_attribute("#ed-tool-select", "aria-checked") == "true"


@pytest.mark.slow
def test_a_photo_is_scaled_by_two_clicks_and_a_dxf_is_true_to_scale(machine: tuple[Path, Pencil, Any], tmp_path: Path) -> None:
    from PIL import Image

    file, pencil, _ = machine
    page = pencil.page
    Image.new("RGB", (600, 300), "#d0b060").save(tmp_path / "photo.png")
    page.set_input_files("#ed-picture", tmp_path / "photo.png")
    page.wait_for_function("() => LW.editor.tool.id === 'scale' && document.querySelector('.ed-backdrop image')")
    pencil.answered()
    assert "file: photo.png" in text_of(file) and pencil.ask("a.history.undo") == 1
    before = pencil.ask("d.backdrop.scale")
    pencil.click((0, 0), (100, 0)).type("-5")
    assert "greater than 0" in page.inner_text("#ed-dimension-problem")
    page.fill("#ed-dimension", "250,0")
    pencil.key("Enter")
    # two places 100 mm apart are 250 mm in reality; clicks are not snapped, so they are half a pixel off
    pixel = 1 / pencil.ask("ed.sheet.scale()")
    assert abs(pencil.ask("d.backdrop.scale") / before - 2.5) < 2.5 * pixel / 0.1 and pencil.ask("ed.tool.id") == "select"
    page.click("#ed-backdrop")
    page.click("#ed-picture-remove")
    pencil.answered()
    assert text_of(file) == FOUR_BAR and page.locator(".ed-backdrop").count() == 0
    head, line = "0 SECTION 2 HEADER 9 $INSUNITS 70 4 0 ENDSEC", "0 SECTION 2 ENTITIES 0 LINE 8 0 10 0 20 0 11 120 21 50 0 ENDSEC 0 EOF"
    (tmp_path / "plan.dxf").write_text("\n".join(f"{head} {line}".split()), encoding="utf-8")
    page.set_input_files("#ed-picture", tmp_path / "plan.dxf")
    page.locator(".ed-backdrop path").wait_for(state="attached")
    pencil.answered()
    box = page.evaluate(
        "() => { const b = document.querySelector('.ed-backdrop path').getBoundingClientRect(); return [b.left, b.right]; }"
    )
    wanted = [pencil.pixel(0, 0)[0], pencil.pixel(120, 0)[0]]
    assert np.abs(np.subtract(box, wanted)).max() < 2, "the line of the DXF is 120 mm wide"


EVERY_PART = """() => {
  const ed = LW.editor, kinds = ["points", "bodies", "joints", "elements", "drives"];
  const parts = kinds.flatMap((kind) => ed.drawing()[kind]);
  return parts.map((part) => { ed.select([part.id]); return document.querySelector("#ed-part h2").textContent; });
}"""


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in models.names() if "\nplane:" in models.path(n).read_text(encoding="utf-8")])
def test_every_shipped_planar_model_opens_and_its_parts_have_panels(name: str, tmp_path: Path, desk: Callable[..., Desk]) -> None:
    file = tmp_path / f"{name}.yaml"
    text = models.path(name).read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    with edited(file) as server:
        pencil = Pencil(desk(server.address, ready=False, online=True))
        assert pencil.ask("a.complete"), pencil.ask("a.messages.map((m) => m.text)")
        titles = pencil.page.evaluate(EVERY_PART)
        assert len(titles) > 3 and "Nothing selected" not in titles
        assert text_of(file) == text, "looking changes nothing"
        pencil.leave()

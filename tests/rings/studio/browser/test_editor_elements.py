"""Elements in the editor by their own descriptions: tool, sketch, panel and text, without a line about any of them in the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import linkwright as lw
from linkwright import elements
from linkwright.model.edits.elements import addable
from tests.rings.studio.browser.desk import Desk
from tests.rings.studio.browser.pencil import Pencil, edited
from tests.rings.studio.browser.test_editor_edits import FOUR_BAR
from tests.sweeps import sweep

WORDS = sorted({x.word for x in elements.ELEMENTS if addable(x) == "ends"})


EVERYTHING = Path(__file__).parents[3] / "data" / "elements" / "everything-plane.yaml"


@pytest.fixture
def machine(tmp_path: Path, desk: Callable[..., Desk]) -> Iterator[tuple[Path, Pencil]]:
    file = tmp_path / "machine.yaml"
    file.write_text(FOUR_BAR, encoding="utf-8")
    with edited(file) as server:
        pencil = Pencil(desk(server.address, ready=False, online=True))
        yield file, pencil
        pencil.leave()


@sweep("word", WORDS, now=1)
def test_an_element_is_drawn_edited_and_removed(word: str, machine: tuple[Path, Pencil]) -> None:
    """Every kind with a tool: drawn between two points, its first number typed with a unit, undone, renamed, deleted."""
    file, pencil = machine
    kind = next(x for x in elements.ELEMENTS if x.word == word and addable(x) == "ends")
    name = f"{word}1"
    pencil.tool(word).click((100, 140), (150, 0))
    pencil.key("Escape")
    assert pencil.ask("ed.selection") == [f"{word}:{name}"]
    drawn = pencil.ask(f"d.elements.find((x) => x.id === '{word}:{name}')")
    assert drawn["looks"]["shape"] == kind.looks.shape and [e["at"] for e in drawn["ends"]] == [[0.1, 0.14], [0.15, 0.0]]
    if kind.looks.shape != "telescope":
        assert pencil.page.locator(f'#sheet [data-line="{name}"]').count() == 1
    assert pencil.page.locator("#sheet .lw-rubber").count() == (kind.looks.shape == "ring")
    assert pencil.page.inner_text("#ed-part h2") == f"{drawn['title']} {name}"
    x = getattr(lw.load(file).description, elements.held_in(kind))[0]
    assert x.name == name

    number = next(n for n in drawn["numbers"] if n["preset"] or n["drawn"] or not n["axes"])
    before = file.read_text(encoding="utf-8")
    size, unit = 1.25, number["unit"]["symbol"]
    pencil.field(number["label"], f"{size} {unit}")
    assert f"{number['key']}: {size} {unit}" in file.read_text(encoding="utf-8")
    pencil.key("Control+z")
    assert file.read_text(encoding="utf-8") == before

    pencil.field("Name", "mine")
    assert getattr(lw.load(file).description, elements.held_in(kind))[0].name == "mine"
    pencil.page.locator("#sheet").focus()
    pencil.key("Delete")
    assert f"{word}:mine" not in [x["id"] for x in pencil.ask("d.elements")]
    assert getattr(lw.load(file).description, elements.held_in(kind)) == ()


def test_a_bare_number_gets_the_unit_beside_it(machine: tuple[Path, Pencil]) -> None:
    file, pencil = machine
    pencil.tool("bushing").click((100, 140), (150, 0))
    assert "bushing1: {between: [coupler.P, ground.E]" in file.read_text(encoding="utf-8")
    row = pencil.page.locator('#ed-part .ed-row:has([data-field="Torsion"])')
    unit = row.locator(".ed-unit").inner_text()
    assert unit and row.get_attribute("title") == "about each axis"
    pencil.field("Torsion", "3")
    assert f"torsion: 3 {unit}" in file.read_text(encoding="utf-8")
    pencil.field("Torsion", "")  # an optional number that is emptied leaves the file
    assert "torsion" not in file.read_text(encoding="utf-8")
    pencil.field("Stiffness", "-4")
    assert "cannot be negative" in pencil.page.inner_text("#ed-part")


def test_an_element_in_a_joint_and_its_choices(machine: tuple[Path, Pencil]) -> None:
    """A kind that acts in joints alone is drawn by a click on one; a field that is one of some choices is a list in the panel."""
    file, pencil = machine
    pencil.tool("freewheel").click((0, 0))
    assert pencil.ask("ed.selection") == ["freewheel:freewheel1"]
    (wheel,) = lw.load(file).description.freewheels
    assert (wheel.joint, wheel.capacity, wheel.blocks) == ("A", 10.0, "backward")
    pencil.choose("Blocks", "forward")
    assert lw.load(file).description.freewheels[0].blocks == "forward"


SLIDER = (
    FOUR_BAR.replace("  rocker:  {pins: [D, C], mass: 0.8}", "  block:   {pins: [C], mass: 0.8}")
    .replace("[A, D]}", "[A]}").replace("  D: [reach, 0]    # right bearing\n", "")
    .replace("drive:", "joints:\n  guide: {type: prismatic, between: [ground, block], at: C, axis: [1, 0]}   # greased\ndrive:")
)  # fmt: skip


@pytest.mark.parametrize("text", [FOUR_BAR, SLIDER], ids=["pin", "slider"])
def test_friction_is_put_into_a_joint_and_changed(text: str, tmp_path: Path, desk: Callable[..., Desk]) -> None:
    """By a click on a pin or a guide: by the load at first; then with a breakaway. What cannot be is said at its field."""
    file = tmp_path / "machine.yaml"
    file.write_text(text, encoding="utf-8")
    pin = text is FOUR_BAR
    joint, place = ("A", (0, 0)) if pin else ("guide", (180, 120))
    with edited(file) as server:
        pencil = Pencil(desk(server.address, ready=False, online=True))
        pencil.tool("friction").click(place)
        pencil.key("Escape")
        assert pencil.ask("ed.selection") == ["friction:friction1"]
        entry = f"friction1: {{joint: {joint}, mu: 0.1{', radius: 5' if pin else ''}}}"
        first = file.read_text(encoding="utf-8")
        assert entry in first and first.replace(f"friction:\n  {entry}\n", "") == text  # with all its comments
        labels = pencil.page.eval_on_selector_all("#ed-part [data-field]", "fields => fields.map((x) => x.dataset.field)")
        assert labels == ["Name", "Coulomb", "Viscous", "Speed", "Mu", *(["Radius"] if pin else []), "Breakaway", "Stribeck"]

        why = pencil.page.locator('#ed-part .ed-row:has([data-field="Stribeck"]) .ed-problem')
        pencil.field("Stribeck", "0.2")  # nothing to fade
        assert "breakaway" in why.inner_text() and file.read_text(encoding="utf-8") == first
        pencil.field("Breakaway", "1.4").field("Stribeck", f"0.2 {'rad' if pin else 'm'}/s")
        assert not why.inner_text()
        (made,) = lw.load(file).description.frictions
        assert (made.joint, made.mu, made.breakaway, made.stribeck) == (joint, 0.1, 1.4, pytest.approx(0.2))
        pencil.field("Mu", "-0.2")
        assert "cannot be negative" in pencil.page.inner_text("#ed-part")
        pencil.field("Mu", "0.15")
        assert lw.load(file).description.frictions[0].mu == 0.15
        for _ in range(3):
            pencil.key("Control+z")
        assert file.read_text(encoding="utf-8") == first

        pencil.page.locator("#sheet").focus()
        pencil.key("Delete")
        assert file.read_text(encoding="utf-8") == text
        pencil.leave()


def test_every_tool_has_an_icon_of_its_own(machine: tuple[Path, Pencil]) -> None:
    _, pencil = machine
    icons = pencil.page.eval_on_selector_all("#ed-palette .ed-tool svg", "icons => icons.map((x) => x.innerHTML)")
    assert len(set(icons)) == len(icons) > len(WORDS), icons


def test_a_click_on_the_mark_of_a_joint_selects_what_lies_in_it(tmp_path: Path, desk: Callable[..., Desk]) -> None:
    """Every kind that acts in joints, in a file with all of them: the mark selects it and opens its panel, the pin is still the pin."""
    file = tmp_path / "everything.yaml"
    file.write_text(EVERYTHING.read_text(encoding="utf-8"), encoding="utf-8")
    joined = {(x.word, x.type) for x in elements.ELEMENTS if any(isinstance(r, elements.JointRole) for r in elements.roles(x).values())}
    with edited(file) as server:
        pencil = Pencil(desk(server.address, ready=False, online=True))
        marks = pencil.ask("ed.jointMarks.map((m) => ({...m.item, mark: m.at, pin: m.pin}))")
        assert {(x["word"], x["type"]) for x in marks} >= joined
        assert len(marks) == len(pencil.ask("d.elements.filter((x) => x.joint && !x.wheels)")), "all of them have a place"
        corner = pencil.page.locator("#sheet .ed-over").bounding_box()
        for x in marks:
            pencil.page.mouse.click(corner["x"] + x["mark"][0], corner["y"] + x["mark"][1])
            assert pencil.ask("ed.selection") == [x["id"]]
            assert pencil.page.inner_text("#ed-part h2") == f"{x['title']} {x['name']}"
            assert pencil.page.locator(".ed-joint-mark.selected").get_attribute("data-mark") == x["id"]
        alone = next(x for x in marks if x["joint"] == "V")
        pencil.page.mouse.click(*(a + b for a, b in zip((corner["x"], corner["y"]), alone["pin"], strict=True)))
        assert pencil.ask("ed.selection") == ["point:V"]
        pencil.page.locator(f'[data-mark="{alone["id"]}"]').focus()  # without a mouse
        pencil.key("Enter")
        assert pencil.ask("ed.selection") == [alone["id"]]
        assert pencil.page.locator("[data-mark]:focus").get_attribute("data-mark") == alone["id"]
        pencil.leave()

"""Texts that people leave half written: whatever is in the file, the page gets an answer with a drawing and messages."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from linkwright.errors import LinkwrightError
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.file.text_nodes import FileNode, TextSpan
from linkwright.rings.studio.editor.responses import EditAnswers
from linkwright.rings.studio.editor.session import EditStep, Session
from tests.model.edits.test_drawing_from_operations import FOUR_BAR, SIX_BAR, SLIDER_CRANK
from tests.model.edits.test_operations import TEXT
from tests.sweeps import sweep

VALUES = (
    "[]",
    "{}",
    "3",
    "A",
    "[A]",
    "{A: 3}",
    "",
    "-",
    "crank.B",
    "[1, 2, 3]",
    "''",
    "1e400",
    "nan",
    "[[A, B]]",
    "ground",
    "-5 mm",
    "sin(",
    "[B, crank]",
)
LETTERS = ("\n", "  ", ":", "{", "}", "[", "]", ",", "#", "'", "\t", "é", "*")


def spans(node: FileNode) -> Iterator[TextSpan]:
    if node.span is not None:
        yield node.span
    for inner in (*(node.items or ()), *(node.entries or {}).values()):
        yield from spans(inner)


def broken(rng: random.Random, text: str) -> str:
    """The text with values exchanged, lines lost and letters put in."""
    for _ in range(rng.randint(1, 3)):
        way = rng.random()
        if way < 0.6:
            try:
                span = rng.choice(list(spans(EditSheet(text, "x").root)))
            except LinkwrightError:
                return text
            text = text[: span.first] + rng.choice(VALUES) + text[span.end :]
        elif way < 0.8:
            lines = text.splitlines(keepends=True)
            del lines[rng.randrange(len(lines))]
            text = "".join(lines)
        else:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(LETTERS) + text[at:]
    return text


@sweep("seed", range(12), now=(0, 1))
def test_every_text_is_answered(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(FOUR_BAR)
    session = Session(path)
    answers = EditAnswers(session)
    rng = random.Random(seed)
    whole = stale = 0
    for _ in range(40):
        session._push(EditStep(broken(rng, rng.choice((FOUR_BAR, SIX_BAR, SLIDER_CRANK, TEXT))), "x"), write=False)
        answer = answers.state()
        json.dumps(answer, allow_nan=False)
        assert answer["mobility"]["text"]
        assert answer["complete"] or answer["messages"], session.text
        assert all(m["text"] and "Traceback" not in m["text"] for m in answer["messages"])
        whole, stale = whole + answer["complete"], stale + answer["stale"]
    assert whole and stale  # both happen


def test_a_misspelled_section_leaves_the_last_drawing_on_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(FOUR_BAR)
    session = Session(path)
    answers = EditAnswers(session)
    points = [p["name"] for p in answers.state()["drawing"]["points"]]
    session._push(EditStep(FOUR_BAR.replace("drawing:", "drawin:"), "x"), write=False)
    answer = answers.state()
    assert answer["stale"] and not answer["complete"] and points
    assert [p["name"] for p in answer["drawing"]["points"]] == points
    assert len(answer["messages"]) == 1 and "Did you mean 'drawing'?" in answer["messages"][0]["text"]
    session._push(EditStep("plane: xy\n", "x"), write=False)  # emptied on purpose: nothing is drawn
    assert not answers.state()["stale"] and not answers.state()["drawing"]["points"]


def test_missing_masses_are_named_where_loads_are_meant(tmp_path: Path) -> None:
    def notes(text: str) -> list[dict[str, object]]:
        path = tmp_path / "x.yaml"
        path.write_text(text)
        return [m for m in EditAnswers(Session(path)).state()["messages"] if m["code"] == "no_mass"]

    bodies = "bodies:\n  ground: {pins: [A]}\n  a: {pins: [A, B]}\n  b: {pins: [B]}\n"
    bare = f"plane: xy\ndrawing: {{A: [0, 0], B: [1, 0]}}\n{bodies}drive: {{A: 1}}\n"
    assert not notes(bare), "motion alone needs none"
    (note,) = notes(bare.replace("b: {pins: [B]", "b: {pins: [B], mass: 1, com: B, inertia: 1"))
    assert note["ids"] == ["body:a"] and note["level"] == "note" and "No mass is given for a:" in str(note["text"])
    (note,) = notes(bare + "loads: {push: {on: b.B, force: [1 N, 0 N]}}\n")
    assert note["ids"] == ["body:a", "body:b"]

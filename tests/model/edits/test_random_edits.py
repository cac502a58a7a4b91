"""Random sequences of edits: every text can be drawn, comments stay, and the draft after a rename and its reverse is the same."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from linkwright.errors import LinkwrightError, ModelError, UnfinishedModel
from linkwright.model.edits import described, perform
from linkwright.model.edits.drawing_draft import Draft, read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.library import names
from linkwright.model.library.file_lookup import model_file
from tests.model.edits.test_operations import TEXT
from tests.model.file.test_docs import EXAMPLES
from tests.sweeps import sweep

PLANAR = [n for n in names() if EditSheet(model_file(n).read_text(encoding="utf-8"), n).node("plane") is not None]


def random_operation(rng: random.Random, d: Draft) -> dict[str, Any]:
    """An operation on parts that are there; some of them cannot be done."""
    points = [n for n in d.points if "." not in n] or ["A"]
    bodies = [*d.bodies] or ["ground"]
    joints = [*d.joints] or ["A"]
    parts = [f"{'drive' if s == 'drive' else s.removesuffix('s')}:{n}" for s, n in d.parts if s in ("springs", "loads", "rods", "drive")]
    ids = [f"body:{b}" for b in bodies if b != "ground"] + [f"point:{p}" for p in points] + parts or ["body:x"]

    def at() -> list[float]:
        return [round(rng.uniform(-1, 1), 3), round(rng.uniform(-1, 1), 3)]

    def where() -> Any:
        return rng.choice(points) if rng.random() < 0.6 else {"at": at(), "ground": rng.random() < 0.3}

    return rng.choice(
        [
            {"do": "add_link", "through": [where() for _ in range(rng.randint(1, 3))]},
            {"do": "add_pin", "at": at(), "ground": rng.random() < 0.5},
            {"do": "add_point", "at": at(), "body": rng.choice(bodies)},
            {"do": "move", "points": {rng.choice(points): at()}},
            {"do": "move", "ids": [rng.choice(ids)], "by": at()},
            {"do": "add_slider", "at": where(), "axis": at()},
            {"do": "add_spring", "between": [rng.choice(points), rng.choice(points)]},
            {"do": "add_load", "on": rng.choice(points), "force": [10.0, "-5 N"]},
            {"do": "set_drive", "joint": rng.choice(joints), "value": "10 rpm"},
            {"do": "set_mass", "body": rng.choice(bodies), "mass": "0.4 kg"},
            {"do": "rename", "id": rng.choice(ids), "to": f"n{rng.randint(0, 99)}"},
            {"do": "delete", "ids": [rng.choice(ids)]},
            {"do": "duplicate", "ids": [rng.choice(ids)], "by": at()},
            {"do": "join", "point": rng.choice(points), "to": rng.choice(points)},
            {"do": "set_ground", "point": rng.choice(points), "ground": rng.random() < 0.5},
        ]
    )


@sweep("seed", range(20), now=[1, 2, 3])
def test_random_edits_give_texts_that_can_be_drawn(seed: int) -> None:
    rng, text = random.Random(seed), TEXT
    comments = ["# the wiper of the small bus", "name: wiper   # its name", "L1: 300 mm      # crank"]
    done = 0
    for _ in range(40):
        before = read_draft(EditSheet(text, "w.yaml"))
        op = random_operation(rng, before)
        try:
            found = perform(text, "w.yaml", [op], {f"drawing.{n}.{i}": "replace" for n in before.points for i in range(2)})
        except LinkwrightError:
            continue
        done += not found.questions
        text = found.text
        draft = read_draft(EditSheet(text, "w.yaml"))
        assert not [p for p in draft.problems if p.level == "error"], (op, draft.problems)
        meaning = described(text, "w.yaml")
        assert isinstance(meaning, UnfinishedModel) or not isinstance(meaning, ModelError), (op, meaning)
        assert all(c in text for c in comments), op
    assert done > 15  # most operations can be done


def renamed_and_back(text: str, name: str, folder: Path) -> int:
    """Give every point, body and joint of a text another name and its own again, to the letter; count them."""
    draft = read_draft(EditSheet(text, name))
    parts = [("point", n) for n, p in draft.points.items() if not p.own and not p.fixed]
    parts += [("body", n) for n, b in draft.bodies.items() if n != "ground" and not b.fixed]
    parts += [("joint", n) for n, j in draft.joints.items() if not j.implicit]
    done = 0
    for kind, part in parts:
        try:
            there = perform(text, name, [{"do": "rename", "id": f"{kind}:{part}", "to": "qqq"}]).text
        except LinkwrightError as refusal:
            assert "repeat" in str(refusal), (kind, part)
            continue
        assert not isinstance(described(there, name, folder), ModelError), (kind, part)
        assert perform(there, name, [{"do": "rename", "id": f"{kind}:qqq", "to": part}]).text == text
        done += 1
    return done


@sweep("name", PLANAR, now=PLANAR[::6])
def test_rename_and_back_is_the_same_text(name: str) -> None:
    text = model_file(name).read_text(encoding="utf-8")
    assert renamed_and_back(text, name, model_file(name).parent) or "repeat:" in text


@pytest.mark.parametrize("text", EXAMPLES, ids=[re.findall(r"name: (\S+)", e)[0] for e in EXAMPLES])
def test_names_of_every_section_are_known(text: str, tmp_path: Path) -> None:
    """The examples of docs/reference/model-file.md, which show every section."""
    sheet = EditSheet(text, "x.yaml")
    if sheet.node("plane") is not None and not isinstance(described(text, "x.yaml", tmp_path), ModelError):
        assert renamed_and_back(text, "x.yaml", tmp_path) or "repeat:" in text

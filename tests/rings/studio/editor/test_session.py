"""The history of an edited file, what other programs do to it, and conflicts: nothing is lost."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from linkwright.errors import LinkwrightError, UsageError
from linkwright.model.edits import Edited
from linkwright.model.edits.drawing_draft import read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.rings.studio.editor import session as sessions
from linkwright.rings.studio.editor.session import OUTSIDE, Conflict, EditStep, Session
from tests.model.edits.test_operations import TEXT
from tests.model.edits.test_random_edits import random_operation
from tests.refusals import refused
from tests.sweeps import sweep

PIN = {"do": "add_pin", "at": [2.0, 0.0], "ground": True}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "SETTLE", 0.01)


def file(tmp_path: Path, text: str = TEXT) -> Path:
    path = tmp_path / "wiper.yaml"
    path.write_bytes(text.encode())
    return path


def saved_outside(session: Session, text: str) -> None:
    """Another program writes the file, and the session notices."""
    session.path.write_bytes(text.encode())
    os.utime(session.path, ns=(time.time_ns(), time.time_ns() + 1_000_000))
    noticed(session)


def noticed(session: Session) -> None:
    for _ in range(3):
        session.look()
        time.sleep(0.015)


def done(session: Session, *operations: dict[str, Any], **options: Any) -> Edited:
    found = session.edit(session.version, operations, **options)
    assert isinstance(found, Edited)
    return found


@sweep(("newline", "mark"), [("\r\n", "\ufeff"), ("\n", ""), ("\n", "\ufeff"), ("\r\n", "")], now=1)
def test_random_edits_are_undone_to_the_letter(tmp_path: Path, newline: str, mark: str) -> None:
    original = mark + TEXT.replace("\n", newline)
    session = Session(file(tmp_path, original))
    rng, texts = random.Random(7), [original]
    for _ in range(25):
        try:
            done(session, random_operation(rng, read_draft(EditSheet(session.text.removeprefix("\ufeff"), "w"))))
        except LinkwrightError:
            continue
        if session.text != texts[-1]:
            texts.append(session.text)
    assert len(texts) > 10
    for text in reversed(texts):
        assert session.path.read_bytes().decode() == text
        if session.at:
            session.undo(session.version)
    assert session.path.read_bytes().decode() == original
    for text in texts[1:]:
        session.redo(session.version)
        assert session.path.read_bytes().decode() == text
    assert newline == "\n" or "\n" not in session.text.replace("\r\n", "")


def test_edits_of_one_drag_are_one_step(tmp_path: Path) -> None:
    session = Session(file(tmp_path))
    for x in (0.9, 0.91, 0.92):
        done(session, {"do": "move", "points": {"C": [x, 0.75]}}, drag="d1")
    assert session.at == 1 and "C: [0.92 m, 750]" in session.text
    done(session, {"do": "move", "points": {"C": [0.93, 0.75]}}, drag="d2")
    assert session.at == 2
    session.undo(session.version)
    session.undo(session.version)
    assert session.text == TEXT
    with refused(UsageError, name="undo"):
        session.undo(session.version)


def test_an_edit_in_another_program_is_a_step(tmp_path: Path) -> None:
    session = Session(file(tmp_path))
    done(session, PIN)
    before = session.version
    saved_outside(session, session.text.replace("name: wiper", "name: washer"))
    assert session.version != before and session.step.label == OUTSIDE and "name: washer" in session.text
    session.undo(session.version)
    assert "name: wiper" in session.path.read_text() and "E: [2000, 0]" in session.path.read_text()
    saved_outside(session, session.text)  # saved without a change
    assert session.step.label != OUTSIDE


@pytest.mark.parametrize(("choice", "pin", "name"), [("mine", True, False), ("theirs", False, True), ("merged", True, True)])
def test_conflict_keeps_both_texts(tmp_path: Path, choice: str, pin: bool, name: bool) -> None:
    session = Session(file(tmp_path))
    base = session.version
    saved_outside(session, TEXT.replace("name: wiper", "name: washer"))
    found = session.edit(base, [PIN])
    assert isinstance(found, Conflict)
    assert "E: [2000, 0]" in found.mine and "name: washer" in found.theirs
    assert found.merged is not None and "E: [2000, 0]" in found.merged and "name: washer" in found.merged
    assert isinstance(session.edit(session.version, [PIN]), Conflict)  # until the user has chosen
    assert session.path.read_text() == found.theirs
    session.resolve(choice)
    text = session.path.read_text()
    assert ("E: [2000, 0]" in text) == pin and ("name: washer" in text) == name
    assert {found.mine, found.theirs} <= {s.text for s in session.steps}  # undo reaches both


def test_conflict_where_the_edit_fits_only_one_text(tmp_path: Path) -> None:
    session = Session(file(tmp_path))
    base = session.version
    saved_outside(session, TEXT.replace("  crank:   {pins: [A, B], mass: 0.3}   # cast\n", ""))
    found = session.edit(base, [{"do": "set_mass", "body": "crank", "mass": 1.0}])
    assert isinstance(found, Conflict) and found.merged is None
    with refused(UsageError, name="choice"):
        session.resolve("merged")
    session.resolve("theirs")
    assert session.conflict is None


def test_a_text_written_in_the_same_moment_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program writes right after the session did, before it has looked at the file again."""
    session = Session(file(tmp_path))
    write = sessions.files.write_text

    def overtaken(path: Path, endings: Any, text: str) -> Path:
        write(path, endings, text)
        return write(path, endings, text.replace("name: wiper", "name: washer"))

    with monkeypatch.context() as patch:
        patch.setattr(sessions.files, "write_text", overtaken)
        done(session, PIN)
    noticed(session)
    assert "name: washer" in session.text and "E: [2000, 0]" in session.text and session.step.label == OUTSIDE


def test_unknown_base_is_refused(tmp_path: Path) -> None:
    with refused(UsageError, name="version"):
        Session(file(tmp_path)).edit("7-deadbeef", [PIN])


def test_read_only_file_loses_nothing(tmp_path: Path) -> None:
    session = Session(file(tmp_path))
    session.path.chmod(0o444)
    assert session.state()[0] == "read-only"
    done(session, PIN)
    assert session.path.read_text() == TEXT and "E: [2000, 0]" in session.text
    assert "not saved" in session.state()[1]
    with refused(UsageError, name="wiper.yaml"):
        session.save()
    session.save("copy")
    assert session.path.name == "copy.yaml" and session.state() == ("saved", "")
    assert (tmp_path / "wiper.yaml").read_text() == TEXT
    done(session, {**PIN, "at": [3.0, 0.0]})
    assert "F: [3000, 0]" in (tmp_path / "copy.yaml").read_text()
    with refused(UsageError, name="wiper.yaml"):
        session.save("wiper.yaml")
    with refused(UsageError, name="file"):
        session.save("../wiper")


def test_deleted_file_is_said_and_made_again_on_request(tmp_path: Path) -> None:
    session = Session(file(tmp_path))
    session.path.unlink()
    noticed(session)
    assert session.state()[0] == "deleted"
    done(session, PIN)
    assert not session.path.exists() and "E: [2000, 0]" in session.text
    session.save()
    assert session.state() == ("saved", "") and "E: [2000, 0]" in session.path.read_text()


def test_edits_reach_a_file_that_is_back(tmp_path: Path) -> None:
    session = Session(file(tmp_path))
    away = session.path.with_suffix(".away")
    session.path.rename(away)
    noticed(session)
    done(session, PIN)
    away.rename(session.path)
    noticed(session)
    assert session.state() == ("saved", "") and "E: [2000, 0]" in session.path.read_text()
    session.path.chmod(0o444)
    done(session, {**PIN, "at": [3.0, 0.0]})
    assert session.state()[0] == "read-only"
    session.path.chmod(0o644)
    session.look()
    assert session.state() == ("saved", "") and "F: [3000, 0]" in session.path.read_text()


def test_file_that_changed_while_edits_were_unsaved_is_a_conflict(tmp_path: Path) -> None:
    session = Session(file(tmp_path))
    session.path.chmod(0o444)
    done(session, PIN)
    session.path.chmod(0o644)
    saved_outside(session, TEXT.replace("name: wiper", "name: washer"))
    assert session.conflict is not None and "E: [2000, 0]" in session.conflict.mine
    session.resolve("mine")
    assert "E: [2000, 0]" in session.path.read_text()


def test_a_text_that_no_file_can_hold_changes_nothing(tmp_path: Path) -> None:
    session = Session(file(tmp_path))
    before = (session.version, session.text, len(session.steps))
    with refused(UsageError, name="text"):
        session._push(EditStep("name: \ud800", "Edit"))
    assert (session.version, session.text, len(session.steps)) == before

"""A model file that is edited from a page and by other programs at once: its texts, their history, and conflicts.

Every edit is a new text that is written to the file at once. A text that another program writes becomes a step of the same history, so
that undo reaches everything. An edit based on an older text than the file has is a conflict: both texts are retained and the user chooses.
A file that cannot be written (read-only, deleted, disk full) loses nothing: edits stay in memory until `save` succeeds.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkwright.api import LinkwrightError, ModelError, UsageError, file_nodes, files
from linkwright.model import edits

SETTLE = 0.15  # s a file must stay the same before what another program wrote is taken: editors write in pieces
PATIENCE = 1.0  # s an edit waits for such a file
SAVED, READ_ONLY, DELETED, UNREADABLE, UNSAVED = "saved", "read-only", "deleted", "unreadable", "unsaved"
OUTSIDE = "Edit in another program"
MOST_TEXTS = 2000  # on which an edit may be based: the last ones; the history itself has no end


@dataclass(frozen=True)
class EditStep:
    """A text of the history, and what led to it."""

    text: str
    label: str
    selection: tuple[str, ...] = ()
    drag: str = ""


@dataclass(frozen=True)
class Conflict:
    """An edit whose basis is no longer the file's text: both results, and the edit done on the other text where that is possible."""

    mine: str
    theirs: str
    merged: str | None
    label: str


class Session:
    """One file that is edited; calls come from several threads and wait for each other."""

    def __init__(self, path: Path):
        self.path = path
        self.lock = threading.RLock()
        self.texts: dict[str, str] = {}  # the last ones by version
        self.conflict: Conflict | None = None
        self._serial = 0
        self._disk = self._read()
        self._stamp = files.stamp(path)
        self._pending: tuple[Any, float] | None = None
        self._why = ""  # the text could not be written
        self._barred = False  # a text waits until the file may be written
        self.steps = [EditStep(self._disk, "")]
        self.at = 0
        self.version = ""
        self.touched = time.monotonic()  # when the text last changed
        self._renew()

    @property
    def text(self) -> str:
        return self.steps[self.at].text

    @property
    def step(self) -> EditStep:
        return self.steps[self.at]

    # ---------------------------------------------------------------- the file

    def _read(self) -> str:
        try:
            return file_nodes.text_of(self.path)
        except ModelError as problem:
            raise UsageError(str(problem)) from problem

    def state(self) -> tuple[str, str]:
        """State of the file and a sentence for the user, empty if all is well."""
        name = self.path.name
        if not self._stamp:
            return DELETED, f"{name} was deleted or moved. Your edits are in memory: save it again, or save a copy."
        if self.text == self._disk:
            if not _writable(self.path):
                return READ_ONLY, f"{name} is read-only. Edits stay in memory. Save a copy under another name."
            return SAVED, ""
        if not _writable(self.path):
            return READ_ONLY, f"{name} is read-only, so the last edits are not saved. Save a copy under another name."
        return UNSAVED, f"{name} could not be written: {self._why or 'the file is in use'}. Your edits are in memory."

    def look(self) -> None:
        """Take up what another program did to the file, once it has stopped writing."""
        with self.lock:
            now = files.stamp(self.path)
            if now == self._stamp:
                self._pending = None
                if self._barred and self.conflict is None and _writable(self.path):
                    self._write()
                return
            if not now:  # gone; editors that replace a file leave a gap
                if self._settled(now):
                    self._stamp = now
                return
            if self._settled(now):
                self._take(now)

    def _settled(self, stamp: Any) -> bool:
        if self._pending is None or self._pending[0] != stamp:
            self._pending = (stamp, time.monotonic())
            return False
        return time.monotonic() - self._pending[1] >= SETTLE

    def _take(self, stamp: Any) -> None:
        """The text that is in the file now."""
        self._pending, self._stamp = None, stamp
        try:
            text = file_nodes.text_of(self.path)
        except LinkwrightError as problem:
            self._why = str(problem)
            return
        if text == self._disk:
            if self.text != text:  # it is back, or may be written again
                self._write()
            return
        clean = self.text == self._disk
        self._disk = text
        if clean or text == self.text:
            if text != self.text:
                self._push(EditStep(text, OUTSIDE), write=False)
        else:
            self.conflict = Conflict(self.text, text, None, self.step.label)

    def _current(self) -> None:
        """Look at the file until it is at rest."""
        end = time.monotonic() + PATIENCE
        self.look()
        while self._pending is not None and time.monotonic() < end:
            time.sleep(0.02)
            self.look()

    def _write(self) -> None:
        """Write the present text, if the file is there and may be written."""
        self._barred = bool(self._stamp) and not _writable(self.path)
        if not self._stamp or self._barred:
            return
        try:
            if self.step.drag:  # one of many: the last one is on the disk soon enough
                with files.atomic(self.path, durable=False) as temporary:
                    temporary.write_text(self.text, encoding="utf-8", newline="\n")
            else:
                files.write_text(self.path, files.MODELS, self.text)
        except (LinkwrightError, OSError) as problem:
            self._why = str(problem).rstrip(".")
            return
        self._written()

    def _written(self) -> None:
        """Note what is on the disk now; a text that another program wrote in the same moment is noticed at the next look."""
        self._why, self._disk, stamp = "", self.text, files.stamp(self.path)
        try:
            self._stamp = stamp if file_nodes.text_of(self.path) == self.text else (0,)
        except ModelError:
            self._stamp = (0,)

    # ---------------------------------------------------------------- the history

    def _renew(self) -> None:
        self._serial += 1
        self.version = f"{self._serial}-{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"
        self.texts[self.version] = self.text
        if len(self.texts) > MOST_TEXTS:
            del self.texts[next(iter(self.texts))]
        self.touched = time.monotonic()

    def _push(self, step: EditStep, write: bool = True) -> None:
        """A new text; what was undone before is gone, the texts of one drag replace each other."""
        if not files.is_text(step.text):  # before anything changes
            raise UsageError(
                "the text has half of a character (a lone surrogate), which no file can hold. Nothing was changed.", name="text"
            )
        merged = bool(step.drag) and step.drag == self.step.drag and self.at == len(self.steps) - 1
        del self.steps[self.at + 1 :]
        if merged:
            self.steps[-1] = step
        else:
            self.steps.append(step)
        self.at = len(self.steps) - 1
        self._renew()
        if write:
            self._write()

    def edit(
        self,
        base: str,
        operations: Sequence[Mapping[str, Any]],
        answers: Mapping[str, str] | None = None,
        *,
        drag: str = "",
        label: str = "",
    ) -> edits.Edited | Conflict:
        """Do operations on the text of version `base`; with open questions nothing changes. Raise LinkwrightError if it cannot be done."""
        with self.lock:
            self._current()
            if self.conflict is not None:
                return self.conflict
            name, folder = self.path.name, self.path.parent
            if base != self.version:
                return self._diverged(base, operations, answers)
            edited = edits.perform(self.text, name, operations, answers, folder=folder)
            if not edited.questions and edited.text != self.text:
                self._push(EditStep(edited.text, label or edited.label, edited.selection, drag))
            return edited

    def _diverged(self, base: str, operations: Sequence[Mapping[str, Any]], answers: Mapping[str, str] | None) -> edits.Edited | Conflict:
        """The edit done on the text that the page had, and on the one that the file has."""
        name, folder = self.path.name, self.path.parent
        if base not in self.texts:
            raise UsageError("the text on this page is unknown to the server. Reload the page.", name="version")
        mine = edits.perform(self.texts[base], name, operations, answers, folder=folder)
        if mine.questions:
            return mine
        try:
            merged = edits.perform(self.text, name, operations, answers, folder=folder)
            both = merged.text if not merged.questions else None
        except LinkwrightError:
            both = None
        self.conflict = Conflict(mine.text, self.text, both, mine.label)
        return self.conflict

    def resolve(self, choice: str) -> None:
        """End a conflict by one of its texts; the others stay in the history."""
        with self.lock:
            found = self.conflict
            if found is None:
                raise UsageError("there is no conflict to resolve.")
            chosen = {"mine": found.mine, "theirs": found.theirs, "merged": found.merged}.get(choice)
            if chosen is None:
                possible = "mine, theirs or merged" if found.merged is not None else "mine or theirs"
                raise UsageError(f"choose {possible}.", name="choice")
            self.conflict = None
            if self.text != found.theirs:
                self._push(EditStep(found.theirs, OUTSIDE), write=False)
            if chosen != found.mine:
                self._push(EditStep(found.mine, found.label), write=False)
            if chosen != self.text:
                self._push(
                    EditStep(chosen, {"mine": found.label, "theirs": "Take the other text", "merged": f"{found.label} (merged)"}[choice])
                )
            else:
                self._write()

    def undo(self, base: str) -> None:
        self._go(base, -1)

    def redo(self, base: str) -> None:
        self._go(base, +1)

    def _go(self, base: str, by: int) -> None:
        with self.lock:
            self._current()
            if base != self.version:
                raise UsageError("the file has changed in the meantime. Nothing was undone. Look at it and try again.")
            if not 0 <= self.at + by < len(self.steps):
                raise UsageError("there is nothing to undo." if by < 0 else "there is nothing to redo.", name="undo")
            self.at += by
            self._renew()
            self._write()

    def save(self, name: str = "") -> None:
        """Write the present text: to its own file, which is made again if it is gone, or under another name beside it."""
        with self.lock:
            if name:
                if any(c in name for c in "/\\\0") or name.startswith("."):
                    raise UsageError("give the name of a file next to the model, without a folder.", name="file")
                path = self.path.with_name(name if name.lower().endswith(files.MODELS) else f"{name}.yaml")
                if files.checked(path, files.MODELS).exists():
                    raise UsageError(f"{path.name} already exists. Choose another name.", name=path.name)
                files.write_text(path, files.MODELS, self.text)
                self.path = path
            else:
                if self.path.exists() and not _writable(self.path):
                    raise UsageError(f"{self.path.name} is read-only. Save a copy under another name.", name=self.path.name)
                files.write_text(self.path, files.MODELS, self.text)
            self._written()


def _writable(path: Path) -> bool:
    """True if the user meant the file to be written: permissions of root do not count."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return os.access(path, os.W_OK) and bool(mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))

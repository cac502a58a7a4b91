"""Names of other programs as names of a model file: without dots and spaces, unique in their section."""

from __future__ import annotations

import re
from collections.abc import Iterable

from linkwright.model.file.reading_context import LONGEST_NAME
from linkwright.rings.exchange.reading.notes import ImportNotes

REFUSED = re.compile(r"[.\s]|[^\x20-\uffff]")


def usable(name: str) -> str:
    """A name with what a model file refuses replaced by underscores."""
    out = "".join("_" if REFUSED.match(c) or not c.isprintable() else c for c in name.strip())[:LONGEST_NAME]
    return out or "unnamed"


class NameTable:
    """Names of one kind (bodies, joints): those of the file, and the ones used for them."""

    def __init__(self, kind: str, notes: ImportNotes, reserved: Iterable[str] = ()):
        self.kind, self.notes = kind, notes
        self.taken = set(reserved)
        self.of: dict[str, str] = {}

    def add(self, name: str) -> str:
        """The name in the model of a thing of the file."""
        out = self.fresh(usable(name))
        self.of[name] = out
        if out != name:
            self.notes.infer(f"{self.kind} '{name}' is called '{out}'")
        return out

    def fresh(self, wanted: str) -> str:
        """A name that is not taken yet, as near to the wanted one as possible; it is taken now."""
        out, n = wanted, 1
        while out in self.taken:
            n += 1
            out = f"{wanted[: LONGEST_NAME - 8]}_{n}"
        self.taken.add(out)
        return out

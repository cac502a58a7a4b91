"""A model after a remedy: numbers by `m.with_`, edits by the text of its file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linkwright.api import Mechanism, UsageError, check_results, file_nodes, modelfile


def applied(m: Mechanism, remedy: check_results.Remedy) -> Mechanism:
    """Return the mechanism after a remedy; raise LinkwrightError if the edits cannot be made."""
    if remedy.edits:
        document = m.description.document
        if document is None or document.text is None:
            raise UsageError("these edits need the text of a model file. The model was not read from one.", name="edits")
        name = file_name(document)
        text = remedy.edited(document.text, name)
        fresh = replace(document, root=file_nodes.from_text(text, name), text=text, stores={})
        m = Mechanism(modelfile.reread(replace(m.description, document=fresh, plays=())))
    return m.with_(**remedy.changes) if remedy.changes else m


def file_name(document: Any) -> str:
    """The name of the file of a model, for messages."""
    return document.path.name if document.path is not None else f"{document.name}.yaml"

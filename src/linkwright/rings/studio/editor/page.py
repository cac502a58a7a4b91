"""The editor's page: the page of a mechanism with the editor in it, and the first answer; kernels follow when it asks for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from linkwright.rings.studio import live

FOLDER = "editor"  # of the assets


def page_text(answer: dict[str, Any]) -> str:
    """The page that begins with this answer."""
    known = {
        "name": answer["name"],
        "title": answer["name"],
        "axes": answer["axes"],
        "units": answer["units"],
        "planar": True,
        "edit": answer,
        "empty": True,
        "reload": None,
        "version": import_module("linkwright").__version__,
    }
    return live.assembled(answer["name"], "var mechanism=null;", known, planar=True, more=FOLDER)

"""The table of round trips in docs/how-to/import.md names the models that each format does not hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.model import library
from linkwright.rings.exchange.writing.mujoco.text import mjcf
from linkwright.rings.exchange.writing.robots import sdf_text, urdf_text, usd_text
from tests import ROOT


@pytest.mark.slow
def test_models_that_a_format_does_not_hold_are_those_of_the_docs() -> None:
    writers = {"URDF": lambda m: urdf_text(m, dialect="constraint"), "SDF": sdf_text, "USD": usd_text, "MJCF": mjcf}
    text = (ROOT / "docs" / "how-to" / "import.md").read_text(encoding="utf-8").partition("## Round trips")[2]
    for label, write in writers.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| {label}")).split("|")
        lost = {name for name in library.names() if not held(write, name)}
        named = set(re.findall(r"[a-z0-9-]+", re.sub(r"\([^)]*\)", "", row[4])))
        assert named == lost
        assert f"{len(library.names()) - len(lost)} of {len(library.names())}" in row[2]


def held(write: Callable[..., Any], name: str) -> bool:
    """True if a format holds a mechanism; one that it refuses is not held."""
    try:
        return not any(x.part == "mechanism" for x in write(lw.load(name)).lost)
    except LinkwrightError:
        return False

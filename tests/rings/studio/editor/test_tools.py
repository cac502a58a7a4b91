"""The tools of the editor's page in the docs are those that the elements describe."""

from __future__ import annotations

import re
from pathlib import Path

from linkwright.elements import ELEMENTS
from linkwright.model.edits.elements import addable
from linkwright.rings.studio.editor.parts import kinds_json

DOCS = Path(__file__).parents[4] / "docs"
PAGE = (DOCS / "how-to" / "editor.md").read_text(encoding="utf-8")
OF_THEIR_OWN = {"gear", "load"}  # tools that draw more than an element: wheels that touch, a force in a direction


def rows() -> list[tuple[str, str, str]]:
    """Tools, keys and how, as the table has them."""
    table = PAGE.partition("## Tools")[2].partition("In the bar:")[0]
    return [tuple(x.strip() for x in line.strip("| ").split("|", 2)) for line in table.splitlines() if line.startswith("| ")][1:]


def test_the_table_names_every_tool_of_an_element_with_its_key() -> None:
    listed = {label: key for labels, keys, _ in rows() for label, key in zip(labels.split(", "), keys.split(", "), strict=True)}
    tools = {k["tool"]["label"]: k["tool"]["key"].upper() for k in kinds_json() if k["tool"]}
    assert tools and {label: listed.get(label) for label in tools} == tools
    assert len(set(listed.values())) == len(listed)
    for place, says in (("ends", "click both ends"), ("joint", "click the hinge or slider")):
        (row,) = [x for x in rows() if x[2].startswith(says)]
        assert row[0].split(", ") == [k["tool"]["label"] for k in kinds_json() if k["tool"] and k["tool"]["place"] == place]


def test_the_page_says_which_elements_have_no_tool() -> None:
    (sentence,) = re.findall(r"^Slots, (.*) have no tool", PAGE, re.MULTILINE)
    words = {k["word"] for k in kinds_json() if k["tool"]} | OF_THEIR_OWN
    assert re.split(", | and ", sentence) == list(dict.fromkeys(k["section"] for k in kinds_json() if k["word"] not in words))


def test_the_page_names_the_operation_of_every_tool() -> None:
    operations = (DOCS / "reference" / "edits.md").read_text(encoding="utf-8")
    assert all(f"`add_{x.word}`" in operations for x in ELEMENTS if addable(x))

"""First five minutes: README, the order of the docs, llms.txt."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests import ROOT
from tests.docs.test_pages import blocks

README = ROOT / "README.md"
INDEX = ROOT / "docs" / "index.md"
NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
PAGES = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
LINK = re.compile(r"\]\(([^)#\s]+)")


def test_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) < 120


def test_readme_answers_a_question_in_four_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """The block prints the number in its comment."""
    ((_, block),) = blocks(README, "python")
    assert len([line for line in block.splitlines() if line]) <= 4
    exec(compile(block, str(README), "exec"), {})
    (answer,) = re.findall(r"print\(.*# ([\d.]+)", block)
    assert capsys.readouterr().out.split() == [answer]


def test_docs_are_ordered() -> None:
    sections = ["Get started", "Tutorials", "How-to", "Reference", "Explanation", "Evidence"]
    assert re.findall(r"^  - ([\w -]+):$", NAVIGATION, re.MULTILINE) == sections
    assert re.findall(r"^## (.*)$", INDEX.read_text(encoding="utf-8"), re.MULTILINE) == sections


def test_every_page_has_one_place() -> None:
    places = Counter(re.findall(r": ([\w/-]+\.md)$", NAVIGATION, re.MULTILINE))
    assert set(places) == PAGES and max(places.values()) == 1


def test_every_page_is_in_the_index() -> None:
    assert {x for x in LINK.findall(INDEX.read_text(encoding="utf-8")) if not x.startswith("../") and x.endswith(".md")} == PAGES - {
        "index.md"
    }


def test_llms_txt() -> None:
    """Format of the proposal: a title, a summary as a quotation, then sections of links to files, each with what it is about."""
    lines = (ROOT / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Linkwright" and lines[2].startswith("> ")
    sections = [i for i, line in enumerate(lines) if line.startswith("## ")]
    items = [line for line in lines[sections[0] :] if line and not line.startswith("## ")]
    assert len(items) > 25 and all(re.fullmatch(r"- \[[^\]]+\]\([^)]+\)(: .+)?", line) for line in items)
    assert all((ROOT / LINK.findall(line)[0]).is_file() for line in items)

"""First five minutes: README, the home page, the order of the docs, llms.txt."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
import yaml

import linkwright as lw
from linkwright.joints import JOINTS
from linkwright.model.library.file_lookup import model_file
from linkwright.rings import cli
from tests import ROOT
from tests.docs.test_pages import NUMBER, blocks
from tests.oldest import project

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
INDEX = ROOT / "docs" / "index.md"
NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
PAGES = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
TARGETS = set(re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
LINK = re.compile(r"\]\(([^)#\s]+)")


def test_readme_is_short() -> None:
    assert len(TEXT.splitlines()) < 90


def test_readme_answers_a_question_in_four_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """The block prints the numbers in its comments."""
    ((_, block),) = blocks(README, "python")
    assert len([line for line in block.splitlines() if line]) <= 4
    exec(compile(block, str(README), "exec"), {})
    assert capsys.readouterr().out.split() == re.findall(r"print\(.*# ([\d.]+)", block) == ["3.88", "9.63"]


def test_the_commands_of_the_readme_exist(tmp_path: Path) -> None:
    """Two targets of make first, each of which installs what it needs; then four lines that work in a clone."""
    (_, made), (_, installed) = blocks(README, "sh")
    targets = [line.split("#")[0].split() for line in made.splitlines()]
    assert targets == [["make", "demo"], ["make", "test"]] and {"demo", "test"} <= TARGETS
    *setup, show = [shlex.split(line, comments=True) for line in installed.splitlines()]
    assert setup == [["python3", "-m", "venv", ".venv"], [".", ".venv/bin/activate"], ["pip", "install", "."]]
    assert show[0] == "linkwright" and project()["scripts"]["linkwright"] and show[1:] == ["wiper"]
    assert cli.main([*show[1:], "-o", f"{tmp_path}/wiper.html"]) == 0
    assert TEXT.index("make demo") < TEXT.index("pip install .") < TEXT.index("```python")


def test_the_file_of_the_readme_is_the_model_of_its_block() -> None:
    ((_, text),) = blocks(README, "yaml")
    assert len(text.splitlines()) == 10
    shown, stored = yaml.safe_load(text), yaml.safe_load(model_file("wiper").read_text(encoding="utf-8"))
    assert shown == {k: v for k, v in stored.items() if k not in ("name", "about")}


def test_the_first_screen_of_the_readme() -> None:
    """What it is, one picture that moves, the status in one line, and six links for the next step."""
    status = next(line for line in TEXT.splitlines() if line.startswith("> Status: "))
    assert "alpha" in status and "not on PyPI" in status and "untested" in status and f"{lw.__version__[:3]} " in status
    tested = re.search(r"Python (3\.\d+) to (3\.\d+)", status)
    evidence = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs" / "evidence").glob("*.md"))
    assert tested and tested[1] == project()["requires-python"].removeprefix(">=") and f"3.12 and {tested[2]}" in evidence
    assert re.findall(r"!\[[^\]]*\]\(([^)]*)\)", TEXT) == ["docs/images/wiper.gif"]
    further = TEXT.partition("**Next:**")[2].partition("\n\n")[0]
    assert len(LINK.findall(further)) == 6 and all((ROOT / x).is_file() for x in LINK.findall(TEXT))


def test_the_figures_of_the_readme_are_those_of_the_results() -> None:
    """Those of the comparison, which another test compares with stored results."""
    assert "eleven joint types" in TEXT and len(JOINTS) == 11
    speeds = NUMBER.findall(TEXT.partition("forward dynamics takes")[2].partition(", on two")[0])
    page = (ROOT / "docs" / "evidence" / "comparison.md").read_text(encoding="utf-8").partition("<!-- table: forward -->")[2]
    table = page.partition("<!-- end -->")[0]
    assert len(speeds) == 4 and round(float(re.findall(r"\| linkwright .*?ns \| ([\d.]+) ns", table)[0])) == int(speeds[0])
    assert all(f"| {x} " in table for x in (f"{speeds[1]} ns", f"{speeds[2]} us", f"{speeds[3]} us"))


def test_docs_are_ordered() -> None:
    sections = ["Get started", "Tutorials", "How-to", "Reference", "Explanation", "Evidence", "Help"]
    assert re.findall(r"^  - ([\w -]+):$", NAVIGATION, re.MULTILINE) == sections


def test_every_page_has_one_place() -> None:
    places = Counter(re.findall(r": ([\w/-]+\.md)$", NAVIGATION, re.MULTILINE))
    assert set(places) == PAGES and max(places.values()) == 1


def test_home_fits_a_screen() -> None:
    """One picture that moves, three cards, four doors."""
    text = INDEX.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert len(re.sub(r"\([^)]*\)|[|#*`<>-]", " ", prose).split()) < 290
    assert re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text) == ["images/wiper.gif"]
    assert len(re.findall(r"^- \*\*", text, re.MULTILINE)) == 3 and len(re.findall(r"^\| (?!you want|---)", text, re.MULTILINE)) == 4


@pytest.mark.parametrize("page", sorted(p for p in PAGES if p.startswith(("start/", "tutorials/"))))
def test_pages_for_beginners_have_a_picture(page: str) -> None:
    assert "![" in (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_llms_txt() -> None:
    """Format of the proposal: a title, a summary as a quotation, then sections of links to files, each with what it is about."""
    lines = (ROOT / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Linkwright" and lines[2].startswith("> ")
    sections = [i for i, line in enumerate(lines) if line.startswith("## ")]
    items = [line for line in lines[sections[0] :] if line and not line.startswith("## ")]
    assert len(items) > 25 and all(re.fullmatch(r"- \[[^\]]+\]\([^)]+\)(: .+)?", line) for line in items)
    assert all((ROOT / LINK.findall(line)[0]).is_file() for line in items)

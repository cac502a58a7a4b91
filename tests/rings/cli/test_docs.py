"""`linkwright docs`: topics, pages and sections; texts of the program name pages that exist."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from linkwright.errors import UsageError
from linkwright.rings import cli
from linkwright.rings.cli import dispatch, docs
from linkwright.rings.cli.docs import headings, linked, readable, section, topic, topics
from tests import ROOT
from tests.refusals import refused
from tests.rings.cli.schemas import disagreements
from tests.sources import PACKAGE, python_files

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NAMED = re.compile(r"linkwright docs ([a-z0-9][\w/-]*)(?:#([\w-]+))?")
PAGE = """# A title

<a id="old"></a>
See [the other
page](simulate.md#result), <!-- a mark --> [outside](https://example.org) and `<loop>`.

![A picture](../images/x.png){ width=300 }

!!! note "Mind"
    This stays.

=== "Linux"
    ```bash
    # no heading, [no link](x.md)
    ```

## First [part](events.md)

one

### Below

two

## Second
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> docs.Topic:
    """The page above among pages with the names that it links to."""
    for name in ("how-to/simulate", "how-to/events", "explanation/simulate"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.md").write_text("# Other\n", encoding="utf-8")
    (tmp_path / "how-to" / "mine.md").write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(docs, "FOLDERS", (tmp_path / "none", tmp_path))
    topics.cache_clear()
    yield topic("mine")
    topics.cache_clear()


def test_every_page_is_a_topic() -> None:
    pages = [p for p in (ROOT / "docs").rglob("*.md") if p.parent != ROOT / "docs"]
    assert sorted(x.path for x in topics().values()) == sorted(pages)
    assert all(" " in x.title or x.title.istitle() or x.title.isupper() for x in topics().values()), "every page has a heading"


def test_names_and_paths_of_a_topic(page: docs.Topic) -> None:
    """The short name means the page of the first group, another page has its folder before its name."""
    assert list(topics()) == ["events", "mine", "simulate", "explanation/simulate"]
    for text in ("mine", "Mine", "how-to/mine", "docs/how-to/mine.md", "mine.md"):
        assert topic(text) is page
    assert topic("how-to/simulate").address == "how-to/simulate" and topic("explanation/simulate").group == "explanation"
    with refused(UsageError, name="topic", value="simulat"):
        topic("simulat")
    with refused(UsageError, name="topic"):
        topic("simulat")
    with refused(UsageError, name="topic"):
        topic("below")


def test_sections(page: docs.Topic) -> None:
    assert [slug for _, _, slug in headings(PAGE)] == ["a-title", "first-part", "below", "second"]
    assert section(page, "first-part") == "## First [part](events.md)\n\none\n\n### Below\n\ntwo\n"
    assert section(page, "Below") == "### Below\n\ntwo\n"
    with refused(UsageError, name="secnd"):
        section(page, "secnd")


def test_a_page_for_the_terminal(page: docs.Topic) -> None:
    """Code stays as it is; everything else loses what only a site shows."""
    text = readable(PAGE)
    assert "See the other\npage,  [outside](https://example.org) and `<loop>`." in text
    assert "(picture: A picture)\n" in text and "**Mind**\nThis stays.\n" in text
    assert "**Linux**\n```bash\n# no heading, [no link](x.md)\n```" in text
    assert "## First part" in text and "<a" not in text and "a mark" not in text
    assert [x.name for x in linked(page, PAGE)] == ["simulate", "events"]


def test_the_list_and_a_page_are_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert cli.main(["docs"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^  simulate +Simulation$", out, re.MULTILINE) and "\nExplanation\n" in out
    assert cli.main(["docs", "simulate"]) == 0  # no terminal: Markdown
    assert capsys.readouterr().out.startswith("# Simulation\n")
    monkeypatch.setenv("COLUMNS", "60")
    assert cli.main(["docs", "simulate#integrator-tolerance-step"]) == 0
    out = capsys.readouterr().out
    assert "Further topics:" in out and "|---|" not in out and max(map(len, out.splitlines())) <= 60


def test_every_page_can_be_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("simulate", "import", "fmu-c-javascript", "models"):
        assert cli.main(["docs", name]) == 0
        assert len(capsys.readouterr().out) > 1000


def test_mistakes_are_one_paragraph(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["docs", "simualte"]) == 1 and "Did you mean 'simulate'" in capsys.readouterr().err
    assert cli.main(["docs", "simulate#resutl"]) == 1 and "Did you mean 'result'" in capsys.readouterr().err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["simulate"], ["simulate#result"]):
        assert cli.main(["docs", "--json", *words]) == 0
        data = json.loads(capsys.readouterr().out)
        assert disagreements("docs", data) == []
        assert (data["page"] is None) == (not words)
    assert data["page"]["section"] == "result" and data["page"]["text"].startswith("## Result\n")
    assert {x["name"] for x in data["topics"]} == {"channels", "results"}


def test_an_installation_without_pages_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(docs, "FOLDERS", (tmp_path / "none",))
    topics.cache_clear()
    assert cli.main(["docs"]) == 1 and "no pages of the documentation" in capsys.readouterr().err
    topics.cache_clear()


@pytest.mark.parametrize("name", [*dispatch.NAMES, "page"])
def test_the_help_of_a_command_names_its_page(name: str) -> None:
    found = topic(dispatch.command_of(name).topic)
    assert found.path.is_file() and dispatch.parser_of(name).format_help().endswith(f"more: linkwright docs {found.name}\n")


def texts(path: Path) -> list[str]:
    """Strings of a Python file that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    first = [x.body[0] for x in ast.walk(tree) if isinstance(x, DOCUMENTED) and x.body]
    documented = {id(x.value) for x in first if isinstance(x, ast.Expr)}
    return [x.value for x in ast.walk(tree) if isinstance(x, ast.Constant) and isinstance(x.value, str) and id(x) not in documented]


def test_texts_of_the_program_name_topics_and_no_files() -> None:
    """Messages and help work after `pip install`: they name a topic that exists, not a file of the repository."""
    written = [(path, text) for path in python_files("src") if "docs" in path.read_text(encoding="utf-8") for text in texts(path)]
    written += [(path, path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("templates/*.yaml")]
    named = [(path, *m.groups()) for path, text in written for m in NAMED.finditer(text)]
    assert {name for _, name, _ in named} >= {"model-file", "limits", "controllers", "singular-positions"}
    for path, name, anchor in named:
        found = topic(name)
        assert anchor is None or anchor in [slug for _, _, slug in headings(found.text)], path
    files = [f"{path.name}: {m[0]}" for path, text in written if " " in text for m in re.finditer(r"docs/(?!make/)[\w/-]+\.md", text)]
    assert not files

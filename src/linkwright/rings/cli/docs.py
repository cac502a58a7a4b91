"""`linkwright docs`: the topics of the documentation, or one page of it in the terminal.

The wheel holds the text of the pages in `linkwright/docs`; in a checkout they are read from `docs`.
"""

from __future__ import annotations

import argparse
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from linkwright.api import LinkwrightError, UsageError, nearest
from linkwright.rings.cli import console, model_list, options, outputs
from linkwright.rings.cli.parser import CliCommand, option

FOLDERS = (Path(__file__).parents[2] / "docs", Path(__file__).parents[4] / "docs")  # of the wheel, of a checkout
GROUPS = {  # folder of pages -> heading of the list; a name that two folders have means the page of the first
    "start": "Get started", "how-to": "How-to", "tutorials": "Tutorials", "reference": "Reference", "explanation": "Explanation",
    "evidence": "Evidence",
}  # fmt: skip
HEADING = re.compile(r"(#+) +(.*?)(?: +#+)?$")
FENCE = re.compile(r" *(```|~~~)")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)(?:\{[^}\n]*\})?")
SECTIONS = 4  # listed if no topic has the name
WIDEST = 102  # columns of a page: code has up to 100
CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"<!--.*?-->|</?(?:a|br|details|div|figure|iframe|img|p|span|summary|video)\b[^>]*>", re.DOTALL)  # of the site alone
BOXED = re.compile(r'(?:!!!|\?\?\?\+?|===) *(?:[a-z]+ *)?(?:"(.*)")?$')  # head of a note or of a tab, whose text is indented


@dataclass(frozen=True)
class Topic:
    """A page by its name: `simulate`, or `explanation/singular-positions` if the short name means another page."""

    name: str
    group: str
    path: Path

    @property
    def title(self) -> str:
        """Return the first heading of the page."""
        return next((title for _, title, _ in headings(self.text)), self.name)

    @property
    def text(self) -> str:
        """Return the Markdown of the page."""
        return self.path.read_text(encoding="utf-8")

    @property
    def address(self) -> str:
        """Return the path of the page in the documentation, without its ending."""
        return self.path.relative_to(_folder()).with_suffix("").as_posix()


def _folder() -> Path:
    found = next((x for x in FOLDERS if x.is_dir()), None)
    if found is None:
        raise LinkwrightError("this installation has no pages of the documentation. Install Linkwright again: pip install linkwright")
    return found


@cache
def topics() -> dict[str, Topic]:
    """Return the topics by name, group by group."""
    folder = _folder()
    pages = [p for p in sorted(folder.rglob("*.md")) if p.parent != folder]
    order = [*GROUPS, *sorted({p.relative_to(folder).parts[0] for p in pages} - GROUPS.keys())]
    found: dict[str, Topic] = {}
    for path in sorted(pages, key=lambda p: order.index(p.relative_to(folder).parts[0])):
        address = path.relative_to(folder).with_suffix("").as_posix().removesuffix("/index")
        short = address.rpartition("/")[2]
        name = address if short in found else short
        found[name] = Topic(name, address.partition("/")[0], path)
    return found


def topic(text: str) -> Topic:
    """Return the topic of a name or of the path of its page."""
    asked = text.lower().removeprefix("docs/").removesuffix(".md")
    by_name = topics()
    by_path = {x.address: x for x in by_name.values()}
    if (found := by_name.get(asked) or by_path.get(asked)) is not None:
        return found
    word = re.compile(rf"\b{re.escape(asked.replace('-', ' '))}", re.IGNORECASE)
    every = ((x, title, slug) for x in by_name.values() for _, title, slug in headings(x.text)[1:])
    near = [f"{x.name}#{slug}" for x, title, slug in every if asked and word.search(title)]
    sections = f" Sections with this word: {', '.join(near[:SECTIONS])}." if near else ""
    raise UsageError(
        f"there is no topic '{text}'.{sections} {nearest(asked, by_name, 'Topics')} 'linkwright docs' lists all.",
        name="topic",
        value=text,
        allowed=list(by_name),
    )


# ---------------------------------------------------------------- Markdown


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a page, and True for those of its code."""
    code = False
    for line in text.splitlines():
        fence = FENCE.match(line) is not None
        yield line, code or fence
        code ^= fence


def headings(text: str) -> list[tuple[int, str, str]]:
    """Return level, title and anchor of the headings of a page."""
    found = [HEADING.match(line) for line, code in _lines(text) if not code]
    return [(len(m[1]), title, _anchor(title)) for m in found if m for title in [LINK.sub(r"\2", m[2])]]


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def section(page: Topic, anchor: str) -> str:
    """Return one section of a page with the sections below it."""
    every = headings(page.text)
    level = next((level for level, _, slug in every if slug == anchor.lower()), None)
    if level is None:
        slugs = [slug for _, _, slug in every[1:]]
        raise UsageError(f"'{page.name}' has no section '{anchor}'.", nearest(anchor, slugs, "Sections"))
    out: list[str] = []
    for line, code in _lines(page.text):
        m = None if code else HEADING.match(line)
        if m and out and len(m[1]) <= level:
            break
        if out or (m and len(m[1]) == level and _anchor(LINK.sub(r"\2", m[2])) == anchor.lower()):
            out.append(line)
    return "\n".join(out).strip() + "\n"


def readable(text: str) -> str:
    """Return Markdown for a terminal: links become text, pictures their descriptions, notes and tabs lose their frames."""
    out: list[str] = []
    boxed = False
    for line, code in _lines(text):
        boxed &= not line.strip() or line.startswith("    ")
        line = line.removeprefix("    ") if boxed else line
        if not code and (head := BOXED.match(line)):
            boxed = True
            line = f"**{head[1]}**" if head[1] else ""
        out.append(line)
    plain = "".join(x if code else HIDDEN.sub("", LINK.sub(_shown, x)) for x, code in _parts("\n".join(out)))
    return re.sub(r"\n{3,}", "\n\n", plain).strip() + "\n"


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield text and code in turn, and True for code."""
    for k, x in enumerate(CODE.split(text)):
        yield x, bool(k % 2)


def _shown(m: re.Match[str]) -> str:
    if m[1]:
        return f"(picture: {m[2]})" if m[2] else ""
    return m[0] if re.match(r"[a-z]+:", m[3]) else m[2]


def linked(page: Topic, text: str) -> list[Topic]:
    """Return the topics that a text of the page links to, in order."""
    by_path = {x.address: x for x in topics().values()}
    targets = [m[3].partition("#")[0] for x, code in _parts(text) if not code for m in LINK.finditer(x)]
    places = [posixpath.normpath(posixpath.join(posixpath.dirname(page.address), x)) for x in targets if x.endswith(".md")]
    found = [by_path[x] for x in dict.fromkeys(y.removesuffix(".md") for y in places) if x in by_path]
    return [x for x in found if x is not page]


# ---------------------------------------------------------------- the command


def run(given: argparse.Namespace) -> None:
    if given.topic is None:
        every = list(topics().values())
        if given.json:
            outputs.print_json("docs", {"topics": [_entry(x) for x in every], "page": None})
            return
        print(_list(every))
        return
    name, _, anchor = given.topic.partition("#")
    page = topic(name)
    text = section(page, anchor) if anchor else page.text
    more = linked(page, text)
    if given.json:
        outputs.print_json("docs", {"topics": [_entry(x) for x in more], "page": {**_entry(page), "section": anchor or None, "text": text}})
        return
    _print(readable(text))
    if more:
        print(console.wrapped(f"\nFurther topics: {', '.join(x.name for x in more)}"))


def _entry(x: Topic) -> dict[str, str]:
    return {"name": x.name, "group": x.group, "title": x.title}


def _list(every: list[Topic]) -> str:
    lines = [console.wrapped("'linkwright docs TOPIC' prints a page, 'linkwright docs TOPIC#SECTION' a part of it.")]
    for group in dict.fromkeys(x.group for x in every):
        names = [x.name for x in every if x.group == group]
        lines += ["", GROUPS.get(group, group.capitalize()), model_list.listing(names, lambda name: topics()[name].title)]
    return "\n".join(lines)


def _print(text: str) -> None:
    """Print a page: formatted on a terminal, as Markdown in pipes and files."""
    width = console.width()
    if width is None:
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=min(width, WIDEST)).print(Markdown(text, hyperlinks=False))


COMMAND = CliCommand(
    name="docs",
    topic="command-line",
    help="pages of the documentation, in the terminal",
    about="Print the topics of the documentation, or the page of one topic. A page is formatted on a terminal, and Markdown in pipes and "
    "files. No network is needed.",
    examples=("linkwright docs", "linkwright docs simulate", "linkwright docs import#mjcf"),
    options=(
        option("topic", metavar="TOPIC", nargs="?", help="topic of the page, with #SECTION for a part of it (default: list of topics)"),
        options.JSON,
    ),
    run=run,
)

"""Pieces of HTML for the report: sections, tables, lists of facts, and figures as SVG inside the page."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from linkwright.api import Cell, Table, check_results, show
from linkwright.rings.studio import style

MM = 1.0 / 25.4  # inches
MINUS = "\N{MINUS SIGN}"


def text(x: Any) -> str:
    """A value for people: numbers to four digits, yes and no, text escaped."""
    return html.escape(re.sub(r"^-(?=[0-9.])", MINUS, show(x)), quote=False)


def part(title: str, *content: str, note: str = "", together: bool = False) -> str:
    """A section with a heading, on one sheet if it should stay `together`; "" if it has nothing to say."""
    inside = "".join(x for x in content if x)
    if not inside and not note:
        return ""
    remark = f'<p class="rp-note">{html.escape(note)}</p>' if note else ""
    return f'<section class="rp-part{" rp-together" if together else ""}"><h3>{html.escape(title)}</h3>{inside}{remark}</section>\n'


def pair(left: str, right: str) -> str:
    """Two things side by side; one alone takes the whole width."""
    if not (left and right):
        return left or right
    return f'<div class="rp-pair"><div>{left}</div><div>{right}</div></div>\n'


def paragraph(sentence: str) -> str:
    return f"<p>{html.escape(sentence)}</p>" if sentence else ""


def note(sentence: str) -> str:
    return f'<p class="rp-note">{html.escape(sentence)}</p>' if sentence else ""


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and what there is to say about them."""
    inside = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(said)}</dd>" for name, said in rows if said)
    return f'<dl class="rp-facts">{inside}</dl>' if inside else ""


def table(header: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], left: int = 1) -> str:
    """(name, unit) heads and rows; the first `left` columns are text, the others numbers."""
    return _table(header, rows, ["w" if i < left else "n" for i in range(len(header))])


def _table(header: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], kinds: Sequence[str]) -> str:
    if not rows:
        return ""
    head = "".join(
        f'<th scope="col" class="{k}">{html.escape(name)}{f"<small>{html.escape(unit)}</small>" if unit else ""}</th>'
        for (name, unit), k in zip(header, kinds, strict=True)
    )
    body = "".join("<tr>" + "".join(_cell(x, k) for x, k in zip(row, kinds, strict=True)) + "</tr>\n" for row in rows)
    return f'<table class="rp-table"><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>'


def shown(t: Table, most: int | None = None) -> str:
    """A table of a result, its first `most` rows."""
    rows = [[Cell(None, c.text(i)) for c in t.columns] for i in range(min(len(t), most or len(t)))]
    return _table([(c.name, c.unit) for c in t.columns], rows, ["n" if c.numeric else "w" for c in t.columns])


def _cell(x: Any, kind: str) -> str:
    """A number stays on one line; several in one cell may be broken."""
    several = " s" if kind == "n" and isinstance(x, str) and ", " in x else ""
    return f'<td class="{kind}{several}">{text(x)}</td>'


MARKS = {"passed": ("ok", "✓"), "failed": ("bad", "✗"), "unknown": ("unknown", "?"), "": ("said", "·")}


def verdicts(checks: Iterable[check_results.Check]) -> str:
    """Checks: a mark, what was looked at, and what was found."""
    return _marked((x.verdict, x.name, x.text if x else f"{x.verdict}: {x.text}") for x in checks)


def listed(lines: Iterable[str]) -> str:
    """Sentences that are reported and not judged."""
    return _marked(("", "", line) for line in lines)


def _marked(rows: Iterable[tuple[str, str, str]]) -> str:
    inside = "".join(
        f'<li class="{MARKS[v][0]}"><span aria-hidden="true">{MARKS[v][1]}</span> <b>{html.escape(name)}</b> {html.escape(said)}</li>'
        for v, name, said in rows
    )
    return f'<ul class="rp-checks">{inside}</ul>' if inside else ""


def figure(drawn: Any, name: str, alt: str, caption: str = "") -> str:
    """A matplotlib Figure as SVG in the page: text stays text, names are its own, the same input gives the same characters."""
    buffer = io.StringIO()
    with style.settings(style.LIGHT):
        import matplotlib

        matplotlib.rcParams["svg.fonttype"] = "none"
        drawn.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = _cleaned(buffer.getvalue(), name)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(alt, quote=True)}" ', 1)
    remark = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return f'<figure class="rp-figure">{svg}{remark}</figure>\n'


def _cleaned(svg: str, name: str) -> str:
    """The picture alone, with ids of its own (a page holds several) and coordinates to a hundredth of a point."""
    svg = svg[svg.index("<svg ") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    # a style in a figure is one of the whole file: what it says of every line is inherited from the figure itself
    rules = re.findall(r"<style[^>]*>\s*\*\s*\{([^}]*)\}\s*</style>", svg)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = svg.replace("<svg ", f'<svg style="{"; ".join(rules)}" ', 1) if rules else svg
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*" height="[^"]*"|(<svg [^>]*?)height="[^"]*" width="[^"]*"', r"\1\2", svg, count=1)
    svg = re.sub(r"<[^>]+>", lambda tag: re.sub(r"\d+\.\d{3,}(?!\d*e)", _rounded, tag.group()), svg)  # not in what is written
    return re.sub(r"\s*\n\s*", "\n", svg).strip()


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")

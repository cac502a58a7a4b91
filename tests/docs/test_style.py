"""Style of the pages, as figures over all of them together: README, CONTRIBUTING and docs, without blocks that a program writes.

Semicolons, "that of", "where" and long sentences make a text hard to read. Reasons and examples make it easy.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONG_LINE, LONG_SENTENCE = 120, 40  # columns, words

# Per 1,000 words of running text, or a share in percent of sentences or of all words, or a number of lines.
AT_MOST = {
    "semicolons": 3.0,
    "that of, those of": 0.3,
    "where": 2.0,
    "long sentences, %": 3.0,
    "long lines": 0,
    "words in tables, %": 20.0,
}
AT_LEAST = {"reasons": 4.0, "examples": 2.0}

PATTERNS = {
    "semicolons": r";",
    "that of, those of": r"\b(?:that|those) (?:of|that|which)\b|\bthe ones?\b",
    "where": r"\bwhere\b",
    "reasons": r"\b(?:because|however|therefore|so that|although|but)\b",
    "examples": r"\b(?:for example|such as|e\.g\.)",
}
GENERATED = re.compile(r"<!-- table: .*?<!-- end -->", re.DOTALL)
CODE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\([^)]*\)")
EQUATION = re.compile(r"\$\$.*?\$\$", re.DOTALL)
NOT_PROSE = ("|", "#", "    ", "!!!", "<")


class Counts(NamedTuple):
    """Numbers of words, sentences and patterns of texts."""

    words: int
    in_tables: int
    sentences: int
    long_sentences: int
    long_lines: int
    found: dict[str, int]


def counts(text: str) -> Counts:
    """Count in a Markdown text. A line may be long if it is a table row or a picture, or by the target of a link."""
    text = CODE.sub("", GENERATED.sub("", text))
    short = LINK.sub("]", text).split("\n")
    lines = text.split("\n")
    rows = [line for line in lines if line.lstrip().startswith("|")]
    prose = "\n".join(line for line in EQUATION.sub("", text).split("\n") if not line.startswith(NOT_PROSE))
    prose = LINK.sub("]", re.sub(r"`[^`]*`|\$[^$\n]*\$", "x", prose))
    sentences = [s for s in re.split(r"(?<=[.!?])\s+|\n\s*\n|\n(?=[-*] )", prose) if s.strip()]
    return Counts(
        words=len(prose.split()),
        in_tables=sum(len(row.split()) for row in rows),
        sentences=len(sentences),
        long_sentences=sum(len(s.split()) > LONG_SENTENCE for s in sentences),
        long_lines=sum(len(line) > LONG_LINE and not line.startswith(("|", "![")) for line in short),
        found={name: len(re.findall(pattern, prose, re.IGNORECASE)) for name, pattern in PATTERNS.items()},
    )


def figures(texts: list[str]) -> dict[str, float]:
    """Return the figures of several texts together."""
    each = [counts(text) for text in texts]
    words = sum(c.words for c in each) or 1
    in_tables = sum(c.in_tables for c in each)
    rates = {name: 1000 * sum(c.found[name] for c in each) / words for name in PATTERNS}
    return rates | {
        "long sentences, %": 100 * sum(c.long_sentences for c in each) / (sum(c.sentences for c in each) or 1),
        "long lines": float(sum(c.long_lines for c in each)),
        "words in tables, %": 100 * in_tables / (words + in_tables),
    }


@cache
def measured() -> dict[str, float]:
    return figures([page.read_text(encoding="utf-8") for page in PAGES])


@pytest.mark.parametrize("name", AT_MOST)
def test_pages_have_little_of_what_makes_them_hard_to_read(name: str) -> None:
    assert measured()[name] <= AT_MOST[name], worst(name)


@pytest.mark.parametrize("name", AT_LEAST)
def test_pages_give_reasons_and_examples(name: str) -> None:
    assert measured()[name] >= AT_LEAST[name], worst(name)


def worst(name: str) -> str:
    """Pages with the highest figures, for the message."""
    found: dict[Path, float] = {page: figures([page.read_text(encoding="utf-8")])[name] for page in PAGES}
    order = sorted(found, key=lambda page: found[page] if name in AT_LEAST else -found[page])
    return "\n".join(f"{page.relative_to(ROOT)}: {found[page]:.1f}" for page in order[:10])


def test_figures_of_a_text() -> None:
    text = "One rod; the length is that of the other, where it fits. It is short because the arm is, for example.\n\n| a | b |\n"
    found = figures([text])
    assert [round(found[name] / 1000 * 20) for name in PATTERNS] == [1, 1, 1, 1, 1]
    assert found["long lines"] == 0 and found["long sentences, %"] == 0 and round(found["words in tables, %"]) == 19
    assert figures(["```text\nwhere; where;\n```\nShort."])["where"] == 0
    assert figures([" ".join(["word"] * 41) + "."])["long sentences, %"] == 100
    assert figures(["x" * 121])["long lines"] == 1 and figures([f"| {'x' * 121} |"])["long lines"] == 0


# ---------------------------------------------------------------- the glossary


def test_the_glossary_has_each_term_once_and_in_order() -> None:
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^- \*\*([^*]+)\*\*: (.+)$", page, re.MULTILINE)
    terms = [term for term, _ in rows]
    assert 55 <= len(terms) == len(set(terms)) and terms == sorted(terms, key=str.casefold)
    assert {"branch", "assembly mode", "dead center", "degree of freedom", "statically determinate", "wrench", "reaction"} <= set(terms)
    assert {"dwell", "transmission angle", "pressure angle", "mechanical advantage", "cut joint", "control authority"} <= set(terms)
    assert {"stroke", "redundant constraint"} <= set(terms) and all(len(meaning) > 10 for _, meaning in rows)

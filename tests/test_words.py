"""Words of texts and code: docstrings, comments, messages, page, docs, identifiers. Private jargon is refused, each thing has its
name of the glossary.

A text is searched without code: no code spans, no fenced blocks, no names of channels, no LLVM registers. Identifiers are searched
part by part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT
from tests.sources import PACKAGE, python_files, source

SEARCHED = ("src", "docs", "examples", "gallery", "benchmarks", "tools")

# What is refused, and a term to take instead.
BANNED = {
    r"told|tell(?:s|ing)?": "report, say, determine, distinguish",
    r"nobody(?:'s)?": "no drive, not used; or say who",
    r"stand(?:s|ing)?|stood": "is, is at rest, is at",
    r"kept": "stored, cached, saved, retained, met",
    r"wish(?:es|ed)?": "condition, prescribed motion, option",
    r"(?:go|goes|going|went) on": "continue",
    r"cares? for": "minimize, treat",
    r"as (?:it|they|you|he) likes?": "freely",
    r"usual(?:ly)?": "default, standard, typical",
    r"lean(?:s|t|ing)?": "economical, loaded",
    r"grips?": "control authority",
    r"fine": "passed, valid, regular",
    r"words": "options, arguments, names, text",
    r"freedoms|(?<!of )freedom": "degree of freedom, degrees of freedom",
    r"efforts of the drives": "drive torques and forces",
    r"(?:energy|J) turned over": "energy exchanged",
    r"zero throughout": "zero over the whole cycle",
    r"(?:optim|linear|stabil|normal|minim|maxim|initial|summar|recogn|organ|general|visual|random|parametr|discret|regular|util|synthes)"
    r"is(?:e[drs]?|ing|ers?|ations?)|analys(?:ed|ing)": "American spelling: optimize, analyzed",
    r"(?:colour|behaviour|neighbour|favour)\w*|(?:milli)?metres?|cent(?:re[ds]?|ring)|grey|catalogues?|programmes?": "color, meter, center",
    r"(?:label|model|travel|cancel)l(?:ed|ing)|towards|(?:mis)?spelt|learnt": "labeled, toward, misspelled, learned",
}
REFUSED = re.compile(rf"\b(?:{'|'.join(BANNED)})\b", re.IGNORECASE)

# Plain English uses that are right, with the reason.
ALLOWED = {
    "stands for": "a symbol represents something",
    "stand for": "the same",
    "stands out": "a value exceeds its neighbors",
    "test stand": "a laboratory machine",
}
ALLOWED_PHRASE = re.compile("|".join(rf"\b{re.escape(p)}\b" for p in ALLOWED), re.IGNORECASE)
CODE = re.compile(r"`[^`\n]*`|%\w+|\b[\w*]+\.\w+(?:\.\w+)*\b|\{\{?\w+\}?\}")

# Parts of identifiers that are refused: the words above that can be one, and their participles.
BANNED_PARTS = re.compile(
    r"optimise|linearise|stabilis(?:e|er|ation)|normalis(?:e|ed|ation)|initialise|optimisation|colou?rise|colour|behaviour|neighbours?|centre|"
    r"towards|misspelt|spelt|learnt|told|tell|tells|telling|nobody|stands?|standing|stood|kept|wish|wishes|wished|usual|usually|leans?|leant|grips?|gripped|fine|words",
    re.IGNORECASE,
)
FOREIGN = {"tell": "of a stream", "break_long_words": "of textwrap"}  # names of the standard library
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
CLAUSE = re.compile(r"(?:What|Where|Whether|Who|Which)\b")  # a docstring begins with its term or its verb

JS_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\\n]|\\.)*)`", re.DOTALL)


def refused(text: str) -> list[str]:
    """Return the refused words of a text."""
    if not REFUSED.search(text):  # most texts: code need not be taken out
        return []
    return [m.group(0) for m in REFUSED.finditer(ALLOWED_PHRASE.sub(" ", CODE.sub(" ", text)))]


def python_texts(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield (kind, line, text) of docstrings, comments and strings that are sentences; identifiers and keys have no space."""
    read = source(path)
    for kind, found in (("docstring", read.docstrings), ("text", read.sentences), ("comment", read.comments)):
        for line, text in found:
            yield kind, line, text


@cache
def refused_parts(name: str) -> list[str]:
    """Return the refused parts of an identifier."""
    if name in FOREIGN:
        return []
    return [x for x in PART.findall(name) if BANNED_PARTS.fullmatch(x)]


def script_texts(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield the string literals of a script; what a template inserts is code."""
    source = path.read_text(encoding="utf-8")
    for m in JS_STRING.finditer(source):
        text = next((g for g in m.groups() if g is not None), "")
        if " " in text:
            yield "text", source.count("\n", 0, m.start()) + 1, re.sub(r"\$\{[^{}]*\}", " ", text)


def page_texts(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield what an HTML page shows and the labels of its elements."""
    hidden = re.compile(r"<(style|script)\b.*?</\1>", re.DOTALL)
    source = hidden.sub(lambda m: "\n" * m.group(0).count("\n"), path.read_text(encoding="utf-8"))
    for number, line in enumerate(source.splitlines(), 1):
        yield "text", number, " ".join([re.sub(r"<[^>]*>", " ", line), *re.findall(r"(?:aria-label|title|content)=\"([^\"]*)\"", line)])


def prose(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield the lines of a Markdown file outside fenced blocks."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced:
            yield "docs", number, line


def abouts(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield the line of a built-in model that lists and pages show."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("about:"):
            yield "text", number, line


@cache
def texts() -> list[tuple[Path, str, int, str]]:
    readers = [
        (python_texts, python_files(*SEARCHED)),
        (script_texts, (p for p in PACKAGE.rglob("*.js") if "vendor" not in p.parts)),
        (page_texts, PACKAGE.rglob("*.html")),
        (abouts, (PACKAGE / "model" / "library").glob("*.yaml")),
        (prose, [*ROOT.glob("[!C]*.md"), *ROOT.glob("CO*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "paper").glob("*.md")]),
    ]
    return [(path, *found) for read, paths in readers for path in sorted(paths) for found in read(path)]


def test_texts_use_the_terms_of_the_glossary() -> None:
    found = []
    for path, kind, line, text in texts():
        found += [f"{path.relative_to(ROOT)}:{line}: {kind}: '{word}'" for word in refused(text)]
    assert not found, "\n".join([*found, "instead: " + "; ".join(f"{k}: {v}" for k, v in BANNED.items())])


def test_identifiers_use_the_terms_of_the_glossary() -> None:
    found = []
    for path in python_files(*SEARCHED):
        names = sorted(source(path).identifiers)
        found += [f"{path.relative_to(ROOT)}:{line}: '{name}'" for line, name in names if refused_parts(name)]
        found += [f"{path.relative_to(ROOT)}: file name" for _ in refused_parts(path.stem)]
    assert not found, "\n".join(found)


def test_docstrings_begin_with_a_term_or_a_verb() -> None:
    found = []
    for path in python_files("src"):
        begun = ((line, text.strip()) for line, text in source(path).docstrings)
        found += [f"{path.relative_to(ROOT)}:{line}: {text[:60]}" for line, text in begun if CLAUSE.match(text)]
    assert not found, "\n".join(found)


def test_all_kinds_of_texts_are_read() -> None:
    seen: dict[str, int] = {}
    for path, _, _, text in texts():
        seen[path.suffix] = seen.get(path.suffix, 0) + bool(text.strip())
    assert seen[".py"] > 3000 and seen[".js"] > 100 and seen[".html"] > 20 and seen[".md"] > 3000 and seen[".yaml"] > 20, seen


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the drives lose their grip and nobody drives it", ["grip", "nobody"]),
        ("1 freedom, 2 freedoms, three degrees of freedom", ["freedom", "freedoms"]),
        ("7 checks fine", ["fine"]),
        ("optimising towards the centre of the grey areas by analyses", ["optimising", "towards", "centre", "grey"]),
        ("the run goes on and is kept", ["goes on", "kept"]),
        ("`kept` is a module, control.authority a channel, %words a register; A stands for the crank", []),
    ],
)
def test_refused_words_are_found_outside_code(text: str, words: list[str]) -> None:
    assert refused(text) == words


@pytest.mark.parametrize(
    ("name", "parts"),
    [("MOST_TOLD", ["TOLD"]), ("is_kept_here", ["kept"]), ("LeanRows", ["Lean"]), ("break_long_words", []), ("tellurium", [])],
)
def test_refused_parts_of_identifiers(name: str, parts: list[str]) -> None:
    assert refused_parts(name) == parts


def test_the_glossary_has_each_term_once_and_in_order() -> None:
    page = (ROOT / "docs" / "explanation" / "notation.md").read_text(encoding="utf-8").split("## Glossary", 1)[1].split("\n## ", 1)[0]
    rows = [row.strip("| ").split(" | ", 1) for row in page.splitlines() if row.startswith("| ") and not row.startswith("| term")]
    terms = [term for term, _ in rows]
    assert 55 <= len(terms) == len(set(terms)) and terms == sorted(terms, key=str.casefold)
    assert {"branch", "assembly mode", "dead center", "degree of freedom", "statically determinate", "wrench", "reaction"} <= set(terms)
    assert {"dwell", "transmission angle", "pressure angle", "mechanical advantage", "cut joint", "control authority"} <= set(terms)
    assert {"stroke", "redundant constraint"} <= set(terms) and all(len(meaning) > 10 for _, meaning in rows)

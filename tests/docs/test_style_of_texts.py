"""Style of the texts that the program prints: messages, help of commands, sentences of page and editor, docstrings of public calls.

Figures over all texts of a kind together, as `test_style` has them of the pages.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache

import pytest

from linkwright.rings.cli.dispatch import NAMES, parser_of
from tests.sources import PACKAGE, python_files
from tests.surface import public_calls, public_names

ASSETS = PACKAGE / "rings" / "studio" / "live" / "assets"
PAPERS = PACKAGE / "rings" / "papers"  # short remarks on printed equations

PATTERNS = {
    "semicolons": r";",
    "that of, those of": r"\b(?:that|those) (?:of|that|which)\b|\bthe ones?\b",
    "where": r"\bwhere\b",
    "words not used": r"\b(?:beside|behind|but for|by itself|as drawn|left out:|anew|dearer|shall|wanted|mend(?:s|ed)?|verdict)\b"
    r"|(?<!here )\b(?:is|are) no (?!longer|more)[a-z]+",
    "the program as a person": r"\b(?:says?|said|tells?|told|doubts?|asks?)\b|\bknows\b",
    "what, which, who as subject": r"(?:^|[.!?:] "
        r")(?:What|Where|Whether|Which|Who|what|whether|who)\b[^?\n]{3,90}?\b(?:is|are|has|does|gets|stays)\b",
}

# Per 1,000 words.
AT_MOST = {
    "messages": {
        "semicolons": 1.0, "that of, those of": 0.2, "where": 0.5, "words not used": 0.2, "the program as a person": 0.2,
        "what, which, who as subject": 0.0,
    },
    "other texts": {
        "semicolons": 3.6, "that of, those of": 0.2, "where": 0.7, "words not used": 0.3, "the program as a person": 0.2,
        "what, which, who as subject": 0.2,
    },
    "help": {
        "semicolons": 2.7, "that of, those of": 0.0, "where": 0.0, "words not used": 0.0, "the program as a person": 0.0,
        "what, which, who as subject": 0.0,
    },
    "page": {
        "semicolons": 0.7, "that of, those of": 0.0, "where": 0.0, "words not used": 0.0, "the program as a person": 0.0,
        "what, which, who as subject": 0.0,
    },
    "docstrings": {
        "semicolons": 2.0, "that of, those of": 0.1, "where": 0.7, "words not used": 0.1, "the program as a person": 0.1,
        "what, which, who as subject": 0.1,
    },
}  # fmt: skip
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.|\$\{[^{}`]*\}|\$(?!\{))*`')
COMMENT = re.compile(r"^\s*(?://|\*|/\*).*$|(?<=[;,{})]) // .*$", re.MULTILINE)
CODE = re.compile(r"=>|[{}<>\\]|==|&&|\|\||;$|;\w|: [#\d.]+(?:px|rem|%)|\b(?:const|return|def|import|extern|i64|i1|@media)\b|^\s*[-./\w]*$")


def is_prose(text: str) -> bool:
    """Whether a literal is a sentence or a part of one: four words or more, and no code."""
    return len(re.findall(r"[A-Za-z]{2,}(?=[ ,.;:!?)])", text)) >= 4 and "\n" not in text and not CODE.search(text)


def literal(node: ast.AST) -> str | None:
    """The text of a string literal, with `x` in the places of values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(x.value) if isinstance(x, ast.Constant) else "x" for x in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def literals(node: ast.AST, raised: bool = False) -> Iterator[tuple[bool, str]]:
    """Texts below a node, without docstrings, and whether a `raise` has them."""
    for child in ast.iter_child_nodes(node):
        text = literal(child)
        if text is not None and not isinstance(node, ast.Expr):
            yield raised, text
        elif text is None:
            yield from literals(child, raised or isinstance(child, ast.Raise))


def meaning(option: argparse.Action) -> str:
    says = getattr(option, "says", None)
    return says() if says else option.help or ""


@cache
def texts(kind: str) -> list[str]:
    if kind in ("messages", "other texts"):
        files = [path for path in python_files("src") if PAPERS not in path.parents]
        found = [x for path in files for x in literals(ast.parse(path.read_text(encoding="utf-8")))]
        return [text for raised, text in found if raised == (kind == "messages") and is_prose(text)]
    if kind == "help":
        parsers = [parser_of(name) for name in NAMES]
        return [x for parser in parsers for x in (parser.description or "", *map(meaning, parser._actions))]
    if kind == "page":
        scripts = [COMMENT.sub("", path.read_text(encoding="utf-8")) for path in sorted(ASSETS.rglob("*.js"))]
        pages = [path.read_text(encoding="utf-8") for path in sorted(ASSETS.rglob("*.html"))]
        written = [re.sub(r"\$\{[^{}]*\}", "x", m.group()[1:-1]) for script in scripts for m in LITERAL.finditer(script)]
        shown = [m.group(1).strip() for page in pages for m in re.finditer(r">([^<>{}]+)<", page)]
        titles = [m.group(1) for page in pages for m in re.finditer(r'(?:title|placeholder|aria-label)="([^"]+)"', page)]
        return [text for text in (*written, *shown, *titles) if is_prose(text)]
    public = [*public_names().values(), *public_calls().values()]
    return [inspect.getdoc(thing) or "" for thing in public if not isinstance(thing, (int, float, str))]


def prose(text: str) -> str:
    """A text without quoted names and code."""
    return re.sub(r"`[^`]*`|'[^'\s][^']*'|\"[^\"]*\"|\[[^\]]*\]|^\s*(?:>>>|\.\.\.).*$", "x", text, flags=re.MULTILINE)


@cache
def figures(kind: str) -> dict[str, float]:
    """Number of each pattern per 1,000 words of a kind of texts."""
    found = [prose(text) for text in texts(kind)]
    words = sum(len(text.split()) for text in found) or 1
    return {name: 1000 * sum(len(re.findall(pattern, text)) for text in found) / words for name, pattern in PATTERNS.items()}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, most in AT_MOST.items() for name in most])
def test_texts_have_little_of_what_makes_them_hard_to_read(kind: str, name: str) -> None:
    bad = [text[:200] for text in texts(kind) if re.search(PATTERNS[name], prose(text))]
    assert figures(kind)[name] <= AT_MOST[kind][name], "\n".join(bad)


def test_every_kind_has_texts() -> None:
    assert {kind: len(texts(kind)) > 150 for kind in AT_MOST} == dict.fromkeys(AT_MOST, True)


def test_figures_find_what_they_count() -> None:
    hard = "What is left out is not computed; the length is that of a rod, where it is no rope. The file says 'a; b'."
    assert [len(re.findall(pattern, prose(hard))) for pattern in PATTERNS.values()] == [1, 1, 1, 1, 1, 1]
    assert is_prose("the length of x is not a number") and not is_prose("const a = b; return the next value")

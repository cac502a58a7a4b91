"""The house rules, checked by machine: size of files and functions, citations, wording. `make check` has linter, types and layers."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

from tests import ROOT
from tests.sources import python_files, repeated, source

SOURCES = python_files("src", "benchmarks", "tools")
MOST_LINES_OF_A_FILE = 800
MOST_LINES_OF_A_FUNCTION = 80

# [Koul2013 (22)], [Aghili2005 III-B], [RBDA ch. 6]: a key opens the bracket, a place may follow.
CITATION = re.compile(r"\[((?:[A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?)|(?:RBDA))(?=[ ,;\]])")
TEXTS = {".py", ".md", ".yaml", ".yml", ".toml", ".cff", ".bib", ".html", ".js", ".css", ".sh"}
MACHINE_PATH = re.compile(r"(?:^|[\s\"'(=`])/(?:tmp|work|farm|root|home|Users)/", re.MULTILINE)
LEFT_OPEN = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
SWITCHED_OFF = re.compile(r"pytest\.(?:skip|xfail)\b|mark\.(?:skip|skipif|xfail)\b|#\s*(?:type|pyright|ty):\s*ignore|#\s*noqa")


def repository_texts() -> list[Path]:
    """Every text file that belongs to the project, as git sees it; without git, all outside hidden and built folders."""
    try:
        names = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if not any(part.startswith(".") for part in p.relative_to(ROOT).parts)]
    paths = [ROOT / n for n in names]
    return [p for p in paths if p.is_file() and (p.suffix in TEXTS or p.name in {"Makefile", "run"}) and "vendor" not in p.parts]


def found(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    hits = []
    for path in paths:
        if path == Path(__file__).resolve():
            continue  # the patterns themselves stand here
        text = path.read_text(encoding="utf-8")
        hits += [f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, m.end()) + 1}: {m.group(0).strip()}" for m in pattern.finditer(text)]
    return hits


def test_files_are_short() -> None:
    lengths = {p.relative_to(ROOT): p.read_text(encoding="utf-8").count("\n") for p in SOURCES}
    long = {str(p): n for p, n in lengths.items() if n > MOST_LINES_OF_A_FILE}
    assert SOURCES and not long, f"split these files: {long}"


def test_names_of_a_module_are_defined_once() -> None:
    """A constant or function that is defined again would change what code above it uses."""
    twice = [f"{path.relative_to(ROOT)}: {name}" for path in SOURCES for name in source(path).repeated]
    assert not twice
    assert repeated(ast.parse("A = 1\nA, B = 2, 3\ndef B(): ...")) == ["A", "B"]


def test_functions_fit_a_screen() -> None:
    long = []
    for path in SOURCES:
        for line, name, lines in source(path).functions:
            if lines > MOST_LINES_OF_A_FUNCTION:
                long.append(f"{path.relative_to(ROOT)}:{line} {name}: {lines} lines")
    assert not long, "\n".join(long)


def test_every_module_says_what_it_is_for() -> None:
    silent = [str(path.relative_to(ROOT)) for path in SOURCES if not source(path).described]
    assert not silent, f"no module docstring: {silent}"


def test_citations_exist() -> None:
    keys = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs" / "data" / "references.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert len(keys) >= 6
    cited = {}
    for path in [*SOURCES, *sorted((ROOT / "src").rglob("*.yaml")), *sorted((ROOT / "docs").rglob("*.md"))]:
        for key in CITATION.findall(path.read_text(encoding="utf-8")):
            cited.setdefault(key, str(path.relative_to(ROOT)))
    unknown = {k: where for k, where in cited.items() if k not in keys}
    assert not unknown, f"not in docs/data/references.bib: {unknown}; keys there: {sorted(keys)}"


def test_the_repository_speaks_of_the_product_only() -> None:
    assert not found(MACHINE_PATH, repository_texts())


def test_nothing_is_left_open_or_switched_off() -> None:
    assert not found(LEFT_OPEN, [p for p in repository_texts() if p.suffix != ".bib"])
    assert not found(SWITCHED_OFF, [p for p in repository_texts() if p.suffix == ".py"])

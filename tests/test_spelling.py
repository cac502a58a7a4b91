"""American spelling in sources, pages and tests: one spelling of every word, so that a search finds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT
from tests.test_quality import repository_texts

BRITISH = re.compile(
    r"(?:optim|linear|stabil|normal|minim|maxim|initial|summar|recogn|organ|general|visual|random|parametr|discret|regular|util|synthes)"
    r"is(?:e[drs]?|ing|ers?|ations?)(?![a-z])|analys(?:ed|ing)(?![a-z])"
    r"|colour|behaviour|neighbour|favour|(?:milli)?metres?(?![a-z])|(?<![a-z])centre|(?<![a-z])grey(?![a-z])|catalogue|programmes?(?![a-z])"
    r"|(?:label|model|travel|cancel)l(?:ed|ing)(?![a-z])|towards(?![a-z])|(?<![a-z])(?:mis)?spelt(?![a-z])|(?<![a-z])learnt(?![a-z])",
    re.IGNORECASE,
)
# Old names, which errors answer with the new one, words that users try, a title.
ELSEWHERE = {
    "src/linkwright/__init__.py": {"synthesise"}, "src/linkwright/errors/__init__.py": {"optimise", "linearise"},
    "src/linkwright/model/file/key_hints.py": {"centre", "optimise"}, "src/linkwright/rings/cli/dispatch.py": {"optimise", "synthesise"},
    "tests/docs/test_source_names.py": {"optimisation"}, "tests/model/file/test_visuals.py": {"colour"},
    "tests/test_names.py": {"optimise"},
    "docs/data/references.bib": {"modelling"},  # a title
    "src/linkwright/text/units.py": {"metre", "metres", "millimetre", "millimetres"},
}  # fmt: skip
OURS = ("src", "docs", "tests", "examples", "gallery", "benchmarks", "README.md", "CONTRIBUTING.md")


def british(text: str) -> list[str]:
    return [m.group(0) for m in BRITISH.finditer(text)]


def test_every_text_is_in_american_spelling() -> None:
    found = []
    for path in repository_texts():
        name = path.relative_to(ROOT)
        if name.parts[0] in OURS and path != Path(__file__):
            for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                found += [f"{name}:{n}: {word}" for word in british(line) if word not in ELSEWHERE.get(name.as_posix(), ())]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("optimising towards the centre of grey areas", ["optimising", "towards", "centre", "grey"]),
        ("optimize, minimum, generality, realised, parameters, diameter, labeled", []),
    ],
)
def test_british_words_are_found(text: str, words: list[str]) -> None:
    assert british(text) == words

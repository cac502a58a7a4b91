"""Reading says what it said: of some four thousand good, odd and malformed entries, with the line.

After a change that is meant, `python -m tests.elements.corpus --write` stores the new outcomes; the difference belongs to the change.
"""

from __future__ import annotations

import re

import pytest

from tests.elements import corpus
from tests.elements.canonical import FOLDER

GENERAL = {"name", "about", "plane", "units", "gravity", "parameters", "drawing", "bodies", "joints", "guess", "start"}


def _check(section: str, one_of: int) -> None:
    after = corpus.outcomes(section, one_of=one_of)
    before = corpus.stored(section)
    if one_of > 1:
        before = {name: outcome for name, outcome in before.items() if name in after}
    changed = corpus.differences(before, after)
    assert not changed, f"{len(changed)} of {len(after)} outcomes of `{section}:` differ:\n" + "\n".join(changed[:30])


@pytest.mark.parametrize("section", corpus.sections())
def test_messages_of_a_quarter_of_the_entries(section):
    _check(section, 4)


@pytest.mark.slow
@pytest.mark.parametrize("section", corpus.sections())
def test_messages_of_all_entries(section):
    _check(section, 1)


def test_all_entries_are_stored():
    assert {s: set(corpus.stored(s)) for s in corpus.sections()} == {s: set(corpus.entries(s)) for s in corpus.sections()}


def test_corpus_and_models_of_everything_have_the_same_sections():
    texts = [(FOLDER / f"everything-{place}.yaml").read_text(encoding="utf-8") for place in ("plane", "space")]
    keys = set(re.findall(r"^(\w+):", "\n".join(texts), re.MULTILINE))
    assert keys - GENERAL == set(corpus.sections())

"""Citations of equations: the numbers exist in the paper, and a range of them is about one thing.

The items of the papers say which equations belong together (`Entry.place`). A cited range must lie within one item, or consist of
whole items: [Koul2013 (10)-(12)] would end in the middle of another method.
"""

from __future__ import annotations

import re

from linkwright.rings import papers
from linkwright.rings.papers import errata
from tests import ROOT

CITED = re.compile(r"\[(Koul2013|Chaudhary2007|Aghili2005|Hoang2023) ([^\]]*)\]")
RANGE = re.compile(r"\((\d+)\)(?:-\((\d+)\))?")
TEXTS = ("src/**/*.py", "src/**/*.md", "src/**/*.yaml", "docs/**/*.md", "papers/**/*.md", "tests/**/*.py")
LAST = {"Koul2013": 55, "Chaudhary2007": 33, "Aghili2005": 79, "Hoang2023": 36}  # equations of each paper


def ranges(text: str) -> list[tuple[int, int]]:
    """(10), (11) is one range where the numbers follow each other."""
    out: list[tuple[int, int]] = []
    for first, last in RANGE.findall(text):
        a, b = int(first), int(last or first)
        if out and out[-1][1] + 1 == a:
            out[-1] = (out[-1][0], b)
        else:
            out.append((a, b))
    return out


def items(key: str) -> list[tuple[int, int]]:
    return [span for entry in papers.entries(key) for span in ranges(entry.place)]


def about_one_thing(key: str, a: int, b: int) -> bool:
    known = items(key)
    inside = any(x <= a and b <= y for x, y in known)
    return inside or (a in {x for x, _ in known} and b in {y for _, y in known})


def wrong(text: str) -> list[str]:
    found = []
    for key, places in CITED.findall(text):
        for first, last in RANGE.findall(places):
            a, b = int(first), int(last or first)
            if not (1 <= a <= b <= LAST[key]) or not about_one_thing(key, a, b):
                found.append(f"[{key} {places}]")
    return found


def test_cited_equations_belong_together() -> None:
    bad = {}
    for pattern in TEXTS:
        for path in ROOT.glob(pattern):
            if path.name != "test_citations.py" and (found := wrong(path.read_text(encoding="utf-8"))):
                bad[str(path.relative_to(ROOT))] = found
    assert not bad


def test_a_wrong_citation_is_noticed() -> None:
    assert wrong("[Koul2013 (10)-(12)]") and wrong("[Koul2013 (61)]") and wrong("[Hoang2023 (18)-(23)]")
    assert not wrong("[Koul2013 (10), (11)]") and not wrong("[Koul2013 (9)]") and not wrong("[Hoang2023 (24), (25)]")


def test_every_equation_with_an_item_has_one_number_of_its_paper() -> None:
    for key, last in LAST.items():
        assert all(1 <= a <= b <= last for a, b in items(key))
        assert all(1 <= a <= b <= last for e in errata.of_paper(key) for a, b in ranges(e.place) if "A." not in e.place)


def test_errata_are_complete_and_named_once() -> None:
    for e in errata.ERRATA:
        assert e.paper in papers.PAPERS and e.topic in errata.TOPICS and all((e.place, e.printed, e.correct, e.found))
        assert e.printed != e.correct
    assert len({(e.paper, e.place, e.printed) for e in errata.ERRATA}) == len(errata.ERRATA)

"""The papers' examples: every item computes, every verdict rests on a number, and the verdicts are the known ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import linkwright as lw
from linkwright import papers

DIFFER = {"sizes solved by the subsystem approach", "singularities met", "RMS torques of the three controllers"}
UNDECIDED = {
    "cost of the dynamic algorithm", "cost of the multipliers, SLM against SSLM",  # times of old machines
    "RMS torques of the arm: PIDC, hybrid, IDC",  # its masses are not printed
}  # fmt: skip
KEYS = re.findall(r"@\w+\{(\w+),", (Path(__file__).parents[2] / "docs" / "references.bib").read_text(encoding="utf-8"))


@pytest.mark.parametrize("key", papers.PAPERS)
def test_every_item_of_a_paper(key):
    assert key in KEYS
    found = [item for _, item in papers.reproduce(key)]
    assert len(found) >= 4 and len({i.what for i in found}) == len(found)
    for item in found:
        expected = "differs" if item.what in DIFFER else "undecided" if item.what in UNDECIDED else "agrees"
        assert item.verdict == expected, f"{item.where}: {item.what}: {item.computed}, deviation {item.deviation}"
        if item.verdict == "agrees":
            assert item.deviation is not None and item.tolerance is not None and 0.0 <= item.deviation <= item.tolerance
        else:
            assert item.why, "whoever differs says why"


def test_another_number_would_be_noticed(monkeypatch):
    from linkwright.papers import chaudhary

    monkeypatch.setattr(chaudhary, "RSSR_TORQUE", (chaudhary.RSSR_TORQUE[0] + 1e-6, *chaudhary.RSSR_TORQUE[1:]))
    assert chaudhary.rssr().verdict == "differs"


def test_names_of_papers():
    assert papers.papers_named("all") == list(papers.PAPERS) and papers.papers_named("koul") == ["Koul2013"]
    with pytest.raises(lw.UsageError, match=r"Papers|mean"):
        papers.papers_named("Kohl2013")

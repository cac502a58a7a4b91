"""Every number in the tables of papers/Chaudhary2007/README.md, computed again."""

from __future__ import annotations

import pytest

from linkwright.rings.papers import chaudhary as paper
from linkwright.rings.papers import chaudhary_determinacy as models
from tests import ROOT
from tests.reference import load
from tests.rings.papers.pages import Page, same

PAGE = Page("Chaudhary2007")
REFERENCE = load("saha")


def test_driving_torque():
    """The page against the values the items are held to; those against the checked data."""
    *rows, last = PAGE.table("crank angle (deg)")
    assert [int(row[0]) for row in rows] == list(paper.ANGLES)
    for row, *values in zip(rows, paper.TORQUE[9.81], paper.TORQUE[0.0], strict=True):
        same(row[1:], values)
    assert last[0] == "RMS"
    same(last[1:], [paper.RMS[9.81], paper.RMS[0.0]])


def test_inertias_are_uniform_rods():
    for rod, (name, mass, length, printed, uniform, more) in zip(paper.TABLE_1, PAGE.table("link | mass"), strict=True):
        assert name == rod.name
        same([mass, length], [rod.mass, rod.length])
        same([printed, uniform, more], [1e3 * rod.inertia, 1e3 * rod.share * rod.mass * rod.length**2, 100.0 * paper.excess(rod)])


def test_sizes_and_operations():
    rows = PAGE.table("mechanism | method")
    assert len(rows) == len(paper.counts()) == 6
    for model, method, solves, order, printed, operations, saved, kept, folded in rows:
        row, base = paper.counts()[model, method], paper.counts()[model, "traditional"]
        assert solves == "+".join(map(str, row.sizes)) and float(printed) == row.printed.order
        same([order, operations, folded], [row.order, row.full, row.folded])
        same([saved, kept], [100.0 * (1.0 - row.full / base.full), 100.0 * (1.0 - row.again[1] / base.again[1])])


def test_determinacy():
    for cut, _, steps in PAGE.table("four-bar cut at"):
        assert models.four_bar(cut[0])[1] == [int(x) for x in steps.split(",")]


def test_rssr():
    """Torque and force of the page are those of the checked data, which the items compute."""
    checked = REFERENCE["rssr"]["thin|gravity_-Y_9.81"]["rows"]
    for row, known, torque in zip(PAGE.table("crank angle | tau_D"), checked, models.RSSR_TORQUE, strict=True):
        assert int(row[0]) == known["deg"] and torque == pytest.approx(known["tau"], abs=1e-12)
        same(row[1:], [known["tau"], *known["lambda_S_on_crank_from_coupler"]])


def test_moving_base():
    said = models.moving_base().computed
    for number in ("1.505470", "1.355973"):
        assert number in said and number in PAGE.text


def test_symbols_of_the_paper():
    """It has no loop equations, no Jacobian of theirs and no Coriolis matrix: loops enter by the multipliers of (10) alone."""
    text = (ROOT / "docs" / "explanation" / "notation.md").read_text(encoding="utf-8").partition("## The papers' symbols")[2]
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    column = next(i for i, name in enumerate(lines[0]) if "Chaudhary2007" in name)
    symbols = {line[0].strip(): line[column].strip() for line in lines[2:] if len(line) == len(lines[0])}
    assert {ours for ours in (r"$\phi$", "$J$", "$k$", "$J M^{-1} J^T$", "null space") if symbols[ours]} == set()
    assert "tensor" in symbols["$M$"] and "C theta" not in symbols[r"$\tau - h$"]
    assert symbols[r"$J^T\lambda$"] == r"$\tau^\lambda = N^T w^\lambda$"

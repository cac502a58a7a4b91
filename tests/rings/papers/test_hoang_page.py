"""Every number in the tables of papers/Hoang2023/README.md, computed again."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.papers import hoang as paper
from tests.rings.papers.pages import Page, same

PAGE = Page("Hoang2023")


def test_states_after_a_second():
    for case, *shown in PAGE.table("case | theta_1"):
        same(shown, list(paper.exact(int(case)).q[1000]))


def test_zeros_of_the_determinants():
    for case, theta, x, _ in PAGE.table("case | det"):
        assert paper.crossings(int(case)) == (int(theta), int(x))


def test_residuals_and_errors():
    """Two digits are shown; the last of them may differ where round-off is amplified a thousand times."""
    for case, by, *shown in PAGE.table("case | stabilized by"):
        run = paper.as_published(int(case), "post" in by)
        f = paper.gaps(run)
        off = np.abs(np.asarray(run.q) - np.asarray(paper.exact(int(case)).q)[:3001:2]).max(axis=1)
        found = [f.max(), np.median(f), np.median(f[:501]), off[250], off[500], off[1500]]
        assert [float(x) for x in shown] == pytest.approx(found, rel=0.06)


def test_energies():
    """The works of the checked data: 47.07 J in, 46.42 J of heat, 19.39 J of work."""
    (row,) = PAGE.table("electric | heat")
    e = paper.energies()
    same(row, [e["power.electric"], e["heat"], e["power.mechanical"], e["power.created"]])
    assert row == ["47.07", "46.42", "19.39", "18.75"]
    assert e["power.electric"] + e["power.created"] == pytest.approx(e["heat"] + e["power.mechanical"], abs=1e-9)

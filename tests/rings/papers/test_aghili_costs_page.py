"""Operation counts on papers/Aghili2005/README.md, counted again."""

from __future__ import annotations

import re

import pytest

from linkwright.rings.papers import aghili_cost
from tests import ROOT

TEXT = (ROOT / "papers" / "Aghili2005" / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+), (\d+) \(.*?\) \| (.*) \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("n", "m", "cells"), ROWS)
def test_counts_of_the_page(n: str, m: str, cells: str) -> None:
    shown = [[int(x) for x in cell.split(",")] for cell in cells.split("|")]
    size = (int(n), int(m))
    forming = [aghili_cost.forming(kind, *size) for kind in aghili_cost.KINDS]
    assert shown == [
        [matrix.total for matrix, _ in forming],
        [matrix.total + bias.total for matrix, bias in forming],
        [aghili_cost.whole(kind, *size, from_constraints=False).total for kind in aghili_cost.KINDS],
        [aghili_cost.whole("scaled", *size, from_constraints=True).total],
        [aghili_cost.standard(*size).total],
    ]


def test_all_sizes_are_on_the_page() -> None:
    assert [(int(n), int(m)) for n, m, _ in ROWS] == list(aghili_cost.SIZES.values())
    x = aghili_cost.numbers(7, 6)
    two = aghili_cost.counted(aghili_cost.symmetric_by_two_products, x.M, aghili_cost.projector_by_rows(x.A, x.k)[0])
    assert f"{two.total} for the\nscraper instead of {aghili_cost.forming('symmetric', 7, 6)[0].total}" in TEXT

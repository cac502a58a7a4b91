"""Tables of the papers' pages, read for tests that compute them again."""

from __future__ import annotations

import re

import pytest

from tests import ROOT

FOLDER = ROOT / "papers"


class Page:
    """papers/<key>/README.md"""

    def __init__(self, key: str):
        self.text = (FOLDER / key / "README.md").read_text(encoding="utf-8")

    def table(self, first: str) -> list[list[str]]:
        """Rows of the one table whose heading begins like this."""
        (found,) = re.findall(rf"^\| {re.escape(first)}.*\n\|[-|]+\|\n((?:\|.*\n)+)", self.text, re.MULTILINE)
        return [[x.strip() for x in line.strip("|").split("|")] for line in found.splitlines()]


def same(shown: list[str], values: list[float]) -> None:
    """As many digits as are shown."""
    for text, value in zip(shown, values, strict=True):
        mantissa, _, power = text.partition("e")
        digits = len(mantissa.partition(".")[2]) - int(power or 0)
        assert float(text) == pytest.approx(value, abs=0.5000001 * 10.0**-digits), f"{text} is {value}"

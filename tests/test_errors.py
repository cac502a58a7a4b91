"""Texts of messages: control characters are shown, not obeyed."""

from __future__ import annotations

import pytest

from linkwright.errors import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, äöü, 3 °", "plain, äöü, 3 °"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("red \x1b[31m", "red \\x1b[31m"),
        ("\x00", "\\x00"),
        ("back\rward\x7f", "back\\rward\\x7f"),
        ("\u202eturned\u2028", "\\u202eturned\\u2028"),
    ],
)
def test_control_characters_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown

"""Messages: control characters are shown, not obeyed; sentences are joined, and a name that is unknown is there as data."""

from __future__ import annotations

import copy
import pickle

import pytest

from linkwright.errors import ChannelError, LinkwrightError, Suggestion, UsageError, nearest, visible


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


@pytest.mark.parametrize("kind", [LinkwrightError, UsageError, ChannelError])
def test_an_unknown_name_is_data_and_text(kind: type[LinkwrightError]) -> None:
    error = kind("there is no body 'copler'.", nearest("copler", ["crank", "coupler"], "Bodies"))
    for found in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(found) == "there is no body 'copler'. Did you mean 'coupler'? Bodies: crank, coupler."
        assert (found.name, found.allowed) == ("copler", ("crank", "coupler"))
    plain = kind("it is too long")
    assert (str(plain), plain.name, plain.allowed) == ("it is too long", "", ())


def test_all_allowed_names_are_data_where_the_text_has_some() -> None:
    names = [f"link{k}" for k in range(100)]
    error = UsageError("there is no link 'link5x'.", nearest("link5x", names, "Links"))
    assert error.allowed == tuple(names) and "(100 in all)" in str(error) and "link77" not in str(error)


def test_a_suggestion_is_a_text() -> None:
    found = nearest("b", [], "Bodies")
    assert isinstance(found, Suggestion) and found == "Bodies: none." and f"{found}" == "Bodies: none."

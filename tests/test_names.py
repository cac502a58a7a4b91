"""Names of the past: each raises an error that gives the new one, and the new one is there."""

from __future__ import annotations

import re
from operator import attrgetter

import pytest

import linkwright as lw
from linkwright.rings import cli
from linkwright.rings.cli.dispatch import NAMES, OLD_COMMANDS


@pytest.mark.parametrize(("old", "new"), sorted(lw.OLD_NAMES.items()))
def test_an_old_name_of_the_library_gives_the_new_one(old: str, new: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"lw.{old} is now lw.{new}.")):
        getattr(lw, old)
    assert callable(attrgetter(new)(lw))


@pytest.mark.parametrize("member", ["turn", "turns", "fastest", "optimise"])
def test_an_old_verb_gives_the_new_one(member: str) -> None:
    with pytest.raises(AttributeError, match=f"'{member}' of Mechanism has a new name: write "):
        getattr(lw.load("wiper"), member)


@pytest.mark.parametrize(("old", "new"), sorted(OLD_COMMANDS.items()))
def test_an_old_command_gives_the_new_one(old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([old, "wiper"]) == 2
    assert f"the command '{old}' has a new name: linkwright {new}" in capsys.readouterr().err and new in NAMES

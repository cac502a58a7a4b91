"""docs/reference/channels.md lists the channels that results have, and every channel of the built-in models has a pattern there."""

from __future__ import annotations

import re

import pytest

import linkwright as lw
from linkwright.model import library
from tests import ROOT
from tests.scripts import docs_script
from tests.sweeps import sweep

make = docs_script("make_channels")
TEXT = make.PAGE.read_text(encoding="utf-8")
LISTED = set(re.findall(r"^\| `([^`]+)` \|", "".join(re.findall(r"<!-- table: .*?<!-- end -->", TEXT, re.DOTALL)), re.MULTILINE))


def test_the_page_is_current() -> None:
    assert make.renewed(TEXT, make.TABLES) == TEXT, "run `python docs/make/make_channels.py`"
    assert set(make.patterns()) == LISTED


@sweep("model", library.names(), now=["wiper", "boot-lid", "ankle"])
def test_every_channel_of_a_built_in_model_has_a_pattern(model: str) -> None:
    """Names come from the model; the page's patterns come from other models."""
    mechanism = lw.load(model)
    channels, bodies = mechanism.cycle(steps=4).channels, {b.name for b in mechanism.description.bodies}
    assert len(channels) > 50
    assert [name for name in channels if not make.known(name, bodies)] == []


def test_a_pattern_stands_for_names_of_its_form_alone() -> None:
    for name in ("A.torque", "C.on.rocker.y", "hip.angle2.v", "crank.P.vy", "K.rod-ram.transmission_angle"):
        assert make.known(name, {"crank"}), name
    for name in ("A.torqu", "C.on.rocker.w", "energy.elastic", "crank.P.vw", "A.P", "hip.angle3"):
        assert not make.known(name, {"crank"}), name


@pytest.mark.parametrize("name", [name for name, *_ in make.LABELS])
def test_names_in_the_picture_are_channels_of_the_wiper(name: str, cycle: lw.Trajectory) -> None:
    assert name in cycle.channels


@pytest.fixture(scope="module")
def cycle() -> lw.Trajectory:
    assert (ROOT / "docs" / "images" / "channels.png").is_file()
    return lw.load("wiper").cycle(steps=4)

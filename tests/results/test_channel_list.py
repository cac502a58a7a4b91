"""Names that can be read from a result: complete, with unit and meaning, found by what a person types."""

from __future__ import annotations

import pytest

import linkwright as lw
from tests.refusals import refused
from tests.sweeps import every_model


@pytest.fixture(scope="module")
def wiper() -> lw.Mechanism:
    return lw.load("wiper")


def test_channels_are_a_sequence_of_names(wiper: lw.Mechanism) -> None:
    c = wiper.cycle()
    assert c.channels[0] == "t" and c.channels[:3] == ["t", "A", "A.v"] and list(c.channels)[-1] == c.channels[-1]
    assert "A.torque" in c.channels and "A.torq" not in c.channels and len(set(c.channels)) == len(c.channels)
    assert c.channels.index("A.v") == 2
    assert all(c[name].shape[0] == len(c) for name in c.channels[:20])


def test_they_print_as_a_table(wiper: lw.Mechanism) -> None:
    table = wiper.cycle().channels.table()
    assert table.names == ["channel", "unit", "meaning"]
    row = next(row for row in table.rows if row[0] == "A.v")
    assert row == ("A.v", "rpm", "angular speed of joint A")
    text = str(wiper.cycle().channels("crank.angle"))
    assert text.splitlines()[1].split() == ["channel", "unit", "meaning"] and "angular speed of body crank" in text
    assert repr(wiper.channels) == str(wiper.channels)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("torque", "A.torque", "A.v"),  # a part of a name
        ("*.angle", "rocker.angle", "rocker.angle.v"),  # a pattern
        ("rad/s", "A.v", "A"),  # a unit that the table does not show
        ("N m", "A.torque", "C.load"),  # a unit with a space
        ("Ground", "shaking.force", "A.torque"),  # a word of the meaning, in any case
    ],
)
def test_a_text_filters(wiper: lw.Mechanism, text: str, inside: str, outside: str) -> None:
    found = wiper.channels(text)
    assert inside in found and outside not in found
    assert list(found) == [name for name in wiper.channels if name in found]


def test_nothing_found_and_wrong_filters(wiper: lw.Mechanism) -> None:
    assert len(wiper.channels("zzz")) == 0 and "no channels of 'wiper'" in str(wiper.channels("zzz"))
    with refused(lw.UsageError, value=5):
        wiper.channels(5)


def test_tab_completes_names(wiper: lw.Mechanism, tmp_path) -> None:
    c, run = wiper.cycle(), wiper.simulate(0.02)
    for result in (c, run, wiper.system.start, wiper.cycles({"crank.mass": [0.2, 0.3]})):
        found = result._ipython_key_completions_()
        assert "rocker.angle" in found and list(result.channels) == found
    run.save(tmp_path / "run.npz")
    assert lw.load_result(tmp_path / "run.npz")._ipython_key_completions_() == run._ipython_key_completions_()
    assert c.table()._ipython_key_completions_() == c.table().names


def test_recorded_channels_mean_what_computed_ones_do(wiper: lw.Mechanism) -> None:
    run = wiper.simulate(0.02)
    said = {name: meaning for name, _, meaning in run.channels.table().rows}
    assert said["A.torque"] == "torque of the drive at A" and said["lam.C.tx"] == "multiplier of the loop closed at C.tx"
    assert said["work.in"] == "work of the drives since the start" and all(said.values())


@pytest.mark.parametrize("name", every_model("wiper", "excavator", "stewart"))
def test_every_channel_has_a_meaning_before_and_after(name: str) -> None:
    """A mechanism lists the channels of its cycle before anything is computed."""
    m = lw.load(name)
    rows = m.channels.table().rows
    assert rows and all(meaning and not meaning.endswith(".") for _, _, meaning in rows)
    try:
        c = m.cycle(steps=6)
    except lw.LinkwrightError:
        return  # a mechanism that cannot move, or that weighs nothing
    assert list(c.channels) == list(m.channels)

"""Names of the past: each raises an error that gives the new one, and the new one is there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.errors import OLD_CHANNELS, OLD_KEYS, renamed_channel
from linkwright.rings import cli, exchange
from linkwright.rings.cli.dispatch import NAMES, OLD_COMMANDS
from tests.refusals import refused
from tests.rings.design.test_cylinders import BEAM


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


@pytest.mark.parametrize(
    ("model", "old", "new"),
    [
        ("wiper", "C.transmission", "C.transmission_angle"), ("wiper", "C.pressure", "C.pressure_angle"),
        ("wiper", "D.transmission.force", "D.force_transmission_angle"), ("wiper", "C.on.rocker.size", "C.on.rocker.magnitude"),
        (BEAM, "lift.push.pressure", "lift.cap.pressure"), (BEAM, "lift.pull.volume", "lift.rod.volume"),
        (BEAM, "lift.supply.flow", "lift.pump.flow"),
    ],
)  # fmt: skip
def test_an_old_channel_gives_the_new_one(model: str | dict, old: str, new: str) -> None:
    c = lw.load(model).cycle(steps=8)
    with pytest.raises(lw.ChannelError, match=re.escape(f"there is no channel '{old}'. '{old}' has a new name: write '{new}'.")):
        c[old]
    assert len(c[new]) == len(c)


def test_every_old_channel_is_in_a_case_and_no_new_one_is_old() -> None:
    (cases,) = (m.args[1] for m in test_an_old_channel_gives_the_new_one.pytestmark)
    for old, _ in OLD_CHANNELS:
        assert any(re.search(f"{old}$", name) for _, name, _ in cases)
    assert not any(renamed_channel(new) for *_, new in cases)


@pytest.mark.parametrize(("old", "new"), sorted(exchange.OLD_NAMES.items()))
def test_an_old_converter_gives_the_new_way(old: str, new: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"lw.exchange.{old} is now {new}.")):
        getattr(lw.exchange, old)


ARM = {
    "plane": "xy",
    "drawing": {"A": [0, 0], "P": [100, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["P"]}},
}
OLD_FILE_KEYS = [
    ({"drive": {"A": {"motor_dc": {"Kt": 1, "R": 1}}}}, "motor_dc", "dc_motor"),
    ({"drive": {"A": "free"}}, "free", "undriven"),
    ({"drive": {"A": {"dc_motor": {"Kt": 1, "R": 1, "ratio": 3}}}}, "ratio", "gear_ratio"),
    ({"drive": {"A": {"dc_motor": {"Kt": 1, "R": 1, "rated": "24 V"}}}}, "rated", "supply_voltage"),
    ({"drive": {"A": {"torque": 2, "gear": 3}}}, "gear", "gear_ratio"),
    ({"drive": {"A": {"free": True}}}, "free", "undriven"),
    ({"springs": {"k": {"joint": "A", "stiffness": 1, "free": 0}}}, "free", "free_length' or 'free_position"),
    ({"stops": {"A": {"between": [-30, 30]}}}, "between", "range"),
]


@pytest.mark.parametrize(("part", "old", "new"), OLD_FILE_KEYS)
def test_an_old_key_of_a_model_file_gives_the_line_and_the_new_one(part: dict, old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(json.dumps(ARM | part, indent=1), encoding="utf-8")
    with pytest.raises(lw.ModelError, match=re.escape(f"'{old}' has a new name: write '{new}'.")) as problem:
        lw.load(path)
    where = problem.value.where
    assert where is not None and where.file.endswith("old.yaml") and 1 < where.line <= len(path.read_text().splitlines())
    assert f"{where}: " in str(problem.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda s: lw.compile("four-bar", free=["L1"]), lambda s: lw.System(s.description, free=["L1"]),
        lambda s: s.kernel("inverse", by=("q", "free")), lambda s: s.kernel("forward")(s.start.q, s.start.v, s.start.v, free=[0.3]),
        lambda s: s.simulate(s.start, 0.1, free=[0.3]), lambda s: s.step(s.start, free=[0.3]), lambda s: s.stepper(3, free=[0.3]),
        lambda s: s.stepper(3).reset(free=[0.3]), lambda s: s.derivatives(s.start, free=[0.3]), lambda s: s.linearize(s.start, free=[0.3]),
        lambda s: lw.Run(1, free=[0.3]), lambda s: s.jax(free=["L1"]), lambda s: s.torch(free=["L1"]), lambda s: s.casadi(free=["L1"]),
    ],
)  # fmt: skip
def test_free_is_now_parameters_in_every_call(call: Callable) -> None:
    with refused(lw.UsageError, name="free") as problem:
        call(lw.compile("four-bar", parameters=["L1"]))
    assert "parameters" in problem.value.allowed and "'free' has a new name: write 'parameters'." in str(problem.value)


def test_members_free_are_now_parameters() -> None:
    s = lw.compile("four-bar", parameters=["L1"])
    for thing in (s, s.stepper(2)):
        with pytest.raises(AttributeError, match=r"'free' of .* has a new name: write parameters"):
            _ = thing.free


def test_every_old_word_is_in_a_case() -> None:
    c = lw.load("wiper").cycle(steps=8)
    with refused(lw.UsageError, name="voltage"):
        c.drive_sizing(motor={"Kt": "0.1 N m/A", "R": "1 ohm", "voltage": "24 V"})
    calls = {("voltage", "supply_voltage"), ("free", "parameters")}
    cases = {(old, new) for _, old, text in OLD_FILE_KEYS for new in text.split("' or '")} | calls
    assert {(old, new) for old, news in OLD_KEYS.items() for new in news} == cases


def test_an_old_maker_of_drives_gives_the_new_one() -> None:
    with pytest.raises(AttributeError, match=r"lw\.drives\.motor is now lw\.drives\.dc_motor"):
        _ = lw.drives.motor

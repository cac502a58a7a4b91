"""Texts and numbers of a model that are legal and strange: shown safely, refused with a reason, or warned of."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright import errors, files
from linkwright.model import library as models
from linkwright.model.file import read_text, text_nodes, write
from linkwright.rings import cli
from tests.refusals import refused

ARM: dict[str, Any] = {
    "plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0], "B": [0.1, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1}}, "drive": {"A": "1 rad/s"},
}  # fmt: skip


def arm(**changes: Any) -> Any:
    return lw.load({**ARM, **changes})


def heavy(**of_arm: Any) -> Any:
    return arm(bodies={"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], **of_arm}})


# ---------------------------------------------------------------- what a terminal and a spreadsheet would obey


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    m = arm(name="a\x1b]0;owned\x07b", about="clear \x1b[2J \x9b1m \x7f all")
    m.save(tmp_path / "m.yaml")
    assert lw.load(tmp_path / "m.yaml").name == m.name  # as it was written
    for words in (["info"], ["info", "--internals"], ["cycle", "--steps", "4"], ["simulate", "0.01"]):
        cli.main([words[0], str(tmp_path / "m.yaml"), *words[1:]])
        out, err = capsys.readouterr()
        assert "owned" in out and not [c for c in out + err if not c.isprintable() and c != "\n"], words
    assert cli.main(["info", str(tmp_path / "no\x1b[2J.yaml")]) == 1
    assert "no\\x1b[2J.yaml" in capsys.readouterr().err
    shown = [str(m.info()), repr(m), repr(m.system), repr(m.cycle(steps=4)), repr(m.system.kernels)]
    assert all("\\x1b" in text and (text.replace("\n", "")).isprintable() for text in shown)


def test_texts_that_no_file_can_hold(tmp_path: Path) -> None:
    for changes in ({"name": "\ud800"}, {"about": "x\udfff"}, {"\udc00": 1}):
        with pytest.raises(lw.ModelError, match="not valid Unicode"):
            arm(**changes)
    with refused(lw.UsageError, file="\\ud800.yaml"):
        arm().save(tmp_path / "\ud800.yaml")
    text = "plane: xy\ndrawing: {A: [0, 0], B: [0.1, 0]}\nbodies: {ground: {pins: [A]}, arm: {pins: [A], points: [B], mass: 1}}\n"
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/gr\xf6\xdfe.yaml"))  # Latin-1
    path.write_text(text)
    m = lw.load(path)
    assert m.name == "gr\ufffd\ufffde" and lw.load(m.save(tmp_path / "again.yaml", normalized=True)).name == m.name


def test_names_are_no_formulas_in_a_spreadsheet(tmp_path: Path) -> None:
    c = lw.load({**ARM, "bodies": {"ground": {"pins": ["A"]}, "=1+1": {"pins": ["A"], "points": ["B"], "mass": 1}}}).cycle(steps=4)
    with open(c.save(tmp_path / "c.csv"), newline="", encoding="utf-8") as stream:
        header = next(csv.reader(stream))
    assert "'=1+1.B.x [m]" in header and not [cell for cell in header if cell[0] in "=+-@"]
    assert files.made_by_linkwright(tmp_path / "c.csv")
    assert [files.safe_cell(x) for x in ("=a", "+a", "-a", "@a", "\ta", "a=", "-")] == ["'=a", "'+a", "'-a", "'@a", "'\ta", "a=", "-"]


def test_messages_quote_a_little_of_what_is_wrong() -> None:
    long = "x" * 19_000
    for bad in (
        {"joints": {"J": {"type": long, "between": ["ground", "arm"], "at": "A"}}},
        {"drive": {long: "1 rad/s"}},
        {"gravity": [0, long]},
        {"plane": long},
        {"parameters": {long: "1 *"}},
    ):
        with pytest.raises(lw.LinkwrightError) as caught:
            arm(**bad)
        assert len(str(caught.value)) < 1500, bad.keys()
    told = errors.readable(f"no joint '{long}' here")
    assert told.startswith("no joint 'xxx") and told.endswith("xxx (19000 characters)' here") and len(told) < 250
    assert len(errors.readable(long)) < 200 and len(errors.readable("x y " * 5000)) == errors.LONGEST
    assert str(lw.ModelError("a\x1bb")) == "a\\x1bb" == lw.ModelError("a\x1bb").message


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("mass", [1e-300, 5e-324, 1e-16])
def test_a_mass_that_is_hardly_one_is_warned_of(mass: float) -> None:
    m = heavy(mass=mass)
    summary = str(m.info())
    assert "implausibly small. Check its digits and its unit" in summary and "mass" in summary
    assert m.info().freedoms == 1 and np.isfinite(m.cycle(steps=4)["A.torque"]).all()


@pytest.mark.parametrize(
    ("changes", "amount"),
    [
        ({"bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1, "com": "B", "inertia": 1e20}}}, "1e+20"),
        ({"bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1e29}}}, "1e+29"),
        ({"springs": {"s": {"type": "torsion", "joint": "A", "stiffness": 1e29}}}, "1e+29"),
        ({"loads": {"f": {"on": "arm.B", "force": [1e25, 0]}}}, "1e+25"),
    ],
)
def test_amounts_that_no_machine_has_are_warned_of(changes: dict[str, Any], amount: str) -> None:
    warnings = [w for w in arm(**changes).description.warnings if "implausibly large" in w]
    assert len(warnings) == 1 and amount in warnings[0] and warnings[0].startswith("model dict "), warnings


@pytest.mark.parametrize(
    "changes",
    [{"drive": {"A": 1e-160}}, {"drive": {"A": 1e160}}, {"drawing": {"A": [0, 0], "B": [1e-300, 0]}}, {"gravity": [0, -1e-200]}],
)
def test_amounts_whose_squares_are_no_numbers_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(lw.ModelError, match="out of any proportion"):
        arm(**changes)


def test_warnings_name_the_line() -> None:
    bodies = "bodies:\n  ground: {pins: [A]}\n  arm: {pins: [A], points: [B], mass: 1e12 kg}\n"
    d = read_text("plane: xy\ndrawing: {A: [0, 0], B: [1, 0]}\n" + bodies, "m.yaml")
    assert any(w.startswith("m.yaml:5: ") and "implausibly large" in w for w in d.warnings)


def test_no_shipped_model_is_implausible() -> None:
    for name in models.names():
        assert not [w for w in lw.load(name).description.warnings if "implausibly" in w], name


@pytest.mark.parametrize("digits", ["\uff11\uff12", "\u0661\u0662", "1\u0662", "\u0967 kg", "1e\uff12", "\u00b2"])
def test_digits_of_other_scripts_are_no_numbers(digits: str) -> None:
    with pytest.raises(lw.ModelError, match=r"Write digits as 0 to 9|cannot"):
        heavy(mass=digits)


# ---------------------------------------------------------------- much of everything


def test_long_sums_are_written_as_quickly_as_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part of an expression is visited once: 200 terms once took 2^200 steps."""
    from linkwright.text import expressions

    calls = [0]
    text = expressions.text

    def counted(x: Any, level: int) -> str:
        calls[0] += 1
        return text(x, level)

    monkeypatch.setattr(expressions, "text", counted)
    for n in (200, 400):
        source = f"name: x\nplane: xy\nparameters: {{z: 1 mm, m: {' - '.join(['z'] * n)} + 2*z*z/z}}\ndrawing: {{A: [0, 0], B: [m, 0]}}\n"
        d = read_text(source + "bodies: {ground: {pins: [A]}, b: {pins: [A], points: [B]}}\n", "m.yaml")
        calls[0] = 0
        written = write(d)
        assert calls[0] < 20 * n and read_text(written).numbers() == d.numbers()


def test_a_file_of_nonsense_is_refused_early(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [0]
    attach = text_nodes._Builder.attach

    def counted(self: Any, parent: Any, node: Any) -> None:
        made[0] += 1
        attach(self, parent, node)

    monkeypatch.setattr(text_nodes._Builder, "attach", counted)
    with refused(lw.ModelError, line=20001):
        read_text("name: x\n" + "".join(f"junk{i}: 1\n" for i in range(60_000)), "m.yaml")
    assert made[0] < 45_000
    with refused(lw.ModelError, name="model dict"):
        lw.load({f"junk{i}": 1 for i in range(20_001)})


def test_what_lies_between_two_names_is_not_cut() -> None:
    told = f"joint 'A' {'cannot be where it is said to be, ' * 10} see 'B'."
    assert errors.readable(told) == told and errors.readable(f"it's {'so ' * 100}that 'B'") == f"it's {'so ' * 100}that 'B'"

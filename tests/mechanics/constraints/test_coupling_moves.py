"""Couplings by motion laws: closed forms, joints of the pieces, derivatives by dimensions, files, and mistakes with their lines."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import ModelError, UsageError
from linkwright.model.file import write
from linkwright.model.file.reader import read_text
from tests.refusals import refused

MODEL = """
name: lifter
plane: xy
units: [mm, deg, kg]
parameters: {height: 20 mm, up: 60 deg}
drawing: {A: [0, 0], C: [0, 100]}
bodies:
  ground: {pins: [A]}
  disc: {pins: [A], mass: 1, com: A, inertia: 2e-3 kg m^2}
  follower: {points: [C], mass: 0.5, com: C, inertia: 1e-4 kg m^2}
joints: {lift: {type: prismatic, between: [ground, follower], at: C, axis: [0, 1]}}
couplings:
  law: {from: A, to: lift, moves: MOVES}
drive: {A: 60 rpm}
"""
DWELLS = "[{dwell: 60}, {to: height, in: up, law: modified_trapezoid}, {dwell: 60}, {to: 0, in: 180 deg - up, law: 345}, {dwell: 60}]"


def model(moves: str = DWELLS, more: str = "") -> str:
    return MODEL.replace("MOVES", moves + more).lstrip()


def loaded(moves: str = DWELLS, more: str = "") -> lw.Mechanism:
    return lw.Mechanism(read_text(model(moves, more), "lifter.yaml"))


def test_a_turn_follows_the_laws():
    """Peaks of a modified trapezoid and of 3-4-5; the drive's work of a cycle that returns is nothing; the follower's force is m a."""
    c = loaded().cycle(steps=720)
    lift, a = c["lift"], c["lift.a"]
    w, beta = 2 * np.pi, np.radians(60.0)
    assert lift.min() > -1e-15 and lift.max() == pytest.approx(0.02)
    rising = slice(120, 241)
    assert a[rising].max() == pytest.approx(4.88812 * 0.02 * (w / beta) ** 2, rel=1e-5)
    assert a[360:601].max() == pytest.approx(5.77350 * 0.02 * (w / np.radians(120.0)) ** 2, rel=1e-4)  # the peak is between samples
    np.testing.assert_allclose(lift[[0, 100, 300, 650]], [0.0, 0.0, 0.02, 0.0], atol=1e-15)
    np.testing.assert_allclose(c["A.torque"], 0.5 * a * c["lift.v"] / w, atol=1e-12)


def test_moves_of_a_whole_turn_repeat_and_others_do_not():
    s = lw.compile(loaded())
    assert s.assemble({"A": np.radians(120 + 720)})["lift"] == pytest.approx(0.02)
    once = lw.compile(loaded("[{to: 20, in: 90}]", ", phase: 30, begin: 5"))
    for angle, height in ((0.0, 5.0), (75.0, 12.5), (120.0, 20.0), (400.0, 20.0)):
        assert once.assemble({"A": np.radians(angle)})["lift"] == pytest.approx(height / 1000)


def test_dimensions_in_moves_vary():
    """Derivatives of the traced kernels by a lift and by the span of a rise against central differences, and a batch of designs."""
    m = loaded()
    c = m.cycle(steps=90)
    d = c.derivatives(["height", "up"])
    for name, h in (("height", 1e-5), ("up", 1e-5)):
        value = {"height": 0.02, "up": np.radians(60.0)}[name]
        ends = [m.with_(**{name: f"{value + x} {'m' if name == 'height' else 'rad'}"}).cycle(steps=90)["lift"] for x in (h, -h)]
        np.testing.assert_allclose(d["lift", name], (ends[0] - ends[1]) / (2 * h), atol=1e-7)  # third derivative below 1e3, h^2/6
    turns = m.cycles({"height": [0.02, 0.03]})
    np.testing.assert_allclose(turns["lift"].max(axis=-1), [0.02, 0.03])


def test_a_model_with_moves_reads_back():
    d = loaded().description
    assert read_text(write(d)) == d
    c = d.couplings[0]
    assert c.repeats and c.moves[1].law == "modified_trapezoid" and c.moves[0].to is None


@pytest.mark.parametrize(
    ("moves", "more", "said"),
    [
        ("[{to: 20, in: 60, law: modified_sin}]", "", "lifter.yaml:12: .*no law 'modified_sin'. Did you mean 'modified_sine'"),
        ("[{to: 20, in: 60, law: quintic}]", "", "Did you mean '345'"),
        ("[{to: 20, in: 0}]", "", "a move takes 0 deg. It must be greater than zero"),
        ("[{to: 20}]", "", "a move is {to: 20 mm, in: 60 deg} with an optional `law`, or {dwell: 120 deg}"),
        ("[{dwell: 20, law: 345}]", "", "a dwell has no law"),
        ("[{to: 20, in: 3 s}]", "", "the span of a move must be angle"),
        ("[]", "", "the list of moves is empty"),
        ("[{to: 20, in: 60}]", ", ratio: 2", "has moves and `ratio`. Keep one"),
        (
            "[{to: 5, in: 60, law: straight}, {to: 20, in: 60}]",
            "",
            "speed would jump between a straight piece and the law 'cycloidal' after",
        ),
        ("[{to: 5, in: 60, law: straight}, {to: 0, in: 60, law: 345}, {dwell: 240}]", "", "a straight piece and a dwell before it"),
    ],
)
def test_mistakes_name_the_line_and_the_remedy(moves: str, more: str, said: str) -> None:
    with pytest.raises(ModelError, match=said) as found:
        loaded(moves, more)
    assert "lifter.yaml:12" in str(found.value)


def test_begin_and_phase_belong_to_moves():
    text = model().replace("moves: " + DWELLS, "ratio: 1 mm/rad, phase: 3")
    with refused(ModelError, name="coupling 'law'", line=12):
        read_text(text, "lifter.yaml")


def test_moves_of_a_call_are_those_of_the_file(tmp_path):
    """As a text, as a list and in the file; at rest at the end of the last."""
    text = "90 deg in 0.4 s by modified_sine, dwell 0.1 s, 20 deg in 0.3 s"
    pieces = [{"to": "90 deg", "in": "0.4 s", "law": "modified_sine"}, {"dwell": "0.1 s"}, {"to": "20 deg", "in": 0.3}]
    m = lw.load("wiper")
    q = m.system.assemble({"A": 0.3})
    a, b = (m.simulate(1.0, start=q, drive={"A": lw.drives.moves(x)}) for x in (text, pieces))
    np.testing.assert_array_equal(a["A"], b["A"])
    assert a.at(0.45)["A", "deg"] == pytest.approx(90.0) and a["A", "deg"][-1] == pytest.approx(20.0)
    for wrong, said in (
        ("90 deg within 3 s", "is not a move. Write"),
        ("90 kg in 3 s", "to must be angle"),
        ("90 deg in 3 s by bezier", "Laws"),
    ):
        with pytest.raises(UsageError, match=said):
            m.simulate(0.1, drive={"A": lw.drives.moves(wrong)})

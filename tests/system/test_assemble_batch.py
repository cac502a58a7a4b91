"""Many states at once against one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from tests.sweeps import sweep


@sweep("name", ("wiper", "five-bar", "3-rrr", "stewart", "delta"), now=("wiper", "five-bar"))
def test_states_are_those_of_assemble(name: str) -> None:
    """Both are closed to round-off: what is left is round-off times the condition, far below 1e-9."""
    s = lw.compile(name)
    names, rng = compiled_of(s).drive_names, np.random.default_rng(3)
    at = compiled_of(s).drive_positions(s.start)
    span = 0.4 if compiled_of(s).assembler.coordinate(names[0])[0].type == "revolute" else 0.04
    drive, speed = at + span * rng.uniform(-1, 1, size=(67, len(names))), rng.normal(size=(67, len(names)))
    for _ in range(2):  # on floats, then by code
        got = s.assemble_batch(dict(zip(names, drive.T, strict=True)), dict(zip(names, speed.T, strict=True)))
    assert got.ok.all() and len(got) == 67 and "67 states" in repr(got)
    for i in (0, 7, 8, 66):
        one = s.assemble(*(dict(zip(names, map(float, x[i]), strict=True)) for x in (drive, speed)))
        if s.kernels.plan.idle:  # rods spin idly: their turn about themselves is a choice, places are not
            p = s.kernel("poses")(np.array([got.q[i], one.q])).p
            assert np.abs(p[0] - p[1]).max() < 1e-9 and np.abs(s.closure(one).phi).max() < 1e-10
            continue
        assert np.abs(got.q[i] - one.q).max() < 1e-9 and np.abs(got.v[i] - one.v).max() < 1e-9 * (1.0 + np.abs(one.v).max())
        assert (got[i].q == got.q[i]).all() and np.abs(s.closure(got[i]).phi).max() < 1e-12
        assert np.abs(compiled_of(s).packed_references(got[i]) - compiled_of(s).packed_references(one)).max(initial=0.0) < 1e-9


@pytest.mark.slow
def test_what_cannot_be_reached_is_masked_and_explained() -> None:
    s = lw.compile("3-rrr")
    names, at = compiled_of(s).drive_names, compiled_of(s).drive_positions(s.start)
    far = at + np.array([0.0, 0.5, 3.0])[:, None] * np.array([1.0, -1.0, 1.0])  # the last one: legs that do not reach the platform
    with pytest.raises(lw.LinkwrightError, match="cannot reach"):
        s.assemble(dict(zip(names, map(float, far[2]), strict=True)))
    for _ in range(2):
        got = s.assemble_batch(dict(zip(names, far.T, strict=True)))
        assert got.ok.tolist() == [True, True, False] and np.isnan(got.q[2]).all() and "cannot reach" in got.why[2]
    with pytest.raises(lw.LinkwrightError, match="cannot reach"):
        _ = got[2]


def test_another_branch_is_that_of_the_guess() -> None:
    s = lw.compile("wiper")
    one, other = s.branches({"A": 0.3})[:2]
    for st in (one, other):
        got = s.assemble_batch({"A": np.linspace(0.2, 0.5, 9)}, guess=st)
        expected = [s.assemble({"A": float(x)}, guess=st).q for x in np.linspace(0.2, 0.5, 9)]
        assert np.abs(got.q - expected).max() < 1e-9


def test_units_and_single_values() -> None:
    s = lw.compile("five-bar")
    a, b = compiled_of(s).drive_names
    at = dict(zip((a, b), compiled_of(s).drive_positions(s.start), strict=True))
    got = s.assemble_batch({a: [f"{np.degrees(at[a])} deg", at[a] + 0.1], b: at[b]})
    assert len(got) == 2 and np.abs(got.q[0] - s.start.q).max() < 1e-9


@pytest.mark.parametrize(
    ("q", "v", "text"),
    [
        ({"A": 0.1}, None, "q of E is missing"),
        ({"A": 0.1, "Q": 0.2}, None, "'Q' is not a drive"),
        (None, None, "by the names of the drives"),
        ({"A": [0.1, 0.2], "E": [0.1, 0.2, 0.3]}, None, "A 2, E 3"),
        ({"A": np.array([0.1, np.nan]), "E": 0.1}, None, "'A' is nan in entry 1"),
        ({"A": np.zeros((2, 2)), "E": 0.1}, None, "2 axes"),
        ({"A": "3 kg", "E": 0.1}, None, "kg"),
        ({"A": 0.1, "E": 0.1}, {"A": 1.0}, "v of E is missing"),
    ],
)
def test_wrong_calls_say_what_is_allowed(q: Any, v: Any, text: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=text):
        lw.compile("five-bar").assemble_batch(q, v)

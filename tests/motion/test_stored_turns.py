"""Trajectories are computed once: pages and reports share that of their mechanism, and writing into one changes no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.motion import cycle
from linkwright.rings import cli
from tests.sweeps import sweep


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps of every cycle that is computed from now on."""
    steps: list[int] = []
    real = cycle.cycle

    def counted(*args: Any, **options: Any) -> lw.Trajectory:
        steps.append(args[3])
        return real(*args, **options)

    monkeypatch.setattr(cycle, "cycle", counted)
    return steps


@sweep(
    ("write", "expected"),
    [
        (lambda m, path: m.show(path), [360]),
        (lambda m, path: m.cycle().show(path), [360]),
        (lambda m, path: m.cycle(speed=0).show(path), [360, 360]),  # the static one, and that of the file's speed it is compared with
        (lambda m, path: cli.main(["wiper", "-o", str(path)]), [360]),
        (lambda m, path: m.show(path, steps=24), [24]),
        (lambda m, path: m.report(path, steps=48), [48]),
        (lambda m, path: m.cycle(steps=360).report(path), [360]),
        (lambda m, path: cli.main(["report", "wiper", "--steps", "48", "-o", str(path)]), [48]),
    ],
    now=3,
)
def test_a_page_computes_one_turn(
    computed: list[int], tmp_path: Path, write: Callable[[lw.Mechanism, Path], Any], expected: list[int]
) -> None:
    write(lw.load("wiper"), tmp_path / "x.html")
    assert (tmp_path / "x.html").exists()
    assert computed == expected


def test_turns_differ_by_drive_steps_speed_duration_and_parameters(computed: list[int]) -> None:
    m = lw.load("wiper")
    first = m.cycle(steps=12)
    assert len(m.cycle(steps=13)) == 14
    assert np.allclose(m.cycle(steps=12, speed="90 rpm").t, first.t * first.v[0, 0] / (3.0 * np.pi))
    assert m.cycle("C", steps=12).drive == "C"
    assert not np.array_equal(m.with_(start={"A": "50 deg"}).cycle(steps=12).q, first.q)
    assert computed == [12, 13, 12, 12, 12]
    same = m.cycle(steps=12)
    assert computed == [12, 13, 12, 12, 12]
    assert all(np.array_equal(getattr(same, x), getattr(first, x)) for x in "tqva")


def test_writing_into_a_turn_changes_no_other() -> None:
    m = lw.load("wiper")
    first, expected = m.cycle(steps=12), lw.load("wiper").cycle(steps=12)
    for array in (first.t, first.q, first.v, first.a, *first.references[3].values()):
        array[...] = 7.0
    again = m.cycle(steps=12)
    close = {"rtol": 1e-12, "atol": 1e-12}  # one of them may come from the walk on floats
    assert all(np.allclose(getattr(again, x), getattr(expected, x), **close) for x in "tqva")
    assert all(np.allclose(again.references[3][n], x, **close) for n, x in expected.references[3].items())


def test_large_turns_are_not_stored(computed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "MOST_STORED", 10)
    m = lw.load("wiper")
    m.cycle(steps=11)
    m.cycle(steps=11)
    assert computed == [11, 11]

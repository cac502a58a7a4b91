"""Requirements on a turn of the wiper, whose swing follows from two triangles; exit codes of the command line."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwright as lw
from linkwright.cli.dispatch import main
from linkwright.optimisation.requirements import requirements


@cache
def turn() -> lw.Trajectory:
    return lw.load("wiper").turn()


def swing() -> float:
    """Degrees between the ends of the rocker, where crank and coupler are in line: law of cosines, from the drawing."""
    A, B, C, D = (np.array(p) for p in ([0, 0], [150, 260], [905, 750], [1000, 0]))
    crank, coupler, rocker, ground = (float(np.linalg.norm(q - p)) for p, q in ((A, B), (B, C), (C, D), (D, A)))
    ends = [(rocker**2 + ground**2 - (coupler + x) ** 2) / (2 * rocker * ground) for x in (crank, -crank)]
    return float(np.degrees(np.arccos(ends[0]) - np.arccos(ends[1])))


def test_measures_channels_boxes_and_full_turn() -> None:
    exact = swing()
    wanted = [
        (f"range rocker.angle = {exact:.4f} deg +- 0.01 deg", True),  # samples a degree apart miss the ends by 0.001
        (f"range rocker.angle = {exact + 0.1:.4f} deg +- 0.01 deg", False),
        ("C.transmission > 40 deg", True),
        ("C.transmission > 50 deg", False),  # 49.05 at the crank's 0 deg
        ("stroke coupler.P.x < 1 m", True),
        ("time ratio rocker.angle < 1.5", True),
        ("coupler.P within -2000..2000 x -2000..2000 mm", True),
        ("coupler.P within -2000..2000 x 0..10 mm", False),
        ("full turn", True),
    ]
    found = requirements(turn(), [text for text, _ in wanted])
    assert [r.met for r in found.rows] == [met for _, met in wanted] and not found.met
    assert found.rows[3].value == pytest.approx(49.05, abs=0.01) and "not met" in str(found)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("range rocker.angle = 48", "write the unit"),
        ("range rocker.angle = 48 mm", "not measured in mm"),
        ("time ratio rocker.angle < 2 s", "plain number"),
        ("range roker.angle < 48 deg", "no channel 'roker"),
        ("coupler.P < 1 m", "vector"),
        ("nothing", "no constraint"),
    ],
)
def test_requirements_that_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=why):
        requirements(turn(), text)


def test_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["turn", "wiper", "--steps", "36", "--no-loads", "--require", "full turn"]
    assert main(given) == 0
    assert main([*given, "--require", "C.transmission > 60 deg"]) == 1
    out = capsys.readouterr()
    assert "1 of 2 requirements not met by 'wiper': C.transmission > 60 deg." in " ".join(out.err.split())
    assert "not met  49.0525 deg" in out.out

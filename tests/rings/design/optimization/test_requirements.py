"""Requirements on a turn of the wiper, whose swing follows from two triangles; exit codes of the command line."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwright as lw
from linkwright.results.measures import measure
from linkwright.rings.cli.dispatch import main
from linkwright.rings.design.optimization.requirements import requirements


@cache
def turn() -> lw.Trajectory:
    return lw.load("wiper").cycle()


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
        ("C.transmission_angle > 40 deg", True),
        ("C.transmission_angle > 50 deg", False),  # 49.05 at the crank's 0 deg
        ("stroke coupler.P.x < 1 m", True),
        ("time ratio rocker.angle < 1.5", True),
        ("coupler.P within -2000..2000 x -2000..2000 mm", True),
        ("coupler.P within -2000..2000 x 0..10 mm", False),
        ("max A.torque / 1 kN m + max C.load / 1 MN < 1", True),  # terms without dimension
        ("energy.kinetic < 1000 kJ", True),
        ("full turn", True),
    ]
    found = requirements(turn(), [text for text, _ in wanted])
    assert [r.met for r in found.rows] == [met for _, met in wanted] and not found.ok
    assert found.rows[3].value == pytest.approx(49.05, abs=0.01) and "not met" in str(found)


def test_window_counts_its_samples_and_its_ends() -> None:
    """Transmission angle and point P rise or fall over these windows: the extremes are at their ends, between samples a degree apart."""
    c = turn()
    transmission, x = np.degrees(c["C.transmission_angle"]), c["coupler.P.x"]
    at = [np.interp([100.5, 110.25], np.degrees(c["A"])[:-1], y[:-1], period=360.0) for y in (transmission, x)]
    found = requirements(
        c, ["C.transmission_angle > 10 deg while 100.5..110.25 deg", "C.transmission_angle < 170 deg while 100.5..110.25 deg"]
    )
    assert [r.value for r in found.rows] == pytest.approx([at[0].min(), at[0].max()], abs=1e-9)
    boxes = [f"{1e3 * (at[1].min() - d):.6f}..{1e3 * (at[1].max() + d):.6f} x -5000..5000 mm" for d in (1e-6, -1e-6)]
    met = requirements(c, [f"coupler.P within {box} while 100.5..110.25 deg" for box in boxes])
    assert [r.met for r in met.rows] == [True, False]


def test_straight_is_straightness() -> None:
    c = turn()
    row = requirements(c, "straight coupler.P < 1 mm while 100..180 deg").rows[0]
    assert row.value == pytest.approx(1e3 * measure("straightness coupler.P while 100..180 deg").read_from(c)) and not row.met


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("range rocker.angle = 48", "write the unit"),
        ("range rocker.angle = 48 mm", "not measured in mm"),
        ("time ratio rocker.angle < 2 s", "plain number"),
        ("range roker.angle < 48 deg", "no channel 'roker"),
        ("coupler.P < 1 m", "vector"),
        ("nothing", "not a constraint"),
        ("max A.torque + max C.load < 5 N", "max A.torque is torque .*, not measured in N"),
        ("range rocker.angle - range A < 5", "write the unit"),
        ("max A.torque / 200 N < 1", "divided by force"),
        ("max A.torque / 200 N m < 1 N m", "plain number, not measured in N m"),
        ("time ratio rocker.angle < 2 deg", "plain number"),
        ("A.torque + D.torque < 5 N m while 100..180 deg", "In a sum, choose one number"),
        ("A.torque + coupler.P.x < 5 N m", "coupler.P.x is length"),
        ("coupler.P + coupler.P.x < 5 m", "coupler.P is a vector"),
        ("C.transmission_angle > 10 deg while A.v > 1e6 rad/s", "no sample"),
    ],
)
def test_requirements_that_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=why):
        requirements(turn(), text)


def test_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["cycle", "wiper", "--steps", "36", "--no-loads", "--require", "full turn"]
    assert main(given) == 0
    assert main([*given, "--require", "C.transmission_angle > 60 deg"]) == 1
    out = capsys.readouterr()
    assert "1 of 2 requirements not met by 'wiper': C.transmission_angle > 60 deg (missed by 10.95 deg)." in " ".join(out.err.split())
    assert "not met  49.0525  deg" in out.out


def test_by_how_much_and_on_which_side() -> None:
    """The crank's pin of the wiper runs on a circle about A: its extremes are known."""
    c = lw.load("wiper").cycle(steps=720)
    x, y = c["crank.B.x", "mm"], c["crank.B.y", "mm"]
    room = f"{x.min() - 1:.4f}..{x.max() - 2:.4f} x {y.min() - 1:.4f}..{y.max() + 1:.4f} mm"
    (row,) = requirements(c, f"crank.B within {room}").rows
    assert not row.met and row.side == "right side" and row.beyond == pytest.approx(2.0, abs=1e-3) and row.value == pytest.approx(x.max())
    assert row.how == "missed by 2 mm on the right side" and "missed by 2 mm on the right side" in str(
        requirements(c, f"crank.B within {room}")
    )
    (below,) = requirements(c, f"crank.B within {x.min() - 1:.4f}..{x.max() + 1:.4f} x {y.min() + 3:.4f}..{y.max():.4f} mm").rows
    assert below.side == "bottom side" and below.beyond == pytest.approx(3.0, abs=1e-3)
    (short,) = requirements(c, "C.transmission_angle > 60 deg").rows
    assert short.beyond == pytest.approx(60.0 - short.value) and short.as_dict()["beyond"] == short.beyond
    (good,) = requirements(c, "C.transmission_angle > 20 deg").rows
    assert good.met and good.beyond == 0.0 and not good.how

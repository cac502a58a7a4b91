"""Bounds of a synthesis, checked at the finished linkage by closed forms of its drawing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings import cli
from linkwright.rings.synthesis.bound_checks import missed_bounds
from linkwright.rings.synthesis.linkage import Guide, Linkage, four_bar, slider_crank
from linkwright.rings.synthesis.results import SynthesizedLinkage

POSES = [[0, 360, "0 deg"], [30, 395, "45 deg"], [40, 420, "85 deg"]]
BOX = (-320.0, -20.0, 200.0, 350.0)


def test_a_given_moving_pivot_may_lead_out_of_the_box() -> None:
    """The fixed pivot of a moving one is the center of its circle through three poses; here it lies 84 mm above the box."""
    at = [complex(x, y) + complex(-30, 330) * np.exp(1j * np.deg2rad(float(a.split()[0]))) for x, y, a in POSES]
    z = np.array(at)
    rows = np.array([[2 * (z[k] - z[0]).real, 2 * (z[k] - z[0]).imag] for k in (1, 2)])
    x, y = np.linalg.solve(rows, [abs(z[k]) ** 2 - abs(z[0]) ** 2 for k in (1, 2)])
    found = lw.synthesize(poses=POSES, kind="four-bar", bounds={"pivots": BOX}, moving=(-30, 330), unit="mm", count=2)
    assert len(found) == 2 and not any(a.usable for a in found) and found.facts["usable"] == 0
    for answer in found:
        over = max(answer.linkage.pins[p].imag for p in "AD") - 0.35
        assert over == pytest.approx(1e-3 * y - 0.35, abs=1e-9) and over > 0.08
        assert answer.missed == (
            f"pivots: {'A' if abs(answer.linkage.pins['A'].imag - 1e-3 * y) < 1e-9 else 'D'} lies 84.24 mm above the box",
        )
        assert "# bound not met: pivots: " in answer.text("x")
    assert "0 usable" in str(found) and "pivots missed" in str(found)
    assert abs(x + 35.99) < 0.01  # of the report
    free = lw.synthesize(poses=POSES, kind="four-bar", bounds={"pivots": BOX}, unit="mm", count=3)
    for answer in free:
        pivots = [answer.linkage.pins[p] for p in answer.linkage.bodies["ground"]]
        inside = all(-0.32 <= p.real <= -0.02 and 0.2 <= p.imag <= 0.35 for p in pivots)
        assert inside and not answer.missed


FOUR_BAR = four_bar(0.0, 0.05j, 0.2 + 0.1j, 0.2, 0.1 + 0.15j)


@pytest.mark.parametrize(
    ("bounds", "missed"),
    [
        ({"crank": 0.05}, ""),
        ({"crank": 0.05 * (1.0 - 5e-10)}, ""),  # round-off
        ({"crank": 0.049}, "crank: 50 mm is 1 mm above 49 mm"),
        ({"rocker": (0.11, 0.2)}, "rocker: 100 mm is 10 mm below 110 mm"),
        ({"ground": (0.1, 0.2)}, ""),
        ({"coupler": 0.2}, f"coupler: {np.hypot(200, 50):.6g} mm is {np.hypot(200, 50) - 200:.3g} mm above 200 mm"),
        ({"crank pivot": (0.01, 1.0, -1.0, 1.0)}, "crank pivot: A lies 10 mm left of the box"),
        ({"rocker pivot": (0.0, 0.19, -1.0, 1.0)}, "rocker pivot: D lies 10 mm right of the box"),
        ({"pivots": (-1.0, 1.0, 0.002, 1.0)}, "pivots: A lies 2 mm below the box"),
        ({"transmission": np.deg2rad(40.0)}, "transmission: 39.98 deg is 0.02 deg below 40 deg"),
        ({"ratio": 4.0}, "ratio: 4.5 is 0.5 above 4"),
        ({"links": (0.06, 0.3)}, "links: 50 mm is 10 mm below 60 mm"),
        ({"links": 0.22}, "links: 225 mm is 5 mm above 220 mm"),
        ({"point": 0.2}, ""),
        ({"point": 0.1}, "point: P lies"),
        ({"tolerance": 1e-4}, "tolerance: not known for this linkage"),  # unknown is not met
    ],
)  # fmt: skip
def test_bounds_by_hand(bounds: dict[str, Any], missed: str) -> None:
    measures = {"least transmission angle": np.deg2rad(39.98), "link ratio": 4.5, "longest link": 0.225}
    answer = SynthesizedLinkage(FOUR_BAR, 0.0, measures=measures, unit="mm")
    found = missed_bounds(answer, bounds, "mm")
    assert found[0].startswith(missed) if missed else not found
    assert replace(answer, missed=found).usable is not bool(missed)


def test_offset_of_a_slider() -> None:
    answer = SynthesizedLinkage(slider_crank(0.0, 0.05, 0.25 + 0.03j, 1.0 + 0.0j), 0.0, unit="mm")
    assert not missed_bounds(answer, {"offset": 0.03}, "mm")
    assert "10 mm" in missed_bounds(answer, {"offset": 0.02}, "mm")[0]


def test_a_dwell_holds_its_transmission_angle() -> None:
    """What is printed as 40 deg is 40 deg in the engine's turn, to the distance of its samples."""
    task = {"stroke": "80 mm", "dwell_angle": "90 deg"}
    found = lw.synthesize(dwell=task, kind="watt II slider", bounds={"transmission": "40 deg"}, unit="mm", count=2, starts=64)
    assert any(x.usable for x in found)
    for x in found:
        least = x.measures["least transmission angle"]
        assert (least >= np.deg2rad(40.0) * (1.0 - 1e-9)) == (not x.missed)
        assert [*found].index(x) == 0 or found[0].usable


def test_json_has_the_bounds_that_are_missed(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    import json

    path = tmp_path / "poses.csv"
    path.write_text("x [mm], y [mm], angle [deg]\n0, 360, 0\n30, 395, 45\n40, 420, 85\n")
    given = ["synthesize", "poses", str(path), "--kind", "four-bar", "--bound", "pivots=-320,-20,200,350", "--with", "moving=-30,330"]
    assert cli.main([*given, "--count", "1", "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    assert not answer["usable"] and answer["missed"] == ["pivots: A lies 84.24 mm above the box"]


def test_positions_of_the_drive_at_the_poses() -> None:
    """The driven pin, carried by the body from pose to pose, is where the crank has it at these angles."""
    found = lw.synthesize(poses=POSES, kind="four-bar", unit="mm", count=2)
    for answer in found:
        pins, poses = answer.linkage.pins, [(1e-3 * complex(x, y), np.deg2rad(float(a.split()[0]))) for x, y, a in POSES]
        assert len(answer.at) == 3 and answer.at[0] == 0.0
        for (place, angle), turned in zip(poses, answer.at, strict=True):
            carried = place + (pins["B"] - poses[0][0]) * np.exp(1j * (angle - poses[0][1]))
            assert pins["A"] + (pins["B"] - pins["A"]) * np.exp(1j * turned) == pytest.approx(carried, abs=1e-9)


def test_a_box_for_pivots_is_not_met_by_guides() -> None:
    """Two sliders have no pivot: five of them, with guides outside of the box, came first as usable."""
    found = lw.synthesize(poses=POSES, bounds={"pivots": BOX}, unit="mm", count=5)
    assert all(a.usable and a.linkage.bodies["ground"] for a in found)
    guides = {"guide": Guide("slider", "B", 1.0 + 0j), "guide2": Guide("slider2", "C", 1j)}
    bodies = {"ground": (), "slider": ("B",), "slider2": ("C",), "coupler": ("B", "C")}
    linkage = Linkage("double slider", {"B": -0.1 + 0.3j, "C": -0.2 + 0.25j}, bodies, "guide", {}, guides)
    assert missed_bounds(SynthesizedLinkage(linkage, 0.0), {"pivots": tuple(1e-3 * x for x in BOX)}, "mm") == (
        "pivots: this linkage has guides in place of fixed pivots, and the box gives no bounds for guides",
    )

"""Trajectories through singular positions: located in the drive's coordinate, marked, and exact beside them."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.design.drive_duty import efforts
from tests.refusals import refused
from tests.sweeps import sweep

ARM = math.hypot(0.9, 0.4)  # m; arms cross in their middle
K, P = (0.15, -0.25), 0.25 * math.hypot(0.9, 0.4)  # eye of the cylinder on ground; distance of its eye on the arm from A
STRETCHED = math.hypot(K[0], P - K[1])  # length of the cylinder with both arms vertical


def drawn(**more: Any) -> lw.Mechanism:
    """A scissor table lifted by a cylinder at the arm on A; the other arm slides on the floor, the table on the first arm."""
    return lw.load({
        "name": "scissor table", "plane": "xy", "gravity": [0, -9.81],
        "drawing": {
            "A": [0, 0], "B": [0.9, 0], "M": [0.45, 0.2], "C": [0.9, 0.4], "D": [0, 0.4], "K": list(K), "P": [0.225, 0.1], "T": [0.5, 0.45],
        },
        "bodies": {
            "ground": {"pins": ["A"], "points": ["B", "K"]},
            "arm1": {"pins": ["A", "M", "C"], "points": ["P"], "mass": 20, "com": [0.45, 0.2], "inertia": 2},
            "arm2": {"pins": ["M", "D"], "points": ["B"], "mass": 20, "com": [0.45, 0.2], "inertia": 2},
            "table": {"pins": ["D"], "points": ["C", "T"], "mass": 60, "com": [0.45, 0.42], "inertia": 5},
        },
        "joints": {
            "slide": {"type": "pin_slot", "between": ["ground", "arm2"], "at": "B", "slot": [1, 0]},
            "top": {"type": "pin_slot", "between": ["table", "arm1"], "at": "C", "slot": [1, 0]},
        },
        "cylinders": {"cyl": {"between": ["ground.K", "arm1.P"]}},
        "loads": {"payload": {"on": "table.T", "force": [0, -5000]}},
        "drive": {"cyl": "20 mm/s"},
        **more,
    })  # fmt: skip


@cache
def scissor() -> lw.Mechanism:
    return drawn()


@cache
def turned(steps: int) -> Any:
    return scissor().cycle(steps=steps)


@sweep("steps", [60, 20, 90], now=1)
def test_a_turn_says_that_it_passed_the_stretched_position_and_where(steps: int) -> None:
    """Located on the minimum of a singular value by its square: to the root of round-off of the stroke, whatever the samples are."""
    c = turned(steps)
    (passed,) = [x for x in c.singular if x.kind == "passage"]
    assert passed.at == pytest.approx(STRETCHED, abs=1e-7) and passed.drive == "cyl" and passed.strength < 1e-6
    assert f"passes a singular position at cyl = {STRETCHED:.5g} m" in c.notes
    nearest = int(np.argmin(np.abs(c["cyl"] - STRETCHED)))
    assert c.near_singular[nearest] and c.near_singular[[0, -1]].all() and np.count_nonzero(c.near_singular) < 0.2 * len(c)


def test_dead_centers_at_the_ends_are_listed() -> None:
    """The cylinder ends where K, A and P are in line: |AK| - |AP| and, with the eye beyond, |AK| + |AP|."""
    found = [x.at for x in turned(60).singular if x.kind == "dead center"]
    reach = math.hypot(*K)
    assert found == pytest.approx([abs(reach - P), reach + P], abs=1e-5)


@sweep("steps", [100, 240, 400, 720], now=1)
def test_samples_beside_it_are_on_the_branch(steps: int) -> None:
    """Arms cross symmetrically: their angles add up to pi at every sample, with zero rates; error of a quintic over a small gap."""
    c = turned(steps)
    assert np.abs(c["arm1.angle"] + c["arm2.angle"] - np.pi).max() < 1e-12
    assert np.abs(c["arm1.angle.v"] + c["arm2.angle.v"]).max() < 1e-9
    assert np.abs(c["arm1.angle.a"] + c["arm2.angle.a"]).max() < 1e-7
    assert np.abs(c["table.angle"]).max() < 1e-12


def test_peaks_beside_it_are_marked_and_others_not() -> None:
    c = turned(120)
    pins, own = c.bearings(), efforts(c)
    assert all(r.near_singular for r in pins) and "*" in str(pins)
    regular = lw.load("wiper").cycle(steps=60)
    assert not regular.singular and not regular.near_singular.any() and "*" not in f"{regular.bearings()}{efforts(regular)}"
    assert own["cyl"].near_min and own["cyl"].near_max  # both ends are dead centers


def test_everything_taken_near_it_is_marked() -> None:
    """Efforts with their means and powers, shaking force, transmission angles next to a dead center; of a cycle without one nothing is."""
    from linkwright.rings.design.cycle_loads import cycle_loads

    found = cycle_loads(turned(120))
    row = str(found.efforts).splitlines()[-1].split()
    assert [x.endswith("*") for x in row[1:]] == [True, False, True, False, True, True, True, True, True]  # places are exact
    info = scissor().info()
    text = str(info)
    assert "* .. " in text and "* taken next to a singular position" in text
    angles = {r.name: r for r in info.transmission_angles}
    assert angles["cyl"].near_low and not angles["cyl"].near_high and angles["slide"].low == 0.0 and not angles["slide"].near_low
    regular = lw.load("wiper")
    assert "*" not in str(regular.info()) and "*" not in str(cycle_loads(regular.cycle(steps=36)))


def test_derivatives_of_peaks_near_it_say_so() -> None:
    """A pole has no peak to be refined: the value is that of the nearest sample."""
    c = turned(60)
    found = scissor().tolerances(["table.mass"], "peak M.load", case=lw.Cycle(steps=60))
    assert found.results[0].nominal == pytest.approx(c["M.on.arm1.magnitude"].max(), rel=1e-9) and "* " not in str(found)
    assert "the peak is taken near a singular position: it depends on how close the nearest sample is to it" in found.notes
    again = scissor().tolerances(["table.mass"], "rms cyl.force", case=lw.Cycle(steps=24))
    assert any("near a singular position" in n for n in again.notes)


def test_plots_mark_values_near_it() -> None:
    """Titles of the effort and of the hodographs; a cycle without a singular position has no such words."""
    from linkwright.rings.studio.plots.efforts import near_text

    c = turned(60)
    written = ["\n".join(a.get_title(loc) for a in c.plot(kind).axes for loc in ("left", "center")) for kind in ("torque", "hodograph")]
    assert written[0].count("(near a singular position)") == 3 and written[1].count("(near a singular position)") == 4
    assert near_text(lw.load("wiper").cycle(steps=12), 3) == ""


def test_a_shaking_force_near_it_is_marked() -> None:
    """A crank that drives a link through a toggle accelerates without bound toward the dead centers at the ends of its swing."""
    from linkwright.rings.design.cycle_loads import cycle_loads

    bodies = {
        "ground": {"pins": ["A", "D"]}, "handle": {"pins": ["A", "B"], "mass": 1}, "link": {"pins": ["B", "C"], "mass": 1},
        "arm": {"pins": ["C", "D"], "mass": 2},
    }  # fmt: skip
    at = {"A": [0, 0], "B": [0.04, 0.03], "C": [0.11, 0.01], "D": [0.12, 0]}
    m = lw.load({"name": "clamp", "plane": "xy", "drawing": at, "bodies": bodies, "drive": {"A": "60 rpm"}})
    coarse, fine = (cycle_loads(m.cycle(steps=n)) for n in (60, 240))
    assert all(x.near_shaking == (True, True) for x in (coarse, fine)) and "*" in coarse.shaken
    assert m.info().pressure_angles[0].near_high and all("dead center" in x.kind for x in m.cycle(steps=60).singular)


def test_static_forces_beside_it_are_right_away_from_it() -> None:
    """Virtual work: F = (m g + payload) dh/ds, finite through the singular position; h of the table is ARM sin(angle of arm 1)."""
    c = scissor().cycle(steps=60, speed=0)
    angle, s = c["arm1.angle"], c["cyl"]
    # ds/d(angle) of the cylinder between K and P(angle)
    px, py = P * np.cos(angle), P * np.sin(angle)
    ds = ((px - K[0]) * -py + (py - K[1]) * px) / s
    weight = 9.81 * (60 + 20) + 5000.0  # table and payload rise with the arms' length, each arm's center by half of it
    wanted = weight * ARM * np.cos(angle) / ds
    regular = ~c.near_singular
    assert np.abs(c["cyl.force"] - wanted)[regular].max() < 1e-8 * np.abs(wanted[regular]).max()


@pytest.mark.slow
@pytest.mark.parametrize("steps", [36, 240])
def test_the_report_of_it_is_written_with_its_marks(tmp_path: Path, steps: int) -> None:
    text = scissor().report(tmp_path / "table.html", steps=steps).read_text(encoding="utf-8")
    assert "passes a singular position at cyl = 0.5184 m" in text and "values marked * depend on" in text
    shown = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)  # programs of the page have sentences for other mechanisms
    assert "1 singular position passed" in shown and "a dead center." not in shown


def test_a_sample_exactly_in_it_has_loads_too() -> None:
    """The pin A drives: 90 and 270 deg are singular and are samples."""
    m = drawn(drive={"A": "60 rpm"}, cylinders={}, start={"A": "20 deg"})
    c = m.cycle(steps=36)
    assert [math.degrees(x.at) for x in c.singular] == pytest.approx([90.0, 270.0], abs=1e-6)
    assert "passes singular positions at A = 1.5708 rad, 4.7124 rad" in c.notes
    assert np.isfinite(c["M.on.arm1.magnitude"]).all() and all(r.unique for r in c.bearings())


SHIPPED = {
    "slider-crank-equal": [90.0, 270.0], "parallelogram-chain": [0.0, 180.0], "bennett": [], "scissor-lift": [], "wiper": [],
}  # fmt: skip


@sweep("name", SHIPPED, later=["parallelogram-chain"])
def test_shipped_models(name: str) -> None:
    """Closed forms: a slider-crank of equal links folds at 90 and 270 deg, a parallelogram is flat at 0 and 180 deg."""
    c = lw.load(name).cycle(steps=72)
    assert sorted(math.degrees(c.place(x.at)) for x in c.singular) == pytest.approx(SHIPPED[name], abs=1e-5)


def test_singular_places_survive_a_file(tmp_path: Path) -> None:
    c = turned(40)
    c.save(tmp_path / "turn.npz")
    again = lw.load_result(tmp_path / "turn.npz")
    assert again.singular == c.singular and np.array_equal(again.near_singular, c.near_singular)


def test_accelerations_that_contradict_the_loops_are_refused_in_the_user_s_words() -> None:
    s = scissor().system
    st = s.assemble(v={"A": 1.0})
    with refused(UsageError, name="a"):
        s.inverse(st, np.ones(s.tree.nv))

"""The checks of the page are computed from the design it shows: broken designs fail, dead centers are located and marked."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import yaml

import linkwright as lw
from linkwright.model import library as models
from tests.rings.studio.live.engine_runs import made, run, shipped
from tests.rings.studio.live.test_engine import DOUBLE_ROCKER

CHECKED = """
const r=e.set(x.values||{}),c=e.cycle,by={};
for(const k of e.checks())by[k.name]=k;
return{r,by,singular:c.singular,stretch:e.stretch(x.s||0),stats:c.stats,pins:Object.values(c.pins).map(p=>p.doubtful),n:c.n,
  placed:c.placed.reduce((s,v)=>s+v,0)};
"""
# arms of a scissor table, a cylinder in its lower half: it stretches through the upright position of the arms
TABLE: dict[str, Any] = {
    "name": "table",
    "plane": "xy",
    "units": ["mm", "kg", "N", "deg"],
    "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "B": [600, 200], "C": [1200, 0]},
    "bodies": {
        "ground": {"pins": ["A"]},
        "arm": {"pins": ["A", "B"], "mass": 10},
        "leg": {"pins": ["B", "C"], "mass": 10},
        "foot": {"pins": ["C"], "mass": 1},
    },
    "joints": {"slide": {"type": "prismatic", "between": ["ground", "foot"], "at": "C", "axis": [1, 0]}},
    "drive": {"slide": {"moves": [{"to": "60 mm", "in": "2 s"}, {"to": "0 mm", "in": "2 s"}]}},
}


def checked(name: str, values: dict[str, float] | None = None, **more: Any) -> dict[str, Any]:
    return run({name: shipped(name)}, [(name, CHECKED, {"values": values, **more})])[0]


def test_a_crank_that_is_too_long_fails_and_names_the_dead_center() -> None:
    """Coupler and rocker are stretched where |B - D| = b + c: the law of cosines gives the crank's angle."""
    found, right = checked("wiper", {"crank.B.x": 0.7}, s=20), checked("wiper")
    m = lw.load("wiper").description
    coupler, rocker = (float(np.linalg.norm(np.subtract(m.body(b).points[0].at, m.body(b).points[1].at))) for b in ("coupler", "rocker"))
    angle = np.arccos((0.7**2 + 1.0 - (coupler + rocker) ** 2) / (2 * 0.7 * 1.0))
    stops = [x["value"] for x in found["singular"]]
    assert stops == pytest.approx([angle, 2 * np.pi - angle], abs=1e-5)  # a dead center is located to 1e-7 of a step of 1 deg
    failed = {name for name, check in found["by"].items() if check["verdict"] == "failed"}
    assert failed == {"motion", "loops"} and not found["r"]["ok"]
    assert found["by"]["motion"]["text"].startswith(f"A stops at {np.degrees(angle):.4g} deg: dead center, B, C and D in line (stretched)")
    assert f"{found['placed']} of {found['n']} positions" in found["by"]["loops"]["text"] and found["placed"] < found["n"]
    assert found["stats"][0]["doubtful"] and found["by"]["singularities"]["verdict"] == "unknown"
    # the motion plays from one dead center through the start to the other: samples are degrees, the first is at 60 deg
    low, high = found["stretch"]["from"], found["stretch"]["to"]
    assert low == np.ceil(np.degrees(2 * np.pi - angle) - 60) and high == np.floor(360 + np.degrees(angle) - 60)
    assert all(check["verdict"] == "passed" for check in right["by"].values()) and right["stretch"] is None
    assert right["by"]["motion"]["text"] == "ends where it began" and not right["stats"][0]["doubtful"]


def test_work_of_a_load_over_time_is_in_the_energy_balance() -> None:
    """Its power is read at the time of every sample; at one time alone a tenth of the energy would be missing."""
    model = yaml.safe_load(models.path("wiper").read_text(encoding="utf-8"))
    gust = {"over": "t", "table": [[0, "0 N"], [0.3, "40 N"], [0.7, "-30 N"], [1.0, "20 N"], [1.4, "0 N"]]}
    model["loads"] = {"gust": {"on": "coupler.P", "force": [gust, "10 N"]}}
    (found,) = run({"gust": made(lw.load(model).system)}, [("gust", CHECKED, {})])
    (moved,) = run({"gust": made(lw.load(model).system)}, [("gust", CHECKED, {"values": {"crank.mass": 0.31}})])
    (off,) = re.findall(r"loads differ by (\S+) relative", moved["by"]["dynamics"]["text"])
    assert float(off) < 1e-9  # Simpson's rule over 361 samples
    assert all(check["verdict"] == "passed" for check in (*found["by"].values(), *moved["by"].values()))


def test_mobility_and_redundancy_are_the_rank_of_the_present_jacobian() -> None:
    """Three equal cranks on one coupler: 3 (n - 1) - 2 j = 0 by the count, 1 by rank, one redundant constraint."""
    cranks: dict[str, Any] = {
        "name": "cranks",
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [0, 0.3], "C": [0.5, 0], "D": [0.5, 0.3], "E": [1.0, 0], "F": [1.0, 0.3]},
        "bodies": {
            "ground": {"pins": ["A", "C", "E"]},
            "left": {"pins": ["A", "B"], "mass": 1},
            "middle": {"pins": ["C", "D"], "mass": 1},
            "right": {"pins": ["E", "F"], "mass": 1},
            "coupler": {"pins": ["B", "D", "F"], "mass": 2},
        },
        "drive": {"A": "1 rad/s"},
    }
    code = "const a=e.checks();e.set({'left.mass':1.2});return[a,e.checks(),e.changed]"
    first, second, changed = run({"cranks": made(lw.load(cranks).system)}, [("cranks", code, None)])[0]
    assert changed and first is not second
    for checks in (first, second):
        by = {check["name"]: check for check in checks}
        assert {check["name"] for check in checks if check["verdict"] != "passed"} == {"loads", "singularities"}
        assert "least-norm" in by["loads"]["text"]
        assert by["mobility"]["text"].startswith("1 degree of freedom") and "1 redundant constraint" in by["mobility"]["text"]
    assert "the Gr\u00fcbler count gives 0" in by["mobility"]["text"]
    assert {c["name"] for c in first} - {c["name"] for c in second} == {"page"}, "Python solved the file's design only"


@pytest.mark.slow
def test_peaks_beside_a_dead_center_are_marked_and_finite_limits_are_not() -> None:
    """The change-point four-bar carries 1/d toward its stretched position, the slider-crank with equal links a finite load."""
    pole, finite = checked("change-point-four-bar"), checked("slider-crank-equal")
    assert [x["value"] for x in pole["singular"]] == pytest.approx([np.pi], abs=1e-6) and pole["singular"][0]["unbounded"]
    said = pole["by"]["singularities"]
    assert said["verdict"] == "unknown" and "sample distance" in said["text"] and any(pole["pins"])
    # the motion through it is smooth, so by the power balance the drive torque is finite: not marked
    assert not pole["stats"][0]["doubtful"] and not any(x["efforts"] for x in pole["singular"])
    assert sorted(x["value"] for x in finite["singular"]) == pytest.approx([np.pi / 2, 3 * np.pi / 2]) and not any(finite["pins"])
    assert not any(x["unbounded"] for x in finite["singular"]) and finite["by"]["singularities"]["name"]


@pytest.mark.slow
def test_singular_positions_are_those_of_python() -> None:
    """Found in the page by the determinant's sign and dips, in Python by the smallest singular value."""
    names = ("3-rrr-motors", "change-point-four-bar", "slider-crank-equal", "wiper")
    pages = {name: shipped(name) for name in names}
    for name, found in zip(names, run(pages, [(n, "return e.cycle.singular", None) for n in names]), strict=True):
        turn = pages[name].motion.turn
        assert turn is not None
        wanted = [(turn.place(x.at), x.kind == "dead center") for x in turn.singular]
        assert [x["ends"] for x in found] == [ends for _, ends in wanted], name
        # both are located to some 1e-6 of the range
        np.testing.assert_allclose([x["value"] for x in found], [at for at, _ in wanted], atol=1e-4, err_msg=name)
        assert sorted(x["geometry"] for x in found) == sorted(x.geometry for x in turn.singular) and all(x["geometry"] for x in found)


@pytest.mark.slow
def test_a_scissor_through_its_upright_position_is_marked() -> None:
    """The determinant only touches zero there: the carriage is l cos 20 deg from where it was drawn. The flat position ends the travel."""
    tree = yaml.safe_load(models.path("scissor-lift").read_text(encoding="utf-8"))
    tree["parameters"]["N"], tree["drive"] = 1, {"slide": "-0.1 m/s"}
    found = run({"lift": made(lw.load(tree).system)}, [("lift", CHECKED, {})])[0]
    upright = [x for x in found["singular"] if not x["ends"]]
    # golden section of a parabola: half the digits of its minimum, of steps of 6 mm
    assert [x["value"] for x in upright] == pytest.approx([-1.2 * np.cos(np.radians(20))], abs=1e-6)
    flat = [x["value"] for x in found["singular"] if x["ends"]]
    assert flat == pytest.approx([1.2 * (1 - np.cos(np.radians(20)))], abs=1e-5)
    assert found["by"]["singularities"]["verdict"] == "unknown" and all(found["pins"]), "every largest load is a matter of the samples"


@pytest.mark.slow
def test_a_range_that_ends_in_a_dead_center_is_marked_at_its_ends() -> None:
    limits = lw.load(DOUBLE_ROCKER).limits("A")
    found = run({"rocker": made(lw.load(DOUBLE_ROCKER).system)}, [("rocker", CHECKED, {})])[0]
    assert [x["value"] for x in found["singular"]] == pytest.approx([limits.low, limits.high], abs=1e-5)
    assert found["by"]["motion"]["verdict"] == "passed" and found["by"]["singularities"]["verdict"] == "unknown"


def test_a_position_without_a_cycle_is_checked_as_it_is_shown() -> None:
    held = {**TABLE, "drive": {}}
    got = run({"table": made(lw.load(held).system)}, [("table", "return{c:e.checks(),cycle:!!e.cycle}", None)])[0]
    names = {x["name"]: x for x in got["c"]}
    assert names["mobility"]["text"].startswith("1 degree of freedom") and all(x["verdict"] != "failed" for x in got["c"])


def test_a_program_into_a_dead_center_fails() -> None:
    """The table's slide cannot come nearer to A than the difference of the links, nor further than their sum: 2 * 632 mm."""
    model = {**TABLE, "drive": {"slide": {"moves": [{"to": "80 mm", "in": "2 s"}]}}}
    body = "const by={};for(const k of e.checks())by[k.name]=k;return by;"
    (found,) = run({"x": made(lw.load(model).system)}, [("x", body, None)])
    assert found["motion"]["verdict"] == "failed" and "the mechanism stops at t = " in found["motion"]["text"]
    assert found["loops"]["verdict"] == "passed"


def test_forces_of_a_static_page_are_those_of_virtual_work() -> None:
    """The slide of the table carries both links' weight: F = m g dh/dx of their common height, by Pythagoras, at every position."""
    page = made(lw.load(TABLE).system, static=True)
    (found,) = run({"x": page}, [("x", "const by={};for(const k of e.checks())by[k.name]=k;return{u:Array.from(e.cycle.u[0]),by};", None)])
    x = 1.2 + np.asarray(page.motion.turn["slide"])
    arm = np.hypot(0.6, 0.2)
    wanted = 20.0 * 9.81 / 2.0 * -(x / 4.0) / np.sqrt(arm**2 - (x / 2.0) ** 2)  # centers of both links at half the height of B
    assert np.abs(np.array(found["u"]) - wanted).max() < 1e-9 * np.abs(wanted).max()
    assert page.data["cycle"]["still"] and all(k["verdict"] == "passed" for k in found["by"].values())

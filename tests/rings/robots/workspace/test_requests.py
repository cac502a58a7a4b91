"""Maps as callers ask for them: ranges, names, data of the drives; and what is said where a map cannot be."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.robots.workspace import workspace
from linkwright.rings.robots.workspace.pose_coordinates import pose_coordinates
from tests.refusals import refused
from tests.rings.robots.workspace.robots import THREE_RPR, robot

SMALL = {"platform.x": (0.4, 0.6, 3), "platform.y": (-0.1, 0.1, 3)}


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("-100..300 mm / 5", np.linspace(-0.1, 0.3, 5)),
        ("-0.1 m..300 mm / 5", np.linspace(-0.1, 0.3, 5)),
        ("-100 mm..300 / 5", np.linspace(-0.1, 0.3, 5)),
        ("-0.1..0.3/5", np.linspace(-0.1, 0.3, 5)),
        (("-0.1 m", 0.3, 5), np.linspace(-0.1, 0.3, 5)),
        (["-100 mm", 0.0, "0.1 m", 0.3], np.array([-0.1, 0.0, 0.1, 0.3])),
        (np.linspace(0.2, 0.4, 3), np.linspace(0.2, 0.4, 3)),
    ],
)
def test_ranges(given, values):
    a = workspace(robot("3-rpr"), {"platform.x": given, "platform.y": (0.2, 0.4, 3)}, "reach")
    assert a["platform.x"] == pytest.approx(values, abs=1e-15)


@pytest.mark.parametrize(
    ("over", "options", "said"),
    [
        ({"platfrom.x": (0, 1)}, {}, "no moving body 'platfrom'.*Did you mean 'platform'"),
        ({"platform.z": (0, 1)}, {}, "neither a coordinate of a pose.*platform.x, platform.y, platform.angle"),
        ({"platform.x": (1.0, 0.5, 10)}, {}, "the range .* is empty"),
        ({"platform.x": "0..1 kg"}, {}, "must be length|is mass"),
        ({"platform.x": "all of it"}, {}, "range"),
        ({"platform.x": (0, 1), "link2.y": (0, 1)}, {}, "different bodies"),
        ([], {}, "over names the coordinates"),
        (SMALL, {"at": {"platform.x": 0.5}}, "in over= and in at="),
        (SMALL, {"at": 0.5}, "at is a dict"),
        (SMALL, {"modes": "some"}, "'start'.*'all'"),
        (SMALL, {"drives": ["J1", "J8"]}, "2 drives .J1, J8. for 3 degrees of freedom.*more drives"),
        (SMALL, {"drives": ["J1", "J8", "J9", "J2"]}, "redundantly driven. Name 3 of them"),
        (SMALL, {"limits": {"J77": (0, 1)}}, "J77.*neither a coordinate"),
        (SMALL, {"limits": {"J1": (1, 0)}}, "the range .* is empty"),
        (SMALL, {"limits": 3}, "limits is a dict"),
        (SMALL, {"stiffness": {"J1": 5.0}}, "stiffness of J8, J9 is missing|stiffness of J8 and J9 is missing"),
        (SMALL, {"speeds": {"J2": 5.0}}, "'J2' is not a drive"),
        (SMALL, {"efforts": -1.0}, "must be positive"),
        (SMALL, {"payload": {"weight": 5.0}}, "payload has no 'weight'"),
        (SMALL, {"payload": {"force": [1.0, 2.0]}}, "three components"),
        (SMALL, {"load": 5.0}, "load"),
    ],
)
def test_bad_requests(over, options, said):
    with pytest.raises(lw.UsageError, match=said):
        lw.load("3-rrr").workspace(over, "reach", **options)


@pytest.mark.parametrize(
    ("what", "name"),
    [("speed", "speed"), ("dexterty", "dexterty")],
)
def test_measures_that_cannot_be(what, name):
    with refused(lw.UsageError, name=name):
        workspace(robot("3-rrr"), SMALL, what)


def test_a_mechanism_with_one_drive_says_how_many_it_needs():
    with refused(lw.UsageError, name="over"):
        lw.load("four-bar").workspace({"coupler.x": (0, 1), "coupler.y": (0, 1)}, "all")


def test_a_region_without_reach_is_an_answer():
    a = workspace(robot("3-rrr"), {"platform.x": (5.0, 6.0, 4), "platform.y": (5.0, 6.0, 4)}, "dexterity")
    assert not a.reach.any() and np.isnan(a["dexterity"]).all()
    assert a.counts == {"in reach": 0, "out of reach": 16}
    assert any("no pose of the grid is in reach" in note for note in a.notes)
    assert a.size == 0.0
    with refused(lw.UsageError, name="reach"):
        a.inscribed()


def test_names_of_results():
    a = workspace(robot("3-rrr"), SMALL, ["dexterity", "efforts"])
    assert a.measures == ("type1", "type2", "dexterity", "J1.torque", "J8.torque", "J9.torque")
    with refused(lw.UsageError, name="stifness"):
        a["stifness"]
    table = a.to_pandas()
    assert len(table) == 9 and list(table.columns[:3]) == ["platform.x", "platform.y", "reach"]
    assert table["dexterity"].to_numpy() == pytest.approx(a["dexterity"].ravel())
    assert "dexterity" in str(a) and "3 x 3 poses" in repr(a)


def test_stops_of_the_model_are_limits():
    ends = {f"leg{k}": {"range": ["0.3 m", "0.8 m"]} for k in (1, 2, 3)}
    with_stops = lw.compile(lw.load({**THREE_RPR, "stops": ends}))
    over = {"platform.x": (0.1, 0.6, 8), "platform.y": (0.1, 0.6, 8)}
    stopped = workspace(with_stops, over)
    given = workspace(robot("3-rpr"), over, "reach", limits={name: "0.3..0.8 m" for name in ends})
    assert stopped.counts == given.counts and 0 < stopped.counts["in reach"] < 64
    assert workspace(with_stops, over, limits={}).reach.all()


def test_the_angle_of_the_body_goes_with_the_place_of_a_point() -> None:
    d = lw.load("3-rrr").description
    mixed = pose_coordinates(d, ["platform.P1.x", "platform.angle"], 3)
    plain = pose_coordinates(d, ["platform.P1.x", "platform.P1.angle"], 3)
    assert mixed.names == ("platform.P1.x", "platform.angle", "platform.P1.y")
    assert (mixed.parts, mixed.at, mixed.point) == (plain.parts, plain.at, plain.point)
    assert pose_coordinates(d, ["platform.angle", "platform.x"], 3).names == ("platform.angle", "platform.x", "platform.y")
    for names in (["platform.x", "platform.P1.y"], ["platform.P1.x", "platform.P2.y"], ["platform.P1.x", "link2.angle"]):
        with pytest.raises(lw.UsageError, match="different bodies or points"):
            pose_coordinates(d, names, 3)
    with refused(lw.UsageError, name="platform.P1.angle"):
        pose_coordinates(d, ["platform.P1.x", "platform.angle", "platform.P1.angle"], 3)

"""Names of parameters in calls: one rule for studies, tolerances and parameters."""

from __future__ import annotations

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.model.parameters import every_parameter, matched
from linkwright.rings.design.studies.varied_numbers import expanded


def test_names_patterns_and_places_mean_the_same_everywhere() -> None:
    m = lw.load("wiper")
    known = every_parameter(m.description)
    meant = {
        "C": ["C.x", "C.y"],
        "ground.D": ["ground.D.x", "ground.D.y"],
        "crank.com": ["crank.com.x", "crank.com.y"],
        "crank.mass": ["crank.mass"],
        "c*.mass": ["crank.mass", "coupler.mass"],
        "nothing": [],
        "*.nothing": [],
    }
    for name, names in meant.items():
        assert [p.name for p in matched(known, name)] == names
        if names:
            assert list(expanded({name: "+- 1 %"}, m.description, parts=False)) == names
            assert [p.name for p in compiled_of(m.system).chosen(name)] == names


def test_a_tolerance_of_a_place_is_one_of_each_coordinate() -> None:
    m = lw.load("wiper")
    both = {"ground.D.x": "0.1 mm", "ground.D.y": "0.1 mm"}
    one, two = (m.tolerances(x, "max rocker.angle", method="linear").results[0] for x in ({"ground.D": "0.1 mm"}, both))
    assert one.worst == two.worst > 0.0 and [e.name for e in one.contributions] == [e.name for e in two.contributions]

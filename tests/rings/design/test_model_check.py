"""Checks of whole models: the mistakes that people and programs make, each found in its stage, and right after its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.model import file as modelfile
from linkwright.results.checks import Remedy
from linkwright.rings.design.model_check.applied import applied
from linkwright.text.units import LENGTH
from tests.refusals import refused
from tests.sweeps import sweep

MISTAKES = Path(__file__).parents[2] / "data" / "mistakes"
LONG = "120 s"  # for remedies on a busy machine: the search ends by itself after a second
# file: stage, name of the check, line, verdict, requirements
FOUND: dict[str, tuple[str, str, int, str, tuple[str, ...]]] = {
    "typo": ("readable", "readable", 10, "failed", ()),
    "missing-mass": ("complete", "complete", 11, "failed", ()),
    "unit-slip": ("complete", "units", 0, "unknown", ()),
    "redundant-hinges": ("mobility", "mobility", 13, "unknown", ()),
    "split-body": ("mobility", "mobility", 11, "unknown", ()),
    "extra-link": ("mobility", "mobility", 13, "failed", ()),
    "two-drives": ("mobility", "mobility", 12, "failed", ()),
    "passive-drive": ("moves", "moves", 12, "failed", ()),
    "contradicting-limits": ("moves", "moves", 12, "failed", ()),
    "short-link": ("moves", "moves", 12, "failed", ()),
    "mirror-branch": ("requirements", "min rocker.angle > 0 deg", 0, "failed", ("min rocker.angle > 0 deg",)),
}


@sweep("name", list(FOUND), now=["typo", "missing-mass", "split-body", "two-drives", "short-link", "mirror-branch"])
def test_a_mistake_is_found_and_its_remedy_passes(name: str) -> None:
    stage, check, line, verdict, require = FOUND[name]
    path = MISTAKES / f"{name}.yaml"
    found = lw.check(path, require, remedy_time=LONG)
    x = found[check]
    assert (x.stage, x.verdict) == (stage, verdict)
    assert x.place.endswith(f"{name}.yaml:{line}" if line else "")
    assert found.verdict != "passed"
    assert x.remedies
    for remedy in x.remedies:
        assert remedy.verified
        after = _after(path, remedy).check(require, remedy_time=0)
        assert _verdict(after, check, stage) == "passed", (remedy.text, after)


def test_every_mistake_has_its_row() -> None:
    assert {x.stem for x in MISTAKES.glob("*.yaml")} == set(FOUND)


def _after(path: Path, remedy: Any) -> lw.Mechanism:
    """The remedy applied as a user applies it: edits to the text of the file, changes to `lw.load`."""
    m = lw.Mechanism(modelfile.read_text(remedy.edited(path.read_text(), path.name), path.name))
    return m.with_(**remedy.changes) if remedy.changes else m


def _verdict(found: Any, check: str, stage: str) -> str:
    return (
        found[check].verdict if check in found else next((x.verdict for x in found if x.stage == stage and x.verdict != "passed"), "passed")
    )


# -------------------------------------------------------------------- remedies against closed forms


def test_the_smallest_changes_are_the_limits_of_grashof() -> None:
    """Shortest + longest <= the other two: 0.3 + 1 against 0.5 + 0.75, so each length alone has to change by 0.05 m."""
    m = lw.load("four-bar", L2=0.5)
    found = m.check("full turn", remedy_time=LONG)
    assert found["moves"].verdict == "failed"
    assert found["full turn"].verdict == "unknown"  # it needs a motion
    limits = {"L1": 0.25, "L2": 0.55, "L3": 0.8, "L4": 0.95}
    relative = {name: 0.05 / (0.5 if name == "L2" else float(dict(m.description.parameters)[name])) for name in limits}
    remedies = [next(iter(x.changes.items())) for x in found["moves"].remedies]
    assert remedies
    assert remedies[0][0] == min(relative, key=lambda x: relative[x]) == "L4"
    for name, text in remedies:
        value = modelfile.quantity(text, LENGTH)
        assert abs(value - limits[name]) < 2e-3 * limits[name]  # digits of a remedy, and the step next to a change point
        assert m.with_(**{name: text}).cycle().full_turn


def test_a_requirement_has_the_value_and_the_distance_by_hand() -> None:
    """The stroke of a centric slider-crank is twice its crank."""
    m = lw.load("slider-crank", crank="50 mm", rod="180 mm")
    check = m.check("stroke guide > 90 mm", remedy_time=0)["stroke guide > 90 mm"]
    assert check.verdict == "passed"
    assert (check.value, check.limit) == (pytest.approx(0.1, abs=1e-9), pytest.approx(0.09))  # located ends, round-off
    assert "10 mm inside" in check.text


def test_a_requirement_that_is_missed_gets_the_nearest_number() -> None:
    m = lw.load("slider-crank", crank="50 mm", rod="180 mm")
    found = m.check("stroke guide > 120 mm", remedy_time=LONG)["stroke guide > 120 mm"]
    assert found.verdict == "failed"
    assert found.value == pytest.approx(0.1, abs=1e-9)
    changes = [dict(x.changes) for x in found.remedies]
    crank = next(modelfile.quantity(x["crank"], LENGTH) for x in changes if "crank" in x)
    assert 0.06 <= crank < 0.06 * 1.002  # twice the crank is the stroke; digits of a remedy


def test_a_run_is_checked_in_place_of_a_cycle() -> None:
    found = lw.check("geneva", run="0.05 s", remedy_time=0)
    assert found["moves"].verdict == "passed"
    assert lw.check("geneva", remedy_time=0)["moves"].verdict == "unknown"  # contact moves the wheel


def test_a_file_that_cannot_be_read_is_no_error(tmp_path: Path) -> None:
    for text in ("", "drawing: [", "\0", "- 1\n- 2\n", "plane: xy\nbodies: {ground: 3}\n"):
        path = tmp_path / "bad.yaml"
        path.write_text(text)
        found = lw.check(path)
        assert found.failed, text
        assert found.failed[0].stage in ("readable", "complete")
    assert lw.check(tmp_path / "none.yaml")["readable"].verdict == "failed"


def test_wrong_requests_are_refused() -> None:
    m = lw.load("wiper")
    with refused(lw.UsageError, name="remedy_time", value="-1 s"):
        m.check(remedy_time="-1 s")
    with refused(lw.UsageError, name="run"):
        m.check(run="1 s", stop="90 deg")
    with pytest.raises(lw.LinkwrightError):
        m.check("nothing.angle > 3 deg")


def test_a_check_of_loads_without_masses_is_unknown() -> None:
    model = {
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [1, 2], "C": [6, 5], "D": [7, 0]},
        "bodies": {"ground": {"pins": ["A", "D"]}, "a": {"pins": ["A", "B"]}, "b": {"pins": ["B", "C"]}, "c": {"pins": ["D", "C"]}},
        "drive": {"A": "60 rpm"},
    }
    found = lw.check(model, ["max A.torque < 3 N m", "full turn"], remedy_time=0)
    assert found["max A.torque < 3 N m"].verdict == "unknown"
    assert (found["loads"].verdict, found["full turn"].verdict) == ("unknown", "passed")


@sweep("name", lw.models.names(), now=["wiper", "stewart", "door", "gripper"])
def test_no_built_in_model_is_refused(name: str) -> None:
    """Each passes, or says what is not known; the cam of the follower does lift off, as `c.checks()` and its file say."""
    found = lw.check(name, remedy_time=0)
    failed = [x.name for x in found.failed]
    assert failed == (["contact"] if name == "cam-follower" else [])
    assert all(x.text for x in found.unknown)


def test_edits_need_the_text_of_a_file() -> None:
    bodies = {"ground": {"pins": ["A"]}, "a": {"pins": ["A"], "points": ["B"]}}
    m = lw.load({"plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0]}, "bodies": bodies})
    with refused(lw.UsageError, name="edits"):
        applied(m, Remedy("take out a", {}, ({"do": "set_value", "path": ["bodies", "a"], "value": None},)))

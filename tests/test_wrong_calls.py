"""Calls a person gets wrong: each one is a LinkwrightError that says what to do, never a traceback, NaN or hang."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import linkwright as lw

FOUR_BAR = {
    "name": "bars", "plane": "xy",
    "drawing": {"A": [0, 0], "B": [0.15, 0.26], "C": [0.9, 0.75], "D": [1.0, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"]}, "coupler": {"pins": ["B", "C"]}, "rocker": {"pins": ["D", "C"]},
    },
    "drive": {"A": "60 rpm"},
}  # fmt: skip

WIPER = lw.load("wiper").system
OPEN = [0.1, 0.2, 0.3]
LARGE = {**FOUR_BAR["drawing"], "B": [1e300, 1e300]}
TURN = lw.load("wiper").turn(steps=2)
DOOR, BARS = lw.load("door").system, lw.load("four-bar").system
CALLS = {
    "picture of a number": (lambda: lw.load("wiper").picture("x.png", at=5), "at is a state"),
    "report on a number": (lambda: lw.load("wiper").report("x.html", run=5), "run is what m.turn"),
    "misspelt option": (lambda: lw.load("wiper").turn(stps=3), "turn has no option 'stps'. Did you mean 'steps'"),
    "misspelt option of a picture": (lambda: lw.load("wiper").picture(darc=True), "picture has no option 'darc'. Did you mean 'dark'"),
    "unknown option": (lambda: WIPER.inverse(WIPER.start, foo=1), "inverse has no option 'foo'. Options: a, wrench"),
    "too many by place": (lambda: lw.load("wiper").turn("A", 12), "turn takes fewer values without a name.*steps"),
    "twice": (lambda: lw.load("wiper").turn("A", drive="D"), "given 'drive' twice"),
    "misspelt option of a run": (lambda: TURN.drive_sizing(motr={}), "drive_sizing has no option 'motr'. Did you mean 'motor'"),
    "motor that is a number": (lambda: TURN.drive_sizing(motor=5), "motor is a dict such as .*not int"),
    "inherited verb": (lambda: WIPER.simulate(WIPER.start), "simulate needs duration"),
    "size of a picture": (lambda: lw.load("wiper").picture(size="x"), "size is .width, height."),
    "motor without resistance": (lambda: lw.motor(Kt=0.1), "motor needs R"),
    "motor with a capital": (lambda: lw.motor(Kt=0.1, R=1, Ratio=5), "Did you mean 'ratio'"),
    "stiffness of nothing": (lambda: DOOR.inverse(DOOR.start, stiffness={"H9": 2}), "no 'H9' here.*Joints: H1, H2, H3"),
    "preload of nothing": (lambda: DOOR.inverse(DOOR.start, preload={"Q": 1}), "preload: there is no 'Q' here"),
    "release of nothing": (lambda: BARS.inverse(BARS.start, release={"Q": ["tx"]}), "release: there is no 'Q' here"),
    "release of no row": (lambda: BARS.inverse(BARS.start, release={"C": ["foo"]}), "cannot release 'foo' of 'C'"),
    "stiffness below zero": (lambda: BARS.inverse(BARS.start, stiffness={"C": -1}), "stiffness of 'C' must be positive"),
    "stiffness of two rows": (lambda: BARS.inverse(BARS.start, stiffness={"C": [1, 2]}), "or 6 for rx"),
    "rated below zero": (lambda: BARS.inverse(BARS.start, rated={"A": 0}), "rated effort of 'A' must be greater"),
    "preload in millimetres": (lambda: BARS.inverse(BARS.start, preload={"A": "5 mm"}), "preload of 'A' must be torque"),
    "load None": (lambda: lw.load(None), "shipped name"),
    "load number": (lambda: lw.load(3), "shipped name"),
    "compile None": (lambda: lw.compile(None), "compile takes"),
    "steps 0": (lambda: lw.load("wiper").turn(steps=0), "steps must be"),
    "steps huge": (lambda: lw.load("wiper").turn(steps=10**9), "steps must be"),
    "steps text": (lambda: lw.load("wiper").turn(steps="ten"), "steps must be"),
    "forward None": (lambda: WIPER.forward(None), "State is needed"),
    "forward open": (lambda: WIPER.forward(WIPER.state(OPEN)), "loops of this state are open"),
    "inverse open": (lambda: WIPER.inverse(WIPER.state(OPEN)), "loops of this state are open"),
    "assemble text": (lambda: WIPER.assemble("A"), "dict by name"),
    "assemble list": (lambda: WIPER.assemble([1.0]), "dict by name"),
    "assemble far": (lambda: WIPER.assemble({"A": 1e9}), "too far"),
    "state nan": (lambda: WIPER.state([np.nan, 0.0, 0.0]), "q has entries"),
    "two drives": (lambda: lw.load(FOUR_BAR | {"drive": {"A": "45 rpm", "D": "4 rpm"}}).turn(), "2 drives .* for 1 degree of freedom"),
    "speeds contradict": (lambda: WIPER.assemble({"A": 1.0}, {"A": 1.0, "D": 5.0}), "contradict"),
    "no number": (lambda: lw.load("four-bar").simulate(1, drive={"A": lw.position(lambda t: np.sqrt(-9 - t))}), "motion of 'A' is nan"),
    "two positions of one freedom": (lambda: WIPER.assemble({"A": 0.3, "B": 0.1}), "2 values .A, B. are wanted of 1 degree of freedom"),
    "save number": (lambda: lw.load("wiper").turn(steps=2).save(3), "path is needed"),
    "save folder": (lambda: lw.load("wiper").turn(steps=2).save("."), "is a folder"),
    "energy without masses": (lambda: lw.load(FOUR_BAR).system.start["energy.kinetic"], "need the mass"),
    "torque without masses": (lambda: lw.load(FOUR_BAR).turn(steps=2)["A.torque"], "mass"),
    "unit that does not fit": (lambda: WIPER.start["A", "mm"], "does not measure"),
    "huge lengths": (lambda: lw.load(FOUR_BAR | {"drawing": LARGE}).turn(steps=2), "out of any proportion"),
    "huge speed": (lambda: lw.load(FOUR_BAR | {"drive": {"A": "1e200 rpm"}}).turn(steps=4)["B.a"], "out of any proportion"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_it_is_refused_with_advice(name):
    call, words = CALLS[name]
    with pytest.raises(lw.LinkwrightError, match=words) as info:
        call()
    assert len(str(info.value)) > 20 and "Traceback" not in str(info.value)


PLACES = {  # what is added to a four-bar of lines 1 to 9, and what is said with its line
    "start: {A: 30, B: 10}": (10, "start: 2 values .A, B. are wanted of 1 degree of freedom"),
    "start: {D: 10}": (10, "start: cannot reach the wanted D"),
    "rods: {r: {between: [ground.A, coupler.P]}}": (9, r"a structure.*Without rod 'r' \(.*:10\) it can move"),
    "loads: {w: {on: rocker.C, force: [1 N*sqrt(-9 - A/(1 rad)), 0]}}": (10, "load 'w': sqrt.* has no real value"),
}


@pytest.mark.parametrize("added", PLACES)
def test_what_is_found_while_computing_still_has_its_line(added, tmp_path):
    line, words = PLACES[added]
    path = tmp_path / "bars.yaml"
    path.write_text(
        "plane: xy\nunits: [mm, kg, deg, rpm]\n"
        "drawing: {A: [0, 0], B: [150, 260], C: [905, 750], D: [1000, 0], P: [600, 760]}\nbodies:\n"
        "  ground: {pins: [A, D]}\n  crank: {pins: [A, B], mass: 0.3}\n"
        "  coupler: {pins: [B, C], points: [P], mass: 0.9}\n  rocker: {pins: [D, C], mass: 0.8}\ndrive: {A: 45 rpm}\n" + added
    )
    with pytest.raises(lw.LinkwrightError, match=words) as info:
        lw.load(path).turn(steps=2)["A.torque"]
    assert str(info.value).startswith(f"{path}:{line}: ")


PUBLIC = [n for n in dir(lw) if inspect.isfunction(getattr(lw, n)) and not n.startswith("_")]


@pytest.mark.parametrize("name", PUBLIC)
def test_an_unknown_option_is_named(name):
    """Or else what is missing: each call lacks what it needs too, if it needs anything."""
    with pytest.raises(lw.UsageError, match=r"'stps'|needs"):
        getattr(lw, name)(stps=3)


def test_natural_guesses_work():
    assert lw.compile("wiper").tree.nv == 3
    assert WIPER.start["A", "deg"] == pytest.approx(np.degrees(WIPER.start["A"]))
    still = lw.load("wiper").turn(steps=4, speed=0)
    assert still.static and any("Static analysis" in note for note in still.notes)
    other = lw.load("four-bar").turn("D", steps=12)  # a joint that is not the drive: the drive is let go
    assert len(other) == 13


def test_info_finds_extremes_between_its_samples():
    fine = lw.load("wiper").turn(steps=1440)["rocker.angle"]
    swing = next(r for r in lw.load("wiper").info().swings if r.name == "rocker.angle")
    assert swing.low == pytest.approx(fine.min(), abs=2e-5) and swing.high == pytest.approx(fine.max(), abs=2e-5)
    (flat,) = lw.load("change-point-four-bar").info().transmission
    assert flat.low == pytest.approx(0.0, abs=1e-6) and flat.high == pytest.approx(np.pi / 2)


def test_transmission_does_not_depend_on_how_a_pin_is_split():
    one, two = (lw.load(n).info().transmission for n in ("carpet-scraper", "carpet-scraper-2007"))
    assert len(one) == len(two) == 3
    for a, b in zip(sorted(one, key=lambda r: r.low), sorted(two, key=lambda r: r.low), strict=True):
        assert a.low == pytest.approx(b.low, abs=0.01)  # the two data sets differ in the third digit


def test_a_link_of_three_joints_is_turned_about_the_one_on_the_ground():
    """Jansen's upper triangle at its pin U: the push rod against the line to the triangle's pivot, whatever its third corner."""
    m = lw.load("jansen-leg")
    c, d = m.turn(), m.description
    pivot = next(j.pin or j.name for j in d.joints if "shoulder" in (j.first, j.second) and "ground" in (j.first, j.second))
    ends = [c[f"upper_rod.{p}"] for p in ("U", "X")], [c["shoulder.U"], c[f"shoulder.{pivot}"]]
    a, b = (second - first for first, second in ends)
    between = np.degrees(np.arccos(np.abs(np.sum(a * b, axis=1)) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)))
    found = next(r for r in m.info().transmission if r.name == "U")
    assert np.degrees([found.low, found.high]) == pytest.approx([between.min(), between.max()], abs=0.02)  # its extremes at samples
    assert not any(r.name.startswith(pivot) for r in m.info().transmission)  # pins on the ground turn nobody


def test_every_pair_at_a_pin_of_three_has_its_own_transmission_angle():
    """The rod-upper pair of a toggle press is what it is without the lower link and the ram."""
    whole = next(r for r in lw.load("punch-press").info().transmission if r.name == "K rod-upper")
    c = lw.load("punch-press").turn(steps=720)
    rod, upper = c["rod.angle"], c["upper.angle"]
    between = np.abs((rod - upper + np.pi / 2) % np.pi - np.pi / 2)
    assert whole.low == pytest.approx(between.min(), abs=2e-4)  # a parabola through samples 5 deg apart


def test_a_state_of_other_cuts_is_recognised_and_can_be_mirrored():
    one, two = (lw.compile("four-bar", cuts=[c]) for c in ("B", "C"))
    st = one.assemble(q={"A": 0.8}, v={"A": 5.0})
    with pytest.raises(lw.UsageError, match="mirror"):
        two.forward(st)
    there = two.mirror(st)
    assert two.forward(there, tau={"A": 1.0})["A"] == pytest.approx(one.forward(st, tau={"A": 1.0})["A"], rel=1e-10)
    assert there["C"] == pytest.approx(st["C"], abs=1e-12) and there["B.v"] == pytest.approx(st["B.v"], abs=1e-12)


def test_messages_with_names_and_apostrophes_are_whole_and_quoted_pages_are_cut():
    long = "the drive of 'A' jumps " + "to and fro " * 30 + "and what it did is in the error's `run`."
    assert str(lw.LinkwrightError(long)) == long
    cut = str(lw.LinkwrightError(f"'{'x' * 5000}' is no number."))
    assert len(cut) < 300 and cut.endswith("(5000 characters)' is no number.")

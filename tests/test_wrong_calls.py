"""Calls a person gets wrong: each one is a LinkwrightError that says what to do, never a traceback, NaN or hang."""

from __future__ import annotations

import inspect
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import RENAMED_OPTIONS, counted
from tests.refusals import refused

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
TURN = lw.load("wiper").cycle(steps=2)
SMALL = lw.study("wiper", {"crank.mass": [0.3, 0.4], "coupler.mass": [0.5, 0.6]}, "max A.torque", lw.Cycle(steps=2))
DOOR, BARS = lw.load("door").system, lw.load("four-bar").system
CALLS = {
    "state of a number": (lambda: lw.State.of(0.0), "of: at is an Instant, not 0.0"),
    "derivatives by an array": (lambda: TURN.derivatives(np.zeros(3)), "by texts, such as .*, not"),
    "model of a path that cannot be spelled": (lambda: lw.load("\ud800.yaml"), "cannot read|cannot be read|no valid"),
    "picture of a number": (lambda: lw.load("wiper").plot("mechanism", "x.png", at=5), "at is a state"),
    "jacobian of a number": (lambda: WIPER.jacobian(0.3, "coupler.P"), "a State is needed .* not float"),
    "mass matrix of nothing": (lambda: WIPER.M(None), "a State is needed .* not NoneType"),
    "gap of an array": (lambda: WIPER.closure(np.zeros(3)), "a State is needed .* not ndarray"),
    "misspelled option": (lambda: lw.load("wiper").cycle(stps=3), "cycle has no option 'stps'. Did you mean 'steps'"),
    "misspelled option of a picture": (lambda: lw.load("wiper").plot("mechanism", darc=True), "has no option 'darc'. Did you mean 'dark'"),
    "unknown option": (lambda: WIPER.inverse(WIPER.start, foo=1), "inverse has no option 'foo'. Options: a, wrench"),
    "too many of a call without options": (lambda: lw.load_result("a.npz", "b.npz"), "load_result takes fewer values without a name: path"),
    "too many by place": (lambda: lw.load("wiper").cycle("A", 12), "cycle takes fewer values without a name.*steps"),
    "twice": (lambda: lw.load("wiper").cycle("A", drive="D"), "given 'drive' twice"),
    "misspelled option of a run": (lambda: TURN.drive_sizing(motr={}), "drive_sizing has no option 'motr'. Did you mean 'motor'"),
    "motor that is a number": (lambda: TURN.drive_sizing(motor=5), "motor is a dict such as .*not int"),
    "inherited verb": (lambda: WIPER.simulate(WIPER.start), "simulate needs duration"),
    "size of a picture": (lambda: lw.load("wiper").plot("mechanism", size="x"), "size is .width, height."),
    "motor without resistance": (lambda: lw.drives.dc_motor(Kt=0.1), "motor needs R"),
    "motor with a capital": (lambda: lw.drives.dc_motor(Kt=0.1, R=1, Ratio=5), "Did you mean 'gear_ratio'"),
    "stiffness of nothing": (lambda: DOOR.inverse(DOOR.start, stiffness={"H9": 2}), "no 'H9' here.*Joints: H1, H2, H3"),
    "preload of nothing": (lambda: DOOR.inverse(DOOR.start, preload={"Q": 1}), "preload: there is no 'Q' here"),
    "release of nothing": (lambda: BARS.inverse(BARS.start, release={"Q": ["tx"]}), "release: there is no 'Q' here"),
    "release of no row": (lambda: BARS.inverse(BARS.start, release={"C": ["foo"]}), "cannot release 'foo' of 'C'"),
    "stiffness below zero": (lambda: BARS.inverse(BARS.start, stiffness={"C": -1}), "stiffness of 'C' must be positive"),
    "stiffness of two rows": (lambda: BARS.inverse(BARS.start, stiffness={"C": [1, 2]}), "or 6 for rx"),
    "rated below zero": (lambda: BARS.inverse(BARS.start, rated={"A": 0}), "rated effort of 'A' must be greater"),
    "preload in millimeters": (lambda: BARS.inverse(BARS.start, preload={"A": "5 mm"}), "preload of 'A' must be torque"),
    "load None": (lambda: lw.load(None), "built-in name"),
    "load number": (lambda: lw.load(3), "built-in name"),
    "compile None": (lambda: lw.compile(None), "compile takes"),
    "steps 0": (lambda: lw.load("wiper").cycle(steps=0), "steps must be"),
    "steps huge": (lambda: lw.load("wiper").cycle(steps=10**9), "steps must be"),
    "steps text": (lambda: lw.load("wiper").cycle(steps="ten"), "steps must be"),
    "forward None": (lambda: WIPER.forward(None), "State is needed"),
    "forward open": (lambda: WIPER.forward(WIPER.state(OPEN)), "loops of this state are open"),
    "inverse open": (lambda: WIPER.inverse(WIPER.state(OPEN)), "loops of this state are open"),
    "assemble text": (lambda: WIPER.assemble("A"), "dict by name"),
    "assemble list": (lambda: WIPER.assemble([1.0]), "dict by name"),
    "assemble far": (lambda: WIPER.assemble({"A": 1e9}), "too far"),
    "state nan": (lambda: WIPER.state([np.nan, 0.0, 0.0]), "q has entries"),
    "two drives": (lambda: lw.load(FOUR_BAR | {"drive": {"A": "45 rpm", "D": "4 rpm"}}).cycle(), "2 drives .* for 1 degree of freedom"),
    "speeds contradict": (lambda: WIPER.assemble({"A": 1.0}, {"A": 1.0, "D": 5.0}), "contradict"),
    "no number": (
        lambda: lw.load("four-bar").simulate(1, drive={"A": lw.drives.position(lambda t: np.sqrt(-9 - t))}), "motion of 'A' is nan"
    ),
    "two positions of one freedom": (lambda: WIPER.assemble({"A": 0.3, "B": 0.1}), "2 values .A, B. are wanted of 1 degree of freedom"),
    "save number": (lambda: lw.load("wiper").cycle(steps=2).save(3), "path is needed"),
    "save folder": (lambda: lw.load("wiper").cycle(steps=2).save("."), "is a folder"),
    "energy without masses": (lambda: lw.load(FOUR_BAR).system.start["energy.kinetic"], "need the mass"),
    "torque without masses": (lambda: lw.load(FOUR_BAR).cycle(steps=2)["A.torque"], "mass"),
    "unit that does not fit": (lambda: WIPER.start["A", "mm"], "does not measure"),
    "huge lengths": (lambda: lw.load(FOUR_BAR | {"drawing": LARGE}).cycle(steps=2), "out of any proportion"),
    "huge speed": (lambda: lw.load(FOUR_BAR | {"drive": {"A": "1e200 rpm"}}).cycle(steps=4)["B.a"], "out of any proportion"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_it_is_refused_with_advice(name):
    call, words = CALLS[name]
    with pytest.raises(lw.LinkwrightError, match=words) as info:
        call()
    assert len(str(info.value)) > 20 and "Traceback" not in str(info.value)


ODD = (None, 5, float("nan"), "zzz", ["lift"], [1.0, 2.0], {"a": 1}, {1: "x"}, object(), lambda t: "q", True)
RUN, START = TURN, WIPER.start
PAGES = ("show", "report", "animate")
LONG = (
    "plot", "to_xarray", "to_pandas", "cycles", "inverse", "map", "settle", "pinocchio", "linearize", "derivatives", "free_body",
    "choose_motor", "sensitivity", "workspace",
)  # fmt: skip
OVER = {"A": "0..1 rad / 3"}
VERBS = {  # every argument of these calls is replaced by every odd value; what computes long whatever it is given is left out
    lw.load("wiper"): {
        "cycles": {"designs": {"crank.mass": [0.3]}, "steps": 2, "read": ["A.torque"]}, "settle": {}, "limits": {"joint": "A"},
        "tolerances": {"vary": ["crank.mass"], "measure": "max A.torque"},
        "workspace": {"over": OVER, "what": "A.torque"}, "save": {"path": "."},
        "export": {"format": "mjcf"},
    },
    WIPER: {
        "assemble": {"q": {"A": 0.3}}, "assemble_batch": {"q": {"A": [0.1, 0.2]}}, "state": {"q": START.q},
        "pose": {"st": START, "body": "crank"},
        "point": {"st": START, "name": "B"}, "terms": {"st": START}, "forward": {"st": START}, "crosscheck": {"st": START},
        "inverse": {"st": START}, "jacobian": {"st": START, "of": "coupler.P"}, "named_terms": {},
        "transmission": {"motors": ["A"], "joints": ["D"]},
        "kernel": {"name": "energy"}, "controllable": {"st": START}, "linearize": {"st": START}, "step": {"st": START},
        "derivatives": {"st": START}, "pinocchio": {},
    },
    RUN: {
        name: {} for name in dir(RUN)
        if not name.startswith("_") and inspect.ismethod(getattr(RUN, name)) and name not in PAGES
    },
    lw: {"load": {"model": "wiper"}, "compile": {"mechanism": lw.load("wiper")}, "load_result": {}, "Equilibrium": {}, "Cycle": {}},
    lw.stabilizers: {"post_adjust": {}},
    lw.control: {"pd": {"reference": {"A": 0.3}}, "encoder": {}, "polyline": {}, "spline": {}},
    lw.events: {"lock": {}, "release": {}, "when": {}},
    lw.drives: {"law_factors": {}, "dc_motor": {"Kt": 0.1, "R": 1}, "torque": {}, "speed": {}, "position": {}, "voltage": {},
    },
}  # fmt: skip
SWAPPED = [
    pytest.param(
        getattr(owner, verb), fitting, id=f"{getattr(owner, '__name__', type(owner).__name__)}.{verb}",
        marks=[pytest.mark.slow] if verb in LONG else [],
    )
    for owner, verbs in VERBS.items() for verb, fitting in verbs.items()
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # of numbers that were never meant
@pytest.mark.parametrize(("call", "fitting"), SWAPPED)
def test_an_argument_of_another_kind_is_refused_or_works(call, fitting, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = [p for p in inspect.signature(call).parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    for parameter in known:
        for odd in ODD:
            try:
                call(**{**fitting, parameter.name: odd})
            except lw.LinkwrightError as problem:
                assert len(str(problem)) > 20


def test_kinds_are_named_in_words():
    with refused(lw.UsageError, name="name", allowed=("a text", "None")):
        lw.load("wiper").cam(["lift"])
    with refused(lw.UsageError, name="wrench", allowed=("a dict by name", "None")):
        WIPER.forward(START, wrench=5)
    with refused(lw.UsageError, name="hold", allowed=("a text", "a list of texts")):
        lw.load("wiper").settle(hold=[3])


PLACES = {  # what is added to a four-bar of lines 1 to 9, and what is said with its line
    "start: {A: 30, B: 10}": (10, "start: 2 values .A, B. are wanted of 1 degree of freedom"),
    "start: {D: 10}": (10, "start: cannot reach the target D"),
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
        lw.load(path).cycle(steps=2)["A.torque"]
    assert str(info.value).startswith(f"{path}:{line}: ")


PUBLIC = [n for n in dir(lw) if inspect.isfunction(getattr(lw, n)) and not n.startswith("_")]


@pytest.mark.parametrize("name", PUBLIC)
def test_an_unknown_option_is_named(name):
    """Or else what is missing: each call lacks what it needs too, if it needs anything."""
    with pytest.raises(lw.UsageError, match=r"'stps'|needs"):
        getattr(lw, name)(stps=3)


COUNTS = {(1, "pose"): "1 pose", (3, "pose"): "3 poses", (0, "moving body"): "0 moving bodies", (2, "box"): "2 boxes"}


def test_numbers_have_the_number_of_their_noun():
    assert {given: counted(*given) for given in COUNTS} == COUNTS
    assert counted(1, "axis", "axes") == "1 axis" and counted(12345, "axis", "axes", spec=",") == "12,345 axes"
    assert repr(lw.load("wiper").cycle(steps=2)[:1]).startswith("<Trajectory 'wiper': 1 sample")


COUNTED = re.compile(
    r"\{(?:len|sum)\([^{}]*\)(?::,)?\} (?:[a-z-]+ )?"
    r"(?:poses|checks|samples|joints|designs|modes|problems|warnings|rows|loops)\b(?! (?:are|have|were|do))"
)


def test_counts_on_screens_go_through_one_helper():
    """`f"{len(x)} poses"` says "1 poses"; `counted(len(x), "pose")` does not."""
    texts = {p: p.read_text(encoding="utf-8") for p in Path(lw.__file__).parent.rglob("*.py") if p.parent.name not in ("bench", "papers")}
    assert [f"{path.name}: {found}" for path, text in texts.items() for found in COUNTED.findall(text)] == []


def test_natural_guesses_work():
    assert lw.compile("wiper").tree.nv == 3
    assert WIPER.start["A", "deg"] == pytest.approx(np.degrees(WIPER.start["A"]))
    still = lw.load("wiper").cycle(steps=4, speed=0)
    assert still.static and any("Static analysis" in note for note in still.notes)
    other = lw.load("four-bar").cycle("D", steps=12)  # a joint that is not the drive: the drive is let go
    assert len(other) == 13


def test_messages_with_names_and_apostrophes_are_whole_and_quoted_pages_are_cut():
    long = "the drive of 'A' jumps " + "to and fro " * 30 + "and what it did is in the error's `run`."
    assert str(lw.LinkwrightError(long)) == long
    cut = str(lw.LinkwrightError(f"'{'x' * 5000}' is not a number."))
    assert len(cut) < 300 and cut.endswith("(5000 characters)' is not a number.")


@pytest.mark.parametrize(
    ("drive", "text"),
    [
        (lw.drives.voltage("12 V", current=np.zeros(3)), "current="),
        (lw.drives.torque(1.0, every=np.full(3, np.nan)), "every="),
        (lw.drives.torque(1.0), "lw.drives.torque(1.0)"),
        (lw.drives.voltage("12 V"), "lw.drives.voltage('12 V')"),
    ],
)
def test_drives_of_wrong_numbers_can_be_printed_and_are_refused_where_they_are_used(drive, text):
    """`repr` compared an array with a default."""
    assert text in repr(drive)


def test_a_start_current_is_one_number():
    motor = lw.drives.dc_motor(Kt=1.0, R=1.0, L=0.1)
    with refused(lw.UsageError, value="a list"):
        lw.load("wiper").simulate(0.01, drive={"A": lw.drives.voltage("12 V", motor=motor, current=np.zeros(3))})


@pytest.mark.parametrize("old", RENAMED_OPTIONS)
def test_an_old_option_gives_the_new_one(old):
    verb, _, option = old.partition(".")
    m, vary = lw.load("wiper"), {"A.x": "+- 1 mm"}
    calls = {
        "animate": lambda **more: m.animate("a.gif", **more),
        "cam": lambda **more: m.cam("cam", **more),
        "derivatives": lambda **more: TURN.derivatives(["crank.mass"], **more),
        "export to c": lambda **more: m.export(format="c", **more),
        "export to script": lambda **more: m.export(format="script", **more),
        "free_body": lambda **more: TURN.free_body("coupler", **more),
        "indices": lambda **more: SMALL.indices(**more),
        "kernel": lambda **more: TURN.system.kernel("loads", **more),
        "phase": lambda **more: TURN.plot("phase", **more),
        "report": lambda **more: m.report("a.html", **more),
        "show": lambda **more: m.show("a.html", **more),
        "optimize": lambda **more: m.optimize("min rms A.torque", vary, **more),
        "simulate": lambda **more: m.simulate(0.01, **more),
        "study": lambda **more: lw.study(m, vary, "max A.torque", **more),
        "synthesize": lambda **more: lw.synthesize(dead_centers=("60 deg", 1.2), **more),
    }
    calls |= {kind: partial(SMALL.plot, kind) for kind in ("curves", "histogram", "map", "scatter", "tornado")}
    with pytest.raises(lw.UsageError) as problem:
        calls[verb](**{option: 3})
    assert f"'{option}' of {verb} has a new name: write {RENAMED_OPTIONS[old]}." in str(problem.value)

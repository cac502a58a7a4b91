"""What an unreachable position or speed says: the cause that ranks show, in the units and names of the model."""

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.motion.unreachable_targets import cannot_move
from linkwright.system.mechanism import mechanism_of


def said(call):
    with pytest.raises(lw.LinkwrightError) as caught:
        call()
    return str(caught.value)


def test_the_end_of_a_rocker_s_reach_is_told_in_the_model_s_units():
    """The wiper's file has degrees: the value it gets to is the dead center that limits finds."""
    s = lw.compile("wiper")
    high = mechanism_of(s).limits("D").high
    text = said(lambda: s.assemble(q={"D": high + 1.0}))
    assert "dead center" in text and "singular" not in text and "cannot reach the target D" in text
    unit = "deg" if "deg" in text else "rad"
    reached = float(text.partition(" to ")[2].partition(f" {unit}")[0]) * (np.pi / 180.0 if unit == "deg" else 1.0)
    assert reached == pytest.approx(high, abs=2e-3)
    assert "'D' would stay" in text or "the loop closed by" in text


def test_a_cut_joint_that_is_a_target_is_no_length():
    """C closes the four-bar's loop and is asked for an angle: what is left of it is an angle, what is open of the loop a length."""
    s = lw.compile("four-bar")
    text = said(lambda: s.assemble(q={"C": 700.0}))
    assert " m)" not in text.partition("(")[2] or "loop closed by 'C' would stay open" in text
    assert "'C' would stay" in text and "rad off" in text


def test_more_values_than_freedoms():
    s = lw.compile("four-bar")
    text = said(lambda: s.assemble(q={"A": 0.5, "D": 2.9}))
    assert "2 values (A, D) are wanted of 1 degree of freedom" in text and "Give 1" in text and "dead center" not in text


def test_speeds_that_contradict_and_speeds_at_a_dead_center_are_told_apart():
    s = lw.compile("four-bar")
    text = said(lambda: s.assemble(q={"A": 1.0}, v={"A": 1.0, "D": 5.0}))
    assert "2 speeds (A, D) are wanted of 1 degree of freedom" in text and "contradict" in text and "dead center" not in text
    t = lw.load("four-bar").cycle(steps=720)
    rates = t["D.v"] / t["A.v"]
    k = int(np.flatnonzero(np.sign(rates[1:]) != np.sign(rates[:-1]))[0])
    low, high = t["A"][k], t["A"][k + 1]
    for _ in range(60):  # the crank's angle at which the rocker turns back
        middle = 0.5 * (low + high)
        st = s.assemble(q={"A": middle}, v={"A": 1.0})
        low, high = (middle, high) if float(st["D.v"]) * rates[k] > 0.0 else (low, middle)
    text = said(lambda: s.assemble(q={"A": 0.5 * (low + high)}, v={"D": 1.0}))
    assert "'D' is at a dead center" in text and "contradict" not in text


def test_speeds_without_a_relation_are_named_together():
    """Where ranks show no relation between the wanted speeds (residuals beyond their tolerance), all of them are named."""
    s = lw.compile("five-bar")
    wanted = compiled_of(s).assembler.targets.positions("A", 1.0, s.start.instant) + compiled_of(s).assembler.targets.positions(
        "E", 1.0, s.start.instant
    )
    text = str(cannot_move(compiled_of(s).loops, compiled_of(s).loops.with_(wanted), s.start.q, s.start.references))
    assert "'A' and 'E' are at a dead center" in text


def test_speeds_of_joints_that_the_loops_tie():
    """As many speeds as degrees of freedom, two of them of one four-bar: they contradict each other at every position, none is dead."""
    drawing = {"A": [0, 0], "B": [0.1, 0.2], "C": [0.7, 0.6], "D": [0.8, 0], "E": [2, 0], "F": [2, 1]}
    pins = {"ground": ["A", "D", "E"], "crank": ["A", "B"], "coupler": ["B", "C"], "rocker": ["D", "C"], "hand": ["E"]}
    bodies = {name: {"pins": x, **({"points": ["F"]} if name == "hand" else {})} for name, x in pins.items()}
    s = lw.load({"name": "clock", "plane": "xy", "drawing": drawing, "bodies": bodies}).system
    assert s.mobility.freedoms == 2
    text = said(lambda: s.assemble(v={"A": 1.0, "D": 5.0}))
    assert "the loops tie 'A' and 'D' to each other" in text and "contradict" in text and "'E'" not in text


def test_a_mechanism_that_falls_without_end():
    """A slider on an inclined guide: nothing holds it, and the message names it."""
    bodies = {"ground": {}, "block": {"mass": 1, "com": [0, 0], "inertia": 0.1}}
    joints = {"A": {"type": "prismatic", "axis": [1, 0], "between": ["ground", "block"], "at": "A"}}
    model = {"name": "slide", "plane": "xy", "gravity": [5.0, 0], "drawing": {"A": [0, 0]}, "bodies": bodies, "joints": joints}
    s = lw.compile(lw.load(model))
    text = said(lambda: mechanism_of(s).settle())
    assert "the potential energy still falls" in text and "nothing holds 'A'" in text

"""An angle many turns away costs one turn and the rest, and ends where walking all the way ends."""

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.closing import continuation
from linkwright.motion import cycle as whole_turns
from tests.refusals import refused
from tests.sweeps import sweep

TURN = 2.0 * np.pi


@pytest.fixture
def steps(monkeypatch):
    """Steps of the continuation, counted."""
    count = [0]
    plain = continuation._advance

    def counted(*args):
        count[0] += 1
        return plain(*args)

    monkeypatch.setattr(continuation, "_advance", counted)
    return count


CASES = {
    "parallelogram-chain": {"G0": 700.0},
    "four-bar": {"A": -9000.0},
    "slider-crank-equal": {"A": 700.0},  # a cut pin in a slot, whose angle counts too
    "five-bar": {"A": 300.0, "E": -290.0},
    "rssr-7r": {"crank": 123.4},
}


@sweep("name", CASES, now=["four-bar", "slider-crank-equal"])
def test_turns_are_added_and_not_walked(name, steps):
    s = lw.compile(name)
    wanted = CASES[name]
    rest = {k: x - TURN * np.trunc((x - float(s.start[k])) / TURN) for k, x in wanted.items()}
    steps[0] = 0
    near = s.assemble(q=rest)
    one = steps[0]
    steps[0] = 0
    far = s.assemble(q=wanted)
    assert steps[0] < one + 700 * len(wanted)  # a turn of the longest chain takes 560
    for k, x in wanted.items():
        assert abs(float(far[k]) - x) < 1e-12 * abs(x)
    poses = [s.kernel("poses")(st.q) for st in (near, far)]
    size = max(map(abs, wanted.values()))
    assert all(np.abs(a - b).max() < 1e-11 * size for a, b in zip(*poses, strict=True))  # round-off of large angles


WALKED = {"four-bar": {"A": 25.0}, "slider-crank-equal": {"A": -20.0}, "five-bar": {"A": 22.0, "E": -21.0}}


@sweep("name", WALKED, now=1)
def test_every_joint_has_the_turns_of_the_whole_walk(name, monkeypatch):
    s, wanted = lw.compile(name), WALKED[name]
    short = s.assemble(q=wanted)
    monkeypatch.setattr(whole_turns, "WALKED_REVOLUTIONS", 10**9)
    long = s.assemble(q=wanted)
    for joint in long.references:
        assert np.abs(np.asarray(short.references[joint]) - np.asarray(long.references[joint])).max(initial=0.0) < 1e-11


def test_a_joint_that_cannot_turn_fully_is_refused():
    s = lw.compile("four-bar")
    with refused(lw.AssemblyError, loop="D"):
        s.assemble(q={"D": 700.0})


def test_a_walk_has_an_end(monkeypatch):
    monkeypatch.setattr(continuation, "MOST_STEPS", 50)
    s = lw.compile("four-bar")
    with pytest.raises(lw.AssemblyError, match="the way is too long: 50 steps"):
        s.assemble(q={"A": 20.0})


@pytest.mark.parametrize("name", ["four-bar", "punch-press"])  # hinges; hinges and a slider
def test_every_coordinate_decides_whether_all_bodies_are_back(name):
    """A body may be back in place and turned, or back in direction and moved: neither has returned."""
    s = lw.compile(name)
    loops, q = compiled_of(s).loops, s.start.q
    kinds = [k for jt in loops.skel.types for k in jt.coordinate_kinds]
    assert len(kinds) == len(q) and whole_turns.returned(loops, q, q)
    for i, kind in enumerate(kinds):
        moved = np.eye(len(q))[i]
        assert not whole_turns.returned(loops, q, q + 0.3 * loops.kappa * moved)
        assert whole_turns.returned(loops, q, q + TURN * moved) == (kind == "angle")

"""Every stabilizer by name, as object and in combination; what it says of itself; what it does to a state; wrong calls."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.simulation.stabilizers import STABILIZERS, Baumgarte, Nothing, PostAdjust, Project, create
from linkwright.simulation.stabilizers.baumgarte import baumgarte
from linkwright.simulation.stabilizers.post_adjust import post_adjust
from linkwright.simulation.stabilizers.project import project

PAIRS = ["baumgarte+post_adjust", "baumgarte+project"]
OPTIONS = ["project(metric=euclidean)", "baumgarte+project(metric=euclidean)"]


@cache
def scraper():
    return lw.compile(lw.load("carpet-scraper"))


@pytest.mark.parametrize("name", [*STABILIZERS, *PAIRS, *OPTIONS])
def test_every_stabilizer_keeps_the_contract(name):
    """It tells its settings as JSON, and what it corrects reads the row of the time loop and moves a state toward the loops."""
    s, x = scraper(), create(name)
    assert x.name == name.partition("(")[0] == x.settings["stabilizer"] and x.text and json.dumps(x.settings)
    assert (x.gains is not None) == ("baumgarte" in name)
    st = s.assemble({"J1": 0.3}, {"J1": 4.0})
    found = x.correction(s.kernels, st.q, st.references, ("J1",))
    assert (found is None) == (x.corrects == "")
    if found is None:
        return
    assert json.dumps(found.settings)
    rows = [b.name for b in found.kernel.inputs if b.name != "near"]
    assert rows == ["q", "v", "t", "tau", *(["gains"] if x.gains else [])]
    rng = np.random.default_rng(3)
    q, v = st.q + 1e-4 * rng.normal(size=7), st.v + 1e-2 * rng.normal(size=7)
    done = found.kernel(q, v, tau=np.zeros(7), **({"gains": x.gains} if x.gains else {}))
    after = compiled_of(s).loops.at(done.q, done.v, 0.0, st.references)
    before = compiled_of(s).loops.at(q, v, 0.0, st.references)
    assert np.abs(after.phi).max() < 0.2 * np.abs(before.phi).max()
    assert np.abs(after.J @ done.v).max() < 0.2 * np.abs(before.J @ v).max()
    by_floats = found.answer({"q": q, "v": v, "t": np.zeros(1), "tau": np.zeros(7)})
    for key in ("q", "v", "correction"):  # the rank-revealing projection goes another way: near passages the branch counts, not M
        np.testing.assert_allclose(by_floats[key], getattr(done, key), atol=1e-13 if found.once else 5e-2)
    assert np.abs(compiled_of(s).loops.at(by_floats["q"], v, 0.0, st.references).phi).max() < 0.2 * np.abs(before.phi).max()


def test_mechanisms_without_loops_need_no_correction():
    bodies = {"ground": {"points": {"O": [0, 0]}}, "arm": {"points": {"O": [0, 0]}, "mass": "1 kg", "com": [0.5, 0]}}
    arm = {"name": "arm", "plane": "xy", "bodies": bodies, "joints": {"A": {"type": "revolute", "connect": ["ground.O", "arm.O"]}}}
    s = lw.compile(lw.load(arm))
    for x in (Project(), PostAdjust(), Baumgarte() + PostAdjust()):
        assert x.correction(s.kernels, s.start.q, s.start.references) is None


def test_gains_are_baumgartes():
    assert Baumgarte(0.5, 8.0).gains == (8.0, 64.0)  # 2 delta omega0, omega0^2
    assert baumgarte(2.0, 3.0) == Baumgarte(2.0, 3.0) and baumgarte().gains == (20.0, 100.0)


def test_combinations_are_the_same_however_written():
    both = Baumgarte() + PostAdjust()
    assert both == create(["baumgarte", "post_adjust"]) == create("post_adjust + baumgarte") == create([PostAdjust() + Baumgarte()])
    assert both.gains == (20.0, 100.0) and both.corrects == "adjust"
    assert create(["project"]) == Project() and create(both) is both
    assert create("baumgarte(2, omega0=3) + post_adjust([J2, J3], A=1e+3, every=4)") == baumgarte(2, 3) + post_adjust(
        ["J2", "J3"], A=1e3, every=4
    )
    assert create("project(metric=euclidean, velocities=false, above=1e-6)") == project(metric="euclidean", velocities=False, above=1e-6)
    assert post_adjust("P", M=[1, 2, 3], A=5) == PostAdjust(("P",), (1.0, 2.0, 3.0), 5.0) and hash(post_adjust("P", M=[1, 2]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("projekt", "no stabilizer 'projekt'.*'project'"),
        (["baumgarte", "baumgarte"], "baumgarte \\+ baumgarte is not a combination"),
        (["project", "post_adjust"], "project \\+ post_adjust is not a combination"),
        (["none", "project"], "none \\+ project"),
        ("baumgarte+post_adjust+project", "not a combination"),
        ([], "empty list"),
        (3, "not 3"),
        (Baumgarte, "Baumgarte\\(1, 50\\)"),
        ("project(", "'project\\(' cannot be read"),
        ("project-1", "cannot be read"),
        ("project(every=1+1j)", "every is a number of steps"),
        ("project(every=x.y)", "cannot be read"),
        ("project(often=3)", "often"),
        ("project(metric=taxi)", "no metric 'taxi'.*mass"),
    ],
)
def test_wrong_stabilizers_are_refused_with_advice(wrong, message):
    with pytest.raises(UsageError, match=message):
        create(wrong)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Baumgarte(0.0, 10.0), "delta.*positive"),
        (lambda: Baumgarte(1.0, float("nan")), "omega0.*positive"),
        (lambda: Baumgarte("1", 10.0), "delta.*'1'"),
        (lambda: PostAdjust(position=False, velocity=False), "positions or velocities"),
        (lambda: PostAdjust(M="heavy"), "M of post-adjusting must be numbers"),
        (lambda: PostAdjust(A=float("inf")), "A .*not finite"),
        (lambda: PostAdjust(steps=0), "one or more"),
        (lambda: PostAdjust(every=0), "every is a number of steps"),
        (lambda: Project(every=2.5), "every is a number of steps"),
        (lambda: Project(above=0.0), "above is a gap"),
        (lambda: Project(above="1 mm"), "above is a gap"),
        (lambda: Project(velocities="yes"), "velocities is True or False"),
        (lambda: _weights(dependent="J99"), "'J99' is not a coordinate"),
        (lambda: _weights(dependent=["J2", "J2"]), "twice"),
        (lambda: _weights(dependent=[]), "empty"),
        (lambda: _weights(dependent=["J2", "J3"], M=[1.0, 2.0, 3.0]), "2 dependent coordinates J2, J3"),
        (lambda: _weights(dependent=["J2", "J3"], M=[[1.0, 2.0], [2.0, 1.0]]), "positive definite"),
        (lambda: _weights(A=-1.0), "A .*positive"),
        (lambda: _weights(A=[1.0, 2.0]), "6 rows"),
    ],
)
def test_wrong_numbers_are_refused_by_name(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def _weights(**options):
    s = scraper()
    return PostAdjust(**options).correction(s.kernels, s.start.q, s.start.references)


def test_the_default_is_without_options():
    assert create("none") == Nothing() and create("none").settings == {"stabilizer": "none"}

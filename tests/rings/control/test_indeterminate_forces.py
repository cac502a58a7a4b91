"""Hybrid control where constraints are redundant: J' lam can always be held, a multiplier only as far as statics determines it."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.simulation.feedback.force_rows import force_row
from tests.refusals import refused

GAINS = {"P": 25, "D": 10, "F": 1, "I": 20}


@pytest.fixture(scope="module")
def bars():
    """Three equal parallel cranks on one coupler: N.tx and C.tx share one load along the coupler."""
    return lw.compile("parallelogram-middle", engine="python")


def law(force: dict, drives=("A", "D"), **more):
    return lw.control.hybrid({"A": "60 deg"}, force, **GAINS, drives=list(drives), **more)


def shared(notes) -> list[str]:
    return [n for n in notes if "statically indeterminate" in n]


def test_a_multiplier_that_statics_leaves_open_is_named_with_those_that_share_its_load(bars) -> None:
    assert bars.forward(bars.start).unique["C"].tolist() == [False, True]
    (note,) = shared(bars.control(law({"C.tx": 5.0}), bars.start).notes)
    assert note.startswith("hybrid: C.tx is statically indeterminate: N.tx, C.tx share a load") and "least reactions" in note
    assert shared(bars.control(law({"C.ty": 5.0}), bars.start).notes) == []
    crank = lw.compile("slider-crank-equal", engine="python")
    assert shared(crank.control(law({"C.ty": 0.0}, ("A", "B")), crank.start).notes) == [], "full rank"


def test_forces_of_joints_are_open_where_their_reactions_are(bars) -> None:
    """Against the uniqueness that inverse dynamics finds; of a planar four-bar built in space some components are unique, some are not."""
    space = lw.compile(lw.load("four-bar", space=True), engine="python")
    for s, force, drives in ((bars, "C.tx", "AD"), (space, "C.on.rocker.x", "AB")):
        bound = s.control(law({force: 5.0}, drives), s.start).bound
        wrenches, letters = s.inverse(s.start).wrench, s.description.plane or "xyz"
        wanted = {f"{j}.on.{w.on}.{x}": not w.unique_force[i] for j, w in wrenches.items() for i, x in enumerate(letters)}
        rows = [force_row(s.description, bound.lam_names, bound.lam_kinds, name) for name in wanted]
        found = bound.indeterminate_forces(rows).among
        assert {name: name in found for name in wanted} == wanted
    assert len(set(wanted.values())) == 2


def test_what_is_held_is_the_share_of_least_reactions_and_the_force_of_the_loops(bars) -> None:
    """The drives hold J' lam: every self-stress added to lam leaves it, and the motion, as they are."""
    st = bars.start
    u = bars.control(law({"C.tx": 5.0}), st)(st)
    found = bars.forward(st, u)
    assert found.lam["C"][0] == pytest.approx(5.0, abs=1e-9)
    t = bars.terms(st)
    lam = np.concatenate([found.lam[n] for n in t.names])
    stress = np.linalg.svd(t.J.T)[2][-1]
    tau = t.M @ found.a + t.h - t.J.T @ lam
    assert np.abs(t.J.T @ stress).max() < 1e-12 and abs(stress[list(compiled_of(bars).kernels.entries["lam"]).index("C.tx")]) > 0.1
    np.testing.assert_allclose(t.M @ found.a + t.h - t.J.T @ (lam + 3.0 * stress), tau, atol=1e-11)


def test_more_multipliers_than_statics_determines_are_refused(bars) -> None:
    with refused(lw.UsageError, name="N.tx"):
        bars.control(law({"C.tx": 0.0, "N.tx": 5.0}, "ADM"), bars.start)
    both = bars.control(law({"C.tx": 0.0, "C.ty": 5.0}, "ADM"), bars.start)  # the other component is determined
    assert len(shared(both.notes)) == 1

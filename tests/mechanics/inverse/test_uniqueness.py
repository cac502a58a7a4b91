"""Which reactions are determined: redundant joints, doors, redundant drives, releases, stiffnesses, wrong calls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused


def spatial_four_bar(cut):
    return lw.compile(lw.load("four-bar", space=True, gravity=[0, -9.81, 0]), cuts=[cut])


@pytest.mark.parametrize("cut", ["B", "C", "D"])
def test_four_revolutes_in_space_name_exactly_the_loose_components(cut):
    """In-plane forces are unique; forces along z and moments about x, y depend on how the redundancy is resolved."""
    s = spatial_four_bar(cut)
    st = s.assemble(q={"A": 0.8}, v={"A": 5.0})
    loads = s.inverse(st)
    reference = spatial_four_bar("C")
    other = reference.inverse(reference.assemble(q={"A": 0.8}, v={"A": 5.0}))
    assert loads.tau["A"] == pytest.approx(other.tau["A"], rel=1e-10) and loads.tau_unique["A"]
    for joint in "ABCD":
        w = loads.wrench[joint]
        assert list(w.unique_force) == [True, True, False]
        assert list(w.unique_moment) == [False, False, True]
        np.testing.assert_allclose(w.force[:2], other.wrench[joint].force[:2], atol=1e-9)
        # a planar problem: the least reactions have nothing out of the plane, whichever joint is cut
        np.testing.assert_allclose([w.force[2], *w.moment[:2]], 0.0, atol=1e-9)
    assert loads.residual < 1e-12


def test_reactions_are_independent_of_the_cut_also_where_they_are_not_unique():
    """A sideways load on the coupler makes the redundant part nonzero."""
    out = []
    for cut in ("B", "C", "D"):
        s = spatial_four_bar(cut)
        st = s.assemble(q={"A": 0.8}, v={"A": 5.0})
        loads = s.inverse(st, wrench={"coupler": [1.0, -2.0, 0.0, 0.0, 0.0, 30.0]})
        out.append(np.concatenate([np.concatenate([loads.wrench[j].force, loads.wrench[j].moment]) for j in "ABCD"]))
    assert np.abs(out[0]).max() > 5.0
    np.testing.assert_allclose(out[1], out[0], atol=1e-8)
    np.testing.assert_allclose(out[2], out[0], atol=1e-8)


def test_a_door_on_three_hinges():
    """Weight alone: what the hinges carry together is certain, how they share it is not."""
    m = lw.load("door")
    s = m.system
    loads = s.inverse(s.start, drives=[])
    hinges = [j.name for j in m.description.joints]
    for h in hinges:
        assert not loads.wrench[h].unique_force.any()
    weight = sum(b.mass for b in m.description.bodies[1:]) * np.array(m.system.description.gravity)
    np.testing.assert_allclose(sum(loads.wrench[h].force for h in hinges), -weight, atol=1e-9)
    released = s.inverse(s.start, drives=[], release={hinges[1]: ["tx", "ty", "tz", "rx", "ry"]})
    assert np.abs(released.wrench[hinges[1]].force).max() < 1e-8 and np.abs(released.wrench[hinges[1]].moment).max() < 1e-8
    np.testing.assert_allclose(sum(released.wrench[h].force for h in hinges), -weight, atol=1e-9)
    stiff = s.inverse(s.start, drives=[], stiffness={hinges[0]: 1e6})
    along = int(np.argmax(np.abs(weight)))
    assert abs(stiff.wrench[hinges[0]].force[along]) > 0.9 * np.abs(weight).max()  # a stiff hinge takes the weight


def test_redundant_drives_least_effort_preload_and_ratings():
    m = lw.load("3-rrr")
    s = m.system
    st = s.assemble(v={"J1": 1.0, "J8": -0.5, "J9": 0.3})
    a = s.forward(st, tau={"J1": 4.0, "J8": -7.0, "J9": 2.5})
    three = s.inverse(st, a=a.a)
    all_drives = ["J1", "J8", "J9", "J2", "J3"]
    five = s.inverse(st, a=a.a, drives=all_drives)

    def norm(loads):
        return float(np.sqrt(sum(x * x for x in loads.tau.values())))

    assert norm(five) < norm(three) and not any(five.tau_unique.values()) and all(three.tau_unique.values())
    again = s.forward(st, tau=five.tau)
    np.testing.assert_allclose(again.a, a.a, atol=1e-9)
    steady = s.inverse(st, drives=all_drives)  # constant speed: an independent set of drives is asked for it, the others follow
    assert steady.residual < 1e-11
    preloaded = s.inverse(st, a=a.a, drives=all_drives, preload={"J2": 5.0})
    np.testing.assert_allclose(s.forward(st, tau=preloaded.tau).a, a.a, atol=1e-9)
    assert preloaded.tau["J2"] > five.tau["J2"] and norm(preloaded) > norm(five)
    strong = s.inverse(st, a=a.a, drives=all_drives, rated=dict.fromkeys(all_drives, 1.0) | {"J1": 100.0})
    others = [name for name in all_drives if name != "J1"]  # the strong motor works for free: the others have less to do
    assert sum(strong.tau[n] ** 2 for n in others) < sum(five.tau[n] ** 2 for n in others)


def test_too_few_drives_name_the_freedom_nobody_drives():
    s = lw.load("3-rrr").system
    st = s.assemble(v={"J1": 1.0})
    with refused(lw.UsageError, name="drives"):
        s.inverse(st, drives=["J1"])
    s = lw.load("four-bar").system
    with refused(lw.UsageError, name="drives"):
        s.inverse(s.start, drives=[])


def test_wrong_calls_are_explained():
    s = lw.load("four-bar").system
    st = s.start
    with refused(lw.UsageError, name="subsytem", allowed=("traditional", "system", "subsystem")):
        s.inverse(st, method="subsytem")
    with refused(lw.UsageError, name="a"):
        s.inverse(st, a=[1.0, 1.0, 1.0])
    with refused(lw.UsageError, name="a"):
        s.inverse(st, a=[np.nan] * 3)
    with refused(lw.ChannelError, name="Z", allowed=("C", "D")):
        s.inverse(st).on("Z", "rocker")
    with refused(lw.UsageError, name="C", value="crank"):
        s.inverse(st).reaction("C", on="crank")
    massless = replace(lw.load("four-bar").description, bodies=tuple(replace(b, mass=None) for b in lw.load("four-bar").description.bodies))
    with refused(lw.UsageError, name="mass"):
        lw.compile(massless).inverse(st)


def test_both_directions_and_any_axes():
    s = lw.load("four-bar").system
    st = s.assemble(q={"A": 0.8}, v={"A": 5.0})
    loads = s.inverse(st)
    one, two = loads.reaction("C", on="rocker"), loads.reaction("C", on="coupler")
    np.testing.assert_allclose(one.force, -two.force, atol=1e-12)
    local = loads.reaction("C", on="rocker", frame="rocker")
    R = s.pose(st, "rocker").R
    np.testing.assert_allclose(R @ local.force, one.force, atol=1e-12)
    assert local.expressed_in == "rocker" and one.on == "rocker"


def test_the_choices_side_by_side():
    s = spatial_four_bar("C")
    st = s.assemble(q={"A": 0.8}, v={"A": 5.0})
    table = s.determinacy(st, wrench={"coupler": [1.0, -2.0, 0.0, 0.0, 0.0, 30.0]}, stiffness={"D": 1e4}, release={"C": ["tz", "rx", "ry"]})
    assert table.choices == ("least norm", "stiffness", "released")
    assert set(table.loose) == {(j, c) for j in "ABCD" for c in ("Fz", "Mx", "My")}
    for row in table.rows:
        if row.unique:
            assert row.values[1] == pytest.approx(row.values[0], abs=1e-8) and row.values[2] == pytest.approx(row.values[0], abs=1e-8)
    released = {r.component: r.values[2] for r in table.rows if r.joint == "C"}
    assert abs(released["Fz"]) < 1e-8
    stiff = {r.joint: r.values[1] for r in table.rows if r.component == "Fz"}
    least = {r.joint: r.values[0] for r in table.rows if r.component == "Fz"}
    assert abs(stiff["D"]) > abs(least["D"])
    assert "depends on how" in str(table) and "unique" in str(table)

"""One weighting of redundant drives: inverse dynamics and controllers choose the same efforts, in any unit, on every path."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.forces.dc_motor import flow
from linkwright.mechanics.inverse.effort_weights import effort_weights, rated_effort
from linkwright.model.description import Drive
from linkwright.numerics.linalg import factor, pivoted_columns
from linkwright.rings.papers import aghili_control
from linkwright.system.inertia_regressor import regressor
from linkwright.system.system import System
from tests import factory
from tests.refusals import refused
from tests.sweeps import sweep

DRIVES = ["slide", "P"]  # a force and a torque


def driven_mechanism(seed: int) -> tuple[System, lw.State, np.ndarray, list[str], list[str]]:
    """A random mechanism of hinges and slides with loops, a state, accelerations on its loops, independent joints and redundant drives."""
    for attempt in range(60):
        rng = np.random.default_rng(9000 + 100 * seed + attempt)
        planar = bool(seed % 2)
        tree = factory.random_tree(rng, 5 if planar else 8, ("revolute", "prismatic"), planar, chain=0.8)
        mech = factory.with_loops(rng, tree, ["revolute" if planar else "spherical"], planar)
        s = System(mech.skel.tree.description, mech.skel.tree.cuts, engine="python")
        f = compiled_of(s).loops.factored(compiled_of(s).loops.at(mech.q, np.zeros(s.tree.nv), 0.0, mech.skel.start_coordinates))
        turning = [n.joint.type == "revolute" for n in s.tree.nodes]
        if f.rank < s.tree.nc or f.s[f.rank - 1] < 0.05 or len(set(turning)) == 1:  # badly conditioned, or all of one kind
            continue
        names = [n.joint.name for n in s.tree.nodes]
        free = sorted(pivoted_columns(f.null.T))
        v = f.null @ rng.normal(size=len(free)) * compiled_of(s).loops.columns
        st = s.state(mech.q, v)
        x = rng.normal(size=s.tree.nv)
        t = s.terms(st)
        a = x - np.linalg.lstsq(t.J, t.J @ x + t.k, rcond=None)[0]
        moving = [i for i in range(s.tree.nv) if i not in free and np.abs(f.null[i]).max() > 0.1]
        extra = [int(i) for i in rng.permutation(moving)[:2]]
        drives = [names[i] for i in (*free, *extra)]
        if len(extra) == 2 and len({turning[i] for i in (*free, *extra)}) == 2:
            return s, st, a, [names[i] for i in free], drives
    raise AssertionError(f"no mechanism for seed {seed}")


def check_agreement(seed: int) -> None:
    s, st, a, independent, drives = driven_mechanism(seed)
    rng = np.random.default_rng(seed)
    for rated in (None, {n: float(rng.uniform(0.2, 5.0)) for n in drives}):
        at = {n: tuple(map(float, (st[n], st[f"{n}.v"], a[s.names.v.index(n)]))) for n in independent}
        kinds = {n: ("rad" if s.description.joint(n).type == "revolute" else "m") for n in independent}
        path = {n: f"{x!r} {kinds[n]} + {v!r} {kinds[n]}/s*t + {0.5 * w!r} {kinds[n]}/s^2*t^2" for n, (x, v, w) in at.items()}
        law = lw.control.projected(path, P=0, D=0, drives=drives, rated=rated, damping=0)
        controlled = s.control(law, st)(st)
        loads = s.inverse(st, a, drives=drives, rated=rated)
        u = np.array([loads.tau[n] for n in drives])
        # two eliminations of well conditioned equations (singular values above 0.05): a few digits above round-off
        np.testing.assert_allclose(u, [controlled[n] for n in drives], rtol=0, atol=1e-10 * (1.0 + np.abs(u).max()))
        (note,) = loads.notes
        assert note == next(iter(s.control(law, st).notes)) and ("kappa" in note) == (rated is None)
        # no other efforts with the same accelerations are smaller: the weighted efforts are orthogonal to all that change nothing
        free = s.forward(st).a
        G = np.stack([s.forward(st, {n: 1.0}).a - free for n in drives], axis=1) / compiled_of(s).loops.columns[:, None]
        w = np.array(
            [rated[n] if rated else 1.0 if s.description.joint(n).type == "revolute" else 1.0 / compiled_of(s).loops.kappa for n in drives]
        )
        idle = factor(G * w, 1e-9 * np.abs(G * w).max()).null
        assert idle.shape[1] == 2 and np.abs(idle.T @ (u / w)).max() < 1e-8 * np.abs(u / w).max()


@sweep("seed", range(100), now=1)
def test_inverse_dynamics_and_projected_control_take_the_same_efforts(seed: int) -> None:
    check_agreement(seed)


# -------------------------------------------------------------------- a cart whose pole's tip runs on a line


def cart(unit: str = "m", drive: dict | None = None) -> dict:
    return {**aghili_control.cart(unit), "drive": {n: (drive or {}).get(n, "undriven") for n in DRIVES}}


def cart_loads(model: dict, **options):
    s = lw.compile(lw.load(model), **{"engine": "python", **options.pop("compiled", {})})
    st = s.assemble({"P": 0.9}, {"P": 0.7})
    return s, s.inverse(st, {"P": 2.0}, drives=DRIVES, **options)


def test_the_unit_of_length_does_not_change_the_efforts() -> None:
    for options in ({}, {"rated": {"slide": "2 N", "P": "1 N m"}}, {"compiled": {"length": "0.5 m"}}):
        (_, m), (_, mm) = (cart_loads(cart(unit), **options) for unit in ("m", "mm"))
        # coordinates are written with 15 digits
        assert m.tau == pytest.approx(mm.tau, rel=1e-11)
    assert [m.tau[n] for n in DRIVES] == pytest.approx([7.027062745077117, 1.2580573267001502], rel=1e-11), "kappa = 0.5 m, [Aghili2005]"
    assert "kappa = 500 mm" in mm.notes[0] or "kappa = 0.5 m" in mm.notes[0]


def test_ratings_of_the_model_are_used_without_asking() -> None:
    """Limits of 2 N and 1 N m weigh as the metric with kappa = 0.5 m does; `rated=` goes before them."""
    _, loads = cart_loads(cart(drive={"slide": {"limits": "2 N"}, "P": {"limits": ["-0.4 N m", "1 N m"]}}))
    assert [loads.tau[n] for n in DRIVES] == pytest.approx([7.027062745077117, 1.2580573267001502], rel=1e-11)
    assert "rated efforts (slide 2 N, P 1 N m)" in loads.notes[0]
    s, other = cart_loads(cart(drive={"slide": {"limits": "2 N"}, "P": {"limits": "1 N m"}}), rated={"slide": "40 N"})
    (_, same) = cart_loads(cart(), rated={"slide": 40, "P": 1})
    assert other.tau == pytest.approx(same.tau, rel=1e-12) and other.tau["slide"] > loads.tau["slide"]
    st = s.assemble({"P": 0.9}, {"P": 0.7})
    law = lw.control.projected({"P": "0.9 rad + 0.7 rad/s*t + 1.0 rad/s^2*t^2"}, drives=DRIVES)
    assert s.control(law, st)(st) == pytest.approx(loads.tau, rel=1e-10)


def test_one_unknown_rating_leaves_the_metric_to_the_length() -> None:
    _, plain = cart_loads(cart())
    _, some = cart_loads(cart(drive={"slide": {"limits": "2 N"}}))
    assert some.tau == plain.tau and "no rated effort of P is known" in some.notes[0] and "no rated efforts are known" in plain.notes[0]
    with refused(lw.UsageError, name="P"):
        cart_loads(cart(), rated={"slide": 2})
    with refused(lw.UsageError, name="Q", allowed=("slide", "P")):
        cart_loads(cart(), rated={"Q": 2})


def test_the_rating_of_a_motor_is_what_it_gives_at_rest() -> None:
    m = lw.drives.dc_motor(Kt="0.1 N m/A", R="2 ohm", supply_voltage="12 V", max_current="3 A", gear_ratio=5)
    plate = (("Kt", 0.1), ("R", 2.0), ("supply_voltage", 12.0), ("max_current", 3.0), ("gear_ratio", 5.0))
    assert rated_effort(Drive("A", "dc_motor", motor=plate)) == pytest.approx(flow(m, 1e6, 0.0).effort) == pytest.approx(1.5)
    assert rated_effort(Drive("A", "dc_motor", motor=(*plate, ("max_torque", 0.2)))) == pytest.approx(1.0)
    assert rated_effort(Drive("A", "dc_motor", motor=plate[:2])) is None
    assert [rated_effort(Drive("A", "undriven", limits=x)) for x in ((-5.0, 20.0), (None, 20.0), (None, None))] == [20.0, None, None]


def test_actuators_of_a_run_are_ratings_too() -> None:
    s = lw.compile(lw.load(cart()), engine="python")
    st = s.assemble({"P": 0.9}, {"P": 0.7})
    law = lw.control.projected({"P": "0.9 rad + 0.7 rad/s*t + 1.0 rad/s^2*t^2"}, drives=DRIVES)
    motor = lw.drives.dc_motor(Kt="0.5 N m/A", R="1 ohm", max_current="40 A")  # 20 N m at rest
    acting = {"slide": lw.control.actuator(limit="40 N"), "P": lw.control.actuator(motor=motor)}
    run = s.simulate(st, 0.002, control=law, actuators=acting, sample_interval=[0.0, 0.002])
    _, loads = cart_loads(cart(), rated={"slide": 2, "P": 1})
    assert "rated efforts (slide 40 N, P 20 N m)" in run.notes[0] and run["slide.force"][0] == pytest.approx(loads.tau["slide"], rel=1e-9)


def test_all_samples_together_choose_as_one_sample_does() -> None:
    """The traced path of a whole cycle and the float path; the cycle notes the weighting."""
    for drive in ({}, {"slide": {"limits": "30 N"}, "P": {"limits": "4 N m"}}):
        m = lw.load(cart(drive={**drive, "P": drive.get("P", "0.2 rad/s")}))
        c = m.cycle("P", steps=15, speed="0.2 rad/s")
        single = np.array([[m.system.inverse(c.state(i), c.a[i]).tau[n] for n in DRIVES] for i in range(len(c))])
        both = np.stack([c["slide.force"], c["P.torque"]], axis=1)
        assert c._loads.cycle is not None, "solved together"
        np.testing.assert_allclose(both, single, rtol=0, atol=1e-10 * np.abs(single).max())
        assert (
            c.notes[-1]
            == c._each_loads[3].notes[0]
            == effort_weights(m.system.description, c.drives, compiled_of(m.system).loops.kappa).note
        )
        assert f"note: {c.notes[-1]}" in str(c._each_loads[3])
    assert lw.load("3-rrr").cycle(steps=4).notes == () and lw.load("four-bar").cycle(steps=4).notes == ()


def test_every_tree_and_method_has_the_length_that_was_given() -> None:
    """The spanning tree that suits the inverse is another one here; it used to take the characteristic length of the drawing."""
    s = lw.compile("punch-press", length="3 m", engine="python")
    found = [s.inverse(s.start, {"E": 1.0}, drives=["E", "slide"], method=m) for m in ("subsystem", "system", "traditional")]
    assert all("kappa = 3 m" in x.notes[0] or "kappa = 3000 mm" in x.notes[0] for x in found)
    for other in found[1:]:
        assert other.tau == pytest.approx(found[0].tau, rel=1e-9)


PUSHED = {
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.5, 0.8660254037844386], "C": [1.0, 0]},
    "bodies": {
        "ground": {"pins": ["A"], "points": {"W": [-0.6, -0.3]}},
        "crank": {"pins": ["A", "B"], "mass": 1, "com": "B", "inertia": 0.1},
        "rod": {"pins": ["B"], "points": ["C"], "mass": 1, "com": "B", "inertia": 0.2},
    },
    "joints": {"C": {"type": "pin_slot", "connect": ["ground.A", "rod.C"], "slot": [1, 0]}},
    "cuts": ["C"],
    "cylinders": {"push": {"between": ["ground.W", "crank.B"]}},
    "drive": ["A", "push"],
}


@pytest.mark.parametrize("rated", [None, {"A": 3, "push": 1}])
def test_a_singular_passage_shares_the_efforts_as_its_neighbors_do(rated: dict | None) -> None:
    """Equal links, crank upright, a motor and a cylinder on the crank: neither can turn the rod there, the limit carries it."""
    s = lw.compile(lw.load(PUSHED), engine="python")
    h, found = 1e-3, []
    for x in (np.pi / 2 - h, np.pi / 2, np.pi / 2 + h):
        st = s.state(np.array([x, np.pi / 3 - 2 * x]), np.array([2.0, -4.0]))
        found.append(s.inverse(st, np.array([1.5, -3.0]), rated=rated))
    assert "limit" in found[1].method and found[1].notes == found[0].notes and not any(found[1].tau_unique.values())
    u = np.array([list(x.tau.values()) for x in found])
    assert np.abs(u[1] - 0.5 * (u[0] + u[2])).max() < 10.0 * h * h * np.abs(u).max()  # curvature of a smooth effort


def test_columns_of_masses_share_the_efforts_in_the_same_way() -> None:
    """Efforts as a linear function of masses, which balancing uses, are those of inverse dynamics."""
    for drive in ({}, {"slide": {"limits": "30 N"}, "P": {"limits": "4 N m"}}):
        m = lw.load(cart(drive=drive))
        c = m.cycle("P", steps=5, speed="2 rad/s")
        reg = regressor(m.system, c, np.zeros(3))
        efforts = reg.curves(reg.theta)[2]
        single = np.array([[m.system.inverse(c.state(i), c.a[i]).tau[n] for n in reg.drives] for i in range(len(c))])
        np.testing.assert_allclose(efforts, single, rtol=0, atol=1e-10 * np.abs(single).max())

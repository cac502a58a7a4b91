"""Forces: what stores energy pulls down its gradient; efforts in cut joints act as in tree joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwright.api import compiled_of
from linkwright.mechanics import forces
from linkwright.mechanics.dynamics import tree as dyn
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion, qdot, skeleton
from linkwright.model import description as d
from linkwright.text.expressions import variable
from linkwright.topology import build_tree
from tests import factory

STEP = 1e-30
ENDS = (("ground", "P"), ("b3", "Q"))
STORING = {
    "torsion": {"springs": (d.TorsionSpring("s", "J0", 3.0, 0.2, 0.5),)},
    "coil": {"springs": (d.CoilSpring("s", ENDS, 40.0, 0.3, 2.0),)},
    "gas": {"springs": (d.GasSpring("s", ENDS, 400.0, 9.0, 12.0, 1.3),)},
    "gas flat": {"springs": (d.GasSpring("s", ENDS, 400.0, 9.0, 12.0, 1.0),)},
}


def mechanism(seed=3, **parts):
    rng = np.random.default_rng(seed)
    t = factory.random_tree(rng, 4, ("revolute", "prismatic"))
    desc = replace(t.skel.tree.description, gravity=d.ZERO3, **parts)
    return skeleton(build_tree(desc, [])), t.q, t.v


def power(skel, q, v, t=0.0):
    m = motion(skel, q, v)
    moment = Instant.moving(skel, m, t, skel.start_coordinates)
    wrenches = [w for f in forces.of_description(skel.tree.description) for w in f.wrenches(moment)]
    return dyn.generalized(skel, m, wrenches) @ v, wrenches


@pytest.mark.parametrize("kind", STORING)
def test_power_of_a_spring_is_what_its_energy_loses(kind):
    skel, q, v = mechanism(**STORING[kind])
    force = forces.of_description(skel.tree.description)[0]
    ahead = motion(skel, q + 1j * STEP * qdot(skel, q, v), v.astype(complex))
    rate = force.energy(Instant.moving(skel, ahead, 0.0, skel.start_coordinates)).imag / STEP
    assert abs(rate) > 1e-3
    assert power(skel, q, v)[0] == pytest.approx(-rate, rel=1e-12)


@pytest.mark.parametrize(
    "parts",
    [
        {"dampers": (d.Damper("c", 2.5, joint="J1"),)},
        {"dampers": (d.Damper("c", 2.5, between=ENDS),)},
        {"frictions": (d.Friction("f", "J1", coulomb=1.5, viscous=0.3, speed=0.01),)},
    ],
)
def test_dampers_and_friction_only_take_energy(parts):
    for seed in range(5):
        skel, q, v = mechanism(seed, **parts)
        assert power(skel, q, v)[0] < 0.0
        np.testing.assert_allclose(power(skel, q, 0 * v)[0], 0.0, atol=1e-15)


def test_gas_spring_force_when_extended_and_pushed_in():
    spring = d.GasSpring("s", ENDS, 400.0, 0.5, 0.2, 1.4)
    for length, expected in ((0.5, 400.0), (0.3, 560.0)):
        bodies = (
            d.Body("ground", (d.Point("P", (0.0, 0.0, 0.0)),)),
            d.Body("b3", (d.Point("Q", (0.0, 0.0, 0.0)),), start=d.Placement((length, 0.0, 0.0))),
        )
        desc = d.Description("g", bodies, (d.Joint("X", "prismatic", "ground", "b3"),), springs=(spring,))
        skel = skeleton(build_tree(desc, []))
        m = motion(skel, np.array([length]), np.zeros(1))
        moment = Instant.moving(skel, m, 0.0, skel.start_coordinates)
        wrenches = forces.of_description(desc)[0].wrenches(moment)
        assert dyn.generalized(skel, m, wrenches)[0] == pytest.approx(expected, rel=1e-12)


def test_an_effort_in_a_cut_joint_equals_the_same_effort_in_a_tree_joint():
    """One four-bar, two ways to cut it: the same spring and damper give the same power for the same motion."""
    import linkwright.system.mechanism as lw

    m = lw.load("four-bar")
    parts = {"springs": (d.TorsionSpring("s", "C", 3.0, 0.2),), "dampers": (d.Damper("c", 2.0, joint="C"),)}
    powers = []
    for cuts in (["C"], ["B"]):
        s = lw.compile(replace(m.description, **parts), cuts=cuts)
        st = s.assemble(q={"A": 0.9}, v={"A": 2.0})
        powers.append(dyn.generalized(compiled_of(s).skel, s.motion(st), compiled_of(s).applied(st)) @ st.v)
        assert ("C" in s.tree.cuts) == (cuts == ["C"])
    assert powers[0] == pytest.approx(powers[1], rel=1e-10)
    assert abs(powers[0]) > 0.1


def test_loads_in_world_and_body_axes_constant_table_and_expression():
    t = variable("t")
    load = d.Load(
        "L", "b3", "Q", force=(10.0, d.Table("J0", (-9.0, 9.0), (0.0, 18.0)), 2.0 * t), moment=(0.0, 0.0, variable("J1.v")), axes="world"
    )
    skel, q, v = mechanism(loads=(load,))
    _p, wrenches = power(skel, q, v, t=1.5)
    ((node, w),) = wrenches
    q0 = q[skel.tree.nodes[skel.tree.node_of_joint["J0"]].q][0]
    v1 = v[skel.tree.nodes[skel.tree.node_of_joint["J1"]].v][0]
    np.testing.assert_allclose(w[3:], [10.0, q0 + 9.0, 3.0], atol=1e-12)
    arm = motion(skel, q, v).X[node].point(np.array(skel.tree.description.point(("b3", "Q")).at))
    np.testing.assert_allclose(w[:3] - np.cross(arm, w[3:]), [0.0, 0.0, v1], atol=1e-10)
    body = d.Load("L", "b3", "Q", force=(1.0, 2.0, 3.0), axes="b3")
    skel, q, v = mechanism(loads=(body,))
    ((node, w),) = power(skel, q, v)[1]
    np.testing.assert_allclose(w[3:], motion(skel, q, v).X[node].R @ [1.0, 2.0, 3.0], atol=1e-12)


def test_forces_may_depend_on_every_channel_the_format_names():
    """Values a force sees equal those the channels of a state show."""
    import linkwright as lw

    s = lw.load("slider-crank-equal").system
    st = s.assemble(q={"A": 0.4}, v={"A": 2.0})
    at = Instant.moving(compiled_of(s).skel, s.motion(st), 0.7, st.references)
    assert at.channel("t") == 0.7
    names = ["A", "A.v", "C.slide", "C.slide.v", "C.angle", "C.angle.v", "crank.angle", "crank.angle.v", "rod.B.x", "rod.B.vy"]
    for name in names:
        assert float(at.channel(name)) == pytest.approx(float(st[name]), abs=1e-12), name
    for wrong in ("Z", "A.x", "rod.angel", "rod.B.q", "ground.nowhere.x"):
        with pytest.raises(lw.ModelError):
            at.channel(wrong)


def test_a_cylinder_is_driven_in_length_read_and_loaded():
    """A boom raised by a cylinder: its length is the law of cosines, its push balances the weight by virtual work."""
    import linkwright as lw

    boom = {
        "name": "boom", "plane": "xy", "gravity": [0, -9.81],
        "drawing": {"O": [0, 0], "P": [2.0, 0.5], "F": [0.5, -0.8], "Q": [1.0, 0.25]},
        "bodies": {
            "ground": {"pins": ["O"], "points": ["F"]},
            "boom": {"pins": ["O"], "points": ["P", "Q"], "mass": 100, "com": "P", "inertia": 5},
        },
        "cylinders": {"lift": {"between": ["ground.F", "boom.Q"]}},
        "drive": {"lift": "0.1 m/s"},
    }  # fmt: skip
    m = lw.load(boom)
    c = m.cycle(steps=40)
    a, b = np.hypot(0.5, 0.8), np.hypot(1.0, 0.25)
    between = np.arctan2(0.25, 1.0) - np.arctan2(-0.8, 0.5) + c["O"] - c["O"][0] + (float(c["O"][0]) - float(m.system.start["O"]))
    np.testing.assert_allclose(c["lift"], np.sqrt(a * a + b * b - 2 * a * b * np.cos(between)), atol=1e-9)
    np.testing.assert_allclose(c["lift.v"], 0.1, atol=1e-12)
    i = 20
    power_of_weight = -100 * 9.81 * c["boom.P.vy"][i]
    kinetic = c["boom.angle.v"][i] * c["boom.angle.a"][i] * (5 + 100 * (2.0**2 + 0.5**2))
    assert c["lift.force"][i] * 0.1 == pytest.approx(kinetic - power_of_weight, rel=1e-8)
    assert c["lift.power"][i] == pytest.approx(c["lift.force"][i] * 0.1, rel=1e-12)

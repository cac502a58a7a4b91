"""Couplings by polynomials and of several joints: against MuJoCo's matrices, closed forms, exact derivatives."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ModelError
from linkwright.model.file import read, write
from linkwright.model.file.reader import read_text
from tests import exports
from tests.mujoco_terms import mass_matrix

WHEELS = {
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [1, 0], "C": [2, 0]},
    "bodies": {
        "ground": {"pins": ["A", "B", "C"]},
        "a": {"pins": ["A"], "mass": 1.0, "com": [0.2, 0.1], "inertia": 0.3},
        "b": {"pins": ["B"], "mass": 2.0, "com": [1.1, 0.0], "inertia": 0.5},
        "c": {"pins": ["C"], "mass": 3.0, "com": [2.0, 0.3], "inertia": 0.7},
    },
}
SAME = """<mujoco><option gravity="0 -9.81 0"/><worldbody>
<body pos="0 0 0"><joint name="A" axis="0 0 1"/><inertial pos="0.2 0.1 0" mass="1" diaginertia="0.3 0.3 0.3"/></body>
<body pos="1 0 0"><joint name="B" axis="0 0 1"/><inertial pos="0.1 0 0" mass="2" diaginertia="0.5 0.5 0.5"/></body>
<body pos="2 0 0"><joint name="C" axis="0 0 1"/><inertial pos="0 0.3 0" mass="3" diaginertia="0.7 0.7 0.7"/></body></worldbody>
{more}</mujoco>"""


def coupled(**coupling):
    return lw.load({**WHEELS, "couplings": {"E": coupling}})


def hard(model: mujoco.MjModel, data: mujoco.MjData, bias: np.ndarray) -> np.ndarray:
    """Accelerations with MuJoCo's inertia, weight and row of the equality, held exactly; `bias` is the rate of that row times v."""
    M, J = mass_matrix(model, data), data.efc_J.reshape(-1, 3)
    K = np.block([[M, -J.T], [J, np.zeros((1, 1))]])
    return np.linalg.solve(K, np.concatenate([-data.qfrc_bias, -bias]))[:3]


def test_a_polynomial_is_the_joint_equality_of_mujoco():
    """q_B = 0.1 + 0.5 q_A - 0.3 q_A^2 + 0.2 q_A^3 + 0.05 q_A^4."""
    p = np.polynomial.Polynomial([0.1, 0.5, -0.3, 0.2, 0.05])
    s = lw.compile(coupled(**{"from": "A", "to": "B", "polynomial": p.coef.tolist()}))
    more = f'<equality><joint joint1="B" joint2="A" polycoef="{" ".join(map(str, p.coef))}"/></equality>'
    model = mujoco.MjModel.from_xml_string(SAME.format(more=more))
    data = mujoco.MjData(model)
    st = s.assemble({"A": 0.8, "C": 0.3}, {"A": 1.5, "C": -2.0})
    assert st["B"] == pytest.approx(p(0.8)) and st["B.v"] == pytest.approx(1.5 * p.deriv()(0.8))
    for i, n in enumerate("ABC"):
        data.qpos[i], data.qvel[i] = st[n], st[f"{n}.v"]
    mujoco.mj_forward(model, data)
    expected = hard(model, data, np.array([-p.deriv(2)(0.8) * 1.5**2]))
    found = s.forward(st)
    order = [s.tree.nodes[s.tree.node_of_joint[n]].v.start for n in "ABC"]
    np.testing.assert_allclose(found.a[order], expected, rtol=1e-9)
    tau = np.zeros(3)
    near = compiled_of(s).skel.pack(st.references)
    np.testing.assert_allclose(s.kernels.get("forward")(st.q, st.v, tau, near=near).a, found.a, rtol=1e-10)
    run = s.simulate(st, 0.5)
    np.testing.assert_allclose(run["B"], p(run["A"]), atol=1e-9)
    assert [x.name for x in run.checks() if not x] == ["loads"]  # the force in the mesh is not known
    back = exports.mjcf(lw.load({**WHEELS, "couplings": {"E": {"from": "A", "to": "B", "polynomial": p.coef.tolist()}}}))
    assert "polycoef" in back and mujoco.MjModel.from_xml_string(back).eq_data[0][4] == pytest.approx(0.05)


def test_a_differential_ties_three_joints():
    """q_C = 2 q_A - 0.5 q_B + 0.1: MuJoCo's equality of a fixed tendon has the same row."""
    s = lw.compile(coupled(**{"from": "A", "to": "C", "ratio": 2, "plus": {"B": -0.5}, "offset": 0.1}))
    fixed = '<tendon><fixed name="T"><joint joint="A" coef="2"/><joint joint="B" coef="-0.5"/><joint joint="C" coef="-1"/></fixed></tendon>'
    more = f'{fixed}<equality><tendon tendon1="T" polycoef="-0.1 0 0 0 0"/></equality>'
    model = mujoco.MjModel.from_xml_string(SAME.format(more=more))
    data = mujoco.MjData(model)
    st = s.assemble({"A": 0.8, "B": 0.3}, {"A": 1.5, "B": -2.0})
    assert st["C"] == pytest.approx(2 * 0.8 - 0.5 * 0.3 + 0.1) and st["C.v"] == pytest.approx(4.0)
    for i, n in enumerate("ABC"):
        data.qpos[i], data.qvel[i] = st[n], st[f"{n}.v"]
    mujoco.mj_forward(model, data)
    found = s.forward(st)
    order = [s.tree.nodes[s.tree.node_of_joint[n]].v.start for n in "ABC"]
    np.testing.assert_allclose(found.a[order], hard(model, data, np.zeros(1)), rtol=1e-9)
    run = s.simulate(st, 0.5)
    np.testing.assert_allclose(run["C"], 2 * run["A"] - 0.5 * run["B"] + 0.1, atol=1e-9)
    assert [x.name for x in run.checks() if not x] == ["loads"]  # the force in the mesh is not known
    drawn = lw.compile(coupled(**{"from": "A", "to": "C", "plus": {"B": 1.0}}))  # without an offset: as assembled
    free = drawn.assemble({"A": 0.2, "B": 0.1})
    start = drawn.start
    assert free["C"] - start["C"] == pytest.approx((free["A"] - start["A"]) + (free["B"] - start["B"]))


def test_efforts_of_a_differential_follow_the_factors():
    """Statics: a torque T on C is balanced by -2 T on A and 0.5 T on B."""
    s = lw.compile(lw.load({**WHEELS, "gravity": [0, 0], "couplings": {"E": {"from": "A", "to": "C", "ratio": 2, "plus": {"B": -0.5}}}}))
    tau = {"C": 3.0, "A": -6.0, "B": 1.5}
    np.testing.assert_allclose(s.forward(s.start, tau).a, 0.0, atol=1e-12)
    tied = s.forward(s.start, {"A": 1.0}).a
    order = {n: s.tree.nodes[s.tree.node_of_joint[n]].v.start for n in "ABC"}
    assert tied[order["C"]] == pytest.approx(2 * tied[order["A"]] - 0.5 * tied[order["B"]])


def test_a_massless_drum_drives_several_joints():
    """A torque of 5 N m at the drum, q_C = 2 q_A - 0.5 q_B, is 10 N m at A and -2.5 N m at B: MuJoCo's transmission by a fixed tendon."""
    bodies = {**WHEELS["bodies"], "c": {"pins": ["C"], "mass": 0}}
    cable = {"from": "A", "to": "C", "ratio": 2, "plus": {"B": -0.5}}
    drum = lw.load({**WHEELS, "bodies": bodies, "couplings": {"T": cable}, "drive": {"C": {"torque": 3.0, "gear_ratio": 2, "limits": 5}}})
    run = drum.simulate(0.3)
    fixed = '<tendon><fixed name="T"><joint joint="A" coef="2"/><joint joint="B" coef="-0.5"/></fixed></tendon>'
    model = mujoco.MjModel.from_xml_string(SAME.format(more=f'{fixed}<actuator><motor tendon="T" gear="2"/></actuator>'))
    data = mujoco.MjData(model)
    for i in (0, len(run) - 1):
        data.qpos[:2], data.qvel[:2], data.ctrl[0] = (run["A"][i], run["B"][i]), (run["A.v"][i], run["B.v"][i]), 2.5
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose([run["A.a"][i], run["B.a"][i]], data.qacc[:2], rtol=1e-6)


def test_they_are_written_as_they_were_read_and_wrong_ones_refused():
    for coupling in ({"from": "A", "to": "B", "polynomial": [0, 1, 0.5]}, {"from": "A", "to": "C", "ratio": 2, "plus": {"B": -0.5}},
                     {"from": "A", "to": "C", "polynomial": [0, 1], "plus": {"B": "k"}}):  # fmt: skip
        d = read({**WHEELS, "parameters": {"k": 0.3}, "couplings": {"E": coupling}})
        assert read_text(write(d)) == d
    for coupling, message in (({"polynomial": [1, 0]}, "would block joint 'B'"), ({"polynomial": [0, 1], "ratio": 2}, "Keep one"),
                              ({"plus": {"A": 1}}, "again"), ({"plus": {"X": 1}}, "no joint 'X'")):  # fmt: skip
        with pytest.raises(ModelError, match=message):
            coupled(**{"from": "A", "to": "B"}, **coupling)

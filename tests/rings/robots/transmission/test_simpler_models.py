"""Equivalent trees and polynomials of transmissions: against the full model, MuJoCo and closed forms."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.model import library
from linkwright.rings.exchange import LossWarning
from tests import exports
from tests.refusals import refused
from tests.system.test_named_terms import LEG

NAMES = {"motors": ["left", "right"], "joints": ["pitch", "roll"]}


@pytest.fixture(scope="module")
def t() -> lw.Transmission:
    return lw.load("ankle").system.transmission(**NAMES)


def inertia(model: mujoco.MjModel, q: np.ndarray) -> np.ndarray:
    """M of MuJoCo, armatures of joints and tendons included."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    columns = []
    for e in np.eye(model.nv):
        column = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, column, e)
        columns.append(column)
    return np.array(columns)


def test_the_tree_in_mujoco_has_the_inertia_of_the_full_model(t: lw.Transmission, tmp_path: Path) -> None:
    """At the start all of it, terms off the diagonal included; elsewhere what the tree says it leaves out."""
    with pytest.warns(LossWarning, match="stiffness of a stop"):
        lw.load("ankle").export(tmp_path / "tree.xml", **NAMES)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "tree.xml"))
    assert model.nv == 2 and model.neq == 0 and model.nu == 2
    whole = np.asarray(t.at(t.core.start).whole.M)
    np.testing.assert_allclose(inertia(model, np.zeros(2)), whole, atol=1e-12 * whole.max())
    assert abs(whole[0, 1]) > 1e-5
    tree, worst = t.tree(), 0.0
    for row in t.grid(60):
        there = np.asarray(t.at(joints=row).whole.M)
        s = 1.0 / np.sqrt(np.diag(there))
        worst = max(worst, float(np.abs(np.linalg.eigvalsh((inertia(model, row) - there) * s * s[:, None])).max()))
    assert 0.5 * tree.difference.inertia < worst <= tree.difference.inertia * 1.001  # the finer grid finds the larger one


def test_the_tree_of_our_own(t: lw.Transmission) -> None:
    """Bodies, drives and start; torques at the joints move it as the matrix says, but for its terms off the diagonal."""
    tree = t.tree()
    s = tree.system
    assert [b.name for b in s.description.moving] == ["cross", "foot"] and not s.tree.cuts
    assert [d.joint for d in s.description.drives] == ["pitch", "roll"] and not tree.lost
    assert set(tree.carriers.values()) == {"ground"}
    M = s.named_terms((), ["pitch", "roll"])(s.start).M
    np.testing.assert_allclose(np.diag(M), np.diag(t.at(t.core.start).whole.M), rtol=1e-12)
    single, sums = tree.rotors
    A = np.diag(list(single.values())) + sum(x.inertia * np.outer(list(x.weights.values()), list(x.weights.values())) for x in sums)
    np.testing.assert_allclose(A, tree.armature, atol=1e-17)
    assert min(single.values()) >= 0.0 and all(x.inertia > 0.0 for x in sums)


def test_the_tree_of_a_floating_leg_keeps_its_mass() -> None:
    """With the knee held the leg moves as before: inertia of base and hip, crank and rod included; the crank's share is at the knee."""
    leg = lw.load(LEG).system
    knee = leg.transmission("crank", "knee")
    tree = knee.tree()
    assert {tree.carriers[p] for p in knee.parts} == {"thigh"}
    x, y = leg.named_terms("com", "independent")(leg.start), tree.system.named_terms("com", "independent")(tree.system.start)
    rows = [n for n in x.by if n.startswith("base") or n == "hip"]
    by_knee = leg.named_terms((), [*rows, "knee"])(leg.start).M
    there = tree.system.named_terms((), [*rows, "knee"])(tree.system.start).M
    n = len(rows)
    np.testing.assert_allclose(there[:n, :n], by_knee[:n, :n], atol=1e-12)
    assert float(there[n, n]) == pytest.approx(float(by_knee[n, n]), rel=1e-12)
    np.testing.assert_allclose(x.com, y.com, atol=1e-12)


def test_urdf_and_sdf_say_that_they_have_the_diagonal_alone(tmp_path: Path) -> None:
    for file in ("tree.urdf", "tree.sdf"):
        with pytest.warns(LossWarning, match="terms off the diagonal of the armature matrix"):
            lw.load("ankle").export(tmp_path / file, **NAMES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = lw.load(tmp_path / file)
        assert {j.name for j in again.description.joints} >= {"pitch", "roll"} and not again.system.tree.cuts


def test_elements_at_the_parts_are_named(tmp_path: Path) -> None:
    """A damper in a motor is lost with it, one in a joint stays; components of one joint cannot have armatures of their own."""
    text = library.path("ankle").read_text(encoding="utf-8")
    damped = "dampers: {slow: {joint: left, coefficient: 0.1 N m s/rad}, soft: {joint: pitch, coefficient: 0.2 N m s/rad}}\n"
    (tmp_path / "damped.yaml").write_text(text + damped, encoding="utf-8")
    tree = lw.load(tmp_path / "damped.yaml").system.transmission(**NAMES).tree()
    assert tree.lost == ("slow",) and [x.name for x in tree.description.dampers] == ["soft"]
    with pytest.warns(LossWarning, match=r"slow \(it acts on parts of the transmission"):
        exports.mjcf(tree)
    jacks = lw.load(JACKS).system
    with refused(UsageError, name="U.angle1"):
        jacks.transmission(["l", "r"], ["U.angle1", "U.angle2"]).tree()


JACKS = {
    "name": "jacks", "units": ["mm", "kg", "deg"],
    "drawing": {"P": [0, 0, 0], "C1": [-60, 30, 200], "C2": [-60, -30, 200], "S1": [-50, 30, 0], "S2": [-50, -30, 0]},
    "bodies": {
        "ground": {"points": ["P", "C1", "C2"]},
        "foot": {"points": ["P", "S1", "S2"], "mass": 1.0, "com": "P", "inertia": ["1000 kg mm^2"] * 3},
    },
    "joints": {"U": {"type": "universal", "between": ["ground", "foot"], "at": "P", "axes": [[0, 1, 0], [1, 0, 0]]}},
    "cylinders": {"l": {"between": ["ground.C1", "foot.S1"]}, "r": {"between": ["ground.C2", "foot.S2"]}},
    "drive": {"l": "0 mm/s", "r": "0 mm/s"},
}  # fmt: skip


def test_polynomials_and_their_errors(t: lw.Transmission) -> None:
    """Errors as found at other positions than those of the fit; each degree lowers them."""
    random = np.random.default_rng(7)
    low, high = np.array(list(t.range.values())).T
    q = low + (high - low) * random.random((400, 2))
    m = np.asarray(t.to_motors(q))
    before = math.inf
    for degree in (2, 4, 6):
        p = t.polynomials(degree)
        off = np.abs(p.to_motors(q) - m).max(axis=0)
        assert (off <= np.array(list(p.to_motors.error.values())) * 1.05).all()
        assert max(p.to_motors.error.values()) < 0.3 * before
        before = max(p.to_motors.error.values())
        assert np.abs(p.to_joints(m) - q).max() <= max(p.to_joints.error.values()) * 1.05
    assert before < math.radians(0.002) and len(p.to_motors.terms()) == 28
    for tie, column in zip(t.polynomials().ties, m.T, strict=True):
        assert np.abs(tie(q) - column).max() <= tie.error * 1.05
        assert math.radians(0.5) < tie.error < math.radians(2.0)  # a sum of joints is not enough: the text says so
    assert re.search(r"left as MJCF ties it: off by at most 1\.\d+ deg", str(t.polynomials()))


def test_mujoco_ties_joints_as_the_polynomials_say(t: lw.Transmission) -> None:
    """Two hinges for the motors beside a pitching and rolling foot, tied by the text; its equations give the ties' values."""
    hinges = "".join(f'<body><joint name="{n}" axis="0 1 0"/><geom size=".01" mass=".1"/></body>' for n in ("left", "right"))
    foot = '<body><joint name="pitch" axis="0 1 0"/><joint name="roll" axis="1 0 0"/><geom size=".05"/></body>'
    p = t.polynomials()
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{hinges}{foot}</worldbody>{p.mjcf()}</mujoco>")
    data = mujoco.MjData(model)
    q = np.array([0.3, -0.2])
    data.qpos[:] = [*(tie(q) for tie in p.ties), *q]
    mujoco.mj_forward(model, data)
    assert model.neq == 2 and np.abs(data.efc_pos[:2]).max() < 1e-14
    data.qpos[0] += 0.01
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos[:2]).max() == pytest.approx(0.01)


def test_one_joint_is_mimicked() -> None:
    """A four-bar near its middle: MJCF's quartic and URDF's line, with the errors they have."""
    knee = lw.load("four-bar").system.transmission("A", "D", range={"D": (1.9, 2.3)})
    p = knee.polynomials()
    d = np.linspace(1.9, 2.3, 101)
    a = np.asarray(knee.to_motors(d[:, None]))[:, 0]
    coefficients = [float(x) for x in re.search(r'polycoef="([^"]*)"', p.mjcf())[1].split()]
    off = np.abs(np.polynomial.polynomial.polyval(d, coefficients) - a).max()
    assert off == pytest.approx(p.ties[0].error, rel=0.02)
    multiplier, offset = (float(re.search(rf'{key}="([^"]*)"', p.urdf())[1]) for key in ("multiplier", "offset"))
    line = np.abs(multiplier * d + offset - a).max()
    assert f"off by at most {line:.2g}"[:-1] in p.urdf() and line > 3.0 * off


def test_wrong_calls(t: lw.Transmission) -> None:
    with refused(UsageError, name="degree of polynomials", value=0):
        t.polynomials(0)
    with refused(UsageError, name="mimic"):
        t.polynomials().urdf()

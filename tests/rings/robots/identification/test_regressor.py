"""Regressors: torques of inverse dynamics, and Pinocchio's regressor on trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from linkwright.model.description import NO_INERTIA, Description, Drive, Friction, TorsionSpring
from linkwright.rings.exchange.writing.pinocchio import pinocchio_model
from linkwright.rings.robots.identification.base_parameters import base_parameters
from linkwright.rings.robots.identification.fit import sought_parameters
from linkwright.rings.robots.identification.regressor import Sought, regressor
from tests.factory import random_body, random_tree
from tests.rings.robots.identification.machines import followed, motion
from tests.sweeps import sweep


def random_masses(d: Description, seed: int) -> Description:
    rng = np.random.default_rng(seed)
    other = [random_body(rng, b.name, d.planar) for b in d.bodies]
    pairs = zip(d.bodies, other, strict=True)
    return replace(d, bodies=tuple(b if b.mass is None else replace(b, mass=x.mass, com=x.com, inertia=x.inertia) for b, x in pairs))


MACHINES = [(n, k) for n in ("stewart", "rssr", "3-rrr") for k in range(6)]


@sweep("machine", MACHINES, now=[("rssr", 1)])
def test_regressor_times_masses_are_the_torques(machine: tuple[str, int]) -> None:
    """Random masses, centers off the axes and full inertias: without springs and loads nothing may be left, to round-off."""
    name, seed = machine
    m = lw.Mechanism(random_masses(lw.load(name).description.numbers(), seed))
    c = followed(m, motion(m.system, seed, size=0.03), 15)
    r = regressor(m.system, c, sought_parameters(m.system, None, (), ()))
    assert np.abs(r.rest).max() < 1e-10 * np.abs(r.efforts(r.model)).max()


def test_friction_armature_and_springs() -> None:
    """Numbers of the model in columns of their own, springs in the rest: together the torques of inverse dynamics."""
    d = lw.load("five-bar").description
    elements = {"frictions": (Friction("f", "A", coulomb=0.3, viscous=0.2), Friction("g", "C", viscous=0.1, coulomb=0.05))}
    spring = TorsionSpring("s", "B", stiffness=2.0, free_position=0.4)
    joints = tuple(replace(j, armature=0.01) if j.name == "E" else j for j in d.joints)
    m = lw.Mechanism(replace(d, joints=joints, springs=(spring,), **elements))
    c = followed(m, motion(m.system), 25)
    kinds = ("coulomb", "viscous")
    r = regressor(m.system, c, Sought(("left", "left_rod", "right_rod", "right"), {"A": kinds, "C": kinds}, ("E",)))
    empty = tuple(replace(b, mass=0.0 if b.mass else b.mass, inertia=NO_INERTIA) for b in d.bodies)
    plain = lw.Mechanism(replace(d, bodies=empty, springs=(spring,)))
    held = followed(plain, motion(m.system), 25)
    np.testing.assert_allclose(r.rest, np.stack([held["A.torque"], held["E.torque"]], 1), atol=1e-12)


def arm(seed: int) -> Description:
    tree = random_tree(np.random.default_rng(seed), n=4, kinds=("revolute", "prismatic"), forward=True)
    d = tree.skel.tree.description
    return replace(d, drives=tuple(Drive(j.name, "undriven") for j in d.joints))


@pytest.mark.filterwarnings("ignore:Pinocchio:UserWarning")
@sweep("seed", range(8), now=1)
def test_pinocchio_spans_the_same_torques(seed: int) -> None:
    """Both regressors of a random arm have the same range: the parameters of their frames differ by a regular matrix."""
    m = lw.Mechanism(arm(seed))
    s = m.system
    c = followed(m, motion(s, seed, size=0.5), 30)
    r = regressor(s, c, Sought(tuple(b.name for b in s.description.moving), {}, ()))
    p = pinocchio_model(s)
    T = np.array([p.v(s.state(c.q[0], e)) for e in np.eye(s.tree.nv)]).T  # one number a joint: constant
    order = [s.names.v.index(name) for name in r.drives]
    rows = []
    for i in range(len(c)):
        W = pin.computeJointTorqueRegressor(p.model, p.model.createData(), p.q(c.state(i)), T @ c.v[i], T @ c.a[i])
        rows.append((T.T @ W)[order])
    ours, theirs = r.W.reshape(-1, r.W.shape[2]), np.array(rows).reshape(-1, rows[0].shape[1])
    assert base_parameters(ours, r.names).G.shape[0] == np.linalg.matrix_rank(theirs, tol=1e-8 * np.linalg.norm(theirs, 2))
    U, size, _ = np.linalg.svd(ours, full_matrices=False)
    U = U[:, size > 1e-9 * size[0]]
    assert np.abs(theirs - U @ (U.T @ theirs)).max() < 1e-9 * np.abs(theirs).max()


def test_cut_joint_has_the_rate_of_its_channel() -> None:
    m = lw.load("five-bar")
    c = followed(m, motion(m.system), 20)
    r = regressor(m.system, c, Sought((), {"C": ("viscous",), "B": ("viscous",)}, ()))
    for k, name in enumerate(("C", "B")):  # power lost = v^2 = sum of drive power
        power = np.einsum("nd,nd->n", r.W[:, :, k], np.stack([c["A.v"], c["E.v"]], 1))
        np.testing.assert_allclose(power, c[f"{name}.v"] ** 2, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_base_parameters_do_not_hang_on_the_last_digit(seed: int) -> None:
    """Columns of the same length (like links) are chosen in the order of the names, whichever way the data are rounded."""
    rng = np.random.default_rng(7)
    W = rng.normal(size=(60, 3)) @ np.array([[1.0, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, -1]])
    noise = 1e-13 * np.random.default_rng(seed).normal(size=W.shape)
    found = base_parameters(W + noise, ("a1", "b1", "c1", "a2", "b2", "c2"))
    assert sorted(found.chosen) == [0, 1, 2]
    rows = zip(found.chosen, found.G, strict=True)
    groups = {found.names[k]: {n: round(float(g), 6) for n, g in zip(found.names, row, strict=True) if g} for k, row in rows}
    assert groups == {"a1": {"a1": 1.0, "a2": 1.0}, "b1": {"b1": 1.0, "b2": 1.0}, "c1": {"c1": 1.0, "c2": -1.0}}

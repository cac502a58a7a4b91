"""Exact derivatives of forward dynamics against the complex step of the same equations, which is exact too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.kernels.equations.dynamic import Equations
from linkwright.kernels.kernels import Kernels
from linkwright.mechanics.dynamics.terms import along_world, terms, to_joint_axes
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import motion, qdot
from tests.kernels.mechanisms import apart, cut_coordinates, random_kernels, shipped
from tests.sweeps import sweep

STEP = 1e-30


def solved(eq: Equations, q: Any, v: Any, tau: Any, near: Any) -> np.ndarray:
    """(a, lam) by one dense solve of the saddle-point system, over complex numbers."""
    skel, loops = eq.loops.skel, replace(eq.loops, row_axes=eq.plan.axes)
    references = eq.loops.skel.unpack(q, near)
    m = motion(skel, q, v, world_axes=eq.plan.body_axes)
    pushes = [w for f in eq.forces for w in f.wrenches(Instant.moving(skel, m, 0.0, references))]
    T = terms(loops, q, v, 0.0, references, pushes, body_axes=m if eq.plan.body_axes else None)
    assert T.place is not None
    n = T.nv
    A = np.zeros((n + T.nc, n + T.nc), dtype=complex)
    A[:n, :n], A[:n, n:], A[n:, :n] = T.M, -T.J.T, T.J
    force = along_world(T.place, tau) if eq.plan.body_axes else tau
    z = np.linalg.solve(A, np.concatenate([force - T.h, -T.k]))
    return np.concatenate(to_joint_axes(T.place, z[:n], z[n:])) if eq.plan.body_axes else z


def complex_steps(kernels: Kernels, q: Any, v: Any, tau: Any, near: Any) -> dict[str, np.ndarray]:
    eq, nv = kernels.equations([p.value for p in kernels.parameters]), len(v)
    skel = eq.loops.skel
    i = 1j * STEP
    by = {
        "q": [solved(eq, q + i * qdot(skel, q, e), v + 0j, tau, near) for e in np.eye(nv)],
        "v": [solved(eq, q + 0j, v + i * e, tau, near) for e in np.eye(nv)],
        "tau": [solved(eq, q + 0j, v, tau + i * e, near) for e in np.eye(nv)],
    }
    if kernels.parameters:
        values = np.array([p.value for p in kernels.parameters])
        by["parameters"] = [solved(kernels.equations(values + i * e), q + 0j, v, tau, near) for e in np.eye(len(values))]
    return {name: np.array(columns).T.imag / STEP for name, columns in by.items()}


def check(kernels: Kernels, x: Any, tau: np.ndarray, allowed: float, engine: str = "python") -> None:
    """Interpreted unless told otherwise: machine code of large programs takes seconds to make, and is compared elsewhere."""
    near = cut_coordinates(kernels, x.references)
    kernels = replace(kernels, engine=engine, made={})
    found = kernels.get("derivatives")(x.q, x.v, tau, near=near)
    nv = len(x.v)
    for name, D in complex_steps(kernels, x.q, x.v, tau, near).items():
        assert apart(getattr(found, f"a_{name}"), D[:nv]) < allowed, name
        assert apart(getattr(found, f"lam_{name}"), D[nv:]) < allowed, name


# planar, redundant drives, slider, gears and springs, spatial with quaternions, massless subsystems
MODELS = ["carpet-scraper", "3-rrr", "slider-crank-equal", "boot-lid", "excavator", "stewart", "rssr-7r"]


@sweep("name", MODELS, now=["3-rrr", "boot-lid"])
def test_shipped_models(name: str) -> None:
    case = shipped(name)
    tau = np.random.default_rng(1).normal(size=case.system.tree.nv)
    check(case.system.kernels, case.states[1], tau, 1e-10, "native" if name in ("carpet-scraper", "slider-crank-equal") else "python")


@sweep("seed", [9, 8, 13, 14], now=1)
def test_random_mechanisms(seed: int) -> None:
    kernels, x, rng = random_kernels(seed)
    assert kernels.plan.keep is None, "these seeds have no redundant rows: with them the dense matrix would be singular"
    check(kernels, x, rng.normal(size=len(x.v)), 1e-9)


def test_free_parameters() -> None:
    s = lw.compile("wiper", parameters=["coupler.mass", "coupler.com.x", "crank.B.x"])
    st = s.assemble(q={"A": 0.4}, v={"A": 3.0})
    case = st.instant
    check(s.kernels, case, np.array([0.2, -0.1, 0.3]), 1e-10)
    d = s.derivatives(st, {"A": 0.2})
    assert d.a_parameters.shape == (3, 3) and d.lam_parameters.shape == (2, 3)


@pytest.mark.slow
def test_redundant_rows_are_differentiated_through_their_elimination() -> None:
    """Accelerations do not know which rows were kept; multipliers are compared with differences, to their accuracy."""
    s = lw.compile("parallelogram-middle")
    st = s.assemble(q={"A": 0.7}, v={"A": 2.0})
    tau = np.array([0.5, 0.0, 0.1, 0.0])
    d = s.derivatives(st, tau)
    k, h = s.kernel("forward"), 1e-6
    for i, e in enumerate(np.eye(4)):
        high, low = k(st.q, st.v, tau + h * e), k(st.q, st.v, tau - h * e)
        assert apart(d.a_tau[:, i], (high.a - low.a) / (2 * h)) < 1e-8
        assert apart(d.lam_tau[:, i], (high.lam - low.lam) / (2 * h)) < 1e-8


@pytest.mark.slow
def test_batches_and_states_agree() -> None:
    case = shipped("3-rrr")
    k = case.system.kernel("derivatives")
    Q, V = (np.array([getattr(x, n) for x in case.states]) for n in "qv")
    many = k(Q, V, np.ones(7))
    one = k(Q[1], V[1], np.ones(7))
    assert many.a_q.shape == (len(Q), 7, 7) and (many.a_q[1] == one.a_q).all() and (many.lam_v[1] == one.lam_v).all()

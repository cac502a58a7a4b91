"""Kernels in the drives' coordinates against differences, identities and the float path."""

from __future__ import annotations

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.system.dynamics import loads_on_floats
from tests.factory import stream
from tests.sweeps import every_model, sweep

MODELS = every_model("carpet-scraper", "excavator", without=("bennett",))


def moving(name):
    s = lw.compile(name)
    rng = stream(11, name)
    x = {d: float(rng.normal()) for d in compiled_of(s).drive_names}
    return s, s.assemble(v=x), np.array(list(x.values()))


@sweep("name", MODELS, now=["carpet-scraper"])
def test_the_basis_gives_the_velocity_and_all_twists(name):
    s, st, x = moving(name)
    found = s.kernel("jacobian")(st.q, near=compiled_of(s).skel.pack(st.references))
    np.testing.assert_allclose(found.v @ x, st.v, atol=1e-9 * (1.0 + np.abs(st.v).max()))
    assert np.abs(s.closure(st).J @ found.v).max() < 1e-9
    m = s.motion(st)
    for i, n in enumerate(s.tree.nodes):
        w, u = m.V[i][:3], m.V[i][3:] + np.cross(m.V[i][:3], m.X[i].p)
        np.testing.assert_allclose(found.twist[i] @ x, [*w, *u], atol=1e-8 * (1.0 + np.abs(m.V[i]).max()), err_msg=n.body)


@sweep("name", MODELS, now=["carpet-scraper"])
def test_the_rate_is_the_derivative_of_the_jacobian_along_the_motion(name):
    """Central differences of J along a walk with constant drive speeds: error h^2, at h = 1e-4 s below 1e-6 of the largest entry."""
    s, st, x = moving(name)
    h = 1e-4
    at = compiled_of(s).drive_positions(st)
    k = s.kernel("jacobian")
    sides = [s.assemble(dict(zip(compiled_of(s).drive_names, at + side * h * x, strict=True)), guess=st) for side in (1.0, -1.0)]
    J = [k(side.q, near=compiled_of(s).skel.pack(side.references)).twist @ x for side in sides]
    found = s.kernel("jacobian_rate")(st.q, st.v, near=compiled_of(s).skel.pack(st.references))
    difference = (J[0] - J[1]) / (2.0 * h)
    assert np.abs(found.rate - difference).max() < 1e-4 * (1.0 + np.abs(difference).max())


@sweep("name", MODELS, now=["carpet-scraper"])
def test_reduced_equations_give_the_efforts_of_inverse_dynamics(name):
    s, st, x = moving(name)
    rng = stream(5, name)
    a = {d: float(rng.normal()) for d in compiled_of(s).drive_names}
    r = s.kernel("reduced")(st.q, st.v, near=compiled_of(s).skel.pack(st.references))
    efforts = r.M @ np.array(list(a.values())) + r.h
    exact = loads_on_floats(compiled_of(s), st, a, None, None, "subsystem", {}).tau
    exact = np.array([exact[d] for d in a])
    np.testing.assert_allclose(efforts, exact, atol=1e-8 * (1.0 + np.abs(exact).max()))
    np.testing.assert_allclose(r.M, r.M.T, atol=1e-10 * np.abs(r.M).max())
    assert np.linalg.eigvalsh(r.M).min() > 0.0
    kinetic = 0.5 * x @ r.M @ x  # idle spins are at rest in the basis
    assert abs(kinetic - st["energy.kinetic"]) < 1e-9 * (1.0 + kinetic)


def test_batches_have_a_status_for_every_state():
    s = lw.compile("five-bar")
    k = s.kernel("reduced")
    q, v = np.tile(s.start.q, (3, 1)), np.zeros((3, len(s.start.v)))
    q[1] = np.nan
    found = k(q, v)
    assert found.ok.tolist() == [True, False, True] and 1 in found.why and np.isnan(found.M[1]).all()
    np.testing.assert_array_equal(found.M[0], found.M[2])


def test_names_of_rows():
    names = lw.compile("five-bar").kernel("jacobian").names
    assert names["twist"][:6] == [f"{names['R'][0]}.{row}" for row in ("wx", "wy", "wz", "vx", "vy", "vz")]

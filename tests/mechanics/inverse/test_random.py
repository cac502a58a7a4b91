"""Inverse and forward dynamics undo each other on random mechanisms, redundant and over-actuated ones included."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from linkwright.joints import JOINTS
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations.forward import forward
from linkwright.mechanics.inverse import METHODS, InverseProblem, Loads
from linkwright.mechanics.inverse.choice import choose
from linkwright.numerics.linalg import factor, pivoted_columns
from tests import shrinking
from tests.factory import Drawn, stream
from tests.mechanics.formulations.mechanisms import moving_mechanism
from tests.sweeps import sweep

SEEDS = range(60)  # the others by `make test-all`
MANY = range(60, 600)


def case(mech: Drawn, rng, extra=0):
    """Terms, and pushes on an independent set of the tree's coordinates (plus `extra` redundant ones)."""
    skel = mech.skel
    external = [(i, stream(0, "force", n.body).normal(size=6)) for i, n in enumerate(skel.tree.nodes)]
    T = terms(Loops.of(skel), mech.q, mech.v, 0.0, None, external)
    N = factor(T.dimensionless_J()).null
    chosen = pivoted_columns(N.T)
    others = [i for i in range(T.nv) if i not in chosen]
    chosen += list(rng.permutation(others)[:extra])
    place = T.place
    at = place
    where = {n.v.start + k: (n.joint, k) for n in skel.tree.nodes for k in range(n.v.stop - n.v.start)}
    pushes = tuple(tuple(forces.joint_effort(at, *_args(where[i]))) for i in chosen)
    names = tuple(_name(*where[i]) for i in chosen)
    return T, chosen, names, pushes


def _name(joint, k):
    part = JOINTS[joint.type].v_names[k]
    return f"{joint.name}.{part}" if part else joint.name


def _args(place):
    joint, k = place
    return joint, 1.0, k


def solve(T, a, names, pushes, method):
    p = InverseProblem(T, T.place, a, names, pushes)
    p.check_driven()
    solved = METHODS[method](p)
    c = choose(p, solved.lam, solved.u)
    return Loads(p, c.lam, c.u, c.self_stresses, solved, method)


def size(T):
    M = T.M * T.columns * T.columns[:, None]
    s = np.linalg.svd(T.dimensionless_J(), compute_uv=False)
    s = s[s > 1e-9]
    return max(1.0, 1e-5 * np.linalg.cond(M) * (s[0] / s[-1] if len(s) else 1.0))


def check_that_inverse_undoes_forward(mech: Drawn, seed: int):
    T, chosen, names, pushes = case(mech, np.random.default_rng(seed))
    u = np.concatenate([stream(seed, "effort", name).normal(size=1) for name in names]) if names else np.zeros(0)
    tau = np.zeros(T.nv)
    tau[chosen] = u
    acc = forward(T, tau, "kkt")
    method = ("system", "traditional")[seed % 2]
    loads = solve(T, acc.a, names, pushes, method)
    tolerance = 1e-8 * size(T) * (1.0 + np.abs(T.M @ acc.a).max())
    np.testing.assert_allclose(loads.u, u, atol=tolerance)
    assert loads.residual < 1e-10 * size(T)
    # and forward of inverse: the same accelerations again
    tau2 = np.zeros(T.nv)
    tau2[chosen] = loads.u
    np.testing.assert_allclose(forward(T, tau2, "kkt", rank=acc.rank).a, acc.a, atol=1e-7 * size(T) * (1.0 + np.abs(acc.a).max()))


@sweep("seed", SEEDS, now=[0, 1, 2, 3, 5, 8])
def test_inverse_of_forward_is_the_effort_that_was_put_in(seed):
    shrinking.holds(partial(check_that_inverse_undoes_forward, seed=seed), moving_mechanism(seed)[0])


@sweep("seed", SEEDS[::8], now=2)
def test_redundant_drives_take_the_least_effort_and_do_the_same_work(seed):
    check_redundant_drives(seed)


def check_redundant_drives(seed):
    mech, rng = moving_mechanism(seed)
    T, chosen, names, pushes = case(mech, rng, extra=2)
    if len(chosen) < 3:
        mech, rng = moving_mechanism(seed + 1)
        T, chosen, names, pushes = case(mech, rng, extra=2)
    tau = np.zeros(T.nv)
    tau[chosen] = rng.normal(size=len(chosen))
    acc = forward(T, tau, "kkt")
    loads = solve(T, acc.a, names, pushes, "system")
    u = np.zeros(T.nv)
    u[chosen] = loads.u
    units = T.columns[chosen]  # forces count times the characteristic length
    assert np.linalg.norm(units * loads.u) <= np.linalg.norm(units * tau[chosen]) * (1.0 + 1e-9)
    tolerance = 1e-7 * size(T) * (1.0 + np.abs(acc.a).max())
    np.testing.assert_allclose(forward(T, u, "kkt", rank=acc.rank).a, acc.a, atol=tolerance)
    v = T.place.v
    assert u @ v == pytest.approx(tau @ v, abs=1e-8 * size(T) * (1.0 + np.abs(tau).max() * np.abs(v).max()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_inverse_of_forward_on_many_more(seed):
    shrinking.holds(partial(check_that_inverse_undoes_forward, seed=seed), moving_mechanism(seed)[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [s for s in range(0, 200, 8) if s not in SEEDS])
def test_redundant_drives_on_many_more(seed):
    check_redundant_drives(seed)

"""All formulations on random closed-loop mechanisms: one answer, and it satisfies the laws of mechanics."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.reactions import every_joint_wrench, labeled
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations import FORMULATIONS
from linkwright.mechanics.formulations.forward import forward
from linkwright.mechanics.formulations.sslm import Sslm
from linkwright.mechanics.instant import Instant
from linkwright.numerics.linalg import factor
from tests import shrinking
from tests.factory import Drawn, stream
from tests.mechanics.formulations.mechanisms import moving_mechanism
from tests.sweeps import sweep

SEEDS = range(60)  # the others by `make test-all`
MANY = range(60, 600)


def variants():
    for name, make in FORMULATIONS.items():
        yield from ((f"{name} {label}", x) for label, x in make().variants().items())
    yield "sslm by recursion", Sslm(recursion=True)
    yield "auto", "auto"


def case(mech: Drawn):
    """Terms of a mechanism in its state, efforts and forces on every body: numbers of their own for each name."""
    nodes = mech.skel.tree.nodes
    external = [(i, stream(0, "force", n.body).normal(size=6)) for i, n in enumerate(nodes)]
    T = terms(Loops.of(mech.skel), mech.q, mech.v, 0.0, None, external)
    return T, np.concatenate([stream(0, "effort", n.joint.name).normal(size=n.v.stop - n.v.start) for n in nodes]), external


def conditioning(T):
    """How much round-off the hardest of the formulations may show: condition of M times that of J, squared for GICM."""
    M = T.M * T.columns * T.columns[:, None]
    s = np.linalg.svd(T.dimensionless_J(), compute_uv=False)
    s = s[s > 1e-9]
    return np.linalg.cond(M) * (s[0] / s[-1]) ** 2 if len(s) else np.linalg.cond(M)


def check_that_formulations_agree(mech: Drawn):
    T, tau, _ = case(mech)
    tolerance = 1e-8 * max(1.0, 1e-6 * conditioning(T))  # 1e-8, more only where the problem itself loses digits
    reference = forward(T, tau, "kkt")
    size = 1.0 + np.abs(reference.a / T.columns).max()
    residual = np.abs((T.J @ reference.a + T.k) / T.row_scale).max()
    assert residual < tolerance * size
    for name, formulation in variants():
        out = forward(T, tau, formulation, rank=reference.rank)  # counted once: by far the longest part
        assert np.abs((out.a - reference.a) / T.columns).max() < tolerance * size, name
        np.testing.assert_allclose(out.force, T.J.T @ out.lam, atol=tolerance * (1.0 + np.abs(out.force).max()), err_msg=name)
        np.testing.assert_allclose(out.lam, reference.lam, atol=tolerance * (1.0 + np.abs(reference.lam).max()), err_msg=name)


@sweep("seed", SEEDS, now=[0, 2, 3, 5, 8])
def test_every_formulation_gives_the_same_accelerations(seed):
    shrinking.holds(check_that_formulations_agree, moving_mechanism(seed)[0])


@sweep("seed", SEEDS[::4], now=[0, 8, 12])
def test_newton_and_euler_hold_for_every_body(seed):
    shrinking.holds(check_newton_and_euler, moving_mechanism(seed)[0])


def check_newton_and_euler(mech: Drawn):
    """Forces of all joints and rods on each body against m a and d(I w)/dt, and no effort in passive directions."""
    T, tau, external = case(mech)
    out = forward(T, tau)
    place = T.place
    skel = place.loops.skel
    x = Instant(skel, place.q, place.v, a=out.a)
    wrenches = every_joint_wrench(place, out.lam, out.a)
    joints = {j.name: j for j in (*skel.tree.description.joints, *(n.joint for n in skel.tree.nodes))}
    scale = 1.0 + max(np.abs(np.concatenate([w.moment, w.force])).max() for w in wrenches)
    for i, n in enumerate(skel.tree.nodes):
        com = place.motion.X[i].point(skel.com[i]) + skel.origins[i]
        force = skel.mass[i] * skel.gravity + external[i][1][3:]
        moment = external[i][1][:3] + np.cross(skel.origins[i] - com, external[i][1][3:])
        for w in wrenches:
            for body, sign in ((joints[w.joint].second, 1.0), (joints[w.joint].first, -1.0)):
                if body == n.body:
                    force = force + sign * w.force
                    moment = moment + sign * (w.moment + np.cross(w.point - com, w.force))
        for rod, rows in ((r, rows) for r, rows in zip(place.loops.constraints, T.rows, strict=True) if hasattr(r, "length")):
            ends = [x.point(skel.node(b), np.array(skel.tree.description.point((b, p)).at)) for b, p in rod.between]
            along = (ends[1] - ends[0]) / rod.length
            for (body, _), end, sign in zip(rod.between, ends, (-1.0, 1.0), strict=True):
                if body == n.body:
                    push = sign * out.lam[rows][0] * along
                    force, moment = force + push, moment + np.cross(end - com, push)
        R = place.motion.X[i].R
        I_W = R @ skel.inertia[i] @ R.T
        w_B, alpha = place.motion.V[i][:3], x.A[i][:3]
        acceleration = x.point_acceleration(i, skel.com[i])
        size = scale * (1.0 + np.abs(com).max())
        tolerance = 1e-9 * size * max(1.0, 1e-6 * conditioning(T))
        np.testing.assert_allclose(force, skel.mass[i] * acceleration, atol=tolerance)
        np.testing.assert_allclose(moment, I_W @ alpha + np.cross(w_B, I_W @ w_B), atol=tolerance)
        carried = next((w for w in wrenches if w.joint == n.joint.name), None)
        if carried is not None:
            sign = -1.0 if n.reversed else 1.0
            arm = carried.point - skel.origins[i]
            total = sign * np.concatenate([carried.moment + np.cross(arm, carried.force), carried.force])
            np.testing.assert_allclose(
                place.motion.S[i].T @ total, tau[n.v], atol=tolerance * (1.0 + np.abs(place.motion.S[i]).max(initial=0.0))
            )


@sweep("seed", SEEDS[::5], now=3)
def test_redundant_multipliers_are_marked_and_of_least_reactions(seed):
    check_redundant_multipliers(moving_mechanism(seed)[0], seed)


def check_redundant_multipliers(mech: Drawn, seed: int):
    """A doubled joint shares its load evenly with its twin, whichever formulation solved for it."""
    T, tau, _ = case(mech)
    out = forward(T, tau)
    assert out.redundant >= 1
    names = list(T.names)
    one, two = T.rows[names.index("C0")], T.rows[names.index("twin")]
    assert not out.unique[one].any() and not out.unique[two].any()
    F = {w.joint: w for w in every_joint_wrench(T.place, out.lam, out.a)}
    if np.abs(F["C0"].point - F["twin"].point).max() < 1e-9:
        # same place, written the other way round: equal shares, so equal and opposite wrenches on the two second bodies
        both = np.concatenate([F["C0"].force, F["C0"].moment])
        other = np.concatenate([F["twin"].force, F["twin"].moment])
        np.testing.assert_allclose(both, -other, atol=1e-7 * (1.0 + np.abs(both).max()))

    # no self-stress makes the sum of squares over all joints smaller
    def cost(lam):
        return float(np.sum(labeled(T.place, every_joint_wrench(T.place, lam, out.a), lam)[1] ** 2))

    f = factor(T.dimensionless_J())
    best = cost(out.lam)
    rng = np.random.default_rng(seed)
    for size in (1e-2, 1.0):
        z = f.left_null @ rng.normal(size=f.left_null.shape[1]) / T.row_scale
        z *= size * (1.0 + np.abs(out.lam).max()) / np.abs(z).max()
        assert cost(out.lam + z) > best and cost(out.lam - z) > best


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_every_formulation_gives_the_same_accelerations_on_many_more(seed):
    shrinking.holds(check_that_formulations_agree, moving_mechanism(seed)[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [s for s in range(0, 200, 4) if s not in SEEDS])
def test_newton_and_euler_hold_for_every_body_of_many_more(seed):
    shrinking.holds(check_newton_and_euler, moving_mechanism(seed)[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [s for s in range(0, 200, 5) if s not in SEEDS])
def test_redundant_multipliers_of_many_more(seed):
    check_redundant_multipliers(moving_mechanism(seed)[0], seed)

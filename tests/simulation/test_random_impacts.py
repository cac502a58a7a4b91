"""Impacts of random mechanisms: what takes hold conserves the momenta it does not touch, loses energy, and changes velocities least."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.closing.newton import consistent_velocity
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.kinematics.motion import motion, pose_of, skeleton
from linkwright.model import description as d
from linkwright.results.state import State
from linkwright.simulation.switching import Mode, jump
from linkwright.topology import build_tree
from tests import factory

EXACT = 1e-9  # shares of speeds and energies: solving the impact costs some digits of 1e-16 where rows are nearly dependent


def kinetic(loops, q, v):
    """Sum over the bodies, without the mass matrix."""
    return float(dynamics.kinetic_energy(loops.skel, motion(loops.skel, q, v)))


def loops_without(loops, off):
    return replace(loops, constraints=tuple(c for c in loops.constraints if c.name not in off))


def impact(loops, q, v, off, locks=()):
    """(velocity before, which respects all but the constraints that take hold; velocity after; loss; J of all that hold after)"""
    near = loops.skel.start_coordinates
    v = consistent_velocity(loops_without(loops, off), q, v, near)
    st = State(loops.skel, q, v, near, 0.0)
    mode = Mode({}, {name: float(st[name]) for name in locks}, ())
    after, loss = jump(loops, mode, st, {}, np.zeros(len(v)))
    rows = [np.eye(len(v))[loops.skel.tree.nodes[loops.skel.tree.node_of_joint[name]].v] for name in locks]
    return v, after.v, loss, np.concatenate([loops.at(q, v, 0.0, near).J, *rows])


def drawn(seed):
    """A random mechanism with a cut joint and two rods, in its drawn position: six bodies in the plane or in space."""
    rng = np.random.default_rng(seed)
    planar = bool(rng.random() < 0.5)
    kinds = ("revolute", "prismatic") if planar else ("revolute", "prismatic", "spherical", "universal", "cylindrical")
    tree = factory.random_tree(rng, 6, kinds, planar, chain=0.7)
    return rng, factory.with_loops(rng, tree, ["revolute" if planar else "spherical"], planar, rods=2)


def floating(seed):
    """Five bodies that nothing holds but their own joints and two rods between them."""
    rng = np.random.default_rng(seed)
    bodies = [d.Body("ground", ()), *(factory.random_body(rng, f"b{i}") for i in range(5))]
    joints = [d.Joint("base", "free", "ground", "b0")]
    for i in range(1, 5):
        frames = [factory.placement(*factory.random_pose(rng)) for _ in range(2)]
        kind = str(rng.choice(("revolute", "prismatic", "universal", "spherical")))
        joints.append(d.Joint(f"J{i}", kind, f"b{rng.integers(0, i)}", f"b{i}", frames[0], frames[1]))
    skel = skeleton(build_tree(d.Description("floating", tuple(bodies), tuple(joints), gravity=(0.0, 0.0, 0.0)), []))
    q = np.concatenate([factory.random_coordinates(rng, n.joint.type, n.joint.options) for n in skel.tree.nodes])
    tree = factory.drawn(skel, q, rng.normal(size=skel.tree.nv))
    desc, links = tree.skel.tree.description, []
    for i, (a, b) in enumerate((("b0", "b3"), ("b1", "b4"))):
        ends = [pose_of(desc.body(x).start).point(np.array(desc.body(x).point(p).at)) for x, p in ((a, "P"), (b, "Q"))]
        links.append(d.Rod(f"R{i}", ((a, "P"), (b, "Q")), float(np.linalg.norm(ends[1] - ends[0]))))
    return rng, factory.Drawn(skeleton(build_tree(replace(desc, rods=tuple(links)), [])), tree.q, tree.v)


def single(skel):
    """Joints with one coordinate: those that can be locked."""
    return [n.joint.name for n in skel.tree.nodes if n.v.stop - n.v.start == 1]


def check(loops, q, v, after, loss, J, rng):
    """Constraints hold; the loss is the kinetic energy that is missing; no other velocity the constraints allow is nearer, in the mass
    metric (Gauss); momenta along what they allow stay."""
    M = terms(loops, q, v, 0.0, loops.skel.start_coordinates).M
    size = float(np.sqrt(v @ M @ v))
    assert np.abs(J @ after).max(initial=0.0) < EXACT * max(1.0, np.abs(v).max()) * np.abs(J).max(initial=1.0)
    assert loss == pytest.approx(kinetic(loops, q, v) - kinetic(loops, q, after), abs=EXACT * size**2)
    assert loss >= 0.0
    _, sizes, rows = np.linalg.svd(J)
    allowed = rows[int((sizes > 1e-9 * sizes[0]).sum()) :]
    scale = np.sqrt(np.einsum("ij,jk,ik->i", allowed, M, allowed))
    assert np.abs(allowed @ M @ (after - v)).max(initial=0.0) < EXACT * size * scale.max(initial=1.0)
    change = after - v
    for w in rng.normal(size=(5, len(allowed))):
        far = change + allowed.T @ w
        assert far @ M @ far >= change @ M @ change - EXACT * size**2
    assert loss == pytest.approx(0.5 * change @ M @ change, abs=EXACT * size**2)  # Carnot: the energy of the lost velocity


@pytest.mark.parametrize("seed", range(30))
def test_what_takes_hold_obeys_gauss_and_carnot(seed):
    rng, mech = drawn(seed)
    loops = Loops.of(mech.skel)
    off = [("R0",), ("R0", "R1"), ("C0",), ("C0", "R1")][seed % 4]
    locks = list(rng.permutation(single(mech.skel))[: seed % 3])
    v, after, loss, J = impact(loops, mech.q, mech.v, off, locks)
    check(loops, mech.q, v, after, loss, J, rng)


@pytest.mark.parametrize("seed", range(15))
def test_momentum_of_a_floating_mechanism_stays(seed):
    """Its first joint is free, so the first six rows of M v are the momentum and the spin of the whole: an inner impact keeps them."""
    rng, mech = floating(seed)
    loops = Loops.of(mech.skel)
    locks = list(rng.permutation(single(mech.skel))[: seed % 2])
    v, after, loss, J = impact(loops, mech.q, mech.v, ("R0",) if seed % 3 else ("R0", "R1"), locks)
    check(loops, mech.q, v, after, loss, J, rng)
    M = terms(loops, mech.q, v, 0.0, mech.skel.start_coordinates).M
    first = mech.skel.tree.nodes[mech.skel.tree.node_of_joint["base"]].v
    assert first.stop - first.start == 6 and loss > 0.0
    np.testing.assert_allclose((M @ after)[first], (M @ v)[first], atol=EXACT * np.abs(M @ v).max())


def test_letting_go_changes_nothing():
    rng, mech = drawn(3)
    loops = Loops.of(mech.skel)
    near = mech.skel.start_coordinates
    v = consistent_velocity(loops, mech.q, mech.v, near)
    after, loss = jump(loops, Mode({}, {}, ("R0", "C0")), State(mech.skel, mech.q, v, near, 0.0), {}, np.zeros(len(v)))
    np.testing.assert_allclose(after.v, v, atol=1e-12 * np.abs(v).max())
    assert loss == 0.0 and rng is not None


def run_of(seed):
    """A random chain on a rod that breaks, with a joint that locks and opens again: the System, its start and the events."""
    rng = np.random.default_rng(100 + seed)
    tree = factory.random_tree(rng, 4, ("revolute",), True, chain=1.0)
    mech = factory.with_loops(rng, tree, [], True, rods=1)
    s = lw.compile(mech.skel.tree.description)
    v = consistent_velocity(s.loops, mech.q, mech.v, mech.skel.start_coordinates)
    lock = s.names.v[int(np.argmax(np.abs(v)))]  # one that moves: the rod may hold others already
    events = [lw.when("t", 0.05, do=lw.lock(lock)), lw.when("t", 0.11, do=lw.unlock(lock)), lw.when("t", 0.16, do=lw.release("R0"))]
    return s, s.state(mech.q, v), lock, events


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 25))])
def test_energy_of_runs_with_impacts_balances(seed):
    """E(t) - E(0) is minus the losses, at every sample; a locked joint rests; energy is lost by locks alone. 1e-9 per step."""
    s, st, lock, events = run_of(seed)
    run = s.simulate(st, 0.22, events=events, output=0.005)
    assert [e.values["did"] for e in run.events] == [f"lock {lock}", f"unlock {lock}", "release R0"]
    losses = [e.values["energy lost"] for e in run.events]
    assert losses[0] >= 0.0 and losses[1:] == [0.0, 0.0]
    E = run["energy.total"]
    lost = np.where(run.t > 0.05, losses[0], 0.0)
    turned_over = run["energy.kinetic"].max() + np.ptp(run["energy.potential"])
    assert np.abs(E - E[0] + lost).max() < 1e-6 * turned_over
    held = (run.t > 0.05) & (run.t < 0.11)
    assert np.abs(run[f"{lock}.v"][held]).max() < 1e-9 * np.abs(run.v).max() and np.ptp(run[lock][held]) < 1e-10
    assert run.certificate.impact_losses == pytest.approx(sum(losses)) and run.certificate.checks()["energy balanced"]

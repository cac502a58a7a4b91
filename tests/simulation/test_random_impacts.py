"""Impacts of random mechanisms: what takes hold conserves the momenta it does not touch, loses energy, and changes velocities least."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import count as count_up
from itertools import islice

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.closing.newton import consistent_velocity
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.kinematics.motion import motion, pose_of, skeleton
from linkwright.model import description as d
from linkwright.results.state import State
from linkwright.simulation.events import RunMode, jump
from linkwright.topology import build_tree
from tests import factory
from tests.sweeps import sweep

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
    mode = RunMode({}, {name: float(st[name]) for name in locks}, ())
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


@sweep("seed", range(30), now=10)
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


def hinge_that_moves(loops, q, v, near):
    """(name, entry in v) of the joint with one coordinate that the loops leave most free; None if they hold all."""
    free = null_space(loops.at(q, v, 0.0, near).J, 1e-9)
    tree = loops.skel.tree
    columns = {name: tree.nodes[tree.node_of_joint[name]].v.start for name in single(loops.skel)}
    name = max(columns, key=lambda x: np.abs(free[columns[x]]).max(initial=0.0), default=None)
    return None if name is None or np.abs(free[columns[name]]).max(initial=0.0) < 1e-6 else (name, columns[name])


@cache
def movable(count):
    """Seeds of the first mechanisms in which such a joint can move."""

    def moves(seed):
        _, mech = drawn(seed)
        near = mech.skel.start_coordinates
        return hinge_that_moves(Loops.of(mech.skel), mech.q, mech.v, near) is not None

    return list(islice(filter(moves, count_up()), count))


@pytest.mark.parametrize("n", range(11))
def test_rotors_and_prescribed_speeds_take_part(n):
    """A joint is taken to a given speed by a drive: momenta along what loops and drive allow stay, with the rotors' inertias in them."""
    rng, mech = drawn(movable(11)[n])
    loops, near = Loops.of(mech.skel), mech.skel.start_coordinates
    v = consistent_velocity(loops, mech.q, mech.v, near)
    st, armature = State(mech.skel, mech.q, v, near, 0.0), rng.uniform(0.1, 2.0, len(v))
    J = loops.at(mech.q, v, 0.0, near).J
    joint, column = hinge_that_moves(loops, mech.q, v, near)
    speed = float(v[column] + rng.normal())
    after, loss = jump(loops, RunMode({}, {}, ()), st, {joint: (float(st[joint]), speed, 0.0)}, armature)
    size = max(1.0, np.abs(v).max(), np.abs(after.v).max())
    assert after.v[column] == pytest.approx(speed, abs=EXACT * size)
    assert np.abs(J @ after.v).max(initial=0.0) < EXACT * size * np.abs(J).max(initial=1.0)
    M = terms(loops, mech.q, v, 0.0, near).M + np.diag(armature)
    allowed = null_space(np.concatenate([J, np.eye(len(v))[[column]]]), 1e-9)
    assert np.abs(allowed.T @ M @ (after.v - v)).max(initial=0.0) < EXACT * size * np.abs(M).max()
    kinetic_energies = [kinetic(loops, mech.q, x) + 0.5 * armature @ x**2 for x in (v, after.v)]
    assert loss == pytest.approx(kinetic_energies[0] - kinetic_energies[1], abs=EXACT * max(kinetic_energies))


def null_space(J, share):
    """Columns that J sends to nothing."""
    _, sizes, rows = np.linalg.svd(J)
    return rows[int((sizes > share * sizes[0]).sum()) :].T


def test_letting_go_changes_nothing():
    rng, mech = drawn(3)
    loops = Loops.of(mech.skel)
    near = mech.skel.start_coordinates
    v = consistent_velocity(loops, mech.q, mech.v, near)
    after, loss = jump(loops, RunMode({}, {}, ("R0", "C0")), State(mech.skel, mech.q, v, near, 0.0), {}, np.zeros(len(v)))
    np.testing.assert_allclose(after.v, v, atol=1e-12 * np.abs(v).max())
    assert loss == 0.0 and rng is not None


def chain_of(seed):
    """A random chain in the plane with a rod, in a state in which everything moves."""
    rng = np.random.default_rng(100 + seed)
    tree = factory.random_tree(rng, 4, ("revolute",), True, chain=1.0)
    return factory.with_loops(rng, tree, [], True, rods=1)


def rod_length(run, rod):
    """Of every sample, by the points it joins."""
    ends = [np.stack([run[f"{body}.{point}.x"], run[f"{body}.{point}.y"]]) for body, point in rod.between]
    return np.linalg.norm(ends[1] - ends[0], axis=0)


def run_of(seed):
    """A random chain on a rod that breaks, with a joint that locks and opens again: the System, its start and the events."""
    mech = chain_of(seed)
    s = lw.compile(mech.skel.tree.description)
    v = consistent_velocity(compiled_of(s).loops, mech.q, mech.v, mech.skel.start_coordinates)
    lock = s.names.v[int(np.argmax(np.abs(v)))]  # one that moves: the rod may hold others already
    events = [
        lw.events.when("t", 0.05, do=lw.events.lock(lock)),
        lw.events.when("t", 0.11, do=lw.events.unlock(lock)),
        lw.events.when("t", 0.16, do=lw.events.release("R0")),
    ]
    return s, s.state(mech.q, v), lock, events


@sweep("seed", range(25), now=1)
def test_energy_of_runs_with_impacts_balances(seed):
    """E(t) - E(0) is minus the losses, at every sample; a locked joint rests; energy is lost by locks alone. 1e-9 per step."""
    s, st, lock, events = run_of(seed)
    run = s.simulate(st, 0.22, events=events, sample_interval=0.005)
    assert [e.values["did"] for e in run.events] == [f"lock {lock}", f"unlock {lock}", "release R0"]
    losses = [e.values["energy lost"] for e in run.events]
    assert losses[0] >= 0.0 and losses[1:] == [0.0, 0.0]
    E = run["energy.total"]
    lost = np.where(run.t > 0.05, losses[0], 0.0)
    turned_over = run["energy.kinetic"].max() + np.ptp(run["energy.potential"])
    assert np.abs(E - E[0] + lost).max() < 1e-6 * turned_over
    held = (run.t > 0.05) & (run.t < 0.11)
    assert np.abs(run[f"{lock}.v"][held]).max() < 1e-9 * np.abs(run.v).max() and np.ptp(run[lock][held]) < 1e-10
    assert run.certificate.impact_losses == pytest.approx(sum(losses)) and run.certificate.checks()["energy"]
    free, apart = run.t > 0.11, rod_length(run, s.description.rods[0])
    assert np.ptp(run[lock][free]) > 1e-6, "an unlocked joint moves"
    assert np.ptp(apart[run.t < 0.16]) < 1e-10 and np.ptp(apart[run.t > 0.16]) > 1e-6, "a rod holds until it is released"


@sweep("seed", range(25), now=1)
def test_energy_of_runs_in_which_a_rod_engages_balances(seed):
    """A rod without effect gets the length that its ends have at 0.06 s and engages there; a joint locks before that and after the rod
    was released, both times without feeling it. Energy is lost by what takes hold, and by nothing else."""
    mech = chain_of(seed)
    d0, lock = mech.skel.tree.description, mech.skel.tree.nodes[-1].joint.name
    actions = (lw.events.lock(lock), lw.events.unlock(lock), lw.events.engage("R0"), lw.events.release("R0"), lw.events.lock(lock))
    events = [lw.events.when("t", at, do=do) for at, do in zip((0.02, 0.03, 0.06, 0.12, 0.14), actions, strict=True)]
    s = lw.compile(d0)
    first = s.simulate(s.state(mech.q, mech.v), 0.06, off=["R0"], events=events[:2], sample_interval=[0.06])
    rod = replace(d0.rods[0], length=float(rod_length(first, d0.rods[0])[-1]))
    s = lw.compile(replace(d0, rods=(rod,)))
    run = s.simulate(s.state(mech.q, mech.v), 0.18, off=["R0"], events=events, sample_interval=0.002)
    assert [e.values["did"] for e in run.events] == [f"lock {lock}", f"unlock {lock}", "engage R0", "release R0", f"lock {lock}"]
    losses = [e.values["energy lost"] for e in run.events]
    assert min(losses) >= 0.0 and losses[1] == losses[3] == 0.0 and losses[2] > 0.0 and losses[4] > 0.0
    E, t = run["energy.total"], run.t
    lost = sum(np.where(t > e.time, loss, 0.0) for e, loss in zip(run.events, losses, strict=True))
    turned_over = run["energy.kinetic"].max() + np.ptp(run["energy.potential"])
    assert np.abs(E - E[0] + lost).max() < 1e-6 * turned_over
    apart, held = rod_length(run, rod), (t > 0.06) & (t < 0.12)
    assert np.abs(apart[held] - rod.length).max() < 1e-10 and min(np.ptp(apart[t < 0.06]), np.ptp(apart[t > 0.12])) > 1e-6
    assert np.abs(run[f"{lock}.v"][t > 0.14]).max() < 1e-9 * np.abs(run.v).max() and run.certificate.checks()["energy"]

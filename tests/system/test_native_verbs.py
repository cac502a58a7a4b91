"""Verbs at one state, answered by kernels, against the float path: all built-in models and random states on their loops."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.model.description import TorsionSpring
from linkwright.results.state import LaterReferences, State
from linkwright.results.state_loads import KernelLoads
from linkwright.system import dynamics
from linkwright.system.dynamics import loads_on_floats
from linkwright.system.mechanism import mechanism_of
from tests.ball_rods import ankle, hinged
from tests.factory import stream
from tests.sweeps import every_model, sweep

ROUND = 1e-11  # relative, of well-conditioned states: the two eliminate in different orders
MODELS = every_model("carpet-scraper", "excavator", "bennett")


def moving(s, name):
    rng = stream(7, name)
    try:
        return s.assemble(v={d: float(rng.normal()) for d in compiled_of(s).drive_names}), rng
    except lw.LinkwrightError:
        return s.start, rng


def close(mine, theirs, tolerance=ROUND):
    mine, theirs = np.asarray(mine, dtype=float), np.asarray(theirs, dtype=float)
    assert np.abs(mine - theirs).max(initial=0.0) <= tolerance * (1.0 + np.abs(theirs).max(initial=0.0))


@sweep("name", MODELS, now=["carpet-scraper"])
def test_forward_from_the_kernel_is_forward_on_floats(name):
    s = lw.compile(name)
    st, rng = moving(s, name)
    tau = rng.normal(size=len(st.v))
    for _ in range(3):
        found = s.forward(st, tau)
    on_floats = lw.compile(name, engine="python")
    exact = on_floats.forward(st, tau, formulation="kkt").solution
    close(found.a, exact.a, 1e-9)
    close(np.concatenate(list(found.lam.values()) or [np.zeros(0)]), exact.lam, 1e-8)
    assert set(found.lam) == {loop.name for loop in s.tree.loops}
    assert found.rank == exact.rank and found.redundant == exact.redundant
    joint = s.description.joints[0].name
    close(found[joint], on_floats.forward(st, tau, formulation="kkt")[joint], 1e-9)


def test_massless_parts_of_ball_joints_leave_forward_and_steps_in_code(monkeypatch):
    """The order of elimination is chosen in the rows that are eliminated, so that its pivots are healthy there."""
    s = lw.load(hinged(ankle(stream(1, "massless")), 0.0)).system
    rng, exact = stream(2, "massless"), []
    for _ in range(3):
        place, speed = ({name: float(rng.normal(scale=size)) for name in compiled_of(s).drive_names} for size in (0.1, 1.0))
        st = s.assemble(place, speed)
        exact.append((st, s.forward(st, formulation="kkt").a))
        s.forward(st)
    monkeypatch.setattr(dynamics, "solved_forward", None)  # the float path
    for st, a in exact:
        close(s.forward(st).a, a, 1e-8)
    env = s.stepper(1)
    env.step()
    assert list(env.status) == ["ok"]


@pytest.mark.parametrize("name", MODELS)
def test_terms_from_the_kernel_are_those_on_floats(name):
    s = lw.compile(name)
    st, _ = moving(s, name)
    for _ in range(3):
        found = s.terms(st)
    exact = lw.compile(name, engine="python").terms(st)
    assert "motion" in vars(exact.place) and "motion" not in vars(found.place)  # nothing was computed on floats
    for key in ("M", "h", "J", "k"):
        close(getattr(found, key), getattr(exact, key))
    assert found.rows == exact.rows and found.order == exact.order and set(found.blocks) == set(exact.blocks)
    for mine, theirs in zip(found.place.external, exact.place.external, strict=True):
        assert mine[0] == theirs[0]
        close(mine[1], theirs[1])
    again = pickle.loads(pickle.dumps(found))
    close(again.M, exact.M)
    assert len(again.place.external) == len(exact.place.external)


@sweep("name", ["boot-lid", "3-rrr"], now=1)
def test_settled_by_kernels_is_settled_on_floats(name):
    slow, s = (lw.compile(name, engine=engine) for engine in ("python", "native"))
    for hold in ((), (compiled_of(s).drive_names[0],)):
        there = mechanism_of(s).settle(hold=hold)
        # the square root of what a force at round-off leaves is no worse than 1e-8
        close(there.q, mechanism_of(slow).settle(hold=hold).q, 1e-8)
        assert np.abs(s.closure(there).phi).max() < 1e-10


@sweep("name", MODELS, now=["carpet-scraper"])
def test_loads_from_the_kernel_are_those_on_floats(name):
    s = lw.compile(name)
    st, rng = moving(s, name)
    a = {d: float(rng.normal()) for d in compiled_of(s).drive_names}
    for _ in range(3):
        found = s.inverse(st, a)
    exact = loads_on_floats(compiled_of(s), st, a, None, None, "subsystem", {})
    size = max(np.abs(w.force).max() for w in exact.wrench.values())
    close(list(found.tau.values()), list(exact.tau.values()), 1e-9)
    assert found.tau.keys() == exact.tau.keys() and found.tau_unique == exact.tau_unique
    for joint, w in exact.wrench.items():
        mine = found.wrench[joint]
        assert np.abs(mine.force - w.force).max() <= 1e-9 * size and np.abs(mine.moment - w.moment).max() <= 1e-9 * size
        close(mine.at, w.at)
        assert mine.unique == w.unique and mine.on == w.on
    body = s.description.bodies[-1].name
    joint = next(j for j in s.description.joints if body in (j.first, j.second))
    close(found.reaction(joint.name, body, body).force, exact.reaction(joint.name, body, body).force, 1e-9)
    assert found.residual < 1e-9
    close(found.shaking()[0], exact.shaking()[0], 1e-9)


@pytest.mark.parametrize(("name", "drives", "a"), [("carpet-scraper", ["J2"], {"J2": 0.7}), ("five-bar", ["A", "B"], {"B": "40 deg/s^2"})])
def test_loads_by_other_drives_come_from_a_kernel_of_theirs(name, drives, a):
    s = lw.compile(name)
    st, _ = moving(s, name)
    for _ in range(2):
        found = s.inverse(st, a, drives=drives)
    exact = loads_on_floats(compiled_of(s), st, a, None, drives, "subsystem", {})
    assert isinstance(found, KernelLoads) and list(found.tau) == list(exact.tau) == drives
    close(list(found.tau.values()), list(exact.tau.values()), 1e-9)
    joint = s.description.joints[-1]
    close(found.on(joint.name, joint.second).force, exact.on(joint.name, joint.second).force, 1e-9)
    own = [s.inverse(st, drives=compiled_of(s).drive_names) for _ in range(2)][-1]
    assert isinstance(own, KernelLoads) and own.tau == s.inverse(st).tau


def test_loads_of_a_redundant_mechanism_are_solved_on_floats():
    s = lw.compile("bennett")
    assert not any(isinstance(s.inverse(s.start), KernelLoads) for _ in range(3))
    s = lw.compile("five-bar")
    assert [isinstance(s.inverse(s.start), KernelLoads) for _ in range(3)][-1]


@sweep("name", MODELS, now=["bennett", "carpet-scraper"])
def test_jacobian_from_the_kernel_is_the_one_on_floats(name):
    s = lw.compile(name)
    st, _ = moving(s, name)
    points = [f"{b.name}.{p.name}" for b in s.description.bodies for p in b.points][:4]
    for of in [*(b.name for b in s.description.bodies[1:]), *points]:
        for _ in range(2):
            found = s.jacobian(st, of)
        exact = compiled_of(s).assembler.jacobian(st, of, compiled_of(s).drive_names)
        assert found.shape == exact.shape
        close(found, exact, 1e-9)


@sweep("name", MODELS, now=["bennett", "carpet-scraper"])
def test_assemble_walks_to_the_position_found_on_floats(name):
    s = lw.compile(name)
    rng, drives = stream(3, name), compiled_of(s).drive_names
    at = compiled_of(s).drive_positions(s.start)
    q = {d: float(x + 0.02 * rng.normal()) for d, x in zip(drives, at, strict=True)}
    v = {d: float(rng.normal()) for d in drives}
    exact = compiled_of(s).assembler.assemble(q, v)
    for _ in range(3):
        found = s.assemble(q, v)
    tolerance = 1e-5 if s.mobility.idle else 1e-10  # a rod that spins idly may arrive turned by a little
    close(found.q, exact.q, tolerance)
    close(found.v, exact.v, tolerance)
    for joint in exact.references:
        close(found.references[joint], exact.references[joint], tolerance)


def test_a_state_counts_its_cut_joints_when_they_are_read():
    s = lw.compile("carpet-scraper")
    q = s.start.q
    st = s.state(q)
    assert isinstance(st.references, LaterReferences) and "found" not in vars(st.references)
    for joint, x in s.start.references.items():
        close(st.references[joint], x)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.state(np.zeros(3)), "q has shape (3,)"),
        (lambda s: s.state(np.full(len(s.start.q), np.nan)), "not finite numbers: "),
        (lambda s: s.state(s.start.q, np.full(len(s.start.v), np.inf)), "v needs "),
        (lambda s: s.state(s.start.q, [1.0]), "v needs "),
        (lambda s: s.forward(s.start, np.zeros(2)), "tau needs "),
        (lambda s: s.forward(s.start, np.full(len(s.start.v), np.nan)), "tau needs "),
        (lambda s: s.forward(s.state(s.start.q + 0.1)), "are open by"),
        (lambda s: s.inverse(s.state(s.start.q + 0.1)), "are open by"),
        (lambda s: s.forward(s.start, {"nowhere": 1.0}), "nowhere"),
        (lambda s: s.inverse(s.start, {"nowhere": 1.0}), "nowhere"),
        (lambda s: s.jacobian(s.start, "nowhere"), "nowhere"),
        (lambda s: s.assemble({"crank": "much"}), "crank"),
    ],
)
def test_fast_paths_refuse_by_name(call, words):
    s = lw.compile("carpet-scraper")
    for _ in range(3):  # before and after code is there
        with pytest.raises((UsageError, lw.LinkwrightError), match=None) as refusal:
            call(s)
        assert words in str(refusal.value)
    s.forward(s.start), s.inverse(s.start)


def test_a_singular_state_is_answered_by_the_rank_revealing_path():
    s = lw.compile("change-point-four-bar")
    c = lw.load("change-point-four-bar").cycle()
    i = int(np.flatnonzero(c.near_singular)[0])
    st = s.state(c.q[i], c.v[i])
    for _ in range(3):
        found = s.forward(st)
    close(found.a, s.forward(st, formulation="kkt").a, 1e-6)


def test_whole_turns_of_a_cut_joint_reach_the_kernel():
    """A torsion spring in the cut joint of a four-bar: after a turn of its crank the spring is wound up by 2 pi."""
    d = lw.load("four-bar").description
    s0 = lw.compile("four-bar")
    cut = s0.tree.cuts[0]
    spring = TorsionSpring("wound", cut, 2.0)
    s = lw.compile(replace(d, springs=(spring,)), cuts=list(s0.tree.cuts))
    for _ in range(3):
        s.forward(s.start)
    assert "near" in compiled_of(s).ready("accelerations").reads
    wound = {**s.start.references, cut: s.start.references[cut] + 2.0 * np.pi}
    st = State(compiled_of(s).skel, s.start.q, s.start.v, wound)
    found, exact = s.forward(st), s.forward(st, formulation="kkt")
    close(found.a, exact.a, 1e-9)
    assert np.abs(found.a - s.forward(s.start).a).max() > 0.1  # the spring pushes harder
    close(list(s.inverse(st).tau.values()), list(loads_on_floats(compiled_of(s), st, None, None, None, "subsystem", {}).tau.values()), 1e-9)


def test_external_loads_reach_ground_in_loads_of_a_kernel():
    """Of a press the sheet's force acts on the ram from outside: it is part of the shaking force."""
    m = lw.load("punch-press")
    c = m.cycle(steps=24)
    found = m.system.inverse(c.state(4))
    assert isinstance(found, KernelLoads)
    close(found.ground_wrench[0][:2], c["shaking.force"][4], 1e-9)
    assert found.ground_wrench[0][1] > 1e4  # without the sheet it is the weight alone


def test_armatures_take_their_part_in_the_balance_of_forces():
    s = lw.compile("ankle")
    st, rng = moving(s, "ankle")
    assert any(compiled_of(s).skel.armature) and s.inverse(st, {d: float(rng.normal()) for d in compiled_of(s).drive_names}).residual < 1e-9


def test_forward_is_answered_by_its_kernel_from_the_first_call_on(monkeypatch):
    s = lw.compile("carpet-scraper")
    st = s.start
    monkeypatch.setattr(dynamics, "solved_forward", lambda *_, **__: pytest.fail("answered on floats"))
    assert np.isfinite(s.forward(st).a).all()


@pytest.mark.parametrize("formulation", ["auto", "sslm"])
def test_forward_refuses_velocities_that_tear_the_loops_apart(formulation):
    """By the kernel and on floats: accelerations of such a state belong to no motion."""
    s = lw.compile("five-bar")
    st = s.state(s.start.q, np.eye(len(s.names.v))[0])
    assert np.isfinite(s.forward(s.start, formulation=formulation).a).all()
    said = r"velocity of this state tears the loops apart at 'C', by 2\.\d of its size\. .* s\.assemble\(q, v=\{'A': 1\.0, 'E': 1\.0\}\)"
    with pytest.raises(UsageError, match=said):
        s.forward(st, formulation=formulation)
    almost = s.assemble(v={"A": 3.0, "E": -1.0})
    assert np.isfinite(s.forward(s.state(almost.q, almost.v * (1.0 + 1e-9)), formulation=formulation).a).all()


@sweep("formulation", ["auto", "kkt"], now=1)
def test_forward_takes_velocities_of_a_motion_next_to_a_singular_position(formulation):
    """Residuals of J v, not distances from the nearest velocity of the loops, which grow without bound there."""
    c = lw.load("slider-crank-equal").cycle(steps=720)
    near = np.flatnonzero(c.near_singular)
    assert len(near)
    for i in (near[0], near[-1]):
        st = c.state(int(i))
        for scale in (1.0, 1e3):
            s = lw.compile("slider-crank-equal")
            assert s.forward(s.state(st.q, scale * st.v), limit="smooth", formulation=formulation) is not None

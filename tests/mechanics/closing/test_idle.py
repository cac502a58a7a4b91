"""Idle spins of rods between ball joints: the same mechanism at every cut, for every verb, against maximal coordinates."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.closing.newton import solve_rates
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.kinematics.motion import displaced
from linkwright.model.curves.polynomial import Line
from tests import ball_rods
from tests.ball_rods import Maximal, Model, hinged, spun
from tests.sweeps import sweep

LOOPS = [("pitch", "roll", "q" + x, "p" + x, "m" + x) for x in "lr"] + [("ml", "pl", "ql", "qr", "pr", "mr")]  # of the ankle
# Round-off: the reduced equations are solved with matrices of condition 1e3 or less, the maximal ones by least squares with 1e6.
CLOSE = 1e-9


def moving(model: Model, cuts: Any, seed: int = 3) -> tuple[lw.System, lw.State]:
    """The mechanism with these cuts, its drives and its idle spins moving."""
    rng = np.random.default_rng(seed)
    content = {k: x for k, x in model.items() if k != "moved"}
    s = lw.load({**content, "cuts": list(cuts)} if cuts else content).system
    speeds = {name: float(rng.normal()) for name in compiled_of(s).drive_names or model["moved"]}
    return s, spun(s, s.assemble(v=speeds), rng)


def checked(model: Model, cuts: Any, idle: int) -> tuple[lw.System, lw.State]:
    """Terms by name against forward dynamics and maximal coordinates; mobility; no torque for free motion."""
    s, st = moving(model, cuts)
    drives = compiled_of(s).drive_names or model["moved"]
    assert (s.mobility.freedoms, len(s.mobility.idle)) == (len(drives), idle)
    x = s.named_terms([], by="independent" if compiled_of(s).drive_names else drives)(st)
    assert x.by == tuple(drives)
    by_terms, fallen, maximal = np.linalg.solve(x.M, -x.h), s.forward(st), Maximal(s, st)
    exact = np.array([maximal.acceleration(n) for n in drives])
    np.testing.assert_allclose([fallen[f"{n}.a"] for n in drives], exact, rtol=0.0, atol=CLOSE * np.abs(exact).max())
    np.testing.assert_allclose(by_terms, exact, rtol=0.0, atol=CLOSE * np.abs(exact).max())
    if not compiled_of(s).drive_names:
        return s, st
    efforts = s.inverse(st, dict(zip(drives, exact, strict=True))).tau
    size = np.abs(np.asarray(x.M) @ exact).max()
    assert max(abs(u) for u in efforts.values()) < 1e-8 * size
    return s, st


@sweep("cut", ["A", "B", "C", "D"], now=["A", "B"])
def test_a_rod_spins_freely_at_every_cut(cut: str) -> None:
    s, st = checked(ball_rods.rssr(np.random.default_rng(1)), [cut], 1)
    t = s.transmission(motors=["A"], joints=["D"])
    whole = t.at(st).whole.acceleration([0.0])[0]
    exact = Maximal(s, st).acceleration("D")
    assert abs(whole - exact) < CLOSE * abs(exact)
    near = compiled_of(s).skel.pack(st.references)
    reduced = s.kernel("reduced")(st.q, st.v, near=near)
    np.testing.assert_allclose([reduced.M[0, 0], reduced.h[0]], [s.named_terms([])(st).M[0, 0], s.named_terms([])(st).h[0]], rtol=1e-10)


def test_the_equations_of_mujoco() -> None:
    """A straight rod: MuJoCo's mass matrix, bias and loop give -100.3645459 rad/s^2; with the spin held it would be -62.76."""
    bodies = {
        "ground": {"points": {"A": [0, 0, 0], "D": [0.4, 0, 0]}},
        "crank": {"points": {"A": [0, 0, 0], "B": [0, 0.1, 0]}, "mass": 0.5, "com": [0, 0.05, 0], "inertia": [0.001, 0.0005, 0.001]},
        "rod": {"points": {"B": [0, 0, 0], "C": [0.45, 0, 0]}, "mass": 1.0, "com": [0.22, 0, 0], "inertia": [0.004, 0.02, 0.02]},
        "rocker": {"points": {"D": [0, 0, 0], "C": [0, 0.2, 0]}, "mass": 0.5, "com": [0, 0.1, 0], "inertia": [0.002, 0.0005, 0.002]},
    }
    joints = {
        "A": {"type": "revolute", "connect": ["ground.A", "crank.A"], "axis": [1, 0, 0]},
        "B": {"type": "spherical", "connect": ["crank.B", "rod.B"]},
        "C": {"type": "spherical", "connect": ["rod.C", "rocker.C"]},
        "D": {"type": "revolute", "connect": ["ground.D", "rocker.D"], "axis": [0, 0, 1]},
    }
    guess = {"crank": {"at": [0, 0, 0]}, "rod": {"at": [0, 0.1, 0]}, "rocker": {"at": [0.4, 0, 0]}}
    more = {"guess": guess, "drive": {"A": {"torque": 0}}, "start": {"A": 0.6}}
    s = lw.load({"name": "rod", "units": ["m", "kg", "rad"], "gravity": [0, 0, -9.81], "bodies": bodies, "joints": joints, **more}).system
    x = s.named_terms([])(s.assemble(v={"A": 2.0}))
    assert np.isclose(np.linalg.solve(x.M, -x.h)[0], -100.3645459256319, rtol=1e-10)


def test_a_thin_rod_has_no_spin_to_let_go() -> None:
    """Without inertia about its line a spin changes nothing, whatever its speed."""
    model = ball_rods.rssr(np.random.default_rng(1))
    B, C = (np.array(model["bodies"]["rod"]["points"][p]) for p in "BC")
    u = (C - B) / np.linalg.norm(C - B)
    I = 0.02 * (np.eye(3) - np.outer(u, u))
    model["bodies"]["rod"] |= {"com": (0.5 * (B + C)).tolist(), "inertia": [I[0].tolist(), I[1].tolist(), I[2].tolist()]}
    s, st = moving(model, ["D"])
    x = s.named_terms([])(st)
    assert np.isclose(np.linalg.solve(x.M, -x.h)[0], s.forward(st)["A.a"], rtol=CLOSE)
    reduced = s.kernel("reduced")(st.q, st.v, near=compiled_of(s).skel.pack(st.references))
    assert np.isclose(reduced.M[0, 0], x.M[0, 0], rtol=1e-10) and np.isclose(reduced.h[0], x.h[0], rtol=1e-10)


def test_a_task_on_the_rod_moves_with_its_spin() -> None:
    """Lambda and mu of a point beside the line of the rod: a force there turns the rod as in maximal coordinates."""
    model = ball_rods.rssr(np.random.default_rng(2))
    model["bodies"]["rod"]["points"]["F"] = [0.2, 0.3, 0.1]
    s, st = moving(model, ["D"])
    x = s.named_terms("rod.F.z")(st)
    every = s.named_terms("rod.F.z", by="coordinates")(st)
    arm = np.asarray(st["rod.F"]) - Maximal(s, st).pose["rod"][1]
    free, pushed = s.forward(st), s.forward(st, wrench={"rod": [*np.cross(arm, [0, 0, 2.0]), 0, 0, 2.0]})
    a = [(every.J @ f.a + every.rate)[0] for f in (free, pushed)]
    assert np.isclose(x.Lambda[0, 0] * a[0] + x.mu[0], 0.0, atol=1e-9 * abs(x.mu[0]))
    assert np.isclose(x.Lambda[0, 0] * (a[1] - a[0]), 2.0, rtol=1e-9)
    o = s.kernel("operational", tasks=["rod.F.z"])(st.q, st.v, near=compiled_of(s).skel.pack(st.references))
    assert np.isclose(o.Lambda[0, 0], x.Lambda[0, 0], rtol=1e-9) and np.isclose(o.mu[0], x.mu[0], rtol=1e-9)


@sweep("cut", ["B", "D"], now=1)
def test_a_cycle_ends_where_it_began_though_the_rod_has_spun(cut: str) -> None:
    model = ball_rods.rssr(np.random.default_rng(1))
    m = lw.load({**model, "cuts": [cut], "drive": {"A": "60 rpm"}})
    c = m.cycle(steps=72)
    assert not [note for note in c.notes if "not back" in note]
    assert np.abs(c["rod.rotation"][-1] - c["rod.rotation"][0]).max() > 1e-3  # it has
    far = m.system.assemble({"A": 700.0})
    assert np.isclose(far["D"], m.system.assemble({"A": 700.0 % (2.0 * np.pi)})["D"], atol=1e-9)


@pytest.mark.parametrize(("in_hinges", "cuts"), [(False, ["B", "C"]), (True, ["D"])])
def test_directions_of_spins_move(in_hinges: bool, cuts: list[str]) -> None:
    """Where a rod floats in the tree, or has hinges for balls, its spin is another direction of v at every position. N_rate is the
    rate of N x', and accelerations on floats those of the velocities: central differences, errors of h^2."""
    model = ball_rods.rssr(np.random.default_rng(1))
    content = {**(hinged(model) if in_hinges else model), "cuts": cuts}
    s = lw.load(content).system
    terms, here = s.named_terms([]), s.assemble(v={"A": 2.0})
    v = np.asarray(terms(here).N) @ [2.0]
    x, h = terms(s.state(here.q, v)), 1e-5

    def moved(t: float) -> np.ndarray:
        return np.asarray(terms(s.state(displaced(compiled_of(s).skel, here.q, v * t + 0.5 * t * t * np.asarray(x.N_rate)), v)).N) @ [2.0]

    np.testing.assert_allclose(x.N_rate, (moved(h) - moved(-h)) / (2.0 * h), rtol=0.0, atol=1e-8)
    tied = compiled_of(s).loops.with_([driven(s.description, "A", Line(float(here["A"]), 2.0))])
    speeds = solve_rates(tied, here.q, here.references, 0.0)
    a = solve_rates(tied, here.q, here.references, 0.0, speeds)

    def later(t: float) -> np.ndarray:
        q = displaced(compiled_of(s).skel, here.q, speeds * t + 0.5 * t * t * a)
        return solve_rates(tied, q, compiled_of(s).loops.counted_references(q, here.references), t)

    np.testing.assert_allclose(a, (later(h) - later(-h)) / (2.0 * h), rtol=0.0, atol=1e-8)


def test_balls_of_three_hinges_are_balls() -> None:
    """As URDF has them: the same freedoms, and the same motion while the crosses have no mass to speak of."""
    model = ball_rods.rssr(np.random.default_rng(1))
    s, st = checked(hinged(model), ["B_1"], 1)
    assert s.mobility.idle == (("rod",),)
    t = s.transmission(motors=["A"], joints=["D"])
    assert np.isclose(t.at(st).whole.acceleration([0.0])[0], Maximal(s, st).acceleration("D"), rtol=CLOSE)


def test_the_arm_of_a_serial_robot_does_not_idle() -> None:
    """Shoulder and wrist of three hinges each: the elbow moves, and nothing closes a loop."""
    points = np.array([[0.0, 0, 0], [0.3, 0.05, 0], [0.6, 0, 0]])
    bodies: Model = {"ground": {"points": {"S": points[0].tolist()}}}
    names = ["ground", "s1", "s2", "upper", "fore", "w1", "w2", "hand"]
    where = [0, 0, 0, 1, 2, 2, 2]
    for name in names[1:]:
        bodies[name] = {"points": {}, "mass": 1e-9 if name[0] in "sw" else 1.0, "com": points[1].tolist(), "inertia": [1e-3] * 3}
    joints = {}
    for k, (a, b) in enumerate(pairwise(names)):
        for body in (a, b):
            bodies[body]["points"][f"P{where[k]}"] = points[where[k]].tolist()
        axis = np.eye(3)[k % 3 if k < 3 else 2 if k == 3 else (k - 4) % 3].tolist()
        joints[f"j{k}"] = {"type": "revolute", "connect": [f"{a}.P{where[k]}", f"{b}.P{where[k]}"], "axis": axis}
    s = lw.load({"name": "arm", "units": ["m", "kg", "rad"], "bodies": bodies, "joints": joints}).system
    assert s.mobility.freedoms == 7 and s.mobility.idle == ()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_every_cut_of_ankles(seed: int) -> None:
    model = ball_rods.ankle(np.random.default_rng(seed))
    for cuts in combinations(model["joints"], 2):
        if not any({*loop} <= {*model["joints"]} - {*cuts} for loop in LOOPS):
            s, st = checked(model, cuts, 2)
            t = s.transmission(motors=["ml", "mr"], joints=["pitch", "roll"])
            exact = [Maximal(s, st).acceleration(n) for n in t.joints]
            np.testing.assert_allclose(t.at(st).whole.acceleration([0.0, 0.0]), exact, atol=1e-8 * np.abs(exact).max())


@pytest.mark.slow
@pytest.mark.parametrize(("between", "idle"), [("prismatic", 6), ("cylindrical", 12)])
def test_cuts_of_platforms_on_telescopic_legs(between: str, idle: int) -> None:
    rng = np.random.default_rng(4)
    model = ball_rods.platform(rng, between)
    for cuts in (None, [f"b{k}" for k in range(1, 6)], [f"h{k}" for k in range(1, 6)], ["b1", "h2", "s3", "b4", "s5"]):
        checked(model, cuts, idle)
    checked(hinged(ball_rods.ankle(rng)), None, 2)

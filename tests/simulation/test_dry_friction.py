"""Dry friction of joints at one instant: inverse dynamics, holding ranges, closed forms, an independent program of its statics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import linkwright as lw
from linkwright.compiler.record_loops import Loop
from linkwright.compiler.records import Layout
from linkwright.elements.friction import Friction
from linkwright.integrators import dry_friction
from linkwright.mechanics.forces import FrictionRow
from linkwright.simulation.friction_states import FrictionInstant
from tests.refusals import refused
from tests.rings.design.test_holding_range import G, slider_crank, strut
from tests.sweeps import sweep

PIN = {"mu": 0.1, "radius": "20 mm"}


def rubbing_slider_crank() -> dict[str, Any]:
    return {**slider_crank(), "friction": {"A": PIN, "B": PIN, "C": {"mu": 0.2, "radius": "10 mm"}, "S": {"mu": 0.15, "coulomb": "5 N"}}}


def five_bar() -> dict[str, Any]:
    """Two degrees of freedom, friction in all five pins."""
    bar = {"mass": 1}
    return {
        "name": "five-bar", "plane": "xy", "units": ["m", "deg"], "gravity": [0, -G],
        "drawing": {"A": [0, 0], "B": [-0.1, 0.2], "C": [0.1, 0.35], "D": [0.35, 0.2], "E": [0.2, 0]},
        "bodies": {
            "ground": {"pins": ["A", "E"]}, "a": {"pins": ["A", "B"], **bar}, "b": {"pins": ["B", "C"], **bar},
            "c": {"pins": ["C", "D"], **bar}, "d": {"pins": ["D", "E"], **bar},
        },
        "drive": {"A": "1 rad/s", "E": "-2 rad/s"}, "friction": {name: {"mu": 0.15, "radius": "15 mm"} for name in "ABCDE"},
    }  # fmt: skip


@pytest.mark.parametrize("engine", ["native", "python"])
def test_forward_dynamics_gives_back_the_motion_of_inverse_dynamics(engine: str) -> None:
    """Wanted accelerations under the torques of inverse dynamics, whose friction is found by another iteration; 1e-11 of 60 rad/s^2."""
    for model, given in ((rubbing_slider_crank(), {"A": 3.0}), (five_bar(), {"A": 3.0, "E": -7.0})):
        s = lw.compile(lw.load(model), engine=engine)
        for q in np.linspace(10, 355, 4 if engine == "python" else 12):
            for speed in (10.0, -0.003):
                place = {"A": np.radians(q)} if len(given) == 1 else {"A": np.radians(100 + 0.05 * q), "E": np.radians(60)}
                st = s.assemble(q=place, v=dict.fromkeys(given, speed))
                loads = s.inverse(st, given)
                found = s.forward(st, loads.tau)
                assert [found[n] for n in given] == pytest.approx(list(given.values()), abs=1e-10)
                slow = s.forward(st, loads.tau, wrench={"crank" if len(given) == 1 else "a": np.zeros(6)})  # equations as they are written
                np.testing.assert_allclose(slow.a, found.a, rtol=0, atol=1e-11 * np.abs(found.a).max())
                assert max(abs(found.lam[n] - loads.lam[n]).max() for n in s.tree.cuts) < 1e-9


@sweep("name", ["rssr", "stewart"], now=["rssr"])
def test_mechanisms_in_space(name: str) -> None:
    """Friction in hinges and sliders of built-in mechanisms: accelerations come back, and a run balances its energy."""
    d = lw.load(name).description
    joints = [j for j in d.joints if j.type in ("revolute", "prismatic")]
    rub = tuple(Friction(j.name, j.name, mu=0.05, radius=0.01 if j.type == "revolute" else 0.0) for j in joints)
    s = lw.Mechanism(replace(d, frictions=rub)).system
    st, given = s.assemble(v={x.joint: 0.7 for x in d.drives}), {x.joint: 0.3 for x in d.drives}
    found = s.forward(st, s.inverse(st, given).tau)
    assert [found[n] for n in given] == pytest.approx(list(given.values()), abs=1e-10)
    run = s.simulate(st, 0.1, drive={})
    assert run.certificate.ok and run["work.lost"][-1] > 1e-6


def ends_of_rest(s: Any, st: Any, inside: float, far: float = 100.0) -> list[float]:
    """Torques at A between which nothing accelerates, by bisection."""
    out = []
    for away in (-far, far):
        rests, moves = inside, away
        for _ in range(45):
            middle = 0.5 * (rests + moves)
            if np.abs(s.forward(st, {"A": middle}).a).max() < 1e-9:
                rests = middle
            else:
                moves = middle
        out.append(rests)
    return out


def test_a_slider_crank_rests_within_its_holding_range() -> None:
    """The prototype's figures at 40 deg, and the statics of `holding_range` elsewhere: another formulation, without states."""
    m = lw.load({**slider_crank(), "friction": {"A": PIN, "B": PIN, "S": {"mu": 0.15}}})
    s, h = m.system, lw.load(slider_crank()).holding_range(start="40 deg", stop="160 deg", steps=4)
    for x, low, without, high in zip(h.position, h.least, h.without, h.largest, strict=True):
        found = ends_of_rest(s, s.assemble(q={"A": x}), without)
        assert found == pytest.approx([low, high], abs=1e-9)
    assert [h.least[0], h.largest[0]] == pytest.approx([-17.155996460, -13.589494389], abs=1e-9)


def test_a_five_bar_rests_where_some_friction_holds_it() -> None:
    """Five joints hold two degrees of freedom. Whether some friction within the bounds of rest does is a linear program once the bounds
    are given; the bounds belong to the friction found. Efforts on both sides of the border that it draws."""
    s = lw.load(five_bar()).system
    core, st = s._core, s.assemble(q={"A": np.radians(110), "E": np.radians(65)})
    base = s.inverse(st, {"A": 0.0, "E": 0.0}).tau  # friction at rest is nothing
    friction = core.friction
    assert friction is not None
    for way in np.radians([25.0, 170.0, 290.0]):

        def moved(r: float, way: float = float(way)) -> float:
            return float(np.abs(s.forward(st, {"A": base["A"] + r * np.cos(way), "E": base["E"] + r * np.sin(way)}).a).max())

        rests, moves = 0.0, 2.0
        assert moved(rests) < 1e-9 < moved(moves)
        for _ in range(26):
            middle = 0.5 * (rests + moves)
            rests, moves = (middle, moves) if moved(middle) < 1e-9 else (rests, middle)
        border = {"A": base["A"] + rests * np.cos(way), "E": base["E"] + rests * np.sin(way)}
        assert least_share(s, st, friction, border) == pytest.approx(1.0, abs=1e-6)


def least_share(s: Any, st: Any, friction: Any, tau: dict[str, float]) -> float:
    """The least largest share of a bound with which friction holds, by linear programs whose bounds follow their answer."""
    T = s.terms(st)
    rows = friction.efforts.by_differences(T.place, lambda more: s_forward(T, s, tau, more))
    n, bound = len(friction.rows), None
    p = np.zeros(n)
    for _ in range(60):
        F = rows.F + np.einsum("ija,j->ia", rows.dF.reshape(n, n, 3), p)
        bound = np.array([r.by_load for r in friction.rows]) * np.linalg.norm(F, axis=1)
        a0 = s_forward(T, s, tau, 0.0).a
        A = np.hstack([rows.X[:, -1 - T.nv : -1].T * bound, np.zeros((T.nv, 1))])
        keep = np.linalg.svd(A)[0][:, :2].T  # two degrees of freedom
        both = np.vstack([np.hstack([np.eye(n), -np.ones((n, 1))]), np.hstack([-np.eye(n), -np.ones((n, 1))])])
        found = linprog(np.eye(n + 1)[-1], both, np.zeros(2 * n), keep @ A, -keep @ a0, [(None, None)] * n + [(0, None)])
        p = found.x[:n] * bound
    return float(found.fun)


def s_forward(T: Any, s: Any, tau: dict[str, float], more: Any) -> Any:
    from linkwright.mechanics.formulations.forward import forward

    effort = np.zeros(T.nv)
    for name, x in tau.items():
        effort[s.names.v.index(name)] = x
    return forward(T, effort + more)


def block(slope: float, mu: float) -> dict[str, Any]:
    axis = [float(np.cos(slope)), float(np.sin(slope))]
    return {
        "name": "block", "plane": "xy", "gravity": [0, -G], "drawing": {"P": [0, 0]},
        "bodies": {"ground": {}, "block": {"points": ["P"], "mass": 3, "com": "P", "inertia": 0.1}},
        "joints": {"S": {"type": "prismatic", "between": ["ground", "block"], "at": "P", "axis": axis}},
        "friction": {"S": {"mu": mu}}, "drive": {"S": "1 m/s"},
    }  # fmt: skip


def test_a_block_on_an_incline_is_decided_at_the_angle_of_friction() -> None:
    """At rest it holds exactly where mu >= tan of the slope; sliding it accelerates by g (sin - mu cos) down, g (sin + mu cos) upward."""
    slope = np.radians(20.0)
    for share in (1 - 1e-9, 1 + 1e-9):
        s = lw.load(block(slope, share * float(np.tan(slope)))).system
        found = s.forward(s.start)["S"]
        assert found == pytest.approx(0.0, abs=1e-14) if share > 1 else found < -1e-10
    s = lw.load(block(slope, 0.2)).system
    for v in (0.5, -0.5):
        wanted = -G * np.sin(slope) - np.sign(v) * 0.2 * G * np.cos(slope)
        assert s.forward(s.assemble(v={"S": v}))["S"] == pytest.approx(wanted, rel=1e-14)


def test_a_dead_center_rests_as_well() -> None:
    """At a dead center the slider has no speed, so its friction has no sign and moves nothing: the pins alone hold, |T| <= their bounds."""
    m = lw.load({**slider_crank(), "gravity": [0, 0], "friction": {"A": PIN, "S": {"mu": 0.15}}})
    s = m.system
    st = s.assemble(q={"A": 0.0})
    low, high = ends_of_rest(s, st, 0.0)
    assert [low, high] == pytest.approx([-0.1 * 0.02 * 200, 0.1 * 0.02 * 200], abs=1e-10)  # mu r F: the gas force goes straight to the pin


def test_a_strut_that_locks_itself_rests_under_any_force() -> None:
    """A push at 40 deg from the line of travel holds a block where mu > cot(40 deg) = 1.19; below that it moves it."""
    for mu, moves in ((1.1, True), (1.3, False)):
        model = strut(mu)
        del model["cylinders"], model["drive"]
        a = np.radians(40.0)
        for force in (1e4, 1e6):
            push = {"push": {"on": "block.P", "force": [force * float(np.cos(a)), -force * float(np.sin(a))]}}
            s = lw.load({**model, "loads": push, "drive": {"S": "1 m/s"}}).system
            assert (s.forward(s.start)["S"] > 1e-3) == moves


def test_friction_that_carries_itself_away_is_refused() -> None:
    """A bound that grows by more than the effort, against a motion that nothing else stops: rigid bodies have no answer (Painleve)."""
    row = FrictionRow("S", "S", 1.0, 0.0, 0.0)
    F = np.array([[0.0, 1.0, 0.0]])

    def at(slope: float, u: float) -> FrictionInstant:  # N = 1 + slope p, c = 1
        dF = np.array([[0.0, slope, 0.0]])
        return FrictionInstant((row,), np.eye(1), np.eye(1), np.array([-0.5]), F, dF, np.array([u]), np.ones(1), 1.0, 1.0)

    for slope, p in ((0.5, -2 / 3), (1.5, -0.4), (-0.5, -2.0)):
        x = at(slope, 0.2)
        found = x.solve(x.choose())
        assert found is not None and found.p[0] == pytest.approx(p, rel=1e-14)
    with refused(lw.UsageError, name="S"):
        at(-1.5, 0.2).choose()
    assert at(1.5, 0.0).choose()[0].rests and not at(-1.5, 0.0).choose()[0].rests


def test_python_and_machine_code_give_the_same_bits() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 3, 6):
        for _ in range(10):
            loop = Loop(dry_friction.settle_friction, Layout(dry_friction.FrictionProblem, dry_friction.sizes(n, 0)))
            kind, by_load, constant = rng.integers(0, 2, n), 0.03 * rng.random(n), rng.random(n)
            for name, x in (("kind", kind), ("by_load", by_load), ("constant", constant)):
                loop.fill(name, x)
            A = rng.normal(size=(n, n))
            given = {
                "W": A @ A.T, "b": 10 * rng.normal(size=n), "F": 100 * rng.normal(size=(n, 3)), "dF": rng.normal(size=(n, 3 * n)),
                "theta": rng.choice([-1.0, 1.0], n),
            }  # fmt: skip
            runs = [loop.bound(1, native=native) for native in (True, False)]
            memories: list[Any] = [run.record() for run in runs]
            for memory, run in zip(memories, runs, strict=True):
                for name, x in given.items():
                    getattr(memory, name)[...] = x
                assert run()[0]
            code, python = memories
            assert np.array(code.p).tobytes() == np.array(python.p).tobytes()
            p, held = np.array(code.p), kind == dry_friction.HELD
            F = given["F"] + np.einsum("ija,j->ia", given["dF"].reshape(n, n, 3), p)
            bound = by_load * np.linalg.norm(F, axis=1) + constant
            assert np.abs((given["W"] @ p + given["b"])[held]).max(initial=0.0) < 1e-9 * np.abs(given["W"] * p).max()
            np.testing.assert_allclose(p[~held], (given["theta"] * bound)[~held], rtol=1e-12, atol=1e-14)


def test_a_row_that_depends_on_what_holds_gets_no_share() -> None:
    """Two rows that are the same one hold together with a row that slips: the first of them holds, and both stand still."""
    A = np.random.default_rng(5).normal(size=(3, 4))
    rows = A[[0, 1, 1]]
    W, b = rows @ rows.T, np.array([0.3, -2.0, -2.0])
    loop = Loop(dry_friction.settle_friction, Layout(dry_friction.FrictionProblem, dry_friction.sizes(3, 0)))
    loop.fill("kind", [dry_friction.GIVEN, dry_friction.HELD, dry_friction.HELD])
    loop.fill("group", [0, 0, 0])
    loop.fill("by_load", [0.1, 0.0, 0.0])
    loop.fill("constant", [0.2, 0.0, 0.0])
    run = loop.bound(1)
    memory: Any = run.record()
    dF = np.zeros((3, 9))
    dF[0, 3:6] = [0.0, 2.0, 0.0]
    memory.W[:], memory.b[:], memory.F[:], memory.dF[:], memory.theta[:] = W, b, np.eye(3), dF, [-1.0, 0.0, 0.0]
    assert run()[0]
    p = np.array(memory.p)
    assert p[2] == 0.0 and np.abs((W @ p + b)[1:]).max() < 1e-13
    assert p[0] == pytest.approx(-(0.1 * np.hypot(1.0, 2.0 * p[1]) + 0.2), rel=1e-13)

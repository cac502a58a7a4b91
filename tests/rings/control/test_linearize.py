"""Linearization on the loops and lqr: closed forms, central differences of re-assembled states, poles, costs of simulated runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import SingularityError, UsageError
from linkwright.mechanics.kinematics.motion import locate_at, motion
from linkwright.numerics.spatial import quaternion_rotation, skew
from linkwright.rings.control.lqr import Lqr
from linkwright.simulation.feedback.task_coordinates import PoseTask, TaskReference
from linkwright.system.system import System

G = 9.81
# A cart on two equal cranks, which stand upright where it is drawn, and a pole upright on it: both would fall.
CARRIED_POLE = {
    "name": "carried-pole", "plane": "xy", "gravity": [0, -G],
    "drawing": {"A": [0, 0], "B": [0, 0.6], "C": [0.4, 0.6], "D": [0.4, 0], "P": [0.2, 0.6], "T": [0.2, 1.1]},
    "bodies": {
        "ground": {"pins": ["A", "D"]}, "left": {"pins": ["A", "B"], "mass": 0.5}, "right": {"pins": ["D", "C"], "mass": 0.5},
        "cart": {"pins": ["B", "C", "P"], "mass": 2}, "pole": {"pins": ["P"], "points": ["T"], "mass": 0.4, "com": "T", "inertia": 0},
    },
    "drive": {"A": "1 rpm"},
}  # fmt: skip


@pytest.fixture(scope="module")
def crank() -> System:
    return lw.compile(lw.load("slider-crank-equal"))


@pytest.fixture(scope="module")
def planar() -> System:
    return lw.compile(lw.load("3-rrr"))


@pytest.fixture(scope="module")
def stewart() -> System:
    return lw.compile(lw.load("stewart"))


@pytest.fixture(scope="module")
def pole() -> System:
    return lw.compile(lw.load(CARRIED_POLE))


def gap(found: Any, expected: Any) -> float:
    return float(np.abs(np.asarray(found) - np.asarray(expected)).max())


# ---------------------------------------------------------------- A and B


@pytest.mark.parametrize("speed", [0.0, 0.7])
def test_the_slider_crank_by_hand(crank: System, speed: float) -> None:
    """(3 - 2 cos 2x) x'' + 2 sin 2x x'^2 + g cos x = f, differentiated by hand; 1e-10 is a thousand round-offs."""
    x, f = 0.5, 4.0
    c, s = math.cos(2 * x), math.sin(2 * x)
    inertia = 3 - 2 * c
    a = (f - 2 * s * speed**2 - G * math.cos(x)) / inertia
    stiff = (-4 * c * speed**2 + G * math.sin(x) - 4 * s * a) / inertia
    found = crank.linearize(crank.assemble({"A": x}, {"A": speed}), tau={"A": f})
    assert gap(found.A, np.array([[0, 1], [stiff, -4 * s * speed / inertia]])) < 1e-10
    assert gap(found.B, np.array([[0], [1 / inertia]])) < 1e-10
    assert found.residual["A"] == pytest.approx(a, abs=1e-10) and found.efforts == {"A": f}
    assert (found.coordinates, found.states, found.drives) == (("A",), ("A", "A.v"), ("A",))
    notes = " ".join(found.notes)
    assert "not an equilibrium" in notes and ("moves here" in notes) == (speed != 0)


def test_efforts_that_hold_are_found(crank: System) -> None:
    """Statics: f = g cos x holds; with two drives (B turns by -2 for 1 of A) shares of least norm are f (1, -2) / 5."""
    st = crank.assemble({"A": 0.5})
    one, two = crank.linearize(st), crank.linearize(st, coordinates="A", drives=["A", "B"])
    weight = G * math.cos(0.5)
    assert one.efforts == pytest.approx({"A": weight}, abs=1e-12)
    assert two.efforts == pytest.approx({"A": weight / 5, "B": -2 * weight / 5}, abs=1e-12)
    assert gap(two.B[1], one.B[1, 0] * np.array([1, -2])) < 1e-12
    assert not one.notes and not two.notes and max(abs(x) for x in two.residual.values()) < 1e-12


def test_a_planar_robot_against_central_differences(planar: System) -> None:
    """States re-assembled on the loops, at speed. Differences of 1e-5 leave 1e-10 of curvature and 1e-10 of round-off, times 30."""
    s, names, step = planar, ["J1", "J8", "J9"], 1e-5
    st = s.assemble({n: float(s.start[n]) + 0.1 * i for i, n in enumerate(names)}, {"J1": 0.7, "J8": -0.4, "J9": 0.5})
    u = np.array([1.0, -2.0, 0.5])
    x = np.array([st[n] for n in (*names, "J1.v", "J8.v", "J9.v")])

    def acceleration(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        at = s.assemble(dict(zip(names, x[:3], strict=True)), dict(zip(names, x[3:], strict=True)), guess=st)
        a = s.forward(at, dict(zip(names, u, strict=True)))
        return np.array([a[n] for n in names])

    found = s.linearize(st, tau=u)
    slopes = [(acceleration(x + step * d, u) - acceleration(x - step * d, u)) / (2 * step) for d in np.eye(6)]
    efforts = [(acceleration(x, u + d) - acceleration(x, u - d)) / 2 for d in np.eye(3)]
    assert gap(found.A[:3], np.eye(3, 6, 3)) == 0 and gap(found.A[3:], np.array(slopes).T) < 1e-7
    assert gap(found.B[3:], np.array(efforts).T) < 1e-12


@pytest.mark.slow
def test_a_platform_in_pose_coordinates_against_central_differences(stewart: System) -> None:
    """Cycles about the world's axes, at speed; tolerance as above, times accelerations of some 100."""
    s, step = stewart, 1e-5
    still, eta = s.start, np.array([0.1, -0.2, 0.15, 0.4, 0.3, -0.5])
    pose, task = s.pose(still, "platform"), PoseTask("platform")
    zeros = TaskReference([0.0] * 6, [0.0] * 6, [0.0] * 6)

    def state(d: np.ndarray, rates: np.ndarray) -> lw.State:
        half = float(np.linalg.norm(d[3:])) / 2
        R = quaternion_rotation(np.array([math.cos(half), *(np.sinc(half / math.pi) * d[3:] / 2)]))
        at = s.assemble(pose={"platform": (R @ pose.R, pose.p + d[:3])}, guess=still)
        rows = np.concatenate(
            [s.closure(at).J, task.rows(compiled_of(s).skel, motion(compiled_of(s).skel, at.q, at.v), at.references, zeros).J]
        )
        v = np.linalg.lstsq(rows, np.concatenate([np.zeros(len(rows) - 6), rates]), rcond=None)[0]
        return s.state(at.q, v)

    def acceleration(d: np.ndarray) -> np.ndarray:
        at = state(d[:6], eta + d[6:])
        a = s.forward(at, dict.fromkeys(legs, 30.0)).a
        r = task.rows(compiled_of(s).skel, motion(compiled_of(s).skel, at.q, at.v), at.references, zeros)
        return r.J @ a + r.bias

    legs = [d.joint for d in s.description.drives]
    st = state(np.zeros(6), eta)
    assert locate_at(
        compiled_of(s).skel, motion(compiled_of(s).skel, st.q, st.v), compiled_of(s).skel.node("platform"), np.zeros(3)
    ).velocity == pytest.approx(eta[:3])
    found = s.linearize(st, coordinates="platform", tau=np.full(6, 30.0))
    slopes = [(acceleration(step * d) - acceleration(-step * d)) / (2 * step) for d in np.eye(12)]
    assert gap(found.A[6:], np.array(slopes).T) < 1e-6
    # phi' = dw + w x phi: of two frames that turn with one w the angle between them turns too
    assert gap(found.A[:6, 6:], np.eye(6)) == 0 and gap(found.A[3:6, 3:6], skew(eta[3:])) < 1e-12


def test_poles_do_not_depend_on_coordinates(stewart: System, planar: System) -> None:
    """At an equilibrium a change of coordinates is a similarity: 1e-8 for double poles of the symmetric platform."""
    for s, other in ((stewart, "platform"), (planar, "platform")):
        joints, pose = s.linearize(s.start), s.linearize(s.start, coordinates=other)
        assert set(joints.coordinates).isdisjoint(pose.coordinates) and not joints.notes
        assert pose.poles == pytest.approx(joints.poles, abs=1e-8) and not pose.stable
        assert np.abs(s.closure(s.start).J @ pose.Lambda).max() < 1e-12


def test_free_parameters_have_other_values() -> None:
    """Against the model with that length; the crank stays where it is and the rest closes: round-off of two assemblies."""
    m = lw.load("four-bar")
    st = (s := lw.compile(m, parameters=["L1"])).start
    other = lw.compile(lw.load("four-bar", L1=0.32))
    for law in (None, lw.control.pd({"A": 1.0}, P=40)):
        found = s.linearize(st, control=law, parameters={"L1": 0.32})
        assert gap(found.A, other.linearize(other.start, control=law).A) < 1e-9
        assert gap(found.A, s.linearize(st, control=law).A) > 0.1


# ---------------------------------------------------------------- closed loops


@pytest.mark.parametrize("name", ["slider-crank-equal", "3-rrr", "five-bar"])
def test_projected_control_makes_every_error_the_same(name: str, crank: System, planar: System) -> None:
    """s^2 + 10 s + 25 for every freedom; 1e-6: a double pole feels round-off by its square root."""
    s = {"slider-crank-equal": crank, "3-rrr": planar}.get(name) or lw.compile(lw.load(name))
    found = s.linearize(s.start, control=lw.control.projected(s.start, P=25, D=10))
    n = s.mobility.freedoms
    assert found.poles == pytest.approx(np.full(2 * n, -5.0), abs=1e-6) and found.stable
    assert gap(found.A[n:], np.hstack([-25 * np.eye(n), -10 * np.eye(n)])) < 1e-9
    assert found.natural[0].frequency == pytest.approx(5 / (2 * math.pi)) and found.natural[0].damping == pytest.approx(1.0)


def test_the_force_loop_adds_its_own_pole(crank: System) -> None:
    """-G_I / (1 + G_F) of the integral; a filter of the sensor makes -(1 + G_F)/(2 T) +- ... with s^2 T + s (1 + G_F) + G_I = 0."""
    st, gains = crank.assemble({"A": 0.5}), {"P": 25, "D": 10, "F": 1, "I": 20, "drives": ["A", "B"]}
    plain = crank.linearize(st, control=lw.control.hybrid({"A": 0.5}, {"C.ty": "1 N"}, **gains))
    assert plain.states == ("A", "A.v", "control.C.ty.integral")
    assert plain.poles == pytest.approx([-5, -5, -10], abs=1e-6)
    slow = crank.linearize(st, control=lw.control.hybrid({"A": 0.5}, {"C.ty": "1 N"}, filter="10 ms", **gains))
    assert sorted(slow.poles.real) == pytest.approx(sorted([-5, -5, *np.roots([0.01, 2, 20])]), rel=1e-6)


def test_pd_against_a_simulated_decay() -> None:
    """Equal samples of a linear decay obey e'' = a e' + b e (shifts); an offset of 1e-5 keeps it linear to about 1e-5."""
    s, every = lw.compile(lw.load("four-bar")), 0.05
    law = lw.control.pd({"A": "60 deg"}, P=40, D=1.5, gravity=True)
    st = s.assemble({"A": math.pi / 3})
    found = s.linearize(st, control=law)
    run = s.simulate(s.assemble({"A": math.pi / 3 + 1e-5}), 1.0, control=law, sample_interval=every, tolerance=1e-12)
    e = run["A"] - math.pi / 3
    a, b = np.linalg.lstsq(np.column_stack([e[1:-1], e[:-2]]), e[2:], rcond=None)[0]
    fitted = np.log(np.roots([1, -a, -b]).astype(complex)) / every
    assert sorted(found.poles, key=lambda p: p.imag) == pytest.approx(sorted(fitted, key=lambda p: p.imag), rel=1e-4)
    assert found.stable and found.poles[0].imag > 0 and len(found.natural) == 1


def test_a_motor_brings_its_current(crank: System) -> None:
    """By hand: r Kt i turns the crank and the rotor; L i' = R (i_wanted - i), back-EMF made good."""
    st, x = crank.assemble({"A": 0.5}), 0.5
    motor = lw.drives.dc_motor(Kt=0.05, R=0.8, L=0.02, J=1e-4, gear_ratio=50)
    found = crank.linearize(st, control=lw.control.pd({"A": x}, P=60, D=8, gravity=True), actuators=lw.control.actuator(motor=motor))
    inertia = 3 - 2 * math.cos(2 * x) + 50**2 * 1e-4
    fall, kt = G * math.sin(x), 50 * 0.05
    # the controller's weight changes with x as the real one does, but through the current
    row = [-(60 + fall) / kt, -8 / kt, -1.0]
    by_hand = [[0, 1, 0], [fall / inertia, 0, kt / inertia], [40 * r for r in row]]
    assert found.states == ("A", "A.v", "motor.A.current") and not found.notes
    assert gap(found.A, np.array(by_hand)) < 1e-9
    assert found.efforts["A"] == pytest.approx(G * math.cos(x), abs=1e-9)


# ---------------------------------------------------------------- lqr


def test_riccati_and_the_cost_of_a_run(pole: System) -> None:
    """Two freedoms, one drive, both unstable. Cost by trapezoids every ms (1e-6); offsets of 1e-4 are linear to about 1e-4."""
    st = pole.start
    free = pole.linearize(st)
    assert free.coordinates == ("A", "P") and free.drives == ("A",) and not free.stable and free.verdict == "unstable"
    assert sum(p.real > 1 for p in free.poles) == 2 and free.efforts["A"] == pytest.approx(0.0, abs=1e-12)
    Q, R = np.diag([4.0, 9.0, 1.0, 2.0]), 0.05
    K, S, poles = free.lqr(Q, [R])
    left = free.A.T @ S + S @ free.A - S @ free.B @ free.B.T @ S / R + Q
    assert np.abs(left).max() < 1e-9 * np.abs(S).max() and np.linalg.eigvalsh(S).min() > 0
    weak = replace(free, B=1e-8 * free.B).lqr(Q, [1e-16 * R])  # weak drives reach as far as strong ones
    assert gap(1e-8 * weak.K, K) < 1e-6 * np.abs(K).max()
    law = lw.control.lqr(st, Q=np.diag(Q), R={"A": R})
    closed = pole.linearize(st, control=law)
    assert closed.stable and closed.poles.real == pytest.approx(sorted(poles.real, reverse=True), abs=1e-7)
    assert gap(closed.A, free.A - free.B @ K) < 1e-9

    run = pole.simulate(pole.assemble({"A": st["A"] + 1e-4, "P": st["P"] - 2e-4}), 8, control=law, sample_interval=1e-3)
    x = np.array([run["A"] - st["A"], run["P"] - st["P"], run["A.v"], run["P.v"]])
    cost = trapezoid(np.einsum("it,ij,jt->t", x, Q, x) + R * run["A.torque"] ** 2, run.t)
    assert cost == pytest.approx(x[:, 0] @ S @ x[:, 0], rel=1e-3)
    assert np.abs(x[:, -1]).max() < 1e-3 * np.abs(x).max()


def gains_of(s: System, law: Any) -> Any:
    """Those of a controller at its place."""
    placed = s.control(law, s.start).bound.written
    assert isinstance(placed, Lqr)
    return placed.gains


def test_lqr_stabilizes_what_falls_also_sampled(pole: System) -> None:
    """From 5 deg off; sampled gains come from the sampled plant and meet the continuous ones as samples get short."""
    st = pole.start
    off = pole.assemble({"A": st["A"] + 0.05, "P": st["P"] + 0.08})
    for law in (lw.control.lqr(st, R=0.01), lw.control.lqr({"A": st["A"], "P": st["P"]}, R=0.01, every="20 ms")):
        run = pole.simulate(off, 8, control=law, sample_interval=0.1, tolerance=1e-7)
        assert abs(run["P"][-1] - st["P"]) < 1e-3 and abs(run["P"]).max() < 7
    fine, exact = (gains_of(pole, lw.control.lqr(st, every=t)) for t in ("0.1 ms", None))
    assert gap(fine.K, exact.K) < 1e-2 * np.abs(exact.K).max() and gap(fine.S, exact.S) < 1e-5 * np.abs(exact.S).max()
    assert fine.poles == pytest.approx(exact.poles, rel=1e-5)


def test_weights_follow_the_metric(crank: System) -> None:
    """A slider's position instead of the crank's angle: usual weights are 1/kappa^2, a number scales them."""
    st = crank.assemble({"A": 1.0})
    nominal, named = crank.linearize(st, coordinates="C.slide"), crank.linearize(st, coordinates="C.slide", drives=["A", "C.slide"])
    w = 1 / compiled_of(crank).loops.kappa**2
    assert gap(nominal.lqr(3, 2).K, nominal.lqr([3 * w, 3 * w], [2.0]).K) < 1e-12
    assert gap(named.lqr().K, named.lqr({"C.slide": w, "C.slide.v": w}, {"A": 1.0, "C.slide": 1 / w}).K) < 1e-12


# ---------------------------------------------------------------- sampled


def test_a_sampled_law_on_a_double_integrator_by_hand() -> None:
    """Without weight a crank at rest is a double integrator to computed torque: held over T, e'' = -(P e + D e') gives this matrix."""
    s, T, P, D = lw.load("slider-crank-equal", g=0).system, 0.02, 25.0, 10.0
    by_hand = np.linalg.eigvals([[1 - P * T * T / 2, T - D * T * T / 2], [-P * T, 1 - D * T]])
    for kind in (lw.control.projected, lw.control.computed_torque):
        found = s.linearize(s.assemble({"A": 1.0}), control=kind({"A": 1.0}, P=P, D=D, drives=["A"], every=T))
        assert sorted(found.z.real) == pytest.approx(sorted(by_hand), rel=1e-9) and found.states == ("A", "A.v")
        assert found.poles == pytest.approx(np.log(found.z) / T) and found.stable


@pytest.mark.parametrize(("F", "filter", "stable"), [(0.99, 0.0, True), (1.01, 0.0, False), (3.0, 1.4e-3, False), (3.0, 1.5e-3, True)])
def test_a_sampled_force_loop_turns_over_where_its_condition_says(crank: System, F: float, filter: float, stable: bool) -> None:
    """One sample of delay: the force error multiplies by 1 - a (1 + F), a the filter's share of a reading; stable where a (1 + F) < 2."""
    law = lw.control.hybrid({"A": 1.0}, {"C.ty": "-5 N"}, P=25, D=10, F=F, I=1e-3, filter=filter, drives=["A", "B"], every="1 ms")
    found = crank.linearize(crank.assemble({"A": 1.0}), control=law)
    a = 1.0 if filter == 0.0 else 1.0 - math.exp(-1e-3 / filter)
    factor = 1.0 - a * (1.0 + F)
    assert np.abs(found.z - factor).min() < 1e-5  # the integral, 1e-3 1/s, moves it by less than 1e-6
    assert found.stable == stable == (a * (1.0 + F) < 2.0)
    assert f"|z| <= {np.abs(found.z).max():.5g}" in str(found)


def test_a_sampled_loop_with_a_motor_against_a_run() -> None:
    """Deviations at the samples of a run are powers of A times the first one; an offset of 1e-6 keeps it linear."""
    s = lw.load("slider-crank-equal", g=0).system
    motor = lw.control.actuator(motor=lw.drives.dc_motor(Kt=0.05, R=0.8, L=0.02, J=1e-4, gear_ratio=50))
    law = lw.control.pd({"A": 1.0}, P=60, D=8, drives=["A"], every="10 ms")
    found = s.linearize(s.assemble({"A": 1.0}), control=law, actuators=motor)
    assert found.states == ("A", "A.v", "motor.A.current")
    run = s.simulate(s.assemble({"A": 1.0 + 1e-6}), 0.2, control=law, actuators=motor, sample_interval=0.01, tolerance=1e-12)
    seen = np.stack([run["A"] - 1.0, run["A.v"], run["motor.A.current"]], axis=1)
    powers = np.array([np.linalg.matrix_power(found.A, k) @ [1e-6, 0.0, 0.0] for k in range(len(run.t))])
    # 1e-12 of a radian is what the run's tolerance leaves
    assert np.abs(seen - powers).max(axis=0) == pytest.approx(0.0, abs=1e-4 * np.abs(powers).max())
    with pytest.raises(UsageError, match=r"without control="):
        found.lqr()


# ---------------------------------------------------------------- refusals and words


def refused(s: System, control: Any = None, st: lw.State | None = None, **options: Any) -> str:
    with pytest.raises(UsageError) as caught:
        s.linearize(s.start if st is None else st, control=control, **options)
    return str(caught.value)


def test_lqr_says_what_is_wrong(pole: System, crank: System) -> None:
    st = pole.start
    assert "4 numbers (A, P, A.v, P.v)" in refused(pole, lw.control.lqr(st, Q=[1, 2]))
    assert "positive or zero" in refused(pole, lw.control.lqr(st, Q={"P": -1}))
    assert "R must be positive" in refused(pole, lw.control.lqr(st, R=0.0))
    assert "symmetric" in refused(pole, lw.control.lqr(st, Q=np.diag([1.0, 1, 1, 1]) + np.eye(4, k=1)))
    tilted = pole.assemble({"A": st["A"] + 0.1, "P": st["P"] + 0.3})
    left = refused(pole, lw.control.lqr(tilted), tilted)
    assert "not an equilibrium that the drives (A) can hold" in left and "rad/s^2" in left and "no drive acts on" in left
    assert "do not move" in refused(crank, lw.control.lqr({"A": lw.control.sinusoid("10 deg", "1 Hz")}))
    assert "as many coordinates as degrees of freedom" in refused(pole, lw.control.lqr({"A": st["A"]}))
    balanced = {**CARRIED_POLE["bodies"], "pole": {"pins": ["P"], "mass": 0.4, "com": "P", "inertia": 0.01}}
    loose = lw.compile(lw.load({**CARRIED_POLE, "gravity": [0, 0], "bodies": balanced}))
    said = refused(loose, lw.control.lqr(loose.start))
    assert "not controllable" in said and "Most of it is in P" in said and "P turns" in said


def test_linearize_says_what_is_wrong(crank: System, planar: System) -> None:
    st = crank.assemble({"A": 0.5})
    assert "(1 here): 2 are named (A, B)" in refused(crank, st=st, coordinates=["A", "B"])
    assert "named twice" in refused(planar, coordinates=["J1", "J8", "J8"])
    assert "'Z' is not a drive" in refused(crank, st=st, tau={"Z": 1.0})
    assert "open loop" in refused(crank, lw.control.pd({"A": 0.5}), st, drives=["A"])
    assert "do not determine the motion" in refused(crank, st=crank.assemble({"A": 0.0}), coordinates="C.slide")
    with pytest.raises((SingularityError, UsageError), match=r"singular|degrees of freedom"):
        crank.linearize(crank.assemble({"A": math.pi / 2}), coordinates=["A", "B"])


def test_it_prints_as_a_table(crank: System) -> None:
    text = str(crank.linearize(crank.assemble({"A": 0.5}), control=lw.control.projected({"A": 0.5}, P=25, D=10)))
    assert text.splitlines()[0] == "under projected, 2 states (A, A.v): stable"
    assert [x.split() for x in text.splitlines()[1:]] == [
        ["pole", "times", "frequency", "damping"], ["[1/s]", "[Hz]", "[-]"], ["-5", "2", "0.7958", "1.0000"]
    ]  # fmt: skip
    low = str(crank.linearize(crank.assemble({"A": -0.9}), tau={"A": 0}))
    assert "note: not an equilibrium: accelerations left are A -" in low

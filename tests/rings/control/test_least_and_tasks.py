"""What controllers are made of: efforts of least norm, the coordinates they follow, laws traced and on numbers, recorded references."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import interpret
from linkwright.mechanics.kinematics.motion import displaced, motion
from linkwright.results.state import State
from linkwright.simulation.feedback.controller_program import BoundControl
from linkwright.simulation.feedback.controller_setup import bind
from linkwright.simulation.feedback.least_effort import NominalSizes, least, nominal
from linkwright.simulation.feedback.task_coordinates import PoseTask, TaskReference, TaskRows, rpy_of, tasks_of, turning
from linkwright.system.system import System
from tests.sweeps import sweep

BOOM = {
    "name": "boom", "plane": "xy",
    "drawing": {"O": [0, 0], "F": [0.5, -0.8], "Q": [1.0, 0.25], "R": [1.4, 0.1]},
    "bodies": {
        "ground": {"pins": ["O"], "points": ["F"]},
        "boom": {"pins": ["O", "R"], "points": ["Q"], "mass": 3},
        "arm": {"pins": ["R"], "points": {"T": [0.3, 0.1]}, "mass": 1},
    },
    "cylinders": {"lift": {"between": ["ground.F", "boom.Q"]}, "reach": {"between": ["boom.Q", "arm.T"]}},
}  # fmt: skip
STEP = 1e-4  # central differences: truncation 1e-8, round-off 1e-16 / 1e-8 of second derivatives


# -------------------------------------------------------------------- least


@pytest.mark.parametrize(("rows", "drives"), [(1, 1), (2, 2), (2, 4), (3, 5)])
def test_least_is_the_weighted_pseudoinverse(rng, rows, drives):
    """u / w is least: u = w (A w)^+ r. The sizes of the rows scale, but do not choose."""
    A, r, w = rng.normal(size=(rows, drives)), rng.normal(size=rows), rng.uniform(0.1, 10.0, drives)
    wanted = w * (np.linalg.pinv(A * w) @ r)
    for start in (NominalSizes(np.ones(rows), np.ones(rows)), nominal(A, w)):
        found = least(A, r, w, start, 1e-3)
        np.testing.assert_allclose(found.efforts, wanted, rtol=1e-9, atol=1e-12 * np.abs(wanted).max())
        assert found.damped == 0.0
    several = rng.normal(size=(rows, 3))
    columns = least(A, several, w, nominal(A, w), 1e-3).efforts
    np.testing.assert_allclose(columns, w[:, None] * (np.linalg.pinv(A * w) @ several), rtol=1e-8, atol=1e-12)


def test_damping_is_continuous_and_bounded_as_a_row_vanishes(rng):
    """The second row shrinks to nothing. Undamped its effort grows as 1/s; damped it goes back to zero without a jump."""
    A, w, d = rng.normal(size=(2, 3)), np.ones(3), 1e-3
    start = nominal(A, w)
    right = np.array([1.0, 1.0])

    def at(s: float, damping: float = d) -> np.ndarray:
        return least(A * np.array([[1.0], [s]]), right, w, start, damping).efforts

    shares = np.geomspace(1.0, 1e-10, 4001)
    found = np.array([at(s) for s in shares])
    largest = np.linalg.norm(found, axis=1).max()
    assert largest < np.linalg.norm(at(1.0)) / d  # an undamped effort is larger from s = d on
    assert np.linalg.norm(found[-1] - least(A[:1], right[:1], w, NominalSizes(start.sizes[:1], start.firm[:1]), d).efforts) < 1e-3
    jumps = np.linalg.norm(np.diff(found, axis=0), axis=1).max()
    assert jumps < 0.02 * largest  # 4000 steps of 0.58 %
    assert np.linalg.norm(at(1e-7, 0.0)) > 1e3 * largest
    limit = next(s for s in shares if least(A * np.array([[1.0], [s]]), right, w, start, d).damped > 0.0)
    assert 0.3 * d < limit < 3.0 * d  # damping sets in where the row has lost all but about d of its size
    assert least(A, right, w, start, d).authority == pytest.approx(1.0)
    for s in (1.0, 1e-3, 1e-6, 0.0):  # what comes first is obeyed, whatever becomes of the second
        assert (A @ at(s))[0] == pytest.approx(1.0, rel=1e-9)


# -------------------------------------------------------------------- tasks


def moving(s: System, st: State) -> tuple[State, np.ndarray]:
    """A state with every freedom moving, and accelerations that the loops allow."""
    rng = np.random.default_rng(5)
    J = s.closure(st).J
    null = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-9) :]
    v = null.T @ rng.normal(size=len(null))
    v /= np.abs(v).max()
    st = State(st.skel, st.q, v, st.references, st.t)
    return st, np.asarray(s.forward(st).a)


def evaluated(s: System, st: State, a: np.ndarray, h: float, name: str, wanted: TaskReference | None = None) -> list[TaskRows]:
    """Tasks of a name, a time h along q(h) = q + v h + a h^2/2 (on the loops up to h^3)."""
    skel = compiled_of(s).loops.skel
    m = motion(skel, displaced(skel, st.q, h * st.v + 0.5 * h * h * a), st.v + h * a)
    out, k = [], 0
    for task in tasks_of(skel, name):
        n = len(task.kinds)
        mine = TaskReference(*([0.0] * n for _ in range(3))) if wanted is None else TaskReference(*(x[k : k + n] for x in wanted))
        out.append(task.rows(skel, m, st.references, mine))
        k += n
    return out


def flat(parts: list[Any]) -> np.ndarray:
    return np.concatenate([np.asarray(p, dtype=float) for p in parts])


CASES = [
    ("four-bar", {"A": 1.0}, ["A", "D", "C", "coupler.B", "coupler.B.y", "coupler.angle", "coupler", "rocker.angle"]),
    ("slider-crank-equal", {"A": 0.7}, ["C.slide", "C.angle", "rod.C", "B"]),
    ("excavator", None, ["J4", "J5", "J10", "J11", "stick.angle", "stick"]),
    ("stewart", None, ["platform", "platform.C", "platform.P1.z", "leg1", "U1.angle2"]),
    (BOOM, None, ["lift", "reach", "arm.T", "arm"]),
]


@sweep(("model", "q", "names"), CASES, later=["stewart"], ids=[c[0] if isinstance(c[0], str) else "boom" for c in CASES])
def test_value_row_and_bias_of_every_task(model, q, names):
    """Rates and accelerations of what a task tells, by central differences, against J v and J a + bias; errors likewise."""
    s = lw.compile(lw.load(model))
    start = s.start if q is None else s.assemble(q)
    st, a = moving(s, _tilted(s, start) if model == "stewart" else start)
    for name in names:
        values = [flat([r.value for r in evaluated(s, st, a, k * STEP, name)]) for k in (-1, 0, 1)]
        rate, second = (values[2] - values[0]) / (2 * STEP), (values[2] - 2 * values[1] + values[0]) / STEP**2
        here = evaluated(s, st, a, 0.0, name, TaskReference(values[1], rate, second))
        J, bias = np.concatenate([r.J for r in here]), flat([r.bias for r in here])
        size = 1.0 + np.abs(second).max()
        # what the motion does itself is wanted: no error is left, neither of the value nor of the rate
        assert np.abs(flat([r.error for r in here])).max() < 1e-12, name
        assert np.abs(flat([r.error_rate for r in here])).max() < 1e-6 * size, name
        np.testing.assert_allclose(J @ a + bias, flat([r.acceleration for r in here]), atol=1e-6 * size, err_msg=name)
        turns = isinstance(tasks_of(compiled_of(s).loops.skel, name)[0], PoseTask)
        speed = np.concatenate([rate[:3], turning(TaskReference(values[1][3:], rate[3:], second[3:]))[1]]) if turns else rate
        np.testing.assert_allclose(J @ st.v, speed, atol=1e-6 * size, err_msg=name)
        # seen from a reference that stands still, the error falls as the coordinate moves on
        still = TaskReference(values[1], 0.0 * rate, 0.0 * rate)
        errors = [flat([r.error for r in evaluated(s, st, a, k * STEP, name, still)]) for k in (-1, 1)]
        np.testing.assert_allclose((errors[1] - errors[0]) / (2 * STEP), -J @ st.v, atol=1e-6 * size, err_msg=name)


def _tilted(s: System, start: State) -> State:
    """The platform off its symmetric pose: all six entries of the pose are at work."""
    z = float(s.point(start, "platform.C")[2])
    return s.assemble(
        pose={"platform": (turning(TaskReference([0.2, -0.3, 0.4], [0, 0, 0], [0, 0, 0]))[0], np.array([0.02, -0.03, z + 0.02]))}
    )


def test_angles_of_a_body_are_followed_the_shorter_way():
    """An error of the coupler's angle beyond half a turn is told as its complement; turning errors of poses are axis times angle."""
    s = lw.compile(lw.load("four-bar"))
    st = s.start
    now = float(st["coupler.angle"])
    for off, told in ((3.0, 3.0), (3.5, 3.5 - 2.0 * math.pi), (-4.0, 2.0 * math.pi - 4.0)):
        (rows,) = evaluated(s, st, np.zeros(3), 0.0, "coupler.angle", TaskReference([now + off], [0.0], [0.0]))
        assert rows.error[0] == pytest.approx(told, abs=1e-12)
    angles = np.array([0.3, -0.4, 0.5])
    R = turning(TaskReference(angles, np.zeros(3), np.zeros(3)))[0]
    np.testing.assert_allclose(np.array(rpy_of(R), dtype=float), angles, atol=1e-15)
    np.testing.assert_allclose(R.astype(float) @ R.astype(float).T, np.eye(3), atol=1e-15)


# -------------------------------------------------------------------- traced and on numbers


LAWS = {
    "slider-crank-equal": ({"A": 0.7}, lw.control.hybrid({"A": "60 deg"}, {"C.ty": 3.0}, F=1, I=20, integral=0.2, drives=["A", "B"])),
    "3-rrr": (None, lw.control.projected({"platform": [0.6, 0.6, 0.1]}, P=25)),
    "stewart": (None, lw.control.projected({"platform": [0.0, 0.0, 0.6, 0.1, 0.0, 0.1]}, P=25)),
    "scissor-lift": (None, lw.control.projected({"slide": 0.3}, P=25)),  # rows that say the same twice
}


def traced(bound: BoundControl, x: dict[str, np.ndarray]) -> np.ndarray:
    """Efforts and rates of the law as a program, interpreted; the last number is the margin."""
    graph = TraceGraph()
    command, at = bound.law({k: graph.input(k, len(v)) for k, v in x.items()})
    program = graph.program([("u", np.array([*command.efforts, *command.rates, at.margin], dtype=object))])
    return np.asarray(interpret(program, np.concatenate([x[b.name].ravel() for b in program.inputs])), dtype=float)


@sweep("name", LAWS, later=["stewart"])
def test_a_traced_law_gives_the_numbers_of_the_rank_revealing_path(name):
    """Program interpreted, native code, and forward dynamics column by column: the same efforts at a moving state."""
    q, written = LAWS[name]
    s = lw.compile(lw.load(name))
    st, _ = moving(s, s.start if q is None else s.assemble(q))
    bound = bind(written, compiled_of(s), st)
    x = bound.arrays(st.q, st.v, 0.3, compiled_of(s).loops.skel.pack(st.references))
    command, _ = bound.law(x, safe=True)
    safe = np.array([float(e) for e in [*command.efforts, *command.rates]])
    program, native = traced(bound, x), bound.answer(x)
    assert program[-1] > 0.0  # the elimination is trusted here
    close = 1e-9 * np.abs(safe).max()  # rows that say the same twice cost digits
    np.testing.assert_allclose(program[:-1], safe, atol=close)
    np.testing.assert_allclose([*native.efforts, *native.rates], safe, atol=close)


# -------------------------------------------------------------------- a state or a recorded motion to follow


@pytest.fixture(scope="module")
def four_bar() -> System:
    return lw.compile(lw.load("four-bar"))


def test_a_state_is_held(four_bar):
    """Coordinates are chosen, drives first: here the crank goes to where the state has it, by the error equation."""
    st, there = four_bar.assemble({"A": 1.0}, {"A": 0.0}), four_bar.assemble({"A": 1.5})
    run = four_bar.simulate(
        st, 0.5, control=lw.control.projected(there, P=100, D=20), sample_interval=np.linspace(0, 0.5, 6), tolerance=1e-11
    )
    t = np.asarray(run.t)
    np.testing.assert_allclose(1.5 - np.asarray(run["A"]), 0.5 * (1 + 10 * t) * np.exp(-10 * t), atol=1e-9)


def test_a_recorded_motion_is_done_again(four_bar):
    """Free swinging recorded every 5 ms, followed by a driven crank: the same motion, and no effort is needed for it."""
    st = four_bar.assemble({"A": 1.0}, {"A": 2.0})
    times = np.linspace(0.0, 0.5, 41)  # between the recorded samples as well
    free, again = (
        four_bar.simulate(st, 0.5, drive={"A": lw.drives.torque(0.0)}, sample_interval=t, tolerance=1e-11)
        for t in (np.linspace(0.0, 0.5, 101), times)
    )
    run = four_bar.simulate(st, 0.5, control=lw.control.projected(free, P=100), sample_interval=times, tolerance=1e-10)
    np.testing.assert_allclose(run["A"], again["A"], atol=1e-8)
    efforts = np.abs(run["A.torque"][:-1])  # in the very end it is told to stand still
    assert efforts.max() < 1e-5 * np.abs(again["A.a"]).max()  # inertias are about 0.1 kg m^2; fifth-degree pieces over 5 ms

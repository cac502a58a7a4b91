"""Operational space: Lambda, mu, J and Jbar against the reduced equations and forward dynamics on floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from tests.refusals import refused
from tests.sweeps import sweep

SPACES = {
    "five-bar": ["left_rod.C"],
    "3-rrr": ["platform"],
    "stewart": ["platform"],
    "delta": ["platform.vx", "platform.vy", "platform.vz"],
    "wiper": ["coupler.C.x"],
}


def moving(s: lw.System, seed: int = 0) -> lw.State:
    rng = np.random.default_rng(seed)
    return s.assemble(
        v={d: float(x) for d, x in zip(compiled_of(s).drive_names, rng.normal(size=len(compiled_of(s).drive_names)), strict=True)}
    )


def component(s: lw.System, st: Any, a: np.ndarray, name: str) -> float:
    """Acceleration of a component from the float path: a central difference of its velocity along the motion, second order exact in a."""
    h = 1e-5
    values = []
    for side in (-1.0, 1.0):
        q = compiled_of(s).displaced(st, side * h * st.v + 0.5 * h * h * a)
        there = s.state(q, st.v + side * h * a)
        values.append(velocity(s, there, name))
    return float((values[1] - values[0]) / (2 * h))


def velocity(s: lw.System, st: Any, name: str) -> float:
    parts = name.split(".")
    m, i = s.motion(st), compiled_of(s).skel.node(parts[0])
    w, at_origin = m.V[i][:3], m.V[i][3:]
    if parts[1] in ("wx", "wy", "wz"):
        return float(w[("wx", "wy", "wz").index(parts[1])])
    arm = m.X[i].p if len(parts) == 2 else m.X[i].p + m.X[i].R @ np.asarray(s.description.point((parts[0], parts[1])).at)
    return float((at_origin + np.cross(w, arm))["xyz".index(parts[-1][-1])])


@sweep("name", SPACES, now=1)
def test_forces_there_accelerate_it_as_forward_dynamics_says(name: str) -> None:
    """Lambda y'' + mu = F for drives u = J' F; y'' from forward dynamics, by differences (1e-6 of their size, from h = 1e-5)."""
    s = lw.compile(name)
    kernel, st = s.kernel("operational", tasks=SPACES[name]), moving(s)
    got = kernel(st.q, st.v)
    F = np.random.default_rng(1).normal(size=len(got.mu))
    u = dict(zip(compiled_of(s).drive_names, got.J.T @ F, strict=True))
    a = s.forward(st, u).a
    found = np.array([component(s, st, a, n) for n in kernel.names["mu"]])
    expected = np.linalg.solve(got.Lambda, F - got.mu)
    assert np.abs(found - expected).max() < 1e-6 * (1.0 + np.abs(expected).max())


@sweep("name", SPACES, now=("five-bar", "wiper"))
def test_it_is_the_inverse_of_the_mobility_of_the_reduced_equations(name: str) -> None:
    s = lw.compile(name)
    st = moving(s)
    got, r = s.kernel("operational", tasks=SPACES[name])(st.q, st.v), s.kernel("reduced")(st.q, st.v)
    Minv = np.linalg.inv(r.M)
    condition = np.linalg.cond(r.M) * np.linalg.cond(got.J)
    assert np.abs(got.Lambda @ (got.J @ Minv @ got.J.T) - np.eye(len(got.mu))).max() < 1e-12 * condition
    assert np.abs(got.J @ got.Jbar - np.eye(len(got.mu))).max() < 1e-12 * condition
    assert np.abs(got.Lambda - got.Lambda.T).max() < 1e-12 * condition * np.abs(got.Lambda).max()


def test_j_is_that_of_the_verb() -> None:
    s = lw.compile("five-bar")
    st = moving(s)
    got = s.kernel("operational", tasks="left_rod.C")(st.q, st.v)
    assert np.allclose(got.J, s.jacobian(st, "left_rod.C"), rtol=0, atol=1e-13)  # round-off of lengths of 1


def test_in_a_dead_center_of_the_slider_one_entry_has_no_answer() -> None:
    """Crank and rod in line: the drive does not move the slider there, and no force on it is balanced by the drive."""
    s = lw.compile(lw.load("slider-crank-equal", gravity=0))
    kernel = s.kernel("operational", tasks="rod.C.x")
    dead = s.assemble(q={"A": 0.0}, v={"A": 1.0})
    states = [s.assemble(q={"A": x}, v={"A": 1.0}) for x in (0.4, 0.8)]
    Q, V = (np.array([getattr(x, n) for x in (states[0], dead, states[1])]) for n in "qv")
    many = kernel(Q, V)
    assert many.ok.tolist() == [True, False, True] and np.isnan(many.Lambda[1]).all()
    assert (many.Lambda[2] == kernel(Q[2], V[2]).Lambda).all()
    with pytest.raises(lw.SingularityError):
        kernel(Q[1], V[1])


@pytest.mark.parametrize(
    ("of", "name"),
    [
        ("left_rod", "tasks"),
        ("left_rodd", "left_rodd"),
        ("left_rod.Q", "Q"),
        ("left_rod.C.z", "left_rod.C.z"),
        ([], "tasks"),
    ],
)
def test_wrong_names_say_what_is_allowed(of: Any, name: str) -> None:
    with refused(lw.LinkwrightError, name=name):
        lw.compile("five-bar").kernel("operational", tasks=of)


def test_other_kernels_have_no_such_option() -> None:
    with refused(lw.UsageError, name="forward"):
        lw.compile("five-bar").kernel("forward", tasks="left_rod")

"""A top on a ball joint under a moment that depends on time: no loops, a quaternion to be held at length 1, the time as an input."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

import linkwright as lw
from tests.rings.exchange.bridges import cases

TOP: dict[str, Any] = {
    "name": "top",
    "gravity": [0, 0, "-9.81 m/s^2"],
    "bodies": {
        "ground": {"points": {"O": [0, 0, 0]}},
        "top": {
            "points": {"O": [0, 0, 0], "tip": [0, 0, "0.3 m"]},
            "mass": "2 kg",
            "com": [0, 0, "0.2 m"],
            "inertia": {"xx": "0.03 kg m^2", "yy": "0.04 kg m^2", "zz": "0.01 kg m^2"},
        },
    },
    "joints": {"O": {"type": "spherical", "connect": ["ground.O", "top.O"]}},
    "loads": {"pull": {"on": "top", "moment": ["0.5 N m * sin(3 rad/s * t)", 0, 0]}},
}


def top() -> tuple[lw.System, np.ndarray, np.ndarray, np.ndarray]:
    s = lw.compile(lw.load(TOP))
    q = np.array([0.9, 0.3, -0.2, 0.1])
    return s, q / np.linalg.norm(q), np.array([1.0, -2.0, 3.0]), np.array([0.2, 0.1, -0.3])


def outputs(library: str, s: lw.System, q: Any, v: Any, tau: Any) -> list[np.ndarray]:
    """Accelerations, a step, points."""
    f = getattr(s, library)()
    step = f.step(q, v, tau, 1e-3, t=0.4, substeps=2)
    found = [f.forward(q, v, tau, t=0.4).a, step.q, step.v, f.points(q).position]
    return [np.asarray(x).reshape(-1) if library != "torch" else x.numpy().reshape(-1) for x in found]


def exact(s: lw.System, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> list[np.ndarray]:
    after = s.step((q, v, 0.4), tau, 1e-3, substeps=2)
    return [s.kernel("forward")(q, v, tau, t=0.4).a, after[0], after[1], s.kernel("points")(q, v).position.reshape(-1)]


def check_time_and_quaternions(library: str) -> None:
    s, q, v, tau = top()
    for found, wanted in zip(outputs(library, s, q, v, tau), exact(s, q, v, tau), strict=True):
        cases.same(found, wanted)


def test_time_and_quaternions() -> None:
    check_time_and_quaternions("casadi")


def test_derivatives_by_time() -> None:
    """The moment is 0.5 sin(3 t): its derivative is 1.5 cos(3 t) times what one newton meter does."""
    s, q, v, tau = top()
    t = ca.MX.sym("t")
    by_time = ca.Function("by_time", [t], [ca.jacobian(s.casadi().forward(q, v, tau, t=t).a, t)])(0.4)
    k = s.kernel("forward", by="t")(q, v, tau, t=0.4)
    cases.same(np.array(by_time), k.a_t)


def test_derivatives_along_motions_do_not_depend_on_the_length_of_a_quaternion() -> None:
    """Entry by entry times N(q) is the derivative in the space of v, which kernels have."""
    s, q, v, tau = top()
    x = ca.MX.sym("x", 4)
    entries = np.array(ca.Function("entries", [x], [ca.jacobian(s.casadi().forward(x, v, tau).a, x)])(q))
    N = np.array([s.kernel("rates")(q, e, tau).qdot for e in np.eye(3)]).T
    cases.same(entries @ N, s.kernel("forward", by="q")(q, v, tau).a_q)

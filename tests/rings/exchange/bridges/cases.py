"""The same checks for every library: values against kernels and `s.step`, derivatives against kernels and differences of verbs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of

CLOSE = 1e-11  # relative: the same operations in another order
SLOPE = 2e-7  # relative: central differences with steps of 1e-5 have errors of 1e-10 in what they difference, over 1e-5, and 1e-10


class Case(NamedTuple):
    """A mechanism at a state on its loops, in motion, under efforts."""

    s: lw.System
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


@cache
def case(model: str) -> Case:
    """One drive turns at 1.3 rad/s from the start; efforts act on all joints."""
    s = lw.compile(model)
    st = s.assemble(v={compiled_of(s).drive_names[0]: 1.3})
    return Case(s, st.q, st.v, np.random.default_rng(1).normal(size=len(st.v)))


class Tools(NamedTuple):
    """A library: its functions of a mechanism, arrays to and from numpy, Jacobians by it."""

    bridge: Callable[..., Any]  # (s, **options)
    array: Callable[[np.ndarray], Any]
    numpy: Callable[[Any], np.ndarray]
    jacobian: Callable[[Callable[[Any], Any], np.ndarray], np.ndarray]  # of a function of one vector, at a place


def same(found: Any, wanted: Any, tolerance: float = CLOSE) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max(initial=0.0) <= tolerance * max(1.0, np.abs(wanted).max(initial=0.0))


def differences(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """Central differences of a function of one vector."""
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))]).T


def values(tools: Tools, model: str, **options: Any) -> None:
    """Every output of the functions that are kernels."""
    s, q, v, tau = case(model)
    f = tools.bridge(s, **options)
    inputs = {"forward": (q, v, tau), "inverse": (q, v, tau), "points": (q, v), "closure": (q, v), "energy": (q, v)}
    for name, given in inputs.items():
        found = getattr(f, name)(*map(tools.array, given))
        kernel = s.kernel(name)(*given)
        for key in found._fields:
            same(tools.numpy(getattr(found, key)).reshape(getattr(kernel, key).shape), getattr(kernel, key))


def slopes(tools: Tools, model: str, **options: Any) -> None:
    """Derivatives of accelerations, entry by entry of q, against those of the kernel."""
    s, *given = case(model)
    f = tools.bridge(s, **options)
    exact = s.kernel("forward", by=("coordinates", "v", "tau"))(*given)
    for i, by in enumerate(("coordinates", "v", "tau")):

        def moved(x: Any, i: int = i) -> Any:
            arrays = [tools.array(y) for y in given]
            return f.forward(*arrays[:i], x, *arrays[i + 1 :]).a

        same(tools.jacobian(moved, given[i]), getattr(exact, f"a_{by}"))


def steps(tools: Tools, model: str, dt: float = 1e-3) -> None:
    """A time step and its derivatives by efforts and velocities."""
    s, q, v, tau = case(model)
    f = tools.bridge(s)
    for options in ({}, {"substeps": 2}, {"integrator": "midpoint"}):
        found = f.step(tools.array(q), tools.array(v), tools.array(tau), dt, **options)
        wanted = s.step((q, v), tau, dt, **options)
        for got, exact in zip(found, wanted, strict=True):
            same(tools.numpy(got).reshape(-1), exact, 1e-9)  # s.step ends its projections at a gap of 1e-10
    by_tau = tools.jacobian(lambda x: f.step(tools.array(q), tools.array(v), x, dt).v, tau)
    same(by_tau, differences(lambda x: s.step((q, v), x, dt)[1], tau), 1e-8)  # velocities are nearly linear in efforts


def driven(tools: Tools, model: str, by: float = 0.1) -> None:
    """Positions and speeds of all joints from those of the drives, and their derivatives."""
    s, q, v, _ = case(model)
    f, names = tools.bridge(s), compiled_of(s).drive_names
    st = s.state(q, v)
    x, speed = np.array([st[n] for n in names]) + by, np.linspace(1.0, 2.0, len(names))

    def exact(x: np.ndarray) -> np.ndarray:
        there = s.assemble(q=dict(zip(names, x, strict=True)), v=dict(zip(names, speed, strict=True)))
        return np.concatenate([there.q, there.v])

    found = f.kinematics(tools.array(x), tools.array(speed), tools.array(0 * x))
    same(np.concatenate([tools.numpy(y).reshape(-1) for y in found[:2]]), exact(x), 1e-10)
    nq = len(q)
    for pick, rows in ((0, slice(None, nq)), (1, slice(nq, None))):
        by_drive = tools.jacobian(lambda y, pick=pick: f.kinematics(y, tools.array(speed), tools.array(0 * x))[pick], x)
        same(by_drive, differences(exact, x)[rows], SLOPE)


def free_numbers(tools: Tools, stack: Callable[[Sequence[Any]], Any]) -> None:
    """A length and a mass of the four-bar: positions of all joints, accelerations, and their derivatives."""
    m = lw.load("four-bar")
    f = tools.bridge(m.system, parameters=["L1", "rocker.mass"])
    base = np.array(list(f.parameters.values()))
    assert list(f.parameters) == ["L1", "rocker.mass"]

    def motion(x: Any) -> Any:
        q = f.kinematics(tools.array(np.array([0.9])), parameters=x).q
        a = f.forward(q, tools.array(np.zeros(3)), tools.array(np.array([1.0, 0.0, 0.0])), parameters=x).a
        return stack([q, a])

    def exact(x: np.ndarray) -> np.ndarray:
        other = lw.compile(lw.load("four-bar", L1=float(x[0])))
        st = other.assemble(q={"A": 0.9})
        k = lw.compile(lw.load("four-bar", L1=float(x[0])), parameters=["rocker.mass"]).kernel("forward")
        return np.concatenate([st.q, k(st.q, np.zeros(3), np.array([1.0, 0.0, 0.0]), parameters=x[1:]).a])

    same(tools.numpy(motion(tools.array(base))).reshape(-1), exact(base), 1e-9)
    same(tools.jacobian(motion, base), differences(exact, base), 1e-6)  # accelerations of 100 rad/s^2 by lengths of 0.1 m

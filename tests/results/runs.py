"""Trajectories to test with: runs of built-in mechanisms as a simulation would record them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.results.cut_references import cut_references
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.time_stepping import march

STARTS: dict[str, dict[str, Any]] = {
    "wiper": {"q": {"A": 0.2}, "v": {"A": 6.0}},
    "carpet-scraper": {"q": {"J1": 0.0}, "v": {"J1": 4.7124}},
    "stewart": {"v": {"platform.C": [0.3, -0.2, 0.1]}},
    "rssr": {"v": {"crank": 9.0}},
    "four-bar": {"v": {"A": 25.0}},
}
CUTS = {"rssr": ("U",)}  # so that the ball joint's quaternion is a coordinate


@cache
def system(name: str, cuts: tuple[str, ...] | None = None) -> Any:
    return lw.compile(lw.load(name), cuts=cuts)


def recorded(s: Any, st: Any, times: np.ndarray, **more: Any) -> Trajectory:
    """The free motion from a state, with accelerations and multipliers at the samples."""
    run = march(compiled_of(s), st, float(times[-1]), tolerance=1e-12, samples=times)
    known = {"near": run.references, "t": run.t[:, None]}
    forward = s.kernel("forward")
    a, lam = forward(run.q, run.v, np.zeros(s.tree.nv), **{b.name: known[b.name] for b in forward.inputs if b.name in known})
    near = cut_references(compiled_of(s).skel, run.t, run.q, run.v, st.references, compiled_of(s).loops)
    return Trajectory(compiled_of(s).skel, run.t, run.q, run.v, a, near, arrays={"lam": lam}, system=s, **more)


@cache
def free_run(name: str, end: float = 0.5, n: int = 61, cuts: tuple[str, ...] | None = None) -> Trajectory:
    s = system(name, cuts)
    return recorded(s, s.assemble(**STARTS[name]), np.linspace(0.0, end, n))

"""Random states on the loops and random efforts, for comparisons with other programs."""

from __future__ import annotations

import numpy as np

from linkwright.api import compiled_of
from linkwright.joints import JOINTS
from linkwright.results.state import State
from linkwright.system.system import System
from tests import factory

MODELS = (
    *("carpet-scraper", "3-rrr", "jansen-leg", "excavator", "scissor-lift", "punch-press", "boot-lid"),
    *("rssr", "stewart", "delta", "bennett"),
)
CONVERTIBLE = tuple(k for k, jt in JOINTS.items() if jt().pieces() is not None)
GEARED = {
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.3, 0]},
    "bodies": {
        "ground": {"pins": ["A", "B"]},
        "one": {"pins": ["A"], "mass": 1, "com": [0.05, 0], "inertia": 0.01},
        "two": {"pins": ["B"], "mass": 2, "com": [0.3, 0.02], "inertia": 0.05},
    },
    "gears": {"mesh": {"joints": ["A", "B"], "radii": [0.1, 0.2]}},
}


def on_loops(s: System, rng: np.random.Generator, size: float = 0.2) -> State:
    """The drives moved a little from the start (legs and sliders by a tenth of what a shaft turns), any velocity the loops allow."""
    wanted = {}
    for drive in s.description.drives:
        joint, i, kind = compiled_of(s).assembler.coordinate(drive.joint)
        step = rng.uniform(-size, size) * (1.0 if kind == "angle" else 0.1 * compiled_of(s).loops.kappa)
        wanted[drive.joint] = float(s.start.references[joint.name][i]) + step
    # random efforts need no particular drive, so no more is moved than the mechanism has freedoms
    most = s.mobility.freedoms
    return moving(s, s.assemble(q=dict(list(wanted.items())[:most])).q, rng)


def moving(s: System, q: np.ndarray, rng: np.random.Generator) -> State:
    """A random velocity projected onto J v = 0."""
    v = rng.normal(size=s.tree.nv) * compiled_of(s).loops.columns
    J = s.closure(s.state(q)).J
    if len(J):
        v = v - np.linalg.pinv(J, rcond=1e-10) @ (J @ v)
    return s.state(q, v)


def efforts(s: System, st: State, rng: np.random.Generator) -> np.ndarray:
    """Random efforts of the size of the gravity and inertia forces at hand."""
    return rng.normal(size=s.tree.nv) * (0.1 + 0.3 * np.abs(s.h(st)))


def random_loops(seed: int, kinds: tuple[str, ...], n: int = 7) -> tuple[System, State]:
    """A random spatial mechanism of all joint types, written in either direction, closed by joints of these kinds.

    No loop runs through welded bodies alone: its rows would be empty, and MuJoCo leaves such rows out.
    """
    for attempt in range(20):
        rng = np.random.default_rng(seed + 1000 * attempt)
        drawn = factory.random_tree(rng, n, CONVERTIBLE)
        drawn = factory.with_loops(rng, drawn, kinds) if kinds else drawn
        s = System(drawn.skel.tree.description, drawn.skel.tree.cuts)
        st = moving(s, drawn.q, rng)
        if all(np.abs(s.closure(st).J[loop.rows]).max() > 0.0 for loop in s.tree.loops):
            return s, st
    raise AssertionError(f"no mechanism for seed {seed}")

"""States of built-in and random mechanisms at which kernels are compared with the float path."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.kernels.kernels import Kernels
from linkwright.kernels.planning import samples
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations.forward import Forward, forward
from linkwright.mechanics.instant import Instant
from linkwright.numerics.linalg import factor
from linkwright.system.system import System
from tests.mechanics.formulations.mechanisms import moving


class Case(NamedTuple):
    """A system and some states on its loops."""

    system: System
    states: list[Instant]


def shipped(name: str, count: int = 3) -> Case:
    s = lw.compile(lw.load(name))
    return Case(s, samples(compiled_of(s).loops, s.start.q, dict(s.start.references), count, seed=7))


def cut_coordinates(s: Any, near: Any) -> np.ndarray:
    parts = [np.asarray(near[name], dtype=float) for name in s.tree.cuts]
    return np.concatenate(parts) if parts else np.zeros(0)


def random_kernels(seed: int) -> tuple[Kernels, Instant, np.random.Generator]:
    """Kernels of a random mechanism and a moving state."""
    loops, q, v, rng = moving(seed)
    near = loops.skel.start_coordinates
    d = loops.skel.tree.description
    return Kernels(loops, d, (), start=lambda: (q, near)), Instant(loops.skel, q, v, references=near), rng


def float_forward(loops: Any, s: Instant, tau: np.ndarray, formulation: str = "auto", pushes: Any = ()) -> Forward:
    return forward(terms(loops, s.q, s.v, 0.0, s.references, pushes), tau, formulation)


def conditioning(found: Forward) -> float:
    """How much the solution amplifies round-off: condition of the dimensionless rows (squared in the GICM) and of the inertia."""
    s = factor(found.terms.dimensionless_J()).s
    s = s[s > 1e-9]
    rows = float(s[0] / s[-1]) if len(s) else 1.0
    c = found.terms.columns
    M = found.terms.M * c * c[:, None]
    return rows**2 * float(np.linalg.cond(M)) if len(M) else 1.0


def apart(x: Any, y: Any) -> float:
    """Largest difference against the size of the second."""
    x, y = np.asarray(x), np.asarray(y)
    return float(np.abs(x - y).max(initial=0.0) / (1.0 + np.abs(y).max(initial=0.0)))

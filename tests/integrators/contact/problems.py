"""Contact problems of known kinds, with an answer each: b is what some free velocity gives, so u = 0 can be reached."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.integrators.contact import FRICTION, ONE_SIDED, PLANAR, SPATIAL


class Problem(NamedTuple):
    kinds: list[int]
    W: np.ndarray
    b: np.ndarray
    mu: np.ndarray


def rows_of(kinds: list[int]) -> int:
    return sum({ONE_SIDED: 1, PLANAR: 2, SPATIAL: 3, FRICTION: 1}[k] for k in kinds)


def eliminated(M: np.ndarray, J: np.ndarray) -> np.ndarray:
    """The response of accelerations to forces that leaves the rows of J alone, also where these depend on each other."""
    if not len(J):
        return np.linalg.inv(M)
    _, s, V = np.linalg.svd(J)
    Z = V[int(np.count_nonzero(s > 1e-10 * s[0])) :].T
    return Z @ np.linalg.solve(Z.T @ M @ Z, Z.T)


def mechanism(kinds: list[int], seed: int, freedoms: int, loops: int = 0, redundant: int = 0) -> Problem:
    """Random masses and contacts; `loops` rows are held and `redundant` more say the same once more."""
    rng = np.random.default_rng(seed)
    n, rows = freedoms + loops, rows_of(kinds)
    G = rng.normal(size=(rows, n)) / np.sqrt(n)
    root = rng.normal(size=(n, n)) / np.sqrt(n)
    M = root @ root.T + np.diag(np.exp(rng.normal(size=n)))
    J = rng.normal(size=(loops, n))
    J = np.vstack([J, rng.normal(size=(redundant, loops)) @ J]) if loops else J
    A = eliminated(M, J)
    v = A @ M @ (rng.normal(size=n) - 0.5 * G.sum(axis=0))  # on the loops, and mostly into the contacts
    mu = rng.uniform(0.1, 0.9, len(kinds))
    return Problem(kinds, G @ A @ G.T, G @ v, mu)


def boxes(count: int, seed: int, heaviest: float = 1.0) -> Problem:
    """A stack of boxes, four corners under each: forces that no statics determines; the top one may be heavy."""
    rng = np.random.default_rng(seed)
    n, half, mu = 6 * count, 0.1, 0.5
    masses = np.ones(count)
    masses[-1] = heaviest
    inverse = np.concatenate([[6.0 / (0.04 * m)] * 3 + [1.0 / m] * 3 for m in masses])
    rows = []
    for i in range(count):
        for x in (-half, half):
            for y in (-half, half):
                R = np.zeros((3, n))
                R[:, 6 * i : 6 * i + 6] = corner(x, y, -half)
                if i:
                    R[:, 6 * i - 6 : 6 * i] = -corner(x, y, half)
                rows.append(R)
    G = np.vstack(rows)
    v = np.zeros(n)
    v[3::6], v[4::6], v[5::6] = 0.03 * rng.normal(size=count), 0.03 * rng.normal(size=count), -0.01
    return Problem([SPATIAL] * (4 * count), (G * inverse) @ G.T, G @ v, np.full(4 * count, mu))


def corner(x: float, y: float, z: float) -> np.ndarray:
    """Velocity of a corner (normal z, tangents x and y) from the angular velocity and the velocity of a box."""
    cross = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    return np.hstack([cross, np.eye(3)])[[2, 0, 1]]


SETS: dict[str, tuple[int, list[Problem]]] = {}


def _sets() -> None:
    space, plane = [SPATIAL], [PLANAR]
    for n in (1, 4, 8, 24):
        SETS[f"space {n}"] = 40, [mechanism(space * n, s, 3 * n + 2) for s in range(40)]
        SETS[f"plane {n}"] = 40, [mechanism(plane * n, s, 2 * n + 2) for s in range(40)]
    for n in (4, 8, 24):
        SETS[f"space {n}, half the freedoms"] = 40, [mechanism(space * n, s, 3 * n // 2) for s in range(40)]
    SETS["plane 8, half the freedoms"] = 40, [mechanism(plane * 8, s, 8) for s in range(40)]
    for n in (1, 2, 6):
        SETS[f"stack of {n}"] = 40, [boxes(n, s) for s in range(40)]
    SETS["stack of 6, heavy on light"] = 20, [boxes(6, s, 100.0) for s in range(20)]
    mixed = [ONE_SIDED, PLANAR, FRICTION, PLANAR, ONE_SIDED, FRICTION]
    SETS["all kinds, redundant loops"] = 40, [mechanism(mixed, s, 6, loops=5, redundant=3) for s in range(40)]
    SETS["all kinds, two freedoms"] = 40, [mechanism(mixed, s, 2, loops=6, redundant=1) for s in range(40)]  # most motions are given


_sets()

"""Nine points: all four-bars whose coupler point passes nine given points, exactly.

The stored generic solutions (`tools/make_nine_points.py`) are tracked to the points of the user, 1,442 paths. Real ones among the ends are
linkages, in classes of three cognates; circuit, order and branch of each are decided in closed form.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import UsageError, tracking
from linkwright.rings.synthesis.circuits import Circuits, Dyads, circuits
from linkwright.rings.synthesis.linkage import Linkage
from linkwright.rings.synthesis.results import SynthesizedLinkage

REAL = 1e-6  # relative difference of a number and its conjugate partner; complex pairs are 1e-3 apart and more

CLASSES = 1442
FILE = Path(__file__).with_name("nine_points.npz")  # made by `tools/make_nine_points.py`
UNKNOWNS = ("x", "x^", "a", "a^", "y", "y^", "b", "b^")


@cache
def _generic() -> tuple[np.ndarray, np.ndarray]:
    return stored()


def nine_points(
    points: Any, *, count: int | None = None, seed: int = 0, full_turn: bool = True, detours: int = 2
) -> tuple[list[SynthesizedLinkage], dict[str, Any], tuple[str, ...]]:
    """Return the four-bars through nine points (9, 2) or (9,) complex, one of each class of cognates, usable ones first.

    `full_turn` counts linkages without a crank among those with a defect. `n` limits the list; `facts` count all of them: classes tracked,
    lost, real; linkages on one circuit, in order, usable. Paths that are lost are tried again by `detours` through random points.
    """
    z = _checked(points)
    size = float(np.abs(z[1:] - z[0]).mean())
    d = (z[1:] - z[0]) / size
    p = np.concatenate([d, d.conj()])
    starts, generic = _generic()
    found = tracking.homotopy(newton(), starts, generic, p, key=class_key, seed=seed, detours=detours)
    real = _real(found.solutions, p)
    members = np.stack([real, cognate(real), cognate(exchanged(real))], axis=1).reshape(-1, 8)
    driven = np.stack([members, exchanged(members)], axis=1).reshape(-1, 8)  # six in a row are one class
    position = _positions(driven, p)
    places = circuits(*position)
    angles = places.least_transmission(full_turn=full_turn)
    listed = [_class(z[0], size, driven, position, places, angles, k, full_turn) for k in range(0, len(driven), 6)]
    listed.sort(key=lambda x: (bool(x.defects), len(x.defects), -x.measures["least transmission angle"]))
    facts = _facts(places, full_turn) | {
        "paths": found.paths, "tracked": len(found.solutions), "lost": found.lost, "detours": found.detours, "real": len(real),
        "usable": sum(x.usable for x in listed),
    }  # fmt: skip
    return listed[: len(listed) if count is None else count], facts, _notes(facts)


def _checked(points: Any) -> np.ndarray:
    z = np.asarray(points)
    if z.ndim == 2 and z.shape[1] == 2 and z.dtype.kind in "fiu":
        z = z[:, 0] + 1j * z[:, 1]
    if z.shape != (9,) or z.dtype.kind not in "cfiu":
        raise UsageError(
            "nine points (x, y) are needed: a four-bar passes at most nine points exactly. Use path synthesis for others.", name="points"
        )
    z = z.astype(complex)
    if not np.isfinite(z).all():
        raise UsageError("points must be finite numbers. Check the coordinates.", name="points")
    apart = np.abs(z[:, None] - z[None, :]) + np.diag(np.full(9, np.inf))
    i, j = divmod(int(apart.argmin()), 9)
    if apart[i, j] <= 1e-9 * np.abs(z - z.mean()).max():
        raise UsageError(
            f"points {i + 1} and {j + 1} coincide, so that infinitely many four-bars pass the others. Use nine different points, "
            "or path synthesis with the eight that remain.",
            name="points",
        )
    return z


def _real(solutions: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Solutions whose conjugate coordinates are conjugate, made so to round-off.

    A class is real if any of its members is, for cognates of a real linkage are real. It has a coupler that turns: |1 + g| = 1.
    """
    apart = np.abs(solutions[:, 1::2] - solutions[:, ::2].conj()).max(axis=1) / (1.0 + np.abs(solutions).max(axis=1))
    X = solutions[apart < REAL]
    solve = newton()
    for _ in range(4):  # Newton's method keeps real solutions real, and the mean removes what round-off adds
        for i in range(0, 8, 2):
            X[:, i] = 0.5 * (X[:, i] + X[:, i + 1].conj())
            X[:, i + 1] = X[:, i].conj()
        step = solve(X, np.broadcast_to(p, (len(X), 16)), np.broadcast_to(p, (len(X), 16)))[0] if len(X) else X
        X = X + np.where(np.isfinite(step).all(axis=1, keepdims=True), step, 0.0)
    with np.errstate(all="ignore"):
        turn = rotations(X, p)[0]
    return X[np.isfinite(turn).all(axis=1) & (np.abs(np.abs(turn) - 1.0) < REAL).all(axis=1)]


def _positions(X: np.ndarray, p: np.ndarray) -> tuple[Dyads, Dyads]:
    """Both moving pivots of each linkage at the nine points, and its ground pivots; the first dyad drives."""
    turn = rotations(X, p)[0]
    turn = turn / np.abs(turn)
    d = np.concatenate([[0.0], p[:8]])
    return Dyads(d + turn * X[:, :1], X[:, 2]), Dyads(d + turn * X[:, 4:5], X[:, 6])


def _class(
    origin: complex,
    size: float,
    X: np.ndarray,
    position: tuple[Dyads, Dyads],
    places: Circuits,
    angles: np.ndarray,
    k: int,
    full_turn: bool,
) -> SynthesizedLinkage:
    """The best of the six driven linkages of a class, with the other two cognates."""
    names = [places.defects(i, full_turn=full_turn) for i in range(k, k + 6)]
    best = min(range(6), key=lambda i: (len(names[i]), -angles[k + i]))
    first, second = (np.abs(dyads.points[k + best] - dyads.center[k + best]) for dyads in position)
    deviation = size * max(float(np.ptp(first)), float(np.ptp(second)))
    x, _, a, _, y, _, b, _ = X[k + best]
    lengths = [abs(b - a), first[0], abs(y - x), second[0]]
    measures = {
        "largest deviation": deviation,
        "least transmission angle": float(angles[k + best]),
        "link ratio": float(max(lengths) / min(lengths)),
        "on one circuit": float(places.on_one_circuit[k + best]),
    }
    others = tuple(_linkage(origin, size, X[k + i]) for i in (0, 2, 4) if i // 2 != best // 2)
    # Points are met exactly: what is left is round-off and would only shuffle the list.
    error = 0.0 if deviation < 1e-9 * size else deviation
    return SynthesizedLinkage(_linkage(origin, size, X[k + best]), error, names[best], measures, others)


def _linkage(origin: complex, size: float, X: np.ndarray) -> Linkage:
    """The four-bar at the first point, driven at A."""
    x, _, a, _, y, _, b, _ = X
    at = {"A": a, "B": x, "C": y, "D": b, "P": 0.0}
    pins = {name: complex(origin + size * z) for name, z in at.items()}
    bodies = {"ground": ("A", "D"), "crank": ("A", "B"), "coupler": ("B", "C"), "rocker": ("C", "D")}
    return Linkage("four-bar", pins, bodies, "A", {"coupler": ("P",)}, output="coupler.P")


def _facts(places: Circuits, full_turn: bool) -> dict[str, int]:
    """Counts over linkages, each once (driven from either side); usable linkages from the better side."""
    one, order, turns = places.on_one_circuit[::2], places.in_order[::2], places.full.reshape(-1, 2).any(axis=1)
    good = np.array([not places.defects(k, full_turn=full_turn) for k in range(len(places.full))], dtype=bool).reshape(-1, 2).any(axis=1)
    return {
        "linkages": len(one), "on one circuit": int(one.sum()), "in order": int((one & order).sum()),
        "with a crank": int((one & order & turns).sum()), "usable linkages": int(good.sum()),
    }  # fmt: skip


def _notes(facts: dict[str, Any]) -> tuple[str, ...]:
    notes = [
        f"{facts['tracked']} of {facts['paths']} classes tracked, {facts['real']} real: {facts['linkages']} linkages with their cognates, "
        f"{facts['on one circuit']} with all points on one circuit, {facts['in order']} of these in order, "
        f"{facts['with a crank']} with a crank."
    ]
    if facts["lost"] > facts["paths"] // 2:
        notes.append(
            f"{facts['lost']} paths were lost: the points are special, as on a line or a circle, and infinitely many linkages may pass "
            "them. Move a point a little."
        )
    elif facts["lost"]:
        notes.append(f"{facts['lost']} paths were lost: the points are special, or as many linkages are at infinity or degenerate.")
    return tuple(notes)


# Equations of the nine-point problem: four-bars whose coupler point passes nine points, in isotropic coordinates.
#
# Points are delta_j = P_j - P_0, j = 1..8, and their conjugates, which for path tracking are independent complex numbers; so are the
# unknowns x, y (moving pivots), a, b (ground pivots), all relative to P_0 in the first position, each with its conjugate. With the coupler
# turned by 1 + g, of conjugate 1 + h, a dyad gives A g + B h + C = 0. Cramer's rule for two dyads, put into (1 + g)(1 + h) = 1, leaves
# eight equations in eight unknowns [Wampler1992]. Each linkage comes with its two Roberts-Chebyshev cognates and with its dyads exchanged:
# six solutions are one class, and generic points have 1,442 classes.


def dyad_rows(m: Any, m_: Any, c: Any, c_: Any, d: Any, d_: Any) -> tuple[Any, Any, Any]:
    """A, B, C of a dyad with moving pivot m and ground pivot c at the displacement d; names with _ are conjugates."""
    return m * (c_ - d_), m_ * (c - d), d * (c_ - m_) + d_ * (c - m) - d * d_


def equations(x: Any, p: Any) -> dict[str, Any]:
    """F of eight unknowns and sixteen parameters (delta, then their conjugates), over any scalar."""
    out = np.empty(8, dtype=object)
    for j in range(8):
        d, d_ = p[j], p[8 + j]
        A1, B1, C1 = dyad_rows(*x[:4], d, d_)
        A2, B2, C2 = dyad_rows(*x[4:], d, d_)
        D, N1, N2 = A1 * B2 - A2 * B1, B1 * C2 - B2 * C1, C1 * A2 - C2 * A1
        out[j] = (N1 + N2) * D + N1 * N2
    return {"F": out}


def newton(*, compiled: bool | None = None) -> tracking.NewtonSolve:
    """Return Newton step and slope of the equations, compiled where that is possible."""
    from linkwright.api import trace_graph
    from linkwright.compiler.complex_newton import newton_kernel

    return newton_kernel(lambda: trace_graph.trace(equations, x=8, p=16), ["nine points", 1], compiled=compiled)


def stored(path: Path = FILE) -> tuple[np.ndarray, np.ndarray]:
    """Return the built-in solutions (1442, 8) in double precision, and their parameters (16,)."""
    with np.load(path) as data:
        x, p = data["x"].astype(complex), data["p"]
    solve = newton()
    for _ in range(4):
        x = x + solve(x, np.broadcast_to(p, (len(x), 16)), np.broadcast_to(p, (len(x), 16)))[0]
    return x, p


def rotations(X: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 + g and its conjugate (N, 9): turns of the coupler at the nine points, 1 at the first."""
    d, d_ = p[:8], p[8:]
    columns = [X[:, i : i + 1] for i in range(8)]
    A1, B1, C1 = dyad_rows(*columns[:4], d, d_)
    A2, B2, C2 = dyad_rows(*columns[4:], d, d_)
    ones = np.ones((len(X), 1))
    D = A1 * B2 - A2 * B1
    return np.hstack([ones, 1.0 + (B1 * C2 - B2 * C1) / D]), np.hstack([ones, 1.0 + (C1 * A2 - C2 * A1) / D])


def third_pivot(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ground pivot that the two cognates share, and its conjugate."""
    x, x_, a, a_, y, y_, b, b_ = X.T
    return (a * y - b * x) / (y - x), (a_ * y_ - b_ * x_) / (y_ - x_)


def exchanged(X: np.ndarray) -> np.ndarray:
    """Return the solutions with their dyads exchanged."""
    return X[:, [4, 5, 6, 7, 0, 1, 2, 3]]


def cognate(X: np.ndarray) -> np.ndarray:
    """Return the Roberts-Chebyshev cognates that share the ground pivot a: of `exchanged(X)`, those that share b."""
    x, x_, a, a_, y, y_, _, _ = X.T
    c, c_ = third_pivot(X)
    return np.stack([a - x, a_ - x_, a, a_, (a - x) * y / (y - x), (a_ - x_) * y_ / (y_ - x_), c, c_], axis=1)


def class_key(X: np.ndarray) -> np.ndarray:
    """Return the symmetric functions of the three ground pivots: equal for the six solutions of a class."""
    a, a_, b, b_ = X[:, 2], X[:, 3], X[:, 6], X[:, 7]
    c, c_ = third_pivot(X)
    return np.stack([a + b + c, a * b + b * c + c * a, a * b * c, a_ + b_ + c_, a_ * b_ + b_ * c_ + c_ * a_, a_ * b_ * c_], axis=1)


def random_problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a random complex linkage (1, 8) and nine points (16,) that it passes."""
    X = rng.standard_normal(8) + 1j * rng.standard_normal(8)
    p = np.empty(16, dtype=complex)
    for j in range(8):
        while True:
            turn = np.exp(2j * np.pi * rng.random() + 0.3 * rng.standard_normal())
            d, d_ = _displacement(X, turn, int(rng.integers(2)))
            if 0.3 < max(abs(d), abs(d_)) < 5.0 and min(abs(d), abs(d_)) > 0.1:
                p[j], p[8 + j] = d, d_
                break
    return X[None], p


def _displacement(X: np.ndarray, turn: complex, root: int) -> tuple[complex, complex]:
    """Return the displacement of the coupler point, and its conjugate, when the coupler turns.

    (d + k)(d_ + k_) = s for both dyads, k = m turn - c and s = (m - c)(m_ - c_): their difference is linear.
    """
    rows = [(m * turn - c, m_ / turn - c_, (m - c) * (m_ - c_)) for m, m_, c, c_ in (X[:4], X[4:])]
    (k, k_, s), (l, l_, q) = rows
    # (k_ - l_) d + (k - l) d_ + k k_ - l l_ - s + q = 0
    slope, offset = -(k_ - l_) / (k - l), -(k * k_ - l * l_ - s + q) / (k - l)
    d = np.roots([slope, offset + k_ + k * slope, k * offset + k * k_ - s])[root]
    return complex(d), complex(slope * d + offset)

"""Linear state feedback of least quadratic cost: weights as people write them, what can be reached, and the Riccati equation.

    u = -K x   makes   int x' Q x + u' R u dt   least:   A' S + S A - S B R^-1 B' S + Q = 0,   K = R^-1 B' S

and the cost from x on is x' S x. All is solved in the metric: angles and lengths over the characteristic length, torques and
forces times it. A sampled controller gets the gains that make the same integral least with efforts held between samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linkwright.api import SAME_NUMBER, UsageError, counted, nearest


class Linear(Protocol):
    """A linear system under state feedback."""

    @property
    def A(self) -> np.ndarray: ...
    @property
    def B(self) -> np.ndarray: ...
    @property
    def states(self) -> tuple[str, ...]: ...
    @property
    def coordinates(self) -> tuple[str, ...]: ...
    @property
    def drives(self) -> tuple[str, ...]: ...
    @property
    def sizes(self) -> np.ndarray: ...
    @property
    def weights(self) -> np.ndarray: ...


class Gains(NamedTuple):
    """u = -K x; the cost from x on is x' S x; poles of the loop so closed, 1/s."""

    K: np.ndarray
    S: np.ndarray
    poles: NDArray[np.complex128]


def riccati(linear: Linear, Q: Any = None, R: Any = None, every: float = 0.0) -> Gains:
    """Gains of least cost; `every`: seconds between samples, 0 where the state is fed back at all times."""
    Q, R = cost_matrices(linear, Q, R)
    x, u = _state_sizes(linear), np.asarray(linear.weights)
    A, B = linear.A * x / x[:, None], linear.B * u / x[:, None]
    _check_reach(A, B, linear)
    K, S, poles = (_continuous if not every else _sampled)(A, B, Q * np.outer(x, x), R * np.outer(u, u), every)
    if not poles.real.max(initial=-1.0) < 0.0:
        raise _no_solution()
    return Gains(K * u[:, None] / x, S / np.outer(x, x), poles[np.argsort(-poles.real, kind="stable")].astype(complex))


def _continuous(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, every: float) -> tuple[Any, Any, Any]:
    try:
        S = _scipy().solve_continuous_are(A, B, Q, R)
    except (np.linalg.LinAlgError, ValueError):
        raise _no_solution() from None
    K = np.linalg.solve(R, B.T @ S)
    return K, S, np.linalg.eigvals(A - B @ K)


def _sampled(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, every: float) -> tuple[Any, Any, Any]:
    """The same integral, over efforts that are held between samples: its matrices by one exponential."""
    scipy = _scipy()
    n, p = B.shape
    F = np.block([[A, B], [np.zeros((p, n + p))]])
    E = scipy.expm(np.block([[-F.T, scipy.block_diag(Q, R)], [np.zeros_like(F), F]]) * every)
    step = E[n + p :, n + p :]
    cost = step.T @ E[: n + p, n + p :]
    cost = 0.5 * (cost + cost.T)
    Ad, Bd, N = step[:n, :n], step[:n, n:], cost[:n, n:]
    try:
        S = scipy.solve_discrete_are(Ad, Bd, cost[:n, :n], cost[n:, n:], s=N)
    except (np.linalg.LinAlgError, ValueError):
        raise _no_solution() from None
    K = np.linalg.solve(cost[n:, n:] + Bd.T @ S @ Bd, Bd.T @ S @ Ad + N.T)
    return K, S, np.log(np.linalg.eigvals(Ad - Bd @ K).astype(complex)) / every


def _scipy() -> Any:
    """Its functions have no types, and guessing them from their text takes a type checker seconds."""
    return import_module("scipy.linalg")


def _no_solution() -> UsageError:
    return UsageError(
        "lqr: no gains of finite cost hold this state: a motion that does not die out costs nothing in Q. Give it a weight."
    )


# -------------------------------------------------------------------- weights


def cost_matrices(linear: Linear, Q: Any, R: Any) -> tuple[np.ndarray, np.ndarray]:
    """Q over the states, R over the efforts, from numbers, one a name, dicts, or matrices; numbers scale the defaults."""
    x, u = _state_sizes(linear), np.asarray(linear.weights)
    nominal = 1.0 / x**2
    nominal[2 * len(linear.coordinates) :] = 0.0  # integrals and currents
    return (
        _matrix(Q, nominal, linear.states, "lqr: Q", 0.0),
        _matrix(R, 1.0 / u**2, linear.drives, "lqr: R", SAME_NUMBER),
    )


def _state_sizes(linear: Linear) -> np.ndarray:
    return np.concatenate([linear.sizes, linear.sizes, np.ones(len(linear.states) - 2 * len(linear.coordinates))])


def _matrix(given: Any, nominal: np.ndarray, names: Sequence[str], what: str, least: float) -> np.ndarray:
    if isinstance(given, Mapping):
        given = _by_name(given, nominal, names, what)
    try:
        x = np.asarray(1.0 if given is None else given, dtype=float)
    except (TypeError, ValueError):
        x = np.full(3, np.nan)
    n = len(names)
    if x.ndim == 0:
        M = float(x) * np.diag(nominal)
    elif x.shape == (n,):
        M = np.diag(x)
    elif x.shape == (n, n):
        M = x
    else:
        raise UsageError(
            f"{what} is a number, {counted(n, 'number')} ({', '.join(names)}), a dict by these names, or a {n} x {n} matrix.", name=what
        )
    size = float(np.abs(M).max(initial=0.0))
    if not np.isfinite(size) or np.abs(M - M.T).max(initial=0.0) > SAME_NUMBER * size:
        raise UsageError(f"{what} must be symmetric, with finite entries.", name=what)
    scaled = M / np.sqrt(np.outer(np.where(nominal > 0.0, nominal, 1.0), np.where(nominal > 0.0, nominal, 1.0)))
    values = np.linalg.eigvalsh(scaled)
    top = float(np.abs(values).max(initial=0.0))
    if top == 0.0 or values.min(initial=0.0) < -SAME_NUMBER * top or (least and values.min(initial=1.0) <= least * 1e-3 * top):
        raise UsageError(
            f"{what} must be positive{'' if least else ' or zero'} in every direction{'' if least else ', and not all zero'}. "
            f"Its smallest eigenvalue, in the metric, is {values.min(initial=0.0):.3g}.",
            name=what,
        )
    return 0.5 * (M + M.T)


def _by_name(given: Mapping[str, Any], nominal: np.ndarray, names: Sequence[str], what: str) -> np.ndarray:
    """Weights of the named ones; the others have their default."""
    out = np.array(nominal)
    for name, value in given.items():
        if name not in names:
            raise UsageError(f"{what}: there is no '{name}'.", nearest(str(name), names, "Names"))
        try:
            out[names.index(name)] = float(value)
        except (TypeError, ValueError):
            raise UsageError(f"{what} of '{name}' is a number, not {value!r:.40}.", name=name, value=value) from None
    return out


# -------------------------------------------------------------------- reach


def _check_reach(A: np.ndarray, B: np.ndarray, linear: Linear) -> None:
    """Every motion that does not die out by itself must answer to the drives: [A - s, B] has full rank at its pole s."""
    size = max(float(np.abs(A).max(initial=0.0)), 1.0)
    B = B * size / max(float(np.abs(B).max(initial=0.0)), 1e-300)  # how strong the drives are does not matter here
    reach = 1e-7  # smallest singular value of [A - s, B], against A, at which a motion counts as out of the drives' reach
    for s in np.linalg.eigvals(A).astype(complex):
        if s.real < -SAME_NUMBER * size:
            continue
        U, values, _ = np.linalg.svd(np.column_stack([A - s * np.eye(len(A)), B]))
        if values[-1] > reach * size:
            continue
        w = U[:, -1]  # w' x is uncontrollable: it moves by itself, whatever the drives do
        share = np.abs(w[: len(linear.coordinates)]) + np.abs(w[len(linear.coordinates) : 2 * len(linear.coordinates)])
        what = "grows" if s.real > SAME_NUMBER * size else "does not die out"
        drives = ", ".join(linear.drives) or "none"
        raise UsageError(
            f"lqr: not controllable: the motion with the pole {s.real:.4g}{f' +- {abs(s.imag):.4g}i' if s.imag else ''} 1/s {what}, and "
            f"the drives ({drives}) do not reach it. Most of it is in {linear.coordinates[int(np.argmax(share))]}."
        )

"""Masses and inertias that a body can have: log-Cholesky parameters of the pseudo-inertia, fitted to base parameters.

A body of positive density has a positive definite pseudo-inertia

    P = [[S, mc], [mc', m]],   S = integral of r r' dm,   I_O = tr(S) E - S

so P = U U' with U upper triangular and exp on its diagonal describes every such body, and only those: six numbers in the plane, where
I_O = Sxx + Syy, ten in space. Friction and armatures are squares. The parameters are mc and I_O, never the center of mass, which is
undefined at m = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.rings.robots.identification.regressor import RegressorColumn

SLENDER = 1e-2  # of the radius of gyration: what a rod or plate without thickness gets across
FALLBACK = 0.05  # m: radius of gyration of a body whose model has none
FARTHEST = 25.0  # from the model's parameters, in their widths: factors of 1e10, short of overflow
STAGES = (100.0, 10.0, 1.0, 0.1, 0.01)  # priors on the way to the one that is asked for


@dataclass(frozen=True)
class _Block:
    """A body's unknowns among all, and its log-Cholesky numbers."""

    at: slice  # of theta
    order: tuple[tuple[int, int], ...]  # entries of U above the diagonal
    n: int  # rows of U


def consistent(columns: Sequence[RegressorColumn], G: np.ndarray, beta: np.ndarray, covariance: np.ndarray, prior: float) -> np.ndarray:
    """Return theta of bodies with positive definite pseudo-inertia, and friction and armatures above zero, nearest to the base parameters.

    Nearest in the metric of their covariance; `prior` draws what cannot be known weakly toward the model, one unit of its logarithms
    counting as much as `prior` standard deviations.
    """
    from scipy.optimize import least_squares

    blocks, others = _blocks(columns)
    model = np.array([c.model for c in columns])
    plain = least_change(model, G, beta)[others]
    size = np.maximum(np.maximum(model[others], np.abs(plain)), _sizes(G, covariance)[others])
    x0 = np.concatenate([*(_logarithms(model[b.at], b) for b in blocks), np.sqrt(np.maximum(plain, 1e-3 * size))])
    values, vectors = np.linalg.eigh(covariance)
    whiten = (vectors / np.sqrt(np.maximum(values, values.max() * 1e-24))).T
    widths = np.concatenate([*(_widths(x, b) for x, b in _split(x0, blocks)), np.sqrt(size)])

    def near(x: np.ndarray) -> np.ndarray:
        return np.clip(x, x0 - FARTHEST * widths, x0 + FARTHEST * widths)

    def residual(x: np.ndarray, pull: float) -> np.ndarray:
        return np.concatenate([whiten @ (G @ _theta(near(x), blocks, others, len(columns)) - beta), pull * (x - x0) / widths])

    def jacobian(x: np.ndarray, pull: float) -> np.ndarray:
        return np.concatenate([whiten @ G @ _slopes(near(x), blocks, others, len(columns)), np.diag(pull / widths)])

    x = x0
    most = 200
    for pull in [p for p in STAGES if p > prior] + [prior]:  # what the data leave open stays near the model on the way
        x = least_squares(residual, x, jac=jacobian, args=(pull,), method="lm", x_scale=widths, max_nfev=most).x
    return _theta(near(x), blocks, others, len(columns))


def least_change(model: np.ndarray, G: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return the theta of these base parameters that is nearest to the model, in the model's own sizes; it may be that of no body."""
    size = np.maximum(np.abs(model), 1e-3 * np.abs(model).max(initial=0.0))
    size = np.where(size > 0.0, size, 1.0)
    return model + size * (np.linalg.pinv(G * size) @ (beta - G @ model))


def pseudo_inertia(theta: np.ndarray) -> np.ndarray:
    """P of a body in space from (m, mc, Ixx, Iyy, Izz, Ixy, Ixz, Iyz); of a planar one from (m, mx, my, Izz) with S a multiple of E."""
    if len(theta) == 4:
        m, mx, my, I = theta
        return np.array([[0.5 * I, 0.0, mx], [0.0, 0.5 * I, my], [mx, my, m]])
    m, mc, (xx, yy, zz, xy, xz, yz) = theta[0], theta[1:4], theta[4:]
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    S = 0.5 * np.trace(I) * np.eye(3) - I
    return np.block([[S, mc[:, None]], [mc[None], np.array([[m]])]])


def _sizes(G: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """A scale for each unknown: the standard deviation of the base parameter it is in most."""
    deviations = np.sqrt(np.diag(covariance))
    return np.array([min((d / abs(g) for d, g in zip(deviations, column, strict=True) if g != 0.0), default=1.0) for column in G.T])


def _blocks(columns: Sequence[RegressorColumn]) -> tuple[list[_Block], list[int]]:
    inertial = [k for k, c in enumerate(columns) if c.kind[0] in "mI"]
    blocks, width = [], 10 if any(columns[k].kind == "Ixx" for k in inertial) else 4
    n = 4 if width == 10 else 3
    order = tuple((i, j) for i in range(n) for j in range(i + 1, n))
    for k in range(0, len(inertial), width):
        blocks.append(_Block(slice(inertial[k], inertial[k] + width), order, n))
    return blocks, [k for k in range(len(columns)) if k not in inertial]


def _logarithms(theta: np.ndarray, b: _Block) -> np.ndarray:
    """Log-Cholesky numbers of a body of the model, thickened where it has no width."""
    m = theta[0] if theta[0] > 0.0 else 0.1
    P = pseudo_inertia(np.concatenate([[m], theta[1:]]))
    c, S = P[:-1, -1] / m, P[:-1, :-1]
    if b.n == 3:  # in the plane S is known by its trace: the same radius in both directions, about the center of mass
        about = max(float(theta[3] - m * c @ c), 0.0)
        S = 0.5 * about * np.eye(2) + m * np.outer(c, c)
    centered = S - m * np.outer(c, c)
    radius = np.sqrt(max(np.trace(centered), 0.0) / m) or FALLBACK
    values, vectors = np.linalg.eigh(centered)
    centered = (vectors * np.maximum(values, m * (SLENDER * radius) ** 2)) @ vectors.T
    P = np.block([[centered + m * np.outer(c, c), m * c[:, None]], [m * c[None], np.array([[m]])]])
    U = np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]
    return np.concatenate([np.log(np.diag(U)), [U[i, j] for i, j in b.order]])


def _split(x: np.ndarray, blocks: Sequence[_Block]) -> list[tuple[np.ndarray, _Block]]:
    """The numbers of each body."""
    ends = np.cumsum([b.n + len(b.order) for b in blocks])
    return [(x[e - b.n - len(b.order) : e], b) for e, b in zip(ends, blocks, strict=True)]


def _widths(x: np.ndarray, b: _Block) -> np.ndarray:
    """Widths of the prior: a factor e on the diagonal, the size of the row beside it."""
    U = _triangle(x, b)
    rows = np.sqrt(np.diag(U @ U.T))
    return np.concatenate([np.ones(b.n), [rows[i] for i, _ in b.order]])


def _triangle(x: np.ndarray, b: _Block) -> np.ndarray:
    U = np.diag(np.exp(x[: b.n]))
    for value, (i, j) in zip(x[b.n :], b.order, strict=True):
        U[i, j] = value
    return U


def _parameters(P: np.ndarray) -> np.ndarray:
    """theta, linear in P."""
    n = len(P) - 1
    S, mc, m = P[:n, :n], P[:n, n], P[n, n]
    if n == 2:
        return np.array([m, *mc, np.trace(S)])
    I = np.trace(S) * np.eye(3) - S
    return np.array([m, *mc, I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def _theta(x: np.ndarray, blocks: Sequence[_Block], others: Sequence[int], size: int) -> np.ndarray:
    out = np.zeros(size)
    for own, b in _split(x, blocks):
        U = _triangle(own, b)
        out[b.at] = _parameters(U @ U.T)
    out[list(others)] = x[len(x) - len(others) :] ** 2
    return out


def _slopes(x: np.ndarray, blocks: Sequence[_Block], others: Sequence[int], size: int) -> np.ndarray:
    """d theta / d x: dP = dU U' + U dU'."""
    out, first = np.zeros((size, len(x))), 0
    for b in blocks:
        width = b.n + len(b.order)
        U = _triangle(x[first : first + width], b)
        entries: list[Any] = [(i, i) for i in range(b.n)] + list(b.order)
        for k, (i, j) in enumerate(entries):
            dU = np.zeros_like(U)
            dU[i, j] = U[i, i] if i == j else 1.0
            out[b.at, first + k] = _parameters(dU @ U.T + U @ dU.T)
        first += width
    for k, at in enumerate(others):
        out[at, first + k] = 2.0 * x[first + k]
    return out

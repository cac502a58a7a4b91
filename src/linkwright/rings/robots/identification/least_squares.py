"""Weighted and robust least squares of base parameters, with their covariance; gains of drives together with them.

Rows of a drive have the same noise, estimated from the residual unless it is given. Robust: iteratively reweighted with Huber's function,
which lets residuals beyond 1.345 standard deviations count linearly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import UsageError

HUBER = 1.345  # 95 % of the efficiency of least squares where the noise is normal
MAD = 1.4826  # standard deviation over the median of absolute values, of normal noise
SWEEPS, CONVERGED = 50, 1e-10
SEPARATE = 1e-10  # smallest singular value of gains and base parameters, scaled, against the largest
KNOWN = 1e-9  # of known torques against the signals: round-off
FLOOR = 1e-12  # of a noise against the size of the signal: data without noise


@dataclass(frozen=True)
class LeastSquares:
    """Estimates with covariance; `noise` is the standard deviation of each drive's signal, `residual` (samples, drives)."""

    values: np.ndarray
    covariance: np.ndarray
    gains: np.ndarray  # torque per unit of the signal, one a drive
    gain_deviations: np.ndarray
    noise: np.ndarray
    residual: np.ndarray
    weights: np.ndarray  # (samples, drives): 1, less for outliers
    sweeps: int


def fitted(
    B: np.ndarray, rest: np.ndarray, signal: np.ndarray, *, noise: Any = None, robust: bool = False, gained: Sequence[int] = ()
) -> LeastSquares:
    """Solve g (B beta + rest) = signal for beta and the inverse gains g of the drives in `gained`, B of shape (samples, drives, base)."""
    n, drives, r = B.shape
    beta, g = _first(B, rest, signal, gained)
    sd = _spread(signal, g * (B @ beta + rest), r) if noise is None else np.asarray(noise, dtype=float)
    weights, sweeps, step = np.ones((n, drives)), 0, np.inf
    scale = np.ones(r + len(gained))
    while sweeps < SWEEPS and step > CONVERGED:
        sweeps += 1
        A, model = _jacobian(B, rest, beta, g, gained), g * (B @ beta + rest)
        root = np.sqrt(weights) / sd
        M, y = (A * root[:, :, None]).reshape(n * drives, -1), ((signal - model) * root).ravel()
        scale = np.linalg.norm(M, axis=0)
        scale[scale == 0.0] = 1.0
        change = np.linalg.lstsq(M / scale, y, rcond=None)[0]
        beta, g = beta + (change / scale)[:r], _added(g, (change / scale)[r:], gained)
        step = float(np.linalg.norm(change)) / max(1.0, float(np.linalg.norm(np.concatenate([beta * scale[:r], scale[r:]]))))
        error = signal - g * (B @ beta + rest)
        if noise is None:
            sd = _robust_spread(error, signal) if robust else _spread(signal, signal - error, r)
        if robust:
            size = np.abs(error) / sd
            weights = np.where(size > HUBER, HUBER / np.maximum(size, HUBER), 1.0)
    root = np.sqrt(weights) / sd
    M = (_jacobian(B, rest, beta, g, gained) * root[:, :, None]).reshape(n * drives, -1) / scale
    full = np.linalg.pinv(M.T @ M, hermitian=True) / np.outer(scale, scale)
    gains, deviations = 1.0 / g, np.zeros(drives)
    deviations[list(gained)] = np.sqrt(np.diag(full)[r:]) / g[list(gained)] ** 2
    return LeastSquares(beta, full[:r, :r], gains, deviations, sd, signal - g * (B @ beta + rest), weights, sweeps)


def _first(B: np.ndarray, rest: np.ndarray, signal: np.ndarray, gained: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Linear start: B beta - k signal = -rest, with k of the drives whose gain is sought."""
    n, drives, r = B.shape
    columns = np.zeros((n, drives, len(gained)))
    for j, d in enumerate(gained):
        columns[:, d, j] = -signal[:, d]
    known = np.array([d not in gained for d in range(drives)])
    M, y = np.concatenate([B, columns], axis=2).reshape(n * drives, -1), (signal * known - rest).ravel()
    scale = np.linalg.norm(M, axis=0)
    scale[scale == 0.0] = 1.0
    if gained:
        s = np.linalg.svd(M / scale, compute_uv=False)
        if s[-1] < SEPARATE * s[0] or not np.abs(y).max() > KNOWN * np.abs(signal).max():
            raise UsageError(
                "the gains of the drives cannot be separated from the masses: doubling all of them changes nothing measured. Leave a "
                "body of known mass out of bodies=, add a known load or spring to the model, or leave one drive out of gains=.",
                name="gains",
            )
    z = np.linalg.lstsq(M / scale, y, rcond=None)[0] / scale
    k = np.ones(drives)
    k[list(gained)] = z[r:]
    if (k == 0.0).any():
        raise UsageError("a gain comes out as zero: the signal of that drive does not follow its torque. Check its column.", name="gains")
    return z[:r], 1.0 / k


def _jacobian(B: np.ndarray, rest: np.ndarray, beta: np.ndarray, g: np.ndarray, gained: Sequence[int]) -> np.ndarray:
    columns = np.zeros((*rest.shape, len(gained)))
    for j, d in enumerate(gained):
        columns[:, d, j] = (B[:, d] @ beta) + rest[:, d]
    return np.concatenate([B * g[None, :, None], columns], axis=2)


def _added(g: np.ndarray, change: np.ndarray, gained: Sequence[int]) -> np.ndarray:
    out = g.copy()
    out[list(gained)] += change
    return out


def _spread(signal: np.ndarray, model: np.ndarray, unknowns: int) -> np.ndarray:
    """Standard deviation of each drive's residual, for the unknowns that were fitted to all of them."""
    n, drives = signal.shape
    free = max(1.0, n - unknowns / drives)
    return np.maximum(np.sqrt(((signal - model) ** 2).sum(axis=0) / free), FLOOR * max(1e-30, float(np.abs(signal).max())))


def _robust_spread(error: np.ndarray, signal: np.ndarray) -> np.ndarray:
    return np.maximum(MAD * np.median(np.abs(error), axis=0), FLOOR * max(1e-30, float(np.abs(signal).max())))

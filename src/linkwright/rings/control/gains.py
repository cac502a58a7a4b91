"""Gains as the caller may write them: one number for all coordinates, one each, or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.api import UsageError, nearest


def filled(P: Any, D: Any, labels: Sequence[str], kind: str) -> tuple[np.ndarray, np.ndarray]:
    """(P, D), one entry for every coordinate; D is critical damping of a unit inertia where it is not given."""
    stiff = gains(P, labels, f"{kind}: P")
    return stiff, 2.0 * np.sqrt(stiff) if D is None else gains(D, labels, f"{kind}: D")


def gains(given: Any, labels: Sequence[str], what: str, *, signed: bool = False) -> np.ndarray:
    """One finite number for every name, not negative unless `signed`."""
    if isinstance(given, Mapping):
        out = _by_name(given, labels, what, signed)
    else:
        try:
            out = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise UsageError(
                f"{what} is a number, one for each of {', '.join(labels)}, or a dict by name, not {given!r:.40}.",
                name=what,
                value=given,
                allowed=labels,
            ) from None
        if out.ndim == 0:
            out = np.full(len(labels), float(out))
    if out.shape != (len(labels),):
        raise UsageError(f"{what} needs one number, or {len(labels)}: {', '.join(labels)}.", name=what)
    if not (np.isfinite(out).all() and (signed or (out >= 0.0).all())):
        raise UsageError(f"{what} is finite{'' if signed else ' and not negative'}, not {given!r:.40}.", name=what, value=given)
    return out


def gain_matrix(given: Any, labels: Sequence[str], what: str, *, definite: bool = False) -> np.ndarray:
    """A symmetric matrix over all names, from one number, one each, a dict by name or the matrix itself; not negative, or `definite`."""
    n = len(labels)
    full = isinstance(given, (list, tuple, np.ndarray)) and np.ndim(np.asarray(given, dtype=object)) == 2
    try:
        out = np.asarray(given, dtype=float) if full else np.diag(gains(given, labels, what))
    except (TypeError, ValueError):
        raise UsageError(f"{what} is made of numbers in SI, not {given!r:.40}.", name=what, value=given) from None
    if out.shape != (n, n) or not np.isfinite(out).all() or not np.allclose(out, out.T, rtol=1e-9):
        raise UsageError(f"{what} as a matrix is symmetric and finite, {n} x {n}: {', '.join(labels)}.", name=what)
    least, most = np.linalg.eigvalsh(out)[[0, -1]]
    if least < -1e-12 * abs(most) or (definite and least <= 1e-12 * abs(most)):
        sign = "positive" if definite else "positive or zero"
        raise UsageError(f"{what} must be {sign} in every direction. Its smallest eigenvalue is {least:.4g}.", name=what, value=least)
    return out


def _by_name(given: Mapping[str, Any], labels: Sequence[str], what: str, signed: bool) -> np.ndarray:
    """A name stands for a coordinate, or for all components of a point or pose (`platform` for `platform.x` ...)."""
    out = np.full(len(labels), np.nan)
    for name, value in given.items():
        mine = [i for i, label in enumerate(labels) if label == name or label.startswith(f"{name}.")]
        if not mine:
            raise UsageError(f"{what}: '{name}' is not followed.", nearest(str(name), labels, "Followed"))
        out[mine] = gains(value, ["one"], f"{what} of '{name}'", signed=signed)[0]
    missing = [label for label, x in zip(labels, out, strict=True) if np.isnan(x)]
    if missing:
        raise UsageError(f"{what}: nothing is given for {', '.join(missing)}.", name=what)
    return out

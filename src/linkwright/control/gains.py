"""Gains as the caller may write them: one number for all coordinates, one each, or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.errors import UsageError, nearest


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
            raise UsageError(f"{what} is a number, one for each of {', '.join(labels)}, or a dict by name; not {given!r:.40}.") from None
        if out.ndim == 0:
            out = np.full(len(labels), float(out))
    if out.shape != (len(labels),):
        raise UsageError(f"{what} needs one number, or {len(labels)}: {', '.join(labels)}.")
    if not (np.isfinite(out).all() and (signed or (out >= 0.0).all())):
        raise UsageError(f"{what} is finite{'' if signed else ' and not negative'}, not {given!r:.40}.")
    return out


def _by_name(given: Mapping[str, Any], labels: Sequence[str], what: str, signed: bool) -> np.ndarray:
    """A name stands for a coordinate, or for all components of a point or pose (`platform` for `platform.x` ...)."""
    out = np.full(len(labels), np.nan)
    for name, value in given.items():
        mine = [i for i, label in enumerate(labels) if label == name or label.startswith(f"{name}.")]
        if not mine:
            raise UsageError(f"{what}: '{name}' is not followed. {nearest(str(name), labels, 'Followed')}")
        out[mine] = gains(value, ["one"], f"{what} of '{name}'", signed=signed)[0]
    missing = [label for label, x in zip(labels, out, strict=True) if np.isnan(x)]
    if missing:
        raise UsageError(f"{what}: nothing is given for {', '.join(missing)}.")
    return out

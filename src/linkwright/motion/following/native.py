"""A prescribed motion of joints and points in native code: the walk of a turn, with paths in place of drives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwright.motion.following.prescribed import PrescribedPath
from linkwright.results.channel_programs import cut_references
from linkwright.results.records import CountedReferences
from linkwright.results.singular_positions import steep_minima
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory

SHORT = 0.3  # rad, or multiples of kappa: samples that far apart are joined by a straight line
ON_FLOATS = 0.008  # seconds of a sample walked to on floats


def swept(
    first: State, paths: Sequence[PrescribedPath], times: np.ndarray, walking: Callable[..., Any] | None, kappa: float
) -> Trajectory | None:
    """Samples from the first one on; None where paths do not decide the motion one by one, or a singular position may lie on the way."""
    if walking is None or any(w.kind == "body" or not close_together(w, times, kappa) for w in paths):
        return None
    names = [f"{w.name}.{axis}" if w.kind == "point" else w.name for w in paths for axis in "xyz"[: len(w.kinds)]]
    walks = walking(names, seconds=ON_FLOATS * len(times))
    if walks is None:
        return None
    skel = first.skel
    laws = np.concatenate([np.asarray(w.jets[k], dtype=float).reshape(len(times), -1) for k in range(3) for w in paths], axis=1)
    found = walks(first.q, skel.pack(first.references), times, laws)
    if found.reached < len(times) or steep_minima(np.abs(found.determinant)):
        return None
    counted = CountedReferences(skel, found.q, lambda: cut_references(skel, times, found.q, found.v, found.references).rows)
    return Trajectory(skel, times, found.q, found.v, found.a, counted)


def close_together(w: PrescribedPath, times: np.ndarray, kappa: float) -> bool:
    """True if the path between any two samples is nearly straight: both the way and its ends' speeds are short."""
    scale = np.array([kappa if kind == "length" else 1.0 for kind in w.kinds])
    f, df = (np.asarray(x, dtype=float).reshape(len(times), -1) / scale for x in w.jets[:2])
    h = np.diff(times)[:, None]
    longest = [np.abs(x).max(initial=0.0) for x in (np.diff(f, axis=0), h * df[1:], h * df[:-1])]
    return max(longest) < SHORT

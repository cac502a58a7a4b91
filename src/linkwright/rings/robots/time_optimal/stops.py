"""Pieces of a path between stops: corners, and places where the path itself rests or reverses. Each is traveled from rest to rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from linkwright.api import SAME_PLACE, UsageError
from linkwright.model.curves.tables import SampledSpline
from linkwright.motion.following.prescribed import PrescribedPath
from linkwright.motion.following.smoothness import JUMP, break_places, jets, sizes
from linkwright.rings.robots.time_optimal.smooth_laws import grid

SAMPLES = 400  # at which a path is examined for stops
RESTS = 1e-3  # share of the mean rate of a path below which it rests


class PathPiece(NamedTuple):
    """A part of the path: the paths of all names over s, and its grid."""

    paths: list[PrescribedPath]
    s: np.ndarray


def pieces(
    paths: Sequence[PrescribedPath], span: tuple[float, float], steps: int, kappa: float, law: str
) -> tuple[list[PathPiece], list[str]]:
    """The path in pieces from stop to stop, with notes on stops inside it."""
    from scipy.integrate import trapezoid

    whole = span[1] - span[0]
    s = np.linspace(*span, SAMPLES + 1)
    rate = _rate(paths, s, kappa)
    if not np.isfinite(rate).all():
        raise UsageError(f"fastest: the path is not finite at s = {s[int(np.argmin(np.isfinite(rate)))]:.5g}.")
    length = float(trapezoid(rate, s))
    if length < SAME_PLACE:
        names = " and ".join(f"'{w.name}'" for w in paths)
        raise UsageError(f"fastest: the path of {names} has no length: it rests from s = {span[0]:g} to {span[1]:g}.")
    corners, rests = _corners(paths, s), _rests(paths, s, rate, length / whole, kappa)
    stops = _apart(sorted([*corners, *rests]), span, whole)
    notes = []
    if corners:
        notes.append(
            f"the path has {_count(corners, 'corner')} at s = {_listed(corners)}: the motion stops there. Round it to pass without a stop: "
            "lw.control.polyline(points, rounding='10 mm')."
        )
    inner = [x for x in rests if span[0] < x < span[1]]
    if inner:
        notes.append(f"the path rests or reverses at s = {_listed(inner)}: the motion stops there.")
    ends = [span[0], *stops, span[1]]
    parts = [_part(rate, s, a, b) for a, b in pairwise(ends)]
    out = []
    beside = 2e-7  # of the whole parameter: a piece begins that far behind a corner
    least = 24  # steps of a piece
    for (a, b), part in zip(pairwise(ends), parts, strict=True):
        if part < SAME_PLACE:
            continue
        low, high = a + beside * whole * (a > span[0]), b - beside * whole * (b < span[1])
        out.append(_piece(paths, low, high, max(least, 4 * round(0.25 * steps * part / length)), kappa, law))
    return out, notes


def _count(x: Sequence[float], what: str) -> str:
    return f"a {what}" if len(x) == 1 else f"{len(x)} {what}s"


def _listed(x: Sequence[float]) -> str:
    return ", ".join(f"{y:.5g}" for y in x[:6]) + (" ..." if len(x) > 6 else "")


def _part(rate: np.ndarray, s: np.ndarray, a: float, b: float) -> float:
    """Length between two places."""
    total = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(s))])
    return float(np.interp(b, s, total) - np.interp(a, s, total))


def _first(paths: Sequence[PrescribedPath], s: np.ndarray, kappa: float) -> np.ndarray:
    """Dimensionless rates of all entries, (n, entries)."""
    return np.concatenate([jets(w.curve, s).df / [kappa if k == "length" else 1.0 for k in w.kinds] for w in paths], axis=1)


def _rate(paths: Sequence[PrescribedPath], s: np.ndarray, kappa: float) -> np.ndarray:
    return np.sqrt((_first(paths, s, kappa) ** 2).sum(axis=1))


def _corners(paths: Sequence[PrescribedPath], s: np.ndarray) -> list[float]:
    """Places where the direction or the rate of a path jumps."""
    out: list[float] = []
    for w in paths:
        x = jets(w.curve, s)
        size = sizes(x, w.kinds, float(s[-1] - s[0]))
        found = break_places(w.curve, s, x, size)
        bad = np.abs(found.jump) > JUMP * size.f
        if bad.any():
            at = float(found.t[np.argmax(bad.any(axis=1))])
            raise UsageError(
                f"fastest: the path of '{w.name}' jumps at s = {at:.5g}. Join its ends, or compute the motions one by one.", name=w.name
            )
        out += found.t.tolist()
    step = float(s[1] - s[0])
    return [x for i, x in enumerate(sorted(out)) if i == 0 or x - sorted(out)[i - 1] > 1e-3 * step]


def _rests(paths: Sequence[PrescribedPath], s: np.ndarray, rate: np.ndarray, mean: float, kappa: float) -> list[float]:
    """Places where the path rests: minima of its rate, found by golden sections between samples."""
    from scipy.optimize import minimize_scalar

    out = [float(s[i]) for i in (0, -1) if rate[i] < RESTS * mean]
    for i in range(1, len(s) - 1):
        if rate[i] <= rate[i - 1] and rate[i] <= rate[i + 1] and rate[i] < 0.2 * mean:
            found = minimize_scalar(
                lambda x: float(_rate(paths, np.array([x]), kappa)[0]),
                bounds=(s[i - 1], s[i + 1]),
                method="bounded",
                options={"xatol": 1e-10},
            )
            if found.fun < RESTS * mean:
                out.append(float(found.x))
    return sorted(out)


def _apart(x: Sequence[float], span: tuple[float, float], whole: float) -> list[float]:
    """Places inside the span, each once."""
    inside = [y for y in x if span[0] + 1e-6 * whole < y < span[1] - 1e-6 * whole]
    return [y for i, y in enumerate(inside) if i == 0 or y - inside[i - 1] > 1e-6 * whole]


def _piece(paths: Sequence[PrescribedPath], low: float, high: float, steps: int, kappa: float, law: str) -> PathPiece:
    even = np.linspace(low, high, max(steps, SAMPLES) + 1)
    rate, s = _rate(paths, even, kappa), low + (high - low) * grid(law, steps)
    if rate.min() > RESTS * rate.mean():
        return PathPiece([replace(w, t=s) for w in paths], s)
    # the path has a timing of its own and rests at an end: the same places over its length
    from scipy.interpolate import CubicSpline

    dense = np.linspace(low, high, 8 * len(even))
    length = CubicSpline(dense, _rate(paths, dense, kappa)).antiderivative()
    share = low + (high - low) * length(dense) / float(length(high))
    keep = np.concatenate([[True], np.diff(share) > 1e-9 * (high - low)])
    at = np.interp(even, share[keep], dense[keep])
    at[0], at[-1] = low, high
    where = low + (high - low) * length(at) / float(length(high))
    return PathPiece([replace(w, curve=SampledSpline(where, jets(w.curve, at).f), t=s) for w in paths], s)

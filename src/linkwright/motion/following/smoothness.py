"""Notes on a prescribed path: accelerations that are not well known, jumps and corners."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.model.curves import Curve
from linkwright.model.curves.tables import SampledSpline

DOUBTFUL = 1e-3  # share of the largest acceleration above which its error is reported
JUMP, CORNER = 1e-4, 1e-3  # share of the range of values, and of the largest speed, that does not go away when looked at closely
HALVINGS = 16
MOST = 24  # places that are looked at closely
LISTED_CORNERS = 4  # of them reported


class Jets(NamedTuple):
    """Values, rates and second rates at some times: (n, entries) each."""

    f: np.ndarray
    df: np.ndarray
    ddf: np.ndarray


def jets(curve: Curve, t: np.ndarray) -> Jets:
    return Jets(*(np.stack(x if curve.size else [x], axis=1) for x in curve(t)))


class Sizes(NamedTuple):
    """Typical sizes along a curve, for each of its entries: range, largest speed, largest acceleration of its kind."""

    f: np.ndarray
    df: np.ndarray
    ddf: np.ndarray


def sizes(x: Jets, kinds: tuple[str, ...], span: float) -> Sizes:
    same = np.array([[a == b for b in kinds] for a in kinds])

    def largest(values: np.ndarray) -> np.ndarray:
        return np.where(same, values.max(axis=0), 0.0).max(axis=1)

    f = np.maximum(largest(x.f - x.f.min(axis=0)), 1e-6 * largest(np.abs(x.f)) + 1e-300)
    df = np.maximum(largest(np.abs(x.df)), f / span)
    return Sizes(f, df, np.maximum(largest(np.abs(x.ddf)), df / span))


def doubts(curve: Curve, t: np.ndarray, size: Sizes, what: str) -> list[str]:
    """A note where accelerations are not well known."""
    error = curve.doubt(t)
    share = (np.stack(error if curve.size else [error], axis=1) / size.ddf).max(axis=1)
    worst = int(np.argmax(share))
    if not share[worst] > DOUBTFUL:
        return []
    about = f"{100.0 * share[worst]:.2g} %" if share[worst] < 1.0 else "all of their size"
    if isinstance(curve, SampledSpline):
        why = "they are taken from a spline through the samples. Give more samples, or a function of t"
    else:
        why = (
            "its function cannot be traced and is not smooth enough for differences. Write it with numpy's functions (np.sin), without `if`"
        )
    return [f"accelerations of the {what} are known to about {about} at t = {t[worst]:.6g} s: {why}"]


class Breaks(NamedTuple):
    """Places of jumps and corners, with the jump of the value and of the rate there, (n,) and (n, entries)."""

    t: np.ndarray
    jump: np.ndarray
    corner: np.ndarray


def breaks(curve: Curve, t: np.ndarray, x: Jets, size: Sizes, kinds: tuple[str, ...], what: str) -> list[str]:
    """Notes on jumps and corners between or at the samples."""
    found = break_places(curve, t, x, size)
    return _break_notes(*found, size, kinds, what, (t[-1] - t[0]) / len(t)) if len(found.t) else []


def break_places(curve: Curve, t: np.ndarray, x: Jets, size: Sizes) -> Breaks:
    """Jumps and corners between or at the samples.

    What f' says about the way from one time to the next, and f'' about the change of f', is held against f and f'. The rest
    vanishes with the distance where a curve is smooth; where it stays while an interval is halved again and again, there is a break.
    """
    none = Breaks(np.zeros(0), np.zeros((0, x.f.shape[1])), np.zeros((0, x.f.shape[1])))
    if isinstance(curve, SampledSpline):  # smooth by what it is
        return none
    a, b = (t[:-1], Jets(*(y[:-1] for y in x))), (t[1:], Jets(*(y[1:] for y in x)))
    bad, jump, corner = _unexplained(a, b, size)
    for _ in range(HALVINGS):
        keep = np.flatnonzero(bad)[:MOST]
        if not len(keep):
            return none
        a, b = _take(a, keep), _take(b, keep)
        middle = 0.5 * (a[0] + b[0])
        m = (middle, jets(curve, middle))
        a, b = _joined(a, m), _joined(m, b)
        bad, jump, corner = _unexplained(a, b, size)
    return Breaks(0.5 * (a[0] + b[0])[bad], jump[bad], corner[bad])


Ends = tuple[np.ndarray, Jets]


def _unexplained(a: Ends, b: Ends, size: Sizes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True where an interval hides something; parts of f, and of f', its ends do not explain (Hermite's quadrature, the trapezoid)."""
    (ta, x), (tb, y) = a, b
    h = (tb - ta)[:, None]
    jump = y.f - x.f - 0.5 * h * (x.df + y.df) - h * h / 12.0 * (x.ddf - y.ddf)
    corner = y.df - x.df - 0.5 * h * (x.ddf + y.ddf)
    found = np.concatenate([np.abs(jump) > JUMP * size.f, np.abs(corner) > CORNER * size.df], axis=1)
    return np.any(found, axis=1), jump, corner


def _take(a: Ends, rows: np.ndarray) -> Ends:
    return a[0][rows], Jets(*(y[rows] for y in a[1]))


def _joined(a: Ends, b: Ends) -> Ends:
    return np.concatenate([a[0], b[0]]), Jets(*(np.concatenate([x, y]) for x, y in zip(a[1], b[1], strict=True)))


def _break_notes(
    t: np.ndarray, jump: np.ndarray, corner: np.ndarray, size: Sizes, kinds: tuple[str, ...], what: str, step: float
) -> list[str]:
    order = np.argsort(t)
    apart = [i for k, i in enumerate(order) if k == 0 or t[i] - t[order[k - 1]] > 1e-3 * step]
    laws_now = []
    for i in apart[:LISTED_CORNERS]:
        which = int(np.argmax(np.abs(jump[i]) / size.f))
        unit = "rad" if kinds[which] == "angle" else "m" if kinds[which] == "length" else ""
        if abs(jump[i][which]) > JUMP * size.f[which]:
            laws_now.append(f"the {what} jumps at t = {t[i]:.5g} s by {abs(jump[i][which]):.3g} {unit}".rstrip())
        else:
            which = int(np.argmax(np.abs(corner[i]) / size.df))
            laws_now.append(
                f"the {what} has a corner at t = {t[i]:.5g} s: its speed jumps by {abs(corner[i][which]):.3g} {unit}/s".rstrip()
            )
    if not laws_now:
        return []
    more = f" (and {len(apart) - LISTED_CORNERS} more)" if len(apart) > LISTED_CORNERS else ""
    return [f"{'; '.join(laws_now)}{more}. No finite effort does that: accelerations and efforts are those on either side of it"]

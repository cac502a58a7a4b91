"""Reductions of a channel at its samples: extremes, means over time by trapezoids, ends of a window, the first time beyond a limit."""

from __future__ import annotations

import numpy as np

EXTREMES = ("max", "min", "peak", "range")


def reduced(how: str, x: np.ndarray, t: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Reduce (motions, samples) along the samples that count; nan where there is none."""
    if mask is None:
        mask = np.ones(x.shape, dtype=bool)
    some = mask.any(axis=1)
    if how in ("start", "end"):
        return np.where(some, x[np.arange(len(x)), _end(mask, how)], np.nan)
    if how in EXTREMES:
        size = np.abs(x) if how == "peak" else x
        high = np.where(mask, size, -np.inf).max(axis=1)
        low = np.where(mask, size, np.inf).min(axis=1)
        spread = np.where(some, high, 0.0) - np.where(some, low, 0.0)
        found = {"max": high, "peak": high, "min": low, "range": spread}
        return np.where(some, found[how], np.nan)
    weight = _weights(t, mask)
    total = weight.sum(axis=1)
    total = np.where(total > 0.0, total, np.nan)
    clean = np.where(mask, x, 0.0)
    mean = (weight * clean).sum(axis=1) / total
    if how == "mean":
        return mean
    square = (weight * clean**2).sum(axis=1) / total
    return np.sqrt(square if how == "rms" else np.maximum(square - mean**2, 0.0))


def extremes_at(how: str, x: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """(motions, 1 or 2): numbers of the values that an extreme is made of; of a range two."""
    size = np.abs(x) if how == "peak" else x
    counted = np.ones(x.shape, dtype=bool) if mask is None else mask
    high, low = np.argmax(np.where(counted, size, -np.inf), axis=1), np.argmin(np.where(counted, size, np.inf), axis=1)
    return np.stack({"range": [high, low], "min": [low]}.get(how, [high]), axis=1)


def reduction_pull(how: str, x: np.ndarray, t: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Derivatives of a reduction of one motion by its samples (n,); nan where no sample counts. A largest value is differentiated at its
    sample, a window holds the samples it has."""
    mask = np.ones(len(x), dtype=bool) if mask is None else mask
    out = np.zeros(len(x))
    if not mask.any():
        return np.full(len(x), np.nan)
    if how in ("start", "end"):
        out[_end(mask[None], how)[0]] = 1.0
        return out
    at = np.flatnonzero(mask)
    if how in EXTREMES:
        low, high, far = (at[pick(x[at])] for pick in (np.argmin, np.argmax, lambda y: int(np.argmax(np.abs(y)))))
        if how == "peak":
            out[far] = np.sign(x[far])
        else:
            out[high] += how != "min"
            out[low] += {"max": 0.0, "min": 1.0, "range": -1.0}[how]
        return out
    weight = _weights(t[None], mask[None])[0]
    weight = weight / weight.sum()
    if how == "mean":
        return weight
    clean = np.where(mask, x, 0.0)
    mean, square = weight @ clean, weight @ clean**2
    size = np.sqrt(square if how == "rms" else max(square - mean**2, 0.0))
    return weight * (clean if how == "rms" else clean - mean) / (size if size > 0.0 else np.nan)


def _end(mask: np.ndarray, how: str) -> np.ndarray:
    """The first or last sample of every window; of one that goes through the end of the cycle where it begins and ends there."""
    n = mask.shape[1]
    first, last = np.argmax(mask, axis=1), n - 1 - np.argmax(mask[:, ::-1], axis=1)
    through = mask[:, 0] & mask[:, -1] & ~mask.all(axis=1)
    begin = n - np.argmax(~mask[:, ::-1], axis=1)  # after the last sample that does not count
    finish = np.argmax(~mask, axis=1) - 1
    return np.where(through, begin, first) if how == "start" else np.where(through, finish, last)


def _weights(t: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Trapezoids between neighbors that both count; a sample alone counts by itself."""
    if t.shape[1] == 1:
        return mask.astype(float)
    steps = np.abs(np.diff(t, axis=1)) * (mask[:, 1:] & mask[:, :-1])
    weight = np.zeros(t.shape)
    weight[:, 1:] += 0.5 * steps
    weight[:, :-1] += 0.5 * steps
    alone = weight.sum(axis=1) == 0.0
    return np.where(alone[:, None], mask.astype(float), weight)


def first_time(x: np.ndarray, t: np.ndarray, limit: float, above: bool) -> np.ndarray:
    """The first time at which x is beyond the limit; nan where it never is."""
    over = x - limit if above else limit - x
    hit = over >= 0.0
    at = np.argmax(hit, axis=1)
    rows = np.arange(len(x))
    before = np.maximum(at - 1, 0)
    a, b = over[rows, before], over[rows, at]
    share = np.where((at > 0) & (b > a), -a / np.where(b > a, b - a, 1.0), 1.0)
    when = t[rows, before] + share * (t[rows, at] - t[rows, before])
    return np.where(hit.any(axis=1), when, np.nan)


def first_time_pull(x: np.ndarray, t: np.ndarray, limit: float, above: bool) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of that time by the samples of x and of t, (n,) each: -dx over the rate of x there."""
    over = x - limit if above else limit - x
    hit = np.flatnonzero(over >= 0.0)
    by_x, by_t = np.zeros(len(x)), np.zeros(len(x))
    if not len(hit):
        return by_x * np.nan, by_t
    if hit[0] == 0:
        by_t[0] = 1.0
        return by_x, by_t
    b, a = hit[0], hit[0] - 1
    rate = (x[b] - x[a]) / (t[b] - t[a])
    share = (limit - x[a]) / (x[b] - x[a])
    by_x[[a, b]] = -(1.0 - share) / rate, -share / rate
    by_t[[a, b]] = 1.0 - share, share
    return by_x, by_t

"""Ends of a window between samples: extremes over `while 100..180 deg` do not depend on where the samples lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WHOLE = 2.0 * np.pi
AT_SAMPLE = 1e-6  # share of a step: an end this near a sample is that sample


@dataclass(frozen=True, eq=False)
class WindowEnds:
    """Places between a sample and its next one, (motions, places): number of the sample, share of the step; NaN where there is none."""

    before: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, axis: np.ndarray, ends: tuple[float, ...], turns: bool) -> WindowEnds:
        """Return where an abscissa (motions, samples) passes these values, in every revolution if it is an angle that turns.

        An abscissa that rests or reverses has no such places.
        """
        steps = np.diff(axis, axis=1)
        up = np.where(steps[:, :1] < 0.0, -1.0, 1.0)
        one_way = np.all(up * steps > 0.0, axis=1)
        s = up * axis
        found = [_passed(s, x, one_way) for end in ends for x in _places(s, (up * end)[:, 0], turns)]
        return cls(np.stack([before for before, _ in found], axis=1), np.stack([share for _, share in found], axis=1))

    @property
    def there(self) -> np.ndarray:
        """True where a motion has the place."""
        return np.isfinite(self.share)

    def cut(self, samples: int) -> np.ndarray:
        """Return shares at which steps are cut by an end, (motions, steps); NaN of the others."""
        out = np.full((len(self.share), samples - 1), np.nan)
        rows, places = np.nonzero(self.there)
        out[rows, self.before[rows, places]] = self.share[rows, places]
        return out

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return a channel (motions, samples) at the places by the straight line, which stays between its neighbors."""
        rows = np.arange(len(x))[:, None]
        first = x[rows, self.before]
        return first + self.share * (x[rows, self.before + 1] - first)

    def folded(self, weights: np.ndarray) -> np.ndarray:
        """Return weights of samples and places of the first motion, (samples + places, ...), as those of its samples."""
        n = len(weights) - self.share.shape[1]
        out = weights[:n].copy()
        for k in np.flatnonzero(self.there[0]):
            i, share = self.before[0, k], self.share[0, k]
            out[i] += (1.0 - share) * weights[n + k]
            out[i + 1] += share * weights[n + k]
        return out


def _places(s: np.ndarray, end: np.ndarray, turns: bool) -> list[np.ndarray]:
    """The value itself, or those by whole turns from it that lie in the motion, (motions,) each."""
    if not turns:
        return [end]
    first = end + WHOLE * np.ceil((s[:, 0] - end) / WHOLE)
    span = float(np.nanmax(s[:, -1] - s[:, 0], initial=0.0))
    return [first + WHOLE * k for k in range(max(1, int(np.ceil(span / WHOLE - AT_SAMPLE))))]


def _passed(s: np.ndarray, x: np.ndarray, one_way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of the last sample before x and share of the step up to it, (motions,)."""
    count = (s <= x[:, None]).sum(axis=1)
    inside = one_way & (count > 0) & (count < s.shape[1])
    before, rows = np.where(inside, count - 1, 0), np.arange(len(s))
    low, high = s[rows, before], s[rows, np.minimum(before + 1, s.shape[1] - 1)]
    share = (x - low) / np.where(inside, high - low, 1.0)
    return before, np.where(inside & (share > AT_SAMPLE) & (share < 1.0 - AT_SAMPLE), share, np.nan)

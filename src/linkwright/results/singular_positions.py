"""Singular positions of a cycle: where the loops together with the drives lose rank, and which samples are near.

Along the cycle the smallest singular value that counts (that of the generic rank: redundant rows are zero everywhere) falls to zero at
a singular position: a dead center ends the travel of the drive; at a passage two branches meet, and the cycle continues on the smooth
one. Loads grow with its inverse, so the largest value among the samples depends on how close one of them comes to the position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import listing
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.singular_geometry import at_dead_center, geometry_text
from linkwright.numerics.tolerances import RANK

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory


SINGULAR = 1e-3  # of the median along the cycle: below it a minimum counts as a singular position
NEAR_SINGULAR = 0.1  # of the median: samples next to a singular position below this are near it
STEEP = 0.6  # a minimum with larger values on both sides is no zero between samples: |x| gives 1/3 beside it at most
ROUNDS = 60  # most evaluations to locate one; some 10 do
LISTED_POSITIONS = 6  # places listed by name in a note


@dataclass(frozen=True)
class SingularPlace:
    """A singular position of a cycle. `kind`: "dead center" (the drive cannot move past it) or "passage" (the cycle goes through)."""

    kind: str
    t: float  # time in the cycle; a dead center lies just outside of the samples
    drive: str
    at: float  # position of the leading drive, SI
    strength: float  # smallest singular value there, as a share of its median along the cycle
    geometry: str = ""  # what is special about the links there: "coupler and rocker are in line (B, C, D stretched)"; or nothing


@dataclass(frozen=True)
class Scale:
    """How states along a cycle are compared: the generic rank, and the median of the smallest singular value that counts."""

    rank: int
    median: float

    @classmethod
    def of(cls, spectra: Sequence[np.ndarray]) -> Scale:
        rank = max((int(np.count_nonzero(s > RANK)) for s in spectra), default=0)
        return cls(rank, float(np.median([s[rank - 1] for s in spectra])) if rank else 1.0)

    def strength(self, spectrum: np.ndarray) -> float:
        """The smallest singular value of the generic rank, as a share of its median."""
        return float(spectrum[self.rank - 1]) / self.median if self.rank and self.median > 0.0 else 1.0


def located(t: np.ndarray, strength: np.ndarray, at: Callable[[int, float], float | None]) -> list[tuple[float, float]]:
    """(t, strength) of the zeros along a path; at(i, t) is the strength at t >= t[i], None where it cannot be followed.

    The path has the samples and all steps between them, which are short where the strength is small.
    """
    out = []
    for i in steep_minima(strength):
        low, high = max(i - 1, 0), min(i + 1, len(t) - 1)
        found = (float(t[i]), float(strength[i]))
        if found[1] > RANK:
            found = _least(float(t[low]), float(t[high]), lambda x, i=low: at(i, x), found)
        if found[1] < SINGULAR:
            out.append(found)
    return out


def steep_minima(strength: np.ndarray) -> list[int]:
    """Samples lower than their neighbors, and steep enough on one side for a zero."""
    padded = np.concatenate([[np.inf], strength, [np.inf]])
    left, here, right = padded[:-2], padded[1:-1], padded[2:]
    beside = np.maximum(np.where(np.isfinite(left), left, 0.0), np.where(np.isfinite(right), right, 0.0))
    return [int(i) for i in np.flatnonzero((here <= left) & (here < right) & (here <= STEEP * beside))]


def _least(low: float, high: float, f: Callable[[float], float | None], known: tuple[float, float]) -> tuple[float, float]:
    """Minimum of f on [low, high] by Brent's method on its square, which is smooth at a zero."""
    from scipy.optimize import minimize_scalar

    best = known

    def square(x: float) -> float:
        nonlocal best
        y = f(float(x))
        if y is None:
            return 1e6
        if y < best[1]:
            best = (float(x), y)
        return y * y

    minimize_scalar(square, bounds=(low, high), method="bounded", options={"xatol": 1e-9 * (high - low), "maxiter": ROUNDS})
    return best


def near_places(t: np.ndarray, strength: np.ndarray, places: Sequence[SingularPlace]) -> np.ndarray:
    """Mask of samples near one of the places: those on both sides of it, and their neighbors as far as the strength is low."""
    mask = np.zeros(len(t), dtype=bool)
    low = strength < NEAR_SINGULAR
    for p in places:
        k = int(np.searchsorted(t, p.t))
        for first, step in ((k - 1, -1), (k, 1)):
            i = first
            while 0 <= i < len(t) and (i == first or low[i]):
                mask[i] = True
                i += step
    return mask


PEAKS = "Loads grow without bound toward a singular position: values marked * depend on how close the nearest sample is to it."
NEAR_PEAK = "the peak is taken near a singular position: it depends on how close the nearest sample is to it"


def passage_note(places: Sequence[SingularPlace], text: Callable[[float], str]) -> str:
    """`passes a singular position at cyl = 519.4 mm`: where the cycle went through; text(at) writes a position of the drive."""
    where = list(dict.fromkeys(text(p.at) for p in places))
    some = where if len(where) <= LISTED_POSITIONS else [*where[:LISTED_POSITIONS], f"{len(where) - LISTED_POSITIONS} more"]
    return f"passes {'a singular position' if len(where) == 1 else 'singular positions'} at {places[0].drive} = {listing(some)}"


# ----------------------------------------------------------------------------------------------------
# Singular positions of a cycle with what is special about the links there, read from the self-stress (`singular_geometry`)
# A cycle stores the positions next to them and what its drives were; the text is made on demand.

PLACES, NEXT_TO = "singular", "next_to_singular"  # settings of a cycle


def stored(places: Sequence[SingularPlace], next_to: Sequence[tuple[np.ndarray, Mapping[str, float]]]) -> dict[str, Any]:
    """Settings of a cycle: its places, and for each a position q next to it with the positions of the drives."""
    near = [{"q": [float(x) for x in q], "drives": dict(drives)} for q, drives in next_to]
    return {PLACES: [asdict(x) for x in places], NEXT_TO: near}


def places_of(settings: Mapping[str, Any]) -> tuple[SingularPlace, ...]:
    """The places alone."""
    return tuple(SingularPlace(**x) for x in settings.get(PLACES, ()))


def described_places(c: Trajectory) -> tuple[SingularPlace, ...]:
    """The singular positions of a cycle, described where they have such a reading."""
    places, next_to = places_of(c.settings), c.settings.get(NEXT_TO, ())
    if not next_to:
        return places
    units, ordinary = c.skel.tree.description.units, _ordinary(c)
    out = []
    for place, near in zip(places, next_to, strict=True):
        here = Instant(c.skel, np.array(near["q"]), np.zeros(c.skel.tree.nv), 0.0, c.references[int(np.abs(c.t - place.t).argmin())])
        found = at_dead_center(c.frame, near["drives"], place.drive, here, ordinary)
        out.append(replace(place, geometry=geometry_text(found, units)))
    return tuple(out)


def _ordinary(c: Trajectory) -> Instant:
    """The sample that is farthest from singular positions."""
    times = np.array([x.t for x in places_of(c.settings)])
    i = int(np.abs(c.t[:, None] - times).min(axis=1).argmax())
    return Instant(c.skel, c.q[i], np.zeros(c.skel.tree.nv), 0.0, c.references[i])

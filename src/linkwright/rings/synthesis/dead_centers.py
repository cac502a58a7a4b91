"""Dead-center construction: crank-rockers of given swing and time ratio, slider-cranks of given stroke and time ratio, in closed form.

In the dead centers crank and coupler are in line: the end B of the coupler is at a + b and at b - a from the crank pivot A, which sees both
ends of travel under the angle theta = pi (q - 1)/(q + 1) for strokes that last q : 1. Hence

    (B_far - A) / (B_near - A) = rho exp(+- i theta),   rho = (b + a)/(b - a),   A = (B_far - rho e B_near) / (1 - rho e)

with e = exp(+- i theta): one family with the parameter rho > 1. The member of the best least transmission angle over the cycle is the first
listed (VDI 2130 charts the same optimum).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import UsageError
from linkwright.rings.synthesis.linkage import Guide, Linkage
from linkwright.rings.synthesis.results import SynthesizedLinkage

FAMILY = 4000  # values of rho that are examined


@dataclass(frozen=True, eq=False)
class DeadCenterFamily:
    """Linkages of one family in a frame of B: the crank pivot, the lengths and the least transmission angle; NaN where it has none."""

    pivot: np.ndarray
    crank: np.ndarray
    coupler: np.ndarray
    transmission: np.ndarray


def between_dead_centers(
    swing: float | None = None,
    time_ratio: float = 1.0,
    *,
    stroke: float | None = None,
    rocker: float = 0.1,
    crank: float | None = None,
    most_ratio: float = 10.0,
    least_transmission: float = 0.0,
    count: int = 5,
) -> tuple[list[SynthesizedLinkage], dict[str, Any], tuple[str, ...]]:
    """Return crank-rockers of given swing (rad), or slider-cranks of given stroke (m), whose two strokes last `time_ratio` : 1.

    rocker: its length in m.      crank: its length in m, which singles out a member of the family.
    The list begins with the member of best least transmission angle; others of the family follow.
    """
    if (swing is None) == (stroke is None):
        raise UsageError("give the swing of a rocker or the stroke of a slider, one of them.", name="swing")
    travel = _positive(stroke if swing is None else swing, "stroke" if swing is None else "swing")
    ratio = _positive(time_ratio, "time_ratio")
    ratio = max(ratio, 1.0 / ratio)  # the crank's direction of rotation makes it one or the other
    theta = np.pi * (ratio - 1.0) / (ratio + 1.0)
    if swing is not None and travel >= np.pi:
        raise UsageError("the swing of a crank-rocker is less than 180 deg. Use a gear or a six-bar for more.", name="swing")
    if not most_ratio > 1.0:
        raise UsageError("most_ratio is the longest link over the shortest: a number above 1.", name="most_ratio")
    if swing is None:
        ends, center, size = (0.5 * travel + 0j, -0.5 * travel + 0j), None, travel
    else:
        arm = _positive(rocker, "rocker")
        ends, center, size = (arm * np.exp(0.5j * travel), arm * np.exp(-0.5j * travel)), 0j, arm
    rho = 1.0 + np.exp(np.linspace(np.log(1e-3), np.log(1e4), FAMILY))
    families = [_family(ends, center, rho, sign * theta, float(most_ratio)) for sign in ((1.0, -1.0) if theta > 0.0 else (1.0,))]
    listed: list[SynthesizedLinkage] = []
    for sign, family in zip((1.0, -1.0), families, strict=False):
        for value in _members(family, rho, ends, center, sign * theta, float(most_ratio), crank, count):
            member = _family(ends, center, np.array([value]), sign * theta, float(most_ratio))
            if np.isfinite(member.transmission[0]) and member.transmission[0] >= least_transmission:
                listed.append(_answer(member, ends, center, travel, ratio))
    listed.sort(key=lambda s: -s.measures["least transmission angle"])
    listed = _different(listed, size)
    facts = {
        "time ratio": ratio,
        "angle between dead centers": theta,
        "members": sum(int(np.isfinite(f.transmission).sum()) for f in families),
    }
    return listed[:count], facts, _notes(listed, facts, most_ratio, least_transmission, crank)


def _positive(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0.0 < number < float("inf"):
        raise UsageError(f"{name} is a number above zero, not {value!r}.", name=name, value=value)
    return number


def _family(ends: tuple[complex, complex], center: complex | None, rho: np.ndarray, theta: float, most_ratio: float) -> DeadCenterFamily:
    """The linkages of all rho: those that turn fully on one circuit between these ends, within the link ratio."""
    far, near = ends
    turn = np.exp(1j * theta)
    with np.errstate(all="ignore"):
        pivot = (far - rho * turn * near) / (1.0 - rho * turn)
        longest, shortest = np.abs(far - pivot), np.abs(near - pivot)
        a, b = 0.5 * (longest - shortest), 0.5 * (longest + shortest)
        if center is None:
            offset = np.abs(pivot.imag)
            cosine = (a + offset) / b
            same = ((far - pivot).real > 0.0) == ((near - pivot).real > 0.0)  # the slider stays on one side of the pivot
            good = same & (b >= a + offset) & (b <= most_ratio * a)
        else:
            c, d = abs(far - center), np.abs(pivot - center)
            cosine = np.maximum(*(np.abs(b**2 + c**2 - (d + s * a) ** 2) / (2 * b * c) for s in (1.0, -1.0)))
            lengths = np.stack([a, b, np.full(a.shape, c), d])
            side = [((end - center) * np.conj(pivot - center)).imag for end in ends]
            good = (side[0] * side[1] > 0.0) & (a <= lengths[1:].min(axis=0)) & (a + lengths.max(axis=0) <= 0.5 * lengths.sum(axis=0))
            good &= lengths.max(axis=0) <= most_ratio * a
        angle = np.where(good & (a > 0.0) & (cosine <= 1.0), np.arccos(np.clip(cosine, -1.0, 1.0)), np.nan)
    return DeadCenterFamily(pivot, a, b, angle)


def _members(
    family: DeadCenterFamily,
    rho: np.ndarray,
    ends: tuple[complex, complex],
    center: complex | None,
    theta: float,
    most_ratio: float,
    crank: float | None,
    count: int,
) -> list[float]:
    """Values of rho to list: with a crank length those that have it, else the best one and others over the range of the family."""
    if crank is not None:
        wanted = _positive(crank, "crank")
        below = family.crank - wanted
        crossing = np.flatnonzero((below[1:] * below[:-1] <= 0.0) & np.isfinite(family.transmission[1:] + family.transmission[:-1]))
        return [_bisected(ends, center, theta, wanted, rho[k], rho[k + 1]) for k in crossing.tolist()]
    there = np.flatnonzero(np.isfinite(family.transmission))
    if not there.size:
        return []
    best = int(there[np.argmax(family.transmission[there])])
    low, high = rho[max(best - 1, there[0])], rho[min(best + 1, there[-1])]
    peak = _peak(lambda r: _family(ends, center, np.array([r]), theta, most_ratio).transmission[0], low, high)
    others = rho[there[np.linspace(0, len(there) - 1, count + 1).astype(int)[1:-1]]] if len(there) > count else rho[there]
    return [peak, float(rho[best]), *(float(r) for r in others)]


def _bisected(ends: tuple[complex, complex], center: complex | None, theta: float, crank: float, low: float, high: float) -> float:
    def short(r: float) -> float:
        return float(_family(ends, center, np.array([r]), theta, np.inf).crank[0]) - crank

    start = short(low)
    for _ in range(80):
        middle = 0.5 * (low + high)
        if short(middle) * start > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _peak(f: Any, low: float, high: float) -> float:
    """The highest point of a function of one peak, by the golden section; NaN counts as lowest."""
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    for _ in range(60):
        u, v = high - golden * (high - low), low + golden * (high - low)
        if np.nan_to_num(f(u), nan=-1.0) < np.nan_to_num(f(v), nan=-1.0):
            low = u
        else:
            high = v
    return 0.5 * (low + high)


def _answer(
    member: DeadCenterFamily, ends: tuple[complex, complex], center: complex | None, travel: float, ratio: float
) -> SynthesizedLinkage:
    """The linkage drawn in the outer dead center's neighborhood: the crank a quarter turn after it, where both closures are apart."""
    pivot, a, b = complex(member.pivot[0]), float(member.crank[0]), float(member.coupler[0])
    B = complex(pivot + a * 1j * (ends[0] - pivot) / abs(ends[0] - pivot))
    if center is None:
        side = 1.0 if (ends[0] - pivot).real > 0.0 else -1.0
        C = complex(B.real + side * np.sqrt(b**2 - B.imag**2))
        pins = {"A": pivot, "B": B, "C": C}
        bodies: dict[str, tuple[str, ...]] = {"ground": ("A",), "crank": ("A", "B"), "coupler": ("B", "C"), "slider": ("C",)}
        linkage = Linkage("slider-crank", pins, bodies, "A", guides={"guide": Guide("slider", "C", 1.0 + 0j)}, output="guide")
        lengths, name = (a, b), "stroke"
    else:
        c = abs(ends[0] - center)
        apart = center - B
        across = np.arccos(np.clip((b**2 + abs(apart) ** 2 - c**2) / (2 * b * abs(apart)), -1.0, 1.0))
        sides = [B + b * apart / abs(apart) * np.exp(s * 1j * across) for s in (1.0, -1.0)]
        # On the circuit of the ends of travel C stays on their side of A D.
        C = next(z for z in sides if ((z - B) * np.conj(center - z)).imag * _side(pivot, ends[0], a, b, center) > 0.0)
        pins = {"A": pivot, "B": B, "C": complex(C), "D": complex(center)}
        bodies = {"ground": ("A", "D"), "crank": ("A", "B"), "coupler": ("B", "C"), "rocker": ("C", "D")}
        linkage = Linkage("four-bar", pins, bodies, "A", output="D")
        lengths, name = (a, b, c, abs(pivot - center)), "swing"
    measures = {
        name: travel,
        "time ratio": ratio,
        "least transmission angle": float(member.transmission[0]),
        "link ratio": max(lengths) / min(lengths),
        "crank": a,
    }
    return SynthesizedLinkage(linkage, 0.0, (), measures)


def _side(pivot: complex, end: complex, a: float, b: float, center: complex) -> float:
    """Sign of the closure on which the ends of travel lie."""
    B = pivot + a * (end - pivot) / abs(end - pivot)
    return float(np.sign(((end - B) * np.conj(center - end)).imag))


def _different(listed: Sequence[SynthesizedLinkage], size: float) -> list[SynthesizedLinkage]:
    """Members that differ in the crank or the ground pivot by more than a hundredth of the size; mirror images count once."""
    out: list[SynthesizedLinkage] = []
    for s in listed:
        key = (s.measures["crank"], s.measures["least transmission angle"])
        if all(abs(key[0] - t.measures["crank"]) > 1e-3 * size or abs(key[1] - t.measures["least transmission angle"]) > 1e-3 for t in out):
            out.append(s)
    return out


def _notes(
    listed: Sequence[SynthesizedLinkage], facts: dict[str, Any], most_ratio: float, least_transmission: float, crank: float | None
) -> tuple[str, ...]:
    if listed and crank is None and listed[0].measures["link ratio"] > 0.98 * most_ratio:
        return (f"The best transmission angle is at the bound of the link ratio, most_ratio = {most_ratio:g}.",)
    if listed:
        return ()
    if not facts["members"]:
        return (
            f"No linkage has this travel and time ratio with a link ratio up to {most_ratio:g}. Lower the time ratio, or raise most_ratio.",
        )
    if crank is not None:
        return ("No member of the family has this crank length. Leave crank out to see the range.",)
    return (f"No member of the family reaches a transmission angle of {np.rad2deg(least_transmission):.4g} deg. Lower least_transmission.",)

"""Motion of one four-bar or slider-crank, crank-rocker or not, traced in closed form from its pins.

With the crank at an angle theta the linkage closes where low <= cos(theta - zero) <= high, in two ways (sigma = +-1) that meet where an
equality holds. So a circuit is a full turn of the crank with one sigma, or an interval of crank angles passed there with one sigma and back
with the other; its ends are dead centers of the drive. `CrankCircuit` runs through it once for s in [0, 2 pi), smoothly also at the ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.api import UsageError
from linkwright.mechanics.constraints.loops import characteristic_length
from linkwright.motion.change_points import undetermined
from linkwright.rings.synthesis.linkage import Linkage

Array = np.ndarray
TURN = 2.0 * np.pi
CHANGE_POINT = 1e-9  # of a cosine: where both circuits meet


@dataclass(frozen=True)
class CrankLinkage:
    """Pins of a four-bar or slider-crank in one position: driven pivot a, pins b and c, other pivot d or guide, coupler point p."""

    a: complex
    b: complex
    c: complex
    d: complex | None
    guide: complex | None
    p: complex | None

    @property
    def four_bar(self) -> bool:
        return self.d is not None

    @property
    def lengths(self) -> dict[str, float]:
        """Lengths of the links; of a slider-crank also the offset of its guide from the driven pivot."""
        out = {"crank": abs(self.b - self.a), "coupler": abs(self.c - self.b)}
        if self.d is not None:
            return {"ground": abs(self.d - self.a), **out, "rocker": abs(self.d - self.c)}
        return {**out, "offset": self._height(self.a)}

    def _height(self, z: complex) -> float:
        """Height of the guide above a point."""
        assert self.guide is not None
        return float(((self.c - z) * np.conj(self.guide)).imag)

    @property
    def sigma(self) -> float:
        """Side of the closure that is drawn: of c seen from b to d, or along the guide."""
        return float(self.side(np.array([self.b]), np.array([self.c]))[0])

    def side(self, b: Array, c: Array) -> Array:
        """Return +-1, the closure to which these pins belong."""
        if self.d is not None:
            return np.where(((c - b) * np.conj(self.d - b)).imag >= 0.0, 1.0, -1.0)
        assert self.guide is not None
        return np.where(((c - b) * np.conj(self.guide)).real >= 0.0, 1.0, -1.0)

    @property
    def limits(self) -> tuple[float, float, float]:
        """Zero, low and high of the crank angles at which the linkage closes: low <= cos(theta - zero) <= high."""
        size = self.lengths
        r2, r3 = size["crank"], size["coupler"]
        if self.d is not None:
            r1, r4 = size["ground"], size["rocker"]
            zero = float(np.angle(self.d - self.a))
            if r1 * r2 == 0.0:  # the distance from b to d does not depend on theta
                return zero, -np.inf, np.inf
            low, high = ((r1 * r1 + r2 * r2 - reach * reach) / (2.0 * r1 * r2) for reach in (r3 + r4, r3 - r4))
            return zero, low, high
        assert self.guide is not None
        # height of the guide above b: offset - r2 cos(theta - zero), zero along the normal of the guide
        zero, offset = float(np.angle(1j * self.guide)), size["offset"]
        return (zero, (offset - r3) / r2, (offset + r3) / r2) if r2 > 0.0 else (zero, -np.inf, np.inf)

    @property
    def slack(self) -> float:
        """Length by which the crank turns fully, negative where it does not: the reach of coupler and rocker less what a turn needs."""
        size = self.lengths
        r2, r3 = size["crank"], size["coupler"]
        if self.d is None:
            return r3 - abs(size["offset"]) - r2
        r1, r4 = size["ground"], size["rocker"]
        return min(r3 + r4 - r1 - r2, abs(r1 - r2) - abs(r3 - r4))

    @property
    def full_turn(self) -> bool | None:
        """True if the crank turns fully; None where it cannot be determined, as `motion.change_points` has it."""
        joints = [self.a, self.b, self.c, self.c if self.d is None else self.d]  # the slider's joint lies at its pin
        size = characteristic_length(np.array([[z.real, z.imag] for z in joints]))
        return None if undetermined(self.slack, size) else self.circuits()[0].full

    def closed(self, theta: Array, sigma: Array) -> tuple[Array, Array]:
        """Return the pins b and c at absolute crank angles."""
        b = self.a + abs(self.b - self.a) * np.exp(1j * theta)
        r3 = abs(self.c - self.b)
        if self.d is not None:
            apart = self.d - b
            distance = np.maximum(np.abs(apart), 1e-300)
            cosine = np.clip((r3 * r3 - abs(self.d - self.c) ** 2 + distance**2) / (2.0 * r3 * distance), -1.0, 1.0)
            return b, b + r3 * apart / distance * (cosine + 1j * sigma * np.sqrt(1.0 - cosine * cosine))
        assert self.guide is not None
        height = ((self.c - b) * np.conj(self.guide)).imag
        along = np.sqrt(np.maximum(r3 * r3 - height * height, 0.0))
        return b, b + self.guide * (sigma * along + 1j * np.clip(height, -r3, r3))

    def path(self, theta: Array, sigma: Array) -> Array:
        """Return the coupler point at absolute crank angles."""
        assert self.p is not None
        b, c = self.closed(theta, sigma)
        return b + (c - b) * (self.p - self.b) / (self.c - self.b)

    def least_transmission(self, theta: Array | None = None) -> float:
        """Return the least transmission angle (rad, at most 90 deg) at these crank angles, or over all that the crank can reach."""
        size = self.lengths
        zero, low, high = self.limits
        span = np.array([max(low, -1.0), min(high, 1.0)]) if theta is None else np.cos(theta - zero)
        r2, r3 = size["crank"], size["coupler"]
        if self.d is not None:
            r1, r4 = size["ground"], size["rocker"]
            cosine = (r3 * r3 + r4 * r4 - r1 * r1 - r2 * r2 + 2.0 * r1 * r2 * span) / (2.0 * r3 * r4)
        else:
            cosine = (size["offset"] - r2 * span) / r3
        return float(np.arccos(np.clip(np.abs(cosine).max(), 0.0, 1.0)))

    def circuits(self) -> list[CrankCircuit]:
        """Return all circuits; the one that is drawn first."""
        zero, low, high = self.limits
        drawn, here = self.sigma, float(np.angle(self.b - self.a))
        reaches_low, reaches_high = low <= -1.0 + CHANGE_POINT, high >= 1.0 - CHANGE_POINT
        if reaches_low and reaches_high:
            return [CrankCircuit(zero, np.inf, drawn), CrankCircuit(zero, np.inf, -drawn)]
        least, most = (float(np.arccos(np.clip(x, -1.0, 1.0))) for x in (high, low))
        if reaches_high:
            return [CrankCircuit(zero, most, drawn)]
        if reaches_low:
            return [CrankCircuit(zero + np.pi, np.pi - least, drawn)]
        middle, half = 0.5 * (least + most), 0.5 * (most - least)
        found = [CrankCircuit(zero + middle, half, drawn), CrankCircuit(zero - middle, half, drawn)]
        return found if np.sin(here - zero) >= 0.0 else found[::-1]

    @property
    def change_point(self) -> bool:
        """True if the linkage can be flattened: its circuits meet there, and the branch is not determined."""
        _, low, high = self.limits
        return abs(low + 1.0) <= CHANGE_POINT or abs(high - 1.0) <= CHANGE_POINT


@dataclass(frozen=True)
class CrankCircuit:
    """Crank angles middle - half .. middle + half on both branches, or a full turn (half = inf) on the branch sigma."""

    middle: float
    half: float
    sigma: float

    @property
    def full(self) -> bool:
        return not np.isfinite(self.half)

    def at(self, s: Array) -> tuple[Array, Array]:
        """Return crank angles and signs of the closure for s in turns of 2 pi."""
        s = np.asarray(s, dtype=float)
        if self.full:
            return s, np.full(s.shape, self.sigma)
        return self.middle - self.half * np.cos(s), np.where(np.sin(s) >= 0.0, 1.0, -1.0)

    def place(self, theta: Array, sigma: Array) -> Array:
        """Return s of crank angles that lie on this circuit; NaN for those beyond its ends, or on the other branch of a full turn."""
        theta, sigma = np.asarray(theta, dtype=float), np.asarray(sigma, dtype=float)
        if self.full:
            return np.where(sigma == self.sigma, np.mod(theta, TURN), np.nan)
        away = np.mod(theta - self.middle + np.pi, TURN) - np.pi
        inside = np.abs(away) <= self.half * (1.0 + 1e-9) + 1e-12
        up = np.arccos(np.clip(-away / self.half, -1.0, 1.0))
        return np.where(inside, np.where(sigma > 0.0, up, TURN - up), np.nan)


def crank_linkage(linkage: Linkage) -> CrankLinkage:
    """Return the pins of a four-bar or slider-crank by their part in it; UsageError for anything else."""
    ground = next(iter(linkage.bodies))
    moving = {name: pins for name, pins in linkage.bodies.items() if name != ground}
    fixed = linkage.bodies[ground]
    sliders = {g.at: g.direction for g in linkage.guides.values()}
    try:
        (crank,) = (n for n, pins in moving.items() if linkage.drive in pins)
        (b,) = (x for x in moving[crank] if x != linkage.drive)
        (coupler,) = (n for n, pins in moving.items() if n != crank and b in pins)
        (c,) = (x for x in moving[coupler] if x != b)
        last = [pins for n, pins in moving.items() if n not in (crank, coupler)]
        point = next(iter(linkage.points.get(coupler, ())), None)
        p = None if point is None else linkage.pins[point]
        at = [linkage.pins[x] for x in (linkage.drive, b, c)]
        if c in sliders and len(last) <= 1 and not linkage.gears:
            return CrankLinkage(at[0], at[1], at[2], None, sliders[c] / abs(sliders[c]), p)
        (rocker,) = last
        (d,) = (x for x in rocker if x != c)
        if c not in rocker or d not in fixed or linkage.guides or linkage.gears:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"a '{linkage.kind}' is traced by its own module. Four-bars and slider-cranks driven at a fixed pivot are traced "
            "here.", name=linkage.kind
        ) from None
    return CrankLinkage(at[0], at[1], at[2], linkage.pins[d], None, p)

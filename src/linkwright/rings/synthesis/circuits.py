"""Circuits and branches of linkages whose coupler is guided by two dyads, in closed form and for many linkages at once.

A dyad holds one point of the coupler on a circle about a ground pivot (a link) or on a straight line (a guide). Driven at the first dyad by
its coordinate c (angle or slide), the linkage closes where kappa(c), the cosine of an angle or the square of a slide, is between two
bounds: everywhere (a crank: two circuits, one for each branch), on one interval or on two (each interval with both branches is a circuit,
whose ends are the dead centers of the drive). Nothing is traced, so no step can jump from one circuit to another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwright.api import SAME_NUMBER
from linkwright.properties import cached_property


class Dyads(NamedTuple):
    """Dyads of one kind: points (M, K) of the coupler in K wanted positions, on circles about `center` or on lines through it.

    `direction` (M,) is the unit vector of the lines, None for circles.
    """

    points: np.ndarray
    center: np.ndarray
    direction: np.ndarray | None = None

    @property
    def length(self) -> np.ndarray:
        """Length of the link, as the mean over the wanted positions; of a guide, zero."""
        if self.direction is not None:
            return np.zeros(len(self.center))
        return np.abs(self.points - self.center[:, None]).mean(axis=1)


@dataclass(frozen=True, eq=False)
class Circuits:
    """Places of the wanted positions on the circuits of M linkages that are driven at their first dyads."""

    coordinate: np.ndarray  # (M, K) of the drive: rad or m
    circuit: np.ndarray  # (M, K) number of the circuit
    branch: np.ndarray  # (M, K) +1 or -1
    place: np.ndarray  # (M, K) in [0, 1) along the closed circuit
    full: np.ndarray  # (M,) the drive turns fully
    within: np.ndarray  # (M, K) place of the drive in its interval, 0 to 1; of a full turn, in turns
    zero: np.ndarray  # (M,) of the drive's coordinate: kappa = cos(c - zero), or c^2
    cosine: tuple[np.ndarray, np.ndarray]  # (M,) of the transmission angle: cosine[0] + cosine[1] kappa
    square: bool = False  # kappa is the square of the coordinate
    straight: bool = False  # kappa is the coordinate itself

    @cached_property
    def on_one_circuit(self) -> np.ndarray:
        return (self.circuit == self.circuit[:, :1]).all(axis=1)

    @cached_property
    def on_one_branch(self) -> np.ndarray:
        return (self.branch == self.branch[:, :1]).all(axis=1)

    @cached_property
    def in_order(self) -> np.ndarray:
        """True where the positions follow each other along the circuit, in either direction."""
        return _cyclic(self.place)

    @cached_property
    def driven_in_order(self) -> np.ndarray:
        """True where the drive meets the positions one after the other, moving in one direction."""
        change = np.diff(self.within, axis=1)
        return np.where(self.full, _cyclic(self.within), (change > 0).all(axis=1) | (change < 0).all(axis=1))

    def least_transmission(self, *, full_turn: bool = False) -> np.ndarray:
        """Least transmission angle of each linkage over the arc from the first to the last position, or over a full turn, in rad.

        Its cosine is linear in kappa, so its extremes are at the ends of the arc and where kappa is extreme inside.
        """
        c = self.coordinate
        constant, slope = self.cosine
        if self.square:
            kappa = np.column_stack([c**2, np.where((c.min(axis=1) < 0.0) & (c.max(axis=1) > 0.0), 0.0, c[:, 0] ** 2)])
        elif self.straight:
            kappa = c
        else:
            low, high = self._arc()
            at = [
                np.floor((high - self.zero - angle) / (2 * np.pi)) > np.floor((low - self.zero - angle) / (2 * np.pi))
                for angle in (0.0, np.pi)
            ]
            whole = self.full if full_turn else np.zeros(len(c), dtype=bool)
            kappa = np.cos(c - self.zero[:, None])
            kappa = np.column_stack([kappa, *(np.where(hit | whole, k, kappa[:, 0]) for hit, k in zip(at, (1.0, -1.0), strict=True))])
        cosine = np.abs(constant[:, None] + slope[:, None] * kappa).max(axis=1)
        return np.arccos(np.clip(cosine, 0.0, 1.0))

    def _arc(self) -> tuple[np.ndarray, np.ndarray]:
        """First and last angle of the drive in one motion over the wanted positions, lower one first."""
        c = self.coordinate
        steps = np.diff(c, axis=1)
        up, down = np.mod(steps, 2 * np.pi).sum(axis=1), np.mod(-steps, 2 * np.pi).sum(axis=1)
        rising = up <= down
        cranked = np.where(rising, c[:, 0], c[:, 0] - down), np.where(rising, c[:, 0] + up, c[:, 0])
        inside = np.unwrap(c - self.zero[:, None], axis=1) + self.zero[:, None]
        return np.where(self.full, cranked[0], inside.min(axis=1)), np.where(self.full, cranked[1], inside.max(axis=1))

    def defect_counts(self, *, full_turn: bool = False, ordered: bool = True) -> np.ndarray:
        """Number of defects of each linkage, as `defects` names them."""
        positions = self.coordinate.shape[1]
        in_order = np.where(self.on_one_branch, self.driven_in_order, self.in_order) | (positions <= 2) | (not ordered)
        return (full_turn & ~self.full) * 1 + (~self.on_one_circuit | ~self.on_one_branch) * 1 + ~in_order * 1

    def defects(self, k: int, *, full_turn: bool = False, ordered: bool = True) -> tuple[str, ...]:
        """Names of the defects of linkage k; without a full turn asked for, a rocker may drive over the wanted positions."""
        found = []
        if full_turn and not self.full[k]:
            found.append("grashof")
        if not self.on_one_circuit[k]:
            found.append("circuit")
        elif not self.on_one_branch[k]:
            found.append("branch")
        in_order = self.driven_in_order[k] if self.on_one_branch[k] else self.in_order[k]
        if ordered and self.coordinate.shape[1] > 2 and not in_order:
            found.append("order")
        return tuple(found)


def _cyclic(place: np.ndarray) -> np.ndarray:
    """True where places on a closed curve of length 1 follow each other in one round, up or down."""
    change = np.roll(place, -1, axis=1) - place
    up, down = np.mod(change, 1.0).sum(axis=1), np.mod(-change, 1.0).sum(axis=1)
    return np.minimum(up, down) < 1.5


def circuits(first: Dyads, second: Dyads) -> Circuits:
    """Return the places of the wanted positions for linkages driven at the first dyads."""
    coupler = np.abs(second.points - first.points).mean(axis=1)
    branch = _branches(first, second)
    if first.direction is None:
        return _of_angle(first, second, coupler, branch)
    return _of_slide(first, second, coupler, branch)


def _branches(first: Dyads, second: Dyads) -> np.ndarray:
    """+1 or -1: the side of the second point on which the triangle of its dyad lies."""
    rod = second.points - first.points
    if second.direction is None:
        side = (rod * np.conj(second.center[:, None] - second.points)).imag
    else:
        side = (np.conj(second.direction)[:, None] * rod).real
    clearest = np.take_along_axis(side, np.abs(side).argmax(axis=1)[:, None], axis=1)
    # A dead center belongs to both branches.
    return np.where(np.where(np.abs(side) > SAME_NUMBER * np.abs(rod) ** 2, side, clearest) >= 0.0, 1, -1)


def _of_angle(first: Dyads, second: Dyads, coupler: np.ndarray, branch: np.ndarray) -> Circuits:
    """A link drives: kappa = cos(c - zero) is bounded by `low` and `high`."""
    r = first.length
    angle = np.angle(first.points - first.center[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        if second.direction is None:
            apart, R = second.center - first.center, second.length
            zero, ground = np.angle(apart), np.abs(apart)
            low, high = ((r**2 + ground**2 - reach**2) / (2 * r * ground) for reach in (R + coupler, R - coupler))
            cosine = (R**2 + coupler**2 - r**2 - ground**2) / (2 * R * coupler), r * ground / (R * coupler)
        else:
            offset = (np.conj(second.direction) * (first.center - second.center)).imag
            zero = np.angle(second.direction) + 0.5 * np.pi
            low, high = (-coupler - offset) / r, (coupler - offset) / r
            cosine = offset / coupler, r / coupler
    low, high = np.nan_to_num(low, nan=-np.inf), np.nan_to_num(high, nan=np.inf)
    to_low, to_high = low <= -1.0 + SAME_NUMBER, high >= 1.0 - SAME_NUMBER  # the interval reaches c - zero = pi, or 0
    full = to_low & to_high
    from_zero = _wrapped(angle - zero[:, None])
    least, most = np.arccos(np.clip(high, -1.0, 1.0)), np.arccos(np.clip(low, -1.0, 1.0))  # of |c - zero|
    both = ~to_low & ~to_high  # two intervals, mirror images
    # One interval about zero: -most .. most; about pi: from least round to -least.
    position = np.where(both[:, None], np.abs(from_zero), np.where(to_high[:, None], from_zero, np.mod(from_zero, 2 * np.pi)))
    start = np.where(both, least, np.where(to_high, -most, least))
    span = np.where(both, most - least, np.where(to_high, 2 * most, 2 * (np.pi - least)))
    share = _share(position - start[:, None], span)
    interval = np.where(both[:, None] & (from_zero < 0.0), 1, 0)
    within = np.where(full[:, None], np.mod(angle / (2 * np.pi), 1.0), share)
    touching = (np.abs(low + 1.0) <= SAME_NUMBER) | (np.abs(high - 1.0) <= SAME_NUMBER)  # at a change point both circuits meet
    circuit = np.where((full & ~touching)[:, None], (branch + 1) // 2, interval)
    place = np.where(full[:, None], within, _round(share, branch))
    return Circuits(angle, circuit, branch, place, full, within, zero, cosine)


def _of_slide(first: Dyads, second: Dyads, coupler: np.ndarray, branch: np.ndarray) -> Circuits:
    """A guide drives: its slide from the foot of the other center, or along both guides."""
    assert first.direction is not None
    away = (first.points - second.center[:, None]) * np.conj(first.direction)[:, None]
    slide = away.real
    zeros = np.zeros(slide.shape, dtype=int)
    if second.direction is not None:  # two guides: |offset + slide * sine| <= coupler
        sine = (np.conj(second.direction) * first.direction).imag
        offset = (np.conj(second.direction)[:, None] * (first.points - second.center[:, None])).imag
        free = np.abs(sine) < SAME_NUMBER  # parallel guides: no dead center, and each branch is a circuit of its own
        share = np.where(free[:, None], slide, _share(offset * np.sign(sine)[:, None] + coupler[:, None], 2 * coupler))
        circuit = np.where(free[:, None], (branch + 1) // 2, zeros)
        place = np.where(free[:, None], 0.25 * (1.0 + np.tanh(slide / np.maximum(coupler, 1e-300)[:, None])), _round(share, branch))
        still = np.zeros(len(slide))
        start = offset[:, 0] - sine * slide[:, 0]
        cosine = start / np.maximum(coupler, 1e-300), sine / np.maximum(coupler, 1e-300)
        return Circuits(slide, circuit, branch, place, still > 0, share, still, cosine, straight=True)
    distance = away.imag.mean(axis=1)
    inner, outer = ((second.length + sign * coupler) ** 2 - distance**2 for sign in (-1.0, 1.0))
    both = inner > 0.0
    least, most = np.sqrt(np.maximum(inner, 0.0)), np.sqrt(np.maximum(outer, 0.0))
    start = np.where(both, least, -most)
    share = _share(np.where(both[:, None], np.abs(slide), slide) - start[:, None], most - start)
    interval = np.where(both[:, None] & (slide < 0.0), 1, zeros)
    still = np.zeros(len(slide))
    double = np.maximum(2 * second.length * coupler, 1e-300)
    cosine = (second.length**2 + coupler**2 - distance**2) / double, -1.0 / double
    return Circuits(slide, interval, branch, _round(share, branch), still > 0, share, still, cosine, square=True)


def _wrapped(angle: np.ndarray) -> np.ndarray:
    return np.mod(angle + np.pi, 2 * np.pi) - np.pi


def _share(position: np.ndarray, span: np.ndarray) -> np.ndarray:
    return np.clip(position / np.maximum(span, 1e-300)[:, None], 0.0, 1.0)


def _round(share: np.ndarray, branch: np.ndarray) -> np.ndarray:
    """Place on a circuit that goes up on one branch and comes back on the other."""
    return np.mod(np.where(branch > 0, 0.5 * share, 1.0 - 0.5 * share), 1.0)

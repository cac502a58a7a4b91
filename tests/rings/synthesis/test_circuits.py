"""Circuits, branches and order in closed form against tracing the linkage in its configuration space by arc length."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.synthesis.circuits import Circuits, Dyads, circuits
from tests.rings.synthesis.linkages import four_bar
from tests.sweeps import sweep

STEP = 0.02


def traced(first: Dyads, second: Dyads) -> tuple[bool, bool]:
    """Positions of one linkage on one circuit, and in order along it: followed by arc length in (c1, angle, c2) from the first position."""
    X, Y = first.points[0], second.points[0]
    rod = Y - X
    a, b = first.center[0], second.center[0]
    u = None if first.direction is None else first.direction[0]
    v = None if second.direction is None else second.direction[0]
    scale = np.abs(rod).mean()
    c1 = np.angle(X - a) if u is None else ((X - a) * np.conj(u)).real / scale
    c2 = np.angle(Y - b) if v is None else ((Y - b) * np.conj(v)).real / scale
    wanted = np.stack([c1, np.angle(rod), c2], axis=1)
    r, R, length = np.abs(X - a).mean(), np.abs(Y - b).mean(), np.abs(rod).mean()

    def loop(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        e1, e2, e3 = np.exp(1j * q)
        left, slope = (a + r * e1, 1j * r * e1) if u is None else (a + u * scale * q[0], u * scale)
        right, other = (b + R * e3, 1j * R * e3) if v is None else (b + v * scale * q[2], v * scale)
        rows = np.array([slope, 1j * length * e2, -other])
        gap = left + length * e2 - right
        return np.array([gap.real, gap.imag]), np.array([rows.real, rows.imag])

    def tangent(q: np.ndarray, before: np.ndarray) -> np.ndarray:
        J = loop(q)[1]
        t = np.cross(J[0], J[1])
        return t / np.linalg.norm(t) * (np.sign(t @ before) or 1.0)

    def distance(q: np.ndarray) -> np.ndarray:
        away = q - wanted
        turning = [u is None, True, v is None]
        return np.abs(np.where(turning, (away + np.pi) % (2 * np.pi) - np.pi, away)).max(axis=1)

    q, t = wanted[0].copy(), np.ones(3)
    nearest, when = np.full(len(X), np.inf), np.zeros(len(X))
    for k in range(1, 20000):
        t = tangent(q, t)
        middle = tangent(q + 0.5 * STEP * t, t)
        q = q + STEP * middle
        for _ in range(2):
            gap, J = loop(q)
            q = q - np.linalg.lstsq(J, gap, rcond=None)[0]
        d = distance(q)
        closer = (d < nearest) & (np.arange(len(X)) > 0)
        nearest, when = np.where(closer, d, nearest), np.where(closer, k, when)
        if d[0] < 1.1 * STEP and k > 20:
            break
    on = bool((nearest[1:] < 2 * STEP).all())
    change = np.diff(when[1:])
    return on, on and bool((change > 0).all() or (change < 0).all())


def compared(first: Dyads, second: Dyads) -> Circuits:
    places = circuits(first, second)
    on, ordered = traced(first, second)
    assert bool(places.on_one_circuit[0]) == on
    if on:
        assert bool(places.in_order[0]) == ordered
    return places


def random_four_bar(rng: np.random.Generator) -> tuple[Dyads, Dyads]:
    """Positions of a random four-bar on both branches, not near dead centers."""
    while True:
        lengths = tuple(rng.uniform(0.4, 2.0, 4))
        crank = rng.uniform(-np.pi, np.pi, 60)
        side = rng.choice([-1.0, 1.0], 60)
        B, C = four_bar(lengths, crank, side)
        clear = np.abs(((C - B) * np.conj(lengths[0] - C)).imag) / (lengths[2] * lengths[3]) > 0.2
        if clear.sum() >= 4:
            B, C = B[clear][:4], C[clear][:4]
            return Dyads(B[None], np.zeros(1, dtype=complex)), Dyads(C[None], np.array([lengths[0] + 0j]))


@sweep("seed", range(8), now=[0, 5])
def test_four_bars_driven_from_either_side(seed: int) -> None:
    first, second = random_four_bar(np.random.default_rng(seed))
    forward, back = compared(first, second), compared(second, first)
    assert forward.on_one_circuit[0] == back.on_one_circuit[0]  # circuits do not depend on the drive


def test_random_four_bars_have_all_kinds() -> None:
    found = [circuits(*random_four_bar(np.random.default_rng(seed))) for seed in range(60)]
    assert 5 < sum(c.full[0] for c in found) < 55 and 5 < sum(c.on_one_circuit[0] for c in found) < 55
    assert {name for c in found for name in c.defects(0, full_turn=True)} == {"grashof", "circuit", "branch", "order"}
    for c in found:
        assert c.defect_counts(full_turn=True)[0] == len(c.defects(0, full_turn=True))
        assert c.defect_counts(ordered=False)[0] == len(c.defects(0, ordered=False))


@sweep("seed", range(8), now=[1, 5])
def test_slider_cranks_driven_from_either_side(seed: int) -> None:
    rng = np.random.default_rng(seed)
    crank, coupler, offset = rng.uniform(0.5, 1.5), rng.uniform(0.6, 2.5), rng.uniform(-0.5, 0.5)
    turn = np.exp(1j * rng.uniform(-np.pi, np.pi))
    B = crank * np.exp(1j * rng.uniform(-np.pi, np.pi, 400))
    height = offset - B.imag
    B = B[np.abs(height) < 0.95 * coupler][:4]
    C = B.real + rng.choice([-1.0, 1.0], 4) * np.sqrt(coupler**2 - (offset - B.imag) ** 2) + 1j * offset
    first = Dyads(turn * B[None], np.zeros(1, dtype=complex))
    second = Dyads(turn * C[None], np.array([turn * (0.3 + 1j * offset)]), np.array([turn]))
    assert bool(compared(first, second).full[0]) == (crank + abs(offset) < coupler)
    if abs(offset) > 0.05:  # a centered slider-crank driven at its slider passes a point where both ends meet
        compared(second, first)


def test_two_guides() -> None:
    # An elliptic trammel: a rod of length 1 on two lines at right angles is one circuit, traversed once in a turn of the rod.
    angle = np.array([0.3, 1.2, 2.4, 4.0])
    first = Dyads(np.cos(angle)[None] + 0j, np.zeros(1, dtype=complex), np.ones(1, dtype=complex))
    second = Dyads(1j * np.sin(angle)[None], np.zeros(1, dtype=complex), np.array([1j]))
    places = compared(first, second)
    assert places.in_order[0] and places.defects(0) == ("branch",)
    shuffled = circuits(Dyads(first.points[:, [0, 2, 1, 3]], *first[1:]), Dyads(second.points[:, [0, 2, 1, 3]], *second[1:]))
    assert shuffled.defects(0) == ("branch", "order")


def test_parallel_guides_have_no_dead_center() -> None:
    slide = np.array([-5.0, 0.0, 3.0])
    first = Dyads(slide[None] + 0j, np.zeros(1, dtype=complex), np.ones(1, dtype=complex))
    second = Dyads((slide + 0.6 + 0.8j)[None], np.array([0.8j]), np.ones(1, dtype=complex))
    assert circuits(first, second).defects(0) == ()


@pytest.mark.parametrize("arc", [(0.2, 2.9), (1.0, 4.0), (-2.0, 0.5)])
def test_least_transmission_over_arc_and_turn(arc: tuple[float, float]) -> None:
    lengths = (4.0, 1.5, 3.5, 3.0)

    def sampled(crank: np.ndarray) -> float:
        B, C = four_bar(lengths, crank)
        cosine = ((C - B) * np.conj(C - lengths[0])).real / (lengths[2] * lengths[3])
        return float(np.arccos(np.abs(cosine).max()))

    B, C = four_bar(lengths, np.linspace(*arc, 4))
    places = circuits(Dyads(B[None], np.zeros(1, dtype=complex)), Dyads(C[None], np.array([4.0 + 0j])))
    # samples 1e-4 apart: an extreme is missed by its curvature times 1e-8
    assert places.least_transmission()[0] == pytest.approx(sampled(np.arange(*arc, 1e-4)), abs=1e-4)
    assert places.least_transmission(full_turn=True)[0] == pytest.approx(sampled(np.arange(0.0, 6.3, 1e-4)), abs=1e-6)


def test_change_points_join_both_circuits() -> None:
    # A parallelogram: both closures meet where all pins are in line.
    crank = np.array([0.5, 2.0, 4.0])
    B = np.exp(1j * crank)
    places = circuits(Dyads(B[None], np.zeros(1, dtype=complex)), Dyads(B[None] + 3.0, np.array([3.0 + 0j])))
    assert places.full[0] and places.on_one_circuit[0] and places.defects(0) == ("branch",)

"""The nine-point problem: equations, cognates, the built-in set, and the published problem of Wampler, Morgan and Sommese as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.numerics.tracking import distinct, track
from linkwright.rings.synthesis.nine_points import (  # fmt: skip
    CLASSES,
    FILE,
    class_key,
    cognate,
    equations,
    exchanged,
    newton,
    nine_points,
    random_problem,
    rotations,
    stored,
    third_pivot,
)
from tests.rings.synthesis.linkages import coupler_poses, four_bar
from tools.make_nine_points import generic, main

# Problem 3 of [Wampler1992]: 64 real classes, certified in the literature.
PUBLISHED = [(0.25, 0), (0.52, 0.1), (0.8, 0.7), (1.2, 1.0), (1.4, 1.3), (1.1, 1.48), (0.7, 1.4), (0.2, 1.0), (0.02, 0.4)]
LENGTHS, POINT = (4.0, 1.5, 3.5, 3.0), 1.2 + 0.8j


def known() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A real crank-rocker as a solution (1, 8), its nine points as parameters (16,) and the turns of its coupler."""
    crank = np.linspace(0.3, 5.5, 9)
    poses = coupler_poses(LENGTHS, POINT, crank)
    P = poses[:, 0] + 1j * poses[:, 1]
    B, C = four_bar(LENGTHS, crank)
    parts = [B[0] - P[0], 0.0 - P[0], C[0] - P[0], LENGTHS[0] - P[0]]
    x = np.array([[z for w in parts for z in (w, np.conj(w))]])
    d = P[1:] - P[0]
    return x, np.concatenate([d, d.conj()]), np.exp(1j * (poses[:, 2] - poses[0, 2]))


def residual(X: np.ndarray, p: np.ndarray) -> float:
    return float(max(abs(z) for row in X for z in equations(row, p)["F"]))


def test_a_real_linkage_solves_the_equations_of_its_points() -> None:
    x, p, turns = known()
    assert residual(x, p) < 1e-9  # products of eight lengths of the order of 5
    one, other = rotations(x, p)
    np.testing.assert_allclose(one[0], turns, atol=1e-12)
    np.testing.assert_allclose(other, one.conj(), atol=1e-12)


def test_cognates_and_exchanged_dyads_are_one_class() -> None:
    x, p = random_problem(np.random.default_rng(3))
    members = [x, cognate(x), cognate(exchanged(x)), *(exchanged(z) for z in (x, cognate(x), cognate(exchanged(x))))]
    size = max(1.0, float(np.abs(np.concatenate(members)).max())) ** 8
    for z in members:
        assert residual(z, p) < 1e-12 * size
        np.testing.assert_allclose(class_key(z), class_key(x), rtol=1e-10)
    assert len(distinct(np.concatenate(members))) == 6
    np.testing.assert_allclose(third_pivot(cognate(x))[0], x[:, 6], rtol=1e-10)  # the three share their ground pivots


@pytest.mark.slow
def test_the_shipped_set_has_all_classes() -> None:
    x, p = stored()
    assert len(x) == CLASSES and len(distinct(class_key(x))) == CLASSES and FILE.stat().st_size < 120_000
    step = newton()(x, np.broadcast_to(p, (CLASSES, 16)), np.broadcast_to(p, (CLASSES, 16)))[0]
    assert np.abs(step).max() < 1e-9 * np.abs(x).max()


@pytest.mark.slow
def test_other_linkages_lead_into_the_shipped_set() -> None:
    # Were a share of the classes missing, some of 24 random linkages, tracked to the built-in points, would end outside.
    x, p = stored()
    keys = class_key(x)
    solve = newton()
    for seed in range(24):
        start, here = random_problem(np.random.default_rng(100 + seed))
        end = track(solve, start, here, p)
        assert end.ok.all()
        key = class_key(end.x)
        away = np.linalg.norm(keys - key, axis=1) / (1 + np.linalg.norm(key))
        assert np.count_nonzero(away < 1e-6) == 1


def test_a_real_linkage_leads_into_the_shipped_set_and_back() -> None:
    x, p, _ = known()
    size = np.abs(p[:8]).mean()
    x, p = x / size, p / size
    _, base = stored()
    solve = newton()
    there = track(solve, x, p, base)
    back = track(solve, there.x, base, p)
    np.testing.assert_allclose(class_key(back.x), class_key(x), rtol=1e-8)


@pytest.mark.slow
def test_monodromy_grows_from_one_linkage() -> None:
    found = generic(7, expected=30)
    assert len(found.solutions) >= 30 and found.lost == 0 and found.counts[0] >= 1
    solve, p = newton(), found.parameters
    n = len(found.solutions)
    assert np.abs(solve(found.solutions, np.broadcast_to(p, (n, 16)), np.broadcast_to(p, (n, 16)))[0]).max() < 1e-9


def test_compiled_and_interpreted_steps_agree() -> None:
    x, p = stored()
    part, parameters = x[::29], np.broadcast_to(p, (len(x[::29]), 16))
    moved = part * (1 + 1e-3)
    for ours, theirs in zip(newton()(moved, parameters, parameters), newton(compiled=False)(moved, parameters, parameters), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)  # conditions up to 1e6


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (np.zeros((8, 2)), "nine points"),
        (np.full((9, 2), np.nan), "finite"),
        ("x", "nine points"),
        ([*PUBLISHED[:8], PUBLISHED[0]], "1 and 9"),
    ],
)
def test_bad_input(points: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        nine_points(points)


@pytest.mark.slow
def test_the_published_problem() -> None:
    found, facts, notes = nine_points(PUBLISHED)
    assert (facts["paths"], facts["tracked"], facts["lost"], facts["real"]) == (1442, 1442, 0, 64)
    assert (facts["linkages"], facts["on one circuit"], facts["in order"], facts["with a crank"]) == (192, 90, 9, 2)
    assert facts["usable"] == 1 and len(found) == 64 and "64 real" in notes[0]
    assert max(s.measures["largest deviation"] for s in found) < 1e-11
    assert [s.usable for s in found] == [True] + [False] * 63
    z = np.array(PUBLISHED) @ [1.0, 1j]
    for s in found[:8]:
        for linkage in (s.linkage, *s.cognates):
            assert linkage.pins["P"] == pytest.approx(z[0])
    # The engine turns the usable one fully and passes all nine points, in order.
    cycle = lw.load(found[0].document).cycle(steps=7200)
    path = np.asarray(cycle["coupler.P"])[:-1] @ [1.0, 1j]
    away = np.abs(path[:, None] - z)
    step = np.abs(np.diff(path)).max()
    assert cycle.full_turn and away.min(axis=0).max() < 0.5 * step + 1e-9
    when = away.argmin(axis=0)
    turns = np.mod(np.diff([*when, when[0]]), 7200).sum() / 7200
    assert turns in (1.0, 8.0)  # once round, forwards or backwards


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_known_linkage_is_among_those_through_its_points(seed: int) -> None:
    crank = np.sort(np.random.default_rng(seed).uniform(0.0, 2 * np.pi, 9))
    found, facts, _ = nine_points(coupler_poses(LENGTHS, POINT, crank)[:, :2], seed=seed)
    assert facts["tracked"] >= 1440 and facts["usable"] >= 1
    every = [linkage.pins for s in found for linkage in (s.linkage, *s.cognates)]
    assert min(abs(pins[a]) + abs(pins[d] - LENGTHS[0]) for pins in every for a, d in (("A", "D"), ("D", "A"))) < 1e-8


@pytest.mark.slow
def test_the_script_makes_the_shipped_file_again(tmp_path: Any) -> None:
    assert main([str(tmp_path / "made.npz")]) == 0
    x, p = stored(tmp_path / "made.npz")
    ours, base = stored()
    np.testing.assert_array_equal(p, base)
    together = np.concatenate([class_key(ours), class_key(x)])
    assert len(distinct(together)) == CLASSES

"""The coupler-curve atlas and Fourier descriptors: invariance, curves found again, starts that a fit completes, the file made anew."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.synthesis.coupler_atlas import (
    FILE,
    ORDERS,
    alignments,
    atlas,
    atlas_starts,
    curves,
    descriptors,
    distances,
    matches,
    mirrored_descriptor,
    reversed_descriptor,
)
from linkwright.rings.synthesis.coupler_chains import CHAINS
from linkwright.rings.synthesis.path_problem import PathLimits, PathProblem
from tools.make_coupler_atlas import COUNT, made


def ellipse(a: float, b: float, count: int = 200) -> np.ndarray:
    t = 2.0 * np.pi * np.arange(count) / count
    return a * np.cos(t) + 1j * b * np.sin(t)


def test_descriptors_of_a_circle_and_of_a_flat_ellipse() -> None:
    circle = descriptors(ellipse(2.0, 2.0))[0]
    assert abs(circle[list(ORDERS).index(1)]) == pytest.approx(1.0, abs=1e-6) and np.linalg.norm(circle) == pytest.approx(1.0)
    line = descriptors(ellipse(1.0, 0.0))[0]  # run through there and back at constant speed: a triangle wave, c_k = 4 / (pi k)^2 / 2
    by_order = dict(zip(ORDERS.tolist(), line, strict=True))
    assert abs(by_order[1]) == pytest.approx(abs(by_order[-1]), rel=1e-9)
    # resampling a polygon of 200 points leaves 1e-3 of the coefficients
    assert abs(by_order[3] / by_order[1]) == pytest.approx(1.0 / 9.0, rel=5e-3) and abs(by_order[2]) < 1e-3


def test_alignment_finds_rotation_start_and_size() -> None:
    curve = ellipse(3.0, 1.0) + 0.4 * np.exp(2j * np.angle(ellipse(3.0, 1.0)))
    other = (np.roll(curve, -37) * 2.5 * np.exp(0.7j)) + (4.0 - 1.0j)
    first, second = descriptors(curve)[0], descriptors(other)[0]
    distance, start = alignments(second, first[None])
    along = distances(curve)
    assert distance[0] < 5e-3 and start[0] == pytest.approx(along[37] / along[-1], abs=5e-3)
    backwards = descriptors(other[::-1])[0]
    assert alignments(backwards, first[None])[0][0] > 0.1, "the direction matters"
    assert alignments(reversed_descriptor(backwards), first[None])[0][0] < 5e-3
    mirrored = descriptors(np.conj(other))[0]
    assert alignments(mirrored_descriptor(mirrored), first[None])[0][0] < 5e-3


@pytest.mark.parametrize("row", [17, 4000, 12345, 20479])
@pytest.mark.parametrize(("mirror", "backwards"), [(False, False), (False, True), (True, False), (True, True)])
def test_a_stored_curve_is_found_in_any_attitude(row: int, mirror: bool, backwards: bool) -> None:
    stored = atlas()
    curve = curves(stored.kind[[row]], stored.shape[[row]], stored.point[[row]], count=150)[0]
    # a mirrored linkage has the other branch, and its curve runs forwards when its crank runs backwards
    curve = np.conj(curve) if mirror else curve
    curve = np.roll(curve[::-1] if backwards else curve, 40) * (0.03 * np.exp(2j)) + 1.0
    found = matches(curve)
    ours = [m for m in found if m.row == row and (m.sigma < 0.0) == mirror]
    assert ours and ours[0].distance < 0.03, "descriptors are stored with 8 bits"
    assert ours[0].direction == (-1.0 if mirror != backwards else 1.0)


def test_starts_of_the_atlas_are_near_the_points() -> None:
    stored = atlas()
    row = np.array([777])
    points = curves(stored.kind[row], stored.shape[row], stored.point[row], count=180)[0][::12] * np.exp(1j)
    points = (points - points.mean()) / (np.ptp(points.real) + np.ptp(points.imag))
    wide = complex(99.0, 99.0)
    problem = PathProblem(
        CHAINS["four-bar"], points, None, PathLimits((1e-3,) * 4, (99.0,) * 4, point=(-wide, wide), crank_pivot=(-wide, wide))
    )
    found = atlas_starts(problem, 8)
    assert found is not None
    v, choices = found
    deviation = np.sqrt(problem.errors(v, choices) / len(points))
    # 15 points of a curve of 180 and distances along it that are known to a per cent
    assert deviation.min() < 0.005 and np.median(deviation) < 0.02
    angles = problem.angles(v, choices)
    assert (np.diff(angles, axis=1) * choices.direction[:, None] > 0.0).all()
    timed = PathProblem(CHAINS["four-bar"], points, np.arange(15.0), problem.limits)
    assert atlas_starts(timed) is None


def test_the_file_is_what_the_script_makes() -> None:
    """A part of it; the numbers of a curve depend on its place alone, the scale on all curves."""
    some = made(1500)
    with np.load(FILE) as stored:
        assert len(stored["codes"]) == COUNT and np.array_equal(stored["codes"][:1500], some["codes"])
        whole = stored["descriptors"][:1500] * stored["scale"][None, :, None]
    again = some["descriptors"] * some["scale"][None, :, None]
    assert np.abs(whole - again).max() < 1.01  # of 127: half a step in each
    assert FILE.stat().st_size < 700_000


@pytest.mark.slow
def test_the_whole_file_is_made_again_to_the_bit() -> None:
    again = made()
    with np.load(FILE) as stored:
        for name, values in again.items():
            assert np.array_equal(stored[name], values), name

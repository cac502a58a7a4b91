"""Inertia in six dimensions against the kinetic energy and the momentum of the particles that a body is made of."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.numerics.spatial import Pose, quaternion_rotation, rotated_inertia, spatial_inertia

EXACT = 1e-13  # sums of a dozen products of numbers of order one


@pytest.fixture
def particles(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(0.5, 2.0, 5), rng.normal(size=(5, 3))


def mass_data(m: np.ndarray, r: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, center, and inertia about the center: the sum of m (d.d 1 - d d')."""
    com = m @ r / m.sum()
    d = r - com
    return float(m.sum()), com, sum(mi * (x @ x * np.eye(3) - np.outer(x, x)) for mi, x in zip(m, d, strict=True))


def rotation(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return np.asarray(quaternion_rotation(q / np.linalg.norm(q)))


def test_spatial_inertia_is_that_of_particles(particles: tuple[np.ndarray, np.ndarray], rng: np.random.Generator) -> None:
    m, r = particles
    X = Pose(rotation(rng), rng.normal(size=3))
    I = spatial_inertia(X, *mass_data(m, r))
    places = r @ X.R.T + X.p
    V = rng.normal(size=6)
    v = V[3:] + np.cross(V[:3], places)  # of each particle
    energy = 0.5 * float(m @ (v * v).sum(axis=1))
    assert 0.5 * float(V @ I @ V) == pytest.approx(energy, rel=EXACT)
    momentum = np.concatenate([(m[:, None] * np.cross(places, v)).sum(axis=0), m @ v])
    assert np.allclose(I @ V, momentum, rtol=0.0, atol=EXACT * np.abs(I).sum())


@pytest.mark.parametrize("alike", [(), (1, 2), (0, 2), (0, 1, 2)])
def test_a_rotated_inertia_is_that_of_rotated_particles(
    alike: tuple[int, ...], particles: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> None:
    m, r = particles
    inertia, R = mass_data(m, r)[2], rotation(rng)
    if alike:  # principal axes, some moments equal: bodies of revolution and balls
        inertia = np.diag(np.where(np.isin(range(3), alike), 2.0, [0.5, 0.7, 0.9]))
        wanted = R @ inertia @ R.T
    else:
        wanted = mass_data(m, r @ R.T)[2]
    assert np.allclose(rotated_inertia(R, inertia), wanted, rtol=0.0, atol=EXACT * np.abs(inertia).sum())

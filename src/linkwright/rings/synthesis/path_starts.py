"""Starts of a path synthesis by variable projection.

Once the ratios of the lengths and the crank angles are chosen, P_k = p0 + z A_k + w e^(i phi_k) is linear in the place p0, in the size and
direction z of the linkage and in the coupler point w: six numbers by least squares for each of thousands of choices [Golub and Pereyra].
"""

from __future__ import annotations

import numpy as np

from linkwright.api import sobol_points
from linkwright.rings.synthesis.coupler_chains import Array, lengths
from linkwright.rings.synthesis.path_problem import SMALLEST_INCREMENT, TURN, PathChoices, PathProblem

DECADES = 1.5  # slacks are 10^-DECADES .. 10^DECADES of the shortest link
SPANS = (0.6, 6.0)  # rad of the crank over an open path without timing
EXPONENTS = (0.3, 1.2)  # of chord lengths, for the increments of the crank


def starts(problem: PathProblem, choices: PathChoices, seed: int, *, closed: bool) -> Array:
    """Return variables (N, variables) inside their bounds, one candidate for each choice."""
    count, s = len(choices), problem.shapes
    u = sobol_points.sobol(count, s - 1 + 4, seed=seed)
    ratios = 10.0 ** (DECADES * (2.0 * u[:, : s - 1] - 1.0))
    held = dict(problem.held)
    first = held.get("t1")
    t1 = TURN * u[:, s - 1] if first is None else np.full(count, first)
    increments = np.zeros((count, 0)) if problem.timing is not None else _increments(problem, u[:, s:], seed, closed)
    # a crank angle from the x axis makes the ground's direction one of the numbers that are chosen
    th0 = TURN * u[:, s - 1] if problem.absolute and "th0" not in held else None
    return projected(problem, choices, ratios, t1, increments, th0)


def _increments(problem: PathProblem, u: Array, seed: int, closed: bool) -> Array:
    """Crank angles between the points: by chord lengths to a power, uneven by chance, over a part of the cycle."""
    n = len(problem.points)
    chord = np.abs(np.diff(problem.points))
    exponent = EXPONENTS[0] + (EXPONENTS[1] - EXPONENTS[0]) * u[:, 1:2]
    noise = np.random.default_rng(seed).standard_normal((len(u), n - 1))
    uneven = 0.4  # standard deviation of the logarithm of increments
    share = (chord / chord.mean() + 1e-9) ** exponent * np.exp(uneven * u[:, 2:3] * noise)
    share /= share.sum(axis=1, keepdims=True)
    # a closed curve that ends where it begins takes a full turn, one that ends a chord before it less
    gap = abs(problem.points[0] - problem.points[-1]) / (chord.sum() + abs(problem.points[0] - problem.points[-1]))
    span = np.full(len(u), TURN * (1.0 - gap) - 1e-3) if closed else SPANS[0] + (SPANS[1] - SPANS[0]) * u[:, 0]
    return np.maximum(share * span[:, None], SMALLEST_INCREMENT)


def projected(problem: PathProblem, choices: PathChoices, ratios: Array, t1: Array, increments: Array, th0: Array | None = None) -> Array:
    """Return candidates with these slacks (relative to the shortest link) and crank angles; size, direction (if th0 does not give it),
    place and coupler point by linear least squares."""
    s, limits = problem.shapes, problem.limits
    held = dict(problem.held)
    v = np.zeros((len(choices), problem.variables))
    v[:, 0], v[:, 1:s], v[:, s + 5], v[:, s + 6 :] = 1.0, ratios, t1, increments
    direction = np.full(len(v), held["th0"]) if "th0" in held else th0
    if direction is not None:
        v[:, s + 4] = direction
    if np.isfinite(limits.ratio):
        v[:, 1:s] = np.minimum(v[:, 1:s], limits.ratio - 1.0)
    theta = problem.angles(v, choices)
    size = lengths(problem.chain, v[:, :s], choices.kind)
    coupler = problem.chain.coupler(v[:, :s], choices.kind, choices.sigma, theta)
    pin = size[:, problem.chain.crank, None] * np.exp(1j * theta)
    fixed = None if direction is None else np.exp(1j * direction)
    z, point, place = _linear_fit(problem, pin, coupler, fixed)
    # too large or too small for the limits: once more with the nearest size that is allowed
    fitted = np.maximum(np.abs(z), 1e-300)
    least = np.max(np.array(limits.least) / np.maximum(size, 1e-9), axis=1, initial=0.0, where=size > 1e-9)
    nearest = np.clip(fitted, least, np.min(np.array(limits.most) / np.maximum(np.abs(size), 1e-9), axis=1))
    other = np.flatnonzero(np.abs(nearest - fitted) > 1e-9 * fitted)
    z = z * (nearest / fitted)
    _, point[other], place[other] = _linear_fit(problem, pin[other], coupler[other], None, z[other])
    v[:, :s] *= nearest[:, None]
    point = point * np.exp(-1j * np.angle(z))
    v[:, s], v[:, s + 1], v[:, s + 4] = point.real, point.imag, np.angle(z) if direction is None else direction
    v[:, s + 2], v[:, s + 3] = place.real, place.imag
    lower, upper = problem.bounds(choices.kind)
    return np.where(problem.free, np.clip(v, lower, upper), v)


def _linear_fit(
    problem: PathProblem, pin: Array, coupler: Array, fixed: Array | None, z: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return size and direction z, coupler point w and place p0 of the best p0 + z pin + w coupler; z may be given, or its direction."""
    held = dict(problem.held)
    x, y = held.get("x0"), held.get("y0")
    one = np.ones_like(pin)
    columns = [] if z is not None else [pin, 1j * pin] if fixed is None else [pin * fixed[:, None]]
    columns += [coupler, 1j * coupler] + [one] * (x is None) + [1j * one] * (y is None)
    wanted = problem.points - complex(x or 0.0, y or 0.0) - (0.0 if z is None else z[:, None] * pin)
    matrix = np.stack(columns, axis=-1)
    matrix = np.concatenate([matrix.real, matrix.imag], axis=1)
    wanted = np.broadcast_to(wanted, pin.shape)
    normal = matrix.transpose(0, 2, 1) @ matrix
    negligible = 1e-10  # of the trace: keeps normal equations of too few points solvable
    normal += negligible * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(normal.shape[1])
    right = matrix.transpose(0, 2, 1) @ np.concatenate([wanted.real, wanted.imag], axis=1)[..., None]
    found = list(np.linalg.solve(normal, right)[..., 0].T)
    if z is None:
        z = found.pop(0) + 1j * found.pop(0) if fixed is None else np.abs(found.pop(0)) * fixed
    point = found.pop(0) + 1j * found.pop(0)
    place = (found.pop(0) if x is None else x) + 1j * (found.pop(0) if y is None else y) + np.zeros(len(pin))
    return z, point, place

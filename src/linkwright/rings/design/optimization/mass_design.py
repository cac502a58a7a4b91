"""Design variables of balancing, with limits, and the search for the best of them.

A `CounterweightBlock` is a point mass m at p with m <= its limit and p within a radius of a point of the body; a
`Redistributed` body may change mass, center and inertia within bounds (the inertia by a factor, so it stays one that a body
can have). Variables are scaled to about 1. `minimize` looks for min |A dtheta(x) + r0|^2: the start is the linear least-squares
answer in (m, m p), which is already the optimum where the shaking force alone counts and limits do not bite.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import LENGTH, NONE, Body, Description, UsageError, inertia_regressor, linalg, nearest, quantity, shown, unit_kinds
from linkwright.properties import cached_property
from linkwright.rings.design.optimization.nonlinear_solvers import slsqp

RANDOM_STARTS = 3
POLISHING_STEPS = 8
NOTHING_LEFT = 1e-26  # of a sum of squares that began at about 1: round-off


@dataclass(frozen=True)
class PointMass:
    """A counterweight as found."""

    mass: float
    at: tuple[float, float, float]
    radius: float
    angle: float


@dataclass(frozen=True)
class CounterweightBlock:
    """x = (m / most, (p - center) / radius): mass between 0 and 1, place within the unit circle or ball."""

    body: str
    center: np.ndarray
    most: float
    radius: float
    size: int  # 2 in the plane, 3 in space

    @property
    def bounds(self) -> list[tuple[float, float]]:
        return [(0.0, 1.0)] + [(-1.0, 1.0)] * self.size

    def place(self, x: np.ndarray) -> np.ndarray:
        return self.center + self.radius * np.concatenate([x[1:], np.zeros(3 - self.size)])

    def change(self, x: np.ndarray, names: Sequence[str]) -> np.ndarray:
        return inertia_regressor.parameters(self.most * x[0], self.place(x), np.zeros((3, 3)), names)

    def gradient(self, x: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """(n, 1 + size): m c and I are products of m with c and with c c'."""
        p, m = self.place(x), self.most * x[0]
        columns = [self.most * inertia_regressor.parameters(1.0, p, np.zeros((3, 3)), names)]
        for axis in np.eye(3)[: self.size] * self.radius:
            I = 2.0 * (p @ axis) * np.eye(3) - np.outer(p, axis) - np.outer(axis, p)
            columns.append(_theta(0.0, m * axis, m * I, names))
        return np.array(columns).T

    def inside(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """1 - |p|^2 >= 0 and its gradient."""
        return 1.0 - float(x[1:] @ x[1:]), np.concatenate([[0.0], -2.0 * x[1:]])

    def point_mass(self, x: np.ndarray) -> PointMass:
        p = self.place(x)
        offset = p - self.center
        at = (float(p[0]), float(p[1]), float(p[2]))
        return PointMass(float(self.most * x[0]), at, float(np.sqrt(offset @ offset)), float(np.arctan2(offset[1], offset[0])))

    def lightest(self, x: np.ndarray) -> np.ndarray:
        """The same moment m p with the least mass: as far out as allowed."""
        r = float(np.sqrt(x[1:] @ x[1:]))
        return np.concatenate([[x[0] * r], x[1:] / r]) if r > 0.0 else np.zeros_like(x)

    def linear_columns(self, names: Sequence[str]) -> np.ndarray:
        """(n, 1 + size): of the mass at the center and of its moments, the inertia left out."""
        at_center = self.most * inertia_regressor.parameters(1.0, self.center, np.zeros((3, 3)), names)
        moments = [_theta(0.0, self.most * self.radius * axis, np.zeros((3, 3)), names) for axis in np.eye(3)[: self.size]]
        return np.array([at_center, *moments]).T

    def from_linear(self, y: np.ndarray) -> np.ndarray:
        """(m, m p) brought within the limits."""
        moment = float(np.sqrt(y[1:] @ y[1:]))
        m = max(float(y[0]), moment)
        if m <= 0.0:
            return np.zeros(1 + self.size)
        p = y[1:] / m
        return np.concatenate([[min(m, 1.0)], p / max(1.0, float(np.sqrt(p @ p)))])


@dataclass(frozen=True)
class Redistributed:
    """x = (mass / own, center shift / its limit, inertia factor), each between its bounds."""

    part: Body
    mass: tuple[float, float]
    shift: float
    inertia: tuple[float, float]
    size: int

    @property
    def body(self) -> str:
        return self.part.name

    @property
    def unit(self) -> float:
        return max(float(self.part.mass or 0.0), self.mass[1])

    @property
    def bounds(self) -> list[tuple[float, float]]:
        end = 1.0 if self.shift > 0.0 else 0.0
        return [(self.mass[0] / self.unit, self.mass[1] / self.unit), *[(-end, end)] * self.size, self.inertia]

    def as_is(self) -> np.ndarray:
        x = np.array([float(self.part.mass or 0.0) / self.unit, *([0.0] * self.size), 1.0])
        low, high = np.array(self.bounds).T
        return np.clip(x, low, high)

    def center(self, x: np.ndarray) -> np.ndarray:
        return np.array(self.part.com, dtype=float) + self.shift * np.concatenate([x[1:-1], np.zeros(3 - self.size)])

    def change(self, x: np.ndarray, names: Sequence[str]) -> np.ndarray:
        I = np.array(self.part.inertia, dtype=float)
        old = inertia_regressor.parameters(float(self.part.mass or 0.0), self.part.com, I, names)
        return inertia_regressor.parameters(self.unit * x[0], self.center(x), x[-1] * I, names) - old

    def gradient(self, x: np.ndarray, names: Sequence[str]) -> np.ndarray:
        c, m = self.center(x), self.unit * x[0]
        columns = [self.unit * inertia_regressor.parameters(1.0, c, np.zeros((3, 3)), names)]
        for axis in np.eye(3)[: self.size] * self.shift:
            I = 2.0 * (c @ axis) * np.eye(3) - np.outer(c, axis) - np.outer(axis, c)
            columns.append(_theta(0.0, m * axis, m * I, names))
        columns.append(_theta(0.0, np.zeros(3), np.array(self.part.inertia, dtype=float), names))
        return np.array(columns).T

    def new_body(self, x: np.ndarray) -> Body:
        c = self.center(x)
        rows = tuple(tuple(float(x[-1] * v) for v in row) for row in self.part.inertia)
        return replace(self.part, mass=float(self.unit * x[0]), com=(float(c[0]), float(c[1]), float(c[2])), inertia=rows)


Block = CounterweightBlock | Redistributed


def _theta(m: float, moment: np.ndarray, I: np.ndarray, names: Sequence[str]) -> np.ndarray:
    pairs = {"Ixx": (0, 0), "Iyy": (1, 1), "Izz": (2, 2), "Ixy": (0, 1), "Ixz": (0, 2), "Iyz": (1, 2)}
    values = {"m": m, "mx": moment[0], "my": moment[1], "mz": moment[2], **{k: I[ij] for k, ij in pairs.items()}}
    return np.array([values[n] for n in names], dtype=float)


# ---------------------------------------------------------------- what the user allows


def counterweight_blocks(d: Description, wanted: Sequence[str] | Mapping[str, Mapping[str, Any]]) -> list[CounterweightBlock]:
    limits = wanted if isinstance(wanted, Mapping) else {name: {} for name in wanted}
    everything = sum(float(b.mass or 0.0) for b in d.moving)
    out = []
    for name, given in limits.items():
        body = _moving_body(d, name)
        _known(given, ("mass", "radius", "at"), f"the counterweight on '{name}'")
        places = _joint_places(d, name)
        center = _center(d, body, given.get("at"), places)
        own = [*places.values(), *_points(body).values(), np.array(body.com, dtype=float)]
        reach = max(float(np.linalg.norm(p - center)) for p in own)
        radius = quantity(given["radius"], LENGTH, "radius") if "radius" in given else reach
        most = quantity(given["mass"], unit_kinds.MASS, "mass") if "mass" in given else everything
        if not (radius > 0.0 and most > 0.0):
            given_as = " and ".join(shown(x, k, d.units) for x, k in ((most, unit_kinds.MASS), (radius, LENGTH)))
            raise UsageError(f"the counterweight on '{name}' needs a positive mass and radius, not {given_as}.", name=name, value=given_as)
        out.append(CounterweightBlock(name, center, most, radius, 2 if d.planar else 3))
    return out


def redistribution_blocks(d: Description, bounds: Mapping[str, Mapping[str, Any]]) -> list[Redistributed]:
    out = []
    for name, given in bounds.items():
        body = _moving_body(d, name)
        _known(given, ("mass", "com", "inertia"), f"the bounds of '{name}'")
        own = float(body.mass or 0.0)
        mass = _interval(given.get("mass", (own, own)), unit_kinds.MASS, f"mass of '{name}'")
        inertia = _interval(given.get("inertia", (1.0, 1.0)), NONE, f"inertia factor of '{name}'")
        shift = quantity(given.get("com", 0.0), LENGTH, "com")
        if shift < 0.0 or mass[1] <= 0.0:
            raise UsageError(f"the bounds of '{name}' need a positive mass and a shift of the center that is not negative.", name=name)
        out.append(Redistributed(body, mass, shift, inertia, 2 if d.planar else 3))
    return out


def _interval(given: Any, dimension: Any, what: str) -> tuple[float, float]:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise UsageError(f"the {what} is bounded by (least, most), not {given!r}.", value=given, name=what)
    low, high = (quantity(x, dimension, what) for x in given)
    if not 0.0 <= low <= high:
        raise UsageError(f"the {what} is bounded by (least, most) with 0 <= least <= most, not ({low:g}, {high:g}).", name=what)
    return low, high


def _known(given: Mapping[str, Any], allowed: Sequence[str], what: str) -> None:
    for key in given:
        if key not in allowed:
            raise UsageError(f"{what}: there is no limit '{key}'.", nearest(key, allowed, "Limits"))


def _moving_body(d: Description, name: str) -> Body:
    moving = {b.name: b for b in d.moving}
    if name not in moving:
        raise UsageError(f"there is no moving body '{name}'.", nearest(name, moving, "Bodies"))
    return moving[name]


def _joint_places(d: Description, body: str) -> dict[str, np.ndarray]:
    """Joints of a body and where they sit in it, those on ground first."""
    ground = d.bodies[0].name
    mine = sorted((j for j in d.joints if body in (j.first, j.second)), key=lambda j: ground not in (j.first, j.second))
    return {j.name: np.array((j.frame_first if j.first == body else j.frame_second).at, dtype=float) for j in mine}


def _points(body: Body) -> dict[str, np.ndarray]:
    return {p.name: np.array(p.at, dtype=float) for p in body.points}


def _center(d: Description, body: Body, at: Any, places: Mapping[str, np.ndarray]) -> np.ndarray:
    if at is None:
        return next(iter(places.values()), np.array(body.com, dtype=float))
    known = {**places, **_points(body)}
    if at not in known:
        raise UsageError(f"'{body.name}' has no joint or point '{at}'.", nearest(str(at), known, "Known"))
    return known[at]


# ---------------------------------------------------------------- the search


def minimize(
    A: np.ndarray, r0: np.ndarray, blocks: Sequence[Block], names: Sequence[str], *, starts: int = RANDOM_STARTS
) -> list[np.ndarray]:
    """The variables of each block with least |A dtheta + r0|^2: sequential quadratic programming from several starts."""
    problem = _Problem(A, r0, tuple(blocks), tuple(names))
    low, high = problem.box
    best: np.ndarray | None = None
    for start in _starts(problem, starts):
        if best is not None and problem.value(best)[0] < NOTHING_LEFT:
            break
        done = slsqp(problem.value, start, list(zip(low, high, strict=True)), problem.limits(), 300, 1e-13)
        for x in (start, problem.within(done.x)):
            if np.isfinite(x).all() and (best is None or problem.value(x)[0] < problem.value(best)[0]):
                best = x
    assert best is not None
    best = problem.lightened(problem.polished(best))
    return [best[s].copy() for s in problem.spans]


@dataclass(frozen=True)
class _Problem:
    """min |A dtheta(x) + r0|^2 with x block after block, inside a box and, for counterweights, inside balls."""

    A: np.ndarray
    r0: np.ndarray
    blocks: tuple[Block, ...]
    names: tuple[str, ...]

    @cached_property
    def spans(self) -> list[slice]:
        ends = np.cumsum([0, *(len(b.bounds) for b in self.blocks)])
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.array([pair for b in self.blocks for pair in b.bounds]).T
        return low, high

    @property
    def weights(self) -> list[tuple[CounterweightBlock, slice]]:
        return [(b, s) for b, s in zip(self.blocks, self.spans, strict=True) if isinstance(b, CounterweightBlock)]

    def residual(self, x: np.ndarray) -> np.ndarray:
        parts = [b.change(x[s], self.names) for b, s in zip(self.blocks, self.spans, strict=True)]
        return self.A @ np.concatenate(parts) + self.r0

    def slope(self, x: np.ndarray) -> np.ndarray:
        """d residual / d x."""
        n = len(self.names)
        parts = [
            self.A[:, n * k : n * k + n] @ b.gradient(x[s], self.names)
            for k, (b, s) in enumerate(zip(self.blocks, self.spans, strict=True))
        ]
        return np.concatenate(parts, axis=1)

    def value(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        r = self.residual(x)
        return 0.5 * float(r @ r), self.slope(x).T @ r

    def limits(self) -> list[dict[str, Any]]:
        def inside(b: CounterweightBlock, s: slice) -> dict[str, Any]:
            def jac(x: np.ndarray) -> np.ndarray:
                out = np.zeros_like(x)
                out[s] = b.inside(x[s])[1]
                return out

            return {"type": "ineq", "fun": lambda x: b.inside(x[s])[0], "jac": jac}

        return [inside(b, s) for b, s in self.weights]

    def within(self, x: np.ndarray) -> np.ndarray:
        """Round-off beyond a limit taken back."""
        out = np.clip(x, *self.box)
        for _, s in self.weights:
            out[s][1:] /= max(1.0, float(np.sqrt(out[s][1:] @ out[s][1:])))
        return out

    def polished(self, x: np.ndarray) -> np.ndarray:
        """A few Gauss-Newton steps along the limits that hold: the last digits, which a quasi-Newton search leaves."""
        for _ in range(POLISHING_STEPS):
            low, high = self.box
            move = np.eye(len(x))[:, (x > low) & (x < high)]
            for b, s in self.weights:
                room, normal = b.inside(x[s])
                if room < 1e-9:  # on its circle: only along it
                    n = np.zeros(len(x))
                    n[s] = normal / np.sqrt(normal @ normal)
                    move = move - np.outer(n, n @ move)
            if not move.shape[1]:
                return x
            r = self.residual(x)
            new = self.within(x - move @ linalg.least_squares(self.slope(x) @ move, r, 1e-10))
            if not self.value(new)[0] < self.value(x)[0]:
                return x
            x = new
        return x

    def lightened(self, x: np.ndarray) -> np.ndarray:
        """Take the least mass where mass and radius can be traded without loss."""
        now = self.value(x)[0]
        for b, s in self.weights:
            trial = x.copy()
            trial[s] = b.lightest(x[s])
            if self.value(trial)[0] <= now * (1.0 + 1e-12) + NOTHING_LEFT:
                x = trial
        return x


def _starts(p: _Problem, random: int) -> list[np.ndarray]:
    """The linear answer, half of it, and a few points drawn at random (always the same)."""
    n = len(p.names)
    columns, index = [], {}
    for k, b in enumerate(p.blocks):
        if isinstance(b, CounterweightBlock):
            part = p.A[:, n * k : n * k + n] @ b.linear_columns(p.names)
            index[k] = slice(len(columns), len(columns) + part.shape[1])
            columns += list(part.T)
    y = linalg.least_squares(np.array(columns).T, -p.r0, 1e-12) if columns else np.zeros(0)

    def start(share: float) -> np.ndarray:
        parts = [b.from_linear(share * y[index[k]]) if isinstance(b, CounterweightBlock) else b.as_is() for k, b in enumerate(p.blocks)]
        return np.concatenate(parts)

    low, high = p.box
    rng = np.random.default_rng(0)
    return [start(1.0), start(0.5), *(low + (high - low) * rng.uniform(0.25, 0.75, len(low)) for _ in range(random))]

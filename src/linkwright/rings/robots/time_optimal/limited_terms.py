"""Limited quantities along a path as a u + b x + c, with u = s'' and x = s'^2 of the path parameter s.

Drive efforts and loads come from inverse dynamics on the loops at (q, 0, 0), (q, 0, q') and (q, q', q''). What depends on the speed in
another way (viscous and Coulomb friction, friction by load) is measured at the last motion, and linear in x near it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Trajectory, UsageError
from linkwright.properties import cached_property
from linkwright.rings.robots.time_optimal.limits import MotionLimit
from linkwright.rings.robots.time_optimal.reachability import LimitRows

SIDES = 36  # of the polygon inside the circle of a vector's limit: 0.4 % smaller at most
SPEED_CHANGE = 1e-3  # share of x by which the speed is changed to see how friction depends on it
QUIET = 1e-9  # share of the largest load: friction below it is none
OTHER_TIME = 0.7312  # s: loads that depend on the time differ there


class PathTerm(NamedTuple):
    """A quantity with k components along the path: a u + b x + c, (n, k) each."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray

    def at(self, u: np.ndarray, x: np.ndarray) -> np.ndarray:
        return self.a * u[:, None] + self.b * x[:, None] + self.c


Terms = dict[str, PathTerm]


@dataclass(frozen=True)
class PathTerms:
    """The limits of a path in samples: v and a of the trajectory are q' and q'' by the path parameter."""

    path: Trajectory
    limits: Sequence[MotionLimit]

    @cached_property
    def acting(self) -> list[str]:
        """Channels of efforts and loads that are limited, and the efforts of all drives."""
        drives = [n for n in self.path.channels if n.endswith((".torque", ".force")) and n.rsplit(".", 1)[0] in self.path.drives]
        return list(dict.fromkeys([*drives, *(x.channel for x in self.limits if x.kind in ("load", "effort", "heat"))]))

    @property
    def efforts(self) -> list[str]:
        """Channels of the drives' efforts."""
        return [n for n in self.acting if n.endswith((".torque", ".force"))]

    @cached_property
    def needs_loads(self) -> bool:
        return any(x.kind in ("load", "effort", "heat") for x in self.limits)

    def moving(self, rate: np.ndarray, second: np.ndarray) -> Trajectory:
        """The same positions at these s' and s''."""
        c = self.path
        v = c.v * rate[:, None]
        return replace(c, v=v, a=c.v * second[:, None] + c.a * (rate**2)[:, None])

    def loads(self, rate: np.ndarray, second: np.ndarray) -> dict[str, np.ndarray]:
        """Efforts and forces at these s' and s'', (n, components) by channel."""
        return forces_of(self.moving(rate, second), self.acting)

    @cached_property
    def smooth(self) -> Terms:
        """Terms without friction."""
        out = {x.name: self._motion(x) for x in self.limits if x.kind in ("speed", "acceleration", "jerk")}
        if not self.needs_loads:
            return out
        zero, one = np.zeros(len(self.path)), np.ones(len(self.path))
        still = self.loads(zero, zero)
        self._need_steady(still)
        pushed, forth, back = self.loads(zero, one), self.loads(one, zero), self.loads(-one, zero)
        for name in self.acting:
            c = still[name]
            out[name] = PathTerm(pushed[name] - c, 0.5 * (forth[name] + back[name]) - c, c)
        return out

    def _motion(self, limit: MotionLimit) -> PathTerm:
        """Speed: its vector per s' in a. Acceleration: a u + b x."""
        first, second = derivatives_of(self.path, limit.channel)
        zero = np.zeros_like(first)
        return PathTerm(first, zero, zero) if limit.kind == "speed" else PathTerm(first, second, zero)

    def _need_steady(self, still: Mapping[str, np.ndarray]) -> None:
        """Raise UsageError if a load depends on the time."""
        c = self.path
        other = replace(c, t=c.t + OTHER_TIME, v=0.0 * c.v, a=0.0 * c.a)
        later = forces_of(other, self.acting)
        for name, x in still.items():
            if not np.abs(later[name] - x).max() <= 1e-9 * (1e-12 + np.abs(x).max()):
                raise UsageError(
                    f"fastest: '{name}' changes with the time: a load of the model is a function of t, but the time at each place "
                    "is the unknown. Give that load as a constant, or as a function of a joint.",
                    name=name,
                )

    def rubbed(self, u: np.ndarray, x: np.ndarray) -> Terms:
        """Terms with friction as it is near a motion: exact there, linear in x around it."""
        rate, out = np.sqrt(x), dict(self.smooth)
        here, there = self.loads(rate, u), self.loads(rate * np.sqrt(1.0 + SPEED_CHANGE), u)
        for name in self.acting:
            a, b, c = self.smooth[name]
            more = x * SPEED_CHANGE
            rest = here[name] - self.smooth[name].at(u, x)
            slope = (there[name] - self.smooth[name].at(u, x + more) - rest) / np.maximum(more, 1e-300)[:, None]
            slope = np.where(x[:, None] > 0.0, slope, 0.0)
            out[name] = PathTerm(a, b + slope, c + rest - slope * x[:, None])
        return out

    def has_friction(self, terms: Terms) -> bool:
        """True if terms near a motion differ from those without friction."""
        size = max((float(np.abs(x).max()) for n in self.acting for x in self.smooth[n]), default=0.0)
        moved = (np.abs(terms[n].c - self.smooth[n].c).max() + np.abs(terms[n].b - self.smooth[n].b).max() for n in self.acting)
        return max(moved, default=0.0) > QUIET * size

    def rows(self, terms: Terms) -> LimitRows:
        """Rows of all limits; those of heat and jerk are not linear and have none."""
        out: LimitRows | None = None
        for k, limit in enumerate(self.limits):
            if limit.kind in ("heat", "jerk"):
                continue
            term = terms[limit.channel if limit.kind in ("effort", "load") else limit.name]
            made = _rows(limit, term, k)
            out = made if out is None else out.joined(made)
        if out is None:
            raise UsageError("fastest: limits need one of an effort, a load, a speed or an acceleration in addition to heat and jerk.")
        return out


def derivatives_of(c: Trajectory, channel: str) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives by the path parameter of the coordinate or point behind a channel, (n, k)."""
    stem = channel.rsplit(".", 1)[0]
    first, second = (np.asarray(c[f"{stem}.{x}"], dtype=float).reshape(len(c), -1) for x in ("v", "a"))
    return first, second


def forces_of(c: Trajectory, names: Sequence[str]) -> dict[str, np.ndarray]:
    """EffortTerms, and the force vectors behind channels of loads, (n, components) by channel."""
    read = c.read([n for n in names if not n.endswith(".load")])
    out = {n: np.asarray(x, dtype=float).reshape(len(c), -1) for n, x in read.items()}
    loads = {n: n[: -len(".load")] for n in names if n.endswith(".load")}
    if loads:
        named = {n: _force(joint) for n, joint in loads.items()}
        out |= {n: np.asarray(x, dtype=float) for n, x in c._sampled(named, loads=True, stored=True).items()}
    return out


@cache
def _force(joint: str) -> Callable[[Any], Any]:
    """The force in a joint; the same function for one name, so that it is traced once."""
    return lambda x: x.loads.reaction(joint).force


def value_of(limit: MotionLimit, vector: np.ndarray) -> np.ndarray:
    """The limited number of a vector (n, k): itself, or its size."""
    if limit.kind in ("effort", "heat") or (vector.shape[1] == 1 and limit.kind == "acceleration"):
        return vector[:, 0]
    return np.sqrt((vector * vector).sum(axis=1))


def _rows(limit: MotionLimit, term: PathTerm, k: int) -> LimitRows:
    if limit.kind == "speed":
        B = (term.a**2).sum(axis=1, keepdims=True)
        return LimitRows(np.zeros_like(B), B, np.full_like(B, limit.high**2), np.array([k]))
    if term.a.shape[1] == 1:
        both = [np.concatenate([x, -x], axis=1) for x in (term.a, term.b)]
        return LimitRows(*both, np.concatenate([limit.high - term.c, term.c - limit.low], axis=1), np.array([k, k]))
    # |a u + b x + c| <= high is a disc in the plane of a and b: a polygon inside it
    E = _plane(term)
    along = [np.einsum("nij,ni->nj", E, x) for x in term]
    across = term.c - np.einsum("nij,nj->ni", E, along[2])
    square = limit.high**2 - (across**2).sum(axis=1)
    radius = np.where(square > 0.0, np.sqrt(np.abs(square)), -np.sqrt(np.abs(square)))
    outwards = np.arctan2(along[2][:, 1], along[2][:, 0])  # a corner points where the force at rest does
    angle = outwards[:, None] + np.pi / SIDES * (2 * np.arange(SIDES) + 1)
    n = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    A, B, C = (np.einsum("nj,njk->nk", x, n) for x in along)
    return LimitRows(A, B, radius[:, None] * np.cos(np.pi / SIDES) - C, np.full(SIDES, k))


def _plane(term: PathTerm) -> np.ndarray:
    """Orthonormal bases (n, k, 2) of planes with a and b in them."""
    if term.a.shape[1] == 2:
        return np.broadcast_to(np.eye(2), (len(term.a), 2, 2))
    return np.linalg.svd(np.stack([term.a, term.b], axis=2), full_matrices=False)[0]

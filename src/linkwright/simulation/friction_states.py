"""Dry friction of joints that sticks: its rows, its bounds, and the state of every joint at one instant.

A joint with dry friction is a row u = E v (its speed) with an effort s along it, whose bound grows with the reaction F of the joint:

    slips     s = -sign(u) (c |F(s)| + C)          smooth: tanh(u / speed) in the place of the sign
    sticks    u' = 0,  |s| <= c |F(s)| + C

c is mu times the radius of a pin (mu of a slider), C the constant part. Accelerations and reactions are affine in all s,

    a = a0 + X s        F = F0 + F' s        u' = E a + k = W s + b

so few unknowns are left, which `integrators.dry_friction` finds by Newton's method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from threading import local
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.record_loops import Bound, Loop
from linkwright.compiler.records import Layout
from linkwright.errors import UsageError, listing
from linkwright.integrators import FrictionRows, dry_friction
from linkwright.integrators.contact import FRICTION, ContactSolver
from linkwright.mechanics.forces import FrictionRow
from linkwright.numerics.connected_groups import Groups
from linkwright.numerics.linalg import pivoted_columns
from linkwright.properties import cached_property

# -------------------------------------------------------------------- states


SLIPS, HOLDS, SHARES, TURNS = "slips", "holds", "shares", "turns"  # TURNS: over a speed, smoothly


class RowState(NamedTuple):
    """What the friction of a row does: it slips against a direction, holds, shares what is held with other rows, or turns round smoothly.

    Rows of which one at rest keeps the others at rest share: all have the same part of their bounds, because more is not determined.
    """

    does: str
    sign: float = 0.0  # of the speed it slips at; of SHARES the direction of motion that counts as forward
    group: int = 0  # of those that share
    speed: float = 0.0  # over which it turns round

    @property
    def rests(self) -> bool:
        return self.does in (HOLDS, SHARES)

    @property
    def number(self) -> float:
        """Its channel: 0 at rest, 1 and -1 the direction in which it slips."""
        return self.sign if self.does == SLIPS else 0.0


STILL = 1e-8  # share of the largest speed: slower is at rest
STILL_FLOOR = 1e-12  # the same in rad/s, or characteristic lengths a second
CREEP = 1e-9  # rad/s, or characteristic lengths a second: over which friction turns round that moves nothing
IMMOVABLE = 1e-13  # share of the largest mobility: a row below it is moved by drives, or at a dead center
LEAST_MOBILITY = 1e-9  # share of a mobility that other rows at rest leave: less is none
DECIDED = 1e-10  # share of the largest acceleration: less is none
MOST_CHOICES = 6  # rows at rest of which every state is tried, where the iteration finds none
ROUNDS = 60
NOTHING: Mapping[int, Any] = MappingProxyType({})


class FrictionAnswer(NamedTuple):
    """Efforts of rows, their bounds, the shares of groups, and the rates of all rows."""

    p: np.ndarray
    bound: np.ndarray
    share: np.ndarray
    rate: np.ndarray


@dataclass(frozen=True)
class FrictionInstant:
    """Rows of dry friction at one state, followed by rows that are held by something else (ends of stops, touches of surfaces).

    unit: of each coordinate, 1 rad or the characteristic length; mobility: the largest of the mechanism, of coordinates in these units.
    """

    rows: Sequence[FrictionRow]
    W: np.ndarray  # rates by unit efforts; touches that slip push along their tangents as well
    moved: np.ndarray  # the same without that, symmetric
    b: np.ndarray
    F: np.ndarray
    dF: np.ndarray
    u: np.ndarray
    unit: np.ndarray
    mobility: float
    fastest: float  # largest speed of the mechanism, in these units

    @property
    def m(self) -> int:
        return len(self.rows)

    @cached_property
    def scaled(self) -> np.ndarray:
        """What efforts move, in radians and characteristic lengths."""
        return self.moved / self.unit / self.unit[:, None]

    @cached_property
    def still(self) -> np.ndarray:
        """Rows at rest."""
        return np.abs(self.u[: self.m] / self.unit[: self.m]) <= max(STILL * self.fastest, STILL_FLOOR)

    @cached_property
    def movable(self) -> np.ndarray:
        """Rows that an effort along them moves."""
        size = np.diag(self.scaled)[: self.m]
        return size > IMMOVABLE * max(self.mobility, float(size.max(initial=0.0)))

    @cached_property
    def _left(self) -> np.ndarray:
        """What efforts in rows move with everything else that holds in its place."""
        W, m = self.scaled, self.m
        if len(W) == m:
            return W
        return W[:m, :m] - W[:m, m:] @ np.linalg.lstsq(W[m:, m:], W[m:, :m], rcond=None)[0]

    # ---------------------------------------------------------------- a state, solved

    def solve(self, states: Sequence[RowState]) -> FrictionAnswer | None:
        """Efforts in the given states; None where there are none, or they grow beyond all bounds."""
        law = FrictionLaw.of(self.rows, states, len(self.W) - self.m)
        return solved(law, [*self._theta(law), *law.theta[self.m :]], self.W, self.b, self.F, self.dF)

    def _theta(self, law: FrictionLaw) -> list[float]:
        """Share of its bound that acts in every row that does not rest."""
        out = []
        for row, u, s, x in zip(self.rows, self.u, law.states, law.theta, strict=False):
            slides = 1.0 if s.does == SHARES else float(row.sliding(u))
            out.append(slides * (-float(np.tanh(u / s.speed)) if s.does == TURNS else x))
        return out

    def shares(self, slipping: Mapping[int, float], stopped: Mapping[int, float]) -> np.ndarray:
        """Share of its bound that acts in every row; nan where a row rests that friction can hold. slipping: rows that have just begun to
        slip and their directions; stopped: rows that have just stopped."""
        states = self.begun()
        for i, sense in slipping.items():
            states[i] = RowState(SLIPS, sense)
        rest = [i for i, row in enumerate(self.rows) if row.sticks and i not in slipping and (self.still[i] or i in stopped)]
        for i in rest:
            states[i] = self._carried(i) if not self.movable[i] else self.idle(i)
        out = np.array(self._theta(FrictionLaw.of(self.rows, states)))
        out[[i for i in rest if self.movable[i]]] = np.nan
        return out

    def fits(self, states: Sequence[RowState], x: FrictionAnswer, changed: Sequence[int]) -> bool:
        """True if nothing contradicts the states: what rests is within its bound, and what begins to slip accelerates that way."""
        size, states = DECIDED * self.acceleration(x), numbered(states)
        for i in changed:
            s = states[i]
            if s.does == SLIPS and s.sign * x.rate[i] / self.unit[i] < -size:
                return False
            if s.does == HOLDS and abs(x.p[i]) > x.bound[i] * (1.0 + 1e-12):
                return False
            if s.does == SHARES and abs(x.share[s.group]) > 1.0 + 1e-12:
                return False
        return True

    def acceleration(self, x: FrictionAnswer) -> float:
        """The largest part of an acceleration of a row."""
        parts = np.abs(self.W * x.p) / self.unit[:, None]
        return max(float(parts.max(initial=0.0)), float(np.abs(self.b / self.unit).max(initial=0.0)), 1e-300)

    # ---------------------------------------------------------------- which state

    def begun(self) -> list[RowState]:
        """States of rows that move, or turn round smoothly; those at rest that can move have none yet and slip nowhere."""
        out = []
        for i, row in enumerate(self.rows):
            if not row.sticks:
                out.append(RowState(TURNS, speed=float(row.speed)))
            elif not self.still[i]:
                out.append(RowState(SLIPS, float(np.sign(self.u[i]))))
            else:
                out.append(self.idle(i))
        return out

    def idle(self, i: int) -> RowState:
        return RowState(TURNS, speed=CREEP * float(self.unit[i]))

    def choose(self, never: Mapping[int, float] = NOTHING, likely: Mapping[int, float] = NOTHING) -> list[RowState]:
        """States of all rows: by their speeds, and of those at rest by what their friction can hold.

        never: rows that have just stopped, with the direction in which they slipped; likely: senses in which rows at rest begin to slip,
        as the problem of all that touches has them (`rests`).
        Raise UsageError where no state fits: friction is too strong for rigid bodies.
        """
        states = self.begun()
        sticking = [i for i, row in enumerate(self.rows) if row.sticks and self.still[i]]
        for i in sticking:
            if not self.movable[i]:  # moved by drives, or at a dead center
                states[i] = self._carried(i)
        for part in self._parts([i for i in sticking if self.movable[i]]):
            states = self._decided(states, part, never, likely)
        if self.solve(states) is None:
            raise self._jam([i for i, row in enumerate(self.rows) if float(row.by_load) and self.u[i] != 0.0])
        return numbered(states)

    def _carried(self, i: int) -> RowState:
        """A row that no effort along it moves: its speed is about to have the sign of its acceleration."""
        size = DECIDED * float(np.abs(self.b / self.unit).max(initial=0.0))
        rate = float(self.b[i] / self.unit[i])
        return RowState(SLIPS, float(np.sign(rate))) if abs(rate) > max(size, 1e-300) else self.idle(i)

    def _parts(self, rows: Sequence[int]) -> list[list[int]]:
        """Rows that move each other, directly or by what else holds."""
        size = np.sqrt(np.maximum(np.diag(self.scaled), 0.0))
        groups = Groups(rows)
        for i, j in product(rows, rows):
            moved = max(abs(self.scaled[i, j]), abs(self._left[i, j]))
            if i < j and moved > LEAST_MOBILITY * size[i] * size[j]:
                groups.join(i, j)
        return groups.members()

    def _decided(
        self, states: list[RowState], part: Sequence[int], never: Mapping[int, float], likely: Mapping[int, float]
    ) -> list[RowState]:
        """The states with those of some rows at rest that move each other."""
        held, first = [*range(self.m, len(self.W))], [likely.get(i, 0.0) for i in part]
        begin = [self._with(states, part, first)] if any(first) else []
        for tried in chain(begin, [self._at_rest(states, part)], self._moving(states, part, held, never)):
            x = self.solve(tried)
            if x is not None and self.fits(tried, x, part):
                return tried
        raise self._jam(part)

    def _at_rest(self, states: Sequence[RowState], part: Sequence[int]) -> list[RowState]:
        """The states in which all rows of a part rest."""
        out = list(states)
        left, size = self._left[np.ix_(part, part)], np.sqrt(np.diag(self.scaled)[list(part)])
        w, V = np.linalg.eigh(left / size / size[:, None])
        rank = int(np.sum(w > LEAST_MOBILITY))
        if rank == 0:
            for i in part:
                out[i] = self.idle(i)
        elif rank == len(part):
            for i in part:
                out[i] = RowState(HOLDS)
        elif rank == 1:
            group = 1 + max((s.group for s in states if s.does == SHARES), default=-1)
            for i, d in zip(part, V[:, -1] * np.sign(V[np.abs(V[:, -1]).argmax(), -1]), strict=True):
                out[i] = RowState(SHARES, float(np.sign(d)), group) if abs(d) > LEAST_MOBILITY else self.idle(i)
        else:
            out = self._least_share(out, part, left / size / size[:, None], size, rank)
        return out

    def _least_share(self, states: list[RowState], part: Sequence[int], C: np.ndarray, size: np.ndarray, rank: int) -> list[RowState]:
        """Of all efforts that hold the rows, those of which the largest share of a bound is least: rows at that share are one group, and
        the others hold what is left."""
        from scipy.optimize import linprog

        group = 1 + max((s.group for s in states if s.does == SHARES), default=-1)
        at = list(part)
        out = list(states)
        bound = self._bounds(np.zeros(len(self.W)))[at]
        for _ in range(ROUNDS):
            B = np.maximum(bound, 1e-12 * max(float(bound.max()), 1e-300))
            A = (C * size[:, None] * size) * B  # rates in units, by shares of bounds
            U, s, Vt = np.linalg.svd(A)
            right = -(U[:, :rank].T @ (self.b[at] / self.unit[at]))
            n = len(at)
            sides = np.vstack([np.hstack([sign * np.eye(n), -np.ones((n, 1))]) for sign in (1.0, -1.0)])
            equal = np.hstack([s[:rank, None] * Vt[:rank], np.zeros((rank, 1))])
            scale = max(float(np.abs(right).max()), 1e-300)
            found = linprog(np.eye(n + 1)[-1], A_ub=sides, b_ub=np.zeros(2 * n), A_eq=equal / scale, b_eq=right / scale,
                            bounds=[(None, None)] * n + [(0.0, None)], method="highs")  # fmt: skip
            if not found.success:
                break
            y, most = found.x[:-1], float(found.x[-1])
            together = [k for k in range(n) if abs(y[k]) >= most * (1.0 - 1e-9)]
            apart = [k for k in range(n) if k not in together]
            for k in range(n):
                out[at[k]] = RowState(SHARES, float(np.sign(y[k])), group) if k in together else RowState(HOLDS)
            x = self.solve(out) if len(apart) < rank and most > 0.0 else None
            if x is None:
                break
            if np.allclose(x.bound[at], bound, rtol=1e-9, atol=0.0):
                return out
            bound = x.bound[at]
        chosen = [at[k] for k in pivoted_columns(C)[:rank]]  # rows that hold all, where the others have no share
        for i in at:
            out[i] = RowState(HOLDS) if i in chosen else self.idle(i)
        return out

    def _bounds(self, p: np.ndarray) -> np.ndarray:
        n = len(self.W)
        F = self.F + np.einsum("ija,j->ia", self.dF.reshape(n, n, 3), p)
        c = np.array([float(r.by_load) for r in self.rows] + [0.0] * (n - self.m))
        C = np.array([float(r.constant) for r in self.rows] + [0.0] * (n - self.m))
        return c * np.linalg.norm(F, axis=1) + C

    def _moving(
        self, states: Sequence[RowState], part: Sequence[int], held: Sequence[int], never: Mapping[int, float]
    ) -> Iterator[list[RowState]]:
        """States in which some rows of a part begin to slip, the likeliest first."""
        found = self._by_contact_problem(states, part, held)
        if found is not None:
            yield self._with(states, part, found)
        if len(part) <= MOST_CHOICES:
            for choice in product((0.0, 1.0, -1.0), repeat=len(part)):
                if any(choice) and all(never.get(i) != d or not d for i, d in zip(part, choice, strict=True)):
                    yield self._with(states, part, choice)

    def _with(self, states: Sequence[RowState], part: Sequence[int], signs: Sequence[float]) -> list[RowState]:
        out = list(states)
        for i, d in zip(part, signs, strict=True):
            out[i] = RowState(SLIPS, float(d)) if d else self.idle(i)
        left = [i for i, d in zip(part, signs, strict=True) if not d]
        return self._at_rest(out, left) if left else out

    def _by_contact_problem(self, states: Sequence[RowState], part: Sequence[int], held: Sequence[int]) -> list[float] | None:
        """Signs of the rates by the contact problem with bounds that are given, in rounds over the bounds; None where it has no answer."""
        at = [*part, *held]
        others = [i for i in range(self.m) if i not in part]
        p = np.zeros(len(self.W))
        solver = ContactSolver([FRICTION] * len(at))
        size = np.sqrt(np.maximum(np.diag(self.W)[at], 0.0))
        size = np.where(size > 0.0, size, 1.0)
        x = self.solve([s if i in others else self.idle(i) for i, s in enumerate(states)])
        own = self.W[np.ix_(at, at)]
        symmetric = bool(np.array_equal(self.W, self.moved))
        given = np.zeros(len(p)) if x is None else np.where(np.isin(np.arange(len(p)), others), x.p, 0.0)
        p = given
        for _ in range(ROUNDS):
            bound = self._bounds(p)
            bound[self.m :] = 1e9 * max(float(bound.max(initial=0.0)), 1e-300)
            free = self.b + self.W @ given
            found = solver.solve(own / size / size[:, None], free[at] / size, bound[at] * size, symmetric=symmetric)
            if not found.solved:
                return None
            new = given.copy()
            new[at] = found.p / size
            if np.abs(new - p).max() <= 1e-9 * np.abs(new).max():
                break
            p = new
        rate = found.u[: len(part)]
        least = 1e-7 * float(np.abs(free[at] / size).max(initial=0.0))
        return [float(np.sign(r)) if abs(r) > least else 0.0 for r in rate]

    def _jam(self, part: Sequence[int]) -> UsageError:
        names = [self.rows[i].name for i in part]
        size = [[float(self.rows[i].by_load) * np.linalg.norm(self.dF[i, 3 * j : 3 * j + 3]) for j in part] for i in part]
        gain = float(np.abs(np.linalg.eigvals(np.array(size))).max()) if part else 0.0  # of a unit of friction, in friction
        locks = " Their friction grows as fast as the effort that it resists: they lock themselves."
        more = locks if gain >= 1.0 else ""
        return UsageError(
            f"no state of rest or slip fits the friction of {listing(names)}.{more} Rigid bodies have no motion there. Reduce `mu` or "
            "`radius`, or give `speed:` for smooth friction.",
            name=next(iter(names), "friction"),
        )


def numbered(states: Sequence[RowState]) -> list[RowState]:
    """The states with their groups counted from zero."""
    groups = {g: k for k, g in enumerate(dict.fromkeys(s.group for s in states if s.does == SHARES))}
    return [s._replace(group=groups[s.group]) if s.does == SHARES else s for s in states]


KINDS = {SLIPS: dry_friction.GIVEN, TURNS: dry_friction.GIVEN, HOLDS: dry_friction.HELD, SHARES: dry_friction.SHARED}


class FrictionLaw(NamedTuple):
    """Rows of friction in their states, then rows that are held, as the loops take them."""

    states: list[RowState]
    kind: list[int]
    group: list[int]
    theta: list[float]
    by_load: list[float]
    constant: list[float]
    speed: list[float]  # over which those turn round that move nothing; -1 of smooth ones

    @classmethod
    def of(cls, rows: Sequence[FrictionRow], states: Sequence[RowState], held: int = 0) -> FrictionLaw:
        now, none = numbered(states), [0.0] * held
        theta = [-s.sign if s.does in (SLIPS, SHARES) else 0.0 for s in now]
        kinds = [*(KINDS[s.does] for s in now), *([dry_friction.HELD] * held)]
        c, C = ([*(float(x) for x in part), *none] for part in zip(*((r.by_load, r.constant) for r in rows), strict=True))
        speed = [(s.speed if row.sticks else -1.0) if s.does == TURNS else 0.0 for s, row in zip(now, rows, strict=True)]
        return cls(now, kinds, [*(s.group for s in now), *([0] * held)], [*theta, *none], c, C, [*speed, *none])

    @property
    def groups(self) -> int:
        return 1 + max((s.group for s in self.states if s.does == SHARES), default=-1)


class FrictionMemories(local):
    """Calls of the solver and their records by numbers of rows and groups, those of each thread: every sample of a run needs one."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], tuple[Bound, Any]] = {}

    def of(self, n: int, groups: int) -> tuple[Bound, Any]:
        if (n, groups) not in self._made:
            run = Loop(dry_friction.settle_friction, Layout(dry_friction.FrictionProblem, dry_friction.sizes(n, groups))).bound(1)
            self._made[n, groups] = run, run.record()
        return self._made[n, groups]


_memories = FrictionMemories()


def solved(
    law: FrictionLaw | FrictionRows, theta: Any, W: np.ndarray, b: np.ndarray, F: np.ndarray, dF: np.ndarray
) -> FrictionAnswer | None:
    """Efforts of rows in their states; None where there are none."""
    run, x = _memories.of(len(b), law.groups)
    x.kind[:], x.group[:], x.by_load[:], x.constant[:] = law.kind, law.group, law.by_load, law.constant
    x.theta[:], x.W[:], x.b[:], x.F[:], x.dF[:] = theta, W, b, F, dF
    if not run()[0]:
        return None
    p = np.array(x.p)
    return FrictionAnswer(p, np.array(x.bound), np.array(x.share), W @ p + b)

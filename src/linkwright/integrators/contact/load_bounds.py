"""Contacts together with friction whose bounds grow with the loads that it changes: pins that rub while surfaces touch.

    |p_i| <= B_i,  p_i = -B_i sign(u_i) where it slips,  B_i = c_i |F_i + sum_j F'_ij p_j| + C_i        for every FRICTION block

in accelerations and forces, or in speeds and impulses (there F and C are zero). In rounds: `states` finds who opens, sticks and slips with
bounds that are given, Newton's method the efforts in these states with bounds that follow, and those are the next bounds. Where the rounds
end nowhere, because friction grows as fast as the effort that it resists, all combinations of states are tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwright.integrators.contact.problem import FRICTION, PLANAR, ROWS
from linkwright.integrators.contact.states import FITS, OPEN, SLIP, STICK, StatesFound, combinations, fits, states

ROUNDS = 40
NEWTON_STEPS = 40
SETTLED = 1e-14  # share of the largest effort that a step of Newton's method changes
MOST_TRIED = 4096  # combinations of states


@dataclass(frozen=True)
class LoadBounds:
    """Bounds of the FRICTION blocks, in their order; theta: p = theta B where that is known already, else nan; slides: share in slip."""

    rows: np.ndarray  # in W
    by_load: np.ndarray
    constant: np.ndarray
    F: np.ndarray  # (blocks, 3)
    dF: np.ndarray  # (blocks, rows of W, 3)
    theta: np.ndarray
    slides: np.ndarray

    def at(self, p: np.ndarray) -> np.ndarray:
        """B at some efforts."""
        return self.by_load * np.linalg.norm(self.F + np.einsum("ija,j->ia", self.dF, p), axis=1) + self.constant

    def slopes(self, p: np.ndarray) -> np.ndarray:
        """Derivatives of B by the efforts."""
        force = self.F + np.einsum("ija,j->ia", self.dF, p)
        size = np.linalg.norm(force, axis=1)
        way = force / np.where(size > 0.0, size, 1.0)[:, None]
        return self.by_load[:, None] * np.einsum("ija,ia->ij", self.dF, way)

    @property
    def gain(self) -> float:
        """Friction that a unit of friction makes; from 1 on joints can lock themselves."""
        size = self.by_load[:, None] * np.linalg.norm(self.dF[:, self.rows], axis=2)
        return float(np.abs(np.linalg.eigvals(size)).max(initial=0.0)) if len(size) else 0.0


def bounded_states(kinds: Sequence[int], W: np.ndarray, b: np.ndarray, mu: np.ndarray, bounds: LoadBounds) -> StatesFound:
    """Find the states of contacts and friction; mu of FRICTION blocks is not read. No answers: none was found."""
    first = np.cumsum([0, *(ROWS[k] for k in kinds)])
    rubbing = [i for i, k in enumerate(kinds) if k == FRICTION]
    known = [i for i, theta in zip(rubbing, bounds.theta, strict=True) if np.isfinite(theta)]
    open_ = [i for i in range(len(kinds)) if i not in known]
    rows = [r for i in open_ for r in range(first[i], first[i + 1])]
    p, residual = np.zeros(len(b)), 0.0
    for _ in range(ROUNDS):
        B, mu_now, given = bounds.at(p), np.array(mu, dtype=float), np.zeros(len(b))
        mu_now[rubbing] = B
        given[bounds.rows] = np.where(np.isfinite(bounds.theta), bounds.theta, 0.0) * B
        found = states([kinds[i] for i in open_], W[np.ix_(rows, rows)], (b + W @ given)[rows], mu_now[open_])
        residual = found.residual
        if not found.answers:
            break
        code = np.zeros(len(kinds), dtype=int)
        code[open_] = [_code(*x) for x in zip(found.states, found.ways, strict=True)]
        start = given.copy()
        start[rows] = found.p
        exact = _efforts(kinds, first, W, b, mu, bounds, code, start)
        if exact is not None and _agrees(kinds, W, b, mu, bounds, code, exact, open_):
            return _answer(W, b, code, exact, found)
        before, p = p, start if exact is None else 0.5 * (start + exact)
        if np.abs(p - before).max(initial=0.0) <= SETTLED * np.abs(p).max(initial=0.0):
            break
    for tried in combinations(tuple(kinds[i] for i in open_), MOST_TRIED):
        code = np.zeros(len(kinds), dtype=int)
        code[open_] = tried
        exact = _efforts(kinds, first, W, b, mu, bounds, code, np.zeros(len(b)))
        if exact is not None and _agrees(kinds, W, b, mu, bounds, code, exact, open_):
            return _answer(W, b, code, exact, StatesFound(p, p, (), (), 1, residual))
    return StatesFound(p, W @ p + b, (OPEN,) * len(kinds), ((),) * len(kinds), 0, residual)


def _code(state: int, way: tuple[float, ...]) -> int:
    return {OPEN: 0, STICK: 1, SLIP: 2 if way and way[0] < 0.0 else 3}[state]


def _agrees(
    kinds: Sequence[int], W: np.ndarray, b: np.ndarray, mu: np.ndarray, bounds: LoadBounds, code: np.ndarray, p: np.ndarray,
    which: list[int],
) -> bool:  # fmt: skip
    """True if the law holds in all blocks whose state is not known."""
    every = np.array(mu, dtype=float)
    every[[i for i, k in enumerate(kinds) if k == FRICTION]] = bounds.at(p)
    return bool(fits(kinds, code[None], p[None], (p @ W.T + b)[None], every, max(float(np.abs(b).max()), 1e-300), which)[0])


def _answer(W: np.ndarray, b: np.ndarray, code: np.ndarray, p: np.ndarray, found: StatesFound) -> StatesFound:
    names, ways = tuple((OPEN, STICK, SLIP, SLIP)[c] for c in code), tuple(((), (), (-1.0,), (1.0,))[c] for c in code)
    return StatesFound(p, W @ p + b, names, ways, found.answers, found.residual, found.stage, found.shared)


def _efforts(
    kinds: Sequence[int], first: np.ndarray, W: np.ndarray, b: np.ndarray, mu: np.ndarray, bounds: LoadBounds, code: np.ndarray,
    start: np.ndarray,
) -> np.ndarray | None:  # fmt: skip
    """Efforts in given states by Newton's method; None where there are none, or they are not unique."""
    p, n = np.array(start), len(b)
    own = {int(row): k for k, row in enumerate(bounds.rows)}
    for _ in range(NEWTON_STEPS):
        B, slopes = bounds.at(p), bounds.slopes(p)
        K, left = np.eye(n), np.array(p)
        for i, kind in enumerate(kinds):
            r, c = int(first[i]), int(code[i])
            if kind == FRICTION:
                k = own[r]
                theta = bounds.theta[k] if np.isfinite(bounds.theta[k]) else (0.0, 0.0, 1.0, -1.0)[c] * bounds.slides[k]
                if c != 1:
                    K[r] -= theta * slopes[k]
                    left[r] -= theta * B[k]
            if (c == 1 if kind == FRICTION else c > 0):
                K[r], left[r] = W[r], W[r] @ p + b[r]
            if kind == PLANAR and c == 1:
                K[r + 1], left[r + 1] = W[r + 1], W[r + 1] @ p + b[r + 1]
            elif kind == PLANAR and c > 1:
                share = mu[i] if c == 2 else -mu[i]
                K[r + 1, r] = -share
                left[r + 1] -= share * p[r]
        length = np.maximum(np.linalg.norm(K, axis=1), 1e-300)
        change = np.linalg.lstsq(K / length[:, None], -left / length, rcond=1e-12)[0]
        p = p + change
        if not np.isfinite(p).all():
            return None
        if np.abs(change).max(initial=0.0) <= SETTLED * np.abs(p).max(initial=0.0):
            off = np.abs(left / length).max(initial=0.0)
            size = max(float(np.abs(p).max(initial=0.0)), float(np.abs(b / length).max(initial=0.0)), 1e-300)
            return p if off <= FITS * size else None
    return None

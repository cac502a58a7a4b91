"""Walking along the loops in native code: all samples of a motion whose drives are given, from kernel `walk`.

    Walking(kernels, drives)(q, near, t, laws)       laws: value, speed and acceleration of every drive at every sample

From sample to sample a Hermite extrapolation predicts q, Newton steps correct it, and the step is halved as soon as the corrector has
to work hard or the determinant of the driven Jacobian changes sign: there two branches meet, and the rules of `passage` decide on
floats. Between samples the drives move along the quintic through both ends, so laws are evaluated at samples only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from linkwright.compiler import native, native_loops
from linkwright.compiler.native_loops import evaluate
from linkwright.kernels.kernel import Kernel

WALK_CLOSED = 2e-15  # dimensionless residual at round-off
GOOD_ENOUGH = 1e-12  # accepted where Newton does not halve it any more
FAR = 0.1  # share of the predicted way that the corrector may move
LONGEST = 0.3  # rad or m that a predictor may go before the corrector checks it
SHORTEST = 1e-4  # share of the way to the next sample below which the walk stops
MOST = 6  # evaluations for one position
DONE, STOPPED = 1, 2
LONGEST_STORED = 4000  # samples of a walk whose memory is stored
MOST_LENGTHS = 16  # different numbers of samples for which it is
LAWS = ("drive", "speed", "acceleration")


class WalkPlan(NamedTuple):
    """The kernel by address (or as a callable), sizes, and places in the floats."""

    walk: Any
    nq: int
    nv: int
    nd: int
    near: int  # entries of the cut joints' references
    x: int  # row of the kernel's inputs: q, drive, speed, acceleration, near, parameters
    at_near: int  # place of the references in it
    y: int  # outputs: q, qdot, v, a, near, residual, moved, determinant, margin
    w: int
    newest: int  # q and dq/dt at the last three points
    second: int
    third: int
    idle: int  # degrees of freedom that no constraint decides: a rod that spins between ball joints


def law_between(plan: WalkPlan, floats: np.ndarray, laws: np.ndarray, k: int, share: float, h: float) -> None:
    """Drives at a share of the way from sample k to the next: the quintic through value, speed and acceleration at both."""
    for i in range(plan.nd):
        x0, v0, a0 = laws[k, i], h * laws[k, plan.nd + i], h * h * laws[k, 2 * plan.nd + i]
        x1, v1, a1 = laws[k + 1, i], h * laws[k + 1, plan.nd + i], h * h * laws[k + 1, 2 * plan.nd + i]
        d, e, g = x1 - x0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
        c3, c4, c5 = 10.0 * d - 4.0 * e + 0.5 * g, -15.0 * d + 7.0 * e - g, 6.0 * d - 3.0 * e + 0.5 * g
        at = plan.x + plan.nq + i
        floats[at] = x0 + share * (v0 + share * (0.5 * a0 + share * (c3 + share * (c4 + share * c5))))
        floats[at + plan.nd] = (v0 + share * (a0 + share * (3.0 * c3 + share * (4.0 * c4 + share * 5.0 * c5)))) / h
        floats[at + 2 * plan.nd] = (a0 + share * (6.0 * c3 + share * (12.0 * c4 + share * 20.0 * c5))) / (h * h)


def law_at(plan: WalkPlan, floats: np.ndarray, laws: np.ndarray, k: int) -> None:
    """Drives at a sample."""
    for i in range(3 * plan.nd):
        floats[plan.x + plan.nq + i] = laws[k, i]


def predict(plan: WalkPlan, floats: np.ndarray, points: int, step: float) -> float:
    """Extrapolate q by a step of time from three, two or one points with their rates (order 5, 3, 1); return how far it goes.

    Hermite's formula amplifies errors that no corrector removes; with idle degrees of freedom those of Adams and Bashforth serve.
    """
    far = 0.0
    for i in range(plan.nq):
        q0, d0 = floats[plan.newest + i], step * floats[plan.newest + plan.nq + i]
        q1, d1 = floats[plan.second + i], step * floats[plan.second + plan.nq + i]
        q2, d2 = floats[plan.third + i], step * floats[plan.third + plan.nq + i]
        new = q0 + d0
        if plan.idle > 0:
            if points == 2:
                new = q0 + 1.5 * d0 - 0.5 * d1
            if points >= 3:
                new = q0 + (23.0 * d0 - 16.0 * d1 + 5.0 * d2) / 12.0
        elif points == 2:
            new = 5.0 * q1 - 4.0 * q0 + 2.0 * d1 + 4.0 * d0
        elif points >= 3:
            new = 10.0 * q2 + 9.0 * q1 - 18.0 * q0 + 3.0 * d2 + 18.0 * d1 + 9.0 * d0
        floats[plan.x + i] = new
        far = max(far, abs(new - q0))
    return far


def closed(plan: WalkPlan, floats: np.ndarray, counts: np.ndarray, reach: float, side: float) -> bool:
    """Newton steps at the row's drives; True with everything of one position in the outputs and its q in the row."""
    at, before = plan.y + 2 * plan.nq + 2 * plan.nv + plan.near, math.inf
    for _ in range(MOST):
        counts[1] += 1
        if evaluate(plan.walk, floats, plan.x, plan.y, plan.w) != 0 or floats[at + 2] * side < 0.0 or floats[at + 1] > reach:
            return False
        residual = floats[at]
        if residual <= WALK_CLOSED or (residual < GOOD_ENOUGH and residual > 0.5 * before):
            return True
        before = residual
        for i in range(plan.nq):
            floats[plan.x + i] = floats[plan.y + i]
    return False


def advance(plan: WalkPlan, floats: np.ndarray) -> None:
    """The point just closed becomes the newest of the last three, its cut joints the references of the next."""
    for i in range(2 * plan.nq):
        floats[plan.third + i] = floats[plan.second + i]
        floats[plan.second + i] = floats[plan.newest + i]
    for i in range(plan.nq):
        floats[plan.newest + i] = floats[plan.x + i]
        floats[plan.newest + plan.nq + i] = floats[plan.y + plan.nq + i]
    if plan.at_near >= 0:
        for i in range(plan.near):
            floats[plan.at_near + i] = floats[plan.y + 2 * plan.nq + 2 * plan.nv + i]


def record(plan: WalkPlan, floats: np.ndarray, rows: np.ndarray, k: int) -> None:
    """q, v, a, near and the determinant of a sample."""
    n = 2 * plan.nv + plan.near
    for i in range(plan.nq):
        rows[k, i] = floats[plan.x + i]
    for i in range(n):
        rows[k, plan.nq + i] = floats[plan.y + 2 * plan.nq + i]
    rows[k, plan.nq + n] = floats[plan.y + 2 * plan.nq + n + 2]


def walk(plan: WalkPlan, floats: np.ndarray, counts: np.ndarray, laws: np.ndarray, t: np.ndarray, rows: np.ndarray) -> int:
    """All samples; counts: samples reached, evaluations, steps tried again."""
    n, points, share, s, k = len(t), 0, 1.0, 0.0, 0
    law_at(plan, floats, laws, 0)
    if not closed(plan, floats, counts, FAR, 0.0):
        return STOPPED
    side = floats[plan.y + 2 * plan.nq + 2 * plan.nv + plan.near + 2]
    while k < n:
        if s == 0.0:
            record(plan, floats, rows, k)
            counts[0] = k + 1
            if k == n - 1:
                return DONE
        advance(plan, floats)
        points = min(points + 1, 3)
        h = t[k + 1] - t[k]
        step, good = 1.0, False
        while not good:
            step = min(share, 1.0 - s)
            far = predict(plan, floats, points, step * h)
            if s + step >= 1.0:
                law_at(plan, floats, laws, k + 1)
            else:
                law_between(plan, floats, laws, k, s + step, h)
            good = far < LONGEST and closed(plan, floats, counts, FAR * far + 1e-9, side)
            if not good:
                counts[2] += 1
                share, points = 0.5 * step, 1
                if share < SHORTEST:
                    return STOPPED
        s += step
        if s >= 1.0:
            s = 0.0
            k += 1
            if share < 1.0 and points > 2:  # a longer step again: the points before are no longer at equal distances
                share, points = min(1.0, 2.0 * share), 0
    return DONE


class Memory(NamedTuple):
    """Arrays of a walk, and the call that fills them."""

    floats: np.ndarray
    laws: np.ndarray
    t: np.ndarray
    counts: np.ndarray
    rows: np.ndarray
    run: Callable[[], int]


class Walked(NamedTuple):
    """Samples of a motion, one row each; `reached` of them are known."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    references: np.ndarray
    determinant: np.ndarray
    reached: int


class Walking:
    """The walk of one mechanism, its kernel `walk` ready to be called."""

    def __init__(self, kernel: Kernel, idle: int = 0):
        self.kernel, self.idle = kernel, idle

    @cached_property
    def _shared(self) -> tuple[WalkPlan, int, dict[int, list[Memory]]]:
        """The plan, the size of its floats, and memories by numbers of samples: of all mechanisms that run on this code."""
        made = _made.setdefault(self.kernel.code, {})
        if self.idle not in made:
            made[self.idle] = (*_layout(self.kernel, self.idle), {})
        return made[self.idle]

    @property
    def plan(self) -> WalkPlan:
        return self._shared[0]

    def __call__(self, q: np.ndarray, near: np.ndarray, t: np.ndarray, laws: np.ndarray, parameters: Any = None) -> Walked:
        """Samples at times t from q and the packed references `near` at the first of them; laws (len(t), 3 drives)."""
        plan, size, memories = self._shared
        if len(memories) > MOST_LENGTHS:
            memories.clear()
        mine = memories.setdefault(len(t), [])
        memory = mine.pop() if mine else _memory(plan, size, len(t))
        given = {"q": q, "near": near, **({} if parameters is None else {"parameters": parameters})}
        for name, span in self._given:
            memory.floats[span] = given[name] if name in given else self.kernel.default(name)
        memory.laws[...], memory.t[...], memory.counts[...] = laws, t, 0
        memory.run()
        rows, reached = memory.rows.copy(), int(memory.counts[0])
        if len(t) <= LONGEST_STORED:
            mine.append(memory)
        a, b, c, d = plan.nq, plan.nq + plan.nv, plan.nq + 2 * plan.nv, plan.nq + 2 * plan.nv + plan.near
        return Walked(rows[:, :a], rows[:, a:b], rows[:, b:c], rows[:, c:d], rows[:, d], reached)

    @cached_property
    def _given(self) -> list[tuple[str, slice]]:
        """Inputs that stay the same on the way, and their places."""
        x = self.plan.x
        return [(b.name, slice(x + b.start, x + b.start + b.size)) for b in self.kernel.inputs if b.name not in LAWS]


_made: WeakKeyDictionary[Any, dict[int, tuple[WalkPlan, int, dict[int, list[Memory]]]]] = WeakKeyDictionary()  # by code, idle


def _layout(kernel: Kernel, idle: int) -> tuple[WalkPlan, int]:
    """Sizes and places, and how many floats they take."""
    code = kernel.code
    ins, outs = ({b.name: b for b in blocks} for blocks in (code.inputs, code.outputs))
    nq, nv, near = outs["q"].size, outs["v"].size, outs["near"].size if "near" in outs else 0
    sizes = {"x": code.n_in, "y": code.n_out, "w": code.work("one"), "newest": 2 * nq, "second": 2 * nq, "third": 2 * nq}
    places, at = {}, 0
    for name, n in sizes.items():
        places[name], at = at, at + -(-n // 8) * 8
    at_near = places["x"] + ins["near"].start if "near" in ins else -1
    return WalkPlan(code.one_address, nq, nv, ins["drive"].size, near, at_near=at_near, idle=idle, **places), at


def _memory(plan: WalkPlan, size: int, n: int) -> Memory:
    """Arrays of n samples, and the loop bound to them."""
    floats, laws, t, counts = native.aligned(size)[0], np.zeros((n, 3 * plan.nd)), np.zeros(n), np.zeros(3, dtype=np.int64)
    rows = np.zeros((n, plan.nq + 2 * plan.nv + plan.near + 1))
    arguments = (plan, floats, counts, laws, t, rows)
    return Memory(floats, laws, t, counts, rows, native_loops.native(walk, arguments).bound(*arguments))

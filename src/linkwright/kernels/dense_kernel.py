"""Forward dynamics by `nullspace` or `projection`: the kernel of M, h, J, k, then native rank-revealing loops on them.

Called like any kernel, `s.kernel("forward", "nullspace")(Q, V, TAU)`. The loops find the rank of every state's J. Where it is
the usual one, a and lam are theirs (with redundant loops the kernel `least` then chooses, among the multipliers of the same
motion, those of least reactions); a state that loses rank goes to the rank-revealing path. Without llvmlite the same loops
run as Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import loops as native_loops
from linkwright.compiler import threads
from linkwright.compiler.program import Block, Program
from linkwright.errors import UsageError
from linkwright.kernels.kernel import DEGENERATE, NOT_FINITE, Fallback, Kernel
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.formulations.dense_loops import Dense, Room, nullspace_loop, projection_loop, room
from linkwright.numerics.linalg import RANK_TOLERANCE

WEAK = 3e-3  # a pivot of the dimensionless J below this may be a passage: where the watch of `auto` hands over too
ROUGH_NS = 3.0  # per entry of an n^3 cube, to judge whether threads pay


class Batch(NamedTuple):
    """Terms of many states, one state per row, and the answers."""

    M: np.ndarray
    h: np.ndarray
    J: np.ndarray
    k: np.ndarray
    tau: np.ndarray
    a: np.ndarray
    lam: np.ndarray
    status: np.ndarray  # int64


def solve_states(b: Batch, d: Dense, w: Room, by_projection: int, usual: int, first: int, count: int) -> int:
    """Answer `count` states from `first` on; returns how many have a status that is not zero."""
    n, m = d.M.shape[0], d.J.shape[0]
    failed = 0
    for s in range(first, first + count):
        for i in range(n):
            d.h[i] = b.h[s, i]
            d.tau[i] = b.tau[s, i]
            for j in range(n):
                d.M[i, j] = b.M[s, i * n + j]
        for i in range(m):
            d.k[i] = b.k[s, i]
            for j in range(n):
                d.J[i, j] = b.J[s, i * n + j]
        rank = projection_loop(d, w, RANK_TOLERANCE, 0.0) if by_projection > 0 else nullspace_loop(d, w, RANK_TOLERANCE)
        b.status[s] = judged(d, w, rank, usual)
        failed += 1 if b.status[s] > 0 else 0
        for i in range(n):
            b.a[s, i] = d.a[i]
        for i in range(m):
            b.lam[s, i] = d.lam[i]
    return failed


def judged(d: Dense, w: Room, rank: int, usual: int) -> int:
    """Status word of the state just answered."""
    m = d.J.shape[0]
    doubt = 0.0
    for i in range(d.M.shape[0]):
        doubt += 0.0 * d.a[i]
    for i in range(m):
        doubt += 0.0 * d.lam[i]
    status = 0
    if doubt != 0.0:
        status = NOT_FINITE
    smallest = 1.0
    for i in range(rank):
        smallest = min(smallest, abs(w.J.A[i, i]))
    if rank != usual or smallest < WEAK:
        status = status | DEGENERATE
    return status


class DenseKernel(Kernel):
    """q, v, tau -> a, lam by one of the dense formulations."""

    def __init__(
        self, formulation: str, terms: Kernel, loops: Loops, fallback: Fallback | None, usual: Callable[[], tuple[int, Kernel | None]]
    ):
        super().__init__("forward", self._no_program, None, terms.names, terms._defaults, fallback, "native" if terms.native else "python")
        self.formulation, self.terms, self.loops = formulation, terms, loops
        self._find_usual = usual
        self.n, self.m = len(loops.columns), len(loops.row_scale)
        self._ready: list[tuple[Batch, Callable[[], int]]] = []

    @cached_property
    def _usual(self) -> tuple[int, Kernel | None]:
        """Rank of J in general, and the kernel of multipliers where that is less than its rows."""
        return self._find_usual()

    @property
    def size(self) -> str:
        return f"{self.terms.size}, then {self.formulation} by rank-revealing loops"

    def _no_program(self) -> Program:
        raise UsageError(
            f"the formulation '{self.formulation}' decides ranks on numbers and has no straight-line program; "
            "take the kernel 'terms' for M, h, J, k, or the formulation 'sslm'."
        )

    @cached_property
    def inputs(self) -> tuple[Block, ...]:
        blocks, out, at = list(self.terms.inputs), [], 0
        place = 1 + max((i for i, b in enumerate(blocks) if b.name in ("q", "v")), default=-1)
        for b in (*blocks[:place], Block("tau", (self.n,), 0), *blocks[place:]):
            out.append(Block(b.name, b.shape, at))
            at += b.size
        return tuple(out)

    @cached_property
    def _every_output(self) -> tuple[Block, ...]:
        return (Block("a", (self.n,), 0), Block("lam", (self.m,), self.n))

    @cached_property
    def operations(self) -> int:
        return self.terms.operations

    # ---------------------------------------------------------------- calls

    def __call__(self, *arrays: Any, **more: Any) -> Any:
        if not more and len(arrays) == 3 and all(getattr(x, "shape", 0) == b.shape for x, b in zip(arrays, self._needed, strict=False)):
            return self._state(*arrays)
        return self._batch(arrays, more)

    def _state(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Any:
        """One state, optional inputs at their defaults."""
        found = self.terms(q, v)
        b, run = self._ready.pop() if self._ready else self._prepared_state()
        for place, x in ((b.M, found.M), (b.h, found.h), (b.J, found.J), (b.k, found.k), (b.tau, tau)):
            place[0] = x.ravel()
        failed = run()
        a, lam, least = b.a[0].copy(), b.lam[0].copy(), self._usual[1]
        self._ready.append((b, run))
        if failed:
            return self._single((q, v, tau))
        return self.Result(a, lam if least is None else least(q, v, a, lam).lam)

    def _prepared_state(self) -> tuple[Batch, Callable[[], int]]:
        b, d, w = self._rows(1), self._dense(), room(self.n, self.m)
        return b, self._bound(b, d, w, 0, 1)

    def _batch(self, arrays: Sequence[Any], more: Mapping[str, Any] = MappingProxyType({})) -> Any:
        given = self._named(arrays, more)
        lead = np.broadcast_shapes(*(x.shape[: x.ndim - len(b.shape)] for b, x in zip(self.inputs, given, strict=True)))
        named = {b.name: x for b, x in zip(self.inputs, given, strict=True)}
        tau = named.pop("tau")
        found = self.terms(**named)
        count = math.prod(lead)
        b = self._rows(count)
        for place, x, axes in ((b.M, found.M, 2), (b.h, found.h, 1), (b.J, found.J, 2), (b.k, found.k, 1), (b.tau, tau, 1)):
            whole = np.broadcast_to(x, (*lead, *x.shape[x.ndim - axes :]))
            place[...] = whole.reshape(count, place.shape[1])
        threads.share(lambda first, part: self._run(b, first, part), count, count * self.n**3 * ROUGH_NS if self.native else 0.0)
        outputs = [b.a.reshape(*lead, self.n), b.lam.reshape(*lead, self.m)]
        status, least = b.status.reshape(lead), self._usual[1]
        good = status == 0
        if least is not None and good.any():
            rows = {k.name: np.broadcast_to(named[k.name], (*lead, *k.shape))[good] for k in self.terms.inputs}
            outputs[1][good] = least(**rows, a=outputs[0][good], lam=outputs[1][good]).lam
        return self._result(outputs, self._repair(given, outputs, status, lead) if status.any() else {})

    def _run(self, b: Batch, first: int, count: int) -> None:
        self._bound(b, self._dense(), room(self.n, self.m), first, count)()

    def _bound(self, b: Batch, d: Dense, w: Room, first: int, count: int) -> Callable[[], int]:
        arguments = (b, d, w, int(self.formulation == "projection"), self._usual[0], first, count)
        if self.native:
            return native_loops.native(solve_states, arguments).bound(*arguments)
        return lambda: solve_states(*arguments)

    def _rows(self, count: int) -> Batch:
        def rows(size: int) -> np.ndarray:
            return np.zeros((count, size))

        n, m = self.n, self.m
        return Batch(rows(n * n), rows(n), rows(m * n), rows(m), rows(n), rows(n), rows(m), np.zeros(count, dtype=np.int64))

    def _dense(self) -> Dense:
        n, m = self.n, self.m
        z = np.zeros
        return Dense(z((n, n)), z(n), z((m, n)), z(m), z(n), self.loops.columns.copy(), self.loops.row_scale.copy(), z(n), z(m))

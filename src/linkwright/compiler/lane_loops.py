"""Loops over blocks of lanes, written in the subset of `native_loops`: what walks of designs, readings and runs in lockstep share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.compiler import native, native_loops
from linkwright.compiler.native_loops import packed

LANES = 8  # states in a block; every entry of a block has so many numbers, one after the other


def corrected(g: np.ndarray, x: int, y: int, entries: int, active: int) -> None:
    """Entries at x of the lanes whose Newton steps continue become those just found at y."""
    for i in range(entries):
        for l in range(LANES):
            old, new = g[x + LANES * i + l], g[y + LANES * i + l]
            g[x + LANES * i + l] = new if g[active + l] > 0.0 else old


def padded(n: int) -> int:
    """The next multiple of eight."""
    return -(-n // LANES) * LANES


class LaneLoop:
    """A loop f(plan, floats, whole numbers, arrays...) over parts of many items, each thread with floats of its own.

    The whole numbers begin with the first item of a part and the number of items in it.
    """

    def __init__(self, function: Any, plan: Any, size: int):
        self.function, self.plan, self.size = function, plan, size
        self._idle: list[np.ndarray] = []
        self._compiled: native_loops.NativeFunction | None = None
        self._slots: list[int] = []  # of the plan: the same in all calls

    def __call__(self, n: int, more: Sequence[int], arrays: Sequence[np.ndarray], expected_ns: float, cores: int | None = None) -> None:
        """Run it over n items with further whole numbers and arrays, on several cores where that pays."""
        if self._compiled is None:
            example = (self.plan, np.zeros(1), np.zeros(1, dtype=np.int64), *arrays)
            self._compiled = native_loops.native(self.function, example, lanes=True)
            packed(self._compiled.kinds[0], self.plan, self._slots)
        call, shared = self._compiled, [slot for x in arrays for slot in _slots_of(x)]

        def run(first: int, count: int) -> None:
            try:
                g = self._idle.pop()  # not asked first: another thread may take the last one in between
            except IndexError:
                g = native.aligned(self.size)[0]
            d = np.array([first, count, *more], dtype=np.int64)
            call.of_slots([*self._slots, *_slots_of(g), *_slots_of(d), *shared])
            self._idle.append(g)

        native.share(run, n, expected_ns, cores)


def _slots_of(x: np.ndarray) -> tuple[int, ...]:
    """Address and lengths of an array, which has to lie in one piece."""
    if not x.flags.c_contiguous:
        raise ValueError("a loop over lanes takes arrays in one piece")
    return x.__array_interface__["data"][0], *x.shape

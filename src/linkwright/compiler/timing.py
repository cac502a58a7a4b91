"""Times of machine code in a loop of machine code, so that Python's own cost stays out: the best of many short repeats."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkwright.compiler import cache as target
from linkwright.compiler import native

_LOOPS = """
define void @repeat_one(ptr %f, ptr %x, ptr %y, ptr %w, i64 %n) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %status = call i64 %f(ptr %x, ptr %y, ptr %w)
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

define void @repeat_aosoa(ptr %f, ptr %x, ptr %y, ptr %w, i64 %blocks, i64 %n) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %status = call i64 %f(ptr %x, ptr %y, ptr %w, i64 %blocks)
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""


@cache
def _loops() -> tuple[Any, Any, native.Loaded]:
    host = target.host()
    loaded = native.Loaded(target.emit(f'target triple = "{host.triple}"\n{_LOOPS}', host))
    pointer, whole = ctypes.c_void_p, ctypes.c_int64
    one = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, pointer, whole)(loaded.address("repeat_one"))
    aosoa = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, pointer, whole, whole)(loaded.address("repeat_aosoa"))
    return one, aosoa, loaded


def time_one(address: int, x: np.ndarray, n_out: int, work: int, repeats: int = 100) -> float:
    """Nanoseconds of one evaluation on one state."""
    xs, at_x = native.aligned(len(x))
    xs[:] = x
    _ys, at_y = native.aligned(n_out)
    _ws, at_w = native.aligned(work)
    return best(lambda n: _loops()[0](address, at_x, at_y, at_w, n), repeats)


def time_aosoa(address: int, X: np.ndarray, n_out: int, work: int, repeats: int = 100) -> float:
    """Nanoseconds per state of the batch code on states in lanes; X holds one packed state per row."""
    blocks = max(1, -(-len(X) // 8))
    rows = np.resize(X, (8 * blocks, X.shape[1]))
    xs, at_x = native.aligned(rows.size)
    xs[:] = rows.reshape(blocks, 8, -1).transpose(0, 2, 1).ravel()
    _ys, at_y = native.aligned(8 * blocks * n_out)
    _ws, at_w = native.aligned(work)
    return best(lambda n: _loops()[1](address, at_x, at_y, at_w, blocks, n), repeats) / (8 * blocks)


def best(run: Callable[[int], Any], repeats: int = 100, shortest: float = 1e-4) -> float:
    """Nanoseconds per turn of run(turns): turns are raised until a run is long enough to be timed, then the best run counts."""
    turns = 1
    while min(_seconds(run, turns) for _ in range(3)) < shortest:
        turns *= 2
    return min(_seconds(run, turns) for _ in range(repeats)) / turns * 1e9


def _seconds(run: Callable[[int], Any], turns: int) -> float:
    start = time.perf_counter()
    run(turns)
    return time.perf_counter() - start

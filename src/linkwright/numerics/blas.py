"""numpy's linear algebra on one thread, for matrices of some dozen rows that are decomposed again and again.

The library behind numpy shares matrices from about sixty rows on among all cores. At that size waiting for each other costs
more than it gains, and on a busy machine a hundred times more. Where the library cannot be asked nothing changes.
By ctypes, not by threadpoolctl: the packages that Linkwright needs are a fixed list.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache

NAMES = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")
SHARED = 60  # rows from which the library uses several threads
WORTH_IT = 500  # rows from which that pays


@cache
def _threads() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """How to read and set the number of threads."""
    try:
        from numpy.linalg import _umath_linalg

        library = ctypes.CDLL(str(_umath_linalg.__file__))
    except (ImportError, OSError):
        return None
    for name in NAMES:
        ask, put = (getattr(library, name.format(verb), None) for verb in ("get", "set"))
        if ask is not None and put is not None:
            return ask, put
    return None


@contextmanager
def one_thread(rows: int) -> Generator[None]:
    """Inside, matrices of that many rows are decomposed on one thread if they are too small to share."""
    found = _threads() if SHARED <= rows < WORTH_IT else None
    if found is None:
        yield
        return
    ask, put = found
    before = ask()
    put(1)
    try:
        yield
    finally:
        put(before)

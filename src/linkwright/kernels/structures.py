"""Kernels by structure: mechanisms that differ in their numbers only run on the same code.

A `KernelStructure` holds the kernels of the first mechanism of its kind, with all numbers as inputs; every other one binds them to its
own numbers. Code that is not in the cache on disk is made when it is asked for a second time, by whichever mechanism: the float path
is quicker than making code for a single answer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import RLock
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError
from linkwright.kernels.kernel import Kernel
from linkwright.kernels.kernels import Kernels

MOST = 64  # structures held at a time
_known: OrderedDict[Any, KernelStructure] = OrderedDict()
_lock = RLock()


class KernelStructure:
    """Kernels with all numbers as inputs, and how often each was asked for."""

    def __init__(self, kernels: Kernels):
        self.kernels = kernels
        self._asked: dict[Any, int] = {}
        self._found: dict[Any, Kernel | None] = {}

    def kernel(self, name: str, drives: Sequence[str] | None = None, calls: int = 1) -> Kernel | None:
        """A kernel whose machine code is at hand, or asked for by more `calls` than one, this one counted as so many; None: the float path
        has to answer. With no calls only code that this process has loaded counts."""
        key = (name, None if drives is None else tuple(drives))
        with _lock:
            if key not in self._found and calls:
                self._asked[key] = self._asked.get(key, 0) + calls
                now = self._asked[key] > 1
                made = self._made(name, drives, now)
                if made is not None or now:
                    self._found[key] = made
            return self._found.get(key)

    def _made(self, name: str, drives: Sequence[str] | None, now: bool) -> Kernel | None:
        try:
            with np.errstate(divide="raise", invalid="raise"):
                return self._with_code(name, drives, now)
        except (LinkwrightError, FloatingPointError):
            return None  # drives that do not determine the motion one by one, a joint that cannot be traced, no masses

    def _with_code(self, name: str, drives: Sequence[str] | None, now: bool) -> Kernel | None:
        kernel = self.kernels.get(name, drives=drives)
        if not kernel.native or not (now or kernel.at_hand):
            return None
        if now and self.kernels.numbers is not None and self.kernels.plan.idle:
            return None  # links that spin about lines which depend on the numbers
        _ = kernel.code.one_address
        return kernel


def structure(kernels: Kernels) -> KernelStructure:
    """The structure that these kernels (whose `numbers` are set) belong to: one that is known, or a new one."""
    assert kernels.numbers is not None
    d = kernels.tree.description
    floating = tuple(d.body(name).start for name in kernels.tree.floating)
    key = (kernels.numbers.structure, kernels.tree.cuts, floating, kernels.drives, kernels.engine)
    with _lock:
        if key not in _known:
            _known[key] = KernelStructure(kernels)
        _known.move_to_end(key)
        while len(_known) > MOST:
            _known.popitem(last=False)
        return _known[key]

"""Kernels by structure: mechanisms that differ in their numbers only run on the same code.

A `KernelStructure` holds the kernels of the first mechanism of its kind, with all numbers as inputs; every other one binds them to its
own numbers. Code that is not in the cache on disk is made when answers on floats, of whichever mechanism, have taken about as long as
making it does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError
from linkwright.kernels.kernel import Kernel
from linkwright.kernels.kernels import Kernels

MOST = 64  # structures held at a time
MAKING = 0.2  # seconds that making code takes, roughly: as many are spent on floats before it is made, so neither way is much dearer
ONE_ANSWER = 0.005  # seconds of an answer on floats at one state
_at_once: ContextVar[bool] = ContextVar("made_at_once", default=False)
_known: OrderedDict[Any, KernelStructure] = OrderedDict()
_lock = RLock()


@contextmanager
def made_at_once() -> Generator[None]:
    """Make code when it is first asked for: the same bits whatever was asked before."""
    before = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(before)


class KernelStructure:
    """Kernels with all numbers as inputs, and the time that answers on floats took."""

    def __init__(self, kernels: Kernels):
        self.kernels = kernels
        self._spent: dict[Any, float] = {}  # seconds on floats so far
        self._found: dict[Any, Kernel | None] = {}

    def kernel(
        self,
        name: str,
        drives: Sequence[str] | None = None,
        seconds: float = ONE_ANSWER,
        by: tuple[str, ...] = (),
        of: tuple[str, ...] = (),
    ) -> Kernel | None:
        """A kernel whose machine code is at hand, or worth making now; None: the float path has to answer, in about so many seconds.
        With no seconds only code that this process has loaded counts."""
        key = (name, None if drives is None else tuple(drives), by, of)
        with _lock:
            if key not in self._found and seconds > 0.0:
                self._spent[key] = self._spent.get(key, 0.0) + seconds
                now = _at_once.get() or self._spent[key] > MAKING
                made = self._made(name, drives, now, by, of)
                if made is not None or now:
                    self._found[key] = made
            return self._found.get(key)

    def _made(self, name: str, drives: Sequence[str] | None, now: bool, by: tuple[str, ...], of: tuple[str, ...]) -> Kernel | None:
        try:
            with np.errstate(divide="raise", invalid="raise"):
                return self._with_code(name, drives, now, by, of)
        except (LinkwrightError, FloatingPointError):
            return None  # drives that do not determine the motion one by one, a joint that cannot be traced, no masses

    def _with_code(self, name: str, drives: Sequence[str] | None, now: bool, by: tuple[str, ...], of: tuple[str, ...]) -> Kernel | None:
        kernel = self.kernels.get(name, drives=drives, by=by, of=of)
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

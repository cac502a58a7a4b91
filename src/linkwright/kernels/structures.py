"""Kernels by structure: mechanisms that differ in their numbers only run on the same code.

A `KernelStructure` holds the kernels of the first mechanism of its kind, with all numbers as inputs; every other one binds them to its
own numbers. Code that is not in the cache on disk is made when answers on floats, of whichever mechanism, have taken about as long as
making it does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from math import frexp
from threading import RLock
from typing import Any

import numpy as np

from linkwright import elements
from linkwright.errors import LinkwrightError
from linkwright.kernels.kernel import Kernel
from linkwright.kernels.kernels import Kernels
from linkwright.mechanics.constraints.gear import GearConstraint
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.kinematics.skeleton import counted_joints
from linkwright.model.numbers import DesignNumbers, TreeNumbers
from linkwright.numerics.spatial import EYE
from linkwright.topology.tree import Tree

MOST = 64  # structures held at a time
MAKING = 0.2  # seconds that making code takes, roughly: as many are spent on floats before it is made, so neither way is much dearer
ONE_ANSWER = 0.005  # seconds of an answer on floats at one state
SAME_SIZE = 4  # powers of two by which mechanisms of one structure may differ in length: residuals and pivots are measured by the first
_known: OrderedDict[Any, KernelStructure] = OrderedDict()
_apart: ContextVar[OrderedDict[Any, KernelStructure] | None] = ContextVar("structures of a study", default=None)
_lock = RLock()


@contextmanager
def reproducible(own: OrderedDict[Any, KernelStructure]) -> Generator[None]:
    """Use these structures, and make code when it is first asked for: the same bits whatever this process was asked before."""
    before = _apart.set(own)
    try:
        yield
    finally:
        _apart.reset(before)


class KernelStructure:
    """Kernels with all numbers as inputs, and the time that answers on floats took."""

    def __init__(self, kernels: Kernels):
        self.kernels = kernels
        self._spent: dict[Any, float] = {}  # seconds on floats so far
        self._found: dict[Any, Kernel | None] = {}
        self.refused = False  # links spin about lines that do not follow from numbers: every mechanism needs kernels of its own

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
                now = _apart.get() is not None or self._spent[key] > MAKING
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
        self.refused = self.kernels.numbers is not None and not self.kernels.plan.spins_follow
        if self.refused:
            return None
        _ = kernel.code.one_address
        return kernel


def structure(numbers: DesignNumbers, tree: Tree, kernels: Callable[[], Kernels]) -> KernelStructure:
    """The structure that a mechanism with these numbers belongs to: one that is known, or a new one with its kernels."""
    key, own = (numbers.structure, tree.cuts, tuple(d.joint for d in tree.description.drives)), _apart.get()
    known = _known if own is None else own
    with _lock:
        if key not in known:
            known[key] = KernelStructure(replace(kernels(), free=numbers.parameters, numbers=numbers, made={}, plans={}, variants={}))
        known.move_to_end(key)
        while len(known) > MOST:
            known.popitem(last=False)
        return known[key]


def tree_numbers(loops: Loops) -> TreeNumbers:
    """Numbers that a mechanism's spanning tree adds to its own. Bodies whose axes a load or belt names stay in these."""
    skel = loops.skel
    d = skel.tree.description
    as_drawn = {body for x in elements.every(d) for body in x.keeps_axes}
    turned = ((n.body, X.R) for n, X in zip(skel.tree.nodes, skel.X_CM, strict=True) if n.body not in as_drawn)
    return TreeNumbers(
        {body: R for body, R in turned if not (R == EYE).all()},
        skel.tree.floating,
        {name: float(skel.start_coordinates[name][0]) for name in counted_joints(d)},
        frexp(loops.kappa)[1] // SAME_SIZE,
        {c.name: (c.pitch_side, float(np.sign(c.factor_second))) for c in loops.constraints if isinstance(c, GearConstraint)},
    )

"""Prescribed motions: a joint's coordinate or a cylinder's length follows time, with the effort that takes.

Value, speed and acceleration belong together exactly: of a constant speed, a spline or moves by their formulas, of a function
by differentiating its trace. The position of a speed that is a function is a state of its own, integrated along with the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.drives.base import Doing, Start, Written
from linkwright.drives.place import Target
from linkwright.drives.rates import differentiated
from linkwright.drives.signals import Constant, Function, Law, Points, Signal, read_signal
from linkwright.errors import UsageError
from linkwright.mechanics.instant import Instant
from linkwright.model.description import Move
from linkwright.model.file.units import display_unit
from linkwright.model.laws import LinearLaw, MovesLaw

AGREE = 1e-6  # of the size of a coordinate: how well the start must lie on the prescribed motion
Motion = tuple[Any, Any, Any]


@dataclass(frozen=True, eq=False)
class BoundMotion:
    """value, speed, acceleration = law(t, x); x is the position where it is a state (`integrated`)."""

    target: Target
    law: Callable[[Any, Any], Motion]
    signal: Signal
    states: tuple[tuple[str, float, float], ...] = ()
    notes: tuple[str, ...] = ()
    moves = True
    every = 0.0
    armature = 0.0

    @property
    def channels(self) -> dict[str, str]:
        return {f"{self.target.name}.{self.target.effort_kind}": self.target.effort_kind, f"{self.target.name}.power": "power"}

    def doing(self, here: Instant, x: Any, held: Any) -> Doing:
        value, speed, acceleration = self.law(here.t, x)
        return Doing(motion=(value, speed, acceleration), rates=(speed,) if self.states else ())

    def record(self, here: Instant, x: Any, held: Any) -> list[Any]:
        """Factors of the multiplier: the effort is it, the power it times the speed."""
        return [1.0, self.law(here.t, x)[1]]


@dataclass(frozen=True, eq=False, repr=False)
class Speed(Written):
    """`lw.speed(value)`: a constant, (times, values), or a function of t; from the present position."""

    value: Any
    kind = "speed"

    def bind(self, target: Target, start: Start) -> BoundMotion:
        what = f"the speed of '{target.name}'"
        signal = read_signal(self.value, target.dimension("speed"), what, start.description, motion="speed")
        x0, t0 = float(target.position(start.here)), float(start.here.t)
        if isinstance(signal, Constant):
            line = LinearLaw(x0 - signal.value * t0, signal.value)
            return BoundMotion(target, lambda t, x: line(t), signal)
        if isinstance(signal, Points):
            speed, position = signal.curve, signal.curve.integral()
            offset = x0 - float(position(t0))
            return BoundMotion(target, lambda t, x: (position(t) + offset, *speed.jet(t)[:2]), signal)
        law, notes = _differentiated(signal, 1, t0, what)

        def integrated(t: Any, x: Any) -> Motion:
            speed, rate = law(t)
            return x[0], speed, rate

        size = 1.0 if target.rotary else start.kappa
        return BoundMotion(target, integrated, signal, ((f"{target.name}.prescribed", x0, size),), notes)


@dataclass(frozen=True, eq=False, repr=False)
class Position(Written):
    """`lw.position(value)`: held there, (times, values), or a function of t."""

    value: Any
    kind = "position"

    def bind(self, target: Target, start: Start) -> BoundMotion:
        what = f"the position of '{target.name}'"
        signal = read_signal(self.value, target.dimension("position"), what, start.description, motion="position")
        if isinstance(signal, Constant):
            there = signal.value
            return BoundMotion(target, lambda t, x: (there, 0.0, 0.0), signal)
        if isinstance(signal, Points):
            curve = signal.curve
            return BoundMotion(target, lambda t, x: curve.jet(t), signal)
        law, notes = _differentiated(signal, 2, float(start.here.t), what)
        return BoundMotion(target, lambda t, x: law(t), signal, (), notes)


@dataclass(frozen=True, eq=False, repr=False)
class Moves(Written):
    """The moves and dwells of a model file, in turn from t = 0 on. Where the first one began follows from the present position."""

    moves: tuple[Move, ...]
    kind = "moves"

    def bind(self, target: Target, start: Start) -> BoundMotion:
        x0, t0 = float(target.position(start.here)), float(start.here.t)
        from_0, from_1 = (float(self._law(begin)(t0)[0]) for begin in (0.0, 1.0))
        share = from_1 - from_0  # of the beginning in the present position; none once the first move is done
        law = self._law((x0 - from_0) / share if share > AGREE else x0)
        return BoundMotion(target, lambda t, x: law(t), Constant(x0))

    def _law(self, begin: float) -> MovesLaw:
        pieces, there = [], begin
        for move in self.moves:
            there = there if move.to is None else float(move.to)
            pieces.append((float(move.time), there, move.law))
        return MovesLaw(begin, tuple(pieces))


def _differentiated(signal: Law | Function, order: int, t0: float, what: str) -> tuple[Callable[[Any], Any], tuple[str, ...]]:
    law = differentiated(signal.over_time, order, t0)
    if law.exact:
        return law, ()
    return law, (f"{what}: its function cannot be traced and is differentiated numerically, by fourth-order differences over 4 ms",)


def check_start(bound: BoundMotion, start: Start, x: np.ndarray) -> None:
    """The state a run starts from must lie on the motion it will follow."""
    target, here = bound.target, start.here
    value, speed, _ = (float(z) for z in bound.law(here.t, x))
    size = 1.0 if target.rotary else start.kappa
    found = (float(target.position(here)), float(target.speed(here)))
    for kind, wanted, has in zip(("position", "speed"), (value, speed), found, strict=True):
        if abs(wanted - has) <= AGREE * max(size, abs(wanted), abs(has)):
            continue
        unit, factor = display_unit(start.description.units, target.dimension(kind))
        turns = round((wanted - has) / (2.0 * np.pi))
        whole = target.rotary and kind == "position" and abs(wanted - has - 2.0 * np.pi * turns) < AGREE
        hint = f" They are {abs(turns)} whole turns apart." if whole else ""
        argument = f"{'q' if kind == 'position' else 'v'}={{'{target.name}': {wanted:.10g}}}"
        raise UsageError(
            f"the drive of '{target.name}' prescribes the {kind} {wanted * factor:.7g} {unit} at t = {float(here.t):g} s, but the state "
            f"has {has * factor:.7g} {unit}.{hint} Start from s.assemble({argument}, ...) or change the drive."
        )

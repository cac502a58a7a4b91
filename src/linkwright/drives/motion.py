"""Prescribed motions: a joint's coordinate or a cylinder's length follows time, with the effort that takes.

Value, speed and acceleration belong together exactly (`model.curves`). The position of a speed that is a formula or a function is a
state of its own, integrated along with the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.drives.base import Called, DriveOutput, DriveSpecification, DriveTarget, Signal, Start, read_motion
from linkwright.errors import ModelError, UsageError, counted
from linkwright.mechanics.instant import Instant
from linkwright.model.curves import Curve
from linkwright.model.curves.combined import ScaledCurve
from linkwright.model.curves.formula import Formula
from linkwright.model.curves.functions import differentiated
from linkwright.model.curves.piecewise import Periodic, Piecewise
from linkwright.model.curves.polynomial import Constant, Line
from linkwright.model.curves.profiles import Program
from linkwright.model.description import Move
from linkwright.model.file.moves import moves_of_call
from linkwright.text.units import display_unit

AGREE = 1e-6  # of the size of a coordinate: how well the start must lie on the prescribed motion
Motion = tuple[Any, Any, Any]


@dataclass(frozen=True, eq=False)
class BoundMotion:
    """A coordinate that follows a curve: of its position, or of its speed where the position is a state of its own."""

    target: DriveTarget
    curve: Curve
    signal: Signal
    states: tuple[tuple[str, float, float], ...] = ()
    moves = True
    every = 0.0
    armature = 0.0

    @property
    def channels(self) -> dict[str, str]:
        return {f"{self.target.name}.{self.target.effort_kind}": self.target.effort_kind, f"{self.target.name}.power": "power"}

    @property
    def notes(self) -> tuple[str, ...]:
        return self.curve.notes

    def law(self, t: Any, x: Any) -> Motion:
        """Value, speed and acceleration at t; x is the position where it is a state."""
        if not self.states:
            return self.curve(t)
        speed, rate, _ = self.curve(t)
        return x[0], speed, rate

    def doing(self, here: Instant, x: Any, held: Any) -> DriveOutput:
        value, speed, acceleration = self.law(here.t, x)
        return DriveOutput(motion=(value, speed, acceleration), rates=(speed,) if self.states else ())

    def record(self, here: Instant, x: Any, held: Any) -> list[Any]:
        """Factors of the multiplier: the effort is it, the power it times the speed."""
        return [1.0, self.law(here.t, x)[1]]


@dataclass(frozen=True, eq=False, repr=False)
class Speed(DriveSpecification):
    """`lw.drives.speed(value)`: a constant, (times, values), or a function of t. From the present position."""

    value: Any
    kind = "speed"

    def bind(self, target: DriveTarget, start: Start) -> BoundMotion:
        what = f"the speed of '{target.name}'"
        signal = read_motion(self.value, target.dimension("speed"), "speed", what, start.description)
        x0, t0 = float(target.position(start.here)), float(start.here.t)
        if isinstance(signal, Constant):
            return BoundMotion(target, Line(x0 - signal.level * t0, signal.level), signal)
        if isinstance(signal, (Piecewise, Periodic)):
            position = signal.integral()
            return BoundMotion(target, ScaledCurve(position, x0 - float(position.value(t0))), signal)
        size = 1.0 if target.rotary else start.kappa
        return BoundMotion(target, _curve(signal, t0, what), signal, ((f"{target.name}.prescribed", x0, size),))


@dataclass(frozen=True, eq=False, repr=False)
class Position(DriveSpecification):
    """`lw.drives.position(value)`: held there, (times, values), or a function of t."""

    value: Any
    kind = "position"

    def bind(self, target: DriveTarget, start: Start) -> BoundMotion:
        what = f"the position of '{target.name}'"
        signal = read_motion(self.value, target.dimension("position"), "position", what, start.description)
        return BoundMotion(target, _curve(signal, float(start.here.t), what), signal)


@dataclass(frozen=True, eq=False, repr=False)
class Moves(DriveSpecification):
    """`lw.drives.moves(...)`, moves of a model file: in turn from t = 0 on. Where the first one began follows from the present position."""

    moves: Any  # of the file: a tuple of Move; else as a caller writes them
    kind = "moves"

    def bind(self, target: DriveTarget, start: Start) -> BoundMotion:
        moves = self._read(target)
        x0, t0 = float(target.position(start.here)), float(start.here.t)
        from_0, from_1 = (float(Program.of(begin, moves).value(t0)) for begin in (0.0, 1.0))
        share = from_1 - from_0  # of the beginning in the present position; none once the first move is done
        program = Program.of((x0 - from_0) / share if share > AGREE else x0, moves)
        return BoundMotion(target, program, program)

    def _read(self, target: DriveTarget) -> tuple[Move, ...]:
        if isinstance(self.moves, tuple) and all(isinstance(m, Move) for m in self.moves):
            return self.moves
        what = f"the moves of '{target.name}'"
        try:
            return moves_of_call(self.moves, target.dimension("position"), what)
        except ModelError as error:
            raise UsageError(error.message) from error


def _curve(signal: Curve | Called, t0: float, what: str) -> Curve:
    """With derivatives where it is a function; what it is beyond its own end is not asked for."""
    if isinstance(signal, (Called, Formula)):
        return differentiated(signal.function if isinstance(signal, Called) else signal.value, t0, what)
    return signal


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
        hint = f" They are {counted(abs(turns), 'whole turn')} apart." if whole else ""
        argument = f"{'q' if kind == 'position' else 'v'}={{'{target.name}': {wanted:.10g}}}"
        raise UsageError(
            f"the drive of '{target.name}' prescribes the {kind} {wanted * factor:.7g} {unit} at t = {float(here.t):g} s, but the state "
            f"has {has * factor:.7g} {unit}.{hint} Start from s.assemble({argument}, ...) or change the drive.",
            name=target.name,
        )

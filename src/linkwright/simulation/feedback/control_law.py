"""A control law of one's own: one Python function that drives several joints.

    def law(t, st):
        return {"A": -20 * st["A"] - 2 * st["A.v"], "B": 5.0}

    s.simulate(st, 2, control=law)                                       the drives of the file, at all times
    s.simulate(st, 2, control=lw.control.control_law(law, drives=["A", "B"], every="1 ms"))

The function takes t, or t and the state, as that of a drive does; it returns torques and forces in SI, by name or in the order of
the drives. The state is that which is measured: with noise and encoders where a run has them, on the controller's own `model`.
Followed at all times it is traced and compiled with the mechanism where that is possible; sampled, it is called once per sample, in
order, and may remember.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from linkwright.compiler.graph import Sym
from linkwright.errors import UsageError, nearest
from linkwright.mechanics.instant import Instant
from linkwright.model.curves.functions import Function, explained, takes_state
from linkwright.results.state import State
from linkwright.simulation.feedback.base import Command, Control
from linkwright.simulation.feedback.controller_inputs import Situation


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ControlLaw(Control):
    """`lw.control.control_law(function, drives=[...])`."""

    function: Any
    reference: Any = None
    kind = "control_law"
    solves = False
    weighs = False
    called = True
    optional_reference = True
    efforts: EffortFunction | None = None  # once it is at its place

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        more = "".join(f", {k}={x!r}" for k, x in (("drives", self.drives), ("every", self.every)) if x is not None)
        return f"lw.control.control_law({name}{more})"

    def prepared(self, bound: Any) -> ControlLaw:
        if not callable(self.function):
            raise UsageError(
                f"control_law takes a function of t, or of t and the state, not {type(self.function).__name__}.", value=self.function,
                name="control_law",
            )
        return replace(self, efforts=EffortFunction(self.function, tuple(x.name for x in bound.targets)))

    def command(self, at: Situation) -> Command:
        assert self.efforts is not None
        here = Instant.moving(at.eq.loops.skel, at.m, at.t[0], at.references)
        here.channels = partial(at.bound.named, here.skel)
        return Command(self.efforts.at(here))


@dataclass(frozen=True, eq=False)
class EffortFunction:
    """A function of the caller's that gives one effort for each of the drives."""

    call: Callable[..., Any]
    drives: tuple[str, ...]

    @property
    def what(self) -> str:
        return f"controller of {', '.join(self.drives)}"

    @property
    def function(self) -> Function:
        return Function(self._ordered, self.what, len(self.drives), getattr(self.call, "__name__", type(self.call).__name__))

    def at(self, here: Instant) -> list[Any]:
        """Efforts at an instant, over any scalar."""
        more = (State.of(here),) if takes_state(self.call, self.what) else ()
        if type(here.t) is Sym or here.q.dtype == object:
            return self._traced(here.t, more)
        return explained(lambda: self.function(here.t, *more), float(here.t), self.what)

    def _traced(self, t: Any, more: Any) -> list[Any]:
        try:
            return self.function(t, *more)
        except Exception as error:  # code of the user's meets traced values, and may fail in any way it likes
            raise UsageError(
                f"the {self.function.label} cannot be traced ({type(error).__name__}: {error}), so there are no exact derivatives of it: "
                "write it with +, -, *, /, np.sin, np.where and the like, without if and float()."
            ) from error

    def _ordered(self, t: Any, *more: Any) -> Sequence[Any]:
        """Efforts that the function gives, in the order of the drives."""
        given = self.call(t, *more)
        if not isinstance(given, Mapping):
            return given
        unknown = [n for n in given if n not in self.drives]
        if unknown:
            raise UsageError(f"{self.what}: it gives an effort of '{unknown[0]}'.", nearest(str(unknown[0]), self.drives, "Drives"))
        missing = [n for n in self.drives if n not in given]
        if missing:
            raise UsageError(
                f"{self.what}: it gives no effort of '{missing[0]}'. Give 0, or leave it out of drives=[...].", name=missing[0]
            )
        return [given[n] for n in self.drives]


class ReplayedEfforts:
    """A function of time that holds the efforts another gave at samples."""

    def __init__(self, samples: Mapping[float, np.ndarray]):
        self.t, self.values = np.array(sorted(samples)), np.array([samples[t] for t in sorted(samples)])

    def __call__(self, t: float) -> np.ndarray:
        return self.values[int(np.argmin(np.abs(self.t - t)))]


def as_control(given: Any) -> Control:
    """The controller a caller wrote; a function is a control law of the drives of the file."""
    if isinstance(given, Control):
        return given
    if callable(given) and not isinstance(given, type):
        return ControlLaw(function=given)
    raise UsageError(
        "control is pd, projected, hybrid, impedance, computed_torque or lqr of lw.control, or a function of t and the state "
        f"that gives the efforts of all drives, not {type(given).__name__}.",
        value=given,
        name="control",
    )

"""Contract of a controller: an object the caller writes, and what it says at an instant.

A written controller is frozen: a reference to follow, gains, the drives it may use. `bind` (in `controller_setup`) puts it at a
mechanism and a state; from then on its law is a pure function of what is measured, so that it can be traced, compiled with the
mechanism and run in a time stepper, or called alone. Adding a kind: one file with `states` and `command`, one line in `CONTROLLERS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.drives.base import shown
from linkwright.drives.input_equations import fingerprint
from linkwright.errors import UsageError
from linkwright.model.description import Description

if TYPE_CHECKING:
    from linkwright.simulation.feedback.controller_inputs import Situation
    from linkwright.simulation.feedback.controller_program import BoundControl


class Command(NamedTuple):
    """The answer of a law at an instant: drive torques and forces, rates of its own states, control authority."""

    efforts: Sequence[Any]
    rates: Sequence[Any] = ()
    authority: Any = 1.0  # smallest pivot against its nominal size; 1 where nothing had to be solved
    damped: Any = 0.0
    records: Sequence[Any] = ()  # values of the kind's own channels
    cut: Sequence[Any] = ()  # of each force that is held: what limits of the actuators took away from what it should be
    share: Any = 1.0  # of the forces that these limits leave


class ForceSensor(NamedTuple):
    """A sensor of a force on a coordinate; `kind` is "force" or "torque"."""

    name: str
    kind: str


class OwnState(NamedTuple):
    """A state a controller brings along: `lag` is its time constant, 0 for an integral; in the closed loop it may be shorter."""

    name: str
    size: float
    lag: float = 0.0
    start: float = 0.0
    closed: float = np.inf  # time constant in the closed loop: steps shall not be longer

    def after(self, value: Any, rate: Any, every: float) -> Any:
        """Its value a sample later: an integral grows at its rate, a filter takes in its share of what its rate says."""
        return value + (self.lag * taken_in(every, self.lag) if self.lag else every) * rate


def taken_in(every: float, lag: float) -> float:
    """The share of a reading that a filter of this time constant takes in between two samples; all of it without a filter."""
    return 1.0 if lag == 0.0 else 1.0 - float(np.exp(-every / lag))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Control(ABC):
    """Options of all controllers. See `linkwright.rings.control`."""

    reference: Any
    drives: Sequence[str] | None = None
    every: Any = None
    model: Any = None
    off: Sequence[str] = ()
    rated: Mapping[str, Any] | None = None
    damping: float = 0.02
    kind = ""
    solves = True  # efforts come from equations in which the drives must act on everything followed
    weighs = True  # where drives are redundant, weights decide how much each does
    called = False  # the law is a function of the caller's: never taken from a program of its own
    optional_reference = False
    held_elsewhere = ("reference", "drives", "model", "off", "rated")  # fields that a bound controller holds in another form

    def fingerprint(self) -> tuple[Any, ...]:
        """Fingerprint of what its law reads once it is bound. See `drives.input_equations.LawCache`."""
        return type(self), *(fingerprint(getattr(self, f.name)) for f in fields(self) if f.name not in self.held_elsewhere)

    def drive_names(self, description: Description) -> list[str]:
        """Joints and cylinders it drives: the named ones, or the drives of the model file."""
        return [d.joint for d in description.drives] if self.drives is None else read_names(self.drives, f"{self.kind}: drives")

    def states(self, bound: BoundControl) -> Sequence[OwnState]:
        return ()

    def channels(self, bound: BoundControl) -> Mapping[str, str]:
        """The kind's own channels with their dimensions, in the order of `records`."""
        return {}

    def outputs(self, at: Situation) -> np.ndarray:
        """Rows of the controlled quantities per unit effort of the drives. Their typical sizes are taken at the start of a controller."""
        return at.J @ at.model.G

    def prepared(self, bound: BoundControl) -> Control:
        """The controller with what only the mechanism determines (names checked, gains filled in)."""
        return self

    def continued(self, before: Control) -> Control:
        """The same after a switch, with what was chosen when the run began."""
        return self

    def sensors(self, bound: BoundControl) -> Sequence[ForceSensor]:
        """Sensors of forces on the coordinates followed that the controller's model does not have."""
        return ()

    @abstractmethod
    def command(self, at: Situation) -> Command:
        """The law itself, over any scalar."""

    def felt(self, at: Situation, command: Command, efforts: Any) -> Command:
        """The same command where limits let only these efforts through: what sensors feel is theirs."""
        return command

    def __repr__(self) -> str:
        own = [f for f in fields(self) if f.name != "reference"]
        more = [f"{f.name}={_word(f.name, getattr(self, f.name))}" for f in own if getattr(self, f.name) is not f.default]
        return f"lw.control.{self.kind}({', '.join([_followed(self.reference), *more])})"


def read_names(given: Any, what: str) -> list[str]:
    """One name, or several, as a caller may write them."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise UsageError(f"{what} is a name or a list of names, ['A', 'B'], not {given!r:.40}.", name=what, value=given)
    return [x if isinstance(x, str) else str(x) for x in given]


def _word(name: str, value: Any) -> str:
    """A model by its name: written out it may be pages."""
    if name == "model":
        return repr(getattr(getattr(value, "description", value), "name", type(value).__name__))
    return shown(value)


def _followed(reference: Any) -> str:
    if isinstance(reference, Mapping):
        return "{" + ", ".join(f"{k!r}: {shown(v)}" for k, v in reference.items()) + "}"
    return type(reference).__name__

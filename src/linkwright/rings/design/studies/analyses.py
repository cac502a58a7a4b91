"""Cases: a study computes a cycle of every design, lets it follow a motion, simulates it, lets it settle, or calls any function of it.

"cycle"                                                  one cycle of the drive, 360 steps
lw.Cycle(steps=720)                                    the same with options of `m.cycle`
lw.Path({"tool.T": ...}, duration="1 s")            `m.follow`
lw.Run("2 s", control=lw.control.pd(...), events=[...])   `m.simulate`, with all its options
"settle", lw.Equilibrium(hold=["A"])                         the static equilibrium
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from linkwright.api import (
    Mechanism,
    Names,
    State,
    System,
    Trajectory,
    UsageError,
    argument_types,
    call_explained,
    compiled_of,
    mechanism_of,
    nearest,
)
from linkwright.simulation.options import RunOptions, options_of, takes_options
from linkwright.simulation.run import chosen_drives
from linkwright.system.mechanism import OF_THE_FILE


@dataclass(frozen=True)
class Case(ABC):
    """One result of a System."""

    kind = ""

    @abstractmethod
    def run(self, system: System) -> Trajectory | State:
        """Return the result of a System."""

    def with_control(self, gains: Mapping[str, float]) -> Case:
        raise UsageError(f"gains of a controller belong to a simulation, not to a {self.kind}.", name="gains")

    def described(self) -> dict[str, Any]:
        """Return everything the result follows from, as text."""
        return {"case": self.kind}

    def as_text(self) -> dict[str, Any] | None:
        """Return text that `case_again` reads as the same again. None if it has objects or functions."""
        return None


@dataclass(frozen=True, init=False)
class Cycle(Case):
    """One cycle of the drive, for `lw.study(..., case=...)`. Options as in `m.cycle`."""

    options: Mapping[str, Any]
    kind = "cycle"

    @call_explained
    def __init__(
        self, drive: str | None = None, *, steps: int = 360, speed: Any = None, duration: Any = None, start: Any = None, stop: Any = None
    ) -> None:
        ends = {end: x for end, x in (("start", start), ("stop", stop)) if x is not None}
        object.__setattr__(self, "options", {"drive": drive, "steps": steps, "speed": speed, "duration": duration, **ends})

    @property
    def asked(self) -> dict[str, Any]:
        return {"drive": None, "steps": 360, "speed": None, "duration": None, "start": None, "stop": None, **self.options}

    def run(self, system: System) -> Trajectory:
        return mechanism_of(system).cycle(**self.asked)

    def described(self) -> dict[str, Any]:
        return {"case": self.kind, "options": {k: str(v) for k, v in sorted(self.options.items())}}

    def as_text(self) -> dict[str, Any] | None:
        return {"cycle": dict(self.options)} if _plain(self.options) else None


@dataclass(frozen=True, init=False)
class Path(Case):
    """A motion of drives, points or bodies, for `lw.study(..., case=...)`. Options as in `m.follow`.

    Examples
    --------
    >>> case = lw.Path({"A": lw.control.setpoint("60 deg")}, duration=0.01, steps=2)
    >>> found = lw.study(lw.load("wiper"), {"coupler.mass": ["0.9 kg", "1.8 kg"]}, "max A.torque", case=case)
    >>> bool(found["max A.torque"][0] < found["max A.torque"][1])
    True
    """

    motion: Mapping[str, Any]
    t: Any
    options: Mapping[str, Any]
    kind = "follow"

    @call_explained
    def __init__(
        self,
        motion: Mapping[str, Any],
        t: argument_types.Numbers | None = None,
        *,
        duration: float | str = 1.0,
        steps: int = 100,
        drives: Names | None = None,
    ) -> None:
        others = {"duration": duration, "steps": steps, "drives": drives}
        for name, value in (("motion", motion), ("t", t), ("options", others)):
            object.__setattr__(self, name, value)

    def run(self, system: System) -> Trajectory:
        return mechanism_of(system).follow(self.motion, self.t, **self.options)

    def described(self) -> dict[str, Any]:
        return {"case": self.kind, "motion": _text(self.motion), "t": _text(self.t), "options": _text(self.options)}


@dataclass(frozen=True, init=False)
class Run(Case):
    """A run, for `lw.study(..., case=...)`. Options as in `m.simulate`."""

    duration: Any
    drive: Mapping[str, Any] | None
    options: Mapping[str, Any]
    kind = "simulate"

    @call_explained
    @takes_options(RunOptions, drive=OF_THE_FILE)
    def __init__(self, duration: float | str, **options: Unpack[RunOptions]) -> None:
        """Describe a run.

        Parameters
        ----------
        duration : float or str
            Seconds, or a text with a unit ("200 ms").
        {options}
        """
        options_of(options)
        others = {name: value for name, value in options.items() if name != "drive"}
        for name, value in (("duration", duration), ("drive", options.get("drive")), ("options", others)):
            object.__setattr__(self, name, value)

    def run(self, system: System) -> Trajectory:
        drive, options = self.driven(system)
        return system.simulate(system._starting(drive), self.duration, drive=drive, **options)

    def driven(self, system: System) -> tuple[dict[str, Any], dict[str, Any]]:
        """The drives and the other options of a run of a System."""
        return chosen_drives(compiled_of(system).described, self.drive, self.options.get("control")), {"progress": False, **self.options}

    def with_control(self, gains: Mapping[str, float]) -> Case:
        options = {**self.options, "control": replace(self.options["control"], **gains)}
        return Run(self.duration, drive=self.drive, **options)

    def described(self) -> dict[str, Any]:
        return {"case": self.kind, "duration": str(self.duration), "drive": _text(self.drive), "options": _text(self.options)}

    def as_text(self) -> dict[str, Any] | None:
        plain = _plain(self.options) and not self.drive and isinstance(self.duration, str | int | float)
        return {"simulate": self.duration, "drive": self.drive, "options": dict(self.options)} if plain else None


@dataclass(frozen=True, init=False)
class Equilibrium(Case):
    """The static equilibrium, for `lw.study(..., case=...)`. `hold` as in `m.settle`.

    Examples
    --------
    >>> found = lw.study(lw.load("wiper"), {"coupler.mass": ["0.9 kg", "1.8 kg"]}, "start A", case=lw.Equilibrium())
    >>> found["start A"].shape
    (2,)
    """

    hold: tuple[str, ...]
    kind = "settle"

    @call_explained
    def __init__(self, hold: Sequence[str] = ()) -> None:
        object.__setattr__(self, "hold", tuple([hold] if isinstance(hold, str) else hold))

    def run(self, system: System) -> State:
        return mechanism_of(system).settle(hold=self.hold)

    def described(self) -> dict[str, Any]:
        return {"case": self.kind, "hold": list(self.hold)}

    def as_text(self) -> dict[str, Any] | None:
        return {"settle": list(self.hold)}


@dataclass(frozen=True)
class Calling(Case):
    """Any function of a mechanism that gives a cycle, a run or a state."""

    function: Callable[[Any], Any]
    kind = "function"

    def run(self, system: System) -> Trajectory | State:
        found = self.function(Mechanism(compiled_of(system).described))
        if not isinstance(found, Trajectory | State):
            raise UsageError(f"case: the function gave {type(found).__name__}. A cycle, a run or a state is needed.")
        return found

    def described(self) -> dict[str, Any]:
        return {"case": self.kind, "function": source_of(self.function)}


def case_of(given: Any) -> Case:
    """Read `case`."""
    if isinstance(given, Case):
        return given
    if isinstance(given, str):
        if given in ("cycle", "settle", "statics"):
            return Cycle() if given == "cycle" else Equilibrium()
        raise UsageError(
            f"case: '{given}' is not known. {nearest(given, ['cycle', 'settle'], 'Known')} lw.Run('2 s') is a run.",
            name=given,
            allowed=["cycle", "settle"],
        )
    if callable(given):
        return Calling(given)
    raise UsageError(
        f"case is 'cycle', 'settle', lw.Run('2 s'), lw.Path(...) or a function of a mechanism, not {given!r:.40}.", value=given
    )


def case_again(text: Mapping[str, Any]) -> Case:
    """The case of its text."""
    if "simulate" in text:
        return Run(text["simulate"], drive=text["drive"], **text["options"])
    return Cycle(**text["cycle"]) if "cycle" in text else Equilibrium(tuple(text["settle"]))


def _plain(options: Mapping[str, Any]) -> bool:
    return all(isinstance(x, str | int | float | bool | None) for x in options.values())


def source_of(function: Callable[..., Any]) -> str:
    """The text of a function, so that a changed one makes another study; its name where there is none."""
    try:
        return inspect.getsource(function).strip()
    except (OSError, TypeError):
        return getattr(function, "__qualname__", type(function).__qualname__)


def _text(given: Any) -> Any:
    """Options as text that stays the same in every process: no addresses of objects."""
    if isinstance(given, Mapping):
        return {str(k): _text(v) for k, v in sorted(given.items(), key=lambda x: str(x[0]))}
    if isinstance(given, list | tuple):
        return [_text(x) for x in given]
    if isinstance(given, str | int | float | bool | None):
        return given
    if callable(given) and not hasattr(given, "__dataclass_fields__"):
        return source_of(given)
    if hasattr(given, "tolist"):
        return given.tolist()
    if hasattr(given, "__dataclass_fields__"):
        return {"is": type(given).__name__, **{name: _text(getattr(given, name)) for name in given.__dataclass_fields__}}
    return type(given).__name__

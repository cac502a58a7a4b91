"""A controller in a run: sensors with noise, its law, a delay, actuators; what the drives of a simulation see of it.

Followed at all times, the law is traced with the drives' inputs and its states are states of the simulation. Sampled, it is
called every so often; between samples its commands are held, and beside them its own states, its channels, and commands that
are still on their way:

    held = [commands, own states, channels, commands on their way, memory of encoders]
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.drives.base import Bound, DriveTarget
from linkwright.drives.input_equations import fingerprint
from linkwright.errors import UsageError, nearest
from linkwright.mechanics.instant import Instant
from linkwright.model.description import Description
from linkwright.model.file import quantity
from linkwright.properties import cached_property
from linkwright.results.state import State
from linkwright.simulation.feedback.actuators import Actuator, PlacedActuator
from linkwright.simulation.feedback.base import Command, Control
from linkwright.simulation.feedback.control_law import ControlLaw, EffortFunction, ReplayedEfforts, as_control
from linkwright.simulation.feedback.controller_inputs import Situation
from linkwright.simulation.feedback.controller_program import Answer, BoundControl, is_traced
from linkwright.simulation.feedback.controller_setup import bind, control_targets
from linkwright.simulation.feedback.encoders import BoundEncoders, placed_encoders
from linkwright.simulation.feedback.noise import Noise
from linkwright.text.units import TIME


@dataclass(frozen=True, eq=False)
class Controlling:
    """A controller in a simulation, with actuators by drive (or one for all), noise of the sensors, a delay, and encoders."""

    written: Control
    actuators: Any = None
    noise: Noise | None = None
    delay: float = 0.0
    encoders: Any = None
    origin: float = 0.0  # samples are counted from here
    begun: list[BoundControl] = field(default_factory=list, repr=False)  # as it was bound when the run began
    given: dict[int, np.ndarray] = field(default_factory=dict, repr=False)  # efforts of a sampled function, by the number of the sample

    @classmethod
    def of(cls, written: Any, actuators: Any, noise: Any, delay: Any, origin: float, encoders: Any = None) -> Controlling:
        written = as_control(written)
        if noise is not None and not isinstance(noise, Noise):
            raise UsageError(f"noise is lw.control.noise(angle='0.01 deg', ...), not {type(noise).__name__}.", name="noise", value=noise)
        late = 0.0 if delay is None else quantity(delay, TIME, "delay")
        if not (np.isfinite(late) and late >= 0.0):
            raise UsageError(f"delay is a time of zero or more, not {delay!r}.", name="delay", value=delay)
        for what, given in (("delay", late > 0.0), ("noise", noise is not None), ("encoders", encoders is not None)):
            if given and written.every is None:
                raise UsageError(f"{what} needs a sampled controller: lw.control.{written.kind}(..., every='1 ms').", name=what)
        return cls(written, actuators, noise, late, encoders, origin)

    def replayed(self) -> Control:
        """The controller with its sampled function replaced by what that gave."""
        assert self.begun and isinstance(self.written, ControlLaw)
        samples = {k * self.begun[0].every: efforts for k, efforts in self.given.items()}
        return replace(self.written, function=ReplayedEfforts(samples))

    def drives(self, description: Description) -> list[str]:
        """Joints it drives."""
        return self.written.drive_names(description)

    def placed(
        self,
        system: Any,
        st: State,
        *,
        parameters: Any,
        drivers: Sequence[str],
        armature: np.ndarray,
        off: Sequence[str],
        first: bool,
        others: bool = False,
    ) -> tuple[BoundFeedback, list[Bound]]:
        """The loop at a mechanism and a state, and the drives it commands."""
        acting = self._actuators(control_targets(self.written, system, drivers), system.description)
        now: dict[str, Any] = {"parameters": parameters, "drivers": drivers, "off": off, "first": first, "others": others}
        now["ratings"] = {a.target.name: a.rating for a in acting}
        bound = bind(self.written, system, st, armature=armature, **now)
        rotors = np.array(armature, dtype=float)
        for a in acting:
            if a.armature and a.target.entry is not None:
                rotors[a.target.entry] += a.armature
        if np.any(rotors != armature):  # the controller's model turns the rotors as well
            bound = bind(self.written, system, st, armature=rotors, **now)
        if first:
            self.begun[:] = [bound]
        else:
            bound.goes_on_from(self.begun[0])
        late = round(self.delay / bound.every) if bound.every else 0
        if late and abs(self.delay / bound.every - late) > 1e-6:
            raise UsageError(f"the delay of {self.delay:g} s is not a multiple of the time between samples, {bound.every:g} "
                "s.", name="delay")
        encoders = placed_encoders(self.encoders, bound, system.loops.skel)
        loop = BoundFeedback(bound, tuple(acting), self.noise, late, encoders, self.origin, self.given)
        return loop, [a.drive() for a in acting]

    def _actuators(self, targets: Sequence[DriveTarget], description: Description) -> list[PlacedActuator]:
        given, names = self.actuators, [x.name for x in targets]
        if given is None or isinstance(given, Actuator):
            given = dict.fromkeys(names, given or Actuator())
        if not isinstance(given, Mapping):
            raise UsageError(
                f"actuators is lw.control.actuator(...) or a dict of them by drive, not {type(given).__name__}.",
                name="actuators",
                value=given,
            )
        for name, a in given.items():
            if name not in names:
                raise UsageError(f"actuators: '{name}' is not a drive of the controller.", nearest(str(name), names, "Drives"))
            if not isinstance(a, Actuator):
                raise UsageError(
                    f"the actuator of '{name}' is lw.control.actuator(limit=..., motor=...), not {type(a).__name__}.", name=name, value=a
                )
        return [given.get(x.name, Actuator()).bind(x, i, description) for i, x in enumerate(targets)]


@dataclass(eq=False)
class BoundFeedback:
    """A controller with its sensors and actuators at one mechanism."""

    bound: BoundControl
    actuators: tuple[PlacedActuator, ...]
    noise: Noise | None = None
    late: int = 0  # samples
    encoders: BoundEncoders | None = None
    origin: float = 0.0
    given: dict[int, np.ndarray] = field(default_factory=dict, repr=False)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.notes = self.bound.notes
        if any(a.limits for a in self.actuators):
            self.bound.actuators = self.actuators
        if self.every:
            self.notes.append(f"{self.bound.written.kind}: sampled every {self.every:g} s")

    @property
    def targets(self) -> tuple[Any, ...]:
        return self.bound.targets

    @property
    def every(self) -> float:
        return self.bound.every

    @property
    def states(self) -> list[tuple[str, float, float]]:
        return [] if self.every else [(s.name, s.start, s.size) for s in self.bound.states]

    @property
    def longest_step(self) -> float:
        """Longest step for which states between steps are as good as at their ends: fast filters want short ones."""
        return np.inf if self.every else min((s.closed for s in self.bound.states), default=np.inf)

    @property
    def traceable(self) -> bool:
        return bool(self.every) or self.bound.traceable

    @property
    def curves(self) -> list[Any]:
        """Curves over time that are followed at all times."""
        paths = () if self.every else (*self.bound.paths, *self.bound.force_paths)
        return [path.curve for path in paths]

    @property
    def functions(self) -> list[EffortFunction]:
        """Functions of the caller's that are followed at all times."""
        law = getattr(self.bound.written, "efforts", None)
        return [law] if isinstance(law, EffortFunction) and not self.every else []

    @property
    def channels(self) -> Mapping[str, str]:
        return self.bound.channels

    @cached_property
    def _spans(self) -> list[slice]:
        """Of what is held: commands, own states, channels, on their way, memory of encoders."""
        p = len(self.targets)
        own = len(self.bound.channels) - 3 * self.bound.n_tasks
        ends = np.cumsum([0, p, len(self.bound.states), own, p * self.late, self.encoders.size if self.encoders else 0])
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]

    @property
    def n_held(self) -> int:
        return self._spans[-1].stop if self.every else 0

    @cached_property
    def held_at_start(self) -> np.ndarray:
        held = np.zeros(self.n_held)
        if self.every:
            held[self._spans[1]] = [s.start for s in self.bound.states]
            if self.encoders is not None:
                held[self._spans[4]] = self.encoders.at_start()
        return held

    def fingerprint(self) -> Any:
        return fingerprint([self.bound, self.actuators, self.late, self.n_held])

    @property
    def feels_others(self) -> bool:
        return len(self.bound.start["other"]) > 0

    def acting(self, here: Instant, x: Mapping[str, Any], states: Any, held: Any, motions: Any, others: Any) -> FeedbackOutput:
        return FeedbackOutput(self, here, x, states, held, {"moved": motions, "other": others})


class FeedbackOutput:
    """Output of the feedback at one instant, over any scalar; made lazily."""

    def __init__(self, loop: BoundFeedback, here: Instant, x: Mapping[str, Any], states: Any, held: Any, beside: Mapping[str, Any]):
        self.loop, self.here, self.states, self.held = loop, here, states, held
        self.x = {k: x[k] for k in ("q", "v", "t", "near", "parameters")} | {**beside, "state": states}

    @cached_property
    def read(self) -> dict[str, Any]:
        return {**self.x, "ref": self.loop.bound.reference(self.x["t"][0])}

    @cached_property
    def _law(self) -> tuple[Any, Any, Any, Any]:
        """(efforts, rates, channels, margin) of a law that is followed at all times."""
        bound = self.loop.bound
        if is_traced(self.x["q"]):
            command, at = bound.law(self.read)
            return command.efforts, command.rates, bound.records(command, at), at.margin
        found = bound.answer(self.read)
        return found.efforts, found.rates, found.records, 1.0

    @cached_property
    def _given(self) -> list[tuple[Any, Any]]:
        """(command, whether in full) of each drive."""
        return self._through(self._law[0])

    def _through(self, efforts: Any) -> list[tuple[Any, Any]]:
        pairs = zip(self.loop.actuators, efforts, strict=True)
        return [a.command(u, 0.0 if a.motor is None else a.target.speed(self.here)) for a, u in pairs]

    @cached_property
    def commands(self) -> list[Any]:
        if self.loop.every:
            return list(self.held[self.loop._spans[0]])
        return [c for c, _ in self._given]

    @cached_property
    def rates(self) -> list[Any]:
        """Of the controller's own states: integrals wait while a limit cuts an effort off."""
        if self.loop.every:
            return []
        return self._unwound(self._law[1], self._given)

    def _unwound(self, rates: Any, given: Any) -> list[Any]:
        full: Any = 1.0
        for _, whole in given:
            full = full * whole
        return [r if s.lag else r * full for r, s in zip(rates, self.loop.bound.states, strict=True)]

    @property
    def margin(self) -> Any:
        return 1.0 if self.loop.every else self._law[3]

    @property
    def records(self) -> Sequence[Any]:
        if not self.loop.every:
            return self._law[2]
        at = Situation(self.loop.bound, self.read, safe=False)
        n = self.loop.bound.n_tasks
        followed = [v for i in range(n) for v in (at.x["ref"][i], at.value[i], at.error[i])]
        return [*followed, *self.held[self.loop._spans[2]]]

    # ---------------------------------------------------------------- samples

    def after(self, efforts: Any, rates: Any) -> tuple[list[Any], list[Any]]:
        """(commands that the actuators make of efforts, rates of own states), over any scalar."""
        given = self._through(efforts)
        return [c for c, _ in given], self._unwound(rates, given)

    def sampled(self, efforts: Any) -> np.ndarray:
        """Values held from now on. `efforts` act just before: a force sensor feels them."""
        loop, bound = self.loop, self.loop.bound
        commands, own, records, queue, memory = loop._spans
        held = np.asarray(self.held, dtype=float)
        t = float(self.x["t"][0])
        k = round(t / loop.every)
        read = {**self.read, "state": held[own]}
        feels = not bound.force_rows or t > loop.origin + 0.5 * loop.every
        sensed = bound.sense(read, np.asarray(efforts, dtype=float)) if feels else bound.before_the_start
        if loop.noise is not None:
            read["q"], read["v"] = loop.noise.measured(self.here.skel, read["q"], read["v"], k)
            sensed = None if sensed is None else loop.noise.sensed(sensed, [r.kind for r in bound.sensors], k)
        out = np.zeros(loop.n_held)
        if loop.encoders is not None:
            read["q"], read["v"], out[memory] = loop.encoders.read(read, held[memory])
        found = self._answer(read, sensed, k)
        given, rates = self.after(found.efforts, found.rates)
        going = zip(bound.states, held[own], rates, strict=True)
        out[own] = [s.after(x, rate, loop.every) for s, x, rate in going]
        out[records] = found.records[3 * bound.n_tasks :]
        fresh = np.array([float(c) for c in given])
        line = np.concatenate([held[queue], fresh])
        out[commands], out[queue] = line[: len(fresh)], line[len(fresh) :]
        return out

    def _answer(self, read: dict[str, Any], sensed: Any, k: int) -> Answer:
        """The law at a sample. A function that may remember is called once for each, also where a switch asks again at this instant."""
        bound, given = self.loop.bound, self.loop.given
        if bound.written.called and k in given:
            command, at = Command(list(given[k])), Situation(bound, dict(read), safe=True)
            return Answer(given[k], np.zeros(0), np.array([float(x) for x in bound.records(command, at)]))
        found = bound.answer(read, sensed)
        if bound.written.called:
            given[k] = found.efforts
        return found

"""A controller called by itself, with a measured state: for a loop of one's own, a test bench, or a look at what it would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwright.api import KINDS, Control, State, UsageError, nearest, quantity
from linkwright.simulation.feedback.controller_program import BoundControl
from linkwright.simulation.feedback.controller_setup import bind


class Controller:
    """A controller at a mechanism: `c(st)` returns the efforts, `c.step(st)` returns them and advances time and its own states.

    Own states are integrals and filters of force errors (`states`, by name). The time of a reference is that of the call, `t=`,
    else that of the state; `step` counts its own from the start on, one `every` at a time. A sampled controller senses forces with
    the efforts of its last step, which act until the new ones do; before the first step it reads what is wanted (or `begin=`).
    """

    def __init__(self, written: Control, system: Any, st: State, parameters: Any = None):
        self.system, self.parameters = system, parameters
        self.bound: BoundControl = bind(written, system, st, parameters=parameters)
        self._own = np.array([s.start for s in self.bound.states])
        self.begin = st
        self.samples = 0
        self._acting = np.zeros(len(self.bound.targets))  # efforts of the last step

    def __getstate__(self) -> dict[str, Any]:
        """As written, with its own states; it is bound to the mechanism again."""
        return {**{k: x for k, x in vars(self).items() if k != "bound"}, "written": self.bound.written}

    def __setstate__(self, state: dict[str, Any]) -> None:
        written = state.pop("written")
        vars(self).update(state)
        self.bound = bind(written, self.system, self.begin, parameters=self.parameters)

    def __repr__(self) -> str:
        drives = ", ".join(x.name for x in self.bound.targets)
        return f"<Controller {self.bound.written.kind} of {drives}: follows {', '.join(self.bound.labels)}>"

    @property
    def drives(self) -> tuple[str, ...]:
        return tuple(x.name for x in self.bound.targets)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Labels of the coordinates followed."""
        return self.bound.labels

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self.bound.notes)

    @property
    def states(self) -> dict[str, float]:
        return {s.name: float(x) for s, x in zip(self.bound.states, self._own, strict=True)}

    def reset(self) -> None:
        """Own states and time as at the start."""
        self._own = np.array([s.start for s in self.bound.states])
        self.samples = 0
        self._acting = np.zeros(len(self.bound.targets))

    def __call__(self, st: State, t: Any = None, *, force: Mapping[str, Any] | None = None) -> dict[str, float]:
        """Drive torques and forces for a measured state; `force`: what the force sensors read.

        Default of `force`: as the model has it, with these efforts or, if the controller is sampled, with those of its last step.
        """
        return self._named(self._answer(st, t, force).efforts)

    def step(self, st: State, t: Any = None, *, force: Mapping[str, Any] | None = None) -> dict[str, float]:
        """The same for the next sample; own states advance by the time between samples."""
        every = self.bound.every
        if not every:
            raise UsageError(f"step needs the time between samples: lw.control.{self.bound.written.kind}(..., every='1 ms').", name="every")
        found = self._answer(st, self.begin.t + self.samples * every if t is None else t, force)
        own = zip(self.bound.states, self._own, found.rates, strict=True)
        self._own = np.array([s.after(x, rate, every) for s, x, rate in own], dtype=float)
        self.samples += 1
        self._acting = np.array(found.efforts, dtype=float)
        return self._named(found.efforts)

    def records(self, st: State, t: Any = None, *, force: Mapping[str, Any] | None = None) -> dict[str, float]:
        """References, values and errors of what is followed, forces, and the control authority."""
        found = self._answer(st, t, force)
        return {name: float(x) for name, x in zip(self.bound.channels, found.records, strict=True)}

    def _answer(self, st: State, t: Any, force: Mapping[str, Any] | None) -> Any:
        if not isinstance(st, State):
            raise UsageError(f"a controller is called with a State (s.assemble, s.state), not {type(st).__name__}.", value=st)
        b = self.bound
        mine, theirs = ([n.joint.name for n in skel.tree.nodes] for skel in (self.system.loops.skel, st.skel))
        if mine != theirs:
            raise UsageError(
                "this state belongs to another mechanism, or to the same with other cuts (then s.mirror(st) gives it here).", name="state"
            )
        time = st.t if t is None else quantity(t, KINDS["time"], "t")
        read, sensed = b.arrays(st.q, st.v, time, b.believed.kernels.loops.skel.pack(st.references), self._own), self._sensed(force)
        if sensed is None and b.every and b.force_rows:
            sensed = b.sense(read, self._acting) if self.samples else b.before_the_start
        return b.answer(read, sensed)

    def _sensed(self, force: Mapping[str, Any] | None) -> np.ndarray | None:
        rows = self.bound.sensors
        if not rows or force is None:
            if force:
                raise UsageError(f"{self.bound.written.kind} has no force sensors. Leave force= out.", name=self.bound.written.kind)
            return None
        if not isinstance(force, Mapping):
            raise UsageError("force is a dict of what the sensors read, force={'C.y': '3 N'}.", name="force")
        names = [r.name for r in rows]
        for name in force:
            if name not in names:
                raise UsageError(f"force: '{name}' is not sensed.", nearest(str(name), names, "Forces"))
        missing = [n for n in names if n not in force]
        if missing:
            raise UsageError(f"force: the reading of the sensor of '{missing[0]}' is missing.", name=missing[0])
        return np.array([quantity(force[r.name], KINDS[r.kind], f"force of '{r.name}'") for r in rows])

    def _named(self, efforts: np.ndarray) -> dict[str, float]:
        return {x.name: float(u) for x, u in zip(self.bound.targets, efforts, strict=True)}

"""A controller at its place: drives, coordinates and references of one mechanism, and its law as a compiled program.

The law is a pure function of measured q and v, time, the reference there and the controller's own states. Inside a time stepper it
is traced with the drives' inputs; sampled, or where a reference cannot be traced, its own program is called. Where a program's
pivots degenerate, the rank-revealing path on numbers answers instead.

A function of named arrays may be called now and then, or very often. Its first calls run as it is, later ones by native code of its trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.compiler import native
from linkwright.compiler.graph import Sym, TraceGraph
from linkwright.compiler.program import Program, interpret
from linkwright.drives.base import DriveTarget
from linkwright.drives.input_equations import LawCache, fingerprint, key_of
from linkwright.errors import SimulationError
from linkwright.kernels.equations.dynamic import Equations
from linkwright.kernels.kernels import Kernels
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.model.curves.references import Path
from linkwright.model.description import Description
from linkwright.numerics.scalars import common_type, real, where
from linkwright.properties import cached_property
from linkwright.results.channels import Channels
from linkwright.simulation.feedback.base import Command, Control, ForceSensor, OwnState
from linkwright.simulation.feedback.controller_inputs import Situation
from linkwright.simulation.feedback.force_rows import IndeterminateForces, indeterminate
from linkwright.simulation.feedback.least_effort import NominalSizes, nominal
from linkwright.simulation.feedback.task_coordinates import Task

INTERPRETED_CALLS = 3  # calls for which tracing and compiling would take longer


class Programmed:
    """`function(arrays)` gives a list whose last entry is a margin, over any scalar; `sizes` are those of its arrays."""

    def __init__(
        self,
        function: Callable[[dict[str, Any]], list[Any]],
        sizes: Mapping[str, int],
        compiled: bool,
        cached: Callable[[Callable[[], Any]], Any] = lambda make: make(),
    ):
        self.function, self.sizes, self.compiled, self.cached = function, dict(sizes), compiled and native.available(), cached
        self.calls = 0

    def __call__(self, arrays: Mapping[str, Any]) -> np.ndarray | None:
        """The results without the margin, or None where they cannot be trusted."""
        self.calls += 1
        y = self._as_it_is(arrays) if self.calls <= INTERPRETED_CALLS else self._traced(arrays)
        return y[:-1] if y is not None and np.isfinite(y).all() and y[-1] > 0.0 else None

    def _as_it_is(self, arrays: Mapping[str, Any]) -> np.ndarray | None:
        with np.errstate(all="ignore"):
            try:
                return np.array([float(x) for x in self.function({k: np.asarray(arrays[k], dtype=float) for k in self.sizes})])
            except ZeroDivisionError:  # a pivot of zero: as good as not finite
                return None

    def _traced(self, arrays: Mapping[str, Any]) -> np.ndarray:
        row = np.concatenate([np.asarray(arrays[k], dtype=float).ravel() for k in self.sizes])
        made = self._made
        return interpret(made, row) if isinstance(made, Program) else made.call(row)[0]

    @cached_property
    def _made(self) -> native.NativeCode | Program:
        """As cached by an earlier run, or made now."""
        return self.cached(lambda: native.NativeCode.of(self._program()) if self.compiled else self._program())

    def _program(self) -> Program:
        graph = TraceGraph()
        found = self.function({k: graph.input(k, n) for k, n in self.sizes.items()})
        return graph.program([("u", np.array(found, dtype=object))])


Arrays = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Believed:
    """A mechanism's equations: as it is, or as a controller believes it to be; with rotors, without the constraints left out."""

    kernels: Kernels
    values: np.ndarray | None = None  # of parameters, where they are not those of the run

    def equations(self, x: Arrays) -> Equations:
        parameters = x["parameters"] if self.values is None else self.values
        eq = self.kernels.equations(parameters if len(self.kernels.parameters) else ())
        if not self.kernels.chosen.drivers:
            return eq
        n = len(self.kernels.chosen.drivers)
        return eq.moved(*(x["moved"][k * n : (k + 1) * n] for k in range(3)))


@dataclass(eq=False)
class BoundControl:
    """A written controller with everything its law reads. `start`: the arrays it was bound at."""

    written: Control
    description: Description
    real: Believed
    believed: Believed
    targets: tuple[DriveTarget, ...]
    tasks: tuple[Task, ...]
    paths: tuple[Path, ...]
    weights: np.ndarray
    every: float
    start: dict[str, np.ndarray]
    lam_names: tuple[str, ...] = ()
    lam_kinds: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    force_paths: tuple[Path, ...] = ()  # what the forces of a hybrid controller shall be
    actuators: tuple[Any, ...] = ()  # those it acts through, where they have limits
    cache: LawCache = field(default_factory=LawCache, repr=False)  # the mechanism's
    first: bool = True  # a run begins; False: it continues after a switch
    known: Any = None  # the mechanism as it is, but without the loads that the controller does not know

    # ---------------------------------------------------------------- sizes and names

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(x for t in self.tasks for x in t.labels)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        return tuple(k for t in self.tasks for k in t.kinds)

    @property
    def n_tasks(self) -> int:
        return len(self.labels)

    @cached_property
    def states(self) -> tuple[OwnState, ...]:
        return tuple(self.written.states(self))

    @property
    def force_rows(self) -> tuple[Any, ...]:
        """Forces a hybrid controller holds."""
        return tuple(getattr(self.written, "rows", ()))

    @cached_property
    def sensors(self) -> tuple[ForceSensor, ...]:
        """Force sensors that the law reads: of forces it holds, or of those on the coordinates it follows."""
        return tuple(ForceSensor(r.name, r.kind) for r in self.force_rows) or tuple(self.written.sensors(self))

    @property
    def live_forces(self) -> tuple[int, ...]:
        """Mask of the forces that there are: those of constraints that an event released are not."""
        return tuple(getattr(self.written, "live", ()))

    def indeterminate_forces(self, rows: Sequence[Any]) -> IndeterminateForces:
        """Forces among these that redundant constraints of the mechanism leave open everywhere."""
        kernels = self.real.kernels
        if not rows or kernels.generic_rank == kernels.sizes.nc:  # full rank, except in single positions
            return IndeterminateForces({}, [])
        x = {**self.start, "moved": np.ones(len(self.start["moved"]))}
        return indeterminate(self.real.equations(x), x, rows)

    @property
    def redundant(self) -> bool:
        """True if drives are more than what they have to do: their weights decide who does how much."""
        return self.written.weighs and len(self.targets) > self.n_tasks + len(self.live_forces)

    @property
    def needs_multipliers(self) -> bool:
        return bool(self.live_forces)

    @cached_property
    def channels(self) -> dict[str, str]:
        """Recorded channels: references, values, errors of the coordinates, the kind's own, own states, control authority, damping."""
        out: dict[str, str] = {}
        for label, kind in zip(self.labels, self.kinds, strict=True):
            out |= {f"control.{label}.{x}": kind for x in ("reference", "value", "error")}
        own = {s.name: "none" for s in self.states}
        return out | dict(self.written.channels(self)) | own | {"control.authority": "none", "control.damping": "none"}

    @cached_property
    def nominal(self) -> NominalSizes:
        """Nominal sizes of the outputs where the controller begins."""
        return nominal(self.outputs_at_start, self.weights)

    @cached_property
    def outputs_at_start(self) -> np.ndarray:
        at = Situation(self, dict(self.start), safe=True, sensed=None)
        return np.asarray(self.written.outputs(at), dtype=float)

    def named(self, skel: Skeleton) -> Channels:
        """Everything that can be read by name; the last one is cached, because naming takes longer than a call."""
        cached = vars(self).get("_named")
        if cached is None or cached.skel is not skel:
            cached = vars(self)["_named"] = Channels(skel)
        return cached

    # ---------------------------------------------------------------- the law

    def reference(self, t: Any) -> Any:
        """Values, rates and accelerations of all coordinates followed, one after the other, then wanted forces."""
        parts: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        for path in self.paths:
            for part, x in zip(parts, path(t), strict=True):
                part.extend(x)
        out = [*(x for part in parts for x in part), *self.wanted_forces(t)]
        return np.array(out, dtype=common_type(*[np.asarray(x) for x in out]) if out else float)

    def wanted_forces(self, t: Any) -> list[Any]:
        return [path(t)[0][0] for path in self.force_paths]

    @property
    def traceable(self) -> bool:
        return all(p.curve.traceable for p in (*self.paths, *self.force_paths))

    def law(self, x: Arrays, *, safe: bool = False, sensed: Any = None) -> tuple[Command, Situation]:
        at = Situation(self, dict(x), safe=safe, sensed=sensed)
        command = self.written.command(at)
        if self.actuators and sensed is None and self.force_rows:  # sensors feel what really acts
            through = zip(self.actuators, command.efforts, at.B.T @ at.v, strict=True)
            command = self.written.felt(at, command, [a.given(u, speed) for a, u, speed in through])
        return command, at

    def records(self, command: Command, at: Situation) -> list[Any]:
        """Values of `channels`."""
        n, out = self.n_tasks, []
        for i in range(n):
            out += [at.x["ref"][i], at.value[i], at.error[i]]
        authority = np.sqrt(where(real(command.authority) > 0.0, command.authority, 0.0))
        return [*out, *command.records, *at.states, authority, command.damped]

    def answer(self, x: Arrays, sensed: Any = None) -> Answer:
        """The law on numbers: by its program, or where that degenerates by the rank-revealing path."""
        found = None if self.written.called else self._by_program(x, sensed)
        if found is not None:
            return found
        command, at = self.law(x, safe=True, sensed=sensed)
        parts = (command.efforts, command.rates, self.records(command, at))
        out = Answer(*(np.array([float(v) for v in part]) for part in parts))
        if not (np.isfinite(out.efforts).all() and np.isfinite(out.rates).all()):
            raise SimulationError(f"t = {float(x['t'][0]):.6g} s: {self.written.kind} gives no finite efforts here.{self._where(out)}")
        return out

    def _where(self, out: Answer) -> str:
        return "" if self.written.damping else " The drives have lost control authority and damping=0 is given: use damping=0.02."

    def _by_program(self, x: Arrays, sensed: Any) -> Answer | None:
        y = self._plain(x) if sensed is None else self._sensing({**x, "sensed": sensed})
        if y is None:
            return None
        p, n = len(self.targets), len(self.states)
        return Answer(y[:p], y[p : p + n], y[p + n :])

    def _everything(self, x: dict[str, Any]) -> list[Any]:
        """All that the law says, and its margin."""
        command, at = self.law(x, sensed=x.get("sensed"))
        return [*command.efforts, *command.rates, *self.records(command, at), at.margin]

    @cached_property
    def _plain(self) -> Programmed:
        return self.programmed("plain", self._everything)

    @cached_property
    def _sensing(self) -> Programmed:
        return self.programmed("sensing", self._everything, sensed=len(self.sensors))

    def programmed(self, name: str, function: Any, encoders: Any = (), **more: int) -> Programmed:
        """A function of the law's arrays, as native code where it is called often."""
        sizes = {k: len(v) for k, v in self.start.items()} | more

        def code(make: Callable[[], Any]) -> Any:
            return self.cache.get(key_of(name, self, self.real.kernels.engine, encoders), make)

        return Programmed(function, sizes, self.real.kernels.engine == "native", code)

    def fingerprint(self) -> Any:
        """Everything the law depends on besides what it reads; see `drives.input_equations.LawCache`."""
        begun = vars(self).get("nominal") or {k: v for k, v in self.start.items() if k not in ("ref", "state")}
        held = [self.written, self.real, self.believed, self.known, self.targets, self.tasks]
        held += [self.paths, self.force_paths, self.weights, self.every]
        return fingerprint([*held, {k: len(v) for k, v in self.start.items()}, self.actuators, begun])

    def goes_on_from(self, other: BoundControl) -> None:
        """After a switch: references continue as they began, control authority is relative to the same start. Coordinates that are chosen
        for a State or a Trajectory may be others now; what these shall do does not depend on where a run begins."""
        if self.labels != other.labels:
            return
        self.paths, self.force_paths = other.paths, other.force_paths
        self.written = self.written.continued(other.written)
        self.start["ref"] = np.asarray(self.reference(self.start["t"][0]), dtype=float)
        rows = [*range(self.n_tasks), *(self.n_tasks + i for i in self.live_forces)]
        vars(self)["nominal"] = NominalSizes(other.nominal.sizes[rows], other.nominal.firm[rows])

    # ---------------------------------------------------------------- force sensors

    @property
    def before_the_start(self) -> np.ndarray | None:
        """Readings of the sensors of forces held before anything acted."""
        return np.asarray(getattr(self.written, "begin", None), dtype=float) if self.force_rows else None

    def sense(self, x: Arrays, efforts: np.ndarray) -> np.ndarray | None:
        """Forces of the mechanism as it is, under these efforts; None if they are not used."""
        if not self.sensors:
            return None
        found = self._sensor({**x, "u": efforts})
        if found is not None:
            return found
        return np.asarray(self.felt_under(Situation(self, dict(x), safe=True), efforts), dtype=float)

    def felt_under(self, at: Situation, efforts: Any) -> list[Any]:
        """Readings of the force sensors under these efforts, over any scalar."""
        if not self.force_rows:
            return list(at.contact)
        eq = self.real.equations(at.x)
        out: list[Any] = [0.0] * len(self.force_rows)
        for i in self.live_forces:
            base, per = self.force_rows[i].affine(at, at.plant, eq)
            out[i] = base + per @ efforts
        return out

    @cached_property
    def _sensor(self) -> Programmed:
        def felt(x: dict[str, Any]) -> list[Any]:
            at = Situation(self, x, safe=False)
            return [*self.felt_under(at, x["u"]), at.margin]

        return self.programmed("sensor", felt, u=len(self.targets))

    # ---------------------------------------------------------------- called alone

    def arrays(self, q: Any, v: Any, t: float, cut: Any, states: Any = None) -> dict[str, np.ndarray]:
        """Inputs of the law for a measured state."""
        own = np.array([s.start for s in self.states]) if states is None else np.asarray(states, dtype=float)
        return {**self.start, "q": np.asarray(q), "v": np.asarray(v), "t": np.array([t]), "near": cut, "state": own,
                "ref": np.asarray(self.reference(t), dtype=float)}  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """A law's answer in numbers."""

    efforts: np.ndarray
    rates: np.ndarray
    records: np.ndarray


def is_traced(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == object and any(type(e) is Sym for e in x)

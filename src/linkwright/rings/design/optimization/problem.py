"""The problem: what varies, what is wanted, and designs evaluated, one with exact gradients or thousands in lanes.

Inside, a design is a point u of the unit cube: number = low + u (high - low).

Designs run in the machine code of the mechanism itself. A design is a row of numbers, which are inputs of the code; nothing is read, cut
or compiled again. A design that cannot be reached from the file's own by moving its numbers is said to have no motion, and how far it is
from one is a matter of `run`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import (
    Description,
    LinkwrightError,
    Measure,
    Parameter,
    System,
    Trajectories,
    Trajectory,
    UsageError,
    compiled_of,
    every_parameter,
    mechanism_of,
)
from linkwright.motion.designs import ClosedDesign
from linkwright.properties import cached_property
from linkwright.results.channels.kernel import DETERMINANT
from linkwright.rings.design.optimization.quantities import MeasuredValue, OfFunction, OfModel, OfMotion, OfNumbers
from linkwright.rings.design.optimization.variables import DesignVariable
from linkwright.rings.design.studies.analyses import Case, Cycle
from linkwright.rings.design.studies.evaluation import MeasureFunction, Work
from linkwright.rings.design.studies.varied_numbers import VariedNumbers
from linkwright.system.cycles import CycleEvaluator

POSITION = ("state q", "state near")  # coordinates, references of cut joints
NO_MOTION = "it has no motion"


@dataclass(frozen=True)
class DesignCycle:
    """The cycle of one design, as far as goals and limits read it: what `Measure` asks of a motion."""

    found: Trajectories
    nominal: Trajectory

    @property
    def drive(self) -> str:
        return self.nominal.drive

    @property
    def channels(self) -> Sequence[str]:
        return self.nominal.channels

    def __len__(self) -> int:
        return len(self._times)

    @property
    def static(self) -> bool:
        return self.nominal.static

    @property
    def t(self) -> np.ndarray:
        return self._times

    def __getitem__(self, name: str) -> np.ndarray:
        """A channel; of those that no measure reads (the speed of a drive) that of the file's own design."""
        return self.found.values[name][0] if name in self.found.values else self.nominal[name]

    @property
    def determinant(self) -> np.ndarray | None:
        """The determinant of the loops with the drives held, at the samples; None of mechanisms without loops."""
        return self.found.values[DETERMINANT][0] if DETERMINANT in self.found.values else None

    def dimension(self, name: str) -> str:
        return "time" if name == "t" else self.nominal.dimension(name)

    def read(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        return {name: self._times if name == "t" else self.found.values[name][0] for name in names}

    @property
    def _times(self) -> np.ndarray:
        return self.found.t if self.found.t.ndim == 1 else self.found.t[0]


@dataclass(frozen=True)
class TurnedSlopes:
    """Derivatives of the channels of one design."""

    found: Trajectories
    names: tuple[str, ...]

    @property
    def determinant(self) -> np.ndarray:
        return self.found.derivatives[DETERMINANT][0]

    def read(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        return {name: self.found.derivatives[name][0] for name in names}

    def __getitem__(self, name: str) -> np.ndarray:
        """Derivatives of a channel; none of those that no measure reads."""
        return self.found.derivatives[name][0] if name in self.found.derivatives.values else np.zeros((1, len(self.names)))


@dataclass(frozen=True, eq=False)
class MeasuredCycles:
    """Cycles of designs whose numbers of these names vary, with the channels that measures read."""

    system: System
    asked: dict[str, Any]
    names: tuple[str, ...]
    measures: tuple[Measure, ...]

    @cached_property
    def nominal(self) -> Trajectory:
        return mechanism_of(self.system).cycle(**self.asked)

    @cached_property
    def channels(self) -> tuple[str, ...]:
        found = [name for m in self.measures for name in m.channels(self.nominal.drive, self.nominal.channels)]
        return tuple(dict.fromkeys(name for name in found if name != "t"))

    @cached_property
    def _differentiated(self) -> CycleEvaluator:
        """With derivatives, and the determinant, whose zeros are dead centers and borders of assembly."""
        read = [*self.channels, *([DETERMINANT] if compiled_of(self.system).tree.nc else [])]
        return CycleEvaluator(self.system, list(self.names), read, derivatives=list(self.names), fixed=True, **self.asked)

    @cached_property
    def _plain(self) -> CycleEvaluator:
        return CycleEvaluator(self.system, list(self.names), list(self.channels), fixed=True, **self.asked)

    @cached_property
    def _positions(self) -> CycleEvaluator:
        return CycleEvaluator(self.system, list(self.names), list(POSITION), fixed=True, **self.asked)

    def rebase(self, x: np.ndarray | None) -> bool:
        """Reach designs from this one from now on (None: from the file's own); False if it has no motion itself."""
        closed = None
        if x is not None:
            found = self._positions(np.asarray(x)[None], threads=1)
            if not found.ok[0]:
                return False
            q, near = (found.values[name][0, 0] for name in POSITION)
            closed = ClosedDesign(q, near, self._drives, np.asarray(x))
        for turned in (self._differentiated, self._positions):
            turned.based(closed)
        return True

    @cached_property
    def _drives(self) -> np.ndarray:
        """Coordinates of the drives at the first sample."""
        return np.array([float(self.nominal[name][0]) for name in self.nominal.drives])

    @cached_property
    def available(self) -> bool:
        """True if the mechanism has code for the cycles of its designs, and all that is measured can be read and differentiated by it."""
        try:
            found = self._differentiated(self._differentiated.nominal, threads=1)
        except LinkwrightError:
            return False
        return bool(found.ok.all()) and all(np.isfinite(x).all() for x in found.derivatives.values.values())

    def one(self, x: np.ndarray) -> tuple[DesignCycle, TurnedSlopes, str]:
        """Motion and derivatives of a design, and why it has none."""
        found = self._differentiated(np.asarray(x)[None], threads=1)
        return DesignCycle(found, self.nominal), TurnedSlopes(found, self.names), "" if found.ok[0] else found.why.get(0, NO_MOTION)

    def many(self, x: np.ndarray, threads: int | None) -> tuple[np.ndarray, list[str]]:
        """Measures of many designs, (designs, measures), nan where there is none, and the reasons."""
        out, why = np.full((len(x), len(self.measures)), np.nan), [""] * len(x)
        block = 512  # candidates whose samples are in memory at a time
        for some, found in self._plain.blocks(x, most=block, threads=threads):
            rows = np.arange(len(x))[some]
            with np.errstate(invalid="ignore"):
                columns = [m.over(found.rows(found.values)) for m in self.measures]
            if columns:
                out[rows] = np.where(found.ok[:, None], np.stack(columns, axis=1), np.nan)
            for i in np.flatnonzero(~found.ok):
                why[rows[i]] = found.why.get(int(i), NO_MOTION)
        return out, why


DIFFERENCE = 1e-4  # of the range of a number, to each side: errors of runs at 1e-9 are 1e-5 of what the measure changes over the range
REMEMBERED = 8  # points whose results are stored
FEASIBLE = 1e-6  # relative to the scale of a limit: a search counts what is violated by less as feasible
MET = 1e-9  # relative to the scale of a limit: what the final design violates by more is not met


def reach(terms: Sequence[tuple[float, MeasuredValue]], p: DesignPoint) -> float:
    """How far a weighted sum may go between samples; not a number where its terms go without bound both ways."""
    with np.errstate(invalid="ignore"):
        return float(np.sum([w * q.reach(p) for w, q in terms if w]))


@dataclass(frozen=True)
class Goal:
    """A weighted sum of quantities, to be minimized (sign 1) or maximized (sign -1)."""

    text: str
    sign: float
    terms: tuple[tuple[float, MeasuredValue], ...]
    shown: tuple[str, float] = ("", 1.0)

    def value(self, p: DesignPoint) -> float:
        """The sum as the user reads it."""
        return sum(w * q.value(p) for w, q in self.terms)

    def reach(self, p: DesignPoint) -> float:
        """How far the sum may go between samples: up, or down if it is negative."""
        return reach(self.terms, p)

    def text_of(self, value: float) -> str:
        unit, size = self.shown
        return f"{value / size:.6g}{' ' if unit else ''}{unit}"


@dataclass(frozen=True)
class Limit:
    """A weighted sum of quantities between two numbers in SI."""

    text: str
    terms: tuple[tuple[float, MeasuredValue], ...]
    low: float
    high: float
    shown: tuple[str, float] = ("", 1.0)
    smooth: Limit | None = None  # the same demand on a quantity without jumps, which a search takes in its place

    @property
    def scale(self) -> float:
        """Size by which violations are measured."""
        ends = [abs(x) for x in (self.low, self.high) if np.isfinite(x)]
        return max(ends) or 1.0

    @property
    def equality(self) -> bool:
        return self.low == self.high

    def value(self, p: DesignPoint) -> float:
        return sum(w * q.value(p) for w, q in self.terms)

    def reach(self, p: DesignPoint) -> float:
        """How far the sum may go between samples: up, or down if it is negative."""
        return reach(self.terms, p)

    def violation(self, value: Any) -> Any:
        """By how much a value is outside, relative to the scale; 0 inside."""
        below, above = (self.low - value) / self.scale, (value - self.high) / self.scale
        return np.maximum(np.maximum(below, above), 0.0)

    def beyond(self, value: float) -> float:
        """By how much a value is outside, in SI: positive above, negative below, 0 inside or within MET of it."""
        if not np.isfinite(value):
            return np.inf
        if float(self.violation(value)) <= MET:
            return 0.0
        return value - self.low if value < self.low else value - self.high

    def text_of(self, value: float) -> str:
        unit, size = self.shown
        return f"{value / size:.6g}{' ' if unit else ''}{unit}"


class NeighborMotions(NamedTuple):
    """Motions of two designs that differ in one number, and by how much in SI."""

    motions: tuple[Any, Any]
    apart: float


@dataclass
class DesignPoint:
    """One design: its motion and the derivatives of that by the parameters that vary, each computed when asked for."""

    problem: DesignProblem
    u: np.ndarray
    numbers: np.ndarray
    why: str = ""  # why it has no motion
    whole: bool = False  # read from the motion as a user gets it, which may begin elsewhere, not at the positions of the search

    @property
    def ok(self) -> bool:
        return not self.why

    @cached_property
    def _known(self) -> dict[Any, Any]:
        return {}

    def known(self, key: Any, compute: Callable[[], Any]) -> Any:
        """A result that is computed once."""
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    @cached_property
    def trajectory(self) -> Any:
        """The result of the case, as a user gets it for this design."""
        return self.problem.work.result(self.numbers)

    @cached_property
    def motion(self) -> Any:
        """Channels by name, as measures read them."""
        return self.trajectory if self._turned is None else self._turned[0]

    @cached_property
    def slopes(self) -> Any:
        """Derivatives of channels by name."""
        return self.every_slope if self._turned is None else self._turned[1]

    @cached_property
    def every_slope(self) -> Any:
        """Derivatives of all channels, also of those that no measure reads. A search continues at a kink by a slope between those of its
        sides."""
        return replace(self.trajectory.derivatives(list(self.problem.names)), strict=False)

    def beside(self, k: int) -> NeighborMotions:
        """Motions on both sides of this one along one number, within its bounds."""
        return self.known(("beside", k), lambda: self._beside(k))

    def _beside(self, k: int) -> NeighborMotions:
        motions, places = [], []
        for way in (-1.0, 1.0):
            u = self.u.copy()
            u[k] = np.clip(u[k] + way * DIFFERENCE, 0.0, 1.0)
            try:
                motions.append(self.problem.work.result(self.problem.numbers(u)))
            except LinkwrightError:  # no motion on this side
                motions.append(self.trajectory)
                u = self.u
            places.append(self.problem.numbers(u)[k])
        if places[0] == places[1]:
            name = self.problem.names[k]
            raise UsageError(f"a run on neither side of {name} = {places[0]:.6g} can be computed. Choose other bounds.", name=name)
        return NeighborMotions((motions[0], motions[1]), places[1] - places[0])

    @cached_property
    def _turned(self) -> Any:
        turns = None if self.whole else self.problem.turns
        return None if turns is None else turns.one(self.numbers)

    def tried(self) -> str:
        """Compute the motion; return why there is none."""
        if self._turned is not None:
            return self._turned[2]
        try:
            c = self.trajectory
        except LinkwrightError as problem:
            return str(problem)
        if self.problem.full_turn and not getattr(c, "full_turn", True):
            return next((n for n in c.notes if "cannot turn fully" in n), "the drive does not turn fully")
        return ""


class TimeIsUp(Exception):
    """The time that a search may take is over."""


@dataclass
class SearchTally:
    """Designs evaluated so far, since when, and when the search has to end (in seconds from its begin)."""

    designs: int = 0
    begun: float = field(default_factory=time.perf_counter)
    deadline: float = np.inf

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun

    def count(self, designs: int) -> None:
        """Count designs before they are computed; raise TimeIsUp where the time is over."""
        if self.seconds > self.deadline:
            raise TimeIsUp
        self.designs += designs


@dataclass(frozen=True, eq=False)
class CandidateValues:
    """Goals and limits of many designs: as `value` gives them; nan where a design has no motion."""

    u: np.ndarray  # (n, variables)
    goals: np.ndarray  # (n, goals), to be minimized
    violation: np.ndarray  # (n,): sum over the limits
    why: list[str]

    @property
    def ok(self) -> np.ndarray:
        return np.array([not w for w in self.why], dtype=bool)


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """A mechanism, the parameters that vary, the case that is computed, goals and limits."""

    described: Description
    variables: tuple[DesignVariable, ...]
    case: Case
    goals: tuple[Goal, ...]
    limits: tuple[Limit, ...]
    full_turn: bool = False
    tally: SearchTally = field(default_factory=SearchTally)
    unwritten: str = ""  # why new numbers cannot be written into the model file
    original: DesignProblem | None = None  # of the user's own file, where the search begins with another design
    curves_read: dict[str, None] = field(default_factory=dict)  # channels of which extremes over the whole motion were read, in order

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(v.name for v in self.variables)

    @cached_property
    def low(self) -> np.ndarray:
        return np.array([v.low for v in self.variables])

    @cached_property
    def span(self) -> np.ndarray:
        return np.array([v.span for v in self.variables])

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        known = every_parameter(self.described)
        return tuple(known[n] for n in self.names)

    @cached_property
    def nominal(self) -> np.ndarray:
        """The file's own numbers, moved into the bounds."""
        return np.clip((np.array([v.nominal for v in self.variables]) - self.low) / self.span, 0.0, 1.0)

    @cached_property
    def sought(self) -> tuple[Limit, ...]:
        """The limits as a search holds them, in the same order: those with jumps by quantities without."""
        return tuple(lim.smooth or lim for lim in self.limits)

    def numbers(self, u: np.ndarray) -> np.ndarray:
        return self.low + np.asarray(u) * self.span

    # ---------------------------------------------------------------- one design

    @cached_property
    def _points(self) -> dict[bytes, DesignPoint]:
        return {}

    def point(self, u: np.ndarray) -> DesignPoint:
        """Return a design with its motion, or with the reason why it has none."""
        key = np.asarray(u, dtype=float).tobytes()
        if key in self._points:
            return self._points[key]
        while len(self._points) >= REMEMBERED:
            self._points.pop(next(iter(self._points)))
        self.tally.count(1)
        p = DesignPoint(self, np.array(u, dtype=float), self.numbers(u))
        p.why = p.tried()
        self._points[key] = p
        return p

    def rebase(self, u: np.ndarray | None) -> None:
        """Reach designs by moving their numbers from this design; None: from the file's own."""
        if self.turns is not None and self.turns.rebase(None if u is None else self.numbers(u)):
            self._points.clear()

    @cached_property
    def turns(self) -> MeasuredCycles | None:
        """Cycles in machine code; None where designs are computed one by one."""
        measures = [q.measure for q in self._measured if isinstance(q, OfMotion) and q.measure is not None]
        if not isinstance(self.case, Cycle):
            return None
        made = MeasuredCycles(self.work.system, self.case.asked, self.names, tuple(measures))
        return made if made.available and bool(made.nominal.full_turn) >= self.full_turn else None

    def whole(self, p: DesignPoint) -> DesignPoint:
        """Return a design as a user gets it: with the positions of its own cycle."""
        out = DesignPoint(self, p.u, p.numbers, whole=True)
        out.why = out.tried()
        return out

    # ---------------------------------------------------------------- many designs

    @cached_property
    def quantities(self) -> tuple[MeasuredValue, ...]:
        """All quantities, each once."""
        found = [q for item in (*self.goals, *self.limits) for _, q in item.terms]
        return tuple({q.name: q for q in found}.values())

    @cached_property
    def work(self) -> Work:
        """Rows of designs, as a study computes them: in lanes where that is possible."""
        measures: list[Measure | MeasureFunction] = []
        for q in self._measured:
            if isinstance(q, OfMotion) and q.measure is not None:
                measures.append(q.measure)
            elif isinstance(q, OfFunction) and q.call is not None:
                measures.append(MeasureFunction(q.name, q.call))
        numbers = VariedNumbers(self.described, tuple(v.target for v in self.variables))
        return Work(numbers, self.case, tuple(measures))

    @cached_property
    def _measured(self) -> list[MeasuredValue]:
        return [q for q in self.quantities if isinstance(q, OfMotion | OfFunction)]

    @property
    def turning(self) -> bool:
        return isinstance(self.case, Cycle)

    def candidates(self, u: np.ndarray, threads: int | None = None) -> CandidateValues:
        """Evaluate many designs."""
        x = self.numbers(u)
        self.tally.count(len(x))
        native = self.turns is not None and all(isinstance(q, OfMotion) for q in self._measured)
        values, reasons = self.turns.many(x, threads) if native and self.turns is not None else self.work.rows(x, threads)[:2]
        table = {q.name: values[:, k] for k, q in enumerate(self._measured)}
        for q in self.quantities:
            if q.name not in table:
                table[q.name] = self._of_numbers(q, u, x)
        with np.errstate(invalid="ignore"):
            goals = [g.sign * sum(w * table[q.name] for w, q in g.terms) for g in self.goals]
            outside = sum((lim.violation(sum(w * table[q.name] for w, q in lim.terms)) for lim in self.limits), np.zeros(len(x)))
        why = list(reasons)
        for i in np.flatnonzero(~np.isfinite(np.stack([*goals, outside])).all(axis=0)):
            why[int(i)] = why[int(i)] or "a goal or a limit has no value here"
        return CandidateValues(np.asarray(u), np.stack(goals, axis=1), outside, why)

    def _of_numbers(self, q: MeasuredValue, u: np.ndarray, x: np.ndarray) -> np.ndarray:
        if isinstance(q, OfNumbers):
            return x[:, q.place]
        assert isinstance(q, OfModel)
        return np.array([q.value(DesignPoint(self, a, b)) for a, b in zip(u, x, strict=True)])

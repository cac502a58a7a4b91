"""The whole search: candidates over the bounds, local searches from the best of them, and the certificate of the best end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.api import NONE, UsageError, counted, nearest, parse_unit, unit_kinds
from linkwright.rings.design.optimization.candidates import CandidatePool, GlobalSearch, method_named
from linkwright.rings.design.optimization.certificate import OptimumCertificate, certify
from linkwright.rings.design.optimization.local_search import MOST_DESIGNS, LocalOptimum, LocalSearch, Terms, value_of, violation_of
from linkwright.rings.design.optimization.nonlinear_solvers import SOLVERS
from linkwright.rings.design.optimization.problem import FEASIBLE, DesignPoint, DesignProblem, Goal, TimeIsUp

IN_LANES, SINGLY = 2048, 64  # candidates where designs share lanes, and where each is computed by itself
STARTS = 8  # local searches
SAME_DESIGN = 1e-4  # relative difference of two ends that count as one
PATIENCE = 1.0  # seconds before a line of progress appears on a terminal
EVERY = 5.0  # seconds between two lines of progress in a file or pipe


@dataclass(frozen=True)
class SearchOptions:
    """How long and how wide to search."""

    search: str = "sobol"
    count: int | None = None  # candidates over the bounds
    starts: int = STARTS
    seed: int = 0
    threads: int | None = None
    progress: Any = None
    enough: Any = None  # value of the goal at which the search ends: in SI, or as text with a unit
    solver: str = "slsqp"
    within: Any = None  # time after which the search ends with the best design so far: in s, or as text with a unit

    @classmethod
    def of(cls, **given: Any) -> SearchOptions:
        """Check options."""
        made = replace(cls(**{k: x for k, x in given.items() if k != "search"}), search=method_named(given.get("search")))
        for name in ("count", "starts", "seed"):
            value = getattr(made, name)
            if value is not None and (not isinstance(value, int | np.integer) or value < 0):
                raise UsageError(f"{name} is a whole number, zero or more, not {value!r:.30}.", name=name, value=value)
        if made.solver not in SOLVERS:
            raise UsageError(f"solver: '{made.solver}' is not known.", nearest(str(made.solver), list(SOLVERS), "Known"))
        if made.starts < 1:
            raise UsageError("starts is at least 1: the file's own design.", name="starts")
        return replace(made, within=_seconds(made.within))

    def candidates(self, problem: DesignProblem) -> int:
        """How many designs the global search takes."""
        if self.count is not None:
            return self.count
        return IN_LANES if problem.work.lanes else SINGLY


@dataclass
class SearchState:
    """Best design so far, and what was tried; Ctrl-C leaves it as it is."""

    problem: DesignProblem
    terms: Terms
    progress: SearchProgress
    best: DesignPoint | None = None
    value: float = np.inf
    violation: float = np.inf
    ends: list[LocalOptimum] = field(default_factory=list)
    pool: CandidatePool | None = None
    interrupted: bool = False
    late: bool = False  # the time was over
    enough: float = -np.inf  # value at which the search ends
    scale: float = 0.0  # size of the goal in the file's own design

    def watch(self, p: DesignPoint, value: float, violation: float) -> None:
        """Note a design that was evaluated."""
        better = violation < self.violation if self.violation > FEASIBLE else violation <= FEASIBLE and value < self.value
        if better:
            self.best, self.value, self.violation = p, value, violation
        self.progress.show(self)

    def ended(self, found: LocalOptimum) -> None:
        self.ends.append(found)
        self.watch(found.point, found.value, found.violation)

    @property
    def early(self) -> bool:
        """True if the search ended before it was through."""
        return self.interrupted or self.late

    @property
    def end(self) -> LocalOptimum | None:
        """The best end of a local search: a feasible one of least value, else the one that violates least."""
        feasible = [x for x in self.ends if x.feasible]
        if feasible:
            return min(feasible, key=lambda x: x.value)
        return min(self.ends, key=lambda x: x.violation, default=None)

    def certificate(self, end: LocalOptimum) -> OptimumCertificate:
        """Conditions at an end, and how many starts ended there."""
        size = max(abs(end.value), 1e-6 * self.scale)
        same = [x for x in self.ends if x.feasible and abs(x.value - end.value) <= SAME_DESIGN * size]
        return certify(end, len(same), len(self.ends), self.scale)


class SearchProgress:
    """A line with the best value so far and designs a second, or a function that is called.

    On a terminal the line is written over after a second; elsewhere (a pipe, a file) stderr gets a new line every few seconds.
    """

    def __init__(self, goal: Goal | None, problem: DesignProblem, given: Any):
        self.goal, self.problem = goal, problem
        self.call = given if callable(given) else None
        self.visible = self.call is None and (given is None or bool(given))
        self.terminal = sys.stderr.isatty()
        self._status: Any = None
        self._last = problem.tally.begun if not self.terminal else 0.0
        self.stage = ""

    def __enter__(self) -> SearchProgress:
        return self

    def __exit__(self, *problem: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, state: SearchState) -> None:
        """Report where the search is, or show it: at most ten times a second on a terminal."""
        tally = self.problem.tally
        if self.call is not None:
            value = None if state.best is None or state.violation > FEASIBLE else self._of(state.value)
            self.call({"stage": self.stage, "best": value, "designs": tally.designs, "seconds": tally.seconds})
        now = time.perf_counter()
        if not self.visible or now - self._last < (0.1 if self.terminal else EVERY) or tally.seconds <= PATIENCE:
            return
        self._last = now
        if self.terminal:
            self._write(self._line(state))
        else:
            print(f"{tally.seconds:.0f} s, {self._line(state)}", file=sys.stderr, flush=True)

    def _of(self, value: float) -> float:
        return value * (1.0 if self.goal is None else self.goal.sign)

    def _line(self, state: SearchState) -> str:
        tally = self.problem.tally
        best = "no feasible design yet"
        if state.violation <= FEASIBLE:
            value = self._of(state.value)
            best = f"best {self.goal.text_of(value) if self.goal is not None else f'{value:.6g}'}"
        return (
            f"{self.stage}: {best}, {counted(tally.designs, 'design', spec=',')}, {tally.designs / max(tally.seconds, 1e-9):,.0f} a second"
        )

    def _write(self, text: str) -> None:
        if self._status is None:
            from rich.console import Console
            from rich.status import Status

            self._status = Status(text, console=Console(stderr=True))
            self._status.start()
        self._status.update(text)


def minimized(goal: Goal) -> Terms:
    """Terms of a goal with signs such that they are minimized."""
    return tuple((goal.sign * w, q) for w, q in goal.terms)


def searched(problem: DesignProblem, goal: Goal, options: SearchOptions, further: Sequence[np.ndarray] = ()) -> SearchState:
    """Search for the best design of one goal; `further` are starts known from elsewhere."""
    terms = minimized(goal)
    place = problem.goals.index(goal)
    with SearchProgress(goal, problem, options.progress) as progress:
        state = SearchState(problem, terms, progress, enough=_enough(goal, options.enough))
        with limited(state, options):
            _search(state, lambda goals: goals[:, place], options, further)
        if state.late:
            _best_candidates(state)
    return state


def _best_candidates(state: SearchState) -> None:
    """Look at the best candidates of a search that had no time to begin with them."""
    problem = state.problem
    problem.rebase(None)
    for u in state.pool.starts(2) if state.pool is not None else ():
        p = problem.point(u)
        if p.ok:
            state.watch(p, value_of(state.terms, p), violation_of(problem.sought, p))


@contextmanager
def limited(state: SearchState, options: SearchOptions) -> Generator[None]:
    """Search until it is through, or until Ctrl-C or the end of the time: then the state says so, and has the best design so far."""
    tally = state.problem.tally
    tally.deadline = np.inf if options.within is None else options.within
    try:
        yield
    except KeyboardInterrupt:
        state.interrupted = True
    except TimeIsUp:
        state.late = True
    finally:
        tally.deadline = np.inf


def _seconds(given: Any) -> float | None:
    """The time that a search may take, in s."""
    if given is None:
        return None
    plain = isinstance(given, str) and given.strip().replace(".", "", 1).isdigit()
    seconds = unit_kinds.quantity(float(given) if plain else given, unit_kinds.TIME, "within")
    if not seconds > 0.0:
        raise UsageError(f"within is the time that the search may take, such as '2 min', not {given!r:.30}.", name="within", value=given)
    return seconds


def _search(state: SearchState, goal: Callable[[np.ndarray], np.ndarray], options: SearchOptions, further: Sequence[np.ndarray]) -> None:
    problem, progress = state.problem, state.progress
    progress.stage = "the file's own design"
    first = problem.point(problem.nominal)
    scale = 1.0
    if first.ok:
        value = value_of(state.terms, first)
        scale = state.scale = max(abs(value), 1e-12)
        state.watch(first, value, violation_of(problem.sought, first))
    problem.rebase(None)
    progress.stage = "candidates"
    pool = state.pool = CandidatePool(goal, scale)
    GlobalSearch(problem, pool, options.seed, lambda _: progress.show(state), options.threads).run(
        options.search, options.candidates(problem) if options.starts > 1 else 0
    )
    starts = [*([first.u] if first.ok else []), *further, *pool.starts(max(0, options.starts - 1 - len(further)))]
    for k, u in enumerate(starts):
        progress.stage = f"local search {k + 1} of {len(starts)}"
        problem.rebase(None)
        found = local(problem, state.terms, u, state.watch, solver=options.solver)
        if found is not None:
            state.ended(found)
        if state.violation <= FEASIBLE and state.value <= state.enough:
            return
    end = state.end
    if end is not None and not end.converged:
        progress.stage = "local search, continued"
        problem.rebase(None)
        found = local(problem, state.terms, end.u, state.watch, solver=options.solver, most=10 * MOST_DESIGNS)
        if found is not None and found.violation <= max(end.violation, FEASIBLE):
            state.ends.remove(end)
            state.ended(found)


def _enough(goal: Goal, given: Any) -> float:
    """The value that is enough, with the sign of what is minimized."""
    if given is None:
        return -np.inf
    unit = next((q.si for _, q in goal.terms if q.si), "") if len(goal.terms) == 1 else ""
    try:
        value = float(given) if not isinstance(given, str) else unit_kinds.quantity(given, parse_unit(unit)[1] if unit else NONE)
    except (TypeError, ValueError):
        raise UsageError(f"enough is a value of the goal, in SI or with its unit, not {given!r:.40}.", name="enough", value=given) from None
    return goal.sign * value


def local(
    problem: DesignProblem,
    terms: Terms,
    u: np.ndarray,
    watch: Any = None,
    limits: Any = None,
    *,
    solver: str = "slsqp",
    most: int = MOST_DESIGNS,
) -> LocalOptimum | None:
    """A local search; one that ends outside the limits first lowers the violations alone, then tries again."""
    limits = problem.sought if limits is None else limits
    search = LocalSearch(problem, terms, limits, watch, most=most, solver=solver)
    found = search.run(u)
    if found is None:
        return None
    found = search.polished(found)
    if found.feasible:
        return found
    relaxed = LocalSearch(problem, terms, limits, watch, elastic=True, most=most, solver=solver).run(found.u)
    if relaxed is None or not relaxed.feasible:
        return relaxed if relaxed is not None and relaxed.violation < found.violation else found
    again = search.run(relaxed.u)
    return relaxed if again is None else search.polished(again)

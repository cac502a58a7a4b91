"""Many runs at once: initial states, or sets of parameters, over threads; every run as if it were alone.

Runs are independent of each other, of the number of threads and of their order, bit by bit. Results are arrays: a hundred
thousand runs need no hundred thousand objects. `run(i)` gives one of them as an ordinary Trajectory.

One controller serves runs from several states only if its references do not begin at the position of the first one; this is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from linkwright.compiler import native
from linkwright.drives import actuation
from linkwright.errors import ChannelError, LinkwrightError, UsageError, counted
from linkwright.integrators import integrate_many
from linkwright.kernels.kernels import Variant
from linkwright.mechanics.kinematics.motion import Skeleton, motion
from linkwright.model.curves.references import read_reference
from linkwright.numerics.result_stores import Store
from linkwright.numerics.tolerances import OPEN, SAME_PLACE
from linkwright.results.channel_programs import Batch, ChannelGraph, Structure
from linkwright.results.channels import Channel, Channels
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.simulation import time_stepping
from linkwright.simulation.feedback.controller_program import BoundControl
from linkwright.simulation.feedback.task_coordinates import tasks_of, values_of
from linkwright.simulation.kernel_rows import entries
from linkwright.simulation.options import NOT_OF_A_BATCH, BatchOptions, Options, options_of
from linkwright.simulation.progress_bar import Bar
from linkwright.simulation.run import Simulation, shown, simulation
from linkwright.simulation.start_states import closed_starts

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled

def need_same_references(bound: BoundControl, runs: int, begin: Callable[[int], tuple[Skeleton, State]], times: np.ndarray) -> None:
    """Refuse runs for which a reference would be another one than for the first, at which the controller is bound; `begin(i)` is
    where run i begins."""
    reference = bound.written.reference
    if not isinstance(reference, Mapping):  # a State or a Trajectory does not depend on where a run begins
        return
    for (name, given), path in zip(reference.items(), bound.paths, strict=True):
        what, known = f"reference of '{name}'", [path(t)[0] for t in times]
        kinds, here = _here(*begin(0), name)
        elsewhere = read_reference(given, kinds, [x + 1.0 for x in here], what, bound.description, t=begin(0)[1].t)
        if all(elsewhere(t)[0] == x for t, x in zip(times, known, strict=True)):
            continue
        if any(np.abs(np.subtract(_here(*begin(i), name)[1], here)).max() > SAME_PLACE for i in range(1, runs)):
            raise UsageError(
                f"the {what} begins at the position of the first state, but '{name}' differs among the runs: give it start= (or center=), "
                "or simulate them one by one.",
                name=name,
            )


def _here(skel: Skeleton, st: State, name: str) -> tuple[list[str], list[float]]:
    """(kinds, values) of a coordinate's components at a state."""
    tasks = tasks_of(skel, name)
    return [k for x in tasks for k in x.kinds], values_of(tasks, skel, motion(skel, st.q, st.v), st.references)


MOST_CALLED_BACK = 50_000  # steps of a run whose inputs are Python functions, if nothing else is said
LOOKED_AT = 7  # times at which references are compared
MOST_NUMBERS = 250_000_000  # of the result: 2 GB


READERS: Store[str, RunReader] = Store()
READ_AT_ONCE = 64  # runs whose channels are read at a time


class RunReader:
    """Reads channels of runs of one mechanism, whose free numbers differ from run to run, in machine code."""

    def __init__(self, system: Compiled):
        kernels, loops = system.kernels, system.loops
        numbers = Structure(kernels, kernels.varied_loops, system.kernels.defaults["parameters"])
        self.graph = ChannelGraph.shared(loops, numbers, {}) if system.parameters else ChannelGraph.of(loops, {})
        self.loops, self.cuts = loops, set(system.tree.cuts)
        self.table = Channels(self.graph.skel)

    @classmethod
    def of(cls, system: Compiled) -> RunReader:
        """The reader of a mechanism, made once."""
        known = READERS.of(system)
        if "all" not in known:
            known["all"] = cls(system)
        return known["all"]

    def channel(self, name: str) -> Channel:
        """A channel by name; raise ChannelError where there is none, UsageError where it counts turns."""
        found = self.table[name]
        if found.winds is not None or name.split(".")[0] in self.cuts:
            raise UsageError(f"'{name}' counts turns, which a batch does not", name=name)
        return found

    def read(self, rows: Mapping[str, np.ndarray], channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Channels at samples in rows: q, v, t, free."""
        batch = Batch(self.loops, rows, graph=self.graph)
        batch.native = native.available()
        return batch.read(channels)


@dataclass(frozen=True, repr=False, eq=False)
class BatchRerun:
    """Does single runs of a batch again."""

    system: Compiled
    pairs: Sequence[tuple[State, np.ndarray]]
    duration: Any
    times: np.ndarray
    options: Options

    def __call__(self, i: int) -> Trajectory:
        from linkwright.simulation.run import DrivenStart, run_from

        st, parameters = self.pairs[i]
        given = replace(self.options, parameters=parameters if len(parameters) else None, sample_interval=self.times, progress=False)
        return run_from(self.system, DrivenStart(st), self.duration, given)


@dataclass(frozen=True, repr=False, eq=False)
class BatchRun:
    """Samples of many runs: q (runs, times, nq), v (runs, times, nv). `status` says how each ended; runs whose start does not exist with
    their parameters are NaN, "not closed", and `why` has the reasons by index."""

    system: Compiled = field(repr=False)
    t: np.ndarray
    q: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)
    status: tuple[str, ...] = field(repr=False)
    counters: dict[str, np.ndarray] = field(repr=False)
    again: BatchRerun = field(repr=False)
    failed: Mapping[int, LinkwrightError] = field(default_factory=dict, repr=False)

    @property
    def why(self) -> dict[int, str]:
        """Reasons of the runs that could not begin."""
        return {i: str(problem) for i, problem in self.failed.items()}

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        name = self.system.description.name
        return f"<BatchRun {name!r}: {counted(len(self), 'run')} of {counted(len(self.t), 'sample')}, {int(self.finished.sum())} finished>"

    def __getitem__(self, name: str) -> np.ndarray:
        """(runs, times, ...) of a channel: `batch["A"]`, `batch["A.v"]`, `batch["coupler.P"]`."""
        return self.read([name])[name]

    def read(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        """Channels of all runs that follow from positions and velocities; NaN for runs that could not begin."""
        entries = self.system.kernels.entries
        known = {f"{n}.v": self.v[..., i] for i, n in enumerate(entries["v"])} | {n: self.q[..., i] for i, n in enumerate(entries["q"])}
        known["t"] = np.broadcast_to(self.t, self.q.shape[:2])
        wanted = list(dict.fromkeys(names))
        left = [name for name in wanted if name not in known]
        return {name: known[name] for name in wanted if name in known} | (self._computed(left) if left else {})

    def _computed(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        reader = RunReader.of(self.system)
        channels = [reader.channel(name) for name in names]
        ok = np.array([i for i in range(len(self)) if i not in self.failed], dtype=int)
        samples, parts = len(self.t), dict[str, list[np.ndarray]]()
        for first in range(0, len(ok), READ_AT_ONCE):
            some = ok[first : first + READ_AT_ONCE]
            free = np.array([self.again.pairs[i][1] for i in some])
            rows = {"q": self.q[some], "v": self.v[some], "t": np.broadcast_to(self.t[:, None], (len(some), samples, 1))}
            rows["parameters"] = np.broadcast_to(free[:, None], (len(some), samples, free.shape[1]))
            for name, x in reader.read({key: x.reshape(len(some) * samples, -1) for key, x in rows.items()}, channels).items():
                parts.setdefault(name, []).append(x.reshape(len(some), samples, *x.shape[1:]))
        out = {}
        for name in names:
            if sum(map(len, parts.get(name, ()))) < len(ok):
                raise ChannelError(f"channel '{name}' of these runs has to be read run by run: batch.run(i)['{name}'].", name=name)
            found = np.concatenate(parts[name])
            out[name] = np.full((len(self), *found.shape[1:]), np.nan)
            out[name][ok] = found
        return out

    @property
    def finished(self) -> np.ndarray:
        """Mask of the runs that came to their end."""
        return np.array([s in ("finished", "event") for s in self.status])

    def run(self, i: int) -> Trajectory:
        """One of the runs as a Trajectory, done again by itself: the same bits."""
        if not -len(self) <= i < len(self):
            raise UsageError(f"there are {counted(len(self), 'run')}. Number {i} is not among them.")
        if i % len(self) in self.failed:
            raise self.failed[i % len(self)]
        return self.again(i % len(self))


def run_batch(
    system: Compiled,
    states: Sequence[State] | State,
    duration: Any,
    *,
    threads: int | None = None,
    **given_options: Unpack[BatchOptions],
) -> BatchRun:
    """Runs from many states, or from one state with many sets of the parameters (rows of `parameters`), or both in pairs."""
    options = options_of(given_options)
    given = [states] if isinstance(states, State) else list(states)
    if not given or not all(isinstance(st, State) for st in given):
        raise UsageError("a batch of runs takes a State or several (s.assemble gives them).", name="states")
    system.need_start(given[0], (), options.parameters is None)
    for name in NOT_OF_A_BATCH:
        if getattr(options, name):
            raise UsageError(f"a batch has no `{name}`. Simulate the runs one by one for that.", name=name)
    sets = parameter_sets(system, options.parameters)
    n = max(len(given), len(sets))
    if len(given) not in (1, n) or len(sets) not in (1, n):
        raise UsageError(
            f"{counted(len(given), 'state')} and {counted(len(sets), 'set')} of parameters do not pair up. Give equally many, "
            "or one of either."
        )
    pairs = [(given[i % len(given)], sets[i % len(sets)]) for i in range(n)]
    _check_closed(system, given, len(sets[0]) > 0)
    starts = closed_starts(system, [st for st, _ in pairs], np.array([x for _, x in pairs]))
    failed = {i: x for i, x in enumerate(starts) if isinstance(x, LinkwrightError)}
    if len(failed) == n:
        raise failed[0]
    pairs = [(st, x) for st, (_, x) in zip(starts, pairs, strict=True) if isinstance(st, State)]
    begin = next(i for i in range(n) if i not in failed)
    own = sets[begin % len(sets)]
    first = simulation(system, given[begin % len(given)], duration, replace(options, parameters=own if len(own) else None))
    if first.samples is None:
        raise UsageError("a batch needs samples at given times: sample_interval=0.01, or an array, not 'steps'.", name="sample_interval")
    done = _run(system, first, pairs, threads, duration, options)
    return _with_failures(done, failed, n) if failed else done


def _with_failures(done: BatchRun, failed: Mapping[int, LinkwrightError], n: int) -> BatchRun:
    """The batch with the runs that could not begin in their places."""
    there = np.array([i for i in range(n) if i not in failed])

    def spread(x: np.ndarray, empty: Any) -> np.ndarray:
        out = np.full((n, *x.shape[1:]), empty, dtype=x.dtype)
        out[there] = x
        return out

    status, pairs = ["not closed"] * n, [done.again.pairs[0]] * n
    for k, i in enumerate(there):
        status[i], pairs[i] = done.status[k], done.again.pairs[k]
    counters = {name: spread(x, 0) for name, x in done.counters.items()}
    again = replace(done.again, pairs=pairs)
    q, v = spread(done.q, np.nan), spread(done.v, np.nan)
    return replace(done, q=q, v=v, status=tuple(status), counters=counters, again=again, failed=failed)


def _check_closed(system: Compiled, states: Sequence[State], parameters: bool) -> None:
    """That all states belong to this mechanism and are on its loops; in one call for all."""
    nodes = [n.joint.name for n in system.loops.skel.tree.nodes]
    if any(st.skel is not states[0].skel and [n.joint.name for n in st.skel.tree.nodes] != nodes for st in states):
        raise UsageError("some states belong to a system with other cuts. s.mirror(st) gives the same state in this one.")
    if parameters or not len(system.loops.row_scale):
        return
    given = {"q": np.array([st.q for st in states]), "v": np.array([st.v for st in states]), "t": np.array([[st.t] for st in states])}
    given["near"] = np.array([system.loops.skel.pack(st.references) for st in states])
    phi = system.kernels.rows.at(**given).phi / system.loops.row_scale
    worst = int(np.argmax(np.abs(phi).max(axis=1)))
    if not np.abs(phi[worst]).max() < OPEN:
        problem = UsageError(
            f"the loops of state {worst} are open by {np.abs(phi[worst]).max():.2g} of the mechanism's size. s.assemble closes it."
        )
        problem.index = worst
        raise problem


def _check_alike(drivers: Sequence[str], states: Sequence[State]) -> None:
    """Times, and coordinates whose motion is prescribed, must be those of the first state: drives are bound to it."""
    if any(st.t != states[0].t for st in states):
        raise UsageError("the states of a batch have different times. Runs of a batch begin together.", name="states")
    for name in drivers:
        for what in (name, f"{name}.v"):
            values = [float(st[what]) for st in states]
            if max(values) - min(values) > 1e-9 * max(1.0, abs(values[0])):
                raise UsageError(
                    f"the motion of '{name}' is prescribed from the position of the first state, but '{what}' differs among the states: "
                    "assemble them alike, or simulate them one by one.",
                    name=name,
                )


def parameter_sets(system: Compiled, parameters: Any) -> list[np.ndarray]:
    """Values of all parameters: one set, or one for every row of an array or entry of arrays by name."""
    names, default = system.kernels.entries["parameters"], system.kernels.defaults["parameters"]
    if parameters is None or (isinstance(parameters, dict) and all(np.ndim(x) == 0 for x in parameters.values())):
        return [entries("parameters", parameters, names, default)]
    if isinstance(parameters, dict):
        columns = {k: np.asarray(x, dtype=float) for k, x in parameters.items()}
        count = max(len(x) for x in columns.values() if x.ndim)
        return [entries("parameters", {k: x if x.ndim == 0 else x[i] for k, x in columns.items()}, names, default) for i in range(count)]
    rows = np.atleast_2d(np.asarray(parameters, dtype=float))
    if rows.shape[1:] == default.shape and np.isfinite(rows).all():  # thousands of them at once
        return list(rows)
    return [entries("parameters", row, names, default) for row in rows]


def _run(
    system: Compiled,
    first: Simulation,
    pairs: list[tuple[State, np.ndarray]],
    threads: int | None,
    duration: Any,
    options: Options,
) -> BatchRun:
    o, times = first.options, first.samples
    assert times is not None
    parameters = first.parameters if len(first.parameters) else None
    act = actuation(system, first.drive, first.start, wrench=first.wrench, parameters=parameters, control=first.control)
    _check_alike(act.drivers, [st for st, _ in pairs])
    loop: Any = act.equations.control
    if loop is not None:
        looked = np.linspace(first.start.t, first.t_end, LOOKED_AT)
        need_same_references(loop.bound, len(pairs), lambda i: (system.kernels.equations(pairs[i][1]).loops.skel, pairs[i][0]), looked)
    limits = dict(o.of_the_stepper)
    if limits["most_steps"] is None and act.needs_kernel and act.program is None:
        limits["most_steps"] = MOST_CALLED_BACK
    form = Variant(act.drivers, tuple(act.armature) if np.any(act.armature) else (), (), first.needs_power)  # as a single run
    made = time_stepping.setup(
        system, references=first.start.references, stabilizer=o.stabilizer, formulation=o.formulation, actuation=act, variant=form,
        parameters=first.parameters if len(first.parameters) else None,
    )  # fmt: skip
    if made.problem.sampler is not None:
        raise UsageError("sampled controllers may remember, and need one run after the other: use simulate.")
    p = made.between(first.start.t, first.t_end)
    if len(pairs) * len(times) * p.n > MOST_NUMBERS:
        raise UsageError(
            f"{counted(len(pairs), 'run')} of {len(times)} samples do not fit into memory. Take fewer samples (sample_interval=) or "
            "fewer runs at once.",
            name="sample_interval",
        )
    works = np.zeros(p.n_power)
    more = np.concatenate([act.x0, works])
    Y = np.array([np.concatenate([st.q, st.v, more]) for st, _ in pairs])
    rows = _parameters(made, pairs, system)
    with Bar(0.0, float(len(pairs)), *shown(o.progress), "runs") as bar:
        found = integrate_many(
            p, Y, first.start.t, first.t_end, o.method, parameters=rows, samples=times, threads=threads, progress=bar, **limits
        )
    again = BatchRerun(system, pairs, duration, times, options)
    nq, nv = p.nq, p.nv
    return BatchRun(system, found.t, found.y[..., :nq], found.y[..., nq : nq + nv], tuple(found.status), dict(found.counters), again)


def _parameters(made: Any, pairs: Sequence[tuple[State, np.ndarray]], system: Compiled) -> np.ndarray:
    """Parameters of every run: those of the first, with its own turns of cut joints and values."""
    ends = np.cumsum([0, *(len(made.values[k]) for k in made.row.parameters)])
    spans = {k: slice(a, b) for k, a, b in zip(made.row.parameters, ends[:-1], ends[1:], strict=True)}
    rows = np.tile(np.concatenate([made.values[k] for k in made.row.parameters]), (len(pairs), 1))
    if len(made.values["near"]):
        rows[:, spans["near"]] = [system.loops.skel.pack(st.references) for st, _ in pairs]
    if "parameters" in spans:
        rows[:, spans["parameters"]] = [parameters for _, parameters in pairs]
    return rows

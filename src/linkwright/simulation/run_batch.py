"""Many runs at once: initial states, or sets of parameters, over threads; every run as if it were alone.

Runs are independent of each other, of the number of threads and of their order, bit by bit. Results are arrays: a hundred
thousand runs need no hundred thousand objects. `batch[i]` gives one of them as an ordinary Trajectory.

One controller serves runs from several states only if its references do not begin at the position of the first one; this is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from linkwright.compiler import native
from linkwright.drives import actuation
from linkwright.errors import ChannelError, LinkwrightError, UsageError, counted
from linkwright.integrators import integrate_many
from linkwright.integrators.problem import Solution
from linkwright.kernels.kernels import Variant
from linkwright.mechanics.inverse.known_motion import Acted
from linkwright.mechanics.kinematics.motion import Skeleton, motion
from linkwright.model.curves.references import read_reference
from linkwright.numerics.memory_and_threads import essentials
from linkwright.numerics.tolerances import OPEN, SAME_PLACE
from linkwright.properties import cached_property
from linkwright.results.channels import Channel, Channels
from linkwright.results.channels.cycle_loads import LoadSymbols
from linkwright.results.channels.graph import Batch, ChannelGraph, Structure
from linkwright.results.records import Column, acting
from linkwright.results.state import State, wound
from linkwright.results.trajectories import MotionSource, Trajectories
from linkwright.results.trajectory import Trajectory
from linkwright.simulation import time_stepping
from linkwright.simulation.feedback.controller_program import BoundControl
from linkwright.simulation.feedback.task_coordinates import tasks_of, values_of
from linkwright.simulation.kernel_rows import entries
from linkwright.simulation.options import NOT_OF_A_BATCH, BatchOptions, Options, options_of
from linkwright.simulation.run import Bar, DrivenStart, RunPiece, Simulation, run_from, shown, simulation
from linkwright.simulation.run_records import columns_of, solved
from linkwright.simulation.start_states import closed_starts

if TYPE_CHECKING:
    from linkwright.drives.actuation import Actuation
    from linkwright.results.channels.channel_list import ChannelList
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


AT_ONCE = 64  # runs whose channels are read at a time
FURTHER = "state x"  # states of the drives, and works: stored beside `STATE`


@dataclass(frozen=True, repr=False, eq=False)
class RunSource(MotionSource):
    """Runs of one mechanism, whose parameters and starts differ from run to run.

    What follows from q and v is read for all runs in machine code. Accelerations, multipliers and efforts follow from kernel `forward`, as
    in a single run: with them the motion is known, and everything that was recorded or loads anything is read for all runs together. Angles
    of cut joints, singular values, and what drives hold are read run by run.
    """

    __getstate__ = essentials

    system: Compiled
    pairs: Sequence[tuple[State, np.ndarray]]
    duration: Any
    times: np.ndarray
    options: Options
    failed: Mapping[int, LinkwrightError]

    noun = "run"

    @property
    def name(self) -> str:
        return self.system.description.name

    @property
    def units(self) -> tuple[str, ...]:
        return self.system.description.units

    @property
    def axes(self) -> str:
        return self.system.description.plane or "xyz"

    @property
    def drive(self) -> str:
        drives = self.system.drive_names
        return drives[0] if len(drives) == 1 else ""

    # ---------------------------------------------------------------- one of them

    def one(self, i: int) -> Trajectory:
        """One of the runs, done again by itself: the same bits."""
        if i in self.failed:
            raise self.failed[i]
        st, parameters = self.pairs[i]
        given = replace(self.options, parameters=parameters if len(parameters) else None, sample_interval=self.times, progress=False)
        return run_from(self.system, DrivenStart(st), self.duration, given)

    @cached_property
    def first(self) -> Trajectory:
        """The first run that there is, whose channels all others have."""
        return self.one(next(i for i in range(len(self.pairs)) if i not in self.failed))

    @property
    def channels(self) -> ChannelList:
        return self.first.channels

    def channel(self, name: str) -> Channel:
        return self._table[name] if name in self._table else self.first._channel(name)

    def dimension(self, name: str) -> str:
        return "time" if name == "t" else self.channel(name).dimension

    def check(self, text: Any) -> None:
        from linkwright.results.measures import check

        check([text], self.first)

    def numbers(self, i: int) -> dict[str, float]:
        return dict(zip(self.system.kernels.entries["parameters"], map(float, self.pairs[i][1]), strict=False))

    # ---------------------------------------------------------------- all of them

    def _graph(self, known: Mapping[str, Any]) -> ChannelGraph:
        kernels, loops = self.system.kernels, self.system.loops
        structure = Structure(kernels, kernels.varied_loops, kernels.defaults["parameters"])
        return ChannelGraph.shared(loops, structure, known) if self.system.parameters else ChannelGraph.of(loops, known)

    @cached_property
    def _table(self) -> Channels:
        """Channels that follow from q and v."""
        return Channels(self._graph({}).skel)

    def quick(self, name: str) -> bool:
        """True for channels that follow from q and v, which runs in lanes have to round-off."""
        entries = self.system.kernels.entries
        own = name in ("t", *entries["q"], *(f"{n}.v" for n in entries["v"]))
        return own or (self._plain(name) and self._table[name].winds is None)

    def _plain(self, name: str) -> bool:
        """True for channels that follow from q and v alone."""
        if name not in self._table or name.split(".")[0] in self.system.tree.cuts:
            return False
        channel, graph = self._table[name], self._graph({})
        try:
            return graph.traced(name, channel.raw or channel.read, graph.instant) is not None
        except ChannelError:  # which needs accelerations
            return False

    def read(self, t: Trajectories, names: list[str]) -> dict[str, np.ndarray]:
        q, v = t.values["state q"], t.values["state v"]
        entries = self.system.kernels.entries
        out = {f"{n}.v": v[..., i] for i, n in enumerate(entries["v"])} | {n: q[..., i] for i, n in enumerate(entries["q"])}
        out["t"] = np.broadcast_to(t.t, q.shape[:2])
        left = [name for name in names if name not in out]
        plain = [name for name in left if self._plain(name)]
        out |= self._read(t, {}, plain) if plain else {}
        left = [name for name in left if name not in out]
        if left:
            for name in left:
                self.first._channel(name)  # says what is meant, if there is none
            out |= self._known(t, left)
        left = [name for name in left if name not in out]
        return out | self._singly(t, left) if left else out

    def _read(
        self, t: Trajectories, more: Mapping[str, np.ndarray], names: Sequence[str], acted: Acted | None = None
    ) -> dict[str, np.ndarray]:
        """Channels on symbols of the structure, (runs, samples, ...); those left out that cannot be traced. `more`: arrays of the samples
        beyond q and v."""
        graph, there = self._graph(more), _there(t)
        table = Channels(graph.skel, {} if acted is None else LoadSymbols.of(graph, self.system.loops, ()).channels)
        channels, parts = [table[n] for n in names if n in table], dict[str, list[np.ndarray]]()
        parameters = np.array([x for _, x in self.pairs])
        for first in range(0, len(t), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            mask, count = there[some], there[some].sum(axis=1)
            rows = {"q": t.values["state q"][some][mask], "v": t.values["state v"][some][mask]}
            rows |= {"t": np.broadcast_to(t.t, mask.shape)[mask][:, None], "parameters": np.repeat(parameters[some], count, axis=0)}
            rows |= {name: x[some][mask] for name, x in more.items()}
            batch = Batch(self.system.loops, rows, None if acted is None else _of_rows(acted, some, mask), graph)
            batch.native = acted is None and native.available()
            for name, x in batch.read(channels).items():
                parts.setdefault(name, []).append(x)
        blocks, out = -(-len(t) // AT_ONCE), dict[str, np.ndarray]()
        for c in channels:
            if len(parts.get(c.name, ())) == blocks:
                found = np.concatenate(parts[c.name])
                out[c.name] = np.full((*there.shape, *found.shape[1:]), np.nan)
                out[c.name][there] = found
                if c.winds is not None:
                    for i, (st, _) in enumerate(self.pairs):
                        values, q = out[c.name][i, there[i]], t.values["state q"][i, there[i]]
                        out[c.name][i, there[i]] = wound(self.system.skel, st.q, q, values, c.winds)
        return out

    def _known(self, t: Trajectories, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Channels of the known motion of all runs; empty where single runs have to be looked at."""
        motion = self._motion(t)
        if motion is None:
            return {}
        out = {name: motion.columns[name].values for name in names if name in motion.columns}
        left, loads = [name for name in names if name not in out], self.first._load_channels
        cuts = self.system.tree.cuts
        plain = [n for n in left if n in self._table and n.split(".")[0] not in cuts] + [n for n in left if n in loads]
        if any(name in loads for name in plain):
            self.first._loads.check()
        return out | (self._read(t, {"a": motion.a}, plain, motion.acted) if plain else {})

    @cached_property
    def _motions(self) -> dict[int, tuple[Any, KnownMotion | None]]:
        return {}

    def _motion(self, t: Trajectories) -> KnownMotion | None:
        """Accelerations and what acted at the samples of all runs, found once."""
        q = t.values["state q"]
        if id(q) not in self._motions:
            self._motions[id(q)] = q, self._found_motion(t)
        return self._motions[id(q)][1]

    def _found_motion(self, t: Trajectories) -> KnownMotion | None:
        """The same, as `run_records` finds it for one run."""
        st, parameters = self.pairs[next(i for i in range(len(self.pairs)) if i not in self.failed)]
        sim = simulation(self.system, st, self.duration, replace(self.options, parameters=parameters if len(parameters) else None))
        _, made = _setup(sim)
        there = _there(t)
        y = np.concatenate([t.values[name] for name in ("state q", "state v", FURTHER)], axis=2)[there]
        rows = np.repeat(np.array([x for _, x in self.pairs]), there.sum(axis=1), axis=0)
        found = _together(sim, made, np.broadcast_to(t.t, there.shape)[there], y, rows)
        if found is None:
            return None

        def spread(x: np.ndarray) -> np.ndarray:
            out = np.full((*there.shape, *x.shape[1:]), np.nan)
            out[there] = x
            return out

        columns = {name: Column(spread(x.values), x.dimension) for name, x in found.columns.items()}
        efforts, wrenches = ({n: spread(x) for n, x in of.items()} for of in (found.acted.efforts, found.acted.wrenches))
        return KnownMotion(spread(found.a), Acted(spread(found.acted.lam), efforts, wrenches), columns)

    def _singly(self, t: Trajectories, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Channels of one run after the other."""
        out = dict[str, np.ndarray]()
        for i in (i for i in range(len(t)) if i not in self.failed):
            c = self.one(i)
            for name, x in c.read(names).items():
                every = out.setdefault(name, np.full((len(t), len(self.times), *x.shape[1:]), np.nan))
                every[i, : len(x)] = x[: len(self.times)]
        return out


class KnownMotion(NamedTuple):
    """Accelerations, what acted, and what was recorded, at the samples of runs."""

    a: np.ndarray
    acted: Acted
    columns: Mapping[str, Column]


def _there(t: Trajectories) -> np.ndarray:
    """(runs, samples): True where a run has come to."""
    return np.asarray(np.isfinite(t.values["state q"]).all(axis=2))


def _together(sim: Simulation, setup: time_stepping.Setup, t: np.ndarray, y: np.ndarray, parameters: np.ndarray) -> KnownMotion | None:
    """Samples of runs like `sim`, whose states and parameters are rows; None where a run has to be looked at by itself: with rigid stops,
    turns of cut joints that forces count, inputs that are Python functions, or a sample without multipliers."""
    counted_, called = setup.problem.n_near > 0, setup.problem.inputs is not None and setup.actuation.program is None
    if sim.ends or counted_ or called or setup.actuation.equations.control is not None:
        return None
    setup = replace(setup, values={**setup.values, "parameters": parameters} if len(sim.parameters) else setup.values)
    solution = Solution(t, y, (), "finished", "", {}, float(t[-1]), y[-1])
    piece = RunPiece(time_stepping.Evaluator(setup, sim.options.method, {}), solution, sim.start, 0, ())
    before = len(sim.notes)
    found = solved(sim, piece)
    if len(sim.notes) > before:
        return None
    sim.pieces.append(piece)
    columns = columns_of(sim, [found])
    return KnownMotion(found["a"], Acted(found["lam"], *acting(sim.system.skel, columns)), columns)


def _of_rows(acted: Acted, some: slice, mask: np.ndarray) -> Acted:
    """What acted at the samples of some runs."""
    efforts, wrenches = ({name: x[some][mask] for name, x in of.items()} for of in (acted.efforts, acted.wrenches))
    return Acted(acted.lam[some][mask], efforts, wrenches)


def run_batch(
    system: Compiled,
    states: Sequence[State] | State,
    duration: Any,
    *,
    threads: int | None = None,
    **given_options: Unpack[BatchOptions],
) -> Trajectories:
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
    pairs = [(st if isinstance(st, State) else own, x) for st, (own, x) in zip(starts, pairs, strict=True)]
    begin = next(i for i in range(n) if i not in failed)
    own = sets[begin % len(sets)]
    first = simulation(system, given[begin % len(given)], duration, replace(options, parameters=own if len(own) else None))
    if first.samples is None:
        raise UsageError("a batch needs samples at given times: sample_interval=0.01, or an array, not 'steps'.", name="sample_interval")
    done = _run(system, first, pairs, threads, duration, options, failed)
    return done


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


def _setup(first: Simulation) -> tuple[Actuation, time_stepping.Setup]:
    """The drives, and the problem of the time steppers, of all runs: the same as of the first one alone."""
    o, system = first.options, first.system
    parameters = first.parameters if len(first.parameters) else None
    act = actuation(system, first.drive, first.start, wrench=first.wrench, parameters=parameters, control=first.control)
    form = Variant(act.drivers, tuple(act.armature) if np.any(act.armature) else (), (), first.needs_power)
    made = time_stepping.setup(
        system, references=first.start.references, stabilizer=o.stabilizer, formulation=o.formulation, actuation=act, variant=form,
        parameters=parameters,
    )  # fmt: skip
    return act, made


def _run(
    system: Compiled,
    first: Simulation,
    pairs: list[tuple[State, np.ndarray]],
    threads: int | None,
    duration: Any,
    options: Options,
    failed: Mapping[int, LinkwrightError],
) -> Trajectories:
    o, times = first.options, first.samples
    assert times is not None
    there = [i for i in range(len(pairs)) if i not in failed]
    begun = [pairs[i] for i in there]
    act, made = _setup(first)
    _check_alike(act.drivers, [st for st, _ in begun])
    loop: Any = act.equations.control
    if loop is not None:
        looked = np.linspace(first.start.t, first.t_end, LOOKED_AT)
        need_same_references(loop.bound, len(begun), lambda i: (system.kernels.equations(begun[i][1]).loops.skel, begun[i][0]), looked)
    limits = dict(o.of_the_stepper)
    if limits["most_steps"] is None and act.needs_kernel and act.program is None:
        limits["most_steps"] = MOST_CALLED_BACK
    if made.problem.sampler is not None:
        raise UsageError("sampled controllers may remember, and need one run after the other: use simulate.")
    p = made.between(first.start.t, first.t_end)
    if len(begun) * len(times) * p.n > MOST_NUMBERS:
        raise UsageError(
            f"{counted(len(begun), 'run')} of {len(times)} samples do not fit into memory. Take fewer samples (sample_interval=) or "
            "fewer runs at once.",
            name="sample_interval",
        )
    works = np.zeros(p.n_power)
    more = np.concatenate([act.x0, works])
    Y = np.array([np.concatenate([st.q, st.v, more]) for st, _ in begun])
    rows = _parameters(made, begun, system)
    with Bar(0.0, float(len(begun)), *shown(o.progress), "runs") as bar:
        found = integrate_many(
            p, Y, first.start.t, first.t_end, o.method, parameters=rows, samples=times, threads=threads, progress=bar, **limits
        )
    ok, why = np.zeros(len(pairs), dtype=bool), {i: str(problem) for i, problem in failed.items()}
    for k, i in enumerate(there):
        ok[i] = found.status[k] in ("finished", "event")
        why |= {} if ok[i] else {i: f"ended early: {found.status[k]}"}
    y = found.y
    if failed:
        y = np.full((len(pairs), *y.shape[1:]), np.nan)
        y[there] = found.y
    values = {"state q": y[..., : p.nq], "state v": y[..., p.nq : p.nq + p.nv], FURTHER: y[..., p.nq + p.nv :]}
    return Trajectories(RunSource(system, pairs, duration, times, options, failed), found.t, ok, values, dict(sorted(why.items())))


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

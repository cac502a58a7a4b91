"""Result of optimal control: the motion in time, its evidence, laws of the drives, and its replay by the simulation."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, overload

import numpy as np

from linkwright.api import Result, State, Table, Trajectory, calls_explained, check_results, counted, drives, records
from linkwright.properties import cached_property
from linkwright.rings.robots.optimal.contact_phases import READS
from linkwright.rings.robots.optimal.request import Limits, Setting
from linkwright.rings.robots.optimal.search import Found
from linkwright.rings.robots.time_optimal.limited_terms import forces_of, value_of
from linkwright.rings.robots.time_optimal.limits import MotionLimit
from linkwright.rings.robots.time_optimal.result import DriveLaw, Piecewise, quintics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import PlotOptions

MET = 1e-6  # share of a limit by which a motion may exceed it at its samples


class MotionPhase(NamedTuple):
    """A phase of a motion with scheduled contacts: what is held, when, and the impact at its beginning."""

    contacts: tuple[str, ...]
    start: float
    end: float
    impulses: dict[str, float]  # normal impulse by contact, N s
    lost: float  # energy that the impact takes, J


class Replay(NamedTuple):
    """A run under the efforts of an optimal motion alone, and how far it ends from the end of that motion, by coordinate in SI."""

    run: Trajectory
    deviation: dict[str, float]


@calls_explained
@dataclass(frozen=True, repr=False, eq=False)
class OptimalMotion(Result):
    """An optimal motion. `motion["A.torque"]` reads a channel, `.drives` are laws of the coordinates, `.torques` the efforts over time.

    `trajectory` has samples at nodes and middles of the intervals. Efforts may jump at nodes: a sample has the value after the jump.
    """

    goal: str
    value: float  # of the goal, SI: s, s (shares of the limits squared), J
    trajectory: Trajectory
    limits: tuple[MotionLimit, ...]
    coordinates: tuple[str, ...]
    residuals: dict[str, float]  # optimality, equations of motion at the nodes, complementarity; dimensionless
    mesh_error: float  # the largest miss of a node by integrating the interval before it, dimensionless
    tolerance: float
    iterations: int
    switches: tuple[float, ...]  # times at which efforts jump, s
    efforts: dict[str, Piecewise] = field(repr=False)
    before: np.ndarray = field(repr=False)  # accelerations of the coordinates before the samples, where they jump
    after: np.ndarray = field(repr=False)
    start: State = field(repr=False)
    phases: tuple[MotionPhase, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def time(self) -> float:
        """Duration, s."""
        return float(self.trajectory.t[-1])

    @property
    def t(self) -> np.ndarray:
        return self.trajectory.t

    @overload
    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: slice) -> Trajectory: ...
    @overload
    def __getitem__(self, key: int) -> State: ...
    def __getitem__(self, key: str | tuple[str, str] | slice | int) -> np.ndarray | Trajectory | State:
        """`f["A.torque"]` in SI, `f["A", "deg"]` in a unit. Samples and states are as in the `trajectory`."""
        return self.trajectory[key]

    def _ipython_key_completions_(self) -> list[str]:
        """Names after `f["` and Tab."""
        return list(self.trajectory.channels)

    @cached_property
    def drives(self) -> dict[str, DriveLaw]:
        """Laws of the coordinates over time, for controllers, `m.follow` and prescribed motions."""
        c, out = self.trajectory, {}
        for i, name in enumerate(self.coordinates):
            curve = quintics(c.t, c[name], c[f"{name}.v"], self.after[:, i], self.before[:, i])
            out[name] = DriveLaw(name, curve)
        return out

    @cached_property
    def torques(self) -> dict[str, Any]:
        """Efforts of the drives over time as drives of a simulation: `m.simulate(f.time, start=f.start, drive=f.torques)`."""
        return {name: drives.torque(curve) for name, curve in self.efforts.items()}

    def replay(self) -> Replay:
        """Simulate the mechanism under the efforts alone, and return the run and how far it ends from the motion."""
        system = self.trajectory.system
        run = system.simulate(self.start, self.time, drive=self.torques)
        return Replay(run, {n: float(run[n][-1] - self.trajectory[n][-1]) for n in self.coordinates})

    @property
    def ok(self) -> bool:
        """True if the motion is optimal, keeps its limits and meets the tolerance of the mesh."""
        return all(x.verdict == "passed" for x in self.checks())

    def checks(self) -> check_results.Checks:
        """Return the conditions of optimality, the error of the mesh, and every limit, computed from the finished motion."""
        c, out = check_results.Check, []
        for name, value in self.residuals.items():
            out.append(c.below(name, value, 1e-6, f"{value:.2g}"))
        out.append(c.below("mesh error", self.mesh_error, self.tolerance, f"{self.mesh_error:.2g} between nodes"))
        for x, share, t in self._uses:
            out.append(c.below(x.name, share, 1.0 + MET, f"{100.0 * share:.2f} % of {x.range} at t = {t:.4g} s"))
        return check_results.Checks(tuple(out))

    @cached_property
    def _uses(self) -> list[tuple[MotionLimit, float, float]]:
        """Largest share of every limit, and its time."""
        c, out = self.trajectory, []
        for x in self.limits:
            if x.kind in ("load", "effort"):
                value = value_of(x, forces_of(c, [x.channel])[x.channel])
            else:
                value = np.asarray(c[x.channel], dtype=float)
                value = value if value.ndim == 1 else np.sqrt((value * value).sum(axis=1))
            share = np.abs(x.use(value))
            i = int(np.argmax(share))
            out.append((x, float(share[i]), float(c.t[i])))
        return out

    def as_dict(self) -> dict[str, Any]:
        """Return goal, time and evidence as plain data, in SI and radians. `trajectory` has the samples."""
        limits = [{"name": x.name, "share": share, "t": t} for x, share, t in self._uses]
        return {
            "goal": self.goal, "value": self.value, "time": self.time, "ok": bool(self.ok), "limits": limits, "residuals": self.residuals,
            "phases": [x._asdict() for x in self.phases],
            "mesh_error": self.mesh_error, "iterations": self.iterations, "switches": list(self.switches), "notes": list(self.notes),
            "t": [float(x) for x in self.t],
        }  # fmt: skip

    @property
    def _effort_names(self) -> list[str]:
        names = list(self.trajectory.channels)
        return [next(k for k in (f"{n}.torque", f"{n}.force") if k in names) for n in self.efforts]

    def table(self) -> Table:
        """Return a row for each limit: what is allowed, the largest share, and when."""
        heads = [("limit", ""), ("allowed", ""), ("used", "%", ".2f"), ("at t", "s", ".4f")]
        return Table.of(heads, [(x.name, x.range, 100.0 * share, t) for x, share, t in self._uses], "limits", self.notes)

    def phase_table(self) -> Table:
        """Return a row for each phase: contacts that are held, times, and the impact at its beginning."""
        heads = [("held", ""), ("from", "s", ".4f"), ("to", "s", ".4f"), ("impulse", "N s", ".4g"), ("energy lost", "J", ".4g")]
        rows = [(", ".join(x.contacts) or "none", x.start, x.end, sum(x.impulses.values()), x.lost) for x in self.phases]
        return Table.of(heads, rows, "phases")

    def __repr__(self) -> str:
        return f"<OptimalMotion {self.goal!r}: {self.time:.6g} s, {counted(len(self.t), 'sample')}>"

    def __str__(self) -> str:
        unit = {"least time": "s", "least effort": "s of full effort", "least energy": "J"}[self.goal]
        head = f"{self.goal}: {self.time:.6g} s, goal {self.value:.6g} {unit}, optimal to {self.residuals['optimality']:.1e}"
        evidence = f"{counted(self.iterations, 'step')}, error between nodes {self.mesh_error:.1e}"
        table = [x.text() for x, there in ((self.phase_table(), self.phases), (self.table(), self.limits)) if there]
        return "\n".join([f"{head}, {evidence}", *table, *(f"note: {x}" for x in self.notes)])

    def plot(self, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Unpack[PlotOptions]) -> Figure | Path:
        """Plot channels over time. By default coordinates, and torques and forces of the drives."""
        return self.trajectory.plot([*self.coordinates, *self._effort_names] if what is None else what, path, **options)


def optimal_motion(setting: Setting, goal: str, allowed: Limits, found: Found, tolerance: float) -> OptimalMotion:
    """The result in time."""
    m, task = found.motion, found.task
    nodes = found.mesh.times(m.durations)
    N, f = len(m.middle), task.n // 2
    t = np.empty(2 * N + 1)
    t[::2], t[1::2] = nodes, 0.5 * (nodes[1:] + nodes[:-1])
    place = np.concatenate([np.stack([np.arange(N), N + np.arange(N)], axis=1).ravel(), [3 * N - 1]])
    out = task.points.at(m.z, m.q, slopes=False)
    q, v, a, lam = (x[place] for x in (m.q, out["v"], out["a"], out["lam"]))
    before = out["f"][np.concatenate([[0], np.stack([N + np.arange(N), 2 * N + np.arange(N)], axis=1).ravel()])]
    skel, refs = setting.core.skel, [setting.start.references]
    for row in q:
        refs.append(setting.core.loops.counted_references(row, refs[-1]))
    columns = {}
    for i, name in enumerate(setting.drives):
        kind = "torque" if setting.sample.dimension(name) == "angle" else "force"
        u = m.z[place, task.n + i]
        columns[f"{name}.{kind}"] = records.Column(u, kind)
        columns[f"{name}.power"] = records.Column(out["reads"][place, len(task.points.motion.reads) + i], "power")
    phases = () if task.schedule is None else _phases(setting, found, nodes)
    columns |= _touch_columns(found, place)
    arrays = {f"{records.CONTACT}{body}": out["wrenches"][place, i] for i, body in enumerate(task.points.motion.touched)}
    settings = {"goal": goal, "end": float(t[-1]), "drive": {}}
    c = Trajectory(
        skel, t, q, v, a, refs[1:], drive=setting.drives[0], system=setting.system, drives=setting.drives, columns=columns,
        arrays={"lam": lam, **arrays}, settings=settings, events=_events(phases), loops=setting.core.loops,
    )  # fmt: skip
    efforts = {name: _linear(nodes, m.u[:, 0, i], m.u[:, 1, i]) for i, name in enumerate(setting.drives)}
    residuals = found.solution.residuals
    evidence = dict(zip(("optimality", "equations of motion", "complementarity"), residuals, strict=True))
    notes = []
    worst = float(found.errors.max())
    if worst > tolerance:
        notes.append(f"the error between nodes is {worst:.2g}, and {tolerance:.2g} was asked for: more steps make it smaller.")
    start = State(skel, m.q[0].copy(), out["v"][0].copy(), refs[1], 0.0)
    return OptimalMotion(
        goal, found.goal, c, allowed.every, setting.coordinates, evidence, worst, tolerance, found.iterations,
        _switches(found, nodes), efforts, before, out["f"][place][:, :f], start, phases, tuple(notes),
    )  # fmt: skip


def _switches(found: Found, nodes: np.ndarray) -> tuple[float, ...]:
    """Times at which an effort jumps by a tenth of its size or more."""
    jump = np.abs(found.motion.u[1:, 0] - found.motion.u[:-1, 1]) * found.task.share
    return tuple(float(x) for x in nodes[1:-1][(jump > 0.1).any(axis=1)])


def _phases(setting: Setting, found: Found, nodes: np.ndarray) -> tuple[MotionPhase, ...]:
    """Phases with their impacts: what an impact takes is half the impulses times the speeds before and after it, with changed sign."""
    m, phase, schedule, f = found.motion, found.mesh.phase, found.task.schedule, found.task.n // 2
    assert schedule is not None
    out, count = [], len(schedule.touches)
    blows = {int(k): i for i, k in enumerate(m.struck)}
    for a, x in enumerate(schedule.phases):
        where = np.flatnonzero(phase == a)
        k, impulses, lost = int(where[0]), {}, 0.0
        names = tuple(schedule.names[i] for i in sorted(x.held))
        if k in blows:
            P, speeds = m.impulses[blows[k]], []
            for w in (m.x[k, f:], m.after[blows[k]]):
                z = np.concatenate([m.x[k, :f], w, np.zeros(found.task.p)])[None]
                reads = found.task.points.at(z, m.q[k][None], slopes=False)["reads"][0, -READS * count :]
                speeds.append((reads / schedule.scale).reshape(count, READS)[:, 1:3].ravel())
            impulses = {schedule.names[i]: float(P[2 * i]) for i in sorted(x.held)}
            lost = float(-0.5 * P @ (speeds[0] + speeds[1]))
        out.append(MotionPhase(names, float(nodes[k]), float(nodes[where[-1] + 1]), impulses, lost))
    return tuple(out)


def _events(phases: tuple[MotionPhase, ...]) -> tuple[records.RunEvent, ...]:
    """Where a contact closes or opens."""
    out, before = [], set[str]()
    for x in phases:
        for name in sorted(before - set(x.contacts)):
            out.append(records.RunEvent(x.start, f"{name} leaves", {}))
        for name in sorted(set(x.contacts) - before):
            out.append(records.RunEvent(x.start, f"{name} touches", {"energy lost": x.lost}))
        before = set(x.contacts)
    return tuple(out)


def _touch_columns(found: Found, place: np.ndarray) -> dict[str, records.Column]:
    """Force, friction and state of every contact at the samples."""
    task, m = found.task, found.motion
    out: dict[str, records.Column] = {}
    if task.schedule is None:
        return out
    z, phase = m.z[place], np.tile(found.mesh.phase, 3)[place]
    for i, name in enumerate(task.schedule.names):
        at = task.n + task.drives + 2 * i
        states = np.array([1.0 if i in x.held else 0.0 for x in task.schedule.phases])
        out[f"{name}.force"] = records.Column(z[:, at], "force")
        out[f"{name}.friction"] = records.Column(z[:, at + 1], "force")
        out[f"{name}.state"] = records.Column(states[phase], "none")
    return out


def _linear(t: np.ndarray, first: np.ndarray, last: np.ndarray) -> Piecewise:
    """Linear pieces between times, which may jump there; the last value after them."""
    c = np.zeros((len(t) + 1, 2))
    c[1:-1, 0], c[1:-1, 1] = first, (last - first) / np.diff(t)
    c[0, 0], c[-1, 0] = first[0], last[-1]
    return Piecewise(t, c)

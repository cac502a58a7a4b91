"""Direct collocation: an optimal motion as a sparse nonlinear program, by Simpson's rule in every interval [Hargraves1987, Betts2010].

Unknowns are coordinates and speeds x = (theta, theta') at nodes and in the middle of the intervals, efforts u at both ends of every
interval (linear between them, so that they may jump at nodes), durations of phases, and slack in limits that are not of unknowns alone:

    x_m = (x_k + x_k+1) / 2 + h (F_k - F_k+1) / 8          x_k+1 = x_k + h (F_k + 4 F_m + F_k+1) / 6

q follows theta on the loops at every node and middle, to round-off, and the branch never changes. Everything is dimensionless inside.

Scheduled contacts add their forces to the efforts (`contact_phases`). A closed contact has no speed at the middle and at the end of every
interval, which determines its forces at both ends, and its gap is zero where it closes. There the speeds jump: x_k is the state before the
impact, `after` the speeds after it, and both differ by what the impulses P do, df/du P.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import SAME_NUMBER
from linkwright.properties import cached_property
from linkwright.rings.robots.optimal.contact_phases import Schedule
from linkwright.rings.robots.optimal.states_on_loops import MotionPoints, spread

Array = np.ndarray
SIMPSON = np.array([1.0, 4.0, 1.0]) / 6.0
MIDDLE = np.array([1.0, 0.0, -1.0]) / 8.0
UNIQUE = 1e-4  # of the effort, dimensionless, in the goal of least energy: without it the efforts of a coasting mechanism are not unique


@dataclass(frozen=True, eq=False)
class Mesh:
    """Intervals: the phase of each, and its share of the duration of that phase."""

    phase: Array
    share: Array
    held: Array | None = None  # (phases, p): efforts that are constant in a phase; NaN: free

    @classmethod
    def even(cls, count: int) -> Mesh:
        return cls(np.zeros(count, dtype=int), np.full(count, 1.0 / count))

    @property
    def phases(self) -> int:
        return int(self.phase[-1]) + 1

    def times(self, durations: Array) -> Array:
        """Times of the nodes."""
        return np.concatenate([[0.0], np.cumsum(self.share * durations[self.phase])])


@dataclass(frozen=True, eq=False)
class Task:
    """An optimal motion in SI: the goal, and everything that is allowed."""

    points: MotionPoints
    goal: str  # "time", "effort", "energy"
    weights: Array  # sizes of the efforts, and of the forces of contacts after them
    drives: int  # how many are efforts: squares of their shares are added up
    power: tuple[int, ...]  # reads that are the powers of the drives, of the goal "energy"
    limited: tuple[int, ...]  # reads that are limited at all times
    read_low: Array
    read_high: Array
    z_low: Array  # of coordinates, speeds and efforts at all times
    z_high: Array
    start_low: Array  # of coordinates and speeds at the start; equal ends: given
    start_high: Array
    end_low: Array
    end_high: Array
    end_reads: tuple[tuple[int, float, float], ...]  # reads at the end, with their ranges
    advance: Array | None  # periodic: end minus start of coordinates and speeds, NaN where nothing is asked
    partner: Array | None  # periodic: the coordinate or speed at the start that each one at the end is compared with
    duration: tuple[float, float]
    schedule: Schedule | None = None

    @property
    def n(self) -> int:
        return 2 * len(self.points.states.coordinates)

    @property
    def p(self) -> int:
        return len(self.weights)

    @cached_property
    def share(self) -> Array:
        """One over the size of every effort; zero for forces of contacts, which cost nothing."""
        return np.where(np.arange(self.p) < self.drives, 1.0 / self.weights, 0.0)

    def mesh(self, count: int) -> Mesh:
        """Even intervals, as many in every phase of the schedule as its part of the whole, two or more and of even number."""
        if self.schedule is None:
            return Mesh.even(count)
        return Mesh(*self.schedule.intervals(count), self.schedule.held(self.drives))


@dataclass(eq=False)
class MotionIterate:
    """A motion in the unknowns of a mesh, in SI."""

    x: Array  # (N + 1, n)
    middle: Array  # (N, n)
    u: Array  # (N, 2, p)
    durations: Array
    q: Array  # (3 N, nq): first ends, middles, last ends
    theta: Array  # (3 N, f), of q
    struck: Array = field(default_factory=lambda: np.zeros(0, dtype=int))  # intervals that begin with an impact
    after: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (impacts, f): speeds there
    impulses: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (impacts, forces of contacts), N s

    @property
    def first(self) -> Array:
        """States at the first ends of the intervals, after impacts: (N, n)."""
        out = self.x[:-1].copy()
        if len(self.struck):
            out[self.struck, out.shape[1] // 2 :] = self.after
        return out

    @property
    def z(self) -> Array:
        """States and efforts at first ends, middles and last ends, (3 N, n + p)."""
        mean = 0.5 * (self.u[:, 0] + self.u[:, 1])
        return np.concatenate(
            [
                np.concatenate([self.first, self.u[:, 0]], axis=1),
                np.concatenate([self.middle, mean], axis=1),
                np.concatenate([self.x[1:], self.u[:, 1]], axis=1),
            ]
        )


@dataclass(eq=False)
class Collocation:
    """The nonlinear program of a task on a mesh; see `interior_point.Program`."""

    task: Task
    mesh: Mesh
    begin: MotionIterate
    at: MotionIterate = field(init=False)
    found: dict[str, Array] = field(init=False)

    def __post_init__(self) -> None:
        t, N = self.task, len(self.mesh.share)
        n, p = t.n, t.p
        self.N, self.energy = N, len(t.power)
        self.T0 = float(self.begin.durations.sum())
        f = n // 2
        self.sizes = np.concatenate([t.points.sizes[:f], t.points.sizes[:f] / self.T0, t.points.sizes[n:]])
        sizes = {"x": (N + 1) * n, "middle": N * n, "u": 2 * N * p, "power": 2 * N * self.energy, "T": self.mesh.phases}
        sizes |= {"slack": 3 * N * len(t.limited), "spare": 3 * N * self.energy, "end": sum(a < b for _, a, b in t.end_reads)}
        self.struck = np.zeros(0, dtype=int) if t.schedule is None else t.schedule.struck(self.mesh.phase)
        J, c = len(self.struck), p - t.drives
        sizes |= {"after": J * f, "impulse": J * c, "cone": J * c}
        ends = np.cumsum([0, *sizes.values()])
        self.spans = {name: slice(int(a), int(b)) for name, a, b in zip(sizes, ends, ends[1:], strict=False)}
        self.count = int(ends[-1])
        self.power_size = self._power_size()
        self._bounds()
        self._last = self.begin.theta, self.begin.q
        self._plan()

    def _power_size(self) -> float:
        t = self.task
        return float(max(1e-12, np.max(t.weights[: t.drives], initial=1e-12) * np.max(self.sizes[: t.n // 2], initial=1.0) / self.T0))

    # ---------------------------------------------------------------- unknowns

    def _bounds(self) -> None:
        t, N, n, p = self.task, self.N, self.task.n, self.task.p
        low, high = np.full(self.count, -np.inf), np.full(self.count, np.inf)
        s = self.sizes
        for fields, out, pick in ((("start_low", "end_low"), low, np.maximum), (("start_high", "end_high"), high, np.minimum)):
            every = (t.z_low if out is low else t.z_high) / s
            rows = spread(every[:n], N + 1)
            for k, name in ((0, fields[0]), (N, fields[1])):
                rows[k] = pick(rows[k], getattr(t, name) / s[:n])
            out[self.spans["x"]] = rows.ravel()
            out[self.spans["middle"]] = spread(every[:n], N).ravel()
            efforts = spread(every[n:], 2 * N).reshape(N, 2, p)
            if self.mesh.held is not None:
                held = self.mesh.held[self.mesh.phase][:, None] / s[n:]
                efforts = np.where(np.isfinite(held), held, efforts)
            out[self.spans["u"]] = efforts.ravel()
            read = (t.read_low if out is low else t.read_high) / np.ones(len(t.limited))
            out[self.spans["slack"]] = spread(read, 3 * N).ravel()
            out[self.spans["after"]] = spread(every[n // 2 : n], len(self.struck)).ravel()
            out[self.spans["end"]] = [(a if out is low else b) for _, a, b in t.end_reads if a < b]
        low[self.spans["power"]] = low[self.spans["spare"]] = 0.0
        low[self.spans["T"]] = 1e-3 / self.mesh.phases**2 if self.mesh.phases > 1 else t.duration[0] / self.T0
        high[self.spans["T"]] = t.duration[1] / self.T0
        if t.schedule is not None:
            self._schedule_bounds(t.schedule, low, high)
        given = np.isfinite(low) & np.isfinite(high)
        ends = np.where(given, low, 0.0), np.where(given, high, 0.0)
        fixed = given & (ends[1] - ends[0] <= SAME_NUMBER * (1.0 + np.abs(ends[1])))
        self.fixed_values = np.where(fixed, 0.5 * (ends[0] + ends[1]), 0.0)
        self.free = np.flatnonzero(~fixed)
        self.lower, self.upper = low[self.free], high[self.free]

    def _schedule_bounds(self, schedule: Schedule, low: Array, high: Array) -> None:
        """Durations of the phases, gaps and speeds of contacts at every place, and impulses."""
        spans, t = self.spans, self.task
        low[spans["T"]], high[spans["T"]] = schedule.durations().T / self.T0
        reads = schedule.read_ranges(self.mesh.phase, t.advance is not None)  # (2, N, 3, reads of contacts)
        for out, part in zip((low, high), reads, strict=True):
            slack = out[spans["slack"]].reshape(self.N, 3, -1)
            slack[:, :, len(t.limited) - part.shape[2] :] = part
            out[spans["slack"]] = slack.ravel()
        held = schedule.held(0)[self.mesh.phase[self.struck]]
        for out, least in ((low, schedule.least_force), (high, np.inf)):
            out[spans["impulse"]] = np.where(np.isfinite(held), held, least).ravel()
        low[spans["cone"]] = [x for k in self.struck for x in schedule.cone_least(int(self.mesh.phase[k]))]

    def packed(self, m: MotionIterate) -> Array:
        """The free unknowns of a motion."""
        t, out = self.task, np.zeros(self.count)
        out[self.spans["x"]] = (m.x / self.sizes[: t.n]).ravel()
        out[self.spans["middle"]] = (m.middle / self.sizes[: t.n]).ravel()
        out[self.spans["u"]] = (m.u / self.sizes[t.n :]).ravel()
        out[self.spans["T"]] = m.durations / self.T0
        found = t.points.at(m.z, m.q, slopes=False)
        reads = found["reads"].reshape(3, self.N, -1).transpose(1, 0, 2)
        out[self.spans["slack"]] = reads[:, :, list(t.limited)].ravel()
        if self.energy:
            asked = reads[:, :, list(t.power)] / self.power_size
            power = np.maximum(asked[:, [0, 2]], 0.0) + 0.1
            out[self.spans["power"]] = power.ravel()
            out[self.spans["spare"]] = np.maximum(self._three(power) - asked, 0.0).ravel()
        out[self.spans["end"]] = [reads[-1, 2, i] for i, a, b in t.end_reads if a < b]
        if len(self.struck):
            out[self.spans["after"]] = (m.after / self.sizes[t.n // 2 : t.n]).ravel()
            out[self.spans["impulse"]] = (m.impulses / self.impulse_sizes).ravel()
            out[self.spans["cone"]] = ((m.impulses / self.impulse_sizes) @ self._cones.T).ravel()
        return out[self.free]

    @property
    def impulse_sizes(self) -> Array:
        """Sizes of the impulses: what the sizes of the forces do in the whole time."""
        return self.task.weights[self.task.drives :] * self.T0

    @property
    def _cones(self) -> Array:
        """What friction has left of impulses, in both directions of every contact, by impulse."""
        return np.zeros((0, 0)) if self.task.schedule is None else self.task.schedule.cones

    def unpacked(self, x: Array) -> MotionIterate | None:
        """The motion of free unknowns, q on the loops; None where the loops cannot follow."""
        t, N = self.task, self.N
        full = self.fixed_values.copy()
        full[self.free] = x
        self.full = full
        nodes = full[self.spans["x"]].reshape(N + 1, t.n) * self.sizes[: t.n]
        middle = full[self.spans["middle"]].reshape(N, t.n) * self.sizes[: t.n]
        u = full[self.spans["u"]].reshape(N, 2, t.p) * self.sizes[t.n :]
        f = t.n // 2
        theta = np.concatenate([nodes[:-1, :f], middle[:, :f], nodes[1:, :f]])
        q, ok = t.points.states.closed(theta, *self._last)
        if not ok.all():
            return None
        out = MotionIterate(nodes, middle, u, full[self.spans["T"]] * self.T0, q, theta)
        if len(self.struck):
            out.struck = self.struck
            out.after, out.impulses = (full[self.spans[name]].reshape(len(self.struck), -1) for name in ("after", "impulse"))
            out.after, out.impulses = out.after * self.sizes[f : t.n], out.impulses * self.impulse_sizes
        return out

    # ---------------------------------------------------------------- values

    def value(self, x: Array) -> tuple[float, Array] | None:
        m = self.unpacked(x)
        if m is None:
            return None
        found = self.task.points.at(m.z, m.q)
        if not np.isfinite(found["D"]).all():
            return None
        if len(self.struck):
            self.blows = self.task.points.at(*self._blow_states(m))
        self.at, self.found = m, found
        return self._goal(m), self._rows(m, found)

    def _steps(self, m: MotionIterate) -> Array:
        return self.mesh.share * m.durations[self.mesh.phase]

    def goal(self, m: MotionIterate) -> float:
        """The goal in SI: s, s of full effort, or J."""
        t, whole = self.task, self._goal(m) * self.T0
        if t.goal != "energy":
            return whole
        power = self.full[self.spans["power"]].reshape(self.N, 2, -1)
        return float((self._steps(m) * power.sum(axis=(1, 2))).sum() / 2.0) * self.power_size

    def _goal(self, m: MotionIterate) -> float:
        t = self.task
        if t.goal == "time":
            return float(m.durations.sum() / self.T0)
        h = self._steps(m) / self.T0
        a, b = (m.u[:, k] * t.share for k in (0, 1))
        effort = float((h * (a * a + a * b + b * b).sum(axis=1)).sum() / 3.0)
        if t.goal == "effort":
            return effort
        power = self.full[self.spans["power"]].reshape(self.N, 2, -1)
        return float((h * power.sum(axis=(1, 2))).sum() / 2.0) + UNIQUE * effort

    def _rates(self, m: MotionIterate, found: dict[str, Array]) -> Array:
        """F at the three places of every interval, dimensionless: (N, 3, n)."""
        f = self.task.n // 2
        F = np.concatenate([m.z[:, f : 2 * f], found["f"]], axis=1) * self.T0 / self.sizes[: 2 * f]
        return F.reshape(3, self.N, -1).transpose(1, 0, 2)

    def _rows(self, m: MotionIterate, found: dict[str, Array]) -> Array:
        t, n = self.task, self.task.n
        h, F = (self._steps(m) / self.T0)[:, None], self._rates(m, found)
        x, middle = m.x / self.sizes[:n], m.middle / self.sizes[:n]
        first = m.first / self.sizes[:n]
        whole = x[1:] - first - h * np.einsum("i,kin->kn", SIMPSON, F)
        half = middle - 0.5 * (first + x[1:]) - h * np.einsum("i,kin->kn", MIDDLE, F)
        reads = found["reads"].reshape(3, self.N, -1).transpose(1, 0, 2)
        slack = self.full[self.spans["slack"]].reshape(self.N, 3, -1)
        parts = [np.concatenate([whole, half], axis=1).ravel(), (reads[:, :, list(t.limited)] - slack).ravel()]
        if self.energy:
            three = self._three(self.full[self.spans["power"]].reshape(self.N, 2, -1))
            spare = self.full[self.spans["spare"]].reshape(self.N, 3, -1)
            parts.append((three - reads[:, :, list(t.power)] / self.power_size - spare).ravel())
        return np.concatenate([*parts, self._border(m, reads)])

    @staticmethod
    def _three(ends: Array) -> Array:
        """Bounds of the powers at both ends and in the middle of the intervals."""
        return np.stack([ends[:, 0], 0.5 * (ends[:, 0] + ends[:, 1]), ends[:, 1]], axis=1)

    def _border(self, m: MotionIterate, reads: Array) -> Array:
        """Rows of the ends of the motion as a whole: reads at the end, periodicity, the duration of several phases."""
        t, n = self.task, self.task.n
        free = iter(self.full[self.spans["end"]])
        out = [reads[-1, 2, i] - (next(free) if a < b else a) for i, a, b in t.end_reads]
        if t.advance is not None:
            asked = np.isfinite(t.advance)
            out += list(((m.x[-1] - m.x[0][t.partner] - t.advance) / self.sizes[:n])[asked])
        if self._total:
            out.append(m.durations.sum() / self.T0 - t.duration[0] / self.T0)
        if len(self.struck):
            out += list(self._blow_rows(m))
        return np.array(out, dtype=float)

    # ---------------------------------------------------------------- impacts

    def _blow_states(self, m: MotionIterate) -> tuple[Array, Array]:
        """z and q of accelerations that impulses would cause as forces, and without: they differ by the jump of the speeds."""
        t, f = self.task, self.task.n // 2
        rest = np.zeros((len(self.struck), t.n + t.p))
        rest[:, :f] = m.x[self.struck, :f]
        pushed = rest.copy()
        pushed[:, t.n + t.drives :] = m.impulses
        return np.concatenate([pushed, rest]), np.concatenate([m.q[self.struck], m.q[self.struck]])

    def _blow_rows(self, m: MotionIterate) -> Array:
        """Jumps of the speeds, and friction cones of the impulses."""
        f, J = self.task.n // 2, len(self.struck)
        jump = m.after - m.x[self.struck, f:] - (self.blows["f"][:J] - self.blows["f"][J:])
        cone = (m.impulses / self.impulse_sizes) @ self._cones.T - self.full[self.spans["cone"]].reshape(J, -1)
        return np.concatenate([(jump / self.sizes[f : self.task.n]).ravel(), cone.ravel()])

    def _blow_slopes(self, rows: list[Array], columns: list[Array], values: list[Array], last: int) -> int:
        t, f, J, c = self.task, self.task.n // 2, len(self.struck), self.task.p - self.task.drives
        theta = self.spans["x"].start + self.struck[:, None] * t.n + np.arange(f)
        after = self.spans["after"].start + np.arange(J * f).reshape(J, f)
        pulse = self.spans["impulse"].start + np.arange(J * c).reshape(J, c)
        D = self.blows["D"][:, :f] / self.sizes[f : t.n, None]
        at = last + np.arange(J * f).reshape(J, f)
        every = [
            (at, after, np.ones((J, f))), (at, theta + f, -np.ones((J, f))),
            (at[:, :, None], theta[:, None, :], -(D[:J] - D[J:])[:, :, :f] * self.sizes[:f]),
            (at[:, :, None], pulse[:, None, :], -D[:J, :, t.n + t.drives :] * self.impulse_sizes),
        ]  # fmt: skip
        cone = last + J * f + np.arange(J * c).reshape(J, c)
        every.append((cone[:, :, None], pulse[:, None, :], np.broadcast_to(self._cones, (J, c, c))))
        every.append((cone, self.spans["cone"].start + np.arange(J * c).reshape(J, c), -np.ones((J, c))))
        for i, j, v in every:
            rows.append(np.broadcast_to(i, v.shape))
            columns.append(np.broadcast_to(j, v.shape))
            values.append(v)
        return last + J * (f + c)

    def _blow_curvature(self, m: MotionIterate, y: Array) -> tuple[Array, Array, Array]:
        """Places and values of second derivatives of the jumps, by positions and impulses."""
        t, f, J, c = self.task, self.task.n // 2, len(self.struck), self.task.p - self.task.drives
        pull = y[len(y) - J * (f + c) : len(y) - J * c].reshape(J, f) / self.sizes[f : t.n]
        weights = np.zeros((2 * J, self.blows["D"].shape[1]))
        weights[:J, :f], weights[J:, :f] = -pull, pull
        z, q = self._blow_states(m)
        H = t.points.curvature(z, q, self.blows["D"], weights)
        keep = np.concatenate([np.arange(f), t.n + t.drives + np.arange(c)])
        size = np.concatenate([self.sizes[:f], self.impulse_sizes])
        part = (H[:J] + H[J:])[:, keep][:, :, keep] * size[:, None] * size
        part[:, f:, f:] = 0.0  # linear in the impulses
        part[:, :f, f:] = H[:J][:, keep[:f]][:, :, keep[f:]] * size[:f, None] * size[f:]
        part[:, f:, :f] = part[:, :f, f:].transpose(0, 2, 1)
        theta = self.spans["x"].start + self.struck[:, None] * t.n + np.arange(f)
        places = np.concatenate([theta, self.spans["impulse"].start + np.arange(J * c).reshape(J, c)], axis=1)
        return np.broadcast_to(places[:, :, None], part.shape), np.broadcast_to(places[:, None, :], part.shape), part

    @property
    def _total(self) -> bool:
        return self.mesh.phases > 1 and self.task.duration[0] == self.task.duration[1]

    # ---------------------------------------------------------------- places of derivatives

    def _plan(self) -> None:
        """Places of the unknowns of every interval, in the order x_k, x_k+1, x_m, u of both ends, duration; and what z is of them."""
        N, n, p = self.N, self.task.n, self.task.p
        k = np.arange(N)[:, None]
        at_x, at_m, at_u = (self.spans[name].start for name in ("x", "middle", "u"))
        u = [at_u + (2 * k + e) * p + np.arange(p) for e in (0, 1)]
        nodes = [at_x + k * n + np.arange(n), at_x + (k + 1) * n + np.arange(n), at_m + k * n + np.arange(n)]
        if len(self.struck):
            nodes[0][self.struck, n // 2 :] = self.spans["after"].start + np.arange(len(self.struck) * (n // 2)).reshape(-1, n // 2)
        self.local = np.concatenate([*nodes, *u, self.spans["T"].start + self.mesh.phase[:, None]], axis=1)
        L = self.local.shape[1]
        Z = np.zeros((3, n + p, L))
        for i, (xs, us) in enumerate((((0, 1.0), ((0, 1.0),)), ((2, 1.0), ((0, 0.5), (1, 0.5))), ((1, 1.0), ((1, 1.0),)))):
            Z[i, :n, xs[0] * n : (xs[0] + 1) * n] = np.diag(self.sizes[:n])
            for e, part in us:
                Z[i, n:, 3 * n + e * p : 3 * n + (e + 1) * p] += part * np.diag(self.sizes[n:])
        self.Z = Z
        self._column = np.full(self.count, -1)
        self._column[self.free] = np.arange(len(self.free))

    def _sparse(self, rows: Sequence[Array], columns: Sequence[Array], values: Sequence[Array], count: int, square: bool = False) -> Any:
        from scipy.sparse import coo_array

        i, j, v = (np.concatenate([np.ravel(x) for x in part]) for part in (rows, columns, values))
        j = self._column[j.astype(int)]
        if square:
            i = self._column[i.astype(int)]
        keep = (j >= 0) & (i >= 0)
        width = len(self.free)
        return coo_array((v[keep], (i[keep].astype(int), j[keep])), shape=(width if square else count, width)).tocsc()

    @cached_property
    def _rate_slopes(self) -> Array:
        """d F / dz with the rows of speeds, which are z itself; those of accelerations are filled in: (1, n, n + p)."""
        t, f = self.task, self.task.n // 2
        out = np.zeros((1, t.n, t.n + t.p))
        out[0, :f, f : 2 * f] = np.eye(f)
        return out

    def _dF(self) -> Array:
        """dF/dz at the three places of every interval, dimensionless rows: (N, 3, n, n + p)."""
        t, f = self.task, self.task.n // 2
        out = np.repeat(self._rate_slopes, 3 * self.N, axis=0)
        out[:, f:] = self.found["D"][:, :f]
        out *= (self.T0 / self.sizes[: t.n])[:, None]
        return out.reshape(3, self.N, t.n, -1).transpose(1, 0, 2, 3)

    def slopes(self, x: Array) -> tuple[Array, Any]:
        """Gradient and Jacobian at the last value."""
        N, n, m = self.N, self.task.n, self.at
        h, F, dF = self._steps(m) / self.T0, self._rates(m, self.found), self._dF()
        L, i = self.local.shape[1], np.arange(n)
        block = np.zeros((N, 2 * n, L))
        dFZ = np.einsum("kisz,izl->kisl", dF, self.Z)
        share = self.mesh.share[:, None]
        for rows, weights in ((slice(0, n), SIMPSON), (slice(n, 2 * n), MIDDLE)):
            block[:, rows] = -h[:, None, None] * np.einsum("i,kisl->ksl", weights, dFZ)
            block[:, rows, -1] -= share * np.einsum("i,kis->ks", weights, F)
        block[:, i, n + i] += 1.0
        block[:, i, i] -= 1.0
        block[:, n + i, 2 * n + i] += 1.0
        block[:, n + i, i] -= 0.5
        block[:, n + i, n + i] -= 0.5
        rows = [np.broadcast_to((np.arange(2 * n * N).reshape(N, 2 * n, 1)), block.shape)]
        columns = [np.broadcast_to(self.local[:, None, :], block.shape)]
        values, last = [block], 2 * n * N
        reads = np.einsum("kirz,izl->kirl", self._dreads(), self.Z)
        for part, sign in self._read_parts(reads):
            at = last + np.arange(part[0].shape[0] * part[0].shape[1] * part[0].shape[2]).reshape(part[0].shape[:3])
            rows.append(np.broadcast_to(at[..., None], part[0].shape))
            columns.append(np.broadcast_to(self.local[:, None, None, :], part[0].shape))
            values.append(sign * part[0])
            for places, value in part[1]:
                rows.append(at)
                columns.append(places)
                values.append(np.broadcast_to(value, places.shape))
            last += at.size
        last = self._border_slopes(reads, rows, columns, values, last)
        return self._gradient(m, h), self._sparse(rows, columns, values, last)

    def _dreads(self) -> Array:
        t, f = self.task, self.task.n // 2
        D = self.found["D"][:, f:]
        return D.reshape(3, self.N, D.shape[1], t.n + t.p).transpose(1, 0, 2, 3)

    def _read_parts(self, reads: Array) -> list[tuple[tuple[Array, list[tuple[Array, Any]]], float]]:
        """Slopes of limited reads with the places of their slack, and of powers with their bounds."""
        t, N = self.task, self.N
        m = len(t.limited)
        places = self.spans["slack"].start + np.arange(3 * N * m).reshape(N, 3, m)
        out: list[tuple[tuple[Array, list[tuple[Array, Any]]], float]] = [((reads[:, :, list(t.limited)], [(places, -1.0)]), 1.0)]
        if self.energy:
            e = self.spans["power"].start + np.arange(2 * N * self.energy).reshape(N, 2, self.energy)
            first = np.stack([e[:, 0], e[:, 0], e[:, 1]], axis=1)
            second = np.stack([e[:, 0], e[:, 1], e[:, 1]], axis=1)
            half = np.array([0.5, 0.5, 0.5])[None, :, None]
            spare = self.spans["spare"].start + np.arange(3 * N * self.energy).reshape(N, 3, self.energy)
            out.append(((reads[:, :, list(t.power)] / self.power_size, [(first, half), (second, half), (spare, -1.0)]), -1.0))
        return out

    def _border_slopes(self, reads: Array, rows: list[Array], columns: list[Array], values: list[Array], last: int) -> int:
        t, n = self.task, self.task.n
        free = self.spans["end"].start
        for i, a, b in t.end_reads:
            rows.append(np.full(self.local.shape[1], last))
            columns.append(self.local[-1])
            values.append(reads[-1, 2, i])
            if a < b:
                rows.append(np.array([last]))
                columns.append(np.array([free]))
                values.append(np.array([-1.0]))
                free += 1
            last += 1
        if t.advance is not None and t.partner is not None:
            asked = np.flatnonzero(np.isfinite(t.advance))
            for sign, places in ((1.0, self.N * n + asked), (-1.0, t.partner[asked])):
                rows.append(last + np.arange(len(asked)))
                columns.append(self.spans["x"].start + places)
                values.append(np.full(len(asked), sign))
            last += len(asked)
        if self._total:
            T = np.arange(self.count)[self.spans["T"]]
            rows.append(np.full(len(T), last))
            columns.append(T)
            values.append(np.ones(len(T)))
            last += 1
        return self._blow_slopes(rows, columns, values, last) if len(self.struck) else last

    def _gradient(self, m: MotionIterate, h: Array) -> Array:
        t, out = self.task, np.zeros(self.count)
        T = self.spans["T"]
        if t.goal == "time":
            out[T] = 1.0
            return out[self.free]
        part = 1.0 if t.goal == "effort" else UNIQUE
        a, b = (m.u[:, k] * t.share for k in (0, 1))
        scale = self.sizes[t.n :] * t.share
        g = np.stack([(2.0 * a + b) * scale, (a + 2.0 * b) * scale], axis=1) * h[:, None, None] / 3.0
        out[self.spans["u"]] = part * g.ravel()
        np.add.at(out, T.start + self.mesh.phase, part * self.mesh.share * (a * a + a * b + b * b).sum(axis=1) / 3.0)
        if t.goal == "energy":
            power = self.full[self.spans["power"]].reshape(self.N, 2, -1)
            out[self.spans["power"]] = np.broadcast_to(0.5 * h[:, None, None], power.shape).ravel()
            np.add.at(out, T.start + self.mesh.phase, self.mesh.share * power.sum(axis=(1, 2)) / 2.0)
        return out[self.free]

    # ---------------------------------------------------------------- second derivatives

    def curvature(self, x: Array, y: Array) -> Any:
        """Hessian of the Lagrangian, at the last value."""
        t, N, n, m = self.task, self.N, self.task.n, self.at
        f, h = n // 2, self._steps(m) / self.T0
        lam = y[: 2 * n * N].reshape(N, 2, n)
        nread = 3 * N * len(t.limited)
        weights = np.zeros((N, 3, self.found["D"].shape[1]))
        pull = np.stack([lam[:, 0] * w + lam[:, 1] * v for w, v in zip(SIMPSON, MIDDLE, strict=True)], axis=1)  # (N, 3, n)
        weights[:, :, :f] = -h[:, None, None] * pull[:, :, f:] * (self.T0 / self.sizes[f:n])
        last = 2 * n * N
        weights[:, :, [f + i for i in t.limited]] += y[last : last + nread].reshape(N, 3, -1)
        last += nread
        if self.energy:
            rows = y[last : last + 3 * N * self.energy].reshape(N, 3, -1)
            weights[:, :, [f + i for i in t.power]] -= rows / self.power_size
            last += 3 * N * self.energy
        for k, (i, _, _) in enumerate(t.end_reads):
            weights[-1, 2, f + i] += y[last + k]
        flat = weights.transpose(1, 0, 2).reshape(3 * N, -1)
        H = t.points.curvature(m.z, m.q, self.found["D"], flat).reshape(3, N, n + t.p, n + t.p).transpose(1, 0, 2, 3)
        block = np.einsum("izl,kizw,iwj->klj", self.Z, H, self.Z, optimize=True)
        cross = -self.mesh.share[:, None] * np.einsum("kis,kisz,izl->kl", pull, self._dF(), self.Z, optimize=True)
        block[:, :, -1] += cross
        block[:, -1, :] += cross
        self._goal_curvature(block, m, h)
        rows, columns = np.broadcast_to(self.local[:, :, None], block.shape), np.broadcast_to(self.local[:, None, :], block.shape)
        rows, columns, values = [rows], [columns], [block]
        if len(self.struck):
            for out, found in zip((rows, columns, values), self._blow_curvature(m, y), strict=True):
                out.append(found)
        if self.energy:  # h times the bounds of the powers
            places = self.spans["power"].start + np.arange(2 * N * self.energy).reshape(N, -1)
            T = np.broadcast_to(self.spans["T"].start + self.mesh.phase[:, None], places.shape)
            part = np.broadcast_to(0.5 * self.mesh.share[:, None], places.shape)
            rows, columns, values = [*rows, places, T], [*columns, T, places], [*values, part, part]
        return self._sparse(rows, columns, values, 0, square=True)

    def _goal_curvature(self, block: Array, m: MotionIterate, h: Array) -> None:
        t, n = self.task, self.task.n
        if t.goal == "time":
            return
        part = 1.0 if t.goal == "effort" else UNIQUE
        scale = self.sizes[n:] * t.share
        a, b = 3 * n + np.arange(t.p), 3 * n + t.p + np.arange(t.p)
        square = part * h[:, None] * scale**2 / 3.0
        block[:, a, a] += 2.0 * square
        block[:, b, b] += 2.0 * square
        block[:, a, b] += square
        block[:, b, a] += square
        first, second = (m.u[:, k] * t.share for k in (0, 1))
        for places, value in ((a, 2.0 * first + second), (b, first + 2.0 * second)):
            cross = part * self.mesh.share[:, None] * value * scale / 3.0
            block[:, places, -1] += cross
            block[:, -1, places] += cross

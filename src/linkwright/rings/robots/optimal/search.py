"""From a task to its optimal motion: a first guess, the nonlinear program on a mesh, and a finer mesh where the motion needs it.

The error of a mesh is measured, not estimated: between nodes the equations of motion are integrated again under the efforts of the motion,
by an adaptive method of eighth order, all intervals at once. Intervals that miss their end by more than the tolerance are halved.

A motion of least time jumps between limits of efforts. Such a jump inside an interval costs accuracy that a finer mesh restores slowly, so
the arcs between jumps become phases with durations of their own, and the jumps are found exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from linkwright.api import Trajectory, UsageError
from linkwright.rings.robots.optimal.interior_point import InteriorPoint, Residuals, Solution
from linkwright.rings.robots.optimal.states_on_loops import spread
from linkwright.rings.robots.optimal.transcription import Collocation, Mesh, MotionIterate, Task

Array = np.ndarray
MOST_ITERATIONS = 400
LATER_ITERATIONS = 100  # on finer meshes and in arcs, which begin near the end
OPTIMAL = 1e-9  # of the conditions of optimality, dimensionless
ROUNDS = 4  # meshes
MOST_STEPS = 400  # of the integration between nodes
FINEST = 4  # times the intervals asked for
AT_LIMIT = 2e-2  # share of the range of an effort at which it counts as limited, for arcs
MOST_ARCS = 12
COARSEST = 8  # intervals at which a failed search still tries half as many
LOWER, UPPER, INSIDE, NONE = -1, 1, 0, 2  # where an effort is in an arc: at a limit, between them, or zero


@dataclass(frozen=True, eq=False)
class Found:
    """An optimal motion with its evidence."""

    task: Task
    mesh: Mesh
    motion: MotionIterate
    solution: Solution
    goal: float  # value in SI: s, share^2 s, J
    errors: Array  # of every interval, dimensionless
    iterations: int
    meshes: int


def best_motion(task: Task, start: MotionIterate, count: int, tolerance: float, said: Callable[[str], None]) -> Found | Solution:
    """The optimal motion; the failed search itself if there is none on the first mesh."""
    found = _first(task, start, count, said)
    if isinstance(found, Solution):
        return found
    total = found.iterations
    if task.goal != "effort" and task.schedule is None:
        found = _in_arcs(found, count, said)
        total = found.iterations
    for k in range(1, ROUNDS):
        bad = found.errors > tolerance
        if not bad.any() or len(bad) + bad.sum() > FINEST * count:
            break
        mesh, parts = _halved(found.mesh, bad)
        program, solution = _solved(task, mesh, _moved(found, task, mesh, parts), said, LATER_ITERATIONS, mu=1e-4)
        total += solution.iterations
        if not solution.converged:
            break
        found = _found(task, program, solution, total, k + found.meshes)
    return found


def _first(task: Task, start: MotionIterate, count: int, said: Callable[[str], None]) -> Found | Solution:
    """The motion on even intervals; if the search fails, from the motion on half as many."""
    program, solution = _solved(task, task.mesh(count), start, said, MOST_ITERATIONS)
    if solution.converged:
        return _found(task, program, solution, solution.iterations, 1)
    if count % 2 or count < COARSEST or task.schedule is not None:
        return solution
    half = _first(task, coarse(task, start), count // 2, said)
    if isinstance(half, Solution):
        return half
    mesh, parts = _halved(half.mesh, np.ones(len(half.mesh.share), dtype=bool))
    program, solution = _solved(task, mesh, _moved(half, task, mesh, parts), said, MOST_ITERATIONS, mu=1e-2)
    total = half.iterations + solution.iterations
    return _found(task, program, solution, total, half.meshes + 1) if solution.converged else replace(half, iterations=total)


def _solved(
    task: Task, mesh: Mesh, start: MotionIterate, said: Callable[[str], None], most: int, mu: float = 0.1
) -> tuple[Collocation, Solution]:
    program = Collocation(task, mesh, start)

    def progress(k: int, r: Residuals) -> None:
        if k % 10 == 0:
            said(f"{len(mesh.share)} intervals, step {k}: optimality {r.stationarity:.1e}, constraints {r.feasibility:.1e}")

    found = InteriorPoint(program, tolerance=OPTIMAL, most=most, progress=progress).solve(program.packed(start), mu)
    program.value(found.x)
    return program, found


def _found(task: Task, program: Collocation, solution: Solution, iterations: int, meshes: int) -> Found:
    m = program.at
    return Found(task, program.mesh, m, solution, program.goal(m), mesh_errors(task, program.mesh, m), iterations, meshes)


# -------------------------------------------------------------------- first guess


def first_guess(task: Task, here: Array, q: Array, target: Array | None, count: int, seconds: float | None) -> MotionIterate:
    """A quintic motion from the start to the target, with the efforts that it needs as far as the drives can give them."""
    f = task.n // 2
    there = here[:f] if target is None else target
    mesh = task.mesh(count)
    parts = _parts(task, mesh, seconds)
    s = _places(mesh, parts)
    law = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    theta = here[:f] + law[:, None] * (there - here[:f])
    every, lost = task.points.states.along(theta, here[:f], q)
    if lost is not None:  # the straight way leaves the workspace: stay where the start is
        theta, every = spread(here[:f], len(s)), spread(q, len(s))
    d1, d2 = 30.0 * s**2 * (1.0 - s) ** 2, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
    way = there - here[:f] if lost is None else np.zeros(f)
    if task.schedule is not None:
        T = float(parts.sum())
        u = task.schedule.standing(mesh.phase, task.drives)
        x = np.concatenate([theta, d1[:, None] * way / T], axis=1)
        return iterate(task, x[::2], x[1::2], u, parts, (every[::2], every[1::2]), mesh)
    tried = [seconds] if seconds is not None else list(np.geomspace(0.02, 40.0, 34))
    for T in tried:
        w = d1[:, None] * way / T
        u = _efforts(task, theta, w, d2[:, None] * way / T**2, every)
        inside = _inside(task, w, u)
        if inside:
            break
    else:
        T = 1.0
        w = d1[:, None] * way / T
        u = _efforts(task, theta, w, d2[:, None] * way / T**2, every)
    u = np.clip(u, task.z_low[task.n :], task.z_high[task.n :])
    x = np.concatenate([theta, w], axis=1)
    return iterate(task, x[::2], x[1::2], np.stack([u[:-2:2], u[2::2]], axis=1), np.array([T]), (every[::2], every[1::2]))


def _parts(task: Task, mesh: Mesh, seconds: float | None) -> Array:
    """Durations of the phases of a first guess."""
    return np.ones(mesh.phases) if task.schedule is None else task.schedule.guess(seconds)


def _places(mesh: Mesh, durations: Array) -> Array:
    """Nodes and middles as parts of the duration."""
    nodes = mesh.times(durations)
    out = np.empty(2 * len(nodes) - 1)
    out[::2], out[1::2] = nodes, 0.5 * (nodes[1:] + nodes[:-1])
    return out / nodes[-1]


def _inside(task: Task, w: Array, u: Array) -> bool:
    f, n = task.n // 2, task.n
    return bool(
        (u <= task.z_high[n:] + 1e-12).all() and (u >= task.z_low[n:] - 1e-12).all()
        and (w <= task.z_high[f:n] + 1e-12).all() and (w >= task.z_low[f:n] - 1e-12).all()
    )  # fmt: skip


def _efforts(task: Task, theta: Array, w: Array, a: Array, q: Array) -> Array:
    """Efforts of least squares for these accelerations."""
    f, p = task.n // 2, task.p
    found = task.points.at(np.concatenate([theta, w, np.zeros((len(theta), p))], axis=1), q)
    G, out = found["D"][:, :f, task.n :], np.zeros((len(theta), p))
    for i, (g, rest) in enumerate(zip(G, a - found["f"], strict=True)):
        if np.isfinite(g).all() and np.isfinite(rest).all():
            out[i] = np.linalg.lstsq(g * task.weights, rest, rcond=1e-10)[0] * task.weights
    return out


def iterate(
    task: Task, x: Array, middle: Array, u: Array, durations: Array, q: tuple[Array, Array],
    mesh: Mesh | None = None, first: Array | None = None,
) -> MotionIterate:  # fmt: skip
    """A motion with known positions at nodes and middles. mesh and first ends of its intervals: of a motion with impacts."""
    f = task.n // 2
    theta = np.concatenate([x[:-1, :f], middle[:, :f], x[1:, :f]])
    out = MotionIterate(x, middle, u, durations, np.concatenate([q[0][:-1], q[1], q[0][1:]]), theta)
    if task.schedule is not None and mesh is not None:
        out.struck = task.schedule.struck(mesh.phase)
        out.after = (x[:-1] if first is None else first)[out.struck, f:]
        out.impulses = np.zeros((len(out.struck), task.p - task.drives))
    return out


def guess_of(task: Task, c: Trajectory, names: tuple[str, ...], drives: tuple[str, ...], count: int) -> MotionIterate:
    """A motion that somebody gives as the first guess, at the places of a mesh over its duration."""
    if len(c) < 2 or not float(c.t[-1]) > float(c.t[0]):
        raise UsageError("guess is a motion with two samples or more, such as a run.", name="guess")
    mesh, seconds = task.mesh(count), float(c.t[-1] - c.t[0])
    parts = _parts(task, mesh, seconds)
    s, t = _places(mesh, parts), (c.t - c.t[0]) / seconds

    def column(name: str) -> Array:
        return np.interp(s, t, np.asarray(c[name], dtype=float)) if name in c.channels else np.zeros(len(s))

    x = np.stack([column(n) for n in (*names, *(f"{n}.v" for n in names))], axis=1)
    efforts = [next((k for k in (f"{n}.torque", f"{n}.force") if k in c.channels), "") for n in drives]
    efforts += [f"{n}.{k}" for n in (task.schedule.names if task.schedule else ()) for k in ("force", "friction")]
    u = np.stack([column(name) for name in efforts], axis=1)
    f = len(names)
    q, lost = task.points.states.along(x[:, :f], x[0, :f], np.asarray(c.q[0]))
    if lost is not None:
        raise UsageError("guess: the loops do not close on this motion. It belongs to another mechanism or assembly mode.", name="guess")
    durations = parts if task.schedule else np.array([float(np.clip(seconds, *task.duration))])
    u = np.clip(u, task.z_low[task.n :], task.z_high[task.n :])
    return iterate(task, x[::2], x[1::2], np.stack([u[:-2:2], u[2::2]], axis=1), durations, (q[::2], q[1::2]), mesh)


def coarse(task: Task, m: MotionIterate) -> MotionIterate:
    """A motion on half as many intervals, whose middles are nodes."""
    N, x = len(m.middle), m.x
    q = np.concatenate([m.q[:N], m.q[-1:]])
    u = np.stack([m.u[::2, 0], m.u[1::2, 1]], axis=1)
    return iterate(task, x[::2], x[1::2], u, m.durations.copy(), (q[::2], q[1::2]))


# -------------------------------------------------------------------- accuracy


def mesh_errors(task: Task, mesh: Mesh, m: MotionIterate) -> Array:
    """How far the equations of motion, integrated from every node under the efforts there, miss the next node; dimensionless."""
    from scipy.integrate import DOP853

    n, f, N = task.n, task.n // 2, len(mesh.share)
    h = (mesh.share * m.durations[mesh.phase])[:, None]
    sizes = np.concatenate([task.points.sizes[:f], task.points.sizes[:f] / float(m.durations.sum())])
    first, last = m.u[:, 0], m.u[:, 1]
    base_theta, base_q = m.x[:-1, :f], m.q[:N]

    def rates(s: float, y: Array) -> Array:
        x = y.reshape(N, n) * sizes
        q, _ = task.points.states.closed(x[:, :f], base_theta, base_q)
        z = np.concatenate([x, first + s * (last - first)], axis=1)
        f_ = task.points.at(z, q, slopes=False)["f"] if task.schedule is None else _stuck(task, mesh, z, q)
        return (h * np.concatenate([x[:, f:], f_], axis=1) / sizes).ravel()

    method = DOP853(rates, 0.0, (m.first / sizes).ravel(), 1.0, rtol=1e-11, atol=1e-13)
    for _ in range(MOST_STEPS):
        if method.status != "running":
            break
        method.step()
    if method.status != "finished":  # too stiff for an explicit method, or off the loops
        return np.full(N, np.inf)
    return np.abs(method.y.reshape(N, n) - m.x[1:] / sizes).max(axis=1)


def _stuck(task: Task, mesh: Mesh, z: Array, q: Array) -> Array:
    """Accelerations at which closed contacts stick exactly, one state for each interval, with the forces that this needs."""
    assert task.schedule is not None
    f, n, at = task.n // 2, task.n, task.n + task.drives
    z = z.copy()
    z[:, at:] = 0.0
    found = task.points.at(z, q)
    rows = f + len(task.points.motion.reads) + task.drives + task.schedule.speed_rows
    out = found["f"].copy()
    for k, a in enumerate(mesh.phase):
        held = np.flatnonzero(np.isnan(task.schedule.held(0)[a]))
        if len(held):  # d(speeds)/dt = 0 is linear in the forces
            D, push = found["D"][k][rows[held]], found["D"][k][:f, at + held]
            rest = D[:, :f] @ z[k, f:n] + D[:, f:n] @ out[k]
            out[k] += push @ np.linalg.lstsq(D[:, f:n] @ push, -rest, rcond=1e-12)[0]
    return out


def _halved(mesh: Mesh, bad: Array) -> tuple[Mesh, Array]:
    """The mesh with some intervals halved; and the interval of the old mesh that each belongs to, with the part of it."""
    phase, share, parts = [], [], []
    for k, (a, s, b) in enumerate(zip(mesh.phase, mesh.share, bad, strict=True)):
        for j in range(2 if b else 1):
            phase.append(a)
            share.append(s / (2.0 if b else 1.0))
            parts.append((k, 0.5 * j if b else 0.0, 0.5 * (j + 1) if b else 1.0))
    return Mesh(np.array(phase), np.array(share), mesh.held), np.array(parts)


def _moved(found: Found, task: Task, mesh: Mesh, parts: Array) -> MotionIterate:
    """The motion of a mesh at the places of another one whose intervals are parts of its."""
    k, a, b = parts[:, 0].astype(int), parts[:, 1], parts[:, 2]
    m = found.motion
    h = (found.mesh.share * m.durations[found.mesh.phase])[:, None]
    rates = _rates(task, m)
    first, mid, last = (_hermite(m, rates, h, k, s) for s in (a, 0.5 * (a + b), b))
    u = np.stack([m.u[k, 0] + s[:, None] * (m.u[k, 1] - m.u[k, 0]) for s in (a, b)], axis=1)
    x = np.concatenate([m.x[:1], last])
    f = task.n // 2
    N = len(found.mesh.share)
    near = np.concatenate([k[:1], k])
    q, _ = task.points.states.closed(x[:, :f], m.x[:-1, :f][near], m.q[:N][near])
    qm, _ = task.points.states.closed(mid[:, :f], m.x[:-1, :f][k], m.q[:N][k])
    out = iterate(task, x, mid, u, m.durations.copy(), (q, qm), mesh, first)
    out.impulses = m.impulses
    return out


def _rates(task: Task, m: MotionIterate) -> Array:
    f, N = task.n // 2, len(m.middle)
    found = task.points.at(m.z, m.q, slopes=False)
    return np.concatenate([m.z[:, f : 2 * f], found["f"]], axis=1).reshape(3, N, -1)


def _hermite(m: MotionIterate, rates: Array, h: Array, k: Array, s: Array) -> Array:
    s, h = s[:, None], h[k]
    a, b, d0, d1 = m.first[k], m.x[1:][k], h * rates[0][k], h * rates[2][k]
    return a * (1 + 2 * s) * (1 - s) ** 2 + d0 * s * (1 - s) ** 2 + b * s * s * (3 - 2 * s) - d1 * s * s * (1 - s)


# -------------------------------------------------------------------- arcs between jumps


def _in_arcs(found: Found, count: int, said: Callable[[str], None]) -> Found:
    """The same motion of least time with a phase for every arc; as it was if that finds nothing better."""
    arcs = _arcs(found)
    if not 1 < len(arcs) <= MOST_ARCS:
        return found
    task, m = found.task, found.motion
    times = found.mesh.times(m.durations)
    phase, share, durations, parts = [], [], [], []
    for a, (_, first, last) in enumerate(arcs):
        n = max(3, round(count * (last - first) / times[-1]))
        durations.append(last - first)
        for j in range(n):
            phase.append(a)
            share.append(1.0 / n)
            parts.append((first + (last - first) * j / n, first + (last - first) * (j + 1) / n))
    mesh = Mesh(np.array(phase), np.array(share), _held(task, [label for label, _, _ in arcs]))
    start = _at_times(found, np.array(parts), np.array(durations))
    program, solution = _solved(task, mesh, start, said, LATER_ITERATIONS, mu=1e-3)
    total = found.iterations + solution.iterations
    if not solution.converged:
        return replace(found, iterations=total)
    better = _found(task, program, solution, total, 2)
    return better if better.goal <= found.goal * (1.0 + 1e-9) + 1e-12 else replace(found, iterations=total)


def _arcs(found: Found) -> list[tuple[tuple[int, ...], float, float]]:
    """Arcs, each with the limits that its efforts are at and its times; an interval with a jump inside is divided."""
    task, m = found.task, found.motion
    low, high = task.z_low[task.n :], task.z_high[task.n :]
    with np.errstate(invalid="ignore"):
        room = np.where(np.isfinite(high - low), high - low, np.inf)
        at = np.where((m.u - low) < AT_LIMIT * room, LOWER, np.where((high - m.u) < AT_LIMIT * room, UPPER, INSIDE))
        if task.goal == "energy":
            at = np.where(np.abs(m.u) < AT_LIMIT * task.weights, NONE, at)
    same = (at[:, 0] == at[:, 1]).all(axis=1)
    label = [tuple(x) if s else None for x, s in zip(at[:, 0].tolist(), same, strict=True)]
    t = found.mesh.times(m.durations)
    runs: list[list[Any]] = []  # label, first and last time
    for k, x in enumerate(label):
        if runs and runs[-1][0] == x:
            runs[-1][2] = t[k + 1]
        else:
            runs.append([x, t[k], t[k + 1]])
    short = 2.5 * float(np.max(np.diff(t)))
    firm = [r for i, r in enumerate(runs) if not (_loose(r[0]) and r[2] - r[1] < short and 0 < i < len(runs) - 1)]
    if not firm:
        return []
    out: list[list[Any]] = []
    for r in firm:
        if out and out[-1][0] == r[0]:
            out[-1][2] = r[2]
        else:
            out.append(list(r))
    out[0][1], out[-1][2] = t[0], t[-1]
    for a, b in pairwise(out):
        a[2] = b[1] = 0.5 * (a[2] + b[1])
    return [(r[0] if r[0] is not None else (INSIDE,) * task.p, float(r[1]), float(r[2])) for r in out]


def _loose(label: tuple[int, ...] | None) -> bool:
    return label is None or INSIDE in label


def _held(task: Task, labels: list[tuple[int, ...]]) -> Array:
    """Efforts that are constant in an arc; NaN where they are free."""
    n = task.n
    value = {LOWER: task.z_low[n:], UPPER: task.z_high[n:], NONE: np.zeros(task.p), INSIDE: np.full(task.p, np.nan)}
    return np.array([[value[x][i] for i, x in enumerate(label)] for label in labels])


def _at_times(found: Found, parts: Array, durations: Array) -> MotionIterate:
    """The motion at other times: nodes, middles and efforts of intervals between these times."""
    task, m = found.task, found.motion
    t = found.mesh.times(m.durations)
    h = np.diff(t)[:, None]
    rates, f, N = _rates(task, m), task.n // 2, len(found.mesh.share)

    def place(x: Array) -> tuple[Array, Array]:
        k = np.clip(np.searchsorted(t, x, side="right") - 1, 0, N - 1)
        return k, (x - t[k]) / h[k, 0]

    def closed(x: Array, k: Array) -> Array:
        return task.points.states.closed(x[:, :f], m.x[:-1, :f][k], m.q[:N][k])[0]

    k, s = place(np.append(parts[:, 0], parts[-1, 1]))
    km, sm = place(parts.mean(axis=1))
    x, mid = _hermite(m, rates, h, k, s), _hermite(m, rates, h, km, sm)
    u = m.u[km].mean(axis=1)
    return iterate(task, x, mid, np.stack([u, u], axis=1), durations, (closed(x, k), closed(mid, km)))

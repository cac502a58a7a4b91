"""Optimal control on loops: least time, effort or energy between states, and periodic motions, within limits [Betts2010].

request           states, limits and goals by name, as numbers
states_on_loops   positions on the loops by independent coordinates, and the equations there
contact_phases    phases in which contacts are held, with impacts between them
transcription     direct collocation: the nonlinear program of a motion on a mesh
interior_point    its solution
search            first guess, finer meshes, arcs between jumps
result            the motion in time with its evidence, and its replay
predictive        the same problem over a short horizon as C for a controller
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.api import System, Trajectory, UsageError
from linkwright.rings.robots.optimal.contact_phases import READS, Schedule, schedule_of
from linkwright.rings.robots.optimal.interior_point import Solution
from linkwright.rings.robots.optimal.request import Ends, Limits, Setting, duration_of, ends_of, goal_of, intervals, limits_of
from linkwright.rings.robots.optimal.result import OptimalMotion, optimal_motion
from linkwright.rings.robots.optimal.search import Found, best_motion, first_guess, guess_of
from linkwright.rings.robots.optimal.states_on_loops import LoopStates, MotionPoints
from linkwright.rings.robots.optimal.transcription import MotionIterate, Task

NOTHING = 1e-12  # derivative of everything by a coordinate on which nothing depends
ROUGH = 0.05  # error between nodes, in radians or characteristic lengths, at which nothing is left of a motion


def optimal(
    system: System,
    goal: Any,
    to: Any,
    *,
    start: Any,
    duration: Any,
    phases: Any,
    limits: Any,
    drives: Any,
    coordinates: Any,
    periodic: Any,
    steps: Any,
    guess: Any,
    tolerance: float,
    progress: Callable[[str], Any] | None = None,
) -> OptimalMotion:
    """See `Mechanism.optimal`."""
    wanted, count = goal_of(goal), intervals(steps)
    if not (isinstance(tolerance, (int, float)) and 0.0 < tolerance < 1.0):
        raise UsageError(f"tolerance is a number between 0 and 1, not {tolerance!r}.", name="tolerance", value=tolerance)
    setting = Setting.of(system, start, drives, coordinates)
    schedule = schedule_of(setting.core, phases, setting.start, bool(periodic) and start is None)
    span = duration_of(wanted, duration) if schedule is None else schedule.whole(duration)
    ends, allowed = ends_of(setting, start, to, periodic), limits_of(setting, limits)
    task = _task(setting, wanted, ends, allowed, span, schedule)
    if ends.advance is not None:
        _pin_cyclic(setting, task)
    _need_ends_inside(setting, task, allowed)
    seconds = None if wanted == "time" else 0.5 * (span[0] + span[1]) if span[1] < 1e3 else None
    said = progress or (lambda text: None)
    if guess is None:
        begin = first_guess(task, setting.values(setting.start), setting.start.q, _target(setting, ends, schedule), count, seconds)
    else:
        begin = guess_of(task, _motion_of(guess), setting.coordinates, setting.drives, count)
    if schedule is None:
        begin.durations = np.clip(begin.durations, *span)
    found = best_motion(task, begin, count, float(tolerance), said)
    if isinstance(found, Solution):
        raise _refused(setting, task, allowed, begin, found, count)
    worst = float(found.errors.max())
    if not worst < ROUGH:
        raise UsageError(
            f"the motion found on {len(found.errors)} intervals misses the equations of motion between nodes by {worst:.2g} (radians or "
            "characteristic lengths), so it is no motion of the mechanism. Give more steps, a limit of every drive and of speeds, or a "
            "smoother load: loads and friction that jump need far more steps.",
            name="steps",
            value=worst,
        )
    return optimal_motion(setting, str(goal), allowed, found, float(tolerance))


def _pin_cyclic(setting: Setting, task: Task) -> None:
    """Begin coordinates that nothing depends on, such as the angle of a flywheel, where they are drawn: no goal would choose them."""
    f, st = task.n // 2, setting.start
    here = setting.values(st)
    found = task.points.at(np.concatenate([here, np.ones(task.p)])[None], st.q[None])
    for i in np.flatnonzero(np.abs(found["D"][0, :, :f]).max(axis=0) < NOTHING):
        task.start_low[i] = task.start_high[i] = here[i]


def _target(setting: Setting, ends: Ends, schedule: Schedule | None) -> Any:
    """Coordinates to which a first guess goes: where the end is, or what a gait advances."""
    if ends.target is not None or schedule is None or ends.advance is None:
        return ends.target
    f = len(setting.coordinates)
    return setting.values(setting.start)[:f] + np.nan_to_num(ends.advance[:f])


def _motion_of(guess: Any) -> Trajectory:
    found = getattr(guess, "trajectory", guess)
    if not isinstance(found, Trajectory):
        raise UsageError(f"guess is a run, a motion or an earlier optimal motion, not {guess!r:.60}.", name="guess")
    return found


def _task(setting: Setting, goal: str, ends: Ends, allowed: Limits, span: tuple[float, float], schedule: Schedule | None) -> Task:
    f, p = len(setting.coordinates), len(setting.drives)
    reads = {**allowed.reads, **ends.reads}
    touching = range(0 if schedule is None else len(schedule.touches))
    motion = setting.core.kernels.coordinate_motion(setting.coordinates, setting.drives, reads, touching)
    motion.need_steady()
    bound = np.maximum(np.abs(allowed.low[2 * f :]), np.abs(allowed.high[2 * f :]))
    if goal == "time" and not np.isfinite(bound).all():
        name = setting.drives[int(np.argmin(np.isfinite(bound)))]
        raise UsageError(
            f"least time needs a limit of every drive: nothing limits the effort of '{name}'. Write limits={{'{name}.torque': '2 N m'}}.",
            name=name,
        )
    weights = _weights(setting, motion, bound)
    low_z, high_z, scale = allowed.low, allowed.high, None
    if schedule is not None:
        weights = np.append(weights, np.full(2 * len(touching), schedule.force))
        low_z, high_z = np.append(low_z, schedule.least_force), np.append(high_z, np.full(2 * len(touching), np.inf))
        scale = schedule.scale
    sizes = np.concatenate([setting.sizes, setting.sizes, weights])
    points = MotionPoints(LoopStates(setting.core, setting.coordinates, setting.sizes), motion, sizes, scale)
    m, own = len(allowed.reads), READS * len(touching)
    low, high = (np.append([x[k] for x in allowed.ranges], np.full(own, end)) for k, end in ((0, -np.inf), (1, np.inf)))
    return Task(
        points, goal, weights, p, tuple(range(len(reads), len(reads) + p)) if goal == "energy" else (),
        (*range(m), *range(len(reads) + p, len(reads) + p + own)), low, high,
        low_z, high_z, ends.start_low, ends.start_high, ends.end_low, ends.end_high,
        tuple((m + i, a, b) for i, (a, b) in enumerate(ends.ranges)), ends.advance, ends.partner, span, schedule,
    )  # fmt: skip


def _weights(setting: Setting, motion: Any, bound: np.ndarray) -> np.ndarray:
    """Sizes of the efforts: their limits, or what gives the coordinates at the start a typical acceleration."""
    if np.isfinite(bound).all():
        return bound
    f = len(setting.coordinates)
    st = setting.start
    found = motion.values(st.q[None], np.zeros((1, f)), np.zeros((1, len(setting.drives) + 2 * len(motion.touching))), slopes=True)
    G = np.abs(found["D"][0, :f, 2 * f : 2 * f + len(setting.drives)]) / setting.sizes[:, None]
    typical = 10.0  # 1/s^2: a radian in half a second
    size = typical / np.maximum(G.max(axis=0), 1e-12)
    return np.where(np.isfinite(bound), bound, np.full(len(bound), float(np.max(size))))


def _need_ends_inside(setting: Setting, task: Task, allowed: Limits) -> None:
    """Raise UsageError if the start or the end is outside the limits."""
    names = [*setting.coordinates, *(f"{x}.v" for x in setting.coordinates)]
    for what, low, high in (("start", task.start_low, task.start_high), ("end", task.end_low, task.end_high)):
        for i, name in enumerate(names):
            if low[i] > task.z_high[i] + 1e-12 or high[i] < task.z_low[i] - 1e-12:
                limit = next(x for x in allowed.every if x.channel == name)
                value = limit.text(float(low[i] if np.isfinite(low[i]) else high[i]))
                raise UsageError(f"the {what} is outside the limits: '{name}' is {value} there, and {limit.range} is allowed.", name=name)


def _too_heavy(setting: Setting, task: Task, allowed: Limits, begin: MotionIterate) -> str:
    """Efforts that rest at the start or at the end needs, if they are beyond a limit; of as many drives as degrees of freedom."""
    f, out = task.n // 2, ""
    if task.p != f or task.schedule is not None:
        return out
    for what, q in (("start", begin.q[:1]), ("end of the first guess", begin.q[-1:])):
        found = task.points.motion.values(q, np.zeros((1, f)), np.zeros((1, f)), slopes=True)
        hold = np.linalg.lstsq(found["D"][0, :f, 2 * f :], -found["f"][0], rcond=None)[0]
        for name, u, low, high in zip(setting.drives, hold, task.z_low[task.n :], task.z_high[task.n :], strict=True):
            limit = next((x for x in allowed.every if x.kind == "effort" and x.channel.rsplit(".", 1)[0] == name), None)
            if limit is not None and not low <= u <= high:
                out += f" Rest at the {what} needs {limit.text(float(u))} of '{limit.name}', and {limit.range} is allowed."
    return out


def _refused(setting: Setting, task: Task, allowed: Limits, begin: Any, failed: Solution, count: int) -> UsageError:
    """Why no motion was found: what is used up, and the duration that would do."""
    more = _too_heavy(setting, task, allowed, begin)
    if task.goal != "time" and task.schedule is None and np.isfinite(task.z_high[task.n :]).all():
        least = replace(task, goal="time", power=(), duration=(1e-4, 1e4))
        found = best_motion(least, begin, count, 1e-2, lambda text: None)
        if isinstance(found, Found) and found.goal > task.duration[1]:
            more += f" The fastest motion within these limits takes {found.goal:.4g} s, and {task.duration[1]:.4g} s are allowed."
    names = ", ".join(f"{x.name} ({x.range})" for x in allowed.every) or "none"
    return UsageError(
        f"no motion was found that meets all limits: {failed.reason} after {failed.iterations} steps, with the equations of motion and the "
        f"limits violated by {failed.residuals.feasibility:.2g} (dimensionless).{more} Limits: {names}. Raise a limit, allow a longer "
        "duration, give guess= a motion that is near, or check that the drives can reach the end.",
        name="optimal",
        value=failed.residuals.feasibility,
    )

"""One piece of a path from rest to rest: the profile of a law within the limits, consistent with friction and heat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from linkwright.api import Trajectory, UsageError
from linkwright.rings.robots.time_optimal.least_energy import INSIDE, EffortTerms, LossProblem
from linkwright.rings.robots.time_optimal.limited_terms import PathTerms, Terms, derivatives_of, value_of
from linkwright.rings.robots.time_optimal.limits import MotionLimit
from linkwright.rings.robots.time_optimal.reachability import LimitRows, NoSpeed, SpeedProfile, fastest_profile
from linkwright.rings.robots.time_optimal.smooth_laws import law_at, shortest

FASTER = 1e12  # times the speed at which the path takes a second, squared: no limit of speed at all
BISECTIONS = 40
WIDEST = 12.0  # exponent of the weight of the losses, against the duration
MET_SHARE = 1e-4  # of a duration or a heat that is met


class MotionTask(NamedTuple):
    """The task: the law, for "least energy" its duration, and the time at rest behind the motion."""

    law: str
    duration: float
    pause: float

    @property
    def each(self) -> bool:
        """True if the pieces of a path do not share a duration."""
        return self.law != "least energy"

    @property
    def fastest(self) -> MotionTask:
        return self._replace(law="fastest", duration=0.0)

    def within(self, seconds: float) -> MotionTask:
        return self._replace(duration=seconds)


class PathTiming(NamedTuple):
    """Times of the grid points, s' there, and s'' behind and before them."""

    t: np.ndarray
    rate: np.ndarray
    after: np.ndarray
    before: np.ndarray
    third: np.ndarray | None = None  # third rate of s in a smooth law


@dataclass(frozen=True)
class SolvedPiece:
    """A piece in time: the motion behind and before the jumps of its acceleration, and its use of the limits."""

    path: Trajectory
    s: np.ndarray
    t: np.ndarray
    rate: np.ndarray
    second: np.ndarray
    after: Trajectory
    before: Trajectory
    use: dict[str, np.ndarray]
    losses: dict[str, float]  # of heat limits: integral of the squared effort
    holding: dict[str, float]  # effort at the end, at rest


def solved(path: PathTerms, s: np.ndarray, task: MotionTask) -> SolvedPiece:
    """The motion of a piece; friction and heat are those of the motion itself."""
    _need_rest(path, s)
    terms, last = path.smooth, np.inf
    most = 40  # motions until friction is consistent
    settled = 1e-7  # share of the duration by which two of them may differ
    for k in range(most):
        timing = _motion(path, terms, s, task)
        length = float(timing.t[-1])
        if not path.needs_loads or abs(length - last) < settled * length:
            break
        new = path.rubbed(timing.after, timing.rate**2)
        if k == 0 and not path.has_friction(new):
            break
        terms, last = (new if k < most // 4 else _between(terms, new)), length
    return _finished(path, s, timing)


def _between(one: Terms, other: Terms) -> Terms:
    """The mean of two sets of terms, for iterations that do not settle by themselves."""
    return {n: type(x)(*(0.5 * (y + z) for y, z in zip(x, other[n], strict=True))) for n, x in one.items()}


def _need_rest(path: PathTerms, s: np.ndarray) -> None:
    """Raise UsageError if the mechanism cannot be held at rest somewhere on the path."""
    worst: tuple[float, MotionLimit, int, float] | None = None
    for limit in path.limits:
        if limit.kind not in ("effort", "load"):
            continue
        value = value_of(limit, path.smooth[limit.channel].c)
        share = limit.use(np.abs(value) if limit.low == -limit.high else value)
        i = int(np.argmax(share))
        if share[i] >= 1.0 and (worst is None or share[i] > worst[0]):
            worst = (float(share[i]), limit, i, float(value[i]))
    if worst is not None:
        _, limit, i, value = worst
        raise UsageError(
            f"fastest: the limits forbid rest: at s = {s[i]:.5g} '{limit.name}' is {limit.text(value)} at rest, and {limit.range} "
            "is allowed. Raise this limit, balance the weight (springs, counterweights), or lead the path elsewhere.",
            name=limit.name,
        )


def _motion(path: PathTerms, terms: Terms, s: np.ndarray, task: MotionTask) -> PathTiming:
    """The motion for given terms."""
    if task.law not in ("fastest", "least energy"):
        return _smooth(path, terms, s, task)
    if any(x.kind == "jerk" for x in path.limits):
        raise UsageError(
            f"fastest: limits of jerk need a smooth law ('quintic', 'septic', 's-curve'): in {task.law!r} accelerations jump.",
            name=task.law,
        )
    rows, span = path.rows(terms), float(s[-1] - s[0])
    if not (np.abs(rows.A).max() > 0.0):
        raise UsageError(
            "fastest: nothing limits the acceleration. Add a limit of an effort, a load or an acceleration, such as 'A.torque'."
        )
    heat = [x for x in path.limits if x.kind == "heat"]
    try:
        profile = fastest_profile(rows, s, FASTER * span**2)
    except NoSpeed as error:
        limit = path.limits[error.label]
        raise UsageError(
            f"fastest: no speed satisfies the limits at s = {s[error.i]:.5g}, where '{limit.name}' ({limit.range}) is closest to it: "
            "friction uses up the rest of it. Raise this limit.",
            name=limit.name,
        ) from error
    if profile.x.max() > 0.99 * FASTER * span**2:
        i = int(np.argmax(profile.x))
        raise UsageError(
            f"fastest: no limit bounds the speed at s = {s[i]:.5g}: the limited channel does not move there. Add 'A.v' of the drives."
        )
    if task.law == "least energy":
        return _timing(_least(path, terms, rows, profile, task.duration))
    if heat:
        e = _efforts(terms, [x.channel for x in heat])
        profile = _cool(rows, e, profile, np.array([x.high for x in heat]), task.pause, [x.name for x in heat])
    return _timing(profile)


def _efforts(terms: Terms, names: list[str]) -> EffortTerms:
    return EffortTerms(*(np.concatenate([terms[n][k] for n in names], axis=1) for k in range(3)))


def _timing(p: SpeedProfile) -> PathTiming:
    t = np.concatenate([[0.0], np.cumsum(p.steps)])
    return PathTiming(t, np.sqrt(p.x), np.append(p.u, p.late[-1]), np.insert(p.late, 0, p.u[0]))


def _smooth(path: PathTerms, terms: Terms, s: np.ndarray, task: MotionTask) -> PathTiming:
    span = float(s[-1] - s[0])
    z, at = law_at(task.law, (s - s[0]) / span)
    seconds, _ = shortest(path.rows(terms), at, span)
    for limit in (x for x in path.limits if x.kind == "jerk"):
        first, second = derivatives_of(path.path, limit.channel)
        third = np.gradient(second, s, axis=0, edge_order=2)
        d1, d2, d3 = (span * x[:, None] for x in (at.d1, at.d2, at.d3))
        size = np.sqrt(((third * d1**3 + 3.0 * second * d1 * d2 + first * d3) ** 2).sum(axis=1)).max()
        seconds = max(seconds, float(np.cbrt(size / limit.high)))
    heat = [x for x in path.limits if x.kind == "heat"]
    if heat:
        e = _efforts(terms, [x.channel for x in heat])
        seconds = _slowed(e, z, (span * at.d1, span * at.d2), seconds, heat, task.pause)
    if not 0.0 < seconds < np.inf:
        raise UsageError("fastest: nothing limits the speed of this law. Add a limit, such as 'A.torque' or 'A.v'.")
    second = span * at.d2 / seconds**2
    return PathTiming(z * seconds, span * at.d1 / seconds, second, second, span * at.d3 / seconds**3)


def _slowed(
    e: EffortTerms, z: np.ndarray, rates: tuple[np.ndarray, np.ndarray], seconds: float, heat: list[MotionLimit], pause: float
) -> float:
    """The duration, at least that given, at which no RMS effort of a law over motion and pause exceeds its limit."""
    from scipy.integrate import trapezoid

    d1, d2 = rates

    def excess(T: float) -> float:
        effort = e.a * (d2 / T**2)[:, None] + e.b * ((d1 / T) ** 2)[:, None] + e.c
        total = T * trapezoid(effort**2, z, axis=0) + pause * e.c[-1] ** 2
        return float((np.sqrt(total / (T + pause)) / [x.high for x in heat]).max())

    if excess(seconds) <= 1.0:
        return seconds
    low, high = seconds, seconds
    while excess(high) > 1.0:
        high *= 2.0
        if high > 1e4 * seconds:
            raise UsageError(_too_warm(heat[0].name))
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 1.0 else (low, middle)
    return high


def _too_warm(name: str) -> str:
    return (
        f"fastest: '{name}' cannot be held at any speed: holding the mechanism against gravity and springs takes more. "
        "Raise this limit, balance the weight, or give the motor a longer pause in a position without load (pause='1 s')."
    )


def _least(path: PathTerms, terms: Terms, rows: LimitRows, quick: SpeedProfile, duration: float) -> SpeedProfile:
    """Return the profile of least loss that takes a duration; `_weighed` finds the weight of the loss against the time."""
    if duration < quick.time * INSIDE:
        if duration < quick.time * (1.0 - 1e-9):
            raise UsageError(f"fastest: the limits allow no motion in {duration:.6g} s. The fastest one takes {quick.time:.6g} s.")
        return quick.slower(duration / quick.time)
    names = path.efforts
    if not names or not path.needs_loads:
        raise UsageError("law='least energy' needs a limit of a drive's effort, such as 'A.torque'.", name="law")
    e = _efforts(terms, names)
    scale = _sizes(path, names)
    start = quick.slower(duration / quick.time)
    problem = LossProblem.of(rows, e, quick)

    def late(exponent: float) -> tuple[float, SpeedProfile]:
        found = problem.least(10.0**exponent / scale**2, start)
        return found.time / duration - 1.0, found

    _, found = _weighed(late)
    return found.slower(duration / found.time) if found.time < duration else _hurried(found, quick, duration)


def _hurried(slow: SpeedProfile, quick: SpeedProfile, duration: float) -> SpeedProfile:
    """A mixture with the fastest profile, which satisfies linear rows as both do, of exactly this duration."""
    low, high = 0.0, 1.0

    def mixed(w: float) -> SpeedProfile:
        return SpeedProfile.of_halves(slow.s, (1.0 - w) * slow.halves + w * quick.halves)

    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mixed(middle).time > duration else (low, middle)
    return mixed(high)


def _sizes(path: PathTerms, names: list[str]) -> np.ndarray:
    """Efforts that count alike: their limits, or one newton meter or newton."""
    allowed = {x.channel: max(abs(x.low), abs(x.high)) for x in path.limits if x.kind == "effort"}
    return np.array([allowed.get(n, 1.0) for n in names])


def _cool(rows: LimitRows, e: EffortTerms, quick: SpeedProfile, allowed: np.ndarray, pause: float, names: list[str]) -> SpeedProfile:
    """The fastest profile whose RMS efforts over motion and pause are allowed: weights of the losses grow until all are."""
    holding = e.c[-1]

    problem = LossProblem.of(rows, e, quick)

    def used(p: SpeedProfile) -> np.ndarray:
        return np.sqrt((problem.losses(p) + pause * holding**2) / (p.time + pause)) / allowed

    if used(quick).max() <= 1.0:
        return quick
    hottest = names[int(np.argmax(np.sqrt((e.c**2).mean(axis=0)) / allowed))]
    start, w = quick.slower(2.0), np.where(used(quick) > 1.0, 1.0, 0.0)

    def spare(exponent: float) -> tuple[float, SpeedProfile]:
        nonlocal w
        found = problem.least(w * 10.0**exponent / allowed**2, start)
        share = used(found)
        w = np.where((share > 1.0) & (w == 0.0), 1.0, w)
        return 1.0 - float(share.max()), found

    creeping = quick.slower(1e6)
    if used(creeping).max() > 1.0 and used(problem.least(10.0**WIDEST / allowed**2, start)).max() > 1.0:
        raise UsageError(_too_warm(hottest), name=hottest)  # neither creeping nor the motion of least loss of all drives is cool enough
    value, found = _weighed(spare)
    if value < 0.0:
        raise UsageError(_too_warm(hottest), name=hottest)
    return found


def _weighed(grows: Callable[[float], tuple[float, SpeedProfile]]) -> tuple[float, SpeedProfile]:
    """Return the value and the profile at which a value that grows with the exponent of a weight is zero, or at most CLOSE above it.

    Regula falsi (Illinois) in a bracket that is widened from 0 to +-WIDEST; where the value has no root the last one is returned.
    """
    at, (value, found) = 0.0, grows(0.0)
    side = -1.0 if value > 0.0 else 1.0
    low, high, earlier = (at, value), (at, value), found
    for reach in (1.0, 3.0, 7.0, WIDEST):
        if 0.0 <= value < MET_SHARE:
            return value, found
        before, earlier = (at, value), found
        at = side * reach
        value, found = grows(at)
        if value * side >= 0.0:
            low, high = (before, (at, value)) if side > 0.0 else ((at, value), before)
            break
    else:
        return value, found
    best = (value, found) if value >= 0.0 else (high[1], earlier)
    fixed = ""  # the end that the last step did not move
    for _ in range(BISECTIONS):
        if 0.0 <= value < MET_SHARE or high[0] - low[0] < 1e-6:
            break
        at = low[0] + (high[0] - low[0]) * low[1] / (low[1] - high[1])
        at = min(max(at, low[0] + 0.05 * (high[0] - low[0])), high[0] - 0.05 * (high[0] - low[0]))
        value, found = grows(at)
        if value >= 0.0:
            best, high, low = (value, found), (at, value), (low[0], (0.5 if fixed == "low" else 1.0) * low[1])
            fixed = "low"
        else:
            low, high = (at, value), (high[0], (0.5 if fixed == "high" else 1.0) * high[1])
            fixed = "high"
    return best


def _finished(path: PathTerms, s: np.ndarray, timing: PathTiming) -> SolvedPiece:
    """The motion in time, with its limits computed from the motion itself."""
    after, before = path.moving(timing.rate, timing.after), path.moving(timing.rate, timing.before)
    acted = [path.loads(timing.rate, u) if path.needs_loads else {} for u in (timing.after, timing.before)]
    use: dict[str, np.ndarray] = {}
    losses_now: dict[str, float] = {}
    holding: dict[str, float] = {}
    for limit in path.limits:
        if limit.kind in ("effort", "load"):
            values = [value_of(limit, x[limit.channel]) for x in acted]
        elif limit.kind == "heat":
            early, late = acted[0][limit.channel][:-1, 0], acted[1][limit.channel][1:, 0]
            losses_now[limit.name] = float((np.diff(timing.t) * (early**2 + early * late + late**2) / 3.0).sum())
            holding[limit.name] = float(path.smooth[limit.channel].c[-1, 0])
            continue
        else:
            values = _moved(path, limit, s, timing)
        shares = [np.abs(limit.use(x)) for x in values]
        use[limit.name] = np.maximum(*shares)
    return SolvedPiece(
        path.path, s, timing.t, timing.rate, timing.after, replace(after, t=timing.t), replace(before, t=timing.t), use, losses_now, holding
    )


def _moved(path: PathTerms, limit: MotionLimit, s: np.ndarray, timing: PathTiming) -> list[np.ndarray]:
    """Values of a limited speed, acceleration or jerk, behind and before the samples."""
    first, second = derivatives_of(path.path, limit.channel)
    rate = timing.rate[:, None]
    if limit.kind == "speed":
        return [value_of(limit, first * rate)] * 2
    if limit.kind == "acceleration":
        return [value_of(limit, first * u[:, None] + second * rate**2) for u in (timing.after, timing.before)]
    third = np.gradient(second, s, axis=0, edge_order=2)
    assert timing.third is not None
    return [value_of(limit, third * rate**3 + 3.0 * second * rate * timing.after[:, None] + first * timing.third[:, None])] * 2

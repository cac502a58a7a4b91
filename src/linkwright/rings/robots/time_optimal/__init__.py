"""Fastest motion along a path within limits: time-optimal, of least loss, or by a smooth law [Pham2018, Verscheure2009].

stops           pieces of the path between corners and places where it rests; each from rest to rest
limits          what a caller limits, by channels
limited_terms   limited quantities as a u + b x + c along the path (u = s'', x = s'^2), friction near the last motion
reachability    the time-optimal profile x(s): controllable intervals backward, greedy forward
least_energy    profiles of least loss, and those that hold the heat of a motor
smooth_laws     polynomials and the S-curve
solving         one piece: which of these, again until friction and heat are consistent
result          the motion in time, and which limit decides where
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    LinkwrightError,
    SingularityError,
    System,
    Trajectory,
    UsageError,
    compiled_of,
    errors,
    quantity,
    records,
    whole_number,
)
from linkwright.motion.assembly import Assembler
from linkwright.motion.following import along, drive_speeds
from linkwright.motion.following.authority import authority_shares
from linkwright.motion.following.prescribed import PrescribedPath, prescribed_path
from linkwright.rings.robots.time_optimal.limited_terms import PathTerms
from linkwright.rings.robots.time_optimal.limits import MotionLimit, read_limits
from linkwright.rings.robots.time_optimal.path_segment import MotionTask, SolvedPiece, solved
from linkwright.rings.robots.time_optimal.result import TimeOptimalMotion
from linkwright.rings.robots.time_optimal.smooth_laws import LAWS
from linkwright.rings.robots.time_optimal.stops import pieces

PATH_PARAMETER = re.compile(r"((?:^|[-+*(,]|\*\*)\s*)s(?![\w(])")  # an operand of its own; behind a number or / it is the second
TIME_FOR_S = "(t / (1 s))"  # in formulas of a path, in place of s
TIME = re.compile(r"\bt = ((?:-?[\d.]+(?:e[-+]?\d+)?(?:, )?)+) s\b")


def time_optimal(
    system: System,
    path: Mapping[str, Any],
    limits: Any,
    drives: Any = None,
    *,
    law: str,
    span: Any,
    steps: int,
    duration: Any,
    pause: Any,
) -> TimeOptimalMotion:
    """See `Mechanism.time_optimal`."""
    core, drives = compiled_of(system), compiled_of(system).named_drives(drives)
    assembler, here, sampled = core.assembler, core.start, []
    speeds = partial(drive_speeds, core, drives=drives)
    task, ends = _asked(path, law, span, steps, duration, pause)
    times = np.linspace(*ends, steps + 1)
    try:
        paths = [prescribed_path(assembler, here, str(name), _over_s(one), times) for name, one in path.items()]
        _need_determined(paths, system.mobility.freedoms, assembler.description.planar)
        parts, notes = pieces(paths, ends, steps, assembler.loops.kappa, law)
        for part in parts:
            c = along(assembler, here, part.paths, part.s, drives, core.walking, speeds)
            sampled.append(replace(c, system=system, drives=tuple(drives)))
            here = c.state(len(c) - 1)
    except LinkwrightError as error:
        raise _of_path(error) from error
    for c in sampled:
        _need_authority(c, drives)
        notes += [_by_s(x) for x in c.notes if x not in notes and "corner" not in x] or _weak(assembler, c, drives, speeds)
    read = read_limits(limits, sampled[0])
    terms = [PathTerms(c, read) for c in sampled]
    if not task.each:
        return _joined(task, _timed(terms, parts, task), read, notes)
    tasks = [task._replace(pause=0.0)] * (len(parts) - 1) + [task]  # the motor cools behind the last piece
    return _joined(task, [solved(*x) for x in zip(terms, [p.s for p in parts], tasks, strict=True)], read, notes)


def _timed(terms: Sequence[PathTerms], parts: Sequence[Any], task: MotionTask) -> list[SolvedPiece]:
    """Pieces that share a duration: that beyond the fastest motion is divided in proportion to the pieces' own."""
    quick = [solved(x, p.s, task.fastest) for x, p in zip(terms, parts, strict=True)]
    least = sum(float(x.t[-1]) for x in quick)
    if task.duration < least * (1.0 - 1e-9):
        raise UsageError(f"fastest: the limits allow no motion in {task.duration:.6g} s. The fastest one takes {least:.6g} s.")
    return [solved(x, p.s, task.within(float(y.t[-1]) * task.duration / least)) for x, p, y in zip(terms, parts, quick, strict=True)]


def _asked(path: Any, law: Any, span: Any, steps: Any, duration: Any, pause: Any) -> tuple[MotionTask, tuple[float, float]]:
    """The task in SI; raise UsageError unless everything is usable."""
    if not isinstance(path, Mapping) or not path:
        raise UsageError(
            f"path is a dict of paths by joint, point or body, such as {{'tip.P': lambda s: (0.1 * s, 0.2)}}, not {path!r:.60}.",
            name="path",
            value=path,
        )
    known = ("fastest", "least energy", *LAWS)
    if law not in known:
        raise UsageError(f"law is one of {', '.join(repr(x) for x in known)}, not {law!r}.", name="law", value=law)
    most_steps = 20_000
    fewest_steps = 24
    whole_number(steps, "steps", fewest_steps, most_steps)
    try:
        low, high = (float(x) for x in span)
    except (TypeError, ValueError):
        low, high = 0.0, 0.0
    if not (np.isfinite([low, high]).all() and low < high):
        raise UsageError(
            f"span is the first and the last value of the path parameter, such as (0, 1), not {span!r:.60}.", name="span", value=span
        )
    seconds = None if duration is None else quantity(duration, KINDS["time"], "duration")
    rest = quantity(pause, KINDS["time"], "pause")
    if rest < 0.0:
        raise UsageError(
            f"pause is the time at rest between two motions and must not be negative, not {pause!r}.", name="pause", value=pause
        )
    if (seconds is None) == (law == "least energy"):
        more = (
            "needs a duration: the slower, the less loss"
            if law == "least energy"
            else "takes no duration. m.follow(motion.drives) plays it"
        )
        raise UsageError(f"law={law!r} {more}. duration='0.8 s' belongs to law='least energy'.", name=law)
    if seconds is not None and not seconds > 0.0:
        raise UsageError(f"duration must be longer than zero, not {duration!r}.", name="duration", value=duration)
    return MotionTask(law, seconds or 0.0, rest), (low, high)


def _over_s(given: Any) -> Any:
    """A path whose texts are formulas of s ("20 deg + 30 deg * s"), as formulas of the time that takes its place; others as they are."""
    if isinstance(given, str):
        return PATH_PARAMETER.sub(rf"\1{TIME_FOR_S}", given)
    if isinstance(given, (list, tuple)) and any(isinstance(x, str) for x in given):
        return type(given)(_over_s(x) for x in given)
    return given


def _need_determined(paths: Sequence[PrescribedPath], freedoms: int, planar: bool) -> None:
    """Raise UsageError if the path prescribes fewer coordinates than the mechanism has degrees of freedom."""
    count = sum((3 if planar else 6) if w.kind == "body" else len(w.kinds) for w in paths)
    if count < freedoms:
        names = " and ".join(f"'{w.name}'" for w in paths)
        raise UsageError(
            f"fastest: the path of {names} prescribes {count} of {freedoms} degrees of freedom, so the position of the mechanism is not "
            "determined. Name more drives, or a point or body whose path determines all of them."
        )


def _need_authority(c: Trajectory, drives: Sequence[str]) -> None:
    """Raise SingularityError if the drives lose the mechanism on the way."""
    lost = [e.time for e in c.events if e.name == "singular"]
    if lost:
        why = next((_by_s(x).split(". ")[0] for x in c.notes if "cannot hold" in x), "its drives lose control authority")
        raise SingularityError(
            f"fastest: the path leads through a singular position at s = {lost[0]:.5g}: {why}. No limit of torque holds there at any "
            "speed. Lead the path around it, give the mechanism another drive (drives=[...]), or end the path before it.",
            singular_values=(0.0,),
            name="time_optimal",
        )


def _weak(assembler: Assembler, c: Trajectory, drives: Sequence[str], speeds: Callable[[Trajectory], np.ndarray | None]) -> list[str]:
    """A note where a position near a singular one slows the motion."""
    found = speeds(c) if drives else None
    share = None if found is None else authority_shares(assembler.loops, drives, found)
    weak = 0.15  # share of the best control authority on the path below which a note says that it slows the motion
    if share is None or share.min() > weak:
        return []
    i = int(np.argmin(share))
    return [
        f"near s = {c.t[i]:.5g} the drives have {100 * share[i]:.2g} % of the control authority they have elsewhere: a singular "
        "position is near, torques and loads grow, and the motion is slowed there. See 'linkwright docs singular-positions'"
    ]


def _by_s(text: str) -> str:
    """Return a message about a path over time as one about s."""
    return TIME.sub(r"s = \1", text.replace(TIME_FOR_S, "s"))


def _of_path(error: LinkwrightError) -> LinkwrightError:
    text = _by_s(str(error))
    if isinstance(error, errors.AssemblyError):
        return errors.AssemblyError(text, gap=error.gap, loop=error.loop)
    if isinstance(error, SingularityError):
        return SingularityError(text, singular_values=error.singular_values)
    return type(error)(text) if type(error) is UsageError else error


def _joined(task: MotionTask, found: Sequence[SolvedPiece], limits: Sequence[MotionLimit], notes: Sequence[str]) -> TimeOptimalMotion:
    """One motion of all pieces."""
    begins = np.concatenate([[0.0], np.cumsum([float(x.t[-1]) for x in found])])
    last = len(found) - 1
    picked = [(x, slice(0, None if k == last else -1), float(begins[k])) for k, x in enumerate(found)]

    def both(read: Callable[[SolvedPiece], np.ndarray]) -> np.ndarray:
        return np.concatenate([read(x)[pick] for x, pick, _ in picked])

    t = np.concatenate([x.t[pick] + begin for x, pick, begin in picked])
    # before a stop the acceleration is that of the piece that ends there
    earlier = np.concatenate([found[0].before.a[:1], *(x.before.a[1:] for x in found)])
    references = [one for x, pick, _ in picked for one in list(x.path.references)[pick]]
    use = {n: _larger([x.use[n] for x in found]) for n in found[0].use}
    columns = {
        "path.s": records.Column(both(lambda x: x.s), "none"),
        "path.rate": records.Column(both(lambda x: x.rate), "none"),
        "path.acceleration": records.Column(both(lambda x: x.second), "none"),
    }
    settings = {"law": task.law, "heat": _heat(found, limits, task.pause)}
    put = {"t": t, "q": both(lambda x: x.after.q), "v": both(lambda x: x.after.v), "a": both(lambda x: x.after.a), "references": references}
    made = replace(found[0].path, **put, columns=columns, settings=settings, notes=tuple(notes), events=(), arrays={})
    return TimeOptimalMotion(task.law, made, replace(made, a=earlier), tuple(limits), use, tuple(notes))


def _larger(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Shares of a limit over all pieces; where two meet the larger one."""
    out = parts[0]
    for x in parts[1:]:
        out = np.concatenate([out[:-1], [max(out[-1], x[0])], x[1:]])
    return out


def _heat(found: Sequence[SolvedPiece], limits: Sequence[MotionLimit], pause: float) -> dict[str, float]:
    """RMS efforts over all pieces and the pause, by limit."""
    out = {}
    for limit in limits:
        if limit.kind == "heat":
            total = sum(x.losses[limit.name] for x in found) + pause * found[-1].holding[limit.name] ** 2
            out[limit.name] = float(np.sqrt(total / (sum(float(x.t[-1]) for x in found) + pause)))
    return out

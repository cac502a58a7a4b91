"""A mechanism along a prescribed motion of drives, points or bodies: "platform path in, drive efforts out".

Every sample is walked to from the one before, so the branch does not change; velocities and accelerations are completed on the loops. What
a path may be is in `prescribed`, its derivatives are in `curves`, and positions in which the drives lose control authority in `authority`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import AssemblyError, SingularityError, UsageError, whole_number
from linkwright.mechanics.constraints import Constraint, ConstraintRows
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, locate_at, node_motion
from linkwright.model.curves.third_derivatives import third_derivatives
from linkwright.model.file import quantity
from linkwright.motion.assembly import Assembler
from linkwright.motion.cycle import MOST_STEPS
from linkwright.motion.following.authority import with_authority_notes
from linkwright.motion.following.prescribed import PrescribedPath, prescribed_path
from linkwright.motion.following.smoothness import jets
from linkwright.motion.joint_limits import beyond_stops
from linkwright.numerics.spatial import skew
from linkwright.results.cut_references import cut_references
from linkwright.results.records import THIRD, CountedReferences, cut_rows
from linkwright.results.singular_positions import steep_minima
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled


MOST_TURNS = 1000.0  # between two samples: a shaft at 60000 rpm that is sampled once a second
HALVINGS = 10  # of the way between two samples, to say when a path leaves the reach
STRAIGHT = 0.05  # in the same units: how far a path may be from it
SHARES = np.array([0.137, 0.29, 0.5, 0.618, 0.83])  # of the way, where that is looked at; uneven, so that no period hides a loop
HALVED = 8  # times at most: a jump is never straight


@dataclass(frozen=True)
class BodyMotion:
    """Reads a body's angular velocity and the velocity of its origin (in a plane: the three that matter)."""

    body: str
    planar: bool
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.body

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("angle", "length", "length") if self.planar else ("angle",) * 3 + ("length",) * 3

    def rows(self, skel: Skeleton, m: Motion, v: Any, t: Any, references: Any) -> ConstraintRows:
        node = skel.node(self.body)
        p = locate_at(skel, m, node, np.zeros(3))
        G = np.concatenate([np.concatenate([np.eye(3), np.zeros((3, 3))], axis=1), np.concatenate([-skew(p.arm), np.eye(3)], axis=1)])
        k = np.concatenate([node_motion(skel, m, node)[2][:3], p.acceleration])
        pick = [2, 3, 4] if self.planar else list(range(6))
        return ConstraintRows(np.zeros(len(pick)), [(node, G[pick])], k[pick], np.zeros(len(pick)))


def sample_times(t: Any, duration: Any, steps: Any, most: int = MOST_STEPS) -> np.ndarray:
    """The times of a motion: those given, or `steps` equal steps."""
    if t is None:
        seconds = quantity(duration, KINDS["time"], "duration")
        if not seconds > 0.0:
            raise UsageError(f"duration must be longer than zero, not {duration!r}.", name="duration", value=duration)
        return np.linspace(0.0, seconds, whole_number(steps, "steps", 1, most) + 1)
    try:
        times = np.array([quantity(x, KINDS["time"], "t") for x in t]) if isinstance(t, (list, tuple)) else np.asarray(t, dtype=float)
    except (TypeError, ValueError) as error:
        raise UsageError(f"t must be a list of times, not {t!r:.60}. duration= and steps= make equal steps.", value=t, name="t") from error
    if times.ndim != 1 or len(times) < 2 or not np.isfinite(times).all() or not np.all(np.diff(times) > 0):
        raise UsageError("t must be two or more finite times that increase. duration= and steps= make equal steps.", name="duration")
    return times


def follow(
    assembler: Assembler,
    start: State,
    motion: Mapping[str, Any],
    times: np.ndarray,
    drives: Sequence[str] = (),
    walking: Callable[..., Any] | None = None,
    speeds: Callable[[Trajectory], np.ndarray | None] | None = None,
) -> Trajectory:
    """States along the motion; the first one is walked to from `start`. Notes say what `drives` cannot do on the way.

    `walking(names)` gives the native walk of these coordinates, `speeds(c)` the velocities per unit speed of each drive at every sample.
    """
    if not isinstance(motion, Mapping) or not motion:
        raise UsageError(
            f"motion is a dict of paths by joint, point or body, such as {{'A': lambda t: 2 * t}}, not {motion!r:.60}.",
            name="motion",
            value=motion,
        )
    paths = [prescribed_path(assembler, start, str(name), path, times) for name, path in motion.items()]
    return along(assembler, start, paths, times, drives, walking, speeds)


def along(
    assembler: Assembler,
    start: State,
    paths: Sequence[PrescribedPath],
    times: np.ndarray,
    drives: Sequence[str] = (),
    walking: Callable[..., Any] | None = None,
    speeds: Callable[[Trajectory], np.ndarray | None] | None = None,
) -> Trajectory:
    """See `follow`, of paths that have been read."""
    _need_steady(paths, times)
    first, kappa = _placed(assembler, paths, start, times, 0), assembler.loops.kappa
    c = swept(first, paths, times, walking, kappa) or _walked(assembler, start, paths, times)

    def between(i: int, share: float) -> State:
        return _at(assembler, paths, c.state(i), float(times[i] + share * (times[i + 1] - times[i])))

    notes, third = [note for w in paths for note in w.notes], _thirds(assembler, paths, times)
    c = replace(c, notes=(*notes, *beyond_stops(c)), arrays={**c.arrays, **third})
    return with_authority_notes(assembler.loops, c, drives, between, None if speeds is None else speeds(c))


def _need_steady(paths: Sequence[PrescribedPath], times: np.ndarray) -> None:
    """Raise UsageError for an angle of a joint that jumps by more turns than can be walked between two samples."""
    for w in paths:
        angles = [k for k, kind in enumerate(w.kinds) if kind == "angle"] if w.kind == "joint" else []
        steps = np.abs(np.diff(np.array(w.jets.f, dtype=float)[:, angles], axis=0)) / (2.0 * np.pi)
        if steps.size and steps.max() > MOST_TURNS:
            i = int(np.argmax(steps.max(axis=1)))
            raise UsageError(
                f"the path of '{w.name}' turns {steps[i].max():.3g} times between t = {times[i]:.6g} s and {times[i + 1]:.6g} s. Check its "
                "values and their unit, or give more samples.",
                name=w.name,
            )


def _thirds(assembler: Assembler, paths: Sequence[PrescribedPath], times: np.ndarray) -> dict[str, np.ndarray]:
    """Third derivatives of prescribed coordinates by name, as arrays of a trajectory; none where one of them is not known."""
    out: dict[str, np.ndarray] = {}
    axes = assembler.description.plane or "xyz"
    for w in paths:
        found = None if w.kind == "body" else third_derivatives(w.curve, times)
        if found is None:
            return {}
        names = [w.name] if w.kind == "joint" else [f"{w.name}.{axis}" for axis in axes]
        out |= {THIRD + name: found[:, i : i + 1] for i, name in enumerate(names)}
    return out


def _walked(assembler: Assembler, start: State, paths: Sequence[PrescribedPath], times: np.ndarray) -> Trajectory:
    """The states on floats, each walked to from the one before."""
    planar = assembler.description.planar
    rows: list[tuple[Any, ...]] = []
    here = start
    for i, time in enumerate(times):
        here = _placed(assembler, paths, here, times, i)
        readers = [_reader(assembler, here, w) for w in paths]
        rates = [w.rates(i, planar) for w in paths]
        try:
            v = assembler.rates(here, readers, [r[0] for r in rates])
            moving = State(assembler.skel, here.q, v, here.references, float(time))
            a = assembler.rates(moving, readers, [r[1] for r in rates], second=True)
        except SingularityError as error:
            raise SingularityError(f"at t = {time:.6g} s of the motion: {error}", singular_values=error.singular_values) from error
        rows.append((here.q, v, a, here.references))
    q_all, v_all, a_all, references = (list(column) for column in zip(*rows, strict=True))
    return Trajectory(assembler.skel, times, np.array(q_all), np.array(v_all), np.array(a_all), references)


def _at(assembler: Assembler, paths: Sequence[PrescribedPath], guess: State, time: float) -> State:
    """The wanted motion at any time, on the branch of a state near it."""
    return _assembled(assembler, paths, guess, [jets(w.curve, np.array([time])).f[0] for w in paths])


def _assembled(assembler: Assembler, paths: Sequence[PrescribedPath], guess: State, values: Sequence[np.ndarray]) -> State:
    at: dict[str, dict[str, Any]] = {"joint": {}, "point": {}, "body": {}}
    for w, f in zip(paths, values, strict=True):
        at[w.kind][w.name] = w.target(f)
    return assembler.assemble(at["joint"], point=at["point"], pose=at["body"], guess=guess)


def _between(paths: Sequence[PrescribedPath], times: np.ndarray, i: int, kappa: float) -> list[float]:
    """Times before sample i at which the path has to be visited, because it is not straight from the sample before on."""
    scale = [np.array([kappa if kind == "length" else 1.0 for kind in w.kinds]) for w in paths]
    h = times[i] - times[i - 1]
    ends = [(np.array(w.jets.f[i - 1 : i + 1]) / s, h * np.array(w.jets.df[i - 1 : i + 1]) / s) for w, s in zip(paths, scale, strict=True)]
    if all(max(np.abs(f[1] - f[0]).max(initial=0.0), np.abs(move).max(initial=0.0)) < SHORT for f, move in ends):
        return []

    def bent(low: float, high: float) -> bool:
        at = np.array([low, *(low + SHARES * (high - low)), high])
        curves = [jets(w.curve, at).f / s for w, s in zip(paths, scale, strict=True)]
        return any(np.abs(f[1:-1] - f[0] - SHARES[:, None] * (f[-1] - f[0])).max(initial=0.0) > STRAIGHT for f in curves)

    def visited(low: float, high: float, depth: int) -> list[float]:
        if depth == 0 or not bent(low, high):
            return []
        middle = 0.5 * (low + high)
        return [*visited(low, middle, depth - 1), middle, *visited(middle, high, depth - 1)]

    return visited(float(times[i - 1]), float(times[i]), HALVED)


def _placed(assembler: Assembler, paths: Sequence[PrescribedPath], here: State, times: np.ndarray, i: int) -> State:
    """Sample i, walked to from the one before along the path itself: turns do not depend on how many samples there are."""
    try:
        if i > 0:
            for time in _between(paths, times, i, assembler.loops.kappa):
                here = _at(assembler, paths, here, time)
        return _assembled(assembler, paths, here, [w.jets.f[i] for w in paths])
    except AssemblyError as error:
        names = " and ".join(f"'{w.name}'" for w in paths)
        if i == 0:
            text = f"the path of {names} begins (t = {times[0]:.6g} s) at a place that cannot be reached from the start: {error}"
            raise AssemblyError(text, gap=error.gap, loop=error.loop) from error
        inside, outside = float(times[i - 1]), float(times[i])
        for _ in range(HALVINGS):
            middle = 0.5 * (inside + outside)
            try:
                here = _at(assembler, paths, here, middle)
                inside = middle
            except AssemblyError:
                outside = middle
        raise AssemblyError(
            f"the path of {names} leaves the reach at t = {inside:.6g} s, before sample {i} of {len(times) - 1} (t = {times[i]:.6g} s): "
            f"a dead center, or the end of a link's reach ('{error.loop}' cannot be closed beyond it). Keep the path inside, "
            "or let it begin on another branch (`start:` in the model).",
            gap=error.gap,
            loop=error.loop,
            name=error.loop,
        ) from error


def _reader(assembler: Assembler, st: State, w: PrescribedPath) -> Constraint:
    if w.kind == "body":
        return BodyMotion(w.name, assembler.description.planar)
    return assembler.reader(w.name, st)


def drive_speeds(core: Compiled, c: Trajectory, drives: Sequence[str]) -> np.ndarray | None:
    """Velocities per unit speed of each drive at all samples, (n, nv, drives); None where a kernel does not give them."""
    kernel = core.ready("jacobian") if list(drives) == core.drive_names else None
    if kernel is None:
        return None
    more = {"near": cut_rows(c.skel, c.references)} if any(b.name == "near" for b in kernel.inputs) else {}
    found = kernel(c.q, **more)
    return None if found.failed else found.v


# ----------------------------------------------------------------------------------------------------
# A prescribed motion in native code: the walk of a cycle, with paths in place of drives

SHORT = 0.3  # rad, or multiples of kappa: samples that far apart are joined by a straight line


def swept(
    first: State, paths: Sequence[PrescribedPath], times: np.ndarray, walking: Callable[..., Any] | None, kappa: float
) -> Trajectory | None:
    """Samples from the first one on; None where paths do not decide the motion one by one, or a singular position may lie on the way."""
    if walking is None or any(w.kind == "body" or not close_together(w, times, kappa) for w in paths):
        return None
    names = [f"{w.name}.{axis}" if w.kind == "point" else w.name for w in paths for axis in "xyz"[: len(w.kinds)]]
    walks = walking(names)
    if walks is None:
        return None
    skel = first.skel
    laws = np.concatenate([np.asarray(w.jets[k], dtype=float).reshape(len(times), -1) for k in range(3) for w in paths], axis=1)
    found = walks(first.q, skel.pack(first.references), times, laws)
    if found.reached < len(times) or steep_minima(np.abs(found.determinant)):
        return None
    counted = CountedReferences(skel, found.q, lambda: cut_references(skel, times, found.q, found.v, found.references).rows)
    return Trajectory(skel, times, found.q, found.v, found.a, counted)


def close_together(w: PrescribedPath, times: np.ndarray, kappa: float) -> bool:
    """True if the path between any two samples is nearly straight: both the way and its ends' speeds are short."""
    scale = np.array([kappa if kind == "length" else 1.0 for kind in w.kinds])
    f, df = (np.asarray(x, dtype=float).reshape(len(times), -1) / scale for x in w.jets[:2])
    h = np.diff(times)[:, None]
    longest = [np.abs(x).max(initial=0.0) for x in (np.diff(f, axis=0), h * df[1:], h * df[:-1])]
    return max(longest) < SHORT

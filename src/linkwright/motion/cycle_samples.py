"""Samples of a cycle: states along the branch at given times, also next to singular positions, which are located and marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import joints as joint_types
from linkwright.mechanics.closing.continuation import WINDOW, Walker, walk
from linkwright.mechanics.closing.continuation import start as walker
from linkwright.mechanics.constraints.driver import DrivenDistance, DrivenPoint, Driver
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.model.curves import Curve
from linkwright.model.curves.polynomial import Line
from linkwright.model.curves.third_derivatives import third_derivatives
from linkwright.results.cut_references import cut_references
from linkwright.results.interpolation import Samples, states
from linkwright.results.records import THIRD, CountedReferences, CutReferences, cut_rows
from linkwright.results.singular_positions import Scale, SingularPlace, located, near_places, steep_minima, stored
from linkwright.results.trajectory import NEAR_SINGULAR, Trajectory

if TYPE_CHECKING:
    from linkwright.kernels.driven_motion import Walked


Walk = Callable[[np.ndarray, Mapping[str, Any], np.ndarray], "Walked"]  # (q, references, times) -> samples
CORRECTED_WINDOW = 3.0  # multiples of the walk's window above which directions are certainly corrected
EXACT = 1e-10  # rad or m: a predicted sample that is so close to the interpolated one stays
SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the way to the next sample: where a state beside a singular position is looked for


class Sampled(NamedTuple):
    """States of a motion at given times, and what locates singular positions between them."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    references: Sequence[Mapping[str, Any]]
    spectra: Callable[[], list[np.ndarray]]  # singular values of the loops with the drives at every time
    path: Sequence[Walker] = ()  # all steps, samples included; empty where no singular position can lie between the samples


class DeadCenter(NamedTuple):
    """A dead center beyond an end of a cycle: its time, and the last position before it."""

    t: float
    next_to: np.ndarray


def sampled(loops: Loops, tied: Loops, here: Walker, times: np.ndarray) -> Sampled | None:
    """States at the given times, or None if the walk meets an end before the last; `tied` are the loops with the drives."""
    samples: list[Walker] = []
    path: list[Walker] = [here]
    for t in times:
        here = walk(tied, here, float(t), steps=path)
        if here.at.t != t:
            return None
        samples.append(here)
    samples = _bridged(loops, tied, samples)
    q, v, a = (np.array(x) for x in zip(*((w.at.q, w.at.v, w.at.a) for w in samples), strict=True))
    return Sampled(times, q, v, a, [w.at.references for w in samples], lambda: [w.spectrum for w in samples], path)


def swept(tied: Loops, q: np.ndarray, references: Mapping[str, Any], times: np.ndarray, native: Walk | None) -> Sampled | None:
    """The same in machine code; None where there is none, or where a singular position may lie on the way, which it does not pass."""
    found = None if native is None else native(q, references, times)
    if found is None or found.reached < len(times) or steep_minima(np.abs(found.determinant)):
        return None
    skel, zero = tied.skel, np.zeros(tied.skel.tree.nv)
    if counts_balls(tied):
        counted = CountedReferences(skel, found.q, lambda: cut_references(skel, times, found.q, found.v, found.references).rows)
    else:
        counted = CutReferences(skel, found.q, found.references)

    def spectra() -> list[np.ndarray]:
        return [tied.factored(tied.at(q, zero, t, here)).s for q, t, here in zip(found.q, times, counted, strict=True)]

    return Sampled(times, found.q, found.v, found.a, counted, spectra)


def counts_balls(loops: Loops) -> bool:
    """True if a cut joint has quaternions among its coordinates, whose references a native walk does not carry along."""
    cuts = map(loops.skel.tree.description.joint, loops.skel.tree.cuts)
    return any("quaternion" in joint_types.create(j.type, j.options).coordinate_kinds for j in cuts)


def trajectory(
    loops: Loops,
    tied: Loops,
    found: Sampled,
    drive: str,
    law: Curve,
    origin: np.ndarray,
    *,
    full_turn: bool,
    dead: Sequence[DeadCenter] = (),
) -> Trajectory:
    """The samples as a cycle of a drive that follows `law`; whole turns count from q = `origin`; `dead`: dead centers beyond its ends."""
    t = found.t
    c = Trajectory(tied.skel, t - t[0], found.q, found.v, found.a, found.references, drive=drive, full_turn=full_turn, origin=origin)
    if not found.path and not dead:
        return c
    spectra = found.spectra()
    scale = Scale.of(spectra)

    def at(i: int, time: float) -> float | None:
        between = _between(loops, found.path, i, time)
        if between is not None:
            q, references = between
            return scale.strength(tied.factored(tied.at(q, np.zeros(tied.skel.tree.nv), time, references)).s)
        w = walk(tied, found.path[i], time)
        return scale.strength(w.spectrum) if w.at.t == time else None

    def next_to(time: float) -> np.ndarray:
        i = max(k for k, w in enumerate(found.path) if w.at.t <= time or k == 0)
        between = _between(loops, found.path, i, time)
        return found.path[i].at.q if between is None else between[0]

    along = np.array([scale.strength(w.spectrum) for w in found.path])
    places = [("passage", *x, next_to(x[0])) for x in located(np.array([w.at.t for w in found.path]), along, at)]
    places += [("dead center", x.t, 0.0, x.next_to) for x in dead]
    if full_turn and len(places) > 1 and places[0][1] == t[0] and places[-1][1] == t[-1]:
        del places[-1]  # the cycle begins and ends there
    if not places:
        return c
    places = sorted(places, key=lambda f: f[1])
    singular = [SingularPlace(kind, x - t[0], drive, float(law(x)[0]), y) for kind, x, y, _ in places]
    drives = [c for c in tied.constraints[len(loops.constraints) :] if isinstance(c, Driver | DrivenDistance | DrivenPoint)]
    beside = [(q, {_drive_name(c): float(c.law(x)[0]) for c in drives}) for _, x, _, q in places]
    near = near_places(c.t, np.array([scale.strength(s) for s in spectra]), singular).astype(float)[:, None]
    return replace(c, settings=stored(singular, beside), arrays={NEAR_SINGULAR: near})


def _drive_name(c: Driver | DrivenDistance | DrivenPoint) -> str:
    """The name under which a drive is asked for: `A`, `C.slide`."""
    names = joint_types.JOINTS[c.joint.type].q_names if isinstance(c, Driver) else ()
    return f"{c.name}.{names[c.coordinate]}" if isinstance(c, Driver) and len(names) > 1 else c.name


def _bridged(loops: Loops, tied: Loops, walkers: list[Walker]) -> list[Walker]:
    """Put samples next to a singular position onto the branch.

    There the loops do not decide all directions. The state is taken from the quintic through two states, one on each side, which the
    loops do decide, and projected onto the rest of the loops.
    """
    strong = walkers[-1].strong
    good = [i for i, w in enumerate(walkers) if _decides(w, strong)]
    out = list(walkers)
    for i in sorted(set(range(len(walkers))) - set(good)):
        w, ends = walkers[i], ([k for k in good if k < i][-1:], [k for k in good if k > i][:1])
        if not all(ends):
            continue
        before, after = (_decided(tied, walkers[ends[0][0]], w.at.t, walkers[k].at.t - w.at.t, strong) for (k,) in ends)
        if before is None or after is None:
            continue
        found = _interpolated(loops, before.at, after.at, w.at.t)
        if np.abs(found.q[0] - w.at.q).max() > EXACT or np.abs(found.v[0] - w.at.v).max() > EXACT * (1.0 + np.abs(w.at.v).max()):
            references = CutReferences(loops.skel, found.q, found.references)[0]
            out[i] = w._replace(at=Instant(loops.skel, found.q[0], found.v[0], w.at.t, references, found.a[0]))
    return out


def _interpolated(loops: Loops, before: Instant, after: Instant, t: float) -> Samples:
    """The state at t from the quintic through two others, on the loops."""
    q, v, a, times = (np.array(x) for x in zip(*((e.q, e.v, e.a, e.t) for e in (before, after)), strict=True))
    return states(loops, Samples(times, q, v, a, cut_rows(loops.skel, [before.references, after.references])), np.array([t]))


def _between(loops: Loops, path: Sequence[Walker], i: int, t: float) -> tuple[np.ndarray, Any] | None:
    """(q, references) at t >= path[i].t between the nearest steps on both sides that the loops decide; None without such steps."""
    strong = path[-1].strong
    before = next((w for w in path[i::-1] if w.at.t <= t and _decides(w, strong)), None)
    after = next((w for w in path[i + 1 :] if w.at.t >= t and _decides(w, strong)), None)
    if before is None or after is None or before.at.t == after.at.t:
        return None
    found = _interpolated(loops, before.at, after.at, t)
    return found.q[0], CutReferences(loops.skel, found.q, found.references)[0]


def _decides(w: Walker, strong: int) -> bool:
    return int(np.count_nonzero(w.spectrum > CORRECTED_WINDOW * WINDOW)) >= strong


def _decided(tied: Loops, begin: Walker, t: float, way: float, strong: int) -> Walker | None:
    """The state nearest to t, in the direction of `way` and at most so far, that the loops decide."""
    for share in SHARES:
        w = walk(tied, begin, t + share * way)
        if w.at.t == t + share * way and _decides(w, strong):
            return w
    return None


# ----------------------------------------------------------------------------------------------------
# Samples in machine code: laws at the samples, and whether the walk reaches its end

STRIDES = 720  # of a native walk over the range of a coordinate
SHORT = 3  # of these strides before its end that a native walk is left for one on floats
LawRows = dict[tuple[float, float, int], np.ndarray]  # by first and last time and their number
Walking = Callable[[Sequence[str]], Any]  # drives -> the native walk with their laws, or None


def native_walk(loops: Loops, laws: Mapping[str, Curve], rows: LawRows, walking: Walking | None) -> Walk | None:
    """The walk in machine code with the laws of a motion; `rows` holds their values at the times asked for last."""
    walks = None if walking is None else walking(list(laws))
    if walks is None:
        return None

    def native(q: np.ndarray, references: Mapping[str, Any], times: np.ndarray) -> Any:
        key = (float(times[0]), float(times[-1]), len(times))
        if key not in rows:
            rows.clear()
            rows[key] = law_rows(list(laws.values()), times)
        return walks(q, loops.skel.pack(references), times, rows[key])

    return native


def law_rows(laws: Sequence[Curve], times: np.ndarray) -> np.ndarray:
    """Values of all laws at every time, then their speeds, then their accelerations: (times, 3 laws)."""
    jets = [[np.broadcast_to(x, times.shape) for x in law(times)] for law in laws]
    return np.array([jet[i] for i in range(3) for jet in jets]).reshape(3 * len(laws), len(times)).T


def third_rows(laws: Mapping[str, Curve], times: np.ndarray) -> dict[str, np.ndarray]:
    """Third derivatives (times, 1) of laws that are not straight, as arrays of a trajectory; NaN where they are not known."""
    bent = {name: law for name, law in laws.items() if not isinstance(law, Line)}
    found = {name: third_derivatives(law, times) for name, law in bent.items()}
    return {THIRD + name: np.full((len(times), 1), np.nan) if x is None else x for name, x in found.items()}


def goes_all_the_way(here: Instant, end: float, native: Walk | None) -> bool:
    """True if a native walk from t = 0 reaches the end without trouble; where it does not, a walk on floats finds out why."""
    found = None if native is None else native(here.q, here.references, np.linspace(0.0, end, STRIDES + 1))
    return found is not None and found.reached > STRIDES and not steep_minima(np.abs(found.determinant))


def carried(tied: Loops, begin: Walker, end: float, native: Walk | None) -> Walker:
    """A point near the end of the range of a native walk from `begin` toward t = end: a walk on floats continues from there, through
    singular positions and up to dead centers, which are beyond it."""
    if native is None or counts_balls(tied):
        return begin
    found = native(begin.at.q, begin.at.references, np.linspace(begin.at.t, end, STRIDES + 1))
    regular = min([found.reached, *steep_minima(np.abs(found.determinant[: found.reached]))]) - SHORT
    if regular <= 0:
        return begin
    q, t = found.q[regular], begin.at.t + (end - begin.at.t) * regular / STRIDES
    there = walker(tied, q, CutReferences(tied.skel, found.q, found.references)[regular], t)
    return there._replace(strong=max(there.strong, begin.strong), calm=max(there.calm, begin.calm))

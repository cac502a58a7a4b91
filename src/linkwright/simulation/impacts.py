"""Impacts of one instant: what touches and approaches, by Newton's law of restitution and Coulomb's law of friction.

An impact gives reactions in joints. Joints that rub by their load resist it with impulses of their own, at most c times the impulse of the
reaction, against the speed after the impact. Constant friction has no impulse, because an impact takes no time.

Touches of surfaces strike pair by pair, the fastest first, and all that do not rebound hold against it together. Ends of travels strike
together, each by its own restitution. Then everything that still approaches is stopped together. In the impacts of several bodies at once
mechanics alone decides no more than that: the order of pairs is a convention, for which Newton's cradle is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.errors import UsageError
from linkwright.integrators.contact.load_bounds import bounded_states
from linkwright.integrators.contact.problem import FRICTION, ONE_SIDED, ROWS
from linkwright.integrators.contact.states import jamming, states
from linkwright.numerics.linalg import least_squares
from linkwright.simulation.instant_rows import IMMOVABLE, InstantRows
from linkwright.simulation.rests import locked
from linkwright.simulation.rigid_stops import REACHED, SLOW

MOST_PAIRS = 2000  # strikes of one instant
APPROACHES = 1e-13  # of the largest speed: slower is round-off
GAINS = 1e-9  # of the kinetic energy
HALVINGS = 40  # on the way to the largest restitution that gains no energy
STUCK = 1e-6  # of the speeds: what still approaches after an impact


class Strike(NamedTuple):
    """One impact: velocity after it, normal impulses, what all its impulses took (J), residual, and whether it rebounds with less."""

    v: np.ndarray
    impulses: np.ndarray
    taken: float
    residual: float
    lowered: bool = False


class Struck(NamedTuple):
    """Velocity after the impacts (dimensionless), the kinetic energy they took, what the impulses of the strike with the least loss took,
    normal impulses by row, the worst residual, and notes.

    Prescribed motions do work in an impact, so the kinetic energy may grow. What an impulse p takes is -p (u before + u after) / 2.
    """

    v: np.ndarray
    loss: float
    least: float
    impulses: np.ndarray
    residual: float
    notes: tuple[str, ...]


def approaches(r: InstantRows) -> bool:
    """True if anything may strike at a state."""
    return _approaching(r, r.along(r.v))


def _approaching(r: InstantRows, v: np.ndarray) -> bool:
    return bool((r.N @ v).min(initial=0.0) < -APPROACHES * (1.0 + float(np.abs(v).max(initial=0.0))))


def struck(r: InstantRows) -> Struck:
    """All impacts at a state."""
    before, v = r.kinetic(r.v), r.along(r.v)
    impulses, worst, notes, least = np.zeros(len(r.own)), 0.0, [], 0.0
    touch = np.array([x.touch is not None for x in r.own], dtype=bool)
    e = r.restitution
    for strike in range(MOST_PAIRS + 1):
        u = r.N @ v
        fast = np.flatnonzero(touch & (u < -SLOW) & (e > 0.0))
        if not len(fast):
            break
        if strike == MOST_PAIRS:
            name = r.own[int(fast[0])].name
            raise UsageError(
                f"{r.own[int(fast[0])].place}t = {r.st.t:.6g} s: '{name}' strikes {MOST_PAIRS} times at one instant and does not come to "
                "rest. Lower a restitution of what touches there.",
                name=name,
            )
        i = int(fast[np.argmin(u[fast])])
        hit = np.array([k for k in range(len(r.own)) if k == i or e[k] == 0.0])
        one = _strike(r, v, hit, np.where(hit == i, e[hit], 0.0))
        v = one.v
        impulses[hit] += one.impulses
        worst, least = max(worst, one.residual), min(least, one.taken)
        if one.lowered:
            notes.append(f"'{r.own[i].name}' rebounds with less than its restitution at t = {r.st.t:.6g} s: friction would gain energy")
    u = r.N @ v
    if _approaching(r, v):
        every = np.arange(len(r.own))
        one = _strike(r, v, every, np.where(~touch & (u < -SLOW), e, 0.0))
        v = one.v
        impulses += one.impulses
        worst, least = max(worst, one.residual), min(least, one.taken)
    _need_end(r, v)
    loss = before - r.kinetic(v)
    return Struck(v, loss if abs(loss) > 1e-13 * before else 0.0, least, impulses, worst, tuple(notes))


def _strike(r: InstantRows, v: np.ndarray, hit: np.ndarray, e: np.ndarray) -> Strike:
    """One impact over some rows; restitutions are lowered where friction would gain energy."""
    now = GAINS * r.kinetic(v)
    found = _solved(r, v, hit, e)
    if found.taken >= -now or not e.any():
        return found
    if all(r.own[k].touch is None for k in hit):  # ends of different restitution: all of them with the smallest
        return _solved(r, v, hit, np.full(len(e), e.min()))
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        gains = _solved(r, v, hit, middle * e).taken < -now
        low, high = (low, middle) if gains else (middle, high)
    return _solved(r, v, hit, low * e)._replace(lowered=True)


def _solved(r: InstantRows, v: np.ndarray, hit: np.ndarray, e: np.ndarray) -> Strike:
    """The same with these restitutions, whatever the energy."""
    u = r.N @ v
    B_n = r.N[hit] @ r.H
    sizes = np.sum(B_n * B_n, axis=1)
    movable = sizes > IMMOVABLE * max(float(sizes.max(initial=0.0)), 1e-300)
    hit, e, B_n = hit[movable], e[movable], B_n[movable]
    impulses = np.zeros(len(movable))
    if not len(hit):
        return Strike(v, impulses, 0.0, 0.0)
    rubs = (r.mu[hit] > 0.0) & ~r.guided[hit]
    rows, now, b, kinds = [], [], [], []
    for i, k in enumerate(hit):
        rows.append(B_n[i])
        now.append(float(u[k]))
        b.append(u[k] + e[i] * min(float(u[k]), 0.0))
        kinds.append(r.block if rubs[i] else ONE_SIDED)
        if rubs[i]:
            rows += list(r.slide[k] @ r.H)
            now += [float(x) for x in r.slide[k] @ v]
            b += now[-len(r.slide[k]) :]
    mu, bounds, pushes = r.mu[hit], None, len(rows)
    starts = np.cumsum([0, *(ROWS[kind] for kind in kinds)])
    rubbing = _rubbing(r, sizes.max())
    if r.joints is not None and rubbing:
        rows += list(r.joints.E[rubbing] @ r.H)
        now += (r.joints.E[rubbing] @ v).tolist()
        b += now[pushes:]
        kinds += [FRICTION] * len(rubbing)
        places = [(int(k), n) for k, first, last in zip(hit, starts[:-1], starts[1:], strict=True) for n in range(last - first)]
        normals, tangents = [k if n == 0 else -1 for k, n in places], [(k, float(n)) for k, n in places]
        bounds, mu = r.joints.bounds(normals, tangents, len(rows), rubbing, True), np.concatenate([mu, np.zeros(len(rubbing))])
    B, right, before = np.array(rows), np.array(b), np.array(now)
    W = B @ B.T
    found = states(kinds, W, right, mu) if bounds is None else bounded_states(kinds, W, right, mu, bounds)
    if not found.answers and bounds is not None:
        raise locked(r, bounds, [r.own[k].name for k in hit], "no impulses fit")
    if not found.answers:
        if r.given:  # what is left of a drive's speed when everything that it pushes on stands
            raise _driven_on(r, int(hit[0]))
        names = ", ".join(f"'{r.own[k].name}'" for k in hit)
        raise UsageError(
            f"{r.own[int(hit[0])].place}t = {r.st.t:.6g} s: the impact at {names} was solved to {found.residual:.1e} only. Give them no "
            "restitution, or fewer places where flat parts touch.",
            name=r.own[int(hit[0])].name,
        )
    impulses[movable] = found.p[starts[:-1]]
    taken = -float(found.p @ (before + 0.5 * (W @ found.p)))
    return Strike(v + r.H @ (B.T @ found.p), impulses, taken, found.residual)


def _rubbing(r: InstantRows, largest: float) -> list[int]:
    """Joints whose friction by load has a say in an impact."""
    if r.joints is None:
        return []
    sizes = np.sum((r.joints.E @ r.H) ** 2, axis=1)
    return np.flatnonzero((r.joints.by_load > 0.0) & (sizes > IMMOVABLE * largest)).tolist()


def jammed(r: InstantRows, name: str) -> np.ndarray:
    """The velocity after the impact without collision of a touch that slides and has no force that fits."""
    i = next(k for k, x in enumerate(r.own) if x.name == name)
    v, B = r.v, np.array([r.N[i], *r.slide[i]]) @ r.H
    p = jamming(r.block, B @ B.T, np.array([0.0, *(r.slide[i] @ v)]), r.mu[[i]])
    if p is None:
        raise UsageError(
            f"{r.own[i].place}t = {r.st.t:.6g} s: '{name}' can neither slide nor jam by an impact. Lower mu.",
            name=name,
            value=r.own[i].mu,
        )
    return v + r.H @ (B.T @ p)


def _need_end(r: InstantRows, v: np.ndarray) -> None:
    """Raise UsageError where a prescribed motion drives something on into what stops it."""
    u = r.N @ v
    stuck = np.flatnonzero(u < -STUCK * (1.0 + float(np.abs(v).max(initial=0.0))))
    if len(stuck):
        raise _driven_on(r, int(stuck[0]))


def _driven_on(r: InstantRows, i: int) -> UsageError:
    """The error of a prescribed motion that drives something on into what stops it."""
    x = r.own[i]
    what = f"'{x.name}' touches" if x.end is None else f"'{x.end.coordinate}' reaches the end of stop '{x.end.stop}'"
    drives = ", ".join(f"'{name}'" for name in r.given)
    by = f"the prescribed motion of {drives}" if r.given else "a prescribed motion"
    advice = "Drive by a torque, or end the motion before." if x.end is None else (
        "Drive by a torque, end the motion before, or give the stop a stiffness."
    )  # fmt: skip
    return UsageError(
        f"{x.place}t = {r.st.t:.6g} s: {what}, and {by} drives it on. {advice}", name=x.name if x.end is None else x.end.coordinate
    )


def onto(r: InstantRows) -> np.ndarray:
    """The place of a state with its gaps and loops closed: from where the event was to the touch itself."""
    assert r.T.place is not None
    phi = (r.T.place.closure.phi / r.T.row_scale)[: len(r.fixed)]
    rows, change = np.concatenate([r.fixed, r.N]), -np.concatenate([phi, r.gaps])
    if not len(rows):
        return r.st.q
    back = least_in_mass(r.M, rows, change)
    return r.loops.displaced(r.st.q, back) if np.abs(back).max(initial=0.0) < 10.0 * REACHED else r.st.q


def least_in_mass(M: np.ndarray, rows: np.ndarray, change: np.ndarray) -> np.ndarray:
    """The least motion, in the mass metric, with these changes of rows."""
    size, n, m = max(float(np.abs(M).max(initial=0.0)), 1e-300), len(M), len(rows)
    K = np.block([[M / size, -rows.T], [rows, np.zeros((m, m))]])
    return least_squares(K, np.concatenate([np.zeros(n), change]), 1e-11)[:n]

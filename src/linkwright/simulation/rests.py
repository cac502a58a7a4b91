"""What stays closed after an instant: ends that push, touches that stick or slip, from the problem of accelerations.

Candidates touch and do not leave. A touch that slides has one unknown, its force along n - mu s t; the others have their cones. Dry
friction of joints is in the same problem, because it changes what pushes, and what pushes loads the joints. The transition of the event
that led here is known, and is not decided again: at the boundary both of its sides fit within round-off. Ends that depend on those that
push rest with them: they move nothing and share the load.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.errors import UsageError, listing
from linkwright.integrators.contact.load_bounds import LoadBounds, bounded_states
from linkwright.integrators.contact.one_sided import MOVES, independent
from linkwright.integrators.contact.problem import FRICTION, ONE_SIDED, SPATIAL
from linkwright.integrators.contact.states import OPEN, SLIP, STICK, StatesFound, centered, least_paradox, states
from linkwright.numerics.linalg import factor
from linkwright.numerics.tolerances import NEGLIGIBLE
from linkwright.results.state import State
from linkwright.simulation.instant_rows import InstantRows
from linkwright.simulation.rigid_stops import HOP, SLOW
from linkwright.simulation.touches import HeldTouch

STILL = 1e-8  # of the largest speed: slower does not slide
PUSHES = 1e-10  # of the largest effort, or of the largest rate


@dataclass(frozen=True)
class Rest:
    """What stays closed, the state with exact speeds, and the kinetic energy that the end of hops took."""

    ends: list[str]  # keys of ends that push, an independent set
    implied: list[str]  # of ends that rest with them
    touches: list[HeldTouch]
    state: State
    loss: float
    notes: tuple[str, ...] = ()
    shared: bool = False  # forces are not unique
    jams: tuple[str, ...] = ()  # touches in which Coulomb's law and rigid bodies contradict each other
    begins: Mapping[int, float] = field(default_factory=dict)  # joints at rest that begin to slip, and their directions


@dataclass(frozen=True)
class Known:
    """Transitions of the event itself: touches that slip some way from now on, and names of what has left."""

    slips: Mapping[str, np.ndarray]
    gone: Collection[str] = ()


def rest(r: InstantRows, tau: np.ndarray, known: Known) -> Rest:
    """Decide what stays closed at a state after its impacts."""
    v, a = r.v, r.free(tau)
    u, slides = r.N @ v, r.slide @ v
    size = 1.0 + float(np.abs(v).max(initial=0.0))
    still = NEGLIGIBLE * size
    candidates = [i for i, x in enumerate(r.own) if -still <= u[i] <= SLOW and x.name not in known.gone]
    known = _alone(r, candidates, known)
    while True:
        problem = _Problem.of(r, candidates, v, slides, a, known, size)
        found = problem.solved(r)
        if not found.answers:
            return _paradox(r, problem, found)
        closed = [i for i, state in zip(candidates, found.states, strict=False) if state != OPEN]
        rubbed = a + r.H @ (r.H.T @ (found.p[problem.pushes :] @ problem.G[problem.pushes :]))
        off = [i for i in closed if u[i] > still and _hops(r, i, closed, problem, rubbed, float(u[i]))]
        if not off:
            break
        candidates = [i for i in candidates if i not in off]
    return _decided(r, problem, found, still)


def _alone(r: InstantRows, candidates: Sequence[int], known: Known) -> Known:
    """In space only what others do not hold slips because its friction is at its bound: the others may have the rest of it."""
    if r.block != SPATIAL or not known.slips:
        return known
    slips = {}
    for i in candidates:
        name = r.own[i].name
        if name in known.slips:
            rows = np.array([x for k in candidates if k != i for x in (r.N[k], *(r.slide[k] if r.own[k].mu > 0.0 else ()))])
            way = np.array(known.slips[name]) @ r.slide[i]
            if not len(rows) or _moves(r, rows, way):
                slips[name] = known.slips[name]
    return Known(slips, known.gone)


def _moves(r: InstantRows, rows: np.ndarray, own: np.ndarray) -> bool:
    """True if a row can move where others do not."""
    now, x = rows @ r.H, own @ r.H
    left = x - now.T @ np.linalg.lstsq(now.T, x, rcond=1e-10)[0]
    return bool(np.linalg.norm(left) > MOVES * np.linalg.norm(x))


@dataclass(frozen=True)
class _Problem:
    """u = W p + b of the candidates, and of joints with dry friction: rows R of rates, columns G of forces."""

    candidates: list[int]
    kinds: list[int]
    mu: np.ndarray
    R: np.ndarray
    G: np.ndarray
    W: np.ndarray
    b: np.ndarray
    first: list[int]  # row of each candidate
    ways: dict[int, np.ndarray]  # of those that slide already, a unit vector along the tangents
    pushes: int  # rows of the candidates
    bounds: LoadBounds | None  # of the joints

    def solved(self, r: InstantRows) -> StatesFound:
        if self.bounds is not None:
            return bounded_states(self.kinds, self.W, self.b, self.mu, self.bounds)
        found = states(self.kinds, self.W, self.b, self.mu)
        if found.shared and found.answers and r.block == SPATIAL:  # in a plane `states` has shared them
            return replace(found, p=centered(self.kinds, self.W, self.b, self.mu, found.p))
        return found

    @classmethod
    def of(
        cls, r: InstantRows, candidates: list[int], v: np.ndarray, slides: np.ndarray, a: np.ndarray, known: Known, size: float
    ) -> _Problem:
        kinds, R, G, b, mu, first, ways = [], [], [], [], [], [], {}
        normals: list[int] = []
        tangents: list[tuple[int, float]] = []
        guided = r.guided
        for i in candidates:
            x = r.own[i]
            first.append(len(R))
            R.append(r.N[i])
            b.append(float(r.N[i] @ a + r.k_n[i]))
            speed = float(np.linalg.norm(slides[i]))
            slipping = x.mu > 0.0 and (speed > STILL * size or x.name in known.slips)
            if slipping:
                ways[i] = np.array(known.slips[x.name]) if x.name in known.slips else slides[i] / speed
            G.append(r.N[i] - (x.mu * (ways[i] @ r.slide[i]) if slipping else 0.0))
            normals.append(i)
            tangents.append((i, -x.mu * float(ways[i][0]) if slipping else 0.0))
            rubs = x.mu > 0.0 and not slipping and not guided[i]
            kinds.append(r.block if rubs else ONE_SIDED)
            mu.append(x.mu if rubs else 0.0)
            if rubs:
                R += list(r.slide[i])
                G += list(r.slide[i])
                b += list(r.slide[i] @ a + r.k_t[i])
                normals += [-1] * len(r.slide[i])
                tangents += [(i, 1.0)] * len(r.slide[i])
        pushes, bounds, joints = len(R), None, r.joints if candidates else None
        if joints is not None:
            R += list(joints.E)
            G += list(joints.E)
            b += (joints.E @ a + joints.k).tolist()
            kinds += [FRICTION] * len(joints.E)
            mu += [0.0] * len(joints.E)
            bounds = joints.bounds(normals, tangents, len(R), range(len(joints.E)), False)
        rows, columns = np.array(R).reshape(-1, len(v)), np.array(G).reshape(-1, len(v))
        W = (rows @ r.H) @ (columns @ r.H).T
        return cls(candidates, kinds, np.array(mu), rows, columns, W, np.array(b), first, ways, pushes, bounds)


def _hops(r: InstantRows, i: int, closed: list[int], problem: _Problem, a: np.ndarray, speed: float) -> bool:
    """True if an end or touch is left for more than a hop: what pulls it back is the acceleration without a push of its own."""
    others = [k for k in closed if k != i]
    rows = [problem.first[problem.candidates.index(k)] for k in others]
    held = a if not rows else a + r.moved(problem.R[rows], -problem.b[rows])
    back = -float(r.N[i] @ held + r.k_n[i])
    return 0.5 * speed * speed > HOP * back


def _decided(r: InstantRows, problem: _Problem, found: StatesFound, still: float) -> Rest:
    """Ends and touches that stay closed, with the speeds of what rests there set to zero."""
    largest = float(np.abs(found.p[: problem.pushes]).max(initial=0.0))
    pushing, touches, rows, bound, slides = [], [], [], [], r.slide @ r.v
    for k, i in enumerate(problem.candidates):
        x, at = r.own[i], problem.first[k]
        if x.end is not None:
            if found.p[at] > PUSHES * largest:
                pushing.append(k)
            continue
        if found.states[k] == OPEN:
            continue
        state, way = (SLIP, tuple(problem.ways[i])) if i in problem.ways else (found.states[k], found.ways[k])
        guided = x.mu > 0.0 and i not in problem.ways and bool(r.guided[i])
        if x.mu == 0.0:
            state, way = SLIP, ()
        holds = state == STICK and not guided
        shares = found.p[at : at + 1 + (len(r.slide[i]) if holds else 0)] / r.loops.kappa if found.shared else ()
        touches.append(HeldTouch(x.name, state, way, guided, tuple(float(p) for p in shares)))
        rows.append(r.N[i])
        if holds:
            rows += list(r.slide[i])
        elif way and np.linalg.norm(slides[i]) <= still:
            bound.append((len(touches) - 1, i))
    for k, i in bound:  # slips by its force alone: others hold it
        if not _moves(r, np.array(rows), np.array(touches[k].way) @ r.slide[i]):
            touches[k] = touches[k]._replace(state=STICK)
    chosen = _independent(r, problem, found, pushing, rows)
    rows += [r.N[i] for i in chosen]
    v, held = r.v, np.array(rows).reshape(-1, len(r.M))
    after = v
    if np.abs(held @ v).max(initial=0.0) > 0.0:
        after = v + r.moved(held, -(held @ v))
    loss = r.kinetic(v) - r.kinetic(after) if np.abs(held @ v).max(initial=0.0) > still else 0.0
    implied = _implied(r, chosen, [i for i in problem.candidates if r.own[i].end is not None and i not in chosen])
    notes = ()
    if found.answers > 1:
        notes = (f"t = {r.st.t:.6g} s: {found.answers} motions fit the touches {_names(r, problem)}: the run takes the first (Painleve)",)
    joints = zip(found.ways[len(problem.candidates) :], found.u[problem.pushes :], strict=True)
    least = PUSHES * float(np.abs(problem.b).max(initial=0.0))  # of rates
    begins = {i: way[0] for i, (way, rate) in enumerate(joints) if way and abs(rate) > least}
    return Rest(
        [r.own[i].name for i in chosen], [r.own[i].name for i in implied], touches, r.state(after), loss, notes, found.shared, (), begins
    )  # fmt: skip


def _independent(r: InstantRows, problem: _Problem, found: StatesFound, pushing: list[int], rows: list[np.ndarray]) -> list[int]:
    """Ends that push, an independent set of them."""
    if not pushing:
        return []
    places = [problem.candidates[k] for k in pushing]
    B = r.N[places] @ r.H
    lengths = np.maximum(np.linalg.norm(B, axis=1), 1e-300)
    p = found.p[[problem.first[k] for k in pushing]] * lengths
    kept = [places[i] for i in independent(B / lengths[:, None], p)]
    if not rows:
        return kept
    out: list[int] = []  # and of the touches that are held
    for i in kept:
        if _moves(r, np.array([*rows, *(r.N[k] for k in out)]), r.N[i]):
            out.append(i)
    return out


def _implied(r: InstantRows, chosen: list[int], others: list[int]) -> list[int]:
    """Ends whose rows follow from those of the chosen ones. Ends that cannot move anyway are none."""
    held = np.concatenate([r.fixed, r.N[chosen]])
    left, free = (factor(rows, 1e-11).null if len(rows) else np.eye(len(r.M)) for rows in (held, r.fixed))

    def moves(i: int, within: np.ndarray) -> bool:
        return bool(np.abs(r.N[i] @ within).max(initial=0.0) > MOVES)

    return [i for i in others if moves(i, free) and not moves(i, left)]


def _names(r: InstantRows, problem: _Problem) -> str:
    return ", ".join(f"'{r.own[i].name}'" for i in problem.candidates)


def locked(r: InstantRows, bounds: LoadBounds, touching: Sequence[str], what: str) -> UsageError:
    """The error of friction in joints for which rigid bodies have no answer while something touches."""
    names = () if r.joints is None else r.joints.names
    locks = " Their friction grows as fast as the effort that it resists: they lock themselves." if bounds.gain >= 1.0 else ""
    return UsageError(
        f"t = {r.st.t:.6g} s: {what} the friction of {listing(names)} together with {listing(touching)}.{locks} Reduce `mu` or `radius`.",
        name=next(iter(names), "friction"),
    )


def _paradox(r: InstantRows, problem: _Problem, found: StatesFound) -> Rest:
    """No state fits: Painleve's paradox where something slides, refused or handed back as a jam."""
    worst: tuple[float, Any] | None = None
    for i, way in problem.ways.items():
        B_n, B_t = r.N[i] @ r.H, way @ r.slide[i] @ r.H
        least = least_paradox(float(B_n @ B_n), float(B_n @ B_t), 1.0)
        if least <= r.own[i].mu and (worst is None or least / r.own[i].mu < worst[0] / worst[1].mu):
            worst = least, r.own[i]
    if worst is None and problem.bounds is not None:
        raise locked(r, problem.bounds, [r.own[i].name for i in problem.candidates], "no state of rest or slip fits")
    if worst is None:
        raise UsageError(
            f"{r.own[problem.candidates[0]].place}t = {r.st.t:.6g} s: no state fits the touches {_names(r, problem)}; their "
            f"forces were found to {found.residual:.1e}. Use fewer places where flat parts touch.",
            name=r.own[problem.candidates[0]].name,
        )
    least, x = worst
    if x.touch is not None and x.touch.jam == "impact":
        return Rest([], [], [], r.st, 0.0, jams=(x.name,))
    raise UsageError(
        f"{x.place}t = {r.st.t:.6g} s: no state of '{x.name}' fits: mu = {x.mu:.4g} is above {least:.4g} in this position, where "
        "friction pulls the parts together faster than they can be held apart (Painleve). Lower mu, or with `jam: impact` it jams by an "
        "impact.",
        name=x.name, value=x.mu, allowed=[least],
    )  # fmt: skip

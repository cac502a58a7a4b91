"""Forward dynamics at one state, whatever its rank: the shared rules around the formulations.

What `forward` finds, in the order in which it looks, and who solves it:

    state         how it is recognized                                     solved by
    healthy       auto: all pivots of sslm are well above zero             sslm (`_watched`)
    regular       all singular values of J above SUSPECT                   the formulation on all rows (`_regular`); kkt in the place of
                                                                           one that needs inertias where a subsystem has none
    massless      a subsystem without inertia, and N'M N is singular       limit equations with all rows (`_limit`); motion without
                                                                           inertia is held, or an error if it is loaded
    lost          moving, next to a singular position                      limit equations on the interpolated branch (`_on_branch`)
    redundant     rank as in most positions, more rows                     the formulation on independent rows, then the multipliers of
                                                                           least reactions (`_least`)
    lost exactly  rank below that, moving or `branch` given                limit equations with rows differentiated once more (`_limit`)
    at rest       rank below that, at rest, no `branch`                    SingularityError: the next motion is not decided
    dropped       `limit="drop"`, whatever the rank                        the formulation on all rows (`_regular`)

All but the first three and the last are distinguished in `_deficient`. The limit equations are the same for every formulation.

The limit equations, with J = U s V' and rows A a = r after replacement (V_r: right vectors of retained and replaced rows):

    M a + h - tau = V_r nu          the constraint force, finite where lam = U (nu / s) has a pole
    A a = r
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.errors import ModelError, SingularityError, UsageError, counted, listing
from linkwright.mechanics.closing.mobility import mobility
from linkwright.mechanics.closing.singular_passage import SUSPECT, AccelerationRows, acceleration_rows, plain
from linkwright.mechanics.closing.smooth_branch import STILL, Branch, on_loops
from linkwright.mechanics.dynamics.reactions import least_reactions
from linkwright.mechanics.dynamics.terms import NO_INERTIA, Terms, lacks_inertia
from linkwright.mechanics.formulations import FORMULATIONS, Formulation, constraint_force, create, family
from linkwright.mechanics.formulations.sslm import Sslm
from linkwright.numerics.linalg import Factored, factor, pivoted_columns
from linkwright.numerics.memory_and_threads import essentials
from linkwright.properties import cached_property

PIVOT_WATCH = 1e-5  # a relative pivot below this (a singular value of about 3e-3) asks for the rank-revealing path
AT_REST = 1e-6  # a singular value below this counts as zero where nothing moves: loops closed to 1e-13 leave it open
LOST = 1e-8  # a singular value below this no longer determines the direction of its row: half of the digits
NOT_TANGENT = (
    "the velocity points along none of the branches that meet in this singular position. "
    "Assemble the state by the joints' speeds (s.assemble), or give a velocity along one branch."
)


@dataclass(frozen=True)
class Forward:
    """Accelerations and multipliers with what is known about them."""

    __getstate__ = essentials

    a: np.ndarray
    lam: np.ndarray
    rank: int
    redundant: int  # rows implied by others
    passages: int  # rows lost in a singular passage and replaced by their limit
    unique: np.ndarray  # which multipliers are determined
    locked: tuple[str, ...]  # coordinates without inertia, held at zero acceleration
    formulation: str
    force: np.ndarray  # F = J' lam in the tree's coordinates; defined also where lam is not
    terms: Terms = field(repr=False)

    @cached_property
    def singular_values(self) -> np.ndarray:
        """Of the dimensionless J, largest first."""
        return factor(self.terms.dimensionless_J()).s


def forward(
    terms: Terms,
    tau: np.ndarray,
    formulation: str | Formulation = "auto",
    *,
    limit: str = "smooth",
    branch: Any = None,
    rank: int | None = None,
    gains: Any = None,
) -> Forward:
    """Accelerations and multipliers for applied efforts tau.

    `limit="drop"` (of formulations that have it) is the papers' behavior: a lost row is simply left out. `branch`
    names a velocity direction where the state is at rest in a singular position and nothing else decides. `rank` is the generic
    rank of J; by default it is counted at positions reached from this one, where it is needed. `gains` are those of
    Baumgarte that the terms' k contains.
    """
    name = family(formulation)
    chosen: Formulation = Sslm() if name == "auto" else create(formulation)
    _check_limit(limit, name, chosen)
    if name == "auto":
        found_fast = _watched(terms, tau)
        if found_fast is not None:
            return found_fast
    J = terms.dimensionless_J()
    f = factor(J)
    if limit == "drop" or f.regular(SUSPECT):
        place = terms.place
        if limit != "drop" and place is not None and lacks_inertia(terms) and _reduced_inertia_is_singular(terms, f):
            rows = plain(f, terms.k / terms.row_scale, terms.nc)
            return _limit(terms, tau, name, f, rows, rows.A)
        return _regular(terms, tau, chosen, name, f.rank, [])
    return _deficient(terms, tau, chosen, name, f, branch, rank, gains)


def _check_limit(limit: str, name: str, chosen: Formulation) -> None:
    if limit not in ("smooth", "drop"):
        raise UsageError(f"limit is 'smooth' or 'drop', not '{limit}'.", name="limit", value=limit)
    if limit == "drop" and (name == "auto" or not chosen.drops_lost_rows):
        able = listing(x for x, kind in FORMULATIONS.items() if kind.drops_lost_rows)
        raise UsageError(f"limit='drop' belongs to {able}. '{name}' would divide by zero if a row is lost.", name=name)


def _watched(terms: Terms, tau: np.ndarray) -> Forward | None:
    """sslm as long as its pivots are healthy; None hands over to the rank-revealing path."""
    if lacks_inertia(terms):
        return None
    weakest = min((float(np.min(np.sum(n, axis=0))) for n in _row_norms(terms)), default=1.0)
    raw = Sslm()(terms, tau)
    if raw.dropped or raw.smallest_pivot * min(1.0, weakest) < PIVOT_WATCH:
        return None
    unique = np.ones(terms.nc, dtype=bool)
    return Forward(raw.a, raw.lam, terms.nc, 0, 0, unique, (), "sslm", constraint_force(terms, raw.a, tau), terms)


def _row_norms(terms: Terms) -> list[np.ndarray]:
    """Squared norms of the dimensionless rows, by loop: one line for every subsystem touched.

    Pivots are measured against their own diagonal and cannot see a row that vanishes as a whole.
    """
    out = []
    for i, rows in enumerate(terms.rows):
        parts = [
            np.sum((terms.blocks[i, j] * terms.columns[terms.spans[j]] / terms.row_scale[rows, None]) ** 2, axis=1)
            for j in terms.touched[i]
        ]
        if rows.stop > rows.start:
            out.append(np.array(parts) if parts else np.zeros((1, rows.stop - rows.start)))
    return out


def _regular(terms: Terms, tau: np.ndarray, chosen: Formulation, name: str, rank: int, implied: list[int]) -> Forward:
    """The chosen formulation on independent rows; one that inverts subsystem inertias gives way to kkt where it cannot."""
    if chosen.needs_inertia and lacks_inertia(terms):
        chosen, name = FORMULATIONS["kkt"](), f"{name} (kkt: a subsystem has no inertia)"
    keep = [i for i in range(terms.nc) if i not in implied]
    raw = chosen(terms.select(keep) if implied else terms, tau)
    lam = np.zeros(terms.nc)
    lam[keep] = raw.lam
    unique = np.ones(terms.nc, dtype=bool)
    return Forward(raw.a, lam, rank, terms.nc - rank, 0, unique, (), name, constraint_force(terms, raw.a, tau), terms)


def _deficient(
    terms: Terms, tau: np.ndarray, chosen: Formulation, name: str, f: Factored, branch: Any, generic: int | None, gains: Any
) -> Forward:
    """Solve where rows are weak: on the interpolated branch near a singular position, by independent rows elsewhere."""
    place = terms.place
    if place is None:
        implied = _implied_rows(terms, f.rank)
        return _regular(terms, tau, chosen, name, f.rank, implied)
    rank = mobility(place.loops, place.q, dict(place.references)).rank if generic is None else generic
    at_rest = float(np.linalg.norm(place.v / terms.columns)) < STILL
    if not at_rest:
        found, passing = on_loops(place.loops, place.q, place.v, place.t, place.references, rank)
        if found is not None:
            return _on_branch(terms, tau, name, f, found, passing, gains)
    if f.rank >= rank and not (at_rest and rank and f.s[rank - 1] < AT_REST):
        if _reduced_inertia_is_singular(terms, f):
            rows = plain(f, terms.k / terms.row_scale, rank)
            return _limit(terms, tau, name, f, rows, rows.A)
        return _least(_regular(terms, tau, chosen, name, rank, _implied_rows(terms, rank)), f.U[:, rank:])
    if at_rest and branch is None:
        raise SingularityError(
            "at rest in a singular position: the next motion is not decided, because two branches meet here. "
            "Give it a velocity along the branch you choose, or name one with branch={joint: speed}.",
            singular_values=tuple(f.s),
            name="branch",
        )
    v = np.asarray(branch, dtype=float) if at_rest else place.v
    rows = acceleration_rows(place.loops, place.closure, place.q, v, place.t, place.references, rank)
    if at_rest:
        rows.r[list(rows.at)] = 0.0  # from rest the acceleration itself must point along the branch
    elif branch is None:
        _check_tangent(terms, f, rows)
    return _limit(terms, tau, name, f, rows, _force_directions(terms, f, rows))


def _on_branch(terms: Terms, tau: np.ndarray, name: str, f: Factored, found: Branch, passing: int, gains: Any) -> Forward:
    """The limit equations with the normal space of the interpolated branch in place of the rows."""
    place = terms.place
    assert place is not None
    v = place.v / terms.columns
    if not found.tangent(v):
        raise SingularityError(NOT_TANGENT, singular_values=tuple(f.s), name="v")
    alpha, beta = (0.0, 0.0) if gains is None else gains
    right = found.right - alpha * found.off(v) + beta * found.e
    lost = found.left @ factor(f.U[:, : f.rank].T @ found.left, 1e-6).null  # rows that count elsewhere and are lost here
    rows = AccelerationRows(found.Q.T, right, passing, terms.nc - len(right), lost, ())
    return _limit(terms, tau, name, f, rows, rows.A)


def _check_tangent(terms: Terms, f: Any, rows: Any) -> None:
    """In a singular position a velocity must lie along one of the branches that meet there: u'k(q, v) = 0."""
    place = terms.place
    assert place is not None
    J, k, speed = terms.dimensionless_J(), terms.k / terms.row_scale, float(np.linalg.norm(place.v / terms.columns))
    for u in rows.replaced.T:
        if not tangent(u, J, k, speed, rows.Jdot):
            raise SingularityError(NOT_TANGENT, singular_values=tuple(f.s), name="v")


def tangent(u: np.ndarray, J: np.ndarray, k: np.ndarray, speed: float, Jdot: np.ndarray) -> bool:
    """Return True if the velocity is tangent to a branch in the degenerate direction u: abs(u.k) <= 1e-3 abs(v) norm(u.Jdot)."""
    return bool(np.linalg.norm(u @ J) > LOST or abs(u @ k) <= 1e-3 * speed * float(np.linalg.norm(u @ Jdot)))


def _implied_rows(terms: Terms, rank: int) -> list[int]:
    chosen = pivoted_columns(terms.dimensionless_J().T)
    return [i for i in range(terms.nc) if i not in chosen[:rank]]


def _reduced_inertia_is_singular(terms: Terms, f: Any) -> bool:
    N = f.null
    if N.shape[1] == 0:
        return False
    M = terms.M * terms.columns * terms.columns[:, None]
    return bool(np.linalg.eigvalsh(N.T @ M @ N)[0] < NO_INERTIA * max(np.linalg.norm(M, 2), 1e-300))


def _limit(terms: Terms, tau: np.ndarray, name: str, f: Factored, rows: AccelerationRows, pushes: np.ndarray) -> Forward:
    """The limit equations, in dimensionless form, by the null space of the forces; `pushes` span the constraint forces."""
    c = terms.columns
    M, load = terms.M * c * c[:, None], (tau - terms.h) * c
    N_f = factor(pushes, 1e-10).null
    A = factor(rows.A, 1e-10)
    a_p, N = A.solve(rows.r), A.null
    if N_f.shape[1] != N.shape[1]:
        raise SingularityError(
            f"in this singular position {terms.nv - N_f.shape[1]} constraint forces meet "
            f"{counted(terms.nv - N.shape[1], 'condition')} on the "
            "acceleration: several branches meet, and the velocity does not decide which one the motion takes. Start on either side of it.",
            singular_values=tuple(f.s),
        )
    y, locked = _moving_part(terms, N_f.T @ M @ N, N_f.T @ (load - M @ a_p), N)
    a = (a_p + N @ y) * c
    push = f.Vt[: f.rank] @ (M @ (a / c) - load)  # constraint force along the directions that still count
    lam = (f.U[:, : f.rank] @ (push / f.s[: f.rank])) / terms.row_scale
    unique = np.abs(rows.replaced).max(axis=1, initial=0.0) < 1e-9
    force = constraint_force(terms, a, tau)
    out = Forward(a, lam, f.rank, rows.redundant, rows.passages, unique, locked, f"{name} (limit)", force, terms)
    return _least(out, _without(f.left_null, rows.replaced))  # a lost row carries force in the limit: it is no self-stress


def _without(Z: np.ndarray, U: np.ndarray) -> np.ndarray:
    """The part of span(Z) orthogonal to the columns of U (U's columns inside or outside of it)."""
    if Z.shape[1] == 0 or U.shape[1] == 0:
        return Z
    return Z @ factor(U.T @ Z, 1e-6).null


def _force_directions(terms: Terms, f: Factored, rows: AccelerationRows) -> np.ndarray:
    """Rows span the directions in which the constraints can push: right vectors of J, and for a row lost below
    round-off the direction u'Jdot that it has just before and after."""
    place = terms.place
    retained = f.Vt[: int(np.sum(f.s > LOST))]
    if not rows.passages or place is None:
        return retained
    faint = [u for u in rows.replaced.T if np.linalg.norm(u @ terms.dimensionless_J()) <= LOST]
    if not faint:
        return retained
    assert rows.Jdot is not None
    return np.concatenate([retained, np.array(faint) @ rows.Jdot])


def _moving_part(terms: Terms, K: np.ndarray, right: np.ndarray, N: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Solve the reduced motion; a degree of freedom without inertia and without force is locked, a loaded one is an error."""
    if len(right) == 0:
        return right, ()
    size = max(float(np.linalg.norm(terms.M * terms.columns * terms.columns[:, None], 2)), 1e-300)
    f = factor(K, NO_INERTIA * size)
    if f.rank == len(right):
        return f.solve(right), ()
    loose = f.left_null.T @ right
    idle = np.abs(N @ f.null).max(axis=1) > 1e-6
    names = tuple(terms.coordinates[i] for i in np.flatnonzero(idle))
    if np.abs(loose).max() > 1e-9 * max(1.0, np.abs(right).max()):
        raise ModelError(
            f"a degree of freedom without inertia is loaded: {', '.join(names)} would accelerate without bound. Give it a mass, or an "
            "inertia if its mass lies on the hinge."
        )
    return f.solve(right), names


def lack_of_inertia(terms: Terms, armature: np.ndarray | float = 0.0) -> str:
    """Message on joints that can move without moving any mass; empty if there are none."""
    place, N = terms.place, factor(terms.dimensionless_J()).null
    if place is None or N.shape[1] == 0:
        return ""
    M = (terms.M + np.diag(np.broadcast_to(armature, terms.nv))) * terms.columns * terms.columns[:, None]
    w, V = np.linalg.eigh(N.T @ M @ N)
    loose = np.abs(N @ V[:, w < NO_INERTIA * max(np.linalg.norm(M, 2), 1e-300)])
    if not loose.shape[1]:
        return ""
    skel = place.loops.skel
    moving = [(n, float(np.real(mass))) for n, mass in zip(skel.tree.nodes, skel.mass, strict=True) if loose[n.v].max(initial=0.0) > 1e-6]
    nodes, bodies = [n for n, _ in moving], [n.body for n, _ in moving]
    heavy = [f"'{n.body}'" for n, mass in moving if mass > 0.0]
    why = f" The mass of {', '.join(heavy)} lies on the hinge, without inertia about it." if heavy else ""
    return (
        f"{', '.join(dict.fromkeys(n.joint.name for n in nodes))} can move without moving any inertia, so that nothing decides how fast "
        f"{'it accelerates' if len(nodes) == 1 else 'they accelerate'}.{why} Give {' or '.join(repr(b) for b in bodies)} an inertia "
        "(`inertia: 1e-4 kg m^2`, or a shape), or fix it to its neighbor."
    )


def _least(out: Forward, left_null: np.ndarray) -> Forward:
    """Replace the multipliers by those of least reactions; self-stresses are the left null vectors of J."""
    place = out.terms.place
    if place is None or left_null.shape[1] == 0:
        return out
    Z = left_null / out.terms.row_scale[:, None]
    chosen = least_reactions(place, out.lam, out.a, Z)
    return replace(out, lam=chosen.lam, unique=out.unique & chosen.unique)

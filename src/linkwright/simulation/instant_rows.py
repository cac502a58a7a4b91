"""One-sided rows at one state: what opens, with the equations of the mechanism around it, loops and given motions eliminated.

    accelerations   a  = free + A R' p          A = H H' = da/dtau of the constrained system, any rank of its loops
    velocities      v+ = v + A R' p             p: forces, or impulses
    rows            N v opens (u_n >= 0), T v slides, for every end of a travel (N alone) and every touch of surfaces (N and T; in space
                    T has two rows for each)
                    E v is the speed of a joint with dry friction (`JointRows`)

Everything is dimensionless: radians and characteristic lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.integrators.contact.load_bounds import LoadBounds
from linkwright.integrators.contact.problem import PLANAR, SPATIAL
from linkwright.mechanics.constraints import Constraint
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.contact import Touch, tangent_count
from linkwright.mechanics.dynamics.terms import Terms, terms
from linkwright.numerics.linalg import factor, least_squares
from linkwright.results.state import State
from linkwright.simulation.touches import place_of

if TYPE_CHECKING:
    from linkwright.simulation.rigid_stops import StopEnd

LEAST_MASS = 1e-13  # share of the largest: directions without inertia
IMMOVABLE = 1e-12  # of the largest diagonal entry of W: held by given motions, or by guides
LEAST_ROW = 1e-11  # of the largest singular value of the rows of loops


@dataclass(frozen=True)
class OneSided:
    """What holds one way at a state: an end of a travel, or a touch by its number among all."""

    name: str
    mu: float
    restitution: float
    end: StopEnd | None = None
    touch: Touch | None = None
    index: int = -1  # of the touch

    @property
    def place(self) -> str:
        """Where the file has a touch, at the head of a message."""
        return "" if self.touch is None else place_of(self.touch)


def one_sided(ends: Sequence[StopEnd], touching: Mapping[int, Touch]) -> list[OneSided]:
    """Ends, then touches."""
    found = [OneSided(e.key, 0.0, e.restitution, end=e) for e in ends]
    return found + [OneSided(x.name, float(x.mu), float(x.restitution), touch=x, index=i) for i, x in touching.items()]


@dataclass(frozen=True)
class JointRows:
    """Dry friction of joints next to the one-sided rows of a state: |s| <= c |F| + C with the force F in each joint, which is affine in all
    efforts: F0 + dF_N p_n + dF_T p_t + dF_E s."""

    names: tuple[str, ...]
    E: np.ndarray  # (joints, velocities)
    k: np.ndarray
    by_load: np.ndarray  # c
    constant: np.ndarray  # C
    F: np.ndarray  # (joints, 3)
    dF_N: np.ndarray  # (joints, own, 3)
    dF_T: np.ndarray
    dF_E: np.ndarray  # (joints, joints, 3)
    begin: np.ndarray  # share of the bound at rest with which each begins to slip
    breakaway: np.ndarray  # its bound at rest over that in fast sliding
    theta: np.ndarray  # share of the bound that acts on joints that move; nan at rest, where friction holds as far as it can

    def bounds(self, normals: Sequence[int], tangents: Sequence[tuple[int, float]], rows: int, which: Sequence[int], impulses: bool) -> Any:
        """Bounds of some joints in a problem of so many rows, the joints last. normals: the one of `own` that every row pushes, or -1;
        tangents: with the share of its push along the tangent of which one. Of impulses only what they cause themselves counts,
        with the friction of fast sliding."""
        keep, n = list(which), rows - len(which)
        dF = np.zeros((len(keep), rows, 3))
        for r in range(n):
            i, (at, share) = normals[r], tangents[r]
            dF[:, r] = (self.dF_N[keep, i] if i >= 0 else 0.0) + share * self.dF_T[keep, at]
        dF[:, n:] = self.dF_E[keep][:, keep]
        at, by_load, none = np.arange(n, rows), self.by_load[keep], np.zeros(len(keep))
        if impulses:
            return LoadBounds(at, by_load / self.breakaway[keep], none, 0.0 * self.F[keep], dF, none + np.nan, none + 1.0)
        return LoadBounds(at, by_load, self.constant[keep], self.F[keep], dF, self.theta[keep], self.begin[keep])


@dataclass(frozen=True)
class InstantRows:
    """Equations and one-sided rows at a state."""

    loops: Loops
    T: Terms
    st: State
    own: list[OneSided]
    M: np.ndarray
    fixed: np.ndarray  # rows of loops and given motions
    fixed_b: np.ndarray
    fixed_k: np.ndarray
    H: np.ndarray
    N: np.ndarray  # (own, velocities)
    slide: np.ndarray  # T, (own, tangents, velocities), zero for ends
    k_n: np.ndarray
    k_t: np.ndarray  # (own, tangents)
    gaps: np.ndarray
    joints: JointRows | None = None  # with dry friction
    given: tuple[str, ...] = ()  # names of given motions that move

    @classmethod
    def at(
        cls,
        loops: Loops,
        given: Sequence[Constraint],
        own: list[OneSided],
        st: State,
        armature: np.ndarray,
        contact_terms: Callable[[State], Any],
        external: Any = (),
    ) -> InstantRows:
        """`given` are constraints of locks and prescribed motions, `contact_terms` gives those of all touches, `external` are the pushes
        that act."""
        ends = [x.end for x in own if x.end is not None]
        tied = loops.with_([*given, *(e.constraint(loops.skel) for e in ends)])
        T = terms(tied, st.q, st.v, st.t, st.references, external)
        assert T.place is not None
        c, closed = T.columns, T.place.closure
        M = (T.M + np.diag(armature)) * c * c[:, None]
        J, b, k = np.asarray(T.dimensionless_J()), closed.b / T.row_scale, np.asarray(T.k) / T.row_scale
        phi = closed.phi / T.row_scale
        first = len(b) - len(ends)
        n, m, across = len(M), len(own), tangent_count(loops.skel.tree.description)
        N, slide, k_n, k_t, gaps = np.zeros((m, n)), np.zeros((m, across, n)), np.zeros(m), np.zeros((m, across)), np.zeros(m)
        inward = -np.array([e.side for e in ends])
        N[: len(ends)], k_n[: len(ends)] = inward[:, None] * J[first:], inward * k[first:]
        gaps[: len(ends)] = inward * phi[first:]
        if m > len(ends):
            found, places = contact_terms(st), [x.index for x in own[len(ends) :]]
            rows = (found.J * c / loops.kappa).reshape(-1, 1 + across, n)[places]
            rates = (found.k / loops.kappa).reshape(-1, 1 + across)[places]
            N[len(ends) :], slide[len(ends) :] = rows[:, 0], rows[:, 1:]
            k_n[len(ends) :], k_t[len(ends) :] = rates[:, 0], rates[:, 1:]
            gaps[len(ends) :] = found.g[places] / loops.kappa
        moving = tuple(x.name for x, rows in zip(given, closed.rows[len(loops.constraints) :], strict=False) if np.any(closed.b[rows]))
        return cls(loops, T, st, own, M, J[:first], b[:first], k[:first], _half(M, J[:first]), N, slide, k_n, k_t, gaps, given=moving)

    @property
    def v(self) -> np.ndarray:
        return self.st.v / self.T.columns

    @property
    def mu(self) -> np.ndarray:
        return np.array([x.mu for x in self.own])

    @property
    def guided(self) -> np.ndarray:
        """Mask of the rows whose tangents nothing moves."""
        along, across = (np.sum((rows @ self.H) ** 2, axis=-1) for rows in (self.slide, self.N))
        return along.sum(axis=1) <= IMMOVABLE * across

    @property
    def block(self) -> int:
        """Kind of the block of a touch with friction."""
        return PLANAR if self.slide.shape[1] == 1 else SPATIAL

    @property
    def restitution(self) -> np.ndarray:
        return np.array([x.restitution for x in self.own])

    def kinetic(self, v: np.ndarray) -> float:
        return 0.5 * float(v @ self.M @ v)

    def along(self, v: np.ndarray) -> np.ndarray:
        """The velocity nearest to v, in the mass metric, that loops and given motions allow."""
        return self._nearest(v, -self.fixed_b)

    def free(self, tau: np.ndarray) -> np.ndarray:
        """Accelerations without any push of these rows."""
        right = (np.asarray(tau) - self.T.h) * self.T.columns
        base = least_squares(self.fixed, -self.fixed_k, LEAST_ROW) if len(self.fixed) else np.zeros(len(right))
        return base + self.H @ (self.H.T @ (right - self.M @ base))

    def _nearest(self, x: np.ndarray, rates: np.ndarray) -> np.ndarray:
        if not len(self.fixed):
            return x
        base = least_squares(self.fixed, rates, LEAST_ROW)
        return base + self.H @ (self.H.T @ (self.M @ (x - base)))

    def moved(self, rows: np.ndarray, change: np.ndarray) -> np.ndarray:
        """The least motion, in the mass metric, that changes the rates of these rows so and leaves loops and given motions alone."""
        if not len(rows):
            return np.zeros(len(self.M))
        B = rows @ self.H
        sizes = np.maximum(np.linalg.norm(B, axis=1), 1e-300)
        return self.H @ least_squares(B / sizes[:, None], change / sizes, 1e-10)

    def state(self, v: np.ndarray, q: np.ndarray | None = None) -> State:
        """The state with another velocity, and another place."""
        st = self.st
        return State(st.skel, st.q if q is None else q, v * self.T.columns, st.references, st.t)


def _half(M: np.ndarray, J: np.ndarray) -> np.ndarray:
    """H with H H' = A."""
    Z = factor(J, LEAST_ROW).null if len(J) else np.eye(len(M))
    w, V = np.linalg.eigh(Z.T @ M @ Z)
    return Z @ (V / np.sqrt(np.maximum(w, LEAST_MASS * max(float(w.max(initial=0.0)), 1e-300))))

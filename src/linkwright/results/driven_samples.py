"""Samples of a motion that held coordinates determine: tangents, third derivatives, and forces of unit loads, for all samples at once.

With A = [J; S], the loops' Jacobian and the rows S of the held coordinates (drives, or what a path prescribes):

    tangent    A T = [0; 1]                velocities of the tree per unit rate of each held coordinate
    jerk       A j = [0; f'''] - d/dt [J a + k; s'']      with a held: the rate of the accelerations, exactly
    push       A' (lam, u) + Q = 0         multipliers and efforts that balance a unit load with row Q' while everything is held

Residuals are read on symbols (`results.channel_programs`), so the same program serves one motion and many designs, and their derivatives
by parameters of the model are those of the residuals, solved with the same matrix. Where A is singular a tangent is the motion of the
sample (up to its size), a push the self-stress without a load; a jerk is NaN there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import ChannelError
from linkwright.mechanics.closing.idle_motions import idle_motions
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.effort_places import EffortPlace, effort_place
from linkwright.numerics.linalg import factor
from linkwright.numerics.pivot_order import pivot_order
from linkwright.numerics.scalars import eliminate, minimum, where
from linkwright.results.channel_programs import Batch
from linkwright.results.channels import Channel

WEAK = 1e-9  # dimensionless: rows that determine less are lost
LEAST_SAFE_PIVOT = 1e-3  # dimensionless pivot: above it elimination in a fixed order loses three digits at most
NO_PIVOT = 1e-12
FAR = 1e5  # largest entry of the dimensionless inverse: beyond it a jerk, which has its third power, has no digits left
PUSH = "push "  # terms of a unit load on a place: lam, u and the load itself


def independent(loops: Loops, at: Instant, candidates: Sequence[str]) -> list[str]:
    """Those of the candidates, taken in their order, that determine the motion together; raise ChannelError where they do not."""
    chosen: list[str] = []
    J = np.asarray(loops.dimensionless(loops.at(at.q, at.v, at.t, at.references))[1])
    rank = factor(J, WEAK).rank
    for name in candidates:
        row = scaled_row(loops, _need_place(at, name), at)
        more = factor(np.concatenate([J, row]), WEAK).rank
        if more > rank:
            chosen, J, rank = [*chosen, name], np.concatenate([J, row]), more
    left = factor(J, WEAK).null
    if left.shape[1] > len(idle_motions(loops, at.q, left)):
        held = ", ".join(chosen) or "nothing"
        raise ChannelError(f"the motion is not determined by its drives ({held}): jerk, advantage and transmission by force need them all.")
    return chosen


def scaled_row(loops: Loops, place: EffortPlace, at: Instant) -> np.ndarray:
    """The row of a held coordinate, dimensionless."""
    return place.rows(at) * loops.columns / (loops.kappa if place.kind == "length" else 1.0)


def _need_place(at: Instant, name: str) -> EffortPlace:
    found = effort_place(at.skel.tree.description, name)
    if found is None:
        raise ChannelError(
            f"'{name}' is no coordinate that can be held: jerk, advantage and transmission by force need a joint or cylinder.", name=name
        )
    return found


class FixedOrder(NamedTuple):
    """Rows and columns of an elimination without pivoting: what many designs in machine code go by."""

    rows: list[int]
    columns: list[int]

    @classmethod
    def of(cls, loops: Loops, held: Sequence[str], samples: Sequence[Instant]) -> FixedOrder | None:
        """Chosen on some samples; None where the matrix is not square, or singular in one of them."""
        matrices = []
        for x in samples:
            J = np.asarray(loops.dimensionless(loops.at(x.q, x.v, x.t, x.references))[1])
            matrices.append(np.concatenate([J, *(scaled_row(loops, _need_place(x, name), x) for name in held)]))
        if matrices[0].shape[0] != matrices[0].shape[1] or any(factor(A, LEAST_SAFE_PIVOT).rank < len(A) for A in matrices):
            return None
        return cls(*pivot_order(matrices, np.any([A != 0.0 for A in matrices], axis=0)))


class _Dense(NamedTuple):
    """Matrices and inverses of some samples, dimensionless; `singular` marks those that determine too little."""

    which: np.ndarray
    A: np.ndarray
    inverse: np.ndarray
    singular: np.ndarray


@dataclass(eq=False)
class HeldMotion:
    """Terms of the samples in `rows` (as `Batch` takes them) while the coordinates `held` determine the motion.

    `third` are the third derivatives of the held coordinates (n, held), `outputs` the places whose unit loads are asked for. `design`:
    see `Batch`; `order` is for many samples in machine code, those with small pivots are solved as without it.
    """

    loops: Loops
    rows: Mapping[str, np.ndarray]
    held: Sequence[str]
    third: np.ndarray | None = None
    outputs: Sequence[str] = ()
    design: Callable[[Any], Loops] | None = field(default=None, repr=False)
    order: FixedOrder | None = None

    @cached_property
    def batch(self) -> Batch:
        """The instant on symbols, with the terms among its inputs."""
        n, nv, many = len(self.rows["q"]), self.loops.skel.tree.nv, len(self.held)
        terms = {"third": self._thirds, "jerk": np.zeros((n, nv)), "tangent": np.zeros((n, nv * many))}
        terms |= {PUSH + name: np.zeros((n, len(self.loops.row_scale) + many + 1)) for name in self.outputs}
        return Batch(self.loops, {**self.rows, **terms}, None, self.design)

    @property
    def _thirds(self) -> np.ndarray:
        return np.zeros((len(self.rows["q"]), len(self.held))) if self.third is None else self.third

    def take(self, rows: Mapping[str, np.ndarray], third: np.ndarray | None = None) -> None:
        """Other samples from now on."""
        self.rows, self.third = rows, third
        known = {name: np.zeros((len(rows["q"]), x.shape[1])) for name, x in self.batch.rows.items() if name not in rows}
        self.batch.take({**rows, **known, "third": self._thirds})
        for name in ("_hard", "_dense"):
            vars(self).pop(name, None)

    # ---------------------------------------------------------------- the matrix

    def _places(self, x: Instant) -> list[EffortPlace]:
        return [_need_place(x, name) for name in self.held]

    def _A(self, x: Instant) -> Any:
        J = self.batch.loops.at(x.q, x.v, x.t, x.references, x.motion).J
        return np.concatenate([np.asarray(J), *(p.rows(x) for p in self._places(x))])

    def values(self, named: Mapping[str, Callable[[Instant], Any]]) -> dict[str, np.ndarray]:
        """Anything read at the samples; one by one where it cannot be traced."""
        found = self.batch.values(named)
        missing = [name for name in named if name not in found]
        if missing and self.design is not None:
            raise ChannelError(f"{', '.join(missing)}: a joint of this mechanism runs on numbers only; designs are read one by one.")
        if missing:
            every = [self.instant(i) for i in range(self.batch.n)]
            found |= {name: np.array([named[name](x) for x in every], dtype=float) for name in missing}
        return found

    def instant(self, i: int) -> Instant:
        """The mechanism at a sample, with its terms."""
        row = {name: x[i] for name, x in self.batch.rows.items()}
        skel = self.loops.skel
        near = skel.unpack(row["q"], row["near"]) if "near" in row else None
        out = Instant(skel, row["q"], row["v"], float(row["t"][0]), near, row.get("a"))
        out.terms = row
        return out

    @cached_property
    def _scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Of rows and columns: dimensionless matrices have entries / rows * columns."""
        places = [effort_place(self.loops.skel.tree.description, name) for name in self.held]
        held = [self.loops.kappa if p is not None and p.kind == "length" else 1.0 for p in places]
        return np.concatenate([self.loops.row_scale, held]), self.loops.columns

    @cached_property
    def _hard(self) -> np.ndarray:
        """Samples that elimination in a fixed order does not solve: all where there is none."""
        return np.arange(self.batch.n if self.order is None else 0)

    @cached_property
    def _dense(self) -> _Dense:
        """Of the hard samples: inverses of least norm where rows are redundant or links spin idly."""
        rows, columns = self._scales
        A = (
            (self.values({"A": self._A})["A"][self._hard] * columns / rows[:, None])
            if len(self._hard)
            else np.zeros((0, len(rows), len(columns)))
        )
        f = factor(A, WEAK, thin=True)
        regular = A.shape[1] == A.shape[2] and len(A) > 0 and bool((np.linalg.cond(A[:: max(1, len(A) // 8)], 1) < FAR).any())
        try:
            inverse = np.linalg.inv(A) if regular else None
        except np.linalg.LinAlgError:  # one of them is singular to the last digit
            inverse = None
        if inverse is None:
            inverse = f.solve(np.broadcast_to(np.eye(A.shape[1]), (len(A), A.shape[1], A.shape[1]))) if len(A) else A.transpose(0, 2, 1)
            inverse[f.rank < f.rank.max(initial=0)] = np.inf
        return _Dense(self._hard, A, inverse, ~(np.abs(inverse).max(axis=(1, 2), initial=0.0) <= FAR))

    @property
    def singular(self) -> np.ndarray:
        """Numbers of the samples in which the held coordinates do not determine the motion, or not to half the digits."""
        return self._dense.which[self._dense.singular]

    def _applied(self, right: np.ndarray, transposed: bool) -> np.ndarray:
        """x of A x = right (hard samples, rows, k), or A' x = right, in SI; zero where A is singular."""
        rows, columns = self._scales
        inverse = np.where(self._dense.singular[:, None, None], 0.0, self._dense.inverse)
        if transposed:
            return inverse.transpose(0, 2, 1) @ (right * columns[:, None]) / rows[:, None]
        return inverse @ (right / rows[:, None]) * columns[:, None]

    def _solve(self, name: str, right: Callable[[Instant], Any], transposed: bool = False) -> np.ndarray:
        """x of A x = right(x), a matrix of columns, at every sample; zero in singular positions."""
        if self.order is None:
            return self._applied(self.values({name: right})[name], transposed)
        order, (rows, columns) = self.order, self._scales
        inner, outer = (rows, 1.0 / columns) if transposed else (1.0 / columns, rows)

        def eliminated(x: Instant) -> Any:
            A = self._A(x) * columns / rows[:, None]
            ways = (order.columns, order.rows) if transposed else (order.rows, order.columns)
            y, pivots = eliminate(A.T if transposed else A, right(x) / outer[:, None], ways, mended=_not_zero)
            smallest: Any = 1.0
            for p in pivots:
                smallest = minimum(smallest, abs(p))
            return np.concatenate([np.ravel(y / inner[:, None]), [smallest]])

        found = self.values({f"{name} eliminated": eliminated})[f"{name} eliminated"]
        out = np.array(found[:, :-1]).reshape(len(found), len(inner), -1)
        hard = np.flatnonzero(~(found[:, -1] >= LEAST_SAFE_PIVOT))
        if not np.array_equal(hard, self._hard):
            self._hard = hard
            vars(self).pop("_dense", None)
        if len(hard):
            out[hard] = self._applied(self.values({name: right})[name][hard], transposed)
        return out

    # ---------------------------------------------------------------- terms

    def tangent(self) -> np.ndarray:
        """(n, nv, held): velocities per unit rate of each held coordinate. In a singular position the velocities of the motion itself,
        or at rest the only motion that is left, up to their size; NaN where there are several."""
        right = np.zeros((len(self._scales[0]), len(self.held)))
        right[len(self.loops.row_scale) :] = np.eye(len(self.held))
        out, v, d = self._solve("tangent", lambda x: right), self.rows["v"], self._dense
        for i, A in zip(d.which[d.singular], d.A[d.singular], strict=True):
            left = factor(A, 1.0 / FAR).null * self._scales[1][:, None]
            moving = len(self.held) == 1 and bool(v[i].any())
            out[i] = v[i][:, None] if moving else left if left.shape[1] == 1 else np.nan
        return out

    def jerk(self) -> np.ndarray:
        """(n, nv): rates of the accelerations; NaN in singular positions."""
        out = self._solve("jerk", self._jerk_needed)[:, :, 0]
        out[self.singular] = np.nan
        return out

    def _accelerations(self, x: Instant) -> Any:
        """[J a + k; accelerations of the held coordinates]."""
        c = self.batch.loops.at(x.q, x.v, x.t, x.references, x.motion)
        held = [p.acceleration(x) for p in self._places(x) if p.acceleration is not None]
        return np.concatenate([np.asarray(c.J) @ x.known_a + c.k, held])

    def _jerk_needed(self, x: Instant) -> Any:
        """Rates of the accelerations that the jerk has to add."""
        wanted = np.concatenate([np.zeros(len(self.loops.row_scale)), x.term("third")])
        return (wanted - x.rate(self._accelerations, np.zeros(len(x.known_a))))[:, None]

    def push(self, name: str) -> np.ndarray:
        """(n, rows + 1): multipliers and efforts that balance a unit load at a place, and the load: 1, or 0 in singular positions."""
        y = self._solve(PUSH + name, lambda x: -_need_place(x, name).rows(x)[:1].T, transposed=True)[:, :, 0]
        load, d = np.ones(self.batch.n), self._dense
        for i, A in zip(d.which[d.singular], d.A[d.singular], strict=True):
            left = factor(A, 1.0 / FAR).left_null
            y[i], load[i] = (left[:, 0] / self._scales[0], 0.0) if left.shape[1] else (np.nan, np.nan)
        return np.concatenate([y, load[:, None]], axis=1)

    def provide(self, needs: Sequence[str]) -> np.ndarray:
        """Put the terms into the rows of the batch; mask of the samples that have them all."""
        bad = np.zeros(self.batch.n, dtype=bool)
        for name in needs:
            found = self.jerk() if name == "jerk" else self.push(name.removeprefix(PUSH)) if name.startswith(PUSH) else self.tangent()
            flat = found.reshape(len(found), -1)
            missing = np.isnan(flat.sum(axis=1))
            self.batch.rows[name] = np.where(missing[:, None], 0.0, flat)
            bad |= missing
        return ~bad

    # ---------------------------------------------------------------- derivatives by parameters of the model

    def changes(self, needs: Sequence[str], given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Derivatives of the terms, (n, entries, directions), from those of the rows: A x_p = -(residual)_p at fixed x."""
        out = dict(given)
        for name in needs:
            residual = {"jerk": self._of_jerk, "tangent": self._of_tangent}.get(name) or self._of_push(name.removeprefix(PUSH))
            found = self.batch.slopes([Channel(f"residual of {name}", "none", residual)], given).get(f"residual of {name}")
            if found is None:
                raise ChannelError(f"the {name.removeprefix(PUSH)} of this motion has no derivatives: a joint of it runs on numbers only.")
            n, width = len(found), found.shape[-1]
            solved = -self._applied(found.reshape(n, found.shape[1], -1), name.startswith(PUSH))
            load = np.zeros((n, 1 if name.startswith(PUSH) else 0, width))
            out[name] = np.concatenate([solved.reshape(n, -1, width), load], axis=1)
        return out

    def _of_jerk(self, x: Instant) -> Any:
        return x.rate(self._accelerations, x.term("jerk"))

    def _of_tangent(self, x: Instant) -> Any:
        return self._A(x) @ x.term("tangent").reshape(-1, len(self.held))

    def _of_push(self, name: str) -> Callable[[Instant], Any]:
        def residual(x: Instant) -> Any:
            y = x.term(PUSH + name)
            return self._A(x).T @ y[:-1] + _need_place(x, name).rows(x)[0] * y[-1]

        return residual


def _not_zero(k: int, pivot: Any) -> Any:
    """The pivot; a number where it vanishes, so that its sample is finite until it is solved otherwise."""
    return where(abs(pivot) < NO_PIVOT, 1.0, pivot)

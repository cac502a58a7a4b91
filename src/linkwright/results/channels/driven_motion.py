"""Samples of a motion that held coordinates determine: tangents, third derivatives, and forces of unit loads, for all samples at once.

With A = [J; S], the loops' Jacobian and the rows S of the held coordinates (drives, or what a path prescribes):

    tangent    A T = [0; 1]                velocities of the tree per unit rate of each held coordinate
    jerk       A j = [0; f'''] - d/dt [J a + k; s'']      with a held: the rate of the accelerations, exactly
    push       A' (lam, u) + Q = 0         multipliers and efforts that balance a unit load with row Q' while everything is held

Residuals are read on symbols (`results.channels.graph`), so the same program serves one motion and many designs, and their derivatives
by parameters of the model are those of the residuals, solved with the same matrix. Where A is singular a tangent is the motion of the
sample (up to its size), a push the self-stress without a load; a jerk is NaN there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import ChannelError, LinkwrightError, listing
from linkwright.mechanics.closing.idle_motions import idle_motions
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.effort_places import EffortPlace, effort_place
from linkwright.numerics.linalg import factor
from linkwright.numerics.memory_and_threads import Store
from linkwright.properties import cached_property
from linkwright.results.channels import Channel
from linkwright.results.channels.driven import LOST, PUSH, MotionChannels
from linkwright.results.channels.graph import Batch, ChannelGraph, composed
from linkwright.results.records import THIRD, cut_rows

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

WEAK = 1e-9  # dimensionless: rows that determine less are lost
FAR = 1e5  # largest entry of the dimensionless inverse: beyond it a jerk, which has its third power, has no digits left


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
            f"'{name}' is not a coordinate that can be held: jerk, advantage and transmission by force need a joint or cylinder.", name=name
        )
    return found


class HeldSymbols(Mapping[str, Any]):
    """A mechanism that the coordinates `held` determine, on symbols; by name its terms, which are arrays of a motion."""

    def __init__(self, graph: ChannelGraph, loops: Loops, held: tuple[str, ...]):
        self.graph, self.loops, self.held = graph, loops, held
        self.rows = len(loops.row_scale) + len(held)
        self.instant = graph.instant.beside(self)

    @classmethod
    def of(cls, graph: ChannelGraph, loops: Loops, held: Sequence[str]) -> HeldSymbols:
        """Those of a graph, made once."""
        known, key = graph.stages, ("held", *held)
        if key not in known:
            known[key] = cls(graph, loops, tuple(held))
        return known[key]

    def array(self, name: str) -> str:
        """Name of the array of a term."""
        return f"{name} held by {', '.join(self.held)}"

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in ("tangent", "jerk", "third") or name.startswith(PUSH))

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        nv, many = self.loops.skel.tree.nv, len(self.held)
        size = {"tangent": nv * many, "jerk": nv, "third": many}.get(name, self.rows + 1)
        return self.graph.input(self.array(name), size)

    def __iter__(self) -> Iterator[str]:
        return iter(("tangent", "jerk", "third"))

    def __len__(self) -> int:
        return 3

    # ---------------------------------------------------------------- what is read

    def _places(self, x: Instant) -> list[EffortPlace]:
        return [_need_place(x, name) for name in self.held]

    def matrix(self, x: Instant) -> Any:
        """A = [J; S]."""
        J = self.graph.loops.at(x.q, x.v, x.t, x.references, x.motion).J
        return np.concatenate([np.asarray(J), *(p.rows(x) for p in self._places(x))])

    def accelerations(self, x: Instant) -> Any:
        """[J a + k; accelerations of the held coordinates]."""
        c = self.graph.loops.at(x.q, x.v, x.t, x.references, x.motion)
        held = [p.acceleration(x) for p in self._places(x) if p.acceleration is not None]
        return np.concatenate([np.asarray(c.J) @ x.known_a + c.k, held])

    def jerk_needed(self, x: Instant) -> Any:
        """Rates of the accelerations that the jerk has to add."""
        wanted = np.concatenate([np.zeros(len(self.loops.row_scale)), x.term("third")])
        return wanted - x.rate(self.accelerations, np.zeros(len(x.known_a)))

    def pushed(self, name: str) -> Callable[[Instant], Any]:
        """The row of a unit load at a place."""
        if name not in self._loads:
            self._loads[name] = lambda x: -_need_place(x, name).rows(x)[0]
        return self._loads[name]

    @cached_property
    def _loads(self) -> dict[str, Callable[[Instant], Any]]:
        return {}

    def residual(self, name: str) -> Callable[[Instant], Any]:
        """The residual that a term makes zero, to be differentiated."""
        if name == "jerk":
            return lambda x: x.rate(self.accelerations, x.term("jerk"))
        if name == "tangent":
            return lambda x: self.matrix(x) @ x.term("tangent").reshape(-1, len(self.held))
        return partial(self._of_push, name)

    def _of_push(self, name: str, x: Instant) -> Any:
        y = x.term(name)
        return self.matrix(x).T @ y[:-1] + _need_place(x, name.removeprefix(PUSH)).rows(x)[0] * y[-1]


class _Inverse(NamedTuple):
    """Matrices and inverses of the samples, dimensionless; `singular` marks those that determine too little."""

    A: np.ndarray
    inverse: np.ndarray
    singular: np.ndarray


class HeldMotion:
    """Terms of the samples in `rows` (as `Batch` takes them) while the coordinates `held` determine the motion; each is solved for once.

    `third` are the third derivatives of the held coordinates (n, held); `graph` is one that serves other numbers in each row.
    """

    def __init__(
        self,
        loops: Loops,
        rows: Mapping[str, np.ndarray],
        held: Sequence[str],
        third: np.ndarray | None = None,
        graph: ChannelGraph | None = None,
    ):
        self.loops, self.held, self.varied = loops, list(held), graph is not None
        self.symbols = HeldSymbols.of(ChannelGraph.of(loops, rows) if graph is None else graph, loops, held)
        self.batch = Batch(loops, rows, None, self.symbols.graph, self.symbols.instant)
        self.batch.rows[self.symbols.array("third")] = np.zeros((len(rows["q"]), len(held))) if third is None else third
        self._good: dict[str, np.ndarray] = {}  # by term, the samples that have it

    # ---------------------------------------------------------------- the matrix

    def values(self, named: Mapping[str, Callable[[Instant], Any]]) -> dict[str, np.ndarray]:
        """Anything read at the samples; one by one where it cannot be traced."""
        found = self.batch.values(named)
        missing = [name for name in named if name not in found]
        if missing and self.varied:
            raise ChannelError(f"{', '.join(missing)}: a joint of this mechanism runs on numbers only. Designs are read one by one.")
        if missing:
            every = [self.instant(i) for i in range(self.batch.n)]
            found |= {name: np.array([named[name](x) for x in every], dtype=float) for name in missing}
        return found

    def instant(self, i: int) -> Instant:
        """The mechanism at a sample, with its terms."""
        row = {name: x[i] for name, x in self.batch.rows.items()}
        skel, tail = self.loops.skel, self.symbols.array("")
        near = skel.unpack(row["q"], row["near"]) if "near" in row else None
        out = Instant(skel, row["q"], row["v"], float(row["t"][0]), near, row.get("a"))
        out.terms = {name.removesuffix(tail): x for name, x in row.items() if name.endswith(tail)}
        return out

    @cached_property
    def _scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Of rows and columns: dimensionless matrices have entries / rows * columns."""
        places = [effort_place(self.loops.skel.tree.description, name) for name in self.held]
        held = [self.loops.kappa if p is not None and p.kind == "length" else 1.0 for p in places]
        return np.concatenate([self.loops.row_scale, held]), self.loops.columns

    @cached_property
    def _inverse(self) -> _Inverse:
        """Inverses of least norm where rows are redundant or links spin idly."""
        rows, columns = self._scales
        A = self.values({"A": self.symbols.matrix})["A"] * columns / rows[:, None]
        f = factor(A, WEAK, thin=True)
        regular = A.shape[1] == A.shape[2] and len(A) > 0 and bool((np.linalg.cond(A[:: max(1, len(A) // 8)], 1) < FAR).any())
        try:
            inverse = np.linalg.inv(A) if regular else None
        except np.linalg.LinAlgError:  # one of them is singular to the last digit
            inverse = None
        if inverse is None:
            inverse = f.solve(np.broadcast_to(np.eye(A.shape[1]), (len(A), A.shape[1], A.shape[1]))) if len(A) else A.transpose(0, 2, 1)
            inverse[f.rank < f.rank.max(initial=0)] = np.inf
        singular = ~(np.abs(inverse).max(axis=(1, 2), initial=0.0) <= FAR)
        return _Inverse(A, np.where(singular[:, None, None], 0.0, inverse), singular)

    @property
    def singular(self) -> np.ndarray:
        """Numbers of the samples in which the held coordinates do not determine the motion, or not to half the digits."""
        return np.flatnonzero(self._inverse.singular)

    def _solved(self, right: np.ndarray, transposed: bool = False) -> np.ndarray:
        """x of A x = right (n, rows, k), or A' x = right, in SI; zero where A is singular."""
        rows, columns = self._scales
        inverse = self._inverse.inverse
        if transposed:
            return inverse.transpose(0, 2, 1) @ (right * columns[:, None]) / rows[:, None]
        return inverse @ (right / rows[:, None]) * columns[:, None]

    # ---------------------------------------------------------------- terms

    def tangent(self) -> np.ndarray:
        """(n, nv, held): velocities per unit rate of each held coordinate. In a singular position the velocities of the motion itself,
        or at rest the only motion that is left, up to their size; NaN where there are several."""
        right = np.zeros((len(self._scales[0]), len(self.held)))
        right[len(self.loops.row_scale) :] = np.eye(len(self.held))
        out, v = self._solved(right), self.batch.rows["v"]
        for i in self.singular:
            left = factor(self._inverse.A[i], 1.0 / FAR).null * self._scales[1][:, None]
            moving = len(self.held) == 1 and bool(v[i].any())
            out[i] = v[i][:, None] if moving else left if left.shape[1] == 1 else np.nan
        return out

    def jerk(self) -> np.ndarray:
        """(n, nv): rates of the accelerations; NaN in singular positions."""
        needed = self.values({"jerk needed": self.symbols.jerk_needed})["jerk needed"]
        out = self._solved(needed[:, :, None])[:, :, 0]
        out[self.singular] = np.nan
        return out

    def push(self, name: str) -> np.ndarray:
        """(n, rows + 1): multipliers and efforts that balance a unit load at a place, and the load: 1, or 0 in singular positions."""
        row = self.values({f"load at {name}": self.symbols.pushed(name)})[f"load at {name}"]
        y, load = self._solved(row[:, :, None], transposed=True)[:, :, 0], np.ones(self.batch.n)
        for i in self.singular:
            left = factor(self._inverse.A[i], 1.0 / FAR).left_null
            y[i], load[i] = (left[:, 0] / self._scales[0], 0.0) if left.shape[1] else (np.nan, np.nan)
        return np.concatenate([y, load[:, None]], axis=1)

    def term(self, name: str) -> np.ndarray:
        """(n, entries) of a term; NaN where it is not determined."""
        good = self.provide([name])
        return np.where(good[:, None], self.batch.rows[self.symbols.array(name)], np.nan)

    def provide(self, needs: Sequence[str]) -> np.ndarray:
        """Put terms into the rows of the batch, each once; mask of the samples that have them all."""
        out = np.ones(self.batch.n, dtype=bool)
        for name in needs:
            if name not in self._good:
                found = self.jerk() if name == "jerk" else self.push(name.removeprefix(PUSH)) if name.startswith(PUSH) else self.tangent()
                flat = found.reshape(len(found), -1)
                self._good[name] = ~np.isnan(flat.sum(axis=1))
                self.batch.rows[self.symbols.array(name)] = np.where(self._good[name][:, None], flat, 0.0)
            out &= self._good[name]
        return out

    # ---------------------------------------------------------------- derivatives by parameters of the model

    def changes(self, needs: Sequence[str], given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Derivatives of the terms, (n, entries, directions), from those of the rows: A x_p = -(residual)_p at fixed x."""
        out = dict(given)
        for name in needs:
            residual = f"residual of {name}"
            found = self.batch.slopes([Channel(residual, "none", self.symbols.residual(name))], given).get(residual)
            if found is None:
                raise ChannelError(f"the {name.removeprefix(PUSH)} of this motion has no derivatives: a joint of it runs on numbers only.")
            n, width = len(found), found.shape[-1]
            solved = -self._solved(found.reshape(n, found.shape[1], -1), name.startswith(PUSH))
            load = np.zeros((n, 1 if name.startswith(PUSH) else 0, width))
            out[self.symbols.array(name)] = np.concatenate([solved.reshape(n, -1, width), load], axis=1)
        return out

    # ---------------------------------------------------------------- channels

    def read(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Channels over the samples; NaN where their terms are not determined."""
        good = self.provide(_needs(channels))
        found = self.values({c.name: c.raw or c.read for c in channels})
        out = {c.name: composed(c, found[c.name]) for c in channels}
        for x in out.values() if not good.all() else ():
            x[~good] = np.nan
        return out

    def slopes(self, channels: Sequence[Channel], changes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Derivatives of channels, (n, ..., directions), from those of the rows; NaN where their terms are not determined."""
        good = self.provide(_needs(channels))
        out = self.batch.slopes(channels, self.changes(_needs(channels), changes))
        for c in channels:
            if c.name not in out:
                raise ChannelError(
                    f"channel '{c.name}' has no derivatives here: a joint of the mechanism runs on numbers only.", name=c.name
                )
            out[c.name] = np.where(good.reshape(-1, *[1] * (out[c.name].ndim - 1)), out[c.name], np.nan)
        return out


def _needs(channels: Sequence[Channel]) -> list[str]:
    return list(dict.fromkeys(n for c in channels for n in c.needs))


# -------------------------------------------------------------------- which drives hold a trajectory, and what is read of it


AT_ONCE = 8_000_000  # entries of the matrices of samples that are solved together


HELD: Store[tuple[str, ...], list[str]] = Store()  # drives that determine the motion, by candidates
MOVING: Store[tuple[tuple[str, ...], bool, float], MotionChannels] = Store()  # by drives, with jerks or without, and the length


class MotionReading:
    """Channels of a trajectory that need to know what holds it."""

    def __init__(self, c: Trajectory):
        self.c = c

    @property
    def is_run(self) -> bool:
        return "lam" in self.c.arrays or self.c.proof is not None

    @cached_property
    def held(self) -> list[str]:
        """Drives that determine the motion; raise ChannelError where they do not."""
        c = self.c
        candidates = tuple(dict.fromkeys([*([c.drive] if c.drive else []), *c.drives, *(d.joint for d in c.skel.tree.description.drives)]))
        tables, key = HELD.of(c.skel), candidates
        if key not in tables:
            tables[key] = independent(c.frame, c.instant(len(c) // 3), candidates)
        return tables[key]

    @cached_property
    def prescribed(self) -> list[str]:
        """Coordinates whose third derivatives are known: the drives of a cycle, what a path prescribes; empty for a run."""
        if self.is_run:
            return []
        if self.c.drive:
            return self.held
        given = [name.removeprefix(THIRD) for name in self.c.arrays if name.startswith(THIRD)]
        try:
            found = independent(self.c.frame, self.c.instant(len(self.c) // 3), given)
        except LinkwrightError:
            return []
        return found if found == given else []

    @cached_property
    def channels(self) -> Mapping[str, Channel]:
        """Channels by name; empty where nothing holds the motion, or there are no samples."""
        if not len(self.c):
            return {}
        try:
            held, jerks = self.held, bool(self.prescribed)
        except LinkwrightError:
            return {}
        tables, key = MOVING.of(self.c.skel), (tuple(held), jerks, self.c.frame.kappa)
        if key not in tables:
            tables[key] = MotionChannels(self.c.frame, held, jerks=jerks)
        return tables[key]

    def explain(self, name: str) -> None:
        """Raise ChannelError where the motion has no channels of this kind at all."""
        if not len(self.c):
            return
        held = self.held
        if not self.prescribed and name.rpartition(".")[2].startswith("j"):
            what = "a run has accelerations only" if self.is_run else "the third derivative of what prescribes it is not known"
            raise ChannelError(f"there is no channel '{name}': {what}. A cycle of {', '.join(held)} has jerks.", name=name, allowed=held)

    def need_plays(self, name: str) -> None:
        """Raise ChannelError for a lost motion whose plays redundant constraints tie to each other."""
        channels = self.channels
        if LOST not in name or not isinstance(channels, MotionChannels) or name in self._untied:
            return
        motion, i = self._motion(self.held, None), len(self.c) // 3
        stresses = factor(motion._inverse.A[i], WEAK).left_null.T / motion._scales[0]
        tied = channels.tied(name, motion.instant(i), stresses) if len(stresses) else []
        if tied:
            raise ChannelError(
                f"the constraints are redundant: the play of {listing(tied)} is not one that moves alone, because other joints hold it. "
                "Lost motion needs plays that do not depend on each other. Give more joints a clearance, or take this one out.",
                name=tied[0],
            )
        self._untied.add(name)

    @cached_property
    def _untied(self) -> set[str]:
        return set()

    def read(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Channels by name, all samples at once; NaN where they are not determined."""
        c, out = self.c, dict[str, np.ndarray]()
        for some, held, third in self.groups(channels):
            size = max(1, AT_ONCE // (c.skel.tree.nv * (len(c.frame.row_scale) + len(held))))
            if len(c) <= size:
                out |= self._motion(held, third).read(some)
                continue
            blocks = [slice(k, k + size) for k in range(0, len(c), size)]
            parts = [self._part(held, third, block).read(some) for block in blocks]
            out |= {x.name: np.concatenate([part[x.name] for part in parts]) for x in some}
        return out

    def _motion(self, held: Sequence[str], third: np.ndarray | None) -> HeldMotion:
        """All samples, with the terms that were asked for so far."""
        key = (tuple(held), third is None)
        if key not in self._motions:
            self._motions[key] = self._part(held, third, slice(None))
        return self._motions[key]

    def _part(self, held: Sequence[str], third: np.ndarray | None, some: slice) -> HeldMotion:
        rows = {name: x[some] for name, x in self.rows.items()}
        return HeldMotion(self.c.frame, rows, held, None if third is None else third[some])

    @cached_property
    def _motions(self) -> dict[tuple[tuple[str, ...], bool], HeldMotion]:
        return {}

    @property
    def rows(self) -> dict[str, np.ndarray]:
        c = self.c
        return {"q": c.q, "v": c.v, "a": c.a, "t": c.t[:, None], "near": cut_rows(c.skel, c.references)}

    def at(self, i: int) -> Mapping[str, np.ndarray]:
        """Terms of a sample, solved for when they are asked for."""
        return SampleTerms(self, i)

    def term(self, name: str) -> np.ndarray:
        """(n, entries) of a term; NaN where it is not determined."""
        return self._motion(*((self.prescribed, self.third()) if name == "jerk" else (self.held, None))).term(name)

    def groups(self, channels: Sequence[Channel]) -> list[tuple[list[Channel], list[str], np.ndarray | None]]:
        """Channels that the same coordinates hold: jerks by what is prescribed, the others by the drives."""
        jerks = [x for x in channels if "jerk" in x.needs]
        others = [x for x in channels if "jerk" not in x.needs]
        found: list[tuple[list[Channel], list[str], np.ndarray | None]] = []
        if jerks:
            found.append((jerks, self.prescribed, self.third()))
        return [*found, (others, self.held, None)] if others else found

    def third(self) -> np.ndarray:
        """(n, prescribed): third derivatives of what prescribes the motion; zero at rest."""
        c = self.c
        known = [c.arrays.get(THIRD + name, np.zeros((len(c), 1))) for name in self.prescribed]
        found = np.concatenate(known, axis=1) if known else np.zeros((len(c), 0))
        return 0.0 * found if c.static else found


class SampleTerms(Mapping[str, np.ndarray]):
    """Terms of one sample of a trajectory by name."""

    def __init__(self, of: MotionReading, i: int):
        self.of, self.i = of, i

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self:
            raise KeyError(name)
        return self.of.term(name)[self.i]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.of.prescribed if name == "jerk" else name == "tangent" or name.startswith(PUSH))

    def __iter__(self) -> Iterator[str]:
        return iter(("jerk", "tangent") if self.of.prescribed else ("tangent",))

    def __len__(self) -> int:
        return 2 if self.of.prescribed else 1

"""Loads of a whole cycle at once.

Kernel `loads` gives them where they are determinate and no sample is singular. Otherwise J' lam + B u = M a + h is set up and solved for
all samples together. The terms are read once on symbols of the structure (`results.channels.graph`). The small systems are inverted, or
decomposed together where ranks have to be decided. What is not unique is settled as in `inverse.choice`, and what the loads do in any
joint is read on symbols again, with these multipliers and efforts in place. Samples that are not carried (a singular position whose limit
is needed) are solved one by one; so is everything if the efforts of two samples do not agree with `inverse.solve`, and where friction
grows with loads that are not unique. Friction that grows with unique loads is a fixed point of all samples together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.mechanics import forces
from linkwright.mechanics.closing.idle_motions import idle_motions
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse import FRICTION_ROUNDS, posed, rubbing_effort
from linkwright.mechanics.inverse.choice import reaction_vector
from linkwright.mechanics.inverse.effort_weights import effort_weights, nearest_efforts
from linkwright.mechanics.inverse.known_motion import Acted
from linkwright.mechanics.inverse.problem import UNDRIVEN, InverseProblem
from linkwright.model.coordinates import coordinate, joint_part
from linkwright.model.description import Friction
from linkwright.numerics.linalg import Factored, factor
from linkwright.numerics.tolerances import CONVERGED
from linkwright.properties import cached_property
from linkwright.results.channels import Channel
from linkwright.results.channels.graph import Batch, ChannelGraph, Structure
from linkwright.results.channels.loads import base_channels, load_channels

AGREEMENT = 1e-8  # of the largest effort: two ways of solving differ by round-off times the condition
MOST_OPEN = 0.25  # share of samples to solve one by one above which nothing is gained
REGULAR = 1e5  # largest entry of an inverse: beyond it ranks are decided by singular values
LOOKS = 8  # samples at which it is looked which reactions are unique, where some are not


class SolvedLoads(NamedTuple):
    """Efforts, multipliers and reactions of samples by a kernel."""

    u: np.ndarray
    lam: np.ndarray
    wrench: np.ndarray  # (n, joints, 6)


class CycleLoads:
    """Results that follow from the loads, over all samples of a cycle. `open` are the samples that have to be solved by `instant(i)`,
    `judged` those at which uniqueness is tested. Channels are read on symbols of the structure, where `shared` gives them."""

    def __init__(
        self, batch: Batch, open_: np.ndarray, judged: np.ndarray, instant: Callable[[int], Instant], shared: Callable[[], Batch] | None
    ):
        self.batch, self.open, self.judged, self.instant, self._shared = batch, open_, judged, instant, shared

    @cached_property
    def shared(self) -> Batch | None:
        """The samples on symbols of the structure."""
        return None if self._shared is None else self._shared()

    @classmethod
    def determinate(
        cls,
        loops: Loops,
        rows: Mapping[str, np.ndarray],
        drives: Sequence[str],
        instant: Callable[[int], Instant],
        structure: Structure | None,
        found: SolvedLoads,
    ) -> CycleLoads | None:
        """Loads that a kernel solved; None where a joint or force of the user's own disagrees."""
        batch = Batch(loops, rows, _acted(found.u, found.lam, drives)._replace(reactions=found.wrench))
        if not (_built_in(loops) or _agrees(batch, np.ones(len(found.u), dtype=bool), instant, drives)):
            return None

        def shared() -> Batch:
            assert structure is not None
            return Batch(loops, {**rows, "parameters": structure.values[None]}, batch.acted, ChannelGraph.shared(loops, structure, rows))

        return cls(batch, np.zeros(0, int), np.zeros(1, int), instant, None if structure is None else shared)

    @classmethod
    def of(
        cls,
        loops: Loops,
        rows: Mapping[str, np.ndarray],
        drives: Sequence[str],
        instant: Callable[[int], Instant],
        structure: Structure | None = None,
    ) -> CycleLoads | None:
        """None where the samples have to be solved one by one."""
        own = dict(rows) if structure is None else {**rows, "parameters": structure.values[None]}
        graph = ChannelGraph.of(loops, rows) if structure is None else ChannelGraph.shared(loops, structure, rows)
        symbols, n = LoadSymbols.of(graph, loops, drives), len(rows["q"])
        found = symbols.terms(own, spinning=False)
        if found is None and structure is not None:
            return cls.of(loops, rows, drives, instant)
        system, a = None if found is None else StackedLoads.of(loops, found), rows["a"]
        if found is not None and system is not None and system.inverse is None:  # links may spin idly
            spins = {_idle_spins(loops, instant(i)) for i in (0, n // 3)}
            if len(spins) > 1:
                return None
            if any(spins):
                found = symbols.terms(own, spinning=True)
                a = a if found is None else _spun_freely(system, found, a, spins.pop())
        if found is None or system is None:
            return None
        z, carried = system.solve(found.needed(a, rows["a"]))
        left = np.flatnonzero(~carried)
        if len(left) > MOST_OPEN * n:
            return None
        rubbing = loops.skel.tree.description.rubbing
        if rubbing:
            settled = None if len(left) or found.M is not None else _rubbed(loops, rows, drives, system, found, rubbing)
        else:
            settled = _settled(loops, {**rows, "a": a}, drives, system, np.where(carried[:, None], z, 0.0))
        if settled is None or not (symbols.built_in or _agrees(settled, carried, instant, drives)):
            return None
        rank = system.rank
        common = np.argmax(np.bincount(rank))
        odd = np.flatnonzero(~carried | (rank != common))
        looks = np.linspace(0, n - 1, LOOKS).astype(int) if common < z.shape[1] else np.zeros(1, int)
        shared = None if structure is None or rubbing else lambda: Batch(loops, {**own, "a": a}, settled.acted, graph)
        return cls(settled, left, np.unique(np.concatenate([looks, odd])), instant, shared)

    def values(self, named: Mapping[str, Callable[[Instant], Any]], *, stored: bool = True) -> dict[str, np.ndarray]:
        """Values read at all samples together, the open ones put in as they are solved."""
        return self._filled(self.batch.values(named, stored=stored), named)

    @property
    def drives(self) -> tuple[str, ...]:
        assert self.batch.acted is not None
        return tuple(self.batch.acted.efforts)

    @cached_property
    def _efforts(self) -> dict[str, np.ndarray]:
        """Channels of the drives' efforts, which need no symbols."""
        assert self.batch.acted is not None
        d = self.batch.own.skel.tree.description
        parts = ((coordinate(d, name), x) for name, x in self.batch.acted.efforts.items())
        return {f"{on.name}.{on.effort_kind}": x for on, x in parts}

    def _filled(self, found: dict[str, np.ndarray], named: Mapping[str, Callable[[Instant], Any]]) -> dict[str, np.ndarray]:
        for name, x in found.items() if len(self.open) else ():
            for i in self.open:
                x[i] = np.asarray(named[name](self.instant(int(i))), dtype=float)
        return found

    def read(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Channels by name, those left out that have to be read sample by sample."""
        named = {c.name: c.read for c in channels}
        found = self._filled({name: x.copy() for name, x in self._efforts.items() if name in named}, named)
        if self._shared is not None and len(found) < len(named):
            assert self.shared is not None
            table = LoadSymbols.of(self.shared.symbols, self.shared.loops, self.drives).channels
            asked = {name: table[name].read for name in named if name in table and name not in found}
            found |= self._filled(self.shared.values(asked), named)
        left = {name: read for name, read in named.items() if name not in found}
        return found | (self.values(left) if left else {})


# -------------------------------------------------------------------- the equations of all samples


class _Terms(NamedTuple):
    """J, B and g = M a + h at every sample; M where links spin idly."""

    J: np.ndarray
    B: np.ndarray
    g: np.ndarray
    M: np.ndarray | None

    def needed(self, a: np.ndarray, given: np.ndarray) -> np.ndarray:
        """g for other accelerations than it was given for."""
        return self.g if self.M is None else self.g + _times(self.M, a - given)


class LoadSymbols:
    """The equations of the loads of some drives on symbols."""

    def __init__(self, graph: ChannelGraph, loops: Loops, drives: Sequence[str]):
        self.graph, self.drives, self.built_in = graph, tuple(drives), _built_in(loops)

    @classmethod
    def of(cls, graph: ChannelGraph, loops: Loops, drives: Sequence[str]) -> LoadSymbols:
        """Those of a graph, made once."""
        known, key = graph.stages, ("loads", *drives)
        if key not in known:
            known[key] = cls(graph, loops, drives)
        return known[key]

    def terms(self, rows: Mapping[str, np.ndarray], *, spinning: bool) -> _Terms | None:
        """J, B and g at samples; None where something cannot be traced."""
        named = {"J": self._J, "B": self._B, "g": self._g} | ({"M": self._M} if spinning else {})
        by = f"by {', '.join(self.drives)}"
        found = Batch(self.graph.loops, rows, None, self.graph).values({f"{name} {by}": read for name, read in named.items()})
        return _Terms(*found.values(), *([] if spinning else [None])) if len(found) == len(named) else None

    @cached_property
    def _problem(self) -> InverseProblem:
        x = self.graph.instant
        external = x.pushes(forces.of_description(x.skel.tree.description))
        return posed(self.graph.loops, x.q, x.v, x.known_a, x.t, x.references, external, self.drives, x.motion)

    @cached_property
    def channels(self) -> Mapping[str, Channel]:
        """Channels of loads on these symbols."""
        skel = self.graph.skel
        return {**load_channels(skel.tree.description, self.drives), **base_channels(skel)}

    def _J(self, x: Instant) -> Any:
        return self._problem.terms.J

    def _B(self, x: Instant) -> Any:
        return self._problem.B

    def _g(self, x: Instant) -> Any:
        return self._problem.g

    def _M(self, x: Instant) -> Any:
        return dynamics.mass_matrix(x.skel, x.motion)


@dataclass(frozen=True)
class StackedLoads:
    """[J' B] of all samples, dimensionless as in `inverse.problem`: inverted where each is square and regular, else decomposed."""

    A: np.ndarray
    c: np.ndarray  # scales of the equations
    r: np.ndarray  # (n, unknowns): scales of the unknowns
    nc: int
    inverse: np.ndarray | None

    @classmethod
    def of(cls, loops: Loops, t: _Terms) -> StackedLoads | None:
        c = loops.columns
        sizes = np.sqrt(np.sum((t.B * c[:, None]) ** 2, axis=1))
        r = np.concatenate([np.tile(loops.row_scale, (len(t.g), 1)), np.where(sizes > 0.0, sizes, 1.0)], axis=1)
        A = np.concatenate([t.J.transpose(0, 2, 1), t.B], axis=2) * c[:, None] / r[:, None, :]
        if 0 in A.shape or not np.abs(A).max() <= 1e150:
            return None
        return cls(A, c, r, t.J.shape[1], _inverse(A))

    @cached_property
    def f(self) -> Factored:
        """The decompositions with their ranks."""
        return factor(self.A)

    @property
    def rank(self) -> np.ndarray:
        """Of every sample."""
        return self.f.rank if self.inverse is None else np.full(len(self.A), self.A.shape[2])

    def solve(self, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(lam, u) of least norm for every sample, and whether they carry the motion."""
        need = g * self.c
        if self.inverse is None:
            z = self.f.solve(need)
        else:
            z = _times(self.inverse, need)
            z = z + _times(self.inverse, need - _times(self.A, z))
        missing = np.abs(_times(self.A, z) - need).max(axis=1)
        return z / self.r, missing <= UNDRIVEN * (1.0 + np.abs(need).max(axis=1))

    @property
    def self_stress(self) -> np.ndarray:
        """(n, unknowns, number): columns that change reactions only, zero where a sample has fewer than another."""
        first = int(self.rank.min())
        if first == self.A.shape[2]:
            return np.zeros((*self.A.shape[::2], 0))
        loose = np.arange(first, self.A.shape[2]) >= self.f.rank[:, None]
        return self.f.Vt[:, first:].transpose(0, 2, 1) * loose[:, None, :] / self.r[:, :, None]


def _inverse(A: np.ndarray) -> np.ndarray | None:
    """Inverses of a stack of matrices; None where one of them has none that is small enough."""
    try:
        found = np.linalg.inv(A) if A.shape[1] == A.shape[2] else None
    except np.linalg.LinAlgError:
        return None
    return found if found is not None and np.abs(found).max() <= REGULAR else None


# -------------------------------------------------------------------- what the equations leave open


def _idle_spins(loops: Loops, x: Instant) -> int:
    return len(idle_motions(loops, x.q, loops.factored(loops.at(x.q, x.v, x.t, x.references, x.motion)).null, x.motion))


def _spun_freely(s: StackedLoads, t: _Terms, a: np.ndarray, spins: int) -> np.ndarray:
    """Links that spin between ball joints accelerate freely: N' (M a + h) = 0 along the motions N without a drive.

    Where there are more such motions than idle spins, a stays: the sample is not carried, and its own solver says why.
    """
    if not spins or t.M is None:
        return a
    N = s.f.U[:, :, -spins:] * s.c[:, None]
    K = np.einsum("nik,nij,njl->nkl", N, t.M, N)
    y = factor(K, 1e-12 * np.abs(K).max(), thin=True).solve(np.einsum("nik,ni->nk", N, t.g))
    exactly = s.f.rank == s.A.shape[1] - spins
    return a - np.where(exactly[:, None], _times(N, y), 0.0)


def _settled(loops: Loops, rows: Mapping[str, np.ndarray], drives: Sequence[str], s: StackedLoads, z: np.ndarray) -> Batch | None:
    """The instant on symbols with the multipliers and efforts in place: least efforts, then least reactions, as `inverse.choice`."""
    Z, nc = s.self_stress, s.nc
    if Z.shape[2] == 0:
        return Batch(loops, rows, _acted(z[:, nc:], z[:, :nc], drives))
    sizes = effort_weights(loops.skel.tree.description, drives, loops.kappa).sizes
    y, push = nearest_efforts(Z[:, nc:], -z[:, nc:], sizes, s.r[:, nc:])
    z = z + _times(Z, y)
    rest = Z @ (np.eye(Z.shape[2]) - push.solve(Z[:, nc:] / sizes[:, None]))
    batch = Batch(loops, {**rows, "stress": rest[:, :, 0]}, _acted(z[:, nc:], z[:, :nc], drives))

    def reactions(x: Instant) -> Any:
        return reaction_vector(x.loads.problem, np.concatenate([x.loads.lam_all, x.loads.u]), True)[1]

    def of_stress(x: Instant) -> Any:
        return reaction_vector(x.loads.problem, batch.symbols.input("stress", rest.shape[1]), False)[1]

    base, columns = batch.values({"reactions": reactions}).get("reactions"), []
    for k in range(rest.shape[2]):
        batch.rows["stress"] = rest[:, :, k]
        columns.append(batch.values({"of stress": of_stress}).get("of stress"))
    if base is None or any(x is None for x in columns):
        return None
    R = np.array(columns).transpose(1, 2, 0)
    y = factor(R, 1e-10 * max(1.0, float(np.abs(R).max())), thin=True).solve(base)
    z = z - _times(rest, y)
    batch.act(_acted(z[:, nc:], z[:, :nc], drives))
    return batch


def _rubbed(
    loops: Loops, rows: Mapping[str, np.ndarray], drives: Sequence[str], s: StackedLoads, t: _Terms, frictions: Sequence[Friction]
) -> Batch | None:
    """The instant on symbols with friction by load: a fixed point of all samples, as `inverse.solve` finds it for each.

    None where loads are not unique, something cannot be traced, or a joint jams.
    """
    if s.self_stress.shape[2]:
        return None
    names = [f.joint for f in frictions]
    units = Batch(loops, rows).values({n: lambda x, n=n: _unit_effort(x, n) for n in names})
    if len(units) < len(names):
        return None
    named = {f.joint: lambda x, f=f: rubbing_effort(x.loads, f) for f in frictions}
    last, batch = {n: np.zeros(len(t.g)) for n in names}, None
    for _ in range(FRICTION_ROUNDS):
        z, carried = s.solve(t.g - sum(last[n][:, None] * units[n] for n in names))
        if not carried.all():
            return None
        acted = _acted(z[:, s.nc :], z[:, : s.nc], drives)._replace(rubbing=last)
        batch = Batch(loops, rows, acted) if batch is None else batch
        batch.act(acted)
        new = batch.values(named)
        if len(new) < len(names):
            return None
        if all(np.abs(new[n] - last[n]).max() <= CONVERGED * (1.0 + np.abs(new[n]).max()) for n in names):
            return batch
        last = new
    return None


def _unit_effort(x: Instant, name: str) -> Any:
    """Generalized force of a unit effort in a joint's coordinate."""
    joint, (i,) = joint_part(x.skel.tree.description, name)
    return dynamics.generalized(x.skel, x.motion, forces.joint_effort(x, joint, 1.0, i))


def _acted(u: np.ndarray, lam: np.ndarray, drives: Sequence[str]) -> Acted:
    return Acted(lam, {name: u[:, k] for k, name in enumerate(drives)}, {}, solved=True)


def _built_in(loops: Loops) -> bool:
    """True if no joint or force is the user's own."""
    acting = [*loops.constraints, *loops.skel.types, *forces.of_description(loops.skel.tree.description)]
    return all(type(x).__module__.startswith("linkwright.") for x in acting)


def _agrees(batch: Batch, carried: np.ndarray, instant: Callable[[int], Instant], drives: Sequence[str]) -> bool:
    """True if single samples agree: a force or joint of the user's own may compute differently on symbols, in each motion."""
    assert batch.acted is not None
    u, sure = batch.acted.efforts, np.flatnonzero(carried)
    size = 1.0 + max(float(np.abs(x).max()) for x in u.values())
    pairs = [(u[name][i], instant(int(i)).loads.tau[name]) for i in (sure[0], sure[len(sure) // 2]) for name in drives]
    return all(abs(mine - alone) <= AGREEMENT * size for mine, alone in pairs)


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x of every sample."""
    return np.einsum("nij,nj->ni", A, x)

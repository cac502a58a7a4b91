"""Static equilibrium: where springs, weights and loads hold a mechanism still.

The degrees of freedom that are left (all, or all but the held drives) must feel no force: N' h = 0 with N the motions the loops
allow. Damped Newton steps along the loops, each closed again. The stiffness along N is that of h - J' lam with the multipliers lam
of the position, from central differences: exact enough for a root that is then checked to round-off, and nothing is closed for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import AssemblyError, counted
from linkwright.kernels.traced_loops import Form, form_of
from linkwright.mechanics.closing.newton import PositionRows, Rule, onto
from linkwright.mechanics.constraints import Constraint
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.tree import bias_force
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.skeleton import velocity_kinds
from linkwright.model.curves.polynomial import Line
from linkwright.motion.joint_limits import coordinate_now
from linkwright.numerics.linalg import Factored, factor
from linkwright.numerics.tolerances import CLOSED_AT_BEST
from linkwright.properties import cached_property
from linkwright.results.state import LaterReferences, State
from linkwright.text.units import KINDS, shown

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled

PROBE = 1e-5  # dimensionless step of the central difference
MOST_STEPS = 200
FALLING = 0.05  # share of the whole fall that the second half of the steps still brings


class AtRest(NamedTuple):
    """A mechanism at rest in one position; dimensionless but for the energy."""

    rows: PositionRows  # of the loops and of what is held
    h: np.ndarray  # weight minus springs, dampers and loads
    potential: float


@dataclass(frozen=True)
class RestForces:
    """Rows, efforts and potential energy of positions, by kernels where their code is at hand, else on floats."""

    system: Compiled
    held: tuple[Constraint, ...]
    start: State

    @cached_property
    def loops(self) -> Loops:
        return self.system.loops.with_(self.held)

    @cached_property
    def still(self) -> np.ndarray:
        return np.zeros(self.system.tree.nv)

    def at(self, q: np.ndarray, references: Mapping[str, Any]) -> AtRest:
        core, t = self.system, self.start.t
        terms, energy = core.ready("terms"), core.ready("energy")
        if terms is None or energy is None:
            at = Instant(core.skel, q, self.still, t, references, loops=self.loops)
            h = bias_force(core.skel, at.motion, at.pushes(core.forces))
            return AtRest(self.rows(q, references), h * self.loops.columns, at.energy["potential"])
        more = {"near": _packed(core, references), "t": t}
        found = terms.healthy((q, self.still), more)
        rows = self._all_rows(q, references, found.phi, found.J)
        return AtRest(rows, found.h * self.loops.columns, float(energy.healthy((q, self.still), more).potential[0]))

    def rows(self, q: np.ndarray, references: Mapping[str, Any]) -> PositionRows:
        """Rows alone."""
        core = self.system
        kernel = core.ready("closure")
        if kernel is None:
            c = self.loops.at(q, self.still, self.start.t, references)
            return PositionRows(*self.loops.dimensionless(c), c.b / self.loops.row_scale)
        found = kernel.healthy((q, self.still), {"near": _packed(core, references), "t": self.start.t})
        return self._all_rows(q, references, found.phi, found.J)

    def _all_rows(self, q: np.ndarray, references: Mapping[str, Any], phi: np.ndarray, J: np.ndarray) -> PositionRows:
        """Rows of the loops, given, with those of what is held."""
        loops, t = self.loops, self.start.t
        if self._unit_rows is None:
            c = loops.at(q, self.still, t, references)
            return PositionRows(*loops.dimensionless(c), c.b / loops.row_scale)
        if self.held:
            forms, units = self._unit_rows
            phi, J = np.concatenate([phi, [q[f.place] - f.numbers(t)[0] for f in forms]]), np.vstack([J, units])
        rows = loops.row_scale
        return PositionRows(phi / rows, J * loops.columns / rows[:, None], np.zeros(len(rows)))

    @cached_property
    def _unit_rows(self) -> tuple[list[Form], np.ndarray] | None:
        """Forms and rows of what is held, where it is coordinates of tree joints only."""
        forms = [f for f in (form_of(self.system.skel, c) for c in self.held) if f is not None and f.column >= 0]
        return (forms, np.eye(len(self.still))[[f.column for f in forms]]) if len(forms) == len(self.held) else None

    def moved(self, st: State, step: np.ndarray) -> State | None:
        """The position on the loops after a dimensionless step."""
        done = onto(lambda q: self.rows(q, st.references), self.loops.displaced, self.loops.displaced(st.q, step), Rule(reach=1.0))
        if done.residual >= CLOSED_AT_BEST:
            return None
        near = _packed(self.system, st.references)
        return State(st.skel, done.q, self.still, LaterReferences(st.skel, done.q, near), st.t)


def _packed(core: Compiled, references: Mapping[str, Any]) -> np.ndarray:
    return references.row if isinstance(references, LaterReferences) else core.skel.pack(references)


def settled(core: Compiled, start: State | None, hold: str | Sequence[str]) -> State:
    """See `Mechanism.settle`."""
    core.kernels.need_masses()
    if start is not None:
        core.need_state(start)
    st = core.start if start is None else start
    names = [hold] if isinstance(hold, str) else hold
    held = [driven(core.description, n, Line(coordinate_now(core.loops, n, st.instant), 0.0)) for n in names]
    return settle(core, State(core.skel, st.q, np.zeros(core.tree.nv), st.references, st.t), held)


def settle(system: Compiled, start: State, held: Sequence[Constraint] = ()) -> State:
    """Equilibrium nearest to `start` downhill; `held` constraints keep some coordinates where they are."""
    rest = RestForces(system, tuple(held), start)
    st, energies = start, []
    for _ in range(MOST_STEPS):
        here = rest.at(st.q, st.references)
        energies.append(here.potential)
        f = factor(here.rows.J, 1e-9)
        if f.null.shape[1] == 0:
            return st
        force = -(f.null.T @ here.h)
        if np.abs(force).max() <= 1e-11 * (1.0 + np.abs(here.h).max(initial=0.0)):
            return st
        st = _step(rest, st, here, f)
    raise AssemblyError(_restless(rest, st, energies))


def _restless(rest: RestForces, st: State, energies: Sequence[float]) -> str:
    """Why no equilibrium was found, by what the last steps did."""
    system, start = rest.system, rest.start
    names, desc = system.kernels.entries["v"], system.description
    late = energies[len(energies) // 2 :]
    here = rest.at(st.q, st.references)
    N = factor(here.rows.J, 1e-9).null
    force = -(N.T @ here.h)
    if late[0] - late[-1] > FALLING * max(abs(energies[0] - late[-1]), 1e-300):
        moved = np.abs(st.q - start.q) if len(st.q) == len(names) else np.abs(np.asarray(N @ force))
        worst = names[int(np.argmax(moved))]
        return (
            f"no equilibrium: the potential energy still falls after {counted(len(energies), 'step')}, by "
            f"{late[0] - late[-1]:.3g} J over the second "
            f"half of them, and nothing holds '{worst}'. Add a spring or a stop there, or hold it (hold=['{worst}'])."
        )
    worst = int(np.argmax(np.abs(N @ force)))
    kind = velocity_kinds(system.skel)[worst]
    left = shown(float((N @ force)[worst] / system.loops.columns[worst]), KINDS["torque" if kind == "angle" else "force"], desc.units)
    return (
        f"no equilibrium: after {counted(len(energies), 'step')} {left} are left in '{names[worst]}', and the potential energy "
        "falls no more. "
        "A load there depends on the motion, or changes too abruptly. Begin at another position."
    )


def _stiffness(rest: RestForces, st: State, here: AtRest, f: Factored) -> np.ndarray:
    """N' d(h - J' lam) / dq N with the multipliers of this position; symmetric for forces that have a potential."""
    lam = factor(here.rows.J.T, 1e-9, thin=True).solve(here.h)

    def left(step: np.ndarray) -> np.ndarray:
        there = rest.at(rest.loops.displaced(st.q, step), st.references)
        return f.null.T @ (there.h - there.rows.J.T @ lam)

    slope = np.array([(left(PROBE * n) - left(-PROBE * n)) / (2 * PROBE) for n in f.null.T]).T
    return 0.5 * (slope + slope.T)


def _falls(rest: RestForces, here: AtRest, after: AtRest, step: np.ndarray) -> bool:
    """True if the energy falls over a step; where loads act, which have no potential, if all forces together do work (by both ends)."""
    if all(f.conservative or f.loses for f in rest.system.forces):
        return after.potential < here.potential - 1e-14 * abs(here.potential)
    return bool(-0.5 * (here.h + after.h) @ step > 1e-14 * np.abs(here.h) @ np.abs(step))


def _step(rest: RestForces, st: State, here: AtRest, f: Factored) -> State:
    """A Newton step where the energy is convex, downhill otherwise; shortened until the energy falls or the force does."""
    values, vectors = np.linalg.eigh(_stiffness(rest, st, here, f))
    force = -(f.null.T @ here.h)
    floor = max(1e-6 * float(np.abs(values).max()), 1e-3 * float(np.abs(force).max()), 1e-300)  # no stiffness: as far as a step may go
    y = vectors @ ((vectors.T @ force) / np.maximum(np.abs(values), floor))
    length = float(np.linalg.norm(y))
    y = y * min(1.0, 0.3 / max(length, 1e-300))
    for _ in range(40):
        there = rest.moved(st, f.null @ y)
        if there is not None:
            after = rest.at(there.q, there.references)
            lower = _falls(rest, here, after, f.null @ y)
            calmer = np.abs(factor(after.rows.J, 1e-9).null.T @ after.h).max() < np.abs(force).max()
            if lower or (calmer and length < 1e-3):
                return there
        y = 0.5 * y
    return st if there is None else there

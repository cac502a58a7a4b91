"""Dynamics of a System at one state: forward by any formulation, inverse on the spanning tree in which most reactions are determinate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics import inverse
from linkwright.mechanics.closing.idle import idle_motions
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import Terms, terms
from linkwright.mechanics.formulations.forward import forward
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse import Loads
from linkwright.mechanics.kinematics.motion import joint_rate
from linkwright.motion.compiled import Compiled
from linkwright.motion.inputs import efforts, wrenches
from linkwright.numerics.linalg import factor
from linkwright.numerics.pickling import essentials
from linkwright.results.forward import Acceleration, Crosscheck, crosscheck
from linkwright.results.recorded import coordinate_names
from linkwright.results.state import State
from linkwright.topology.order import inverse_tree


class Dynamics:
    """Accelerations and loads of a compiled mechanism."""

    __getstate__ = essentials

    def __init__(self, core: Compiled, cuts_given: bool):
        self.core, self.cuts_given = core, cuts_given

    def terms(self, st: State, wrench: Mapping[str, Any] | None = None, more: Sequence[tuple[int, Any]] = ()) -> Terms:
        """See `System.terms`."""
        core = self.core
        core.kernels.need_masses()
        core.need_closed(st)
        return terms(core.loops, st.q, st.v, st.t, st.near, [*core.applied(st), *wrenches(core.skel, st, wrench or {}), *more])

    def forward(self, st: State, tau: Any, wrench: Any, formulation: Any, limit: str, branch: Mapping[str, Any] | None) -> Acceleration:
        """See `System.forward`."""
        core = self.core
        effort, pushes = efforts(core.assembler, st, tau)
        direction = None if branch is None else core.assembler.branch(st, branch)
        out = forward(self.terms(st, wrench, pushes), effort, formulation, limit=limit, branch=direction)
        there = State(core.skel, st.q, st.v, st.near, st.t, out.a)
        vars(there).update(instant=core.instant(st, out.a), channels=st.channels)  # the quantities computed at this state are shared
        return Acceleration(out.a, out, tuple(coordinate_names(core.skel, "v_names")), there)

    def crosscheck(self, st: State, tau: Any) -> Crosscheck:
        """See `System.crosscheck`."""
        effort, pushes = efforts(self.core.assembler, st, tau)
        return crosscheck(self.terms(st, None, pushes), effort)

    def inverse(self, st: State, a: Any, wrench: Mapping[str, Any] | None, drives: Any, method: Any, options: Mapping[str, Any]) -> Loads:
        """See `System.inverse`."""
        core = self.core
        core.kernels.need_masses()
        core.need_closed(st)
        chosen = core.drive_names if drives is None else list(drives)
        for name in chosen:
            core.need_drive(name)
        acceleration = core.assembler.accelerations(st, a, chosen)
        method = inverse.method_of(method)
        other = self.determinate if method is inverse.METHODS["subsystem"] else core
        there = st
        if other is not core:
            there = mirrored(other, st)
            acceleration = other.assembler.accelerations(there, _of_joints(other, core.instant(st, acceleration)), [])
        given = wrenches(other.skel, there, wrench or {})
        pushes = [*other.applied(there), *given]
        outside = [*other.applied(there, outside=True), *given]
        acceleration = _spun_freely(other, there, acceleration, pushes)
        args = (other.loops, there.q, there.v, acceleration, there.t, there.near, pushes, chosen, method, outside)
        return inverse.solve(*args, moving=there.instant.motion, **options)

    @cached_property
    def determinate(self) -> Compiled:
        """The mechanism on the spanning tree that is most determinate for the inverse (the same one if cuts were given)."""
        core = self.core
        if self.cuts_given or core.description.cuts is not None:
            return core
        tree = inverse_tree(core.description, core.drive_names)
        return core if tree.cuts == core.tree.cuts else Compiled(core.description, tree.cuts)


def mirrored(core: Compiled, st: State) -> State:
    """Return a state of the same mechanism on another spanning tree in the coordinates of this tree."""
    nodes = core.tree.nodes
    if any(n.joint.name not in st.near for n in nodes):
        raise UsageError("the two trees do not have the same joints; give the same cuts to both.")
    q, v = np.zeros(core.tree.nq), np.zeros(core.tree.nv)
    for n in nodes:
        node = st.skel.tree.node_of_joint.get(n.joint.name)
        if node is None:
            read = joint_rate(st.skel, st.instant.motion, n.joint, st.near[n.joint.name])
            q[n.q], v[n.v] = read.q, read.v
        else:
            theirs = st.skel.tree.nodes[node]
            q[n.q], v[n.v] = st.q[theirs.q], st.v[theirs.v]
    return State(core.skel, q, v, core.loops.references(q, st.near), st.t)


def _of_joints(core: Compiled, there: Instant) -> np.ndarray:
    """Accelerations of this tree, of an instant in the coordinates of another tree."""
    parts = [there.joint_accelerations(n.joint) for n in core.tree.nodes]
    return np.concatenate(parts) if parts else np.zeros(0)


def _spun_freely(core: Compiled, st: State, a: np.ndarray, pushes: Sequence[tuple[int, Any]]) -> np.ndarray:
    """Accelerations with those of idle degrees of freedom (a rod spinning between ball joints) that result without any drive."""
    loops, m = core.loops, core.motion(st)
    null = loops.factored(loops.at(st.q, st.v, st.t, st.near)).null
    spins = [v for _, v in idle_motions(loops, st.q, null, m)]
    if not spins:
        return a
    N = np.array(spins).T * loops.columns[:, None]
    K, rest = N.T @ dynamics.mass_matrix(core.skel, m) @ N, N.T @ dynamics.inverse_tree(core.skel, m, a, pushes)
    return a - N @ factor(K, 1e-12 * max(1e-300, float(np.abs(K).max()))).solve(rest)

"""Dynamics of a System at one state: forward by any formulation, inverse on the spanning tree in which most reactions are determinate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import LinkwrightError, UsageError
from linkwright.mechanics import inverse
from linkwright.mechanics.closing.idle import idle_motions
from linkwright.mechanics.closing.mobility import Mobility
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import BlockPlaces, Terms, terms
from linkwright.mechanics.formulations.forward import Forward, forward
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse import Loads, base_push
from linkwright.mechanics.inverse.effort_weights import effort_weights
from linkwright.mechanics.kinematics.base import base_joints
from linkwright.mechanics.kinematics.motion import joint_rate
from linkwright.model.coordinates import is_rotary
from linkwright.model.file import quantity
from linkwright.motion.compiled import OPEN, Compiled
from linkwright.motion.inputs import efforts, wrenches
from linkwright.numerics.linalg import factor, pivoted_columns
from linkwright.numerics.pickling import essentials
from linkwright.results.forward_results import Acceleration, Crosscheck, crosscheck
from linkwright.results.records import coordinate_names, cut_rows
from linkwright.results.state import State
from linkwright.results.state_loads import KernelLoads
from linkwright.results.trajectory import Trajectory
from linkwright.text.units import KINDS
from linkwright.topology.order import inverse_tree

EXACT = 1e-10  # share of accelerations, and of efforts, up to which they are round-off


class BesideDrives(NamedTuple):
    """Velocities by name that drives and loops leave: of a floating base, which gets a wrench, and others, which nothing moves."""

    base: tuple[str, ...]
    loose: tuple[str, ...]
    every: tuple[str, ...]  # drives, then these
    others: tuple[str, ...] | None  # the same; None where they are the drives of the model


class GivenAccelerations(NamedTuple):
    """A kernel and what it takes: all accelerations, or those of drives and base."""

    kernel: str
    values: np.ndarray


class Dynamics:
    """Accelerations and loads of a compiled mechanism."""

    __getstate__ = essentials

    def __init__(self, core: Compiled, cuts_given: bool):
        self.core, self.cuts_given = core, cuts_given

    def terms(self, st: State, wrench: Mapping[str, Any] | None = None, more: Sequence[tuple[int, Any]] = ()) -> Terms:
        """See `System.terms`."""
        core = self.core
        core.kernels.need_masses()
        kernel = core.ready("blocks", seconds=core.answer_on_floats) if not wrench and not more and _is_of(core, st) else None
        found = None if kernel is None else kernel.healthy((st.q, st.v), core.optional_inputs(kernel, st))
        if found is not None and np.abs(found.phi / core.loops.row_scale).max(initial=0.0) < OPEN:
            place = Instant(core.skel, st.q, st.v, st.t, st.references, loops=core.loops, acting=core.forces)
            return self._block_places.terms(found, place)
        core.need_closed(st)
        return terms(core.loops, st.q, st.v, st.t, st.references, [*core.applied(st), *wrenches(core.skel, st, wrench or {}), *more])

    @cached_property
    def _block_places(self) -> BlockPlaces:
        st, loops = self.core.start, self.core.loops
        return BlockPlaces(loops, sorted(loops.at(st.q, st.v, st.t, st.references).blocks))

    def forward(self, st: State, tau: Any, wrench: Any, formulation: Any, limit: str, branch: Mapping[str, Any] | None) -> Acceleration:
        """See `System.forward`."""
        core = self.core

        def solved() -> Forward:
            effort, pushes = efforts(core.assembler, st, tau)
            direction = None if branch is None else core.assembler.branch(st, branch)
            T = self.terms(st, wrench, pushes)
            core.need_along(st)
            return forward(T, effort, formulation, limit=limit, branch=direction)

        plain = wrench is None and branch is None and limit == "smooth" and isinstance(formulation, str) and formulation == "auto"
        kernel = core.ready("accelerations", seconds=core.answer_on_floats) if plain and _is_of(core, st) else None
        if kernel is not None:
            effort, pushes = efforts(core.assembler, st, tau)
            found = None if pushes else kernel.healthy((st.q, st.v, effort), core.optional_inputs(kernel, st))
            if found is not None and found.gap[0] < OPEN:
                return Acceleration(found.a, found.lam, self._names, st, solved)
        return Acceleration.of(solved(), self._names, st)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(coordinate_names(self.core.skel, "v_names"))

    def crosscheck(self, st: State, tau: Any) -> Crosscheck:
        """See `System.crosscheck`."""
        effort, pushes = efforts(self.core.assembler, st, tau)
        return crosscheck(self.terms(st, None, pushes), effort)

    def inverse(self, st: State, a: Any, wrench: Mapping[str, Any] | None, drives: Any, method: Any, options: Mapping[str, Any]) -> Loads:
        """See `System.inverse`."""

        def solved() -> Loads:
            return self.solved(st, a, wrench, drives, method, options)

        core, names = self.core, self.core.named_drives(drives)
        named = method is inverse.METHODS["subsystem"] or (isinstance(method, str) and method == "subsystem")
        plain = wrench is None and named and not any(x is not None for x in options.values()) and _is_of(core, st)
        beside = self._beside(names) if plain else None
        given = None if beside is None else self._given_accelerations(st, a, beside)
        if beside is None or given is None:
            return solved()
        kernel = core.ready(given.kernel, beside.others, seconds=core.answer_on_floats)
        if kernel is None or not core.determinate_loads:
            return solved()
        found = kernel.healthy((st.q, st.v, given.values), core.optional_inputs(kernel, st))
        if found is None or not found.gap[0] < OPEN or not _carried(found, beside):
            return solved()
        return KernelLoads(core.loops, st, names, found, solved, beside.base)

    def _beside(self, names: Sequence[str]) -> BesideDrives | None:
        """Velocities that drives and loops leave; None where a name is no drive, or friction depends on the loads."""
        key = tuple(names)
        if key not in self._known_beside:
            try:
                self._known_beside[key] = None if self.core.description.rubbing else self._found_beside(names)
            except LinkwrightError:
                self._known_beside[key] = None
        return self._known_beside[key]

    @cached_property
    def _known_beside(self) -> dict[tuple[str, ...], BesideDrives | None]:
        return {}

    def _found_beside(self, names: Sequence[str]) -> BesideDrives:
        """At the start; what nothing moves are as many velocities as are missing, those that are least alike."""
        core, st, base = self.core, self.core.start, self._base_velocities(names)
        loops, nv = core.loops, core.tree.nv
        problem = inverse.posed(loops, st.q, st.v, np.zeros(nv), st.t, st.references, (), names)
        spins = [v for _, v in idle_motions(loops, st.q, loops.factored(loops.at(st.q, st.v, st.t, st.references)).null)]
        held = np.eye(nv)[[self._names.index(name) for name in base]]
        A = np.concatenate([problem.matrix, held.T, *(spin[:, None] for spin in spins)], axis=1)
        missing = max(0, nv - A.shape[1])
        joined = [i for n in core.tree.nodes if n.body not in core.tree.floating for i in range(n.v.start, n.v.stop)]
        loose = pivoted_columns(factor(A).left_null[joined].T)[:missing] if missing else []
        found = tuple(self._names[joined[i]] for i in loose)
        every = (*names, *base, *found)
        return BesideDrives(tuple(base), found, every, None if every == tuple(core.drive_names) else every)

    def _given_accelerations(self, st: State, a: Any, beside: BesideDrives) -> GivenAccelerations | None:
        """Accelerations of a call as a kernel takes them; None where other coordinates are given, or arrays of another shape."""
        if a is None and beside.loose and not st.v.any():
            a = np.zeros(self.core.tree.nv)  # what nothing moves rests
        if isinstance(a, np.ndarray) and a.shape == st.v.shape and a.dtype == float and np.isfinite(a).all():
            return GivenAccelerations("given_loads", a)
        known = not beside.loose or (isinstance(a, Mapping) and all(name in a for name in beside.loose))
        values = self._drive_accelerations(a, beside.every) if known else None
        return None if values is None else GivenAccelerations("driven_loads", values)

    def _drive_accelerations(self, a: Any, names: Sequence[str]) -> np.ndarray | None:
        """Accelerations of the drives, zero unless named; None where other coordinates are given."""
        if a is None:
            return np.zeros(len(names))
        if not isinstance(a, Mapping) or not all(name in names for name in a):
            return None
        rotary = self._rotary
        for n in names:
            if n not in rotary:
                rotary[n] = is_rotary(self.core.description, n)
        values = [(a.get(n, 0.0), KINDS["angular acceleration" if rotary[n] else "acceleration"]) for n in names]
        return np.array([x if type(x) is float else quantity(x, kind) for x, kind in values])

    @cached_property
    def _rotary(self) -> dict[str, bool]:
        """True for drives that turn, by name; others than those of the model are added when a call names them."""
        return {name: is_rotary(self.core.description, name) for name in self.core.drive_names}

    def solved(self, st: State, a: Any, wrench: Mapping[str, Any] | None, drives: Any, method: Any, options: Mapping[str, Any]) -> Loads:
        """The same on floats, for any motion, method and choice among reactions that are not unique."""
        core = self.core
        core.kernels.need_masses()
        core.need_closed(st)
        chosen = core.named_drives(drives)
        for name in chosen:
            core.need_drive(name)
        base = self._base_velocities(chosen)
        acceleration = core.assembler.accelerations(st, *self._at_rest(a, base, chosen))
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
        at = (other.loops, there.q, there.v, acceleration, there.t, there.references)
        if not base:
            return inverse.solve(*at, pushes, chosen, method, outside, moving=there.instant.motion, **options)
        held = base_push(inverse.posed(*at, pushes, chosen, there.instant.motion), base)
        both = ([*pushes, *held.pushes], chosen, method, [*outside, *held.pushes])
        return replace(inverse.solve(*at, *both, moving=there.instant.motion, **options), base=held.efforts)

    def _base_velocities(self, drives: Sequence[str]) -> list[str]:
        """Velocities of a floating base that no drive moves."""
        driven = {name.partition(".")[0] for name in drives}
        return [n for joint in self._base if joint not in driven for n in self._names if n.startswith(f"{joint}.")] if self._base else []

    def redundancy_notes(self, drives: Sequence[str], mobility: Callable[[], Mobility]) -> tuple[str, ...]:
        """How efforts are chosen, where there are more drives than degrees of freedom and efforts can be computed."""
        core = self.core
        if len(drives) < 2 or any(b.mass is None for b in core.description.bodies[1:]):
            return ()
        base = len(self._base_velocities(drives))
        if core.description.planar and len(drives) <= core.tree.nv - core.tree.nc - base:  # rows count, as nothing spins idly in a plane
            return ()
        if len(drives) <= mobility().freedoms - base:
            return ()
        return (effort_weights(core.description, drives, core.loops.kappa).note,)

    def _at_rest(self, a: Any, base: Sequence[str], drives: Sequence[str]) -> tuple[Any, list[str]]:
        """Accelerations with those of the base zero where only other joints are named, and the names that rest as far as they can."""
        whole = {name: [x for x in base if x.startswith(f"{name}.")] for name in self._base}
        known = {j.name for j in self.core.description.joints}
        heads = [n.partition(".")[0] for n in a] if isinstance(a, Mapping) else []
        plain = (a is None or isinstance(a, Mapping)) and all(n in known and n not in whole for n in heads)
        if not base or not plain:
            return a, [*base, *drives]
        return {**{name: np.zeros(len(x)) for name, x in whole.items() if x}, **(a or {})}, list(drives)

    @cached_property
    def _base(self) -> list[str]:
        return base_joints(self.core.tree)

    def loads_of_samples(self, c: Trajectory) -> Any:
        """Efforts u and reactions `wrench` along a turn by kernel `loads`; None where some are not determinate, or code is not ready."""
        if list(c.drives) != self.core.drive_names:
            return None
        kernel = self.core.ready("loads", seconds=0.1)
        if kernel is None or not self.core.determinate_loads:
            return None
        more = {"t": lambda: c.t[:, None], "near": lambda: cut_rows(c.skel, c.references)}
        found = kernel.batch((c.q, c.v, c.a), {b.name: more[b.name]() for b in kernel.inputs if b.name in more})
        return None if found.failed else found

    @cached_property
    def determinate(self) -> Compiled:
        """The mechanism on the spanning tree that is most determinate for the inverse (the same one if cuts were given, or if bodies
        would float there: their coordinates are those of no joint)."""
        core = self.core
        if self.cuts_given or core.description.cuts is not None:
            return core
        tree = inverse_tree(core.description, core.drive_names)
        return core if tree.cuts == core.tree.cuts or tree.floating else Compiled(core.description, tree.cuts, core.loops.kappa)


def _is_of(core: Compiled, st: Any) -> bool:
    """True for a state of this very tree."""
    return isinstance(st, State) and st.skel is core.skel


def _carried(found: Any, beside: BesideDrives) -> bool:
    """True if the accelerations are on the loops and what no drive moves needs no effort: else floats judge, or explain."""
    if "off" in found._fields and not found.off[0] <= EXACT:
        return False
    if not beside.loose:
        return True
    size = max(np.abs(found.u).max(), np.abs(found.lam).max(initial=0.0))
    return bool(np.abs(found.u[-len(beside.loose) :]).max() <= EXACT * (1.0 + size))


def mirrored(core: Compiled, st: State) -> State:
    """Return a state of the same mechanism on another spanning tree in the coordinates of this tree."""
    nodes = core.tree.nodes
    if any(n.joint.name not in st.references for n in nodes):
        raise UsageError("the two trees do not have the same joints; give the same cuts to both.")
    q, v = np.zeros(core.tree.nq), np.zeros(core.tree.nv)
    for n in nodes:
        node = st.skel.tree.node_of_joint.get(n.joint.name)
        if node is None:
            read = joint_rate(st.skel, st.instant.motion, n.joint, st.references[n.joint.name])
            q[n.q], v[n.v] = read.q, read.v
        else:
            theirs = st.skel.tree.nodes[node]
            q[n.q], v[n.v] = st.q[theirs.q], st.v[theirs.v]
    return State(core.skel, q, v, core.loops.counted_references(q, st.references), st.t)


def _of_joints(core: Compiled, there: Instant) -> np.ndarray:
    """Accelerations of this tree, of an instant in the coordinates of another tree."""
    parts = [there.joint_accelerations(n.joint) for n in core.tree.nodes]
    return np.concatenate(parts) if parts else np.zeros(0)


def _spun_freely(core: Compiled, st: State, a: np.ndarray, pushes: Sequence[tuple[int, Any]]) -> np.ndarray:
    """Accelerations with those of idle degrees of freedom (a rod spinning between ball joints) that result without any drive."""
    loops, m = core.loops, core.motion(st)
    null = loops.factored(loops.at(st.q, st.v, st.t, st.references)).null
    spins = [v for _, v in idle_motions(loops, st.q, null, m)]
    if not spins:
        return a
    N = np.array(spins).T * loops.columns[:, None]
    K, rest = N.T @ dynamics.mass_matrix(core.skel, m) @ N, N.T @ dynamics.inverse_tree(core.skel, m, a, pushes)
    return a - N @ factor(K, 1e-12 * max(1e-300, float(np.abs(K).max()))).solve(rest)

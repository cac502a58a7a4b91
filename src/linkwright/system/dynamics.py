"""Dynamics of a System at one state: forward by any formulation, inverse on the spanning tree in which most reactions are determinate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import LinkwrightError, UsageError
from linkwright.mechanics import inverse as methods
from linkwright.mechanics.closing.idle_motions import idle_motions
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import BlockPlaces, Terms
from linkwright.mechanics.dynamics.terms import terms as tree_terms
from linkwright.mechanics.forces import SHARP, SOFT, VISCOUS
from linkwright.mechanics.formulations.forward import Forward
from linkwright.mechanics.formulations.forward import forward as solved_forward
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse import Loads, base_push
from linkwright.mechanics.inverse.effort_weights import effort_weights
from linkwright.mechanics.kinematics.motion import joint_rate
from linkwright.model.coordinates import is_rotary
from linkwright.model.file import quantity
from linkwright.motion.efforts_and_wrenches import efforts, wrenches
from linkwright.numerics.linalg import factor, pivoted_columns
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.tolerances import OPEN as OPEN
from linkwright.results.forward_results import Acceleration, Crosscheck
from linkwright.results.forward_results import crosscheck as crosscheck_of
from linkwright.results.state import State
from linkwright.results.state_loads import KernelLoads
from linkwright.simulation.joint_friction import float_forward, kernel_forward
from linkwright.system.compiled import Compiled
from linkwright.text.units import KINDS

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


PLACES: Store[str, BlockPlaces] = Store()  # of the blocks of terms, from one kernel
BESIDE: Store[tuple[str, ...], BesideDrives | None] = Store()  # by drives
ROTARY: Store[str, bool] = Store()  # drives that turn, by name


def terms(core: Compiled, st: State, wrench: Mapping[str, Any] | None = None, more: Sequence[tuple[int, Any]] = ()) -> Terms:
    """See `System.terms`."""
    core.kernels.need_masses()
    kernel = core.ready("blocks") if not wrench and not more and _is_of(core, st) else None
    found = None if kernel is None else kernel.healthy((st.q, st.v), core.optional_inputs(kernel, st))
    if found is not None and np.abs(found.phi / core.loops.row_scale).max(initial=0.0) < OPEN:
        place = Instant(core.skel, st.q, st.v, st.t, st.references, loops=core.loops, acting=core.forces)
        return _block_places(core).terms(found, place)
    return terms_on_floats(core, st, wrench, more)


def terms_on_floats(
    core: Compiled, st: State, wrench: Mapping[str, Any] | None = None, more: Sequence[tuple[int, Any]] = (), *, friction: str = SOFT
) -> Terms:
    """The same from the equations as they are written: what formulations solve."""
    core.kernels.need_masses()
    core.need_closed(st)
    pushes = [*core.applied(st, friction=friction), *wrenches(core.skel, st, wrench or {}), *more]
    return tree_terms(core.loops, st.q, st.v, st.t, st.references, pushes)


def _block_places(core: Compiled) -> BlockPlaces:
    known = PLACES.of(core)
    if "blocks" not in known:
        st, loops = core.start, core.loops
        known["blocks"] = BlockPlaces(loops, sorted(loops.at(st.q, st.v, st.t, st.references).blocks))
    return known["blocks"]


def forward(
    core: Compiled, st: State, tau: Any, wrench: Any, formulation: Any, limit: str, branch: Mapping[str, Any] | None
) -> Acceleration:
    """See `System.forward`."""

    friction = core.friction

    def solved() -> Forward:
        effort, pushes = efforts(core.assembler, st, tau)
        direction = None if branch is None else core.assembler.branch(st, branch)
        T = terms_on_floats(core, st, wrench, pushes, friction=SOFT if friction is None else VISCOUS)
        core.need_along(st)
        solve = partial(solved_forward, T, formulation=formulation, limit=limit, branch=direction)
        return solve(effort) if friction is None else float_forward(T, effort, friction, solve)

    plain = wrench is None and branch is None and limit == "smooth" and isinstance(formulation, str) and formulation == "auto"
    kernel = core.ready("accelerations") if plain and _is_of(core, st) else None
    if kernel is not None:
        effort, pushes = efforts(core.assembler, st, tau)
        if pushes:
            found = None
        elif friction is not None:
            found = kernel_forward(core, st, effort, friction)
        else:
            found = kernel.healthy((st.q, st.v, effort), core.optional_inputs(kernel, st))
        if found is not None and found.gap[0] < OPEN:
            return Acceleration(found.a, found.lam, core.v_names, st, solved)
    return Acceleration.of(solved(), core.v_names, st)


def crosscheck(core: Compiled, st: State, tau: Any) -> Crosscheck:
    """See `System.crosscheck`."""
    effort, pushes = efforts(core.assembler, st, tau)
    return crosscheck_of(terms_on_floats(core, st, None, pushes), effort)


def inverse(
    core: Compiled, st: State, a: Any, wrench: Mapping[str, Any] | None, drives: Any, method: Any, options: Mapping[str, Any]
) -> Loads:
    """See `System.inverse`."""

    def solved() -> Loads:
        return loads_on_floats(core, st, a, wrench, drives, method, options)

    names = core.named_drives(drives)
    named = method is methods.METHODS["subsystem"] or (isinstance(method, str) and method == "subsystem")
    plain = wrench is None and named and not any(x is not None for x in options.values()) and _is_of(core, st)
    beside = _beside(core, names) if plain else None
    given = None if beside is None else _given_accelerations(core, st, a, beside)
    if beside is None or given is None or not len(given.values):
        return solved()
    kernel = core.ready(given.kernel, beside.others) if core.determinate_loads else None
    if kernel is None:
        return solved()
    found = kernel.healthy((st.q, st.v, given.values), core.optional_inputs(kernel, st))
    if found is None or not found.gap[0] < OPEN or not _carried(found, beside):
        return solved()
    return KernelLoads(core.loops, st, names, found, solved, beside.base)


def _beside(core: Compiled, names: Sequence[str]) -> BesideDrives | None:
    """Velocities that drives and loops leave; None where a name is no drive, or friction depends on the loads."""
    key, known = tuple(names), BESIDE.of(core)
    if key not in known:
        try:
            known[key] = None if core.description.rubbing else _found_beside(core, names)
        except LinkwrightError:
            known[key] = None
    return known[key]


def _found_beside(core: Compiled, names: Sequence[str]) -> BesideDrives:
    """At the start; what nothing moves are as many velocities as are missing, those that are least alike."""
    st, base = core.start, _base_velocities(core, names)
    loops, nv = core.loops, core.tree.nv
    problem = methods.posed(loops, st.q, st.v, np.zeros(nv), st.t, st.references, (), names)
    spins = [v for _, v in idle_motions(loops, st.q, loops.factored(loops.at(st.q, st.v, st.t, st.references)).null)]
    held = np.eye(nv)[[core.v_names.index(name) for name in base]]
    A = np.concatenate([problem.matrix, held.T, *(spin[:, None] for spin in spins)], axis=1)
    missing = max(0, nv - A.shape[1])
    joined = [i for n in core.tree.nodes if n.body not in core.tree.floating for i in range(n.v.start, n.v.stop)]
    loose = pivoted_columns(factor(A).left_null[joined].T)[:missing] if missing else []
    found = tuple(core.v_names[joined[i]] for i in loose)
    every = (*names, *base, *found)
    return BesideDrives(tuple(base), found, every, None if every == tuple(core.drive_names) else every)


def _given_accelerations(core: Compiled, st: State, a: Any, beside: BesideDrives) -> GivenAccelerations | None:
    """Accelerations of a call as a kernel takes them; None where other coordinates are given, or arrays of another shape."""
    if a is None and beside.loose and not st.v.any():
        a = np.zeros(core.tree.nv)  # what nothing moves rests
    if isinstance(a, np.ndarray) and a.shape == st.v.shape and a.dtype == float and np.isfinite(a).all():
        return GivenAccelerations("given_loads", a)
    known = not beside.loose or (isinstance(a, Mapping) and all(name in a for name in beside.loose))
    values = _drive_accelerations(core, a, beside.every) if known else None
    return None if values is None else GivenAccelerations("driven_loads", values)


def _drive_accelerations(core: Compiled, a: Any, names: Sequence[str]) -> np.ndarray | None:
    """Accelerations of the drives, zero unless named; None where other coordinates are given."""
    if a is None:
        return np.zeros(len(names))
    if not isinstance(a, Mapping) or not all(name in names for name in a):
        return None
    rotary = ROTARY.of(core)
    for n in names:
        if n not in rotary:
            rotary[n] = is_rotary(core.description, n)
    values = [(a.get(n, 0.0), KINDS["angular acceleration" if rotary[n] else "acceleration"]) for n in names]
    return np.array([x if type(x) is float else quantity(x, kind) for x, kind in values])


def loads_on_floats(
    core: Compiled, st: State, a: Any, wrench: Mapping[str, Any] | None, drives: Any, method: Any, options: Mapping[str, Any]
) -> Loads:
    """The same on floats, for any motion, method and choice among reactions that are not unique."""
    core.kernels.need_masses()
    core.need_closed(st)
    chosen = core.named_drives(drives)
    for name in chosen:
        core.need_drive(name)
    base = _base_velocities(core, chosen)
    acceleration = core.assembler.accelerations(st, *_at_rest(core, a, base, chosen))
    method = methods.method_of(method)
    other = core.determinate if method is methods.METHODS["subsystem"] else core
    there = st
    if other is not core:
        there = mirrored(other, st)
        acceleration = other.assembler.accelerations(there, _of_joints(other, core.instant(st, acceleration)), [])
    given = wrenches(other.skel, there, wrench or {})
    pushes = [*other.applied(there, friction=SHARP), *given]
    outside = [*other.applied(there, outside=True), *given]
    acceleration = _spun_freely(other, there, acceleration, pushes)
    at = (other.loops, there.q, there.v, acceleration, there.t, there.references)
    if not base:
        return methods.solve(*at, pushes, chosen, method, outside, moving=there.instant.motion, **options)
    held = base_push(methods.posed(*at, pushes, chosen, there.instant.motion), base)
    both = ([*pushes, *held.pushes], chosen, method, [*outside, *held.pushes])
    return replace(methods.solve(*at, *both, moving=there.instant.motion, **options), base=held.efforts)


def _base_velocities(core: Compiled, drives: Sequence[str]) -> list[str]:
    """Velocities of a floating base that no drive moves."""
    driven = {name.partition(".")[0] for name in drives}
    return (
        [n for joint in core.base_joints if joint not in driven for n in core.v_names if n.startswith(f"{joint}.")]
        if core.base_joints
        else []
    )


def redundancy_notes(core: Compiled, drives: Sequence[str]) -> tuple[str, ...]:
    """How efforts are chosen, where there are more drives than degrees of freedom and efforts can be computed."""
    if len(drives) < 2 or any(b.mass is None for b in core.description.bodies[1:]):
        return ()
    base = len(_base_velocities(core, drives))
    if core.description.planar and len(drives) <= core.tree.nv - core.tree.nc - base:  # rows count, as nothing spins idly in a plane
        return ()
    if len(drives) <= core.mobility.freedoms - base:
        return ()
    return (effort_weights(core.description, drives, core.loops.kappa).note,)


def _at_rest(core: Compiled, a: Any, base: Sequence[str], drives: Sequence[str]) -> tuple[Any, list[str]]:
    """Accelerations with those of the base zero where only other joints are named, and the names that rest as far as they can."""
    whole = {name: [x for x in base if x.startswith(f"{name}.")] for name in core.base_joints}
    known = {j.name for j in core.description.joints}
    heads = [n.partition(".")[0] for n in a] if isinstance(a, Mapping) else []
    plain = (a is None or isinstance(a, Mapping)) and all(n in known and n not in whole for n in heads)
    if not base or not plain:
        return a, [*base, *drives]
    return {**{name: np.zeros(len(x)) for name, x in whole.items() if x}, **(a or {})}, list(drives)


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
        raise UsageError("the two trees do not have the same joints. Give the same cuts to both.")
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

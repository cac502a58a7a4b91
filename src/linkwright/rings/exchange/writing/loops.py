"""Loops as other programs close them: two points held together, or two frames welded.

Neither Pinocchio nor MuJoCo takes a hinge as a loop joint. What is exact: a ball is one point; a hinge in a planar
mechanism is one point (its other rows hold anyway, the bodies cannot leave the plane); a hinge in space is two points on
its axis, six rows of rank five; a rigid connection is a weld; a floating bearing that closes a planar loop is one point. Sliders,
universals and the like cannot be closed this way: then another joint of the same loop is cut instead, which changes the tree and
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright.api import (
    JOINTS,
    KINDS,
    Instant,
    Joint,
    ModelError,
    Placement,
    State,
    System,
    UsageError,
    argument_types,
    compiled_of,
    counted,
    dynamics,
    errors,
    forces,
    kinematics,
    linalg,
    listing,
    loop_constraints,
    motion,
    pose_of,
    quantity,
    tolerances,
)
from linkwright.mechanics.constraints.cut_joint import CutJoint
from linkwright.rings.exchange.writing.elementary_joints import refuse
from linkwright.topology.cuts import protected_joints

CLOSED_BY = {("tx", "ty", "tz"): "point", ("tx", "ty", "tz", "rx", "ry"): "axis", ("tx", "ty", "tz", "rx", "ry", "rz"): "weld"}
FLOATING = ("tx", "ty")  # closed by a point where the loop lies in a plane


class HasSystem(Protocol):
    """A Mechanism, as far as converters are concerned."""

    @property
    def system(self) -> System: ...


class Closing(NamedTuple):
    """One condition: frames on two bodies that coincide in their origins, or altogether (`weld`)."""

    cut: str
    name: str
    first: str
    second: str
    at_first: Placement
    at_second: Placement
    weld: bool


def system_of(model: System | HasSystem) -> System:
    """The System of a mechanism, or the System itself."""
    found = model if isinstance(model, System) else getattr(model, "system", None)
    if not isinstance(found, System):
        raise UsageError(f"a mechanism (lw.load(...)) or its System is needed, not {argument_types.spelled(model)}.")
    return found


def closings(system: System) -> tuple[Closing, ...]:
    """Return what closes the loops of a system whose cuts are all closable."""
    d = system.description
    return tuple(c for name in system.tree.cuts for c in _closing(system, d.joint(name)))


def closed_by(joint: Joint) -> str:
    """Return "point", "axis" or "weld" for a joint that keeps its origins together and holds such rotations; "" for others."""
    jt = JOINTS[joint.type]
    return "point" if jt.rows == FLOATING else CLOSED_BY.get(jt.rows, "") if jt.keeps_origin else ""


def _is_closable(system: System, name: str) -> bool:
    """True for a cut joint that points or welds close exactly; a floating bearing only where its axis is normal to a planar loop."""
    core = compiled_of(system)
    joint = system.description.joint(name)
    if JOINTS[joint.type].rows != FLOATING:
        return bool(closed_by(joint))
    st = system.start
    point = CutJoint.of(core.skel, replace(joint, type="spherical"))
    rows = (
        loop_constraints.closure(core.skel, system.motion(st), st.v, constraints=[point]).J
        * core.loops.columns
    )
    J = system.closure(st).J * core.loops.columns
    along = rows[2] - J.T @ linalg.least_squares(J.T, rows[2])
    level = 5e-3  # share of its other rows that the row along a floating bearing's axis may have and still follow from them
    return bool(along @ along <= level**2 * np.sum(rows[:2] ** 2))


def _closing(system: System, joint: Joint) -> Iterator[Closing]:
    how = closed_by(joint)
    first = joint.frame_first if JOINTS[joint.type].rows != FLOATING else _along_z(joint.frame_first, _travel(system, joint))
    one = Closing(joint.name, joint.name, joint.first, joint.second, first, joint.frame_second, how == "weld")
    yield one
    if how == "axis" and not system.description.planar:
        far = compiled_of(system).loops.kappa  # a second point on the axis, as far away as the mechanism is large
        first, second = _along_z(joint.frame_first, far), _along_z(joint.frame_second, far)
        yield one._replace(name=f"{joint.name}.axis", at_first=first, at_second=second)


def _travel(system: System, joint: Joint) -> float:
    """Distance of a joint's frames along z of the first, at the start."""
    st = system.start
    F, M = (system.pose(st, b) @ pose_of(X) for b, X in ((joint.first, joint.frame_first), (joint.second, joint.frame_second)))
    return float((F.inverse() @ M).p[2])


def _along_z(X: Placement, distance: float) -> Placement:
    at = np.array(X.at, float) + distance * np.array(X.rotation, float)[:, 2]
    return Placement((float(at[0]), float(at[1]), float(at[2])), X.rotation)


# -------------------------------------------------------------------- which joints are cut


def convertible(model: System | HasSystem, program: str, *, regular: bool) -> System:
    """The system to convert: its own cuts where they can be closed by points, else with some exchanged.

    A `System` whose cuts were given is not changed but refused. `regular` asks for a tree whose mass matrix is not
    singular, as far as there is one (thin rods and massless bodies need the loop to hold them).
    """
    system = system_of(model)
    refuse(system.description, program)
    bad = [name for name in system.tree.cuts if not _is_closable(system, name)]
    if isinstance(model, System) and bad:
        raise _not_closable(system, bad[0], program)
    if isinstance(model, System) or (not bad and not (regular and mass_is_singular(system, system.start))):
        return system
    fallback = None if bad else system
    for other in _exchanges(system):
        if not (regular and mass_is_singular(other, system.start)):
            return other
        fallback = fallback or other
    if fallback is None:
        raise _not_closable(system, bad[0], program)
    return fallback


def _exchanges(system: System) -> Iterator[System]:
    """Systems with other cuts, nearest first; a cut may be exchanged for any joint of the circuit it closes."""
    d = system.description
    keep = protected_joints(d)
    wave, seen = [system], {frozenset(system.tree.cuts)}
    most_trees = 60  # exchanges of cuts tried before the search gives up
    while wave and len(seen) < most_trees:
        here = wave.pop(0)
        bad = [name for name in here.tree.cuts if not _is_closable(here, name)]
        for loop in here.tree.loops:
            if loop.kind != "joint" or (bad and loop.name not in bad):
                continue
            for name in loop.joints[:-1]:
                cuts = [name if c == loop.name else c for c in here.tree.cuts]
                if name in keep or not closed_by(d.joint(name)) or frozenset(cuts) in seen:
                    continue
                seen.add(frozenset(cuts))
                try:
                    other = System(d, cuts)
                except (ModelError, UsageError, errors.AssemblyError):
                    continue  # this set leaves a body without a name of its own or a loop closed: not a tree for us
                wave.append(other)
                if all(_is_closable(other, c) for c in cuts):
                    yield other


def _not_closable(system: System, cut: str, program: str) -> UsageError:
    joint = system.description.joint(cut)
    circuit = next(loop.joints for loop in system.tree.loops if loop.name == cut)
    carried = system.tree.node_of_joint  # a floating body's own joint is in the tree only
    instead = [n for n in circuit[:-1] if n in carried and closed_by(system.tree.nodes[carried[n]].joint)]
    way_out = f"Cut one of {listing(instead)} in its place: lw.compile(m, cuts=[...]), or convert the mechanism itself, which does so."
    hint = way_out if instead else "No joint of this loop can be closed so."
    return UsageError(
        f"{program} can close a loop at a revolute, spherical or fixed joint, but the cut joint '{cut}' is {joint.type}. {hint}",
        name=cut,
    )


def mass_is_singular(system: System, state: State) -> bool:
    """True if the tree alone has a degree of freedom without inertia at a state (of any tree of the same mechanism)."""
    core = compiled_of(system)
    st = in_tree_of(system, state)
    M = dynamics.mass_matrix(core.skel, motion(core.skel, st.q, np.zeros(system.tree.nv)))
    M = M * core.loops.columns * core.loops.columns[:, None]
    values = np.linalg.eigvalsh(M) if len(M) else np.ones(1)
    return bool(values[0] <= tolerances.ZERO_SHARE * values[-1])


# -------------------------------------------------------------------- states and efforts


def in_tree_of(system: System, state: State) -> State:
    """The same state in the coordinates of another tree of the same mechanism."""
    core = compiled_of(system)
    if state.skel is core.skel:
        return state
    if [b.name for b in state.skel.tree.description.bodies] != [b.name for b in system.description.bodies]:
        other = state.skel.tree.description.name
        raise UsageError(f"the state belongs to another mechanism, '{other}', not to '{system.description.name}'.", name=other)
    m = motion(state.skel, state.q, state.v)
    references = {**core.skel.start_coordinates, **state.references}
    rates = [kinematics.joint_rate(state.skel, m, n.joint, references[n.joint.name]) for n in system.tree.nodes]
    references.update({n.joint.name: r.q for n, r in zip(system.tree.nodes, rates, strict=True)})
    q = np.concatenate([r.q for r in rates]) if rates else np.zeros(0)
    v = np.concatenate([r.v for r in rates]) if rates else np.zeros(0)
    return State(core.skel, q, v, references, state.t)


def efforts(system: System, state: State, tau: Mapping[str, Any] | Any, acting: Sequence[Any]) -> np.ndarray:
    """Efforts in the tree's joints, in the order of names.v: `tau` and what the forces `acting` (springs, dampers, loads) do."""
    core = compiled_of(system)
    m = system.motion(state)
    moment = Instant.moving(core.skel, m, state.t, state.references)
    pushes = moment.pushes(acting)
    out = np.zeros(system.tree.nv)
    if isinstance(tau, Mapping):
        for name, value in tau.items():
            joint, i, kind = core.assembler.coordinate(name)
            pushes += forces.joint_effort(moment, joint, quantity(value, KINDS["torque" if kind == "angle" else "force"]), i)
    elif tau is not None:
        given = np.asarray(tau, dtype=float)
        if given.shape != out.shape:
            raise UsageError(f"tau needs {counted(len(out), 'entry')}: {', '.join(system.names.v)}, or a dict by joint name.", name="tau")
        out += given
    for node, wrench in pushes:
        out += kinematics.body_jacobian(core.skel, m, node).T @ wrench
    return out

"""Drake on our mechanisms: MultibodyPlant in discrete time with its SAP solver, our tree, and constraints at the cut joints.

Its constraints hold loops only in discrete time. A step is of first order: velocities at its end satisfy the loops' Jacobian
at its start, so that the rate of the Jacobian is missing from the acceleration of one step however short it is; corrections
of the loops in later steps make up for it. The plant is simulated alone, its output ports live, which is the fastest way.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench.cases import STEP, BenchCase, BenchRow, Contender, Unavailable, attempt
from benchmarks.steppers import between_points, needed, per_step
from benchmarks.workshop import Workshop
from linkwright.api import compiled_of
from linkwright.joints import create, is_cross, is_hinge, is_slider
from linkwright.model.description import CoilSpring, Joint, Placement
from linkwright.numerics.spatial import quaternion_rotation
from linkwright.rings.exchange.writing.elementary_joints import is_free
from linkwright.rings.exchange.writing.inertia import solids
from linkwright.rings.exchange.writing.loops import closings
from linkwright.system.system import System
from linkwright.topology import Node

ENGINE = "Drake SAP"
FLOOR = 1e-8  # Drake wants inertia about every axis


class Plant(NamedTuple):
    """A finished plant and its joints in the order of our nodes."""

    plant: Any
    joints: list[Any]


def contenders(case: BenchCase, shop: Workshop | None = None) -> list[Contender | BenchRow]:
    """One discrete step."""
    return attempt(ENGINE, case.name, ("step",), lambda: [_step(case)])


def _step(case: BenchCase) -> Contender:
    number = needed("pydrake", "drake")
    plant = model(case, STEP)
    _, _, v = run(case, plant, 1, STEP)
    row = BenchRow(ENGINE, number, case.name, "step", accuracy=case.step_error(v), note=f"{1e3 * STEP:g} ms, first order")
    return Contender(row, lambda seconds: per_step(lambda steps: run(case, plant, steps, STEP)[0], seconds))


def run(case: BenchCase, made: Plant, steps: int, step: float) -> tuple[float, np.ndarray, np.ndarray]:
    """(processor seconds of the steps, which take one thread; q and v of our tree after them)."""
    plant = made.plant
    context = plant.CreateDefaultContext()
    q, v = np.zeros(plant.num_positions()), np.zeros(plant.num_velocities())
    for n, at_q, at_v in _entries(case.system, made):
        q[at_q], v[at_v] = case.state.q[n.q], _turned(n, case.state.q, 1) @ case.state.v[n.v]
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    if case.tau:
        plant.get_actuation_input_port().FixValue(context, np.array(list(case.tau.values())))
    simulator = import_module("pydrake.systems.analysis").Simulator(plant, context)
    simulator.Initialize()
    start = time.thread_time()
    simulator.AdvanceTo(steps * step)
    seconds = time.thread_time() - start
    theirs = plant.GetPositions(context), plant.GetVelocities(context)
    q, v = np.zeros(len(case.state.q)), np.zeros(len(case.state.v))
    for n, at_q, at_v in _entries(case.system, made):
        q[n.q] = theirs[0][at_q]
        v[n.v] = _turned(n, q, -1) @ theirs[1][at_v]
    return seconds, q, v


def _entries(s: System, made: Plant) -> Iterator[tuple[Node, slice, slice]]:
    """Our nodes with their places in Drake's q and v."""
    for n, joint in zip(s.tree.nodes, made.joints, strict=True):
        q, v = joint.position_start(), joint.velocity_start()
        yield n, slice(q, q + joint.num_positions()), slice(v, v + joint.num_velocities())


def _turned(n: Node, q: np.ndarray, sense: int) -> np.ndarray:
    """Drake's velocities of a joint from ours (1) or back (-1): a free joint's rotation is in moving axes here, in fixed ones there."""
    out = np.eye(n.v.stop - n.v.start)
    if n.joint.type == "free":
        R = np.asarray(quaternion_rotation(q[n.q][:4]), float)
        out[:3, :3] = R if sense > 0 else R.T
    return out


# -------------------------------------------------------------------- the model


def model(case: BenchCase, step: float) -> Plant:
    """The plant with our tree, motors in the drives, and a constraint for every condition at a cut joint."""
    tree, whole, maths = (import_module(f"pydrake.{name}") for name in ("multibody.tree", "multibody.plant", "math"))
    s, ground = case.system, case.system.description.bodies[0].name
    plant = whole.MultibodyPlant(step)
    plant.SetUseSampledOutputPorts(False)
    plant.set_discrete_contact_approximation(whole.DiscreteContactApproximation.kSap)
    bodies = {ground: plant.world_body(), **_bodies(tree, plant, s)}

    def place(X: Any) -> Any:
        R, p = (X.rotation, X.at) if isinstance(X, Placement) else (X.R, X.p)
        return maths.RigidTransform(maths.RotationMatrix(np.asarray(R, float)), np.asarray(p, float))

    joints = []
    for n in s.tree.nodes:
        j = n.joint
        ends = ((j.first, j.frame_first), (j.second, j.frame_second))[:: -1 if n.reversed else 1]
        F, M = (
            plant.AddFrame(tree.FixedOffsetFrame(f"{j.name}_{end}", bodies[b].body_frame(), place(X)))
            for end, (b, X) in zip("FM", ends, strict=True)
        )
        joints.append(plant.AddJoint(_joint(tree, j, F, M, -1.0 if n.reversed else 1.0)))
    by_name = {n.joint.name: joint for n, joint in zip(s.tree.nodes, joints, strict=True)}
    for name in case.tau:
        plant.AddJointActuator(f"{name}_motor", by_name[name])
    for c in closings(s):
        first, second = bodies[c.first], bodies[c.second]
        if c.weld:
            plant.AddWeldConstraint(first, place(c.at_first), second, place(c.at_second))
        else:
            plant.AddBallConstraint(first, np.array(c.at_first.at, float), second, np.array(c.at_second.at, float))
    _springs(tree, plant, s, bodies)
    plant.mutable_gravity_field().set_gravity_vector(np.asarray(compiled_of(s).skel.gravity, float))
    plant.Finalize()
    return Plant(plant, joints)


def _bodies(tree: Any, plant: Any, s: System) -> dict[str, Any]:
    out = {}
    for n, solid in zip(s.tree.nodes, solids(s, FLOOR, realistic=True), strict=True):
        I = solid.inertia
        about = tree.RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        out[n.body] = plant.AddRigidBody(n.body, tree.SpatialInertia.MakeFromCentralInertia(solid.mass, solid.com, about))
    return out


def _joint(tree: Any, joint: Joint, F: Any, M: Any, sense: float) -> Any:
    """Drake's joint for ours, with the same coordinates; sense -1: from its second body to its first."""
    own = create(joint.type, joint.options)
    if is_hinge(own):
        return tree.RevoluteJoint(joint.name, F, M, [0.0, 0.0, sense])
    if is_slider(own):
        return tree.PrismaticJoint(joint.name, F, M, [sense, 0.0, 0.0])
    if is_cross(own) and sense > 0:
        return tree.UniversalJoint(joint.name, F, M)
    if is_free(joint) and sense > 0:
        return tree.QuaternionFloatingJoint(joint.name, F, M)
    raise Unavailable(f"joints that are {joint.type}{'' if sense > 0 else ', from the second body to the first,'} are not handed over")


def _springs(tree: Any, plant: Any, s: System, bodies: dict[str, Any]) -> None:
    """Hand over springs and dampers."""
    d = s.description
    for thing, ends in between_points(d):
        (first, a), (second, b) = ((bodies[body], np.array(d.point((body, point)).at, float)) for body, point in ends)
        free, stiffness = (float(thing.free_length), float(thing.stiffness)) if isinstance(thing, CoilSpring) else (1.0, 0.0)
        damping = 0.0 if isinstance(thing, CoilSpring) else float(thing.coefficient)
        plant.AddForceElement(tree.LinearSpringDamper(first, a, second, b, free, stiffness, damping))

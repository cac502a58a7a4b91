"""Exudyn and Drake on the planar mechanisms: what one of their time steps costs. Both are asked only where they are installed.

Neither gives accelerations as a function, so the accuracy beside the time is that of a very short first step: Exudyn's
accelerations after it, Drake's change of velocity over it (its step of first order leaves out the rate of the loops' Jacobian).
Exudyn: bodies in absolute coordinates, pins in the plane, trapezoidal rule with constraints on velocity level.
Drake: the tree of revolute joints, ball constraints for the loops, the SAP solver.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from linkwright.bench.cases import Case, Contender, Row, Unavailable, attempt
from linkwright.bench.workshop import Workshop, version
from linkwright.converters.inertia import solids
from linkwright.kinematics import body_jacobian

STEP, SHORT = 1e-3, 1e-6  # seconds
STEPS = 500
FLOOR = 1e-8  # Drake wants inertia about every axis


def contenders(case: Case, shop: Workshop) -> list[Contender | Row]:
    """One step of Exudyn and of Drake."""
    exudyn = attempt("Exudyn", case.name, ("step",), lambda: [_exudyn(case)])
    return exudyn + attempt("Drake", case.name, ("step",), lambda: [_drake(case)])


def needed(module: str, package: str, case: Case) -> str:
    """Version of the package, if there is anything to compare."""
    if find_spec(module) is None:
        raise Unavailable(f"the package '{package}' is not installed")
    if not case.system.description.planar:
        raise Unavailable("only planar mechanisms are handed over")
    return version(package)


def _per_step(advance: Callable[[int], float], seconds: float) -> float:
    """Nanoseconds of one step: the difference between a long and a short run, which start alike."""
    begin, short, long = time.perf_counter(), np.inf, np.inf
    while time.perf_counter() - begin < seconds or not np.isfinite(long):
        short, long = min(short, advance(STEPS // 5)), min(long, advance(STEPS))
    return 1e9 * (long - short) / (STEPS - STEPS // 5)


# -------------------------------------------------------------------- Exudyn


def _exudyn(case: Case) -> Contender:
    number = needed("exudyn", "exudyn", case)

    def advance(steps: int) -> float:
        return exudyn_run(case, steps, STEP)[0]

    _, mbs, nodes = exudyn_run(case, 1, SHORT)
    kind = import_module("exudyn").OutputVariableType.Coordinates_tt
    turning = np.array([mbs.GetNodeOutput(nodes[n.body], kind)[2] for n in case.system.tree.nodes])
    row = Row("Exudyn", number, case.name, "step", accuracy=case.error(relative(case, turning)), note="1 ms, implicit trapezoidal, index 2")
    return Contender(row, lambda seconds: _per_step(advance, seconds))


def relative(case: Case, turning: np.ndarray) -> np.ndarray:
    """Joint accelerations from the angular accelerations of the bodies, all joints being pins."""
    nodes = case.system.tree.nodes
    return np.array([turning[i] - (turning[n.parent] if n.parent >= 0 else 0.0) for i, n in enumerate(nodes)])


def exudyn_run(case: Case, steps: int, step: float) -> tuple[float, Any, dict[str, int]]:
    """(seconds of the solver, which has one thread; the solved system, nodes of the bodies)."""
    exu = import_module("exudyn")
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    nodes = _exudyn_model(import_module("exudyn.itemInterface"), mbs, case)
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    rule = settings.timeIntegration
    rule.numberOfSteps, rule.endTime, rule.verboseMode = steps, steps * step, 0
    rule.generalizedAlpha.useNewmark = rule.generalizedAlpha.useIndex2Constraints = True
    rule.newton.useModifiedNewton = True
    start = time.thread_time()
    mbs.SolveDynamic(settings)
    return time.thread_time() - start, mbs, nodes


def _exudyn_model(items: Any, mbs: Any, case: Case) -> dict[str, int]:
    """Bodies, pins, weight and drive torques; returns the node of every body."""
    s, st, d = case.system, case.state, case.system.description
    motion, ground = s.motion(st), d.bodies[0].name
    objects, centres = {ground: mbs.AddObject(items.ObjectGround())}, {ground: np.zeros(3)}
    nodes: dict[str, int] = {}
    for i, (n, solid) in enumerate(zip(s.tree.nodes, solids(s, 0.0), strict=True)):
        X = s.pose(st, n.body)
        R, centre = np.asarray(X.R, float), np.asarray(X.p, float) + np.asarray(X.R, float) @ solid.com
        V = body_jacobian(s.skel, motion, i) @ st.v
        v = V[3:] + np.cross(V[:3], centre - np.asarray(s.skel.origin(i), float))
        place = [centre[0], centre[1], float(np.arctan2(R[1, 0], R[0, 0]))]
        nodes[n.body] = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=place, initialVelocities=[v[0], v[1], V[2]]))
        body = mbs.AddObject(items.ObjectRigidBody2D(mass=solid.mass, inertia=solid.inertia[2, 2], nodeNumber=nodes[n.body]))
        objects[n.body], centres[n.body] = body, solid.com
        weight = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(items.LoadMassProportional(markerNumber=weight, loadVector=[float(g) for g in s.skel.gravity]))
    for joint in d.joints:
        ends = ((joint.first, joint.frame_first), (joint.second, joint.frame_second))
        at = [(objects[b], [float(x) for x in np.array(frame.at, float) - centres[b]]) for b, frame in ends]
        pins = [mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=place)) for body, place in at]
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=pins))
    for name, value in case.tau.items():
        for body, sign in ((d.joint(name).second, 1.0), (d.joint(name).first, -1.0)):
            if body != ground:
                marker = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=objects[body]))
                mbs.AddLoad(items.LoadTorqueVector(markerNumber=marker, loadVector=[0.0, 0.0, sign * value]))
    return nodes


# -------------------------------------------------------------------- Drake


def _drake(case: Case) -> Contender:
    number = needed("pydrake", "drake", case)

    def advance(steps: int) -> float:
        return _drake_run(case, steps, STEP)[0]

    _, v = _drake_run(case, 1, SHORT)
    row = Row("Drake", number, case.name, "step", accuracy=case.error((v - case.state.v) / SHORT), note="1 ms, SAP, first order")
    return Contender(row, lambda seconds: _per_step(advance, seconds))


def _drake_run(case: Case, steps: int, step: float) -> tuple[float, np.ndarray]:
    """(seconds of the steps, velocities of the joints after them)."""
    plant, joints = _drake_model(case, step)
    builder = import_module("pydrake.systems.framework").DiagramBuilder()
    builder.AddSystem(plant)
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    inside = plant.GetMyMutableContextFromRoot(context)
    for joint, n in zip(joints, case.system.tree.nodes, strict=True):
        joint.set_angle(inside, float(case.state.q[n.q][0]))
        joint.set_angular_rate(inside, float(case.state.v[n.v][0]))
    plant.get_actuation_input_port().FixValue(inside, case.efforts)
    simulator = import_module("pydrake.systems.analysis").Simulator(diagram, context)
    simulator.Initialize()
    start = time.perf_counter()
    simulator.AdvanceTo(steps * step)
    return time.perf_counter() - start, np.array([joint.get_angular_rate(inside) for joint in joints])


def _drake_model(case: Case, step: float) -> tuple[Any, list[Any]]:
    """The plant with our tree and ball constraints at the cut pins, and its joints in our order."""
    tree, whole, maths = (import_module(f"pydrake.{name}") for name in ("multibody.tree", "multibody.plant", "math"))
    s, d = case.system, case.system.description
    plant = whole.MultibodyPlant(step)
    plant.set_discrete_contact_approximation(whole.DiscreteContactApproximation.kSap)
    bodies = {d.bodies[0].name: plant.world_body()}
    for n, solid in zip(s.tree.nodes, solids(s, FLOOR, realistic=True), strict=True):
        I = solid.inertia
        about = tree.RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        bodies[n.body] = plant.AddRigidBody(n.body, tree.SpatialInertia.MakeFromCentralInertia(solid.mass, solid.com, about))

    def frame(name: str, body: str, X: Any) -> Any:
        place = maths.RigidTransform(maths.RotationMatrix(np.asarray(X.R, float)), np.asarray(X.p, float))
        return plant.AddFrame(tree.FixedOffsetFrame(name, bodies[body].body_frame(), place))

    joints = []
    for i, n in enumerate(s.tree.nodes):
        carrier = s.tree.nodes[n.parent].body if n.parent >= 0 else d.bodies[0].name
        F, M = frame(f"{n.joint.name}_F", carrier, s.skel.X_PF[i]), frame(f"{n.joint.name}_M", n.body, s.skel.X_CM[i])
        axis = [0.0, 0.0, -1.0 if n.reversed else 1.0]
        joints.append(plant.AddJoint(tree.RevoluteJoint(n.joint.name, F, M, axis)))
        plant.AddJointActuator(f"{n.joint.name}_motor", joints[-1])
    for cut in s.tree.cuts:
        j = d.joint(cut)
        plant.AddBallConstraint(bodies[j.first], np.array(j.frame_first.at, float), bodies[j.second], np.array(j.frame_second.at, float))
    plant.mutable_gravity_field().set_gravity_vector(np.asarray(s.skel.gravity, float))
    plant.Finalize()
    return plant, joints

"""Exudyn on our mechanisms: bodies in absolute coordinates, every joint a set of constraints, implicit steps.

Trapezoidal rule with constraints on velocity level (index 2), from the build without range checks. Its linear solvers, and Newton's
method in full or with a reused Jacobian, are tried on each mechanism and the fastest way counts. In a plane bodies have three
coordinates and pins two rows; in space they have Euler parameters and general joints. Exudyn gives no accelerations as a function
of a state, so the velocities after a step are what is judged.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench.cases import STEP, BenchCase, BenchRow, Contender, Unavailable, attempt
from benchmarks.steppers import between_points, needed, per_step
from benchmarks.workshop import Workshop
from linkwright import joints
from linkwright.api import compiled_of
from linkwright.mechanics.kinematics.motion import body_jacobian
from linkwright.model.description import CoilSpring, Description, Joint, Placement
from linkwright.numerics.spatial import rotation_quaternion
from linkwright.rings.exchange.writing.inertia import Solid, solids

ENGINE = "Exudyn"
ROWS = ("tx", "ty", "tz", "rx", "ry", "rz")
TRIAL, TRIALS = 100, 3  # steps of a run that finds the fastest way, and how often


class Way(NamedTuple):
    """How a step's equations are solved; `modified`: Newton's method keeps its Jacobian."""

    solver: str
    modified: bool


WAYS = tuple(Way(solver, modified) for solver in ("EXUdense", "EigenDense", "EigenSparse") for modified in (True, False))
REDUNDANT = tuple(way for way in WAYS if way.solver == "EigenDense")


class Built(NamedTuple):
    """A system of Exudyn's with the nodes of its bodies, at their centers of mass in the bodies' axes."""

    mbs: Any
    bodies: Mapping[str, int]
    nodes: Mapping[str, int]
    centers: Mapping[str, np.ndarray]  # of every body in its frame


def contenders(case: BenchCase, shop: Workshop | None = None) -> list[Contender | BenchRow]:
    """One implicit step."""
    return attempt(ENGINE, case.name, ("step",), lambda: [_step(case)])


def _step(case: BenchCase) -> Contender:
    number = needed("exudyn", "exudyn")
    _, built = run(case, 1, STEP, WAYS[0])
    note = f"{1e3 * STEP:g} ms, implicit trapezoidal, index 2"
    row = BenchRow(ENGINE, number, case.name, "step", accuracy=case.step_error(velocities(case, built)), note=note)
    chosen: list[Way] = []

    def best(seconds: float) -> float:
        if not chosen:
            chosen.append(fastest(case))
        return per_step(lambda steps: run(case, steps, STEP, chosen[0])[0], seconds)

    return Contender(row, best)


def fastest(case: BenchCase, step: float = STEP) -> Way:
    """The way that takes the least time here, all tried in turns."""
    ways = REDUNDANT if redundant(case) else WAYS
    times = [[run(case, TRIAL, step, way)[0] for way in ways] for _ in range(TRIALS)]
    return ways[int(np.argmin(np.min(times, axis=0)))]


def redundant(case: BenchCase) -> bool:
    """True if constraints depend on each other: only one of the solvers then ignores a singular Jacobian."""
    J = case.system.closure(case.state).J
    return not case.system.description.planar and bool(np.linalg.matrix_rank(J, 1e-9 * float(np.abs(J).max())) < len(J))


def run(case: BenchCase, steps: int, step: float, way: Way) -> tuple[float, Built]:
    """(processor seconds of the solver, which has one thread; what it solved)."""
    exu = _module()
    container = exu.SystemContainer()
    built = _built(container.AddSystem(), case)
    built.mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.linearSolver.solverType = getattr(exu.LinearSolverType, way.solver)
    settings.linearSolver.ignoreSingularJacobian = way.solver == "EigenDense" and redundant(case)
    rule = settings.timeIntegration
    rule.numberOfSteps, rule.endTime, rule.verboseMode = steps, steps * step, 0
    rule.generalizedAlpha.useNewmark = rule.generalizedAlpha.useIndex2Constraints = True
    rule.newton.useModifiedNewton = way.modified
    rule.minimumStepSize = 0.01 * step  # shorter steps are tried where Newton's method fails; not for ever
    start = time.thread_time()
    done = built.mbs.SolveDynamic(settings)
    seconds = time.thread_time() - start
    if done is False:
        raise Unavailable("its solver did not come to the end")
    return seconds, built


def _module() -> Any:
    """The build without range checks, which must be asked for before the first import and announces itself on stdout."""
    sys.__dict__.setdefault("exudynFast", True)
    with contextlib.redirect_stdout(io.StringIO()):
        return import_module("exudyn")


# -------------------------------------------------------------------- the model


def _built(mbs: Any, case: BenchCase) -> Built:
    """Bodies with weight, all joints of the mechanism, cut or not, and drive torques and forces."""
    items, s, d = import_module("exudyn.itemInterface"), case.system, case.system.description
    ground = d.bodies[0].name
    bodies, nodes, centers = {ground: mbs.AddObject(items.ObjectGround())}, dict[str, int](), {ground: np.zeros(3)}
    for i, (n, solid) in enumerate(zip(s.tree.nodes, solids(s, 0.0), strict=True)):
        nodes[n.body], bodies[n.body] = _body(items, mbs, case, i, solid)
        centers[n.body] = solid.com
        weight = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=bodies[n.body]))
        mbs.AddLoad(items.LoadMassProportional(markerNumber=weight, loadVector=[float(g) for g in compiled_of(s).skel.gravity]))
    built = Built(mbs, bodies, nodes, centers)
    for joint in d.joints:
        ends = ((joint.first, joint.frame_first), (joint.second, joint.frame_second))
        markers = [_marker(items, mbs, bodies[b], frame, centers[b], d.planar) for b, frame in ends]
        mbs.AddObject(_joint(items, joint, markers, d.planar))
    for name, value in case.tau.items():
        _effort(items, built, d.joint(name), value)
    _springs(items, built, d)
    return built


def _springs(items: Any, built: Built, d: Description) -> None:
    """Hand over springs and dampers."""
    for thing, ends in between_points(d):
        markers = []
        for body, point in ends:
            place = np.array(d.point((body, point)).at, float) - built.centers[body]
            markers.append(built.mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=built.bodies[body], localPosition=place.tolist())))
        spring = isinstance(thing, CoilSpring)
        numbers = (
            {"stiffness": float(thing.stiffness), "referenceLength": float(thing.free_length)}
            if spring
            else {"damping": float(thing.coefficient)}
        )
        built.mbs.AddObject(items.ObjectConnectorSpringDamper(markerNumbers=markers, **{"stiffness": 0.0, "damping": 0.0, **numbers}))


def _body(items: Any, mbs: Any, case: BenchCase, i: int, solid: Solid) -> tuple[int, int]:
    """(node, object) of a body, moving as it does in the state of the case."""
    s, st = case.system, case.state
    X = s.pose(st, s.tree.nodes[i].body)
    R = np.asarray(X.R, float)
    center = np.asarray(X.p, float) + R @ solid.com
    V = body_jacobian(compiled_of(s).skel, s.motion(st), i) @ st.v
    w, v = V[:3], V[3:] + np.cross(V[:3], center - np.asarray(compiled_of(s).skel.origin(i), float))
    if s.description.planar:
        place = [center[0], center[1], float(np.arctan2(R[1, 0], R[0, 0]))]
        node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=place, initialVelocities=[v[0], v[1], w[2]]))
        return node, mbs.AddObject(items.ObjectRigidBody2D(mass=solid.mass, inertia=solid.inertia[2, 2], nodeNumber=node))
    turn = np.asarray(rotation_quaternion(R), float)
    rate = 0.5 * np.concatenate([[-turn[1:] @ w], turn[0] * w + np.cross(w, turn[1:])])  # w in world axes
    place, speed = [*center, *turn], [*v, *rate]
    node = mbs.AddNode(items.NodeRigidBodyEP(referenceCoordinates=place, initialVelocities=speed))
    I = solid.inertia
    inertia = [I[0, 0], I[1, 1], I[2, 2], I[1, 2], I[0, 2], I[0, 1]]
    return node, mbs.AddObject(items.ObjectRigidBody(mass=solid.mass, inertia=inertia, nodeNumber=node))


def _marker(items: Any, mbs: Any, body: int, frame: Placement, center: np.ndarray, planar: bool) -> int:
    place = np.array(frame.at, float) - center
    if planar:
        return mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[float(x) for x in place]))
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = np.array(frame.rotation, float), place
    return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localHT=turned))


def _joint(items: Any, joint: Joint, markers: list[int], planar: bool) -> Any:
    """Axes of a general joint are locked as rows of ours say."""
    if planar:
        if joint.type != "revolute":
            raise Unavailable(f"joints that are {joint.type} are not handed over in a plane")
        return items.ObjectJointRevolute2D(markerNumbers=markers)
    rows = joints.create(joint.type, joint.options).rows
    if rows == ROWS[:3]:
        return items.ObjectJointSpherical(markerNumbers=markers)
    return items.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=[int(row in rows) for row in ROWS])


def _effort(items: Any, built: Built, joint: Joint, value: float) -> None:
    """A torque about z of both frames, or a force along x of them; what acts on the ground is left out."""
    for body, frame, sign in ((joint.second, joint.frame_second, 1.0), (joint.first, joint.frame_first, -1.0)):
        if body not in built.nodes:
            continue
        axis = np.array(frame.rotation, float)[:, 2 if joint.type == "revolute" else 0]
        place = [float(x) for x in np.array(frame.at, float) - built.centers[body]]
        marker = built.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=built.bodies[body], localPosition=place))
        kind = items.LoadTorqueVector if joint.type == "revolute" else items.LoadForceVector
        built.mbs.AddLoad(kind(markerNumber=marker, loadVector=[float(sign * value * x) for x in axis], bodyFixed=True))


# -------------------------------------------------------------------- what came out


def velocities(case: BenchCase, built: Built) -> np.ndarray:
    """Velocities of the joints of our tree from the motion of the bodies."""
    return coordinates(case, built)[1]


def coordinates(case: BenchCase, built: Built) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of the joints of our tree from the motion of the bodies, angles within half a turn of the start."""
    d, at, out = case.system.description, np.zeros(case.system.tree.nq), np.zeros(case.system.tree.nv)
    kinds = _module().OutputVariableType
    still = (np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))

    def moving(body: str) -> tuple[np.ndarray, ...]:
        """Axes, position of the frame, angular velocity, velocity of the frame's origin."""
        if body == d.bodies[0].name:
            return still
        read = [kinds.RotationMatrix, kinds.Position, kinds.AngularVelocity, kinds.Velocity]
        R, p, w, v = (np.asarray(built.mbs.GetNodeOutput(built.nodes[body], kind), float) for kind in read)
        back = R.reshape(3, 3) @ -built.centers[body]
        return R.reshape(3, 3), p + back, w, v + np.cross(w, back)

    for n in case.system.tree.nodes:
        (R, p, w, v), (Rs, ps, ws, vs) = moving(n.joint.first), moving(n.joint.second)
        F, M = ((np.array(X.rotation, float), np.array(X.at, float)) for X in (n.joint.frame_first, n.joint.frame_second))
        axes, origin = R @ F[0], p + R @ F[1]
        jt = joints.create(n.joint.type, n.joint.options)
        q = jt.coordinates(axes.T @ Rs @ M[0], axes.T @ (ps + Rs @ M[1] - origin), case.state.q[n.q])
        twist = np.concatenate([axes.T @ (ws - w), axes.T @ (vs + np.cross(ws, origin - ps) - v - np.cross(w, origin - p))])
        at[n.q], out[n.v] = q, np.linalg.lstsq(np.asarray(jt.subspace(q), float), twist, rcond=None)[0]
    return at, out


def angles(case: BenchCase, built: Built) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of a planar mechanism of pins, whole turns counted."""
    kinds = _module().OutputVariableType
    nodes = case.system.tree.nodes
    turned = np.array([built.mbs.GetNodeOutput(built.nodes[n.body], kinds.Coordinates)[2] for n in nodes])
    carrier = np.array([turned[n.parent] if n.parent >= 0 else 0.0 for n in nodes])
    return case.state.q + turned - carrier, velocities(case, built)

"""Joints of UsdPhysics: their types by free directions, limits, drives as springs and dampers, mimics of PhysX and Newton.

A joint that is excluded from the articulation closes a loop, and so does one that closes a loop of the joints before it. Angles are in
degrees in the file, gains of angular drives per degree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwright.api import GROUND, Joint, Placement, description, geometry
from linkwright.rings.exchange.reading.poses import HERE, axes_along, inverse, times
from linkwright.rings.exchange.reading.robot_draft import ONE_COORDINATE, RobotDraft
from linkwright.rings.exchange.reading.usd.prims import Frames, UsdPrim
from linkwright.rings.exchange.reading.usd.stage import UsdStage

TYPES = {
    "PhysicsFixedJoint": "fixed",
    "PhysicsRevoluteJoint": "revolute",
    "PhysicsPrismaticJoint": "prismatic",
    "PhysicsSphericalJoint": "spherical",
    "PhysicsDistanceJoint": "distance",
    "PhysicsJoint": "d6",
}
DIRECTIONS = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
MIMIC = "physxMimicJoint"
DEGREE = math.pi / 180.0


@dataclass(frozen=True)
class UsdJoint:
    """A joint of the file: its prim, bodies, frames in them, and what it is here."""

    prim: UsdPrim
    bodies: tuple[str, str]
    frames: tuple[Placement, Placement]
    kind: str
    closes: bool


def is_joint(type_name: str) -> bool:
    return type_name in TYPES


def joints_of(draft: RobotDraft, stage: UsdStage, prims: Sequence[UsdPrim], frames: Frames) -> list[UsdJoint]:
    """All joints that are switched on."""
    out = []
    for p in prims:
        if not p.flag("physics:jointEnabled", True):
            draft.notes.drop("switched-off joint", p.name)
            continue
        ends = [p.target(f"physics:body{i}") for i in (0, 1)]
        bodies = [_body(draft, x) for x in ends]
        if bodies[0] == bodies[1]:
            if bodies[0] == GROUND:
                draft.notes.infer(f"joint '{p.name}' connects two parts of the ground and is left out")
                continue
            raise stage.error(f"it connects body '{bodies[0]}' with itself.", p.prim, name=p.path)
        places = [_frame(draft, frames, p, i, ends[i], bodies[i]) for i in (0, 1)]
        kind = TYPES[str(p.prim.GetTypeName())]
        out.append(UsdJoint(p, (bodies[0], bodies[1]), (places[0], places[1]), kind, p.flag("physics:excludeFromArticulation", False)))
    return out


def _body(draft: RobotDraft, prim: Any) -> str:
    """The body that a prim belongs to; the ground without one."""
    while prim and str(prim.GetPath()) != "/":
        if str(prim.GetPath()) in draft.links.of:
            return draft.links.of[str(prim.GetPath())]
        prim = prim.GetParent()
    return GROUND


def _frame(draft: RobotDraft, frames: Frames, p: UsdPrim, i: int, end: Any, body: str) -> Placement:
    """A side of a joint in its body."""
    at, turned = p.vector(f"physics:localPos{i}"), p.quaternion(f"physics:localRot{i}")
    if end is None:
        return frames.placed(frames.of(p.stage.stage.GetPseudoRoot()), at, turned)
    there = frames.of(end)
    own = frames.placed(there, at, turned)
    known = draft.bodies[body].start
    if body != GROUND and str(end.GetPath()) == next(k for k, v in draft.links.of.items() if v == body):
        return own
    return times(inverse(known), there.at, own)


# -------------------------------------------------------------------- types


def add_joints(draft: RobotDraft, found: Sequence[UsdJoint]) -> None:
    """Add all joints, those of the tree first; those that close a loop of the ones before, or are excluded, are closing."""
    group = {name: name for name in draft.bodies}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = name = group[group[name]]
        return name

    names = draft.joint_names
    for j in found:
        given = j.prim.name
        names.of[j.prim.path] = names.fresh(given) if given in names.of else names.add(given)
    for j in [*(x for x in found if not x.closes), *(x for x in found if x.closes)]:
        one, other = (root(x) for x in j.bodies)
        if _add(draft, j, closes=j.closes or one == other):
            group[one] = other


def _add(draft: RobotDraft, j: UsdJoint, *, closes: bool) -> bool:
    """Add one joint with all that acts in it; True if it holds its bodies together."""
    name, p = draft.joint_names.of[j.prim.path], j.prim
    for what in ("breakForce", "breakTorque"):
        if math.isfinite(p.number(f"physics:{what}", math.inf)):
            draft.notes.drop("breaking load of a joint", name)
    if j.kind == "distance":
        return _distance(draft, j, name)
    kind, own, freedoms = _kind(draft, j)
    if kind == "free":
        draft.notes.infer_of_joint(name, "all directions are free: it holds nothing and is left out")
        return False
    F, M = (times(x, own) for x in j.frames)
    draft.add_joint(Joint(name, kind, j.bodies[0], j.bodies[1], F, M, where=p.stage.where), closes=closes)
    if kind in ONE_COORDINATE:
        _acting(draft, p, name, kind, freedoms[0] if freedoms else "")
    elif kind == "spherical" and any(0.0 <= p.number(f"physics:coneAngle{i}Limit", -1.0) < math.inf for i in (0, 1)):
        draft.notes.drop("cone limit", name)
    return True


def _kind(draft: RobotDraft, j: UsdJoint) -> tuple[str, Placement, list[str]]:
    """Type of a joint here, its axes in the frame of the file, and its free directions."""
    p = j.prim
    if j.kind != "d6":
        axis = p.text("physics:axis", "X").upper()
        if axis not in DIRECTIONS:
            raise p.stage.error(f"physics:axis is '{axis}'. It is X, Y or Z.", p.prim, name=p.path)
        main = {"revolute": "z", "prismatic": "x"}.get(j.kind)
        return j.kind, HERE if main is None else axes_along(main, DIRECTIONS[axis]), []
    free = [x for x in FREEDOMS if not _locked(p, x)]
    moves, turns = [x[-1] for x in free if x.startswith("trans")], [x[-1] for x in free if x.startswith("rot")]
    match len(moves), len(turns):
        case 0, 0:
            return "fixed", HERE, []
        case 0, 1:
            return "revolute", axes_along("z", DIRECTIONS[turns[0]]), free
        case 1, 0:
            return "prismatic", axes_along("x", DIRECTIONS[moves[0]]), free
        case 0, 3:
            return "spherical", HERE, []
        case 3, 3:
            return "free", HERE, []
        case 1, 1 if moves == turns:
            return "cylindrical", axes_along("z", DIRECTIONS[moves[0]]), []
        case 0, 2:
            draft.notes.infer_of_joint(draft.joint_names.of[p.path], f"a universal joint that turns about {turns[0]}, then {turns[1]}")
            return "universal", _columns(turns[0], turns[1]), []
        case 2, 1 if turns[0] not in moves:
            return "planar", axes_along("z", DIRECTIONS[turns[0]]), []
    raise p.stage.error(
        f"the free directions {', '.join(free)} make a joint that is not known here. Known are one rotation, one translation, both along "
        "one axis, two or three rotations, and two translations with the rotation across them.",
        p.prim,
        name=p.path,
    )


def _columns(first: str, second: str) -> Placement:
    """A frame with x and y along two axes."""
    x, y = DIRECTIONS[first], DIRECTIONS[second]
    return Placement((0.0, 0.0, 0.0), geometry.columns(x, y, geometry.cross(x, y)))


def _locked(p: UsdPrim, direction: str) -> bool:
    """True if a limit of a direction has its lower end above the upper one."""
    low, high = (p.number(f"limit:{direction}:physics:{x}", s * math.inf) for x, s in (("low", -1.0), ("high", 1.0)))
    return low > high


def _distance(draft: RobotDraft, j: UsdJoint, name: str) -> bool:
    """A distance that is held is a rod; a range is not a constraint here."""
    p = j.prim
    low, high = (p.number(f"physics:{x}Distance", -1.0) for x in ("min", "max"))
    if low != high or low <= 0.0 or not math.isfinite(low):
        draft.notes.lose(f"distance joint '{name}', which has a range of distances, not one", mechanism=True)
        return False
    ends = [draft.point(b, name, f.at) for b, f in zip(j.bodies, j.frames, strict=True)]
    draft.rods.append(description.Rod(name, (ends[0], ends[1]), low * p.stage.meters))
    return False


# -------------------------------------------------------------------- limits, drives, rotors


def _acting(draft: RobotDraft, p: UsdPrim, name: str, kind: str, freedom: str) -> None:
    """Limits, rotor, friction and drives of a joint of one coordinate; `freedom` names it in a generic joint."""
    s, turning = p.stage, kind == "revolute"
    size = DEGREE if turning else s.meters  # of a coordinate
    effort = s.kilograms * s.meters ** (2 if turning else 1)
    names = (f"limit:{freedom}:physics:low", f"limit:{freedom}:physics:high") if freedom else ("physics:lowerLimit", "physics:upperLimit")
    low, high = (size * p.number(n, sign * math.inf) for n, sign in zip(names, (-1.0, 1.0), strict=True))
    if low > high:
        draft.notes.warn(f"joint '{name}': its lower limit {low:g} is above the upper one {high:g}. The limits are ignored")
    elif math.isfinite(low) or math.isfinite(high):
        ends = [x if math.isfinite(x) else None for x in (low, high)]
        draft.stops.append(description.Stop(name, name, None, ends[0], ends[1], where=s.where))
    rotor = next((p.finite(n) for n in ("physxJoint:armature", "newton:armature", "mjc:armature") if p.value(n) is not None), 0.0)
    if rotor:
        inertia = rotor * s.kilograms * (s.meters**2 if turning else 1.0)
        draft.joints[name] = replace(draft.joints[name], armature=inertia)
    fastest = p.number("physxJoint:maxJointVelocity", math.inf)
    if 0.0 < fastest < 1e6:
        draft.notes.speed_limits[name] = size * fastest
    unit = effort if turning else s.kilograms  # of a gain of MuJoCo, per radian or unit of length
    damping = p.finite("mjc:damping") * unit or p.finite("newton:damping") * effort / size
    draft.resist(name, damping, p.finite("mjc:frictionloss") * effort, s.where)
    draft.spring(name, p.finite("mjc:stiffness") * unit, p.finite("mjc:springref") * (1.0 if turning else s.meters), s.where)
    if p.value("physxJoint:jointFriction"):
        draft.notes.drop("friction coefficient of a joint", name)
    for token in dict.fromkeys((freedom, "angular" if turning else "linear")):
        if token and f"PhysicsDriveAPI:{token}" in p.schemas:
            _drive(draft, p, name, f"drive:{token}:physics:", size, effort)


def _drive(draft: RobotDraft, p: UsdPrim, name: str, at: str, size: float, effort: float) -> None:
    """A drive: effort = stiffness (target - q) + damping (speed - q')."""
    stiffness, damping = (p.finite(f"{at}{x}") * effort / size for x in ("stiffness", "damping"))
    target, speed = (size * p.finite(f"{at}target{x}") for x in ("Position", "Velocity"))
    most = p.number(f"{at}maxForce", math.inf) * effort
    if (stiffness or damping) and p.text(f"{at}type", "force") != "force":
        draft.notes.lose(f"gains of the drive of '{name}', which are accelerations per error", mechanism=True)
        stiffness = damping = 0.0
    if stiffness < 0.0 or damping < 0.0:
        raise p.stage.error("gains of a drive are zero or more.", p.prim, name=p.path)
    if damping and speed:
        draft.notes.lose(f"target speed of the drive of '{name}'", mechanism=True)
    draft.spring(name, stiffness, target, p.stage.where)
    draft.resist(name, damping, 0.0, p.stage.where)
    if stiffness and not p.own("passive"):
        draft.notes.infer_of_joint(name, "the gains of its drive are a spring and a damper")
    if math.isfinite(most) and 0.0 < most < 1e30:
        draft.efforts[name] = most
    if not p.own("passive"):
        draft.drive(name, p.stage.where)


def read_actuators(draft: RobotDraft, prims: Sequence[UsdPrim]) -> None:
    """Actuators and tendons that MuJoCo's converter writes: a joint that an actuator turns is a drive, laws of actuators are left out."""
    for p in prims:
        kind = str(p.prim.GetTypeName())
        if kind == "MjcTendon":
            draft.notes.drop("tendon", p.name, mechanism=True)
        elif kind in ("MjcActuator", "NewtonActuator"):
            ends = [p.target(x) for x in ("mjc:target", "newton:target")]
            joints = [draft.joint_names.of.get(str(x.GetPath()), "") for x in ends if x is not None]
            for name in (x for x in joints if x in draft.joints):
                draft.drive(name, p.stage.where)
            draft.notes.drop("law of an actuator", p.name)


# -------------------------------------------------------------------- mimics


def read_mimics(draft: RobotDraft, found: Sequence[UsdJoint]) -> None:
    """Couple joints that follow others, as Newton or PhysX says it."""
    for j in found:
        follower = draft.joint_names.of[j.prim.path]
        if follower in draft.joints and (said := _newton(j.prim) or _physx(j.prim)):
            leader, ratio, offset, same_kind = said
            other = draft.joint_names.of.get(str(leader.GetPath()), "")
            types = [draft.joints[x].type if x in draft.joints else "" for x in (follower, other)]
            if any(t not in ONE_COORDINATE for t in types):
                draft.notes.lose(f"mimic of '{follower}' from '{leader.GetName()}', which are not both hinges or sliders", mechanism=True)
                continue
            if same_kind and types[0] != types[1]:
                draft.notes.lose(f"mimic of '{follower}' from '{other}', a {types[0]} and a {types[1]} joint", mechanism=True)
                continue
            s = j.prim.stage
            units = [1.0 if t == "revolute" else s.meters for t in types]
            shift = offset * (DEGREE if types[0] == "revolute" else s.meters)
            if follower == other:
                raise s.error("it mimics itself.", j.prim.prim, name=j.prim.path)
            draft.couple(draft.coupling_name(f"{follower}_mimic"), other, follower, ratio * units[0] / units[1], shift, s.where)


def _newton(p: UsdPrim) -> tuple[Any, float, float, bool] | None:
    """q = coef0 + coef1 q_leader; coef0 of a hinge in degrees."""
    leader = p.target("newton:mimicJoint")
    if leader is None or not p.flag("newton:mimicEnabled", True):
        return None
    return leader, p.finite("newton:mimicCoef1", 1.0), p.finite("newton:mimicCoef0"), False


def _physx(p: UsdPrim) -> tuple[Any, float, float, bool] | None:
    """q + gearing q_leader + offset = 0."""
    for axis in p.namespaces(MIMIC):
        leader = p.target(f"{MIMIC}:{axis}:referenceJoint")
        if leader is not None:
            return leader, -p.finite(f"{MIMIC}:{axis}:gearing"), -p.finite(f"{MIMIC}:{axis}:offset"), True
    return None

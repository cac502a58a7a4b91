"""Springs, dampers, friction, stops, couplings and drives of a model by the coordinate they act in, and the losses of every such format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from linkwright.api import System, belt_constraints, compiled_of, coupling_constraints, curve_lines, elements
from linkwright.api import description as model
from linkwright.mechanics.constraints.gear import GearConstraint
from linkwright.rings.exchange.writing.acted_coordinates import acted
from linkwright.rings.exchange.writing.losses import Loss, of_constant_friction, speed_limits
from linkwright.rings.exchange.writing.robots.links_and_joints import Robot, RobotJoint


@dataclass
class JointActs:
    """Everything in one joint of the file, in its own coordinate."""

    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    reference: float = 0.0  # where its springs are relaxed, times stiffness until `collected` divides
    lower: float | None = None
    upper: float | None = None
    stop: float | None = None  # stiffness of a soft stop
    drive: model.Drive | None = None
    speed: float | None = None  # largest
    armature: float = 0.0
    leader: str = ""  # joint of the file that it follows: multiplier * q + offset
    multiplier: float = 0.0
    offset: float = 0.0


@dataclass
class Acts:
    """Everything in the joints of a robot, by the joint's name in the file; `lost` is what these formats do not know."""

    robot: Robot
    joints: dict[str, JointActs] = field(default_factory=dict)
    lost: list[Loss] = field(default_factory=list)

    def of(self, joint: str) -> JointActs:
        return self.joints.setdefault(joint, JointActs())

    def lose(self, name: str, why: str, part: str = "mechanism") -> None:
        self.lost.append(Loss(name, why, part))


def collected(robot: Robot, *, names_drives: bool) -> Acts:
    """Sort what acts in a robot's joints; `names_drives`: the format says which joints are driven."""
    out, d = Acts(robot), robot.system.description
    for x in d.acting:
        put, joint = PIECES.get(x.formats.get("robot", "")), elements.joint_of(x)
        if put is not None and joint:
            _in_joint(out, x.name, joint, lambda a, j, x=x, put=put: put(a, j, x))
            for why in _lost_of(x):
                out.lose(x.name, why)
    for j in d.joints:
        if j.armature:
            _in_joint(out, j.name, j.name, lambda a, _, x=j: _add(a, "armature", x.armature))
    _ties(out)
    for drive in d.drives:
        _drive(out, drive, names_drives)
    _speeds(out)
    for acts in out.joints.values():
        if acts.stiffness:
            acts.reference /= acts.stiffness
    _lose_others(out)
    return out


def _in_joint(out: Acts, name: str, joint: str, put: Callable[[JointActs, RobotJoint], None]) -> None:
    found = acted(out.robot.system.description, joint)
    if found is None:
        out.lose(name, f"it acts in '{joint}', which is not a joint")
        return
    there = [out.robot.coordinate(found.joint.name, entry) for entry in found.entries]
    if not there or any(x is None for x in there):
        cut = found.joint.name in out.robot.system.tree.cuts
        out.lose(name, f"it acts in '{joint}', {'which closes a loop there' if cut else f'a {found.joint.type} joint'}")
        return
    for x in there:
        if x is not None:
            put(out.of(x.name), x)


def _add(acts: JointActs, what: str, value: Any) -> None:
    setattr(acts, what, getattr(acts, what) + float(value))


def _spring(acts: JointActs, at: RobotJoint, s: model.TorsionSpring) -> None:
    """effort = -k (q - free) + preload, with q counted from the zero of the file."""
    k = float(s.stiffness)
    acts.stiffness += k
    acts.reference += k * (float(s.free_position) - at.zero) + float(s.preload)


def _damper(acts: JointActs, at: RobotJoint, x: model.Damper) -> None:
    acts.damping += float(x.coefficient)


def _friction(acts: JointActs, at: RobotJoint, f: model.Friction) -> None:
    acts.damping += float(f.viscous)
    acts.friction += float(f.coulomb)


def _stop(acts: JointActs, at: RobotJoint, s: model.Stop) -> None:
    lower, upper = (None if x is None else float(x) - at.zero for x in (s.lower, s.upper))
    acts.lower = lower if acts.lower is None else acts.lower if lower is None else max(lower, acts.lower)
    acts.upper = upper if acts.upper is None else acts.upper if upper is None else min(upper, acts.upper)
    acts.stop = None if s.stiffness is None else float(s.stiffness)


PIECES: dict[str, Any] = {"stiffness": _spring, "damping": _damper, "friction": _friction, "range": _stop}  # of `formats` of an element


def _lost_of(x: Any) -> Iterator[str]:
    """Parts of an element that a joint of the file cannot have."""
    if isinstance(x, model.Friction):
        yield from of_constant_friction(x)
    if isinstance(x, model.Stop) and float(x.restitution):
        yield "the rebound from a stop"


def _ties(out: Acts) -> None:
    """Couplings, gears, belts and the travel of screws as followers."""
    system: System = out.robot.system
    for j in out.robot.joints:
        if j.follows:
            acts = out.of(j.name)
            acts.leader, acts.multiplier = j.follows, j.pitch
    for c in system.description.couplings:
        law = coupling_constraints.CouplingConstraint.of(compiled_of(system).skel, c).law
        if isinstance(law, curve_lines.Line) and not c.plus:
            offset, ratio, _ = law(0.0)
            _follow(out, c.name, c.first, c.second, float(ratio), float(offset))
        else:
            kind = "a cam" if c.cam is not None else "a coupling by a table, polynomial or motion laws"
            out.lose(c.name, "a coupling of several joints" if c.plus else kind)
    for g in system.description.gears:
        mesh = GearConstraint.of(compiled_of(system).skel, g)  # sign r q_first + factor q_second = offset
        ratio = -mesh.sign_first * mesh.r_first / mesh.factor_second
        _follow(out, g.name, g.first, g.second, float(ratio), float(mesh.offset / mesh.factor_second))

    for b in system.description.belts:
        for first, second, ratio, offset in belt_constraints.BeltConstraint.of(compiled_of(system).skel, b).ties(compiled_of(system).skel):
            _follow(out, b.name, first, second, ratio, offset)
        if not b.carrier:
            out.lose(b.name, "a rope or belt over moving pulleys")


def _follow(out: Acts, name: str, first: str, second: str, ratio: float, offset: float) -> None:
    ends = []
    for joint in (first, second):
        found = acted(out.robot.system.description, joint)
        at = out.robot.coordinate(found.joint.name, found.entries[0]) if found and len(found.entries) == 1 else None
        if at is None:
            out.lose(name, f"it ties '{joint}', which has no coordinate of its own there")
            return
        ends.append(at)
    leader, follower = ends
    if out.of(follower.name).leader:
        out.lose(name, f"'{second}' follows another joint already")
        return
    acts = out.of(follower.name)
    shift = ratio * leader.zero + offset - follower.zero
    acts.leader, acts.multiplier, acts.offset = leader.name, ratio, 0.0 if abs(shift) < 1e-12 else shift


LAWS = {"speed": "its prescribed speed", "position": "its prescribed motion", "moves": "its prescribed motion", "dc_motor": "the DC motor"}


def _drive(out: Acts, drive: model.Drive, named: bool) -> None:
    found = acted(out.robot.system.description, drive.joint)
    at = out.robot.coordinate(found.joint.name, found.entries[0]) if found and len(found.entries) == 1 else None
    if at is None:
        out.lose(drive.joint, "a drive of something that is not a joint of the file", "drive")
        return
    out.of(at.name).drive = drive
    given = not isinstance(drive.value, (int, float)) or bool(drive.value)
    why = LAWS.get(drive.kind, "its torque" if drive.kind == "torque" and given else "")
    if why or not named:
        there = "only named as driven" if named else "free to move"
        out.lose(drive.joint, f"{why or 'a drive'}: there the joint is {there}", "drive")


def _speeds(out: Acts) -> None:
    """Velocity limits of joints and drives."""
    d = out.robot.system.description
    for name, most in speed_limits(d).items():
        found = acted(d, name)
        there = [out.robot.coordinate(found.joint.name, entry) for entry in found.entries] if found else []
        held = [x for x in there if x is not None]
        if not held:
            out.lose(name, "its velocity limit: it has no coordinate of its own there", "drive")
        for x in held:
            out.of(x.name).speed = most


def _lose_others(out: Acts) -> None:
    d = out.robot.system.description
    for x in d.acting:
        if not {"robot", "drake"} & set(x.formats):
            out.lose(x.name, elements.lost_as(x))
    moving = [name for name, _ in d.start if name.rpartition(".")[2].startswith("v") and "." in name]
    if moving and bool(abs(out.robot.system.start.v).max(initial=0.0) > 0.0):
        out.lose(moving[0].rpartition(".")[0], "its speed at the start", "start")

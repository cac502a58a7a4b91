"""A robot while its file is read: bodies, joints and what is attached to them, and the description made of it at the end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from linkwright.api import (
    GROUND,
    Body,
    Description,
    Joint,
    ModelError,
    Placement,
    Source,
    UsageError,
    Vec3,
    Visual,
    counted,
    description,
    nearest,
)
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.names import NameTable, usable
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.poses import HERE

ONE_COORDINATE = ("revolute", "prismatic", "screw")
STANDARD_GRAVITY: Vec3 = (0.0, 0.0, -9.81)


@dataclass
class RobotDraft:
    """Parts in the order of the file. Names are those of the model; `links` and `joints` hold those of the file."""

    notes: ImportNotes
    name: str
    links: NameTable
    joint_names: NameTable
    gravity: Vec3 = STANDARD_GRAVITY
    bodies: dict[str, Body] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    closing: list[str] = field(default_factory=list)
    points_only: list[str] = field(default_factory=list)
    couplings: list[description.Coupling] = field(default_factory=list)
    dampers: list[description.Damper] = field(default_factory=list)
    frictions: list[description.Friction] = field(default_factory=list)
    springs: list[Any] = field(default_factory=list)
    rods: list[description.Rod] = field(default_factory=list)
    stops: list[description.Stop] = field(default_factory=list)
    drives: dict[str, description.Drive] = field(default_factory=dict)
    efforts: dict[str, float] = field(default_factory=dict)  # largest effort of a joint, where the file gives it
    gears: dict[str, float] = field(default_factory=dict)  # reduction of a joint's motor, where the file gives it

    @classmethod
    def of(cls, notes: ImportNotes, name: str) -> RobotDraft:
        return cls(notes, name, NameTable("link", notes, [GROUND]), NameTable("joint", notes), bodies={GROUND: Body(GROUND)})

    # ------------------------------------------------------------ parts

    def be_ground(self, link: str, visuals: tuple[Visual, ...], where: Source | None) -> None:
        """Take a link of the file as the ground, which gets a point of its name."""
        self.links.of[link] = GROUND
        points = () if link == GROUND else (description.Point(usable(link), (0.0, 0.0, 0.0)),)
        self.bodies[GROUND] = Body(GROUND, points, where=where, visuals=visuals)

    def add_joint(self, joint: Joint, *, closes: bool = False) -> None:
        self.joints[joint.name] = joint
        if closes:
            self.closing.append(joint.name)

    def repeats(self, joint: Joint) -> bool:
        """True if a joint says the same as one before, of the same type at the same place: it is left out, its name is that one's."""
        same = (joint.type, joint.first, joint.second, joint.frame_first, joint.frame_second)
        for other in self.joints.values():
            if (other.type, other.first, other.second, other.frame_first, other.frame_second) == same:
                place = f"{joint.where}: " if joint.where else ""
                self.notes.lose(
                    f"{place}joint '{joint.name}', which joins '{joint.first}' and '{joint.second}' in the same way at the same place as "
                    f"'{other.name}', with its limits and friction",
                    mechanism=True,
                )
                self.joint_names.of |= {given: other.name for given, name in self.joint_names.of.items() if name == joint.name}
                return True
        return False

    def point(self, body: str, wanted: str, at: Vec3) -> tuple[str, str]:
        """A new point of a body: its reference."""
        b = self.bodies[body]
        name = self.point_name(wanted, {p.name for p in b.points})
        self.bodies[body] = replace(b, points=(*b.points, description.Point(name, at)))
        return (body, name)

    @staticmethod
    def point_name(wanted: str, taken: Collection[str]) -> str:
        """A name for a point that is not taken yet."""
        name, n = usable(wanted), 1
        while name in taken:
            n += 1
            name = f"{usable(wanted)}_{n}"
        return name

    def spring_damper(
        self, name: str, ends: tuple[tuple[str, str], tuple[str, str]], free: float, stiffness: float, damping: float
    ) -> None:
        """A coil spring and a damper between two points."""
        if stiffness:
            self.springs.append(description.CoilSpring(name, ends, stiffness, free))
        if damping:
            self.dampers.append(description.Damper(name, damping, between=ends))

    def resist(self, joint: str, damping: float, friction: float, where: Source | None) -> None:
        """Damping and dry friction of a joint, on each of its coordinates."""
        if damping:
            self.dampers.append(description.Damper(usable(joint), damping, joint=joint, where=where))
        if friction:
            self.frictions.append(description.Friction(usable(joint), joint, coulomb=friction, where=where))

    def spring(self, joint: str, stiffness: float, free: float, where: Source | None) -> None:
        if stiffness:
            self.springs.append(description.TorsionSpring(usable(joint), joint, stiffness, free, where=where))

    def drive(self, joint: str, where: Source | None = None) -> None:
        """Name a joint as driven, once."""
        if joint not in self.drives and self.joints[joint].type in ONE_COORDINATE:
            most = self.efforts.get(joint)
            limits = (None, None) if most is None else (-most, most)
            self.drives[joint] = description.Drive(joint, "undriven", where=where, limits=limits, gear_ratio=self.gears.get(joint, 1.0))

    def name_drives(self, named: Sequence[str]) -> None:
        """Name the drives that a caller asks for; without any, and without those that the file marks, all hinges and sliders of a tree."""
        for name in named:
            self.drive(self.joint_of(name, None, "drives"))
        if not self.drives and not self.closing:
            mimics = {c.second for c in self.couplings}
            for name, joint in self.joints.items():
                if joint.type in ONE_COORDINATE and name not in mimics:
                    self.drive(name, joint.where)
            if self.drives:
                self.notes.infer("no actuators are named: every hinge and slider counts as a drive (drives=[...] names others)")
        elif not self.drives:
            self.notes.infer("no actuators are named: no joint is a drive (drives=[...] names some)")
        lost = [name for name in self.efforts if name not in self.drives]
        if lost:
            self.notes.lose(f"effort limits of {counted(len(lost), 'joint')} without a drive")

    def couple(self, name: str, first: str, second: str, ratio: float, offset: float, where: Source | None) -> None:
        self.couplings.append(description.Coupling(name, first, second, ratio, offset, where=where))

    def couple_sums(self, name: str, first: list[str], second: list[str], ratio: float, where: Source | None) -> None:
        """Couple sums of joint coordinates: second = ratio * first."""
        if len(first) == len(second) == 1:
            self.couple(name, first[0], second[0], ratio, 0.0, where)
        else:
            plus = (*((x, ratio) for x in first[1:]), *((x, -1.0) for x in second[:-1]))
            self.couplings.append(description.Coupling(name, first[0], second[-1], ratio, 0.0, where=where, plus=plus))

    def coupling_name(self, wanted: str) -> str:
        """A name for a coupling that is not taken yet."""
        taken, name, n = {c.name for c in self.couplings}, usable(wanted), 1
        while name in taken:
            n += 1
            name = f"{usable(wanted)}_{n}"
        return name

    def body_of(self, link: str, where: Source | None, what: str) -> str:
        """The body of a link of the file."""
        if link not in self.links.of:
            raise ModelError(f"{what}: there is no link '{link}'.", where, nearest(link, self.links.of, "Links"))
        return self.links.of[link]

    def joint_of(self, name: str, where: Source | None, what: str) -> str:
        """The joint in the model of a joint of the file."""
        if name not in self.joint_names.of:
            raise ModelError(f"{what}: there is no joint '{name}'.", where, nearest(name, self.joint_names.of, "Joints"))
        return self.joint_names.of[name]

    # ------------------------------------------------------------ the end

    def finish(self, poses: dict[str, Placement]) -> Imported:
        """The description with its bodies at these poses."""
        bodies = tuple(replace(b, start=poses.get(b.name, HERE)) for b in self.bodies.values())
        d = Description(
            name=self.name,
            bodies=bodies,
            joints=tuple(self.joints.values()),
            gravity=self.gravity,
            couplings=tuple(self.couplings),
            dampers=tuple(self.dampers),
            frictions=tuple(self.frictions),
            springs=tuple(self.springs),
            rods=tuple(self.rods),
            stops=tuple(self.stops),
            drives=tuple(self.drives.values()),
        )
        return Imported(d, tuple(self.closing), self.notes.report(), tuple(self.points_only))


def names_of(drives: Any) -> list[str]:
    """Names of joints as a caller gives them: a list, or one text with commas."""
    given = [x.strip() for x in drives.split(",")] if isinstance(drives, str) else list(drives)
    if not all(isinstance(x, str) for x in given):
        raise UsageError("drives are names of joints: drives=['hip', 'knee'].", name="drives")
    return [x for x in given if x]

"""Targets of joints and cylinders by name, as constraints: positions to walk to, positions to hold, speeds.

    A  C.slide                   one coordinate: a number
    lift                         a cylinder: its length
    U  [angle1, angle2]          a joint of several coordinates: a list in the joint's order, or one of them by name (U.angle1)
    S  [qw, qx, qy, qz]          a ball joint: the quaternion of the second body's frame in the first's; speeds [wx, wy, wz]
    base  [qw .. qz, x, y, z]    a free joint: quaternion and position (or a Pose); speeds [wx, wy, wz, x, y, z], angular first
    base.quat  base.rpy          its rotation alone; base.vx, base.wz single speeds

Angular velocities of ball and free joints are in the axes of the moving frame M, velocities of a free joint in the axes of F, as
in `names.v`. Names of speeds may end in `.v`. A body without any tree joint has an implicit free joint, called `body.free`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.errors import ChannelError, UsageError, nearest
from linkwright.mechanics.constraints import Constraint, Driver
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.constraints.target import JointTarget, rotation_vector_between
from linkwright.mechanics.instant import Instant
from linkwright.model.coordinates import SPEED_KINDS, JointCoordinate, entry_of, lengths
from linkwright.model.curves.lines import Line
from linkwright.model.description import Joint
from linkwright.model.file import quantity
from linkwright.model.file.geometry import rotation_rpy
from linkwright.motion import cycle
from linkwright.numerics.spatial import Pose, quaternion_rotation, rotation_quaternion
from linkwright.text.units import KINDS, shown

FAR = 1e4  # radians, or multiples of the characteristic length


@dataclass(frozen=True)
class Targets:
    """Constraints for what a caller names."""

    loops: Loops

    # ---------------------------------------------------------------- names

    def _joint(self, name: str) -> tuple[Joint, str]:
        """(joint, rest of the name)."""
        tree = self.loops.skel.tree
        head, _, part = name.partition(".")
        implicit = {n.joint.name: n.joint for n in tree.nodes if n.body in tree.floating}
        if head in implicit and part.partition(".")[0] == "free":
            return implicit[head], part.partition(".")[2]
        every = {**implicit, **{j.name: j for j in tree.description.joints}}
        if head not in every:
            more = lengths(tree.description)
            known = [*every, *more]
            kind = "Joints and cylinders" if more else "Joints"
            raise ChannelError(f"there is no joint '{name}'. {nearest(name, known, kind)}")
        return every[head], part

    def part(self, name: str) -> JointCoordinate | Joint:
        """The entry of a joint's velocity that a name means, or the joint where it means all of several."""
        joint, part = self._joint(name)
        jt = joints.create(joint.type, joint.options)
        if not part and jt.nv != 1:
            return joint
        if part in joints.speed_names(jt):
            return replace(entry_of(joint, joints.speed_names(jt)[part], name), q=None)
        if part not in jt.v_names:
            names = ("", *jt.v_names, *joints.speed_names(jt), *joints.attitudes(jt))
            allowed = list(dict.fromkeys(f"{joint.name}.{p}" if p else joint.name for p in names)) if jt.nv else []
            raise ChannelError(
                f"'{name}' is not a coordinate of the {joint.type} joint '{joint.name}'. Use {', '.join(allowed) or 'another joint'}."
            )
        return entry_of(joint, jt.v_names.index(part), name)

    def attitude(self, name: str) -> Joint | None:
        """The ball or free joint whose whole rotation a name means: `base.quat`, `base.rpy`."""
        head, _, part = name.rpartition(".")
        if part not in ("quat", "rpy") or not head:
            return None
        joint, rest = self._joint(head)
        return joint if not rest and part in joints.attitudes(joints.create(joint.type, joint.options)) else None

    def names_joint(self, name: str) -> bool:
        """True if a name with a dot means a joint's component, and not a point of a body of the same name."""
        try:
            if self.attitude(name) is not None:
                return True
            found = self.part(name.removesuffix(".v"))
        except ChannelError:
            return False
        return isinstance(found, JointCoordinate) or not any(name.startswith(f"{b.name}.") for b in self.loops.skel.tree.description.bodies)

    def _is_length(self, name: str) -> bool:
        return name in lengths(self.loops.skel.tree.description)

    # ---------------------------------------------------------------- values

    def values(self, joint: Joint, value: Any, rate: bool) -> np.ndarray:
        """The coordinates, or with `rate` the speeds, of a whole joint, in SI; a quaternion is normalized."""
        jt = joints.create(joint.type, joint.options)
        names = jt.v_names if rate else jt.q_names
        if isinstance(value, Pose) and not rate and "quaternion" in jt.coordinate_kinds:
            return np.concatenate([rotation_quaternion(value.R), value.p])[: jt.nq]
        kinds = ("angle",) * 3 + jt.coordinate_kinds[4:] if rate and "quaternion" in jt.coordinate_kinds else jt.coordinate_kinds
        items = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, dict)) else [value]
        what = "speeds" if rate else "coordinates"
        if not names:
            raise UsageError(f"'{joint.name}' is a {joint.type} joint: it has no {what}, so none can be given. Leave it out.")
        if len(items) != len(names):
            raise UsageError(
                f"'{joint.name}' is a {joint.type} joint and needs a list of {len(names)} {what} ({', '.join(names)}), or one of them "
                f"by name, {joint.name}.{names[-1]}; {len(items)} {'was' if len(items) == 1 else 'were'} given."
            )
        out = np.array([_number(x, k, rate, f"'{joint.name}.{n}'") for x, k, n in zip(items, kinds, names, strict=True)])
        if not rate and "quaternion" in kinds:
            size = float(np.linalg.norm(out[:4]))
            if not size > 0.0:
                raise UsageError(f"'{joint.name}': the quaternion is zero, which is no rotation. Without one write 1, 0, 0, 0.")
            out[:4] /= size
        return out

    # ---------------------------------------------------------------- constraints

    def positions(self, name: str, value: Any, here: Instant, *, walked: bool = True) -> list[Constraint]:
        """Constraints that lead from here (t = 0) to the wanted position (t = 1), or with `walked=False` hold it at once."""
        d = self.loops.skel.tree.description

        def law(now: float, there: float) -> Line:
            return Line(now, there - now) if walked else Line(there, 0.0)

        if self._is_length(name):
            length = quantity(value, KINDS["length"], f"'{name}'")
            if not length > 0.0:
                raise UsageError(f"'{name}' is a cylinder: its length is greater than zero, not {shown(length, KINDS['length'], d.units)}.")
            return [cycle.driven(d, name, law(cycle.coordinate_now(self.loops, name, here), length))]
        turned = self.attitude(name)
        if turned is not None:
            there = np.array(here.references[turned.name], dtype=float)
            there[:4] = attitude(name, value)
            return self._whole(turned, there, here, walked, (0, 1, 2))
        part = self.part(name)
        if isinstance(part, Joint):
            return self._whole(part, self.values(part, value, rate=False), here, walked)
        if part.q is None:
            raise UsageError(f"'{name}' is a velocity, without a position; give the joint's quaternion, `{part.joint.name}.quat`, or v=.")
        now, there = float(here.references[part.joint.name][part.q]), quantity(value, KINDS[part.kind], f"'{name}'")
        self._check_far(name, now, there, part.kind)
        if part.q == part.v:
            return [Driver(part.joint, law(now, there), part.v)]
        begin = np.array(here.references[part.joint.name], dtype=float)
        rate = np.zeros(joints.create(part.joint.type, part.joint.options).nv)
        if walked:
            rate[part.v] = there - now
        else:
            begin[part.q] = there
        return [JointTarget(part.joint, tuple(begin), tuple(rate), (part.v,))]

    def _whole(self, joint: Joint, there: np.ndarray, here: Instant, walked: bool, pick: tuple[int, ...] | None = None) -> list[Constraint]:
        jt = joints.create(joint.type, joint.options)
        now = np.array(here.references[joint.name], dtype=float)
        if "quaternion" not in jt.coordinate_kinds:
            for i, kind in enumerate(jt.coordinate_kinds):
                self._check_far(f"{joint.name}.{jt.q_names[i]}", now[i], there[i], kind)
            laws = [Line(a, b - a) if walked else Line(b, 0.0) for a, b in zip(now.tolist(), there.tolist(), strict=True)]
            return [Driver(joint, law, i) for i, law in enumerate(laws)]
        rate = np.zeros(jt.nv)
        if walked:
            R = quaternion_rotation(now[:4])
            rate[:3] = R.T @ rotation_vector_between(R, quaternion_rotation(there[:4]))  # in M's axes
            rate[3:] = there[4:] - now[4:]
        return [JointTarget(joint, tuple(now if walked else there), tuple(rate), tuple(range(jt.nv)) if pick is None else pick)]

    def _check_far(self, name: str, now: float, there: float, kind: str) -> None:
        if abs(there - now) > FAR * (1.0 if kind == "angle" else self.loops.kappa):
            far, references = (shown(x, KINDS[kind], self.loops.skel.tree.description.units) for x in (there, now))
            raise UsageError(f"'{name}' = {far} is too far from its start, {references}, to be walked to; check the value and its unit.")

    def speeds(self, name: str, value: Any, here: Instant) -> list[Constraint]:
        """Constraints that move at the wanted speed from here on."""
        base = name.removesuffix(".v")
        if self._is_length(base):
            rate = quantity(value, KINDS["speed"], f"the speed of '{name}'")
            length = cycle.coordinate_now(self.loops, base, here)
            return [cycle.driven(self.loops.skel.tree.description, base, Line(length, rate))]
        part = self.part(base)
        if isinstance(part, Joint):
            return [self._moving(part, self.values(part, value, rate=True), range(joints.create(part.type, part.options).nv), here)]
        x = quantity(value, KINDS[part.speed_kind], f"the speed of '{name}'")
        if part.q == part.v:
            return [Driver(part.joint, Line(float(here.references[part.joint.name][part.v]), x), part.v)]
        rates = np.zeros(joints.create(part.joint.type, part.joint.options).nv)
        rates[part.v] = x
        return [self._moving(part.joint, rates, [part.v], here)]

    def _moving(self, joint: Joint, rates: np.ndarray, pick: Sequence[int], here: Instant) -> JointTarget:
        return JointTarget(joint, tuple(np.asarray(here.references[joint.name], dtype=float)), tuple(rates), tuple(pick))

    def read(self, name: str, value: Any, here: Instant) -> tuple[Constraint, np.ndarray]:
        """A constraint that reads the acceleration of a joint or one of its components, and the wanted one."""
        part = self.part(name)
        joint, pick = (part, None) if isinstance(part, Joint) else (part.joint, part.v)
        nv = joints.create(joint.type, joint.options).nv
        if pick is None:
            if np.shape(value) != (nv,):
                raise UsageError(f"'{name}' is a {joint.type} joint and needs a list of {nv} accelerations, as in names.v.")
            return self._moving(joint, np.zeros(nv), range(nv), here), np.asarray(value, dtype=float)
        assert isinstance(part, JointCoordinate)
        x = np.array([quantity(value, KINDS[part.acceleration_kind])])
        if part.q == pick:
            return Driver(joint, Line(float(here.references[joint.name][pick]), 0.0), pick), x
        return self._moving(joint, np.zeros(nv), [pick], here), x


def attitude(name: str, value: Any) -> np.ndarray:
    """The unit quaternion of `base.quat: [w, x, y, z]` or `base.rpy: [roll, pitch, yaw]`."""
    quat = name.endswith(".quat")
    items = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, dict)) else [value]
    if len(items) != (4 if quat else 3):
        raise UsageError(f"'{name}' needs a list of {'four numbers wxyz' if quat else 'three angles'}; {len(items)} given.")
    if not quat:
        R = rotation_rpy(*(quantity(x, KINDS["angle"], f"'{name}'") for x in items))
        return rotation_quaternion(np.array(R, dtype=float))
    q = np.array([_number(x, "quaternion", False, f"'{name}'") for x in items])
    if not np.linalg.norm(q) > 0.0:
        raise UsageError(f"'{name}' is zero, which is no rotation. Without one write 1, 0, 0, 0.")
    return q / np.linalg.norm(q)


def _number(value: Any, kind: str, rate: bool, what: str) -> float:
    if kind == "quaternion":
        try:
            return float(value)
        except (TypeError, ValueError):
            raise UsageError(f"{what} is a pure number, not {value!r:.40}.") from None
    return quantity(value, KINDS[SPEED_KINDS[kind] if rate else kind], what)

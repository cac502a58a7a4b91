"""Rods, couplings, gears, springs, dampers, friction and stops: one reader a section."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from linkwright.errors import ModelError, counted, listing, nearest
from linkwright.joints import JOINTS, position_of, velocity_parts
from linkwright.model.coordinates import joint_name, part_of
from linkwright.model.description import (
    CoilSpring,
    Coupling,
    Damper,
    Friction,
    GasSpring,
    Gear,
    Joint,
    PointRef,
    Rod,
    Stop,
    TorsionSpring,
)
from linkwright.model.file.context import Context
from linkwright.model.file.geometry import add, length, rotate, sub
from linkwright.model.file.loads import TABLE_KEYS, ChannelDimensions, tabulated
from linkwright.model.file.moves import read_moves, whole_turns
from linkwright.model.file.nodes import FileNode
from linkwright.model.file.shapes import Shape
from linkwright.model.file.units import (
    ANGLE,
    DAMPING,
    FORCE,
    LENGTH,
    NONE,
    SPEED,
    STIFFNESS,
    TIME,
    TORQUE,
    TORSIONAL_DAMPING,
    TORSIONAL_STIFFNESS,
    Dimension,
    multiply,
)

RATE = (0, 0, -1, 0, 0)
PROGRAMME_KEYS = ("moves", "begin", "phase")


class Elements:
    """Reads what is attached to bodies and joints; knows their names."""

    def __init__(self, context: Context, shapes: dict[str, Shape], joints: Sequence[Joint]):
        self.context, self.shapes = context, shapes
        self.joints = {j.name: j for j in joints}
        self.points = {b: tuple(s.points) for b, s in shapes.items()}

    # ------------------------------------------------------------ shared pieces

    def entries(self, node: FileNode | None, section: str, kind: str) -> list[tuple[str, FileNode]]:
        found = node.mapping(section) if node else {}
        return [(self.context.check_name(n, e, kind), e) for n, e in found.items()]

    def value(
        self, keys: dict[str, FileNode], key: str, dimension: Dimension, what: str, default: Any = None, least: float | None = None
    ) -> Any:
        """keys[key] in SI; `least` is a bound it may not fall below."""
        if key not in keys:
            return default
        value = self.context.number(keys[key], dimension, f"{what}: {key}")
        if least is not None and self.context.numeric(value) < least:
            raise keys[key].error(f"{what}: {key} is {self.context.shown(value, dimension)}, it must be {least:g} or more.")
        return value

    def positive(self, keys: dict[str, FileNode], key: str, dimension: Dimension, what: str) -> Any:
        value = self.context.number(keys[key], dimension, f"{what}: {key}")
        if self.context.numeric(value) <= 0.0:
            raise keys[key].error(f"{what}: {key} is {self.context.shown(value, dimension)}, it must be greater than zero.")
        return value

    def between(self, keys: dict[str, FileNode], node: FileNode, what: str) -> tuple[PointRef, PointRef]:
        a, b = (self.context.point_ref(n, self.points, what) for n in keys["between"].sequence(f"{what}: between", 2))
        if a[0] == b[0]:
            raise keys["between"].error(f"{what} runs between two points of the same body '{a[0]}'. Name points of two bodies.")
        return a, b

    def joint(self, node: FileNode, what: str) -> str:
        """The name of a joint with one coordinate."""
        name = node.string(what)
        if name not in self.joints:
            raise node.error(f"{what}: there is no joint '{name}'. {nearest(name, self.joints, 'Joints')}")
        kinds = JOINTS[self.joints[name].type].coordinate_kinds
        if len(kinds) != 1:
            kind = self.joints[name].type
            raise node.error(
                f"{what}: joint '{name}' is {kind} with {counted(len(kinds), 'coordinate')}; this needs a joint with one (a "
                "hinge or a slider)."
            )
        return name

    def part(self, node: FileNode, what: str, *, one: bool = False, positions: bool = False) -> str:
        """The name of a joint, all of whose velocities are meant, or of some of them: `A`, `hip.angle1`, `base.linear`.

        `one`: a single velocity; `positions`: those that are rates of coordinates, or the whole of a rotation.
        """
        name = node.string(what)
        head = joint_name(name)
        if head not in self.joints:
            raise node.error(f"{what}: there is no joint '{head}'. {nearest(head, self.joints, 'Joints')}")
        joint = self.joints[head]
        try:
            found = part_of(joint, name)
        except ModelError as error:
            raise node.error(f"{what}: {error.message}") from error
        jt = JOINTS[joint.type]
        names = [f"{head}.{x}" for x in velocity_parts(jt) if x]
        if not found.entries:
            raise node.error(f"{what}: joint '{head}' is {joint.type} and does not move. Name another joint.")
        if len(found.kinds) == 2:
            raise node.error(f"{what}: joint '{head}' turns and slides, which one number cannot hold for. Name one of {listing(names)}.")
        alone = [i for i in found.entries if position_of(jt, i) is None]
        if one and (len(found.entries) > 1 or alone):
            single = [f"{head}.{jt.v_names[i]}" for i in range(jt.nv) if position_of(jt, i) is not None]
            hint = f"Name one of {listing(single)}." if single else "Name a hinge or a slider."
            raise node.error(f"{what}: '{name}' of a {joint.type} joint is not one coordinate. {hint}")
        if positions and len(alone) in (1, 2):
            raise node.error(f"{what}: '{name}' is no coordinate of a {joint.type} joint, whose rotation has no angles. Name '{head}'.")
        return name

    def slides(self, joint: str) -> bool:
        return part_of(self.joints[joint_name(joint)], joint).kinds == {"length"}

    def coordinate(self, joint: str) -> Dimension:
        return LENGTH if self.slides(joint) else ANGLE

    def distance(self, ends: tuple[PointRef, PointRef]) -> Any:
        """Between two points as the bodies start."""
        places = []
        for body, point in ends:
            shape = self.shapes[body]
            shape.turned = True
            local = shape.points[point] if self.context.in_symbols else self.context.numerics(shape.points[point])
            places.append(add(shape.pose.at, rotate(shape.pose.rotation, local)))
        return length(sub(*places)) if self.context.in_symbols else math.dist(*places)

    # ------------------------------------------------------------ sections

    def rods(self, node: FileNode | None) -> tuple[Rod, ...]:
        rods = []
        for name, entry in self.entries(node, "rods", "rod"):
            what = f"rod '{name}'"
            keys = entry.keys(what, ("between", "length"), ("between",))
            ends = self.between(keys, entry, what)
            length = self.positive(keys, "length", LENGTH, what) if "length" in keys else self.distance(ends)
            if self.context.numeric(length) <= 0.0:
                raise entry.error(
                    f"{what} has no length: its ends {'.'.join(ends[0])} and {'.'.join(ends[1])} coincide. Give `length:` or use a joint."
                )
            rods.append(Rod(name, ends, length, entry.where))
        return tuple(rods)

    def couplings(self, node: FileNode | None) -> tuple[Coupling, ...]:
        couplings = []
        for name, entry in self.entries(node, "couplings", "coupling"):
            what = f"coupling '{name}'"
            keys = entry.keys(what, ("from", "to", "ratio", "offset", "polynomial", "plus", *PROGRAMME_KEYS, *TABLE_KEYS), ("from", "to"))
            first, second = self.joint(keys["from"], f"{what}: from"), self.joint(keys["to"], f"{what}: to")
            if first == second:
                raise entry.error(f"{what} couples joint '{first}' with itself. Name two joints.")
            x, y = self.coordinate(first), self.coordinate(second)
            table = None
            if any(k in keys for k in TABLE_KEYS):
                if "ratio" in keys or "offset" in keys:
                    raise entry.error(f"{what} has a table and a ratio or offset; keep one.")
                table = tabulated(self.context, first, keys, entry, (x, y), f"{what}: table", motion=True)
            polynomial = self._polynomial(keys, (x, y), what)
            programme = self.programme(keys, entry, (x, y), what)
            plus = self._plus(keys, (first, second), y, what)
            ratio = self.value(keys, "ratio", multiply(y, x, -1), what, 1.0)
            if self.context.numeric(ratio) == 0.0:
                raise keys["ratio"].error(f"{what} has the ratio 0, which would block joint '{second}'. Give another ratio.")
            offset = self.value(keys, "offset", y, what)
            couplings.append(Coupling(name, first, second, ratio, offset, table, entry.where, polynomial, plus, **programme))
        return tuple(couplings)

    def programme(self, keys: dict[str, FileNode], entry: FileNode, kinds: tuple[Dimension, Dimension], what: str) -> dict[str, Any]:
        """Moves of a coupling or cam, with `begin` and `phase`; spans of whole turns repeat. Empty if it has none."""
        own = [k for k in ("begin", "phase") if k in keys]
        if "moves" not in keys:
            if own:
                raise keys[own[0]].error(f"{what}: `{own[0]}` belongs to `moves:`. Add moves, or take it out.")
            return {}
        other = [k for k in ("ratio", "offset", "polynomial", *TABLE_KEYS) if k in keys]
        if other:
            raise keys["moves"].error(f"{what} has moves and `{other[0]}`; keep one.")
        moves = read_moves(self.context, keys["moves"], kinds, what)
        repeats = whole_turns(self.context, moves, kinds[0])
        if repeats:
            read_moves(self.context, keys["moves"], kinds, what, closed=True)
        begin = self.value(keys, "begin", kinds[1], what, 0.0)
        return {"moves": moves, "begin": begin, "phase": self.value(keys, "phase", kinds[0], what, 0.0), "repeats": repeats}

    def _polynomial(self, keys: dict[str, FileNode], kinds: tuple[Dimension, Dimension], what: str) -> tuple[Any, ...]:
        """Coefficients, lowest power first."""
        if "polynomial" not in keys:
            return ()
        other = [k for k in ("ratio", "offset", *TABLE_KEYS) if k in keys]
        if other:
            raise keys["polynomial"].error(f"{what} has a polynomial and `{other[0]}`; keep one.")
        x, y = kinds
        items = keys["polynomial"].sequence(f"{what}: polynomial")
        found = tuple(self.context.number(n, multiply(y, x, -i), f"{what}: polynomial") for i, n in enumerate(items))
        if not any(self.context.numeric(c) for c in found[1:]):
            raise keys["polynomial"].error(f"{what}: a constant polynomial would block joint '{keys['to'].text}'. Give it a slope.")
        return found

    def _plus(self, keys: dict[str, FileNode], ends: tuple[str, str], y: Dimension, what: str) -> tuple[tuple[str, Any], ...]:
        """Further joints with the factors of their coordinates."""
        out = []
        for name, node in (keys["plus"].mapping(f"{what}: plus") if "plus" in keys else {}).items():
            joint = self.joint(FileNode(node.where, text=name), f"{what}: plus")
            if joint in ends:
                raise node.error(f"{what}: plus names joint '{joint}' again. Name further joints.")
            out.append((joint, self.context.number(node, multiply(y, self.coordinate(joint), -1), f"{what}: plus: {joint}")))
        return tuple(out)

    def gears(self, node: FileNode | None) -> tuple[Gear, ...]:
        return tuple(self._gear(name, entry) for name, entry in self.entries(node, "gears", "gear"))

    def _gear(self, name: str, entry: FileNode) -> Gear:
        what = f"gear '{name}'"
        keys = entry.keys(what, ("joints", "radii", "teeth", "module", "internal", "pressure_angle", "pinion", "rack", "radius"))
        alpha = self.value(keys, "pressure_angle", ANGLE, what, Gear.pressure_angle, least=0.0)
        if self.context.numeric(alpha) >= math.radians(60):
            raise keys["pressure_angle"].error(f"{what}: the pressure angle must be below 60 deg; the standard is 20 deg.")
        if "pinion" in keys:
            entry.keys(what, ("pinion", "rack", "radius", "teeth", "module", "pressure_angle"), ("rack",))
            first, second = self.joint(keys["pinion"], what), self.joint(keys["rack"], what)
            if self.slides(first) or not self.slides(second):
                raise entry.error(f"{what}: the pinion must be on a hinge and the rack on a slider. Exchange or correct them.")
            radius = self._radii(keys, entry, what, ["radius"])[0]
            return Gear(name, first, second, radius, rack=True, pressure_angle=alpha, where=entry.where)
        entry.keys(what, ("joints", "radii", "teeth", "module", "internal", "pressure_angle"), ("joints",))
        first, second = (self.joint(n, f"{what}: joints") for n in keys["joints"].sequence(f"{what}: joints", 2))
        if first == second or self.slides(first) or self.slides(second):
            raise keys["joints"].error(f"{what} needs two different hinges that carry the wheels; a rack is written `pinion:` and `rack:`.")
        radii = self._radii(keys, entry, what, ["first", "second"])
        internal = keys["internal"].flag(f"{what}: internal") if "internal" in keys else False
        return Gear(name, first, second, radii[0], radii[1], internal, False, alpha, entry.where)

    def _radii(self, keys: dict[str, FileNode], entry: FileNode, what: str, wheels: list[str]) -> list[Any]:
        """Pitch radii, given directly or as teeth and module."""
        direct = "radius" if len(wheels) == 1 else "radii"
        if direct in keys and "teeth" not in keys:
            nodes = keys[direct].sequence(f"{what}: radii", 2) if len(wheels) == 2 else [keys[direct]]
            return [self.positive({"radius": n}, "radius", LENGTH, what) for n in nodes]
        if "teeth" not in keys or "module" not in keys or direct in keys:
            raise entry.error(
                f"{what} needs its pitch {direct} (e.g. {'20 mm' if len(wheels) == 1 else '[20 mm, 60 mm]'}), or `teeth:` and `module:`."
            )
        module = self.positive(keys, "module", LENGTH, what)
        nodes = keys["teeth"].sequence(f"{what}: teeth", 2) if len(wheels) == 2 else [keys["teeth"]]
        return [module * self.positive({"teeth": n}, "teeth", NONE, what) / 2.0 for n in nodes]

    def springs(self, node: FileNode | None) -> tuple[TorsionSpring | CoilSpring | GasSpring, ...]:
        return tuple(self._spring(name, entry) for name, entry in self.entries(node, "springs", "spring"))

    def _spring(self, name: str, entry: FileNode) -> TorsionSpring | CoilSpring | GasSpring:
        what = f"spring '{name}'"
        keys = entry.keys(what, ("type", "joint", "between", "stiffness", "free", "preload", "force", "length", "stroke", "progression"))
        guess = "torsion" if "joint" in keys else "gas" if "stroke" in keys or "force" in keys else "coil"
        kind = keys["type"].string(f"{what}: type") if "type" in keys else guess
        if kind == "torsion":
            entry.keys(f"torsion {what}", ("type", "joint", "stiffness", "free", "preload"), ("joint", "stiffness"))
            joint = self.part(keys["joint"], what, positions=True)
            slides = self.slides(joint)
            stiffness = self.value(keys, "stiffness", STIFFNESS if slides else TORSIONAL_STIFFNESS, what, least=0.0)
            free = self.value(keys, "free", self.coordinate(joint), what, 0.0)
            preload = self.value(keys, "preload", FORCE if slides else TORQUE, what, 0.0)
            ball = "quaternion" in JOINTS[self.joints[joint_name(joint)].type].coordinate_kinds and not slides
            if ball and any(self.context.numeric(x) != 0.0 for x in (free, preload)):
                raise entry.error(f"{what}: the spring of a ball pulls its frames together; take out `free` and `preload`.")
            return TorsionSpring(name, joint, stiffness, free, preload, entry.where)
        if kind == "coil":
            entry.keys(f"coil {what}", ("type", "between", "stiffness", "free", "preload"), ("between", "stiffness"))
            ends = self.between(keys, entry, what)
            free = self.value(keys, "free", LENGTH, what, least=0.0)
            free = self.distance(ends) if free is None else free  # relaxed as drawn
            stiffness = self.value(keys, "stiffness", STIFFNESS, what, least=0.0)
            return CoilSpring(name, ends, stiffness, free, self.value(keys, "preload", FORCE, what, 0.0), entry.where)
        if kind != "gas":
            raise keys["type"].error(f"{what}: there is no spring type '{kind}'. {nearest(kind, ('torsion', 'coil', 'gas'), 'Types')}")
        entry.keys(f"gas {what}", ("type", "between", "force", "length", "stroke", "progression"), ("between", "force", "length", "stroke"))
        progression = self.value(keys, "progression", NONE, what, 1.0, least=1.0)
        length, stroke = (self.positive(keys, k, LENGTH, what) for k in ("length", "stroke"))
        if self.context.numeric(stroke) >= self.context.numeric(length):
            raise keys["stroke"].error(f"{what}: the stroke must be shorter than the extended length.")
        return GasSpring(
            name, self.between(keys, entry, what), self.value(keys, "force", FORCE, what), length, stroke, progression, entry.where
        )

    def dampers(self, node: FileNode | None) -> tuple[Damper, ...]:
        dampers = []
        for name, entry in self.entries(node, "dampers", "damper"):
            what = f"damper '{name}'"
            keys = entry.keys(what, ("joint", "between", "coefficient"), ("coefficient",))
            if ("joint" in keys) == ("between" in keys):
                raise entry.error(f"{what} acts on a `joint:` or `between:` two points; give one of them.")
            joint = self.part(keys["joint"], what) if "joint" in keys else ""
            ends = self.between(keys, entry, what) if "between" in keys else None
            turning = bool(joint) and not self.slides(joint)
            value = self.value(keys, "coefficient", TORSIONAL_DAMPING if turning else DAMPING, what, least=0.0)
            dampers.append(Damper(name, value, joint, ends, entry.where))
        return tuple(dampers)

    def frictions(self, node: FileNode | None) -> tuple[Friction, ...]:
        frictions = []
        for name, entry in self.entries(node, "friction", "friction"):
            what = f"friction '{name}'"
            keys = entry.keys(what, ("joint", "coulomb", "viscous", "speed", "mu", "radius"))
            mu = self.value(keys, "mu", NONE, what, 0.0, least=0.0)
            joint = self.part(keys.get("joint", FileNode(entry.where, text=name)), what, one=self.context.numeric(mu) > 0.0)
            slides = self.slides(joint)
            _need_effect(entry, keys, slides, what)
            read = {
                "coulomb": self.value(keys, "coulomb", FORCE if slides else TORQUE, what, 0.0, least=0.0),
                "viscous": self.value(keys, "viscous", DAMPING if slides else TORSIONAL_DAMPING, what, 0.0, least=0.0),
                "mu": mu,
                "radius": self.value(keys, "radius", LENGTH, what, 0.0, least=0.0),
            }
            if "speed" in keys:
                read["speed"] = self.positive(keys, "speed", SPEED if slides else multiply(ANGLE, RATE), what)
            frictions.append(Friction(name, joint, **read, where=entry.where))
        return tuple(frictions)

    def stops(self, node: FileNode | None, channels: ChannelDimensions) -> tuple[Stop, ...]:
        return tuple(self._stop(name, entry, channels) for name, entry in self.entries(node, "stops", "stop"))

    def _stop(self, name: str, entry: FileNode, channels: ChannelDimensions) -> Stop:
        what = f"stop '{name}'"
        keys = entry.keys(what, ("joint", "between", "min", "max", "stiffness", "damping", "restitution"))
        target = keys.get("joint", FileNode(entry.where, text=name))
        joint = target.string(what) if target.text in channels.lengths else self.part(target, what, one=True)
        slides = joint in channels.lengths or self.slides(joint)
        travel = LENGTH if slides else ANGLE
        if "between" in keys:
            if "min" in keys or "max" in keys:
                raise entry.error(f"{what} has `between` and `min` or `max`; keep one way of giving the ends.")
            low, high = keys["between"].sequence(f"{what}: between", 2)
            keys = {**keys, "min": low, "max": high}
        elif "min" not in keys and "max" not in keys:
            example = "[0, 120 mm]" if slides else "[-30 deg, 60 deg]"
            raise entry.error(f"{what} has no ends: write `between: {example}`, or `min:` or `max:` alone.")
        lower, upper = (self.value(keys, k, travel, f"{what}: an end" if "between" in keys else what) for k in ("min", "max"))
        if lower is not None and upper is not None and self.context.numeric(lower) >= self.context.numeric(upper):
            raise entry.error(
                f"{what}: the lower end {self.context.shown(lower, travel)} is not below the upper {self.context.shown(upper, travel)}. "
                "Exchange or correct them."
            )
        rigid = "stiffness" not in keys
        wrong = "damping" if rigid else "restitution"
        if wrong in keys:
            advice = "Give `stiffness:` as well, or `restitution:` in its place." if rigid else "Write `damping:` in its place."
            raise keys[wrong].error(f"{what}: a {'rigid' if rigid else 'springy'} stop has no {wrong}. {advice}")
        stiffness = None if rigid else self.positive(keys, "stiffness", STIFFNESS if slides else TORSIONAL_STIFFNESS, what)
        damping = self.value(keys, "damping", multiply(TIME, travel, -1), what, 0.0, least=0.0)
        restitution = self.value(keys, "restitution", NONE, what, 0.0, least=0.0)
        if self.context.numeric(restitution) > 1.0:
            raise keys["restitution"].error(f"{what}: restitution must be at most 1.")
        own = None if joint in channels.lengths else JOINTS[self.joints[joint_name(joint)].type]
        if rigid and own is not None and own.q_names != own.v_names:
            raise entry.error(f"{what}: a coordinate of a joint with a quaternion needs a stop with `stiffness:`.")
        return Stop(name, joint, stiffness, lower, upper, damping, entry.where, restitution)


def _need_effect(entry: FileNode, keys: Mapping[str, FileNode], slides: bool, what: str) -> None:
    """Refuse friction of which a part would do nothing."""
    if not keys.keys() & {"coulomb", "viscous", "mu"}:
        amount = "N" if slides else "N m"
        lever = "" if slides else " with `radius: 10 mm`"
        raise entry.error(f"{what} has nothing that brakes: give `coulomb: 0.2 {amount}`, `viscous:`, or `mu: 0.1`{lever}.")
    if "mu" in keys and "radius" not in keys and not slides:
        raise keys["mu"].error(
            f"{what}: `mu` alone does nothing in a hinge, because its torque is mu times load times radius. Give the radius of the pin, "
            "`radius: 10 mm`, or a constant torque, `coulomb: 0.2 N m`."
        )
    if "radius" in keys and (slides or "mu" not in keys):
        why = "a slider has no lever: its friction is mu times load" if slides else "it belongs to `mu`, which is missing"
        raise keys["radius"].error(f"{what}: `radius` does nothing here; {why}. Take it out{'' if slides else ' or give `mu:`'}.")
    if "speed" in keys and not keys.keys() & {"coulomb", "mu"}:
        raise keys["speed"].error(f"{what}: `speed` smooths `coulomb` and `mu`, and neither is given. Take it out.")

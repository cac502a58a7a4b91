"""Elements of a model file: by the roles of their fields; elements with a form of their own by the pieces of `model.file.element_forms`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from linkwright import elements
from linkwright.elements import AxesRole, ChoiceRole, EndsRole, JointRole, NumberRole, PointRole, TurnsRole
from linkwright.elements.base import either
from linkwright.errors import ModelError, counted, listing, nearest
from linkwright.joints import JOINTS, position_of, velocity_parts
from linkwright.model.coordinates import joint_name, part_of
from linkwright.model.description import Joint, PointRef
from linkwright.model.file.body_frames import Shape
from linkwright.model.file.channel_laws import ChannelDimensions, varying
from linkwright.model.file.geometry import add, length, rotate, sub, transpose, vector
from linkwright.model.file.reading_context import Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import ANGLE, LENGTH, NONE, Dimension, dimension_of

Further = Callable[[dict[str, FileNode]], dict[str, Any]]  # keys of an entry -> fields
EXAMPLES = {"torque": "5 N m", "torsional stiffness": "30 N m/rad", "torsional damping": "0.1 N m s/rad"}


class _Plan(NamedTuple):
    """Roles of a kind of elements by the step in which they are read."""

    kind: Any
    places: tuple[tuple[str, Any, str], ...]  # field, role, key
    alternatives: tuple[str, ...]  # places one of which is given
    numbers: tuple[tuple[str, NumberRole], ...]
    others: tuple[tuple[str, Any], ...]
    directions: tuple[str, ...]  # keys that are vectors along axes


@cache
def _plan(kind: Any) -> _Plan:
    roles = elements.roles(kind).items()
    places = tuple((n, r, elements.key_of(n, r)) for n, r in roles if isinstance(r, (EndsRole, JointRole, PointRole)))
    return _Plan(
        kind,
        places,
        tuple(n for n, r, _ in places if r.optional),
        tuple(elements.numbers(kind).items()),
        tuple((n, r) for n, r in roles if isinstance(r, (TurnsRole, ChoiceRole, AxesRole))),
        tuple(key for key, _ in elements.directions(kind.section)),
    )


class Elements:
    """Reads what is attached to bodies and joints; knows their names."""

    def __init__(self, context: Context, shapes: dict[str, Shape], joints: Sequence[Joint]):
        self.context, self.shapes = context, shapes
        self.joints = {j.name: j for j in joints}
        self.points = {b: tuple(s.points) for b, s in shapes.items()}
        self.channels = ChannelDimensions(self.joints, self.points)
        self.found: dict[str, tuple[Any, ...]] = {}  # elements that have been read, by section

    # ------------------------------------------------------------ shared pieces

    def entries(self, node: FileNode | None, section: str, kind: str) -> list[tuple[str, FileNode]]:
        found = node.mapping(section) if node else {}
        return [(self.context.check_name(n, e, kind, channels=True), e) for n, e in found.items()]

    def value(
        self, keys: dict[str, FileNode], key: str, dimension: Dimension, what: str, default: Any = None, least: float | None = None
    ) -> Any:
        """keys[key] in SI; `least` is a bound it may not fall below."""
        if key not in keys:
            return default
        value = self.context.number(keys[key], dimension, f"{what}: {key}")
        if least is not None and self.context.numeric(value) < least:
            raise keys[key].error(f"{what}: {key} is {self.context.shown(value, dimension)}, it must be {least:g} or more.", name=what)
        return value

    def positive(self, keys: dict[str, FileNode], key: str, dimension: Dimension, what: str) -> Any:
        value = self.context.number(keys[key], dimension, f"{what}: {key}")
        if self.context.numeric(value) <= 0.0:
            raise keys[key].error(f"{what}: {key} is {self.context.shown(value, dimension)}, it must be greater than zero.", name=what)
        return value

    def restitution(self, keys: dict[str, FileNode], what: str) -> Any:
        """The key `restitution`, 0 to 1; 0 where it is left out."""
        value = self.value(keys, "restitution", NONE, what, 0.0, least=0.0)
        if self.context.numeric(value) > 1.0:
            raise keys["restitution"].error(f"{what}: restitution must be at most 1.", name=what)
        return value

    def between(self, keys: dict[str, FileNode], node: FileNode, what: str) -> tuple[PointRef, PointRef]:
        a, b = (self.context.point_ref(n, self.points, what) for n in keys["between"].sequence(f"{what}: between", 2))
        if a[0] == b[0]:
            raise keys["between"].error(f"{what} runs between two points of the same body '{a[0]}'. Name points of two bodies.", name=a[0])
        return a, b

    def joint(self, node: FileNode, what: str) -> str:
        """The name of a joint with one coordinate."""
        name = node.string(what)
        if name not in self.joints:
            raise node.error(f"{what}: there is no joint '{name}'.", nearest(name, self.joints, "Joints"))
        kinds = JOINTS[self.joints[name].type].coordinate_kinds
        if len(kinds) != 1:
            kind = self.joints[name].type
            raise node.error(
                f"{what}: joint '{name}' is {kind} with {counted(len(kinds), 'coordinate')}. This needs a joint with one (a "
                "hinge or a slider).",
                name=name,
            )
        return name

    def part(self, node: FileNode, what: str, *, one: bool = False, positions: bool = False) -> str:
        """The name of a joint, all of whose velocities are meant, or of some of them: `A`, `hip.angle1`, `base.linear`.

        `one`: a single velocity; `positions`: those that are rates of coordinates, or the whole of a rotation.
        """
        name = node.string(what)
        head = joint_name(name)
        if head not in self.joints:
            raise node.error(f"{what}: there is no joint '{head}'.", nearest(head, self.joints, "Joints"))
        joint = self.joints[head]
        try:
            found = part_of(joint, name)
        except ModelError as error:
            raise node.error(f"{what}: {error.message}", name=what) from error
        jt = JOINTS[joint.type]
        names = [f"{head}.{x}" for x in velocity_parts(jt) if x]
        if not found.entries:
            raise node.error(f"{what}: joint '{head}' is {joint.type} and does not move. Name another joint.", name=head)
        if len(found.kinds) == 2:
            raise node.error(
                f"{what}: joint '{head}' turns and slides, which one number cannot hold for. Name one of {listing(names)}.",
                name=head,
                allowed=names,
            )
        alone = [i for i in found.entries if position_of(jt, i) is None]
        if one and (len(found.entries) > 1 or alone):
            single = [f"{head}.{jt.v_names[i]}" for i in range(jt.nv) if position_of(jt, i) is not None]
            hint = f"Name one of {listing(single)}." if single else "Name a hinge or a slider."
            raise node.error(f"{what}: '{name}' of a {joint.type} joint is not one coordinate. {hint}", name=name)
        if positions and len(alone) in (1, 2):
            raise node.error(
                f"{what}: '{name}' is not a coordinate of a {joint.type} joint, whose rotation has no angles. Name '{head}'.", name=name
            )
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

    # ------------------------------------------------------------ elements whose fields are their keys

    @property
    def lines(self) -> Sequence[str]:
        """Names of elements that are coordinates themselves: cylinders."""
        return self.channels.lengths

    def element(self, name: str, entry: FileNode, among: Sequence[Any], further: Further | None = None) -> Any:
        """Read an element of one of some kinds by its fields; `further` reads fields that have a form of their own."""
        what = f"{among[0].word} '{name}'"
        kind = among[0]
        if len(among) > 1:
            kind = self._kind(entry, among, what)
            keys = entry.keys(f"{kind.type} {what}", ("type", *elements.keys(kind)), elements.required(kind))
        else:
            typed = ("type",) if kind.type else ()
            keys = entry.keys(what, (*typed, *elements.keys(kind)), elements.required(kind))
        plan = _plan(kind)
        if kind.some_of and (fault := either(kind.some_of).fault(keys)):
            raise entry.error(f"{what} {fault}", name=what)
        found = self._places(plan, keys, entry, what, name) if further is None else further(keys)
        slides = "joint" not in found or self.slides(found["joint"])
        for field, role in plan.numbers:
            value = self._quantity(keys, field, role, slides, what)
            if value is None and role.drawn:
                value = self._drawn(found["between"], role, entry, what)
            if value is not None:
                found[field] = value
        for field, role in plan.others:
            if isinstance(role, TurnsRole):
                found[field] = self._turns(keys.get(field), found["between"], f"{what}: {field}")
            elif isinstance(role, ChoiceRole) and field in keys:
                found[field] = self._choice(keys[field], role.choices, f"{what}: {field}")
            elif isinstance(role, AxesRole) and field in keys:
                found[field] = self._axes_of(keys[field], found["body"], f"{what}: {field}")
        made = kind(name, **found, where=entry.where)
        for key, message in made.refused(_About(self, what, frozenset(keys), found.get("joint", ""), slides)):
            raise (keys[key] if key else entry).error(message, name=name)
        return made

    def _places(self, plan: _Plan, keys: dict[str, FileNode], entry: FileNode, what: str, name: str) -> dict[str, Any]:
        """Places where an element acts, by field."""
        found: dict[str, Any] = {}
        if plan.alternatives and sum(n in keys for n in plan.alternatives) != 1:
            raise entry.error(f"{what} acts on a `joint:` or `between:` two points. Give one of them.", name=what)
        for field, role, key in plan.places:
            node = keys.get(key)
            if node is None and isinstance(role, JointRole) and role.named:
                node = FileNode(entry.where, text=name)
            if node is None:
                continue
            if isinstance(role, EndsRole):
                found[field] = self.between(keys, entry, what)
            elif isinstance(role, JointRole):
                found[field] = self.part(node, what, one=self._single(plan.kind, role, keys, what), positions=role.positions)
            else:
                found["body"], found["point"] = self._target(keys, key, role, plan, what)
        return found

    def _single(self, kind: Any, role: JointRole, keys: dict[str, FileNode], what: str) -> bool:
        """Return True if an element needs one velocity of its joint."""
        if isinstance(role.one, bool):
            return role.one
        value = self._quantity(keys, role.one, elements.numbers(kind)[role.one], True, what)
        return value is not None and self.context.numeric(value) > 0.0

    def _target(self, keys: dict[str, FileNode], key: str, role: PointRole, plan: _Plan, what: str) -> PointRef:
        text = keys[key].string(f"{what}: {key}")
        pushed = any(k in keys for k in plan.directions)
        if role.whole and text in self.points and not pushed and self.points[text]:
            return text, self.points[text][0]  # a moment acts on the whole body
        return self.context.point_ref(keys[key], self.points, what)

    def _axes_of(self, node: FileNode, body: str, what: str) -> str:
        """`world`, or the body in whose axes vectors are."""
        axes = node.string(what)
        axes = body if axes == "body" else axes
        if axes != "world" and axes not in self.points:
            raise node.error(
                f"{what} must be world, body or the name of a body, not '{axes}'.", nearest(axes, self.points, "Bodies"), value=axes
            )
        return axes

    def _choice(self, node: FileNode, choices: Sequence[str], what: str) -> str:
        found = node.string(what)
        if found not in choices:
            raise node.error(f"{what} is {' or '.join(choices)}, not '{found}'.", name=what, value=found)
        return found

    def _drawn(self, ends: tuple[PointRef, PointRef], role: NumberRole, entry: FileNode, what: str) -> Any:
        """The distance of two points as drawn."""
        found = self.distance(ends)
        if role.above is not None and self.context.numeric(found) <= role.above:
            raise entry.error(
                f"{what} has no length: its ends {'.'.join(ends[0])} and {'.'.join(ends[1])} coincide. Give `length:` or use a joint.",
                name=what,
            )
        return found

    def _kind(self, entry: FileNode, among: Sequence[Any], what: str) -> Any:
        """The kind of an element by `type:`, else by the keys that are typical of one."""
        keys = entry.keys(what, ("type", *elements.all_keys(tuple(among))))
        name = keys["type"].string(f"{what}: type") if "type" in keys else elements.kind_of(among[0].section, keys).type
        found = {x.type: x for x in among}
        if name not in found:
            raise keys["type"].error(f"{what}: there is no {among[0].word} type '{name}'.", nearest(name, found, "Types"))
        return found[name]

    def _turns(self, node: FileNode | None, ends: tuple[PointRef, PointRef], what: str) -> Any:
        """Axes at both ends in their bodies: as given, else parallel as drawn."""
        if node is not None:
            return tuple(self.context.rotation({"rotation": x}, what) for x in node.sequence(what, 2))
        shapes = [self.shapes[body] for body, _ in ends]
        for shape in shapes:
            shape.turned = True
        return tuple(transpose(s.pose.rotation if self.context.in_symbols else s.start.rotation) for s in shapes)

    def _quantity(self, keys: dict[str, FileNode], field: str, role: NumberRole, slides: bool, what: str) -> Any:
        """A number of an element; None where it is left out."""
        key = elements.key_of(field, role)
        if key not in keys:
            return None
        dimension = dimension_of(role.dimension, slides)
        if role.axes:
            return self._axes(keys[key], key, role, dimension, what)
        return self._bounded(keys[key], key, role, dimension, what)

    def _bounded(self, node: FileNode, key: str, role: NumberRole, dimension: Dimension, what: str) -> Any:
        if role.varies:
            return varying(self.context, node, dimension, self.channels, f"{what}: {key}")
        if role.above is not None:
            return self.positive({key: node}, key, dimension, what)
        found = self.value({key: node}, key, dimension, what, least=role.least)
        if role.most is not None and self.context.numeric(found) > role.most:
            raise node.error(f"{what}: {key} is {self.context.shown(found, dimension)}, it must be {role.most:g} or less.", name=what)
        return found

    def _axes(self, node: FileNode, key: str, role: NumberRole, dimension: Dimension, what: str) -> tuple[Any, Any, Any]:
        """One number for each axis, or for all; about the axes of a plane one for its normal. Laws that vary are given one by one."""
        flat, one = self.context.planar, node.items is None
        if role.axes == "about":
            if one and self.context.planar_drawing:
                return (0.0, 0.0, self._bounded(node, key, role, dimension, what))
            if not one and flat:
                node.sequence(f"{what}: {key}", 3)
                raise node.error(
                    f"{what}: {key} is a single number in a plane, about its normal, e.g. `{key}: {EXAMPLES.get(role.dimension, 5)}`.",
                    name=what,
                )
        if one and not role.varies:
            x = self._bounded(node, key, role, dimension, what)
            return (x, x, 0.0 if flat else x)
        items = node.sequence(f"{what}: {key}", 3 if role.axes == "about" else None)
        allowed = (2,) if flat else (2, 3) if self.context.planar_drawing else (3,)
        if len(items) not in allowed and role.axes == "along":
            raise node.error(
                f"{what}: {key} must have {' or '.join(map(str, allowed))} components, not {len(items)}.{node.decimal_comma()}", name=what
            )
        values = [self._bounded(x, key, role, dimension, what) for x in items]
        return vector([*values, 0.0] if len(values) == 2 else values)


class _About(NamedTuple):
    """Answers to a check of an element."""

    reader: Elements
    what: str
    given: frozenset[str]
    joint: str
    slides: bool

    def numeric(self, value: Any) -> float:
        return self.reader.context.numeric(value)

    def shown(self, value: Any, dimension: str) -> str:
        return self.reader.context.shown(value, dimension_of(dimension, self.slides))

    @property
    def joint_type(self) -> Any:
        return JOINTS[self.reader.joints[joint_name(self.joint)].type] if self.joint else None

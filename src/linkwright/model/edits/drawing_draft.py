"""`Draft`: what a model file draws, also half drawn: points, bodies, joints and what hangs on them, in the drawing's own coordinates.

    draft = read_draft(EditSheet(text, "my.yaml"))
    draft.points["A"].at, draft.bodies["crank"].pins, draft.joints["guide"].axis, draft.problems

`reader` reads a mechanism or raises; here nothing is required: what cannot be read is left out and reported. Numbers are SI.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from linkwright import elements
from linkwright.elements import Clearance
from linkwright.errors import LinkwrightError, ModelError, UsageError
from linkwright.joints import JOINTS
from linkwright.model.description import GROUND
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.file.bodies import outline_of
from linkwright.model.file.body_frames import Shape, read_shape
from linkwright.model.file.geometry import add, rotate
from linkwright.model.file.joints_section import LOOSE
from linkwright.model.file.reading_context import Context
from linkwright.model.file.repeat import expand
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.expressions import Expr
from linkwright.text.quantities import QuantityAlgebra, read_quantity
from linkwright.text.units import LENGTH, Dimension

At = tuple[float, float]


@dataclass(frozen=True)
class DraftProblem:
    """A sentence about a draft: what is wrong or missing, where, and the parts it is about."""

    level: str  # "error", "missing" or "note"
    code: str
    text: str
    line: int = 0
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class DraftPoint:
    """A point of the drawing, or one of a body's own, called `body.point`."""

    name: str
    at: At
    written: tuple[str, ...]
    expression: tuple[bool, ...]  # of a coordinate: names are in it
    line: int
    fixed: bool = False  # made by `repeat:`
    own: bool = False


@dataclass(frozen=True)
class DraftBody:
    """A body: names of its points, its pins first."""

    name: str
    pins: tuple[str, ...]
    points: tuple[str, ...]
    outline: tuple[tuple[str, ...], ...]
    shape: str  # "drawn", "along", "sides" or "own"
    line: int
    fixed: bool = False
    stations: tuple[str, ...] = ()  # pins only where another body has them too: stations of a bar that `pins` does not list

    @property
    def ground(self) -> bool:
        return self.name == GROUND


@dataclass(frozen=True)
class DraftJoint:
    """A joint, or the hinge of a shared pin (`implicit`). One with clearance (`loose`) is drawn as its type and holds nothing."""

    name: str
    type: str
    first: str
    second: str
    point: str
    at: At | None
    axis: At | None
    line: int
    implicit: bool = False
    loose: bool = False

    @property
    def freedoms(self) -> int:
        return JOINTS[LOOSE if self.loose else self.type].nv


@dataclass(frozen=True)
class DraftEnd:
    """An end of a rod, spring, damper or cylinder."""

    body: str
    point: str
    at: At | None


@dataclass(frozen=True)
class DraftPart:
    """An entry of any other section: its ends or joints, and its values as written and in SI where they are constant."""

    kind: str
    name: str
    line: int
    ends: tuple[DraftEnd, ...] = ()
    joints: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    fixed: bool = False


@dataclass(frozen=True)
class Draft:
    """Everything that a file draws."""

    axes: str
    points: dict[str, DraftPoint]
    bodies: dict[str, DraftBody]
    joints: dict[str, DraftJoint]
    parts: dict[tuple[str, str], DraftPart]  # by section and name
    problems: tuple[DraftProblem, ...]

    def section(self, name: str) -> list[DraftPart]:
        return [part for (section, _), part in self.parts.items() if section == name]

    def bodies_at(self, point: str) -> list[str]:
        """Bodies that name a point, ground first."""
        found = [b.name for b in self.bodies.values() if point in b.points]
        return sorted(found, key=lambda n: n != GROUND)

    def pinned_at(self, point: str) -> list[str]:
        """Bodies that hinge at a point."""
        return [b.name for b in self.bodies.values() if point in b.pins]

    def place(self, body: str, point: str) -> At | None:
        """Coordinates of a body's point."""
        found = self.points.get(f"{body}.{point}") or self.points.get(point)
        return None if found is None else found.at


def read_draft(sheet: EditSheet) -> Draft:
    """The draft of a text; raise ModelError if it is no YAML mapping at all."""
    return _Reader(sheet).draft()


class _Reader:
    """Reads section by section; whatever fails is a problem."""

    def __init__(self, sheet: EditSheet):
        self.sheet, self.context = sheet, sheet.context
        self.problems: list[DraftProblem] = []
        self.keys: dict[str, FileNode] = dict(sheet.root.entries or {})
        try:
            self.keys = expand(self.context, self.keys)
        except (ModelError, UsageError) as error:
            self._problem(error)
        self.points: dict[str, DraftPoint] = {}
        self.bodies: dict[str, DraftBody] = {}
        self.shapes: dict[str, Shape] = {}
        self.joints: dict[str, DraftJoint] = {}

    def draft(self) -> Draft:
        self._drawing()
        self._bodies()
        explicit = list(self._explicit_joints())
        for joint in (*self._hinges(explicit), *explicit):
            self.joints.setdefault(joint.name, joint)
        parts = {(section, part.name): part for section in PARTS for part in self._parts(section)}
        for name in self._loose(parts) & self.joints.keys():
            self.joints[name] = replace(self.joints[name], loose=True)
        return Draft(self.sheet.axes, self.points, self.bodies, self.joints, parts, tuple(self.problems))

    def _loose(self, parts: Mapping[tuple[str, str], DraftPart]) -> set[str]:
        """Joints with clearance, by their own section or a key of their entry: both parts move until they touch."""
        found = {j for (section, _), part in parts.items() if section == Clearance.section for j in part.joints}
        return found | {name for name, entry in self._entries("joints").items() if Clearance.word in (entry.entries or {})}

    # ---------------------------------------------------------------- helpers

    def _problem(self, error: LinkwrightError, level: str = "error", ids: tuple[str, ...] = ()) -> None:
        where = getattr(error, "where", None)
        self.problems.append(DraftProblem(level, "unreadable", getattr(error, "message", str(error)), where.line if where else 0, ids))

    def _entries(self, section: str) -> dict[str, FileNode]:
        node = self.keys.get(section)
        if node is None or node.text == "":
            return {}
        if node.entries is None:
            if section not in ("drive", "cuts"):
                self.problems.append(
                    DraftProblem("error", "unreadable", f"{section} must be a mapping, `name: value` a line.", node.where.line)
                )
            return {}
        return node.entries

    def _number(self, node: FileNode | None, dimension: Dimension) -> float | None:
        """A value in SI; None where it is no constant."""
        return number_or_none(self.context, node, dimension)

    def _pair(self, node: FileNode | None) -> At | None:
        """A direction of two numbers."""
        if node is None or node.items is None or len(node.items) < 2:
            return None
        try:
            x, y, _ = self.context.numerics(self.context.direction(node, "axis"))
        except LinkwrightError:
            return None
        size = math.hypot(x, y)
        return (x / size, y / size) if size > 0.0 else None

    # ---------------------------------------------------------------- drawing and bodies

    def _drawing(self) -> None:
        for name, node in self._entries("drawing").items():
            try:
                here = self.context.vector(node, LENGTH, f"drawing: {name}")
                x, y, _ = self.context.sketch[name] = self.context.numerics(here, node)
                self.context.drawing[name] = here
            except LinkwrightError as error:
                self._problem(error, ids=(f"point:{name}",))
                continue
            written = tuple((n.text or "").strip() for n in node.items or ())[:2]
            named = tuple(isinstance(v, Expr) for v in here[:2])
            self.points[name] = DraftPoint(name, (x, y), written, named, node.where.line, bool(node.scope))

    def _bodies(self) -> None:
        for name, node in self._entries("bodies").items():
            if node.entries is None and node.text != "":
                self._problem(node.error(f"body '{name}' must be a mapping such as {{pins: [A, B]}}."), ids=(f"body:{name}",))
                continue
            entries = node.entries or {}
            try:
                shape: Shape | None = read_shape(self.context, name, node, dict(entries))
            except LinkwrightError as error:
                self._problem(error, ids=(f"body:{name}",))
                shape = None
            self.bodies[name] = self._body(name, node, entries, shape)
            if shape is not None:
                self.shapes[name] = shape

    def _body(self, name: str, node: FileNode, entries: Mapping[str, FileNode], shape: Shape | None) -> DraftBody:
        listed = [(n.text or "").strip() for key in ("pins", "points") for n in (entries[key].items if key in entries else ()) or ()]
        keyed = [k for key in ("along", "points") if key in entries for k in entries[key].entries or {}]
        names = list(dict.fromkeys([*listed, *keyed]))
        pins = [(n.text or "").strip() for n in (entries["pins"].items if "pins" in entries else ()) or ()]
        stations = [k for k in (entries["along"].entries or {} if "along" in entries else ()) if k in self.points and k not in pins]
        if shape is not None:
            self._own_points(name, node, shape)
        form = next(
            (k for k in ("along", "sides") if k in entries), "own" if "points" in entries and entries["points"].entries else "drawn"
        )
        shown = {n: f"{name}.{n}" if f"{name}.{n}" in self.points else n for n in names}
        lines: tuple[tuple[str, ...], ...] = ()
        if shape is not None and name != GROUND:
            try:
                lines = outline_of(self.context, shape, dict(entries))
            except LinkwrightError:
                lines = (tuple(names),)
        elif name != GROUND and len(names) > 1:
            lines = (tuple(names),)
        known = [n for n in names if shown[n] in self.points]
        outline = tuple(tuple(shown[n] for n in line if n in known) for line in lines)
        every = tuple(dict.fromkeys([*pins, *stations]))
        return DraftBody(name, every, tuple(names), outline, form, node.where.line, bool(node.scope), tuple(stations))

    def _own_points(self, name: str, node: FileNode, shape: Shape) -> None:
        """Points with coordinates of the body's own that the drawing does not place."""
        for point, local in shape.points.items():
            if point in self.points:
                continue
            here = add(shape.start.at, rotate(shape.start.rotation, self.context.numerics(local)))
            x, y, _ = (float(self.context.numeric(v)) for v in here)
            full = f"{name}.{point}" if name != GROUND else point
            self.points[full] = DraftPoint(full, (x, y), (), (), node.where.line, bool(node.scope), own=True)

    # ---------------------------------------------------------------- joints

    def _explicit_joints(self) -> Iterator[DraftJoint]:
        for name, node in self._entries("joints").items():
            entries = node.entries or {}
            kind = (entries["type"].text or "").strip().replace("-", "_") if "type" in entries else "revolute"
            ends, point = self._joint_ends(entries)
            if "chain" in entries:
                self.problems.append(
                    DraftProblem(
                        "note", "chain", f"joint '{name}' is a chain of joints: edit it in the file.", node.where.line, (f"joint:{name}",)
                    )
                )
                continue
            if kind not in JOINTS or len(ends) != 2:
                self.problems.append(
                    DraftProblem(
                        "error",
                        "unreadable",
                        f"joint '{name}' needs a `type:` and `between:` two bodies.",
                        node.where.line,
                        (f"joint:{name}",),
                    )
                )
                continue
            missing = [b for b in ends if b not in self.bodies]
            if missing:
                text = f"joint '{name}': there is no body '{missing[0]}'."
                self.problems.append(DraftProblem("error", "unreadable", text, node.where.line, (f"joint:{name}",)))
                continue
            axis = next((self._pair(entries[k]) for k in ("axis", *JOINTS[kind].axis_keys) if k in entries), None)
            straight = JOINTS[kind].guide is not None
            yield DraftJoint(
                name, kind, ends[0], ends[1], point, self._joint_place(entries, ends, point),
                (axis or (1.0, 0.0)) if straight else None, node.where.line,
            )  # fmt: skip

    def _joint_ends(self, entries: Mapping[str, FileNode]) -> tuple[list[str], str]:
        """Bodies of a joint, and the point where they meet."""
        if "connect" in entries:
            pairs = [(n.text or "").strip().partition(".") for n in entries["connect"].items or ()]
            return [body for body, _, _ in pairs], pairs[0][2] if pairs else ""
        ends = [(n.text or "").strip() for n in (entries["between"].items if "between" in entries else ()) or ()]
        place = entries.get("pin") or entries.get("at")
        return ends, (place.text or "").strip() if place is not None and place.text else ""

    def _joint_place(self, entries: Mapping[str, FileNode], ends: list[str], point: str) -> At | None:
        if point:
            found = next((self.points[n] for n in (*(f"{b}.{point}" for b in ends), point) if n in self.points), None)
            return None if found is None else found.at
        try:
            x, y, _ = self.context.numerics(self.context.vector(entries["at"], LENGTH, "at")) if "at" in entries else (math.nan, 0.0, 0.0)
        except LinkwrightError:
            return None
        return (x, y) if x == x else None

    def _hinges(self, explicit: list[DraftJoint]) -> Iterator[DraftJoint]:
        """Hinges of shared pins that no written joint takes."""
        order = {name: i for i, name in enumerate(sorted(self.bodies, key=lambda n: n != GROUND))}
        pins: dict[str, list[str]] = {}
        for body in sorted(self.bodies.values(), key=lambda b: order[b.name]):
            for pin in body.pins:
                pins.setdefault(pin, []).append(body.name)
        drawn = {name: i for i, name in enumerate(self.points)}
        for pin, bodies in sorted(pins.items(), key=lambda x: drawn.get(x[0], len(drawn))):
            taken = any(j.point == pin and {j.first, j.second} <= set(bodies) for j in explicit)
            if len(bodies) < 2 or taken:
                continue
            place = self.points.get(pin)
            for body in bodies[1:]:
                name = pin if len(bodies) == 2 else f"{pin}:{body}"
                line = self.bodies[body].line
                yield DraftJoint(name, "revolute", bodies[0], body, pin, None if place is None else place.at, None, line, implicit=True)

    # ---------------------------------------------------------------- everything else

    def _parts(self, section: str) -> Iterator[DraftPart]:
        node = self.keys.get(section)
        if section == "drive" and node is not None and node.entries is None and (node.items is not None or node.text):
            for item in node.items if node.items is not None else (node,):
                name = (item.text or "").strip()
                yield DraftPart(section, name, item.where.line, joints=(name,))
            return
        for name, entry in self._entries(section).items():
            entries = entry.entries or {}
            ends = tuple(self._end(n) for n in ((entries["between"].items if section in LINES and "between" in entries else ()) or ()))
            if "on" in entries:
                ends = (self._end(entries["on"]),)
            joints = [(n.text or "").strip() for n in (entries["joints"].items if "joints" in entries else ()) or ()]
            joints += [(entries[k].text or "").strip() for k in JOINT_KEYS if section in JOINED and k in entries]
            joints += [(n.text or "").strip() for n in _pulley_joints(entries)]
            joints = [name] if section in NAMED and not joints else joints
            values = {"": (entry.text or "").strip()} if entry.entries is None else {k: _plain(n) for k, n in entries.items()}
            yield DraftPart(section, name, entry.where.line, ends, tuple(joints), values, bool(entry.scope))

    def _end(self, node: FileNode) -> DraftEnd:
        body, _, point = (node.text or "").strip().partition(".")
        found = next((self.points[n] for n in (f"{body}.{point}", point) if n in self.points), None)
        return DraftEnd(body, point, None if found is None else found.at)


def _pulley_joints(entries: Mapping[str, FileNode]) -> Iterator[FileNode]:
    """Hinges of the pulleys of a belt."""
    for key in ("around", "path"):
        for item in (entries[key].items if key in entries else ()) or ():
            if item.entries is not None and "joint" in item.entries:
                yield item.entries["joint"]


LINES = elements.sections_with(elements.EndsRole)
JOINT_KEYS = ("joint", "pinion", "rack", "from", "to")
JOINED = ("drive", *elements.sections_with(elements.JointRole, elements.TiedRole))  # of others `from` and `to` are angles
# sections whose entries have the name of their joint where they give none
NAMED = ("drive", *elements.named_by_joint())
PARTS = (*elements.SECTIONS, "masses", "drive")


def number_or_none(context: Context, node: FileNode | None, dimension: Dimension) -> float | None:
    """A value in SI; None where it is missing, no number, or depends on the motion."""
    if node is None or node.text is None:
        return None
    try:
        return context.numeric(context.number(node, dimension, "value"), node)
    except LinkwrightError:
        return None


def dimension_or_none(context: Context, node: FileNode | None) -> Dimension | None:
    """Dimension of a value with a unit; None where it cannot be read."""
    if node is None or node.text is None:
        return None
    try:
        return read_quantity(node, QuantityAlgebra(context.units, context.algebra.names)).dimension
    except LinkwrightError:
        return None


def _plain(node: FileNode) -> Any:
    """A value as written: text, lists and mappings of texts."""
    if node.text is not None:
        return node.text.strip()
    if node.items is not None:
        return [_plain(n) for n in node.items]
    return {k: _plain(n) for k, n in (node.entries or {}).items()}

"""Laws that vary: constants, expressions of channels, tables over a channel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwright import files
from linkwright.errors import ModelError, Source, counted, nearest
from linkwright.joints import JOINTS, speed_names, velocity_kinds
from linkwright.model.coordinates import lengths
from linkwright.model.curves.tables import INTERPOLATIONS
from linkwright.model.description import Description, Joint, Table
from linkwright.model.file.reading_context import Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.expressions import Expr, evaluate, free_variables, variable
from linkwright.text.quantities import Quantity, QuantityAlgebra, place, read_quantity
from linkwright.text.unit_meaning import is_bare
from linkwright.text.units import ANGLE, LENGTH, TIME, Dimension, multiply

RATE = (0, 0, -1, 0, 0)


TABLE_KEYS = ("table", "x", "y", "csv", "interpolation")
MOST_BYTES = 5_000_000
CURVES = {"spline": "cubic", "natural": "cubic", "pchip": "monotone", "smooth": "monotone", "lines": "linear", "closed": "periodic"}


@dataclass(frozen=True)
class ChannelDimensions:
    """The channels that expressions and tables may use, with their dimensions."""

    joints: Mapping[str, Joint]
    points: Mapping[str, Sequence[str]]
    lengths: Sequence[str] = field(default=())  # coordinates that no joint has: cylinders
    plane: str | None = None  # the drawing's axes; None in space

    @staticmethod
    def of(d: Description) -> ChannelDimensions:
        points = {b.name: tuple(p.name for p in b.points) for b in d.bodies}
        return ChannelDimensions({j.name: j for j in d.joints}, points, tuple(lengths(d)), d.plane)

    def dimension(self, name: str) -> Dimension | None:
        """None when there is no such channel: `t`, `A`, `A.v`, `C.slide`, `base.vx`, `rocker.angle`, `ram.P.x`, `ram.P.vx`."""
        if name == "t":
            return TIME
        head, *rest = name.split(".")
        rate = rest[-1:] == ["v"]
        rest = rest[:-1] if rate else rest
        found: Dimension | None = None
        if head in self.lengths and not rest:
            found = LENGTH
        elif head in self.joints and not rest:
            kinds = JOINTS[self.joints[head].type].coordinate_kinds
            found = (LENGTH if kinds[0] == "length" else ANGLE) if len(kinds) == 1 else None
        elif head in self.joints and len(rest) == 1 and self._of_several(head, rest[0], rate) is not None:
            return self._of_several(head, rest[0], rate)
        elif head in self.points and rest == ["angle"] and self.plane:
            found = ANGLE
        elif head in self.points and len(rest) == 2 and rest[0] in self.points[head] and not rate:
            if rest[1].removeprefix("v") not in tuple(self.plane or "xyz"):
                return None
            return multiply(LENGTH, RATE) if rest[1].startswith("v") else LENGTH
        return multiply(found, RATE) if found and rate else found

    def _of_several(self, joint: str, part: str, rate: bool) -> Dimension | None:
        """Dimension of `C.slide`, `C.slide.v` or `base.vx`; None if it is no such coordinate."""
        jt = JOINTS[self.joints[joint].type]
        speeds = speed_names(jt)
        if jt.nv < 2 or (part not in speeds and (part not in jt.q_names or part not in jt.v_names)):
            return None
        kind = velocity_kinds(jt)[speeds[part] if part in speeds else jt.v_names.index(part)]
        found = LENGTH if kind == "length" else ANGLE
        return multiply(found, RATE) if rate or part in speeds else found

    def names(self) -> list[str]:
        joints = [n for n, j in self.joints.items() if len(JOINTS[j.type].coordinate_kinds) == 1]
        axes = self.plane or "xyz"
        points = [f"{b}.{p}.{v}{x}" for b, names in self.points.items() for p in names for v in ("", "v") for x in axes]
        parts = [(n, JOINTS[j.type]) for n, j in self.joints.items()]
        several = [f"{n}.{x}" for n, jt in parts for x in (*jt.v_names, *speed_names(jt)) if self._of_several(n, x, False) is not None]
        return ["t", *joints, *(f"{j}.v" for j in joints), *dict.fromkeys(several), *self.lengths, *points]

    def quantity(self, name: str) -> Quantity | None:
        dimension = self.dimension(name)
        if dimension is None and "." in name:
            raise ModelError(f"there is no channel '{name}'.", None, nearest(name, self.names(), "Channels"))
        return None if dimension is None else Quantity(variable(name), dimension)

    def bare(self, name: str) -> Quantity | None:
        found = self.quantity(name)
        return None if found is None else Quantity(found.value)


def varying(context: Context, node: FileNode, dimension: Dimension, channels: ChannelDimensions, what: str, *, motion: bool = False) -> Any:
    """A constant, an expression that may use channels, or `{over: channel, table: [[x, y], ...]}` (or `csv: file`)."""
    if node.entries is not None:
        keys = node.keys(what, ("over", *TABLE_KEYS), ("over",))
        channel = keys["over"].string(f"{what}: over")
        over = channels.dimension(channel)
        if over is None:
            raise keys["over"].error(f"{what}: there is no channel '{channel}'.", nearest(channel, channels.names(), "Channels"))
        return tabulated(context, channel, keys, node, (over, dimension), what, motion=motion)
    units = context.units

    def read(channel: Any) -> Any:
        quantity = read_quantity(node, QuantityAlgebra(units, context.algebra.names, channel))
        return context.literal(node, dimension, place(quantity, dimension, units, node, what))

    try:
        value = read(channels.quantity)
    except ModelError:
        # in an SI file every channel is in SI as well, so -5*ram.P.vx needs no unit for its 5
        if not (units.coherent and not units.degrees):
            raise
        value = _second_reading(read, channels)
    if isinstance(value, Expr):
        rest = evaluate(value, context.env)
        if not isinstance(rest, Expr) and not math.isfinite(rest):
            raise node.error(f"{what}: '{node.text}' is not a finite number.", name=node.text)
        if not isinstance(rest, Expr):
            context.in_proportion(rest, dimension, node, what)
        if not free_variables(value) - set(context.parameters):
            context.numeric(value, node)
    else:
        context.in_proportion(value, dimension, node, what)
    return value


def _second_reading(read: Any, channels: ChannelDimensions) -> Any:
    """With bare channels; if that fails too, the first message is the helpful one."""
    try:
        return read(channels.bare)
    except ModelError:
        return read(channels.quantity)


def _rows(context: Context, keys: dict[str, FileNode], node: FileNode, what: str) -> FileNode:
    """The table as rows [x, y], also when it is given as two lists `x` and `y` or as a CSV file of two columns."""
    ways = ["table" in keys, "x" in keys or "y" in keys, "csv" in keys]
    if sum(ways) != 1 or ("x" in keys) != ("y" in keys):
        raise node.error(f"{what} needs `table: [[x, y], ...]`, the two lists `x: [...]` and `y: [...]`, or `csv: file.csv`.", name=what)
    if "table" in keys:
        return keys["table"]
    if "csv" in keys:
        return _csv_rows(context, keys["csv"], what)
    xs = keys["x"].sequence(f"{what}: x")
    ys = keys["y"].sequence(f"{what}: y", len(xs))
    return FileNode(node.where, items=tuple(FileNode(x.where, items=(x, y)) for x, y in zip(xs, ys, strict=True)))


def _csv_rows(context: Context, node: FileNode, what: str) -> FileNode:
    """Two columns of a CSV file, path relative to the model; bare numbers are in the unit of their header, else in the file's."""
    path = context.beside(node, f"{what}: csv")
    try:
        table = files.read_csv_table(path, MOST_BYTES)
    except files.Unreadable as error:
        raise node.error(
            f"{what}: {files.shown(path)} cannot be read: {error.reason}. The path is relative to the model file.", name=what
        ) from error
    except files.TableError as error:
        raise ModelError(f"{what}: {error.reason}", error.where, name=what) from error
    if table.rows and table.width != 2:
        here = Source(table.path, table.rows[0][0])
        advice = "Remove the others." if table.width > 2 else "Separate them by semicolons, tabs or commas."
        found = counted(table.width, "column")
        raise ModelError(f"{what}: the file has {found}, but two are needed, x and y. {advice}", here, name=what)
    units = [u if u != "-" else "" for u in table.units] or ["", ""]

    def cell(line: int, text: str, unit: str) -> FileNode:
        if not text:
            raise ModelError(f"{what}: a cell of this row is empty. Fill it or remove the row.", Source(table.path, line), name=what)
        return FileNode(Source(table.path, line), text=f"{text} {unit}" if unit and is_bare(text) else text)

    rows = [(line, [cell(line, text, unit) for text, unit in zip(cells, units, strict=True)]) for line, cells in table.rows]
    return FileNode(node.where, items=tuple(FileNode(Source(table.path, line), items=tuple(items)) for line, items in rows))


def tabulated(
    context: Context,
    channel: str,
    keys: dict[str, FileNode],
    node: FileNode,
    dimensions: tuple[Dimension, Dimension],
    what: str,
    *,
    motion: bool,
) -> Table:
    """The table of an entry with its `interpolation`. A motion needs a speed without jumps, a periodic one equal ends."""
    how, y = keys.get("interpolation"), dimensions[1]
    xs, ys = read_table(context, _rows(context, keys, node, what), *dimensions, what)
    chosen = Table.interpolation if how is None else how.string(f"{what}: interpolation")
    if chosen not in INTERPOLATIONS:
        meant = nearest(chosen, INTERPOLATIONS, "Interpolations", CURVES)
        raise (how or node).error(f"{what}: there is no interpolation '{chosen}'.", meant, name=chosen)
    if motion and chosen == "linear":
        raise (how or node).error(
            f"{what}: straight lines have corners, and the speed would jump there. Take `monotone` or `cubic`.", name=what
        )
    if chosen == "periodic" and abs(ys[-1] - ys[0]) > 1e-9 * max(abs(v) for v in (*ys, 1e-300)):
        raise (how or node).error(
            f"{what}: a periodic curve ends as it begins, but its first value is {context.shown(ys[0], y)} and its last "
            f"{context.shown(ys[-1], y)}. Make them equal.",
            name=what,
        )
    return Table(channel, xs, (*ys[:-1], ys[0]) if chosen == "periodic" else ys, chosen)


def read_table(context: Context, node: FileNode, x: Dimension, y: Dimension, what: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Rows [x, y] with increasing x, as plain numbers."""
    rows = [row.sequence(f"{what}, a row", 2) for row in node.sequence(what)]
    if len(rows) < 2:
        raise node.error(f"{what} needs at least two rows [x, y].", name=what)
    xs = [context.numeric(context.number(row[0], x, f"{what}, first column")) for row in rows]
    ys = [context.numeric(context.number(row[1], y, f"{what}, second column")) for row in rows]
    for i in range(1, len(xs)):
        if xs[i] <= xs[i - 1]:
            raise rows[i][0].error(
                f"{what}: the first column must increase, but row {i + 1} ({context.shown(xs[i], x)}) does not exceed row {i} "
                f"({context.shown(xs[i - 1], x)}). "
                "Sort the rows. A jump needs two rows a little apart.",
                name=what,
            )
    return tuple(xs), tuple(ys)

"""Context of the sections of a model file: units, parameters, the drawing.

The context turns nodes into SI values: `number`, `vector`, `point_ref` and friends raise errors
with the node's place, so the sections only say what they expect.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from linkwright.errors import ModelError, Source, UsageError, nearest
from linkwright.model.description import Mat3, PointRef, Vec3
from linkwright.model.file.geometry import matrix, rotation_quaternion, rotation_rpy, rotation_z, vector
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.expressions import FUNCTIONS, Evaluation, Expr, dependency_order, free_variables, variable
from linkwright.text.parser import NOT_NUMBERS, parse
from linkwright.text.quantities import Quantity, QuantityAlgebra, numeric, parameter, place, read_quantity
from linkwright.text.units import ANGLE, LENGTH, MASS, NONE, TIME, Dimension, UnitSystem, describe, display_unit, matches, shown

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
NOW = "t"  # the time, in expressions and channels
RESERVED = (*FUNCTIONS, "pi", NOW, *NOT_NUMBERS)
LONGEST_NAME = 100
PARAMETER_KEYS = ("value", "min", "max")  # the first is required
TURN_KEYS = ("angle", "rpy", "quat", "rotation")  # ways to give axes
POSE_KEYS = ("at", *TURN_KEYS)
LIGHTEST = 1e-15  # kg
# of machines: length in m, mass in kg, time in s, angle in rad, current in A
LARGE = (1e4, 1e8, math.inf, 1e5, 1e6)
SMALL = (1e-6, 1e-9, 1e-3, 1e-3, 1e-6)


@cache
def _largest(dimension: Dimension) -> float:
    """The largest amount of a kind that a machine may have: 1e8 kg, 1e14 N/m, 1e16 kg m^2."""
    if dimension == NONE:
        return math.inf
    powers = zip((float(x) for x in dimension), LARGE, SMALL, strict=True)
    return math.prod((large if x > 0.0 else small) ** x for x, large, small in powers if x)


@dataclass(frozen=True)
class Literal:
    """A number in the text of a file: the variable in its place, its node, its dimension and its value in SI."""

    name: str
    node: FileNode
    dimension: Dimension
    value: float


class Context:
    """Units, parameters and drawing of one model, and the warnings met on the way."""

    def __init__(self, units: UnitSystem, base: Path | None, planar_drawing: bool, planar: bool, in_symbols: bool = False):
        self.units, self.base = units, base
        self.in_symbols = in_symbols  # numbers of the drawing are variables
        self.given: dict[str, FileNode] = {}  # values for them in the call
        self.literals: dict[int, Literal | None] | None = None  # numbers that are variables, by their first character in the text
        self.drawn: dict[str, float] = {}  # numbers of the drawing by name: coordinates of pins (C.x), lengths of links (crank.length)
        self.planar_drawing = planar_drawing  # two components and one rotation in the file
        self.planar = planar  # the mechanism lives in the plane
        self.parameters: dict[str, Any] = {}
        self.bounds: tuple[tuple[str, float | None, float | None], ...] = ()
        self.env: dict[str, float] = {}
        self._values: dict[Expr, float] = {}
        self.evaluation = Evaluation(self.env)  # used when all parameters are in it
        self.algebra = QuantityAlgebra(units, {})
        self.drawing: dict[str, Vec3] = {}
        self.sketch: dict[str, tuple[float, float, float]] = {}
        self.joint_places: set[str] = set()  # points where written-out joints sit
        self.root_where = Source("model")
        self.warnings: list[str] = []
        self.files: list[FileNode] = []  # names of other files, relative to the model's own

    def beside(self, node: FileNode, what: str) -> Path:
        """The path of a file that the model names, relative to the model's own."""
        name = node.string(what)
        if self.base is None:
            raise node.error(f"{what}: a model inside another file cannot name files. Save the run again with Linkwright.", name=what)
        self.files.append(node)
        return self.base / name

    # ------------------------------------------------------------ scalars and vectors

    def number(self, node: FileNode, dimension: Dimension, what: str) -> Any:
        """A float or Expr in SI."""
        quantity = read_quantity(node, self.algebra)
        self._without_unit(quantity, dimension, node, what)
        value = self.literal(node, dimension, place(quantity, dimension, self.units, node, what))
        # an expression that cannot be evaluated is an error here, with its line
        self.in_proportion(self.numeric(value, node), dimension, node, what)
        return value

    def shown(self, value: Any, dimension: Dimension) -> str:
        """An SI value for people, in the file's units."""
        return shown(self.numeric(value), dimension, self.units, 6)

    def in_proportion(self, value: float, dimension: Dimension, node: FileNode, what: str) -> None:
        """Refuse numbers that products could not hold; warn of those that no machine has."""
        longest = 1e12  # m: beside it nothing of a machine has a digit left
        largest = 1e30  # SI: nothing of a mechanism is larger, and products of several are still numbers
        smallest = 1e-100  # SI: beyond zero; squares of smaller lengths and speeds are no numbers
        if abs(value) > (longest if dimension == LENGTH else largest) or (0.0 < abs(value) < smallest and dimension != MASS):
            raise node.error(f"{what}: {self.shown(value, dimension)} is out of any proportion. Check its digits and its unit.", name=what)
        size = "large" if abs(value) > _largest(dimension) else "small" if 0.0 < abs(value) < LIGHTEST and dimension == MASS else ""
        if size:
            said = f"{node.where}: {what}: {self.shown(value, dimension)} is implausibly {size}. Check its digits and its unit."
            self.warnings += [] if said in self.warnings else [said]

    def _without_unit(self, quantity: Quantity, dimension: Dimension, node: FileNode, what: str) -> None:
        """Refuse a value whose dimension is wrong only because a parameter in it has no unit."""
        if quantity.dimension == NONE or matches(quantity.dimension, dimension):
            return
        names = dict(self.algebra.names or {})
        for name in sorted(n for n in names_in(node, names) if names[n].dimension == NONE and n in self.env):
            for lacking in (LENGTH, MASS, TIME):
                if self._dimension_with(node, {**names, name: parameter(name, lacking)}) == dimension:
                    unit = self.units.base(lacking, display_unit((), lacking)[0])[0]
                    raise node.error(
                        f"{what} must be {describe(dimension)}, but '{node.text}' is {describe(quantity.dimension)}, because the parameter "
                        f"{name} has no unit. Write `{name}: {self.env[name]:g} {unit}` under `parameters:`.",
                        name=node.text,
                    )

    def _dimension_with(self, node: FileNode, names: Mapping[str, Quantity]) -> Dimension | None:
        try:
            return read_quantity(node, QuantityAlgebra(self.units, names)).dimension
        except ModelError:
            return None

    def literal(self, node: FileNode, dimension: Dimension, value: Any) -> Any:
        """The value of a number, or a variable if the number is one of those that an editor of the text asks for."""
        if self.literals is None or node.span is None or node.si or node.scope or isinstance(value, Expr):
            return value
        if node.span.first not in self.literals:
            return value
        name = f"#{node.span.first}"
        self.literals[node.span.first] = Literal(name, node, dimension, float(value))
        self.env[name] = self.parameters[name] = float(value)
        return variable(name)

    def drawn_number(self, name: str, value: Any) -> Any:
        """A number of the drawing that may vary under a name of its own: as in the call or as written, in symbols a variable.
        One that follows from parameters is what it is."""
        if isinstance(value, Expr) and free_variables(value) - self.drawn.keys():
            return value
        value = self.number(self.given[name], LENGTH, f"'{name}'") if name in self.given else value
        if not self.in_symbols:
            self.drawn[name] = value
            return value
        self.drawn[name] = self.env[name] = self.parameters[name] = here = self.numeric(value)
        # a length that follows from pins: these move it, and its own change comes on top
        return value + (variable(name) - here) if isinstance(value, Expr) else variable(name)

    def numeric(self, value: Any, node: FileNode | None = None) -> float:
        """The float that a number or an expression has with the parameters' present values."""
        if value.__class__ is not Expr:
            return float(value)
        if value not in self._values:
            self._values[value] = numeric(value, self.evaluation, node)
        return self._values[value]

    def numerics(self, values: Sequence[Any], node: FileNode | None = None) -> tuple[float, float, float]:
        x, y, z = values
        return (self.numeric(x, node), self.numeric(y, node), self.numeric(z, node))

    def vector(self, node: FileNode, dimension: Dimension, what: str, *, beside: bool = False) -> Vec3:
        """Three components; in a plane two, the third is zero, unless a place `beside` the plane is allowed."""
        items = node.sequence(what)
        allowed = (2, 3) if self.planar_drawing and (beside or not self.planar) else (2,) if self.planar else (3,)
        if len(items) not in allowed:
            wanted = " or ".join(str(n) for n in allowed)
            hint = "" if self.planar_drawing or len(items) != 2 else " A planar model has `plane: xy`."
            raise node.error(f"{what} must have {wanted} components, not {len(items)}.{node.decimal_comma() or hint}", name=what)
        values = [self.number(item, dimension, what) for item in items]
        return vector([*values, 0.0] if len(values) == 2 else values)

    def direction(self, node: FileNode, what: str) -> Vec3:
        """A vector of pure numbers (or lengths) that is not zero."""
        items = node.sequence(what)
        quantities = [read_quantity(item, self.algebra) for item in items]
        if any(q.dimension not in (NONE, LENGTH) for q in quantities):
            raise node.error(f"{what} is a direction: give pure numbers such as [1, 0].", name=what)
        if len(items) != 3 and not (len(items) == 2 and self.planar_drawing):
            wanted = "2" if self.planar_drawing else "3"
            raise node.error(f"{what} must have {wanted} components, not {len(items)}.{node.decimal_comma()}", name=what)
        values = vector([q.value for q in quantities] + [0.0] * (3 - len(items)))
        if not any(self.numerics(values, node)):
            raise node.error(f"{what} is zero, which is not a direction. Give one such as [1, 0].", name=what)
        if self.planar and self.numeric(values[2], node) != 0.0 and any(self.numeric(v, node) for v in values[:2]):
            raise node.error(f"{what} leaves the plane. Give two components, or take out `plane:`.{node.decimal_comma()}", name=what)
        return values

    def rotation(self, entries: dict[str, FileNode], what: str) -> Mat3 | None:
        """Axes given as `angle` (about z), `rpy`, `quat` (wxyz) or `rotation` (a matrix); None if none is."""
        given = [k for k in TURN_KEYS if k in entries]
        if not given:
            return None
        if len(given) > 1:
            raise entries[given[1]].error(f"{what} gives its axes twice, by {given[0]} and {given[1]}. Keep one.", name=what)
        node = entries[given[0]]
        if given[0] == "angle":
            return rotation_z(self.number(node, ANGLE, f"{what}: angle"))
        if given[0] == "rpy":
            return rotation_rpy(*(self.number(n, ANGLE, f"{what}: rpy") for n in node.sequence(f"{what}: rpy", 3)))
        if given[0] == "quat":
            quaternion = [self.number(n, NONE, f"{what}: quat") for n in node.sequence(f"{what}: quat", 4)]
            if not any(self.numeric(c, node) for c in quaternion):
                raise node.error(f"{what}: quat is zero, which is not a rotation. Without one write [1, 0, 0, 0].", name=what)
            return rotation_quaternion(*quaternion)
        return self._matrix(node, f"{what}: rotation")

    def _matrix(self, node: FileNode, what: str) -> Mat3:
        rows = [[self.number(n, NONE, what) for n in row.sequence(what, 3)] for row in node.sequence(what, 3)]
        m = [[self.numeric(v, node) for v in row] for row in rows]
        for i in range(3):
            for j in range(3):
                # a matrix that somebody typed with six digits is still a rotation
                if abs(sum(m[k][i] * m[k][j] for k in range(3)) - (i == j)) > 1e-5:
                    raise node.error(
                        f"{what} is not a rotation: its columns must be unit vectors at right angles. Use rpy or quat instead.", name=what
                    )
        if (
            m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
            < 0
        ):
            raise node.error(f"{what} is a left-handed frame. Exchange two columns or use rpy.", name=what)
        return matrix(rows)

    # ------------------------------------------------------------ names

    def check_name(self, name: str, node: FileNode, kind: str, *, channels: bool = False) -> str:
        """A name; raise ModelError if it is not usable. channels: those of the thing begin with it, so it cannot be that of the time."""
        if channels and name == NOW:
            raise node.error(f"a {kind} cannot be called '{NOW}', which is the time. Rename it.", name=name)
        if not name:
            raise node.error(f"a {kind} has an empty name. Give it one.")
        if "." in name:
            raise node.error(
                f"the {kind} name '{name}' holds a dot, which separates body and point (crank.B). Use - or _ instead.", name=name
            )
        if len(name) > LONGEST_NAME or any(c.isspace() or not c.isprintable() for c in name):
            raise node.error(
                f"the {kind} name '{name[:40]}' is not usable: names are printable, without spaces, and at most {LONGEST_NAME} characters."
            )
        return name

    def point_ref(self, node: FileNode, points: Mapping[str, Sequence[str]], what: str) -> PointRef:
        """`body.point`, both of which must exist."""
        text = node.string(what)
        body, dot, point = text.partition(".")
        if not dot:
            raise node.error(f"{what}: '{text}' must be body.point, e.g. crank.B. Bodies: {', '.join(list(points)[:12])}.", name=text)
        if body not in points:
            raise node.error(f"{what}: there is no body '{body}'.", nearest(body, points, "Bodies"))
        if point not in points[body]:
            hint = f" It is in the drawing: add it to `points` of {body}." if point in self.drawing else ""
            raise node.error(
                f"{what}: body '{body}' has no point '{point}'. {nearest(point, points[body], 'Its points')}{hint}",
                name=point,
                allowed=points[body],
            )
        return (body, point)


def read_parameters(context: Context, node: FileNode | None, overrides: dict[str, FileNode]) -> None:
    """Fill in the parameters (they may refer to each other); `overrides` win."""
    written = node.mapping("parameters") if node else {}
    several = [(name, entry) for name, entry in written.items() if entry.entries]
    ends = {name: entry.keys(f"parameter '{name}'", PARAMETER_KEYS, PARAMETER_KEYS[:1]) for name, entry in several}
    entries = {name: ends[name]["value"] if name in ends else entry for name, entry in written.items()}
    for name in overrides:
        if name not in entries:
            raise UsageError(
                f"the model has no parameter '{name}'. {nearest(name, entries, 'Parameters')} Other keys: gravity, cuts, start, space, "
                "name.",
                name=name,
                allowed=entries,
            )
    for name, entry in entries.items():
        if not IDENTIFIER.match(name):
            raise entry.error(
                f"the parameter name '{name[:40]}' is not usable in expressions: use letters, digits and _, beginning with a letter."
            )
        if name in RESERVED:
            raise entry.error(f"'{name}' cannot be a parameter: the name is reserved in expressions. Rename it.", name=name)
    given = {**entries, **overrides}
    needs = {name: names_in(entry, given) for name, entry in given.items()}
    try:
        order = dependency_order(needs)
    except ModelError as error:
        raise ModelError(error.message, node.where if node else None) from error
    values: dict[str, Any] = {}
    known: dict[str, Quantity] = {}
    for name in order:
        quantity = read_quantity(given[name], QuantityAlgebra(context.units, known if needs[name] else None))
        if name in overrides and quantity.dimension == NONE:
            # a bare number in a call is SI, also for a parameter that the file gives with a unit
            quantity = Quantity(quantity.value, _dimension_in_file(context, entries[name], known))
        elif name in overrides:
            quantity = _as_in_file(context, quantity, given[name], _dimension_in_file(context, entries[name], known), name)
        values[name], known[name] = quantity.value, parameter(name, quantity.dimension, quantity.count)
        context.env[name] = numeric(quantity.value, context.env, given[name])
    context.parameters = {name: values[name] for name in entries}
    context.algebra = QuantityAlgebra(context.units, known)
    context.bounds = tuple((name, *_bounds(context, name, keys, known[name].dimension, name in overrides)) for name, keys in ends.items())


def _as_in_file(context: Context, quantity: Quantity, node: FileNode, dimension: Dimension, name: str) -> Quantity:
    """A value with a unit in place of the file's, which says what it is: 3000 1/min for 300 rpm are revolutions."""
    if dimension in (NONE, quantity.dimension) or not matches(quantity.dimension, dimension):
        return quantity  # a unit that fits nowhere is an error of the places that need the parameter
    return Quantity(place(quantity, dimension, context.units, node, f"parameter '{name}'"), dimension)


def _bounds(
    context: Context, name: str, keys: Mapping[str, FileNode], dimension: Dimension, changed: bool
) -> tuple[float | None, float | None]:
    """`min:` and `max:` of a parameter, which hold for its value in the file and for every other one."""
    found: dict[str, float] = {}
    for end in ("min", "max"):
        if end in keys:
            given = read_quantity(keys[end], context.algebra)
            if given.dimension == NONE and changed and _dimension_in_file(context, keys["value"], {}) == NONE:
                # bounds without a unit, as the value in the file: bare numbers of the place where it is used
                given = Quantity(given.value * (context.units.bare_factor(dimension) or 1.0), dimension)
            if not matches(given.dimension, dimension):
                raise keys[end].error(
                    f"{end} of parameter '{name}' must be {describe(dimension)} as its value, but is {describe(given.dimension)}.",
                    name=name,
                )
            found[end] = numeric(given.value, context.env, keys[end])
    low, high, value = found.get("min"), found.get("max"), context.env[name]
    if low is not None and high is not None and not low < high:
        raise keys["min"].error(f"parameter '{name}': min must be below max.", name=name)
    if (low is not None and value < low) or (high is not None and value > high):
        ends = " .. ".join("" if x is None else context.shown(x, dimension) for x in (low, high))
        said = f"parameter '{name}' = {context.shown(value, dimension)} is outside its bounds, {ends} (min, max)"
        where = keys["min" if "min" in keys else "max"].where
        raise UsageError(f"{said} in {where}.", name=name) if changed else keys["value"].error(f"{said}.", name=name)
    return low, high


def read_abbreviations(context: Context, node: FileNode | None) -> None:
    """`let`: names for expressions, put in wherever they are used; they are no parameters."""
    entries = node.mapping("let") if node else {}
    known = dict(context.algebra.names or {})
    for name, entry in entries.items():
        if not IDENTIFIER.match(name) or name in RESERVED or name in known:
            raise entry.error(f"let: '{name[:40]}' is not a usable name, or a parameter has it already. Use letters, digits and _.")
    try:
        order = dependency_order({name: names_in(entry, entries) for name, entry in entries.items()})
    except ModelError as error:
        raise ModelError(error.message.replace("parameters", "names under `let`"), error.where or (node.where if node else None)) from error
    for name in order:
        known[name] = read_quantity(entries[name], QuantityAlgebra(context.units, known))
    context.algebra = QuantityAlgebra(context.units, known)


def _dimension_in_file(context: Context, node: FileNode, known: dict[str, Quantity]) -> Dimension:
    try:
        return read_quantity(node, QuantityAlgebra(context.units, known)).dimension
    except ModelError:  # it refers to parameters that the override made unnecessary
        return NONE


class _NameCollector:
    """An algebra that only notes which names an expression uses: those of the model, or all (None)."""

    def __init__(self, names: Container[str] | None):
        self.names, self.found = names, set[str]()

    def number(self, value: float, unit: str) -> float:
        return 1.0

    def is_name(self, name: str) -> bool:
        return self.names is not None and name in self.names

    def name(self, name: str) -> float:
        if self.names is None or name in self.names:
            self.found.add(name)
        return 1.0

    def combine(self, op: str, a: Any, b: Any) -> float:
        return 1.0

    def negative(self, a: Any) -> float:
        return 1.0

    def call(self, function: str, args: list[Any]) -> float:
        return 1.0


def names_in(node: FileNode, names: Iterable[str]) -> frozenset[str]:
    """Those of some names that an expression uses."""
    try:
        return expression_names(node.string("a parameter"), frozenset(names))
    except ModelError as error:
        raise ModelError(error.message, node.where) from error


@lru_cache(4096)
def expression_names(text: str, names: frozenset[str] | None = None) -> frozenset[str]:
    """Return the names in an expression: those given, or all that are neither units nor functions."""
    collector = _NameCollector(names)
    parse(text, collector)
    return frozenset(collector.found)


def symbolic(values: Sequence[Any]) -> bool:
    """Some value is still an expression."""
    return any(isinstance(v, Expr) for v in values)

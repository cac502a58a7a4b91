"""Description of a mechanism: a graph of bodies and joints with everything attached to it, as frozen data.

A `Description` is complete and normalized: names are resolved, units are SI and radians, drawn shapes have become coordinates in the
bodies' own frames. It holds no mathematics. A number may still be an `Expr` of the model's parameters; `numbers()` puts values in (floats,
complex numbers or traced symbols) and returns a description of plain scalars, which is what topology and everything after it read.

Planar models (`plane` is set) live in the x-y plane of these coordinates whatever the plane is
called; `plane` only names the two axes for people. `ground` is the first body.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from linkwright import elements
from linkwright.elements import (
    Belt,
    Cam,
    Clearance,
    CoilSpring,
    Contact,
    Coupling,
    Cylinder,
    Damper,
    Friction,
    GasSpring,
    Gear,
    Load,
    Rod,
    Rope,
    Stop,
    Surface,
    TorsionSpring,
)
from linkwright.elements import CamContact as CamContact
from linkwright.errors import ModelError, Source, nearest
from linkwright.model.report_block import ReportBlock
from linkwright.numerics.memory_and_threads import Store, essentials
from linkwright.properties import cached_property
from linkwright.text.expressions import Evaluation, Expr, evaluate_parameters, free_variables

# ---------------------------------------------------------------- values in the place of expressions, in any part of a description

ZERO3: tuple[Any, Any, Any] = (0.0, 0.0, 0.0)
EYE3: tuple[tuple[Any, Any, Any], tuple[Any, Any, Any], tuple[Any, Any, Any]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NO_INERTIA: tuple[tuple[Any, Any, Any], tuple[Any, Any, Any], tuple[Any, Any, Any]] = (ZERO3, ZERO3, ZERO3)
NO_INERTIA_SHARE = 1e-10  # an inertia this small against the body's largest counts as none


@cache
def compared(kind: type) -> tuple[str, ...]:
    """Names of the fields of a dataclass that may hold numbers; none for other classes."""
    if not is_dataclass(kind) or kind is Source:
        return ()
    return tuple(f.name for f in fields(kind) if f.compare and f.name not in _HOLD_NONE.get(kind.__name__, ("name", "between")))


@cache
def _every_field(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


_PLAIN = frozenset((float, str, int, bool, type(None)))  # types that hold no expression
_CONSTANT = frozenset(map(id, (EYE3, ZERO3, NO_INERTIA)))  # values that hold none
_HOLD_NONE = {  # fields of classes
    "Body": ("name", "start", "outline", "visuals", "chain"),
    "Description": ("name", "units", "drawing", "cuts"),
}


def note_variables(value: Any, found: set[str]) -> None:
    """Add the names that expressions in a part of a description depend on."""
    if isinstance(value, Expr):
        found |= free_variables(value)
    elif isinstance(value, tuple):
        for x in value:
            note_variables(x, found)
    else:
        for name in compared(type(value)):
            note_variables(getattr(value, name), found)


def substitute(value: Any, evaluated: Evaluation) -> Any:
    """The value with expressions evaluated; what holds none is the same object as before."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is Expr:
        return evaluated(value)
    if kind is tuple:
        if id(value) in _CONSTANT:
            return value
        parts = [x if type(x) in _PLAIN else substitute(x, evaluated) for x in value]
        for new, old in zip(parts, value, strict=True):
            if new is not old:
                return tuple(parts)
        return value
    changed = {}
    for name in compared(kind):
        old = getattr(value, name)
        if type(old) is not float and type(old) is not str and old:
            new = substitute(old, evaluated)
            if new is not old:
                changed[name] = new
    if not changed:
        return value
    new = object.__new__(kind)  # as `dataclasses.replace`, which sets every field of frozen data one by one
    vars(new).update({f: getattr(value, f) for f in _every_field(kind)}, **changed)
    return new


Scalar = Any  # float | Expr; after numbers(): float, complex or traced symbol
Vec3 = tuple[Scalar, Scalar, Scalar]
Mat3 = tuple[Vec3, Vec3, Vec3]
PointRef = tuple[str, str]  # (body, point)

GROUND = "ground"


def _place() -> Any:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Placement:
    """Placement of a frame in another: origin `at`, axes the columns of `rotation`."""

    at: Vec3 = ZERO3
    rotation: Mat3 = EYE3


@dataclass(frozen=True)
class Table:
    """A law given by points, over a channel: `t`, a joint (`A`, `A.v`) or a point (`ram.P.x`)."""

    channel: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    interpolation: str = "monotone"  # see `curves.tables`


Varying = Any  # Scalar, Table, or an Expr whose variables are channels (`t`, `A`, `A.v`, `ram.P.x`)


@dataclass(frozen=True)
class Point:
    """A named point of a body, in the body's frame; `rotation` where the point carries axes."""

    name: str
    at: Vec3
    rotation: Mat3 = EYE3


@dataclass(frozen=True)
class Visual:
    """A shape that pictures show of a body: a mesh file, or a box, cylinder, sphere or capsule. It has no mass and touches nothing.

    `size`: scales of a mesh, edges of a box, (radius, length along z, 0) of a cylinder or capsule, (radius, 0, 0) of a sphere.
    """

    shape: str  # "mesh", "box", "cylinder", "sphere", "capsule"
    size: Vec3 = (1.0, 1.0, 1.0)
    placement: Placement = Placement()  # in the body's frame
    file: str = ""  # of a mesh, relative to the model file
    color: str = ""  # "#rrggbb"; empty: that of the body


@dataclass(frozen=True)
class Body:
    """A rigid body. `mass` None means not given; `com` in the body frame, `inertia` about the com."""

    name: str
    points: tuple[Point, ...] = ()
    mass: Scalar | None = None
    com: Vec3 = ZERO3
    inertia: Mat3 = NO_INERTIA
    start: Placement = Placement()  # pose in the drawing or guess, always plain floats
    outline: tuple[tuple[str, ...], ...] = ()  # polylines and polygons (closed: first == last) of point names, for pictures
    where: Source | None = _place()
    visuals: tuple[Visual, ...] = ()
    chain: str = ""  # of a link inside a chain of joints: the name of the chain. It has no mass and is not shown

    def point(self, name: str) -> Point:
        for p in self.points:
            if p.name == name:
                return p
        raise ModelError(
            f"body '{self.name}' has no point '{name}'.", self.where, nearest(name, [p.name for p in self.points], "Its points")
        )

    def full_inertia(self, planar: bool) -> bool:
        """True if mass and moments of inertia along its own axes are clearly positive. The rank of others needs a decomposition."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.inertia
        if self.mass is None or any(type(x) is not float for x in (self.mass, xx, xy, xz, yy, yz, zz)):
            return False
        least, largest = (zz, zz) if planar else (min(xx, yy, zz), max(xx, yy, zz))
        return self.mass > 0.0 and least > 2.0 * NO_INERTIA_SHARE * largest and (planar or xy == xz == yz == 0.0)


@dataclass(frozen=True)
class Joint:
    """A joint: frame F on the `first` body, frame M on the `second`. `type` is a key of `JOINTS`.

    Coordinates and reactions always mean the second body relative to the first.
    """

    name: str
    type: str
    first: str
    second: str
    frame_first: Placement = Placement()  # F in the first body
    frame_second: Placement = Placement()  # M in the second body
    options: tuple[tuple[str, Scalar], ...] = ()  # what the joint type takes, e.g. (("pitch", 0.005),)
    pin: str = ""  # the drawn pin it came from
    where: Source | None = _place()
    armature: Scalar = 0.0  # inertia that moves with each velocity of the joint (kg m^2, kg where it slides): rotors seen through gears


@dataclass(frozen=True)
class Move:
    """One piece of a motion: go `to` by a `law` within a span of time, or of the driving joint's coordinate; dwell if `to` is None."""

    span: Scalar
    to: Scalar | None = None
    law: str = "cycloidal"


@dataclass(frozen=True)
class Drive:
    """A drive of a joint or cylinder. `kind`: speed, position, moves, torque, dc_motor or undriven (named, no law).

    `value` is the speed, position or effort, of a motor the voltage; `motor` the data of its name plate.
    """

    joint: str
    kind: str
    value: Varying = 0.0
    moves: tuple[Move, ...] = ()
    motor: tuple[tuple[str, Scalar], ...] = ()
    where: Source | None = _place()
    gear_ratio: Scalar = 1.0  # effort at the joint over `value` of a torque
    limits: tuple[Scalar | None, Scalar | None] = (None, None)  # of the effort at the joint


if TYPE_CHECKING:  # what type checkers and editors see: a typed line a section

    @dataclass(frozen=True, kw_only=True)
    class ElementSections:
        """Elements of a description by section."""

        rods: tuple[Rod, ...] = ()
        ropes: tuple[Rope, ...] = ()
        couplings: tuple[Coupling | Cam, ...] = ()
        gears: tuple[Gear, ...] = ()
        belts: tuple[Belt, ...] = ()
        springs: tuple[TorsionSpring | CoilSpring | GasSpring, ...] = ()
        dampers: tuple[Damper, ...] = ()
        cylinders: tuple[Cylinder, ...] = ()
        frictions: tuple[Friction, ...] = ()
        stops: tuple[Stop, ...] = ()
        loads: tuple[Load, ...] = ()
        surfaces: tuple[Surface, ...] = ()
        contacts: tuple[Contact, ...] = ()
        clearances: tuple[Clearance, ...] = ()
else:  # the same fields, from the registry
    _sections = [(section, tuple[Any, ...], field(default=())) for section in elements.HELD]
    ElementSections = make_dataclass("ElementSections", _sections, frozen=True, kw_only=True)


UNCHANGED = "as_read"  # mark of a description that is as its file has it; a copy with other values does not have it
AS_READ: Store[str, Description | None] = Store()  # of a document: the mechanism with the numbers that the file has


@dataclass(frozen=True)
class Description(ElementSections):
    """A mechanism as the user described it."""

    __getstate__ = essentials

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    plane: str | None = None  # "xy", "xz", "yz": names of the drawing's axes; None in space
    units: tuple[str, ...] = ()  # of bare numbers in the file; results are shown in them
    gravity: Vec3 = ZERO3
    parameters: tuple[tuple[str, Scalar], ...] = ()
    bounds: tuple[tuple[str, float | None, float | None], ...] = ()  # of parameters: name, min, max
    drives: tuple[Drive, ...] = ()
    start: tuple[tuple[str, Scalar], ...] = ()  # channel ("A", "A.v") -> value
    cuts: tuple[str, ...] | None = None
    drawing: tuple[tuple[str, Vec3], ...] = ()  # the sketch, plain floats
    plays: tuple[Clearance, ...] = ()  # clearances of joints that are ideal here, see `ideal`
    about: str = ""  # one line for people
    report: ReportBlock = field(default=ReportBlock(), compare=False)  # title block and curves of its report
    start_places: tuple[tuple[str, Source], ...] = field(default=(), compare=False, repr=False)  # line of each of `start`
    warnings: tuple[str, ...] = field(default=(), compare=False)
    document: Any = field(default=None, compare=False, repr=False)  # what it was read from, for with_()
    # where it was read in symbols: numbers of the drawing by name, poses of bodies in the drawing
    drawn: tuple[tuple[str, float], ...] = field(default=(), compare=False, repr=False)
    poses: tuple[tuple[str, Placement], ...] = field(default=(), compare=False, repr=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take in a pickle, also of an earlier version: it lacks sections that came later, and its cams are couplings."""
        cams = tuple(Cam(**vars(c)) if type(c) is Coupling and c.cam is not None else c for c in state.get("couplings", ()))
        vars(self).update({**dict.fromkeys(elements.HELD, ()), **state, "couplings": cams})

    def leads(self) -> bool:
        """True if it is as its file has it: designs with other values are compared with it from then on."""
        if UNCHANGED not in vars(self):
            return False
        AS_READ.of(self.document).setdefault(UNCHANGED, self)
        return True

    def body(self, name: str) -> Body:
        return self._named("bodies", name, "body")

    def joint(self, name: str) -> Joint:
        return self._named("joints", name, "joint")

    def _named(self, section: str, name: str, kind: str) -> Any:
        if name not in self._by_name[section]:
            raise ModelError(
                f"there is no {kind} '{name}'.", None, nearest(name, [x.name for x in vars(self)[section]], section.capitalize())
            )
        return self._by_name[section][name]

    @cached_property
    def _by_name(self) -> dict[str, dict[str, Any]]:
        """Bodies and joints, the first of each name."""
        every = {"bodies": self.bodies, "joints": self.joints}
        return {section: {thing.name: thing for thing in reversed(things)} for section, things in every.items()}

    @property
    def full_inertias(self) -> bool:
        """True if every body with a mass has a full inertia."""
        return all(b.mass is None or b.full_inertia(self.planar) for b in self.bodies[1:])

    def need_no_twins(self) -> None:
        """Raise ModelError for two joints of one type between the same bodies at the same place."""
        seen: dict[tuple[object, ...], Joint] = {}
        pairs = Counter((joint.first, joint.second) for joint in self.joints)
        for joint in self.joints:
            if pairs[joint.first, joint.second] == 1:
                continue
            key = (joint.type, joint.first, joint.second, joint.frame_first, joint.frame_second)
            if key in seen:
                raise ModelError(
                    f"joints '{seen[key].name}' and '{joint.name}' join the same bodies '{joint.first}' and '{joint.second}' "
                    f"in the same way at the same place. Remove one of them.",
                    joint.where,
                    name=seen[key].name,
                )
            seen[key] = joint

    def point(self, ref: PointRef) -> Point:
        return self.body(ref[0]).point(ref[1])

    @property
    def acting(self) -> tuple[Any, ...]:
        """Return everything that pushes bodies apart from drives and weight, in the order of its sections."""
        return tuple(x for section in elements.ACTING for x in getattr(self, section))

    @property
    def connected(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs of bodies that elements connect without a joint: rods, cylinders, bushings."""
        return tuple(pair for x in elements.every(self) if x.joins for pair in x.body_pairs)

    @property
    def touching(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs of bodies that may touch. A body that only touches others floats by itself."""
        on = {x.name: x.body for x in self.surfaces}
        return tuple((on[a], on[b]) for x in self.contacts for a, b in x.pairs)

    @property
    def ties(self) -> tuple[Any, ...]:
        """Return the constraints between joints: couplings, cams, gears, belts."""
        return tuple(x for x in elements.constraints(self) if elements.acts(x) != elements.LINE)

    @property
    def cams(self) -> tuple[Coupling, ...]:
        """Return the couplings whose disc and follower touch."""
        return tuple(x for x in self.couplings if x.cam is not None)

    @property
    def rigid_stops(self) -> tuple[Stop, ...]:
        """Return the stops without a stiffness, no forces but ends of the motion, and those that taut ropes make."""
        taut = (Stop(x.name, x.name, None, *x.travel_ends, where=x.where, restitution=x.restitution) for x in self.pulling)
        return (*(x for x in self.stops if x.rigid), *taut)

    @property
    def pulling(self) -> tuple[Any, ...]:
        """Return the elements that pull at the end of their own travel and do nothing before."""
        return tuple(x for x in elements.every(self) if x.pulls)

    @property
    def touch_laws(self) -> tuple[Any, ...]:
        """Return the laws of surfaces that may touch."""
        return (*self.contacts, *self.clearances)

    @cached_property
    def ideal(self) -> Description:
        """Return the mechanism with ideal joints in the place of those with clearance, which are its `plays` then."""
        loose = {x.joint: x for x in self.clearances}
        if not loose:
            return self
        types = {name: "prismatic" if x.slides else "revolute" for name, x in loose.items()}
        joints = tuple(replace(j, type=types[j.name]) if j.name in types else j for j in self.joints)
        start = tuple(x for x in self.start if x[0].partition(".")[0] not in types)
        return replace(self, joints=joints, start=start, clearances=(), plays=self.clearances)

    @property
    def with_clearances(self) -> Description:
        """Return the mechanism with clearance where ideal joints are in its place, as its file has it."""
        loose = {x.joint for x in self.plays}
        joints = tuple(replace(j, type="planar") if j.name in loose else j for j in self.joints)
        return replace(self, joints=joints, clearances=(*self.clearances, *self.plays), plays=()) if loose else self

    @property
    def one_sided(self) -> bool:
        """Return True if a run has what only pushes: rigid stops, ropes, rows of constraints with a travel, surfaces that touch."""
        return bool(self.rigid_stops or self.touch_laws) or any(x.row_travel is not None for x in elements.constraints(self))

    @property
    def rubbing(self) -> tuple[Friction, ...]:
        """Return the friction that grows with the load of its joint."""
        return tuple(x for x in self.frictions if x.mu)

    @property
    def rubs(self) -> bool:
        """Return True if some friction grows with a load, or may stick."""
        return bool(self.rubbing) or any(not x.smooth and x.coulomb for x in self.frictions)

    @property
    def planar(self) -> bool:
        return self.plane is not None

    @property
    def moving(self) -> tuple[Body, ...]:
        """Return the moving bodies of the model file: all but ground and the links inside chains of joints."""
        return tuple(b for b in self.bodies[1:] if not b.chain)

    def numbers(self, values: Mapping[str, Any] | None = None) -> Description:
        """Return this description with every `Expr` evaluated. `values` override parameters, over any scalar.

        Variables that are not parameters (channels in loads) stay expressions. `values` may also name numbers of the drawing,
        coordinates of pins (C.x) and lengths of links (crank.length): see `drawn_numbers`.
        """
        return self._as_drawn if not values else self._with(values)

    @cached_property
    def _as_drawn(self) -> Description:
        return self._with({})

    def _with(self, values: Mapping[str, Any]) -> Description:
        from linkwright.model.numbers import without_round_off  # here, because it is built on the classes above

        if any("." in name for name in values) and self.in_symbols is not self:
            return self.in_symbols._with(values)
        evaluated = self._evaluation if not values else Evaluation(evaluate_parameters(dict(self.parameters), values))
        found = substitute(self, evaluated)
        if self.poses:
            poses = {name: substitute(x, evaluated) for name, x in self.poses}
            named = tuple((name, x) for name, x in found.parameters if "." not in name)
            bodies = tuple(replace(b, start=poses[b.name]) for b in found.bodies)
            found = replace(found, bodies=bodies, parameters=named, drawn=(), poses=())
        return without_round_off(found)

    @cached_property
    def in_symbols(self) -> Description:
        """Return this description with the numbers of its drawing as parameters, or itself if it was not read from a file or dict."""
        read = getattr(self.document, "in_symbols", None)
        if self.poses or read is None:
            return self
        found = read().ideal if self.plays else read()
        return replace(found, drives=self.drives, start=self.start, cuts=self.cuts, name=self.name)

    @cached_property
    def drawn_numbers(self) -> dict[str, float]:
        """Return the numbers of the drawing that may vary, by name: coordinates of pins that place something, lengths of links."""
        found = self.in_symbols
        used: set[str] = set()
        note_variables(tuple(getattr(found, name) for name in compared(Description) if name != "parameters"), used)
        return {name: x for name, x in found.drawn if name in used}

    @cached_property
    def _evaluation(self) -> Evaluation:
        """Values of expressions with the parameters as they are; the reader of a file puts those in that it has found."""
        return Evaluation(evaluate_parameters(dict(self.parameters), {}))

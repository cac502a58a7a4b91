"""The contract of an element: its numbers, where it acts, its law, and the facts about it that other rooms ask for.

An element is a frozen dataclass that names `ModelElement` as its base. Every field says by `number`, `ends`, `in_joint`, `on_point` what it
is; reader, writer, renaming, copies, parameters, code by structure, the report, the schema and the grammar page follow from that.

    where it acts    `ends()`      a line between two points      travel: its length        effort: force that drives the ends apart
                     `in_joint()`  velocities of a joint          travel: coordinates       effort: torque, or force where it slides
                     `frames()`    two points with their axes     travel: [place; turn]     efforts: on the second body, axes of the first
                     `on_point()`  a point of a body              -                         force and moment from outside

    law(at)          effort at travel `at.x` and rate `at.v`, positive where it makes the travel grow; over any scalar
                     a comparison by `scalars.where` is a corner of the law: the compiler finds it, and a step of a run ends there
    stored(at)       energy in it, 0 where it stores none: the law without what is lost is minus its derivative
    lost(at)         power that it turns into heat, for elements that lose some

A law sees its own travel alone, so no file knows poses, trees, cut joints or code. Adding an element: one file, one line in `ELEMENTS`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol

from linkwright.errors import Source

Scalar = Any  # float | Expr; after numbers(): float, complex or traced symbol
PointRef = tuple[str, str]  # (body, point)
ROLE = "role"  # key of a field's metadata
# where an element acts; an idle one pushes nothing as it is: a constraint, a stop without a stiffness
LINE, JOINT, FRAMES, POINT, IDLE = "line", "joint", "frames", "point", ""


# -------------------------------------------------------------------- roles of fields


@dataclass(frozen=True)
class NumberRole:
    """A number, or one for each axis, of a dimension: a key of `text.units.KINDS`, or relative to where the element acts:
    `effort`, `travel`, `effort/travel`, `effort/rate` (N/m along a line and in a slider, N m/rad in a hinge)."""

    dimension: str
    meaning: str  # for the grammar page, the schema and hints of an editor
    least: float | None = None  # it may not fall below
    above: float | None = None  # it must exceed
    most: float | None = None
    drawn: bool = False  # left out: the distance of the ends as drawn
    optional: bool = True  # may be left out
    axes: str = ""  # "along": a vector along the axes; "about": a vector about them, in a plane one number
    varies: bool = False  # may be a formula of channels or a table
    fixed: tuple[float, ...] = ()  # values that belong to the structure: the law has another form there
    key: str = ""  # in a model file, where it is not the field's name
    geometry: bool = False  # bodies move when it changes
    absent: bool = False  # zero is the same as left out: no number to vary
    aside: bool = False  # no equation depends on it: no input of code, no parameter by name
    preset: tuple[float, float] | None = None  # SI: what an editor writes for a new one, along and about; 0: nothing


@dataclass(frozen=True)
class EndsRole:
    """Two points `body.point` of two bodies; `axes`: the points' axes matter as well."""

    meaning: str = "two points, `body.point`, of two bodies"
    optional: bool = False
    axes: bool = False


@dataclass(frozen=True)
class JointRole:
    """A joint or some of its velocities, `A`, `hip.angle1`, `base.linear`."""

    meaning: str = "a joint, or some of its velocities"
    optional: bool = False
    one: bool | str = False  # a single velocity; the name of a number: where that is not zero
    positions: bool = False  # velocities that are rates of coordinates, or the whole of a rotation
    named: bool = False  # left out: the element has the joint's name
    lines: bool = False  # or an element that is a coordinate itself, a cylinder


@dataclass(frozen=True)
class PointRole:
    """The body of a point `body.point`, whose point is in the next field; `whole`: or a body, where only moments act."""

    meaning: str = "a point, `body.point`"
    optional: bool = False
    whole: bool = False
    key: str = "on"


@dataclass(frozen=True)
class TurnsRole:
    """Axes at the two ends, each in its body, as rotation matrices; left out: the axes of the drawing, so that both agree as drawn."""

    meaning: str = "axes at both ends, two rotation matrices in the bodies (default: parallel in the drawing)"
    optional: bool = True


@dataclass(frozen=True)
class AxesRole:
    """Axes in which vectors are given: `world`, `body`, or the name of a body."""

    meaning: str = "`world`, `body` or the name of a body"
    optional: bool = True


@dataclass(frozen=True)
class ChoiceRole:
    """One of some choices."""

    choices: tuple[str, ...]
    meaning: str
    optional: bool = True


@dataclass(frozen=True)
class TiedRole:
    """A joint that a constraint ties to others, by its one coordinate."""

    meaning: str = "a joint with one coordinate"
    optional: bool = False
    key: str = ""


Role = ChoiceRole | TiedRole | NumberRole | EndsRole | JointRole | PointRole | AxesRole | TurnsRole
ZERO3 = (0.0, 0.0, 0.0)
EYE3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def number(dimension: str, meaning: str, default: Any = MISSING, **more: Any) -> Any:
    """A field that is a number; without a default a model file must give it (or the drawing does, `drawn=True`)."""
    more.setdefault("optional", default is not MISSING or more.get("drawn", False))
    return _field(NumberRole(dimension, meaning, **more), default)


def rebound(after: str) -> Any:
    """The field `restitution` of what holds one way in a run; `after`: what happened."""
    meaning = f"speed after {after} over the speed before"
    return number("pure number", meaning, 0.0, least=0.0, most=1.0, absent=True, aside=True)


def ends(**more: Any) -> Any:
    """The field `between`, two points; `optional=True` where there is another place."""
    return _field(EndsRole(**more), None if more.get("optional") else MISSING)


def frames(**more: Any) -> Any:
    """The field `between` of an element that acts on places and turns."""
    return ends(axes=True, **more)


def turns() -> Any:
    """The field `axes` of an element that acts on places and turns."""
    return _field(TurnsRole(), (EYE3, EYE3))


def in_joint(**more: Any) -> Any:
    """The field `joint`."""
    return _field(JointRole(**more), "" if more.get("optional") else MISSING)


def tied(**more: Any) -> Any:
    """A field with the name of a joint that a constraint ties."""
    return _field(TiedRole(**more), MISSING)


def on_point(**more: Any) -> Any:
    """The field `body` of an element that acts on a point of a body."""
    return _field(PointRole(**more), MISSING)


def point_of(body: str) -> Any:
    """The field with the point's name."""
    return field(metadata={"of": body})


def choice(*choices: str, meaning: str) -> Any:
    """A field that is one of some choices, the first one where it is left out."""
    return _field(ChoiceRole(choices, meaning), choices[0])


def in_axes() -> Any:
    """The field `axes` of an element from outside."""
    return _field(AxesRole(), "world")


def place() -> Any:
    """The field `where`: line of the model file."""
    return field(default=None, compare=False, repr=False)


def _field(role: Role, default: Any) -> Any:
    return field(metadata={ROLE: role}) if default is MISSING else field(default=default, metadata={ROLE: role})


@cache
def roles(kind: Any) -> Mapping[str, Any]:
    """Roles of the fields of an element, places first, axes last: the order in which a file is read and written."""
    found = {f.name: f.metadata[ROLE] for f in fields(kind) if ROLE in f.metadata}
    order = {NumberRole: 1, ChoiceRole: 2, AxesRole: 2, TurnsRole: 2}
    return MappingProxyType(dict(sorted(found.items(), key=lambda x: order.get(type(x[1]), 0))))


@cache
def numbers(kind: type) -> Mapping[str, NumberRole]:
    """Fields of an element that are numbers."""
    return MappingProxyType({name: role for name, role in roles(kind).items() if isinstance(role, NumberRole)})


@cache
def inputs(kind: Any) -> tuple[str, ...]:
    """Fields of an element whose numbers are in its equations."""
    return tuple(name for name, role in numbers(kind).items() if not role.aside)


def key_of(name: str, role: Any) -> str:
    """Key of a field in a model file."""
    return getattr(role, "key", "") or name


@cache
def keys(kind: Any) -> tuple[str, ...]:
    """Keys of an element in a model file, without `type`."""
    found = (*(key_of(name, role) for name, role in roles(kind).items() if name not in kind.hidden), *kind.further)
    return tuple(sorted(found, key=kind.order.index)) if kind.order else found


@cache
def all_keys(among: tuple[type, ...]) -> tuple[str, ...]:
    """Keys of elements of several kinds, places first."""
    both = [(isinstance(r, NumberRole), key_of(n, r)) for kind in among for n, r in roles(kind).items()]
    return tuple(dict.fromkeys(key for is_number in (False, True) for own, key in both if own is is_number))


@cache
def required(kind: Any) -> tuple[str, ...]:
    """Keys that a model file must give."""
    own = roles(kind).items()
    by_type = ("type",) if kind.typical == ("type",) else ()
    fields = (key_of(n, r) for n, r in own if not r.optional and not getattr(r, "named", False) and n not in kind.hidden)
    return (*by_type, *fields, *(name for name, key in kind.further.items() if key.required))


# -------------------------------------------------------------------- keys that go together or exclude each other


@dataclass(frozen=True)
class Either:
    """Sides that exclude each other: some keys of one side are there, and none of the others; `needed` False: or none at all."""

    sides: tuple[tuple[str, ...], ...]
    needed: bool = True

    def within(self, keys: Collection[str]) -> Either:
        """The same of some of its keys."""
        own = (tuple(k for k in side if k in keys) for side in self.sides)
        return Either(tuple(filter(None, own)), self.needed)

    def fault(self, given: Collection[str]) -> str:
        """Return the fault in the keys of an entry, as said after its name; empty without one."""
        found = [next(k for k in side if k in given) for side in self.sides if any(k in given for k in side)]
        if len(found) > 1:
            return f"has {' and '.join(f'`{k}`' for k in found)}. Keep one."
        names = [f"`{k}`" for side in self.sides for k in side]
        none = f"has {'neither ' if len(names) > 1 else 'no '}{' nor '.join(names)}. Add one."
        return none if self.needed and not found else ""


@dataclass(frozen=True)
class Needs:
    """A key that is not there without one of some others."""

    key: str
    others: tuple[str, ...]

    def within(self, keys: Collection[str]) -> Needs | None:
        """The same of some of its keys; None without the key itself."""
        return Needs(self.key, tuple(k for k in self.others if k in keys)) if self.key in keys else None

    def fault(self, given: Collection[str]) -> str:
        """Return the fault in the keys of an entry, as said after its name; empty without one."""
        if self.key not in given or any(k in given for k in self.others):
            return ""
        return f"has `{self.key}` without {' or '.join(f'`{k}`' for k in self.others)}. Add one, or take `{self.key}` out."


Together = Either | Needs


def either(*sides: str | tuple[str, ...], needed: bool = True) -> Either:
    """Exclude sides from each other, each a key or several; of one side alone some keys must be there."""
    return Either(tuple((side,) if isinstance(side, str) else side for side in sides), needed)


def needs(key: str, *others: str) -> Needs:
    return Needs(key, others)


def together(kind: Any) -> tuple[Together, ...]:
    """Keys of an element that go together or exclude each other: its places where it has two, `some_of`, and its own."""
    places = [key_of(n, r) for n, r in roles(kind).items() if r.optional and isinstance(r, (EndsRole, JointRole))]
    some = (either(kind.some_of),) if kind.some_of else ()
    return (*((either(*places),) if places else ()), *some, *kind.together)


# -------------------------------------------------------------------- keys that are no fields


@dataclass(frozen=True)
class Key:
    """A key of a model file that is not a field of its element: another way to give some, or a part of a form of its own.

    `form`: "number" and "numbers" (of a `dimension`; of travels it follows from the joint), "flag", "word" (one of `choices`), "text";
    names: "joint", "joints", "body", "point", "points" (one or several), "sides" (two surfaces, or lists of them);
    "factors" (numbers by joint), "moves", "table";
    "entries" (a mapping with the keys `of`), "items" (a list of points, or of such mappings).
    """

    form: str
    meaning: str
    dimension: str = ""
    of: Mapping[str, Key] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    required: bool = False
    channels: bool = False  # a number may be a formula of channels or a table
    together: tuple[Together, ...] = ()  # conditions on the keys `of`


class Way(NamedTuple):
    """One of several forms of an entry: its keys, those that it needs, and lists of numbers of which it has one."""

    keys: tuple[str, ...]
    required: tuple[str, ...]
    one: tuple[str, ...] = ()


def table_together(*, needed: bool = False) -> tuple[Together, ...]:
    """Conditions on the keys of a law by points; `needed`: there is no other law."""
    rows = either("table", ("x", "y"), "csv", needed=needed)
    return rows, needs("x", "y"), needs("y", "x"), needs("interpolation", "table", "x", "csv")


def table_keys(over: str) -> dict[str, Key]:
    """The keys of a law by points."""
    return {
        "table": Key("table", f"rows [{over}, value]"),
        "x": Key("table", f"{over}s, in the place of `table`"),
        "y": Key("table", "values, next to `x`"),
        "csv": Key("text", "file with both columns, in the place of `table`"),
        "interpolation": Key("word", "between the rows", choices=("monotone", "linear", "cubic", "periodic")),
    }


# -------------------------------------------------------------------- what an element sees and says


class Travel(Protocol):
    """A place of an element: one of its coordinates, or all of them between frames."""

    @property
    def x(self) -> Any: ...
    @property
    def v(self) -> Any: ...
    @property
    def size(self) -> Any: ...  # of the velocity vector that `v` is a component of (of a ball, of a free joint); None: it is alone


@dataclass(frozen=True)
class Looks:
    """How an element is drawn: between two points, in plane and space, or as a mark beside the joint that it lies in."""

    shape: str  # "line", "rope", "coil", "telescope", "ring" (rubber about a sleeve, where two places nearly meet), or "": nothing
    width: float = 1.4  # points
    dashes: tuple[float, ...] = ()  # lengths of dash, gap, dash ... in widths
    mark: str = ""  # in a joint: "spiral", "dashpot", "ratchet", "rub", "wall", or "" for a mark without a meaning of its own


REACH, CONTACT, DRIVES = "reach", "contact", "drives"  # kinds of limits


@dataclass(frozen=True)
class Limit:
    """`low <= channel <= high`: a channel of an element (`length` of `gas.length`), or without one the coordinate that it acts on."""

    check: str  # REACH, CONTACT or DRIVES
    channel: str
    dimension: str
    low: Any = None
    high: Any = None
    below: str = "goes below"  # completes "gas spring 'gas' " for a value below `low`
    above: str = "goes above"
    loads: bool = False  # the channel needs masses
    own: bool = False  # the ends are numbers of the element itself


def held(**pieces: str) -> Mapping[str, str]:
    """Formats that can hold an element, each with the name of the piece of its writer that does."""
    return MappingProxyType(pieces)


class About(Protocol):
    """Answers of the reader to a check of an element."""

    @property
    def what(self) -> str: ...  # `damper 'd1'`: messages begin with it
    @property
    def given(self) -> frozenset[str]: ...  # keys of the file
    @property
    def slides(self) -> bool: ...  # its travel is a length
    @property
    def joint_type(self) -> Any: ...  # class of the joint it acts in; None elsewhere
    def numeric(self, value: Any) -> float: ...
    def shown(self, value: Any, dimension: str) -> str: ...  # in the units of the file


class ModelElement:
    """Base of all elements, with the answers of most of them."""

    section: ClassVar[str]  # of the model file, and of a description
    word: ClassVar[str]  # singular, for messages and ids: `damper:d1`
    held_in: ClassVar[str] = ""  # field of a description, where it is not the section
    group: ClassVar[str] = "forces"  # of sections: "constraints" close loops, "motion" may be driven
    constraint: ClassVar[str] = ""  # of an element that closes a loop: the kind of its rows in `mechanics.constraints`
    some_of: ClassVar[tuple[str, ...]] = ()  # keys one of which must be there
    together: ClassVar[tuple[Together, ...]] = ()  # keys that go together or exclude each other; `refused` or its form may say why
    type: ClassVar[str] = ""  # of a section with several kinds: its key `type:`
    typical: ClassVar[tuple[str, ...]] = ()  # keys that decide its type where `type:` is left out, the most of them; one kind has none
    synonyms: ClassVar[tuple[str, ...]] = ()  # sections that people try, answered with "Did you mean"
    says: ClassVar[str] = ""  # in the report, where it is not `word`
    form: ClassVar[str] = ""  # "": its fields are its keys; else the piece of reader and writer that knows its form
    further: ClassVar[Mapping[str, Key]] = MappingProxyType({})  # keys that are no fields
    hidden: ClassVar[tuple[str, ...]] = ()  # fields that are no keys
    ways: ClassVar[Mapping[str, Way]] = MappingProxyType({})  # forms of an entry that exclude each other
    order: ClassVar[tuple[str, ...]] = ()  # of keys, where it is not the fields' and then the further ones
    named: ClassVar[bool] = True  # its numbers are parameters by name

    from_outside: ClassVar[bool] = False  # a load; everything else pushes between bodies of the machine
    conservative: ClassVar[bool] = False  # all work is stored
    of_speed: ClassVar[bool] = False  # the law depends on rates
    switches: ClassVar[bool] = False  # its effort may change at once, or nearly
    meets: ClassVar[bool] = False  # bodies touch by it: runs of simulations compute that, nothing else does
    by_load: ClassVar[bool] = False  # a part of it follows from the reactions: inverse dynamics adds it
    joins: ClassVar[bool] = False  # bodies that it holds need no joint: they float by themselves
    touching: ClassVar[bool] = False  # its wheels touch by their data: neither radii nor the distance of centers can vary alone
    pulls: ClassVar[bool] = False  # it ends its own travel, by a tension, and does nothing before
    coordinate: ClassVar[bool] = False  # its travel can be driven, stopped, started from and read by its name
    # channels of its own (`gas.stroke_used`) -> dimension, meaning
    readings: ClassVar[Mapping[str, tuple[str, str]]] = MappingProxyType({})
    share: ClassVar[str] = ""  # of those, the one that must stay between 0 and 1: designs are optimized within
    looks: ClassVar[Looks] = Looks("")
    letter: ClassVar[str] = ""  # key of the editor's tool that draws it; "": the first free one of its word
    # what it is in other programs: format -> name of the piece of that format which takes it; none: lost with `lost_as`
    formats: ClassVar[Mapping[str, str]] = MappingProxyType({})
    lost_as: ClassVar[str] = ""  # `a gas spring`: what a format is said to lose; "": the word with its article

    name: str
    where: Source | None

    @property
    def acts(self) -> str:
        """LINE, JOINT, FRAMES, POINT, or IDLE where it pushes nothing."""
        return acts(self)

    @property
    def counts(self) -> bool:
        """Return True for a constraint that counts from the coordinates of its joints in the drawing."""
        return bool(self.constraint)

    @property
    def drawn_about(self) -> tuple[float, ...] | None:
        """Direction in the first body about which its shape in space is round; None where that is the line of its ends."""
        return None

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the rows of a constraint."""
        return ()

    @property
    def keeps_axes(self) -> tuple[str, ...]:
        """Bodies whose own axes its numbers are in: native code does not turn them into the axes of their joints."""
        return tuple(getattr(self, name) for name, role in roles(type(self)).items() if isinstance(role, AxesRole))

    @property
    def body_pairs(self) -> tuple[tuple[str, str], ...]:
        """Bodies that it connects directly, not by their joints."""
        found = [getattr(self, name) for name, role in roles(type(self)).items() if isinstance(role, EndsRole)]
        return tuple((a, b) for (a, _), (b, _) in filter(None, found))

    @property
    def passes(self) -> tuple[tuple[str, str], ...]:
        """Pairs of joints of which one that holds still holds the other."""
        tied = [getattr(self, name) for name, role in roles(type(self)).items() if isinstance(role, TiedRole)]
        return tuple(pairwise(tied))

    @property
    def hides_contact(self) -> bool:
        """Return True if it ties joints by wheels or levers that are not modeled: torques are known, forces where they touch are not."""
        return False

    @property
    def wheels(self) -> tuple[tuple[str, Scalar], ...]:
        """Joints (or points, `body.point`) of its wheels, and their radii; 0 where there is none."""
        return ()

    @property
    def travel_ends(self) -> tuple[Scalar | None, Scalar | None] | None:
        """Lower and upper end of the travel of the coordinate that it stops, None where one is open; None: it stops nothing."""
        return None

    @property
    def row_travel(self) -> RowTravel | None:
        """Travel that the rows of a constraint have in a run, between ends that only push; None: they hold both ways."""
        return None

    @property
    def stores(self) -> bool:
        """Return True if it has an energy."""
        return type(self).stored is not ModelElement.stored

    @property
    def loses(self) -> bool:
        """Return True if it turns work into heat."""
        return type(self).lost is not ModelElement.lost

    def law(self, at: Any) -> Any:
        raise NotImplementedError

    def stored(self, at: Any) -> Any:
        return 0.0

    def lost(self, at: Any) -> Any:
        return 0.0

    def reading(self, name: str, at: Any) -> Any:
        """Value of one of `readings` at a travel."""
        raise NotImplementedError

    def limits(self) -> Iterator[Limit]:
        """Limits of its channels: a motion beyond is a failed check."""
        return iter(())

    def bends(self, joint: str) -> str:
        """Return why the force of a joint is no straight line over the efforts because of it, after the joint's name; empty: it is."""
        return ""

    def effective(self, turns: bool) -> bool:
        """Return False where its numbers make it do nothing; `turns`: a coordinate it acts on is an angle."""
        return True

    def sided(self, signs: tuple[float, float] | None) -> Any:
        """Return the element with the signs of its constraint as drawn, which symbols do not have."""
        return self

    def uses(self, field: str) -> bool:
        """Return False for a number that its law does not have as it is given."""
        return True

    def refused(self, about: Any) -> Iterator[tuple[str, str]]:
        """(key or "", message) of what the numbers of a file may not be together; a message begins with `about.what`."""
        return iter(())


@dataclass(frozen=True)
class RowTravel:
    """Ends of the residual of a constraint in a run, None where one is open, and the restitution there.

    `lifts`: `lower` is where two bodies touch, and on the open side the second one is off the first, whatever its sign.
    """

    lower: Scalar | None
    upper: Scalar | None
    restitution: Scalar = 0.0
    lifts: bool = False


def held_in(kind: Any) -> str:
    """Field of a description that holds elements of a kind."""
    return kind.held_in or kind.section


def acts(thing: Any) -> str:
    """Place where an element acts: LINE, JOINT, FRAMES or POINT."""
    for name, role in roles(type(thing)).items():
        if isinstance(role, EndsRole) and getattr(thing, name):
            return FRAMES if role.axes else LINE
        if isinstance(role, JointRole) and getattr(thing, name):
            return JOINT
        if isinstance(role, PointRole):
            return POINT
    return IDLE


def article(word: str) -> str:
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


def lost_as(kind: Any) -> str:
    """`a bushing`: what another program loses with an element."""
    return kind.lost_as or article(kind.says or kind.word)

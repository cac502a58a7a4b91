"""Numbers of a mechanism apart from its structure, as one row: masses, places, rotations of frames, springs, loads, gears, gravity.

    n = DesignNumbers.of(description)       n.structure    what code depends on: names, joints, which numbers are zero
                                            n.values       the numbers, in an order that the structure decides
    n.filled(values)                        the description with other numbers in place, over any scalar

Two mechanisms of the same structure run on the same code. Zeros belong to the structure, because code without them is shorter by
a third; so do the zeros and ones of a rotation, and which of its entries are equal: one about an axis is two numbers. A spanning tree
(`TreeNumbers`) turns every body into the axes of the joint that carries it, where most rotations are none and most directions constant.
Tables of loads and couplings belong to the structure as they are.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from itertools import pairwise
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from linkwright import elements
from linkwright.model.description import EYE3, Body, Description, Joint, Mat3, Placement, Vec3
from linkwright.properties import cached_property
from linkwright.text.expressions import Expr, evaluate, variable

UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
ENTRIES = tuple(f"{'xyz'[i]}{'xyz'[j]}" for i, j in UPPER)
# values of fields that belong to the structure: a gas spring of constant force has a formula of its own
FIXED = {name: role.fixed for kind in elements.ELEMENTS for name, role in elements.numbers(kind).items() if role.fixed}
ENTRY_ROUND_OFF = 8.0 * float(np.finfo(float).eps)  # of entries of rotations, and of turned places against the largest
CONSTANT = "constant "  # variables in the place of a formula's constants: no name of a model has a space
UNIT = 100  # code of an entry that is one


class Number(NamedTuple):
    """One of the numbers, by a name for people."""

    name: str
    value: float


@dataclass(frozen=True)
class TreeNumbers:
    """Additions of a spanning tree: axes of bodies, places of floating ones, coordinates from which couplings and gears count."""

    axes: Mapping[str, np.ndarray] = field(default_factory=dict)  # body -> axes of its joint, where they are not its own
    floating: tuple[str, ...] = ()
    starts: Mapping[str, float] = field(default_factory=dict)  # joint -> its first coordinate in the drawing
    sides: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # gear -> signs of its pitch point and of its ratio


@dataclass(frozen=True, eq=False)
class DesignNumbers:
    """A description's numbers, and where each goes."""

    description: Description
    tree: TreeNumbers
    structure: tuple[Any, ...]  # hashable
    values: np.ndarray
    used: tuple[int, ...]  # place of every point, center and frame, in the order of `_placed`; equal ones on a body are one
    plain: np.ndarray  # mask: of all numbers but rotations those that are not zero
    codes: np.ndarray  # (rotations, 9): 0, +-UNIT, or the sign and one more than the first entry of that size

    @classmethod
    def of(cls, d: Description, tree: TreeNumbers | None = None) -> DesignNumbers:
        """The numbers of a description without expressions of parameters."""
        tree = TreeNumbers() if tree is None else tree
        index = {b.name: i for i, b in enumerate(d.bodies)}
        known: dict[tuple[int, Any], int] = {}
        used = tuple([known.setdefault((index[body], at), len(known)) for body, at in _placed(d)])
        places = np.array([at for _, at in known], dtype=float).reshape(-1, 3)
        inertia = np.array([b.inertia for b in d.bodies], dtype=float)
        frames = [*((body, f.rotation) for j in d.joints for body, f in _frames(j)), *_turned(d)]
        rotations = np.array([R for _, R in frames], dtype=float).reshape(-1, 3, 3)
        if tree.axes:
            on = np.array([i for i, _ in known])
            for body, R in tree.axes.items():
                rows = on == index[body]
                places[rows] = places[rows] @ R
                inertia[index[body]] = R.T @ inertia[index[body]] @ R
            places[np.abs(places) < ENTRY_ROUND_OFF * np.abs(places).max(initial=0.0)] = 0.0
            inertia[np.abs(inertia) < ENTRY_ROUND_OFF * np.abs(inertia).max(axis=(1, 2), keepdims=True)] = 0.0
            for k, (body, _) in enumerate(frames):
                if body in tree.axes:
                    rotations[k] = tree.axes[body].T @ rotations[k]
        codes, entries = _rotation_codes(rotations.reshape(-1, 9))
        laws, acting = _acting(d)
        moments = inertia[:, *np.transpose(UPPER)].ravel()
        last = [*d.gravity, *(x for name in tree.floating for x in d.body(name).start.at), *tree.starts.values()]
        lengths = [getattr(x, name) for x, name in elements.lengths(d)]
        flat = np.array([*(b.mass or 0.0 for b in d.bodies), *moments, *places.ravel(), *lengths, *acting, *last])
        plain = flat != 0.0
        shape = (laws, used, tuple(tree.axes), tree.floating, tuple(tree.starts), tuple(tree.sides.items()))
        structure = (static_structure(d), shape, plain.tobytes(), codes.tobytes())
        return cls(d, tree, structure, np.concatenate([flat[plain], entries]), used, plain, codes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each of the values."""
        d, tree = self.description, self.tree
        first: dict[int, str] = {}
        for at, name in zip(self.used, _place_names(d), strict=True):
            first.setdefault(at, name)
        every = [f"{b.name}.mass" for b in d.bodies] + [f"{b.name}.inertia.{e}" for b in d.bodies for e in ENTRIES]
        every += [f"{name}.{axis}" for name in first.values() for axis in "xyz"] + [f"{x.name}.{name}" for x, name in elements.lengths(d)]
        every += [f"acting.{k}" for k in range(len(_acting(d)[1]))] + [f"gravity.{axis}" for axis in "xyz"]
        every += [f"{name}.drawn.{axis}" for name in tree.floating for axis in "xyz"] + [f"{name}.drawn" for name in tree.starts]
        turned = [f"{j.name}.{body}.axes" for j in d.joints for body in (j.first, j.second)]
        turned += [f"{x.name}.{body}.axes" for x, _ in elements.turned(d) for body, _ in x.between]
        entries = [f"{turned[i]}.{e}" for i, row in enumerate(self.codes) for e, code in enumerate(row) if abs(code) == 1 + e]
        return (*(name for name, there in zip(every, self.plain, strict=True) if there), *entries)

    @cached_property
    def parameters(self) -> tuple[Number, ...]:
        return tuple(Number(n, float(x)) for n, x in zip(self.names, self.values, strict=True))

    def filled(self, values: Sequence[Any]) -> Description:
        """The description with these numbers, over any scalar; bodies in the axes of the tree."""
        d, given = self.description, iter(values)
        flat = iter([next(given) if there else 0.0 for there in self.plain])
        rotations = iter([_rotation(row, given) for row in self.codes])

        def take(n: int) -> tuple[Any, ...]:
            return tuple(next(flat) for _ in range(n))

        masses, upper = take(len(d.bodies)), [dict(zip(UPPER, take(6), strict=True)) for _ in d.bodies]
        spots = [take(3) for _ in range(max(self.used, default=-1) + 1)]
        placed = iter([spots[k] for k in self.used])
        lengths = take(len(elements.lengths(d)))
        numbers, armatures = iter(take(sum(_is_number(x) for j in d.joints for _, x in j.options))), iter(take(len(d.joints)))
        acting = _filled_acting(d, flat)
        closing = [field for field in elements.CLOSING if field in acting]
        acting |= {field: tuple(x.sided(self.tree.sides.get(x.name)) for x in acting[field]) for field in closing}
        gravity, drawn = take(3), {name: take(3) for name in self.tree.floating}

        def body(b: Body, mass: Any, inertia: dict[tuple[int, int], Any]) -> Body:
            points = tuple(replace(p, at=next(placed)) for p in b.points)
            rows: Any = tuple(tuple(inertia[min(i, j), max(i, j)] for j in range(3)) for i in range(3))
            start = replace(b.start, at=drawn[b.name]) if b.name in drawn else b.start
            return replace(b, points=points, mass=None if b.mass is None else mass, com=next(placed), inertia=rows, start=start)

        def joint(j: Joint) -> Joint:
            options = tuple((name, next(numbers) if _is_number(x) else x) for name, x in j.options)
            first, second = (Placement(next(placed), next(rotations)) for _ in range(2))
            return replace(j, frame_first=first, frame_second=second, options=options, armature=next(armatures))

        bodies = tuple(body(*x) for x in zip(d.bodies, masses, upper, strict=True))
        joints = tuple(joint(j) for j in d.joints)
        for x, axes in elements.turned(d):
            mine = tuple(next(rotations) for _ in range(2))
            held = elements.held_in(x)
            acting[held] = tuple(replace(y, **{axes: mine}) if y.name == x.name else y for y in acting[held])
        for (x, name), length in zip(elements.lengths(d), lengths, strict=True):
            acting.setdefault(elements.held_in(x), ())
            acting[elements.held_in(x)] += (replace(x, **{name: length}),)
        return replace(d, bodies=bodies, joints=joints, gravity=gravity, **acting)

    def starts(self, values: Sequence[Any]) -> dict[str, Any]:
        """Coordinates from which couplings and gears count, from a row of numbers."""
        first = len(self.plain) - len(self.tree.starts)
        at = np.cumsum(self.plain) - 1
        return {name: values[at[first + k]] if self.plain[first + k] else 0.0 for k, name in enumerate(self.tree.starts)}


# -------------------------------------------------------------------- places


def _placed(d: Description) -> Iterator[tuple[str, Any]]:
    """(body, place) of all points and centers, then of the frames of all joints."""
    for b in d.bodies:
        for p in b.points:
            yield b.name, p.at
        yield b.name, b.com
    for j in d.joints:
        yield j.first, j.frame_first.at
        yield j.second, j.frame_second.at


def _place_names(d: Description) -> Iterator[str]:
    for b in d.bodies:
        for p in b.points:
            yield f"{b.name}.{p.name}"
        yield f"{b.name}.com"
    for j in d.joints:
        yield f"{j.first}.{j.name}"
        yield f"{j.second}.{j.name}"


def _frames(j: Joint) -> tuple[tuple[str, Placement], tuple[str, Placement]]:
    return (j.first, j.frame_first), (j.second, j.frame_second)


def _turned(d: Description) -> list[tuple[str, Any]]:
    """(body, axes) of elements that have some in their bodies."""
    return [(body, R) for x, axes in elements.turned(d) for (body, _), R in zip(x.between, getattr(x, axes), strict=True)]


# -------------------------------------------------------------------- rotations


def _rotation_codes(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the entries of rotations, and the sizes that are numbers, one matrix after the other."""
    size = np.abs(R)
    first = np.argmax(np.abs(size[:, :, None] - size[:, None, :]) < ENTRY_ROUND_OFF, axis=2)
    sizes = np.where(size < ENTRY_ROUND_OFF, 0, np.where(np.abs(size - 1.0) < ENTRY_ROUND_OFF, UNIT, 1 + first))
    for row, entry in np.argwhere(~_owned(sizes)):  # near one that is near another, or zero, but not near that itself
        sizes[row, entry] = 1 + entry
    codes = np.where(R < 0.0, -1, 1) * sizes
    return codes, size[np.abs(codes) == 1 + np.arange(9)]


def _owned(codes: np.ndarray) -> np.ndarray:
    """True for entries that are zero, one, or as large as an entry that has a size of its own."""
    fixed = (codes == 0) | (codes == UNIT)
    owner = np.where(fixed, 0, codes - 1)
    return fixed | (np.take_along_axis(codes, owner, axis=1) == codes)


def _rotation(codes: np.ndarray, given: Iterator[Any]) -> Mat3:
    """A rotation by its codes; new sizes are taken from `given`."""
    sizes: dict[int, Any] = {0: 0.0, UNIT: 1.0}
    out: list[Any] = []
    for entry, code in enumerate(codes.tolist()):
        if abs(code) == 1 + entry:
            sizes[abs(code)] = next(given)
        out.append(-sizes[abs(code)] if code < 0 else sizes[abs(code)])
    a, b, c, d, e, f, g, h, i = out
    return EYE3 if (codes == UNIT * np.eye(3).ravel()).all() else ((a, b, c), (d, e, f), (g, h, i))


# -------------------------------------------------------------------- what acts on bodies


def _is_number(x: Any) -> bool:
    return type(x) is float or (isinstance(x, (int, float)) and not isinstance(x, bool))


def _acting(d: Description) -> tuple[tuple[Any, ...], list[float]]:
    """Laws of everything that acts on bodies and joints without their numbers, and these, after the joints' own options and armatures."""
    numbers = [x for j in d.joints for _, x in j.options if _is_number(x)] + [j.armature for j in d.joints]
    laws: list[Any] = []
    for section, names in elements.NUMBERS.items():
        for thing in getattr(d, section):
            laws.append(tuple([_law(getattr(thing, name), name, numbers) for name in names if hasattr(thing, name)]))
    return tuple(laws), numbers


@cache
def _others(kind: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """Fields of a class that are no numbers."""
    axes = [name for name, role in elements.roles(kind).items() if isinstance(role, elements.TurnsRole)]
    return tuple(f.name for f in fields(kind) if f.compare and f.name not in names and f.name not in axes)


def _law(x: Any, name: str, numbers: list[float]) -> Any:
    """A number, a vector or a formula without its numbers, which are added to the list."""
    if _is_number(x) and x not in FIXED.get(name, ()):
        numbers.append(x)
        return "number"
    if isinstance(x, tuple):
        return tuple(_law(y, name, numbers) for y in x)
    return _abstract(x, numbers) if isinstance(x, Expr) else x


def _filled_acting(d: Description, numbers: Iterator[Any]) -> dict[str, tuple[Any, ...]]:
    """The sections with other numbers."""
    out = {}
    for section, names in elements.NUMBERS.items():
        things = [(thing, [n for n in names if hasattr(thing, n)]) for thing in getattr(d, section)]
        out[section] = tuple(replace(x, **{name: _filled_law(getattr(x, name), name, numbers) for name in own}) for x, own in things)
    return out


def _filled_law(x: Any, name: str, numbers: Iterator[Any]) -> Any:
    own: list[float] = []
    form = _law(x, name, own)
    if isinstance(x, tuple):
        return tuple(_filled_law(y, name, numbers) for y in x)
    if isinstance(x, Expr):
        return evaluate(form, {f"{CONSTANT}{k}": next(numbers) for k in range(len(own))})
    return next(numbers) if own else x


def _abstract(x: Any, numbers: list[float]) -> Any:
    """A formula whose constants are variables; whole exponents, zeros and ones stay."""
    done: dict[int, Any] = {}
    first = len(numbers)

    def visit(node: Any) -> Any:
        if not isinstance(node, Expr):
            if not _is_number(node) or node in (0.0, 1.0, -1.0):
                return node
            numbers.append(node)
            return variable(f"{CONSTANT}{len(numbers) - 1 - first}")
        if node.op == "var":
            return node
        if id(node) not in done:
            exponent = node.op == "pow" and _is_number(node.args[1])
            done[id(node)] = Expr(node.op, tuple(a if exponent and k == 1 else visit(a) for k, a in enumerate(node.args)))
        return done[id(node)]

    return visit(x)


# -------------------------------------------------------------------- structure


def static_structure(d: Description) -> tuple[Any, ...]:
    """Names of bodies, points and joints, types of joints and what they join, what acts where: all that has no numbers."""
    acting = [
        (section, *[getattr(thing, name) for name in _others(type(thing), names)])
        for section, names in elements.NUMBERS.items()
        for thing in getattr(d, section)
    ]
    options = [tuple([n if _is_number(x) else (n, x) for n, x in j.options]) for j in d.joints]
    return (
        d.plane,
        tuple([(b.name, b.mass is None, tuple([p.name for p in b.points])) for b in d.bodies]),
        tuple([(j.name, j.type, j.first, j.second, j.pin, x) for j, x in zip(d.joints, options, strict=True)]),
        tuple([(x.name, x.between) for x, _ in elements.lengths(d)]),
        tuple(acting),
        d.cuts,
    )


# ----------------------------------------------------------------------------------------------------
# Coordinates that differ by the round-off of the drawing only become one number
# Points of a body are differences of drawn places: far from the origin like parts (bays of a lift, cells of a chain) come out with 1.2 and
# 1.2000000000000002, with 0 and 1e-16. The model means one number by both, but code made of them would differ: zeros cost nothing,
# and parts with the same numbers share their code.

ULPS = 8  # of the largest drawn coordinate: a difference of two places, turned into a body's axes
SHARE = 1e-12  # of a typical length, at most
EPSILON = sys.float_info.epsilon


def without_round_off(d: Description) -> Description:
    """The description with one number for all lengths that agree within round-off; the same object if there is nothing to do."""
    lengths = sorted([abs(x) for x in _lengths(d) if type(x) is float and x and isfinite(x)])
    places = [abs(x) for b in d.bodies for x in b.start.at if type(x) is float]
    if not lengths:
        return d
    middle = 0.5 * (lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2])
    tolerance = min(ULPS * EPSILON * max([*places, lengths[-1]]), SHARE * middle)
    known = merged(lengths, tolerance)
    bodies = tuple(_body(b, known) for b in d.bodies)
    radii = _radii(bodies, tolerance)
    bodies = tuple(_turned_exactly(b, radii) for b in bodies) if radii else bodies
    joints = tuple(_joint(j, known) for j in d.joints) if known else d.joints
    same = all(a is b for a, b in zip((*bodies, *joints), (*d.bodies, *d.joints), strict=True))
    return d if same else replace(d, bodies=bodies, joints=joints)


def merged(values: Sequence[float], tolerance: float) -> dict[float, float]:
    """For every positive value that changes the one in its place: 0, or the shortest decimal among its neighbors,
    of these the one met most often."""
    counts = Counter(values)
    found = sorted(counts)
    known: dict[float, float] = {}
    ends = [i for i, (a, b) in enumerate(pairwise(found), start=1) if b - a > tolerance]
    for first, last in zip([0, *ends], [*ends, len(found)], strict=True):
        if first == last or (last - first == 1 and found[first] > tolerance):
            continue
        group = found[first:last]
        if group[0] <= tolerance:
            known.update({x: 0.0 for x in group if x <= 2.0 * tolerance})
        elif group[-1] - group[0] <= 4.0 * tolerance:  # longer rows of neighbors are no round-off
            best = min(group, key=lambda x: (len(repr(x)), -counts[x]))
            known.update({x: best for x in group if x != best})
    return known


def _lengths(d: Description) -> Iterable[Any]:
    for b in d.bodies:
        yield from b.com
        for p in b.points:
            yield from p.at
    for j in d.joints:
        yield from j.frame_first.at
        yield from j.frame_second.at


def _changed(x: Any, known: dict[float, float]) -> Any:
    if type(x) is not float:
        return x
    new = known.get(abs(x))
    return x if new is None else new if x > 0.0 or not new else -new


def _vector(at: Vec3, known: dict[float, float]) -> Vec3:
    a, b, c = at
    new = (_changed(a, known), _changed(b, known), _changed(c, known))
    return at if new[0] is a and new[1] is b and new[2] is c else new


def _body(b: Body, known: dict[float, float]) -> Body:
    if not known:
        return b
    com = _vector(b.com, known)
    every = [(p, _vector(p.at, known)) for p in b.points]
    if com is b.com and all(at is p.at for p, at in every):
        return b
    return replace(b, com=com, points=tuple(p if at is p.at else replace(p, at=at) for p, at in every))


def _joint(j: Joint, known: dict[float, float]) -> Joint:
    first, second = _frame(j.frame_first, known), _frame(j.frame_second, known)
    return j if first is j.frame_first and second is j.frame_second else replace(j, frame_first=first, frame_second=second)


def _frame(x: Placement, known: dict[float, float]) -> Placement:
    at = _vector(x.at, known)
    return x if at is x.at else replace(x, at=at)


def _radii(bodies: Iterable[Body], tolerance: float) -> dict[float, dict[float, float]]:
    """Inertias to be exchanged, by mass: those whose radii of gyration agree within the tolerance of lengths. Products of inertia
    that a turn by the tolerance over the radius would make are zero."""
    entries: dict[float, set[float]] = {}
    out: dict[float, dict[float, float]] = {}
    for b in bodies:
        if type(b.mass) is float and b.mass > 0.0:
            sizes = {abs(x) for row in b.inertia for x in row if type(x) is float and x}
            least = 2.0 * tolerance * sqrt(b.mass * max(sizes, default=0.0))
            out.setdefault(b.mass, {}).update({x: 0.0 for x in sizes if x < least})
            entries.setdefault(b.mass, set()).update(x for x in sizes if x >= least)
    for mass, found in entries.items():
        back: dict[float, list[float]] = {}
        for x in sorted(found, key=lambda x: len(repr(x))):
            back.setdefault(sqrt(x / mass), []).append(x)
        known = merged(list(back), tolerance)
        every = [(x, back.get(known.get(r, r), [x])[0]) for r, some in back.items() for x in some]  # radii near zero stay as they are
        out[mass].update({x: new for x, new in every if new != x})
    return {mass: known for mass, known in out.items() if known}


def _turned_exactly(b: Body, radii: dict[float, dict[float, float]]) -> Body:
    known = radii.get(b.mass) if type(b.mass) is float else None
    if not known:
        return b
    x, y, z = b.inertia
    inertia: Mat3 = (_vector(x, known), _vector(y, known), _vector(z, known))
    return b if all(new is old for new, old in zip(inertia, b.inertia, strict=True)) else replace(b, inertia=inertia)

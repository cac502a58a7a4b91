"""Entries of every kind of `elements.ELEMENTS`, for tests that ask all of them: from the roles of its fields, without a list of kinds.

Kinds with a form of their own in the file (`form`) take theirs from `good_entries`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import linkwright as lw
from linkwright import elements
from linkwright.elements import ChoiceRole, EndsRole, JointRole, PointRole, TiedRole
from linkwright.errors import LinkwrightError
from linkwright.model.file import read_text
from tests.elements import good_entries

PLANE = """\
name: all
plane: xy
gravity: [0, -9.81]
parameters: {p: 1.5}
drawing: {A: [0, 0], B: [0.1, 0.02], C: [0.3, 0.25], D: [0.35, 0], E: [0.2, -0.1], I: [0.6, 0.3], J: [0.7, 0.35]}
bodies:
  ground: {pins: [A, D], points: [E]}
  crank: {pins: [A, B], mass: 1, inertia: 0.01}
  coupler: {pins: [B, C], mass: 1, inertia: 0.01}
  rocker: {pins: [C, D], mass: 2, inertia: 0.02}
  bob: {points: [I, J], mass: 1, inertia: 0.03}
joints:
  swing: {type: planar, between: [ground, bob], at: I}
"""
SPACE = """\
name: all
gravity: [0, 0, -9.81]
parameters: {p: 1.5}
bodies:
  ground: {points: {E: [0.2, 0.1, 0], O: [0, 0, 0]}}
  b: {points: {O: [0, 0, 0], C: [0.3, 0.1, 0.2]}, mass: 1, com: [0.1, 0, 0.02], inertia: [0.01, 0.02, 0.03]}
  bob: {points: {C: [0, 0, 0], I: [0.1, 0.2, 0]}, mass: 0.5, com: [0.1, 0.1, 0], inertia: [0.01, 0.01, 0.01]}
joints:
  A: {type: revolute, connect: [ground.O, b.O], axis: [1, 2, 3]}
  G: {type: revolute, connect: [b.C, bob.C], axis: [3, -1, 2]}
start: {A: 0.3, G: -0.4, A.v: 2, G.v: -1}
"""
BASES = {"plane": PLANE, "space": SPACE}
INERT = {"plane": "mass: 1, inertia: 0.01 kg m^2}", "space": "mass: 1, inertia: [0.01 kg m^2, 0.02 kg m^2, 0.03 kg m^2]}"}
VALUES = ("p", "0.5", "0.001", "3")  # of a number that its kind refuses next to the others: the next one is tried
NAME = "it"


@dataclass(frozen=True)
class Case:
    """A model with one element of a kind."""

    kind: Any
    base: str  # "plane" or "space"
    before: str  # the model without it
    name: str
    pairs: tuple[tuple[str, str], ...]
    label: str

    @property
    def entry(self) -> str:
        return f"{{{', '.join(f'{key}: {value}' for key, value in self.pairs)}}}"

    @property
    def text(self) -> str:
        return f"{self.before}{self.kind.section}:\n  {self.name}: {self.entry}  # stays\n"

    @property
    def id(self) -> str:
        """Of the element in edits: `damper:it`."""
        return f"{self.kind.word}:{self.name}"

    @property
    def acts(self) -> bool:
        return not self.kind.constraint

    def of(self, d: Any) -> Any:
        """The element in a description."""
        return next(x for x in getattr(d, elements.held_in(self.kind)) if x.name == self.name)

    def __str__(self) -> str:
        return f"{self.kind.__name__}-{self.base}{self.label}"


def cases(kind: Any) -> list[Case]:
    """Models with an element of a kind, in a plane and in space, in each place where it can be."""
    return _formed(kind) if kind.form else _generated(kind)


@cache
def every_case() -> tuple[Case, ...]:
    return tuple(case for kind in elements.ELEMENTS for case in cases(kind))


def _formed(kind: Any) -> list[Case]:
    found: list[Case] = []
    for good in (g for g in good_entries.GOOD if g.section == kind.section):
        helpers = "".join(f"{key}: {text}\n" for key, text in good_entries.HELPERS[good.base].items() if key != good.section)
        number = sum(x.base == good.base for x in found) + 1
        before = good_entries.BASES[good.base].replace("mass: 1}", INERT[good.base])
        found.append(Case(kind, good.base, before + helpers, good.name, good.pairs, f"-{number}"))
    return [case for case in found if _readable(case)]  # belts in space are there for their message


def _generated(kind: Any) -> list[Case]:
    found = []
    for base, place in itertools.product(BASES, _places(kind)):
        before = re.sub("(?m)^start:.*\n", "", BASES[base]) if kind.constraint else BASES[base]  # which leaves fewer coordinates to choose
        tried = (Case(kind, base, before, NAME, pairs, f"-{place}") for pairs in _entries(kind, base == "space", place))
        case = next((case for case in tried if _readable(case)), None)
        assert case is not None, f"no entry of {kind.__name__} can be read: the first was {next(_entries(kind, base == 'space', place))}"
        found.append(case)
    return found


def _readable(case: Case) -> bool:
    try:
        d = read_text(case.text)
        if case.kind.constraint and not case.kind.form:
            return bool(len(lw.Mechanism(d).system.start.q))  # it can be assembled
    except LinkwrightError:
        return False
    return True


def _places(kind: Any) -> list[str]:
    """Fields that say where an element acts; of several that may be left out, each alone."""
    found = {name: role for name, role in elements.roles(kind).items() if isinstance(role, (EndsRole, JointRole, PointRole))}
    return [name for name, role in found.items() if role.optional] or list(found)


def _entries(kind: Any, space: bool, place: str) -> Iterator[tuple[tuple[str, str], ...]]:
    """Entries with all numbers, then with other values, then with fewer of those that may be left out."""
    typed = [("type", kind.type)] if kind.type else []
    placed = [(elements.key_of(n, r), _named(r)) for n, r in elements.roles(kind).items() if n == place or _at_need(r)]
    own = elements.numbers(kind)
    for left in range(len(own) + 1):
        for out in itertools.combinations([n for n, r in own.items() if r.optional], left):
            given = {n: r for n, r in own.items() if n not in out}
            for values in itertools.product(VALUES, repeat=min(len(given), 4)):
                texts = itertools.chain(values, itertools.repeat(VALUES[0]))
                sized = zip(given.items(), texts, strict=False)
                yield (*typed, *placed, *((elements.key_of(n, r), _number(r, x, space)) for (n, r), x in sized))


def _at_need(role: Any) -> bool:
    place = isinstance(role, (EndsRole, JointRole, PointRole, TiedRole)) and not role.optional
    return place or isinstance(role, ChoiceRole)


def _named(role: Any) -> str:
    if isinstance(role, ChoiceRole):
        return role.choices[-1]  # the first one is what is meant without
    if isinstance(role, (JointRole, TiedRole)):
        return "A"
    return "[ground.E, bob.I]" if isinstance(role, EndsRole) else "bob.I"


def _number(role: Any, text: str, space: bool) -> str:
    if role.axes == "along":
        return f"[{text}, 2, 3]" if space else f"[{text}, 2]"
    return f"[{text}, 2, 3]" if role.axes and space else text

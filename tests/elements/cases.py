"""Entries of every kind of `elements.ELEMENTS`, for tests that ask all of them: from the roles of its fields, without a list of kinds.

Kinds with a form of their own in the file (`form`) take theirs from `good_entries`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import linkwright as lw
from linkwright import elements
from linkwright.elements import ChoiceRole, EndsRole, JointRole, PointRole, TiedRole
from linkwright.errors import LinkwrightError
from linkwright.model.file import read_text
from linkwright.rings.design.body_forces import body_actions
from linkwright.rings.studio.live import contents
from linkwright.rings.studio.plots.topology_graph import topology
from linkwright.rings.studio.scene import Scene
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
FIRST = ("-1", "-between")  # labels of the first entry of a kind
MARK = "# helpers\n"  # between a base and the elements that others name


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


# -------------------------------------------------------------------- many in one model


@dataclass(frozen=True, eq=False)
class Together:
    """Cases of one base in one model, which is read, simulated, drawn and exported once for all of them."""

    text: str
    names: dict[Case, str]  # of the elements in it

    @cached_property
    def mechanism(self) -> lw.Mechanism:
        return mechanism(self.text)

    @cached_property
    def run(self) -> Any:
        return self.mechanism.simulate(0.01, sample_interval=0.004)

    @cached_property
    def actions(self) -> set[str]:
        """Names of all that pushes a body at the start."""
        return {a.name for b in self.mechanism.system.description.moving for a in body_actions(self.run._each_loads[0], b.name)}

    @cached_property
    def scene(self) -> Scene:
        return Scene(self.mechanism.system, None)

    @cached_property
    def picture(self) -> Any:
        return self.mechanism.plot("mechanism", trace=[])

    @cached_property
    def graph(self) -> set[str]:
        """Texts in the drawing of the topology."""
        figure = topology(self.mechanism)
        return {word for axes in figure.axes for text in axes.texts for word in text.get_text().split()}

    @cached_property
    def page(self) -> tuple[str, dict[str, Any]]:
        """Script and data of the page."""
        return contents(self.mechanism.system, steps=4)

    def of(self, case: Case, d: Any = None) -> Any:
        """The element of a case, in a description or in that of the system."""
        return replace(case, name=self.names[case]).of(self.mechanism.system.description if d is None else d)


@cache
def alone(case: Case, turns: bool = False) -> Together:
    """A case in a model of its own."""
    return merged([case], turns)


@cache
def can_turn(case: Case) -> bool:
    """True if it is asked in a linkage with a crank: all that push, and the first entry of what closes loops."""
    if not case.kind.constraint:
        return pushes(case)
    try:
        return case.label in FIRST and bool(alone(case, True).mechanism.system.start.q.size)
    except LinkwrightError:
        return False


def in_lanes(case: Case) -> bool:
    """False where one design after the other is computed: with friction by load, and with rigid stops."""
    return not case.kind.by_load and not described(case.text).rigid_stops


@cache
def together(base: str, formed: bool, turns: bool) -> Together:
    """All cases of a base that push, of kinds with a form of their own or of the others."""
    chosen = [x for x in every_case() if x.base == base and bool(x.kind.form) is formed and pushes(x)]
    return merged([x for x in chosen if not turns or in_lanes(x)], turns)


def merged(chosen: Sequence[Case], turns: bool) -> Together:
    """Some cases of one base in one model; `turns`: with a crank that turns and everything else hanging on it."""
    base, *helpers = chosen[0].before.split(MARK)
    sections: dict[str, dict[str, str]] = {}
    for line in "".join(helpers).splitlines():
        section, _, entries = line.partition(": ")
        name, _, entry = entries[1:-1].partition(": ")
        sections.setdefault(section, {})[name] = entry
    names = {}
    for k, case in enumerate(chosen):
        names[case] = f"it{k}" if case.name in (NAME, good_entries.NAMELESS) else case.name
        sections.setdefault(case.kind.section, {})[names[case]] = case.entry
    listed = (f"{section}:\n" + "".join(f"  {name}: {entry}\n" for name, entry in own.items()) for section, own in sections.items())
    return Together((_turning(base, chosen) if turns else base) + "".join(listed), names)


def _turning(base: str, chosen: Sequence[Case]) -> str:
    """A base in a plane whose crank turns; what moves otherwise hangs on it, or is held by a drive."""
    tied = {value for x in chosen for key, value in x.pairs if isinstance(elements.named_keys(x.kind.section).get(key), TiedRole)}
    tied |= {name for x in chosen if x.kind.constraint and not tied for name in elements.joint_names(x.of(described(x.text)))}
    hung = "type: fixed, between: [coupler, bob], at: I"
    if any(x.kind.constraint for x in chosen):
        hung = hung if tied else "type: revolute, between: [crank, bob], at: B"  # with a rod of its length to ground a second linkage
        base = base if tied else base.replace("{p: 1.5}", "{p: 0.566}")
    text = base.replace("type: planar, between: [ground, bob], at: I", hung)
    if "D" in tied:  # the rocker is alone
        text = text.replace("coupler: {pins: [B, C], points: [P]", "coupler: {points: [B, P]")
        text = text.replace("{pins: [D, C]", "{pins: [D], points: [C]")
        text += "  stuck: {type: fixed, between: [crank, coupler], at: B}\n"
    held = ", lift: {position: 0 m}" if "  lift:" in base and "lift" not in tied else ""
    text += "" if "gravity:" in base else "gravity: [0 m/s^2, -9.81 m/s^2]\n"
    return f"{text}drive: {{A: {{speed: 6 rad/s}}{held}}}\n"


@cache
def described(text: str) -> Any:
    """A description, read once for all who ask."""
    return read_text(text)


@cache
def mechanism(text: str) -> lw.Mechanism:
    return lw.Mechanism(described(text))


@cache
def pushes(case: Case) -> bool:
    """True if it has a law here: no constraint, no rigid stop."""
    return not case.kind.constraint and case.of(described(case.text)).acts != elements.IDLE


def _formed(kind: Any) -> list[Case]:
    found: list[Case] = []
    own = (g for g in good_entries.GOOD if g.section == kind.section)
    for good in (g for g in own if elements.kind_of(g.section, dict(g.pairs)) is kind):
        helpers = "".join(f"{key}: {text}\n" for key, text in good_entries.helpers(good.base, good.section).items())
        number = sum(x.base == good.base for x in found) + 1
        before = good_entries.BASES[good.base].replace("mass: 1}", INERT[good.base])
        found.append(Case(kind, good.base, before + MARK + helpers, good.name, good.pairs, f"-{number}"))
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
        if case.kind.constraint and not case.kind.form:
            return bool(len(mechanism(case.text).system.start.q))  # it can be assembled
        described(case.text)
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
                texts = (f"{x}/50" if kind.by_load and n == "radius" else x for n, x in zip(given, texts, strict=False))  # it would jam
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

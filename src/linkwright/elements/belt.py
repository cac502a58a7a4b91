"""Belts, chains and ropes of a description: the pulleys they run over, and which pieces of them have the same tension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from linkwright.elements.base import CONTACT, Key, Limit, ModelElement, RowTravel, Scalar, either, held, needs, number, place, rebound
from linkwright.errors import Source

PULLEY = {
    "joint": Key("joint", "hinge on which the pulley turns"),
    "body": Key("body", "of the pulley, if it could be either body of the hinge"),
    "at": Key("point", "in the place of `joint`: a sheave without friction"),
    "radius": Key("number", "to the middle of the belt", "length"),
    "teeth": Key("number", "in the place of `radius`, next to the `pitch` of the belt", "pure number"),
    "turn": Key("word", "sense in which the belt passes", choices=("ccw", "cw")),
}
PULLEY_TOGETHER = (either("joint", "at"), needs("body", "joint"), either("radius", "teeth"))


@dataclass(frozen=True)
class Pulley:
    """A place where a belt runs: without slip on a body with a hinge (`joint`), or without friction over a `point`; also the end of a rope.

    Directions of the spans before and after it are counted in the axes of `carrier` (the other body of the hinge; `body` at a point).
    """

    body: str  # that the belt touches
    carrier: str
    joint: str = ""
    point: str = ""
    turn: float = 0.0  # 1: the belt passes it counterclockwise, -1: clockwise, 0: an end without radius
    toward: tuple[int, int] = (0, 0)  # directions of the spans before and after it in the drawing, in eighths of a turn


@dataclass(frozen=True)
class Belt(ModelElement):
    """A belt, chain or rope over pulleys, inextensible: closed, or with two ends. See `mechanics.constraints.belt`."""

    section, word, group, form = "belts", "belt", "constraints", "belt"
    synonyms = (
        "belt", "chain", "chains", "pulley", "pulleys", "sprockets", "timing_belts", "rope", "ropes",
        "cable", "cables", "tendon", "tendons", "string", "strings", "winch", "winches", "hoists",
    )  # fmt: skip
    constraint = "belt"
    named = False
    formats = held(mjcf="coordinates", robot="mimic")
    hidden = ("radii", "rests")
    order = ("around", "path", "crossed", "pretension", "pitch", "length", "slack", "restitution")
    together = (either("around", "path"), needs("pretension", "around"), needs("slack", "path"), needs("restitution", "slack"))
    further = MappingProxyType(
        {
            "around": Key("items", "pulleys of a closed belt, in its order", of=PULLEY, together=PULLEY_TOGETHER),
            "path": Key("items", "a rope's ends and the pulleys between them", of=PULLEY, together=PULLEY_TOGETHER),
            "slack": Key("flag", "a rope that may be slack in a run, and then pulls nothing"),
            "crossed": Key("flag", "a belt around two pulleys that turn against each other"),
        }
    )

    name: str
    pulleys: tuple[Pulley, ...]
    radii: tuple[Scalar, ...] = number("length", "of the pulleys", above=0.0)
    rests: tuple[Scalar, ...] = number("length", "of every row: in the drawing, from the directions `toward`", ())
    closed: bool = False
    carrier: str = ""  # of a closed belt: the body that carries all pulleys
    pretension: Scalar | None = number("force", "of a closed belt whose pulleys one body carries", None, least=0.0)
    length: Scalar | None = number("length", "of the whole belt (default: as in the drawing)", None, above=0.0, aside=True)
    pitch: Scalar | None = number("length", "of teeth or chain links", None, above=0.0, aside=True)
    where: Source | None = place()
    slack: bool = False
    restitution: Scalar = rebound("it became taut")

    @property
    def row_travel(self) -> RowTravel | None:
        return RowTravel(None, 0.0, self.restitution) if self.slack else None

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints it ties, each once."""
        return tuple(dict.fromkeys(p.joint for p in self.pulleys if p.joint))

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it touches, in the order of the belt."""
        return tuple(p.body for p in self.pulleys)

    def limits(self) -> Iterator[Limit]:
        yield Limit(CONTACT, "tension.min", "force", 0.0, None, "is slack: a span would have to push with", loads=True)

    @property
    def passes(self) -> tuple[tuple[str, str], ...]:
        return tuple(pairwise(self.joints)) if self.carrier else ()

    @property
    def wheels(self) -> tuple[tuple[str, Scalar], ...]:
        return tuple((p.joint or f"{p.body}.{p.point}", r) for p, r in zip(self.pulleys, self.radii, strict=True))

    def bends(self, joint: str) -> str:
        if joint not in self.joints or not self.carrier:
            return ""
        return (
            f"carries a pulley of the belt '{self.name}', and its pretension loads the hinge, too. Such a force cannot "
            f"be held. Hold the force of the belt, '{self.name}.{self.labels[0]}'."
        )

    @property
    def keeps_axes(self) -> tuple[str, ...]:
        return tuple(p.carrier for p in self.pulleys)

    @property
    def body_pairs(self) -> tuple[tuple[str, str], ...]:
        return tuple((self.pulleys[i].body, self.pulleys[j].body) for i, j in self.spans)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Pulleys at the ends of every straight piece."""
        n = len(self.pulleys)
        return tuple((i, (i + 1) % n) for i in range(n if self.closed else n - 1))

    @property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Spans between pulleys without slip, which have the same tension; ends do not slip either."""
        firm = [i for i, p in enumerate(self.pulleys) if p.joint or (not self.closed and i in (0, len(self.pulleys) - 1))]
        spans = len(self.spans)
        if not firm:
            return (tuple(range(spans)),)
        starts = firm if self.closed else firm[:-1]
        ends = [*starts[1:], starts[0] + spans] if self.closed else firm[1:]
        return tuple(tuple(k % spans for k in range(a, b)) for a, b in zip(starts, ends, strict=True))

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """Parts that are constraints: of a closed belt on one carrier all but the last, which follows from the others."""
        return self.parts[:-1] if self.carrier else self.parts

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"span{part[0] + 1}" for part in self.rows)

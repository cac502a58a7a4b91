"""Coupling: one joint's coordinate follows from another's, by a ratio, a table, a polynomial or motion laws."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from linkwright.elements.base import (
    Key,
    ModelElement,
    RowTravel,
    Scalar,
    either,
    held,
    needs,
    number,
    place,
    rebound,
    table_keys,
    table_together,
    tied,
)
from linkwright.errors import Source

if TYPE_CHECKING:
    from linkwright.elements.cam import CamContact

MOVES = {
    "moves": Key("moves", "pieces of the motion, one after the other"),
    "begin": Key("number", "coordinate of `to` at the start of the moves", "second travel"),
    "phase": Key("number", "coordinate of `from` at the start of the moves", "first travel"),
}
MOVES_TOGETHER = (needs("begin", "moves"), needs("phase", "moves"))


@dataclass(frozen=True)
class Coupling(ModelElement):
    """q_second = ratio * q_first + offset, a table, a polynomial, or moves by motion laws over q_first. The joints see torque only.

    Moves begin at `begin` where q_first is `phase`; those that span whole turns of a hinge repeat (`repeats`). `plus` are further joints
    whose coordinates, times a factor, add to the right side.
    """

    section, word, group, form = "couplings", "coupling", "constraints", "coupling"
    synonyms = ("ratio", "ratios", "mimic", "transmission", "transmissions")
    constraint = "coupling"
    formats = held(mjcf="coordinates", robot="mimic")
    together = (
        either(("ratio", "offset"), "polynomial", "moves", ("table", "x", "y", "csv"), needed=False),
        *MOVES_TOGETHER,
        *table_together(),
        needs("restitution", "play"),
    )
    further = MappingProxyType(
        {
            "polynomial": Key("numbers", "coefficients, lowest power first, in the place of `ratio`", "second/first^i"),
            "plus": Key("factors", "further joints whose coordinates, times a factor, are added"),
            **MOVES,
            **table_keys("coordinate of `from`"),
        }
    )

    name: str
    first: str = tied(key="from")
    second: str = tied(key="to")
    ratio: Scalar = number("second/first", "of the coordinates", 1.0, geometry=True)
    offset: Scalar | None = number("second travel", "added to it (default: as assembled at the start)", None, geometry=True)
    table: Any = None  # a Table
    where: Source | None = place()
    polynomial: tuple[Scalar, ...] = ()  # coefficients, lowest power first; in the place of ratio and offset
    plus: tuple[tuple[str, Scalar], ...] = ()
    moves: tuple[Any, ...] = ()  # of Move
    begin: Scalar = 0.0
    phase: Scalar = 0.0
    repeats: bool = False
    cam: CamContact | None = None  # where disc and follower touch; else the inside of the coupling is of no interest
    play: Scalar = number(
        "second travel", "free travel of the second coordinate in a run, half of it to each side", 0.0, least=0.0, absent=True, aside=True
    )
    restitution: Scalar = rebound("an impact at an end of the play")

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of all joints it ties."""
        return (self.first, self.second, *(name for name, _ in self.plus))

    @property
    def counts(self) -> bool:
        return self.uses("offset") and self.offset is None

    @property
    def labels(self) -> tuple[str, ...]:
        return ("ratio",)

    @property
    def hides_contact(self) -> bool:
        return self.cam is None

    @property
    def row_travel(self) -> RowTravel | None:
        return play_of(self.play, self.restitution)

    def uses(self, field: str) -> bool:
        """Ratio and offset are its law where it has no other."""
        return self.table is None and not self.polynomial and not self.moves


def play_of(play: Scalar, restitution: Scalar) -> RowTravel | None:
    """The travel of a row with play; None without any."""
    if isinstance(play, int | float) and play == 0.0:
        return None
    return RowTravel(-0.5 * play, 0.5 * play, restitution)

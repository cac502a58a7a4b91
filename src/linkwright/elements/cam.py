"""Cam: a disc on a hinge that moves a follower by a motion law; in a description a coupling with a contact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from linkwright.elements.base import CONTACT, Key, Limit, PointRef, RowTravel, Scalar, either, held, needs, table_keys, table_together
from linkwright.elements.coupling import MOVES, MOVES_TOGETHER, Coupling


@dataclass(frozen=True)
class CamContact:
    """Contact of a cam: a roller about a point of the follower, or a flat face through it.

    A face goes through `face`, a second point, or without one across the guide. `base`: radius of the base circle, from which the law
    counts; None: the law is the follower's coordinate, and the base circle follows. `groove`: the roller is guided on both sides.
    """

    point: PointRef
    radius: Scalar = 0.0
    flat: bool = False
    face: str = ""
    base: Scalar | None = None
    groove: bool = False


@dataclass(frozen=True)
class Cam(Coupling):
    """A follower that touches a disc: a roller or a flat face. Its law, moves or a table, is the lift over the angle of the disc."""

    section, word, form, held_in = "cams", "cam", "cam", "couplings"
    synonyms = ("cam", "followers", "follower")
    hidden = ("ratio", "offset", "play")
    formats = held()  # of a coupling: a law of the coordinates, which they are not alone
    together = (either("roller", "flat"), either("moves", ("table", "x", "y", "csv")),
                either("groove", "lift_off", needed=False), *MOVES_TOGETHER, *table_together(),
                needs("restitution", "lift_off"))  # fmt: skip
    further = MappingProxyType(
        {
            "roller": Key(
                "entries", "of the follower",
                of={"at": Key("point", "center of the roller", required=True), "radius": Key("number", "", "length", required=True)},
            ),
            "flat": Key("points", "a point of the follower's flat face, or two"),
            "base": Key("number", "radius of the base circle", "length"),
            "groove": Key("flag", "the roller is guided on both sides"),
            "lift_off": Key("flag", "the follower may leave the disc in a run"),
            **MOVES,
            **table_keys("angle of the disc"),
        }
    )  # fmt: skip

    lift_off: bool = False

    @property
    def row_travel(self) -> RowTravel | None:
        return RowTravel(0.0, None, self.restitution, lifts=True) if self.lift_off else None

    def limits(self) -> Iterator[Limit]:
        if self.cam is not None and not self.cam.groove:
            lifts = "loses contact: the follower would have to be pulled with"
            yield Limit(CONTACT, "contact", "force", 0.0, None, lifts, loads=True)

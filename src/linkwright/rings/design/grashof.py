"""Grashof's classification of the four-bar loops of a planar mechanism that contain the ground.

The shortest link of a four-bar turns fully if shortest + longest < sum of the other two. Which link that is decides the type.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from linkwright.api import Description, unit_of
from linkwright.mechanics.kinematics.transmission import pins
from linkwright.motion.change_points import UNSURE

EQUAL = 1e-9  # share of the sum of all lengths: shortest + longest equal to the other two


@dataclass(frozen=True)
class FourBar:
    """A loop of ground, two links hinged to it and a coupler; `lengths` in m, in the order of `bodies`, the ground last."""

    pins: tuple[str, ...]  # A, B, C, D: A and D on the ground
    bodies: tuple[str, ...]  # A-B, B-C, C-D, D-A
    lengths: tuple[float, ...]
    kind: str  # "crank-rocker", "double-crank", "double-rocker", "triple-rocker" or "change-point"

    @property
    def excess(self) -> float:
        """Return shortest + longest less the other two: negative if the shortest link turns fully."""
        return _excess(self.lengths)

    def text(self, units: tuple[str, ...]) -> str:
        """`A-B-C-D: crank-rocker, Grashof: crank 300 + ground 1000 < rocker 750 + coupler 900 mm`."""
        symbol, size = unit_of(units, "length")
        shown = [(f"{body} {x / size:.5g}", x) for body, x in zip(self.bodies, self.lengths, strict=True)]
        (a, _), (b, _), (c, _), (d, _) = sorted(shown, key=lambda pair: pair[1])
        sign, rule = {"change-point": ("=", "limit of Grashof"), "triple-rocker": (">", "not Grashof")}.get(self.kind, ("<", "Grashof"))
        close = 0.0 < abs(self.excess) < UNSURE * sum(self.lengths) / 4.0 and self.kind != "change-point"
        near = f" by {abs(self.excess) / size:.2g} {symbol}, which cannot be distinguished from a change point" if close else ""
        return f"{'-'.join(self.pins)}: {self.kind}, {rule}: {a} + {d} {sign} {b} + {c} {symbol}{near}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def four_bars(d: Description) -> tuple[FourBar, ...]:
    """Return the four-bar loops through the ground, those of driven pins first; empty in space."""
    meeting = pins(d) if d.planar else {}
    places = {pin: {body: np.array(at, dtype=float) for body, at in spots.items()} for pin, spots in meeting.items()}
    most_pins = 60  # of a mechanism that is searched
    if len(places) > most_pins:
        return ()
    ground, driven = d.bodies[0].name, [x.joint.partition(":")[0] for x in d.drives]
    fixed = sorted((pin for pin, at in places.items() if ground in at), key=lambda pin: pin not in driven)
    out = []
    for one, other in combinations(fixed, 2):
        for crank in places[one]:
            for rocker in places[other]:
                if len({ground, crank, rocker}) == 3:
                    out += _closed(places, ground, (one, other), (crank, rocker))
    return tuple(out)


def _closed(places: dict[str, dict[str, np.ndarray]], ground: str, fixed: tuple[str, str], sides: tuple[str, str]) -> list[FourBar]:
    """Return the loops of two links at ground pins and a coupler that joins them."""
    out = []
    ends = [[pin for pin, at in places.items() if side in at and pin not in fixed] for side in sides]
    for B in ends[0]:
        for C in ends[1]:
            couplers = set(places[B]) & set(places[C]) - {ground, *sides}
            for coupler in sorted(couplers) if B != C else ():
                around, bodies = (fixed[0], B, C, fixed[1]), (sides[0], coupler, sides[1], ground)
                steps = zip(bodies, around, (*around[1:], around[0]), strict=True)
                lengths = tuple(float(np.linalg.norm(places[q][body] - places[p][body])) for body, p, q in steps)
                if min(lengths) > EQUAL * sum(lengths):
                    out.append(FourBar(around, bodies, lengths, _kind(lengths)))
    return out


def _excess(lengths: tuple[float, ...]) -> float:
    a, b, c, d = sorted(lengths)
    return a + d - b - c


def _kind(lengths: tuple[float, ...]) -> str:
    excess = _excess(lengths)
    if abs(excess) <= EQUAL * sum(lengths):
        return "change-point"
    if excess > 0.0:
        return "triple-rocker"
    return ("crank-rocker", "double-rocker", "crank-rocker", "double-crank")[lengths.index(min(lengths))]

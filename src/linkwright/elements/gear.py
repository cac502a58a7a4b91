"""Gear: two wheels in mesh, or a pinion on a rack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from linkwright.elements.base import Key, ModelElement, RowTravel, Scalar, Way, either, held, needs, number, place, rebound, tied
from linkwright.elements.coupling import play_of
from linkwright.errors import Source


@dataclass(frozen=True)
class Gear(ModelElement):
    """Two wheels rolling on their pitch circles, carried by the joints `first` and `second`, or a pinion on a rack (`rack`: the second
    joint slides, `radius_second` is not used). `internal`: the second wheel is a ring."""

    section, word, group, form = "gears", "gear", "constraints", "gear"
    constraint = "gear"
    named = False
    touching = True
    formats = held(mjcf="teeth", robot="mimic")
    hidden = ("first", "second", "radius_first", "radius_second")
    order = ("joints", "radii", "teeth", "module", "internal", "pressure_angle", "pinion", "rack", "radius", "play", "restitution")
    together = (either(("radii", "radius"), "teeth"), needs("teeth", "module"), needs("restitution", "play"))
    ways = MappingProxyType(
        {
            "wheels": Way(("joints", "radii", "teeth", "module", "internal", "pressure_angle", "play", "restitution"), ("joints",)),
            "rack": Way(
                ("pinion", "rack", "radius", "teeth", "module", "pressure_angle", "play", "restitution"), ("pinion", "rack"), ("teeth",)
            ),
        }
    )
    further = MappingProxyType(
        {
            "joints": Key("joints", "hinges of both wheels"),
            "radii": Key("numbers", "pitch radii of both wheels", "length"),
            "teeth": Key("numbers", "numbers of teeth, in the place of `radii`; next to `module`", "pure number"),
            "module": Key("number", "pitch diameter of a tooth", "length"),
            "internal": Key("flag", "the second wheel is a ring"),
            "pinion": Key("joint", "hinge of the pinion, in the place of `joints`"),
            "rack": Key("joint", "slider of the rack"),
            "radius": Key("number", "pitch radius of the pinion", "length"),
        }
    )

    name: str
    first: str = tied()
    second: str = tied()
    radius_first: Scalar = number("length", "pitch radius of the first wheel", above=0.0)
    radius_second: Scalar = number("length", "pitch radius of the second wheel", 0.0, above=0.0)
    internal: bool = False
    rack: bool = False
    pressure_angle: Scalar = number("angle", "of the teeth (default: 20 deg)", 0.3490658503988659, least=0.0)
    where: Source | None = place()
    side: tuple[float, float] | None = None  # of the pitch point and of the ratio, where symbols have no sign; None: by the radii
    play: Scalar = number(
        "length", "free way along the pitch circles in a run, half of it to each side", 0.0, least=0.0, absent=True, aside=True
    )
    restitution: Scalar = rebound("an impact at an end of the play")

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints it ties."""
        return self.first, self.second

    @property
    def labels(self) -> tuple[str, ...]:
        return ("mesh",)

    @property
    def row_travel(self) -> RowTravel | None:
        return play_of(self.play, self.restitution)

    @property
    def wheels(self) -> tuple[tuple[str, Scalar], ...]:
        return (self.first, self.radius_first), (self.second, self.radius_second)

    def bends(self, joint: str) -> str:
        """Teeth press their wheels apart with |lam| tan(alpha), whichever way they push."""
        straight = isinstance(self.pressure_angle, int | float) and self.pressure_angle == 0.0
        if joint not in self.joints or straight:
            return ""
        return (
            f"carries a wheel of the gear '{self.name}', whose teeth press it aside with |force| tan(pressure angle) "
            f"whichever way they push. Such a force cannot be held. Hold the force of the teeth, '{self.name}.mesh', or set "
            "pressure_angle: 0."
        )

    def sided(self, signs: tuple[float, float] | None) -> Any:
        return replace(self, side=signs)

"""Clearance of a pin in its hole or of a block in its guide: the joint is none any more, both parts touch where the play ends."""

from __future__ import annotations

from dataclasses import dataclass

from linkwright.elements.base import IDLE, Looks, ModelElement, Scalar, choice, either, in_joint, number, place
from linkwright.errors import Source


@dataclass(frozen=True)
class Clearance(ModelElement):
    """Play of a joint in a plane: a pin of its first body in a hole of the second, or with `length` a block of the second in a guide.

    The joint closes no loop. It has three coordinates, x, y and angle of the second body in the first, that are limited by touching.
    """

    section, word, form = "clearances", "clearance", "clearance"
    synonyms = ("clearance", "plays", "joint_clearances", "backlash")
    group = "contact"
    meets = True
    looks = Looks("", mark="wall")
    together = (either(("radius", "length")),)  # a pin has a radius, a block a length

    name: str
    joint: str = in_joint(named=True)
    clearance: Scalar = number(
        "length", "of the radii of hole and pin, or of a block to each side of its guide", above=0.0, preset=(5e-5, 5e-5)
    )
    radius: Scalar = number("length", "of the pin, or half the height of the block", 0.0, least=0.0, preset=(5e-3, 5e-3))
    length: Scalar | None = number("length", "of the block along its guide", None, above=0.0, preset=(0.05, 0.0))
    mu: Scalar = number("pure number", "coefficient of friction", 0.0, least=0.0)
    restitution: Scalar = number("pure number", "speed after an impact over the speed before", 0.0, least=0.0, most=1.0)
    jam: str = choice("refuse", "impact", meaning="if friction leaves no answer (Painleve): end the run, or let it jam by an impact")
    where: Source | None = place()

    @property
    def acts(self) -> str:
        return IDLE

    @property
    def slides(self) -> bool:
        """Return True for a block in a guide."""
        return self.length is not None

    @property
    def ideal(self) -> tuple[str, str]:
        """Coordinates of the loose joint that an ideal one holds at zero: x and y of a pin, y and angle of a block."""
        first, second = ("y", "angle") if self.slides else ("x", "y")
        return f"{self.joint}.{first}", f"{self.joint}.{second}"

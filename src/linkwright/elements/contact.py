"""Contact: surfaces of two bodies that may touch, with Coulomb friction and restitution. Nothing touches that no contact names."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from linkwright.elements.base import IDLE, Key, ModelElement, Scalar, choice, number, place
from linkwright.errors import Source


@dataclass(frozen=True)
class Contact(ModelElement):
    """Surfaces that may touch: a surface or several on each side. What touches neither sinks in nor pulls."""

    section, word, form = "contacts", "contact", "contact"
    synonyms = ("contact", "touch", "touches", "collides", "pairs", "contact_pairs")
    group = "contact"
    meets = True
    further = MappingProxyType({"between": Key("sides", "two surfaces, each a name or a list of names", required=True)})

    name: str
    first: tuple[str, ...]  # surfaces of side A
    second: tuple[str, ...]  # and of side B, from which normals point
    mu: Scalar = number("pure number", "coefficient of friction", 0.0, least=0.0)
    restitution: Scalar = number("pure number", "speed after an impact over the speed before", 0.0, least=0.0, most=1.0)
    jam: str = choice("refuse", "impact", meaning="if friction leaves no answer (Painleve): end the run, or let it jam by an impact")
    where: Source | None = place()

    @property
    def acts(self) -> str:
        return IDLE

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Every surface of side A with every one of side B."""
        return tuple((a, b) for a in self.first for b in self.second)

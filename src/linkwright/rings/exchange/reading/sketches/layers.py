"""Roles of layers (and groups of an SVG), by their names; a caller's own choice comes first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from linkwright.api import UsageError, nearest, patterns
from linkwright.rings.exchange.reading.sketches.drawing_contents import Sketch

PINS, POINTS, GROUND, GUIDES, OUTLINES, LINKS, OTHER, OWN = "pins", "points", "ground", "guides", "outlines", "links", "other", "own"
_NAMES = {
    GROUND: r"ground|fixed|frame|base|gestell|fest",
    POINTS: r"points?\Z|tracer|marked|marker",
    PINS: r"pins?\Z|pins?[ _-]|pivot|joint|hinge|bearing|gelenk|bolzen",
    GUIDES: r"guide|slider|slot|rail|f(ü|ue)hrung",
    OUTLINES: r"outline|contour|kontur|umriss",
    OTHER: r"dim|text|note|annot|title|border|hatch|cent(er|re)|constr|hidden|defpoint|path|curve|position|name|label|legend|spring|gear"
    r"|drive|cylinder|damper|scale|sheet|view|bema(ß|ss)|schrift|mitte|hilf",
    LINKS: r"0\Z|links?\Z|links?[ _-]|linkage|bod(y|ies)|bars?\Z|rods?\Z|member|mechanism|sketch|layer|visible|glied|skizze|ebene|svg",
}


@dataclass(frozen=True)
class Roles:
    """The role of every layer. A layer with the role `own` is a body that it names."""

    of: dict[str, str]

    def having(self, role: str) -> list[str]:
        return [name for name, r in self.of.items() if r == role]


def roles(sketch: Sketch, pins: Any = None, links: Any = None, ground: Any = None) -> Roles:
    """Roles of the layers of a drawing: those named by the caller (names or patterns), else by their own names."""
    found = {name: role_of(name) for name in sketch.layers}
    for role, given in ((PINS, pins), (LINKS, links), (GROUND, ground)):
        for name in _chosen(sketch.layers, given, role):
            found[name] = role
    if links is not None:  # what is named takes the place of what would be guessed
        named = _chosen(sketch.layers, links, LINKS)
        found = {n: OTHER if n not in named and r in (OWN, OUTLINES, LINKS) else r for n, r in found.items()}
    drawn = {s.layer for s in sketch.strokes}
    own = [n for n, r in found.items() if r == OWN and n in drawn]
    if len(own) == 1 and not any(r == LINKS and n in drawn for n, r in found.items()):
        found[own[0]] = LINKS  # the only layer with lines holds all links, whatever its name
    if any(r in (LINKS, OWN) and n in drawn for n, r in found.items()):
        return Roles({n: OTHER if r == OUTLINES else r for n, r in found.items()})
    return Roles({n: LINKS if r == OUTLINES else r for n, r in found.items()})


def role_of(name: str) -> str:
    """Return the role that the name of a layer or group says."""
    text = name.strip().lower()
    for role, pattern in _NAMES.items():
        if re.match(pattern, text) or re.search(rf"[\s_$|.-]({pattern})", text):
            return role
    return OWN


def _chosen(layers: Sequence[str], given: Any, what: str) -> list[str]:
    """Layers that fit the names or patterns given; `ground` may also name pins, which are no layers."""
    if given is None:
        return []
    wanted = [given] if isinstance(given, str) else list(given)
    out: list[str] = []
    for text in wanted:
        fitting = [n for n in layers if patterns.matching(str(text).lower(), [n.lower()])]
        if not fitting and what != GROUND:
            raise UsageError(f"{what}: there is no layer '{text}'.", nearest(str(text), layers, "Layers"))
        out += fitting
    return out


def listed(layers: Iterable[str]) -> str:
    names = sorted(layers)
    return ", ".join(f"'{n}'" for n in names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "") or "none"

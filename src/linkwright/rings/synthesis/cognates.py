"""Cognates: other linkages that trace the same coupler curve (theorem of Roberts and Chebyshev).

With pins x, y of the coupler and fixed pivots a, b, all relative to the coupler point, one cognate has the pins x' = a - x,
y' = (a - x) y / (y - x) and the pivots a, b' = (a y - b x) / (y - x); the other one follows by exchanging (x, a) and (y, b).
A slider-crank is the case b at infinity: one cognate is left, a slider-crank whose link at the fixed pivot moves as the coupler did,
and none is a four-bar.
"""

from __future__ import annotations

from dataclasses import replace

from linkwright.api import SAME_PLACE
from linkwright.rings.synthesis.linkage import Linkage, four_bar, slider_crank
from linkwright.rings.synthesis.motion_tracing import crank_linkage


def cognates(linkage: Linkage) -> tuple[Linkage, ...]:
    """Return the cognates of a four-bar (two) or slider-crank (one) with a coupler point; fewer where one has a link of no length.

    Each is drawn with the point where the given linkage has it, and driven at a link that turns fully where there is one.
    """
    at = crank_linkage(linkage)
    if at.p is None:
        return ()
    x, y, a = at.b - at.p, at.c - at.p, at.a - at.p
    if abs(y - x) <= SAME_PLACE * (abs(x) + abs(y)):
        return ()
    if at.d is None:
        assert at.guide is not None
        turned = at.guide * x / (y - x)  # the pivot at infinity of the guide turns by -x / (y - x)
        if min(abs(x), abs(turned), abs(a - x)) <= SAME_PLACE * max(abs(x), abs(y), abs(a)):
            return ()
        return (slider_crank(at.a, at.p + a - x, at.p + (a - x) * y / (y - x), turned, at.p),)
    b = at.d - at.p
    found = [_cognate(x, y, a, b), _cognate(y, x, b, a)]
    return tuple(_driven(at.p, *pins) for pins in found if _sound(*pins))


def _cognate(x: complex, y: complex, a: complex, b: complex) -> tuple[complex, complex, complex, complex]:
    """Pins a, x', y', b' of a cognate."""
    return a, a - x, (a - x) * y / (y - x), (a * y - b * x) / (y - x)


def _sound(a: complex, b: complex, c: complex, d: complex) -> bool:
    """True if all links have a length."""
    sizes = (abs(b - a), abs(c - b), abs(d - c), abs(d - a))
    return min(sizes) > SAME_PLACE * max(sizes)


def _driven(p: complex, a: complex, b: complex, c: complex, d: complex) -> Linkage:
    """The four-bar, driven from the side that turns fully."""
    one, other = (four_bar(*(p + z for z in pins), p) for pins in ((a, b, c, d), (d, c, b, a)))
    turns = [crank_linkage(each).circuits()[0].full for each in (one, other)]
    return replace(other if turns[1] and not turns[0] else one)

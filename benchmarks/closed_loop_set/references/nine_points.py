"""Four-bars whose coupler point passes nine points: solutions refined in 40 digits and proven one by one by Krawczyk's test.

Unknowns (24): B, A, C, D relative to the first point, then cosine and sine of the coupler's turn at the other eight. Links keep their
lengths and turns are turns: 24 equations of the pins themselves, not of the eliminated form in which linkages are searched. The
list of starts comes from a search; how many there must be is known from the literature (64 real classes of 1442 for Problem 3 of Wampler,
Morgan and Sommese, certified by Hauenstein and Sottile). A class is a four-bar with its two cognates: the three have their ground pivots
in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mpmath import mp, mpc, mpf

from benchmarks.closed_loop_set.references.certificates import DIGITS, System, certified, refined, separation, total

PINS = ("B", "A", "C", "D")


def equations(points: Sequence[tuple[str, str]]) -> System:
    def system(z: Sequence[Any], number: Callable[[str], Any]) -> list[Any]:
        origin = [number(v) for v in points[0]]
        out = []
        for i, point in enumerate(points[1:]):
            d = [number(v) - o for v, o in zip(point, origin, strict=True)]
            c, s = z[8 + 2 * i : 10 + 2 * i]
            out.append(c * c + s * s - 1)
            for k in (0, 4):
                x, y, a, b = z[k : k + 4]
                u, v = x * c - y * s - a + d[0], x * s + y * c - b + d[1]
                out.append(total([u * u, v * v]) - total([(x - a) * (x - a), (y - b) * (y - b)]))
        return out

    return system


def start(points: Sequence[tuple[str, str]], pins: dict[str, complex]) -> list[Any]:
    """Return the 24 unknowns of a linkage drawn at the first point; turns from the circles of both links, which meet in two points."""
    at = [complex(float(x), float(y)) for x, y in points]
    out = [v for name in PINS for v in ((pins[name] - at[0]).real, (pins[name] - at[0]).imag)]
    for p in at[1:]:
        turn = min(_turns(pins, at[0], p), key=lambda t: _missed(pins, at[0], p, t))
        out += [turn.real, turn.imag]
    return out


def _turns(pins: dict[str, complex], origin: complex, p: complex) -> list[complex]:
    """Return the turns that keep the length A-B, from the cosine theorem in the triangle of A, the coupler point and B."""
    arm, to, length = pins["B"] - origin, p - pins["A"], abs(pins["B"] - pins["A"])
    cosine = (length**2 - abs(arm) ** 2 - abs(to) ** 2) / (2.0 * abs(arm) * abs(to))
    bent = complex(cosine, 1.0) if abs(cosine) > 1.0 else complex(cosine, (1.0 - cosine**2) ** 0.5)
    direction = to / abs(to) * abs(arm) / arm
    return [direction * bent, direction * bent.conjugate()]


def _missed(pins: dict[str, complex], origin: complex, p: complex, turn: complex) -> float:
    return abs(abs(p + turn * (pins["C"] - origin) - pins["D"]) - abs(pins["C"] - pins["D"]))


def proven(points: Sequence[tuple[str, str]], starts: Sequence[dict[str, complex]], radius: str = "1e-20") -> list[dict[str, Any]]:
    """Return the refined linkages as complex pins at the first point; raise ArithmeticError unless each box of the radius holds one."""
    system, found = equations(points), []
    for pins in starts:
        z = refined(system, start(points, pins))
        if not certified(system, z, mpf(radius)):
            raise ArithmeticError(f"Krawczyk's test does not hold in a box of radius {radius}")
        mp.dps = DIGITS
        origin = mpc(*points[0])
        found.append({name: origin + mpc(z[2 * k], z[2 * k + 1]) for k, name in enumerate(PINS)} | {"P": origin})
    return found


def all_different(linkages: Sequence[dict[str, Any]], wanted: int) -> None:
    """Raise ArithmeticError unless there are that many classes, no two of which have the same ground pivots."""
    places = [[x for z in pivots(pins) for x in (z.real, z.imag)] for pins in linkages]
    apart = separation(places) if len(places) > 1 else mpf("inf")
    if len(places) != wanted or not apart > mpf("1e-6"):
        raise ArithmeticError(f"{len(places)} classes whose pivots are {mp.nstr(apart, 3)} m apart: {wanted} different ones are known")


def pivots(pins: dict[str, Any]) -> list[Any]:
    """Return the three ground pivots of a linkage and its cognates, by x: A, D and the vertex of the triangle similar to the coupler."""
    a, b, c, d, p = (pins[name] for name in "ABCDP")
    return sorted([a, d, a + (d - a) * (p - b) / (c - b)], key=lambda z: z.real)


def in_order(linkages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the linkages by the x of the middle of their three pivots."""
    return sorted(linkages, key=lambda pins: sum(z.real for z in pivots(pins)))

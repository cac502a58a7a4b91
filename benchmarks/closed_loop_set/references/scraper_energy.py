"""The free motion of the carpet scraper in a second way: positions in closed form, the time by quadrature of the energy.

The rocker with the coupler, and link 5 with the arm, are pairs of circles; the pantograph is a parallelogram. All places and their rates by
the crank's angle follow without Newton's method, without multipliers and without an equation of motion. The crank swings between two
positions of rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mpmath import expj, mp, mpc, mpf

from benchmarks.closed_loop_set.references.one_degree import Conservative
from benchmarks.closed_loop_set.references.plane import Plane

PIECES = 24  # of a swing
Moving = tuple[Any, Any]  # a place and its rate by the crank's angle, complex


class Swing(NamedTuple):
    """The energy of the machine, its positions of rest and the time from the first of them to the start."""

    model: Conservative
    low: Any
    high: Any
    before: Any
    period: Any

    def at(self, time: Any) -> tuple[Any, Any]:
        """Return angle and speed of the crank at a time after the start."""
        angle, sign = self.model.swinging(self.before + time, self.high, PIECES)
        return angle, sign * self.model.speed(angle)


def swing(plane: Plane, speed: Any) -> Swing:
    """Return the swing of the machine that passes the crank angle zero with this speed."""
    passing = Conservative(lambda s: inertia(plane, s), lambda s: potential(plane, s), 0, speed)
    low, high = (passing.rest(side, mpf("0.05")) for side in (-1, 1))
    model = Conservative(passing.M, passing.V, low, 0)
    return Swing(model, low, high, model.swung(mpf(0), high, PIECES), 2 * model.swung(high, high, PIECES))


def places(plane: Plane, s: Any) -> dict[str, Moving]:
    """Return the pins with their rates, by name."""
    ground: dict[str, Moving] = {name: (z, mpc(0)) for name, z in plane.ground.items()}
    crank = _length(plane, "crank", "O1", "A") * expj(s)
    a = (ground["O1"][0] + crank, mpc(0, 1) * crank)
    b = _dyad(a, ground["O2"], _length(plane, "coupler", "A", "B"), _length(plane, "rocker", "O2", "B"))
    far = _length(plane, "coupler", "A", "S") / _length(plane, "coupler", "A", "B")
    tip = _on(a, b, far)
    p = _dyad(tip, ground["O4"], _length(plane, "link5", "P", "S"), _length(plane, "arm", "O4", "P"))
    q = _on(ground["O4"], p, _length(plane, "arm", "O4", "Q") / _length(plane, "arm", "O4", "P"))
    r = (q[0] + tip[0] - p[0], q[1] + tip[1] - p[1])
    t = _on(q, r, _length(plane, "tool", "Q", "T") / _length(plane, "tool", "Q", "R"))
    return {**ground, "A": a, "B": b, "S": tip, "P": p, "Q": q, "R": r, "T": t}


def inertia(plane: Plane, s: Any) -> Any:
    """Return M of the crank's angle."""
    total, at = mpf(0), places(plane, s)
    for link in plane.links:
        (one, rate), (two, other), length, share = _ends(link, at)
        turn = (other - rate) / (two - one)
        if abs(turn.real) > mpf(10) ** (8 - mp.dps) or abs(abs(two - one) - length) > mpf(10) ** (8 - mp.dps):
            raise ArithmeticError(f"{link.name} changes its length")
        total += link.mass * abs(rate + share * (other - rate)) ** 2 + link.inertia * turn.imag**2
    return total


def potential(plane: Plane, s: Any) -> Any:
    total, at = mpf(0), places(plane, s)
    for link in plane.links:
        (one, _), (two, _), _, share = _ends(link, at)
        total += link.mass * plane.gravity * (one + share * (two - one)).imag
    return total


def _ends(link: Any, at: dict[str, Moving]) -> tuple[Moving, Moving, Any, Any]:
    """Return the first and last pin of a bar, their distance, and the share of it at which the center lies."""
    first, *_, last = [name for name in link.points if name != "center"]
    span = link.points[last] - link.points[first]
    return at[first], at[last], abs(span), (link.points["center"] - link.points[first]) / span


def _length(plane: Plane, body: str, a: str, b: str) -> Any:
    points = plane.links[plane.index(body)].points
    return abs(points[b] - points[a])


def _on(a: Moving, b: Moving, share: Any) -> Moving:
    """Return the point on the line from a to b at a share of their distance."""
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def _dyad(u: Moving, w: Moving, from_u: Any, from_w: Any) -> Moving:
    """Return the point of two circles that lies to the right of the line from u to w, with its rate."""
    d = w[0] - u[0]
    along = (abs(d) ** 2 + from_u**2 - from_w**2) / (2 * abs(d))
    if abs(along) > from_u:
        raise ArithmeticError("the circles do not meet")
    x = u[0] + d / abs(d) * mpc(along, -mp.sqrt(from_u**2 - along**2))
    m, n = x - u[0], x - w[0]  # both links keep their lengths: Re(conj(m) (x' - u')) = 0, and the same for n
    p, q = (m.conjugate() * u[1]).real, (n.conjugate() * w[1]).real
    det = m.real * n.imag - m.imag * n.real
    return x, mpc(p * n.imag - q * m.imag, q * m.real - p * n.real) / det

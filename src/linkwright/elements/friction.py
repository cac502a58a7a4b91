"""Friction in a joint: viscous, constant, and by the load of the joint.

    effort   -coulomb tanh(v / speed) - viscous v        without `speed`: -coulomb sign(v) - viscous v, and it sticks

With `breakaway` dry friction is that many times larger at rest. Once it slips it falls, over the speed `stribeck` or at once:

    (1 + (breakaway - 1) exp(-(v / stribeck)^2)) times coulomb, and times mu

A friction that sticks holds its joint at rest up to its bound. Runs and `s.forward` have that law (`simulation.friction_states`). Equations
that cannot switch, those of batches, environments and exported code, turn it round over `STAND_IN`. The part that grows with the joint's
load (mu, radius) needs the reactions, so it is no law of a travel: inverse dynamics and the same runs add it.

Velocities that make up a vector (of a ball, of a free or planar joint) meet dry friction together: coulomb against the direction of the
vector, tanh of its size. It is always smooth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.elements.base import Looks, ModelElement, Scalar, either, held, in_joint, needs, number, place
from linkwright.errors import Source

STAND_IN = 0.01  # rad/s or m/s: over which friction that sticks turns round in equations that are integrated without events
CREEP = 1e-9  # the same in inverse dynamics, where nothing is integrated: above 2e-8 it has its whole effort


def falling(v: Any, breakaway: Any, stribeck: Any) -> Any:
    """Dry friction at a speed over that of fast sliding; without a `stribeck` speed it falls at once."""
    for given, idle in ((breakaway, 1.0), (stribeck, 0.0)):
        if isinstance(given, (int, float)) and given == idle:
            return 1.0
    return 1.0 + (breakaway - 1.0) * np.exp(-((v / stribeck) ** 2))


@dataclass(frozen=True)
class Friction(ModelElement):
    """Friction of a joint: -coulomb sign(v) - viscous v; `mu`, `radius`: by its load; `speed`: smooth, tanh(v/speed) for the sign."""

    section, word, held_in = "friction", "friction", "frictions"
    of_speed = True
    switches = True
    by_load = True
    looks = Looks("", mark="rub")
    formats = held(mjcf="friction", robot="friction")
    together = (either(("coulomb", "viscous", "mu")), needs("radius", "mu"), needs("speed", "coulomb", "mu"),
                needs("breakaway", "coulomb", "mu"), needs("stribeck", "breakaway"))  # fmt: skip

    name: str
    joint: str = in_joint(named=True, one="mu")
    coulomb: Scalar = number("effort", "constant effort against the motion", 0.0, least=0.0, absent=True)
    viscous: Scalar = number("effort/rate", "effort at a rate of one", 0.0, least=0.0, absent=True)
    speed: Scalar = number(
        "rate", "over which `coulomb` and `mu` turn round; without it they stick", 0.0, above=0.0, absent=True, fixed=(0.0,)
    )
    mu: Scalar = number("pure number", "coefficient of friction by the load of the joint", 0.0, least=0.0, absent=True, preset=(0.1, 0.1))
    radius: Scalar = number("length", "of the pin, the lever of `mu`", 0.0, least=0.0, absent=True, preset=(0.0, 5e-3))
    breakaway: Scalar = number("pure number", "dry friction at rest over dry friction that slides", 1.0, least=1.0, absent=True)
    stribeck: Scalar = number("rate", "over which it falls once it slips; without it at once", 0.0, above=0.0, absent=True, fixed=(0.0,))
    where: Source | None = place()

    @property
    def smooth(self) -> bool:
        """Return True if it turns round over a speed and never sticks."""
        return not (isinstance(self.speed, (int, float)) and self.speed == 0.0)

    @property
    def smooth_speed(self) -> Scalar:
        """Speed over which it turns round where it does not stick."""
        return self.speed if self.smooth else CREEP

    def falling(self, v: Any) -> Any:
        """Dry friction at a speed over that of fast sliding."""
        return falling(v, self.breakaway, self.stribeck)

    def law(self, at: Any) -> Any:
        return -self._against(at)

    def lost(self, at: Any) -> Any:
        return self._against(at) * at.v

    def _against(self, at: Any) -> Any:
        size = at.size
        if size is None:
            return self.coulomb * self.falling(at.v) * np.tanh(at.v / self.smooth_speed) + self.viscous * at.v
        return (self.coulomb * self.falling(size) * np.tanh(size / self.smooth_speed) / size + self.viscous) * at.v

    def effective(self, turns: bool) -> bool:
        return bool(float(self.coulomb) or float(self.viscous) or (float(self.mu) and (float(self.radius) or not turns)))

    def refused(self, about: Any) -> Iterator[tuple[str, str]]:
        """Friction of which a part would do nothing."""
        what, given, slides = about.what, about.given, about.slides
        if not given & {"coulomb", "viscous", "mu"}:
            amount, lever = ("N", "") if slides else ("N m", " with `radius: 10 mm`")
            yield "", f"{what} has nothing that brakes: give `coulomb: 0.2 {amount}`, `viscous:`, or `mu: 0.1`{lever}."
        if "mu" in given and "radius" not in given and not slides:
            yield (
                "mu",
                (
                    f"{what}: `mu` alone does nothing in a hinge, because its torque is mu times load times radius. Give the radius of the "
                    "pin, `radius: 10 mm`, or a constant torque, `coulomb: 0.2 N m`."
                ),
            )
        if "radius" in given and (slides or "mu" not in given):
            why = "a slider has no lever: its friction is mu times load" if slides else "it belongs to `mu`, which is missing"
            yield "radius", f"{what}: `radius` does nothing here; {why}. Take it out{'' if slides else ' or give `mu:`'}."
        if "speed" in given and not given & {"coulomb", "mu"}:
            yield "speed", f"{what}: `speed` smooths `coulomb` and `mu`, and neither is given. Take it out."
        if "breakaway" in given and not given & {"coulomb", "mu"}:
            yield "breakaway", f"{what}: `breakaway` multiplies `coulomb` and `mu` at rest, and neither is given. Take it out."
        if "stribeck" in given and "breakaway" not in given:
            yield "stribeck", f"{what}: `stribeck` is the speed over which `breakaway` fades. Give `breakaway: 1.3` too, or take it out."

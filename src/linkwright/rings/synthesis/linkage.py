"""A planar linkage in one drawn position: what every synthesis gives, and the model file of it.

Pins are complex numbers x + i y in meters. The drawing is the branch: a linkage that needs its other closure is drawn on that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwright.api import parse_unit


@dataclass(frozen=True)
class Guide:
    """A straight guide on ground: a body slides in it at a pin without turning, or turns about the pin where `turns`."""

    body: str
    at: str
    direction: complex
    turns: bool = False


@dataclass(frozen=True)
class GearPair:
    """Speeds of two joints in a fixed ratio: follower = ratio * driver + constant."""

    driver: str
    follower: str
    ratio: float


@dataclass(frozen=True)
class Linkage:
    """Pins, bodies through pins, traced points, guides and gears; `drive` is the pin that is driven at a constant speed."""

    kind: str  # "four-bar", "slider-crank", "watt I", "stephenson III", "geared five-bar", ...
    pins: Mapping[str, complex]  # and points
    bodies: Mapping[str, tuple[str, ...]]  # the first is ground
    drive: str
    points: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by body
    guides: Mapping[str, Guide] = field(default_factory=dict)  # by joint
    gears: tuple[GearPair, ...] = ()
    output: str = ""  # channel that was asked for: "coupler.P", "D"

    def moved(self, factor: complex, shift: complex) -> Linkage:
        """Return the linkage turned, scaled and shifted."""
        from dataclasses import replace

        pins = {name: factor * z + shift for name, z in self.pins.items()}
        turn = factor / abs(factor)
        guides = {name: replace(g, direction=g.direction * turn) for name, g in self.guides.items()}
        return replace(self, pins=pins, guides=guides)

    def mirrored(self) -> Linkage:
        """Return the mirror image about the x axis; its crank turns the other way in the same motion."""
        from dataclasses import replace

        pins = {name: z.conjugate() for name, z in self.pins.items()}
        return replace(self, pins=pins, guides={name: replace(g, direction=g.direction.conjugate()) for name, g in self.guides.items()})

    def with_guide(self, name: str, sign: float) -> Linkage:
        """Return the linkage with the direction of a guide times a sign: its coordinate counts the other way for -1."""
        from dataclasses import replace

        guide = self.guides[name]
        return replace(self, guides={**self.guides, name: replace(guide, direction=sign * guide.direction)})

    def length(self, first: str, second: str) -> float:
        return abs(self.pins[first] - self.pins[second])

    def document(self, name: str = "", unit: str = "m", speed: Any = "60 rpm") -> dict[str, Any]:
        """The model as `lw.load` reads it, with numbers in this unit of length."""
        size = parse_unit(unit)[0]
        at = {n: [float(z.real / size), float(z.imag / size)] for n, z in self.pins.items()}
        bodies: dict[str, Any] = {}
        for body, pins in self.bodies.items():
            bodies[body] = {"pins": list(pins), **({"points": list(self.points[body])} if self.points.get(body) else {})}
        ground = next(iter(self.bodies))
        joints = {
            n: {
                "type": "pin_slot" if g.turns else "prismatic",
                "between": [ground, g.body],
                "at": g.at,
                "axis": [float(g.direction.real), float(g.direction.imag)],
            }
            for n, g in self.guides.items()
        }
        out: dict[str, Any] = {
            "name": name or self.kind,
            "plane": "xy",
            "units": [unit, "kg", "deg", "rpm"],
            "drawing": at,
            "bodies": bodies,
        }
        if joints:
            out["joints"] = joints
        if self.gears:
            out["couplings"] = {f"gear{k + 1}": {"from": g.driver, "to": g.follower, "ratio": g.ratio} for k, g in enumerate(self.gears)}
        return {**out, "drive": {self.drive: speed}}


def four_bar(a: complex, b: complex, c: complex, d: complex, p: complex | None = None) -> Linkage:
    """Return the four-bar with fixed pivots A (driven) and D, moving pins B and C, and the coupler's point P if there is one."""
    pins = {"A": a, "B": b, "C": c, "D": d, **({} if p is None else {"P": p})}
    bodies = {"ground": ("A", "D"), "crank": ("A", "B"), "coupler": ("B", "C"), "rocker": ("C", "D")}
    return Linkage("four-bar", pins, bodies, "A", {} if p is None else {"coupler": ("P",)}, output="D" if p is None else "coupler.P")


def slider_crank(a: complex, b: complex, c: complex, direction: complex, p: complex | None = None) -> Linkage:
    """Return the slider-crank with the driven pivot A, moving pin B, the slider's pin C on its guide, and the coupler's point P."""
    pins = {"A": a, "B": b, "C": c, **({} if p is None else {"P": p})}
    bodies = {"ground": ("A",), "crank": ("A", "B"), "coupler": ("B", "C"), "slider": ("C",)}
    guides = {"guide": Guide("slider", "C", direction / abs(direction))}
    points = {} if p is None else {"coupler": ("P",)}
    return Linkage("slider-crank", pins, bodies, "A", points, guides, output="guide" if p is None else "coupler.P")

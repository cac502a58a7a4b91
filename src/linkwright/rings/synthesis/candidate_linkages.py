"""Drawings: the `Linkage` of one candidate in one position, from the steps of its form; slots in moving bodies included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from linkwright.rings.synthesis.dual_arrays import Dual
from linkwright.rings.synthesis.dyad_steps import Anchor, CrankStep, LinkagePositions, LinkageStep, SlideDyad, SlotDyad, YokeDyad
from linkwright.rings.synthesis.linkage import GearPair, Guide, Linkage


@dataclass(frozen=True)
class MovingSlot:
    """A straight slot in a moving body, in which a pin of another body slides and turns."""

    body: str
    pin: str
    pin_body: str
    direction: complex


@dataclass(frozen=True)
class SlottedLinkage:
    """A linkage with slots in moving bodies; apart from them it reads like a `Linkage`."""

    base: Linkage
    slots: Mapping[str, MovingSlot]  # by joint

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "base":
            raise AttributeError(name)
        return getattr(self.base, name)

    def moved(self, factor: complex, shift: complex) -> SlottedLinkage:
        """Return the linkage turned, scaled and shifted."""
        turn = factor / abs(factor)
        slots = {name: replace(s, direction=s.direction * turn) for name, s in self.slots.items()}
        return SlottedLinkage(self.base.moved(factor, shift), slots)

    def mirrored(self) -> SlottedLinkage:
        """Return the mirror image about the x axis."""
        slots = {name: replace(s, direction=s.direction.conjugate()) for name, s in self.slots.items()}
        return SlottedLinkage(self.base.mirrored(), slots)

    def with_guide(self, name: str, sign: float) -> SlottedLinkage:
        """Return the linkage with the direction of a guide on ground times a sign."""
        return SlottedLinkage(self.base.with_guide(name, sign), self.slots)

    def document(self, name: str = "", unit: str = "m", speed: Any = "60 rpm") -> dict[str, Any]:
        """The model as `lw.load` reads it, with numbers in this unit of length."""
        document = self.base.document(name, unit, speed)
        joints = {
            n: {
                "type": "pin_slot",
                "between": [s.body, s.pin_body],
                "at": s.pin,
                "axis": [float(s.direction.real), float(s.direction.imag)],
            }
            for n, s in self.slots.items()
        }
        drive = document.pop("drive")
        return {**document, "joints": {**document.get("joints", {}), **joints}, "drive": drive}


def drawn(
    kind: str, steps: Sequence[LinkageStep], known: LinkagePositions, *, candidate: int = 0, position: int = 0,
    points: Sequence[Anchor] = (), output: str = "", size: complex = 1.0, place: complex = 0.0,
) -> Linkage:  # fmt: skip
    """Return the linkage with its pins in one position of a candidate, scaled and turned by `size`, moved by `place`.

    points: traced points that are added to their bodies. The first step is the driven crank; geared cranks give gear pairs.
    """

    def value(dual: Dual) -> complex:
        array = dual.value
        return complex(array[candidate if array.shape[0] > 1 else 0, position if array.shape[1] > 1 else 0])

    pins = {name: complex(size * value(at) + place) for name, at in known.pins.items()}
    bodies: dict[str, list[str]] = {"ground": []}
    traced: dict[str, list[str]] = {}
    guides, gears, slots = {}, [], {}
    turn = size / abs(size)
    driver = steps[0]
    assert isinstance(driver, CrankStep)
    for step in steps:
        for body, pin in step.joins:
            held = bodies.setdefault(body, [])
            if pin not in held:
                held.append(pin)
        if isinstance(step, (SlideDyad, YokeDyad)):
            guides["guide"] = Guide(step.slider, step.pin, turn * value(known.poses[step.slider].direction))
        if isinstance(step, (SlotDyad, YokeDyad)):
            body, turned = (step.link, turn) if isinstance(step, SlotDyad) else (step.slider, 1j * turn)
            traced.setdefault(step.follows.body, []).append(step.follows.pin)
            slots["slot"] = MovingSlot(body, step.follows.pin, step.follows.body, turned * value(known.poses[body].direction))
        if isinstance(step, CrankStep) and step is not driver:
            gears.append(GearPair(driver.pivot.pin, step.pivot.pin, step.ratio))
    for anchor in points:
        if anchor.pin not in bodies[anchor.body] and anchor.pin not in traced.get(anchor.body, []):
            pins[anchor.pin] = complex(size * value(known.point(anchor)) + place)
            traced.setdefault(anchor.body, []).append(anchor.pin)
    linkage = Linkage(
        kind, pins, {b: tuple(p) for b, p in bodies.items()}, driver.pivot.pin, {b: tuple(p) for b, p in traced.items()}, guides,
        tuple(gears), output,
    )  # fmt: skip
    return cast(Linkage, SlottedLinkage(linkage, slots)) if slots else linkage

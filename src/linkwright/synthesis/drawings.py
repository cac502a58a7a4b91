"""Drawings: the `Linkage` of one candidate in one position, from the steps of its form."""

from __future__ import annotations

from collections.abc import Sequence

from linkwright.synthesis.dyad_steps import Anchor, CrankStep, LinkagePositions, LinkageStep, SlideDyad
from linkwright.synthesis.linkage import GearPair, Guide, Linkage


def drawn(
    kind: str, steps: Sequence[LinkageStep], known: LinkagePositions, *, candidate: int = 0, position: int = 0,
    points: Sequence[Anchor] = (), output: str = "", size: complex = 1.0, place: complex = 0.0,
) -> Linkage:  # fmt: skip
    """Return the linkage with its pins in one position of a candidate, scaled and turned by `size`, moved by `place`.

    points: traced points that are added to their bodies. The first step is the driven crank; geared cranks give gear pairs.
    """

    def value(dual) -> complex:
        array = dual.value
        return complex(array[candidate if array.shape[0] > 1 else 0, position if array.shape[1] > 1 else 0])

    pins = {name: size * value(at) + place for name, at in known.pins.items()}
    bodies: dict[str, list[str]] = {"ground": []}
    traced: dict[str, list[str]] = {}
    guides, gears = {}, []
    driver = steps[0]
    assert isinstance(driver, CrankStep)
    for step in steps:
        for body, pin in step.joins:
            held = bodies.setdefault(body, [])
            if pin not in held:
                held.append(pin)
        if isinstance(step, SlideDyad):
            turn = size / abs(size)
            guides[f"{step.slider} guide"] = Guide(step.slider, step.pin, turn * value(known.poses[step.slider].direction))
        if isinstance(step, CrankStep) and step is not driver:
            gears.append(GearPair(driver.pivot.pin, step.pivot.pin, step.ratio))
    for anchor in points:
        if anchor.pin not in bodies[anchor.body]:
            pins[anchor.pin] = size * value(known.point(anchor)) + place
            traced.setdefault(anchor.body, []).append(anchor.pin)
    return Linkage(
        kind, pins, {b: tuple(p) for b, p in bodies.items()}, driver.pivot.pin, {b: tuple(p) for b, p in traced.items()}, guides,
        tuple(gears), output,
    )  # fmt: skip

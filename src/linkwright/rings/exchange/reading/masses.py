"""Masses of imported bodies: links without one, and what they cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from linkwright.model.description import NO_INERTIA, ZERO3, Body
from linkwright.rings.exchange.import_report import Imported


def with_masses(imported: Imported) -> Imported:
    """The import with links without a mass as massless bodies, if others have one; those that move on their own are reported."""
    d = imported.description
    moving = d.moving
    if all(b.mass is None for b in moving):
        said = ("no link has a mass: kinematics only. Masses can be given by name, as `link.mass`",) if moving else ()
        return replace(imported, report=replace(imported.report, warnings=(*imported.report.warnings, *said)))
    held = Counter(end for j in d.joints for end in (j.first, j.second))
    armed = {j.second for j in d.joints if j.armature != 0.0}
    bodies, said = [], []
    for b in d.bodies:
        if b is not d.bodies[0] and not b.chain and not b.mass and b.inertia == NO_INERTIA:
            if held[b.name] == 1 and b.name not in armed:
                said.append(_idle(b, next(j.name for j in d.joints if b.name in (j.first, j.second))))
            b = replace(b, mass=0.0, com=ZERO3)
        bodies.append(b)
    report = replace(imported.report, warnings=(*imported.report.warnings, *said))
    return replace(imported, description=replace(d, bodies=tuple(bodies)), report=report)


def _idle(body: Body, joint: str) -> str:
    needed = f"forward dynamics needs a mass ('{body.name}.mass') or a fixed joint"
    return f"link '{body.name}' has no mass, and joint '{joint}' alone holds it: {needed}"

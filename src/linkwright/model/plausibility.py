"""Inputs of a model that are complete but doubtful: magnitudes that no machine has, parts that do nothing, a missing gravity.

`implausible` has the sentences of a check on inputs, `notes` all that a reader of the model should know. Each test is a function of the
description with its numbers, listed in `DOUBTS` and `REMARKS`, so that a list of checks can show them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from linkwright import elements
from linkwright.joints import JOINTS, is_slider
from linkwright.model.coordinates import joint_part, lengths
from linkwright.model.description import Description, Table
from linkwright.text.expressions import Expr, free_variables
from linkwright.text.units import ACCELERATION, ANGLE, ANGULAR_SPEED, LENGTH, NONE, SPEED, Dimension, shown

DENSEST = 22_600.0  # kg/m^3, osmium
EARTH = 9.80665  # m/s^2
# what machines have, in SI; the limits leave room for the odd one and catch a unit that is wrong by a factor of 1000
GRAVITY = (0.1, 50.0)  # m/s^2: from the largest asteroid to twice Jupiter's
FASTEST_TURN, FASTEST_SLIDE = 3.0e4, 1.0e3  # rad/s of a dental turbine and more; m/s
MOST_FRICTION = 2.0  # coefficient of rubber on a dry road is below
MOST_START = 4.0 * math.pi  # rad: two revolutions


def implausible(d: Description) -> list[str]:
    """Return a sentence for each input of the model that is out of proportion or without effect."""
    numbers = d.numbers()
    return [*d.warnings, *(text for doubt in DOUBTS for text in doubt(numbers))]


def notes(d: Description) -> list[str]:
    """Return everything that a reader of the model should check, `implausible` first."""
    numbers = d.numbers()
    return [*implausible(d), *(text for remark in REMARKS for text in remark(numbers))]


def of_velocity(name: str) -> bool:
    """True for the name of a velocity that a load may depend on: `A.v`, `ram.R.vy`, `base.wx`."""
    return name.split(".")[-1] in ("v", "vx", "vy", "vz", "wx", "wy", "wz")


# ---------------------------------------------------------------- magnitudes


def _gravity(d: Description) -> Iterator[str]:
    g = float(np.linalg.norm([float(x) for x in d.gravity]))
    if g and not GRAVITY[0] <= g <= GRAVITY[1]:
        times = g / EARTH
        share = f"{times:.4g} times" if times > 1.0 else f"1/{1.0 / times:.4g} of"
        yield f"gravity of {shown(g, ACCELERATION, d.units)} is {share} the Earth's, 9.81 m/s^2. Check its digits and its unit"


def _fast_drives(d: Description) -> Iterator[str]:
    for drive in d.drives:
        if drive.kind != "speed" or isinstance(drive.value, (Expr, Table)):
            continue
        slides = _slides(d, drive.joint)
        most, dimension = (FASTEST_SLIDE, SPEED) if slides else (FASTEST_TURN, ANGULAR_SPEED)
        yield from _larger(d, f"the speed of drive '{drive.joint}'", abs(float(drive.value)), most, dimension)


def _far_starts(d: Description) -> Iterator[str]:
    hinges = {j.name for j in d.joints if JOINTS[j.type].coordinate_kinds == ("angle",)}
    for name, value in d.start:
        if name in hinges and abs(float(value)) > MOST_START:
            turns = float(value) / (2.0 * math.pi)
            yield f"the start of '{name}', {shown(float(value), ANGLE, d.units)}, is {turns:.4g} revolutions. Check its unit"


def _rough(d: Description) -> Iterator[str]:
    for f in d.rubbing:
        yield from _larger(d, f"the friction coefficient of '{f.name}'", float(f.mu), MOST_FRICTION, NONE)


def _larger(d: Description, what: str, value: float, most: float, dimension: Dimension) -> Iterator[str]:
    if value > most:
        yield f"{what}, {shown(value, dimension, d.units)}, is implausibly large. Check its digits and its unit"


def _no_room(d: Description) -> Iterator[str]:
    """Moving bodies heavier than osmium: lengths in meters, written where millimeters are meant."""
    places = {b.name: [p.at for p in b.points] for b in d.bodies}
    for j in d.joints:
        places[j.first].append(j.frame_first.at)
        places[j.second].append(j.frame_second.at)
    size = max((_widest(np.array(x, dtype=float)) for x in places.values() if x), default=0.0)
    mass = float(sum(b.mass or 0.0 for b in d.moving))
    around = 5.0  # edge of a cube in which all bodies have room, over the longest distance of two places of one body
    if size and mass > DENSEST * (around * size) ** 3:
        far = f"the largest distance on one body is {shown(size, LENGTH, d.units)}"
        yield f"{far}, but the moving bodies weigh {mass:.4g} kg: check the unit of lengths"


def _widest(places: np.ndarray) -> float:
    """Return the largest distance of two places."""
    return max(float(np.linalg.norm(places - at, axis=1).max()) for at in places)


def _slides(d: Description, name: str) -> bool:
    joint = next((j for j in d.joints if j.name == name), None)
    return joint is None or is_slider(JOINTS[joint.type])  # cylinders slide


# ---------------------------------------------------------------- without effect


def _idle_parts(d: Description) -> Iterator[str]:
    ground = d.bodies[0].name
    if d.bodies[0].mass:
        yield f"the mass of '{ground}' does nothing, because the ground does not move"
    for load in elements.from_outside(d):
        if ground in elements.body_names(load):
            yield f"{load.word} '{load.name}' acts on '{ground}', which does not move: nothing feels it but the foundation"
    lines = lengths(d)
    for x in (x for x in d.acting if x.acts == elements.JOINT):
        joint = elements.joint_of(x)
        if not x.effective(joint not in lines and "angle" in joint_part(d, joint).kinds):
            yield f"{x.word} '{x.name}' is zero: it does nothing"


# ---------------------------------------------------------------- remarks


def no_gravity(d: Description) -> list[str]:
    """Return the remark that a mechanism with masses has no gravity, with what to write."""
    if any(float(x) for x in d.gravity) or not any(b.mass for b in d.bodies[1:]):
        return []
    example = "[0, -9.81 m/s^2]" if d.planar else "[0, 0, -9.81 m/s^2]"
    return [f"no gravity is given, so there is none. Write `gravity: {example}` if there should be"]


def elastic_loads(d: Description) -> list[str]:
    """Return warnings on loads that vary with position alone: they push back on the return stroke, which a sheet that is cut does not."""
    out = []
    for load in elements.from_outside(d):
        seen = {v for x in elements.varying(load) for v in ([x.channel] if isinstance(x, Table) else free_variables(x))}
        if seen and not any(v == "t" or of_velocity(v) for v in seen):
            only = f"{load.word} '{load.name}' depends on position only ({', '.join(sorted(seen))})"
            out.append(f"{only}: it acts with the same force on the return stroke, as a spring does")
    return out


DOUBTS: tuple[Callable[[Description], Iterator[str]], ...] = (_gravity, _fast_drives, _far_starts, _rough, _no_room, _idle_parts)
REMARKS: tuple[Callable[[Description], list[str]], ...] = (no_gravity, elastic_loads)

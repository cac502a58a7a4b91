"""The `gears:` section: wheels by radii or teeth, pinions on racks."""

from __future__ import annotations

import math
from typing import Any

from linkwright import elements
from linkwright.elements import Gear
from linkwright.model.file.elements import Elements
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import ANGLE, LENGTH, NONE


def read_gear(reader: Elements, name: str, entry: FileNode) -> Gear:
    """Read a pair of wheels, or a pinion on a rack."""
    what = f"gear '{name}'"
    keys = entry.keys(what, elements.keys(Gear))
    alpha = reader.value(keys, "pressure_angle", ANGLE, what, Gear.pressure_angle, least=0.0)
    if reader.context.numeric(alpha) >= math.radians(60):
        raise keys["pressure_angle"].error(f"{what}: the pressure angle must be below 60 deg. The standard is 20 deg.", name=what)
    play, restitution = reader.value(keys, "play", LENGTH, what, 0.0, least=0.0), reader.restitution(keys, what)
    free = {"play": play, "restitution": restitution}
    if "pinion" in keys:
        entry.keys(what, Gear.ways["rack"].keys, Gear.ways["rack"].required)
        first, second = reader.joint(keys["pinion"], what), reader.joint(keys["rack"], what)
        if reader.slides(first) or not reader.slides(second):
            raise entry.error(f"{what}: the pinion must be on a hinge and the rack on a slider. Exchange or correct them.", name=what)
        radius = _radii(reader, keys, entry, what, ["radius"])[0]
        return Gear(name, first, second, radius, rack=True, pressure_angle=alpha, where=entry.where, **free)
    entry.keys(what, Gear.ways["wheels"].keys, Gear.ways["wheels"].required)
    first, second = (reader.joint(n, f"{what}: joints") for n in keys["joints"].sequence(f"{what}: joints", 2))
    if first == second or reader.slides(first) or reader.slides(second):
        raise keys["joints"].error(
            f"{what} needs two different hinges that carry the wheels. A rack is written `pinion:` and `rack:`.", name=what
        )
    radii = _radii(reader, keys, entry, what, ["first", "second"])
    internal = keys["internal"].flag(f"{what}: internal") if "internal" in keys else False
    return Gear(name, first, second, radii[0], radii[1], internal, False, alpha, entry.where, **free)


def _radii(reader: Elements, keys: dict[str, FileNode], entry: FileNode, what: str, wheels: list[str]) -> list[Any]:
    """Pitch radii, given directly or as teeth and module."""
    direct = "radius" if len(wheels) == 1 else "radii"
    if direct in keys and "teeth" not in keys:
        nodes = keys[direct].sequence(f"{what}: radii", 2) if len(wheels) == 2 else [keys[direct]]
        return [reader.positive({"radius": n}, "radius", LENGTH, what) for n in nodes]
    if "teeth" not in keys or "module" not in keys or direct in keys:
        raise entry.error(
            f"{what} needs its pitch {direct} (e.g. {'20 mm' if len(wheels) == 1 else '[20 mm, 60 mm]'}), or `teeth:` and `module:`.",
            name=what,
        )
    module = reader.positive(keys, "module", LENGTH, what)
    nodes = keys["teeth"].sequence(f"{what}: teeth", 2) if len(wheels) == 2 else [keys["teeth"]]
    return [module * reader.positive({"teeth": n}, "teeth", NONE, what) / 2.0 for n in nodes]

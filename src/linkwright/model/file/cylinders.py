"""The `cylinders:` section: linear actuators between two points, with what their force or pressure, bore and rod say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from linkwright import elements
from linkwright.elements import Cylinder
from linkwright.model.description import Table
from linkwright.model.file.channel_laws import varying
from linkwright.model.file.elements import Elements
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import FORCE, LENGTH, PRESSURE


def read_cylinder(reader: Elements, name: str, entry: FileNode) -> Cylinder:
    """Read a cylinder; its stroke is a stop (`model.file.stops`)."""
    what = f"cylinder '{name}'"
    if name in reader.joints:
        raise entry.error(f"{what} has the name of a joint, and drives could mean either. Rename one.", name=what)
    keys = entry.keys(what, elements.keys(Cylinder), elements.required(Cylinder))
    ends = reader.between(keys, entry, what)
    if reader.context.numeric(reader.distance(ends)) <= 0.0:
        raise entry.error(
            f"{what} has no length: its ends {'.'.join(ends[0])} and {'.'.join(ends[1])} coincide in the drawing. Move one of them.",
            name=what,
        )
    bore, rod = _diameters(reader, keys, what)
    force: Any = 0.0
    if "force" in keys:
        if "pressure" in keys:
            raise keys["pressure"].error(f"{what} has `force` and `pressure`. Keep one.", name=what)
        force = varying(reader.context, keys["force"], FORCE, reader.channels, f"{what}: force")
    elif "pressure" in keys:
        if bore is None:
            raise entry.error(f"{what}: `pressure` needs the `bore:` (piston diameter).", name=what)
        force = _pressure_force(reader, keys, what, bore, rod)
    return Cylinder(name, ends, force, entry.where, bore, rod)


def _diameters(reader: Elements, keys: dict[str, FileNode], what: str) -> tuple[Any, Any]:
    """Diameters of the piston and of its rod; None where they are not given."""
    bore, rod = (reader.positive(keys, key, LENGTH, what) if key in keys else None for key in ("bore", "rod"))
    if rod is not None and bore is None:
        raise keys["rod"].error(f"{what} has a `rod` and no `bore:` (piston diameter). Give both.", name=what)
    if rod is not None and reader.context.numeric(rod) >= reader.context.numeric(bore):
        raise keys["rod"].error(f"{what}: the rod must be thinner than the bore.", name=what)
    return bore, rod


def _pressure_force(reader: Elements, keys: dict[str, FileNode], what: str, bore: Any, rod: Any) -> Any:
    """Pressure on the piston; with `rod` on the rod side, which pulls."""
    context = reader.context
    pressure = varying(context, keys["pressure"], PRESSURE, reader.channels, f"{what}: pressure")
    area = math.pi / 4.0 * (bore * bore if rod is None else -(bore * bore - rod * rod))
    if isinstance(pressure, Table):
        return replace(pressure, y=tuple(y * context.numeric(area) for y in pressure.y))
    return pressure * area

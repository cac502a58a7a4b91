"""The `cylinders:` section: linear actuators between two points, with what their force or pressure, bore and rod say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from linkwright.model.description import Cylinder, Table
from linkwright.model.file.elements import Elements
from linkwright.model.file.loads import ChannelDimensions, varying
from linkwright.model.file.nodes import FileNode
from linkwright.model.file.units import FORCE, LENGTH, PRESSURE

KEYS = ("between", "stroke", "force", "pressure", "bore", "rod")


def read_cylinders(elements: Elements, node: FileNode | None, channels: ChannelDimensions) -> tuple[Cylinder, ...]:
    """Return the cylinders of a model; their strokes are stops (`model.file.strokes`)."""
    return tuple(_cylinder(elements, name, entry, channels) for name, entry in elements.entries(node, "cylinders", "cylinder"))


def _cylinder(elements: Elements, name: str, entry: FileNode, channels: ChannelDimensions) -> Cylinder:
    what = f"cylinder '{name}'"
    if name in elements.joints:
        raise entry.error(f"{what} has the name of a joint, and drives could mean either. Rename one.")
    keys = entry.keys(what, KEYS, ("between",))
    ends = elements.between(keys, entry, what)
    if elements.context.numeric(elements.distance(ends)) <= 0.0:
        raise entry.error(
            f"{what} has no length: its ends {'.'.join(ends[0])} and {'.'.join(ends[1])} coincide in the drawing. Move one of them."
        )
    bore, rod = _diameters(elements, keys, what)
    force: Any = 0.0
    if "force" in keys:
        if "pressure" in keys:
            raise keys["pressure"].error(f"{what} has `force` and `pressure`; keep one.")
        force = varying(elements.context, keys["force"], FORCE, channels, f"{what}: force")
    elif "pressure" in keys:
        if bore is None:
            raise entry.error(f"{what}: `pressure` needs the `bore:` (piston diameter).")
        force = _pressure_force(elements, keys, channels, what, bore, rod)
    return Cylinder(name, ends, force, entry.where, bore, rod)


def _diameters(elements: Elements, keys: dict[str, FileNode], what: str) -> tuple[Any, Any]:
    """Diameters of the piston and of its rod; None where they are not given."""
    bore, rod = (elements.positive(keys, key, LENGTH, what) if key in keys else None for key in ("bore", "rod"))
    if rod is not None and bore is None:
        raise keys["rod"].error(f"{what} has a `rod` and no `bore:` (piston diameter). Give both.")
    if rod is not None and elements.context.numeric(rod) >= elements.context.numeric(bore):
        raise keys["rod"].error(f"{what}: the rod must be thinner than the bore.")
    return bore, rod


def _pressure_force(elements: Elements, keys: dict[str, FileNode], channels: ChannelDimensions, what: str, bore: Any, rod: Any) -> Any:
    """Pressure on the piston; with `rod` on the rod side, which pulls."""
    context = elements.context
    pressure = varying(context, keys["pressure"], PRESSURE, channels, f"{what}: pressure")
    area = math.pi / 4.0 * (bore * bore if rod is None else -(bore * bore - rod * rod))
    if isinstance(pressure, Table):
        return replace(pressure, y=tuple(y * context.numeric(area) for y in pressure.y))
    return pressure * area

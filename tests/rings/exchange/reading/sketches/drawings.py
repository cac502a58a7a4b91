"""Small drawings of our own, made with ezdxf: the wiper's linkage in the ways people draw one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import ezdxf

PINS = {"A": (0.0, 0.0), "B": (150.0, 260.0), "C": (905.0, 750.0), "D": (1000.0, 0.0), "P": (600.0, 760.0)}


def new(unit: int = 4) -> tuple[Any, Any]:
    """(document, model space); the unit as DXF numbers it: 0 none, 1 inch, 4 mm, 6 m."""
    document = ezdxf.new("R2010")
    document.units = unit
    return document, document.modelspace()


def on(layer: str) -> dict[str, dict[str, str]]:
    return {"dxfattribs": {"layer": layer}}


def wiper(unit: int = 4, scale: float = 1.0, names: bool = True) -> Any:
    """Circles, a line each for crank and rocker, a triangle for the coupler, ground symbols, texts."""
    document, space = new(unit)
    at = {k: (x * scale, y * scale) for k, (x, y) in PINS.items()}
    for name, (x, y) in at.items():
        space.add_circle((x, y), 12.0 * scale, **on("pins"))
        if names:
            space.add_text(name, height=20.0 * scale, **on("text")).set_placement((x + 14.0 * scale, y + 14.0 * scale))
    space.add_line(at["A"], at["B"], **on("links"))
    space.add_lwpolyline([at["B"], at["C"], at["P"]], close=True, **on("links"))
    space.add_line(at["D"], at["C"], **on("links"))
    for name in "AD":
        x, y = at[name]
        space.add_lwpolyline([(x - 30 * scale, y - 40 * scale), (x, y), (x + 30 * scale, y - 40 * scale)], close=True, **on("ground"))
    return document


def stadium(space: Any, a: tuple[float, float], b: tuple[float, float], r: float, layer: str) -> None:
    """An outline of two lines and two arcs, each an entity of its own, as CAD programs project a link."""
    angle = math.atan2(b[1] - a[1], b[0] - a[0])
    n = (-r * math.sin(angle), r * math.cos(angle))
    space.add_line((a[0] + n[0], a[1] + n[1]), (b[0] + n[0], b[1] + n[1]), **on(layer))
    space.add_line((a[0] - n[0], a[1] - n[1]), (b[0] - n[0], b[1] - n[1]), **on(layer))
    degrees = math.degrees(angle)
    space.add_arc(a, r, degrees + 90.0, degrees + 270.0, **on(layer))
    space.add_arc(b, r, degrees - 90.0, degrees + 90.0, **on(layer))


def saved(document: Any, path: Path) -> Path:
    document.saveas(path)
    return path

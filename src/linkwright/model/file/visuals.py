"""The `visuals:` of a body: what pictures show of it, in the body's frame. It has no mass and touches nothing.

    visuals: [{mesh: part.stl, unit: mm, at: [0, 0, 10], rpy: [0, 0, 90], color: "#8899aa"}, {box: [10, 20, 30]}, {sphere: 5},
              {cylinder: {radius: 5, length: 40}}]

Sizes are numbers, also where they are written as expressions. A mesh that is not there is a warning: it costs a picture.
"""

from __future__ import annotations

import re
from typing import Any

from linkwright import files
from linkwright.errors import counted
from linkwright.model.description import EYE3, ZERO3, Placement, Vec3, Visual
from linkwright.model.file.geometry import matrix
from linkwright.model.file.reading_context import POSE_KEYS, Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.model.meshes.reading import MESHES
from linkwright.text.units import LENGTH, NONE, parse_unit

SHAPES = ("mesh", "box", "cylinder", "sphere", "capsule")
ROUND = ("cylinder", "capsule")
ROUND_KEYS = ("radius", "length")  # both required
VISUAL_KEYS = (*SHAPES, "unit", "scale", *POSE_KEYS, "color")
METERS = (".glb", ".gltf")  # formats whose unit is fixed
COLOR = re.compile(r"#[0-9a-fA-F]{6}\Z")
MOST_VISUALS = 200  # of one body


def read_visuals(context: Context, body: str, node: FileNode) -> tuple[Visual, ...]:
    """The shapes of one body."""
    what = f"body '{body}': visuals"
    entries = node.sequence(what)
    if len(entries) > MOST_VISUALS:
        raise node.error(f"{what} has {counted(len(entries), 'shape')}, at most {MOST_VISUALS} are drawn. Join their meshes.", name=what)
    return tuple(_visual(context, entry, what) for entry in entries)


def mesh_unit(context: Context, keys: dict[str, FileNode], file: str, what: str) -> float:
    """Meters of one unit of a mesh file's coordinates: `unit`, else that of the model file; glTF has meters."""
    if "unit" not in keys and file.lower().endswith(METERS):
        return 1.0
    symbol = keys["unit"].string(f"{what}: unit") if "unit" in keys else context.units.base(LENGTH, "m")[0]
    try:
        factor, dimension = parse_unit(symbol)
    except Exception as error:
        raise keys["unit"].error(f"{what}: {error}", name=what) from error
    if dimension != LENGTH:
        raise keys["unit"].error(f"{what}: the unit of the coordinates must be a length such as mm, not {symbol}.", name=what, value=symbol)
    return factor


def _visual(context: Context, node: FileNode, what: str) -> Visual:
    keys = node.keys(what, VISUAL_KEYS)
    given = [k for k in SHAPES if k in keys]
    if len(given) != 1:
        raise node.error(f"{what}: a shape is one of mesh, box, cylinder, sphere and capsule, such as {{box: [0.1, 0.2, 0.3]}}.", name=what)
    shape = given[0]
    for key in ("unit", "scale"):
        if key in keys and shape != "mesh":
            raise keys[key].error(f"{what}: only a mesh has a {key}. Take it out.", name=what)
    file = ""
    if shape == "mesh":
        file = keys["mesh"].string(f"{what}: mesh")
        size = _scales(context, keys, file, what)
        context.files.append(keys["mesh"])
        _warn_of_missing(context, keys["mesh"], file, what)
    else:
        size = _sizes(context, shape, keys[shape], f"{what}: {shape}")
    rotation = context.rotation(keys, what)
    axes = EYE3 if rotation is None else matrix([context.numerics(row) for row in rotation])
    return Visual(shape, size, Placement(_place(context, keys, what), axes), file, _color(keys, what))


def _place(context: Context, keys: dict[str, FileNode], what: str) -> Vec3:
    """`at` in the body's frame; a third component is allowed in a plane: parts lie in layers."""
    if "at" not in keys:
        return ZERO3
    items = keys["at"].sequence(f"{what}: at")
    allowed = (2, 3) if context.planar_drawing else (3,)
    if len(items) not in allowed:
        wanted = " or ".join(map(str, allowed))
        raise keys["at"].error(f"{what}: at must have {wanted} components, not {len(items)}.{keys['at'].decimal_comma()}", name=what)
    x, y, *z = (context.numeric(context.number(n, LENGTH, f"{what}: at")) for n in items)
    return (x, y, z[0] if z else 0.0)


def _scales(context: Context, keys: dict[str, FileNode], file: str, what: str) -> Vec3:
    """Factors along the axes of a mesh; a negative one mirrors it."""
    unit = mesh_unit(context, keys, file, what)
    node = keys.get("scale")
    if node is None:
        return (unit, unit, unit)
    items = node.items if node.items is not None else (node,) * 3
    if len(items) != 3:
        raise node.error(f"{what}: scale is one number, or three along x, y and z.", name=what)
    x, y, z = (context.numeric(context.number(n, NONE, f"{what}: scale")) for n in items)
    if 0.0 in (x, y, z):
        raise node.error(f"{what}: a scale of 0 leaves nothing to draw. Take the shape out.", name=what)
    return (unit * x, unit * y, unit * z)


def _sizes(context: Context, shape: str, node: FileNode, what: str) -> Vec3:
    def positive(n: FileNode, name: str) -> float:
        value = context.numeric(context.number(n, LENGTH, name))
        if value <= 0.0:
            raise n.error(f"{name} is {context.shown(value, LENGTH)}. It must be greater than zero.", name=name)
        return value

    if shape == "box":
        x, y, z = (positive(n, what) for n in node.sequence(f"{what} (its three edges)", 3))
        return (x, y, z)
    if shape == "sphere":
        return (positive(node, f"{what} (its radius)"), 0.0, 0.0)
    keys = node.keys(what, ROUND_KEYS, ROUND_KEYS)
    return (positive(keys["radius"], f"{what}: radius"), positive(keys["length"], f"{what}: length"), 0.0)


def _color(keys: dict[str, FileNode], what: str) -> str:
    if "color" not in keys:
        return ""
    text = keys["color"].string(f"{what}: color")
    if not COLOR.match(text):
        raise keys["color"].error(
            f"{what}: color is '{text[:20]}'. Write \"#rrggbb\" in quotes: red, green and blue in hexadecimal.", name=what
        )
    return text.lower()


def _warn_of_missing(context: Context, node: FileNode, file: str, what: str) -> None:
    """A warning for a mesh that cannot be drawn; it is read when a picture is made."""
    if not file.lower().endswith(MESHES):
        _warn(context, node, f"{what}: '{files.shown(file)}' has no ending of a mesh ({', '.join(MESHES)}), so it is not drawn")
    elif context.base is not None:
        try:
            there = (context.base / file).is_file()
        except (OSError, ValueError):
            there = False
        if not there:
            _warn(context, node, f"{what}: there is no file '{files.shown(file)}' (relative to the model file), so it is not drawn")


def _warn(context: Context, node: FileNode, text: str) -> None:
    said = f"{node.where}: {text}."
    context.warnings += [] if said in context.warnings else [said]


def written(visual: Visual) -> dict[str, Any]:
    """A shape as `visuals:` has it, in SI."""
    x, y, z = visual.size
    out: dict[str, Any] = {}
    if visual.shape == "mesh":
        meters = visual.file.lower().endswith(METERS)
        out["mesh"] = visual.file
        if visual.size != (1.0, 1.0, 1.0):
            out["scale"] = x if x == y == z else [x, y, z]
        out |= {} if meters else {"unit": "m"}
    else:
        out[visual.shape] = [x, y, z] if visual.shape == "box" else x if visual.shape == "sphere" else {"radius": x, "length": y}
    if visual.placement.at != ZERO3:
        out["at"] = list(visual.placement.at)
    if visual.placement.rotation != EYE3:
        out["rotation"] = [list(row) for row in visual.placement.rotation]
    return {**out, "color": visual.color} if visual.color else out

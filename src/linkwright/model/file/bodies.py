"""The `bodies:` and `masses:` sections: shapes with mass, center and inertia, checked for physics."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from linkwright.errors import UnfinishedModel, counted, listing, nearest
from linkwright.model.description import GROUND, NO_INERTIA, ZERO3, Body, Mat3, Placement, Point, Vec3, Visual
from linkwright.model.file import inertia as mass_of
from linkwright.model.file.body_frames import SHAPE_KEYS, Shape, read_shape
from linkwright.model.file.geometry import frame_along, length, matrix, sub, transpose
from linkwright.model.file.inertia import DENSITIES, MassProperties, read_mesh
from linkwright.model.file.reading_context import POSE_KEYS, Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.model.file.visuals import mesh_unit, read_visuals
from linkwright.text.expressions import Expr, free_variables
from linkwright.text.units import DENSITY, INERTIA, LENGTH, MASS

BODY_KEYS = {
    "geometry": SHAPE_KEYS,
    "mass": ("mass", "com", "inertia", "physical"),
    "mass from a shape": ("bar", "bars", "plate", "mesh"),
    "pictures": ("visuals",),
}
TENSOR_KEYS = ("xx", "yy", "zz", "xy", "xz", "yz")
BAR_KEYS = ("section", "material", "density")
SECTION_KEYS = ("width", "height", "diameter", "inner")
PLATE_KEYS = ("points", "thickness", "density", "material")
MESH_KEYS = ("file", "density", "material", "unit", "scale")  # the first is required
MASS_KEYS = ("body", "at", "mass")  # all required
MOST_BODIES = 10_000
FAR_COM = 10.0  # times the size of a body: no counterweight reaches there


def read_shapes(context: Context, node: FileNode | None, guess: FileNode | None) -> dict[str, Shape]:
    """Every body's shape, ground first."""
    entries = node.mapping("bodies") if node else {}
    if GROUND not in entries:
        place = f" {nearest(GROUND, entries, 'Bodies')}" if entries else ""
        raise UnfinishedModel(
            f"the model has no body 'ground', the fixed one. Add `ground: {{pins: [...]}}` to `bodies:`.{place}",
            node.where if node else context.root_where,
            name=GROUND,
        )
    if len(entries) > MOST_BODIES:
        raise entries[GROUND].error(
            f"the model has {counted(len(entries), 'body')}, at most {MOST_BODIES} are read. Make `repeat` smaller."
        )
    shapes = {}
    for name in sorted(entries, key=lambda n: n != GROUND):
        context.check_name(name, entries[name], "body")
        keys = entries[name].keys(f"body '{name}'", BODY_KEYS)
        shapes[name] = read_shape(context, name, entries[name], keys)
    for name, entry in (guess.mapping("guess") if guess else {}).items():
        _guess(context, shapes, name, entry)
    return shapes


def _guess(context: Context, shapes: dict[str, Shape], name: str, node: FileNode) -> None:
    if name not in shapes or name == GROUND:
        raise node.error(f"guess: there is no moving body '{name}'.", nearest(name, [s for s in shapes if s != GROUND], "Bodies"))
    keys = node.keys(f"guess for '{name}'", POSE_KEYS)
    shape = shapes[name]
    at = context.numerics(context.vector(keys["at"], LENGTH, f"guess for '{name}'")) if "at" in keys else shape.start.at
    axes = context.rotation(keys, f"guess for '{name}'")
    rotation = matrix([[context.numeric(v) for v in row] for row in axes]) if axes else shape.start.rotation
    shape.start = shape.pose = Placement(at, rotation)
    if shape.exact or not shape.points:
        shape.at, shape.rotation, shape.fitted = at, rotation, ()


def read_bodies(context: Context, shapes: dict[str, Shape], masses: FileNode | None) -> tuple[Body, ...]:
    """Bodies with everything they weigh."""
    extra = _point_masses(context, shapes, masses)
    return tuple(_body(context, shape, extra.get(name, [])) for name, shape in shapes.items())


def _body(context: Context, shape: Shape, extra: list[MassProperties]) -> Body:
    entries = shape.node.mapping(f"body '{shape.name}'")
    points = tuple(Point(n, at, shape.point_axes(n)) for n, at in shape.points.items())
    own = _own_mass(context, shape, entries)
    parts = ([own] if own else []) + extra
    outline, visuals = outline_of(context, shape, entries), _visuals(context, shape, entries)
    body = Body(shape.name, points, start=shape.start, outline=outline, where=shape.node.where, visuals=visuals)
    if not parts:
        return body
    _weighs_something(context, shape, parts)
    total = mass_of.together(parts)
    _check(context, shape, total, explicit="inertia" in entries)
    return replace(body, mass=total.mass, com=total.com, inertia=total.inertia)


def _visuals(context: Context, shape: Shape, entries: dict[str, FileNode]) -> tuple[Visual, ...]:
    """Shapes for pictures: those of `visuals`, else the mesh that the body weighs by."""
    if "visuals" in entries:
        return read_visuals(context, shape.name, entries["visuals"])
    if "mesh" not in entries:
        return ()
    keys = entries["mesh"].mapping("mesh")
    factor = _mesh_factor(context, keys, f"body '{shape.name}': mesh")
    return (Visual("mesh", (factor, factor, factor), file=keys["file"].string("mesh: file")),)


# ---------------------------------------------------------------- what a body weighs


def _weighs_something(context: Context, shape: Shape, parts: list[MassProperties]) -> None:
    """Several masses that follow from parameters and are all zero have no common center."""
    masses = [p.mass for p in parts]
    named = set().union(*(free_variables(m) for m in masses if isinstance(m, Expr)))
    if len(parts) > 1 and named and sum(context.numeric(m) for m in masses) == 0.0:
        raise shape.node.error(
            f"body '{shape.name}' has no mass at all: with these values of {listing(sorted(named))} all its parts weigh 0 kg, so it has "
            "no center of mass. Give one of them a mass above zero, however small.",
            name=shape.name,
            allowed=sorted(named),
        )


def _own_mass(context: Context, shape: Shape, entries: dict[str, FileNode]) -> MassProperties | None:
    what = f"body '{shape.name}'"
    ways = [k for k in ("bars", "bar", "plate", "mesh") if k in entries]
    if len(ways) > 1 and ways != ["bars", "bar"]:
        raise entries[ways[1]].error(f"{what} gets its mass by {ways[0]} and {ways[1]} at once. Keep one.", name=what)
    mass = context.number(entries["mass"], MASS, f"{what}: mass") if "mass" in entries else None
    if mass is not None and context.numeric(mass) < 0.0:
        raise entries["mass"].error(f"{what} has the negative mass {context.shown(mass, MASS)}. Mass is zero or more.", name=what)
    if mass is None and not ways:
        for key in ("com", "inertia"):
            if key in entries:
                raise entries[key].error(f"{what} has {key} but no mass. Add `mass:`, or take out {key}.", name=what)
        return None
    complete = not ways and "com" in entries and "inertia" in entries  # its points may then be anywhere, also at one place
    shaped = None if complete else _shaped_mass(context, shape, entries, mass)
    if shaped and ways:  # sizes and density may each be in proportion
        part, at = f"of its {ways[0]}", max(1.0, *map(abs, context.numerics(shaped.com)))
        for value, dimension, name in ((context.numeric(shaped.mass), MASS, "mass"), (at, LENGTH, "center")):
            context.in_proportion(value, dimension, entries[ways[0]], f"{what}: {name} {part}")
    com = _com(context, shape, entries["com"], f"{what}: com") if "com" in entries else (shaped.com if shaped else ZERO3)
    if "inertia" in entries:
        tensor = _inertia(context, entries["inertia"], f"{what}: inertia")
    elif shaped and "com" in entries and not ways:
        tensor = shaped.inertia
        context.warnings.append(f"{what}: com is given without inertia. The inertia of the uniform shape about its own center is used.")
    else:
        tensor = shaped.inertia if shaped else NO_INERTIA
    return MassProperties(shaped.mass if shaped else mass, com, tensor)


def _com(context: Context, shape: Shape, node: FileNode, what: str) -> Vec3:
    """A point's name, or coordinates: of the drawing for drawn shapes, else of the body, there also beside the plane (as of a mesh)."""
    if node.text is not None:
        name = node.text.strip()
        if name not in shape.points:
            raise node.error(f"{what}: '{name}' is not a point of the body '{shape.name}'.", nearest(name, shape.points, "Its points"))
        return shape.points[name]
    at = context.vector(node, LENGTH, what, beside=shape.exact)
    return at if shape.exact else shape.own_place(at, node, what)


def _inertia(context: Context, node: FileNode, what: str) -> Mat3:
    """A scalar in the plane, [xx, yy, zz], a 3x3 matrix, or {xx: .., xy: ..}; about the com, body axes."""
    if node.text is not None:
        if not context.planar_drawing:
            raise node.error(
                f"{what} is a single number. In space give [Ixx, Iyy, Izz], a 3x3 matrix or {{xx: .., yy: .., zz: .., xy: ..}}.", name=what
            )
        I = context.number(node, INERTIA, what)
        return ((I / 2.0, 0.0, 0.0), (0.0, I / 2.0, 0.0), (0.0, 0.0, I))
    if node.entries is not None:
        keys = node.keys(what, TENSOR_KEYS)
        v = {k: context.number(n, INERTIA, f"{what}.{k}") for k, n in keys.items()}
        return matrix([[v.get("".join(sorted(a + b)), 0.0) for b in "xyz"] for a in "xyz"])
    items = node.sequence(what, 3)
    if all(i.items is not None for i in items):
        return matrix([[context.number(n, INERTIA, what) for n in row.sequence(what, 3)] for row in items])
    diagonal = [context.number(n, INERTIA, what) for n in items]
    return matrix([[diagonal[i] if i == j else 0.0 for j in range(3)] for i in range(3)])


def _shaped_mass(context: Context, shape: Shape, entries: dict[str, FileNode], mass: Any) -> MassProperties | None:
    """Mass properties that follow from the shape; None for a point mass."""
    if "mesh" in entries:
        return _mesh(context, shape, entries["mesh"], mass)
    if "plate" in entries:
        return _plate(context, shape, entries["plate"], mass)
    if "bar" in entries or "bars" in entries:
        return _bars(context, shape, entries, mass)
    names = shape.stations or (shape.pins if len(shape.pins) >= 2 else list(shape.points))
    if len(names) < 2 or shape.name == GROUND:
        return MassProperties(mass, shape.points[names[0]]) if names else None
    corners = _corners(context, shape, names)
    if len(corners) < 3:
        a, b = (shape.points[n] for n in corners)
        if "sides" in entries and "inertia" not in entries and len(_corners(context, shape, list(shape.points))) > 2:
            others = [n for n in shape.points if n not in names]
            context.warnings.append(
                f"{shape.node.where}: body '{shape.name}': its mass lies on the line {corners[0]}-{corners[1]} between its pins, nothing "
                f"toward {listing(others)}. Give its shape: `plate: {{}}`, or bars such as `bars: [[{corners[0]}, {corners[1]}], "
                f"[{corners[1]}, {others[0]}]]`."
            )
        return mass_of.rod(mass, a, b)
    if not _plane_polygon(context, shape, corners):
        return None
    return mass_of.plate(mass, [shape.points[n] for n in corners])


def _corners(context: Context, shape: Shape, names: list[str]) -> list[str]:
    """The convex outline of points, in order; the two ends when they lie on one line."""
    numbers = {n: context.numerics(shape.points[n]) for n in names}
    a, b = max(((p, q) for p in names for q in names), key=lambda pq: math.dist(numbers[pq[0]], numbers[pq[1]]))
    size = math.dist(numbers[a], numbers[b])
    if size == 0.0:
        raise shape.node.error(
            f"body '{shape.name}' has no length: {listing(names)} are at one place. Move them apart or give `inertia`.", name=shape.name
        )
    ux = [(q - p) / size for p, q in zip(numbers[a], numbers[b], strict=True)]
    rest = {n: [p - o for p, o in zip(numbers[n], numbers[a], strict=True)] for n in names}
    along = {n: sum(r * u for r, u in zip(rest[n], ux, strict=True)) for n in names}
    across = {n: [r - along[n] * u for r, u in zip(rest[n], ux, strict=True)] for n in names}
    widest = max(names, key=lambda n: math.hypot(*across[n]))
    width = math.hypot(*across[widest])
    if width < 1e-9 * size:
        return sorted([a, b], key=names.index)
    uy = [c / width for c in across[widest]]
    flat = {n: (along[n], sum(c * u for c, u in zip(across[n], uy, strict=True))) for n in names}
    return _hull(flat)


def _hull(flat: dict[str, tuple[float, float]]) -> list[str]:
    """Convex hull of named points, counter-clockwise (Andrew's monotone chain)."""

    def half(names: list[str]) -> list[str]:
        chain: list[str] = []
        for n in names:
            while len(chain) > 1:
                (ax, ay), (bx, by), (cx, cy) = flat[chain[-2]], flat[chain[-1]], flat[n]
                if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0.0:
                    break
                chain.pop()
            chain.append(n)
        return chain[:-1]

    ordered = sorted(flat, key=lambda n: flat[n])
    return half(ordered) + half(ordered[::-1])


def _plane_polygon(context: Context, shape: Shape, corners: list[str]) -> bool:
    """True if the points lie in one plane; a uniform plate needs that."""
    import numpy as np

    points = np.array([context.numerics(shape.points[n]) for n in corners])
    sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(sizes[2] <= 1e-9 * sizes[0])


def _density(context: Context, keys: dict[str, FileNode], node: FileNode, what: str) -> Any:
    if "material" in keys:
        name = keys["material"].string(f"{what}: material")
        if name not in DENSITIES:
            raise keys["material"].error(
                f"{what}: there is no material '{name}'. {nearest(name, DENSITIES, 'Materials')} Or give `density:`.",
                name=name,
                allowed=DENSITIES,
            )
        return DENSITIES[name]
    if "density" not in keys:
        raise node.error(f"{what} needs `material:` or `density:`, or the body a `mass:`.", name=what)
    value = context.number(keys["density"], DENSITY, f"{what}: density")
    if context.numeric(value) <= 0.0:
        raise keys["density"].error(f"{what}: the density must be greater than zero.", name=what)
    return value


def _positive(context: Context, node: FileNode, what: str) -> Any:
    value = context.number(node, LENGTH, what)
    if context.numeric(value) <= 0.0:
        raise node.error(f"{what} is {context.shown(value, LENGTH)}. It must be greater than zero.", name=what)
    return value


def _bars(context: Context, shape: Shape, entries: dict[str, FileNode], mass: Any) -> MassProperties:
    """One or several straight bars between points of the body."""
    what = f"body '{shape.name}'"
    keys = entries["bar"].keys(f"{what}: bar", BAR_KEYS) if "bar" in entries else {}
    if "bars" in entries:
        rows = entries["bars"].sequence(f"{what}: bars")
        pairs = [[_point_of(shape, n, f"{what}: bars") for n in row.sequence(f"{what}: bars", 2)] for row in rows]
    else:
        names = shape.stations or (shape.pins if len(shape.pins) >= 2 else list(shape.points))
        pairs = [_corners(context, shape, names)] if len(names) > 1 else []
    node = entries.get("bars") or entries["bar"]
    if not pairs or any(len(p) != 2 for p in pairs):
        raise node.error(f"{what}: a bar runs between two points. Name them with `bars: [[A, B], [B, C]]`.", name=what)
    lengths = [length(sub(shape.points[b], shape.points[a])) for a, b in pairs]
    for (a, b), size in zip(pairs, lengths, strict=True):
        if context.numeric(size) <= 0.0:
            raise node.error(f"{what}: the bar {a}-{b} has no length. Its ends must be at different places.", name=what)
    section = _section(context, keys["section"], f"{what}: section") if "section" in keys else None
    if mass is None:
        if section is None:
            raise node.error(f"{what}: a bar without `mass` needs `section:` and `material:` (or `density:`).", name=what)
        density = _density(context, keys, node, f"{what}: bar")
        weights = [density * _area(section) * size for size in lengths]
    else:
        total = lengths[0] if len(lengths) == 1 else sum(lengths[1:], lengths[0])
        weights = [mass * (size / total) if len(lengths) > 1 else mass for size in lengths]
    return mass_of.together([_bar(context, shape, a, b, w, section) for (a, b), w in zip(pairs, weights, strict=True)])


def _point_of(shape: Shape, node: FileNode, what: str) -> str:
    name = node.string(what)
    if name not in shape.points:
        raise node.error(f"{what}: '{name}' is not a point of the body.", nearest(name, shape.points, "Its points"))
    return name


def _section(context: Context, node: FileNode, what: str) -> dict[str, Any]:
    keys = node.keys(what, SECTION_KEYS)
    if set(keys) not in ({"width", "height"}, {"diameter"}, {"diameter", "inner"}):
        raise node.error(f"{what} must be {{width: .., height: ..}} or {{diameter: .., inner: ..}} (inner for a tube).", name=what)
    values = {k: _positive(context, n, f"{what}: {k}") for k, n in keys.items()}
    if "inner" in values and context.numeric(values["inner"]) >= context.numeric(values["diameter"]):
        raise node.error(f"{what}: the inner diameter must be smaller than the outer one.", name=what)
    return values


def _area(section: dict[str, Any]) -> Any:
    if "width" in section:
        return section["width"] * section["height"]
    inner = section.get("inner", 0.0)
    return math.pi / 4.0 * (section["diameter"] * section["diameter"] - inner * inner)


def _bar(context: Context, shape: Shape, a: str, b: str, mass: Any, section: dict[str, Any] | None) -> MassProperties:
    p, q = shape.points[a], shape.points[b]
    if section is None:
        return mass_of.rod(mass, p, q)
    axes = transpose(frame_along("x", sub(q, p), context.numerics(sub(q, p))))
    if "width" in section:
        return mass_of.box_bar(mass, p, q, section["width"], section["height"], axes[1], axes[2])
    return mass_of.round_bar(mass, p, q, section["diameter"], section.get("inner", 0.0), axes[1], axes[2])


def _plate(context: Context, shape: Shape, node: FileNode, mass: Any) -> MassProperties:
    what = f"body '{shape.name}': plate"
    keys = node.keys(what, PLATE_KEYS)
    names = shape.pins if len(shape.pins) > 2 else list(shape.points)
    if "points" in keys:
        names = [_point_of(shape, n, what) for n in keys["points"].sequence(what)]
    if len(names) < 3:
        raise node.error(f"{what} needs three or more corners. List them: `points: [A, B, C]`.", name=what)
    corners = [shape.points[n] for n in names]
    size = context.numeric(mass_of.plate_area(corners))
    if size <= 1e-12 * max(math.dist(context.numerics(corners[0]), context.numerics(c)) for c in corners) ** 2:
        raise node.error(
            f"{what}: its corners {listing(names)} enclose no area. Use `bar:` for a straight body, or list the corners in order.",
            name=what,
        )
    thickness = _positive(context, keys["thickness"], f"{what}: thickness") if "thickness" in keys else 0.0
    if mass is None:
        if "thickness" not in keys:
            raise node.error(f"{what} needs `thickness:` and `material:`, or the body a `mass:`.", name=what)
        mass = _density(context, keys, node, what) * thickness * mass_of.plate_area(corners)
    return mass_of.plate(mass, corners, thickness)


def _mesh(context: Context, shape: Shape, node: FileNode, mass: Any) -> MassProperties:
    what = f"body '{shape.name}': mesh"
    keys = node.keys(what, MESH_KEYS, MESH_KEYS[:1])
    factor = _mesh_factor(context, keys, what)
    volume = read_mesh(context.beside(keys["file"], f"{what}: file"), keys["file"])
    density = mass / (volume.mass * factor**3) if mass is not None else _density(context, keys, node, what)
    com = (volume.com[0] * factor, volume.com[1] * factor, volume.com[2] * factor)
    tensor = matrix([[density * (v * factor**5) for v in row] for row in volume.inertia])
    return MassProperties(density * (volume.mass * factor**3), com, tensor)


def _mesh_factor(context: Context, keys: dict[str, FileNode], what: str) -> float:
    """Meters of one unit in a mesh file."""
    factor = mesh_unit(context, keys, keys["file"].string(f"{what}: file"), what)
    if "scale" in keys:
        factor *= context.numeric(context.number(keys["scale"], (0, 0, 0, 0, 0), f"{what}: scale"))
        if factor <= 0.0:
            raise keys["scale"].error(f"{what}: the scale must be greater than zero.", name=what)
    return factor


def _point_masses(context: Context, shapes: dict[str, Shape], node: FileNode | None) -> dict[str, list[MassProperties]]:
    found: dict[str, list[MassProperties]] = {}
    for name, entry in (node.mapping("masses") if node else {}).items():
        what = f"mass '{context.check_name(name, entry, 'mass')}'"
        keys = entry.keys(what, MASS_KEYS, MASS_KEYS)
        body = keys["body"].string(f"{what}: body")
        if body not in shapes:
            raise keys["body"].error(f"{what}: there is no body '{body}'.", nearest(body, shapes, "Bodies"))
        shape = shapes[body]
        mass = context.number(keys["mass"], MASS, what)
        if context.numeric(mass) < 0.0:
            raise keys["mass"].error(f"{what} is negative ({context.shown(mass, MASS)}). Mass is zero or more.", name=what)
        found.setdefault(body, []).append(mass_of.point_mass(mass, _com(context, shape, keys["at"], f"{what}: at")))
    return found


# ---------------------------------------------------------------- physics and pictures


def _accepted(context: Context, shape: Shape, tensor: list[list[float]], why: str, where: FileNode) -> None:
    """Warn of an inertia that no body has, if the body says `physical: false`; raise otherwise, or where it is negative."""
    stated = shape.node.mapping("body").get("physical")
    positive = mass_of.is_positive(tensor)
    if stated is None or stated.flag("physical") or not positive:
        accept = " `physical: false` accepts it, as robots' files have such." if positive and stated is None else ""
        raise where.error(f"{why}. Give the inertia about the center of mass (not about a pin), in body axes.{accept}", name=why)
    context.warnings.append(f"{where.where}: {why}. It is computed with as it is.")


def _check(context: Context, shape: Shape, total: MassProperties, explicit: bool) -> None:
    tensor = [[context.numeric(v, shape.node) for v in row] for row in total.inertia]
    where = shape.node.mapping("body").get("inertia", shape.node)
    why = mass_of.why_impossible(tensor, context.planar, context.units)
    if why:
        _accepted(context, shape, tensor, f"body '{shape.name}' cannot exist: {why}", where)
    points = [context.numerics(p) for p in shape.points.values()]
    extent = max((math.dist(p, q) for p in points for q in points), default=0.0)
    away = min((math.dist(context.numerics(total.com, shape.node), p) for p in points), default=0.0)
    rounded = 1e-12  # relative: places that differ by less are one
    if extent <= rounded * max((away, *(math.hypot(*p) for p in points))):
        extent = 0.0  # one place, written twice
    if extent > 0.0 and away > FAR_COM * extent:
        far, size = context.shown(away, LENGTH), context.shown(extent, LENGTH)
        context.warnings.append(
            f"{shape.node.where}: body '{shape.name}': its center of mass is {far} from its nearest point, but the body is only {size} "
            "long: check `com` and its unit."
        )
    if explicit:
        remark = mass_of.odd_gyration(context.numeric(total.mass), tensor, extent, context.planar, context.units)
        if remark:
            context.warnings.append(f"{where.where}: body '{shape.name}': its {remark}.")


def outline_of(context: Context, shape: Shape, entries: dict[str, FileNode]) -> tuple[tuple[str, ...], ...]:
    """Outline in a picture: bars as lines, three or more points as a polygon."""
    if "outline" in entries:
        node, what = entries["outline"], f"body '{shape.name}': outline"
        return tuple(tuple(_point_of(shape, n, what) for n in line.sequence(what)) for line in node.sequence(what))
    if shape.name == GROUND:
        return ()
    if "bars" in entries:
        return tuple(tuple(n.string("bars") for n in pair.sequence("bars")) for pair in entries["bars"].sequence("bars"))
    if shape.stations:
        return (tuple(shape.stations),)
    names = list(shape.points)
    if len(names) < 2:
        return ()
    numbers = [context.numerics(shape.points[n]) for n in names]
    if len(names) == 2 or all(p == numbers[0] for p in numbers):
        return (tuple(names),)
    corners = _corners(context, shape, names)
    inside = [(corners[0], n) for n in names if n not in corners]
    return ((*corners, corners[0]) if len(corners) > 2 else tuple(corners), *inside) if corners else ()

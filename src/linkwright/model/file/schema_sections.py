"""General sections of the model file as JSON Schema: drawing, bodies, drive, start and the rest; their keys are the readers' lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwright.model.file.backdrop import BACKDROP_KEYS, FILES
from linkwright.model.file.bodies import BAR_KEYS, BODY_KEYS, MASS_KEYS, MESH_KEYS, PLATE_KEYS, SECTION_KEYS, TENSOR_KEYS
from linkwright.model.file.context import PARAMETER_KEYS, POSE_KEYS
from linkwright.model.file.drives import ACTUATOR_KEYS, DRIVE_KEYS, DRIVE_TOGETHER, MOTOR, MOTOR_NEEDS
from linkwright.model.file.inertia import DENSITIES
from linkwright.model.file.report_section import REPORT_KEYS
from linkwright.model.file.schema_parts import PLACE, any_of, conditions, mapping, one_of, record, ref
from linkwright.model.file.visuals import ROUND_KEYS, VISUAL_KEYS
from linkwright.text.units import KINDS, NONE, Dimension, display_unit

ANY = r"^\S+$"
_NAMED = {dimension: name for name, dimension in reversed(KINDS.items())}


def measured(dimension: Dimension) -> str:
    """`stiffness (N/m)`: a dimension with its unit in SI."""
    unit = display_unit((), dimension)[0]
    return f"{_NAMED[dimension]} ({unit})" if dimension in _NAMED and unit else unit


def described(form: str, text: str, kind: str = "") -> dict[str, Any]:
    """A shared form with its meaning and its dimension."""
    return ref(form) | {"description": f"{text}; {measured(KINDS[kind])}" if kind else text}


def _list(one: dict[str, Any], least: int = 0, most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": one, "minItems": least} | ({} if most is None else {"maxItems": most})


def _picked(forms: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Forms of the reader's keys, in its order."""
    return {key: forms[key] for key in keys}


POSE = {
    "at": described("vector", "place", "length"),
    "angle": described("number", "rotation about z", "angle"),
    "rpy": _list(ref("number"), 3, 3) | {"description": "roll, pitch and yaw about fixed axes"},
    "quat": _list(ref("number"), 4, 4) | {"description": "quaternion w, x, y, z"},
    "rotation": ref("matrix") | {"description": "rotation matrix"},
}
MATTER = {
    "material": one_of(DENSITIES, "material, in place of `density`"),
    "density": described("number", "in place of `material`", "density"),
}


def shared() -> dict[str, Any]:
    """Forms that several sections use."""
    point = any_of(ref("vector"), record(_picked(POSE, POSE_KEYS), POSE_KEYS[:1]))
    return {
        "number": {"type": ["number", "string"], "description": "a number, a number with a unit (20 mm), or an expression of parameters"},
        "name": {"type": ["string", "number"]},
        "flag": {"enum": [True, False, "yes", "no", "on", "off"]},
        "place": {"type": "string", "pattern": PLACE, "description": "body.point"},
        "ends": _list(ref("place"), 2, 2),
        "pair": _list(ref("name"), 2, 2),
        "names": any_of(_list(ref("name")), {"type": "null"}),
        "range": _list(ref("number"), 2, 2),
        "vector": _list(ref("number"), 2, 3) | {"description": "[x, y] in a plane, [x, y, z] in space"},
        "matrix": _list(_list(ref("number"), 3, 3), 3, 3),
        "pose": record(_picked(POSE, POSE_KEYS)),
        "points": any_of(ref("names"), mapping(point)),
        "body": _body(),
        "drive": any_of(ref("number"), {"type": "null"}, _drive()),
    }


def _body() -> dict[str, Any]:
    section = {
        "width": described("number", "of a rectangle", "length"),
        "height": described("number", "of a rectangle", "length"),
        "diameter": described("number", "outer diameter", "length"),
        "inner": described("number", "inner diameter of a tube", "length"),
    }
    bar = {"section": record(_picked(section, SECTION_KEYS)) | {"description": "cross-section of the bar"}, **MATTER}
    thickness = described("number", "of the plate", "length")
    plate = {"points": ref("names") | {"description": "corners in order"}, "thickness": thickness, **MATTER}
    mesh = {
        "file": {"type": "string", "description": "closed surface, path relative to the model file"},
        "unit": {"type": "string", "description": "unit of its coordinates, for example mm"},
        "scale": described("number", "factor of its coordinates"),
        **MATTER,
    }
    tensor = record({key: described("number", f"moment {key} about the center of mass", "inertia") for key in TENSOR_KEYS})
    forms = {
        "pins": ref("names") | {"description": "hinges: bodies that name the same pin are joined there"},
        "points": ref("points") | {"description": "drawn points, or points with coordinates in the body"},
        "along": mapping(ref("number"), "stations of a straight bar; length (m)"),
        "sides": mapping(ref("number"), "lengths of sides, `A-B: 300`; length (m)"),
        "outline": _list(ref("names")) | {"description": "lines of the picture, each a list of points"},
        "mass": described("number", "mass of the body", "mass") | {"minimum": 0},
        "com": any_of(ref("name"), ref("vector")) | {"description": "center of mass, a point or coordinates"},
        "inertia": any_of(ref("number"), _list(ref("number"), 3, 3), ref("matrix"), tensor)
        | {"description": f"about the center of mass in body axes; {measured(KINDS['inertia'])}"},
        "physical": ref("flag") | {"description": "false accepts an inertia that no body can have"},
        "bar": any_of(record(_picked(bar, BAR_KEYS)), {"type": "null"}) | {"description": "mass of a straight bar between the pins"},
        "bars": _list(ref("pair"), 1) | {"description": "bars between points, `[[A, B], [B, C]]`"},
        "plate": any_of(record(_picked(plate, PLATE_KEYS)), {"type": "null"}) | {"description": "mass of a plate"},
        "mesh": record(_picked(mesh, MESH_KEYS), MESH_KEYS[:1]) | {"description": "mass of a solid from a mesh file"},
        "visuals": _list(_visual()) | {"description": "shapes for pictures, without mass"},
    }
    return {"type": ["object", "null"]} | {k: v for k, v in record(_picked(forms, _flat(BODY_KEYS))).items() if k != "type"}


def _visual() -> dict[str, Any]:
    sizes = {"radius": described("number", "radius", "length"), "length": described("number", "length along z", "length")}
    shape = record(_picked(sizes, ROUND_KEYS), ROUND_KEYS)
    forms = {
        **POSE,
        "mesh": {"type": "string", "description": "mesh file, path relative to the model file"},
        "box": _list(ref("number"), 3, 3) | {"description": "three edges; length (m)"},
        "cylinder": shape | {"description": "round bar about z"},
        "sphere": described("number", "radius", "length"),
        "capsule": shape | {"description": "round bar with round ends"},
        "unit": {"type": "string", "description": "unit of a mesh, for example mm"},
        "scale": any_of(ref("number"), _list(ref("number"), 3, 3)) | {"description": "factor of a mesh"},
        "color": {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$", "description": 'color, "#rrggbb" in quotes'},
    }
    return record(_picked(forms, VISUAL_KEYS))


def _drive() -> dict[str, Any]:
    texts = {"Kt": "torque constant", "Ke": "voltage constant; left out: Kt", "R": "resistance", "L": "inductance", 
             "J": "inertia of the rotor",
             "ratio": "gear ratio", "rated": "rated voltage", "efficiency": "efficiency of the gear", "friction": "friction torque",
             "friction_speed": "speed over which the friction turns round", "viscous": "viscous friction", "max_current": "largest current",
             "max_speed": "largest speed", "max_torque": "largest torque", "time_constant": "time constant of the current"}  # fmt: skip
    motor = {k: ref("number") | {"description": texts[k] + (f"; {measured(d)}" if d != NONE else "")} for k, d in MOTOR.items()}
    voltage = described("varying", "applied voltage", "voltage")
    forms = {
        "speed": described("varying", "speed; angular speed (rad/s) or speed (m/s)"),
        "position": described("varying", "position over time; angle (rad) or length (m)"),
        "moves": ref("moves") | {"description": "moves one after the other"},
        "torque": described("varying", "torque of a hinge, force of a slider or cylinder"),
        "force": described("varying", "force of a slider or cylinder", "force"),
        "motor_dc": record({**motor, "voltage": voltage}, MOTOR_NEEDS) | {"description": "DC motor"},
        "free": {"description": "the joint moves freely; a controller or a call may drive it"},
        "gear": described("number", "ratio of the torque at the joint to the torque given"),
        "limits": any_of(ref("number"), ref("range")) | {"description": "largest torque or force, or [least, most]"},
    }
    return record(_picked(forms, (*DRIVE_KEYS, *ACTUATOR_KEYS))) | conditions(DRIVE_TOGETHER)


def _flat(groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(key for group in groups.values() for key in group)


def _report() -> dict[str, Any]:
    texts = {key: {"type": ["string", "number"], "description": f"{key} in the title block"} for key in _flat(REPORT_KEYS)}
    curves = any_of(ref("name"), _list(ref("name"))) | {"description": "channels that the report plots"}
    return record({**texts, "curves": curves})


def _backdrop() -> dict[str, Any]:
    forms = {
        "file": {"type": "string", "description": f"picture or drawing: {', '.join(FILES)}"},
        "at": described("vector", "place of the lower left corner, of a drawing its origin", "length"),
        "scale": described("number", "length of a pixel, or of a millimeter of a drawing", "length"),
        "angle": described("number", "rotation", "angle"),
        "opacity": described("number", "0 to 1") | {"minimum": 0, "maximum": 1},
    }
    return any_of(record(_picked(forms, BACKDROP_KEYS), BACKDROP_KEYS[:1]), {"type": "null"})


def _units(text: str) -> dict[str, Any]:
    return any_of(_list({"type": "string"}), {"type": "null"}) | {
        "description": f"{text}, for example [mm, kg, deg]"
    }


_PARAMETER = {
    "value": described("number", "value"),
    "min": described("number", "lower bound of the value"),
    "max": described("number", "upper bound of the value"),
}
_START = any_of(ref("number"), _list(ref("number"), 2))
_MASS = {
    "body": described("name", "body that carries it"),
    "at": any_of(ref("name"), ref("vector")) | {"description": "a point of the body, or coordinates"},
    "mass": described("number", "point mass", "mass") | {"minimum": 0},
}
SECTION_FORMS: dict[str, Any] = {
    "name": {"type": ["string", "number"], "description": "name of the model"},
    "about": {"type": "string", "description": "what the model is"},
    "report": _report() | {"description": "title block and curves of the report"},
    "units": _units("units of numbers without a unit"),
    "show": _units("units of results"),
    "plane": {"enum": ["xy", "xz", "yz"], "description": "plane of a planar model"},
    "space": ref("flag") | {"description": "true: the planar drawing moves in space"},
    "gravity": any_of(ref("vector"), {"enum": [0, "none", None]}) | {"description": f"{measured(KINDS['acceleration'])}; none by default"},
    "backdrop": _backdrop() | {"description": "picture behind the drawing"},
    "parameters": mapping(any_of(ref("number"), record(_picked(_PARAMETER, PARAMETER_KEYS), PARAMETER_KEYS[:1])), "numbers by name"),
    "let": mapping(ref("number"), "names for expressions"),
    "drawing": mapping(ref("vector"), "points of the drawing by name"),
    "bodies": mapping(ref("body"), "bodies by name; `ground` is the fixed one"),
    "masses": mapping(record(_picked(_MASS, MASS_KEYS), MASS_KEYS), "point masses by name"),
    "guess": mapping(ref("pose"), "rough poses of bodies by name"),
    "drive": any_of(ref("name"), ref("names"), mapping(ref("drive"))) | {"description": "driven joints and cylinders: `A: 45 rpm`"},
    "start": mapping(_START, "positions and speeds at the start: `A: 60 deg`, `A.v: 45 rpm`", ANY),
    "cuts": any_of(ref("names"), {"const": "auto"}) | {"description": "joints at which loops are cut"},
}

"""The model file of a linkage that was read from a sketch: a drawing, bodies with pins, and comments that say where they come from."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import numpy as np

from linkwright.rings.exchange.reading.sketches.linkage import SketchLink, SketchLinkage, used_pins

DIGITS = 6  # decimals of a coordinate in millimeters
SPEED = "60 rpm"
SLIDING = "10 mm/s"


@dataclass(frozen=True)
class SketchDrive:
    """The joint that is driven, and why that one."""

    joint: str
    speed: str
    why: str


def model_text(out: SketchLinkage, name: str) -> str:
    """Return the text of the model file."""
    used = sorted(used_pins(out), key=lambda i: out.pins[i].name)
    drive = chosen_drive(out)
    lines = [
        f"# From {os.path.basename(out.sketch.file)} ({out.sketch.format}), in millimeters.",
        *(f"# {text}" for text in (*(f"Assumed: {x}." for x in out.inferred), *(f"Left out: {x}." for x in out.dropped))),
        f"name: {name}",
        f'about: "Linkage drawn in {_plain(os.path.basename(out.sketch.file))}"',
        "",
        "plane: xy",
        "units: [mm, kg, deg, rpm]        # of numbers without a unit",
        "# gravity: [0, -9.81 m/s^2]      # y is up in the drawing; it counts once bodies have masses",
        "",
        "# Pins and marked points where they were drawn. The lengths of the links follow from them.",
        "drawing:",
        *(f"  {out.pins[i].name}: [{_number(out.pins[i].at[0])}, {_number(out.pins[i].at[1])}]" for i in used),
        "",
        "bodies:                          # bodies that name the same pin are hinged there",
        f"  ground: {{{_ground(out)}}}",
        *_bodies(out),
        *_guides(out),
        "",
        "# A drawing has no masses: without them there is motion, but no torques and loads. Give each body its own, for example",
        f"#   {_example(out)}",
        "# or its section and material: bar: {section: {width: 20, height: 5}, material: steel}",
        "",
    ]
    if drive is not None:
        lines += [f"drive: {{{_quoted(drive.joint)}: {drive.speed}}}{' ' * 8}# assumed: {drive.why}", ""]
    return "\n".join(lines)


def _ground(out: SketchLinkage) -> str:
    used = set(used_pins(out))
    pins = [out.pins[i].name for i in out.ground if i in used]
    points = [out.pins[g.pin].name for g in out.guides if out.pins[g.pin].name not in pins]
    parts = [f"pins: [{', '.join(sorted(pins))}]"] if pins else []
    return ", ".join([*parts, *([f"points: [{', '.join(points)}]"] if points else [])])


def _bodies(out: SketchLinkage) -> list[str]:
    lines = []
    for x in out.links:
        layers = ", ".join(sorted({s.layer for s in x.strokes}))
        inside = ", pins inside its outline" if x.enclosing else ""
        lines.append(f"  {x.name}: {{{_parts(out, x)}}}    # layer {_plain(layers)}{inside}")
    for k, g in enumerate(out.guides):
        if g.link is None:
            lines.append(f"  {_slider(k)}: {{pins: [{out.pins[g.pin].name}]}}    # on its guide")
    return lines


def _parts(out: SketchLinkage, x: SketchLink) -> str:
    pins = [out.pins[i].name for i in x.pins if not out.pins[i].marked]
    marked = [out.pins[i].name for i in x.pins if out.pins[i].marked]
    return ", ".join([f"pins: [{', '.join(pins)}]", *([f"points: [{', '.join(marked)}]"] if marked else [])])


def _guides(out: SketchLinkage) -> list[str]:
    if not out.guides:
        return []
    lines = ["", "joints:"]
    for k, g in enumerate(out.guides):
        axis = ", ".join(_number(a) for a in g.axis)
        body = _slider(k) if g.link is None else g.link.name
        where = f"between: [ground, {body}], at: {out.pins[g.pin].name}, axis: [{axis}]"
        lines.append(f"  {_guide(k)}: {{type: prismatic, {where}}}")
    return lines


def _slider(k: int) -> str:
    return "slider" if k == 0 else f"slider{k + 1}"


def _guide(k: int) -> str:
    return "guide" if k == 0 else f"guide{k + 1}"


def _example(out: SketchLinkage) -> str:
    x = out.links[0]
    return f"{x.name}: {{{_parts(out, x)}, mass: 0.5}}"


def chosen_drive(out: SketchLinkage) -> SketchDrive | None:
    """The fixed hinge with the shortest link, which is most likely the crank; else a guide; None where neither is there."""
    found = []
    for i in out.ground:
        links = [x for x in out.links if i in x.pins]
        for x in links:
            reach = max((np.hypot(*np.subtract(out.pins[i].at, out.pins[j].at)) for j in x.pins if j != i), default=np.inf)
            name = out.pins[i].name if len(links) == 1 else f"{out.pins[i].name}:{x.name}"
            found.append((float(reach), name, x.name))
    if found:
        _, joint, body = min(found)
        return SketchDrive(joint, SPEED, f"{body} is the shortest link at the ground. Change it to the driven link")
    return SketchDrive(_guide(0), SLIDING, "the first guide. Change it to the driven one") if out.guides else None


def _number(x: float) -> str:
    rounded = round(float(x), DIGITS) + 0.0
    return f"{rounded:.{DIGITS}f}".rstrip("0").rstrip(".")


def _quoted(name: str) -> str:
    return f'"{name}"' if ":" in name else name


def _plain(text: str) -> str:
    """A text of the file in a comment or between quotes."""
    return re.sub(r'["\\\x00-\x1f\x7f]', " ", text)

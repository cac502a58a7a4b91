"""Cams in drawings to scale: within the mechanism, and the profile of one alone in the axes of its disc."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.rings.design.cams import designed
from linkwright.rings.studio.scene import Scene, Stage
from linkwright.rings.studio.sheet import nice_length

MM = 1e3
CROSS = 0.06  # half of the center's cross over the size of the profile


def add_cams(out: Any, scene: Scene, stage: Stage) -> None:
    """Draw profiles, rollers and faces of all cams."""
    for cam in scene.cams:
        for curve in (cam.profile, cam.outer):
            if curve is not None:
                out.line("CAMS", MM * stage.place(cam.node, curve), cam.name, cam.closed)
        if cam.face is not None:
            out.line("CAMS", MM * stage.place(cam.follower_node, cam.face), cam.name)
        if cam.roller is not None:
            out.circle("CAMS", MM * stage.place(cam.follower_node, cam.roller[0]), MM * cam.radius, cam.name)


def add_profile(empty: Any, system: Any, name: str, hole: float | None) -> Any:
    """Draw the profile of a cam about the center of its hinge, with base circle, pitch curve and a `hole` (diameter, mm), on the drawing
    that `empty(name, width of a line's dashes)` makes."""
    cam = designed(system, name)
    size = MM * float(np.ptp(cam.profile, axis=0).max())
    out = empty(f"{system.description.name}, {cam.name}", nice_length(CROSS * size))
    last = -1 if cam.closed else None  # a closed line does not repeat its first point
    for curve in (cam.profile, cam.outer):
        if curve is not None:
            out.line("CAMS", MM * curve[:last], cam.name, cam.closed)
    if hole is not None:
        out.circle("CAMS", (0.0, 0.0), 0.5 * hole)
    out.circle("CONSTRUCTION", (0.0, 0.0), MM * cam.base)
    if cam.roller:
        out.line("CONSTRUCTION", MM * cam.pitch[:last], "", cam.closed)
    for axis in np.eye(2):
        out.line("CONSTRUCTION", [-CROSS * size * axis, CROSS * size * axis])
    return out

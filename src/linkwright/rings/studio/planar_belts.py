"""Belts in a planar drawing: discs of the pulleys, with a line from the center that shows their rotation, and the line round them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwright.rings.studio.scene import Stage
from linkwright.rings.studio.scene_belts import SceneBelt
from linkwright.rings.studio.sheet import Sheet
from linkwright.rings.studio.style import mixed


def draw_belt(sheet: Sheet, stage: Stage, belt: SceneBelt, colors: Mapping[str, str]) -> None:
    """Draw a belt with its pulleys, below the bodies."""
    from matplotlib.patches import Circle

    look = sheet.look
    for spot, radius, body in zip(belt.spots, belt.radii, belt.bodies, strict=True):
        at = stage.spot(spot)
        color = colors.get(body, look.faint)
        edge = mixed(color, look.ink, 0.4)
        if radius > 0.0:
            disc = {"fc": mixed(color, look.paper, 0.62), "ec": edge, "lw": 1.2, "zorder": 8.0}
            sheet.add(Circle((float(at[0]), float(at[1])), radius, **disc))
        if radius > 0.0 and body:
            rim = at + 0.86 * radius * stage.pose(spot.node).R[:, 0]
            sheet.line(np.array([at, rim]), color=edge, lw=1.2, zorder=8.2)
    path = belt.path(stage)
    sheet.line(path, color=look.ink, lw=2.2, solid_joinstyle="round", solid_capstyle="round", zorder=17)
    sheet.remember(path)

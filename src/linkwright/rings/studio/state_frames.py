"""Pictures of single states as arrays of pixels, all through one window: for learning environments and programs that show as they go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.api import JOINTS, Description, State, System
from linkwright.rings.studio import style
from linkwright.rings.studio.picture import Canvas, turned

MARK = 9.0  # points across


class Frames:
    """Pictures of one mechanism, `width` pixels wide, in a window that holds a cycle of its drives. It follows a machine that walks."""

    def __init__(self, system: System, *, width: int = 480, dark: bool = False):
        self.width = width
        self.canvas = Canvas(system, turn=turned(system), trace=[], dark=dark, labels=False, whole_turn=True)
        self.base = _carrier(system.description)
        self.begun = 0.0 if self.base is None else float(system.start[self.base])
        self.points, self.outlines = self.canvas.points, list(self.canvas.scene.outlines)

    def picture(self, st: State, marks: Sequence[tuple[float, ...]] = ()) -> np.ndarray:
        """Return pixels (height, width, 3) of a state, with crosses at points of the plane."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        if self.base is not None:
            self._follow(float(st[self.base]) - self.begun)
        with style.settings(self.canvas.look):
            figure: Any = self.canvas.figure(st.instant, again=True)
            for x, y in marks:
                figure.axes[0].plot([x], [y], marker="x", markersize=MARK, markeredgewidth=2.0, color=self.canvas.look.accent, zorder=50)
            figure.set_dpi(self.width / figure.get_size_inches()[0])
            agg = FigureCanvasAgg(figure)
            agg.draw()
            return np.asarray(agg.buffer_rgba())[..., :3].copy()

    def _follow(self, gone: float) -> None:
        """Move the window to the side, and walls that have no end along themselves."""
        way = np.array([gone, 0.0, 0.0])
        self.canvas.points = self.points + way[: self.points.shape[1]]
        ground = self.canvas.scene.description.bodies[0].name
        for k, x in enumerate(self.outlines):
            if x.wall and x.body == ground and len(x.points) == 2:
                along = (x.points[1] - x.points[0]) / np.linalg.norm(x.points[1] - x.points[0])
                self.canvas.scene.outlines[k] = replace(x, points=x.points + along * (along @ way))


def _carrier(d: Description) -> str | None:
    """The coordinate that carries a whole machine to the side: of its only joint on the ground, if that leaves it free in the plane."""
    ground = d.bodies[0].name
    joints = [j for j in d.joints if ground in (j.first, j.second)]
    one = joints[0] if len(joints) == 1 and d.planar else None
    return f"{one.name}.x" if one is not None and "x" in JOINTS[one.type].q_names and one.first == ground else None

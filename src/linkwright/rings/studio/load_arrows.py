"""Loads of pins as arrows over a picture, one length of arrow for one size of force over a whole motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.api import Trajectory, array
from linkwright.rings.studio.picture import Canvas
from linkwright.rings.studio.plots.efforts import eyes, needs_loads
from linkwright.rings.studio.scene import Stage
from linkwright.rings.studio.scene_points import ScenePoint
from linkwright.rings.studio.spatial_drawing import Spatial, on_paper
from linkwright.rings.studio.style import PALETTE, mixed

LONGEST = 64.0  # points: the largest load of the motion
EDGE = 4.0  # points that stay free at the edge of a picture


class LoadArrows:
    """Loads of pins on one of their bodies at every sample, drawn over figures of a canvas."""

    def __init__(self, c: Trajectory, canvas: Canvas):
        needs_loads(c)
        self.c, self.canvas = c, canvas
        self.longest: float | None = None  # points of the largest load, once a picture is there
        spots = self._spots()
        self.forces: list[tuple[ScenePoint, np.ndarray]] = []
        for pin, body in eyes(c):
            if pin in spots:
                force = c.load(pin, body).force
                self.forces.append((spots[pin], np.column_stack([force, np.zeros((len(force), 3 - force.shape[1]))])))
        self.largest = max((float(np.linalg.norm(f, axis=1).max()) for _, f in self.forces), default=0.0)

    def _length(self, figure: Any, axes: Any) -> float:
        """Points of the largest load: the longest arrow, or less where one of the motion would leave the picture (in the plane)."""
        looks = 60  # samples for which there must be room
        if self.longest is None:
            size = 72.0 * np.array(figure.get_size_inches(), dtype=float)
            self.longest = LONGEST
            for sample in range(0, len(self.c), max(1, len(self.c) // looks)) if self.canvas.scene.description.planar else ():
                stage = Stage(self.c.skel, self.c._instants[sample])
                for spot, force in self.forces:
                    at = axes.transData.transform(stage.spot(spot)[:2]) * 72.0 / figure.dpi
                    along = force[sample, :2] / self.largest
                    free = np.where(along > 0.0, size - EDGE - at, at - EDGE)
                    needed = np.abs(along) * self.longest > free
                    if np.any(needed) and np.all(free > 0.0):
                        self.longest = float(np.min(free[needed] / np.abs(along[needed])))
        return self.longest

    def _spots(self) -> dict[str, ScenePoint]:
        skel = self.c.skel
        return {j.pin or j.name: ScenePoint(skel.node(j.second), array(j.frame_second.at)) for j in skel.tree.description.joints}

    def draw(self, figure: Any, sample: int) -> None:
        """Arrows of one sample over its figure."""
        if not self.largest > 0.0:
            return
        width, height = (72.0 * float(x) for x in figure.get_size_inches())
        picture = figure.axes[0]
        over = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        over.set_axis_off()
        over.set_xlim(0.0, width)
        over.set_ylim(0.0, height)
        stage = Stage(self.c.skel, self.c._instants[sample])
        color = mixed(PALETTE[4], self.canvas.look.ink, 0.15)
        least = 3.0  # points below which an arrow is only a spot
        for spot, force in self.forces:
            at, along = self._seen(figure, picture, stage.spot(spot), force[sample])
            if np.linalg.norm(along) < least:
                continue
            arrow = {"arrowstyle": "-|>", "color": color, "lw": 1.6, "mutation_scale": 9.0, "shrinkA": 0.0, "shrinkB": 0.0}
            over.annotate("", xy=tuple(at + along), xytext=tuple(at), arrowprops=arrow, annotation_clip=False)

    def _seen(self, figure: Any, axes: Any, at: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place and arrow on the page, in points."""
        if self.canvas.scene.description.planar:
            page = axes.transData.transform(at[:2]) * 72.0 / figure.dpi
            return page, self._length(figure, axes) * force[:2] / self.largest
        spatial = Spatial(self.canvas.scene, self.canvas.look)
        size = float(np.ptp(self.canvas.points, axis=0).max())
        tip = at + 0.05 * size * force / (float(np.linalg.norm(force)) or 1.0)  # short: perspective hardly bends it
        a, b = on_paper(figure, axes, spatial.seen(np.array([at, tip])))
        flat = on_paper(figure, axes, spatial.seen(np.array([at, at + 0.05 * size * np.eye(3)[2]])))
        scale = LONGEST / max(float(np.linalg.norm(flat[1] - flat[0])), 1e-9)
        return a, (b - a) * scale * float(np.linalg.norm(force)) / self.largest

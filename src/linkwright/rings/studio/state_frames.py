"""Pictures of single states as arrays of pixels, all through one window: for learning environments and programs that show as they go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.api import State, System
from linkwright.rings.studio import style
from linkwright.rings.studio.picture import Canvas, turned

MARK = 9.0  # points across


class Frames:
    """Pictures of one mechanism, `width` pixels wide, in a window that holds a cycle of its drives."""

    def __init__(self, system: System, *, width: int = 480, dark: bool = False):
        self.width = width
        self.canvas = Canvas(system, turn=turned(system), trace=[], dark=dark, labels=False, whole_turn=True)

    def picture(self, st: State, marks: Sequence[tuple[float, ...]] = ()) -> np.ndarray:
        """Return pixels (height, width, 3) of a state, with crosses at points of the plane."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        with style.settings(self.canvas.look):
            figure: Any = self.canvas.figure(st.instant, again=True)
            for x, y in marks:
                figure.axes[0].plot([x], [y], marker="x", markersize=MARK, markeredgewidth=2.0, color=self.canvas.look.accent, zorder=50)
            figure.set_dpi(self.width / figure.get_size_inches()[0])
            agg = FigureCanvasAgg(figure)
            agg.draw()
            return np.asarray(agg.buffer_rgba())[..., :3].copy()

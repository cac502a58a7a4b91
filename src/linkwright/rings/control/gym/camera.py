"""Pictures of environments, with the point of the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwright.rings.control.gym.task import GOAL
from linkwright.rings.studio.state_frames import Frames

if TYPE_CHECKING:
    from linkwright.rings.control.gym.episodes import Episodes


class Camera:
    """Pictures of the environments of a task, all through one window."""

    def __init__(self, episodes: Episodes, width: int = 480):
        self.episodes = episodes
        self.frames = Frames(episodes.system, width=width)
        names = [n.removesuffix(".x") for n in episodes.goals if n.endswith(".x") and f"{n.removesuffix('.x')}.y" in episodes.goals]
        self.marked = names if episodes.system.description.planar else []

    def picture(self, i: int) -> np.ndarray:
        """(height, width, 3) of environment i."""
        goals = self.episodes.goals
        marks: list[tuple[float, ...]] = [(float(goals[f"{n}.x"][i]), float(goals[f"{n}.y"][i])) for n in self.marked]
        marks += [tuple(map(float, x[i])) for n, x in goals.items() if n.startswith(GOAL) and x.shape[1:] == (2,)]
        return self.frames.picture(self.episodes.stepper.state(i), marks)

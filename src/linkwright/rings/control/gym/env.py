"""One environment of a task as Gymnasium's Env: the first and only row of the same episodes that vectors step."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from linkwright.api import UsageError
from linkwright.rings.control.gym.episodes import Episodes
from linkwright.rings.control.gym.task import Task
from linkwright.rings.control.gym.vector import is_seed, metadata_of, render_mode_of, spaces

FIRST = np.zeros(1, dtype=np.int64)


class MechanismEnv(gymnasium.Env):
    """An environment of a task."""

    def __init__(self, task: Task, *, render_mode: str | None = None):
        self.task, self.render_mode, self.metadata = task, render_mode_of(render_mode), metadata_of(task)
        self.episodes = Episodes(task, 1)
        self.observation_space, self.action_space = spaces(self.episodes)
        self._begun, self._camera = False, None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a new episode; return the observation and an empty dict. options: values by name that replace drawn ones, in SI."""
        if seed is not None and not is_seed(seed):
            raise UsageError(f"seed is a whole number of 0 or more, not {seed!r}.", name="seed", value=seed)
        super().reset(seed=None if seed is None else int(seed))
        if seed is not None:
            self.episodes.seed(np.array([int(seed) % 2**64], dtype=np.uint64))
        elif not self._begun:
            self.episodes.seed(self.np_random.integers(2**63, size=1, dtype=np.uint64))
        self.episodes.reset(FIRST, options)
        self._begun = True
        return self.episodes.observed(self.episodes.sample())[0], {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Advance by one step; return observation, reward, terminated, truncated and info."""
        if not self._begun:
            raise UsageError("call reset() before the first step().")
        given = np.asarray(action)
        if given.shape != self.action_space.shape:
            raise UsageError(
                f"the action has shape {given.shape}. It needs {self.action_space.shape}: {', '.join(self.episodes.act.names)}.",
                name="action",
            )
        found = self.episodes.step(given[None], None)
        info: dict[str, Any] = {} if found.success is None else {"is_success": bool(found.success[0])}
        if found.failed is not None:
            info["failure"] = self.episodes.why(FIRST)[0]
        return found.observations[0], float(found.rewards[0]), bool(found.terminated[0]), bool(found.truncated[0]), info

    @property
    def observation_names(self) -> tuple[str, ...]:
        """Names of the entries of an observation."""
        return self.episodes.observation_names()

    @property
    def action_names(self) -> tuple[str, ...]:
        """Coordinates that the entries of an action push."""
        return self.episodes.act.names

    def render(self) -> np.ndarray | None:
        """Return a picture (height, width, 3); None without a render mode."""
        from linkwright.rings.control.gym.camera import Camera

        if self.render_mode is None:
            return None
        if self._camera is None:
            self._camera = Camera(self.episodes)
        return self._camera.picture(0)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_camera": None}

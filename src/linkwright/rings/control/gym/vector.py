"""A native vector environment of Gymnasium: one stepper for all environments, no processes and no loops over environments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from linkwright.api import UsageError
from linkwright.rings.control.gym.episodes import Episodes, StepResult
from linkwright.rings.control.gym.task import Task

RENDER_MODES = ("rgb_array",)
MASK = "reset_mask"


def spaces(episodes: Episodes) -> tuple[Box, Box]:
    """Spaces of the observations and actions of one environment."""
    dtype = np.dtype(episodes.task.dtype).type
    width = episodes.observed(episodes.sample()).shape[1]
    most = float(np.finfo(np.float32).max)  # every observation is a finite number
    return Box(-most, most, (width,), dtype), Box(-1.0, 1.0, (len(episodes.act.names),), np.float32)


def render_mode_of(given: str | None) -> str | None:
    """Check a render mode."""
    if given is not None and given not in RENDER_MODES:
        raise UsageError(
            f"render_mode is None or one of {', '.join(RENDER_MODES)}, not {given!r}.",
            name="render_mode",
            value=given,
            allowed=RENDER_MODES,
        )
    return given


def is_seed(given: Any) -> bool:
    """True for a whole number of 0 or more."""
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= 0


def metadata_of(task: Task) -> dict[str, Any]:
    """Metadata of the environments of a task."""
    return {"render_modes": list(RENDER_MODES), "render_fps": max(1, round(1.0 / task.seconds))}


class MechanismVectorEnv(VectorEnv):
    """`num_envs` environments of a task that step together.

    Environment i of `reset(seed=s)` draws as a single environment with seed s + i does, and moves the same bit by bit.
    autoreset_mode: "NextStep" (default), "SameStep" or "Disabled", as an AutoresetMode of Gymnasium or its text.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int,
        *,
        autoreset_mode: Any = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        render_mode: str | None = None,
    ):
        self.task, self.num_envs = task, num_envs
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            allowed = ", ".join(repr(x.value) for x in AutoresetMode)
            raise UsageError(
                f"autoreset_mode is one of {allowed}, not {autoreset_mode!r}.", name="autoreset_mode", value=autoreset_mode
            ) from None
        self.render_mode = render_mode_of(render_mode)
        self.metadata = {**metadata_of(task), "autoreset_mode": self.autoreset_mode}
        self.episodes = Episodes(task, num_envs, threads)
        self.single_observation_space, self.single_action_space = spaces(self.episodes)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._ended: np.ndarray | None = None  # environments whose episode has ended; None before the first reset
        self._camera: Any = None

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin new episodes; return observations and infos.

        seed: one for all (environment i has seed + i), or one for each. options: values by name that replace drawn ones, in SI, and
        `reset_mask`, the environments that begin anew (all by default).
        """
        given = dict(options or {})
        mask = self._mask(given.pop(MASK, None))
        self._seed(seed, mask)
        self.episodes.reset(np.flatnonzero(mask), given)
        self._ended = np.zeros(self.num_envs, dtype=bool) if self._ended is None else self._ended & ~mask
        return self.episodes.observed(self.episodes.sample()), {}

    def _mask(self, mask: Any) -> np.ndarray:
        if mask is None:
            return np.ones(self.num_envs, dtype=bool)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise UsageError(f"options['{MASK}'] is an array of {self.num_envs} values True or False, one of them True.", name=MASK)
        if self._ended is None and not mask.all():
            raise UsageError("the first reset begins all environments. Leave reset_mask out.")
        return mask

    def _seed(self, seed: Any, mask: np.ndarray) -> None:
        """Seeds of the environments that are reset; without any, those before continue."""
        if seed is None and self._ended is None:
            self.episodes.seed(self.np_random.integers(2**63, size=self.num_envs, dtype=np.uint64))
        if seed is None:
            return
        one = is_seed(seed)
        seeds = [int(seed) + i for i in range(self.num_envs)] if one else list(seed) if isinstance(seed, Iterable) else []
        if len(seeds) != self.num_envs or not all(s is None or is_seed(s) for s in seeds):
            raise UsageError(f"seed is a whole number of 0 or more, or {self.num_envs} of them.", name="seed")
        if one:
            self._np_random, self._np_random_seed = seeding.np_random(int(seed))
        which = np.array([i for i, s in enumerate(seeds) if s is not None and mask[i]], dtype=np.int64)
        self.episodes.seed(np.array([int(seeds[i]) % 2**64 for i in which], dtype=np.uint64), which)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all environments; return observations, rewards, terminations, truncations and infos."""
        if self._ended is None:
            raise UsageError("call reset() before the first step().", name="step")
        mode, again = self.autoreset_mode, self._ended
        some = bool(again.any())
        if some and mode == AutoresetMode.DISABLED:
            listed = ", ".join(map(str, np.flatnonzero(again)[:5]))
            raise UsageError(f"episodes of environments {listed} have ended: reset them by reset(options={{'{MASK}': mask}}).", name=MASK)
        moving = ~again if some else None
        if some:
            self.episodes.reset(np.flatnonzero(again))
        found = self.episodes.step(actions, moving)
        infos: dict[str, Any] = {}
        self._inform(infos, found, moving)
        self._ended = found.terminated | found.truncated
        observations = found.observations
        if mode == AutoresetMode.SAME_STEP and self._ended.any():
            observations, infos = self._same_step(found, infos)
            self._ended = np.zeros(self.num_envs, dtype=bool)
        return observations, found.rewards, found.terminated.copy(), found.truncated.copy(), infos

    def _inform(self, infos: dict[str, Any], found: StepResult, moving: np.ndarray | None) -> None:
        """Successes, and reasons of failures, with masks of the environments that have them."""
        if found.success is not None and (moving is None or moving.any()):
            there = np.ones(self.num_envs, dtype=bool) if moving is None else moving.copy()
            infos["is_success"], infos["_is_success"] = found.success & there, there
        if found.failed is not None:
            rows = np.flatnonzero(found.failed)
            reasons = np.full(self.num_envs, None, dtype=object)
            reasons[rows] = self.episodes.why(rows)
            infos["failure"], infos["_failure"] = reasons, found.failed.copy()

    def _same_step(self, found: StepResult, infos: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin ended episodes anew; the last observations and infos of those that ended become final ones."""
        ended = found.terminated | found.truncated
        rows = np.flatnonzero(ended)
        last = np.full(self.num_envs, None, dtype=object)
        for k in rows:
            last[k] = found.observations[k].copy()
        final: dict[str, Any] = {}
        for name in [n for n in infos if not n.startswith("_")]:
            values, there = infos[name], infos[f"_{name}"]
            empty = None if values.dtype == object else False
            if (there & ended).any():
                final[name], final[f"_{name}"] = np.where(ended, values, empty), there & ended
            infos[name], infos[f"_{name}"] = np.where(ended, empty, values), there & ~ended
            if not infos[f"_{name}"].any():
                del infos[name], infos[f"_{name}"]
        self.episodes.reset(rows)
        infos |= {"final_obs": last, "_final_obs": ended.copy(), "final_info": final, "_final_info": ended.copy()}
        return self.episodes.observed(self.episodes.sample()), infos

    # ---------------------------------------------------------------- pictures

    @property
    def observation_names(self) -> tuple[str, ...]:
        """Names of the entries of an observation."""
        return self.episodes.observation_names()

    @property
    def action_names(self) -> tuple[str, ...]:
        """Coordinates that the entries of an action push."""
        return self.episodes.act.names

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return a picture (height, width, 3) of every environment; None without a render mode."""
        return None if self.render_mode is None else tuple(self.frame(i) for i in range(self.num_envs))

    def frame(self, i: int) -> np.ndarray:
        """Return a picture (height, width, 3) of one environment, whatever the render mode."""
        from linkwright.rings.control.gym.camera import Camera

        if self._camera is None:
            self._camera = Camera(self.episodes)
        return self._camera.picture(i)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_camera": None}

"""A vector of a task as the VecEnv that Stable-Baselines3 trains on.

    from stable_baselines3 import PPO
    PPO("MlpPolicy", task.stable_baselines(256)).learn(1_000_000)

Stable-Baselines3 has a class of vectors of its own: ended episodes begin anew within the step, and `infos` is a list of dicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.api import UsageError
from linkwright.rings.control.gym.vector import MechanismVectorEnv

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv

ARRAYS = ("is_success", "failure")  # infos of single environments


def vec_env(envs: MechanismVectorEnv) -> VecEnv:
    """Return the same environments as a VecEnv."""
    if find_spec("stable_baselines3") is None:
        raise UsageError("task.stable_baselines needs its package: pip install stable-baselines3.", name="stable_baselines3")
    return _class()(envs)


@cache
def _class() -> Any:
    """The class, made when its package is needed."""
    from stable_baselines3.common.vec_env import VecEnv

    class MechanismVecEnv(VecEnv):
        """Environments of a task that step together, under the interface of Stable-Baselines3."""

        def __init__(self, envs: MechanismVectorEnv):
            self.envs, self._actions = envs, np.zeros((envs.num_envs, len(envs.action_names)))
            super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
            self.render_mode = envs.render_mode

        def reset(self) -> np.ndarray:
            seeds = self._seeds if any(s is not None for s in self._seeds) else None
            self._reset_seeds()
            return self.envs.reset(seed=seeds)[0]

        def step_async(self, actions: np.ndarray) -> None:
            self._actions = actions

        def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
            seen, rewards, terminated, truncated, infos = self.envs.step(self._actions)
            return seen, rewards.astype(np.float32), terminated | truncated, listed(infos, self.num_envs, truncated & ~terminated)

        def close(self) -> None:
            self.envs.close()

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            if len(list(self._get_indices(indices))) < self.num_envs:
                raise UsageError(f"'{attr_name}' belongs to all environments of a native vector. Set it without indices.", name=attr_name)
            setattr(self.envs, attr_name, value)

        def env_method(self, method_name: str, *args: Any, indices: Any = None, **options: Any) -> list[Any]:
            return [getattr(self.envs, method_name)(*args, **options)] * len(list(self._get_indices(indices)))

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
            return [False] * len(list(self._get_indices(indices)))

        def get_images(self) -> Sequence[np.ndarray | None]:
            return [self.envs.frame(i) for i in range(self.num_envs)]

    return MechanismVecEnv


def listed(infos: dict[str, Any], n: int, cut: Iterable[bool]) -> list[dict[str, Any]]:
    """Infos of every environment, from those of all; `cut`: environments that ended by time alone."""
    out: list[dict[str, Any]] = [{"TimeLimit.truncated": bool(x)} for x in cut]
    for source in (infos, infos.get("final_info", {})):
        for name in ARRAYS:
            for k in np.flatnonzero(source.get(f"_{name}", np.zeros(n, dtype=bool))):
                value = source[name][k]
                out[k][name] = bool(value) if name == "is_success" else value
    if "final_obs" in infos:
        for k in np.flatnonzero(infos["_final_obs"]):
            out[k]["terminal_observation"] = infos["final_obs"][k]
    return out

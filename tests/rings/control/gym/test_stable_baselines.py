"""The vector under Stable-Baselines3: its trainer takes it as it is. `make test-all` runs this file where its package is installed."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
import linkwright.rings.control.gym as lg
from linkwright.rings.control.gym.registration import found
from tests.refusals import refused

pytestmark = pytest.mark.slow


def test_it_is_the_native_vector_with_other_infos() -> None:
    """Observations, rewards and ends of both across ends of episodes, and the last observation of those that ended."""
    from stable_baselines3.common.vec_env import VecEnv

    task = found("FiveBarReach-v0").with_(horizon=6, act={"A": "8 N m", "E": "8 N m"})
    ours, native = task.stable_baselines(5), task.vector(5, autoreset_mode="SameStep")
    assert isinstance(ours, VecEnv)
    ours.seed(3)
    assert np.array_equal(ours.reset(), native.reset(seed=3)[0])
    random, last = np.random.default_rng(0), 0
    for _ in range(20):
        a = random.uniform(-1.0, 1.0, (5, 2)).astype(np.float32)
        seen, rewards, ended, infos = ours.step(a)
        other, paid, terminated, truncated, extra = native.step(a)
        assert np.array_equal(seen, other) and np.allclose(rewards, paid) and np.array_equal(ended, terminated | truncated)
        for k, info in enumerate(infos):
            assert info["TimeLimit.truncated"] == (truncated[k] and not terminated[k])
            assert ("terminal_observation" in info) == ended[k]
            if ended[k]:
                assert np.array_equal(info["terminal_observation"], extra["final_obs"][k])
                last += 1
    assert last >= 15
    assert ours.env_is_wrapped(object) == [False] * 5 and ours.get_attr("num_envs", [0, 1]) == [5, 5]
    with refused(lw.UsageError, name="render_mode"):
        ours.set_attr("render_mode", None, indices=0)


def test_its_trainer_learns() -> None:
    """A short run of PPO on a wheel that must turn to the right: the return of an episode, at most 50, grows from 0 to more than 30."""
    from stable_baselines3 import PPO

    wheel = {
        "name": "wheel", "plane": "xy", "gravity": 0, "drawing": {"A": [0, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "wheel": {"pins": ["A"], "mass": 1, "com": "A", "inertia": 0.5}},
    }  # fmt: skip
    task = lg.Task(wheel, observe=["A.v"], act={"A": "2 N m"}, reward=lambda x: x["action"][:, 0], horizon=50, dt=0.01, substeps=1)
    model = PPO("MlpPolicy", task.stable_baselines(64), n_steps=50, batch_size=800, learning_rate=3e-3, device="cpu", seed=0)
    model.learn(60_000)
    envs = task.stable_baselines(8)
    seen, total = envs.reset(), 0.0
    for _ in range(50):
        seen, rewards, _, _ = envs.step(model.predict(seen, deterministic=True)[0])
        total += rewards.mean()
    assert total > 30.0

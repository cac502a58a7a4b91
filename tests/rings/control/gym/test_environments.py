"""Environments under Gymnasium's own checker, and the native vector against Gymnasium's loop over single environments, bit by bit."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import linkwright as lw
import linkwright.rings.control.gym as lg
from linkwright.rings.control.gym.tasks import TASKS
from tests.refusals import refused
from tests.sweeps import sweep

IDS = [f"linkwright/{name}" for name in TASKS]


def short() -> lg.Task:
    """Episodes of a few steps, some of which end early: torques are far too large."""
    return lg.registration.found("FiveBarReach-v0").with_(act={"A": "8 N m", "E": "8 N m"}, horizon=7)


@sweep("name", IDS, now=1)
def test_the_checker_has_no_remark(name: str) -> None:
    """Warnings are errors here. Stewart's pictures in space take a second each; its check is the same otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name)
        check_env(env.unwrapped, skip_render_check="Stewart" in name)
        env.close()


@sweep("mode", list(AutoresetMode), now=["Disabled"], ids=lambda m: m.value)
def test_a_vector_is_many_single_environments(mode: AutoresetMode) -> None:
    """Observations, rewards, ends and infos of 20 environments are those of Gymnasium's loop over 20 single ones, to the last bit."""
    task, n = short(), 20
    own, loop = task.vector(n, autoreset_mode=mode), SyncVectorEnv([task.env] * n, autoreset_mode=mode)
    assert own.observation_space == loop.observation_space and own.action_space == loop.action_space
    assert own.metadata["autoreset_mode"] is mode
    first, second = own.reset(seed=5), loop.reset(seed=5)
    assert np.array_equal(first[0], second[0]) and first[1] == second[1] == {}
    random, ends = np.random.default_rng(3), {"terminated": 0, "truncated": 0}
    for _ in range(25):
        actions = random.uniform(0.0, 1.0, (n, 2)).astype(np.float32)
        actions[::2] *= 0.02
        mine, other = own.step(actions), loop.step(actions)
        for a, b in zip(mine[:4], other[:4], strict=True):
            assert a.dtype == b.dtype and np.array_equal(a, b)
        same(mine[4], other[4])
        ended = mine[2] | mine[3]
        ends["terminated"] += mine[2].sum()
        ends["truncated"] += mine[3].sum()
        if mode == AutoresetMode.DISABLED and ended.any():
            a, b = own.reset(options={"reset_mask": ended}), loop.reset(options={"reset_mask": ended})
            assert np.array_equal(a[0], b[0])
    assert min(ends.values()) > 5, "both kinds of ends have to occur"


def same(a: dict, b: dict) -> None:
    """Infos of two vectors: the same keys, masks and values."""
    assert a.keys() == b.keys()
    for name, x in a.items():
        if isinstance(x, dict):
            same(x, b[name])
            continue
        assert x.dtype == b[name].dtype
        for i in range(len(x)):
            assert np.array_equal(x[i], b[name][i])


@sweep("name", IDS, now=2)
def test_seeds_and_threads(name: str) -> None:
    """The same seed gives the same bits: alone or in a vector of any size, on one core or several."""
    large = gymnasium.make_vec(name, num_envs=40, horizon=6)
    small = gymnasium.make_vec(name, num_envs=9, horizon=6, threads=1)
    one = gymnasium.make(name, horizon=6)
    seen = large.reset(seed=11)[0], small.reset(seed=14)[0], one.reset(seed=17)[0]
    assert np.array_equal(seen[0][3:12], seen[1]) and np.array_equal(seen[0][6], seen[2])
    assert not np.array_equal(seen[0][0], seen[0][1])
    random = np.random.default_rng(0)
    for _ in range(5):
        actions = random.uniform(-0.3, 0.3, large.action_space.shape)
        a, b, c = large.step(actions), small.step(actions[3:12]), one.step(actions[6])
        assert np.array_equal(a[0][3:12], b[0]) and np.array_equal(a[1][3:12], b[1])
        assert np.array_equal(a[0][6], c[0]) and a[1][6] == c[1]
    assert np.array_equal(large.reset(seed=11)[0], seen[0])
    assert not np.array_equal(large.reset(seed=12)[0], seen[0])


def test_make_by_module_and_by_own_name() -> None:
    assert gymnasium.make("linkwright.rings.control.gym:linkwright/CrankSpeed-v0").spec.id == "linkwright/CrankSpeed-v0"
    task = short()
    task.register("mine/Reach-v0")
    envs = gymnasium.make_vec("mine/Reach-v0", num_envs=3, autoreset_mode="SameStep", max_episode_steps=2)
    envs.reset(seed=0)
    assert [envs.step(np.zeros((3, 2)))[3].all() for _ in range(2)] == [False, True]
    assert isinstance(envs, lg.MechanismVectorEnv) and isinstance(gymnasium.make("mine/Reach-v0").unwrapped, lg.MechanismEnv)


def test_wrappers_of_gymnasium() -> None:
    """Wrappers read metadata and infos; statistics count our episodes."""
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(short().vector(4))
    envs.reset(seed=1)
    lengths = []
    for _ in range(20):
        infos = envs.step(np.zeros((4, 2)))[4]
        lengths += list(infos["episode"]["l"][infos["_episode"]]) if "episode" in infos else []
    assert lengths and max(lengths) == 7
    env = gymnasium.wrappers.RescaleAction(gymnasium.make(IDS[0]), np.float32(-2.0), np.float32(2.0))
    env.reset(seed=0)
    env.step(np.array([2.0, -2.0], dtype=np.float32))


def test_copies_continue_alike() -> None:
    """A copied or pickled environment moves as the original does."""
    envs = lg.registration.found("FiveBarReach-v0").vector(5)
    envs.reset(seed=2)
    actions = np.full((5, 2), 0.2)
    envs.step(actions)
    twins = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    wanted = envs.step(actions)
    for twin in twins:
        found = twin.step(actions)
        assert all(np.array_equal(a, b) for a, b in zip(found[:4], wanted[:4], strict=True))
        assert np.array_equal(twin.reset()[0], copy.deepcopy(envs).reset()[0])


def test_processes_of_gymnasium() -> None:
    """Environments can be sent to other processes."""
    envs = gymnasium.make_vec(IDS[0], num_envs=2, vectorization_mode="async")
    alone = gymnasium.make_vec(IDS[0], num_envs=2)
    try:
        assert np.array_equal(envs.reset(seed=4)[0], alone.reset(seed=4)[0])
        assert np.array_equal(envs.step(np.zeros((2, 2), np.float32))[0], alone.step(np.zeros((2, 2)))[0])
    finally:
        envs.close()


def test_pictures() -> None:
    """Pixels of the size that was asked for; the mechanism moves in them, and the goal is marked."""
    env = gymnasium.make(IDS[0], render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first.dtype == np.uint8 and first.shape[1:] == (480, 3) and first.min() < 60
    for _ in range(5):
        env.step(np.array([0.5, 0.5], dtype=np.float32))
    assert (env.render() != first).any()
    vector = lg.registration.found("CrankSpeed-v0").vector(2, render_mode="rgb_array")
    vector.reset(seed=0)
    frames = vector.render()
    assert len(frames) == 2 and (frames[0] != frames[1]).any()
    assert lg.registration.found("CrankSpeed-v0").vector(2).render() is None


def test_physics_is_that_of_the_stepper() -> None:
    """Observations are channels of states that s.step reaches with the same torques."""
    task = lg.Task(
        "five-bar", observe=["A", "E", "A.v", "left_rod.C", "C.load", "left_rod.rotation", "cos(A)", "t", "A.torque", "left_rod.angle.a"],
        act={"A": (-1.0, 3.0), "E": "0.5 N m"}, reward=lambda x: x["A"], dt="10 ms", substeps=2, dtype="float64",
    )  # fmt: skip
    env, s = task.env(), task.system
    assert env.observation_names[2:6] == ("A.v", "left_rod.C[0]", "left_rod.C[1]", "C.load") and env.action_names == ("A", "E")
    assert len(env.observation_names) == env.observation_space.shape[0]
    st, tau = s.start, {"A": 1.0 + 2.0 * 0.4, "E": -0.25}
    env.reset(seed=0)
    for _ in range(3):
        seen = env.step([0.4, -0.5])[0]
        st = s.step(st, tau, 0.01, substeps=2)
    run = s.simulate(st, 1e-3, drive={"A": lw.drives.torque(tau["A"]), "E": lw.drives.torque(tau["E"])}, sample_interval=1e-3)
    wanted = [st["A"], st["E"], st["A.v"], *st["left_rod.C"], run["C.load"][0], *st["left_rod.rotation"], np.cos(st["A"]), 0.03,
              tau["A"], run["left_rod.angle.a"][0]]  # fmt: skip
    assert np.allclose(seen, wanted, rtol=1e-9, atol=1e-12)  # accelerations of another program: round-off of the solution


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with refused(lw.UsageError, name="gymnasium"):
        importlib.reload(lg)

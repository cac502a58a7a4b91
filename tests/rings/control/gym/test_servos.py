"""Servos of a task: closed forms of a lag, a delay, a torque-speed curve and a position control, per environment and per episode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import linkwright as lw
import linkwright.rings.control.gym as lg

INERTIA = 0.5  # kg m^2
WHEEL: dict[str, Any] = {
    "name": "wheel", "plane": "xy", "gravity": 0, "drawing": {"A": [0, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "wheel": {"pins": ["A"], "mass": 1, "com": "A", "inertia": INERTIA}},
}  # fmt: skip
H, SUBSTEPS = 0.001, 10


def task(servo: Any, act: Any = "4 N m", **changes: Any) -> lg.Task:
    fields = {"observe": ["A", "A.v"], "dt": H * SUBSTEPS, "substeps": SUBSTEPS, "horizon": 100, "dtype": "float64"}
    return lg.Task(WHEEL, act={"A": act}, servo=servo, reward=lambda x: 0.0 * x["A"], **{**fields, **changes})


def named(envs: lg.MechanismVectorEnv) -> lg.NamedArrays:
    """What functions of the task read."""
    assert envs.episodes.last is not None
    return envs.episodes.last


def speeds(envs: lg.MechanismVectorEnv, action: float, steps: int) -> np.ndarray:
    """Speeds (steps, environments) under one action."""
    return np.array([envs.step(np.full((envs.num_envs, 1), action))[0][:, 1] for _ in range(steps)])


def test_a_lag_takes_its_time() -> None:
    """A torque held for each step of the lag's exact solution: its sum is a geometric series, to round-off of a few hundred steps."""
    lag, torque = 0.02, 4.0
    envs = task(lg.Servo(lag=lag)).vector(1)
    envs.reset(seed=0)
    k = np.arange(1, 20 * SUBSTEPS + 1)
    expected = np.cumsum(torque * (1.0 - np.exp(-k * H / lag))) * H / INERTIA
    assert np.allclose(speeds(envs, 1.0, 20)[:, 0], expected[SUBSTEPS - 1 :: SUBSTEPS], rtol=1e-12)


def test_a_delay_shifts_the_answer() -> None:
    """After 0, 5 and 25 ms of delay the wheel has turned under the torque for so much less, each environment by its own delay."""
    envs = task(lg.Servo(), randomize={"A.servo.delay": [0.0, 0.005, 0.025]}, read=["A.servo.delay"]).vector(30)
    envs.reset(seed=1)
    late = named(envs)["A.servo.delay"]
    assert set(late) == {0.0, 0.005, 0.025}
    found = speeds(envs, 0.5, 6)
    for step, row in enumerate(found, 1):
        assert np.allclose(row, 2.0 / INERTIA * np.maximum(step * SUBSTEPS * H - late, 0.0), atol=1e-13)


def test_torque_falls_with_speed() -> None:
    """Pushed by more than it has, the wheel follows v' = T (1 - v / v0) / J: an exponential approach to the speed without load. The torque
    is held for a millisecond of a time constant of 1/3 s, which leaves h / (2 tau) = 1.5e-3 of the difference."""
    torque, free = 3.0, 2.0
    envs = task(lg.Servo(torque=torque, speed=free), act=9.0).vector(1)
    envs.reset(seed=0)
    found, tau = speeds(envs, 1.0, 100)[:, 0], INERTIA * free / torque
    t = np.arange(1, 101) * H * SUBSTEPS
    assert np.allclose(found, free * (1.0 - np.exp(-t / tau)), atol=1.5e-3 * free)
    assert speeds(envs, -1.0, 1)[0, 0] < found[-1] - torque / INERTIA * H * SUBSTEPS * 0.999  # it brakes with all it has


def test_a_position_servo_is_a_spring_with_a_damper() -> None:
    """The step response of J a + d v + k (q - r) = 0 at critical damping. Torques held for h act h / 2 late: an error of that order."""
    k, goal = 50.0, 0.3
    d = 2.0 * np.sqrt(k * INERTIA)
    envs = task(lg.Servo(stiffness=k, damping=d), act=("-30 deg", "60 deg")).vector(1)
    envs.reset(seed=0)
    action = (goal - np.deg2rad(15.0)) / np.deg2rad(45.0)
    q = np.array([envs.step(np.array([[action]]))[0][0, 0] for _ in range(60)])
    t, w = np.arange(1, 61) * H * SUBSTEPS, np.sqrt(k / INERTIA)
    assert np.allclose(q, goal * (1.0 - (1.0 + w * t) * np.exp(-w * t)), atol=2.0 * w * H * goal)
    assert abs(q[-1] - goal) < 0.02 * goal


def test_set_points_begin_at_the_start() -> None:
    """With a delay longer than a step, a servo holds the position that the episode started in, not zero."""
    servo = lg.Servo(stiffness=40.0, damping=2.0, delay=0.015)
    envs = task(servo, act=("-60 deg", "60 deg"), start={"A": (0.4, 0.5)}).vector(5)
    first = envs.reset(seed=0)[0]
    for _ in range(3):  # episodes of other rows go on
        envs.step(np.zeros((5, 1)))
    mask = np.array([True, False, False, False, True])
    again = envs.reset(options={"reset_mask": mask})[0]
    seen = envs.step(np.zeros((5, 1)))[0]
    assert np.array_equal(seen[mask], again[mask]) and (np.abs(seen[~mask] - first[~mask]) > 1e-3).all()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_vector_is_many_single_environments(mode: AutoresetMode) -> None:
    """With delays, lags and numbers drawn for every episode, to the last bit, across the ends of episodes."""
    t = task(
        lg.Servo(stiffness="40 N m/rad", damping=2.0, torque="5 N m", speed="6 rad/s", lag="3 ms", delay="4 ms"),
        act=("-60 deg", "60 deg"), start={"A": (-0.5, 0.5)}, randomize={"*.servo.stiffness": "20 %", "A.servo.delay": (0.0, 0.012)},
        horizon=7, read=["A.servo.stiffness"], done=lambda x: x["A"] > 0.6,
    )  # fmt: skip
    own, loop = t.vector(6, autoreset_mode=mode), SyncVectorEnv([t.env] * 6, autoreset_mode=mode)
    assert np.array_equal(own.reset(seed=3)[0], loop.reset(seed=3)[0])
    drawn, random = set(), np.random.default_rng(0)
    for _ in range(30):
        a = random.uniform(-1.0, 1.0, (6, 1)).astype(np.float32)
        for mine, other in zip(own.step(a)[:4], loop.step(a)[:4], strict=True):
            assert np.array_equal(mine, other)
        drawn |= set(named(own)["A.servo.stiffness"])
    assert len(drawn) > 12 and min(drawn) >= 32.0 and max(drawn) <= 48.0


def test_forces_of_contacts_carry_the_weight() -> None:
    """A disk that rests on the floor presses on it with m g, one that falls with nothing, and nothing is known before the first step."""
    disk = {
        "name": "disk", "plane": "xy", "gravity": [0, -9.81],
        "bodies": {"ground": {"points": {"O": [0, 0]}}, "disk": {"points": {"C": [0, 0]}, "mass": 2, "com": [0, 0], "inertia": 0.01}},
        "joints": {"base": {"type": "planar", "between": ["ground", "disk"], "at": [0, 0]}},
        "surfaces": {"rim": {"circle": "disk.C", "radius": 0.1}, "floor": {"line": "ground.O", "normal": [0, 1]}},
        "contacts": {"step": {"between": ["rim", "floor"], "mu": 0.3}},
    }  # fmt: skip
    envs = lg.Task(
        disk, observe=["step.normal", "base.y"], act={"base.x": "1 N"}, reward=lambda x: -x["step.normal"], dt=0.01, dtype="float64",
        start={"base.y": [0.1, 0.5]}, horizon=4,
    ).vector(12)  # fmt: skip
    seen = envs.reset(seed=0)[0]
    assert (seen[:, 0] == 0.0).all() and set(seen[:, 1]) == {0.1, 0.5}
    for _ in range(2):
        seen, rewards, *_ = envs.step(np.zeros((12, 1)))
    low = seen[:, 1] < 0.3
    assert low.any() and not low.all()
    assert np.allclose(seen[:, 0], np.where(low, 2 * 9.81, 0.0), atol=1e-6)  # residual of the problem of impulses, over its step
    assert np.array_equal(rewards, -seen[:, 0])


MISTAKES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no torque": (None, {}, "torque"),
    "stiffness": ({"stiffness": 0.0}, {"act": {"A": ("-1 rad", "1 rad")}}, "stiffness"),
    "lag": ({"lag": -1.0}, {}, "lag"),
    "unit": ({"torque": "3 mm"}, {}, "torque"),
    "nan": ({"damping": float("nan")}, {}, "damping"),
    "other joint": ("other", {}, "B"),
    "no servo": (3.0, {}, "servo"),
    "number": ({}, {"randomize": {"A.servo.weight": "10 %"}}, "A.servo.weight"),
    "delay": ({"delay": "5 s"}, {}, "delay"),
    "no range": ({"stiffness": 2.0}, {"act": ["A"]}, "A"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_name_what_is_wrong(name: str) -> None:
    given, changes, about = MISTAKES[name]

    def make() -> Any:
        if name == "no torque":
            return lg.Servo(speed=3.0)
        servo = {"B": lg.Servo()} if given == "other" else lg.Servo(**given) if isinstance(given, dict) else given
        t = task(servo)
        return t.with_(**changes).vector(2)

    with pytest.raises(lw.LinkwrightError) as caught:
        make()
    assert about in (caught.value.name or "") or about in str(caught.value)

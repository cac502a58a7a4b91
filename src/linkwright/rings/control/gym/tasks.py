"""Built-in tasks: each a function that returns a Task; their functions have names, so that environments can be sent to other processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.rings.control.gym.servo import Servo
from linkwright.rings.control.gym.task import Task

GOAL_RADIUS = 0.005  # m: a goal is reached within this
TIP = "left_rod.C"


# -------------------------------------------------------------------- five-bar: the tip to a point, against gravity


def tip_error(x: Mapping[str, Any]) -> Any:
    """Distance of the tip from its goal."""
    return np.hypot(x[f"{TIP}.x"] - x[f"goal.{TIP}.x"], x[f"{TIP}.y"] - x[f"goal.{TIP}.y"])


def tip_reward(x: Mapping[str, Any]) -> Any:
    """Near the goal, at rest, with little torque."""
    return 1.0 - np.tanh(x["error"] / 0.05) - 0.1 * x[f"{TIP}.speed"] - 0.02 * np.sum(x["action"] ** 2, axis=1)


def overspeed(x: Mapping[str, Any]) -> Any:
    """A crank is faster than 40 rad/s."""
    return np.maximum(np.abs(x["A.v"]), np.abs(x["E.v"])) > 40.0


def tip_success(x: Mapping[str, Any]) -> Any:
    """Within 5 mm of the goal and slower than 0.1 m/s."""
    return (x["error"] < GOAL_RADIUS) & (x[f"{TIP}.speed"] < 0.1)


@cache
def five_bar_reach() -> Task:
    """The tip of a five-bar moves to a random point of its workspace and stays there; torques of both cranks."""
    return Task(
        "five-bar",
        observe={
            "A": ("45 deg", "135 deg"),
            "E": ("45 deg", "135 deg"),
            "A.v": "10 rad/s",
            "E.v": "10 rad/s",
            "error.x": 0.05,
            "error.y": 0.05,
            f"goal.{TIP}.x": ("50 mm", "150 mm"),
            f"goal.{TIP}.y": ("200 mm", "300 mm"),
        },
        act={"A": "1 N m", "E": "1 N m"},
        reward=tip_reward,
        done=overspeed,
        success=tip_success,
        start={"A": ("50 deg", "130 deg"), "E": ("50 deg", "130 deg")},
        goal={"A": ("50 deg", "130 deg"), "E": ("50 deg", "130 deg")},
        read=[f"{TIP}.x", f"{TIP}.y", f"{TIP}.speed"],
        define={"error": tip_error, "error.x": tip_error_x, "error.y": tip_error_y},
        dt="20 ms",
        substeps=4,
        horizon="2 s",
    )


def tip_error_x(x: Mapping[str, Any]) -> Any:
    """Distance along x."""
    return x[f"goal.{TIP}.x"] - x[f"{TIP}.x"]


def tip_error_y(x: Mapping[str, Any]) -> Any:
    """Distance along y."""
    return x[f"goal.{TIP}.y"] - x[f"{TIP}.y"]


# -------------------------------------------------------------------- wiper: an even speed


def speed_reward(x: Mapping[str, Any]) -> Any:
    """The wanted speed, with little torque."""
    wrong = x["A.v"] - x["goal.speed"]
    return np.exp(-((wrong / 0.5) ** 2)) - 0.01 * np.sum(x["action"] ** 2, axis=1)


def speed_success(x: Mapping[str, Any]) -> Any:
    """Within 0.2 rad/s of the wanted speed."""
    return np.abs(x["A.v"] - x["goal.speed"]) < 0.2


@cache
def crank_speed() -> Task:
    """The crank of a wiper turns at a wanted speed in spite of the rocker, whose mass differs from episode to episode."""
    return Task(
        "wiper",
        observe={"cos(A)": 1.0, "sin(A)": 1.0, "A.v": "10 rad/s", "goal.speed": 10.0},
        act={"A": "20 N m"},
        reward=speed_reward,
        success=speed_success,
        start={"A": ("0 deg", "360 deg"), "A.v": ("0 rad/s", "2 rad/s")},
        goal={"speed": (4.0, 10.0)},
        randomize={"rocker.mass": ("0.2 kg", "0.8 kg")},
        dt="5 ms",
        substeps=2,
        horizon="3 s",
    )


# -------------------------------------------------------------------- Stewart platform: its center to a point


def platform_error(x: Mapping[str, Any]) -> Any:
    """Root of the sum of squares of the legs' distances from their goal."""
    return np.sqrt(sum((x[f"leg{k}"] - x[f"goal.leg{k}"]) ** 2 for k in range(1, 7)))


def platform_reward(x: Mapping[str, Any]) -> Any:
    """Near the pose, with little force."""
    return np.exp(-x["error"] / 0.05) - x["error"] - 0.01 * np.sum(x["action"] ** 2, axis=1)


def platform_success(x: Mapping[str, Any]) -> Any:
    """All legs together within 5 mm."""
    return x["error"] < GOAL_RADIUS


@cache
def stewart_pose() -> Task:
    """A Stewart platform moves from one random pose to another and stays there; forces of six legs."""
    legs = [f"leg{k}" for k in range(1, 7)]
    reach = dict.fromkeys(legs, ("-60 mm", "60 mm"))
    return Task(
        "stewart",
        observe={
            **dict.fromkeys(legs, "0.1 m"),
            **dict.fromkeys([f"{leg}.v" for leg in legs], "0.5 m/s"),
            **dict.fromkeys([f"goal.{leg}" for leg in legs], "0.1 m"),
        },
        act=dict.fromkeys(legs, "300 N"),
        reward=platform_reward,
        success=platform_success,
        start=reach,
        goal=reach,
        define={"error": platform_error},
        dt="10 ms",
        substeps=2,
        horizon="2 s",
    )


# ---------------------------------------------------------------- hopping

HOPPER = Path(__file__).parent / "hopper.yaml"
GRAVITY = 9.81  # m/s^2


def hop_apex(x: Mapping[str, Any]) -> Any:
    """Height that the trunk reaches above its start if nothing pushes it any more, in m."""
    return x["guide"] + np.maximum(x["guide.v"], 0.0) ** 2 / (2.0 * GRAVITY)


def hop_fallen(x: Mapping[str, Any]) -> Any:
    """The trunk has dropped by more than a crouch."""
    return x["guide"] < -0.35


def hop_reward(x: Mapping[str, Any], before: Mapping[str, Any]) -> Any:
    """In the air toward the commanded height, with smooth actions."""
    air = x["sole.heel.normal"] + x["sole.toe.normal"] == 0.0
    near = np.exp(-(((x["apex"] - x["goal.height"]) / 0.08) ** 2))
    return np.where(air, near, 0.0) - 0.05 * np.mean((x["action"] - before["action"]) ** 2, axis=1)


@cache
def hopper_height() -> Task:
    """A leg with a four-bar ankle hops to a commanded height; set-points of three servos, ground, masses and servos vary."""
    motors = ("hip", "knee", "motor")
    return Task(
        HOPPER,
        observe={
            "guide": "0.2 m", "guide.v": "1 m/s",
            **dict.fromkeys(motors, "0.5 rad"), **dict.fromkeys([f"{m}.v" for m in motors], "5 rad/s"),
            "sole.heel.normal": "100 N", "sole.toe.normal": "100 N", "goal.height": 0.2, "action": 1,
        },
        act={"hip": ("-15 deg", "40 deg"), "knee": ("-75 deg", "25 deg"), "motor": ("-30 deg", "40 deg")},
        reward=hop_reward,
        done=hop_fallen,
        goal={"height": (0.1, 0.35)},
        randomize={"mu": (0.5, 1.0), "trunk_mass": "15 %", "*.servo.stiffness": "10 %", "*.servo.delay": ("0 ms", "5 ms")},
        servo=Servo(stiffness=200.0, damping=4.0, torque="60 N m", speed="25 rad/s", lag="2 ms"),
        define={"apex": hop_apex},
        dt="20 ms",
        substeps=8,
        horizon="6 s",
        failure=-5.0,
    )  # fmt: skip


# ---------------------------------------------------------------- walking

BIPED = Path(__file__).parent / "planar-biped.yaml"
STRIDE = 0.8  # s, a step of each leg
LEGS = (1, 2)


def stride(x: Mapping[str, Any]) -> Any:
    """Phase of the stride in rad."""
    return 2.0 * np.pi * x["t"] / STRIDE


def stride_cos(x: Mapping[str, Any]) -> Any:
    """First entry of the clock."""
    return np.cos(x["phase"])


def stride_sin(x: Mapping[str, Any]) -> Any:
    """Second entry of the clock."""
    return np.sin(x["phase"])


def walk_fallen(x: Mapping[str, Any]) -> Any:
    """The torso is low or leans far."""
    return (x["base.y"] < -0.2) | (np.abs(x["base.angle"]) > 0.6)


def walk_feet(x: Mapping[str, Any]) -> Any:
    """How far feet break the rhythm: load of the foot in the air, in units of 200 N, and speed of the foot on the ground, in m/s."""
    out = 0.0
    for leg, half in zip(LEGS, (1.0, -1.0), strict=True):
        down = 1.0 / (1.0 + np.exp(-8.0 * (half * np.sin(x["phase"]) + 0.2)))  # both feet are down for a moment
        load = np.minimum((x[f"feet.heel{leg}.normal"] + x[f"feet.toe{leg}.normal"]) / 200.0, 1.0)
        out = out + (1.0 - down) * load + down * np.minimum(np.hypot(x[f"foot{leg}.F{leg}.vx"], x[f"foot{leg}.F{leg}.vy"]), 1.0)
    return out


def walk_reward(x: Mapping[str, Any], before: Mapping[str, Any]) -> Any:
    """The commanded speed, upright, in the rhythm, with smooth actions."""
    tracked = np.exp(-(((x["base.x.v"] - x["goal.speed"]) / 0.25) ** 2))
    upright = np.exp(-((x["base.angle"] / 0.2) ** 2))
    rough = np.mean((x["action"] - before["action"]) ** 2, axis=1)
    return 0.3 + tracked + 0.3 * upright - 0.5 * walk_feet(x) - 0.2 * rough - 0.02 * np.mean(x["action"] ** 2, axis=1)


@cache
def biped_walk() -> Task:
    """A planar biped with six four-bars walks at a commanded speed; set-points of six servos, ground, masses and servos vary."""
    joints = ("hip_motor", "knee_motor", "ankle_motor")
    motors = [f"{joint}{leg}" for leg in LEGS for joint in joints]
    ranges = {"hip_motor": ("-40 deg", "50 deg"), "knee_motor": ("-50 deg", "20 deg"), "ankle_motor": ("-30 deg", "30 deg")}
    return Task(
        BIPED,
        observe={
            "base.y": "0.1 m", "base.angle": "0.3 rad", "base.x.v": "0.5 m/s", "base.y.v": "0.5 m/s", "base.angle.v": "2 rad/s",
            **dict.fromkeys(motors, "0.5 rad"), **dict.fromkeys([f"{m}.v" for m in motors], "5 rad/s"),
            **{f"feet.{end}{leg}.normal": "200 N" for leg in LEGS for end in ("heel", "toe")},
            "goal.speed": 0.5, "cos(phase)": 1, "sin(phase)": 1, "action": 1,
        },
        act={f"{joint}{leg}": ranges[joint] for leg in LEGS for joint in joints},
        reward=walk_reward,
        done=walk_fallen,
        goal={"speed": (0.0, 0.8)},
        randomize={
            "mu": (0.4, 1.0), "torso_mass": "15 %", "toe": "10 %", "*.servo.stiffness": "10 %", "*.servo.torque": "10 %",
            "*.servo.delay": ("0 ms", "5 ms"),
        },
        servo=Servo(stiffness=150.0, damping=4.0, torque="60 N m", speed="15 rad/s", lag="5 ms"),
        read=[f"foot{leg}.F{leg}.{axis}" for leg in LEGS for axis in ("vx", "vy")],
        define={"phase": stride, "cos(phase)": stride_cos, "sin(phase)": stride_sin},
        dt="20 ms",
        substeps=8,
        horizon="10 s",
        failure=-5.0,
    )  # fmt: skip


TASKS: dict[str, Callable[[], Task]] = {
    "FiveBarReach-v0": five_bar_reach,
    "CrankSpeed-v0": crank_speed,
    "StewartPose-v0": stewart_pose,
    "HopperHeight-v0": hopper_height,
    "BipedWalk-v0": biped_walk,
}

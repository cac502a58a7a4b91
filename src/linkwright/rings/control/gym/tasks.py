"""Built-in tasks: each a function that returns a Task; their functions have names, so that environments can be sent to other processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

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


TASKS: dict[str, Callable[[], Task]] = {
    "FiveBarReach-v0": five_bar_reach,
    "CrankSpeed-v0": crank_speed,
    "StewartPose-v0": stewart_pose,
}

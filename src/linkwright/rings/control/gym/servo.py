"""Servos between the actions of a task and its joints: position control, a torque-speed curve, a lag and a delay.

    Task(..., act={"A": ("-60 deg", "60 deg")}, servo=Servo(stiffness=80, damping=2, torque="30 N m", speed="12 rad/s", lag="5 ms"))

With a stiffness an action is a set-point of the coordinate, otherwise its torque or force. A servo acts in every substep of a step, so a
policy of 50 Hz drives a control loop of 400 Hz. Its numbers can be randomized as "A.servo.stiffness", or "*.servo.delay" for all joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from linkwright.api import KINDS, UsageError, nearest, quantity

WORD = ".servo."
LONGEST = 1000  # substeps of a delay
KINDS_OF = {  # of a slider, of a hinge
    "stiffness": ("stiffness", "torsional stiffness"), "damping": ("damping", "torsional damping"), "torque": ("force", "torque"),
    "speed": ("speed", "angular speed"), "lag": ("time", "time"), "delay": ("time", "time"),
}  # fmt: skip
NUMBERS = tuple(KINDS_OF)
ABSENT = {"stiffness": 0.0, "torque": np.inf, "speed": np.inf}
POSITIVE = ("stiffness", "torque", "speed")


@dataclass(frozen=True)
class Servo:
    """A drive as a policy meets it on a robot.

    stiffness, damping: gains of the position control, N m/rad and N m s/rad (N/m and N s/m of a slider). Without a stiffness the action
        is a torque, and the damping brakes it.
    torque: largest torque or force at rest. speed: speed without load; the largest torque falls to zero there in a straight line, as
        that of a DC motor does. Against the motion it stays as it is at rest.
    lag: time constant of the torque. delay: time between an action and its effect, in whole substeps.
    """

    stiffness: Any = None
    damping: Any = 0.0
    torque: Any = None
    speed: Any = None
    lag: Any = 0.0
    delay: Any = 0.0

    def __post_init__(self) -> None:
        if self.speed is not None and self.torque is None:
            raise UsageError("a servo with a speed without load needs its torque at rest: Servo(torque=..., speed=...).", name="torque")

    def sizes(self, joint: str, slides: bool) -> dict[str, float]:
        """Numbers in SI by name; a torque or speed that is not given limits nothing."""
        out = {}
        for name, kinds in KINDS_OF.items():
            given = getattr(self, name)
            if given is None:
                out[name] = ABSENT[name]
                continue
            what = f"servo of '{joint}': {name}"
            found = quantity(given, KINDS[kinds[0 if slides else 1]], what)
            above = name in POSITIVE
            if not np.isfinite(found) or found < 0.0 or (above and found == 0.0):
                least = "above 0" if above else "of 0 or more"
                raise UsageError(f"{what} is a finite number {least}, not {given!r}.", name=name, value=given)
            out[name] = found
        return out


def servos_of(given: Any, joints: tuple[str, ...]) -> dict[str, Servo]:
    """The servo of every joint that has one: one for all actions, or by name."""
    if given is None:
        return {}
    if isinstance(given, Servo):
        return dict.fromkeys(joints, given)
    if not isinstance(given, Mapping) or not all(isinstance(x, Servo) for x in given.values()):
        raise UsageError("servo is a Servo for all actions, or a dict of them by coordinate.", name="servo")
    for name in given:
        if name not in joints:
            raise UsageError(f"servo: '{name}' is not an action of this task.", nearest(str(name), list(joints), "Actions"), name=str(name))
    return {str(name): x for name, x in given.items()}


class ServoBank:
    """Servos of n environments: arrays (n, joints) of their numbers, of torques that lag and of set-points that are on their way."""

    def __init__(self, servos: Mapping[str, Servo], joints: tuple[str, ...], slides: tuple[bool, ...], n: int, h: float):
        self.n, self.h, self.names, self.slides = n, h, joints, slides
        has = [name in servos for name in joints]
        sizes = [servos.get(name, Servo()).sizes(name, slide) for name, slide in zip(joints, slides, strict=True)]
        self.defaults = {
            f"{joint}{WORD}{key}": size[key]
            for joint, size, some in zip(joints, sizes, has, strict=True)
            if some
            for key in NUMBERS
            if np.isfinite(size[key]) and (key != "stiffness" or size[key] > 0.0)
        }
        self.values = {key: np.tile([size[key] for size in sizes], (n, 1)) for key in NUMBERS}
        self.positioned = np.array([size["stiffness"] > 0.0 for size in sizes])
        self.torque = np.zeros((n, len(joints)))
        self.sent = np.zeros((1, n, len(joints)))
        self._tick = 0
        self._settle()

    def named(self, pattern: str) -> list[str]:
        """Numbers of servos that a name or pattern means."""
        found = [name for name in self.defaults if fnmatchcase(name, pattern)]
        if not found:
            hint = nearest(pattern, list(self.defaults), "Numbers of servos")
            raise UsageError(f"randomize: there is no '{pattern}'.", hint, name=pattern)
        return found

    def kind(self, name: str) -> str:
        """Kind of a number of a servo by its name."""
        joint, key = name.rsplit(WORD, 1)
        return KINDS_OF[key][0 if self.slides[self.names.index(joint)] else 1]

    def number(self, name: str) -> np.ndarray:
        """A number of a servo by its name, for every environment."""
        joint, key = name.rsplit(WORD, 1)
        return self.values[key][:, self.names.index(joint)].copy()

    def put(self, drawn: Mapping[str, np.ndarray], which: np.ndarray, rest: np.ndarray) -> None:
        """Begin new episodes in these rows with these numbers by name; `rest` (rows, joints) are the set-points before the first action."""
        for name, x in drawn.items():
            joint, key = name.rsplit(WORD, 1)
            self.values[key][which, self.names.index(joint)] = np.maximum(x, 0.0)
        self._settle()
        self.torque[which] = 0.0
        self.sent[:, which] = rest

    def _settle(self) -> None:
        """Numbers per substep that follow from those in SI."""
        late = np.rint(self.values["delay"] / self.h).astype(np.int64)
        if late.max(initial=0) > LONGEST:
            said = f"the delay of a servo is at most {LONGEST} substeps of {self.h:g} s."
            raise UsageError(said, name="delay", value=late.max() * self.h)
        self.late, deepest = late, int(late.max(initial=0)) + 1
        if deepest > len(self.sent):
            older = np.repeat(self.sent[self._tick][None], deepest, axis=0)
            for back in range(len(self.sent)):
                older[-1 - back] = self.sent[self._tick - back]
            self.sent, self._tick = older, deepest - 1
        lag = self.values["lag"]
        self.follow = 1.0 - np.exp(-self.h / np.maximum(lag, 1e-12))  # exact for a torque that is asked for a substep

    def efforts(self, asked: np.ndarray, q: np.ndarray, v: np.ndarray, moving: np.ndarray | None) -> np.ndarray:
        """Torques of the next substep for actions asked for, at coordinates q and speeds v, all (n, joints). Rows that do not move wait."""
        last, held = self.sent[self._tick], self.torque
        self._tick = (self._tick + 1) % len(self.sent)
        self.sent[self._tick] = asked if moving is None else np.where(moving[:, None], asked, last)
        if self.late.any():
            rows, columns = np.indices(self.late.shape)
            asked = self.sent[(self._tick - self.late) % len(self.sent), rows, columns]
        x = self.values
        wanted = np.where(self.positioned, x["stiffness"] * (asked - q), asked) - x["damping"] * v
        most = x["torque"]
        with np.errstate(invalid="ignore"):
            falling = np.where(np.isfinite(x["speed"]), np.clip(np.abs(v) / x["speed"], 0.0, 1.0), 0.0)
        along = np.where(np.isfinite(most), most * (1.0 - falling), most)
        high, low = np.where(v > 0.0, along, most), np.where(v < 0.0, along, most)
        found = np.clip(held + self.follow * (np.clip(wanted, -low, high) - held), -low, high)
        self.torque = found if moving is None else np.where(moving[:, None], found, held)
        return self.torque



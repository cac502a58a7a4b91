"""A learning task: what is observed, what acts, what is rewarded, where episodes start and end.

    task = Task(
        "five-bar",
        observe=["cos(A)", "sin(A)", "A.v", "left_rod.C.x", "goal.left_rod.C.x"],
        act={"A": "2 N m", "E": "2 N m"},
        reward=lambda x: -abs(x["left_rod.C.x"] - x["goal.left_rod.C.x"]),
        start={"A": ("80 deg", "100 deg")},
        goal={"A": ("60 deg", "120 deg"), "E": ("60 deg", "120 deg")},
        dt="20 ms", substeps=4, horizon="2 s",
    )
    env, envs = task.env(), task.vector(1024)

Functions of the task are called with all environments at once: x["A"] is an array with one entry for each environment, in SI.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.api import KINDS, Description, Mechanism, System, UsageError, compile, compiled_of, essentials, load, nearest, quantity
from linkwright.properties import cached_property
from linkwright.rings.control.gym.servo import WORD, Servo, servos_of
from linkwright.simulation.step_inputs import interval

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv

    from linkwright.rings.control.gym.env import MechanismEnv
    from linkwright.rings.control.gym.random_streams import RowRandom
    from linkwright.rings.control.gym.vector import MechanismVectorEnv

Drawn = Mapping[str, Any] | Callable[["RowRandom"], Mapping[str, Any]] | None
DTYPES = ("float32", "float64")
GOAL = "goal."


@dataclass(frozen=True, eq=False)
class Task:
    """A learning task of a mechanism; `env()` and `vector(n)` make the environments, `register(id)` names it for gymnasium.make.

    model: name, path, dict, Mechanism or System.
    observe: names of quantities, or a dict with scales: a number or quantity that becomes 1, or (low, high), which become -1 and 1.
    act: limits of drive torques and forces by coordinate, (low, high) or one for both directions; actions from -1 to 1 are mapped to them.
        A list of names takes the `limits:` of the model's drives.
    reward: function of the named arrays x, or of x and those before the step.
    done, success: functions of x that return True or False; an episode ends where `done`, `success` is reported as info["is_success"].
    start: ranges (low, high) or values of coordinates ("A") and speeds ("A.v") at the start of an episode, or a function of a RowRandom
        that returns arrays by name. Loops are closed on the branch of the model's start.
    goal: likewise; "A" and other drives are a position in which every channel can be read: "goal.A", "goal.coupler.P.x".
        Other names are plain numbers.
    randomize: likewise, of parameters of the model ("coupler.mass") and numbers of servos ("A.servo.delay"), anew for every episode of
        every environment.
    servo: a Servo for all actions, or a dict by coordinate. An action of a servo with a stiffness is a set-point, so `act` has the ranges
        of the coordinates then.
    read: further channels that functions read; "foot.normal" is a force of a contact, its mean in the last substep.
    define: further quantities by name, functions of x.
    dt: time of a step, in `substeps` equal steps of the integrator; horizon: time after which an episode is truncated (a number: steps).
    failure: reward added where a step cannot be done (its loops cannot be closed); the episode ends there. singular=True: an
        episode ends at singular positions, too.
    """

    model: Any
    observe: Sequence[str] | Mapping[str, Any]
    act: Mapping[str, Any] | Sequence[str]
    reward: Callable[..., Any]
    done: Callable[..., Any] | None = None
    success: Callable[..., Any] | None = None
    start: Drawn = None
    goal: Drawn = None
    randomize: Drawn = None
    servo: Servo | Mapping[str, Servo] | None = None
    read: Sequence[str] = ()
    define: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    dt: Any = 0.02
    substeps: int = 4
    horizon: Any = 200
    failure: float = 0.0
    singular: bool = False
    integrator: Any = None
    dtype: str = "float32"

    __getstate__ = essentials

    def __post_init__(self) -> None:
        for name in ("reward", "done", "success"):
            given = getattr(self, name)
            if not callable(given) and (name == "reward" or given is not None):
                raise UsageError(f"{name} is a function of the named arrays x, not {type(given).__name__}.", name=name, value=given)
        if isinstance(self.observe, str) or not self.observe:
            raise UsageError("observe is a list of names of channels, or a dict with their scales. It needs at least one.", name="observe")
        if isinstance(self.act, str) or not self.act:
            raise UsageError(
                "act has the limits of drive torques and forces by coordinate, such as {'A': '2 N m'}. It needs at least one.", name="act"
            )
        if self.dtype not in DTYPES:
            raise UsageError(f"dtype is one of {', '.join(DTYPES)}, not {self.dtype!r}.", name="dtype", value=self.dtype, allowed=DTYPES)
        if not np.isfinite(self.failure):
            raise UsageError("failure is a finite number: the reward added if a step cannot be done.", name="failure")
        servos_of(self.servo, tuple(map(str, self.act)))
        interval(self.dt, self.substeps)

    def __deepcopy__(self, memo: Any) -> Task:
        return self  # frozen: specifications of Gymnasium are copied, the mechanism is not made again

    def with_(self, **changes: Any) -> Task:
        """Return the same task with other fields: `task.with_(horizon="1 s")`."""
        known = [f.name for f in fields(self)]
        for name in changes:
            if name not in known:
                raise UsageError(f"a task has no field '{name}'.", nearest(name, known, "Fields"))
        return replace(self, **changes) if changes else self

    # ---------------------------------------------------------------- environments

    def env(self, *, render_mode: str | None = None) -> MechanismEnv:
        """Return an environment: a gymnasium.Env."""
        from linkwright.rings.control.gym.env import MechanismEnv

        return MechanismEnv(self, render_mode=render_mode)

    def vector(
        self, num_envs: int, *, autoreset_mode: Any = "NextStep", threads: int | None = None, render_mode: str | None = None
    ) -> MechanismVectorEnv:
        """Return many environments that step together: a gymnasium.vector.VectorEnv over `s.stepper`."""
        from linkwright.rings.control.gym.vector import MechanismVectorEnv

        return MechanismVectorEnv(self, num_envs, autoreset_mode=autoreset_mode, threads=threads, render_mode=render_mode)

    def stable_baselines(self, num_envs: int, *, threads: int | None = None, render_mode: str | None = None) -> VecEnv:
        """Return many environments that step together as a VecEnv of Stable-Baselines3."""
        from linkwright.rings.control.gym.stable_baselines import vec_env

        return vec_env(self.vector(num_envs, autoreset_mode="SameStep", threads=threads, render_mode=render_mode))

    def register(self, id: str) -> None:
        """Register the task under an id, "mine/Reach-v0", for gymnasium.make and gymnasium.make_vec in this process."""
        from linkwright.rings.control.gym.registration import register

        register(id, self)

    # ---------------------------------------------------------------- numbers

    @cached_property
    def system(self) -> System:
        """The mechanism ready to compute, with the randomized parameters as inputs."""
        parameters = sorted(name for name in self.drawn_names(self.randomize) if WORD not in name)
        given = self.model
        if isinstance(given, System):
            if not parameters:
                return given
            core = compiled_of(given)
            return System(core.described, given.tree.cuts, core.loops.kappa, parameters=parameters, engine=given.engine)
        m = given if isinstance(given, (Mechanism, Description)) else load(given)
        return compile(m, parameters=parameters)

    @staticmethod
    def drawn_names(drawn: Drawn) -> list[str]:
        """Names of the numbers that are drawn."""
        if drawn is None:
            return []
        if isinstance(drawn, Mapping):
            return [str(name) for name in drawn]
        if not callable(drawn):
            raise UsageError(
                "start, goal and randomize are dicts of ranges by name, or functions of a RowRandom that return such arrays.", name="start"
            )
        from linkwright.rings.control.gym.random_streams import RowRandom

        found = drawn(RowRandom([0], [0]))
        if not isinstance(found, Mapping):
            raise UsageError(
                f"the function {getattr(drawn, '__name__', '')} returns {type(found).__name__}. It needs a dict of arrays by name."
            )
        return [str(name) for name in found]

    @property
    def steps(self) -> int:
        """Steps after which an episode is truncated."""
        h = self.horizon
        if isinstance(h, (int, np.integer)) and not isinstance(h, bool):
            found = int(h)
        else:
            seconds = quantity(h, KINDS["time"], "horizon") if isinstance(h, str) else float(h)
            found = round(seconds / self.seconds) if np.isfinite(seconds) else 0
        longest = 10_000_000  # steps of an episode
        if not 1 <= found <= longest:
            raise UsageError(
                f"horizon is a number of steps or a time of one step or more, such as '2 s', not {h!r}.", name="horizon", value=h
            )
        return found

    @cached_property
    def seconds(self) -> float:
        """Time of a step."""
        return interval(self.dt, 1)

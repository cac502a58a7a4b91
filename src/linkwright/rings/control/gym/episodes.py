"""Episodes of a task in n rows of a stepper: new starts, steps, observations, rewards and ends. Gymnasium's classes are thin over this."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Description, UsageError, compiled_of, nearest
from linkwright.integrators.environment_steps import BACKED
from linkwright.rings.control.gym.limits import action_map, draw_of, draw_of_parameters, scales
from linkwright.rings.control.gym.named_arrays import NamedArrays
from linkwright.rings.control.gym.observations import ChannelReader, inner
from linkwright.rings.control.gym.random_streams import RowRandom
from linkwright.rings.control.gym.servo import WORD, ServoBank, servos_of
from linkwright.rings.control.gym.start_states import RowCloser, start_names
from linkwright.rings.control.gym.task import GOAL, Task

ATTEMPTS = 100  # draws of a start that cannot be assembled
ACTION = "action"


class StepResult(NamedTuple):
    """Results of a step, each with one entry for every environment."""

    observations: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    success: np.ndarray | None
    failed: np.ndarray | None


class Stock(NamedTuple):
    """Starts of the next episodes, drawn ahead for many rows at once: they follow from seeds, not from when they are drawn."""

    q: np.ndarray
    v: np.ndarray
    parameters: np.ndarray
    servos: dict[str, np.ndarray]
    goals: dict[str, np.ndarray]
    ready: np.ndarray


class Episodes:
    """n environments of a task. `steps` counts those of the current episodes, `episodes` the episodes since the seeds were set."""

    def __init__(self, task: Task, n: int, threads: int | None = None):
        self.task, self.system, self.n = task, task.system, n
        self.act = action_map(task)
        self._begin(threads)
        self.seeds, self.episodes = np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
        self.steps, self.horizon = np.zeros(n, dtype=np.int64), task.steps
        self.tau = np.zeros((n, len(self.system.names.v)))
        self.action = np.zeros((n, len(self.act.names)))
        self.last: NamedArrays | None = None
        self._scaling: tuple[np.ndarray, np.ndarray] | None = None

    def _begin(self, threads: int | None) -> None:
        task, core = self.task, compiled_of(self.system)
        servos = servos_of(task.servo, self.act.names)
        self.servos = ServoBank(servos, self.act.names, self.act.slides, self.n, task.seconds / task.substeps)
        dt, substeps = (self.servos.h, 1) if task.servo else (task.dt, task.substeps)  # a servo acts in every substep
        self.stepper = self.system.stepper(self.n, dt=dt, substeps=substeps, integrator=task.integrator, threads=threads)
        names = {what: task.drawn_names(getattr(task, what)) for what in ("start", "goal", "randomize")}
        self.parameters = list(core.kernels.entries["parameters"])
        self.posed = [name for name in names["goal"] if name in core.drive_names]
        plain = [f"{GOAL}{name}" for name in names["goal"] if name not in self.posed]
        efforts = {name: int(place) for name, place in zip(self.act.names, self.act.columns, strict=True)}
        wanted = list(dict.fromkeys([*task.observe, *task.read]))
        self.forces = {name: k for k, name in enumerate(self.stepper.impulse_names) if name in wanted}
        self.drawn_servos = [n for n in names["randomize"] if WORD in n and callable(task.randomize)]
        if not callable(task.randomize):
            self.drawn_servos = [n for pattern in names["randomize"] if WORD in pattern for n in self.servos.named(pattern)]
        own = {*plain, *task.define, *self.parameters, *self.forces, *self.drawn_servos, ACTION}
        for name in wanted:
            if task.goal is None and name.startswith(GOAL) and name not in own:
                raise UsageError(
                    f"'{name}' is read, but the task has no goal: give goal={{...}}, ranges of drives or plain numbers.", name=name
                )
        goals = [name.removeprefix(GOAL) for name in wanted if self.posed and name.startswith(GOAL) and name not in own]
        goals = list(dict.fromkeys([*self.posed, *goals]))
        channels = [name for name in wanted if name not in own and not (self.posed and name.startswith(GOAL))]
        self.ends = rigid_ends(self.system.description)
        self.reader = ChannelReader(core, list(dict.fromkeys([*channels, "t"])), efforts)
        self.end_reader = ChannelReader(core, [e.name for e in self.ends])
        self.stopped = ""  # why a start or goal of the last draws was not taken, if for a rigid stop
        self.goal_reader = ChannelReader(core, goals if self.posed else [])
        shapes = {name: x.shape[1:] for name, x in self._goal_values(self.stepper.environments.rows[:1]).items()}
        self.goals = {name: np.zeros((self.n, *shape)) for name, shape in shapes.items()}
        self.goals |= {name: np.zeros(self.n) for name in plain}
        ahead = {name: x.copy() for name, x in self.goals.items()}
        empty = (np.zeros((self.n, x.shape[1])) for x in (self.stepper.q, self.stepper.v, self.stepper.parameters))
        drawn = {name: np.zeros(self.n) for name in self.drawn_servos}
        self.stock = Stock(*empty, drawn, ahead, np.zeros(self.n, dtype=bool))
        self._prepare_draws(names)
        self.factors, self.offsets = scales(task, self._dimension)
        self.closer = RowCloser(core, threads)
        self.rewarded_by_change = _arguments(task.reward) == 2

    def _goal_values(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {f"{GOAL}{name}": x for name, x in self.goal_reader(rows).items()}

    def _prepare_draws(self, names: Mapping[str, list[str]]) -> None:
        task, core = self.task, compiled_of(self.system)
        self.positions, self.speeds = start_names(core, names["start"])
        self.draws = [
            draw_of("start", task.start, names["start"], self.reader.dimension, core),
            draw_of("goal", task.goal, names["goal"], self.reader.dimension, core),
            draw_of_parameters(task.randomize, names["randomize"], core, self.servos),
        ]

    def _dimension(self, name: str) -> str:
        """Kind of an observed quantity; "" where it has none."""
        plain = name.removeprefix(GOAL)
        if name in self.forces:
            return "force"
        return self.reader.dimension(plain) if plain in self.reader or inner(plain)[0] else ""

    # ---------------------------------------------------------------- new episodes

    def seed(self, seeds: np.ndarray, which: np.ndarray | None = None) -> None:
        """Streams of random numbers begin again for these environments."""
        where = slice(None) if which is None else which
        self.seeds[where], self.episodes[where] = seeds, 0
        self.stock.ready[where] = False

    def reset(self, which: np.ndarray, options: Mapping[str, Any] | None = None) -> None:
        """Begin new episodes in these rows; options are values by name that replace drawn ones."""
        given = self._options(options or {}, which)
        stock = self.stock
        if given:
            self._draw(which, given)
        elif not stock.ready[which].all():
            self._draw(np.flatnonzero(~stock.ready), {})  # next episodes of others, too: many are drawn as quickly as a few
        if not stock.ready[which].all():
            self._refuse(which[~stock.ready[which]])
        parameters = stock.parameters[which] if stock.parameters.shape[1] else None
        mask = np.zeros(self.n, dtype=bool)
        mask[which] = True
        self.stepper.reset(mask, stock.q[which], stock.v[which], t=0.0, parameters=parameters)
        for name, x in stock.goals.items():  # samples hold the arrays before
            self.goals[name] = np.where(mask.reshape(-1, *[1] * (x.ndim - 1)), x, self.goals[name])
            self.goals[name].flags.writeable = False
        rest = np.where(self.servos.positioned, stock.q[which][:, self.act.coordinates], 0.0)
        self.servos.put({name: x[which] for name, x in stock.servos.items()}, which, rest)
        stock.ready[which] = False
        self.episodes[which] += np.uint64(1)
        self.steps[which] = 0
        self.tau[which], self.action = 0.0, np.where(mask[:, None], 0.0, self.action)

    def _draw(self, left: np.ndarray, given: Mapping[tuple[str, str], np.ndarray]) -> None:
        """Put the next episodes of these rows into the stock, as far as they can be assembled; given: values for all rows."""
        self.stopped = ""
        for attempt in range(ATTEMPTS):
            random = RowRandom(self.seeds[left], self.episodes[left], attempt)
            start, goal, parameters = ({**draw(random)} for draw in self.draws)
            for kind, values in (("start", start), ("goal", goal), ("randomize", parameters)):
                values.update({name: x[left] for (owner, name), x in given.items() if owner == kind})
            left = left[~self._put(left, start, goal, parameters)]
            if not len(left):
                return

    def _refuse(self, rows: np.ndarray) -> None:
        ranges = "; ".join(f"{d.what}: {', '.join(d.names)}" for d in self.draws if d.names)
        if self.stopped and not any(d.names for d in self.draws):
            raise UsageError(
                f"the start of the model: {self.stopped}, so that no episode can start there. "
                "Give start={...} with drives or other coordinates within the stops, or give the stop a `stiffness:`.",
                name="start",
            )
        raise UsageError(
            f"no start or goal that can be assembled was drawn for environment {rows[0]} in {ATTEMPTS} draws ({ranges}). "
            f"Narrow the ranges to positions that exist: m.limits(joint) shows how far a drive moves.{self._last_stop()}",
            name="start",
        )

    def _last_stop(self) -> str:
        return f" One of the draws was refused because {self.stopped}." if self.stopped else ""

    def _options(self, options: Mapping[str, Any], which: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
        """Values for all rows by (start, goal or randomize, name)."""
        start, goal, randomized = self.draws
        known = {f"{GOAL}{n}": ("goal", n) for n in goal.names}
        known |= {n: ("randomize", n) for n in randomized.names} | {n: ("start", n) for n in start.names}
        out = {}
        for name, value in options.items():
            if name not in known:
                raise UsageError(f"options: '{name}' is not drawn by this task.", nearest(str(name), list(known), "Drawn"))
            try:
                every = np.broadcast_to(np.asarray(value, dtype=float), (self.n,))
            except (TypeError, ValueError):
                raise UsageError(
                    f"options: '{name}' is a number in SI, or {self.n} of them: one for each environment.", name=name
                ) from None
            if not np.isfinite(every[which]).all():
                raise UsageError(f"options: '{name}' has entries that are not finite numbers.", name=name)
            out[known[name]] = every
        return out

    def _put(
        self, which: np.ndarray, start: dict[str, np.ndarray], goal: dict[str, np.ndarray], parameters: dict[str, np.ndarray]
    ) -> np.ndarray:
        """Put drawn numbers into the stock; return the mask of those that can be assembled."""
        kernels, stock = compiled_of(self.system).kernels, self.stock
        numbers = np.tile(kernels.defaults["parameters"], (len(which), 1))
        for name in self.parameters:
            x = parameters[name]
            numbers[:, list(kernels.entries["parameters"]).index(name)] = x
        found = self.closer({n: start[n] for n in self.positions}, {n: start[given] for n, given in self.speeds.items()}, numbers)
        posed = self.closer({n: goal[n] for n in self.posed}, {}, numbers) if self.posed else found
        ok = found.ok & posed.ok
        for made in ((found, posed) if self.posed else (found,)) if self.ends else ():
            ok &= self._within_stops(made.q, numbers, ok)
        rows = which[ok]
        stock.q[rows], stock.v[rows], stock.parameters[rows], stock.ready[rows] = found.q[ok], found.v[ok], numbers[ok], True
        for name, drawn in stock.servos.items():
            drawn[rows] = parameters[name][ok]
        if self.posed and len(rows):
            for name, x in self._goal_values(self._posed_rows(posed.q[ok], numbers[ok])).items():
                stock.goals[name][rows] = x
        for name in (n for n in goal if n not in self.posed):
            stock.goals[f"{GOAL}{name}"][rows] = goal[name][ok]
        return ok

    def _within_stops(self, q: np.ndarray, parameters: np.ndarray, ok: np.ndarray) -> np.ndarray:
        """The mask of positions that are not beyond a rigid stop, which would throw them back."""
        x = self.end_reader(self._posed_rows(q, parameters))
        out = beyond(self.ends, x, len(q))
        wrong = np.flatnonzero(out & ok)
        if len(wrong):
            self.stopped = reason(self.ends, x, int(wrong[-1]))
        return ~out

    def _posed_rows(self, q: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Rows of a stepper at rest in these positions."""
        span = self.stepper.row.spans
        rows = np.tile(self.stepper.environments.rows[0], (len(q), 1))
        rows[:, span["q"]], rows[:, span["v"]], rows[:, span["t"]], rows[:, span["tau"]] = q, 0.0, 0.0, 0.0
        rows[:, span["near"]] = compiled_of(self.system).packed_references(self.system.start)
        if parameters.shape[1]:
            rows[:, span["parameters"]] = parameters
        return rows

    # ---------------------------------------------------------------- steps

    def sample(self) -> NamedArrays:
        """Named arrays of all environments as they are now."""
        rows = self.stepper.environments.rows
        if self.reader.needs_forward:
            rows = rows.copy()
            rows[:, self.stepper.row.spans["tau"]] = self.tau
        arrays = self.reader(rows)
        arrays |= self.goals
        arrays |= {name: self.stepper.parameters[:, k].copy() for k, name in enumerate(self.parameters)}
        arrays |= {name: self.servos.number(name) for name in self.drawn_servos}
        for name, k in self.forces.items():
            arrays[name] = np.where(self.steps > 0, self.stepper.impulses[:, k] / self.servos.h, 0.0)
        arrays[ACTION] = self.action
        self.last = NamedArrays(arrays, self.task.define, self.n)
        return self.last

    def observed(self, x: NamedArrays) -> np.ndarray:
        """Observations (n, entries) of a sample."""
        columns = [x[name] for name in self.task.observe]
        if self._scaling is None:  # vectors have several entries
            wide = [c.reshape(x.n, -1).shape[1] for c in columns]
            self._scaling = np.repeat(self.factors, wide), np.repeat(self.offsets, wide)
        factors, offsets = self._scaling
        out, at = np.empty((x.n, len(factors))), 0
        for c in columns:
            if c.ndim == 1:
                out[:, at] = c
                at += 1
            else:
                width = c[0].size
                out[:, at : at + width] = c.reshape(x.n, width)
                at += width
        if isinstance(self.task.observe, Mapping):
            out *= factors
            out += offsets
        return out.astype(self.task.dtype)

    def observation_names(self) -> tuple[str, ...]:
        """Names of the entries of an observation: of a vector `coupler.P[0]`, `coupler.P[1]`."""
        x = self.sample() if self.last is None else self.last
        wide = {name: int(np.prod(x[name].shape[1:])) for name in self.task.observe}
        return tuple(f"{n}[{i}]" if x[n].ndim > 1 else n for n, count in wide.items() for i in range(count))

    def step(self, actions: Any, moving: np.ndarray | None) -> StepResult:
        """Advance by one step; rows where `moving` is False stay as they are and are rewarded nothing."""
        self._apply(actions)
        before = self.last
        codes = self._advance(moving)
        self.steps += 1 if moving is None else moving
        x = self.sample()
        failed = codes > 0
        ended = failed | (codes == BACKED) if self.task.singular else failed
        rewards = self._rewards(x, before)
        terminated = ended if self.task.done is None else ended | self._flags("done", self.task.done, x)
        success = None if self.task.success is None else self._flags("success", self.task.success, x)
        any_failed = bool(failed.any())
        if any_failed:
            rewards = rewards + np.where(failed, self.task.failure, 0.0)
        truncated = self.steps >= self.horizon
        if moving is not None:
            rewards = np.where(moving, rewards, 0.0)
            terminated, truncated = terminated & moving, truncated & moving
        return StepResult(self.observed(x), rewards, terminated, truncated, success, failed if any_failed else None)

    def _apply(self, actions: Any) -> None:
        """Take actions from -1 to 1."""
        try:
            given = np.asarray(actions, dtype=float)
        except (TypeError, ValueError):
            raise UsageError(f"actions are numbers from -1 to 1, not {type(actions).__name__}.", name="actions", value=actions) from None
        if given.shape != self.action.shape:
            raise UsageError(
                f"actions have shape {given.shape}. They need {self.action.shape}: {', '.join(self.act.names)}.", name="actions"
            )
        if not np.isfinite(given).all():
            bad = np.argwhere(~np.isfinite(given))[0]
            raise UsageError(f"the action of environment {bad[0]} for '{self.act.names[bad[1]]}' is not a finite number.", name="actions")
        self.action = np.clip(given, -1.0, 1.0)

    def _advance(self, moving: np.ndarray | None) -> np.ndarray:
        """Step under the actions; return the codes of the environments, of all substeps the worst."""
        asked, environments = self.act.center + self.act.half * self.action, self.stepper.environments
        if not self.task.servo:
            self.tau[:, self.act.where] = asked
            self.stepper.step(self.tau, mask=moving)
            return environments.codes
        codes = np.zeros_like(environments.codes)
        for _ in range(self.task.substeps):
            q, v = self.stepper.q[:, self.act.coordinates], self.stepper.v[:, self.act.columns]
            self.tau[:, self.act.where] = self.servos.efforts(asked, q, v, moving)
            self.stepper.step(self.tau, mask=moving)
            codes = np.where((codes > 0) | ((codes == BACKED) & (environments.codes <= 0)), codes, environments.codes)
        return codes

    def _rewards(self, x: NamedArrays, before: NamedArrays | None) -> np.ndarray:
        call: Callable[[], Any] = partial(self.task.reward, x, before) if self.rewarded_by_change else partial(self.task.reward, x)
        found = np.asarray(call(), dtype=float)
        if found.shape != (self.n,):
            raise UsageError(
                f"reward returns an array of shape {found.shape}. It needs one number for each environment: ({self.n},).", name="rewards"
            )
        if not np.isfinite(found).all():
            raise UsageError(
                f"the reward of environment {int(np.flatnonzero(~np.isfinite(found))[0])} is not a finite number.", name="rewards"
            )
        return found

    def _flags(self, what: str, function: Callable[..., Any], x: NamedArrays) -> np.ndarray:
        found = np.asarray(function(x))
        if found.shape != (self.n,) or found.dtype != np.bool_:
            raise UsageError(
                f"{what} returns {found.dtype} of shape {found.shape}. It needs True or False for each environment: ({self.n},).", name=what
            )
        return found

    def why(self, rows: np.ndarray) -> list[str]:
        """Reasons of the rows that have failed."""
        advice = f"steps of {self.task.dt} / {self.task.substeps} may be too long: raise `substeps`"
        steps = {k: f"{said}; {advice}" for k, said in self.stepper.why.items()}
        return [steps.get(k, "") for k in map(int, rows)]


def _arguments(function: Any) -> int:
    """How many arguments a function takes, as far as it can be seen."""
    try:
        wanted = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    return len([p for p in wanted if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD])


# Ends of a travel that are rigid: steps hold coordinates there by impulses, and no episode starts beyond one.


class RigidEnd(NamedTuple):
    """A coordinate with the values between which it may move."""

    name: str
    lower: float
    upper: float


def rigid_ends(d: Description) -> list[RigidEnd]:
    """Rigid stops of a model."""
    return [
        RigidEnd(s.joint, -np.inf if s.lower is None else float(s.lower), np.inf if s.upper is None else float(s.upper))
        for s in d.rigid_stops
    ]


def beyond(ends: list[RigidEnd], x: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    """Mask of the environments in which a coordinate is beyond an end."""
    out = np.zeros(n, dtype=bool)
    for end in ends:
        out |= (x[end.name] < end.lower) | (x[end.name] > end.upper)
    return out


def reason(ends: list[RigidEnd], x: Mapping[str, np.ndarray], i: int) -> str:
    """The coordinate of an environment that is beyond an end, in a sentence; empty if none."""
    passed = (e for e in ends if not e.lower <= x[e.name][i] <= e.upper)
    found = ((e, x[e.name][i]) for e in passed)
    return next((f"{e.name} = {at:.6g} is beyond its rigid stop at {e.lower if at < e.lower else e.upper:.6g}" for e, at in found), "")

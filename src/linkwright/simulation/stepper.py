"""`s.step` and `s.stepper`: fixed steps under efforts that a program gives from step to step, for one mechanism or for many at once.

    env = s.stepper(1024, dt=0.01, substeps=10)
    env.step(tau)                       # (1024, nv), (nv,), or by joint name
    env.q, env.v, env.t, env.ok         # live views; env.status and env.why say which failed and why
    env.reset(~env.ok)                  # back to the start

Loops are projected after every step, as in `simulate`. A position that the kernels cannot solve is answered by the rank-revealing path; an
environment without an answer stays in its last good state until it is reset, and the others are not concerned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError, Renamed, SimulationError, UsageError, calls_explained, counted
from linkwright.integrators.environment_steps import REFUSED
from linkwright.integrators.environments import MARKS, STATUS
from linkwright.numerics.tolerances import CLOSED_START
from linkwright.numerics.tolerances import OPEN as OPEN
from linkwright.results.state import LaterReferences, State
from linkwright.simulation.kernel_rows import entries
from linkwright.simulation.run_batch import parameter_sets
from linkwright.simulation.start_states import closed_for
from linkwright.simulation.step_inputs import FLOAT, StepEfforts, environments, equations, interval

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled


@calls_explained
class Stepper(Renamed):
    """n environments of one mechanism, each with its own state, time, efforts and parameters, stepped together.

    `q` (n, nq), `v` (n, nv), `t` (n,) and `parameters` (n, numbers) are read-only views of memory that `step` and `reset` change: copy what
    has to last. `status` is "ok", "rank-revealing" (solved, but not by the kernels), "open" or "failed" for each. `ok` is False for the
    last two, which stay in their last good state until they are reset. `why` gives their reasons by index.
    """

    parameters: np.ndarray

    def __init__(
        self,
        core: Compiled,
        n: int,
        *,
        dt: Any = 1e-3,
        substeps: int = 1,
        integrator: Any = None,
        start: State | None = None,
        parameters: Any = None,
        threads: int | None = None,
    ):
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise UsageError(f"a stepper is for one or more environments, not {n!r}.", value=n, name="n")
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1):
            raise UsageError(f"threads is a whole number of one or more, not {threads!r}.", name="threads", value=threads)
        self.core, self.n, self.integrator, self.threads = core, int(n), integrator, threads
        self.dt, self.substeps = dt, substeps
        self._step = interval(dt, substeps)
        if start is not None:
            core.need_start(start, (), parameters is None)
        self.start = core.start if start is None else start
        self._prepare()
        self.reset(parameters=parameters)

    def _prepare(self) -> None:
        self.environments = env = environments(self.core, self.integrator, self.n, self.threads)
        self.row, self._efforts = equations(self.core).row, StepEfforts(self.core, env.efforts)
        q, v, t = (env.rows[:, self.row.spans[k]] for k in ("q", "v", "t"))
        parameters = env.rows[:, self.row.spans["parameters"]] if "parameters" in self.row.spans else env.rows[:, :0]
        for view in (q, v, t, parameters):
            view.flags.writeable = False
        self.q, self.v, self.t, self.parameters = q, v, t[:, 0], parameters
        self._masked = False

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        failed = self.n - int(self.ok.sum())
        return f"<Stepper of {self.core.description.name!r}: {counted(self.n, 'environment')}, {failed} failed>"

    def __getstate__(self) -> dict[str, Any]:
        """Without code and memory: both are made again, with the same rows in it."""
        env = self.environments
        names = ("core", "n", "dt", "substeps", "integrator", "threads", "start")
        held = {"rows": env.rows.copy(), "codes": env.codes.copy(), "errors": {k: (stage, str(e)) for k, (stage, e) in env.errors.items()}}
        return {**{name: getattr(self, name) for name in names}, "held": held}

    def __setstate__(self, state: dict[str, Any]) -> None:
        held = state.pop("held")
        vars(self).update(state)
        self._step = interval(self.dt, self.substeps)
        self._prepare()
        self.environments.rows[...], self.environments.codes[...] = held["rows"], held["codes"]
        self.environments.errors = {k: (stage, LinkwrightError(text)) for k, (stage, text) in held["errors"].items()}
        self.environments.h = self._step

    # ---------------------------------------------------------------- steps

    def step(self, tau: Any = None, *, mask: Any = None, dt: Any = None, substeps: int | None = None) -> None:
        """Advance by dt in `substeps` equal steps under efforts tau, which are held.

        tau: (n, nv) or (nv,) in the order of names.v, or by joint name (numbers, quantities, or one for each environment). Zero by default.
        mask: n times True or False. Environments that are False stay as they are.
        dt: with `substeps` the step of the stepper, unless given.
        """
        h = (
            self._step
            if dt is None and substeps is None
            else interval(self.dt if dt is None else dt, self.substeps if substeps is None else substeps)
        )
        env = self.environments
        self._efforts.put(tau)
        if mask is not None or self._masked:
            self._choose(mask)
        env.step(h, self.substeps if substeps is None else substeps)

    def rollout(self, tau: Any, *, mask: Any = None, out: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Step once for every row of efforts in one call. Return q (n, times, nq) and v (n, times, nv) after each step.

        tau: (n, times, nv), or (times, nv) for all. An environment that fails repeats its last good state.
        out: an array (n, times, nq + nv) to write the states into, of which q and v are views. A new one by default. New memory costs time.
        """
        env, nv = self.environments, self.v.shape[1]
        try:
            given = np.asarray(tau, dtype=float)
        except (TypeError, ValueError):
            raise UsageError(
                f"tau of a rollout is an array ({self.n}, times, {nv}) or (times, {nv}), not {type(tau).__name__}.", value=tau,
                name="tau",
            ) from None
        if given.ndim not in (2, 3) or given.shape[-1] != nv or (given.ndim == 3 and len(given) != self.n):
            raise UsageError(f"tau of a rollout has shape {given.shape}. It needs ({self.n}, times, {nv}) or (times, {nv}).", name="tau")
        if given.ndim == 2:
            given = np.broadcast_to(given, (self.n, *given.shape))
        given = np.ascontiguousarray(given)
        if mask is not None or self._masked:
            self._choose(mask)
        nq, times = self.q.shape[1], given.shape[1]
        shape = (self.n, times, nq + nv)
        states = np.empty(shape) if out is None else out
        if not isinstance(states, np.ndarray) or states.shape != shape or states.dtype != FLOAT or not states.flags.carray:
            raise UsageError(f"out is a contiguous, writable array of floats, {shape}: environments, times, q and v.", name="out")
        if times:
            env.roll(self._step, self.substeps, given, states)
            env.efforts[...] = given[:, -1]
        return states[..., :nq], states[..., nq:]

    def _choose(self, mask: Any) -> None:
        chosen = self.environments.chosen
        if mask is None:
            chosen[...] = 1
        else:
            given = np.asarray(mask)
            if given.shape != (self.n,) or given.dtype != np.bool_:
                raise UsageError(
                    f"mask is an array of {counted(self.n, 'value')} True or False, not {given.dtype} of shape {given.shape}.",
                    name="mask",
                    value=given.dtype,
                )
            chosen[...] = given
        self._masked = mask is not None

    @property
    def ok(self) -> np.ndarray:
        """Mask of the environments that have not failed."""
        return self.environments.codes <= 0

    @property
    def status(self) -> np.ndarray:
        """How the last step of each environment went: "ok", "rank-revealing", "open" or "failed"."""
        return np.array([STATUS.get(code, "failed") for code in self.environments.codes.tolist()])

    @property
    def why(self) -> dict[int, str]:
        """Reasons of the environments that have failed, by index."""
        env = self.environments
        return {int(k): f"t = {self.t[k]:.6g} s: {self._reason(int(k))}." for k in np.flatnonzero(env.codes > 0)}

    def _reason(self, k: int) -> str:
        bad = [n for n, x in zip(self.core.kernels.entries["v"], self.environments.efforts[k], strict=True) if not np.isfinite(x)]
        return f"tau is not a finite number: {', '.join(bad)}" if bad else self.environments.reason(k)

    @property
    def impulses(self) -> np.ndarray:
        """Impulses of the last integration step by stops, ropes, touches and play, (n, rows) in the order of `impulse_names`, in N s (of an
        angle, N m s over the mechanism's size)."""
        return self.environments.impulses

    @property
    def impulse_names(self) -> tuple[str, ...]:
        """Names of the entries of `impulses`: `foot.normal`, `foot.friction`, `stop upper`."""
        return equations(self.core, self.environments.table is None).rows.names(self.core.kernels.touches)

    @property
    def law(self) -> dict[str, np.ndarray]:
        """How well contacts were held since the start, for each environment: largest `depth` in m, largest `residual` of the problems of
        impulses, the number of `problems`, and how many of them were `harder`, solved by later stages of the solver."""
        return dict(zip(MARKS, self.environments.marks.T, strict=True))

    def state(self, i: int) -> State:
        """Return one of the environments as a State."""
        if not -self.n <= i < self.n:
            raise UsageError(f"there are {counted(self.n, 'environment')}. Number {i} is not among them.", name="environment")
        row = self.environments.rows[i].copy()
        span = self.row.spans
        q = row[span["q"]]
        return State(self.core.skel, q, row[span["v"]], LaterReferences(self.core.skel, q, row[span["near"]]), float(row[span["t"]][0]))

    # ---------------------------------------------------------------- new states

    def reset(self, where: Any = None, q: Any = None, v: Any = None, *, t: Any = None, parameters: Any = None) -> None:
        """Put environments into new states: closed ones, at time t.

        where: an index, several, or n times True or False. All by default.
        q: (nq,), a row for each of them, or a State. By default the start of the stepper.
        v: alike. By default the velocity of the State or the start, else zero.
        t: by default 0, or the time of the State.
        parameters: their values, rows or arrays by name. By default as they are. Without q the start is closed for them.
        """
        which, env, span = self._which(where), self.environments, self.row.spans
        rows = env.candidates[0][: len(which)]
        rows[...] = env.rows[which]
        st = self.start if q is None else q if isinstance(q, State) else None
        if st is not None and st.skel is not self.core.skel:
            self.core.need_closed(st, most=np.inf)
        given_q, given_v = (q, v) if st is None else (st.q, st.v if v is None else v)
        near = self.core.skel.pack(self.core.start.references) if st is None else self.core.packed_references(st)
        rows[:, span["q"]] = self._numbers("q", given_q, len(rows))
        rows[:, span["v"]] = 0.0 if given_v is None else self._numbers("v", given_v, len(rows))
        rows[:, span["t"]] = self._times(t, 0.0 if st is None else st.t, len(rows))
        rows[:, span["near"]] = near
        if parameters is not None:
            sets = parameter_sets(self.core, parameters)
            if len(sets) not in (1, len(rows)):
                raise UsageError(
                    f"parameters has {counted(len(sets), 'set')} for {counted(len(rows), 'environment')}. Give one, or one for each.",
                    name="parameters",
                )
            if sets[0].size:
                rows[:, span["parameters"]] = sets
        alike = not self.parameters.shape[1] and all(np.ndim(x) < 2 for x in (given_q, given_v)) and np.ndim(t) == 0
        self._admit(rows, which, st if q is None else None, alike)
        env.rows[which] = rows
        env.forget(which)

    def _which(self, where: Any) -> np.ndarray:
        if where is None:
            return np.arange(self.n)
        given = np.atleast_1d(np.asarray(where))
        if given.dtype == np.bool_ and given.shape == (self.n,):
            return np.flatnonzero(given)
        if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or given.size == 0):
            raise UsageError(
                f"where is an index, several, or {counted(self.n, 'value')} True or False, not {given.dtype} of shape {given.shape}.",
                name="where",
                value=given.dtype,
            )
        if given.size and not (-self.n <= given.min() and given.max() < self.n):
            bad = given.max() if given.max() >= self.n else given.min()
            raise UsageError(f"there are {counted(self.n, 'environment')}. Number {bad} is not among them.", name="environment")
        which = given.astype(np.int64) % self.n
        if len(np.unique(which)) < len(which):
            raise UsageError("where names an environment more than once.", name="where")
        return which

    def _numbers(self, name: str, given: Any, count: int) -> np.ndarray:
        names = self.core.kernels.entries[name]
        try:
            x = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise UsageError(f"{name} is an array of numbers or a State, not {type(given).__name__}.", name=name, value=given) from None
        if x.shape not in ((len(names),), (count, len(names))):
            raise UsageError(
                f"{name} has shape {x.shape}. It needs ({len(names)},) or ({count}, {len(names)}): {', '.join(names)}.", name=name
            )
        if not np.isfinite(x).all():
            bad = np.argwhere(~np.isfinite(np.atleast_2d(x)))[0]
            at = f" of environment {bad[0]}" if x.ndim == 2 else ""
            raise UsageError(f"{name}{at} has entries that are not finite numbers: {names[bad[1]]}.", name=name)
        return x

    def _times(self, t: Any, default: float, count: int) -> np.ndarray:
        x = np.asarray(default if t is None else t, dtype=float)
        if x.shape not in ((), (count,)) or not np.isfinite(x).all():
            raise UsageError(f"t is a time, or one for each of the {counted(count, 'environment')}.", name="t")
        return x if x.ndim == 0 else x[:, None]

    def _admit(self, rows: np.ndarray, which: np.ndarray, start: State | None, alike: bool) -> None:
        """Count turns at new rows; refuse those that are open, or, of a `start` that parameters open, close them. Of rows that are
        all `alike` one is looked at."""
        if alike and len(rows) > 1:
            self._admit(rows[:1], which, start, False)
            rows[1:] = rows[0]
            return
        span, (_, every, count) = self.row.spans, self.environments.candidates
        gaps = every[: len(rows)]
        for first in self.environments.problem.quaternions:
            length = np.linalg.norm(rows[:, first : first + 4], axis=1)
            if not (np.abs(length - 1.0) < OPEN).all():
                k = int(np.argmax(np.abs(length - 1.0)))
                names = ", ".join(self.core.kernels.entries["q"][first : first + 4])
                raise UsageError(
                    f"the quaternion {names} of environment {which[k]} has length {length[k]:.6g}. It needs length 1.", name=names
                )
        count(len(rows))
        if start is not None and self.parameters.shape[1]:
            for k in np.flatnonzero(gaps[:, 0] > CLOSED_START):
                closed = _closed(self.core, start, rows[k, span["parameters"]])
                rows[k, span["q"]], rows[k, span["v"]], rows[k, span["near"]] = closed
            count(len(rows))
        if not len(rows) or gaps.max() < OPEN:
            return
        speed = np.maximum(1.0, np.abs(rows[:, span["v"]] / self.core.loops.columns).max(axis=1, initial=0.0))
        for gap, what, cure in (
            (gaps[:, 0], "the loops of environment {} are open by {:.2g} of the mechanism's size", "closes a state"),
            (gaps[:, 1] / speed, "the velocity of environment {} does not close the loops ({:.2g} of its size)", "completes speeds"),
        ):
            k = int(np.argmax(gap))
            if not gap[k] < OPEN:
                problem = UsageError(f"{what.format(which[k], gap[k])}; s.assemble {cure}.", name="environment")
                problem.index = int(which[k])
                raise problem


def _closed(core: Compiled, start: State, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and packed references of the start on the loops that parameters make, by native code where it is at hand."""
    walking = core.walking(core.drive_names) if core.drive_names else None
    if walking is not None:
        positions = core.drive_positions(start)
        speeds = np.array([float(start[f"{name}.v"]) for name in core.drive_names])
        laws = np.concatenate([positions, speeds, np.zeros(len(speeds))])[None]
        found = walking(start.q, core.packed_references(start), np.zeros(1), laws, parameters)
        if found.reached == 1:
            return found.q[0], found.v[0], core.packed_references(start)
    st = closed_for(core, start, parameters)
    return st.q, st.v, core.packed_references(st)


# ----------------------------------------------------------------------------------------------------
# `s.step`: one step from any state to the next, with memory and code at hand


class Single:
    """One environment with its memory at hand: a step from any state to the next, checked before and after."""

    def __init__(self, core: Compiled, integrator: Any):
        self.core, self.integrator = core, integrator
        self.environments = env = environments(core, integrator, 1)
        span = equations(core).row.spans
        self.q, self.v, self.t, self.near = (env.rows[0, span[k]] for k in ("q", "v", "t", "near"))
        self.parameters = env.rows[0, span["parameters"]] if "parameters" in span else np.zeros(0)
        self.gaps, self.tau, self.put = np.zeros((1, 2)), env.efforts[0], StepEfforts(core, env.efforts).put
        self.q_shape, self.v_shape, self.has_parameters = self.q.shape, self.v.shape, self.parameters.size > 0
        self.run: Callable[[float, int], int] = env.single(self.gaps)
        self.first_near, self.default = core.skel.pack(core.start.references), core.kernels.defaults["parameters"]

    def step(self, q: Any, v: Any, t: float, near: np.ndarray, tau: Any, h: float, substeps: int, parameters: Any) -> None:
        """From the given state to the one in `q`, `v`, `t` and `near`."""
        if q.shape != self.q_shape or v.shape != self.v_shape:
            self.core.state(q, v)  # says what is wrong
        self.q[...] = q
        self.v[...] = v
        self.t[0] = t
        self.near[...] = near
        if self.has_parameters or parameters is not None:
            self.parameters[...] = entries("parameters", parameters, self.core.kernels.entries["parameters"], self.default)
        if tau.__class__ is np.ndarray and tau.dtype is FLOAT and tau.shape == self.v_shape:
            self.tau[...] = tau
        else:
            self.put(tau)
        code = self.run(h, substeps)
        if code:
            self._judge(code, h, substeps)

    def _judge(self, code: int, h: float, substeps: int) -> None:
        """Raise what is wrong with the state, the efforts or the step."""
        env = self.environments
        if code == REFUSED:
            self.core.state(self.q, self.v)
            bad = [n for n, x in zip(self.core.kernels.entries["v"], env.efforts[0], strict=True) if not np.isfinite(x)]
            if bad:
                raise UsageError(f"tau has entries that are not finite numbers: {', '.join(bad)}.", name="tau")
            if not np.isfinite(self.t[0]):
                raise UsageError(f"t is a finite time, not {self.t[0]}.", value=self.t[0], name="t")
            gap, torn = self.gaps[0]
            if not gap < OPEN:
                raise UsageError(f"the loops of this state are open by {gap:.2g} of the mechanism's size. s.assemble closes it.", name="q")
            if not torn < OPEN * max(1.0, np.abs(self.v / self.core.loops.columns).max()):
                raise UsageError(
                    f"the velocity of this state does not close the loops ({torn:.2g}). s.assemble(v=...) completes speeds.", name="v"
                )
            env.codes[0] = 0
            env.step(h, substeps)
        if env.codes[0] > 0:
            reason, (stage, error) = env.reason(0), env.errors.pop(0, (0, None))
            if stage == 0 and isinstance(error, LinkwrightError):
                raise error
            raise SimulationError(f"t = {self.t[0]:.6g} s: {reason}.", name="step") from error


class Stepping:
    """Single steps of one mechanism, with memory stored by integrator."""

    def __init__(self, core: Compiled):
        self.core = core
        self.interval: tuple[Any, Any, float] = (None, None, 0.0)  # the last dt and substeps, and the step they make
        self.pools: dict[Any, list[Single]] = {}  # several where threads step at the same time

    def __call__(self, given: Any, tau: Any, dt: Any, substeps: Any, integrator: Any, parameters: Any) -> Any:
        """A State after dt, or arrays (q, v) or (q, v, t) after dt from such arrays."""
        core, known = self.core, self.interval
        if dt is not known[0] or substeps is not known[1]:
            known = (dt, substeps, interval(dt, substeps))
            if dt.__class__ is float:  # which nothing can change
                self.interval = known
        h = known[2]
        key = integrator if integrator is None or integrator.__class__ is str else id(integrator)
        pool = self.pools.get(key)
        if pool is None:
            pool = self.pools[key] = [Single(core, integrator)]
        single = pool.pop() if pool else Single(core, integrator)
        try:
            if isinstance(given, State):
                if given.skel is not core.skel:
                    core.need_closed(given, most=np.inf)
                single.step(given.q, given.v, given.t, core.packed_references(given), tau, h, substeps, parameters)
                q = single.q.copy()
                return State(core.skel, q, single.v.copy(), LaterReferences(core.skel, q, single.near.copy()), float(single.t[0]))
            if not isinstance(given, tuple | list) or len(given) not in (2, 3):
                raise UsageError(
                    f"step takes a State, or arrays (q, v) or (q, v, t), not {type(given).__name__}.", value=given, name="state"
                )
            q, v = given[0], given[1]
            if q.__class__ is not np.ndarray or v.__class__ is not np.ndarray:
                q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
            single.step(q, v, given[2] if len(given) == 3 else 0.0, single.first_near, tau, h, substeps, parameters)
            if len(given) == 2:
                return single.q.copy(), single.v.copy()
            return single.q.copy(), single.v.copy(), float(single.t[0])
        finally:
            pool.append(single)

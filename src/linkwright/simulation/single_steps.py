"""`s.step`: one step from any state to the next, with memory and code at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError, SimulationError, UsageError
from linkwright.integrators.environment_steps import REFUSED
from linkwright.motion.compiled import OPEN
from linkwright.results.state import LaterReferences, State
from linkwright.simulation.kernel_rows import entries
from linkwright.simulation.step_inputs import FLOAT, StepEfforts, environments, equations, interval

if TYPE_CHECKING:
    from linkwright.motion.compiled import Compiled


class Single:
    """One environment with its memory at hand: a step from any state to the next, checked before and after."""

    def __init__(self, core: Compiled, integrator: Any):
        self.core, self.integrator = core, integrator
        self.environments = env = environments(core, integrator, 1)
        span = equations(core).row.spans
        self.q, self.v, self.t, self.near = (env.rows[0, span[k]] for k in ("q", "v", "t", "near"))
        self.free = env.rows[0, span["free"]] if "free" in span else np.zeros(0)
        self.gaps, self.tau, self.put = np.zeros((1, 2)), env.efforts[0], StepEfforts(core, env.efforts).put
        self.q_shape, self.v_shape, self.has_free = self.q.shape, self.v.shape, self.free.size > 0
        self.run: Callable[[float, int], int] = env.single(self.gaps)
        self.first_near, self.default = core.skel.pack(core.start.references), core.kernels.defaults["free"]

    def step(self, q: Any, v: Any, t: float, near: np.ndarray, tau: Any, h: float, substeps: int, free: Any) -> None:
        """From the given state to the one in `q`, `v`, `t` and `near`."""
        if q.shape != self.q_shape or v.shape != self.v_shape:
            self.core.state(q, v)  # says what is wrong
        self.q[...] = q
        self.v[...] = v
        self.t[0] = t
        self.near[...] = near
        if self.has_free or free is not None:
            self.free[...] = entries("free", free, self.core.kernels.entries["free"], self.default)
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
                raise UsageError(f"tau has entries that are not finite numbers: {', '.join(bad)}.")
            if not np.isfinite(self.t[0]):
                raise UsageError(f"t is a finite time, not {self.t[0]}.")
            gap, torn = self.gaps[0]
            if not gap < OPEN:
                raise UsageError(f"the loops of this state are open by {gap:.2g} of the mechanism's size; s.assemble closes it.")
            if not torn < OPEN * max(1.0, np.abs(self.v / self.core.loops.columns).max()):
                raise UsageError(f"the velocity of this state tears the loops apart ({torn:.2g}); s.assemble(v=...) completes speeds.")
            env.codes[0] = 0
            env.step(h, substeps)
        if env.codes[0] > 0:
            reason, (stage, error) = env.reason(0), env.errors.pop(0, (0, None))
            if stage == 0 and isinstance(error, LinkwrightError):
                raise error
            raise SimulationError(f"t = {self.t[0]:.6g} s: {reason}.") from error


class Stepping:
    """Single steps of one mechanism, with memory stored by integrator."""

    def __init__(self, core: Compiled):
        self.core = core
        self.interval: tuple[Any, Any, float] = (None, None, 0.0)  # the last dt and substeps, and the step they make
        self.pools: dict[Any, list[Single]] = {}  # several where threads step at the same time

    def __call__(self, given: Any, tau: Any, dt: Any, substeps: Any, integrator: Any, free: Any) -> Any:
        """A State after dt, or arrays (q, v) or (q, v, t) after dt from such arrays."""
        core, known = self.core, self.interval
        if dt is not known[0] or substeps is not known[1]:
            known = (dt, substeps, interval(dt, substeps))
            if dt.__class__ is float:  # which nothing can change
                self.interval = known
        h = known[2]
        key = integrator if integrator.__class__ is str else id(integrator)
        pool = self.pools.get(key)
        if pool is None:
            pool = self.pools[key] = [Single(core, integrator)]
        single = pool.pop() if pool else Single(core, integrator)
        try:
            if isinstance(given, State):
                if given.skel is not core.skel:
                    core.need_closed(given, most=np.inf)
                single.step(given.q, given.v, given.t, core.packed_references(given), tau, h, substeps, free)
                q = single.q.copy()
                return State(core.skel, q, single.v.copy(), LaterReferences(core.skel, q, single.near.copy()), float(single.t[0]))
            if not isinstance(given, tuple | list) or len(given) not in (2, 3):
                raise UsageError(f"step takes a State, or arrays (q, v) or (q, v, t), not {type(given).__name__}.")
            q, v = given[0], given[1]
            if q.__class__ is not np.ndarray or v.__class__ is not np.ndarray:
                q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
            single.step(q, v, given[2] if len(given) == 3 else 0.0, single.first_near, tau, h, substeps, free)
            if len(given) == 2:
                return single.q.copy(), single.v.copy()
            return single.q.copy(), single.v.copy(), float(single.t[0])
        finally:
            pool.append(single)

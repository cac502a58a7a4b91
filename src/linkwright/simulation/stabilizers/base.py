"""Contract of a stabilizer, its correction after a step, how often it is made, and the combination of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from linkwright.errors import UsageError
from linkwright.kernels.equations.kinematic import KinematicEquations, largest
from linkwright.kernels.source_modules import digest

if TYPE_CHECKING:
    from linkwright.compiler.program import Program
    from linkwright.kernels.kernel import Fallback, Kernel
    from linkwright.kernels.kernels import Kernels


Inputs = dict[str, np.ndarray]


class Correction(NamedTuple):
    """Correction after a step. The kernel reads the row q, v, t, tau, [gains], parameters, near of the time stepper and gives
    q, v, residual, rate_residual, correction (dimensionless).

    Not `once`: each call is one Newton step from the position handed in, v is made consistent at that position, and the
    residuals are those found there. `once`: one call is all. q and v are final, `residual` is the remaining gap, `rate_residual`
    and `correction` say what was corrected.
    """

    kernel: Kernel
    answer: Callable[[Inputs], dict[str, Any]]  # the same on floats, for states the kernel refuses
    once: bool
    settings: dict[str, Any]  # what was chosen for this mechanism, for the certificate
    every: int = 1  # steps from one correction to the next
    above: float | None = None  # residual that is left alone, measured by the kernel `gap`
    gap: Kernel | None = None


class Stabilizer(Protocol):
    """How a run keeps its loops closed. Fields of plain numbers. Adding one is a file and a line in `STABILIZERS`."""

    @property
    def name(self) -> str: ...

    @property
    def gains(self) -> tuple[float, float] | None:
        """(alpha, beta) of the terms alpha (J v + b) + beta phi added to k, or None."""
        ...

    @property
    def corrects(self) -> str:
        """ "" | "project" | "adjust": what happens to a state after a step."""
        ...

    @property
    def closes(self) -> bool:
        """True if it corrects positions and velocities after every step. Else loops are open at times: the rates then turn to the
        rank-revealing path earlier, and no correction is refused for its size."""
        ...

    @property
    def settings(self) -> dict[str, Any]:
        """Names and numbers for the certificate."""
        ...

    @property
    def text(self) -> str:
        """One line for people."""
        ...

    def correction(self, kernels: Kernels, q: Any, near: Any, drives: Sequence[str] = (), gains: bool = False) -> Correction | None:
        """Return the correction after a step, or None. (q, near): the start; `drives`: joints moved by efforts, which stay as they are;
        `gains`: the rates of this run read gains, so the row has them."""
        ...


class Addable:
    """Stabilizers can be added: `Baumgarte() + PostAdjust()`."""

    def __add__(self, other: Any) -> Stabilizer:
        return combined([self, other])


@dataclass(frozen=True)
class Occasional(Addable):
    """A stabilizer that corrects after a step, and says how often: after every n-th step, and only loops that are open by more than
    `above` (dimensionless: rad, or a share of the mechanism's size)  [Aghili2005 sec. VI; Hoang2023 sec. 4]."""

    every: int = field(default=1, kw_only=True)
    above: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.every, bool) or not isinstance(self.every, int) or self.every < 1:
            raise UsageError(
                f"every is a number of steps, 1 or more, not {self.every!r}. 'none' never corrects.", name="every", value=self.every
            )
        numbers = isinstance(self.above, int | float) and not isinstance(self.above, bool)
        if self.above is not None and not (numbers and 0.0 < self.above < inf):
            raise UsageError(
                f"above is a gap of the loops, a positive number (in rad, or of the mechanism's size), not {self.above!r}.",
                name="above",
                value=self.above,
            )

    @property
    def each_step(self) -> bool:
        return self.every == 1 and self.above is None

    @property
    def occasions(self) -> dict[str, Any]:
        """Settings that differ from a correction after every step."""
        return {} if self.each_step else {"every": self.every, "above": self.above}

    @property
    def when(self) -> str:
        """` after every 10th step where loops are open by more than 1e-06`."""
        steps = "every step" if self.every == 1 else f"every {_ordinal(self.every)} step"
        return f"after {steps}" + ("" if self.above is None else f" where loops are open by more than {self.above:g}")

    def occasional(self, kernels: Kernels, found: Correction, gains: bool) -> Correction:
        """The correction with its occasions."""
        if self.above is None:
            return found._replace(every=self.every)
        gap = step_kernel(kernels, "gap", _gap, [], gains)
        return found._replace(every=self.every, above=float(self.above), gap=gap)


def _gap(eq: KinematicEquations, q: Any, v: Any, t: Any, near: Any) -> dict[str, Any]:
    """How far the loops are open."""
    c = eq.loops.at(q, v, t[0], eq.loops.skel.unpack(q, near))
    return {"residual": np.array([largest(c.phi / eq.loops.row_scale)])}


def _ordinal(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


@dataclass(frozen=True)
class Combined(Addable):
    """Terms in the equations by one stabilizer, and a correction after a step by another."""

    equations: Stabilizer
    after: Stabilizer

    @property
    def name(self) -> str:
        return f"{self.equations.name}+{self.after.name}"

    @property
    def gains(self) -> tuple[float, float] | None:
        return self.equations.gains

    @property
    def corrects(self) -> str:
        return self.after.corrects

    @property
    def closes(self) -> bool:
        return self.after.closes

    @property
    def settings(self) -> dict[str, Any]:
        return {**self.equations.settings, **self.after.settings, "stabilizer": self.name}

    @property
    def text(self) -> str:
        return f"{self.equations.text}; {self.after.text}"

    def correction(self, kernels: Kernels, q: Any, near: Any, drives: Sequence[str] = (), gains: bool = False) -> Correction | None:
        return self.after.correction(kernels, q, near, drives, gains=True)


def combined(parts: Sequence[Any]) -> Stabilizer:
    """One stabilizer of several: at most one in the equations, at most one after the step, and they must be different ones."""
    flat = [x for p in parts for x in ((p.equations, p.after) if isinstance(p, Combined) else (p,))]
    if len(flat) == 1:
        return flat[0]
    equations = [p for p in flat if p.gains is not None]
    after = [p for p in flat if p.corrects]
    if len(flat) != 2 or len(equations) != 1 or len(after) != 1:
        raise UsageError(
            f"{' + '.join(p.name for p in flat) or 'an empty list'} is not a combination of stabilizers: combine 'baumgarte' with one "
            "that corrects after a step, 'post_adjust' or 'project'.",
            name="stabilizer",
        )
    return Combined(equations[0], after[0])


# ----------------
# Kernels of what is done after a step: functions of a state, traced with the row that the time stepper hands to them

LAW = ("drive", "speed", "acceleration")  # of prescribed motions
Function = Callable[..., dict[str, Any]]  # (eq, q, v, t, near), and tau where it is read -> named arrays


def step_kernel(
    kernels: Kernels,
    name: str,
    function: Function,
    key: Any,
    gains: bool,
    answer: Fallback | None = None,
    *,
    solve: str = "sslm",
    pushed: bool = False,
    timed: bool = False,
) -> Kernel:
    """A function as kernel of these kernels, made once, its code stored on disk. It reads q, v, t, tau, the motion of drivers, two gains
    where the rates of the run have them, parameters, near. `key`: whatever else the function depends on, as JSON; `answer`: who
    answers states whose pivots degenerate; `solve`: the plan that its order of elimination comes from; `pushed`: it reads tau;
    `timed`: it also reads the length of the step, `interval`, and the velocities `before` it, which come last."""
    from linkwright.kernels.kernel import Kernel

    at = (name, "after a step", repr(key), gains, solve, timed)
    if at not in kernels.made:
        package, _, module = function.__module__.partition(".")
        own = package == "linkwright" and kernels.model_key is not None  # else the program is traced first, and found by its digest
        parts = [name, "after a step", key, gains, solve, digest(module), kernels.model_key] if own else None
        program = _Trace(kernels, function, gains, solve, pushed, timed)
        kernels.made[at] = Kernel(name, program, parts, kernels.entries, kernels.defaults, answer, kernels.engine)
    return kernels.made[at]


class _Trace:
    """Makes the program when it is asked for."""

    def __init__(self, kernels: Kernels, function: Function, gains: bool, solve: str, pushed: bool, timed: bool):
        self.kernels, self.function, self.gains, self.solve, self.pushed, self.timed = kernels, function, gains, solve, pushed, timed

    def __call__(self) -> Program:
        from linkwright.compiler.graph import TraceGraph  # here, so that a process that finds its code on disk loads no tracer
        from linkwright.compiler.program import without_unused

        n, g = self.kernels.sizes, TraceGraph()
        q, v, t = g.input("q", n.nq), g.input("v", n.nv), g.input("t", 1)
        tau = g.input("tau", n.nv)
        law = [g.input(k, n.drivers) for k in LAW]
        if self.gains:
            g.input("gains", 2)
        parameters, near = g.input("parameters", n.parameters), g.input("near", n.near)
        more = {"tau": tau} if self.pushed else {}
        if self.timed:
            more |= {"interval": g.input("interval", 1), "before": g.input("before", n.nv)}
        found = self.function(self.kernels.equations(parameters, self.solve).moved(*law), q, v, t, near, **more)
        return without_unused(g.program(list(found.items())), () if self.timed else ("near",))

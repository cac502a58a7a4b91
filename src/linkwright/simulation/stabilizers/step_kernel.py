"""Kernels of what is done after a step: functions of a state, traced with the row that the time stepper hands to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linkwright.kernels.sources import digest

if TYPE_CHECKING:
    from linkwright.compiler.program import Program
    from linkwright.kernels.kernel import Fallback, Kernel
    from linkwright.kernels.kernels import Kernels

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
) -> Kernel:
    """A function as kernel of these kernels, made once, its code stored on disk. It reads q, v, t, tau, the motion of drivers, two gains
    where the rates of the run have them, free, near. `key`: whatever else the function depends on, as JSON; `answer`: who
    answers states whose pivots degenerate; `solve`: the plan that its order of elimination comes from; `pushed`: it reads tau."""
    from linkwright.kernels.kernel import Kernel

    at = (name, "after a step", repr(key), gains, solve)
    if at not in kernels.made:
        package, _, module = function.__module__.partition(".")
        own = package == "linkwright" and kernels.model_key is not None  # else the program is traced first, and found by its digest
        parts = [name, "after a step", key, gains, solve, digest(module), kernels.model_key] if own else None
        program = _Trace(kernels, function, gains, solve, pushed)
        kernels.made[at] = Kernel(name, program, parts, kernels.entries, kernels.defaults, answer, kernels.engine)
    return kernels.made[at]


class _Trace:
    """Makes the program when it is asked for."""

    def __init__(self, kernels: Kernels, function: Function, gains: bool, solve: str, pushed: bool):
        self.kernels, self.function, self.gains, self.solve, self.pushed = kernels, function, gains, solve, pushed

    def __call__(self) -> Program:
        from linkwright.compiler.graph import TraceGraph  # here, so that a process that finds its code on disk loads no tracer
        from linkwright.compiler.program import without_unused

        n, g = self.kernels.sizes, TraceGraph()
        q, v, t = g.input("q", n.nq), g.input("v", n.nv), g.input("t", 1)
        tau = g.input("tau", n.nv)
        law = [g.input(k, n.drivers) for k in LAW]
        if self.gains:
            g.input("gains", 2)
        free, near = g.input("free", n.free), g.input("near", n.near)
        more = {"tau": tau} if self.pushed else {}
        found = self.function(self.kernels.equations(free, self.solve).moved(*law), q, v, t, near, **more)
        return without_unused(g.program(list(found.items())), ("near",))

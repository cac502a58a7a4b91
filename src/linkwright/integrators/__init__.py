"""Time integration of equations given as kernels: methods by name, projection onto the loops, events, samples.

A method is a file with a table (`problem.Method`) and a line in `integration.INTEGRATORS`. The loops are written once, on the record of
a run (`run_state`), as plain Python, and run as such or as machine code, for one run or for eight at a time: `stages` (the equations,
stages of explicit and Rosenbrock methods), `step` (a step and its size), `break_points` and `step_output` (samples and events),
`stop_rests` (rigid stops that hold), `time_loop` (all steps, and many runs). `integration` runs them, `parallel_runs` many at a time.
`environment_steps` and `environments` do single steps of many states under inputs that a program gives from call to call, `midpoint` those
with impulses, on the memory of `environment_state`. `contact` has Coulomb's law.
"""

from linkwright.integrators.integration import INTEGRATORS, integrate, method_of
from linkwright.integrators.parallel_runs import Solutions, integrate_many
from linkwright.integrators.problem import (
    BOUND,
    CONE,
    LEAVES,
    NEVER,
    PUSH,
    ROUND_CONE,
    SHARE,
    SLIDE,
    SPEED,
    Event,
    EventSpec,
    FrictionRows,
    HeldRow,
    HeldWatch,
    IntegrationError,
    Method,
    Problem,
    Solution,
    StepKernel,
    python_kernel,
)

__all__ = [
    "BOUND",
    "CONE",
    "INTEGRATORS",
    "LEAVES",
    "NEVER",
    "PUSH",
    "ROUND_CONE",
    "SHARE",
    "SLIDE",
    "SPEED",
    "Event",
    "EventSpec",
    "FrictionRows",
    "HeldRow",
    "HeldWatch",
    "IntegrationError",
    "Method",
    "Problem",
    "Solution",
    "Solutions",
    "StepKernel",
    "integrate",
    "integrate_many",
    "method_of",
    "python_kernel",
]  # fmt: skip

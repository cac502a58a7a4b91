"""Time integration of equations given as kernels: methods by name, projection onto the loops, events, samples.

A method is a file with a table (`problem.Method`) and a line in `integration.INTEGRATORS`; the loops are written once as plain
Python and run as such or compiled: `runge_kutta` and `rosenbrock` (stages), `step` (a step), `step_size` (its size),
`step_output` (samples and events), `stop_rests` (rigid stops that hold), `time_loop` (all steps). A table with gamma
is a Rosenbrock method's. `environment_steps` and `environments` do single steps of many states under inputs that a
program gives from call to call.
"""

from linkwright.integrators.integration import INTEGRATORS, integrate, method_of
from linkwright.integrators.parallel_runs import Solutions, integrate_many
from linkwright.integrators.problem import (
    NEVER,
    Event,
    EventSpec,
    HeldEnd,
    IntegrationError,
    Method,
    Problem,
    Solution,
    StepKernel,
    python_kernel,
)

__all__ = [
    "INTEGRATORS",
    "NEVER",
    "Event",
    "EventSpec",
    "HeldEnd",
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

"""Time integration of equations given as kernels: methods by name, projection onto the loops, events, samples.

A method is a file with a table (`tableaux.Method`) and a line in `driver.INTEGRATORS`; the loops in `stepping` and `march`
are written once as plain Python and run as such or compiled. A method that solves equations in every step would bring
a loop of its own, with the arguments of `march.march` and its codes; `integrate` needs nothing else of it.
"""

from linkwright.integrators.driver import INTEGRATORS, integrate
from linkwright.integrators.problem import Event, EventSpec, IntegrationError, Kernel, Problem, Solution, python_kernel

__all__ = ["INTEGRATORS", "Event", "EventSpec", "IntegrationError", "Kernel", "Problem", "Solution", "integrate", "python_kernel"]

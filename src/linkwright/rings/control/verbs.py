"""Verbs of control on systems: a controller to be called alone, and small motions about a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError
from linkwright.errors.arguments import Names
from linkwright.results.state import State

if TYPE_CHECKING:
    from linkwright.rings.control.controller import Controller
    from linkwright.rings.control.linearize import Linearized
    from linkwright.simulation.feedback.base import Control
    from linkwright.system.system import System


class SystemVerbs:
    """Controllers at a system."""

    def control(self: System, controller: Control, st: State | None = None, *, free: Any = None) -> Controller:
        """Return a controller of this mechanism, to be called alone: `c = s.control(lw.control.projected(...))`, then `c(st)["A"]`.

        st: where it begins (references that start from the present position, typical sizes); default the start of the model.
        """
        from linkwright.rings.control.controller import Controller

        begin = self.start if st is None else st
        self.core.need_closed(begin)
        return Controller(controller, self.core, begin, _free(self, free))

    def linearize(
        self: System,
        st: State,
        *,
        coordinates: Names | None = None,
        drives: Names | None = None,
        control: Control | None = None,
        actuators: Any = None,
        tau: Any = None,
        free: Any = None,
    ) -> Linearized:
        """Linearize about a state on the loops: A, B, poles, natural frequencies; prints as a table.

        coordinates: one for each degree of freedom, of joints, points or bodies ("A", "hand.E.x", "platform"); chosen if not named, drives
        first. Open loop: efforts of `drives` (default the model's) stay at `tau` (by drive), by default those that hold the state. control:
        the loop closed, with the controller's integrals and filters and, by `actuators`, currents of motors among the states; its reference
        is constant; sampled (every=...) with eigenvalues `z` and poles log(z) / every. Idle degrees of freedom are left out.
        """
        from linkwright.rings.control.linearize import linearize
        from linkwright.simulation.run import explain
        from linkwright.simulation.start_states import closed_for

        values = _free(self, free)
        self.core.need_start(st, (), free is None)
        there = closed_for(self.core, st, values)
        about = {"coordinates": coordinates, "drives": drives, "control": control, "actuators": actuators, "tau": tau}
        try:
            return linearize(self.core, there, **about, free=values)
        except UsageError as error:
            explain(error, self.core, there)
            raise


def _free(system: System, free: Any) -> Any:
    """Values of all free parameters."""
    from linkwright.simulation.kernel_rows import entries

    return entries("free", free, system.kernels.entries["free"], system.kernels.defaults["free"])

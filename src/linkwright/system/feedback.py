"""Control of a System: controllability of its drives, controllers to call alone, small motions about a state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError
from linkwright.motion.compiled import Compiled
from linkwright.results.state import State

if TYPE_CHECKING:
    from linkwright.motion.controllability import Controllability
    from linkwright.rings.control.controller import Controller
    from linkwright.rings.control.linearize import Linearized
    from linkwright.simulation.feedback.base import Control


class Feedback:
    """Controllers at a compiled mechanism."""

    def __init__(self, core: Compiled):
        self.core = core

    def controllable(self, st: State, drives: str | Iterable[str] | None, tolerance: float) -> Controllability:
        """See `System.controllable`."""
        from linkwright.motion.controllability import controllable, drive_rows

        self.core.need_closed(st)
        names, loops = self.core.named_drives(drives), self.core.loops
        return controllable(loops, st, drive_rows(loops, st, names), names, tolerance=tolerance)

    def controller(self, written: Control, st: State | None, free: Any) -> Controller:
        """See `System.control`."""
        from linkwright.rings.control.controller import Controller

        begin = self.core.start if st is None else st
        self.core.need_closed(begin)
        return Controller(written, self.core, begin, self._free(free))

    def linearize(self, st: State, free: Any, **options: Any) -> Linearized:
        """See `System.linearize`."""
        from linkwright.rings.control.linearize import linearize
        from linkwright.simulation.run import explain
        from linkwright.simulation.start_states import closed_for

        values = self._free(free)
        self.core.need_start(st, (), free is None)
        there = closed_for(self.core, st, values)
        try:
            return linearize(self.core, there, **options, free=values)
        except UsageError as error:
            explain(error, self.core, there)
            raise

    def _free(self, free: Any) -> Any:
        """Values of all free parameters."""
        from linkwright.simulation.kernel_rows import entries

        return entries("free", free, self.core.kernels.entries["free"], self.core.kernels.defaults["free"])

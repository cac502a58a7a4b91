"""The controlling side of a System: what drives can push, and controllers to call alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError
from linkwright.results.state import State
from linkwright.system.simulating import Simulating

if TYPE_CHECKING:
    from linkwright.control.alone import Controller
    from linkwright.control.base import Control
    from linkwright.control.controllability import Controllability
    from linkwright.control.linearise import Linearised
    from linkwright.mechanics.constraints.loops import Loops
    from linkwright.model.description import Description


class Controlling(Simulating):
    """What System gains by controllers."""

    if TYPE_CHECKING:
        description: Description
        loops: Loops

        def _need_closed(self, st: State, off: Sequence[str] = (), most: float = ...) -> None: ...

    def controllable(self, st: State, drives: str | Iterable[str] | None = None, tolerance: float = 1e-8) -> Controllability:
        """True if the drives act on every motion of the loops at a state: N and B_perp share only zero [Aghili2005 (62)].

        drives: names of joints (`"A"`, `"C.slide"`, cut or not) and cylinders; those of the model's `drive:` if nothing is said.
        True where they can. `smallest` is the smallest singular value of the drives' speeds over the motions of the loops
        (dimensionless, at most `tolerance` where control is lost), `direction` the motion that is hardest to push;
        `nearly_lost` says that it is below 1e-3: efforts are that much larger than elsewhere. Idle degrees of freedom, such as a rod's
        spin between ball joints, have no drive and do not count.
        """
        from linkwright.control.controllability import controllable, drive_rows

        self._need_closed(st)
        names = self._named_drives(drives)
        return controllable(self.loops, st, drive_rows(self.loops, st, names), names, tolerance=tolerance)

    def control(self, controller: Control, st: State | None = None, *, free: Any = None) -> Controller:
        """Return a controller of this mechanism, to be called alone: `c = s.control(lw.projected(...))`, then `c(st)["A"]`.

        st: where it begins (references that start from the present position, typical sizes); default the start of the model.
        """
        from linkwright.control.alone import Controller
        from linkwright.simulation.rows import entries

        begin = self.start if st is None else st
        self._need_closed(begin)
        values = entries("free", free, self.kernels.entries["free"], self.kernels.defaults["free"])
        return Controller(controller, self, begin, values)

    def linearise(
        self,
        st: State,
        *,
        coordinates: str | Iterable[str] | None = None,
        drives: str | Iterable[str] | None = None,
        control: Control | None = None,
        actuators: Any = None,
        tau: Any = None,
        free: Any = None,
    ) -> Linearised:
        """Linearise about a state on the loops: A, B, poles, natural frequencies; prints as a table.

        coordinates: as many as there are degrees of freedom, of joints, points or bodies ("A", "hand.E.x", "platform"); chosen if not
        named, drives first. Open loop: efforts of `drives` (default the model's) stay at `tau` (by drive), by default those that
        hold the state. control: the loop closed, with the controller's integrals and filters and, by `actuators`, currents of
        motors among the states; its reference is constant. A sampled controller (every=...): from sample to sample, with
        eigenvalues `z` and poles log(z) / every. Exact derivatives; idle degrees of freedom are left out.
        """
        from linkwright.control.linearise import linearise
        from linkwright.simulation.rows import entries
        from linkwright.simulation.run import closed_for, explain

        values = entries("free", free, self.kernels.entries["free"], self.kernels.defaults["free"])
        self._checked(st, (), free is None)
        there = closed_for(self, st, values)
        options: dict[str, Any] = {"coordinates": coordinates, "drives": drives, "control": control}
        try:
            return linearise(self, there, **options, actuators=actuators, tau=tau, free=values)
        except UsageError as error:
            explain(error, self, there)
            raise

    def _named_drives(self, drives: Any) -> list[str]:
        """The names in a call's `drives`, each once; the model's drives if nothing is said."""
        if drives is None:
            return [d.joint for d in self.description.drives]
        if not isinstance(drives, Iterable):
            raise UsageError(f"drives must be names of joints or cylinders, such as ['A', 'B'], not {drives!r}.")
        names = [drives] if isinstance(drives, str) else [str(x) for x in drives]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise UsageError(f"drives: {', '.join(repr(n) for n in twice)} is named more than once.")
        return names

"""Verbs of robots on mechanisms and systems: workspace, fastest motions, transmissions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linkwright.errors import call_explained
from linkwright.errors.arguments import Named, Names

if TYPE_CHECKING:
    from linkwright.results.state import State
    from linkwright.rings.robots.time_optimal.result import TimeOptimalMotion
    from linkwright.rings.robots.transmission.maps import Transmission
    from linkwright.rings.robots.workspace import Workspace, WorkspaceModes
    from linkwright.system.mechanism import Mechanism
    from linkwright.system.system import System


class MechanismVerbs:
    """Fastest motions and maps of a robot."""

    def time_optimal(
        self: Mechanism,
        path: Mapping[str, Any],
        limits: Mapping[str, Any],
        *,
        drives: Any = None,
        law: str = "fastest",
        span: Any = (0.0, 1.0),
        steps: int = 400,
        duration: Any = None,
        pause: Any = 0.0,
    ) -> TimeOptimalMotion:
        """Return the fastest motion along a path from rest to rest: `m.time_optimal({"tip.P": f}, {"*.torque": "1.5 N m"})`.

        path: as in `follow`, functions of s from 0 to 1 (`span`); timing has no meaning. At corners it stops; `lw.control.polyline` rounds.
        limits: largest values (of efforts and accelerations also pairs) by channels or patterns: A.torque, A.force, A.v, A.a, P.speed, P.a,
        C.load, C.on.rocker, "rms A.torque" (heat over the motion and `pause`), A.jerk (smooth laws).
        law: "fastest", "least energy" (of a `duration`), "quintic", "septic", "s-curve". steps: intervals of the path, 400.
        """
        from linkwright.rings.robots.time_optimal import time_optimal

        return time_optimal(self.system, path, limits, drives, law=law, span=span, steps=steps, duration=duration, pause=pause)

    def map(self: Mechanism, what: Any, over: Any, **options: Any) -> Workspace | WorkspaceModes:
        """Return channels at rest over positions of drives, or measures of a robot over poses: see `lw.System.map`."""
        return self.system.map(what, over, **options)


class SystemVerbs:
    """Maps of a system over poses, drives and motors."""

    def map(self: System, what: Any, over: Any, **options: Any) -> Workspace | WorkspaceModes:
        """Return measures over poses, NaN out of reach, with singularities of type I and II as located curves (surfaces of a volume).
        what: "all", "dexterity", "stiffness", "efforts" ...; over: `{"platform.x": "-0.5..1.3 m / 100", ...}`, names, or a body; of drives,
        `s.map("lift.force", over={"lift": "0.9..1.2 m / 40", "tilt": None})`, any channels at rest, over their strokes by default.
        Options: at, drives, start, modes ("all"), limits, stiffness, speeds, efforts, payload (docs/howto-atlas.md).
        """
        from linkwright.rings.robots.workspace import atlas
        from linkwright.rings.robots.workspace.drive_map import drive_map, over_drives

        if over_drives(self.description, over):
            return drive_map(self, what, over, options)
        return call_explained(atlas, "map")(self.core, self.mobility.freedoms, what, over, **options)

    def workspace(
        self: System,
        over: Any,
        *,
        orientations: Mapping[str, Any] | None = None,
        at: Mapping[str, Any] | None = None,
        drives: Any = None,
        start: State | None = None,
        modes: str = "start",
        limits: Any = None,
    ) -> Workspace | WorkspaceModes:
        """Return the reach over poses of a body or point: `map` without measures. With `orientations` that of any of them."""
        from linkwright.rings.robots.workspace import workspace

        options = {"orientations": orientations, "at": at, "drives": drives, "start": start, "modes": modes, "limits": limits}
        return workspace(self.core, self.mobility.freedoms, over, **options)

    def transmission(self: System, motors: Names, joints: Names, range: Named = None) -> Transmission:
        """Return the series-parallel map between motors and joints: positions, Jacobians, torques, inertia; range: pairs by joint."""
        from linkwright.rings.robots.transmission import transmission

        return transmission(self, motors, joints, range)

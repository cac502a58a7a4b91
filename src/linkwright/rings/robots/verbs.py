"""Verbs of robots on mechanisms and systems: workspace, fastest motions, transmissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from linkwright.api import Names, UsageError, argument_types, call_explained, compiled_of

if TYPE_CHECKING:
    from linkwright.api import Mechanism, State, System
    from linkwright.rings.robots.time_optimal.result import TimeOptimalMotion
    from linkwright.rings.robots.transmission.maps import Transmission
    from linkwright.rings.robots.workspace import Workspace, WorkspaceModes


class MechanismVerbs:
    """Fastest motions and maps of a robot."""

    def time_optimal(
        self: Mechanism,
        path: Mapping[str, Any],
        limits: Mapping[str, Any],
        *,
        drives: Names | None = None,
        law: Literal["fastest", "least energy", "quintic", "septic", "s-curve"] = "fastest",
        span: tuple[float, float] = (0.0, 1.0),
        steps: int = 400,
        duration: float | str | None = None,
        pause: float | str = 0.0,
    ) -> TimeOptimalMotion:
        """Compute the fastest motion along a path from rest to rest within limits.

        The motion stops at corners of the path. `lw.control.polyline` rounds them.

        Parameters
        ----------
        path : mapping
            Functions of s from 0 to 1 (`span`) by the name of a point, joint or cylinder, as in `follow`. Timing has no meaning.
        limits : mapping
            Limit by name: a largest value of a channel or pattern ('*.torque=1.5 N m'), or a range ('A.torque=-1 N m..2 N m'). Channels are
            A.torque, A.force, A.v, A.a, P.speed, P.a, C.load, C.on.rocker, "rms A.torque" (heat over the motion and `pause`), and with
            smooth laws A.jerk.
        drives : sequence of str, optional
            Drives: as many as degrees of freedom (default: the model's).
        law : str, default "fastest"
            Law of the motion along the path.
        span : tuple of float
            First and last value of s.
        steps : int, default 400
            Number of equal steps: intervals of the path.
        duration : float or str, optional
            Duration of the motion: of the law 'least energy'.
        pause : float or str, default 0
            Duration of a rest after the motion, for limits of heat.

        Returns
        -------
        TimeOptimalMotion
            Motion in time, with the limit that decides at each place. `ok` is True if no limit is exceeded.

        Raises
        ------
        LinkwrightError
            If a name is not known, the path leaves the workspace, or no motion keeps a limit.

        Examples
        --------
        >>> m = lw.load("five-bar")
        >>> path = {"left_rod.C": lw.control.polyline([["60 mm", "240 mm"], ["140 mm", "220 mm"]])}
        >>> found = m.time_optimal(path, {"*.torque": "1.5 N m"}, steps=48)
        >>> found.ok
        True
        """
        from linkwright.rings.robots.time_optimal import time_optimal

        return time_optimal(self.system, path, limits, drives, law=law, span=span, steps=steps, duration=duration, pause=pause)

    def workspace(
        self: Mechanism,
        over: Any,
        what: Any = None,
        *,
        orientations: Mapping[str, Any] | None = None,
        at: Mapping[str, Any] | None = None,
        drives: Names | None = None,
        start: State | None = None,
        modes: Literal["start", "all"] = "start",
        limits: Mapping[str, Any] | None = None,
        stiffness: Any = None,
        speeds: Any = None,
        efforts: Any = None,
        payload: float | str | None = None,
    ) -> Workspace | WorkspaceModes:
        """Compute reach, singularities and measures over poses of a robot, or channels at rest over positions of drives.

        Parameters
        ----------
        over : mapping, sequence of str or str
            Axes by name with their ranges, {"platform.x": "-0.5..1.3 m / 100"}, names whose ranges are found, or a body or point. Names of
            drives give channels at rest over their strokes.
        what : str or sequence of str, optional
            Measures: dexterity, condition, stiffness, speed, acceleration, efforts, reach ... (default: all that the options allow). Over
            drives the names of channels.
        orientations : mapping, optional
            Orientation as a range, of which any value may hold: 'platform.angle=-180..180 deg / 36'. The result has no measures.
        at : mapping, optional
            Pose coordinate that is fixed: 'platform.angle=20 deg' (default: as in the start).
        drives : sequence of str, optional
            Drives: as many as degrees of freedom (default: the model's).
        start : State, optional
            State whose working mode and fixed coordinates count, in place of the start.
        modes : str, default "start"
            Working modes: of the start, or all.
        limits : mapping, optional
            Limit by name: a range of a joint or cylinder, 'leg1=-0.1..0.1 m' (default: the model's stops).
        stiffness : float, str or mapping, optional
            Stiffness of the drives: one value for all, or NAME=VALUE of each.
        speeds : float, str or mapping, optional
            Largest speeds of the drives: one value for all, or NAME=VALUE of each.
        efforts : float, str or mapping, optional
            Largest torques or forces of the drives: one value for all, or NAME=VALUE of each.
        payload : float or str, optional
            Mass at the origin of the body, or at the point ('5 kg').

        Returns
        -------
        Workspace or WorkspaceModes
            Measures over the grid, NaN out of reach, with singularities of type I and II as located curves (surfaces of a volume).

        Raises
        ------
        LinkwrightError
            If a name, a range or a measure is not understood.

        Examples
        --------
        >>> a = lw.load("3-rrr").workspace({"platform.x": "0.3..0.5 m / 3", "platform.y": "0.2..0.4 m / 3"}, "reach")
        >>> a.reach.shape
        (3, 3)
        """
        return self.system.workspace(
            over, what, orientations=orientations, at=at, drives=drives, start=start, modes=modes, limits=limits,
            stiffness=stiffness, speeds=speeds, efforts=efforts, payload=payload,
        )  # fmt: skip


class SystemVerbs:
    """Maps of a system over poses, drives and motors."""

    def workspace(
        self: System,
        over: Any,
        what: str | Sequence[str] | None = None,
        *,
        orientations: Mapping[str, Any] | None = None,
        at: Mapping[str, Any] | None = None,
        drives: Names | None = None,
        start: State | None = None,
        modes: str = "start",
        limits: Mapping[str, Any] | None = None,
        stiffness: Any = None,
        speeds: Any = None,
        efforts: Any = None,
        payload: float | str | None = None,
    ) -> Workspace | WorkspaceModes:
        """Compute reach, singularities and measures over poses of a robot, or channels at rest over positions of drives.

        `m.workspace` explains the parameters with examples.

        Parameters
        ----------
        over : mapping, sequence of str or str
            Axes by name with their ranges, names whose ranges are found, a body, a point or drives.
        what : str or sequence of str, optional
            Measures, or over drives names of channels (default: all that the options allow).
        orientations : mapping, optional
            Orientation as a range, of which any value may hold.
        at : mapping, optional
            Pose coordinates that are fixed.
        drives : sequence of str, optional
            Drives: as many as degrees of freedom (default: the model's).
        start : State, optional
            State whose working mode and fixed coordinates count.
        modes : str, default "start"
            Working modes: "start" or "all".
        limits : mapping, optional
            Ranges of joints and cylinders by name.
        stiffness : float, str or mapping, optional
            Stiffness of the drives.
        speeds : float, str or mapping, optional
            Largest speeds of the drives.
        efforts : float, str or mapping, optional
            Largest torques or forces of the drives.
        payload : float or str, optional
            Mass at the origin of the body, or at the point.

        Returns
        -------
        Workspace or WorkspaceModes
            Measures over the grid, NaN out of reach.

        Examples
        --------
        >>> found = lw.compile("wiper").workspace({"A": "0..90 deg / 4"}, "A.torque")
        >>> found["A.torque"].shape
        (4,)
        """
        from linkwright.rings.robots.workspace import reach_in_any, workspace
        from linkwright.rings.robots.workspace.drive_space_map import drive_map, over_drives

        shared: dict[str, Any] = {"at": at, "drives": drives, "start": start, "modes": modes, "limits": limits}
        more: dict[str, Any] = {"stiffness": stiffness, "speeds": speeds, "efforts": efforts, "payload": payload}
        if orientations is not None:
            unfit = next((name for name, value in (("what", what), *more.items()) if value is not None), "")
            if unfit:
                why = f"{unfit} belongs to maps of one orientation, but orientations gives the reach in any of several."
                raise UsageError(f"{why} Leave one out.", name=unfit)
            asked = compiled_of(self), self.mobility.freedoms, over, orientations
            return reach_in_any(*asked, at=at, drives=drives, start=start, modes=modes, limits=limits)
        measures, options = "all" if what is None else what, {**shared, **more}
        if over_drives(self.description, over):
            return drive_map(self, measures, over, {name: x for name, x in options.items() if x is not None})
        return call_explained(workspace, "workspace")(compiled_of(self), self.mobility.freedoms, measures, over, **options)

    def transmission(self: System, motors: Names, joints: Names, range: argument_types.Named = None) -> Transmission:
        """Return the series-parallel map between motors and joints: positions, Jacobians, torques, inertia. range: pairs by joint."""
        from linkwright.rings.robots.transmission import transmission

        return transmission(self, motors, joints, range)

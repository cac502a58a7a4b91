"""Verbs of robots on mechanisms and systems: workspace, fastest motions, transmissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from linkwright.api import Names, argument_types

if TYPE_CHECKING:
    from linkwright.api import Mechanism, State, System
    from linkwright.rings.robots.optimal.predictive import PredictiveController
    from linkwright.rings.robots.optimal.result import OptimalMotion
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

    def optimal(
        self: Mechanism,
        goal: Literal["least time", "least effort", "least energy"] = "least time",
        to: Mapping[str, Any] | State | None = None,
        *,
        start: Mapping[str, Any] | State | None = None,
        duration: float | str | None = None,
        phases: Sequence[Mapping[str, Any]] | None = None,
        limits: Mapping[str, Any] | None = None,
        drives: Names | None = None,
        coordinates: Names | None = None,
        periodic: bool | Mapping[str, Any] = False,
        steps: int = 40,
        guess: Any = None,
        tolerance: float = 1e-6,
        progress: Any = None,
    ) -> OptimalMotion:
        """Compute the optimal motion between two states, or over a period, within limits.

        Parameters
        ----------
        goal : str, default "least time"
            Quantity to minimize: time, effort (integral of the squares of the efforts, as shares of their limits), or energy (work that
            the drives put in, without recovery).
        to : mapping or State, optional
            Value or range at the end: 'A=90 deg', 'A.v=0..2 rad/s', 'tip.P.x=300 mm'. Speeds that are not named are zero, 'A.v=free' is
            any.
        start : mapping or State, optional
            Value at the start: 'A=30 deg', 'A.v=1 rad/s' (default: the start of the model).
        duration : float or str, optional
            Duration of the motion (or its range, '0.5..2 s'). Least effort and least energy need it.
        phases : sequence of mapping, optional
            Phases in order with the contacts that are held in each: {'hold': 'foot', 'duration': '0.1..0.3 s'}. Both may be left out.
        limits : mapping, optional
            Limit by name: a largest value of a channel or pattern ('*.torque=1.5 N m'), or a range ('A=-90..90 deg'). Channels are
            efforts, speeds, positions, pin loads and any other with derivatives.
        drives : sequence of str, optional
            Drives: as many as degrees of freedom, or fewer (default: the model's).
        coordinates : sequence of str, optional
            Independent joints or cylinders in which the motion is computed (default: chosen, drives first).
        periodic : bool or mapping, default False
            The end is the start. A mapping has what coordinates advance in a period ('A=360 deg'), 'free', or the
            coordinate whose start it ends in, of a mirrored gait: 'left=right'.
        steps : int, default 40
            Number of equal steps: intervals of the first mesh.
        guess : Trajectory or OptimalMotion, optional
            Motion near which the search begins.
        tolerance : float, default 1e-6
            Largest error between nodes, in radians or characteristic lengths.
        progress : callable, optional
            Function that gets a sentence now and then.

        Returns
        -------
        OptimalMotion
            Motion in time with the evidence: conditions of optimality, error between nodes, use of every limit. `replay()` simulates it.

        Raises
        ------
        LinkwrightError
            If a name or unit is not understood, or no motion meets the limits.

        Examples
        --------
        >>> f = lw.load("five-bar").optimal("least effort", to={"A": "100 deg", "E": "60 deg"}, duration="0.5 s", steps=12)
        >>> round(f.time, 3)
        0.5
        """
        from linkwright.rings.robots.optimal import optimal

        return optimal(
            self.system, goal, to, start=start, duration=duration, phases=phases, limits=limits, drives=drives, coordinates=coordinates,
            periodic=periodic, steps=steps, guess=guess, tolerance=tolerance, progress=progress,
        )  # fmt: skip

    def predictive(
        self: Mechanism,
        limits: Mapping[str, Any],
        *,
        steps: int = 20,
        step: float | str = "1 ms",
        weights: Mapping[str, float] | None = None,
        start: Mapping[str, Any] | State | None = None,
        drives: Names | None = None,
        coordinates: Names | None = None,
    ) -> PredictiveController:
        """Make a model predictive controller, which runs in Python and exports itself as C99.

        Parameters
        ----------
        limits : mapping
            Limit by name of the efforts of all drives: '*.torque=1.5 N m'.
        steps : int, default 20
            Number of equal steps: the horizon.
        step : float or str, default "1 ms"
            Duration of a step of the horizon.
        weights : mapping, optional
            Weight in SI by coordinate ("A"), speed ("A.v") or effort ("A.torque") of the squared distance from the reference.
        start : mapping or State, optional
            Position from which the loops are followed (default: the start of the model).
        drives : sequence of str, optional
            Drives: as many as degrees of freedom, or fewer (default: the model's).
        coordinates : sequence of str, optional
            Independent joints or cylinders that are measured (default: chosen, drives first).

        Returns
        -------
        PredictiveController
            `tick(position, speed, reference)` gives the efforts of a sample, `save("controller.c")` writes C.

        Raises
        ------
        LinkwrightError
            If a name or unit is not understood, or the effort of a drive has no limit.

        Examples
        --------
        >>> controller = lw.load("five-bar").predictive({"*.torque": "1.5 N m"})
        >>> sorted(controller.c("arm"))
        ['arm.c', 'arm.h']
        """
        from linkwright.rings.robots.optimal.predictive import predictive

        return predictive(
            self.system, limits, steps=steps, step=step, weights=weights, start=start, drives=drives, coordinates=coordinates
        )

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
        from linkwright.rings.robots.workspace import workspace

        return workspace(
            self.system, over, what, orientations=orientations, at=at, drives=drives, start=start, modes=modes, limits=limits,
            stiffness=stiffness, speeds=speeds, efforts=efforts, payload=payload,
        )  # fmt: skip


class SystemVerbs:
    """The map between motors and joints."""

    def transmission(self: System, motors: Names, joints: Names, range: argument_types.Named = None) -> Transmission:
        """Return the series-parallel map between motors and joints: positions, Jacobians, torques, inertia. range: pairs by joint."""
        from linkwright.rings.robots.transmission import transmission

        return transmission(self, motors, joints, range)

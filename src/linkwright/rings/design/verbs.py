"""Verbs of the designer on mechanisms and motions: what is there, how good it is, and what would be better."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from linkwright.properties import cached_property
from linkwright.results.trajectory import with_mechanism

if TYPE_CHECKING:
    from linkwright.api import Mechanism, Trajectory, check_results, goals
    from linkwright.rings.design.bearing_loads import Bearings
    from linkwright.rings.design.belts import BeltTable
    from linkwright.rings.design.cams import CamDesign
    from linkwright.rings.design.catalog import Catalog
    from linkwright.rings.design.control_report import ControlReport
    from linkwright.rings.design.cycle_loads import CycleLoads
    from linkwright.rings.design.cylinders import CylinderTable
    from linkwright.rings.design.drive_duty import Efforts
    from linkwright.rings.design.drive_sizing import DriveSizing
    from linkwright.rings.design.flywheel import Flywheel
    from linkwright.rings.design.holding_range import HoldingRange
    from linkwright.rings.design.load_cases import LoadCases
    from linkwright.rings.design.lost_motion import LostMotion
    from linkwright.rings.design.motor_choice import MotorChoices
    from linkwright.rings.design.optimization.balancing import Balanced
    from linkwright.rings.design.optimization.pareto_front import ParetoFront
    from linkwright.rings.design.optimization.requirements import Requirements
    from linkwright.rings.design.optimization.result import OptimizationResult
    from linkwright.rings.design.studies.study import Study
    from linkwright.rings.design.studies.tolerances import ToleranceAnalysis
    from linkwright.rings.design.summary import Summary
    from linkwright.rings.design.topology_view import TopologyView
    from linkwright.rings.design.velocity_plan import VelocityPlan

    OneGoal = str | Callable[..., Any] | Mapping[str, float]


def study_of_folder(path: str | os.PathLike[str]) -> Study:
    """Return the study of a folder, for `lw.load_result`."""
    from linkwright.rings.design.studies.request import opened

    return opened(path)


class MechanismVerbs:
    """Verbs of a designer on a mechanism."""

    @cached_property
    def topology(self: Mechanism) -> TopologyView:
        """Return loops, cuts, subsystems, solve order and mobility."""
        from linkwright.rings.design.topology_view import TopologyView

        return TopologyView(self.system)

    def info(self: Mechanism) -> Summary:
        """Summarize degrees of freedom, reach, swing of the links and transmission.

        Returns
        -------
        Summary
            Facts with their text: `freedoms`, `motion`, `swings`, `transmission_angles`, `strokes`, `mass`, `notes` and more.

        Raises
        ------
        LinkwrightError
            If the model cannot be assembled.

        Examples
        --------
        >>> s = lw.load("wiper").info()
        >>> s.freedoms, s.motion
        (1, 'full turn')
        """
        from linkwright.rings.design.summary import summarize

        return summarize(self.system)

    def check(
        self: Mechanism,
        require: str | goals.Requirement | Sequence[str | goals.Requirement] = (),
        *,
        drive: str | None = None,
        start: float | str | None = None,
        stop: float | str | None = None,
        run: float | str | None = None,
        remedy_time: float | str = 5.0,
    ) -> check_results.Checks:
        """Check the model stage by stage, with a remedy for what failed; `lw.check` does the same from a file.

        Parameters
        ----------
        require : str, Requirement or sequence
            Requirements on the motion: "C.transmission_angle > 40 deg", "full turn".
        drive : str, optional
            Drive of the cycle (default: the first drive of the model).
        start : float or str, optional
            Position at which the drive begins. By default the whole cycle is looked at.
        stop : float or str, optional
            Position at which the drive ends.
        run : float or str, optional
            Duration of a run that is checked in place of a cycle.
        remedy_time : float or str, default 5.0
            Time for the search of remedies. 0 searches for none.

        Returns
        -------
        Checks
            Verdict of each stage with its text, its place in the file, value, limit and remedies.

        Examples
        --------
        >>> lw.load("wiper").check("C.transmission_angle > 25 deg").verdict
        'passed'
        """
        from linkwright.rings.design.model_check import check

        return check(self, require, drive=drive, start=start, stop=stop, run=run, remedy_time=remedy_time)

    def balance(
        self: Mechanism,
        *,
        weights: Mapping[str, float] | None = None,
        counterweights: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
        bounds: Mapping[str, Mapping[str, Any]] | None = None,
        steps: int = 72,
        about: Any = None,
        weight: bool = False,
        drive: str | None = None,
        speed: Any = None,
    ) -> Balanced:
        """Find counterweights or redistributed masses that lower shaking force, shaking moment and drive torque over a cycle.

        Parameters
        ----------
        weights : mapping, optional
            Weight of each goal: {"force": 1, "moment": 0.2}.
        counterweights : sequence of str or mapping, optional
            Bodies that may get a counterweight, or limits for each: `mass`, `radius`, `at`. By default, if there are no `bounds`, all
            bodies that turn on ground.
        bounds : mapping, optional
            Changes of bodies: `mass` (least, most), `com` (how far along each axis), `inertia` (least, most factor).
        steps : int, default 72
            Steps of the cycle.
        about : point, optional
            Point of the shaking moment.
        weight : bool, default False
            True to include gravity in the shaking force.
        drive : str, optional
            Drive of the cycle.
        speed : float or str, optional
            Speed of the drive.

        Returns
        -------
        Balanced
            The mechanism found, with its goals before and after.

        Examples
        --------
        >>> found = lw.load("wiper").balance(steps=24, counterweights=["crank"])
        >>> [x.body for x in found.counterweights]
        ['crank']
        """
        from linkwright.rings.design.optimization.balancing import balance

        options = {"weights": weights, "counterweights": counterweights, "bounds": bounds, "steps": steps, "about": about}
        return balance(self, **options, weight=weight, drive=drive, speed=speed)

    @overload
    def optimize(
        self: Mechanism, goal: OneGoal, vary: Any, require: Any = ..., case: Any = ..., *,
        search: Any = ..., count: int | None = ..., starts: int = ..., seed: int = ..., points: int = ..., enough: Any = ...,
        solver: str = ..., threads: int | None = ..., progress: Any = ..., within: Any = ...,
    ) -> OptimizationResult: ...  # fmt: skip
    @overload
    def optimize(
        self: Mechanism, goal: Sequence[Any], vary: Any, require: Any = ..., case: Any = ..., *,
        search: Any = ..., count: int | None = ..., starts: int = ..., seed: int = ..., points: int = ..., enough: Any = ...,
        solver: str = ..., threads: int | None = ..., progress: Any = ..., within: Any = ...,
    ) -> OptimizationResult | ParetoFront: ...  # fmt: skip
    def optimize(
        self: Mechanism,
        goal: Any,
        vary: Any,
        require: Any = (),
        case: Any = "cycle",
        *,
        search: Literal["sobol", "de", "cma", "nsga2", "none"] | None = None,
        count: int | None = None,
        starts: int = 8,
        seed: int = 0,
        points: int = 15,
        enough: Any = None,
        solver: str = "slsqp",
        threads: int | None = None,
        progress: Any = None,
        within: float | str | None = None,
    ) -> OptimizationResult | ParetoFront:
        """Search for the parameters of the model that serve a goal best.

        Candidates over the whole bounds are computed first. Local searches with exact gradients improve the best of them.

        Parameters
        ----------
        goal : str, callable or sequence
            Goal: "min rms A.torque", "min max C.load + 0.1 * range A.torque", "max min C.transmission_angle", a function of the result.
            A list of goals gives a Pareto front.
        vary : mapping or sequence of str
            Numbers by name with their bounds: "180..260 mm", "+- 20 mm", "+- 10 %". A list names numbers with bounds in the file.
        require : str, Requirement or sequence
            Requirements: "C.transmission_angle > 40 deg", "range guide < 1 mm while 100..180 deg", "coupler.P within 0..300 x 0..200 mm",
            "full turn".
        case : str or case, default "cycle"
            Motion that is measured, as in `lw.study`.
        search : str, optional
            Method that chooses candidates over the bounds (default sobol).
        count : int, optional
            Number of designs: candidates over the bounds (default 2048, or 64 if they are computed one by one).
        starts : int, default 8
            Number of local searches, of which the first begins at the file's design.
        seed : int, default 0
            Random seed.
        points : int, default 15
            Number of designs of a Pareto front.
        enough : float or str, optional
            Value of the goal at which the search ends ("0.2 mm").
        solver : str, default "slsqp"
            Local solver: "slsqp", "trust-constr" or "ipopt".
        threads : int, optional
            Number of cores to use (default: all).
        progress : bool or callable, optional
            False writes no lines to stderr. A function is called instead.
        within : float or str, optional
            Time after which the search ends with the best design so far ('2 min', '90 s').

        Returns
        -------
        OptimizationResult or ParetoFront
            The best design with its numbers, goals and requirements before and after, or for several goals the front.

        Raises
        ------
        LinkwrightError
            If a goal, a requirement or a number is not understood, before the search.

        Examples
        --------
        >>> m = lw.load("four-bar")
        >>> best = m.optimize("max min C.transmission_angle", {"L2": "0.8..1.2 m"}, case=lw.Cycle(steps=24), count=8, starts=1)
        >>> best.feasible
        True
        """
        from linkwright.rings.design.optimization.run import optimize

        options = {"search": search, "count": count, "starts": starts, "seed": seed, "points": points, "enough": enough}
        more = {"solver": solver, "threads": threads, "progress": progress, "within": within}
        return optimize(self.description, goal, vary, require, case, **options, **more)

    def tolerances(
        self: Mechanism,
        vary: Mapping[str, Any] | Sequence[str] | str | None,
        measure: Any,
        *,
        limits: Any = None,
        method: str | None = None,
        count: int = 4096,
        seed: int = 0,
        case: Any = "cycle",
        **options: Any,
    ) -> ToleranceAnalysis:
        """Compute the effect of tolerances on a measure, and which number matters most.

        Exact derivatives give the linear estimate: standard deviation, worst case and ranked contributions. Designs are drawn
        from the tolerances as well, because they show where the measure is not linear.

        Parameters
        ----------
        vary : mapping, sequence of str, str or None
            Tolerances by names or patterns, {"*.length": "+- 0.1 mm", "rod.mass": "2 %"}. Names without tolerances, ["L1", "*.mass"],
            have derivatives only. None is every mass, center, inertia, joint point and rod.
        measure : str, Measure, sequence or mapping
            Measures as in `lw.study`: "range guide", "peak A.torque", or functions of the result by name.
        limits : pair or mapping, optional
            Two values, None for an open end, ("99.8 mm", "100.2 mm"); pairs by measure if there are several.
        method : str, optional
            "linear" computes no designs, "sobol" (default), "latin" and "random" draw `count` of them, "corners" takes all
            combinations of the ends of at most 20 tolerances. Names without tolerances have "linear" only.
        count : int, default 4096
            Number of designs that are drawn.
        seed : int, default 0
            Random seed.
        case : str or case, default "cycle"
            Motion that is measured, as in `lw.study`.
        **options : Any
            Options of `lw.study` for the designs: folder, executor, threads, progress, traces, thinned.

        Returns
        -------
        ToleranceAnalysis
            One result for each measure. `study` has the designs.

        Raises
        ------
        LinkwrightError
            If a name, a tolerance or a measure is not understood, or no derivative exists.

        Examples
        --------
        >>> m = lw.load("four-bar")
        >>> t = m.tolerances({"L1": "0.1 mm", "L3": "0.1 mm"}, "range rocker.angle", method="linear", case=lw.Cycle(steps=24))
        >>> [c.name for c in t["range rocker.angle"].contributions]
        ['L1', 'L3']
        """
        from linkwright.rings.design.studies.tolerances import tolerances

        how = {"limits": limits, "method": method, "count": count, "seed": seed}
        return tolerances(self, vary, measure, case, **how, options=options)

    def holding_range(
        self: Mechanism, drive: str | None = None, *, steps: int = 72, start: float | str | None = None, stop: float | str | None = None
    ) -> HoldingRange:
        """Compute the positions in which dry friction holds the mechanism, and the torques or forces of a drive within which it rests.

        Friction of every joint may take any value within its bound, `mu` times load (times radius in a hinge) plus `coulomb`. The ends of
        the range are exact at every position, without the smoothing that inverse dynamics and simulation use.

        Parameters
        ----------
        drive : str, optional
            Joint or cylinder that is driven while other drives hold still. By default the first drive of the model.
        steps : int, default 72
            Number of equal steps. The result has one position more.
        start : float or str, optional
            Position at which the drive begins ("30 deg", "800 mm"). By default the start position of the model.
        stop : float or str, optional
            Position at which the drive ends. By default it makes a full turn, or covers its travel.

        Returns
        -------
        HoldingRange
            Least and largest torque or force at every position, the stretches that stay put with none, self-locking, and what the
            friction of each joint adds; a table.

        Raises
        ------
        LinkwrightError
            If the model has no dry friction or no masses, or a degree of freedom has no drive.

        Examples
        --------
        >>> h = lw.load("flap").holding_range(steps=12)
        >>> np.degrees([h.stays[0].start, h.stays[0].stop]).round(1)
        array([58.8, 77.4])
        """
        from linkwright.rings.design.holding_range import holding_range

        return holding_range(self, drive, steps=steps, start=start, stop=stop)

    def lost_motion(
        self: Mechanism,
        output: str,
        drive: str | None = None,
        *,
        steps: int = 72,
        start: float | str | None = None,
        stop: float | str | None = None,
    ) -> LostMotion:
        """Compute how far an output moves within all plays while the drives hold, at every position of a cycle.

        Plays are the `clearance` of pins and sliders and the `play` of gears and couplings. The cycle is the one with ideal joints. The
        lost motion is of first order in the plays, its derivatives are exact, and every play adds its worst case.

        Parameters
        ----------
        output : str
            Channel of an angle or a length: "D", "rocker.angle", "ram.P.x".
        drive : str, optional
            Joint or cylinder that is driven while other drives hold still. By default the first drive of the model.
        steps : int, default 72
            Number of equal steps. The result has one position more.
        start : float or str, optional
            Position at which the drive begins ("30 deg", "800 mm"). By default the start position of the model.
        stop : float or str, optional
            Position at which the drive ends. By default it makes a full turn, or moves to the end of its travel and back.

        Returns
        -------
        LostMotion
            Lost motion to each side at every position and the contribution of each play, as a table.

        Raises
        ------
        LinkwrightError
            If the model has no play, or redundant constraints tie a play to others.
        """
        from linkwright.rings.design.lost_motion import lost_motion

        return lost_motion(self, output, drive, steps=steps, start=start, stop=stop)

    def cam(self: Mechanism, name: str | None = None, *, motion: Any = None, steps: int = 1440) -> CamDesign:
        """Return a cam: profile (`steps` samples), pressure angle, undercutting, and over a `motion` contact force and lift-off."""
        from linkwright.rings.design.cams import designed

        return designed(self.system, name, motion=motion, steps=steps)


class TrajectoryVerbs:
    """Tables and sizes of a motion."""

    def cylinders(self: Trajectory) -> CylinderTable:
        """Return the figures of every cylinder: lengths, stroke, push, pull, and pressures, flows and volumes of its sides."""
        from linkwright.rings.design.cylinders import cylinders

        with_mechanism(self, "cylinders")
        return cylinders(self)

    def belts(self: Trajectory) -> BeltTable:
        """Return the tension of every span of belts, chains and ropes over the samples, with their slack stretches, as a table."""
        from linkwright.rings.design.belts import belts

        with_mechanism(self, "belts")
        return belts(self)

    def bearings(self: Trajectory) -> Bearings:
        """Return per pin and body: largest, mean and equivalent load, swing, mean speed, unique or not."""
        from linkwright.rings.design.bearing_loads import bearings

        with_mechanism(self, "bearings")
        return bearings(self)

    def drive_duty(self: Trajectory) -> Efforts:
        """Return extremes, RMS, power and work of the torque or force of every drive over the cycle, as a table."""
        from linkwright.rings.design.drive_duty import efforts

        with_mechanism(self, "drive_duty")
        return efforts(self)

    def cycle_loads(self: Trajectory) -> CycleLoads:
        """Return drive torques and forces, bearing loads and shaking force of the cycle, with notes on jumps of loads, as a table."""
        from linkwright.rings.design.cycle_loads import cycle_loads

        with_mechanism(self, "cycle_loads")
        return cycle_loads(self)

    def velocity_plan(self: Trajectory, at: Any = None) -> VelocityPlan:
        """Return velocities, accelerations and instant centers of a planar mechanism at a position of the leading drive ("40 deg") or a
        time ("0.2 s"); a table. The first sample is the default."""
        from linkwright.rings.design.velocity_plan import velocity_plan

        return velocity_plan(self, at)

    def requirements(self: Trajectory, wanted: str | goals.Requirement | Sequence[str | goals.Requirement]) -> Requirements:
        """Compare this motion with requirements such as "C.transmission_angle > 40 deg"; The table's `ok` is True if all are met."""
        from linkwright.rings.design.optimization.requirements import requirements

        return requirements(self, wanted)

    def load_cases(self: Trajectory, bodies: str | Sequence[str] | None = None) -> LoadCases:
        """Return load cases of links for strength analysis: points, forces and moments in body axes at the worst instants of each link
        (`bodies`: names, default all); `.save("cases.csv")`."""
        from linkwright.rings.design.load_cases import load_cases

        with_mechanism(self, "load_cases")
        return load_cases(self, bodies)

    def drive_sizing(
        self: Trajectory,
        drive: str | None = None,
        *,
        motor: Mapping[str, Any] | Any = None,
        gear_ratio: Any = None,
        efficiency: Any = None,
        lead: Any = None,
    ) -> DriveSizing:
        """Return peak and RMS torque, speed, power and, for a motor and gear ratio, current, voltage and heat over the cycle."""
        from linkwright.rings.design.drive_sizing import drive_sizing

        with_mechanism(self, "drive_sizing")
        return drive_sizing(self, drive, motor=motor, gear_ratio=gear_ratio, efficiency=efficiency, lead=lead)

    def choose_motor(
        self: Trajectory,
        catalog: Catalog | str | os.PathLike[str] | None = None,
        *,
        drive: str | None = None,
        sort: str = "heat",
        gearbox: bool | float | Sequence[float] = True,
        efficiency: Any = None,
        lead: Any = None,
        top: int = 10,
    ) -> MotorChoices:
        """Return suitable motors and gearboxes of a catalog for this motion, the best first.

        Parameters
        ----------
        catalog : Catalog or path, optional
            Catalog of motors, a CSV file (default: typical data).
        drive : str, optional
            Drive that the motor moves (default: the only one).
        sort : str, default "heat"
            Order of the motors: "heat", "mass" or "price".
        gearbox : bool, float or sequence of float, default True
            True to choose the ratio, False for none, or the ratios that are tried.
        efficiency : float, optional
            Efficiency of the gearbox.
        lead : float or str, optional
            Travel per revolution of a spindle.
        top : int, default 10
            Number of motors that are returned.

        Returns
        -------
        MotorChoices
            Suitable motors with their gearboxes.

        Examples
        --------
        >>> len(lw.load("wiper").cycle(steps=36).choose_motor(top=3))
        3
        """
        from linkwright.rings.design.motor_choice import choose_motor

        with_mechanism(self, "choose_motor")
        return choose_motor(self, catalog, drive=drive, sort=sort, gearbox=gearbox, efficiency=efficiency, lead=lead, top=top)

    def flywheel(self: Trajectory, fluctuation: float, *, drive: str | None = None, speed: Any = None) -> Flywheel:
        """Return the flywheel inertia at the drive that holds the speed fluctuation over the cycle below a share of its mean."""
        from linkwright.rings.design.flywheel import flywheel

        with_mechanism(self, "flywheel")
        return flywheel(self, fluctuation, drive=drive, speed=speed)

    def control(self: Trajectory, between: Any = None) -> ControlReport:
        """Return measures of a controlled run: norms of the efforts, tracking and force errors. It prints as tables."""
        from linkwright.rings.design.control_report import control_report

        with_mechanism(self, "control")
        return control_report(self, between)

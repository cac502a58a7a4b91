"""Mechanism: what `lw.load` returns, and the verbs of a designer.

    m = lw.load("wiper")        shipped name, path or dict
    m.info()                    degrees of freedom, reach, swing, transmission
    c = m.cycle()                one cycle: c["rocker.angle", "deg"], c["coupler.P"]
    m.topology                  loops, cuts, subsystems, solve order; prints as tables
    m.show(); m.report("wiper.html")   the page that computes by itself; the same with sheets for print

Each verb is a line or two over the stages below; `lw.compile(m)` gives the researcher's `System`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError, call_explained, calls_explained, counted
from linkwright.errors.arguments import Names
from linkwright.mechanics import formulations
from linkwright.model import file as modelfile
from linkwright.model.description import Description
from linkwright.results.trajectory import Trajectory
from linkwright.rings.studio.presenter import Designer
from linkwright.system import load as loading
from linkwright.system import runs
from linkwright.system.motions import Motions
from linkwright.system.system import System
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.motion.joint_limits import Limits
    from linkwright.results.state import State
    from linkwright.rings.design.cams import CamDesign
    from linkwright.rings.design.studies.study import Study
    from linkwright.rings.design.studies.tolerances import ToleranceAnalysis
    from linkwright.rings.design.summary import Summary
    from linkwright.rings.design.topology_view import TopologyView
    from linkwright.rings.exchange.import_report import ImportReport
    from linkwright.rings.robots.time_optimal.result import TimeOptimalMotion
    from linkwright.rings.synthesis.answers import SynthesisResult
    from linkwright.system.cycles import Trajectories


def _a_run(run: Any) -> Any:
    """Check the subject of a page or report: a turn, a run, or None."""
    if run is not None and not isinstance(run, Trajectory):
        raise UsageError(f"run is what m.cycle(), m.simulate(...) or lw.load_result(...) gives, not {type(run).__name__}.")
    return run


@calls_explained
class Mechanism:
    """A mechanism as described, with everything computed from it on demand."""

    def __init__(self, description: Description):
        self.description = description

    def __repr__(self) -> str:
        d = self.description
        return f"<Mechanism {d.name!r}: {counted(len(d.moving), 'moving body')}, {counted(len(d.joints), 'joint')}>"

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def imported(self) -> ImportReport | None:
        """Return the report of the import of a file of another program; None of a model file or dict."""
        return getattr(self.description.document, "origin", None)

    @cached_property
    def system(self) -> System:
        """Return the default System of this mechanism."""
        return System(self.description, presenter=Designer())

    def with_(self, **changes: Any) -> Mechanism:
        """Return the same model with other parameters, gravity, cuts or start: `m.with_(L1="0.4 m", gravity=0)`.

        Every number that has a name may change: `m.with_(**{"C.x": 0.91, "crank.mass": "0.4 kg", "start.A": "30 deg"})`, also "drive.A".
        """
        return Mechanism(modelfile.reread(self.description, **changes))

    @cached_property
    def topology(self) -> TopologyView:
        """Return loops, cuts, subsystems, solve order and mobility."""
        from linkwright.rings.design.topology_view import TopologyView

        return TopologyView(self.system)

    def info(self) -> Summary:
        """Return degrees of freedom, reach, swing and transmission as a Summary."""
        from linkwright.rings.design.summary import summarize

        return summarize(self.system)

    def cycle(
        self, drive: str | None = None, *, steps: int = 360, speed: Any = None, duration: Any = None, start: Any = None, stop: Any = None
    ) -> Trajectory:
        """Return one cycle of the drive, or its way at constant speed from `start` to `stop` ("800 mm"): motion of everything, by name."""
        return self.system.cycle(drive, steps=steps, speed=speed, duration=duration, start=start, stop=stop)

    def cycles(
        self,
        designs: Mapping[str, Any],
        drive: str | None = None,
        *,
        steps: int = 360, speed: Any = None, duration: Any = None, start: Any = None, stop: Any = None,
        read: Names | None = None, derivatives: Names | None = None, threads: int | None = None,
    ) -> Trajectories:  # fmt: skip
        """Return one cycle of many designs: `t = m.cycles({"L1": [0.28, 0.30], "crank.mass": 0.4})`; `t["A.torque"]` is designs by samples.

        `designs` has arrays in SI by the names of parameters (of the file, or as `lw.compile(..., free=...)` names them), which broadcast
        against each other. Every design is as `m.with_(...).cycle()` gives it; one that cannot be assembled, or does not turn fully where
        the model does, is NaN, with `t.ok` False and the reason in `t.why`. `read` names the channels that are computed and stored; without
        it the motions are stored, and every channel can be read. `derivatives` names numbers of the model, among those that vary or not:
        `t.derivatives["A.torque", "L1"]` is exact, at a fixed motion of the drives.
        """
        from linkwright.system.cycles import cycles

        asked = {"drive": drive, "steps": steps, "speed": speed, "duration": duration, "start": start, "stop": stop}
        return cycles(self.system, designs, asked, read, threads, derivatives)

    def follow(self, motion: Mapping[str, Any], t: Any = None, **options: Any) -> Trajectory:
        """Return states and loads along a motion of drives, points or bodies: functions of t, references, or arrays over t.

        Options: duration ("1.2 s"), steps, drives; see `lw.System.follow`.
        """
        return self.system.follow(motion, t, **options)

    def time_optimal(self, path: Mapping[str, Any], limits: Mapping[str, Any], *, drives: Any = None, **options: Any) -> TimeOptimalMotion:
        """Return the fastest motion along a path from rest to rest: `m.time_optimal({"tip.P": f}, {"*.torque": "1.5 N m"})`.

        path: as in `follow`, functions of s from 0 to 1 (`span`); timing has no meaning. At corners it stops; `lw.control.polyline` rounds.
        limits: largest values (of efforts and accelerations also pairs) by channels or patterns: A.torque, A.force, A.v, A.a, P.speed, P.a,
        C.load, C.on.rocker, "rms A.torque" (heat over the motion and `pause`), A.jerk (smooth laws).
        law: "fastest", "least energy" (of a `duration`), "quintic", "septic", "s-curve". steps: intervals of the path, 400.
        """
        return Motions(self.system.core).time_optimal(self.system, path, limits, drives, options)

    def map(self, what: Any, over: Any, **options: Any) -> Any:
        """Return channels at rest over positions of drives, or measures of a robot over poses: see `lw.System.map`."""
        return self.system.map(what, over, **options)

    def simulate(self, duration: Any, *, drive: Mapping[str, Any] | None = None, start: Any = None, **options: Any) -> Trajectory:
        """Simulate for `duration` seconds, driven as the file says (or as `drive` does; {} lets it move freely).

        With `control=lw.control.projected(...)` the controller has its drives, and the file's other drives act as written.
        It starts at the file's `start:`, prescribed motions at their own position and speed, or at `start`: a State, or positions and
        speeds by name in place of the file's ({"A": 0.3, "A.v": "45 rpm", "base.vx": 1.0}). Options: `lw.System.simulate`.
        """
        if isinstance(start, Mapping):
            return self.with_(start=dict(start)).simulate(duration, drive=drive, **options)
        chosen = runs.chosen_drives(self.system, drive, options)
        st = self.system.starting(chosen) if start is None else start
        return self.system.simulate(st, duration, drive=chosen, **options)

    def settle(self, hold: Names = ()) -> State:
        """Return the static equilibrium under weight, springs and loads, nearest downhill from the start."""
        return self.system.settle(hold=hold)

    def balance(self, **options: Any) -> Any:
        """Return counterweights or redistributed masses that lower shaking force, shaking moment and drive torque over a cycle."""
        from linkwright.rings.design.optimization.balancing import balance

        return call_explained(balance)(self, **options)

    def optimize(
        self,
        goal: Any,
        vary: Any,
        subject_to: Any = (),
        of: Any = "cycle",
        *,
        search: str | None = None,
        n: int | None = None,
        starts: int = 8,
        seed: int = 0, points: int = 15, enough: Any = None, solver: str = "slsqp",
        threads: int | None = None,
        progress: Any = None, within: Any = None,
    ) -> Any:
        """Return the design that serves a goal best: `m.optimize("min rms A.torque", {"rod": "180..260 mm"}, ["C.transmission > 40 deg"])`.

        goal: "min rms A.torque", "min max C.load + 0.1 * range A.torque", "max min C.transmission", a function of the result; a list of
        goals gives a Pareto front of `points` designs.
        vary: numbers by name with their bounds: "180..260 mm", "+- 20 mm", "+- 10 %", or a list of names with bounds in the file.
        subject_to: "C.transmission > 40 deg", "range guide < 1 mm while 100..180 deg", "coupler.P within 0..300 x 0..200 mm", "full turn".
        of: as in `lw.study`. search: "sobol", "de", "cma", "nsga2" or "none", with n candidates, then local searches with exact gradients
        (solver: "slsqp", "trust-constr", "ipopt") from `starts` of them, of which the first is the file's own design; they end early at a
        value that is `enough` ("0.2 mm"). within: time after which the search ends with the best design so far ("2 min", or seconds).
        progress: False writes no lines to stderr; a function is called instead.
        """
        from linkwright.rings.design.optimization.run import optimize

        options = {"search": search, "n": n, "starts": starts, "seed": seed, "points": points, "enough": enough}
        more = {"solver": solver, "threads": threads, "progress": progress, "within": within}
        return optimize(self.description, goal, vary, subject_to, of, Mechanism, Designer(), **options, **more)

    def sensitivity(self, quantity: str, **options: Any) -> Any:
        """Return the exact derivatives of a peak torque or load by dimensions and masses, and the scatter from tolerances."""
        from linkwright.rings.design.sensitivity import sensitivity

        return call_explained(sensitivity)(self, quantity, **options)

    def tolerances(
        self, vary: Mapping[str, Any], measure: Any, *, limits: Any = None, n: int = 4096, seed: int = 0, of: Any = "cycle", **options: Any
    ) -> ToleranceAnalysis:
        """Return what tolerances do: `m.tolerances({"*.length": "+- 0.1 mm"}, "range guide", limits=("99.8 mm", "100.2 mm"))`.

        `n` designs are drawn (a Sobol sequence), beside the linear estimate from exact derivatives; contributions are ranked. `limits` are
        two values, or a dict of such pairs by measure; names, measures and further options are those of `lw.study`.
        """
        from linkwright.rings.design.studies.tolerances import half_widths, holding, tolerances

        held = type(self)(holding(self.description, self.system, of))
        return tolerances(study(held, half_widths(vary), measure, of, plan="sobol", n=n, seed=seed, **options), limits)

    def cam(self, name: str | None = None, **options: Any) -> CamDesign:
        """Return a cam: profile (`steps` samples), pressure angle, undercutting; contact force and lift-off over a `turn`."""
        from linkwright.rings.design.cams import designed

        return call_explained(designed)(self.system, name, **options)

    def limits(self, joint: str) -> Limits:
        """Return the positions of a joint between which it can move from the start, up to its dead centers and stops."""
        return self.system.limits(joint)

    def picture(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Draw a still picture (matplotlib Figure, or with `path` a file)."""
        from linkwright.rings.studio import picture

        return call_explained(picture.draw, "picture")(self, path, **options)

    def animate(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write an animated GIF of one turn."""
        from linkwright.rings.studio import animation

        return call_explained(animation.animate)(self, path, **options)

    def plot(self, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Plot the mechanism or one turn (matplotlib Figure, or a file): "topology", "gicm", or names of channels."""
        from linkwright.rings.studio.plots import plot_of

        return plot_of(self, what, path, **options)

    def show(self, path: str | os.PathLike[str] | None = None, *, run: Trajectory | None = None, browser: bool = True) -> Path:
        """Open the page of this mechanism in the browser (`run`: with that run in it); with `path` it is written there."""
        from linkwright.rings.studio.page import show

        return show(self, path, run=_a_run(run), browser=browser)

    def page(self, path: str | os.PathLike[str], *, run: Trajectory | None = None, steps: int | None = None) -> Path:
        """Write the page: one HTML file that computes by itself and needs nothing else; `steps` of its cycle, 360 if not given."""
        from linkwright.rings.studio.page import write

        return write(self, path, run=_a_run(run), steps=steps)

    def report(
        self, path: str | os.PathLike[str], run: Trajectory | None = None, motor: Any = None, *, force: bool = False, **content: Any
    ) -> Path:
        """Write the report, as a page with sheets for print or as .pdf: title block, mobility, dimensions, motion, drive, motor, bearing
        loads, variants, checks, terms.

        `run` is reported on in place of a turn (of `steps` steps, 360 if not given); `motor` is a dict as for
        `c.drive_sizing(motor=...)`, in place of the file's own; `tolerances` (of `m.tolerances`) get a part of their own; `curves` are
        channels to show, `measures` texts of single numbers; `variants` are other mechanisms by name, side by side with this one. Texts of
        the title block are title, number, revision, author, company, date; those not given here are taken from `report:` in the file.
        """
        from linkwright.rings.studio.report import report

        return report(self, path, run=_a_run(run), motor=motor, **content)

    def widget(self, run: Trajectory | None = None, *, height: int = 720) -> Any:
        """Return the page as a notebook widget (needs anywidget): `w.values` and `w.picked` follow the page and move it, `w.mechanism` is
        the mechanism with its numbers. `run` is played in it."""
        from linkwright.rings.studio.widget import widget

        return widget(self, run=_a_run(run), height=height)

    def _repr_html_(self) -> str:
        """Notebooks: the page itself."""
        from linkwright.rings.studio.notebook import snippet

        return snippet(self)

    def export(self, path: str | os.PathLike[str], *, format: str | None = None, **options: Any) -> Path:
        """Write the mechanism for another program; the ending decides the format: .fmu, .c (and .h), .js, .hpp (ROS 2), .xml (MJCF),
        .urdf, .sdf, .dxf, .svg, .csv. With motors and joints C, scripts and ROS 2 have the transmission alone, MJCF, URDF and SDF its tree.

        FMU: version ("3.0", "2.0"), kind ("both", "me", "cs"), drive (as in `simulate`), inputs ({"A": "torque"}; kinds torque, force,
        voltage, position, speed, motion, and wrench of a body; default: drives of constant value), outputs (channels or patterns),
        parameters (names or patterns; default: every named number), platforms (default: this machine; "all"; [] for sources only), start
        (a State), name. C: precision ("double", "single"), kernels, free, name. Script: kernels, free, name. MJCF: timestep, floor.
        URDF: dialect ("plain", "urdf+", "constraint", "loop_joint", "gepetto", "onshape", "two-parents"), zero, floor. SDF: alone, floor.
        DXF and SVG, drawings to scale: positions (over the turn), trace (points), width, bore, or the profile of a cam. CSV: cam, steps.
        What the format cannot hold is a LossWarning, whose `lost` lists it.
        """
        from linkwright.rings.exchange import formats

        return formats.export(self, path, format, options)[0]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the model, normalized to SI, to a new YAML file."""
        return modelfile.save(self.description, path)

    def rewrite(self, path: str | os.PathLike[str], *, digits: int | None = None) -> Path:
        """Write the model file as it was read, with the numbers of this mechanism in place: comments, units, order and line ends stay.

        `m.with_(**{"C.x": 0.91}).rewrite("better.yaml")`; `digits` rounds the new numbers. Raise UsageError, and write nothing, where a
        number has no place of its own in the file: it says which numbers it follows from.
        """
        return modelfile.rewrite(self.description, path, digits=digits)


@call_explained
def load(model: str | os.PathLike[str] | Mapping[str, Any], *, folders: Any = None, **changes: Any) -> Mechanism:
    """Return the mechanism of a shipped name, a path or a dict; keywords change parameters, gravity, cuts or start.

    Files of other programs (URDF, SDF, MJCF; sketches in DXF and SVG) are converted; `m.imported` reports what was inferred and dropped.
    `folders` are those in which their meshes and included files may be read; `base="free"` lets the root link of a URDF float,
    `drives=["hip"]` names drives; of sketches `pins`, `links` and `ground` name layers.
    """
    from linkwright.rings.exchange import file_kinds

    return Mechanism(file_kinds.description(model, folders, **changes))


@call_explained
def load_result(path: str | os.PathLike[str]) -> Any:
    """Return a turn or run saved with `.save("run.npz")` or `.save("run.parquet")`: the same numbers, with its mechanism behind it; of a
    folder the study in it."""
    if os.path.isdir(path):
        from linkwright.rings.design.studies.request import opened

        return opened(path, Mechanism, Designer())
    return loading.run(path, Designer())


@call_explained
def study(
    mechanism: Mechanism | str | os.PathLike[str],
    vary: Any,
    measure: Any,
    of: Any = "cycle",
    *,
    plan: str | None = None,
    n: int | None = None,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    executor: Any = None,
    threads: int | None = None,
    progress: Any = None,
    traces: Sequence[str] = (),
    thinned: int = 100,
) -> Study:
    """Compute many designs of a mechanism and measure each: `lw.study(m, {"rod": "180..260 mm / 20"}, "max A.torque")`.

    vary: numbers by name (parameters, "crank.mass", "start.A", "drive.A", "control.P"), each a list, "180..260 mm / 20", "200 +- 0.1 mm",
    "normal(200 mm, 0.1 mm)" or a distribution of scipy.stats; or a pandas frame in SI.
    measure: "max A.torque", "range guide while 100..180 deg", "time when tool.T.x > 0.2 m", or functions of the result, in a dict by name.
    of: "cycle", "settle", lw.Cycle, lw.Path, lw.Run, lw.Equilibrium(...), or a function of a mechanism.
    plan: "grid", "one at a time", "sobol", "latin", "random" or "saltelli", the last four with n rows.
    folder: where rows are stored as they are done; the same call continues a study that was interrupted.
    executor: a concurrent.futures.Executor, or that of a Dask client; without one this process computes, on all cores.
    traces: channels of which `thinned` samples a row are stored, too.
    """
    from linkwright.rings.design.studies.request import study as studied

    m = mechanism if isinstance(mechanism, Mechanism) else load(mechanism)
    options = {"folder": folder, "executor": executor, "threads": threads, "progress": progress, "traces": traces, "thinned": thinned}
    return studied(m.description, vary, measure, of, Mechanism, plan_name=plan, n=n, seed=seed, presenter=Designer(), **options)


@call_explained
def synthesize(
    *,
    path: Any = None,
    function: Any = None,
    poses: Any = None,
    dwell: Any = None,
    straight: Any = None,
    dead_centers: Any = None,
    kind: str | None = None,
    bounds: Mapping[str, Any] | None = None,
    unit: str = "mm",
    n: int = 5,
    seed: int = 0,
    **options: Any,
) -> SynthesisResult:
    """Find linkages from the motion that is wanted: `lw.synthesize(path=points).best.mechanism`. Best first, defects named, one task.

    path: points (n, 2), complex numbers or a CSV file, passed by a point of the coupler, nearest in the sense of least squares.
        timing: None (any, in order), "equal" steps of a turn, "120 deg" in equal steps, or one crank angle for each point.
        closed: True for a whole curve (default: where the last point is the first one). direction of the crank: "counterclockwise",
        "clockwise", "either". types: "crank-rocker", "drag link".
        hold: {"crank pivot": (x, y), "ground angle": .., "crank offset": .. (from the ground link) or "crank angle": .. (from x)}.
        exact=True: all four-bars through exactly nine points.
    function: y of x ("log10(x)", a callable, samples), with x_range, input_range and output_range of crank and output.
    poses: rows (x, y, angle) through which the coupler is guided.
    dead_centers: (swing, time ratio), or {"stroke": .., "time_ratio": ..}.
    dwell: a dict, {"stroke": "100 mm", "dwell_angle": "80 deg"}.
    straight: the length of the line, or a dict with it.
    kind: "four-bar" (default; of poses every kind), "slider-crank", "watt I", "watt II", "stephenson I", "stephenson II",
        "stephenson III", "six-bar", "geared five-bar".
    bounds: {"links": (least, most), "crank": .., "ratio": 10, "pivots": box, "point": .., "transmission": "40 deg"}.
    Numbers are in `unit` and rad, texts have their units; `n` answers; the same seed gives the same answers.
    """
    from linkwright.rings.synthesis.requests import SynthesisRequest, synthesized

    tasks = {"path": path, "function": function, "poses": poses, "dwell": dwell, "straight": straight, "dead_centers": dead_centers}
    return synthesized(SynthesisRequest(tasks, kind, unit, n, seed, bounds, options), load, _linkages_drawn)


def _linkages_drawn(found: SynthesisResult, path: Any = None, **options: Any) -> Any:
    from linkwright.rings.studio.synthesis_plots import plot

    return call_explained(plot)(found, path, **options)


@call_explained
def compile(
    mechanism: Mechanism | Description | str,
    formulation: Any = "auto",
    *,
    cuts: Sequence[str] | None = None,
    length: Any = None,
    free: Sequence[str] = (),
    engine: str = "native",
) -> System:
    """Return the System of a mechanism: states, equations and kernels.

    `formulation` is what forward dynamics uses; `cuts` overrides which joints are taken out of the tree; `length` is the
    characteristic length that makes rotations and translations comparable (ranks, projections, least norms). `free` names
    numbers that stay inputs of the kernels ("L1", "crank.mass"; patterns such as "*.mass"), so that sweeps and optimizers
    need no new code; everything else is folded. `engine="python"` interprets kernels instead of compiling them.
    """
    if isinstance(mechanism, str):
        mechanism = load(mechanism)
    if not isinstance(mechanism, (Mechanism, Description)):
        raise UsageError(f"compile takes a mechanism (lw.load(...)), not {type(mechanism).__name__}.")
    description = mechanism.description if isinstance(mechanism, Mechanism) else mechanism
    if isinstance(free, str):
        free = [free]
    plain = cuts is None and length is None and formulations.registered(formulation) is None and not free and engine == "native"
    if plain and isinstance(mechanism, Mechanism):
        return mechanism.system
    kappa = None if length is None else modelfile.quantity(length, KINDS["length"])
    if kappa is not None and not kappa > 0.0:
        raise UsageError(f"the characteristic length must be positive, not {length}.")
    return System(description, cuts, kappa, formulation, free, engine, presenter=Designer())

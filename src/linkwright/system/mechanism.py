"""Mechanism: what `lw.load` returns, and the verbs of a designer.

    m = lw.load("wiper")        built-in name, path or dict
    m.info()                    degrees of freedom, reach, swing, transmission
    c = m.cycle()                one cycle: c["rocker.angle", "deg"], c["coupler.P"]
    m.topology                  loops, cuts, subsystems, solve order; prints as tables
    m.show(); m.report("wiper.html")   the page that computes by itself; the same with sheets for print

Each verb is a line or two over the stages below; those of design, pictures, robots and other programs come from the rings
(`linkwright.verbs`). `lw.compile(m)` gives the researcher's `System`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from linkwright.errors import UsageError, call_explained, calls_explained, counted
from linkwright.errors.arguments import Names, Numbers
from linkwright.mechanics import formulations
from linkwright.model import file as modelfile
from linkwright.model.description import Description
from linkwright.motion.cycle import cycle_of
from linkwright.motion.equilibrium import settled
from linkwright.motion.joint_limits import limits_of
from linkwright.properties import cached_property
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.options import RunOptions, takes_options
from linkwright.system import load as loading
from linkwright.system.compiled import compiled_of
from linkwright.system.system import System
from linkwright.text.units import KINDS
from linkwright.verbs import ring_function

if TYPE_CHECKING:
    from linkwright.motion.joint_limits import Limits
    from linkwright.results.channels.channel_list import ChannelList
    from linkwright.results.state import State
    from linkwright.results.trajectories import Trajectories
    from linkwright.rings.design.studies.study import Study
    from linkwright.rings.verbs import MechanismVerbs
else:
    from linkwright.verbs import RingVerbs as MechanismVerbs

OF_THE_FILE = (
    "by joint or cylinder, torque, speed, position or voltage, each of lw.drives. {} lets everything move freely. By default the drives of "
    "the model file, except drives that `control` takes"
)


@calls_explained
class Mechanism(MechanismVerbs):
    """A mechanism as described, with everything computed from it on demand."""

    def __init__(self, description: Description):
        self.description = description

    def __repr__(self) -> str:
        d = self.description
        return f"<Mechanism {d.name!r}: {counted(len(d.moving), 'moving body')}, {counted(len(d.joints), 'joint')}>"

    @property
    def name(self) -> str:
        return self.description.name

    @cached_property
    def system(self) -> System:
        """Return the default System of this mechanism."""
        return System(self.description)

    @cached_property
    def _ideal(self) -> Mechanism:
        """The mechanism of a cycle, in which joints have no clearance."""
        ideal = self.description.ideal
        return self if ideal is self.description else Mechanism(ideal)

    @property
    def channels(self) -> ChannelList:
        """Return the names that a cycle has. They print as a table with units and meanings, and `m.channels("torque")` filters them."""
        return self._ideal.system.channels

    def with_(self, **changes: Any) -> Mechanism:
        """Return the same model with other parameters, gravity, cuts or start: `m.with_(L1="0.4 m", gravity=0)`.

        Every number that has a name may change: `m.with_(**{"C.x": 0.91, "crank.mass": "0.4 kg", "start.A": "30 deg"})`, also "drive.A".
        """
        return Mechanism(modelfile.reread(self.description, **changes))

    def cycle(
        self,
        drive: str | None = None,
        *,
        steps: int = 360,
        speed: float | str | None = None,
        duration: float | str | None = None,
        start: float | str | None = None,
        stop: float | str | None = None,
    ) -> Trajectory:
        """Move a drive through one cycle, or at constant speed from `start` to `stop`.

        A drive that cannot turn fully swings inside its reach.

        Parameters
        ----------
        drive : str, optional
            Joint or cylinder that is driven while other drives hold still. By default the first drive of the model.
        steps : int, default 360
            Number of equal steps. The result has one sample more.
        speed : float or str, optional
            Speed of the drive: "30 rpm", "0.1 m/s". By default the speed in the model file. A plain number is in rad/s or m/s.
        duration : float or str, optional
            Duration of the motion: of one cycle, in place of a speed ("2 s").
        start : float or str, optional
            Position at which the drive begins ("30 deg", "800 mm"). By default the start position of the model.
        stop : float or str, optional
            Position at which the drive ends. By default it makes a full turn, or moves to the end of its travel and back.

        Returns
        -------
        Trajectory
            Motion of everything by name, with loads if the model has masses. Its `notes` report what was noticed.

        Raises
        ------
        LinkwrightError
            If a name is not known, or the drive cannot reach a position.

        Examples
        --------
        >>> c = lw.load("wiper").cycle(steps=4)
        >>> c["A", "deg"].round(1)
        array([ 60., 150., 240., 330., 420.])
        """
        system = self._ideal.system
        core = compiled_of(system)
        c, names = cycle_of(core, drive, steps, speed, duration, start, stop), core.drive_names
        return system._driven(c, names if not c.drive or c.drive in names else [c.drive, *names])

    def cycles(
        self,
        designs: Mapping[str, Any],
        drive: str | None = None,
        *,
        steps: int = 360, speed: Any = None, duration: Any = None, start: Any = None, stop: Any = None,
        read: Names | None = None, derivatives: Names | None = None, threads: int | None = None,
    ) -> Trajectories:  # fmt: skip
        """Compute one cycle of many designs.

        Every design is as `m.with_(...).cycle()` gives it. If a design cannot be assembled, or does not turn fully where the model does,
        its samples are NaN, `t.ok` is False and `t.why` has the reason.

        Parameters
        ----------
        designs : mapping
            Arrays in SI by the names of parameters, of the file or as `lw.compile(parameters=...)` names them. They broadcast against
            each other.
        drive : str, optional
            Joint or cylinder that is driven (default: the first drive of the model).
        steps : int, default 360
            Number of equal steps.
        speed : float or str, optional
            Speed of the drive (default: the speed in the model file).
        duration : float or str, optional
            Duration of the cycle, in place of a speed.
        start : float or str, optional
            Position at which the drive begins.
        stop : float or str, optional
            Position at which the drive ends.
        read : sequence of str, optional
            Channels that are computed and stored. Without it motions are stored, and every channel can be read.
        derivatives : sequence of str, optional
            Parameters by which channels are differentiated exactly, at a fixed motion of the drives: `t.derivatives["A.torque", "L1"]`.
        threads : int, optional
            Number of threads (default: all cores).

        Returns
        -------
        Trajectories
            The cycles: `t["A.torque"]` is designs by samples.

        Examples
        --------
        >>> t = lw.load("wiper").cycles({"crank.mass": [0.2, 0.4]}, steps=36)
        >>> t["A.torque"].shape
        (2, 37)
        """
        from linkwright.system.cycles import cycles

        asked = {"drive": drive, "steps": steps, "speed": speed, "duration": duration, "start": start, "stop": stop}
        return cycles(self._ideal.system, designs, asked, read, threads, derivatives)

    def follow(
        self,
        motion: Mapping[str, Any],
        t: Numbers | None = None,
        *,
        duration: float | str = 1.0,
        steps: int = 100,
        drives: Names | None = None,
    ) -> Trajectory:
        """Compute states and loads along a motion of drives, points or bodies.

        Parameters
        ----------
        motion : Mapping[str, Any]
            By name of a drive, a point or a body: a function of t, a reference of a controller ("5 mm * sin(3 rad/s * t)", or one for each
            component of a point), a place to stay at, or one sample for each time.
        t : array of float, optional
            Times in seconds. By default `steps` equal steps in `duration`.
        duration : float or str, default 1.0
            Seconds, or a text with a unit ("1.2 s").
        steps : int, default 100
            Number of steps.
        drives : str or sequence of str, optional
            Joints and cylinders whose torques and forces carry the motion. By default the drives of the model.

        Returns
        -------
        Trajectory
            Motion, drive torques and forces, and loads. Its `notes` report jumps of the motion.

        Examples
        --------
        >>> c = lw.load("wiper").follow({"A": lambda t: 1.0 + 0.5 * t**2}, duration="1 s", steps=4)
        >>> c["A.v"].round(3)
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
        """
        from linkwright.motion import following  # here: it loads the controllers

        core = compiled_of(self.system)
        chosen, times = core.named_drives(drives), following.sample_times(t, duration, steps)
        speeds = partial(following.drive_speeds, core, drives=chosen)
        c = following.follow(core.assembler, core.start, motion, times, chosen, core.walking, speeds)
        return self.system._driven(c, chosen)

    @takes_options(RunOptions, drive=OF_THE_FILE)
    def simulate(
        self, duration: float | str, *, start: State | Mapping[str, Any] | None = None, **options: Unpack[RunOptions]
    ) -> Trajectory:
        """Simulate the motion in time, with the drives of the model file or others.

        Parameters
        ----------
        duration : float or str
            Seconds, or a text with a unit ("200 ms").
        start : State or Mapping[str, Any], optional
            A state, or positions and speeds by name: `{"A": 0.3, "A.v": "45 rpm", "base.vx": 1.0}`. By default the `start:` of the model
            file, with prescribed motions at their own position and speed.
        {options}

        Returns
        -------
        Trajectory
            Samples of the motion with channels, loads, notes and a certificate.

        Raises
        ------
        SimulationError
            If the run cannot continue. Its `run` is the trajectory up to there.

        Examples
        --------
        >>> run = lw.load("wiper").simulate("1 s", sample_interval="0.5 s")
        >>> run["A", "deg"].round(1)
        array([ 60., 195., 330.])
        """
        if isinstance(start, Mapping):
            return self.with_(start=dict(start)).simulate(duration, **options)
        from linkwright.simulation.run import chosen_drives

        options["drive"] = chosen_drives(compiled_of(self.system).described, options.get("drive"), options.get("control"))
        return self.system._simulated(start, duration, options)

    def settle(self, start: State | None = None, hold: Names = ()) -> State:
        """Find the static equilibrium under weight, springs and loads.

        Parameters
        ----------
        start : State, optional
            Start of the search, which moves downhill from there. By default the start of the model.
        hold : str or sequence of str, default ()
            Joints and cylinders that keep their positions.

        Returns
        -------
        State
            A position at rest.

        Examples
        --------
        >>> round(float(lw.load("wiper").settle()["A", "deg"]), 1)
        -107.8
        """
        return settled(compiled_of(self.system), start, hold)

    def limits(self, joint: str) -> Limits:
        """Find the positions of a joint between which it can move from the start, up to its dead centers and stops.

        The other drives hold still.
        """
        return limits_of(compiled_of(self.system), joint)

    def save(self, path: str | os.PathLike[str], *, digits: int | None = None, normalized: bool = False, force: bool = False) -> Path:
        """Write the model file with the parameters of this mechanism: `m.with_(**{"C.x": 0.91}).save("better.yaml")`.

        A model that was read from a model file keeps its text: comments, units, order and line ends stay, and `digits` rounds the new
        numbers. A model without a text (a dict, a file of another program) is written in SI, and so is every model with `normalized`.
        An existing file that Linkwright did not write, or that was edited since, is replaced only with `force`. Raise UsageError, and
        write nothing, if a number has no place of its own in the file: the message names the numbers that it follows from.
        """
        return modelfile.save(self.description, path, digits=digits, normalized=normalized, force=force)


def mechanism_of(system: System) -> Mechanism:
    """Return the Mechanism of a System with its cuts and parameters, for rings that compute on a System."""
    m = Mechanism(compiled_of(system).described)
    vars(m)["system"] = system
    return m


@call_explained
def load(model: str | os.PathLike[str] | Mapping[str, Any], *, folders: Any = None, **changes: Any) -> Mechanism:
    """Return the mechanism of a built-in name, a path or a dict. Keywords change parameters, gravity, cuts or start.

    Files of other programs (URDF, SDF, MJCF, and sketches in DXF and SVG) are converted. `m.imported` reports the assumptions and losses.
    `folders` are those in which their meshes and included files may be read. `base="free"` lets the root link of a URDF float,
    `drives=["hip"]` names drives. `contacts="ground"`, or a list such as
    `contacts=["foot", "finger with ball"]`, makes contacts of the collision shapes of a robot file.
    For sketches, `pins`, `links` and `ground` name layers.
    """
    if folders is None and not loading.of_other_program(model):
        return Mechanism(loading.description(model, **changes))
    read = ring_function("exchange", "description_of_file", "a file of another program")
    return Mechanism(read(model, folders, **changes))


@call_explained
def load_result(path: str | os.PathLike[str]) -> Trajectory | Study:
    """Return a saved cycle or run with its mechanism, or the study that a folder holds.

    The file comes from `.save("run.npz")` or `.save("run.parquet")`. The numbers are the same as before.
    """
    if os.path.isdir(path):
        return ring_function("design", "study_of_folder", "the folder of a study")(path)
    return loading.run(path)


@call_explained
def compile(
    mechanism: Mechanism | Description | str,
    formulation: Any = "auto",
    *,
    cuts: Sequence[str] | None = None,
    length: Any = None,
    parameters: Sequence[str] = (),
    engine: str = "native",
) -> System:
    """Return the System of a mechanism: states, equations and kernels.

    Parameters
    ----------
    mechanism : Mechanism, Description or str
        Mechanism, or the name or path of a model.
    formulation : str, default "auto"
        Formulation of forward dynamics.
    cuts : sequence of str, optional
        Joints that are taken out of the tree, in place of those chosen.
    length : float or str, optional
        Characteristic length that makes rotations and translations comparable (ranks, projections, least norms).
    parameters : str or sequence of str, default ()
        Parameters that stay inputs of the kernels ("L1", "crank.mass", or patterns such as "*.mass"), so that sweeps and optimizers need no
        new code. All others are folded into the code.
    engine : str, default "native"
        "python" interprets kernels instead of compiling them.

    Returns
    -------
    System
        States, equations and kernels of the mechanism.

    Examples
    --------
    >>> s = lw.compile("wiper", parameters=["*.mass"])
    >>> [p.name for p in s.parameters]
    ['crank.mass', 'coupler.mass', 'rocker.mass']
    """
    if isinstance(mechanism, str):
        mechanism = load(mechanism)
    if not isinstance(mechanism, (Mechanism, Description)):
        raise UsageError(f"compile takes a mechanism (lw.load(...)), not {type(mechanism).__name__}.", value=mechanism, name="compile")
    description = mechanism.description if isinstance(mechanism, Mechanism) else mechanism
    if isinstance(parameters, str):
        parameters = [parameters]
    plain = cuts is None and length is None and formulations.registered(formulation) is None and not parameters and engine == "native"
    if plain and isinstance(mechanism, Mechanism):
        return mechanism.system
    kappa = None if length is None else modelfile.quantity(length, KINDS["length"])
    if kappa is not None and not kappa > 0.0:
        raise UsageError(f"the characteristic length must be positive, not {length}.", value=length)
    return System(description, cuts, kappa, formulation, parameters, engine)

"""System: the researcher's face of a mechanism. States on the loops, and the terms of its equations.

Every method is a short call into the parts below; arrays are in the order of `names.q` and `names.v`,
SI and radians, `M a + h = tau + J' lam`, `J v + b = 0`, `J a + k = 0`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from linkwright.errors import SimulationError, UsageError, call_explained, calls_explained, counted
from linkwright.errors.arguments import Named, Names, Numbers
from linkwright.mechanics import formulations
from linkwright.mechanics.closing.mobility import Mobility
from linkwright.mechanics.constraints.loops import Closure
from linkwright.mechanics.dynamics import tree as tree_dynamics
from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.inverse import Loads, Method
from linkwright.mechanics.inverse.determinacy import Determinacy, determinacy
from linkwright.mechanics.kinematics.motion import locate, node_motion
from linkwright.model.description import Description
from linkwright.model.parameters import Parameter
from linkwright.motion.cycle import at_start
from linkwright.numerics.memory_and_threads import essentials
from linkwright.numerics.spatial import Pose
from linkwright.properties import cached_property
from linkwright.results.branches import Branches
from linkwright.results.forward_results import Acceleration, Crosscheck, GicmView, gicm_view
from linkwright.results.labeled_arrays import Labeled
from linkwright.results.records import CoordinateNames
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.options import RunOptions, options_of, takes_options
from linkwright.system import dynamics, states
from linkwright.system.compiled import Compiled, Derivatives
from linkwright.system.named_terms import NamedTerms, jacobian, named_terms
from linkwright.system.states import StateBatch

if TYPE_CHECKING:
    from linkwright.integrators import Method as Integrator
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels
    from linkwright.mechanics.kinematics.motion import Motion
    from linkwright.motion.controllability import Controllability
    from linkwright.results.channels.channel_list import ChannelList
    from linkwright.rings.verbs import SystemVerbs
    from linkwright.simulation.stepper import Stepper, Stepping
else:
    from linkwright.verbs import RingVerbs as SystemVerbs


@calls_explained
class System(SystemVerbs):
    """A mechanism ready to compute: tree, constants, constraints and forces."""

    parameters: tuple[Parameter, ...]  # those whose values are inputs of the code

    __getstate__ = essentials

    @partial(call_explained, name="System")
    def __init__(
        self,
        description: Description,
        cuts: Sequence[str] | None = None,
        length: float | None = None,
        formulation: Any = "auto",
        parameters: Sequence[str] = (),
        engine: str = "native",
    ):
        if formulation != "auto":
            formulations.registered(formulation)  # an unknown one is refused here
        self.formulation = formulation  # of forward(), unless a call names another
        self._core = core = Compiled(description, cuts, length, parameters, engine)
        self.description, self.parameters, self.engine, self.tree = core.description, core.parameters, core.engine, core.tree

    def __repr__(self) -> str:
        d, cuts = self.description, ", ".join(self.tree.cuts)
        sizes = f"{counted(len(d.moving), 'moving body')}, {self.tree.nv} speeds, {self.tree.nc} loop equations"
        return f"<System {d.name!r}: {sizes}, cuts: {cuts or 'none'}>"

    @cached_property
    def names(self) -> CoordinateNames:
        return CoordinateNames.of(self._core.skel)

    @property
    def channels(self) -> ChannelList:
        """Return the names that a cycle has. They print as a table with units and meanings, and `s.channels("torque")` filters them."""
        return self._driven(at_start(self._core), self._core.drive_names).channels

    @property
    def start(self) -> State:
        """Return the drawn position closed exactly, at the positions and speeds of `start:`."""
        return self._core.assembler.start

    def assemble(
        self, q: Named = None, v: Named = None, *, pose: Named = None, point: Named = None, guess: Mapping[str, Any] | State | None = None
    ) -> State:
        """Assemble the mechanism: close its loops with the given joints, body poses and points.

        Parameters
        ----------
        q, v : Mapping[str, Any], optional
            Positions and speeds by name of a joint ("A", "C.slide"), a cylinder ("lift": its length), or all coordinates of a joint as a
            list ("U"; of a free joint q = [qw, qx, qy, qz, x, y, z], v = [wx, wy, wz, x, y, z]). `v` may also name points.
        pose : Mapping[str, Any], optional
            By body: a Pose, (R, p), or in the plane (x, y, angle).
        point : Mapping[str, Any], optional
            By point ("coupler.P"): its position.
        guess : State or Mapping[str, Any], optional
            Start of the search, which decides the branch. By default the start of the model.

        Returns
        -------
        State
            Positions and velocities of all joints, on the loops.

        Raises
        ------
        AssemblyError
            If the loops do not close.

        Examples
        --------
        >>> st = lw.compile("wiper").assemble(q={"A": "90 deg"}, v={"A": "45 rpm"})
        >>> round(float(st["rocker.angle", "deg"]), 2)
        105.93
        """
        return states.assemble(self._core, q, v, pose, point, guess)

    def assemble_batch(self, q: Mapping[str, Any], v: Any = None, *, guess: Any = None, drives: Names | None = None) -> StateBatch:
        """Assemble many states from arrays of the positions of the drives.

        Parameters
        ----------
        q : Mapping[str, array]
            Positions of all drives by name, as arrays that broadcast against each other.
        v : Mapping[str, array], optional
            Speeds of the drives, zero by default.
        guess : State or Mapping[str, Any], optional
            Start of the search, which decides the branch. By default the start of the model.
        drives : str or sequence of str, optional
            Other joints and cylinders that determine the motion. By default the drives of the model.

        Returns
        -------
        StateBatch
            `batch[i]` is a State. States that do not exist are NaN, with False in `ok` and the reason in `why`.

        Examples
        --------
        >>> batch = lw.compile("wiper").assemble_batch({"A": [0.1, 0.2, 0.3]})
        >>> batch.ok
        array([ True,  True,  True])
        """
        return states.assembled(self._core, q, v, guess, drives)

    def branches(self, q: Mapping[str, Any] | None = None, *, most: int | None = None, tries: int = 400, method: str = "auto") -> Branches:
        """Find all assembly modes at given joint values.

        Parameters
        ----------
        q : Mapping[str, Any], optional
            Positions by joint. By default the drives at the start.
        most : int, optional
            Largest number of modes to look for.
        tries : int, default 400
            Number of starts of the method "starts".
        method : str, default "auto"
            "homotopy", which finds all modes, "starts" from random positions, or "auto".

        Returns
        -------
        Branches
            A state for each mode, the nearest to the start first, with the evidence for their number.

        Examples
        --------
        >>> found = lw.compile("wiper").branches({"A": "60 deg"})
        >>> len(found)
        2
        """
        return self._core.assembler.branches(q, most=most, tries=tries, method=method)

    def state(self, q: Numbers, v: Numbers | None = None) -> State:
        """Return a State from arrays, without closing the loops."""
        return self._core.state(q, v)

    def motion(self, st: State) -> Motion:
        return self._core.motion(st)

    def closure(self, st: State) -> Closure:
        return self._core.loops.at(st.q, st.v, st.t, st.references)

    def M(self, st: State) -> np.ndarray:
        """Return the mass matrix of the tree."""
        self.kernels.need_masses()
        return tree_dynamics.mass_matrix(self._core.skel, self.motion(st))

    def h(self, st: State) -> np.ndarray:
        """Return Coriolis and gravity efforts minus the efforts of springs, dampers and loads."""
        self.kernels.need_masses()
        return tree_dynamics.bias_force(self._core.skel, self.motion(st), self._core.applied(st))

    def pose(self, st: State, body: str) -> Pose:
        """X_WB of a body."""
        node = self._core.skel.node(body)
        X = node_motion(self._core.skel, self.motion(st), node)[0]
        return Pose(X.R, X.p + self._core.skel.origin(node))

    def point(self, st: State, name: str) -> np.ndarray:
        """Return the world position of a named point, `"coupler.P"`."""
        return locate(self._core.skel, self.motion(st), self._core.assembler.point_ref(name)).position

    def terms(self, st: State, wrench: Named = None, more: Sequence[tuple[int, Any]] = ()) -> Terms:
        """Return M, h, J, k and their blocks at a state, with the model's forces and given wrenches applied."""
        return dynamics.terms(self._core, st, wrench, more)

    def forward(
        self, st: State, tau: Numbers | Named = None, wrench: Named = None, *,
        formulation: Any = None, limit: str = "smooth", branch: Named = None,
    ) -> Acceleration:  # fmt: skip
        """Solve for accelerations and multipliers under torques, forces and wrenches.

        Parameters
        ----------
        st : State
            A state on the loops.
        tau : Mapping[str, Any] or array, optional
            Torques and forces by joint, cut or not, or an array in the order of `names.v`. Zero by default.
        wrench : Mapping[str, array], optional
            By body: [moment, force] at its origin in world axes.
        formulation : str or Formulation, optional
            "kkt", "slm", "sslm", "nullspace", "projection", "augmented" or an object. By default the formulation of `lw.compile`.
        limit : str, default "smooth"
            Rule at singular positions: "smooth" continues the motion, "drop" leaves out lost rows, as the papers do.
        branch : Mapping[str, Any], optional
            Velocities by joint that decide the next motion of a mechanism at rest in a singular position.

        Returns
        -------
        Acceleration
            Accelerations `a` and `["A"]`, multipliers `lam["C"]`, and the rank of the loops.

        Raises
        ------
        UsageError
            If positions or velocities of the state are not on the loops.

        Examples
        --------
        >>> s = lw.compile("wiper")
        >>> s.forward(s.start, {"A": "0.5 N m"}).a.shape
        (3,)
        """
        chosen = self.formulation if formulation is None else formulation
        return dynamics.forward(self._core, st, tau, wrench, chosen, limit, branch)

    def crosscheck(self, st: State, tau: Numbers | Named = None) -> Crosscheck:
        """Solve one state by every formulation: disagreement, residual, conditioning, time. Prints as a table."""
        return dynamics.crosscheck(self._core, st, tau)

    def gicm(self, st: State) -> GicmView:
        """Return the generalized inertia constraint matrix in blocks, with its interpretation."""
        return gicm_view(self.terms(st))

    def inverse(
        self, st: State, a: Numbers | Named = None, wrench: Named = None, *, drives: Names | None = None,
        method: str | Method = "subsystem", rated: Named = None, preload: Named = None, stiffness: Named = None,
        release: Mapping[str, Sequence[str]] | None = None,
    ) -> Loads:  # fmt: skip
        """Solve for the drive torques and forces and the reaction of every joint in a motion.

        Parameters
        ----------
        st : State
            A state on the loops.
        a : Mapping[str, Any] or array, optional
            Accelerations of drives, joints or points by name, which are completed on the loops, or all of them as an array, which is
            checked. By default the drives have constant speed.
        wrench : Mapping[str, array], optional
            By body: [moment, force] at its origin in world axes.
        drives : str or sequence of str, optional
            Joints and cylinders whose torques and forces carry the motion. By default the drives of the model.
        method : str or Method, default "subsystem"
            "subsystem" solves loop by loop, "system" all equations together, "traditional" body by body.
        rated : Mapping[str, Any], optional
            Torques and forces that cost the same, by drive. They weigh redundant drives.
        preload : Mapping[str, Any], optional
            Torques and forces that redundant drives hold against each other.
        stiffness : Mapping[str, Any], optional
            Stiffness by joint, which decides reactions that are not unique.
        release : Mapping[str, sequence of str], optional
            By joint: constrained directions that carry no load, to make reactions unique.

        Returns
        -------
        Loads
            `tau` by drive, reactions by joint, `on(pin, body)`, and notes on loads that are not unique.

        Examples
        --------
        >>> s = lw.compile("wiper")
        >>> loads = s.inverse(s.assemble(q={"A": "90 deg"}, v={"A": "45 rpm"}))
        >>> round(loads.tau["A"], 4)
        0.0052
        """
        options = {"rated": rated, "preload": preload, "stiffness": stiffness, "release": release}
        return dynamics.inverse(self._core, st, a, wrench, drives, method, options)

    def _solved_loads(self, st: State, a: Numbers, drives: Names) -> Loads:
        """Loads on floats, with the whole problem behind them: what tables of a motion take apart."""
        options = dict.fromkeys(("rated", "preload", "stiffness", "release"))
        return dynamics.loads_on_floats(self._core, st, a, None, drives, "subsystem", options)

    def _derivatives_of(self, c: Trajectory, by: Names, channel: str | None, at: Any) -> Any:
        if c.proof is None:
            if channel is not None:
                raise UsageError(
                    f"channel= is for simulated runs. For a cycle, c.derivatives(...)['{channel}', 'L1'] has every sample.", name=channel
                )
            from linkwright.motion.cycle_derivatives import turn_derivatives

            return turn_derivatives(self._core, c, by)
        if channel is not None:
            from linkwright.simulation.run_adjoint import run_gradient

            return run_gradient(self._core, c, by, channel, at)
        from linkwright.simulation.run_derivatives import run_derivatives

        return run_derivatives(self._core, c, by)

    def determinacy(
        self, st: State, a: Numbers | Named = None, wrench: Named = None, *, stiffness: Named = None,
        release: Mapping[str, Sequence[str]] | None = None, drives: Names | None = None,
        method: str | Method = "subsystem", rated: Named = None, preload: Named = None,
    ) -> Determinacy:  # fmt: skip
        """Return the statically determinate reactions, and the others by least norm, given stiffnesses and released rows.

        Parameters
        ----------
        st : State
            State with its velocities.
        a : array or mapping, optional
            Accelerations (default zero).
        wrench : mapping, optional
            By body, [moment; force] at its origin in world axes.
        stiffness : mapping, optional
            Stiffnesses of joints that share a load: adds the choice "stiffness".
        release : mapping, optional
            Reaction components that are zero, by joint: adds the choice "released".
        drives : sequence of str, optional
            Joints whose drive torques or forces are computed (default: the model's drives).
        method : str, default "subsystem"
            Method of inverse dynamics.
        rated : mapping, optional
            Rated torques or forces by drive, which weight redundant drives.
        preload : mapping, optional
            Preloads by joint or drive.

        Returns
        -------
        Determinacy
            Every reaction component, whether it is unique, and its value by each choice.

        Examples
        --------
        >>> s = lw.compile("wiper")
        >>> s.determinacy(s.start).loose
        []
        """
        given = {"least norm": {}, "stiffness": {"stiffness": stiffness}, "released": {"release": release}}
        asked = {name: more for name, more in given.items() if all(x is not None for x in more.values())}
        loads = {
            name: self.inverse(st, a, wrench, drives=drives, method=method, rated=rated, preload=preload, **more)
            for name, more in asked.items()
        }
        return determinacy(loads, self.description.planar)

    def mirror(self, st: State) -> State:
        """Return a state of the same mechanism on another spanning tree, in this tree's coordinates."""
        return dynamics.mirrored(self._core, st)

    @property
    def mobility(self) -> Mobility:
        """Return the degrees of freedom by numerical rank, idle ones and redundant constraints named."""
        return self._core.mobility

    def _driven(self, c: Trajectory, drives: Sequence[str]) -> Trajectory:
        """The motion with its drives, and a note on how efforts are chosen where these are redundant."""
        shared = dynamics.redundancy_notes(self._core, drives) if len(drives) > 1 else ()
        return replace(c, system=self, drives=tuple(drives), notes=(*c.notes, *shared))

    def jacobian(self, st: State, of: Names, wrt: Names = "drives") -> Labeled:
        """Return the Jacobian of a body (rows: angular velocity, then velocity of its origin), a point or any tasks of `named_terms`.

        In a plane a body has the rows (angle, x, y). Columns follow `wrt`: "drives", "independent" (base and drives), "base", "coordinates"
        (all of names.v), or names of joints and cylinders. Other independent velocities rest. `.rows` and `.columns` name them.
        """
        return jacobian(self._core, st, of, wrt)

    def named_terms(
        self, tasks: Names = (), by: Names = "independent", *, points: Mapping[str, Any] | None = None, contacts: Names = ()
    ) -> NamedTerms:
        """Return terms by name, `x = s.named_terms(["foot", "com"])(st)`, of one state, a trajectory or arrays (Q, V): `x.J`, `x.M` ...

        Parameters
        ----------
        tasks : str or sequence of str, default ()
            Bodies, points, their components, "com", or in another body's frame ("hand in trunk").
        by : str or sequence of str, default "independent"
            Columns, as `wrt` of `jacobian`.
        points : Mapping[str, tuple], optional
            Points that the model does not have: `{"heel": ("foot", [0, 0, -0.04])}`, in the frame of the body. They serve as tasks and
            contacts.
        contacts : str or sequence of str, default ()
            Points or contacts of the model: adds `x.Jc`, `x.Jc_rate` and `x.W`.

        Returns
        -------
        NamedTerms
            A function of the state. It has names, `cones(mu)`, `limits()` and `c("name")`.

        Examples
        --------
        >>> s = lw.compile("delta")
        >>> s.named_terms("platform.C", contacts="platform.P1")(s.start).Jc.shape
        (3, 3)
        """
        return named_terms(self._core, tasks, by, points, contacts)

    @takes_options(RunOptions)
    def simulate(self, st: State, duration: float | str, **options: Unpack[RunOptions]) -> Trajectory:
        """Simulate the mechanism from a state.

        Parameters
        ----------
        st : State
            Start, on the loops: `s.start` or `s.assemble(...)`.
        duration : float or str
            Seconds, or a text with a unit ("200 ms").
        {options}

        Returns
        -------
        Trajectory
            Samples of the motion with channels, loads, notes and a certificate. If you interrupt a run from the keyboard, it has the
            samples up to there.

        Raises
        ------
        SimulationError
            If the run cannot continue. Its `run` is the trajectory up to there.

        Examples
        --------
        >>> s = lw.compile("wiper")
        >>> run = s.simulate(s.assemble(v={"A": "45 rpm"}), 0.1, sample_interval="50 ms")
        >>> run.t
        array([0.  , 0.05, 0.1 ])
        """
        self._core.need_state(st)
        return self._simulated(st, duration, options)

    def _simulated(self, st: State | None, duration: Any, options: Mapping[str, Any]) -> Trajectory:
        """A run from a state, or from the start that its drives need."""
        from linkwright.simulation.run import simulate

        try:
            return self._own(simulate(self._core, st, duration, options_of(options)))
        except SimulationError as problem:  # the part computed so far has loads, too
            if problem.run is not None and problem.run.system is None:
                problem.run = self._own(problem.run)
            raise

    def _own(self, run: Trajectory) -> Trajectory:
        return replace(run, system=self, drives=tuple(run.settings["drive"]))

    @overload
    def step(
        self, st: State, tau: Numbers | Named = ..., dt: float | str = ..., *, substeps: int = ..., integrator: str | Integrator = ...,
        parameters: Named | Numbers = ...,
    ) -> State: ...  # fmt: skip
    @overload
    def step(
        self, st: tuple[np.ndarray, np.ndarray], tau: Numbers | Named = ..., dt: float | str = ..., *, substeps: int = ...,
        integrator: str | Integrator | None = ..., parameters: Named | Numbers = ...,
    ) -> tuple[np.ndarray, np.ndarray]: ...  # fmt: skip
    @overload
    def step(
        self, st: tuple[np.ndarray, np.ndarray, float], tau: Numbers | Named = ..., dt: float | str = ..., *, substeps: int = ...,
        integrator: str | Integrator | None = ..., parameters: Named | Numbers = ...,
    ) -> tuple[np.ndarray, np.ndarray, float]: ...  # fmt: skip
    def step(
        self, st: State | tuple[Any, ...], tau: Numbers | Named = None, dt: float | str = 1e-3, *, substeps: int = 1,
        integrator: str | Integrator | None = None, parameters: Named | Numbers = None,
    ) -> State | tuple[np.ndarray, np.ndarray] | tuple[np.ndarray, np.ndarray, float]:  # fmt: skip
        """Advance a state by one step under constant torques and forces.

        Parameters
        ----------
        st : State or tuple
            A State, or arrays (q, v) or (q, v, t).
        tau : Mapping[str, Any] or array, optional
            Torques and forces by joint, or an array in the order of `names.v`. Zero by default.
        dt : float or str, default 1e-3
            Time of the step, in seconds or with a unit ("1 ms").
        substeps : int, default 1
            Number of equal integration steps in `dt`.
        integrator : str or Method, optional
            "rk4", "midpoint" (order 2), or an explicit fixed-step Method of `linkwright.integrators`. By default "rk4", and "midpoint" if
            stops, slack ropes, play or contacts act.
        parameters : Mapping[str, Any] or array, optional
            Values of the parameters of `lw.compile(parameters=...)`.

        Returns
        -------
        State or tuple
            The next state, in the form of `st`.

        Examples
        --------
        >>> s = lw.compile("wiper")
        >>> st = s.step(s.assemble(q={"A": "90 deg"}, v={"A": "45 rpm"}), dt="1 ms")
        >>> round(float(st["A", "deg"]), 3)
        90.27
        """
        return self._stepping(st, tau, dt, substeps, integrator, parameters)

    @cached_property
    def _stepping(self) -> Stepping:
        from linkwright.simulation.stepper import Stepping

        return Stepping(self._core)

    def stepper(
        self,
        n: int,
        *,
        dt: float | str = 1e-3,
        substeps: int = 1,
        integrator: str | Integrator | None = None,
        start: State | None = None,
        parameters: Mapping[str, Any] | Numbers | None = None,
        threads: int | None = None,
    ) -> Stepper:
        """Make many copies of the mechanism that move step by step.

        Parameters
        ----------
        n : int
            Number of copies.
        dt : float or str, default 1e-3
            Time of one call of `env.step`, in seconds or with a unit ("1 ms").
        substeps : int, default 1
            Number of equal integration steps in `dt`.
        integrator : str or Method, optional
            "rk4", "midpoint" (order 2), or an explicit fixed-step Method of `linkwright.integrators`. By default "rk4", and "midpoint" if
            stops, slack ropes, play or contacts act.
        start : State, optional
            Start of all copies. By default the start of the model.
        parameters : Mapping[str, array] or array, optional
            Values of the parameters of `lw.compile(parameters=...)`, rows or arrays by name.
        threads : int, optional
            Number of threads, by default one per core.

        Returns
        -------
        Stepper
            `env.step(tau)` moves all copies. `env.q`, `env.v` and `env.ok` are arrays. `env.reset(where, q, v)` starts copies again.

        Examples
        --------
        >>> env = lw.compile("wiper").stepper(4, dt="1 ms")
        >>> env.step(np.zeros((4, 3)))
        >>> env.q.shape
        (4, 3)
        """
        options = {"dt": dt, "substeps": substeps, "integrator": integrator, "start": start, "parameters": parameters, "threads": threads}
        from linkwright.simulation.stepper import Stepper

        return call_explained(Stepper, "stepper")(self._core, n, **options)

    def _starting(self, drive: Mapping[str, Any]) -> State:
        """The start of a run: that of the file, with prescribed motions at their own position and speed."""
        from linkwright.simulation.run import driven_start

        return driven_start(self._core, drive).state

    def controllable(self, st: State, drives: Names | None = None, tolerance: float = 1e-8) -> Controllability:
        """True if the drives act on every motion of the loops at a state: N and B_perp share only zero [Aghili2005 (62)].

        drives: names of joints (`"A"`, `"C.slide"`, cut or not) and cylinders (default the model's). `smallest` is the smallest singular
        value of their speeds over the motions of the loops (dimensionless, at most `tolerance` if control is lost), `direction` the
        motion that is hardest to push. `nearly_lost`: below 1e-3. Idle degrees of freedom (a rod's spin between ball joints) do not count.
        """
        from linkwright.motion.controllability import controllable, drive_rows

        self._core.need_closed(st)
        names = self._core.named_drives(drives)
        return controllable(self._core.loops, st, drive_rows(self._core.loops, st, names), names, tolerance=tolerance)

    @property
    def kernels(self) -> Kernels:
        """Kernels of this mechanism, each made on first use."""
        return self._core.kernels

    def kernel(
        self, name: str, formulation: Any = None, *, drives: Names | None = None, baumgarte: bool = False,
        by: Names = (), outputs: Names = (), tasks: Names = (),
    ) -> Kernel:  # fmt: skip
        """Return the equations as a compiled function of the state, for one state or arrays of states.

        Parameters
        ----------
        name : str
            "forward", "inverse", "loads", "reactions", "closure", "kinematics", "projection", "terms", "energy", "poses", "points",
            "rates", "derivatives" or "operational".
        formulation : str, optional
            A compiled formulation for "forward" and "rates", by default "sslm".
        drives : str or sequence of str, optional
            Joints and cylinders in place of the drives of the model.
        baumgarte : bool, default False
            True to add an input `gains` (alpha, beta).
        by : str or sequence of str, default ()
            Inputs ("q", "parameters") by which all outputs are differentiated exactly, as outputs such as `u_q` and `u_parameters`.
        outputs : str or sequence of str, default ()
            Outputs whose weighted sum (inputs such as `u_weight`) is differentiated in reverse mode: `q_gradient`, `parameters_gradient`.
        tasks : str or sequence of str, default ()
            Bodies and points of the kernel "operational".

        Returns
        -------
        Kernel
            A function of arrays in the order of `names.q` and `names.v`. It returns a named tuple.

        Examples
        --------
        >>> s = lw.compile("wiper")
        >>> forward = s.kernel("forward")
        >>> forward(np.tile(s.start.q, (5, 1)), np.zeros((5, 3)), np.zeros((5, 3))).a.shape
        (5, 3)
        """
        chosen = None if drives is None else self._core.named_drives(drives)
        return self.kernels.get(name, formulation, chosen, baumgarte=baumgarte, by=by, tasks=tasks, outputs=outputs)

    def derivatives(self, st: State, tau: Numbers | Named = None, *, parameters: Any = None) -> Derivatives:
        """Return exact derivatives of accelerations and multipliers by positions, velocities, efforts and parameters.

        Positions move in the space of v (names.v). For arrays of states: `s.kernel("derivatives")(Q, V, TAU)`."""
        return self._core.derivatives(st, tau, parameters)

"""System: the researcher's face of a mechanism. States on the loops, and the terms of its equations.

Every method is a short call into the parts below; arrays are in the order of `names.q` and `names.v`,
SI and radians, `M a + h = tau + J' lam`, `J v + b = 0`, `J a + k = 0`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from linkwright.errors import SimulationError, calls_explained, counted
from linkwright.errors.arguments import Named, Names, Numbers
from linkwright.mechanics import formulations
from linkwright.mechanics.closing.mobility import Mobility
from linkwright.mechanics.constraints.closure import Closure
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import Terms
from linkwright.mechanics.inverse import Loads, Method
from linkwright.mechanics.inverse.determinacy import Determinacy, determinacy
from linkwright.mechanics.kinematics.motion import locate, node_motion
from linkwright.model.description import Description
from linkwright.motion import joint_limits
from linkwright.motion.compiled import Compiled, Derivatives
from linkwright.numerics.pickling import essentials
from linkwright.numerics.spatial import Pose
from linkwright.results.branches import Branches
from linkwright.results.forward_results import Acceleration, Crosscheck, GicmView, gicm_view
from linkwright.results.labeled_arrays import Labeled
from linkwright.results.records import CoordinateNames
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.options import RunOptions, options_of, takes_options
from linkwright.system.dynamics import Dynamics, mirrored
from linkwright.system.motions import Motions
from linkwright.system.named_terms import NamedTerms, named_terms
from linkwright.system.runs import Runs
from linkwright.system.state_batch import StateBatch, assembled

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels
    from linkwright.motion.controllability import Controllability
    from linkwright.rings.verbs import SystemVerbs
    from linkwright.simulation.stepper import Stepper
else:
    from linkwright.verbs import RingVerbs as SystemVerbs


@calls_explained
class System(SystemVerbs):
    """A mechanism ready to compute: tree, constants, constraints and forces."""

    __getstate__ = essentials

    def __init__(
        self,
        description: Description,
        cuts: Sequence[str] | None = None,
        length: float | None = None,
        formulation: Any = "auto",
        free: Sequence[str] = (),
        engine: str = "native",
    ):
        formulations.registered(formulation)  # an unknown one is refused here
        self.formulation = formulation  # of forward(), unless a call names another
        self.core = core = Compiled(description, cuts, length, free, engine)
        self.described, self.description, self.free, self.engine = core.described, core.description, core.free, core.engine
        self.tree, self.skel, self.loops, self.forces, self.assembler = core.tree, core.skel, core.loops, core.forces, core.assembler
        self._dynamics, self._motions = Dynamics(core, cuts is not None), Motions(core)
        self._runs = Runs(core)

    def __repr__(self) -> str:
        d, cuts = self.description, ", ".join(self.tree.cuts)
        sizes = f"{counted(len(d.moving), 'moving body')}, {self.tree.nv} speeds, {self.tree.nc} loop equations"
        return f"<System {d.name!r}: {sizes}, cuts: {cuts or 'none'}>"

    @cached_property
    def names(self) -> CoordinateNames:
        return CoordinateNames.of(self.skel)

    @property
    def start(self) -> State:
        """Return the drawn position closed exactly, at the positions and speeds of `start:`."""
        return self.assembler.start

    def assemble(
        self, q: Named = None, v: Named = None, *, pose: Named = None, point: Named = None, guess: Mapping[str, Any] | State | None = None
    ) -> State:
        """Return the state on the loops with the given joints, body poses and points, on the branch of the start.

        `q` and `v` name joints (`"A"`, `"C.slide"`), cylinders (`"lift"`: its length), or all coordinates of a joint as a list
        (`"U"`; of a free joint q = [qw, qx, qy, qz, x, y, z], v = [wx, wy, wz, x, y, z]; docs/model-file.md).
        `pose` gives a body a Pose, `(R, p)`, or in the plane `(x, y, angle)`; `point` gives `"coupler.P"` a place; `v` may also
        name points. `guess` starts the search elsewhere (joint values, or a State): the way to another branch.
        """
        return self._motions.assemble(q, v, pose, point, guess)

    def assemble_batch(self, q: Mapping[str, Any], v: Any = None, *, guess: Any = None, drives: Names | None = None) -> StateBatch:
        """Return many states on the loops from arrays of the positions (and speeds) of all drives (or of other joints and cylinders that
        determine the motion: `drives`), on the branch of the guess. States that do not exist are NaN, masked by `.ok`, with reasons in
        `.why`; `batch[i]` is a State."""
        return assembled(self.core, self._motions.assemble, q, v, guess, drives)

    def branches(self, q: Mapping[str, Any] | None = None, *, most: int | None = None, tries: int = 400, method: str = "auto") -> Branches:
        """Return all assembly modes at the given joint values (default: the drives at the start), nearest to it first: a state for each set
        of places of the bodies, with what the number rests on (docs/howto-modes.md). `method`: "homotopy" or "starts" (`tries` of them)."""
        return self.assembler.branches(q, most=most, tries=tries, method=method)

    def state(self, q: Numbers, v: Numbers | None = None) -> State:
        """Return a State from arrays, without closing the loops."""
        return self.core.state(q, v)

    def motion(self, st: State) -> Any:
        return self.core.motion(st)

    def closure(self, st: State) -> Closure:
        return self.loops.at(st.q, st.v, st.t, st.references)

    def phi(self, st: State) -> np.ndarray:
        """Return the residual of all loops, zero where they are closed."""
        return self.closure(st).phi

    def J(self, st: State) -> np.ndarray:
        """Return the Jacobian of the loops: J v + b = 0."""
        return self.closure(st).J

    def k(self, st: State) -> np.ndarray:
        """Return the bias of the loops at acceleration level: J a + k = 0."""
        return self.closure(st).k

    def M(self, st: State) -> np.ndarray:
        """Return the mass matrix of the tree."""
        self.kernels.need_masses()
        return dynamics.mass_matrix(self.skel, self.motion(st))

    def h(self, st: State) -> np.ndarray:
        """Return Coriolis and gravity efforts minus those of springs, dampers and loads."""
        self.kernels.need_masses()
        return dynamics.bias_force(self.skel, self.motion(st), self.core.applied(st))

    def energy(self, st: State) -> dict[str, float]:
        """Return kinetic, potential and total energy, J."""
        self.kernels.need_masses()
        return st.instant.energies()

    def pose(self, st: State, body: str) -> Pose:
        """X_WB of a body."""
        node = self.skel.node(body)
        X = node_motion(self.skel, self.motion(st), node)[0]
        return Pose(X.R, X.p + self.skel.origin(node))

    def point(self, st: State, name: str) -> np.ndarray:
        """Return the world position of a named point, `"coupler.P"`."""
        return locate(self.skel, self.motion(st), self.assembler.point_ref(name)).position

    def terms(self, st: State, wrench: Named = None, more: Sequence[tuple[int, Any]] = ()) -> Terms:
        """Return M, h, J, k and their blocks at a state, with the model's forces and given wrenches applied."""
        return self._dynamics.terms(st, wrench, more)

    def forward(
        self, st: State, tau: Numbers | Named = None, wrench: Named = None, *,
        formulation: Any = None, limit: str = "smooth", branch: Named = None,
    ) -> Acceleration:  # fmt: skip
        """Solve for accelerations and multipliers from efforts `tau` (by joint name, cut or not, or an array in the order of
        names.v) and wrenches on bodies ([moment; force] at the body's origin, world axes). Raise UsageError for a state whose positions
        or velocities are not on the loops."""
        return self._dynamics.forward(st, tau, wrench, self.formulation if formulation is None else formulation, limit, branch)

    def crosscheck(self, st: State, tau: Numbers | Named = None) -> Crosscheck:
        """Solve one state by every formulation: disagreement, residual, conditioning, time. Prints as a table."""
        return self._dynamics.crosscheck(st, tau)

    def gicm(self, st: State) -> GicmView:
        """Return the generalized inertia constraint matrix in blocks, with its interpretation."""
        return gicm_view(self.terms(st))

    def inverse(
        self, st: State, a: Numbers | Named = None, wrench: Named = None, *, drives: Names | None = None,
        method: str | Method = "subsystem", rated: Named = None, preload: Named = None, stiffness: Named = None,
        release: Mapping[str, Sequence[str]] | None = None,
    ) -> Loads:  # fmt: skip
        """Solve for drive efforts and the reaction of every joint in a motion.

        `a` gives the accelerations of drives (default zero), joints or points by name, completed on the loops, or all
        of them as an array (checked). `rated` weighs efforts of redundant drives (`loads.notes`), `preload` is what they hold inside;
        `stiffness` and `release` choose among reactions that are not unique.
        """
        options = {"rated": rated, "preload": preload, "stiffness": stiffness, "release": release}
        return self._dynamics.inverse(st, a, wrench, drives, method, options)

    def _solved_loads(self, st: State, a: Numbers, drives: Names) -> Loads:
        """Loads on floats, with the whole problem behind them: what tables of a motion take apart."""
        options = dict.fromkeys(("rated", "preload", "stiffness", "release"))
        return self._dynamics.solved(st, a, None, drives, "subsystem", options)

    def _loads_of_samples(self, c: Trajectory) -> Any:
        return self._dynamics.loads_of_samples(c)

    def _derivatives_of(self, c: Trajectory, by: Names, of: str | None, at: Any) -> Any:
        return self._motions.derivatives(c, by, of) if c.proof is None else self._runs.derivatives(c, by, of, at)

    def determinacy(self, st: State, a: Any = None, *, stiffness: Any = None, release: Any = None, **options: Any) -> Determinacy:
        """Return the statically determinate reactions, and the others by least norm, given stiffnesses and released rows."""
        given = {"least norm": {}, "stiffness": {"stiffness": stiffness}, "released": {"release": release}}
        asked = {name: more for name, more in given.items() if all(x is not None for x in more.values())}
        return determinacy({name: self.inverse(st, a, **more, **options) for name, more in asked.items()}, self.description.planar)

    def mirror(self, st: State) -> State:
        """Return a state of the same mechanism on another spanning tree, in this tree's coordinates."""
        return mirrored(self.core, st)

    @property
    def mobility(self) -> Mobility:
        """Return the degrees of freedom by numerical rank, idle ones and redundant constraints named."""
        return self._motions.mobility

    def cycle(
        self, drive: str | None = None, *, steps: int = 360, speed: Any = None, duration: Any = None, start: Any = None, stop: Any = None
    ) -> Trajectory:
        """Return one cycle of a drive, or its way from `start` to `stop`: kinematics always, efforts and loads where there are masses."""
        c, names = self._motions.cycle(drive, steps, speed, duration, start, stop), self.core.drive_names
        return self._driven(c, names if not c.drive or c.drive in names else [c.drive, *names])

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
            By name of a drive, a point or a body: a function of t (for a joint it may return (q, v, a)), a reference of a controller
            ("5 mm * sin(3 rad/s * t)", or one for each component of a point), a place to stay at, or one sample for each time. Functions
            are differentiated exactly or nearly so.
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
        >>> s = lw.compile("wiper")
        >>> c = s.follow({"A": lambda t: 1.0 + 0.5 * t**2}, [0.0, 0.5, 1.0])
        >>> c["A.v"].round(3)
        array([0. , 0.5, 1. ])
        """
        chosen = self.core.named_drives(drives)
        return self._driven(self._motions.follow(motion, t, duration, steps, chosen), chosen)

    def _driven(self, c: Trajectory, drives: Sequence[str]) -> Trajectory:
        """The motion with its drives, and a note on how efforts are chosen where these are redundant."""
        shared = self._dynamics.redundancy_notes(drives, lambda: self.mobility)
        return replace(c, system=self, drives=tuple(drives), notes=(*c.notes, *shared))

    def potential(self, st: State) -> float:
        """Return the potential energy of weight and springs."""
        return st.instant.energies()["potential"]

    def settle(self, start: State | None = None, hold: Names = ()) -> State:
        """Return the static equilibrium under weight, springs and loads; joints in `hold` stay where they are."""
        return self._motions.settled(start, hold)

    def jacobian(self, st: State, of: Names, wrt: Names = "drives") -> Labeled:
        """Return the Jacobian of a body (rows: angular velocity, then velocity of its origin), a point or any tasks of `named_terms`.

        In a plane a body has the rows (angle, x, y). Columns follow `wrt`: "drives", "independent" (base and drives), "base", "coordinates"
        (all of names.v), or names of joints and cylinders; other independent velocities rest. `.rows` and `.columns` name them.
        """
        return self._motions.jacobian(st, of, wrt)

    def named_terms(self, tasks: Names = (), by: Names = "independent") -> NamedTerms:
        """Return terms by name, `x = s.named_terms(["foot", "com"])(st)`, of one state, a trajectory or arrays (Q, V): `x.J`, `x.M` ...

        tasks: bodies, points, their components, "com", or in another body's frame ("hand in trunk").
        by: as `wrt` of `jacobian`.
        """
        return named_terms(self.core, tasks, by)

    def limits(self, joint: str) -> joint_limits.Limits:
        """Return the positions between which a joint can move from the start, the other drives held there."""
        return self._motions.limits(joint)

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
        try:
            return self._own(self._runs.one(st, duration, options_of(options)))
        except SimulationError as problem:  # the part computed so far has loads, too
            if problem.run is not None and problem.run.system is None:
                problem.run = self._own(problem.run)
            raise

    def _own(self, run: Trajectory) -> Trajectory:
        return replace(run, system=self, drives=tuple(run.settings["drive"]))

    def step(self, st: Any, tau: Any = None, dt: Any = 1e-3, *, substeps: int = 1, integrator: Any = "rk4", free: Any = None) -> Any:
        """Advance a State, or arrays (q, v) or (q, v, t), by dt in `substeps` equal steps under constant efforts; return the same kind.

        tau: an array in the order of names.v, or by joint name.
        integrator: "rk4", "euler" (semi-implicit), or an explicit fixed-step Method of linkwright.integrators.
        """
        return self._runs.step(st, tau, dt, substeps, integrator, free)

    def stepper(self, n: int, *, dt: Any = 1e-3, substeps: int = 1, integrator: Any = "rk4", **options: Any) -> Stepper:
        """Return n mechanisms that move together by dt at every `env.step(tau)`, with `env.q`, `env.v`, `env.ok`, `env.reset(where, q, v)`.

        Further options are `start` (a State), `free` (values of free parameters, rows or arrays by name) and `threads`.
        """
        return self._runs.stepper(n, {"dt": dt, "substeps": substeps, "integrator": integrator, **options})

    def _starting(self, drive: Mapping[str, Any]) -> State:
        """The start of a run: that of the file, with prescribed motions at their own position and speed."""
        return self._runs.start(drive)

    def controllable(self, st: State, drives: Names | None = None, tolerance: float = 1e-8) -> Controllability:
        """True if the drives act on every motion of the loops at a state: N and B_perp share only zero [Aghili2005 (62)].

        drives: names of joints (`"A"`, `"C.slide"`, cut or not) and cylinders (default the model's). `smallest` is the smallest singular
        value of their speeds over the motions of the loops (dimensionless, at most `tolerance` where control is lost), `direction` the
        motion that is hardest to push; `nearly_lost`: below 1e-3. Idle degrees of freedom (a rod's spin between ball joints) do not count.
        """
        from linkwright.motion.controllability import controllable, drive_rows

        self.core.need_closed(st)
        names = self.core.named_drives(drives)
        return controllable(self.loops, st, drive_rows(self.loops, st, names), names, tolerance=tolerance)

    @property
    def kernels(self) -> Kernels:
        """Kernels of this mechanism, each made on first use."""
        return self.core.kernels

    def kernel(
        self, name: str, formulation: Any = None, *, drives: Names | None = None, baumgarte: bool = False,
        by: Names = (), of: Names = (), tasks: Names = (),
    ) -> Kernel:  # fmt: skip
        """Return a compiled function of the state, for one state or arrays of states: `s.kernel("forward")(Q, V, TAU)`.

        Names: forward, inverse, loads, reactions, closure, kinematics, projection, terms, energy, poses, points, rates. Arrays are in the
        order of names.q and names.v; results are a named tuple. `formulation` (of forward and rates) is a compiled one, by default
        sslm; `baumgarte` adds an input `gains` (alpha, beta). `drives` replaces the model's. `by` names inputs ("q", "free") by which all
        outputs are differentiated exactly (u_q, u_free), with `of` only the sum of these outputs with weights (inputs u_weight), in reverse
        mode: q_gradient, free_gradient. `tasks` are bodies and points of kernel operational.
        """
        chosen = None if drives is None else self.core.named_drives(drives)
        return self.kernels.get(name, formulation, chosen, baumgarte=baumgarte, by=by, tasks=tasks, of=of)

    def derivatives(self, st: State, tau: Numbers | Named = None, *, free: Any = None) -> Derivatives:
        """Return exact derivatives of accelerations and multipliers by positions, velocities, efforts and free parameters.

        Positions move in the space of v (names.v). For arrays of states: `s.kernel("derivatives")(Q, V, TAU)`."""
        return self.core.derivatives(st, tau, free)

    def javascript(self, names: Sequence[str] | None = None, **options: Any) -> str:
        """Return a script for pages and node that computes this mechanism by itself. Options: free, drives, name."""
        from linkwright.kernels import export

        return export.javascript(self.kernels, names, **options)

    def c(self, names: Sequence[str] | None = None, **options: Any) -> dict[str, str]:
        """Return C99 sources of kernels, model.h and model.c. Options: free, drives, name, precision, fallback, moved."""
        from linkwright.kernels import c_sources

        return c_sources.c(self.kernels, names, **options)

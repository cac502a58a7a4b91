"""System: the researcher's face of a mechanism. States on the loops, and the terms of its equations.

Every method is a short call into the stages below; arrays are in the order of `names.q` and `names.v`,
SI and radians, `M a + h = tau + J' lam`, `J v + b = 0`, `J a + k = 0`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, calls_explained, nearest
from linkwright.mechanics import forces, formulations, inverse
from linkwright.mechanics.closing.idle import idle_motions
from linkwright.mechanics.closing.mobility import Mobility, mobility
from linkwright.mechanics.closing.newton import references
from linkwright.mechanics.closing.traced import QuickLoops
from linkwright.mechanics.constraints.closure import Closure
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.dynamics.terms import Terms, terms
from linkwright.mechanics.formulations.forward import forward
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse import Loads
from linkwright.mechanics.inverse.determinacy import Determinacy, determinacy
from linkwright.mechanics.kinematics.motion import Skeleton, displaced, joint_rate, locate, motion, node_motion, skeleton
from linkwright.model.description import Description, Joint
from linkwright.model.file import quantity
from linkwright.model.file.units import KINDS
from linkwright.model.laws import LinearLaw
from linkwright.motion import cycle
from linkwright.motion.assembly import Assembler
from linkwright.motion.following import follow, sample_times
from linkwright.motion.inputs import efforts, wrenches
from linkwright.motion.statics import settle
from linkwright.numerics.linalg import factor
from linkwright.numerics.spatial import Pose
from linkwright.results.channels import Channel
from linkwright.results.forward import Acceleration, Crosscheck, GicmView, crosscheck, gicm_view
from linkwright.results.load_channels import load_channels
from linkwright.results.state import Branches, State
from linkwright.results.trajectory import Trajectory
from linkwright.system.controlling import Controlling
from linkwright.topology import Tree, build_tree
from linkwright.topology.order import inverse_tree

MOST_STEPS = 100_000
OPEN = 1e-6  # dimensionless gap above which a state is not on the loops


class Names(NamedTuple):
    """Names of the entries of q and v."""

    q: tuple[str, ...]
    v: tuple[str, ...]


@dataclass(frozen=True)
class LoadReader:
    """Computes loads for the samples of a trajectory and names their channels."""

    system: System
    drives: tuple[str, ...]

    def loads_at(self, x: Instant) -> Loads:
        st = State(x.skel, x.q, x.v, x.references, x.t)
        return self.system.inverse(st, x.a, drives=self.drives)

    def load_channels(self) -> dict[str, Channel]:
        return load_channels(self.system.description, self.drives)


@calls_explained
class System(Controlling):
    """A mechanism ready to compute: tree, constants, constraints and forces."""

    def __init__(
        self,
        description: Description,
        cuts: Sequence[str] | None = None,
        length: float | None = None,
        formulation: Any = "auto",
        free: Sequence[str] = (),
        engine: str = "native",
    ):
        self.description = description.numbers()
        self.set_up_kernels(description, free, engine)
        self._given_cuts = cuts is not None
        self.formulation = formulation  # what forward() uses unless told otherwise
        formulations.registered(formulation)  # an unknown one is refused here
        self.tree: Tree = build_tree(self.description, cuts)
        self.skel: Skeleton = skeleton(self.tree)
        self.loops: Loops = QuickLoops.of(self.skel, length)
        self.forces = forces.of_description(self.description)
        self.assembler = Assembler(self.loops)

    def __repr__(self) -> str:
        d, cuts = self.description, ", ".join(self.tree.cuts)
        sizes = f"{len(d.bodies) - 1} moving bodies, {self.tree.nv} speeds, {self.tree.nc} loop equations"
        return f"<System {d.name!r}: {sizes}, cuts: {cuts or 'none'}>"

    @cached_property
    def names(self) -> Names:
        def full(pick: str) -> tuple[str, ...]:
            parts = [(n.joint.name, getattr(jt, pick)) for n, jt in zip(self.tree.nodes, self.skel.types, strict=True)]
            return tuple(f"{name}.{p}" if p else name for name, entries in parts for p in entries)

        return Names(full("q_names"), full("v_names"))

    # ---------------------------------------------------------------- states

    @property
    def start(self) -> State:
        """Return the drawn position closed exactly, at the positions and speeds of `start:`."""
        return self.assembler.start

    def assemble(
        self,
        q: Mapping[str, Any] | None = None,
        v: Mapping[str, Any] | None = None,
        *,
        pose: Mapping[str, Any] | None = None,
        point: Mapping[str, Any] | None = None,
        guess: Mapping[str, Any] | State | None = None,
    ) -> State:
        """Return the state on the loops with the given joints, body poses and points, on the branch of the start.

        `q` and `v` name joints (`"A"`, `"C.slide"`), cylinders (`"lift"`: its length), or all coordinates of a joint as a list
        (`"U"`; of a free joint q = [qw, qx, qy, qz, x, y, z], v = [wx, wy, wz, x, y, z]; docs/model-file.md).
        `pose` gives a body a Pose, `(R, p)`, or in the plane `(x, y, angle)`; `point` gives `"coupler.P"` a place; `v` may also
        name points. `guess` starts the search elsewhere (joint values, or a State): the way to another branch.
        """
        return self.assembler.assemble(q, v, pose=pose, point=point, guess=guess)

    def branches(self, q: Mapping[str, Any] | None = None, *, most: int = 16, tries: int = 400) -> Branches:
        """Return assembly modes found for the given joint values (default: the drives at the start), nearest to it first (few loops only).

        One state for each set of places of the bodies; `.flips` counts further sets of coordinates with the same places (a rod turned by
        half a turn about its own line).
        """
        return self.assembler.branches(q, most=most, tries=tries)

    def coordinate(self, name: str) -> tuple[Joint, int, str]:
        """Return (joint, index, kind) of a coordinate by name: `"A"`, `"C.slide"`."""
        return self.assembler.coordinate(name)

    def state(self, q: Any, v: Any = None) -> State:
        """Return a State from arrays, without closing the loops."""
        q = np.asarray(q, dtype=float)
        if q.shape != (self.tree.nq,):
            raise UsageError(f"q has shape {q.shape}; it needs {self.tree.nq} entries: {', '.join(self.names.q)}.")
        v = np.zeros(self.tree.nv) if v is None else np.asarray(v, dtype=float)
        if not np.isfinite(q).all():
            bad = [n for n, x in zip(self.names.q, q, strict=True) if not np.isfinite(x)]
            raise UsageError(f"q has entries that are not finite numbers: {', '.join(bad)}.")
        if v.shape != (self.tree.nv,) or not np.isfinite(v).all():
            raise UsageError(f"v needs {self.tree.nv} finite entries: {', '.join(self.names.v)}.")
        return State(self.skel, q, v, references(self.skel, q, self.start.near))

    # ---------------------------------------------------------------- terms

    def motion(self, st: State) -> Any:
        return st.instant.motion if st.skel is self.skel else motion(self.skel, st.q, st.v)

    def closure(self, st: State) -> Closure:
        return self.loops.at(st.q, st.v, st.t, st.near)

    def phi(self, st: State) -> np.ndarray:
        """Return the residual of all loops, zero where they are closed."""
        return self.closure(st).phi

    def J(self, st: State) -> np.ndarray:
        """Return the Jacobian of the loops: J v + b = 0."""
        return self.closure(st).J

    def k(self, st: State) -> np.ndarray:
        """Return the bias of the loops at acceleration level: J a + k = 0."""
        return self.closure(st).k

    def J_blocks(self, st: State) -> dict[tuple[int, int], np.ndarray]:
        """Return the nonzero blocks J_ij: loop i against subsystem j."""
        return self.closure(st).blocks

    def M(self, st: State) -> np.ndarray:
        """Return the mass matrix of the tree."""
        self._need_masses()
        return dynamics.mass_matrix(self.skel, self.motion(st))

    def h(self, st: State) -> np.ndarray:
        """Return Coriolis and gravity efforts minus those of springs, dampers and loads."""
        self._need_masses()
        return dynamics.bias_force(self.skel, self.motion(st), self.applied(st))

    def applied(self, st: State, *, outside: bool = False) -> list[tuple[int, Any]]:
        """Wrenches of all forces of the model on bodies, or only of those that come from outside the machine."""
        return st.instant.pushes(f for f in self.forces if f.from_outside or not outside)

    def energy(self, st: State) -> dict[str, float]:
        """Return kinetic, potential and total energy, J."""
        self._need_masses()
        return st.instant.energies()

    def momentum(self, st: State, about: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the (linear, angular) momentum of all bodies; angular about the world's origin or a given point."""
        self._need_masses()
        return dynamics.momentum(self.skel, self.motion(st), about)

    def pose(self, st: State, body: str) -> Pose:
        """X_WB of a body."""
        node = self.skel.node(body)
        X = node_motion(self.skel, self.motion(st), node)[0]
        return Pose(X.R, X.p + self.skel.origin(node))

    def point(self, st: State, name: str) -> np.ndarray:
        """Return the world position of a named point, `"coupler.P"`."""
        return locate(self.skel, self.motion(st), self.assembler.point_ref(name)).position

    # ---------------------------------------------------------------- forward dynamics

    def terms(self, st: State, wrench: Mapping[str, Any] | None = None, more: Sequence[tuple[int, Any]] = ()) -> Terms:
        """Return M, h, J, k and their blocks at a state, with the model's forces and given wrenches applied."""
        self._need_masses()
        self._need_closed(st)
        pushes = [*self.applied(st), *wrenches(self.skel, st, wrench or {}), *more]
        return terms(self.loops, st.q, st.v, st.t, st.near, pushes)

    def forward(
        self,
        st: State,
        tau: Mapping[str, Any] | Any = None,
        wrench: Mapping[str, Any] | None = None,
        *,
        formulation: Any = None,
        limit: str = "smooth",
        branch: Mapping[str, Any] | None = None,
    ) -> Acceleration:
        """Solve for accelerations and multipliers from efforts `tau` (by joint name, cut or not, or an array in the order of
        names.v) and wrenches on bodies ([moment; force] at the body's origin, world axes)."""
        effort, pushes = efforts(self.assembler, st, tau)
        direction = None if branch is None else self.assembler.branch(st, branch)
        chosen = self.formulation if formulation is None else formulation
        out = forward(self.terms(st, wrench, pushes), effort, chosen, limit=limit, branch=direction)
        return Acceleration(out.a, out, self.names.v, self._accelerated(st, out.a))

    def crosscheck(self, st: State, tau: Mapping[str, Any] | Any = None) -> Crosscheck:
        """Solve one state by every formulation: disagreement, residual, conditioning, time. Prints as a table."""
        effort, pushes = efforts(self.assembler, st, tau)
        return crosscheck(self.terms(st, None, pushes), effort)

    def gicm(self, st: State) -> GicmView:
        """Return the generalised inertia constraint matrix in blocks, with its interpretation."""
        return gicm_view(self.terms(st))

    def _accelerated(self, st: State, a: np.ndarray) -> State:
        """The state at these accelerations, with what was computed of it."""
        there = State(self.skel, st.q, st.v, st.near, st.t, a)
        vars(there).update(instant=self.instant(st, a), channels=st.channels)
        return there

    # ---------------------------------------------------------------- inverse dynamics

    def inverse(
        self,
        st: State,
        a: Mapping[str, Any] | Any = None,
        wrench: Mapping[str, Any] | None = None,
        *,
        drives: Sequence[str] | None = None,
        method: str | inverse.Method = "subsystem",
        rated: Mapping[str, Any] | None = None,
        preload: Mapping[str, Any] | None = None,
        stiffness: Mapping[str, Any] | None = None,
        release: Mapping[str, Sequence[str]] | None = None,
    ) -> Loads:
        """Solve for drive efforts and the reaction of every joint in a motion.

        `a` gives the accelerations of drives (default zero), joints or points by name, completed on the loops, or all
        of them as an array (checked). `rated` weighs efforts of redundant drives, `preload` is what they hold inside;
        `stiffness` and `release` choose among reactions that are not unique.
        """
        self._need_masses()
        self._need_closed(st)
        chosen = [d.joint for d in self.description.drives] if drives is None else list(drives)
        for name in chosen:
            self._drive_name(name)
        acceleration = self.assembler.accelerations(st, a, chosen)
        options = {"rated": rated, "preload": preload, "stiffness": stiffness, "release": release}
        method = inverse.method_of(method)
        other = self._for_inverse if method is inverse.METHODS["subsystem"] else self
        there = other.mirror(st) if other is not self else st
        if other is not self:
            acceleration = other.assembler.accelerations(there, other._of_joints(self.instant(st, acceleration)), [])
        given = wrenches(other.skel, there, wrench or {})
        pushes = [*other.applied(there), *given]
        outside = [*other.applied(there, outside=True), *given]
        acceleration = other._spun_freely(there, acceleration, pushes)
        args = (other.loops, there.q, there.v, acceleration, there.t, there.near, pushes, chosen, method, outside)
        return inverse.solve(*args, moving=there.instant.motion, **options)

    def determinacy(self, st: State, a: Any = None, *, stiffness: Any = None, release: Any = None, **options: Any) -> Determinacy:
        """Return the statically determinate reactions, and the others by least norm, given stiffnesses and released rows."""
        choices = {"least norm": self.inverse(st, a, **options)}
        if stiffness is not None:
            choices["stiffness"] = self.inverse(st, a, stiffness=stiffness, **options)
        if release is not None:
            choices["released"] = self.inverse(st, a, release=release, **options)
        return determinacy(choices, self.description.planar)

    def _spun_freely(self, st: State, a: np.ndarray, pushes: Sequence[tuple[int, Any]]) -> np.ndarray:
        """Idle degrees of freedom (a rod spinning between ball joints) have no drive: they accelerate freely."""
        null = self.loops.factored(self.closure(st)).null
        spins = [v for _, v in idle_motions(self.loops, st.q, null, self.motion(st))]
        if not spins:
            return a
        N = np.array(spins).T * self.loops.columns[:, None]
        m = self.motion(st)
        K, rest = N.T @ dynamics.mass_matrix(self.skel, m) @ N, N.T @ dynamics.inverse_tree(self.skel, m, a, pushes)
        return a - N @ factor(K, 1e-12 * max(1e-300, float(np.abs(K).max()))).solve(rest)

    @cached_property
    def _for_inverse(self) -> System:
        """The same mechanism on the spanning tree that is most determinate for the inverse (this one if cuts were given)."""
        if self._given_cuts or self.description.cuts is not None:
            return self
        tree = inverse_tree(self.description, [d.joint for d in self.description.drives])
        return self if tree.cuts == self.tree.cuts else System(self.description, tree.cuts)

    def mirror(self, st: State) -> State:
        """Return a state of the same mechanism on another spanning tree, in this tree's coordinates."""
        if any(n.joint.name not in st.near for n in self.tree.nodes):
            raise UsageError("the two trees do not have the same joints; give the same cuts to both.")
        q, v = np.zeros(self.tree.nq), np.zeros(self.tree.nv)
        for n in self.tree.nodes:
            node = st.skel.tree.node_of_joint.get(n.joint.name)
            if node is None:
                read = joint_rate(st.skel, st.instant.motion, n.joint, st.near[n.joint.name])
                q[n.q], v[n.v] = read.q, read.v
            else:
                theirs = st.skel.tree.nodes[node]
                q[n.q], v[n.v] = st.q[theirs.q], st.v[theirs.v]
        return State(self.skel, q, v, self.loops.references(q, st.near), st.t)

    def _of_joints(self, there: Instant) -> np.ndarray:
        """This tree's accelerations, of an instant in the coordinates of another tree."""
        parts = [there.joint_accelerations(n.joint) for n in self.tree.nodes]
        return np.concatenate(parts) if parts else np.zeros(0)

    @cached_property
    def mobility(self) -> Mobility:
        """Return the degrees of freedom by numerical rank, idle ones and redundant constraints named."""
        return mobility(self.loops, self.start.q, dict(self.start.near))

    # ---------------------------------------------------------------- motions

    def turn(self, drive: str | None = None, *, steps: int = 360, speed: Any = None, duration: Any = None) -> Trajectory:
        """Return one cycle of a drive: kinematics always, efforts and loads where there are masses."""
        if not isinstance(steps, int) or isinstance(steps, bool) or not 2 <= steps <= MOST_STEPS:
            raise UsageError(f"steps must be a whole number from 2 to {MOST_STEPS}, not {steps!r}.")
        here = cycle.Position(self.start.q, self.start.near)
        if drive is not None:
            self._drive_name(drive)
        lead = drive or cycle.plan(self.loops, here, None, None).lead
        kind = "angular speed" if cycle.is_rotary(self.description, lead) else "speed"
        value = None if speed is None else quantity(speed, KINDS[kind])
        seconds = None if duration is None else quantity(duration, KINDS["time"])
        c = cycle.turn(self.loops, here, drive, steps=steps, speed=value, duration=seconds)
        return replace(c, source=LoadReader(self, self._driven_in(c)))

    def _driven_in(self, c: Trajectory) -> tuple[str, ...]:
        names = [d.joint for d in self.description.drives]
        return tuple(names if not c.drive or c.drive in names else [c.drive, *names])

    def follow(self, motion: Mapping[str, Any], t: Any = None, *, duration: Any = 1.0, steps: int = 100, drives: Any = None) -> Trajectory:
        """Return states and loads along a motion of drives, points or bodies, by name.

        A path is a function of t (a joint's may give (q, v, a)), what a controller takes as a reference ("5 mm * sin(3 rad/s * t)",
        lw.sinusoid(...), one for each component of a point), a place to stay at, or a sample for each time. Functions are
        differentiated exactly or nearly so, whatever `steps` are; samples through a spline. t: the times, else `steps` equal
        steps in `duration` ("1.2 s"). drives: whose efforts carry the motion (default the model's). `notes` report jumps, doubtful
        accelerations, and positions in which the drives cannot hold the mechanism.
        """
        chosen = self._named_drives(drives)
        c = follow(self.assembler, self.start, motion, sample_times(t, duration, steps, MOST_STEPS), chosen)
        return replace(c, source=LoadReader(self, tuple(chosen)))

    def potential(self, st: State) -> float:
        """Return the potential energy of weight and springs."""
        return st.instant.energies()["potential"]

    def settle(self, start: State | None = None, hold: Sequence[str] = ()) -> State:
        """Return the static equilibrium under weight, springs and loads; joints in `hold` stay where they are."""
        self._need_masses()
        st = self.start if start is None else start
        here = cycle.Position(st.q, st.near)
        held = [cycle.driven(self.description, n, LinearLaw(cycle.coordinate_now(self.loops, n, here), 0.0)) for n in hold]
        return settle(self, State(self.skel, st.q, np.zeros(self.tree.nv), st.near, st.t), held)

    def jacobian(self, st: State, of: str, wrt: str | Sequence[str] = "drives") -> np.ndarray:
        """Return the Jacobian of a body (rows: angular velocity, then velocity of its origin) or a point by the speeds of the drives.

        In a plane a body has the rows (angle, x, y). Columns follow `wrt`: "drives", or names of joints and cylinders.
        """
        names = [d.joint for d in self.description.drives] if wrt == "drives" else [wrt] if isinstance(wrt, str) else list(wrt)
        for name in names:
            self._drive_name(name)
        return self.assembler.jacobian(st, of, names)

    def limits(self, joint: str) -> cycle.Limits:
        """Return the travel of a joint, the other drives held at their start."""
        self._drive_name(joint)
        others = [d.joint for d in self.description.drives if d.joint != joint]
        freedoms = self.mobility.freedoms
        return cycle.limits(self.loops, cycle.Position(self.start.q, self.start.near), joint, others[: max(0, freedoms - 1)])

    # ---------------------------------------------------------------- helpers

    def _ready(self, st: State, off: Sequence[str], closed: bool) -> None:
        self._need_masses()
        self._need_closed(st, (off,) if isinstance(off, str) else off, most=OPEN if closed else np.inf)

    def _with_source(self, run: Trajectory) -> Trajectory:
        return replace(run, source=LoadReader(self, tuple(run.settings["drive"])))

    def _drive_name(self, name: str) -> None:
        names = [*(j.name for j in self.description.joints), *(c.name for c in self.description.cylinders)]
        if name not in names:
            raise UsageError(f"there is no joint '{name}'. {nearest(name, names, 'Joints')}")

    def _need_closed(self, st: State, off: Sequence[str] = (), most: float = OPEN) -> None:
        if not isinstance(st, State):
            raise UsageError(f"a State is needed (from s.assemble, s.state or s.start), not {type(st).__name__}.")
        mine, theirs = ([n.joint.name for n in tree.nodes] for tree in (self.tree, st.skel.tree))
        if mine != theirs:
            raise UsageError("this state belongs to a system with other cuts; s.mirror(st) gives the same state in this one.")
        held = np.array([c.name not in off for c in self.loops.constraints for _ in c.labels], dtype=bool)
        gap = np.abs(self.phi(st) / self.loops.row_scale)[held].max(initial=0.0) if self.tree.nc else 0.0
        if not gap < most:
            raise UsageError(f"the loops of this state are open by {gap:.2g} of the mechanism's size; s.assemble gives one that is closed.")

    def _need_masses(self) -> None:
        self.kernels.need_masses()

    def instant(self, st: State, a: Any = None) -> Instant:
        x = Instant(self.skel, st.q, st.v, st.t, st.near, a)
        vars(x)["motion"] = self.motion(st)  # the same one
        return x

    def displaced(self, st: State, step: Any) -> np.ndarray:
        return displaced(self.skel, st.q, step)

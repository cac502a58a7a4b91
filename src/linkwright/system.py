"""System: the researcher's face of a mechanism. States on the loops, and the terms of its equations.

Every method is a short call into the stages below; arrays are in the order of `names.q` and `names.v`,
SI and radians, `M a + h = tau + J' lam`, `J v + b = 0`, `J a + k = 0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright import continuation, cycle, dynamics, forces, joints
from linkwright.assembly import GOOD_ENOUGH, Closed, close, open_error, references, solve_rates
from linkwright.loops import Loops
from linkwright.acceleration import Acceleration, Crosscheck, GicmView, crosscheck, gicm_view
from linkwright.branches import distinct_positions
from linkwright.channels import Instant
from linkwright.closure import Closure
from linkwright.constraints import Constraint, Driver, PointTarget, PoseTarget
from linkwright.constraints.target import rotation_vector_between
from linkwright.description import Description, Joint
from linkwright.errors import AssemblyError, ChannelError, UsageError, nearest
from linkwright.forward import forward
from linkwright.kinematics import Skeleton, displaced, locate, motion, node_motion, skeleton, start_values
from linkwright.laws import LinearLaw
from linkwright.mobility import Mobility, mobility
from linkwright.modelfile import quantity
from linkwright.modelfile.units import KINDS
from linkwright.results import Trajectory
from linkwright.spatial import Pose, quaternion_rotation
from linkwright.state import State
from linkwright.terms import Terms, terms
from linkwright.topology import Tree, build_tree


class Names(NamedTuple):
    """Names of the entries of q and v."""

    q: tuple[str, ...]
    v: tuple[str, ...]


class System:
    """A mechanism ready to compute: tree, constants, constraints and forces."""

    def __init__(self, description: Description, cuts: Sequence[str] | None = None):
        self.description = description.numbers()
        self.tree: Tree = build_tree(self.description, cuts)
        self.skel: Skeleton = skeleton(self.tree)
        self.loops = Loops.of(self.skel)
        self.forces = forces.of_description(self.description)

    @cached_property
    def names(self) -> Names:
        def full(pick: str) -> tuple[str, ...]:
            parts = [(n.joint.name, getattr(jt, pick)) for n, jt in zip(self.tree.nodes, self.skel.types, strict=True)]
            return tuple(f"{name}.{p}" if p else name for name, entries in parts for p in entries)

        return Names(full("q_names"), full("v_names"))

    # ---------------------------------------------------------------- states

    @cached_property
    def start(self) -> State:
        """The drawn position closed exactly, at the positions and speeds of `start:`."""
        closed = self._close_sketch()
        wanted = start_values(self.description)
        positions = {k: v for k, v in wanted.items() if not k.endswith(".v")}
        speeds = {k.removesuffix(".v"): v for k, v in wanted.items() if k.endswith(".v")}
        here = cycle.Position(closed.q, closed.near)
        if positions:
            here = self._walk(here, self._coordinate_targets(positions, here))
        return self._with_velocity(here, speeds, {})

    def _close_sketch(self) -> Closed:
        """Close the loops from the sketch, holding the drives where they are drawn if that is possible."""
        near = self.skel.start_coordinates
        q = np.concatenate([near[n.joint.name] for n in self.tree.nodes]) if self.tree.nodes else np.zeros(0)
        held = [cycle.driven(self.description, d.joint, LinearLaw(near[d.joint][0], 0.0)) for d in self.description.drives if d.joint in near]
        if held:
            done = close(self.loops.with_(held), q, near, most=200)
            if done.residual < GOOD_ENOUGH:
                return done
        done = close(self.loops, q, near, most=200)
        if done.residual > GOOD_ENOUGH:
            raise open_error(self.loops, done, f"'{self.description.name}' cannot be assembled: ")
        return done

    def assemble(
        self,
        q: Mapping[str, Any] | None = None,
        v: Mapping[str, Any] | None = None,
        *,
        pose: Mapping[str, Any] | None = None,
        point: Mapping[str, Any] | None = None,
        guess: Mapping[str, Any] | State | None = None,
    ) -> State:
        """The state on the loops with the given joints, body poses and points, on the branch of the start.

        `q` and `v` name joints (`"A"`, `"C.slide"`); `pose` gives a body a Pose, `(R, p)`, or in the plane
        `(x, y, angle)`; `point` gives `"coupler.P"` a place; `v` may also name points. `guess` starts the
        search elsewhere (joint values, or a State): the way to another branch.
        """
        here = cycle.Position(self.start.q, self.start.near)
        if isinstance(guess, State):
            here = cycle.Position(guess.q, guess.near)
        elif guess:
            here = self._from_guess(guess, q or {})
        targets = [*self._coordinate_targets(q or {}, here)]
        targets += [self._point_target(name, place, here) for name, place in (point or {}).items()]
        targets += [self._pose_target(name, wanted, here) for name, wanted in (pose or {}).items()]
        if targets:
            here = self._walk(here, targets)
        speeds = {k: x for k, x in (v or {}).items() if not self._is_point(k)}
        return self._with_velocity(here, speeds, {k: x for k, x in (v or {}).items() if self._is_point(k)})

    def state(self, q: Any, v: Any = None) -> State:
        """A State from arrays, as they are: nothing is closed."""
        q = np.asarray(q, dtype=float)
        if q.shape != (self.tree.nq,):
            raise UsageError(f"q has shape {q.shape}; it needs {self.tree.nq} entries: {', '.join(self.names.q)}.")
        v = np.zeros(self.tree.nv) if v is None else np.asarray(v, dtype=float)
        if v.shape != (self.tree.nv,) or not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise UsageError(f"v needs {self.tree.nv} finite entries: {', '.join(self.names.v)}.")
        return State(self.skel, q, v, references(self.skel, q, self.start.near))

    def branches(self, q: Mapping[str, Any] | None = None, *, most: int = 16, tries: int = 400) -> list[State]:
        """Assembly modes found for the given joint values, nearest to the start first (few loops only)."""
        here = cycle.Position(self.start.q, self.start.near)
        fixed = self.loops.with_([self._held(name, x, here) for name, x in (q or {}).items()])
        found = distinct_positions(fixed, here.q, here.near, most=most, tries=tries)
        return [State(self.skel, p.q, np.zeros(self.tree.nv), p.near) for p in found]

    # ---------------------------------------------------------------- terms

    def motion(self, st: State) -> Any:
        return motion(self.skel, st.q, st.v)

    def closure(self, st: State) -> Closure:
        return self.loops.at(st.q, st.v, st.t, st.near)

    def phi(self, st: State) -> np.ndarray:
        return self.closure(st).phi

    def J(self, st: State) -> np.ndarray:
        return self.closure(st).J

    def k(self, st: State) -> np.ndarray:
        return self.closure(st).k

    def J_blocks(self, st: State) -> dict[tuple[int, int], np.ndarray]:
        """Nonzero blocks J_ij: loop i against subsystem j."""
        return self.closure(st).blocks

    def M(self, st: State) -> np.ndarray:
        self._need_masses()
        return dynamics.mass_matrix(self.skel, self.motion(st))

    def h(self, st: State) -> np.ndarray:
        """Coriolis and gravity efforts minus those of springs, dampers and loads."""
        self._need_masses()
        return dynamics.bias_force(self.skel, self.motion(st), self.applied(st))

    def applied(self, st: State) -> list[tuple[int, Any]]:
        """Wrenches of all forces of the model on bodies."""
        moment = forces.Moment(self.skel, self.motion(st), st.t, st.near)
        return [w for f in self.forces for w in f.wrenches(moment)]

    def energy(self, st: State) -> dict[str, float]:
        self._need_masses()
        return st.instant.energies()

    def momentum(self, st: State, about: Any = None) -> tuple[np.ndarray, np.ndarray]:
        self._need_masses()
        return dynamics.momentum(self.skel, self.motion(st), about)

    def pose(self, st: State, body: str) -> Pose:
        """X_WB of a body."""
        node = self.skel.node(body)
        X = node_motion(self.skel, self.motion(st), node)[0]
        return Pose(X.R, X.p + self.skel.origin(node))

    def point(self, st: State, name: str) -> np.ndarray:
        """World position of a named point, `"coupler.P"`."""
        return locate(self.skel, self.motion(st), self._point_ref(name)).position

    # ---------------------------------------------------------------- forward dynamics

    def terms(self, st: State, wrench: Mapping[str, Any] | None = None, more: Sequence[tuple[int, Any]] = ()) -> Terms:
        """M, h, J, k and their blocks at a state, with the model's forces and given wrenches applied."""
        self._need_masses()
        pushes = [*self.applied(st), *self._wrenches(st, wrench or {}), *more]
        return terms(self.loops, st.q, st.v, st.t, st.near, pushes)

    def forward(
        self,
        st: State,
        tau: Mapping[str, Any] | Any = None,
        wrench: Mapping[str, Any] | None = None,
        *,
        formulation: Any = "auto",
        limit: str = "smooth",
        branch: Mapping[str, Any] | None = None,
    ) -> Acceleration:
        """Accelerations and multipliers for efforts `tau` (by joint name, cut or not, or an array in the order of
        names.v) and wrenches on bodies ([moment; force] at the body's origin, world axes)."""
        effort, pushes = self._efforts(st, tau)
        direction = None if branch is None else self.assemble(v=branch, guess=st).v
        out = forward(self.terms(st, wrench, pushes), effort, formulation, limit=limit, branch=direction)
        return Acceleration(out.a, out, self.names.v, self._reader(st, out.a))

    def crosscheck(self, st: State, tau: Mapping[str, Any] | Any = None) -> Crosscheck:
        """Every formulation on one state: disagreement, residual, conditioning, time. Prints as a table."""
        effort, pushes = self._efforts(st, tau)
        return crosscheck(self.terms(st, None, pushes), effort)

    def gicm(self, st: State) -> GicmView:
        """The generalised inertia constraint matrix in blocks, with its interpretation."""
        return gicm_view(self.terms(st))

    def _reader(self, st: State, a: np.ndarray) -> Any:
        instant = self.instant(st, a)

        def read(name: str) -> Any:
            known = st.channels
            return known[f"{name}.a" if f"{name}.a" in known else name].read(instant)

        return read

    def _efforts(self, st: State, tau: Any) -> tuple[np.ndarray, list[tuple[int, Any]]]:
        """Efforts as an array over the tree joints, and as wrenches for those in cut joints."""
        effort = np.zeros(self.tree.nv)
        if tau is None:
            return effort, []
        if not isinstance(tau, Mapping):
            array = np.asarray(tau, dtype=float)
            if array.shape != effort.shape or not np.isfinite(array).all():
                raise UsageError(f"tau needs {self.tree.nv} finite entries: {', '.join(self.names.v)}; or a dict by joint name.")
            return array, []
        moment = forces.Moment(self.skel, self.motion(st), st.t, st.near)
        pushes: list[tuple[int, Any]] = []
        for name, value in tau.items():
            joint, i, kind = self.coordinate(name)
            x = quantity(value, KINDS["torque" if kind == "angle" else "force"])
            if joint.name in self.tree.node_of_joint:
                effort[self.tree.nodes[self.tree.node_of_joint[joint.name]].v.start + i] += x
            else:
                pushes += forces.joint_effort(moment, joint, x, i)
        return effort, pushes

    def _wrenches(self, st: State, wrench: Mapping[str, Any]) -> list[tuple[int, Any]]:
        """Given wrenches at body origins, moved to the subsystems' origins."""
        m = self.motion(st)
        out = []
        for body, value in wrench.items():
            node = self.skel.node(body)
            w = np.asarray(value, dtype=float)
            if w.shape != (6,) or not np.isfinite(w).all():
                raise UsageError(f"the wrench on '{body}' needs six finite numbers, [moment; force] at the body's origin in world axes.")
            if node >= 0:
                out.append((node, np.concatenate([w[:3] + np.cross(m.X[node].p, w[3:]), w[3:]])))
        return out

    @cached_property
    def mobility(self) -> Mobility:
        return mobility(self.loops, self.start.q, dict(self.start.near))

    # ---------------------------------------------------------------- motions

    def turn(self, drive: str | None = None, *, steps: int = 360, speed: Any = None) -> Trajectory:
        here = cycle.Position(self.start.q, self.start.near)
        if drive is not None:
            self._drive_name(drive)
        lead = drive or cycle.plan(self.loops, here, None, None).lead
        kind = "angular speed" if cycle.is_rotary(self.description, lead) else "speed"
        value = None if speed is None else quantity(speed, KINDS[kind])
        return cycle.turn(self.loops, here, drive, steps=steps, speed=value)

    def limits(self, joint: str) -> cycle.Limits:
        """How far a joint can go, the other drives held at their start."""
        self._drive_name(joint)
        others = [d.joint for d in self.description.drives if d.joint != joint]
        freedoms = self.mobility.freedoms
        return cycle.limits(self.loops, cycle.Position(self.start.q, self.start.near), joint, others[: max(0, freedoms - 1)])

    # ---------------------------------------------------------------- helpers

    def _drive_name(self, name: str) -> None:
        names = [*(j.name for j in self.description.joints), *(c.name for c in self.description.cylinders)]
        if name not in names:
            raise UsageError(f"there is no joint '{name}'. {nearest(name, names, 'Joints')}")

    def _need_masses(self) -> None:
        missing = [b.name for b in self.description.bodies[1:] if b.mass is None]
        if missing:
            raise UsageError(
                f"dynamics needs the mass of {', '.join(repr(m) for m in missing)}: write `mass:` in the model (0 for a massless body). "
                "Kinematics works without."
            )

    def coordinate(self, name: str) -> tuple[Joint, int, str]:
        """(joint, index, kind) of a coordinate by name: `"A"`, `"C.slide"`."""
        head, _, part = name.partition(".")
        every = {j.name: j for j in (*self.description.joints, *(n.joint for n in self.tree.nodes))}
        if head not in every:
            raise ChannelError(f"there is no joint '{name}'. {nearest(name, every, 'Joints')}")
        joint = every[head]
        jt = joints.create(joint.type, joint.options)
        if part not in jt.q_names or jt.q_names != jt.v_names:
            allowed = [f"{head}.{p}" if p else head for p in jt.q_names] if jt.q_names == jt.v_names else ["its body's pose"]
            raise ChannelError(f"'{name}' is not a coordinate of the {joint.type} joint '{head}'. Use {', '.join(allowed) or 'another joint'}.")
        i = jt.q_names.index(part)
        return joint, i, jt.coordinate_kinds[i]

    def _held(self, name: str, value: Any, here: cycle.Position) -> Driver:
        joint, i, kind = self.coordinate(name)
        return Driver(joint, LinearLaw(quantity(value, KINDS[kind]), 0.0), i)

    def _coordinate_targets(self, wanted: Mapping[str, Any], here: cycle.Position) -> list[Constraint]:
        out: list[Constraint] = []
        for name, value in wanted.items():
            joint, i, kind = self.coordinate(name)
            now = float(here.near[joint.name][i])
            out.append(Driver(joint, LinearLaw(now, quantity(value, KINDS[kind]) - now), i))
        return out

    def _is_point(self, name: str) -> bool:
        return name.split(".")[0] in {b.name for b in self.description.bodies} and "." in name

    def _point_ref(self, name: str) -> tuple[str, str]:
        body, _, point = name.partition(".")
        self.description.body(body).point(point)
        return body, point

    def _vector(self, values: Any, kind: str, name: str) -> np.ndarray:
        size = 2 if self.description.planar else 3
        items = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
        if len(items) != size:
            raise UsageError(f"'{name}' needs {size} numbers, got {len(items)}.")
        return np.array([quantity(x, KINDS[kind]) for x in items] + [0.0] * (3 - size))

    def _point_target(self, name: str, place: Any, here: cycle.Position) -> PointTarget:
        ref = self._point_ref(name)
        now = locate(self.skel, motion(self.skel, here.q, np.zeros(self.tree.nv)), ref).position
        axes = (0, 1) if self.description.planar else (0, 1, 2)
        return PointTarget(ref, tuple(now), tuple(self._vector(place, "length", name)), axes)

    def _pose_target(self, body: str, wanted: Any, here: cycle.Position) -> PoseTarget:
        now = self.pose(State(self.skel, here.q, np.zeros(self.tree.nv), here.near), body)
        X = self._pose_value(body, wanted)
        turn = rotation_vector_between(now.R, X.R)
        begin = (tuple(map(tuple, now.R)), tuple(now.p))
        return PoseTarget(body, begin, tuple(turn), tuple(X.p), self.description.planar)

    def _pose_value(self, body: str, wanted: Any) -> Pose:
        if isinstance(wanted, Pose):
            return wanted
        if self.description.planar and len(wanted) == 3:
            x, y = (quantity(w, KINDS["length"]) for w in wanted[:2])
            half = 0.5 * quantity(wanted[2], KINDS["angle"])
            return Pose(quaternion_rotation(np.array([np.cos(half), 0.0, 0.0, np.sin(half)])), np.array([x, y, 0.0]))
        if len(wanted) == 2 and np.shape(wanted[0]) == (3, 3) and np.shape(wanted[1]) == (3,):
            return Pose(np.asarray(wanted[0], float), np.asarray(wanted[1], float))
        raise UsageError(f"the pose of '{body}' must be a Pose, a pair (R, p)" + (" or (x, y, angle)." if self.description.planar else "."))

    def _from_guess(self, guess: Mapping[str, Any], wanted: Mapping[str, Any]) -> cycle.Position:
        """Close the loops from other joint values, holding the wanted coordinates at their final values."""
        q, near = np.array(self.start.q), dict(self.start.near)
        for name, value in guess.items():
            joint, i, kind = self.coordinate(name)
            x = quantity(value, KINDS[kind])
            if joint.name in self.tree.node_of_joint:
                q[self.tree.nodes[self.tree.node_of_joint[joint.name]].q.start + i] = x
            near[joint.name] = np.array([x if k == i else y for k, y in enumerate(near[joint.name])])
        here = cycle.Position(q, near)
        cut = {n: x for n, x in guess.items() if self.coordinate(n)[0].name in self.tree.cuts and n not in wanted}
        fixed = self.loops.with_([self._held(n, x, here) for n, x in wanted.items()])
        if cut:  # cut joints cannot be set, only asked for; best effort, then let go
            rough = close(fixed.with_([self._held(n, x, here) for n, x in cut.items()]), q, near, most=200)
            q, near = rough.q, rough.near
        done = close(fixed, q, near, most=200)
        if done.residual > GOOD_ENOUGH:
            raise open_error(fixed, done, "the guess does not lead to a closed position: ")
        return cycle.Position(done.q, done.near)

    def _walk(self, here: cycle.Position, targets: list[Constraint]) -> cycle.Position:
        tied = self.loops.with_(targets)
        there = continuation.walk(tied, continuation.start(tied, here.q, here.near), 1.0)
        if there.t < 1.0:
            raise self._unreachable(there, targets)
        done = close(tied, there.q, there.near, 1.0)
        return cycle.Position(done.q, done.near)

    def _unreachable(self, walk: Any, targets: list[Constraint]) -> AssemblyError:
        """Say how far it got and how wide the loops gape at the wanted place."""
        tied = self.loops.with_(targets)
        done = close(tied, walk.q, walk.near, 1.0, most=60)
        c = tied.at(done.q, np.zeros(self.tree.nv), 1.0, done.near)
        gaps = {con.name: float(np.abs(part.phi).max()) for con, part in zip(tied.constraints, c.parts, strict=True) if len(part.phi)}
        worst = max(gaps, key=lambda n: gaps[n])
        names = ", ".join(t.name for t in targets)
        return AssemblyError(
            f"cannot reach the wanted {names}: the mechanism goes {100 * walk.t:.1f} % of the way from its start and stops at a dead centre "
            f"or the end of its reach (there '{worst}' would stay open by {gaps[worst]:.3g} m). "
            "Choose a value inside the reach (see limits), or another branch by `guess`.",
            gap=gaps[worst],
            loop=worst,
        )

    def _with_velocity(self, here: cycle.Position, speeds: Mapping[str, Any], points: Mapping[str, Any]) -> State:
        zero = np.zeros(self.tree.nv)
        if not speeds and not points:
            return State(self.skel, here.q, zero, here.near)
        moving: list[Constraint] = []
        for name, value in speeds.items():
            joint, i, kind = self.coordinate(name.removesuffix(".v"))
            rate = quantity(value, KINDS["angular speed" if kind == "angle" else "speed"])
            moving.append(Driver(joint, LinearLaw(float(here.near[joint.name][i]), rate), i))
        for name, value in points.items():
            target = self._point_target(name, self._here(name, here), here)
            moving.append(PointTarget(target.ref, target.begin, tuple(np.array(target.begin) + self._vector(value, "speed", name)), target.axes))
        v = solve_rates(self.loops.with_(moving), here.q, here.near, 0.0)
        return State(self.skel, here.q, v, here.near)

    def _here(self, name: str, here: cycle.Position) -> np.ndarray:
        p = locate(self.skel, motion(self.skel, here.q, np.zeros(self.tree.nv)), self._point_ref(name)).position
        return p[:2] if self.description.planar else p

    def instant(self, st: State, a: Any = None) -> Instant:
        return Instant(self.skel, st.q, st.v, a, st.t, st.near)

    def displaced(self, st: State, step: Any) -> np.ndarray:
        return displaced(self.skel, st.q, step)

"""Putting a mechanism together at wanted joints, points and poses: targets by name, continuation, branches.

`Assembler` turns a user's conditions ("A" at 30 deg, "coupler.P" here, the platform in that pose) into constraints
and walks to them along the loops, from the drawn position or a given state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.errors import AssemblyError, ChannelError, SingularityError, UsageError, counted
from linkwright.mechanics.closing import continuation
from linkwright.mechanics.closing.mobility import mobility
from linkwright.mechanics.closing.newton import GOOD_ENOUGH, Closed, close, open_error, solve_rates
from linkwright.mechanics.closing.passage import SUSPECT, branch_velocity
from linkwright.mechanics.closing.revolutions import skipped
from linkwright.mechanics.closing.smooth_branch import on_loops
from linkwright.mechanics.constraints import Constraint, PointTarget, PoseTarget
from linkwright.mechanics.constraints.closure import Closure
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.constraints.target import rotation_vector_between
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import displaced, locate, locate_at, motion, node_motion
from linkwright.model.coordinates import JointCoordinate, coordinate, lengths
from linkwright.model.curves.lines import Line
from linkwright.model.description import Joint
from linkwright.model.file import quantity
from linkwright.motion import cycle
from linkwright.motion.targets import Targets, attitude
from linkwright.motion.undriven_freedoms import check_driven
from linkwright.motion.unreachable_targets import cannot_move, unreachable
from linkwright.numerics.garbage_pause import all_in_use
from linkwright.numerics.linalg import factor
from linkwright.numerics.sparse import SparseMatrix
from linkwright.numerics.spatial import Pose, quaternion_rotation
from linkwright.results.branches import Branches
from linkwright.results.state import State
from linkwright.text.units import KINDS

CONSISTENT = 1e-6  # share of the accelerations by which they may open the loops
UNCERTAIN = 1e-2  # the same beside a singular position
AT_THE_END = 0.02  # share of the way that is left where a walk slows down before a dead center, whose neighborhood it cannot step through


Closing = Callable[..., tuple[np.ndarray, dict[str, Any], np.ndarray] | None]


class Assembler:
    """Finds states of one mechanism on its loops; `closing(q, references, drives, to, speeds)` closes a sketch quickly, or gives None."""

    def __init__(self, loops: Loops, closing: Closing | None = None):
        self.loops, self._closing = loops, closing
        self._quick = False  # the start was found by `closing`
        self.skel = loops.skel
        self.tree = loops.skel.tree
        self.description = loops.skel.tree.description
        self.targets = Targets(loops)

    def first_position(self) -> tuple[np.ndarray, dict[str, Any]]:
        """Coordinates and cut-joint references of the start: where plans of kernels are made."""
        known = "start" in vars(self) and not self._quick
        st = self.start if known else Assembler(self.loops).start  # plans do not depend on how the start was closed
        return st.q, dict(st.references)

    @cached_property
    @all_in_use()
    def start(self) -> State:
        """Return the drawn position closed exactly, at the positions and speeds of `start:`."""
        return self.started(dict(self.description.start))

    def started(self, wanted: Mapping[str, Any]) -> State:
        """Return the drawn position closed exactly, at other positions and speeds than the file's, {"A": 0.3, "A.v": 2.0}."""
        closed = self._closed_sketch
        positions = {k: v for k, v in wanted.items() if not k.endswith(".v")}
        speeds = {k.removesuffix(".v"): v for k, v in wanted.items() if k.endswith(".v")}
        here = closed.at
        where = dict(self.description.start_places)
        place = next((f"{where[name]}: start: " for name in wanted if name in where and where[name].line), "start: ")
        try:
            if positions:
                here = self._started(here, positions) or self._walk(here, self._positions(positions, here))
            v = self._driven_speeds(here, speeds) if speeds else None
            return self._with_velocity(here, speeds, {}) if v is None else State(self.skel, here.q, v, here.references)
        except AssemblyError as error:
            raise AssemblyError(f"{place}{error}", gap=error.gap, loop=error.loop) from error
        except SingularityError as error:
            raise SingularityError(f"{place}{error}", singular_values=error.singular_values) from error
        except UsageError as error:
            raise UsageError(f"{place}{error}") from error

    def _started(self, here: Instant, positions: Mapping[str, Any]) -> Instant | None:
        """The position of `start:` by the quick way, where it names the drives and nothing else."""
        names = [d.joint for d in self.description.drives]
        if self._closing is None or set(names) != set(positions) or not all(isinstance(x, float) for x in positions.values()):
            return None
        if any(name not in here.references for name in names):
            return None
        now = {name: float(here.references[name][0]) for name in names}
        found = self._closing(here.q, here.references, now, positions)
        self._quick = self._quick or found is not None
        return None if found is None else self._at(*found[:2])

    def _driven_speeds(self, here: Instant, speeds: Mapping[str, Any]) -> np.ndarray | None:
        """Velocities by the quick way, where exactly the drives have speeds."""
        names = [d.joint for d in self.description.drives]
        if not self._quick or self._closing is None or set(names) != set(speeds) or not all(isinstance(x, float) for x in speeds.values()):
            return None
        now = {name: float(here.references[name][0]) for name in names}
        found = self._closing(here.q, here.references, now, speeds=[speeds[name] for name in names])
        return None if found is None else found[2]

    @cached_property
    def _closed_sketch(self) -> Closed:
        """Close the loops from the sketch, holding the drives where they are drawn if that is possible."""
        references = self.skel.start_coordinates
        q = np.concatenate([references[n.joint.name] for n in self.tree.nodes]) if self.tree.nodes else np.zeros(0)
        held = [
            cycle.driven(self.description, d.joint, Line(references[d.joint][0], 0.0))
            for d in self.description.drives
            if d.joint in references
        ]
        if held and self._closing is not None and len(held) == len(self.description.drives):
            found = self._closing(q, references, {d.joint: float(references[d.joint][0]) for d in self.description.drives})
            if found is not None:
                self._quick = True
                return Closed(self._at(*found[:2]), 0.0, 0.0)
        if held:
            done = close(self.loops.with_(held), q, references, most=200)
            if done.residual < GOOD_ENOUGH:
                return done
        done = close(self.loops, q, references, most=200)
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
        """Assemble as `System.assemble` documents."""
        for what, wanted in (("q", q), ("v", v), ("pose", pose), ("point", point)):
            if wanted is not None and not isinstance(wanted, Mapping):
                raise UsageError(f"{what} must be a dict by name, such as {{'A': 0.3}}, not {type(wanted).__name__}.")
        here = self._at(self.start.q, self.start.references)
        if isinstance(guess, State):
            here = self._at(guess.q, guess.references)
        elif guess:
            here = self._from_guess(guess, q or {})
        targets = self._positions(q or {}, here)
        targets += [self._point_target(name, place, here) for name, place in (point or {}).items()]
        targets += [self._pose_target(name, wanted, here) for name, wanted in (pose or {}).items()]
        if targets:
            here = self._walk(here, targets)
        speeds = {k: x for k, x in (v or {}).items() if not self.is_point(k)}
        return self._with_velocity(here, speeds, {k: x for k, x in (v or {}).items() if self.is_point(k)})

    def accelerations(self, st: State, wanted: Mapping[str, Any] | Any, drives: Iterable[str]) -> np.ndarray:
        """Accelerations on the loops: of the drives (zero unless given), of joints and points by name, or an array to check."""
        c = self.loops.at(st.q, st.v, st.t, st.references)
        if wanted is not None and not isinstance(wanted, Mapping):
            a = np.asarray(wanted, dtype=float)
            if a.shape != (self.tree.nv,) or not np.isfinite(a).all():
                raise UsageError(f"accelerations need {self.tree.nv} finite entries, or a dict by joint name.")
            return self._on_the_loops(c, a)
        pairs = [self._accelerated(name, x, st) for name, x in (wanted or {}).items()]
        rest = [self._accelerated(name, 0.0, st) for name in drives if name not in (wanted or {})]
        adding = self._adding(st, [p[0] for p in pairs], [p[0] for p in rest])
        pairs += [rest[i] for i in adding]  # redundant drives follow the others
        return self.rates(st, [p[0] for p in pairs], [p[1] for p in pairs], second=True)

    def _on_the_loops(self, c: Closure, a: np.ndarray) -> np.ndarray:
        """Check accelerations; beside a singular position, where they are known less exactly, take the nearest on the loops."""
        rows = self.loops.row_scale
        gap = (c.J @ a + c.k) / rows
        size = 1.0 + np.abs(a / self.loops.columns).max(initial=0.0) + np.abs(c.k / rows).max(initial=0.0)
        if np.abs(gap).max(initial=0.0) <= CONSISTENT * size:
            return a
        f = self.loops.factored(c)
        correction = f.solve(gap)
        off = float(np.abs(correction).max())
        if f.s[f.rank - 1] < SUSPECT and off <= UNCERTAIN * size:
            return a - correction * self.loops.columns
        raise UsageError(
            f"these accelerations contradict the closed loops: the nearest possible ones differ by {off:.3g} rad/s^2 (or "
            f"{off * self.loops.kappa:.3g} m/s^2). Give the accelerations of the drives by name; those of the other joints follow."
        )

    def _adding(self, st: State, readers: Sequence[Constraint], more: Sequence[Constraint]) -> list[int]:
        """Numbers of those further readers that fix a degree of freedom which the others and those before them leave.

        All rows are evaluated once, because robots have many drives; ranks are those of parts of one matrix.
        """
        if not more:
            return []
        tied = self.loops.with_([*readers, *more])
        c = tied.at(st.q, st.v, st.t, st.references)
        J, rows = tied.dimensionless(c)[1], c.rows[len(c.rows) - len(more) :]
        held = list(range(rows[0].start))
        rank, whole = factor(J.first_rows(len(held)) if isinstance(J, SparseMatrix) else J[held]).rank, factor(J).rank
        if whole - rank == len(J) - len(held):
            return list(range(len(more)))
        out = []
        for i, r in enumerate(rows):
            with_it = factor(J[[*held, *range(r.start, r.stop)]]).rank
            if with_it > rank:
                rank, held = with_it, [*held, *range(r.start, r.stop)]
                out.append(i)
            if rank == whole:
                break
        return out

    def rates(self, st: State, readers: Sequence[Constraint], wanted: Sequence[Any], *, second: bool = False) -> np.ndarray:
        """v (or with `second` a) on the loops for which the readers' rates (second rates) are the wanted ones."""
        tied = self.loops.with_(readers)
        full = tied.at(st.q, st.v if second else np.zeros(self.tree.nv), st.t, st.references)
        mine = len(self.loops.constraints)
        base = full.k if second else np.zeros(len(full.k))
        right = np.concatenate(
            [-base[r] for r in full.rows[:mine]] + [w - base[r] for w, r in zip(wanted, full.rows[mine:], strict=True)] + [np.zeros(0)]
        )
        f = tied.factored(full)
        y = f.solve(right / tied.row_scale)
        gap = np.abs(tied.dimensionless(full)[1] @ y - right / tied.row_scale).max(initial=0.0)
        if gap > 1e-6 * (1.0 + np.abs(right / tied.row_scale).max(initial=0.0)):
            raise cannot_move(self.loops, tied, st.q, st.references, st.t)
        return y * self.loops.columns

    def jacobian(self, st: State, of: str, names: Sequence[str]) -> np.ndarray:
        """Jacobian as `System.jacobian` documents: one column a name, all other drives at rest."""
        planar = self.description.planar
        readers = [self.reader(name, st) for name in names]
        still = State(self.skel, st.q, np.zeros(self.tree.nv), st.references, st.t)
        columns = []
        for i in range(len(names)):
            wanted = [np.array([1.0 if k == i else 0.0]) for k in range(len(names))]
            m = motion(self.skel, st.q, self.rates(still, readers, wanted))
            if self.is_point(of):
                columns.append(locate(self.skel, m, self.point_ref(of)).velocity[: 2 if planar else 3])
                continue
            node = self.skel.node(of)
            _, V, _ = node_motion(self.skel, m, node)
            v = locate_at(self.skel, m, node, np.zeros(3)).velocity
            columns.append(np.array([V[2], v[0], v[1]]) if planar else np.concatenate([V[:3], v]))
        return np.array(columns).T

    def reader(self, name: str, st: State) -> Constraint:
        """A constraint whose rate is that of a joint, cylinder or point."""
        return self._accelerated(
            name, [0.0, 0.0] if self.description.planar and self.is_point(name) else [0.0] * 3 if self.is_point(name) else 0.0, st
        )[0]

    def _accelerated(self, name: str, value: Any, st: State) -> tuple[Constraint, np.ndarray]:
        """A constraint that reads a joint, cylinder or point, and the second derivative it should have."""
        here = st.instant
        if self.is_point(name):
            return self._point_target(name, self._here(name, here), here), self._vector(value, "acceleration", name)[
                : 2 if self.description.planar else 3
            ]
        if name in lengths(self.description):
            length = cycle.coordinate_now(self.loops, name, here)
            rate = float(here.travel_rate(coordinate(self.description, name)))
            constraint = cycle.driven(self.description, name, Line(length, rate))
            return constraint, np.array([quantity(value, KINDS["acceleration"])])
        return self.targets.read(name, value, here)

    def branch(self, st: State, speeds: Mapping[str, Any]) -> np.ndarray:
        """The velocity along a branch through a singular position that is nearest to the named joint speeds."""
        here = st.instant
        moving = self.loops.with_([c for name, x in speeds.items() for c in self.targets.speeds(name, x, here)])
        guess = self._solved(moving, st.q, st.references)
        v = branch_velocity(self.loops, st.q, guess, st.t, st.references)
        k = self.loops.at(st.q, v, st.t, st.references).k / self.loops.row_scale
        lost = self.loops.factored(self.loops.at(st.q, v, st.t, st.references), 1e-6).left_null
        if (lost.shape[1] and np.abs(lost.T @ k).max() > 1e-6 * (1.0 + float(v @ v))) or not v @ v > 0.0:
            raise SingularityError(f"no branch through this position moves like {dict(speeds)}; name the speeds of more joints.")
        return v

    def branches(self, q: Mapping[str, Any] | None = None, *, most: int | None = None, tries: int = 400, method: str = "auto") -> Branches:
        """Find assembly modes as `System.branches` documents."""
        from linkwright.motion.assembly_modes import assembly_modes

        here = self.start.instant
        held = {d.joint: cycle.coordinate_now(self.loops, d.joint, here) for d in self.description.drives} if q is None else q
        fixed = self.held_loops(held, here)
        check_driven(self.loops, fixed, here, list(held))
        return assembly_modes(self, fixed, held, most=most, tries=tries, method=method)

    def coordinate(self, name: str) -> tuple[Joint, int, str]:
        """Return (joint, index, kind) of a coordinate by name: `"A"`, `"C.slide"`."""
        part = self.targets.part(name)
        joint = part.joint if isinstance(part, JointCoordinate) else part
        if not isinstance(part, JointCoordinate) or part.q != part.v:
            jt = joints.create(joint.type, joint.options)
            single = [f"{joint.name}.{p}" for p in jt.v_names] if jt.q_names == jt.v_names else ["its body's pose"]
            raise ChannelError(f"'{name}' of the {joint.type} joint '{joint.name}' is no single coordinate. Use {', '.join(single)}.")
        return joint, part.v, part.kind

    def _positions(self, wanted: Mapping[str, Any], here: Instant) -> list[Constraint]:
        return [c for name, x in wanted.items() for c in self.targets.positions(name, x, here)]

    def _held(self, wanted: Mapping[str, Any], here: Instant) -> list[Constraint]:
        return [c for name, x in wanted.items() for c in self.targets.positions(name, x, here, walked=False)]

    def held_loops(self, wanted: Mapping[str, Any], here: Instant) -> Loops:
        """The loops with joints and cylinders held at wanted values."""
        return self.loops.with_(self._held(wanted, here))

    def is_point(self, name: str) -> bool:
        """True for the name of a point of a body."""
        return name.split(".")[0] in {b.name for b in self.description.bodies} and "." in name and not self.targets.names_joint(name)

    def point_ref(self, name: str) -> tuple[str, str]:
        body, _, point = name.partition(".")
        self.description.body(body).point(point)
        return body, point

    def _vector(self, values: Any, kind: str, name: str) -> np.ndarray:
        size = 2 if self.description.planar else 3
        items = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
        if len(items) != size:
            raise UsageError(f"'{name}' needs {counted(size, 'number')}, got {len(items)}.")
        return np.array([quantity(x, KINDS[kind]) for x in items] + [0.0] * (3 - size))

    def _point_target(self, name: str, place: Any, here: Instant) -> PointTarget:
        ref = self.point_ref(name)
        now = locate(self.skel, here.motion, ref).position
        axes = (0, 1) if self.description.planar else (0, 1, 2)
        return PointTarget(ref, tuple(now), tuple(self._vector(place, "length", name)), axes)

    def _pose_target(self, body: str, wanted: Any, here: Instant) -> PoseTarget:
        node = self.skel.node(body)
        X_now = node_motion(self.skel, here.motion, node)[0]
        now = Pose(X_now.R, X_now.p + self.skel.origin(node))
        X = self.pose_value(body, wanted)
        turn = rotation_vector_between(now.R, X.R)
        begin = (tuple(map(tuple, now.R)), tuple(now.p))
        return PoseTarget(body, begin, tuple(turn), tuple(X.p), self.description.planar)

    def pose_value(self, body: str, wanted: Any) -> Pose:
        if isinstance(wanted, Pose):
            return wanted
        if self.description.planar and len(wanted) == 3:
            x, y = (quantity(w, KINDS["length"]) for w in wanted[:2])
            half = 0.5 * quantity(wanted[2], KINDS["angle"], "the angle of a pose")
            return Pose(quaternion_rotation(np.array([np.cos(half), 0.0, 0.0, np.sin(half)])), np.array([x, y, 0.0]))
        if len(wanted) == 2 and np.shape(wanted[0]) == (3, 3) and np.shape(wanted[1]) == (3,):
            return Pose(np.asarray(wanted[0], float), np.asarray(wanted[1], float))
        raise UsageError(f"the pose of '{body}' must be a Pose, a pair (R, p)" + (" or (x, y, angle)." if self.description.planar else "."))

    def _from_guess(self, guess: Mapping[str, Any], wanted: Mapping[str, Any]) -> Instant:
        """Close the loops from other joint values, holding the wanted coordinates at their final values."""
        q, references, asked = np.array(self.start.q), dict(self.start.references), {}
        for name, value in guess.items():
            joint = self._guessed(name, value, references)
            if joint in self.tree.node_of_joint:
                q[self.tree.nodes[self.tree.node_of_joint[joint]].q] = references[joint]
            elif name not in wanted:
                asked[name] = value
        here = self._at(q, references)
        fixed = self.loops.with_(self._held(wanted, here))
        if asked:  # cut joints and cylinders cannot be set, only asked for; best effort, then let go
            rough = close(fixed.with_(self._held(asked, here)), q, references, most=200)
            q, references = rough.at.q, rough.at.references
        done = close(fixed, q, references, most=200)
        if done.residual > GOOD_ENOUGH:
            raise open_error(fixed, done, "the guess does not lead to a closed position: ")
        return done.at

    def _guessed(self, name: str, value: Any, references: dict[str, Any]) -> str:
        """Put a guess into the reference coordinates of its joint, and return the joint's name; empty for a cylinder."""
        if name in lengths(self.description):
            return ""
        turned = self.targets.attitude(name)
        if turned is not None:
            references[turned.name] = np.concatenate([attitude(name, value), references[turned.name][4:]])
            return turned.name
        part = self.targets.part(name)
        if not isinstance(part, JointCoordinate):
            references[part.name] = self.targets.values(part, value, rate=False)
            return part.name
        if part.q is None:
            raise UsageError(f"'{name}' is a velocity and cannot be guessed; give a position.")
        x = quantity(value, KINDS[part.kind], f"'{name}'")
        references[part.joint.name] = np.array([x if k == part.q else y for k, y in enumerate(references[part.joint.name])])
        return part.joint.name

    def _at(self, q: np.ndarray, references: Mapping[str, Any], v: np.ndarray | None = None) -> Instant:
        """A position on the branch, with the direction v along which it was reached (zero: not walked to)."""
        return Instant(self.skel, q, np.zeros(self.tree.nv) if v is None else v, references=references)

    def _walk(self, here: Instant, targets: list[Constraint]) -> Instant:
        (q, references), left = skipped(self.loops, here.q, here.references, targets)
        tied = self.loops.with_(left)
        there = continuation.walk(tied, continuation.start(tied, q, references), 1.0).at
        done = close(tied, there.q, there.references, 1.0)
        if there.t < 1.0 and not (there.t > 1.0 - AT_THE_END and done.residual < GOOD_ENOUGH):
            raise unreachable(self.loops, left, there, q, references)
        return self._at(done.at.q, done.at.references, there.v)

    def _with_velocity(self, here: Instant, speeds: Mapping[str, Any], points: Mapping[str, Any]) -> State:
        zero = np.zeros(self.tree.nv)
        if not speeds and not points:
            return State(self.skel, here.q, zero, here.references)
        moving = [c for name, value in speeds.items() for c in self.targets.speeds(name, value, here)]
        for name, value in points.items():
            target = self._point_target(name, self._here(name, here), here)
            moving.append(
                PointTarget(target.ref, target.begin, tuple(np.array(target.begin) + self._vector(value, "speed", name)), target.axes)
            )
        return State(self.skel, *self._rates(self.loops.with_(moving), here, len(moving)), here.references)

    def _rates(self, tied: Loops, here: Instant, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Position, and velocities for the wanted speeds; in a singular position on the branch the walk came along."""
        c = tied.at(here.q, np.zeros(self.tree.nv), 0.0, here.references)
        if tied.factored(c).strong(1e-3) == min(c.J.shape):
            return here.q, self._solved(tied, here.q, here.references)
        rows = slice(c.rows[-count].start, c.rows[-1].stop)
        came, wanted = c.J[rows] @ here.v, -c.b[rows]
        if not came @ came > 0.0:
            return here.q, self._solved(tied, here.q, here.references)
        v = branch_velocity(tied, here.q, here.v * float(came @ wanted) / float(came @ came), 0.0, here.references)
        q, v = self._on_branch(here, v, c.J[rows], wanted)
        c = tied.at(q, np.zeros(self.tree.nv), 0.0, here.references)
        gap = np.abs((c.J @ v + c.b) / tied.row_scale).max(initial=0.0)
        if not gap <= CONSISTENT * (1.0 + np.abs(c.b / tied.row_scale).max(initial=0.0)):  # a dead center of what is wanted
            raise cannot_move(self.loops, tied, here.q, here.references)
        return q, v

    def _on_branch(self, here: Instant, v: np.ndarray, rows: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity on the smooth branch with rows v = wanted, the coordinates of these rows unchanged.

        Where rank is lost a residual of 1e-13 leaves q off the branch by its root: more than a run may correct in a step.
        """
        columns = self.loops.columns
        branch, _ = on_loops(self.loops, here.q, v, 0.0, here.references, mobility(self.loops, here.q, dict(here.references)).rank)
        if branch is None:
            return here.q, v
        held = factor(np.concatenate([branch.Q.T, rows * columns]))
        step = held.solve(np.concatenate([branch.e, np.zeros(len(wanted))]))
        change = held.solve(np.concatenate([branch.off(v / columns), rows @ v - wanted]))
        return displaced(self.skel, here.q, step * columns), v - change * columns

    def _solved(self, tied: Loops, q: np.ndarray, references: Mapping[str, Any]) -> np.ndarray:
        """Velocities that constraints decide, or why they cannot be."""
        try:
            return solve_rates(tied, q, references, 0.0)
        except SingularityError as error:
            raise cannot_move(self.loops, tied, q, references) from error

    def _here(self, name: str, here: Instant) -> np.ndarray:
        p = locate(self.skel, here.motion, self.point_ref(name)).position
        return p[:2] if self.description.planar else p

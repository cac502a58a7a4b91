"""Putting a mechanism together at wanted joints, points and poses: targets by name, continuation, branches.

`Assembler` turns a user's conditions ("A" at 30 deg, "coupler.P" here, the platform in that pose) into constraints
and walks to them along the loops, from the drawn position or a given state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.errors import AssemblyError, ChannelError, SingularityError, UsageError, counted, nearest
from linkwright.mechanics.closing import continuation
from linkwright.mechanics.closing.mobility import mobility
from linkwright.mechanics.closing.newton import close, open_error, solve_rates
from linkwright.mechanics.closing.singular_passage import SUSPECT, branch_velocity
from linkwright.mechanics.closing.smooth_branch import on_loops
from linkwright.mechanics.constraints import Constraint, Driver, PointTarget, PoseTarget
from linkwright.mechanics.constraints.loops import Closure, Loops
from linkwright.mechanics.constraints.target import JointTarget, rotation_vector_between
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import displaced, locate, locate_at, motion, node_motion
from linkwright.model.coordinates import SPEED_KINDS, JointCoordinate, coordinate, entry_of, lengths
from linkwright.model.curves.polynomial import Line
from linkwright.model.description import Joint
from linkwright.model.file import quantity
from linkwright.model.file.geometry import rotation_rpy
from linkwright.motion import cycle
from linkwright.motion.cycle import skipped
from linkwright.motion.joint_limits import check_driven
from linkwright.motion.unreachable_targets import cannot_move, unreachable
from linkwright.numerics.linalg import SparseMatrix, factor
from linkwright.numerics.memory_and_threads import all_in_use
from linkwright.numerics.spatial import Pose, quaternion_rotation, rotation_quaternion
from linkwright.numerics.tolerances import CLOSED_AT_BEST
from linkwright.properties import cached_property
from linkwright.results.branches import Branches
from linkwright.results.state import State
from linkwright.text.units import KINDS, shown

CONSISTENT = 1e-6  # share of the accelerations by which they may open the loops
UNCERTAIN = 1e-2  # the same beside a singular position
AT_THE_END = 0.02  # share of the way that is left where a walk slows down before a dead center, whose neighborhood it cannot step through


Closing = Callable[..., tuple[np.ndarray, dict[str, Any], np.ndarray] | None]


class Sketch(NamedTuple):
    """The drawn position closed, by machine code or on floats."""

    at: Instant
    in_code: bool


class Assembler:
    """Finds states of one mechanism on its loops. `closing(q, references, drives, to, speeds)` closes a position in machine code; it gives
    None where the mechanism has no kernel `walk`, or the position is not a plain one. Then the float path closes it."""

    def __init__(self, loops: Loops, closing: Closing | None = None):
        self.loops, self._closing = loops, closing
        self.skel = loops.skel
        self.tree = loops.skel.tree
        self.description = loops.skel.tree.description
        self.targets = Targets(loops)

    def first_position(self) -> tuple[np.ndarray, dict[str, Any]]:
        """Coordinates and cut-joint references of the start: where plans of kernels are made."""
        st = self.start if self._closing is None else Assembler(self.loops).start  # on floats: code is made by these plans
        return st.q, dict(st.references)

    @cached_property
    @all_in_use()
    def start(self) -> State:
        """Return the drawn position closed exactly, at the positions and speeds of `start:`."""
        return self.started(dict(self.description.start))

    def started(self, wanted: Mapping[str, Any]) -> State:
        """Return the drawn position closed exactly, at other positions and speeds than the file's, {"A": 0.3, "A.v": 2.0}."""
        here, in_code = self._closed_sketch
        positions = {k: v for k, v in wanted.items() if not k.endswith(".v")}
        speeds = {k.removesuffix(".v"): v for k, v in wanted.items() if k.endswith(".v")}
        where = dict(self.description.start_places)
        place = next((f"{where[name]}: start: " for name in wanted if name in where and where[name].line), "start: ")
        try:
            if positions:
                walked = self._in_code(here, positions)
                here, in_code = walked or self._walk(here, self._positions(positions, here)), walked is not None
            v = self._speeds_in_code(here, speeds) if in_code and speeds else None
            return self._with_velocity(here, speeds, {}) if v is None else State(self.skel, here.q, v, here.references)
        except AssemblyError as error:
            raise AssemblyError(f"{place}{error}", gap=error.gap, loop=error.loop) from error
        except SingularityError as error:
            raise SingularityError(f"{place}{error}", singular_values=error.singular_values) from error
        except UsageError as error:
            raise UsageError(f"{place}{error}") from error

    def _drives_at(self, references: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, float] | None:
        """Values of the drives, where plain numbers are wanted for exactly these; else None."""
        names = [d.joint for d in self.description.drives]
        if self._closing is None or set(names) != set(wanted) or not all(isinstance(x, float) for x in wanted.values()):
            return None
        return {name: float(references[name][0]) for name in names} if all(name in references for name in names) else None

    def _in_code(self, here: Instant, positions: Mapping[str, Any]) -> Instant | None:
        """The position of `start:` in machine code, where it names the drives and nothing else."""
        now = self._drives_at(here.references, positions)
        found = None if now is None or self._closing is None else self._closing(here.q, here.references, now, positions)
        return None if found is None else self._at(*found[:2])

    def _speeds_in_code(self, here: Instant, speeds: Mapping[str, Any]) -> np.ndarray | None:
        """Velocities in machine code, where exactly the drives have speeds."""
        now = self._drives_at(here.references, speeds)
        if now is None or self._closing is None:
            return None
        found = self._closing(here.q, here.references, now, speeds=[speeds[name] for name in now])
        return None if found is None else found[2]

    @cached_property
    def _closed_sketch(self) -> Sketch:
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
                return Sketch(self._at(*found[:2]), True)
        if held:
            done = close(self.loops.with_(held), q, references, most=200)
            if done.residual < CLOSED_AT_BEST:
                return Sketch(done.at, False)
        done = close(self.loops, q, references, most=200)
        if done.residual > CLOSED_AT_BEST:
            raise open_error(self.loops, done, f"'{self.description.name}' cannot be assembled: ")
        return Sketch(done.at, False)

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
                raise UsageError(
                    f"{what} must be a dict by name, such as {{'A': 0.3}}, not {type(wanted).__name__}.", name=what, value=wanted
                )
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
        if not targets and len(speeds) == len(v or {}) and (found := self._speeds_in_code(here, speeds)) is not None:
            return State(self.skel, here.q, found, here.references)
        return self._with_velocity(here, speeds, {k: x for k, x in (v or {}).items() if self.is_point(k)})

    def accelerations(self, st: State, wanted: Mapping[str, Any] | Any, drives: Iterable[str]) -> np.ndarray:
        """Accelerations on the loops: of the drives (zero unless given), of joints and points by name, or an array to check."""
        c = self.loops.at(st.q, st.v, st.t, st.references)
        if wanted is not None and not isinstance(wanted, Mapping):
            a = np.asarray(wanted, dtype=float)
            if a.shape != (self.tree.nv,) or not np.isfinite(a).all():
                raise UsageError(f"accelerations need {self.tree.nv} finite entries, or a dict by joint name.", name="a")
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
            f"{off * self.loops.kappa:.3g} m/s^2). Give the accelerations of the drives by name. The other joints follow.",
            name="a",
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
            raise SingularityError(f"no branch through this position moves like {dict(speeds)}. Name the speeds of more joints.", name="v")
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
            raise ChannelError(
                f"'{name}' of the {joint.type} joint '{joint.name}' is not a single coordinate. Use {', '.join(single)}.", name=name
            )
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
            raise UsageError(f"'{name}' needs {counted(size, 'number')}, got {len(items)}.", name=name)
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
        if done.residual > CLOSED_AT_BEST:
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
            raise UsageError(f"'{name}' is a velocity and cannot be guessed. Give a position.", name=name)
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
        if there.t < 1.0 and not (there.t > 1.0 - AT_THE_END and done.residual < CLOSED_AT_BEST):
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


# ----------------------------------------------------------------------------------------------------
# Targets of joints and cylinders by name, as constraints: positions to walk to, positions to hold, speeds
#     A  C.slide                   one coordinate: a number
#     lift                         a cylinder: its length
#     U  [angle1, angle2]          a joint of several coordinates: a list in the joint's order, or one of them by name (U.angle1)
#     S  [qw, qx, qy, qz]          a ball joint: the quaternion of the second body's frame in the first's; speeds [wx, wy, wz]
#     base  [qw .. qz, x, y, z]    a free joint: quaternion and position (or a Pose); speeds [wx, wy, wz, x, y, z], angular first
#     base.quat  base.rpy          its rotation alone; base.vx, base.wz single speeds
#
# Angular velocities of ball and free joints are in the axes of the moving frame M, velocities of a free joint in the axes of F, as
# in `names.v`. Names of speeds may end in `.v`. A body without any tree joint has an implicit free joint, called `body.free`.

FAR = 1e4  # radians, or multiples of the characteristic length


@dataclass(frozen=True)
class Targets:
    """Constraints for what a caller names."""

    loops: Loops

    # ---------------------------------------------------------------- names

    def _joint(self, name: str) -> tuple[Joint, str]:
        """(joint, rest of the name)."""
        tree = self.loops.skel.tree
        head, _, part = name.partition(".")
        implicit = {n.joint.name: n.joint for n in tree.nodes if n.body in tree.floating}
        if head in implicit and part.partition(".")[0] == "free":
            return implicit[head], part.partition(".")[2]
        every = {**implicit, **{j.name: j for j in tree.description.joints}}
        if head not in every:
            more = lengths(tree.description)
            known = [*every, *more]
            kind = "Joints and cylinders" if more else "Joints"
            raise ChannelError(f"there is no joint '{name}'.", nearest(name, known, kind))
        return every[head], part

    def part(self, name: str) -> JointCoordinate | Joint:
        """The entry of a joint's velocity that a name means, or the joint where it means all of several."""
        joint, part = self._joint(name)
        jt = joints.create(joint.type, joint.options)
        if not part and jt.nv != 1:
            return joint
        if part in joints.speed_names(jt):
            return replace(entry_of(joint, joints.speed_names(jt)[part], name), q=None)
        if part not in jt.v_names:
            names = ("", *jt.v_names, *joints.speed_names(jt), *joints.attitudes(jt))
            allowed = list(dict.fromkeys(f"{joint.name}.{p}" if p else joint.name for p in names)) if jt.nv else []
            raise ChannelError(
                f"'{name}' is not a coordinate of the {joint.type} joint '{joint.name}'. Use {', '.join(allowed) or 'another joint'}.",
                name=name,
            )
        return entry_of(joint, jt.v_names.index(part), name)

    def attitude(self, name: str) -> Joint | None:
        """The ball or free joint whose whole rotation a name means: `base.quat`, `base.rpy`."""
        head, _, part = name.rpartition(".")
        if part not in ("quat", "rpy") or not head:
            return None
        joint, rest = self._joint(head)
        return joint if not rest and part in joints.attitudes(joints.create(joint.type, joint.options)) else None

    def names_joint(self, name: str) -> bool:
        """True if a name with a dot means a joint's component, and not a point of a body of the same name."""
        try:
            if self.attitude(name) is not None:
                return True
            found = self.part(name.removesuffix(".v"))
        except ChannelError:
            return False
        return isinstance(found, JointCoordinate) or not any(name.startswith(f"{b.name}.") for b in self.loops.skel.tree.description.bodies)

    def _is_length(self, name: str) -> bool:
        return name in lengths(self.loops.skel.tree.description)

    # ---------------------------------------------------------------- values

    def values(self, joint: Joint, value: Any, rate: bool) -> np.ndarray:
        """The coordinates, or with `rate` the speeds, of a whole joint, in SI; a quaternion is normalized."""
        jt = joints.create(joint.type, joint.options)
        names = jt.v_names if rate else jt.q_names
        if isinstance(value, Pose) and not rate and "quaternion" in jt.coordinate_kinds:
            return np.concatenate([rotation_quaternion(value.R), value.p])[: jt.nq]
        kinds = ("angle",) * 3 + jt.coordinate_kinds[4:] if rate and "quaternion" in jt.coordinate_kinds else jt.coordinate_kinds
        items = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, dict)) else [value]
        what = "speeds" if rate else "coordinates"
        if not names:
            raise UsageError(
                f"'{joint.name}' is a {joint.type} joint: it has no {what}, so none can be given. Leave it out.", name=joint.name
            )
        if len(items) != len(names):
            raise UsageError(
                f"'{joint.name}' is a {joint.type} joint and needs a list of {len(names)} {what} ({', '.join(names)}), or one of them "
                f"by name, {joint.name}.{names[-1]}; {len(items)} {'was' if len(items) == 1 else 'were'} given.",
                name=joint.name,
            )
        out = np.array([_number(x, k, rate, f"'{joint.name}.{n}'") for x, k, n in zip(items, kinds, names, strict=True)])
        if not rate and "quaternion" in kinds:
            size = float(np.linalg.norm(out[:4]))
            if not size > 0.0:
                raise UsageError(
                    f"'{joint.name}': the quaternion is zero, which is not a rotation. Without one write 1, 0, 0, 0.", name=joint.name
                )
            out[:4] /= size
        return out

    # ---------------------------------------------------------------- constraints

    def positions(self, name: str, value: Any, here: Instant, *, walked: bool = True) -> list[Constraint]:
        """Constraints that lead from here (t = 0) to the wanted position (t = 1), or with `walked=False` hold it at once."""
        d = self.loops.skel.tree.description

        def law(now: float, there: float) -> Line:
            return Line(now, there - now) if walked else Line(there, 0.0)

        if self._is_length(name):
            length = quantity(value, KINDS["length"], f"'{name}'")
            if not length > 0.0:
                raise UsageError(
                    f"'{name}' is a cylinder: its length is greater than zero, not {shown(length, KINDS['length'], d.units)}.", name=name
                )
            return [cycle.driven(d, name, law(cycle.coordinate_now(self.loops, name, here), length))]
        turned = self.attitude(name)
        if turned is not None:
            there = np.array(here.references[turned.name], dtype=float)
            there[:4] = attitude(name, value)
            return self._whole(turned, there, here, walked, (0, 1, 2))
        part = self.part(name)
        if isinstance(part, Joint):
            return self._whole(part, self.values(part, value, rate=False), here, walked)
        if part.q is None:
            raise UsageError(
                f"'{name}' is a velocity, without a position. Give the joint's quaternion, `{part.joint.name}.quat`, or v=.", name=name
            )
        now, there = float(here.references[part.joint.name][part.q]), quantity(value, KINDS[part.kind], f"'{name}'")
        self._check_far(name, now, there, part.kind)
        if part.q == part.v:
            return [Driver(part.joint, law(now, there), part.v)]
        begin = np.array(here.references[part.joint.name], dtype=float)
        rate = np.zeros(joints.create(part.joint.type, part.joint.options).nv)
        if walked:
            rate[part.v] = there - now
        else:
            begin[part.q] = there
        return [JointTarget(part.joint, tuple(begin), tuple(rate), (part.v,))]

    def _whole(self, joint: Joint, there: np.ndarray, here: Instant, walked: bool, pick: tuple[int, ...] | None = None) -> list[Constraint]:
        jt = joints.create(joint.type, joint.options)
        now = np.array(here.references[joint.name], dtype=float)
        if "quaternion" not in jt.coordinate_kinds:
            for i, kind in enumerate(jt.coordinate_kinds):
                self._check_far(f"{joint.name}.{jt.q_names[i]}", now[i], there[i], kind)
            laws = [Line(a, b - a) if walked else Line(b, 0.0) for a, b in zip(now.tolist(), there.tolist(), strict=True)]
            return [Driver(joint, law, i) for i, law in enumerate(laws)]
        rate = np.zeros(jt.nv)
        if walked:
            R = quaternion_rotation(now[:4])
            rate[:3] = R.T @ rotation_vector_between(R, quaternion_rotation(there[:4]))  # in M's axes
            rate[3:] = there[4:] - now[4:]
        return [JointTarget(joint, tuple(now if walked else there), tuple(rate), tuple(range(jt.nv)) if pick is None else pick)]

    def _check_far(self, name: str, now: float, there: float, kind: str) -> None:
        if abs(there - now) > FAR * (1.0 if kind == "angle" else self.loops.kappa):
            far, references = (shown(x, KINDS[kind], self.loops.skel.tree.description.units) for x in (there, now))
            raise UsageError(
                f"'{name}' = {far} is too far from its start, {references}, to be walked to. Check the value and its unit.", name=name
            )

    def speeds(self, name: str, value: Any, here: Instant) -> list[Constraint]:
        """Constraints that move at the wanted speed from here on."""
        base = name.removesuffix(".v")
        if self._is_length(base):
            rate = quantity(value, KINDS["speed"], f"the speed of '{name}'")
            length = cycle.coordinate_now(self.loops, base, here)
            return [cycle.driven(self.loops.skel.tree.description, base, Line(length, rate))]
        part = self.part(base)
        if isinstance(part, Joint):
            return [self._moving(part, self.values(part, value, rate=True), range(joints.create(part.type, part.options).nv), here)]
        x = quantity(value, KINDS[part.speed_kind], f"the speed of '{name}'")
        if part.q == part.v:
            return [Driver(part.joint, Line(float(here.references[part.joint.name][part.v]), x), part.v)]
        rates = np.zeros(joints.create(part.joint.type, part.joint.options).nv)
        rates[part.v] = x
        return [self._moving(part.joint, rates, [part.v], here)]

    def _moving(self, joint: Joint, rates: np.ndarray, pick: Sequence[int], here: Instant) -> JointTarget:
        return JointTarget(joint, tuple(np.asarray(here.references[joint.name], dtype=float)), tuple(rates), tuple(pick))

    def read(self, name: str, value: Any, here: Instant) -> tuple[Constraint, np.ndarray]:
        """A constraint that reads the acceleration of a joint or one of its components, and the wanted one."""
        part = self.part(name)
        joint, pick = (part, None) if isinstance(part, Joint) else (part.joint, part.v)
        nv = joints.create(joint.type, joint.options).nv
        if pick is None:
            if np.shape(value) != (nv,):
                raise UsageError(f"'{name}' is a {joint.type} joint and needs a list of {nv} accelerations, as in names.v.", name=name)
            return self._moving(joint, np.zeros(nv), range(nv), here), np.asarray(value, dtype=float)
        assert isinstance(part, JointCoordinate)
        x = np.array([quantity(value, KINDS[part.acceleration_kind])])
        if part.q == pick:
            return Driver(joint, Line(float(here.references[joint.name][pick]), 0.0), pick), x
        return self._moving(joint, np.zeros(nv), [pick], here), x


def attitude(name: str, value: Any) -> np.ndarray:
    """The unit quaternion of `base.quat: [w, x, y, z]` or `base.rpy: [roll, pitch, yaw]`."""
    quat = name.endswith(".quat")
    items = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, dict)) else [value]
    if len(items) != (4 if quat else 3):
        raise UsageError(f"'{name}' needs a list of {'four numbers wxyz' if quat else 'three angles'}; {len(items)} given.", name=name)
    if not quat:
        R = rotation_rpy(*(quantity(x, KINDS["angle"], f"'{name}'") for x in items))
        return rotation_quaternion(np.array(R, dtype=float))
    q = np.array([_number(x, "quaternion", False, f"'{name}'") for x in items])
    if not np.linalg.norm(q) > 0.0:
        raise UsageError(f"'{name}' is zero, which is not a rotation. Without one write 1, 0, 0, 0.", name=name)
    return q / np.linalg.norm(q)


def _number(value: Any, kind: str, rate: bool, what: str) -> float:
    if kind == "quaternion":
        try:
            return float(value)
        except (TypeError, ValueError):
            raise UsageError(f"{what} is a pure number, not {value!r:.40}.", name=what, value=value) from None
    return quantity(value, KINDS[SPEED_KINDS[kind] if rate else kind], what)

"""Putting a mechanism together at wanted joints, points and poses: targets by name, continuation, branches.

`Assembler` turns wishes in a user's words ("A" at 30 deg, "coupler.P" here, the platform in that pose) into constraints
and walks to them along the loops, from the drawn position or a given state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwright import continuation, cycle, joints
from linkwright.branches import distinct_positions
from linkwright.closing import GOOD_ENOUGH, Closed, close, gap_text, open_error, solve_rates
from linkwright.constraints import Constraint, Driver, PointTarget, PoseTarget, Rows
from linkwright.constraints.target import rotation_vector_between
from linkwright.description import Joint
from linkwright.errors import AssemblyError, ChannelError, SingularityError, UsageError, nearest
from linkwright.kinematics import joint_rate, locate, locate_at, motion, node_motion, start_values
from linkwright.laws import LinearLaw
from linkwright.loops import Loops
from linkwright.modelfile import quantity
from linkwright.modelfile.units import KINDS, shown
from linkwright.passage import branch_velocity
from linkwright.spatial import Pose, quaternion_rotation
from linkwright.state import State
from linkwright.whole_turns import skipped

AT_THE_END = 0.02  # share of the way that is left where a walk slows down before a dead centre, whose neighbourhood it cannot step through


class Assembler:
    """Finds states of one mechanism on its loops."""

    def __init__(self, loops: Loops):
        self.loops = loops
        self.skel = loops.skel
        self.tree = loops.skel.tree
        self.description = loops.skel.tree.description

    @cached_property
    def start(self) -> State:
        """The drawn position closed exactly, at the positions and speeds of `start:`."""
        closed = self._close_sketch()
        wanted = start_values(self.description)
        positions = {k: v for k, v in wanted.items() if not k.endswith(".v")}
        speeds = {k.removesuffix(".v"): v for k, v in wanted.items() if k.endswith(".v")}
        here = cycle.Position(closed.q, closed.near)
        where = dict(self.description.start_places)
        place = next((f"{where[name]}: start: " for name in wanted if name in where and where[name].line), "start: ")
        try:
            if positions:
                here = self._walk(here, self.coordinate_targets(positions, here))
            return self._with_velocity(here, speeds, {})
        except AssemblyError as error:
            raise AssemblyError(f"{place}{error}", gap=error.gap, loop=error.loop) from error
        except SingularityError as error:
            raise SingularityError(f"{place}{error}", singular_values=error.singular_values) from error
        except UsageError as error:
            raise UsageError(f"{place}{error}") from error

    def _close_sketch(self) -> Closed:
        """Close the loops from the sketch, holding the drives where they are drawn if that is possible."""
        near = self.skel.start_coordinates
        q = np.concatenate([near[n.joint.name] for n in self.tree.nodes]) if self.tree.nodes else np.zeros(0)
        held = [
            cycle.driven(self.description, d.joint, LinearLaw(near[d.joint][0], 0.0)) for d in self.description.drives if d.joint in near
        ]
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
        """What `System.assemble` promises."""
        for what, wishes in (("q", q), ("v", v), ("pose", pose), ("point", point)):
            if wishes is not None and not isinstance(wishes, Mapping):
                raise UsageError(f"{what} must be a dict by name, such as {{'A': 0.3}}, not {type(wishes).__name__}.")
        here = cycle.Position(self.start.q, self.start.near)
        if isinstance(guess, State):
            here = cycle.Position(guess.q, guess.near)
        elif guess:
            here = self._from_guess(guess, q or {})
        targets = [*self.coordinate_targets(q or {}, here)]
        targets += [self._point_target(name, place, here) for name, place in (point or {}).items()]
        targets += [self._pose_target(name, wanted, here) for name, wanted in (pose or {}).items()]
        if targets:
            here = self._walk(here, targets)
        speeds = {k: x for k, x in (v or {}).items() if not self._is_point(k)}
        return self._with_velocity(here, speeds, {k: x for k, x in (v or {}).items() if self._is_point(k)})

    def accelerations(self, st: State, wanted: Mapping[str, Any] | Any, drives: Iterable[str]) -> np.ndarray:
        """Accelerations on the loops: of the drives (zero unless given), of joints and points by name, or an array to check."""
        c = self.loops.at(st.q, st.v, st.t, st.near)
        if wanted is not None and not isinstance(wanted, Mapping):
            a = np.asarray(wanted, dtype=float)
            if a.shape != (self.tree.nv,) or not np.isfinite(a).all():
                raise UsageError(f"accelerations need {self.tree.nv} finite entries, or a dict by joint name.")
            gap = np.abs((c.J @ a + c.k) / self.loops.row_scale).max(initial=0.0)
            if gap > 1e-6 * (1.0 + np.abs(a / self.loops.columns).max(initial=0.0)):
                raise UsageError(
                    f"these accelerations open the loops (J a + k = {gap:.3g}); give those of the drives and let the rest follow."
                )
            return a
        pairs = [self._accelerated(name, x, st) for name, x in (wanted or {}).items()]
        for name in (n for n in drives if n not in (wanted or {})):
            more = self._accelerated(name, 0.0, st)
            if self._adds(st, [p[0] for p in pairs], more[0]):  # redundant drives follow the others
                pairs.append(more)
        return self.rates(st, [p[0] for p in pairs], [p[1] for p in pairs], second=True)

    def _adds(self, st: State, readers: Sequence[Constraint], more: Constraint) -> bool:
        """Whether one more reader fixes a freedom that the others leave."""
        ranks = []
        for tied in (self.loops.with_(readers), self.loops.with_([*readers, more])):
            ranks.append(tied.factored(tied.at(st.q, st.v, st.t, st.near)).rank)
        return ranks[1] > ranks[0]

    def rates(self, st: State, readers: Sequence[Constraint], wanted: Sequence[Any], *, second: bool = False) -> np.ndarray:
        """v (or with `second` a) on the loops for which the readers' rates (second rates) are the wanted ones."""
        tied = self.loops.with_(readers)
        full = tied.at(st.q, st.v if second else np.zeros(self.tree.nv), st.t, st.near)
        mine = len(self.loops.constraints)
        base = full.k if second else np.zeros(len(full.k))
        right = np.concatenate(
            [-base[r] for r in full.rows[:mine]] + [w - base[r] for w, r in zip(wanted, full.rows[mine:], strict=True)] + [np.zeros(0)]
        )
        f = tied.factored(full)
        y = f.solve(right / tied.row_scale)
        gap = np.abs(tied.dimensionless(full)[1] @ y - right / tied.row_scale).max(initial=0.0)
        if gap > 1e-6 * (1.0 + np.abs(right / tied.row_scale).max(initial=0.0)):
            raise SingularityError(
                "the mechanism cannot move as asked: it stands at a dead centre, or the wishes contradict each other.",
                singular_values=tuple(f.s),
            )
        return y * self.loops.columns

    def jacobian(self, st: State, of: str, names: Sequence[str]) -> np.ndarray:
        """What `System.jacobian` promises: one column a name, all other drives at rest."""
        planar = self.description.planar
        readers = [self.reader(name, st) for name in names]
        still = State(self.skel, st.q, np.zeros(self.tree.nv), st.near, st.t)
        columns = []
        for i in range(len(names)):
            wanted = [np.array([1.0 if k == i else 0.0]) for k in range(len(names))]
            m = motion(self.skel, st.q, self.rates(still, readers, wanted))
            if self._is_point(of):
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
            name, [0.0, 0.0] if self.description.planar and self._is_point(name) else [0.0] * 3 if self._is_point(name) else 0.0, st
        )[0]

    def _accelerated(self, name: str, value: Any, st: State) -> tuple[Constraint, np.ndarray]:
        """A constraint that reads a joint, cylinder or point, and the second derivative it should have."""
        here = cycle.Position(st.q, st.near)
        if self._is_point(name):
            return self._point_target(name, self._here(name, here), here), self._vector(value, "acceleration", name)[
                : 2 if self.description.planar else 3
            ]
        if any(c.name == name for c in self.description.cylinders):
            length = cycle.coordinate_now(self.loops, name, here)
            rate = float(st.instant.length_rate(name))
            constraint = cycle.driven(self.description, name, LinearLaw(length, rate))
            return constraint, np.array([quantity(value, KINDS["acceleration"])])
        every = {j.name: j for j in self.description.joints}
        if name in every and np.ndim(value) == 1:
            joint = every[name]
            return _WholeJoint(joint), np.asarray(value, dtype=float)
        joint, i, kind = self.coordinate(name)
        x = quantity(value, KINDS["angular acceleration" if kind == "angle" else "acceleration"])
        return Driver(joint, LinearLaw(float(st.near[joint.name][i]), 0.0), i), np.array([x])

    def branch(self, st: State, speeds: Mapping[str, Any]) -> np.ndarray:
        """The velocity along a branch through a singular position that is nearest to the named joint speeds."""
        moving = self.loops.with_([self._moving(name, x, cycle.Position(st.q, st.near)) for name, x in speeds.items()])
        guess = solve_rates(moving, st.q, st.near, 0.0)
        v = branch_velocity(self.loops, st.q, guess, st.t, st.near)
        k = self.loops.at(st.q, v, st.t, st.near).k / self.loops.row_scale
        lost = self.loops.factored(self.loops.at(st.q, v, st.t, st.near), 1e-6).left_null
        if (lost.shape[1] and np.abs(lost.T @ k).max() > 1e-6 * (1.0 + float(v @ v))) or not v @ v > 0.0:
            raise SingularityError(f"no branch through this position moves like {dict(speeds)}; name the speeds of more joints.")
        return v

    def branches(self, q: Mapping[str, Any] | None = None, *, most: int = 16, tries: int = 400) -> list[State]:
        """Assembly modes found for the given joint values, nearest to the start first (few loops only)."""
        here = cycle.Position(self.start.q, self.start.near)
        fixed = self.loops.with_([self._held(name, x, here) for name, x in (q or {}).items()])
        found = distinct_positions(fixed, here.q, here.near, most=most, tries=tries)
        return [State(self.skel, p.q, np.zeros(self.tree.nv), p.near) for p in found]

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
            raise ChannelError(
                f"'{name}' is not a coordinate of the {joint.type} joint '{head}'. Use {', '.join(allowed) or 'another joint'}."
            )
        i = jt.q_names.index(part)
        return joint, i, jt.coordinate_kinds[i]

    def _moving(self, name: str, value: Any, here: cycle.Position) -> Driver:
        joint, i, kind = self.coordinate(name.removesuffix(".v"))
        rate = quantity(value, KINDS["angular speed" if kind == "angle" else "speed"], f"the speed of '{name}'")
        return Driver(joint, LinearLaw(float(here.near[joint.name][i]), rate), i)

    def _held(self, name: str, value: Any, here: cycle.Position) -> Driver:
        joint, i, kind = self.coordinate(name)
        return Driver(joint, LinearLaw(quantity(value, KINDS[kind], f"'{name}'"), 0.0), i)

    def coordinate_targets(self, wanted: Mapping[str, Any], here: cycle.Position) -> list[Constraint]:
        out: list[Constraint] = []
        for name, value in wanted.items():
            joint, i, kind = self.coordinate(name)
            now, there = float(here.near[joint.name][i]), quantity(value, KINDS[kind], f"'{name}'")
            if abs(there - now) > 1e4 * (1.0 if kind == "angle" else self.loops.kappa):
                far, here_ = (shown(x, KINDS[kind], self.description.units) for x in (there, now))
                raise UsageError(f"'{name}' = {far} is too far from its start, {here_}, to be walked to; check the value and its unit.")
            out.append(Driver(joint, LinearLaw(now, there - now), i))
        return out

    def _is_point(self, name: str) -> bool:
        return name.split(".")[0] in {b.name for b in self.description.bodies} and "." in name

    def point_ref(self, name: str) -> tuple[str, str]:
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
        ref = self.point_ref(name)
        now = locate(self.skel, motion(self.skel, here.q, np.zeros(self.tree.nv)), ref).position
        axes = (0, 1) if self.description.planar else (0, 1, 2)
        return PointTarget(ref, tuple(now), tuple(self._vector(place, "length", name)), axes)

    def _pose_target(self, body: str, wanted: Any, here: cycle.Position) -> PoseTarget:
        node = self.skel.node(body)
        X_now = node_motion(self.skel, motion(self.skel, here.q, np.zeros(self.tree.nv)), node)[0]
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
        (q, near), left = skipped(self.loops, here.q, here.near, targets)
        tied = self.loops.with_(left)
        there = continuation.walk(tied, continuation.start(tied, q, near), 1.0)
        done = close(tied, there.q, there.near, 1.0)
        if there.t < 1.0 and not (there.t > 1.0 - AT_THE_END and done.residual < GOOD_ENOUGH):
            raise self._unreachable(there, left)
        return cycle.Position(done.q, done.near, there.v)

    def _unreachable(self, walk: Any, targets: list[Constraint]) -> AssemblyError:
        """Say how far it got and how wide the loops gape at the wanted place."""
        tied = self.loops.with_(targets)
        done = close(tied, walk.q, walk.near, 1.0, most=60)
        c = tied.at(done.q, np.zeros(self.tree.nv), 1.0, done.near)
        gaps = {con.name: float(np.abs(part.phi).max()) for con, part in zip(tied.constraints, c.parts, strict=True) if len(part.phi)}
        worst = max(gaps, key=lambda n: gaps[n])
        gap = gap_text(tied, worst, gaps[worst])
        names = ", ".join(t.name for t in targets)
        wanted = sum(len(t.kinds) for t in targets)
        freedoms = self.loops.factored(self.loops.at(walk.q, np.zeros(self.tree.nv), 1.0, walk.near)).null.shape[1]
        if wanted > freedoms:
            return AssemblyError(
                f"{wanted} values ({names}) are wanted of {freedoms} freedom{'s' if freedoms != 1 else ''}, and they do not fit together "
                f"('{worst}' would stay open by {gap}). Give {freedoms or 'none'}, and let the others follow.",
                gap=gaps[worst],
                loop=worst,
            )
        return AssemblyError(
            f"cannot reach the wanted {names}: it gets {100 * walk.t:.1f} % of the way from its start and stops at a dead centre or "
            f"the end of its reach (there '{worst}' would stay open by {gap}). "
            "Choose a value inside the reach (see limits), or another branch by `guess`.",
            gap=gaps[worst],
            loop=worst,
        )

    def _with_velocity(self, here: cycle.Position, speeds: Mapping[str, Any], points: Mapping[str, Any]) -> State:
        zero = np.zeros(self.tree.nv)
        if not speeds and not points:
            return State(self.skel, here.q, zero, here.near)
        moving: list[Constraint] = []
        moving += [self._moving(name, value, here) for name, value in speeds.items()]
        for name, value in points.items():
            target = self._point_target(name, self._here(name, here), here)
            moving.append(
                PointTarget(target.ref, target.begin, tuple(np.array(target.begin) + self._vector(value, "speed", name)), target.axes)
            )
        return State(self.skel, here.q, self._rates(self.loops.with_(moving), here, len(moving)), here.near)

    def _rates(self, tied: Loops, here: cycle.Position, wishes: int) -> np.ndarray:
        """Velocities for the wanted speeds; in a singular position those of the branch the walk came along."""
        c = tied.at(here.q, np.zeros(self.tree.nv), 0.0, here.near)
        s = tied.factored(c).s
        if here.v is None or not len(s) or s[-1] > 1e-3:
            return solve_rates(tied, here.q, here.near, 0.0)
        rows = slice(c.rows[-wishes].start, c.rows[-1].stop)
        came, wanted = c.J[rows] @ here.v, -c.b[rows]
        if not came @ came > 0.0:
            return solve_rates(tied, here.q, here.near, 0.0)
        return branch_velocity(tied, here.q, here.v * float(came @ wanted) / float(came @ came), 0.0, here.near)

    def _here(self, name: str, here: cycle.Position) -> np.ndarray:
        p = locate(self.skel, motion(self.skel, here.q, np.zeros(self.tree.nv)), self.point_ref(name)).position
        return p[:2] if self.description.planar else p


@dataclass(frozen=True)
class _WholeJoint:
    """All velocities of a joint at once, for accelerations given as an array."""

    joint: Joint
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.joint.name

    @property
    def kinds(self) -> tuple[str, ...]:
        kinds = joints.create(self.joint.type, self.joint.options).coordinate_kinds
        return ("angle",) * 3 + kinds[4:] if "quaternion" in kinds else kinds

    def rows(self, skel: Any, m: Any, v: Any, t: Any, near: Any) -> Rows:
        r = joint_rate(skel, m, self.joint, near[self.joint.name])
        n = len(r.v)
        return Rows(np.zeros(n), [(r.first, r.G_first), (r.second, r.G_second)], r.bias, np.zeros(n))

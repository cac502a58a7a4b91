"""A mechanism at one instant, over any scalar: what kinematics, forces, dynamics, drives and channels read.

    Instant(skel, q, v, t, references, a)      q, v and a of the tree joints; `references` of all joints unwrap angles of the cut ones

Everything else is derived on first use: motion of the bodies, closure of the loops, coordinates and rates of any joint, energies.
Forces depend on an instant by name (`channel`): `t`, a joint's `A`, `A.v`, a body's `rocker.angle`, a point's `ram.P.x`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from linkwright import joints as joint_types
from linkwright.compiler.derivatives import traced_rates
from linkwright.errors import ChannelError, ModelError, nearest
from linkwright.mechanics import forces
from linkwright.mechanics.contact.rows import Located, located
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.kinematics.motion import (
    Motion,
    Skeleton,
    accelerations,
    joint_coordinates,
    joint_rate,
    locate,
    locate_at,
    motion,
    node_motion,
    qdot,
)
from linkwright.model.coordinates import Distance, JointCoordinate, coordinate, lengths
from linkwright.model.curves.tables import table
from linkwright.model.description import Joint, Table
from linkwright.numerics.memory_and_threads import essentials
from linkwright.numerics.scalars import arctan2, is_symbolic
from linkwright.numerics.spatial import array, point_acceleration, point_velocity
from linkwright.numerics.tolerances import COMPLEX_STEP
from linkwright.properties import cached_property
from linkwright.text.expressions import Expr, evaluate, free_variables

if TYPE_CHECKING:
    from linkwright.mechanics.constraints.loops import Closure, Loops


class Instant:
    """A mechanism at one time: q, v and (if known) a, and the wrenches `external` on its bodies, given or of the forces `acting`."""

    __getstate__ = essentials

    terms: Mapping[str, Any] = MappingProxyType({})  # computed for this instant: "jerk" of the tree's joints, "tangent", unit loads

    def __init__(
        self,
        skel: Skeleton,
        q: Any,
        v: Any,
        t: Any = 0.0,
        references: Mapping[str, Any] | None = None,
        a: Any = None,
        *,
        loops: Loops | None = None,
        motion: Motion | None = None,
        closure: Closure | None = None,
        external: Sequence[tuple[int, Any]] = (),
        acting: Sequence[forces.Force] = (),
        rotors: Mapping[int, Any] | None = None,
        solver: Callable[[Instant], Any] | None = None,
    ):
        self.skel, self.q, self.v, self.t, self.a = skel, q, v, t, a
        self.references = skel.start_coordinates if references is None else references
        self._loops = loops
        self._given, self._acting = tuple(external), tuple(acting)
        self.rotors = {} if rotors is None else rotors  # node -> inertia that turns with its joint's own speed
        self.solver = solver  # gives the loads at this instant
        self.acting: Any = None  # commands of a controller at this instant
        self.channels: Any = None  # a function that gives the table of everything that can be read by name, where there is one already
        self.joint_data: dict[str, Any] = {}  # of each joint, whatever acts: see dynamics.reactions
        if motion is not None:
            vars(self)["motion"] = motion
        if closure is not None:
            vars(self)["closure"] = closure

    @classmethod
    def moving(cls, skel: Skeleton, motion: Motion, t: Any, references: Mapping[str, Any] | None = None) -> Self:
        """The instant of a motion that is known already."""
        return cls(skel, motion.q, motion.v, t, references, motion=motion)

    def with_external(self, external: Sequence[tuple[int, Any]]) -> Instant:
        """The same instant under other wrenches on bodies; what was derived is shared."""
        return self._changed(_given=tuple(external), _acting=())

    def with_closure(self, closure: Closure) -> Instant:
        """The same instant with another closure of its loops."""
        return self._changed(closure=closure)

    def beside(self, terms: Mapping[str, Any] = MappingProxyType({}), solver: Callable[[Instant], Any] | None = None) -> Instant:
        """The same instant with terms that were computed for it, or who gives its loads."""
        _ = self.motion  # shared
        return self._changed(terms=terms, solver=solver)

    def _changed(self, **other: Any) -> Instant:
        out = object.__new__(Instant)
        vars(out).update({**{name: x for name, x in vars(self).items() if name not in ("loads", "external")}, **other})
        return out

    # ---------------------------------------------------------------- bodies and loops

    @cached_property
    def motion(self) -> Motion:
        return motion(self.skel, self.q, self.v)

    @cached_property
    def touches(self) -> list[Located]:
        """Nearest points of all touches."""
        return located(self.skel, self.motion)

    @cached_property
    def external(self) -> tuple[tuple[int, Any], ...]:
        """Wrenches on bodies: those given, and those of the forces `acting` here."""
        return (*self._given, *self.pushes(self._acting))

    @property
    def loops(self) -> Loops:
        if self._loops is None:
            raise TypeError("this instant was made without loops")
        return self._loops

    @cached_property
    def closure(self) -> Closure:
        """phi, J, k of the loops here."""
        return self.loops.at(self.q, self.v, self.t, self.references, self.motion)

    @property
    def known_a(self) -> Any:
        if self.a is None:
            raise ChannelError("accelerations are not part of this result. A cycle or a simulation has them.", name="accelerations")
        return self.a

    @cached_property
    def A(self) -> list[Any]:
        return accelerations(self.skel, self.motion, self.known_a)

    @cached_property
    def with_accelerations(self) -> Motion:
        return self.motion.with_accelerations(self.A)

    @cached_property
    def loads(self) -> Any:
        """Drive efforts and reactions here."""
        if self.solver is None:
            raise ChannelError("loads are not part of this result. A cycle or a simulation has them.")
        return self.solver(self)

    def term(self, name: str) -> Any:
        """An array that was computed for this instant; raise ChannelError where it was not."""
        if name not in self.terms:
            raise ChannelError(
                f"'{name}' is not part of a state alone. Read the channel from a cycle: m.cycle()['guide.jerk'].", name=name
            )
        return self.terms[name]

    def rate(self, read: Callable[[Instant], Any], jerk: Any) -> Any:
        """d/dt of what `read` gives along the motion, exactly: q moves with v, v with a, a with the jerk, and time runs.

        On symbols by forward mode; on numbers by a complex step.
        """
        motion_ = qdot(self.skel, self.q, self.v)
        if is_symbolic(self.q):
            moving = [*zip(self.q, motion_, strict=True), *zip(self.v, self.known_a, strict=True), *zip(self.known_a, jerk, strict=True)]
            found = traced_rates(np.asarray(read(self), dtype=object), [*moving, (self.t, 1.0)])
            return found if found.ndim else found[()]
        q, v, a = (x + 1j * COMPLEX_STEP * rate for x, rate in ((self.q, motion_), (self.v, self.known_a), (self.known_a, jerk)))
        return np.imag(read(Instant(self.skel, q, v, self.t + 1j * COMPLEX_STEP, self.references, a))) / COMPLEX_STEP

    # ---------------------------------------------------------------- joints, points

    def joint(self, name: str) -> Joint:
        return self.skel.tree.description.joint(name)

    def coordinates(self, joint: Joint) -> Any:
        node = self.skel.tree.node_of_joint.get(joint.name)
        if node is not None:
            return self.q[self.skel.tree.nodes[node].q]
        return joint_coordinates(self.skel, self.motion, joint, self.references[joint.name])

    def rates(self, joint: Joint) -> Any:
        own = self._own(joint)
        return joint_rate(self.skel, self.motion, joint, self.references[joint.name]).v if own is None else self.v[own]

    def joint_accelerations(self, joint: Joint) -> Any:
        """dv/dt of any joint; of a cut one its bias formula evaluated with the bodies' full accelerations."""
        own = self._own(joint)
        return joint_rate(self.skel, self.with_accelerations, joint, self.references[joint.name]).bias if own is None else self.known_a[own]

    def _own(self, joint: Joint) -> slice | None:
        """Entries of a tree joint in v."""
        node = self.skel.tree.node_of_joint.get(joint.name)
        return None if node is None else self.skel.tree.nodes[node].v

    def coordinate(self, joint: Joint, i: int = 0) -> Any:
        return self.coordinates(joint)[i]

    def speed(self, joint: Joint, i: int = 0) -> Any:
        return self.rates(joint)[i]

    def point(self, node: int, p_B: Any) -> Any:
        return locate_at(self.skel, self.motion, node, p_B).position

    def point_velocity(self, node: int, p_B: Any) -> Any:
        X, V, _ = node_motion(self.skel, self.motion, node)
        return point_velocity(V, X.point(p_B))

    def point_acceleration(self, node: int, p_B: Any) -> Any:
        if node < 0:
            return np.zeros(3)
        return point_acceleration(self.motion.V[node], self.A[node], self.motion.X[node].point(p_B))

    def rotation(self, node: int) -> Any:
        return node_motion(self.skel, self.motion, node)[0].R

    # ---------------------------------------------------------------- coordinates: of a joint, or the distance of two points

    def travel(self, x: JointCoordinate | Distance) -> Any:
        """The value of a coordinate."""
        if isinstance(x, Distance):
            return forces.line(self, x.between).length
        if x.q is None:
            raise ChannelError(f"'{x.name}' is a component of an angular velocity, which is the rate of no coordinate.", name=x.name)
        return self.coordinate(x.joint, x.q)

    def travel_rate(self, x: JointCoordinate | Distance) -> Any:
        return forces.line(self, x.between).rate if isinstance(x, Distance) else self.speed(x.joint, x.v)

    def travel_acceleration(self, x: JointCoordinate | Distance) -> Any:
        """The second derivative; L'' = (d'.d' + d.d'' - L'^2)/L of the line d between two points."""
        if isinstance(x, JointCoordinate):
            return self.joint_accelerations(x.joint)[x.v]
        ends = [(self.skel.node(body), array(self.skel.tree.description.point((body, point)).at)) for body, point in x.between]
        r, v, a = (f(*ends[1]) - f(*ends[0]) for f in (self.point, self.point_velocity, self.point_acceleration))
        length = np.sqrt(r @ r)
        rate = (r @ v) / length
        return (v @ v + r @ a - rate * rate) / length

    def along(self, x: JointCoordinate | Distance, effort: Any = 1.0) -> forces.Wrenches:
        """Wrenches on bodies of an effort along a coordinate: of a joint's torque or force, or of a push that makes a distance grow."""
        if isinstance(x, Distance):
            return forces.push(forces.line(self, x.between), effort)
        return forces.joint_effort(self, x.joint, effort, x.v)

    # ---------------------------------------------------------------- forces and energies

    def pushes(self, acting: Iterable[forces.Force]) -> forces.Wrenches:
        """Wrenches of forces on bodies here."""
        return [w for f in acting for w in f.wrenches(self)]

    @cached_property
    def energy(self) -> dict[str, Any]:
        """Kinetic and potential energy (weight and springs) and their sum."""
        lacking = [b.name for b in self.skel.tree.description.bodies[1:] if b.mass is None]
        if lacking:
            raise ChannelError(f"energies need the mass of {', '.join(repr(n) for n in lacking)}: write `mass:` in the model.", name="mass")
        kinetic = dynamics.kinetic_energy(self.skel, self.motion)
        stored = sum(f.energy(self) for f in forces.of_description(self.skel.tree.description))
        potential = dynamics.potential_energy(self.skel, self.motion) + stored
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}

    def energies(self) -> dict[str, float]:
        return {part: float(value) for part, value in self.energy.items()}

    # ---------------------------------------------------------------- what forces depend on, by name

    def value(self, law: Any) -> Any:
        """A number, a table over a channel, or an expression of channels."""
        if isinstance(law, Table):
            return table(law.x, law.y, law.interpolation).value(self.channel(law.channel))
        if isinstance(law, Expr):
            return evaluate(law, {name: self.channel(name) for name in free_variables(law)})
        return law

    def channel(self, name: str) -> Any:
        """`t`, a joint's `A`, `A.v`, `C.slide`; a body's `rocker.angle`, `.angle.v`; a point's `ram.P.x`, `ram.P.vx`."""
        if name == "t":
            return self.t
        parts = name.split(".")
        d = self.skel.tree.description
        joints = {j.name: j for j in d.joints}
        if parts[0] in lengths(d) and parts[1:] in ([], ["v"]):
            on = coordinate(d, parts[0])
            return self.travel_rate(on) if parts[1:] else self.travel(on)
        if parts[0] in joints and self._joint_channel(joints[parts[0]], parts[1:]) is not None:
            return self._joint_channel(joints[parts[0]], parts[1:])
        if parts[0] in {b.name for b in d.bodies}:
            value = self._body_channel(parts[0], parts[1:])
            if value is not None:
                return value
        raise ModelError(
            f"there is no channel '{name}' a force can depend on. {nearest(name, ['t', *joints], 'Channels')} "
            "A joint's speed is 'A.v', a body's angle 'rocker.angle', a point's coordinate 'body.point.x'.",
            name=name,
            allowed=["t", *joints],
        )

    def _joint_channel(self, joint: Joint, rest: list[str]) -> Any:
        jt = joint_types.create(joint.type, joint.options)
        speed = bool(rest) and rest[-1] == "v"
        part = ".".join(rest[:-1] if speed else rest)
        if not speed and part in joint_types.speed_names(jt):
            return self.speed(joint, joint_types.speed_names(jt)[part])
        names = jt.v_names if speed else jt.q_names
        if part not in names:
            return None
        return self.speed(joint, names.index(part)) if speed else self.coordinate(joint, names.index(part))

    def _body_channel(self, body: str, rest: list[str]) -> Any:
        d = self.skel.tree.description
        node = self.skel.node(body)
        X, V, _ = node_motion(self.skel, self.motion, node)
        if d.planar and rest == ["angle"]:
            return arctan2(X.R[1, 0], X.R[0, 0])
        if d.planar and rest == ["angle", "v"]:
            return V[2]
        axes = d.plane or "xyz"
        if len(rest) != 2 or rest[1].removeprefix("v") not in tuple(axes):
            return None
        point = locate(self.skel, self.motion, (body, rest[0]))
        values = point.velocity if rest[1].startswith("v") else point.position
        return values[axes.index(rest[1].removeprefix("v"))]

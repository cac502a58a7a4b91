"""The same robot without the parts between motors and joints, for simulators that know trees only: joints are driven directly.

The parts (cranks, rods) are fixed to the bodies that carry them, in their position at the start: with the joints held the robot moves as
before. Their inertia against the joints is an armature matrix, that of the start. What this leaves out is measured over the range: the
change of the matrix, and the weight of the parts at the joints.

Cranks, rods and levers are such parts. The bodies that the joints connect, and whatever hangs on them, are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.api import Body, Description, Pose, UsageError, coordinates, elements, kinematics, lengths, listing
from linkwright.model.description import Drive
from linkwright.properties import cached_property
from linkwright.results.labeled_arrays import Labeled

if TYPE_CHECKING:
    from linkwright.api import System
    from linkwright.rings.robots.transmission.maps import Transmission

def between(d: Description, motors: Sequence[str], joints: Sequence[str]) -> tuple[str, ...]:
    """Return the bodies that hang together with a motor once the bodies of the joints are taken away, in the order of the model."""
    fixed = {d.bodies[0].name, *(b for name in joints for b in ends(d, name))}
    edges = [*((j.first, j.second) for j in d.joints), *d.connected]
    for tie in d.ties:
        bodies = [b for name in tie.joints for b in ends(d, name)]
        edges += [(bodies[0], other) for other in bodies[1:] if bodies[0] not in fixed and other not in fixed]
    found = {b for name in motors for b in ends(d, name) if b not in fixed}
    grown = True
    while grown:
        more = {b for a, b in (*edges, *((b, a) for a, b in edges)) if a in found and b not in fixed} - found
        found, grown = found | more, bool(more)
    return tuple(b.name for b in d.bodies if b.name in found)


def ends(d: Description, name: str) -> tuple[str, str]:
    """The two bodies of a joint or cylinder."""
    between = lengths(d).get(name)
    if between is not None:
        return between[0][0], between[1][0]
    joint = d.joint(coordinates.joint_name(name))
    return joint.first, joint.second


def half_inertia(d: Description, bodies: Sequence[str]) -> Description:
    """Return the mechanism with half the masses, inertias and armatures of these bodies and of the joints at them."""

    def half(x: Any) -> Any:
        return tuple(map(half, x)) if isinstance(x, tuple) else 0.5 * x

    return replace(
        d,
        bodies=tuple(replace(b, mass=half(b.mass), inertia=half(b.inertia)) if b.name in bodies else b for b in d.bodies),
        joints=tuple(replace(j, armature=0.5 * j.armature) if j.first in bodies or j.second in bodies else j for j in d.joints),
    )


class Difference(NamedTuple):
    """Largest difference between tree and full model over the range, joint by joint: as shares of the inertia, in N m (N)."""

    inertia: float  # change of the reflected inertia, of the whole one (norm of the scaled difference)
    weight: dict[str, float]  # torque by which the weight of the parts acts at each joint


class Rotor(NamedTuple):
    """An inertia that turns with a sum of joint speeds: (sum of weights times speeds) is its speed."""

    inertia: float
    weights: dict[str, float]


@dataclass(frozen=True)
class EquivalentTree:
    """A mechanism without its transmission; `armature` is the inertia of the transmission at the joints, a matrix.

    `lost`: elements of the model that acted on the parts. Our own `system` and URDF have the diagonal of the matrix, MJCF all of it.
    """

    description: Description
    armature: Labeled
    lost: tuple[str, ...] = ()
    carriers: Mapping[str, str] = field(default_factory=dict)  # part -> body that it is fixed to
    own: Mapping[str, float] = field(default_factory=dict)  # armatures that the joints have besides
    _of: Any = field(default=None, repr=False, compare=False)

    @cached_property
    def system(self) -> System:
        """The tree as a System, with the diagonal of the armature matrix."""
        from linkwright.api import System

        return System(self.description)

    @cached_property
    def rotors(self) -> tuple[dict[str, float], list[Rotor]]:
        """The matrix as armatures of single joints, and inertias on sums of joint speeds: A = diagonal + sum of inertia w w'."""
        A, names = np.asarray(self.armature), self.armature.rows
        size = np.sqrt(np.maximum(np.diag(A), 0.0))
        inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
        values, vectors = np.linalg.eigh(A * inverse * inverse[:, None])
        least = max(0.0, float(values[0]))
        single = {n: float(self.own.get(n, 0.0) + least * s * s) for n, s in zip(names, size, strict=True)}
        more = [(float(x) - least, vectors[:, k] * size) for k, x in enumerate(values) if x - least > 1e-12]
        return single, [Rotor(x, dict(zip(names, map(float, w), strict=True))) for x, w in more]

    @cached_property
    def difference(self) -> Difference:
        """Differences from the full model over `t.range`."""
        t: Transmission = self._of
        samples = 400  # positions of the range at which the equivalence is measured
        rows = t.grid(samples)
        x = t.at(joints=rows)
        change, whole = np.asarray(x.reflected.M) - np.asarray(self.armature), np.asarray(x.whole.M)
        scale = 1.0 / np.sqrt(np.einsum("...ii->...i", whole))
        shares = np.abs(np.linalg.eigvalsh(change * scale[..., None, :] * scale[..., :, None])).max()
        weight = np.abs(np.asarray(x.reflected.G)).max(axis=0)
        return Difference(float(shares), dict(zip(t.joints, map(float, weight), strict=True)))


def equivalent_tree(t: Transmission) -> EquivalentTree:
    """Return the mechanism with the parts of a transmission fixed to their carriers, and its joints driven."""
    core, d = t.core, t.core.description
    several = [n for n in t.joints if "." in n]
    if several:
        head = coordinates.joint_name(several[0])
        raise UsageError(
            f"'{several[0]}' is one of several coordinates of '{head}', which share one armature: write '{head}' as single hinges and "
            "sliders (`chain:` under joints) for an equivalent tree.",
            name=several[0],
        )
    gone = set(t.parts)
    A = np.asarray(t.at(core.start).reflected.M)
    carriers = {part: _carrier(t, part) for part in t.parts}
    here = _poses(t)
    bodies = []
    for b in d.bodies:
        if b.name in gone:
            continue
        bodies.append(_with_parts(b, [(d.body(p), here[b.name].inverse() @ here[p]) for p, c in carriers.items() if c == b.name]))
    added = dict(zip(t.joints, np.diag(A), strict=True))
    joints = tuple(
        replace(j, armature=float(j.armature) + float(added.get(j.name, 0.0)))
        for j in d.joints
        if j.first not in gone and j.second not in gone
    )
    own = {n: float(d.joint(n).armature) for n in t.joints if n in {j.name for j in d.joints}}
    fields, lost = _elements(d, gone, {j.name for j in joints}, set(t.motors))
    left = {*(j.name for j in joints), *(x.name for group in fields.values() for x in group if x.coordinate)}
    drives = [x for x in d.drives if x.joint not in t.motors and x.joint in left]
    drives += [Drive(n, "torque", 0.0) for n in t.joints if n not in {x.joint for x in drives}]
    start = tuple((n, float(x)) for n, x in zip(t.joints, t.at(core.start).joint, strict=True))
    start += tuple(
        (n, x) for n, x in d.start if coordinates.joint_name(n) in {j.name for j in joints} and coordinates.joint_name(n) not in t.joints
    )
    names = {
        "name": f"{d.name}-tree" if d.name else "tree",
        "about": f"{d.name or 'mechanism'} without its transmission: {listing(t.joints)} driven directly",
    }
    plain = {"start_places": (), "cuts": None, "document": None, "drawn": (), "poses": ()}
    made = replace(d, bodies=tuple(bodies), joints=joints, drives=tuple(drives), start=start, **names, **plain, **fields)
    return EquivalentTree(made, Labeled(A, t.joints, t.joints), tuple(lost), carriers, own, t)


def _elements(d: Description, gone: set[str], joints: set[str], motors: set[str]) -> tuple[dict[str, Any], list[str]]:
    """Rods, springs, loads ... that do not touch the parts or the motors, and the names of those that do."""
    lost: list[str] = []

    def stays(x: Any) -> bool:
        places = elements.body_names(x)
        named = [coordinates.joint_name(n) for n in elements.joint_names(x)]
        lines = {name for name, ends in lengths(d).items() if name not in motors and not {r[0] for r in ends} & gone}
        return not set(places) & gone and all(n in joints | lines for n in named) and x.name not in motors

    fields: dict[str, Any] = {}
    for key in elements.HELD:
        fields[key] = tuple(x for x in getattr(d, key) if stays(x))
        lost += [x.name for x in getattr(d, key) if not stays(x) and x.group == "forces"]
    return fields, lost


def _carrier(t: Transmission, part: str) -> str:
    """The body of the joints that a part hangs on, nearest to ground."""
    d, tree = t.core.description, t.core.tree
    edges = [*((j.first, j.second) for j in d.joints), *d.connected]
    found, around, grown = {part}, set(), True
    while grown:
        near = {b for a, b in (*edges, *((b, a) for a, b in edges)) if a in found} - found
        around |= near - set(t.parts)
        grown, found = bool(near & set(t.parts)), found | (near & set(t.parts))
    depth = {d.bodies[0].name: 0, **{n.body: len(tree.support(i)) for i, n in enumerate(tree.nodes)}}
    return min(around or set(ends(d, t.joints[0])), key=lambda b: depth[b])


def _poses(t: Transmission) -> dict[str, Pose]:
    """Poses of all bodies at the start."""
    core, here = t.core, t.core.motion(t.core.start)
    out = {core.description.bodies[0].name: Pose(np.eye(3), np.zeros(3))}
    for i, n in enumerate(core.tree.nodes):
        X = kinematics.node_motion(core.skel, here, i)[0]
        out[n.body] = Pose(np.asarray(X.R, float), np.asarray(X.p + core.skel.origin(i), float))
    return out


def _with_parts(b: Body, parts: Iterable[tuple[Body, Pose]]) -> Body:
    """A body with others fixed to it at these poses in its frame."""
    every = [(float(p.mass or 0.0), X.point(np.array(p.com, float)), X.R @ np.array(p.inertia, float) @ X.R.T) for p, X in parts]
    if not every or b.mass is None:
        return b
    every.append((float(b.mass), np.array(b.com, float), np.array(b.inertia, float)))
    mass = sum(m for m, _, _ in every)
    if not mass > 0.0:
        return b
    com: Any = sum(m * c for m, c, _ in every) / mass
    inertia = sum(I + m * ((c - com) @ (c - com) * np.eye(3) - np.outer(c - com, c - com)) for m, c, I in every)
    as_tuple = tuple(tuple(map(float, row)) for row in np.asarray(inertia))
    return replace(b, mass=float(mass), com=tuple(map(float, com)), inertia=as_tuple)

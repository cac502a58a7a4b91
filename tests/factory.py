"""Random mechanisms for identities: trees of all joint types, loops closed by construction.

A random tree is put into a random state; then joints, rods, couplings and gears are added whose frames are
*defined* by the current poses, so every loop is closed exactly and nothing has to be assembled.

Every body and joint has a stream of random numbers of its own, keyed by its name, and its type is the one of the highest
key (`pick`). So a type that is added to the registry changes only the joints that become of that type: all other numbers
of the mechanism, and all mechanisms without the new type, stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwright.joints import JOINTS, create
from linkwright.mechanics.kinematics.motion import Skeleton, motion, pose_of, skeleton
from linkwright.model import description as d
from linkwright.numerics.spatial import Pose, quaternion_rotation, rotation_z
from linkwright.topology import build_tree

SPATIAL = tuple(JOINTS)
PLANAR = tuple(k for k in JOINTS if create(k).in_plane)


RANGES = {"length": (0.05, 0.3), "angle": (0.1, 1.0), "travel per angle": (0.05, 0.3)}  # of random options


def _key(*names: object) -> int:
    return int.from_bytes(hashlib.blake2b("/".join(map(str, names)).encode(), digest_size=8).digest(), "big")


def stream(seed: int, *names: object) -> np.random.Generator:
    """Return the random numbers of one thing, which depend on its name alone."""
    return np.random.default_rng(_key(seed, *names))


def pick(seed: int, name: str, kinds: Sequence[str]) -> str:
    """Return the type of a joint: each of them bids with a number of its own (twice if listed twice), the highest wins."""
    bids = [_key(seed, name, kind, kinds[:i].count(kind)) for i, kind in enumerate(kinds)]
    return kinds[bids.index(max(bids))]


def seed_of(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))


@dataclass(frozen=True)
class Drawn:
    """A mechanism and the state it was drawn in."""

    skel: Skeleton
    q: np.ndarray
    v: np.ndarray


def placement(R, p) -> d.Placement:
    return d.Placement(tuple(map(float, p)), tuple(tuple(map(float, row)) for row in R))


def random_pose(rng, planar=False) -> Pose:
    if planar:
        return Pose(rotation_z(rng.uniform(-3, 3)), np.array([*rng.normal(size=2), 0.0]))
    return Pose(quaternion_rotation(rng.normal(size=4)), rng.normal(size=3))


def random_coordinates(rng, kind, options=()) -> np.ndarray:
    q = rng.uniform(-1.0, 1.0, create(kind, options).nq)
    kinds = create(kind, options).coordinate_kinds
    if "quaternion" in kinds:
        q[:4] /= np.linalg.norm(q[:4])
    return q


def options_of(rng, kind):
    return tuple((name, float(rng.uniform(*RANGES[option.dimension]))) for name, option in JOINTS[kind].options.items())


def random_body(rng, name, planar=False) -> d.Body:
    A = rng.normal(size=(3, 3))
    inertia = np.diag([0.1, 0.1, 1.0]) * rng.uniform(0.5, 1.5) if planar else np.trace(A @ A.T) * np.eye(3) - A @ A.T
    com = rng.normal(size=3) * ([1, 1, 0] if planar else 1)
    points = tuple(d.Point(n, tuple(map(float, rng.normal(size=3) * ([1, 1, 0] if planar else 1)))) for n in "PQ")
    return d.Body(name, points, float(rng.uniform(0.5, 2.0)), tuple(map(float, com)), tuple(tuple(map(float, r)) for r in inertia))


def random_tree(rng, n=5, kinds=SPATIAL, planar=False, chain=0.6, forward=False) -> Drawn:
    """n bodies on random joints, written in either direction unless `forward` asks for carrier first."""
    bodies = [d.Body("ground", (d.Point("P", (0.3, -0.2, 0.0)), d.Point("Q", (-0.4, 0.5, 0.0))))]
    joints, seed = [], seed_of(rng)
    for i in range(n):
        bodies.append(random_body(stream(seed, "body", i), f"b{i}", planar))
        kind, own = pick(seed, f"J{i}", kinds), stream(seed, "joint", i)
        carrier = f"b{i - 1}" if i and own.random() < chain else bodies[own.integers(0, i + 1)].name
        pair = (carrier, f"b{i}") if forward or own.random() < 0.5 else (f"b{i}", carrier)
        frames = [placement(*random_pose(own, planar)) for _ in range(2)]
        joints.append(d.Joint(f"J{i}", kind, pair[0], pair[1], *frames, options_of(own, kind)))
    gravity = tuple(map(float, rng.normal(size=3) * 5 * ([1, 1, 0] if planar else 1)))
    desc = d.Description("random", tuple(bodies), tuple(joints), plane="xy" if planar else None, gravity=gravity)
    skel = skeleton(build_tree(desc, []))
    nodes = skel.tree.nodes
    q = np.concatenate([random_coordinates(stream(seed, "q", n.joint.name), n.joint.type, n.joint.options) for n in nodes])
    return drawn(skel, q, np.concatenate([stream(seed, "v", n.joint.name).normal(size=n.v.stop - n.v.start) for n in nodes]))


def drawn(skel, q, v) -> Drawn:
    """The same mechanism with its bodies' start poses where q puts them."""
    m = motion(skel, q, np.zeros(skel.tree.nv))
    start = {n.body: placement(X.R, X.p + o) for n, X, o in zip(skel.tree.nodes, m.X, skel.origins, strict=True)}
    desc = skel.tree.description
    bodies = tuple(replace(b, start=start.get(b.name, b.start)) for b in desc.bodies)
    skel = skeleton(build_tree(replace(desc, bodies=bodies), skel.tree.cuts))
    return Drawn(skel, q, v)


def closing_joint(rng, desc, name, kind, first, second, planar=False) -> d.Joint:
    """A joint between two bodies whose frames fit the drawn poses with random coordinates."""
    options = options_of(rng, kind)
    X_AF = random_pose(rng, planar)
    X_FM = Pose(*create(kind, options).pose(random_coordinates(rng, kind, options)))
    X_WM = pose_of(desc.body(first).start) @ X_AF @ X_FM
    X_BM = pose_of(desc.body(second).start).inverse() @ X_WM
    return d.Joint(name, kind, first, second, placement(*X_AF), placement(*X_BM), options)


def with_loops(rng, tree: Drawn, kinds, planar=False, rods=0) -> Drawn:
    """Add one cut joint of each kind (and rods) between random bodies; the old tree stays the tree."""
    desc = tree.skel.tree.description
    names = [b.name for b in desc.bodies]
    joints, seed = list(desc.joints), seed_of(rng)
    for i, kind in enumerate(kinds):
        own = stream(seed, "joint", i)
        first, second = own.choice(names, size=2, replace=False)
        joints.append(closing_joint(own, desc, f"C{i}", kind, str(first), str(second), planar))
    links = []
    for i in range(rods):
        a, b = (str(x) for x in rng.choice(names, size=2, replace=False))
        ends = [pose_of(desc.body(x).start).point(np.array(desc.body(x).point(p).at)) for x, p in ((a, "P"), (b, "Q"))]
        links.append(d.Rod(f"R{i}", ((a, "P"), (b, "Q")), float(np.linalg.norm(ends[1] - ends[0]))))
    desc = replace(desc, joints=tuple(joints), rods=tuple(links))
    cuts = [f"C{i}" for i in range(len(kinds))]
    skel = skeleton(build_tree(desc, cuts))
    # node numbering follows the joints as written, which did not change
    assert [n.joint.name for n in skel.tree.nodes] == [n.joint.name for n in tree.skel.tree.nodes]
    return Drawn(skel, tree.q, tree.v)

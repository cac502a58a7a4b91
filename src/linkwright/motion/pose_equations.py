"""Loop equations in poses of bodies: polynomials F(x; e, u) = 0 whose solutions are the assembly modes, each counted once.

Bodies that a joint with held coordinates (or a rigid one) ties together move as one. A body that only connects two others by pins, balls or
a universal joint and a ball is a leg: all it does is keep two points at a distance, and it leaves the unknowns. The others hang on a
spanning tree of joints: a turn is (cos, sin), a ball a unit quaternion, a slide a length; a body on no joint is free. Every other joint is
an equation: pins and balls keep points together, universal joints also two axes perpendicular. `e` are constants added to the equations,
zero in the mechanism: with them the pairs (x, e) are the graph of a function of x, an irreducible set, so that loops of e connect all
solutions. `u` are the held coordinates. Lengths are divided by a typical one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright import elements, joints
from linkwright.compiler.graph import trace
from linkwright.compiler.program import Program
from linkwright.errors import counted
from linkwright.joints import JOINTS
from linkwright.mechanics.kinematics.motion import pose_of
from linkwright.model.coordinates import lengths
from linkwright.model.description import Description, Joint
from linkwright.numerics.spatial import EYE, IDENTITY, Pose
from linkwright.properties import cached_property

Side = tuple[str, np.ndarray]  # body and a point of it
Held = Mapping[tuple[str, int], int]  # (joint, entry of its q) -> place in u


class Unsupported(Exception):
    """A mechanism whose loops are no square polynomial system here; the text says why."""


class Unknowns(NamedTuple):
    """Entries of x that belong together: "turn" (cos, sin), "ball" (quaternion) or "slide"."""

    kind: str
    at: int

    @property
    def size(self) -> int:
        return {"turn": 2, "ball": 4, "slide": 1}[self.kind]

    @property
    def span(self) -> slice:
        return slice(self.at, self.at + self.size)


@dataclass(frozen=True)
class Leg:
    """Bodies that keep two points at a distance: ends (joint, its side at the leg) and the joint names inside."""

    bodies: tuple[str, ...]
    ends: tuple[tuple[Joint, int], tuple[Joint, int]]
    inside: tuple[Joint, ...]


@dataclass(frozen=True)
class PoseEquations:
    """The polynomial system of a mechanism whose held coordinates are `names`, in this order."""

    description: Description
    names: tuple[str, ...]
    held: Held
    lengths: Mapping[str, int]  # driven cylinder -> place in u
    scale: float
    legs: tuple[Leg, ...]
    tree: tuple[tuple[Joint | None, str, str], ...]  # (joint, body known before, body placed by it)
    closing: tuple[Joint, ...]
    blocks: tuple[Unknowns, ...]
    owners: tuple[tuple[int, ...], ...]  # unknowns of each entry of the tree

    @property
    def size(self) -> int:
        return sum(b.size for b in self.blocks)

    @cached_property
    def count(self) -> int:
        """Equations, the last of them unit lengths of turns and quaternions."""
        rows = 2 if self.description.planar else 3
        more = sum(rows + joints.is_cross(JOINTS[j.type]) for j in self.closing)
        units = sum(b.kind != "slide" for b in self.blocks)
        return more + len(self.legs) + len(elements.lengths(self.description)) + len(self.lengths) + units

    @property
    def placed(self) -> tuple[str, ...]:
        """Bodies that are not in legs, without ground."""
        return tuple(body for _, _, body in self.tree)

    def poses(self, x: Any, u: Any) -> dict[str, Pose]:
        """Poses of all bodies but the legs, lengths in the typical one, over any scalars."""
        found = {self.description.bodies[0].name: IDENTITY}
        for (joint, known, placed), mine in zip(self.tree, self.owners, strict=True):
            values = iter([self.blocks[k] for k in mine])
            if joint is None:
                found[placed] = self._free(values, x)
            else:
                found[placed] = found[known] @ self._step(joint, known == joint.first, values, x, u)
        return found

    def _free(self, values: Any, x: Any) -> Pose:
        if self.description.planar:
            turned, across, up = (x[b.span] for b in values)
            return Pose(_rotation("z", *turned), np.array([across[0], up[0], 0.0]))
        turned, *place = (x[b.span] for b in values)
        return Pose(_quaternion(turned), np.array([y[0] for y in place]))

    def _step(self, joint: Joint, forwards: bool, values: Any, x: Any, u: Any) -> Pose:
        """The pose of the body that a joint places, in the one that is known."""
        X = IDENTITY
        for piece in _pieces(joint):
            held = self.held.get((joint.name, piece.q.start))
            axis = "xyz"[int(np.argmax(piece.axis))]
            if piece.kind == "slide":
                travel = u[held] / self.scale if held is not None else x[next(values).at]
                X = X @ Pose(EYE, np.array(piece.axis) * travel)
            elif piece.kind == "turn":
                turned = (np.cos(u[held]), np.sin(u[held])) if held is not None else x[next(values).span]
                X = X @ Pose(_rotation(axis, *turned), np.zeros(3))
            else:
                X = X @ Pose(_quaternion(x[next(values).span]), np.zeros(3))
        F, M = self.frame(joint, 0), self.frame(joint, 1)
        whole = F @ X @ M.inverse()
        return whole if forwards else whole.inverse()

    def frame(self, joint: Joint, side: int) -> Pose:
        X = pose_of((joint.frame_first, joint.frame_second)[side])
        return Pose(X.R, X.p / self.scale)

    def leg_poses(self, leg: Leg, u: Any) -> dict[str, Pose]:
        """Poses of the bodies of a leg, in the first of them."""
        inside = {leg.bodies[0]: IDENTITY}
        for joint in leg.inside:
            forwards = joint.first in inside
            known, placed = (joint.first, joint.second) if forwards else (joint.second, joint.first)
            inside[placed] = inside[known] @ self._step(joint, forwards, iter(()), (), u)
        return inside

    def leg_ends(self, leg: Leg, u: Any) -> tuple[Any, Any]:
        """The two end points of a leg, in its first body."""
        inside = self.leg_poses(leg, u)
        first, second = (inside[j.first if side == 0 else j.second].point(self.frame(j, side).p) for j, side in leg.ends)
        return first, second

    def ends_apart(self, leg: Leg, found: Mapping[str, Pose]) -> tuple[Any, Any]:
        """The points of the other bodies on which a leg sits."""
        first, second = (found[across(j, side)].point(self.frame(j, 1 - side).p) for j, side in leg.ends)
        return first, second

    def residuals(self, x: Any, e: Any, u: Any) -> np.ndarray:
        """F: the equations, then the unit lengths."""
        d, found = self.description, self.poses(x, u)
        rows: list[Any] = []
        for joint in self.closing:
            F, M = found[joint.first] @ self.frame(joint, 0), found[joint.second] @ self.frame(joint, 1)
            rows += list((M.p - F.p)[: 2 if d.planar else 3])
            if joints.is_cross(JOINTS[joint.type]):
                rows.append(sum(a * b for a, b in zip(F.R[:, 0], M.R[:, 1], strict=True)))
        for leg in self.legs:
            a, b = self.ends_apart(leg, found)
            near, far = self.leg_ends(leg, u)
            rows.append(_squared(b - a) - _squared(far - near))
        driven = [(between, u[self.lengths[name]]) for name, between in lengths(d).items() if name in self.lengths]
        fixed = [(x.between, getattr(x, length)) for x, length in elements.lengths(d)]
        for between, length in (*fixed, *driven):
            a, b = (found[ref[0]].point(np.array(d.point(ref).at, dtype=float) / self.scale) for ref in between)
            rows.append(_squared(b - a) - (length / self.scale) ** 2)
        rows += [sum(y * y for y in x[b.span]) - 1.0 for b in self.blocks if b.kind != "slide"]
        return np.array([row - c for row, c in zip(rows, e, strict=True)], dtype=object)

    def program(self) -> Program:
        """F traced with the unknowns x and the parameters p = (e, u)."""
        return trace(lambda x, p: {"F": self.residuals(x, p[: self.count], p[self.count :])}, x=self.size, p=self.count + len(self.names))

    @cached_property
    def units(self) -> np.ndarray:
        """Units of the held coordinates: a radian, or the typical length."""
        sliding = {(j.name, p.q.start) for j in self.description.joints for p in _pieces(j) if p.kind == "slide"}
        lengths = {*self.lengths.values(), *(k for entry, k in self.held.items() if entry in sliding)}
        return np.array([self.scale if k in lengths else 1.0 for k in range(len(self.names))])

    def manifold_program(self) -> Program:
        """F of the mechanism itself traced with x and u / units as unknowns."""

        def closed(x: Any, p: Any) -> dict[str, Any]:
            return {"F": self.residuals(x[: self.size], np.zeros(self.count) + 0.0 * p[0], x[self.size :] * self.units)}

        return trace(closed, x=self.size + len(self.names), p=1)

    def key(self, x: np.ndarray) -> np.ndarray:
        """Rows that are equal for solutions with equal poses: products of a quaternion's entries have no sign."""
        columns = []
        for b in self.blocks:
            part = x[:, b.span]
            columns.append((part[:, :, None] * part[:, None, :]).reshape(len(x), 16) if b.kind == "ball" else part)
        return np.concatenate(columns, axis=1)

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        """A random complex x."""
        return rng.standard_normal(self.size) + 1j * rng.standard_normal(self.size)


def pose_equations(d: Description, held: Mapping[str, tuple[Joint, int] | None], scale: float) -> PoseEquations:
    """Return the system of a mechanism; `held` maps names to (joint, entry of q), or None for a cylinder. Raise `Unsupported`."""
    if d.ties:
        raise Unsupported("gears, couplings and belts are not polynomial in the poses")
    names = tuple(held)
    entries = {(x[0].name, x[1]): i for i, x in enumerate(held.values()) if x is not None}
    lengths = {name: i for i, (name, x) in enumerate(held.items()) if x is None}
    for joint in d.joints:
        if any(piece.kind == "screw" for piece in _pieces(joint)):
            raise Unsupported(f"the screw '{joint.name}' is not polynomial in the poses")
    rigid = [j for j in d.joints if all((j.name, p.q.start) in entries for p in _pieces(j))]
    legs = _legs(d, rigid)
    gone = {name for leg in legs for name in leg.bodies}
    tied = [j for j in d.joints if j.first not in gone and j.second not in gone]
    tree, closing = _spanned(d, gone, tied, rigid)
    blocks: list[Unknowns] = []
    owners = []
    for joint, _, _ in tree:
        mine = _kinds(d, joint, entries)
        owners.append(tuple(range(len(blocks), len(blocks) + len(mine))))
        for kind in mine:
            blocks.append(Unknowns(kind, blocks[-1].span.stop if blocks else 0))
    out = PoseEquations(d, names, entries, lengths, scale, tuple(legs), tuple(tree), tuple(closing), tuple(blocks), tuple(owners))
    if out.count != out.size or not blocks:
        raise Unsupported(f"its loops are {counted(out.count, 'equation')} of {counted(out.size, 'unknown')} in the poses")
    return out


def _kinds(d: Description, joint: Joint | None, entries: Held) -> list[str]:
    if joint is None:
        return ["turn", "slide", "slide"] if d.planar else ["ball", "slide", "slide", "slide"]
    return [p.kind for p in _pieces(joint) if (joint.name, p.q.start) not in entries]


def _legs(d: Description, rigid: Sequence[Joint]) -> list[Leg]:
    """Groups of bodies that only keep two points at a distance, none beside another."""
    group = {b.name: {b.name} for b in d.bodies}
    for j in rigid:
        together = group[j.first] | group[j.second]
        for name in together:
            group[name] = together
    pointed = {body for pair in d.connected for body in pair}
    legs: list[Leg] = []
    gone: set[str] = set()
    for bodies in {id(g): g for g in group.values()}.values():
        ends = [(j, 0 if j.first in bodies else 1) for j in d.joints if (j.first in bodies) != (j.second in bodies)]
        if d.bodies[0].name in bodies or bodies & pointed or len(ends) != 2 or any(across(j, side) in gone for j, side in ends):
            continue
        types = [JOINTS[j.type] for j, _ in ends]
        balls = sum(map(joints.is_ball, types))
        if not (all(map(joints.is_hinge, types)) if d.planar else balls and balls + sum(map(joints.is_cross, types)) == 2):
            continue
        inside = [j for j in rigid if j.first in bodies]
        if len(inside) != len(bodies) - 1:
            continue
        root = ends[0][0].first if ends[0][1] == 0 else ends[0][0].second
        legs.append(Leg((root, *sorted(bodies - {root})), (ends[0], ends[1]), tuple(_outwards(root, inside))))
        gone |= bodies
    return legs


def _outwards(root: str, inside: Sequence[Joint]) -> list[Joint]:
    known, left, out = {root}, list(inside), []
    while left:
        joint = next(j for j in left if j.first in known or j.second in known)
        left.remove(joint)
        out.append(joint)
        known |= {joint.first, joint.second}
    return out


def _spanned(
    d: Description, gone: set[str], tied: Sequence[Joint], rigid: Sequence[Joint]
) -> tuple[list[tuple[Joint | None, str, str]], list[Joint]]:
    """A spanning tree that prefers rigid joints and those that cannot close a loop here, and the joints that close loops."""
    order = sorted(tied, key=lambda j: (j not in rigid, _closes(j, d.planar), joints.is_ball(JOINTS[j.type])))
    group = {b.name: b.name for b in d.bodies}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    chosen, closing = [], []
    for j in order:
        a, b = root(j.first), root(j.second)
        if a == b:
            if j in rigid or not _closes(j, d.planar):
                raise Unsupported(f"the {j.type} joint '{j.name}' closes a loop")
            closing.append(j)
        else:
            group[b] = a
            chosen.append(j)
    known = {d.bodies[0].name}
    tree: list[tuple[Joint | None, str, str]] = []
    left = [b.name for b in d.bodies if b.name not in gone and b.name not in known]
    while left:
        joint = next((j for j in chosen if (j.first in known) != (j.second in known)), None)
        if joint is None:
            tree.append((None, "", left[0]))
        else:
            before, after = (joint.first, joint.second) if joint.first in known else (joint.second, joint.first)
            tree.append((joint, before, after))
        known.add(tree[-1][2])
        left.remove(tree[-1][2])
    return tree, closing


def _closes(joint: Joint, planar: bool) -> bool:
    """True if a joint may close a loop: its rows are polynomials of the poses."""
    kind = JOINTS[joint.type]
    return joints.is_hinge(kind) if planar else joints.is_ball(kind) or joints.is_cross(kind)


def _pieces(joint: Joint) -> Sequence[Any]:
    pieces = joints.create(joint.type, joint.options).pieces()
    if pieces is None:
        raise Unsupported(f"the {joint.type} joint '{joint.name}' is not polynomial in the poses")
    return pieces


def across(joint: Joint, side: int) -> str:
    """The body across a joint, seen from one of its sides."""
    return joint.second if side == 0 else joint.first


def _squared(a: Any) -> Any:
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


def _rotation(axis: str, c: Any, s: Any) -> np.ndarray:
    rows: dict[str, Callable[[], list[list[Any]]]] = {
        "x": lambda: [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]],
        "y": lambda: [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]],
        "z": lambda: [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]],
    }
    return np.array(rows[axis]())


def _quaternion(q: Any) -> np.ndarray:
    """The rotation of a unit quaternion, homogeneous of degree two: even where q is not of unit length."""
    w, x, y, z = q
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )

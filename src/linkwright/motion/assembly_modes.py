"""All assembly modes: complex solutions of the loop equations in poses, followed to the mechanism; the real ones become states.

Monodromy finds the solutions at random constants `e` of the equations, a trace test checks that none is missing, a homotopy takes them to
e = 0. The bodies of a real solution are put where it says, legs between their ends, and closed in the mechanism's own coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright import joints
from linkwright.compiler.complex_newton import newton_kernel
from linkwright.errors import AssemblyError, ChannelError, UsageError, counted
from linkwright.mechanics.closing.mode_enumeration import apart, distinct_positions
from linkwright.mechanics.closing.newton import Closed, EachRule, close, onto_each
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import locate, node_motion
from linkwright.mechanics.kinematics.skeleton import joint_points
from linkwright.model.coordinates import lengths
from linkwright.model.file import quantity
from linkwright.motion.mode_paths import ClosedPositions, singularity_free
from linkwright.motion.pose_equations import Leg, PoseEquations, Unsupported, pose_equations
from linkwright.numerics.monodromy import monodromy, polynomial_trace
from linkwright.numerics.spatial import Pose
from linkwright.numerics.tolerances import CLOSED_AT_BEST, SAME_PLACE, SAME_POSITION
from linkwright.numerics.tracking import NewtonSolve, homotopy
from linkwright.results.branches import PASSED, Branches, Completeness, ModePath
from linkwright.results.state import State
from linkwright.text.units import KINDS, shown

if TYPE_CHECKING:
    from linkwright.motion.assembly import Assembler

METHODS = ("auto", "homotopy", "starts")
REAL = 1e-7  # imaginary part of a real solution, relative
SOME_DOUBT, LEAST_DOUBT = 1e-2, 1e-6  # of the loops before the trace test, and where it does not pass
SEARCHES = 3  # from different points, where the trace test does not pass
LARGEST = 24  # unknowns of a system that is followed: elimination is unrolled in machine code
MARGIN = 1e-3  # smallest singular value of a position on a path
PLACED = 1e-6  # dimensionless distance of a closed state from the solution that it was put at


@dataclass(frozen=True)
class RealSolutions:
    """Real solutions at the wanted drives and the record of the search."""

    real: np.ndarray
    completeness: Completeness


def assembly_modes(assembler: Assembler, fixed: Loops, held: Mapping[str, Any], *, most: int | None, tries: int, method: str) -> Branches:
    """Return the modes of a mechanism whose loops and held joints are `fixed`."""
    if method not in METHODS:
        raise UsageError(f"method is one of {', '.join(map(repr, METHODS))}, not {method!r}.", name="method", value=method)
    if most is not None and most < 1:
        raise UsageError(f"most is the number of modes, at least 1, not {most}.", name="most", value=most)
    here = assembler.start.instant
    why = ""
    if method != "starts":
        try:
            return _by_homotopy(assembler, fixed, held, here, most, tries)
        except Unsupported as error:
            if method == "homotopy":
                raise UsageError(
                    f"the assembly modes of '{assembler.description.name}' cannot be found by a homotopy: {error}. "
                    "Leave method out, or use method='starts'.",
                    name=assembler.description.name,
                ) from error
            why = str(error)
    search = distinct_positions(fixed, here.q, here.references, most=most, tries=tries)
    found = search.modes
    record = Completeness("starts", starts=search.starts, share=search.share, why=why)
    bodies = [b.name for b in assembler.description.moving[:1]]
    return Branches([State.of(x.closed.at) for x in found], [x.flips for x in found], record, bodies)


def held_system(assembler: Assembler, held: Mapping[str, Any]) -> tuple[PoseEquations, np.ndarray]:
    """Return the loop equations in poses and the values of the held coordinates. Raise `Unsupported`."""
    distances = lengths(assembler.description)
    entries: dict[str, Any] = {}
    values = []
    for name, value in held.items():
        kind = "length"
        entries[name] = None
        if name not in distances:
            try:
                joint, i, kind = assembler.coordinate(name)
            except ChannelError as error:
                raise Unsupported(f"'{name}' is not a single coordinate") from error
            entries[name] = (joint, i)
        values.append(float(quantity(value, KINDS[kind])))
    equations = pose_equations(assembler.description, entries, _typical_length(assembler))
    if equations.size > LARGEST:
        raise Unsupported(f"{equations.size} unknowns are more than {LARGEST}")
    return equations, np.array(values)


def _typical_length(assembler: Assembler) -> float:
    """The spread of joints and of the ends of rods and cylinders in the start."""
    d, here = assembler.description, assembler.start.instant
    ends = [locate(assembler.skel, here.motion, ref).position for between in lengths(d).values() for ref in between]
    points = np.concatenate([joint_points(assembler.skel), np.reshape(ends, (-1, 3))])
    spread = float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean())) if len(points) else 0.0
    return spread if spread > 0.0 else assembler.loops.kappa


def newton_of(P: PoseEquations) -> NewtonSolve:
    """Return the compiled Newton step and slope of the loop equations."""
    program = P.program()
    digest = sha256(repr((program.ops, program.results)).encode()).hexdigest()
    return newton_kernel(lambda: program, ["loop equations in poses", digest])


def solutions(P: PoseEquations, u: np.ndarray, *, seed: int = 0) -> RealSolutions:
    """Return the real solutions of the loop equations at the held values u."""
    solve, rng, count = newton_of(P), np.random.default_rng(seed), P.count
    units = sum(b.kind != "slide" for b in P.blocks)
    x = P.drawn(rng)
    for b in P.blocks:  # unit lengths, so that the trace test moves lengths and places only
        if b.kind != "slide":
            x[b.span] /= np.sqrt((x[b.span] ** 2).sum())
    e = np.array(P.residuals(x, np.zeros(count), u), dtype=complex)
    scale = float(np.sqrt(np.mean(np.abs(e[: count - units]) ** 2)))

    def drawn(rng: np.random.Generator) -> np.ndarray:
        size = scale * np.exp(0.7 * rng.standard_normal())  # small and large loops: where branch points are is not known
        return np.concatenate([size * (rng.standard_normal(count) + 1j * rng.standard_normal(count)), u])

    base = np.concatenate([e, u])
    direction = 0.3 * drawn(rng)
    direction[count - units :] = 0.0
    known, loops, trace = x[None], 0, float("nan")
    for doubt in (SOME_DOUBT, LEAST_DOUBT):  # the set is irreducible: where the trace test passes, none is missing
        found = monodromy(solve, known, base, key=P.key, parameters=drawn, seed=seed + 1 + loops, doubt=doubt)
        known, loops = found.solutions, loops + len(found.counts)
        trace = polynomial_trace(solve, known, base, direction, P.key)
        if trace < PASSED:
            break
    wanted = np.concatenate([np.zeros(count), u]).astype(complex)
    ends = homotopy(solve, known, base, wanted, key=P.key, between=drawn)
    keys = P.key(ends.solutions)
    real = ends.solutions[np.abs(keys.imag).max(axis=1, initial=0.0) < REAL * (1.0 + np.abs(keys).max(axis=1, initial=0.0))].real

    def steps(x: np.ndarray, at: np.ndarray) -> np.ndarray:
        there = np.broadcast_to(wanted, (len(at), len(wanted)))
        return solve(x.astype(complex), there, np.zeros(there.shape))[0].real

    if len(real):
        real, _ = onto_each(steps, np.add, real, EachRule(most=3, last=0.0))
    record = Completeness("homotopy", complex=len(known), lost=ends.lost, loops=loops, doubt=found.doubt, trace=trace)
    return RealSolutions(real, record)


def _by_homotopy(assembler: Assembler, fixed: Loops, held: Mapping[str, Any], here: Instant, most: int | None, tries: int) -> Branches:
    P, u = held_system(assembler, held)
    found = solutions(P, u)
    for seed in range(1, SEARCHES) if not found.completeness.trace < PASSED else ():
        # In chains of loops the solutions come in blocks, which a few loops may not connect: search from other points as well.
        again = solutions(P, u, seed=100 * seed)
        found = again if (again.completeness.complex or 0) > (found.completeness.complex or 0) else found
    record = found.completeness
    closed: list[tuple[Closed, np.ndarray | None]] = []
    for x in found.real:
        at = placed(assembler, fixed, P, x, u, here)
        closed += [] if at is None else [(at, x)]
    unplaced = len(found.real) - len(closed)
    if record.lost or unplaced:  # positions in which the equations are singular may be modes all the same
        more = distinct_positions(fixed, here.q, here.references, tries=tries).modes
        fresh = [m.closed for m in more if all(apart(fixed, m.closed.at.q, c.at.q) > SAME_POSITION for c, _ in closed)]
        closed += [(c, None) for c in fresh]
        said = [f"{unplaced} real solutions could not be closed in joint coordinates"] if unplaced else []
        said += [f"{counted(len(fresh), 'further mode')} by random starts"] if fresh else []
        record = replace(record, why="; ".join(said))
    closed.sort(key=lambda pair: apart(fixed, pair[0].at.q, here.q))
    closed = closed[:most]
    ways = sum(any(joints.is_cross(joints.JOINTS[j.type]) for j, _ in leg.ends) for leg in P.legs)
    bodies = [body for (_, _, body), mine in zip(P.tree, P.owners, strict=True) if mine]
    search = _PathSearch(assembler, P, tuple(x if x is None else np.concatenate([x, u / P.units]) for _, x in closed))
    states = [State.of(c.at) for c, _ in closed]
    return Branches(states, [2**ways - 1] * len(states), record, _differing(states, bodies), search.signs(), search)


def _differing(states: list[State], bodies: list[str]) -> list[str]:
    """The fewest bodies, at most three, in whose poses the modes differ; each the one that distinguishes most."""
    poses = [[_pose_at(st.instant, body) for st in states] for body in bodies]
    marks = {
        body: [(*np.round(X.R, 5).ravel() + 0.0, *np.round(X.p, 5) + 0.0) for X in row] for body, row in zip(bodies, poses, strict=True)
    }
    chosen: list[str] = []
    while len(chosen) < min(3, len(bodies)):

        def parted(body: str) -> int:
            return len({tuple(marks[b][i] for b in (*chosen, body)) for i in range(len(states))})

        best = max((b for b in bodies if b not in chosen), key=parted)
        if chosen and parted(best) == len({tuple(marks[b][i] for b in chosen) for i in range(len(states))}):
            break
        chosen.append(best)
    return chosen


@dataclass(frozen=True)
class _PathSearch:
    """Finds paths between modes; `modes` are positions (x, u / units), None where they are not known."""

    assembler: Assembler
    P: PoseEquations
    modes: tuple[np.ndarray | None, ...]

    def signs(self) -> list[int]:
        known = [z for z in self.modes if z is not None]
        found = iter(ClosedPositions.of(self.P, 0.0, {}).signs(np.array(known))[0] if known else ())
        return [0 if z is None else int(next(found)) for z in self.modes]

    def __call__(self, first: int, second: int, within: Mapping[str, tuple[float, float]], most: int, seed: int) -> ModePath:
        unknown = [name for name in within if name not in self.P.names]
        if unknown:
            raise UsageError(
                f"within: '{unknown[0]}' is not held. Held are {', '.join(self.P.names)}.", name=unknown[0], allowed=self.P.names
            )
        a, b = self.modes[first], self.modes[second]
        assert a is not None and b is not None
        for name, value in zip(self.P.names, a[self.P.size :] * self.P.units, strict=True):
            low, high = within.get(name, (-np.inf, np.inf))
            if not low - SAME_PLACE <= value <= high + SAME_PLACE:
                is_, least, largest = (self._text(name, x) for x in (value, low, high))
                raise UsageError(
                    f"within: {name} is {is_} at the modes, outside of {least} to {largest}. Widen these limits.", name="within"
                )
        smallest = ClosedPositions.of(self.P, 0.0, {}).signs(np.array([a, b]))[1].min()
        on = ClosedPositions.of(self.P, min(MARGIN, 0.1 * float(smallest)), within)
        path = singularity_free(on, a, b, most=most, seed=seed)
        if path is None:
            raise AssemblyError(
                f"no path without a singular position was found between the modes {first} and {second} in a search of at most "
                f"{most} positions{' within the limits' if within else ''}. There may be none. Otherwise try a larger most, another "
                "seed or wider limits."
            )
        some = np.concatenate([path[:-1:4], path[-1:]])
        return ModePath(self._states(some), self.P.names, some[:, self.P.size :] * self.P.units, float(on.signs(path)[1].min()))

    def _text(self, name: str, value: float) -> str:
        """A value of a held coordinate in the units of the model."""
        d = self.assembler.description
        kind = "length" if name in lengths(d) else self.assembler.coordinate(name)[2]
        return shown(float(value), KINDS[kind], d.units, 6)

    def _states(self, path: np.ndarray) -> tuple[State, ...]:
        here = self.assembler.start.instant
        states = []
        for z in path:
            u = z[self.P.size :] * self.P.units
            fixed = self.assembler.held_loops(dict(zip(self.P.names, (float(x) for x in u), strict=True)), here)
            at = placed(self.assembler, fixed, self.P, z[: self.P.size], u, here)
            if at is None:
                raise AssemblyError("a position of the path could not be closed in joint coordinates. Try another seed.")
            here = at.at
            states.append(State.of(here))
        return tuple(states)


# ---------------------------------------------------------------- from poses to joint coordinates


def placed(assembler: Assembler, fixed: Loops, P: PoseEquations, x: np.ndarray, u: np.ndarray, here: Instant) -> Closed | None:
    """The state whose bodies are where a real solution says; None if the loops do not close there."""
    found = P.poses(x, u)
    for leg in P.legs:
        root = _leg_root(P, leg, found, u, _pose_at(here, leg.bodies[0]).R)
        found |= {body: root @ X for body, X in P.leg_poses(leg, u).items()}
    found = {body: Pose(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float) * P.scale) for body, X in found.items()}
    near = {name: np.array(y, dtype=float) for name, y in here.references.items()}
    for (name, i), k in P.held.items():
        near[name][i] = u[k]
    parts = []
    for node in assembler.tree.nodes:
        j = node.joint
        F, M = (found[body] @ Pose(np.array(f.rotation, float), np.array(f.at, float)) for body, f in _sides(j))
        X = F.inverse() @ M
        parts.append(joints.create(j.type, j.options).coordinates(X.R, X.p, near[j.name]))
    done = close(fixed, np.concatenate(parts), near, most=60)
    if done.residual > CLOSED_AT_BEST:
        return None
    off = [_difference(_pose_at(done.at, body), X, P.scale) for body, X in found.items() if body in P.placed]
    return done if max(off) < PLACED else None


def _sides(j: Any) -> tuple[tuple[str, Any], tuple[str, Any]]:
    return (j.first, j.frame_first), (j.second, j.frame_second)


def _pose_at(at: Instant, body: str) -> Pose:
    node = at.skel.node(body)
    X = node_motion(at.skel, at.motion, node)[0]
    return Pose(X.R, X.p + at.skel.origin(node)) if node >= 0 else X


def _difference(a: Pose, b: Pose, scale: float) -> float:
    return float(max(np.abs(a.R - b.R).max(), np.abs(a.p - b.p).max() / scale))


def _leg_root(P: PoseEquations, leg: Leg, found: Mapping[str, Pose], u: np.ndarray, R: np.ndarray) -> Pose:
    """The pose of the first body of a leg between its ends, turned as little as possible from R."""
    near, far = P.leg_ends(leg, u)
    a, b = (np.asarray(y, dtype=float) for y in P.ends_apart(leg, found))
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-300)
    before = R @ (far - near)
    R = _turned(before / max(float(np.linalg.norm(before)), 1e-300), along) @ R
    inside = P.leg_poses(leg, u)
    for joint, side in leg.ends:
        if joints.is_cross(joints.JOINTS[joint.type]):
            mine, other = (joint.first, joint.second) if side == 0 else (joint.second, joint.first)
            own = R @ (inside[mine] @ P.frame(joint, side)).R[:, side]
            other_axis = np.asarray((found[other] @ P.frame(joint, 1 - side)).R[:, 1 - side], dtype=float)
            R = _spin(along, own, other_axis) @ R
    return Pose(R, a - R @ near)


def _turned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The shortest rotation from one unit vector to another; about z, or any axis across, if they are opposite."""
    v, c = np.cross(a, b), float(a @ b)
    if c < -1.0 + 1e-12:
        axis = np.array([0.0, 0.0, 1.0]) if abs(a[2]) < 1e-9 else np.linalg.svd(a[None])[2][1]
        return 2.0 * np.outer(axis, axis) - np.eye(3)
    K = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.eye(3) + K + K @ K / (1.0 + c)


def _spin(along: np.ndarray, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The smaller rotation about `along` that makes the axis `own` perpendicular to `other`."""
    axial = along * (along @ own)
    A, B, C = other @ (own - axial), other @ np.cross(along, own), other @ axial
    size = float(np.hypot(A, B))
    if size < 1e-12 or abs(C) > size:
        return np.eye(3)
    middle, half = np.arctan2(B, A), np.arccos(-C / size)
    angle = min((np.arctan2(np.sin(t), np.cos(t)) for t in (middle + half, middle - half)), key=abs)
    K = np.array([[0.0, -along[2], along[1]], [along[2], 0.0, -along[0]], [-along[1], along[0], 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K

"""Rigid-body guidance: linkages whose coupler passes given poses (x, y, angle).

Five poses: all exact dyads. Four: the circle-point and center-point curves, sampled. Three and two: families, by ground pivots or moving
pivots that are given, or sampled. More: best fit. Every two dyads are a linkage, driven from either side; links and guides alike.

A best fit of dyads comes first, then that of linkages. Dyads: the distances |X_i - a| - R, or those from a line, are minimized from many
starts by Levenberg-Marquardt steps on all at once. Linkages: each wanted pose is projected onto the coupler's motion (two constraints,
one for each dyad), and the distances, angles weighed by a length, are minimized. By the envelope theorem their derivative by the
dimensions is -G+ H, with G and H the derivatives of the constraints by the pose and by the dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import UsageError, counted, tracking
from linkwright.rings.synthesis.burmester import (  # fmt: skip
    DyadSet,
    NullSpace,
    PoseSet,
    curve,
    deviations,
    guides,
    inverted,
    isolated,
    null_space,
    with_ground,
    with_moving,
)
from linkwright.rings.synthesis.circuits import Circuits, Dyads, circuits
from linkwright.rings.synthesis.linkage import Guide, Linkage
from linkwright.rings.synthesis.placement import box_sides
from linkwright.rings.synthesis.results import SynthesizedLinkage


@dataclass(frozen=True, eq=False)
class FittedPoses:
    """Two dyads and the poses of their coupler nearest to the wanted ones, in scaled coordinates; `error` is the root mean square."""

    dyads: DyadSet
    place: np.ndarray
    turn: np.ndarray
    error: float


def fitted_links(poses: PoseSet, *, starts: int = 60, seed: int = 0) -> DyadSet:
    """Return links of locally least distance, best first."""
    candidates = DyadSet.joined(isolated(null_space(poses, 3), seed)[0], curve(null_space(poses, 4), starts, seed))
    rng = np.random.default_rng(seed)
    some = rng.uniform(-2, 2, (starts, 4)) @ np.array([[1, 0], [1j, 0], [0, 1], [0, 1j]])  # free starts beside the algebraic ones
    x, a = (np.concatenate([z, w]) for z, w in zip((candidates.moving, candidates.ground), some.T, strict=True))
    near = (np.abs(x) < 30) & (np.abs(a) < 30)
    z = np.column_stack([x.real, x.imag, a.real, a.imag])[near]
    z = np.column_stack([z, np.abs(poses.moved(x[near]) - a[near][:, None]).mean(axis=1)])
    z, cost = _minimized(lambda v: _link_residuals(poses, v), z)
    return _best(z, cost, DyadSet.links(z[:, 0] + 1j * z[:, 1], z[:, 2] + 1j * z[:, 3]))


def fitted_guides(poses: PoseSet, *, starts: int = 24) -> DyadSet:
    """Return points that stay nearest to straight lines, best first."""
    angle = np.pi * np.arange(starts) / starts
    z = np.column_stack([np.zeros((starts, 2)), angle, np.zeros(starts)])
    z, cost = _minimized(lambda v: _guide_residuals(poses, v), z)
    normal = np.exp(1j * z[:, 2])
    return _best(z, cost, DyadSet(z[:, 0] + 1j * z[:, 1], z[:, 3] * normal, 1j * normal))


def _best(z: np.ndarray, cost: np.ndarray, dyads: DyadSet) -> DyadSet:
    good = np.flatnonzero(np.isfinite(cost) & (np.abs(dyads.moving) < 100) & (np.abs(dyads.ground) < 100))
    order = good[np.argsort(cost[good], kind="stable")]
    keys = np.stack([dyads.moving, dyads.ground, dyads.direction**2], axis=1)[order]
    return dyads.taken(order[tracking.distinct(keys, 1e-4)])


def _link_residuals(poses: PoseSet, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|X - a| - R (K, n) and its Jacobian by (x, a, R)."""
    away = poses.moved(z[:, 0] + 1j * z[:, 1]) - (z[:, 2] + 1j * z[:, 3])[:, None]
    length = np.maximum(np.abs(away), 1e-300)
    unit = np.conj(away / length)
    by_x = unit * poses.turn
    return length - z[:, 4:5], np.stack([by_x.real, -by_x.imag, -unit.real, unit.imag, -np.ones(length.shape)], axis=-1)


def _guide_residuals(poses: PoseSet, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Re(conj(normal) X) - offset (K, n) and its Jacobian by (x, angle of the normal, offset)."""
    normal = np.exp(1j * z[:, 2:3])
    X = poses.moved(z[:, 0] + 1j * z[:, 1])
    along = np.conj(normal) * poses.turn
    turned = np.conj(normal) * X
    return turned.real - z[:, 3:4], np.stack([along.real, -along.imag, turned.imag, -np.ones(X.shape)], axis=-1)


def _minimized(
    residuals: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], z: np.ndarray, iterations: int = 60
) -> tuple[np.ndarray, np.ndarray]:
    """Levenberg-Marquardt on every row of z; returns it with the root mean square of its residuals."""
    damping = np.full(len(z), 1e-3)
    r, J = residuals(z)
    cost = (r * r).sum(axis=1)
    for _ in range(iterations):
        H = np.swapaxes(J, 1, 2) @ J
        diagonal = np.einsum("kii->ki", H)
        H = H + (damping[:, None] * (diagonal + 1e-9 * diagonal.max(axis=1, keepdims=True)))[..., None] * np.eye(z.shape[1])
        step = tracking.solved(H, (np.swapaxes(J, 1, 2) @ r[..., None]))[..., 0]
        trial = z - np.where(np.isfinite(step), step, 0.0)
        r2, J2 = residuals(trial)
        cost2 = (r2 * r2).sum(axis=1)
        better = cost2 < cost
        z, r, J, cost = (np.where(_like(better, new), new, old) for new, old in ((trial, z), (r2, r), (J2, J), (cost2, cost)))
        damping = np.clip(np.where(better, 0.2 * damping, 5.0 * damping), 1e-12, 1e8)
    return z, np.sqrt(cost / r.shape[1])


def _like(mask: np.ndarray, array: np.ndarray) -> np.ndarray:
    return mask.reshape(-1, *[1] * (array.ndim - 1))


# ---------------------------------------------------------------- linkages


def fitted_pair(poses: PoseSet, dyads: DyadSet, lever: float, iterations: int = 40) -> FittedPoses:
    """Return two dyads refined together so that the coupler comes nearest to the wanted poses; `lever` weighs angles, in scaled lengths."""
    q = _dimensions(poses, dyads)
    kinds = dyads.direction != 0.0
    damping = 1e-3
    place, turn, e, J = _projected(poses, q, kinds, lever)
    cost = float((e * e).sum())
    for _ in range(iterations):
        H = J.T @ J
        diagonal = np.diag(H)
        step = np.linalg.lstsq(H + damping * np.diag(diagonal + 1e-9 * diagonal.max()), J.T @ e, rcond=None)[0]
        trial = [q[0] - step[: len(q[0])], q[1] - step[len(q[0]) :]]
        found = _projected(poses, trial, kinds, lever)
        new = float((found[2] ** 2).sum())
        if new < cost:
            small = cost - new < 1e-9 * cost
            q, (place, turn, e, J), cost = trial, found, new
            damping = max(0.2 * damping, 1e-12)
            if small:
                break
        else:
            damping *= 5.0
            if damping > 1e8:
                break
    refined = DyadSet(*(np.array(column) for column in zip(*(_dyad(v, guide) for v, guide in zip(q, kinds, strict=True)), strict=True)))
    return FittedPoses(refined, place, turn, float(np.sqrt(cost / len(poses.place))))


def _dimensions(poses: PoseSet, dyads: DyadSet) -> list[np.ndarray]:
    """(x, a, R) of a link, (x, angle of the normal, offset) of a guide."""
    out = []
    lengths = np.abs(poses.moved(dyads.moving) - dyads.ground[:, None]).mean(axis=1)
    for x, a, u, length in zip(dyads.moving, dyads.ground, dyads.direction, lengths, strict=True):
        normal = -1j * u
        guide = [x.real, x.imag, np.angle(normal), (np.conj(normal) * a).real]
        out.append(np.array(guide if u != 0.0 else [x.real, x.imag, a.real, a.imag, length]))
    return out


def _dyad(v: np.ndarray, guide: bool) -> tuple[complex, complex, complex]:
    normal = np.exp(1j * v[2])
    return (v[0] + 1j * v[1], v[3] * normal, 1j * normal) if guide else (v[0] + 1j * v[1], v[2] + 1j * v[3], 0.0)


def _projected(
    poses: PoseSet, q: list[np.ndarray], kinds: np.ndarray, lever: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Poses of the coupler nearest to the wanted ones, differences to these (3 n,) and their Jacobian by the dimensions."""
    n = len(poses.place)
    away = np.zeros((n, 3))  # from the wanted pose: x, y, lever * angle
    G, H = np.zeros((n, 2, 3)), np.zeros((n, 2, sum(map(len, q))))
    place, turn = poses.place, poses.turn
    for _ in range(8):
        place, turn = poses.place + away[:, 0] + 1j * away[:, 1], poses.turn * np.exp(1j * away[:, 2] / lever)
        here = PoseSet(place, turn, poses.center, poses.size)
        g = np.zeros((n, 2))
        column = 0
        for k, (v, guide) in enumerate(zip(q, kinds, strict=True)):
            r, J = (_guide_residuals if guide else _link_residuals)(here, v[None])
            g[:, k], H[:, k, column : column + len(v)] = r[0], J[0]
            column += len(v)
            x = v[0] + 1j * v[1]
            unit = np.exp(-1j * v[2]) if guide else np.conj((here.moved(np.array([x]))[0] - v[2] - 1j * v[3]) / (r[0] + v[4]))
            slope = np.broadcast_to(unit, n)
            G[:, k] = np.column_stack([slope.real, -slope.imag, (slope * 1j * turn * x).real / lever])
        inverse = np.swapaxes(tracking.solved(G @ np.swapaxes(G, 1, 2), G), 1, 2)  # of full row rank
        away = (inverse @ ((G @ away[..., None]) - g[..., None]))[..., 0]  # the least distance that meets the linearized constraints
    return place, turn, away.ravel(), -(inverse @ H).reshape(3 * n, -1)


REACH = 20.0  # pivots farther away than this, in sizes of the set of poses, are left out
SAMPLED = 2.5  # half width of the box of sampled pivots, in sizes


@dataclass(frozen=True)
class GuidanceOptions:
    """How dyads are chosen and linkages ranked."""

    n: int | None
    seed: int
    full_turn: bool
    ordered: bool
    most_ratio: float
    sliders: bool
    samples: int
    within: tuple[float, float, float, float] | None


def guided(
    poses: Any,
    *,
    ground: Any = (),
    moving: Any = (),
    within: Sequence[float] | None = None,
    sliders: bool = True,
    full_turn: bool = False,
    ordered: bool = True,
    fit: bool = False,
    lever: float | None = None,
    most_ratio: float = 10.0,
    samples: int = 240,
    count: int | None = None,
    seed: int = 0,
) -> tuple[list[SynthesizedLinkage], dict[str, Any], tuple[str, ...]]:
    """Return linkages that carry their coupler through two or more poses (x, y, angle), in m and rad, best first.

    ground, moving: pivots to use, for two or three poses: points (x, y) on the ground; points in the frame of the body.
    within: (x least, x most, y least, y most) of ground pivots.            sliders: guides too, not only links.
    full_turn: the drive must turn fully.                                   ordered: poses are met in the given order.
    fit: least squares for five poses too; more than five always are.       lever: length that weighs angles against distances there.
    most_ratio: longest link over shortest; linkages beyond come last.      samples: dyads of a family that are tried.
    """
    rows, notes = _checked(poses)
    box = box_sides(within)
    options = GuidanceOptions(count, seed, full_turn, ordered, float(most_ratio), sliders, int(samples), box)
    wanted = PoseSet.of(rows)
    chosen = _chosen(wanted, ground, moving, options)
    space = null_space(wanted)
    if space.dimension < 3 or (fit and len(rows) >= 5):
        listed, facts = _fitted(wanted, options, wanted.size if lever is None else float(lever))
        return listed, facts, tuple(notes)
    dyads, facts, more = _exact_dyads(wanted, space, chosen, options)
    listed, found = _linkages(wanted, dyads, min(2, len(chosen)), options, all_pairs=space.dimension == 3)
    facts |= found
    if not listed and "pole" not in facts:
        more.append(
            f"{('No link passes', 'One link passes')[len(dyads)] if len(dyads) < 2 else 'Links pass'} these poses exactly, and no two "
            "of them make a linkage. Change or leave out a pose, or take the best fit (fit=True)."
        )
    return listed, facts, tuple(notes + more)


# ---------------------------------------------------------------- input


def _checked(poses: Any) -> tuple[np.ndarray, list[str]]:
    try:
        rows = np.array(poses, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("poses are rows of three numbers: x, y, angle.", name="poses") from None
    if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) < 2:
        raise UsageError(f"poses are rows (x, y, angle), two or more. These have shape {rows.shape}.", name="poses")
    if not np.isfinite(rows).all():
        raise UsageError("poses must be finite numbers. Check the coordinates and angles.", name="poses")
    extent = np.abs(rows[:, :2] - rows[:, :2].mean(axis=0)).max()
    key = np.column_stack([rows[:, :2] / (extent or 1.0), np.cos(rows[:, 2]), np.sin(rows[:, 2])])
    first = [k for k in range(len(key)) if not any(np.abs(key[k] - key[j]).max() < 1e-9 for j in range(k))]
    if len(first) < 2:
        raise UsageError("all poses are equal: the body does not move. Give at least two different poses.", name="poses")
    dropped = len(rows) - len(first)
    return rows[first], [f"{counted(dropped, 'repeated pose')} left out."] if dropped else []


def _points(given: Any, name: str) -> np.ndarray:
    try:
        z = np.asarray(given if np.size(given) else np.zeros((0, 2)), dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is a list of points (x, y).", name=name) from None
    z = z.reshape(1, 2) if z.shape == (2,) else z
    if z.ndim != 2 or z.shape[1] != 2 or len(z) > 2 or not np.isfinite(z).all():
        raise UsageError(f"{name} is a list of at most two points (x, y).", name=name)
    return z[:, 0] + 1j * z[:, 1]


def _chosen(wanted: PoseSet, ground: Any, moving: Any, options: GuidanceOptions) -> DyadSet:
    """Dyads of the pivots that are given."""
    a, x = _points(ground, "ground"), _points(moving, "moving")
    if not len(a) and not len(x):
        return DyadSet.links(np.zeros(0), np.zeros(0))
    if len(wanted.place) > 3:
        raise UsageError(
            "pivots can be chosen for two or three poses. More poses determine them. Leave out ground and moving.", name="pivots"
        )
    a, x = (a - wanted.center) / wanted.size, x / wanted.size
    if len(a) == len(x) == 2 and len(wanted.place) == 2:
        raise UsageError("two ground pivots and two moving pivots determine four links. Give one kind, or one of each.", name="ground")
    along = None
    if len(wanted.place) == 2:  # one more choice for each: the place on the bisector
        a, x = np.repeat(a, options.samples), np.repeat(x, options.samples)
        rng = np.random.default_rng(options.seed)
        along = np.tan(rng.uniform(-1.3, 1.3, max(len(a), len(x))))
    by_ground = with_ground(wanted, a, None if along is None else along[: len(a)])
    by_moving = with_moving(wanted, x, None if along is None else along[: len(x)])
    if len(by_ground) < len(a):
        raise UsageError(
            "a ground pivot that is given has no link of its own: the body sees it move along a line, or it is the pole. Choose another.",
            name="ground",
        )
    return DyadSet.joined(by_ground, by_moving)


# ---------------------------------------------------------------- dyads


def _exact_dyads(wanted: PoseSet, space: NullSpace, chosen: DyadSet, options: GuidanceOptions) -> tuple[DyadSet, dict[str, Any], list[str]]:
    """Dyads through all poses (those that were given first), what is known about them, and remarks."""
    count = len(wanted.place)
    facts: dict[str, Any] = {"poses": count, "smallest singular value": space.smallest, "family": space.rank < count}
    notes: list[str] = []
    none = DyadSet.links(np.zeros(0), np.zeros(0))
    facts |= _pole(wanted)
    if "pole" in facts:
        notes.append("A single hinge at the pole ({:.6g}, {:.6g}) m carries the body through all poses.".format(*facts["pole"]))
    slides = guides(space, max(4, options.samples // 10)) if options.sliders else none
    if len(chosen) >= 2 and count > 2:
        found, slides = chosen, none
    elif space.dimension == 3:
        found, shared = isolated(space, options.seed)
        facts["family"] = facts["family"] or shared
        facts["complex dyads"] = 0 if shared else 4 - len(found) - len(slides)
    elif space.dimension == 4:
        found = curve(space, max(8, options.samples // 2), options.seed)
        facts["center points"] = found.ground * wanted.size + wanted.center
        facts["circle points"] = found.moving * wanted.size
    else:
        found = _sampled(wanted, options)
    lines = inverted(space) if space.dimension in (3, 4) else 0
    if lines == 1:
        notes.append(
            "A line of the body passes through one ground pivot in all poses (a slot in the coupler). It is not among the linkages."
        )
    facts["lines through a pivot"] = lines
    together = found if found is chosen else DyadSet.joined(found, slides)
    together = together.taken(_admitted(wanted, together, options, np.inf if space.dimension == 3 else REACH))
    if found is not chosen and len(chosen):
        together = DyadSet.joined(chosen, together)
    if len(together) and (facts["family"] or space.rank < count):
        notes.append(
            f"These {count} poses have a whole family of dyads, as {min(space.rank, 4)} general poses have (equal turns, or turns about "
            "one point): linkages are sampled from it."
        )
    facts["links"] = int((together.direction == 0.0).sum())
    facts["guides"] = int((together.direction != 0.0).sum())
    return together, facts, notes


def _admitted(wanted: PoseSet, dyads: DyadSet, options: GuidanceOptions, reach: float) -> np.ndarray:
    """Indices of the dyads within reach, with links that have a length."""
    guide = dyads.direction != 0.0
    length = np.abs(wanted.moved(dyads.moving) - dyads.ground[:, None]).mean(axis=1)
    good = (np.abs(dyads.moving) < reach) & (guide | ((np.abs(dyads.ground) < reach) & (length > 1e-6)))
    good &= deviations(wanted, dyads) < 1e-8 * (1.0 + length)
    points = wanted.moved(dyads.moving)
    good &= np.abs(points - points[:, :1]).max(axis=1) > 1e-7  # a point that stays where it is needs no link
    return np.flatnonzero(good & _in_box(wanted, dyads, options))


def _in_box(wanted: PoseSet, dyads: DyadSet, options: GuidanceOptions) -> np.ndarray:
    """True for dyads whose ground pivot lies in the box; guides have none."""
    guide = dyads.direction != 0.0
    if options.within is None:
        return np.ones(len(dyads), dtype=bool)
    a = dyads.ground * wanted.size + wanted.center
    low_x, high_x, low_y, high_y = options.within
    return guide | ((a.real >= low_x) & (a.real <= high_x) & (a.imag >= low_y) & (a.imag <= high_y))


def _sampled(wanted: PoseSet, options: GuidanceOptions) -> DyadSet:
    """Links of a family of two or three poses: ground pivots and moving pivots spread evenly in a box."""
    count = max(8, options.samples)
    # A rank-1 lattice of irrational steps (powers of the root of g^6 = g + 1) fills the box evenly for any number of points.
    u = np.mod(np.random.default_rng(options.seed).random(5) + np.arange(count)[:, None] / 1.1347241384 ** np.arange(1, 6), 1.0)
    low, high = np.array([-SAMPLED, -SAMPLED]), np.array([SAMPLED, SAMPLED])
    if options.within is not None:
        box = np.array(options.within).reshape(2, 2).T
        low, high = ((row - [wanted.center.real, wanted.center.imag]) / wanted.size for row in box)
    a = (low + u[:, :2] * (high - low)) @ np.array([1.0, 1j])
    x = SAMPLED * (2.0 * u[:, 2:4] - 1.0) @ np.array([1.0, 1j])
    along = np.tan(2.6 * (u[:, 4] - 0.5)) if len(wanted.place) == 2 else None
    by_ground = with_ground(wanted, a, along)
    if options.within is not None:
        return by_ground
    return DyadSet.joined(by_ground.taken(np.arange(0, len(by_ground), 2)), with_moving(wanted, x, along).taken(np.arange(0, count, 2)))


def _pole(wanted: PoseSet) -> dict[str, Any]:
    """The point that stays where it is in all poses, if there is one: d_i + e_i x = c for all i."""
    A = np.column_stack([wanted.turn, -np.ones(len(wanted.turn))])
    (x, c), _, rank, _ = np.linalg.lstsq(A, -wanted.place, rcond=1e-9)
    if rank < 2 or np.abs(wanted.place + wanted.turn * x - c).max() > 1e-9 * (1.0 + abs(x)):
        return {}
    pole = c * wanted.size + wanted.center
    return {"pole": (float(pole.real), float(pole.imag))}


# ---------------------------------------------------------------- linkages


def _linkages(
    wanted: PoseSet, dyads: DyadSet, given: int, options: GuidanceOptions, *, all_pairs: bool
) -> tuple[list[SynthesizedLinkage], dict[str, Any]]:
    """Pairs of dyads, ranked; with `given` 1 or 2 the pairs contain that many of the dyads of given pivots, which come first."""
    i, j = _pairs(len(dyads), given, len(wanted.place), options.samples)
    groups = []
    for first in (False, True):
        for second in (False, True):
            kinds = dyads.direction != 0.0
            at = np.flatnonzero((kinds[i] == first) & (kinds[j] == second))
            if at.size:
                groups.append(_Group.of(wanted.moved(dyads.moving), dyads, i[at], j[at], options))
    if not groups:
        return [], {"pairs": 0, "usable": 0}
    inside = _in_box(wanted, dyads, options)  # pivots that were given may lie outside
    guide = dyads.direction != 0.0
    # two guides have no pivot that a box could hold
    bare = [guide[g.i] & guide[g.j] & (options.within is not None) for g in groups]
    outside = np.concatenate([~(inside[g.i] & inside[g.j]) | none for g, none in zip(groups, bare, strict=True)])
    rank = np.concatenate([g.rank for g in groups], axis=1)
    rank[0] += outside
    order = np.lexsort(rank[::-1])
    offsets = np.cumsum([0, *(len(g.i) for g in groups)])
    usable = int((rank[0] == 0).sum())
    wanted_count = options.n if options.n is not None else (len(order) if all_pairs else 10)
    listed: list[SynthesizedLinkage] = []
    taken: list[np.ndarray] = []
    alike = 0.4  # linkages of a family whose pivots differ by less, in sizes, are listed once
    for k in order:
        if len(listed) >= wanted_count:
            break
        g = int(np.searchsorted(offsets, k, side="right")) - 1
        group, at = groups[g], int(k - offsets[g])
        if not group.sound[at]:
            continue
        pivots = np.array([dyads.moving[[group.i[at], group.j[at]]], dyads.ground[[group.i[at], group.j[at]]]]).T
        if not all_pairs:
            # either side may drive, so the dyads are compared in a fixed order
            key = pivots[np.argsort(pivots[:, 1].real, kind="stable")].ravel()
            if any(np.abs(key - other).max() < alike for other in taken):
                continue
            taken.append(key)
        listed.append(group.answer(at, wanted, options))
    return listed, {"pairs": len(order), "usable": usable}


def _pairs(count: int, given: int, poses: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Ordered pairs (drive, other)."""
    i, j = (x.ravel() for x in np.meshgrid(np.arange(count), np.arange(count), indexing="ij"))
    fixed = given * (samples if poses == 2 else 1)
    good = i != j
    if given == 1:
        good &= (i < fixed) != (j < fixed)
    elif given == 2 and poses == 2:
        good &= (i < fixed) & (j < fixed) & ((i < samples) != (j < samples))
    return i[good], j[good]


@dataclass(frozen=True, eq=False)
class _Group:
    """Linkages of one kind: pairs of dyads, their circuits, their lengths."""

    dyads: DyadSet
    i: np.ndarray
    j: np.ndarray
    places: Circuits
    ratio: np.ndarray
    transmission: np.ndarray
    rank: np.ndarray  # (4, M): defects, beyond the ratio, without a full turn if asked for, transmission
    sound: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, dyads: DyadSet, i: np.ndarray, j: np.ndarray, options: GuidanceOptions) -> _Group:
        first, second = (
            Dyads(points[k], dyads.ground[k], dyads.direction[k] if (dyads.direction[k] != 0.0).any() else None) for k in (i, j)
        )
        places = circuits(first, second)
        coupler, apart = np.abs(second.points - first.points).mean(axis=1), np.abs(dyads.ground[i] - dyads.ground[j])
        links = [d.length for d in (first, second) if d.direction is None]
        both = len(links) == 2
        lengths = np.stack([coupler, *links, *([apart] if both else [])])
        sound = lengths.min(axis=0) > 1e-6
        with np.errstate(all="ignore"):
            ratio = np.where(sound, lengths.max(axis=0) / lengths.min(axis=0), np.inf)
            transmission = np.where(sound, places.least_transmission(full_turn=options.full_turn), 0.0)
        count = places.defect_counts(full_turn=options.full_turn, ordered=options.ordered) + 9 * ~sound
        return cls(dyads, i, j, places, ratio, transmission, np.stack([count, ratio > options.most_ratio, -transmission]), sound)

    def answer(self, k: int, wanted: PoseSet, options: GuidanceOptions) -> SynthesizedLinkage:
        pair = self.dyads.taken(np.array([self.i[k], self.j[k]]))
        deviation = float(deviations(wanted, pair).max()) * wanted.size
        measures = {"largest deviation": deviation, **self.measures(k)}
        names = self.places.defects(k, full_turn=options.full_turn, ordered=options.ordered)
        # The poses are met exactly: what is left is round-off and would only shuffle the list.
        return drawn(wanted, pair, 0.0, names, measures)

    def measures(self, k: int) -> dict[str, float]:
        return {
            "least transmission angle": float(self.transmission[k]),
            "link ratio": float(self.ratio[k]),
            "full turn": float(self.places.full[k]),
        }


def drawn(wanted: PoseSet, pair: DyadSet, error: float, defects: tuple[str, ...], measures: dict[str, float]) -> SynthesizedLinkage:
    """The linkage of two dyads in the first pose, driven at the first one."""
    points = wanted.moved(pair.moving)[:, 0]
    guide = pair.direction != 0.0
    names = (("A", "B"), ("D", "C"))
    at = {"P": wanted.place[0]}
    bodies: dict[str, tuple[str, ...]] = {"ground": tuple(n[0] for n, g in zip(names, guide, strict=True) if not g)}
    joints: dict[str, Guide] = {}
    links = iter(("crank", "rocker") if not guide.any() else ("crank",))
    for k, (ground, moving) in enumerate(names):
        at[moving] = points[k]
        if guide[k]:
            name = "guide" if not joints else "guide2"
            slider = "slider" if not joints else "slider2"
            bodies[slider] = (moving,)
            joints[name] = Guide(slider, moving, complex(pair.direction[k]))
        else:
            at[ground] = pair.ground[k]
            bodies[next(links)] = (ground, moving)
    bodies = {**bodies, "coupler": ("B", "C")}
    pins = {name: complex(wanted.center + wanted.size * z) for name, z in sorted(at.items())}
    kind = {0: "four-bar", 1: "slider-crank", 2: "double slider"}[int(guide.sum())]
    drive = "guide" if guide[0] else "A"
    linkage = Linkage(kind, pins, bodies, drive, {"coupler": ("P",)}, joints, output="coupler.P")
    return SynthesizedLinkage(linkage, error, defects, measures, speed="0.1 m/s" if guide[0] else "60 rpm", at=_positions(wanted, pair))


def _positions(wanted: PoseSet, pair: DyadSet) -> tuple[float, ...]:
    """Positions of the drive at the poses, counted from the first one: angles of a link in rad, travel along a guide in m."""
    z = wanted.moved(pair.moving)[0]
    if pair.direction[0] != 0.0:
        along = pair.direction[0] / abs(pair.direction[0])
        return tuple((wanted.size * (np.conj(along) * (z - z[0])).real).tolist())
    arm = z - pair.ground[0]
    return tuple(np.unwrap(np.angle(arm / arm[0])).tolist())


# ---------------------------------------------------------------- more poses than can be met


def _fitted(wanted: PoseSet, options: GuidanceOptions, lever: float) -> tuple[list[SynthesizedLinkage], dict[str, Any]]:
    """Pairs of the best dyads, each refined as a whole, ranked by error within those without defects."""
    links = fitted_links(wanted, seed=options.seed)
    links = links.taken(np.arange(min(6, len(links))))
    slides = fitted_guides(wanted) if options.sliders else links.taken(np.arange(0))
    slides = slides.taken(np.arange(min(2, len(slides))))
    dyads = DyadSet.joined(links, slides)
    listed: list[SynthesizedLinkage] = []
    for i in range(len(dyads)):
        for j in range(i + 1, len(dyads)):
            listed += _refined(wanted, dyads.taken(np.array([i, j])), lever / wanted.size, options)
    listed.sort(key=lambda x: (bool(x.defects), x.measures["link ratio"] > options.most_ratio, x.error))
    keys = [[x.linkage.drive == "A", *(x.linkage.pins.get(name, 0.0) / wanted.size for name in "ABCD")] for x in listed]
    listed = [listed[k] for k in tracking.distinct(np.array(keys, dtype=complex), 1e-4)] if listed else []  # starts may end at one optimum
    facts = {"poses": len(wanted.place), "links": len(links), "guides": len(slides), "pairs": len(listed)}
    return listed[: options.n or 10], {**facts, "usable": sum(x.usable for x in listed)}


def _refined(wanted: PoseSet, pair: DyadSet, lever: float, options: GuidanceOptions) -> list[SynthesizedLinkage]:
    """The linkage of two dyads, driven from either side; none where they have become one."""
    best = fitted_pair(wanted, pair, lever)
    if not np.isfinite(best.error) or np.abs(best.dyads.moving).max() > 100:
        return []
    reached = PoseSet(best.place, best.turn, wanted.center, wanted.size)
    off = np.abs(best.place - wanted.place).max() * wanted.size
    turned = float(np.abs(np.angle(best.turn / wanted.turn)).max())
    out = []
    for order in ([0, 1], [1, 0]):
        dyads = best.dyads.taken(np.array(order))
        group = _Group.of(reached.moved(dyads.moving), dyads, np.array([0]), np.array([1]), options)
        if group.sound[0]:
            names = group.places.defects(0, full_turn=options.full_turn, ordered=options.ordered)
            measures = {"largest deviation": float(off), "largest angle deviation": turned, **group.measures(0)}
            out.append(drawn(reached, dyads, best.error * wanted.size, names, measures))
    return out

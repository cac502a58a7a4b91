"""Inverse dynamics of closed loops: drive efforts and the reaction at every joint for a known motion.

`solve` sets up the problem J' lam + B u = M a + h, asks a method for one solution (`METHODS`), settles what is not
unique (`choice`), and iterates where friction grows with the load. The answer is a `Loads`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import SingularityError, UsageError, nearest
from linkwright.errors.arguments import spelled
from linkwright.mechanics import forces
from linkwright.mechanics.closing.singular_passage import acceleration_rows
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.choice import NO_CHOICES, Choices, choose, settled_efforts
from linkwright.mechanics.inverse.loads import Loads, Wrench, meshes_not_modeled
from linkwright.mechanics.inverse.methods import METHODS, Method, Solved
from linkwright.mechanics.inverse.problem import InverseProblem, LateTerms, unit_pushes
from linkwright.mechanics.kinematics.floating_base import base_joints
from linkwright.mechanics.kinematics.motion import Motion, motion
from linkwright.model.coordinates import joint_part
from linkwright.model.description import Friction
from linkwright.numerics.linalg import factor

FRICTION_ROUNDS = 60


def solve(
    loops: Loops,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    t: float,
    references: Mapping[str, Any],
    external: Sequence[tuple[int, Any]],
    drives: Sequence[str],
    method: str | Method = "subsystem",
    outside: Sequence[tuple[int, Any]] = (),
    moving: Motion | None = None,
    **choices: Any,
) -> Loads:
    """Efforts and reactions at a state with accelerations a; `choices` go to `choice.Choices`.

    `outside` are those of the external wrenches that come from outside the machine (loads, not springs); `moving` is the
    motion of the state, where it is known already.
    """
    method = method_of(method)
    given = Choices.of(loops, drives, **choices)
    rub: list[tuple[int, Any]] = []
    first = posed(loops, q, v, a, t, references, external, drives, moving)
    loads = replace(_once(first, method, given), outside=tuple(outside))
    if not loops.skel.tree.description.rubbing:
        return loads
    for _ in range(FRICTION_ROUNDS):  # friction by load: a fixed point, contracting as long as mu r / link length is small
        old = np.concatenate([w for _, w in rub]) if rub else np.zeros(1)
        rub = load_friction(loads)
        new = np.concatenate([w for _, w in rub])
        loads = replace(_once(_pushed(first, rub), method, given), outside=tuple(outside))
        if old.shape == new.shape and np.abs(new - old).max() <= 1e-12 * (1.0 + np.abs(new).max()):
            return loads
    raise UsageError("friction by load does not settle: the joints jam (self-locking) at these friction coefficients and radii.")


def with_joint_efforts(loads: Loads, efforts: Mapping[str, float]) -> Loads:
    """The same state with further efforts in joints, by name as friction has it; friction by load stays as it is."""
    place = loads.place
    parts = {name: joint_part(place.skel.tree.description, name) for name in efforts}
    more = [w for name, x in efforts.items() for w in forces.joint_effort(place, parts[name].joint, x, parts[name].entries[0])]
    return _once(_pushed(loads.problem, more), METHODS["subsystem"], NO_CHOICES)


def _pushed(p: InverseProblem, more: Sequence[tuple[int, Any]]) -> InverseProblem:
    """The problem with further wrenches on its bodies."""
    place = p.place.with_external((*p.place.external, *more))
    return replace(p, terms=LateTerms(place), place=place)


def posed(
    loops: Loops,
    q: Any,
    v: Any,
    a: Any,
    t: Any,
    references: Mapping[str, Any],
    external: Sequence[tuple[int, Any]],
    drives: Sequence[str],
    moving: Motion | None = None,
) -> InverseProblem:
    """The inverse problem at a state, over any scalar."""
    m = motion(loops.skel, q, v) if moving is None else moving
    place = Instant(loops.skel, q, v, t, references, loops=loops, motion=m, external=external)
    pushes = unit_pushes(loops.skel.tree.description, place, drives)
    return InverseProblem(LateTerms(place), place, a, tuple(drives), pushes)


def method_of(method: str | Method) -> Method:
    """Return a method by name, or the function itself."""
    if isinstance(method, str):
        if method not in METHODS:
            raise UsageError(f"there is no method '{method}'.", nearest(method, METHODS, "Methods"))
        return METHODS[method]
    if isinstance(method, type) or not callable(method):
        raise UsageError(
            f"a method is a name ({', '.join(METHODS)}) or a function of an inverse problem that returns "
            f"linkwright.mechanics.inverse.methods.Solved, not {type(method).__name__}.",
            value=method,
            name="method",
        )
    return method


def _once(p: InverseProblem, method: Method, given: Choices) -> Loads:
    name = getattr(method, "__name__", type(method).__name__)
    if not p.driven:
        there = passage(p, given)
        if there is not None:
            return Loads(p, there.solved.lam, there.solved.u, there.loose, there.solved, f"{name} (limit)", notes=there.notes)
    p.check_driven()
    solved = method(p)
    if not isinstance(solved, Solved):
        raise UsageError(
            f"the method '{name}' returned {spelled(solved)}. It must return linkwright.mechanics.inverse.methods.Solved.", name=name
        )
    chosen = choose(p, solved.lam, solved.u, given)
    return Loads(p, chosen.lam, chosen.u, chosen.self_stresses, solved, name, notes=chosen.notes)


def load_friction(loads: Loads) -> list[tuple[int, Any]]:
    """-mu |F| radius sign(v) in each rubbing joint (a slider: -mu |F| sign), from the reactions found so far; tanh(v / speed) in the place
    of the sign with a speed, or with one that is next to nothing: analytic."""
    place = loads.problem.place
    out: list[tuple[int, Any]] = []
    for f in place.loops.skel.tree.description.rubbing:
        joint, (i,) = joint_part(place.skel.tree.description, f.joint)
        out += forces.joint_effort(place, joint, rubbing_effort(loads, f), i)
    return out


def rubbing_effort(loads: Loads, f: Friction) -> Any:
    """Friction by load of one joint, from the reactions found so far."""
    place = loads.problem.place
    part = joint_part(place.skel.tree.description, f.joint)
    joint, (i,) = part
    lever = f.radius if part.kinds == {"angle"} else 1.0
    F = loads.reaction(joint.name).force
    v = place.speed(joint, i)
    return -f.mu * f.falling(v) * lever * np.sqrt(F @ F) * np.tanh(v / f.smooth_speed)


__all__ = [
    "METHODS",
    "InverseProblem",
    "Loads",
    "Method",
    "Wrench",
    "load_friction",
    "meshes_not_modeled",
    "method_of",
    "posed",
    "rubbing_effort",
    "solve",
    "with_joint_efforts",
]


# Efforts in a singular passage: the limit along the smooth branch.
#
# Where a row u of J is lost the columns [J' B] no longer carry the motion, although just before and after they do: the
# force along u'Jdot stays finite while its multiplier grows without bound. That direction takes the row's place; the efforts
# are then exact, and the multipliers of the lost rows are marked as not determined.
class LimitEfforts(NamedTuple):
    solved: Solved
    loose: np.ndarray  # directions of (lam, u) that are not determined
    notes: tuple[str, ...] = ()  # the weighting of efforts, where it decided something


def passage(p: InverseProblem, given: Choices = NO_CHOICES) -> LimitEfforts | None:
    """The solution in a passage; None where the position is regular."""
    place = p.place
    if p.terms.nc == 0:
        return None
    rows = acceleration_rows(place.loops, place.closure, place.q, place.v, place.t, place.references)
    if rows.passages == 0 or rows.Jdot is None:
        return None
    c, r = p.scales
    A = np.concatenate([p.matrix, (rows.replaced.T @ rows.Jdot).T], axis=1)
    f = factor(A)
    z = f.solve(p.g * c)
    if np.abs(A @ z - p.g * c).max() > 1e-7 * (1.0 + np.abs(p.g * c).max()):
        raise SingularityError("in this singular position the drives cannot carry the motion: it is a dead center for them.")
    n, nc = len(r), p.terms.nc
    lost = rows.replaced / p.terms.row_scale[:, None]
    every = np.concatenate([r, np.ones(A.shape[1] - n)])  # the forces along u'Jdot have no scale of their own
    chosen = settled_efforts(p, z / every, f.null / every[:, None], given)
    stress = f.null[:n] / r[:, None]
    loose = np.concatenate([np.concatenate([lost, np.zeros((n - nc, rows.passages))]), stress], axis=1)
    return LimitEfforts(Solved(chosen.z[:nc], chosen.z[nc:n], (A.shape,)), loose, chosen.notes)


# Wrench on a floating base that a known motion needs besides its drives; zero where the motion is one of free flight.


class BasePush(NamedTuple):
    """Efforts along the base's velocities by name, and the wrenches on bodies that they are."""

    efforts: dict[str, float]
    pushes: tuple[tuple[int, np.ndarray], ...]


def base_push(p: InverseProblem, names: list[str]) -> BasePush:
    """The least efforts along the velocities `names` of the base that drives and loops leave to be given."""
    place = p.place
    skel, m = place.loops.skel, place.motion
    units = []
    for joint in base_joints(skel.tree):
        found = skel.tree.description.joint(joint)
        count = sum(n.startswith(f"{joint}.") for n in names)
        units += [forces.joint_effort(place, found, 1.0, i) for i in range(count)]
    columns, c = np.array([dynamics.generalized(skel, m, u) for u in units]).T, p.scales[0]
    lost = p.factors.left_null
    B = lost.T @ (columns * c[:, None])
    sizes = np.sqrt(np.sum((columns * c[:, None]) ** 2, axis=0))
    w = factor(B / sizes).solve(lost.T @ (p.g * c)) / sizes
    pushes = tuple((node, wrench * x) for unit, x in zip(units, w.tolist(), strict=True) for node, wrench in unit)
    return BasePush(dict(zip(names, w.tolist(), strict=True)), pushes)

"""Inverse dynamics of closed loops: drive efforts and the reaction at every joint for a known motion.

`solve` sets up the problem J' lam + B u = M a + h, asks a method for one solution (`METHODS`), settles what is not
unique (`choice`), and iterates where friction grows with the load. The answer is a `Loads`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.errors.arguments import spelled
from linkwright.mechanics import forces
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.choice import Choices, choose
from linkwright.mechanics.inverse.limit import passage
from linkwright.mechanics.inverse.loads import Loads, Wrench
from linkwright.mechanics.inverse.methods import METHODS, Method, Solved
from linkwright.mechanics.inverse.problem import InverseProblem, LateTerms, unit_pushes
from linkwright.mechanics.kinematics.motion import Motion, motion
from linkwright.model.coordinates import joint_part
from linkwright.model.description import Friction

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
        rubbing = first.place.with_external((*external, *rub))
        loads = replace(_once(replace(first, terms=LateTerms(rubbing), place=rubbing), method, given), outside=tuple(outside))
        if old.shape == new.shape and np.abs(new - old).max() <= 1e-12 * (1.0 + np.abs(new).max()):
            return loads
    raise UsageError("friction by load does not settle: the joints jam (self-locking) at these friction coefficients and radii.")


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
            raise UsageError(f"there is no method '{method}'. {nearest(method, METHODS, 'Methods')}")
        return METHODS[method]
    if isinstance(method, type) or not callable(method):
        raise UsageError(
            f"a method is a name ({', '.join(METHODS)}) or a function of an inverse problem that returns "
            f"linkwright.mechanics.inverse.methods.Solved, not {type(method).__name__}."
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
        raise UsageError(f"the method '{name}' returned {spelled(solved)}; it must return linkwright.mechanics.inverse.methods.Solved.")
    chosen = choose(p, solved.lam, solved.u, given)
    return Loads(p, chosen.lam, chosen.u, chosen.free, solved, name, notes=chosen.notes)


def load_friction(loads: Loads) -> list[tuple[int, Any]]:
    """-mu |F| radius tanh(v / speed) in each rubbing joint (a slider: -mu |F| tanh), from the reactions found so far; analytic."""
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
    return -f.mu * lever * np.sqrt(F @ F) * np.tanh(place.speed(joint, i) / f.speed)


__all__ = ["METHODS", "InverseProblem", "Loads", "Method", "Wrench", "load_friction", "method_of", "posed", "rubbing_effort", "solve"]

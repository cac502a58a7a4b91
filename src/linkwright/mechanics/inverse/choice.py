"""Choosing among equal answers: least efforts, least reactions, stiffness, preload, released rows.

(lam, u) may change by any self-stress Z y. First the efforts are settled: the least ones by `effort_weights`, or
nearest to a given preload. What is left free is chosen so that the reactions of all joints have the least
sum of |F|^2 + |M|^2/kappa^2 (or the given compliances), which does not depend on the cuts; components may be released
(forced to zero) first, as commercial codes do. A component is unique where no self-stress touches it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.reactions import AXES, JointWrench, every_joint_wrench, labeled
from linkwright.mechanics.inverse.effort_weights import EffortWeights, effort_weights, nearest_efforts
from linkwright.mechanics.inverse.problem import InverseProblem
from linkwright.model.coordinates import is_rotary
from linkwright.model.file import quantity
from linkwright.numerics.linalg import factor
from linkwright.text.units import FORCE, TORQUE

UNIQUE = 1e-9


class ChosenLoads(NamedTuple):
    lam: np.ndarray
    u: np.ndarray
    self_stresses: np.ndarray  # (nc + drives, number): self-stresses of (lam, u), before any choice
    notes: tuple[str, ...] = ()  # the weighting of efforts, where it decided something


@dataclass(frozen=True)
class Choices:
    """Choices of a caller where loads are not unique, with every name and value checked whether it is needed or not."""

    weights: EffortWeights | None = None  # of given rated efforts; None: those of the model, or the characteristic length
    preload: Mapping[str, float] = field(default_factory=dict)
    stiffness: Mapping[str, Any] = field(default_factory=dict)
    release: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @staticmethod
    def of(
        loops: Loops, drives: Sequence[str], rated: Any = None, preload: Any = None, stiffness: Any = None, release: Any = None
    ) -> Choices:
        if not (rated or preload or stiffness or release):
            return Choices()
        desc, rows = loops.skel.tree.description, _rows(loops)
        weights = effort_weights(desc, drives, loops.kappa, rated=rated) if rated is not None else None
        wanted = _by_name("preload", preload, drives, "Drives", "5")
        ahead = {n: quantity(x, TORQUE if is_rotary(desc, n) else FORCE, f"preload of '{n}'") for n, x in wanted.items()}
        stiff = {n: _stiffness(n, x, rows[n]) for n, x in _by_name("stiffness", stiffness, rows, "Joints", "10").items()}
        freed = {n: _released(n, x, rows[n]) for n, x in _by_name("release", release, rows, "Joints", "['tz']").items()}
        return Choices(weights, ahead, stiff, freed)


def _rows(loops: Loops) -> dict[str, tuple[str, ...]]:
    """The rows of every joint's reaction, and of what else constrains (rods, couplings, gears)."""
    tree = loops.skel.tree
    joints = [*(j.name for j in tree.description.joints), *(n.joint.name for n in tree.nodes)]
    others = {c.name: tuple(c.labels) for c in loops.constraints if c.name not in tree.cuts}
    return {**dict.fromkeys(joints, AXES), **others}


def _by_name(word: str, given: Any, known: Any, kind: str, values: str) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        name = next(iter(known), "A")
        raise UsageError(f"{word} is a dict by name, {word}={{'{name}': {values}}}, not {given!r:.60}.", name=name, value=given)
    for name in given or {}:
        if name not in known:
            raise UsageError(f"{word}: there is no '{name}' here.", nearest(str(name), known, kind))
    return given or {}


def _stiffness(name: str, given: Any, rows: tuple[str, ...]) -> dict[str, float]:
    """By row; one number is that of all."""
    try:
        value = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        value = np.full(0, np.nan)
    entries = np.full(len(rows), float(value)) if value.ndim == 0 else value
    if entries.shape != (len(rows),) or not (np.isfinite(entries) & (entries > 0.0)).all():
        several = f", or {len(rows)} for {', '.join(rows)}" if len(rows) > 1 else ""
        raise UsageError(f"the stiffness of '{name}' must be positive (one number{several}), not {given!r:.60}.", name=name, value=given)
    return dict(zip(rows, entries.tolist(), strict=True))


def _released(name: str, given: Any, rows: tuple[str, ...]) -> list[str]:
    wanted = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else [given]
    for row in wanted:
        if row not in rows:
            raise UsageError(f"cannot release '{row}' of '{name}'.", nearest(str(row), rows, "Its rows"))
    return wanted


NO_CHOICES = Choices()


def choose(p: InverseProblem, lam: np.ndarray, u: np.ndarray, given: Choices = NO_CHOICES) -> ChosenLoads:
    """Settle what the equations leave open."""
    Z = p.self_stress
    if Z.shape[1] == 0:
        return ChosenLoads(lam, u, Z)
    nc = p.terms.nc
    z, rest, notes = settled_efforts(p, np.concatenate([lam, u]), Z, given)
    if rest.shape[1]:
        z = z + rest @ _least_reactions(p, z, rest, given)
    return ChosenLoads(z[:nc], z[nc:], Z, notes)


class SettledEfforts(NamedTuple):
    z: np.ndarray  # (lam, u) with the least efforts
    rest: np.ndarray  # self-stresses that leave the efforts alone
    notes: tuple[str, ...]


def settled_efforts(p: InverseProblem, z: np.ndarray, Z: np.ndarray, given: Choices = NO_CHOICES) -> SettledEfforts:
    """(lam, u) with the efforts of least weighted norm, or nearest to the preload, among z + Z y."""
    if not p.drives:
        return SettledEfforts(z, Z, ())
    nc, loops = p.terms.nc, p.place.loops
    end = nc + len(p.drives)
    weights = given.weights or effort_weights(loops.skel.tree.description, p.drives, loops.kappa)
    wanted = np.array([given.preload.get(d, 0.0) for d in p.drives])
    y, push = nearest_efforts(Z[nc:end], wanted - z[nc:end], weights.sizes, p.scales[1][nc:])
    beyond = ", measured from the preload" if given.preload else ""
    return SettledEfforts(z + Z @ y, Z @ push.null, (weights.note + beyond,) if push.rank else ())


def _least_reactions(p: InverseProblem, z: np.ndarray, rest: np.ndarray, given: Choices) -> np.ndarray:
    names, r0 = reaction_vector(p, z, True)
    R = np.array([reaction_vector(p, column, False)[1] for column in rest.T]).T
    y = np.zeros(rest.shape[1])
    released = [names.index((joint, row)) for joint, rows in given.release.items() for row in rows]
    if released:
        f = factor(R[released], 1e-9 * max(1.0, np.abs(R).max()))
        y = f.solve(-r0[released])
        R, r0, null = R @ f.null, r0 + R @ y, f.null
    else:
        null = np.eye(len(y))
    # a stiff joint takes more of what is free to go anywhere
    weight = np.array([given.stiffness.get(joint, {}).get(row, 1.0) for joint, row in names]) ** -0.5
    if R.shape[1]:
        weighed = weight[:, None] * R
        best = factor(weighed, 1e-10 * max(1.0, np.abs(weighed).max()), thin=True).solve(-weight * r0)
        y = y + null @ best
    return y


def joint_wrenches(p: InverseProblem, z: np.ndarray, inertial: bool) -> list[JointWrench]:
    """All joints' wrenches for (lam, u), drive torques and forces included as what they do to the bodies."""
    nc = p.terms.nc
    pushes = [(node, w * z[nc + i]) for i, push in enumerate(p.pushes) for node, w in push]
    place = p.place
    external = [*(place.external if inertial else ()), *pushes]
    return every_joint_wrench(place.with_external(external), z[:nc], p.a, inertial=inertial, pushed=not inertial)


def reaction_vector(p: InverseProblem, z: np.ndarray, inertial: bool) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Labels and comparable values of all reactions for (lam, u)."""
    return labeled(p.place, joint_wrenches(p, z, inertial), z[: p.terms.nc])

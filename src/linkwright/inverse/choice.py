"""Choosing among equal answers: least efforts, least reactions, stiffness, preload, released rows.

(lam, u) may change by any self-stress Z y. First the efforts are settled: the least ones in the metric of the drives'
ratings, or nearest to a given preload. What is left free is chosen so that the reactions of all joints have the least
sum of |F|^2 + |M|^2/kappa^2 (or the given compliances), which does not depend on the cuts; components may be released
(forced to zero) first, as commercial codes do. A component is unique where no self-stress touches it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.inverse.problem import Problem
from linkwright.linalg import factor
from linkwright.reactions import AXES, JointWrench, every_joint_wrench, labelled

UNIQUE = 1e-9


class Chosen(NamedTuple):
    lam: np.ndarray
    u: np.ndarray
    free: np.ndarray  # (nc + drives, number): self-stresses of (lam, u), before any choice


def choose(
    p: Problem,
    lam: np.ndarray,
    u: np.ndarray,
    *,
    rated: Mapping[str, float] | None = None,
    preload: Mapping[str, float] | None = None,
    stiffness: Mapping[str, Sequence[float]] | None = None,
    release: Mapping[str, Sequence[str]] | None = None,
) -> Chosen:
    """Settle what the equations leave open."""
    Z = p.self_stress
    if Z.shape[1] == 0:
        return Chosen(lam, u, Z)
    nc = p.terms.nc
    weights = np.array([1.0 / (rated or {}).get(d, 1.0) for d in p.drives])
    wanted = np.array([(preload or {}).get(d, 0.0) for d in p.drives])
    z = np.concatenate([lam, u])
    E = weights[:, None] * Z[nc:]
    push = factor(E, 1e-10 * max(1.0, np.abs(E).max(initial=0.0)))
    z = z + Z @ push.solve(weights * (wanted - z[nc:]))
    rest = Z @ push.null
    if rest.shape[1]:
        z = z + rest @ _least_reactions(p, z, rest, stiffness or {}, release or {})
    return Chosen(z[:nc], z[nc:], Z)


def _least_reactions(p: Problem, z: np.ndarray, rest: np.ndarray, stiffness: Mapping[str, Any], release: Mapping[str, Any]) -> np.ndarray:
    names, r0 = reaction_vector(p, z, True)
    R = np.array([reaction_vector(p, column, False)[1] for column in rest.T]).T
    y = np.zeros(rest.shape[1])
    released = [names.index(label) for label in _released(p, names, release)]
    if released:
        f = factor(R[released], 1e-9 * max(1.0, np.abs(R).max()))
        y = f.solve(-r0[released])
        R, r0, null = R @ f.null, r0 + R @ y, f.null
    else:
        null = np.eye(len(y))
    weight = np.array([_weight(label, stiffness) for label in names])
    if R.shape[1]:
        weighed = weight[:, None] * R
        best = factor(weighed, 1e-10 * max(1.0, np.abs(weighed).max()), thin=True).solve(-weight * r0)
        y = y + null @ best
    return y


def _released(p: Problem, names: list[tuple[str, str]], release: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    out = []
    for joint, rows in release.items():
        for row in rows:
            if (joint, row) not in names:
                known = sorted({n for n, _ in names})
                raise UsageError(f"cannot release '{row}' of '{joint}'. {nearest(joint, known, 'Joints')} Rows: {', '.join(AXES)}.")
            out.append((joint, row))
    return out


def _weight(label: tuple[str, str], stiffness: Mapping[str, Any]) -> float:
    """1/sqrt(stiffness): a stiff joint takes more of what is free to go anywhere. Six stiffnesses a joint, rx .. tz."""
    joint, row = label
    if joint not in stiffness:
        return 1.0
    value = np.asarray(stiffness[joint], dtype=float)
    entry = float(value if value.ndim == 0 else value[AXES.index(row)])
    if not entry > 0.0:
        raise UsageError(f"the stiffness of '{joint}' must be positive (one number, or six for {', '.join(AXES)}).")
    return 1.0 / float(np.sqrt(entry))


def joint_wrenches(p: Problem, z: np.ndarray, inertial: bool) -> list[JointWrench]:
    """All joints' wrenches for (lam, u), efforts of the drives included as what they do to the bodies."""
    nc = p.terms.nc
    pushes = [(node, w * z[nc + i]) for i, push in enumerate(p.pushes) for node, w in push]
    place = p.place
    external = [*(place.external if inertial else ()), *pushes]
    return every_joint_wrench(replace(place, external=tuple(external)), z[:nc], p.a, inertial=inertial, pushed=not inertial)


def reaction_vector(p: Problem, z: np.ndarray, inertial: bool) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Labels and comparable values of all reactions for (lam, u)."""
    return labelled(p.place, joint_wrenches(p, z, inertial), z[: p.terms.nc])

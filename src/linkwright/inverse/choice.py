"""Choosing among equal answers: least efforts, least reactions, stiffness, preload, released rows.

(lam, u) may change by any self-stress Z y. First the efforts are settled: the least ones in the metric of the drives'
ratings, or nearest to a given preload. What is left free is chosen so that the reactions of all joints have the least
sum of |F|^2 + |M|^2/kappa^2 (or the given compliances), which does not depend on the cuts; components may be released
(forced to zero) first, as commercial codes do. A component is unique where no self-stress touches it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.inverse.problem import Problem
from linkwright.linalg import factor
from linkwright.reactions import JointWrench, constraint_part, every_joint_wrench

UNIQUE = 1e-9
AXES = ("rx", "ry", "rz", "tx", "ty", "tz")


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
        best = factor(weight[:, None] * R, 1e-10 * max(1.0, np.abs(weight[:, None] * R).max())).solve(-weight * r0)
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


def local_wrench(p: Problem, w: JointWrench) -> np.ndarray:
    """[moment; force] of a joint in the axes of its first body's frame F."""
    from linkwright.kinematics import node_motion, pose_of

    skel = p.place.loops.skel
    joint = next(j for j in (*skel.tree.description.joints, *(n.joint for n in skel.tree.nodes)) if j.name == w.joint)
    R = (node_motion(skel, p.place.motion, skel.node(joint.first))[0] @ pose_of(joint.frame_first)).R
    return np.concatenate([R.T @ w.moment, R.T @ w.force])


def joint_wrenches(p: Problem, z: np.ndarray, inertial: bool) -> list[JointWrench]:
    """All joints' wrenches for (lam, u), efforts of the drives included as what they do to the bodies."""
    nc = p.terms.nc
    pushes = [(node, w * z[nc + i]) for i, push in enumerate(p.pushes) for node, w in push]
    place = p.place
    external = [*(place.external if inertial else ()), *pushes]
    from dataclasses import replace

    return every_joint_wrench(replace(place, external=tuple(external)), z[:nc], p.a, inertial=inertial, pushed=not inertial)


def reaction_vector(p: Problem, z: np.ndarray, inertial: bool) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Labels and values of all reactions, comparable: moments divided by kappa, rods and gears as forces."""
    kappa = p.place.loops.kappa
    names: list[tuple[str, str]] = []
    values: list[float] = []
    for w in joint_wrenches(p, z, inertial):
        local = local_wrench(p, constraint_part(p.place, w))
        for axis, value in zip(AXES, local, strict=True):
            names.append((w.joint, axis))
            values.append(float(value) / (kappa if axis[0] == "r" else 1.0))
    cut = set(p.place.loops.skel.tree.cuts)
    for c, rows in zip(p.place.loops.constraints, p.terms.rows, strict=True):
        if c.name not in cut:
            for label, kind, value in zip(c.labels, c.kinds, z[rows], strict=True):
                names.append((c.name, label))
                values.append(float(value) / (kappa if kind == "angle" else 1.0))
    return names, np.array(values)

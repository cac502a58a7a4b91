"""Rows of a hinge that closes a loop which the point alone would not close."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from linkwright import joints
from linkwright.model.description import Description, Joint
from linkwright.numerics.spatial import Pose, shift_twist
from linkwright.rings.exchange.reading.understanding.geometry import sides, size
from linkwright.rings.exchange.reading.understanding.paths import Step, path

INDEPENDENT = 1e-6  # smallest singular value of the dimensionless rows that counts


def rows_beyond_point(d: Description, joint: Joint, closing: Collection[str]) -> int:
    """Return how many independent rows a closing hinge has beyond its point, in the file's pose."""
    steps = path(d, joint.first, joint.second, closing)
    if steps is None:
        return 0
    F, M = sides(d, joint)
    length = size(d)
    columns = [_twists(d, step, F, length) for step in steps]
    S = np.column_stack(columns) if columns else np.zeros((6, 0))
    jt = joints.create(joint.type, joint.options)
    X = F.inverse() @ M
    D = np.asarray(jt.gradient(X.R, X.p), float)
    D[:, 3:] *= length  # lengths of S are shares of the size, and so are the rows of the point
    D[[label[0] == "t" for label in jt.rows]] /= length
    rows = D @ S
    held = [label[0] == "t" for label in jt.rows]
    return _rank(rows) - _rank(rows[held])


def _twists(d: Description, step: Step, F: Pose, length: float) -> np.ndarray:
    """Motions of a joint on the way, as twists at F's origin in F's axes; translations as shares of the size."""
    jt = joints.create(step.joint.type, step.joint.options)
    first, second = sides(d, step.joint)
    X = first.inverse() @ second
    q = jt.coordinates(X.R, X.p, np.zeros(jt.nq))
    S = shift_twist(F.inverse() @ first, np.asarray(jt.subspace(q), float).reshape(6, jt.nv))
    S[3:] /= length
    return S


def _rank(A: np.ndarray) -> int:
    return int(np.sum(np.linalg.svd(A, compute_uv=False) > INDEPENDENT)) if A.size else 0

"""Loops of imported files as the mechanism that is meant: hinges, merged bodies, planar and spherical loops without redundant rows.

Other formats close loops by what their solvers offer, points that coincide and frames that are welded. `understand` turns these
back into joints of the mechanism and says each inference in one sentence (docs/how-to/import.md, "How loops are understood").
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from linkwright.api import JOINTS, Description, Joint, Pose, is_hinge, joints, spatial
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.structure_recognition.closing_points import Joined, joined
from linkwright.rings.exchange.reading.structure_recognition.closing_welds import welded, within_one_body, without_idle_bases
from linkwright.rings.exchange.reading.structure_recognition.closure_gaps import gaps
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import sides, size
from linkwright.rings.exchange.reading.structure_recognition.graph_paths import Step, path
from linkwright.rings.exchange.reading.structure_recognition.parallel_cranks import parallel_cranks
from linkwright.rings.exchange.reading.structure_recognition.planar_loops import planar_loops
from linkwright.rings.exchange.reading.structure_recognition.rigid_groups import merged
from linkwright.rings.exchange.reading.structure_recognition.spherical_loops import spherical_loops

STEPS = (within_one_body, joined, welded, within_one_body, without_idle_bases)


def understand(imported: Imported, *, points_only: Collection[str] = ()) -> Imported:
    """Return the import with its closures understood and its report extended by inferences and gaps.

    `points_only` names closing hinges of which the file's own program closes the point alone, beside those that the import names: hinges
    whose axis adds rows are reported.
    """
    points_only = {*points_only, *imported.points_only}
    d, report = imported.description, imported.report
    distances, angles = gaps(d, [name for name in imported.closing if name not in dict(report.gaps)])
    fixed = [j.name for j in d.joints if not JOINTS[j.type].nv and j.name not in imported.closing]
    first = merged(d, fixed)
    state = Joined(first.description, imported.closing, first.sentences)
    for step in STEPS:
        found = step(state.description, state.closing)
        state = Joined(found.description, found.closing, (*state.sentences, *found.sentences))
    flat = planar_loops(state.description, state.closing)
    ball = spherical_loops(flat.description, state.closing)
    exact = parallel_cranks(ball.description)
    sentences = [*state.sentences, *flat.sentences, *ball.sentences, *exact.sentences]
    for name in state.closing:
        joint = exact.description.joint(name)
        if name in points_only and is_hinge(JOINTS[joint.type]):
            more = rows_beyond_point(exact.description, joint, state.closing)
            if more:
                sentences.append(
                    f"the hinge '{name}' holds its axis too ({more} {'row' if more == 1 else 'rows'} more). Other readers of this format "
                    "close the point alone."
                )
    extended = replace(
        report,
        inferred=(*report.inferred, *sentences),
        gaps=(*report.gaps, *distances),
        angles=(*report.angles, *angles),
    )
    return Imported(exact.description, state.closing, extended, imported.points_only)


__all__ = ["understand"]


# Rows of a hinge that closes a loop which the point alone would not close.


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
    S = spatial.shift_twist(F.inverse() @ first, np.asarray(jt.subspace(q), float).reshape(6, jt.nv))
    S[3:] /= length
    return S


def _rank(A: np.ndarray) -> int:
    independent = 1e-6  # smallest singular value of the dimensionless rows that counts
    return int(np.sum(np.linalg.svd(A, compute_uv=False) > independent)) if A.size else 0

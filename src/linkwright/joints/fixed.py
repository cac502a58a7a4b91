"""Fixed joint: no degree of freedom; as a cut joint a weld with six rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.joints import _rows
from linkwright.joints.base import JointType


@dataclass(frozen=True)
class Fixed(JointType):
    """q is empty."""

    nq = nv = 0
    rows = ("tx", "ty", "tz", "rx", "ry", "rz")
    coordinate_kinds = ()
    q_names = v_names = ()
    in_plane = True
    synonyms = ("weld", "welded", "rigid", "glue", "clamped", "locked")
    keeps_origin = True

    def pose(self, q: Any) -> Any:
        return np.eye(3), np.zeros(3)

    def coordinates(self, R: Any, p: Any, near: Any) -> Any:
        return np.zeros(0)

    def subspace(self, q: Any) -> Any:
        return np.zeros((6, 0))

    def bias(self, q: Any, v: Any) -> Any:
        return np.zeros(6)

    def qdot(self, q: Any, v: Any) -> Any:
        return v

    def residual(self, R: Any, p: Any, near: Any) -> Any:
        return np.concatenate([p, _rows.orientation(R)])

    def gradient(self, R: Any, p: Any) -> Any:
        return np.concatenate([_rows.translation_gradient((0, 1, 2)), _rows.orientation_gradient(R)])

    def curvature(self, R: Any, p: Any, w: Any, u: Any) -> Any:
        return np.concatenate([np.zeros(3), _rows.orientation_curvature(R, w)])

    def pieces(self) -> Any:
        return ()

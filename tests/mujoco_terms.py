"""Terms of MuJoCo by calls that differ between its versions."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np


def mass_matrix(model: Any, data: Any) -> np.ndarray:
    """The joint-space inertia matrix, (nv, nv)."""
    M = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, M)
    except TypeError:  # before version 4
        mujoco.mj_fullM(model, M, data.qM)
    return M

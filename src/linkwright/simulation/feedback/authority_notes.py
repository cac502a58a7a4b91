"""Notes of a run on lost control authority: when efforts were damped, and the uncontrollable motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.mechanics.constraints.loops import Loops
from linkwright.motion.controllability import controllable, drive_rows


def said(columns: Mapping[str, Any], t: np.ndarray, state: Any, loops: Loops, drives: Sequence[str], kind: str) -> list[str]:
    """Notes of a controlled run; `state(i)` gives the state at a sample."""
    if "control.damping" not in columns:
        return []
    damped = np.asarray(columns["control.damping"].values) > 0.0
    if not damped.any():
        return []
    i = int(np.argmin(columns["control.authority"].values))
    left = float(columns["control.authority"].values[i])
    times = t[damped]
    when = f"t = {times[0]:.4g} s" if len(times) == 1 else f"t = {times[0]:.4g} .. {times[-1]:.4g} s"
    worst = state(i)
    hardest = controllable(loops, worst, drive_rows(loops, worst, drives), drives).motion
    return [
        f"{kind}: {when}: the drives lose control authority (down to {left:.2g} of that at the start): efforts are damped there and the "
        f"reference is not followed exactly. Hardest to push: {hardest}. damping=0 switches this off"
    ]

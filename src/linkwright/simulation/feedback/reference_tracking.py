"""A state or a recorded motion as the reference: independent coordinates chosen by the program, and the paths they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.drives.base import target
from linkwright.errors import UsageError
from linkwright.mechanics.constraints.loops import Loops
from linkwright.model.curves.combined import Together
from linkwright.model.curves.references import Path
from linkwright.model.curves.tables import through_motion
from linkwright.motion.controllability import controllable, drive_rows
from linkwright.numerics.linalg import factor, pivoted_columns
from linkwright.results.state import State

FIRM = 1e-3  # share of the largest pivot that a coordinate chosen as independent must have


def recorded_references(reference: Any, loops: Loops, st: State, drives: Sequence[str], kind: str) -> dict[str, Any]:
    """Coordinates and what they shall do, of a State (stay there) or a Trajectory (do the same again)."""
    if isinstance(reference, State):
        return {name: float(reference[name]) for name in independent(loops, st, drives)}
    if hasattr(reference, "t") and hasattr(reference, "skel") and hasattr(reference, "a"):
        return {name: recorded(reference, name) for name in independent(loops, st, drives)}
    raise UsageError(
        f"{kind}: the reference is a dict by coordinate ({{'A': '60 deg', 'hand.E': lw.control.spline(...)}}), a State or a Trajectory, "
        f"not {type(reference).__name__}.",
        name=kind,
        value=reference,
    )


def independent(loops: Loops, st: State, drives: Sequence[str]) -> list[str]:
    """As many joint coordinates as there are degrees of freedom, those that determine the motion best, drives first  [Aghili2005 (38)]."""
    skel = loops.skel
    names = [n for node, jt in zip(skel.tree.nodes, skel.types, strict=True) if jt.q_names == jt.v_names for n in _full(node, jt)]
    ordered = [*drives, *(n for n in names if n not in drives)]
    rows = drive_rows(loops, st, ordered)
    reach = controllable(loops, st, drive_rows(loops, st, list(drives)), list(drives))
    N = factor(loops.dimensionless(loops.at(st.q, st.v, st.t, st.references))[1]).null
    seen = (rows * loops.columns) @ N
    scale = np.array([1.0 if target(skel, n).rotary else loops.kappa for n in ordered])
    E = (seen / scale[:, None]).T  # (degrees of freedom, coordinates)
    first = [i for i in pivoted_columns(E[:, : len(drives)], FIRM)]
    chosen = pivoted_columns(E, FIRM, first=tuple(first))[: reach.freedoms]
    if len(chosen) < reach.freedoms:
        raise UsageError(
            "the reference names no coordinates, and joint coordinates alone do not determine the motion: name them.", name="reference"
        )
    return [ordered[i] for i in sorted(chosen)]


def _full(node: Any, jt: Any) -> list[str]:
    return [f"{node.joint.name}.{p}" if p else node.joint.name for p in jt.q_names]


def recorded(run: Any, name: str) -> Path:
    """A coordinate of a recorded motion: fifth-degree pieces through value, speed and acceleration at its samples."""
    t = np.asarray(run.t, dtype=float)
    f, df, ddf = (np.asarray(run[n], dtype=float) for n in (name, f"{name}.v", f"{name}.a"))
    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise UsageError(f"a recorded motion needs two samples or more to be followed. This one has {len(t)}.")
    return Path(Together((through_motion(t, f, df, ddf),)), f"{name} as recorded")

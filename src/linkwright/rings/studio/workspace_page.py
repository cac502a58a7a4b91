"""The page of a robot's workspace: the page of a study whose designs are poses, with the located curves on its map.

Axes beyond the first two are sliders, and so is the working mode where there are several. Above MOST_POSES the page holds fewer values of
the longest axes, and says so; curves are complete.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import UsageError, files
from linkwright.rings.robots.workspace.result import Workspace, WorkspaceAxis, WorkspaceModes
from linkwright.rings.studio.study_page import filled, rounded_values
from linkwright.rings.studio.style import RAMP
from linkwright.rings.studio.workspace_plots import FIRST, shades

MOST_POSES = 40_000
DIGITS = 7  # of points of curves


def write(workspace: Workspace | WorkspaceModes, path: str | os.PathLike[str]) -> Path:
    """Write the page of a workspace."""
    files.checked(path, files.PAGES)
    every = list(workspace) if isinstance(workspace, WorkspaceModes) else [workspace]
    if len(every[0].axes) < 2:
        raise UsageError("the page of a workspace needs two axes. a.plot() draws measures over one.", name="axes")
    return files.write_text(path, files.PAGES, filled(contents(every), every[0].name, "workspace"))


def contents(every: Sequence[Workspace]) -> dict[str, Any]:
    """Return what the page shows: poses with their measures, reasons of those that are not in reach, curves."""
    first = every[0]
    places = _places(first.axes, len(every))
    cells = tuple(np.ix_(*places))
    reach = np.stack([a.reach[cells] for a in every], axis=-1).ravel()
    why = np.stack([a.why[cells] for a in every], axis=-1).ravel()
    axes = [_axis(a, at) for a, at in zip(first.axes, places, strict=True)]
    if len(every) > 1:
        axes.append({"name": "working mode", "symbol": "-", "values": [a.mode for a in every], "of": len(every)})
    names = sorted(first.measures, key=lambda n: FIRST.index(n) if n in FIRST else len(FIRST) + (n in ("type1", "type2")))
    total = first.reach.size * len(every)
    return {
        "name": first.name,
        "plan": "workspace",
        "total": total,
        "done": total,
        "rows": list(range(len(reach))),
        "axes": axes,
        "variables": [],
        "measures": [_measure(n, every, cells) for n in names],
        "reasons": list(first.reasons),
        "failed": {str(k): int(why[k]) for k in np.flatnonzero(~reach)},
        "ramp": list(RAMP),
        "workspace": {"curves": _curves(every, places), "notes": _notes(every)},
    }


def _places(axes: Sequence[WorkspaceAxis], modes: int) -> list[np.ndarray]:
    """Places of the values of each axis that the page holds."""
    lengths = [len(a.values) for a in axes]
    while np.prod(lengths, dtype=float) * modes > MOST_POSES:
        longest = int(np.argmax(lengths))
        lengths[longest] = max(2, min(lengths[longest] - 1, int(0.95 * lengths[longest])))
    return [np.unique(np.round(np.linspace(0, len(a.values) - 1, n)).astype(int)) for a, n in zip(axes, lengths, strict=True)]


def _axis(a: WorkspaceAxis, at: np.ndarray) -> dict[str, Any]:
    return {"name": a.name, "symbol": a.unit, "values": rounded_values(a.values[at] / a.size), "of": len(a.values)}


def _measure(name: str, every: Sequence[Workspace], cells: Any) -> dict[str, Any]:
    values = np.stack([a.values[name][cells] / a.unit(name)[1] for a in every], axis=-1).ravel()
    s = shades(values)
    ends = [float(f"{10.0**x if s.logarithmic else x:.6g}") for x in (s.low, s.high)]
    digits = [float(f"{x:.6g}") if np.isfinite(x) else None for x in values.tolist()]
    return {"name": name, "symbol": every[0].unit(name)[0], "values": digits, "range": ends, "log": s.logarithmic}


def _curves(every: Sequence[Workspace], places: Sequence[np.ndarray]) -> list[dict[str, Any]]:
    """Curves of every slice of the first two axes that the page can show."""
    out = []
    for k, a in enumerate(every):
        sizes = np.array([x.size for x in a.axes[:2]])
        for at in product(*(range(len(p)) for p in places[2:])):
            part = a.cut({i + 2: int(places[i + 2][j]) for i, j in enumerate(at)}) if at else a
            for c in part.curves:
                points = [[float(f"{x:.{DIGITS}g}") for x in row] for row in (c.points[:, :2] / sizes).tolist()]
                out.append({"kind": c.kind, "at": [*at, *([k] if len(every) > 1 else [])], "points": points})
    return out


def _notes(every: Sequence[Workspace]) -> list[str]:
    said = [f"Fixed: {', '.join(every[0].fixed_texts)}."] if every[0].fixed else []
    said += [note[:1].upper() + note[1:] for a in every for note in a.notes]
    return list(dict.fromkeys(said))

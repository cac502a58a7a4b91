"""Tables for the console: a cycle at a glance, aligned, in the units of the model's file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwright.api import Table, Trajectory, text_tables
from linkwright.rings.studio.plots import marked_points, natural_axis

ROWS = 13  # every 30 deg of a full turn


def turn_channels(c: Trajectory) -> list[str]:
    """Channels of the table of a cycle: the drive (or t), sliders, angles of the other bodies, marked points."""
    d = c.skel.tree.description
    first = natural_axis(c)
    drives = [x.joint for x in d.drives if x.joint in c.channels and c[x.joint].ndim == 1]
    lead = [first] if first != "t" else ["t", *(x for x in drives)]
    axes = d.plane or "xyz"
    points = [f"{p}.{x}" for p in marked_points(c) for x in axes]
    sliders = [
        n for j in d.joints for n in (j.name, f"{j.name}.slide") if n in c.channels and c.dimension(n) == "length" and c[n].ndim == 1
    ]
    if d.planar:
        others = [*sliders, *(f"{b.name}.angle" for b in d.moving)]
    else:
        others = [j.name for j in d.joints if j.name in c.channels and c[j.name].ndim == 1]
    moving = [n for n in others if n not in lead and np.ptp(c[n]) > 1e-9 and not _repeats(c, n, lead)]
    most_columns = 9
    room = max(1, most_columns - len(lead) - min(len(points), 4))
    return [*lead[:most_columns], *moving[:room], *points[:4]]


def _repeats(c: Trajectory, name: str, lead: Sequence[str]) -> bool:
    """True if a channel only repeats a leading one (a crank's angle is the drive's coordinate)."""
    return any(c.dimension(x) == c.dimension(name) and np.ptp(c[name] - c[x]) < 1e-9 for x in lead if x != "t")


def turn_table(c: Trajectory, rows: int = ROWS) -> Table:
    """A cycle at about equal steps, in the file's units."""
    picked = np.unique(np.linspace(0, len(c) - 1, min(rows, len(c))).round().astype(int))
    columns = []
    for name in turn_channels(c):
        symbol, size = c.unit(name)
        values = c.place(c[name]) if name == c.drive else c[name]
        shown = (values / size)[picked]
        columns.append(text_tables.Column.of(name, symbol, np.round(shown, _decimals(shown)) + 0.0, style=f".{_decimals(shown)}f"))
    return Table(tuple(columns))


def _decimals(values: np.ndarray) -> int:
    """Decimals that show five digits of the largest value."""
    largest = float(np.abs(values).max(initial=0.0))
    return int(np.clip(4 - np.floor(np.log10(largest)), 0, 6)) if largest > 0.0 else 1

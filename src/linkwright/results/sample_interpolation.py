"""A trajectory at any time between its samples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.file import quantity
from linkwright.results import interpolation
from linkwright.results.records import Column, CutReferences, cut_rows
from linkwright.results.state import State
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory


def at_times(c: Trajectory, t: Any) -> State | Trajectory:
    """The state at one time, or a Trajectory at several; see `Trajectory.at`."""
    if c.static:  # positions between samples need the path's own rates
        moving = c.in_motion().at(t)
        return replace(moving, v=0.0 * moving.v, a=0.0 * moving.v) if isinstance(moving, State) else moving._at_rest()
    one = isinstance(t, str) or np.ndim(t) == 0
    times = np.array([quantity(t, KINDS["time"], "t")]) if one else np.asarray(t, dtype=float).ravel()
    c._need_sample()
    low, high = min(c.t[0], c.t[-1]), max(c.t[0], c.t[-1])
    slack = 4.0 * np.finfo(float).eps * max(abs(low), abs(high))
    if not len(times) or not ((times >= low - slack) & (times <= high + slack)).all():
        raise UsageError(f"this result covers t = {low:.9g} .. {high:.9g} s. A time outside cannot be read from it.", name="t")
    times = np.clip(times, low, high)
    samples = interpolation.Samples(c.t, c.q, c.v, c.a, cut_rows(c.skel, c.references))
    found = interpolation.states(c.frame, samples, times, c.arrays.get("closed"))
    references = CutReferences(c.skel, found.q, found.references)
    if one:
        return State(c.skel, found.q[0], found.v[0], references[0], float(times[0]), found.a[0], c._counted_from)
    where = interpolation.places(c.t, times)
    out = replace(
        c,
        t=times,
        q=found.q,
        v=found.v,
        a=found.a,
        references=references,
        full_turn=False,
        columns={name: Column(where.linear(x.values), x.dimension) for name, x in c.columns.items()},
        arrays={name: where.linear(x) for name, x in c.arrays.items()},
        settings={**c.settings, "interpolated": True},
        origin=c._counted_from,
    )
    if "lam" not in c.arrays:
        return out
    lam = np.where(where.exact[:, None], out.arrays["lam"], out._loads.settled_multipliers())
    return replace(out, arrays={**out.arrays, "lam": lam})

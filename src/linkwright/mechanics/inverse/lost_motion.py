"""Lost motion: how far an output moves within all plays while the drives hold.

Every play is an offset e in a row that an ideal mechanism keeps at zero: x and y of a pin in its hole, y and angle of a block in its guide,
the residual of gears or of a coupling. By virtual work a unit load on the output, which the held drives balance, has a force F in that row,
and the output moves by F e. Over all offsets within a play this is

    c |F|                       a pin with the clearance c
    max(c |F_y|, 2 c |M| / L)   a block of length L with the clearance c to each side: its corners touch
    play / 2 |F|                a row that has a play

and the plays add up. It is of first order in the plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.elements.play import ENTRIES, Play
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.reactions import at_joint, every_joint_wrench
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.effort_places import EffortPlace, effort_place


def forces(x: Instant, loops: Loops, output: EffortPlace, held: Sequence[str], plays: Sequence[Play], y: Any) -> Any:
    """(1 + entries of all plays,): the load, and what it makes in each play. y are multipliers, efforts of the held coordinates and the
    load, which balance each other."""
    d = x.skel.tree.description
    place = Instant(x.skel, x.q, x.v, x.t, x.references, loops=loops, motion=x.motion)
    lam, u, load = y[: len(loops.row_scale)], y[len(loops.row_scale) : -1], y[-1]
    acting = [(output, load), *((effort_place(d, name), effort) for name, effort in zip(held, u, strict=True))]
    pushes = [(node, e * w) for p, e in acting if p is not None for node, w in p.pushes(place)[0]]
    wrenches = {w.joint: w for w in every_joint_wrench(place.with_external(pushes), lam, None, inertial=False, pushed=True)}
    rows = [f"{c.name}.{label}" for c in loops.constraints for label in c.labels]
    out = [load]
    for play in plays:
        if play.row:
            out += [0.0 * load] * 4 + [lam[rows.index(play.row)]]
            continue
        w, R = wrenches[play.joint], at_joint(place, play.joint).R
        out += [*(R.T @ w.force), w.moment @ R[:, 2], 0.0 * load]
    return np.array(out)


def within(plays: Sequence[Play], y: np.ndarray) -> np.ndarray:
    """Lost motion (n, plays) for forces (n, 1 + entries of all plays); infinite where nothing balances a load on the output."""
    each = np.stack([p.within(y[:, 1 + ENTRIES * i : 1 + ENTRIES * (i + 1)]) for i, p in enumerate(plays)], axis=1)
    loaded = y[:, 0] != 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(loaded[:, None], each / np.where(loaded, y[:, 0], 1.0)[:, None], np.inf)

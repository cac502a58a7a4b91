"""Turns of many designs in lanes of native code: where each begins, the laws of its drives, its samples.

Designs are closed by continuation of their numbers from the model's own, so all are on its branch. A design that does not go through in
equal steps is walked alone, with steps as short as it needs; the one that still stops is left to the float path, unless
the determinant falls like the square root of what is left of the way: then it ends at a dead centre.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from linkwright.compiler.threads import cores as cores_of_machine
from linkwright.errors import LinkwrightError
from linkwright.kernels.walking import Walking
from linkwright.kernels.walking_lanes import Beginnings, Homotopy, LaneWalking
from linkwright.mechanics.constraints.drives import is_rotary
from linkwright.mechanics.instant import Instant
from linkwright.model.curves.lines import Line
from linkwright.motion import cycle
from linkwright.motion.designs import Designs
from linkwright.motion.native_walks import law_rows
from linkwright.results.singular_positions import STEEP, steep_minima

ROOT, LINE = 0.1, 0.15  # by which the last differences of the determinant may differ, and must: of its square, of itself
AT_ONCE = 500_000  # numbers of a block of designs
BEYOND = 1.2  # steps after the last sample within which a dead centre must lie


class LaneMotion(NamedTuple):
    """Samples (designs, samples, q v a references determinant) of designs, those that went through, and why others certainly cannot."""

    rows: np.ndarray
    t: np.ndarray  # (samples,), or one row for each design
    done: np.ndarray
    why: dict[int, str]


@dataclass(frozen=True)
class Laws:
    """Times, and laws of the drives at them: of all designs, or with an axis of designs in front."""

    t: np.ndarray
    rows: np.ndarray
    why: dict[int, str]


@dataclass(frozen=True, eq=False)
class LaneTurns:
    """How the designs of a mechanism are turned; `ready` is the turn of the model itself."""

    designs: Designs
    ready: cycle.Prepared
    steps: int
    asked: tuple[str | None, float | None, float | None]  # drive, speed, duration

    @cached_property
    def walking(self) -> LaneWalking | None:
        """The walk in lanes; None where designs must be turned one by one."""
        core, p = self.designs.core, self.ready.plan
        start = {name.removesuffix(".v") for name, _ in core.description.start if not name.endswith(".v")}
        drives = set(core.drive_names)
        plain = drives and drives == set(p.laws) and (not start or start == drives) and all(x in self.ready.here.references for x in drives)
        if not plain or not (is_rotary(core.description, p.lead) or not p.open_ended) or not self.designs.alike():
            return None
        kernel = self.designs.kernel("walk", list(p.laws))
        return None if kernel is None else LaneWalking(kernel, self.steps + 1, min(self.block, -(-len(self.designs) // 8) * 8))

    @property
    def block(self) -> int:
        """Designs at a time: their samples stay in the processor's caches."""
        tree = self.designs.core.tree
        return max(8 * cores_of_machine(), AT_ONCE // ((self.steps + 1) * (tree.nq + 2 * tree.nv)) // 8 * 8)

    @property
    def counts_from_begin(self) -> bool:
        """True if the motion begins at the start of the model, from which whole turns are counted."""
        return self.ready.here is self.designs.core.start.instant

    def laws(self, which: np.ndarray) -> Laws:
        """Laws of these designs."""
        p, begins = self.ready.plan, self.designs.begins
        if not self.designs.drives_change and begins is None:
            return self._common_laws
        if not self.designs.drives_change and all(isinstance(law, Line) for law in p.laws.values()):
            return self._shifted(which)
        times, rows, why = [], [], {}
        for k, i in enumerate(which):
            try:
                own = self._plan(int(i))
            except LinkwrightError as error:
                why[k], own = str(error), p
            times.append(np.linspace(0.0, own.span, self.steps + 1))
            rows.append(law_rows([own.laws[name] for name in p.laws], times[-1]))
        return Laws(np.array(times), np.array(rows), why)

    def _shifted(self, which: np.ndarray) -> Laws:
        """Laws of constant speed that begin elsewhere: where pins in the drawing put the drives."""
        common, begins, core = self._common_laws, self.designs.begins, self.designs.core
        assert begins is not None
        here = np.array([core.skel.start_coordinates[name][0] for name in self.ready.plan.laws])
        order = [core.drive_names.index(name) for name in self.ready.plan.laws]
        rows = np.repeat(common.rows[None], len(which), axis=0)
        rows[:, :, : len(order)] += np.nan_to_num(begins[which][:, order] - here)[:, None, :]
        return Laws(np.broadcast_to(common.t, (len(which), len(common.t))), rows, {})

    @cached_property
    def _common_laws(self) -> Laws:
        t = np.linspace(0.0, self.ready.plan.span, self.steps + 1)
        return Laws(t, law_rows(list(self.ready.plan.laws.values()), t), {})

    def _plan(self, i: int) -> cycle.CyclePlan:
        """The plan of a design whose drives depend on its numbers."""
        core = self.designs.core
        d = self.designs.driven(i)
        skel = replace(core.skel, tree=replace(core.tree, description=d))
        here, start = core.start.instant, dict(d.start)
        begins = self.designs.begins
        moved = {name: np.array([float(start[name])]) for name in core.drive_names if name in start}
        if begins is not None:
            moved |= {name: np.array([x]) for name, x in zip(core.drive_names, begins[i], strict=True) if np.isfinite(x)}
        at = Instant(skel, here.q, here.v, references={**here.references, **moved})
        return cycle.plan(replace(core.loops, skel=skel), at, *self.asked)

    def __call__(self, which: np.ndarray, cores: int | None = None) -> LaneMotion:
        """Turn these designs."""
        walk, free, laws = self.walking, self.designs.values[which], self.laws(which)
        assert walk is not None
        here, nd, n = self.ready.here, len(self.ready.plan.laws), len(which)
        p = self.ready.plan
        own = law_rows(list(p.laws.values()), np.zeros(1))[0, :nd]
        ends = np.broadcast_to(laws.rows[..., 0, :nd], (n, nd))
        packed = here.skel.pack(here.references)
        begin = walk.begun(Homotopy(here.q, packed, own, ends, np.zeros(nd), self.designs.nominal, free), cores)
        rows, reached = walk(begin, laws.t, laws.rows, free, cores)
        # a drive that is drawn beyond half a turn begins at the other end of its range: turns of the others would be counted otherwise
        near = (np.abs(ends - own) < np.pi).all(axis=1) | (self.designs.begins is None)
        done = begin.ok & (reached == self.steps + 1) & near
        for k in laws.why:
            done[k] = False
        done[done] = ~_steep(np.abs(rows[done, :, -1]))
        why = dict(laws.why)
        for k in np.flatnonzero(begin.ok & (reached < self.steps + 1) & near):
            if k not in why:
                self._alone(int(k), begin, laws, free, rows, done, why)
        if not p.rate:
            nq, nv = here.skel.tree.nq, here.skel.tree.nv
            rows[..., nq : nq + 2 * nv] = 0.0
        return LaneMotion(rows, laws.t, done, why)

    @cached_property
    def _single(self) -> Walking:
        walk = self.walking
        assert walk is not None
        return Walking(walk.kernel)

    def _alone(
        self, k: int, begin: Beginnings, laws: Laws, free: np.ndarray, rows: np.ndarray, done: np.ndarray, why: dict[int, str]
    ) -> None:
        """One design with steps as short as it needs; where it stops at a dead centre, say so."""
        t, law = (x if laws.rows.ndim == 2 else x[k] for x in (laws.t, laws.rows))
        found = self._single(begin.q[k], begin.references[k], t, law, free[k])
        strength = np.abs(found.determinant[: found.reached])
        if found.reached == len(t):
            rows[k] = np.concatenate([found.q, found.v, found.a, found.references, found.determinant[:, None]], axis=1)
            done[k] = not steep_minima(strength)
            return
        share = _dead_centre(strength)
        if share is not None:
            p, d = self.ready.plan, self.designs.core.description
            x = law[found.reached - 1, 0] + share * (law[found.reached, 0] - law[found.reached - 1, 0])
            why[k] = f"drive '{p.lead}' cannot turn fully: dead centre near {cycle.position_text(d, p.lead, float(x))}"


def _dead_centre(strength: np.ndarray) -> float | None:
    """Share of the next step at which a determinant that falls like a square root vanishes; None where it falls otherwise."""
    if len(strength) < 3:
        return None
    a, b, c = strength[-3:]
    root, line = np.array([a * a - b * b, b * b - c * c]), np.array([a - b, b - c])
    if min(root) <= 0.0 or abs(root[0] / root[1] - 1.0) > ROOT or abs(line[0] / line[1] - 1.0) < LINE:
        return None
    share = c * c / root[1]
    return float(share) if share <= BEYOND else None


def _steep(strength: np.ndarray) -> np.ndarray:
    """Mask of the designs in which the determinant has a steep minimum: see `steep_minima`."""
    least = strength.min(axis=1)
    doubtful = np.flatnonzero(least <= STEEP * strength.max(axis=1))
    out = np.zeros(len(strength), dtype=bool)
    if len(doubtful):
        x = np.pad(strength[doubtful], ((0, 0), (1, 1)))
        here, beside = x[:, 1:-1], np.maximum(x[:, :-2], x[:, 2:])
        out[doubtful] = (here <= STEEP * beside).any(axis=1)
        for k in np.flatnonzero(out):
            out[k] = bool(steep_minima(strength[k]))
    return out

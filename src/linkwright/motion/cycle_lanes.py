"""Cycles of many designs in lanes of native code: where each begins, the laws of its drives, its samples.

Designs are closed by continuation of their numbers from the model's own, so all are on its branch. Each is walked with steps as short as it
needs. One that stops is left to the float path, unless the determinant falls like the square root of what is left of the way: then it ends
at a dead center.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.compiler.native import cores as cores_of_machine
from linkwright.compiler.record_loops import padded
from linkwright.compiler.records import ALL_LANES
from linkwright.errors import LinkwrightError, UsageError
from linkwright.kernels.driven_motion import ORDERS, Homotopy, LaneWalking
from linkwright.kernels.gap_lanes import LaneGaps
from linkwright.mechanics.instant import Instant
from linkwright.model.coordinates import is_rotary
from linkwright.model.curves import Curve
from linkwright.model.curves.polynomial import Line
from linkwright.motion import cycle
from linkwright.motion.cycle_samples import law_rows, third_rows
from linkwright.motion.designs import ClosedDesign, Designs
from linkwright.numerics.tolerances import CLOSED_GIVEN
from linkwright.properties import cached_property
from linkwright.results.records import THIRD, cut_rows
from linkwright.results.singular_positions import STEEP, steep_minima
from linkwright.results.trajectory import Trajectory

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled


ROOT, LINE = 0.1, 0.15  # by which the last differences of the determinant may differ, and must: of its square, of itself
AT_ONCE = 100_000  # positions of a block of designs
BEYOND = 1.2  # steps after the last sample within which a dead center must lie


class LaneMotion(NamedTuple):
    """Samples of designs: rows (designs, q references determinant, padded samples), times and laws of the drives at them, those that
    went through, and why others certainly cannot."""

    rows: np.ndarray
    laws: Laws
    done: np.ndarray
    why: dict[int, str]

    def determinant(self, samples: int) -> np.ndarray:
        """Determinants (designs, samples) of the driven Jacobian."""
        return self.rows[:, -1, :samples]


@dataclass(frozen=True)
class Laws:
    """Times (padded samples,) and laws (4 drives, padded samples) of the drives: of all designs, or with an axis of designs in front."""

    t: np.ndarray
    rows: np.ndarray
    why: dict[int, str]

    @classmethod
    def of(cls, times: Sequence[np.ndarray], rows: Sequence[np.ndarray], why: dict[int, str]) -> Laws:
        """The last samples are repeated up to a multiple of eight; one time and one law are those of all designs."""
        more = padded(len(times[0])) - len(times[0])
        t, law = np.array([np.pad(x, (0, more), "edge") for x in times]), np.array([np.pad(x.T, ((0, 0), (0, more)), "edge") for x in rows])
        return cls(t[0], law[0], why) if len(t) == 1 else cls(t, law, why)

    def at_rest(self) -> Laws:
        """The same positions without speeds and accelerations."""
        rows = self.rows.copy()
        rows[..., rows.shape[-2] // ORDERS :, :] = 0.0
        return replace(self, rows=rows)


@dataclass(frozen=True, eq=False)
class CycleLanes:
    """How designs of a mechanism are turned; `ready` is the turn of the model itself."""

    designs: Designs  # those of which kernels are made: others of the same numbers may be turned
    ready: cycle.Prepared
    steps: int
    asked: tuple[Any, ...]  # drive, speed, duration, start, stop: see `cycle.plan`
    now: bool = False  # make machine code however few designs there are
    fixed: bool = False  # drives begin where those of the model do, wherever pins of the drawing put them

    @cached_property
    def possible(self) -> bool:
        """False where designs must be turned one by one."""
        core, p = self.designs.core, self.ready.plan
        start = {name.removesuffix(".v") for name, _ in core.description.start if not name.endswith(".v")}
        drives = set(core.drive_names)
        plain = drives and drives == set(p.laws) and (not start or start == drives) and all(x in self.ready.here.references for x in drives)
        stops = bool(core.description.rigid_stops)
        turns = is_rotary(core.description, p.lead) and not stops
        return bool(plain and p.stop is None and (turns or not p.open_ended))

    @cached_property
    def _walks(self) -> dict[bool, LaneWalking | None]:
        return {}

    def walking(self, *, counted: bool) -> LaneWalking | None:
        """The walk in lanes, cut joints `counted` or only where the loops depend on them; None where designs must be turned one by one."""
        if not self.possible:
            return None
        if counted not in self._walks:
            kernel = self.designs.kernel("counted_stride" if counted else "stride", list(self.ready.plan.laws), now=self.now)
            if kernel is None:
                return None
            own = counted or "near" not in kernel.reads
            self._walks[counted] = LaneWalking(kernel, self.steps + 1) if own else self.walking(counted=True)
        return self._walks[counted]

    @property
    def block(self) -> int:
        """Designs at a time: their positions stay in the processor's caches."""
        tree = self.designs.core.tree
        return max(ALL_LANES * cores_of_machine(), AT_ONCE // ((self.steps + 1) * (tree.nq + 1)) // ALL_LANES * ALL_LANES)

    @property
    def counts_from_begin(self) -> bool:
        """True if the motion begins at the start of the model, from which whole turns are counted."""
        return self.ready.here is self.designs.core.start.instant

    def laws(self, designs: Designs, which: np.ndarray) -> Laws:
        """Laws of these designs."""
        p, begins = self.ready.plan, self._begins(designs)
        if not designs.drives_change and begins is None:
            return self._common_laws
        if not designs.drives_change and begins is not None and all(isinstance(law, Line) for law in p.laws.values()):
            return self._shifted(begins[which])
        times, rows, why = [], [], {}
        for k, i in enumerate(which):
            try:
                own = self._plan(designs, int(i))
            except LinkwrightError as error:
                why[k], own = str(error), p
            times.append(np.linspace(0.0, own.span, self.steps + 1))
            rows.append(_orders([own.laws[name] for name in p.laws], times[-1]))
        return Laws.of(times, rows, why)

    def _begins(self, designs: Designs) -> np.ndarray | None:
        """Coordinates at which drives begin, where these are not the model's."""
        return None if self.fixed else designs.begins

    def _shifted(self, begins: np.ndarray) -> Laws:
        """Laws of constant speed that begin elsewhere: where pins in the drawing put the drives."""
        common, core = self._common_laws, self.designs.core
        here = np.array([core.skel.start_coordinates[name][0] for name in self.ready.plan.laws])
        order = [core.drive_names.index(name) for name in self.ready.plan.laws]
        rows = np.repeat(common.rows[None], len(begins), axis=0)
        rows[:, : len(order)] += np.nan_to_num(begins[:, order] - here)[:, :, None]
        if len(begins) == 1:
            return Laws(common.t, rows[0], {})
        return Laws(np.tile(common.t, (len(begins), 1)), rows, {})

    @cached_property
    def _common_laws(self) -> Laws:
        t = np.linspace(0.0, self.ready.plan.span, self.steps + 1)
        return Laws.of([t], [_orders(list(self.ready.plan.laws.values()), t)], {})

    def _plan(self, designs: Designs, i: int) -> cycle.CyclePlan:
        """The plan of a design whose drives depend on its numbers."""
        core = designs.core
        d = designs.driven(i)
        skel = replace(core.skel, tree=replace(core.tree, description=d))
        here, start = core.start.instant, dict(d.start)
        begins = self._begins(designs)
        moved = {name: np.array([float(start[name])]) for name in core.drive_names if name in start}
        if begins is not None:
            moved |= {name: np.array([x]) for name, x in zip(core.drive_names, begins[i], strict=True) if np.isfinite(x)}
        at = Instant(skel, here.q, here.v, references={**here.references, **moved})
        return cycle.plan(replace(core.loops, skel=skel), at, *self.asked)

    def __call__(self, designs: Designs, which: np.ndarray, walk: LaneWalking, cores: int | None = None) -> LaneMotion:
        """Turn these designs."""
        parameters, laws = designs.values[which], self.laws(designs, which)
        here, p, nd = self.ready.here, self.ready.plan, len(self.ready.plan.laws)
        ends = np.ascontiguousarray(laws.rows[..., :nd, 0])
        b = designs.base or ClosedDesign(here.q, self._references, self._from, designs.nominal)
        begin = walk.begun(Homotopy(b.q, b.references, b.drive, ends, np.zeros(nd), b.numbers, parameters), cores)
        rows, reached = walk(begin, laws.t, laws.rows, parameters, cores)
        # a drive that is drawn beyond half a turn begins at the other end of its range: turns of the others would be counted otherwise
        near = np.broadcast_to((np.abs(ends - self._from) < np.pi).all(axis=-1) | (self._begins(designs) is None), (len(which),))
        done = begin.ok & (reached == self.steps + 1) & near
        for k in laws.why:
            done[k] = False
        done[done] = ~_steep(np.abs(rows[done, -1, : self.steps + 1]))
        why = dict(laws.why)
        for k in np.flatnonzero(begin.ok & (reached < self.steps + 1) & near):
            if k not in why:
                why |= self._dead_center(int(k), laws, np.abs(rows[k, -1, : reached[k]]))
        return LaneMotion(rows, laws if p.rate else laws.at_rest(), done, why)

    @cached_property
    def _references(self) -> np.ndarray:
        return self.ready.here.skel.pack(self.ready.here.references)

    @cached_property
    def _from(self) -> np.ndarray:
        """Drives at the beginning of the model's own turn."""
        laws = self.ready.plan.laws
        return law_rows(list(laws.values()), np.zeros(1))[0, : len(laws)]

    def _dead_center(self, k: int, laws: Laws, strength: np.ndarray) -> dict[int, str]:
        """Why a design that stopped cannot turn, if that is certain."""
        share, n = _dead_center(strength), len(strength)
        if share is None:
            return {}
        law = laws.rows if laws.t.ndim == 1 else laws.rows[k]
        p, d = self.ready.plan, self.designs.core.description
        x = law[0, n - 1] + share * (law[0, n] - law[0, n - 1])
        return {k: f"drive '{p.lead}' cannot turn fully: dead center near {cycle.position_text(d, p.lead, float(x))}"}


def _orders(laws: Sequence[Curve], t: np.ndarray) -> np.ndarray:
    """Laws at times with three derivatives, (times, 4 laws); NaN where the third one is not known."""
    third = third_rows({str(i): law for i, law in enumerate(laws)}, t)
    last = [third.get(f"{THIRD}{i}", np.zeros((len(t), 1))) for i in range(len(laws))]
    return np.concatenate([law_rows(laws, t), *last], axis=1)


def _dead_center(strength: np.ndarray) -> float | None:
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


def lanes_of(
    core: Compiled, designs: Designs, drive: str | None, steps: int, speed: Any, duration: Any, start: Any = None, stop: Any = None
) -> CycleLanes:
    """Return cycles of designs in lanes of native code, around that of the model."""
    asked = cycle.asked_in_si(core, drive, steps, speed, duration, start, stop)
    return CycleLanes(designs, cycle.prepared_of(core, asked, cycle.begin_of(core)), steps, asked)


# ----------------------------------------------------------------------------------------------------
# Assembly gaps of many designs over a turn: how far each stays open at every position of its drives, with exact derivatives
#     found = AssemblyGaps(lanes, positions=72)(designs)       found.gap (designs, positions), found.slopes (..., numbers)
#
# At a position of the drives the gap is the least length by which the loops stay open, over all positions of the other joints: zero for a
# design that closes, and a smooth measure of how far another one is from closing. The search begins at the model's own positions.
# Derivatives are those of G = gap^2/2 at the least gap (envelope theorem): no singular system is solved, and they are continuous up to
# where the design closes.

SWEEPS = (1, -1, 2, -2, 4, -4)  # samples by which starts of further searches are shifted: as long as they find smaller gaps
LOWER = 1e-6  # share by which another least gap has to be smaller


class Gaps(NamedTuple):
    """Gaps of designs at positions of the drives."""

    gap: np.ndarray  # (designs, positions), m
    square: np.ndarray  # gap^2/2
    slopes: np.ndarray  # of square, (designs, positions, numbers)
    q: np.ndarray  # (designs, positions, entries), where the gap is least
    drive: np.ndarray  # (positions, drives), or (designs, positions, drives)


@dataclass(frozen=True, eq=False)
class AssemblyGaps:
    """Gaps of designs along their turns; `nominal` is the turn of the model itself, with as many samples."""

    lanes: CycleLanes
    nominal: Trajectory

    @cached_property
    def _made(self) -> LaneGaps | None:
        designs, drives = self.lanes.designs, list(self.lanes.ready.plan.laws)
        get = designs.kernels.get
        step = designs.native(("gap_step", *drives), lambda: get("gap_step", drives=drives), True, idle=True)
        by = ("parameters",)
        slopes = designs.native(("gap", *drives), lambda: get("gap", drives=drives, by=by, outputs=("square",)), True, idle=True)
        if step is None or slopes is None:
            return None
        return LaneGaps(step, slopes, designs.core.loops.kappa, self.lanes.steps + 1)

    @property
    def possible(self) -> bool:
        """False without machine code, or where a joint runs on numbers only."""
        return self._made is not None

    def __call__(self, designs: Designs, cores: int | None = None) -> Gaps:
        """Gaps of all designs."""
        made = self._made
        if made is None:
            raise UsageError("assembly gaps need machine code: install llvmlite, and use joints that can be traced.")
        n, nd, samples = len(designs), len(self.lanes.ready.plan.laws), self.lanes.steps + 1
        laws = self.lanes.laws(designs, np.arange(n))
        drive = laws.rows[..., :nd, :samples]
        references = cut_rows(self.nominal.skel, self.nominal.references).T
        square, slopes, q = (np.array(x) for x in made(self.nominal.q.T, references, drive, designs.values, cores))
        closed = (CLOSED_GIVEN * made.kappa) ** 2
        left = np.flatnonzero((square > closed).any(axis=1))
        for shift in SWEEPS:  # begin where neighbors ended: of several least gaps the smaller one
            if not len(left):
                break
            own = drive if drive.ndim == 2 else drive[left]
            again = made(_shifted(q[left], shift), references, own, designs.values[left], cores)
            better = (again[0] < square[left] * (1.0 - LOWER)) & (square[left] > closed)
            square[left] = np.where(better, again[0], square[left])
            for mine, other in ((slopes, again[1]), (q, again[2])):
                mine[left] = np.where(better[:, None], other, mine[left])
            left = left[better.any(axis=1)] if shift < 0 else left
        return Gaps(np.sqrt(2.0 * square), square, slopes.transpose(0, 2, 1), q.transpose(0, 2, 1), np.moveaxis(drive, -2, -1))


def _shifted(q: np.ndarray, by: int) -> np.ndarray:
    """Positions (designs, entries, positions) of the neighbors; at the ends those of their own."""
    out = q.copy()
    if by > 0:
        out[..., by:] = q[..., :-by]
    else:
        out[..., :by] = q[..., -by:]
    return np.ascontiguousarray(out)

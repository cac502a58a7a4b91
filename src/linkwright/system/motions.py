"""Motions of a System that need no time stepping: cycles, motions along paths, ranges of joints, static equilibria."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError, UsageError, whole_number
from linkwright.kernels.equations.tasks import AXES, TWIST
from linkwright.mechanics.closing.mobility import Mobility, mobility
from linkwright.mechanics.kinematics.base import base_joints
from linkwright.model.coordinates import is_rotary
from linkwright.model.curves.lines import Line
from linkwright.model.file import quantity
from linkwright.motion import cycle as cycles
from linkwright.motion import joint_limits
from linkwright.motion.compiled import Compiled
from linkwright.motion.cycle_lanes import CycleLanes
from linkwright.motion.equilibrium import settle
from linkwright.numerics.pickling import essentials
from linkwright.numerics.stores import Store
from linkwright.results.labeled_arrays import Labeled
from linkwright.results.records import CutReferences, cut_rows
from linkwright.results.state import LaterReferences, State
from linkwright.results.trajectory import Trajectory
from linkwright.system.named_terms import named_terms
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.kernels.walk import Walking
    from linkwright.motion.designs import Designs
    from linkwright.results.derivatives import MotionDerivatives

MOST_STEPS = 100_000
STORED = 4  # turns of a mechanism
MOST_STORED = 3600  # steps of a turn that is stored: larger ones need much memory
FARTHEST = 4.0 * np.pi  # rad, or multiples of the mechanism's length: farther ways are those of `revolutions`
PREPARED: Store[tuple[Any, ...], cycles.Prepared] = Store()  # cycles by what was asked and where they begin
_UNIT, _NOW = np.array([0.0, 1.0]), np.zeros(1)


class Motions:
    """Motions and ranges of a compiled mechanism."""

    __getstate__ = essentials

    def __init__(self, core: Compiled):
        self.core = core

    @cached_property
    def mobility(self) -> Mobility:
        """See `System.mobility`."""
        return mobility(self.core.loops, self.core.start.q, dict(self.core.start.references))

    def assemble(self, q: Any, v: Any, pose: Any, point: Any, guess: Any) -> State:
        """See `System.assemble`. Positions and speeds of all drives are walked to in machine code, everything else on floats."""
        core = self.core
        names = core.drive_names
        every = [x is None or (isinstance(x, Mapping) and len(x) == len(names) and all(n in x for n in names)) for x in (q, v)]
        at = core.start if guess is None else guess
        plain = pose is None and point is None and all(every) and q and isinstance(at, State) and at.skel is core.skel
        walks = core.walking(names, seconds=0.005) if plain else None
        found = None if walks is None else self._walked(walks, at, q, v)
        return core.assembler.assemble(q, v, pose=pose, point=point, guess=guess) if found is None else found

    def _walked(self, walks: Walking, at: State, q: Mapping[str, Any], v: Mapping[str, Any] | None) -> State | None:
        """The state with these positions and speeds of the drives; None where a singular position may lie on the way."""
        core, names = self.core, self.core.drive_names
        end = np.array([self._number(n, q[n], ("angle", "length")) for n in names])
        way = end - core.drive_positions(at)
        if np.abs(way).max() > FARTHEST * max(1.0, core.loops.kappa):
            return None
        laws = np.concatenate([end - way, way, 0.0 * way, end, way, 0.0 * way]).reshape(2, -1)
        found = walks(at.q, core.packed_references(at), _UNIT, laws)
        if found.reached < 2:
            return None
        there, row, speed = found.q[1].copy(), found.references[1].copy(), np.zeros(core.tree.nv)
        if v is not None:
            wanted = np.array([self._number(n, v[n], ("angular speed", "speed")) for n in names])
            moving = walks(there, row, _NOW, np.concatenate([end, wanted, 0.0 * wanted])[None])
            if moving.reached < 1:
                return None
            speed = moving.v[0].copy()
        return State(core.skel, there, speed, LaterReferences(core.skel, there, row))

    def _number(self, name: str, value: Any, kinds: tuple[str, str]) -> float:
        """A value of a drive in SI."""
        if type(value) is float and value - value == 0.0:
            return value
        return quantity(value, KINDS[kinds[0 if is_rotary(self.core.description, name) else 1]], f"'{name}'")

    @cached_property
    def _lead(self) -> str:
        """The drive that a turn follows if none is named."""
        return cycles.plan(self.core.loops, self.core.start.instant, None, None).lead

    def at_start(self) -> Trajectory:
        """The start at rest as a motion of one sample: it has the channels of a cycle."""
        core, st = self.core, self.core.start
        rest = np.zeros((1, core.tree.nv))
        try:
            lead = self._lead
        except LinkwrightError:  # of a mechanism without a drive
            lead = ""
        return Trajectory(core.skel, np.zeros(1), st.q[None], rest, rest, [dict(st.references)], drive=lead)

    def cycle(self, drive: str | None, steps: int, speed: Any, duration: Any, start: Any = None, stop: Any = None) -> Trajectory:
        """See `System.cycle`."""
        asked = self._asked(drive, steps, speed, duration, start, stop)
        if steps > MOST_STORED:
            return self._computed_turn(asked, steps)
        return _with_own_arrays(self._stored_turn(asked, steps, self._begin))

    def lanes(
        self, designs: Designs, drive: str | None, steps: int, speed: Any, duration: Any, start: Any = None, stop: Any = None
    ) -> CycleLanes:
        """Cycles of designs in lanes of native code, around that of the model."""
        asked = self._asked(drive, steps, speed, duration, start, stop)
        return CycleLanes(designs, self._prepared(asked, self._begin), steps, asked)

    @property
    def _begin(self) -> tuple[bytes, bytes]:
        """The start, as a key of what depends on it."""
        start = self.core.start
        return start.q.tobytes(), self.core.skel.pack(start.references).tobytes()

    def _asked(self, drive: str | None, steps: int, speed: Any, duration: Any, start: Any, stop: Any) -> tuple[Any, ...]:
        """Drive, speed, duration, start and stop of a turn in SI; raise UsageError unless they and the steps are usable."""
        core = self.core
        whole_number(steps, "steps", 2, MOST_STEPS)
        if drive is not None:
            core.need_drive(drive)
        seconds = None if duration is None else quantity(duration, KINDS["time"])
        if speed is None and start is None and stop is None:
            return drive, None, seconds, None, None
        rotary = is_rotary(core.description, drive or self._lead)
        value = None if speed is None else quantity(speed, KINDS["angular speed" if rotary else "speed"])
        position = KINDS["angle" if rotary else "length"]
        ends = [None if x is None else quantity(x, position, f"{end} of the turn") for end, x in (("start", start), ("stop", stop))]
        return drive, value, seconds, *ends

    @cached_property
    def _stored_turn(self) -> Callable[..., Trajectory]:
        """The turns computed last: pages, reports and summaries of one mechanism share them."""
        return lru_cache(STORED)(self._computed_turn)

    def _computed_turn(self, asked: tuple[Any, ...], steps: int, begin: Any = None) -> Trajectory:
        """Compute a turn; `begin` only distinguishes turns from different positions."""
        core = self.core
        c = cycles.cycle(core.loops, core.start.instant, self._prepared(asked, begin), steps, core.walking)
        if isinstance(c.references, CutReferences):
            return c
        return replace(c, references=CutReferences(c.skel, c.q, cut_rows(c.skel, c.references)))  # arrays: copied at once

    def _prepared(self, asked: tuple[Any, ...], begin: Any) -> cycles.Prepared:
        core, key, known = self.core, (asked, begin), PREPARED.of(self.core)
        if key not in known:
            known[key] = cycles.prepared(core.loops, core.start.instant, *asked)
        return known[key]

    def derivatives(self, c: Trajectory, by: str | Sequence[str], of: str | None) -> MotionDerivatives:
        """See `Trajectory.derivatives`."""
        if of is not None:
            raise UsageError(f"of= is for simulated runs; of a turn c.derivatives(...)['{of}', 'L1'] has every sample.")
        from linkwright.motion.cycle_derivatives import turn_derivatives

        return turn_derivatives(self.core, c, by)

    def follow(self, motion: Mapping[str, Any], t: Any, duration: Any, steps: int, drives: Sequence[str]) -> Trajectory:
        """See `System.follow`."""
        from linkwright.motion.following import follow, sample_times  # here: it loads the controllers' room

        core = self.core
        times = sample_times(t, duration, steps, MOST_STEPS)
        return follow(core.assembler, core.start, motion, times, drives, core.walking, lambda c: drive_speeds(core, c, drives))

    def settled(self, start: State | None, hold: str | Sequence[str]) -> State:
        """See `System.settle`."""
        core = self.core
        core.kernels.need_masses()
        st = core.start if start is None else start
        names = [hold] if isinstance(hold, str) else hold
        held = [cycles.driven(core.description, n, Line(cycles.coordinate_now(core.loops, n, st.instant), 0.0)) for n in names]
        return settle(core, State(core.skel, st.q, np.zeros(core.tree.nv), st.references, st.t), held)

    def jacobian(self, st: State, of: str | Sequence[str], wrt: str | Sequence[str]) -> Labeled:
        """See `System.jacobian`."""
        core = self.core
        names = core.drive_names if wrt == "drives" else [wrt] if isinstance(wrt, str) else list(wrt)
        known = wrt == "drives" and isinstance(of, str) and of in self._named_rows and not self._floats
        if not known and (not isinstance(of, str) or not self._plain(of) or not all(self._alone(name) for name in names)):
            return named_terms(core, of, wrt)(st).J
        own = names == core.drive_names and isinstance(st, State) and st.skel is core.skel
        kernel = core.ready("jacobian", seconds=core.answer_on_floats) if own else None
        found = None if kernel is None else kernel.healthy((st.q,), core.optional_inputs(kernel, st))
        if found is not None:
            return Labeled(self._rows_of(found, of), self._row_names(of), names)
        for name in names:
            core.need_drive(name)
        return Labeled(core.assembler.jacobian(st, of, names), self._row_names(of), names)

    @cached_property
    def _floats(self) -> bool:
        return bool(base_joints(self.core.tree))

    def _plain(self, of: str) -> bool:
        """True for a body or point whose rows are all wanted, in the world."""
        body, _, point = of.partition(".")
        return of in self._places or (body in {b.name for b in self.core.description.bodies} and "." not in point and point not in TWIST)

    def _alone(self, name: str) -> bool:
        """True for a joint or cylinder that is one velocity of a mechanism on ground."""
        return not self._floats and name not in ("independent", "base", "coordinates") and "." not in name

    def _row_names(self, of: str) -> tuple[str, ...]:
        """Names of the rows of a body or point."""
        if of not in self._named_rows:
            rows = self._place(of)[2]
            every = AXES if self.core.assembler.is_point(of) else TWIST
            self._named_rows[of] = tuple(f"{of}.{every[i]}" for i in rows)
        return self._named_rows[of]

    @cached_property
    def _named_rows(self) -> dict[str, tuple[str, ...]]:
        return {}

    def _rows_of(self, found: Any, of: str) -> np.ndarray:
        """Rows of a body or point from the twists of all bodies per unit speed of each drive."""
        node, at, rows = self._places.get(of) or self._place(of)
        if node < 0:
            return np.zeros((len(rows), found.v.shape[1]))
        twist = found.twist[node]
        if at is None:
            return twist[rows]
        w, r = twist[:3], found.R[node] @ at
        arm = np.array([w[1] * r[2] - w[2] * r[1], w[2] * r[0] - w[0] * r[2], w[0] * r[1] - w[1] * r[0]])
        return (twist[3:] + arm)[rows]

    @cached_property
    def _places(self) -> dict[str, tuple[int, np.ndarray | None, list[int]]]:
        return {}

    def _place(self, of: str) -> tuple[int, np.ndarray | None, list[int]]:
        """Node, place on the body (None: the body itself) and rows of a body or point by name."""
        core, planar = self.core, self.core.description.planar
        if core.assembler.is_point(of):
            ref = core.assembler.point_ref(of)
            at = np.asarray(core.description.point(ref).at, dtype=float)
            found = core.skel.node(ref[0]), core.on_body(ref[0], at), [0, 1] if planar else [0, 1, 2]
        else:
            found = core.skel.node(of), None, [2, 3, 4] if planar else list(range(6))
        self._places[of] = found
        return found

    def limits(self, joint: str) -> joint_limits.Limits:
        """See `System.limits`."""
        self.core.need_drive(joint)
        others = [name for name in self.core.drive_names if name != joint]
        held = others[: max(0, self.mobility.freedoms - 1)]
        return joint_limits.limits(self.core.loops, self.core.start.instant, joint, held, self.core.walking)


def _with_own_arrays(c: Trajectory) -> Trajectory:
    """Copy the samples, so that writing into them changes no other turn."""
    q, arrays = c.q.copy(), {name: x.copy() for name, x in c.arrays.items()}
    assert isinstance(c.references, CutReferences)
    return replace(c, t=c.t.copy(), q=q, v=c.v.copy(), a=c.a.copy(), references=c.references.copied(q), arrays=arrays)


def drive_speeds(core: Compiled, c: Trajectory, drives: Sequence[str]) -> np.ndarray | None:
    """Velocities per unit speed of each drive at all samples, (n, nv, drives); None where a kernel does not give them."""
    from linkwright.motion.following.native import ON_FLOATS

    kernel = core.ready("jacobian", seconds=ON_FLOATS * len(c)) if list(drives) == core.drive_names else None
    if kernel is None:
        return None
    more = {"near": cut_rows(c.skel, c.references)} if any(b.name == "near" for b in kernel.inputs) else {}
    found = kernel(c.q, **more)
    return None if found.failed else found.v

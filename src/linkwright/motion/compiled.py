"""A mechanism ready to compute: tree, loops, forces, start and kernels. Statics, runs and controllers take it as argument."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.mechanics import forces
from linkwright.mechanics.closing.newton import references
from linkwright.mechanics.closing.traced import QuickLoops
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, motion, skeleton
from linkwright.model.description import Description
from linkwright.model.parameters import Parameter, choose, every_parameter
from linkwright.motion.assembly import Assembler
from linkwright.motion.inputs import efforts
from linkwright.numerics.pickling import essentials
from linkwright.results.state import State
from linkwright.topology import Tree, build_tree

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels

ENGINES = ("native", "python")
OPEN = 1e-6  # dimensionless gap above which a state is not on the loops


class Derivatives(NamedTuple):
    """a, lam and their derivatives: rows are entries of a or lam, columns those of v (for q and v), tau or the free parameters."""

    a: Any
    lam: Any
    a_q: Any
    lam_q: Any
    a_v: Any
    lam_v: Any
    a_tau: Any
    lam_tau: Any
    a_free: Any
    lam_free: Any


class Compiled:
    """A mechanism with its tree, loops, forces and assembler; kernels are made on first use."""

    __getstate__ = essentials

    def __init__(
        self,
        described: Description,
        cuts: Sequence[str] | None = None,
        length: float | None = None,
        free: Sequence[str] = (),
        engine: str = "native",
    ):
        if engine not in ENGINES:
            raise UsageError(f"engine is 'native' or 'python', not {engine!r}.")
        self.described, self.engine = described, engine  # parameters still expressions
        self.description = described.numbers()
        self.free: tuple[Parameter, ...] = tuple(choose(every_parameter(described), list(free), described)) if free else ()
        self.tree: Tree = build_tree(self.description, cuts)
        self.skel: Skeleton = skeleton(self.tree)
        self.loops: Loops = QuickLoops.of(self.skel, length)
        self.forces = forces.of_description(self.description)
        self.assembler = Assembler(self.loops)

    def described_by(self, description: Description) -> Compiled:
        """Return another description with the cuts, characteristic length and engine of this mechanism."""
        return Compiled(description, self.tree.cuts, self.loops.kappa, engine=self.engine)

    @property
    def start(self) -> State:
        """Return the drawn position closed exactly, at the positions and speeds of `start:`."""
        return self.assembler.start

    @cached_property
    def stores(self) -> dict[str, Any]:
        """Results that other rooms compute once for this mechanism; not pickled."""
        return {}

    @cached_property
    def kernels(self) -> Kernels:
        """Kernels of this mechanism, each made on first use."""
        from linkwright.kernels.kernels import Kernels
        from linkwright.kernels.rank_revealing import answers

        drives = tuple(self.drive_names)
        return Kernels(self.loops, self.described, drives, self.free, self.assembler.first_position, answers, self.engine)

    def derivatives(self, st: State, tau: Any = None, free: Any = None) -> Derivatives:
        """Return the derivatives of accelerations and multipliers by positions, velocities, efforts and free parameters."""
        effort, pushes = efforts(self.assembler, st, tau)
        if pushes:
            raise UsageError("derivatives take efforts of the tree's joints (names.v); an effort in a cut joint needs other cuts=.")
        more = {} if free is None else {"free": free}
        found = self.kernels.get("derivatives")(st.q, st.v, effort, near=self.skel.pack(st.near), t=st.t, **more)
        empty = {name: None for name in Derivatives._fields}
        return Derivatives(**{**empty, **found._asdict()})

    # ---------------------------------------------------------------- one state

    def state(self, q: Any, v: Any = None) -> State:
        """Return a State from arrays, as they are: nothing is closed."""
        tree, names = self.tree, self.kernels.entries
        q = np.asarray(q, dtype=float)
        if q.shape != (tree.nq,):
            raise UsageError(f"q has shape {q.shape}; it needs {tree.nq} entries: {', '.join(names['q'])}.")
        v = np.zeros(tree.nv) if v is None else np.asarray(v, dtype=float)
        if not np.isfinite(q).all():
            bad = [n for n, x in zip(names["q"], q, strict=True) if not np.isfinite(x)]
            raise UsageError(f"q has entries that are not finite numbers: {', '.join(bad)}.")
        if v.shape != (tree.nv,) or not np.isfinite(v).all():
            raise UsageError(f"v needs {tree.nv} finite entries: {', '.join(names['v'])}.")
        return State(self.skel, q, v, references(self.skel, q, self.start.near))

    def motion(self, st: State) -> Motion:
        """Positions and velocities of all bodies."""
        return st.instant.motion if st.skel is self.skel else motion(self.skel, st.q, st.v)

    def instant(self, st: State, a: Any = None) -> Instant:
        """The instant of a state with these accelerations."""
        return Instant(self.skel, st.q, st.v, st.t, st.near, a, motion=self.motion(st))

    def applied(self, st: State, *, outside: bool = False) -> list[tuple[int, Any]]:
        """Wrenches of all forces of the model on bodies, or only of those that come from outside the machine."""
        return st.instant.pushes(f for f in self.forces if f.from_outside or not outside)

    # ---------------------------------------------------------------- checks of arguments

    @property
    def drive_names(self) -> list[str]:
        """Names of the joints and cylinders that the model drives."""
        return [d.joint for d in self.description.drives]

    def named_drives(self, drives: Any) -> list[str]:
        """Return the names in a call's `drives`, each once; default the drives of the model."""
        if drives is None:
            return self.drive_names
        if not isinstance(drives, Iterable):
            raise UsageError(f"drives must be names of joints or cylinders, such as ['A', 'B'], not {drives!r}.")
        names = [drives] if isinstance(drives, str) else [str(x) for x in drives]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise UsageError(f"drives: {', '.join(repr(n) for n in twice)} is named more than once.")
        return names

    def need_drive(self, name: str) -> None:
        """Raise UsageError unless a joint or cylinder has this name."""
        names = [*(j.name for j in self.description.joints), *(c.name for c in self.description.cylinders)]
        if name not in names:
            raise UsageError(f"there is no joint '{name}'. {nearest(name, names, 'Joints')}")

    def need_closed(self, st: State, off: Sequence[str] = (), most: float = OPEN) -> None:
        """Raise UsageError unless this is a state of this tree on its loops; constraints in `off` may be open."""
        if not isinstance(st, State):
            raise UsageError(f"a State is needed (from s.assemble, s.state or s.start), not {type(st).__name__}.")
        mine, theirs = ([n.joint.name for n in tree.nodes] for tree in (self.tree, st.skel.tree))
        if mine != theirs:
            raise UsageError("this state belongs to a system with other cuts; s.mirror(st) gives the same state in this one.")
        held = np.array([c.name not in off for c in self.loops.constraints for _ in c.labels], dtype=bool)
        gap = 0.0
        if self.tree.nc:
            gap = np.abs(self.loops.at(st.q, st.v, st.t, st.near).phi / self.loops.row_scale)[held].max(initial=0.0)
        if not gap < most:
            raise UsageError(f"the loops of this state are open by {gap:.2g} of the mechanism's size; s.assemble gives one that is closed.")

    def need_start(self, st: State, off: Any, closed: bool) -> None:
        """Raise UsageError unless a run can start here: masses, closed loops, and a velocity along them."""
        self.kernels.need_masses()
        self.need_closed(st, (off,) if isinstance(off, str) else off, most=OPEN if closed else np.inf)
        if not closed or off or not len(self.loops.row_scale):
            return
        c = self.loops.at(st.q, st.v, st.t, st.near)
        gap = np.abs((c.J @ st.v + c.b) / self.loops.row_scale).max() / max(1.0, np.abs(st.v / self.loops.columns).max())
        if not gap < OPEN:
            raise UsageError(
                f"the velocity of this state tears the loops apart ({gap:.2g} of its size); s.assemble(v=...) completes speeds."
            )

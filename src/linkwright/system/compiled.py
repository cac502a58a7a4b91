"""A mechanism ready to compute: tree, loops, forces, start and kernels. Statics, runs and controllers take it as argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from linkwright.errors import LinkwrightError, UsageError, nearest
from linkwright.errors.arguments import spelled
from linkwright.joints import JOINTS
from linkwright.kernels.traced_loops import StructureOf, TracedLoops
from linkwright.mechanics import forces
from linkwright.mechanics.closing.mobility import Mobility, mobility
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.forces import SOFT, Force
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.floating_base import base_joints
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, displaced, motion, skeleton
from linkwright.model import file as modelfile
from linkwright.model.coordinates import movable
from linkwright.model.description import Description
from linkwright.model.numbers import DesignNumbers, static_structure
from linkwright.model.parameters import Parameter, choose, every_parameter
from linkwright.motion.assembly import Assembler
from linkwright.motion.cycle import coordinate_now
from linkwright.motion.efforts_and_wrenches import efforts
from linkwright.numerics.memory_and_threads import Store, Stores, all_in_use, essentials
from linkwright.numerics.tolerances import OPEN as OPEN
from linkwright.properties import cached_property
from linkwright.results.channels.cycle_loads import SolvedLoads
from linkwright.results.records import coordinate_names
from linkwright.results.state import LaterReferences, State
from linkwright.topology import Tree, build_tree
from linkwright.topology.solution_order import inverse_tree

if TYPE_CHECKING:
    from linkwright.kernels.driven_motion import Walking
    from linkwright.kernels.kernel import Kernel
    from linkwright.kernels.kernels import Kernels, KernelStructure
    from linkwright.simulation.joint_friction import JointFriction
    from linkwright.system.system import System

ENGINES = ("native", "python")
BOUND: Store[tuple[str, tuple[str, ...] | None], Kernel] = Store()  # kernels by name and drives
WALKS: Store[tuple[str, ...], Walking] = Store()  # by drives
REGULAR = 1e-3  # determinant, against the plan's, below which floats close a position: they find the branch
LEADERS: Store[tuple[Any, ...], Compiled | None] = Store()  # of a document: the mechanism with its own numbers, by cuts and drives
ALONE: Store[str, bool] = Store()  # filled for a mechanism that does not fit the plan of its structure: it has kernels of its own


def compiled_of(system: System | Compiled) -> Compiled:
    """Return the tree, loops, forces and kernels of a System, for functions of the core; a Compiled is returned as it is."""
    return system if isinstance(system, Compiled) else system._core


class Derivatives(NamedTuple):
    """a, lam and their derivatives: rows are entries of a or lam, columns those of v (for q and v), tau or the parameters."""

    a: Any
    lam: Any
    a_q: Any
    lam_q: Any
    a_v: Any
    lam_v: Any
    a_tau: Any
    lam_tau: Any
    a_parameters: Any
    lam_parameters: Any


class Compiled:
    """A mechanism with its tree, loops, forces and assembler; kernels are made on first use."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in essentials(self).items() if name != "shared"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._share()

    @all_in_use()
    def __init__(
        self,
        described: Description,
        cuts: Sequence[str] | None = None,
        length: float | None = None,
        parameters: Sequence[str] = (),
        engine: str = "native",
    ):
        if engine not in ENGINES:
            raise UsageError(f"engine is 'native' or 'python', not {engine!r}.", name="engine", value=engine)
        self.described, self.engine, self.cuts_given = described, engine, cuts is not None  # parameters still expressions
        self.description = described.numbers()
        self.parameters: tuple[Parameter, ...] = tuple(self.chosen(parameters)) if parameters else ()
        self.tree: Tree = build_tree(self.description, cuts, static_structure(self.description))
        self.skel: Skeleton = skeleton(self.tree)
        self.loops: Loops = TracedLoops.of(self.skel, length)
        self._share()
        self.assembler = Assembler(self.loops, self._closed)

    def _share(self) -> None:
        """Join the mechanisms that differ in their numbers only: rows of loops and loads of channels are traced for all of them."""
        alone = bool(self.parameters) or self.engine != "native"
        self.shared = StructureOf(self.loops, lambda: self.kernels, alone, self._of_the_file)
        if isinstance(self.loops, TracedLoops) and self.loops.traces is not None:
            self.loops.traces.structure = self.shared

    def _of_the_file(self) -> StructureOf | None:
        """The structure of the numbers that the model file has, on which plans are made; None if these are the file's numbers, or there is
        no file."""
        if self.described.leads():
            return None
        base = modelfile.as_read(self.described)
        if base is None or base.numbers() is self.description:
            return None
        key, known = (self.tree.cuts, tuple(d.joint for d in self.described.drives)), LEADERS.of(base.document)
        if key not in known:
            try:
                known[key] = Compiled(replace(base, drives=self.described.drives), self.tree.cuts)
            except LinkwrightError:  # the file alone is no mechanism: its numbers are always given
                known[key] = None
        leader = known[key]
        return None if leader is None or leader is self else leader.shared

    def chosen(self, names: str | Iterable[str]) -> list[Parameter]:
        """Return the parameters of the model by name or pattern."""
        wanted = [names] if isinstance(names, str) else list(names)
        if not all(isinstance(name, str) for name in wanted):
            raise UsageError(f"name parameters of the model by texts, such as ['L1', 'crank.mass'], not {spelled(names)}.", value=names)
        return choose(self._parameters, wanted, self.described)

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        return every_parameter(self.described)

    def described_by(self, description: Description, parameters: Sequence[str] = ()) -> Compiled:
        """Return another description with the cuts, characteristic length and engine of this mechanism."""
        return Compiled(description, self.tree.cuts, self.loops.kappa, parameters, engine=self.engine)

    def with_parameters(self, names: Sequence[str]) -> Compiled:
        """Return the same mechanism with these parameters as inputs of its kernels."""
        return Compiled(self.described, self.tree.cuts, self.loops.kappa, names, self.engine)

    @property
    def start(self) -> State:
        """Return the drawn position closed exactly, at the positions and speeds of `start:`."""
        return self.assembler.start

    @cached_property
    def forces(self) -> tuple[Force, ...]:
        """Forces of elements, in a fixed order."""
        return forces.of_description(self.description, SOFT)

    @cached_property
    def stores(self) -> Stores:
        """Results that other rooms compute once for this mechanism; not pickled."""
        return {}

    @cached_property
    def kernels(self) -> Kernels:
        """Kernels of this mechanism, each made on first use."""
        from linkwright.kernels.kernels import Kernels
        from linkwright.kernels.rank_revealing import answers

        drives = tuple(self.drive_names)
        return Kernels(self.loops, self.described, drives, self.parameters, self.assembler.first_position, answers, self.engine)

    def ready(self, name: str, drives: Sequence[str] | None = None) -> Kernel | None:
        """Return a kernel of this structure, bound to the numbers of this mechanism; None where there is none: nothing that moves, drives
        that do not determine the motion, a joint that cannot be traced, no masses. Then the float path answers."""
        if not self.tree.nv:
            return None
        key, known = (name, None if drives is None else tuple(drives)), BOUND.of(self)
        if key not in known:
            if name != "walk":
                self._leave_structure()
            structure = self._walk_structure if name == "walk" else self._structure
            found = structure.kernel(name, drives)
            if found is None:
                return None
            own = None if structure.code is None or self._shared is None else self._shared[1]
            known[key] = structure.bound(found, own, self.loops)
        return known[key]

    @property
    def all_rows_count(self) -> bool:
        """True if no loop is redundant in most positions."""
        self._leave_structure()
        return self._structure.kernels.plan.keep is None

    @cached_property
    def determinate_loads(self) -> bool:
        """True if every effort and reaction is determinate in most positions, by a plan, and friction does not depend on them."""
        try:
            return not self.description.rubbing and self.all_rows_count
        except LinkwrightError:
            return False  # no masses: there is no plan

    def solved_loads(self, rows: Mapping[str, np.ndarray], drives: Sequence[str]) -> SolvedLoads | None:
        """Efforts, multipliers and reactions of samples by kernel `loads`, from the rows q, v, a, t, near; None where some of them are not
        determinate, a sample is singular, for other drives than the model's, or where links spin idly."""
        kernel = self._loads_of_cycles if list(drives) == self.drive_names else None
        if kernel is None:
            return None
        more = {name: rows[name] for name in ("t", "near") if name in kernel.reads}
        found, solved = kernel.regular((rows["q"], rows["v"], rows["a"]), more)
        return SolvedLoads(found.u, found.lam, found.wrench) if solved.all() else None

    @cached_property
    def _loads_of_cycles(self) -> Kernel | None:
        """Kernel `loads`, where it solves for everything."""
        return self.ready("loads") if self.determinate_loads and not self._structure.kernels.plan.spinning else None

    @property
    def numbers(self) -> DesignNumbers | None:
        """The numbers of this mechanism apart from its structure; None where code depends on more than that: some parameters are inputs
        already, links spin about lines that are not those between two ball joints, a large mechanism has like subsystems."""
        return None if self._apart is None else self._apart[1]

    @property
    def _structure(self) -> KernelStructure:
        return self._own if self._apart is None else self._apart[0]

    @property
    def _walk_structure(self) -> KernelStructure:
        """The structure of walks, which close all rows or stop: ranks that are not as planned do not matter."""
        return self._own if self._shared is None or self._shared[0].refused else self._shared[0]

    @property
    def walks_alone(self) -> bool:
        """True if walks of this mechanism have code of their own."""
        return self._walk_structure.code is None

    @property
    def _apart(self) -> tuple[KernelStructure, DesignNumbers] | None:
        found = self._shared
        return None if found is None or found[0].refused or ALONE.of(self) else found

    @cached_property
    def _own(self) -> KernelStructure:
        from linkwright.kernels.kernels import KernelStructure

        return KernelStructure(self.kernels)

    @property
    def _shared(self) -> tuple[KernelStructure, DesignNumbers] | None:
        """The structure whose kernels answer, and the numbers that they are bound to."""
        planned, found = self.shared.planned, self.shared.found
        return None if planned is None or found is None else (planned, found[1])

    def _leave_structure(self) -> None:
        """Take kernels of its own from now on, if this mechanism does not have the ranks that the structure is planned for."""
        if self.numbers is not None and not self._rank_as_planned:
            ALONE.of(self)["ranks"] = True

    @cached_property
    def _rank_as_planned(self) -> bool:
        """True unless rows that the plan of the structure leaves out, because they depend on others, are independent here."""
        try:
            keep = self._structure.kernels.plan.keep
        except LinkwrightError:
            return True  # there is no plan, and no kernel
        st = self.start
        return keep is None or self.loops.factored(self.loops.at(st.q, st.v, 0.0, st.references)).rank <= len(keep)

    @cached_property
    def mobility(self) -> Mobility:
        """Degrees of freedom at the start, by numerical rank."""
        return mobility(self.loops, self.start.q, dict(self.start.references))

    @cached_property
    def v_names(self) -> tuple[str, ...]:
        """Names of the velocities of the tree."""
        return tuple(coordinate_names(self.skel, "v_names"))

    @cached_property
    def base_joints(self) -> list[str]:
        """Joints of floating bases."""
        return base_joints(self.tree)

    @cached_property
    def determinate(self) -> Compiled:
        """The mechanism on the spanning tree that is most determinate for the inverse (the same one if cuts were given, or if bodies
        would float there: their coordinates are those of no joint)."""
        if self.cuts_given or self.description.cuts is not None:
            return self
        tree = inverse_tree(self.description, self.drive_names)
        return self if tree.cuts == self.tree.cuts or tree.floating else Compiled(self.description, tree.cuts, self.loops.kappa)

    def on_body(self, body: str, at: np.ndarray) -> np.ndarray:
        """A place on a body in the axes that kernels of the structure give for it."""
        axes = None if self.numbers is None else self.numbers.tree.axes.get(body)
        return at if axes is None else at @ axes

    def walking(self, drives: Sequence[str]) -> Walking | None:
        """Return the walk along the loops in machine code; None where there is no kernel `walk`."""
        kernel = self.ready("walk", drives)
        if kernel is None:
            return None
        key, known = tuple(drives), WALKS.of(self)
        if key not in known:
            from linkwright.kernels.driven_motion import Walking

            known[key] = Walking(kernel, self._walk_structure.kernels.plan.spinning)
        return known[key]

    def _closed(
        self,
        q: np.ndarray,
        references: Mapping[str, Any],
        drives: Mapping[str, float],
        to: Mapping[str, float] | None = None,
        speeds: Sequence[float] = (),
    ) -> tuple[np.ndarray, dict[str, Any], np.ndarray] | None:
        """A position on the loops near q with the drives at these values, or after a walk `to` others, by the kernel `walk` of the
        structure, and the velocities for the drives' `speeds` there. None where mechanisms of this kind share no code, the drives do not
        determine the motion, or the position is near a singular one."""
        walks = self.walking(list(drives)) if drives and self._shared is not None else None
        if walks is None or self._shared is None or self._shared[0].refused:
            return None
        x = np.array(list(drives.values()))
        way = np.zeros(len(x)) if to is None else np.array([to[name] for name in drives]) - x
        if np.abs(way).max() > 2.0 * np.pi * max(1.0, self.loops.kappa):
            return None
        laws, t = np.array([[*x, *way, *(0.0 * way)], [*(x + way), *way, *(0.0 * way)]]), np.array([0.0, 1.0])
        n = 1 if to is None else 2
        if len(speeds):
            laws[0, len(x) : 2 * len(x)] = speeds
        found = walks(q, self.skel.pack(references), t[:n], laws[:n])
        if found.reached < n or not abs(found.determinant[-1]) >= REGULAR:
            return None
        there = found.q[-1].copy()
        return there, self.skel.unpack(there, found.references[-1].copy()), found.v[-1].copy()

    def packed_references(self, st: State) -> np.ndarray:
        """Return the references of cut joints as kernels take them; of a state made from arrays those it is counted from."""
        return st.references.row if isinstance(st.references, LaterReferences) else self.skel.pack(st.references)

    def optional_inputs(self, kernel: Kernel, st: State) -> dict[str, Any]:
        """Return the time and the references of a state, as far as a kernel reads them."""
        out: dict[str, Any] = {"t": st.t} if "t" in kernel.reads else {}
        if "near" in kernel.reads:
            out["near"] = self.packed_references(st)
        return out

    def drive_positions(self, st: State, names: Sequence[str] | None = None) -> np.ndarray:
        """Return the coordinates of the model's drives, or of other joints and cylinders by name, at a state."""
        nodes, tree = self.tree.node_of_joint, self.tree
        drives = self.drive_names if names is None else names
        found = [st.q[tree.nodes[nodes[n]].q.start] if n in nodes else coordinate_now(self.loops, n, st.instant) for n in drives]
        return np.array(found)

    def derivatives(self, st: State, tau: Any = None, parameters: Any = None) -> Derivatives:
        """Return the derivatives of accelerations and multipliers by positions, velocities, efforts and parameters."""
        effort, pushes = efforts(self.assembler, st, tau)
        if pushes:
            raise UsageError("derivatives take efforts of the tree's joints (names.v). An effort in a cut joint needs other cuts=.")
        more = {} if parameters is None else {"parameters": parameters}
        found = self.kernels.get("derivatives")(st.q, st.v, effort, near=self.skel.pack(st.references), t=st.t, **more)
        empty = {name: None for name in Derivatives._fields}
        return Derivatives(**{**empty, **found._asdict()})

    # ---------------------------------------------------------------- one state

    def displaced(self, st: State, step: Any) -> np.ndarray:
        """Return q moved by a finite step in the space of v (names.v); raise UsageError for another number of entries."""
        moved = np.asarray(step, dtype=float)
        if moved.shape[-1:] != (self.tree.nv,):
            raise UsageError(f"step needs {self.tree.nv} entries, one for every velocity (names.v), not shape {moved.shape}.", name="step")
        return displaced(self.skel, st.q, moved)

    def state(self, q: Any, v: Any = None) -> State:
        """Return a State from arrays, as they are: nothing is closed."""
        zero_q, zero_v, row = self._zeros
        q = np.array(q, dtype=float)
        v = zero_v.copy() if v is None else np.array(v, dtype=float)
        if q.shape != zero_q.shape or v.shape != zero_v.shape or not all(map(isfinite, q.tolist() + v.tolist())):
            self._refuse(q, v)
        return State(self.skel, q, v, LaterReferences(self.skel, q, row))

    @cached_property
    def _zeros(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.zeros(self.tree.nq), np.zeros(self.tree.nv), self.skel.pack(self.start.references)

    def _refuse(self, q: np.ndarray, v: np.ndarray) -> NoReturn:
        """Raise UsageError for arrays that are no state."""
        tree, names = self.tree, self.kernels.entries
        if q.shape != (tree.nq,):
            raise UsageError(f"q has shape {q.shape}. It needs {tree.nq} entries: {', '.join(names['q'])}.", name="q")
        if not np.isfinite(q).all():
            bad = [n for n, x in zip(names["q"], q, strict=True) if not np.isfinite(x)]
            raise UsageError(f"q has entries that are not finite numbers: {', '.join(bad)}.", name="q")
        raise UsageError(f"v needs {tree.nv} finite entries: {', '.join(names['v'])}.", name="v")

    def motion(self, st: State) -> Motion:
        """Positions and velocities of all bodies."""
        return st.instant.motion if st.skel is self.skel else motion(self.skel, st.q, st.v)

    def instant(self, st: State, a: Any = None) -> Instant:
        """The instant of a state with these accelerations."""
        return Instant(self.skel, st.q, st.v, st.t, st.references, a, motion=self.motion(st))

    def applied(self, st: State, *, outside: bool = False, friction: str = SOFT) -> list[tuple[int, Any]]:
        """Wrenches of all forces of the model on bodies, or only of those that come from outside the machine."""
        acting = self.forces if friction == SOFT else forces.of_description(self.description, friction)
        return st.instant.pushes(f for f in acting if f.from_outside or not outside)

    @cached_property
    def friction(self) -> JointFriction | None:
        """Dry friction of the joints that no law of a travel has; None where there is none."""
        from linkwright.simulation.joint_friction import JointFriction

        return JointFriction.of(self.loops, self.motion(self.start)) if self.description.rubs else None

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
            raise UsageError(
                f"drives must be names of joints or cylinders, such as ['A', 'B'], not {drives!r}.", name="drives", value=drives
            )
        names = [drives] if isinstance(drives, str) else [str(x) for x in drives]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise UsageError(f"drives: {', '.join(repr(n) for n in twice)} is named more than once.", name="drives")
        return names

    def independent_coordinates(self, st: State, drives: Sequence[str]) -> list[str]:
        """Return as many joint coordinates as there are degrees of freedom, those that determine the motion best, drives first."""
        from linkwright.simulation.feedback.reference_tracking import independent

        return independent(self.loops, st, drives)

    def need_drive(self, name: str) -> None:
        """Raise UsageError unless a joint or cylinder has this name."""
        names = movable(self.description)
        if name not in names:
            raise UsageError(f"there is no joint '{name}'.", nearest(name, names, "Joints"))
        if any(j.name == name and JOINTS[j.type].nv == 0 for j in self.description.joints):
            raise UsageError(f"joint '{name}' is fixed: it has no coordinate that could move. Name another joint.", name=name)

    def need_motion(self, what: str) -> None:
        """Raise UsageError unless something can move and the model has drives: what a call needs that works on motions of the drives."""
        if self.mobility.freedoms == 0:
            raise UsageError(
                f"nothing can move here: this is a structure (mobility 0), so there is no motion {what}.", name="inertia_regressor"
            )
        if not self.drive_names:
            raise UsageError(f"the model has no drives, so there is no motion {what}. Write `drive: {{joint: 60 rpm}}`.", name="drive")

    def need_state(self, st: Any) -> None:
        """Raise UsageError unless this is a State."""
        if not isinstance(st, State):
            raise UsageError(f"a State is needed (from s.assemble, s.state or s.start), not {type(st).__name__}.", value=st, name="state")

    def need_closed(self, st: State, off: Sequence[str] = (), most: float = OPEN) -> None:
        """Raise UsageError unless this is a state of this tree on its loops; constraints in `off` may be open."""
        self.need_state(st)
        mine, theirs = ([n.joint.name for n in tree.nodes] for tree in (self.tree, st.skel.tree))
        if mine != theirs:
            raise UsageError("this state belongs to a system with other cuts. s.mirror(st) gives the same state in this one.", name="state")
        held = np.array([c.name not in off for c in self.loops.constraints for _ in c.labels], dtype=bool)
        gap = 0.0
        if self.tree.nc:
            gap = np.abs(self.loops.at(st.q, st.v, st.t, st.references).phi / self.loops.row_scale)[held].max(initial=0.0)
        if not gap < most:
            raise UsageError(
                f"the loops of this state are open by {gap:.2g} of the mechanism's size. s.assemble gives one that is closed.", name="state"
            )

    def need_masses(self) -> None:
        """Raise UsageError unless something can move, ModelError unless every body has a mass."""
        if not self.tree.nv:
            raise UsageError(
                "nothing can move here: every joint is fixed, so there is nothing to simulate. Add a joint that moves.", name="simulate"
            )
        self.kernels.need_masses()

    def need_start(self, st: State, off: Any, closed: bool) -> None:
        """Raise UsageError unless a run can start in this state: masses, closed loops, and a velocity along them."""
        self.need_masses()
        self.need_closed(st, (off,) if isinstance(off, str) else off, most=OPEN if closed else np.inf)
        if not closed or off:
            return
        self.need_along(st)

    def need_along(self, st: State) -> None:
        """Raise UsageError unless the velocity of a state is one that the loops allow."""
        if not len(self.loops.row_scale):
            return
        c = self.loops.at(st.q, st.v, st.t, st.references)
        gaps = np.abs((c.J @ st.v + c.b) / self.loops.row_scale) / max(1.0, np.abs(st.v / self.loops.columns).max())
        if not gaps.max() < OPEN:
            names = [x.name for x in self.loops.constraints for _ in x.labels]
            worst = int(np.argmax(np.where(np.isnan(gaps), np.inf, gaps)))
            raise UsageError(
                f"the velocity of this state tears the loops apart at '{names[worst]}', by {gaps[worst]:.2g} of its size. Give as many "
                f"speeds as there are degrees of freedom, and s.assemble(q, v={{{self._speed_example}}}) completes the others.",
                name=names[worst],
            )

    @property
    def _speed_example(self) -> str:
        """Speeds that can be given: those of the drives, else that of a joint."""
        names = self.drive_names or [n.joint.name for n in self.tree.nodes][:1]
        return ", ".join(f"'{name}': 1.0" for name in names[:2])

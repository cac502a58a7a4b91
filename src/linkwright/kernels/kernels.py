"""All kernels of one mechanism: the plan, the traces, the key under which code is cached on disk.

Built from a numeric tree; with parameters as inputs the equations are traced on a tree whose numbers are symbols, and their
values are inputs. Plans are stored on disk, and machine code is found there without tracing, under a key of everything the trace
depends on: the model, cuts, options, the modules that this one imports (`sources`) and every plug-in class in use. Without such a
key a kernel is traced first, and its code is found by the program itself.

`kernels.variant(Variant(...))` are the kernels of the same mechanism with motions given, rotors added or loops opened.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from linkwright import elements
from linkwright.compiler import cache as disk
from linkwright.compiler.program import Program
from linkwright.errors import LinkwrightError, UsageError, nearest
from linkwright.joints import JOINTS
from linkwright.kernels.equations.tasks import TWIST, TaskRow, enough_drives, task_rows
from linkwright.kernels.kernel import Fallback, Kernel
from linkwright.kernels.source_modules import digest
from linkwright.kernels.tracing import DRIVER_INPUTS, FOLLOWING, KERNELS, TIMED, UNDRIVEN, KernelSizes, trace
from linkwright.mechanics import forces, formulations
from linkwright.mechanics.closing.idle_motions import spin_rows
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.gear import GearConstraint
from linkwright.mechanics.constraints.loops import Loops, of_loops, scale
from linkwright.mechanics.contact import Touch, touches
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.mechanics.kinematics.skeleton import counted_coordinates, counted_joints, skeleton, velocity_kinds
from linkwright.model.coordinates import joint_name, lengths, movable
from linkwright.model.curves.polynomial import Parabola
from linkwright.model.description import Description
from linkwright.model.numbers import DesignNumbers, Number, TreeNumbers
from linkwright.model.parameters import Parameter, any_drawn, with_values
from linkwright.numerics.memory_and_threads import Stores, all_in_use, essentials
from linkwright.numerics.spatial import EYE
from linkwright.properties import cached_property
from linkwright.text.expressions import Expr, variable
from linkwright.topology.tree import Loop, Tree

if TYPE_CHECKING:
    from linkwright.kernels.coordinate_motion import CoordinateMotion
    from linkwright.kernels.equations.dynamic import EliminationPlan, Equations
    from linkwright.kernels.loop_rows import LoopRows
    from linkwright.mechanics.instant import Instant


# ----------------------------------------------------------------------------------------------------
# A mechanism with something changed that needs no other model: motions given, rotors added, closing conditions switched off
# Variant(drivers=("A",))                 the motion of A is prescribed: one row more, whose multiplier is the drive's effort
# Variant(armature=(0.02, 0.0, 0.0))      inertias of rotors (motors seen through their gears) on the tree's joints
# Variant(without=("rod1",))              a rod, cut joint, coupling or gear that holds nothing any more
# Variant(dry=False)                      friction that sticks is left to `simulation.friction_states`
# Variant(power=True)                     kernels of time steppers also give the rates of three works, for the energy balance


@dataclass(frozen=True)
class Variant:
    """Differences from the mechanism as written."""

    drivers: tuple[str, ...] = ()  # joints and cylinders whose motion is given
    armature: tuple[float, ...] = ()  # one entry per velocity, added to the diagonal of M; empty: none
    without: tuple[str, ...] = ()  # closing conditions left out
    power: bool = False
    dry: bool = True  # False: without friction that sticks, which runs add by its rows

    def checked(self, skel: Skeleton) -> Variant:
        """The same with plain numbers, or an error that says what is wrong."""
        d = skel.tree.description
        names = movable(d)
        for name in self.drivers:
            if joint_name(name) not in names:
                raise UsageError(f"there is no joint or cylinder '{name}' to move.", nearest(name, names, "Joints"))
            driven(d, name, Parabola(0.0))  # refuses joints with several degrees of freedom
        if len(set(self.drivers)) != len(self.drivers):
            raise UsageError(f"a motion is given twice: {', '.join(self.drivers)}.", name="drives")
        loops = [loop.name for loop in skel.tree.loops]
        for name in self.without:
            if name not in loops:
                tree = f" Joint '{name}' is in the spanning tree. cuts=['{name}'] makes it one." if name in skel.tree.node_of_joint else ""
                raise UsageError(
                    f"'{name}' closes no loop and cannot be switched off. {nearest(name, loops, 'Closing conditions')}{tree}",
                    name=name,
                    allowed=loops,
                )
        return replace(self, armature=self._inertias(skel.tree.nv), without=tuple(n for n in loops if n in self.without))

    def _inertias(self, nv: int) -> tuple[float, ...]:
        values = tuple(float(x) for x in self.armature)
        if values and len(values) != nv:
            raise UsageError(f"armature needs one inertia for each of {nv} velocities; {len(values)} were given.", name="armature")
        if not all(np.isfinite(x) and x >= 0.0 for x in values):
            raise UsageError("armature: inertias are finite and not negative.", name="armature")
        return values if any(values) else ()


def armature_of(skel: Skeleton, inertias: Mapping[str, Any]) -> tuple[float, ...]:
    """Inertias of rotors by joint name as one entry per velocity of the tree."""
    out = np.zeros(skel.tree.nv)
    for name, inertia in inertias.items():
        node = skel.tree.node_of_joint.get(name)
        if node is None:
            if name in skel.tree.cuts:
                raise UsageError(
                    f"joint '{name}' is cut, so that its speed is not a coordinate and the inertia of a rotor has no place there. "
                    f"Choose other cuts: cuts=[...] without '{name}'.",
                    name=name,
                )
            raise UsageError(f"there is no joint '{name}' to carry a rotor.", nearest(name, skel.tree.node_of_joint, "Joints"))
        span = skel.tree.nodes[node].v
        if span.stop - span.start != 1:
            raise UsageError(
                f"joint '{name}' has {span.stop - span.start} degrees of freedom. A rotor needs a hinge or a slider.", name=name
            )
        out[span] += float(inertia)
    return tuple(float(x) for x in out)


def loops_without(loops: Loops, names: tuple[str, ...]) -> Loops:
    """The loops with some closing conditions left out; cut joints stay cut, and their coordinates are still counted."""
    if not names:
        return loops
    tree = loops.skel.tree
    retained = tuple(i for i, loop in enumerate(tree.loops) if loop.name not in names)
    skel = replace(loops.skel, tree=_with_loops(tree, [tree.loops[i] for i in retained]))
    return replace(loops, skel=skel, constraints=tuple(loops.constraints[i] for i in retained))


def _with_loops(tree: Tree, loops: list[Loop]) -> Tree:
    ends = itertools.accumulate((len(loop.labels) for loop in loops), initial=0)
    rows = [slice(a, b) for a, b in itertools.pairwise(ends)]
    return replace(tree, loops=tuple(replace(loop, rows=r) for loop, r in zip(loops, rows, strict=True)))


OWN = "linkwright."  # modules of this package
POWERED = ("rates", "loop_rates")  # kernels that also give powers where a variant asks for them
EARLY = ", not projected"  # name of the plan whose pivots ask for the rank-revealing path earlier
DRIVEN_ROWS = ("driven_rows", "driven_positions", "driven_velocities", "driven_accelerations")
SOLVES = {  # kernels with eliminations of their own
    **dict.fromkeys(("inverse", "loads", "given_loads", "inverse_balance", "wrenches"), "inverse"),
    **dict.fromkeys(("kinematics", "walk", "stride", "counted_stride", "turn_motion", *DRIVEN_ROWS), "kinematics"),
    **dict.fromkeys(("jacobian", "jacobian_rate", "reduced", "operational"), "kinematics"),
    **dict.fromkeys(("named_motion", "named_terms"), "independent"),
    **dict.fromkeys(("driven_loads", "turn_loads"), "inverse and kinematics"),
}
DERIVATIVES = ("q", "v", "tau", "parameters")  # inputs by which kernel "derivatives" differentiates "forward"


def _nowhere() -> tuple[np.ndarray, Mapping[str, Any]]:
    return np.zeros(0), {}


@dataclass(frozen=True)
class Kernels:
    """Makes and keeps the kernels of a mechanism."""

    loops: Loops  # on numbers
    described: Description  # as written, parameters still expressions
    drives: tuple[str, ...]
    parameters: tuple[Parameter | Number, ...] = ()
    start: Callable[[], tuple[np.ndarray, Mapping[str, Any]]] = field(default=_nowhere)  # (q, near) on the loops
    answers: Callable[[Kernels], Mapping[str, Fallback]] | None = None  # who answers the states these kernels cannot
    engine: str = "native"
    made: dict[Any, Kernel] = field(default_factory=dict, compare=False)
    plans: dict[str, EliminationPlan] = field(default_factory=dict, compare=False)
    chosen: Variant = Variant()
    numbers: DesignNumbers | None = None  # of the structure whose numbers are the parameters
    variants: dict[Variant, Kernels] = field(default_factory=dict, compare=False)
    stores: Stores = field(default_factory=dict, init=False, compare=False, repr=False)  # results of other rooms for these numbers

    def __getstate__(self) -> dict[str, Any]:
        """Without code: it is found in the cache on disk, or made anew."""
        return {**essentials(self), "made": {}, "variants": {}, "stores": {}}

    def __repr__(self) -> str:
        made = sorted({key[0] for key in self.made})
        return f"<Kernels of {self.described.name!r}: {', '.join(KERNELS)}; made so far: {', '.join(made) or 'none'}>"

    @cached_property
    def fallbacks(self) -> Mapping[str, Fallback]:
        """Rank-revealing answers by kernel."""
        return {} if self.answers is None else self.answers(self)

    def variant(self, wanted: Variant) -> Kernels:
        """Kernels of the mechanism with drivers, rotors, without some loops, with powers; made once. Variants do not add up:
        what is wanted is said against the mechanism as written."""
        if self.chosen != Variant():
            raise UsageError("this is a variant already. Take another variant from the kernels of the mechanism as "
                "written.", name="variant")
        wanted = wanted.checked(self.loops.skel)
        if wanted == Variant():
            return self
        if wanted not in self.variants:
            base = self.variant(replace(wanted, power=False)) if wanted.power else self._changed(wanted)
            if base.chosen.drivers:
                base.plan_of("sslm")  # motions that contradict each other are refused here
            self.variants[wanted] = replace(base, chosen=wanted, variants={})  # powers share plans and every other kernel
        return self.variants[wanted]

    def _changed(self, wanted: Variant) -> Kernels:
        return replace(self, loops=loops_without(self.loops, wanted.without), chosen=wanted, made={}, plans={}, variants={})

    def get(
        self,
        name: str,
        formulation: Any = None,
        drives: Sequence[str] | None = None,
        baumgarte: bool = False,
        projected: bool = True,
        by: Sequence[str] = (),
        tasks: str | Sequence[str] = (),
        outputs: Sequence[str] = (),
        asked: Any = None,
    ) -> Kernel:
        """A kernel by name; made on first use, then the same object again. `by`: inputs by which its outputs are differentiated, or only
        the weighted sum of `outputs`; `tasks`: bodies and points of operational space; `asked`: what terms by name contain.

        Rates of a run that is not `projected` turn to the rank-revealing path earlier: its states are beside the loops, and what they are
        off is divided by the square of the smallest singular value.
        """
        if not isinstance(formulation, str | None):
            formulation = formulations.compiled_as(formulation)
        powered = self.chosen.power and name in POWERED
        inputs, sums = ((x,) if isinstance(x, str) else tuple(dict.fromkeys(x)) for x in (by, outputs))
        wanted = (tasks,) if isinstance(tasks, str) else tuple(tasks)
        key = (name, formulation, None if drives is None else tuple(drives), baumgarte, powered, projected, inputs, wanted, sums, asked)
        if key not in self.made:
            chosen = self if drives is None else replace(self, drives=tuple(drives), plans={})
            self.made[key] = chosen._make(name, formulation, baumgarte, projected, inputs, wanted, sums, asked)
            self.made[key].again = (self.get, (name, formulation, drives, baumgarte, projected, inputs, wanted, sums, asked))
        return self.made[key]

    def _make(
        self,
        asked: str,
        formulation: str | None,
        baumgarte: bool,
        projected: bool,
        by: tuple[str, ...],
        tasks: tuple[str, ...],
        outputs: tuple[str, ...],
        asked_for: Any,
    ) -> Kernel:
        name = "forward" if asked == "derivatives" else asked
        if asked == "derivatives":
            by = tuple(n for n in DERIVATIVES if n != "parameters" or self.parameters)
        if name not in KERNELS:
            raise UsageError(f"there is no kernel '{name}'.", nearest(name, [*KERNELS, "derivatives"], "Kernels"))
        signature = KERNELS[name]
        self._need_inputs(name, by)
        if outputs:
            self._need_outputs(name, by, outputs)
        if name in SOLVES and (self.chosen.drivers or self.chosen.armature):
            raise UsageError(f"kernel '{name}' belongs to the mechanism as written. A variant with drivers or rotors has none.", name=name)
        if signature.masses:
            self.need_masses()
        options: dict[str, Any] = {}
        if "formulation" in signature.options:
            options = {"formulation": formulations.compiled_as(formulation), "gains": baumgarte or None}
            if name in POWERED and self.chosen.power:
                options["power"] = True
        elif formulation is not None or baumgarte:
            raise UsageError(f"kernel '{name}' has no formulation and no stabilization to choose.", name=name)
        names = self.entries
        if "asked" in signature.options:
            if asked_for is None:
                raise UsageError(f"kernel '{name}' belongs to s.named_terms(tasks), which calls it.", name=name)
            options["asked"] = asked_for
        if "tasks" in signature.options:
            options["tasks"] = tuple(self._tasks(tasks, name))
            named = ("Lambda", "mu", "J", "rate") if name == "operational" else ("T", "bias")
            names = {**names, **{key: [row.name for row in options["tasks"]] for key in named}}
        elif tasks:
            raise UsageError(f"kernel '{name}' has no option `tasks`. Kernels 'operational' and 'task_terms' have it.", name=name)

        def solve() -> str:
            chosen = SOLVES.get(name) or options.get("formulation") or "sslm"
            return chosen if projected or self.plan.saddle is not None else f"{chosen}{EARLY}"

        def program() -> Program:
            sizes = replace(self.sizes, parameters=len(self.values(solve())))
            return trace(name, sizes, lambda parameters: self.equations(parameters, solve()), by, outputs, **options)

        chosen = sorted((k, str(v)) for k, v in options.items())
        key = self._key(options.get("formulation"))
        choices = [] if key is None or self.numbers is None else [_choices(self.plan_of(solve()))]
        parts = None if key is None else [name, chosen, projected, *([list(by), list(outputs)] if by else []), *key, *choices]
        defaults = self.defaults if self.numbers is None else {**self.defaults, "parameters": self.values(solve())}
        fallback = None if by else self.fallbacks.get(name)  # a limit in a singular position has no derivative
        return Kernel(asked, program, parts, names, defaults, fallback, self.engine)

    def coordinate_motion(
        self, coordinates: Sequence[str], drives: Sequence[str], reads: Mapping[str, Any], touching: Sequence[int] = ()
    ) -> CoordinateMotion:
        """The equations of motion in independent coordinates with functions of the instant, all with exact derivatives."""
        from linkwright.kernels.coordinate_motion import CoordinateMotion

        self.need_masses()
        return CoordinateMotion(self, tuple(coordinates), tuple(drives), dict(reads), tuple(touching))

    @cached_property
    def rows(self) -> LoopRows:
        """Residuals and the sparse J of the loops at many states."""
        from linkwright.kernels.loop_rows import LoopRows

        return LoopRows(self)

    def _tasks(self, names: Sequence[str], kernel: str) -> list[TaskRow]:
        """Components of operational space; raise UsageError where kernel operational has more of them than drives."""
        rows = task_rows(self.tree.description, names) if names or kernel == "operational" else []
        if any(row.needs_masses for row in rows):
            self.need_masses()
        return enough_drives(rows, len(self.drives)) if kernel == "operational" else rows

    def _need_inputs(self, name: str, by: Sequence[str]) -> None:
        """Raise UsageError unless a kernel can be differentiated by these inputs."""
        drivers = DRIVER_INPUTS if self.chosen.drivers and name not in UNDRIVEN else ()
        known = [n for n in (*(key for key, _ in KERNELS[name].inputs), *drivers, *(["t"] if name in TIMED else []), "parameters")]
        known = [n for n in dict.fromkeys(known) if not (name in FOLLOWING and n == "q")]
        known += ["coordinates"] if "q" in known else []
        for key in by:
            if key not in known:
                more = " Its q follows from the drives." if name in FOLLOWING and key == "q" else ""
                raise UsageError(f"kernel '{name}' is not differentiated by '{key}'.{more}", nearest(str(key), known, "Inputs"))
        if "parameters" in by and not self.parameters:
            raise UsageError("by='parameters' needs names: lw.compile(m, parameters=['L1', 'crank.mass']).", name="by")

    def _need_outputs(self, name: str, by: Sequence[str], outputs: Sequence[str]) -> None:
        """Raise UsageError unless a kernel has these outputs, and inputs to differentiate by."""
        known = [b.name for b in self.get(name).outputs]
        for key in outputs:
            if key not in known:
                raise UsageError(f"kernel '{name}' has no output '{key}'.", nearest(str(key), known, "Outputs"))
        if name in FOLLOWING:
            raise UsageError(f"kernel '{name}' lets q follow and is differentiated by by=... alone.", name=name)
        if not by:
            raise UsageError(f"outputs={list(outputs)} needs inputs to differentiate by: by=('q', 'parameters').", name="outputs")

    @property
    def generic_rank(self) -> int:
        """Rank of J in most positions: rows beyond it are redundant everywhere."""
        keep = self.plan.keep
        return self.sizes.nc if keep is None else len(keep)

    def need_masses(self) -> None:
        """Raise UsageError unless every body has a mass."""
        missing = [b.name for b in self.tree.description.bodies[1:] if b.mass is None]
        if missing:
            raise UsageError(
                f"dynamics needs the mass of {', '.join(repr(m) for m in missing)}: write `mass:` in the model (0 for a massless body). "
                "Kinematics works without.",
                name="mass",
            )

    # ---------------------------------------------------------------- sizes and names

    @property
    def tree(self) -> Tree:
        return self.loops.skel.tree

    @cached_property
    def sizes(self) -> KernelSizes:
        skel = self.loops.skel
        drivers = len(self.chosen.drivers)
        return KernelSizes(
            self.tree.nq, self.tree.nv, self.tree.nc + drivers, len(self.drives), skel.cut_size, len(self.parameters), drivers=drivers
        )

    @cached_property
    def entries(self) -> dict[str, list[str]]:
        """Names of the entries of inputs and outputs."""
        skel = self.loops.skel

        def full(pick: str) -> list[str]:
            parts = [(n.joint.name, getattr(jt, pick)) for n, jt in zip(self.tree.nodes, skel.types, strict=True)]
            return [f"{name}.{p}" if p else name for name, entries in parts for p in entries]

        lam = [f"{loop.name}.{label}" for loop in self.tree.loops for label in loop.labels]
        distances = lengths(self.tree.description)
        lam += [f"{name}.{'length' if name in distances else 'drive'}" for name in self.chosen.drivers]
        moved = list(self.chosen.drivers or self.drives)
        drives = {**{name: moved for name in ("drive", "speed", "acceleration")}, "u": list(self.drives)}
        return {
            "q": full("q_names"),
            **{name: full("v_names") for name in ("v", "a", "tau")},
            "lam": lam,
            "power": ["efforts", "loads", "lost"],
            "twist": [f"{n.body}.{row}" for n in self.tree.nodes for row in TWIST],
            "rate": [f"{n.body}.{row}" for n in self.tree.nodes for row in TWIST],
            "R": [n.body for n in self.tree.nodes],
            **{name: [j.name for j in self.tree.description.joints] for name in ("wrench", "point")},
            **{name: [x.name for x in self.touches] for name in ("g", "first", "second", "normal")},
            "parameters": [p.name for p in self.parameters],
            **drives,
        }

    @cached_property
    def touches(self) -> tuple[Touch, ...]:
        """Touches of the contacts, in the order of the rows of kernel `contact_terms`."""
        d = self.tree.description
        return touches(d) if d.touch_laws else ()

    @cached_property
    def defaults(self) -> dict[str, np.ndarray]:
        """Values of the inputs a call may leave out: time, turns counted of the cut joints, parameters."""
        skel = self.loops.skel
        return {
            "t": np.zeros(1),
            "near": skel.pack(skel.start_coordinates),
            "parameters": np.array([p.value for p in self.parameters] + ([] if self.numbers is None else [1.0 / self.loops.kappa])),
        }

    def values(self, solve: str) -> np.ndarray:
        """Values of the input `parameters`: of a structure all its numbers, then what residuals and pivots are measured by, 1/kappa and
        one over every typical size in the plan. Code does not depend on the mechanism that it was planned on then."""
        if self.numbers is None:
            return self.defaults["parameters"]
        return np.concatenate([self.defaults["parameters"], [1.0 / x for x in _sizes(self.plan_of(solve))]])

    # ---------------------------------------------------------------- equations

    def equations(self, values: Any = (), solve: str = "sslm") -> Equations:
        """The planned equations, on numbers or with (traced) values of the parameters."""
        plan = self.plan_of(solve)
        if not len(self.parameters):
            sharp = self._friction_in(solve) == forces.SHARP
            return replace(self._numeric, plan=plan, forces=forces.of_description(self.tree.description) if sharp else self._forces)
        loops = self.varied_loops(values)
        plan = replace(plan, idle=tuple(spin_rows(loops.skel, plan.spins))) if plan.spins and plan.idle else plan
        if self.numbers is not None and len(values) > self.measures_from:
            plan = _measured(plan, iter([1.0 / x for x in values[self.measures_from :]]))
        acting = forces.of_description(loops.skel.tree.description, self._friction_in(solve))
        return replace(self._numeric, loops=loops, forces=acting, plan=plan)

    def _friction_in(self, solve: str) -> str:
        """How friction that sticks acts in the equations of one solve."""
        if not self.chosen.dry:
            return forces.VISCOUS
        return forces.SHARP if solve.startswith("inverse") else forces.SOFT

    def varied_loops(self, values: Any) -> Loops:
        """The loops with (traced) values of the parameters."""
        if not len(self.parameters):
            return self.loops
        described = self._filled(list(values))
        tree = replace(
            self.tree,
            description=described,
            nodes=tuple(n if n.body in self.tree.floating else replace(n, joint=described.joint(n.joint.name)) for n in self.tree.nodes),
        )
        skel = skeleton(tree, self.loops.skel, self._counted_from(values, described))
        varied = replace(self.loops, skel=skel, constraints=of_loops(skel))
        if self.numbers is None:
            return varied
        kappa = 1.0 / values[self.measures_from - 1]
        return replace(varied, kappa=kappa, columns=scale(velocity_kinds(skel), kappa))

    @property
    def measures_from(self) -> int:
        """Place of the first typical size of a pivot among the values of a structure, after its numbers and 1/kappa."""
        return len(self.parameters) + 1

    def _counted_from(self, values: Any, described: Description) -> dict[str, Any]:
        """Coordinates of all joints in the drawing; those from which couplings and gears count are numbers of the structure, or of pins."""
        drawn = self.loops.skel.start_coordinates
        if self.numbers is None:
            return drawn | counted_coordinates(described) if any_drawn(self.parameters) else drawn
        return drawn | {name: np.array([x, *drawn[name][1:]]) for name, x in self.numbers.starts(values).items()}

    def _filled(self, values: list[Any]) -> Description:
        """The model's numbers with these values of the parameters."""
        if self.numbers is not None:
            return self.numbers.filled(values)
        filled = with_values(self.described, cast("Sequence[Parameter]", self.parameters), values)
        if all(isinstance(x, float) for x in values):
            return filled
        signs = gear_signs(self.loops)  # which neither symbols nor complex numbers have
        return replace(filled, **{held: tuple(x.sided(signs.get(x.name)) for x in getattr(filled, held)) for held in elements.CLOSING})

    @cached_property
    def _numeric(self) -> Equations:
        from linkwright.kernels.equations.dynamic import EliminationPlan, Equations

        return Equations(self.loops, self._forces, self.drives, EliminationPlan(()), self.chosen.drivers, self.chosen.armature)

    @cached_property
    def _forces(self) -> tuple[Any, ...]:
        d = self.tree.description
        return forces.of_description(d, self._friction_in("sslm")) if d.acting else ()

    @cached_property
    def plan(self) -> EliminationPlan:
        """Ranks and orders of forward dynamics."""
        return self.plan_of("sslm")

    def plan_of(self, solve: str) -> EliminationPlan:
        """The plan with what one solve needs beyond sslm: another formulation, inverse or kinematics. From the disk, or found now."""
        if solve not in self.plans:
            key = self._key(solve.removesuffix(EARLY))
            name = None if key is None else disk.key(["plan", solve, *key, *self._planned_on])
            found = None if name is None else disk.get(name)
            self.plans[solve] = self._planned(solve) if found is None else _plan_of(found[0])
            if name is not None and found is None:
                disk.put(name, json.loads(json.dumps(asdict(self.plans[solve]))), b"")
        return self.plans[solve]

    @all_in_use()
    def _planned(self, solve: str) -> EliminationPlan:
        from linkwright.kernels import planning

        if solve == "sslm":
            masses = all(b.mass is not None for b in self.tree.description.bodies[1:])
            return planning.plan(self._numeric, self._samples, masses)
        eq = replace(self._numeric, plan=self.plan)
        if solve in ("inverse", "kinematics", "independent"):
            return planning.with_drives(eq, self._samples, solve)
        if solve == SOLVES["turn_loads"]:
            return planning.with_drives(replace(eq, plan=self.plan_of("inverse")), self._samples, "kinematics")
        if solve.endswith(EARLY):
            return planning.with_pivots(eq, self._samples, solve.removesuffix(EARLY), planning.EARLY_PIVOT)
        return planning.with_pivots(eq, self._samples, solve)

    @cached_property
    def _samples(self) -> list[Instant]:
        from linkwright.kernels import planning

        return planning.samples(self.loops, *self.start())

    @property
    def modules(self) -> list[str]:
        """Modules that decide plans and programs: this one, and those of the objects handed in."""
        return sorted({__name__, *(x.__module__ for x in (type(self.loops), self.start, self.answers) if x is not None)})

    def _key(self, formulation: str | None) -> list[str] | None:
        """`model_key` with the source of a formulation from outside the package."""
        kind = formulations.FORMULATIONS.get(formulation or "")
        sources = [] if kind is None else _sources([kind])
        return None if self.model_key is None or sources is None else [*sources, self.model_key]

    @cached_property
    def model_key(self) -> str | None:
        """Hash of everything plans and code depend on; None where a plug-in has no source to hash."""
        cut = [JOINTS[self.tree.description.joint(name).type] for name in self.tree.cuts]
        plugins = [*(type(x) for x in self.loops.skel.types), *cut, *(type(x) for x in self._forces)]
        sources = _sources(plugins)
        if sources is None or not all(name.startswith(OWN) for name in self.modules):
            return None
        changed = repr(replace(self.chosen, power=False))  # powers are an option of single kernels, not another mechanism
        own = digest(*(name.removeprefix(OWN) for name in self.modules))
        text = json.dumps([*self._model_texts(), changed, sources, own])
        return hashlib.sha256(text.encode()).hexdigest()

    def _model_texts(self) -> list[Any]:
        """Texts of the model that plans and code depend on; of a structure without its numbers, which are inputs of its code."""
        if self.numbers is not None:
            return ["structure", repr(self.numbers.structure), repr(self.tree.cuts), list(self.drives)]
        model = [self.model_text, repr(self.tree.cuts), [p.name for p in self.parameters], list(self.drives)]
        return [model, signature(self.described, cast("Sequence[Parameter]", self.parameters)), repr(self.loops.kappa)]


    @property
    def model_text(self) -> str:
        """The model with its numbers."""
        return repr(replace(self.tree.description, warnings=(), document=None))

    @property
    def _planned_on(self) -> list[str]:
        """What a structure's plans depend on beyond its key: the model that they are made on."""
        return [] if self.numbers is None else [self.model_text, repr(self.loops.kappa)]


# Plans of a structure: its choices belong to its code, its sizes are inputs of this code.


def _sizes(plan: EliminationPlan) -> list[float]:
    """The typical sizes of the pivots that a plan watches."""
    return [x for name in sorted(plan.nominal) for x in plan.nominal[name] if x]


def _measured(plan: EliminationPlan, sizes: Iterator[Any]) -> EliminationPlan:
    """The plan with other typical sizes, over any scalar, in the order of `_sizes`."""
    return replace(plan, nominal={name: tuple(next(sizes) if x else 0.0 for x in plan.nominal[name]) for name in sorted(plan.nominal)})


def _choices(plan: EliminationPlan) -> dict[str, Any]:
    """What code depends on of a plan whose sizes are inputs and whose idle directions follow from the numbers."""
    return {**asdict(plan), "nominal": {name: [bool(x) for x in sizes] for name, sizes in plan.nominal.items()}, "idle": len(plan.idle)}


def _plan_of(data: Mapping[str, Any]) -> EliminationPlan:
    """A plan as it was written to JSON."""
    from linkwright.mechanics.constraints.driver import EliminationPlan, Spin

    def pair(x: Any) -> Any:
        return None if x is None else (tuple(x[0]), tuple(x[1]))

    return EliminationPlan(
        order=tuple(data["order"]),
        single=data["single"],
        axes=data["axes"],
        keep=None if data["keep"] is None else tuple(data["keep"]),
        saddle=pair(data["saddle"]),
        nominal={k: tuple(x) for k, x in data["nominal"].items()},
        orders={k: pair(x) for k, x in data["orders"].items()},
        idle=tuple(tuple(row) for row in data["idle"]),
        spins=tuple(Spin(tuple(x), first, second, entry, tuple(map(tuple, more))) for x, first, second, entry, more in data["spins"]),
    )


def _sources(classes: Sequence[type]) -> list[str] | None:
    """Sources of classes from outside the package."""
    out = []
    for cls in dict.fromkeys(classes):
        if not cls.__module__.startswith(OWN):
            try:
                out.append(inspect.getsource(inspect.getmodule(cls) or cls))
            except (OSError, TypeError):
                return None
    return out


# Signature of a description over variables: a text that two models share only if the same code serves both.
#
# Expressions have parts in common, and printed in full they can grow without bound; here every part is listed once.


def signature(described: Description, parameters: Sequence[Parameter]) -> str:
    """Text of everything that code with these numbers as inputs depends on, beyond the numbers of the model; empty if there are none."""
    if not parameters:
        return ""
    if not any_drawn(parameters):
        return repr([p for p in described.parameters]) + repr(described.bodies)
    parts: list[str] = []
    done: dict[Expr, int] = {}
    text = _text(with_values(described, parameters, [variable(p.name) for p in parameters]), parts, done)
    return "\n".join([*parts, text])


def _text(value: Any, parts: list[str], done: dict[Expr, int]) -> str:
    if isinstance(value, Expr):
        if value not in done:
            parts.append(f"{value.op} {' '.join(_text(x, parts, done) for x in value.args)}")
            done[value] = len(done)
        return f"#{done[value]}"
    if isinstance(value, tuple):
        return f"({', '.join(_text(x, parts, done) for x in value)})"
    if is_dataclass(value) and not isinstance(value, type):
        inside = [_text(getattr(value, f.name), parts, done) for f in fields(value) if f.compare and f.repr]
        return f"{type(value).__name__}({', '.join(inside)})"
    return repr(value)


# ----------------------------------------------------------------------------------------------------
# Kernels by structure: mechanisms that differ in their numbers only run on the same code
# A `StructureCode` holds the code of one structure, with all numbers as inputs. Plans are made on the numbers of a model file, and serve
# everything that `m.with_()` derives from it: a `KernelStructure` has the kernels of one such model, and mechanisms bind them to their own
# numbers. Equal plans share their code. Which way answers a question, and its bits, depend on the mechanism, its file and the
# question, never on what was asked before: code is loaded from the cache on disk, or made, when it is first asked for.

MOST = 64  # structures held at a time, and models of each on which plans were made
_known: OrderedDict[Any, StructureCode] = OrderedDict()
_lock = RLock()


@dataclass(frozen=True)
class StructureCode:
    """Code of a structure, for all mechanisms that have it."""

    key: Any
    symbols: Kernels  # of any of them: loops for symbols of the numbers, and what is stored with these
    codes: dict[str, Kernel] = field(default_factory=dict)  # by name, options and plan
    planned: OrderedDict[str, KernelStructure] = field(default_factory=OrderedDict)  # by the model on which plans are made

    def planned_on(self, numbers: DesignNumbers, kernels: Kernels) -> KernelStructure:
        """Kernels whose plans are made on the numbers of one mechanism."""
        key = f"{kernels.model_text} {kernels.loops.kappa!r}"
        with _lock:
            return _lately(self.planned, key, lambda: KernelStructure(kernels_of_numbers(numbers, kernels), self))


class KernelStructure:
    """Kernels with all numbers as inputs, planned on one of the mechanisms of a structure."""

    def __init__(self, kernels: Kernels, code: StructureCode | None = None):
        self.kernels, self.code = kernels, code
        self._found: dict[Any, Kernel | None] = {}

    @cached_property
    def usable(self) -> bool:
        """True if plans can be made on this mechanism."""
        try:
            _ = self.kernels.plan
        except (LinkwrightError, FloatingPointError):
            return False  # it cannot be assembled, or has a drive too many
        return True

    @cached_property
    def refused(self) -> bool:
        """True if links spin about lines that do not follow from numbers: every mechanism needs kernels of its own."""
        return self.kernels.numbers is not None and self.usable and not self.kernels.plan.spins_follow

    def kernel(
        self, name: str, drives: Sequence[str] | None = None, by: tuple[str, ...] = (), outputs: tuple[str, ...] = ()
    ) -> Kernel | None:
        """A kernel with its machine code; None where there is none, and the float path has to answer."""
        key = (name, None if drives is None else tuple(drives), by, outputs)
        with _lock:
            if key not in self._found:
                self._found[key] = None if self.refused else self._made(name, drives, by, outputs)
            return self._found[key]

    def _made(self, name: str, drives: Sequence[str] | None, by: tuple[str, ...], outputs: tuple[str, ...]) -> Kernel | None:
        try:
            with np.errstate(divide="raise", invalid="raise"):
                kernel = self.kernels.get(name, drives=drives, by=by, outputs=outputs)
                if not kernel.native:
                    return None
                if self.code is not None and kernel.key is not None:
                    own = {"parameters": kernel.default("parameters")}
                    kernel = self.code.codes.setdefault(kernel.key, kernel).bound(**own)
                _ = kernel.code.one_address
                return kernel
        except (LinkwrightError, FloatingPointError):
            return None  # drives that do not determine the motion one by one, a joint that cannot be traced, no masses

    def bound(self, kernel: Kernel, numbers: DesignNumbers | None, loops: Loops) -> Kernel:
        """A kernel of this structure with the numbers and the scale of a mechanism; `loops` are its own."""
        near = loops.skel.pack(loops.skel.start_coordinates)
        if numbers is None:
            return kernel.bound(near=near)
        sizes = kernel.default("parameters")[self.kernels.measures_from :]
        return kernel.bound(near=near, parameters=np.concatenate([numbers.values, [1.0 / loops.kappa], sizes]))


def structure(numbers: DesignNumbers, tree: Tree, kernels: Callable[[], Kernels]) -> StructureCode:
    """The code that a mechanism with these numbers shares with all others that differ in them only."""
    d = tree.description
    key = numbers.structure, tree.cuts, tuple(x.joint for x in d.drives), tuple(JOINTS[j.type] for j in d.joints)
    with _lock:
        return _lately(_known, key, lambda: StructureCode(key, kernels_of_numbers(numbers, kernels())))


def kernels_of_numbers(numbers: DesignNumbers, kernels: Kernels) -> Kernels:
    """Kernels of a mechanism with all its numbers as inputs; its own answer what these cannot."""
    return replace(kernels, parameters=numbers.parameters, numbers=numbers, answers=None, made={}, plans={}, variants={})


def _lately(known: OrderedDict[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
    """An entry, made if it is missing; those not asked for longest are dropped."""
    if key not in known:
        known[key] = make()
    known.move_to_end(key)
    while len(known) > MOST:
        known.popitem(last=False)
    return known[key]


def tree_numbers(loops: Loops) -> TreeNumbers:
    """Numbers that a mechanism's spanning tree adds to its own. Bodies whose axes a load or belt names stay in these."""
    skel = loops.skel
    d = skel.tree.description
    as_drawn = {body for x in elements.every(d) for body in x.keeps_axes}
    turned = ((n.body, X.R) for n, X in zip(skel.tree.nodes, skel.X_CM, strict=True) if n.body not in as_drawn)
    return TreeNumbers(
        {body: R for body, R in turned if not (R == EYE).all()},
        skel.tree.floating,
        {name: float(skel.start_coordinates[name][0]) for name in counted_joints(d)},
        gear_signs(loops),
    )


def gear_signs(loops: Loops) -> dict[str, tuple[float, float]]:
    """Signs of the pitch point and of the ratio of every gear, as drawn."""
    return {c.name: (c.pitch_side, float(np.sign(c.factor_second))) for c in loops.constraints if isinstance(c, GearConstraint)}

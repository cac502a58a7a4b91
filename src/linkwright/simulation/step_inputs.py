"""Inputs of steps of one mechanism: its equations as the loops see them, lengths of steps, efforts as callers give them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.native import NativeCode
from linkwright.errors import UsageError, counted, listing
from linkwright.integrators import Problem, StepKernel
from linkwright.integrators.environments import MIDPOINT, Environments, OneSided, scheme_of
from linkwright.integrators.problem import Tableau
from linkwright.kernels.kernels import Kernels, Variant
from linkwright.mechanics.contact import contact_gaps, contact_terms
from linkwright.mechanics.dynamics.coordinate_efforts import EffortRow
from linkwright.mechanics.forces import friction_rows
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.model.coordinates import JointCoordinate
from linkwright.model.file import quantity
from linkwright.numerics.memory_and_threads import Store
from linkwright.simulation import rigid_stops
from linkwright.simulation.events import interpreted_kernel, native_kernel, reads_turns
from linkwright.simulation.kernel_rows import RowLayout
from linkwright.simulation.options import time_of
from linkwright.simulation.step_kernels import MidpointStep, OneSidedRows, gaps_kernel, midpoint_kernel
from linkwright.simulation.time_stepping import step_kernel, turns_kernel
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled

EQUATIONS: Store[bool, StepEquations] = Store()  # of a mechanism: by an explicit method, and by the midpoint rule
NUMBERS = (int, float, np.integer, np.floating)
FLOAT = np.dtype(float)


class StepEquations(NamedTuple):
    """A mechanism as the loops of single steps see it."""

    problem: Problem
    qdot: StepKernel | None  # dq/dt where that is not v
    settling: StepKernel | None  # two Newton steps back onto the loops in one call, for steps whose gaps need both
    one_sided: OneSided
    rows: OneSidedRows
    read: bool  # equations read the references of cut joints
    often: bool  # an angle of a cut joint may turn faster than bodies do: it is one of two
    row: RowLayout


def equations(core: Compiled, middle: bool = False) -> StepEquations:
    """Kernels and layout of the rows; made once for a mechanism. `middle`: by the midpoint rule, in which everything that holds one way
    acts."""
    known = EQUATIONS.of(core)
    if middle not in known:
        core.kernels.need_masses()
        released = rigid_stops.released(core.loops.skel)
        kernels = core.kernels.variant(Variant(without=released, dry=not core.description.rubs)) if middle else core.kernels
        known[middle] = step_equations(core, kernels, one_sided_rows(core) if middle else None)
    return known[middle]


def step_equations(core: Compiled, kernels: Kernels, rows: OneSidedRows | None) -> StepEquations:
    """Those of a variant; `rows`: what holds one way in steps by the midpoint rule, None for an explicit method."""
    middle, skel = rows is not None, core.loops.skel
    row = RowLayout.of(core, timed=middle, drivers=len(kernels.chosen.drivers)).mechanism
    step = None if rows is None else MidpointStep(rows)
    rates = kernels.get("loop_rates") if step is None else midpoint_kernel(kernels, step)
    answer = kernels.fallbacks["loop_rates"] if step is None else partial(step.rank_revealing, kernels)
    closed = len(kernels.loops.row_scale) + len(kernels.chosen.drivers) > 0
    projection = kernels.get("loop_projection") if closed else None
    closing = kernels.fallbacks["loop_projection"]
    settling = None if projection is None or not middle else step_kernel(kernels.get("loop_settling"), closing, row)
    gaps = gaps_kernel(kernels, rows) if rows is not None and rows.blocks else None
    cut = [joints.create(j.type, j.options) for j in (skel.tree.description.joint(n) for n in skel.tree.cuts)]
    turns = any("angle" in jt.coordinate_kinds for jt in cut)
    values = {name: np.zeros(row.sizes[name]) for name in row.parameters}
    values |= {"near": skel.pack(core.start.references), "parameters": kernels.defaults["parameters"]}
    problem = Problem(
        step_kernel(rates, answer, row),
        row.sizes["q"],
        row.sizes["v"],
        project=None if projection is None else step_kernel(projection, closing, row),
        parameters=tuple(np.concatenate([values[k] for k in row.parameters])),
        quaternions=tuple(n.q.start for n, jt in zip(skel.tree.nodes, skel.types, strict=True) if "quaternion" in jt.coordinate_kinds),
        turns=turns_kernel(core, row) if turns else None,
        n_near=row.sizes["near"] if turns else 0,
        near_at=row.spans["near"].start - row.spans["tau"].start,
        whole_steps=middle,
    )
    read = any(reads_turns(k.inputs) for k in (rates, projection, gaps) if k is not None)
    often = any(jt.coordinate_kinds.count("angle") > 1 for jt in cut)
    mapped = _qdot_kernel(core, row) if row.sizes["q"] != row.sizes["v"] else None
    own = OneSidedRows() if rows is None else rows
    one_sided = OneSided(own.kinds, None if gaps is None else step_kernel(gaps, None, row), float(core.loops.kappa))
    return StepEquations(problem, mapped, settling, one_sided, own, read, often, row)


def one_sided_rows(core: Compiled, given: Collection[str] = ()) -> OneSidedRows:
    """What holds one way in a mechanism, but for ends of coordinates whose motion is `given`."""
    skel, touches = core.loops.skel, core.kernels.touches
    ends = tuple(e for e in rigid_stops.ends_of(skel) if e.coordinate not in given)
    rubs = [x for x in friction_rows(core.description) if x.name not in given] if core.description.rubs else []
    rubbing = tuple(EffortRow(x.name, "" if isinstance(x.by_load, float | int) and x.by_load == 0.0 else x.joint) for x in rubs)
    if not touches:
        return OneSidedRows(ends, rubbing=rubbing)
    if rubbing and not core.description.planar:
        names = listing([f"'{x.coordinate}'" for x in rubbing])
        raise UsageError(
            f"steps with touches in space have no friction in joints, and {names} rub. Take the friction out, or use runs of events.",
            name=rubbing[0].coordinate,
        )
    g, J = contact_gaps(skel, core.start.q)["g"], contact_terms(skel, core.start.q, core.start.v)["J"]
    return OneSidedRows(ends, len(touches), len(J) // len(g), rubbing)


def _qdot_kernel(core: Compiled, row: RowLayout) -> StepKernel:
    """dq/dt = N(q) v."""
    graph = TraceGraph()
    q, v = graph.input("q", row.sizes["q"]), graph.input("v", row.sizes["v"])
    program = graph.program([("qdot", qdot(core.loops.skel, q, v))])
    native = core.kernels.get("loop_rates").native
    return native_kernel(NativeCode.of(program), row.n) if native else interpreted_kernel(program, row.n)


def _scheme(core: Compiled, integrator: Any) -> Tableau | None:
    """The method of single steps; by default the midpoint rule where something holds one way."""
    acts = core.description.one_sided
    if integrator is None:
        integrator = MIDPOINT if acts or core.description.rubs else "rk4"
    table = scheme_of(integrator)
    if acts and table is not None:
        raise UsageError(
            "stops, slack ropes, play or contacts of this mechanism act in steps by impulses, which integrator='midpoint' has (the "
            "default here). Leave out `integrator`.",
            name="integrator",
            value=integrator,
            allowed=[MIDPOINT],
        )
    return table


def environments(core: Compiled, integrator: Any, n: int, threads: int | None = None) -> Environments:
    """Memory of n environments of a mechanism."""
    table = _scheme(core, integrator)
    engine = "python" if core.engine == "python" else None
    return made_environments(equations(core, table is None), table, n, threads, engine)


def made_environments(
    eq: StepEquations, table: Tableau | None, n: int, threads: int | None = None, engine: str | None = None, drivers: int = 0
) -> Environments:
    """The same of equations at hand, with so many prescribed motions."""
    options: dict[str, Any] = {"qdot": eq.qdot, "settling": eq.settling, "one_sided": eq.one_sided, "read": eq.read, "often": eq.often}
    return Environments(eq.problem, table, n, limit=threads, engine=engine, drivers=drivers, **options)


def interval(dt: Any, substeps: Any) -> float:
    """The length of one of `substeps` equal steps of dt."""
    if dt.__class__ is not float:
        dt = float(dt) if isinstance(dt, NUMBERS) and not isinstance(dt, bool) else time_of("dt", dt)
    if not 0.0 < dt < np.inf:
        raise UsageError(f"dt is a time above zero, not {dt:g} s.", name="dt", value=dt)
    if substeps.__class__ is not int and not isinstance(substeps, np.integer):
        raise UsageError(f"substeps is a whole number of one or more, not {substeps!r}.", name="substeps", value=substeps)
    if substeps < 1:
        raise UsageError(f"substeps is a whole number of one or more, not {substeps}.", name="substeps", value=substeps)
    return dt / substeps


class StepEfforts:
    """StepEfforts as callers give them, put into rows of efforts."""

    def __init__(self, core: Compiled, into: np.ndarray):
        self.core, self.into = core, into
        self.shapes = into.shape, into.shape[1:]
        self.found: dict[str, tuple[slice | int, str]] = {}

    def put(self, tau: Any) -> None:
        """None: zero; an array by the order of names.v; or by joint name, numbers, quantities, or one for each environment."""
        if tau.__class__ is np.ndarray and tau.dtype is FLOAT and tau.shape in self.shapes:
            self.into[...] = tau
        elif tau is None:
            self.into[...] = 0.0
        elif isinstance(tau, Mapping):
            self.into[...] = 0.0
            for name, value in tau.items():
                self._named(str(name), value)
        else:
            self._array(tau)

    def _array(self, tau: Any) -> None:
        n, nv = self.into.shape
        names = ", ".join(self.core.kernels.entries["v"])
        wanted = f"({nv},)" if n == 1 else f"({n}, {nv}) or ({nv},)"
        try:
            x = np.asarray(tau, dtype=float)
        except (TypeError, ValueError):
            raise UsageError(
                f"tau is an array {wanted} of numbers, or a dict by joint name, not {type(tau).__name__}.", name="tau", value=tau
            ) from None
        if x.shape not in self.shapes:
            raise UsageError(f"tau has shape {x.shape}. It needs {wanted}: {names}, or a dict by joint name.", name="tau")
        self.into[...] = x

    def _named(self, name: str, value: Any) -> None:
        if name not in self.found:
            self.found[name] = self._place(name)
        at, kind = self.found[name]
        if isinstance(value, str):
            value = quantity(value, KINDS[kind], f"the effort of '{name}'") if kind else np.nan
        target = self.into[:, at]
        try:
            x = np.asarray(value, dtype=float)
            if x.shape not in ((), target.shape, target.shape[1:]) or (x.ndim == 0 and kind == ""):
                raise ValueError
        except (TypeError, ValueError):
            each = "a number" if kind else counted(target.shape[1], "number")
            raise UsageError(
                f"the effort of '{name}' is {each}, or that for each of {len(target)}, not {value!r:.60}.", name=name, value=value
            ) from None
        if x.ndim < target.ndim and not np.isfinite(x).all():
            raise UsageError(f"the effort of '{name}' is not a finite number: {value!r:.60}.", name=name)
        self.into[:, at] = x

    def _place(self, name: str) -> tuple[slice | int, str]:
        """Entries of a joint in tau, and the unit of a single one."""
        part, tree = self.core.assembler.targets.part(name), self.core.tree
        joint = part.joint if isinstance(part, JointCoordinate) else part
        if joint.name not in tree.node_of_joint:
            raise UsageError(
                f"steps take efforts of the tree's joints (names.v). '{name}' is cut. Compile with other cuts: lw.compile(m, cuts=[...]).",
                name=name,
            )
        span = tree.nodes[tree.node_of_joint[joint.name]].v
        return (span.start + part.v, part.effort_kind) if isinstance(part, JointCoordinate) else (span, "")

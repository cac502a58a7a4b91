"""Cost of inverse dynamics by each method: the two mechanisms of [Chaudhary2007 Tables 2 and 3], counted and timed.

From q, v, a of one state to the drive's torque and the reactions of all joints. Every formula is the product's own, run
on a scalar that records (`recording`): kinematics and the wrenches each body needs are shared; the methods differ in the
equations they put together, in the systems they solve, and in the recursion from body to body. Solves are eliminations
twice: `folded`, where zeros cost nothing, as a compiler would unroll them, rows and columns in the order of `pivots`;
and `dense`, every entry a number, as a library routine does and as the paper counts (n^3/3).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import (
    Instant,
    State,
    System,
    compiled_of,
    dynamics,
    equation_terms,
    kinematics,
    modelfile,
    motion,
    scalars,
    solve_orders,
    text_tables,
)
from linkwright.api import library as models
from linkwright.mechanics.inverse.choice import joint_wrenches
from linkwright.mechanics.inverse.methods import METHODS, every_constraint
from linkwright.mechanics.inverse.problem import InverseProblem, unit_pushes
from linkwright.numerics.pivot_order import pivot_order
from linkwright.rings.papers.operation_counts import Counts, values
from linkwright.rings.papers.operation_recording import OperationGraph, Recorded

STAGES = ("motion", "wrenches", "equations", "solve", "recursion")


class CostCase(NamedTuple):
    """A mechanism of the paper: cuts, drive, and the positions the reference lists."""

    model: str
    cuts: tuple[str, ...]
    drive: str
    speed: float
    components: int  # of a reaction, as the paper counts the recursion: bodies times this

    def system(self, **parameters: Any) -> System:
        return System(modelfile.read(models.path(self.model), **parameters), self.cuts)

    def state(self, system: System, degrees: float = 30.0) -> State:
        return system.assemble(q={self.drive: np.radians(degrees)}, v={self.drive: self.speed})


CASES = (
    CostCase("carpet-scraper-2007", ("J8", "J9", "J10"), "J1", 4.712, 2),
    CostCase("rssr", ("S",), "crank", 10.471975511965978, 6),
)


class Printed(NamedTuple):
    """A line of the paper's table as printed: order of computations, seconds of one cycle and of an optimization."""

    order: float
    cycle: float
    optimization: float


PRINTED = {
    ("carpet-scraper-2007", "traditional"): Printed(3087.0, 0.219, 118.610),
    ("carpet-scraper-2007", "system"): Printed(128.3, 0.156, 56.703),
    ("carpet-scraper-2007", "subsystem"): Printed(45.3, 0.156, 56.703),
    ("rssr", "traditional"): Printed(1994.0, 0.6560, 176.672),
    ("rssr", "system"): Printed(45.33, 0.609, 170.125),
    ("rssr", "subsystem"): Printed(33.0, 0.5960, 157.156),
}


# -------------------------------------------------------------------- elimination


def _structure(A: np.ndarray) -> np.ndarray:
    """Mask of the entries that are not zero in every position."""
    return np.array([[isinstance(x, Recorded) or x != 0.0 for x in row] for row in A]).reshape(A.shape)


@dataclass
class Solver:
    """Elimination in a fixed order; keeps sizes, orders and matrices, so that other positions can be solved in the same or a better one."""

    given: Sequence[tuple[list[int], list[int]]] = ()

    def __post_init__(self) -> None:
        self.sizes: list[int] = []
        self.orders: list[tuple[list[int], list[int]]] = []
        self.matrices: list[np.ndarray] = []  # comparable entries
        self.structures: list[np.ndarray] = []

    def __call__(self, A: np.ndarray, b: np.ndarray, rows: Any, columns: Any) -> np.ndarray:
        """A z = b; `rows` and `columns` make the entries comparable for the choice of pivots and take no part otherwise."""
        n = len(self.sizes)
        scaled = values(A) * np.asarray(rows)[:, None] / np.asarray(columns)
        structure = _structure(A)
        r, c = self.given[n] if self.given else pivot_order([scaled], structure)
        self.matrices.append(scaled)
        self.structures.append(structure)
        self.sizes.append(len(A))
        self.orders.append((r, c))
        return scalars.eliminate(A, b, (r, c), quotients=True)[0]


def dense_solve(n: int) -> Counts:
    """Operations of one elimination with every entry a number (operations whose result is not used left out)."""
    graph = OperationGraph()
    A, b = graph.variables(np.eye(n) + 0.1), graph.variables(np.ones(n))
    return sum_of(graph.live(scalars.eliminate(A, b, quotients=True)[0]).values())


def sum_of(counts: Iterable[Counts]) -> Counts:
    parts = list(counts)
    return Counts(*(sum(getattr(c, k) for c in parts) for k in ("add", "mul", "div", "sqrt", "trig")))


# -------------------------------------------------------------------- the three methods on recording numbers


class Formed(NamedTuple):
    """Terms that all methods share."""

    problem: InverseProblem  # over recording numbers; its cached M, factors and scales are not used
    need: list[Any]  # of every body: inertia wrench minus weight and applied wrenches


def formed(system: System, st: State, drive: str, graph: OperationGraph, skel: kinematics.Skeleton | None = None) -> Formed:
    """Kinematics and the wrench every body needs  [Chaudhary2007 (8)]; `skel` has other mass data than the system, such as variables."""
    core = compiled_of(system)
    loops = core.loops if skel is None else replace(core.loops, skel=skel)
    a = core.assembler.accelerations(st, None, [drive])
    q, v, acc = (graph.variables(x) for x in (st.q, st.v, a))
    graph.stage = "motion"
    m = motion(loops.skel, q, v)
    _ = *m.X, *m.S, *m.V, m.at_origin(kinematics.node_accelerations(loops.skel, m, acc))
    graph.stage = "wrenches"
    need = dynamics.net_wrenches(loops.skel, m, acc)
    graph.stage = "equations"
    T = equation_terms.terms(loops, q, v, st.t, st.references)
    assert T.place is not None
    moment = Instant.moving(loops.skel, T.place.motion, st.t, st.references)
    return Formed(InverseProblem(T, T.place, acc, (drive,), unit_pushes(system.description, moment, [drive])), need)


def _traditional(f: Formed, graph: OperationGraph, solve: Solver) -> list[Any]:
    """All Newton-Euler equations at once; gives the multipliers of all joints and the torque."""
    p = f.problem
    place, skel = p.place, p.place.loops.skel
    pick = [2, 3, 4] if skel.tree.description.planar else list(range(6))
    size = len(pick)
    columns: list[np.ndarray] = []
    scale: list[float] = []

    def column(wrenches: Iterable[tuple[int, Any]]) -> None:
        out = np.zeros(size * len(f.need), dtype=object)
        for node, w in wrenches:
            if node >= 0:
                out[size * node : size * node + size] = w[pick]
        columns.append(out)

    for c in every_constraint(p):
        part = c.rows(skel, place.motion, place.v, place.t, place.references)
        for i, kind in enumerate(c.kinds):
            column((node, G[i]) for node, G in part.G)
            scale.append(1.0 if kind == "length" else 1.0 / place.loops.kappa)
    for push in p.pushes:
        column(push)
        scale.append(1.0 / place.loops.kappa)
    weight = np.tile([1.0 / place.loops.kappa if i < 3 else 1.0 for i in pick], len(f.need))
    graph.stage = "solve"
    return [solve(np.array(columns).T, np.concatenate([w[pick] for w in f.need]), weight, scale)]


def _system(f: Formed, graph: OperationGraph, solve: Solver) -> list[Any]:
    """All multipliers and the torque at once  [Chaudhary2007 (14)], then the recursion (11)."""
    p = f.problem
    g = dynamics.inverse_tree(p.place.loops.skel, p.place.motion, p.a)  # N' w*: what M a + h is, without M
    A = np.concatenate([p.terms.J.T, p.B], axis=1)
    graph.stage = "solve"
    z = solve(A, g, *_scales(p))
    return _recursion(p, z, graph)


def _subsystem(f: Formed, graph: OperationGraph, solve: Solver) -> list[Any]:
    """Subsystem by subsystem in the order in which they are determinate, then the recursion  [Chaudhary2007 (10), (11)]."""
    p = f.problem
    t, tree = p.terms, p.place.loops.skel.tree
    g = dynamics.inverse_tree(p.place.loops.skel, p.place.motion, p.a)
    A = np.concatenate([t.J.T, p.B], axis=1)
    rows_scale, columns_scale = _scales(p)
    z, known = np.zeros(A.shape[1], dtype=object), np.zeros(A.shape[1], dtype=bool)
    for step in solve_orders.solve_order(tree, list(p.drives)):
        graph.stage = "equations"
        rows = np.concatenate([np.arange(t.spans[j].start, t.spans[j].stop) for j in step.subsystems])
        unknown = np.flatnonzero(_structure(A[rows]).any(axis=0) & ~known)
        right = g[rows] - A[np.ix_(rows, np.flatnonzero(known))] @ z[known]
        graph.stage = "solve"
        z[unknown] = solve(A[np.ix_(rows, unknown)], right, rows_scale[rows], columns_scale[unknown])
        known[unknown] = True
    return _recursion(p, z, graph)


def _scales(p: InverseProblem) -> tuple[np.ndarray, np.ndarray]:
    return p.terms.columns, np.concatenate([p.terms.row_scale, np.ones(len(p.drives))])


def _recursion(p: InverseProblem, z: Any, graph: OperationGraph) -> list[Any]:
    graph.stage = "recursion"
    wrenches = joint_wrenches(p, z, True)
    return [z, *(np.concatenate([w.moment, w.force]) for w in wrenches)]


COUNTED = {"traditional": _traditional, "system": _system, "subsystem": _subsystem}


class Outcome(NamedTuple):
    """One method run on recording numbers."""

    results: list[Any]  # unknowns of the solve first; then, by the recursion, the wrench in every joint (moment, force)
    stages: dict[str, Counts]
    solver: Solver


def counted(system: System, st: State, drive: str, method: str, orders: Sequence[Any] = ()) -> Outcome:
    """Torque and all reactions by one method, with what each stage costs; `orders` are pivots found elsewhere."""
    graph, solver = OperationGraph(), Solver(orders)
    results = COUNTED[method](formed(system, st, drive, graph), graph, solver)
    live = graph.live(*results)
    return Outcome(results, {stage: live.get(stage, Counts()) for stage in STAGES}, solver)


# -------------------------------------------------------------------- the table


@dataclass(frozen=True)
class MethodCost:
    """One method on one mechanism: sizes solved, operations by stage, and the paper's line."""

    model: str
    method: str
    sizes: tuple[int, ...]
    stages: dict[str, Counts]  # the solve with zeros folded
    dense: Counts  # the solves with every entry a number
    order: float  # n^3/3 of the sizes solved and the recursion, counted as the paper does, corrected
    printed: Printed

    @property
    def folded(self) -> int:
        return sum(c.total for c in self.stages.values())

    @property
    def full(self) -> int:
        """All operations with dense solves."""
        return self.folded - self.stages["solve"].total + self.dense.total

    @property
    def again(self) -> tuple[int, int]:
        """(folded, dense) operations for other masses in the same motion: geometry is unchanged, as in an optimization of masses."""
        retained = self.stages["motion"].total
        return self.folded - retained, self.full - retained


def paper_order(sizes: Sequence[int], bodies: int, components: int, method: str) -> float:
    """n^3/3 for every system (1 for a single equation), and bodies times components for the recursion."""
    solve = sum(n**3 / 3.0 if n > 1 else 1.0 for n in sizes)
    return solve + (0.0 if method == "traditional" else bodies * components)


def operation_table(cases: Iterable[CostCase] = CASES, degrees: float = 30.0) -> list[MethodCost]:
    """All methods on all cases at one position."""
    rows = []
    for case in cases:
        system = case.system()
        st = case.state(system, degrees)
        for method in COUNTED:
            out = counted(system, st, case.drive, method)
            sizes = tuple(out.solver.sizes)
            order = paper_order(sizes, system.tree.nv, case.components, method)
            dense = sum_of(dense_solve(n) for n in sizes)
            rows.append(MethodCost(case.model, method, sizes, out.stages, dense, order, PRINTED[case.model, method]))
    return rows


def saving(rows: Sequence[MethodCost], row: MethodCost, pick: Any) -> float:
    """Percent less than the traditional method on the same mechanism."""
    base = next(r for r in rows if r.model == row.model and r.method == "traditional")
    return 100.0 * (1.0 - pick(row) / pick(base))


def ratios(case: CostCase, *, rounds: int = 20, whole: int = 4, own: int = 20) -> dict[str, tuple[float, float]]:
    """method -> time on the float path over that of `traditional`: (the whole inverse with all reactions, the method's own
    part from terms to multipliers). Least time of many rounds in one run, methods by turns so that a busy computer
    disturbs all alike."""
    system = case.system()
    st = case.state(system)
    p = system.inverse(st, drives=[case.drive], method="system").problem
    best = {method: [np.inf, np.inf] for method in COUNTED}
    for _ in range(rounds):
        for method, least in best.items():
            t0 = time.perf_counter()
            for _ in range(whole):
                _ = system.inverse(st, drives=[case.drive], method=method).wrench
            t1 = time.perf_counter()
            for _ in range(own):
                METHODS[method](InverseProblem(p.terms, p.place, p.a, p.drives, p.pushes))
            t2 = time.perf_counter()
            least[:] = min(least[0], (t1 - t0) / whole), min(least[1], (t2 - t1) / own)
    base = best["traditional"]
    return {method: (x[0] / base[0], x[1] / base[1]) for method, x in best.items()}


COLORS = {"motion": "#b8c4d0", "wrenches": "#8fa3b8", "equations": "#5b8a8a", "solve": "#b4566a", "recursion": "#c79a1e"}


def draw(axes: Any, rows: Sequence[MethodCost]) -> None:
    """Operations by stage as bars, zeros folded, onto matplotlib axes."""
    names = [f"{r.model}\n{r.method}" for r in rows]
    left = np.zeros(len(rows))
    for stage in STAGES:
        width = np.array([r.stages[stage].total for r in rows], dtype=float)
        axes.barh(names, width, left=left, color=COLORS[stage], label=stage)
        left += width
    for i, r in enumerate(rows):
        axes.text(left[i] + 10, i, f"{r.folded}", va="center")
    axes.invert_yaxis()
    axes.set_xlabel("operations of one inverse dynamics, zeros folded")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(STAGES), frameon=False)


def text(rows: Sequence[MethodCost]) -> str:
    """The tables for people: operations by stage, then savings and orders beside the paper's."""
    lines: list[str] = []
    for model in dict.fromkeys(r.model for r in rows):
        mine = [r for r in rows if r.model == model]
        counts = [(r.method, "+".join(map(str, r.sizes)), *map(str, _counted(r))) for r in mine]
        lines += [model, *text_tables.aligned([("", "solves", *STAGES, "total", "dense", "all dense"), *counts], left=2)]
        lines += ["", "order, and savings over traditional in per cent:"]
        picks = (lambda x: x.folded, lambda x: x.full, lambda x: x.again[0], lambda x: x.again[1])
        printed = (lambda x: x.printed.cycle, lambda x: x.printed.optimization)
        compared = [(r.order, r.printed.order, *(saving(rows, r, pick) for pick in (*picks, *printed))) for r in mine]
        savings = [(r.method, *(f"{x:.1f}" for x in numbers)) for r, numbers in zip(mine, compared, strict=True)]
        header = ("", "order", "printed", "folded", "dense", "again", "dense", "paper: cycle", "optimization")
        lines += text_tables.aligned([header, *savings], left=1)
        lines.append("")
    return "\n".join(lines).rstrip()


def _counted(r: MethodCost) -> tuple[int, ...]:
    """Operations by stage, with zeros folded, of dense blocks, and of everything dense."""
    return (*(r.stages[s].total for s in STAGES), r.folded, r.dense.total, r.full)

"""Tables 2 and 3 of [Chaudhary2007], last column: shaking force and moment balanced, inverse dynamics by each of the three methods.

The paper repeats its inverse dynamics in an optimization of masses (its ref. [33]) and prints seconds. Objective, variables and limits
are not printed. Ours: the sum of (F/F0)^2 and (M/M0)^2, root mean squares over the cycle of the force and the moment on ground over
those of the machine as it is, over counterweights on three links: a smaller problem than the paper's, whose iterations and evaluations
are quoted next to ours. Force and moment are sums of the reactions that one method finds in the joints on ground. The motion does not
change, so the operations of a method are of three kinds: from the motion alone (done once), from the masses alone (once for a set of
masses), from both (for every set of masses at every position).

Operations are recorded once and carried out for all positions at a time (`operation_recording.RecordedProgram`), so the program runs the
operations that are counted. Gradients are exact, by complex steps, one evaluation for each variable. The search is SLSQP, which
`m.balance` has too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import compiled_of, cross, load, mechanism_of, tolerances
from linkwright.mechanics.inverse.choice import joint_wrenches
from linkwright.mechanics.inverse.methods import every_constraint
from linkwright.numerics.pivot_order import pivot_order
from linkwright.rings.design.optimization.mass_design import CounterweightBlock, counterweight_blocks
from linkwright.rings.design.optimization.nonlinear_solvers import slsqp
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers import inverse_cost as counts
from linkwright.rings.papers.operation_recording import COST, OperationGraph, Recorded, RecordedProgram

STEPS = 36  # positions of a cycle
PLACES = (30.0, 90.0, 180.0, 270.0)  # deg: where pivots are looked at
METHODS = tuple(counts.COUNTED)
LIMITS = {  # kg, and m from the joint on ground or, for the coupler, from its first joint: ours
    "carpet-scraper-2007": {"crank": (10, 0.06), "rocker": (15, 0.12), "arm": (15, 0.35)},
    "rssr": {"crank": (2, 0.1), "coupler": (2, 0.1), "rocker": (2, 0.2)},
}
PAPER = {  # iterations, evaluations, positions of a cycle, per cent of the time saved, as printed
    "carpet-scraper-2007": (33, 1000, 134, "52.19, 52.19"),
    "rssr": (21, 500, 600, "3.70, 11.04"),
}


# -------------------------------------------------------------------- one method, recorded


class MassVariables(NamedTuple):
    """Mass data of all bodies as recorded numbers: mass, center and inertia about it, of each body in turn."""

    skel: Any
    leaves: list[list[Recorded]]


def mass_variables(system: Any, graph: OperationGraph) -> MassVariables:
    """The system's skeleton with mass data that count."""
    skel, planar = compiled_of(system).skel, system.description.planar
    masses, centers, inertias, leaves = [], [], [], []
    for mass, com, inertia in zip(skel.mass, skel.com, skel.inertia, strict=True):
        m = graph.variables([mass])
        c, I = np.zeros(3, dtype=object), np.zeros((3, 3), dtype=object)
        axes = 2 if planar else 3
        c[:axes] = graph.variables(com[:axes])
        pairs = [(2, 2)] if planar else [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
        entries = graph.variables([inertia[pair] for pair in pairs])
        for (i, j), entry in zip(pairs, entries, strict=True):
            I[i, j] = I[j, i] = entry
        masses.append(m[0])
        centers.append(c)
        inertias.append(I)
        leaves.append([m[0], *c[:axes], *entries])
    return MassVariables(replace(skel, mass=tuple(masses), com=tuple(centers), inertia=tuple(inertias)), leaves)


def shaking(f: counts.Formed, method: str, z: Any, about: np.ndarray) -> np.ndarray:
    """[moment about a point; force] on ground, from the reactions of the joints that carry it."""
    p = f.problem
    skel, ground, total = p.place.loops.skel, p.place.loops.skel.tree.description.bodies[0].name, np.zeros(6, dtype=object)

    def add(moment: Any, force: Any, at: Any) -> None:
        total[:3], total[3:] = total[:3] - moment - cross(at - about, force), total[3:] - force

    if method == "traditional":
        row = 0
        for c in every_constraint(p):
            part = c.rows(skel, p.place.motion, p.place.v, p.place.t, p.place.references)
            held = [(node, G) for node, G in part.G if node >= 0]
            if len(held) == 1:
                node, G = held[0]
                w = G.T @ z[row : row + len(c.kinds)]
                add(w[:3], w[3:], skel.origin(node))
            row += len(c.kinds)
        efforts = z[row:]
    else:
        for w in joint_wrenches(p, z, True):
            joint = skel.tree.description.joint(w.joint)
            if ground in (joint.first, joint.second):
                sign = 1.0 if joint.first == ground else -1.0
                add(sign * w.moment, sign * w.force, w.point)
        efforts = z[p.terms.nc :]
    for push, effort in zip(p.pushes, efforts, strict=True):
        for node, w in push:
            add(w[:3] * effort, w[3:] * effort, skel.origin(node))
    return total


@dataclass(frozen=True, eq=False)
class ShakingEvaluator:
    """One method on one mechanism, recorded: shaking force and moment over the cycle from the bodies' mass data."""

    method: str
    leaves: list[list[Recorded]]
    program: RecordedProgram
    known: dict[int, Any]
    count: SplitCount  # of all reactions
    solves: tuple[int, ...]

    def again(self, *, dense: bool, factored: bool) -> int:
        return self.count.again(self.solves, dense=dense, factored=factored)

    def __call__(self, data: Sequence[Sequence[Any]]) -> np.ndarray:
        """(6, sets of masses, positions); data: for each body its mass data, each a column (sets, 1)."""
        pairs = [pair for leaves, values in zip(self.leaves, data, strict=True) for pair in zip(leaves, values, strict=True)]
        found = self.program.run(self.known, pairs)
        shape = np.broadcast_shapes(*(np.shape(x) for x in found))
        return np.array([np.broadcast_to(x, shape) for x in found])


class SplitCount(NamedTuple):
    """Operations by what they depend on (see the text above) and by stage."""

    motion: dict[str, int]
    masses: dict[str, int]
    both: dict[str, int]

    def again(self, sizes: Sequence[int], *, dense: bool, factored: bool) -> int:
        """Operations of one position for another set of masses, kinematics retained.

        `factored`: all that the masses do not touch is retained, the factors of the matrices too; else equations are formed and
        solved again. `dense`: every entry of a matrix is a number.
        """
        parts = (self.both,) if factored else (self.both, self.motion)
        total = sum(n for part in parts for stage, n in part.items() if stage not in ("motion", "solve"))
        if not dense:
            return total + sum(part.get("solve", 0) for part in parts)
        return total + sum(2 * n * n - n if factored else counts.dense_solve(n).total for n in sizes)


def split_count(graph: OperationGraph, results: Sequence[Any], motion: Sequence[Recorded], masses: Sequence[Recorded]) -> SplitCount:
    """Operations on which the results depend."""
    wanted = [x for part in results for x in np.asarray(part, dtype=object).ravel() if isinstance(x, Recorded)]
    by_motion, by_masses = (RecordedProgram(graph, wanted, leaves) for leaves in (motion, masses))
    kinds: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())
    for node in by_motion.nodes:
        if COST[node.name]:
            moving, changing = id(node) in by_motion.changing, id(node) in by_masses.changing
            kinds[2 if moving and changing else int(changing)][node.stage] += 1
    return SplitCount(*(dict(kind) for kind in kinds))


@cache
def machine(case: counts.CostCase) -> tuple[Any, Any]:
    """The mechanism without weight, which does not shake the ground, and its cycle."""
    system = case.system(g=0.0)
    return system, mechanism_of(system).cycle(case.drive, steps=STEPS, speed=case.speed)


def drive_point(system: Any, drive: str) -> np.ndarray:
    return np.array(system.description.joint(drive).frame_first.at, dtype=float)


def pivot_orders(case: counts.CostCase, method: str) -> list[tuple[list[int], list[int]]]:
    """Orders of elimination that suit the whole cycle: where the crank is upright, entries vanish that are large elsewhere.

    Entries are rounded, so that round-off does not choose among equal ones."""
    system, _ = machine(case)
    seen = []
    for degrees in PLACES:
        seen.append(counts.Solver())
        graph = OperationGraph()
        counts.COUNTED[method](counts.formed(system, case.state(system, degrees), case.drive, graph), graph, seen[-1])
    return [
        pivot_order([np.round(solver.matrices[k], 9) for solver in seen], np.any([solver.structures[k] for solver in seen], axis=0))
        for k in range(len(seen[0].sizes))
    ]


@cache
def evaluator(case: counts.CostCase, method: str) -> ShakingEvaluator:
    """Recorded at one position, prepared for all positions of the cycle."""
    system, turn = machine(case)
    graph, solver = OperationGraph(), counts.Solver(pivot_orders(case, method))
    masses = mass_variables(system, graph)
    f = counts.formed(system, case.state(system), case.drive, graph, masses.skel)
    every = counts.COUNTED[method](f, graph, solver)
    graph.stage = "shaking"
    total = shaking(f, method, every[0], drive_point(system, case.drive))
    motion = [x for part in (f.problem.place.q, f.problem.place.v, f.problem.a) for x in part]
    changing = [x for leaves in masses.leaves for x in leaves]
    program = RecordedProgram(graph, [x for x in total if isinstance(x, Recorded)], changing)
    courses = np.concatenate([np.asarray(part)[:-1] for part in (turn.q, turn.v, turn.a)], axis=1).T
    known = program.once(zip(motion, courses, strict=True))
    return ShakingEvaluator(
        method, masses.leaves, program, known, split_count(graph, [*every, total], motion, changing), tuple(solver.sizes)
    )


# -------------------------------------------------------------------- the optimization


class BalancedBy(NamedTuple):
    """The optimum found with one method as the evaluator."""

    value: float  # sum of the two squared ratios; 2 before
    x: np.ndarray
    iterations: int
    evaluations: int  # sets of masses


class BalancingSearch:
    """Least shaking force and moment over counterweights; every set of masses is evaluated by one method."""

    def __init__(self, case: counts.CostCase, method: str) -> None:
        self.system, _ = machine(case)
        self.curves = evaluator(case, method)
        limits = {body: {"mass": mass, "radius": radius} for body, (mass, radius) in LIMITS[case.model].items()}
        self.blocks: list[CounterweightBlock] = counterweight_blocks(self.system.description, limits)
        self.evaluations = 0
        now = self.squares(np.zeros((1, self.size)))
        self.before = now[:, 0]

    @property
    def size(self) -> int:
        return sum(len(b.bounds) for b in self.blocks)

    def mass_data(self, x: np.ndarray) -> list[list[np.ndarray]]:
        """Mass, center and inertia about it of every body, for sets of variables (sets, n): point masses welded on."""
        axes = 2 if self.system.description.planar else 3
        at = {b.body: k for k, b in enumerate(self.blocks)}
        out = []
        for node in self.system.tree.nodes:
            body = self.system.description.body(node.body)
            mass, c, I = float(body.mass), np.array(body.com, dtype=float), np.array(body.inertia, dtype=float)
            extra, place = np.zeros((len(x), 1)), np.zeros((len(x), 3))
            if node.body in at:
                b, first = self.blocks[at[node.body]], (1 + axes) * at[node.body]
                extra = b.most * x[:, first : first + 1]
                place = b.center + b.radius * np.pad(x[:, first + 1 : first + 1 + axes], ((0, 0), (0, 3 - axes)))
            total = mass + extra
            new = (mass * c + extra * place) / total
            moved = I + mass * _lever(c - new) + extra[:, :, None] * _lever(place - new)
            pairs = [(2, 2)] if axes == 2 else [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
            out.append([total, *(new[:, i : i + 1] for i in range(axes)), *(moved[:, i, j][:, None] for i, j in pairs)])
        return out

    def squares(self, x: np.ndarray) -> np.ndarray:
        """Mean squares of moment and force over the cycle, (2, sets)."""
        self.evaluations += len(x)
        curves = self.curves(self.mass_data(x))
        half = len(curves) // 3 if self.system.description.planar else 3  # the plane has one moment and two forces
        return np.array([np.mean(np.sum(part**2, axis=0), axis=-1) for part in (curves[:half], curves[half:])])

    def value(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient: one set of masses for each variable, whose real part is the objective."""
        ratio = np.sum(self.squares(x + 1j * tolerances.COMPLEX_STEP * np.eye(len(x))) / self.before[:, None], axis=0)
        return float(ratio[0].real), ratio.imag / tolerances.COMPLEX_STEP

    def inside(self, first: int, count: int) -> dict[str, Any]:
        """The place of a counterweight within its circle or ball."""
        places = slice(first + 1, first + 1 + count)

        def slope(x: np.ndarray) -> np.ndarray:
            out = np.zeros(len(x))
            out[places] = -2.0 * x[places]
            return out

        return {"type": "ineq", "fun": lambda x: 1.0 - x[places] @ x[places], "jac": slope}

    def solved(self) -> BalancedBy:
        axes = self.blocks[0].size
        start = np.tile([0.2, -0.5, *np.zeros(axes - 1)], len(self.blocks))  # each behind its joint
        box = [pair for b in self.blocks for pair in b.bounds]
        found = slsqp(self.value, start, box, [self.inside(k * (1 + axes), axes) for k in range(len(self.blocks))], 300, 1e-12)
        return BalancedBy(float(found.fun), found.x, int(found.nit), self.evaluations)


def _lever(d: np.ndarray) -> np.ndarray:
    """(sets, 3, 3): inertia of a unit mass at d."""
    square = np.sum(d * d, axis=1)
    return square[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :]


@cache
def balanced(case: counts.CostCase, method: str) -> BalancedBy:
    return BalancingSearch(case, method).solved()


# -------------------------------------------------------------------- the items

WAYS = {  # of counting one position for another set of masses
    "dense, solved again": {"dense": True, "factored": False},
    "dense, factors retained": {"dense": True, "factored": True},
    "zeros folded, factors retained": {"dense": False, "factored": True},
}


def saved(case: counts.CostCase, method: str, way: str) -> float:
    """Per cent of the operations that a method saves over the traditional one."""
    one, base = (evaluator(case, name).again(**WAYS[way]) for name in (method, "traditional"))
    return 100.0 * (1.0 - one / base)


def by_regressor(case: counts.CostCase) -> float:
    """The optimum of `m.balance`, which needs no inverse dynamics: forces and moments are linear in the masses."""
    limits = {body: {"mass": mass, "radius": radius} for body, (mass, radius) in LIMITS[case.model].items()}
    found = load(case.model, g=0).balance(
        weights={"force": 1.0, "moment": 1.0}, counterweights=limits, steps=STEPS, drive=case.drive, speed=case.speed
    )
    return sum((found.norms[goal]["rms_after"] / found.norms[goal]["rms_before"]) ** 2 for goal in ("force", "moment"))


def _balancing(where: str, name: str, case: counts.CostCase) -> Item:
    iterations, evaluations, positions, percent = PAPER[case.model]
    printed = [counts.PRINTED[case.model, method].optimization for method in METHODS]
    found = {method: balanced(case, method) for method in METHODS}
    first = found["traditional"]
    per = {way: ", ".join(str(evaluator(case, m).again(**options)) for m in METHODS) for way, options in WAYS.items()}
    less = {way: ", ".join(_share(saved(case, m, way)) for m in METHODS[1:]) for way in WAYS}
    total = [first.evaluations * STEPS * evaluator(case, m).again(**WAYS["dense, solved again"]) / 1e6 for m in METHODS]
    return compared(
        where,
        f"{name}: shaking force and moment balanced with each method as the evaluator",
        f"{iterations} iterations, {evaluations} evaluations of {positions} positions; {', '.join(f'{x:.3f}' for x in printed)} s: "
        f"{percent} % less",
        f"the same optimum by all three, {first.value:.6f} of 2, in {first.iterations} iterations and {first.evaluations} evaluations of "
        f"{STEPS} positions. Operations of a position: "
        + "; ".join(f"{way} {per[way]} ({less[way]})" for way in WAYS)
        + f". In all, solved again: {', '.join(f'{x:.1f}' for x in total)} million",
        max(abs(x.value - by_regressor(case)) for x in found.values())
        + float(len({(x.iterations, x.evaluations) for x in found.values()}) - 1),
        1e-9,
        "the optimum of m.balance, which uses no inverse dynamics",
        "objective, variables and limits of the paper's optimization are not printed, ours are counterweights on three links. Masses touch "
        "no matrix: with factors retained and zeros folded the traditional method needs fewest operations, because it has no recursion",
    )


def _share(percent: float) -> str:
    return f"{abs(percent):.1f} % {'fewer' if percent >= 0.0 else 'more'}"


def scraper_balancing() -> Item:
    return _balancing("Table 2, optimization", "scraper", counts.CASES[0])


def rssr_balancing() -> Item:
    return _balancing("Table 3, optimization", "RSSR", counts.CASES[1])

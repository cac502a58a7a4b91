"""In which order the subsystems can be solved, and how the loops couple.

Inverse dynamics: a subsystem is determinate when the unknowns that act on it (multipliers of the
loops that touch it, drive torques and forces in it) are as many as its velocities. What it yields is
known for the others. Where no single subsystem is determinate the smallest coupled group is solved
at once. Counts are structural; ranks at assembled states are found above.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from linkwright.errors import UsageError, listing, nearest
from linkwright.model.coordinates import lengths, movable
from linkwright.model.description import Description
from linkwright.topology.cost import forward_cost
from linkwright.topology.cuts import search
from linkwright.topology.elimination import eliminate
from linkwright.topology.graph import Span, read_graph
from linkwright.topology.tree import Tree, tree_of

MOST_GROUPS = 5000  # coupled groups looked at before the whole connected rest is taken together


@dataclass(frozen=True)
class UnknownEfforts:
    """Efforts to be found: the multipliers of a loop or the effort of a drive, and the subsystems they act on."""

    name: str
    kind: str  # "loop" or "drive"
    count: int
    subsystems: tuple[int, ...]


@dataclass(frozen=True)
class SolveStep:
    """Subsystems solved together: `equations` velocities against `unknowns`."""

    subsystems: tuple[int, ...]
    unknowns: tuple[str, ...]  # names of loops and drives that are found here
    size: tuple[int, int]  # equations x unknowns
    determinate: bool  # as many unknowns as equations

    @property
    def coupled(self) -> bool:
        return len(self.subsystems) > 1


def unknowns_of(tree: Tree, drives: Sequence[str] | None = None) -> list[UnknownEfforts]:
    """Everything inverse dynamics has to find; `drives` are joints or cylinders (default: the model's)."""
    names = [drive.joint for drive in tree.description.drives] if drives is None else list(drives)
    out = [UnknownEfforts(loop.name, "loop", loop.rows.stop - loop.rows.start, loop.subsystems) for loop in tree.loops]
    return out + [_drive_unknown(tree, name) for name in dict.fromkeys(names)]


def _drive_unknown(tree: Tree, name: str) -> UnknownEfforts:
    if name in tree.node_of_joint:
        node = tree.nodes[tree.node_of_joint[name]]
        return UnknownEfforts(name, "drive", node.v.stop - node.v.start, (node.subsystem,))
    for loop in tree.loops:
        if loop.name == name and loop.kind == "joint":  # a drive on a cut joint acts along its whole circuit
            return UnknownEfforts(name, "drive", 1, loop.subsystems)
    between = lengths(tree.description).get(name)
    if between is not None:
        a, b = (tree.node_of_body[body] for body, _ in between)
        return UnknownEfforts(name, "drive", 1, _between(tree, a, b))
    allowed = movable(tree.description)
    raise UsageError(f"there is no joint or cylinder '{name}' to drive.", nearest(name, allowed, "Joints and cylinders"))


def _between(tree: Tree, a: int, b: int) -> tuple[int, ...]:
    """Subsystems with a moving joint on the way between two nodes (-1: ground); a parent has the smaller number."""
    out: set[int] = set()
    while a != b:
        a, b = max(a, b), min(a, b)
        node = tree.nodes[a]
        if node.v.stop > node.v.start:
            out.add(node.subsystem)
        a = node.parent
    return tuple(sorted(out))


def solve_order(tree: Tree, drives: Sequence[str] | None = None) -> list[SolveStep]:
    """The steps of inverse dynamics, each one subsystem or the smallest coupled group (lowest numbers first)."""
    rest = _Rest(tree, unknowns_of(tree, drives))
    steps: list[SolveStep] = []
    while rest.left:
        group = rest.next_group()
        found = sorted(rest.open_unknowns(group))
        size = (sum(rest.nv[s] for s in group), sum(rest.unknowns[u].count for u in found))
        steps.append(SolveStep(group, tuple(rest.unknowns[u].name for u in found), size, size[0] == size[1]))
        rest.known.update(found)
        rest.left.difference_update(group)
    return steps


class _Rest:
    """The subsystems not solved yet, and what is known by now."""

    def __init__(self, tree: Tree, unknowns: Sequence[UnknownEfforts]):
        self.unknowns = unknowns
        self.nv = [s.v.stop - s.v.start for s in tree.subsystems]
        self.left = {s.index for s in tree.subsystems}
        self.known: set[int] = set()
        self.acting: dict[int, list[int]] = {s: [] for s in self.left}
        for u, unknown in enumerate(unknowns):
            for s in unknown.subsystems:
                self.acting[s].append(u)

    def open_unknowns(self, group: Iterable[int]) -> set[int]:
        return {u for s in group for u in self.acting[s] if u not in self.known}

    def neighbors(self, group: Iterable[int]) -> set[int]:
        """Subsystems, the group's own included, that share an open unknown with the group."""
        return {t for u in self.open_unknowns(group) for t in self.unknowns[u].subsystems if t in self.left}

    def next_group(self) -> tuple[int, ...]:
        """The smallest connected group with no more unknowns than equations (exactly as many before fewer)."""
        short: tuple[int, ...] | None = None
        for group in islice(self.connected_groups(), MOST_GROUPS):
            if short is not None and len(group) > len(short):
                return short
            surplus = sum(self.unknowns[u].count for u in self.open_unknowns(group)) - sum(self.nv[s] for s in group)
            if surplus == 0:
                return group
            if surplus < 0 and short is None:
                short = group
        return short or self.connected_rest(min(self.left))

    def connected_groups(self) -> Iterator[tuple[int, ...]]:
        """Groups that share unknowns, one more subsystem at a time, lowest numbers first."""
        level: list[tuple[int, ...]] = [(s,) for s in sorted(self.left)]
        while level:
            yield from level
            larger: set[tuple[int, ...]] = set()
            for group in level:
                larger.update(tuple(sorted((*group, t))) for t in self.neighbors(group) - set(group))
                if len(larger) > MOST_GROUPS:
                    break
            level = sorted(larger)

    def connected_rest(self, start: int) -> tuple[int, ...]:
        group: set[int] = set()
        front = {start}
        while front:
            group |= front
            front = self.neighbors(front) - group
        return tuple(sorted(group))


def inverse_tree(description: Description, drives: Sequence[str] | None = None) -> Tree:
    """The spanning tree for inverse dynamics: fewest velocities in steps that are not square, then the smallest
    matrices (a coupled group counts as one), then the cheapest forward dynamics.
    """
    graph = read_graph(description)

    def judge(span: Span, cuts: Sequence[int]) -> tuple[float, ...]:
        steps = solve_order(tree_of(graph, cuts, ""), drives)
        undecided = sum(step.size[0] for step in steps if not step.determinate)
        return undecided, sum(max(step.size) ** 3 for step in steps), forward_cost(graph, span, cuts)

    found = search(graph, judge)
    steps = solve_order(tree_of(graph, found.cuts, ""), drives)
    sizes = listing(f"{rows}x{columns}" for rows, columns in (step.size for step in steps))
    return tree_of(graph, found.cuts, f"for inverse dynamics, {found.how}: solved {sizes}")


def block_pattern(tree: Tree) -> tuple[tuple[bool, ...], ...]:
    """Loops x subsystems: has J a block J_ij there?"""
    return tuple(tuple(s.index in loop.subsystems for s in tree.subsystems) for loop in tree.loops)


def gicm_pattern(tree: Tree) -> tuple[tuple[frozenset[int], ...], ...]:
    """Loops x loops: the subsystems whose J_ij I_j^-1 J_kj' make up each block of the GICM (empty: no block)."""
    touched = [frozenset(loop.subsystems) for loop in tree.loops]
    return tuple(tuple(a & b for b in touched) for a in touched)


def elimination_order(tree: Tree) -> list[int]:
    """Loops in the order in which eliminating their blocks of the GICM fills least (minimum degree)."""
    touching: list[list[int]] = [[] for _ in tree.subsystems]
    for i, loop in enumerate(tree.loops):
        for s in loop.subsystems:
            touching[s].append(i)
    return eliminate(touching, [loop.rows.stop - loop.rows.start for loop in tree.loops])[0]

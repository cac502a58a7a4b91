"""The internals of a tree as data and as plain text: what `--internals` shows.

Every table is a function that returns a `TextTable` (title, heads, rows of strings); `text` prints it
in ASCII. Numbers of loops and subsystems count from 1, as people do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwright import elements
from linkwright.errors import counted
from linkwright.files.tables import aligned
from linkwright.model.description import Description
from linkwright.topology.cuts import protected_joints
from linkwright.topology.graph import read_graph
from linkwright.topology.solution_order import block_pattern, elimination_order, gicm_pattern, solve_order
from linkwright.topology.tree import Tree

WIDEST = 40  # loops or subsystems up to which patterns are drawn


@dataclass(frozen=True)
class TextTable:
    """A titled table of strings."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Count:
    """The structural count of degrees of freedom: bodies' degrees of freedom less the rows of everything that holds them."""

    bodies: int
    freedoms: int  # 3 or 6 a body
    joint_rows: int
    other_rows: int  # rods, couplings, gears: one each; belts: one for each part

    @property
    def mobility(self) -> int:
        return self.freedoms * self.bodies - self.joint_rows - self.other_rows

    def __str__(self) -> str:
        other = f" - {self.other_rows}" if self.other_rows else ""
        return f"{self.freedoms} x {self.bodies} - {self.joint_rows}{other} = {self.mobility}"


def grubler_count(description: Description) -> Count:
    """Gruebler-Kutzbach: 3n (plane) or 6n (space) less the rows of joints, rods, couplings, gears and belts."""
    graph = read_graph(description)
    return Count(
        len(graph.bodies) - 1,
        3 if description.planar else 6,
        sum(len(size.labels) for size in graph.sizes),
        sum(len(x.labels) for x in elements.constraints(description)),
    )


def grubler(description: Description) -> int:
    """The structural mobility; redundant rows make the true one larger."""
    return grubler_count(description).mobility


def joints_table(tree: Tree) -> TextTable:
    """Bodies and joints: how each joint is used."""
    rows = []
    protected = protected_joints(tree.description)
    for joint in tree.description.joints:
        if joint.name in tree.node_of_joint:
            node = tree.nodes[tree.node_of_joint[joint.name]]
            use = f"carries {node.body}" + (" (against its direction)" if node.reversed else "")
        else:
            use = "cut"
        rows.append((joint.name, joint.type, joint.first, joint.second, use, protected.get(joint.name, "")))
    for body in tree.floating:
        joint = tree.nodes[tree.node_of_body[body]].joint
        rows.append((joint.name, joint.type, joint.first, body, f"carries {body} (implicit)", "floating body"))
    return TextTable("Bodies and joints", ("joint", "type", "first", "second", "in the tree", "reason"), tuple(rows))


def subsystems_table(tree: Tree) -> TextTable:
    rows = tuple((str(s.index + 1), str(s.v.stop - s.v.start), " ".join(s.bodies)) for s in tree.subsystems)
    return TextTable("Subsystems", ("no.", "velocities", "bodies"), rows)


def loops_table(tree: Tree) -> TextTable:
    rows = tuple(
        (str(i + 1), loop.name, loop.kind, " ".join(loop.labels) or "-", " - ".join(loop.joints), _numbers(loop.subsystems))
        for i, loop in enumerate(tree.loops)
    )
    return TextTable("Loops", ("no.", "closed by", "kind", "rows", "circuit", "subsystems"), rows)


def cuts_table(tree: Tree) -> TextTable:
    """The cuts and why: the reason of the choice, and what was not to be cut."""
    rows = tuple((name, tree.description.joint(name).type, str(_rows_of(tree, name))) for name in tree.cuts)
    return TextTable("Cut joints", ("joint", "type", "rows"), rows, tree.reason)


def _rows_of(tree: Tree, name: str) -> int:
    return next(loop.rows.stop - loop.rows.start for loop in tree.loops if loop.name == name and loop.kind == "joint")


def solve_table(tree: Tree, drives: Sequence[str] | None = None) -> TextTable:
    """Inverse dynamics: what is solved when, and the size of each matrix."""
    rows = tuple(
        (
            str(i + 1),
            _numbers(step.subsystems),
            f"{step.size[0]}x{step.size[1]}",
            " ".join(step.unknowns) or "-",
            ("coupled" if step.coupled else "") + ("" if step.determinate else " not square"),
        )
        for i, step in enumerate(solve_order(tree, drives))
    )
    return TextTable("Solve order (inverse dynamics)", ("step", "subsystems", "matrix", "unknowns", "remark"), rows)


def jacobian_table(tree: Tree) -> TextTable:
    """Table of the blocks J_ij of the loop Jacobian that are not zero."""
    heads = ("loop", *(str(s.index + 1) for s in tree.subsystems))
    if max(len(tree.loops), len(tree.subsystems)) > WIDEST:
        listed = tuple((loop.name, _numbers(loop.subsystems)) for loop in tree.loops[:WIDEST])
        return TextTable("Jacobian blocks", ("loop", "subsystems"), listed, _first(tree))
    pattern = zip(tree.loops, block_pattern(tree), strict=True)
    rows = tuple((loop.name, *("J" if block else "." for block in line)) for loop, line in pattern)
    return TextTable("Jacobian blocks (loops x subsystems)", heads, rows)


def gicm_table(tree: Tree) -> TextTable:
    """Table of the subsystems that make up each block of the GICM; the note gives the elimination order."""
    names = [loop.name for loop in tree.loops]
    if len(names) > WIDEST:
        return TextTable("GICM blocks", ("loop",), (), f"{counted(len(names), 'loop')}: too many to draw")
    rows = tuple((name, *(_numbers(sorted(block)) or "." for block in line)) for name, line in zip(names, gicm_pattern(tree), strict=True))
    order = " ".join(names[i] for i in elimination_order(tree))
    note = f"eliminated in the order {order}" if order else ""
    return TextTable("GICM blocks (loops x loops: subsystems that form them)", ("loop", *names), rows, note)


def _first(tree: Tree) -> str:
    return f"the first {WIDEST} of {counted(len(tree.loops), 'loop')}" if len(tree.loops) > WIDEST else ""


def _numbers(subsystems: Sequence[int]) -> str:
    return ",".join(str(s + 1) for s in subsystems)


def tables(tree: Tree, drives: Sequence[str] | None = None) -> list[TextTable]:
    """All tables of a tree, in reading order; those without rows are left out."""
    all_tables = [
        joints_table(tree),
        subsystems_table(tree),
        loops_table(tree),
        cuts_table(tree),
        jacobian_table(tree),
        gicm_table(tree),
        solve_table(tree, drives),
    ]
    return [table for table in all_tables if table.rows or table.note]


def text(table: TextTable) -> str:
    """A table in plain ASCII, columns aligned."""
    lines = [table.heads, *table.rows]
    out = [table.title, "-" * len(table.title)]
    if table.rows:
        out += aligned(lines)
    if table.note:
        out.append(f"({table.note})")
    return "\n".join(out).encode("ascii", "backslashreplace").decode("ascii")


def report(tree: Tree, drives: Sequence[str] | None = None) -> str:
    """Everything about a tree as plain text."""
    count = grubler_count(tree.description)
    head = f"{counted(count.bodies, 'moving body')}, {tree.nv} tree velocities, {tree.nc} rows; structural mobility {count}"
    return "\n\n".join([head, *(text(table) for table in tables(tree, drives))]) + "\n"

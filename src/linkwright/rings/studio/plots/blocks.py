"""The block pattern of the generalized inertia constraint matrix: which loops meet in which subsystems, and what it costs.

gicm(m, "blocks.png")

Left the blocks J_ij of the loop Jacobian (loops x subsystems), right those of J I^-1 J' (loops x loops) in the order of their
elimination; a block is the sum over the subsystems that both loops touch [Koul2013 (15)-(24)].
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from linkwright.api import UsageError, counted, solve_orders, spanning_tree
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, color_of, drawn
from linkwright.rings.studio.plots.subjects import tree_of
from linkwright.rings.studio.style import Theme, mixed
from linkwright.topology.elimination import eliminate, elimination_flops

MOST_LOOPS = 60
MOST_LISTED = 12  # subsystems in the key
NAMED = 16  # loops up to which blocks carry numbers


def gicm(subject: Any, path: Place = None, **paper: Unpack[Paper]) -> Any:
    """Blocks of J and of the GICM, colored by subsystem; hatched: filled in by the elimination."""
    tree = tree_of(subject)
    if not tree.loops:
        raise UsageError(f"'{tree.description.name}' is a tree without loops: it has no GICM.", name=tree.description.name)
    if len(tree.loops) > MOST_LOOPS:
        raise UsageError(f"{len(tree.loops)} loops are too many to draw as blocks. At most {MOST_LOOPS}.")
    order, flops = elimination(tree)

    def make(frame: Frame) -> Any:
        rows = np.array([tree.loops[i].rows.stop - tree.loops[i].rows.start for i in order], dtype=float)
        columns = np.array([s.v.stop - s.v.start for s in tree.subsystems], dtype=float)
        figure, left, right = _sheet(frame, tree, rows, columns)
        _jacobian(left, tree, order, rows, columns, frame.look)
        fills = _constraint_inertia(right, tree, order, rows, frame.look)
        blocks = sum(1 for line in solve_orders.gicm_pattern(tree) for block in line if block)
        dense = sum(elimination_flops(1, rest) for rest in range(int(rows.sum())))
        text = f"GICM: {blocks} of {counted(len(order) ** 2, 'block')}" + (f", {fills} filled in" if fills else "")
        below = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top", "fontsize": 8.0, "linespacing": 1.4}
        left.annotate("J: loops by subsystems", (0.0, 0.0), (0.0, -6.0), **below)
        right.annotate(f"{text}\neliminated in {flops:.0f} operations,\ndense {dense:.0f}", (0.0, 0.0), (0.0, -6.0), **below)
        return figure

    return drawn(make, path, **paper)


def _sheet(frame: Frame, tree: spanning_tree.Tree, rows: np.ndarray, columns: np.ndarray) -> tuple[Any, Any, Any]:
    """A figure with two axes whose blocks have one scale, and the key of the subsystems below; all in inches."""
    unit = float(np.clip(3.6 / max(rows.sum(), columns.sum()), 0.05, 0.32))  # a row
    letters = max(len(loop.name) for loop in tree.loops)
    side, top = 0.2 + 0.075 * letters, 0.32 + (0.075 * letters if _turned(tree) else 0.0) + (0.3 if frame.title else 0.0)
    high, wide = rows.sum() * unit, (columns.sum() * unit, rows.sum() * unit)
    room = (max(wide[0], 1.6), max(wide[1], 2.1))
    foot = 0.95 + 0.17 * min(len(tree.subsystems), MOST_LISTED)
    width, height = 2 * side + sum(room) + 0.3, top + high + foot
    figure = frame.figure(width, height, fixed=True)
    left = figure.add_axes((side / width, foot / height, wide[0] / width, high / height))
    right = figure.add_axes(((2 * side + room[0]) / width, foot / height, wide[1] / width, high / height))
    _legend(figure, tree, frame.look, ((side - 0.1) / width, 0.06 / height))
    return figure, left, right


def _turned(tree: spanning_tree.Tree) -> bool:
    """True if names above the columns are upright, for lack of room."""
    return len(tree.loops) > 2 and max(len(loop.name) for loop in tree.loops) > 4


def elimination(tree: spanning_tree.Tree) -> tuple[list[int], float]:
    """(order of the loops, operations of the block elimination)."""
    touching: list[list[int]] = [[] for _ in tree.subsystems]
    for i, loop in enumerate(tree.loops):
        for s in loop.subsystems:
            touching[s].append(i)
    return eliminate(touching, [loop.rows.stop - loop.rows.start for loop in tree.loops])


def filled(pattern: np.ndarray) -> np.ndarray:
    """Blocks that the elimination in the given order fills in this pattern (symbolic Cholesky)."""
    full = pattern.astype(bool).copy()
    for k in range(len(full)):
        later = np.flatnonzero(full[k, k + 1 :]) + k + 1
        full[np.ix_(later, later)] = True
    return full


def _jacobian(axes: Any, tree: spanning_tree.Tree, order: list[int], rows: np.ndarray, columns: np.ndarray, look: Theme) -> None:
    _board(axes, rows, columns, look)
    for a, i in enumerate(order):
        for s in tree.loops[i].subsystems:
            _cell(axes, rows, columns, a, s, (s,), look)
    _names(axes, [tree.loops[i].name for i in order], rows, [str(s.index + 1) for s in tree.subsystems], columns)


def _constraint_inertia(axes: Any, tree: spanning_tree.Tree, order: list[int], rows: np.ndarray, look: Theme) -> int:
    """Draw the GICM; how many blocks the elimination fills in."""
    _board(axes, rows, rows, look)
    pattern = solve_orders.gicm_pattern(tree)
    sums = [[tuple(sorted(pattern[i][j])) for j in order] for i in order]
    full = filled(np.array([[bool(x) for x in line] for line in sums]))
    for a, line in enumerate(sums):
        for b, parts in enumerate(line):
            if parts:
                _cell(axes, rows, rows, a, b, parts, look)
            elif full[a, b]:
                _fill(axes, rows, a, b, look)
    names = [tree.loops[i].name for i in order]
    _names(axes, names, rows, names, rows, _turned(tree))
    return int(full.sum()) - sum(1 for line in sums for parts in line if parts)


def _board(axes: Any, rows: np.ndarray, columns: np.ndarray, look: Theme) -> None:
    axes.set_xlim(0.0, columns.sum())
    axes.set_ylim(rows.sum(), 0.0)
    axes.set_aspect("equal")
    axes.grid(False)
    for y in np.concatenate([[0.0], np.cumsum(rows)]):
        axes.axhline(y, color=look.faint, lw=0.5, zorder=1)
    for x in np.concatenate([[0.0], np.cumsum(columns)]):
        axes.axvline(x, color=look.faint, lw=0.5, zorder=1)
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(look.faint)


def _box(rows: np.ndarray, columns: np.ndarray, a: int, b: int) -> tuple[float, float, float, float]:
    """x, y, width, height of a block, a little inside its lines."""
    gap = 0.06
    return float(columns[:b].sum()) + gap, float(rows[:a].sum()) + gap, float(columns[b]) - 2 * gap, float(rows[a]) - 2 * gap


def _cell(axes: Any, rows: np.ndarray, columns: np.ndarray, a: int, b: int, parts: tuple[int, ...], look: Theme) -> None:
    """A block in stripes of its subsystems' colors, their numbers inside."""
    from matplotlib.patches import Rectangle

    x, y, w, h = _box(rows, columns, a, b)
    for k, s in enumerate(parts):
        fill = mixed(color_of(s), look.paper, look.lighten)
        axes.add_patch(Rectangle((x + k * w / len(parts), y), w / len(parts), h, fc=fill, ec="none", zorder=2))
        if len(rows) <= NAMED and len(columns) <= NAMED and len(parts) <= 4:
            at = (x + (k + 0.5) * w / len(parts), y + 0.5 * h)
            axes.text(*at, str(s + 1), ha="center", va="center_baseline", fontsize=7.0, color=look.paper, weight="bold", zorder=3)


def _fill(axes: Any, rows: np.ndarray, a: int, b: int, look: Theme) -> None:
    from matplotlib.patches import Rectangle

    x, y, w, h = _box(rows, rows, a, b)
    axes.add_patch(Rectangle((x, y), w, h, fc="none", ec=look.faint, hatch="////", lw=0.0, zorder=2))


def _names(axes: Any, loops: list[str], rows: np.ndarray, tops: list[str], columns: np.ndarray, turned: bool = False) -> None:
    small = 7.5 if len(loops) <= NAMED else 5.5
    axes.set_yticks(np.cumsum(rows) - 0.5 * rows, loops, fontsize=small, parse_math=False)
    axes.set_xticks(np.cumsum(columns) - 0.5 * columns, tops, fontsize=small, rotation=90 if turned else 0, parse_math=False)
    axes.tick_params(length=0.0, top=False, labeltop=True, bottom=False, labelbottom=False)


def _legend(figure: Any, tree: spanning_tree.Tree, look: Theme, corner: tuple[float, float]) -> None:
    """The subsystems with their bodies, below."""
    from matplotlib.patches import Patch

    shown = tree.subsystems[:MOST_LISTED]
    texts = [f"{s.index + 1}   {_some(s.bodies)}" for s in shown]
    patches = [Patch(fc=mixed(color_of(s.index), look.paper, look.lighten), ec="none") for s in shown]
    place = {"loc": "lower left", "bbox_to_anchor": corner, "borderaxespad": 0.0, "borderpad": 0.0, "alignment": "left"}
    made = figure.legend(patches, texts, fontsize=7.5, handlelength=1.0, handleheight=0.9, title="subsystems", title_fontsize=8, **place)
    for text in made.get_texts():
        text.set_parse_math(False)


def _some(bodies: tuple[str, ...]) -> str:
    return ", ".join(bodies[:5]) + (f" and {len(bodies) - 5} more" if len(bodies) > 5 else "")

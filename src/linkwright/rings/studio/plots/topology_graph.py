"""The topology of a mechanism as a graph: bodies by subsystem, joints of the tree, cuts, rods, couplings, drives, ground.

topology(m, "topology.png")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from linkwright.api import JOINTS, Description, Joint, UsageError, elements, is_hinge, spanning_tree
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, color_of, drawn
from linkwright.rings.studio.plots.graph_layout import HEIGHT, LAYER, Box, Layout, Link
from linkwright.rings.studio.plots.subjects import tree_of
from linkwright.rings.studio.style import DRIVEN, Theme, mixed

FOOT = 12.0  # y of the ground line
DASHES: dict[str, Any] = {"tree": "-", "cut": (0, (4.5, 2.5)), "closing": (0, (7, 2, 1.5, 2)), "holding": (0, (1, 1.6))}
LETTER = 0.61  # width of a letter as a share of the font's size


@dataclass(frozen=True)
class Edge:
    """A joint or another connection of two bodies; -1 is ground."""

    name: str
    kind: str  # tree, cut, closing (an element that closes a loop), holding (another one that joins bodies)
    type: str  # written beside the name; "" for hinges and what closes a loop
    a: int
    b: int
    driven: bool


def edges_of(tree: spanning_tree.Tree) -> list[Edge]:
    """Everything that connects bodies: joints of the tree, cut ones, rods, and cylinders that drive."""
    d, node = tree.description, tree.node_of_body
    drives = {x.joint for x in d.drives}
    out = [
        Edge(j.name, "cut" if j.name in tree.cuts else "tree", _type(j), node[j.first], node[j.second], j.name in drives)
        for j in d.joints
        if j.name in tree.cuts or j.name in tree.node_of_joint
    ]
    for x in (x for x in elements.every(d) if x.joins):
        (a, b), (kind, type_) = x.body_pairs[0], ("closing", "") if x.constraint else ("holding", x.word)
        out.append(Edge(x.name, kind, type_, node[a], node[b], x.name in drives))
    return out


def _type(joint: Joint) -> str:
    return "" if is_hinge(JOINTS[joint.type]) else joint.type


def topology(subject: Any, path: Place = None, **paper: Unpack[Paper]) -> Any:
    """Bodies as boxes in the colors of their subsystems, joints as lines: dashed where the tree is cut."""
    tree = tree_of(subject)
    most_bodies = 80
    if len(tree.nodes) > most_bodies:
        raise UsageError(f"{len(tree.nodes)} bodies are too many to draw as a graph; at most {most_bodies}.")
    if not tree.nodes:
        raise UsageError("there is no moving body, so there is no graph.")

    def make(frame: Frame) -> Any:
        return GraphDrawing(tree, frame).figure()

    return drawn(make, path, **paper)


def _floats(tree: spanning_tree.Tree, n: spanning_tree.Node) -> bool:
    """True for a body that is drawn above its neighbors instead of on the ground."""
    return n.body in tree.floating or (n.parent < 0 and JOINTS[n.joint.type].floats)


class GraphDrawing:
    """One graph on paper, in points."""

    def __init__(self, tree: spanning_tree.Tree, frame: Frame):
        self.tree, self.frame, self.look = tree, frame, frame.look
        self.edges = edges_of(tree)
        boxes = [Box(n.body, n.parent, _floats(tree, n), LETTER * 8.5 * len(n.body) + 16.0) for n in tree.nodes]
        self.layout = Layout(boxes, [Link(e.a, e.b) for e in self.edges if e.kind != "tree"])
        self.boxes = self.layout.boxes
        self.curves: list[np.ndarray] = []
        self.middles: dict[str, np.ndarray] = {}
        self.taken: list[tuple[np.ndarray, np.ndarray]] = []  # boxes of labels: low, high

    def figure(self) -> Any:
        low, high = self._window()
        w, h = (high - low) / 72.0
        figure = self.frame.figure(float(w), float(h) + (0.3 if self.frame.title else 0.0))
        self.axes = figure.add_subplot()
        self.axes.set_axis_off()
        self.axes.set_xlim(low[0], high[0])
        self.axes.set_ylim(low[1], high[1])
        self.axes.set_aspect("equal")
        self._ground()
        self._edges()
        self._relations()
        for i, box in enumerate(self.boxes):
            self._body(box, self.tree.nodes[i].subsystem)
        self._key()
        return figure

    def _window(self) -> tuple[np.ndarray, np.ndarray]:
        left = min(b.x - 0.5 * b.width for b in self.boxes) - 46.0
        right = max(b.x + 0.5 * b.width for b in self.boxes) + 46.0
        short = max(0.0, 330.0 - (right - left))  # room for the key
        top = max(b.y for b in self.boxes) + 0.5 * HEIGHT + 12.0
        return np.array([left - 0.5 * short, FOOT - 60.0]), np.array([right + 0.5 * short, top])

    # ---------------------------------------------------------------- bodies and ground

    def _body(self, box: Box, subsystem: int) -> None:
        from matplotlib.patches import FancyBboxPatch

        color = color_of(subsystem)
        fill, edge = mixed(color, self.look.paper, 0.72), mixed(color, self.look.ink, 0.25)
        corner = (box.x - 0.5 * box.width + 5.0, box.y - 0.5 * HEIGHT + 5.0)
        style = "round,pad=5,rounding_size=6"
        self.axes.add_patch(FancyBboxPatch(corner, box.width - 10.0, HEIGHT - 10.0, boxstyle=style, fc=fill, ec=edge, lw=1.3, zorder=10))
        self.axes.text(box.x, box.y, box.name, ha="center", va="center_baseline", fontsize=8.5, zorder=11, parse_math=False)

    def _ground(self) -> None:
        feet = [b for b in self.boxes if b.layer == 1]
        left = min((b.x - 0.5 * b.width for b in feet), default=0.0) - 14.0
        right = max((b.x + 0.5 * b.width for b in feet), default=80.0) + 14.0
        self._hatched(left, right, FOOT)
        name = self.tree.description.bodies[0].name
        self.axes.text(right + 5.0, FOOT - 2.0, name, fontsize=8.0, color=self.look.faint, va="center", parse_math=False)

    def _hatched(self, left: float, right: float, y: float) -> None:
        from matplotlib.collections import LineCollection

        self.axes.plot([left, right], [y, y], color=self.look.faint, lw=1.6, solid_capstyle="butt", zorder=3)
        strokes = [[(x, y), (x - 5.0, y - 6.0)] for x in np.arange(left + 5.0, right + 0.1, 6.0)]
        self.axes.add_collection(LineCollection(strokes, colors=[self.look.faint], linewidths=0.8, zorder=3))

    # ---------------------------------------------------------------- edges

    def _edges(self) -> None:
        order = list(DASHES)
        runs: list[tuple[Edge, np.ndarray]] = []
        for e in sorted(self.edges, key=lambda e: (-1 in (e.a, e.b), order.index(e.kind))):
            curve = self._stub(max(e.a, e.b)) if -1 in (e.a, e.b) else self.layout.route(e.a, e.b, self.curves)
            self.curves.append(curve)
            runs.append((e, curve))
        for e, curve in runs:
            self._line(e, curve)
        for e, curve in runs:
            self._label(e, curve)

    def _stub(self, body: int) -> np.ndarray:
        """Down to the ground; from an upper layer to a ground of its own, at the first place that is free."""
        box = self.boxes[body]
        down = [(share * box.width, 0.0) for share in (0.0, -0.22, 0.22, -0.34, 0.34, -0.12, 0.12)]
        beside = [(0.5 * box.width + 22.0, 1.0), (-0.5 * box.width - 22.0, 1.0)]
        best, least = np.zeros((0, 2)), np.inf
        for k, (aside, elbow) in enumerate([*down, *beside]):
            for end in [FOOT] if box.layer == 1 else [FOOT, box.y - 0.6 * LAYER]:
                line = np.column_stack([np.full(33, box.x + aside), np.linspace(box.y, end, 33)])
                line = np.vstack([[box.x, box.y], line]) if elbow else line
                cost = 20.0 * self.layout.behind(line, (body, body)) + 8.0 * sum(_near(line, c) for c in self.curves)
                cost += 0.2 * k + 2.0 * elbow + (0.1 if end > FOOT else 0.0)
                if cost < least:
                    best, least = line, cost
        if best[-1, 1] > FOOT:
            self._hatched(float(best[-1, 0]) - 9.0, float(best[-1, 0]) + 9.0, float(best[-1, 1]))
        return best

    def _line(self, e: Edge, curve: np.ndarray) -> None:
        color = DRIVEN if e.driven else self.look.ink if e.kind == "tree" else self.look.accent if e.kind != "holding" else self.look.faint
        self.axes.plot(curve[:, 0], curve[:, 1], color=color, lw=2.0 if e.driven else 1.4, ls=DASHES[e.kind], zorder=5)

    def _label(self, e: Edge, curve: np.ndarray) -> None:
        text = f"{e.name} {e.type}".strip()
        half = np.array([0.5 * LETTER * 7.5 * len(text) + 3.0, 6.0])
        visible = np.array([not any(abs(p[0] - b.x) < 0.5 * b.width and abs(p[1] - b.y) < 0.5 * HEIGHT for b in self.boxes) for p in curve])
        places = curve[visible] if visible.any() else curve
        share = np.abs(np.linspace(-1.0, 1.0, len(places)))  # away from the middle
        sides = np.array([[0.0, 0.0], [0.0, 9.0], [0.0, -9.0], [0.0, 18.0], [half[0] + 2.0, 0.0], [-half[0] - 2.0, 0.0]])
        tries = (places[:, None] + sides[None]).reshape(-1, 2)
        cost = (0.2 * share[:, None] + 0.35 * (np.arange(len(sides)) > 0)[None]).ravel() + self._crowd(tries, half, curve)
        at = tries[int(np.argmin(np.round(cost, 6)))]
        self.middles[e.name] = at
        self.taken.append((at - half, at + half))
        color = DRIVEN if e.driven else self.look.accent if e.kind in ("cut", "closing") else self.look.ink
        box = {"boxstyle": "round,pad=0.12", "fc": self.look.paper, "ec": "none"}
        weight = "bold" if e.driven else "normal"
        self.axes.text(
            *at, text, ha="center", va="center_baseline", fontsize=7.5, color=color, weight=weight, bbox=box, zorder=8, parse_math=False
        )

    def _crowd(self, at: np.ndarray, half: np.ndarray, own: np.ndarray) -> np.ndarray:
        """(n,): labels, bodies and other edges that a label at each of these places would cover."""
        size = [np.array([0.5 * b.width, 0.5 * HEIGHT]) for b in self.boxes]
        bodies = [(np.array([b.x, b.y]) - h, np.array([b.x, b.y]) + h, 6.0) for b, h in zip(self.boxes, size, strict=True)]
        low, high = at - half, at + half
        cost = np.zeros(len(at))
        for a, b, weight in [*bodies, *((a, b, 4.0) for a, b in self.taken)]:
            shared = np.maximum(np.minimum(high, b) - np.maximum(low, a), 0.0)
            cost += weight * shared[:, 0] * shared[:, 1] / (4.0 * half[0] * half[1])
        for curve in self.curves:
            if curve is not own:
                cost += 0.5 * np.all(np.abs(curve[None] - at[:, None]) < half, axis=2).any(axis=1)
        return cost

    def _relations(self) -> None:
        """Couplings, gears and belts tie joints: a dotted line between their names."""
        d: Description = self.tree.description
        for thing in d.ties:
            first = next(iter(thing.joints), "")
            for other in thing.joints:
                if other == first or not {first, other} <= set(self.middles):
                    continue
                p, q = self.middles[first], self.middles[other]
                self.axes.plot([p[0], q[0]], [p[1], q[1]], color=self.look.accent, lw=1.3, ls=(0, (1, 1.6)), zorder=6)
                box = {"boxstyle": "round,pad=0.12", "fc": self.look.paper, "ec": "none"}
                style = {"fontsize": 7.5, "color": self.look.accent, "ha": "center", "va": "center_baseline", "zorder": 8}
                self.axes.text(*(0.5 * (p + q)), thing.name, bbox=box, parse_math=False, **style)

    # ---------------------------------------------------------------- key

    def _key(self) -> None:
        """Legend of lines and colors, in two rows below the ground."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        kinds = {e.kind for e in self.edges}
        look = self.look
        lines: list[tuple[Any, str]] = [(Line2D([], [], color=look.ink, lw=1.4), "joint of the tree")]
        lines += [(Line2D([], [], color=look.accent, lw=1.4, ls=DASHES["cut"]), "cut joint")] if "cut" in kinds else []
        named = ", ".join(dict.fromkeys(x.word for x in elements.constraints(self.tree.description) if x.joins))
        lines += [(Line2D([], [], color=look.accent, lw=1.4, ls=DASHES["closing"]), named)] if "closing" in kinds else []
        lines += [(Line2D([], [], color=DRIVEN, lw=2.0), "driven")] if any(e.driven for e in self.edges) else []
        shown = self.tree.subsystems[:10]
        boxes = [(_swatch(look, s.index, Patch), f"subsystem {s.index + 1}" if s.index == 0 else str(s.index + 1)) for s in shown]
        style = {"loc": "lower center", "fontsize": 7.5, "columnspacing": 1.2, "handletextpad": 0.5, "borderaxespad": 0.0}
        for items, y, length in ((lines, 15.0, 2.2), (boxes, 0.0, 1.4)):
            at = (0.5, y / float(np.ptp(self.axes.get_ylim())))
            made = self.axes.legend(*zip(*items, strict=True), bbox_to_anchor=at, ncols=len(items), handlelength=length, **style)
            self.axes.add_artist(made)


def _swatch(look: Theme, index: int, patch: Any) -> Any:
    color = color_of(index)
    return patch(fc=mixed(color, look.paper, 0.72), ec=mixed(color, look.ink, 0.25), lw=1.0)


def _near(line: np.ndarray, curve: np.ndarray) -> bool:
    return bool((np.linalg.norm(line[4:, None] - curve[None, 4:-4], axis=2) < 9.0).any())

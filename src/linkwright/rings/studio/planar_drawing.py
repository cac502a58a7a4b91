"""Drawing a planar scene: bodies as rounded bars and plates, pins, ground, guides, springs, drives, traces."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from linkwright.api import Instant, Pose, unit_of
from linkwright.rings.studio.applied_loads import applied_loads, largest_loads
from linkwright.rings.studio.paper_sheet import BAND, Sheet, nice_length
from linkwright.rings.studio.scene import Arrow, Scene, SceneGuide, SceneLine, Stage, Telescope
from linkwright.rings.studio.scene_belts import SceneBelt
from linkwright.rings.studio.scene_cams import SceneCam
from linkwright.rings.studio.scene_contacts import SceneOutline, touching
from linkwright.rings.studio.shading import outline_path
from linkwright.rings.studio.style import DRIVEN, PALETTE, Theme, mixed


def colors(scene: Scene) -> dict[str, str]:
    """A color for every body; the driven ones share the drive's."""
    bodies = [b.name for b in scene.description.moving]
    others = [b for b in bodies if b not in scene.driven]
    out = {b: PALETTE[i % len(PALETTE)] for i, b in enumerate(others)}
    for barrel, rod in (t.bodies for t in scene.telescopes if t.bodies[0]):
        color = DRIVEN if {barrel, rod} & scene.driven else out[barrel]
        out[barrel] = out[rod] = color
    found = {b: out.get(b, DRIVEN) for b in bodies}
    links = {b.name: scene.shown_body(b.name) for b in scene.description.bodies[1:] if b.chain}
    return {**found, **{link: found.get(b, PALETTE[8]) for link, b in links.items()}}


def drawn_bodies(scene: Scene) -> list[str]:
    """Names for the legend: bodies that show as bars, plates or blocks of a guide, those of a telescope as one."""
    pairs = {t.bodies[0]: " + ".join(t.bodies) for t in scene.telescopes if t.bodies[0]}
    sliding = [g.block for g in scene.guides if not g.turns and g.block >= 0] if scene.description.planar else []
    blocks = {scene.skel.tree.nodes[node].body for node in sliding}
    wheels = {c.disc for c in scene.cams} | {body for belt in scene.belts for body in belt.bodies if body}
    shown = {*pairs, *(p.body for p in scene.pieces), *blocks, *scene.covered, *wheels} - {scene.description.bodies[0].name}
    return [pairs.get(b.name, b.name) for b in scene.description.bodies if b.name in shown and not b.chain]


class PlanarDrawing:
    """One planar drawing: `paint` draws the scene at an instant onto a sheet."""

    def __init__(self, scene: Scene, width: float):
        self.scene = scene
        self.width = width  # of a bar, points
        self.colors = colors(scene)
        self.largest: tuple[float, float] | None = None  # force and moment of the loads, once they are drawn

    def paint(self, sheet: Sheet, at: Instant, traces: list[tuple[str, np.ndarray]], labels: bool, steady: bool = False) -> None:
        """`steady`: drive arrows keep the side they have at the start, for frames of an animation."""
        stage = Stage(self.scene.skel, at)
        self.calm = Stage(self.scene.skel, self.scene.start) if steady else stage
        for body, path in traces:
            sheet.line(path, color=self.edge(sheet, body), lw=1.1, zorder=36, solid_capstyle="round")
            sheet.remember(path[:: max(1, len(path) // 40)])
        self._ground(sheet, stage)
        for guide in self.scene.guides:
            self._guide(sheet, stage, guide)
        for wheel in self.scene.wheels:
            self._circle(
                sheet, stage.spot(wheel.spot), wheel.radius, lw=1.0, ls=(0, (8, 3, 1.5, 3)), ec=sheet.look.ink, fill=False, zorder=16
            )
        for cam in self.scene.cams:
            self._cam(sheet, stage, cam)
        for belt in self.scene.belts:
            draw_belt(sheet, stage, belt, self.colors)
        self._bodies(sheet, stage)
        for outline in self.scene.outlines:
            self._outline(sheet, stage, outline)
        for line in (x for x in self.scene.lines if x.name not in self.scene.absent):
            self._line(sheet, stage, line)
        for telescope in self.scene.telescopes:
            self._telescope(sheet, stage, telescope)
        self._pins(sheet, stage)
        self._touches(sheet, at)
        for arrow in self.scene.arrows:
            self._arrow(sheet, stage, arrow, labels)
        self._loads(sheet, at, labels)
        if labels:
            self._labels(sheet, stage)

    def _cam(self, sheet: Sheet, stage: Stage, cam: SceneCam) -> None:
        """The disc by its profile (a groove by both sides), the roller or the face in the follower's color."""
        from matplotlib.patches import Polygon

        profile, edge = stage.place(cam.node, cam.profile), self.edge(sheet, cam.disc)
        if cam.outer is not None:
            outer = stage.place(cam.node, cam.outer)
            sheet.add(Polygon(outer[:, :2], closed=cam.closed, fc="none", ec=edge, lw=1.4, zorder=8.0))
            sheet.remember(outer, 0.0, cam.closed)
        web = mixed(self.colors[cam.disc], sheet.look.paper, 0.62)
        sheet.add(Polygon(profile[:, :2], closed=cam.closed, fc=web if cam.closed else "none", ec=edge, lw=1.4, zorder=8.1))
        sheet.remember(profile, 0.0, cam.closed)
        follower = self.edge(sheet, cam.follower)
        if cam.face is not None:
            sheet.line(stage.place(cam.follower_node, cam.face), color=follower, lw=3.0, solid_capstyle="round", zorder=25.0)
        if cam.roller is not None:
            center = stage.place(cam.follower_node, cam.roller[0])
            self._circle(sheet, center, cam.radius, lw=1.4, ec=follower, fc=self.fill(sheet, cam.follower), zorder=19.0)

    def _touches(self, sheet: Sheet, at: Instant) -> None:
        """Places where surfaces touch, with the force on the first; a ring where it sticks."""
        forces, longest, dust = self.scene.touch_forces, 40.0, 1e-6  # points of the largest; share of it that is no arrow
        for x in touching(at, self.scene.size, self.scene.pushes):
            r, size = 0.24 * self.width * sheet.pt, float(np.linalg.norm(x.force))
            if forces is not None and size > dust * forces.largest:
                along = x.force[:2] / forces.largest * longest * sheet.pt
                self._headed(sheet, np.linspace(x.at[:2], x.at[:2] + along, 8), False, load_color(sheet.look))
            self._circle(sheet, x.at, r, fc=sheet.look.accent, ec=sheet.look.paper, lw=0.8, zorder=42)
            if x.sticks:
                self._circle(sheet, x.at, 2.0 * r, fc="none", ec=sheet.look.accent, lw=1.2, zorder=42)

    def _outline(self, sheet: Sheet, stage: Stage, x: SceneOutline) -> None:
        """A surface that may touch others: a thin line, hatched where it is a wall."""
        points, color = stage.place(x.node, x.points), self.edge(sheet, x.body)
        path = np.vstack([points, points[:1]]) if x.closed else points
        sheet.line(path, color=color, lw=1.1, solid_capstyle="round", zorder=33.0)
        if x.wall:
            for foot, end in hatch(points[:, :2], 9.0 * sheet.pt, 5.5 * sheet.pt):
                sheet.line(np.array([foot, end]), color=color, lw=0.7, zorder=32.9)
        if not x.wall or len(points) > 2:
            sheet.remember(path, 0.0)

    # ---------------------------------------------------------------- bodies

    def fill(self, sheet: Sheet, body: str) -> tuple[float, float, float]:
        return mixed(self.colors[body], sheet.look.paper, sheet.look.lighten)

    def edge(self, sheet: Sheet, body: str) -> tuple[float, float, float]:
        return mixed(self.colors.get(body, sheet.look.faint), sheet.look.ink, 0.55)

    def _bodies(self, sheet: Sheet, stage: Stage) -> None:
        """Webs of plates, then outlines of the whole body, then its fill, so that bars of one body grow together."""
        from matplotlib.patches import Polygon

        ground = self.scene.description.bodies[0].name
        self._surfaces(sheet, stage, ground, 12.0)
        order = list(dict.fromkeys([*(p.body for p in self.scene.pieces), *(s.body for s in self.scene.surfaces)]))
        for k, body in enumerate(b for b in order if b != ground):
            if body in self.scene.covered:
                self._surfaces(sheet, stage, body, 20 + k * 0.1)
                continue
            own = [p for p in self.scene.pieces if p.body == body]
            for p in (x for x in own if x.solid):
                self._solid(sheet, stage.place(p.node, p.points), body, 20 + k * 0.1)
            pieces = [(stage.place(p.node, p.points), p.closed) for p in own if not p.solid]
            for points, _ in [piece for piece in pieces if piece[1]]:
                web = mixed(self.colors[body], sheet.look.paper, 0.62)
                sheet.add(Polygon(points[:, :2], closed=True, fc=web, ec="none", alpha=0.9, zorder=20 + k * 0.1))
            for layer, (extra, color) in enumerate(((1.8, self.edge(sheet, body)), (0.0, self.fill(sheet, body)))):
                for points, closed in pieces:
                    self._bar(sheet, points, closed, self.width + extra, color, 20 + k * 0.1 + layer * 0.05)
            for points, closed in pieces:
                sheet.remember(points, self.width, closed)

    def _solid(self, sheet: Sheet, points: np.ndarray, body: str, z: float) -> None:
        """A plate that is filled up to its rim."""
        from matplotlib.patches import Polygon

        look: Any = {"fc": self.fill(sheet, body), "ec": self.edge(sheet, body), "lw": 1.0, "joinstyle": "round"}
        sheet.add(Polygon(points[:, :2], closed=True, zorder=z, **look))
        sheet.remember(points, 0.0, True)

    def _surfaces(self, sheet: Sheet, stage: Stage, body: str, z: float) -> None:
        """Outlines of a body's surfaces: their lines, then the fill, so that shapes of one body grow together."""
        from matplotlib.patches import PathPatch

        parts = [s for s in self.scene.surfaces if s.body == body and s.lines]
        for layer in range(2):
            for s in parts:
                color = s.color or self.colors.get(body, sheet.look.faint)
                placed = [stage.place(s.node, line) for line in s.lines]
                fill, edge = mixed(color, sheet.look.paper, sheet.look.lighten), mixed(color, sheet.look.ink, 0.55)
                look: Any = {"fc": fill, "ec": fill, "lw": 0.2} if layer else {"fc": "none", "ec": edge, "lw": 1.9}
                path = outline_path([p[:, :2] for p in placed])
                sheet.add(PathPatch(path, joinstyle="round", zorder=z + 0.05 * layer, **look))
                if layer:
                    sheet.remember(placed[0], 0.0, True)

    def _bar(self, sheet: Sheet, points: np.ndarray, closed: bool, width: float, color: Any, z: float) -> None:
        points = np.vstack([points, points[:2]]) if closed else points
        sheet.line(points, color=color, lw=width, solid_capstyle="round", solid_joinstyle="round", zorder=z)

    def _telescope(self, sheet: Sheet, stage: Stage, t: Telescope) -> None:
        a, b = (stage.spot(e) for e in t.ends)
        length = float(np.linalg.norm(b - a)) or 1.0
        d, short = (b - a) / length, min(t.barrel, 0.85 * length)
        look, w = sheet.look, self.width
        color = self.colors.get(t.bodies[0], PALETTE[8])
        edge, fill = mixed(color, look.ink, 0.55), mixed(color, look.paper, look.lighten)
        rod = np.array([a + 0.5 * short * d, b])
        sheet.line(rod, color=edge, lw=0.42 * w + 1.8, solid_capstyle="round", zorder=24.0)
        sheet.line(rod, color=mixed(color, look.paper, 0.75), lw=0.42 * w, solid_capstyle="round", zorder=24.1)
        barrel = np.array([a, a + short * d])
        sheet.line(barrel, color=edge, lw=w + 3.2, solid_capstyle="butt", zorder=24.2)
        inner = barrel + np.outer([1.0, -1.0], d) * 0.9 * sheet.pt
        sheet.line(inner, color=fill, lw=w + 1.4, solid_capstyle="butt", zorder=24.3)
        sheet.remember(np.array([a, b]), w + 3.0)

    def _line(self, sheet: Sheet, stage: Stage, line: SceneLine) -> None:
        a, b = (stage.spot(e) for e in line.ends)
        sheet.remember(np.array([a, b]))
        w, ink = self.width * sheet.pt, sheet.look.ink
        if line.looks.shape == "ring":  # rubber between an outer and an inner sleeve
            self._circle(sheet, 0.5 * (a + b), 1.15 * w, fc=mixed(ink, sheet.look.paper, 0.25), ec=ink, lw=1.2, zorder=39)
            self._circle(sheet, 0.5 * (a + b), 0.62 * w, fc=sheet.look.paper, ec=ink, lw=1.2, zorder=39.1)
        if line.looks.shape == "coil":
            sheet.line(coil(a, b, 0.55 * w), color=ink, lw=1.4, zorder=24, solid_joinstyle="round")
            return
        if line.looks.shape == "rope":
            for side in (1.0, -1.0):
                sheet.line(strand(a, b, side * 0.2 * w, 1.6 * w), color=ink, lw=line.looks.width, zorder=24, solid_joinstyle="round")
            return
        dashes = (0, line.looks.dashes) if line.looks.dashes else "-"
        sheet.line(np.array([a, b]), color=ink, lw=line.looks.width, ls=dashes, zorder=19)

    # ---------------------------------------------------------------- joints

    def _circle(self, sheet: Sheet, at: np.ndarray, radius: float, **options: Any) -> None:
        from matplotlib.patches import Circle

        sheet.add(Circle((float(at[0]), float(at[1])), radius, **options))

    def _pins(self, sheet: Sheet, stage: Stage) -> None:
        r = 0.36 * self.width * sheet.pt
        for pin in self.scene.pins:
            self._circle(sheet, stage.spot(pin.spot), r, fc=sheet.look.paper, ec=sheet.look.ink, lw=1.3, zorder=40)
        for body, _, spot in self.scene.marks:
            self._circle(
                sheet, stage.spot(spot), 0.30 * self.width * sheet.pt, fc=self.edge(sheet, body), ec=sheet.look.paper, lw=0.9, zorder=41
            )

    def _ground(self, sheet: Sheet, stage: Stage) -> None:
        """A bearing block on hatched ground under every pin that is fixed."""
        from matplotlib.patches import Polygon

        down = self._down()
        across = np.array([-down[1], down[0]])
        w, pt = max(self.width, 7.0), sheet.pt
        for pin in self.scene.pins:
            if not pin.grounded:
                continue
            p = stage.spot(pin.spot)[:2]
            foot = p + down * 1.55 * w * pt
            corners = np.array(
                [p + across * 0.55 * w * pt, p - across * 0.55 * w * pt, foot - across * 0.95 * w * pt, foot + across * 0.95 * w * pt]
            )
            fill = mixed(sheet.look.faint, sheet.look.paper, 0.55)
            sheet.add(Polygon(corners, closed=True, fc=fill, ec=sheet.look.faint, lw=1.1, joinstyle="round", zorder=10))
            self._hatched(sheet, np.array([foot - across * 1.5 * w * pt, foot + across * 1.5 * w * pt]), np.array([down, down]))
            sheet.remember(np.array([foot - across * w * pt, foot + across * w * pt]))

    def _down(self) -> np.ndarray:
        g = self.scene.skel.gravity[:2]
        size = float(np.linalg.norm(g))
        return g / size if size > 0.0 else np.array([0.0, -1.0])

    def _hatched(self, sheet: Sheet, path: np.ndarray, sides: np.ndarray) -> None:
        """A line with short strokes on one side, which is given at each of its points: a part that does not move."""
        from matplotlib.collections import LineCollection

        color, pt = sheet.look.faint, sheet.pt
        lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
        way = np.concatenate([[0.0], np.cumsum(lengths)])
        sheet.line(path, color=color, lw=1.3, zorder=9)
        strokes = []
        for s in np.arange(1.5 * pt, way[-1], 4.2 * pt):
            k = int(np.searchsorted(way, s)) - 1
            d = (path[k + 1] - path[k]) / lengths[k]
            at = path[k] + (s - way[k]) * d
            strokes.append((at, at + (sides[k] - 0.8 * d) * 3.6 * pt))
        sheet.axes.add_collection(LineCollection(strokes, colors=[color], linewidths=0.8, zorder=9))

    def _guide(self, sheet: Sheet, stage: Stage, g: SceneGuide) -> None:
        """A rail with its block, or a slot with its pin."""
        X = stage.pose(g.node) @ g.frame
        w, pt = self.width, sheet.pt
        path = (g.extended(2.2 * w * pt) @ X.R.T + X.p)[:, :2]
        if g.node < 0:
            normals, fall = _normals(path), float(_normals(path)[0] @ self._down())
            normals = normals if fall > 1e-9 or (abs(fall) <= 1e-9 and normals[0, 0] < 0) else -normals
            offset = 0.78 * w * pt * normals
            self._hatched(sheet, path + offset, normals)
            self._hatched(sheet, (path - offset)[::-1], -normals[::-1])
        else:
            body = self.scene.skel.tree.nodes[g.node].body
            layers = ((w + 1.8, self.edge(sheet, body), 19.0), (w, self.fill(sheet, body), 30.9))
            layers += ((0.5 * w + 1.6, self.edge(sheet, body), 31.0), (0.5 * w, sheet.look.paper, 31.1))
            for width, color, z in layers:
                sheet.line(path, color=color, lw=width, solid_capstyle="round", zorder=z)
        sheet.remember(path, w)
        if not g.turns or g.node < 0:
            self._block(sheet, stage, g, X)

    def _block(self, sheet: Sheet, stage: Stage, g: SceneGuide, X: Pose) -> None:
        from matplotlib.patches import Polygon

        place = (stage.pose(g.block) @ g.block_frame).p
        at, x = place[:2], (X.R @ g.tangent((place - X.p) @ X.R))[:2]
        w, pt = self.width, sheet.pt
        y = np.array([-x[1], x[0]])
        corners = [at + x * sx * 1.35 * w * pt + y * sy * 0.66 * w * pt for sx, sy in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
        body = self.scene.skel.tree.nodes[g.block].body if g.block >= 0 else ""
        fill = self.fill(sheet, body) if body and not g.turns else mixed(sheet.look.faint, sheet.look.paper, 0.5)
        sheet.add(Polygon(corners, closed=True, fc=fill, ec=sheet.look.ink, lw=1.2, joinstyle="round", zorder=18 if g.node < 0 else 31.2))

    # ---------------------------------------------------------------- drives and names

    def _arrow(self, sheet: Sheet, stage: Stage, arrow: Arrow, labels: bool) -> None:
        p = stage.spot(arrow.spot)[:2]
        pt, w = sheet.pt, self.width
        if arrow.turning:
            r = 1.9 * w * pt
            begin = self._open_side(self.calm, self.calm.spot(arrow.spot)[:2])
            sense = (arrow.sense or 1) * (1 if stage.pose(arrow.spot.node).R[2] @ arrow.axis > 0 else -1)
            angles = begin + sense * np.linspace(-0.85, 0.85, 40)
            path = p + r * np.column_stack([np.cos(angles), np.sin(angles)])
            self._headed(sheet, path, both=arrow.sense == 0)
            tag = p + (r + 9 * pt) * np.array([np.cos(begin), np.sin(begin)])
        else:
            end = stage.spot(arrow.to)[:2] if arrow.to else p + (stage.pose(arrow.spot.node).R @ arrow.axis)[:2]
            d = (end - p) / (float(np.linalg.norm(end - p)) or 1.0)
            side = np.array([-d[1], d[0]]) * 1.5 * w * pt
            middle = (0.5 * (p + end) if arrow.to else p) + side
            path = middle + np.outer(np.linspace(-1, 1, 20) * (arrow.sense or 1), d) * 2.0 * w * pt
            self._headed(sheet, path, both=arrow.sense == 0)
            tag = middle + side / (float(np.linalg.norm(side)) or 1.0) * 8 * pt
        pin_names = {pin.name for pin in self.scene.pins}
        if labels and arrow.name not in pin_names:
            sheet.write(tag, arrow.name, sheet.look.accent, 8.5)
            sheet.taken.append(np.array([tag - 8 * pt, tag + 8 * pt]))

    def _loads(self, sheet: Sheet, at: Instant, labels: bool) -> None:
        """Loads of the model: an arrow whose tip is where the force acts, an arc for a moment."""
        if self.largest is None:
            self.largest = largest_loads(self.scene, at)
        dust = 1e-9  # of the largest load: no arrow
        load = 40.0  # points of the arrow of the largest load
        for x in applied_loads(self.scene, at):
            color, p, pt = load_color(sheet.look), x.at[:2], sheet.pt
            if self.largest[0] and float(np.linalg.norm(x.force)) > dust * self.largest[0]:
                along = x.force[:2] / self.largest[0] * load * pt
                tail = p - along
                self._headed(sheet, np.linspace(tail, p - along * min(0.5, 5.5 * pt / float(np.linalg.norm(along))), 8), False, color)
                if labels:
                    sheet.label(tail, x.name, color=color, clear=2.0)
            if self.largest[1] and abs(float(x.moment[2])) > dust * self.largest[1]:
                sense = float(np.sign(x.moment[2]))
                angles = sense * np.linspace(-2.2, 2.2, 40)
                self._headed(sheet, p + 1.4 * self.width * pt * np.column_stack([np.cos(angles), np.sin(angles)]), False, color)

    def _open_side(self, stage: Stage, p: np.ndarray) -> float:
        """The direction from a pin with the most room between the bodies that meet there."""
        busy = [np.arctan2(self._down()[1], self._down()[0])]
        for piece in self.scene.pieces:
            points = stage.place(piece.node, piece.points)[:, :2]
            away = points - p
            if np.linalg.norm(away, axis=1).min() < 1e-6 * (np.abs(away).max() or 1.0):
                busy += [np.arctan2(d[1], d[0]) for d in away if np.linalg.norm(d) > 1e-9]
        candidates = np.linspace(-np.pi, np.pi, 72, endpoint=False)
        room = [min(abs((c - b + np.pi) % (2 * np.pi) - np.pi) for b in busy) for c in candidates]
        return float(candidates[int(np.argmax(np.round(room, 6)))])

    def _headed(self, sheet: Sheet, path: np.ndarray, both: bool, color: Any = None) -> None:
        from matplotlib.patches import Polygon

        color, pt = color or sheet.look.accent, sheet.pt
        sheet.line(path, color=color, lw=1.8, solid_capstyle="round", zorder=60)
        sheet.remember(path[::6])
        for tip, before in ((path[-1], path[-4]), (path[0], path[3]))[: 2 if both else 1]:
            d = (tip - before) / (float(np.linalg.norm(tip - before)) or 1.0)
            n = np.array([-d[1], d[0]])
            head = [tip + 5.5 * pt * d, tip - 1.5 * pt * d + 3.1 * pt * n, tip - 1.5 * pt * d - 3.1 * pt * n]
            sheet.add(Polygon(head, closed=True, fc=color, ec=color, lw=0.5, joinstyle="round", zorder=61))

    def _labels(self, sheet: Sheet, stage: Stage) -> None:
        seen: dict[str, np.ndarray] = {}
        clear = 0.5 * self.width + 2.5
        for pin in self.scene.pins:
            p = stage.spot(pin.spot)
            if pin.name not in seen or np.linalg.norm(seen[pin.name] - p) > 4 * self.width * sheet.pt:
                seen[pin.name] = p
                sheet.label(p, pin.name, clear=clear)
        for body, name, spot in self.scene.marks:
            sheet.label(stage.spot(spot), name, color=self.edge(sheet, body), clear=clear - 1.0)


def load_color(look: Theme) -> Any:
    """Color of the loads of the model, another one than that of drives and pins."""
    return mixed(PALETTE[2], look.ink, 0.25)


def _normals(path: np.ndarray) -> np.ndarray:
    """(n, 2): unit normals to the left of a path, at its points."""
    steps = np.diff(path, axis=0)
    d = np.vstack([steps[:1], steps[1:] + steps[:-1], steps[-1:]])
    return np.column_stack([-d[:, 1], d[:, 0]]) / np.linalg.norm(d, axis=1)[:, None]


def coil(a: np.ndarray, b: np.ndarray, half: float, windings: int = 7) -> np.ndarray:
    """A zigzag between two places with straight ends."""
    d = b - a
    n = np.array([-d[1], d[0], 0.0]) / (float(np.linalg.norm(d)) or 1.0)
    s = np.concatenate([[0.0, 0.12], np.linspace(0.16, 0.84, 2 * windings), [0.88, 1.0]])
    swing = np.concatenate([[0.0, 0.0], half * (-1.0) ** np.arange(2 * windings), [0.0, 0.0]])
    return a + np.outer(s, d) + np.outer(swing, n)


def strand(a: np.ndarray, b: np.ndarray, half: float, lay: float) -> np.ndarray:
    """One of two strands of a rope between two places; `lay`: length of a turn."""
    d = b - a
    length = float(np.linalg.norm(d)) or 1.0
    turns = max(2, round(length / lay))
    s = np.linspace(0.0, 1.0, 12 * turns + 1)
    return a + np.outer(s, d) + np.outer(half * np.sin(2 * np.pi * turns * s), np.array([-d[1], d[0], 0.0]) / length)


def furniture(sheet: Sheet, painter: PlanarDrawing, points: np.ndarray, names: bool) -> None:
    """Scale bar, gravity arrow and the bodies' names."""
    scene, look, pt = painter.scene, sheet.look, sheet.pt
    symbol, size = unit_of(scene.description.units, "length")
    length = nice_length(95.0 * pt / size) * size
    x0, y0 = sheet.low + np.array([16.0, 15.0]) * pt
    sheet.line(np.array([[x0, y0], [x0 + length, y0]]), color=look.ink, lw=1.6, solid_capstyle="butt", zorder=80)
    for x in (x0, x0 + length):
        sheet.line(np.array([[x, y0 - 3 * pt], [x, y0 + 3 * pt]]), color=look.ink, lw=1.2, zorder=80)
    sheet.axes.text(
        x0 + length / 2, y0 + 5 * pt, f"{length / size:g} {symbol}", ha="center", va="bottom", fontsize=8, color=look.ink, zorder=80
    )
    _gravity(sheet, painter, points)
    if names:
        _names(sheet, painter)


def _gravity(sheet: Sheet, painter: PlanarDrawing, points: np.ndarray) -> None:
    """An arrow in the first corner that is empty, or else farthest from everything drawn."""
    g = painter.scene.skel.gravity[:2]
    if not np.any(g):
        return
    pt, down = sheet.pt, g / np.linalg.norm(g)
    corners = [
        np.array([x, y])
        for y in (sheet.high[1] - 24 * pt, sheet.low[1] + (BAND + 26) * pt)
        for x in (sheet.high[0] - 17 * pt, sheet.low[0] + 20 * pt)
    ]
    room = [min(60 * pt, float(np.linalg.norm(points[:, :2] - c, axis=1).min())) for c in corners]
    middle = corners[int(np.argmax(np.round(np.array(room) / pt)))]
    if max(room) < 30 * pt:  # no corner is free: the foot of the sheet is
        middle = np.array([sheet.high[0] - 15 * pt, sheet.low[1] + 18 * pt])
    tip, tail = middle + 11 * pt * down, middle - 13 * pt * down
    arrow = {"arrowstyle": "-|>", "color": sheet.look.faint, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    sheet.axes.annotate("", xy=tuple(tip), xytext=tuple(tail), arrowprops=arrow, zorder=80)
    side = np.array([-down[1], down[0]]) * 7 * pt
    x, y = middle - side
    sheet.axes.text(x, y, "g", ha="center", va="center", fontsize=9, style="italic", color=sheet.look.faint, zorder=80)


def legend_rows(names: list[str], room: float) -> list[list[str]]:
    """Names in rows of at most `room` points."""
    rows: list[list[str]] = [[]]
    for name in names:
        if rows[-1] and sum(legend_width(n) for n in (*rows[-1], name)) > room:
            rows.append([])
        rows[-1].append(name)
    return rows


def legend_width(name: str) -> float:
    return 27.0 + 5.1 * len(name)


def legend_room(width: float) -> float:
    """Points beside the scale bar on a sheet of that width."""
    return width - 16.0 - 117.0 - 30.0


def _names(sheet: Sheet, painter: PlanarDrawing) -> None:
    """Swatches with the bodies' names along the foot of the sheet, beside the scale bar."""
    pt = sheet.pt
    rows = legend_rows(drawn_bodies(painter.scene), legend_room((sheet.high[0] - sheet.low[0]) / pt))
    for k, row in enumerate(rows):
        x, y = sheet.low[0] + 133.0 * pt, sheet.low[1] + (9.0 + 13.0 * (len(rows) - 1 - k)) * pt + (6.0 * pt if len(rows) == 1 else 0.0)
        for name in row:
            body = name.split(" + ")[0]
            sheet.line(np.array([[x, y], [x + 9 * pt, y]]), color=painter.edge(sheet, body), lw=6.4, solid_capstyle="round", zorder=80)
            sheet.line(np.array([[x, y], [x + 9 * pt, y]]), color=painter.fill(sheet, body), lw=5.0, solid_capstyle="round", zorder=81)
            sheet.axes.text(
                x + 15 * pt, y, name, ha="left", va="center_baseline", fontsize=8, color=sheet.look.ink, zorder=80, parse_math=False
            )
            x += legend_width(name) * pt


# Belts in a planar drawing: discs of the pulleys, with a line from the center that shows their rotation, and the line round them.


def draw_belt(sheet: Sheet, stage: Stage, belt: SceneBelt, colors: Mapping[str, str]) -> None:
    """Draw a belt with its pulleys, below the bodies."""
    from matplotlib.patches import Circle

    look = sheet.look
    for spot, radius, body in zip(belt.spots, belt.radii, belt.bodies, strict=True):
        at = stage.spot(spot)
        color = colors.get(body, look.faint)
        edge = mixed(color, look.ink, 0.4)
        if radius > 0.0:
            disc = {"fc": mixed(color, look.paper, 0.62), "ec": edge, "lw": 1.2, "zorder": 8.0}
            sheet.add(Circle((float(at[0]), float(at[1])), radius, **disc))
        if radius > 0.0 and body:
            rim = at + 0.86 * radius * stage.pose(spot.node).R[:, 0]
            sheet.line(np.array([at, rim]), color=edge, lw=1.2, zorder=8.2)
    path = belt.path(stage)
    sheet.line(path, color=look.ink, lw=2.2, solid_joinstyle="round", solid_capstyle="round", zorder=17)
    sheet.remember(path)


def hatch(points: np.ndarray, step: float, length: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Short strokes on the right of a row of lines, as drawings show what is solid."""
    out, left = [], 0.5 * step  # to the next stroke
    for a, b in pairwise(points):
        size = float(np.linalg.norm(b - a)) or 1.0
        along = (b - a) / size
        slanted = (np.array([along[1], -along[0]]) - along) / np.sqrt(2.0)
        for s in np.arange(left, size, step):
            out.append((a + s * along, a + s * along + length * slanted))
            left = s + step
        left -= size
    return out

"""Drawing a spatial scene: bodies as bars and plates in perspective, with a shadow on the floor for depth."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.api import Instant, unit_of
from linkwright.model.meshes import Surface, outline
from linkwright.rings.studio.outline_geometry import hull, unit_circle
from linkwright.rings.studio.paper_sheet import Sheet, nice_length
from linkwright.rings.studio.planar_drawing import colors, drawn_bodies
from linkwright.rings.studio.raster import Seen, image
from linkwright.rings.studio.scene import Scene, Stage
from linkwright.rings.studio.shading import add_image, border, shaded
from linkwright.rings.studio.style import PALETTE, Theme, mixed

VIEW = (22.0, -58.0)  # elevation and azimuth, degrees
WIDE = 7.0  # inches
RING = 0.02  # radius of the ring of a bushing, of the diagonal of what is drawn
SHARP = 160.0  # pixels an inch in images of surfaces, as pictures are written


class Spatial:
    """One drawing in space; world axes are permuted so that 'up' is against gravity."""

    def __init__(self, scene: Scene, look: Theme, dpi: float = SHARP):
        self.scene, self.look, self.dpi = scene, look, dpi
        self.colors = colors(scene)
        self.length_unit = unit_of(scene.description.units, "length")
        g = scene.skel.gravity
        up = int(np.argmax(np.abs(g))) if np.any(g) else 2
        self.names = [("y", "z", "x"), ("z", "x", "y"), ("x", "y", "z")][up]
        self.order = ["xyz".index(n) for n in self.names]
        self.flip = -1.0 if np.any(g) and g[up] > 0 else 1.0

    def seen(self, points: Any) -> np.ndarray:
        """World points in drawing axes: right-handed, third one up."""
        p = np.asarray(points, dtype=float)[..., self.order]
        return p * np.array([1.0, self.flip, self.flip])

    def figure(self, instant: Instant, points: np.ndarray, traces: list[tuple[str, np.ndarray]], size: Any, labels: bool) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=size or (WIDE, 5.8), facecolor=self.look.paper)
        axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
        axes.set_axis_off()
        axes.set_proj_type("persp", focal_length=0.9)
        axes.view_init(*VIEW)
        low, high = self._window(figure, axes, self.seen(points))
        stage = Stage(self.scene.skel, instant)
        floor = float(low[2])
        unit = nice_length(0.22 * float((high - low).max()) / self.length_unit[1]) * self.length_unit[1]
        self._floor(axes, low, high, floor, unit)
        for body, path in traces:
            self._curve(axes, self.seen(path), self.colors.get(body, self.look.faint), lw=1.2, alpha=0.8, zorder=3)
        self._ground(axes, stage)
        items = self._items(stage, RING * float(np.linalg.norm(high - low)))
        for item in items:
            self._shadow(axes, item[1], floor)
        self._surfaces(figure, axes, stage, floor)
        for depth, (kind, p, color, width) in enumerate(self._far_first(axes, items)):
            self._item(axes, kind, p, color, width, 10 + 0.01 * depth)
        self._pins(axes, stage)
        self._scale(axes, figure, low, floor, unit)
        if labels:
            self._labels(figure, axes, stage, items)
            self._names(figure)
        return figure

    def _window(self, figure: Any, axes: Any, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Equal scales on all axes, zoomed and shifted so that everything, the floor included, fills the page."""
        low, high = p.min(axis=0), p.max(axis=0)
        pad = 0.05 * float((high - low).max() or 1.0)
        low, high = low - pad, high + pad
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        axes.set_zlim(low[2], high[2])
        floor = np.array([[x, y, low[2]] for x in (low[0], high[0]) for y in (low[1], high[1])])
        everything = np.vstack([p, floor])
        page = 72.0 * np.asarray(figure.get_size_inches())
        zoom = 1.0
        margin = 26.0  # points around the drawing
        for _ in range(3):  # perspective: the extent is not quite proportional to the zoom
            axes.set_box_aspect(tuple(high - low), zoom=zoom)
            seen = on_paper(figure, axes, everything)
            zoom *= float(np.min((page - 2 * margin) / np.ptp(seen, axis=0)))
        axes.set_box_aspect(tuple(high - low), zoom=zoom)
        seen = on_paper(figure, axes, everything)
        shift = (0.5 * page - 0.5 * (seen.min(axis=0) + seen.max(axis=0))) / page
        axes.set_position((shift[0], shift[1], 1.0, 1.0))
        return low, high

    # ---------------------------------------------------------------- pieces

    def _items(self, stage: Stage, ring: float) -> list[tuple[str, np.ndarray, str, float]]:
        """(kind, points, color, width) of everything solid; `ring`: radius of rings."""
        out = []
        for piece in (x for x in self.scene.pieces if x.body not in self.scene.covered):
            p = self.seen(stage.place(piece.node, piece.points))
            out.append(("plate" if piece.closed else "bar", p, self.colors[piece.body], 6.0))
        for t in self.scene.telescopes:
            a, b = (stage.spot(e) for e in t.ends)
            length = float(np.linalg.norm(b - a)) or 1.0
            d, barrel = (b - a) / length, min(t.barrel, 0.85 * length)
            color = self.colors.get(t.bodies[0], PALETTE[8])
            out.append(("bar", self.seen([a + barrel * d, b]), color, 3.0))
            out.append(("bar", self.seen([a, a + barrel * d]), color, 7.0))
        for line in (x for x in self.scene.lines if x.name not in self.scene.absent):
            a, b = (stage.spot(e) for e in line.ends)
            out.append(("bar", self.seen([a, b]), PALETTE[8], 3.0))
            if line.about is not None:  # rubber about a sleeve
                axis, middle = stage.pose(line.ends[0].node).R @ line.about, 0.5 * (a + b)
                circle = middle + ring * unit_circle(axis, 36)[[*range(36), 0, 1]]
                out.append(("bar", self.seen(circle), self.look.ink, 6.0))
                out.append(("bar", self.seen([middle - 1.3 * ring * axis, middle + 1.3 * ring * axis]), PALETTE[8], 4.0))
        for g in self.scene.guides:
            X = stage.pose(g.node) @ g.frame
            if g.high > g.low:
                out.append(("rail", self.seen(g.curve @ X.R.T + X.p), self.look.faint, 9.0))
        return out

    def _surfaces(self, figure: Any, axes: Any, stage: Stage, floor: float) -> None:
        """Surfaces of bodies, the nearest in front, with their shadows."""
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        if not self.scene.surfaces:
            return
        painted = [(s.body, s.color or self.colors.get(s.body, self.look.faint)) for s in self.scene.surfaces]
        kinds = list(dict.fromkeys(painted))
        corners, colors, owners, shadows = [], [], [], []
        for s, kind in zip(self.scene.surfaces, painted, strict=True):
            seen = Surface(self.seen(stage.place(s.node, s.surface.vertices)), s.surface.faces)
            corners.append(seen.corners)
            colors.append(shaded(seen.corners, kind[1], _toward(axes), self.look))
            owners.append(np.full(len(seen.faces), kinds.index(kind)))
            shadows += [np.column_stack([line, np.full(len(line), floor)]) for line in outline(seen)[:1]]
        color = mixed(self.look.faint, self.look.paper, 0.7)
        for p in shadows:  # one collection each: matplotlib fills up shorter polygons of one with whatever is in memory
            axes.add_collection3d(Poly3DCollection([p], facecolors=[color], edgecolors=[color], linewidths=0.5, zorder=1, clip_on=False))
        width, height = (round(self.dpi * float(x)) for x in figure.get_size_inches())
        sharp = self.dpi / 72.0
        on_screen = on_paper(figure, axes, np.concatenate(corners).reshape(-1, 3), depth=True) * np.array([sharp, sharp, 1.0])
        edges = np.array([border(color) for _, color in kinds])
        seen_all = Seen(on_screen.reshape(-1, 3, 3), np.concatenate(colors), np.concatenate(owners), edges)
        pixels, (x, y) = image(seen_all, width, height)
        add_image(axes, pixels, (x / self.dpi, y / self.dpi), (pixels.shape[1] / self.dpi, pixels.shape[0] / self.dpi), 9.0)

    @staticmethod
    def _far_first(axes: Any, items: list[Any]) -> list[Any]:
        """Painter's order: by the distance of each item's middle from the viewer."""
        toward = _toward(axes)
        return sorted(items, key=lambda item: float(item[1].mean(axis=0) @ toward))

    def _item(self, axes: Any, kind: str, p: np.ndarray, color: str, width: float, z: float) -> None:
        edge, fill = mixed(color, self.look.ink, 0.5), mixed(color, self.look.paper, self.look.lighten)
        if kind == "plate":
            self._plate(axes, p, fill, edge, z)
            return
        self._curve(axes, p, edge, lw=width + 1.8, zorder=z, solid_capstyle="round")
        self._curve(axes, p, fill, lw=width, zorder=z + 0.004, solid_capstyle="round")

    def _plate(self, axes: Any, p: np.ndarray, fill: Any, edge: Any, z: float) -> None:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        axes.add_collection3d(Poly3DCollection([p], facecolors=[(*fill, 0.85)], edgecolors=[edge], linewidths=1.6, zorder=z, clip_on=False))

    @staticmethod
    def _curve(axes: Any, p: np.ndarray, color: Any, **options: Any) -> None:
        axes.plot(p[:, 0], p[:, 1], p[:, 2], color=color, clip_on=False, **options)

    # ---------------------------------------------------------------- surroundings

    def _floor(self, axes: Any, low: np.ndarray, high: np.ndarray, floor: float, step: float) -> None:
        color = mixed(self.look.faint, self.look.paper, 0.72)
        for axis in (0, 1):
            other = 1 - axis
            for x in np.arange(np.ceil(low[axis] / step), np.floor(high[axis] / step) + 1) * step:
                line = np.full((2, 3), floor)
                line[:, axis] = x
                line[:, other] = low[other], high[other]
                self._curve(axes, line, color, lw=0.6, zorder=0)

    def _shadow(self, axes: Any, p: np.ndarray, floor: float) -> None:
        flat = p.copy()
        flat[:, 2] = floor
        self._curve(axes, flat, mixed(self.look.faint, self.look.paper, 0.6), lw=3.0, zorder=1, solid_capstyle="round")

    def _ground(self, axes: Any, stage: Stage) -> None:
        """The fixed parts: a thin dark outline through the joints on ground."""
        spots = [self.seen(stage.spot(p.spot)) for p in self.scene.pins if p.grounded]
        spots += [self.seen(stage.spot(e)) for t in self.scene.telescopes for e in t.ends if e.node < 0]
        distinct: list[np.ndarray] = []
        for s in spots:
            if all(np.linalg.norm(s - d) > 1e-9 for d in distinct):
                distinct.append(s)
        if len(distinct) > 1:
            p = hull(np.array(distinct))
            p = np.vstack([p, p[:1]]) if len(p) > 2 else p
            self._curve(axes, p, self.look.faint, lw=2.2, ls=(0, (4, 2)), zorder=2)

    def _spots(self, stage: Stage) -> list[tuple[str, np.ndarray, str]]:
        """(name, place, kind) of joints and marked points."""
        spots = [(p.name, p.spot, "ground" if p.grounded else "pin") for p in self.scene.pins]
        spots += [(name, spot, "mark") for _, name, spot in self.scene.marks]
        return [(name, self.seen(stage.spot(spot)), kind) for name, spot, kind in spots]

    def _pins(self, axes: Any, stage: Stage) -> None:
        fill = {"ground": self.look.faint, "pin": self.look.paper, "mark": self.look.accent}
        for _, p, kind in self._spots(stage):
            axes.plot([p[0]], [p[1]], [p[2]], "o", ms=5.0, mfc=fill[kind], mec=self.look.ink, mew=1.0, zorder=40, clip_on=False)

    def _labels(self, figure: Any, axes: Any, stage: Stage, items: list[Any]) -> None:
        """Names written on a flat sheet over the picture, where they keep out of each other's way."""
        width, height = (72.0 * float(x) for x in figure.get_size_inches())
        over = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        over.set_axis_off()
        over.set_xlim(0.0, width)
        over.set_ylim(0.0, height)
        sheet = Sheet(over, self.look, np.zeros(2), np.array([width, height]), 1.0)
        for kind, p, _, w in items:
            sheet.remember(on_paper(figure, axes, p), w, closed=kind == "plate")
        seen: list[np.ndarray] = []
        for name, p, _ in self._spots(stage):
            at = on_paper(figure, axes, p[None])[0]
            if all(np.linalg.norm(at - q) > 2.0 for q in seen):
                seen.append(at)
                sheet.label(at, name, size=8.0, clear=5.0)

    def _scale(self, axes: Any, figure: Any, low: np.ndarray, floor: float, length: float) -> None:
        """Three short axes in a corner of the floor, their length written beside."""
        symbol, size = self.length_unit
        corner = np.array([low[0], low[1], floor])
        for i, name in enumerate(self.names):
            tip = corner + length * np.eye(3)[i] * (1.0 if i == 0 else self.flip)
            self._curve(axes, np.array([corner, tip]), self.look.ink, lw=1.4, zorder=45)
            axes.text(*(corner + 1.15 * (tip - corner)), name, fontsize=8, color=self.look.ink, ha="center", va="center", zorder=46)
        figure.text(0.03, 0.04, f"axes and grid: {length / size:g} {symbol}", fontsize=8, color=self.look.ink)

    def _names(self, figure: Any) -> None:
        names = drawn_bodies(self.scene)
        if len(names) > 14:
            return
        for k, name in enumerate(names):
            fill = mixed(self.colors[name.split(" + ")[0]], self.look.paper, self.look.lighten)
            figure.text(0.03, 0.955 - 0.037 * k, "\u25cf", fontsize=9, color=fill)
            figure.text(0.055, 0.955 - 0.037 * k, name, fontsize=8, color=self.look.ink, parse_math=False)


def _toward(axes: Any) -> np.ndarray:
    """Direction from the picture to the viewer."""
    azimuth, elevation = np.radians(axes.azim), np.radians(axes.elev)
    return np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])


def on_paper(figure: Any, axes: Any, points: np.ndarray, *, depth: bool = False) -> np.ndarray:
    """Positions of a drawing in space on the page, in points from its lower left corner; with `depth` a third number that grows away."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    axes.apply_aspect()
    x, y, z = proj_transform(points[:, 0], points[:, 1], points[:, 2], axes.get_proj())
    flat = axes.transData.transform(np.column_stack([x, y])) * 72.0 / figure.dpi
    return np.column_stack([flat, z]) if depth else flat

"""Drawing a free body: the link with its forces to scale, the closing force polygon, and the sums underneath.

In the plane the link is in its position in the machine, beside it the polygon of all forces, which must close. In space the
link is shown from the front and from above.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import files, unit_of
from linkwright.rings.studio import style
from linkwright.rings.studio.paper_sheet import Sheet, nice_length
from linkwright.rings.studio.style import Theme, mixed

COLORS = {"pin": "#3f72a8", "drive": "#e06a32", "load": "#b4566a", "weight": "#62708f", "inertia": "#8b6fb3", "link": "#4f9d84"}
SMALL = 4.0  # points below which an arrow is only a dot
AREA = (392.0, 318.0)  # points of the link's panel


def draw(body: Any, path: str | os.PathLike[str] | None = None, *, dark: bool = False) -> Any:
    """Draw a `FreeBody`: the Figure, or with `path` the file written."""
    if path is not None:
        files.checked(path, files.PICTURES)
    look = style.theme(dark)
    with style.settings(look):
        figure = _figure(body, look)
        if path is None:
            return figure
        with files.replacing(path, files.PICTURES) as temporary:
            style.write(figure, temporary)
    return Path(path)


@dataclass(frozen=True)
class ViewDirection:
    """A direction to look in: rows of `onto` are the drawing's axes in the world."""

    onto: np.ndarray  # (2, 3)
    title: str

    def flat(self, v: Any) -> np.ndarray:
        return np.asarray(v, dtype=float) @ self.onto.T

    @property
    def toward(self) -> np.ndarray:
        """Toward the reader: the axis of moments drawn as turning."""
        return np.cross(self.onto[0], self.onto[1])


def _views(gravity: np.ndarray) -> tuple[ViewDirection, ViewDirection]:
    """Front and top view with the weight pointing down in the front view; z is up where there is no gravity."""
    x, y, z = np.eye(3)
    if int(np.argmax(np.abs(gravity))) == 1:
        return ViewDirection(np.array([x, y]), "from the front: x, y"), ViewDirection(np.array([x, -z]), "from above: x, -z")
    return ViewDirection(np.array([x, z]), "from the front: x, z"), ViewDirection(np.array([x, y]), "from above: x, y")


def _figure(body: Any, look: Theme) -> Any:
    from matplotlib.figure import Figure

    text, lines = _table_text(body)
    foot, head = 9.6 * lines + 22.0, 26.0
    side = 262.0  # width of the panel beside it
    width, height = AREA[0] + side, AREA[1] + foot + head
    figure = Figure(figsize=(width / 72, height / 72), facecolor=look.paper)
    flat = ViewDirection(np.eye(3)[:2], "")
    across = (AREA[0], AREA[1]) if body.planar else (0.5 * width, AREA[1])
    boxes = [(0.0, foot, *across), (across[0], foot, width - across[0], AREA[1])]
    if body.planar:
        scale = _link(figure, look, body, flat, boxes[0], (width, height))
        _polygon(figure, look, body, scale, boxes[1], (width, height))
    else:
        for view, box in zip(_views(body.gravity), boxes, strict=True):
            _link(figure, look, body, view, box, (width, height))
    figure.text(14 / width, 1 - 17 / height, f"{body.body} at {body.where}", fontsize=11, weight="bold", parse_math=False)
    note = "all forces on the link, inertia force included: they add up to zero"
    figure.text(1 - 14 / width, 1 - 17 / height, note, fontsize=8, ha="right", color=look.faint)
    figure.text(14 / width, 12 / height, text, fontsize=7.4, family="DejaVu Sans Mono", va="bottom", linespacing=1.25, parse_math=False)
    return figure


def _table_text(body: Any) -> tuple[str, int]:
    lines = body.table().text().splitlines()
    lines.insert(len(lines) - 1, "-" * max(len(x) for x in lines))
    return "\n".join(lines), len(lines)


def _sheet(figure: Any, look: Theme, box: tuple[float, ...], page: tuple[float, float], center: np.ndarray, pt: float) -> Sheet:
    """Axes of a panel (points on the page) about a center, `pt` data units per point."""
    axes = figure.add_axes((box[0] / page[0], box[1] / page[1], box[2] / page[0], box[3] / page[1]))
    axes.set_axis_off()
    half = 0.5 * pt * np.array([box[2], box[3]])
    low, high = center - half, center + half
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    return Sheet(axes, look, low, high, pt)


# -------------------------------------------------------------------- the link with its forces


@dataclass(frozen=True)
class Vector:
    """An arrow on the page: from its tail to its tip, offsets in points from the place where the force acts."""

    row: Any
    at: np.ndarray
    tail: np.ndarray
    tip: np.ndarray

    @property
    def length(self) -> float:
        return float(np.linalg.norm(self.tip - self.tail))

    @property
    def free(self) -> np.ndarray:
        """The end away from the place where the force acts."""
        return self.tail if np.any(self.tail) else self.tip


def _vectors(body: Any, view: ViewDirection, newton: float) -> list[Vector]:
    """Arrows at `newton` points per N: they end at their place where they push into the link, else begin there."""
    middle = view.flat(np.mean(np.concatenate([points for points, _ in body.outline]), axis=0)) if body.outline else view.flat(body.com)
    out: list[Vector] = []
    for row in body.rows:
        at, arrow = view.flat(row.at), newton * view.flat(row.force)
        inward = row.kind in ("pin", "load", "link") and float(arrow @ (middle - at)) > 0.0
        ways = [Vector(row, at, -arrow, 0.0 * arrow), Vector(row, at, 0.0 * arrow, arrow)]
        ways = ways if inward else ways[::-1]
        out.append(ways[1] if any(_covers(v, ways[0]) for v in out) else ways[0])
    return out


def _covers(one: Vector, two: Vector) -> bool:
    """True if two arrows at one place would lie on each other."""
    a, b = one.free, two.free
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    same_place = float(np.linalg.norm(one.at - two.at)) < 1e-9 * (1.0 + float(np.linalg.norm(one.at)))
    return same_place and min(one.length, two.length) > SMALL and float(a @ b) > 0.97 * size


def _link(figure: Any, look: Theme, body: Any, view: ViewDirection, box: tuple[float, ...], page: tuple[float, float]) -> float:
    """The link's panel; returns points per N."""
    largest = max((float(np.linalg.norm(r.force)) for r in body.rows), default=0.0)  # one scale for all views
    longest = 92.0  # points of the largest force
    newton = longest / largest if largest > 0.0 else 0.0
    vectors = _vectors(body, view, newton)
    points = view.flat(np.concatenate([*(p for p, _ in body.outline), body.com[None], *(r.at[None] for r in body.rows)]))
    margin = 46.0  # points around link and arrows, for names
    pt, center = _fit(points, vectors, np.array(box[2:]) - 2 * margin)
    sheet = _sheet(figure, look, box, page, center, pt)
    _force_scale(sheet, newton, body.units)
    _shape(sheet, body, view)
    for v in vectors:
        if v.length >= SMALL:
            sheet.remember(np.array([v.at + v.tail * pt, v.at + v.tip * pt]), 3.0)
    _marks(sheet, body, view)
    for v in vectors:
        _arrow(sheet, v, body.units)
    for v in vectors:
        _turning(sheet, v, body, view, vectors)
    if view.title:
        sheet.axes.text(*(sheet.high - np.array([14.0, 12.0]) * pt), view.title, ha="right", va="top", fontsize=8.5, color=look.faint)
    return newton


def _fit(points: np.ndarray, vectors: list[Vector], room: np.ndarray) -> tuple[float, np.ndarray]:
    """(data units per point, center) with the link and all arrows inside the room."""
    span = float(np.ptp(points, axis=0).max())
    if span <= 0.0:
        span = 1.0

    def box(pt: float) -> tuple[np.ndarray, np.ndarray]:
        ends = [points, *(np.array([v.at + v.tail * pt, v.at + v.tip * pt]) for v in vectors)]
        every = np.concatenate(ends)
        return every.min(axis=0), every.max(axis=0)

    low, high = span / 260.0, 100.0 * span  # a short link is not blown up beyond 260 points
    if np.any((box(low)[1] - box(low)[0]) / low > room):
        for _ in range(60):
            middle = np.sqrt(low * high)
            low, high = (middle, high) if np.any((box(middle)[1] - box(middle)[0]) / middle > room) else (low, middle)
        low = high
    a, b = box(low)
    return float(low), 0.5 * (a + b)


def _shape(sheet: Sheet, body: Any, view: ViewDirection) -> None:
    from matplotlib.patches import Polygon

    look, color = sheet.look, style.PALETTE[8]
    edge, fill = mixed(color, look.ink, 0.35), mixed(color, look.paper, 0.72)
    pieces = [(view.flat(points), closed) for points, closed in body.outline]
    for points, closed in pieces:
        if closed:
            sheet.add(Polygon(points, closed=True, fc=mixed(color, look.paper, 0.86), ec="none", zorder=9))
    for extra, tint, z in ((1.6, edge, 10.0), (0.0, fill, 11.0)):
        for points, closed in pieces:
            path = np.vstack([points, points[:2]]) if closed and len(points) > 1 else points
            path = np.vstack([path, path]) if len(path) == 1 else path
            sheet.line(path, color=tint, lw=10.0 + extra, solid_capstyle="round", solid_joinstyle="round", zorder=z)
    for points, closed in pieces:
        sheet.remember(points, 10.0, closed)


def _marks(sheet: Sheet, body: Any, view: ViewDirection) -> None:
    """Pins as open circles with their names, the center of mass as a quartered disc."""
    from matplotlib.patches import Circle, Wedge

    look, pt = sheet.look, sheet.pt
    for row in body.rows:
        if row.kind == "pin":
            x, y = view.flat(row.at)
            sheet.add(Circle((x, y), 3.4 * pt, fc=look.paper, ec=look.ink, lw=1.2, zorder=40))
    x, y = view.flat(body.com)
    sheet.add(Circle((x, y), 4.2 * pt, fc=look.paper, ec=look.ink, lw=0.9, zorder=41))
    for start in (0, 180):
        sheet.add(Wedge((x, y), 4.2 * pt, start, start + 90, fc=look.ink, ec="none", zorder=42))
    sheet.label(view.flat(body.com), "G", size=8.0, clear=6.0)


def _arrow(sheet: Sheet, v: Vector, units: tuple[str, ...]) -> None:
    """A force to scale, its name and size beside its free end."""
    symbol, size = unit_of(units, "force")
    color = _ink(sheet.look, v.row.kind)
    pt = sheet.pt
    amount = float(np.linalg.norm(v.row.force))
    if v.length < SMALL:
        if amount > 0.0 and v.row.kind != "drive":
            sheet.label(v.at, f"{v.row.name} {_amount(amount / size)} {symbol}", color=color, size=8.0)
        return
    dashed = v.row.kind == "inertia"
    headed(sheet, v.at + v.tail * pt, v.at + v.tip * pt, color, dashed=dashed)
    sheet.label(v.at + v.free * pt, f"{v.row.name} {_amount(amount / size)} {symbol}", color=color, size=8.0, clear=6.0)


def headed(sheet: Sheet, tail: np.ndarray, tip: np.ndarray, color: Any, *, dashed: bool = False, head: float = 8.5) -> None:
    """A straight arrow whose head never outgrows it."""
    from matplotlib.patches import Polygon

    pt = sheet.pt
    length = float(np.linalg.norm(tip - tail)) / pt
    head = min(head, 0.6 * length)
    d = (tip - tail) / (length * pt)
    n = np.array([-d[1], d[0]])
    base = tip - head * pt * d
    sheet.line(np.array([tail, base]), color=color, lw=2.0, ls=(0, (3.2, 1.6)) if dashed else "-", solid_capstyle="butt", zorder=50)
    corners = [tip, base + 0.36 * head * pt * n, base - 0.36 * head * pt * n]
    sheet.add(Polygon(corners, closed=True, fc=color, ec="none", zorder=51))


def _turning(sheet: Sheet, v: Vector, body: Any, view: ViewDirection, vectors: list[Vector]) -> None:
    """A moment as a round arrow about its place, with its value; not to scale."""
    from matplotlib.patches import Polygon

    scale = body.scales[1]
    amount = float(v.row.moment @ view.toward)
    if abs(amount) < 1e-9 * scale:
        return
    symbol, size = unit_of(body.units, "torque")
    color, pt = _ink(sheet.look, v.row.kind), sheet.pt
    radius = (17.0 + 5.0 * (v.row.kind == "inertia")) * pt
    middle = _quiet_side(v.at, vectors, [view.flat(points) for points, _ in body.outline], sheet.pt)
    angles = middle + np.sign(amount) * np.radians(np.linspace(-105.0, 105.0, 41))
    path = v.at + radius * np.column_stack([np.cos(angles), np.sin(angles)])
    dashed = v.row.kind == "inertia"
    sheet.line(path[:-3], color=color, lw=1.7, ls=(0, (3.2, 1.6)) if dashed else "-", zorder=48)
    sheet.remember(path[::6], 2.0)
    d = (path[-1] - path[-4]) / float(np.linalg.norm(path[-1] - path[-4]))
    n = np.array([-d[1], d[0]])
    head = [path[-1] + 1.5 * pt * d, path[-1] - 6 * pt * d + 2.8 * pt * n, path[-1] - 6 * pt * d - 2.8 * pt * n]
    sheet.add(Polygon(head, closed=True, fc=color, ec="none", zorder=49))
    top = path[len(path) // 2]
    sheet.label(top, f"{v.row.name} {_amount(abs(amount) / size)} {symbol}", color=color, size=8.0, clear=4.0)


def _quiet_side(at: np.ndarray, vectors: list[Vector], outline: list[np.ndarray], pt: float) -> float:
    """The direction from a place with the most room between arrows and bars."""
    busy = [v.free for v in vectors if v.length >= SMALL and float(np.linalg.norm(v.at - at)) < 12.0 * pt]
    for points in outline:
        for a, b in pairwise(points):
            along = float(np.clip((at - a) @ (b - a) / max(float((b - a) @ (b - a)), 1e-300), 0.0, 1.0))
            if float(np.linalg.norm(a + along * (b - a) - at)) < 8.0 * pt:
                busy += [end - at for end in (a, b) if float(np.linalg.norm(end - at)) > 8.0 * pt]
    angles = [float(np.arctan2(d[1], d[0])) for d in busy]
    candidates = np.radians(np.arange(0.0, 360.0, 15.0))
    room = [min((abs((c - b + np.pi) % (2 * np.pi) - np.pi) for b in angles), default=np.pi) for c in candidates]
    return float(candidates[int(np.argmax(np.round(room, 6)))])


def _ink(look: Theme, kind: str) -> Any:
    return mixed(COLORS[kind], look.ink, 0.18)


def _amount(x: float) -> str:
    """Three digits (four of large numbers), without an exponent."""
    if abs(x) >= 1e3:
        return f"{float(f'{x:.4g}'):.0f}"
    return f"{float(f'{x:.3g}'):g}"


def _force_scale(sheet: Sheet, newton: float, units: tuple[str, ...]) -> None:
    """A bar that says how long a force is."""
    if newton <= 0.0:
        return
    symbol, size = unit_of(units, "force")
    force = nice_length(60.0 / newton / size) * size
    length = force * newton * sheet.pt
    x, y = sheet.low + np.array([16.0, 12.0]) * sheet.pt
    sheet.line(np.array([[x, y], [x + length, y]]), color=sheet.look.ink, lw=1.4, solid_capstyle="butt", zorder=80)
    for end in (x, x + length):
        sheet.line(np.array([[end, y - 2.5 * sheet.pt], [end, y + 2.5 * sheet.pt]]), color=sheet.look.ink, lw=1.1, zorder=80)
    sheet.axes.text(
        x + 0.5 * length, y + 4 * sheet.pt, f"{_amount(force / size)} {symbol}", ha="center", va="bottom", fontsize=7.5, zorder=80
    )
    sheet.taken.append(np.array([[x - 8 * sheet.pt, y], [x + length + 8 * sheet.pt, y + 14 * sheet.pt]]))


# -------------------------------------------------------------------- the polygon of forces


def _polygon(figure: Any, look: Theme, body: Any, newton: float, box: tuple[float, ...], page: tuple[float, float]) -> None:
    """All forces tip to tail: they come back to where they began."""
    rows = [r for r in body.rows if float(np.linalg.norm(r.force)) * newton >= 0.5]
    if len(rows) < 2:
        return
    corners = np.vstack([np.zeros(2), np.cumsum([r.force[:2] for r in rows], axis=0)])
    span, room = np.ptp(corners, axis=0), np.array(box[2:]) - 2 * np.array([52.0, 50.0])
    pt = max(float(np.max(span / room)), 1.0 / newton)  # N per point: never larger than beside the link
    sheet = _sheet(figure, look, box, page, 0.5 * (corners.min(axis=0) + corners.max(axis=0)), pt)
    for a, b in pairwise(corners):
        sheet.remember(np.array([a, b]), 3.0)
    for row, a, b in zip(rows, corners[:-1], corners[1:], strict=True):
        color = _ink(look, row.kind)
        if float(np.linalg.norm(b - a)) / pt >= SMALL:
            headed(sheet, a, b, color, dashed=row.kind == "inertia", head=7.0)
        sheet.label(0.5 * (a + b), row.name, color=color, size=7.5, clear=3.0)
    sheet.line(corners[:1], marker="o", ms=3.6, color=look.ink, zorder=60)
    sheet.axes.text(*(sheet.high - np.array([14.0, 12.0]) * pt), "force polygon", ha="right", va="top", fontsize=8.5, color=look.faint)
    _force_scale(sheet, 1.0 / pt, body.units)

"""Velocity and acceleration polygons and instant centers of a planar mechanism at one position.

velocity_polygon(c, "v.png", at="30 deg")       the mechanism with the velocities of its pins, and their polygon from the pole o
acceleration_polygon(c, "a.png", at="30 deg")   the same; normal, tangential and Coriolis parts as thin lines
instant_centers(c, "p.png", at="30 deg")        all centers, numbered by bodies, the ground as 1
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from linkwright.api import NEGLIGIBLE, Trajectory, unit_of
from linkwright.rings.design.velocity_plan import VelocityPlan, velocity_plan
from linkwright.rings.studio.plots.common_parts import Frame, Paper, Place, color_of, drawn, legend, open_side, with_unit
from linkwright.rings.studio.plots.paths import LOOKS, Behind
from linkwright.rings.studio.plots.subjects import system_of
from linkwright.rings.studio.scene import Scene
from linkwright.rings.studio.style import Theme

SHARED_NAME = 0.02  # share of the size: centers closer than this share a name


def velocity_polygon(c: Trajectory, path: Place = None, *, at: Any = None, **paper: Unpack[Paper]) -> Any:
    """Velocities of pins and points at a position of the drive: in the mechanism, and as the polygon from the pole o."""
    plan = velocity_plan(c, at)
    chains = [(x.points[0], x.body, [x.v]) for x in plan.links]
    slides = [(x.guide, x.point, x.block_v, [x.v]) for x in plan.slides]
    return drawn(lambda frame: _polygon(frame, c, plan, "v", "speed", chains, slides), path, **paper)


def acceleration_polygon(c: Trajectory, path: Place = None, *, at: Any = None, **paper: Unpack[Paper]) -> Any:
    """Accelerations of pins and points at a position of the drive: in the mechanism, and as the polygon from the pole o."""
    plan = velocity_plan(c, at)
    chains = [(x.points[0], x.body, [x.normal, x.tangential]) for x in plan.links]
    slides = [(x.guide, x.point, x.block_a, [x.coriolis, x.sliding]) for x in plan.slides]
    return drawn(lambda frame: _polygon(frame, c, plan, "a", "acceleration", chains, slides), path, **paper)


def _polygon(frame: Frame, c: Trajectory, plan: VelocityPlan, letter: str, kind: str, chains: Any, slides: Any) -> Any:
    symbol, size = unit_of(plan.units, kind)
    tips = {p.name: getattr(p, letter) / size for p in plan.points}
    figure = frame.figure(9.6, 4.6)
    left, right = figure.subplots(1, 2)
    _mechanism(left, frame.look, c, plan, {p.name: (p.at, getattr(p, letter)) for p in plan.points})
    left.set_title(plan.where, fontsize=8.5, loc="left", parse_math=False)
    colors = {b.name: color_of(k) for k, b in enumerate(plan.bodies)}
    ends = [np.zeros(2), *tips.values()]
    for start, body, parts in chains:
        ends += _chain(right, tips[start], [x / size for x in parts], colors[body], body)
    for guide, point, end, parts in slides:
        steps = [x / size for x in parts]
        below = end / size - sum(steps)
        if point not in tips and np.linalg.norm(end) > NEGLIGIBLE * np.linalg.norm(ends, axis=1).max() * size:  # not at the pole
            tips[point] = end / size
        ends += _chain(right, below, steps, colors[guide], f"{point} along {guide}")
        _arrow(right, np.zeros(2), below, frame.look.faint, zorder=4)  # below the chain: they coincide where the block's pin is at rest
        _named(right, below, f"{point} on {guide}", np.array(ends), frame.look, frame.look.faint)
    cloud = np.array(ends)
    for name, tip in tips.items():
        _arrow(right, np.zeros(2), tip, frame.look.ink)
        _named(right, tip, name, cloud, frame.look, frame.look.ink)
    right.plot(0.0, 0.0, "o", ms=5.0, mfc=frame.look.paper, mec=frame.look.ink, zorder=8)
    _named(right, np.zeros(2), "o", cloud, frame.look, frame.look.ink)
    parts = "" if letter == "v" else ": normal and Coriolis parts solid, others dashed"
    right.set_title(f"{kind} from the pole o{parts}", fontsize=8.5, loc="left")
    _square(right, [with_unit(f"{letter}{x}", symbol) for x in plan.letters])
    if right.get_legend_handles_labels()[0]:
        legend(right)
    return figure


def _chain(axes: Any, start: np.ndarray, parts: list[np.ndarray], color: Any, name: str) -> list[np.ndarray]:
    """Parts of a relative motion one behind the other; a second one is dashed."""
    out, at = [], start
    labels = axes.get_legend_handles_labels()[1]
    for k, part in enumerate(parts):
        label = name if k == 0 and name not in labels else None
        axes.plot(*np.array([at, at + part]).T, color=color, lw=1.8, ls=("-", (0, (4, 2)))[k], label=label, zorder=5)
        at = at + part
        out.append(at)
    return out


def instant_centers(c: Trajectory, path: Place = None, *, at: Any = None, **paper: Unpack[Paper]) -> Any:
    """Instant centers of all pairs of bodies at a position of the drive, numbered as in textbooks: the ground is 1."""
    plan = velocity_plan(c, at)
    return drawn(lambda frame: _centers(frame, c, plan), path, **paper)


def _centers(frame: Frame, c: Trajectory, plan: VelocityPlan) -> Any:
    _, size = unit_of(plan.units, "length")
    figure = frame.figure(7.2, 6.0)
    axes = figure.subplots()
    _mechanism(axes, frame.look, c, plan, {})
    places = np.array([p.at for p in plan.points] + [x.at for x in plan.centers if x.at is not None and x.joint]) / size
    span = float(np.ptp(places, axis=0).max())
    number = {b.name: k + 1 for k, b in enumerate(plan.bodies)}
    spots: list[tuple[np.ndarray, list[str], bool]] = []
    away = []
    far = 1.6  # centers beyond so many sizes of the mechanism are named in the margin, not drawn
    for x in plan.centers:
        code = "{},{}".format(*(number[name] for name in x.bodies))
        if x.at is None:
            away += [] if x.direction is None else [f"{code} at infinity, {np.degrees(np.arctan2(*x.direction[::-1])) % 180.0:.1f}\u00b0"]
            continue
        spot = x.at / size
        if np.abs(spot - places.mean(axis=0)).max() > far * span:
            away.append(f"{code} at {spot[0]:.4g}, {spot[1]:.4g}")
            continue
        same = [s for s in spots if np.linalg.norm(s[0] - spot) < SHARED_NAME * span]
        if same:
            same[0][1].append(code)
        else:
            spots.append((spot, [code], bool(x.joint)))
    cloud = np.array([s for s, _, _ in spots])
    for spot, codes, permanent in spots:
        color = frame.look.ink if permanent else frame.look.accent
        axes.plot(*spot, "o", ms=5.0, mfc=color if permanent else frame.look.paper, mec=color, mew=1.4, zorder=8)
        _named(axes, spot, "  ".join(codes), cloud, frame.look, color)
    numbered = ", ".join(f"{k} {name}" for name, k in number.items())
    axes.set_title("\n".join([plan.where, numbered, *_lines(away)]), fontsize=8, loc="left", parse_math=False)
    return figure


def _lines(texts: list[str]) -> list[str]:
    return ["; ".join(texts[i : i + 3]) for i in range(0, len(texts), 3)]


def _mechanism(axes: Any, look: Theme, c: Trajectory, plan: VelocityPlan, arrows: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """The mechanism at the position, pale, with arrows (place, vector) of one scale."""
    symbol, size = unit_of(plan.units, "length")
    scene = Scene(system_of(c), c[:: max(1, len(c) // LOOKS)])
    Behind(axes, scene, plan.moment, (0, 1), size, look).draw()
    places = np.array([p.at for p in plan.points] + [b.p for b in plan.bodies]) / size
    longest = max((float(np.linalg.norm(v)) for _, v in arrows.values()), default=0.0) or 1.0
    arrow = 0.28  # longest velocity in the mechanism, as a share of its size
    scale = arrow * float(np.ptp(places, axis=0).max()) / longest
    for name, (at, vector) in arrows.items():
        _arrow(axes, at / size, at / size + scale * vector, look.accent)
        _named(axes, at / size, name, np.vstack([places, at / size + scale * vector]), look, look.ink)
    _square(axes, [with_unit(x, symbol) for x in plan.letters])


def _square(axes: Any, labels: list[str]) -> None:
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.set_xlabel(labels[0], parse_math=False)
    axes.set_ylabel(labels[1], parse_math=False)


def _arrow(axes: Any, start: np.ndarray, end: np.ndarray, color: Any, zorder: float = 6) -> None:
    look = {"arrowstyle": "-|>", "color": color, "lw": 1.3, "mutation_scale": 11.0, "shrinkA": 0.0, "shrinkB": 0.0}
    axes.plot(*np.array([start, end]).T, lw=0.0)  # so that the axes cover it
    if np.linalg.norm(end - start) > 0.0:
        axes.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=look, zorder=zorder)


def _named(axes: Any, at: np.ndarray, name: str, cloud: np.ndarray, look: Theme, color: Any) -> None:
    from matplotlib.patheffects import withStroke

    reach = float(np.ptp(cloud, axis=0).max()) or 1.0
    d = open_side(at, cloud, (0.09 * reach, 0.05 * reach))
    note = axes.annotate(
        name, tuple(at), d * 7.0, textcoords="offset points", fontsize=8.5, color=color, zorder=9,
        ha="left" if d[0] > 0.3 else "right" if d[0] < -0.3 else "center",
        va="bottom" if d[1] > 0.3 else "top" if d[1] < -0.3 else "center",
        path_effects=[withStroke(linewidth=2.4, foreground=look.paper)],
    )  # fmt: skip
    note.set_parse_math(False)

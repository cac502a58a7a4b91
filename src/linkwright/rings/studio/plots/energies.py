"""Energy of a motion, and residuals of loops and energy in a run.

energy(run, "energy.png")        kinetic, potential, total; work of drives and loads, losses
drift(run, "drift.png")          residuals of the loops and of the energy balance, on logarithmic scales
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from linkwright.api import LinkwrightError, Trajectory, UsageError, tolerances
from linkwright.rings.studio.plots.common_parts import (
    Frame,
    Paper,
    Place,
    color_of,
    draw_flags,
    drawn,
    flags_of,
    natural_axis,
    x_axis,
    y_axis,
)
from linkwright.rings.studio.plots.motors import plate
from linkwright.simulation.certificate import BALANCED

STORED = ("kinetic", "potential", "total")
WORKS = {"work.in": "work of drives", "work.loads": "work of loads", "work.lost": "lost"}


def energies(c: Trajectory) -> dict[str, np.ndarray]:
    """Return kinetic, potential and total energy, J."""
    try:
        read = c.read([f"energy.{part}" for part in STORED])
    except LinkwrightError as problem:
        raise UsageError(f"there is no energy to plot: {problem}") from problem
    return {part: read[f"energy.{part}"] for part in STORED}


def impacts(c: Trajectory) -> np.ndarray:
    """Energy lost in impacts up to every sample, J."""
    lost = np.zeros(len(c))
    for e in c.events:
        amount = e.values.get("energy lost", 0.0)
        lost += np.where(c.t > e.time, float(amount) if isinstance(amount, (int, float)) else 0.0, 0.0)
    return lost


def rotors(c: Trajectory) -> np.ndarray:
    """Kinetic energy of the motors' rotors, which are no bodies, J."""
    found = np.zeros(len(c))
    for name in [n.split(".")[1] for n in c.columns if n.startswith("motor.") and n.endswith(".current")]:
        known = plate(c, name)
        if known is not None:
            found += 0.5 * float(known.armature) * c[f"{name}.v"] ** 2
    return found


def energy(c: Trajectory, path: Place = None, *, over: str | None = None, **paper: Unpack[Paper]) -> Any:
    """Kinetic, potential and total energy; of a run below them what went in and out, whose sum is the change of the total."""
    stored = energies(c)
    works = {text: c[name] for name, text in WORKS.items() if name in c.columns}
    lost = impacts(c)
    if lost.any():
        works["lost in impacts"] = lost
    spinning = rotors(c)
    if spinning.any():
        stored["rotors"] = spinning
    change = stored["total"] - stored["total"][0] + spinning - spinning[0]
    moved = {text: x for text, x in works.items() if np.abs(x).max() > 1e-12 * max(float(np.abs(stored["total"]).max()), 1e-300)}

    def make(frame: Frame) -> Any:
        figure = frame.figure(7.2, 5.4 if works else 3.4)
        grid = figure.subplots(2 if works else 1, 1, sharex=True, squeeze=False)[:, 0]
        x = x_axis(c, over or (natural_axis(c) if c.full_turn else "t"), grid[-1])
        for k, (part, values) in enumerate(stored.items()):
            color = frame.look.ink if part == "total" else color_of(k)
            grid[0].plot(x, values, lw=1.8 if part == "total" else 1.5, color=color)
            frame.name(grid[0], values, part, color)
        y_axis(grid[0], "energy", "J")
        if works:
            grid[1].axhline(0.0, color=frame.look.faint, lw=0.9)
            for k, (text, values) in enumerate(moved.items(), start=4):
                grid[1].plot(x, values, lw=1.5, color=color_of(k))
                frame.name(grid[1], values, text, color_of(k))
            grid[1].plot(x, change, lw=1.2, ls=(0, (4, 2)), color=frame.look.ink)
            frame.name(grid[1], change, "change of total" + (" + rotors" if spinning.any() else ""), frame.look.ink)
            y_axis(grid[1], "since the start", "J")
        draw_flags(frame, grid, flags_of(c), c, x)
        figure.align_ylabels(list(grid))
        return figure

    return drawn(make, path, **paper)


# -------------------------------------------------------------------- drift


def residuals(c: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Largest residual of the loops at every sample: of position in units of the mechanism's size (rad), of velocity as a
    share of the largest speed (at least 1/s). Loops that were switched off do not count."""
    loops = c.frame
    closed = c.arrays.get("closed")
    position, velocity = np.zeros(len(c)), np.zeros(len(c))
    for i in range(len(c)):
        at = loops.at(c.q[i], c.v[i], float(c.t[i]), c.references[i])
        keep = np.ones(len(at.phi), dtype=bool)
        if closed is not None:
            for rows, on in zip(at.rows, closed[i], strict=False):
                keep[rows] = bool(on)
        position[i] = np.abs(at.phi / loops.row_scale)[keep].max(initial=0.0)
        velocity[i] = np.abs((at.J @ c.v[i] + at.b) / loops.row_scale)[keep].max(initial=0.0)
    return position, velocity / max(1.0, float(np.abs(c.v / loops.columns).max(initial=0.0)))


def imbalance(c: Trajectory) -> tuple[np.ndarray, float]:
    """(E(t) - E(0) - works + losses in J, energy exchanged in J)."""
    stored = energies(c)
    works = [c[name] for name in WORKS]
    E = stored["total"] + rotors(c)
    gap = E - E[0] - works[0] - works[1] + works[2] + impacts(c)
    over = max(float(stored["kinetic"].max()), float(np.ptp(stored["potential"])), *(float(np.abs(w).max()) for w in works))
    return gap, over


def drift(c: Trajectory, path: Place = None, **paper: Unpack[Paper]) -> Any:
    """How far loops are open in position and velocity, and the energy balance, at the samples; dashed: the tolerances of the checks."""
    looks = 600  # samples at which residuals are worked out
    seen = c[:: max(1, -(-len(c) // looks))]
    panels: list[tuple[str, np.ndarray, float]] = []
    if c.skel.tree.nc:
        position, velocity = residuals(seen)
        panels += [("loops open by", position, tolerances.CLOSED_GIVEN), ("loop speed off by", velocity, tolerances.CLOSED_GIVEN)]
    if all(name in c.columns for name in WORKS):
        gap, over = imbalance(seen)
        panels.append(("energy off by", np.abs(gap) / max(over, 1e-12), BALANCED))
    if not panels:
        raise UsageError("nothing can drift here: the mechanism has no loops, and only a simulation keeps an energy balance.")

    least = 1e-17  # below it there is nothing to see: a residual that happens to be exactly zero

    def make(frame: Frame) -> Any:
        figure = frame.figure(7.2, 0.7 + 1.75 * len(panels))
        grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        x = x_axis(seen, "t", grid[-1])
        for k, (axes, (text, values, limit)) in enumerate(zip(grid, panels, strict=True)):
            axes.plot(x, np.where(values < least, np.nan, values), lw=1.2, color=color_of(k))
            axes.axhline(limit, color=frame.look.accent, lw=0.9, ls=(0, (5, 3)))
            axes.set_yscale("log")
            axes.set_ylim(least, max(10.0 * limit, 3.0 * float(values.max())))
            axes.set_ylabel(text)
            axes.set_title(f"largest {values.max():.1e}, allowed {limit:.0e} (dashed)", fontsize=8, loc="left")
            _decades(axes)
        draw_flags(frame, grid, flags_of(seen), seen, x, names=False)
        figure.align_ylabels(list(grid))
        return figure

    return drawn(make, path, **paper)


def _decades(axes: Any) -> None:
    """A tick every few powers of ten, none between."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.yaxis.set_major_locator(LogLocator(base=10.0, numticks=7))
    axes.yaxis.set_minor_locator(NullLocator())

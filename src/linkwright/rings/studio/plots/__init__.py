"""Plots: one verb, `run.plot(what)` or `m.plot(what)`, over a registry of families, one file each.

    run.plot("torque", "torque.png")               a name of PLOTS
    run.plot(["A.torque", "C.on.rocker.magnitude"])      channels, over time or over="A"
    run.plot("A", other=run2)                       two runs and their difference
    m.plot("mechanism", "wiper.png", at=state)      the mechanism itself

Every plot takes `dark`, `size` (inches), `title`, `force`; without a path it returns the Figure. Nothing touches pyplot, and the
same input gives the same file. Adding one: a function `draw(subject, path, *, ..., **paper)` and a line in `PLOTS`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from linkwright.api import Trajectory, UsageError, errors, nearest
from linkwright.rings.studio.plots import (
    blocks,
    control,
    curves,
    efforts,
    energies,
    hodographs,
    motors,
    paths,
    phase_portraits,
    singularity_distance,
    topology_graph,
    velocity_polygons,
)
from linkwright.rings.studio.plots.common_parts import Paper, Place, natural_axis
from linkwright.rings.studio.plots.curves import MOST_CURVES, main_angles, marked_points, overview, plot
from linkwright.rings.studio.plots.subjects import system_of, trajectory_of


@dataclass(frozen=True)
class Entry:
    """A kind of plot: how it is drawn, what it shows, and what it is made of."""

    draw: Callable[..., Any]  # (subject, path, **options) -> Figure or Path
    about: str
    takes: str = "cycle or run"  # "run": a simulation only; "mechanism": needs no motion
    paper: bool = True  # takes the options of all curves: size, title, ...

    @property
    def options(self) -> list[str]:
        """Names of the options it takes."""
        own = [p.name for p in inspect.signature(self.draw).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]
        return [*own, *(Paper.__annotations__ if self.paper else ())]


PLOTS: dict[str, Entry] = {
    "overview": Entry(curves.overview, "positions, velocities, accelerations of main angles, sliders and marked points"),
    "mechanism": Entry(paths.mechanism, "the links at the start or a state (at), paths of points (trace)", "mechanism", paper=False),
    "torque": Entry(efforts.torque, "effort and power of every drive, with extremes and RMS"),
    "loads": Entry(efforts.pin_loads, "loads of the most loaded pins"),
    "hodograph": Entry(hodographs.hodograph_of, "a pin's load as a curve in its links' axes"),
    "motor": Entry(motors.motor, "torque over speed of motors, with their limits"),
    "path": Entry(paths.path_of, "paths of points, the mechanism faintly behind"),
    "velocity polygon": Entry(velocity_polygons.velocity_polygon, "velocities of pins at one position, and their polygon"),
    "acceleration polygon": Entry(velocity_polygons.acceleration_polygon, "accelerations of pins at one position, and their polygon"),
    "instant centers": Entry(velocity_polygons.instant_centers, "instant centers of all pairs of bodies at one position"),
    "phase": Entry(phase_portraits.phase, "speed over position of a coordinate"),
    "energy": Entry(energies.energy, "kinetic, potential, total energy, works and losses"),
    "drift": Entry(energies.drift, "residuals of loops and energy balance, logarithmic"),
    "control": Entry(control.control, "what a controller followed, its errors, efforts with limits, forces held", "run"),
    "singular": Entry(singularity_distance.singular, "singular values and determinants, passages named", "run"),
    "gicm": Entry(blocks.gicm, "block pattern of J and of the GICM, by subsystem", "mechanism"),
    "topology": Entry(topology_graph.topology, "graph of bodies and joints, with cuts and subsystems", "mechanism"),
}


def plot_of(subject: Any, what: str | Sequence[str] | None = None, path: Place = None, **options: Any) -> Any:
    """A plot of a Mechanism, System or Trajectory: a name of `PLOTS` (default "overview"), a channel's name, or several channels.

    Of a mechanism that is turned for it. Returns the Figure, or with `path` (.png, .svg, .pdf) the file written.
    """
    what = "overview" if what is None else what
    if isinstance(what, str) and what in PLOTS:
        entry = PLOTS[what]
        checked_options(what, options, entry.options)
        if entry.takes == "mechanism":
            return entry.draw(subject, path, **options)
        if entry.takes == "run" and not isinstance(subject, Trajectory):
            system_of(subject)
            raise UsageError(f"'{what}' is a plot of a simulation: m.simulate(2).plot('{what}').", name=what)
        return entry.draw(trajectory_of(subject), path, **options)
    c = trajectory_of(subject)
    names = [what] if isinstance(what, str) else what
    if not isinstance(names, Sequence) or not all(isinstance(n, str) for n in names):
        raise UsageError(
            f"choose a plot from {', '.join(PLOTS)}, or channels by name, not {what!r:.60}.", value=what, allowed=PLOTS, name="what"
        )
    if isinstance(what, str) and what not in c.channels and ".advantage." not in what:
        family = [n for n in c.channels if n.split(".")[0] == what.split(".")[0]] if "." in what else []
        hint = nearest(what, family or [*PLOTS, *_heads(c)], "Plots and channels")
        raise UsageError(f"there is no plot and no channel '{what}'.", errors.renamed_channel(what).strip(), hint)
    checked_options("channels", options, Entry(plot, "").options)
    return plot(c, names, path, **options)


def _heads(c: Trajectory) -> list[str]:
    """Channels without a dot: joints, bodies, t."""
    return [n for n in c.channels if "." not in n]


def checked_options(what: str, options: dict[str, Any], allowed: list[str]) -> None:
    """Raise UsageError for an option that a plot does not take."""
    for name in options:
        if name not in allowed:
            raise UsageError(errors.no_option(what, name, allowed, "the plot "))


__all__ = [
    "MOST_CURVES",
    "PLOTS",
    "Entry",
    "checked_options",
    "main_angles",
    "marked_points",
    "natural_axis",
    "overview",
    "plot",
    "plot_of",
]

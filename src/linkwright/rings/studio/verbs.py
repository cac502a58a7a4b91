"""Verbs of the studio on mechanisms and motions: pictures, plots, pages and reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError
from linkwright.results.trajectory import Trajectory, with_mechanism

if TYPE_CHECKING:
    from linkwright.results.state import State
    from linkwright.rings.studio.free_body import FreeBody
    from linkwright.system.mechanism import Mechanism


def _a_run(run: Any) -> Any:
    """Check the subject of a page or report: a cycle, a run, or None."""
    if run is not None and not isinstance(run, Trajectory):
        raise UsageError(f"run is what m.cycle(), m.simulate(...) or lw.load_result(...) gives, not {type(run).__name__}.")
    return run


class MechanismVerbs:
    """A mechanism as people look at it."""

    def picture(
        self: Mechanism,
        path: str | os.PathLike[str] | None = None,
        *,
        at: State | None = None,
        turn: Trajectory | None = None,
        trace: Sequence[str] | None = None,
        size: tuple[float, float] | None = None,
        dark: bool = False,
        labels: bool = True,
        off: Sequence[str] = (),
    ) -> Any:
        """Draw a still picture (matplotlib Figure, or with `path` a file)."""
        from linkwright.rings.studio import picture

        return picture.draw(self, path, at=at, turn=turn, trace=trace, size=size, dark=dark, labels=labels, off=off)

    def animate(
        self: Mechanism,
        path: str | os.PathLike[str],
        *,
        seconds: float | None = None,
        fps: int = 25,
        turn: Trajectory | None = None,
        trace: Sequence[str] | None = None,
        loads: bool = False,
        width: int | None = None,
        resolution: Any = None,
        dark: bool = False,
        progress: Callable[[int, int], Any] | None = None,
    ) -> Path:
        """Write an animated GIF of one turn."""
        from linkwright.rings.studio import animation

        look = {"width": width, "resolution": resolution, "dark": dark, "progress": progress}
        return animation.animate(self, path, seconds=seconds, fps=fps, turn=turn, trace=trace, loads=loads, **look)

    def plot(self: Mechanism, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Plot the mechanism or one turn (matplotlib Figure, or a file): "topology", "gicm", or names of channels."""
        from linkwright.rings.studio.plots import plot_of

        return plot_of(self, what, path, **options)

    def show(self: Mechanism, path: str | os.PathLike[str] | None = None, *, run: Trajectory | None = None, browser: bool = True) -> Path:
        """Open the page of this mechanism in the browser (`run`: with that run in it); with `path` it is written there."""
        from linkwright.rings.studio.page import show

        return show(self, path, run=_a_run(run), browser=browser)

    def page(self: Mechanism, path: str | os.PathLike[str], *, run: Trajectory | None = None, steps: int | None = None) -> Path:
        """Write the page: one HTML file that computes by itself and needs nothing else; `steps` of its cycle, 360 if not given."""
        from linkwright.rings.studio.page import write

        return write(self, path, run=_a_run(run), steps=steps)

    def report(
        self: Mechanism,
        path: str | os.PathLike[str],
        run: Trajectory | None = None,
        motor: Any = None,
        *,
        steps: int | None = None,
        tolerances: Any = None,
        curves: Sequence[str] | str | None = None,
        variants: Mapping[str, Any] | None = None,
        measures: Sequence[str] | str | None = None,
        **texts: Any,
    ) -> Path:
        """Write the report, as a page with sheets for print or as .pdf: title block, mobility, dimensions, motion, drive, motor, bearing
        loads, variants, checks, terms.

        `run` is reported on in place of a turn (of `steps` steps, 360 if not given); `motor` is a dict as for
        `c.drive_sizing(motor=...)`, in place of the file's own; `tolerances` (of `m.tolerances`) get a part of their own; `curves` are
        channels to show, `measures` texts of single numbers; `variants` are other mechanisms by name, side by side with this one. Texts of
        the title block are title, number, revision, author, company, date; those not given here are taken from `report:` in the file.
        """
        from linkwright.rings.studio.report import report

        content = {"steps": steps, "tolerances": tolerances, "curves": curves, "variants": variants, "measures": measures}
        return report(self, path, run=_a_run(run), motor=motor, **content, **texts)

    def widget(self: Mechanism, run: Trajectory | None = None, *, height: int = 720) -> Any:
        """Return the page as a notebook widget (needs anywidget): `w.values` and `w.picked` follow the page and move it, `w.mechanism` is
        the mechanism with its numbers. `run` is played in it."""
        from linkwright.rings.studio.widget import widget

        return widget(self, run=_a_run(run), height=height)

    def _repr_html_(self: Mechanism) -> str:
        """Notebooks: the page itself."""
        from linkwright.rings.studio.notebook import snippet

        return snippet(self)


class TrajectoryVerbs:
    """A motion as people look at it."""

    def free_body(
        self: Trajectory, body: str, at: Any = None, path: str | os.PathLike[str] | None = None, *, dark: bool = False
    ) -> FreeBody:
        """Return the free-body diagram of a link: every force on it, drawn to scale."""
        from linkwright.rings.studio.free_body import free_body

        with_mechanism(self, "free_body")
        return free_body(self, body, at, path, dark=dark)

    def show(self: Trajectory, path: str | os.PathLike[str] | None = None, *, browser: bool = True) -> Path:
        """Open the page that plays this result; with `path` it is written there."""
        from linkwright.rings.studio.page import show

        return show(with_mechanism(self, "show"), path, run=self, browser=browser)

    def page(self: Trajectory, path: str | os.PathLike[str]) -> Path:
        """Write the page that plays this result: one HTML file that needs nothing else."""
        from linkwright.rings.studio.page import write

        return write(with_mechanism(self, "page"), path, run=self)

    def report(self: Trajectory, path: str | os.PathLike[str], *, motor: Any = None, **options: Any) -> Path:
        """Write the report of this motion, as a page or .pdf: what the machine is, how it moves, what it needs and carries; options as in
        `m.report`: curves, variants, and the texts of the title block."""
        from linkwright.rings.studio.report import report

        return report(with_mechanism(self, "report"), path, run=self, motor=motor, **options)

    def plot(self: Trajectory, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Plot this result (matplotlib Figure, or with `path` the file): channels by name, or a kind such as "energy"."""
        from linkwright.rings.studio.plots import plot_of

        with_mechanism(self, "plot")
        return plot_of(self, what, path, **options)

    def animate(
        self: Trajectory,
        path: str | os.PathLike[str],
        *,
        speed: float = 1.0,
        fps: int = 25,
        trace: Sequence[str] | None = None,
        loads: bool = False,
        width: int | None = None,
        resolution: Any = None,
        dark: bool = False,
        progress: Callable[[int, int], Any] | None = None,
    ) -> Path:
        """Write this motion in its own time as an animated picture, .gif or .mp4 (`speed=0.5`: half as fast; `loads=True`: arrows)."""
        from linkwright.rings.studio.animation import play

        with_mechanism(self, "animate")
        look = {"width": width, "resolution": resolution, "dark": dark, "progress": progress}
        return play(self, path, speed=speed, fps=fps, trace=trace, loads=loads, **look)

    def _repr_html_(self: Trajectory) -> str | None:
        """Notebooks: the page itself, playing this result; None of one without a mechanism or without samples, which prints as text."""
        from linkwright.rings.studio.notebook import snippet

        return None if self.system is None or not len(self) else snippet(self.system, run=self)

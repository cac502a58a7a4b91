"""Verbs of the studio on mechanisms and motions: pictures, plots, pages and reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from linkwright.results.trajectory import with_mechanism

if TYPE_CHECKING:
    from anywidget import AnyWidget
    from matplotlib.figure import Figure

    from linkwright.api import Mechanism, Trajectory
    from linkwright.rings.studio.free_body import FreeBody
    from linkwright.rings.studio.plots.common_parts import PlotOptions


class MechanismVerbs:
    """A mechanism as people look at it."""

    def animate(
        self: Mechanism,
        path: str | os.PathLike[str],
        *,
        seconds: float | None = None,
        fps: int = 25,
        trace: Sequence[str] | None = None,
        loads: bool = False,
        width: int | None = None,
        resolution: Any = None,
        dark: bool = False,
        progress: Callable[[int, int], Any] | None = None,
    ) -> Path:
        """Write one cycle as an animated picture, .gif or .mp4, that repeats without a jump.

        `c.animate` shows a motion in its own time.

        Parameters
        ----------
        path : path
            File to write, .gif or .mp4.
        seconds : float, optional
            Duration of the cycle in the picture (default: its own, limited to 2 to 6 s).
        fps : int, default 25
            Frames per second.
        trace : sequence of str, optional
            Points whose paths are drawn: "coupler.P".
        loads : bool, default False
            True to draw pin forces as arrows.
        width : int, optional
            Width in pixels.
        resolution : str or sequence of int, optional
            Width and height in pixels.
        dark : bool, default False
            True for a dark background.
        progress : callable, optional
            Function of (frames drawn, frames in all).

        Returns
        -------
        Path
            The file written.

        Examples
        --------
        >>> lw.load("wiper").animate("wiper.gif", seconds=1, fps=5).name
        'wiper.gif'
        """
        from linkwright.rings.studio import animation

        look: dict[str, Any] = {"width": width, "resolution": resolution, "dark": dark, "progress": progress}
        return animation.animate(self, path, seconds=seconds, fps=fps, trace=trace, loads=loads, **look)

    def plot(
        self: Mechanism, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Unpack[PlotOptions]
    ) -> Figure | Path:
        """Plot the mechanism or its cycle (matplotlib Figure, or a file): "mechanism", "topology", "gicm", or names of channels.

        `m.plot("mechanism", "wiper.png", at=state, trace=["coupler.P"], size=(6, 4), labels=False)` draws the links at a state.
        """
        from linkwright.rings.studio.plots import plot_of

        return plot_of(self, what, path, **options)

    @overload
    def show(
        self: Mechanism, path: str | os.PathLike[str] | None = ..., *, steps: int | None = ..., browser: bool | None = ...
    ) -> Path: ...
    @overload
    def show(self: Mechanism, *, widget: Literal[True], height: int = ...) -> AnyWidget: ...
    def show(
        self: Mechanism,
        path: str | os.PathLike[str] | None = None,
        *,
        steps: int | None = None, browser: bool | None = None, widget: bool = False, height: int | None = None,
    ) -> Path | AnyWidget:  # fmt: skip
        """Open the page of this mechanism in the browser, or write it as one HTML file that needs no Python.

        Parameters
        ----------
        path : path, optional
            File to write, .html. By default the page opens in the browser.
        steps : int, optional
            Number of equal steps: of the cycle (default 360).
        browser : bool, optional
            True opens a page that is written to `path`, too. False opens none.
        widget : bool, default False
            True for a notebook widget (needs anywidget): `w.values` and `w.picked` follow the page and move it, `w.mechanism` is the
            mechanism with its numbers.
        height : int, optional
            Height of the widget in pixels.

        Returns
        -------
        Path or widget
            File of the page, or the widget.

        Raises
        ------
        LinkwrightError
            If the file cannot be written, or anywidget is missing.

        Examples
        --------
        >>> lw.load("wiper").show("wiper.html", steps=36).name
        'wiper.html'
        """
        from linkwright.rings.studio.page import show

        return show(self, path, steps=steps, browser=browser, widget=widget, height=height)

    def report(
        self: Mechanism,
        path: str | os.PathLike[str],
        motor: Any = None,
        *,
        steps: int | None = None,
        tolerances: Any = None,
        curves: Sequence[str] | str | None = None,
        variants: Mapping[str, Any] | None = None,
        measures: Sequence[str] | str | None = None,
        title: str | None = None,
        number: str | None = None,
        revision: str | None = None,
        author: str | None = None,
        company: str | None = None,
        date: str | None = None,
    ) -> Path:
        """Write the report as a page with sheets for print, or as PDF.

        It describes the cycle of the drive. `c.report` describes any other motion. It has a title block, mobility, dimensions, motion,
        drive, motor, bearing loads, variants, checks and terms. Texts of the title block that are not given are taken from `report:` in
        the model file.

        Parameters
        ----------
        path : path
            File to write, .html or .pdf.
        motor : mapping, optional
            Motor as for `c.drive_sizing(motor=...)`, in place of the file's motor.
        steps : int, optional
            Number of equal steps: of the cycle (default 360).
        tolerances : ToleranceAnalysis, optional
            Result of `m.tolerances`, which gets a part of its own.
        curves : sequence of str, optional
            Channel to show as a curve: coupler.P.x.
        variants : mapping, optional
            Other mechanisms by name, side by side with this one.
        measures : sequence of str, optional
            Measures of the motion, also of the variants.
        title, number, revision, author, company, date : str, optional
            Text in the title block (default: `report:` in the file).

        Returns
        -------
        Path
            File that was written.

        Raises
        ------
        LinkwrightError
            If a channel or a measure is not known, or the file cannot be written.

        Examples
        --------
        >>> lw.load("wiper").report("wiper.html", steps=36).name
        'wiper.html'
        """
        from linkwright.rings.studio.report import report

        content: dict[str, Any] = {"steps": steps, "tolerances": tolerances, "curves": curves, "variants": variants, "measures": measures}
        texts = {"title": title, "number": number, "revision": revision, "author": author, "company": company, "date": date}
        return report(self, path, motor=motor, **content, **texts)

    def compare(
        self: Mechanism,
        other: Mechanism,
        path: str | os.PathLike[str],
        *,
        names: Sequence[str],
        title: str = "",
        table: Sequence[Sequence[Any]] = (),
        channel: str = "",
        bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
        steps: int | None = None,
    ) -> Path:
        """Write a page of two designs of one mechanism, with a slider between them.

        Parameters
        ----------
        other : Mechanism
            Design to compare with, shown first. This one is gray.
        path : path
            HTML file to write.
        names : sequence of str
            Parameters of the model that differ.
        title : str, optional
            Heading of the page.
        table : sequence of rows, optional
            Goals and conditions: text, value before, value after, remark.
        channel : str, optional
            Channel whose curves are shown first.
        bounds : Mapping[str, tuple], optional
            Ranges of the sliders by name.
        steps : int, optional
            Steps of the cycle, 360 by default.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> m = lw.load("four-bar")
        >>> m.compare(m.with_(L1="0.28 m"), "designs.html", names=["L1"], steps=36).name
        'designs.html'
        """
        from linkwright.rings.studio.compare_page import write

        more: dict[str, Any] = {"title": title, "table": table, "channel": channel, "bounds": bounds, "steps": steps}
        return write(self, other, path, names=names, **more)

    def _repr_html_(self: Mechanism) -> str:
        """Notebooks: the page itself."""
        from linkwright.rings.studio.widget import snippet

        return snippet(self)


class TrajectoryVerbs:
    """A motion as people look at it."""

    def free_body(self: Trajectory, body: str, at: Any = None) -> FreeBody:
        """Return every force on a link at a place of the motion, as a table. Its `plot(path)` draws the diagram to scale."""
        from linkwright.rings.studio.free_body import free_body

        with_mechanism(self, "free_body")
        return free_body(self, body, at)

    @overload
    def show(self: Trajectory, path: str | os.PathLike[str] | None = ..., *, browser: bool | None = ...) -> Path: ...
    @overload
    def show(self: Trajectory, *, widget: Literal[True], height: int = ...) -> AnyWidget: ...
    def show(
        self: Trajectory,
        path: str | os.PathLike[str] | None = None,
        *,
        browser: bool | None = None, widget: bool = False, height: int | None = None,
    ) -> Path | AnyWidget:  # fmt: skip
        """Open the page that plays this motion in the browser, or with `path` write it: one HTML file that needs nothing else.

        browser, widget, height: as in `m.show`.
        """
        from linkwright.rings.studio.page import show

        return show(with_mechanism(self, "show"), path, run=self, browser=browser, widget=widget, height=height)

    def report(
        self: Trajectory,
        path: str | os.PathLike[str],
        *,
        motor: Any = None,
        tolerances: Any = None,
        curves: Sequence[str] | str | None = None,
        variants: Mapping[str, Any] | None = None,
        measures: Sequence[str] | str | None = None,
        title: str | None = None,
        number: str | None = None,
        revision: str | None = None,
        author: str | None = None,
        company: str | None = None,
        date: str | None = None,
    ) -> Path:
        """Write the report of this motion as a page with sheets for print, or as PDF.

        Parameters
        ----------
        path : path
            File to write, .html or .pdf.
        motor : mapping, optional
            Motor as for `c.drive_sizing(motor=...)`, in place of the file's motor.
        tolerances : mapping, optional
            Tolerances whose effects are listed, as for `m.tolerances`.
        curves : sequence of str, optional
            Channels that are drawn over the motion.
        variants : mapping, optional
            Designs that are compared, {name: mechanism or parameters}.
        measures : sequence of str, optional
            Measures of the comparison.
        title : str, optional
            Title of the report.
        number : str, optional
            Number of the document.
        revision : str, optional
            Revision of the document.
        author : str, optional
            Author.
        company : str, optional
            Company.
        date : str, optional
            Date.

        Returns
        -------
        Path
            The file written.

        Examples
        --------
        >>> lw.load("wiper").cycle(steps=36).report("cycle.html", title="Wiper").name
        'cycle.html'
        """
        from linkwright.rings.studio.report import report

        content: dict[str, Any] = {"tolerances": tolerances, "curves": curves, "variants": variants, "measures": measures}
        texts = {"title": title, "number": number, "revision": revision, "author": author, "company": company, "date": date}
        return report(with_mechanism(self, "report"), path, run=self, motor=motor, **content, **texts)

    def plot(
        self: Trajectory, what: Any = None, path: str | os.PathLike[str] | None = None, **options: Unpack[PlotOptions]
    ) -> Figure | Path:
        """Plot this motion (matplotlib Figure, or with `path` the file): channels by name, or a kind such as "energy" or "mechanism"."""
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
        """Write this motion in its own time as an animated picture, .gif or .mp4.

        Parameters
        ----------
        path : path
            File to write, .gif or .mp4.
        speed : float, default 1
            Factor of the time: 0.5 is half as fast.
        fps : int, default 25
            Frames per second.
        trace : sequence of str, optional
            Points whose paths are drawn: "coupler.P".
        loads : bool, default False
            True to draw pin forces as arrows.
        width : int, optional
            Width in pixels.
        resolution : str or sequence of int, optional
            Width and height in pixels.
        dark : bool, default False
            True for a dark background.
        progress : callable, optional
            Function of (frames drawn, frames in all).

        Returns
        -------
        Path
            The file written.

        Examples
        --------
        >>> lw.load("wiper").cycle(steps=36).animate("cycle.gif", fps=5).name
        'cycle.gif'
        """
        from linkwright.rings.studio.animation import play

        with_mechanism(self, "animate")
        look: dict[str, Any] = {"width": width, "resolution": resolution, "dark": dark, "progress": progress}
        return play(self, path, speed=speed, fps=fps, trace=trace, loads=loads, **look)

    def _repr_html_(self: Trajectory) -> str | None:
        """Notebooks: the page itself, playing this result; None of one without a mechanism or without samples, which prints as text."""
        from linkwright.rings.studio.widget import snippet

        return None if self.system is None or not len(self) else snippet(self.system, run=self)

"""The presenter of turns and runs: tables, diagrams, plots and pages, each made when it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwright.errors import call_explained
from linkwright.results.trajectory import Trajectory


class Designer:
    """Tables, diagrams and pages of turns and runs: the presenter of every System that is made here."""

    def bearings(self, c: Trajectory) -> Any:
        from linkwright.rings.design.bearings import bearings

        return bearings(c)

    def cylinders(self, c: Trajectory) -> Any:
        from linkwright.rings.design.cylinders import cylinders

        return cylinders(c)

    def belts(self, c: Trajectory) -> Any:
        from linkwright.rings.design.belts import belts

        return belts(c)

    def load_cases(self, c: Trajectory, bodies: Any) -> Any:
        from linkwright.rings.design.load_cases import load_cases

        return load_cases(c, bodies)

    def drive_sizing(self, c: Trajectory, drive: str | None, **options: Any) -> Any:
        from linkwright.rings.design.drive_sizing import drive_sizing

        return call_explained(drive_sizing)(c, drive, **options)

    def choose_motor(self, c: Trajectory, catalog: Any, **options: Any) -> Any:
        from linkwright.rings.design.motor_choice import choose_motor

        return call_explained(choose_motor)(c, catalog, **options)

    def flywheel(self, c: Trajectory, fluctuation: float, **options: Any) -> Any:
        from linkwright.rings.design.flywheel import flywheel

        return call_explained(flywheel)(c, fluctuation, **options)

    def free_body(self, c: Trajectory, body: str, at: Any, path: Any, **options: Any) -> Any:
        from linkwright.rings.studio.free_body import free_body

        return call_explained(free_body)(c, body, at, path, **options)

    def show(self, c: Trajectory, path: Any = None, *, browser: bool = True) -> Path:
        from linkwright.rings.studio.page import show

        return show(c.system, path, run=c, browser=browser)

    def page(self, c: Trajectory, path: Any) -> Path:
        from linkwright.rings.studio.page import write

        return write(c.system, path, run=c)

    def report(self, c: Trajectory, path: Any, **options: Any) -> Path:
        from linkwright.rings.studio.report import report

        return call_explained(report)(c.system, path, run=c, **options)

    def plot(self, c: Trajectory, what: Any = None, path: Any = None, **options: Any) -> Any:
        from linkwright.rings.studio.plots import plot_of

        return plot_of(c, what, path, **options)

    def control(self, c: Trajectory, between: Any = None) -> Any:
        from linkwright.rings.design.comparison import control_report

        return control_report(c, between)

    def animate(self, c: Trajectory, path: Any, **options: Any) -> Path:
        from linkwright.rings.studio.animation import play

        return call_explained(play, "animate")(c, path, **options)

    def snippet(self, c: Trajectory) -> str:
        from linkwright.rings.studio.notebook import snippet

        return snippet(c.system, run=c)

    def atlas_plot(self, atlas: Any, what: Any = None, path: Any = None, **options: Any) -> Any:
        from linkwright.rings.studio.atlas_plots import maps

        return call_explained(maps, "plot")(atlas, what, path, **options)

    def atlas_page(self, atlas: Any, path: Any) -> Path:
        from linkwright.rings.studio.atlas_page import write

        return write(atlas, path)

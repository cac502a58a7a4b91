"""Presentation of a turn or a run: pages, reports, plots and tables.

They are made by rooms above this one. A Trajectory holds the System it comes from, and a System holds the presenter it was given by
`mechanism`: an object with one method for each verb, which takes the Trajectory first.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError

Place = str | os.PathLike[str]


class Presented:
    """The verbs of a Trajectory that show it."""

    if TYPE_CHECKING:
        system: Any

        def _need_sample(self, i: int = 0) -> None: ...

    def show(self, path: Place | None = None, *, browser: bool = True) -> Path:
        """Open the page that plays this result; with `path` it is kept there."""
        return self._presenter("show").show(self, path, browser=browser)

    def page(self, path: Place) -> Path:
        """Write the page that plays this result: one HTML file that needs nothing else."""
        return self._presenter("page").page(self, path)

    def report(self, path: Place, *, motor: Any = None) -> Path:
        """Write the page with one or two sheets for print: what the machine is, how it moves, what it needs and carries."""
        return self._presenter("report").report(self, path, motor=motor)

    def plot(self, what: Any = None, path: Place | None = None, **options: Any) -> Any:
        """A plot of this result (matplotlib Figure, or with `path` the file): channels by name, or a kind such as "energy"."""
        return self._presenter("plot").plot(self, what, path, **options)

    def animate(self, path: Place, **options: Any) -> Path:
        """This motion in its own time as an animated picture, .gif or .mp4 (`speed=0.5`: half as fast; `loads=True`: arrows)."""
        return self._presenter("animate").animate(self, path, **options)

    def control(self, between: Any = None) -> Any:
        """How a controlled run did: norms of the efforts, tracking and force errors; prints as tables."""
        return self._presenter("control").control(self, between)

    def _repr_html_(self) -> str | None:
        """Notebooks: the page itself, playing this result."""
        try:
            presenter = self._presenter("snippet")
        except UsageError:  # a result without a mechanism prints as text
            return None
        return presenter.snippet(self)

    def _presenter(self, verb: str) -> Any:
        """The object that makes tables and pages of this result."""
        self._need_sample()
        found = getattr(self.system, "presenter", None)
        if found is None:
            raise UsageError(f"{verb} needs the mechanism's masses and drives, which this result does not carry; take it from m.turn().")
        return found

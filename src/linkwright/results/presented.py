"""What a turn or a run shows of itself: pages, reports, plots and tables, made by layers above this one.

A Trajectory carries a `source` that computes its loads. The module that makes tables and pages of it is a layer above, registers once with
`designed_by`, and is asked for the verbs the source does not have itself: so results of a System show themselves as well as
those of a Mechanism.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwright.errors import UsageError

Place = str | os.PathLike[str]
_designers: list[Callable[[Any], Any]] = []  # at most one: the layer above, once it is imported


def designed_by(make: Callable[[Any], Any]) -> None:
    """`make(source)` gives what makes tables and pages of results with that source."""
    _designers[:] = [make]


class Presented:
    """The verbs of a Trajectory that show it."""

    if TYPE_CHECKING:
        source: Any

        def _need_sample(self, i: int = 0) -> None: ...

    def show(self, path: Place | None = None, *, browser: bool = True) -> Path:
        """Open the page that plays this result; with `path` it is written there."""
        return self._source("show").show(self, path, browser=browser)

    def page(self, path: Place) -> Path:
        """Write the page that plays this result: one HTML file that needs nothing else."""
        return self._source("page").page(self, path)

    def report(self, path: Place, *, motor: Any = None) -> Path:
        """Write the page with one or two sheets for print: what the machine is, how it moves, what it needs and carries."""
        return self._source("report").report(self, path, motor=motor)

    def plot(self, what: Any = None, path: Place | None = None, **options: Any) -> Any:
        """Plot this result (matplotlib Figure, or with `path` the file): channels by name, or a kind such as "energy"."""
        return self._source("plot").plot(self, what, path, **options)

    def animate(self, path: Place, **options: Any) -> Path:
        """Write this motion in its own time as an animated picture, .gif or .mp4 (`speed=0.5`: half as fast; `loads=True`: arrows)."""
        return self._source("animate").animate(self, path, **options)

    def control(self, between: Any = None) -> Any:
        """Return measures of a controlled run: norms of the efforts, tracking and force errors; prints as tables."""
        return self._source("control").control(self, between)

    def _repr_html_(self) -> str | None:
        """Notebooks: the page itself, playing this result."""
        try:
            source = self._source("snippet")
        except UsageError:  # a result without a mechanism behind it prints as text
            return None
        return source.snippet(self)

    def _source(self, verb: str) -> Any:
        """Who has this verb: the source itself, or the designer made of it."""
        self._need_sample()
        if hasattr(self.source, verb):
            return self.source
        for make in _designers if hasattr(self.source, "system") else ():
            if hasattr(designer := make(self.source), verb):
                return designer
        raise UsageError(f"{verb} needs the mechanism's masses and drives, which this result does not carry; take it from m.turn().")

"""Numbers along axes as plain text: as mathematics, which matplotlib makes of them, they take a third of a plot's time."""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import ScalarFormatter  # this module is imported when axes are drawn, so that nothing waits for matplotlib


class Numbers(ScalarFormatter):
    """Only the common power of ten, where there is one, stays mathematics."""

    def __call__(self, x: Any, pos: Any = None) -> str:
        return super().__call__(x, pos).removeprefix("$\\mathdefault{").removesuffix("}$")

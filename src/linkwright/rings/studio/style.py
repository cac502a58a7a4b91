"""Colors and settings of all pictures, for light and dark pages."""

from __future__ import annotations

import io
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from linkwright.api import files

PALETTE = ("#3f72a8", "#4f9d84", "#8b6fb3", "#c79a1e", "#b4566a", "#3d97b4", "#7d9a3b", "#9c7350", "#62708f", "#a8578f")
DRIVEN = "#e06a32"
RAMP = ("#34498f", "#35679f", "#3d8aa8", "#59b39c", "#a3d08a", "#f3e59b")  # values of a map, low to high: lighter is more


@dataclass(frozen=True)
class Theme:
    """Colors that depend on the page."""

    paper: str
    ink: str  # outlines, text
    faint: str  # ground, rails, frames
    accent: str  # drive arrows
    lighten: float  # share of the paper mixed into a body's fill


LIGHT = Theme("#ffffff", "#22303c", "#8593a0", "#c8421a", 0.30)
DARK = Theme("#12181f", "#e3e9ee", "#71808d", "#ff8a5c", 0.22)


def theme(dark: bool) -> Theme:
    return DARK if dark else LIGHT


def mixed(color: str, other: str, share: float) -> tuple[float, float, float]:
    """`color` with a share of `other`, as red, green, blue in 0 .. 1."""
    a, b = (tuple(int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)) for c in (color, other))
    r, g, b = (x + share * (y - x) for x, y in zip(a, b, strict=True))
    return r, g, b


@contextmanager
def settings(look: Theme) -> Generator[None]:
    """matplotlib's own defaults whatever the user's configuration says, with our few changes."""
    import matplotlib

    changes: dict[str, Any] = {
        "font.family": "DejaVu Sans",
        "font.size": 9.0,
        "text.color": look.ink,
        "axes.labelcolor": look.ink,
        "axes.edgecolor": look.faint,
        "axes.facecolor": look.paper,
        "axes.grid": True,
        "grid.color": look.faint,
        "grid.alpha": 0.25,
        "grid.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": look.ink,
        "ytick.color": look.ink,
        "figure.facecolor": look.paper,
        "savefig.facecolor": look.paper,
        "legend.frameon": False,
        "svg.hashsalt": "linkwright",
        "path.simplify": True,
    }
    keep = ("backend", "backend_fallback", "interactive", "toolbar", "timezone")
    quiet = {k: v for k, v in matplotlib.rcParamsDefault.items() if k not in keep}
    settings_now: Any = matplotlib.rcParams
    with matplotlib.rc_context():
        settings_now.update(quiet)
        settings_now.update(changes)
        yield


def write(figure: Any, path: Any, dpi: int = 160) -> None:
    """Save a figure with our mark and without dates or versions, so that the same input gives the same file."""
    ending = path.suffix.lower()
    silent = {".png": (), ".svg": ("Date",), ".pdf": ("CreationDate", "Producer")}[ending]
    mark = "Software" if ending == ".png" else "Creator"
    drawn = io.BytesIO()  # not the file itself, which matplotlib leaves open where writing fails
    figure.savefig(drawn, format=ending[1:], dpi=dpi, metadata={**dict.fromkeys(silent), mark: files.OWNER})
    path.write_bytes(drawn.getvalue())

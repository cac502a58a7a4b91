"""The mechanism itself as a plot: `m.plot("mechanism", at=state)`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from linkwright.api import State, Trajectory
from linkwright.rings.studio.picture import draw
from linkwright.rings.studio.plots.subjects import system_of


def mechanism(
    subject: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    at: State | None = None,
    trace: Sequence[str] | None = None,
    size: tuple[float, float] | None = None,
    dark: bool = False,
    labels: bool = True,
    off: Sequence[str] = (),
) -> Any:
    """The picture of a Mechanism, a System or the mechanism of a motion, whose points then leave their paths."""
    turn = subject if isinstance(subject, Trajectory) else None
    return draw(system_of(subject), path, at=at, turn=turn, trace=trace, size=size, dark=dark, labels=labels, off=off)

"""Drives that turn many times while the leading one turns once: how many turns a cycle may have, and when its samples are coarse."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.coordinates import is_rotary
from linkwright.model.curves import Curve
from linkwright.model.curves.lines import Line
from linkwright.model.description import Description

FEW = 72  # samples of a turn below which its figures are said to be coarse: 5 deg
MOST_TURNS = 100  # of another drive in one cycle


def need_few_turns(d: Description, lead: str, laws: Mapping[str, Curve], span: float) -> None:
    """Raise UsageError if another drive turns too often in a cycle of so many seconds."""
    for name, n in _turns(d, lead, laws, span).items():
        if n > MOST_TURNS:
            raise UsageError(
                f"drive '{name}' turns {n:.4g} times in one cycle of '{lead}'; at most {MOST_TURNS} are computed. Look at one turn of it "
                f"by drive='{name}', or correct the speed of one of them."
            )


def coarse_notes(d: Description, lead: str, laws: Mapping[str, Curve], t: np.ndarray) -> list[str]:
    """Return notes on drives of which the samples at times t show a turn by few points."""
    steps = len(t) - 1
    turns = _turns(d, lead, laws, float(t[-1] - t[0]) if len(t) else 0.0)
    return [
        f"drive '{name}' turns {n:.4g} times in this cycle, {steps / n:.3g} samples a turn: larger values may lie between them; take more "
        "steps"
        for name, n in turns.items()
        if n > 1.0 and steps < FEW * n
    ]


def _turns(d: Description, lead: str, laws: Mapping[str, Curve], span: float) -> dict[str, float]:
    """Return the turns of other drives at constant speed."""
    rates = {name: law.slope for name, law in laws.items() if name != lead and isinstance(law, Line) and is_rotary(d, name)}
    return {name: abs(rate) * span / (2.0 * np.pi) for name, rate in rates.items()}

"""Effects of plays on a measure of a cycle, beside those of tolerances.

A play may take any position at every instant, so a measure moves by the lost motion of its channel at the samples that it depends on, for
example at the top for `max` and at both ends for `range`. Like a tolerance, half a play counts as three standard deviations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import ChannelError, Description, Measure, Trajectory, compiled_of, elements, is_rotary, shown, unit_kinds
from linkwright.rings.design.studies.variations import SIGMAS, ToleranceBand

POSITIONS = ("angle", "length")  # dimensions of channels that plays move


@dataclass(frozen=True)
class PlayEffect:
    """A play: half its size as it is written, and how far it moves a measure to each side, SI."""

    name: str
    shown: str
    half: float
    makes: float

    @property
    def deviation(self) -> float:
        """Standard deviation of the measure by this play."""
        return self.makes / SIGMAS


def play_effects(nominal: Any, m: Any) -> tuple[list[PlayEffect], str]:
    """Effects of all plays on a measure, and why there are none; no effects and no reason for a model without plays."""
    if not isinstance(nominal, Trajectory) or not isinstance(m, Measure) or nominal.system is None or nominal.proof is not None:
        return [], ""
    d = compiled_of(nominal.system).described
    plays = elements.plays_of(d)
    if not plays:
        return [], ""
    weights = m.weights(nominal).get(m.channel)
    if nominal.dimension(m.channel) not in POSITIONS or weights is None or weights.ndim != 1:
        return [], f"{m.name}: plays are left out, because it does not measure an angle or a length."
    try:
        lost = nominal.read([f"{m.channel}.lost_motion.{p.name}" for p in plays])
    except ChannelError as problem:
        return [], f"{m.name}: plays are left out. {problem}"
    out = []
    for p, moved in zip(plays, lost.values(), strict=True):
        used = weights != 0.0
        text = shown(p.half, unit_kinds.KINDS[_kind(d, p)], d.units, 6)
        out.append(PlayEffect(p.name, text, p.half, float(np.abs(weights[used]) @ moved[used])))
    return out, ""


def _kind(d: Description, play: Any) -> str:
    """Dimension of a play: an angle of a coupling that turns, else a length."""
    tie = next((x for x in d.ties if x.name == play.name and play.row), None)
    return "angle" if tie is not None and not tie.touching and is_rotary(d, tie.joints[1]) else "length"


def drawn_effects(effects: Sequence[PlayEffect], count: int, seed: int) -> np.ndarray:
    """Deviations of a measure in some drawn designs, by plays that are drawn as tolerances are."""
    rng = np.random.default_rng(seed)
    every = [ToleranceBand(e.name, e.shown, -e.makes, e.makes, 0.0, e.makes).at(rng.random(count)) for e in effects if e.makes > 0.0]
    return np.sum(every, axis=0) if every else np.zeros(count)

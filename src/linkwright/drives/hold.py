"""Values that sampled drives and controllers hold between samples, and how a run continues with them after a switch.

Slots have names, because a switch may take a drive away (a lock) or give it back; what was held is found again by name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwright.integrators.step_size import SAME


class ZeroOrderHold:
    """A zero-order hold: values of a sampler and their times."""

    def __init__(self, slots: Sequence[str] = ()) -> None:
        self.slots = tuple(slots)
        self.t: list[float] = []
        self.values: list[np.ndarray] = []
        self.last: dict[str, float] = {}  # of all slots there have been in this run
        self.done: dict[str, float] = {}  # what drives gave at the instant of the switch, before it
        self.done_at = -np.inf

    def note(self, t: float, values: np.ndarray) -> None:
        while self.t and t <= self.t[-1]:  # a run that began again
            self.t.pop()
            self.values.pop()
        self.t.append(t)
        self.values.append(values)

    def take_over(self, other: ZeroOrderHold, t: float, origin: float, every: float) -> None:
        """Continue from what another one held at t.

        A sample of this very instant is taken again by a controller, from what was held before it: what it counted (integrals,
        commands on their way) must not count twice. A drive that was asked at this instant is not asked again: it may remember.
        """
        past = list(zip(other.t, other.values, strict=True))
        self.last = dict(other.last)
        if past:
            self.last |= dict(zip(other.slots, past[-1][1], strict=True))
        k = round((t - origin) / every) if every else 0
        if every and past and abs(t - origin - k * every) <= SAME * every and round((past[-1][0] - origin) / every) == k:
            self.done, self.done_at = dict(zip(other.slots, past.pop()[1], strict=True)), t
        self.t, self.values = [when for when, _ in past], [self._mine(other.slots, values) for _, values in past]
        if not past and self.slots and self.last:
            self.t, self.values = [t], [self._mine(tuple(self.last), np.array(list(self.last.values())))]

    def _mine(self, slots: Sequence[str], values: np.ndarray) -> np.ndarray:
        known = {**self.last, **dict(zip(slots, values, strict=True))}
        return np.array([known.get(name, 0.0) for name in self.slots])

    def asked_already(self, t: float, every: float) -> dict[str, float]:
        """Values of the drives at this instant before a switch."""
        return self.done if abs(t - self.done_at) <= SAME * every else {}

    def at(self, t: np.ndarray) -> np.ndarray:
        k = np.searchsorted(np.array(self.t), t, side="right") - 1
        return np.array(self.values)[np.maximum(k, 0)]

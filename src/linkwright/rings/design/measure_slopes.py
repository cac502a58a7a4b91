"""Exact derivatives of measures of a motion by numbers of the model.

Compiled derivatives (`c.derivatives`) come first, all numbers at once. Loads that friction or spinning links decide have none of
them. There each number gets an imaginary step (`derivatives.Disturbed`) at the samples that the measure depends on, and the rest
follows from `Measure.slopes`. A peak is differentiated where it is: its drive angle may shift without changing it to first order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.api import (
    COMPLEX_STEP,
    Instant,
    LinkwrightError,
    Measure,
    Parameter,
    Trajectory,
    channel_kinds,
    compiled_of,
    curve_lines,
    every_parameter,
    load_channels,
    motion_checks,
)
from linkwright.motion.cycle_derivatives import drive_motion
from linkwright.results.undefined_derivatives import refused
from linkwright.rings.design.derivatives import Disturbed, Sample


@dataclass(frozen=True)
class MeasureSlopes:
    """Derivatives (measures, numbers), NaN where there is none, and the reason by number."""

    values: np.ndarray
    why: Mapping[str, str]


def measure_slopes(c: Trajectory, measures: Sequence[Measure], names: Sequence[str]) -> MeasureSlopes:
    """Derivatives of measures of a cycle by the numbers with these names."""
    found, why = np.full((len(measures), len(names)), np.nan), dict[str, str]()
    d = None
    with suppress(LinkwrightError):  # of a number that cannot vary alone: each by itself below
        d = c.derivatives(list(names))
    for k, m in enumerate(measures):
        undefined: list[str] = []
        with suppress(LinkwrightError):  # of a channel that has none
            if d is not None:
                found[k] = m.slopes(c, d)
                if not np.isfinite(found[k]).all():
                    undefined = [text for i, text in d.undefined(m.channel).items() if i not in d.why]
        left = np.flatnonzero(~np.isfinite(found[k]))
        if undefined:
            why.update({names[i]: undefined[0] for i in left})
        elif len(left):
            why.update(_one_by_one(c, m, names, left, found[k]))
    return MeasureSlopes(found, why)


def _one_by_one(c: Trajectory, m: Measure, names: Sequence[str], left: np.ndarray, out: np.ndarray) -> dict[str, str]:
    """Write derivatives by single numbers; return the reasons where there are none."""
    loads = motion_checks.measured_loads_check(c, [m.channel])
    if loads is not None and not loads:  # the least-norm solution of loads that are shared has no derivative of its own
        return {names[i]: loads.text for i in left}
    assert c.system is not None
    known, why = every_parameter(compiled_of(c.system).described), dict[str, str]()
    imaginary = c.drives and c.proof is None and not c._channel(m.channel).needs
    samples = cycle_samples(c, _used(c, m)) if imaginary else {}
    for i in left:
        try:
            d: Any = DisturbedSamples(c, known[names[i]], samples) if imaginary else c.derivatives([names[i]])
            out[i] = float(m.slopes(c, d)[0])
            if not np.isfinite(out[i]):
                why[names[i]] = next(iter(d.undefined(m.channel).values()), f"'{m.text}' has no derivative by it")
        except LinkwrightError as problem:
            why[names[i]] = str(problem)
    return why


def _used(c: Trajectory, m: Measure) -> list[int]:
    """Samples that a measure depends on."""
    rows = [np.any(np.reshape(w != 0.0, (len(w), -1)), axis=1) for name, w in m.weights(c).items() if name != "t"]
    return [int(i) for i in np.flatnonzero(np.any(rows, axis=0))]


def cycle_samples(c: Trajectory, at: Sequence[int]) -> dict[int, Sample]:
    """Samples of a cycle by their numbers."""
    assert c.system is not None
    laws = np.stack(drive_motion(compiled_of(c.system), c, list(c.drives))).transpose(1, 2, 0)
    out = {}
    for i in at:
        here = Instant(compiled_of(c.system).skel, c.q[i], c.v[i], float(c.t[i]), c.references[i], c.a[i])
        out[i] = Sample(c.system, here, {drive: curve_lines.Parabola(*map(float, x)) for drive, x in zip(c.drives, laws[i], strict=True)})
    return out


class DisturbedSamples:
    """Derivatives of channels at some samples of a cycle by one number, by an imaginary step in it; NaN at the other samples."""

    def __init__(self, c: Trajectory, p: Parameter, samples: Mapping[int, Sample]):
        self.c, self.names, self.samples, self.used = c, (p.name,), samples, np.array(list(samples))
        assert c.system is not None
        self._disturbed, self._size = Disturbed(c.system, p), np.array([p.size])
        self._undefined: dict[str, dict[int, str]] = {}

    def read(self, channels: Sequence[str]) -> dict[str, np.ndarray]:
        """Derivatives of several channels, (samples, ..., 1); NaN where they do not exist."""
        out: dict[str, np.ndarray] = {}
        values = self.c.read(list(channels))
        for name in channels:
            slopes = np.full((*values[name].shape, 1), np.nan)
            for i, x in self._instants.items():
                slopes[i, ..., 0] = np.imag(self._table[name].read(x)) / COMPLEX_STEP
            defined, why = refused(values[name][self.used], slopes[self.used], self._size, self._table[name].kink)
            slopes[self.used] = defined
            out[name], self._undefined[name] = slopes, {int(self.used[i]): f"'{name}': {text}" for i, text in why.items()}
        return out

    def undefined(self, channel: str) -> dict[int, str]:
        """Samples at which a channel has no derivative, with the reasons."""
        return self._undefined.get(channel, {})

    def __getitem__(self, name: str) -> np.ndarray:
        """Derivative of the speed of a drive, the same at all samples of a cycle."""
        drive = name.removesuffix(".v")
        moved = self._disturbed.law(drive, next(iter(self.samples.values())).laws[drive])
        return np.full((len(self.c), 1), np.imag(moved.df) / COMPLEX_STEP)

    @cached_property
    def _instants(self) -> dict[int, Instant]:
        out = {}
        for i, sample in self.samples.items():
            loads = self._disturbed.loads(sample)
            x = loads.problem.place
            x.solver = lambda at, loads=loads: loads
            out[i] = x
        return out

    @cached_property
    def _table(self) -> channel_kinds.Channels:
        skel = self._disturbed.skel
        loads = load_channels.load_channels(skel.tree.description, self.c.drives)
        return channel_kinds.Channels(skel, {name: x for name, x in loads.items() if name in self.c._load_channels})

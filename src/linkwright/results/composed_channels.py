"""Channels that are made of other quantities over whole motions (`Channel.raw`, `Channel.cook`): their values and derivatives."""

from __future__ import annotations

import numpy as np

from linkwright.numerics.tolerances import COMPLEX_STEP
from linkwright.results.channels import Channel


def composed(c: Channel | None, raw: np.ndarray, axes: int = 1) -> np.ndarray:
    """The channel from its raw quantities, whose first `axes` axes are those of samples; whole turns are not counted."""
    return raw if c is None or c.cook is None else _many(c.cook(_flat(raw, axes)), raw, axes)


def composed_slopes(c: Channel | None, raw: np.ndarray, slopes: np.ndarray, axes: int = 1) -> np.ndarray:
    """Derivatives of the channel, (samples, ..., numbers), from those of its raw quantities: complex steps through its formulas."""
    if c is None or c.cook is None:
        return slopes
    made = [np.imag(c.cook(_flat(raw + 1j * COMPLEX_STEP * slopes[..., k], axes))) / COMPLEX_STEP for k in range(slopes.shape[-1])]
    return np.stack([_many(x, raw, axes) for x in made], axis=-1)


def _flat(x: np.ndarray, axes: int) -> np.ndarray:
    return x.reshape(-1, *x.shape[axes:])


def _many(x: np.ndarray, like: np.ndarray, axes: int) -> np.ndarray:
    return x.reshape(*like.shape[:axes], *x.shape[1:])

"""Layout of the rows that the kernels of a time stepper read.

    full row         q, v, x, t, parameters        inputs, samplers and events
    mechanism row    q, v, t, parameters           rates and projections

parameters: efforts tau, the prescribed motions (drive, speed, acceleration), Baumgarte's gains, parameters, reference
coordinates of the cut joints (near), the values a sampled controller holds, the sides of the break points of rates and inputs, and the
length of the step (interval) and the velocities before it, which kernels of whole steps read. x are the states of the drives (currents,
integrated speeds) and the quadratures of power.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError, counted, nearest
from linkwright.properties import cached_property

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled

SIDES = ("sides", "input sides")  # of the break points of rates and of inputs
HEAD = ("tau", "drive", "speed", "acceleration")  # parameters that an input kernel writes


@dataclass(frozen=True)
class RowLayout:
    """Sizes of the blocks of one row, in order."""

    sizes: dict[str, int]

    @classmethod
    def of(
        cls,
        system: Compiled,
        baumgarte: bool = False,
        *,
        drivers: int = 0,
        x: int = 0,
        held: int = 0,
        sides: Sequence[int] = (0, 0),
        timed: bool = False,
    ) -> RowLayout:
        """The full row of a mechanism with so many prescribed motions, further states, held values and sides of break points; `timed`:
        with the length of the step and the velocities before it."""
        s = system.kernels.sizes
        sizes = {"q": s.nq, "v": s.nv, "x": x, "t": 1, "tau": s.nv, **dict.fromkeys(HEAD[1:], drivers)}
        sizes |= {"gains": 2 if baumgarte else 0, "parameters": s.parameters, "near": s.near, "held": held}
        sizes |= dict(zip(SIDES, sides, strict=True))
        sizes |= {"interval": int(timed), "before": s.nv * timed}
        return cls({k: n for k, n in sizes.items() if k in ("q", "v", "t", "tau", "near") or n})

    @cached_property
    def mechanism(self) -> RowLayout:
        """The row without x."""
        return RowLayout({k: n for k, n in self.sizes.items() if k != "x"})

    @cached_property
    def n(self) -> int:
        return sum(self.sizes.values())

    @cached_property
    def spans(self) -> dict[str, slice]:
        ends = np.cumsum([0, *self.sizes.values()])
        return {k: slice(int(a), int(b)) for k, a, b in zip(self.sizes, ends[:-1], ends[1:], strict=True)}

    def named(self, x: np.ndarray) -> dict[str, np.ndarray]:
        return {k: x[..., s] for k, s in self.spans.items()}

    def packed(self, values: Mapping[str, Any]) -> np.ndarray:
        """One row of named blocks; blocks that are not given are zero."""
        out = np.zeros(self.n)
        for k, s in self.spans.items():
            if k in values:
                out[s] = values[k]
        return out

    @property
    def parameters(self) -> list[str]:
        """Names of the blocks after t."""
        names = list(self.sizes)
        return names[names.index("t") + 1 :]


def entries(what: str, value: Any, names: Sequence[str], default: np.ndarray) -> np.ndarray:
    """An array, or some entries by name, as all entries in order."""
    out = np.array(default, dtype=float)
    if isinstance(value, Mapping):
        for key, x in value.items():
            if key not in names:
                raise UsageError(f"'{key}' is not an entry of '{what}'.", nearest(str(key), list(names), "Entries"))
            out[list(names).index(key)] = _plain(what, x)
    elif value is not None:
        given = _plain(what, value)
        if given.shape != out.shape:
            raise UsageError(f"'{what}' needs {counted(len(out), 'entry')}: {', '.join(names)}.", name=what)
        out = given
    if not np.isfinite(out).all():
        raise UsageError(f"'{what}' has entries that are not finite numbers.", name=what)
    return out


def _plain(what: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"'{what}' takes plain numbers in SI, not {value!r:.60}.", name=what, value=value) from None

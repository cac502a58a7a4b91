"""The loops' equations over many states without what is always zero: residuals, and J as entries at fixed places.

J of a chain of N loops has some 9 N entries where a dense one has 4 N^2; whatever looks at the steps of a run reads it from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.mechanics.constraints.loops import block_places
from linkwright.numerics.linalg import SparseStack

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels


class RowValues(NamedTuple):
    """phi, b (samples, rows) and J at some states."""

    phi: np.ndarray
    b: np.ndarray
    J: SparseStack


class LoopRows:
    """The kernel `loop_rows` of one `Kernels` with the places of its entries."""

    def __init__(self, kernels: Kernels):
        self.kernel = kernels.get("loop_rows")
        still = np.zeros(len(kernels.chosen.drivers))
        loops = kernels.equations(kernels.defaults["parameters"]).moved(still + 1.0, still, still).loops  # no cylinder has length 0
        q, nv, near = kernels.start()[0], kernels.sizes.nv, kernels.defaults["near"]
        c = loops.at(q, np.zeros(nv), 0.0, loops.skel.unpack(q, near))
        every = [block_places(c.rows[i], c.columns[j], nv) for i, j in sorted(c.blocks)]
        self.places = np.concatenate([np.zeros(0, dtype=int), *every])
        self.shape, self.inputs = (len(c.k), nv), [b.name for b in self.kernel.inputs]

    def at(self, **given: Any) -> RowValues:
        """Values at states, arrays by the names of the kernel's inputs; others are left out."""
        found = self.kernel(**{name: np.ascontiguousarray(given[name]) for name in self.inputs})
        n, nv = len(found.phi), max(self.shape[1], 1)
        return RowValues(found.phi, found.b, SparseStack(found.J.reshape(n, -1), self.places // nv, self.places % nv, self.shape))

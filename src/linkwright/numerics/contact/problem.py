"""A contact problem in memory: blocks of rows, each of a kind, and the arrays that the loops work in.

    kind        rows          law
    ONE_SIDED   [n]           pushes or opens: 0 <= u  _|_  p >= 0          rigid stops, ropes, cams
    PLANAR      [n, t]        contact in a plane, Coulomb's friction mu
    SPATIAL     [n, t1, t2]   contact in space
    FRICTION    [t]           friction of a given bound: |p| <= mu, p = -mu sign(u) where it slips

The arrays hold at most `most` blocks; `counts` says how many of them and of their rows there are, so that one memory serves all steps of
a run whatever touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

ONE_SIDED, PLANAR, SPATIAL, FRICTION = 0, 1, 2, 3
ROWS = (1, 2, 3, 1)  # of a block of each kind


class Contacts(NamedTuple):
    """Memory of one problem; the first seven are the problem and its answer, the rest is working space."""

    counts: np.ndarray  # blocks, rows, 1 if W is symmetric, stage of the ladder that solved it, steps of Newton
    kind: np.ndarray  # of each block
    first: np.ndarray  # row of each block, and the number of rows at the end
    mu: np.ndarray  # of each block; of FRICTION the bound itself
    W: np.ndarray
    b: np.ndarray
    p: np.ndarray  # start and answer
    u: np.ndarray  # W p + b
    step: np.ndarray  # of the natural map, one each block
    matrix: np.ndarray  # of the linear systems
    shifted: np.ndarray  # right side of the proximal problem
    value: np.ndarray
    change: np.ndarray
    trial_p: np.ndarray
    trial_u: np.ndarray
    nearest: np.ndarray  # best answer so far
    held: np.ndarray  # where the sweeps ended
    start: np.ndarray  # of one step of Newton's method
    z: np.ndarray  # of ADMM: speeds
    y: np.ndarray  # of ADMM: impulses in the cones
    before: np.ndarray
    pivots: np.ndarray
    own: np.ndarray  # of one block: its part of W (9), its free speeds (3), its answer (3)
    residual: np.ndarray  # that was reached


def memory(kinds: Sequence[int]) -> Contacts:
    """Return memory for blocks of these kinds and for any fewer; W, b, mu and p are zero."""
    n, rows = len(kinds), sum(ROWS[k] for k in kinds)
    counts, first = np.array([n, rows, 1, 0, 0]), np.zeros(n + 1, dtype=np.int64)
    first[1:] = np.cumsum([ROWS[k] for k in kinds])

    def floats() -> np.ndarray:
        return np.zeros(rows)

    return Contacts(
        counts, np.array(kinds, dtype=np.int64), first, np.zeros(n), np.zeros((rows, rows)), floats(), floats(), floats(), np.zeros(n),
        np.zeros((rows, rows)), *(floats() for _ in range(11)), np.zeros(rows, dtype=np.int64), np.zeros(15), np.zeros(1),
    )  # fmt: skip

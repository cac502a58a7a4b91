"""Problems that the ladder leaves: of few blocks in a plane all states are tried, of more the ladder starts from parts of the answer.

Where friction allows several answers, the ladder may hang between them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from linkwright.integrators.contact.problem import PLANAR
from linkwright.integrators.contact.solver import ContactAnswer, ContactSolver
from linkwright.integrators.contact.states import states

MOST_TRIED = 4  # blocks


class ContactSearch:
    """Problems of blocks of the same kinds, solved from several starts."""

    def __init__(self, kinds: tuple[int, ...], *, native: bool):
        self.kinds, self.solver = kinds, ContactSolver(kinds, native=native)
        edges = [int(x) for x in self.solver.memory.first]
        self.spans = [slice(a, b) for a, b in itertools.pairwise(edges)]

    def solve(self, W: np.ndarray, b: np.ndarray, mu: np.ndarray, start: np.ndarray, tolerance: float) -> ContactAnswer:
        """Solve one problem; blocks whose part of W is zero are out of it."""
        best = self.solver.solve(W, b, mu, start, tolerance=tolerance)
        if best.solved:
            return best
        for p in self._starts(W, b, mu, tolerance):
            found = self.solver.solve(W, b, mu, p, tolerance=tolerance)
            if found.solved:
                return found
            best = found if found.residual < best.residual else best
        return best

    def _starts(self, W: np.ndarray, b: np.ndarray, mu: np.ndarray, tolerance: float) -> Iterator[np.ndarray]:
        """Answers of the whole problem by trying states, or else those of one block alone and of every two."""
        there = [i for i, span in enumerate(self.spans) if W[span.start, span.start] > 0.0]
        if len(there) <= MOST_TRIED and all(self.kinds[i] <= PLANAR for i in there):
            rows = np.concatenate([np.arange(self.spans[i].start, self.spans[i].stop) for i in there])
            found = states([self.kinds[i] for i in there], W[np.ix_(rows, rows)], b[rows], mu[there])
            if found.answers:
                yield _placed(found.p, rows, len(b))
        for chosen in itertools.chain(itertools.combinations(there, 1), itertools.combinations(there, 2)):
            mask = np.zeros(len(b))
            for i in chosen:
                mask[self.spans[i]] = 1.0
            yield self.solver.solve(W * mask * mask[:, None], b * mask, mu, tolerance=tolerance).p


def _placed(p: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
    out = np.zeros(n)
    out[rows] = p
    return out

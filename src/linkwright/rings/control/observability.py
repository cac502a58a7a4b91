"""Observability: which small motions and biases no reading shows, from the exact derivatives of steps and readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwright.api import Result, Table, counted, linalg

if TYPE_CHECKING:
    from linkwright.api import Compiled, state_errors

UNSEEN = 1e-9  # singular value of the readings of all samples, against the largest, below which they do not show a combination
SHARE = 1e-6  # of the largest entry: what is smaller is not named
FIRM = 1e-6


@dataclass(frozen=True, eq=False)
class Observability(Result):
    """What the sensors show. `unobservable` names combinations of deviations that change no reading."""

    rank: int
    states: int
    unobservable: tuple[str, ...]
    directions: np.ndarray  # (combinations, names): entries by `names`
    names: tuple[str, ...]
    singular_values: np.ndarray

    @property
    def ok(self) -> bool:
        """True if the readings determine all states."""
        return self.rank == self.states

    @property
    def why(self) -> str:
        """Return what is not observable, as text."""
        return "" if self.ok else f"the readings do not show {'; '.join(self.unobservable)}"

    def __str__(self) -> str:
        head = f"observable: {self.rank} of {counted(self.states, 'state')}"
        return "\n".join([head, *(f"  not shown by any reading: {x}" for x in self.unobservable)])

    def table(self) -> Table:
        """Return the states, whether the readings show them, and the combinations that no reading shows."""
        hidden = [[x for x, d in zip(self.unobservable, self.directions, strict=True) if d[i]] for i in range(len(self.names))]
        rows = [(name, not x, "; ".join(x)) for name, x in zip(self.names, hidden, strict=True)]
        return Table.of(["state", "observable", "not shown by any reading"], rows, "observability")


def observability(O: np.ndarray, chart: state_errors.Chart, core: Compiled, biases: Sequence[str]) -> Observability:
    """The rank of readings over some samples by deviations at their start, and what is outside of it."""
    n = chart.n
    names, rows = _named(chart, core)
    E = np.zeros((2 * n + len(biases), 2 * n + len(biases)))
    E[:n, :n], E[n : 2 * n, :n], E[n : 2 * n, n : 2 * n] = chart.S[rows], chart.Gamma[rows], chart.S[rows]
    E[2 * n :, 2 * n :] = np.eye(len(biases))
    _, s, Vt = np.linalg.svd(O, full_matrices=True)
    s = np.concatenate([s, np.zeros(len(Vt) - len(s))])[: len(Vt)]
    rank = int(np.sum(s > UNSEEN * s[0])) if len(s) and s[0] > 0.0 else 0
    every = (*names, *(f"{x}.v" for x in names), *(f"{x}.bias" for x in biases))
    directions = _reduced(Vt[rank:] @ E.T)
    return Observability(rank, len(Vt), tuple(_text(d, every) for d in directions), directions, every, s)


def _named(chart: state_errors.Chart, core: Compiled) -> tuple[list[str], list[int]]:
    """Velocities of the tree that determine all others here, drives first."""
    names = list(core.kernels.entries["v"])
    drives = tuple(names.index(d) for d in core.drive_names if d in names)
    rows = linalg.pivoted_columns((chart.S / chart.columns[:, None]).T, FIRM, first=drives)[: chart.n]
    return [names[i] for i in sorted(rows)], sorted(rows)


def _reduced(V: np.ndarray) -> np.ndarray:
    """The same space by rows with as few entries as possible: each has a 1 where all others have a 0."""
    V, free = V.copy(), list(range(V.shape[1]))
    for i in range(len(V)):
        j = max(free, key=lambda k: round(float(np.abs(V[i:, k]).max()), 6))  # of equal ones the first
        k = i + int(np.argmax(np.abs(V[i:, j])))
        V[[i, k]] = V[[k, i]]
        V[i] /= V[i, j]
        others = np.arange(len(V)) != i
        V[others] -= np.outer(V[others, j], V[i])
        free.remove(j)
    V[np.abs(V) < SHARE * np.abs(V).max(initial=1.0)] = 0.0
    return V


def _text(direction: np.ndarray, names: Sequence[str]) -> str:
    order = [i for i in np.argsort(-np.round(np.abs(direction), 6), kind="stable") if direction[i]]
    parts = []
    for i in order:
        size = "" if abs(abs(direction[i]) - 1.0) < SHARE else f"{abs(direction[i]):.3g} "
        parts.append(f"{'-' if direction[i] < 0 else '+'} {size}{names[i]}")
    return " ".join(parts).removeprefix("+ ")

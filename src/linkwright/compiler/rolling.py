"""Repeats in a long program: steps that like cells of a mechanism (loops of a chain, legs, bays) do one after the other.

Ordered depth first, such a program goes through its cells in turn: its steps are periodic, but for the constants, the inputs and
the values of other cells they read. A run of repeats becomes a `Series`, whose code is written once and runs once for every repeat;
the place of an operand in each repeat is a constant, a stride or a table. So the size of the code and the time to make it follow the
number of different cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwright.compiler.program import Op
from linkwright.compiler.sums import Operation, operands

Step = tuple[int, ...]  # operations done at once: one, or all sines and cosines of some angles
FEWEST, MANY = 4, 16  # repeats of a series: at least, and of one that is looked for first
SHORTEST, LONG = 24, 100  # steps of these in all
BODY, LONGEST = 16, 600  # steps of one repeat: short ones are joined, for a loop costs some cycles
COVERED = 0.6  # share of the steps that must be in series
_GRAM = 8  # steps in a row that are compared to find periods
_NEAR = 24  # steps up to which the distance of an operand counts in that comparison
_CANDIDATES = 24  # periods tried
_WITHIN = 64  # operations of a step at most


@dataclass(frozen=True)
class SeriesOperand:
    """An operand from outside of a repeat: numbers, places of inputs or slots, one for each repeat."""

    kind: str  # "number", "input" or "slot"
    at: tuple[float, ...] | tuple[int, ...]
    condition: bool = False


@dataclass(frozen=True)
class Series:
    """Steps done `count` times. Operations are numbered within one repeat; beyond them are the leaves."""

    ops: tuple[Operation, ...]
    steps: tuple[Step, ...]
    count: int
    leaves: dict[int, SeriesOperand]
    stores: dict[int, tuple[int, ...]]  # operation -> slot in each repeat
    results: dict[int, tuple[tuple[int, ...], ...]]  # operation -> for each of its results the place in each repeat


@dataclass(frozen=True)
class Run:
    """Steps first .. first + length * count - 1 of an order: `count` repeats."""

    first: int
    length: int
    count: int

    @property
    def stop(self) -> int:
        return self.first + self.length * self.count


def runs(ops: Sequence[Operation], order: Sequence[Step]) -> list[Run]:
    """Runs of repeats in an order of steps, first one first; empty where they make up too little of it."""
    n = len(order)
    kinds, distance = _patterns(ops, order)
    alike = {period: _alike(kinds, distance, period) for period in sorted(_periods(kinds, distance))}
    free = np.ones(n, dtype=bool)
    found: list[Run] = []
    for period, same in alike.items():  # long series first: a repeat may hold short ones
        found += _taken(period, same, free, MANY, max(LONG, n // 100))
    alone = {t: sum(run.length * run.count for run in _taken(t, same, free.copy(), FEWEST, SHORTEST)) for t, same in alike.items()}
    for period in sorted(alike, key=lambda t: -alone[t]):
        found += _taken(period, alike[period], free, FEWEST, SHORTEST)
    covered = sum(run.length * run.count for run in found)
    return sorted(found, key=lambda run: run.first) if covered > COVERED * n else []


def _patterns(ops: Sequence[Operation], order: Sequence[Step]) -> tuple[np.ndarray, np.ndarray]:
    """For every step a number for what it does, and how far back its operands are (0: constants, inputs, none)."""
    place: dict[int, int] = {}
    for i, step in enumerate(order):
        for j, k in enumerate(step):
            place[k] = i * _WITHIN + j
    known: dict[tuple[int, ...], int] = {}
    kinds, rows = np.empty(len(order), dtype=np.int64), []
    for i, step in enumerate(order):
        does: list[int] = []
        far: list[int] = []
        for k in step:
            does.append(int(ops[k][0]))
            for a in operands(ops[k]):
                kind = ops[a][0]
                does.append(-2 if kind == Op.CONST else -1 if kind == Op.INPUT else -3)
                far.append(0 if kind <= Op.INPUT else i * _WITHIN + _WITHIN - place[a])
        kinds[i] = known.setdefault(tuple(does), len(known))
        rows.append(far)
    distance = np.zeros((len(order), max((len(far) for far in rows), default=0)), dtype=np.int64)
    for i, far in enumerate(rows):
        distance[i, : len(far)] = far
    return kinds, distance


def _periods(kinds: np.ndarray, distance: np.ndarray) -> list[int]:
    """Likely periods, those met most often first."""
    near = np.where(distance < _NEAR * _WITHIN, distance, -1)
    weights = 2 * np.random.default_rng(0).integers(1 << 60, size=near.shape[1] + 1 + _GRAM) + 1
    hashed = kinds * weights[0] + near @ weights[1 : near.shape[1] + 1]
    hashed ^= hashed >> 29
    count = len(hashed) - _GRAM + 1
    if count < 2:
        return []
    grams = np.sum([hashed[i : i + count] * weights[-1 - i] for i in range(_GRAM)], axis=0)
    order = np.argsort(grams, kind="stable")
    same = grams[order[1:]] == grams[order[:-1]]
    gaps = (order[1:] - order[:-1])[same]
    often = np.bincount(gaps[gaps <= LONGEST], minlength=1)
    best = np.argsort(-often, kind="stable")[:_CANDIDATES]
    return [int(t) for t in best if often[t] >= (FEWEST - 1)]


def _alike(kinds: np.ndarray, distance: np.ndarray, period: int) -> np.ndarray:
    """True for steps that do the same as the steps one period later, to the same operands or to operands outside of a repeat."""
    if period >= len(kinds):
        return np.zeros(0, dtype=bool)
    a, b = distance[:-period], distance[period:]
    return (kinds[:-period] == kinds[period:]) & ((a == b) | (np.minimum(a, b) > period * _WITHIN)).all(axis=1)


def _taken(period: int, alike: np.ndarray, free: np.ndarray, fewest: int, shortest: int) -> list[Run]:
    """Runs of one period, of some length, among the steps that are still free, which they take."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (alike & free[: len(alike)] & free[period:]).astype(int), [0]])))
    found = []
    for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        steps = ((stop - first) // period + 1) * period
        length = period * -(-BODY // period)
        count = steps // length
        if steps >= fewest * period and steps >= shortest and count >= 2 and free[first : first + count * length].all():
            found.append(Run(first, length, count))
            free[first : first + count * length] = False
    return found


class SlotLayout:
    """Slots of all values that leave their repeat or piece. Values of a series lie repeat by repeat, so that strides address them."""

    def __init__(self, ops: Sequence[Operation], order: Sequence[Step], results: Sequence[int], found: Sequence[Run], piece: int):
        self.ops, self.order = ops, order
        self.parts: list[Run | tuple[int, int]] = []  # runs, and pieces of other steps as (first, stop)
        at = 0
        for run in [*found, Run(len(order), 0, 0)]:
            self.parts += [(i, min(i + piece, run.first)) for i in range(at, run.first, piece)]
            if run.count:
                self.parts.append(run)
            at = run.stop
        self.places: dict[int, list[int]] = {}
        for j, r in enumerate(results):
            self.places.setdefault(r, []).append(j)
        self.slot: dict[int, int] = {}
        self.slots = 0
        self._crossing()

    def repeats(self, run: Run) -> list[list[int]]:
        """Operations of every repeat, in order."""
        starts = range(run.first, run.stop, run.length)
        return [[k for step in self.order[i : i + run.length] for k in step] for i in starts]

    def _crossing(self) -> None:
        home: dict[int, int] = {}
        groups: list[list[list[int]]] = []  # of every part its repeats
        at = 0
        for part in self.parts:
            groups.append(self.repeats(part) if isinstance(part, Run) else [[k for step in self.order[part[0] : part[1]] for k in step]])
            for repeat in groups[-1]:
                home.update(dict.fromkeys(repeat, at))
                at += 1
        leaves = {a for k, h in home.items() for a in operands(self.ops[k]) if home.get(a, h) != h}
        for repeats in groups:
            rows = [r for r in range(len(repeats[0])) if any(x[r] in leaves for x in repeats) or self._uneven(repeats, r)]
            for repeat in repeats:
                for r in rows:
                    self.slot[repeat[r]] = self.slots
                    self.slots += 1

    def _uneven(self, repeats: Sequence[Sequence[int]], r: int) -> bool:
        """True if an operation is a result in some repeats only: such results are delivered at the end."""
        return len({len(self.places.get(x[r], ())) for x in repeats}) > 1

    def series(self, run: Run) -> Series:
        repeats = self.repeats(run)
        inside = [{k: r for r, k in enumerate(x)} for x in repeats]
        leaves: dict[tuple[int, ...], int] = {}
        ops: list[Operation] = []
        for r, k in enumerate(repeats[0]):
            every = list(zip(*(operands(self.ops[x[r]]) for x in repeats), strict=True))
            read = [inside[0][a[0]] if a[0] in inside[0] else leaves.setdefault(a, len(repeats[0]) + len(leaves)) for a in every]
            a, b, c = [*read, -1, -1][:3]
            ops.append((self.ops[k][0], a, b, c))
        ops += [(self.ops[a[0]][0], None, -1, -1) for a in leaves]
        numbers = iter(range(len(repeats[0])))
        steps = tuple(tuple(next(numbers) for _ in step) for step in self.order[run.first : run.first + run.length])
        uneven = [self._uneven(repeats, r) for r in range(len(repeats[0]))]
        return Series(
            tuple(ops),
            steps,
            run.count,
            {i: self._leaf(a) for a, i in leaves.items()},
            {r: tuple(self.slot[x[r]] for x in repeats) for r, k in enumerate(repeats[0]) if k in self.slot},
            {
                r: tuple(zip(*(self.places[x[r]] for x in repeats), strict=True))
                for r, k in enumerate(repeats[0])
                if k in self.places and not uneven[r]
            },
        )

    def _leaf(self, every: tuple[int, ...]) -> SeriesOperand:
        kind = self.ops[every[0]][0]
        if kind in (Op.CONST, Op.INPUT):
            return SeriesOperand("number" if kind == Op.CONST else "input", tuple(self.ops[k][1] for k in every))
        return SeriesOperand("slot", tuple(self.slot[k] for k in every), kind in (Op.LT, Op.LE))

    @property
    def late(self) -> list[int]:
        """Results that are delivered from their slots at the end."""
        runs = [self.repeats(part) for part in self.parts if isinstance(part, Run)]
        return [
            x[r] for repeats in runs for r in range(len(repeats[0])) if self._uneven(repeats, r) for x in repeats if x[r] in self.places
        ]

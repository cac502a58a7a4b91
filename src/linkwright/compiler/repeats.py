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
from linkwright.compiler.sums import Operation, operand_table, operands

Step = tuple[int, ...]  # operations done at once: one, or all sines and cosines of some angles
Part = Sequence[Sequence[Step]]  # repeats of the same steps; one: a piece
FEWEST, MANY = 4, 16  # repeats of a series: at least, and of one that is looked for first
SHORTEST, LONG = 24, 100  # steps of these in all
BODY, LONGEST = 16, 1500  # steps of one repeat: short ones are joined, for a loop costs some cycles
COVERED = 0.6  # share of the steps that must be in series
DISTINCT = 0.03  # patterns an operation, at most, of a program that may repeat itself (chains 0.02 and less, a biped 0.04)
PATTERNS = 1000  # of these at all (chains and lifts of any length 200 to 400, derivatives of a biped 1,700)
_ADJACENT = 16  # operations up to which a distance is part of a pattern
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


def repetitive(ops: Sequence[Operation]) -> bool:
    """Return True if a program consists of few patterns, so that looking for repeats is worth the time."""
    kinds, read = operand_table(ops)
    back = np.arange(len(kinds))[:, None] - read
    near = np.where(read < 0, 0, np.where(back < _ADJACENT, back, -2 - kinds[read]))
    done = kinds > int(Op.INPUT)
    patterns = kinds * 10**6 + (near + 50) @ np.array([10**4, 10**2, 1])  # kinds are below 50, distances below 16
    return len(np.unique(patterns[done])) < min(DISTINCT * int(np.count_nonzero(done)), PATTERNS)


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
    kinds, read = operand_table(ops)
    counts = np.fromiter((len(step) for step in order), dtype=np.int64, count=len(order))
    flat = np.fromiter((k for step in order for k in step), dtype=np.int64, count=int(counts.sum()))
    number = np.repeat(np.arange(len(order)), counts)
    within = np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)
    place = np.zeros(len(ops), dtype=np.int64)
    place[flat] = number * _WITHIN + within
    own = read[flat]
    leaf = kinds[own] <= int(Op.INPUT)
    form = np.where(own < 0, 0, np.where(leaf, 1 + (kinds[own] == int(Op.INPUT)), 3))  # none, constant, input, value
    far = np.where((own < 0) | leaf, 0, (number * _WITHIN + _WITHIN)[:, None] - place[own])
    does = kinds[flat] * 64 + form @ np.array([16, 4, 1])
    alone = counts[number] == 1
    step_kinds = np.empty(len(order), dtype=np.int64)
    step_kinds[number[alone]] = does[alone]
    width = 3 * int(np.max(counts, initial=1))
    distance = np.zeros((len(order), width), dtype=np.int64)
    distance[number[:, None], 3 * within[:, None] + np.arange(3)] = far
    known: dict[tuple[int, ...], int] = {}
    begin = np.cumsum(counts) - counts
    for i in np.flatnonzero(counts > 1).tolist():  # sines and cosines
        several = tuple(does[begin[i] : begin[i] + counts[i]].tolist())
        step_kinds[i] = known.setdefault(several, -1 - len(known))
    return step_kinds, distance


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


def parts(order: Sequence[Step], found: Sequence[Run], piece: int) -> list[Part]:
    """The steps of an order as runs of repeats and, between them, pieces of at most `piece` steps."""
    out: list[Part] = []
    at = 0
    for run in [*found, Run(len(order), 1, 0)]:
        out += [[order[i : min(i + piece, run.first)]] for i in range(at, run.first, piece)]
        if run.count:
            out.append([order[i : i + run.length] for i in range(run.first, run.stop, run.length)])
        at = run.stop
    return out


class SlotLayout:
    """Slots of all values that leave their repeat, along strides. Those of a long series lie repeat by repeat; others are used again."""

    def __init__(self, ops: Sequence[Operation], parts: Sequence[Part], results: Sequence[int]):
        self.ops, self.parts = ops, parts
        self.places: dict[int, list[int]] = {}  # of results in the outputs
        for j, r in enumerate(results):
            self.places.setdefault(r, []).append(j)
        self.slot: dict[int, int] = {}
        self.slots = 0
        self.late: list[int] = []  # results of some repeats only: they are delivered from their slots at the end
        self._crossing()

    def _crossing(self) -> None:
        flat = [[_flat(repeat) for repeat in part] for part in self.parts]
        where = {k: (p, i) for p, part in enumerate(flat) for i, repeat in enumerate(part) for k in repeat}
        last: dict[int, int] = {}  # part that reads a value of another repeat last
        for k, here in where.items():
            for a in operands(self.ops[k]):
                if where.get(a, here) != here:
                    last[a] = max(last.get(a, 0), here[0])
        free: dict[int, list[int]] = {}  # slots that can be used again, by their number
        expiring: list[list[tuple[int, int]]] = [[] for _ in flat]
        for p, repeats in enumerate(flat):
            uneven = [r for r in range(len(repeats[0])) if self._uneven(repeats, r)]
            self.late += [x[r] for r in uneven for x in repeats if x[r] in self.places]
            rows = sorted({*uneven, *(r for x in repeats for r, k in enumerate(x) if k in last)})
            count = len(repeats)
            if count > MANY:
                self._place(repeats, rows, self._new(count * len(rows)), len(rows))
                continue
            for r in rows:
                start = free[count].pop() if free.get(count) else self._new(count)
                self._place(repeats, [r], start, 1)
                if r not in uneven:
                    expiring[max(last.get(x[r], 0) for x in repeats)].append((count, start))
            for count, start in expiring[p]:  # only now: a part may write before it reads
                free.setdefault(count, []).append(start)

    def _new(self, count: int) -> int:
        self.slots += count
        return self.slots - count

    def _place(self, repeats: Sequence[Sequence[int]], rows: Sequence[int], start: int, stride: int) -> None:
        for i, repeat in enumerate(repeats):
            for j, r in enumerate(rows):
                self.slot[repeat[r]] = start + i * stride + j

    def _uneven(self, repeats: Sequence[Sequence[int]], r: int) -> bool:
        """True if an operation is a result in some repeats only."""
        return len({len(self.places.get(x[r], ())) for x in repeats}) > 1

    def series(self, part: Part) -> Series:
        """The repeats of a part as one."""
        repeats = [_flat(repeat) for repeat in part]
        first = {k: r for r, k in enumerate(repeats[0])}
        leaves: dict[tuple[int, ...], int] = {}
        ops: list[Operation] = []
        for r, k in enumerate(repeats[0]):
            every = zip(*(operands(self.ops[x[r]]) for x in repeats), strict=True)
            read = [first[a[0]] if a[0] in first else leaves.setdefault(a, len(first) + len(leaves)) for a in every]
            a, b, c = [*read, -1, -1][:3]
            ops.append((self.ops[k][0], a, b, c))
        ops += [(self.ops[a[0]][0], None, -1, -1) for a in leaves]
        numbers = iter(range(len(first)))
        return Series(
            tuple(ops),
            tuple(tuple(next(numbers) for _ in step) for step in part[0]),
            len(part),
            {i: self._leaf(a) for a, i in leaves.items()},
            {r: tuple(self.slot[x[r]] for x in repeats) for k, r in first.items() if k in self.slot},
            {
                r: tuple(zip(*(self.places[x[r]] for x in repeats), strict=True))
                for k, r in first.items()
                if k in self.places and not self._uneven(repeats, r)
            },
        )

    def _leaf(self, every: tuple[int, ...]) -> SeriesOperand:
        kind = self.ops[every[0]][0]
        if kind in (Op.CONST, Op.INPUT):
            return SeriesOperand("number" if kind == Op.CONST else "input", tuple(self.ops[k][1] for k in every))
        return SeriesOperand("slot", tuple(self.slot[k] for k in every), kind in (Op.LT, Op.LE))


def _flat(repeat: Sequence[Step]) -> list[int]:
    return [k for step in repeat for k in step]

"""Plans: which numbers every row of a study has, computed for any stretch of rows by itself.

    grid            all combinations, the last variable fastest
    corners         all combinations of the lowest and the highest value of each
    one at a time   the middle of all, then each through its values
    sobol, latin    sequences that fill the space evenly (`scipy.stats.qmc`; Latin hypercube)
    random          independent draws
    saltelli        rows from which first- and total-order Sobol indices follow
    rows            given one by one: a pandas frame, or arrays of equal length

A row follows from the seed and its number alone, so a study of a million rows is never in memory as a whole, and any worker computes any
stretch of it to the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import UsageError, nearest
from linkwright.properties import cached_property
from linkwright.rings.design.studies.variations import Variation

BLOCK = 1024  # rows whose draws come from one stream
MOST_ROWS = 10**9
MOST_CORNERS = 20  # numbers whose corners are computed: a million designs
DRAWN = ("sobol", "latin", "random", "saltelli")
PLANS = ("grid", "corners", "one at a time", *DRAWN, "rows")


@dataclass(frozen=True)
class Plan(ABC):
    """Rows of numbers: `plan.rows(first, last)` is (last - first, variables), in SI."""

    variations: tuple[Variation, ...]

    kind = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(v.name for v in self.variations)

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def rows(self, first: int, last: int) -> np.ndarray:
        """Return rows first to last - 1 in SI, (rows, variables)."""

    def described(self) -> dict[str, Any]:
        """Return everything the rows follow from."""
        return {"plan": self.kind, "rows": len(self), "vary": {v.name: v.text for v in self.variations}}


@dataclass(frozen=True)
class Grid(Plan):
    """All combinations."""

    kind = "grid"

    @cached_property
    def axes(self) -> tuple[np.ndarray, ...]:
        return tuple(_values(v, "grid") for v in self.variations)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(x) for x in self.axes)

    def __len__(self) -> int:
        return int(np.prod([len(x) for x in self.axes], dtype=object))

    def rows(self, first: int, last: int) -> np.ndarray:
        places = np.unravel_index(np.arange(first, last), self.shape)
        return np.stack([axis[at] for axis, at in zip(self.axes, places, strict=True)], axis=1)


@dataclass(frozen=True)
class Corners(Plan):
    """All combinations of the lowest and the highest value of each variable."""

    kind = "corners"

    def __post_init__(self) -> None:
        for v in self.variations:
            if not np.isfinite([v.low, v.high]).all():
                raise UsageError(f"{v.name} = {v.text} has no ends, so it has no corners. Write a range or a tolerance.", name=v.name)
        if len(self.variations) > MOST_CORNERS:
            raise UsageError(
                f"{len(self.variations)} numbers have {2.0 ** len(self.variations):.3g} corners. {MOST_CORNERS} numbers are possible. "
                "Name those that matter most, or use a plan that draws (sobol, latin, random).",
                name="plan",
            )

    def __len__(self) -> int:
        return 2 ** len(self.variations)

    def rows(self, first: int, last: int) -> np.ndarray:
        bits = np.arange(first, last)[:, None] >> np.arange(len(self.variations))[::-1] & 1
        ends = np.array([(v.low, v.high) for v in self.variations])
        return np.where(bits == 1, ends[:, 1], ends[:, 0])


@dataclass(frozen=True)
class OneAtATime(Plan):
    """The middle of all, then each variable through its values with the others in the middle."""

    kind = "one at a time"

    @cached_property
    def _table(self) -> np.ndarray:
        middle = np.array([v.middle for v in self.variations])
        out = [middle]
        for i, v in enumerate(self.variations):
            values = v.values
            for x in (v.low, v.high) if values is None and np.isfinite([v.low, v.high]).all() else _values(v, self.kind):
                row = middle.copy()
                row[i] = x
                out.append(row)
        return np.array(out)

    def __len__(self) -> int:
        return len(self._table)

    def rows(self, first: int, last: int) -> np.ndarray:
        return self._table[first:last]


@dataclass(frozen=True)
class Rows(Plan):
    """Given one by one."""

    table: np.ndarray

    kind = "rows"

    def __len__(self) -> int:
        return len(self.table)

    def rows(self, first: int, last: int) -> np.ndarray:
        return self.table[first:last]

    def described(self) -> dict[str, Any]:
        from hashlib import sha256

        return {**super().described(), "table": sha256(np.ascontiguousarray(self.table).tobytes()).hexdigest()}


@dataclass(frozen=True)
class Drawn(Plan):
    """Rows drawn by quantiles; `n` of them."""

    n: int
    seed: int

    def __len__(self) -> int:
        return self.n

    @abstractmethod
    def draws(self, first: int, last: int) -> np.ndarray:
        """VariedNumbers between 0 and 1, (rows, variables)."""

    def rows(self, first: int, last: int) -> np.ndarray:
        u = self.draws(first, last)
        return np.stack([v.at(u[:, i]) for i, v in enumerate(self.variations)], axis=1)

    def described(self) -> dict[str, Any]:
        return {**super().described(), "seed": self.seed}


def _independent(first: int, last: int, size: int, key: Sequence[int]) -> np.ndarray:
    """Independent numbers of rows: every block of rows has a stream of its own."""
    parts = []
    for block in range(first // BLOCK, -(-last // BLOCK)):
        begin = block * BLOCK
        drawn = np.random.Generator(np.random.PCG64(np.random.SeedSequence([*key, block]))).random((BLOCK, size))
        parts.append(drawn[max(first - begin, 0) : last - begin])
    return np.concatenate(parts) if parts else np.zeros((0, size))


@dataclass(frozen=True)
class Random(Drawn):
    """Independent draws."""

    kind = "random"

    def draws(self, first: int, last: int) -> np.ndarray:
        return _independent(first, last, len(self.variations), [self.seed, 1])


@dataclass(frozen=True)
class Latin(Drawn):
    """Latin hypercube: every variable has one row in each of n equal strata."""

    kind = "latin"

    def draws(self, first: int, last: int) -> np.ndarray:
        inside = _independent(first, last, len(self.variations), [self.seed, 2])
        strata = [permuted(np.arange(first, last), self.n, [self.seed, 3, i]) for i in range(len(self.variations))]
        return (np.stack(strata, axis=1) + inside) / self.n


def permuted(index: np.ndarray, n: int, key: Sequence[int]) -> np.ndarray:
    """Places of some numbers in a permutation of range(n) that is never written down: a Feistel network over the next power of four,
    applied again where it leaves the range."""
    half = max(1, ((n - 1).bit_length() + 1) // 2)
    mask = np.uint64((1 << half) - 1)
    keys = np.random.SeedSequence([*key, n]).generate_state(6, np.uint64)
    x = index.astype(np.uint64)
    out = np.zeros(len(x), dtype=np.int64)
    left = np.arange(len(x))
    while len(left):
        a, b = x >> np.uint64(half), x & mask
        with np.errstate(over="ignore"):
            for k in keys:
                mixed = (b + k) * np.uint64(0x9E3779B97F4A7C15)
                mixed ^= mixed >> np.uint64(29)
                mixed *= np.uint64(0xBF58476D1CE4E5B9)
                a, b = b, a ^ ((mixed >> np.uint64(32)) & mask)
        x = (a << np.uint64(half)) | b
        done = x < n
        out[left[done]] = x[done].astype(np.int64)
        left, x = left[~done], x[~done]
    return out


@dataclass(frozen=True)
class Sobol(Drawn):
    """Scrambled Sobol sequence."""

    kind = "sobol"

    def draws(self, first: int, last: int) -> np.ndarray:
        return _sobol(len(self.variations), self.seed, first, last)


def _sobol(size: int, seed: int, first: int, last: int) -> np.ndarray:
    from importlib import import_module

    engine = import_module("scipy.stats").qmc.Sobol(size, scramble=True, rng=np.random.default_rng(seed))
    if first:
        engine.fast_forward(first)
    # a whole power of two keeps the sequence balanced; scipy says so of every other number, and a stretch of rows is none
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return engine.random(last - first)


@dataclass(frozen=True)
class Saltelli(Drawn):
    """Two sequences A and B, and A with each variable from B: n (variables + 2) rows, those of one sample together."""

    kind = "saltelli"

    @property
    def stride(self) -> int:
        return len(self.variations) + 2

    def __len__(self) -> int:
        return self.n * self.stride

    def draws(self, first: int, last: int) -> np.ndarray:
        d, each = len(self.variations), self.stride
        begin, end = first // each, -(-last // each)
        both = _sobol(2 * d, self.seed, begin, end)
        A, B = both[:, :d], both[:, d:]
        out = np.repeat(A[:, None, :], each, axis=1)
        out[:, 1] = B
        for i in range(d):
            out[:, 2 + i, i] = B[:, i]
        return out.reshape(-1, d)[first - begin * each : last - begin * each]


def _values(v: Variation, kind: str) -> np.ndarray:
    values = v.values
    if values is None:
        raise UsageError(
            f"{v.name} = {v.text} has no single values for the plan '{kind}'. Write a list or a range with its number, \"1..2 / 5\".",
            name=kind,
        )
    return values


def plan(kind: str | None, variations: Sequence[Variation], n: int | None, seed: int) -> Plan:
    """The plan by name; without one a grid where every variable has values, else a Sobol sequence."""
    every = tuple(variations)
    if kind is None:
        kind = "grid" if n is None and all(v.values is not None for v in every) else "sobol"
    if kind not in PLANS or kind == "rows":
        raise UsageError(f"there is no plan '{kind}'.", nearest(str(kind), [p for p in PLANS if p != "rows"], "Plans"))
    if kind not in DRAWN:
        if n is not None:
            raise UsageError(f"the plan '{kind}' has as many rows as its values make. count={n} belongs to {', '.join(DRAWN)}.", name=kind)
        return _few_enough({"grid": Grid, "corners": Corners, "one at a time": OneAtATime}[kind](every))
    if n is None:
        raise UsageError(f"the plan '{kind}' needs the number of its rows: count=1000.", name=kind)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= MOST_ROWS:
        raise UsageError(f"count is the number of rows, 1 or more, not {n!r}.", value=n, name="count")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise UsageError(f"seed is a whole number from 0 on, not {seed!r}.", name="seed", value=seed)
    return {"sobol": Sobol, "latin": Latin, "random": Random, "saltelli": Saltelli}[kind](every, int(n), int(seed))


def _few_enough(found: Plan) -> Plan:
    if len(found) > MOST_ROWS:
        raise UsageError(
            f"a grid of {len(found):.3g} rows is more than can be done. Use fewer values, or a plan that draws (sobol, latin)."
        )
    return found

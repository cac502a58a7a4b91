"""Random changes of tables (CSV): cells, rows, columns, separators, decimal marks, units in the header."""

from __future__ import annotations

import random

from tests.fuzz import odd


def change_table(rng: random.Random, text: str) -> str:
    """The table with a few changes."""
    separator = next((s for s in ";\t," if s in text), ",")
    rows = [line.split(separator) for line in text.splitlines()]
    for _ in range(rng.choice((1, 1, 2, 3))):
        if rows:
            _one(rng, rows)
    written = rng.choice((separator, separator, separator, ",", ";", "\t", " ", "|"))
    out = "\n".join(written.join(row) for row in rows) + "\n"
    return out.replace(".", ",") if rng.random() < 0.1 else out.replace("\n", "\r\n") if rng.random() < 0.1 else out


def _one(rng: random.Random, rows: list[list[str]]) -> None:
    k = rng.randrange(len(rows))
    row = rows[k] = rows[k] or [""]
    j = rng.randrange(len(row))
    kind = rng.randrange(10)
    if kind < 3:
        try:
            row[j] = odd.near(rng, float(row[j])) if rng.random() < 0.7 else rng.choice(odd.NUMBERS)
        except ValueError:
            row[j] = odd.scalar(rng)
    elif kind == 3:
        row[j] = rng.choice(("", " ", '"', '"a;b"', '""', "#", "N/A", "-", "1,5", "=1+1"))
    elif kind == 4:
        row[j] = f"{row[j].partition('[')[0].strip()} [{rng.choice(odd.UNITS)}]"
    elif kind == 5:
        del rows[k]
    elif kind == 6:
        rows[k:k] = [list(row) for _ in range(rng.choice((1, 1, 2, 500)))]
    elif kind == 7:
        other = rng.randrange(len(rows))
        rows[k], rows[other] = rows[other], rows[k]
    elif kind == 8:
        for r in rows:
            if len(r) > j:
                r.insert(j, r[j]) if rng.random() < 0.5 else r.pop(j)
    else:
        row.insert(j, odd.scalar(rng)) if rng.random() < 0.5 else row.pop(j)

"""Smaller texts, by which `tests.shrinking` makes findings small."""

from __future__ import annotations

import re
from collections.abc import Iterator

LINES = re.compile(rb"[^\n]*\n|[^\n]+")
PIECES = re.compile(rb"[\w.\-]+|\s+|.", re.DOTALL)
FEW = 400  # pieces of a text that are tried one by one


def smaller_texts(data: bytes) -> Iterator[bytes]:
    """Texts without some of their lines, then without some of their words."""
    for parts in (LINES.findall(data), PIECES.findall(data)):
        n = len(parts) // 2
        while n >= 1:
            if len(parts) // n <= FEW:
                for k in range(0, len(parts), n):
                    yield b"".join(parts[:k] + parts[k + n :])
            n //= 2

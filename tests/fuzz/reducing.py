"""Findings made small: parts of an input are taken away as long as it fails in the same way."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

Some = TypeVar("Some")
LINES = re.compile(rb"[^\n]*\n|[^\n]+")
PIECES = re.compile(rb"[\w.\-]+|\s+|.", re.DOTALL)
FEW = 400  # pieces of a text that are tried one by one


def smallest(given: Some, fails: Callable[[Some], bool], smaller: Callable[[Some], Iterator[Some]], seconds: float) -> Some:
    """Take parts away, the largest first, until none can be missed or the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for less in smaller(given):
            if time.monotonic() > end:
                return given
            if fails(less):
                given = less
                break
        else:
            return given
    return given


def smaller_texts(data: bytes) -> Iterator[bytes]:
    """Texts without some of their lines, then without some of their words."""
    for parts in (LINES.findall(data), PIECES.findall(data)):
        n = len(parts) // 2
        while n >= 1:
            if len(parts) // n <= FEW:
                for k in range(0, len(parts), n):
                    yield b"".join(parts[:k] + parts[k + n :])
            n //= 2

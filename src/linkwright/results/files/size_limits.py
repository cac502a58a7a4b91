"""How much a file may unpack to: a few compressed megabytes must not fill the memory."""

from __future__ import annotations

ALWAYS = 500_000_000  # bytes that any file may unpack to
RATIO = 64  # times its size that a larger one may; columns of runs hardly get smaller than a tenth
MOST_SAMPLES = 10**10
MOST_CHARACTERS = 20_000_000  # of the JSON


def plausible(size: int, unpacked: int) -> bool:
    """True if a file of `size` bytes may hold `unpacked` bytes of numbers."""
    return unpacked <= max(ALWAYS, RATIO * size)

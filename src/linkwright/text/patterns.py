"""Patterns of names: `*.mass`, `leg?.force`; a name without `*`, `?` and `[` means itself."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def is_pattern(name: str) -> bool:
    """True if a name may mean several."""
    return any(x in name for x in "*?[")


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that a pattern means, in their order; letters count as they are."""
    return [n for n in names if (fnmatchcase(n, pattern) if is_pattern(pattern) else n == pattern)]

"""Connected groups of names (union-find)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Groups(Generic[K]):
    """Names or numbers that are joined pair by pair; each group is known by its root, the first of the pairs that made it."""

    def __init__(self, names: Iterable[K]):
        self._head = {name: name for name in names}

    def __contains__(self, name: K) -> bool:
        return name in self._head

    def root(self, name: K) -> K:
        while self._head[name] != name:
            name = self._head[name]
        return name

    def join(self, a: K, b: K) -> bool:
        """Put two names into one group; False if they were in one already."""
        first, second = self.root(a), self.root(b)
        self._head[second] = first
        return first != second

    def roots(self) -> dict[K, K]:
        return {name: self.root(name) for name in self._head}

    def members(self) -> list[list[K]]:
        """The groups, in the order of their first members."""
        found: dict[K, list[K]] = {}
        for name in self._head:
            found.setdefault(self.root(name), []).append(name)
        return list(found.values())

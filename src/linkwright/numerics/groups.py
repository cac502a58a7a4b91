"""Connected groups of names (union-find)."""

from __future__ import annotations

from collections.abc import Iterable


class NameGroups:
    """Names that are joined pair by pair; each group is known by its root, the first name of the pairs that made it."""

    def __init__(self, names: Iterable[str]):
        self._head = {name: name for name in names}

    def __contains__(self, name: str) -> bool:
        return name in self._head

    def root(self, name: str) -> str:
        while self._head[name] != name:
            name = self._head[name]
        return name

    def join(self, a: str, b: str) -> bool:
        """Put two names into one group; False if they were in one already."""
        first, second = self.root(a), self.root(b)
        self._head[second] = first
        return first != second

    def roots(self) -> dict[str, str]:
        return {name: self.root(name) for name in self._head}

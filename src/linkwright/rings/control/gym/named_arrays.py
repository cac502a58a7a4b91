"""Named arrays of one step, as rewards and other functions of a task read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from linkwright.api import UsageError, nearest


class NamedArrays(Mapping[str, np.ndarray]):
    """Arrays by name, one entry for each environment; `x["action"]` is (n, actions). A quantity of `define` is computed when it is read."""

    def __init__(self, arrays: dict[str, np.ndarray], define: Mapping[str, Any], n: int):
        self._arrays, self._define, self.n = arrays, define, n

    def __getitem__(self, name: str) -> np.ndarray:
        found = self._arrays.get(name)
        if found is not None:
            return found
        if name not in self._define:
            raise UsageError(f"x['{name}'] is not read by this task: add it to read=[...].", nearest(str(name), list(self), "Here"))
        value = np.asarray(self._define[name](self))
        if value.shape[:1] != (self.n,):
            raise UsageError(f"define: '{name}' has shape {value.shape}. Its first axis is the environments, {self.n} here.", name=name)
        self._arrays[name] = value
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._arrays, *self._define]))

    def __len__(self) -> int:
        return len({*self._arrays, *self._define})

    def picked(self, which: np.ndarray) -> NamedArrays:
        """The same of some environments."""
        return NamedArrays({name: x[which] for name, x in self._arrays.items()}, self._define, len(which))

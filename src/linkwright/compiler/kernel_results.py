"""Results of a kernel: its outputs as a named tuple, and for a batch which of the states have an answer."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from linkwright.compiler.program import Block
from linkwright.errors import LinkwrightError

Index = tuple[int, ...]


class Answers(tuple[Any, ...]):
    """The part of a result that is no output. States without an answer are NaN in every output.

    `ok` is True, or an array with an entry for every state of a batch; `why` has the reason by index, for those where `ok` is False.
    """

    failed: Mapping[Index, LinkwrightError] = MappingProxyType({})  # of the class: a result without failures costs nothing
    _axes = 0  # of the first output of one state

    @property
    def ok(self) -> Any:
        """Mask of the states with an answer: an array over the leading axes, True for one state."""
        first = np.asarray(self[0])
        mask = np.ones(first.shape[: first.ndim - self._axes], dtype=bool)
        for at in self.failed:
            mask[at] = False
        return mask if mask.ndim else True

    @property
    def why(self) -> dict[Index | int, str]:
        """Why a state has no answer, by its index: a number where the batch has one axis."""
        return {at[0] if len(at) == 1 else at: str(error) for at, error in self.failed.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        kind: Any = type(self)
        return _restored, (kind.__name__, kind._fields, self._axes, tuple(self)), dict(vars(self))


def result_class(name: str, outputs: Sequence[Block]) -> Any:
    """The named tuple that a kernel's calls return."""
    return _class(f"{name.capitalize()}Result", tuple(b.name for b in outputs), len(outputs[0].shape) if outputs else 0)


@cache
def _class(name: str, fields: tuple[str, ...], axes: int) -> Any:
    plain = namedtuple(name, fields)
    return type(name, (plain, Answers), {"_axes": axes})


def _restored(name: str, fields: tuple[str, ...], axes: int, values: tuple[Any, ...]) -> Any:
    return _class(name, fields, axes)(*values)

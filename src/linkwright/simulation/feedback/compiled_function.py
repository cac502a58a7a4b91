"""A function of named arrays that is called now and then, or very often: the first calls as it is, then by native code of its trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.compiler import native
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, interpret

INTERPRETED_CALLS = 3  # calls for which tracing and compiling would take longer


class Programmed:
    """`function(arrays)` gives a list whose last entry is a margin, over any scalar; `sizes` are those of its arrays."""

    def __init__(
        self,
        function: Callable[[dict[str, Any]], list[Any]],
        sizes: Mapping[str, int],
        compiled: bool,
        cached: Callable[[Callable[[], Any]], Any] = lambda make: make(),
    ):
        self.function, self.sizes, self.compiled, self.cached = function, dict(sizes), compiled and native.available(), cached
        self.calls = 0

    def __call__(self, arrays: Mapping[str, Any]) -> np.ndarray | None:
        """The results without the margin, or None where they cannot be trusted."""
        self.calls += 1
        y = self._as_it_is(arrays) if self.calls <= INTERPRETED_CALLS else self._traced(arrays)
        return y[:-1] if y is not None and np.isfinite(y).all() and y[-1] > 0.0 else None

    def _as_it_is(self, arrays: Mapping[str, Any]) -> np.ndarray | None:
        with np.errstate(all="ignore"):
            try:
                return np.array([float(x) for x in self.function({k: np.asarray(arrays[k], dtype=float) for k in self.sizes})])
            except ZeroDivisionError:  # a pivot of zero: as good as not finite
                return None

    def _traced(self, arrays: Mapping[str, Any]) -> np.ndarray:
        row = np.concatenate([np.asarray(arrays[k], dtype=float).ravel() for k in self.sizes])
        made = self._made
        return interpret(made, row) if isinstance(made, Program) else made.call(row)[0]

    @cached_property
    def _made(self) -> native.NativeCode | Program:
        """As cached by an earlier run, or made now."""
        return self.cached(lambda: native.NativeCode.of(self._program()) if self.compiled else self._program())

    def _program(self) -> Program:
        graph = TraceGraph()
        found = self.function({k: graph.input(k, n) for k, n in self.sizes.items()})
        return graph.program([("u", np.array(found, dtype=object))])

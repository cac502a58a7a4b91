"""A counting scalar that remembers where each number came from: what is left when a compiler has done its work.

`Counted` counts every operation that is carried out. Here an operation that was done before with the same operands is
not done again, and `OperationGraph.live` counts only those on which given results depend: functions of the float path can be
run unchanged, although they also compute what one method does not need. Operations carry the stage they were
first done in. `RecordedProgram` does them again for other inputs, with arrays for many at once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.rings.papers.operation_counts import Counted, Counts, Tally

COST = {
    "__neg__": "",  # a sign is free
    "__add__": "add",
    "__sub__": "add",
    "__mul__": "mul",
    "__truediv__": "div",
    "__rtruediv__": "div",
    "sqrt": "sqrt",
    "sin": "trig",
    "cos": "trig",
    "tan": "trig",
    "exp": "trig",
    "tanh": "trig",
    "arctan2": "trig",
}
COMMUTES = ("__add__", "__mul__")


class OperationGraph(Tally):
    """Every distinct operation of one run, by stage."""

    __slots__ = ("known", "stage")

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[Any, Recorded] = {}
        self.stage = ""

    def variables(self, array: Any) -> np.ndarray:
        """An array of the same shape whose entries are recorded; those that already are stay."""
        source = np.asarray(array)
        out = np.empty(source.shape, dtype=object)
        for index in np.ndindex(source.shape):
            x = source[index]
            out[index] = x if isinstance(x, Recorded) else Recorded(float(x), self)
        return out

    def keep(self, name: str, operands: tuple[Any, ...], value: float) -> Recorded:
        """The number for an operation: the one that is there already, or a new one."""
        parts: list[Any] = [(0, id(x)) if isinstance(x, Recorded) else (1, float(x)) for x in operands]
        key = (name, *(sorted(parts) if name in COMMUTES else parts))
        if key not in self.known:
            node = Recorded(value, self)
            node.name, node.stage = name, self.stage
            node.operands = operands
            self.known[key] = node
        return self.known[key]

    def live(self, *results: Any) -> dict[str, Counts]:
        """Operations the results depend on, by the stage in which they were first done."""
        waiting = [x for r in results for x in np.asarray(r, dtype=object).ravel() if isinstance(x, Recorded)]
        seen: set[int] = set()
        tallies: dict[str, Tally] = {}
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            waiting += [x for x in node.operands if isinstance(x, Recorded)]
            if COST.get(node.name):
                tally = tallies.setdefault(node.stage, Tally())
                setattr(tally, COST[node.name], getattr(tally, COST[node.name]) + 1)
        return {stage: t.counts() for stage, t in tallies.items()}


class Recorded(Counted):
    """A counting number with its origin."""

    __slots__ = ("name", "operands", "stage")

    def __init__(self, value: float, graph: OperationGraph):
        super().__init__(value, graph)
        self.name = ""
        self.stage = ""
        self.operands: tuple[Any, ...] = ()  # recorded numbers and constants

    @property
    def graph(self) -> OperationGraph:
        assert isinstance(self.tally, OperationGraph)
        return self.tally

    def rint(self) -> float:
        """The nearest whole number, a constant: in which turn an angle is counted is no operation."""
        return float(round(self.value))


def _recorded(name: str) -> Callable[..., Any]:
    """The operation of `Counted` under this name, its result recorded; what folds stays folded."""
    plain = getattr(Counted, name)

    def operation(self: Recorded, *others: Any) -> Any:
        if name == "__neg__" and self.name == "__neg__":
            return self.operands[0]
        made = plain(self, *others)
        if isinstance(made, Recorded) or not isinstance(made, Counted):
            return made
        if name == "__mul__" and "__neg__" in (self.name, getattr(others[0], "name", "")):
            return _signs_outside(self, others[0])
        return self.graph.keep(name, (self, *others), made.value)

    return operation


def _signs_outside(x: Recorded, y: Any) -> Any:
    """(-x) y = -(x y): the same product, whatever its signs."""
    flips = 0
    if x.name == "__neg__":
        x, flips = x.operands[0], flips + 1
    if isinstance(y, Recorded) and y.name == "__neg__":
        y, flips = y.operands[0], flips + 1
    return -(x * y) if flips == 1 else x * y


for _name in COST:
    setattr(Recorded, _name, _recorded(_name))
Recorded.__radd__ = Recorded.__add__
Recorded.__rmul__ = Recorded.__mul__


# -------------------------------------------------------------------- the recorded operations again

CARRIED_OUT: dict[str, Callable[..., Any]] = {
    "__neg__": operator.neg,
    "__add__": operator.add,
    "__sub__": operator.sub,
    "__mul__": operator.mul,
    "__truediv__": operator.truediv,
    "__rtruediv__": lambda x, c: c / x,
    **{name: getattr(np, name) for name in ("sqrt", "sin", "cos", "tan", "exp", "tanh", "arctan2")},
}


class RecordedProgram:
    """The operations on which results depend, to be carried out for other inputs: `run` with arrays does many at once.

    Operations that depend on no `changing` input can be done once (`known = program.once(values)`) and used again.
    """

    def __init__(self, graph: OperationGraph, results: Sequence[Recorded], changing: Sequence[Recorded]) -> None:
        self.results = list(results)
        wanted, waiting = set(), list(results)
        while waiting:
            node = waiting.pop()
            if id(node) not in wanted:
                wanted.add(id(node))
                waiting += [x for x in node.operands if isinstance(x, Recorded)]
        self.nodes = [node for node in graph.known.values() if id(node) in wanted]  # operands come before what they are used for
        self.changing = {id(x) for x in changing}
        for node in self.nodes:
            if any(id(x) in self.changing for x in node.operands):
                self.changing.add(id(node))
        self.again = [node for node in self.nodes if id(node) in self.changing]

    def once(self, values: Iterable[tuple[Recorded, Any]]) -> dict[int, Any]:
        """Everything that the changing inputs do not touch."""
        out: dict[int, Any] = {id(x): value for x, value in values}
        return self._done([node for node in self.nodes if id(node) not in self.changing], out)

    def run(self, known: Mapping[int, Any], values: Iterable[tuple[Recorded, Any]]) -> list[Any]:
        """The results for values of the changing inputs."""
        out = self._done(self.again, {**known, **{id(x): value for x, value in values}})
        return [out[id(x)] for x in self.results]

    @staticmethod
    def _done(nodes: Iterable[Recorded], out: dict[int, Any]) -> dict[int, Any]:
        for node in nodes:
            out[id(node)] = CARRIED_OUT[node.name](*(out[id(x)] if isinstance(x, Recorded) else x for x in node.operands))
        return out

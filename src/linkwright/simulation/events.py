"""Events of a time stepper: what is watched, and the kernel that evaluates it.

An event is a sign change of a channel, of a function of the state, or of a function of arrays. The function is traced and
compiled where it can be, else called back once per step.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.compiler.callbacks import DEGENERATE, NOT_FINITE
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.native import NativeCode
from linkwright.compiler.program import Program, interpret, without_unused
from linkwright.errors import LinkwrightError, UsageError, counted
from linkwright.integrators import StepKernel, python_kernel
from linkwright.numerics.stores import Store
from linkwright.results.state import State
from linkwright.simulation.kernel_rows import SIDES, RowLayout

if TYPE_CHECKING:
    from linkwright.motion.compiled import Compiled


@dataclass(frozen=True)
class When:
    """An event: its function passes through `equals` (direction +1: rising, -1: falling); a terminal one ends the run.

    `function` is the name of a channel ("rocker.P.x", "t"), a function of one State, or a function of the arrays t, q, v.
    `do` is what happens then: nothing but a note, or what `simulation.mode_switching` knows.
    """

    function: Callable[..., Any] | str
    name: str = ""
    direction: int = 0
    terminal: bool = False
    equals: float = 0.0
    do: tuple[Any, ...] = ()

    def value(self, st: State) -> Any:
        if self.function == "t":
            return st.t - self.equals
        if isinstance(self.function, str):
            return st[self.function] - self.equals
        return (self.function(st.t, st.q, st.v) if self._arrays else self.function(st)) - self.equals

    def read(self, x: Mapping[str, Any]) -> Any:
        """The value by a function that reads the loop's own row."""
        function: Any = self.function
        return function.from_row(x) - self.equals

    @cached_property
    def _arrays(self) -> bool:
        assert callable(self.function)
        wanted = [
            p for p in inspect.signature(self.function).parameters.values() if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD
        ]
        if len(wanted) not in (1, 3):
            raise UsageError(
                f"the event function '{self.label}' takes one State, or t, q, v; this one takes {counted(len(wanted), 'argument')}."
            )
        return len(wanted) == 3

    @property
    def label(self) -> str:
        return self.name or (self.function if isinstance(self.function, str) else getattr(self.function, "__name__", "event"))


def native_kernel(code: NativeCode, n_in: int) -> StepKernel:
    """Compiled code as a kernel of the loop; it may read less than the whole row."""
    return StepKernel(
        n_in, code.n_out, code.one_address, workspace=code.work("one"), owner=code,
        eight=lambda: (code.aosoa_address, code.work("many")),
    )  # fmt: skip


def interpreted_kernel(program: Program, n_in: int) -> StepKernel:
    """A program as a kernel in Python; a margin that is not positive is a degenerate pivot."""
    reads = sum(b.size for b in program.inputs)
    n_out = sum(b.size for b in program.outputs)
    margin = next((b.start for b in program.outputs if b.name == "margin"), None)

    def run(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        found = interpret(program, x[:reads])
        y[:n_out] = found
        status = 0 if np.isfinite(found).all() else NOT_FINITE
        return status if margin is None or found[margin] > 0.0 else status | DEGENERATE

    return StepKernel(n_in, n_out, function=run)


EVENTS: Store[tuple[Any, ...], tuple[StepKernel, bool]] = Store()  # kernels by channels and rows


def event_kernel(system: Compiled, whens: Sequence[When], row: RowLayout) -> tuple[StepKernel, bool]:
    """The event functions: traced and compiled if they can be, else called back; and whether they may count turns."""
    kernels = system.kernels
    names = tuple((w.function, w.equals) for w in whens if isinstance(w.function, str))
    known, key = EVENTS.of(system), (names, tuple(row.sizes.items()))
    if len(names) == len(whens) and key in known:  # every mode of a run watches the same channels
        return known[key]

    def values(x: Mapping[str, Any]) -> np.ndarray:
        eq = kernels.equations(x.get("free", ()))
        st = State(eq.loops.skel, x["q"], x["v"], eq.loops.skel.unpack(x["q"], x["near"]), x["t"][0])
        return np.array([_scalar(w, w.value(st) if not hasattr(w.function, "from_row") else w.read(x)) for w in whens])

    start = {k: np.zeros(n) for k, n in row.sizes.items()} | {"free": kernels.defaults["free"]}
    try:
        # errors of the expression itself show here
        values(start | {"q": system.start.q, "near": system.loops.skel.pack(system.start.references)})
    except LinkwrightError:
        raise
    except Exception as error:
        raise UsageError(f"an event function fails at the start of the run: {type(error).__name__}: {error}.") from error
    if any(hasattr(w.function, "from_row") for w in whens):
        return python_kernel(lambda x: values(row.named(x)), row.n, len(whens)), row.sizes["near"] > 0
    graph = TraceGraph()
    try:
        found = values({k: graph.input(k, n) for k, n in row.sizes.items()})
        program = without_unused(graph.program([("g", found)]), ("near", "held", *SIDES))
    except Exception:  # code of the user's meets traced values, and may fail in any way it likes
        return python_kernel(lambda x: values(row.named(x)), row.n, len(whens)), row.sizes["near"] > 0
    native = kernels.get("loop_rates").native
    made = native_kernel(NativeCode.of(program), row.n) if native else interpreted_kernel(program, row.n)
    if len(names) == len(whens):
        known[key] = made, reads_turns(program.inputs)
    return made, reads_turns(program.inputs)


def _scalar(w: When, value: Any) -> Any:
    if isinstance(value, str) or np.ndim(value) != 0:
        raise UsageError(f"the event function '{w.label}' must give one number, not {value!r:.60}.")
    return value


def reads_turns(blocks: Any) -> bool:
    """True if a program reads the reference coordinates of cut joints."""
    return any(b.name == "near" for b in blocks)

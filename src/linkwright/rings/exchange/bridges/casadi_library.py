"""Kernels as functions of CasADi: the flat program as SX expressions, or C made of them and compiled.

SX needs no compiler, has every order of derivatives and the sparsity of the program. `compiled=True` has CasADi write C of a function, its
Jacobian and its adjoint, and loads it as `external`: maps over many states are then some ten times as fast. `hessian=True` adds second
derivatives, which take most of the compiler's time and memory. Neither looks at pivots: in a singular position results are what the
division gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwright.compiler.program import Block
from linkwright.errors import UsageError
from linkwright.rings.exchange.bridges import flat
from linkwright.rings.exchange.bridges.calls import KernelCall
from linkwright.rings.exchange.bridges.packages import package

STEPS = 12  # of Newton's method, always all of them: an expression cannot stop


@dataclass(frozen=True)
class CasadiLibrary:
    """How kernels become functions of CasADi."""

    compiled: bool = False
    hessian: bool = False  # of compiled functions: with second derivatives, which take most of the compiler's time and memory
    made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)  # functions by kernel
    name = "CasADi"
    second = True

    def __post_init__(self) -> None:
        package("casadi", "s.casadi()")
        if self.hessian and not self.compiled:
            raise UsageError("hessian=True belongs to compiled functions: s.casadi(compiled=True, hessian=True). SX has every derivative.")

    # ---------------------------------------------------------------- functions

    def function(self, call: KernelCall) -> Any:
        """Return a casadi.Function with named inputs and outputs."""
        if call not in self.made:
            found = _expressions(call)
            if self.compiled:
                from linkwright.rings.exchange.bridges.casadi_code import external

                found = external(found, self.hessian)
            self.made[call] = found
        return self.made[call]

    def applied(self, call: KernelCall, function: Any, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs for arguments of any kind: SX, MX, DM or arrays."""
        arrays = []
        for b, x in zip(call.inputs, arguments, strict=True):
            y = self.array(x)
            if y.shape not in ((b.size, 1), (1, b.size)):
                names = call.kernels.entries.get(b.name, ())
                order = f": {', '.join(names)}" if len(names) == b.size else ""
                raise UsageError(
                    f"input '{b.name}' of '{call.name}' has shape {y.shape}; it needs ({b.size}, 1){order}. For many states map the "
                    f"casadi.Function: f.function('{call.name}').function.map(n)."
                )
            arrays.append(y if y.shape == (b.size, 1) else y.T)
        try:
            found = function(*arrays)
        except NotImplementedError:
            kinds = ", ".join(sorted({type(x).__name__ for x in arrays}))
            raise UsageError(f"inputs of '{call.name}' are {kinds}; SX and MX cannot be mixed in one call.") from None
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    def solved(self, call: KernelCall, arguments: Sequence[Any]) -> Any:
        """Return q of kernel `kinematics` without derivatives."""
        import casadi as ca

        key = (call, "solved")
        if key not in self.made:
            step = self.function(call)
            inputs = [ca.MX.sym(b.name, b.size) for b in call.inputs]
            q = inputs[0]
            for _ in range(STEPS):
                q = step(q, *inputs[1:])[0]
            held = {"is_diff_in": [False] * len(inputs), "never_inline": True}
            self.made[key] = ca.Function("closed", inputs, [q], [b.name for b in call.inputs], ["q_closed"], held)
        return self.made[key](*(self.array(x) for x in arguments))

    # ---------------------------------------------------------------- parts of composed functions

    def array(self, x: Any) -> Any:
        import casadi as ca

        if isinstance(x, (ca.SX, ca.MX, ca.DM)):
            return x
        try:
            return ca.DM(x)
        except (NotImplementedError, TypeError):
            raise UsageError(f"functions of s.casadi() take SX, MX, DM and arrays of numbers, not {type(x).__name__}.") from None

    def stack(self, numbers: Sequence[Any]) -> Any:
        import casadi as ca

        return ca.vertcat(*numbers)

    def checked(self, x: Any, measure: Any, most: float) -> Any:
        import casadi as ca

        return ca.if_else(measure <= most, x, ca.DM.nan(*x.shape))

    def unit(self, q: Any, places: Sequence[int]) -> Any:
        import casadi as ca

        for at in places:
            part = q[at : at + 4]
            q = ca.vertcat(q[:at], part / ca.sqrt(ca.sumsqr(part)), q[at + 4 :])
        return q

    def repeated(self, n: int, step: Callable[[Any, Any, Any], tuple[Any, Any, Any]], q: Any, v: Any, t: Any) -> tuple[Any, Any, Any]:
        for _ in range(n):
            q, v, t = step(q, v, t)
        return q, v, t


def _expressions(call: KernelCall) -> Any:
    """The flat program as a Function of SX."""
    import casadi as ca

    inputs = [ca.SX.sym(b.name, b.size) for b in call.inputs]
    packed = ca.vertcat(*inputs)
    functions = {
        "sqrt": ca.sqrt, "abs": ca.fabs, "sin": ca.sin, "cos": ca.cos, "exp": ca.exp, "log": ca.log, "tanh": ca.tanh, "atan2": ca.atan2,
        "pow": ca.power, "round": lambda x: ca.floor(x + 0.5), "min": ca.fmin, "max": ca.fmax, "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b, "select": ca.if_else,
    }  # fmt: skip
    found = flat.evaluate(call.program, [packed[i] for i in range(call.program.n_in)], functions, float)
    outputs = [_shaped(b, found[b.span]) for b in call.program.outputs]
    return ca.Function(f"lw_{call.name}", inputs, outputs, [b.name for b in call.inputs], _distinct(call))


def _shaped(b: Block, entries: Sequence[Any]) -> Any:
    """An output as a matrix: one axis a column, two as they are, of three the first two as rows."""
    import casadi as ca

    if not b.size:
        return ca.SX(b.size, 1)
    last = b.shape[-1] if len(b.shape) > 1 else 1
    return ca.reshape(ca.vertcat(*(ca.SX(x) for x in entries)), last, b.size // last).T


def _distinct(call: KernelCall) -> list[str]:
    """Names of outputs; those that inputs have as well get `_next`, because CasADi wants all names to differ."""
    taken = {b.name for b in call.inputs}
    return [f"{b.name}_next" if b.name in taken else b.name for b in call.outputs]

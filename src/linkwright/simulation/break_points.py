"""Break points of a mechanism's rates and of its inputs, as a time stepper takes them: kernels with sides, and switching functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linkwright.compiler.native import NativeCode
from linkwright.compiler.program import Program, for_row, joined
from linkwright.integrators import StepKernel
from linkwright.simulation.events import interpreted_kernel, native_kernel
from linkwright.simulation.kernel_rows import RowLayout

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel as CompiledKernel


def sides(rates: CompiledKernel, actuation: Any) -> tuple[int, int]:
    """How many break points rates and inputs have."""
    inputs = None if actuation is None else actuation.switched
    return rates.break_points, 0 if inputs is None else inputs.count


def switching_kernel(rates: CompiledKernel, actuation: Any, row: RowLayout) -> StepKernel | None:
    """The switching functions of rates and inputs, from a full row; None where everything is smooth."""
    n_rates, n_inputs = sides(rates, actuation)
    if n_rates + n_inputs == 0:
        return None

    def program() -> Program:
        own = [for_row(rates.switched.functions, row)] if n_rates else []
        return joined([*own, *([for_row(actuation.switched.functions, row)] if n_inputs else [])])

    if not rates.native:
        return interpreted_kernel(program(), row.n)
    code = NativeCode.of(program()) if n_inputs else rates.made_from("switching functions", row, program)
    return native_kernel(code, row.n)


def sided(rates: CompiledKernel, plain: StepKernel, row: RowLayout) -> StepKernel:
    """Rates that hold the sides in the row; what answers degenerate states looks at its own."""
    if not rates.break_points:
        return plain

    def program() -> Program:
        return for_row(rates.switched.program, row)

    if not rates.native:
        return replace(interpreted_kernel(program(), row.n), backup=plain.backup)
    return replace(native_kernel(rates.made_from("rates with sides", row, program), row.n), backup=plain.backup)

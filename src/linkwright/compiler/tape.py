"""A flat program as tables of C: numbers that a small loop interprets, forwards along a direction or backwards for a sum of results.

Code that runs rarely (parameters, closing, derivatives) is written so: its text compiles at once whatever its length, and one loop of
`tape.c` gives values, directional and adjoint derivatives of all of it.
"""

from __future__ import annotations

from linkwright.compiler.c99 import number
from linkwright.compiler.program import Op, Program

PER_LINE = 8  # operations in a line of the table


def write(program: Program, name: str) -> str:
    """The tables `name`_code, _constant and _result, and `const struct tape name`, for inclusion after tape.h."""
    constants: dict[str, int] = {}
    code: list[str] = []
    for op, a, b, c in program.ops:
        first = constants.setdefault(number(a), len(constants)) if op == Op.CONST else a
        code.append(f"{int(op)},{first},{b},{c}")
    lines = [f"static const int {name}_code[] = {{"]
    lines += ["    " + ", ".join(code[i : i + PER_LINE]) + "," for i in range(0, len(code), PER_LINE)] or ["    0"]
    lines += ["};", f"static const double {name}_constant[] = {{{', '.join(constants) or '0.0'}}};"]
    lines += [f"static const int {name}_result[] = {{{', '.join(map(str, program.results)) or '0'}}};"]
    lines += [f"const struct tape {name} = {{{len(program.ops)}, {program.n_in}, {program.n_out},"]
    lines += [f"    {name}_code, {name}_constant, {name}_result}};", ""]
    return "\n".join(lines)

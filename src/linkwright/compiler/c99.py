"""A flat program as C99 (and C++): one function on packed arrays, needing only <math.h> and a compiler.

    int name(const double *x, double *y)

reads the inputs from x, writes the results to y and returns a status word. It allocates nothing, keeps no state and may
run in several threads at once. For microcontrollers, MEX files and functional mock-up units. In single precision (`SINGLE`) all
numbers are floats, and no operation is done in double.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from linkwright.compiler.program import Block, Op, Program
from linkwright.compiler.statements import FunctionPart, StatementPlan, Writer, plan
from linkwright.errors import UsageError

LONGEST_PART = 1000  # operations of one function: gcc takes a time that grows faster than linearly from some thousands on
LONGEST_EXPRESSION = 8  # operations in one statement: what a reader takes in, and about one line
WIDTH = 116

KEYWORDS = frozenset(
    re.findall(
        r"\S+",
        """auto break case char const continue default do double else enum extern float for goto if inline int long register
        restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
        and asm bool catch class delete explicit export false friend mutable namespace new not operator or private protected
        public template this throw true try typename using virtual xor
        sin cos exp log tanh sqrt fabs atan2 pow rint main""",
    )
)
_RESERVED = KEYWORDS | {"x", "y", "w", "i", "status"}


class Real(NamedTuple):
    """The type of all numbers in C: its name, and the ending of its literals and functions."""

    name: str
    ending: str


DOUBLE, SINGLE = Real("double", ""), Real("float", "f")
PRECISIONS = {"double": DOUBLE, "single": SINGLE}
# The status word rests on x - x == 0 and on comparisons that are false for NaN; -ffast-math and its kind let a compiler drop both.
NEEDS_NAN = (
    "#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) || defined(_M_FP_FAST)",
    '#error "compile without -ffast-math, -ffinite-math-only, /fp:fast: they drop the checks behind the status"',
    "#endif",
)
_TEMPORARY = re.compile(r"t\d+|(sin|cos)_.*")


def write(program: Program, name: str, real: Real = DOUBLE) -> str:
    """The source of `int name(const double *x, double *y)`."""
    _check(name)
    cut = plan(program, LONGEST_PART, LONGEST_EXPRESSION)
    names = _Names(program, name, real)
    functions = _functions(name, real)
    lines = [*_description(program, name), "#include <math.h>", "", *NEEDS_NAN, "", *_helpers(name, {op[0] for op in program.ops}, real)]
    work = ("w",) if cut.work else ()
    calls = []
    for n, part in enumerate(cut.parts, start=1):
        if len(cut.parts) == 1:
            calls = _body(part, cut, names, functions, first=["    int status = 0;"])
            break
        arguments = [f"const {real.name} *x", f"{real.name} *y", *(f"{real.name} *{a}" for a in work)]
        lines += [f"static void {name}_{n}({', '.join(arguments)})", "{"]
        lines += [*_body(part, cut, names, functions), "}", ""]
        calls += [f"    {name}_{n}({', '.join(['x', 'y', *work])});"]
    lines += ["#ifdef __cplusplus", 'extern "C"', "#endif", _prototype(name, real), "{"]
    if len(cut.parts) > 1:
        lines += [*(f"    {real.name} {a}[{cut.work}];" for a in work), "    int status = 0;", ""]
    return "\n".join([*lines, *calls, *_status(program, real), "    return status;", "}", ""])


def header(program: Program, name: str, real: Real = DOUBLE) -> str:
    """The header for `write(program, name)`: the prototype, and where every array begins as constants."""
    _check(name)
    guard = f"{name.upper()}_H"
    lines = [*_description(program, name), f"#ifndef {guard}", f"#define {guard}", "", "enum {"]
    constants = [(f"{name}_inputs", program.n_in), (f"{name}_outputs", program.n_out)]
    for kind, blocks in (("in", program.inputs), ("out", program.outputs)):
        taken: set[str] = set()
        constants += [(f"{name}_{kind}_{_unique(_identifier(b.name), taken)}", b.start) for b in blocks]
    lines += [f"    {key} = {value}{',' if n < len(constants) else ''}" for n, (key, value) in enumerate(constants, start=1)]
    lines += ["};", "", "#ifdef __cplusplus", 'extern "C"', "#endif", f"{_prototype(name, real)};", "", "#endif", ""]
    return "\n".join(lines)


def number(value: float, real: Real = DOUBLE) -> str:
    """A literal that reads back as exactly this number, or as the nearest one of single precision."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    if real is SINGLE:
        with np.errstate(all="ignore"):
            nearest = np.float32(value)
        if np.isinf(nearest):
            return "INFINITY" if value > 0 else "-INFINITY"
        text = str(nearest)
        return f"{text if '.' in text or 'e' in text else f'{text}.0'}f"
    return repr(float(value))  # the shortest digits that round to it; a point or an exponent makes it a double


def is_reserved(name: str) -> bool:
    """True for keywords of C and C++ and names that the sources use."""
    return name in _RESERVED


def _check(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or is_reserved(name):
        raise UsageError(f"{name!r} cannot be the name of a C function: take letters, digits and _, and no C keyword.", name=name)


def _identifier(name: str) -> str:
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{text}" if not text or text[0].isdigit() else text


def _prototype(name: str, real: Real) -> str:
    return f"int {name}(const {real.name} *x, {real.name} *y)"


def _description(program: Program, name: str) -> list[str]:
    lines = ["/*", f" * {name}(x, y): {program.operations} operations on {program.n_in} inputs for {program.n_out} outputs."]
    for array, blocks in (("x", program.inputs), ("y", program.outputs)):
        lines += [" *", f" *   {'inputs' if array == 'x' else 'outputs'}"]
        width = max((len(b.name) for b in blocks), default=0)
        lines += [f" *     {b.name.replace('*/', '* /'):<{width}}  {_extent(array, b)}" for b in blocks]
    lines += [
        " *",
        " * Arrays of more than one dimension lie row by row; x and y must not overlap. SI units, radians.",
        " * Returns 0, or a sum of  1: an output is not a finite number",
        " *                         2: the margin is not positive: the equations are singular here, the outputs meaningless.",
        " */",
    ]
    return lines


def _extent(array: str, block: Block) -> str:
    if block.size == 0:
        return "empty"
    if block.size == 1:
        return f"{array}[{block.start}]"
    shape = f"   {' x '.join(map(str, block.shape))}" if len(block.shape) > 1 else ""
    return f"{array}[{block.start}] ... {array}[{block.start + block.size - 1}]{shape}"


class _Names:
    """Readable names: inputs and outputs by their arrays, sines and cosines of inputs by what they are of."""

    def __init__(self, program: Program, name: str, real: Real):
        self.program, self.real = program, real
        taken = {*_RESERVED, name, f"{name}_min", f"{name}_max"}
        self.inputs = {b.name: _alias(b.name, taken, "in") for b in program.inputs if b.size}
        self.outputs = {b.name: _alias(b.name, taken, "out") for b in program.outputs if b.size}
        self.place_in = [(b, n) for b in program.inputs for n in range(b.size)]
        self.place_out = [(b, n) for b in program.outputs for n in range(b.size)]

    def value(self, k: int) -> str:
        op, a, _, _ = self.program.ops[k]
        if op == Op.INPUT:
            block, n = self.place_in[a]
            return f"{self.inputs[block.name]}[{n}]"
        if op in (Op.SIN, Op.COS) and self.program.ops[a][0] == Op.INPUT:
            block, n = self.place_in[self.program.ops[a][1]]
            return f"{'sin' if op == Op.SIN else 'cos'}_{self.inputs[block.name]}{n}"
        return f"t{k}"

    def result(self, place: int) -> str:
        block, n = self.place_out[place]
        return f"{self.outputs[block.name]}[{n}]"

    def declarations(self, text: str) -> list[str]:
        """Pointers to the arrays a text uses."""
        lines = []
        for blocks, names, array, kind in (
            (self.program.inputs, self.inputs, "x", f"const {self.real.name} *"),
            (self.program.outputs, self.outputs, "y", f"{self.real.name} *"),
        ):
            used = [b for b in blocks if b.size and re.search(rf"\b{names[b.name]}\[", text)]
            lines += [f"    {kind}{names[b.name]} = {array}{f' + {b.start}' if b.start else ''};" for b in used]
        return lines


def _alias(name: str, taken: set[str], side: str) -> str:
    text = _identifier(name)
    if text in taken or _TEMPORARY.fullmatch(text):
        text = f"{side}_{text}"
    return _unique(text, taken)


def _unique(text: str, taken: set[str]) -> str:
    while text in taken:
        text += "_"
    taken.add(text)
    return text


def _body(part: FunctionPart, cut: StatementPlan, names: _Names, functions: dict[int, str], first: Iterable[str] = ()) -> list[str]:
    def name(k: int) -> str:
        return f"w[{cut.place[k]}]" if k in part.direct else names.value(k)

    real = names.real
    writer = Writer(names.program, cut.inside, lambda value: number(value, real), name, functions, f"{{}} != 0.0{real.ending}")
    text = [f"const {real.name} {names.value(k)} = w[{cut.place[k]}];" for k in part.loads]
    text += [f"const {real.name} {names.value(k)} = {_valued(writer, names.program, k, real)};" for k in part.named]
    text += [f"w[{cut.place[k]}] = {names.value(k)};" for k in part.stores]
    text += [f"{names.result(place)} = {writer.operand(value)};" for place, value in part.results]
    lines = [line for statement in text for line in _wrapped(statement)]
    pointers = [*names.declarations("\n".join(lines)), *first]
    arguments = "xyw" if cut.work else "xy"
    everything = "\n".join([*pointers, *lines])
    silent = [f"    (void){a};" for a in arguments if not re.search(rf" = {a}\b|\b{a}\[", everything)]
    return [*pointers, *silent, "", *lines] if lines else [*pointers, *silent]


def _valued(writer: Writer, program: Program, k: int, real: Real) -> str:
    """The right side of a statement; a condition that is a number is written as one."""
    text = writer.expression(k)
    return f"({text}) ? 1.0{real.ending} : 0.0{real.ending}" if real is SINGLE and program.ops[k][0] in (Op.LT, Op.LE) else text


def _wrapped(statement: str) -> list[str]:
    if len(statement) + 4 <= WIDTH:
        return [f"    {statement}"]
    return textwrap.wrap(
        statement, WIDTH, initial_indent="    ", subsequent_indent="        ", break_long_words=False, break_on_hyphens=False
    )


def _functions(name: str, real: Real) -> dict[int, str]:
    library = {
        Op.SQRT: "sqrt", Op.ABS: "fabs", Op.SIN: "sin", Op.COS: "cos", Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh",
        Op.ATAN2: "atan2", Op.POW: "pow", Op.ROUND: "rint",
    }  # fmt: skip
    return {**{int(op): f"{text}{real.ending}" for op, text in library.items()}, Op.MIN: f"{name}_min", Op.MAX: f"{name}_max"}


def _helpers(name: str, used: set[int], real: Real) -> list[str]:
    """fmin and fmax would drop a NaN; these keep it, so that the status word sees it."""
    lines: list[str] = []
    for op, word, first in ((Op.MIN, "min", "a < b"), (Op.MAX, "max", "b < a")):
        if op in used:
            lines += [f"static {real.name} {name}_{word}({real.name} a, {real.name} b)", "{"]
            lines += [f"    return {first} || a != a ? a : b;", "}", ""]
    return lines


def _status(program: Program, real: Real) -> list[str]:
    zero = f"0.0{real.ending}"
    lines = ["    {", "        int i;"] if program.n_out else []
    if program.n_out:
        lines += [f"        for (i = 0; i < {program.n_out}; i++)", f"            if (y[i] - y[i] != {zero}) status |= 1;"]
    for block in program.outputs:
        if block.name == "margin" and block.size:
            lines += [f"        for (i = {block.start}; i < {block.start + block.size}; i++)"]
            lines += [f"            if (!(y[i] > {zero})) status |= 2;"]
    return [*lines, "    }"] if program.n_out else lines

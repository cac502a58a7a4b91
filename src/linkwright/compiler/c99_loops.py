"""Loops on records as C99 (and C++): functions on structs of arrays of fixed size. Nothing is allocated.

    text = write([walk], layout, {"Close": "model_walk"}, prefix="model_")

gives the sizes as constants, `model_Walk`, and `int model_walk(model_Walk *w, const REAL *laws, int laws_width, ...)`. Kernels are
functions of `c99.write`, by the name of the kernel's class. Values of shared arrays, if any are given, are filled in by `model_Walk_fill`.
An argument of `Rows` is followed by the length of a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.compiler.c99 import DOUBLE, KEYWORDS, Real, number
from linkwright.compiler.loop_text import Text, changes, records_of, stored
from linkwright.compiler.loop_tree import NUMBERS, Expression, Function, Path, Statement, expressions_of
from linkwright.compiler.records import CHANGING, Layout, LoopError, fields_of, is_array, is_kernel, is_record, sizes_of

WIDTH = 110
NOT_FUSED = """/* products are not fused into sums, whatever the compiler's flags: the results are the same everywhere */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif"""


def write(
    functions: Sequence[Callable[..., Any]],
    layout: Layout,
    kernels: Mapping[str, str],
    *,
    prefix: str = "",
    real: Real = DOUBLE,
    constants: Mapping[str, float] | None = None,
    tables: Mapping[str, Any] | None = None,
    hidden: bool = False,
) -> str:
    """Return the constants, the structs, the functions and those they call (these are static).

    constants: values for constants of the modules by name, for example other tolerances in single precision. tables: values of shared
    arrays by path. hidden: the functions are static as well.
    """
    return C99(functions, layout, kernels, prefix, real, constants or {}, hidden).module(tables or {})


class C99(Text):
    reserved = KEYWORDS | {"near", "far"}  # these two are macros of old headers

    def __init__(
        self,
        functions: Sequence[Callable[..., Any]],
        layout: Layout,
        kernels: Mapping[str, str],
        prefix: str,
        real: Real,
        constants: Mapping[str, float],
        hidden: bool = False,
    ):
        super().__init__(functions, prefix)
        self.layout, self.kernels, self.real, self.given, self.hidden = layout, kernels, real, constants, hidden
        self.kinds: dict[Any, str] = {int: "int", float: real.name, bool: "int"}
        self.sides: dict[Any, Any] = {}  # the records of inputs and outputs
        self.values: dict[str, int] = {}  # enumeration constants
        self.collect(layout.record, "")

    def collect(self, record: Any, path: str) -> None:
        """Sizes, whole numbers and places of blocks as constants; two kernels of one class have the same blocks."""
        for name, kind in fields_of(record).items():
            key = f"{path}{name}"
            if kind is int:
                self.value(f"{record.__name__}_{name}", self.layout.whole(name, key), key)
            elif is_array(kind) and kind.outside:
                raise LoopError(f"'{key}': in C a record has no arrays from outside. Pass them as arguments.")
            elif is_array(kind):
                for axis, symbol in enumerate(sizes_of(record, name) or ()):
                    if isinstance(symbol, str):
                        self.value(symbol, self.layout.arrays[key][1][axis], key)
            elif is_kernel(kind):
                for side, blocks in fields_of(kind).items():
                    self.sides[blocks] = kind
                    start, (n,), _ = self.layout.arrays[f"{key}.{side}"]
                    self.value(f"{kind.__name__}_{side}", n, key)
                    for block in fields_of(blocks):
                        at, (size,), _ = self.layout.arrays[f"{key}.{side}.{block}"]
                        self.value(f"{blocks.__name__}_{block}", at - start, key)
                        self.value(f"{blocks.__name__}_{block}_n", size, key)
            elif is_record(kind):
                self.collect(kind, f"{key}.")

    def value(self, name: str, value: int, path: str) -> None:
        if self.values.setdefault(name, value) != value:
            raise LoopError(
                f"'{path}': {name} is {self.values[name]} elsewhere and {value} here. In C a class of kernels has one layout. "
                "Declare two classes."
            )

    # ------------------------------------------------------------ module

    def module(self, tables: Mapping[str, Any]) -> str:
        text = self.functions()
        head = [self.defined(name) for name in sorted(self.constants)]
        sizes = [f"  {self.prefix}{name} = {value}," for name, value in self.values.items()]
        enumeration = ["", "enum {", *sizes[:-1], sizes[-1].removesuffix(","), "};"] if sizes else []
        structs = [self.struct(r) for r in records_of(self.layout.record) if r not in self.sides]
        helpers = [self.helper_text(name) for name in sorted(self.helpers)]
        parts = ["\n".join([NOT_FUSED, *head, *enumeration]), *structs, *helpers, text.rstrip(), *([self.filled(tables)] if tables else [])]
        return "\n\n".join(parts) + "\n"

    def defined(self, name: str) -> str:
        value = self.given.get(name, self.constants[name])
        text = self.number(value, type(self.constants[name]))
        return f"#define {self.prefix}{name} {f'({text})' if text.startswith('-') else text}"

    def helper_text(self, name: str) -> str:
        if name == "absent":  # the call of a kernel that a mechanism lacks
            return self.whole(f"static int {self.prefix}absent(void)", ["  return 0;"])
        kind = "int" if name == "remainder" or name.endswith("_whole") else self.real.name
        if name == "remainder":
            lines = ["const int r = a % b;", "return r != 0 && (r ^ b) < 0 ? r + b : r;"]
        else:
            lines = [f"return b {'<' if name.startswith('min') else '>'} a ? b : a;"]
        return self.whole(f"static {kind} {self.prefix}{name}({kind} a, {kind} b)", [f"  {x}" for x in lines])

    def struct(self, record: Any) -> str:
        lines = []
        for name, kind in fields_of(record).items():
            if is_kernel(record):
                lines.append(f"{self.real.name} {name}[{self.at_least_one(f'{record.__name__}_{name}')}];")
            elif kind in CHANGING:
                lines.append(f"{self.kinds[CHANGING[kind]]} {self.name(name)};")
            elif is_array(kind):
                lines.append(f"{self.kinds[kind.element]} {self.name(name)}[{self.extent(record, name)}];")
            elif is_record(kind):
                lines.append(f"{self.prefix}{kind.__name__} {self.name(name)};")
        return "\n".join(["typedef struct {", *(f"  {x}" for x in lines or ["char none;"]), f"}} {self.prefix}{record.__name__};"])

    def at_least_one(self, name: str) -> str:
        return self.prefix + name if self.values[name] else "1"

    def extent(self, record: Any, name: str) -> str:
        symbols = sizes_of(record, name) or ()
        empty = any((self.values[s] if isinstance(s, str) else s) == 0 for s in symbols)
        return "1" if empty else " * ".join(self.symbol(s) for s in symbols)

    def symbol(self, symbol: str | int) -> str:
        return str(symbol) if isinstance(symbol, int) else self.prefix + symbol

    def filled(self, tables: Mapping[str, Any]) -> str:
        """A function that fills in the values of shared arrays."""
        record, lines = self.layout.record, []
        for path, values in tables.items():
            flat = np.asarray(values).ravel()
            if path not in self.layout.arrays or self.layout.arrays[path][2].own or flat.size != int(np.prod(self.layout.arrays[path][1])):
                raise LoopError(f"'{path}' is not a shared array of {flat.size} numbers in {record.__name__}.")
            kind = self.layout.arrays[path][2].element
            place = ".".join(self.name(n) for n in path.split("."))
            lines += [f"  w->{place}[{k}] = {self.number(x, kind)};" for k, x in enumerate(flat.tolist())]
        return self.whole(f"static void {self.prefix}{record.__name__}_fill({self.prefix}{record.__name__} *w)", lines)

    # ------------------------------------------------------------ functions

    def whole(self, head: str, lines: list[str]) -> str:
        return "\n".join([head, "{", *lines, "}"])

    def judge(self, s: Statement) -> None:
        parts = [self.order(e, s.line) for e in expressions_of(s)]
        self.together(parts, s.line)

    def order(self, e: Expression, line: int) -> tuple[int, int]:
        """How many calls in an expression change something, and how many values it reads that they may change."""
        parts = [self.order(p, line) for x in e.parts for p in (x if isinstance(x, list) else [x]) if isinstance(p, Expression)]
        if e.op not in ("and", "or", "choose"):  # C computes the parts of these in order, as Python does
            self.together(parts, line)
        own = e.op == "run" or (e.op == "call" and changes(self.unit, self.unit.get(e.parts[0])))
        reads = e.op in ("element", "number")
        return sum(c for c, _ in parts) + own, sum(r for _, r in parts) + reads

    def together(self, parts: list[tuple[int, int]], line: int) -> None:
        for k, (calls, _) in enumerate(parts):
            if calls and any(c or r for c, r in (*parts[:k], *parts[k + 1 :])):
                why = "a call that changes something, and another value in the same expression: C may compute either first"
                raise self.f.refuse(line, f"{why}. Give the call's result a name")

    def unused(self, f: Function, lines: list[str]) -> list[str]:
        names = set(re.findall(r"\w+", "\n".join(lines)))
        given = [a.rsplit(" ", 1)[1].lstrip("*") for a in self.parameters(f)]
        return [f"(void){name};" for name in given if name not in names]

    def head(self, f: Function) -> str:
        first = "" if f in self.main and not self.hidden else "static "
        return _wrapped(f"{first}{self.kinds.get(f.returns, 'void')} {self.prefix}{f.name}(", self.parameters(f) or ["void"])

    def parameters(self, f: Function) -> list[str]:
        args: list[str] = []
        for name, kind in f.arguments:
            own = self.name(name)
            if kind in NUMBERS:
                args.append(f"{self.kinds[kind]} {own}")
            elif is_array(kind):
                constant = "" if stored(self.unit, f, name) else "const "
                args.append(f"{constant}{self.kinds[kind.element]} *{own}")
                lengths = ["width"] * (kind.axes - 1) if kind.outside else ["n"] if kind.axes == 1 else ["rows", "columns"]
                args += [f"int {own}_{x}" for x in lengths]
            else:
                args.append(f"{self.record_kind(kind)} *{own}")
        return args

    def record_kind(self, kind: Any) -> str:
        return self.real.name if kind in self.sides else self.prefix + kind.__name__

    def beginning(self, names: list[str]) -> list[str]:
        return [f"{self.declaration(n)} = {self.number(self.f.variables[n](), self.f.variables[n])};" for n in names]

    def declaration(self, name: str) -> str:
        return f"{self.kinds[self.f.variables[name]]} {self.name(name)}"

    def alias(self, name: str, path: Path) -> str:
        own = self.name(name)
        if is_array(path.kind):
            if path.kind.outside or self.is_argument(self.definition(path)):
                raise LoopError(f"{self.f.where}: '{name}' is another name for an argument: use the argument itself.")
            return f"{self.kinds[path.kind.element]} *{own} = {self.pointer(path)};"
        return f"{self.record_kind(path.kind)} *{own} = {self.pointer(path)};"

    # ------------------------------------------------------------ records and arrays

    def path(self, path: Path) -> str:
        """Fields of a struct; the block of a kernel's inputs or outputs as its beginning in their array."""
        root = self.name(path.root)
        names = [self.name(n) for n in path.names]
        if path.owner in self.sides:
            return self.side(path)
        return f"{root}->{'.'.join(names)}" if names else root

    def side(self, path: Path) -> str:
        """The array that a block lies in."""
        root, names = self.name(path.root), [self.name(n) for n in path.names[:-1]]
        return f"{root}->{'.'.join(names)}" if names else root

    def pointer(self, path: Path) -> str:
        if path.owner in self.sides:
            return f"{self.side(path)} + {self.prefix}{path.owner.__name__}_{path.names[-1]}"
        if is_array(path.kind) or path.kind in self.sides or not path.names:
            return self.path(path)
        return f"&{self.path(path)}"

    def indexed(self, path: Path, at: str, last: Expression) -> str:
        if path.owner not in self.sides:
            return f"{self.path(path)}[{at}]"
        first = f"{self.prefix}{path.owner.__name__}_{path.names[-1]}"
        return f"{self.side(path)}[{first if at == '0' else f'{first} + {at}'}]"

    def field(self, path: Path) -> str:
        return self.path(path)

    def length(self, path: Path, axis: int) -> str:
        at = self.definition(path)
        if self.is_argument(at):
            return f"{self.name(at.root)}_{'n' if at.kind.axes == 1 else ('rows', 'columns')[axis]}"
        if at.owner in self.sides:
            return f"{self.prefix}{at.owner.__name__}_{at.names[-1]}_n"
        return self.symbol((sizes_of(at.owner, at.names[-1]) or ())[axis])

    def argument(self, path: Path, kind: Any) -> str:
        if not is_array(kind):
            return self.pointer(path)
        if kind.outside:
            return ", ".join([self.path(path), *[f"{self.name(path.root)}_width"] * (kind.axes - 1)])
        return ", ".join([self.pointer(path), *(self.length(path, k) for k in range(kind.axes))])

    # ------------------------------------------------------------ expressions

    def constant(self, name: str) -> str:
        return self.prefix + name

    def number(self, value: Any, kind: Any) -> str:
        return number(value, self.real) if kind is float else str(int(value))

    def _e_word(self, e: Expression) -> str:
        path = e.parts[0]
        return f"{self.prefix}{path.owner.__name__}_{path.names[-1]}"

    def _e_float(self, e: Expression) -> str:
        return f"({self.real.name}){self.text(e.parts[0], 7)}"

    def _e_run(self, e: Expression) -> str:
        path = e.parts[0]
        function = self.kernels.get(path.kind.__name__)
        if function is None:
            if self.values[f"{path.kind.__name__}_y"]:
                raise LoopError(f"the kernel {path.kind.__name__} has no function: name it.")
            return f"{self.helper('absent', int)}()"
        return f"{function}({self.path(path)}{'.' if path.names else '->'}x, {self.path(path)}{'.' if path.names else '->'}y)"

    def function_of(self, op: str, v: list[str], e: Expression) -> str:
        if op == "int":
            return f"(int)({v[0]})"
        if op == "abs" and e.kind is int:
            return f"abs({v[0]})"
        return f"{'fabs' if op == 'abs' else op}{self.real.ending}({', '.join(v)})"


def _wrapped(head: str, args: list[str]) -> str:
    """A function's head over as many lines as it needs."""
    lines = [head]
    for k, a in enumerate(args):
        text = a + (")" if k == len(args) - 1 else ",")
        if len(lines[-1]) + len(text) > WIDTH and lines[-1].strip():
            lines.append(f"    {text}")
        else:
            lines[-1] += text if lines[-1].endswith("(") else f" {text}"
    return "\n".join(lines)
